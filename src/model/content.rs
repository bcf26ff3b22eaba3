//! Contents: what users, agents and tools said, in parts.

use std::borrow::Cow;

use super::json::Json;

/// A call of a tool, as an agent made it or should make it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionCall<'a> {
    /// Links a call with its response; never compared.
    pub id: Option<Cow<'a, str>>,
    /// The name of the tool.
    pub name: Option<Cow<'a, str>>,
    /// The arguments: an object, or nothing.
    pub args: Option<Json<'a>>,
}
