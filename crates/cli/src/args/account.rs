//! `gaffer account`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use domain::governor::Limits;
use domain::ids::{AccountName, AgentName};

use super::value;

/// What to do with accounts.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Add a Jules key under a name, or replace it.
    ///
    /// The key is read from standard input, or asked for at a terminal; it is never an argument, since others on this
    /// machine can read those.
    /// For the account `default`, JULES_API_KEY in the environment takes precedence over a stored key.
    Add(AddAccountArgs),
    /// Change an account's limits and agent; its key stays, and so does every option that is not given.
    Set(SetAccountArgs),
    /// Remove an account that no source and no job uses any more, and its key.
    #[command(after_help = "Example:\n  gaffer account remove work")]
    Remove {
        /// Which account.
        name: AccountName,
    },
    /// List accounts: their limits and how they fare.
    #[command(after_help = "Example:\n  gaffer account list --json")]
    List,
}

/// A new account, or a new key.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer account add default\n  gaffer account add work --key-file key.txt --plan pro\n  cat key.txt | gaffer account add default --replace-key"
)]
pub(crate) struct AddAccountArgs {
    /// Its name: a-z, 0-9 and `-`, a letter first.
    pub(crate) name: AccountName,

    /// Read the key from standard input, also at a terminal.
    #[arg(long, conflicts_with = "key_file")]
    pub(crate) key_stdin: bool,

    /// Read the key from a file.
    #[arg(long, value_name = "FILE", value_parser = value::file)]
    pub(crate) key_file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// The agent that is woken by errors of the whole account.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,

    /// Replace the key of an existing account; its limits change only where they are given.
    #[arg(long)]
    pub(crate) replace_key: bool,
}

/// Changes of an account.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer account set default --plan pro\n  gaffer account set work --concurrent 2 --per-day 50\n  gaffer account set work --requests-a-day 20000"
)]
pub(crate) struct SetAccountArgs {
    /// Its name.
    pub(crate) name: AccountName,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// The agent that is woken by errors of the whole account.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,

    /// Requests that polls may make in a day in UTC, 100 to 1000000, or `none`; as they run short polls become rarer.
    #[arg(long, value_name = "N")]
    pub(crate) requests_a_day: Option<RequestsADay>,
}

/// So many requests, or as many as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestsADay(pub(crate) Option<u32>);

impl std::str::FromStr for RequestsADay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let requests = text.parse::<u32>().ok();
        let fits = requests.filter(|requests| (100..=1_000_000).contains(requests));
        fits.map(|requests| Self(Some(requests)))
            .ok_or_else(|| "it has to be a number from 100 to 1000000, or `none`".to_owned())
    }
}

/// What an account may run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub(crate) struct LimitArgs {
    /// What the account's plan allows: free is 3 tasks at a time and 15 in 24 hours, pro 15 and 100, ultra 60 and 300.
    #[arg(long, value_enum)]
    pub(crate) plan: Option<JulesPlan>,

    /// Tasks at a time, 1 to 60; goes before the plan's 3, 15 or 60.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60))]
    pub(crate) concurrent: Option<u32>,

    /// Tasks in any 24 hours, 1 to 300; goes before the plan's 15, 100 or 300.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=300))]
    pub(crate) per_day: Option<u32>,
}

/// Google's plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JulesPlan {
    /// 3 tasks at a time, 15 in 24 hours.
    Free,
    /// 15 tasks at a time, 100 in 24 hours.
    Pro,
    /// 60 tasks at a time, 300 in 24 hours.
    Ultra,
}

impl JulesPlan {
    /// Its limits.
    pub(crate) fn limits(self) -> Limits {
        match self {
            Self::Free => Limits::default(),
            Self::Pro => Limits {
                concurrent: 15,
                per_day: 100,
            },
            Self::Ultra => Limits {
                concurrent: 60,
                per_day: 300,
            },
        }
    }
}
