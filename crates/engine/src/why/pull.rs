//! A pull request: its last judgement and its lane.

mod unread;

use domain::advice::Next;
use domain::delivery;
use domain::failure::FailureClass;
use domain::ids::PullRef;
use domain::job::Job;
use domain::merge::{Gate, Judgement, Reason};
use domain::pipeline::{PipelinePart, unrepaired};
use domain::policy::{Policy, Timing};
use domain::pull::{Pull, PullPhase, REOPEN_WAIT, tells_of_checks_at, tells_session};
use jiff::Timestamp;

use super::WhySubject;
use crate::backend::{Backend, Error};
use crate::keys;
use crate::settings::{TrackedPull, UnreadPull};

/// A pull request's state in one word.
pub fn state_of(pull: &Pull) -> &'static str {
    match &pull.phase {
        PullPhase::Merging { .. } => "merging",
        PullPhase::Closed { .. } => "closed",
        PullPhase::Settled { state, .. } => match state {
            domain::facts::PullState::Merged { .. } => "merged",
            domain::facts::PullState::Open | domain::facts::PullState::Closed => "closed",
        },
        PullPhase::Open => match pull.verdict.as_ref().map(|verdict| &verdict.judgement) {
            None => "unread",
            Some(Judgement::Merge { .. } | Judgement::Wait { .. }) => "waits",
            Some(Judgement::Refuse { .. }) => "blocked",
            Some(Judgement::Conflict { .. }) => "conflicts",
        },
    }
}

impl Backend {
    /// Why a pull request of ours is not merged now.
    pub(super) async fn why_pull(
        &self,
        found: &mut WhySubject,
        tracked: &TrackedPull,
    ) -> Result<(), Error> {
        let pull = &tracked.pull;
        found.as_read = tracked.as_read(self.now());
        if let Some(verdict) = &pull.verdict {
            found.checks.clone_from(&verdict.checks);
        }
        let job = self.store.job(&pull.job).await?.map(|job| job.value);
        self.judged_now(found, tracked, job.as_ref()).await?;
        match &pull.phase {
            PullPhase::Settled { .. } => {}
            PullPhase::Closed { since, .. } => {
                let sentence = "If it has not been reopened by then, its job ends.";
                found.then(*since + REOPEN_WAIT, sentence);
            }
            PullPhase::Open | PullPhase::Merging { .. } => {
                self.lane_of(found, pull).await?;
                let source = self.store.source(&pull.pull.repo).await?;
                let rules = source.map(|source| (source.value.policy, source.value.timing));
                let (policy, timing) = rules.unwrap_or_default();
                tells_of_checks(found, pull, &policy, &timing);
                if let Some(due) = self.due_of(&keys::pull(&pull.pull)).await? {
                    let sentence = format!("Pull request {} is read and judged again.", pull.pull);
                    found.then(due, sentence);
                }
            }
        }
        self.why_pull_effects(found, pull, job.as_ref()).await
    }

    /// The last judgement, in the words that fit its job and its delivery as they are now.
    async fn judged_now(
        &self,
        found: &mut WhySubject,
        tracked: &TrackedPull,
        job: Option<&Job>,
    ) -> Result<(), Error> {
        let gate = match job {
            Some(job) => self.gate_now(&tracked.pull, job).await?,
            None => None,
        };
        let part = job.and_then(|job| job.part.as_deref());
        judged(found, tracked, part, gate, self.now());
        Ok(())
    }

    /// Why its delivery holds the judged head now: a judgement is as old as the last reading, and the delivery may have
    /// gone on since.
    async fn gate_now(&self, pull: &Pull, job: &Job) -> Result<Option<Gate>, Error> {
        match &pull.verdict {
            Some(verdict) => self.delivery_gate(job, &verdict.sha).await,
            None => Ok(None),
        }
    }

    /// Merges into one branch go one after the other.
    async fn lane_of(&self, found: &mut WhySubject, pull: &Pull) -> Result<(), Error> {
        let Some(ready) = &pull.ready else {
            return Ok(());
        };
        let base = ready.base.as_str();
        let lane = self.store.lane(&pull.pull.repo, base).await?;
        let taken = lane.filter(|lane| !lane.value.is_open_to(&pull.pull, self.now()));
        if let Some(lane) = taken {
            let (holder, until) = (&lane.value.holder, lane.value.until);
            let place = match lane.value.ahead_of(&pull.pull) {
                Some(ahead) => format!(", and this one is number {ahead} in the queue"),
                None => String::new(),
            };
            let sentence = format!(
                "{holder} has its turn to merge into `{base}` until {until} at the latest; merges into one branch go one after the other{place}."
            );
            found.because("lane_taken", sentence);
        }
        Ok(())
    }
}

fn unjudged(reference: &PullRef) -> String {
    format!("Pull request {reference} has not been judged yet.")
}

/// Who is told of failed checks, and when: once its session was told as often as it may be, an event tells people and agents.
fn tells_of_checks(found: &mut WhySubject, pull: &Pull, policy: &Policy, timing: &Timing) {
    let Some(at) = tells_of_checks_at(pull, timing) else {
        return;
    };
    let sentence = match tells_session(pull, policy.ci_repairs) {
        true => "Its session is told that checks failed, unless it pushes before.",
        false => "The event ci_failed tells that its checks failed, unless they pass before.",
    };
    found.then(at, sentence);
}

/// What checks of our own found wrong with the judged head, and who repairs it.
fn own_checks(pull: &Pull) -> Vec<Said> {
    let judged = pull.verdict.as_ref().filter(|_| !pull.is_settled());
    let Some(verdict) = judged else {
        return Vec::new();
    };
    let is_told = pull.repairs.ci_sent.contains(&verdict.sha);
    let then = match (&pull.session, unrepaired(pull).is_empty()) {
        (Some(_), false) => " No repair is awaited: push one to its branch, or close it.",
        (Some(_), true) if is_told => " Its session was told.",
        (None, _) => " No session repairs it: close it, and begin another run.",
        (Some(_), true) => "",
    };
    let reason = |wrong: String| {
        let (code, sentence) = ("own_check_failed", format!("{wrong}.{then}"));
        (delivery::DeliveryReason { code, sentence }, None)
    };
    let found = pull.own_findings(&verdict.sha).into_iter();
    found.map(reason).collect()
}

/// What to do about a reason against a merge.
fn about(reason: &Reason, pull: &Pull) -> Option<Next> {
    let advice = reason.advice()?;
    Some(match advice.order() {
        Some(_) => advice.about(&pull.job),
        None => advice.about(&pull.pull.repo),
    })
}

pub(super) fn judged(
    found: &mut WhySubject,
    tracked: &TrackedPull,
    part: Option<&PipelinePart>,
    gate: Option<Gate>,
    now: Timestamp,
) {
    for (reason, next) in said(tracked, part, gate, found.held, now) {
        found.because(reason.code, reason.sentence);
        found.next.extend(next);
    }
}

/// Why a pull request is not merged now, the decisive reason first, as its delivery tells it.
pub(crate) fn reasons(
    tracked: &TrackedPull,
    part: Option<&PipelinePart>,
    gate: Option<Gate>,
    is_paused: bool,
    now: Timestamp,
) -> Vec<delivery::DeliveryReason> {
    let said = said(tracked, part, gate, is_paused, now).into_iter();
    said.map(|(reason, _)| reason).collect()
}

type Said = (delivery::DeliveryReason, Option<Next>);

fn alone(code: &'static str, sentence: impl Into<String>) -> Vec<Said> {
    let sentence = sentence.into();
    vec![(delivery::DeliveryReason { code, sentence }, None)]
}

/// What the last reading of a pull request says, with what to do about it, behind why there is no newer one. What checks of our own
/// found stands beside their names.
fn said(
    tracked: &TrackedPull,
    part: Option<&PipelinePart>,
    gate: Option<Gate>,
    is_paused: bool,
    now: Timestamp,
) -> Vec<Said> {
    let pull = &tracked.pull;
    let unread = unread(tracked, now).map(|told| (told, None));
    let judged = judgement(pull, part, gate, is_paused, now);
    let read = [judged, own_checks(pull)].concat();
    unread.into_iter().chain(read).collect()
}

/// Why a pull request is not read, until it is tried again.
fn unread(tracked: &TrackedPull, now: Timestamp) -> Option<delivery::DeliveryReason> {
    let unread = tracked.unread.as_ref()?;
    let is_over = tracked.pull.is_settled() || unread.again_at <= now;
    (!is_over).then(|| postponed(&tracked.pull.pull, unread))
}

/// Why the next reading of a pull request is put off, and until when.
fn postponed(reference: &PullRef, unread: &UnreadPull) -> delivery::DeliveryReason {
    let (why, until) = (&unread.why, unread.again_at);
    delivery::DeliveryReason {
        code: match unread.class {
            FailureClass::Throttled => "read_throttled",
            FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::NotFound
            | FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid
            | FailureClass::Unavailable
            | FailureClass::Network
            | FailureClass::Garbled => "read_failed",
        },
        sentence: format!(
            "Pull request {reference} cannot be judged now ({why}); Gaffer tries again at {until}."
        ),
    }
}

/// Why a head that was found green is not merged, as GitHub has answered since.
fn refused(pull: &Pull, now: Timestamp) -> Option<Reason> {
    let verdict = pull.verdict.as_ref()?;
    let is_green = matches!(verdict.judgement, Judgement::Merge { .. });
    let is_open = matches!(pull.phase, PullPhase::Open);
    let refused = pull.refused.as_ref().filter(|_| is_green && is_open)?;
    let is_present = refused.sha == verdict.sha;
    refused.refused.reason(now).filter(|_| is_present)
}

/// What holds a pull request up until a known time: a budget, or what failed a moment ago.
pub(super) fn delay(tracked: &TrackedPull, now: Timestamp) -> Option<String> {
    let unread = unread(tracked, now).map(|it| it.sentence);
    unread.or_else(|| refused(&tracked.pull, now).map(|it| it.sentence()))
}

/// What the last judgement of a pull request says.
fn judgement(
    pull: &Pull,
    part: Option<&PipelinePart>,
    gate: Option<Gate>,
    is_paused: bool,
    now: Timestamp,
) -> Vec<Said> {
    let reference = &pull.pull;
    let is_merging = match &pull.phase {
        PullPhase::Settled { .. } => {
            let sentence = format!("Pull request {reference} is {}.", state_of(pull));
            return alone("settled", sentence);
        }
        PullPhase::Merging { .. } => true,
        PullPhase::Open | PullPhase::Closed { .. } => false,
    };
    let Some(verdict) = &pull.verdict else {
        return alone("pull_unread", unjudged(reference));
    };
    let head = &verdict.sha;
    let with_advice = |reason: Reason| {
        let told = delivery::DeliveryReason {
            code: reason.code(),
            sentence: reason.sentence_for(part),
        };
        (told, about(&reason, pull))
    };
    // One that was closed a moment ago says so first.
    let is_closed = matches!(pull.phase, PullPhase::Closed { .. });
    let left = gate.as_ref().filter(|gate| gate.leaves_to_people());
    if let Some(left) = left.filter(|_| !is_closed).map(Gate::reason) {
        return alone(left.code(), left.sentence());
    }
    match (&verdict.judgement, gate) {
        (Judgement::Merge { .. }, Some(gate)) => {
            let held = gate.reason();
            alone(held.code(), held.sentence())
        }
        (Judgement::Merge { .. }, None) => {
            if let Some(refused) = refused(pull, now) {
                return vec![with_advice(refused)];
            }
            let next = if is_merging {
                "is being merged"
            } else {
                "is merged when its turn comes"
            };
            alone("merge", format!("{head} is green and {next}."))
        }
        (Judgement::Conflict { .. }, _) => alone("conflict", Reason::Conflict.sentence()),
        (Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons }, gate) => {
            // A pause of this moment is told already, by its own name, and so is what its delivery says now.
            // No approval is awaited of what its delivery holds, and it is told again once that lets it go.
            let is_held = |it: &Reason| gate.is_some() && *it == Reason::NeedsApproval;
            let is_old =
                |it: &Reason| it.is_of_delivery() || is_held(it) || is_paused && it.is_pause();
            let present = reasons.iter().filter(|it| !is_old(it)).cloned();
            let held = gate.as_ref().map(Gate::reason);
            let held: Vec<Reason> = held.into_iter().chain(present).collect();
            if held.is_empty() && !is_paused {
                let sentence = format!("{head} was judged before, and is judged again.");
                return alone("pull_unread", sentence);
            }
            held.into_iter().map(with_advice).collect()
        }
    }
}
