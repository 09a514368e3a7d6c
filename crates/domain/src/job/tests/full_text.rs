//! What was cut for an event says where all of it can be read.

use super::*;
use crate::conversation::{self, ConversationCursor};

fn said(id: &str, second: i64, text: &str) -> Activity {
    let text = text.to_owned();
    activity(id, second, ActivityKind::AgentMessaged { text })
}

fn failed(second: i64, reason: &str) -> Activity {
    let reason = reason.to_owned();
    activity("failed", second, ActivityKind::Failed { reason })
}

/// The address in an event.
fn address(event: &Event) -> Option<&str> {
    event.aid.whole.as_deref()
}

/// What is read at an address.
fn read(story: &Story, address: &str) -> Vec<String> {
    let (path, cursor) = address.split_once("?cursor=").unwrap();
    assert_eq!(path, format!("/jobs/{}/messages", story.job.id));
    let cursor: ConversationCursor = cursor.parse().unwrap();
    let session = SESSION.parse().unwrap();
    let page = conversation::page(&session, &story.log, &cursor, at(10_000));
    page.messages.into_iter().map(|it| it.text).collect()
}

#[test]
fn a_long_question_is_read_whole_where_its_event_says() {
    let long = "Which one? ".repeat(1_000);
    let story = Story::polled(
        vec![said("a1", 5, "Hello"), said("a2", 8, &long)],
        10,
        ASKING,
    );
    let told = address(&story.events[0]).expect("an address");
    assert_eq!(read(&story, told), [long]);
}

#[test]
fn a_long_plan_is_read_whole_where_its_event_says() {
    let mut story = Story::new();
    let step = |number| PlanStep {
        title: format!("Step {number}"),
        description: "Do it well. ".repeat(20),
    };
    let mut long = planned("p1", 5);
    if let ActivityKind::PlanGenerated(plan) = &mut long.kind {
        plan.steps = (0..40).map(step).collect();
    }
    story.log = vec![long];
    story.poll(10, "AWAITING_PLAN_APPROVAL");
    let told = address(&story.events[0]).expect("an address");
    let text = read(&story, told).concat();
    assert!(
        text.starts_with("Plan p1:\n1. Step 0\nDo it well."),
        "{text}"
    );
    assert!(text.contains("\n40. Step 39\n") && text.matches("Do it well.").count() == 800);
}

#[test]
fn a_long_reason_is_read_whole_where_its_event_says() {
    let long = "no space left; ".repeat(300);
    let story = Story::polled(vec![failed(8, &long)], 10, "FAILED");
    let told = address(&story.events[0]).expect("an address");
    assert_eq!(read(&story, told), [long]);
}

#[test]
fn what_is_told_whole_says_nothing() {
    let story = Story::polled(vec![said("a1", 8, "Which one?")], 10, ASKING);
    assert_eq!(address(&story.events[0]), None);
}
