//! `gaffer pipeline` and `gaffer requirement`.

use clap::{Args, Subcommand};
use client::wire::PIPELINES_LIMIT_MAX;
use domain::ids::{ArtefactId, BranchName, PipelineId, RepoName};
use domain::pipeline::{EntryPoint, Exchange, Implement};
use jiff::SignedDuration;
use url::Url;

use super::value::{self, Word};

/// Most runs that a list shows, as clap counts.
const LIMIT: i64 = PIPELINES_LIMIT_MAX as i64;

/// Where the running `gaffer up` is, and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  gaffer pipeline list acme/shop\n\nThe token is GAFFER_TOKEN (or JULES_API_TOKEN) in the environment, else the one that `gaffer up` made in the data folder."
)]
pub(crate) struct PipelineArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PipelineCommand,
}

/// What to do with pipelines. A run is named by its id, or by `latest`.
#[derive(Debug, Subcommand)]
pub(crate) enum PipelineCommand {
    /// Switch the pipeline of a source on, or change its settings. `gaffer up` need not run.
    On(PipelineOnArgs),
    /// Switch the pipeline of a source off: no run begins any more.
    #[command(after_help = "Example:\n  gaffer pipeline off acme/shop")]
    Off {
        /// The source.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
    },
    /// Begin a run: of all of it, or from a step on.
    Start(PipelineStartArgs),
    /// List the runs of a source, the newest first, and when the next ones begin by themselves.
    #[command(
        alias = "ls",
        after_help = "Example:\n  gaffer pipeline list acme/shop"
    )]
    List {
        /// The source.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
        /// How many at most [default: 20].
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=LIMIT))]
        limit: Option<u32>,
    },
    /// Show a run with its steps and their agents.
    #[command(after_help = "Example:\n  gaffer pipeline show 01k0000000000000000000000a")]
    Show(OneRun),
    /// Explain what a run waits for.
    #[command(
        after_help = "Examples:\n  gaffer pipeline why 01k0000000000000000000000a\n  gaffer pipeline why latest"
    )]
    Why(OneRun),
    /// Call a run off, with its jobs.
    #[command(after_help = "Example:\n  gaffer pipeline cancel 01k0000000000000000000000a")]
    Cancel(OneRun),
}

/// `gaffer pipeline on`: what is not given stays, or is as it is at first.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer pipeline on acme/shop\n  gaffer pipeline on acme/shop --exchange auto --implement human\n  gaffer pipeline on acme/shop --worker agents"
)]
pub(crate) struct PipelineOnArgs {
    /// The source.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// Who decides that a pull request of the exchange is merged [at first: human].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&EXCHANGE))]
    pub(crate) exchange: Option<Exchange>,

    /// Who decides that a requirement is implemented [at first: human].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&IMPLEMENT))]
    pub(crate) implement: Option<Implement>,

    /// The branch that has the exchange [at first: jules].
    #[arg(long, value_name = "BRANCH")]
    pub(crate) worker: Option<BranchName>,
}

/// `gaffer pipeline start`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer pipeline start acme/shop\n  gaffer pipeline start acme/shop --from decider\n  gaffer pipeline start acme/shop --wait --within 2h"
)]
pub(crate) struct PipelineStartArgs {
    /// The source.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The step: narrator, observers, decider, requirements (and planners), innovators, proposals or labels [default: narrator].
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<EntryPoint>,

    /// Wait for the end of the run, and print each step as it ends.
    #[arg(long)]
    pub(crate) wait: bool,

    /// How long to wait at most.
    #[arg(long, value_name = "DURATION", default_value = "1h", requires = "wait", value_parser = value::duration)]
    pub(crate) within: SignedDuration,
}

/// Who can decide that a pull request of the exchange is merged.
const EXCHANGE: [Word<Exchange>; 2] = [
    ("human", Exchange::Human, "A person does"),
    ("auto", Exchange::Auto, "Gaffer does, by its checks"),
];

/// Who can decide that a requirement is implemented.
const IMPLEMENT: [Word<Implement>; 2] = [
    ("human", Implement::Human, "A person does"),
    ("auto", Implement::Auto, "Gaffer does, by its checks"),
];

/// Which run.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneRun {
    /// Which run: its id, or `latest`.
    pub(crate) id: RunName,
}

/// The name of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunName {
    /// Its id.
    Id(PipelineId),
    /// The newest run of all sources.
    Latest,
}

impl std::str::FromStr for RunName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("latest") {
            return Ok(Self::Latest);
        }
        let id = text.parse::<PipelineId>();
        id.map(Self::Id).map_err(|wrong| {
            let rule = wrong.rule;
            format!("it has to be `latest` or an id, {rule}: `gaffer pipeline list OWNER/REPO` shows them")
        })
    }
}

/// Where the running `gaffer up` is, and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  gaffer requirement list acme/shop\n\nThe token is GAFFER_TOKEN (or JULES_API_TOKEN) in the environment, else the one that `gaffer up` made in the data folder."
)]
pub(crate) struct RequirementArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: RequirementCommand,
}

/// What to do with requirements. One is named by its repository and its id.
#[derive(Debug, Subcommand)]
pub(crate) enum RequirementCommand {
    /// List the requirements of a source that Gaffer follows, the newest first.
    #[command(
        alias = "ls",
        after_help = "Example:\n  gaffer requirement list acme/shop"
    )]
    List {
        /// The source.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
    },
    /// Show a requirement, with how far its delivery is.
    #[command(after_help = "Example:\n  gaffer requirement show acme/shop k3v9qd")]
    Show(OneRequirement),
    /// Have a requirement implemented, for the first time or again.
    #[command(
        after_help = "Examples:\n  gaffer requirement start acme/shop k3v9qd\n  gaffer requirement start acme/shop k3v9qd --keep-files"
    )]
    Start {
        /// Which requirement.
        #[command(flatten)]
        one: OneRequirement,
        /// Leave its files where they are after the merge.
        #[arg(long)]
        keep_files: bool,
    },
}

/// Which requirement.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneRequirement {
    /// The source.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The id of the requirement: 6 letters or digits.
    pub(crate) id: ArtefactId,
}
