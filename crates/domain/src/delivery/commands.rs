//! What commands do. Whether they are legal was asked before.

use super::create::{check_number_of_children, check_refs};
use super::legal;
use super::looked_at::{same_head, same_plan};
use super::moves::Moving;
use super::parts;
use super::refs;
use super::run::{Analysis, Mode, Performer, Run, RunResult};
use super::steps::let_go_on;
use super::text::{self, FEEDBACK_CHARS_MAX, Refused, TARGETS_MAX, What};
use super::{
    Act, Actor, Child, ChildState, Closed, Command, DeliveryPlan, Edit, Fault, Part, Phase, PlanBy,
    ReviewResult, RunStatus, SessionWork, TranscriptState, Verdict,
};
use crate::ids::{CommitSha, DeliveryId, JobId, PlanId, RunId, SessionId};
use crate::job::RETRY_REASON_CHARS_MAX;
use crate::pull::MergeStyle;
use crate::redact::presentable;

/// Does what a command says.
///
/// # Errors
/// When what it says is odd; then nothing may be kept of what was changed.
pub(super) fn carry_out(moving: &mut Moving<'_>, command: &Command) -> Result<(), Refused> {
    let by = &command.by;
    match &command.act {
        Act::Start => moving.run(Phase::Plan, by),
        Act::Approve { head, plan } => approve(moving, head.as_ref(), plan.as_ref(), by)?,
        Act::Reject { reason } => reject(moving, reason, by)?,
        Act::Retry { reason } => retry(moving, reason.as_deref(), by)?,
        Act::Cancel => cancel(moving, by),
        Act::Verdict(review) => verdict(moving, review, by)?,
        Act::Plan {
            content,
            target_files,
        } => plan(moving, content, target_files, by)?,
        Act::Split { children } => split(moving, children, by)?,
        Act::Merge { head, style } => merge(moving, head.as_ref(), style, by)?,
        Act::Edit(changes) => edit(moving, changes)?,
        Act::Collect {
            job,
            session,
            result,
        } => collect(moving, job, session.as_ref(), *result)?,
        Act::Analyse {
            run,
            text,
            suggestion,
        } => analyse(moving, run.as_ref(), text, suggestion.as_deref(), by)?,
    }
    Ok(())
}

fn approve(
    moving: &mut Moving<'_>,
    head: Option<&CommitSha>,
    plan: Option<&PlanId>,
    by: &Actor,
) -> Result<(), Refused> {
    let delivery = &moving.delivery;
    let reviewed = delivery.phase == Phase::Review;
    let present = if reviewed {
        delivery.review.head.clone()
    } else {
        delivery.head().cloned()
    };
    same_head(head, present.as_ref())?;
    same_plan(plan, delivery.plan.as_ref())?;
    if reviewed {
        let_go_on(moving, present, &MergeStyle::default(), by);
    }
    moving.go_on(by);
    Ok(())
}

/// What is under way fails; what is not is given up.
fn cancel(moving: &mut Moving<'_>, by: &Actor) {
    if legal::is_under_way(&moving.delivery) {
        moving.fail(Fault::Canceled, "", by);
    } else if legal::is_merged(&moving.delivery) {
        moving.close(Closed::MergedOnly, by);
    } else {
        moving.close(Closed::Abandoned, by);
    }
}

fn reject(moving: &mut Moving<'_>, reason: &str, by: &Actor) -> Result<(), Refused> {
    let reason = text::checked(What::Reason, reason)?;
    match moving.delivery.phase {
        Phase::Review => moving.send_back(Phase::Implement, Some(&reason), by),
        // What was made is given up, and another session begins with its plan.
        Phase::Implement => {
            moving.delivery.feedback = Some(reason);
            moving.another_attempt();
            moving.pend(Phase::Plan, by);
        }
        Phase::Plan
        | Phase::Intake
        | Phase::Verify
        | Phase::Deploy
        | Phase::Observe
        | Phase::Close => reject_plan(moving, &reason, by),
    }
    Ok(())
}

fn reject_plan(moving: &mut Moving<'_>, reason: &str, by: &Actor) {
    let seen = moving.delivery.job_seen().map(|job| job.work.clone());
    match moving.rules.plan_by {
        PlanBy::Jules => moving.send_back(Phase::Plan, Some(reason), by),
        PlanBy::Agent | PlanBy::Human => {
            moving.delivery.feedback = Some(reason.to_owned());
            moving.delivery.plan = None;
            moving.pend(Phase::Plan, by);
        }
    }
    if let Some(SessionWork::Planned(plan)) = seen {
        moving.delivery.task.rejected_plan = Some(plan);
    }
}

fn retry(moving: &mut Moving<'_>, reason: Option<&str>, by: &Actor) -> Result<(), Refused> {
    let reason = text::optional(What::Reason, reason)?;
    let phase = moving.delivery.phase;
    if reason.is_some() {
        legal::may_give_reason(&moving.delivery, by, moving.rules)?;
    }
    match phase {
        // What was closed or is gone has to be made anew.
        Phase::Review | Phase::Verify if moving.delivery.has_lost_session() => {
            moving.send_back(Phase::Implement, reason.as_deref(), by);
        }
        // A reason is for the session.
        Phase::Review | Phase::Verify if reason.is_some() => {
            moving.next_round(reason.as_deref(), by);
        }
        Phase::Plan if !moving.delivery.children.is_empty() => {
            let code = moving.delivery.error.as_ref().map(|error| error.code);
            if code == Some(Fault::PartsAbandoned) {
                parts::take_up_again(moving);
            }
            moving.pend(phase, by);
        }
        Phase::Plan if moving.rules.plan_by != PlanBy::Jules => {
            moving.delivery.feedback = reason.or(moving.delivery.feedback.take());
            moving.pend(phase, by);
        }
        Phase::Plan | Phase::Implement => moving.send_back(phase, reason.as_deref(), by),
        Phase::Verify | Phase::Review => {
            moving.delivery.task.forgiven = moving.delivery.head().cloned();
            moving.pend(phase, by);
        }
        Phase::Intake | Phase::Deploy | Phase::Observe | Phase::Close => moving.pend(phase, by),
    }
    Ok(())
}

/// A verdict about a review that failed is a review of its own, and what a retry forgives it forgives, too.
fn review_again(moving: &mut Moving<'_>, by: &Actor) {
    moving.delivery.task.forgiven = moving.delivery.head().cloned();
    moving.run(Phase::Review, by);
}

fn verdict(moving: &mut Moving<'_>, review: &ReviewResult, by: &Actor) -> Result<(), Refused> {
    let summary = text::optional(What::Summary, review.summary.as_deref())?;
    let feedback = match review.verdict {
        Verdict::NotPass => {
            let feedback = review.feedback.as_deref().unwrap_or_default();
            Some(text::checked(What::Feedback, feedback)?)
        }
        Verdict::Pass => text::optional(What::Feedback, review.feedback.as_deref())?,
    };
    same_head(Some(&review.head), moving.delivery.head())?;
    moving.delivery.feedback = feedback.or(moving.delivery.feedback.take());
    let has_failed = moving.delivery.run_status == RunStatus::Failed;
    if has_failed {
        review_again(moving, by);
    }
    moving.judge(review.verdict, &review.head, by, summary.as_deref());
    let is_last = moving.delivery.review_round >= moving.delivery.rules.review_rounds;
    if review.verdict == Verdict::NotPass && has_failed && is_last {
        let feedback = moving.delivery.feedback.clone();
        moving.next_round(feedback.as_deref(), by);
    }
    // A person who reviews is the person who is awaited.
    if review.verdict == Verdict::Pass && by.is_person() {
        let approved = Some(review.head.clone());
        let_go_on(moving, approved, &MergeStyle::default(), by);
        moving.go_on(by);
    }
    Ok(())
}

fn plan(
    moving: &mut Moving<'_>,
    content: &str,
    files: &[String],
    by: &Actor,
) -> Result<(), Refused> {
    let content = text::checked(What::Plan, content)?;
    let (most, longest) = TARGETS_MAX;
    let is_odd = |file: &String| {
        let length = file.trim().chars().count();
        let leads_out = file.starts_with('/') || file.split('/').any(|part| part == "..");
        length == 0 || length > longest || file.contains(char::is_control) || leads_out
    };
    if files.len() > most || files.iter().any(is_odd) {
        let sentence = format!(
            "`target_files` are at most {most} paths in the repository, of 1 to {longest} visible characters"
        );
        return Err(("odd_target_files", sentence));
    }
    for file in files {
        text::no_secret("target_files", file)?;
    }
    let summary = content.lines().next().unwrap_or_default().to_owned();
    let delivery = &mut moving.delivery;
    delivery.plan = Some(DeliveryPlan {
        id: PlanId::of_delivery(&delivery.id, delivery.runs.len()),
        content,
        generated_at: moving.now,
        model: None,
        cwd: None,
        target_files: files.to_vec(),
    });
    moving.performed_by(by);
    moving.succeed(by, Some(&summary));
    Ok(())
}

fn split(moving: &mut Moving<'_>, parts: &[Part], by: &Actor) -> Result<(), Refused> {
    check_number_of_children(parts.len())?;
    let id = moving.delivery.id.clone();
    let child = |(place, part): (usize, &Part)| {
        Ok(Child {
            id: DeliveryId::of_child(&id, place),
            summary: text::checked(What::Summary, &part.summary)?,
            acceptance_criteria: text::criteria(&part.acceptance_criteria)?,
            state: ChildState::Open,
        })
    };
    let children: Result<Vec<Child>, Refused> = parts.iter().enumerate().map(child).collect();
    let children = children?;
    let bytes = serde_json::to_string(&children).map_or(usize::MAX, |text| text.len());
    if bytes > CHILDREN_BYTES_MAX {
        let sentence =
            format!("the parts have {bytes} bytes together, at most {CHILDREN_BYTES_MAX}");
        return Err(("children_too_long", sentence));
    }
    moving.end_run(RunResult::Success, Some("it was split"));
    moving.delivery.children = children;
    match moving.delivery.run_status {
        RunStatus::Running => {}
        RunStatus::Blocked => moving.ask(RunStatus::Running),
        RunStatus::Pending | RunStatus::Succeeded | RunStatus::Failed => {
            moving.run(Phase::Plan, by);
        }
    }
    Ok(())
}

/// Longest text of all parts together, in bytes as JSON: they are kept in the record of their parent.
const CHILDREN_BYTES_MAX: usize = 12_000;

fn merge(
    moving: &mut Moving<'_>,
    head: Option<&CommitSha>,
    style: &MergeStyle,
    by: &Actor,
) -> Result<(), Refused> {
    let present = moving.delivery.head().cloned();
    same_head(head, present.as_ref())?;
    let_go_on(moving, present, style, by);
    Ok(())
}

fn edit(moving: &mut Moving<'_>, changes: &Edit) -> Result<(), Refused> {
    let summary = changes.summary.as_deref();
    let summary = summary.map(|text| text::checked(What::Summary, text));
    let summary = summary.transpose()?;
    let criteria = changes.acceptance_criteria.as_deref();
    let criteria = criteria.map(text::criteria).transpose()?;
    check_refs(&changes.refs)?;
    let delivery = &mut moving.delivery;
    if let Some(summary) = summary {
        delivery.summary = summary;
    }
    if let Some(criteria) = criteria {
        delivery.acceptance_criteria = criteria;
    }
    if let Some(priority) = changes.priority {
        delivery.priority = priority;
    }
    for reference in &changes.refs {
        refs::add(&mut delivery.refs, reference.clone());
    }
    Ok(())
}

fn collect(
    moving: &mut Moving<'_>,
    job: &JobId,
    session: Option<&SessionId>,
    result: RunResult,
) -> Result<(), Refused> {
    let delivery = &mut moving.delivery;
    let mut runs = delivery.runs.iter();
    if runs.any(|run| run.job.as_ref() == Some(job)) {
        let sentence = format!("job {job} belongs to the delivery already");
        return Err(("collected_already", sentence));
    }
    delivery.runs.push(Run {
        id: RunId::of_delivery(&delivery.id, delivery.runs.len()),
        mode: Mode::Execution,
        performer: Performer::Jules,
        status: result,
        job: Some(job.clone()),
        session: session.cloned(),
        attempt: delivery.attempt,
        head: None,
        created_at: moving.now,
        ended_at: Some(moving.now),
        summary: None,
        error: None,
        analysis: None,
        transcript: match session {
            Some(_) => TranscriptState::Pending,
            None => TranscriptState::None,
        },
        told_through: None,
        verdict: None,
    });
    Ok(())
}

fn analyse(
    moving: &mut Moving<'_>,
    run: Option<&RunId>,
    text: &str,
    suggestion: Option<&str>,
    by: &Actor,
) -> Result<(), Refused> {
    let text = text::checked(What::Analysis, text)?;
    let suggestion = text::optional(What::Analysis, suggestion)?;
    let runs = moving.delivery.runs.iter_mut().rev();
    let mut runs = runs.filter(|it| it.status == RunResult::Failed);
    let found = runs.find(|it| run.is_none_or(|run| it.id == *run));
    let Some(found) = found else {
        let sentence = "no failed run of the delivery has that id".to_owned();
        return Err(("no_such_run", sentence));
    };
    found.analysis = Some(Analysis {
        by: by.clone(),
        text,
        suggestion,
    });
    Ok(())
}

/// A reason as another session is told it.
pub(super) fn as_reason(text: &str) -> String {
    presentable(text, FEEDBACK_CHARS_MAX.min(RETRY_REASON_CHARS_MAX) - 1)
}
