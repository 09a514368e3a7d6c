//! What a write says to DynamoDB: which attributes it sets and takes away, and under which condition.

use aws_sdk_dynamodb::types::AttributeValue;
use engine::ports::{Expect, ListKey, Record};
use jiff::Timestamp;
use ulid::Ulid;

use super::item::{self, number, text};
use super::packed;
use super::shared_item::SharedItem;
use crate::setup::{
    ALL, APART, BEFORE, BODY, DUE_AT, DUE_IN, FORGET_AT, LIST, OWN_AT, PK, PLACE, SMALL, VERSION,
    WORD, WRITER,
};

/// Placeholders of each attribute that is set: its name, and its value.
const PLACEHOLDERS: [(&str, &str, &str); 13] = [
    (BODY, "#body", ":body"),
    (VERSION, "#version", ":version"),
    (WRITER, "#writer", ":writer"),
    (BEFORE, "#before", ":before"),
    (DUE_IN, "#due_in", ":due_in"),
    (DUE_AT, "#due_at", ":due_at"),
    (LIST, "#list", ":list"),
    (PLACE, "#place", ":place"),
    (WORD, "#word", ":word"),
    (FORGET_AT, "#forget_at", ":forget_at"),
    (SMALL, "#small", ":small"),
    (OWN_AT, "#own_at", ":own_at"),
    (APART, "#apart", ":apart"),
];

/// An expression with its names and values.
#[derive(Default)]
pub(super) struct Expression {
    pub(super) names: Vec<(&'static str, &'static str)>,
    pub(super) values: Vec<(&'static str, AttributeValue)>,
    set: Vec<String>,
    remove: Vec<&'static str>,
}

impl Expression {
    /// All attributes of a record's own item, and nothing else; its version continues from the present one, or from `base`.
    pub(super) fn of_record(record: &Record, base: u64, writer: Ulid) -> Self {
        let mut expression = Self::default();
        expression.assign(BODY, Some(packed::pack(&record.body)));
        expression.names.push(("#version", VERSION));
        expression.values.push((":base", number(base)));
        expression.values.push((":one", number(1)));
        let counted = "#version = if_not_exists(#version, :base) + :one";
        expression.set.push(counted.to_owned());
        let forget = record.forget.map(|at| number(at.as_second()));
        expression.assign(FORGET_AT, forget);
        expression.place(record.due, record.list.as_ref(), writer);
        expression
    }

    /// Everything that the item of an aggregate has, and nothing else.
    pub(super) fn of_home(home: &SharedItem, writer: Ulid) -> Self {
        let mut expression = Self::default();
        for (attribute, value) in home.attributes() {
            expression.assign(attribute, value);
        }
        expression.place(home.due(), home.list(), writer);
        expression
    }

    fn place(&mut self, due: Option<Timestamp>, list: Option<&ListKey>, writer: Ulid) {
        self.assign(WRITER, Some(text(writer.to_string())));
        self.assign(DUE_IN, due.map(|_| text(ALL)));
        self.assign(DUE_AT, due.map(item::time));
        self.assign(LIST, list.map(|list| text(&list.name)));
        self.assign(PLACE, list.map(|list| text(&list.sort)));
        let word = list.and_then(|list| list.word.as_ref());
        self.assign(WORD, word.map(text));
    }

    /// Sets an attribute, or takes it away.
    fn assign(&mut self, attribute: &'static str, value: Option<AttributeValue>) {
        let found = PLACEHOLDERS.iter().find(|(name, ..)| *name == attribute);
        let Some((_, name, placeholder)) = found else {
            return;
        };
        self.names.push((name, attribute));
        match value {
            Some(value) => {
                self.set.push(format!("{name} = {placeholder}"));
                self.values.push((placeholder, value));
            }
            None => self.remove.push(name),
        }
    }

    /// The update expression.
    pub(super) fn update(&self) -> String {
        let set = self.set.join(", ");
        if self.remove.is_empty() {
            return format!("SET {set}");
        }
        format!("SET {set} REMOVE {}", self.remove.join(", "))
    }

    /// The condition under which a record is written; `None` for any version.
    pub(super) fn expecting(&mut self, expect: Expect) -> Option<&'static str> {
        match expect {
            Expect::Absent => Some(self.absent()),
            Expect::Version(version) => {
                self.names.push(("#found", VERSION));
                self.values.push((":found", number(version)));
                Some("#found = :found")
            }
            Expect::Any => None,
        }
    }

    /// The condition that the item still has this last writer.
    pub(super) fn unchanged(&mut self, writer: Option<&str>) -> &'static str {
        let Some(writer) = writer else {
            return self.absent();
        };
        self.names.push(("#seen", WRITER));
        self.values.push((":seen", text(writer)));
        "#seen = :seen"
    }

    fn absent(&mut self) -> &'static str {
        self.names.push(("#pk", PK));
        "attribute_not_exists(#pk)"
    }
}

/// Names and values of an expression, put into a request of any kind.
macro_rules! explained {
    ($builder:expr, $expression:expr) => {{
        let mut builder = $builder;
        for (name, attribute) in $expression.names {
            builder = builder.expression_attribute_names(name, attribute);
        }
        for (name, value) in $expression.values {
            builder = builder.expression_attribute_values(name, value);
        }
        builder
    }};
}

pub(super) use explained;

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ports::Key;

    /// An attribute without a placeholder would be left out of every write.
    #[test]
    fn every_attribute_is_set_or_taken_away() {
        let key = Key {
            pk: "JOB#1".to_owned(),
            sk: "META".to_owned(),
        };
        let record = Record {
            key: key.clone(),
            version: 0,
            body: "{}".to_owned(),
            due: None,
            list: None,
            forget: None,
        };
        for expression in [
            Expression::of_record(&record, 0, Ulid::nil()),
            Expression::of_home(&SharedItem::new(key), Ulid::nil()),
        ] {
            let all = expression.set.len() + expression.remove.len();
            let is_home = expression.names.contains(&("#small", SMALL));
            assert_eq!(all, if is_home { 13 } else { 9 }, "{}", expression.update());
        }
    }
}
