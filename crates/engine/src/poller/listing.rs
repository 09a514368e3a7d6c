//! Lists an account's sessions page by page, no deeper than necessary.

use std::collections::BTreeSet;

use domain::account::{Account, ListWeight};
use domain::cadence;
use domain::failure::Failure;
use domain::ids::SessionId;
use domain::session::SessionView;

use super::Poller;
use super::poll_data::PollData;
use super::sweep::Sweep;

/// List pages read in one poll; sessions that are not on them are read one by one.
const PAGES_MAX: u32 = 20;

impl Poller {
    /// Lists pages until every wanted session was seen; a sweep continues until later pages cannot contain a result.
    pub(super) async fn list(
        &self,
        account: &Account,
        wanted: &BTreeSet<SessionId>,
        sweep: &Sweep,
        gathered: &mut PollData,
    ) -> Result<(), Failure> {
        let (mut token, mut bytes, mut sessions, mut depth) = (None, 0, 0, 0);
        let page_size = cadence::page_size(&account.list);
        for _ in 0..PAGES_MAX {
            gathered.asked += 1;
            let page = self
                .sessions
                .list(&account.name, page_size, token.as_deref())
                .await?;
            bytes += page.bytes;
            let ours = |view: &SessionView| wanted.contains(&view.id);
            if let Some(last) = page.sessions.iter().rposition(ours) {
                depth = sessions + last as u64 + 1;
            }
            sessions += page.sessions.len() as u64;
            let swept = !sweep.lists || sweep.is_through(&page.sessions);
            gathered.views.extend(
                page.sessions
                    .into_iter()
                    .map(|view| (view.id.clone(), view)),
            );
            token = page.next;
            let seen = sweep.lists || wanted.iter().all(|id| gathered.views.contains_key(id));
            if token.is_none() || swept && seen {
                break;
            }
        }
        let all_seen = wanted.iter().all(|id| gathered.views.contains_key(id));
        gathered.weight = ListWeight {
            bytes_per_session: (sessions > 0).then(|| bytes / sessions),
            // A sweep may end early, and then it has not reached all of ours.
            sessions: match (all_seen, sweep.lists) {
                (true, _) => depth,
                (false, true) => sessions.max(account.list.sessions),
                (false, false) => sessions,
            },
        };
        Ok(())
    }
}
