//! JSON Schemas of the settings declared by `settings!`. Each describes what its reader accepts, the plain form
//! first because editors propose it, and its default.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::trajectory::{MatchMode, MatchType, Strategy};

/// The type of a setting.
pub(crate) trait SettingType {
    /// The values that the reader accepts, with `self` as the default. `null` always counts as absent.
    fn schema(&self) -> Value;
}

/// The schema of a setting with its description, given line by line.
pub(crate) fn described(default: &impl SettingType, lines: &[&str]) -> Value {
    let mut schema = default.schema();
    schema["description"] = lines.concat().trim().into();
    schema
}

/// Definitions that settings refer to.
pub(super) fn definitions() -> Value {
    json!({
        "Threshold": {
            "anyOf": [
                { "type": "number" },
                { "type": "string", "pattern": r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$" },
                quietly("boolean"),
            ],
        },
        "Flag": {
            "anyOf": [
                { "type": ["boolean", "null"] },
                { "type": "integer", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": format!("^{}$", any_case(&["true", "false", "yes", "no", "on", "off", "[tfyn01]"])) },
            ],
        },
        "Count": {
            "anyOf": [
                { "type": ["integer", "null"], "minimum": 1, "maximum": 1000 },
                { "const": true },
                { "type": "string", "pattern": r"^\s*\+?0*([1-9]\d{0,2}|1000)\s*$" },
            ],
        },
        "Strategy": enum_schema(&[
            ("exact", "The same value; 1 and 1.0 are the same."),
            ("casefold_exact", "The same string, whatever its case (Unicode's full case folding)."),
            ("numeric", "Numbers, also in strings, that differ by at most `numeric_tolerance`, in decimal arithmetic."),
            ("contains", "A string that contains the expected one, or a list that has the expected item."),
        ]),
        "Rubric": {
            "description": "A property that a response or a trajectory should have.",
            "type": "object",
            "properties": {
                "rubric_id": { "description": "Identifies the rubric among those of the criterion.", "type": "string" },
                "rubric_content": {
                    "description": "The property in words.",
                    "type": "object",
                    "properties": {
                        "text_property": {
                            "description": "The property in words, such as \"The answer names the price.\" A judge answers yes or no.",
                            "type": ["string", "null"],
                        },
                        "textProperty": super::spellings::twin(
                            "#/definitions/Rubric/properties/rubric_content/properties/text_property"),
                    },
                    "additionalProperties": false,
                },
                "rubricId": super::spellings::twin("#/definitions/Rubric/properties/rubric_id"),
                "rubricContent": super::spellings::twin("#/definitions/Rubric/properties/rubric_content"),
                "description": { "description": "A note for people; no judge sees it." },
                "type": { "description": "Not read here: all rubrics of a criterion count.", "doNotSuggest": true },
            },
            "allOf": [
                { "anyOf": [{ "required": ["rubric_id"] }, { "required": ["rubricId"] }] },
                { "anyOf": [{ "required": ["rubric_content"] }, { "required": ["rubricContent"] }] },
            ],
            "additionalProperties": false,
        },
    })
}

impl SettingType for bool {
    fn schema(&self) -> Value {
        json!({ "$ref": "#/definitions/Flag", "default": self })
    }
}

/// A number of samples or calls.
impl SettingType for u32 {
    fn schema(&self) -> Value {
        json!({ "$ref": "#/definitions/Count", "default": self })
    }
}

impl SettingType for Option<u32> {
    fn schema(&self) -> Value {
        match self {
            Some(number) => number.schema(),
            None => json!({ "$ref": "#/definitions/Count", "examples": [4] }),
        }
    }
}

/// A tolerance.
impl SettingType for f64 {
    fn schema(&self) -> Value {
        json!({ "type": ["number", "null"], "minimum": 0, "default": self })
    }
}

/// A name.
impl SettingType for &'static str {
    fn schema(&self) -> Value {
        json!({ "type": ["string", "null"], "minLength": 1, "default": self })
    }
}

/// A string.
impl SettingType for Cow<'static, str> {
    fn schema(&self) -> Value {
        json!({ "type": ["string", "null"], "default": self })
    }
}

/// Names of models.
impl SettingType for Vec<String> {
    fn schema(&self) -> Value {
        json!({
            "type": ["array", "null"],
            "items": { "type": "string", "minLength": 1 },
            "minItems": 2,
            "maxItems": 9,
        })
    }
}

/// The JSON of a model's settings.
impl SettingType for Option<String> {
    fn schema(&self) -> Value {
        json!({ "$ref": "#/definitions/JudgeModelConfig" })
    }
}

impl SettingType for MatchType {
    fn schema(&self) -> Value {
        let plain = enum_schema(&[
            ("EXACT", "The same calls in the same order and no others."),
            ("IN_ORDER", "The expected calls in their order; others may stand between them."),
            ("ANY_ORDER", "The expected calls in any order, among others."),
        ]);
        let other = format!(r"^\s*{}\s*$", any_case(&["exact", "[iı]n[-_ ]order", "any[-_ ]order"]));
        json!({
            "anyOf": [
                plain,
                { "type": "string", "pattern": other },
                { "type": ["integer", "null"], "minimum": 0, "maximum": 2 },
                quietly("boolean"),
            ],
            "default": match self { Self::Exact => "EXACT", Self::InOrder => "IN_ORDER", Self::AnyOrder => "ANY_ORDER" },
        })
    }
}

impl SettingType for MatchMode {
    fn schema(&self) -> Value {
        let words = enum_schema(&[
            ("name_and_required_args", "By the expected arguments; the call may have others."),
            ("name_and_args", "By all arguments: extra ones count against a call."),
            ("name_only", "By the name of the tool alone."),
        ]);
        let default = match self {
            Self::NameOnly => "name_only",
            Self::NameAndArgs => "name_and_args",
            Self::NameAndRequiredArgs => "name_and_required_args",
        };
        json!({ "anyOf": [words, { "type": "null" }], "default": default })
    }
}

impl SettingType for Strategy {
    fn schema(&self) -> Value {
        let default = match self {
            Self::Exact => "exact",
            Self::CasefoldExact => "casefold_exact",
            Self::Numeric { .. } => "numeric",
            Self::Contains => "contains",
        };
        json!({ "anyOf": [{ "$ref": "#/definitions/Strategy" }, { "type": "null" }], "default": default })
    }
}

/// By argument name. Other arguments have the default strategy.
impl SettingType for Vec<(String, Strategy)> {
    fn schema(&self) -> Value {
        json!({ "type": ["object", "null"], "additionalProperties": { "$ref": "#/definitions/Strategy" } })
    }
}

/// The schema of a criterion's rubrics.
pub(crate) fn rubrics() -> Value {
    json!({ "type": ["array", "null"], "items": { "$ref": "#/definitions/Rubric" } })
}

/// One of these words, each with its meaning.
fn enum_schema(words: &[(&str, &str)]) -> Value {
    let (words, meanings): (Vec<_>, Vec<_>) = words.iter().copied().unzip();
    json!({ "enum": words, "enumDescriptions": meanings })
}

/// A type that is accepted, but that editors should not propose.
fn quietly(name: &str) -> Value {
    let others =
        ["object", "array", "string", "number", "boolean", "null"].into_iter().filter(|other| *other != name);
    json!({ "not": { "type": others.collect::<Vec<_>>() } })
}

/// A pattern that matches these words in any case.
fn any_case(words: &[&str]) -> String {
    let mut pattern = String::from("(");
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            pattern.push('|');
        }
        let mut in_class = false;
        for c in word.chars() {
            match c {
                '[' | ']' => in_class = c == '[',
                _ => {}
            }
            if in_class && c.is_ascii_lowercase() {
                pattern.extend([c, c.to_ascii_uppercase()]);
            } else if c.is_ascii_lowercase() {
                pattern.extend(['[', c, c.to_ascii_uppercase(), ']']);
            } else {
                pattern.push(c);
            }
        }
    }
    pattern.push(')');
    pattern
}
