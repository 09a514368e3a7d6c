//! Proposals become issues: all are checked first, each is looked for before it is opened, and then their files are removed.

use domain::ids::JobId;
use domain::job::Job;
use domain::pipeline::{Pipeline, Plan, Recipe};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use scaffold::doctor::{self, Circumstances, Level};
use scaffold::exchange::{self, FoundProposal};
use scaffold::layout::{Layout, Paths, SYSTEM};
use scaffold::tree::Tree;

use super::at_work;
use super::trees::TreeCache;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// How long ago an issue of the same proposal is looked for at most.
const LOOKED_FOR: SignedDuration = SignedDuration::from_hours(90 * 24);

/// How many issues one run opens: eight innovators make three proposals each. Others wait for the next one.
const PUBLISHED_MAX: usize = 24;

/// The version of this Gaffer.
const OURS: &str = env!("CARGO_PKG_VERSION");

impl Dispatcher {
    /// Publishes all proposals that wait, or none: one that is not in order holds up the others.
    pub(super) async fn plan_publishing(
        &self,
        pipeline: &Pipeline,
        cache: &mut TreeCache,
    ) -> Result<Plan, Error> {
        let shas = match self.tips(pipeline).await? {
            Ok(shas) => shas,
            Err(why) => return Ok(Plan::Fail(why)),
        };
        let trees = self.trees_of(&pipeline.repo, &shas, cache).await?;
        if proposals(&trees.worker).is_empty() {
            return Ok(Plan::Skip("No proposal waits".to_owned()));
        }
        let folder = paths(&trees.worker).proposals;
        let circumstances = Circumstances {
            today: self.backend.now().to_zoned(TimeZone::UTC).date(),
            version: OURS.to_owned(),
        };
        let found = doctor::examine(trees, &circumstances);
        let odd = |it: &&doctor::Finding| it.level == Level::Error && it.file.starts_with(folder);
        if let Some(odd) = found.iter().find(odd) {
            return Ok(Plan::Fail(format!("nothing is published: {odd}")));
        }
        let job = JobId::of_pipeline(&pipeline.id, "proposals", self.backend.now());
        Ok(Plan::Run {
            members: vec![at_work(job)],
            trees: Some(shas),
            range: String::new(),
            wait_minutes: None,
        })
    }

    /// Opens the issues of a recipe that are not there yet.
    pub(super) async fn publish(&self, job: &Job, recipe: &Recipe) -> Result<(), Error> {
        let worker = match recipe {
            Recipe::Publish { worker } => worker,
            Recipe::Bootstrap(_) | Recipe::Tidy { .. } => return Ok(()),
        };
        let repo = &job.repo;
        let tree = self.readers.git.tree(repo, worker, &[SYSTEM]).await?;
        let found = proposals(&tree);
        let since = since(&found, job.created_at);
        let known = self.readers.issues.issues_since(repo, since).await?;
        for proposal in found {
            let marker = format!("<!-- gaffer-proposal: {} -->", proposal.id);
            let has_it = |body: &String| body.contains(&marker);
            if known.iter().any(|it| it.body.as_ref().is_some_and(has_it)) {
                continue;
            }
            let body = format!("{}\n\n{marker}", proposal.body);
            let labels = [proposal.label()];
            let text = (proposal.title.as_str(), body.as_str());
            self.writers.git.open_issue(repo, text, &labels).await?;
        }
        Ok(())
    }
}

/// The proposals that wait on a worker branch, as many as are published at once.
pub(super) fn proposals(worker: &Tree) -> Vec<FoundProposal> {
    let mut found = exchange::proposals(worker, paths(worker));
    found.truncate(PUBLISHED_MAX);
    found
}

fn paths(worker: &Tree) -> &'static Paths {
    Layout::paths(worker).unwrap_or(&scaffold::layout::EXCHANGE)
}

/// An issue of a proposal is younger than the proposal. What its file says of its age is a claim.
fn since(found: &[FoundProposal], asked_at: Timestamp) -> Timestamp {
    let oldest = found.iter().filter_map(|it| it.created_at).min();
    let latest = oldest.map_or(asked_at, |at| at.min(asked_at));
    latest.max(asked_at - LOOKED_FOR)
}
