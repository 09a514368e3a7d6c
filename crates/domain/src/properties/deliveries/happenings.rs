//! Random happenings around a delivery, and random rules.

use super::*;
use crate::delivery::tests::{pull, session};
use crate::delivery::{Edit, PullGlimpse};
use crate::ids::JobId;
use crate::merge::LastingReason;
use crate::priority::Priority;
use crate::pull::MergeStyle;

/// What happens to a delivery; what it is about is filled in when it does.
#[derive(Debug, Clone)]
pub(super) enum DeliveryHappening {
    Ordered(Actor, Act),
    Job(SessionWork, bool, bool),
    Pull(Box<PullGlimpse>),
    Issue(IssueState),
    Reviewed(ReviewState),
    Child(usize, ChildState),
    /// Its parts were read: whether one is merged, and whether each is known as of now.
    Parts(bool, bool),
    /// What it needs was asked for, and refused if there is a reason.
    AskedFor(Option<String>),
    Provider(Phase, ProviderReport),
    Cancelled,
    Deadline,
}

fn actor() -> impl Strategy<Value = Actor> {
    proptest::sample::select(vec![
        Actor::person("kim"),
        Actor::agent("zai"),
        Actor::System,
    ])
}

fn act() -> impl Strategy<Value = Act> {
    let feedback = prop_oneof![3 => Just(Some("Test it".to_owned())), 1 => Just(None)];
    let verdicts = proptest::sample::select(vec![Verdict::Pass, Verdict::NotPass]);
    let review = (verdicts, commit(), feedback).prop_map(|(verdict, head, feedback)| {
        Act::Verdict(ReviewResult {
            verdict,
            head,
            summary: None,
            feedback,
        })
    });
    let part = || Part {
        summary: "Half".to_owned(),
        acceptance_criteria: Vec::new(),
    };
    let text = || prop_oneof![4 => Just("Smaller".to_owned()), 1 => Just(" ".to_owned())];
    let edit = (0u8..9, proptest::option::of(text())).prop_map(|(level, summary)| {
        Act::Edit(Edit {
            summary,
            priority: Some(Priority::try_from(level).unwrap()),
            ..Edit::default()
        })
    });
    let results = proptest::sample::select(vec![RunResult::Success, RunResult::Failed]);
    let collect = (0u128..4, results).prop_map(|(n, result)| Act::Collect {
        job: JobId::from_ulid(ulid::Ulid(100 + n)),
        session: Some(session()),
        result,
    });
    prop_oneof![
           3 => Just(Act::Start),
           6 => proptest::option::weighted(0.3, commit()).prop_map(|head| Act::Approve { head, plan: None }),
           3 => text().prop_map(|reason| Act::Reject { reason }),
           4 => proptest::option::of(Just("Smaller".to_owned())).prop_map(|reason| Act::Retry { reason }),
           1 => Just(Act::Cancel),
           6 => review,
           2 => Just(Act::Plan { content: "1. Look".to_owned(), target_files: Vec::new() }),
           1 => (0usize..3).prop_map(move |count| Act::Split { children: vec![part(); count] }),
           1 => Just(Act::Merge {
    head: None, style: MergeStyle::default() }),
           1 => Just(Act::Analyse { run: None, text: "No disk".to_owned(), suggestion: None }),
           1 => edit,
           1 => collect,
       ]
}

fn work() -> impl Strategy<Value = SessionWork> {
    let plan = (0u8..3).prop_map(|n| SessionWork::Planned(format!("p{n}").parse().unwrap()));
    let ends = vec![
        JobEnd::Merged,
        JobEnd::PullClosed,
        JobEnd::Completed,
        JobEnd::Failed("no disk".to_owned()),
        JobEnd::Lost,
        JobEnd::Refused("no".to_owned()),
        JobEnd::Canceled("eve".to_owned()),
    ];
    prop_oneof![
        1 => Just(SessionWork::Waiting),
        4 => Just(SessionWork::Working),
        2 => Just(SessionWork::Asking),
        3 => plan,
        8 => proptest::option::of(time()).prop_map(SessionWork::Resting),
        1 => proptest::sample::select(ends).prop_map(SessionWork::Ended),
    ]
}

fn checks() -> impl Strategy<Value = Checks> {
    prop_oneof![
        6 => Just(Checks::Passed),
        1 => Just(Checks::Unknown),
        1 => Just(Checks::Awaited),
        1 => Just(Checks::Missing),
        2 => Just(Checks::Running),
        1 => Just(Checks::Failed),
        1 => Just(Checks::GivenUp),
    ]
}

/// What is read of its pull request: sometimes that a person approved its head, or closed it a moment ago.
fn glimpse() -> impl Strategy<Value = PullGlimpse> {
    let end = prop_oneof![
        12 => Just(None),
        1 => Just(Some(PullEnd::Merged { commit: None, by: None })),
        1 => Just(Some(PullEnd::Closed { by: None })),
    ];
    let same = proptest::option::weighted(0.2, commit());
    let approved_by = proptest::option::weighted(0.1, Just("mona".to_owned()));
    let is_closed = proptest::bool::weighted(0.1);
    (commit(), checks(), end, same, approved_by, is_closed).prop_map(
        |(head, checks, end, same_work_as, approved_by, is_closed)| PullGlimpse {
            pull: pull_ref(),
            head: Some(head),
            same_work_as,
            checks,
            lacks_approval: checks == Checks::Passed,
            held_by: match checks == Checks::Passed {
                true => vec![LastingReason::NeedsApproval],
                false => Vec::new(),
            },
            approved_by,
            closed_at: (is_closed && end.is_none()).then(|| at(1)),
            end,
        },
    )
}

pub(super) fn happening() -> impl Strategy<Value = DeliveryHappening> {
    let issue = prop_oneof![
        2 => Just(IssueState::Open),
        1 => Just(IssueState::Closed(None)),
        1 => Just(IssueState::Unreadable("404".to_owned())),
    ];
    let pass = "```json\n{\"verdict\":\"pass\",\"summary\":\"Good\"}\n```".to_owned();
    let reviewed = proptest::sample::select(vec![
        ReviewState::Working,
        ReviewState::Asking,
        ReviewState::Said(pass),
        ReviewState::Said("merge it".to_owned()),
        ReviewState::Failed("no disk".to_owned()),
    ]);
    let child = proptest::sample::select(vec![
        ChildState::Open,
        ChildState::Failed,
        ChildState::Closed,
        ChildState::Cancelled,
        ChildState::Abandoned,
    ]);
    let report = proptest::sample::select(vec![
        ProviderReport::Nothing,
        ProviderReport::Running,
        ProviderReport::Good,
        ProviderReport::Bad("no".to_owned()),
    ]);
    let provided = proptest::sample::select(vec![Phase::Deploy, Phase::Observe]);
    prop_oneof![
        14 => (actor(), act()).prop_map(|(by, act)| DeliveryHappening::Ordered(by, act)),
        14 => (work(), any::<bool>(), any::<bool>())
            .prop_map(|(work, pull, elsewhere)| DeliveryHappening::Job(work, pull, elsewhere)),
        12 => glimpse().prop_map(|glimpse| DeliveryHappening::Pull(Box::new(glimpse))),
        1 => issue.prop_map(DeliveryHappening::Issue),
        2 => reviewed.prop_map(DeliveryHappening::Reviewed),
        1 => (0usize..2, child).prop_map(|(place, state)| DeliveryHappening::Child(place, state)),
        1 => (any::<bool>(), any::<bool>())
            .prop_map(|(merged, known)| DeliveryHappening::Parts(merged, known)),
        4 => proptest::option::weighted(0.9, Just("busy".to_owned()))
            .prop_map(DeliveryHappening::AskedFor),
        4 => (provided, report).prop_map(|(phase, report)| DeliveryHappening::Provider(phase, report)),
        1 => Just(DeliveryHappening::Cancelled),
        3 => Just(DeliveryHappening::Deadline),
    ]
}

/// What happens to a delivery whose rounds are used up: mostly orders of people and agents to send it back, and what makes the
/// next head.
pub(super) fn after_the_last_round() -> impl Strategy<Value = DeliveryHappening> {
    let not_pass = proptest::sample::select(vec!['a', 'b']).prop_map(|head| {
        Act::Verdict(ReviewResult {
            verdict: Verdict::NotPass,
            head: sha(head),
            summary: None,
            feedback: Some("Test it".to_owned()),
        })
    });
    let retry = proptest::option::of(Just("Smaller".to_owned()));
    let act = prop_oneof![not_pass, retry.prop_map(|reason| Act::Retry { reason })];
    let made = proptest::sample::select(vec!['a', 'b'])
        .prop_map(|head| DeliveryHappening::Pull(Box::new(pull(head, Checks::Passed))));
    prop_oneof![
        4 => (actor(), act).prop_map(|(by, act)| DeliveryHappening::Ordered(by, act)),
        1 => time().prop_map(|at| DeliveryHappening::Job(SessionWork::Resting(Some(at)), true, false)),
        1 => made,
        1 => happening(),
    ]
}

pub(super) fn rules() -> impl Strategy<Value = Rules> {
    let agents = vec![Phase::Plan, Phase::Implement, Phase::Review];
    let checkpoints = proptest::sample::subsequence(agents, 0..=3);
    let endpoints = vec!["plan", "implement", "review", "verify", "deploy", "observe"];
    let plan_by = prop_oneof![
        4 => Just(PlanBy::Jules),
        1 => Just(PlanBy::Agent),
        1 => Just(PlanBy::Human),
    ];
    let reviewers = vec![
        ReviewBy::Agent,
        ReviewBy::Human,
        ReviewBy::Jules,
        ReviewBy::Nobody,
    ];
    let people = prop_oneof![3 => Just(CheckpointsBy::People), 1 => Just(CheckpointsBy::Anyone)];
    (
        checkpoints,
        proptest::sample::select(endpoints),
        plan_by,
        proptest::option::of(proptest::sample::select(reviewers)),
        (0u32..4, 1u32..4),
        (any::<bool>(), any::<bool>()),
        people,
    )
        .prop_map(
            |(
                checkpoints,
                endpoint,
                plan_by,
                review_by,
                (rounds, attempts),
                (deploys, soaks),
                by,
            )| {
                Rules {
                    checkpoints: Checkpoints::at(&checkpoints).unwrap(),
                    endpoint: endpoint.parse::<Endpoint>().unwrap(),
                    checkpoints_by: by,
                    plan_by,
                    review_by,
                    review_rounds: rounds,
                    attempts,
                    deploy: if deploys {
                        "workflow:a.yml@main"
                    } else {
                        "none"
                    }
                    .parse()
                    .unwrap(),
                    observe: if soaks {
                        Observe::Soak(SignedDuration::from_secs(300))
                    } else {
                        Observe::None
                    },
                    ..Rules::default()
                }
            },
        )
}
