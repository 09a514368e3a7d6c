//! Samples of pull requests: every phase, every judgement, every reason.

use domain::facts::{Check, CheckOutcome, Pass, PullState};
use domain::failure::FailureClass;
use domain::merge::{Judgement, MergeInput, MergeRefusals, MissingChecksCause, Reason};
use domain::policy::MergeMethod;
use domain::pull::{
    AcceptedHead, Alarm, Approval, Closing, GitHubApproval, HintState, MergeStyle, Pull, PullPhase,
    PullVerdict, Ready, RefusedMerge, Repairs, SeenHead, UnexpectedHead, UpdatedHead,
};
use engine::keys;
use engine::settings::{OutboxRow, TrackedPull, UnreadPull};
use engine::work::Work;

use super::{AT, Samples, base, causes, job_id, pull_ref, session_id, sha};

pub(super) fn put(samples: &mut Samples) {
    let phases = phases().into_iter().map(bare);
    let judged = judgements().into_iter().map(|judgement| Pull {
        verdict: Some(PullVerdict {
            at: AT,
            sha: sha('a'),
            judgement,
            checks: checks(),
        }),
        ..bare(PullPhase::Open)
    });
    let tracked = |pull, unread| TrackedPull {
        pull,
        read_at: Some(AT),
        unread,
    };
    for pull in phases.chain(judged) {
        samples.put(keys::pull(&pull_ref()), &tracked(pull, None));
    }
    let unread = UnreadPull {
        class: FailureClass::Throttled,
        why: "429".to_owned(),
        again_at: AT,
    };
    let parked = OutboxRow {
        work: Work::Pull {
            pull: pull_ref(),
            job: Some(job_id()),
            received_at: None,
        },
        unread: Some(unread.clone()),
    };
    samples.put(keys::pull(&pull_ref()), &tracked(full(), Some(unread)));
    let row = keys::parked(&keys::pull_pk(&pull_ref()), Some(&job_id()));
    samples.put(row, &parked);
}

fn phases() -> Vec<PullPhase> {
    let settled = |state| PullPhase::Settled {
        state,
        sha: sha('a'),
        at: AT,
        by: Some("ann".to_owned()),
    };
    vec![
        PullPhase::Open,
        PullPhase::Merging {
            sha: sha('a'),
            base: base(),
            since: AT,
        },
        PullPhase::Closed {
            sha: sha('a'),
            since: AT,
        },
        settled(PullState::Merged {
            commit: Some(sha('c')),
        }),
        settled(PullState::Closed),
        // An open one is never settled, but the word is stored with facts as well.
        settled(PullState::Open),
    ]
}

pub(super) fn bare(phase: PullPhase) -> Pull {
    Pull {
        delivery: Some("0123456789ab".parse().expect("an id")),
        sprint: Some(super::sprints::number()),
        pull: pull_ref(),
        job: job_id(),
        session: Some(session_id()),
        repo_id: Some(super::REPO_ID),
        since: AT,
        phase,
        head: None,
        green: None,
        ready: None,
        failing: None,
        closing: None,
        approval: None,
        accepted: None,
        unexpected: None,
        reviewed: None,
        updated_head: None,
        repairs: Repairs::default(),
        refused: None,
        alarms: Vec::new(),
        own_checks: None,
        verdict: None,
        hints: HintState::default(),
    }
}

fn checks() -> Vec<Check> {
    let outcomes = [
        CheckOutcome::Failed,
        CheckOutcome::ActionRequired,
        CheckOutcome::Pending,
        CheckOutcome::Passed(Pass::Success),
        CheckOutcome::Passed(Pass::Neutral),
        CheckOutcome::Passed(Pass::Skipped),
    ];
    let check = |outcome| Check {
        name: "build".to_owned(),
        app: Some(15_368),
        outcome,
        id: Some(7),
    };
    outcomes.map(check).into()
}

fn repairs() -> Repairs {
    Repairs {
        ci_sent: vec![sha('d')],
        conflict_sent: vec![sha('e')],
        count: 2,
        updated: vec![sha('f')],
        updates: 1,
    }
}

/// A pull request to which everything has happened that can.
fn full() -> Pull {
    let seen = || SeenHead {
        sha: sha('a'),
        since: AT,
    };
    let alarm = |cause| Alarm {
        cause,
        sha: sha('a'),
    };
    Pull {
        head: Some(seen()),
        green: Some(seen()),
        ready: Some(Ready {
            base: "main".parse().expect("a branch"),
            from: AT,
        }),
        failing: Some(seen()),
        closing: Some(Closing {
            by: "a person".to_owned(),
            at: AT,
        }),
        approval: Some(Approval {
            sha: sha('a'),
            by: "a person".to_owned(),
            at: AT,
            style: MergeStyle {
                method: Some(MergeMethod::Merge),
                title: Some("Add a search box".to_owned()),
                delete_branch: Some(false),
            },
        }),
        accepted: Some(AcceptedHead {
            sha: sha('a'),
            paths: "0".repeat(32),
        }),
        unexpected: Some(UnexpectedHead {
            sha: sha('b'),
            paths: vec!["src/x.rs".to_owned()],
            count: 1,
            is_open: true,
        }),
        reviewed: Some(GitHubApproval {
            sha: sha('a'),
            by: "ann".to_owned(),
        }),
        updated_head: Some(UpdatedHead {
            sha: sha('a'),
            before: sha('f'),
            is_base_merge: true,
        }),
        repairs: repairs(),
        refused: Some(RefusedMerge {
            sha: sha('a'),
            refused: MergeRefusals {
                why: "405".to_owned(),
                attempts: 1,
                again_at: AT,
            },
        }),
        alarms: causes().into_iter().map(alarm).collect(),
        hints: HintState {
            running: Some(2),
            at: Some(AT),
        },
        ..bare(PullPhase::Open)
    }
}

fn judgements() -> Vec<Judgement> {
    vec![
        Judgement::Merge {
            sha: sha('a'),
            method: MergeMethod::Squash,
        },
        Judgement::Wait {
            until: Some(AT),
            reasons: about_the_head(),
        },
        Judgement::Refuse {
            reasons: [about_the_pull_request(), about_what_is_read()].concat(),
        },
        Judgement::Conflict { sha: sha('a') },
    ]
}

fn about_the_pull_request() -> Vec<Reason> {
    vec![
        Reason::NotOurs,
        Reason::AdoptedMayNotMerge,
        Reason::Fork,
        Reason::Closed,
        Reason::AlreadyMerged,
        Reason::NeedsApproval,
        Reason::DeliveryNotInVerify {
            phase: domain::delivery::Phase::Review,
        },
        Reason::VerdictOfAnotherHead,
        Reason::Collected {
            delivery: "0123456789ab".parse().expect("an id"),
        },
        Reason::Woven {
            sprint: super::sprints::number(),
        },
        Reason::MailUncollected,
        Reason::MailUnreadable,
        Reason::TakenBack,
        Reason::SprintOver,
        Reason::Paused,
        Reason::ObserveOnly,
        Reason::DailyCap {
            cap: 20,
            until: Some(AT),
        },
        Reason::SessionWorking,
        Reason::SessionFailed,
        Reason::JobCancelled,
        Reason::Draft,
        Reason::WrongBase {
            is: "develop".parse().expect("a branch"),
            wanted: "main".parse().expect("a branch"),
        },
        Reason::BlockingLabel {
            label: "do-not-merge".to_owned(),
        },
        Reason::ProtectedPath {
            path: ".github/x".to_owned(),
        },
        Reason::PlanUnreviewed,
        Reason::UnexpectedPush {
            paths: vec!["src/x.rs".to_owned()],
        },
    ]
}

fn about_the_head() -> Vec<Reason> {
    let names = || vec!["build".to_owned()];
    let mut reasons = vec![
        Reason::MergeableUnknown,
        Reason::Conflict,
        Reason::ChangesRequested,
        Reason::ApprovalsMissing { have: 0, need: 1 },
        Reason::NoChecksYet { until: AT },
        Reason::ChecksPending { names: names() },
        Reason::ChecksFailed {
            names: names(),
            others_pending: true,
        },
        Reason::ActionRequired { names: names() },
        Reason::TooFewChecks { have: 0, need: 1 },
        Reason::RequiredMissing { names: names() },
        Reason::Behind { by: 3 },
        Reason::Stacked { position: 2 },
        Reason::MergeQueue,
        Reason::FactsStale,
        Reason::MergeRefused {
            why: "405".to_owned(),
            until: Some(AT),
        },
        Reason::MergeThrottled {
            why: "429".to_owned(),
            until: AT,
        },
        Reason::Settling { until: AT },
    ];
    let causes = [
        MissingChecksCause::Conflict,
        MissingChecksCause::ActionsToken,
        MissingChecksCause::ApprovalPending,
        MissingChecksCause::NoWorkflow,
        MissingChecksCause::Unknown,
    ];
    reasons.extend(causes.map(|cause| Reason::CiNeverStarted { cause }));
    reasons
}

fn about_what_is_read() -> Vec<Reason> {
    let things = [
        MergeInput::ChangedFiles,
        MergeInput::Mergeability,
        MergeInput::Reviews,
        MergeInput::Checks,
        MergeInput::BranchRules,
        MergeInput::Distance,
    ];
    let unknown = things.map(|what| Reason::Unknown {
        what,
        why: "502".to_owned(),
    });
    let forbidden = Reason::Forbidden {
        what: MergeInput::Checks,
        permission: "Checks: read".to_owned(),
    };
    unknown.into_iter().chain([forbidden]).collect()
}
