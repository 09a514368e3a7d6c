//! Options of `gaffer mcp`.

use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use client::mcp::{Toolset, UnknownToolset};
use url::Url;

use super::value;

/// `gaffer mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer mcp\n  gaffer mcp --toolset insight\n  gaffer mcp install claude-code\n  gaffer mcp call jules_list_jobs '{\"repo\": \"acme/shop\"}'\n\nThe token is GAFFER_TOKEN (or JULES_API_TOKEN) in the environment, else the one that `gaffer up` made in the data folder."
)]
pub(crate) struct McpArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// Also list the tools of a set: `insight`, `inbox`, `deliveries`, `mail` or `sprint`. Can be given several times.
    #[arg(
        long = "toolset",
        global = true,
        env = "GAFFER_TOOLSETS",
        value_name = "NAME"
    )]
    pub(crate) toolsets: Vec<Toolsets>,

    /// What to do instead of serving.
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
}

impl McpArgs {
    /// All sets that were asked for, each once.
    pub(crate) fn toolsets(&self) -> Vec<Toolset> {
        let given = self.toolsets.iter().flat_map(|sets| &sets.0);
        let mut all: Vec<_> = given.copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Names of toolsets, with commas between them.
#[derive(Debug, Clone)]
pub(crate) struct Toolsets(Vec<Toolset>);

impl FromStr for Toolsets {
    type Err = UnknownToolset;

    fn from_str(text: &str) -> Result<Self, UnknownToolset> {
        let names = text.split(',').filter(|name| !name.trim().is_empty());
        Ok(Self(names.map(str::parse).collect::<Result<_, _>>()?))
    }
}

/// What to do with the tools instead of serving them.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Call one tool and print its answer.
    #[command(
        after_help = "Examples:\n  gaffer mcp call jules_check '{\"job_id\": \"01JX…\"}'\n  echo '{\"repo\": \"acme/shop\"}' | gaffer mcp call jules_list_jobs -"
    )]
    Call {
        /// Which tool, for example `jules_create_job`.
        #[arg(value_parser = value::words)]
        tool: String,
        /// Its arguments, as a JSON object; `-` reads it from standard input.
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
    },
    /// Have a coding agent find the tools: write the entry into its settings.
    #[command(
        after_help = "Examples:\n  gaffer mcp install claude-code\n  gaffer mcp install cursor --project\n  gaffer mcp install codex --toolset insight\n  gaffer mcp install zed --print\n\nNo token is written: the server finds it by itself."
    )]
    Install(InstallArgs),
    /// Print the text that explains the tools to an agent.
    #[command(after_help = "Example:\n  gaffer mcp skill > .claude/skills/gaffer/SKILL.md")]
    Skill,
}

/// `gaffer mcp install`.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Which coding agent.
    #[arg(value_enum, value_name = "CLIENT")]
    pub(crate) client: ClientName,
    /// Write it into the settings of the project in this folder, instead of yours.
    #[arg(long)]
    pub(crate) project: bool,
    /// Only show the file and the entry.
    #[arg(long)]
    pub(crate) print: bool,
    /// Put it in the place of another entry of the same name.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// A coding agent whose settings we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
}
