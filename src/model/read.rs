//! How shapes are read from JSON: one trait, a place to stand on, and the macro that declares a
//! record once for reading, writing and its JSON Schema.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;

use super::double;
use super::error::{Error, ErrorCode, Result, suggestion};
use super::json::{Json, Kind};
use super::write::quoted;

/// A JSON value together with its path and the warnings collected on the way.
#[derive(Clone, Copy)]
pub struct At<'a, 'p> {
    /// The value.
    pub json: Json<'a>,
    path: Path<'p>,
    warnings: &'p Warnings,
}

#[derive(Clone, Copy)]
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

/// What was read but may surprise: collected while reading, at most [`Warnings::MOST`].
#[derive(Default)]
pub struct Warnings {
    all: RefCell<Vec<Error>>,
    /// The name of the input that is read.
    input: Option<&'static str>,
}

impl Warnings {
    /// How many warnings are kept.
    pub const MOST: usize = 100;

    /// For one of several inputs; its name stands before each path.
    #[must_use]
    pub fn of_input(name: &'static str) -> Self {
        Self { input: Some(name), ..Self::default() }
    }

    /// Adds a warning, unless one with the same message is there or there are [`Self::MOST`].
    pub fn add(&self, mut warning: Error) {
        if self.has_room_for(&warning.message) {
            if let (Some(input), Some(path)) = (self.input, &warning.path) {
                warning.path = Some(if path == "$" { input.into() } else { format!("{input}: {path}") });
            }
            self.all.borrow_mut().push(warning);
        }
    }

    fn has_room_for(&self, message: &str) -> bool {
        let all = self.all.borrow();
        all.len() < Self::MOST && all.iter().all(|known| known.message != message)
    }

    /// The warnings in the order found.
    #[must_use]
    pub fn into_vec(self) -> Vec<Error> {
        self.all.into_inner()
    }
}

impl<'a, 'p> At<'a, 'p> {
    /// Stands on the outermost value of a document.
    #[must_use]
    pub fn root(json: Json<'a>, warnings: &'p Warnings) -> Self {
        Self { json, path: Path { parent: None, step: Step::Root }, warnings }
    }

    fn step(&'p self, json: Json<'a>, step: Step<'p>) -> At<'a, 'p> {
        At { json, path: Path { parent: Some(&self.path), step }, warnings: self.warnings }
    }

    /// The value of an entry of this object.
    #[must_use]
    pub fn entry(&'p self, key: &'p str, json: Json<'a>) -> At<'a, 'p> {
        self.step(json, Step::Key(key))
    }

    /// An item of this array.
    #[must_use]
    pub fn item(&'p self, index: usize, json: Json<'a>) -> At<'a, 'p> {
        self.step(json, Step::Index(index))
    }

    /// Reads the value under the first of `keys` that is there.
    ///
    /// # Errors
    /// What reading the value says.
    pub fn find<T: Read<'a>>(&self, keys: [&str; 2]) -> Result<Option<T>> {
        match self.json.entries().find(|(key, _)| keys.contains(&key.as_ref())) {
            Some((key, json)) => self.entry(&key, json).read().map(Some),
            None => Ok(None),
        }
    }

    /// Reads the value as a `T`.
    ///
    /// # Errors
    /// `invalid_input` with the path and line of what does not fit.
    pub fn read<T: Read<'a>>(&self) -> Result<T> {
        T::read(*self)
    }

    /// An error about this value.
    #[must_use]
    pub fn error(&self, code: ErrorCode, message: impl Into<String>) -> Error {
        self.locate(Error::new(code, message))
    }

    /// Adds this place to an error that has none.
    #[must_use]
    pub fn locate(&self, error: Error) -> Error {
        error.at_path(self.path()).at_line(self.json.line())
    }

    /// An error saying what was expected here and what was found.
    #[must_use]
    pub fn expected(&self, what: &str) -> Error {
        self.error(ErrorCode::InvalidInput, format!("expected {what}, found {}", self.json.describe()))
    }

    /// Notes something about this value that may surprise.
    pub fn warn(&self, message: impl Into<String>) {
        let message = message.into();
        // To find the line takes a walk through the text, which is for warnings that are kept.
        if self.warnings.has_room_for(&message) {
            self.warnings.add(self.error(ErrorCode::InvalidInput, message));
        }
    }

    /// The JSON path of this value; `$` for the outermost.
    #[must_use]
    pub fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut next = Some(&self.path);
        while let Some(path) = next {
            steps.push(path.step);
            next = path.parent;
        }
        let mut text = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Root => {}
                Step::Index(index) => _ = write!(text, "[{index}]"),
                Step::Key(key) if is_plain_key(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(key);
                }
                Step::Key(key) => _ = write!(text, "[{}]", quoted(key)),
            }
        }
        if text.is_empty() { "$".into() } else { text }
    }
}

fn is_plain_key(key: &str) -> bool {
    !key.is_empty()
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        && !key.starts_with(|c: char| c.is_ascii_digit())
}

/// What can be read from JSON.
pub trait Read<'a>: Sized {
    /// Whether the key of such a value may be absent, which is the default of the type.
    const OPTIONAL: bool = false;

    /// Reads the value at this place.
    ///
    /// # Errors
    /// `invalid_input` with the path and line of what does not fit.
    fn read(at: At<'a, '_>) -> Result<Self>;
}

impl<'a> Read<'a> for Json<'a> {
    fn read(at: At<'a, '_>) -> Result<Self> {
        Ok(at.json)
    }
}

impl<'a> Read<'a> for bool {
    fn read(at: At<'a, '_>) -> Result<Self> {
        at.json.as_bool().ok_or_else(|| at.expected("true or false"))
    }
}

impl<'a> Read<'a> for f64 {
    fn read(at: At<'a, '_>) -> Result<Self> {
        at.json.as_f64().filter(|number| number.is_finite()).ok_or_else(|| at.expected("a number"))
    }
}

impl<'a> Read<'a> for i64 {
    /// A whole number, `3` and `3.0` alike.
    fn read(at: At<'a, '_>) -> Result<Self> {
        let number = at.json.as_number().ok_or_else(|| at.expected("a whole number"))?;
        number.parse().ok().or_else(|| whole(number)).ok_or_else(|| at.expected("a whole number"))
    }
}

fn whole(number: &str) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = double::read(number)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the exact range of doubles")]
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

impl<'a> Read<'a> for Cow<'a, str> {
    fn read(at: At<'a, '_>) -> Result<Self> {
        at.json.as_str().ok_or_else(|| at.expected("a string"))
    }
}

/// `null` is an absent value.
impl<'a, T: Read<'a>> Read<'a> for Option<T> {
    const OPTIONAL: bool = true;

    fn read(at: At<'a, '_>) -> Result<Self> {
        if at.json.is_null() { Ok(None) } else { T::read(at).map(Some) }
    }
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    fn read(at: At<'a, '_>) -> Result<Self> {
        if at.json.kind() != Kind::Array {
            return Err(at.expected("an array"));
        }
        // Counted first: most lists are short, and a list that grows takes room for four at once.
        let mut items = Self::with_capacity(at.json.items().count());
        for (index, item) in at.json.items().enumerate() {
            items.push(at.item(index, item).read()?);
        }
        Ok(items)
    }
}

/// One key of a record, in both spellings.
pub(crate) struct Field {
    pub(crate) snake: &'static str,
    pub(crate) camel: &'static str,
    pub(crate) optional: bool,
}

/// What a record does with keys that it does not know.
pub(crate) enum Unknown<'e, 'a> {
    Warn,
    Keep(&'e mut Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Reads the entries of an object: calls `read` with the number of each field that is there; `null`
/// is absent where the field may be. One function serves all records, so that each costs little code.
///
/// # Errors
/// `invalid_input` if this is no object, or a field is missing or there in both spellings.
pub(crate) fn read_fields<'a>(
    at: At<'a, '_>,
    name: &str,
    fields: &[Field],
    mut unknown: Unknown<'_, 'a>,
    read: &mut dyn FnMut(usize, At<'a, '_>) -> Result<()>,
) -> Result<()> {
    if at.json.kind() != Kind::Object {
        return Err(at.expected(&format!("an object ({name})")));
    }
    let mut seen = 0_u32;
    let mut next = 0;
    for (key, json) in at.json.entries() {
        match find_field(&key, fields, next) {
            Some((_, field)) if field.optional && json.is_null() => {}
            Some((number, field)) => {
                if seen & 1 << number != 0 {
                    let message = format!("`{}` is given twice, also as `{}`", field.snake, field.camel);
                    return Err(at.error(ErrorCode::InvalidInput, message).with_help("Keep one of the two"));
                }
                seen |= 1 << number;
                next = number + 1;
                read(number, at.entry(&key, json))?;
            }
            None if json.is_null() => {}
            None => match &mut unknown {
                Unknown::Keep(extra) => extra.push((key, json)),
                Unknown::Warn => {
                    at.entry(&key, json).warn(format!("`{key}` is not a field of {name} and is left out"));
                }
            },
        }
    }
    match fields.iter().enumerate().find(|(number, field)| !field.optional && seen & 1 << number == 0) {
        Some((_, field)) => Err(missing(&at, field)),
        None => Ok(()),
    }
}

/// The field of a key. Files keep their keys in order, so the field after the last one is tried first.
fn find_field<'f>(key: &str, fields: &'f [Field], next: usize) -> Option<(usize, &'f Field)> {
    let is_field = |field: &Field| key == field.snake || key == field.camel;
    let (before, after) = fields.split_at_checked(next).unwrap_or((fields, &[]));
    match after.iter().position(is_field) {
        Some(place) => Some((next + place, after.get(place)?)),
        None => before.iter().position(is_field).and_then(|place| Some((place, before.get(place)?))),
    }
}

fn missing(at: &At<'_, '_>, field: &Field) -> Error {
    let error = at.error(ErrorCode::InvalidInput, format!("`{}` is missing", field.snake));
    let found: Vec<_> = at.json.entries().map(|(key, _)| key).collect();
    match suggestion(field.snake, found.iter().map(AsRef::as_ref)) {
        Some(close) => error.with_help(format!("Is `{close}` meant to be `{}`?", field.snake)),
        None => error,
    }
}

/// Declares a shape once: the struct, how it is read in either spelling, how it is written, and its
/// JSON Schema.
///
/// Each field names its key in `snake_case` and in `camelCase`. A field of an optional type
/// ([`Read::OPTIONAL`]) may be absent; so may a `default` field. `=>` names a check of the value
/// before it is read. With `extra` the record keeps the keys that it does not know, otherwise it
/// warns of them. With `source` it remembers where it was read from.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$lt:lifetime> {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $snake:literal | $camel:literal $($default:ident)? $(=> $check:path)?; )*
        }
        $( extra $extra:ident )?
        $( source $source:ident )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $( #[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = !stringify!($extra).is_empty())))] )?
        $vis struct $name<$lt> {
            $(
                $(#[$field_meta])*
                #[cfg_attr(feature = "schema", schemars(rename = $camel $(, $default)?))]
                pub $field: $type,
            )*
            $(
                /// The keys that are not known here, as they were read.
                #[cfg_attr(feature = "schema", schemars(skip))]
                pub $extra: Vec<(std::borrow::Cow<$lt, str>, $crate::model::json::Json<$lt>)>,
            )?
            $(
                /// Where this was read from.
                #[cfg_attr(feature = "schema", schemars(skip))]
                pub $source: $crate::model::read::Source<$lt>,
            )?
        }

        impl<$lt> $crate::model::read::Read<$lt> for $name<$lt> {
            fn read(at: $crate::model::read::At<$lt, '_>) -> $crate::model::error::Result<Self> {
                use $crate::model::read::{Field, Read, Unknown, read_fields};
                let fields: &[Field] = &[
                    $( Field {
                        snake: $snake,
                        camel: $camel,
                        optional: record!(@optional $type $(, $default)?),
                    }, )*
                ];
                let mut this = Self::default();
                $( let mut $extra = Vec::new(); )?
                let unknown = record!(@unknown $($extra)?);
                read_fields(at, stringify!($name), fields, unknown, &mut |number, at| {
                    let mut fields = 0..;
                    $(
                        if fields.next() == Some(number) {
                            $( $check(at)?; )?
                            this.$field = Read::read(at)?;
                            return Ok(());
                        }
                    )*
                    Ok(())
                })?;
                $( this.$extra = $extra; )?
                $( this.$source = $crate::model::read::Source(Some(at.json)); )?
                Ok(this)
            }
        }

        impl $crate::model::write::Write for $name<'_> {
            fn write(&self, out: &mut $crate::model::write::Writer) {
                let mut object = out.object();
                $( object.field($snake, $camel, &self.$field); )*
                $( for (key, value) in &self.$extra { object.entry(key, value); } )?
                object.end();
            }
        }
    };
    (@optional $type:ty) => { <$type as Read<'_>>::OPTIONAL };
    (@optional $type:ty, default) => { true };
    (@unknown) => { Unknown::Warn };
    (@unknown $extra:ident) => { Unknown::Keep(&mut $extra) };
}
pub(crate) use record;

/// Checks that a value is an object, for fields that keep it as it is.
pub(crate) fn object(at: At<'_, '_>) -> Result<()> {
    if at.json.kind() == Kind::Object { Ok(()) } else { Err(at.expected("an object")) }
}

/// The JSON that a record was read from; it takes no part in comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a>(pub Option<Json<'a>>);

impl PartialEq for Source<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
