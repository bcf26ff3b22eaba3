//! How a score came about, as results show it.

use std::borrow::Cow;

use super::judged::{RubricVotes, Samples, Sentence};
use crate::foundation::write::{Write, Writer};
use crate::trajectory::AlignmentEntry;

/// How a score came about.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct Explanation<'a> {
    /// Expected and actual tool calls side by side.
    pub alignment: Option<Vec<AlignmentEntry<'a>>>,
    /// The words that both texts have.
    pub tokens: Option<TokenOverlap>,
    /// What the judge said.
    pub samples: Option<Samples>,
    /// How the samples voted on each rubric.
    pub rubrics: Option<Vec<RubricVotes>>,
    /// What the judge said of each sentence.
    pub sentences: Option<Vec<Sentence>>,
    /// Who scored what google-adk leaves to Vertex AI: `judge` or `vertex`.
    pub scored_by: Option<Cow<'static, str>>,
    /// Readings that may surprise.
    #[cfg_attr(feature = "schema", schemars(default, skip_serializing_if = "Vec::is_empty"))]
    pub warnings: Vec<Cow<'static, str>>,
}

/// How a ROUGE-1 score came about.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenOverlap {
    /// The share of the actual tokens that are expected.
    pub precision: f64,
    /// The share of the expected tokens that are there.
    pub recall: f64,
    /// Where the matched tokens are.
    pub matched: Vec<MatchedToken>,
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

impl Write for Explanation<'_> {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.optional("alignment", &self.alignment);
        object.optional("tokens", &self.tokens);
        object.optional("samples", &self.samples);
        object.optional("rubrics", &self.rubrics);
        object.optional("sentences", &self.sentences);
        object.optional("scoredBy", &self.scored_by);
        if !self.warnings.is_empty() {
            object.entry("warnings", &self.warnings);
        }
        object.end();
    }
}

impl Write for TokenOverlap {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("precision", &self.precision);
        object.entry("recall", &self.recall);
        object.entry("matched", &self.matched);
        object.end();
    }
}

impl Write for MatchedToken {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("expected", &self.expected.as_slice());
        object.entry("actual", &self.actual.as_slice());
        object.end();
    }
}
