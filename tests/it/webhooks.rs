//! GitHub's own example payloads, signed, verified and classified, against a table made from the events' names.

use github::webhook::{
    Classified, Rejected, WAKEUP_BYTES_MAX, WAKEUPS_MAX, Wakeup, WebhookKind, classify, verify,
};
use jiff::Timestamp;
use sandbox::webhook::sign;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

const EXAMPLES: &str = include_str!("../fixtures/github-webhooks.json");
const EXPECTED: &str = include_str!("../fixtures/github-webhooks.expected.json");
const SYNCHRONIZE: &str = include_str!("../fixtures/pull_request.synchronize.json");
const SECRET: &str = "a webhook secret with high entropy";

#[expect(
    clippy::expect_used,
    reason = "a fixture that is no JSON is a broken test"
)]
fn list(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("the fixture is a JSON list")
}

/// The webhook's answer to a request; the request contains the name of the event like GitHub's, which is never read.
fn receive(raw: &[u8], signature: Option<&str>, _event: &str) -> Result<Vec<Wakeup>, Rejected> {
    verify(&[SecretString::from(SECRET)], signature, raw)?;
    Ok(match classify(raw, Timestamp::UNIX_EPOCH) {
        Classified::Look(wakeups) => wakeups,
        Classified::Ignored { .. } => Vec::new(),
        Classified::Unreadable => panic!("GitHub's example cannot be read"),
    })
}

/// The first example of each event.
fn one_of_each(examples: &[Value]) -> impl Iterator<Item = &Value> {
    let first = |at: &usize| {
        !examples[..*at]
            .iter()
            .any(|earlier| earlier["event"] == examples[*at]["event"])
    };
    (0..examples.len()).filter(first).map(|at| &examples[at])
}

/// Wake-ups in the form of the table.
fn rows(wakeups: &[Wakeup]) -> Value {
    let row = |wakeup: &Wakeup| json!({ "kind": wakeup.kind, "repo": wakeup.repo, "number": wakeup.number, "sha": wakeup.sha });
    wakeups.iter().map(row).collect()
}

#[test]
fn every_example_wakes_exactly_what_the_table_says() {
    let (examples, expected) = (list(EXAMPLES), list(EXPECTED));
    assert_eq!((examples.len(), expected.len()), (62, 62));
    for (at, (example, row)) in examples.iter().zip(&expected).enumerate() {
        assert_eq!(
            (row["index"].as_u64(), &row["event"]),
            (Some(at as u64), &example["event"])
        );
        assert_eq!(row["action"], example["payload"]["action"]);
        let raw = example["payload"].to_string();
        let signature = sign(SECRET, raw.as_bytes());
        let wakeups = receive(
            raw.as_bytes(),
            Some(&signature),
            row["event"].as_str().unwrap(),
        )
        .unwrap();
        assert_eq!(
            rows(&wakeups),
            row["looks"],
            "example {at}, {}",
            row["event"]
        );
    }
}

#[test]
fn a_push_to_a_pull_request_wakes_it_at_its_new_head() {
    let signature = sign(SECRET, SYNCHRONIZE.as_bytes());
    let wakeups = receive(SYNCHRONIZE.as_bytes(), Some(&signature), "pull_request").unwrap();
    let head = "9b1c4e7f0a2d35688e4f91c7d0b3a65f2e81d94c";
    assert_eq!(
        rows(&wakeups),
        json!([{ "kind": "pull_request", "repo": "acme/shop", "number": 7, "sha": head }])
    );
}

#[test]
fn an_example_with_another_ones_signature_is_refused() {
    let raws: Vec<String> = list(EXAMPLES)
        .iter()
        .map(|example| example["payload"].to_string())
        .collect();
    let signatures: Vec<String> = raws
        .iter()
        .map(|raw| sign(SECRET, raw.as_bytes()))
        .collect();
    for (raw, own) in raws.iter().zip(&signatures) {
        for signature in signatures.iter().filter(|signature| *signature != own) {
            assert_eq!(
                receive(raw.as_bytes(), Some(signature), "push"),
                Err(Rejected::Mismatch)
            );
        }
        assert_eq!(
            receive(raw.as_bytes(), None, "push"),
            Err(Rejected::Unsigned)
        );
        assert_eq!(
            receive(
                raw.as_bytes(),
                Some(&sign("another", raw.as_bytes())),
                "push"
            ),
            Err(Rejected::Mismatch)
        );
    }
}

#[test]
fn the_name_of_the_event_changes_nothing() {
    let (examples, expected) = (list(EXAMPLES), list(EXPECTED));
    for (example, row) in examples.iter().zip(&expected) {
        let raw = example["payload"].to_string();
        let signature = sign(SECRET, raw.as_bytes());
        for name in one_of_each(&examples).filter_map(|other| other["event"].as_str()) {
            assert_eq!(
                rows(&receive(raw.as_bytes(), Some(&signature), name).unwrap()),
                row["looks"],
                "sent as {name}"
            );
        }
    }
}

/// One payload with the fields of two: what a sender who holds the secret could make up.
fn mixed(one: &Value, other: &Value) -> Value {
    let fields = [other, one]
        .into_iter()
        .filter_map(Value::as_object)
        .flatten();
    Value::Object(
        fields
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Map<_, _>>(),
    )
}

#[test]
fn payloads_mixed_from_any_two_wake_one_kind_in_one_repository_and_stay_small() {
    let examples = list(EXAMPLES);
    let payloads: Vec<&Value> = one_of_each(&examples)
        .map(|example| &example["payload"])
        .collect();
    assert!(payloads.len() > 15);
    for one in &payloads {
        for other in &payloads {
            let raw = mixed(one, other).to_string();
            let Classified::Look(wakeups) = classify(raw.as_bytes(), Timestamp::MAX) else {
                continue;
            };
            let mut kinds: Vec<WebhookKind> = wakeups.iter().map(|wakeup| wakeup.kind).collect();
            kinds.dedup();
            assert!(kinds.len() == 1 && wakeups.len() <= WAKEUPS_MAX);
            let repo = one["repository"]["full_name"]
                .as_str()
                .or(other["repository"]["full_name"].as_str());
            for wakeup in &wakeups {
                assert_eq!(Some(wakeup.repo.as_str()), repo);
                assert!(serde_json::to_string(wakeup).unwrap().len() <= WAKEUP_BYTES_MAX);
            }
        }
    }
}
