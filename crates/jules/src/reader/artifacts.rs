//! What a session has produced: its outputs, and while those hold no patch, its newest activity that does.

use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, SessionId};
use engine::ports::Artifacts;
use jiff::Timestamp;

use super::activities;
use crate::client::Client;
use crate::wire::{self, ChangeSet, Page};

/// How many bytes of a patch are kept, enough for some 20,000 changed lines; the rest is cut off at a character.
pub const PATCH_BYTES_MAX: usize = 1024 * 1024;

/// The artifacts of a session whose resource has been read.
///
/// A patch among the outputs is whole, while one of an activity may be partial, so the outputs come first.
/// Patch, base commit and message always come from the same change set.
pub(super) async fn artifacts_of_session(
    client: &Client,
    account: &AccountName,
    session: &SessionId,
    resource: &str,
) -> Result<Artifacts, Failure> {
    let (pull_urls, set) = wire::outputs(resource);
    let set = match set {
        Some(set) => Some(set),
        None => newest(client, account, session).await?,
    };
    let none = Artifacts {
        pull_urls,
        ..Artifacts::default()
    };
    Ok(match set {
        None => none,
        Some(set) => with(none, set),
    })
}

fn with(artifacts: Artifacts, set: ChangeSet) -> Artifacts {
    let mut patch = set.patch;
    let patch_cut = patch.len() > PATCH_BYTES_MAX;
    patch.truncate(patch.floor_char_boundary(PATCH_BYTES_MAX));
    Artifacts {
        patch: Some(patch),
        patch_cut,
        base_commit: set.base_commit,
        suggested_message: set.suggested_message,
        ..artifacts
    }
}

/// The newest change set among the activities. A session so fresh that its activities cannot be read has none yet.
async fn newest(
    client: &Client,
    account: &AccountName,
    session: &SessionId,
) -> Result<Option<ChangeSet>, Failure> {
    let mut newest: Option<((Timestamp, String), ChangeSet)> = None;
    let read = |page: &Page<'_>| {
        for (order, set) in page.items(wire::change_set, |_| ()) {
            if newest.as_ref().is_none_or(|(known, _)| *known <= order) {
                newest = Some((order, set));
            }
        }
        Ok(())
    };
    let listing = activities::listing(session, None);
    match client.pages(account, listing, read).await {
        Err(failure) if failure.class == FailureClass::NotFound => Ok(None),
        Err(failure) => Err(failure),
        Ok(()) => Ok(newest.map(|(_, set)| set)),
    }
}
