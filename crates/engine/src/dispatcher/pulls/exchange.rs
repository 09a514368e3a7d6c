//! The two checks of our own for pull requests of a pipeline: did a session change only what its layer may change, and are
//! the files in order after the merge.

use std::sync::Arc;

use domain::delivery::Delivery;
use domain::effect::{Action, RepoAction};
use domain::event::FailedCheck;
use domain::facts::{Check, Fact, PullFacts, PullState, ReadDepth};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, EffectId, RepoName};
use domain::job::Job;
use domain::layer::Layer;
use domain::pipeline::{Agent, DOCTOR_CHECK, OWN_CHECKS, Part, PartWork, Requirement, SCOPE_CHECK};
use domain::policy::Source;
use domain::pull::{OwnCheck, OwnChecks, OwnOutcome, Pull};
use domain::redact::presentable;
use domain::step::Step;
use jiff::tz::TimeZone;
use scaffold::doctor::{self, Circumstances, Finding};
use scaffold::layout::{EXCHANGE, Layout};
use scaffold::prompt::Trees;
use scaffold::scope::{FileChange, Scope, violations};
use scaffold::tree::{Tree, TreePath};

use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::Comparison;

/// How many findings a session gets at once.
const FINDINGS_MAX: usize = 20;

/// Longest description of a status on GitHub, in characters.
const STATUS_CHARS_MAX: usize = 140;

/// The version of this Gaffer.
const OURS: &str = env!("CARGO_PKG_VERSION");

impl Dispatcher {
    /// Puts our own checks into the facts of a pipeline's pull request, and keeps their results with it. What others
    /// report under their names is dropped.
    pub(super) async fn put_own_checks(
        &self,
        (job, pull): (&Job, &mut Pull),
        facts: &mut PullFacts,
        source: &Source,
    ) -> Result<(), Error> {
        let Some(part) = &job.part else { return Ok(()) };
        if part.sprint().is_some() {
            return Ok(());
        }
        if let Fact::Known(checks) = &mut facts.checks {
            checks.retain(|check| !OWN_CHECKS.contains(&check.name.as_str()));
        }
        match (&facts.state, facts.depth) {
            (PullState::Open, ReadDepth::Whole | ReadDepth::WithClues) => {}
            (PullState::Open, ReadDepth::Outline)
            | (PullState::Closed | PullState::Merged { .. }, _) => return Ok(()),
        }
        let rules = self.rules_of_checks(part, source).await?;
        let place = (&facts.head.sha, &facts.base.sha, rules.as_str());
        let kept = pull.own_checks.take();
        let kept = kept.filter(|kept| (&kept.head, &kept.base, kept.rules.as_str()) == place);
        let checks = match kept {
            Some(kept) => kept,
            None => Box::new(self.checked(job, part, (facts, rules), source).await?),
        };
        if let Fact::Known(known) = &mut facts.checks {
            known.extend(checks.results.iter().map(|result| Check {
                name: result.name.clone(),
                app: None,
                outcome: result.outcome.of_check(),
                id: None,
            }));
        }
        pull.own_checks = Some(checks);
        Ok(())
    }

    /// Works both checks out anew.
    async fn checked(
        &self,
        job: &Job,
        part: &Part,
        (facts, rules): (&PullFacts, String),
        source: &Source,
    ) -> Result<OwnChecks, Error> {
        let found = match &part.work {
            PartWork::Agent(agent) => self.check_agent(agent, facts, source).await,
            PartWork::Proposal { .. } => Ok(check_proposal(job, facts)),
            PartWork::Sprint(_) => Ok(Vec::new()),
        };
        let (results, rules) = match found {
            Ok(results) => (results, rules),
            // It fails for now. Under no rules it is worked out again at the next look.
            Err(Error::Outside(failure)) if failure.class == FailureClass::Garbled => {
                (vec![unreadable(SCOPE_CHECK, &failure)], String::new())
            }
            Err(error) => return Err(error),
        };
        Ok(OwnChecks {
            head: facts.head.sha.clone(),
            base: facts.base.sha.clone(),
            rules,
            results,
        })
    }

    /// The label of a requirement, for the pull request that implements it, or that of a sprint for one of its members.
    pub(super) async fn label_of(
        &self,
        job: &Job,
        step: &Step<Pull>,
    ) -> Result<Option<Action>, Error> {
        let sprint = job.part.as_ref().and_then(|part| part.sprint());
        if let Some(part) = sprint.filter(|part| part.persona.is_some()) {
            return Ok(Some(Action::Label {
                pull: step.aggregate.pull.clone(),
                label: part.sprint.label(),
            }));
        }
        let implements =
            job.part.as_ref().and_then(|part| part.layer()) == Some(Layer::Implementer);
        let delivery = match &job.delivery {
            Some(id) if implements => self.backend.store.get::<Delivery>(id).await?,
            Some(_) | None => None,
        };
        let Some(requirement) = delivery.and_then(|found| found.value.requirement) else {
            return Ok(None);
        };
        let key = (job.repo.clone(), requirement.id);
        let found = self.backend.store.get::<Requirement>(&key).await?;
        let label = found.map(|found| found.value.label);
        Ok(label
            .filter(|label| !label.is_empty())
            .map(|label| Action::Label {
                pull: step.aggregate.pull.clone(),
                label,
            }))
    }

    /// What our own checks depend on apart from the head and the base, in one word.
    async fn rules_of_checks(&self, part: &Part, source: &Source) -> Result<String, Error> {
        let tip = match (&source.branch, part.is_of_exchange()) {
            (Some(branch), true) => self.readers.git.tip(&source.repo, branch).await?,
            (Some(_) | None, _) => None,
        };
        let today = self.backend.now().to_zoned(TimeZone::UTC).date();
        let protected = &source.policy.protected_paths;
        Ok(EffectId::from_name(&format!("{tip:?} {today} {OURS} {protected:?}")).to_string())
    }

    /// Both checks for the pull request of an agent. An implementer's is code: its scope is checked, and counts for no
    /// check that its source asks for.
    async fn check_agent(
        &self,
        agent: &Agent,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<Vec<OwnCheck>, Error> {
        let between = (&facts.base.sha, &facts.head.sha);
        let compared = self.readers.git.compare(&facts.pull.repo, between).await?;
        let of_exchange = agent.layer.is_on_worker_branch();
        let base = match of_exchange {
            true => self.system_tree(&facts.pull.repo, &facts.base.sha).await?,
            false => Tree::default(),
        };
        let mut scope = check_scope(agent, (&base, &compared.files), source);
        if !of_exchange {
            if scope.outcome == OwnOutcome::Passed {
                scope.outcome = OwnOutcome::Neutral;
            }
            return Ok(vec![scope]);
        }
        let doctor = self.check_doctor((base, &compared), facts, source).await?;
        Ok(vec![scope, doctor])
    }

    /// What the doctor says of the files that the merge would make; errors that the base has too do not count.
    async fn check_doctor(
        &self,
        (base, compared): (Tree, &Comparison),
        facts: &PullFacts,
        source: &Source,
    ) -> Result<OwnCheck, Error> {
        let repo = &facts.pull.repo;
        let head = self.system_tree(repo, &facts.head.sha).await?;
        let control = Arc::new(self.target_files(repo, source).await?);
        let changed = paths(&compared.files);
        let merged = doctor::merged(&base, &head, &changed);
        let circumstances = Circumstances {
            today: self.backend.now().to_zoned(TimeZone::UTC).date(),
            version: OURS.to_owned(),
        };
        let examined = |worker: Tree| {
            let trees = Trees {
                target: Arc::clone(&control),
                worker: Arc::new(worker),
            };
            doctor::examine(&trees, &circumstances)
        };
        let found = doctor::new_errors(&examined(base), &examined(merged));
        Ok(check_of(DOCTOR_CHECK, found.iter().map(Finding::to_string)))
    }

    /// The user's files on the branch that people work on.
    async fn target_files(&self, repo: &RepoName, source: &Source) -> Result<Tree, Error> {
        let Some(branch) = &source.branch else {
            return Ok(Tree::default());
        };
        match self.readers.git.tip(repo, branch).await? {
            Some(tip) => self.control_tree(repo, &tip).await,
            None => Ok(Tree::default()),
        }
    }
}

/// Shows the results of our own checks on GitHub, if they are others than before. Without the permission only nothing shows there.
pub(super) fn show_own_checks(step: &mut Step<Pull>, before: &Pull) {
    let Some(now) = step.aggregate.own_checks.as_deref() else {
        return;
    };
    let before = before
        .own_checks
        .as_deref()
        .filter(|it| it.head == now.head);
    let earlier = |name: &str| {
        let mut results = before.iter().flat_map(|it| &it.results);
        results.find(|it| it.name == name).map(|it| it.outcome)
    };
    let changed = now.results.iter().filter(|result| {
        let earlier = earlier(&result.name);
        // What is neutral only takes a failure back.
        let is_news = result.outcome != OwnOutcome::Neutral || earlier.is_some();
        is_news && earlier != Some(result.outcome)
    });
    let statuses = changed.map(|result| {
        Action::Repo(RepoAction::Status {
            pull: step.aggregate.pull.clone(),
            sha: now.head.clone(),
            context: result.name.clone(),
            outcome: result.outcome,
            description: match result.outcome {
                OwnOutcome::Passed | OwnOutcome::Neutral => "All is well".to_owned(),
                OwnOutcome::Failed => first_line(&result.output),
            },
            rules: now.basis(),
        })
    });
    let statuses: Vec<_> = statuses.collect();
    step.effects.extend(statuses);
}

/// The first finding, for one line on GitHub.
fn first_line(output: &str) -> String {
    presentable(output.lines().next().unwrap_or_default(), STATUS_CHARS_MAX)
}

/// What the session of a pull request is told of our own checks that failed.
pub(super) fn failed_own_checks(pull: &Pull, head: &CommitSha) -> Vec<FailedCheck> {
    let kept = pull.own_checks.iter().filter(|kept| kept.head == *head);
    let results = kept.flat_map(|kept| &kept.results);
    let failed = results.filter(|result| result.outcome == OwnOutcome::Failed);
    failed
        .map(|result| FailedCheck {
            name: result.name.clone(),
            output: result.output.clone(),
            page: None,
        })
        .collect()
}

/// Whether a pull request of our own still has the one commit that Gaffer made for it.
fn check_proposal(job: &Job, facts: &PullFacts) -> Vec<OwnCheck> {
    let foreign = (job.committed() != Some(&facts.head.sha))
        .then(|| format!("{} is no commit that Gaffer made", facts.head.sha));
    OWN_CHECKS
        .into_iter()
        .map(|name| check_of(name, foreign.iter().cloned()))
        .collect()
}

fn check_scope(
    agent: &Agent,
    (base, changes): (&Tree, &[FileChange]),
    source: &Source,
) -> OwnCheck {
    let requirement = agent
        .requirement
        .as_ref()
        .and_then(|path| path.parse().ok());
    let scope = Scope {
        layer: agent.layer,
        role: agent.role.as_ref(),
        requirement: requirement.as_ref(),
        protected: &source.policy.protected_paths,
    };
    let paths = Layout::paths(base).unwrap_or(&EXCHANGE);
    let found = violations(&paths.of(base, &agent.stream), &scope, changes);
    check_of(SCOPE_CHECK, found.iter().map(ToString::to_string))
}

/// A check that failed if anything was found.
fn check_of(name: &str, found: impl Iterator<Item = String>) -> OwnCheck {
    let found: Vec<_> = found.take(FINDINGS_MAX).collect();
    OwnCheck {
        name: name.to_owned(),
        outcome: match found.is_empty() {
            true => OwnOutcome::Passed,
            false => OwnOutcome::Failed,
        },
        output: found.join("\n"),
    }
}

fn unreadable(name: &str, failure: &Failure) -> OwnCheck {
    check_of(name, std::iter::once(failure.to_string()))
}

/// The paths of changes, the old names of renamed files among them.
fn paths(changes: &[FileChange]) -> Vec<TreePath> {
    let names = changes
        .iter()
        .flat_map(|change| std::iter::once(&change.path).chain(&change.old_path));
    names.filter_map(|path| path.parse().ok()).collect()
}
