//! How a delivery moves: every change of phase or status goes through here, so that each is a span with an actor, and
//! each execution a run.

use jiff::Timestamp;

use super::history;
use super::refs;
use super::run::{Mode, Performer, Run, RunResult, SUMMARY_CHARS_MAX};
use super::text::short;
use super::{
    Actor, CANCELED, Closed, Delivery, Failed, Fault, Phase, PlanBy, ReviewBy, Reviewing, Rules,
    RunStatus, SessionWork, Task, TaskMessage, TranscriptState, Verdict,
};
use crate::ids::{CommitSha, JobId, RunId, SessionId};

/// Number of jobs that are kept to be cancelled: each look cancels all of them.
const LEFTOVERS_MAX: usize = 8;

/// Longest error of a phase, in characters.
const ERROR_CHARS_MAX: usize = 300;

/// A delivery on the way to its next state.
pub(super) struct Moving<'a> {
    pub(super) delivery: Delivery,
    pub(super) rules: &'a Rules,
    pub(super) now: Timestamp,
    /// Whether a command ordered it: then the system's next phase is shown as pending first.
    pub(super) is_ordered: bool,
}

impl Moving<'_> {
    pub(super) fn at(&self) -> (Phase, RunStatus) {
        (self.delivery.phase, self.delivery.run_status)
    }

    /// Goes to a phase and a status. Only a review that succeeded has a verdict, only a failed phase an error.
    fn turn(&mut self, phase: Phase, status: RunStatus, by: &Actor) {
        let is_reviewed = (phase, status) == (Phase::Review, RunStatus::Succeeded);
        let delivery = &mut self.delivery;
        (delivery.phase, delivery.run_status) = (phase, status);
        delivery.verdict = delivery.verdict.filter(|_| is_reviewed);
        delivery.refused = None;
        if status != RunStatus::Failed {
            delivery.error = None;
        }
        history::turn(delivery, by, self.now);
    }

    /// Enters a phase: what an agent executes runs from here on, what the system does is pending.
    pub(super) fn enter(&mut self, phase: Phase, by: &Actor) {
        match phase {
            Phase::Plan | Phase::Implement | Phase::Review => self.run(phase, by),
            Phase::Verify | Phase::Deploy | Phase::Observe => {
                self.turn(phase, RunStatus::Pending, by);
            }
            Phase::Intake | Phase::Close => self.turn(phase, RunStatus::Succeeded, by),
        }
    }

    /// A phase is to be executed once more; an agent's begins in the same moment.
    pub(super) fn pend(&mut self, phase: Phase, by: &Actor) {
        self.turn(phase, RunStatus::Pending, by);
    }

    /// An execution of a phase begins.
    pub(super) fn run(&mut self, phase: Phase, by: &Actor) {
        self.end_run(RunResult::Failed, Some("what it was about has changed"));
        self.turn(phase, RunStatus::Running, by);
        if phase == Phase::Plan {
            self.delivery.started = true;
        }
        let by_jules = self.rules.plan_by == PlanBy::Jules;
        let is_split = !self.delivery.children.is_empty();
        let planned_here = phase == Phase::Plan && by_jules && !is_split;
        if planned_here {
            // The session makes another one.
            self.delivery.plan = None;
        }
        if planned_here || phase == Phase::Implement {
            self.want_session();
        }
        if phase == Phase::Review {
            self.delivery.review = Reviewing::default();
        }
        self.begin_run(phase);
    }

    fn begin_run(&mut self, phase: Phase) {
        // The parts of one that was split have runs of their own.
        let is_split = phase == Phase::Plan && !self.delivery.children.is_empty();
        let Some(mode) = Mode::of(phase).filter(|_| !is_split) else {
            return;
        };
        let performer = self.performer(phase);
        let delivery = &mut self.delivery;
        let by_task = performer == Performer::Jules && phase != Phase::Review;
        let job = delivery.task.job.clone().filter(|_| by_task);
        let session = job.as_ref().and_then(|job| session_of(delivery, job));
        delivery.runs.push(Run {
            id: RunId::of_delivery(&delivery.id, delivery.runs.len()),
            mode,
            performer,
            status: RunResult::Running,
            job,
            session,
            attempt: delivery.attempt,
            head: None,
            created_at: self.now,
            ended_at: None,
            summary: None,
            error: None,
            analysis: None,
            transcript: TranscriptState::None,
            told_through: None,
            verdict: None,
        });
    }

    pub(super) fn performer(&self, phase: Phase) -> Performer {
        match phase {
            Phase::Plan => match self.rules.plan_by {
                PlanBy::Jules => Performer::Jules,
                PlanBy::Agent => Performer::Agent,
                PlanBy::Human => Performer::Human,
            },
            Phase::Implement => Performer::Jules,
            Phase::Review => performer_of(self.rules.reviewer()),
            Phase::Intake | Phase::Verify | Phase::Deploy | Phase::Observe | Phase::Close => {
                Performer::System
            }
        }
    }

    /// The run that is under way.
    pub(super) fn open_run(&mut self) -> Option<&mut Run> {
        let last = self.delivery.runs.iter_mut().rev();
        let mut phases = last.filter(|run| run.mode != Mode::Execution);
        phases.next().filter(|run| run.status == RunResult::Running)
    }

    /// The session was seen that does what is under way.
    pub(super) fn done_by(&mut self, job: &JobId, session: Option<&SessionId>) {
        let open = self.open_run();
        if let Some(run) = open.filter(|run| run.job.as_ref() == Some(job)) {
            run.session = session.cloned().or(run.session.take());
        }
    }

    pub(super) fn end_run(&mut self, status: RunResult, note: Option<&str>) {
        let now = self.now;
        let reviews = self.open_run().filter(|run| run.mode == Mode::Review);
        if let Some(job) = reviews.and_then(|run| run.job.clone()) {
            self.leave(job);
        }
        if let Some(run) = self.open_run() {
            run.status = status;
            run.ended_at = Some(now.max(run.created_at));
            if run.session.is_some() {
                run.transcript = TranscriptState::Pending;
            }
            let note = note.map(|note| short(note, SUMMARY_CHARS_MAX - 1));
            match status {
                RunResult::Failed => run.error = note,
                // What came of it may be known from before.
                RunResult::Success | RunResult::Running => {
                    run.summary = note.or(run.summary.take());
                }
            }
        }
    }

    /// A question came up, or was answered.
    pub(super) fn ask(&mut self, status: RunStatus) {
        let phase = self.delivery.phase;
        self.turn(phase, status, &Actor::System);
    }

    /// The phase came to a good end.
    pub(super) fn succeed(&mut self, by: &Actor, note: Option<&str>) {
        self.end_run(RunResult::Success, note);
        let phase = self.delivery.phase;
        self.turn(phase, RunStatus::Succeeded, by);
    }

    /// The phase came to a good end, and something has come of it.
    pub(super) fn made(&mut self, head: &CommitSha) {
        if let Some(run) = self.open_run() {
            run.head = Some(head.clone());
        }
        let pull = self.delivery.task.pull.clone();
        if let Some(pull) = &pull {
            refs::add(&mut self.delivery.refs, refs::output(pull));
        }
        let is_said = self.open_run().is_some_and(|run| run.summary.is_some());
        let made = pull.filter(|_| !is_said);
        let made = made.map(|pull| format!("pull request #{}", pull.number));
        self.succeed(&Actor::System, made.as_deref());
    }

    /// The phase came to a bad end, and waits for a retry.
    pub(super) fn fail(&mut self, code: Fault, text: &str, by: &Actor) {
        let text = match code == Fault::Canceled {
            true => CANCELED.to_owned(),
            false => short(text, ERROR_CHARS_MAX),
        };
        self.end_run(RunResult::Failed, Some(&text));
        let phase = self.delivery.phase;
        self.turn(phase, RunStatus::Failed, by);
        self.delivery.error = Some(Failed { code, text });
    }

    /// A person may send what the agent was asked for, and where the source says so the other way round.
    pub(super) fn performed_by(&mut self, actor: &Actor) {
        if let Some(run) = self.open_run() {
            run.performer = match (actor, run.performer) {
                (Actor::Person(_), _) => Performer::Human,
                (Actor::Agent(_), Performer::Human) => Performer::Agent,
                (Actor::Agent(_) | Actor::System, asked) => asked,
            };
        }
    }

    /// A person does what is under way, since the agent is late.
    pub(super) fn hand_over(&mut self) {
        if let Some(run) = self.open_run() {
            run.performer = Performer::Human;
        }
    }

    /// The review came to a verdict about a head.
    pub(super) fn judge(
        &mut self,
        verdict: Verdict,
        head: &CommitSha,
        by: &Actor,
        note: Option<&str>,
    ) {
        self.delivery.review.head = Some(head.clone());
        if let Some(run) = self.open_run() {
            run.head = Some(head.clone());
            run.verdict = Some(verdict);
        }
        self.performed_by(by);
        self.delivery.verdict = Some(verdict);
        self.succeed(by, note);
    }

    /// Goes on from a phase that succeeded.
    pub(super) fn go_on(&mut self, by: &Actor) {
        let phase = self.delivery.phase;
        if phase == self.delivery.endpoint.phase() {
            self.close(Closed::Finished, by);
        } else {
            self.enter(phase.next(), by);
        }
    }

    /// Its pull request was merged. Only the run that waited for this has come to a good end: whatever else was under way was
    /// cut short.
    pub(super) fn end_run_by_merge(&mut self) {
        let waited = self.open_run().is_some_and(|run| run.mode == Mode::Verify);
        let (status, note) = match waited {
            true => (RunResult::Success, "merged"),
            false => (
                RunResult::Failed,
                "a pull request was merged before it ended",
            ),
        };
        self.end_run(status, Some(note));
    }

    /// Its pull request is merged, wherever the delivery was.
    pub(super) fn verified(&mut self, by: &Actor) {
        self.turn(Phase::Verify, RunStatus::Succeeded, by);
    }

    /// It is over.
    pub(super) fn close(&mut self, how: Closed, by: &Actor) {
        let (status, note) = match how {
            Closed::IssueClosed => (RunResult::Failed, "the issue was closed"),
            Closed::Cancelled => (
                RunResult::Failed,
                "the delivery it is a part of was cancelled",
            ),
            Closed::Abandoned => (RunResult::Failed, "it was given up"),
            Closed::MergedOnly => (RunResult::Failed, "what follows the merge was given up"),
            Closed::Finished | Closed::PartsClosed => (RunResult::Success, "closed"),
        };
        self.end_run(status, Some(note));
        self.delivery.closed = Some(how);
        self.delivery.trouble = None;
        self.turn(Phase::Close, RunStatus::Succeeded, by);
    }

    /// Sends the work back to a phase with what has to change: a message to the session, or another attempt where the
    /// session is over.
    pub(super) fn send_back(&mut self, phase: Phase, feedback: Option<&str>, by: &Actor) {
        let delivery = &mut self.delivery;
        if let Some(feedback) = feedback {
            delivery.feedback = Some(feedback.to_owned());
        }
        delivery.task.sent_back = delivery.head().cloned();
        if self.listens() {
            self.tell(feedback);
        } else {
            self.another_attempt();
        }
        self.pend(phase, by);
    }

    /// A message to the session begins another round.
    fn tell(&mut self, feedback: Option<&str>) {
        let task = &mut self.delivery.task;
        task.round = task.round.saturating_add(1);
        task.message = Some(TaskMessage {
            round: task.round,
            text: feedback.unwrap_or_default().to_owned(),
            at: self.now,
        });
    }

    /// Whether the session still takes messages, as far as was seen.
    fn listens(&self) -> bool {
        let work = self.delivery.job_seen().map(|job| &job.work);
        let is_over = matches!(work, Some(SessionWork::Ended(_)));
        !is_over && !self.delivery.has_lost_session()
    }

    /// A job is not needed any more.
    pub(super) fn leave(&mut self, job: JobId) {
        let leftovers = &mut self.delivery.leftovers;
        leftovers.push(job);
        let surplus = leftovers.len().saturating_sub(LEFTOVERS_MAX);
        leftovers.drain(..surplus);
    }

    /// Another session works on it from here on: another attempt of the same job, or another job where that was never
    /// seen.
    pub(super) fn another_attempt(&mut self) {
        let delivery = &mut self.delivery;
        if delivery.task.job.is_none() {
            return;
        }
        // Whether a job that was never seen was created is unknown.
        let goes_on = delivery.job_seen().is_some();
        delivery.attempt = delivery.attempt.saturating_add(1);
        let earlier = delivery.task.pull.take();
        // Named until the next attempt has one of its own.
        if let Some(pull) = &earlier {
            refs::add(&mut delivery.refs, refs::output(pull));
        }
        let (job, never_seen) = match delivery.task.job.take() {
            Some(job) if goes_on => (Some(job), None),
            other => (None, other),
        };
        delivery.task = Task {
            job,
            attempt: if goes_on {
                delivery.task.attempt.saturating_add(1)
            } else {
                1
            },
            round: delivery.task.round,
            earlier_pull: earlier.or(delivery.task.earlier_pull.take()),
            ..Task::default()
        };
        delivery.review = Reviewing::default();
        if let Some(never_seen) = never_seen {
            self.leave(never_seen);
        }
    }

    /// Draws the id of the job, unless there is one.
    fn want_session(&mut self) {
        let now = self.now;
        let delivery = &mut self.delivery;
        if delivery.task.job.is_none() {
            let purpose = format!("work:{}", delivery.attempt);
            delivery.task.job = Some(JobId::of_delivery(&delivery.id, &purpose, now));
            delivery.task.attempt = 1;
        }
    }
}

/// The session with which the present attempt of a job was last seen.
fn session_of(delivery: &Delivery, job: &JobId) -> Option<SessionId> {
    let is_it = |run: &&Run| run.job.as_ref() == Some(job) && run.attempt == delivery.attempt;
    let last = delivery.runs.iter().rev().find(is_it)?;
    last.session.clone()
}

pub(super) fn performer_of(reviewer: ReviewBy) -> Performer {
    match reviewer {
        ReviewBy::Agent => Performer::Agent,
        ReviewBy::Human => Performer::Human,
        ReviewBy::Jules => Performer::Jules,
        ReviewBy::Nobody => Performer::Nobody,
    }
}
