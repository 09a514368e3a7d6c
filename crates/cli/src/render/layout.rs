//! Tables for people: without borders, so that they can be copied and grepped. On a terminal they keep to its width,
//! and no word is ever broken or cut, so an id stays whole.

use console::{Color, Style, measure_text_width};

/// Blanks between two columns.
const GAP: usize = 2;

/// Indentation of the lines of a finding: beside the longest severity.
const INWARD: usize = 9;

/// Columns whose words are coloured by their meaning.
const MEANINGFUL: [&str; 3] = ["state", "health", "merge state"];

/// Layout options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Columns of the terminal; `None` where no terminal reads it, which takes lines of any length.
    pub(crate) width: Option<usize>,
    /// Whether words are coloured by their meaning.
    pub(crate) colour: bool,
}

/// Rows under their heads. On a narrow terminal texts wrap, and where even that does not help each row is shown as
/// names with their values.
pub(super) fn of_rows(head: &[&'static str], rows: &[Vec<String>], look: Look) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| one_line(cell)).collect())
        .collect();
    let natural = widths(head, &rows, measure_text_width);
    let fitting = match look.width {
        None => Some(natural),
        Some(width) => fitted(natural, &widths(head, &rows, longest_word), width),
    };
    let Some(widths) = fitting else {
        return records(head, &rows, look);
    };
    let heads: Vec<String> = head.iter().map(|name| name.to_uppercase()).collect();
    let mut lines = table_row(&heads, &widths, &[]);
    for row in &rows {
        let painted: Vec<_> = head
            .iter()
            .zip(row)
            .map(|(name, cell)| meaning(name, cell).filter(|_| look.colour))
            .collect();
        lines.extend(table_row(row, &widths, &painted));
    }
    lines.join("\n")
}

/// Names with their values, which go on beside their name.
pub(super) fn of_pairs(pairs: &[(&str, String)], look: Look) -> String {
    let beside = pairs
        .iter()
        .map(|(name, _)| measure_text_width(name))
        .max()
        .unwrap_or_default()
        + GAP;
    let mut lines = Vec::new();
    for (name, value) in pairs {
        let room = look.width.map(|width| width.saturating_sub(beside));
        let painted = meaning(name, value).filter(|_| look.colour);
        let parts = value.lines().flat_map(|line| wrapped(line, room));
        for (at, part) in parts.enumerate() {
            let name = if at == 0 { *name } else { "" };
            let part = paint(&part, painted.as_ref());
            lines.push(
                format!("{}{part}", padded(name, beside))
                    .trim_end()
                    .to_owned(),
            );
        }
    }
    lines.join("\n")
}

/// Each row as names with their values, with an empty line between two.
fn records(head: &[&'static str], rows: &[Vec<String>], look: Look) -> String {
    let record = |row: &Vec<String>| {
        let pairs = head.iter().copied().zip(row.iter().cloned());
        let pairs: Vec<_> = pairs.filter(|(_, value)| !value.is_empty()).collect();
        of_pairs(&pairs, look)
    };
    rows.iter().map(record).collect::<Vec<_>>().join("\n\n")
}

/// A finding: its first line beside its severity, and the others below that.
pub(super) fn of_finding(bad: &str, lines: &[String], look: Look) -> String {
    let room = look.width.map(|width| width.saturating_sub(INWARD));
    let style = severity(bad).filter(|_| look.colour);
    let mut told = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for (nth, part) in wrapped(line, room).into_iter().enumerate() {
            let name = if at + nth == 0 { bad } else { "" };
            let blanks = INWARD.saturating_sub(measure_text_width(name));
            let name = paint(name, style.as_ref());
            told.push(format!("{name}{}{part}", " ".repeat(blanks)));
        }
    }
    told.join("\n")
}

fn severity(bad: &str) -> Option<Style> {
    let colour = match bad {
        "error" => Color::Red,
        "warning" => Color::Yellow,
        "ok" => Color::Green,
        _ => return None,
    };
    Some(Style::new().fg(colour).bold().force_styling(true))
}

/// A row in as many lines as its longest cell needs.
fn table_row(cells: &[String], widths: &[usize], painted: &[Option<Style>]) -> Vec<String> {
    let columns: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| wrapped(cell, Some(*width)))
        .collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(1);
    let line = |at: usize| {
        let mut line = String::new();
        for (column, (parts, width)) in columns.iter().zip(widths).enumerate() {
            let part = parts.get(at).map_or("", String::as_str);
            let blanks = " ".repeat((width + GAP).saturating_sub(measure_text_width(part)));
            let style = painted.get(column).and_then(Option::as_ref);
            line.push_str(&paint(part, style));
            line.push_str(&blanks);
        }
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// How wide each column is by a measure of its cells.
fn widths(
    head: &[&'static str],
    rows: &[Vec<String>],
    measure: impl Fn(&str) -> usize,
) -> Vec<usize> {
    let column = |(at, name): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let widest = cells.map(|cell| measure(cell)).max().unwrap_or_default();
        widest.max(measure(name))
    };
    head.iter().enumerate().map(column).collect()
}

/// The widths with the widest columns narrowed until the row fits; `None` if it cannot fit without breaking a word.
fn fitted(mut widths: Vec<usize>, least: &[usize], room: usize) -> Option<Vec<usize>> {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > room {
        let (widest, _) = widths
            .iter_mut()
            .zip(least)
            .filter(|(width, least)| **width > **least)
            .max_by_key(|(width, _)| **width)?;
        *widest -= 1;
    }
    Some(widths)
}

/// A text in lines of at most this width, broken between words only.
fn wrapped(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room.filter(|room| measure_text_width(text) > *room) else {
        return vec![text.to_owned()];
    };
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut();
        match line.filter(|line| {
            line.is_empty() || measure_text_width(line) + 1 + measure_text_width(word) <= room
        }) {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.push_str(&format!(" {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn longest_word(cell: &str) -> usize {
    let words = cell.split_whitespace().map(measure_text_width);
    words.max().unwrap_or_default()
}

fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(measure_text_width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// A cell as one line, even for a title with line breaks.
fn one_line(cell: &str) -> String {
    cell.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The colour of a cell's meaning; `None` where it means nothing special.
fn meaning(head: &str, cell: &str) -> Option<Style> {
    if !MEANINGFUL.contains(&head) {
        return None;
    }
    let colour = match cell {
        "merged" | "completed" | "acknowledged" | "working" | "stored" => Color::Green,
        "asking" | "plan-waits" | "in-review" | "conflicts" | "waits" | "blocked" | "missing" => {
            Color::Yellow
        }
        "failed" | "lost" | "refused" | "given-up" | "unusable" | "unreachable" => Color::Red,
        _ => return None,
    };
    Some(Style::new().fg(colour).force_styling(true))
}

/// A text in a style, or plain without one.
pub(crate) fn paint(text: &str, style: Option<&Style>) -> String {
    match style {
        Some(style) if !text.is_empty() => style.apply_to(text).to_string(),
        Some(_) | None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01k0000000000000000000000a";

    fn at(width: usize) -> Look {
        Look {
            width: Some(width),
            colour: false,
        }
    }

    fn jobs() -> Vec<Vec<String>> {
        let row = |state: &str, title: &str| {
            let cells = [
                "acme/a-rather-long-name",
                ID,
                state,
                "acme/a-rather-long-name#1234",
            ];
            let mut cells: Vec<_> = cells.map(str::to_owned).into();
            cells.extend(["2026-03-01 12:00:00Z".to_owned(), title.to_owned()]);
            cells
        };
        let title = "Replace the deprecated authentication middleware in every service we have";
        vec![row("in-review", title), row("asking", "Add\na search box")]
    }

    const HEAD: [&str; 6] = [
        "repository",
        "job",
        "state",
        "pull request",
        "created",
        "title",
    ];

    #[test]
    fn columns_line_up_without_frames() {
        let rows = [
            vec!["acme/shop".to_owned(), "yes".to_owned()],
            vec!["a/b".to_owned(), "no\nmore".to_owned()],
        ];
        let text = of_rows(&["source", "paused"], &rows, Look::default());
        assert_eq!(
            text,
            "SOURCE     PAUSED\nacme/shop  yes\na/b        no more"
        );
    }

    #[test]
    fn at_80_and_100_columns_no_word_is_broken_and_no_id_is_cut() {
        for width in [80, 100, 120, 200] {
            let text = of_rows(&HEAD, &jobs(), at(width));
            for line in text.lines() {
                assert!(measure_text_width(line) <= width, "{width}: {line}");
            }
            let words: Vec<&str> = text.split_whitespace().collect();
            for cell in jobs().iter().flatten() {
                for word in cell.split_whitespace() {
                    assert!(words.contains(&word), "{width}: {word}:\n{text}");
                }
            }
        }
        let narrow = of_rows(&HEAD, &jobs(), at(80));
        assert!(
            narrow.starts_with("repository    acme/a-rather-long-name\n"),
            "{narrow}"
        );
        let wide = of_rows(&HEAD, &jobs(), at(200));
        assert_eq!(wide, of_rows(&HEAD, &jobs(), Look::default()));
    }

    #[test]
    fn values_go_on_beside_their_name() {
        let pairs = [
            ("state", "asks".to_owned()),
            ("notes", "one two three\nfour".to_owned()),
        ];
        let text = of_pairs(&pairs, at(16));
        assert_eq!(
            text,
            "state  asks\nnotes  one two\n       three\n       four"
        );
    }

    #[test]
    fn colour_is_of_the_meaning_and_only_where_it_is_wanted() {
        let row = vec![vec!["failed".to_owned(), "failed".to_owned()]];
        let plain = of_rows(&["state", "title"], &row, Look::default());
        assert!(!plain.contains('\u{1b}'));
        let colour = Look {
            colour: true,
            ..Look::default()
        };
        let painted = of_rows(&["state", "title"], &row, colour);
        assert_eq!(painted.matches("\u{1b}[31m").count(), 1, "{painted:?}");
        assert_eq!(console::strip_ansi_codes(&painted), plain);
    }
}
