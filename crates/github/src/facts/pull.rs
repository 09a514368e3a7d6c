//! The pull request itself.

use std::str::FromStr;

use domain::facts::{Author, Base, Fact, Head, PullFacts, PullState};
use domain::failure::{Failure, FailureClass};
use domain::ids::PullRef;
use engine::ports::PullGlance;
use jiff::Timestamp;

use super::Parts;
use crate::client::{Client, failure};
use crate::wire;

/// GitHub's user that stands in for deleted accounts.
const GHOST: (&str, u64) = ("ghost", 10_137);

/// What one reading of the pull request shows.
pub(super) struct Seen {
    pub(super) state: PullState,
    pub(super) head: Head,
    pub(super) base: Base,
    pub(super) changed_files: u64,
    draft: bool,
    mergeable: Fact<bool>,
    node_id: String,
    author: Author,
    title: String,
    body: String,
    labels: Vec<String>,
}

/// Reads the pull request.
pub(super) async fn read(client: &Client, pull: &PullRef) -> Result<Seen, Failure> {
    let doing = format!("reading {pull}");
    let path = format!("/repos/{}/pulls/{}", pull.repo, pull.number);
    let found: wire::Pull = client.get(&pull.repo, &path, &doing).await?;
    let same_repo = found.base.repo.as_ref().is_some_and(|repo| {
        repo.full_name
            .parse()
            .is_ok_and(|name: domain::ids::RepoName| name == pull.repo)
    });
    if found.number != pull.number || !same_repo {
        return Err(failure(
            FailureClass::Garbled,
            &format!("{doing}: GitHub answered about another pull request"),
        ));
    }
    Seen::new(found, &doing)
}

impl Seen {
    /// Just enough to tell whose it may be.
    pub(super) fn into_glance(self, pull: &PullRef) -> PullGlance {
        PullGlance {
            body: self.body,
            branch: self.head.branch,
            same_repo: self.head.repo.as_ref() == Some(&pull.repo),
        }
    }

    fn new(found: wire::Pull, doing: &str) -> Result<Self, Failure> {
        let state = state(&found, doing)?;
        let (login, id) = found
            .user
            .map_or((GHOST.0.to_owned(), GHOST.1), |user| (user.login, user.id));
        Ok(Self {
            state,
            head: Head {
                sha: id_of(&found.head.sha, doing)?,
                branch: id_of(&found.head.branch, doing)?,
                repo: found
                    .head
                    .repo
                    .map(|repo| id_of(&repo.full_name, doing))
                    .transpose()?,
            },
            base: Base {
                branch: id_of(&found.base.branch, doing)?,
                sha: id_of(&found.base.sha, doing)?,
            },
            changed_files: found.changed_files,
            draft: found.draft,
            mergeable: mergeable(found.mergeable),
            node_id: found.node_id,
            author: Author { login, id },
            title: found.title,
            body: found.body.unwrap_or_default(),
            labels: found.labels.into_iter().map(|label| label.name).collect(),
        })
    }

    /// Completes the facts with what was read besides.
    pub(super) fn into_facts(self, pull: &PullRef, read_at: Timestamp, parts: Parts) -> PullFacts {
        PullFacts {
            pull: pull.clone(),
            read_at,
            state: self.state,
            head: self.head,
            base: self.base,
            draft: self.draft,
            mergeable: self.mergeable,
            node_id: self.node_id,
            author: self.author,
            title: self.title,
            body: self.body,
            labels: self.labels,
            checks: parts.checks,
            reviews: parts.reviews,
            files: parts.files,
            demands: parts.demands,
            ci: parts.ci,
        }
    }
}

fn state(found: &wire::Pull, doing: &str) -> Result<PullState, Failure> {
    match (found.state.as_str(), found.merged) {
        (_, true) => Ok(PullState::Merged {
            commit: found
                .merge_commit_sha
                .as_deref()
                .and_then(|sha| sha.parse().ok()),
        }),
        ("open", false) => Ok(PullState::Open),
        ("closed", false) => Ok(PullState::Closed),
        (other, false) => Err(failure(
            FailureClass::Garbled,
            &format!("{doing}: it is `{other}`, which this version does not know"),
        )),
    }
}

fn mergeable(word: Option<bool>) -> Fact<bool> {
    word.map_or_else(
        || Fact::Unknown {
            why: "GitHub has not worked out yet whether it merges cleanly".to_owned(),
        },
        Fact::Known,
    )
}

/// A validated id, or an answer that cannot be trusted.
fn id_of<T: FromStr>(text: &str, doing: &str) -> Result<T, Failure>
where
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|error| failure(FailureClass::Garbled, &format!("{doing}: {error}")))
}
