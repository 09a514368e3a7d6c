//! What a delivery wants of others. It is computed at every look and carried out by the functions that orders use:
//! ids, causes and conditions make it harmless to want a thing twice.

use super::asks;
use super::failure::failed;
use super::want::{Purpose, Sight, Want, cause};
use super::{
    Actor, Approved, Asked, Child, ChildState, Closed, Delivery, Deploy, Fault, IssueTrouble,
    JobGlimpse, Phase, PlanBy, ReviewBy, RunStatus, SessionWork, TaskMessage,
};
use crate::event::{Audience, DeliveryAsk};
use crate::ids::{DeliveryId, EventId, JobId, PullRef};

/// What a delivery wants now.
pub fn wants(delivery: &Delivery, sight: &Sight) -> Vec<Want> {
    let mut wants = Vec::new();
    if let Some(by) = cancelled(delivery) {
        // A review or a merge that is cancelled keeps the finished session: a retry goes on with it.
        if delivery.is_terminal() || delivery.phase <= Phase::Implement {
            wants.extend(cancel_job(delivery, sight, &by));
        }
        wants.extend(call_off_children(delivery, sight, &by));
    } else if delivery.is_terminal() {
        wants.extend(leave_job(delivery, sight));
    } else {
        wants.extend(session(delivery, sight));
        wants.extend(prioritise(delivery, sight));
        wants.extend(children(delivery, sight));
        wants.extend(review(delivery, sight));
        wants.extend(provider(delivery));
    }
    wants.extend(cancel_leftovers(delivery, sight));
    wants.extend(pull(delivery, sight));
    wants.extend(read_parts(delivery, sight));
    wants.extend(failed(delivery));
    wants.extend(asks::asks(delivery));
    wants.extend(asks::asks_merge(delivery));
    wants.extend(asks::tell(delivery));
    let is_done = matches!(
        delivery.closed,
        Some(Closed::Finished | Closed::PartsClosed | Closed::MergedOnly)
    );
    let issue = delivery
        .issue
        .as_ref()
        .filter(|_| is_done && sight.issue_open);
    wants.extend(issue.cloned().map(|issue| Want::CloseIssue { issue }));
    wants
}

/// Who cancelled it, if it was cancelled.
fn cancelled(delivery: &Delivery) -> Option<Actor> {
    let is_closed = matches!(
        delivery.closed,
        Some(Closed::IssueClosed | Closed::Cancelled | Closed::Abandoned)
    );
    let canceled = delivery.error.as_ref();
    let is_canceled = canceled.is_some_and(|error| error.code == Fault::Canceled);
    let last = delivery.phase_runs.last();
    last.filter(|_| is_closed || is_canceled)
        .map(|span| span.actor.clone())
}

/// The events by which it asks for what it waits for now; those of earlier times are over.
pub fn open_events(delivery: &Delivery) -> Vec<EventId> {
    let wanted = review(delivery, &Sight::default()).into_iter();
    let wanted = wanted
        .chain(asks::asks(delivery))
        .chain(asks::approval(delivery));
    let wanted = wanted.chain(failed(delivery));
    let event = |want: Want| match want {
        Want::Ask { cause, .. } | Want::TellFailed { cause, .. } => {
            Some(EventId::from_name(&cause))
        }
        Want::CreateJob { .. }
        | Want::RetryJob { .. }
        | Want::ApprovePlan { .. }
        | Want::Say { .. }
        | Want::CancelJob { .. }
        | Want::LeaveJob { .. }
        | Want::PrioritiseJob { .. }
        | Want::ApprovePull { .. }
        | Want::ReadSession { .. }
        | Want::ReadPull { .. }
        | Want::ClosePull { .. }
        | Want::CreateChild { .. }
        | Want::ReadPart { .. }
        | Want::CancelChild { .. }
        | Want::DispatchWorkflow { .. }
        | Want::AskProvider { .. }
        | Want::Tell { .. }
        | Want::CloseIssue { .. } => None,
    };
    wanted.filter_map(event).collect()
}

/// The job, if it exists and is not over.
fn live<'a>(delivery: &Delivery, sight: &'a Sight) -> Option<&'a JobGlimpse> {
    let is_ours = |job: &&JobGlimpse| Some(&job.job) == delivery.task.job.as_ref();
    let job = sight.job.as_ref().filter(is_ours)?;
    match job.work {
        SessionWork::Ended(_) => None,
        SessionWork::Waiting | SessionWork::Working | SessionWork::Asking => Some(job),
        SessionWork::Planned(_) | SessionWork::Resting(_) => Some(job),
    }
}

fn cancel_job(delivery: &Delivery, sight: &Sight, by: &Actor) -> Option<Want> {
    live(delivery, sight).map(|job| Want::CancelJob {
        job: job.job.clone(),
        by: by.clone(),
    })
}

/// Jobs that the delivery does not need any more.
fn cancel_leftovers(delivery: &Delivery, sight: &Sight) -> Vec<Want> {
    let by = cancelled(delivery).unwrap_or(Actor::System);
    let cancel = |job: &JobId| Want::CancelJob {
        job: job.clone(),
        by: by.clone(),
    };
    sight.leftovers_open.iter().map(cancel).collect()
}

/// An endpoint before the merge touches neither pull request nor session.
fn leave_job(delivery: &Delivery, sight: &Sight) -> Option<Want> {
    let is_left = delivery.closed == Some(Closed::Finished) && !delivery.endpoint.merges();
    let job = live(delivery, sight).filter(|_| is_left)?;
    Some(Want::LeaveJob {
        job: job.job.clone(),
    })
}

fn session(delivery: &Delivery, sight: &Sight) -> Option<Want> {
    let task = &delivery.task;
    // One that is not needed any more is cancelled with the others of its kind.
    let is_left = |job: &JobId| delivery.leftovers.contains(job);
    let job = task.job.clone().filter(|job| !is_left(job))?;
    if !delivery.children.is_empty() {
        return cancel_job(delivery, sight, &Actor::System);
    }
    let by_jules = delivery.rules.plan_by == PlanBy::Jules;
    let is_running = delivery.run_status.is_under_way();
    let works = match delivery.phase {
        Phase::Plan => by_jules && is_running,
        Phase::Implement => is_running,
        Phase::Intake
        | Phase::Review
        | Phase::Verify
        | Phase::Deploy
        | Phase::Observe
        | Phase::Close => false,
    };
    let seen = sight.job.as_ref().filter(|seen| seen.job == job);
    let Some(seen) = seen else {
        let purpose = Purpose::Work;
        return works.then_some(Want::CreateJob { job, purpose });
    };
    if seen.attempt < task.attempt {
        let start_over = live(delivery, sight).is_some();
        if works {
            return Some(Want::RetryJob {
                job,
                attempt: task.attempt,
                reason: delivery.feedback.as_deref().map(super::commands::as_reason),
                start_over,
            });
        }
        // What it works on was given up, and the next plan is not there yet.
        let given_up = start_over && delivery.phase == Phase::Plan;
        return given_up.then_some(Want::CancelJob {
            job,
            by: Actor::System,
        });
    }
    live(delivery, sight)?;
    say(delivery, seen).or_else(|| approve_plan(delivery, seen))
}

/// A job that waits for a slot waits by the present priority of its delivery.
fn prioritise(delivery: &Delivery, sight: &Sight) -> Option<Want> {
    let priority = delivery.priority;
    let job = delivery.task.job.clone()?;
    let is_other = sight.waits_by.is_some_and(|present| present != priority);
    is_other.then_some(Want::PrioritiseJob { job, priority })
}

/// The last message, until it was said.
fn say(delivery: &Delivery, seen: &JobGlimpse) -> Option<Want> {
    let message = unsent(delivery, seen)?;
    let is_waiting = seen.work == SessionWork::Waiting;
    let text = Some(message.text.clone()).filter(|text| !text.is_empty());
    (!is_waiting).then(|| Want::Say {
        job: seen.job.clone(),
        phase: delivery.phase,
        text,
        cause: message_cause(delivery, message),
    })
}

/// The last message while it has yet to be said.
fn unsent<'a>(delivery: &'a Delivery, seen: &JobGlimpse) -> Option<&'a TaskMessage> {
    let is_working = matches!(delivery.phase, Phase::Plan | Phase::Implement);
    let is_open = is_working && delivery.run_status.is_under_way();
    let message = delivery.task.message.as_ref().filter(|_| is_open)?;
    (!message.is_sent(seen)).then_some(message)
}

fn message_cause(delivery: &Delivery, message: &TaskMessage) -> String {
    format!("{}{}", delivery.id.message_prefix(), message.round)
}

/// The cause of the message to its session that has yet to be sent, as far as was seen.
pub fn unsent_cause(delivery: &Delivery) -> Option<String> {
    let message = unsent(delivery, delivery.job_seen()?)?;
    Some(message_cause(delivery, message))
}

/// Behind its plan phase, a delivery approves whatever plan its session makes.
fn approve_plan(delivery: &Delivery, seen: &JobGlimpse) -> Option<Want> {
    let SessionWork::Planned(plan) = &seen.work else {
        return None;
    };
    let is_approved = delivery.phase > Phase::Plan && delivery.run_status != RunStatus::Failed;
    let spans = delivery.phase_runs.iter().rev();
    let mut begun = spans.filter(|span| span.phase == Phase::Implement);
    let by = begun
        .next()
        .map_or(Actor::System, |span| span.actor.clone());
    is_approved.then(|| Want::ApprovePlan {
        job: seen.job.clone(),
        plan: plan.clone(),
        by,
    })
}

fn review(delivery: &Delivery, sight: &Sight) -> Option<Want> {
    // Also while a question of its session is open.
    let is_open = delivery.phase == Phase::Review && delivery.run_status.is_under_way();
    let asked = delivery.review.asked.as_ref().filter(|_| is_open)?;
    let (pull, head) = (delivery.task.pull.clone()?, asked.head.clone());
    match asked.by {
        ReviewBy::Agent => Some(review_of(delivery, pull, asked, Audience::Agent)),
        ReviewBy::Human => Some(review_of(delivery, pull, asked, Audience::Human)),
        ReviewBy::Jules if sight.review_job => Some(Want::ApprovePlan {
            job: asked.job.clone()?,
            plan: sight.review_plan.clone()?,
            by: Actor::System,
        }),
        ReviewBy::Jules => Some(Want::CreateJob {
            job: asked.job.clone()?,
            purpose: Purpose::Review { pull, head },
        }),
        ReviewBy::Nobody => None,
    }
}

/// The same head is asked about anew when it is reviewed once more.
fn review_of(delivery: &Delivery, pull: PullRef, asked: &Asked, audience: Audience) -> Want {
    let whom = match audience {
        Audience::Agent => "agent",
        Audience::Human | Audience::Nobody => "human",
    };
    let (head, at) = (asked.head.clone(), asked.at.as_millisecond());
    let cause = format!("delivery:{}:review:{head}:{at}:{whom}", delivery.id);
    let ask = DeliveryAsk::Review { pull, head };
    Want::Ask {
        ask,
        audience,
        cause,
    }
}

fn pull(delivery: &Delivery, sight: &Sight) -> Vec<Want> {
    let mut wants = Vec::new();
    let is_closed = matches!(delivery.trouble, Some(IssueTrouble::Closed { .. }));
    let Some(pull) = delivery.task.pull.clone() else {
        // First: a merge of it closed the issue.
        let earlier = delivery.task.earlier_pull.clone();
        let earlier = earlier.filter(|_| is_closed && sight.earlier_pull_open);
        wants.extend(earlier.map(|pull| Want::ReadPull { pull }));
        let job = live(delivery, sight).filter(|_| is_closed);
        wants.extend(job.map(|job| Want::ReadSession {
            job: job.job.clone(),
        }));
        return wants;
    };
    if is_closed {
        wants.push(Want::ReadPull { pull: pull.clone() });
    }
    let approved = delivery.review.approved.as_ref();
    let is_here = delivery.phase == Phase::Verify && delivery.run_status != RunStatus::Failed;
    let approved = approved.filter(|it| is_here && delivery.head() == Some(&it.head));
    let is_given = |it: &&Approved| {
        let given = sight.approved.as_ref();
        given.is_some_and(|given| {
            given.sha == it.head && given.style == it.style && given.at >= it.at
        })
    };
    if let Some(approved) = approved.filter(|it| !is_given(it)) {
        wants.push(Want::ApprovePull {
            pull: pull.clone(),
            head: approved.head.clone(),
            by: approved.by.clone(),
            style: approved.style.clone(),
        });
    }
    let earlier = delivery.task.earlier_pull.as_ref();
    let earlier = earlier.filter(|earlier| sight.earlier_pull_open && **earlier != pull);
    if let Some(earlier) = earlier {
        wants.push(Want::ClosePull {
            pull: earlier.clone(),
            newer: pull,
        });
    }
    wants
}

fn children(delivery: &Delivery, sight: &Sight) -> Vec<Want> {
    let exists =
        |id: &DeliveryId| sight.children_open.contains(id) || sight.children_over.contains(id);
    let is_running = delivery.run_status.is_under_way();
    let all = delivery.children.iter();
    let missing = all.filter(|child| is_running && !exists(&child.id));
    let create = |child: &Child| Want::CreateChild {
        child: Box::new(child.clone()),
    };
    missing.map(create).collect()
}

/// Whether the merge of a part closed the issue is told by the parts.
fn read_parts(delivery: &Delivery, sight: &Sight) -> Vec<Want> {
    let is_closed = matches!(delivery.trouble, Some(IssueTrouble::Closed { .. }));
    let open = sight.children_open.iter().filter(|_| is_closed);
    open.map(|id| Want::ReadPart { id: id.clone() }).collect()
}

fn call_off_children(delivery: &Delivery, sight: &Sight, by: &Actor) -> Vec<Want> {
    let all = delivery.children.iter();
    let open = all.filter(|child| {
        child.state != ChildState::Closed && sight.children_open.contains(&child.id)
    });
    let call_off = |child: &Child| Want::CancelChild {
        id: child.id.clone(),
        by: by.clone(),
    };
    open.map(call_off).collect()
}

fn provider(delivery: &Delivery) -> Vec<Want> {
    let phase = delivery.phase;
    let is_pending = delivery.run_status == RunStatus::Pending;
    let is_open = is_pending || delivery.run_status == RunStatus::Running;
    let asked = match phase {
        Phase::Deploy | Phase::Observe => is_open,
        Phase::Intake
        | Phase::Plan
        | Phase::Implement
        | Phase::Review
        | Phase::Verify
        | Phase::Close => false,
    };
    let ask = asked.then_some(Want::AskProvider { phase });
    let dispatch = match &delivery.rules.deploy {
        Deploy::Workflow { file, branch } if phase == Phase::Deploy && is_pending => {
            Some(Want::DispatchWorkflow {
                file: file.clone(),
                branch: branch.clone(),
                cause: cause(delivery),
            })
        }
        Deploy::Workflow { .. } | Deploy::Deployment { .. } | Deploy::None => None,
    };
    dispatch.into_iter().chain(ask).collect()
}

/// The name in which a delivery gives orders to its job.
pub fn order_giver(delivery: &DeliveryId, by: &Actor) -> String {
    match by {
        Actor::System => format!("delivery {delivery}"),
        Actor::Agent(_) | Actor::Person(_) => format!("{by} through delivery {delivery}"),
    }
}
