//! Fields that read as nothing instead of failing the item they are in.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// A field that reads as none when it is missing, null or of an unexpected shape.
///
/// It borrows the raw text first, so it works only below `serde_json`'s own deserializer over a borrowed text.
#[derive(Debug)]
pub(super) struct Loose<T>(pub(super) Option<T>);

impl<T> Default for Loose<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        Ok(Self(if raw == "null" {
            None
        } else {
            serde_json::from_str(raw).ok()
        }))
    }
}

/// A list of which unreadable items are left out; anything but a list is an empty one.
#[derive(Debug)]
pub(super) struct Many<T>(pub(super) Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        let items: Vec<&'de RawValue> = serde_json::from_str(raw).unwrap_or_default();
        let readable = items
            .into_iter()
            .filter_map(|item| serde_json::from_str(item.get()).ok());
        Ok(Self(readable.collect()))
    }
}

/// A text, or a whole number read as text: ids of 20 digits must never pass through a float.
#[derive(Debug)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Text, E> {
        Ok(Text(text))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Text, E> {
        Ok(Text(number.to_string()))
    }
}

impl Loose<Text> {
    /// The text, if there is one that is not empty.
    pub(super) fn some(&self) -> Option<&str> {
        self.0
            .as_ref()
            .map(|text| text.0.as_str())
            .filter(|text| !text.is_empty())
    }

    /// The text, empty if there is none.
    pub(super) fn or_empty(self) -> String {
        self.0.map(|text| text.0).unwrap_or_default()
    }
}
