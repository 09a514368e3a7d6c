//! What was seen of others: kept as far as a delivery decides by it.

use jiff::Timestamp;

use super::history;
use super::lateness::{in_time, is_stale};
use super::legal;
use super::moves::Moving;
use super::refs;
use super::refusal;
use super::review;
use super::run::as_summary;
use super::{
    Actor, ChildState, Closed, Delivery, DeliveryInput, Deploy, Fault, IssueSight, IssueState,
    IssueTrouble, JobSight, Mode, PartsSight, Phase, PlanBy, ProviderReport, PullEnd, PullGlimpse,
    ReviewSight, ReviewState, Rules, RunStatus, SessionWork, Verdict,
};
use crate::ids::DeliveryId;
use crate::redact::presentable;

/// Longest reason why an issue cannot be read or closed, in characters.
pub(super) const WHY_CHARS_MAX: usize = 200;

/// Keeps what was seen.
pub(super) fn see(moving: &mut Moving<'_>, input: &DeliveryInput) {
    match input {
        DeliveryInput::Job(sight, _) => job(moving, sight),
        DeliveryInput::Pull(glimpse, read_at) => pull(moving, glimpse, *read_at),
        DeliveryInput::Issue(sight) => issue(moving, sight),
        DeliveryInput::Child(id, state) => child(moving, id, *state),
        DeliveryInput::Review(sight) => reviewer(moving, sight),
        DeliveryInput::Dispatched(at) => moving.delivery.seen.dispatched_at = Some(*at),
        DeliveryInput::StartHeld(is_held) => {
            let begun = history::deploying_since(&moving.delivery);
            let held = &mut moving.delivery.seen.held_since;
            let since = held.filter(|at| *at >= begun).unwrap_or(moving.now);
            *held = is_held.then_some(since);
        }
        DeliveryInput::Command(_) | DeliveryInput::Provider(..) | DeliveryInput::Parts(_) => {}
        DeliveryInput::AskedFor(_) => {}
        DeliveryInput::Cancelled(_) | DeliveryInput::Deadline => {}
    }
}

/// Decides what can be decided only now, since it is not kept.
pub(super) fn decide(moving: &mut Moving<'_>, input: &DeliveryInput) {
    match input {
        DeliveryInput::Review(sight) => reviewed(moving, sight),
        DeliveryInput::Provider(phase, report) => provider(moving, *phase, report),
        DeliveryInput::Pull(glimpse, read_at) => {
            if moving.delivery.task.pull.as_ref() == Some(&glimpse.pull) {
                pull_read(moving, glimpse, *read_at);
            } else {
                // The pull request of the attempt before may be what the close of the issue waited for.
                issue_closed(moving, None);
            }
        }
        DeliveryInput::Parts(sight) => parts_read(moving, *sight),
        DeliveryInput::AskedFor(why) => refusal::asked_for(moving, why.as_deref()),
        DeliveryInput::Issue(_) => issue_closed(moving, None),
        DeliveryInput::Job(_, read_at) => issue_closed(moving, *read_at),
        DeliveryInput::Cancelled(by) => {
            // What is merged is done, and nothing of it is to be made anew.
            let how = match is_merged(moving) || legal::is_merged(&moving.delivery) {
                true => Closed::MergedOnly,
                false => Closed::Cancelled,
            };
            moving.close(how, by);
        }
        DeliveryInput::Child(..) | DeliveryInput::Command(_) => {}
        DeliveryInput::Dispatched(_) | DeliveryInput::StartHeld(_) | DeliveryInput::Deadline => {}
    }
}

/// A merge closes the issue, too: only a pull request that was read after that, or is over, tells which it is.
fn pull_read(moving: &mut Moving<'_>, glimpse: &PullGlimpse, read_at: Timestamp) {
    let by = match &moving.delivery.trouble {
        Some(IssueTrouble::Closed { at, by }) if is_known_since(glimpse, read_at, *at) => {
            by.clone()
        }
        Some(
            IssueTrouble::Closed { .. } | IssueTrouble::Unreadable(_) | IssueTrouble::LeftOpen(_),
        )
        | None => return,
    };
    if moving.delivery.children.is_empty() && !is_merged(moving) {
        moving.close(Closed::IssueClosed, &Actor::on_github(by.as_deref()));
    }
}

/// Whether a pull request tells whether it was merged by a moment: it was read since, or is over.
fn is_known_since(glimpse: &PullGlimpse, read_at: Timestamp, moment: Timestamp) -> bool {
    read_at >= moment || glimpse.end.is_some()
}

fn is_merged(moving: &Moving<'_>) -> bool {
    has_merged(&moving.delivery)
}

fn has_merged(delivery: &Delivery) -> bool {
    delivery.pull_seen().is_some_and(shows_merge)
}

fn shows_merge(seen: &PullGlimpse) -> bool {
    matches!(seen.end, Some(PullEnd::Merged { .. }))
}

fn job(moving: &mut Moving<'_>, sight: &JobSight) {
    let delivery = &mut moving.delivery;
    let is_present = delivery.task.job.as_ref() == Some(&sight.glimpse.job)
        && delivery.task.attempt == sight.glimpse.attempt;
    // What is seen of an earlier attempt says nothing about this one.
    if !is_present {
        return;
    }
    delivery.seen.job = Some(sight.glimpse.clone());
    // What is merged is what it came to, whatever its session still makes.
    if sight.glimpse.pull.is_some() && !has_merged(delivery) {
        delivery.task.pull.clone_from(&sight.glimpse.pull);
    }
    let by_jules = moving.rules.plan_by == PlanBy::Jules;
    let is_planning = delivery.phase == Phase::Plan && delivery.children.is_empty();
    // Its session shows the rejected one until there is another, whatever it does meanwhile.
    let rejected = delivery.task.rejected_plan.as_ref();
    let is_asked_for = by_jules && is_planning;
    let shown = sight.plan.as_ref().filter(|_| is_asked_for);
    if let Some(plan) = shown.filter(|plan| Some(&plan.id) != rejected) {
        let is_other = delivery.plan.as_ref().is_some_and(|shown| shown != plan);
        delivery.plan = Some(plan.clone());
        let mut newest_first = delivery.runs.iter_mut().rev();
        let planned = newest_first.find(|run| run.mode == Mode::Plan);
        if let (Some(run), Some(text)) = (planned, &sight.plan_summary) {
            run.summary = Some(as_summary(text));
        }
        // No person has seen this one: its approval is asked for anew.
        if is_other && delivery.run_status == RunStatus::Succeeded {
            moving.ask(RunStatus::Running);
        }
    }
    moving.done_by(&sight.glimpse.job, sight.session.as_ref());
    said(moving, sight);
}

/// What a session that rests said last is what came of its run. What it said before its last message from us is of an
/// earlier run.
fn said(moving: &mut Moving<'_>, sight: &JobSight) {
    let rests = match &sight.glimpse.work {
        SessionWork::Resting(_) => true,
        SessionWork::Waiting
        | SessionWork::Working
        | SessionWork::Asking
        | SessionWork::Planned(_)
        | SessionWork::Ended(_) => false,
    };
    let said = sight.said.as_ref().filter(|_| rests);
    let Some(said) = said.filter(|said| !is_stale(&moving.delivery, Some(said.at))) else {
        return;
    };
    let text = as_summary(&said.text);
    let made = moving.open_run().filter(|run| run.mode == Mode::Implement);
    if let Some(run) = made.filter(|_| !text.trim().is_empty()) {
        run.summary = Some(text);
    }
}

fn pull(moving: &mut Moving<'_>, glimpse: &PullGlimpse, read_at: Timestamp) {
    let delivery = &mut moving.delivery;
    if delivery.task.pull.as_ref() != Some(&glimpse.pull) {
        if delivery.task.earlier_pull.as_ref() == Some(&glimpse.pull) {
            earlier_pull(moving, glimpse, read_at);
        }
        return;
    }
    // What is merged stays merged, whatever a lagging reading shows.
    if has_merged(delivery) && !shows_merge(glimpse) {
        return;
    }
    delivery.seen.pull = Some(glimpse.clone());
    // Checks that run again may fail again, and no retry of the merge goes past those that still fail.
    let is_red = glimpse.checks == super::Checks::GivenUp;
    let is_still_red = delivery.phase == Phase::Verify && read_at > history::since(delivery);
    if !is_red || is_still_red || glimpse.head != delivery.task.forgiven {
        delivery.task.forgiven = None;
    }
}

/// What the attempt before made was merged by a person, or was not although the issue is closed.
fn earlier_pull(moving: &mut Moving<'_>, glimpse: &PullGlimpse, read_at: Timestamp) {
    let delivery = &mut moving.delivery;
    if shows_merge(glimpse) {
        if !has_merged(delivery) {
            earlier_merged(moving, glimpse);
        }
        return;
    }
    delivery.task.earlier_unmerged = match &delivery.trouble {
        Some(IssueTrouble::Closed { at, .. }) => is_known_since(glimpse, read_at, *at),
        Some(IssueTrouble::Unreadable(_) | IssueTrouble::LeftOpen(_)) | None => false,
    };
}

/// A person merged what the attempt before made: that is what the delivery came to. The present attempt is not needed
/// any more, and what it has made so far is closed with a pointer.
fn earlier_merged(moving: &mut Moving<'_>, glimpse: &PullGlimpse) {
    let delivery = &mut moving.delivery;
    let task = &mut delivery.task;
    task.earlier_pull = task.pull.replace(glimpse.pull.clone());
    let present = task.job.clone();
    delivery.seen.pull = Some(glimpse.clone());
    refs::add(&mut delivery.refs, refs::output(&glimpse.pull));
    if let Some(present) = present {
        moving.leave(present);
    }
}

fn issue(moving: &mut Moving<'_>, sight: &IssueSight) {
    moving.delivery.trouble = match &sight.state {
        IssueState::Open => None,
        IssueState::Unreadable(why) => {
            Some(IssueTrouble::Unreadable(presentable(why, WHY_CHARS_MAX)))
        }
        // Closed before, and still: it counts from when that was first read.
        IssueState::Closed(by) => match moving.delivery.trouble.take() {
            Some(IssueTrouble::Closed { at, by }) => Some(IssueTrouble::Closed { at, by }),
            Some(IssueTrouble::Unreadable(_) | IssueTrouble::LeftOpen(_)) | None => {
                Some(IssueTrouble::Closed {
                    at: sight.read_at,
                    by: by.as_deref().map(|by| presentable(by, 80)),
                })
            }
        },
    };
}

/// A closed issue closes its delivery, unless there is a pull request that may have been merged. A session that was
/// not read since may have one.
fn issue_closed(moving: &mut Moving<'_>, session_read_at: Option<Timestamp>) {
    let (closed_at, by) = match &moving.delivery.trouble {
        Some(IssueTrouble::Closed { at, by }) => (*at, Actor::on_github(by.as_deref())),
        Some(IssueTrouble::Unreadable(_) | IssueTrouble::LeftOpen(_)) | None => return,
    };
    if is_merged(moving) || moving.delivery.phase > Phase::Verify {
        moving.delivery.trouble = None;
        return;
    }
    let is_read = session_read_at.is_some_and(|at| at >= closed_at);
    // What was split has its pull requests in its parts.
    let is_whole = moving.delivery.children.is_empty();
    let is_known = is_whole && (is_read || !has_session(&moving.delivery));
    let task = &moving.delivery.task;
    // A merge of what the attempt before made closes the issue, too.
    let may_be_earlier = task.earlier_pull.is_some() && !task.earlier_unmerged;
    if is_known && task.pull.is_none() && !may_be_earlier {
        moving.close(Closed::IssueClosed, &by);
    }
}

/// The merge of one part closes the issue of them all, and the others go on. A closed issue closes what was split only
/// once each part was read since, and none of them is merged.
fn parts_read(moving: &mut Moving<'_>, sight: PartsSight) {
    // What was not split has a pull request of its own, which tells.
    if moving.delivery.children.is_empty() {
        return;
    }
    let (closed_at, by) = match &moving.delivery.trouble {
        Some(IssueTrouble::Closed { at, by }) => (*at, Actor::on_github(by.as_deref())),
        Some(IssueTrouble::Unreadable(_) | IssueTrouble::LeftOpen(_)) | None => return,
    };
    if sight.is_any_merged {
        moving.delivery.trouble = None;
    } else if sight.read_at.is_some_and(|at| at >= closed_at) {
        moving.close(Closed::IssueClosed, &by);
    }
}

/// Whether there is a session whose job is not over.
fn has_session(delivery: &Delivery) -> bool {
    match delivery.job_seen().map(|job| &job.work) {
        Some(
            SessionWork::Working
            | SessionWork::Asking
            | SessionWork::Planned(_)
            | SessionWork::Resting(_),
        ) => true,
        Some(SessionWork::Waiting | SessionWork::Ended(_)) | None => false,
    }
}

fn child(moving: &mut Moving<'_>, id: &DeliveryId, state: ChildState) {
    let mut children = moving.delivery.children.iter_mut();
    if let Some(child) = children.find(|child| child.id == *id)
        && child.state != ChildState::Closed
    {
        child.state = state;
    }
}

/// Whether the session that reviews asks something.
fn reviewer(moving: &mut Moving<'_>, sight: &ReviewSight) {
    moving.done_by(&sight.job, sight.session.as_ref());
    let asked = moving.delivery.review.asked.as_mut();
    if let Some(asked) = asked.filter(|asked| asked.job.as_ref() == Some(&sight.job)) {
        asked.has_question = sight.state == ReviewState::Asking;
    }
}

/// The session that reviews came to an end, or to a question.
fn reviewed(moving: &mut Moving<'_>, sight: &ReviewSight) {
    let (phase, status) = moving.at();
    let is_open = phase == Phase::Review && status.is_under_way();
    let asked = moving.delivery.review.asked.clone();
    let asked = asked.filter(|asked| asked.job.as_ref() == Some(&sight.job));
    let Some(asked) = asked.filter(|_| is_open) else {
        return;
    };
    // What it says is about the head that it was asked about.
    if moving.delivery.head() != Some(&asked.head) {
        return;
    }
    // What it said after its question was answered counts at once.
    super::progress::asks(moving);
    if moving.delivery.run_status == RunStatus::Blocked {
        return;
    }
    let by = Actor::agent("jules");
    match &sight.state {
        ReviewState::Working | ReviewState::Asking => {}
        ReviewState::Failed(why) => moving.fail(Fault::ReviewFailed, why, &by),
        ReviewState::Said(text) => match review::parse(text) {
            Ok(output) => {
                if output.verdict == Verdict::NotPass {
                    moving.delivery.feedback.clone_from(&output.feedback);
                }
                let note = Some(output.summary.as_str());
                moving.judge(output.verdict, &asked.head, &by, note);
            }
            Err(odd) => moving.fail(Fault::MalformedReview, &odd.to_string(), &by),
        },
    }
}

/// What deploys or observes has news.
fn provider(moving: &mut Moving<'_>, phase: Phase, report: &ProviderReport) {
    if moving.delivery.phase != phase || !phase_is_provided(phase) {
        return;
    }
    let fault = if phase == Phase::Deploy {
        Fault::DeployFailed
    } else {
        Fault::ObserveFailed
    };
    let status = moving.delivery.run_status;
    let is_open = status == RunStatus::Pending || status.is_under_way();
    if !is_open {
        return;
    }
    let report = in_time(&moving.delivery, report, moving.now);
    // Also what has ended when it is read first was run.
    if status == RunStatus::Pending && report != ProviderReport::Nothing {
        let awaited_since = history::since(&moving.delivery);
        moving.run(phase, &Actor::System);
        if let Some(run) = moving.delivery.runs.last_mut() {
            run.created_at = awaited_since;
        }
    }
    match report {
        ProviderReport::Nothing | ProviderReport::Running => {}
        ProviderReport::Good if super::progress::is_soaking(moving) => {}
        ProviderReport::Good => {
            let awaited = awaited(moving.rules, phase);
            moving.succeed(&Actor::System, Some(&awaited));
        }
        ProviderReport::Bad(why) => moving.fail(fault, &why, &Actor::System),
    }
}

/// What was awaited, and came to a good end.
fn awaited(rules: &Rules, phase: Phase) -> String {
    if phase == Phase::Observe {
        return format!("observed: {}", rules.observe);
    }
    match &rules.deploy {
        Deploy::None => "nothing was deployed".to_owned(),
        Deploy::Workflow { file, .. } => format!("deployed by a run of `{file}`"),
        Deploy::Deployment { environment } => format!("deployed to `{environment}`"),
    }
}

fn phase_is_provided(phase: Phase) -> bool {
    match phase {
        Phase::Deploy | Phase::Observe => true,
        Phase::Intake
        | Phase::Plan
        | Phase::Implement
        | Phase::Review
        | Phase::Verify
        | Phase::Close => false,
    }
}
