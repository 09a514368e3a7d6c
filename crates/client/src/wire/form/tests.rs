//! The forms say what the domain reads and writes.

use domain::event::{Audience, Event, Occurrence};
use domain::wake::{Links, message};
use serde_json::{Value, json};

use super::*;

fn form<T: JsonSchema>() -> Value {
    SchemaGenerator::default()
        .into_root_schema_for::<T>()
        .to_value()
}

/// The keys of an object.
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn an_event_has_the_fields_that_its_form_tells() {
    let at: jiff::Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let event = Event {
        attempt: 1,
        status: "FAILED".to_owned(),
        last_activity: Some(at),
        audience: Audience::Human,
        seq: Some(3),
        ..Event::new(
            EventId::from_name("1"),
            "default".parse().unwrap(),
            at,
            Occurrence::PlanApproval { plan: None },
        )
    };
    let mut whole = message(&event, Some("acme/shop"));
    whole.payload = Some(json!({}));
    whole.payload_ref = Some("/jobs/x/messages".to_owned());
    whole.resume = Some("session 7".to_owned());
    let page = || Some("https://github.com/acme/shop/pull/7".to_owned());
    let links = Links {
        session: page(),
        pull_request: page(),
        check: page(),
    };
    whole.links = Some(links.clone());
    let form = form::<ActionableEvent>();
    let whole = serde_json::to_value(whole).unwrap();
    assert_eq!(keys(&whole), keys(&form["properties"]));
    let links = serde_json::to_value(links).unwrap();
    let told = &form["properties"]["links"]["properties"];
    assert_eq!(keys(&links), keys(told));
    let bare = Event {
        seq: None,
        last_activity: None,
        what: Occurrence::Stuck { last_words: None },
        audience: Audience::Agent,
        ..event
    };
    let bare = serde_json::to_value(message(&bare, None)).unwrap();
    let mut required: Vec<&str> = form["required"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    required.sort_unstable();
    assert_eq!(keys(&bare), required);
}
