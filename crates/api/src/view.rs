//! Converts jobs, plans and reasons to their wire form. Text from others is stripped of anything that looks like a
//! secret.

use client::wire::{
    CheckView, Ended, JobView, OrderView, PlanStepView, PromptSource, PullView, Reason, Waiting,
    WaitsFor, Why,
};
use domain::facts::Check;
use domain::ids::PullRef;
use domain::job::{Attention, EndReason, Ending, Job, JobPhase, OrderRecord, Watch, answered_at};
use domain::merge::{self, Judgement};
use domain::pipeline::{PartWork, PipelinePart};
use domain::redact::presentable;
use domain::session::Plan;
use domain::web_page::WebPage;
use engine::job_state::state_of;
use engine::settings::TrackedPull;
use engine::waits::Waits;
use jiff::Timestamp;

use crate::next;
use crate::refusal::Refused;
use crate::state::ApiInner;

/// Longest question, in characters: as much as is kept of it.
const QUESTION_CHARS_MAX: usize = 8_000;

/// Longest title or description of a plan's step, in characters.
const STEP_CHARS_MAX: usize = 1_000;

/// Longest short text, in characters.
pub(crate) const SHORT_CHARS_MAX: usize = 1_000;

/// The reason of a cancelled job: unchanged since the first design.
const CANCELLED: &str = "Canceled by user";

/// A job, with who is waited for.
pub(crate) async fn job_view(api: &ApiInner, job: &Job) -> Result<JobView, Refused> {
    among(&mut Waits::new(&api.backend), job).await
}

/// The same for one of several jobs: shared inputs are read once.
pub(crate) async fn among(waits: &mut Waits<'_>, job: &Job) -> Result<JobView, Refused> {
    let (waits_for, as_read) = waits.as_read(job).await?;
    Ok(JobView {
        waits_for: waits_for.into(),
        as_read,
        ..shown(job)
    })
}

fn shown(job: &Job) -> JobView {
    let watch = job.watched();
    let automation = job.terms.automation;
    let url = watch.and_then(|watch| watch.url.as_deref());
    let session_url = job
        .session()
        .map(|session| WebPage::session_page(session, url));
    JobView {
        job_id: job.id.clone(),
        delivery_id: job.delivery.clone(),
        state: state_of(job).to_owned(),
        session_id: job.session().cloned(),
        session_state: watch.map(|watch| watch.state.as_str().to_owned()),
        session_url: session_url.map(|page| page.as_str().to_owned()),
        repo: job.repo.clone(),
        branch: job.branch.clone(),
        title: presentable(&job.title, SHORT_CHARS_MAX),
        attempt: job.attempt,
        created_at: job.created_at,
        pull_request: job.pull().cloned(),
        pull_request_url: job.pull().map(PullRef::url),
        agent: job.agent.clone(),
        priority: job.priority,
        require_plan_approval: job.terms.require_plan_approval == Some(true),
        automation_mode: (!automation.is_usual()).then(|| automation.as_str().to_owned()),
        account: job.account.clone(),
        last_activity: watch.map(|watch| watch.progress_at),
        waiting: watch.and_then(waiting),
        waits_for: WaitsFor::default(),
        as_read: None,
        ended: ended(job),
        orders: job.order_log.iter().map(given).collect(),
        prompt_source: job.part.as_deref().and_then(prompt_source),
        metadata: None,
    }
}

/// A pull request that is not over.
pub(crate) fn pull(tracked: &TrackedPull, now: Timestamp) -> PullView {
    let pull = &tracked.pull;
    PullView {
        pull_request: pull.pull.clone(),
        url: pull.pull.url(),
        job_id: pull.job.clone(),
        state: engine::why::pull_state_of(pull).to_owned(),
        head: pull.head.as_ref().map(|head| head.sha.clone()),
        since: pull.since,
        as_read: tracked.as_read(now),
    }
}

/// What the prompt of an agent was made of. What a trial run makes up has none.
fn prompt_source(part: &PipelinePart) -> Option<PromptSource> {
    let agent = match &part.work {
        PartWork::Agent(agent) if agent.mock.is_none() => agent,
        PartWork::Agent(_) | PartWork::Proposal { .. } | PartWork::Sprint(_) => return None,
    };
    let requirement = agent.requirement.as_deref();
    Some(PromptSource {
        pipeline_id: part.pipeline.clone(),
        layer: agent.layer.name().to_owned(),
        role: agent.role.clone(),
        stream: Some(agent.stream.clone()).filter(|stream| !stream.is_generic()),
        requirement: requirement.map(|path| presentable(path, SHORT_CHARS_MAX)),
        target: agent.trees.target.clone(),
        worker: agent.trees.worker.clone(),
        included: agent.included.len(),
        skipped: agent.skipped.len(),
    })
}

fn given(given: &OrderRecord) -> OrderView {
    OrderView {
        order: given.order.word().to_owned(),
        by: presentable(&given.by, SHORT_CHARS_MAX),
        at: given.at,
    }
}

/// The text of the open question of a job's session.
pub(crate) fn question(job: &Job) -> Option<String> {
    match waiting(job.watched()?)? {
        Waiting::Question { text, .. } => text,
        Waiting::Plan { .. } => None,
    }
}

/// The open question or plan, if it has no answer yet.
fn waiting(watch: &Watch) -> Option<Waiting> {
    if answered_at(watch).is_some() {
        return None;
    }
    match &watch.attention {
        Attention::Question { since, text, .. } => Some(Waiting::Question {
            since: *since,
            text: text
                .as_deref()
                .map(|text| presentable(text, QUESTION_CHARS_MAX)),
        }),
        Attention::Plan { since, plan, .. } => Some(Waiting::Plan {
            since: *since,
            plan_id: plan.as_ref().map(|plan| plan.id.clone()),
            steps: plan.as_ref().map(steps).unwrap_or_default(),
        }),
        Attention::None | Attention::Expecting { .. } | Attention::Answered { .. } => None,
    }
}

fn steps(plan: &Plan) -> Vec<PlanStepView> {
    let step = |step: &domain::session::PlanStep| PlanStepView {
        title: presentable(&step.title, STEP_CHARS_MAX),
        description: presentable(&step.description, STEP_CHARS_MAX),
    };
    plan.steps.iter().map(step).collect()
}

fn ended(job: &Job) -> Option<Ended> {
    let JobPhase::Ended(Ending { at, how, .. }) = &job.phase else {
        return None;
    };
    let mut ended = Ended {
        at: *at,
        how: state_of(job).to_owned(),
        reason: None,
        sha: None,
        by: None,
    };
    match how {
        EndReason::Merged { sha } => ended.sha = Some(sha.clone()),
        EndReason::Failed { reason } | EndReason::Refused { reason } => {
            ended.reason = Some(presentable(reason, SHORT_CHARS_MAX));
        }
        EndReason::Cancelled { by } => {
            ended.reason = Some(CANCELLED.to_owned());
            ended.by = Some(presentable(by, SHORT_CHARS_MAX));
        }
        EndReason::Woven { into } => {
            ended.reason = Some(format!("merged as part of {into}"));
        }
        EndReason::PullClosed | EndReason::Completed | EndReason::Lost | EndReason::Left => {}
    }
    Some(ended)
}

fn checks(checks: &[Check], pull: Option<&PullRef>) -> Vec<CheckView> {
    let view = |check: &Check| CheckView {
        name: presentable(&check.name, SHORT_CHARS_MAX),
        state: check.outcome.word().to_owned(),
        url: pull
            .and_then(|pull| check.page(&pull.repo))
            .map(String::from),
    };
    checks.iter().map(view).collect()
}

/// The wire form of an explanation.
pub(crate) fn why(why: engine::why::Why) -> Why {
    Why {
        job_id: why.job,
        checks: checks(&why.checks, why.pull.as_ref()),
        pull_request: why.pull,
        state: why.state,
        waits_for: why.waits_for.map(Into::into),
        as_read: why.as_read,
        because: why.because,
        then: why.then,
        next: why.next.iter().map(next::shown).collect(),
        next_look: why.next_look,
    }
}

/// The reasons of a judgement about a pull request of a job that does this for a pipeline.
pub(crate) fn reasons(judgement: &Judgement, part: Option<&PipelinePart>) -> Vec<Reason> {
    match judgement {
        Judgement::Merge { sha, .. } => vec![Reason::new(
            "merging",
            &format!("{sha} is green and is being merged."),
        )],
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            reasons.iter().map(|it| merge_reason(it, part)).collect()
        }
        Judgement::Conflict { .. } => vec![merge_reason(&merge::Reason::Conflict, part)],
    }
}

/// One reason of a judgement.
pub(crate) fn merge_reason(found: &merge::Reason, part: Option<&PipelinePart>) -> Reason {
    Reason::new(found.code(), &found.sentence_for(part))
}

#[cfg(test)]
mod tests {
    use domain::ids::CommitSha;
    use domain::layer::Layer;
    use domain::pipeline::{Agent, TreeShas};

    use super::*;

    #[test]
    fn the_prompt_of_an_agent_is_told_with_its_commits_and_that_of_no_trial() {
        let sha = |digit: &str| digit.repeat(40).parse::<CommitSha>().unwrap();
        let agent = |mock: Option<&str>| PipelinePart {
            pipeline: None,
            work: PartWork::Agent(Agent {
                layer: Layer::Observers,
                role: Some("qa".parse().unwrap()),
                stream: Default::default(),
                requirement: None,
                trees: TreeShas {
                    target: sha("a"),
                    worker: sha("b"),
                },
                included: vec![".jules/JULES.md".to_owned(); 7],
                skipped: vec![".jules/exchange/changes.yml".to_owned()],
                mock: mock.map(|tag| tag.parse().unwrap()),
            }),
        };
        let source = prompt_source(&agent(None)).unwrap();
        assert_eq!((source.target, source.worker), (sha("a"), sha("b")));
        assert_eq!((source.included, source.skipped), (7, 1));
        assert_eq!(
            (source.layer.as_str(), source.stream),
            ("observers", None),
            "every repository has the generic one"
        );
        assert_eq!(prompt_source(&agent(Some("mock-1"))), None);
    }

    #[test]
    fn a_judgement_names_the_limit_that_counts_for_the_job() {
        let judgement = Judgement::Refuse {
            reasons: vec![merge::Reason::DailyCap {
                cap: 60,
                until: Some(Timestamp::UNIX_EPOCH),
            }],
        };
        let own = PipelinePart {
            pipeline: None,
            work: PartWork::Proposal { requirement: None },
        };
        for (part, limit) in [
            (None, "the source's `merges_per_day`"),
            (Some(&own), "pull requests of the exchange"),
        ] {
            let told = &reasons(&judgement, part)[0].sentence;
            assert!(told.contains(limit), "{told}");
        }
    }
}
