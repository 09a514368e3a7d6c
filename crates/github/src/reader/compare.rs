//! What differs between two commits.

use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};

use crate::client::{Client, failure};
use crate::wire;
use crate::wire::deployments::RelativePosition;

/// GitHub lists no more than this many files of a comparison, on its first page, without a hint at the rest.
pub(super) const FILES_MAX: usize = 300;

/// The paths that changed on the way to one commit since it parted from another.
pub(super) async fn changed(
    client: &Client,
    repo: &RepoName,
    (from, to): (&CommitSha, &CommitSha),
) -> Result<Vec<String>, Failure> {
    let doing = format!("comparing {from} with {to} in {repo}");
    // Files are on the first page, however few commits that has.
    let path = format!("/repos/{repo}/compare/{from}...{to}?per_page=1");
    let found: wire::Difference = client.get(repo, &path, &doing).await?;
    let garbled = |what: &str| Err(failure(FailureClass::Garbled, &format!("{doing}: {what}")));
    let Some(files) = found.files else {
        return garbled("GitHub lists no files");
    };
    if files.len() >= FILES_MAX {
        return garbled(&format!(
            "GitHub lists no more than {FILES_MAX} files, and there may be more"
        ));
    }
    let paths = files
        .into_iter()
        .flat_map(|file| [Some(file.filename), file.previous_filename]);
    Ok(paths.flatten().collect())
}

/// Whether a head, which is a commit or an encoded branch, is older than a merge, or is gone. One of another branch is neither.
pub(super) async fn is_older_or_gone(
    client: &Client,
    repo: &RepoName,
    (merge, head): (&CommitSha, &str),
) -> Result<bool, Failure> {
    let doing = format!("comparing {merge} with {head} in {repo}");
    let path = format!("/repos/{repo}/compare/{merge}...{head}?per_page=1");
    let read = client.get::<RelativePosition>(repo, &path, &doing).await;
    match read {
        Ok(found) => Ok(found.status == "behind"),
        Err(failure) if failure.class == FailureClass::NotFound => Ok(true),
        Err(failure) => Err(failure),
    }
}

/// Who GitHub commits as what it merges itself. Only GitHub has keys for this address.
const GITHUB: (&str, &str) = ("GitHub", "noreply@github.com");

/// Whether a commit is GitHub's own merge of a base into an earlier one: signed by GitHub, on the earlier one, and of a
/// commit that is in the base. The merges of its web editor look alike: only who may push can make one.
pub(super) async fn is_base_merge(
    client: &Client,
    (repo, base): (&RepoName, &CommitSha),
    (from, to): (&CommitSha, &CommitSha),
) -> Result<bool, Failure> {
    let doing = format!("reading commit {to} of {repo}");
    let path = format!("/repos/{repo}/git/commits/{to}");
    let found: wire::git::CommitOrigin = client.get(repo, &path, &doing).await?;
    let by = (
        found.committer.name.as_str(),
        found.committer.email.as_str(),
    );
    let [first, second] = found.parents.as_slice() else {
        return Ok(false);
    };
    if first.sha != from.as_str() || !found.verification.verified || by != GITHUB {
        return Ok(false);
    }
    let doing = format!("comparing {} with {base} in {repo}", second.sha);
    let path = format!("/repos/{repo}/compare/{}...{base}?per_page=1", second.sha);
    let merged: wire::Comparison = client.get(repo, &path, &doing).await?;
    Ok(merged.behind_by == 0)
}
