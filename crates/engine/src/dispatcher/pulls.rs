//! A pull request: read it whole, find out whose it is, decide, save, perform.

use domain::facts::{CheckOutcome, PullFacts};
use domain::failure::FailureClass;
use domain::governor::DAY;
use domain::ids::{CommitSha, JobId, PullRef, RepoName, SessionId};
use domain::job::{How, Job, Phase, Watch};
use domain::link::{self, Link};
use domain::merge::{Owner, SessionRest};
use domain::effect::{Action, Effect, EffectState};
use domain::policy::{Source, Timing};
use domain::pull::{self, Input, Outside, PullPhase};
use domain::session::SessionState;
use domain::step::Step;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::Dispatcher;
use crate::desk::{Error, Place, Unit};
use crate::keys;
use crate::ports::{BODY_BYTES_MAX, Expect};
use crate::settings::{Lane, TrackedPull};
use crate::store::{Versioned, encode};

/// A wake-up is answered by a reading that began this much after it was received.
const READ_WELL_AFTER: SignedDuration = SignedDuration::from_secs(2);

/// How long a merge may hold its lane.
const LANE_HOLD: SignedDuration = SignedDuration::from_secs(120);

/// How soon to look again when another pull request holds the lane, or when somebody else was quicker.
const LANE_AGAIN: SignedDuration = SignedDuration::from_secs(3);

/// Changed files listed in the evidence of a merge.
const EVIDENCE_FILES_MAX: usize = 300;

/// What a merge was judged by, kept with the pull request.
#[derive(Serialize)]
struct Evidence<'a> {
    judged_at: Timestamp,
    facts: &'a PullFacts,
    policy: &'a domain::policy::Policy,
    green_since: Option<Timestamp>,
    files: usize,
}

impl Dispatcher {
    /// Handles a wake-up about one pull request.
    pub(super) async fn pull(&self, reference: &PullRef, hint: Option<&JobId>, received_at: Option<Timestamp>) -> Result<(), Error> {
        let Some(source) = self.desk.store.source(&reference.repo).await?.map(|found| found.value) else {
            // A repository nobody gave us: not even looked at.
            return Ok(());
        };
        let pk = keys::pull_pk(reference);
        let found = self.desk.store.pull(reference).await?;
        if let Some(found) = &found {
            let read_since = |received: Timestamp| found.value.read_at.is_some_and(|read| read >= received + READ_WELL_AFTER);
            if received_at.is_some_and(read_since) {
                return Ok(());
            }
            self.run_effects(&pk, &source, None).await?;
            if found.value.pull.is_settled() {
                return Ok(());
            }
        }
        let candidates = match &found {
            Some(_) => Vec::new(),
            None => match self.candidates(reference, hint).await {
                Ok(candidates) if candidates.is_empty() => return Ok(()),
                Ok(candidates) => candidates,
                Err(Error::Outside(failure)) => return self.unread(reference, failure).await,
                Err(error) => return Err(error),
            },
        };
        let facts = match self.eyes.pulls.facts(reference, self.desk.now()).await {
            Ok(facts) => facts,
            Err(failure) => return self.unread(reference, failure).await,
        };
        let Some(found) = self.ours(reference, found, &candidates, &facts).await? else { return Ok(()) };
        self.decide_pull(found, &facts, &source).await
    }

    /// What cannot be read is read again later; its due row stays.
    async fn unread(&self, reference: &PullRef, failure: domain::failure::Failure) -> Result<(), Error> {
        match failure.class {
            FailureClass::NotFound => {
                tracing::info!(pull = %reference, "the pull request is not visible to the credential; leaving it");
                Ok(())
            }
            FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network
            | FailureClass::Garbled
            | FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid => Err(failure.into()),
        }
    }

    /// The record of a pull request of ours; a new one when enough evidence links it to a session of ours. Anybody else's is left alone without a trace.
    async fn ours(
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
            let Some(job) = self.desk.store.job(id).await?.map(|job| job.value) else { continue };
            let Some(session) = job.session().cloned() else { continue };
            let view = self.eyes.sessions.get(&job.account, &session).await?;
            match link::weigh(facts, &view) {
                Link::Agreed(session) => {
                    let pull = pull::track(reference.clone(), job.id, session, self.desk.now());
                    return Ok(Some(Versioned { value: TrackedPull { pull, read_at: None }, version: 0 }));
                }
                Link::None => {}
                Link::Doubtful { code, sentence } => tracing::info!(pull = %reference, code, "{sentence}"),
            }
        }
        Ok(None)
    }

    /// Jobs that may own a pull request we do not know: the one that said so, and those whose sessions the pull request names. Forks have none.
    async fn candidates(&self, reference: &PullRef, hint: Option<&JobId>) -> Result<Vec<JobId>, Error> {
        let glance = self.eyes.pulls.glance(reference).await?;
        if !glance.same_repo {
            return Ok(Vec::new());
        }
        let claim = link::claim(&glance.body, &glance.branch);
        let mut jobs: Vec<JobId> = hint.cloned().into_iter().collect();
        let named: Vec<SessionId> = claim.body.into_iter().chain(claim.branch).collect();
        for session in named {
            jobs.extend(self.desk.store.job_of(&session).await?);
        }
        jobs.dedup();
        Ok(jobs)
    }

    async fn decide_pull(&self, found: Versioned<TrackedPull>, facts: &PullFacts, source: &Source) -> Result<(), Error> {
        let pull = &found.value.pull;
        let Some(job) = self.desk.store.job(&pull.job).await?.map(|job| job.value) else { return Ok(()) };
        let now = self.desk.now();
        let outside = self.outside(pull, &job, facts, source).await?;
        let input = Input::Facts(Box::new(facts.clone()), Box::new(outside));
        let mut step = pull::apply(pull, &input, now, &source.policy, &source.timing);
        let mut unit = self.desk.unit();
        let judged = self.take_lane(&mut unit, &mut step, facts, source).await?;
        self.withdraw_merges(&mut unit, &step, judged.as_ref()).await?;
        let route = self.desk.route(&job).await?;
        let version = Some(found.version).filter(|version| *version > 0);
        self.link_job(&mut unit, &job, &step).await?;
        self.desk.save_pull(&mut unit, version, (&step, Some(facts.read_at)), &route).await?;
        match self.desk.commit(unit).await {
            // Whoever was quicker read the same world; should they have missed something, the due row comes soon.
            Err(error) if error.is_conflict() => return self.again_soon(&step.aggregate.pull).await,
            outcome => outcome?,
        }
        self.run_effects(&keys::pull_pk(&step.aggregate.pull), source, judged.as_ref()).await
    }

    async fn again_soon(&self, reference: &PullRef) -> Result<(), Error> {
        let work = crate::work::Work::Pull { pull: reference.clone(), job: None, received_at: None };
        Ok(self.desk.queue.send(&work.to_body(), LANE_AGAIN).await?)
    }

    /// A job learns of its pull request from whoever saw it first.
    async fn link_job(&self, unit: &mut Unit, job: &Job, step: &Step<pull::Pull>) -> Result<(), Error> {
        let Phase::Watching(watch) = &job.phase else { return Ok(()) };
        if watch.pull.is_some() || watch.session != step.aggregate.session {
            return Ok(());
        }
        let Some(found) = self.desk.store.job(&job.id).await? else { return Ok(()) };
        let mut linked = found.value.clone();
        if let Phase::Watching(watch) = &mut linked.phase {
            watch.pull = Some(step.aggregate.pull.clone());
        }
        let due = domain::job::deadline(&linked, &Timing::default());
        let step = Step { due, ..Step::stay(linked) };
        self.desk.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }

    /// Everything besides GitHub's facts that a decision looks at.
    async fn outside(&self, pull: &pull::Pull, job: &Job, facts: &PullFacts, source: &Source) -> Result<Outside, Error> {
        let now = self.desk.now();
        let effects = self.desk.store.effects(&keys::pull_pk(&pull.pull)).await?;
        let merges = self.desk.store.merges(&source.repo).await?;
        let failed = facts.checks.known().is_some_and(|checks| checks.iter().any(|check| check.outcome == CheckOutcome::Failed));
        let told = pull.repairs.ci_told.contains(&facts.head.sha);
        let logs = if failed && !told { self.eyes.pulls.check_logs(facts).await.unwrap_or_default() } else { Vec::new() };
        Ok(Outside {
            owner: match job.origin {
                domain::job::Origin::Created => Owner::Created,
                domain::job::Origin::Adopted => Owner::Adopted,
            },
            session: rest_of(job, &source.timing, now),
            account: job.account.clone(),
            attempt: job.attempt,
            wanted_base: job.branch.clone(),
            merges_today: merges.value.at.iter().filter(|at| now.duration_since(**at) < DAY).count().try_into().unwrap_or(u32::MAX),
            hold: self.hold(source).await?,
            merge_unsettled: effects.iter().any(is_unsettled_merge),
            logs: logs.into_iter().map(|log| (log.name, log.tail)).collect(),
        })
    }

    /// Merges into one branch go one after the other. Whoever finds the lane taken decides again a little later.
    async fn take_lane(&self, unit: &mut Unit, step: &mut Step<pull::Pull>, facts: &PullFacts, source: &Source) -> Result<Option<CommitSha>, Error> {
        let now = self.desk.now();
        let lane = self.desk.store.lane(&source.repo, facts.base.branch.as_str()).await?;
        let key = keys::lane(&source.repo, facts.base.branch.as_str());
        let mine = |lane: &Versioned<Lane>| lane.value.holder == facts.pull;
        let PullPhase::Merging { sha, .. } = step.aggregate.phase.clone() else {
            if let Some(lane) = lane.filter(|lane| mine(lane) && step.aggregate.is_settled()) {
                unit.delete(key, &lane);
            }
            return Ok(None);
        };
        if lane.as_ref().is_some_and(|lane| !mine(lane) && now < lane.value.until) {
            step.aggregate.phase = PullPhase::Open;
            step.effects.retain(|action| !matches!(action, Action::Merge { .. }));
            step.due = Some(now + LANE_AGAIN);
            return Ok(None);
        }
        let held = Lane { holder: facts.pull.clone(), until: now + LANE_HOLD };
        unit.put(key, &held, lane.map(|lane| lane.version), Place::default());
        self.count_merge(unit, source).await?;
        keep_evidence(unit, (step, &sha), facts, source);
        Ok(Some(sha))
    }

    async fn count_merge(&self, unit: &mut Unit, source: &Source) -> Result<(), Error> {
        let now = self.desk.now();
        let found = self.desk.store.merges(&source.repo).await?;
        let mut merges = found.value.clone();
        merges.at.retain(|at| now.duration_since(*at) < DAY);
        merges.at.push(now);
        unit.put(keys::merges(&source.repo), &merges, Some(found.version), Place::default());
        Ok(())
    }

    /// A merge that was decided earlier and never begun is not begun any more unless it was decided again just now.
    async fn withdraw_merges(&self, unit: &mut Unit, step: &Step<pull::Pull>, judged: Option<&CommitSha>) -> Result<(), Error> {
        let pk = keys::pull_pk(&step.aggregate.pull);
        for found in self.desk.store.effects(&pk).await? {
            let Action::Merge { sha, .. } = &found.value.action else { continue };
            if judged != Some(sha) && matches!(found.value.state, EffectState::Intent { .. }) {
                let why = domain::failure::Failure::new(FailureClass::Conflict, "the facts changed before it was begun");
                let attempt = found.value.attempt();
                let state = EffectState::Failed { at: unit.now(), attempt, failure: why };
                self.desk.save_effect_state(unit, &pk, &found, &Effect { state, ..found.value.clone() });
            }
        }
        Ok(())
    }

    /// Checks of a commit changed: whichever pull requests of ours have it as their head are looked at.
    pub(super) async fn commit_moved(&self, repo: &RepoName, sha: &CommitSha, received_at: Timestamp) -> Result<(), Error> {
        for found in self.desk.store.open_pulls().await? {
            let pull = &found.value.pull;
            let same = pull.head.as_ref().is_some_and(|head| head.sha == *sha);
            if pull.pull.repo == *repo && same {
                self.pull(&pull.pull, None, Some(received_at)).await?;
            }
        }
        Ok(())
    }
}

fn is_unsettled_merge(found: &Versioned<Effect>) -> bool {
    let merge = matches!(found.value.action, Action::Merge { .. });
    merge && matches!(found.value.state, EffectState::Started { .. } | EffectState::Unknown { .. })
}

/// Whether a session may still push. One that said it is done, or has been silent for a whole window, will not by itself.
fn rest_of(job: &Job, timing: &Timing, now: Timestamp) -> SessionRest {
    match &job.phase {
        Phase::Queued { .. } | Phase::Creating { .. } => SessionRest::Working,
        Phase::Watching(watch) if is_resting(watch, timing, now) => SessionRest::Resting,
        Phase::Watching(_) => SessionRest::Working,
        Phase::Ended(ending) => match ending.how {
            How::Merged { .. } | How::PullClosed | How::Completed => SessionRest::Resting,
            How::Failed { .. } => SessionRest::Failed,
            How::Lost | How::Refused { .. } | How::Cancelled { .. } => SessionRest::CalledOff,
        },
    }
}

fn is_resting(watch: &Watch, timing: &Timing, now: Timestamp) -> bool {
    let said_done = watch.talk.completed.as_ref().is_some_and(|done| watch.talk.user_at.is_none_or(|user| user <= done.at));
    match watch.state {
        SessionState::Completed => watch.unconfirmed_since.is_none(),
        SessionState::InProgress => said_done || now.duration_since(watch.progress_at) >= timing.stuck_after,
        SessionState::Unspecified
        | SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::Paused
        | SessionState::Failed
        | SessionState::Other(_) => false,
    }
}

/// Keeps what a merge was judged by: everything but the untrusted texts, with a bounded list of files.
fn keep_evidence(unit: &mut Unit, (step, sha): (&Step<pull::Pull>, &CommitSha), facts: &PullFacts, source: &Source) {
    let mut kept = facts.clone();
    kept.body.clear();
    kept.title.clear();
    let files = facts.files.known().map_or(0, Vec::len);
    if let domain::facts::Fact::Known(files) = &mut kept.files {
        files.truncate(EVIDENCE_FILES_MAX);
    }
    let green_since = step.aggregate.green.as_ref().map(|green| green.since);
    let mut evidence = Evidence { judged_at: unit.now(), facts: &kept, policy: &source.policy, green_since, files };
    let mut slim = kept.clone();
    if encode(&evidence).len() > BODY_BYTES_MAX {
        slim.files = domain::facts::Fact::Known(Vec::new());
        evidence.facts = &slim;
    }
    unit.put_if(keys::evidence(&facts.pull, sha), &evidence, Expect::Any, Place::default());
}
