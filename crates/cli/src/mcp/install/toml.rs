//! An entry in TOML, with its comments, order and spaces kept.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::{Edit, EntryCommand, NAME, Unreadable};

/// The entry for pasting by hand.
pub(super) fn shown(list: &str, started: &EntryCommand) -> String {
    let mut whole = DocumentMut::new();
    let mut entries = Table::new();
    entries.set_implicit(true);
    entries.insert(NAME, Item::Table(entry(started)));
    whole.insert(list, Item::Table(entries));
    whole.to_string().trim_end().to_owned()
}

pub(super) fn edit(
    text: &str,
    list: &str,
    started: &EntryCommand,
    replace: bool,
) -> Result<Edit, Unreadable> {
    let read = text.parse::<DocumentMut>();
    let mut whole = read.map_err(|error| {
        let why = error.message().to_owned();
        Unreadable(format!("it is no TOML: {why}"))
    })?;
    let entries = whole.entry(list).or_insert_with(|| {
        let mut entries = Table::new();
        entries.set_implicit(true);
        Item::Table(entries)
    });
    let Some(entries) = entries.as_table_like_mut() else {
        return Err(Unreadable(format!("`{list}` in it is no table")));
    };
    match entries.get(NAME) {
        Some(found) if holds(found.as_table_like(), started) => return Ok(Edit::Unchanged),
        Some(_) if !replace => return Ok(Edit::Taken),
        Some(_) | None => {}
    }
    let new = entry(started);
    entries.insert(NAME, Item::Table(new));
    Ok(Edit::Written(whole.to_string()))
}

fn entry(started: &EntryCommand) -> Table {
    let mut entry = Table::new();
    entry.insert("command", value(started.command.as_str()));
    let args: Array = started.args.iter().map(String::as_str).collect();
    entry.insert("args", value(args));
    entry
}

/// Whether an entry starts the same command, whatever else was added to it.
fn holds(entry: Option<&dyn TableLike>, started: &EntryCommand) -> bool {
    let Some(entry) = entry else {
        return false;
    };
    let command = entry.get("command").and_then(Item::as_str);
    let args = entry.get("args").and_then(Item::as_array);
    let same = |args: &Array| {
        let found = args.iter().map(toml_edit::Value::as_str);
        found.eq(started.args.iter().map(|it| Some(it.as_str())))
    };
    command == Some(&started.command) && args.is_some_and(same)
}
