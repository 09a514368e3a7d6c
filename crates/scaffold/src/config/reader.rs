//! Reading single values of the settings, each fault with its line.

use std::collections::BTreeSet;

use domain::ids::InvalidId;
use domain::nearest::nearest;
use toml_edit::{Item, TableLike, Value};

use super::{CronExpression, Scheduled};
use crate::fault::{Fault, line_at, shown};

/// Keys that the origin once had, which name a limit that is Gaffer's to set.
const REMOVED: [&str; 2] = ["parallel", "max_parallel"];

/// What is read from, and what was found wrong so far.
pub(super) struct Reader<'a> {
    file: &'a str,
    source: &'a str,
    faults: Vec<Fault>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, source: &'a str) -> Self {
        Self {
            file,
            source,
            faults: Vec::new(),
        }
    }

    /// Everything that is wrong, in the order of the file.
    pub(super) fn faults(mut self) -> Vec<Fault> {
        self.faults.sort_by_key(|fault| fault.line);
        self.faults
    }

    /// Notes that something is wrong with a key.
    pub(super) fn fault(&mut self, table: &dyn TableLike, key: &str, what: &str) {
        let line = self.line(table, key);
        self.note(line, format!("`{}` {what}", shown(key)));
    }

    /// Notes that something is wrong in a line.
    pub(super) fn note(&mut self, line: usize, what: String) {
        self.faults.push(Fault::new(self.file, line, what));
    }

    fn line(&self, table: &dyn TableLike, key: &str) -> usize {
        let span = table
            .get_key_value(key)
            .and_then(|(key, item)| key.span().or_else(|| item.span()));
        line_at(self.source, span.map_or(0, |span| span.start))
    }

    /// Refuses keys that no reader reads, and names the one that may be meant.
    pub(super) fn known(&mut self, place: &str, table: &dyn TableLike, known: &[&str]) {
        for (key, _) in table.iter() {
            if REMOVED.contains(&key) {
                self.fault(
                    table,
                    key,
                    "is not set here: Gaffer's slots say how many run at once",
                );
            } else if !known.contains(&key) {
                let hint = match nearest(key, known.iter().copied()) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("it has: {}", known.join(", ")),
                };
                self.fault(table, key, &format!("is no key of {place}; {hint}"));
            }
        }
    }

    /// A table of the file with nothing but known keys.
    pub(super) fn section<'t>(
        &mut self,
        root: &'t dyn TableLike,
        name: &str,
        known: &[&str],
    ) -> Option<&'t dyn TableLike> {
        self.subsection(root, "", name, known)
    }

    /// The same in a table whose name comes before, with the dot between.
    pub(super) fn subsection<'t>(
        &mut self,
        parent: &'t dyn TableLike,
        before: &str,
        name: &str,
        known: &[&str],
    ) -> Option<&'t dyn TableLike> {
        let item = parent.get(name)?;
        let Some(table) = item.as_table_like() else {
            self.fault(parent, name, "is a table");
            return None;
        };
        self.known(&format!("`[{before}{}]`", shown(name)), table, known);
        Some(table)
    }

    /// A text that is not empty.
    pub(super) fn text(&mut self, table: &dyn TableLike, key: &str) -> Option<String> {
        let item = table.get(key)?;
        match item.as_str() {
            Some(text) if !text.trim().is_empty() => Some(text.to_owned()),
            Some(_) | None => {
                self.fault(table, key, "is a text in quotes, and not an empty one");
                None
            }
        }
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, table: &dyn TableLike, key: &str) -> Option<bool> {
        let value = table.get(key)?.as_bool();
        if value.is_none() {
            self.fault(table, key, "is `true` or `false`");
        }
        value
    }

    /// A whole number from 1 up to a limit.
    pub(super) fn positive(&mut self, table: &dyn TableLike, key: &str, max: u32) -> Option<u32> {
        let number = table.get(key)?.as_integer();
        let number = number.and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (1..=max).contains(number));
        if number.is_none() {
            self.fault(table, key, &format!("is a whole number from 1 to {max}"));
        }
        number
    }

    /// A list of texts with their lines, each once.
    pub(super) fn texts(&mut self, table: &dyn TableLike, key: &str) -> Vec<CronExpression> {
        let Some(item) = table.get(key) else {
            return Vec::new();
        };
        let Some(values) = item.as_array() else {
            self.fault(table, key, "is a list of texts");
            return Vec::new();
        };
        let mut found: Vec<CronExpression> = Vec::new();
        for value in values {
            let line = self.value_line(value);
            match value.as_str() {
                Some(text) if found.iter().any(|known| known.expression == text) => {
                    self.note(line, format!("`{}` stands in the list twice", shown(text)));
                }
                Some(text) if !text.trim().is_empty() => found.push(CronExpression {
                    expression: text.to_owned(),
                    line,
                }),
                Some(_) | None => self.note(line, format!("`{key}` is a list of texts")),
            }
        }
        found
    }

    fn value_line(&self, value: &Value) -> usize {
        line_at(self.source, value.span().map_or(0, |span| span.start))
    }

    /// A list of roles, as inline tables or as tables of their own.
    pub(super) fn roles(&mut self, table: &dyn TableLike, key: &str) -> Vec<Scheduled> {
        let tables: Vec<&dyn TableLike> = match table.get(key) {
            None => return Vec::new(),
            Some(Item::ArrayOfTables(tables)) => tables.iter().map(|t| t as _).collect(),
            Some(item) => {
                let values: Vec<_> = item.as_array().into_iter().flatten().collect();
                let tables = values.iter().filter_map(|value| value.as_inline_table());
                let tables: Vec<&dyn TableLike> = tables.map(|t| t as _).collect();
                if item.as_array().is_none() || tables.len() != values.len() {
                    self.fault(
                        table,
                        key,
                        "is a list of `{ name = \"ID\", enabled = true }`",
                    );
                }
                tables
            }
        };
        let mut seen = BTreeSet::new();
        let mut roles = Vec::new();
        for role in tables {
            if let Some(role) = self.role(role, self.line(table, key)) {
                if seen.insert(role.name.clone()) {
                    roles.push(role);
                } else {
                    self.note(role.line, format!("`{}` is scheduled twice", role.name));
                }
            }
        }
        roles
    }

    fn role(&mut self, table: &dyn TableLike, line: usize) -> Option<Scheduled> {
        self.known("a role", table, &["name", "enabled"]);
        if !table.contains_key("name") {
            self.note(line, "a role here has no `name`".to_owned());
            return None;
        }
        let name = self.text(table, "name")?;
        let line = self.line(table, "name");
        match name.parse() {
            Ok(name) => Some(Scheduled {
                name,
                enabled: self.boolean(table, "enabled").unwrap_or(true),
                line,
            }),
            Err(error) => {
                let error: InvalidId = error;
                self.note(line, error.to_string());
                None
            }
        }
    }
}
