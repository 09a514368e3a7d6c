//! Tables for people: no lines around them, so that they can be copied and grepped.

use comfy_table::{ContentArrangement, Table, presets};

/// Rows under their heads.
pub(super) fn of_rows(head: &[&'static str], rows: &[Vec<String>]) -> String {
    let mut table = bare();
    table.set_header(head.iter().map(|name| name.to_uppercase()));
    for row in rows {
        table.add_row(row.iter().map(|cell| one_line(cell)));
    }
    trimmed(&table)
}

/// Names with their values.
pub(super) fn of_pairs(pairs: &[(&'static str, String)]) -> String {
    let mut table = bare();
    for (name, value) in pairs {
        table.add_row([*name, value.as_str()]);
    }
    trimmed(&table)
}

fn bare() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// A row is one line, whatever was written into a title.
fn one_line(cell: &str) -> String {
    cell.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The preset pads every cell, also the outer ones.
fn trimmed(table: &Table) -> String {
    let lines = table.lines().map(|line| {
        line.strip_prefix(' ')
            .unwrap_or(&line)
            .trim_end()
            .to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_without_frames() {
        let rows = [
            vec!["acme/shop".to_owned(), "yes".to_owned()],
            vec!["a/b".to_owned(), "no\nmore".to_owned()],
        ];
        let text = of_rows(&["source", "paused"], &rows);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("SOURCE") && lines[1].starts_with("acme/shop"),
            "{text}"
        );
        assert_eq!(lines[0].find("PAUSED"), lines[1].find("yes"));
        assert!(lines[2].ends_with("no more"));
    }
}
