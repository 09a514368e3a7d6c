//! A weave that becomes a commit on a branch of its own, which only goes forward, and a pull request of it.

use std::collections::BTreeSet;
use std::fmt::Write;

use domain::failure::Failure;
use domain::ids::{BranchName, CommitSha, PullRef, RepoName, SprintNumber};
use domain::outgoing_text::integration_subject;
use scaffold::tree::{InvalidPath, TreePath};
use weave::tree::BlobId;
use weave::verdict::{Verdict, Way};

use super::Weave;
use crate::ports::{Edit, FoundPull, GitRead, GitWrite, NewCommit, NewPull, TREE_TRAILER};

/// Names the weave at the end of a commit of ours, before the line that names its tree.
const TRAILER: &str = "Gaffer-Weave: ";

/// Where a weave goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// The repository.
    pub repo: RepoName,
    /// The branch that it was woven into.
    pub base: BranchName,
    /// The default branch of the repository, which is never pushed to.
    pub default: BranchName,
    /// The branch that gets it: a new one, or one whose tip is a weave.
    pub branch: BranchName,
    /// Whether a pull request is opened, or the open one is changed.
    pub pull: bool,
    /// What the commit and the pull request say, where they say more than who is in.
    pub words: Option<Words>,
}

/// What a commit and a pull request say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The first line of the commit.
    pub subject: String,
    /// The title of the pull request.
    pub title: String,
    /// Its body.
    pub body: String,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The commit.
    pub commit: CommitSha,
    /// Whether it is a new one: the same weave is not pushed twice.
    pub is_new: bool,
    /// The pull request.
    pub pull: Option<PullRef>,
}

/// Why nothing was pushed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing is in.
    #[error("nothing was woven, so there is nothing to push")]
    Nothing,
    /// The branch is the one that is woven into.
    #[error("{0} is the branch that is woven into")]
    Same(BranchName),
    /// The branch is the one that all work ends in.
    #[error("{0} is the default branch of the repository")]
    Default(BranchName),
    /// Its tip is a commit of another hand, or was changed by one.
    #[error("the branch {0} ends with a commit that is no weave as it was pushed: {1}")]
    NotOurs(BranchName, CommitSha),
    /// Its open pull request goes elsewhere.
    #[error("the open pull request {0} goes into {1}, and this is woven into {2}")]
    OtherBase(PullRef, BranchName, BranchName),
    /// A path that is not written from here.
    #[error("the path {0:?} is not pushed from here: {1}")]
    Path(String, InvalidPath),
    /// GitHub refused.
    #[error(transparent)]
    Outside(#[from] Failure),
}

/// Pushes a weave. What breaks off before the branch moves leaves objects that nothing names.
pub async fn publish(
    read: &dyn GitRead,
    write: &dyn GitWrite,
    weave: &Weave,
    push: &Push,
) -> Result<Published, Refused> {
    if push.branch == push.base {
        return Err(Refused::Same(push.branch.clone()));
    }
    if push.branch == push.default {
        return Err(Refused::Default(push.branch.clone()));
    }
    let edits = edits(weave)?;
    if edits.is_empty() {
        return Err(Refused::Nothing);
    }
    let open = open(read, push).await?;
    let trailer = format!("{TRAILER}{}", digest(weave));
    let tip = read.tip(&push.repo, &push.branch).await?;
    let known = match &tip {
        Some(tip) => own(read, push, tip, &trailer).await?,
        None => false,
    };
    let commit = match &tip {
        Some(tip) if known => tip.clone(),
        Some(_) | None => {
            let parents = tip.iter().chain([&weave.base]).cloned().collect();
            let new = NewCommit {
                parents,
                files_of: weave.base.clone(),
                edits,
                kept: answered_later(weave),
                message: message(weave, push, &trailer),
                names_tree: true,
            };
            let made = write.commit(&push.repo, &new).await?;
            match tip {
                Some(_) => write.move_branch(&push.repo, &push.branch, &made).await?,
                None => write.create_branch(&push.repo, &push.branch, &made).await?,
            }
            made
        }
    };
    let pull = if push.pull {
        Some(propose(write, weave, push, open).await?)
    } else {
        None
    };
    Ok(Published {
        commit,
        is_new: !known,
        pull,
    })
}

/// Whether a tip is this very weave; refused if it is no weave, or its files are not those that the weave gave it. What says more than
/// who is in goes on after weaves with the same first line only.
async fn own(
    read: &dyn GitRead,
    push: &Push,
    tip: &CommitSha,
    trailer: &str,
) -> Result<bool, Refused> {
    let subject = push.words.as_ref().map(|words| words.subject.as_str());
    match trailer_of(read, &push.repo, tip, subject).await? {
        Some(found) => Ok(found == trailer),
        None => Err(Refused::NotOurs(push.branch.clone(), tip.clone())),
    }
}

/// Whether a commit is a weave of a sprint as it was pushed. Its first line names the sprint, so no weave of another hand counts.
pub async fn is_weave_of(
    read: &dyn GitRead,
    repo: &RepoName,
    number: SprintNumber,
    commit: &CommitSha,
) -> Result<bool, Failure> {
    let subject = integration_subject(number);
    let trailer = trailer_of(read, repo, commit, Some(subject.as_str())).await?;
    Ok(trailer.is_some())
}

/// The line that names the weave of a commit; none if it is no weave, its files are not those that the weave gave it, or its first line
/// is another one than the one that is wanted.
async fn trailer_of(
    read: &dyn GitRead,
    repo: &RepoName,
    commit: &CommitSha,
    subject: Option<&str>,
) -> Result<Option<String>, Failure> {
    let details = read.commit_details(repo, commit).await?;
    if subject.is_some_and(|subject| details.message.lines().next() != Some(subject)) {
        return Ok(None);
    }
    let lines = details.message.lines().rev();
    let mut lines = lines.filter(|line| !line.trim().is_empty());
    let tree = lines.next();
    let tree = tree.and_then(|line| line.strip_prefix(TREE_TRAILER));
    match lines.next() {
        Some(line) if line.starts_with(TRAILER) && tree == Some(details.tree.as_str()) => {
            Ok(Some(line.to_owned()))
        }
        Some(_) | None => Ok(None),
    }
}

/// The open pull request of the branch, if one is wanted; refused if it goes into another branch.
async fn open(read: &dyn GitRead, push: &Push) -> Result<Option<FoundPull>, Refused> {
    if !push.pull {
        return Ok(None);
    }
    let found = read.pull_of(&push.repo, &push.branch).await?;
    match found.filter(|found| found.is_open) {
        Some(found) if found.base != push.base => {
            let base = push.base.clone();
            Err(Refused::OtherBase(found.pull, found.base, base))
        }
        found => Ok(found),
    }
}

/// The open pull request of the branch says the newest, or there is a new one.
async fn propose(
    write: &dyn GitWrite,
    weave: &Weave,
    push: &Push,
    open: Option<FoundPull>,
) -> Result<PullRef, Refused> {
    let (title, body) = match &push.words {
        Some(words) => (words.title.clone(), words.body.clone()),
        None => (title(weave, push), body(weave)),
    };
    if let Some(found) = open {
        write.edit_pull(&found.pull, &title, &body).await?;
        return Ok(found.pull);
    }
    let new = NewPull {
        head: push.branch.clone(),
        base: push.base.clone(),
        title,
        body,
    };
    Ok(write.open_pull(&push.repo, &new).await?)
}

/// What differs from the base; what goes comes first, since a file may lie where a folder was.
fn edits(weave: &Weave) -> Result<Vec<Edit>, Refused> {
    let changes = weave.woven.tree.changes_since(&weave.target);
    let (mut edits, mut set) = (Vec::new(), Vec::new());
    for (path, entry) in changes {
        let parsed: Result<TreePath, _> = path.parse();
        let parsed = parsed.map_err(|why| Refused::Path(path.clone(), why))?;
        match entry {
            None => edits.push(Edit::Remove(parsed)),
            Some(entry) => set.push(match weave.woven.made.get(&entry.id) {
                Some(bytes) => Edit::Put(parsed, entry.mode, bytes.clone()),
                None => Edit::Place(parsed, entry),
            }),
        }
    }
    edits.extend(set);
    Ok(edits)
}

/// What conflicts met and no file has: an answer to them is recognised by it.
fn answered_later(weave: &Weave) -> Vec<Vec<u8>> {
    let out = weave.woven.outcomes.iter();
    let out = out.filter_map(|outcome| match &outcome.verdict {
        Verdict::Out(conflict) => Some(conflict),
        Verdict::In { .. } | Verdict::Unreadable(_) => None,
    });
    let met: BTreeSet<BlobId> = out
        .flat_map(|conflict| &conflict.clashes)
        .filter_map(|clash| clash.ours)
        .collect();
    let changes = weave.woven.tree.changes_since(&weave.target);
    let has_file = |id: &BlobId| changes.values().flatten().any(|entry| entry.id == *id);
    let kept = met.iter().filter(|id| !has_file(id));
    let made = kept.filter_map(|id| weave.woven.made.get(id));
    made.cloned().collect()
}

/// Members that are in, in the order in which they came, and how each did.
fn inside(weave: &Weave) -> impl Iterator<Item = (&super::Taken, Way)> {
    weave.woven.outcomes.iter().filter_map(|outcome| {
        let Verdict::In { way, .. } = outcome.verdict else {
            return None;
        };
        let mut taken = weave.taken.iter();
        let taken = taken.find(|taken| taken.number == outcome.number)?;
        Some((taken, way))
    })
}

/// The same base and heads in the same order are the same weave.
fn digest(weave: &Weave) -> String {
    let mut text = weave.base.to_string();
    for (taken, way) in inside(weave) {
        text.push_str(&format!("\n{} {} {way}", taken.number, taken.head));
    }
    let digest = BlobId::from_content(text.as_bytes()).unwrap_or(BlobId::ZERO);
    digest.to_string()
}

fn title(weave: &Weave, push: &Push) -> String {
    let count = inside(weave).count();
    let plural = if count == 1 { "" } else { "s" };
    format!("Weave {count} pull request{plural} into {}", push.base)
}

fn message(weave: &Weave, push: &Push, trailer: &str) -> String {
    let subject = push.words.as_ref().map(|words| words.subject.clone());
    let subject = subject.unwrap_or_else(|| title(weave, push));
    let mut message = format!("{subject}\n\n");
    for (taken, way) in inside(weave) {
        let (number, head) = (taken.number, &taken.head);
        let _ = writeln!(message, "Woven-Pull: {}#{number} {head} {way}", push.repo);
    }
    message + trailer
}

fn body(weave: &Weave) -> String {
    let mut body = "Woven without a clone:\n\n".to_owned();
    for (taken, way) in inside(weave) {
        let _ = writeln!(body, "- #{} ({way})", taken.number);
    }
    let out = weave.woven.outcomes.iter();
    let mut out = out.filter(|it| !matches!(it.verdict, Verdict::In { .. }));
    let mut missing: Vec<u64> = out.by_ref().map(|outcome| outcome.number).collect();
    missing.extend(weave.skipped.iter().map(|skipped| skipped.number));
    if !missing.is_empty() {
        let missing: Vec<_> = missing.iter().map(|number| format!("#{number}")).collect();
        let _ = writeln!(body, "\nNot in: {}.", missing.join(", "));
    }
    body
}
