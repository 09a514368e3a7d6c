//! The two checks of our own for pull requests of a pipeline: did a session change only what its layer may change, and are
//! the files in order after the merge.

use std::sync::Arc;

use domain::delivery::Delivery;
use domain::effect::{Action, PullAction, RepoAction};
use domain::event::FailedCheck;
use domain::facts::{Check, Fact, PullFacts, PullState, ReadDepth};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, EffectId, RepoName};
use domain::job::Job;
use domain::layer::Layer;
use domain::pipeline::{
    Agent, DOCTOR_CHECK, OWN_CHECKS, PartWork, PipelinePart, Requirement, SCOPE_CHECK,
};
use domain::policy::Source;
use domain::pull::{OwnCheck, OwnChecks, OwnOutcome, Pull};
use domain::redact::presentable;
use domain::step::Step;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use scaffold::doctor::{self, Circumstances, Finding, Rule};
use scaffold::layout::{EXCHANGE, Layout, SYSTEM};
use scaffold::prompt::Trees;
use scaffold::scope::{FileChange, Scope, violations};
use scaffold::tree::{Tree, TreePath};

use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::CommitRange;

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
        job: &Job,
        pull: &mut Pull,
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
        let unread = unread_rules(&rules, self.backend.now());
        let between = CommitRange {
            base: &facts.base.sha,
            head: &facts.head.sha,
        };
        let kept = pull.own_checks.take();
        let kept = kept.filter(|kept| still_hold(kept, between, [&rules, &unread]));
        let checks = match kept {
            Some(kept) => kept,
            None => Box::new(
                self.checked(job, part, (facts, [rules, unread]), source)
                    .await?,
            ),
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
        part: &PipelinePart,
        (facts, [rules, unread]): (&PullFacts, [String; 2]),
        source: &Source,
    ) -> Result<OwnChecks, Error> {
        let found = match &part.work {
            PartWork::Agent(agent) => self.check_agent(agent, facts, source).await,
            PartWork::Proposal { .. } => self.check_proposal(job, facts, source).await,
            PartWork::Sprint(_) => Ok(Vec::new()),
        };
        let (results, rules) = match found {
            Ok(results) => (results, rules),
            // It fails for now: an answer may be cut off once, and a change with too many files always.
            Err(Error::Outside(failure)) if failure.class == FailureClass::Garbled => {
                (vec![unreadable(SCOPE_CHECK, &failure)], unread)
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
        let sprint = job.sprint();
        if let Some(part) = sprint.filter(|part| part.persona.is_some()) {
            return Ok(Some(Action::Pull(PullAction::Label {
                pull: step.aggregate.pull.clone(),
                label: part.sprint.label(),
                weave: None,
            })));
        }
        if let Some(label) = self.label_of_trial(job).await? {
            return Ok(Some(Action::Pull(PullAction::Label {
                pull: step.aggregate.pull.clone(),
                label,
                weave: None,
            })));
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
        Ok(label.filter(|label| !label.is_empty()).map(|label| {
            Action::Pull(PullAction::Label {
                pull: step.aggregate.pull.clone(),
                label,
                weave: None,
            })
        }))
    }

    /// What our own checks depend on apart from the head and the base, in one word.
    async fn rules_of_checks(&self, part: &PipelinePart, source: &Source) -> Result<String, Error> {
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
        let between = CommitRange {
            base: &facts.base.sha,
            head: &facts.head.sha,
        };
        let compared = self.readers.git.compare(&facts.pull.repo, between).await?;
        let of_exchange = agent.layer.is_on_worker_branch();
        let base = match of_exchange {
            true => self.system_tree(&facts.pull.repo, &facts.base.sha).await?,
            false => Tree::default(),
        };
        let mut scope = check_scope(agent, &base, &compared.files, source);
        if !of_exchange {
            if scope.outcome == OwnOutcome::Passed {
                scope.outcome = OwnOutcome::Neutral;
            }
            return Ok(vec![scope]);
        }
        let changed = Some(paths(&compared.files));
        let found = self.new_errors(base, changed, facts, source).await?;
        let doctor = check_of(DOCTOR_CHECK, found.iter().map(Finding::to_string));
        Ok(vec![scope, doctor])
    }

    /// Both checks for a pull request of our own: it has the one commit that Gaffer made for it, and the files are in order after the merge.
    async fn check_proposal(
        &self,
        job: &Job,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<Vec<OwnCheck>, Error> {
        let (repo, head) = (&facts.pull.repo, &facts.head.sha);
        if job.committed() != Some(head) {
            let foreign = format!("{head} is no commit that Gaffer made");
            let check = |name: &str| check_of(name, std::iter::once(foreign.clone()));
            return Ok(OWN_CHECKS.map(check).into());
        }
        let base = self.system_tree(repo, &facts.base.sha).await?;
        let between = CommitRange {
            base: &facts.base.sha,
            head,
        };
        let changed = match self.readers.git.compare(repo, between).await {
            Ok(compared) => Some(paths(&compared.files)),
            // A bootstrap may bring more code than GitHub lists.
            Err(failure) if failure.class == FailureClass::Garbled => None,
            Err(failure) => return Err(failure.into()),
        };
        let found = self.new_errors(base, changed, facts, source).await?;
        let doctor = found.iter().filter(|it| is_of_system(it));
        Ok(vec![
            check_of(SCOPE_CHECK, std::iter::empty()),
            check_of(DOCTOR_CHECK, doctor.map(Finding::to_string)),
        ])
    }

    /// What the doctor says of the files that the merge would make; errors that the base has too do not count. Without the changed paths, the
    /// files of the head stand for those of the merge.
    async fn new_errors(
        &self,
        base: Tree,
        changed: Option<Vec<TreePath>>,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<Vec<Finding>, Error> {
        let repo = &facts.pull.repo;
        let head = self.system_tree(repo, &facts.head.sha).await?;
        let control = Arc::new(self.target_files(repo, source).await?);
        let merged = match changed {
            Some(changed) => doctor::merged(&base, &head, &changed),
            None => head,
        };
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
        Ok(doctor::new_errors(&examined(base), &examined(merged)))
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

/// The rules under which an answer that could not be read is kept: it is asked for again each hour, and not at each look.
fn unread_rules(rules: &str, now: Timestamp) -> String {
    let hour = now.as_second().div_euclid(3_600);
    format!("{rules}:unread:{hour}")
}

/// Whether results still count for a head on a base, under rules of which one counts.
fn still_hold(kept: &OwnChecks, between: CommitRange<'_>, rules: [&String; 2]) -> bool {
    let (base, head) = (&kept.base, &kept.head);
    CommitRange { base, head } == between && rules.contains(&&kept.rules)
}

/// Whether a finding is about the system's files as such. What is wrong with the user's files, and with the prompts that
/// hold them, a bootstrap only brings to light.
fn is_of_system(finding: &Finding) -> bool {
    let is_below = finding.file.starts_with(SYSTEM);
    is_below && finding.rule != Rule::Prompt
}

fn check_scope(agent: &Agent, base: &Tree, changes: &[FileChange], source: &Source) -> OwnCheck {
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
    let found = violations(&paths.of_stream(base, &agent.stream), &scope, changes);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_could_not_be_read_is_asked_for_again_each_hour_only() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let sha = |digit: &str| digit.repeat(40).parse::<CommitSha>().unwrap();
        let (head, base, rules) = (sha("a"), sha("b"), "rules".to_owned());
        let kept = OwnChecks {
            head: head.clone(),
            base: base.clone(),
            rules: unread_rules(&rules, at(3_600)),
            results: Vec::new(),
        };
        let between = CommitRange {
            base: &base,
            head: &head,
        };
        let holds = |between, now| still_hold(&kept, between, [&rules, &unread_rules(&rules, now)]);
        assert!(holds(between, at(7_199)));
        assert!(!holds(between, at(7_200)));
        let moved = CommitRange {
            head: &base,
            ..between
        };
        assert!(!holds(moved, at(7_199)));
        let read = OwnChecks {
            rules: rules.clone(),
            ..kept.clone()
        };
        let later = unread_rules(&rules, at(90_000));
        assert!(still_hold(&read, between, [&rules, &later]));
        let other = "other".to_owned();
        assert!(!still_hold(&read, between, [&other, &later]));
    }
}
