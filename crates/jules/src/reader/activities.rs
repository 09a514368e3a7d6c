//! The log of a session: incremental where the service allows it, without doubles, in order.

use std::collections::BTreeMap;

use domain::failure::Failure;
use domain::ids::{AccountName, SessionId};
use domain::session::Activity;
use jiff::{SignedDuration, Timestamp};

use super::tell_lost;
use crate::client::{Client, Extra, Listing};
use crate::wire::{self, Page};

/// How many pages of activities are read: 15,000 activities, far more than a session of five hours writes.
pub const ACTIVITY_PAGES_MAX: usize = 500;

/// How many activities a page is asked to have: each may carry a screenshot.
const ACTIVITY_PAGE_SIZE: u32 = 30;

/// How much earlier than requested the read begins, since the filter is strict and two activities may share one instant.
const OVERLAP: SignedDuration = SignedDuration::from_secs(1);

/// All activities since shortly before `after`, so that one with the same timestamp as the last one is not missed; the caller has some of
/// them already.
pub(super) async fn all(
    client: &Client,
    account: &AccountName,
    session: &SessionId,
    after: Option<Timestamp>,
) -> Result<Vec<Activity>, Failure> {
    let from = after.map(|after| after.saturating_sub(OVERLAP).unwrap_or(after));
    let listing = listing(session, from);
    let doing = listing.doing.clone();
    let mut found = BTreeMap::new();
    let mut latest = after.unwrap_or(Timestamp::UNIX_EPOCH);
    let read = |page: &Page<'_>| {
        let mut lost = 0;
        // An activity without a time is taken to be as old as the one before it.
        let at = std::cell::Cell::new(latest);
        let activities = page.items(
            |raw| wire::activity(raw, at.get()).inspect(|activity| at.set(activity.at)),
            |_| lost += 1,
        );
        latest = at.get();
        tell_lost(&doing, lost);
        found.extend(
            activities
                .into_iter()
                .map(|activity| (activity.id.clone(), activity)),
        );
        Ok(())
    };
    client.pages(account, listing, read).await?;
    // The filter may have been refused, and then everything came.
    let mut activities: Vec<Activity> = found
        .into_values()
        .filter(|activity| from.is_none_or(|from| activity.at > from))
        .collect();
    activities.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
    Ok(activities)
}

/// The list of a session's activities from a time on.
pub(super) fn listing(session: &SessionId, from: Option<Timestamp>) -> Listing {
    Listing {
        doing: format!("reading the activities of session {session}"),
        path: vec![
            "sessions".to_owned(),
            session.to_string(),
            "activities".to_owned(),
        ],
        page_size: ACTIVITY_PAGE_SIZE,
        pages_max: ACTIVITY_PAGES_MAX,
        extra: from.map(|from| Extra::Filter(format!("create_time>\"{from}\""))),
    }
}
