//! Our access to GitHub: with our credential, and in each repository, which is identified by its number and never by
//! its name.

mod problem;
mod quota;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use problem::{AccessProblem, AccessProblemKind};
pub use quota::{GitHubBudget, GitHubUsage};

use crate::event::{ErrorCause, Event, Occurrence};
use crate::failure::{Failure, FailureClass};
use crate::ids::{AccountName, EventId, RepoId, RepoName, RepositoryIdentity};
use crate::redact::presentable;
use crate::step::Step;

/// Longest text of GitHub's that is kept, in characters.
const WHY_CHARS_MAX: usize = 300;

/// Maximum number of vanished pull requests of one repository that are announced individually.
pub const LOST_MAX: usize = 50;

/// How GitHub answers about the repository of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryAccess {
    /// The repository as its source names it.
    pub repo: RepoName,
    /// Its number, from the first time that it was read; nothing is done in another one of the same name.
    pub id: Option<RepoId>,
    /// Its present name, if it was renamed.
    pub renamed: Option<RenamedRepository>,
    /// What blocks work in it.
    pub trouble: Option<AccessProblem>,
    /// Missing pull requests of an existing repository.
    pub lost: BTreeMap<u64, MissingPull>,
}

/// The new name of a repository that is still the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedRepository {
    /// The new name.
    pub to: RepoName,
    /// Since when we know.
    pub since: Timestamp,
}

/// A missing pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPull {
    /// Since when.
    pub since: Timestamp,
    /// Whether it was announced: one 404 alone can be a lagging read.
    pub told: bool,
}

/// How GitHub takes our credential.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialAccess {
    /// Since it does not, and what GitHub said.
    pub trouble: Option<AccessProblem>,
}

impl RepositoryAccess {
    /// A repository that was never read.
    pub fn new(repo: RepoName) -> Self {
        Self {
            repo,
            id: None,
            renamed: None,
            trouble: None,
            lost: BTreeMap::new(),
        }
    }

    /// Whether this is the repository that the source means. While its number is unknown, none is.
    pub fn is(&self, id: RepoId) -> bool {
        self.id == Some(id)
    }

    /// A person says which repository is meant from now on.
    pub fn meant(&self, id: RepoId) -> Self {
        Self {
            id: Some(id),
            ..Self::new(self.repo.clone())
        }
    }
}

/// A repository answered: the expected one, under any name, or another one, which is announced once.
pub fn answered(
    reach: &RepositoryAccess,
    account: &AccountName,
    seen: &RepositoryIdentity,
    now: Timestamp,
) -> Step<RepositoryAccess> {
    let mut step = Step::unchanged(reach.clone());
    let same_name = seen.name == reach.repo;
    match reach.id {
        Some(id) if id != seen.id => {
            let obstacle = AccessProblemKind::Replaced {
                by: seen.id,
                was: id,
            };
            return stand_in_the_way(step, account, obstacle, String::new(), now);
        }
        None if !same_name => {
            let obstacle = AccessProblemKind::Moved {
                to: seen.name.clone(),
            };
            return stand_in_the_way(step, account, obstacle, String::new(), now);
        }
        Some(_) | None => {}
    }
    step.aggregate.id = Some(seen.id);
    step.aggregate.trouble = None;
    if same_name {
        step.aggregate.renamed = None;
    } else {
        rename(&mut step, account, &seen.name, now);
    }
    step
}

fn rename(step: &mut Step<RepositoryAccess>, account: &AccountName, to: &RepoName, now: Timestamp) {
    let reach = &mut step.aggregate;
    if reach.renamed.as_ref().is_some_and(|known| known.to == *to) {
        return;
    }
    let renamed = RenamedRepository {
        to: to.clone(),
        since: now,
    };
    let reason = problem::renamed(&reach.repo, &renamed);
    let name = format!("{}:renamed:{}:{now}", reach.repo.key(), to.key());
    reach.renamed = Some(renamed);
    step.events.push(event(account, &name, reason, now));
}

/// GitHub refused a read of the repository. The obstacle stays until the repository answers: another error in between
/// proves nothing.
pub fn refused(
    reach: &RepositoryAccess,
    account: &AccountName,
    failure: &Failure,
    now: Timestamp,
) -> Step<RepositoryAccess> {
    let step = Step::unchanged(reach.clone());
    let obstacle = match failure.class {
        FailureClass::Forbidden => AccessProblemKind::Blocked,
        FailureClass::NotFound => AccessProblemKind::Missing,
        FailureClass::Unauthorized
        | FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled => return step,
    };
    let said = presentable(&failure.message, WHY_CHARS_MAX);
    stand_in_the_way(step, account, obstacle, said, now)
}

/// A pull request is missing although its repository answered; announced when it is missing a second time.
pub fn pull_lost(
    reach: &RepositoryAccess,
    account: &AccountName,
    number: u64,
    now: Timestamp,
) -> Step<RepositoryAccess> {
    let mut step = Step::unchanged(reach.clone());
    let lost = &mut step.aggregate.lost;
    let full = lost.len() >= LOST_MAX;
    match lost.get_mut(&number) {
        Some(known) if known.told => {}
        Some(known) => {
            known.told = true;
            let since = known.since;
            let reason = problem::lost(&reach.repo, number);
            let name = format!("{}#{number}:lost:{since}", reach.repo.key());
            step.events.push(event(account, &name, reason, now));
        }
        None if full => {}
        None => {
            let first = MissingPull {
                since: now,
                told: false,
            };
            lost.insert(number, first);
        }
    }
    step
}

/// A pull request answered.
pub fn pull_found(mut step: Step<RepositoryAccess>, number: u64) -> Step<RepositoryAccess> {
    step.aggregate.lost.remove(&number);
    step
}

/// GitHub accepted or refused the credential; a refusal is announced once for the whole installation.
pub fn signed_in(
    access: &CredentialAccess,
    account: &AccountName,
    failure: Option<&Failure>,
    now: Timestamp,
) -> Step<CredentialAccess> {
    let mut step = Step::unchanged(access.clone());
    let Some(failure) = failure else {
        step.aggregate.trouble = None;
        return step;
    };
    if failure.class != FailureClass::Unauthorized || access.trouble.is_some() {
        return step;
    }
    let trouble = AccessProblem {
        obstacle: AccessProblemKind::SignIn,
        since: now,
        said: presentable(&failure.message, WHY_CHARS_MAX),
        told: true,
    };
    let name = format!("sign_in:{now}");
    let told = event(account, &name, trouble.sentence(None), now);
    step.events.push(told);
    step.aggregate.trouble = Some(trouble);
    step
}

/// Records an obstacle and announces it once; a 404 only when it comes a second time, since one alone can be a
/// lagging read.
fn stand_in_the_way(
    mut step: Step<RepositoryAccess>,
    account: &AccountName,
    obstacle: AccessProblemKind,
    said: String,
    now: Timestamp,
) -> Step<RepositoryAccess> {
    let reach = &mut step.aggregate;
    let known = reach.trouble.take();
    let same = known.filter(|known| obstacle.is_no_news_after(&known.obstacle));
    let first = same.is_none();
    let mut trouble = same.unwrap_or(AccessProblem {
        obstacle,
        since: now,
        said,
        told: false,
    });
    let may_lag = first && trouble.obstacle == AccessProblemKind::Missing;
    if !trouble.told && !may_lag {
        trouble.told = true;
        let code = trouble.obstacle.code();
        let name = format!("{}:{code}:{}", reach.repo.key(), trouble.since);
        let reason = trouble.sentence(Some(&reach.repo));
        step.events.push(event(account, &name, reason, now));
    }
    step.aggregate.trouble = Some(trouble);
    step
}

fn event(account: &AccountName, name: &str, reason: String, now: Timestamp) -> Event {
    Event::new(
        EventId::from_name(&format!("github:{name}")),
        account.clone(),
        now,
        Occurrence::Error {
            cause: ErrorCause::GitHub,
            reason,
        },
    )
}
