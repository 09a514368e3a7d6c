//! Runs that begin by themselves: when the settings of a repository say so, each time once.

use std::sync::Arc;

use domain::event::Event;
use domain::failure::Failure;
use domain::ids::{BranchName, CommitSha, RepoName};
use domain::merge::Hold;
use domain::pipeline::EntryPoint;
use domain::policy::Source;
use domain::schedule::{self, Reading, Schedule, ScheduleSettings, Times};
use domain::step::Step;
use jiff::Timestamp;
use scaffold::config::{Clock, Config};
use scaffold::layout::CONFIG;
use scaffold::pin::PIN;
use scaffold::prompt::Trees;
use scaffold::timetable::Timetable;
use scaffold::tree::Tree;

use super::planning::settings;
use crate::backend::{DECIDE_AGAIN_MAX, Error};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::pipelines::PipelineOrder;
use crate::ports::Key;
use crate::store::{Aggregate, Initial, Versioned};
use crate::work::SCHEDULE;

/// Who begins such a run, for the record.
const BY: &str = "schedule";

/// What is in the way when GitHub refuses.
const GITHUB: &str = "github";

impl Aggregate for Schedule {
    type Id = RepoName;
    const KIND: &'static str = "schedule of the pipeline of";

    fn key(id: &RepoName) -> Key {
        keys::key(format!("{SCHEDULE}{}", id.key()), keys::META)
    }
    fn name(id: &RepoName) -> String {
        id.to_string()
    }
    fn due(&self) -> Option<Timestamp> {
        self.due
    }
}

impl Initial for Schedule {
    fn initial(_: &RepoName) -> Self {
        Self::default()
    }
}

impl Dispatcher {
    /// Looks at the schedule of a source: at its settings, and whether a time has come.
    pub(in crate::dispatcher) async fn schedule(&self, repo: &RepoName) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let source = self.backend.store.source(repo).await?;
            let source = source.map(|found| found.value);
            let Some(source) = source.filter(|source| source.pipeline.is_some()) else {
                return self.backend.end_of_source::<Schedule>(repo).await;
            };
            let Some(found) = self.backend.store.get::<Schedule>(repo).await? else {
                return Ok(());
            };
            match self.look_at_times(&source, &found).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
        }
        Ok(())
    }

    async fn look_at_times(
        &self,
        source: &Source,
        found: &Versioned<Schedule>,
    ) -> Result<(), Error> {
        let hold = self.hold(source).await?;
        let step = match hold {
            // As with issues, nothing is read meanwhile.
            Some(_) => Step::unchanged(found.value.clone()),
            None => {
                let reading = self.read_schedule(source, &found.value).await?;
                let whose = (&source.repo, &source.account);
                schedule::read(&found.value, whose, reading, self.backend.now())
            }
        };
        let (known, now) = (step.aggregate, self.backend.now());
        let table = timetable(&known);
        let after = |at| table.as_ref().and_then(|table| table.next(at));
        let next = after(now);
        let come = known.dealt_to.and_then(after).filter(|time| *time <= now);
        let decided = match (come, hold) {
            (None, _) => known.waits(next, now),
            (Some(time), Some(hold)) => known.held((time, next), held(hold), now),
            (Some(time), None) => {
                return self.begin_run(source, found, &known, (time, next)).await;
            }
        };
        self.save_schedule(source, found, &decided, &step.events)
            .await
    }

    /// Begins the run whose time has come, in one commit with what is known of the times.
    async fn begin_run(
        &self,
        source: &Source,
        found: &Versioned<Schedule>,
        known: &Schedule,
        times: Times,
    ) -> Result<(), Error> {
        let (repo, now) = (&source.repo, self.backend.now());
        let order = PipelineOrder::From(EntryPoint::Narrator);
        match self.backend.new_run(repo, &order, BY).await {
            Ok((run, mut unit)) => {
                let began = known.began(times, run.id.clone(), now);
                unit.save(repo, &began, Some(found.version));
                self.backend.commit(unit).await?;
                tracing::info!(pipeline.id = %run.id, %repo, "a run began by its schedule");
                Ok(())
            }
            Err(Error::NotNow(refused)) => {
                let skipped = known.skipped(times, &refused.sentence, now);
                self.save_schedule(source, found, &skipped, &[]).await
            }
            Err(error) => Err(error),
        }
    }

    async fn save_schedule(
        &self,
        source: &Source,
        found: &Versioned<Schedule>,
        next: &Schedule,
        events: &[Event],
    ) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        unit.save(&source.repo, next, Some(found.version));
        self.announce(&mut unit, source, events).await?;
        self.backend.commit(unit).await
    }

    async fn read_schedule(&self, source: &Source, known: &Schedule) -> Result<Reading, Error> {
        match self.settings_at_tip(source, known).await {
            Err(Error::Outside(failure)) if failure.class.may_pass() => {
                tracing::warn!(repo = %source.repo, %failure, "the schedule is read later");
                Ok(Reading::Delayed(failure.to_string()))
            }
            Err(Error::Outside(failure)) => Ok(refused(&failure, false)),
            outcome => outcome,
        }
    }

    /// The settings on the branch of a source, if it moved since they were read, in the very repository that the source means.
    async fn settings_at_tip(&self, source: &Source, known: &Schedule) -> Result<Reading, Error> {
        let repo = &source.repo;
        let (Some(target), Some(rules)) = (&source.branch, &source.pipeline) else {
            let reason = format!("source {repo} names no branch: have the source name it");
            return Ok(unreadable(reason));
        };
        // First, since it records a credential that GitHub does not take: runs have no other reading that tells it.
        match self.repository_must_be_meant(source).await {
            Err(Error::Outside(failure)) if failure.class.is_hidden() => {
                // What is wrong with a repository itself has an event of its own.
                return Ok(refused(&failure, true));
            }
            outcome => outcome?,
        }
        let Some(tip) = self.readers.git.tip(repo, target).await? else {
            let reason = format!("{repo} has no branch `{target}`: name another one in the source");
            return Ok(unreadable(reason));
        };
        if known.is_read_at(&tip) {
            return Ok(Reading::Unchanged);
        }
        let files = self.control_tree(repo, &tip).await?;
        let worker = self.beside(&files, repo, &rules.worker, &tip).await?;
        let trees = Trees {
            target: Arc::new(files),
            worker: Arc::new(worker),
        };
        Ok(match settings(&trees, target, &rules.worker) {
            Ok(config) => Reading::Settings(tip, asked_for(&config)),
            Err(reason) => unreadable(reason),
        })
    }

    /// The system's files, where some of the user's are not there: the older generation, which they show, does without those. A worker branch
    /// that is not there yet begins with the code.
    async fn beside(
        &self,
        files: &Tree,
        repo: &RepoName,
        worker: &BranchName,
        code: &CommitSha,
    ) -> Result<Tree, Error> {
        if files.has(CONFIG) && files.has(PIN) {
            return Ok(Tree::default());
        }
        let tip = self.readers.git.tip(repo, worker).await?;
        self.system_tree(repo, tip.as_ref().unwrap_or(code)).await
    }
}

/// Something in the repository is in the way.
fn unreadable(reason: String) -> Reading {
    Reading::Unreadable {
        obstacle: reason.clone(),
        reason,
        is_told: false,
    }
}

/// GitHub is in the way; its words name commits, which differ.
fn refused(failure: &Failure, is_told: bool) -> Reading {
    Reading::Unreadable {
        reason: failure.to_string(),
        obstacle: GITHUB.to_owned(),
        is_told,
    }
}

/// What the settings say about times.
fn asked_for(config: &Config) -> ScheduleSettings {
    let cron = config.workflow.cron.iter();
    ScheduleSettings {
        cron: cron.map(|written| written.expression.clone()).collect(),
        timezone: config.workflow.timezone.clone(),
        by_actions: match config.workflow.clock {
            Clock::Gaffer => false,
            Clock::Actions => true,
        },
    }
}

/// The times that are ours to keep. Settings that were read have some, unless another version read them.
fn timetable(known: &Schedule) -> Option<Timetable> {
    let settings = known.settings.as_ref().filter(|it| !it.by_actions)?;
    let cron = settings.cron.iter().map(String::as_str);
    Timetable::new(cron, settings.timezone.as_deref()).ok()
}

/// Why nothing begins now.
fn held(hold: Hold) -> &'static str {
    match hold {
        Hold::Paused => "it is paused: one run makes up for what is missed, once that ends",
        Hold::ObserveOnly => {
            "Gaffer only observes here: one run makes up for what is missed, once it works"
        }
    }
}
