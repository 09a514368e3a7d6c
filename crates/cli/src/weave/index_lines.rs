//! The `index` lines of a patch, with the ids of old blobs in full: git writes them shortened, and a merge needs them whole.

use std::collections::BTreeMap;

use anyhow::Result;
use weave::tree::BlobId;

use crate::git::Git;

/// What begins the line.
const INDEX: &[u8] = b"index ";

/// The shortest id that git takes.
const DIGITS_MIN: usize = 4;

/// Digits of a full id.
const DIGITS: usize = 40;

/// The patch with full ids where the repository has such a blob, and those blobs.
pub(super) fn in_full(git: &Git, patch: Vec<u8>) -> Result<(Vec<u8>, Vec<BlobId>)> {
    let mut known: BTreeMap<String, Option<BlobId>> = BTreeMap::new();
    known.extend(
        lines(&patch)
            .filter_map(old)
            .map(|id| (id.to_owned(), None)),
    );
    let shortened: Vec<&str> = known.keys().map(String::as_str).collect();
    if shortened.is_empty() {
        return Ok((patch, Vec::new()));
    }
    let found = git.blobs_that_begin(&shortened)?;
    known
        .values_mut()
        .zip(found)
        .for_each(|(id, found)| *id = found);
    let whole = lines(&patch)
        .flat_map(|line| lengthened(line, &known))
        .collect();
    Ok((whole, known.into_values().flatten().collect()))
}

fn lines(patch: &[u8]) -> impl Iterator<Item = &[u8]> {
    patch.split_inclusive(|byte| *byte == b'\n')
}

/// The old id of an `index` line. No line of a hunk or of a binary begins like one.
fn old(line: &[u8]) -> Option<&str> {
    let rest = str::from_utf8(line.strip_prefix(INDEX)?).ok()?;
    let (old, _) = rest.split_once("..")?;
    let is_id = (DIGITS_MIN..=DIGITS).contains(&old.len())
        && old.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_none = old.bytes().all(|digit| digit == b'0');
    (is_id && !is_none).then_some(old)
}

fn lengthened(line: &[u8], known: &BTreeMap<String, Option<BlobId>>) -> Vec<u8> {
    let id = old(line).and_then(|id| Some((id, (*known.get(id)?)?)));
    match id {
        Some((short, whole)) => {
            let rest = line.get(INDEX.len() + short.len()..).unwrap_or_default();
            [INDEX, whole.to_string().as_bytes(), rest].concat()
        }
        None => line.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_old_id_of_an_index_line_is_made_longer() {
        let known = [
            (
                "ce01362".to_owned(),
                Some("ce013625030ba8dba906f756967f9e9ca394464a".parse().unwrap()),
            ),
            ("abcdef0".to_owned(), None),
        ];
        let known = BTreeMap::from(known);
        let long = |line: &str| String::from_utf8(lengthened(line.as_bytes(), &known)).unwrap();
        assert_eq!(
            long("index ce01362..1234567 100644\r\n"),
            "index ce013625030ba8dba906f756967f9e9ca394464a..1234567 100644\r\n"
        );
        for line in [
            "index abcdef0..1234567 100644\n",
            "index 0000000..ce01362\n",
            "+index ce01362..1234567\n",
            "index of words..\n",
            "index ce0..1\n",
            "index ce01362",
        ] {
            assert_eq!(long(line), line);
        }
    }
}
