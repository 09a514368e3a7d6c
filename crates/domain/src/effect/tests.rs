//! The whole life of an effect: every step from every state, and the limits that end it.

use super::*;
use crate::facts::Base;
use crate::facts::fixture::{at, sha};
use crate::failure::RETRY_AFTER_MAX;
use crate::ids::{JobId, SprintNumber};
use crate::pipeline::{Recipe, RequirementRef};
use crate::policy::MergeMethod;

const SESSION: &str = "14550388554331055113";

fn job() -> JobId {
    JobId::from_ulid(ulid::Ulid(7))
}

fn say() -> Action {
    Action::Jules(JulesAction::Say {
        session: SESSION.parse().unwrap(),
        text: "hi".to_owned(),
        cause: "c1".to_owned(),
    })
}

fn approve() -> Action {
    Action::Jules(JulesAction::ApprovePlan {
        session: SESSION.parse().unwrap(),
        plan: "p1".parse().unwrap(),
    })
}

fn archive() -> Action {
    Action::Jules(JulesAction::Archive {
        session: SESSION.parse().unwrap(),
    })
}

fn merge() -> Action {
    Action::Pull(PullAction::Merge {
        pull: "Acme/Shop#7".parse().unwrap(),
        sha: sha('a'),
        base: Base {
            branch: "main".parse().unwrap(),
            sha: sha('b'),
        },
        method: MergeMethod::Squash,
        title: None,
    })
}

/// One of each action.
fn all_actions() -> Vec<Action> {
    let pull = || "Acme/Shop#7".parse().unwrap();
    vec![
        Action::Jules(JulesAction::CreateSession {
            job: job(),
            attempt: 2,
        }),
        say(),
        approve(),
        archive(),
        merge(),
        Action::Pull(PullAction::MarkReady {
            pull: pull(),
            node_id: "PR_1".to_owned(),
            sha: sha('a'),
        }),
        Action::Pull(PullAction::UpdateBranch {
            pull: pull(),
            sha: sha('a'),
        }),
        Action::Pull(PullAction::Comment {
            pull: pull(),
            text: "hi".to_owned(),
            cause: "c1".to_owned(),
        }),
        Action::Pull(PullAction::Label {
            pull: pull(),
            label: "ours".to_owned(),
            weave: None,
        }),
        Action::Pull(PullAction::ClosePull { pull: pull() }),
        Action::Pull(PullAction::DeleteBranch {
            repo: "Acme/Shop".parse().unwrap(),
            branch: "fix".parse().unwrap(),
            sha: sha('a'),
        }),
    ]
    .into_iter()
    .chain(repo_actions())
    .chain(tracker_actions())
    .collect()
}

/// One of each action in a repository.
fn repo_actions() -> Vec<Action> {
    vec![
        Action::Repo(RepoAction::Propose {
            job: job(),
            repo: "Acme/Shop".parse().unwrap(),
            base: "jules".parse().unwrap(),
            recipe: Recipe::Tidy {
                worker: sha('a'),
                requirement: RequirementRef {
                    id: "abc123".parse().unwrap(),
                    path: ".jules/exchange/requirements/abc123.yml".to_owned(),
                    events: Vec::new(),
                },
            },
        }),
        Action::Repo(RepoAction::OpenIssue {
            job: job(),
            repo: "Acme/Shop".parse().unwrap(),
            title: "Say more".to_owned(),
            body: "Why".to_owned(),
            label: "innovator/recruiter".to_owned(),
            marker: "proposal:abc123:00".to_owned(),
        }),
        Action::Repo(RepoAction::PutLabel {
            job: job(),
            repo: "Acme/Shop".parse().unwrap(),
            name: "bugs".to_owned(),
            colour: "d73a4a".to_owned(),
            description: "It is wrong".to_owned(),
        }),
        Action::Repo(RepoAction::Status {
            pull: "Acme/Shop#7".parse().unwrap(),
            sha: sha('a'),
            context: "jules/doctor".to_owned(),
            outcome: crate::pull::OwnOutcome::Failed,
            description: "1 error".to_owned(),
            rules: "base".to_owned(),
        }),
        Action::Repo(RepoAction::Weave {
            job: job(),
            repo: "Acme/Shop".parse().unwrap(),
            sprint: SprintNumber::FIRST,
            weave: 3,
        }),
        Action::Repo(RepoAction::Unlabel {
            pull: "Acme/Shop#7".parse().unwrap(),
            label: "ours".to_owned(),
            weave: None,
        }),
    ]
}

/// One of each action on an issue, or on what deploys.
fn tracker_actions() -> Vec<Action> {
    let issue = || "Acme/Shop#8".parse().unwrap();
    vec![
        Action::Tracker(TrackerAction::Tell {
            issue: issue(),
            text: "It is merged".to_owned(),
            cause: "c1".to_owned(),
        }),
        Action::Tracker(TrackerAction::CloseIssue { issue: issue() }),
        Action::Tracker(TrackerAction::DispatchWorkflow {
            repo: "Acme/Shop".parse().unwrap(),
            file: "deploy.yml".to_owned(),
            branch: "main".parse().unwrap(),
            cause: "c1".to_owned(),
            since: at(0),
            merge: None,
        }),
    ]
}

/// An effect in each state.
fn all_states(action: &Action) -> Vec<Effect> {
    let intent = Effect::new(action.clone(), at(0));
    let started = intent.start(at(0)).unwrap();
    let unknown = started.expire(at(90));
    let done = started.done(at(5));
    let failed = started.failed(&Failure::new(FailureClass::Invalid, "no"), at(5));
    vec![intent, started, unknown, done, failed]
}

fn state(effect: &Effect) -> &'static str {
    match effect.state {
        EffectState::Intent { .. } => "intent",
        EffectState::Started { .. } => "started",
        EffectState::Unknown { .. } => "unknown",
        EffectState::Done { .. } => "done",
        EffectState::Failed { .. } => "failed",
    }
}

fn is_intent(attempt: u32, second: i64) -> EffectState {
    let not_before = at(second);
    EffectState::Intent {
        attempt,
        not_before,
    }
}

fn is_unknown(attempt: u32, second: i64, negatives: u8) -> EffectState {
    EffectState::Unknown {
        attempt,
        look_at: at(second),
        negatives,
    }
}

fn states(step: impl Fn(&Effect) -> Effect) -> Vec<&'static str> {
    all_states(&say())
        .iter()
        .map(|effect| state(&step(effect)))
        .collect()
}

#[test]
fn names_are_stable_and_ignore_what_does_not_make_another_wish() {
    let names: Vec<String> = all_actions().iter().map(ToString::to_string).collect();
    let a = "a".repeat(40);
    assert_eq!(
        names,
        [
            format!("create:{}#2", job()),
            format!("say:{SESSION}:c1"),
            format!("approve:{SESSION}:p1"),
            format!("archive:{SESSION}"),
            format!("merge:acme/shop#7@{a}"),
            format!("ready:acme/shop#7@{a}"),
            format!("update:acme/shop#7@{a}"),
            "comment:acme/shop#7:c1".to_owned(),
            "label:acme/shop#7:ours".to_owned(),
            "close:acme/shop#7".to_owned(),
            format!("unbranch:acme/shop:fix@{a}"),
            format!("propose:{}", job()),
            "issue:proposal:abc123:00".to_owned(),
            format!("put-label:{}:bugs", job()),
            format!("status:{a}:jules/doctor:failed:base"),
            format!("weave:{}:3", job()),
            "unlabel:acme/shop#7:ours".to_owned(),
            "tell:acme/shop#8:c1".to_owned(),
            "close-issue:acme/shop#8".to_owned(),
            "dispatch:acme/shop:deploy.yml:c1".to_owned(),
        ]
    );
    let id = Effect::new(merge(), at(0)).id;
    assert_eq!(id.as_str(), "b434f01eb4fdd30f2fcb1b0ee985705e");
    assert_eq!(Effect::new(merge(), at(999)).id, id);
}

#[test]
fn every_step_from_every_state() {
    let maybe = Failure::new(FailureClass::Network, "reset");
    let never = Failure::new(FailureClass::Invalid, "no");
    let later = Failure::new(FailureClass::Throttled, "slow");
    assert_eq!(
        states(Effect::clone),
        ["intent", "started", "unknown", "done", "failed"]
    );
    assert_eq!(
        states(|e| e.expire(at(89))),
        ["intent", "started", "unknown", "done", "failed"]
    );
    assert_eq!(
        states(|e| e.expire(at(90))),
        ["intent", "unknown", "unknown", "done", "failed"]
    );
    assert_eq!(states(|e| e.done(at(95))), ["done"; 5]);
    assert_eq!(
        states(|e| e.failed(&maybe, at(95))),
        ["unknown", "unknown", "unknown", "done", "failed"]
    );
    assert_eq!(
        states(|e| e.failed(&never, at(95))),
        ["failed", "failed", "failed", "done", "failed"]
    );
    assert_eq!(
        states(|e| e.failed(&later, at(95))),
        ["intent", "intent", "intent", "done", "failed"]
    );
    let happened = states(|e| e.settled(EffectFinding::Happened, at(200)));
    assert_eq!(happened, ["intent", "started", "done", "done", "failed"]);
    let again = states(|e| e.requested_again(at(200)));
    assert_eq!(again, ["intent", "started", "unknown", "done", "intent"]);
}

#[test]
fn only_an_intent_whose_time_has_come_is_started() {
    let effects = all_states(&say());
    let start = |effect: &Effect, second| effect.start(at(second)).map(|effect| effect.state);
    assert_eq!(start(&effects[0], -1), Err(NotStartable::Early(at(0))));
    let started = EffectState::Started {
        attempt: 1,
        until: at(90),
    };
    assert_eq!(start(&effects[0], 0), Ok(started));
    assert_eq!(start(&effects[1], 500), Err(NotStartable::Held(at(90))));
    assert_eq!(
        start(&effects[2], 500),
        Err(NotStartable::Unsettled(at(150)))
    );
    assert_eq!(start(&effects[3], 500), Err(NotStartable::Settled));
    assert_eq!(start(&effects[4], 500), Err(NotStartable::Settled));
}

#[test]
fn whatever_is_not_settled_has_a_due_beyond_the_call() {
    for action in all_actions() {
        for effect in all_states(&action) {
            assert_eq!(effect.due().is_none(), effect.is_settled());
        }
    }
    assert!(START_HOLD > CALL_TIMEOUT);
}

#[test]
fn done_is_final() {
    let done = Effect::new(say(), at(0)).start(at(0)).unwrap().done(at(5));
    assert_eq!(done.done(at(9)), done);
    assert_eq!(done.requested_again(at(9)), done);
    assert_eq!(
        done.failed(&Failure::new(FailureClass::Network, "late"), at(9)),
        done
    );
}

#[test]
fn the_unknown_is_read_no_sooner_than_the_world_can_show_it() {
    let look_at = |action: &Action| {
        let unknown = Effect::new(action.clone(), at(0))
            .start(at(0))
            .unwrap()
            .expire(at(100));
        unknown.due().unwrap().duration_since(at(100)).as_secs()
    };
    let waits: Vec<i64> = all_actions().iter().map(look_at).collect();
    assert_eq!(
        waits,
        [
            180, 60, 60, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10
        ]
    );
}

#[test]
fn two_readings_without_a_trace_allow_the_next_attempt() {
    let unknown = Effect::new(say(), at(0))
        .start(at(0))
        .unwrap()
        .expire(at(90));
    let unread = unknown.settled(EffectFinding::CannotTell, at(150));
    assert_eq!(unread.state, is_unknown(1, 210, 0));
    let once = unread.settled(EffectFinding::NoTrace, at(210));
    assert_eq!(once.state, is_unknown(1, 270, 1));
    let blind = once.settled(EffectFinding::CannotTell, at(270));
    let twice = blind.settled(EffectFinding::NoTrace, at(330));
    assert_eq!(twice.state, is_intent(2, 330));
}

#[test]
fn what_leaves_no_trace_is_given_up_in_the_end() {
    let (mut effect, mut now, mut attempts) = (Effect::new(say(), at(0)), at(0), 0);
    while let Ok(started) = effect.start(now) {
        attempts += 1;
        effect = started.expire(plus(now, START_HOLD));
        while state(&effect) == "unknown" {
            now = effect.due().unwrap();
            effect = effect.settled(EffectFinding::NoTrace, now);
        }
    }
    assert_eq!((attempts, state(&effect)), (ATTEMPTS_MAX, "failed"));
    // Nothing says that Jules would refuse the message.
    assert_eq!(state(&effect.requested_again(now)), "intent");
}

#[test]
fn a_message_that_jules_may_take_later_may_be_asked_for_without_end() {
    for class in [
        FailureClass::Unauthorized,
        FailureClass::Throttled,
        FailureClass::Network,
        FailureClass::Unavailable,
    ] {
        let failure = Failure::new(class, "later").never_sent();
        for action in [say(), approve()] {
            let mut effect = Effect::new(action, at(0));
            for attempt in 1..30 {
                assert_eq!((state(&effect), effect.attempt()), ("intent", attempt));
                let now = effect.due().unwrap();
                let tried = effect.start(now).unwrap().failed(&failure, now);
                let is_over = state(&tried) == "failed";
                assert_eq!(is_over, attempt >= ATTEMPTS_MAX, "{class:?} {attempt}");
                effect = tried.requested_again(now);
                let waits = effect.due().unwrap().duration_since(now);
                assert_eq!(waits, backoff(attempt), "{class:?} {attempt}");
            }
        }
    }
    let refused = Failure::new(FailureClass::Forbidden, "no");
    for (action, failure) in [
        (say(), refused.clone()),
        (approve(), refused),
        (archive(), Failure::new(FailureClass::Throttled, "slow")),
    ] {
        let state = EffectState::Failed {
            at: at(0),
            attempt: ATTEMPTS_MAX,
            failure,
        };
        let effect = Effect::new(action, at(0)).with(state);
        assert_eq!(effect.requested_again(at(9)), effect);
    }
}

/// Fails again and again; answers how often and over how many seconds.
fn exhaust(action: &Action, failure: &Failure) -> (u32, i64) {
    let (mut effect, mut now, mut attempts) = (Effect::new(action.clone(), at(0)), at(0), 0);
    while let Ok(started) = effect.start(now) {
        attempts += 1;
        effect = started.failed(failure, now);
        now = effect.due().unwrap_or(now);
    }
    assert_eq!(state(&effect), "failed");
    (attempts, now.duration_since(at(0)).as_secs())
}

#[test]
fn certain_failures_are_retried_only_where_that_can_help() {
    for action in all_actions() {
        let once = |class| exhaust(&action, &Failure::new(class, "no").never_sent()).0;
        for class in [
            FailureClass::Precondition,
            FailureClass::Conflict,
            FailureClass::Invalid,
            FailureClass::Forbidden,
        ] {
            assert_eq!(once(class), 1, "{action} {class:?}");
        }
        for class in [
            FailureClass::Throttled,
            FailureClass::Unavailable,
            FailureClass::Network,
            FailureClass::Garbled,
            FailureClass::Unauthorized,
        ] {
            assert_eq!(once(class), ATTEMPTS_MAX, "{action} {class:?}");
        }
    }
    let (_, seconds) = exhaust(&say(), &Failure::new(FailureClass::Throttled, "slow"));
    assert!((1_500..3_600).contains(&seconds), "{seconds}");
}

#[test]
fn messages_to_a_session_that_is_still_queued_are_tried_for_more_than_an_hour() {
    let not_found = Failure::new(FailureClass::NotFound, "404");
    for action in all_actions() {
        let (attempts, seconds) = exhaust(&action, &not_found);
        match action {
            Action::Jules(JulesAction::Say { .. })
            | Action::Jules(JulesAction::ApprovePlan { .. }) => {
                assert!(seconds > 3_600, "{action}: {seconds}");
            }
            Action::Jules(JulesAction::CreateSession { .. } | JulesAction::Archive { .. })
            | Action::Pull(_)
            | Action::Repo(_)
            | Action::Tracker(_) => assert_eq!(attempts, 1, "{action}"),
        }
    }
}

#[test]
fn only_a_write_to_github_that_waits_for_its_turn_is_postponed() {
    let wait = Some(SignedDuration::from_secs(1));
    let paced = Failure::new(FailureClass::Throttled, "slow").after(wait);
    let unasked = Failure::new(FailureClass::Throttled, "slow");
    let refused = Failure::new(FailureClass::Conflict, "no").after(wait);
    for (action, failure, until) in [
        (merge(), &paced, Some(at(11))),
        (merge(), &unasked, None),
        (merge(), &refused, None),
        (say(), &paced, None),
    ] {
        let state = EffectState::Failed {
            at: at(10),
            attempt: 0,
            failure: failure.clone(),
        };
        let effect = Effect::new(action, at(0)).with(state);
        assert_eq!(effect.postponed_to(), until, "{effect:?}");
    }
}

#[test]
fn waits_that_are_asked_for_are_kept_within_a_day() {
    let wait = |asked| {
        let failure = Failure::new(FailureClass::Throttled, "slow").after(Some(asked));
        let effect = Effect::new(say(), at(0))
            .start(at(0))
            .unwrap()
            .failed(&failure, at(0));
        effect.due().unwrap().duration_since(at(0))
    };
    assert_eq!(
        wait(SignedDuration::from_mins(40)),
        SignedDuration::from_mins(40)
    );
    assert_eq!(wait(SignedDuration::MAX), RETRY_AFTER_MAX);
    assert_eq!(wait(SignedDuration::MIN), SignedDuration::ZERO);
}

#[test]
fn a_failed_wish_may_be_wished_again_with_the_next_number() {
    let fail = |action: &Action, times: u32| {
        let never = Failure::new(FailureClass::Invalid, "no");
        let mut effect = Effect::new(action.clone(), at(0));
        for _ in 0..times {
            effect = effect.requested_again(at(0));
            let now = effect.due().unwrap_or(at(0));
            effect = effect
                .start(now)
                .map_or(effect.clone(), |e| e.failed(&never, now));
        }
        effect
    };
    let again = fail(&say(), 1).requested_again(at(0));
    assert_eq!(again.state, is_intent(2, 5));
    let used_up = fail(&say(), 50);
    assert_eq!(
        (used_up.attempt(), state(&used_up.requested_again(at(0)))),
        (ATTEMPTS_MAX, "failed")
    );
    // Jobs count refusals and pull requests refused merges themselves.
    for action in [
        Action::Jules(JulesAction::CreateSession {
            job: job(),
            attempt: 1,
        }),
        merge(),
    ] {
        let again = fail(&action, 50).requested_again(at(7));
        assert_eq!(again.state, is_intent(51, 7));
    }
}

#[test]
fn waits_double_up_to_a_longest() {
    let seconds: Vec<i64> = (0..10).map(|attempt| backoff(attempt).as_secs()).collect();
    assert_eq!(seconds, [5, 5, 10, 20, 40, 80, 160, 320, 600, 600]);
    assert_eq!(backoff(u32::MAX), SignedDuration::from_mins(10));
}

#[test]
fn after_a_gap_only_the_world_tells_what_became_of_whatever_was_not_over() {
    let gap = RestoreGap {
        from: at(1_000),
        until: at(5_000),
    };
    let doubt = |now| {
        let doubted = all_states(&say())
            .iter()
            .map(|effect| effect.after_restore(&gap, at(now)).state)
            .collect::<Vec<_>>();
        assert!(matches!(doubted[3], EffectState::Done { .. }));
        assert!(matches!(doubted[4], EffectState::Failed { .. }));
        doubted[..3].to_vec()
    };
    // A message shows after a minute; the attempt of an intent is still to come.
    for (now, look_at, negatives) in [(5_000, 5_060, 0), (5_119, 5_119, 0), (5_120, 5_120, 1)] {
        let expected = [0, 1, 1].map(|attempt| is_unknown(attempt, look_at, negatives));
        assert_eq!(doubt(now), expected, "at {now}");
    }
    let wished_later = Effect::new(say(), at(6_000)).after_restore(&gap, at(6_000));
    assert_eq!(wished_later.created_at, at(1_000));
    let begun = wished_later.settled(EffectFinding::NoTrace, at(6_000));
    assert_eq!(begun.state, is_intent(1, 6_000));
}

/// The first words of the actions of which this holds.
fn words_of(holds: impl Fn(&Action) -> bool) -> Vec<String> {
    let found = all_actions().into_iter().filter(|action| holds(action));
    let word = |action: Action| action.to_string().split(':').next().map(str::to_owned);
    found.filter_map(word).collect()
}

#[test]
fn what_names_a_head_or_sets_what_is_set_cannot_double() {
    assert_eq!(
        words_of(Action::may_double),
        ["create", "say", "approve", "comment", "dispatch"]
    );
}

#[test]
fn what_names_a_commit_goes_to_no_other_repository() {
    assert_eq!(
        words_of(Action::names_by_number),
        [
            "comment",
            "label",
            "close",
            "issue",
            "put-label",
            "unlabel",
            "tell",
            "close-issue",
            "dispatch"
        ]
    );
}

#[test]
fn a_label_goes_on_and_off_once_for_each_weave() {
    let actions = |weave| {
        let pull = || "Acme/Shop#7".parse().unwrap();
        let label = || "conflict".to_owned();
        let on = Action::Pull(PullAction::Label {
            pull: pull(),
            label: label(),
            weave,
        });
        let off = RepoAction::Unlabel {
            pull: pull(),
            label: label(),
            weave,
        };
        [on, Action::Repo(off)].map(|action| action.to_string())
    };
    let [on, off] = actions(Some(1));
    assert_eq!(on, "label:acme/shop#7:conflict@1");
    assert_eq!(off, "unlabel:acme/shop#7:conflict@1");
    assert_eq!(actions(None)[0], "label:acme/shop#7:conflict");
}
