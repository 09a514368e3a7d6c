//! What differs between two commits.

use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};
use engine::ports::CommitRange;

use crate::client::{Client, failure};
use crate::wire;
use crate::wire::deployments::RelativePosition;

/// GitHub lists no more than this many files of a comparison, on its first page, without a hint at the rest.
pub(super) const FILES_MAX: usize = 300;

/// The paths that changed on the way to a head since it parted from its base.
pub(super) async fn changed(
    client: &Client,
    repo: &RepoName,
    CommitRange { base, head }: CommitRange<'_>,
) -> Result<Vec<String>, Failure> {
    let doing = format!("comparing {base} with {head} in {repo}");
    // Files are on the first page, however few commits that has.
    let path = format!("/repos/{repo}/compare/{base}...{head}?per_page=1");
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
    merge: &CommitSha,
    head: &str,
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

/// Whether a head is GitHub's own merge of a target into its base: signed by GitHub, on the base, and of a commit that is
/// in the target. The merges of its web editor look alike: only who may push can make one.
pub(super) async fn is_base_merge(
    client: &Client,
    repo: &RepoName,
    target: &CommitSha,
    CommitRange { base, head }: CommitRange<'_>,
) -> Result<bool, Failure> {
    let doing = format!("reading commit {head} of {repo}");
    let path = format!("/repos/{repo}/git/commits/{head}");
    let found: wire::git::CommitOrigin = client.get(repo, &path, &doing).await?;
    let by = (
        found.committer.name.as_str(),
        found.committer.email.as_str(),
    );
    let [first, second] = found.parents.as_slice() else {
        return Ok(false);
    };
    if first.sha != base.as_str() || !found.verification.verified || by != GITHUB {
        return Ok(false);
    }
    let doing = format!("comparing {} with {target} in {repo}", second.sha);
    let path = format!("/repos/{repo}/compare/{}...{target}?per_page=1", second.sha);
    let merged: wire::Comparison = client.get(repo, &path, &doing).await?;
    Ok(merged.behind_by == 0)
}
