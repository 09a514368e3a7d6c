//! What people and agents may do with jobs. Nothing here talks to anyone: a mutation is an effect that the dispatcher performs.

pub mod adoption;
mod closing;
mod creation;
mod listing;
mod merging;
mod naming;
mod notes;
mod pushing;
mod trial;
mod waiting;

use std::time::Duration;

pub use crate::save::job_list;
pub use creation::IdempotentOrder;
pub(crate) use creation::reused;
pub use listing::{InvalidJobsCursor, JobList, JobQuery, JobsCursor};
pub(crate) use waiting::{SEEN_JUST_NOW, conversation_key};

use domain::ids::{
    AgentName, BranchName, CommitSha, EffectId, JobId, PlanId, PullRef, RepoName, SessionId,
};
use domain::job::{self, Job};
use domain::pipeline::PipelinePart;
use domain::policy::{Source, Terms};
use domain::priority::Priority;
use domain::pull::{self, MergeStyle, Pull};
use domain::refusal::NotNow;
use domain::step::Step;
use domain::wake::Resume;
use jiff::Timestamp;

use crate::backend::{Backend, Error, decide_again};
use crate::keys;
use crate::save::AskedBefore;
use crate::settings::TrackedPull;
use crate::store::Versioned;
use crate::work::Work;

/// How long the HTTP API waits for an effect before it answers 202.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The prompt of a session, with the place in a pipeline for which it was put together.
pub(crate) type JobTask = (String, Option<Box<PipelinePart>>);

/// What is wanted of a new job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The repository, which has to be a source.
    pub repo: RepoName,
    /// The base branch; the source's without one.
    pub branch: Option<BranchName>,
    /// The task.
    pub prompt: String,
    /// A short name.
    pub title: Option<String>,
    /// Who is woken; the source's agent without one.
    pub agent: Option<AgentName>,
    /// The agent's resume value for its wakes.
    pub resume: Option<Resume>,
    /// How much it matters; the usual without one.
    pub priority: Option<Priority>,
    /// What else is asked for.
    pub terms: Terms,
}

/// A job or one of its sessions, as people name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRef {
    /// The job.
    pub job: JobId,
    /// The session it was named by, if it was.
    pub session: Option<SessionId>,
    /// The caller of the order, for the record.
    pub by: Option<String>,
}

impl JobRef {
    /// The same, with the name of the caller.
    #[must_use]
    pub fn by(self, by: String) -> Self {
        let by = Some(by);
        Self { by, ..self }
    }
}

/// A reference to an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRef {
    /// When the answer was accepted that this is an addition to, if it is one.
    pub adds_to: Option<Timestamp>,
    /// Partition of its aggregate.
    pub pk: String,
    /// Its id.
    pub id: EffectId,
}

/// Under which name an order is carried out, at most once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// A digest of the name that the asker gave it.
    pub name: String,
    /// A digest of the whole order, to distinguish a repetition from another order under the same name.
    pub order: String,
}

/// A pull request's record and its last judgement, for explanations.
pub type PullRecord = Versioned<TrackedPull>;

type Decide<'a> = dyn Fn(&Job, &Source) -> Result<Step<Job>, NotNow> + Send + Sync + 'a;

impl Backend {
    /// Refuses a write to a job that was named by a session which is no longer its current one.
    pub async fn refuse_superseded(&self, named: &JobRef) -> Result<(), Error> {
        let Some(session) = &named.session else {
            return Ok(());
        };
        let job = self.must_job(&named.job).await?.value;
        if job.session() == Some(session) {
            return Ok(());
        }
        let sentence = format!(
            "session {session} is no longer the current one of job {}: use the job id",
            job.id
        );
        Err(Error::NotNow(NotNow::new("superseded", sentence)))
    }

    /// A job that has to exist.
    pub async fn must_job(&self, id: &JobId) -> Result<Versioned<Job>, Error> {
        self.store.job(id).await?.ok_or_else(|| Error::NoSuch {
            what: "job",
            name: id.to_string(),
        })
    }

    /// Sends a message to a job's session. `cause` identifies the request: a repeated one sends nothing twice.
    pub async fn say(&self, named: &JobRef, text: &str, cause: &str) -> Result<EffectRef, Error> {
        let now = self.now();
        let step = self
            .order(named, job::Order::Say, &|job, source| {
                let words = (text, cause);
                job::say(job, named.session.as_ref(), words, (now, &source.timing))
            })
            .await?;
        Ok(EffectRef {
            adds_to: job::adds_to(&step.aggregate, cause),
            ..effect_ref(&step, named)?
        })
    }

    /// Approves the plan of a job: this one, if it is named.
    pub async fn approve_plan(
        &self,
        named: &JobRef,
        plan: Option<&PlanId>,
    ) -> Result<EffectRef, Error> {
        let now = self.now();
        let step = self
            .order(named, job::Order::Approve, &|job, source| {
                job::approve(job, named.session.as_ref(), plan, now, &source.timing)
            })
            .await?;
        effect_ref(&step, named)
    }

    /// Cancels a job.
    pub async fn cancel_job(&self, named: &JobRef, by: &str) -> Result<Job, Error> {
        let now = self.now();
        Ok(self
            .order(named, job::Order::Cancel, &|job, _| {
                job::cancel(job, by, now)
            })
            .await?
            .aggregate)
    }

    /// Ends a job that its delivery does not need any more.
    pub(crate) async fn put_away_job(&self, named: &JobRef, by: &str) -> Result<Job, Error> {
        let now = self.now();
        let put_away = |job: &Job, _: &Source| job::put_away(job, by, now);
        let step = self.order(named, job::Order::Cancel, &put_away).await?;
        Ok(step.aggregate)
    }

    /// Gives an ended job another session, whose prompt says why.
    pub async fn retry_job(&self, named: &JobRef, reason: Option<&str>) -> Result<Job, Error> {
        self.retry_with(named, reason, None).await
    }

    /// The same, with another task if one is given, and with what it does for a pipeline by that.
    pub(crate) async fn retry_with(
        &self,
        named: &JobRef,
        reason: Option<&str>,
        task: Option<&JobTask>,
    ) -> Result<Job, Error> {
        let now = self.now();
        let retry = |job: &Job, _: &Source| {
            let mut step = job::retry(job, reason, now)?;
            if let Some((prompt, part)) = task {
                step.aggregate.prompt.clone_from(prompt);
                step.aggregate.part.clone_from(part);
            }
            Ok(step)
        };
        let step = self.order(named, job::Order::Retry, &retry).await?;
        Ok(step.aggregate)
    }

    /// How a job's pull request is to be merged, tidied; refused where its source does not allow it.
    pub async fn merge_style(&self, job: &JobId, style: &MergeStyle) -> Result<MergeStyle, Error> {
        let job = self.must_job(job).await?.value;
        let source = self.store.source(&job.repo).await?;
        let source = source.map_or_else(|| bare(&job), |source| source.value);
        Ok(style.within(&source.for_job(&job).policy)?)
    }

    /// Says that a job's pull request may be merged at its present head once everything else allows it.
    pub async fn approve_merge(
        &self,
        named: &JobRef,
        sha: Option<&CommitSha>,
        word: &pull::MergeApproval<'_>,
    ) -> Result<Pull, Error> {
        let style = &self.merge_style(&named.job, word.style).await?;
        let word = &pull::MergeApproval { style, ..*word };
        decide_again(format!("job {}", named.job), || async move {
            let (now, found) = (self.now(), self.pull_of(&named.job).await?);
            let step = pull::approve(&found.value.pull, sha, word, now)?;
            let mut unit = self.unit();
            let route = crate::save::EventRoute::default();
            self.save_pull(
                &mut unit,
                Some(found.version),
                (&step, found.value.read_at),
                &route,
            )
            .await?;
            // Read after the pull request: a job that was cancelled meanwhile must not be merged.
            let job = self.must_job(&named.job).await?;
            job::may_merge(&job.value)?;
            let answered = self
                .answer(&mut unit, &job.value, job::Order::Merge)
                .await?;
            if let Some(by) = &named.by {
                let mut noted = Step::unchanged(job.value.clone());
                noted.due = job.due;
                job::record_order(&mut noted.aggregate, job::Order::Merge, by, now);
                self.save_job(&mut unit, Some(&job), &noted).await?;
            }
            let reference = step.aggregate.pull.clone();
            unit.enqueue(&keys::pull_pk(&reference), Work::of_pull(reference));
            if !self.try_commit(unit).await? {
                return Ok(None);
            }
            self.nudge_after(&answered).await?;
            Ok(Some(step.aggregate))
        })
        .await
    }

    /// The pull request of a job.
    pub async fn pull_of(&self, id: &JobId) -> Result<PullRecord, Error> {
        let job = self.must_job(id).await?.value;
        let none = || {
            NotNow::new(
                "no_pull_request",
                format!("job {id} has no pull request yet"),
            )
        };
        let reference: &PullRef = job.pull().ok_or_else(none)?;
        Ok(self.store.pull(reference).await?.ok_or_else(none)?)
    }

    /// Decides about a job from its newest state and saves the decision whole.
    async fn order(
        &self,
        named: &JobRef,
        order: job::Order,
        decide: &Decide<'_>,
    ) -> Result<Step<Job>, Error> {
        let id = &named.job;
        decide_again(format!("job {}", named.job), || async move {
            let found = self.must_job(id).await?;
            let source = self
                .store
                .source(&found.value.repo)
                .await?
                .map(|source| source.value);
            let source = source.unwrap_or_else(|| bare(&found.value));
            let mut step = decide(&found.value, &source)?;
            let asked = self.asked(&step).await?;
            if asked == AskedBefore::InVain && is_for_the_session(order) {
                // Nothing goes to the session by it, so it answers nothing.
                return Ok(Some(step));
            }
            // What its delivery asks for once more is the order that it gave before.
            let is_repeated = asked == AskedBefore::InVain
                || asked == AskedBefore::OnceMore
                    && is_for_the_session(order)
                    && job::is_approved_by_delivery(&found.value);
            if let Some(by) = &named.by
                && !is_repeated
            {
                job::record_order(&mut step.aggregate, order, by, self.now());
            }
            let mut unit = self.unit();
            self.save_job(&mut unit, Some(&found), &step).await?;
            if let Some(pull) = found.value.pull() {
                // The caller of an order next asks for its outcome.
                unit.enqueue_hint(Work::of_pull(pull.clone()));
            }
            let answered = self.answer(&mut unit, &found.value, order).await?;
            if !self.try_commit(unit).await? {
                return Ok(None);
            }
            self.nudge_after(&answered).await?;
            Ok(Some(step))
        })
        .await
    }

    /// Whether a decision repeats an order that was given before: in vain if that was taken, or failed and is tried no more.
    async fn asked(&self, step: &Step<Job>) -> Result<AskedBefore, Error> {
        let mut asked = AskedBefore::Never;
        for action in &step.effects {
            match self.asked_before(&step.aggregate, action).await? {
                AskedBefore::Never => {}
                AskedBefore::OnceMore => asked = AskedBefore::OnceMore,
                AskedBefore::InVain => return Ok(AskedBefore::InVain),
            }
        }
        Ok(asked)
    }
}

/// Whether an order goes to the session itself.
fn is_for_the_session(order: job::Order) -> bool {
    match order {
        job::Order::Say | job::Order::Approve => true,
        job::Order::Create
        | job::Order::Adopt
        | job::Order::Merge
        | job::Order::Retry
        | job::Order::Cancel => false,
    }
}

/// The rules for a job without a source: nothing is allowed automatically.
pub(crate) fn bare(job: &Job) -> Source {
    Source {
        paused: true,
        ..Source::new(job.repo.clone(), job.account.clone())
    }
}

fn effect_ref(step: &Step<Job>, named: &JobRef) -> Result<EffectRef, Error> {
    let missing = || Error::NoSuch {
        what: "effect",
        name: named.job.to_string(),
    };
    let action = step.effects.first().ok_or_else(missing)?;
    Ok(EffectRef {
        adds_to: None,
        pk: keys::job_pk(&named.job),
        id: Backend::effect_id(action),
    })
}
