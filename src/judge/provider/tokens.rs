//! Control tokens of chat templates in judged text: `<|im_end|>`, `[/INST]`, `<end_of_turn>`, …
//!
//! Hosted models know who wrote which text. Many local servers join the messages of a chat into one text and
//! tokenize it with all special tokens, so that a message can end itself and begin another. [`broken`] puts a
//! word joiner (U+2060) after the first character of anything that may be such a token: the model reads the
//! same text, but the tokenizer finds no token. [`mended`] removes the joiners from a reply that quotes it.
//!
//! O(n): a token is at most [`MAX_TOKEN_BYTES`] bytes long.

use crate::judge::reply::scan::{find, slice};

/// Breaks tokens. It has no width and no meaning, and no normalisation removes it.
const JOINER: char = '\u{2060}';

/// The maximum length of a control token.
const MAX_TOKEN_BYTES: usize = 48;

/// The names of tokens `<name>` and `</name>`, in lower case, that look like ordinary tags.
const NAMES: [&str; 32] = [
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "mask",
    "sep",
    "cls",
    "eod",
    "eoh",
    "eoa",
    "eot",
    "eom",
    "sop",
    "eop",
    "start_of_turn",
    "end_of_turn",
    "start_of_image",
    "end_of_image",
    "image_soft_token",
    "think",
    "thinking",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "tools",
    "function_call",
    "endoftext",
    "im_start",
    "im_end",
    "turn",
];

/// Prefixes of names that are numbered or form a family.
const FAMILIES: [&str; 9] =
    ["unused", "reserved_", "special_", "extra_id_", "extra_", "seed:", "minimax:", "mask:", "loc_"];

/// The text with every control token broken; `None` if it has none.
pub(super) fn broken(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut from = 0;
    for (at, first) in text.char_indices() {
        if matches!(first, '<' | '[' | ']') && begins_token(text.get(at..).unwrap_or_default()) {
            out.push_str(text.get(from..=at).unwrap_or_default());
            out.push(JOINER);
            from = at + 1;
        }
    }
    (from > 0).then(|| {
        out.push_str(text.get(from..).unwrap_or_default());
        out
    })
}

/// The reply without the joiners that [`broken`] put into the quoted text.
pub(super) fn mended(text: String) -> String {
    if !text.chars().any(|c| c == JOINER) {
        return text;
    }
    let mut out = String::new();
    let mut before = ' ';
    for character in text.chars() {
        if character != JOINER || !matches!(before, '<' | '[' | ']') {
            out.push(character);
        }
        before = character;
    }
    out
}

/// Whether a text begins with something that may be a control token.
fn begins_token(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next().unwrap_or_default();
    match (first, characters.next().unwrap_or_default()) {
        // ChatML and similar templates, DeepSeek, EXAONE, MiniMax, Llama 2.
        ('<', '|' | '｜') | ('[', '|') | (']', '~' | '<') => return true,
        ('[', 'e') if text.starts_with("[e~[") => return true,
        ('<', '<') => {
            let name = name_in(text.get(2..).unwrap_or_default(), ">>");
            return name.is_some_and(|name| name.trim_start_matches('/').eq_ignore_ascii_case("sys"));
        }
        _ => {}
    }
    if first == '<' {
        return name_in(text.get(1..).unwrap_or_default(), ">").is_some_and(is_name);
    }
    // Mistral, BERT, InternLM: upper-case words.
    let name = name_in(text.get(1..).unwrap_or_default(), "]").unwrap_or_default();
    let name = name.strip_prefix('/').unwrap_or(name);
    let is_word = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    first == '[' && ((name.len() > 2 && is_word(name)) || matches!(name, "gMASK" | "sMASK"))
}

/// The text before the end of a token.
fn name_in<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let mut length = text.len().min(MAX_TOKEN_BYTES);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    let near = slice(text, 0, length);
    find(near, end, 0).map(|at| slice(near, 0, at))
}

fn is_name(name: &str) -> bool {
    let name = name.strip_prefix('/').unwrap_or(name);
    let name = name.strip_suffix('|').unwrap_or(name).to_ascii_lowercase();
    NAMES.contains(&&*name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
        || name.ends_with("_token")
        || name.ends_with("▁sentence")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_tokens_of_every_family_are_broken_after_their_first_character() {
        for token in [
            "<|im_start|>",
            "<|im_end|>",
            "<|eot_id|>",
            "<|start_header_id|>",
            "<|channel|>",
            "<|endoftext|>",
            "<｜User｜>",
            "<｜Assistant｜>",
            "<｜end▁of▁sentence｜>",
            "<|START_OF_TURN_TOKEN|>",
            "<|turn>",
            "<turn|>",
            "<start_of_turn>",
            "<end_of_turn>",
            "<s>",
            "</s>",
            "<S>",
            "<bos>",
            "<eos>",
            "<pad>",
            "<unk>",
            "<think>",
            "</think>",
            "<tool_call>",
            "</tool_call>",
            "<unused12>",
            "<reserved_106>",
            "<SPECIAL_12>",
            "<extra_id_0>",
            "<BOS_TOKEN>",
            "<seed:bos>",
            "<minimax:tool_call>",
            "[INST]",
            "[/INST]",
            "[AVAILABLE_TOOLS]",
            "[TOOL_CALLS]",
            "[SYSTEM_PROMPT]",
            "[CLS]",
            "[SEP]",
            "[gMASK]",
            "[UNUSED_TOKEN_146]",
            "[|system|]",
            "[|endofturn|]",
            "]~b]",
            "]<]minimax[>[",
            "[e~[",
            "<<SYS>>",
            "<</SYS>>",
        ] {
            let found = broken(&format!("a{token}b")).unwrap_or_default();
            let first: String = token.chars().take(1).collect();
            assert!(found.starts_with(&format!("a{first}{JOINER}")), "{token}: {found}");
            assert!(!found.contains(token), "{found}");
            assert_eq!(mended(found), format!("a{token}b"));
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "a < b",
            "a[0]",
            "[1, 2]",
            "[A]",
            "[]",
            "<b>bold</b>",
            "<sentence>It rains.</sentence>",
            "<data-0123456789abcdef name=\"response\">",
            "x<y>z",
            "[link](https://example.org)",
            "[Note]",
            "<",
            "[",
            "]",
            "<<",
            "List<String>",
            "5 <3",
            "\u{2060}",
        ] {
            assert_eq!(broken(text), None, "{text}");
        }
    }

    #[test]
    fn a_reply_loses_no_joiner_of_its_own() {
        assert_eq!(mended("a\u{2060}b <\u{2060}|im_end|>".into()), "a\u{2060}b <|im_end|>");
    }
}
