//! Settings of a source: what Gaffer may do in a repository by itself, and how long it waits.
//!
//! The defaults are safe: people merge, people approve plans, and at least one check must have passed.

mod answers;
mod exchange;
mod odd;
mod source;
mod terms;

pub use answers::{AGENT_WITHIN, Answer, Answerer, Answers, InvalidAnswers};
use jiff::SignedDuration;
pub use odd::OddSource;
use serde::{Deserialize, Serialize};
pub use source::Source;
pub use terms::{Automation, Terms};

/// What Gaffer may do by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Who decides that a green pull request is merged.
    pub merge: MergePolicy,
    /// How a pull request is merged.
    pub merge_method: MergeMethod,
    /// Other merge methods that the approver may choose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_merge_methods: Vec<MergeMethod>,
    /// How many checks must have run and succeeded; a skipped or neutral one does not count.
    pub min_checks: u32,
    /// Checks that must have passed, in addition to those of the branch rules; a list also replaces rules that the
    /// credential may not read.
    pub required_checks: Vec<String>,
    /// Paths that only a person may merge; a trailing `/` means everything below.
    pub protected_paths: Vec<String>,
    /// A pull request with one of these labels is not merged.
    pub blocking_labels: Vec<String>,
    /// How many merges in any 24 hours.
    pub merges_per_day: u32,
    /// Whether pull requests of adopted sessions may be merged too.
    pub adopted_may_merge: bool,
    /// Whether the head branch is deleted after the merge.
    pub delete_branch: bool,
    /// Who approves plans.
    pub plan_approval: PlanApproval,
    /// Who answers questions, one after the other.
    pub answers: Answers,
    /// How often one pull request's failed checks are sent back to its session, over all heads.
    pub ci_repairs: u32,
    /// Whether Gaffer comments on a pull request that needs a person. Off by default, since Jules reads comments too.
    pub comment_when_blocked: bool,
    /// A label for pull requests that need a person.
    pub blocked_label: Option<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            merge: MergePolicy::Human,
            merge_method: MergeMethod::Squash,
            other_merge_methods: Vec::new(),
            min_checks: 1,
            required_checks: Vec::new(),
            protected_paths: vec![".github/".to_owned()],
            blocking_labels: vec!["do-not-merge".to_owned()],
            merges_per_day: 20,
            adopted_may_merge: false,
            delete_branch: true,
            plan_approval: PlanApproval::Human,
            answers: Answers::default(),
            ci_repairs: 3,
            comment_when_blocked: false,
            blocked_label: None,
        }
    }
}

impl Policy {
    /// Whether a pull request may be merged so.
    pub fn allows(&self, method: MergeMethod) -> bool {
        method == self.merge_method || self.other_merge_methods.contains(&method)
    }

    /// How a pull request may be merged, in GitHub's words, the usual way first.
    pub fn allowed_methods(&self) -> Vec<&'static str> {
        let usual = self.merge_method;
        let others = self.other_merge_methods.iter().copied();
        let others = others.filter(|method| *method != usual);
        std::iter::once(usual)
            .chain(others)
            .map(MergeMethod::as_str)
            .collect()
    }

    /// The same where there is no agent: a person has its turns.
    fn without_agent(&self) -> Self {
        Self {
            answers: self.answers.without_agent(),
            plan_approval: match self.plan_approval {
                PlanApproval::Agent | PlanApproval::Human => PlanApproval::Human,
                PlanApproval::Auto => PlanApproval::Auto,
                PlanApproval::Delivery => PlanApproval::Delivery,
            },
            ..self.clone()
        }
    }
}

/// Who decides that a green pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MergePolicy {
    /// A person, or the agent on their behalf, approves one SHA.
    Human,
    /// Complete green evidence is enough.
    OnGreen,
    /// It is enough for the one pull request of a sprint; a person approves all others.
    Integration,
}

impl MergePolicy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Human, Self::OnGreen, Self::Integration];

    /// Its word in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::OnGreen => "on-green",
            Self::Integration => "integration",
        }
    }

    /// Whether anything is merged without a person.
    pub fn is_by_itself(self) -> bool {
        match self {
            Self::Human => false,
            Self::OnGreen | Self::Integration => true,
        }
    }
}

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeMethod {
    /// A merge commit.
    Merge,
    /// One commit with all changes.
    Squash,
    /// Each commit on top of the base.
    Rebase,
}

impl MergeMethod {
    /// GitHub's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }
}

/// Who approves plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanApproval {
    /// No one is asked: Gaffer approves.
    Auto,
    /// The job's agent is woken with the plan.
    Agent,
    /// A person is shown the plan.
    Human,
    /// The delivery that the job works for. No source can be set to it.
    #[serde(skip)]
    Delivery,
}

impl PlanApproval {
    /// Whether the job shows a plan to its approver and waits for the answer.
    pub fn is_asked(self) -> bool {
        match self {
            Self::Agent | Self::Human => true,
            Self::Auto | Self::Delivery => false,
        }
    }
}

/// How long to wait for what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// No status change and no new activity of the agent for this long is `stuck`.
    #[serde(with = "duration")]
    pub stuck_after: SignedDuration,
    /// The same while the session is queued for a machine.
    #[serde(with = "duration")]
    pub stuck_after_queued: SignedDuration,
    /// How long an event waits for its text.
    #[serde(with = "duration")]
    pub text_wait: SignedDuration,
    /// A 404 within this time of a session's creation means "not visible yet".
    #[serde(with = "duration")]
    pub not_found_grace: SignedDuration,
    /// Activities are read when a session has been quiet for this long.
    #[serde(with = "duration")]
    pub quiet: SignedDuration,
    /// How long a finished session is watched, since a message can wake it.
    #[serde(with = "duration")]
    pub watch_completed: SignedDuration,
    /// How long a head is not merged after its push, since checks may appear late.
    #[serde(with = "duration")]
    pub settle: SignedDuration,
    /// How long checks may take to appear on a new head.
    #[serde(with = "duration")]
    pub ci_start: SignedDuration,
    /// How long a failed head is left alone, since Jules may repair it by itself.
    #[serde(with = "duration")]
    pub ci_repair_after: SignedDuration,
    /// How often an open pull request is read when nothing announces a change.
    #[serde(with = "duration")]
    pub pull_poll: SignedDuration,
}

impl Timing {
    /// Whether pull requests are judged and read alike.
    fn judges_like(&self, other: &Self) -> bool {
        let of_pulls = |it: &Self| (it.settle, it.ci_start, it.ci_repair_after, it.pull_poll);
        of_pulls(self) == of_pulls(other)
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            stuck_after: SignedDuration::from_mins(15),
            stuck_after_queued: SignedDuration::from_mins(60),
            text_wait: SignedDuration::from_secs(30),
            not_found_grace: SignedDuration::from_secs(120),
            quiet: SignedDuration::from_mins(5),
            watch_completed: SignedDuration::from_hours(7 * 24),
            settle: SignedDuration::from_secs(60),
            ci_start: SignedDuration::from_mins(5),
            ci_repair_after: SignedDuration::from_secs(60),
            pull_poll: SignedDuration::from_secs(60),
        }
    }
}

/// Writes durations as `20m`, reads that and ISO 8601.
pub mod duration {
    use jiff::SignedDuration;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes a duration with units.
    pub fn serialize<S: Serializer>(
        value: &SignedDuration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:#}"))
    }

    /// Reads a duration with units; refuses a bare number because its unit is unclear.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<SignedDuration, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value: SignedDuration = text.parse().map_err(serde::de::Error::custom)?;
        if value.is_negative() {
            return Err(serde::de::Error::custom(
                "a duration here cannot be negative",
            ));
        }
        Ok(value)
    }
}
