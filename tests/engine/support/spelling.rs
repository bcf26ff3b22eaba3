//! Keys in either spelling.

/// A key in `snake_case` as JavaScript writes it.
pub(crate) fn camel_case(snake: &str) -> String {
    let mut after_underscore = false;
    let spelled = snake.chars().filter_map(|c| {
        let starts_word = std::mem::replace(&mut after_underscore, c == '_');
        (c != '_').then(|| if starts_word { c.to_ascii_uppercase() } else { c })
    });
    spelled.collect()
}
