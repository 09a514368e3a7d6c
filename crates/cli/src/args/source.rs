//! `gaffer source`.

mod deliveries;

use clap::{ArgAction, Args, Subcommand};
use domain::ids::{AccountName, AgentName, BranchName, RepoName};
use domain::policy::{Answer, MergeMethod, MergePolicy, PlanApproval};
use jiff::SignedDuration;
use url::Url;

use super::value::{self, Word};

pub(crate) use deliveries::DeliveryRuleArgs;

/// What to do with sources.
#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// Work on a repository. By default people merge and people approve plans.
    Add(AddSourceArgs),
    /// Change a source; options that are not given stay unchanged.
    Set(SetSourceArgs),
    /// List sources.
    #[command(after_help = "Example:\n  gaffer source list --json")]
    List,
    /// Show a source with all its settings.
    #[command(after_help = "Example:\n  gaffer source show acme/shop")]
    Show {
        /// Which repository.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
    },
    /// Remove a source that no job works in any more; nothing on GitHub changes.
    #[command(after_help = "Example:\n  gaffer source remove acme/shop")]
    Remove {
        /// Which repository.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
    },
    /// Have the issues of a source read now, and say how many became deliveries.
    #[command(after_help = "Example:\n  gaffer source sync acme/shop")]
    Sync {
        /// Which repository.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
        /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
        #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
        url: Option<Url>,
    },
    /// Write nothing to Jules or GitHub for a source until it is resumed.
    ///
    /// Its issues are not read either: those that were labelled meanwhile become deliveries once it is resumed. While
    /// everything is paused with `gaffer pause`, issues are read, and nothing is begun.
    #[command(after_help = "Example:\n  gaffer source pause acme/shop")]
    Pause {
        /// Which repository.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
    },
    /// Let a paused source go on.
    #[command(after_help = "Example:\n  gaffer source resume acme/shop")]
    Resume {
        /// Which repository.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
    },
}

/// A new source.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer source add acme/shop\n  gaffer source add acme/shop --branch develop --agent bot --plan-approval agent\n  gaffer source add acme/shop --merge on-green --required-check build --protected-path infra/\n  gaffer source add acme/shop --label gaffer --checkpoint plan --endpoint verify"
)]
pub(crate) struct AddSourceArgs {
    /// The repository.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The Jules account that works on it.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) account: AccountName,

    /// The base branch of jobs that name none.
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) branch: BranchName,

    /// The agent that is woken for its jobs; without one a person looks.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    #[command(flatten)]
    pub(crate) timing: TimingArgs,

    #[command(flatten)]
    pub(crate) deliveries: DeliveryRuleArgs,
}

/// A change of a source.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer source set acme/shop --merge on-green --stuck-after 30m\n  gaffer source set acme/shop --answer agent:2h --answer nudge:20m --answer human\n  gaffer source set acme/shop --no-agent --adopted-may-merge=false\n  gaffer source set acme/shop --label gaffer --checkpoint plan --review-by nobody --endpoint verify"
)]
pub(crate) struct SetSourceArgs {
    /// The repository.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The Jules account that works on it.
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<AccountName>,

    /// The base branch of jobs that name none.
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<BranchName>,

    /// Who is woken for its jobs.
    #[arg(long, value_name = "NAME", conflicts_with = "no_agent")]
    pub(crate) agent: Option<AgentName>,

    /// Wake no agent: a person looks.
    #[arg(long)]
    pub(crate) no_agent: bool,

    /// GitHub's number of the repository that is meant, when another one bears the name now.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) repository_id: Option<u64>,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    #[command(flatten)]
    pub(crate) timing: TimingArgs,

    #[command(flatten)]
    pub(crate) deliveries: DeliveryRuleArgs,
}

impl SetSourceArgs {
    /// Whether only the repository is given.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            repo: _,
            account,
            branch,
            agent,
            no_agent,
            repository_id,
            policy,
            timing,
            deliveries,
        } = self;
        account.is_none()
            && repository_id.is_none()
            && branch.is_none()
            && agent.is_none()
            && !no_agent
            && *policy == PolicyArgs::default()
            && *timing == TimingArgs::default()
            && *deliveries == DeliveryRuleArgs::default()
    }
}

/// What may be done without asking; an option that is not given stays unchanged, or safe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "What may be done without asking")]
pub(crate) struct PolicyArgs {
    /// Who decides that a green pull request is merged [at first: human].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&MERGERS))]
    pub(crate) merge: Option<MergePolicy>,

    /// Who approves plans [at first: human].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&APPROVERS))]
    pub(crate) plan_approval: Option<PlanApproval>,

    /// Who answers questions, and for how long it is their turn: `agent`, `nudge` (Gaffer asks the session to decide
    /// itself) or `human`. Given several times, they have their turns one after the other; only the last may do
    /// without a time. A person is called last, even if none is named. Replaces those set before [at first: agent:8h,
    /// then human].
    #[arg(long = "answer", value_name = "WHO[:TIME]")]
    pub(crate) answers: Option<Vec<Answer>>,

    /// How a pull request is merged [at first: squash].
    #[arg(long, value_name = "HOW", value_parser = value::one_of(&METHODS))]
    pub(crate) merge_method: Option<MergeMethod>,

    /// Another merge method that the approver of a merge may choose. Can be given several times; replaces those set
    /// before [at first: none].
    #[arg(
        long = "other-merge-method",
        value_name = "HOW",
        value_parser = value::one_of(&METHODS),
        conflicts_with = "no_other_merge_methods"
    )]
    pub(crate) other_merge_methods: Option<Vec<MergeMethod>>,

    /// Merge by the usual method alone.
    #[arg(long)]
    pub(crate) no_other_merge_methods: bool,

    /// How many checks must have run and succeeded [at first: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) min_checks: Option<u32>,

    /// A check that must have passed, in addition to those of the branch rules. Can be given several times; replaces
    /// those set before.
    #[arg(long = "required-check", value_name = "NAME", value_parser = value::words, conflicts_with = "no_required_checks")]
    pub(crate) required_checks: Option<Vec<String>>,

    /// Require no checks by name.
    #[arg(long)]
    pub(crate) no_required_checks: bool,

    /// A path that only a person may merge; a trailing `/` means everything below. Can be given several times;
    /// replaces those set before [at first: .github/].
    #[arg(long = "protected-path", value_name = "PATH", value_parser = value::path, conflicts_with = "no_protected_paths")]
    pub(crate) protected_paths: Option<Vec<String>>,

    /// Protect no paths.
    #[arg(long)]
    pub(crate) no_protected_paths: bool,

    /// A label that keeps a pull request from being merged. Can be given several times; replaces those set before [at first: do-not-merge].
    #[arg(long = "blocking-label", value_name = "LABEL", value_parser = value::words)]
    pub(crate) blocking_labels: Option<Vec<String>>,

    /// How many merges in any 24 hours [at first: 20].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) merges_per_day: Option<u32>,

    /// Whether pull requests of adopted sessions may be merged too [at first: false].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) adopted_may_merge: Option<bool>,

    /// Whether the head branch is kept after the merge [at first: false].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) keep_branch: Option<bool>,

    /// How often one pull request's failed checks are sent back to its session [at first: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) ci_repairs: Option<u32>,

    /// Whether Gaffer comments on a pull request that needs a person; Jules reads comments too [at first: false].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) comment_when_blocked: Option<bool>,

    /// A label for a pull request that needs a person.
    #[arg(long, value_name = "LABEL", value_parser = value::words, conflicts_with = "no_blocked_label")]
    pub(crate) blocked_label: Option<String>,

    /// Put no label on a pull request that needs a person.
    #[arg(long)]
    pub(crate) no_blocked_label: bool,
}

/// How long to wait for what; durations have units, as in `90s`, `20m`, `1h 30m` or `7d`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "How long to wait")]
pub(crate) struct TimingArgs {
    /// No status change and no new activity for this long is `stuck` [at first: 15m].
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) stuck_after: Option<SignedDuration>,

    /// The same while the session waits for a machine [at first: 60m].
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) stuck_after_queued: Option<SignedDuration>,

    /// How long an event waits for its text [at first: 30s].
    #[arg(long, value_name = "DURATION", value_parser = value::wait)]
    pub(crate) text_wait: Option<SignedDuration>,

    /// A session that Jules does not know within this time of its creation is not visible yet [at first: 2m].
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) not_found_grace: Option<SignedDuration>,

    /// Activities are read when a session has been quiet for this long [at first: 5m].
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) quiet: Option<SignedDuration>,

    /// How long a finished session is watched, since a message can wake it [at first: 7d].
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) watch_completed: Option<SignedDuration>,

    /// How long a head is not merged after its push, since checks may appear late [at first: 60s].
    #[arg(long, value_name = "DURATION", value_parser = value::wait)]
    pub(crate) settle: Option<SignedDuration>,

    /// How long checks may take to appear on a new head [at first: 5m].
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) ci_start: Option<SignedDuration>,

    /// How long a failed head is left alone, since Jules may repair it itself [at first: 60s].
    #[arg(long, value_name = "DURATION", value_parser = value::wait)]
    pub(crate) ci_repair_after: Option<SignedDuration>,

    /// How often an open pull request is read when nothing announces a change [at first: 60s]; five times less often where only a
    /// person can move it, and three times while webhooks report its checks.
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) pull_poll: Option<SignedDuration>,
}

/// Who can decide that a green pull request is merged.
const MERGERS: [Word<MergePolicy>; 3] = [
    (
        "human",
        MergePolicy::Human,
        "A person, or the agent on their behalf, approves one SHA",
    ),
    (
        "on-green",
        MergePolicy::OnGreen,
        "Complete green evidence is enough",
    ),
    (
        "integration",
        MergePolicy::Integration,
        "It is enough for the one pull request of a sprint; a person approves all others",
    ),
];

/// Who can approve plans. No source can leave that to the delivery.
const APPROVERS: [Word<PlanApproval>; 3] = [
    ("auto", PlanApproval::Auto, "No one is asked"),
    (
        "agent",
        PlanApproval::Agent,
        "The job's agent is woken with the plan",
    ),
    ("human", PlanApproval::Human, "A person is shown the plan"),
];

/// How a pull request can be merged.
pub(super) const METHODS: [Word<MergeMethod>; 3] = [
    ("merge", MergeMethod::Merge, "A merge commit"),
    ("squash", MergeMethod::Squash, "One commit with all changes"),
    (
        "rebase",
        MergeMethod::Rebase,
        "Each commit on top of the base",
    ),
];
