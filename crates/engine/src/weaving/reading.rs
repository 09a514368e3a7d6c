//! What is read for a weave: pull requests, trees, diffs and blobs, several at once.

use std::collections::{BTreeMap, BTreeSet};

use domain::facts::{PullFacts, ReadDepth};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use weave::member::{Change, moved};
use weave::tree::{BlobId, Contents, Tree};

use super::{Ask, READS_AT_ONCE, Skip, Skipped, Taken, Weaver, WeavingError, pull};
use crate::ports::{CommitRange, Reading, Share};

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

/// What a pull request and the branch that it is woven into changed since it began.
pub(super) struct Changed {
    pub(super) own: BTreeMap<String, Change>,
    /// The paths that the branch renamed.
    pub(super) target_renamed: BTreeSet<String>,
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
            .map(|(number, facts)| self.candidate(ask, base, number, facts.head.sha).boxed());
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
        number: u64,
        head: CommitSha,
    ) -> Result<Result<Candidate, Skipped>, Failure> {
        let known = ask.known.get(&number);
        let base = known.and_then(|it| it.begins_on.as_ref()).unwrap_or(base);
        let begun = CommitRange { base, head: &head };
        match self.git.merge_base(&ask.repo, begun).await {
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
        range: CommitRange<'_>,
    ) -> Result<Result<BTreeMap<String, Change>, Skip>, Failure> {
        let parted = self.git.merge_base(repo, range).await?;
        let before = match self.whole(repo, &parted).await? {
            Ok(tree) => tree,
            Err(skip) => return Ok(Err(skip)),
        };
        let after = self.whole(repo, range.head).await?;
        Ok(after.map(|after| between(&before, &after)))
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
                    let skip = Skip::from_facts(&facts, self.with_drafts);
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

    /// What each pull request changed, in their order, or why it takes no part. Only what differs is kept: besides the tree of the
    /// branch there are one where pull requests began and those of some heads at a time, however many take part.
    pub(super) async fn changed(
        &self,
        repo: &RepoName,
        base: &CommitSha,
        target: &Tree,
        candidates: &[Candidate],
    ) -> Result<Vec<Result<Changed, Skip>>, Failure> {
        let mut began: BTreeMap<&CommitSha, Vec<(usize, &CommitSha)>> = BTreeMap::new();
        for (at, it) in candidates.iter().enumerate() {
            began.entry(&it.parted).or_default().push((at, &it.head));
        }
        let mut all: BTreeMap<usize, Result<Changed, Skip>> = BTreeMap::new();
        for (parted, heads) in began {
            let read = match parted == base {
                true => None,
                false => Some(self.whole(repo, parted).await?),
            };
            let before = match &read {
                None => Ok(target),
                Some(Ok(tree)) => Ok(tree),
                Some(Err(skip)) => Err(skip.clone()),
            };
            match before {
                Ok(before) => {
                    let target_renamed = moved(&between(before, target));
                    let (places, heads): (Vec<usize>, Vec<_>) = heads.into_iter().unzip();
                    let own = self.changed_at(repo, parted, before, heads).await?;
                    let changed = own.into_iter().map(|own| {
                        own.map(|own| Changed {
                            own,
                            target_renamed: target_renamed.clone(),
                        })
                    });
                    all.extend(places.into_iter().zip(changed));
                }
                Err(skip) => all.extend(heads.into_iter().map(|(at, _)| (at, Err(skip.clone())))),
            }
        }
        Ok(all.into_values().collect())
    }

    /// What heads changed since the commit that they began at.
    async fn changed_at(
        &self,
        repo: &RepoName,
        parted: &CommitSha,
        before: &Tree,
        heads: Vec<&CommitSha>,
    ) -> Result<Vec<Result<BTreeMap<String, Change>, Skip>>, Failure> {
        let read = heads.into_iter().map(|head| async move {
            if head == parted {
                return Ok(Ok(BTreeMap::new()));
            }
            let after = self.whole(repo, head).await;
            after.map(|after| after.map(|after| between(before, &after)))
        });
        at_once(read.map(FutureExt::boxed).collect()).await
    }

    /// The tree of a commit. One that is not listed to the end is that of a pull request that is too large.
    async fn whole(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
    ) -> Result<Result<Tree, Skip>, Failure> {
        match self.git.entries(repo, commit).await {
            Ok(tree) => Ok(Ok(tree)),
            Err(failure) if failure.class == FailureClass::Garbled => {
                Ok(Err(Skip::TooLarge(failure.message)))
            }
            Err(failure) => Err(failure),
        }
    }

    /// The diffs of pull requests by number: from where each began to where it ends.
    pub(super) async fn diffs(
        &self,
        repo: &RepoName,
        asked: Vec<(u64, CommitRange<'_>)>,
    ) -> Result<Vec<(u64, Option<Vec<u8>>)>, Failure> {
        let read = asked.into_iter().map(|(number, range)| async move {
            match self.git.diff(repo, range).await {
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

/// What differs between two trees.
fn between(before: &Tree, after: &Tree) -> BTreeMap<String, Change> {
    let changes = after.changes_since(before).into_iter();
    let changes = changes.map(|(path, after)| {
        let before = before.get(&path);
        (path, Change { before, after })
    });
    changes.collect()
}

/// Waits for all, some at a time, and answers them in their order.
pub(crate) async fn at_once<T>(
    reads: Vec<BoxFuture<'_, Result<T, Failure>>>,
) -> Result<Vec<T>, Failure> {
    let reads = stream::iter(reads).buffered(READS_AT_ONCE);
    reads.try_collect().await
}
