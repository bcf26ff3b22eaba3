//! Templates: text with `{{variables}}`.
//!
//! A variable is a name of ASCII letters, digits and `_` in double braces, with or without spaces around it.
//! Other braces are text, so JSON needs no escaping. Rendering is one pass over the template; values are never
//! scanned for variables. O(n).

use std::borrow::Cow;

use super::{push_all, short_hash};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::suggestion::suggestion;
use crate::judge::reply::scan::{find, slice, span_end};

/// A text with variables.
#[derive(Clone, Debug)]
pub struct Template<'t> {
    text: Cow<'t, str>,
    placeholders: Vec<Placeholder>,
}

/// A variable: the range of its braces, and that of its name.
#[derive(Clone, Copy, Debug)]
struct Placeholder {
    start: usize,
    name_start: usize,
    name_end: usize,
    end: usize,
}

impl<'t> Template<'t> {
    /// Parses a template that has every needed variable and no unknown one.
    ///
    /// # Errors
    /// `invalid_input` if a needed variable is missing, or if one is neither needed nor optional, with the name
    /// that was probably meant.
    ///
    /// ```
    /// use adk_metrics::judge::prompt::Template;
    ///
    /// assert!(Template::parse("Is {{response}} polite? {\"a\": {}}", &["response"], &[]).is_ok());
    /// let error = Template::parse("Is {{ respons }} polite?", &["response"], &[]).err().unwrap();
    /// assert_eq!(error.help.as_deref(), Some("Did you mean {{response}}?"));
    /// ```
    pub fn parse(text: impl Into<Cow<'t, str>>, needed: &[&str], optional: &[&str]) -> Result<Self> {
        let template = Self::scan(text.into());
        template.check(needed, optional)?;
        Ok(template)
    }

    fn check(&self, needed: &[&str], optional: &[&str]) -> Result<()> {
        let known = [needed, optional].concat();
        let names: Vec<&str> = self.placeholders.iter().map(|placeholder| self.name(placeholder)).collect();
        for name in &names {
            if !known.contains(name) {
                let mut help = String::new();
                if let Some(close) = suggestion(name, known.iter().copied()) {
                    push_all(&mut help, &["Did you mean {{", close, "}}?"]);
                } else {
                    help.push_str("It can have");
                    for name in known {
                        push_all(&mut help, &[" {{", name, "}}"]);
                    }
                }
                return Err(mistake("the prompt has no variable {{", name, &help));
            }
        }
        match needed.iter().find(|name| !names.contains(name)) {
            Some(name) => {
                Err(mistake("the prompt lacks the variable {{", name, "Put it where its text belongs"))
            }
            None => Ok(()),
        }
    }

    /// Parses a template with any variables.
    pub(super) fn scan(text: Cow<'t, str>) -> Self {
        let mut placeholders = Vec::new();
        let mut from = 0;
        while let Some(placeholder) = next_placeholder(&text, from) {
            from = placeholder.end;
            placeholders.push(placeholder);
        }
        Self { text, placeholders }
    }

    /// The source text of the template.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The id under which results and recordings refer to the template: the first 16 hexadecimal digits of the
    /// SHA-256 of its text.
    #[must_use]
    pub fn hash(&self) -> String {
        short_hash(&self.text)
    }

    /// Writes the template. `write` writes the value of each variable.
    pub(super) fn fill(&self, out: &mut String, write: &mut dyn FnMut(&str, &mut String)) {
        let mut at = 0;
        for placeholder in &self.placeholders {
            out.push_str(self.text.get(at..placeholder.start).unwrap_or_default());
            write(self.name(placeholder), out);
            at = placeholder.end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
    }

    fn name(&self, placeholder: &Placeholder) -> &str {
        self.text.get(placeholder.name_start..placeholder.name_end).unwrap_or_default()
    }
}

fn mistake(what: &str, name: &str, help: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, [what, name, "}}"].concat()).with_help(help)
}

/// The first variable at or after `from`.
fn next_placeholder(text: &str, from: usize) -> Option<Placeholder> {
    let mut blank = |c| c == ' ';
    let mut at = from;
    while let Some(start) = find(text, "{{", at) {
        let name_start = span_end(text, start + 2, &mut blank);
        let name_end = span_end(text, name_start, &mut |c| c.is_ascii_alphanumeric() || c == '_');
        let end = span_end(text, name_end, &mut blank);
        if name_end > name_start && slice(text, end, end + 2) == "}}" {
            return Some(Placeholder { start, name_start, name_end, end: end + 2 });
        }
        at = start + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> String {
        let mut out = String::new();
        Template::scan(template.into()).fill(&mut out, &mut |name, out| {
            out.push_str("{{x}}");
            out.push_str(name);
        });
        out
    }

    #[test]
    fn variables_are_filled_in_and_other_braces_stay() {
        assert_eq!(filled("a {{x}} {{ y_2 }}."), "a {{x}}x {{x}}y_2.");
        for text in ["{\"a\": {\"b\": {}}}", "{{}}", "{{ a b }}", "{{a}", "{ {a} }", "{{é}}", "{{a\n}}", "{{"]
        {
            assert_eq!(filled(text), text);
        }
        assert_eq!(filled("{{{a}}}"), "{{{x}}a}");
    }

    #[test]
    fn a_template_with_other_variables_than_it_should_have_is_refused() {
        let refusal = |text: &str| {
            let error = Template::parse(text, &["response"], &["tools"]).err().unwrap();
            (error.message.clone(), error.help.clone().unwrap())
        };
        assert_eq!(
            refusal("{{tools}}"),
            ("the prompt lacks the variable {{response}}".into(), "Put it where its text belongs".into())
        );
        assert_eq!(
            refusal("{{response}} {{tool}}"),
            ("the prompt has no variable {{tool}}".into(), "Did you mean {{tools}}?".into())
        );
        assert_eq!(refusal("{{response}} {{colour}}").1, "It can have {{response}} {{tools}}");
    }

    #[test]
    fn the_hash_is_the_beginning_of_the_sha_256_of_the_text() {
        assert_eq!(Template::scan("abc".into()).hash(), "ba7816bf8f01cfea");
    }
}
