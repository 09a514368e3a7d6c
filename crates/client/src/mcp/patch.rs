//! A unified diff, taken apart by file. It was written by an agent, so that anything may be in it.

use super::answers::File;

/// Where the change of one file begins, as git writes it.
const BEGINS: &str = "diff --git ";

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change<'a> {
    /// Which, and how many lines.
    pub(super) file: File,
    /// All lines about it.
    pub(super) text: &'a str,
}

/// The changes of a diff, in order. Parts in another form than git's belong to no file.
pub(super) fn changes(patch: &str) -> Vec<Change<'_>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in patch.split_inclusive('\n') {
        if line.starts_with(BEGINS) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    let texts = starts.iter().zip(ends);
    texts
        .filter_map(|(start, end)| patch.get(*start..end))
        .map(change)
        .collect()
}

fn change(text: &str) -> Change<'_> {
    let (mut added, mut removed, mut in_hunk) = (0, 0, false);
    let (mut before, mut after) = (None, None);
    for line in text.lines() {
        in_hunk |= line.starts_with("@@");
        if in_hunk {
            added += usize::from(line.starts_with('+'));
            removed += usize::from(line.starts_with('-'));
        } else if let Some(path) = line.strip_prefix("+++ ") {
            after = named(path);
        } else if let Some(path) = line.strip_prefix("--- ") {
            before = named(path);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            after = Some(path);
        }
    }
    let path = after.or(before).unwrap_or_else(|| of_heading(text));
    Change {
        file: File {
            path: path.to_owned(),
            added,
            removed,
        },
        text,
    }
}

/// A path without the `a/` or `b/` before it; `None` for a missing file.
fn named(path: &str) -> Option<&str> {
    let path = path.split('\t').next().unwrap_or(path);
    let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    (path != "/dev/null").then(|| bare.unwrap_or(path))
}

/// The path that the first line names last, for changes without lines: modes and empty files.
fn of_heading(text: &str) -> &str {
    let heading = text.lines().next().unwrap_or_default();
    let paths = heading.strip_prefix(BEGINS).unwrap_or(heading);
    paths.rsplit_once(" b/").map_or(paths, |(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/src/cart.rs b/src/cart.rs
index 1..2 100644
--- a/src/cart.rs
+++ b/src/cart.rs
@@ -1,2 +1,3 @@
 fn cart() {
-    old();
+    new();
+    newer();
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/a name.sh b/a name.sh
old mode 100644
new mode 100755
diff --git a/was.rs b/is.rs
similarity index 100%
rename from was.rs
rename to is.rs
";

    #[test]
    fn each_file_has_its_lines() {
        let changes = changes(PATCH);
        let files: Vec<_> = changes
            .iter()
            .map(|it| (it.file.path.as_str(), it.file.added, it.file.removed))
            .collect();
        assert_eq!(
            files,
            [
                ("src/cart.rs", 2, 1),
                ("old.txt", 0, 1),
                ("a name.sh", 0, 0),
                ("is.rs", 0, 0)
            ]
        );
        let all: String = changes.iter().map(|it| it.text).collect();
        assert_eq!(all, PATCH);
    }

    #[test]
    fn what_is_no_diff_changes_no_file() {
        for text in ["", "\n", "hello", "--- a\n+++ b\n", "\u{0}diff --git"] {
            assert_eq!(changes(text), []);
        }
        // Cut anywhere, it is still taken apart.
        for end in (0..PATCH.len()).filter(|end| PATCH.is_char_boundary(*end)) {
            assert!(changes(&PATCH[..end]).len() <= 4);
        }
    }

    #[test]
    fn lines_that_look_like_headings_inside_a_hunk_are_lines() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n--- a/y\n+++ b/z\n";
        let [change] = &changes(text)[..] else {
            panic!("one change");
        };
        assert_eq!(
            (
                change.file.path.as_str(),
                change.file.added,
                change.file.removed
            ),
            ("x", 1, 1)
        );
    }
}
