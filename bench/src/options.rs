//! What a person may choose.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::cost::CostPlay;

/// One section of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Verifying and classifying a webhook.
    Webhook,
    /// Polls that find nothing new.
    Polls,
    /// How soon a decision is seen, and what that costs.
    Detection,
    /// What a merged pull request costs at GitHub.
    Requests,
    /// The functions behind a Lambda Runtime API.
    Functions,
    /// What watching costs on AWS.
    Cost,
    /// The files of a pipeline.
    Files,
    /// Mail between personas.
    Mail,
    /// Weaving pull requests.
    Weave,
}

/// Measures Gaffer and prints the figures beside their targets.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Options {
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Measure this section only; may be given more than once.
    #[arg(long, value_name = "SECTION")]
    pub(crate) only: Vec<Section>,
    /// Jobs of each simulation.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) jobs: u32,
    /// Where npm has put `@octokit/webhooks`, to be measured in the same run.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) octokit: Option<PathBuf>,
    /// Where the functions are built, in the profile in which they are deployed.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) functions: Option<PathBuf>,
    /// Where pip has put `awslambdaric`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) awslambdaric: Option<PathBuf>,
    /// Where npm has put `aws-lambda-ric`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) aws_lambda_ric: Option<PathBuf>,
    /// Play this and tell what came of it, as the section `cost` has it done.
    #[arg(long, value_name = "PLAY", hide = true)]
    pub(crate) cost_play: Option<CostPlay>,
    /// Under which profile this was built, for the report.
    #[arg(long, value_name = "NAME", default_value = "unknown")]
    pub(crate) profile: String,
}

impl Options {
    /// Whether a section is wanted.
    pub(crate) fn wants(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }
}
