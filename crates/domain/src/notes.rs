//! Notes that people and agents keep with a job. No decision of Gaffer depends on them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fence::{clip, is_invisible};
use crate::redact::redact;

/// Heaviest notes of a job, in bytes as JSON.
pub const NOTES_BYTES_MAX: usize = 8 * 1024;

/// Longest name of a note, in characters.
const NAME_CHARS_MAX: usize = 100;

/// How deep notes may be nested.
const DEPTH_MAX: usize = 8;

/// How much of a wrong name is repeated, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// The notes of one job, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// What is kept.
    pub kept: Map<String, Value>,
}

/// Why notes cannot be kept. The name is that of the outermost note.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNotes {
    /// A name is no name.
    #[error("a name has 1 to 100 characters that can be seen, and `{0}` has not")]
    Name(String),
    /// A value looks like a secret.
    #[error("`{0}` holds what looks like a secret, and secrets are not kept with jobs")]
    Secret(String),
    /// A text contains invisible characters.
    #[error("`{0}` holds characters that cannot be seen")]
    Hidden(String),
    /// A value is nested too deeply.
    #[error("`{0}` is nested more than 8 deep")]
    Deep(String),
    /// It is too much together.
    #[error("the notes of a job have at most 8192 bytes as JSON, and with these it would be {0}")]
    Heavy(usize),
}

impl Notes {
    /// These notes with others over them: a repeated name gets its new value, and `null` removes it.
    pub fn with(&self, given: Map<String, Value>) -> Result<Self, InvalidNotes> {
        let mut kept = self.kept.clone();
        for (name, value) in given {
            check(&name, &value)?;
            match value {
                Value::Null => {
                    kept.remove(&name);
                }
                value @ (Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_)) => {
                    kept.insert(name, value);
                }
            }
        }
        // A map with text keys always serializes; should it not, it is as heavy as can be.
        let bytes = serde_json::to_vec(&kept).map_or(usize::MAX, |json| json.len());
        if bytes > NOTES_BYTES_MAX {
            return Err(InvalidNotes::Heavy(bytes));
        }
        Ok(Self { kept })
    }
}

fn check(name: &str, value: &Value) -> Result<(), InvalidNotes> {
    let shown = || clip(&redact(name), SHOWN_CHARS_MAX);
    let is_name = (1..=NAME_CHARS_MAX).contains(&name.chars().count())
        && !name
            .chars()
            .any(|c| is_invisible(c) || c == '\n' || c == '\t');
    if !is_name {
        return Err(InvalidNotes::Name(shown()));
    }
    if redact(name) != name {
        return Err(InvalidNotes::Secret(shown()));
    }
    inside(value, DEPTH_MAX).map_err(|wrong| match wrong {
        Wrong::Secret => InvalidNotes::Secret(shown()),
        Wrong::Hidden => InvalidNotes::Hidden(shown()),
        Wrong::Deep => InvalidNotes::Deep(shown()),
    })
}

/// What is wrong within a note.
enum Wrong {
    Secret,
    Hidden,
    Deep,
}

fn inside(value: &Value, depth: usize) -> Result<(), Wrong> {
    let within = || depth.checked_sub(1).ok_or(Wrong::Deep);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => plain(text),
        Value::Array(values) => {
            let depth = within()?;
            values.iter().try_for_each(|value| inside(value, depth))
        }
        Value::Object(fields) => {
            let depth = within()?;
            fields.iter().try_for_each(|(name, value)| {
                plain(name)?;
                inside(value, depth)
            })
        }
    }
}

fn plain(text: &str) -> Result<(), Wrong> {
    if redact(text) != text {
        return Err(Wrong::Secret);
    }
    if text.chars().any(is_invisible) {
        return Err(Wrong::Hidden);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => panic!("{other} is no object"),
        }
    }

    fn with(value: Value) -> Result<Notes, InvalidNotes> {
        Notes::default().with(map(value))
    }

    #[test]
    fn notes_are_merged_by_name_and_null_takes_out() {
        let first = with(json!({"task": "login", "tries": 1, "left": null})).unwrap();
        let second = first
            .with(map(
                json!({"tries": 2, "tags": ["a", {"b": true}], "task": null}),
            ))
            .unwrap();
        let kept = json!({"tries": 2, "tags": ["a", {"b": true}]});
        assert_eq!(Value::Object(second.kept.clone()), kept);
        assert_eq!(second.with(Map::new()), Ok(second));
    }

    #[test]
    fn what_cannot_be_kept_is_named() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let name = |name: &str| name.to_owned();
        let mut deep = json!(1);
        for _ in 0..9 {
            deep = json!([deep]);
        }
        for (given, wrong) in [
            (json!({"": 1}), InvalidNotes::Name(name(""))),
            (json!({"a\nb": 1}), InvalidNotes::Name(name("a\nb"))),
            (
                json!({"token": [{"x": secret}]}),
                InvalidNotes::Secret(name("token")),
            ),
            (json!({"t": {secret: 1}}), InvalidNotes::Secret(name("t"))),
            (json!({secret: 1}), InvalidNotes::Secret(name("[secret]"))),
            (json!({"t": "a\u{202e}b"}), InvalidNotes::Hidden(name("t"))),
            (json!({"t": deep}), InvalidNotes::Deep(name("t"))),
            (json!({"t": "x".repeat(8190)}), InvalidNotes::Heavy(8198)),
        ] {
            assert_eq!(with(given.clone()), Err(wrong), "{given}");
        }
    }

    #[test]
    fn notes_together_have_a_limit_and_what_is_too_much_changes_nothing() {
        let first = with(json!({"a": "x".repeat(5_000)})).unwrap();
        let refused = first.with(map(json!({"b": "x".repeat(5_000)})));
        assert_eq!(refused, Err(InvalidNotes::Heavy(10_015)));
        let instead = first.with(map(json!({"a": null, "b": "x".repeat(5_000)})));
        assert_eq!(instead.unwrap().kept.len(), 1);
    }
}
