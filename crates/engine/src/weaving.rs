//! Pull requests woven into a branch without a clone.
//!
//! Everything is read by its commit or blob, so it is the same whenever it is read again, and nothing of it is stored.

mod publish;
mod reading;
mod skip;

pub use publish::{Published, Push, Refused, Words, is_weave_of, publish};
pub(crate) use reading::at_once;
pub use skip::{Skip, Skipped};

use std::collections::{BTreeMap, BTreeSet};

use domain::failure::Failure;
use domain::ids::{BranchName, CommitSha, PullRef, RepoName};
use domain::redact::presentable;
use jiff::Timestamp;
use weave::held;
use weave::member::{Change, Member, Work};
use weave::tree::{BlobId, Contents, Tree};
use weave::verdict::Clash;
use weave::weave::{Excess, MEMBERS_MAX, Order, Start, Woven, needs, needs_patches, weave};

use crate::ports::{CommitRange, GitRead, PullsRead};
use reading::Changed;

/// Reads at once: more would not be answered sooner.
const READS_AT_ONCE: usize = 8;

/// What we have no permission to change on GitHub, and what decides which checks run.
const PROTECTED: [&str; 1] = [".github/"];

/// Mail between personas, which is never woven.
pub(crate) const MAIL: &str = ".jules/mail/";

/// Longest path that a record keeps of a conflict, in characters.
const KEPT_PATH_CHARS_MAX: usize = 200;

/// What is to be woven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The repository.
    pub repo: RepoName,
    /// The branch to weave into.
    pub base: BranchName,
    /// The pull requests.
    pub numbers: Vec<u64>,
    /// In which order they are tried.
    pub order: Order,
    /// What earlier weaves have come to, by number.
    pub known: BTreeMap<u64, Known>,
}

/// What earlier weaves have come to for a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Its place in the weave before, if it was in.
    pub was_in: Option<usize>,
    /// A commit whose history holds the one that it began at, in place of the branch that it is woven into.
    pub begins_on: Option<CommitSha>,
    /// The conflicts that its session was shown, at paths as records keep them.
    pub refused: Vec<Clash>,
}

/// A pull request that took part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its number.
    pub number: u64,
    /// Its head when it was read.
    pub head: CommitSha,
}

/// What came of a weave.
#[derive(Debug, Clone)]
pub struct Weave {
    /// The tip of the branch that it was woven into.
    pub base: CommitSha,
    /// Its tree.
    pub target: Tree,
    /// Who took part, by number.
    pub taken: Vec<Taken>,
    /// Who did not.
    pub skipped: Vec<Skipped>,
    /// The tree and the verdicts.
    pub woven: Woven,
}

/// Why nothing could be woven.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeavingError {
    /// The branch is not there.
    #[error("{0} has no branch {1}")]
    NoBranch(RepoName, BranchName),
    /// There is too much of it.
    #[error(transparent)]
    Excess(#[from] Excess),
    /// GitHub could not be read.
    #[error(transparent)]
    Outside(#[from] Failure),
}

/// Reads what a weave needs.
#[derive(Clone, Copy)]
pub struct Weaver<'w> {
    /// Reads pull requests.
    pub pulls: &'w dyn PullsRead,
    /// Reads what they are made of.
    pub git: &'w dyn GitRead,
    /// Whether drafts take part.
    pub with_drafts: bool,
}

impl Weaver<'_> {
    /// Weaves pull requests. Nothing is written.
    pub async fn weave(&self, ask: &Ask, now: Timestamp) -> Result<Weave, WeavingError> {
        if ask.numbers.len() > MEMBERS_MAX {
            return Err(Excess::Members.into());
        }
        let tip = self.git.tip(&ask.repo, &ask.base).await?;
        let base = tip.ok_or_else(|| WeavingError::NoBranch(ask.repo.clone(), ask.base.clone()))?;
        let (candidates, mut skipped) = self.candidates(ask, &base, now).await?;
        let target = self.git.entries(&ask.repo, &base).await?;
        let changed = self.changed(&ask.repo, &base, &target, &candidates);
        let changed = changed.await?;
        let (mut taken, mut members) = (Vec::new(), Vec::new());
        for (candidate, changed) in candidates.into_iter().zip(changed) {
            let known = ask.known.get(&candidate.number);
            match changed.and_then(|changed| member(candidate.number, known, changed)) {
                Ok(member) => {
                    members.push(member);
                    taken.push(candidate.into_taken());
                }
                Err(skip) => skipped.push(Skipped {
                    number: candidate.number,
                    skip,
                }),
            }
        }
        skipped.sort_by_key(|skipped| skipped.number);
        self.add_patches(&ask.repo, &target, &mut members, &taken)
            .await?;
        let ids = needs(Start::at(&target), &members);
        let loaded = self.blobs(&ask.repo, &ids).await?;
        let woven = weave(Start::at(&target), &members, ask.order, &loaded)?;
        Ok(Weave {
            base,
            target,
            taken: taken.into_iter().map(|(taken, _)| taken).collect(),
            skipped,
            woven,
        })
    }

    /// Reads the diffs of those who may need them.
    async fn add_patches(
        &self,
        repo: &RepoName,
        target: &Tree,
        members: &mut [Member],
        taken: &[(Taken, CommitSha)],
    ) -> Result<(), WeavingError> {
        let needing = needs_patches(Start::at(target), members);
        let asked: Vec<_> = taken
            .iter()
            .filter(|(taken, _)| needing.contains(&taken.number))
            .map(|(taken, parted)| {
                let (base, head) = (parted, &taken.head);
                (taken.number, CommitRange { base, head })
            })
            .collect();
        for (number, diff) in self.diffs(repo, asked).await? {
            let found = members.iter_mut().find(|member| member.number == number);
            if let Some(Work::Trees { patch, .. }) = found.map(|member| &mut member.work) {
                *patch = diff;
            }
        }
        Ok(())
    }

    /// The contents that a change of the base consists of, before and afterwards.
    pub async fn contents(&self, repo: &RepoName, weave: &Weave) -> Result<Contents, WeavingError> {
        let changes = weave.woven.tree.changes_since(&weave.target);
        let before = changes.keys().filter_map(|path| weave.target.get(path));
        let after = changes.values().flatten().copied();
        let files = before
            .chain(after)
            .filter(|entry| entry.mode != weave::tree::Mode::Submodule);
        let is_missing = |id: &BlobId| *id != BlobId::EMPTY && !weave.woven.made.contains_key(id);
        let ids: BTreeSet<BlobId> = files.map(|entry| entry.id).filter(is_missing).collect();
        let mut contents = self.blobs(repo, &ids).await?;
        contents.extend(weave.woven.made.clone());
        contents.insert(BlobId::EMPTY, Vec::new());
        Ok(contents)
    }

    /// Whether what is woven holds all that a pull request changes, however it came in: between a commit whose history holds the one
    /// that it began at, and its head. What can never be read counts as missing, and holds up nothing else; one odd answer is
    /// no proof of that, so it is read twice.
    pub async fn holds(
        &self,
        repo: &RepoName,
        weave: &Weave,
        between: CommitRange<'_>,
    ) -> Result<bool, Failure> {
        let is_odd = |read: &Result<bool, Failure>| match read {
            Ok(_) => false,
            Err(failure) => !failure.class.may_pass(),
        };
        let mut read = self.compared(repo, weave, between).await;
        if is_odd(&read) {
            read = self.compared(repo, weave, between).await;
        }
        if is_odd(&read) { Ok(false) } else { read }
    }

    async fn compared(
        &self,
        repo: &RepoName,
        weave: &Weave,
        between: CommitRange<'_>,
    ) -> Result<bool, Failure> {
        let Ok(mut changed) = self.changed_since(repo, between).await? else {
            return Ok(false);
        };
        changed.retain(|path, _| !path.starts_with(MAIL));
        let (tree, made) = (&weave.woven.tree, &weave.woven.made);
        let Some(mut ids) = held::needs(tree, &changed) else {
            return Ok(false);
        };
        ids.retain(|id| *id != BlobId::EMPTY && !made.contains_key(id));
        let mut contents = self.blobs(repo, &ids).await?;
        contents.extend(made.clone());
        let is_held = held::holds(tree, &changed, &contents);
        Ok(is_held && !changed.is_empty())
    }

    /// Those whose heads are not those that were woven any more.
    pub async fn moved(
        &self,
        repo: &RepoName,
        weave: &Weave,
        now: Timestamp,
    ) -> Result<Vec<Skipped>, WeavingError> {
        let numbers: Vec<u64> = weave.taken.iter().map(|taken| taken.number).collect();
        let mut moved = Vec::new();
        for (number, found) in self.outlines(repo, &numbers, now).await? {
            let before = weave.taken.iter().find(|taken| taken.number == number);
            let same = matches!((&found, before), (Ok(facts), Some(before)) if facts.head.sha == before.head);
            if !same {
                let skip = found.err().unwrap_or(Skip::HeadMoved);
                moved.push(Skipped { number, skip });
            }
        }
        Ok(moved)
    }
}

/// What a pull request changed, or why it takes no part.
fn member(number: u64, known: Option<&Known>, it: Changed) -> Result<Member, Skip> {
    let mut changed = it.own;
    // Mail is harvested from it, and belongs to no branch that people work on.
    changed.retain(|path, _| !path.starts_with(MAIL));
    if changed.is_empty() {
        return Err(Skip::NoChange);
    }
    let is_protected = |path: &&String| PROTECTED.iter().any(|folder| path.starts_with(folder));
    if let Some(path) = changed.keys().find(is_protected) {
        return Err(Skip::Protected(path.clone()));
    }
    let refused = known.map(|known| shown_at(&changed, &known.refused));
    Ok(Member {
        number,
        was_in: known.and_then(|known| known.was_in),
        work: Work::Trees {
            changed,
            patch: None,
        },
        refused: refused.unwrap_or_default(),
        target_renamed: it.target_renamed,
        begins_on_woven: known.is_some_and(|known| known.begins_on.is_some()),
    })
}

/// A path of a conflict as a record keeps it, which is text from outside.
pub(crate) fn kept_path(path: &str) -> String {
    presentable(path, KEPT_PATH_CHARS_MAX)
}

/// The conflicts that a session was shown, at the paths of its change: a kept path may differ from the one that it stands for.
pub(crate) fn shown_at(changed: &BTreeMap<String, Change>, shown: &[Clash]) -> Vec<Clash> {
    let mut found = Vec::new();
    // Most changes answer nothing, and may have very many paths.
    if shown.is_empty() {
        return found;
    }
    for path in changed.keys() {
        let kept = kept_path(path);
        let of_path = shown.iter().filter(|clash| clash.path == kept);
        found.extend(of_path.map(|clash| Clash {
            path: path.clone(),
            ..clash.clone()
        }));
    }
    found
}

/// A pull request of a repository.
fn pull(repo: &RepoName, number: u64) -> PullRef {
    PullRef {
        repo: repo.clone(),
        number,
    }
}
