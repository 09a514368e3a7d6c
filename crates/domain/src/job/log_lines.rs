//! Changes of a job, as short phrases for the log. They contain no text from others.

use super::{EndReason, Job, Origin};
use crate::effect::{Action, JulesAction, PullAction};
use crate::event::{Audience, Event};
use crate::redact::presentable;

/// Longest name of who gave an order, in characters.
const BY_CHARS_MAX: usize = 120;

/// The meaning of a job's change, in order; empty for mere progress.
pub fn log_lines(before: Option<&Job>, job: &Job) -> Vec<String> {
    let mut news = Vec::new();
    match before {
        None => news.push(match job.origin {
            Origin::Created => "created".to_owned(),
            Origin::Adopted => "taken over from a session that existed".to_owned(),
            Origin::Proposed => "created, for a pull request of Gaffer's own".to_owned(),
        }),
        Some(before) => {
            let is_new = |given: &&super::OrderRecord| !before.order_log.contains(given);
            let given = job.order_log.iter().filter(is_new);
            news.extend(
                given.map(|given| format!("{} by {}", given.order.given(), plain(&given.by))),
            );
        }
    }
    let session = job.session().filter(|_| !job.is_ended());
    if let Some(session) = session.filter(|_| session != before.and_then(Job::session)) {
        news.push(format!("session {session} started"));
    }
    if let Some(pull) = job
        .pull()
        .filter(|_| job.pull() != before.and_then(Job::pull))
    {
        news.push(format!("pull request {pull}"));
    }
    if !before.is_some_and(Job::is_ended) {
        news.extend(ended(job));
    }
    news
}

fn ended(job: &Job) -> Option<String> {
    let super::JobPhase::Ended(ending) = &job.phase else {
        return None;
    };
    Some(match &ending.how {
        EndReason::Merged { sha } => format!("merged at {sha}"),
        EndReason::Woven { into } => format!("ended: it is merged as part of {into}"),
        EndReason::PullClosed => "ended: its pull request was closed without a merge".to_owned(),
        EndReason::Completed => "ended: its session finished without a pull request".to_owned(),
        EndReason::Failed { .. } => "ended: its session failed".to_owned(),
        EndReason::Lost => "ended: its session is gone".to_owned(),
        EndReason::Refused { .. } => "ended: Jules refused to create its session".to_owned(),
        EndReason::Left => {
            "ended: its delivery or its sprint came to its end before the merge".to_owned()
        }
        EndReason::Cancelled { by } => format!("cancelled by {}", plain(by)),
    })
}

/// A name given by a caller, on one line.
fn plain(by: &str) -> String {
    presentable(by, BY_CHARS_MAX)
}

/// What an event means. Without an agent that takes wakes every event is a person's.
pub fn event_log_line(event: &Event, has_agent: bool) -> String {
    let told = match event.audience.given(has_agent) {
        Audience::Agent => "for its agent",
        Audience::Human => "for its person",
        Audience::Nobody => "told to no one",
    };
    let (name, kind) = (event.what.name(), event.what.kind());
    match name == kind {
        true => format!("{name}, {told}"),
        false => format!("{name} {kind}, {told}"),
    }
}

/// The phrase for an effect on a pull request; `None` for other effects.
pub fn effect_log_line(action: &Action) -> Option<&'static str> {
    match action {
        Action::Jules(JulesAction::Say { cause, .. }) => repair_line(cause),
        Action::Pull(PullAction::Merge { .. }) => Some("is being merged"),
        Action::Pull(PullAction::UpdateBranch { .. }) => {
            Some("its branch is being brought up to date")
        }
        Action::Jules(
            JulesAction::CreateSession { .. }
            | JulesAction::ApprovePlan { .. }
            | JulesAction::Archive { .. },
        )
        | Action::Pull(
            PullAction::MarkReady { .. }
            | PullAction::Comment { .. }
            | PullAction::Label { .. }
            | PullAction::ClosePull { .. }
            | PullAction::DeleteBranch { .. },
        )
        | Action::Repo(_)
        | Action::Tracker(_) => None,
    }
}

/// The phrase for a message with this cause; `None` unless it asks for a repair.
fn repair_line(cause: &str) -> Option<&'static str> {
    if cause.starts_with("ci:") {
        Some("checks failed; its session is told")
    } else if cause.starts_with("conflict:") {
        Some("conflicts with its base; its session is told")
    } else if cause.starts_with(super::woven::CONFLICT) {
        Some("conflicts with others of its sprint; its session is told")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;
    use crate::job::tests::{watched_job, watching};
    use crate::job::{Ending, JobPhase, Order, record_order};

    #[test]
    fn each_thing_that_happens_is_told_once() {
        let watched = watched_job();
        let session = watched.session().unwrap().clone();
        assert_eq!(
            log_lines(None, &watched),
            ["created".to_owned(), format!("session {session} started")]
        );
        assert_eq!(log_lines(Some(&watched), &watched), [""; 0]);
        let mut answered = watched.clone();
        record_order(&mut answered, Order::Say, "token zai", at(1));
        assert_eq!(
            log_lines(Some(&watched), &answered),
            ["to be said by token zai"]
        );
        let mut pulled = answered.clone();
        watching(&mut pulled).pull = Some("acme/shop#7".parse().unwrap());
        assert_eq!(
            log_lines(Some(&answered), &pulled),
            ["pull request acme/shop#7"]
        );
        let sha = "a".repeat(40);
        let merged = Job {
            phase: JobPhase::Ended(Ending {
                at: at(2),
                session: Some(session),
                pull: pulled.pull().cloned(),
                how: EndReason::Merged {
                    sha: sha.parse().unwrap(),
                },
                plan_unreviewed: false,
            }),
            ..pulled.clone()
        };
        assert_eq!(
            log_lines(Some(&pulled), &merged),
            [format!("merged at {sha}")]
        );
        assert_eq!(log_lines(Some(&merged), &merged), [""; 0]);
    }

    #[test]
    fn a_job_that_is_left_says_that_its_sprint_may_have_ended() {
        let watched = watched_job();
        let left = crate::job::leave(&watched, at(2)).aggregate;
        let told = log_lines(Some(&watched), &left);
        assert!(
            told[0].contains("or its sprint came to its end"),
            "{told:?}"
        );
    }

    #[test]
    fn without_an_agent_every_event_is_a_persons() {
        let mut story = crate::job::tests::Story::new();
        story.poll(0, "IN_PROGRESS");
        story.poll(15 * 60, "IN_PROGRESS");
        let event = &story.events[0];
        assert_eq!(event_log_line(event, true), "stuck, for its agent");
        assert_eq!(event_log_line(event, false), "stuck, for its person");
        let mut recorded = event.clone();
        recorded.audience = Audience::Nobody;
        assert_eq!(event_log_line(&recorded, true), "stuck, told to no one");
    }
}
