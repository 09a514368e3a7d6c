//! All hunks of all files, or nothing; and each reason to refuse.

use super::*;
use crate::patch::parse;

/// Trees whose contents are given as texts.
struct Files {
    tree: Tree,
    contents: Contents,
}

impl Files {
    fn new(files: &[(&str, Mode, &str)]) -> Self {
        let mut all = Self {
            tree: Tree::default(),
            contents: Contents::new(),
        };
        for (path, mode, text) in files {
            let id = BlobId::from_content(text.as_bytes()).unwrap();
            all.contents.insert(id, text.as_bytes().to_vec());
            all.tree.set(path, Some(Entry { mode: *mode, id }));
        }
        all
    }

    fn apply(&self, patch: &str) -> Result<Vec<String>, Refusal> {
        let read = |id: BlobId| self.contents.get(&id).map(Vec::as_slice);
        let patch = parse(patch.as_bytes()).unwrap();
        let applied = apply(&patch, &self.tree, &read).map_err(|refused| refused.refusal)?;
        let shown = applied.changes.iter().map(|(path, entry)| match entry {
            Some(entry) => {
                let content = applied
                    .made
                    .get(&entry.id)
                    .or_else(|| self.contents.get(&entry.id));
                let text = content.map(|it| String::from_utf8_lossy(it).into_owned());
                format!(
                    "{path} {} {:?}",
                    entry.mode.octal(),
                    text.unwrap_or_else(|| entry.id.to_string())
                )
            }
            None => format!("{path} gone"),
        });
        Ok(shown.collect())
    }
}

fn files() -> Files {
    Files::new(&[
        ("a", Mode::File, "1\n2\n3\n"),
        ("b", Mode::Executable, "b\n"),
        ("dir/c", Mode::File, "c\n"),
        ("link", Mode::Symlink, "dir"),
        ("empty", Mode::File, ""),
    ])
}

const EDIT: &str = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";

fn modify(path: &str, from: &str, to: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{from}\n+{to}\n"
    )
}

fn create(path: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+n\n"
    )
}

fn delete(path: &str, text: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{text}\n"
    )
}

fn rename(from: &str, to: &str) -> String {
    format!(
        "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
    )
}

#[test]
fn each_kind_of_change_is_made() {
    let submodule = "1111111111111111111111111111111111111111";
    for (patch, expected) in [
        (EDIT.to_owned(), vec!["a 100644 \"1\\ntwo\\n3\\n\""]),
        (create("new/file"), vec!["new/file 100644 \"n\\n\""]),
        (delete("b", "b"), vec!["b gone"]),
        (
            delete("empty", "").replace("--- a/empty\n+++ /dev/null\n@@ -1 +0,0 @@\n-\n", ""),
            vec!["empty gone"],
        ),
        (rename("b", "x"), vec!["b gone", "x 100755 \"b\\n\""]),
        (
            rename("b", "x").replace("rename", "copy"),
            vec!["x 100755 \"b\\n\""],
        ),
        (
            "diff --git a/b b/b\nold mode 100755\nnew mode 100644\n".to_owned(),
            vec!["b 100644 \"b\\n\""],
        ),
        (
            modify("link", "dir", "a").replace(
                "+a\n",
                "\\ No newline at end of file\n+a\n\\ No newline at end of file\n",
            ),
            vec!["link 120000 \"a\""],
        ),
        (
            create("sub")
                .replace("100644", "160000")
                .replace("+n", &format!("+Subproject commit {submodule}")),
            vec!["sub 160000 \"1111111111111111111111111111111111111111\""],
        ),
    ] {
        assert_eq!(files().apply(&patch).unwrap(), expected, "{patch}");
    }
}

#[test]
fn all_is_done_or_nothing() {
    let two = EDIT.to_owned() + &modify("b", "not b", "x");
    assert_eq!(
        files().apply(&two),
        Err(Refusal::Hunk(Misplaced::NotFound(1)))
    );
    let second_hunk = EDIT.to_owned() + "@@ -9 +9 @@\n-9\n+nine\n";
    assert_eq!(
        files().apply(&second_hunk),
        Err(Refusal::Hunk(Misplaced::NotFound(9)))
    );
}

#[test]
fn diffs_of_one_path_build_on_each_other() {
    let again = EDIT.replace("-2\n+two", "-two\n+zwei");
    for (patch, expected) in [
        (
            EDIT.to_owned() + &rename("a", "x").replace("rename", "copy"),
            vec!["a 100644 \"1\\ntwo\\n3\\n\"", "x 100644 \"1\\n2\\n3\\n\""],
        ),
        (
            EDIT.to_owned() + &again,
            vec!["a 100644 \"1\\nzwei\\n3\\n\""],
        ),
        (
            create("n") + &modify("n", "n", "m"),
            vec!["n 100644 \"m\\n\""],
        ),
        (
            rename("b", "x") + &modify("x", "b", "m"),
            vec!["b gone", "x 100755 \"m\\n\""],
        ),
        (delete("b", "b") + &create("b"), vec!["b 100644 \"n\\n\""]),
        (modify("b", "b", "m") + &delete("b", "m"), vec!["b gone"]),
        (create("n") + &delete("n", "n"), vec!["n gone"]),
        (
            rename("b", "dir/c") + &rename("dir/c", "b"),
            vec!["b 100644 \"c\\n\"", "dir/c 100755 \"b\\n\""],
        ),
        (
            delete("link", "dir")
                .replace("100644", "120000")
                .replace("-dir\n", "-dir\n\\ No newline at end of file\n")
                + &create("link/x"),
            vec!["link gone", "link/x 100644 \"n\\n\""],
        ),
    ] {
        assert_eq!(files().apply(&patch).unwrap(), expected, "{patch}");
    }
}

#[test]
fn each_reason_to_refuse() {
    let binary = "diff --git a/b b/b\nindex 1111111..2222222\nGIT binary patch\nliteral 0\nHcmV?d00001\n\nliteral 0\nHcmV?d00001\n\n";
    let full = binary.replace(
        "1111111..2222222",
        &format!("{}..{}", "1".repeat(40), "2".repeat(40)),
    );
    let ours = BlobId::from_content(b"b\n").unwrap().to_string();
    let wrong = full.replace(&"1".repeat(40), &ours);
    for (patch, expected) in [
        (modify("none", "a", "b"), Refusal::Missing),
        (delete("b", "b") + &modify("b", "b", "x"), Refusal::Gone),
        (rename("b", "x") + &modify("b", "b", "x"), Refusal::Gone),
        (EDIT.to_owned() + &rename("a", "x"), Refusal::ChangedBefore),
        (create("a"), Refusal::Exists),
        (create("n") + &create("n"), Refusal::Exists),
        (rename("b", "a"), Refusal::Exists),
        (rename("b", "a").replace("rename", "copy"), Refusal::Exists),
        (
            modify("link", "dir", "x").replace("--- a", "index 1111111..2222222 100644\n--- a"),
            Refusal::OtherType,
        ),
        (
            "diff --git a/b b/b\nold mode 100755\nnew mode 120000\n".to_owned(),
            Refusal::OtherType,
        ),
        (
            create("sub").replace("100644", "160000"),
            Refusal::OtherType,
        ),
        (create("link/x"), Refusal::InTheWay),
        (create("a/x"), Refusal::InTheWay),
        (create("dir"), Refusal::InTheWay),
        (create("n") + &create("n/x"), Refusal::InTheWay),
        (delete("a", "2"), Refusal::Hunk(Misplaced::NotFound(1))),
        (
            delete("a", "1").replace("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", ""),
            Refusal::Left,
        ),
        (
            delete("a", "1").replace("@@ -1 +0,0 @@\n-1\n", "@@ -1,3 +1,2 @@\n-1\n 2\n 3\n"),
            Refusal::Left,
        ),
        (
            "diff --git a/b b/b\nindex 1111..2222\nBinary files a/b and b/b differ\n".to_owned(),
            Refusal::NoBinary,
        ),
        (binary.to_owned(), Refusal::NoBinary),
        (full.clone(), Refusal::OtherBinary),
        (wrong, Refusal::BrokenBinary),
    ] {
        assert_eq!(files().apply(&patch), Err(expected), "{patch}");
    }
}

#[test]
fn a_link_that_moves_without_a_word_of_its_kind_is_still_in_the_way() {
    let patch = rename("link", "x") + &create("link/n");
    assert_eq!(files().apply(&patch), Err(Refusal::InTheWay));
    let gone = delete("link", "dir")
        .replace("100644", "120000")
        .replace("-dir\n", "-dir\n\\ No newline at end of file\n");
    let patch = gone + &create("link/n");
    assert_eq!(
        files().apply(&patch).unwrap(),
        ["link gone", "link/n 100644 \"n\\n\""]
    );
}

#[test]
fn a_binary_that_goes_has_two_whole_blocks() {
    let id = BlobId::from_content(b"b\n").unwrap();
    let patch = |block: &str| {
        let zero = BlobId::ZERO;
        format!(
            "diff --git a/b b/b\ndeleted file mode 100755\nindex {id}..{zero}\nGIT binary patch\n\
             literal 0\n{block}\n\nliteral 0\nHcmV?d00001\n\n"
        )
    };
    assert_eq!(files().apply(&patch("HcmV?d00001")).unwrap(), ["b gone"]);
    let broken = files().apply(&patch("HcmV?d0000@"));
    assert_eq!(broken, Err(Refusal::BrokenBinary));
}

#[test]
fn another_bit_to_execute_is_no_reason_and_stays() {
    let patch = modify("b", "b", "x").replace("--- a", "index 1111111..2222222 100644\n--- a");
    assert_eq!(files().apply(&patch).unwrap(), ["b 100755 \"x\\n\""]);
}

#[test]
fn what_is_not_loaded_or_too_large_is_refused() {
    let mut files = files();
    files.contents.clear();
    assert_eq!(files.apply(EDIT), Err(Refusal::NotLoaded));
    let large = "1\n2\n3\n".to_owned() + &"x".repeat(TEXT_BYTES_MAX);
    let large = Files::new(&[("a", Mode::File, &large)]);
    assert_eq!(large.apply(EDIT), Err(Refusal::TooLarge));
}
