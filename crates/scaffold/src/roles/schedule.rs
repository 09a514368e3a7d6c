//! Changes the list of a layer's roles in the text of the settings, and no other byte of it.
//!
//! The parser says where things stand; its own writer would move comments that stand between two rows.

use std::ops::Range;

use domain::ids::RoleName;
use domain::layer::Layer;
use toml_edit::{Array, ArrayOfTables, Document, Item, Table, TableLike, Value};

/// The settings with a row for the role, the last of its list.
pub(super) fn add(text: &str, layer: Layer, role: &RoleName) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let end = line_end(text);
    let row = format!("{{ name = \"{role}\", enabled = true }}");
    let list = format!("roles = [{end}  {row},{end}]{end}");
    let Some(section) = document.get(layer.name()) else {
        let gap = match text {
            "" => "",
            _ if text.ends_with('\n') => end,
            _ => &end.repeat(2),
        };
        return Some(format!("{text}{gap}[{layer}]{end}{list}"));
    };
    match section.as_table_like()?.get("roles") {
        None => {
            let header = section.as_table()?.span()?;
            Some(with_line_after(text, header.end, &list))
        }
        Some(Item::ArrayOfTables(tables)) => {
            let last = whole(text, tables.iter().last()?)?;
            let row =
                format!("{end}[[{layer}.roles]]{end}name = \"{role}\"{end}enabled = true{end}");
            Some(with_line_after(text, last.end, &row))
        }
        Some(item) => push(text, item.as_array()?, &row),
    }
}

/// The settings without the role's row.
pub(super) fn remove(text: &str, layer: Layer, role: &RoleName) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let section = document.get(layer.name())?.as_table_like()?;
    let roles = section.get("roles")?;
    if let Some(tables) = roles.as_array_of_tables() {
        return Some(without(text, whole(text, row(tables, role)?)?));
    }
    let mut values = roles.as_array()?.iter();
    let value = values.find(|value| {
        let table = value.as_inline_table();
        table.is_some_and(|table| is_named(table, role))
    })?;
    let span = value.span()?;
    let rest = text.get(span.end..)?;
    let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let comma = rest.get(spaces..)?.starts_with(',');
    // The last row may have no comma; the one before it then ends in one, which is as good.
    let end = span.end + if comma { spaces + 1 } else { 0 };
    Some(without(text, span.start..end))
}

fn row<'a>(tables: &'a ArrayOfTables, role: &RoleName) -> Option<&'a Table> {
    tables.iter().find(|table| is_named(*table, role))
}

fn is_named(table: &dyn TableLike, role: &RoleName) -> bool {
    table.get("name").and_then(Item::as_str) == Some(role.as_str())
}

/// The line end that the file uses.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A list with one more row, on a line of its own where the list has lines.
fn push(text: &str, array: &Array, row: &str) -> Option<String> {
    let close = array.span()?.end.checked_sub(1)?;
    let last = array.iter().last().and_then(Value::span);
    let line = text.get(..close)?.rfind('\n').map_or(0, |at| at + 1);
    let (mut text, mut shift) = (text.to_owned(), 0);
    if let Some(last) = last.as_ref().filter(|_| !array.trailing_comma()) {
        text.insert(last.end, ',');
        shift = 1;
    }
    let own_line = text.get(line + shift..close + shift)?.trim().is_empty();
    if own_line && line > array.span()?.start {
        let end = line_end(&text);
        let indent = last.and_then(|last| {
            let before = text.get(..last.start)?;
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let indent = before.get(start..)?;
            indent.trim().is_empty().then(|| indent.to_owned())
        });
        let indent = indent.unwrap_or_else(|| "  ".to_owned());
        text.insert_str(line + shift, &format!("{indent}{row},{end}"));
    } else {
        let space = if last.is_some() { " " } else { "" };
        text.insert_str(close + shift, &format!("{space}{row}"));
    }
    Some(text)
}

/// From the header of a table to the end of its last value.
fn whole(text: &str, table: &Table) -> Option<Range<usize>> {
    let header = table.span()?;
    let ends = table.iter().filter_map(|(_, item)| item.span());
    let end = ends.map(|span| span.end).max()?.max(header.end);
    let rest = text.get(end..)?;
    let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
    Some(header.start..end + line)
}

fn with_line_after(text: &str, at: usize, line: &str) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let here = if before.ends_with('\n') {
        0
    } else {
        after.find('\n').map_or(after.len(), |at| at + 1)
    };
    let (same, after) = after.split_at_checked(here).unwrap_or((after, ""));
    let end = if before.ends_with('\n') || same.ends_with('\n') {
        ""
    } else {
        line_end(text)
    };
    format!("{before}{same}{end}{line}{after}")
}

/// The text without a part of it, and without a line that is blank for want of it.
fn without(text: &str, part: Range<usize>) -> String {
    let (before, after) = (
        text.get(..part.start).unwrap_or_default(),
        text.get(part.end..).unwrap_or_default(),
    );
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let (head, indent) = before.split_at_checked(start).unwrap_or((before, ""));
    let line = after.find('\n').map_or(after.len(), |at| at + 1);
    let (rest, tail) = after.split_at_checked(line).unwrap_or((after, ""));
    let ends_line = before.ends_with('\n') && part.len() > 1 && text[part].ends_with('\n');
    if ends_line {
        return format!("{before}{after}");
    }
    if indent.trim().is_empty() && rest.trim().is_empty() {
        return format!("{head}{tail}");
    }
    if indent.trim().is_empty() {
        return format!("{before}{}", after.trim_start_matches([' ', '\t']));
    }
    // Amid a line, one space is enough between what is left.
    let after = match before.ends_with([' ', '[']) {
        true => after.trim_start_matches(' '),
        false => after,
    };
    format!("{before}{after}")
}
