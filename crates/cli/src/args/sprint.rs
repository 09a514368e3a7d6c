//! Options of `gaffer sprint`.

use clap::{Args, Subcommand};
use client::wire::SPRINTS_LIMIT_MAX;
use domain::ids::{PersonaName, RepoName, SprintNumber};
use domain::sprint::{Integration, MEMBERS_MAX, NextSprint, Parallel, SprintRules};
use jiff::SignedDuration;
use url::Url;

use super::value::{self, Word};

/// Most sprints that a list shows, as clap counts.
const LIMIT: i64 = SPRINTS_LIMIT_MAX as i64;

/// Where the running `gaffer up` is, and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  gaffer sprint status acme/shop\n\nThe token is GAFFER_TOKEN (or JULES_API_TOKEN) in the environment, else the one that `gaffer up` made in the data folder."
)]
pub(crate) struct SprintArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: SprintCommand,
}

/// What to do with sprints. One is named by its repository and its number; without a number the newest is meant.
#[derive(Debug, Subcommand)]
pub(crate) enum SprintCommand {
    /// Set how the sprints of a source go. `gaffer up` need not run.
    Set(SprintSetArgs),
    /// Start a sprint: a job for each persona.
    Start(SprintStartArgs),
    /// Show a sprint with its members, its figures and what came of its weaves.
    #[command(
        alias = "show",
        after_help = "Examples:\n  gaffer sprint status acme/shop\n  gaffer sprint status acme/shop 50 --json"
    )]
    Status(OneSprint),
    /// List the sprints of a source, the newest first.
    #[command(alias = "ls", after_help = "Example:\n  gaffer sprint list acme/shop")]
    List {
        /// The source.
        #[arg(value_name = "OWNER/REPO")]
        repo: RepoName,
        /// How many at most [default: 20].
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=LIMIT))]
        limit: Option<u32>,
    },
    /// Explain what a sprint and each of its members wait for, and until when.
    #[command(after_help = "Example:\n  gaffer sprint why acme/shop")]
    Why(OneSprint),
    /// Have a sprint looked at now. It goes on by itself; this is for when something changed that Gaffer was not told.
    #[command(after_help = "Example:\n  gaffer sprint tick acme/shop")]
    Tick(OneSprint),
    /// Have what the members made woven.
    #[command(
        after_help = "Examples:\n  gaffer sprint integrate acme/shop\n  gaffer sprint integrate acme/shop --now"
    )]
    Integrate {
        /// Which sprint.
        #[command(flatten)]
        one: OneSprint,
        /// Also while members work: they are waited for no more, and a late pull request joins the next weave.
        #[arg(long)]
        now: bool,
    },
    /// Abort a sprint with its jobs. Branches and pull requests stay.
    #[command(after_help = "Example:\n  gaffer sprint abort acme/shop")]
    Abort(OneSprint),
    /// Write how far a sprint is to `.jules/cycle_state.json` in the present folder.
    #[command(
        after_help = "Examples:\n  gaffer sprint state acme/shop\n  gaffer sprint state acme/shop 50 --json"
    )]
    State(OneSprint),
}

/// `gaffer sprint set`: what is not given stays; a sprint that is under way stays as it was started.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer sprint set acme/shop --parallel every=5\n  gaffer sprint set acme/shop --parallel always --at-once 4 --next at-once\n  gaffer sprint set acme/shop --integration individual"
)]
pub(crate) struct SprintSetArgs {
    /// The source.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The sprints whose members work at once: always, only=50,55, every=5 or except=7; the others go one by one [at first: always].
    #[arg(long, value_name = "WHICH")]
    pub(crate) parallel: Option<Parallel>,

    /// How many members of a parallel sprint work at once, or `all` [at first: all].
    #[arg(long, value_name = "N", value_parser = at_once)]
    pub(crate) at_once: Option<AtOnce>,

    /// How long a member is waited for from the start of its session, from 1m to 24h [at first: 30m].
    #[arg(long, value_name = "DURATION", value_parser = member_timeout)]
    pub(crate) member_timeout: Option<SignedDuration>,

    /// Who starts the next sprint, at the end of one of which something was merged [at first: by-hand].
    #[arg(long, value_name = "WHO", value_parser = value::one_of(&NEXT))]
    pub(crate) next: Option<NextSprint>,

    /// How what the members of a parallel sprint make is merged [at first: consolidated].
    #[arg(long, value_name = "HOW", value_parser = value::one_of(&INTEGRATION))]
    pub(crate) integration: Option<Integration>,
}

/// How many members work at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtOnce(pub(crate) Option<u32>);

fn at_once(typed: &str) -> Result<AtOnce, String> {
    if typed == "all" {
        return Ok(AtOnce(None));
    }
    let count = typed.parse::<u32>().ok();
    let fits = count.filter(|count| usize::try_from(*count).is_ok_and(|it| it <= MEMBERS_MAX));
    let fits = fits.filter(|count| *count > 0);
    fits.map(|count| AtOnce(Some(count)))
        .ok_or_else(|| format!("it has to be a number from 1 to {MEMBERS_MAX}, or `all`"))
}

fn member_timeout(typed: &str) -> Result<SignedDuration, String> {
    let rules = SprintRules {
        member_timeout: value::duration(typed)?,
        ..SprintRules::default()
    };
    rules.check().map_err(|odd| odd.to_string())?;
    Ok(rules.member_timeout)
}

/// Who can start the next sprint.
const NEXT: [Word<NextSprint>; 2] = [
    ("by-hand", NextSprint::ByHand, "A person or an agent does"),
    ("at-once", NextSprint::AtOnce, "Gaffer does"),
];

/// How what the members make can be merged.
const INTEGRATION: [Word<Integration>; 2] = [
    (
        "consolidated",
        Integration::Consolidated,
        "Woven into one pull request",
    ),
    (
        "individual",
        Integration::Individual,
        "Each pull request by itself",
    ),
];

/// `gaffer sprint start`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer sprint start acme/shop --dry-run\n  gaffer sprint start acme/shop\n  gaffer sprint start acme/shop --number 50 --persona curator --persona refactor"
)]
pub(crate) struct SprintStartArgs {
    /// The source.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// Its number [default: the one after the last].
    #[arg(long, value_name = "N")]
    pub(crate) number: Option<SprintNumber>,

    /// A persona that takes part, repeatable [default: all that start with a sprint].
    #[arg(long = "persona", value_name = "PERSONA")]
    pub(crate) personas: Vec<PersonaName>,

    /// Only tell who would take part and how many sessions that needs; nothing is created.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Which sprint.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneSprint {
    /// The source.
    #[arg(value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The number of the sprint [default: the newest].
    pub(crate) number: Option<SprintNumber>,
}
