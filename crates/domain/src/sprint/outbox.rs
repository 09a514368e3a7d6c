//! Which mail of members is to be collected now.

use jiff::Timestamp;

use super::mailing::has_read;
use super::member::{Outbox, SprintMember};
use super::seen::has_said_all;
use super::sight::{Sights, SprintSight};
use super::{Sprint, SprintState};

/// The mail that members wrote and that is to be collected. Of a member that is woven it waits for the report, which is about an
/// earlier head.
pub fn uncollected<'s>(
    sprint: &'s Sprint,
    sights: &Sights,
    now: Timestamp,
) -> Vec<(&'s SprintMember, Outbox)> {
    let is_woven_now = sprint.state == SprintState::Integrating;
    let members = sprint.members.iter();
    let members = members.filter(|it| !(is_woven_now && it.is_offered()));
    let found = members.filter_map(|member| {
        let (_, sight) = sights.members.iter().find(|(job, _)| *job == member.job)?;
        Some((member, of_member(member, sight, now)?))
    });
    found.collect()
}

/// The mail of a member that is to be collected. A session that ended without a pull request may be asked for one, and writes more
/// then.
fn of_member(member: &SprintMember, sight: &SprintSight, now: Timestamp) -> Option<Outbox> {
    let outbox = sight.outbox.as_ref()?;
    let is_whole = match outbox {
        Outbox::Head { .. } => true,
        Outbox::Patch => match member.reading {
            Some(since) => has_read(sight, since, now),
            None => !member.is_awaited() || has_said_all(member, sight, now),
        },
    };
    let is_new = is_whole && member.collected.as_ref() != Some(outbox);
    is_new.then(|| outbox.clone())
}
