//! What reasons say and how they are stored.

use crate::delivery::Phase;
use expect_test::expect;

use super::*;
use crate::facts::CheckOutcome;
use crate::facts::fixture::check;
use crate::ids::StreamName;
use crate::layer::Layer;
use crate::pipeline::{Agent, Part, PartWork, TreeShas};

#[test]
fn all_reasons_are_given_with_the_earliest_time_to_look_again() {
    let mut case = Case::green();
    case.facts.checks = Fact::Known(vec![]);
    case.standing.head_since = at(-100);
    case.standing.refused = Some(MergeRefusals {
        why: "no".to_owned(),
        attempts: 1,
        again_at: at(30),
    });
    case.facts.draft = true;
    case.standing.session = SessionStatus::Working;
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
        case.standing.refused = Some(MergeRefusals {
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
        Reason::Woven {
            sprint: "50".parse().unwrap(),
        },
        Reason::MailUncollected,
        Reason::TakenBack,
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

#[test]
fn every_reason_has_the_code_it_is_stored_under_and_a_sentence() {
    let mut text = String::new();
    for reason in every_reason() {
        let json = serde_json::to_value(&reason).unwrap();
        assert_eq!(json["code"], reason.code());
        assert_eq!(serde_json::from_value::<Reason>(json).unwrap(), reason);
        text.push_str(&format!("{}: {}\n", reason.code(), reason.sentence()));
    }
    expect![[r#"
        not_ours: No job of this installation made this pull request, so Gaffer does not touch it.
        delivery_not_in_verify: Its delivery is at review, not at verify.
        delivery_not_in_verify: Verifying it failed in its delivery, and has to be tried again.
        verdict_of_another_head: The verdict of its review is about another head; this one is reviewed first.
        woven: Sprint 50 weaves it into one pull request with others, and that one is merged.
        mail_uncollected: Its sprint collects the mail of this head first.
        taken_back: Its session took the change back; close it, or merge it on GitHub yourself.
        adopted_may_not_merge: Its session was adopted; set `adopted_may_merge` on the source to let Gaffer merge it.
        fork: It comes from a fork; Gaffer never writes to those.
        closed: Its pull request is closed; reopen it if it should be merged.
        already_merged: It is merged already.
        needs_approval: People decide here what is merged: this head has to be approved, unless the source says `merge = on-green`.
        paused: Writing is paused.
        observe_only: This process runs with --observe-only and writes nothing.
        daily_cap: 20 pull requests were merged here in 24 hours, the source's `merges_per_day`; the next may be at 2027-01-15T08:00:00Z, or raise it.
        daily_cap: The source's `merges_per_day` is 0; raise it to let Gaffer merge.
        session_working: Its session is still at work and may push again.
        session_failed: Its session failed; look at the change, then give the job another session or merge it yourself.
        job_cancelled: Its job is not followed any more; merge or close it yourself.
        draft: It is a draft; Gaffer marks it ready once its session has finished.
        wrong_base: It goes to `develop`, but its job asked for `main`; change its base.
        blocking_label: It carries the label `do-not-merge`; take that off.
        protected_path: It changes `.github/x`, which only a person may merge: somebody has to approve this head.
        mergeable_unknown: GitHub has not worked out yet whether it conflicts.
        conflict: It conflicts with its base; its session is told, or resolve it yourself.
        changes_requested: A reviewer wants changes; Gaffer waits for their next review.
        approvals_missing: It has 0 of the 1 approvals that the branch rules demand; somebody who may write has to approve it on GitHub.
        no_checks_yet: No check has appeared on this head yet; until 2027-01-15T08:00:00Z that is usual; Gaffer waits.
        ci_never_started: No check has appeared on this head: the repository has no workflow; add one, or set `min_checks` of the source to 0 if you want none.
        checks_pending: Checks are running: build.
        checks_failed: Checks failed: build.
        action_required: Workflow runs wait for approval on GitHub: build.
        too_few_checks: 0 checks succeeded, but the source demands 1; skipped and neutral ones do not count.
        required_missing: Required checks have not passed: build. If one never starts, see that a workflow reports it on pull requests, or change the rules that name it.
        behind: It lacks 3 commits of its base; Gaffer updates its branch.
        stacked: It is number 2 of a stack of pull requests, and merging it would merge those below it; merge them first, or take it out of the stack on GitHub.
        plan_unreviewed: Its session worked on a plan that nobody approved: approve it after the fact, or merge it on GitHub yourself.
        unexpected_push: Its head was pushed when nobody expected it, and changes or takes back build: look at it, then approve this head.
        unexpected_push: Its head was pushed when nobody expected it, and changes more than can be compared: look at it, then approve this head.
        merge_queue: The base merges through GitHub's merge queue, which this version does not use yet; add it there.
        forbidden: The GitHub credential may not read the checks: grant `Checks: read`. Until then nothing is merged.
        forbidden: The GitHub credential may not read all branch rules. Use one that may (an App with the permission `Administration: read`, or a token whose owner has the role Admin), or name each check that must pass as a `required_check` of the source. Until then nothing is merged.
        unknown: The branch rules could not be read whole (502); Gaffer tries again.
        facts_stale: What was read is too old to act on; it is read again.
        merge_refused: GitHub refused to merge it (405); Gaffer tries again at 2027-01-15T08:00:00Z.
        merge_refused: GitHub refused to merge it 5 times (405); mend that, then approve this head again.
        merge_throttled: It is ready, but writes to GitHub are a second apart; Gaffer merges it from 2027-01-15T08:00:00Z on.
        settling: Everything is green; Gaffer waits until 2027-01-15T08:00:00Z in case another check starts on this new head.
    "#]].assert_eq(&text);
}

/// An agent of a layer, of a trial run or not.
fn agent(layer: Layer, mock: Option<&str>) -> Part {
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
    Part {
        pipeline: None,
        work: PartWork::Agent(agent),
    }
}

#[test]
fn a_sentence_names_the_setting_that_counts_for_the_job() {
    let own = Part {
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
}
