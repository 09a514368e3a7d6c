//! Stories of pull requests, reading by reading. Every reading is decided twice, and the second decision must find
//! nothing new to do.

mod blocked;
mod hint;
mod merging;
mod repairs;
mod unexpected;

use super::*;
use crate::effect::Action;
use crate::event::{Event, Occurrence};
use crate::facts::fixture::{at, check, green_facts, passed, sha};
use crate::facts::{CheckOutcome, Fact, PullFacts};
use crate::failure::{Failure, FailureClass};
use crate::merge::{Hold, Owner, SessionStatus};
use crate::policy::{MergePolicy, Policy, Timing};
use crate::step::Step;

pub(super) const SESSION: &str = "14550388554331055113";

/// My word, with nothing said about how.
pub(super) const ME: MergeApproval<'static> = MergeApproval {
    by: "me",
    style: &MergeStyle {
        method: None,
        title: None,
        delete_branch: None,
    },
};

/// An effect in a few words.
pub(super) fn label(action: &Action) -> String {
    let text = action.to_string();
    let text = text
        .replace(&"a".repeat(40), "A")
        .replace(&"c".repeat(40), "C");
    text.replace("acme/shop#7", "#7")
        .replace(SESSION, "session")
}

pub(super) fn event_label(event: &Event) -> String {
    match &event.what {
        Occurrence::Error { cause, .. } => cause.as_str().to_owned(),
        Occurrence::UnexpectedPush { paths, .. } => {
            format!("unexpected_push {}", paths.join(" "))
        }
        Occurrence::Completed { .. } => "completed".to_owned(),
        what @ (Occurrence::Question { .. }
        | Occurrence::PlanApproval { .. }
        | Occurrence::UnreviewedPlan { .. }
        | Occurrence::Stuck { .. }
        | Occurrence::Delivery { .. }
        | Occurrence::News(_)) => panic!("{what:?}"),
    }
}

/// A pull request and the world around it.
pub(super) struct World {
    pub(super) pull: Pull,
    pub(super) facts: PullFacts,
    pub(super) outside: PullContext,
    pub(super) policy: Policy,
    pub(super) timing: Timing,
    pub(super) events: Vec<Event>,
    /// The last step.
    pub(super) step: Step<Pull>,
}

impl World {
    /// A green pull request of a job that Gaffer created, in a source that merges on green.
    pub(super) fn green() -> Self {
        let job = crate::ids::JobId::from_ulid(ulid::Ulid(7));
        let pull = track(
            "acme/shop#7".parse().unwrap(),
            job,
            SESSION.parse().ok(),
            at(0),
        );
        Self {
            step: Step::unchanged(pull.clone()),
            pull,
            facts: green_facts(),
            outside: PullContext {
                owner: Owner::Created,
                session: SessionStatus::Resting,
                account: "default".parse().unwrap(),
                attempt: 1,
                wanted_base: "main".parse().unwrap(),
                merges_today: 0,
                merge_day_ends: None,
                hold: None,
                merge_unsettled: false,
                logs: Vec::new(),
                gate: None,
                sprint_gate: None,
                plan_unreviewed: false,
                unexpected: Some(Some(Vec::new())),
                is_base_merge: None,
                session_page: None,
            },
            policy: Policy {
                merge: MergePolicy::OnGreen,
                ..Policy::default()
            },
            timing: Timing::default(),
            events: Vec::new(),
        }
    }

    /// A green one of sprint 50, which weaves it.
    pub(super) fn woven() -> Self {
        let mut world = Self::green();
        world.pull.sprint = "50".parse().ok();
        let woven = |sprint| crate::merge::SprintGate::Woven { sprint };
        world.outside.sprint_gate = world.pull.sprint.map(woven);
        world
    }

    /// GitHub refuses the merge.
    pub(super) fn refuses(&mut self, second: i64) -> Vec<String> {
        let refusal = Failure::new(FailureClass::Conflict, "405 no");
        self.take(second, &PullInput::MergeFailed(refusal))
    }

    pub(super) fn checks(&mut self, outcomes: &[CheckOutcome]) {
        let checks = outcomes
            .iter()
            .map(|outcome| check("build", *outcome))
            .collect();
        self.facts.checks = Fact::Known(checks);
    }

    /// GitHub is read; answers the effects and events that followed.
    pub(super) fn read(&mut self, second: i64) -> Vec<String> {
        self.facts.read_at = at(second);
        let input = PullInput::Facts(Box::new(self.facts.clone()), Box::new(self.outside.clone()));
        let before = self.pull.is_settled();
        let news = self.take(second, &input);
        let again = apply(&self.pull, &input, at(second), &self.policy, &self.timing);
        assert_eq!(again.aggregate, self.pull);
        assert!(again.events.is_empty() && again.follow_ups.is_empty());
        assert!(
            again
                .effects
                .iter()
                .all(|effect| self.step.effects.contains(effect))
        );
        assert!(!before || news.is_empty());
        news
    }

    pub(super) fn take(&mut self, second: i64, input: &PullInput) -> Vec<String> {
        let step = apply(&self.pull, input, at(second), &self.policy, &self.timing);
        assert_eq!(step.due.is_none(), step.aggregate.is_settled());
        self.pull = step.aggregate.clone();
        let mut news: Vec<String> = step.effects.iter().map(label).collect();
        news.extend(step.events.iter().map(event_label));
        self.events.extend(step.events.clone());
        self.step = step;
        news
    }

    pub(super) fn verdict(&self) -> Vec<&'static str> {
        let verdict = self.pull.verdict.as_ref().unwrap();
        verdict
            .judgement
            .reasons()
            .iter()
            .map(crate::merge::Reason::code)
            .collect()
    }

    pub(super) fn due(&self) -> i64 {
        self.step.due.unwrap().duration_since(at(0)).as_secs()
    }
}
