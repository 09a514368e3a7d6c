//! What differs between two commits, as GitHub lists it.

use std::sync::PoisonError;

use super::program::parts;
use super::{ChangedFile, Contents, Trouble};

/// The longest patch of one file that GitHub shows.
const PATCH_BYTES_MAX: usize = 20_000;

impl Contents {
    /// The files that differ between two trees or commits.
    pub(crate) fn diff(&self, from: &str, to: &str) -> Result<Vec<ChangedFile>, Trouble> {
        let key = (from.to_owned(), to.to_owned());
        let mut known = self.diffs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = known.get(&key) {
            return Ok(files.clone());
        }
        let files = self.compare(from, to)?;
        known.insert(key, files.clone());
        Ok(files)
    }

    /// The same as one text, without the bytes of binaries, as GitHub writes it.
    pub(crate) fn text_diff(&self, from: &str, to: &str) -> Result<Vec<u8>, Trouble> {
        let how = ["diff-tree", "-p", "-M", "--no-color", "--no-ext-diff"];
        self.program.run(&[&how[..], &[from, to]].concat())
    }

    fn compare(&self, from: &str, to: &str) -> Result<Vec<ChangedFile>, Trouble> {
        let diff = |how: &[&str]| {
            let mut args = vec!["diff-tree", "-r", "-M", "--no-color", "--no-ext-diff"];
            args.extend(how.iter().chain(&[from, to]));
            self.program.run(&args)
        };
        let named = diff(&["-z", "--name-status"])?;
        let counted = diff(&["-z", "--numstat"])?;
        let patches = diff(&["-p"])?;
        let mut files = with_names(&parts(&named));
        let counts = counts(&parts(&counted));
        let patches = hunks(&String::from_utf8_lossy(&patches));
        for (file, (additions, deletions)) in files.iter_mut().zip(counts) {
            (file.additions, file.deletions) = (additions, deletions);
        }
        for (file, patch) in files.iter_mut().zip(patches) {
            file.patch = patch;
        }
        Ok(files)
    }
}

/// Status and names, of which a renamed file has two.
fn with_names(words: &[String]) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    let mut words = words.iter();
    while let Some(letter) = words.next() {
        let status = match letter.chars().next() {
            Some('A') => "added",
            Some('D') => "removed",
            Some('R') => "renamed",
            Some('T') => "changed",
            _ => "modified",
        };
        let before = (status == "renamed").then(|| words.next()).flatten();
        files.push(ChangedFile {
            filename: words.next().cloned().unwrap_or_default(),
            status: status.to_owned(),
            additions: 0,
            deletions: 0,
            patch: None,
            previous_filename: before.cloned(),
        });
    }
    files
}

/// Lines added and removed. A renamed file has its names in two parts of their own.
fn counts(words: &[String]) -> Vec<(u64, u64)> {
    let counted = words.iter().filter_map(|word| {
        let mut columns = word.split('\t');
        let (added, removed) = (columns.next()?, columns.next()?);
        columns.next()?;
        // A binary file has a dash for both.
        Some((added.parse().unwrap_or(0), removed.parse().unwrap_or(0)))
    });
    counted.collect()
}

/// The hunks of each file; none of a binary, an unchanged or a very large one.
fn hunks(text: &str) -> Vec<Option<String>> {
    let mut files: Vec<Option<String>> = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            files.push(None);
        } else if let Some(hunks) = files.last_mut() {
            match hunks {
                Some(hunks) => hunks.push_str(line),
                None if line.starts_with("@@ ") => *hunks = Some(line.to_owned()),
                None => {}
            }
        }
    }
    let short = |hunks: &String| hunks.len() <= PATCH_BYTES_MAX;
    let trimmed = |hunks: String| hunks.trim_end_matches('\n').to_owned();
    let files = files.into_iter();
    files.map(|it| it.filter(short).map(trimmed)).collect()
}
