//! Where deliveries are stored, and issues that were read for a caller.

use domain::delivery::IssueRef;
use domain::ids::{DeliveryId, EventId, RunId};
use jiff::Timestamp;

use super::{EVENT, META, key, stamp};
use crate::ports::Key;

/// The list of all deliveries, newest last.
pub const DELIVERIES: &str = "deliveries";

/// The list of deliveries that are not closed.
pub const OPEN_DELIVERIES: &str = "deliveries:open";

/// Begins the partition of a delivery.
pub const DELIVERY: &str = "DLV#";

/// Begins the sort key of a page of a run's transcript.
pub const RUN: &str = "RUN#";

/// Partition of a delivery.
pub fn delivery_pk(id: &DeliveryId) -> String {
    format!("{DELIVERY}{id}")
}

/// Whose partition this is, if it is one of a delivery.
pub(crate) fn delivery_in(pk: &str) -> Option<DeliveryId> {
    pk.strip_prefix(DELIVERY)?.parse().ok()
}

/// A delivery.
pub fn delivery(id: &DeliveryId) -> Key {
    key(delivery_pk(id), META)
}

/// An event of a delivery that has no job yet.
pub fn delivery_event(id: &DeliveryId, event: &EventId) -> Key {
    key(delivery_pk(id), format!("{EVENT}{event}"))
}

/// The row that keeps a delivery in the list of all deliveries.
pub fn delivery_listed(id: &DeliveryId) -> Key {
    key(delivery_pk(id), "LISTED")
}

/// A page of what was said and done in a run, from 1.
pub fn transcript(id: &DeliveryId, run: &RunId, page: u32) -> Key {
    key(delivery_pk(id), format!("{}{page:03}", transcript_of(run)))
}

/// Begins the sort keys of all pages of a run's transcript.
pub(crate) fn transcript_of(run: &RunId) -> String {
    format!("{RUN}{run}#T")
}

/// The place of a delivery in lists: by its age, then by its id.
pub fn delivery_position(created_at: Timestamp, id: &DeliveryId) -> String {
    format!("{}:{id}", stamp(created_at))
}

/// The largest number of a delivery so far.
pub fn delivery_count() -> Key {
    key("COUNT#deliveries", META)
}

/// An issue that was read for a caller who waits.
pub fn issue_read(issue: &IssueRef) -> Key {
    let (repo, number) = (issue.repo.key(), issue.number);
    key(format!("ISSUE#{repo}#{number}"), META)
}
