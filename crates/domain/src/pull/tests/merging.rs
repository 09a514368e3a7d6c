//! From green to merged, and everything that may come between.

use jiff::SignedDuration;

use super::*;
use crate::effect::PullAction;
use crate::facts::{Base, Demands, PullState};
use crate::ids::RepoId;
use crate::merge::SprintGate;
use crate::policy::MergeMethod;
use crate::pull::{MergeApproval, MergeStyle, REOPEN_WAIT};
use crate::step::FollowUp;

fn merged() -> PullState {
    PullState::Merged {
        commit: Some(sha('d')),
    }
}

#[test]
fn green_settles_and_is_merged() {
    let mut world = World::green();
    assert!(world.read(0).is_empty());
    assert_eq!((world.verdict(), world.due()), (vec!["settling"], 60));
    assert!(world.read(59).is_empty());
    assert_eq!(world.read(60), ["merge:#7@A"]);
    assert!(matches!(&world.pull.phase, PullPhase::Merging { sha: head, .. } if *head == sha('a')));
    assert_eq!(
        world.take(61, &PullInput::Merged { commit: sha('d') }),
        Vec::<String>::new()
    );
    assert_eq!(world.due(), 61);
    world.facts.state = merged();
    assert_eq!(
        world.read(62),
        [format!("unbranch:acme/shop:fix-{SESSION}@A").replace(SESSION, "session")]
    );
    assert_eq!(
        world.step.follow_ups,
        [FollowUp::Job(world.pull.job.clone())]
    );
    assert!(world.pull.is_settled());
}

#[test]
fn another_repository_of_the_same_name_is_nothing_to_us() {
    let mut world = World::green();
    world.read(0);
    let ours = world.facts.repo.clone();
    let other = RepoId(ours.id.0 + 1);
    // It looks like ours in every way, down to its head.
    world.facts.repo.id = other;
    world.facts.head.repo_id = Some(other);
    assert!(world.read(60).is_empty());
    assert_eq!(world.verdict(), ["not_ours"]);
    world.facts.state = merged();
    assert!(world.read(120).is_empty());
    assert!(!world.pull.is_settled());
    world.facts.state = PullState::Open;
    world.facts.head.repo_id = Some(ours.id);
    world.facts.repo = ours;
    assert_eq!(world.read(180), ["merge:#7@A"]);
}

#[test]
fn settled_stays_settled() {
    let mut world = World::green();
    world.facts.state = PullState::Closed;
    assert!(world.read(0).is_empty());
    world.read(REOPEN_WAIT.as_secs());
    let settled = world.pull.clone();
    assert!(settled.is_settled());
    world.facts.state = PullState::Open;
    world.read(1_000);
    world.take(1_010, &PullInput::Merged { commit: sha('d') });
    world.refuses(1_020);
    assert_eq!(world.pull, settled);
    assert_eq!(
        approve(&settled, None, &ME, at(1_030)).unwrap_err().code,
        "settled"
    );
}

#[test]
fn what_starts_checks_again_settles_again() {
    let starts: [fn(&mut World); 3] = [
        |world| world.facts.head.sha = sha('c'),
        |world| {
            world.facts.draft = true;
            world.read(65);
            world.facts.draft = false;
        },
        |world| {
            world.facts.state = PullState::Closed;
            world.read(65);
            world.facts.state = PullState::Open;
        },
    ];
    for start in starts {
        let mut world = World::green();
        world.read(0);
        start(&mut world);
        assert!(world.read(70).is_empty());
        assert_eq!((world.verdict(), world.due()), (vec!["settling"], 130));
        assert_eq!(world.read(130).len(), 1);
    }
}

#[test]
fn a_base_that_moves_restarts_nothing() {
    let mut world = World::green();
    world.read(0);
    world.facts.base.sha = sha('c');
    assert!(world.read(59).is_empty());
    assert_eq!((world.verdict(), world.due()), (vec!["settling"], 60));
    assert_eq!(world.read(60), ["merge:#7@A"]);
}

#[test]
fn a_check_that_starts_late_is_waited_for_and_nothing_after_it() {
    let mut world = World::green();
    world.read(0);
    let green = world.facts.checks.clone();
    world.checks(&[
        CheckOutcome::Passed(crate::facts::Pass::Success),
        CheckOutcome::Pending,
    ]);
    assert!(world.read(60).is_empty() && world.pull.ready.is_none());
    world.facts.checks = green;
    assert_eq!(world.read(90), ["merge:#7@A"]);
}

#[test]
fn a_merge_that_the_budget_does_not_allow_waits_and_counts_as_no_attempt() {
    let mut world = World::green();
    world.read(0);
    for now in 60..160 {
        assert_eq!(world.read(now), ["merge:#7@A"]);
        let wait = Some(SignedDuration::from_secs(1));
        let short = Failure::new(FailureClass::Throttled, "a second apart").after(wait);
        world.take(now, &PullInput::MergeFailed(short));
        assert_eq!(
            (world.due(), &world.pull.phase),
            (now + 1, &PullPhase::Open)
        );
        assert!(world.read(now).is_empty());
        assert_eq!(
            (world.verdict(), world.due()),
            (vec!["merge_throttled"], now + 1)
        );
        assert_eq!(world.pull.ready.as_ref().unwrap().from, at(now + 1));
    }
}

#[test]
fn whether_it_conflicts_is_asked_soon_and_then_less_often() {
    let mut world = World::green();
    world.facts.mergeable = Fact::Unknown {
        why: "null".to_owned(),
    };
    let (mut now, mut waits) = (0, Vec::new());
    for _ in 0..7 {
        world.read(now);
        waits.push(world.due() - now);
        now = world.due();
    }
    assert_eq!(waits, [3, 3, 6, 12, 24, 48, 60]);
    assert_eq!(world.pull.ready.as_ref().unwrap().from, at(60));
}

#[test]
fn waiting_for_a_person_does_not_break_the_green() {
    let mut world = World::green();
    world.policy = Policy::default();
    assert!(world.read(0).is_empty());
    assert!(world.read(300).is_empty());
    assert_eq!(
        (world.verdict(), world.due()),
        (vec!["needs_approval"], 600)
    );
    let step = approve(&world.pull, Some(&sha('a')), &ME, at(310)).unwrap();
    assert_eq!(step.due, Some(at(310)));
    world.pull = step.aggregate;
    assert_eq!(world.read(310), ["merge:#7@A"]);
}

#[test]
fn the_approval_of_a_refused_order_is_taken_back_and_another_stays() {
    let mut world = World::green();
    world.policy = Policy::default();
    world.facts.labels = vec!["do-not-merge".to_owned()];
    world.read(0);
    world.pull = approve(&world.pull, None, &ME, at(300)).unwrap().aggregate;
    let given = world.pull.approval.clone().unwrap();
    world.read(300);
    assert_eq!(world.verdict(), ["blocking_label"]);
    assert!(
        !takes_approval(&world.pull),
        "nobody is advised to order it"
    );
    let newer = Approval {
        at: at(301),
        ..given.clone()
    };
    assert_eq!(take_back(&world.pull, &newer, at(302)), None);
    let mut free = world.pull.clone();
    let step = take_back(&world.pull, &given, at(302)).unwrap();
    assert_eq!((&step.aggregate.approval, step.due), (&None, Some(at(302))));
    // What an order only waits for, refuses nothing.
    for judgement in [
        Judgement::Wait {
            until: None,
            reasons: Vec::new(),
        },
        Judgement::Refuse {
            reasons: vec![crate::merge::Reason::Paused],
        },
    ] {
        free.verdict.as_mut().unwrap().judgement = judgement;
        assert_eq!(take_back(&free, &given, at(302)), None);
    }
    world.pull = step.aggregate;
    world.facts.labels.clear();
    world.read(400);
    assert_eq!(world.verdict(), ["needs_approval"]);
    assert!(takes_approval(&world.pull));
}

#[test]
fn it_is_merged_as_whoever_approved_wants_it_while_the_source_allows_that() {
    let style = MergeStyle {
        method: Some(MergeMethod::Merge),
        title: Some("Add search".to_owned()),
        delete_branch: Some(false),
    };
    let word = MergeApproval {
        style: &style,
        ..ME
    };
    let usual = MergeMethod::Squash;
    for (others, method) in [
        (vec![MergeMethod::Merge], MergeMethod::Merge),
        (vec![], usual),
    ] {
        let mut world = World::green();
        world.policy = Policy {
            other_merge_methods: others,
            ..Policy::default()
        };
        world.read(0);
        world.pull = approve(&world.pull, None, &word, at(1)).unwrap().aggregate;
        world.read(300);
        let merge = world.step.effects.clone();
        let expected = Action::Pull(PullAction::Merge {
            pull: world.facts.pull.clone(),
            sha: sha('a'),
            base: world.facts.base.clone(),
            method,
            title: style.title.clone(),
        });
        assert_eq!(merge, [expected]);
        world.facts.state = merged();
        assert!(world.read(310).is_empty(), "the branch stays");
    }
}

#[test]
fn an_approval_is_for_one_head() {
    let mut world = World::green();
    world.policy = Policy::default();
    assert_eq!(
        approve(&world.pull, None, &ME, at(0)).unwrap_err().code,
        "not_read_yet"
    );
    world.read(0);
    assert_eq!(
        approve(&world.pull, Some(&sha('c')), &ME, at(1))
            .unwrap_err()
            .code,
        "head_moved"
    );
    world.pull = approve(&world.pull, None, &ME, at(1)).unwrap().aggregate;
    world.facts.head.sha = sha('c');
    world.read(10);
    assert!(world.read(100).is_empty());
    assert_eq!(world.verdict(), ["needs_approval"]);
}

#[test]
fn an_unsettled_merge_is_only_waited_for() {
    let mut world = World::green();
    world.read(0);
    world.read(60);
    world.outside.merge_unsettled = true;
    world.facts.labels.push("do-not-merge".to_owned());
    let before = world.pull.clone();
    assert!(world.read(70).is_empty());
    assert_eq!((&world.pull, world.due()), (&before, 80));
    world.facts.state = merged();
    world.read(80);
    assert!(world.pull.is_settled());
}

#[test]
fn other_settings_decide_nothing_while_a_merge_is_under_way_or_waits_for_its_time() {
    let mut world = World::green();
    world.facts.draft = true;
    world.read(0);
    assert!(world.pull.may_be_decided_anew(at(1)));
    world.facts.draft = false;
    world.read(1);
    assert_eq!(world.read(61), ["merge:#7@A"]);
    assert!(!world.pull.may_be_decided_anew(at(62)));
    world.refuses(63);
    let again_at = world.pull.refused.as_ref().unwrap().refused.again_at;
    let just_before = again_at - SignedDuration::from_secs(1);
    assert!(!world.pull.may_be_decided_anew(just_before));
    assert!(world.pull.may_be_decided_anew(again_at));
    world.facts.state = merged();
    world.read(1_000);
    assert!(!world.pull.may_be_decided_anew(at(1_001)));
}

#[test]
fn a_refused_merge_is_tried_again_with_growing_waits_and_then_given_up() {
    let mut world = World::green();
    world.read(0);
    let (mut now, mut tries, mut waits) = (60, 0, Vec::new());
    while world.read(now) == ["merge:#7@A"] {
        tries += 1;
        world.refuses(now);
        assert_eq!(
            (&world.pull.phase, world.due()),
            (&PullPhase::Open, now + 10)
        );
        if world.read(now).is_empty() && world.verdict() == ["merge_refused"] {
            let again = world.pull.refused.as_ref().unwrap().refused.again_at;
            waits.push(again.duration_since(at(now)).as_secs());
            now += waits[waits.len() - 1];
        }
    }
    assert_eq!((tries, waits), (5, vec![20, 40, 80, 160]));
    let told: Vec<String> = world.events.iter().map(event_label).collect();
    assert_eq!(told, ["merge_refused"]);
    assert!(world.read(now + 10_000).is_empty());
    // A person fixed it and says so; the head need not change.
    world.pull = approve(&world.pull, None, &ME, at(now + 20_000))
        .unwrap()
        .aggregate;
    assert_eq!(world.read(now + 20_000), ["merge:#7@A"]);
    // So does a new head.
    world.refuses(now + 20_000);
    world.facts.head.sha = sha('c');
    world.read(now + 20_001);
    assert_eq!(world.read(now + 20_061), ["merge:#7@C"]);
}

#[test]
fn what_was_refused_of_one_head_says_nothing_about_the_next() {
    let mut world = World::green();
    world.read(0);
    world.read(60);
    for second in 61..70 {
        world.refuses(second);
    }
    assert_eq!(world.read(10_000), ["merge_refused"]);
    world.facts.head.sha = sha('c');
    assert!(world.read(10_001).is_empty());
    assert_eq!(world.read(10_061), ["merge:#7@C"]);
}

#[test]
fn a_merge_onto_another_base_than_judged_raises_an_alarm_and_keeps_the_branch() {
    let mut world = World::green();
    world.read(0);
    world.read(60);
    world.facts.state = merged();
    world.facts.base = Base {
        branch: "release".parse().unwrap(),
        sha: sha('e'),
    };
    assert_eq!(world.read(70), ["wrong_base"]);
}

#[test]
fn branches_are_deleted_only_where_gaffer_may_write_and_a_pause_only_delays_it() {
    let settle = |change: fn(&mut World)| {
        let mut world = World::green();
        change(&mut world);
        world.facts.state = merged();
        world.read(0)
    };
    let deleted = settle(|_| {});
    assert_eq!(deleted.len(), 1);
    assert_eq!(
        settle(|world| world.outside.hold = Some(Hold::Paused)),
        deleted
    );
    assert_eq!(
        settle(|world| world.outside.hold = Some(Hold::ObserveOnly)),
        deleted
    );
    assert!(settle(|world| world.policy.delete_branch = false).is_empty());
    assert!(settle(|world| world.outside.owner = Owner::Foreign).is_empty());
    assert!(settle(|world| world.facts.head.repo = Some("evil/shop".parse().unwrap())).is_empty());
}

#[test]
fn a_draft_is_marked_ready_once_its_session_rests() {
    let mut world = World::green();
    world.facts.draft = true;
    world.outside.session = SessionStatus::Working;
    assert!(world.read(0).is_empty());
    world.outside.session = SessionStatus::Resting;
    assert_eq!(world.read(60), ["ready:#7@A"]);
    world.policy.merge = MergePolicy::Human;
    assert_eq!(world.read(120), ["ready:#7@A"]);
    world.outside.session = SessionStatus::Cancelled;
    assert!(world.read(180).is_empty());
}

#[test]
fn a_branch_that_only_lacks_its_base_is_updated() {
    let mut world = World::green();
    let demands = Demands {
        up_to_date: true,
        behind_by: Some(2),
        ..Demands::default()
    };
    world.facts.demands = Fact::Known(demands);
    assert_eq!(world.read(0), ["update:#7@A"]);
    world.outside.session = SessionStatus::Working;
    assert!(world.read(60).is_empty());
    world.outside.session = SessionStatus::Resting;
    world.checks(&[CheckOutcome::Pending]);
    assert!(world.read(120).is_empty());
}

#[test]
fn nothing_is_written_on_hold_nor_to_others_nor_to_forks() {
    let stop: [fn(&mut World); 4] = [
        |world| world.outside.hold = Some(Hold::Paused),
        |world| world.outside.hold = Some(Hold::ObserveOnly),
        |world| world.outside.owner = Owner::Foreign,
        |world| world.facts.head.repo = None,
    ];
    let tempt: [fn(&mut World); 5] = [
        |_| {},
        |world| world.facts.draft = true,
        |world| world.checks(&[CheckOutcome::Failed]),
        |world| world.facts.mergeable = Fact::Known(false),
        |world| world.facts.checks = Fact::Known(vec![]),
    ];
    for stop in stop {
        for tempt in tempt {
            let mut world = World::green();
            stop(&mut world);
            tempt(&mut world);
            for second in [0, 60, 120, 600, 6_000] {
                assert!(world.read(second).is_empty());
            }
            assert_eq!(world.pull.repairs, Repairs::default());
        }
    }
}

#[test]
fn what_was_read_long_ago_leads_to_nothing() {
    let mut world = World::green();
    world.facts.draft = true;
    world.facts.read_at = at(-11);
    let input = PullInput::Facts(
        Box::new(world.facts.clone()),
        Box::new(world.outside.clone()),
    );
    assert!(world.take(0, &input).is_empty());
    assert_eq!(world.verdict(), ["draft", "facts_stale"]);
    assert_eq!(world.pull.green, None);
}

#[test]
fn an_identical_reading_writes_nothing() {
    let mut world = World::green();
    world.policy = Policy::default();
    world.read(0);
    let before = world.pull.clone();
    for second in 1..100 {
        assert!(world.read(second * 60).is_empty());
        assert_eq!(world.pull, before);
    }
}

#[test]
fn a_pull_request_comes_back_from_its_record_as_it_was() {
    let mut world = World::green();
    world.read(0);
    world.read(60);
    world.refuses(61);
    let text = serde_json::to_string(&world.pull).unwrap();
    assert_eq!(serde_json::from_str::<Pull>(&text).unwrap(), world.pull);
}

#[test]
fn checks_need_not_be_named_twice() {
    let mut world = World::green();
    world.facts.checks = Fact::Known(vec![passed("build"), passed("build")]);
    world.read(0);
    assert_eq!(world.read(60), ["merge:#7@A"]);
}

#[test]
fn a_green_pull_request_of_a_sprint_asks_for_approval_once_a_head() {
    let mut bare = World::green();
    bare.policy.merge = MergePolicy::Human;
    assert!(bare.read(0).is_empty(), "its session's completion says so");
    let mut world = World::woven();
    world.policy.merge = MergePolicy::Human;
    assert!(world.read(0).is_empty(), "its sprint weaves it");
    world.outside.sprint_gate = None;
    world.outside.hold = Some(Hold::Paused);
    assert!(world.read(10).is_empty(), "nothing can be ordered now");
    world.outside.hold = None;
    assert_eq!(world.read(20), ["completed"]);
    let asked = world.events[0].clone();
    assert_eq!(asked.audience, crate::event::Audience::Agent);
    assert!(asked.asks_approval() && asked.aid.pull.is_some());
    assert!(world.read(3_600).is_empty());
    world.checks(&[CheckOutcome::Pending]);
    assert!(world.read(3_700).is_empty());
    world.checks(&[CheckOutcome::Passed(crate::facts::Pass::Success)]);
    assert_eq!(world.read(3_800), ["completed"]);
    assert_eq!(world.events[1].id, asked.id, "the same occurrence");
    world.facts.head.sha = sha('d');
    assert_eq!(world.read(3_900), ["completed"]);
    assert_ne!(world.events[2].id, asked.id);
}

#[test]
fn a_pull_request_of_a_sprint_that_is_merged_by_itself_asks_nothing() {
    let mut world = World::green();
    world.pull.sprint = "50".parse().ok();
    world.read(0);
    world.read(600);
    assert!(world.events.is_empty(), "{:?}", world.events);
}

#[test]
fn what_is_woven_waits_for_its_sprint_only_once_nothing_else_is_in_the_way() {
    let rule = || {
        let name = "e2e".to_owned();
        let rule = crate::facts::RequiredCheck { name, app: None };
        Fact::Known(Demands {
            checks: vec![rule],
            ..Demands::default()
        })
    };
    type Case<'a> = (&'a str, &'a dyn Fn(&mut World));
    let changes: [Case<'_>; 6] = [
        ("", &|_| {}),
        ("", &|world| world.policy.merge = MergePolicy::Human),
        ("", &|world| world.facts.draft = true),
        ("checks_pending", &|world| {
            world.checks(&[CheckOutcome::Pending]);
        }),
        ("checks_failed", &|world| {
            world.checks(&[CheckOutcome::Failed]);
        }),
        ("required_missing", &|world| world.facts.demands = rule()),
    ];
    for (code, change) in changes {
        let mut world = World::woven();
        change(&mut world);
        world.read(0);
        world.read(600);
        let hindrance = hindrance(&world.pull, false).map(crate::merge::Reason::code);
        assert_eq!(hindrance.unwrap_or_default(), code);
        let waits = waits_for(&world.pull, false, None);
        let is_woven = waits.what == crate::job::WaitReason::Sprint;
        assert_eq!(is_woven, code.is_empty(), "{code}: {waits:?}");
    }
}

#[test]
fn what_is_merged_by_itself_names_what_blocks_it() {
    type Case<'a> = (&'a str, &'a dyn Fn(&mut World));
    let changes: [Case<'_>; 5] = [
        ("", &|_| {}),
        ("", &|world| world.policy.merge = MergePolicy::Human),
        ("unknown", &|world| {
            world.facts.files = Fact::Known(Vec::new());
        }),
        ("blocking_label", &|world| {
            world.facts.labels = vec!["do-not-merge".to_owned()];
        }),
        ("taken_back", &|world| {
            world.outside.sprint_gate = Some(SprintGate::TakenBack);
        }),
    ];
    for (code, change) in changes {
        let mut world = World::green();
        world.pull.sprint = "50".parse().ok();
        change(&mut world);
        world.read(0);
        world.read(600);
        let hindrance = hindrance(&world.pull, false).map(crate::merge::Reason::code);
        assert_eq!(hindrance.unwrap_or_default(), code);
    }
}

#[test]
fn an_approval_of_what_is_woven_is_refused_while_it_is_woven() {
    let mut world = World::woven();
    world.policy.merge = MergePolicy::Human;
    world.read(0);
    let refused = approve(&world.pull, None, &ME, at(1)).unwrap_err();
    assert_eq!(refused.code, "woven");
    world.outside.plan_unreviewed = true;
    world.read(10);
    assert!(approve(&world.pull, None, &ME, at(11)).is_err(), "a plan");
    world.outside.plan_unreviewed = false;
    world.outside.sprint_gate = None;
    world.read(30);
    assert!(approve(&world.pull, None, &ME, at(31)).is_ok());
}
