//! Sprints decided step by step.

mod hindered;
mod one_by_one;
mod outboxes;
mod resolving;

use jiff::SignedDuration;

use super::*;
use crate::facts::fixture::{at, sha};
use crate::ids::PullRef;
use crate::refusal::About;

fn names(names: &[&str]) -> Vec<PersonaName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

pub(crate) fn new(personas: &[&str]) -> NewSprint {
    NewSprint {
        repo: "acme/shop".parse().unwrap(),
        number: "50".parse().unwrap(),
        account: "default".parse().unwrap(),
        target: BranchName::main(),
        personas_at: sha('0'),
        personas: names(personas),
        mode: crate::sprint::SprintMode::default(),
        by: "person".to_owned(),
    }
}

fn begun(personas: &[&str]) -> Sprint {
    begun_as(SprintMode::default(), personas)
}

pub(crate) fn begun_as(mode: SprintMode, personas: &[&str]) -> Sprint {
    let new = NewSprint {
        mode,
        ..new(personas)
    };
    start(new, at(0)).unwrap()
}

/// A sprint that waits for its members for so many minutes.
fn waiting(minutes: i64, personas: &[&str]) -> Sprint {
    let mode = SprintMode {
        member_timeout: SignedDuration::from_mins(minutes),
        ..SprintMode::default()
    };
    begun_as(mode, personas)
}

/// What a member made, whose session rested at a second.
pub(crate) fn made(work: Work, rested: Option<i64>) -> SprintSight {
    SprintSight {
        work,
        rested_at: rested.map(at),
        is_red: false,
        outbox: None,
    }
}

pub(crate) fn sights(members: Vec<(JobId, SprintSight)>) -> Sights {
    Sights {
        members,
        ..Sights::default()
    }
}

fn landed(landing: Landing) -> Sights {
    Sights {
        landing: Some(landing),
        ..Sights::default()
    }
}

/// A member was asked for a pull request.
fn asked(name: &str, is_taken: bool) -> SprintInput {
    SprintInput::Asked {
        persona: name.parse().unwrap(),
        is_taken,
    }
}

fn taken_back(name: &str) -> SprintInput {
    let persona = name.parse().unwrap();
    SprintInput::Withdrawn { persona }
}

fn failed(reason: &str) -> Work {
    let reason = reason.to_owned();
    Work::Failed { reason }
}

fn ready(pull: u64, head: char) -> Work {
    Work::Ready(Offer {
        pull,
        head: sha(head),
    })
}

/// The first job of a member.
fn job_of(name: &str) -> JobId {
    let new = new(&[name]);
    new.number.job(&new.repo, Some(&new.personas[0]), at(0))
}

fn seen(works: &[(&str, Work)]) -> SprintInput {
    SprintInput::Seen(sights_of(works))
}

fn sights_of(works: &[(&str, Work)]) -> Sights {
    let members = works.iter();
    let members = members.map(|(name, work)| (job_of(name), made(work.clone(), None)));
    sights(members.collect())
}

fn lands(landing: Landing) -> SprintInput {
    SprintInput::Seen(landed(landing))
}

fn pull(number: u64) -> PullRef {
    PullRef {
        repo: "acme/shop".parse().unwrap(),
        number,
    }
}

fn is_in(head: char) -> WeaveVerdict {
    WeaveVerdict::In {
        head: sha(head),
        way: Way::Taken,
        files: 1,
    }
}

fn is_out(head: char, with: u64) -> WeaveVerdict {
    WeaveVerdict::Out {
        head: sha(head),
        against: Against::Members(vec![with]),
        clashes: Vec::new(),
        others: 0,
    }
}

fn woven(weave: u32, verdicts: Vec<(u64, WeaveVerdict)>) -> SprintInput {
    let is_any_in = verdicts
        .iter()
        .any(|(_, verdict)| matches!(verdict, WeaveVerdict::In { .. }));
    let pushed = Woven {
        weave,
        base: sha('0'),
        commit: sha('9'),
        pull: pull(104),
    };
    SprintInput::Woven(Box::new(Report {
        weave,
        woven: is_any_in.then_some(pushed),
        verdicts,
        held: Vec::new(),
    }))
}

fn told(name: &str) -> SprintInput {
    SprintInput::Told {
        persona: name.parse().unwrap(),
        shown: Vec::new(),
    }
}

fn words(sprint: &Sprint) -> String {
    let members = sprint
        .members
        .iter()
        .map(|it| format!("{} {}", it.persona, it.state.word()));
    let members: Vec<_> = members.collect();
    let state = sprint.state.word();
    format!("{state} {}: {}", sprint.ticks, members.join(", "))
}

/// Plays inputs a second apart, and shows what each came to.
fn play(sprint: &mut Sprint, inputs: &[SprintInput]) -> Vec<String> {
    let mut second = 0;
    let shown = inputs.iter().map(|input| {
        second += 1;
        *sprint = apply(sprint, input, at(second));
        words(sprint)
    });
    shown.collect()
}

#[test]
fn one_conflict_takes_four_ticks() {
    let mut sprint = begun(&["visionary", "curator", "refactor"]);
    let first = [
        ("curator", ready(101, 'a')),
        ("refactor", ready(102, 'b')),
        ("visionary", ready(103, 'c')),
    ];
    let again = [("refactor", ready(102, 'd'))];
    let shown = play(
        &mut sprint,
        &[
            seen(&first[..2]),
            seen(&first),
            woven(
                1,
                vec![
                    (101, is_in('a')),
                    (103, is_in('c')),
                    (102, is_out('b', 101)),
                ],
            ),
            told("refactor"),
            seen(&first),
            seen(&again),
            woven(
                2,
                vec![(101, is_in('a')), (103, is_in('c')), (102, is_in('d'))],
            ),
            lands(Landing::Open),
            lands(Landing::Merged),
        ],
    );
    assert_eq!(
        shown,
        [
            "working 1: curator pr_open, refactor pr_open, visionary waiting",
            "integrating 2: curator pr_open, refactor pr_open, visionary pr_open",
            "fixing 3: curator applied, refactor conflicted, visionary applied",
            "fixing 3: curator applied, refactor rerunning, visionary applied",
            "fixing 3: curator applied, refactor rerunning, visionary applied",
            "integrating 4: curator applied, refactor pr_open, visionary applied",
            "verifying 4: curator applied, refactor applied, visionary applied",
            "verifying 4: curator applied, refactor applied, visionary applied",
            "done 4: curator applied, refactor applied, visionary applied",
        ]
    );
    let figures = Figures::of_sprint(&sprint);
    assert_eq!((figures.conflicts, figures.resolved), (1, 1));
    assert_eq!((figures.integrated, sprint.weaves), (3, 2));
    assert_eq!(figures.merged, 3);
    assert_eq!(figures.conflict_rate, 33);
    assert_eq!(figures.ticks_to_resolution, 2);
    assert_eq!(apply(&sprint, &lands(Landing::Closed), at(99)), sprint);
}

#[test]
fn a_member_is_merged_once_the_one_pull_request_is() {
    let mut open = begun(&["curator", "refactor"]);
    let works = [("curator", ready(101, 'a')), ("refactor", ready(102, 'b'))];
    let both = vec![(101, is_in('a')), (102, is_in('b'))];
    play(&mut open, &[seen(&works), woven(1, both)]);
    let counted = |sprint: &Sprint| {
        let figures = Figures::of_sprint(sprint);
        (figures.integrated, figures.merged)
    };
    assert_eq!(counted(&open), (2, 0));
    for (landing, merged) in [
        (Landing::Merged, 2),
        (Landing::MergedOlder, 0),
        (Landing::Closed, 0),
        (Landing::Foreign, 0),
    ] {
        let over = apply(&open, &lands(landing), at(9));
        assert!(over.is_over(), "{landing:?}");
        assert_eq!(counted(&over), (2, merged), "{landing:?}");
    }
    let aborted = abort(&open, "kim", at(9)).unwrap();
    assert_eq!(counted(&aborted), (2, 0));
    for (landing, merged) in [
        (None, 0),
        (Some(Landing::Open), 0),
        (Some(Landing::MergedOlder), 0),
        (Some(Landing::Merged), 2),
    ] {
        let sights = Sights {
            landing,
            ..Sights::default()
        };
        let over = merged_meanwhile(&aborted, &sights, at(10));
        assert_eq!(counted(&over), (2, merged), "{landing:?}");
        assert_eq!(over.state, aborted.state, "{landing:?}");
        assert_eq!(merged_meanwhile(&open, &sights, at(10)), open);
    }
}

#[test]
fn what_is_pushed_by_a_weave_after_an_abort_counts_once_it_is_merged() {
    let mut sprint = begun(&["curator", "refactor", "visionary"]);
    let works = [
        ("curator", ready(101, 'a')),
        ("refactor", ready(102, 'b')),
        ("visionary", ready(103, 'c')),
    ];
    play(&mut sprint, &[seen(&works)]);
    let aborted = abort(&sprint, "kim", at(9)).unwrap();
    let report = |weave, verdicts| {
        let SprintInput::Woven(report) = woven(weave, verdicts) else {
            unreachable!("it is a report");
        };
        report
    };
    let clash = |head| is_out(head, 101);
    let pushed = report(
        1,
        vec![(101, is_in('a')), (102, is_in('b')), (103, clash('c'))],
    );
    let nothing = report(1, vec![(101, clash('a'))]);
    let other = report(2, vec![(101, is_in('a'))]);
    for (before, late) in [(&aborted, &nothing), (&aborted, &other), (&sprint, &pushed)] {
        assert_eq!(woven_meanwhile(before, late, at(10)), *before);
    }
    let late = woven_meanwhile(&aborted, &pushed, at(10));
    assert_eq!(
        words(&late),
        "aborted 2: curator applied, refactor applied, visionary conflicted"
    );
    assert_eq!(late.word_of(&late.members[2]), "left_out");
    assert!(super::conflict_labels(&late, 1).is_empty());
    assert_eq!(woven_meanwhile(&late, &pushed, at(11)), late);
    let told = crate::outgoing_text::sprint_end;
    assert_eq!(told(&late), "Sprint 50 was aborted by kim.");
    let merged = merged_meanwhile(&late, &landed(Landing::Merged), at(12));
    assert_eq!(Figures::of_sprint(&merged).merged, 2);
    assert_eq!(
        told(&merged),
        "Sprint 50 was aborted by kim: 2 of 3 members are merged."
    );
}

#[test]
fn what_is_woven_and_changes_nothing_on_the_target_is_left_to_people() {
    let works = [("curator", ready(101, 'a')), ("refactor", ready(102, 'b'))];
    let both = || vec![(101, is_in('a')), (102, is_in('b'))];
    for pushed_before in [false, true] {
        let mut sprint = begun(&["curator", "refactor"]);
        play(&mut sprint, &[seen(&works)]);
        if pushed_before {
            play(&mut sprint, &[woven(1, both()), lands(Landing::Stale)]);
        }
        assert_eq!(sprint.state, SprintState::Integrating);
        let report = Report {
            weave: sprint.weaves,
            woven: None,
            verdicts: both(),
            held: Vec::new(),
        };
        play(&mut sprint, &[SprintInput::Woven(Box::new(report))]);
        let reason = sprint.state.reason();
        let expected = "what is woven changes nothing on `main`";
        assert_eq!(reason.as_deref(), Some(expected), "{pushed_before}");
        assert_eq!(sprint.state.word(), "partially_done");
        let figures = Figures::of_sprint(&sprint);
        let counted = (figures.integrated, figures.merged, figures.skipped);
        assert_eq!(counted, (0, 0, 2));
        let (subject, body) = crate::outgoing_text::left_out(&sprint, &[]).unwrap();
        assert_eq!(subject, "Sprint 50: 2 left out");
        for named in ["curator (#101, ", "refactor (#102, ", expected] {
            assert!(body.contains(named), "{named}: {body}");
        }
    }
}

#[test]
fn sessions_are_counted_whatever_is_seen_of_the_members() {
    let mut sprint = begun(&["curator"]);
    // What an order or a failed job brings says nothing of sessions.
    for (tasks, counted) in [(0, 0), (1, 1), (0, 1), (3, 3)] {
        let sights = Sights {
            tasks,
            ..Sights::default()
        };
        sprint = apply(&sprint, &SprintInput::Seen(sights), at(1));
        assert_eq!(Figures::of_sprint(&sprint).tasks, counted);
    }
}

#[test]
fn who_was_in_goes_first_in_the_old_order() {
    let mut sprint = begun(&["curator", "refactor", "visionary"]);
    play(
        &mut sprint,
        &[
            seen(&[
                ("curator", ready(101, 'a')),
                ("refactor", ready(102, 'b')),
                ("visionary", ready(103, 'c')),
            ]),
            woven(
                1,
                vec![
                    (103, is_in('c')),
                    (102, is_in('b')),
                    (101, is_out('a', 102)),
                ],
            ),
            told("curator"),
            seen(&[("curator", ready(101, 'd'))]),
        ],
    );
    let order: Vec<_> = sprint.offered().iter().map(|it| it.number()).collect();
    assert_eq!(order, [Some(103), Some(102), Some(101)]);
}

#[test]
fn a_session_that_rests_again_with_the_same_head_has_not_answered() {
    let mut sprint = begun(&["curator", "refactor"]);
    play(
        &mut sprint,
        &[
            seen(&[("curator", ready(101, 'a')), ("refactor", ready(102, 'b'))]),
            woven(1, vec![(101, is_in('a')), (102, is_out('b', 101))]),
            told("refactor"),
        ],
    );
    let rested = |seconds| {
        let sight = made(ready(102, 'b'), Some(seconds));
        SprintInput::Seen(sights(vec![(job_of("refactor"), sight)]))
    };
    let earlier = (&rested(2), 500);
    let just_now = (&rested(4), 123);
    for (seen, now) in [earlier, just_now] {
        let before = apply(&sprint, seen, at(now));
        assert_eq!(
            words(&before),
            "fixing 3: curator applied, refactor rerunning"
        );
    }
    let after = apply(&sprint, &rested(4), at(124));
    assert_eq!(
        words(&after),
        "fixing 3: curator applied, refactor waiting",
        "its last attempt is a new job"
    );
}

#[test]
fn a_sprint_waits_for_its_members_as_long_as_its_source_said_when_it_started() {
    let mut sprint = waiting(5, &["curator", "refactor"]);
    let works = [("curator", ready(101, 'a')), ("refactor", Work::Working)];
    play(&mut sprint, &[seen(&works)]);
    let minutes = |minutes| at(1) + SignedDuration::from_mins(minutes);
    assert_eq!(due(&sprint, at(1)), Some(minutes(5)));
    let before = apply(&sprint, &seen(&works), minutes(4));
    assert_eq!(before.members[1].state.word(), "working");
    let late = apply(&sprint, &seen(&works), minutes(5));
    assert_eq!(late.members[1].state.word(), "timed_out");
    let stored = serde_json::to_value(&sprint).unwrap();
    assert_eq!(stored["members"][0]["timeout"], "5m");
    assert_eq!(serde_json::from_value::<Sprint>(stored).unwrap(), sprint);
}

#[test]
fn who_takes_too_long_is_waited_for_no_more_and_may_come_late() {
    let mut sprint = begun(&["curator", "refactor"]);
    let works = [("curator", ready(101, 'a')), ("refactor", Work::Working)];
    play(&mut sprint, &[seen(&works)]);
    let minutes = |minutes| at(1) + SignedDuration::from_mins(minutes);
    assert_eq!(due(&sprint, at(1)), Some(minutes(15)));
    assert_eq!(due(&sprint, minutes(20)), Some(minutes(30)));
    let before = apply(&sprint, &seen(&works), minutes(29));
    assert_eq!(
        words(&before),
        "working 1: curator pr_open, refactor working"
    );
    let late = apply(&sprint, &seen(&works), minutes(30));
    assert_eq!(
        words(&late),
        "integrating 2: curator pr_open, refactor timed_out"
    );
    let mut late = late;
    let shown = play(
        &mut late,
        &[
            woven(1, vec![(101, is_in('a'))]),
            seen(&[("refactor", ready(102, 'b'))]),
        ],
    );
    assert_eq!(shown[0], "verifying 2: curator applied, refactor timed_out");
    assert_eq!(shown[1], "integrating 3: curator applied, refactor pr_open");
}

#[test]
fn the_time_of_a_pause_and_of_a_queue_is_no_time_of_work() {
    let sprint = begun(&["curator"]);
    let queued = seen(&[("curator", Work::Queued)]);
    let minutes = |minutes| at(0) + SignedDuration::from_mins(minutes);
    let waits = apply(&sprint, &queued, minutes(59));
    assert_eq!(words(&waits), "working 1: curator waiting");
    let mut paused = held(&sprint, minutes(50));
    assert_eq!(paused.members[0].since, at(0), "it waited until then");
    for minute in [65, 80, 95] {
        paused = held(&paused, minutes(minute));
        assert_eq!(paused.members[0].since, minutes(minute - 50));
    }
    // Ten minutes were left at its begin, and are at its end.
    let on = resumed(&paused, minutes(100));
    assert_eq!((on.members[0].since, on.held_at), (minutes(50), None));
    assert_eq!(resumed(&on, minutes(105)), on, "once");
    let waits = apply(&on, &queued, minutes(109));
    assert_eq!(words(&waits), "working 1: curator waiting");
    let late = apply(&on, &queued, minutes(110));
    assert_eq!(words(&late), "partially_done 1: curator timed_out");
    let started = apply(&on, &seen(&[("curator", Work::Working)]), minutes(101));
    assert_eq!(started.members[0].since, minutes(101));
    let set_back = resumed(&paused, minutes(90));
    assert_eq!(set_back.members[0].since, minutes(45), "nothing passed");
}

#[test]
fn nothing_to_change_is_done_and_nothing_made_is_not() {
    for (work, expected) in [
        (Work::Nothing, "done 1: curator no_change"),
        (failed("no"), "partially_done 1: curator failed"),
    ] {
        let mut sprint = begun(&["curator"]);
        let shown = play(&mut sprint, &[seen(&[("curator", work)])]);
        assert_eq!(shown, [expected]);
        assert_eq!(due(&sprint, at(9)), None);
    }
}

#[test]
fn a_session_without_a_pull_request_is_asked_for_one_once() {
    let without = |seconds| {
        let sight = made(Work::Nothing, Some(seconds));
        sights(vec![(job_of("curator"), sight)])
    };
    let asked = |is_taken| asked("curator", is_taken);
    let sprint = begun(&["curator"]);
    let waits = apply(&sprint, &SprintInput::Seen(without(5)), at(125));
    assert_eq!(words(&waits), "working 1: curator working");
    let asks = |sprint: &Sprint, sights: &Sights| without_pull(sprint, sights, at(126)).count();
    assert_eq!(asks(&waits, &without(5)), 1);
    // One that takes no message has said all that it says.
    let silent = apply(&waits, &asked(false), at(126));
    assert_eq!(asks(&silent, &without(5)), 0);
    let silent = apply(&silent, &SprintInput::Seen(without(5)), at(127));
    assert_eq!(words(&silent), "done 1: curator no_change");
    let told = apply(&waits, &asked(true), at(126));
    assert_eq!(apply(&told, &asked(true), at(150)), told, "once");
    let still = apply(&told, &SprintInput::Seen(without(5)), at(200));
    assert_eq!(words(&still), "working 1: curator working");
    let ended = apply(&told, &SprintInput::Seen(without(130)), at(250));
    assert_eq!(words(&ended), "done 1: curator no_change");
    let in_time = at(126) + MEMBER_TIMEOUT;
    let late = apply(&told, &SprintInput::Seen(without(5)), in_time);
    assert_eq!(words(&late), "done 1: curator no_change");
    // A session at work may make something still.
    let works = apply(&told, &seen(&[("curator", Work::Working)]), in_time);
    assert_eq!(words(&works), "partially_done 1: curator timed_out");
    let mut answered = told;
    let shown = play(&mut answered, &[seen(&[("curator", ready(101, 'a'))])]);
    assert_eq!(shown, ["integrating 2: curator pr_open"]);
}

#[test]
fn who_has_a_minute_and_ends_without_a_pull_request_is_asked_for_one_too() {
    let curator = |work, seconds| sights(vec![(job_of("curator"), made(work, Some(seconds)))]);
    let sees = |work, seconds| SprintInput::Seen(curator(work, seconds));
    let mut sprint = waiting(1, &["curator"]);
    sprint = apply(&sprint, &sees(Work::Working, 3), at(3));
    // Its pull request may be listed late.
    sprint = apply(&sprint, &sees(Work::Working, 3), at(70));
    assert_eq!(words(&sprint), "working 1: curator working");
    sprint = apply(&sprint, &sees(Work::Nothing, 3), at(123));
    assert_eq!(words(&sprint), "working 1: curator working");
    let sights = curator(Work::Nothing, 3);
    assert_eq!(without_pull(&sprint, &sights, at(123)).count(), 1);
    let asked = apply(&sprint, &asked("curator", true), at(124));
    let silent = apply(&asked, &sees(Work::Nothing, 3), at(184));
    assert_eq!(words(&silent), "done 1: curator no_change");
    // It answers that there is nothing, and a pull request may be listed late again.
    let answered = apply(&asked, &sees(Work::Working, 130), at(184));
    assert_eq!(words(&answered), "working 1: curator working");
    let ended = apply(&answered, &sees(Work::Nothing, 130), at(250));
    assert_eq!(words(&ended), "done 1: curator no_change");
}

#[test]
fn a_pull_request_that_went_stale_is_woven_again_a_limited_number_of_times() {
    let mut sprint = begun(&["curator"]);
    play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))])]);
    for weave in 1..20 {
        let report = woven(weave, vec![(101, is_in('a'))]);
        sprint = apply(&sprint, &report, at(2));
        sprint = apply(&sprint, &lands(Landing::Stale), at(3));
    }
    assert_eq!(words(&sprint), "partially_done 8: curator applied");
    let reason = sprint.state.reason().unwrap();
    assert_eq!(reason, "its target moved on after 8 ticks");
}

#[test]
fn only_what_the_newest_weave_pushed_is_merged() {
    let mut sprint = begun(&["curator"]);
    let all = vec![(101, is_in('a'))];
    play(
        &mut sprint,
        &[seen(&[("curator", ready(101, 'a'))]), woven(1, all)],
    );
    assert!(sprint.is_to_be_merged(&sha('9')));
    assert!(!sprint.is_to_be_merged(&sha('a')));
    let older = lands(Landing::MergedOlder);
    let over = apply(&sprint, &older, at(9));
    let expected = "its pull request was merged before its newest weave";
    assert_eq!(over.state.reason().as_deref(), Some(expected));
    sprint.state = SprintState::Integrating;
    let waits = apply(&sprint, &older, at(9));
    assert_eq!(waits, sprint, "its newest head may be in no report yet");
}

#[test]
fn a_commit_of_another_hand_ends_a_sprint_whatever_it_does() {
    let mut verifying = begun(&["curator", "refactor"]);
    let both_ready = seen(&[("curator", ready(101, 'a')), ("refactor", ready(102, 'b'))]);
    let both_in = vec![(101, is_in('a')), (102, is_in('b'))];
    let mut fixing = verifying.clone();
    let one_is_out = vec![(101, is_in('a')), (102, is_out('b', 101))];
    play(&mut verifying, &[both_ready.clone(), woven(1, both_in)]);
    play(&mut fixing, &[both_ready, woven(1, one_is_out)]);
    let mut weaving = fixing.clone();
    let mended = [told("refactor"), seen(&[("refactor", ready(102, 'c'))])];
    play(&mut weaving, &mended);
    for (sprint, word, out) in [
        (verifying, "verifying", 0),
        (fixing, "fixing", 1),
        (weaving, "integrating", 1),
    ] {
        assert_eq!(sprint.state.word(), word);
        assert_eq!(Figures::of_sprint(&sprint).skipped, 0, "{word}");
        let over = apply(&sprint, &lands(Landing::Foreign), at(9));
        assert_eq!(over.state.word(), "partially_done", "{word}");
        let reason = over.state.reason();
        assert_eq!(reason.as_deref(), Some(FOREIGN_COMMIT), "{word}");
        let jobs = |sprint: &Sprint| {
            let members = sprint.members.iter();
            members.map(|it| it.job.clone()).collect::<Vec<_>>()
        };
        assert_eq!(jobs(&over), jobs(&sprint), "{word}: no new session");
        // Who is left out is counted, shown and told by one rule.
        let words = over.members.iter().map(|it| over.word_of(it));
        let shown = words.filter(|it| *it == "left_out").count();
        let counted = Figures::of_sprint(&over).skipped;
        assert_eq!((shown, counted), (out, u32::try_from(out).unwrap()));
        let told = crate::outgoing_text::left_out(&over, &[]);
        let expected = (out > 0).then(|| format!("Sprint 50: {out} left out"));
        assert_eq!(told.map(|(subject, _)| subject), expected, "{word}");
    }
}

#[test]
fn a_weave_that_github_does_not_answer_is_tried_again_a_limited_number_of_times() {
    let mut sprint = begun(&["curator"]);
    play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))])]);
    for weave in 1..=WEAVE_RETRIES_MAX + 1 {
        assert_eq!(sprint.weaves, weave);
        let failed = SprintInput::WeaveFailed {
            weave,
            reason: "GitHub is down".to_owned(),
            may_pass: true,
        };
        sprint = apply(&sprint, &failed, at(2));
    }
    assert_eq!(sprint.state.reason().as_deref(), Some("GitHub is down"));
    assert_eq!(sprint.ticks, 2);
}

#[test]
fn a_deadline_stays_when_something_else_happens_just_before_it() {
    let mut sprint = waiting(1, &["curator", "refactor"]);
    let work = [("curator", Work::Working), ("refactor", Work::Working)];
    sprint = apply(&sprint, &seen(&work), at(1));
    assert_eq!(due(&sprint, at(1)), Some(at(61)));
    sprint = apply(&sprint, &seen(&[("curator", ready(101, 'a'))]), at(50));
    assert_eq!(
        words(&sprint),
        "working 1: curator pr_open, refactor working"
    );
    assert_eq!(due(&sprint, at(50)), Some(at(61)));
    sprint = apply(&sprint, &seen(&[]), at(61));
    let shown = words(&sprint);
    assert_eq!(shown, "integrating 2: curator pr_open, refactor timed_out");
}

#[test]
fn only_the_weave_that_was_asked_for_counts() {
    let mut sprint = begun(&["curator"]);
    play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))])]);
    let report = |weave| woven(weave, vec![(101, is_in('a'))]);
    assert_eq!(apply(&sprint, &report(2), at(2)), sprint);
    let failed = |weave| SprintInput::WeaveFailed {
        weave,
        reason: "somebody pushed".to_owned(),
        may_pass: false,
    };
    assert_eq!(apply(&sprint, &failed(2), at(2)), sprint);
    let stopped = apply(&sprint, &failed(1), at(2));
    assert_eq!(stopped.state.reason().as_deref(), Some("somebody pushed"));
    let done = apply(&sprint, &report(1), at(2));
    assert_eq!(apply(&done, &report(1), at(3)), done);
}

#[test]
fn a_person_may_stop_waiting_and_may_stop_all() {
    let mut sprint = begun(&["curator", "refactor"]);
    play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))])]);
    let waits = integrate(&sprint, at(2)).unwrap_err();
    assert_eq!(waits.code, "members_awaited");
    assert!(waits.sentence.contains("waits for refactor"), "{waits:?}");
    let now = integrate_now(&sprint, at(2)).unwrap();
    assert_eq!(
        words(&now),
        "integrating 2: curator pr_open, refactor timed_out"
    );
    assert_eq!(integrate_now(&now, at(3)).unwrap_err().code, "integrating");
    let over = abort(&sprint, "kim", at(2)).unwrap();
    assert_eq!(over.state.reason().as_deref(), Some("kim aborted it"));
    assert_eq!(abort(&over, "kim", at(3)).unwrap_err().code, "ended");
    assert_eq!(integrate_now(&over, at(3)).unwrap_err().code, "ended");
    let late = seen(&[("refactor", ready(102, 'b'))]);
    assert_eq!(apply(&over, &late, at(4)), over);
}

#[test]
fn a_sprint_of_which_nothing_is_ready_is_not_ended_by_an_order_to_weave() {
    let sprint = begun(&["curator", "refactor"]);
    // Nor does an order that waits advise the other one.
    for order in [integrate, integrate_now] {
        let refused = order(&sprint, at(1)).unwrap_err();
        assert_eq!(refused.code, "nothing_ready");
        assert!(refused.sentence.contains("abort it"), "{refused:?}");
    }
    let mut one = sprint;
    play(&mut one, &[seen(&[("curator", ready(101, 'a'))])]);
    assert!(integrate_now(&one, at(2)).is_ok());
}

#[test]
fn what_is_not_woven_cannot_be_integrated() {
    let mode = |at_once| SprintMode {
        at_once,
        integration: Integration::Individual,
        ..SprintMode::default()
    };
    for mode in [mode(None), mode(Some(1))] {
        let sprint = begun_as(mode, &["curator", "refactor"]);
        for order in [integrate, integrate_now] {
            let refused = order(&sprint, at(1)).unwrap_err();
            assert_eq!(refused.code, "individual");
            assert!(refused.sentence.contains("abort"), "{refused:?}");
        }
    }
}

#[test]
fn who_takes_the_change_back_is_missed_by_nobody() {
    let mut sprint = begun(&["curator", "refactor"]);
    let shown = play(
        &mut sprint,
        &[
            seen(&[("curator", ready(101, 'a')), ("refactor", ready(102, 'b'))]),
            woven(1, vec![(101, is_in('a')), (102, is_out('b', 101))]),
            taken_back("refactor"),
            lands(Landing::Open),
            lands(Landing::Merged),
        ],
    );
    assert_eq!(shown[3], "verifying 3: curator applied, refactor withdrawn");
    assert_eq!(shown[4], "done 3: curator applied, refactor withdrawn");
}

#[test]
fn what_was_closed_and_left_out_joins_the_next_weave_once_it_is_open_again() {
    let mut sprint = begun(&["curator", "refactor"]);
    let again = || ready(102, 'b');
    let refactor = |work| seen(&[("refactor", work)]);
    let skipped = WeaveVerdict::Skipped {
        reason: "it is closed: open it again, or leave it out".to_owned(),
    };
    let shown = play(
        &mut sprint,
        &[
            refactor(again()),
            seen(&[("curator", ready(101, 'a'))]),
            woven(1, vec![(101, is_in('a')), (102, skipped)]),
            // It was read before it was closed.
            refactor(again()),
            refactor(Work::Closed),
            refactor(Work::Working),
        ],
    );
    let left_out = "verifying 2: curator applied, refactor skipped";
    assert_eq!(shown[2..], [left_out; 4]);
    let given_up = failed("its pull request was closed");
    let over = apply(&sprint, &refactor(given_up), at(9));
    assert_eq!(words(&over), left_out);
    let shown = play(
        &mut sprint,
        &[
            refactor(again()),
            woven(2, vec![(101, is_in('a')), (102, is_in('b'))]),
        ],
    );
    assert_eq!(shown[0], "integrating 3: curator applied, refactor pr_open");
    assert_eq!(shown[1], "verifying 3: curator applied, refactor applied");
}

#[test]
fn odd_starts_are_refused() {
    let refused = |new| {
        let refused = start(new, at(0)).unwrap_err();
        (refused.code, refused.about)
    };
    assert_eq!(refused(new(&[])), ("no_personas", About::State));
    let many: Vec<String> = (0..61).map(|number| format!("p{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let field = About::Field("personas");
    assert_eq!(refused(new(&many)), ("too_many_members", field));
    let same = NewSprint {
        target: SprintNumber::try_from(50).unwrap().branch(),
        ..new(&["curator"])
    };
    assert_eq!(refused(same), ("same_branch", About::State));
    assert_eq!(begun(&["curator", "curator"]).members.len(), 1);
}

#[test]
fn the_places_of_very_many_conflicts_are_counted() {
    let clash = Clash {
        path: "a".repeat(200),
        words: "both changed the same lines: lines 10–14".to_owned(),
        is_lines: true,
        base: Some(sha('a')),
        ours: Some(sha('b')),
        theirs: Some(sha('c')),
    };
    let verdict = |number: u64| {
        let out = WeaveVerdict::Out {
            head: sha('a'),
            against: Against::StaleBase,
            clashes: vec![clash.clone(); 10],
            others: 0,
        };
        (number, out)
    };
    let mut report = Report {
        weave: 1,
        woven: None,
        verdicts: (1..=60).map(verdict).collect(),
        held: Vec::new(),
    };
    report.fit();
    let bytes = serde_json::to_string(&report).unwrap().len();
    assert!((CLASHES_BYTES_MAX / 2..60_000).contains(&bytes), "{bytes}");
    let counted = report.verdicts.iter().map(|(_, verdict)| match verdict {
        WeaveVerdict::Out {
            clashes, others, ..
        } => clashes.len() + *others as usize,
        WeaveVerdict::In { .. }
        | WeaveVerdict::Moved
        | WeaveVerdict::Nothing
        | WeaveVerdict::Skipped { .. } => 0,
    });
    assert_eq!(counted.sum::<usize>(), 600);
}

#[test]
fn what_a_member_was_shown_is_kept_until_it_is_read() {
    let curator: PersonaName = "curator".parse().unwrap();
    let shown = SprintInput::Shown {
        persona: curator.clone(),
        shown: vec!["42".parse().unwrap()],
    };
    let mut sprint = apply(&begun(&["curator"]), &shown, at(1));
    assert_eq!(sprint.members[0].shown.len(), 1);
    sprint = abort(&sprint, "kim", at(2)).unwrap();
    let read = SprintInput::Read {
        persona: curator.clone(),
    };
    sprint = apply(&sprint, &read, at(3));
    assert!(sprint.members[0].shown.is_empty());
    assert_eq!(apply(&sprint, &shown, at(4)), sprint);
}

/// Two members that are ready, since their sessions rested, and mail for one of them.
fn with_mail(rested: Option<i64>, head: char, mail: bool) -> SprintInput {
    let sight = |name: &str, work| (job_of(name), made(work, rested));
    let messages = vec![7.try_into().unwrap()];
    let mail = mail.then(|| ("refactor".parse().unwrap(), messages));
    SprintInput::Seen(Sights {
        members: vec![
            sight("curator", ready(101, 'a')),
            sight("refactor", ready(102, head)),
        ],
        mail: mail.into_iter().collect(),
        ..Sights::default()
    })
}

#[test]
fn mail_is_read_before_a_weave_a_limited_number_of_times() {
    let mut sprint = begun(&["curator", "refactor"]);
    let ready = "working 1: curator pr_open, refactor pr_open";
    for time in 1..=MAILS_MAX {
        let sent = i64::from(time) * 1_000;
        sprint = apply(&sprint, &with_mail(Some(sent - 500), 'b', true), at(sent));
        assert_eq!(words(&sprint), ready, "{time}");
        let member = sprint.members[1].clone();
        assert_eq!((member.shown.len(), member.mails), (1, time));
        assert!(due(&sprint, at(sent)) <= Some(at(sent + 15 * 60)));
        // It has rested, and its push may still come.
        sprint = apply(
            &sprint,
            &with_mail(Some(sent + 10), 'b', true),
            at(sent + 20),
        );
        assert_eq!(sprint.members[1].reading, member.reading, "{time}");
    }
    let over = i64::from(MAILS_MAX) * 1_000 + 200;
    sprint = apply(&sprint, &with_mail(Some(over - 150), 'b', true), at(over));
    assert_eq!(
        words(&sprint),
        "integrating 2: curator pr_open, refactor pr_open"
    );
}

#[test]
fn what_mail_changes_is_woven_and_what_nobody_reads_holds_up_nothing() {
    let reading = apply(
        &begun(&["curator", "refactor"]),
        &with_mail(None, 'b', true),
        at(1),
    );
    assert!(reading.members[1].reading.is_some());
    let integrating = |sprint: &Sprint| sprint.state == SprintState::Integrating;
    let pushed = apply(&reading, &with_mail(None, 'c', false), at(2));
    let offer = pushed.members[1].offer.clone().unwrap();
    assert!(integrating(&pushed) && offer.head == sha('c'));
    let persona = "refactor".parse().unwrap();
    let refused = apply(&reading, &SprintInput::MailNotTaken { persona }, at(2));
    assert!(integrating(&refused) && refused.members[1].shown.is_empty());
    let late = MEMBER_TIMEOUT.as_secs() + 1;
    let late = apply(&reading, &with_mail(None, 'b', false), at(late));
    assert!(integrating(&late));
    let withdrawn = apply(&reading, &taken_back("refactor"), at(2));
    assert!(integrating(&withdrawn) && withdrawn.members[1].reading.is_none());
    assert!(integrating(&integrate_now(&reading, at(2)).unwrap()));
    let reason = "lost".to_owned();
    let gone = seen(&[("refactor", Work::Gone { reason })]);
    let gone = apply(&reading, &gone, at(2));
    assert!(integrating(&gone), "{}", words(&gone));
}

#[test]
fn a_change_that_was_ready_is_woven_although_its_session_reads_on() {
    let start = begun(&["curator", "refactor"]);
    let reading = apply(&start, &with_mail(None, 'b', true), at(1));
    let reads_on = seen(&[("refactor", Work::Working)]);
    let late = apply(&reading, &reads_on, at(MEMBER_TIMEOUT.as_secs() + 1));
    assert_eq!(
        (late.state.word(), late.offered().len()),
        ("integrating", 2)
    );
}

#[test]
fn mail_that_may_not_have_been_sent_stays_unread_at_the_end() {
    let start = begun(&["curator", "refactor"]);
    let reading = apply(&start, &with_mail(None, 'b', true), at(1));
    let aborted = abort(&reading, "kim", at(2)).unwrap();
    let closed = apply(&reading, &lands(Landing::Closed), at(2));
    for over in [aborted, closed] {
        assert!(over.is_over() && over.members[1].shown.is_empty());
        assert_eq!(over.members[1].reading, None);
    }
}

#[test]
fn a_pull_request_that_is_closed_while_it_is_woven_may_come_back() {
    let start = begun(&["curator", "refactor"]);
    let woven_now = apply(&start, &with_mail(None, 'b', false), at(1));
    assert_eq!(woven_now.state.word(), "integrating");
    let closed = apply(&woven_now, &seen(&[("refactor", Work::Closed)]), at(2));
    assert!(closed.members[1].closed);
}
