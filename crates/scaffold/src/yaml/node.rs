//! A YAML file as a tree of values that know their lines.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// A value and the line it begins in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The line, counted from 1.
    pub line: usize,
    /// What stands there.
    pub value: Value,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing: an empty place, `null` or `~`.
    Null,
    /// One text, and what YAML makes of it.
    Scalar(String, Plain),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file.
    Map(Vec<MapEntry>),
}

/// What YAML makes of a scalar's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// A text, quoted or not.
    Text,
    /// A whole number or one with a fraction.
    Number,
    /// `true` or `false`.
    Bool(bool),
}

/// One key of a map with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapEntry {
    /// The key.
    pub key: String,
    /// The key's line, counted from 1.
    pub line: usize,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The scalar's text as the file has it, whatever YAML makes of it.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text, _) => Some(text),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The scalar as a truth value.
    pub fn boolean(&self) -> Option<bool> {
        match &self.value {
            Value::Scalar(_, Plain::Bool(value)) => Some(*value),
            Value::Scalar(_, Plain::Text | Plain::Number)
            | Value::Null
            | Value::List(_)
            | Value::Map(_) => None,
        }
    }

    /// The scalar as a whole number, if it is written as one.
    pub fn integer(&self) -> Option<i64> {
        match &self.value {
            Value::Scalar(text, Plain::Number) => text.parse().ok(),
            Value::Scalar(_, Plain::Text | Plain::Bool(_))
            | Value::Null
            | Value::List(_)
            | Value::Map(_) => None,
        }
    }

    /// The items of a list.
    pub fn list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(items) => Some(items),
            Value::Null | Value::Scalar(..) | Value::Map(_) => None,
        }
    }

    /// The entries of a map, in the order of the file.
    pub fn map(&self) -> Option<&[MapEntry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            Value::Null | Value::Scalar(..) | Value::List(_) => None,
        }
    }

    /// The entry of a key, if this is a map that has it.
    pub fn entry(&self, key: &str) -> Option<&MapEntry> {
        self.map()?.iter().find(|entry| entry.key == key)
    }

    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        Some(&self.entry(key)?.node)
    }

    /// Whether nothing stands there.
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }
}

/// A value as the parser gives it: a number no longer has its text, but its place in the file.
pub(super) struct Raw(Spanned<RawValue>);

enum RawValue {
    Null,
    Text(String),
    Number,
    Bool(bool),
    List(Vec<Raw>),
    Map(Vec<(Spanned<String>, Raw)>),
}

impl Raw {
    /// The value with the texts that the file has for its numbers.
    pub(super) fn resolve(self, source: &str) -> Node {
        let line = line(&self.0.referenced);
        let written = || written(source, &self.0.defined);
        let value = match self.0.value {
            RawValue::Null => Value::Null,
            RawValue::Text(text) => Value::Scalar(text, Plain::Text),
            RawValue::Number => Value::Scalar(written(), Plain::Number),
            RawValue::Bool(value) => Value::Scalar(written(), Plain::Bool(value)),
            RawValue::List(items) => {
                let items = items.into_iter().map(|item| item.resolve(source));
                Value::List(items.collect())
            }
            RawValue::Map(entries) => {
                let entries = entries.into_iter().map(|(key, value)| MapEntry {
                    line: self::line(&key.referenced),
                    key: key.value,
                    node: value.resolve(source),
                });
                Value::Map(entries.collect())
            }
        };
        Node { line, value }
    }
}

/// A place's line. The parser counts from 1, and 0 stands for an unknown one.
fn line(place: &Location) -> usize {
    usize::try_from(place.line()).unwrap_or(1).max(1)
}

/// The text of a place in the file.
fn written(source: &str, place: &Location) -> String {
    let span = place.span();
    let start = span.byte_offset().and_then(|at| usize::try_from(at).ok());
    let len = span.byte_len().and_then(|len| usize::try_from(len).ok());
    let text = start.zip(len).and_then(|(start, len)| {
        let end = start.checked_add(len)?;
        source.get(start..end)
    });
    text.unwrap_or_default().trim().to_owned()
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

/// Takes whatever the file has.
struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, a list or a map")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_none<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<RawValue, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<RawValue, E> {
        Ok(RawValue::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<RawValue, E> {
        Ok(RawValue::Number)
    }

    fn visit_i128<E>(self, _: i128) -> Result<RawValue, E> {
        Ok(RawValue::Number)
    }

    fn visit_u128<E>(self, _: u128) -> Result<RawValue, E> {
        Ok(RawValue::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<RawValue, E> {
        Ok(RawValue::Number)
    }

    fn visit_str<E>(self, text: &str) -> Result<RawValue, E> {
        Ok(RawValue::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(RawValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(RawValue::Map(entries))
    }
}
