//! Changes that another one joined, whole or in part.

use proptest::prelude::*;

use super::*;
use crate::tree::Mode;

/// A tree with one file, a change of it, and the contents.
#[derive(Default)]
struct Joined {
    tree: Tree,
    changed: BTreeMap<String, Change>,
    contents: Contents,
}

impl Joined {
    fn entry(&mut self, text: &str) -> Entry {
        let id = BlobId::from_content(text.as_bytes()).unwrap();
        self.contents.insert(id, text.as_bytes().to_vec());
        let mode = Mode::File;
        Entry { mode, id }
    }

    /// A path as it was, as a change makes it, and as it is in the tree.
    fn with(mut self, path: &str, texts: [Option<&str>; 3]) -> Self {
        let [before, after, ours] = texts.map(|text| text.map(|text| self.entry(text)));
        self.tree.set(path, ours);
        let change = Change { before, after };
        self.changed.insert(path.to_owned(), change);
        self
    }

    /// How many blobs are needed to tell whether it is held; none if it is not held whatever they are.
    fn needed(&self) -> Option<usize> {
        needs(&self.tree, &self.changed).map(|ids| ids.len())
    }

    /// Whether it is held, with no more loaded than what is said to be needed.
    fn into_verdict(mut self) -> bool {
        let Some(needed) = needs(&self.tree, &self.changed) else {
            assert!(!holds(&self.tree, &self.changed, &self.contents));
            return false;
        };
        self.contents.retain(|id, _| needed.contains(id));
        holds(&self.tree, &self.changed, &self.contents)
    }
}

/// Whether a text holds what a change makes of another text.
fn is_held(before: &str, after: &str, ours: &str) -> bool {
    let texts = [Some(before), Some(after), Some(ours)];
    Joined::default().with("a", texts).into_verdict()
}

#[test]
fn lines_are_held_where_they_stand_among_others() {
    let before = "head\nline\nfoot\n";
    for (ours, expected) in [
        ("head\nsum\nfoot\n", true),
        ("head\nprice\nsum\nfoot\n", true),
        ("head\nsum\nprice\nfoot\n", true),
        ("head\nprice\nsum\nfoot\nmore\n", true),
        // Left out, written in other words, brought beside what it was to replace, or lost again.
        ("head\nprice\nfoot\n", false),
        ("head\nprice, sum\nfoot\n", false),
        ("head\nline\nsum\nfoot\n", false),
        ("head\nline\nfoot\n", false),
        ("head\nfoot\n", false),
    ] {
        assert_eq!(
            is_held(before, "head\nsum\nfoot\n", ours),
            expected,
            "{ours}"
        );
    }
}

#[test]
fn one_line_of_many_that_is_missing_is_enough() {
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let after = "1\nII\n3\n4\n5\n6\n7\nVIII\n9\n";
    for (ours, expected) in [
        ("1\ntwo\nII\n3\n4\n5\n6\n7\nVIII\n9\n", true),
        ("1\ntwo\nII\n3\n4\n5\n6\n7\neight\nVIII\n9\n", true),
        ("1\ntwo\nII\n3\n4\n5\n6\n7\n8\n9\n", false),
        ("1\ntwo\nII\n3\n4\n5\n6\n7\neight\n9\n", false),
    ] {
        assert_eq!(is_held(before, after, ours), expected, "{ours}");
    }
}

#[test]
fn what_a_change_only_takes_away_or_moves_is_not_taken_for_held() {
    let before = "1\n2\n3\n";
    assert!(is_held(before, "1\n3\n", "1\n3\n"));
    assert!(
        is_held(before, "1\n3\n", "1\ntwo\n3\n"),
        "another line came"
    );
    assert!(!is_held(before, "1\n3\n", "1\n2\nnew\n3\n"));
    assert!(!is_held(before, "1\n3\n2\n", "1\ntwo\n3\n"));
    assert!(!is_held(before, "1\n2\n2\n3\n", "1\ntwo\n3\n"));
    assert!(!is_held("x\nx\n", "x\ny\n", "x\nx\ny\nz\n"));
}

#[test]
fn files_come_and_go_with_a_change() {
    let held = |texts| Joined::default().with("a", texts).into_verdict();
    for (texts, expected) in [
        ([None, Some("a\n"), Some("a\n")], true),
        ([None, Some("a\n"), Some("b\na\n")], true),
        ([None, Some("a\n"), Some("b\n")], false),
        ([None, Some("a\n"), None], false),
        ([Some("a\n"), None, None], true),
        ([Some("a\n"), None, Some("a\n")], false),
        ([Some("a\n"), Some("b\n"), None], false),
        ([Some("a\0"), Some("b\0"), Some("b\0")], true),
        ([Some("a\0"), Some("b\0"), Some("c\0")], false),
    ] {
        assert_eq!(held(texts), expected, "{texts:?}");
    }
    let two = || Joined::default().with("a", [Some("a\n"), Some("b\n"), Some("b\n")]);
    assert!(
        two()
            .with("c", [None, Some("c\n"), Some("c\n")])
            .into_verdict()
    );
    assert!(!two().with("c", [None, Some("c\n"), None]).into_verdict());
}

#[test]
fn what_ids_alone_tell_needs_no_blob() {
    let needed = |texts| Joined::default().with("a", texts).needed();
    for (texts, expected) in [
        ([Some("a\n"), Some("b\n"), Some("b\n")], Some(0)),
        ([Some("a\n"), Some("b\n"), Some("c\n")], Some(3)),
        ([None, Some("b\n"), Some("c\n")], Some(3)),
        // Nothing of the change is there.
        ([Some("a\n"), Some("b\n"), Some("a\n")], None),
        ([Some("a\n"), Some("b\n"), None], None),
        ([Some("a\n"), None, Some("b\n")], None),
        ([None, Some("b\n"), None], None),
    ] {
        assert_eq!(needed(texts), expected, "{texts:?}");
    }
    let some = Joined::default().with("a", [Some("a\n"), Some("b\n"), Some("c\n")]);
    let some = some.with("b", [Some("a\n"), Some("b\n"), Some("a\n")]);
    assert_eq!(some.needed(), None, "one path is enough");
}

#[test]
fn a_change_that_takes_too_many_blobs_to_tell_counts_as_missing() {
    let joined = |count: usize| {
        (0..count).fold(Joined::default(), |joined, at| {
            let before = format!("{at}\nline\nfoot\n");
            let after = format!("{at}\nsum\nfoot\n");
            let ours = format!("{at}\nprice\nsum\nfoot\n");
            let texts = [&before, &after, &ours].map(|text| Some(text.as_str()));
            joined.with(&format!("{at}.rs"), texts)
        })
    };
    let fits = BLOBS_MAX / 3;
    assert_eq!(joined(fits).needed(), Some(BLOBS_MAX));
    assert!(joined(fits).into_verdict());
    assert_eq!(joined(fits + 1).needed(), None);
}

#[test]
fn a_mode_that_a_change_sets_has_to_be_there() {
    let mut joined = Joined::default().with("a", [Some("a\n"), Some("a\n"), Some("b\n")]);
    let change = joined.changed.get_mut("a").unwrap();
    let executable = change.after.map(|entry| Entry {
        mode: Mode::Executable,
        ..entry
    });
    change.after = executable;
    assert!(!holds(&joined.tree, &joined.changed, &joined.contents));
    let ours = joined.tree.get("a").map(|entry| Entry {
        mode: Mode::Executable,
        ..entry
    });
    joined.tree.set("a", ours);
    assert!(joined.into_verdict());
}

#[test]
fn what_is_not_loaded_counts_as_missing() {
    let joined = Joined::default().with("a", [Some("1\n"), Some("2\n"), Some("2\n3\n")]);
    assert!(!holds(&joined.tree, &joined.changed, &Contents::new()));
    assert!(joined.into_verdict());
}

/// A text of few different lines, each with its end.
fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-e]", 0..10)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

proptest! {
    #[test]
    fn no_line_that_is_new_is_missing_from_what_holds_it(texts in proptest::array::uniform3(text())) {
        let [before, after, ours] = &texts;
        if is_held(before, after, ours) {
            let new = after.lines().filter(|line| !before.lines().any(|it| it == *line));
            for line in new {
                prop_assert!(ours.lines().any(|it| it == line), "{}", line);
            }
        }
    }

    #[test]
    fn a_change_is_held_by_what_it_makes_and_not_by_what_it_began_with(before in text(), after in text()) {
        prop_assert!(is_held(&before, &after, &after));
        prop_assert_eq!(is_held(&before, &after, &before), before == after);
    }
}
