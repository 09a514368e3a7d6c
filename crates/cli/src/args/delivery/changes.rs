//! `gaffer delivery edit` and `analysis`.

use clap::{ArgGroup, Args};
use client::wire::RefRequest;
use domain::ids::RunId;
use domain::priority::Priority;

use super::DeliveryName;
use super::reference::reference;
use crate::args::value;

/// What changes of a delivery; what is not given stays.
#[derive(Debug, Clone, Args)]
#[command(
    group = ArgGroup::new("changes").args(["summary", "criteria", "refs", "priority"]).multiple(true).required(true),
    after_help = "Examples:\n  gaffer delivery edit acme/shop#12 --priority 9\n  gaffer delivery edit acme/shop#12 --summary 'Add a search box' --criterion 'finds by name'"
)]
pub(crate) struct EditDeliveryArgs {
    /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
    pub(crate) id: DeliveryName,

    /// What it is about, in one line.
    #[arg(long, value_name = "TEXT", value_parser = value::text)]
    pub(crate) summary: Option<String>,

    /// When it is done, in place of what was said before. Can be given several times.
    #[arg(long = "criterion", value_name = "TEXT", value_parser = value::text)]
    pub(crate) criteria: Option<Vec<String>>,

    /// What to add to what it refers to, as ROLE:TYPE:LABEL with its address after a space. Can be given several times.
    #[arg(long = "ref", value_name = "REF", value_parser = reference)]
    pub(crate) refs: Vec<RefRequest>,

    /// How much it matters, from 0 to 9; 9 goes first.
    #[arg(long, value_name = "0-9")]
    pub(crate) priority: Option<Priority>,
}

/// What a failed run came from.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  gaffer delivery analysis acme/shop#12 --text 'the index is built twice' --suggestion 'build it once, in src/index.rs'"
)]
pub(crate) struct AnalysisArgs {
    /// Which delivery: its id, OWNER/REPO#N of its issue or pull request, its job, or `latest`.
    pub(crate) id: DeliveryName,

    /// What was found out.
    #[arg(long, value_name = "TEXT", value_parser = value::text)]
    pub(crate) text: String,

    /// What to do about it.
    #[arg(long, value_name = "TEXT", value_parser = value::text)]
    pub(crate) suggestion: Option<String>,

    /// The id of the run, as `gaffer delivery show` lists it; the newest that failed without it.
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<RunId>,
}
