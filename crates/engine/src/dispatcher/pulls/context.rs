//! Inputs of a decision about a pull request apart from GitHub's facts.

use domain::effect::{Action, Effect, PullAction};
use domain::event::FailedCheck;
use domain::facts::PullFacts;
use domain::governor::DAY;
use domain::ids::{CommitSha, PersonaName, SessionId};
use domain::job::{self, Job};
use domain::merge::{Owner, SessionStatus, SprintGate};
use domain::policy::Source;
use domain::pull::{self, PullContext};
use domain::sprint::{self, Sprint};
use domain::web_page::WebPage;
use jiff::Timestamp;

use super::exchange::failed_own_checks;
use super::is_of_exchange;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::CheckLog;
use crate::store::Versioned;

impl Dispatcher {
    /// Loads the inputs of a decision apart from GitHub's facts.
    pub(super) async fn outside(
        &self,
        pull: &pull::Pull,
        job: &Job,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<PullContext, Error> {
        let now = self.backend.now();
        let effects = self
            .backend
            .store
            .effects(&keys::pull_pk(&pull.pull))
            .await?;
        let merges = self.backend.store.merges(&source.repo).await?;
        let counts = |at: &&Timestamp| now.duration_since(**at) < DAY;
        let counted = match is_of_exchange(job) {
            true => &merges.value.exchange,
            false => &merges.value.at,
        };
        let today: Vec<Timestamp> = counted.values().filter(counts).copied().collect();
        let sprint = self.sprint_of(job).await?;
        let session = match &sprint {
            // Another weave may be pushed at any moment until the end, and a commit of another hand is not ours to merge.
            Some((sprint, None))
                if !sprint.is_over() && !sprint.is_to_be_merged(&facts.head.sha) =>
            {
                SessionStatus::Working
            }
            Some(_) | None => self.rest(pull, &effects, job, source).await?,
        };
        let is_integration = matches!(&sprint, Some((_, None)));
        let is_red = pull::wants_logs(pull, facts, session, &source.timing, now);
        // No session is told what failed of what a delivery collected.
        let logs = match is_red && !job.collected {
            true => self.failed_logs(facts).await,
            false => Vec::new(),
        };
        Ok(PullContext {
            owner: match job.origin {
                domain::job::Origin::Created => Owner::Created,
                domain::job::Origin::Adopted => Owner::Adopted,
                domain::job::Origin::Proposed => Owner::Gaffer,
            },
            session,
            account: job.account.clone(),
            attempt: job.attempt,
            wanted_base: job.branch.clone(),
            merges_today: u32::try_from(today.len()).unwrap_or(u32::MAX),
            merge_day_ends: today.iter().min().map(|oldest| *oldest + DAY),
            hold: self.hold(source).await?,
            merge_unsettled: effects.iter().any(is_unsettled_merge),
            logs: logs
                .into_iter()
                .chain(failed_own_checks(pull, &facts.head.sha))
                .collect(),
            gate: self.backend.delivery_gate(job, &facts.head.sha).await?,
            plan_unreviewed: job.plan_approver(source.policy.plan_approval).is_asked()
                && job::has_unreviewed_plan(job),
            sprint_gate: sprint.as_ref().and_then(|(sprint, persona)| {
                sprint::gate(sprint, persona.as_ref(), &facts.head.sha)
            }),
            // A sprint pushes weave after weave, and lets only the newest be merged. What a delivery collected is never merged.
            unexpected: match is_integration || job.collected {
                true => Some(Some(Vec::new())),
                false => self.unexpected(pull, facts, job, session).await?,
            },
            is_base_merge: self.is_base_merge(pull, facts).await?,
            session_page: page_of(job, pull.session.as_ref()),
        })
    }

    /// What failed checks of a pull request said, as far as it can be read.
    pub(in crate::dispatcher) async fn failed_logs(&self, facts: &PullFacts) -> Vec<FailedCheck> {
        let logs = self.readers.pulls.check_logs(facts).await;
        let logs = logs.unwrap_or_default().into_iter();
        logs.map(failed_check).collect()
    }

    /// Why the sprint of a job does not let a head be merged now.
    pub(super) async fn sprint_gate(
        &self,
        job: &Job,
        head: &CommitSha,
    ) -> Result<Option<SprintGate>, Error> {
        let found = self.sprint_of(job).await?;
        Ok(found.and_then(|(sprint, persona)| sprint::gate(&sprint, persona.as_ref(), head)))
    }

    /// The sprint of a job, and as which persona it takes part; none for the job of the one pull request.
    async fn sprint_of(&self, job: &Job) -> Result<Option<(Sprint, Option<PersonaName>)>, Error> {
        let Some(part) = job.sprint() else {
            return Ok(None);
        };
        let key = (job.repo.clone(), part.sprint);
        let found = self.backend.store.get::<Sprint>(&key).await?;
        Ok(found.map(|found| (found.value, part.persona.clone())))
    }

    /// Whether the session that made a pull request may still push. `of_pull` are the effects of the pull request,
    /// among them messages about failed checks.
    async fn rest(
        &self,
        pull: &pull::Pull,
        of_pull: &[Versioned<Effect>],
        job: &Job,
        source: &Source,
    ) -> Result<SessionStatus, Error> {
        let rest = job::session_status(
            job,
            pull.session.as_ref(),
            &source.timing,
            self.backend.now(),
        );
        let (SessionStatus::Resting, Some(session)) = (rest, &pull.session) else {
            return Ok(rest);
        };
        // A message on its way, or one that may have arrived, wakes it.
        let of_job = self.backend.store.effects(&keys::job_pk(&job.id)).await?;
        let speaks = |found: &Versioned<Effect>| found.value.may_have_messaged(session);
        Ok(if of_pull.iter().chain(&of_job).any(speaks) {
            SessionStatus::Working
        } else {
            rest
        })
    }
}

fn failed_check(log: CheckLog) -> FailedCheck {
    FailedCheck {
        name: log.name,
        output: log.tail,
        page: log.page,
    }
}

/// The page of a session while it is watched.
fn page_of(job: &Job, session: Option<&SessionId>) -> Option<WebPage> {
    let watch = job.watched().filter(|it| Some(&it.session) == session)?;
    watch.url.as_deref().and_then(WebPage::from_service)
}

fn is_unsettled_merge(found: &Versioned<Effect>) -> bool {
    matches!(found.value.action, Action::Pull(PullAction::Merge { .. }))
        && found.value.may_have_happened()
}
