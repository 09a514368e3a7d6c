//! What is wrong with a value, in plain words in place of the parser's.

/// Says one kind of message in plain words.
type Said = fn(&str) -> Option<String>;

/// A message of `serde` in plain words, without its place in the text.
pub fn in_plain_words(message: &str) -> String {
    let message = without_place(message);
    let kinds: [(&str, Said); 6] = [
        ("missing field ", missing),
        ("duplicate field ", doubled),
        ("unknown field ", unknown_field),
        ("unknown variant ", unknown_word),
        ("invalid type: ", other),
        ("invalid value: ", other),
    ];
    let told = kinds
        .into_iter()
        .find_map(|(start, told)| told(message.strip_prefix(start)?));
    told.unwrap_or_else(|| message.to_owned())
}

/// `at line 1 column 7` tells nothing where the field is named.
fn without_place(message: &str) -> &str {
    match message.rsplit_once(" at line ") {
        Some((rest, place)) if is_place(place) => rest,
        Some(_) | None => message,
    }
}

fn is_place(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let parts = text.split_once(" column ");
    parts.is_some_and(|(line, column)| is_number(line) && is_number(column))
}

fn missing(field: &str) -> Option<String> {
    Some(format!("{field} is missing"))
}

fn doubled(field: &str) -> Option<String> {
    Some(format!("{field} is there twice"))
}

fn unknown_field(rest: &str) -> Option<String> {
    let (field, known) = rest.split_once(", ")?;
    Some(match known.strip_prefix("expected ") {
        Some(known) => format!("{field} is no field; there are {}", listed(known)),
        None => format!("{field} is no field; there are none"),
    })
}

fn unknown_word(rest: &str) -> Option<String> {
    let (word, known) = rest.split_once(", expected ")?;
    Some(format!("is {word}, but has to be one of {}", listed(known)))
}

fn listed(known: &str) -> String {
    let known = known.strip_prefix("one of ").unwrap_or(known);
    known.replace("` or `", "`, `")
}

/// Something else than was expected.
fn other(rest: &str) -> Option<String> {
    let (given, wanted) = rest.rsplit_once(", expected ")?;
    Some(format!(
        "is {}, but has to be {}",
        value(given),
        kind(wanted)
    ))
}

fn value(given: &str) -> String {
    let kinds = [
        ("integer ", "the number "),
        ("floating point ", "the number "),
        ("boolean ", ""),
        ("string ", "the text "),
    ];
    let told = kinds
        .into_iter()
        .find_map(|(start, plain)| Some(format!("{plain}{}", given.strip_prefix(start)?)));
    told.unwrap_or_else(|| kind(given))
}

fn kind(wanted: &str) -> String {
    let is_object = wanted.starts_with("struct ") || wanted == "map" || wanted == "a map";
    match wanted {
        _ if is_object => "an object",
        "a string" | "string" => "a text",
        "sequence" | "a sequence" => "a list",
        "a boolean" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on, and not too large",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its messages count")]
    struct Sample {
        name: String,
        count: u32,
        #[serde(default)]
        open: bool,
        #[serde(default)]
        parts: Vec<String>,
        #[serde(default)]
        way: Option<Way>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Way {
        Up,
        Down,
    }

    #[test]
    fn every_mistake_is_told_without_words_of_the_parser() {
        for (sent, told) in [
            (r#"{"name": "a"}"#, "`count` is missing"),
            (r#"{"name": "a", "name": "b"}"#, "`name` is there twice"),
            (
                r#"{"nam": "a"}"#,
                "`nam` is no field; there are `name`, `count`, `open`, `parts`, `way`",
            ),
            (r#"{"name": 7}"#, "is the number `7`, but has to be a text"),
            (r#"{"name": {}}"#, "is an object, but has to be a text"),
            (r#"{"name": null}"#, "is null, but has to be a text"),
            (
                r#"{"count": -1}"#,
                "is the number `-1`, but has to be a whole number from 0 on, and not too large",
            ),
            (
                r#"{"open": "yes"}"#,
                "is the text \"yes\", but has to be true or false",
            ),
            (r#"{"parts": true}"#, "is `true`, but has to be a list"),
            (
                r#"{"way": "left"}"#,
                "is `left`, but has to be one of `up`, `down`",
            ),
        ] {
            let wrong = serde_json::from_str::<Sample>(sent).unwrap_err();
            assert_eq!(in_plain_words(&wrong.to_string()), told, "{sent}");
        }
        // What our own types say stays.
        assert_eq!(
            in_plain_words("`shop` is no repository"),
            "`shop` is no repository"
        );
    }
}
