//! Names of types: each stands once in its crate, so that it says which type is meant wherever it is read.

use std::collections::BTreeMap;

use super::Finding;
use super::code::{code, first_word, line_at, places};
use super::shape::{is_rust, is_test, source_lines};
use super::tree::File;

/// Words after which the name of a new type comes.
const DECLARING: [&str; 4] = ["struct", "enum", "trait", "union"];

/// Where a type is declared: its file and the line there.
type Declaration<'a> = (&'a str, usize);

/// No crate has two types of one name.
pub(super) fn unique(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ((_, name), declarations) in types(files) {
        let Some(((first, _), others)) = declarations.split_first() else {
            continue;
        };
        let advice = format!("{first} has a type `{name}`, too: give one a name of its own");
        let found = others
            .iter()
            .map(|(path, line)| Finding::new(path, *line, advice.as_str()));
        findings.extend(found);
    }
    findings
}

/// The types of every crate by its folder and their names, without those of tests.
fn types(files: &[File]) -> BTreeMap<(&str, String), Vec<Declaration<'_>>> {
    let mut types: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for file in files {
        let Some((home, within)) = file.path.split_once("/src/") else {
            continue;
        };
        if !is_rust(within) || is_test(within) {
            continue;
        }
        for (name, line) in declared(&file.text) {
            let place: Declaration<'_> = (&file.path, line);
            types.entry((home, name)).or_default().push(place);
        }
    }
    types
}

/// The types that a file declares before the tests at its bottom, each with its line.
fn declared(text: &str) -> Vec<(String, usize)> {
    let (code, end) = (code(text), source_lines(text));
    let mut found = Vec::new();
    for word in DECLARING {
        for at in places(&code, word) {
            let after = code.get(at + word.len()..).unwrap_or_default();
            let name = first_word(after.trim_start());
            let line = line_at(&code, at);
            if name.starts_with(char::is_uppercase) && line <= end {
                found.push((name.to_owned(), line));
            }
        }
    }
    found
}

#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn a_type_with_the_name_of_another_of_its_crate_is_found() {
    let files = [
        file("crates/a/src/one.rs", "pub struct Found<'a>(&'a str);"),
        file("crates/a/src/two.rs", "// struct Found\nenum Found { A }"),
        file("crates/b/src/lib.rs", "trait Found {}"),
    ];
    let advice = "crates/a/src/one.rs has a type `Found`, too: give one a name of its own";
    let found = Finding::new("crates/a/src/two.rs", 2, advice);
    assert_eq!(unique(&files), [found]);
}

#[test]
fn tests_calls_and_texts_declare_no_type_of_a_crate() {
    let inline = "struct Found;\n#[cfg(test)]\nmod tests {\n    struct Found;\n}\n";
    let files = [
        file("crates/a/src/one.rs", inline),
        file("crates/a/src/one/tests.rs", "struct Found;"),
        file("crates/a/src/tests/more.rs", "struct Found;"),
        file("crates/a/tests/it/main.rs", "struct Found;"),
        file(
            "crates/a/src/two.rs",
            "let it = one.union(two);\nlet text = \"struct Found\";",
        ),
        file("docs/a.md", "struct Found"),
    ];
    assert_eq!(unique(&files), []);
}
