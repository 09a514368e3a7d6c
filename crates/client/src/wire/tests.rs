//! What requests accept and refuse, and that answers survive fields of a later version.

use serde_json::json;

use super::*;

fn refusal<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> String {
    match serde_json::from_value::<T>(value) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_message_is_read_in_both_forms_and_written_in_one() {
    for value in [
        json!({"message": "go on"}),
        json!({"message": {"content": "go on"}}),
    ] {
        let message: ReceivedMessage = serde_json::from_value(value).unwrap();
        assert_eq!(message.message, "go on");
        assert_eq!(
            serde_json::to_value(&message).unwrap(),
            json!({"message": "go on"})
        );
    }
}

#[test]
fn other_messages_are_refused_with_what_is_wrong() {
    let wrong = [
        (json!({}), "missing field `message`"),
        (json!({"message": 5}), "invalid type: integer `5`"),
        (json!({"message": ["x"]}), "invalid type: sequence"),
        (json!({"message": {}}), "missing field `content`"),
        (
            json!({"message": {"text": "x"}}),
            "unknown field `text`, expected `content`",
        ),
        (json!({"message": {"content": null}}), "invalid type: null"),
        (json!({"message": "x", "to": "y"}), "unknown field `to`"),
    ];
    for (value, expected) in wrong {
        let said = refusal::<ReceivedMessage>(value);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn requests_name_the_field_they_do_not_know() {
    let job = json!({"repo": "acme/shop", "prompt": "x", "brunch": "main"});
    assert!(refusal::<CreateJob>(job).contains("unknown field `brunch`"));
    assert!(refusal::<MergeRequest>(json!({"forced": true})).contains("unknown field `forced`"));
    assert!(refusal::<CancelRequest>(json!({"force": true})).contains("unknown field `force`"));
    assert!(refusal::<ApproveRequest>(json!({"plan": 1})).contains("unknown field `plan`"));
    assert!(refusal::<Acknowledge>(json!({"agent": "zai", "x": 1})).contains("unknown field `x`"));
}

#[test]
fn answers_may_gain_fields() {
    let health = json!({
        "ok": true, "version": "9.0.0", "mood": "fine",
        "webhooks": {"accepted": 1, "ignored": 2, "refused": 3, "doubled": 4},
    });
    let health: Health = serde_json::from_value(health).unwrap();
    assert_eq!(health.webhooks.refused, 3);
    let problem =
        json!({"title": "Conflict", "status": 409, "detail": "d", "code": "c", "trace": "x"});
    let problem: Problem = serde_json::from_value(problem).unwrap();
    assert_eq!(problem.kind, "about:blank");
}
