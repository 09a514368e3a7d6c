//! Which mail of members is collected, and when.

use super::resolving::refused_twice;
use super::*;
use crate::job::tests::{watched_job, watching};
use crate::job::{EndReason, Ending, Job, JobPhase};
use crate::policy::Timing;
use crate::pull::{Pull, SeenHead, track};
use crate::session::SessionState;

/// What can be seen of the present job of a member that wrote mail.
fn mail_of(sprint: &Sprint, name: &str, (work, outbox): (Work, Option<Outbox>)) -> Sights {
    let member = sprint.member(&name.parse().unwrap()).unwrap();
    let mut sight = made(work, None);
    sight.outbox = outbox;
    sights(vec![(member.job.clone(), sight)])
}

fn seen_head(head: char, since: i64) -> Option<SeenHead> {
    let (sha, since) = (sha(head), at(since));
    Some(SeenHead { sha, since })
}

fn in_head(head: char) -> Option<Outbox> {
    Some(Outbox::Head { head: sha(head) })
}

/// The outboxes that are to be read.
fn outboxes(sprint: &Sprint, sights: &Sights) -> Vec<Outbox> {
    let found = uncollected(sprint, sights, at(200)).into_iter();
    found.map(|(_, outbox)| outbox).collect()
}

#[test]
fn mail_is_collected_once_from_each_head_whether_or_not_that_is_ready() {
    let sprint = begun(&["curator"]);
    for work in [Work::Working, Work::Closed, ready(101, 'a')] {
        let sights = mail_of(&sprint, "curator", (work, in_head('a')));
        assert_eq!(outboxes(&sprint, &sights).len(), 1);
        let collected = SprintInput::Collected {
            persona: "curator".parse().unwrap(),
            outbox: Outbox::Head { head: sha('a') },
            is_read: true,
            is_unopened: false,
        };
        let next = apply(&sprint, &collected, at(1));
        assert_eq!(outboxes(&next, &sights), []);
        let moved = mail_of(&next, "curator", (Work::Working, in_head('b')));
        assert_eq!(outboxes(&next, &moved).len(), 1);
    }
}

/// A member whose session ended without a pull request.
fn without_a_pull(sprint: &Sprint, rested: i64) -> Sights {
    let mut sights = mail_of(sprint, "curator", (Work::Nothing, Some(Outbox::Patch)));
    sights.members[0].1.rested_at = Some(at(rested));
    sights
}

/// The patch of a member was collected.
fn patch(is_read: bool, is_unopened: bool) -> SprintInput {
    SprintInput::Collected {
        persona: "curator".parse().unwrap(),
        outbox: Outbox::Patch,
        is_read,
        is_unopened,
    }
}

/// A sprint whose first member was asked for a pull request, and ended without one again.
fn answered() -> (Sprint, Sights) {
    let mut sprint = begun(&["curator", "refactor"]);
    play(&mut sprint, &[seen(&[("curator", Work::Working)])]);
    let sights = without_a_pull(&sprint, 1);
    assert_eq!(outboxes(&sprint, &sights), [], "it may be asked for more");
    play(
        &mut sprint,
        &[SprintInput::Seen(sights), asked("curator", true)],
    );
    let sights = without_a_pull(&sprint, 130);
    (sprint, sights)
}

#[test]
fn a_patch_is_read_once_nothing_more_is_to_come() {
    let (sprint, sights) = answered();
    assert_eq!(outboxes(&sprint, &sights), [Outbox::Patch]);
    let unread = apply(&sprint, &SprintInput::Seen(sights.clone()), at(250));
    assert_eq!(
        words(&unread),
        "working 1: curator working, refactor waiting",
        "what it changed is not known yet"
    );
    let mut read = unread;
    play(
        &mut read,
        &[patch(true, false), SprintInput::Seen(sights.clone())],
    );
    assert_eq!(
        words(&read),
        "working 1: curator no_change, refactor waiting"
    );
    assert_eq!(outboxes(&read, &sights), []);
}

#[test]
fn who_ended_without_a_pull_request_is_waited_for_while_one_may_be_listed_late() {
    let mut sprint = begun(&["curator", "refactor"]);
    play(&mut sprint, &[seen(&[("curator", Work::Working)])]);
    let member = &mut sprint.members[0];
    let late = at(1) + member.timeout;
    let seconds = SignedDuration::from_secs;
    assert_eq!(awaited_until(member, None), Some(late));
    for (rested, expected) in [(-600, 0), (-30, 90), (30, 0)] {
        let rested = Some(late + seconds(rested));
        assert_eq!(
            awaited_until(member, rested),
            Some(late + seconds(expected))
        );
    }
    member.state = MemberState::Rerunning;
    let rested = Some(late - seconds(30));
    assert_eq!(
        awaited_until(member, rested),
        Some(late),
        "its conflict is answered"
    );
    for state in [MemberState::Conflicted, MemberState::PullOpen] {
        member.state = state;
        assert_eq!(awaited_until(member, rested), None);
    }
}

#[test]
fn who_changed_files_and_opened_no_pull_request_is_left_out_until_one_comes() {
    for (is_read, why) in [(true, "changed files"), (false, "cannot be read")] {
        let (mut sprint, sights) = answered();
        play(
            &mut sprint,
            &[patch(is_read, true), SprintInput::Seen(sights)],
        );
        assert_eq!(
            words(&sprint),
            "working 1: curator skipped, refactor waiting"
        );
        let reason = sprint.members[0].missing().unwrap();
        assert!(reason.contains(why), "{reason}");
        let mut without = sprint.clone();
        let shown = play(&mut without, &[seen(&[("refactor", Work::Nothing)])]);
        assert_eq!(
            shown,
            ["partially_done 1: curator skipped, refactor no_change"]
        );
        let shown = play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))])]);
        assert_eq!(shown, ["working 1: curator pr_open, refactor waiting"]);
    }
}

#[test]
fn a_session_that_takes_no_question_has_its_patch_read_as_well() {
    let mut sprint = begun(&["curator"]);
    let sights = without_a_pull(&sprint, 1);
    let refused = asked("curator", false);
    play(&mut sprint, &[SprintInput::Seen(sights.clone()), refused]);
    assert_eq!(outboxes(&sprint, &sights), [Outbox::Patch]);
    let shown = play(
        &mut sprint,
        &[
            SprintInput::Seen(sights.clone()),
            patch(true, true),
            SprintInput::Seen(sights),
        ],
    );
    assert_eq!(
        shown,
        [
            "working 1: curator working",
            "working 1: curator working",
            "partially_done 1: curator skipped"
        ]
    );
}

#[test]
fn a_patch_that_cannot_be_read_is_waited_for_a_quarter_of_an_hour_longer() {
    let (sprint, mut sights) = answered();
    let failure = crate::failure::Failure::new(crate::failure::FailureClass::Unavailable, "Jules");
    let hindrance = crate::failure::Hindrance::of(&failure, None, at(250)).unwrap();
    sights.hold_back(&sprint.members[0].job, hindrance);
    let unread = SprintInput::Seen(sights);
    let late = at(3) + MEMBER_TIMEOUT;
    let minutes = SignedDuration::from_mins;
    for (now, expected) in [
        (at(250), "working"),
        (late, "working"),
        (late + minutes(14), "working"),
        (late + minutes(15), "timed_out"),
    ] {
        let waits = apply(&sprint, &unread, now);
        assert_eq!(waits.members[0].state.word(), expected, "{now}");
    }
}

#[test]
fn what_mail_makes_a_session_change_is_looked_for_in_its_patch_again() {
    let (mut sprint, without) = answered();
    play(
        &mut sprint,
        &[patch(true, false), SprintInput::Seen(without)],
    );
    let mut both = without_a_pull(&sprint, 130);
    let other = sights_of(&[("refactor", ready(102, 'b'))]);
    both.members.extend(other.members);
    both.mail = vec![("curator".parse().unwrap(), vec![7.try_into().unwrap()])];
    sprint = apply(&sprint, &SprintInput::Seen(both.clone()), at(300));
    assert!(sprint.members[0].reading.is_some());
    both.mail.clear();
    both.members[0].1.rested_at = Some(at(400));
    // Its answer is collected before the weave, so that it goes to others before it, too.
    assert_eq!(uncollected(&sprint, &both, at(519)), []);
    let [(_, Outbox::Patch)] = uncollected(&sprint, &both, at(520))[..] else {
        panic!("{sprint:?}");
    };
    sprint = apply(&sprint, &SprintInput::Seen(both.clone()), at(600));
    assert_eq!(
        words(&sprint),
        "working 1: curator no_change, refactor pr_open"
    );
    sprint = apply(&sprint, &patch(true, true), at(600));
    sprint = apply(&sprint, &SprintInput::Seen(both), at(600));
    assert_eq!(
        words(&sprint),
        "integrating 2: curator skipped, refactor pr_open"
    );
}

#[test]
fn a_last_attempt_without_a_pull_request_may_take_its_change_back_in_its_patch() {
    let sprint = refused_twice();
    let sights = mail_of(&sprint, "refactor", (Work::Nothing, Some(Outbox::Patch)));
    assert_eq!(outboxes(&sprint, &sights), [Outbox::Patch]);
    let unread = apply(&sprint, &SprintInput::Seen(sights.clone()), at(20));
    assert_eq!(unread.members[1].state.word(), "working");
    assert_eq!(outboxes(&unread, &sights), [Outbox::Patch]);
    let collected = || SprintInput::Collected {
        persona: "refactor".parse().unwrap(),
        outbox: Outbox::Patch,
        is_read: true,
        is_unopened: false,
    };
    let withdrawn = taken_back("refactor");
    for (next, expected) in [
        (
            withdrawn,
            "verifying 5: curator applied, refactor withdrawn",
        ),
        (
            SprintInput::Seen(sights.clone()),
            "fixing 6: curator applied, refactor delegated, weaver waiting",
        ),
    ] {
        let mut read = unread.clone();
        let shown = play(&mut read, &[collected(), next]);
        assert_eq!(shown[1], expected);
        assert_eq!(outboxes(&read, &sights), []);
    }
}

#[test]
fn mail_of_what_is_woven_waits_for_the_report() {
    let mut sprint = begun(&["curator"]);
    play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))])]);
    let sights = mail_of(&sprint, "curator", (ready(101, 'b'), in_head('b')));
    assert_eq!(outboxes(&sprint, &sights), []);
    sprint = apply(&sprint, &woven(1, vec![(101, is_in('a'))]), at(3));
    assert_eq!(outboxes(&sprint, &sights).len(), 1);
}

#[test]
fn who_asks_to_go_first_is_not_forgotten_by_a_weave_of_others() {
    let mut sprint = begun(&["curator", "refactor"]);
    let first = SprintInput::WantsFirst {
        persona: "refactor".parse().unwrap(),
    };
    play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))]), first]);
    sprint = integrate_now(&sprint, at(3)).unwrap();
    let all = vec![(101, is_in('a')), (102, is_in('b'))];
    play(&mut sprint, &[woven(1, all[..1].to_vec())]);
    assert!(sprint.members[1].first);
    play(
        &mut sprint,
        &[seen(&[("refactor", ready(102, 'b'))]), woven(2, all)],
    );
    assert_eq!(sprint.members[1].state.word(), "applied");
    assert!(!sprint.members[1].first, "it is tried once");
}

/// A job whose session is done, with a pull request or without.
fn done(pull: Option<PullRef>) -> Job {
    let mut job = watched_job();
    let watch = watching(&mut job);
    watch.state = SessionState::Completed;
    watch.announced.completed_at = Some(at(0));
    watch.pull = pull;
    job
}

fn over(job: &Job, how: EndReason) -> Job {
    let ending = Ending {
        at: at(1),
        session: job.session().cloned(),
        pull: job.pull().cloned(),
        how,
        plan_unreviewed: false,
    };
    Job {
        phase: JobPhase::Ended(ending),
        ..job.clone()
    }
}

#[test]
fn mail_is_in_the_head_of_a_pull_request_or_else_in_the_patch_of_a_session() {
    let outbox = |job: &Job, read: Option<&Pull>| {
        let seen = sight(job, read, &Timing::default(), at(1_000));
        seen.outbox
    };
    let (with, without) = (done(Some(pull(101))), done(None));
    let mut read = track(pull(101), with.id.clone(), with.session().cloned(), at(0));
    assert_eq!(outbox(&with, Some(&read)), None, "it is not read yet");
    read.head = seen_head('a', 0);
    assert_eq!(outbox(&with, Some(&read)), in_head('a'));
    assert_eq!(outbox(&without, None), Some(Outbox::Patch));
    let mut works = with.clone();
    watching(&mut works).state = SessionState::Planning;
    assert_eq!(outbox(&works, Some(&read)), None, "it may write more");
    let failed = EndReason::Failed {
        reason: "no disk".to_owned(),
    };
    let cancelled = EndReason::Cancelled {
        by: "kim".to_owned(),
    };
    for (how, left) in [
        (EndReason::Completed, Some(Outbox::Patch)),
        (failed, Some(Outbox::Patch)),
        (cancelled, None),
        (EndReason::Left, Some(Outbox::Patch)),
    ] {
        assert_eq!(outbox(&over(&without, how.clone()), None), left, "{how:?}");
        assert_eq!(outbox(&over(&with, how), Some(&read)), in_head('a'));
    }
}

#[test]
fn a_pull_request_that_changes_no_file_is_no_change_once_it_was_read_late_enough() {
    let job = done(Some(pull(101)));
    let mut read = track(pull(101), job.id.clone(), job.session().cloned(), at(0));
    read.head = seen_head('a', 0);
    let lists_none = crate::merge::Reason::Unknown {
        what: crate::merge::MergeInput::ChangedFiles,
        why: "GitHub lists none".to_owned(),
    };
    read.verdict = Some(crate::pull::PullVerdict {
        at: at(1),
        sha: sha('a'),
        judgement: crate::merge::Judgement::Refuse {
            reasons: vec![lists_none],
        },
        checks: Vec::new(),
    });
    let looked = |read: &Pull, now| sight(&job, Some(read), &Timing::default(), at(now));
    assert_eq!(looked(&read, 119).work, Work::Working, "files may come");
    let mode = SprintMode {
        integration: Integration::Individual,
        ..SprintMode::default()
    };
    let sprint = begun_as(mode, &["curator"]);
    for (read_at, must, expected) in [
        (119, true, "working 1: curator working"),
        (120, false, "done 1: curator no_change"),
    ] {
        let mut seen = looked(&read, 200);
        assert_eq!(seen.work, Work::Nothing);
        let member = &sprint.members[0];
        let is_unread = must_be_read(member, &mut seen, Some(at(read_at)), at(200));
        assert_eq!(is_unread, must, "read at {read_at}");
        let sights = sights(vec![(job_of("curator"), seen)]);
        assert_eq!(without_pull(&sprint, &sights, at(200)).count(), 0);
        assert_eq!(
            words(&apply(&sprint, &SprintInput::Seen(sights), at(200))),
            expected
        );
    }
    read.head = seen_head('b', 150);
    let pushed = looked(&read, 200).work;
    assert_eq!(pushed, Work::Working, "another head is not judged yet");
}

#[test]
fn what_jules_says_of_a_failure_stands_in_a_sentence_of_ours() {
    let failed = |reason| EndReason::Failed { reason };
    let refused = |reason| EndReason::Refused { reason };
    for (how, told) in [
        (
            failed("Out of ideas.".to_owned()),
            "it failed: Out of ideas",
        ),
        (failed("no disk".to_owned()), "it failed: no disk"),
        (
            refused("Too long.".to_owned()),
            "Jules refused it: Too long",
        ),
    ] {
        let over = over(&done(None), how);
        let seen = sight(&over, None, &Timing::default(), at(1_000));
        let reason = told.to_owned();
        assert_eq!(seen.work, Work::Gone { reason });
    }
}
