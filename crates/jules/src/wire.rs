//! What travels: Jules's JSON, read so tolerantly that nothing new in it can hurt.
//!
//! Fields may be missing, null, of another shape or unknown; an item without any id is all that cannot be read.

mod activity;
mod loose;
mod page;
mod request;
mod session;
mod source;
mod status;

pub(crate) use activity::{ChangeSet, activity, change_set};
pub(crate) use page::Page;
pub(crate) use request::{CreateSession, Empty, SendMessage};
pub(crate) use session::{outputs, session};
pub(crate) use source::{branches, source};
pub(crate) use status::StatusText;

/// The last segment of a resource name such as `sessions/14550388554331055113`.
fn last_segment(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The first of an item's `id` and the last segment of its `name` that is a valid id.
fn id_of<Id: std::str::FromStr>(id: Option<&str>, name: Option<&str>) -> Option<Id> {
    let given = id.and_then(|id| id.parse().ok());
    given.or_else(|| name.and_then(|name| last_segment(name).parse().ok()))
}
