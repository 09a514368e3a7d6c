//! What was said and done in a run, out of the log of its session.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::lateness::LOOK_WAITING;
use super::run::{Mode, Run, TranscriptState};
use super::{Delivery, history};
use crate::conversation::Role;
use crate::fence::encoded_len;
use crate::ids::{JobId, RunId, SessionId};
use crate::redact::storable;
use crate::session::{Activity, ActivityKind, Originator, Plan};
use crate::when::plus;

/// Heaviest page of a transcript, in bytes as JSON: it is kept in one record.
pub const TRANSCRIPT_PAGE_BYTES_MAX: usize = 24 * 1024;

/// Most pages of a transcript; of a longer one the newest stay, since they tell how the run ended.
pub const TRANSCRIPT_PAGES_MAX: usize = 8;

/// Longest text of an entry, in bytes as JSON; the whole of it stays with Jules.
const ENTRY_BYTES_MAX: usize = 8_000;

/// What an entry takes besides its text, in bytes as JSON.
const ENTRY_FRAME_BYTES: usize = 128;

/// How long after the end of a run its last activities may be dated: a run ends when its session was read, and the
/// clock of Jules may be ahead.
const LATE: SignedDuration = SignedDuration::from_secs(60);

/// How long after the end of its delivery the log of a run is tried to be read: its session may be gone, or Jules out of
/// reach.
const READS_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptEntry {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub role: Role,
    /// What it is.
    pub kind: EntryKind,
    /// Its words without secrets; untrusted data.
    pub text: String,
}

/// What an entry of a transcript is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A message.
    Text,
    /// What the session says of its own progress.
    Thinking,
    /// Something that the session did.
    ToolUse,
    /// What came of it.
    ToolResult,
}

impl EntryKind {
    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::ToolUse => "tool_use",
            Self::ToolResult => "tool_result",
        }
    }
}

/// Which part of which session's log is the transcript of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptSpan {
    /// The job that has the session.
    pub job: JobId,
    /// The session.
    pub session: SessionId,
    /// Only what is later; all from the beginning without it.
    pub after: Option<Timestamp>,
    /// Nothing later, unless the session was collected.
    pub through: Timestamp,
    /// Whether the session was begun elsewhere: it may still work when its run is added.
    pub is_collected: bool,
}

/// The runs that have ended and whose transcripts are still to be kept. A log is read once nothing more of the run can
/// be written into it.
pub fn transcripts_wanted(delivery: &Delivery, now: Timestamp) -> Vec<RunId> {
    let wanted = pending(delivery).filter(|(_, through)| *through <= now);
    wanted.map(|(run, _)| run.clone()).collect()
}

/// When the next log is read; none while none is awaited, or any more. One that could not be read yet is read again.
pub fn transcript_due(delivery: &Delivery, now: Timestamp) -> Option<Timestamp> {
    let last = plus(history::since(delivery), READS_FOR);
    let next = |(_, through): (&RunId, Timestamp)| match through > now {
        true => through,
        false => plus(now, LOOK_WAITING),
    };
    pending(delivery).map(next).filter(|at| *at <= last).min()
}

/// The runs whose transcripts are to be kept, and until when activities of theirs may be written.
fn pending(delivery: &Delivery) -> impl Iterator<Item = (&RunId, Timestamp)> {
    let pending = delivery.runs.iter();
    let pending = pending.filter(|run| run.transcript == TranscriptState::Pending);
    pending.filter_map(|run| Some((&run.id, transcript_span(delivery, &run.id)?.through)))
}

/// Which part of a log is the transcript of a run; none of a run that is under way or has no session.
pub fn transcript_span(delivery: &Delivery, id: &RunId) -> Option<TranscriptSpan> {
    let place = delivery.runs.iter().position(|run| run.id == *id)?;
    let (before, rest) = delivery.runs.split_at(place);
    let (run, later) = rest.split_first()?;
    let session = run.session.clone()?;
    let is_same = |other: &&Run| other.session.as_ref() == Some(&session);
    let earlier = before.iter().rev().find(is_same);
    // What was written too late for the run before is told by this one.
    let after = earlier.and_then(|it| it.told_through.or_else(|| end(it, Some(run))));
    let through = end(run, later.iter().find(is_same))?;
    Some(TranscriptSpan {
        job: run.job.clone()?,
        session,
        after,
        through,
        is_collected: run.mode == Mode::Execution,
    })
}

/// Up to when activities belong to a run.
fn end(run: &Run, next: Option<&Run>) -> Option<Timestamp> {
    let late = plus(run.ended_at?, LATE);
    Some(next.map_or(late, |next| late.min(next.created_at)))
}

/// What was said and done in a span of a log, the oldest first.
pub fn transcript(activities: &[Activity], span: &TranscriptSpan) -> Vec<TranscriptEntry> {
    let is_in = |it: &&Activity| {
        let is_late = it.at > span.through && !span.is_collected;
        span.after.is_none_or(|after| it.at > after) && !is_late
    };
    activities.iter().filter(is_in).filter_map(entry).collect()
}

/// The pages of a transcript, the oldest first, and how many entries are left out before them.
pub fn transcript_pages(entries: Vec<TranscriptEntry>) -> (Vec<Vec<TranscriptEntry>>, usize) {
    let mut pages: Vec<Vec<TranscriptEntry>> = Vec::new();
    let mut left = 0;
    for entry in entries {
        let bytes = encoded_len(&entry.text).saturating_add(ENTRY_FRAME_BYTES);
        match pages.last_mut() {
            Some(page) if bytes <= left => page.push(entry),
            Some(_) | None => {
                left = TRANSCRIPT_PAGE_BYTES_MAX;
                pages.push(vec![entry]);
            }
        }
        left = left.saturating_sub(bytes);
    }
    let surplus = pages.len().saturating_sub(TRANSCRIPT_PAGES_MAX);
    let left_out = pages.drain(..surplus).map(|page| page.len()).sum();
    (pages, left_out)
}

/// An activity as an entry; none of one that says nothing.
fn entry(activity: &Activity) -> Option<TranscriptEntry> {
    let (kind, text) = match &activity.kind {
        ActivityKind::AgentMessaged { text } | ActivityKind::UserMessaged { text } => {
            (EntryKind::Text, text.clone())
        }
        ActivityKind::PlanGenerated(plan) => (EntryKind::ToolUse, planned(plan)),
        ActivityKind::PlanApproved { .. } => {
            (EntryKind::ToolResult, "The plan was approved.".to_owned())
        }
        ActivityKind::Progressed { title, description } => {
            (EntryKind::Thinking, joined(title, description))
        }
        ActivityKind::Completed => (
            EntryKind::ToolResult,
            "The session was finished.".to_owned(),
        ),
        ActivityKind::Failed { reason } => {
            (EntryKind::ToolResult, joined("The session failed.", reason))
        }
        ActivityKind::Other { label } => (EntryKind::ToolUse, label.clone()),
    };
    let text = storable(text.trim(), ENTRY_BYTES_MAX);
    (!text.is_empty()).then_some(TranscriptEntry {
        at: activity.at,
        role: role(activity),
        kind,
        text,
    })
}

/// Who said or did it: messages say so themselves.
fn role(activity: &Activity) -> Role {
    match &activity.kind {
        ActivityKind::UserMessaged { .. } | ActivityKind::PlanApproved { .. } => Role::User,
        ActivityKind::AgentMessaged { .. }
        | ActivityKind::PlanGenerated(_)
        | ActivityKind::Progressed { .. }
        | ActivityKind::Completed
        | ActivityKind::Failed { .. } => Role::Assistant,
        ActivityKind::Other { .. } => match activity.originator {
            Originator::User => Role::User,
            Originator::Agent | Originator::System => Role::Assistant,
        },
    }
}

fn planned(plan: &Plan) -> String {
    let steps = (1..).zip(&plan.steps);
    steps.fold("Plan:".to_owned(), |text, (number, step)| {
        let step = joined(&format!("{number}. {}", step.title), &step.description);
        format!("{text}\n{step}")
    })
}

fn joined(title: &str, more: &str) -> String {
    match (title.trim(), more.trim()) {
        (title, "") => title.to_owned(),
        ("", more) => more.to_owned(),
        (title, more) => format!("{title}\n{more}"),
    }
}
