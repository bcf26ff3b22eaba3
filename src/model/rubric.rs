//! Rubrics: properties that a judge looks for.

use std::borrow::Cow;

use super::shape::{Warnings, record};
use crate::foundation::error::Result;
use crate::foundation::json::Json;
use crate::foundation::write::quoted;

record! {
    /// A property that a response or a trajectory should have.
    pub struct Rubric<'a> called "a rubric" {
        /// Identifies the rubric among those that apply to a turn.
        rubric_id: Cow<'a, str> = "rubric_id" | "rubricId";
        /// The property.
        rubric_content: RubricContent<'a> = "rubric_content" | "rubricContent";
        /// How to read the rubric's score.
        description: Option<Cow<'a, str>> = "description" | "description";
        /// Which metric the rubric is for: `FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY` or `TRAJECTORY_QUALITY`.
        r#type: Option<Cow<'a, str>> = "type" | "type";
    } rule rubric_is_read
}

/// Warns of a rubric of a case or turn that no metric reads, if a metric reads rubrics by their type.
fn rubric_is_read(json: Json<'_>, warnings: &Warnings) -> Result<()> {
    let found = Rubric(json).r#type();
    if warnings.read_rubric_types.get() && !Rubric::TYPES.iter().any(|known| found.as_deref() == Some(known))
    {
        let which = found
            .map_or_else(|| "without a type".to_owned(), |found| "of the type ".to_owned() + &quoted(&found));
        let help = "The types are `FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY` and `TRAJECTORY_QUALITY`";
        let message = ["rubrics ", &which, " are left out: no metric reads them"].concat();
        warnings.add_with_help(json, message, help.to_owned());
    }
    Ok(())
}

record! {
    /// The words of a rubric.
    pub struct RubricContent<'a> called "the content of a rubric" {
        /// The property in words, such as "The response names the price."
        text_property: Option<Cow<'a, str>> = "text_property" | "textProperty";
    }
}

impl<'a> Rubric<'a> {
    /// The type of rubrics about final responses.
    pub const FINAL_RESPONSE_QUALITY: &'static str = "FINAL_RESPONSE_QUALITY";
    /// The type of rubrics about the use of tools in a turn.
    pub const TOOL_USE_QUALITY: &'static str = "TOOL_USE_QUALITY";
    /// The type of rubrics about whole conversations.
    pub const TRAJECTORY_QUALITY: &'static str = "TRAJECTORY_QUALITY";
    /// All types.
    const TYPES: [&'static str; 3] =
        [Self::FINAL_RESPONSE_QUALITY, Self::TOOL_USE_QUALITY, Self::TRAJECTORY_QUALITY];

    /// The property in words.
    #[must_use]
    pub fn property(self) -> Option<Cow<'a, str>> {
        self.rubric_content().text_property()
    }
}
