//! Options of `gaffer mcp`.

use clap::{Args, Subcommand};
use url::Url;

use super::value;

/// `gaffer mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer mcp\n  gaffer mcp call jules_list_jobs '{\"repo\": \"acme/shop\"}'\n\nThe token is GAFFER_TOKEN (or JULES_API_TOKEN) in the environment, else the one that `gaffer up` made in the data folder."
)]
pub(crate) struct McpArgs {
    /// Where `gaffer up` listens [default: http://127.0.0.1:4180], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do instead of serving.
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
}

/// What to do with the tools instead of serving them.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Call one tool and print what it answers.
    #[command(
        after_help = "Examples:\n  gaffer mcp call jules_check '{\"job_id\": \"01JX…\"}'\n  echo '{\"repo\": \"acme/shop\"}' | gaffer mcp call jules_list_jobs -"
    )]
    Call {
        /// Which tool, for example `jules_create_job`.
        #[arg(value_parser = value::words)]
        tool: String,
        /// What it takes, as a JSON object; `-` reads it from standard input.
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
    },
}
