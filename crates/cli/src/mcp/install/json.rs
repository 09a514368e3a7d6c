//! An entry in JSON, with its comments, order and spaces kept.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Value, json};

use super::{Edit, EntryCommand, NAME, Unreadable};

/// Comments and a comma too many are what the clients themselves read; anything looser is no file of theirs.
const READ: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The entry for pasting by hand.
pub(super) fn shown(list: &str, started: &EntryCommand, typed: bool) -> String {
    let fields = started.fields(typed).into_iter();
    let entry: serde_json::Map<_, _> = fields.map(|(name, it)| (name.to_owned(), it)).collect();
    json!({ list: { NAME: entry } }).to_string()
}

pub(super) fn edit(
    text: &str,
    list: &str,
    started: &EntryCommand,
    typed: bool,
    replace: bool,
) -> Result<Edit, Unreadable> {
    let root = CstRootNode::parse(text, &READ)
        .map_err(|error| Unreadable(format!("it is no JSON: {error}")))?;
    let no_object = |what: &str| Unreadable(format!("{what} is no object"));
    let whole = root
        .object_value_or_create()
        .ok_or_else(|| no_object("what it holds"))?;
    let entries = whole
        .object_value_or_create(list)
        .ok_or_else(|| no_object(&format!("`{list}` in it")))?;
    let fields = started.fields(typed);
    let Some(found) = entries.get(NAME) else {
        entries.append(NAME, value(&fields));
        return Ok(Edit::Written(ended(&root)));
    };
    if holds(found.object_value().as_ref(), &fields) {
        return Ok(Edit::Unchanged);
    }
    if !replace {
        return Ok(Edit::Taken);
    }
    found.set_value(value(&fields));
    Ok(Edit::Written(ended(&root)))
}

fn value(fields: &[(&'static str, Value)]) -> CstInputValue {
    let fields = fields.iter();
    let made = fields.map(|(name, value)| ((*name).to_owned(), input(value)));
    CstInputValue::Object(made.collect())
}

/// A text, or a list of texts: an entry of ours has nothing else.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => CstInputValue::Null,
    }
}

/// Whether an entry starts the same command, whatever else was added to it.
fn holds(entry: Option<&CstObject>, fields: &[(&'static str, Value)]) -> bool {
    let found = |name: &str| entry?.get(name)?.value()?.to_serde_value();
    let same = |(name, value): &(&'static str, Value)| found(name).as_ref() == Some(value);
    fields.iter().all(same)
}

/// Files end with a line.
fn ended(root: &CstRootNode) -> String {
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
