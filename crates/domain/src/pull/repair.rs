//! Repair messages to the session that made a pull request, and announcements to others.

use jiff::{SignedDuration, Timestamp};

use super::alarm::{about, raise};
use super::{ANNOUNCED_HEADS_MAX, Alarm, Pull, PullContext, PullVerdict, SeenHead};
use crate::effect::{Action, JulesAction, PullAction};
use crate::event::{ErrorCause, Occurrence};
use crate::facts::{CheckOutcome, PullFacts};
use crate::ids::{CommitSha, EventId};
use crate::merge::{
    AnnounceWhen, Judgement, MissingChecksCause, Reason, SessionStatus, SprintGate,
};
use crate::outgoing_text;
use crate::policy::{Policy, Timing};
use crate::step::Step;
use crate::when::plus;

/// How often the base is merged into one pull request: each time its checks run again.
pub(super) const UPDATES_MAX: u32 = 10;

/// Logs are read this long before the session may be informed: a reading is a little older than the decision.
const LOGS_AHEAD: SignedDuration = SignedDuration::from_secs(10);

/// What a decision about an open pull request and its repair is made from.
pub(super) struct RepairContext<'a> {
    pub(super) facts: &'a PullFacts,
    pub(super) outside: &'a PullContext,
    pub(super) policy: &'a Policy,
    pub(super) timing: &'a Timing,
    pub(super) now: Timestamp,
}

impl RepairContext<'_> {
    /// Whether the session takes messages: one that failed or was cancelled does not.
    fn session_listens(&self) -> bool {
        match self.outside.session {
            SessionStatus::Resting | SessionStatus::Working => true,
            SessionStatus::Failed | SessionStatus::Cancelled => false,
        }
    }

    /// Whether a reason is one of its own. A repair belongs to the session until the session was informed, and to people once they were told
    /// that it does not succeed; failed checks explain missing ones.
    fn is_open(&self, pull: &Pull, reasons: &[Reason], reason: &Reason) -> bool {
        let sha = &self.facts.head.sha;
        let is_failure = |reason: &Reason| matches!(reason, Reason::ChecksFailed { .. });
        let told = |cause: &ErrorCause| {
            let mut alarms = pull.alarms.iter();
            alarms.any(|alarm| alarm.cause == *cause && alarm.sha == *sha)
        };
        if *reason == Reason::Conflict {
            return pull.repairs.conflict_sent.contains(sha) && !told(&ErrorCause::Conflict);
        }
        if is_failure(reason) {
            return pull.repairs.ci_sent.contains(sha) && !told(&ErrorCause::CiFailed);
        }
        let missing = matches!(
            reason,
            Reason::TooFewChecks { .. } | Reason::RequiredMissing { .. }
        );
        !missing || !reasons.iter().any(is_failure)
    }

    /// Announces a cause, once; on the pull request too if the source wants that.
    fn alarm(&self, step: &mut Step<Pull>, cause: ErrorCause, reason: String) {
        let sha = &self.facts.head.sha;
        let is_red = matches!(cause, ErrorCause::CiFailed | ErrorCause::MergeBlocked);
        let found = step.aggregate.own_findings(sha);
        let reason = match is_red && !found.is_empty() {
            true => format!("{reason} ({})", found.join("; ")),
            false => reason,
        };
        let alarm = Alarm {
            cause: cause.clone(),
            sha: sha.clone(),
        };
        if !raise(step, self.outside, alarm, reason.clone(), self.now) {
            return;
        }
        let pull = &self.facts.pull;
        if self.policy.comment_when_blocked {
            step.effects.push(Action::Pull(PullAction::Comment {
                pull: pull.clone(),
                text: outgoing_text::needs_somebody(&reason),
                cause: format!("{}@{sha}", cause.as_str()),
            }));
        }
        if let Some(label) = &self.policy.blocked_label {
            step.effects.push(Action::Pull(PullAction::Label {
                pull: pull.clone(),
                label: label.clone(),
                weave: None,
            }));
        }
    }
}

impl PullContext {
    /// Whether its sprint leaves it as its session left it.
    pub(super) fn is_left_as_is(&self) -> bool {
        self.sprint_gate.is_some_and(SprintGate::leaves_as_is)
    }
}

/// Sends failed checks and conflicts to the session, and announces what no session can repair.
pub(super) fn repair(step: &mut Step<Pull>, matter: &RepairContext<'_>, judgement: &Judgement) {
    // The event of the end tells of what a sprint leaves to people, and no order about it would be taken.
    if matter.outside.sprint_gate == Some(SprintGate::Over) {
        return;
    }
    // A conflict of what is woven is sent to its session by the sprint.
    let is_left_as_is = matter.outside.is_left_as_is();
    if is_left_as_is && matches!(judgement, Judgement::Conflict { .. }) {
        return;
    }
    if matches!(judgement, Judgement::Conflict { .. }) {
        conflict(step, matter);
        return blocked(step, matter, judgement);
    }
    let astray = |reason: &Reason| matches!(reason, Reason::WrongBase { .. });
    let astray = judgement.reasons().iter().any(astray);
    for reason in judgement.reasons() {
        if let Reason::ChecksFailed {
            names,
            others_pending: false,
        } = reason
        {
            failed_checks(step, matter, names);
        }
        if *reason == Reason::Conflict && !astray && !is_left_as_is {
            conflict(step, matter);
        }
        if let Some(cause) = beyond_sessions(reason) {
            matter.alarm(
                step,
                cause,
                format!("{}: {}", matter.facts.pull, reason.sentence()),
            );
        }
    }
    ask_approval(step, matter, judgement);
    blocked(step, matter, judgement);
}

/// Tells that a pull request of a sprint is green and waits for approval, once for a head: completions of a sprint's
/// sessions are told to no one.
fn ask_approval(step: &mut Step<Pull>, matter: &RepairContext<'_>, judgement: &Judgement) {
    let pull = &step.aggregate;
    let sha = &matter.facts.head.sha;
    let same = |last: &PullVerdict| last.sha == *sha && last.judgement == *judgement;
    let is_told = pull.verdict.as_ref().is_some_and(same);
    if pull.sprint.is_none() || is_told || *judgement.reasons() != [Reason::NeedsApproval] {
        return;
    }
    let id = EventId::from_name(&format!("{}:approval:{}@{sha}", pull.job, pull.pull));
    let pulls = vec![pull.pull.clone()];
    let what = Occurrence::Completed { pulls };
    let event = about(pull, matter.outside, id, what, matter.now);
    step.events.push(event);
}

/// Announces what blocks the merge and passes neither by itself nor through the session: at once, or once it has
/// lasted.
fn blocked(step: &mut Step<Pull>, matter: &RepairContext<'_>, judgement: &Judgement) {
    let conflict = [Reason::Conflict];
    let reasons = match judgement {
        Judgement::Conflict { .. } => &conflict,
        Judgement::Wait { .. } | Judgement::Refuse { .. } | Judgement::Merge { .. } => {
            judgement.reasons()
        }
    };
    let same =
        |last: &&PullVerdict| last.sha == matter.facts.head.sha && last.judgement == *judgement;
    let since = step.aggregate.verdict.as_ref().filter(same);
    let lasts = since.map_or(SignedDuration::ZERO, |last| {
        matter.now.duration_since(last.at)
    });
    let telling = |reason: &Reason| reason.announce_when(lasts, matter.timing);
    if reasons
        .iter()
        .any(|reason| telling(reason) == AnnounceWhen::Moves)
    {
        return;
    }
    let open = |reason: &&Reason| matter.is_open(&step.aggregate, reasons, reason);
    let tell = reasons
        .iter()
        .filter(|reason| telling(reason) == AnnounceWhen::Now);
    let sentences: Vec<String> = tell.filter(open).map(Reason::sentence).collect();
    if !sentences.is_empty() {
        let reason = format!("{}: {}", matter.facts.pull, sentences.join(" "));
        matter.alarm(step, ErrorCause::MergeBlocked, reason);
    }
}

/// The cause that no session can repair. A conflict that keeps checks from starting goes to the session as a
/// conflict.
fn beyond_sessions(reason: &Reason) -> Option<ErrorCause> {
    if let Reason::CiNeverStarted { cause } = reason {
        return (*cause != MissingChecksCause::Conflict).then_some(ErrorCause::CiNeverStarted);
    }
    let given_up = matches!(reason, Reason::MergeRefused { until: None, .. });
    given_up.then_some(ErrorCause::MergeRefused)
}

/// Whether failed checks may be sent to the session now: only then are their logs worth reading.
pub fn wants_logs(
    pull: &Pull,
    facts: &PullFacts,
    session: SessionStatus,
    timing: &Timing,
    now: Timestamp,
) -> bool {
    let sha = &facts.head.sha;
    let checks = facts.checks.known();
    let any = |outcome| checks.is_some_and(|all| all.iter().any(|it| it.outcome == outcome));
    let red = any(CheckOutcome::Failed) && !any(CheckOutcome::Pending);
    let seen = pull.failing.as_ref().filter(|seen| seen.sha == *sha);
    let lasts = seen.map_or(SignedDuration::ZERO, |seen| {
        plus(now, LOGS_AHEAD).duration_since(seen.since)
    });
    let ripe = lasts >= timing.ci_repair_after;
    red && ripe && session == SessionStatus::Resting && !pull.repairs.ci_sent.contains(sha)
}

/// The earliest time to send failed checks to the session; `None` when nothing failed or they were sent.
pub fn tells_of_checks_at(pull: &Pull, timing: &Timing) -> Option<Timestamp> {
    let verdict = pull.verdict.as_ref()?;
    let seen = pull.failing.as_ref().filter(|it| it.sha == verdict.sha)?;
    let is_failure = |reason: &Reason| matches!(reason, Reason::ChecksFailed { .. });
    let fails = verdict.judgement.reasons().iter().any(is_failure);
    let waits = fails && !pull.repairs.ci_sent.contains(&seen.sha);
    waits.then(|| plus(seen.since, timing.ci_repair_after))
}

/// Whether the session that made a pull request is told of what fails: it is told a few times at most.
pub fn tells_session(pull: &Pull, repairs_max: u32) -> bool {
    pull.session.is_some() && pull.repairs.count < repairs_max
}

/// Sends failed checks to the session that made them: once a head, a few times a pull request, and not before Jules
/// had a chance to see them itself.
fn failed_checks(step: &mut Step<Pull>, matter: &RepairContext<'_>, names: &[String]) {
    let sha = &matter.facts.head.sha;
    let begin = || SeenHead {
        sha: sha.clone(),
        since: matter.now,
    };
    let pull = &mut step.aggregate;
    let since = pull.failing.get_or_insert_with(begin).since;
    if !matter.session_listens() || pull.repairs.ci_sent.contains(sha) {
        return;
    }
    if matter.now.duration_since(since) < matter.timing.ci_repair_after {
        let ripe = plus(since, matter.timing.ci_repair_after);
        step.due = step.due.map(|due| due.min(ripe));
        return;
    }
    // A working session may still push a fix by itself.
    if matter.outside.session == SessionStatus::Working {
        return;
    }
    // Recorded even when the cap is reached, so that this head raises one alarm only.
    remember(&mut pull.repairs.ci_sent, sha);
    if pull.session.is_none() {
        let reason = not_mended(pull, names);
        return matter.alarm(step, ErrorCause::CiFailed, reason);
    }
    if !tells_session(pull, matter.policy.ci_repairs) {
        let reason = format!(
            "checks of {} fail ({}) and its session was told {}",
            pull.pull,
            names.join(", "),
            often(pull.repairs.count)
        );
        return matter.alarm(step, ErrorCause::CiFailed, reason);
    }
    let text = outgoing_text::ci_failed(&matter.facts.pull, sha, names, &matter.outside.logs);
    tell(step, text, ci_cause(sha));
}

/// What is told of failed checks of a pull request of Gaffer's own, which no session mends.
fn not_mended(pull: &Pull, names: &[String]) -> String {
    let fail = format!("checks of {} fail ({})", pull.pull, names.join(", "));
    match pull.sprint {
        Some(sprint) => format!(
            "{fail} and no session mends them: have them run again on GitHub, or abort sprint {sprint}; a push to its branch ends the sprint"
        ),
        None => format!("{fail} and no session mends them"),
    }
}

/// Sends a conflict to the session in the same way; GitHub's report of it needs no second reading.
fn conflict(step: &mut Step<Pull>, matter: &RepairContext<'_>) {
    let sha = &matter.facts.head.sha;
    let pull = &mut step.aggregate;
    let resting = matter.outside.session == SessionStatus::Resting;
    if !resting || pull.repairs.conflict_sent.contains(sha) {
        return;
    }
    remember(&mut pull.repairs.conflict_sent, sha);
    if pull.repairs.count >= matter.policy.ci_repairs {
        let reason = format!(
            "{} conflicts with its base and its session was told {}",
            pull.pull,
            often(pull.repairs.count)
        );
        return matter.alarm(step, ErrorCause::Conflict, reason);
    }
    let text = outgoing_text::conflict(&pull.pull, &matter.facts.base.branch);
    tell(step, text, conflict_cause(sha));
}

fn ci_cause(sha: &CommitSha) -> String {
    format!("ci:{sha}")
}

fn conflict_cause(sha: &CommitSha) -> String {
    format!("conflict:{sha}")
}

/// Whether a message to its session is about another head than the present one. One about the present head is decided once: where it
/// failed, the session never hears of what it is about.
pub fn is_about_earlier_head(pull: &Pull, action: &Action) -> bool {
    let Action::Jules(JulesAction::Say { cause, .. }) = action else {
        return false;
    };
    let is_present = |seen: &SeenHead| {
        let sha = &seen.sha;
        [ci_cause(sha), conflict_cause(sha)].contains(cause)
    };
    !pull.head.as_ref().is_some_and(is_present)
}

fn often(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

fn tell(step: &mut Step<Pull>, text: String, cause: String) {
    let pull = &mut step.aggregate;
    pull.repairs.count = pull.repairs.count.saturating_add(1);
    // From now on it has the full time before the announcement to others.
    pull.verdict = None;
    // What Gaffer wrote itself has no session that could repair it.
    let Some(session) = pull.session.clone() else {
        return;
    };
    step.effects.push(Action::Jules(JulesAction::Say {
        session,
        text,
        cause,
    }));
}

fn remember(told: &mut Vec<CommitSha>, sha: &CommitSha) {
    told.push(sha.clone());
    let surplus = told.len().saturating_sub(ANNOUNCED_HEADS_MAX);
    told.drain(..surplus);
}

/// Merges the base into a head that lacks nothing else. A fast-moving base would make this a race: it runs a few
/// times, then Gaffer announces it.
pub(super) fn catch_up(step: &mut Step<Pull>, matter: &RepairContext<'_>, reasons: &[Reason]) {
    let [Reason::Behind { .. }] = reasons else {
        return;
    };
    let facts = matter.facts;
    let sha = &facts.head.sha;
    let repairs = &mut step.aggregate.repairs;
    if !repairs.updated.contains(sha) {
        if repairs.updates >= UPDATES_MAX {
            let reason = format!(
                "{} was brought up to date {UPDATES_MAX} times and its base moved on each time",
                facts.pull
            );
            return matter.alarm(step, ErrorCause::MergeRefused, reason);
        }
        remember(&mut repairs.updated, sha);
        repairs.updates = repairs.updates.saturating_add(1);
    }
    step.effects.push(Action::Pull(PullAction::UpdateBranch {
        pull: facts.pull.clone(),
        sha: sha.clone(),
    }));
}
