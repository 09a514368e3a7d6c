//! `gaffer delivery`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use client::wire::{PartRequest, RefRequest};
use domain::delivery::{Phase, Verdict};
use domain::ids::{CommitSha, JobName, PlanId, RepoName, RunId, SessionId};
use domain::job::WaitParty;
use domain::priority::Priority;
use jiff::SignedDuration;
use url::Url;

use super::value::{self, Word};

mod changes;
mod part;
mod reference;

pub(crate) use changes::{AnalysisArgs, EditDeliveryArgs};

/// Where the running `gaffer up` is, and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  gaffer delivery list\n\nThe token is GAFFER_TOKEN (or JULES_API_TOKEN) in the environment, else the one that `gaffer up` made in the data folder."
)]
pub(crate) struct DeliveryArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: DeliveryCommand,
}

/// What to do with deliveries. A delivery is named by its id, by its issue or its pull request as OWNER/REPO#N, by its
/// job, or by `latest`.
#[derive(Debug, Subcommand)]
pub(crate) enum DeliveryCommand {
    /// List deliveries, the newest first; a job that belongs to none is one, too.
    List(ListDeliveriesArgs),
    /// Show a delivery, with what can be done with it now.
    #[command(after_help = "Example:\n  gaffer delivery show acme/shop#12")]
    Show(OneDelivery),
    /// Create a delivery from an issue or your own words.
    Create(CreateDeliveryArgs),
    /// Begin a delivery that waits at its plan.
    #[command(after_help = "Example:\n  gaffer delivery start acme/shop#12")]
    Start(OneDelivery),
    /// Let a delivery go on from a checkpoint.
    #[command(
        after_help = "Examples:\n  gaffer delivery approve acme/shop#12\n  gaffer delivery approve acme/shop#12 --sha 0123456789abcdef0123456789abcdef01234567"
    )]
    Approve {
        /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
        id: DeliveryName,
        /// Only if this is the reviewed head.
        #[arg(long, value_name = "SHA")]
        sha: Option<CommitSha>,
        /// The id of the plan that you read; another one is not approved in its place.
        #[arg(long, value_name = "PLAN_ID")]
        plan: Option<PlanId>,
    },
    /// Send a delivery back from a checkpoint.
    ///
    /// At the plan the session makes another plan, at the review it works on; at the implementation a new session
    /// begins, which costs another task.
    #[command(
        after_help = "Example:\n  gaffer delivery reject acme/shop#12 --reason 'keep the old route'"
    )]
    Reject {
        /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
        id: DeliveryName,
        /// What has to change.
        #[arg(long, value_name = "TEXT", value_parser = value::text)]
        reason: String,
    },
    /// Say what the review of a head came to.
    Verdict(VerdictArgs),
    /// Send the plan, where an agent or a person plans.
    Plan(PlanArgs),
    /// Change what a delivery says of itself, until it is closed.
    Edit(EditDeliveryArgs),
    /// Add a session that was begun elsewhere as a run of a delivery.
    #[command(after_help = "Example:\n  gaffer delivery collect acme/shop#12 31415926535897932384")]
    Collect {
        /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
        id: DeliveryName,
        /// The session's id, as in its address on jules.google.com.
        #[arg(value_name = "SESSION")]
        session: SessionId,
    },
    /// Keep with a failed run what it came from; the suggestion is offered as the reason of a retry.
    Analysis(AnalysisArgs),
    /// Split a delivery into smaller ones, while it is planned.
    Split(SplitArgs),
    /// Try a failed phase again.
    #[command(
        after_help = "Examples:\n  gaffer delivery retry acme/shop#12\n  gaffer delivery retry acme/shop#12 --reason 'keep the old route'"
    )]
    Retry {
        /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
        id: DeliveryName,
        /// What to do otherwise.
        #[arg(long, value_name = "TEXT", value_parser = value::text)]
        reason: Option<String>,
    },
    /// Cancel what a delivery is doing: its phase fails, and its job is cancelled.
    #[command(after_help = "Example:\n  gaffer delivery cancel acme/shop#12")]
    Cancel(OneDelivery),
    /// Explain why a delivery is where it is, and what happens next.
    #[command(after_help = "Example:\n  gaffer delivery why acme/shop#12")]
    Why(OneDelivery),
    /// Show what was said and done in a run of a delivery.
    #[command(
        after_help = "Examples:\n  gaffer delivery transcript acme/shop#12\n  gaffer delivery transcript acme/shop#12 --run 0123abcd"
    )]
    Transcript {
        /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
        id: DeliveryName,
        /// The id of the run, as `gaffer delivery show` lists it; the newest that has a transcript without it.
        #[arg(long, value_name = "RUN")]
        run: Option<RunId>,
    },
    /// Wait until a delivery needs a decision, or is closed.
    Wait(WaitDeliveryArgs),
    /// Show open deliveries by their phase, with who is awaited.
    #[command(
        after_help = "Examples:\n  gaffer delivery board\n  gaffer delivery board --repo acme/shop"
    )]
    Board {
        /// Only this repository's.
        #[arg(long, value_name = "OWNER/REPO")]
        repo: Option<RepoName>,
    },
}

/// Which delivery.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneDelivery {
    /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
    pub(crate) id: DeliveryName,
}

/// Which deliveries.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer delivery list\n  gaffer delivery list --needs person\n  gaffer delivery list --phase review --repo acme/shop --limit 10\n  gaffer delivery list --all --json"
)]
pub(crate) struct ListDeliveriesArgs {
    /// Only those in this phase.
    #[arg(long, value_name = "PHASE", value_parser = value::one_of(&PHASES))]
    pub(crate) phase: Option<Phase>,

    /// Only this repository's.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// Only those that wait for a person, or for an agent.
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&NEEDED))]
    pub(crate) needs: Option<WaitParty>,

    /// At most so many, 1 to 200.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,

    /// All of them, however many there are.
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
}

/// The phases of a delivery.
const PHASES: [Word<Phase>; 8] = [
    ("intake", Phase::Intake, "It was taken in"),
    ("plan", Phase::Plan, "A plan is made"),
    ("implement", Phase::Implement, "The change is made"),
    ("review", Phase::Review, "The change is reviewed"),
    (
        "verify",
        Phase::Verify,
        "Checks run, and the pull request is merged",
    ),
    ("deploy", Phase::Deploy, "The merged change is deployed"),
    ("observe", Phase::Observe, "The deployed change is observed"),
    ("close", Phase::Close, "It is closed"),
];

/// Who can be asked for a decision.
const NEEDED: [Word<WaitParty>; 2] = [
    ("person", WaitParty::Person, "A person"),
    ("agent", WaitParty::Agent, "An agent"),
];

/// A new delivery.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer delivery create 'Add a search box' --repo acme/shop\n  gaffer delivery create 'Add a search box' --repo acme/shop --criterion 'finds by name'\n  gaffer delivery create 'Add a search box' --repo acme/shop --ref 'trigger:jira:SHOP-7 https://jira.example.com/SHOP-7'\n  gaffer delivery create --repo acme/shop --issue 12\n  gaffer delivery create --repo acme/shop --issue 12 --again"
)]
pub(crate) struct CreateDeliveryArgs {
    /// What it is about, in one line; the title of the issue without it.
    #[arg(value_name = "SUMMARY", value_parser = value::text)]
    pub(crate) summary: Option<String>,

    /// The repository, which has to be a source.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The number of its issue there.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) issue: Option<u64>,

    /// Take the issue again, whose earlier delivery is closed.
    #[arg(long, requires = "issue")]
    pub(crate) again: bool,

    /// More about it.
    #[arg(long, value_name = "TEXT", value_parser = value::text)]
    pub(crate) description: Option<String>,

    /// When it is done. Can be given several times.
    #[arg(long = "criterion", value_name = "TEXT", value_parser = value::text)]
    pub(crate) criteria: Vec<String>,

    /// What it refers to, as ROLE:TYPE:LABEL with its address after a space. Can be given several times.
    #[arg(long = "ref", value_name = "REF", value_parser = reference::reference)]
    pub(crate) refs: Vec<RefRequest>,

    /// How much it matters, from 0 to 9; 9 goes first [default: 5].
    #[arg(long, value_name = "0-9")]
    pub(crate) priority: Option<Priority>,
}

/// What a review came to.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  gaffer delivery verdict acme/shop#12 pass --sha 0123456789abcdef0123456789abcdef01234567"
)]
pub(crate) struct VerdictArgs {
    /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
    pub(crate) id: DeliveryName,

    /// What it came to.
    #[arg(value_parser = verdict())]
    pub(crate) verdict: Verdict,

    /// The head that was reviewed; another present head refuses the verdict.
    #[arg(long, value_name = "SHA")]
    pub(crate) sha: CommitSha,

    /// In a few words.
    #[arg(long, value_name = "TEXT", value_parser = value::text)]
    pub(crate) summary: Option<String>,

    /// What has to change.
    #[arg(long, value_name = "TEXT", value_parser = value::text, required_if_eq("verdict", "not-pass"))]
    pub(crate) feedback: Option<String>,
}

/// What a review can come to, also by the word of the API.
fn verdict() -> impl TypedValueParser<Value = Verdict> {
    let words = [
        PossibleValue::new("pass").help("The change is good"),
        PossibleValue::new("not-pass")
            .alias("not_pass")
            .help("The change has to be worked on"),
    ];
    PossibleValuesParser::new(words).map(|word| match word == "pass" {
        true => Verdict::Pass,
        false => Verdict::NotPass,
    })
}

/// A plan from outside.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer delivery plan acme/shop#12 --file plan.md\n  gaffer delivery plan acme/shop#12 --file - --target-file src/search.rs"
)]
pub(crate) struct PlanArgs {
    /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
    pub(crate) id: DeliveryName,

    /// A file with the plan; `-` is standard input.
    #[arg(long, value_name = "FILE", value_parser = value::file)]
    pub(crate) file: PathBuf,

    /// A file that the plan wants to change. Can be given several times.
    #[arg(long = "target-file", value_name = "PATH", value_parser = value::words)]
    pub(crate) target_files: Vec<String>,
}

/// Smaller deliveries in place of one.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer delivery split acme/shop#12 --part 'The search box' --part 'The index'\n  gaffer delivery split acme/shop#12 --file parts.json\n\nThe file holds a JSON list: [{\"summary\": \"The index\", \"acceptance_criteria\": [\"finds by name\"]}]"
)]
pub(crate) struct SplitArgs {
    /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
    pub(crate) id: DeliveryName,

    /// What one of them is about; lines with `- [ ]` below that are its criteria. Can be given several times.
    #[arg(
        long = "part",
        value_name = "SUMMARY",
        value_parser = part::part,
        conflicts_with = "file",
        required_unless_present = "file"
    )]
    pub(crate) parts: Vec<PartRequest>,

    /// A file with their summaries and criteria, as JSON; `-` is standard input.
    #[arg(long, value_name = "FILE", value_parser = value::file)]
    pub(crate) file: Option<PathBuf>,
}

/// How far a delivery has to come.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer delivery wait 0123456789ab --within 10m\n  gaffer delivery wait acme/shop#12 --until closed --within 4h"
)]
pub(crate) struct WaitDeliveryArgs {
    /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
    pub(crate) id: DeliveryName,

    /// What to wait for.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "needed")]
    pub(crate) until: DeliveryUntil,

    /// How long to wait at most.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = value::duration)]
    pub(crate) within: SignedDuration,
}

/// How far a delivery can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeliveryUntil {
    /// It needs a person or an agent, or it is closed.
    Needed,
    /// It is closed; a phase that fails is a failure.
    Closed,
}

/// The name of a delivery. The API resolves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeliveryName(String);

impl DeliveryName {
    /// The name as typed.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for DeliveryName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for DeliveryName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.parse::<JobName>();
        let name = name.map_err(|_| {
            "it has to be the id of a delivery, `owner/name#number` of its issue or pull request, or the name of its job: `gaffer delivery list` shows them"
        })?;
        Ok(Self(name.to_string()))
    }
}
