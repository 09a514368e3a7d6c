//! What reasons say and how they are stored.

use crate::delivery::Phase;
use expect_test::expect_file;

use super::*;
use crate::facts::CheckOutcome;
use crate::facts::fixture::check;
use crate::ids::StreamName;
use crate::job::Job;
use crate::job::tests::queued;
use crate::layer::Layer;
use crate::pipeline::{
    Agent, Exchange, OWN_CHECKS, PartWork, PipelinePart, PipelineRules, TreeShas,
};
use crate::policy::Source;

#[test]
fn all_reasons_are_given_with_the_earliest_time_to_look_again() {
    let mut case = Case::green();
    case.facts.checks = Fact::Known(vec![]);
    case.context.head_since = at(-100);
    case.context.refused = Some(MergeRefusals {
        why: "no".to_owned(),
        attempts: 1,
        again_at: at(30),
    });
    case.facts.draft = true;
    case.context.session = SessionStatus::Working;
    let judgement = case.judge();
    assert_eq!(
        words(&judgement),
        "wait session_working draft no_checks_yet merge_refused"
    );
    assert!(matches!(judgement, Judgement::Wait { until: Some(until), .. } if until == at(30)));
}

#[test]
fn names_from_outside_are_bounded_and_keep_one_order() {
    let failed = |n: usize| check(&format!("{n:03}{}", "x".repeat(500)), CheckOutcome::Failed);
    let mut case = Case::green();
    case.facts.checks = Fact::Known((0..500).map(failed).collect());
    let one = case.judge();
    case.facts.checks = Fact::Known((0..500).rev().map(failed).collect());
    assert_eq!(case.judge(), one);
    let bytes = serde_json::to_vec(&one).unwrap().len();
    assert!(bytes < 8_000, "{bytes}");
}

#[test]
fn what_github_said_is_given_as_far_as_it_may_be() {
    let why = |said: &str| {
        let mut case = Case::green();
        case.context.refused = Some(MergeRefusals {
            why: said.to_owned(),
            attempts: 1,
            again_at: at(30),
        });
        let Judgement::Wait { reasons, .. } = case.judge() else {
            panic!("it waits");
        };
        let [Reason::MergeRefused { why, .. }] = reasons.as_slice() else {
            panic!("{reasons:?}");
        };
        why.clone()
    };
    assert_eq!(
        why("405 Base branch was modified"),
        "405 Base branch was modified"
    );
    let cut = format!("{}…", "x".repeat(OUTSIDE_CHARS_MAX));
    assert_eq!(why(&"x".repeat(500)), cut);
}

fn about_the_pull_request() -> Vec<Reason> {
    let until = at(0);
    vec![
        Reason::NotOurs,
        Reason::DeliveryNotInVerify {
            phase: Phase::Review,
        },
        Reason::DeliveryNotInVerify {
            phase: Phase::Verify,
        },
        Reason::VerdictOfAnotherHead,
        Reason::Collected {
            delivery: "0123456789ab".parse().unwrap(),
        },
        Reason::Woven {
            sprint: "50".parse().unwrap(),
        },
        Reason::MailUncollected,
        Reason::MailUnreadable,
        Reason::TakenBack,
        Reason::SprintOver,
        Reason::AdoptedMayNotMerge,
        Reason::Fork,
        Reason::Closed,
        Reason::AlreadyMerged,
        Reason::NeedsApproval,
        Reason::Paused,
        Reason::ObserveOnly,
        Reason::DailyCap {
            cap: 20,
            until: Some(until),
        },
        Reason::DailyCap {
            cap: 0,
            until: None,
        },
        Reason::SessionWorking,
        Reason::SessionFailed,
        Reason::JobCancelled,
        Reason::Draft,
        Reason::WrongBase {
            is: "develop".parse().unwrap(),
            wanted: "main".parse().unwrap(),
        },
        Reason::BlockingLabel {
            label: "do-not-merge".to_owned(),
        },
        Reason::ProtectedPath {
            path: ".github/x".to_owned(),
        },
    ]
}

fn about_the_head() -> Vec<Reason> {
    let name = || "build".to_owned();
    let until = at(0);
    vec![
        Reason::MergeableUnknown,
        Reason::Conflict,
        Reason::ChangesRequested,
        Reason::ApprovalsMissing { have: 0, need: 1 },
        Reason::NoChecksYet { until },
        Reason::CiNeverStarted {
            cause: MissingChecksCause::NoWorkflow,
        },
        Reason::ChecksPending {
            names: vec![name()],
        },
        Reason::ChecksFailed {
            names: vec![name()],
            others_pending: false,
        },
        Reason::ActionRequired {
            names: vec![name()],
        },
        Reason::TooFewChecks { have: 0, need: 1 },
        Reason::RequiredMissing {
            names: vec![name()],
        },
        Reason::Behind { by: 3 },
        Reason::Stacked { position: 2 },
        Reason::PlanUnreviewed,
        Reason::UnexpectedPush {
            paths: vec![name()],
        },
        Reason::UnexpectedPush { paths: Vec::new() },
        Reason::MergeQueue,
        Reason::Forbidden {
            what: MergeInput::Checks,
            permission: "Checks: read".to_owned(),
        },
        Reason::Forbidden {
            what: MergeInput::BranchRules,
            permission: "Administration: read".to_owned(),
        },
        Reason::Unknown {
            what: MergeInput::BranchRules,
            why: "502".to_owned(),
        },
        Reason::FactsStale,
        Reason::MergeRefused {
            why: "405".to_owned(),
            until: Some(until),
        },
        Reason::MergeRefused {
            why: "405".to_owned(),
            until: None,
        },
        Reason::MergeThrottled {
            why: "writes to GitHub are a second apart".to_owned(),
            until,
        },
        Reason::Settling { until },
    ]
}

fn every_reason() -> Vec<Reason> {
    [about_the_pull_request(), about_the_head()].concat()
}

/// The page of all reasons, which `UPDATE_EXPECT=1` writes.
const HEAD: &str = "# Why a pull request is not merged

Gaffer merges a pull request only if none of these reasons holds, and then exactly the head that it judged.
`gaffer job why ID` and `gaffer pull why OWNER/REPO#NUMBER` show all that hold now, with `--json` by their codes.
Gaffer waits for what passes by itself, and wakes an agent only if it lasts.
Where GitHub or Jules does not answer, or a budget of GitHub's is used up, `read_failed` or `read_throttled` stands before them, with the time of the next reading; so it does before the first one.
The rest needs a person or an agent; failed checks and conflicts go to the session first, as often as the source's `ci_repairs` allows.
Numbers, names and times are examples.

| code | passes by itself | what is the case, and what to do |
| --- | --- | --- |
";

#[test]
fn every_reason_has_the_code_it_is_stored_under_and_its_row_on_the_page() {
    let mut page = HEAD.to_owned();
    for reason in every_reason() {
        let json = serde_json::to_value(&reason).unwrap();
        assert_eq!(json["code"], reason.code());
        assert_eq!(serde_json::from_value::<Reason>(json).unwrap(), reason);
        let passes = match reason.weight() {
            Weight::Wait => "yes",
            Weight::Refuse => "no",
        };
        let (code, sentence) = (reason.code(), reason.sentence());
        page.push_str(&format!("| `{code}` | {passes} | {sentence} |\n"));
    }
    expect_file!["../../../../../docs/merging.md"].assert_eq(&page);
}

#[test]
fn what_lasts_is_told_to_everybody_under_the_code_of_its_reason() {
    let mut told = Vec::new();
    for reason in every_reason() {
        for it in lasting(std::slice::from_ref(&reason)) {
            assert_eq!(it.code(), reason.code());
            assert_eq!(serde_json::to_value(it).unwrap(), reason.code());
            assert!(it.sentence().ends_with('.'), "{it:?}");
            told.push(it);
        }
    }
    for it in LastingReason::ALL {
        assert!(told.contains(&it), "{it:?}");
    }
}

#[test]
fn what_may_go_with_the_checks_that_run_is_not_told() {
    let names = || vec!["build".to_owned()];
    let missing = [
        Reason::NeedsApproval,
        Reason::RequiredMissing { names: names() },
        Reason::TooFewChecks { have: 0, need: 1 },
    ];
    let all = [
        LastingReason::NeedsApproval,
        LastingReason::RequiredMissing,
        LastingReason::TooFewChecks,
    ];
    assert_eq!(lasting(&missing), all);
    let moving = [
        Reason::ChecksPending { names: names() },
        Reason::NoChecksYet { until: at(0) },
    ];
    for moving in moving {
        let reasons = [missing.as_slice(), &[moving]].concat();
        assert_eq!(lasting(&reasons), [LastingReason::NeedsApproval]);
    }
}

/// An agent of a layer, of a trial run or not.
fn agent(layer: Layer, mock: Option<&str>) -> PipelinePart {
    let trees = TreeShas {
        target: sha('a'),
        worker: sha('b'),
    };
    let agent = Agent {
        layer,
        role: None,
        stream: StreamName::default(),
        requirement: None,
        trees,
        included: Vec::new(),
        skipped: Vec::new(),
        mock: mock.map(|tag| tag.parse().unwrap()),
    };
    PipelinePart {
        pipeline: None,
        work: PartWork::Agent(agent),
    }
}

#[test]
fn a_sentence_names_the_setting_that_counts_for_the_job() {
    let own = PipelinePart {
        pipeline: None,
        work: PartWork::Proposal { requirement: None },
    };
    let cap = Reason::DailyCap {
        cap: 60,
        until: Some(at(0)),
    };
    let of_source = ("merge = on-green", "merges_per_day");
    let of_exchange = ("exchange = auto", "of the exchange");
    for (part, (approval, capped)) in [
        (None, of_source),
        (Some(agent(Layer::Implementer, None)), of_source),
        (Some(agent(Layer::Decider, None)), of_exchange),
        (Some(own), of_exchange),
        (
            Some(agent(Layer::Implementer, Some("mock-1"))),
            ("only people merge it", "merges_per_day"),
        ),
    ] {
        let said = Reason::NeedsApproval.sentence_for(part.as_ref());
        assert!(said.contains(approval), "{part:?}: {said}");
        let said = cap.sentence_for(part.as_ref());
        assert!(said.contains(capped), "{part:?}: {said}");
        let said = Reason::Conflict.sentence_for(part.as_ref());
        assert_eq!(said, Reason::Conflict.sentence());
    }
    let weave = PipelinePart {
        pipeline: None,
        work: PartWork::Sprint(crate::pipeline::SprintPart {
            sprint: "50".parse().unwrap(),
            persona: None,
        }),
    };
    let said = Reason::SessionWorking.sentence_for(Some(&weave));
    assert!(!said.contains("session"), "{said}");
    let said = Reason::NeedsApproval.sentence_for(Some(&weave));
    assert!(said.contains("merge = integration"), "{said}");
    for (reason, part) in [
        (Reason::Conflict, Some(&weave)),
        (Reason::SessionWorking, None),
    ] {
        assert_eq!(reason.sentence_for(part), reason.sentence());
    }
}

#[test]
fn the_exchange_has_sixty_merges_a_day_whatever_its_source_allows_for_code() {
    let source = Source {
        repo: "acme/shop".parse().unwrap(),
        account: "default".parse().unwrap(),
        agent: None,
        paused: false,
        branch: None,
        policy: Policy {
            merge: MergePolicy::OnGreen,
            merges_per_day: 1,
            ..Policy::default()
        },
        timing: Timing::default(),
        deliveries: crate::delivery::Rules::default(),
        pipeline: Some(PipelineRules {
            exchange: Exchange::Auto,
            ..PipelineRules::default()
        }),
        sprints: crate::sprint::SprintRules::default(),
    };
    let checks = OWN_CHECKS.into_iter().chain(["build"]);
    let checks: Vec<_> = checks.map(passed).collect();
    for (layer, merges_today, wanted) in [
        (Layer::Decider, 59, "merge aaaa squash"),
        (Layer::Decider, 60, "wait daily_cap"),
        (Layer::Implementer, 0, "merge aaaa squash"),
        (Layer::Implementer, 1, "wait daily_cap"),
    ] {
        let job = Job {
            part: Some(Box::new(agent(layer, None))),
            ..queued()
        };
        let judged = verdict(|case| {
            case.policy = source.for_job(&job).policy.clone();
            case.facts.checks = Fact::Known(checks.clone());
            case.context.merges_today = merges_today;
        });
        assert_eq!(judged, wanted, "{layer:?} after {merges_today}");
    }
}

#[test]
fn a_check_of_our_own_needs_no_workflow_that_reports_it() {
    let missing = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Reason::RequiredMissing { names }.sentence()
    };
    assert_eq!(
        missing(&["jules/scope"]),
        "Required checks have not passed: jules/scope."
    );
    assert!(missing(&["build", "jules/scope"]).contains("a workflow reports it"));
}
