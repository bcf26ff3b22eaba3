//! Whatever a template and its values contain, no value leaves its block in a prompt.

use adk_metrics::judge::prompt::{self, Behavior, PromptValue, custom_persona, list_rubrics, simulated_user};

/// The input is a template, and values for its variables.
pub fn check(input: &[u8]) {
    let mut strings = crate::strings(input);
    let Some(template) = strings.next() else { return };
    let texts: Vec<_> = strings.collect();
    let text = |index: usize| texts.get(index % texts.len().max(1)).copied().unwrap_or_default();
    for prompt in prompt::ALL {
        let names = prompt.needed.iter().chain(prompt.optional);
        let values: Vec<_> = names
            .enumerate()
            .filter(|(_, name)| **name != "reply_format")
            .map(|(index, name)| PromptValue { name, text: text(index), is_fenced: true })
            .collect();
        assert_fenced(&prompt.render(&prompt.template(), &values), prompt.text, &values);
        if let Ok(own) = prompt.replaced_by(template) {
            assert_fenced(&prompt.render(&own, &values), template, &values);
        }
    }
    let history = [PromptValue { name: "conversation_history", text: text(0), is_fenced: true }];
    assert_fenced(&simulated_user(template, &history), template, &history);

    let listed = list_rubrics(&[(text(0), text(1)), (text(2), text(3))]);
    assert_eq!(listed.lines().count(), 2, "a line for each rubric: {listed}");
    let behavior =
        Behavior { name: text(0).into(), description: text(1).into(), violations: vec![text(3).into()] };
    assert!(!custom_persona(template, &[behavior], text(2)).is_empty());
}

/// The marker of blocks occurs in no value, so that no value ends its block.
fn assert_fenced(prompt: &str, template: &str, values: &[PromptValue<'_>]) {
    let marker = prompt.split_once("`<data-").and_then(|(_, rest)| rest.get(..16));
    assert!(marker.is_some(), "the prompt does not say how blocks are marked");
    let Some(marker) = marker else { return };
    assert!(!template.contains(marker));
    assert!(values.iter().all(|value| !value.text.contains(marker)));
    let (begins, ends) = (format!("<data-{marker} name="), format!("\n</data-{marker}>"));
    let count = |mark: &str| prompt.matches(mark).count();
    // The prompt explains the markers once, with the end marker in the middle of a line.
    assert_eq!(count(&begins), count(&ends) + 1);
}
