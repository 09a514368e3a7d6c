//! docs/rows.md names an existing test for each row of the feature list.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::File;

/// The page.
const PAGE: &str = "docs/rows.md";

/// A test that stands for everything shows nothing.
const ROWS_OF_A_TEST_MAX: usize = 3;

/// The rows that were asked for. CT23 is left out: it names types, which no test shows, and the decisions in ARCHITECTURE.md say why files
/// of the exchange have none.
fn asked_for() -> Vec<String> {
    let a = (1..=65).filter(|row| *row != 32);
    let ct = (1..=22).chain(24..=26).chain(28..=44);
    let c = (1..=42).chain(44..=55).chain(57..=73).chain(75..=82);
    let d = (1..=20).chain(22..=59).chain([63]).chain(65..=67);
    let d = d.chain(69..=76).chain([79, 80]);
    let named = |name: &str, row: i32| format!("{name}{row}");
    a.map(|row| named("A", row))
        .chain((1..=57).map(|row| named("B", row)))
        .chain(ct.map(|row| named("CT", row)))
        .chain(c.map(|row| named("C", row)))
        .chain(d.map(|row| named("D", row)))
        .chain((1..=7).chain([10]).map(|row| named("E", row)))
        .chain(
            (1..=6)
                .chain(12..=19)
                .chain([21])
                .map(|row| named("X", row)),
        )
        .collect()
}

/// One line of a table: its number and its cells.
type Line<'a> = (usize, Vec<&'a str>);

/// Every row stands once, with a test of the file that is named beside it; those that nothing shows yet have no test.
pub(super) fn mapped(files: &[File]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![Finding::new(
            PAGE,
            1,
            "it is missing; it says which test shows what",
        )];
    };
    let lines: Vec<Line<'_>> = page.text.lines().enumerate().filter_map(cells).collect();
    let mut found: Vec<Finding> = lines.iter().flat_map(|line| unknown(line, files)).collect();
    found.extend(worn_out(&lines));
    let wrong = asked_for().into_iter().filter_map(|row| {
        let times = lines.iter().filter(|(_, cells)| cells[0] == row).count();
        (times != 1).then(|| Finding::new(PAGE, 1, format!("{row} stands {times} times, not once")))
    });
    found.extend(wrong);
    found
}

/// The cells of a line about a row.
fn cells((number, line): (usize, &str)) -> Option<Line<'_>> {
    let inside = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let cells: Vec<&str> = inside.split(" | ").collect();
    let row = cells.first()?;
    let is_row = row.starts_with(['A', 'B', 'C', 'D', 'E', 'X']);
    (is_row && row.ends_with(|c: char| c.is_ascii_digit())).then_some((number + 1, cells))
}

/// The tests of a line with their files; a row of several halves has a test for each, in one file or one in each.
fn tests<'a>(cells: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let [_, _, tests, paths] = cells else {
        return Vec::new();
    };
    let tests = tests.split(", ").map(|test| test.trim_matches('`'));
    let paths: Vec<&str> = paths.split(", ").collect();
    let path = |at: usize| paths.get(at).or(paths.last()).copied();
    let found = tests.enumerate();
    found
        .map(|(at, test)| (test, path(at).unwrap_or_default()))
        .collect()
}

/// The missing tests of a line.
fn unknown((number, cells): &Line<'_>, files: &[File]) -> Vec<Finding> {
    let is_missing = |(test, path): &(&str, &str)| {
        let head = format!("fn {test}(");
        let mut files = files.iter();
        !files.any(|file| file.path == *path && file.text.contains(&head))
    };
    let missing = tests(cells).into_iter().filter(is_missing);
    let told = |(test, path)| format!("no test of {path} is named `{test}`");
    missing
        .map(|missing| Finding::new(PAGE, *number, told(missing)))
        .collect()
}

fn worn_out(lines: &[Line<'_>]) -> Vec<Finding> {
    let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, cells) in lines {
        for (test, _) in tests(cells) {
            rows.entry(test).or_default().push(*number);
        }
    }
    let worn_out = rows
        .into_iter()
        .filter(|(_, at)| at.len() > ROWS_OF_A_TEST_MAX);
    let advice = |(test, at): (&str, Vec<usize>)| {
        let told = format!("`{test}` stands for {} rows", at.len());
        Finding::new(PAGE, at[0], told)
    };
    worn_out.map(advice).collect()
}

#[test]
fn rows_without_a_test_twice_or_not_at_all_are_found() {
    let file = |path: &str, text: String| File {
        path: path.to_owned(),
        text,
    };
    let told = |row: &String| {
        format!(
            "| {row} | it | `told_{}` | tests/a.rs |\n",
            row.to_lowercase()
        )
    };
    let tests: String = asked_for()
        .iter()
        .map(|row| format!("fn told_{}() {{}}\n", row.to_lowercase()))
        .collect();
    let page: String = asked_for().iter().map(told).collect();
    let found = |page: &str| {
        let files = [
            file(PAGE, page.to_owned()),
            file("tests/a.rs", tests.clone()),
        ];
        mapped(&files).len()
    };
    assert_eq!(found(&page), 0);
    assert_eq!(found(&page.replace("| `told_a10` |", "| `untold` |")), 1);
    assert_eq!(
        found(&page.replace(
            "| A10 | it | `told_a10` | tests/a.rs |",
            "| A10 | it | not built |"
        )),
        0
    );
    let both = page.replace("| `told_a10` |", "| `told_a10`, `told_a11` |");
    assert_eq!(found(&both), 0);
    assert_eq!(found(&both.replace(", `told_a11` |", ", `untold` |")), 1);
    let elsewhere = both.replace(
        "`told_a10`, `told_a11` | tests/a.rs |",
        "`told_a10`, `told_a11` | tests/a.rs, tests/b.rs |",
    );
    assert_eq!(found(&elsewhere), 1);
    assert_eq!(found(&page.replace("| A10 |", "| A11 |")), 2);
    for row in ["a11", "a12", "a13"] {
        assert!(page.contains(row));
    }
    let worn = ["a11", "a12", "a13"]
        .iter()
        .fold(page.clone(), |page, row| {
            page.replace(&format!("`told_{row}`"), "`told_a10`")
        });
    assert_eq!(found(&worn), 1);
    assert_eq!(mapped(&[]).len(), 1);
}
