//! Properties of every state and every input, however absurd: checked with thousands of random ones, including times
//! at the edges of the range.

mod deliveries;
mod jobs;
mod mail;
mod merges;
mod others;
mod pipelines;
mod pulls;
mod sprints;
mod wakes;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::facts::fixture::{ACTIONS_APP, at, green_facts, sha};
use crate::facts::{
    ACTIONS_BOT_ID, Base, Check, CheckOutcome, CiClues, Demands, Fact, Pass, PullFacts, PullState,
    RequiredCheck, Review, ReviewVerdict, UnreadReason,
};
use crate::failure::{CallEffect, Failure, FailureClass};
use crate::ids::{CommitSha, PullRef, RepoId};
use crate::policy::{Answers, MergeMethod, MergePolicy, PlanApproval, Policy, Timing};

/// So many cases; one that fails prints its input and becomes a test of its own, so no seeds are kept.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Mostly within some hours, sometimes at the edges of time.
fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        8 => (-10_000i64..10_000).prop_map(at),
        4 => (0i64..120).prop_map(at),
        1 => Just(Timestamp::MIN),
        1 => Just(Timestamp::MAX),
    ]
}

/// Never negative, as settings cannot be.
fn wait() -> impl Strategy<Value = SignedDuration> {
    prop_oneof![
        6 => (0i64..10_000).prop_map(SignedDuration::from_secs),
        1 => Just(SignedDuration::ZERO),
        1 => Just(SignedDuration::MAX),
    ]
}

fn timing() -> impl Strategy<Value = Timing> {
    let waits = proptest::collection::vec(wait(), 10);
    let odd = waits.prop_map(|waits| Timing {
        stuck_after: waits[0],
        stuck_after_queued: waits[1],
        text_wait: waits[2],
        not_found_grace: waits[3],
        quiet: waits[4],
        watch_completed: waits[5],
        settle: waits[6],
        ci_start: waits[7],
        ci_repair_after: waits[8],
        pull_poll: waits[9],
    });
    prop_oneof![3 => Just(Timing::default()), 1 => odd]
}

/// A source's chain: any of the three, in any order, with any deadlines.
fn answers() -> impl Strategy<Value = Answers> {
    let steps = vec!["agent:1h", "nudge:5m", "human:2h", "nudge:1h", "agent:1m"];
    let last = proptest::sample::select(vec!["agent", "nudge:20m", "human", "human:1h"]);
    let before = proptest::sample::subsequence(steps, 0..=4).prop_shuffle();
    (before, last).prop_map(|(mut steps, last)| {
        steps.push(last);
        let steps = steps.into_iter().map(|step| step.parse().unwrap());
        Answers::new(steps.collect()).unwrap()
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    let names = proptest::sample::subsequence(vec!["build".to_owned(), "lint".to_owned()], 0..=2);
    (
        prop_oneof![6 => Just(MergePolicy::OnGreen), 1 => Just(MergePolicy::Human), 1 => Just(MergePolicy::Integration)],
        prop_oneof![3 => Just(Vec::new()), 1 => names],
        prop_oneof![3 => Just(1u32), 1 => 0u32..4],
        prop_oneof![3 => Just(20u32), 1 => 0u32..2],
        any::<bool>(),
        proptest::sample::select(vec![
            PlanApproval::Auto,
            PlanApproval::Agent,
            PlanApproval::Human,
        ]),
        0u32..5,
        prop_oneof![1 => Just(Answers::default()), 1 => answers()],
    )
        .prop_map(
            |(
                merge,
                required_checks,
                min_checks,
                merges_per_day,
                flag,
                plan_approval,
                ci_repairs,
                answers,
            )| Policy {
                merge,
                merge_method: MergeMethod::Squash,
                min_checks,
                required_checks,
                merges_per_day,
                adopted_may_merge: flag,
                delete_branch: flag,
                plan_approval,
                answers,
                ci_repairs,
                ..Policy::default()
            },
        )
}

fn failure() -> impl Strategy<Value = Failure> {
    let classes = vec![
        FailureClass::Unauthorized,
        FailureClass::Forbidden,
        FailureClass::NotFound,
        FailureClass::Precondition,
        FailureClass::Conflict,
        FailureClass::Invalid,
        FailureClass::Throttled,
        FailureClass::Unavailable,
        FailureClass::Network,
        FailureClass::Garbled,
    ];
    let asked = prop_oneof![
        3 => Just(None),
        2 => wait().prop_map(Some),
        1 => Just(Some(SignedDuration::MIN)),
    ];
    (proptest::sample::select(classes), asked, any::<bool>()).prop_map(|(class, asked, maybe)| {
        let happened = if maybe {
            CallEffect::Maybe
        } else {
            CallEffect::No
        };
        Failure {
            happened,
            ..Failure::new(class, "it failed").after(asked)
        }
    })
}

fn commit() -> impl Strategy<Value = CommitSha> {
    prop_oneof![4 => Just(sha('a')), 1 => Just(sha('b')), 1 => Just(sha('c'))]
}

fn pull_ref() -> impl Strategy<Value = PullRef> {
    let pulls = ["acme/shop#7", "acme/shop#8", "Acme/Shop#3", "acme/other#7"];
    proptest::sample::select(pulls.to_vec()).prop_map(|pull| pull.parse().unwrap())
}

/// Mostly what is given, sometimes unknown or forbidden.
fn fact<T: Clone + std::fmt::Debug + 'static>(
    known: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Fact<T>> {
    prop_oneof![
        18 => known.prop_map(Fact::Known),
        1 => Just(Fact::Unknown { why: "502".to_owned() }),
        1 => Just(Fact::Forbidden { permission: "Checks: read".to_owned() }),
    ]
}

fn check() -> impl Strategy<Value = Check> {
    let outcome = prop_oneof![
        30 => Just(CheckOutcome::Passed(Pass::Success)),
        1 => Just(CheckOutcome::Passed(Pass::Neutral)),
        1 => Just(CheckOutcome::Passed(Pass::Skipped)),
        1 => Just(CheckOutcome::Pending),
        1 => Just(CheckOutcome::Failed),
        1 => Just(CheckOutcome::ActionRequired),
    ];
    let app = prop_oneof![8 => Just(Some(ACTIONS_APP)), 1 => Just(None), 1 => Just(Some(666))];
    (
        proptest::sample::select(vec!["build", "lint", "test"]),
        app,
        outcome,
    )
        .prop_map(|(name, app, outcome)| Check {
            name: name.to_owned(),
            app,
            outcome,
            id: Some(1),
        })
}

fn demands() -> impl Strategy<Value = Demands> {
    let app = prop_oneof![Just(None), Just(Some(ACTIONS_APP))];
    let rule = (proptest::sample::select(vec!["build", "lint"]), app);
    let rule = rule.prop_map(|(name, app)| RequiredCheck {
        name: name.to_owned(),
        app,
    });
    let rare = |value: bool| prop_oneof![9 => Just(!value), 1 => Just(value)];
    (
        prop_oneof![2 => Just(Vec::new()), 1 => proptest::collection::vec(rule, 1..3)],
        prop_oneof![6 => Just(0u32), 1 => 0u32..3],
        rare(true),
        rare(true),
        prop_oneof![
            Just(None),
            Just(Some(0)),
            Just(Some(4)),
            Just(Some(u64::MAX))
        ],
        prop_oneof![3 => Just(None), 1 => Just(Some(hidden()))],
    )
        .prop_map(
            |(checks, approvals, up_to_date, merge_queue, behind_by, unread)| Demands {
                checks,
                approvals,
                up_to_date,
                merge_queue,
                behind_by,
                unread,
            },
        )
}

fn hidden() -> UnreadReason {
    UnreadReason::Forbidden {
        permission: "Administration: read".to_owned(),
    }
}

fn review() -> impl Strategy<Value = Review> {
    let verdicts = vec![
        ReviewVerdict::Approved,
        ReviewVerdict::ChangesRequested,
        ReviewVerdict::Dismissed,
        ReviewVerdict::Comment,
    ];
    (0u64..3, proptest::sample::select(verdicts)).prop_map(|(reviewer, verdict)| Review {
        reviewer,
        person: None,
        commit: None,
        verdict,
    })
}

fn clues() -> impl Strategy<Value = Option<CiClues>> {
    let workflows = proptest::option::of(0u64..2);
    let clues = (any::<bool>(), workflows).prop_map(|(approval_pending, workflows)| CiClues {
        approval_pending,
        workflows,
    });
    proptest::option::of(clues)
}

/// Facts that are mostly green, each with some chance to be anything else.
fn facts() -> impl Strategy<Value = PullFacts> {
    let file = prop_oneof![9 => Just("src/a.rs"), 1 => Just(".github/ci.yml")];
    let files = prop_oneof![
        9 => proptest::collection::vec(file.clone().prop_map(str::to_owned), 1..3),
        1 => Just(Vec::new()),
    ];
    let state = prop_oneof![
        12 => Just(PullState::Open),
        1 => Just(PullState::Closed),
        1 => Just(PullState::Merged { commit: None }),
    ];
    let base = prop_oneof![9 => Just("main"), 1 => Just("develop")];
    let repo =
        prop_oneof![14 => Just(Some("acme/shop")), 1 => Just(Some("evil/shop")), 1 => Just(None)];
    let label = prop_oneof![9 => Just("ours"), 1 => Just("DO-NOT-MERGE")];
    let shape = (
        state,
        commit(),
        base,
        repo,
        label,
        prop_oneof![9 => Just(false), 1 => Just(true)],
    );
    let evidence = (
        fact(prop_oneof![14 => Just(true), 1 => Just(false)]),
        fact(prop_oneof![9 => proptest::collection::vec(check(), 1..4), 1 => Just(Vec::new())]),
        fact(proptest::collection::vec(review(), 0..2)),
        fact(files),
        fact(demands()),
        clues(),
    );
    let lookalike = prop_oneof![5 => Just(false), 1 => Just(true)];
    (shape, evidence, any::<bool>(), lookalike).prop_map(|(shape, evidence, bot, lookalike)| {
        let mut facts = green_facts();
        let (state, head, base, repo, label, draft) = shape;
        (facts.state, facts.head.sha, facts.draft) = (state, head, draft);
        facts.base = Base {
            branch: base.parse().unwrap(),
            sha: sha('b'),
        };
        facts.head.repo = repo.map(|repo| repo.parse().unwrap());
        if lookalike {
            facts.head.repo_id = Some(RepoId(6));
        }
        facts.labels = vec![label.to_owned()];
        facts.author.id = if bot { ACTIONS_BOT_ID } else { 1 };
        (
            facts.mergeable,
            facts.checks,
            facts.reviews,
            facts.files,
            facts.demands,
            facts.ci,
        ) = evidence;
        facts
    })
}
