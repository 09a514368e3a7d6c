//! Commits as a narrator's prompt shows them.

use super::*;

fn commit(subject: &str) -> CommitLine {
    CommitLine {
        sha: "a1b2c3d4e5a1b2c3d4e5a1b2c3d4e5a1b2c3d4e5".parse().unwrap(),
        subject: subject.to_owned(),
        at: Timestamp::UNIX_EPOCH,
    }
}

/// Commits of these seconds, the newest first.
fn log(seconds: &[i64]) -> Vec<CommitLine> {
    let line = |second: &i64| CommitLine {
        sha: format!("{second:040}").parse().unwrap(),
        subject: "Fix it".to_owned(),
        at: Timestamp::from_second(*second).unwrap(),
    };
    seconds.iter().map(line).collect()
}

#[test]
fn a_subject_hides_nothing_and_shows_no_secret() {
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    let subject = format!("Add\u{202e} {secret}\u{1b}[2J");
    let text = described(&[commit(&subject), commit("Fix it")]);
    assert_eq!(text, "a1b2c3d Add [secret][2J\na1b2c3d Fix it");
    let long = described(&[commit(&"x".repeat(500))]);
    assert_eq!(
        long.chars().count(),
        "a1b2c3d ".len() + SUBJECT_CHARS_MAX + 1
    );
}

#[test]
fn only_whole_lines_are_shown_and_as_many_as_fit() {
    let log = vec![commit(&"y".repeat(SUBJECT_CHARS_MAX)); COMMITS_MAX * 2];
    let text = described(&log);
    assert!(text.len() <= RANGE_BYTES_MAX);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.len() < log.len());
    assert!(lines.iter().all(|line| *line == lines[0]));
}

#[test]
fn what_came_after_the_last_summary_is_new() {
    let log = log(&[40, 30, 20, 10]);
    for (since, count) in [
        (None, 4),
        (Some(5), 4),
        (Some(20), 2),
        (Some(39), 1),
        (Some(40), 0),
    ] {
        let at = since.map(|since| Timestamp::from_second(since).unwrap());
        assert_eq!(uncovered(&log, at, None), &log[..count], "{since:?}");
    }
    assert!(wanted(None) < wanted(Some(Timestamp::UNIX_EPOCH)));
}

#[test]
fn where_the_last_commit_of_the_summary_is_known_its_day_does_not_count() {
    let log = log(&[40, 30, 20, 10]);
    let all_day = Some(Timestamp::from_second(5).unwrap());
    let up_to = |at: usize| uncovered(&log, all_day, Some(&log[at].sha)).len();
    assert_eq!([up_to(0), up_to(2)], [0, 2]);
    // One that is not among them may be older, or of a history that was rewritten.
    let gone = "f".repeat(40).parse().unwrap();
    assert_eq!(uncovered(&log, all_day, Some(&gone)).len(), 4);
    // Once the summary itself is gone, there is nothing that covers a commit.
    assert_eq!(uncovered(&log, None, Some(&log[0].sha)).len(), 4);
}
