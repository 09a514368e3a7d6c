//! The commits that a narrator sums up, as its prompt shows them.

use jiff::Timestamp;
use scaffold::tree::Entry;

use super::*;

fn commit(subject: &str) -> CommitLine {
    CommitLine {
        sha: "a1b2c3d4e5a1b2c3d4e5a1b2c3d4e5a1b2c3d4e5".parse().unwrap(),
        subject: subject.to_owned(),
        at: Timestamp::UNIX_EPOCH,
    }
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
fn without_settings_nothing_is_planned_as_the_doctor_says() {
    let version = (pin::PIN.parse().unwrap(), Entry::text("0.0.1\n"));
    let files: Tree = [version].into_iter().collect();
    let refused = settings_in(&files, (&BranchName::main(), &BranchName::jules()));
    let why = "`.jlo/config.toml` is not there: make it with `gaffer scaffold init`";
    assert!(refused.is_err_and(|said| said.starts_with(why)));
}
