//! Sources as they travel: the repositories that Jules may work on.

use domain::ids::{BranchName, RepoName};
use engine::ports::SourceView;
use serde::Deserialize;

use super::loose::{Loose, Many, Text};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SourceWire {
    name: Loose<Text>,
    id: Loose<Text>,
    github_repo: Loose<GithubRepo>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GithubRepo {
    owner: Loose<Text>,
    repo: Loose<Text>,
    default_branch: Loose<Branch>,
    branches: Many<Branch>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Branch {
    display_name: Loose<Text>,
}

/// Reads one source; `None` if it does not name a repository on GitHub.
pub(crate) fn source(raw: &str) -> Option<SourceView> {
    let wire: SourceWire = serde_json::from_str(raw).ok()?;
    let github = wire.github_repo.0.unwrap_or_default();
    let given = match (github.owner.some(), github.repo.some()) {
        (Some(owner), Some(repo)) => format!("{owner}/{repo}").parse().ok(),
        (Some(_) | None, _) => None,
    };
    let named = || wire.name.some().and_then(repo_of);
    let repo = given
        .or_else(named)
        .or_else(|| wire.id.some().and_then(repo_of))?;
    let branch = github
        .default_branch
        .0
        .and_then(|branch| branch.display_name.some()?.parse().ok());
    Some(SourceView {
        repo,
        default_branch: branch,
    })
}

/// The branches of one source; `None` if it does not tell them.
pub(crate) fn branches(raw: &str) -> Option<Vec<BranchName>> {
    let wire: SourceWire = serde_json::from_str(raw).ok()?;
    let told = wire.github_repo.0?.branches.0.into_iter();
    let names: Vec<BranchName> = told
        .filter_map(|branch| branch.display_name.some()?.parse().ok())
        .collect();
    (!names.is_empty()).then_some(names)
}

/// The repository of `sources/github/owner/name`; the part before `github/` may be missing, as in a source's `id`.
pub(super) fn repo_of(source: &str) -> Option<RepoName> {
    let path = source.strip_prefix("sources/").unwrap_or(source);
    path.strip_prefix("github/")?.parse().ok()
}
