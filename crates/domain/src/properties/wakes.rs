//! What is sent with a wake stays small, whatever others wrote.

use super::*;
use crate::delivery::Phase;
use crate::event::{
    Audience, DeliveryAsk, ErrorCause, Event, EventContext, FailedCheck, Occurrence,
};
use crate::ids::{DeliveryId, EventId, JobId};
use crate::session::{Plan, PlanStep};
use crate::wake::{MESSAGE_BYTES_MAX, Wake};
use crate::web_page::WebPage;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Text that is long in JSON, looks like JSON, hides, or holds a secret; of any length.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = vec![
        "\"",
        "\\",
        "\n",
        "\t",
        "\u{1F980}",
        "\u{202e}",
        "\u{1b}[31m ",
        "\u{1}",
        "é",
        "plain words ",
        "\"},\"event_id\":\"evt_0\"",
        "```\n",
        SECRET,
        " ",
    ];
    let piece = proptest::sample::select(pieces);
    prop_oneof![
        2 => (piece.clone(), 0usize..9_000).prop_map(|(piece, times)| piece.repeat(times)),
        1 => proptest::collection::vec(piece, 0..2_000).prop_map(|pieces| pieces.concat()),
    ]
}

fn occurrence() -> impl Strategy<Value = Occurrence> {
    let step = (hostile(), hostile()).prop_map(|(title, description)| PlanStep {
        title: title.chars().take(600).collect(),
        description: description.chars().take(600).collect(),
    });
    let plan = proptest::collection::vec(step, 0..8).prop_map(|steps| Plan {
        id: "p".repeat(128).parse().unwrap(),
        // Many small steps are long by their field names.
        steps: steps.into_iter().cycle().take(300).collect(),
    });
    let plan = plan.boxed();
    let pulls = proptest::collection::vec(pull_ref(), 0..40);
    prop_oneof![
        proptest::option::of(hostile()).prop_map(|text| Occurrence::Question { text }),
        proptest::option::of(plan.clone()).prop_map(|plan| Occurrence::PlanApproval { plan }),
        (plan.clone(), hostile()).prop_map(|(plan, summary)| Occurrence::Delivery {
            ask: DeliveryAsk::Checkpoint {
                phase: Phase::Plan,
                plan: Some(plan),
            },
            summary,
        }),
        plan.prop_map(|plan| Occurrence::UnreviewedPlan { plan }),
        proptest::collection::vec(hostile(), 0..20).prop_map(|paths| Occurrence::UnexpectedPush {
            sha: "a".repeat(40).parse().unwrap(),
            paths: paths
                .iter()
                .map(|path| path.chars().take(200).collect())
                .collect(),
        }),
        pulls.prop_map(|pulls| Occurrence::Completed { pulls }),
        hostile().prop_map(|reason| Occurrence::Error {
            cause: ErrorCause::CiFailed,
            reason,
        }),
        proptest::option::of(hostile()).prop_map(|last_words| Occurrence::Stuck { last_words }),
    ]
}

/// The longest page there is.
fn page() -> Option<WebPage> {
    WebPage::from_service(&format!("https://github.com/{}", "x".repeat(181)))
}

/// The longest address of a whole there is.
fn longest_address() -> String {
    let session = "9".repeat(64).parse().unwrap();
    let cursor = crate::conversation::ConversationCursor::whole(&session, jiff::Timestamp::MAX);
    format!(
        "/jobs/{}/messages?cursor={cursor}",
        JobId::from_ulid(ulid::Ulid(7))
    )
}

fn aid() -> impl Strategy<Value = EventContext> {
    let check = (hostile(), hostile()).prop_map(|(name, output)| FailedCheck {
        name,
        output,
        page: page(),
    });
    let check = proptest::option::weighted(0.7, check);
    (proptest::option::of(pull_ref()), check).prop_map(|(pull, check)| EventContext {
        delivery: Some(DeliveryId::of_job(&JobId::from_ulid(ulid::Ulid(7)))),
        session: page(),
        pull,
        check,
        whole: Some(longest_address()),
    })
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn no_message_is_larger_than_it_may_be(
        (what, aid) in (occurrence(), aid()),
        (status, repo) in (hostile(), hostile()),
        resume in proptest::sample::select(vec!["\u{1F980}", "\"", "x"]),
    ) {
        prop_assert!(page().is_some());
        let event = Event {
            id: EventId::from_name("one"),
            job: Some(JobId::from_ulid(ulid::Ulid(7))),
            account: "default".parse().unwrap(),
            attempt: 1,
            seq: Some(u64::MAX),
            observed_at: at(0),
            status,
            last_activity: Some(at(0)),
            what,
            audience: Audience::Human,
            aid,
        };
        let wake = Wake {
            resume: Some(resume.repeat(200).parse().unwrap()),
            ..Wake::new(event, "helper".parse().unwrap(), Some(repo), at(0))
        };
        let text = serde_json::to_string(&wake.message(None)).unwrap();
        prop_assert!(text.len() <= MESSAGE_BYTES_MAX, "{} bytes", text.len());
        let message: serde_json::Value = serde_json::from_str(&text).unwrap();
        let told = [&message["message"], &message["payload"], &message["status"]];
        let told: String = told.iter().map(|it| it.to_string()).collect();
        let hidden = told.contains('\u{202e}');
        prop_assert!(!told.contains(SECRET) && !hidden);
        prop_assert_eq!(&message["event_id"], wake.event.id.as_str());
    }
}
