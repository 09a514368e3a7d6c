//! What is read for a weave: pull requests, trees, diffs and blobs, several at once.

use std::collections::{BTreeMap, BTreeSet};

use domain::facts::{PullFacts, ReadDepth};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use weave::member::Change;
use weave::tree::{BlobId, Contents, Tree};

use super::{Ask, READS_AT_ONCE, Skip, Skipped, Taken, Weaver, WeavingError, pull};
use crate::ports::{Reading, Share};

/// A pull request that may take part.
pub(super) struct Candidate {
    pub(super) number: u64,
    pub(super) head: CommitSha,
    /// Where it left the branch that it is woven into.
    pub(super) parted: CommitSha,
}

impl Candidate {
    pub(super) fn into_taken(self) -> (Taken, CommitSha) {
        let taken = Taken {
            number: self.number,
            head: self.head,
        };
        (taken, self.parted)
    }
}

/// Trees by their commits; those that cannot be had say why.
pub(super) struct Trees(BTreeMap<CommitSha, Result<Tree, Failure>>);

impl Trees {
    /// The tree that is woven into; without it there is nothing to do.
    pub(super) fn target(&self, commit: &CommitSha) -> Result<Tree, Failure> {
        let unread = || Failure::new(FailureClass::Garbled, "the branch was not read");
        self.0.get(commit).cloned().unwrap_or_else(|| Err(unread()))
    }

    /// What differs between two commits.
    pub(super) fn changed(
        &self,
        from: &CommitSha,
        to: &CommitSha,
    ) -> Result<BTreeMap<String, Change>, Skip> {
        let find = |commit| match self.0.get(commit) {
            Some(Ok(tree)) => Ok(tree),
            Some(Err(failure)) => Err(Skip::TooLarge(failure.message.clone())),
            None => Err(Skip::NotFound),
        };
        let (before, after) = (find(from)?, find(to)?);
        let changes = after.changes_since(before).into_iter();
        let changes = changes.map(|(path, after)| {
            let before = before.get(&path);
            (path, Change { before, after })
        });
        Ok(changes.collect())
    }
}

impl Weaver<'_> {
    /// Who may take part, and who may not.
    pub(super) async fn candidates(
        &self,
        ask: &Ask,
        base: &CommitSha,
        now: Timestamp,
    ) -> Result<(Vec<Candidate>, Vec<Skipped>), WeavingError> {
        let (mut open, mut skipped) = (Vec::new(), Vec::new());
        for (number, found) in self.outlines(&ask.repo, &ask.numbers, now).await? {
            match found {
                Ok(facts) => open.push((number, facts)),
                Err(skip) => skipped.push(Skipped { number, skip }),
            }
        }
        let read = open
            .into_iter()
            .map(|(number, facts)| self.candidate(ask, base, (number, facts.head.sha)).boxed());
        let read = at_once(read.collect()).await?;
        let mut candidates = Vec::new();
        for read in read {
            match read {
                Ok(candidate) => candidates.push(candidate),
                Err(skip) => skipped.push(skip),
            }
        }
        Ok((candidates, skipped))
    }

    /// Where a pull request began, or why it takes no part.
    async fn candidate(
        &self,
        ask: &Ask,
        base: &CommitSha,
        (number, head): (u64, CommitSha),
    ) -> Result<Result<Candidate, Skipped>, Failure> {
        let known = ask.known.get(&number);
        let base = known.and_then(|it| it.begins_on.as_ref()).unwrap_or(base);
        match self.git.merge_base(&ask.repo, (base, &head)).await {
            Ok(parted) => Ok(Ok(Candidate {
                number,
                head,
                parted,
            })),
            Err(failure) if failure.class == FailureClass::NotFound => Ok(Err(Skipped {
                number,
                skip: Skip::Unrelated,
            })),
            Err(failure) => Err(failure),
        }
    }

    /// What a pull request changes at a head, since it left another commit.
    pub(super) async fn changed_since(
        &self,
        repo: &RepoName,
        (number, begun, head): (u64, &CommitSha, &CommitSha),
    ) -> Result<Result<BTreeMap<String, Change>, Skip>, Failure> {
        let candidate = Candidate {
            number,
            head: head.clone(),
            parted: self.git.merge_base(repo, (begun, head)).await?,
        };
        let own = std::slice::from_ref(&candidate);
        let trees = self.trees(repo, &candidate.parted, own).await?;
        Ok(trees.changed(&candidate.parted, head))
    }

    /// The pull requests themselves, or why one takes no part.
    pub(super) async fn outlines(
        &self,
        repo: &RepoName,
        numbers: &[u64],
        now: Timestamp,
    ) -> Result<Vec<(u64, Result<PullFacts, Skip>)>, Failure> {
        let reading = Reading {
            share: Share::Common,
            depth: ReadDepth::Outline,
        };
        let read = numbers.iter().map(|number| async move {
            match self.pulls.facts(&pull(repo, *number), reading, now).await {
                Ok(facts) => {
                    let skip = Skip::of(&facts, self.with_drafts);
                    Ok((*number, skip.map_or(Ok(facts), Err)))
                }
                Err(failure) if failure.class == FailureClass::NotFound => {
                    Ok((*number, Err(Skip::NotFound)))
                }
                Err(failure) => Err(failure),
            }
        });
        at_once(read.map(FutureExt::boxed).collect()).await
    }

    /// The trees of the branch and of each pull request where it began and where it ends, each once.
    pub(super) async fn trees(
        &self,
        repo: &RepoName,
        base: &CommitSha,
        candidates: &[Candidate],
    ) -> Result<Trees, Failure> {
        let ends = candidates.iter().flat_map(|it| [&it.parted, &it.head]);
        let commits: BTreeSet<&CommitSha> = ends.chain([base]).collect();
        let read = commits.into_iter().map(|commit| async move {
            match self.git.entries(repo, commit).await {
                Ok(tree) => Ok((commit.clone(), Ok(tree))),
                // A tree that is not listed to the end is that of a pull request that is too large.
                Err(failure) if failure.class == FailureClass::Garbled => {
                    Ok((commit.clone(), Err(failure)))
                }
                Err(failure) => Err(failure),
            }
        });
        let trees = at_once(read.map(FutureExt::boxed).collect()).await?;
        Ok(Trees(trees.into_iter().collect()))
    }

    /// The diffs of pull requests by number: from where each began to where it ends.
    pub(super) async fn diffs(
        &self,
        repo: &RepoName,
        asked: Vec<(u64, &CommitSha, &CommitSha)>,
    ) -> Result<Vec<(u64, Option<Vec<u8>>)>, Failure> {
        let read = asked.into_iter().map(|(number, from, to)| async move {
            match self.git.diff(repo, (from, to)).await {
                Ok(diff) => Ok((number, diff)),
                // Without it the texts are merged.
                Err(failure) if failure.class == FailureClass::Garbled => Ok((number, None)),
                Err(failure) => Err(failure),
            }
        });
        at_once(read.map(FutureExt::boxed).collect()).await
    }

    /// The contents of blobs; one that is too large or not there is left out, and conflicts where it is needed.
    pub(super) async fn blobs(
        &self,
        repo: &RepoName,
        ids: &BTreeSet<BlobId>,
    ) -> Result<Contents, Failure> {
        let read = ids.iter().map(|id| async move {
            match self.git.blob(repo, *id).await {
                Ok(bytes) => Ok(Some((*id, bytes))),
                Err(failure) => match failure.class {
                    FailureClass::Garbled | FailureClass::NotFound => Ok(None),
                    FailureClass::Unauthorized
                    | FailureClass::Forbidden
                    | FailureClass::Precondition
                    | FailureClass::Conflict
                    | FailureClass::Invalid
                    | FailureClass::Throttled
                    | FailureClass::Unavailable
                    | FailureClass::Network => Err(failure),
                },
            }
        });
        let read = at_once(read.map(FutureExt::boxed).collect()).await?;
        Ok(read.into_iter().flatten().collect())
    }
}

/// Waits for all, some at a time, and answers them in their order.
async fn at_once<T>(reads: Vec<BoxFuture<'_, Result<T, Failure>>>) -> Result<Vec<T>, Failure> {
    let reads = stream::iter(reads).buffered(READS_AT_ONCE);
    reads.try_collect().await
}
