//! Deliveries, decision by decision.

mod adhoc;
mod endings;
mod executions;
mod late;
mod parts;
mod performers;
mod races;
mod refusals;
mod reviews;
mod stories;
mod summaries;
mod table;
mod transcripts;
mod wanted;

use super::*;
use crate::event::Audience;
use crate::facts::fixture::{at, sha};
use crate::ids::{RunId, SessionId};
use crate::job::{WaitParty, WaitReason, WaitsFor};

/// Who acts in these stories.
pub(crate) fn kim() -> Actor {
    Actor::person("kim")
}

/// The agent of these stories.
pub(crate) fn zai() -> Actor {
    Actor::agent("zai")
}

/// A retry without a word.
pub(crate) const RETRY: Act = Act::Retry { reason: None };

pub(crate) fn reject(reason: &str) -> Act {
    let reason = reason.to_owned();
    Act::Reject { reason }
}

pub(crate) fn part(summary: &str) -> Part {
    Part {
        summary: summary.to_owned(),
        acceptance_criteria: Vec::new(),
    }
}

/// Its session waits with this plan.
pub(crate) fn planned(plan: &str) -> SessionWork {
    SessionWork::Planned(plan.parse().unwrap())
}

/// Its issue was read at a second.
pub(crate) fn issue_read(second: i64, state: IssueState) -> DeliveryInput {
    let read_at = at(second);
    DeliveryInput::Issue(IssueSight { read_at, state })
}

pub(crate) fn issue() -> IssueRef {
    "acme/shop#12".parse().unwrap()
}

pub(crate) fn pull_ref() -> PullRef {
    "acme/shop#31".parse().unwrap()
}

pub(crate) fn new_delivery() -> NewDelivery {
    let issue = issue();
    NewDelivery {
        id: DeliveryId::of_issue(&issue.repo, issue.number),
        seq: 1,
        kind: DeliveryKind::Issue,
        repo: issue.repo.clone(),
        issue: Some(issue),
        requirement: None,
        summary: "GitHub Issue #12: Add search".to_owned(),
        description: Some("Add a search box.".to_owned()),
        acceptance_criteria: vec!["finds by name".to_owned()],
        refs: Vec::new(),
        priority: Priority::default(),
        parent: None,
        by: Actor::System,
    }
}

/// Checkpoints, endpoint and reviewer in words.
pub(crate) fn rules(checkpoints: &[Phase], endpoint: &str, review_by: ReviewBy) -> Rules {
    Rules {
        checkpoints: Checkpoints::at(checkpoints).unwrap(),
        endpoint: endpoint.parse().unwrap(),
        review_by: Some(review_by),
        ..Rules::default()
    }
}

pub(crate) fn command(id: &str, by: Actor, act: Act) -> DeliveryInput {
    DeliveryInput::Command(Command {
        id: id.to_owned(),
        by,
        act,
    })
}

pub(crate) fn verdict(verdict: Verdict, head: char) -> Act {
    Act::Verdict(ReviewResult {
        verdict,
        head: sha(head),
        summary: Some("Looked at it".to_owned()),
        feedback: (verdict == Verdict::NotPass).then(|| "Test the cart.".to_owned()),
    })
}

/// The session of the present job.
pub(crate) fn session() -> SessionId {
    "s1".parse().unwrap()
}

/// What is seen of the present job.
pub(crate) fn job(delivery: &Delivery, work: SessionWork, pull: Option<PullRef>) -> DeliveryInput {
    DeliveryInput::Job(Box::new(job_sight(delivery, work, pull)), None)
}

pub(crate) fn job_sight(delivery: &Delivery, work: SessionWork, pull: Option<PullRef>) -> JobSight {
    let task = &delivery.task;
    let glimpse = JobGlimpse {
        job: task
            .job
            .clone()
            .unwrap_or_else(|| JobId::from_ulid(ulid::Ulid(1))),
        branch: "main".parse().unwrap(),
        attempt: task.attempt,
        work,
        pull,
        // What it has to be told is told at once.
        message_sent: task.message.as_ref().map(|message| message.round),
        message_refused: None,
        approval_refused: None,
        approved_elsewhere: false,
    };
    JobSight {
        glimpse,
        plan: None,
        plan_summary: None,
        said: None,
        session: Some(session()),
    }
}

pub(crate) fn pull(head: char, checks: Checks) -> PullGlimpse {
    PullGlimpse {
        pull: pull_ref(),
        head: Some(sha(head)),
        same_work_as: None,
        checks,
        lacks_approval: false,
        held_by: Vec::new(),
        approved_by: None,
        closed_at: None,
        end: None,
    }
}

pub(crate) fn merged(by: Option<&str>) -> PullGlimpse {
    PullGlimpse {
        end: Some(PullEnd::Merged {
            commit: Some(sha('f')),
            by: by.map(str::to_owned),
        }),
        ..pull('a', Checks::Passed)
    }
}

/// Who is told that it failed.
pub(crate) fn audiences(delivery: &Delivery, sight: &Sight) -> Vec<Audience> {
    let told = wants(delivery, sight).into_iter().filter_map(|want| {
        let Want::TellFailed { audience, .. } = want else {
            return None;
        };
        Some(audience)
    });
    told.collect()
}

/// Where a delivery is, in a few words.
pub(crate) fn place(delivery: &Delivery) -> String {
    let verdict = delivery.verdict.map_or("", Verdict::word);
    let text = format!("{}/{} {verdict}", delivery.phase, delivery.run_status);
    text.trim().to_owned()
}

/// A delivery and the clock.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) delivery: Delivery,
    pub(crate) rules: Rules,
    pub(crate) second: i64,
    commands: u32,
}

impl World {
    pub(crate) fn new(rules: Rules) -> Self {
        let delivery = create(&new_delivery(), &rules, at(0)).unwrap().aggregate;
        Self {
            delivery,
            rules,
            second: 0,
            commands: 0,
        }
    }

    /// Applies an input, and once more: the second time nothing may follow.
    pub(crate) fn take(&mut self, input: &DeliveryInput) -> Result<String, TransitionError> {
        self.second += 1;
        let now = at(self.second);
        let step = apply(&self.delivery, input, now, &self.rules)?;
        assert_eq!(step.due, due(&step.aggregate, now));
        let again = apply(&step.aggregate, input, now, &self.rules).unwrap();
        assert_eq!(again.aggregate, step.aggregate);
        self.delivery = step.aggregate;
        Ok(place(&self.delivery))
    }

    pub(crate) fn sees(&mut self, work: SessionWork, pull: Option<PullRef>) -> String {
        let input = job(&self.delivery, work, pull);
        self.take(&input).unwrap()
    }

    pub(crate) fn shows(&mut self, sight: JobSight) -> String {
        let seen = DeliveryInput::Job(Box::new(sight), None);
        self.take(&seen).unwrap()
    }

    /// The session itself is read at a second, and does what it was last seen to do.
    pub(crate) fn reads_session(&mut self, second: i64) -> String {
        let work = self.delivery.job_seen().unwrap().work.clone();
        let seen = Box::new(job_sight(&self.delivery, work, None));
        let seen = DeliveryInput::Job(seen, Some(at(second)));
        self.take(&seen).unwrap()
    }

    pub(crate) fn reads(&mut self, glimpse: PullGlimpse) -> String {
        let read_at = at(self.second + 1);
        self.take(&DeliveryInput::Pull(Box::new(glimpse), read_at))
            .unwrap()
    }

    pub(crate) fn orders(&mut self, by: Actor, act: Act) -> Result<String, &'static str> {
        self.commands += 1;
        let input = command(&format!("c{}", self.commands), by, act);
        self.take(&input).map_err(|refused| refused.code)
    }

    pub(crate) fn kim(&mut self, act: Act) -> String {
        self.orders(kim(), act).unwrap()
    }

    pub(crate) fn zai(&mut self, act: Act) -> String {
        self.orders(zai(), act).unwrap()
    }

    pub(crate) fn time_passes(&mut self) -> String {
        self.take(&DeliveryInput::Deadline).unwrap()
    }

    /// The deliveries into which it was split.
    pub(crate) fn parts(&self) -> Vec<DeliveryId> {
        let all = self.delivery.children.iter();
        all.map(|child| child.id.clone()).collect()
    }

    /// A provider reports about its deployment.
    pub(crate) fn deploys(&mut self, report: ProviderReport) -> String {
        let report = DeliveryInput::Provider(Phase::Deploy, report);
        self.take(&report).unwrap()
    }

    /// One of its parts is seen.
    pub(crate) fn child(&mut self, id: &DeliveryId, state: ChildState) -> String {
        let seen = DeliveryInput::Child(id.clone(), state);
        self.take(&seen).unwrap()
    }

    /// The first reason why it is where it is.
    pub(crate) fn why(&self) -> DeliveryReason {
        reasons(&self.delivery, None).remove(0)
    }

    /// The first reason has these words.
    pub(crate) fn says(&self, words: &str) {
        let why = self.why().sentence;
        assert!(why.contains(words), "{why}");
    }

    /// Whom it waits for, and for what, while its job waits like this and no agent is woken.
    pub(crate) fn waits(&self, of_job: Option<WaitsFor>) -> (WaitParty, WaitReason) {
        let told = waits(&self.delivery, of_job, None);
        (told.who, told.what)
    }

    /// Its session rests with its pull request.
    pub(crate) fn rests(&mut self) -> String {
        let resting = self.resting();
        self.sees(resting, Some(pull_ref()))
    }

    pub(crate) fn resting(&self) -> SessionWork {
        SessionWork::Resting(Some(at(self.second + 1)))
    }

    /// The spans so far.
    pub(crate) fn history(&self) -> Vec<String> {
        let span = |span: &PhaseRun| {
            let verdict = span
                .verdict
                .map_or(String::new(), |it| format!(" {}", it.word()));
            format!(
                "{}/{}{verdict} by {}",
                span.phase, span.run_status, span.actor
            )
        };
        self.delivery.phase_runs.iter().map(span).collect()
    }

    /// To a review that was asked for, of head `a`.
    pub(crate) fn in_review(rules: Rules) -> Self {
        let mut world = Self::new(rules);
        if world.delivery.awaits_start() {
            world.kim(Act::Start);
        }
        world.sees(planned("p1"), None);
        if world.delivery.phase == Phase::Plan {
            world.kim(Act::APPROVE);
        }
        world.reviewable()
    }

    /// To a deployment of its merged change.
    pub(crate) fn deploying(deploy: &str) -> Self {
        let mut world = Self::in_review(Rules {
            deploy: deploy.parse().unwrap(),
            ..rules(&[], "deploy", ReviewBy::Nobody)
        });
        assert_eq!(world.reads(merged(Some("eve"))), "deploy/pending");
        world
    }

    /// The session has made head `a`, and its checks passed.
    fn reviewable(mut self) -> Self {
        self.rests();
        self.reads(pull('a', Checks::Passed));
        if self.delivery.phase == Phase::Implement {
            self.kim(Act::APPROVE);
        }
        self
    }
}
