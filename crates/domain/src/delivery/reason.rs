//! Why a delivery is where it is, as far as its own record tells: a code for programs and a sentence for people.
//! What its job and its pull request wait for is told by them.

use jiff::Timestamp;

use super::due::{AGENT_ACTS_FOR, awaits_person, plan_due, planner, result_due};
use super::progress::is_stale;
use super::waits::is_read_again;
use super::{
    Child, ChildState, Closed, Delivery, Deploy, Failed, Fault, IssueTrouble, Phase, PlanBy,
    REFUSALS_MAX, ReviewBy, RunStatus, Want, Work, history, legal, wants,
};
use crate::event::Audience;
use crate::ids::AgentName;
use crate::job::{self, WaitParty};
use crate::pull::REOPEN_WAIT;
use crate::when::plus;

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub sentence: String,
}

/// One reason in two wordings.
struct WordedReason {
    code: &'static str,
    /// For people who look at Gaffer: also in the words of others, and with what they can do.
    sentence: String,
    /// For everybody who reads the issue, people and agents: only our own words, which ask for nothing.
    public: String,
}

/// A reason that is the same for all.
fn reason(code: &'static str, sentence: impl Into<String>) -> WordedReason {
    let sentence = sentence.into();
    WordedReason {
        code,
        public: sentence.clone(),
        sentence,
    }
}

/// A reason with details for people who look at Gaffer.
fn detailed(code: &'static str, what: &str, words: &str) -> WordedReason {
    WordedReason {
        code,
        sentence: format!("{what}: {words}"),
        public: format!("{what}."),
    }
}

/// Who is waited for. `woken` is the agent that would be woken: without one, a person is awaited in its place.
pub(super) fn waits_for(delivery: &Delivery, woken: Option<&AgentName>) -> WaitParty {
    match asked_party(delivery) {
        WaitParty::Agent if woken.is_none() => WaitParty::Person,
        who @ (WaitParty::Person
        | WaitParty::Agent
        | WaitParty::Jules
        | WaitParty::GitHub
        | WaitParty::Gaffer
        | WaitParty::Nobody) => who,
    }
}

/// Who was asked, whether or not the agent can be woken.
fn asked_party(delivery: &Delivery) -> WaitParty {
    if delivery.is_terminal() {
        return WaitParty::Nobody;
    }
    if is_left_to_agent(delivery) {
        return WaitParty::Agent;
    }
    if awaits_person(delivery) {
        return WaitParty::Person;
    }
    if delivery.run_status == RunStatus::Blocked {
        return WaitParty::Agent;
    }
    match delivery.phase {
        // A part that failed waits for a person, and so does what it is a part of.
        Phase::Plan if delivery.has_failed_part() => WaitParty::Person,
        Phase::Plan if !delivery.children.is_empty() => WaitParty::Gaffer,
        Phase::Plan => match planner(delivery) {
            PlanBy::Jules => WaitParty::Jules,
            PlanBy::Agent => WaitParty::Agent,
            PlanBy::Human => WaitParty::Person,
        },
        Phase::Implement => WaitParty::Jules,
        Phase::Review => match delivery.review.asked.as_ref().map(|asked| asked.by) {
            Some(ReviewBy::Agent) => WaitParty::Agent,
            Some(ReviewBy::Human) => WaitParty::Person,
            Some(ReviewBy::Jules) => WaitParty::Jules,
            Some(ReviewBy::Nobody) | None => WaitParty::GitHub,
        },
        Phase::Verify | Phase::Deploy => WaitParty::GitHub,
        Phase::Intake | Phase::Observe | Phase::Close => WaitParty::Gaffer,
    }
}

/// Whether its failure wakes the agent, and the agent may try again. Beyond the rounds of its review only a person takes
/// it further, and what was called off is taken up by people.
fn is_left_to_agent(delivery: &Delivery) -> bool {
    let wakes = matches!(
        wants::failed(delivery),
        Some(Want::TellFailed {
            audience: Audience::Agent,
            ..
        })
    );
    let is_for_people = delivery.has_used_rounds() || legal::is_called_off(delivery);
    wakes && !is_for_people && legal::agent_may_retry(delivery)
}

/// Why it is where it is, the decisive reason first. `woken` is the agent that would be woken.
pub fn reasons(delivery: &Delivery, woken: Option<&AgentName>) -> Vec<Reason> {
    let reason = |WordedReason { code, sentence, .. }| Reason { code, sentence };
    told(delivery, woken).into_iter().map(reason).collect()
}

/// The same in sentences for everybody who reads its issue: they repeat no words of others and ask for nothing.
pub(crate) fn public_sentences(delivery: &Delivery, woken: Option<&AgentName>) -> Vec<String> {
    let told = told(delivery, woken).into_iter();
    told.map(|it| it.public).collect()
}

fn told(delivery: &Delivery, woken: Option<&AgentName>) -> Vec<WordedReason> {
    let mut found = vec![first(delivery, waits_for(delivery, woken))];
    match &delivery.trouble {
        Some(IssueTrouble::Closed { .. }) if !delivery.is_terminal() => found.push(reason(
            "issue_closed",
            "Its issue is closed; its session and its pull request are read before that means anything.",
        )),
        Some(IssueTrouble::Unreadable(why)) => {
            let what = "Its issue cannot be read, so nothing is decided by it";
            found.push(detailed("issue_unreadable", what, why));
        }
        Some(IssueTrouble::LeftOpen(why)) => {
            let what = "Its issue could not be closed";
            found.push(detailed("issue_left_open", what, why));
        }
        Some(IssueTrouble::Closed { .. }) | None => {}
    }
    if let Some(refusal) = &delivery.refused {
        let (why, times) = (&refusal.why, refusal.times);
        let what = format!(
            "What it needs next was refused, {times} of {REFUSALS_MAX} times, after which the phase fails"
        );
        found.insert(0, detailed("refused", &what, why));
    }
    if let Some(closed) = closed_pull(delivery) {
        found.insert(0, closed);
    }
    found.extend(earlier_pull(delivery));
    found.extend(delivery.children.iter().filter_map(part));
    found
}

/// Whether its pull request says why it is where it is: what its own record tells of a merge is only that it is awaited.
pub fn is_told_by_pull(delivery: &Delivery) -> bool {
    let is_awaited = match delivery.run_status {
        RunStatus::Pending | RunStatus::Running => delivery.phase == Phase::Verify,
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Blocked => false,
    };
    let is_silent = delivery.refused.is_some() || is_read_again(delivery);
    is_awaited && !is_silent && closed_pull(delivery).is_none()
}

/// The pull request was closed a moment ago: until it counts as given up, nothing else is decisive.
fn closed_pull(delivery: &Delivery) -> Option<WordedReason> {
    let is_over = delivery.is_terminal() || delivery.run_status == RunStatus::Failed;
    let seen = delivery
        .pull_seen()
        .filter(|seen| seen.closed_at.is_some() && !is_over)?;
    let minutes = REOPEN_WAIT.as_mins();
    let what = format!("Its pull request {} was closed without a merge", seen.pull);
    let until = format!(
        "unless it is reopened within {minutes} minutes, the phase {} fails.",
        delivery.phase
    );
    Some(detailed("pull_request_closed", &what, &until))
}

/// The pull request of the attempt before, until there is another one.
fn earlier_pull(delivery: &Delivery) -> Option<WordedReason> {
    let earlier = delivery.task.earlier_pull.as_ref();
    let is_awaited = delivery.task.pull.is_none() && !delivery.is_terminal();
    let earlier = earlier.filter(|_| is_awaited)?;
    let seen = delivery.seen.pull.as_ref();
    if seen.is_some_and(|seen| seen.pull == *earlier && seen.end.is_some()) {
        return None;
    }
    let sentence = format!(
        "Pull request {earlier} is of the attempt before; it is closed once the next one is there, if it is still open then."
    );
    Some(reason("earlier_pull_request", sentence))
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
    let is_cancelled = delivery.phase == Phase::Review && code == Some(Fault::Canceled);
    let has_no_verdict = matches!(code, Some(Fault::ReviewFailed | Fault::MalformedReview));
    (has_no_verdict || is_cancelled)
        .then_some("A person may give the verdict, or retry the review.")
}

/// What is said of a part that did not just go on.
fn part(child: &Child) -> Option<WordedReason> {
    let (code, what) = match child.state {
        ChildState::Open | ChildState::Closed => return None,
        ChildState::Failed => ("part_failed", "failed"),
        ChildState::Cancelled => ("part_cancelled", "was cancelled with it"),
        ChildState::Abandoned => ("part_abandoned", "was given up"),
    };
    let what = format!("Its part {} {what}", child.id);
    Some(detailed(code, &what, &child.summary))
}

fn first(delivery: &Delivery, who: WaitParty) -> WordedReason {
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
        Phase::Deploy => match &delivery.rules.deploy {
            Deploy::None => reason("deploying", "Nothing is deployed."),
            Deploy::Workflow { file, .. } => {
                reason("deploying", format!("The run of `{file}` is awaited."))
            }
            Deploy::Deployment { environment } => {
                let sentence = match history::deploy_failed_at(delivery) {
                    None => format!("A deployment to `{environment}` is awaited."),
                    Some(_) => format!(
                        "Another deployment to `{environment}` is awaited, or a new status of the one that failed."
                    ),
                };
                reason("deploying", sentence)
            }
        },
        Phase::Observe => {
            let sentence = format!("What was deployed is observed: {}.", delivery.rules.observe);
            reason("observing", sentence)
        }
        Phase::Close => {
            let how = delivery.closed.unwrap_or(Closed::Finished);
            reason("closed", how.sentence())
        }
    }
}

/// What is asked. A delivery is asked for its approval at a checkpoint, so a plan blocks only a job that is shown as one,
/// which tells of it in its own words.
fn blocked(delivery: &Delivery) -> WordedReason {
    if delivery.shows_bare_job() && delivery.phase == Phase::Plan {
        let (code, sentence) = job::plan_open(history::since(delivery));
        return reason(code, sentence);
    }
    let sentence = match delivery.reviewing_job() {
        Some(job) => format!("A question of the session that reviews it is open: job {job}."),
        None => "A question of its session is open.".to_owned(),
    };
    reason("blocked", sentence)
}

fn failed(delivery: &Delivery, error: &Failed) -> WordedReason {
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

/// What is said while no session is there that could do anything.
const TO_BE_CREATED: &str = "Its session has yet to be created.";

fn has_session(delivery: &Delivery) -> bool {
    let work = delivery.job_seen().map(|job| &job.work);
    work.is_some_and(|work| *work != Work::Waiting)
}

fn planning(delivery: &Delivery, who: WaitParty) -> WordedReason {
    if !delivery.children.is_empty() {
        let open = delivery.children.iter();
        let open = open.filter(|child| match child.state {
            ChildState::Open | ChildState::Failed => true,
            ChildState::Closed | ChildState::Cancelled | ChildState::Abandoned => false,
        });
        let (open, all) = (open.count(), delivery.children.len());
        let sentence = format!("It was split into {all} parts, {open} of them open.");
        return reason("parts_open", sentence);
    }
    match planner(delivery) {
        PlanBy::Jules if !has_session(delivery) => reason("planning", TO_BE_CREATED),
        PlanBy::Jules => reason("planning", "Its session makes a plan."),
        PlanBy::Agent | PlanBy::Human => {
            let sentence = awaited(who, "send a plan", plan_due(delivery));
            reason("awaits_plan", sentence)
        }
    }
}

fn implementing(delivery: &Delivery) -> WordedReason {
    let is_untold = match delivery.job_seen().map(|job| &job.work) {
        Some(Work::Resting(since)) => is_stale(delivery, *since),
        Some(Work::Ended(_)) => false,
        Some(Work::Waiting) | None => return reason("implementing", TO_BE_CREATED),
        Some(Work::Working | Work::Asking | Work::Planned(_)) => {
            return reason("implementing", "The change of its session is awaited.");
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
    reason("awaits_result", sentence)
}

fn reviewing(delivery: &Delivery, who: WaitParty) -> WordedReason {
    let asked = delivery.review.asked.as_ref();
    match asked.map(|asked| asked.by) {
        Some(ReviewBy::Agent | ReviewBy::Human) => {
            let until = asked.map(|asked| plus(asked.at, AGENT_ACTS_FOR));
            reason("reviewing", awaited(who, "review it", until))
        }
        Some(ReviewBy::Jules) => {
            let job = delivery.reviewing_job();
            let job = job.map_or_else(String::new, |job| format!(": job {job}"));
            reason("reviewing", format!("A session of Jules reviews it{job}."))
        }
        Some(ReviewBy::Nobody) | None => reason(
            "not_settled",
            "Its session and the checks of its head have to come to rest before it is reviewed.",
        ),
    }
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
