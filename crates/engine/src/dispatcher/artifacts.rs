//! Reads what a session has produced, for a caller of an API that holds no credential.

use domain::fence::encoded_len;
use domain::ids::JobId;
use domain::redact::{presentable, redact};
use jiff::Timestamp;

use super::Dispatcher;
use crate::backend::{Error, IndexEntry};
use crate::keys;
use crate::ports::{Artifacts, Expect};
use crate::retention;
use crate::settings::{PatchPage, ReadArtifacts};

/// Longest piece of a patch kept in a record, in bytes.
const PIECE_BYTES_MAX: usize = 24 * 1024;

/// The same as JSON, where escapes count: a record holds 64 KB.
const PIECE_JSON_BYTES_MAX: usize = 56 * 1024;

/// Most pieces kept of one patch; together they are far below what one commit takes.
const PIECES_MAX: usize = 20;

/// Longest address or commit kept, in characters.
const LINE_CHARS_MAX: usize = 300;

/// Longest suggested commit message kept, in characters.
const MESSAGE_CHARS_MAX: usize = 2_000;

impl Dispatcher {
    /// Reads and keeps the newest artifacts of a job's session.
    pub(super) async fn artifacts(&self, id: &JobId) -> Result<(), Error> {
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        let read_at = self.backend.now();
        let read = match found.value.session() {
            None => Ok(Artifacts::default()),
            Some(session) => {
                self.readers
                    .sessions
                    .artifacts(&found.value.account, session)
                    .await
            }
        };
        let (kept, further) = match read {
            Ok(artifacts) => keep(artifacts, read_at),
            Err(failure) => {
                let (nothing, further) = keep(Artifacts::default(), read_at);
                let failure = Some(failure.message);
                (ReadArtifacts { failure, ..nothing }, further)
            }
        };
        let mut unit = self.backend.unit();
        let place = || IndexEntry::until(read_at, retention::ARTIFACTS);
        unit.put_if(keys::artifacts(id), &kept, Expect::Any, place());
        for (page, piece) in (1..).zip(further) {
            let key = keys::artifacts_page(id, page);
            unit.put_if(key, &piece, Expect::Any, place());
        }
        self.backend.commit(unit).await
    }
}

/// What is kept, and the further pieces of the patch.
fn keep(artifacts: Artifacts, read_at: Timestamp) -> (ReadArtifacts, Vec<PatchPage>) {
    // Masked as a whole, so that no secret is split between two pieces.
    let whole = artifacts.patch.as_deref().map(redact);
    let pieces = pieces(whole.as_deref().unwrap_or_default());
    let kept_bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
    let whole_bytes = whole.as_ref().map_or(0, String::len);
    let further = pieces.iter().skip(1).map(|piece| PatchPage {
        read_at,
        patch: (*piece).to_owned(),
    });
    let further: Vec<PatchPage> = further.collect();
    let first = pieces.first().map_or("", |piece| piece).to_owned();
    let kept = ReadArtifacts {
        read_at,
        pull_urls: artifacts
            .pull_urls
            .iter()
            .take(20)
            .map(|url| presentable(url, LINE_CHARS_MAX))
            .collect(),
        patch: whole.is_some().then_some(first),
        patch_cut: kept_bytes < whole_bytes || artifacts.patch_cut,
        patch_bytes: kept_bytes as u64,
        further: u32::try_from(further.len()).unwrap_or(u32::MAX),
        base_commit: artifacts
            .base_commit
            .map(|it| presentable(&it, LINE_CHARS_MAX)),
        suggested_message: artifacts
            .suggested_message
            .map(|it| presentable(&it, MESSAGE_CHARS_MAX)),
        failure: None,
    };
    (kept, further)
}

/// The beginning of a patch in pieces that each fit into a record.
fn pieces(patch: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = patch;
    while !rest.is_empty() && pieces.len() < PIECES_MAX {
        let mut end = rest.floor_char_boundary(PIECE_BYTES_MAX);
        while encoded_len(&rest[..end]) > PIECE_JSON_BYTES_MAX {
            end = rest.floor_char_boundary(end / 2);
        }
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(patch: &str) -> (ReadArtifacts, Vec<PatchPage>) {
        let artifacts = Artifacts {
            patch: Some(patch.to_owned()),
            ..Artifacts::default()
        };
        keep(artifacts, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn the_pieces_of_a_patch_are_all_of_it_and_fit_into_records() {
        let heavy = "\u{1}é\"\n".repeat(20_000);
        for patch in ["", "+x\n", &"+é\n".repeat(30_000), &heavy] {
            let (first, further) = kept(patch);
            let mut whole = first.patch.clone().unwrap();
            for piece in &further {
                assert!(encoded_len(&piece.patch) <= PIECE_JSON_BYTES_MAX);
                whole.push_str(&piece.patch);
            }
            assert_eq!(whole, patch);
            assert!(!first.patch_cut);
            let told = (first.patch_bytes, first.further);
            assert_eq!(told, (patch.len() as u64, further.len() as u32));
        }
    }

    #[test]
    fn what_is_not_kept_is_told() {
        let patch = "x".repeat(PIECE_BYTES_MAX * PIECES_MAX + 1);
        let (first, further) = kept(&patch);
        assert!(first.patch_cut);
        assert_eq!(first.patch_bytes, patch.len() as u64 - 1);
        assert_eq!(further.len(), PIECES_MAX - 1);
    }
}
