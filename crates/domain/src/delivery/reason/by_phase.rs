//! What a delivery says of where it is, by its phase.

use jiff::Timestamp;

use super::{WordedReason, reason, worded};
use crate::delivery::lateness::{
    AGENT_ACTS_FOR, deployed_due, held_since, is_stale, plan_due, planner, result_due,
};
use crate::delivery::verify::is_read_again;
use crate::delivery::{
    ChildState, Closed, Delivery, Deploy, Failed, Fault, Phase, PlanBy, ReviewBy, RunStatus,
    SessionWork, history, legal,
};
use crate::job::{self, WaitParty};
use crate::when::plus;

/// Why it is in its phase.
pub(super) fn first(delivery: &Delivery, who: WaitParty) -> WordedReason {
    let phase = delivery.phase;
    if delivery.awaits_start() {
        return reason("awaits_start", "A person is awaited to start it.");
    }
    if delivery.awaits_approval() {
        let sentence = format!("The phase {phase} is done, and a person is awaited to approve it.");
        return reason("awaits_approval", sentence);
    }
    if let Some(error) = &delivery.error {
        return failed(delivery, error);
    }
    if delivery.run_status == RunStatus::Blocked {
        return blocked(delivery);
    }
    match phase {
        Phase::Intake => reason("taken_in", "It was taken in."),
        Phase::Plan => planning(delivery, who),
        Phase::Implement => implementing(delivery),
        Phase::Review => reviewing(delivery, who),
        Phase::Verify => verifying(delivery),
        Phase::Deploy => deploying(delivery),
        Phase::Observe => {
            let sentence = format!("What was deployed is observed: {}.", delivery.rules.observe);
            reason("observing", sentence)
        }
        Phase::Close => {
            let how = delivery.closed.unwrap_or(Closed::Finished);
            reason("closed", how.sentence(legal::is_merged(delivery)))
        }
    }
}

/// What is asked. A delivery is asked for its approval at a checkpoint, so a plan blocks only a job that is shown as one,
/// which tells of it in its own words.
fn blocked(delivery: &Delivery) -> WordedReason {
    if delivery.shows_bare_job() && delivery.phase == Phase::Plan {
        let (code, sentence) = job::plan_open(history::since(delivery));
        return worded(code, sentence, "A plan waits for approval.");
    }
    let sentence = match delivery.reviewing_job() {
        Some(job) => format!("A question of the session that reviews it is open: job {job}."),
        None => "A question of its session is open.".to_owned(),
    };
    worded("blocked", sentence, "A question of a session is open.")
}

fn failed(delivery: &Delivery, error: &Failed) -> WordedReason {
    // A job is over then, and nothing of it failed.
    if delivery.shows_bare_job() && error.code == Fault::Canceled {
        return reason(error.code.word(), "It was cancelled.");
    }
    let phase = delivery.phase;
    let failed = format!("The phase {phase} failed: {}", error.text);
    let sentence = match way_on(delivery) {
        Some(way) => format!("{}. {way}", failed.trim_end_matches('.')),
        None => failed,
    };
    WordedReason {
        code: error.code.word(),
        sentence,
        public: format!("The phase {phase} failed: {}.", error.code.what()),
    }
}

/// What else a person can do about a failure than to try the same again.
fn way_on(delivery: &Delivery) -> Option<&'static str> {
    if delivery.has_used_rounds() {
        return Some(
            "A person's retry with a reason sends it back to implement; without one the same change is reviewed again.",
        );
    }
    if legal::is_merged(delivery) {
        return Some(
            "Its change is merged. Mend it and retry the phase, or cancel the delivery, which closes it as it is.",
        );
    }
    let code = delivery.error.as_ref().map(|error| error.code);
    if code == Some(Fault::MessageRefused) {
        return Some("A retry begins another session, which is told the same.");
    }
    if code == Some(Fault::ApprovalRefused) {
        return Some("A retry begins another session, whose plan is approved then.");
    }
    let is_cancelled = delivery.phase == Phase::Review && code == Some(Fault::Canceled);
    let has_no_verdict = matches!(code, Some(Fault::ReviewFailed | Fault::MalformedReview));
    (has_no_verdict || is_cancelled)
        .then_some("A person may give the verdict, or retry the review.")
}

fn deploying(delivery: &Delivery) -> WordedReason {
    let sentence = match &delivery.rules.deploy {
        Deploy::None => return reason("deploying", "Nothing is deployed."),
        Deploy::Workflow { file, branch } => {
            format!(
                "A run of `{file}` on `{branch}` is awaited, of a commit that holds the change."
            )
        }
        Deploy::Deployment { environment } => match history::deploy_failed_at(delivery) {
            None => format!("A deployment to `{environment}` is awaited."),
            Some(_) => format!(
                "Another deployment to `{environment}` is awaited, or a new status of the one that failed."
            ),
        },
    };
    let sentence = match (deployed_due(delivery), held_since(delivery)) {
        (Some(at), None) => {
            format!("{sentence} The phase fails at {at} unless its end is reported.")
        }
        (Some(at), Some(_)) => format!(
            "{sentence} It cannot be started: the name of the repository leads to another one, or to none that can be read. The phase fails at {at} unless that changes."
        ),
        (None, _) => sentence,
    };
    worded("deploying", sentence, "Its deployment is awaited.")
}

/// What is said while no session is there that could do anything.
const TO_BE_CREATED: &str = "Its session has yet to be created.";

fn has_session(delivery: &Delivery) -> bool {
    let work = delivery.job_seen().map(|job| &job.work);
    work.is_some_and(|work| *work != SessionWork::Waiting)
}

fn planning(delivery: &Delivery, who: WaitParty) -> WordedReason {
    if !delivery.children.is_empty() {
        let open = delivery.children.iter();
        let open = open.filter(|child| match child.state {
            ChildState::Open | ChildState::Failed => true,
            ChildState::Closed | ChildState::Cancelled | ChildState::Abandoned => false,
        });
        let sentence = match (delivery.children.len(), open.count()) {
            (1, 0) => "It was split into 1 part, which is not open.".to_owned(),
            (1, _) => "It was split into 1 part, which is open.".to_owned(),
            (all, open) => format!("It was split into {all} parts, {open} of them open."),
        };
        let public = "It was split into parts, which are awaited.";
        return worded("parts_open", sentence, public);
    }
    match planner(delivery) {
        PlanBy::Jules => {
            let sentence = match has_session(delivery) {
                true => "Its session makes a plan.",
                false => TO_BE_CREATED,
            };
            worded("planning", sentence, "The plan of its session is awaited.")
        }
        PlanBy::Agent | PlanBy::Human => {
            let sentence = awaited(who, "send a plan", plan_due(delivery));
            worded("awaits_plan", sentence, "Its plan is awaited.")
        }
    }
}

fn implementing(delivery: &Delivery) -> WordedReason {
    let change = "The change of its session is awaited.";
    let is_untold = match delivery.job_seen().map(|job| &job.work) {
        Some(SessionWork::Resting(since)) => is_stale(delivery, *since),
        Some(SessionWork::Ended(_)) => false,
        Some(SessionWork::Waiting) | None => return worded("implementing", TO_BE_CREATED, change),
        Some(SessionWork::Working | SessionWork::Asking | SessionWork::Planned(_)) => {
            return reason("implementing", change);
        }
    };
    let fails = |at| format!("the phase fails at {at} unless one appears.");
    let sentence = match result_due(delivery) {
        Some(at) if delivery.task.pull.is_none() => {
            format!("Its session ended without a pull request: {}", fails(at))
        }
        Some(at) => format!("Its session ended without a new commit: {}", fails(at)),
        None if is_untold => "Its session has yet to take up what it is told.".to_owned(),
        None => "Its session is finished; what came of it is awaited.".to_owned(),
    };
    let public = "The result of its session is awaited.";
    worded("awaits_result", sentence, public)
}

fn reviewing(delivery: &Delivery, who: WaitParty) -> WordedReason {
    let asked = delivery.review.asked.as_ref();
    let sentence = match asked.map(|asked| asked.by) {
        Some(ReviewBy::Agent | ReviewBy::Human) => {
            let until = asked.map(|asked| plus(asked.at, AGENT_ACTS_FOR));
            awaited(who, "review it", until)
        }
        Some(ReviewBy::Jules) => {
            let job = delivery.reviewing_job();
            let job = job.map_or_else(String::new, |job| format!(": job {job}"));
            format!("A session of Jules reviews it{job}.")
        }
        Some(ReviewBy::Nobody) | None => {
            return reason(
                "not_settled",
                "Its session and the checks of its head have to come to rest before it is reviewed.",
            );
        }
    };
    worded("reviewing", sentence, "Its review is awaited.")
}

/// What the agent is awaited to do until it is late, or a person.
fn awaited(who: WaitParty, what: &str, until: Option<Timestamp>) -> String {
    let is_agents = who == WaitParty::Agent;
    match until.filter(|_| is_agents) {
        Some(at) => format!("The agent is awaited to {what}, and from {at} on a person."),
        None if is_agents => format!("The agent is awaited to {what}."),
        None => format!("A person is awaited to {what}."),
    }
}

fn verifying(delivery: &Delivery) -> WordedReason {
    if is_read_again(delivery) {
        let sentence = "It was tried again although checks failed: they are read again, and it fails if they still do.";
        return reason("checks_read_again", sentence);
    }
    match delivery.run_status {
        RunStatus::Pending => reason("awaits_checks", "Checks of its pull request are awaited."),
        RunStatus::Running | RunStatus::Succeeded | RunStatus::Failed | RunStatus::Blocked => {
            reason("verifying", "The merge of its pull request is awaited.")
        }
    }
}
