//! What is stored with a job stays small, and comes back as it was.

use super::*;

/// The store takes no larger body.
const BODY_BYTES_MAX: usize = 64 * 1024;

#[test]
fn the_largest_job_fits_into_a_record() {
    let mut new = new_job();
    new.prompt = "\"".repeat(PROMPT_BYTES_MAX / 2);
    new.title = Some("\u{1F980}".repeat(500));
    let creating = start(&create(new, at(0)).unwrap().aggregate, at(0))
        .unwrap()
        .aggregate;
    let mut story = Story::new();
    story.job = created(
        &creating,
        &view(SESSION, "QUEUED"),
        at(0),
        &Timing::default(),
    )
    .aggregate;
    story.job.again = Some(Retry {
        ended: "\u{1F980}".repeat(RETRY_REASON_CHARS_MAX),
        reason: Some("\u{1F980}".repeat(RETRY_REASON_CHARS_MAX)),
    });
    let long = "\"\u{1F980}\n".repeat(2_000);
    let step = PlanStep {
        title: long.clone(),
        description: long.clone(),
    };
    let plan = Plan {
        id: "p".repeat(128).parse().unwrap(),
        steps: vec![step; 300],
    };
    story.log = vec![
        activity("m", 5, ActivityKind::PlanGenerated(plan)),
        activity(
            "f",
            6,
            ActivityKind::Failed {
                reason: long.clone(),
            },
        ),
    ];
    for n in 0..60 {
        let id = format!("{n:0>128}");
        story.log.push(activity(
            &id,
            7,
            ActivityKind::AgentMessaged { text: long.clone() },
        ));
    }
    story.poll(10, "AWAITING_PLAN_APPROVAL");
    story.poll(20, ASKING);
    story.poll(30, "AWAITING_PLAN_APPROVAL");
    story.poll(40, &"X".repeat(100_000));
    let bytes = serde_json::to_vec(&story.job).unwrap().len();
    assert!(bytes < BODY_BYTES_MAX, "{bytes}");
    for event in &story.events {
        let bytes = serde_json::to_vec(event).unwrap().len();
        assert!(bytes < 20_000, "{bytes}");
    }
}

#[test]
fn what_is_never_asked_for_again_is_forgotten() {
    let mut story = Story::new();
    let recent = |story: &Story| {
        let marks = story.watch().log.recent.iter();
        marks.map(|mark| mark.id.to_string()).collect::<Vec<_>>()
    };
    story.log = vec![worked("w1", 3), worked("w2", 4)];
    story.poll(5, WORKING);
    assert_eq!(recent(&story), ["w1", "w2"]);
    story.log.push(worked("w3", 5));
    story.poll(6, WORKING);
    assert_eq!(recent(&story), ["w2", "w3"]);
}

#[test]
fn a_job_comes_back_from_its_record_as_it_was() {
    let mut story = Story::of(vec![
        planned("p1", 5),
        approved("p1", 6),
        agent("a1", 7),
        done("d1", 8),
    ]);
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    story.poll(10, ASKING);
    story.poll(20, "COMPLETED");
    let text = serde_json::to_string(&story.job).unwrap();
    assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), story.job);
}
