//! Reads what a session has produced, for somebody who waits for it at a door without a credential.

use domain::ids::JobId;
use domain::redact::{presentable, redact};

use super::Dispatcher;
use crate::desk::{Error, Place};
use crate::forget;
use crate::keys;
use crate::ports::{Artifacts, Expect};
use crate::settings::ReadArtifacts;

/// Longest patch kept in a record, in bytes: JSON may double it, and a record holds 64 KB.
const PATCH_KEPT_BYTES_MAX: usize = 24 * 1024;

/// Longest address or commit kept, in characters.
const LINE_CHARS_MAX: usize = 300;

/// Longest suggested commit message kept, in characters.
const MESSAGE_CHARS_MAX: usize = 2_000;

impl Dispatcher {
    /// Reads and keeps the newest artifacts of a job's session.
    pub(super) async fn artifacts(&self, id: &JobId) -> Result<(), Error> {
        let Some(found) = self.desk.store.job(id).await? else {
            return Ok(());
        };
        let read_at = self.desk.now();
        let read = match found.value.session() {
            None => Ok(Artifacts::default()),
            Some(session) => {
                self.eyes
                    .sessions
                    .artifacts(&found.value.account, session)
                    .await
            }
        };
        let kept = match read {
            Ok(artifacts) => keep(artifacts, read_at),
            Err(failure) => ReadArtifacts {
                failure: Some(failure.message),
                ..keep(Artifacts::default(), read_at)
            },
        };
        let mut unit = self.desk.unit();
        let place = Place::until(read_at, forget::ARTIFACTS);
        unit.put_if(keys::artifacts(id), &kept, Expect::Any, place);
        self.desk.commit(unit).await
    }
}

fn keep(artifacts: Artifacts, read_at: jiff::Timestamp) -> ReadArtifacts {
    let patch = artifacts.patch.as_deref().map(redact);
    let cut = patch
        .as_ref()
        .is_some_and(|patch| patch.len() > PATCH_KEPT_BYTES_MAX);
    let patch = patch.map(|mut patch| {
        let end = patch.floor_char_boundary(PATCH_KEPT_BYTES_MAX);
        patch.truncate(end);
        patch
    });
    ReadArtifacts {
        read_at,
        pull_urls: artifacts
            .pull_urls
            .iter()
            .take(20)
            .map(|url| presentable(url, LINE_CHARS_MAX))
            .collect(),
        patch,
        patch_cut: cut || artifacts.patch_cut,
        base_commit: artifacts
            .base_commit
            .map(|it| presentable(&it, LINE_CHARS_MAX)),
        suggested_message: artifacts
            .suggested_message
            .map(|it| presentable(&it, MESSAGE_CHARS_MAX)),
        failure: None,
    }
}
