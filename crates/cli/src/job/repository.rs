//! The default repository: that of the current folder, else the only source.

use std::process::{Command, Stdio};

use anyhow::Result;
use client::Client;
use domain::ids::RepoName;

use crate::error::Error;

/// How the addresses of repositories on GitHub begin, as git writes them.
const BEGINNINGS: [&str; 4] = [
    "https://github.com/",
    "ssh://git@github.com/",
    "git@github.com:",
    "git://github.com/",
];

/// The repository of the current folder, else the only source of that Gaffer.
pub(super) async fn usual(client: &Client) -> Result<RepoName> {
    if let Some(repo) = of_folder() {
        return Ok(repo);
    }
    let feeds = client.status().await?.feeds;
    let names: Vec<String> = feeds.iter().map(|feed| feed.repo.to_string()).collect();
    match feeds.as_slice() {
        [only] => Ok(only.repo.clone()),
        [] => Err(Error::usage(
            "there is no source yet, and the current folder has no git remote `origin` on GitHub",
            "add one with `gaffer init --repo OWNER/REPO`",
        )
        .into()),
        _ => Err(Error::usage(
            "nothing says which repository is meant: the current folder has no git remote `origin` on GitHub",
            format!("give `--repo` one of {}", names.join(", ")),
        )
        .into()),
    }
}

/// What the remote `origin` of the current folder names on GitHub.
fn of_folder() -> Option<RepoName> {
    let mut git = Command::new("git");
    git.args(["remote", "get-url", "origin"])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let told = git.output().ok().filter(|told| told.status.success())?;
    of_address(str::from_utf8(&told.stdout).ok()?)
}

/// The repository at an address on GitHub.
fn of_address(address: &str) -> Option<RepoName> {
    let address = address.trim();
    let rest = BEGINNINGS
        .iter()
        .find_map(|begin| address.strip_prefix(begin))?;
    let name = rest.trim_end_matches('/');
    name.strip_suffix(".git").unwrap_or(name).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_on_github_name_a_repository() {
        for address in [
            "https://github.com/acme/shop.git\n",
            "https://github.com/acme/shop",
            "https://github.com/acme/shop/",
            "git@github.com:acme/shop.git",
            "ssh://git@github.com/acme/shop.git",
        ] {
            let repo = of_address(address).map(|repo| repo.to_string());
            assert_eq!(repo.as_deref(), Some("acme/shop"), "{address}");
        }
        for other in [
            "",
            "https://gitlab.com/acme/shop.git",
            "/srv/git/shop.git",
            "https://github.com/acme",
            "https://github.com.evil.example/acme/shop",
        ] {
            assert_eq!(of_address(other), None, "{other}");
        }
    }
}
