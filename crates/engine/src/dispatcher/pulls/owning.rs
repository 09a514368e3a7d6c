//! Whose a pull request is: found by enough evidence, never by what it says of itself alone.

use domain::facts::{PullFacts, ReadDepth};
use domain::ids::{JobId, PullRef, SessionId, SprintNumber};
use domain::job::{Job, JobPhase};
use domain::link::{self, Link};
use domain::policy::Source;
use domain::pull;

use super::hint::PullWakeup;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::{Reading, Share};
use crate::settings::TrackedPull;
use crate::store::Versioned;

impl Dispatcher {
    /// Loads the record of one of our pull requests, or makes one when enough evidence links it to a session of ours.
    /// Others leave no trace.
    pub(super) async fn ours(
        &self,
        reference: &PullRef,
        found: Option<Versioned<TrackedPull>>,
        candidates: &[JobId],
        facts: &PullFacts,
    ) -> Result<Option<Versioned<TrackedPull>>, Error> {
        if found.is_some() {
            return Ok(found);
        }
        for id in candidates {
            let Some(job) = self.backend.store.job(id).await?.map(|job| job.value) else {
                continue;
            };
            if is_proposal_of(&job, facts) {
                let now = self.backend.now();
                let pull = pull::Pull {
                    sprint: sprint_of(&job),
                    ..pull::track(reference.clone(), job.id, None, now)
                };
                return Ok(Some(Versioned::unstored(TrackedPull {
                    pull,
                    read_at: None,
                    unread: None,
                })));
            }
            let Some(session) = job.session().cloned() else {
                continue;
            };
            // A claim in a body or a branch is never trusted: Jules's own record is read.
            let view = self.readers.sessions.get(&job.account, &session).await?;
            match link::weigh(facts, &view) {
                Link::Agreed(session) => {
                    let now = self.backend.now();
                    let pull = pull::Pull {
                        sprint: sprint_of(&job),
                        delivery: job.delivery,
                        ..pull::track(reference.clone(), job.id, Some(session), now)
                    };
                    return Ok(Some(Versioned::unstored(TrackedPull {
                        pull,
                        read_at: None,
                        unread: None,
                    })));
                }
                Link::None => {}
                Link::Doubtful { code, sentence } => {
                    tracing::info!(pull = %reference, code, "{sentence}")
                }
            }
        }
        Ok(None)
    }

    /// Jobs that may own an unknown pull request: the one that said so, and those whose sessions the pull request
    /// names. Forks have none.
    /// Also decides how to read it: checks of one that was just opened have only begun, and webhooks report their
    /// end.
    pub(super) async fn candidates(
        &self,
        source: &Source,
        wakeup: &PullWakeup<'_>,
    ) -> Result<(Vec<JobId>, Reading), Error> {
        let glance = self.glance_of(source, wakeup.pull).await?;
        let young = |at| pull::is_young(at, self.backend.now());
        let reading = Reading {
            share: Share::Common,
            depth: match glance.opened_at {
                Some(at) if wakeup.received_at.is_some() && young(at) => ReadDepth::Outline,
                Some(_) | None => ReadDepth::Whole,
            },
        };
        if !glance.same_repo {
            return Ok((Vec::new(), reading));
        }
        let claim = link::claim(&glance.body, &glance.branch);
        let mut jobs: Vec<JobId> = wakeup.hint.cloned().into_iter().collect();
        let named: Vec<SessionId> = claim.body.into_iter().chain(claim.branch).collect();
        for session in named {
            jobs.extend(self.backend.store.job_of(&session).await?);
        }
        jobs.dedup();
        Ok((jobs, reading))
    }
}

/// The sprint that a job works for.
fn sprint_of(job: &Job) -> Option<SprintNumber> {
    let part = job.sprint()?;
    Some(part.sprint)
}

/// Whether a pull request is the one that Gaffer opened for a job: both the number and the branch say so, and no fork
/// can have the branch.
fn is_proposal_of(job: &Job, facts: &PullFacts) -> bool {
    let is_its_own = match &job.phase {
        // One that was left before its pull request was read is still the job of that.
        JobPhase::Proposed { .. } | JobPhase::Ended(_) => job.pull() == Some(&facts.pull),
        JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Watching(_) => false,
    };
    is_its_own
        && facts.is_from_base_repository()
        && job
            .proposal_branch()
            .is_some_and(|branch| branch == facts.head.branch)
}
