//! What a sprint does about conflicts that messages do not resolve, and about failing checks of what is woven.

use super::*;

const FIRST: [(&str, u64, char); 2] = [("curator", 101, 'a'), ("refactor", 102, 'b')];

/// Both members are ready.
fn both() -> SprintInput {
    let works = FIRST.map(|(name, number, head)| (name, ready(number, head)));
    seen(&works)
}

/// The weave takes the curator, and refuses the refactor's pull request at this head.
fn refused(weave: u32, number: u64, head: char) -> SprintInput {
    woven(weave, vec![(101, is_in('a')), (number, is_out(head, 101))])
}

/// A weave whose tree holds these changes, too.
fn holding(weave: u32, verdicts: Vec<(u64, WeaveVerdict)>, held: &[u64]) -> SprintInput {
    let SprintInput::Woven(mut report) = woven(weave, verdicts) else {
        unreachable!();
    };
    report.held = held.to_vec();
    SprintInput::Woven(report)
}

/// What the present job of a member has come to.
fn of_job(sprint: &Sprint, name: &str, work: Work) -> SprintInput {
    let member = sprint.member(&name.parse().unwrap()).unwrap();
    SprintInput::Seen(sights(vec![(member.job.clone(), made(work, None))]))
}

fn gone() -> Work {
    Work::Gone {
        reason: "its session disappeared".to_owned(),
    }
}

/// A sprint whose member conflicted twice.
pub(super) fn refused_twice() -> Sprint {
    let mut sprint = begun(&["curator", "refactor"]);
    let shown = play(
        &mut sprint,
        &[
            both(),
            refused(1, 102, 'b'),
            told("refactor"),
            seen(&[("refactor", ready(102, 'c'))]),
            refused(2, 102, 'c'),
        ],
    );
    assert_eq!(shown[1], "fixing 3: curator applied, refactor conflicted");
    assert_eq!(shown[4], "fixing 5: curator applied, refactor waiting");
    sprint
}

/// A session that is done has pushed nothing only if its pull request was read since its push had to be there.
#[test]
fn a_pull_request_that_was_not_read_since_is_read_before_another_attempt() {
    let mut sprint = begun(&["curator", "refactor"]);
    let steps = [both(), refused(1, 102, 'b'), told("refactor")];
    play(&mut sprint, &steps);
    let refactor = sprint.member(&"refactor".parse().unwrap()).unwrap();
    let curator = sprint.member(&"curator".parse().unwrap()).unwrap();
    let asked = |member, (read_at, now)| {
        let mut sight = made(ready(102, 'b'), Some(1_000));
        let must = must_be_read(member, &mut sight, read_at, at(now));
        assert_eq!(must, sight.rested_at.is_none());
        must
    };
    assert!(asked(refactor, (Some(at(1_119)), 1_120)));
    assert!(!asked(refactor, (Some(at(1_120)), 1_120)), "it was read");
    assert!(!asked(refactor, (None, 1_120)), "there is none");
    assert!(!asked(refactor, (Some(at(0)), 1_119)), "a push may be late");
    assert!(
        !asked(curator, (Some(at(0)), 1_120)),
        "it was asked for nothing"
    );
    let sights = Sights {
        unread: vec![102],
        ..Sights::default()
    };
    assert_eq!(soon(&sights, at(1_120)), Some(at(1_180)));
}

#[test]
fn the_last_attempt_is_a_new_job_whose_pull_request_replaces_the_old_one() {
    let mut sprint = refused_twice();
    let member = &sprint.members[1];
    assert_eq!(member.earlier, [job_of("refactor")]);
    assert_eq!(member.attempts, ATTEMPTS_MAX);
    assert!(member.begins_on_woven());
    let old = seen(&[("refactor", ready(102, 'd'))]);
    assert_eq!(apply(&sprint, &old, at(9)), sprint, "its old job is over");
    let new = of_job(&sprint, "refactor", ready(105, 'e'));
    let shown = play(
        &mut sprint,
        &[
            new,
            woven(3, vec![(101, is_in('a')), (105, is_in('e'))]),
            lands(Landing::Merged),
        ],
    );
    assert_eq!(shown[0], "integrating 6: curator applied, refactor pr_open");
    assert_eq!(shown[2], "done 6: curator applied, refactor applied");
    let figures = Figures::of_sprint(&sprint);
    assert_eq!((figures.resolved, figures.ticks_to_resolution), (1, 4));
}

#[test]
fn the_weaver_resolves_what_three_attempts_do_not() {
    let mut sprint = refused_twice();
    let new = of_job(&sprint, "refactor", ready(105, 'e'));
    let shown = play(&mut sprint, &[new, refused(3, 105, 'e')]);
    assert_eq!(
        shown[1],
        "fixing 7: curator applied, refactor delegated, weaver waiting"
    );
    assert_eq!(sprint.delegated().count(), 1);
    let resolved = of_job(&sprint, "weaver", ready(106, 'f'));
    let all = vec![(101, is_in('a')), (106, is_in('f'))];
    let shown = play(
        &mut sprint,
        &[resolved, holding(4, all, &[105]), lands(Landing::Merged)],
    );
    assert_eq!(
        shown[2],
        "done 8: curator applied, refactor delegated, weaver applied"
    );
    assert!(sprint.members[1].is_in());
    let figures = Figures::of_sprint(&sprint);
    assert_eq!((figures.integrated, figures.resolved), (2, 1));
    assert_eq!(
        (figures.members, figures.merged),
        (2, 2),
        "the weaver is none"
    );
    assert_eq!(figures.conflict_rate, 50);
    assert_eq!(
        figures.ticks_to_resolution, 6,
        "it is in by the weaver's change"
    );
}

#[test]
fn a_pull_request_that_was_opened_after_the_one_that_was_woven_is_not_covered() {
    let mut sprint = late_at_last();
    let late = of_job(&sprint, "refactor", ready(130, 'e'));
    let joined = of_job(&sprint, "weaver", ready(106, 'f'));
    let all = vec![(101, is_in('a')), (106, is_in('f'))];
    play(&mut sprint, &[late, joined, holding(3, all, &[102])]);
    let member = &sprint.members[1];
    assert!(member.is_in());
    assert!(member.covers(102, &sha('c')), "it is in");
    assert!(!member.covers(102, &sha('d')), "it was pushed to");
    assert!(member.covers(99, &sha('d')), "it was replaced");
    assert!(!member.covers(130, &sha('e')), "no weave holds it");
    let nothing = begun(&["curator"]);
    assert!(!nothing.members[0].covers(101, &sha('a')));
}

#[test]
fn what_the_weaver_joined_goes_out_with_what_is_taken_back_of_it() {
    let all = || vec![(101, is_in('a')), (106, is_in('f'))];
    let without = vec![(101, is_in('a'))];
    let sprint = late_at_last();
    let made = || of_job(&sprint, "weaver", ready(106, 'f'));
    let played = |inputs: &[SprintInput]| {
        let mut sprint = sprint.clone();
        let shown = play(&mut sprint, inputs);
        (sprint, shown.last().cloned().unwrap_or_default())
    };
    // Before it is woven, while it is, and afterwards.
    let (back, now) = played(&[taken_back("refactor")]);
    let out = "curator applied, refactor withdrawn, weaver withdrawn";
    assert_eq!(now, format!("verifying 6: {out}"));
    assert_eq!(apply(&back, &made(), at(9)).members, back.members);
    for inputs in [
        [made(), taken_back("refactor"), holding(3, all(), &[102])],
        [made(), holding(3, all(), &[102]), taken_back("refactor")],
    ] {
        let (mut back, now) = played(&inputs);
        assert_eq!(now, format!("integrating 8: {out}"));
        let shown = play(
            &mut back,
            &[woven(4, without.clone()), lands(Landing::Merged)],
        );
        let ends = ["verifying", "done"].map(|it| format!("{it} 8: {out}"));
        assert_eq!(shown, ends);
    }
    let (_, now) = played(&[made(), woven(3, all()), taken_back("refactor")]);
    let kept = "verifying 7: curator applied, refactor withdrawn, weaver applied";
    assert_eq!(now, kept, "it does not hold it");
}

#[test]
fn nothing_is_in_by_a_change_of_the_weaver_that_goes_out() {
    let mut sprint = begun(&["curator", "refactor"]);
    for (member, number) in sprint.members.iter_mut().zip([101, 102]) {
        let head = sha('a');
        member.offer = Some(Offer { pull: number, head });
        member.state = MemberState::Unresolved;
    }
    sprint = apply(&sprint, &seen(&[]), at(1));
    let made = of_job(&sprint, "weaver", ready(106, 'f'));
    let all = vec![(106, is_in('f'))];
    let shown = play(
        &mut sprint,
        &[made, holding(1, all, &[101, 102]), taken_back("curator")],
    );
    assert_eq!(
        shown[1..],
        [
            "verifying 3: curator delegated, refactor delegated, weaver applied",
            "partially_done 3: curator withdrawn, refactor skipped, weaver withdrawn"
        ]
    );
}

#[test]
fn what_the_weaver_cannot_resolve_is_left_out_and_the_rest_is_merged() {
    let mut sprint = refused_twice();
    let new = of_job(&sprint, "refactor", ready(105, 'e'));
    play(&mut sprint, &[new, refused(3, 105, 'e')]);
    let nothing = of_job(&sprint, "weaver", gone());
    let shown = play(&mut sprint, &[nothing, lands(Landing::Merged)]);
    assert_eq!(
        shown[0],
        "verifying 7: curator applied, refactor delegated, weaver failed"
    );
    assert_eq!(
        shown[1],
        "partially_done 7: curator applied, refactor skipped, weaver failed"
    );
    let reason = sprint.state.reason().unwrap();
    assert_eq!(reason, "refactor: it still conflicts after 3 attempts");
}

#[test]
fn what_the_weaver_leaves_out_is_skipped_although_its_own_change_is_merged() {
    let mut sprint = refused_twice();
    let new = of_job(&sprint, "refactor", ready(105, 'e'));
    play(&mut sprint, &[new, refused(3, 105, 'e')]);
    let made = of_job(&sprint, "weaver", ready(106, 'f'));
    let all = || vec![(101, is_in('a')), (106, is_in('f'))];
    // It is in the first tree, and not in the one that is merged.
    play(&mut sprint, &[made, holding(4, all(), &[105])]);
    assert!(sprint.members[1].is_in());
    sprint.state = SprintState::Integrating;
    let shown = play(&mut sprint, &[woven(4, all())]);
    assert_eq!(
        shown,
        ["verifying 8: curator applied, refactor delegated, weaver applied"]
    );
    assert!(!sprint.members[1].is_in());
    assert!(sprint.members[1].missing().is_some());
    assert_eq!(labels(&sprint, 4), [""; 0]);
    let shown = play(&mut sprint, &[lands(Landing::Merged)]);
    assert_eq!(
        shown,
        ["partially_done 8: curator applied, refactor skipped, weaver applied"]
    );
    let reason = sprint.state.reason().unwrap();
    let expected = "refactor: the weaver's change does not hold all lines of it";
    assert_eq!(reason, expected);
    let figures = Figures::of_sprint(&sprint);
    assert_eq!((figures.integrated, figures.resolved), (1, 0));
    assert_eq!(figures.skipped, 1);
}

#[test]
fn the_weaver_is_given_as_many_conflicts_as_its_prompt_has_room_for() {
    let ids: Vec<String> = (0..=LEFTOVERS_MAX).map(|at| format!("p{at:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut sprint = begun(&ids);
    for member in &mut sprint.members {
        member.state = MemberState::Unresolved;
    }
    let seen = apply(&sprint, &seen(&[]), at(1));
    assert_eq!(seen.delegated().count(), LEFTOVERS_MAX);
    let last = &seen.members[LEFTOVERS_MAX];
    assert_eq!(
        last.missing().as_deref(),
        Some("the weaver's job resolves 20 conflicts at most")
    );
    assert_eq!(seen.weaver().unwrap().state.word(), "waiting");
}

#[test]
fn a_conflict_outlives_its_session_but_not_a_pull_request_that_a_person_closed() {
    let mut sprint = begun(&["curator", "refactor"]);
    play(
        &mut sprint,
        &[both(), refused(1, 102, 'b'), told("refactor")],
    );
    let is_gone = of_job(&sprint, "refactor", gone());
    let anew = apply(&sprint, &is_gone, at(9));
    assert_eq!(words(&anew), "fixing 3: curator applied, refactor waiting");
    let closed = failed("its pull request was closed");
    let closed = apply(&sprint, &of_job(&sprint, "refactor", closed), at(9));
    assert_eq!(
        words(&closed),
        "verifying 3: curator applied, refactor failed"
    );
}

#[test]
fn a_new_job_that_makes_nothing_is_never_made_or_takes_too_long_leaves_its_conflict_to_the_weaver()
{
    const LEFT: &str = "fixing 6: curator applied, refactor delegated, weaver waiting";
    for work in [Work::Nothing, gone()] {
        let sprint = refused_twice();
        let none = apply(&sprint, &of_job(&sprint, "refactor", work), at(9));
        assert_eq!(words(&none), LEFT);
    }
    assert_eq!(words(&late_at_last()), LEFT);
    let sprint = refused_twice();
    let never = never_made(sprint.members[1].job.clone(), "too long".to_owned());
    let none = apply(&sprint, &SprintInput::Seen(never), at(9));
    assert_eq!(words(&none), LEFT);
    let first = never_made(job_of("curator"), "too long".to_owned());
    let none = apply(&begun(&["curator"]), &SprintInput::Seen(first), at(9));
    assert_eq!(words(&none), "partially_done 1: curator failed");
}

/// A sprint whose member conflicted twice, and whose last attempt is late: the weaver gets what it offered before.
fn late_at_last() -> Sprint {
    let sprint = refused_twice();
    let works = of_job(&sprint, "refactor", Work::Working);
    let works = apply(&sprint, &works, at(9));
    plus_minutes(&works, "refactor", 30)
}

/// The sprint so many minutes after a member began to work, which still works.
fn plus_minutes(sprint: &Sprint, name: &str, minutes: i64) -> Sprint {
    let since = sprint.member(&name.parse().unwrap()).unwrap().since;
    let works = of_job(sprint, name, Work::Working);
    apply(sprint, &works, since + SignedDuration::from_mins(minutes))
}

#[test]
fn who_is_left_over_after_the_job_of_the_weaver_is_no_part_of_what_it_made() {
    let mut sprint = begun(&["curator", "refactor", "visionary"]);
    let all = vec![(101, is_in('a')), (102, is_in('b'))];
    play(
        &mut sprint,
        &[both(), seen(&[("visionary", Work::Working)])],
    );
    sprint = integrate_now(&sprint, at(5)).unwrap();
    let input = woven(1, all);
    play(&mut sprint, &[input]);
    let input = red(&sprint, &[]);
    play(&mut sprint, &[input]);
    let mended = of_job(&sprint, "weaver", ready(106, 'f'));
    let with_weaver = vec![(101, is_in('a')), (102, is_in('b')), (106, is_in('f'))];
    let mut last = with_weaver.clone();
    last.push((103, is_out('c', 101)));
    let shown = play(
        &mut sprint,
        &[
            mended,
            woven(2, with_weaver),
            seen(&[("visionary", ready(103, 'c'))]),
            woven(3, last),
        ],
    );
    assert!(
        shown[3].ends_with("visionary conflicted, weaver applied"),
        "{shown:?}"
    );
    let is_gone = of_job(&sprint, "visionary", gone());
    sprint = apply(&sprint, &is_gone, at(20));
    assert_eq!(sprint.members[2].state.word(), "waiting");
    let is_gone = of_job(&sprint, "visionary", gone());
    sprint = apply(&sprint, &is_gone, at(21));
    assert_eq!(sprint.members[2].state.word(), "unresolved");
    sprint = apply(&sprint, &lands(Landing::Merged), at(22));
    assert_eq!(sprint.members[2].state.word(), "skipped");
    assert_eq!(sprint.state.word(), "partially_done");
}

/// A sprint whose one pull request is open.
fn verifying() -> Sprint {
    let mut sprint = begun(&["curator", "refactor"]);
    let all = vec![(101, is_in('a')), (102, is_in('b'))];
    play(&mut sprint, &[both(), woven(1, all)]);
    sprint
}

/// The checks of what is woven fail, and those of some members as well.
fn red(sprint: &Sprint, alone: &[&str]) -> SprintInput {
    let members = FIRST.map(|(name, number, head)| {
        let mut sight = made(ready(number, head), None);
        sight.is_red = alone.contains(&name);
        let member = sprint.member(&name.parse().unwrap()).unwrap();
        (member.job.clone(), sight)
    });
    SprintInput::Seen(Sights {
        members: members.into(),
        landing: Some(Landing::Red),
        ..Sights::default()
    })
}

#[test]
fn who_is_red_alone_is_taken_out_of_what_is_red() {
    let mut sprint = verifying();
    let input = red(&sprint, &["refactor"]);
    let shown = play(&mut sprint, &[input, woven(2, vec![(101, is_in('a'))])]);
    assert_eq!(shown[0], "integrating 3: curator applied, refactor skipped");
    assert_eq!(shown[1], "verifying 3: curator applied, refactor skipped");
    assert!(sprint.members[1].missing().unwrap().contains("checks fail"));
}

#[test]
fn where_all_are_green_alone_the_weaver_mends_the_checks_once() {
    let mut sprint = verifying();
    let input = red(&sprint, &[]);
    let shown = play(&mut sprint, &[input]);
    assert_eq!(
        shown,
        ["fixing 3: curator applied, refactor applied, weaver waiting"]
    );
    assert!(!sprint.is_to_be_merged(&sha('9')));
    let mended = of_job(&sprint, "weaver", ready(106, 'f'));
    let all = vec![(101, is_in('a')), (102, is_in('b')), (106, is_in('f'))];
    play(&mut sprint, &[mended, woven(2, all)]);
    let still_red = red(&sprint, &[]);
    let again = apply(&sprint, &still_red, at(20));
    assert_eq!(
        words(&again),
        "verifying 4: curator applied, refactor applied, weaver applied",
        "a person looks at what is still red"
    );
}

#[test]
fn a_red_member_is_no_matter_while_what_is_woven_is_green() {
    let sprint = verifying();
    let SprintInput::Seen(mut sights) = red(&sprint, &["refactor"]) else {
        unreachable!();
    };
    sights.landing = Some(Landing::Open);
    let next = apply(&sprint, &SprintInput::Seen(sights), at(9));
    assert_eq!(
        words(&next),
        "verifying 2: curator applied, refactor applied"
    );
}

#[test]
fn the_weaver_is_waited_for_longer() {
    let mut sprint = verifying();
    let input = red(&sprint, &[]);
    play(&mut sprint, &[input]);
    let works = of_job(&sprint, "weaver", Work::Working);
    let works = apply(&sprint, &works, at(9));
    let before = plus_minutes(&works, "weaver", 89);
    assert_eq!(before.weaver().unwrap().state.word(), "working");
    let late = plus_minutes(&works, "weaver", 90);
    assert_eq!(late.weaver().unwrap().state.word(), "timed_out");
}

/// What a weave does with labels, in words.
fn labels(sprint: &Sprint, weave: u32) -> Vec<String> {
    let of = |job: &JobId| {
        let mut members = sprint.members.iter();
        let member = members.find_map(|it| Some((it, it.jobs().position(|its| its == job)?)));
        let (member, place) = member.unwrap();
        format!("{} {}", member.persona, place + 1)
    };
    let words = conflict_labels(sprint, weave)
        .into_iter()
        .map(|it| match it {
            ConflictLabel::On { pull } => format!("on #{pull}"),
            ConflictLabel::Off { job, refused } => format!("off {} of weave {refused}", of(job)),
        });
    words.collect()
}

#[test]
fn the_label_of_a_conflict_goes_on_and_off_with_each_of_them() {
    let mut sprint = begun(&["curator", "refactor"]);
    play(&mut sprint, &[both(), refused(1, 102, 'b')]);
    assert_eq!(labels(&sprint, 1), ["on #102"]);
    let all = vec![(101, is_in('a')), (102, is_in('c'))];
    play(
        &mut sprint,
        &[
            told("refactor"),
            seen(&[("refactor", ready(102, 'c'))]),
            woven(2, all),
        ],
    );
    assert_eq!(labels(&sprint, 2), ["off refactor 1 of weave 1"]);
    play(&mut sprint, &[lands(Landing::Stale), refused(3, 102, 'c')]);
    assert_eq!(sprint.members[1].state.word(), "waiting", "it begins anew");
    assert_eq!(labels(&sprint, 3), ["on #102"], "again");
    let new = of_job(&sprint, "refactor", ready(105, 'e'));
    let all = vec![(101, is_in('a')), (105, is_in('e'))];
    play(&mut sprint, &[new, woven(4, all)]);
    assert_eq!(
        labels(&sprint, 4),
        ["off refactor 1 of weave 3"],
        "of the pull request that was replaced"
    );
}

#[test]
fn labels_that_go_on_come_before_those_that_go_off() {
    let mut sprint = begun(&["curator", "refactor"]);
    play(
        &mut sprint,
        &[
            both(),
            woven(1, vec![(102, is_in('b')), (101, is_out('a', 102))]),
            told("curator"),
            seen(&[("curator", ready(101, 'c'))]),
            woven(2, vec![(101, is_in('c')), (102, is_out('b', 101))]),
        ],
    );
    assert_eq!(labels(&sprint, 2), ["on #102", "off curator 1 of weave 1"]);
}

#[test]
fn a_label_that_comes_late_goes_on_no_change_that_is_in() {
    let conflicts = |sprint: &Sprint| {
        let jobs = ["curator", "refactor"].map(job_of);
        jobs.map(|job| still_conflicts(sprint, &job))
    };
    let mut sprint = begun(&["curator", "refactor"]);
    play(&mut sprint, &[both(), refused(1, 102, 'b')]);
    assert_eq!(conflicts(&sprint), [false, true]);
    let aborted = abort(&sprint, "kim", at(9)).unwrap();
    assert_eq!(conflicts(&aborted), [false, false]);
    let answer = seen(&[("refactor", ready(102, 'c'))]);
    play(&mut sprint, &[told("refactor"), answer]);
    assert_eq!(conflicts(&sprint), [false, true], "it is not in yet");
    let all = vec![(101, is_in('a')), (102, is_in('c'))];
    play(&mut sprint, &[woven(2, all)]);
    assert_eq!(conflicts(&sprint), [false, false]);
}

#[test]
fn the_labels_of_conflicts_go_off_once_the_weaver_has_resolved_them() {
    let mut sprint = refused_twice();
    let new = of_job(&sprint, "refactor", ready(105, 'e'));
    play(&mut sprint, &[new, refused(3, 105, 'e')]);
    assert_eq!(labels(&sprint, 3), ["on #105"]);
    let resolved = of_job(&sprint, "weaver", ready(106, 'f'));
    let all = vec![(101, is_in('a')), (106, is_in('f'))];
    play(&mut sprint, &[resolved, holding(4, all, &[105])]);
    assert_eq!(
        labels(&sprint, 4),
        ["off refactor 1 of weave 3", "off refactor 2 of weave 3"]
    );
}
