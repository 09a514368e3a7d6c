//! Samples of pipelines and requirements: every state of steps, agents and requirements, and jobs that work for a pipeline.

use domain::effect::{Action, Effect, RepoAction};
use domain::ids::{DeliveryId, PipelineId, StreamName};
use domain::job::{Job, JobPhase, Origin};
use domain::layer::Layer;
use domain::pipeline::{
    Agent, AgentState, DOCTOR_CHECK, Exchange, FoundRequirement, Implement, Member, MockTag,
    PartWork, Pipeline, PipelineAsk, PipelinePart, PipelineRules, PipelineStep, Recipe,
    Requirement, RequirementRef, RequirementState, SCOPE_CHECK, StepKind, StepState, TreeShas,
};
use domain::policy::Source;
use domain::pull::{OwnCheck, OwnChecks, OwnOutcome, Pull};
use domain::schedule::{BegunRun, LeftOut, Schedule, ScheduleError, ScheduleSettings};
use engine::keys;
use engine::settings::TrackedPull;
use engine::store::Aggregate;
use engine::work::Work;

use super::{AT, Samples, hindrance, job_id, pull_ref, sha};

pub(super) fn put(samples: &mut Samples, source: &Source, (job, pull): (&Job, &Pull)) {
    samples.put(keys::pipeline(&id()), &pipeline());
    samples.put(keys::pipeline_turn(&pull_ref().repo), &id());
    for schedule in schedules() {
        samples.put(Schedule::key(&pull_ref().repo), &schedule);
    }
    for requirement in requirements() {
        let key = keys::requirement(&requirement.repo, &requirement.reference.id);
        samples.put(key, &requirement);
    }
    for rules in rules() {
        let source = Source {
            pipeline: Some(rules),
            ..source.clone()
        };
        samples.put(keys::source(&source.repo), &source);
    }
    for job in jobs(job) {
        samples.put(keys::job(&job.id), &job);
    }
    for recipe in recipes() {
        let action = Action::Repo(RepoAction::Propose {
            job: job_id(),
            repo: pull_ref().repo,
            base: "jules".parse().expect("a branch"),
            recipe,
        });
        let effect = Effect::new(action, AT);
        samples.put(keys::effect("JOB#x", &effect.id), &effect);
    }
    for action in [status(), open_issue(), put_label()] {
        let effect = Effect::new(Action::Repo(action), AT);
        samples.put(keys::effect("PULL#x", &effect.id), &effect);
    }
    let tracked = TrackedPull {
        pull: checked(pull),
        read_at: Some(AT),
        unread: None,
    };
    samples.put(keys::pull(&pull_ref()), &tracked);
    let delivery = domain::delivery::Delivery {
        requirement: Some(reference()),
        ..super::deliveries::bare()
    };
    samples.put(keys::delivery(&delivery.id), &delivery);
}

/// Messages about them.
pub(super) fn works() -> [Work; 3] {
    [
        Work::Schedule {
            repo: pull_ref().repo,
        },
        Work::Pipeline { id: id() },
        Work::Requirement {
            repo: pull_ref().repo,
            id: reference().id,
        },
    ]
}

fn status() -> RepoAction {
    RepoAction::Status {
        pull: pull_ref(),
        sha: "a".repeat(40).parse().expect("a commit"),
        context: "jules/doctor".to_owned(),
        outcome: domain::pull::OwnOutcome::Failed,
        description: "1 error".to_owned(),
        rules: "0123456789abcdef".to_owned(),
    }
}

fn open_issue() -> RepoAction {
    RepoAction::OpenIssue {
        job: job_id(),
        repo: pull_ref().repo,
        title: "[innovator/recruiter] Say more".to_owned(),
        body: "## Problem".to_owned(),
        label: "innovator/recruiter".to_owned(),
        marker: "proposal:abc123:0123456789ab".to_owned(),
    }
}

fn put_label() -> RepoAction {
    RepoAction::PutLabel {
        job: job_id(),
        repo: pull_ref().repo,
        name: "bugs".to_owned(),
        colour: "d73a4a".to_owned(),
        description: "Something does not do what it should".to_owned(),
    }
}

fn id() -> PipelineId {
    "01j00000000000000000000042".parse().expect("an id")
}

fn schedules() -> [Schedule; 2] {
    let known = Schedule {
        tip: Some(sha('a')),
        settings: Some(ScheduleSettings {
            cron: vec!["0 20 * * *".to_owned()],
            timezone: Some("Europe/Berlin".to_owned()),
            by_actions: true,
        }),
        dealt_to: Some(AT),
        next: Some(AT),
        begun: Some(BegunRun {
            time: AT,
            at: AT,
            run: id(),
        }),
        left_out: Some(LeftOut {
            time: AT,
            reason: "another run goes on".to_owned(),
        }),
        error: None,
        due: Some(AT),
    };
    let unread = Schedule {
        error: Some(ScheduleError {
            since: AT,
            reason: "GitHub answers 502".to_owned(),
            told: Some("GitHub answers 403".to_owned()),
        }),
        due: Some(AT),
        ..Schedule::default()
    };
    [known, unread]
}

fn trees() -> TreeShas {
    TreeShas {
        target: sha('a'),
        worker: sha('b'),
    }
}

fn reference() -> RequirementRef {
    RequirementRef {
        id: "abc123".parse().expect("an id"),
        path: ".jules/exchange/requirements/abc123-retry.yml".to_owned(),
        events: vec![".jules/exchange/events/decided/aaa111-slow.yml".to_owned()],
    }
}

fn stream() -> StreamName {
    "backend".parse().expect("a stream")
}

fn members() -> Vec<Member> {
    let states = [
        AgentState::Working,
        AgentState::Merging,
        AgentState::Merged,
        AgentState::Nothing,
        AgentState::Open,
        AgentState::Failed {
            reason: "it failed".to_owned(),
        },
        AgentState::Refused {
            reason: "no prompt".to_owned(),
        },
    ];
    let member = |state| Member {
        role: Some("qa".parse().expect("a role")),
        stream: stream(),
        requirement: Some(reference().path),
        job: job_id(),
        state,
        note: "2 pending events are left for the next decider".to_owned(),
    };
    states.map(member).into()
}

fn pipeline() -> Pipeline {
    let reason = || "nothing changed".to_owned();
    let states = [
        (StepKind::Bootstrap, StepState::Done { at: AT }),
        (
            StepKind::Layer(Layer::Narrator),
            StepState::Skipped {
                at: AT,
                reason: reason(),
            },
        ),
        (
            StepKind::Layer(Layer::Observers),
            StepState::Failed {
                at: AT,
                reason: reason(),
            },
        ),
        (
            StepKind::Layer(Layer::Decider),
            StepState::Running { since: AT },
        ),
        (
            StepKind::Layer(Layer::Planner),
            StepState::WaitingMerge { since: AT },
        ),
        (StepKind::Requirements, StepState::Pending),
        (StepKind::Proposals, StepState::Pending),
        (StepKind::Clean, StepState::Pending),
        (StepKind::Labels, StepState::Pending),
    ];
    let step = |(kind, state)| PipelineStep {
        kind,
        state,
        members: members(),
        trees: Some(trees()),
        range: "aaaaaaa Add search".to_owned(),
        hindrance: Some(hindrance()),
        note: "one file cannot be read".to_owned(),
    };
    Pipeline {
        id: id(),
        repo: pull_ref().repo,
        target: "main".parse().expect("a branch"),
        worker: "jules".parse().expect("a branch"),
        ask: PipelineAsk {
            layer: Some(Layer::Planner),
            role: Some("qa".parse().expect("a role")),
            stream: Some(stream()),
            requirement: Some(reference().path),
            task: Some("create_three_proposals".to_owned()),
            mock: Some(mock()),
            keep_files: true,
        },
        rules: PipelineRules::default(),
        by: "token zai".to_owned(),
        steps: states.map(step).into(),
        wait_minutes: 30,
        summed_up: Some(trees().target),
        created_at: AT,
        updated_at: AT,
    }
}

fn rules() -> [PipelineRules; 2] {
    let rules = |exchange, implement| PipelineRules {
        exchange,
        implement,
        ..PipelineRules::default()
    };
    [
        rules(Exchange::Human, Implement::Auto),
        rules(Exchange::Auto, Implement::Human),
    ]
}

fn requirements() -> Vec<Requirement> {
    let delivery = || -> DeliveryId { "0123456789ab".parse().expect("an id") };
    let states = [
        RequirementState::Planning { job: job_id() },
        RequirementState::Unplanned {
            reason: "its session disappeared".to_owned(),
        },
        RequirementState::Ready,
        RequirementState::Implementing {
            delivery: delivery(),
        },
        RequirementState::Merged {
            delivery: delivery(),
        },
        RequirementState::Tidying {
            delivery: delivery(),
            job: job_id(),
        },
        RequirementState::Tidied {
            delivery: delivery(),
        },
        RequirementState::Removing {
            job: job_id(),
            by: "ann".to_owned(),
            before: Box::new(RequirementState::Ready),
        },
        RequirementState::Failed {
            reason: "it was closed".to_owned(),
        },
    ];
    let found = FoundRequirement {
        reference: reference(),
        title: "Retry once".to_owned(),
        label: "bugs".to_owned(),
        needs_planning: false,
    };
    let requirement = |state| Requirement {
        planners: 1,
        keep_files: true,
        file_gone: true,
        ..Requirement::found(&pull_ref().repo, found.clone(), state, AT)
    };
    states.map(requirement).into()
}

fn mock() -> MockTag {
    "mock-1".parse().expect("a tag")
}

fn recipes() -> [Recipe; 6] {
    [
        Recipe::Bootstrap(trees()),
        Recipe::Tidy {
            worker: sha('b'),
            requirement: reference(),
        },
        Recipe::Publish { worker: sha('b') },
        Recipe::Mock {
            base: sha('b'),
            range: "aaaaaaa Add search".to_owned(),
            today: jiff::civil::date(2026, 3, 1),
        },
        Recipe::Clean {
            worker: sha('b'),
            tag: mock(),
        },
        Recipe::Labels { worker: sha('b') },
    ]
}

fn jobs(job: &Job) -> [Job; 3] {
    let part = |pipeline, work| Some(Box::new(PipelinePart { pipeline, work }));
    let agent = PartWork::Agent(Agent {
        layer: Layer::Planner,
        role: Some("qa".parse().expect("a role")),
        stream: stream(),
        requirement: Some(reference().path),
        trees: trees(),
        included: vec![".jules/JULES.md".to_owned()],
        skipped: vec![".jules/exchange/changes.yml".to_owned()],
        mock: Some(mock()),
    });
    let proposal = PartWork::Proposal {
        requirement: Some(reference().id),
    };
    let proposed = |pull, head| Job {
        part: part(None, proposal.clone()),
        origin: Origin::Proposed,
        phase: JobPhase::Proposed {
            since: AT,
            pull,
            head,
        },
        ..job.clone()
    };
    [
        Job {
            part: part(Some(id()), agent),
            ..job.clone()
        },
        proposed(None, None),
        proposed(Some(pull_ref()), Some(sha('a'))),
    ]
}

fn checked(pull: &Pull) -> Pull {
    let check = |name: &str, outcome, output: &str| OwnCheck {
        name: name.to_owned(),
        outcome,
        output: output.to_owned(),
    };
    Pull {
        session: None,
        own_checks: Some(Box::new(OwnChecks {
            head: sha('a'),
            base: sha('b'),
            rules: "0123456789abcdef".to_owned(),
            results: vec![
                check(SCOPE_CHECK, OwnOutcome::Passed, ""),
                check(SCOPE_CHECK, OwnOutcome::Neutral, ""),
                check(DOCTOR_CHECK, OwnOutcome::Failed, "`x`: no"),
            ],
        })),
        ..pull.clone()
    }
}
