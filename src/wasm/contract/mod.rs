//! The types of values that cross to and from JavaScript, except inputs, which are bytes, and results, which are columns
//! ([`super::columns`]). Each type is declared once, here, as a type of serde: values go out by `serde-wasm-bindgen` and come
//! in by [`super::from_js`]. The TypeScript types (`pkg-template/src/generated/contract.ts`) are generated from [`schema`].

mod custom;
mod error;
mod header;
mod info;
mod judging;
mod options;

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

pub(super) use custom::CustomResult;
pub(super) use error::{EngineError, InputWarning, input_warnings};
pub(super) use header::RunHeader;
pub(super) use info::EngineInfo;
pub(super) use judging::{
    EndpointSettings, HostFailure, HttpAnswer, HttpCall, JudgeCall, JudgeOutcome, JudgeRequest, Progress,
    RetryAdvice, TokenCounts,
};
pub(super) use options::{RunOptions, VotePrior};

/// The entries of an object, in their order.
pub(super) struct Entries<T = String>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// JSON text that is parsed into a JavaScript value.
pub(super) struct RawJson<'t>(pub(super) &'t str);

impl Serialize for RawJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = js_sys::JSON::parse(self.0).unwrap_or(wasm_bindgen::JsValue::UNDEFINED);
        serde_wasm_bindgen::preserve::serialize(&value, serializer)
    }
}

/// Bytes that become a `Uint8Array`.
pub(super) struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

#[cfg(feature = "schema")]
pub(super) use schemas::schema;

#[cfg(feature = "schema")]
mod schemas {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde_json::Value;

    use super::{
        Bytes, CustomResult, EndpointSettings, EngineError, EngineInfo, Entries, HttpAnswer, JudgeCall,
        JudgeOutcome, Progress, RawJson, RetryAdvice, RunHeader, RunOptions,
    };
    use crate::judge::provider::{Provider, REPLY_HEADERS};

    /// Everything that crosses.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Contract<'t> {
        engine_info: EngineInfo,
        engine_error: EngineError<'t>,
        run_options: RunOptions,
        run_header: RunHeader<'t>,
        custom_result: CustomResult,
        endpoint_settings: EndpointSettings,
        judge_call: JudgeCall<'t>,
        http_answer: HttpAnswer,
        judge_outcome: JudgeOutcome,
        progress: Progress,
        retry_advice: RetryAdvice,
    }

    /// The JSON Schema of everything that crosses.
    pub(in crate::wasm) fn schema() -> Value {
        let settings = schemars::generate::SchemaSettings::draft07();
        let mut schema = settings.into_generator().into_root_schema_for::<Contract<'_>>();
        schema.insert("x-answer-headers".into(), REPLY_HEADERS.as_slice().into());
        schema.into()
    }

    pub(super) fn provider(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": Provider::ALL.map(Provider::name) })
    }

    pub(super) fn purpose(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": ["verdict", "segment", "validate", "score"] })
    }

    /// A setting of a metric may be anything.
    pub(super) fn criterion(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "tsType": "{ [setting: string]: unknown }" })
    }

    /// What a custom metric returned may have any type.
    pub(super) fn unchecked(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "tsType": "unknown" })
    }

    impl<T: JsonSchema> JsonSchema for Entries<T> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            format!("EntriesOf{}", T::schema_name()).into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
        }
    }

    macro_rules! typed {
        ($($name:ty: $type:literal;)*) => {
            $(impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!({ "tsType": $type })
                }
            })*
        };
    }

    typed! {
        Bytes: "Uint8Array";
        RawJson<'_>: "object";
    }
}
