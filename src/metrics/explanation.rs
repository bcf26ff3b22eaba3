//! How a score came about, as results show it.

use std::borrow::Cow;

use super::judged::{RubricVotes, Samples, Sentence};
use crate::foundation::write::{Write, Writer, json_object};
use crate::trajectory::AlignmentEntry;

json_object! {
    /// How a score came about.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Explanation<'a> {
        /// Expected and actual tool calls side by side.
        pub alignment: Option<Vec<AlignmentEntry<'a>>> = "alignment",
        /// The words that both texts contain.
        pub tokens: Option<TokenOverlap> = "tokens",
        /// What the judge said.
        pub samples: Option<Samples> = "samples",
        /// How the samples voted on each rubric.
        pub rubrics: Option<Vec<RubricVotes>> = "rubrics",
        /// The judge's label for each sentence.
        pub sentences: Option<Vec<Sentence>> = "sentences",
        /// Who computed a metric that google-adk delegates to Vertex AI: `judge` or `vertex`.
        pub scored_by: Option<Cow<'static, str>> = "scoredBy",
        /// Warnings about how the inputs were read.
        #[cfg_attr(feature = "schema", schemars(default, skip_serializing_if = "Vec::is_empty"))]
        pub warnings: Vec<Cow<'static, str>> = "warnings" if_any,
    }
}

json_object! {
    /// How a ROUGE-1 score came about.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TokenOverlap {
        /// The share of the actual tokens that are expected.
        pub precision: f64 = "precision",
        /// The share of the expected tokens that occur in the actual text.
        pub recall: f64 = "recall",
        /// Where the matched tokens are.
        pub matched: Vec<MatchedToken> = "matched",
    }
}

/// One matched token: `[start, end)` in UTF-16 code units, in the non-empty part texts of each
/// final response joined by line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchedToken {
    /// In the expected text.
    pub expected: [u32; 2],
    /// In the actual text.
    pub actual: [u32; 2],
}

/// By hand, since a long response has a thousand of them.
impl Write for MatchedToken {
    fn write(&self, out: &mut Writer) {
        let [expected_start, expected_end] = self.expected;
        let [actual_start, actual_end] = self.actual;
        for (before, offset) in [
            (r#"{"expected":["#, expected_start),
            (",", expected_end),
            (r#"],"actual":["#, actual_start),
            (",", actual_end),
        ] {
            out.raw(before);
            offset.write(out);
        }
        out.raw("]}");
    }
}
