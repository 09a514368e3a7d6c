//! `gaffer github`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;
use url::Url;

use super::value;

/// What to do with GitHub.
#[derive(Debug, Subcommand)]
pub(crate) enum GithubCommand {
    /// Make a GitHub App of your own with the fewest rights that Gaffer needs, and let `gaffer up` use it.
    ///
    /// It opens a page on this machine that gives GitHub the App's description; you confirm it on GitHub.
    /// The same command continues an interrupted run.
    Setup(Box<SetupArgs>),
    /// Store another token: it comes from standard input or is asked for, and is checked before it is kept.
    Token(TokenArgs),
}

/// Where the token is checked.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer github token\n  gaffer github token < token.txt\n\nA GitHub App that was in use is kept: `gaffer github setup` goes back to it."
)]
pub(crate) struct TokenArgs {
    /// Where GitHub's API is [default: the address stored by `gaffer init`, else GitHub's].
    #[arg(long, env = "GITHUB_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::github_base)]
    pub(crate) github_base: Option<String>,
}

/// How the App is made.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer github setup\n  gaffer github setup --org acme --webhook-url https://gaffer.example.com/github/webhook\n  gaffer github setup --stack gaffer --webhook-url https://gaffer.example.com/github/webhook\n  gaffer github setup --code-stdin < address.txt\n  gaffer github setup --app-id 12345 --key-file app.pem"
)]
pub(crate) struct SetupArgs {
    /// Make it an organisation's App instead of yours.
    #[arg(long, value_name = "ORG", value_parser = value::login)]
    pub(crate) org: Option<String>,

    /// Its name on GitHub, unique there [at first: gaffer- and this installation's id].
    #[arg(long, value_name = "NAME", value_parser = value::app_name)]
    pub(crate) name: Option<String>,

    /// Where GitHub sends webhooks: the public address of `gaffer up` with /github/webhook. Without one, the App gets no webhooks.
    #[arg(long, value_name = "URL", value_parser = value::base)]
    pub(crate) webhook_url: Option<Url>,

    /// Where the page on this machine listens; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = value::listen)]
    pub(crate) listen: SocketAddr,

    /// Read the code, or the whole address that GitHub went back to, from standard input: no page is opened then.
    #[arg(long, conflicts_with_all = ["app_id", "again"])]
    pub(crate) code_stdin: bool,

    /// Take over an existing App; its private key comes from `--key-file`.
    #[arg(long, value_name = "ID", requires = "key_file", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) app_id: Option<u64>,

    /// The App's private key, as GitHub gave it: of `--app-id`, or of the App that was made and whose key was lost.
    #[arg(long, value_name = "FILE", value_parser = value::file, conflicts_with_all = ["code_stdin", "again"])]
    pub(crate) key_file: Option<PathBuf>,

    /// Drop an interrupted run, and make another App.
    #[arg(long)]
    pub(crate) again: bool,

    /// How long to wait for you at each step; `0s` waits for nothing.
    #[arg(long, value_name = "DURATION", default_value = "15m", value_parser = value::wait)]
    pub(crate) within: SignedDuration,

    /// Where GitHub's API is [default: the address stored by `gaffer init`, else GitHub's].
    #[arg(long, env = "GITHUB_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::github_base)]
    pub(crate) github_base: Option<String>,
}
