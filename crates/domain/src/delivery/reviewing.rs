//! The review of a delivery: when the reviewer is asked, and what follows from a verdict.

use super::lateness::AGENT_ACTS_FOR;
use super::moves::Moving;
use super::steps::{goes_on, let_go_on, session_failed};
use super::{
    Actor, Asked, Checks, Delivery, Fault, Phase, ReviewBy, RunStatus, SessionWork, Verdict,
};
use crate::ids::JobId;
use crate::pull::MergeStyle;
use crate::when::plus;

/// Fails the phase if checks of the head failed and no more repair is requested.
pub(super) fn checks_failed(moving: &mut Moving<'_>) -> bool {
    let given_up = moving
        .delivery
        .pull_seen()
        .is_some_and(|pull| pull.checks == Checks::GivenUp);
    let fails = given_up && !is_forgiven(moving);
    if fails {
        let text = "checks of the pull request failed";
        moving.fail(Fault::ChecksFailed, text, &Actor::System);
    }
    fails
}

/// Whether the phase was tried again although checks of this head fail.
fn is_forgiven(moving: &Moving<'_>) -> bool {
    let head = moving.delivery.head();
    head.is_some() && head == moving.delivery.task.forgiven.as_ref()
}

pub(super) fn reviewing(moving: &mut Moving<'_>) -> bool {
    let reviewer = moving.rules.reviewer();
    // Without a reviewer every change passes, and verify judges its checks.
    let is_judged = reviewer != ReviewBy::Nobody;
    if session_failed(moving) || is_judged && checks_failed(moving) {
        return true;
    }
    // One that was closed may be reopened: until then there is nothing to review.
    let open = moving
        .delivery
        .pull_seen()
        .filter(|pull| pull.closed_at.is_none());
    let Some(pull) = open.cloned() else {
        return false;
    };
    let Some(head) = pull.head else {
        return false;
    };
    if reviewer == ReviewBy::Nobody {
        let note = Some("this source has no reviewer");
        moving.judge(Verdict::Pass, &head, &Actor::System, note);
        return true;
    }
    let asked = moving.delivery.review.asked.clone();
    let asked = asked.filter(|asked| asked.head == head);
    let awaited = asked.as_ref().map_or(reviewer, |asked| asked.by);
    if let (ReviewBy::Human, Some(by)) = (awaited, &pull.approved_by) {
        let (by, note) = (Actor::person(by), Some("approved on GitHub"));
        moving.judge(Verdict::Pass, &head, &by, note);
        let_go_on(moving, Some(head), &MergeStyle::default(), &by);
        moving.go_on(&by);
        return true;
    }
    let late = asked.as_ref().filter(|asked| {
        asked.by == ReviewBy::Agent && moving.now >= plus(asked.at, AGENT_ACTS_FOR)
    });
    if late.is_some() {
        moving.ask_review(ReviewBy::Human, &head);
        return true;
    }
    let is_called = asked.is_some();
    let is_settled = pull.checks.are_settled() || is_forgiven(moving);
    if !is_called && is_resting(moving) && is_settled {
        moving.ask_review(reviewer, &head);
        return true;
    }
    if !is_called {
        moving.delivery.review.asked = None;
    }
    false
}

/// Whether the session will not push by itself.
fn is_resting(moving: &Moving<'_>) -> bool {
    match moving.delivery.job_seen().map(|job| &job.work) {
        Some(SessionWork::Resting(_) | SessionWork::Ended(_)) => true,
        Some(
            SessionWork::Waiting
            | SessionWork::Working
            | SessionWork::Asking
            | SessionWork::Planned(_),
        )
        | None => false,
    }
}

/// A verdict belongs to its head: a later one is reviewed again, unless it only merged the base in.
pub(super) fn head_moved(moving: &mut Moving<'_>) -> bool {
    let reviewed = moving.delivery.review.head.clone();
    let pull = moving.delivery.pull_seen();
    let Some(head) = pull.and_then(|pull| pull.head.clone()) else {
        return false;
    };
    if reviewed.as_ref() == Some(&head) {
        return false;
    }
    let is_same_work =
        pull.is_some_and(|pull| pull.same_work_as.is_some() && pull.same_work_as == reviewed);
    let review = &mut moving.delivery.review;
    if is_same_work {
        // What a person let go on goes on: they would not be asked again.
        let approved = review.approved.as_mut();
        if let Some(approved) = approved.filter(|it| Some(&it.head) == reviewed.as_ref()) {
            approved.head = head.clone();
        }
    }
    // Where a person is awaited after the review, they have to see the head also if it has no reviewer.
    let is_unseen = moving.delivery.checkpoints.has(Phase::Review);
    let is_reviewed = moving.rules.reviewer() != ReviewBy::Nobody || is_unseen;
    if is_same_work || !is_reviewed {
        moving.delivery.review.head = Some(head);
        return false;
    }
    moving.run(Phase::Review, &Actor::System);
    true
}

pub(super) fn reviewed(moving: &mut Moving<'_>) -> bool {
    match moving.delivery.verdict {
        Some(Verdict::Pass) => head_moved(moving) || goes_on(moving),
        Some(Verdict::NotPass) => {
            not_passed(moving);
            true
        }
        // A review without a verdict is none.
        None => {
            moving.run(Phase::Review, &Actor::System);
            true
        }
    }
}

/// It goes back by itself, a few times.
fn not_passed(moving: &mut Moving<'_>) {
    if moving.delivery.review_round >= moving.rules.review_rounds {
        let rounds = moving.rules.review_rounds;
        let rounds_word = if rounds == 1 { "round" } else { "rounds" };
        let text = format!("it did not pass, and the source allows {rounds} {rounds_word} back");
        return moving.fail(Fault::RoundsUsedUp, &text, &Actor::System);
    }
    let feedback = moving.delivery.feedback.clone();
    moving.next_round(feedback.as_deref(), &Actor::System);
}

impl Delivery {
    /// The job that reviews, while its answer is awaited, or an answer to its question.
    pub fn reviewing_job(&self) -> Option<&JobId> {
        let is_running = (self.phase, self.run_status) == (Phase::Review, RunStatus::Running);
        let asked = self.review.asked.as_ref();
        let asked = asked.filter(|_| is_running || self.is_asked_by_reviewer())?;
        asked.job.as_ref()
    }

    /// Whether a question of the session that reviews the present head is open.
    pub(super) fn is_asked_by_reviewer(&self) -> bool {
        let is_open = self.phase == Phase::Review && self.run_status.is_under_way();
        let asked = self.review.asked.as_ref().filter(|_| is_open);
        asked.is_some_and(|asked| asked.has_question && Some(&asked.head) == self.head())
    }

    /// Whether its review failed since it sent the change back as often as it may.
    pub(super) fn has_used_rounds(&self) -> bool {
        let code = self.error.as_ref().map(|error| error.code);
        code == Some(Fault::RoundsUsedUp)
    }
}

impl Moving<'_> {
    /// The change goes back from its review.
    pub(super) fn next_round(&mut self, feedback: Option<&str>, by: &Actor) {
        self.delivery.review_round = self.delivery.review_round.saturating_add(1);
        self.send_back(Phase::Implement, feedback, by);
    }

    /// The reviewer is asked to review a head.
    fn ask_review(&mut self, by: ReviewBy, head: &crate::ids::CommitSha) {
        let now = self.now;
        let performer = super::moves::performer_of(by);
        if let Some(run) = self.open_run() {
            run.performer = performer;
            run.head = Some(head.clone());
        }
        let delivery = &self.delivery;
        let purpose = format!("review:{}:{head}", delivery.runs.len());
        let job = JobId::of_delivery(&delivery.id, &purpose, now);
        let job = (by == ReviewBy::Jules).then_some(job);
        let replaced = self
            .open_run()
            .and_then(|run| std::mem::replace(&mut run.job, job.clone()));
        if let Some(replaced) = replaced {
            self.leave(replaced);
        }
        self.delivery.review.asked = Some(Asked {
            head: head.clone(),
            at: now,
            by,
            job,
            has_question: false,
        });
    }
}
