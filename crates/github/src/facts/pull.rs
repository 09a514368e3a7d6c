//! The pull request itself.

use std::str::FromStr;

use domain::facts::{Author, Base, Fact, Head, PullFacts, PullState, ReadDepth};
use domain::failure::{Failure, FailureClass};
use domain::ids::{PullRef, RepoId, RepositoryIdentity};
use engine::ports::PullGlance;
use jiff::Timestamp;

use super::{PULLS_READ, Parts};
use crate::client::{Client, failure, is_missing_permission};
use crate::wire;

/// GitHub's kind of an account of a person.
pub(super) const PERSON: &str = "User";

/// GitHub's placeholder user for deleted accounts.
const GHOST: (&str, u64) = ("ghost", 10_137);

/// GitHub's state of a pull request that merges and lacks nothing that a ruleset or classic protection requires.
/// Where something is missing it says `blocked` or `behind`, also to administrators who may merge all the same, as
/// GitHub's own command line shows them.
const CLEAN: &str = "clean";

/// What one reading of the pull request shows.
pub(super) struct PullAnswer {
    repo: RepositoryIdentity,
    pub(super) state: PullState,
    merged_by: Option<String>,
    pub(super) head: Head,
    pub(super) base: Base,
    pub(super) changed_files: u64,
    draft: bool,
    stack: Option<u64>,
    mergeable: Fact<bool>,
    /// Whether GitHub says that all requirements of its base are met.
    pub(super) is_clean: bool,
    node_id: String,
    author: Author,
    title: String,
    body: String,
    labels: Vec<String>,
    opened_at: Option<Timestamp>,
}

/// Reads the pull request.
pub(super) async fn read(client: &Client, pull: &PullRef) -> Result<PullAnswer, Failure> {
    let doing = format!("reading {pull}");
    let path = format!("/repos/{}/pulls/{}", pull.repo, pull.number);
    let found: wire::Pull = match client.get(&pull.repo, &path, &doing).await {
        Err(failure) if is_missing_permission(&failure) => {
            let message = format!(
                "{doing}: the GitHub credential may not read pull requests; grant `{PULLS_READ}`"
            );
            return Err(self::failure(FailureClass::Forbidden, &message));
        }
        read => read?,
    };
    if found.number != pull.number {
        return Err(failure(
            FailureClass::Garbled,
            &format!("{doing}: GitHub answered about another pull request"),
        ));
    }
    let seen = PullAnswer::new(found, pull, &doing)?;
    client.note_identity(&pull.repo, seen.repo.id);
    Ok(seen)
}

impl PullAnswer {
    /// Just enough to find its possible job.
    pub(super) fn into_glance(self) -> PullGlance {
        PullGlance {
            body: self.body,
            branch: self.head.branch,
            same_repo: self.head.repo_id == Some(self.repo.id),
            repo: self.repo,
            opened_at: self.opened_at,
        }
    }

    fn new(found: wire::Pull, pull: &PullRef, doing: &str) -> Result<Self, Failure> {
        let state = state(&found, doing)?;
        let repo = identity(found.base.repo.as_ref(), doing)?;
        let head_id = found.head.repo.as_ref().map(|repo| RepoId(repo.id));
        let (login, id) = found
            .user
            .map_or((GHOST.0.to_owned(), GHOST.1), |user| (user.login, user.id));
        Ok(Self {
            state,
            merged_by: found
                .merged_by
                .filter(|user| user.kind == PERSON)
                .map(|user| user.login),
            head: Head {
                sha: id_of(&found.head.sha, doing)?,
                branch: id_of(&found.head.branch, doing)?,
                repo: match found.head.repo {
                    // The repository is the expected one, under any name.
                    Some(_) if head_id == Some(repo.id) => Some(pull.repo.clone()),
                    Some(fork) => Some(id_of(&fork.full_name, doing)?),
                    None => None,
                },
                repo_id: head_id,
            },
            base: Base {
                branch: id_of(&found.base.branch, doing)?,
                sha: id_of(&found.base.sha, doing)?,
            },
            changed_files: found.changed_files,
            draft: found.draft,
            stack: found.stack.map(position),
            mergeable: mergeable(found.mergeable),
            is_clean: found.mergeable_state.as_deref() == Some(CLEAN),
            node_id: found.node_id,
            author: Author { login, id },
            title: found.title,
            body: found.body.unwrap_or_default(),
            labels: found.labels.into_iter().map(|label| label.name).collect(),
            // Only a reason to read it later.
            opened_at: found.created_at.and_then(|at| at.parse().ok()),
            repo,
        })
    }

    /// Completes the facts with the other readings.
    pub(super) fn into_facts(
        self,
        pull: &PullRef,
        read_at: Timestamp,
        parts: Parts,
        depth: ReadDepth,
    ) -> PullFacts {
        PullFacts {
            pull: pull.clone(),
            repo: self.repo,
            read_at,
            state: self.state,
            merged_by: self.merged_by,
            head: self.head,
            base: self.base,
            draft: self.draft,
            stack: self.stack,
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
            depth,
        }
    }
}

/// The repository that a pull request wants to change.
fn identity(repo: Option<&wire::Named>, doing: &str) -> Result<RepositoryIdentity, Failure> {
    let nameless = || failure(FailureClass::Garbled, &format!("{doing}: it has no base"));
    let repo = repo.ok_or_else(nameless)?;
    Ok(RepositoryIdentity {
        id: RepoId(repo.id),
        name: id_of(&repo.full_name, doing)?,
    })
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

/// Its position in its stack. A stack without a position counts as one with others below.
fn position(stack: wire::Stack) -> u64 {
    stack.position.unwrap_or(2)
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
