//! Samples of deliveries and of the intake of issues: every phase, every performer, every end.

mod effects;
mod transcripts;

use domain::delivery::{
    self, Actor, Analysis, Approved, Asked, Child, ChildState, Closed, Delivery, DeliveryKind,
    DeliveryPlan, Failed, Fault, IssueRef, IssueTrouble, Mode, NewDelivery, Performer, Phase,
    PhaseRun, Ref, RefRole, RefType, Refusal, ReviewBy, Reviewing, Rules, Run, RunResult,
    RunStatus, Seen, Task, TaskMessage, Told, TranscriptState, Verdict,
};
use domain::ids::{DeliveryId, RunId};
use domain::intake::{Intake, LastReading, ReadingResult};
use domain::priority::Priority;
use domain::pull::MergeStyle;
use domain::web_page::WebPage;
use engine::keys;
use engine::store::Aggregate;
use engine::work::Work;

use super::{AT, Samples, job_id, pull_ref, sha};

pub(super) fn put(samples: &mut Samples) {
    for delivery in deliveries() {
        samples.put(keys::delivery(&delivery.id), &delivery);
    }
    samples.put(keys::delivery_listed(&id()), &id());
    samples.put(keys::delivery_count(), &7u64);
    for intake in intakes() {
        samples.put(Intake::key(&pull_ref().repo), &intake);
    }
    transcripts::put(samples);
    effects::put(samples);
}

fn id() -> DeliveryId {
    DeliveryId::of_issue(&pull_ref().repo, 12)
}

fn kim() -> Actor {
    Actor::person("kim")
}

fn zai() -> Actor {
    Actor::agent("zai")
}

fn deliveries() -> Vec<Delivery> {
    let mut all = vec![bare(), full()];
    all.extend(kinds());
    all.extend(Phase::ALL.map(at_phase));
    all.extend(FAULTS.map(failed));
    all.extend(rules().map(|rules| Delivery { rules, ..bare() }));
    all.extend(effects::seen().map(|seen| Delivery { seen, ..bare() }));
    all.extend(ends());
    all
}

/// A delivery just after its creation.
pub(super) fn bare() -> Delivery {
    let new = NewDelivery {
        id: id(),
        seq: 7,
        kind: DeliveryKind::Issue,
        repo: pull_ref().repo,
        issue: Some("Acme/Shop#12".parse().expect("an issue")),
        requirement: None,
        summary: "GitHub Issue #12: Add search".to_owned(),
        description: Some("Add a search box.".to_owned()),
        acceptance_criteria: vec!["finds by name".to_owned()],
        refs: Vec::new(),
        priority: Priority::default(),
        parent: None,
        by: Actor::System,
    };
    let step = delivery::create(&new, &Rules::default(), AT);
    step.expect("a delivery").aggregate
}

fn kinds() -> [Delivery; 4] {
    [
        DeliveryKind::Requirement,
        DeliveryKind::Member,
        DeliveryKind::Integration,
        DeliveryKind::Adhoc,
    ]
    .map(|kind| Delivery { kind, ..bare() })
}

fn at_phase(phase: Phase) -> Delivery {
    Delivery { phase, ..bare() }
}

const FAULTS: [Fault; 19] = [
    Fault::Canceled,
    Fault::JobCanceled,
    Fault::SessionFailed,
    Fault::SessionLost,
    Fault::SessionRefused,
    Fault::MessageRefused,
    Fault::ApprovalRefused,
    Fault::NoPullRequest,
    Fault::NoNewCommit,
    Fault::PullClosed,
    Fault::ChecksFailed,
    Fault::RoundsUsedUp,
    Fault::ReviewFailed,
    Fault::MalformedReview,
    Fault::DeployFailed,
    Fault::ObserveFailed,
    Fault::NotBegun,
    Fault::PartsAbandoned,
    Fault::HistoryFull,
];

fn failed(code: Fault) -> Delivery {
    let text = "something went wrong".to_owned();
    Delivery {
        run_status: RunStatus::Failed,
        error: Some(Failed { code, text }),
        ..bare()
    }
}

/// Every way to plan, to review, to deploy and to observe.
pub(super) fn rules() -> [Rules; 4] {
    let rules = |words: [&str; 3], review_by| {
        let rules = serde_json::json!({
            "label": "gaffer",
            "endpoint": "observe",
            "checkpoints_by": words[0],
            "plan_by": words[1],
            "deploy": words[2],
            "observe": if words[2] == "none" { "none" } else { "soak:30m" },
        });
        let rules: Rules = serde_json::from_value(rules).expect("settings");
        Rules {
            review_by: Some(review_by),
            ..rules
        }
    };
    [
        rules(["people", "jules", "none"], ReviewBy::Agent),
        rules(
            ["anyone", "agent", "workflow:deploy.yml@main"],
            ReviewBy::Human,
        ),
        rules(
            ["people", "human", "deployment:production"],
            ReviewBy::Jules,
        ),
        rules(["people", "jules", "none"], ReviewBy::Nobody),
    ]
}

fn ends() -> [Delivery; 6] {
    [
        Closed::Finished,
        Closed::PartsClosed,
        Closed::IssueClosed,
        Closed::Cancelled,
        Closed::Abandoned,
        Closed::MergedOnly,
    ]
    .map(|closed| Delivery {
        phase: Phase::Close,
        run_status: RunStatus::Succeeded,
        closed: Some(closed),
        trouble: Some(match closed {
            Closed::IssueClosed => IssueTrouble::Closed {
                at: AT,
                by: Some("kim".to_owned()),
            },
            Closed::Finished => IssueTrouble::LeftOpen("404".to_owned()),
            Closed::PartsClosed | Closed::Cancelled | Closed::Abandoned | Closed::MergedOnly => {
                IssueTrouble::Unreadable("404".to_owned())
            }
        }),
        ..bare()
    })
}

/// A delivery to which everything has happened that can.
fn full() -> Delivery {
    Delivery {
        refs: refs(),
        plan: Some(DeliveryPlan {
            id: "p1".parse().expect("a plan"),
            content: "1. Do it".to_owned(),
            generated_at: AT,
            model: Some("a-model".to_owned()),
            cwd: Some("shop".to_owned()),
            target_files: vec!["src/search.rs".to_owned()],
        }),
        feedback: Some("Test the cart.".to_owned()),
        parent: Some(DeliveryId::of_issue(&pull_ref().repo, 11)),
        children: children(),
        runs: runs(),
        phase_runs: spans(),
        verdict: Some(Verdict::Pass),
        task: task(),
        review: Reviewing {
            head: Some(sha('a')),
            asked: Some(Asked {
                head: sha('a'),
                at: AT,
                by: ReviewBy::Jules,
                job: Some(job_id()),
                has_question: true,
            }),
            approved: Some(Approved {
                head: sha('a'),
                by: kim(),
                at: AT,
                style: MergeStyle {
                    title: Some("Add search".to_owned()),
                    ..MergeStyle::default()
                },
            }),
        },
        leftovers: vec![job_id()],
        seen: Seen {
            dispatched_at: Some(AT),
            held_since: Some(AT),
            ..Seen::default()
        },
        told: Some(Told {
            at: AT,
            cause: "0123456789abcdef".to_owned(),
            count: 3,
        }),
        refused: Some(Refusal {
            why: "Acme/Shop has no branch `main`".to_owned(),
            times: 2,
            at: AT,
        }),
        taken: vec!["0123456789abcdef".to_owned()],
        ..bare()
    }
}

fn task() -> Task {
    Task {
        job: Some(job_id()),
        attempt: 2,
        round: 3,
        message: Some(TaskMessage {
            round: 3,
            text: "Test the cart.".to_owned(),
            at: AT,
        }),
        rejected_plan: Some(super::plan().id),
        pull: Some(pull_ref()),
        sent_back: Some(sha('b')),
        earlier_pull: Some("Acme/Shop#6".parse().expect("a pull request")),
        earlier_unmerged: true,
        forgiven: Some(sha('c')),
    }
}

fn refs() -> Vec<Ref> {
    let reference = |role, kind| Ref {
        role,
        kind,
        label: "#12".to_owned(),
        url: WebPage::from_service("https://github.com/Acme/Shop/issues/12"),
    };
    vec![
        reference(RefRole::Trigger, RefType::Jira),
        reference(RefRole::Trigger, RefType::Verbal),
        reference(RefRole::Trigger, RefType::GithubIssue),
        reference(RefRole::Output, RefType::Pr),
        reference(RefRole::Output, RefType::Commit),
        reference(RefRole::Parent, RefType::Repo),
    ]
}

fn children() -> Vec<Child> {
    let states = [
        ChildState::Open,
        ChildState::Failed,
        ChildState::Closed,
        ChildState::Cancelled,
        ChildState::Abandoned,
    ];
    let child = |(place, state)| Child {
        id: DeliveryId::of_child(&id(), place),
        summary: "Add a box".to_owned(),
        acceptance_criteria: vec!["it is there".to_owned()],
        state,
    };
    states.into_iter().enumerate().map(child).collect()
}

/// Messages about deliveries and their issues.
pub(super) fn works() -> [Work; 2] {
    let repo = pull_ref().repo;
    [
        Work::Transcript {
            id: id(),
            run: RunId::of_delivery(&id(), 0),
        },
        Work::Issue {
            issue: IssueRef { repo, number: 12 },
        },
    ]
}

fn runs() -> Vec<Run> {
    use {Mode as Of, Performer as By, RunResult as To};
    let runs = [
        (Of::Plan, By::Jules, To::Success, None),
        (Of::Implement, By::Agent, To::Failed, Some(Actor::System)),
        (Of::Review, By::Human, To::Failed, Some(kim())),
        (Of::Review, By::Nobody, To::Failed, Some(zai())),
        (Of::Verify, By::System, To::Success, None),
        (Of::Deploy, By::System, To::Success, None),
        (Of::Observe, By::System, To::Running, None),
        (Of::Execution, By::Jules, To::Success, None),
    ];
    let run = |(place, (mode, performer, status, by))| Run {
        id: RunId::of_delivery(&id(), place),
        mode,
        performer,
        status,
        job: Some(job_id()),
        session: Some("s1".parse().expect("an id")),
        attempt: 1,
        head: Some(sha('a')),
        created_at: AT,
        ended_at: Some(AT),
        summary: Some("done".to_owned()),
        error: Some("no disk".to_owned()),
        analysis: Option::<Actor>::map(by, |by| Analysis {
            by,
            text: "the disk is full".to_owned(),
            suggestion: Some("tidy up first".to_owned()),
        }),
        transcript: match place {
            0 => TranscriptState::Kept,
            1 => TranscriptState::Pending,
            _ => TranscriptState::None,
        },
        told_through: Some(AT),
        verdict: Some(domain::delivery::Verdict::NotPass),
    };
    runs.into_iter().enumerate().map(run).collect()
}

fn spans() -> Vec<PhaseRun> {
    let span = |phase, run_status, verdict, actor| PhaseRun {
        phase,
        run_status,
        verdict,
        started_at: AT,
        ended_at: Some(AT),
        actor,
    };
    let (passed, sent_back) = (Some(Verdict::Pass), Some(Verdict::NotPass));
    vec![
        span(Phase::Intake, RunStatus::Succeeded, None, Actor::System),
        span(Phase::Plan, RunStatus::Pending, None, Actor::System),
        span(Phase::Plan, RunStatus::Running, None, kim()),
        span(Phase::Implement, RunStatus::Blocked, None, Actor::System),
        span(Phase::Review, RunStatus::Failed, None, Actor::System),
        span(Phase::Review, RunStatus::Succeeded, sent_back, zai()),
        span(Phase::Review, RunStatus::Succeeded, passed, zai()),
    ]
}

fn intakes() -> [Intake; 3] {
    [
        ReadingResult::Read {
            created: 2,
            closed: 1,
        },
        ReadingResult::Failed("GitHub answers 502".to_owned()),
        ReadingResult::Skipped,
    ]
    .map(|result| Intake {
        label: Some("gaffer".parse().expect("a label")),
        read_to: Some(AT),
        last: Some(LastReading { at: AT, result }),
        due: Some(AT),
    })
}
