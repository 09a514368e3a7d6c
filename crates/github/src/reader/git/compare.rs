//! What a head changed since it left its base: commits and files with their modes.

use std::collections::BTreeMap;

use domain::failure::Failure;
use domain::ids::{CommitSha, RepoName};
use engine::ports::{CommitRange, Comparison};
use scaffold::scope::{ChangeKind, FileChange};
use scaffold::tree::Mode;

use super::super::branch::commit_sha;
use super::super::compare::FILES_MAX;
use super::{garbled, line};
use crate::client::{Client, PAGE_SIZE};
use crate::wire::git as wire;

/// 1,000 commits: what a repository of many people gets in weeks.
const PAGES_MAX: usize = 10;

/// How many folders are read for the modes of changed files.
const FOLDERS_MAX: usize = 200;

/// The mode of a folder.
const FOLDER: &str = "040000";

pub(super) async fn read(
    client: &Client,
    repo: &RepoName,
    range: CommitRange<'_>,
) -> Result<Comparison, Failure> {
    let CommitRange { base, head } = range;
    let doing = format!("comparing {base} with {head} in {repo}");
    let (first, commits) = pages(client, repo, range, &doing).await?;
    let Some(found) = first.files else {
        return Err(garbled(&doing, "GitHub lists no files"));
    };
    if found.len() >= FILES_MAX {
        let what = format!("GitHub lists no more than {FILES_MAX} files, and there may be more");
        return Err(garbled(&doing, &what));
    }
    let files: Result<Vec<FileChange>, String> = found.into_iter().map(change).collect();
    let mut files = files.map_err(|what| garbled(&doing, &what))?;
    let there = files.iter().filter(|file| file.kind != ChangeKind::Removed);
    let wanted: Vec<_> = there.map(|file| file.path.as_str()).collect();
    if !wanted.is_empty() {
        let modes = modes(client, repo, head, &wanted, &doing).await?;
        for file in files
            .iter_mut()
            .filter(|file| file.kind != ChangeKind::Removed)
        {
            file.mode = modes.get(&file.path).copied();
        }
    }
    let commits = commits.into_iter().map(|found| line(found, &doing));
    Ok(Comparison {
        merge_base: commit_sha(&first.merge_base_commit.sha, &doing)?,
        commits: commits.collect::<Result<_, _>>()?,
        files,
    })
}

/// The first page, which alone has files, and the commits of all pages.
async fn pages(
    client: &Client,
    repo: &RepoName,
    CommitRange { base, head }: CommitRange<'_>,
    doing: &str,
) -> Result<(wire::Compared, Vec<wire::Commit>), Failure> {
    let path = format!("/repos/{repo}/compare/{base}...{head}?per_page={PAGE_SIZE}");
    let answer = client.read(repo, client.base().rest(&path), doing).await?;
    let mut first: wire::Compared = answer.json(doing)?;
    let mut commits = std::mem::take(&mut first.commits);
    let mut next = answer.next;
    for _ in 1..PAGES_MAX {
        let Some(url) = next else { break };
        if !client.base().contains(&url) {
            let what = "the next page is said to be on another host; it was not asked for";
            return Err(garbled(doing, what));
        }
        let answer = client.read(repo, url, doing).await?;
        let page: wire::Compared = answer.json(doing)?;
        commits.extend(page.commits);
        next = answer.next;
    }
    if commits.len() != first.total_commits {
        let (came, all) = (commits.len(), first.total_commits);
        return Err(garbled(doing, &format!("{came} of {all} commits came")));
    }
    Ok((first, commits))
}

/// What became of a file. A word that is not known could mean anything.
fn change(file: wire::ComparedFile) -> Result<FileChange, String> {
    let (kind, old_path) = match (file.status.as_str(), file.previous_filename) {
        ("added" | "copied", _) => (ChangeKind::Added, None),
        // `unchanged` is listed where only its mode or its history differs.
        ("modified" | "changed" | "unchanged", _) => (ChangeKind::Changed, None),
        ("removed", _) => (ChangeKind::Removed, None),
        ("renamed", Some(old)) => (ChangeKind::Added, Some(old)),
        (other, _) => return Err(format!("a file has become `{other}`")),
    };
    Ok(FileChange {
        path: file.filename,
        old_path,
        kind,
        mode: None,
    })
}

/// The modes of these files of a commit. In a repository whose files GitHub does not list at once, they are read in their folders.
async fn modes(
    client: &Client,
    repo: &RepoName,
    commit: &CommitSha,
    wanted: &[&str],
    doing: &str,
) -> Result<BTreeMap<String, Mode>, Failure> {
    let path = format!("/repos/{repo}/git/trees/{commit}?recursive=1");
    let found: wire::RestTree = client.get(repo, &path, doing).await?;
    if found.truncated {
        return modes_by_folder(client, repo, commit, wanted, doing).await;
    }
    let entries = found.tree.into_iter();
    let modes = entries.filter_map(|entry| Some((entry.path, mode(&entry.mode)?)));
    Ok(modes.collect())
}

/// The same, folder by folder. What takes too many of them stays unknown.
async fn modes_by_folder(
    client: &Client,
    repo: &RepoName,
    commit: &CommitSha,
    wanted: &[&str],
    doing: &str,
) -> Result<BTreeMap<String, Mode>, Failure> {
    let mut modes = BTreeMap::new();
    let mut open = vec![(String::new(), commit.to_string())];
    for _ in 0..FOLDERS_MAX {
        let Some((folder, id)) = open.pop() else {
            break;
        };
        let path = format!("/repos/{repo}/git/trees/{id}");
        let found: wire::RestTree = client.get(repo, &path, doing).await?;
        for entry in found.tree {
            let path = format!("{folder}{}", entry.path);
            if entry.mode == FOLDER {
                let below = format!("{path}/");
                if wanted.iter().any(|wanted| wanted.starts_with(&below)) {
                    open.push((below, entry.sha));
                }
            } else if let Some(mode) = mode(&entry.mode) {
                modes.insert(path, mode);
            }
        }
    }
    Ok(modes)
}

fn mode(digits: &str) -> Option<Mode> {
    match digits {
        "100644" => Some(Mode::File),
        "100755" => Some(Mode::Executable),
        "120000" => Some(Mode::Link),
        "160000" => Some(Mode::Submodule),
        _other => None,
    }
}
