//! Failures, retries, and what people do by hand.

use super::*;
use crate::ids::AgentName;
use crate::pull::MergeStyle;
use crate::when::plus;

fn closed_pull() -> PullGlimpse {
    PullGlimpse {
        end: Some(PullEnd::Closed {
            by: Some("eve".to_owned()),
        }),
        ..pull('a', Checks::Passed)
    }
}

pub(super) fn fault(world: &World) -> Fault {
    world.delivery.error.as_ref().unwrap().code
}

#[test]
fn a_session_without_a_result_fails_after_a_while() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    world.sees(planned("p1"), None);
    let resting = world.resting();
    assert_eq!(world.sees(resting, None), "implement/running");
    let due = due(&world.delivery, at(world.second)).unwrap();
    assert!(due < at(world.second + 301));
    let why = world.why();
    let said = format!("ended without a pull request: the phase fails at {due} unless one");
    assert!(why.sentence.contains(&said), "{}", why.sentence);
    assert_eq!(world.waits(None), (WaitParty::Jules, WaitReason::Result));
    assert_eq!(result_due(&world.delivery), Some(due));
    world.second = due.duration_since(at(0)).as_secs() - 2;
    assert_eq!(world.time_passes(), "implement/running");
    assert_eq!(world.time_passes(), "implement/failed");
    assert_eq!(fault(&world), Fault::NoPullRequest);
    // The session is there still: it is asked to go on, and costs no other task.
    assert_eq!(
        world.kim(Act::Retry {
            reason: Some("Open it".to_owned())
        }),
        "implement/running"
    );
    assert_eq!((world.delivery.attempt, world.delivery.task.round), (1, 1));
    world.second += 900;
    let before = SessionWork::Resting(Some(at(100)));
    assert_eq!(world.sees(before, None), "implement/running");
    world.says("has yet to take up what it is told");
    world.rests();
    // What is not read yet may be a result.
    assert_eq!(result_due(&world.delivery), None);
    assert_eq!(world.reads(pull('a', Checks::Passed)), "review/running");
}

#[test]
fn a_round_without_anything_new_fails() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    world.zai(verdict(Verdict::NotPass, 'a'));
    world.sees(SessionWork::Working, Some(pull_ref()));
    world.rests();
    world.second += 300;
    assert_eq!(world.time_passes(), "implement/failed");
    assert_eq!(fault(&world), Fault::NoNewCommit);
}

/// The job of its present attempt is seen to have ended, with a session or before there was one.
fn ends(world: &mut World, end: JobEnd, has_session: bool) -> String {
    let mut sight = job_sight(&world.delivery, SessionWork::Ended(end), None);
    sight.session = has_session.then(session);
    world.shows(sight)
}

#[test]
fn an_ended_session_is_followed_by_another() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let job = world.delivery.task.job.clone();
    let eve = || JobEnd::Canceled("eve".to_owned());
    let refused = || JobEnd::Refused("no quota".to_owned());
    for (end, has_session, is_last) in [
        (JobEnd::Failed("no disk".to_owned()), true, false),
        // What got no session is no attempt that the source would count.
        (refused(), false, false),
        (eve(), false, false),
        (JobEnd::Lost, true, false),
        (eve(), true, true),
    ] {
        assert_eq!(ends(&mut world, end, has_session), "plan/failed");
        let allowed = world.orders(zai(), RETRY);
        if is_last {
            assert_eq!(allowed, Err("attempts_used_up"));
        } else {
            assert_eq!(allowed, Ok("plan/running".to_owned()));
            assert_eq!(world.delivery.task.job, job);
        }
    }
    // A person may ask for more.
    assert_eq!(world.kim(RETRY), "plan/running");
    assert_eq!(world.delivery.task.job, job);
    assert_eq!(
        (world.delivery.attempt, world.delivery.task.attempt),
        (6, 6)
    );
}

#[test]
fn what_gets_no_session_again_and_again_is_for_a_person() {
    let mut world = World::new(Rules {
        attempts: 1,
        ..rules(&[], "verify", ReviewBy::Agent)
    });
    for attempt in 1..=5 {
        let refused = JobEnd::Refused("no quota".to_owned());
        assert_eq!(ends(&mut world, refused, false), "plan/failed");
        let input = command(&format!("z{attempt}"), zai(), RETRY);
        let allowed = world.take(&input).map_err(|refused| refused.sentence);
        match allowed {
            Ok(place) => assert_eq!((place.as_str(), attempt < 5), ("plan/running", true)),
            Err(sentence) => {
                assert_eq!(attempt, 5, "{sentence}");
                assert!(sentence.contains("no session in 5 attempts"), "{sentence}");
            }
        }
    }
    assert_eq!(world.kim(RETRY), "plan/running");
}

#[test]
fn a_failure_waits_for_the_agent_that_was_woken_while_it_may_try_again() {
    let agent: AgentName = "zai".parse().unwrap();
    let who = |world: &World, woken| {
        let told = waits(&world.delivery, None, woken);
        assert_eq!(told.what, WaitReason::Failure);
        told.who
    };
    let audiences = |world: &World| audiences(&world.delivery, &Sight::default());
    let mut world = World::new(Rules {
        attempts: 1,
        ..rules(&[], "verify", ReviewBy::Agent)
    });
    world.sees(planned("p1"), None);
    let resting = world.resting();
    world.sees(resting, None);
    let mut called_off = world.clone();
    let mut lost = world.clone();
    world.second += 300;
    assert_eq!(world.time_passes(), "implement/failed");
    assert_eq!(who(&world, Some(&agent)), WaitParty::Agent);
    assert_eq!(who(&world, None), WaitParty::Person);
    assert_eq!(audiences(&world), [Audience::Agent]);
    let told = open_events(&world.delivery);
    // Its only attempt is used up.
    lost.sees(SessionWork::Ended(JobEnd::Lost), None);
    assert_eq!(who(&lost, Some(&agent)), WaitParty::Person);
    assert_eq!(audiences(&lost), [Audience::Human]);
    // So is that of what failed before its session was gone.
    world.sees(SessionWork::Ended(JobEnd::Lost), None);
    assert_eq!(audiences(&world), [Audience::Human]);
    assert_ne!(open_events(&world.delivery), told, "it is another event");
    called_off.kim(Act::Cancel);
    assert_eq!(who(&called_off, Some(&agent)), WaitParty::Person);
    assert!(audiences(&called_off).is_empty());
    let mut reviewed = World::in_review(Rules {
        review_rounds: 0,
        ..rules(&[], "verify", ReviewBy::Human)
    });
    assert_eq!(
        reviewed.kim(verdict(Verdict::NotPass, 'a')),
        "review/failed"
    );
    assert_eq!(who(&reviewed, Some(&agent)), WaitParty::Person);
    assert_eq!(audiences(&reviewed), [Audience::Human]);
}

#[test]
fn what_was_called_off_is_begun_anew() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let unseen = world.delivery.task.job.clone();
    world.kim(Act::Cancel);
    assert_eq!(world.delivery.runs[0].status, RunResult::Failed);
    world.kim(RETRY);
    assert_ne!(world.delivery.task.job, unseen);
    let mut reviewed = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    reviewed.kim(Act::Cancel);
    assert_eq!(place(&reviewed.delivery), "review/failed");
    // Its session and its pull request are kept, and nothing is merged meanwhile.
    assert!(gate(&reviewed.delivery, &sha('a')).is_some());
    assert_eq!(reviewed.kim(RETRY), "review/running");
    assert_eq!(reviewed.delivery.task.attempt, 1);
}

#[test]
fn a_pull_request_merged_by_hand_goes_on_to_the_endpoint_from_everywhere() {
    for (endpoint, last) in [
        ("verify", "verify/succeeded by person eve"),
        ("review", "implement/running by person kim"),
    ] {
        let mut world = World::new(rules(
            &[Phase::Plan, Phase::Implement],
            endpoint,
            ReviewBy::Agent,
        ));
        world.kim(Act::Start);
        world.sees(planned("p1"), None);
        world.kim(Act::APPROVE);
        world.sees(SessionWork::Working, Some(pull_ref()));
        assert_eq!(world.reads(merged(Some("eve"))), "close/succeeded");
        let history = world.history();
        assert_eq!(history[history.len() - 2], last);
        let by = if endpoint == "verify" {
            "system"
        } else {
            "person eve"
        };
        assert_eq!(history.last().unwrap(), &format!("close/succeeded by {by}"));
    }
}

#[test]
fn a_review_that_a_merge_by_hand_overtakes_came_to_no_good_end() {
    for endpoint in ["verify", "review"] {
        let mut world = World::in_review(rules(&[], endpoint, ReviewBy::Human));
        assert_eq!(world.reads(merged(Some("eve"))), "close/succeeded");
        let run = world.delivery.runs.last().unwrap();
        assert_eq!((run.mode, run.verdict), (Mode::Review, None));
        assert_eq!(run.status, RunResult::Failed);
        let error = run.error.as_deref();
        assert_eq!(error, Some("a pull request was merged before it ended"));
    }
    let mut verifying = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    verifying.reads(pull('a', Checks::Running));
    assert_eq!(verifying.reads(merged(None)), "close/succeeded");
    let run = verifying.delivery.runs.last().unwrap();
    assert_eq!((run.mode, run.status), (Mode::Verify, RunResult::Success));
}

#[test]
fn a_pull_request_closed_by_hand_fails_its_phase_and_is_made_anew() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    assert_eq!(world.reads(closed_pull()), "review/failed");
    assert_eq!(fault(&world), Fault::PullClosed);
    assert_eq!(
        world.history().last().unwrap(),
        "review/failed by person eve"
    );
    assert_eq!(world.kim(RETRY), "implement/running");
    // What is read of the closed one says nothing about the next attempt.
    assert_eq!(world.reads(closed_pull()), "implement/running");
    let newer: PullRef = "acme/shop#32".parse().unwrap();
    let resting = world.resting();
    world.sees(resting, Some(newer.clone()));
    let glimpse = PullGlimpse {
        pull: newer,
        ..pull('b', Checks::Passed)
    };
    assert_eq!(world.reads(glimpse), "review/running");
    assert_eq!(world.delivery.task.earlier_pull, Some(pull_ref()));
}

#[test]
fn a_pull_request_that_may_be_reopened_is_neither_judged_nor_merged() {
    let just_closed = PullGlimpse {
        closed_at: Some(at(1)),
        ..pull('a', Checks::Passed)
    };
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    assert_eq!(world.reads(just_closed.clone()), "review/running");
    let pass = || verdict(Verdict::Pass, 'a');
    assert_eq!(world.orders(zai(), pass()), Err("pull_closed"));
    world.reads(pull('a', Checks::Passed));
    assert_eq!(world.orders(zai(), pass()), Ok("verify/pending".to_owned()));
    world.reads(just_closed.clone());
    let merge = Act::Merge {
        head: None,
        style: MergeStyle::default(),
    };
    assert_eq!(world.orders(kim(), merge), Err("pull_closed"));

    let mut made = World::new(rules(&[Phase::Implement], "verify", ReviewBy::Agent));
    made.sees(planned("p1"), None);
    made.rests();
    let shown = made.reads(pull('a', Checks::Passed));
    assert_eq!(shown, "implement/succeeded");
    made.reads(just_closed);
    let approve = || Act::APPROVE;
    assert_eq!(made.orders(kim(), approve()), Err("pull_closed"));
    made.reads(pull('a', Checks::Passed));
    let taken = made.orders(kim(), approve());
    assert_eq!(taken, Ok("review/running".to_owned()));
}

#[test]
fn no_reviewer_is_asked_about_a_pull_request_that_may_be_reopened() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    let moved = PullGlimpse {
        closed_at: Some(at(1)),
        ..pull('b', Checks::Passed)
    };
    world.reads(moved);
    let asked = |world: &World| world.delivery.review.asked.clone().map(|it| it.head);
    assert_ne!(asked(&world), Some(sha('b')));
    world.reads(pull('b', Checks::Passed));
    assert_eq!(asked(&world), Some(sha('b')));
}

#[test]
fn a_closed_issue_closes_its_delivery_once_its_pull_request_was_read() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    let closed = || IssueState::Closed(Some("eve".to_owned()));
    let early = issue_read(10, closed());
    assert_eq!(world.take(&early).unwrap(), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::IssueClosed));

    let mut open = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    assert_eq!(
        open.take(&issue_read(100, closed())).unwrap(),
        "review/running"
    );
    let reasons: Vec<&str> = reasons(&open.delivery, None)
        .iter()
        .map(|it| it.code)
        .collect();
    assert_eq!(reasons, ["reviewing", "issue_closed"]);
    // Read before the issue was.
    assert_eq!(open.reads(pull('a', Checks::Passed)), "review/running");
    open.second = 200;
    assert_eq!(open.reads(pull('a', Checks::Passed)), "close/succeeded");
    assert_eq!(
        open.history().last().unwrap(),
        "close/succeeded by person eve"
    );

    let mut merging = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    merging.take(&issue_read(100, closed())).unwrap();
    merging.second = 200;
    merging.reads(merged(Some("eve")));
    assert_eq!(merging.delivery.closed, Some(Closed::Finished));
}

/// A merge closes the issue too, and the pull request may be known to the session only.
#[test]
fn a_closed_issue_closes_its_delivery_once_its_session_was_read() {
    let closed = || issue_read(100, IssueState::Closed(Some("eve".to_owned())));
    let begun = || {
        let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
        world.sees(SessionWork::Working, None);
        assert_eq!(world.take(&closed()).unwrap(), "plan/running");
        world
    };
    let mut world = begun();
    let sight = Sight {
        job: world.delivery.seen.job.clone(),
        ..Sight::default()
    };
    let job = world.delivery.task.job.clone().unwrap();
    assert!(wants(&world.delivery, &sight).contains(&Want::ReadSession { job }));
    // A poll, and what was read before.
    assert_eq!(world.sees(SessionWork::Working, None), "plan/running");
    assert_eq!(world.reads_session(99), "plan/running");
    assert_eq!(world.reads_session(100), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::IssueClosed));

    let mut linked = begun();
    assert_eq!(
        linked.sees(SessionWork::Working, Some(pull_ref())),
        "plan/running"
    );
    linked.second = 200;
    linked.reads(merged(Some("eve")));
    assert_eq!(linked.delivery.closed, Some(Closed::Finished));
}

/// X1: what cannot be read closes nothing.
#[test]
fn an_issue_that_cannot_be_read_closes_nothing() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let gone = issue_read(10, IssueState::Unreadable("404".to_owned()));
    assert_eq!(world.take(&gone).unwrap(), "plan/running");
    assert_eq!(reasons(&world.delivery, None)[1].code, "issue_unreadable");
    assert_eq!(
        world.take(&issue_read(20, IssueState::Open)).unwrap(),
        "plan/running"
    );
    assert_eq!(world.delivery.trouble, None);
}

#[test]
fn a_reopened_issue_is_as_if_it_had_never_been_closed() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    world
        .take(&issue_read(100, IssueState::Closed(None)))
        .unwrap();
    world.take(&issue_read(150, IssueState::Open)).unwrap();
    world.second = 200;
    assert_eq!(world.reads(pull('a', Checks::Passed)), "review/running");
}

#[test]
fn what_has_no_issue_can_be_given_up() {
    let own = rules(&[Phase::Plan], "verify", ReviewBy::Nobody);
    let mut issue = World::new(own.clone());
    assert_eq!(issue.orders(kim(), Act::Cancel), Err("not_running"));
    // An issue that is gone cannot be closed.
    let gone = IssueState::Unreadable("it was deleted".to_owned());
    issue.take(&issue_read(100, gone)).unwrap();
    assert_eq!(issue.kim(Act::Cancel), "close/succeeded");
    let mut world = World::new(own.clone());
    world.delivery.issue = None;
    assert_eq!(world.kim(Act::Cancel), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::Abandoned));
    // A part is given up without the rest.
    let mut part = World::new(own.clone());
    part.delivery.issue = None;
    part.delivery.parent = Some(DeliveryId::of_issue(&new_delivery().repo, 1));
    assert_eq!(part.kim(Act::Cancel), "close/succeeded");
    // An agent gives up no more than it may start.
    let mut waiting = World::new(own.clone());
    waiting.delivery.issue = None;
    assert_eq!(waiting.orders(zai(), Act::Cancel), Err("people_only"));
    // What is under way fails first, and may be tried again.
    let mut world = World::new(own);
    world.delivery.issue = None;
    world.kim(Act::Start);
    assert_eq!(world.kim(Act::Cancel), "plan/failed");
    assert_eq!(world.kim(Act::Cancel), "close/succeeded");
}

#[test]
fn a_pull_request_that_was_closed_a_moment_ago_is_the_decisive_reason() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    let closed = PullGlimpse {
        closed_at: Some(at(1)),
        ..pull('a', Checks::Passed)
    };
    assert_eq!(world.reads(closed), "review/running");
    let told = waits(&world.delivery, None, None);
    let wanted = (WaitReason::Reopening, Some(at(1)));
    assert_eq!((told.what, told.since), wanted, "since it was closed");
    let why = world.why();
    assert_eq!(why.code, "pull_request_closed");
    assert!(
        why.sentence.contains("within 10 minutes"),
        "{}",
        why.sentence
    );
    world.reads(pull('a', Checks::Passed));
    assert_eq!(world.why().code, "reviewing");
    world.reads(closed_pull());
    assert_eq!(world.why().code, "pull_closed");
}

#[test]
fn nothing_speaks_of_a_session_that_is_not_there() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    // Its job may be ahead of what was seen of it.
    let work = WaitsFor::new(WaitParty::Jules, WaitReason::Work, at(1));
    let waits_for = |world: &World| waits(&world.delivery, Some(work.clone()), None).what;
    let yet = "Its session has yet to be created.";
    assert_eq!(world.why().sentence, yet);
    world.sees(SessionWork::Waiting, None);
    assert_eq!(world.why().sentence, yet);
    assert_eq!(waits_for(&world), WaitReason::Session);
    world.sees(SessionWork::Working, None);
    assert_eq!(world.why().sentence, "Its session makes a plan.");
    assert_eq!(waits_for(&world), WaitReason::Work);
}

/// What was decided is asked for no longer, whatever became of the wake.
#[test]
fn the_events_of_a_delivery_are_open_while_it_asks() {
    let own = rules(&[Phase::Plan], "verify", ReviewBy::Agent);
    let mut world = World::new(own);
    let start = open_events(&world.delivery);
    assert_eq!(start.len(), 1);
    world.kim(Act::Start);
    assert_eq!(open_events(&world.delivery), []);
    world.sees(planned("p1"), None);
    let checkpoint = open_events(&world.delivery);
    assert_eq!(checkpoint.len(), 1);
    assert_ne!(checkpoint, start);
    world.kim(Act::APPROVE);
    assert_eq!(open_events(&world.delivery), []);
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    assert_eq!(open_events(&world.delivery).len(), 1);
    world.kim(verdict(Verdict::Pass, 'a'));
    assert_eq!(open_events(&world.delivery), []);
}

/// A deploy that cannot succeed must not hold a merged delivery for ever.
#[test]
fn what_is_merged_and_cannot_be_deployed_can_be_ended() {
    let mut world = World::deploying("workflow:none.yml@main");
    let bad = ProviderReport::Bad("404".to_owned());
    assert_eq!(world.deploys(bad), "deploy/failed");
    let closed = issue_read(100, IssueState::Closed(None));
    assert_eq!(world.take(&closed).unwrap(), "deploy/failed");
    world.says("cancel");
    assert_eq!(world.kim(Act::Cancel), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::MergedOnly));
    // Its issue is done, and for what it is a part of so is the part.
    let closes = |want: &Want| matches!(want, Want::CloseIssue { .. });
    let sight = Sight {
        issue_open: true,
        ..Sight::default()
    };
    assert!(wants(&world.delivery, &sight).iter().any(closes));
    assert_eq!(ChildState::of(&world.delivery), ChildState::Closed);
}

#[test]
fn a_retried_deploy_awaits_another_deployment() {
    let mut world = World::deploying("deployment:production");
    let first = "A deployment to `production` is awaited. The phase fails at ";
    let why = world.why().sentence;
    assert!(why.starts_with(first), "{why}");
    assert_eq!(deploy_failed_at(&world.delivery), None);
    assert_eq!(deploying_again_since(&world.delivery), None);
    // A person who cancels says nothing of a deployment.
    assert_eq!(world.kim(Act::Cancel), "deploy/failed");
    assert_eq!(world.kim(RETRY), "deploy/pending");
    assert_eq!(deploy_failed_at(&world.delivery), None);
    let bad = ProviderReport::Bad("deployment 1 ended as `failure`".to_owned());
    assert_eq!(world.deploys(bad), "deploy/failed");
    let failed = world.delivery.phase_runs.last().unwrap().started_at;
    assert_eq!(world.kim(RETRY), "deploy/pending");
    assert_eq!(deploy_failed_at(&world.delivery), Some(failed));
    let again = world.delivery.phase_runs.last().unwrap().started_at;
    assert_eq!(deploying_again_since(&world.delivery), Some(again));
    let why = world.why().sentence;
    assert!(
        why.starts_with("Another deployment to `production`"),
        "{why}"
    );
}

#[test]
fn a_deployment_whose_end_is_never_reported_fails_in_time() {
    for report in [ProviderReport::Nothing, ProviderReport::Running] {
        let mut world = World::deploying("deployment:production");
        let by = plus(deploying_since(&world.delivery), DEPLOYED_WITHIN);
        world.says(&by.to_string());
        let report = DeliveryInput::Provider(Phase::Deploy, report);
        world.second = by.as_second() - at(0).as_second() - 2;
        let open = world.take(&report).unwrap();
        assert_ne!(open, "deploy/failed", "there is a second left");
        // What was not read yet may be its end.
        assert_eq!(world.time_passes(), open);
        assert_eq!(world.take(&report).unwrap(), "deploy/failed");
        let run = world.delivery.runs.last().unwrap();
        assert_eq!(run.status, RunResult::Failed);
        let told = world.why();
        assert_eq!(told.code, "deploy_failed");
        let late = "no end of its deployment was reported within 24 hours";
        assert!(told.sentence.contains(late), "{}", told.sentence);
        let is_told = |want: &Want| matches!(want, Want::TellFailed { .. });
        let wanted = wants(&world.delivery, &Sight::default());
        assert!(wanted.iter().any(is_told), "{wanted:?}");
        // A retry has its own time.
        assert_eq!(world.kim(RETRY), "deploy/pending");
        assert_ne!(world.take(&report).unwrap(), "deploy/failed");
    }
}

/// A repository that is gone for good would hold it up without end.
#[test]
fn an_observation_that_cannot_be_read_fails_in_time() {
    let mut world = World::in_review(Rules {
        observe: "soak:30m".parse().unwrap(),
        ..rules(&[], "observe", ReviewBy::Nobody)
    });
    assert_eq!(world.reads(merged(None)), "observe/running");
    let says = |report| DeliveryInput::Provider(Phase::Observe, report);
    let nothing = says(ProviderReport::Nothing);
    assert_eq!(world.take(&nothing).unwrap(), "observe/running");
    world.second += 30 * 60 + DEPLOYED_WITHIN.as_secs() - 3;
    assert_eq!(world.take(&nothing).unwrap(), "observe/running");
    // Checks that run are read.
    let running = says(ProviderReport::Running);
    assert_eq!(world.take(&running).unwrap(), "observe/running");
    assert_eq!(world.take(&nothing).unwrap(), "observe/failed");
    let why = world.why();
    assert_eq!(why.code, "observe_failed");
    assert!(why.sentence.contains("24 hours"), "{}", why.sentence);
}

/// Whatever holds the start of a workflow back takes none of the time that its run has.
#[test]
fn a_workflow_that_was_not_started_is_not_late() {
    let awaits = || World::deploying("workflow:deploy.yml@main");
    let fails_at = |world: &World| {
        let why = world.why().sentence;
        let (_, at) = why.split_once("fails at ")?;
        at.split(' ').next()?.parse::<Timestamp>().ok()
    };
    let says = |report| DeliveryInput::Provider(Phase::Deploy, report);
    let nothing = says(ProviderReport::Nothing);
    let held = 2 * DEPLOYED_WITHIN.as_secs();

    let mut world = awaits();
    world.second += held;
    assert_eq!(world.take(&nothing).unwrap(), "deploy/pending");
    assert_eq!(fails_at(&world), None);
    let started = DeliveryInput::Dispatched(at(world.second));
    let by = plus(at(world.second), DEPLOYED_WITHIN);
    assert_eq!(world.take(&started).unwrap(), "deploy/pending");
    assert_eq!(fails_at(&world), Some(by));
    world.second += DEPLOYED_WITHIN.as_secs() - 3;
    assert_eq!(world.take(&nothing).unwrap(), "deploy/pending");
    assert_eq!(world.take(&nothing).unwrap(), "deploy/failed");
    // A retry waits for a start of its own.
    assert_eq!(world.kim(RETRY), "deploy/pending");
    world.second += held;
    assert_eq!(world.take(&nothing).unwrap(), "deploy/pending");
    assert_eq!(fails_at(&world), None);

    // A person started a run in the meantime.
    let (mut world, running) = (awaits(), says(ProviderReport::Running));
    world.second += held;
    assert_eq!(world.take(&running).unwrap(), "deploy/running");
    let by = plus(at(world.second), DEPLOYED_WITHIN);
    assert_eq!(fails_at(&world), Some(by));
    world.second += DEPLOYED_WITHIN.as_secs() - 2;
    assert_eq!(world.take(&running).unwrap(), "deploy/running");
    assert_eq!(world.take(&running).unwrap(), "deploy/failed");
}

/// A repository that took the name may keep it for ever. A pause ends the time, and a retry begins another one.
#[test]
fn a_workflow_that_another_repository_holds_back_fails_in_time() {
    let mut world = World::deploying("workflow:deploy.yml@main");
    let nothing = DeliveryInput::Provider(Phase::Deploy, ProviderReport::Nothing);
    let (held, free) = (
        DeliveryInput::StartHeld(true),
        DeliveryInput::StartHeld(false),
    );
    let long = DEPLOYED_WITHIN.as_secs();
    for _ in 0..2 {
        world.take(&held).unwrap();
        world.second += long;
        // It is paused, or the name leads to the right one again.
        world.take(&free).unwrap();
        assert_eq!(world.take(&nothing).unwrap(), "deploy/pending");
        assert!(!world.why().sentence.contains("fails at"));
        world.take(&held).unwrap();
        let by = plus(at(world.second), DEPLOYED_WITHIN).to_string();
        world.second += long - 3;
        world.take(&held).unwrap();
        world.says(&by);
        assert_eq!(world.take(&nothing).unwrap(), "deploy/pending");
        assert_eq!(world.take(&nothing).unwrap(), "deploy/failed");
        let late = "could not be started within 24 hours";
        world.says(late);
        assert_eq!(world.kim(RETRY), "deploy/pending");
        assert!(!world.why().sentence.contains("fails at"));
    }
    // What is started has its own time.
    world.take(&held).unwrap();
    world.second += long - 3;
    let started = DeliveryInput::Dispatched(at(world.second));
    world.take(&started).unwrap();
    world.second += 10;
    assert_eq!(world.take(&nothing).unwrap(), "deploy/pending");
    world.second += long;
    assert_eq!(world.take(&nothing).unwrap(), "deploy/failed");
    world.says("no end of its deployment was reported");
}

#[test]
fn a_job_that_ended_is_waited_for_by_nobody_and_its_delivery_is() {
    let mut world = World::in_review(rules(&[Phase::Plan], "verify", ReviewBy::Nobody));
    let ended = WaitsFor::new(WaitParty::Nobody, WaitReason::Ended, at(1));
    let plan = WaitsFor::new(WaitParty::Person, WaitReason::Plan, at(1));
    let work = WaitsFor::new(WaitParty::Jules, WaitReason::Work, at(1));
    let told = |world: &World, of_job: &WaitsFor| world.waits(Some(of_job.clone()));
    world.delivery.phase = Phase::Implement;
    world.delivery.run_status = RunStatus::Running;
    let delivery = WaitsFor::new(WaitParty::Gaffer, WaitReason::Delivery, at(1));
    let own = (WaitParty::Gaffer, WaitReason::Reading);
    assert_eq!(told(&world, &ended), own);
    assert_eq!(told(&world, &plan), own);
    assert_eq!(told(&world, &delivery), own);
    assert_eq!(told(&world, &work), (work.who, work.what));
    // An approval was a moment ago, and the session is there.
    world.sees(planned("p1"), Some(pull_ref()));
    assert_eq!(told(&world, &plan), (WaitParty::Jules, WaitReason::Work));
}

#[test]
fn a_split_ends_the_run_that_planned() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    world.kim(Act::Start);
    let children = vec![part("Half of it")];
    world.kim(Act::Split { children });
    let runs = &world.delivery.runs;
    assert_eq!((runs.len(), runs[0].status), (1, RunResult::Success));
    assert!(runs[0].ended_at.is_some());
}

#[test]
fn history_is_bounded_and_still_ends() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let mut n = 0;
    while world.delivery.run_status != RunStatus::Failed {
        let work = if n % 2 == 0 {
            SessionWork::Asking
        } else {
            SessionWork::Working
        };
        world.sees(work, None);
        n += 1;
        assert!(n < 2 * SPANS_MAX);
    }
    assert_eq!(fault(&world), Fault::HistoryFull);
    assert_eq!(world.orders(kim(), RETRY), Err("history_full"));
    assert_eq!(legal(&world.delivery, &kim(), &world.rules), []);
    let read_at = world.second + 10;
    let closed = issue_read(read_at, IssueState::Closed(None));
    world.take(&closed).unwrap();
    assert_eq!(world.reads_session(read_at), "close/succeeded");
    assert!(world.delivery.phase_runs.len() <= SPANS_MAX);
    let text = serde_json::to_string(&world.delivery).unwrap();
    assert!(text.len() < 64 * 1024, "{}", text.len());
}

/// A delivery whose every text is as long as it may be.
fn largest() -> NewDelivery {
    let reference = |n: usize| Ref {
        role: RefRole::Trigger,
        kind: RefType::GithubIssue,
        label: format!("{n:0>width$}", width = LABEL_BYTES_MAX),
        url: crate::web_page::WebPage::from_service(&format!(
            "https://example.com/{}",
            "x".repeat(180)
        )),
    };
    NewDelivery {
        summary: "\u{1F980}".repeat(TITLE_CHARS_MAX),
        description: Some("x".repeat(DESCRIPTION_BYTES_MAX - 2)),
        acceptance_criteria: vec!["y".repeat(CRITERION_CHARS_MAX); CRITERIA_MAX],
        refs: (0..REFS_MAX - 1).map(reference).collect(),
        ..new_delivery()
    }
}

#[test]
fn the_largest_delivery_has_room_for_a_history_and_fits_into_a_record() {
    let own = rules(&[], "verify", ReviewBy::Agent);
    let mut world = World::new(own.clone());
    world.delivery = create(&largest(), &own, at(0)).unwrap().aggregate;
    let mut asked = 0;
    while world.delivery.run_status != RunStatus::Failed {
        world.sees(SessionWork::Asking, None);
        if world.delivery.run_status != RunStatus::Failed {
            world.sees(SessionWork::Working, None);
        }
        asked += 1;
    }
    assert!(asked > 20, "{asked}");
    let text = serde_json::to_string(&world.delivery).unwrap();
    assert!(text.len() < 64 * 1024, "{}", text.len());
    let mut split = World::new(own.clone());
    split.delivery = create(&largest(), &own, at(0)).unwrap().aggregate;
    let part = Part {
        summary: "z".repeat(TITLE_CHARS_MAX),
        acceptance_criteria: vec!["y".repeat(CRITERION_CHARS_MAX)],
    };
    split.kim(Act::Split {
        children: vec![part; CHILDREN_MAX],
    });
    let text = serde_json::to_string(&split.delivery).unwrap();
    assert!(text.len() < 64 * 1024, "{}", text.len());
}

#[test]
fn a_command_with_more_text_than_the_record_takes_is_refused() {
    let own = Rules {
        plan_by: PlanBy::Agent,
        ..rules(&[], "verify", ReviewBy::Agent)
    };
    let mut world = World::new(own.clone());
    world.delivery = create(&largest(), &own, at(0)).unwrap().aggregate;
    let before = world.delivery.clone();
    let plan = |files| Act::Plan {
        content: "p".repeat(PLAN_BYTES_MAX - 2),
        target_files: vec!["\u{1F980}".repeat(200); files],
    };
    assert_eq!(world.orders(zai(), plan(50)), Err("delivery_too_long"));
    assert_eq!(world.delivery, before);
    assert_eq!(
        world.orders(zai(), plan(5)),
        Ok("implement/running".to_owned())
    );
    let text = serde_json::to_string(&world.delivery).unwrap();
    assert!(text.len() < 64 * 1024, "{}", text.len());
}
