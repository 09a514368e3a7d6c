//! What is kept of a run.

use super::*;
use crate::fence::encoded_len;
use crate::ids::PlanId;
use crate::session::{Activity, ActivityKind, Originator, Plan, PlanStep};

fn activity(second: i64, kind: ActivityKind) -> Activity {
    Activity {
        id: format!("a{second}").parse().unwrap(),
        at: at(second),
        originator: Originator::System,
        kind,
    }
}

fn said(second: i64, text: &str) -> Activity {
    let text = text.to_owned();
    activity(second, ActivityKind::AgentMessaged { text })
}

fn all() -> TranscriptSpan {
    TranscriptSpan {
        job: JobId::from_ulid(ulid::Ulid(1)),
        session: session(),
        after: None,
        through: at(1_000_000),
        is_collected: false,
    }
}

fn line(entry: &TranscriptEntry) -> String {
    let (role, kind) = (entry.role.as_str(), entry.kind.word());
    format!("{role} {kind}: {}", entry.text)
}

fn plan_id() -> PlanId {
    "p1".parse().unwrap()
}

#[test]
fn every_activity_is_an_entry_without_secrets() {
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    let step = |title: &str, description: &str| PlanStep {
        title: title.to_owned(),
        description: description.to_owned(),
    };
    let plan = Plan {
        id: plan_id(),
        steps: vec![step("Read", ""), step("Write", "with care")],
    };
    let told = |text: &str| text.to_owned();
    let table = [
        (
            ActivityKind::AgentMessaged {
                text: format!("The token is {secret}"),
            },
            "assistant text: The token is [secret]",
        ),
        (
            ActivityKind::UserMessaged {
                text: told("Go on\u{202e}."),
            },
            "user text: Go on.",
        ),
        (
            ActivityKind::PlanGenerated(plan),
            "assistant tool_use: Plan:\n1. Read\n2. Write\nwith care",
        ),
        (
            ActivityKind::PlanApproved {
                plan: Some(plan_id()),
            },
            "user tool_result: The plan was approved.",
        ),
        (
            ActivityKind::Progressed {
                title: told("Ran the tests"),
                description: told("All of them pass"),
            },
            "assistant thinking: Ran the tests\nAll of them pass",
        ),
        (
            ActivityKind::Completed,
            "assistant tool_result: The session was finished.",
        ),
        (
            ActivityKind::Failed {
                reason: told("no disk"),
            },
            "assistant tool_result: The session failed.\nno disk",
        ),
        (
            ActivityKind::Other {
                label: told("rested"),
            },
            "assistant tool_use: rested",
        ),
    ];
    for (kind, expected) in table {
        let entries = transcript(&[activity(1, kind)], &all());
        let lines: Vec<String> = entries.iter().map(line).collect();
        assert_eq!(lines, [expected]);
    }
    assert_eq!(transcript(&[said(1, " \n")], &all()), [], "it says nothing");
}

#[test]
fn pages_hold_so_much_and_the_newest_stay() {
    let long = "x".repeat(7_900);
    let entries = |count: i64| {
        let log: Vec<Activity> = (0..count).map(|second| said(second, &long)).collect();
        transcript(&log, &all())
    };
    assert_eq!(transcript_pages(Vec::new()), (Vec::new(), 0));
    let (pages, left_out) = transcript_pages(entries(24));
    assert_eq!((pages.len(), left_out), (8, 0));
    for page in &pages {
        let bytes = serde_json::to_string(page).unwrap().len();
        assert!(bytes <= TRANSCRIPT_PAGE_BYTES_MAX, "{bytes}");
    }
    let (pages, left_out) = transcript_pages(entries(26));
    assert_eq!((pages.len(), left_out), (TRANSCRIPT_PAGES_MAX, 3));
    let last = pages.last().and_then(|page| page.last()).unwrap();
    assert_eq!(last.at, at(25));
    let whole = transcript(&[said(1, &"é\n".repeat(9_000))], &all());
    assert!(whole[0].text.ends_with('…') && encoded_len(&whole[0].text) <= 8_000);
}

#[test]
fn each_run_has_its_part_of_the_log_of_their_session() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Nobody));
    world.kim(Act::Start);
    let plan = world.delivery.runs[0].id.clone();
    world.sees(SessionWork::Working, None);
    let wanted = |world: &World, second| transcripts_wanted(&world.delivery, at(second));
    assert_eq!(wanted(&world, 9_000), [], "it is under way");
    assert_eq!(transcript_span(&world.delivery, &plan), None);
    world.second = 100;
    world.sees(SessionWork::Planned(plan_id()), None);
    assert_eq!(wanted(&world, 160), [], "more of it may be written");
    assert_eq!(wanted(&world, 161), std::slice::from_ref(&plan));
    let looks = due(&world.delivery, at(160));
    assert_eq!(looks, Some(at(161)), "that is when it looks");
    world.second = 500;
    world.kim(Act::APPROVE);
    world.second = 600;
    world.kim(Act::Cancel);
    let made = world.delivery.runs[1].id.clone();
    assert_eq!(wanted(&world, 660), std::slice::from_ref(&plan));
    assert_eq!(wanted(&world, 661), [plan.clone(), made.clone()]);

    let log: Vec<Activity> = [50, 101, 161, 162, 300, 601, 661, 662]
        .map(|second| said(second, "so"))
        .into();
    let seconds = |run: &RunId| {
        let span = transcript_span(&world.delivery, run).unwrap();
        assert_eq!(span.session, session());
        let entries = transcript(&log, &span);
        let second = |entry: &TranscriptEntry| entry.at.duration_since(at(0)).as_secs();
        entries.iter().map(second).collect::<Vec<_>>()
    };
    assert_eq!(seconds(&plan), [50, 101, 161]);
    assert_eq!(seconds(&made), [162, 300, 601, 661]);
    let unknown = RunId::of_delivery(&world.delivery.id, 7);
    assert_eq!(transcript_span(&world.delivery, &unknown), None);
}

#[test]
fn what_was_kept_is_noted_down_even_when_all_is_over() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    world.reads(merged(None));
    assert_eq!(place(&world.delivery), "close/succeeded");
    assert_eq!(due(&world.delivery, at(4)), Some(at(63)));
    // A log that cannot be read is tried again for a week.
    let day = 24 * 3_600;
    assert_eq!(due(&world.delivery, at(day)), Some(at(day + 3_600)));
    assert_eq!(due(&world.delivery, at(8 * day)), None);
    let wanted = transcripts_wanted(&world.delivery, at(63));
    assert_eq!(
        wanted.len(),
        2,
        "plan and implement, and none of the system's"
    );
    for run in &wanted {
        let entries = transcript(&[said(7, "so"), said(9, "well")], &all());
        let kept = with_transcript(&world.delivery, run, &entries, at(90));
        assert_eq!(kept.aggregate.version, world.delivery.version + 1);
        let again = with_transcript(&kept.aggregate, run, &entries, at(91));
        assert_eq!(again.aggregate, kept.aggregate, "once more changes nothing");
        world.delivery = kept.aggregate;
    }
    assert_eq!(transcripts_wanted(&world.delivery, at(9_000)), []);
    // What the first run's reading came too early for is told by the second.
    let span = transcript_span(&world.delivery, &wanted[1]).unwrap();
    assert_eq!(span.after, Some(at(9)));
    let none = with_transcript(&world.delivery, &wanted[0], &[], at(92));
    let run = none.aggregate.runs.first().unwrap();
    assert!(run.transcript.is_none(), "its log held nothing");
}

#[test]
fn a_collected_session_and_one_that_reviews_have_transcripts() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Jules));
    let asked = world.delivery.review.asked.clone().unwrap();
    let reviewer: SessionId = "s2".parse().unwrap();
    world
        .take(&DeliveryInput::Review(ReviewSight {
            job: asked.job.unwrap(),
            session: Some(reviewer.clone()),
            state: ReviewState::Failed("it is gone".to_owned()),
        }))
        .unwrap();
    let run = world.delivery.runs.last().unwrap();
    assert_eq!(run.session, Some(reviewer));
    assert_eq!(run.transcript, TranscriptState::Pending);
    world.kim(Act::Collect {
        job: JobId::from_ulid(ulid::Ulid(9)),
        session: Some("s3".parse().unwrap()),
        result: RunResult::Success,
    });
    let run = world.delivery.runs.last().unwrap().clone();
    let span = transcript_span(&world.delivery, &run.id).unwrap();
    assert_eq!((span.after, span.session.as_str()), (None, "s3"));
    let later = transcript(&[said(90_000, "It went on.")], &span);
    assert_eq!(later.len(), 1, "it may still work when it is collected");
    world.kim(Act::Collect {
        job: JobId::from_ulid(ulid::Ulid(10)),
        session: None,
        result: RunResult::Success,
    });
    let run = world.delivery.runs.last().unwrap();
    assert!(run.transcript.is_none(), "there is no session to read");
}
