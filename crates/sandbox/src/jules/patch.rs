//! Made-up content that has to look real: patches, change sets, hex ids, pictures.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::github::ChangedFile;

/// The first `len` hex digits of a hash of `parts`: ids that are the same in every run.
pub(crate) fn hex_id(parts: &[&str], len: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let mut text = hex::encode(hash.finalize());
    text.truncate(len);
    text
}

/// A `changeSet` of these files, made heavier by `padding` bytes.
pub(crate) fn change_set(
    repo: Option<&str>,
    files: &[ChangedFile],
    padding: usize,
    message: &str,
) -> Value {
    let source = repo.map(|repo| format!("sources/github/{repo}"));
    json!({
        "source": source,
        "gitPatch": {
            "unidiffPatch": unidiff(files, padding),
            "baseCommitId": hex_id(&["base", repo.unwrap_or_default()], 40),
            "suggestedCommitMessage": message,
        },
    })
}

/// A unified diff of these files, with a filler file of `padding` bytes.
fn unidiff(files: &[ChangedFile], padding: usize) -> String {
    let mut text = String::with_capacity(padding + 256 * files.len());
    for file in files {
        diff_file(&mut text, file);
    }
    if padding > 0 {
        text.push_str("diff --git a/heavy.txt b/heavy.txt\nnew file mode 100644\n--- /dev/null\n");
        text.push_str("+++ b/heavy.txt\n@@ -0,0 +1 @@\n+");
        text.extend(std::iter::repeat_n('x', padding));
        text.push('\n');
    }
    text
}

fn diff_file(text: &mut String, file: &ChangedFile) {
    let name = &file.filename;
    let (old, new, mode) = match file.status.as_str() {
        "added" => (
            "/dev/null".to_owned(),
            format!("b/{name}"),
            "new file mode 100644\n",
        ),
        "removed" => (
            format!("a/{name}"),
            "/dev/null".to_owned(),
            "deleted file mode 100644\n",
        ),
        // `modified` and `renamed` show both sides.
        _ => (format!("a/{name}"), format!("b/{name}"), ""),
    };
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "diff --git a/{name} b/{name}\n{mode}--- {old}\n+++ {new}"
    );
    match &file.patch {
        Some(hunks) => text.push_str(hunks),
        None => {
            let (removed, added) = (file.deletions, file.additions);
            let _ = writeln!(text, "@@ -1,{removed} +1,{added} @@");
            text.extend((0..removed).map(|line| format!("-old {line}\n")));
            text.extend((0..added).map(|line| format!("+new {line}\n")));
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Base64 of a picture of so many bytes.
pub(crate) fn base64_filler(bytes: usize) -> String {
    std::iter::repeat_n('A', bytes.div_ceil(3) * 4).collect()
}

/// A branch name's readable half, from a title: lower case words joined by dashes.
pub(crate) fn slug(title: &str) -> String {
    let words: String = title
        .chars()
        .map(|it| {
            if it.is_ascii_alphanumeric() {
                it.to_ascii_lowercase()
            } else {
                ' '
            }
        })
        .collect();
    let slug = words
        .split_whitespace()
        .take(SLUG_WORDS)
        .collect::<Vec<_>>()
        .join("-");
    if slug.is_empty() {
        "jules".to_owned()
    } else {
        slug
    }
}

/// Words of a title that go into a branch name.
const SLUG_WORDS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_shows_every_file_and_its_padding() {
        let files = [
            ChangedFile::modified("a.rs"),
            ChangedFile {
                status: "added".into(),
                ..ChangedFile::modified("b.rs")
            },
        ];
        let text = unidiff(&files, 1_000);
        assert!(text.contains("--- a/a.rs\n+++ b/a.rs\n"));
        assert!(text.contains("--- /dev/null\n+++ b/b.rs\n"));
        assert!(text.len() > 1_000);
        assert!(unidiff(&files, 0).len() < 400);
    }

    #[test]
    fn a_slug_has_only_words() {
        assert_eq!(slug("Fix: the Cart (total)!"), "fix-the-cart-total");
        assert_eq!(slug("***"), "jules");
    }
}
