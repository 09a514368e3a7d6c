//! What is woven: merge bases, whole trees, diffs, blobs and messages, each named by a commit or a blob and so for ever the same.

use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};
use engine::ports::{CommitDetails, CommitRange};
use weave::tree::{BlobId, Entry, Mode, Tree};
use weave::weave::PATHS_MAX;

use super::super::branch::commit_sha;
use super::garbled;
use crate::client::{Client, Media, failure};
use crate::wire::git as wire;

/// Reads of folders for one tree that GitHub cuts off: it lists 100,000 entries or 7 MB at once.
const READS_MAX: usize = 100;

/// GitHub's code for a diff of more than 300 files, 20,000 lines or 1 MB.
const TOO_LARGE: &str = "too_large";

/// The mode of a folder.
const FOLDER: &str = "040000";

/// Git wrote this one before 2005 and reads it as a file still.
const FILE_OF_GROUP: &str = "100664";

pub(super) async fn merge_base(
    client: &Client,
    repo: &RepoName,
    CommitRange { base, head }: CommitRange<'_>,
) -> Result<CommitSha, Failure> {
    let doing = format!("looking where {base} and {head} parted in {repo}");
    let path = format!("/repos/{repo}/compare/{base}...{head}?per_page=1");
    let found: wire::Parted = client.get(repo, &path, &doing).await?;
    let parted = found.merge_base_commit.ok_or_else(|| {
        let message = format!("{doing}: they have no commit in common");
        failure(FailureClass::NotFound, &message)
    })?;
    commit_sha(&parted.sha, &doing)
}

pub(super) async fn commit_details(
    client: &Client,
    repo: &RepoName,
    commit: &CommitSha,
) -> Result<CommitDetails, Failure> {
    let doing = format!("reading the commit {commit} of {repo}");
    let path = format!("/repos/{repo}/git/commits/{commit}");
    let found: wire::CommitDetails = client.get(repo, &path, &doing).await?;
    Ok(CommitDetails {
        message: found.message,
        tree: found.tree.sha,
    })
}

/// None where GitHub says that it is too large.
pub(super) async fn diff(
    client: &Client,
    repo: &RepoName,
    CommitRange { base, head }: CommitRange<'_>,
) -> Result<Option<Vec<u8>>, Failure> {
    let doing = format!("reading what {repo} changed from {base} to {head}");
    let url = client
        .base()
        .rest(&format!("/repos/{repo}/compare/{base}...{head}"));
    let client = client.with_media(Media::Diff);
    match client.read(repo, url, &doing).await {
        Ok(answer) => Ok(Some(answer.body.to_vec())),
        Err(failure) if is_too_large(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// GitHub answers 406 with this code, or with a sentence alone.
fn is_too_large(failure: &Failure) -> bool {
    let says = |words: &str| failure.message.contains(words);
    failure.class == FailureClass::Invalid
        && says("answered 406")
        && (says(TOO_LARGE) || says("exceeded the maximum") || says("too large"))
}

pub(super) async fn blob(client: &Client, repo: &RepoName, id: BlobId) -> Result<Vec<u8>, Failure> {
    let doing = format!("reading the blob {id} of {repo}");
    let url = client.base().rest(&format!("/repos/{repo}/git/blobs/{id}"));
    let answer = client
        .with_media(Media::Raw)
        .read(repo, url, &doing)
        .await?;
    let bytes = answer.body.to_vec();
    if BlobId::from_content(&bytes) == Some(id) {
        Ok(bytes)
    } else {
        Err(garbled(&doing, "other bytes came"))
    }
}

/// A tree that GitHub cuts off is read folder by folder.
pub(super) async fn entries(
    client: &Client,
    repo: &RepoName,
    commit: &CommitSha,
) -> Result<Tree, Failure> {
    let doing = format!("reading the files of {repo} at {commit}");
    let mut tree = Tree::default();
    let mut open = vec![(String::new(), commit.to_string())];
    let mut reads = 0;
    while let Some((folder, id)) = open.pop() {
        reads += 1;
        if reads > READS_MAX {
            return Err(garbled(&doing, "its folders take too many requests"));
        }
        let found = level(client, repo, &id, &doing).await?;
        for entry in found {
            let path = format!("{folder}{}", entry.path);
            if entry.mode == FOLDER {
                open.push((format!("{path}/"), entry.sha));
            } else {
                let entry = file(&entry).map_err(|what| garbled(&doing, &what))?;
                tree.set(&path, Some(entry));
            }
        }
        if tree.len() > PATHS_MAX {
            return Err(garbled(&doing, &format!("there are over {PATHS_MAX}")));
        }
    }
    Ok(tree)
}

/// All files below a folder, or its own files and folders where those are too many.
async fn level(
    client: &Client,
    repo: &RepoName,
    id: &str,
    doing: &str,
) -> Result<Vec<wire::RestEntry>, Failure> {
    let path = format!("/repos/{repo}/git/trees/{id}");
    let deep = format!("{path}?recursive=1");
    let found: wire::RestTree = client.get(repo, &deep, doing).await?;
    if !found.truncated {
        let files = found.tree.into_iter().filter(|entry| entry.mode != FOLDER);
        return Ok(files.collect());
    }
    let found: wire::RestTree = client.get(repo, &path, doing).await?;
    if found.truncated {
        return Err(garbled(doing, "GitHub does not list a folder to the end"));
    }
    Ok(found.tree)
}

fn file(entry: &wire::RestEntry) -> Result<Entry, String> {
    let mode = match entry.mode.as_str() {
        FILE_OF_GROUP => Some(Mode::File),
        mode => Mode::from_octal(mode),
    };
    let unknown = || {
        format!(
            "{} is of a kind that is not known: {}",
            entry.path, entry.mode
        )
    };
    let mode = mode.ok_or_else(unknown)?;
    let id = entry.sha.parse();
    let id = id.map_err(|error| format!("{}: {error}", entry.path))?;
    Ok(Entry { mode, id })
}
