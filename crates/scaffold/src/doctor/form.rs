//! Compares a file with the schema it was copied from.
//!
//! A schema is a form to copy: `<…>` is to be filled in, `a|b` is one of these, an empty value may stay empty,
//! and any other value stays as it is.

use domain::ids::ArtefactId;
use domain::nearest::meant;
use jiff::civil::Date;

use super::finding::{Report, Rule};
use crate::yaml::{Node, Value};

/// The older name of a key and the one that the schema has.
pub(super) type Alias = (&'static str, &'static str);

/// Keys that the older generation of an artefact has, and that say nothing any more.
const DROPPED: [&str; 1] = ["tags"];

/// Keys that the older generation of an artefact does not have.
const LATER: [&str; 1] = ["goal"];

/// What a whole date has, of a text that may go on with a time.
const DATE_LEN: usize = "2026-02-16".len();

/// One comparison of a file with its schema.
pub(super) struct Form<'a> {
    pub(super) report: &'a mut Report,
    pub(super) file: &'a str,
    pub(super) aliases: &'a [Alias],
}

/// What a schema wants in place of a scalar.
enum Wanted<'a> {
    OneOf(Vec<&'a str>),
    Date,
    Text,
    Anything,
    Same(&'a str),
}

impl<'a> Wanted<'a> {
    fn from_schema(schema: &'a str) -> Self {
        if schema.starts_with('<') {
            let date = schema.contains("YYYY-MM-DD");
            return if date { Self::Date } else { Self::Text };
        }
        if schema.contains('|') {
            return Self::OneOf(schema.split('|').collect());
        }
        if schema.is_empty() {
            return Self::Anything;
        }
        Self::Same(schema)
    }
}

impl Form<'_> {
    /// Compares a value with its place in the schema. `key` names the place in sentences.
    pub(super) fn compare(&mut self, schema: &Node, node: &Node, key: &str) {
        match &schema.value {
            Value::Map(_) => self.map(schema, node, key),
            Value::List(items) => self.list(items.first(), node, key),
            Value::Scalar(wanted, _) => self.scalar(wanted, node, key),
            Value::Null => {}
        }
    }

    fn map(&mut self, schema: &Node, node: &Node, key: &str) {
        let Some(entries) = node.map() else {
            let place = if key.is_empty() { "the file" } else { key };
            return self.wrong(Rule::Value, node, format!("{place} is no map of keys"));
        };
        let wanted = schema.map().unwrap_or_default();
        for (at, entry) in entries.iter().enumerate() {
            let name = self.current(&entry.key);
            let mut before = entries.iter().take(at);
            if let Some(twin) = before.find(|it| self.current(&it.key) == name) {
                let what = format!("`{}` and `{}` are one key", twin.key, entry.key);
                self.report
                    .add(Rule::UnknownKey, self.file, entry.line, what);
            }
            match wanted.iter().find(|it| self.current(&it.key) == name) {
                Some(place) => self.compare(&place.node, &entry.node, &entry.key),
                None if DROPPED.contains(&name) => {}
                None => {
                    let offer = meant(name, wanted.iter().map(|it| it.key.as_str()));
                    let what = format!("the schema has no key `{}`{offer}", entry.key);
                    self.report
                        .add(Rule::UnknownKey, self.file, entry.line, what);
                }
            }
        }
        let there = |key: &str| {
            let key = self.current(key);
            entries.iter().any(|it| self.current(&it.key) == key)
        };
        let is_older = entries.iter().any(|it| self.current(&it.key) != it.key);
        let may_lack = |key: &str| is_older && LATER.contains(&key);
        let missing: Vec<_> = wanted
            .iter()
            .filter(|it| !may_be_empty(&it.node) && !there(&it.key) && !may_lack(&it.key))
            .collect();
        for place in missing {
            let what = format!("the key `{}` is missing", place.key);
            self.wrong(Rule::MissingKey, node, what);
        }
    }

    fn list(&mut self, item: Option<&Node>, node: &Node, key: &str) {
        if node.is_null() {
            return;
        }
        let Some(items) = node.list() else {
            return self.wrong(Rule::Value, node, format!("`{key}` is no list"));
        };
        if let Some(schema) = item {
            for node in items {
                self.compare(schema, node, key);
            }
        }
    }

    fn scalar(&mut self, schema: &str, node: &Node, key: &str) {
        let wanted = Wanted::from_schema(schema);
        let text = node.text().unwrap_or_default();
        if is_placeholder(schema, text) {
            let what = format!("`{key}` still holds `{text}` of the schema");
            return self.wrong(Rule::Placeholder, node, what);
        }
        if node.list().is_some() || node.map().is_some() {
            return self.wrong(Rule::Value, node, format!("`{key}` is no single value"));
        }
        match wanted {
            Wanted::Anything => {}
            Wanted::Text | Wanted::Date if text.trim().is_empty() => {
                self.wrong(Rule::Value, node, format!("`{key}` is empty"));
            }
            Wanted::Date if date(text).is_none() => {
                self.wrong(Rule::Date, node, format!("`{key}` is `{text}`, no date"));
            }
            Wanted::Text | Wanted::Date => {}
            Wanted::OneOf(options) if !options.contains(&text) => {
                let what = format!("`{key}` is `{text}`, not one of {}", options.join(", "));
                self.wrong(Rule::Value, node, what);
            }
            Wanted::OneOf(_) => {}
            Wanted::Same(same) if same != text => {
                self.wrong(
                    Rule::Value,
                    node,
                    format!("`{key}` is `{text}`, not `{same}`"),
                );
            }
            Wanted::Same(_) => {}
        }
        if key == "id" && text.parse::<ArtefactId>().is_err() {
            self.wrong(Rule::Id, node, format!("`{text}` is no id"));
        }
    }

    /// The newer name of a key. A schema of the older generation has the older one too.
    fn current<'k>(&self, key: &'k str) -> &'k str {
        let alias = self.aliases.iter().find(|(older, _)| *older == key);
        alias.map_or(key, |(_, newer)| newer)
    }

    fn wrong(&mut self, rule: Rule, node: &Node, what: String) {
        self.report.add(rule, self.file, node.line, what);
    }
}

/// Whether a place of the schema is empty, so that leaving it out says the same.
fn may_be_empty(schema: &Node) -> bool {
    match &schema.value {
        Value::Null => true,
        Value::Scalar(text, _) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(_) => false,
    }
}

/// Whether a text is a place of a schema that was not filled in: this one, or one from elsewhere.
fn is_placeholder(schema: &str, text: &str) -> bool {
    let bracketed = text.starts_with('<') && text.ends_with('>') && text.contains(' ');
    let open = schema.starts_with('<') || schema.contains('|');
    bracketed || (open && text == schema)
}

/// A date, with or without a time after it.
pub(super) fn date(text: &str) -> Option<Date> {
    let (day, rest) = text.split_at_checked(DATE_LEN)?;
    let time = rest.is_empty() || rest.starts_with(['T', ' ']);
    if time { day.parse().ok() } else { None }
}
