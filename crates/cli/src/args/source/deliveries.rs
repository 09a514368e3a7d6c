//! How a source's issues become deliveries, and how those go.

use clap::{ArgAction, Args};
use domain::delivery::{
    Checkpoints, CheckpointsBy, Deploy, Endpoint, IntakeLabel, Observe, OddPhase, Phase, PlanBy,
    ROUNDS_MAX, ReviewBy,
};
use domain::nearest::meant;

use crate::args::value::{self, Word};

/// Most rounds and attempts, as clap counts.
const ROUNDS: i64 = ROUNDS_MAX as i64;

/// Settings of deliveries; an option that is not given stays unchanged, or as it is at first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "From an issue to a closed delivery")]
pub(crate) struct DeliveryRuleArgs {
    /// Open issues with this label become deliveries [at first: none]. Not `jules`, which starts Jules by itself.
    #[arg(long, value_name = "LABEL", conflicts_with = "no_label")]
    pub(crate) label: Option<IntakeLabel>,

    /// Take no issues in; deliveries are created by hand.
    #[arg(long)]
    pub(crate) no_label: bool,

    /// The last phase before a delivery closes: `plan`, `implement`, `review`, `verify` (merged), `deploy` or
    /// `observe` [at first: deploy].
    #[arg(long, value_name = "PHASE", value_parser = endpoint)]
    pub(crate) endpoint: Option<Endpoint>,

    /// A phase after which a person is awaited: `plan`, `implement` or `review`. Can be given several times; replaces
    /// those set before [at first: all three].
    #[arg(long = "checkpoint", value_name = "PHASE", value_parser = checkpoint, conflicts_with = "no_checkpoints")]
    pub(crate) checkpoints: Option<Vec<Phase>>,

    /// Wait for no person between the phases.
    #[arg(long)]
    pub(crate) no_checkpoints: bool,

    /// Who may act at checkpoints [at first: people].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&DECIDERS))]
    pub(crate) checkpoints_by: Option<CheckpointsBy>,

    /// Who plans [at first: jules].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&PLANNERS))]
    pub(crate) plan_by: Option<PlanBy>,

    /// Who reviews [at first: the agent, or a person where there is none].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&REVIEWERS))]
    pub(crate) review_by: Option<ReviewBy>,

    /// How often a change may be sent back by its review [at first: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=ROUNDS))]
    pub(crate) review_rounds: Option<u32>,

    /// How many sessions may work on one delivery without a person who asks for more [at first: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=ROUNDS))]
    pub(crate) attempts: Option<u32>,

    /// How a merged change is deployed: `none`, `workflow:FILE@BRANCH` (which is dispatched) or
    /// `deployment:ENVIRONMENT` (which is awaited) [at first: none].
    #[arg(long, value_name = "HOW")]
    pub(crate) deploy: Option<Deploy>,

    /// How a deployed change is observed: `none` or `soak:TIME`, in which no check of the merge commit may fail
    /// [at first: none].
    #[arg(long, value_name = "HOW")]
    pub(crate) observe: Option<Observe>,

    /// Whether the issue is told how far its delivery is, in one comment [at first: true].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) issue_comment: Option<bool>,
}

/// A phase that can be a delivery's last.
fn endpoint(word: &str) -> Result<Endpoint, String> {
    let read = word.parse::<Endpoint>();
    read.map_err(|odd| with_nearest(odd, word, |phase| Endpoint::try_from(phase).is_ok()))
}

/// A phase after which a person can be awaited.
fn checkpoint(word: &str) -> Result<Phase, String> {
    let can_be = |phase: Phase| Checkpoints::at(&[phase]).is_ok();
    let phase = Phase::from_word(word).filter(|phase| can_be(*phase));
    phase.ok_or_else(|| with_nearest(OddPhase::Checkpoint, word, can_be))
}

/// Why a word is no phase, with the nearest one that can be named there.
fn with_nearest(odd: OddPhase, word: &str, can_be: impl Fn(Phase) -> bool) -> String {
    let phases = Phase::ALL.into_iter().filter(|phase| can_be(*phase));
    format!("{odd}{}", meant(word, phases.map(Phase::word)))
}

/// Who can act at checkpoints.
const DECIDERS: [Word<CheckpointsBy>; 2] = [
    ("people", CheckpointsBy::People, "Only people"),
    ("anyone", CheckpointsBy::Anyone, "Agents too"),
];

/// Who can plan.
const PLANNERS: [Word<PlanBy>; 3] = [
    ("jules", PlanBy::Jules, "The session that implements it"),
    ("agent", PlanBy::Agent, "The agent sends it"),
    ("human", PlanBy::Human, "A person sends it"),
];

/// Who can review.
const REVIEWERS: [Word<ReviewBy>; 4] = [
    (
        "agent",
        ReviewBy::Agent,
        "The agent is woken, and after a while a person is awaited",
    ),
    ("human", ReviewBy::Human, "A person"),
    (
        "jules",
        ReviewBy::Jules,
        "A second session of Jules, which costs a second task",
    ),
    ("nobody", ReviewBy::Nobody, "Every change passes"),
];
