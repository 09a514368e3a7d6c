//! Pull requests that were ready and are not any more: where they are merged by themselves, and where they are woven.

use super::*;

/// A sprint of two that begin one after the other. The pull request of the first is ready.
fn sequential() -> Sprint {
    let mode = SprintMode {
        at_once: Some(1),
        integration: Integration::Individual,
        ..SprintMode::default()
    };
    let mut sprint = begun_as(mode, &["curator", "refactor"]);
    let shown = play(&mut sprint, &[seen(&[("curator", ready(101, 'a'))])]);
    assert_eq!(shown, ["working 1: curator pr_open, refactor pending"]);
    sprint
}

#[test]
fn what_is_merged_by_itself_is_waited_for_until_it_is_merged_or_closed() {
    let hours = |hours| at(0) + SignedDuration::from_hours(hours);
    for unready in [Work::Working, Work::Closed] {
        let mut waits = sequential();
        for hour in 1..5 {
            let unready = seen(&[("curator", unready.clone())]);
            waits = apply(&waits, &unready, hours(hour));
            assert_eq!(
                words(&waits),
                "working 1: curator pr_open, refactor pending",
                "{hour} hours"
            );
        }
        let merged = apply(&waits, &seen(&[("curator", Work::Merged)]), hours(5));
        assert_eq!(
            words(&merged),
            "working 1: curator applied, refactor waiting"
        );
        let figures = Figures::of_sprint(&merged);
        assert_eq!((figures.integrated, figures.merged), (1, 1));
        let closed = failed("its pull request was closed");
        let closed = apply(&waits, &seen(&[("curator", closed)]), hours(5));
        assert_eq!(
            words(&closed),
            "working 1: curator failed, refactor waiting"
        );
    }
}

#[test]
fn what_turns_out_to_be_merged_after_an_abort_counts_as_merged() {
    let aborted = abort(&sequential(), "kim", at(3)).unwrap();
    let sights = |work| sights_of(&[("curator", work)]);
    for work in [Work::Working, Work::Closed, ready(101, 'a')] {
        let same = merged_meanwhile(&aborted, &sights(work), at(4));
        assert_eq!(same, aborted);
    }
    let merged = merged_meanwhile(&aborted, &sights(Work::Merged), at(4));
    assert_eq!(
        words(&merged),
        "aborted 1: curator applied, refactor pending"
    );
    assert_eq!(merged.word_of(&merged.members[0]), "applied");
    assert_eq!(merged.state, aborted.state);
    let figures = Figures::of_sprint(&merged);
    assert_eq!((figures.integrated, figures.merged), (1, 1));
    let again = merged_meanwhile(&merged, &sights(Work::Merged), at(5));
    assert_eq!(again, merged);
}

#[test]
fn what_is_woven_gets_its_time_again_once_it_is_not_ready_any_more() {
    let mut sprint = begun(&["curator", "refactor"]);
    let work = |curator| seen(&[("curator", curator), ("refactor", Work::Working)]);
    play(&mut sprint, &[work(ready(101, 'a'))]);
    let minutes = |minutes| at(1) + SignedDuration::from_mins(minutes);
    for (minute, expected) in [
        (29, "working 1: curator working, refactor working"),
        (58, "working 1: curator working, refactor timed_out"),
        (
            59,
            "partially_done 1: curator timed_out, refactor timed_out",
        ),
    ] {
        sprint = apply(&sprint, &work(Work::Working), minutes(minute));
        assert_eq!(words(&sprint), expected, "{minute} minutes");
    }
}
