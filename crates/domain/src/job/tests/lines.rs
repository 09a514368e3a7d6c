//! What a session said last, and why it failed, whatever order its log comes in.

use super::*;

fn line(id: &str, second: i64) -> Activity {
    let label = format!("line {id}");
    activity(id, second, ActivityKind::Other { label })
}

fn failed(id: &str, second: i64) -> Activity {
    let reason = format!("reason {id}");
    activity(id, second, ActivityKind::Failed { reason })
}

fn last_line(story: &Story) -> Option<&str> {
    story.watch().log.last_words.as_deref()
}

fn reason(story: &Story) -> Option<&str> {
    story.watch().log.failed.as_deref()
}

#[test]
fn an_older_line_that_comes_late_is_not_the_last() {
    let mut story = Story::polled(vec![line("b", 10)], 11, WORKING);
    story.log.push(line("a", 9));
    story.poll(12, WORKING);
    assert_eq!(last_line(&story), Some("line b"));
    story.log.push(line("c", 13));
    story.poll(14, WORKING);
    assert_eq!(last_line(&story), Some("line c"));
}

#[test]
fn a_line_from_the_far_future_is_followed_by_others() {
    let mut story = Story::polled(vec![line("a", 10), line("z", 10 + 9 * HOUR)], 11, WORKING);
    assert_eq!(last_line(&story), Some("line z"));
    story.log.push(line("b", 12));
    story.poll(13, WORKING);
    assert_eq!(last_line(&story), Some("line b"));
}

#[test]
fn the_newest_failure_says_why() {
    let mut story = Story::polled(vec![line("b", 10)], 11, WORKING);
    // It is older than the newest known activity, and the only reason there is.
    story.log.push(failed("a", 9));
    story.poll(12, WORKING);
    assert_eq!(reason(&story), Some("reason a"));
    story.log.push(failed("d", 20));
    story.poll(21, WORKING);
    assert_eq!(reason(&story), Some("reason d"));
    story.log.push(failed("c", 19));
    story.poll(22, WORKING);
    assert_eq!(reason(&story), Some("reason d"));
}
