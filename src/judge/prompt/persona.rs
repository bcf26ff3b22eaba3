//! Personas of simulated users: the values of `{{persona}}`.
//!
//! A persona is a description and behaviours, each with what a message must do or avoid. google-adk's personas
//! have the ids `EXPERT`, `NOVICE` and `EVALUATOR`; their texts here are our own, in `persona/`.

use std::borrow::Cow;

use super::push_all;
use super::template::Template;

/// A behaviour of a persona that a user wrote.
#[derive(Clone, Debug)]
pub struct Behavior<'b> {
    /// Its name.
    pub name: Cow<'b, str>,
    /// Its description.
    pub description: Cow<'b, str>,
    /// What violates it.
    pub violations: Vec<Cow<'b, str>>,
}

const ALL_AT_ONCE: &str = include_str!("persona/all_at_once.txt");
const ANSWERS_RELEVANT: &str = include_str!("persona/answers_relevant.txt");
const CORRECTS_NOT: &str = include_str!("persona/corrects_not.txt");
const ENDS_AT_FAILURE: &str = include_str!("persona/ends_at_failure.txt");
const SOUNDS_CASUAL: &str = include_str!("persona/sounds_casual.txt");

const EXPERT: [&str; 7] = [
    include_str!("persona/expert.txt"),
    ALL_AT_ONCE,
    ANSWERS_RELEVANT,
    include_str!("persona/corrects.txt"),
    include_str!("persona/helps_once.txt"),
    include_str!("persona/ends_at_second_failure.txt"),
    include_str!("persona/sounds_professional.txt"),
];
const NOVICE: [&str; 6] = [
    include_str!("persona/novice.txt"),
    include_str!("persona/step_by_step.txt"),
    CORRECTS_NOT,
    include_str!("persona/answers_all.txt"),
    ENDS_AT_FAILURE,
    SOUNDS_CASUAL,
];
const EVALUATOR: [&str; 6] = [
    include_str!("persona/evaluator.txt"),
    ALL_AT_ONCE,
    ANSWERS_RELEVANT,
    ENDS_AT_FAILURE,
    CORRECTS_NOT,
    SOUNDS_CASUAL,
];

/// The behaviour of a user without a persona.
pub const DEFAULT_PERSONA: &str = include_str!("persona/default.txt");

/// The ids of the built-in personas.
pub const PERSONAS: [&str; 3] = ["EXPERT", "NOVICE", "EVALUATOR"];

/// The text of one of [`PERSONAS`].
///
/// ```
/// use adk_metrics::judge::prompt::persona;
///
/// assert!(persona("EXPERT").unwrap().contains("## Corrects the agent"));
/// assert!(persona("expert").is_none());
/// ```
#[must_use]
pub fn persona(id: &str) -> Option<String> {
    let parts: &[&str] = match id {
        "EXPERT" => &EXPERT,
        "NOVICE" => &NOVICE,
        "EVALUATOR" => &EVALUATOR,
        _ => return None,
    };
    Some(parts.concat())
}

/// The text of a persona that a user wrote. As in google-adk, `{{ stop_signal }}` is filled in; other braces
/// stay.
///
/// ```
/// use adk_metrics::judge::prompt::{Behavior, custom_persona};
///
/// let rude = Behavior {
///     name: "Rude".into(),
///     description: "Never thanks.".into(),
///     violations: vec!["It thanks.".into()],
/// };
/// assert_eq!(
///     custom_persona("A grump.", &[rude], "</finished>"),
///     "A grump.\n## Rude\nNever thanks.\nA message breaks this if:\n- It thanks.\n",
/// );
/// ```
#[must_use]
pub fn custom_persona(description: &str, behaviors: &[Behavior<'_>], stop_signal: &str) -> String {
    let mut written = String::new();
    push_all(&mut written, &[description, "\n"]);
    for Behavior { name, description, violations } in behaviors {
        push_all(&mut written, &["## ", name, "\n", description, "\nA message breaks this if:\n"]);
        for violation in violations {
            push_all(&mut written, &["- ", violation, "\n"]);
        }
    }
    let mut filled = String::with_capacity(written.len());
    Template::scan(written.into()).fill(&mut filled, &mut |name, filled| match name {
        "stop_signal" => filled.push_str(stop_signal),
        other => push_all(filled, &["{{", other, "}}"]),
    });
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_persona_is_a_description_with_sections_of_rules() {
        for text in PERSONAS.map(|id| persona(id).unwrap()) {
            let mut lines = text.lines();
            assert!(!lines.next().unwrap().starts_with(['#', '-']));
            assert!(lines.all(|line| line.starts_with("## ") || line.starts_with("- ")), "{text}");
            assert!(text.ends_with('\n'));
        }
        assert!(DEFAULT_PERSONA.lines().all(|line| line.starts_with("## ") || line.starts_with("- ")));
    }

    #[test]
    fn the_stop_signal_is_filled_into_custom_personas() {
        let text = custom_persona("Ends with `{{ stop_signal }}` or {{other}}.", &[], "{{stop_signal}}");
        assert_eq!(text, "Ends with `{{stop_signal}}` or {{other}}.\n");
    }
}
