//! Options of `gaffer weave`.

use std::path::PathBuf;

use clap::Args;
use domain::ids::BranchName;
use weave::weave::Order;

use super::value::{self, Word};

/// `gaffer weave`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer weave acme/shop 101 102 103\n  gaffer weave acme/shop 101 102 --base develop --order given --json\n  gaffer weave acme/shop 101 102 --patch woven.patch\n  gaffer weave acme/shop 101 102 --push weave/one --pull\n  gaffer weave --local . fix.patch feature.diff\n  gaffer weave --local shop --rev v1.2 series.mbox --write\n\nExit codes: 0 all are in, 1 any is not, 2 bad usage."
)]
pub(crate) struct WeaveArgs {
    /// OWNER/REPO and the numbers of pull requests; with --local files that `git diff` or `git format-patch` wrote, or `-`.
    #[arg(required = true, value_name = "WHAT", value_parser = value::file)]
    pub(crate) what: Vec<PathBuf>,

    /// In which order they are tried.
    #[arg(long, value_name = "ORDER", default_value = "planned", value_parser = value::one_of(&ORDERS))]
    pub(crate) order: Order,

    /// The branch to weave pull requests into [default: the repository's default branch].
    #[arg(long, value_name = "BRANCH", conflicts_with = "local")]
    pub(crate) base: Option<BranchName>,

    /// Write what is woven into a file, as a patch.
    #[arg(long, value_name = "FILE", value_parser = value::file, conflicts_with = "local")]
    pub(crate) patch: Option<PathBuf>,

    /// Push what is woven to this branch: a new one, or one whose last commit is a weave, and none of a sprint. It only goes forward.
    #[arg(long, value_name = "BRANCH", conflicts_with = "local")]
    pub(crate) push: Option<BranchName>,

    /// Open a pull request of that branch, or bring the open one up to date.
    #[arg(long, requires = "push", conflicts_with = "local")]
    pub(crate) pull: bool,

    /// A folder of a git repository to weave patches into, without a network.
    #[arg(long, value_name = "DIR", value_parser = value::folder)]
    pub(crate) local: Option<PathBuf>,

    /// The commit to weave patches into [default: the one that is checked out].
    #[arg(long, value_name = "REV", requires = "local", conflicts_with_all = ["base", "patch", "push"], value_parser = value::words)]
    pub(crate) rev: Option<String>,

    /// Change the files of the working tree, as `git apply` would: to what all that is in comes to, or not at all.
    #[arg(long, requires = "local", conflicts_with_all = ["base", "patch", "push"])]
    pub(crate) write: bool,

    /// Where GitHub's API is [default: the address stored by `gaffer init`, else GitHub's].
    #[arg(long, env = "GITHUB_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::github_base)]
    pub(crate) github_base: Option<String>,

    /// Sign in to GitHub as this App, with the private key in the secret `github` (or GITHUB_APP_KEY).
    #[arg(long, env = "GITHUB_APP_ID", value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) github_app_id: Option<u64>,
}

/// In which order members can be tried.
const ORDERS: [Word<Order>; 2] = [
    (
        "planned",
        Order::Planned,
        "Those that share no file first, then those that share the fewest",
    ),
    ("given", Order::Given, "As they are given"),
];
