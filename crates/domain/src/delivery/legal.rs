//! Which commands a delivery takes now. One function refuses them and lists them, so that no surface offers what is
//! refused.

use super::history;
use super::run::{RUNS_MAX, Run, RunResult};
use super::text::Refused;
use super::{
    Act, Actor, CheckpointsBy, CommandKind, Delivery, Executor, Fault, IssueTrouble, Phase, PlanBy,
    PullEnd, ReviewBy, Rules, RunStatus, SessionWork,
};

use crate::ids::{JobId, PlanId};

/// Why a command is refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct TransitionError {
    /// For programs, for example `not_succeeded`.
    pub code: &'static str,
    /// For people: what is the case, in words of no surface.
    pub sentence: String,
    /// The commands that the caller may give now.
    pub legal: Vec<CommandKind>,
}

/// The commands that a delivery takes now from an actor.
pub fn legal(delivery: &Delivery, by: &Actor, rules: &Rules) -> Vec<CommandKind> {
    let asker = Asker::of(delivery, by, rules);
    let is_legal = |kind: &CommandKind| may(delivery, *kind, &asker).is_ok();
    CommandKind::ALL.into_iter().filter(is_legal).collect()
}

/// Whether a retry by an actor is legal now and may say what to do otherwise.
pub fn retry_takes_reason(delivery: &Delivery, by: &Actor, rules: &Rules) -> bool {
    let asker = Asker::of(delivery, by, rules);
    may(delivery, CommandKind::Retry, &asker).is_ok()
        && may_give_reason(delivery, by, rules).is_ok()
}

/// Whether its agent may try a failed phase again.
pub(super) fn agent_may_retry(delivery: &Delivery) -> bool {
    let agent = Actor::agent("its agent");
    legal(delivery, &agent, &delivery.rules).contains(&CommandKind::Retry)
}

/// The command that an approval of the plan of its job stands for; refused unless a plan of that job is what is to be
/// approved.
///
/// # Errors
/// When the delivery is not at its plan, or when it is another job that plans.
pub fn plan_approval(
    delivery: &Delivery,
    job: &JobId,
    read: Option<&PlanId>,
    by: &Actor,
    rules: &Rules,
) -> Result<Act, TransitionError> {
    let refused = |code, sentence| TransitionError {
        code,
        sentence,
        legal: legal(delivery, by, rules),
    };
    let (phase, status) = (delivery.phase, delivery.run_status);
    if phase != Phase::Plan || !delivery.awaits_approval() {
        let sentence = format!("no plan waits for approval: the delivery is at {phase}, {status}");
        return Err(refused("no_open_plan", sentence));
    }
    if delivery.task.job.as_ref() != Some(job) {
        let sentence = format!("job {job} is not the one whose plan waits for approval");
        return Err(refused("no_open_plan", sentence));
    }
    let plan = read.cloned();
    Ok(Act::Approve { head: None, plan })
}

/// Who wants something of a delivery, and by which rules.
pub(super) struct Asker<'a> {
    by: &'a Actor,
    rules: &'a Rules,
    /// Whether the delivery has room for nothing but its end.
    is_full: bool,
}

impl<'a> Asker<'a> {
    pub(super) fn of(delivery: &Delivery, by: &'a Actor, rules: &'a Rules) -> Self {
        let is_full = history::is_full(delivery);
        Self { by, rules, is_full }
    }
}

/// Refuses a command that a delivery does not take now.
pub(super) fn may(
    delivery: &Delivery,
    kind: CommandKind,
    asker: &Asker<'_>,
) -> Result<(), Refused> {
    let status = delivery.run_status;
    let (by, rules) = (asker.by, asker.rules);
    if delivery.is_terminal() {
        return refuse("closed", "the delivery is closed");
    }
    if kind != CommandKind::Cancel && asker.is_full {
        return refuse(
            "history_full",
            "too much has happened to the delivery: give it up, and create another one",
        );
    }
    match kind {
        CommandKind::Start if delivery.awaits_start() => people(delivery, by, rules),
        CommandKind::Start => not_here("not_awaiting_start", "start", delivery),
        CommandKind::Approve if delivery.awaits_approval() => {
            people(delivery, by, rules)?;
            must_not_be_closed(delivery)
        }
        CommandKind::Approve => not_here("nothing_to_approve", "approve", delivery),
        CommandKind::Reject if is_rejectable(delivery) => people(delivery, by, rules),
        CommandKind::Reject => not_here("nothing_to_reject", "reject", delivery),
        CommandKind::Retry if status == RunStatus::Failed => retry(delivery, by, rules),
        CommandKind::Retry => not_here("not_failed", "retry", delivery),
        CommandKind::Cancel if is_under_way(delivery) => Ok(()),
        CommandKind::Cancel => give_up(delivery, by, rules),
        CommandKind::Verdict => verdict(delivery, by, rules),
        CommandKind::Plan => plan(delivery, by, rules),
        CommandKind::Split => split(delivery, by, rules),
        CommandKind::Merge => merge(delivery),
        CommandKind::Edit => Ok(()),
        CommandKind::Collect if delivery.runs.len() < RUNS_MAX => Ok(()),
        CommandKind::Collect => refuse("history_full", "the delivery has no room for more runs"),
        CommandKind::Analyse if status == RunStatus::Failed => analyse(delivery),
        CommandKind::Analyse => not_here("not_failed", "analyse", delivery),
    }
}

/// Whether its job was cancelled with it, so that nothing is left of that but a pull request: it is over, or what went on
/// was cancelled.
pub fn is_called_off(delivery: &Delivery) -> bool {
    let code = delivery.error.as_ref().map(|error| error.code);
    delivery.is_terminal() || matches!(code, Some(Fault::Canceled | Fault::JobCanceled))
}

/// Whether there is something to call off. A pending phase of the system waits for others, who may never come; a pending
/// phase of an agent waits for a person to start it.
pub(super) fn is_under_way(delivery: &Delivery) -> bool {
    let is_awaited =
        delivery.run_status == RunStatus::Pending && delivery.phase.executor() == Executor::System;
    delivery.run_status.is_under_way() || is_awaited
}

/// What is not under way is given up by the close of its issue, and by the command where no issue can be closed or its
/// close says nothing: a merge closes issues, too.
fn give_up(delivery: &Delivery, by: &Actor, rules: &Rules) -> Result<(), Refused> {
    let is_gone = matches!(delivery.trouble, Some(IssueTrouble::Unreadable(_)));
    if delivery.issue.is_none() || is_gone || is_merged(delivery) {
        return people(delivery, by, rules);
    }
    let sentence = "nothing of the delivery is under way: close its issue to give it up";
    refuse("not_running", sentence)
}

/// Whether its change is merged, so that only what follows can be given up.
pub(super) fn is_merged(delivery: &Delivery) -> bool {
    let end = delivery.pull_seen().and_then(|seen| seen.end.as_ref());
    if matches!(end, Some(PullEnd::Merged { .. })) {
        return true;
    }
    match delivery.phase {
        Phase::Deploy | Phase::Observe => true,
        Phase::Intake
        | Phase::Plan
        | Phase::Implement
        | Phase::Review
        | Phase::Verify
        | Phase::Close => false,
    }
}

fn refuse(code: &'static str, sentence: &str) -> Result<(), Refused> {
    Err((code, sentence.to_owned()))
}

fn not_here(code: &'static str, what: &str, delivery: &Delivery) -> Result<(), Refused> {
    let (phase, status) = (delivery.phase, delivery.run_status);
    let sentence = format!("there is nothing to {what}: the delivery is at {phase}, {status}");
    Err((code, sentence))
}

/// At checkpoints people are awaited, unless the source lets agents act there, too.
fn people(delivery: &Delivery, by: &Actor, rules: &Rules) -> Result<(), Refused> {
    let is_open = match rules.checkpoints_by {
        CheckpointsBy::Anyone => true,
        CheckpointsBy::People => by.is_person(),
    };
    if is_open || !delivery.checkpoints.has(delivery.phase) {
        return Ok(());
    }
    refuse("people_only", "a person is awaited at this checkpoint")
}

fn is_rejectable(delivery: &Delivery) -> bool {
    let is_rejected = match delivery.phase {
        // A review that passed may still be sent back by who is asked to approve it.
        Phase::Plan | Phase::Implement | Phase::Review => true,
        Phase::Intake | Phase::Verify | Phase::Deploy | Phase::Observe | Phase::Close => false,
    };
    is_rejected && delivery.run_status == RunStatus::Succeeded
}

/// So many attempts without a session are left to the agent: what gets none again and again is for a person.
const WITHOUT_SESSION_MAX: u32 = 5;

/// A person may ask for more sessions than the source allows. An attempt that got no session uses none of them up.
fn retry(delivery: &Delivery, by: &Actor, rules: &Rules) -> Result<(), Refused> {
    let has_ended = |job: &super::JobGlimpse| matches!(job.work, SessionWork::Ended(_));
    let is_over = delivery.job_seen().is_some_and(has_ended) || delivery.has_lost_session();
    if !is_over || by.is_person() {
        return Ok(());
    }
    let used = delivery.attempts_with_session();
    let without = delivery.attempt.saturating_sub(used);
    let what = if used >= rules.attempts {
        match rules.attempts {
            1 => "has used its only attempt".to_owned(),
            more => format!("has used its {more} attempts"),
        }
    } else if without >= WITHOUT_SESSION_MAX {
        format!("got no session in {without} attempts")
    } else {
        return Ok(());
    };
    let sentence = format!("the delivery {what}: only a person may ask for another one");
    Err(("attempts_used_up", sentence))
}

/// Refuses the reason of a retry that is legal without one. After a review it sends the change back, which only a person
/// may do beyond the rounds of the source.
pub(super) fn may_give_reason(
    delivery: &Delivery,
    by: &Actor,
    rules: &Rules,
) -> Result<(), Refused> {
    let phase = delivery.phase;
    if !phase.takes_reason() {
        let sentence = format!("a retry of {phase} takes no reason: leave it out");
        return Err(("no_reason_taken", sentence));
    }
    if !delivery.children.is_empty() {
        return refuse(
            "no_reason_taken",
            "a retry of what was split takes no reason: give it to a retry of a part",
        );
    }
    let is_sent_back = phase > Phase::Implement && !delivery.has_lost_session();
    if is_sent_back && delivery.review_round >= rules.review_rounds && !by.is_person() {
        return refuse(
            "rounds_used_up",
            "only a person may send it back once more: without a reason the same change is reviewed again",
        );
    }
    Ok(())
}

fn analyse(delivery: &Delivery) -> Result<(), Refused> {
    let has_failed = |run: &Run| run.status == RunResult::Failed;
    if delivery.runs.iter().any(has_failed) {
        return Ok(());
    }
    refuse("no_such_run", "no run of the delivery has failed")
}

fn verdict(delivery: &Delivery, by: &Actor, rules: &Rules) -> Result<(), Refused> {
    let at = (delivery.phase, delivery.run_status);
    let has_failed = at == (Phase::Review, RunStatus::Failed) && !delivery.has_lost_session();
    if at != (Phase::Review, RunStatus::Running) && !has_failed {
        return not_here("not_in_review", "review", delivery);
    }
    // What failed, or was cancelled, goes on only when a person says so: an agent's verdict may be late.
    if has_failed {
        return match by.is_person() {
            true => must_have_open_head(delivery),
            false => refuse(
                "not_in_review",
                "the review has failed, so only a person may give the verdict now",
            ),
        };
    }
    let asked = delivery.review.asked.as_ref().map(|asked| asked.by);
    match asked.unwrap_or(rules.reviewer()) {
        ReviewBy::Agent => {}
        ReviewBy::Human if by.is_person() => {}
        ReviewBy::Human => match rules.checkpoints_by {
            CheckpointsBy::Anyone => {}
            CheckpointsBy::People => {
                return refuse("people_only", "a person is awaited to review this");
            }
        },
        ReviewBy::Jules => {
            return refuse("reviewed_by_jules", "a session of Jules reviews this");
        }
        ReviewBy::Nobody => return refuse("not_reviewed", "this source has no reviewer"),
    }
    must_have_open_head(delivery)
}

/// A pull request that was closed may be reopened, or its phase fails.
fn must_not_be_closed(delivery: &Delivery) -> Result<(), Refused> {
    if delivery
        .pull_seen()
        .is_some_and(|pull| pull.closed_at.is_some())
    {
        let sentence = "the pull request is closed: reopen it, or wait until its phase has failed";
        return refuse("pull_closed", sentence);
    }
    Ok(())
}

/// What is judged or merged has to be there.
fn must_have_open_head(delivery: &Delivery) -> Result<(), Refused> {
    must_not_be_closed(delivery)?;
    if delivery.pull_seen().is_some_and(|pull| pull.end.is_some()) {
        return refuse(
            "pull_closed",
            "the pull request is merged or closed for good",
        );
    }
    match delivery.head() {
        Some(_) => Ok(()),
        None => refuse("not_read_yet", "the pull request has not been read yet"),
    }
}

fn plan(delivery: &Delivery, by: &Actor, rules: &Rules) -> Result<(), Refused> {
    let at = (delivery.phase, delivery.run_status);
    if at != (Phase::Plan, RunStatus::Running) {
        return not_here("not_planning", "plan", delivery);
    }
    if !delivery.children.is_empty() {
        return refuse(
            "split_already",
            "the delivery was split: its parts are planned",
        );
    }
    match rules.plan_by {
        PlanBy::Jules => refuse("planned_by_jules", "the session of Jules plans this"),
        PlanBy::Human if !by.is_person() => {
            refuse("people_only", "a person is awaited to plan this")
        }
        PlanBy::Agent | PlanBy::Human => Ok(()),
    }
}

fn split(delivery: &Delivery, by: &Actor, rules: &Rules) -> Result<(), Refused> {
    let is_open = match delivery.run_status {
        RunStatus::Pending | RunStatus::Running | RunStatus::Succeeded => true,
        RunStatus::Blocked => true,
        RunStatus::Failed => false,
    };
    if delivery.phase != Phase::Plan || !is_open {
        return not_here("not_planning", "split", delivery);
    }
    // Its parts would implement no requirement, and the scope of none would be checked.
    if delivery.requirement.is_some() {
        return refuse(
            "requirement_whole",
            "the delivery implements a requirement, which one change does: split the requirement in its file",
        );
    }
    if delivery.parent.is_some() {
        return refuse("part_already", "the delivery is a part of another one");
    }
    if !delivery.children.is_empty() {
        return refuse("split_already", "the delivery was split already");
    }
    // To split a delivery is to plan it: an agent does so where it plans, and while it does.
    let plans = rules.plan_by == PlanBy::Agent && delivery.run_status.is_under_way();
    let may_decide = by.is_person() || rules.checkpoints_by == CheckpointsBy::Anyone;
    if plans || may_decide {
        return Ok(());
    }
    refuse(
        "people_only",
        "only a person, or the agent that plans it, splits it",
    )
}

fn merge(delivery: &Delivery) -> Result<(), Refused> {
    let is_open = match delivery.run_status {
        RunStatus::Pending | RunStatus::Running => true,
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Blocked => false,
    };
    if delivery.phase != Phase::Verify || !is_open {
        return not_here("not_in_verify", "merge", delivery);
    }
    must_have_open_head(delivery)
}
