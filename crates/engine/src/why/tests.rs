//! What an explanation says of pauses and of the next reading.

use domain::delivery;
use domain::event::ErrorCause;
use domain::failure::FailureClass;
use domain::ids::JobId;
use domain::job::{WaitParty, WaitReason, WaitsFor};
use domain::merge::{Gate, Judgement, MergeRefusals, Reason};
use domain::pipeline::{PartWork, PipelinePart};
use domain::policy::MergeMethod;
use domain::pull::{Alarm, OwnCheck, OwnChecks, OwnOutcome, PullVerdict, RefusedMerge, track};

use super::*;
use crate::settings::{TrackedPull, UnreadPull};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn a_reading_alone_is_planned_only_where_it_can_move_something() {
    let poll = (at(5), "Jules is asked how its sessions are.");
    let cases = [
        // Who is waited for, what else is planned, the next reading, and what is told.
        (
            Some(WaitParty::GitHub),
            None,
            Some(9),
            vec!["Gaffer reads it again."],
        ),
        (
            Some(WaitParty::Gaffer),
            None,
            Some(9),
            vec!["Gaffer reads it again."],
        ),
        (None, None, Some(9), vec!["Gaffer reads it again."]),
        (Some(WaitParty::Person), None, Some(9), vec![]),
        (Some(WaitParty::Gaffer), None, None, vec![]),
        (Some(WaitParty::Person), Some(poll), Some(9), vec![poll.1]),
        (Some(WaitParty::Gaffer), Some(poll), Some(9), vec![poll.1]),
    ];
    for (who, planned, next_look, told) in cases {
        let mut found = WhySubject::default();
        if let Some((at, sentence)) = planned {
            found.then(at, sentence);
        }
        found.waits_for = who.map(|who| WaitsFor {
            who,
            agent: None,
            what: WaitReason::Reading,
            since: None,
        });
        let why = found.into_why(None, None, "queued", next_look.map(at));
        let sentences: Vec<_> = why.then.iter().map(|it| it.sentence.as_str()).collect();
        assert_eq!(sentences, told, "{who:?} {planned:?} {next_look:?}");
        assert_eq!(why.next_look, next_look.map(at));
    }
}

#[test]
fn the_next_poll_is_known_by_its_sentence() {
    for poll in polls::POLLS {
        let mut found = WhySubject::default();
        found.then(at(5), poll);
        assert_eq!(found.then[0].sentence, poll);
    }
}

/// A pull request that was judged with these reasons.
fn pulled(reasons: &[Reason]) -> TrackedPull {
    let reference: PullRef = "acme/shop#7".parse().unwrap();
    let job = JobId::from_ulid(ulid::Ulid(7));
    let mut pull = track(reference, job, None, at(1));
    pull.verdict = Some(PullVerdict {
        at: at(1),
        sha: "1".repeat(40).parse().unwrap(),
        judgement: Judgement::Refuse {
            reasons: reasons.to_vec(),
        },
        checks: Vec::new(),
    });
    TrackedPull {
        pull,
        read_at: Some(at(1)),
        unread: None,
    }
}

#[test]
fn a_pause_is_told_once_and_by_its_own_name() {
    let cases = [
        // What is paused now, what the last judgement says, and which codes are told.
        (Some("paused"), vec![Reason::Paused], vec!["paused"]),
        (
            Some("source_paused"),
            vec![Reason::Paused],
            vec!["source_paused"],
        ),
        (
            Some("observe_only"),
            vec![Reason::ObserveOnly],
            vec!["observe_only"],
        ),
        (
            Some("paused"),
            vec![Reason::Paused, Reason::Draft],
            vec!["paused", "draft"],
        ),
        // The pause has ended since: that is what the judgement says until the next one.
        (None, vec![Reason::Paused], vec!["paused"]),
    ];
    for (pause, judged, codes) in cases {
        let mut found = WhySubject::default();
        if let Some(code) = pause {
            found.because(code, "It is paused.");
            found.held = true;
        }
        super::pull::judged(&mut found, &pulled(&judged), None, None, at(2));
        let told: Vec<_> = found.because.iter().map(|it| it.code.as_str()).collect();
        assert_eq!(told, codes, "{pause:?} {judged:?}");
    }
}

/// A pull request whose green head waits for a budget, for its reading or for its merge, until second 60.
fn green(unread: Option<FailureClass>, attempts: Option<u32>) -> TrackedPull {
    let mut tracked = pulled(&[]);
    let sha = tracked.pull.verdict.as_ref().unwrap().sha.clone();
    let method = MergeMethod::Squash;
    tracked.pull.verdict.as_mut().unwrap().judgement = Judgement::Merge {
        sha: sha.clone(),
        method,
    };
    tracked.pull.refused = attempts.map(|attempts| RefusedMerge {
        sha,
        refused: MergeRefusals {
            why: "GitHub's budget is used up".to_owned(),
            attempts,
            again_at: at(60),
        },
    });
    tracked.unread = unread.map(|class| UnreadPull {
        class,
        why: "GitHub asked to stay away".to_owned(),
        again_at: at(60),
    });
    tracked
}

#[test]
fn a_green_head_that_a_budget_holds_up_says_so_until_that_is_over() {
    let cases = [
        (green(None, Some(0)), vec!["merge_throttled"]),
        (green(None, Some(1)), vec!["merge_refused"]),
        (
            green(Some(FailureClass::Throttled), None),
            vec!["read_throttled", "merge"],
        ),
        (
            green(Some(FailureClass::Network), Some(0)),
            vec!["read_failed", "merge_throttled"],
        ),
        (green(None, None), vec!["merge"]),
    ];
    for (tracked, codes) in cases {
        let mut found = WhySubject::default();
        super::pull::judged(&mut found, &tracked, None, None, at(59));
        let told: Vec<_> = found.because.iter().map(|it| it.code.as_str()).collect();
        assert_eq!(told, codes);
        let delay = super::pull::delay(&tracked, at(59));
        let first = &found.because[0];
        assert_eq!(
            delay.as_ref(),
            Some(&first.sentence).filter(|_| codes != ["merge"])
        );
        assert!(delay.is_none_or(|it| it.contains(&at(60).to_string())));
        let mut over = WhySubject::default();
        super::pull::judged(&mut over, &tracked, None, None, at(60));
        assert_eq!(over.because[0].code, "merge", "{codes:?}");
        assert_eq!(super::pull::delay(&tracked, at(60)), None);
    }
}

#[test]
fn what_a_delivery_says_of_a_head_is_as_it_says_it_now() {
    let before = Reason::DeliveryNotInVerify {
        phase: delivery::Phase::Implement,
    };
    let at_review = Gate::NotInVerify {
        phase: delivery::Phase::Review,
    };
    let delivery = "0123456789ab".parse().unwrap();
    let collected = Gate::Collected { delivery };
    let cases = [
        (vec![before.clone(), Reason::Draft], None, "It is a draft"),
        (vec![before.clone()], None, "judged again"),
        (
            vec![before.clone()],
            Some(at_review.clone()),
            "Its delivery is at review",
        ),
        (
            vec![Reason::NeedsApproval, Reason::Draft],
            Some(at_review),
            "Its delivery is at review",
        ),
        (
            vec![Reason::AdoptedMayNotMerge, before],
            Some(collected),
            "a person merges or closes it",
        ),
    ];
    for (judged, gate, sentence) in cases {
        let mut found = WhySubject::default();
        super::pull::judged(&mut found, &pulled(&judged), None, gate, at(2));
        let told = &found.because[0].sentence;
        assert!(told.contains(sentence), "{told}");
        // What its delivery holds waits for no approval, however old the judgement is.
        let mut codes = found.because.iter().map(|it| it.code.as_str());
        assert!(codes.all(|code| code != "needs_approval"), "{told}");
        assert!(found.next.is_empty(), "{:?}", found.next);
    }
}

#[test]
fn what_people_decide_about_an_exchange_is_told_by_the_setting_that_counts_there() {
    let own = PipelinePart {
        pipeline: None,
        work: PartWork::Proposal { requirement: None },
    };
    for (part, setting) in [
        (None, "`merge = on-green`"),
        (Some(&own), "`exchange = auto`"),
    ] {
        let mut found = WhySubject::default();
        let judged = pulled(&[Reason::NeedsApproval]);
        super::pull::judged(&mut found, &judged, part, None, at(2));
        let told = &found.because[0].sentence;
        assert!(told.contains(setting), "{told}");
    }
}

#[test]
fn what_a_check_of_our_own_found_is_told_with_who_repairs_it() {
    let failed = Reason::ChecksFailed {
        names: vec!["jules/scope".to_owned()],
        others_pending: false,
    };
    let mut pull = pulled(&[Reason::NeedsApproval, failed]).pull;
    let head = pull.verdict.clone().unwrap().sha;
    pull.session = "14550388554331055113".parse().ok();
    let checked = |head: &str| OwnChecks {
        head: head.repeat(40).parse().unwrap(),
        base: "b".repeat(40).parse().unwrap(),
        rules: String::new(),
        results: vec![OwnCheck {
            name: "jules/scope".to_owned(),
            outcome: OwnOutcome::Failed,
            output: "`README.md`: not yours\n`x`: neither".to_owned(),
        }],
    };
    // A delivery tells the same of its pull request.
    let wrong_sentence = |pull: &Pull| {
        let tracked = TrackedPull {
            pull: pull.clone(),
            read_at: None,
            unread: None,
        };
        let mut found = WhySubject::default();
        super::pull::judged(&mut found, &tracked, None, None, at(2));
        let of_delivery = pull_reasons(&tracked, None, None, false, at(2)).into_iter();
        let of_delivery = of_delivery.map(|it| Reasoned::new(it.code, &it.sentence));
        assert_eq!(of_delivery.collect::<Vec<_>>(), found.because);
        let mut of_pull = found.because.into_iter();
        let wrong = of_pull.find(|it| it.code == "own_check_failed");
        wrong.map(|it| it.sentence)
    };
    pull.own_checks = Some(Box::new(checked("2")));
    assert_eq!(wrong_sentence(&pull), None, "that is another head");
    pull.own_checks = Some(Box::new(checked("1")));
    let wrong = "jules/scope: `README.md`: not yours; `x`: neither.";
    assert_eq!(wrong_sentence(&pull).unwrap(), wrong);
    pull.repairs.ci_sent.push(head.clone());
    let sent = format!("{wrong} Its session was told.");
    assert_eq!(wrong_sentence(&pull).unwrap(), sent);
    pull.alarms.push(Alarm {
        cause: ErrorCause::CiFailed,
        sha: head,
    });
    assert!(
        wrong_sentence(&pull)
            .unwrap()
            .contains("push one to its branch")
    );
}
