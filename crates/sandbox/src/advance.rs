//! Moves both servers forward together, so that what one does in between is seen by the other in time order.

use jiff::Timestamp;

use crate::github::GitHub;
use crate::jules::Jules;

/// Performs everything due at `now`.
pub(crate) fn advance(now: Timestamp, jules: &Jules, github: &GitHub) {
    let mut last = None;
    loop {
        let check = github.world().next_change().map(|(due, ..)| due);
        let due = [check, jules.next_due()].into_iter().flatten().min();
        // A time is visited once: what is left there waits for an action, not for the clock.
        let Some(due) = due.filter(|due| *due <= now && last.is_none_or(|last| *due > last)) else {
            break;
        };
        github.advance(due);
        jules.advance(due);
        last = Some(due);
    }
    github.advance(now);
    jules.advance(now);
}
