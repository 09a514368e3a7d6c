//! What people and agents may do with pipelines and requirements. Nothing here talks to anyone: the dispatcher reads the
//! files and makes the jobs.

use domain::ids::{ArtefactId, PipelineId, RepoName};
use domain::job::{Job, WaitsFor};
use domain::layer::Layer;
use domain::nearest::nearest;
use domain::pipeline::{self, EntryPoint, MockTag, Pipeline, PipelineAsk, Requirement, StepKind};
use domain::policy::Source;
use domain::refusal::NotNow;
use jiff::Timestamp;

use crate::backend::{Backend, Error, IndexEntry, UnitOfWork, decide_again};
use crate::keys;
use crate::ports::PageToken;
use crate::store::{Aggregate, Versioned, decode};
use crate::work::Work;

/// How many runs, or requirements, one list shows at most.
pub const LIST_MAX: usize = 200;

/// What a run is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipelineOrder {
    /// All of it, or from a later step on.
    From(EntryPoint),
    /// One layer.
    Only(PipelineAsk),
    /// The removal of what a trial run made.
    Clean(MockTag),
    /// The removal of the file of a requirement, with the events that led to it.
    Remove(String),
}

impl Backend {
    /// Begins a run of a repository's pipeline. Only one runs at a time.
    pub async fn start_pipeline(
        &self,
        repo: &RepoName,
        order: &PipelineOrder,
        by: &str,
    ) -> Result<Pipeline, Error> {
        decide_again(format!("the pipeline of {repo}"), || async {
            let (new, unit) = self.new_run(repo, order, by).await?;
            Ok(self.try_commit(unit).await?.then_some(new))
        })
        .await
    }

    /// A run that may begin, and the unit that begins it.
    pub(crate) async fn new_run(
        &self,
        repo: &RepoName,
        order: &PipelineOrder,
        by: &str,
    ) -> Result<(Pipeline, UnitOfWork), Error> {
        let (ask, kinds) = asked(order);
        let source = self.source_of_pipeline(repo).await?;
        let turn = self.store.read(&keys::pipeline_turn(repo)).await?;
        let before = self.last_run(turn.as_ref()).await?;
        refuse_running(repo, before.as_ref())?;
        let mut new = self.new_pipeline(&source.value, ask, by)?;
        new.summed_up = before.and_then(|run| run.summed_up_to().cloned());
        let new = pipeline::start(new, &kinds);
        let mut unit = self.unit();
        let due = Some(self.now());
        unit.save_at(&new.id, &new, None, due);
        let version = turn.map(|turn| turn.version);
        let key = keys::pipeline_turn(repo);
        unit.put(key, &new.id, version, IndexEntry::default());
        // A source that is removed meanwhile would leave the run without one.
        unit.check(keys::source(repo), source.version);
        let id = new.id.clone();
        unit.enqueue(&keys::pipeline_pk(&id), Work::Pipeline { id });
        Ok((new, unit))
    }

    /// The newest runs of a repository first, at most `limit`.
    pub async fn pipelines(&self, repo: &RepoName, limit: usize) -> Result<Vec<Pipeline>, Error> {
        let (runs, _next) = self.runs_after(repo, None, limit.min(LIST_MAX)).await?;
        self.must_be_known(repo, runs.is_empty()).await?;
        Ok(runs)
    }

    /// The newest run of all sources.
    pub async fn newest_pipeline(&self) -> Result<Option<Pipeline>, Error> {
        let mut newest: Option<Pipeline> = None;
        for source in self.store.sources().await? {
            let (runs, _next) = self.runs_after(&source.value.repo, None, 1).await?;
            let found = newest.into_iter().chain(runs);
            newest = found.max_by_key(|run| run.created_at);
        }
        Ok(newest)
    }

    /// An empty list of a repository that is no source would hide a mistyped name.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] if the list is empty and the repository is no source.
    pub async fn must_be_known(&self, repo: &RepoName, is_empty: bool) -> Result<(), Error> {
        match is_empty && self.store.source(repo).await?.is_none() {
            true => Err(Error::NoSuch {
                what: "source",
                name: repo.to_string(),
            }),
            false => Ok(()),
        }
    }

    /// Runs of a repository from a place of their list on, the newest first, and where the list goes on.
    pub(crate) async fn runs_after(
        &self,
        repo: &RepoName,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<(Vec<Pipeline>, Option<PageToken>), Error> {
        let list = keys::pipelines_of(repo);
        let page = self.store.records().list(&list, true, after, limit).await?;
        let runs = page.records.iter().map(|record| Ok(decode(record)?.value));
        let runs = runs.collect::<Result<_, Error>>()?;
        Ok((runs, page.next))
    }

    /// The run that a repository's pipeline is at, if one is under way.
    pub async fn running_pipeline(&self, repo: &RepoName) -> Result<Option<Pipeline>, Error> {
        let turn = self.store.read(&keys::pipeline_turn(repo)).await?;
        let last = self.last_run(turn.as_ref()).await?;
        Ok(last.filter(|run| !run.is_over()))
    }

    /// Calls a run off: nothing more of it begins, and its jobs are cancelled.
    pub async fn cancel_pipeline(&self, id: &PipelineId, by: &str) -> Result<Pipeline, Error> {
        decide_again(format!("pipeline {id}"), || async {
            let found = self.must::<Pipeline>(id).await?;
            let now = self.now();
            let next = pipeline::cancel(&found.value, by, now)?;
            let mut unit = self.unit();
            unit.save_at(id, &next, Some(found.version), pipeline::due(&next, now));
            unit.enqueue(&keys::pipeline_pk(id), Work::Pipeline { id: id.clone() });
            Ok(self.try_commit(unit).await?.then_some(next))
        })
        .await
    }

    /// The requirements of a repository that Gaffer follows, the newest first.
    pub async fn requirements(&self, repo: &RepoName) -> Result<Vec<Requirement>, Error> {
        let found = self.followed(repo).await?;
        self.must_be_known(repo, found.is_empty()).await?;
        Ok(found)
    }

    /// The same, none of a repository that is no source.
    async fn followed(&self, repo: &RepoName) -> Result<Vec<Requirement>, Error> {
        let mut found: Vec<Requirement> = Vec::new();
        for list in keys::requirements_of(repo) {
            let records = self.store.records();
            let page = records.list(&list, true, None, LIST_MAX).await?;
            for record in &page.records {
                found.push(decode(record)?.value);
            }
        }
        found.sort_by_key(|it: &Requirement| std::cmp::Reverse(it.created_at));
        found.truncate(LIST_MAX);
        Ok(found)
    }

    /// A requirement that has to be followed.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] if it is not; its name goes on with the nearest id of one that is.
    pub async fn must_requirement(
        &self,
        repo: &RepoName,
        id: &ArtefactId,
    ) -> Result<Versioned<Requirement>, Error> {
        let key = (repo.clone(), id.clone());
        if let Some(found) = self.store.get::<Requirement>(&key).await? {
            return Ok(found);
        }
        let followed = self.followed(repo).await?;
        let known = followed.iter().map(|it| it.reference.id.as_str());
        let mut name = Requirement::name(&key);
        if let Some(near) = nearest(id.as_str(), known) {
            name.push_str("`: the nearest is `");
            name.push_str(near);
        }
        Err(Error::NoSuch {
            what: Requirement::KIND,
            name,
        })
    }

    /// The job that plans a requirement or removes its files, with who is waited for there.
    pub async fn job_of_requirement(
        &self,
        found: &Requirement,
    ) -> Result<Option<(Job, WaitsFor)>, Error> {
        let Some(id) = found.state.job() else {
            return Ok(None);
        };
        let Some(job) = self.store.job(id).await? else {
            return Ok(None);
        };
        let waits = self.waits_for(&job.value).await?;
        Ok(Some((job.value, waits)))
    }

    /// Has a requirement implemented: by a delivery, for the first time or again.
    pub async fn start_requirement(
        &self,
        repo: &RepoName,
        id: &ArtefactId,
        keep_files: bool,
    ) -> Result<Requirement, Error> {
        self.must_requirement(repo, id).await?;
        self.source_of_pipeline(repo).await?;
        self.decide_requirement(repo, id, |known, now| match known {
            Some(known) => known.start(keep_files, now),
            None => Err(NotNow::new(
                "gone",
                format!("requirement {id} is not there any more"),
            )),
        })
        .await
    }

    /// Decides about a requirement and saves it; one that is under way is looked at at once.
    pub(crate) async fn decide_requirement(
        &self,
        repo: &RepoName,
        id: &ArtefactId,
        decide: impl Fn(Option<&Requirement>, Timestamp) -> Result<Requirement, NotNow>,
    ) -> Result<Requirement, Error> {
        let key = (repo.clone(), id.clone());
        decide_again(format!("requirement {id} of {repo}"), || async {
            let found = self.store.get::<Requirement>(&key).await?;
            let now = self.now();
            let known = found.as_ref().map(|found| &found.value);
            let next = decide(known, now)?;
            if known == Some(&next) {
                return Ok(Some(next));
            }
            let mut unit = self.unit();
            let version = found.as_ref().map(|found| found.version);
            let is_under_way = next.state.is_under_way();
            let due = match is_under_way {
                true => Some(now),
                false => next.due(now),
            };
            unit.save_at(&key, &next, version, due);
            if is_under_way {
                let (repo, id) = key.clone();
                let pk = keys::requirement_pk(&repo, &id);
                unit.enqueue(&pk, Work::Requirement { repo, id });
            }
            Ok(self.try_commit(unit).await?.then_some(next))
        })
        .await
    }

    /// A source with a pipeline, whose branches differ.
    async fn source_of_pipeline(&self, repo: &RepoName) -> Result<Versioned<Source>, Error> {
        let source = self.must::<Source>(repo).await?;
        if source.value.pipeline.is_none() {
            let sentence = format!("the pipeline of {repo} is off: switch it on first");
            return Err(NotNow::new("pipeline_off", sentence).into());
        }
        Ok(source)
    }

    fn new_pipeline(&self, source: &Source, ask: PipelineAsk, by: &str) -> Result<Pipeline, Error> {
        let repo = &source.repo;
        let (Some(target), Some(rules)) = (source.branch.clone(), source.pipeline.clone()) else {
            let sentence = format!(
                "source {repo} names no branch, and its pipeline works on one: have the source name it"
            );
            return Err(NotNow::new("branch_missing", sentence)
                .about("branch")
                .into());
        };
        let now = self.now();
        Ok(Pipeline {
            id: PipelineId::from_ulid(self.ulid()),
            repo: repo.clone(),
            target,
            worker: rules.worker.clone(),
            ask,
            rules,
            by: domain::fence::clip(by, 80),
            steps: Vec::new(),
            wait_minutes: pipeline::WAIT_MINUTES,
            summed_up: None,
            created_at: now,
            updated_at: now,
        })
    }

    /// The last run that began.
    async fn last_run(
        &self,
        turn: Option<&Versioned<PipelineId>>,
    ) -> Result<Option<Pipeline>, Error> {
        let Some(turn) = turn else { return Ok(None) };
        let found = self.store.get::<Pipeline>(&turn.value).await?;
        Ok(found.map(|found| found.value))
    }
}

fn refuse_running(repo: &RepoName, last: Option<&Pipeline>) -> Result<(), NotNow> {
    match last.filter(|run| !run.is_over()) {
        None => Ok(()),
        Some(run) => {
            let sentence = format!(
                "pipeline {} of {repo} is running already: wait for its end, or cancel it",
                run.id
            );
            Err(NotNow::new("already_running", sentence))
        }
    }
}

/// What is asked, and the steps that it takes.
fn asked(order: &PipelineOrder) -> (PipelineAsk, Vec<StepKind>) {
    match order {
        PipelineOrder::From(entry) => (PipelineAsk::default(), entry.steps()),
        PipelineOrder::Only(ask) => {
            let kind = match ask.layer {
                // No agent works on it: what it would change is made up.
                Some(Layer::Implementer) if ask.mock.is_some() => {
                    StepKind::Layer(Layer::Implementer)
                }
                // What implements a requirement is a delivery.
                Some(Layer::Implementer) | None => StepKind::Requirements,
                Some(
                    layer @ (Layer::Narrator
                    | Layer::Observers
                    | Layer::Decider
                    | Layer::Planner
                    | Layer::Innovators),
                ) => StepKind::Layer(layer),
            };
            (ask.clone(), vec![kind])
        }
        PipelineOrder::Clean(tag) => {
            let ask = PipelineAsk {
                mock: Some(tag.clone()),
                ..PipelineAsk::default()
            };
            (ask, vec![StepKind::Clean])
        }
        PipelineOrder::Remove(path) => {
            let ask = PipelineAsk {
                requirement: Some(path.clone()),
                ..PipelineAsk::default()
            };
            (ask, vec![StepKind::Clean])
        }
    }
}
