//! Proto3 JSON as Google's fronts write it: zero values left out, timestamps with 0, 3, 6 or 9 digits.

use jiff::Timestamp;
use serde_json::Value;

/// Leaves out every member with a zero value, at any depth; an empty object stays, it marks presence.
pub(crate) fn omit_zeros(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, member)| (name, omit_zeros(member)))
                .filter(|(_, member)| !is_zero(member))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(omit_zeros).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(it) => !it,
        Value::Number(it) => it.as_f64() == Some(0.0),
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(_) => false,
    }
}

/// RFC 3339 in UTC with as many digits as Google's writer would use.
pub(crate) fn stamp(at: Timestamp) -> String {
    let nanos = at.subsec_nanosecond();
    let digits = match nanos {
        0 => 0,
        _ if nanos % 1_000_000 == 0 => 3,
        _ if nanos % 1_000 == 0 => 6,
        _ => 9,
    };
    format!("{at:.digits$}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn zero_values_are_left_out_and_empty_objects_stay() {
        let all = json!({ "a": 0, "b": "", "c": [], "d": false, "e": null, "f": {}, "g": [{ "index": 0, "x": 1 }] });
        assert_eq!(omit_zeros(all), json!({ "f": {}, "g": [{ "x": 1 }] }));
    }

    #[test]
    fn timestamps_have_0_3_6_or_9_digits() {
        let written = [
            "2026-11-20T10:00:00Z",
            "2026-11-20T10:00:00.9Z",
            "2026-11-20T10:00:00.0001Z",
        ];
        let shown = written.map(|it| stamp(it.parse().unwrap()));
        assert_eq!(
            shown,
            [
                "2026-11-20T10:00:00Z",
                "2026-11-20T10:00:00.900Z",
                "2026-11-20T10:00:00.000100Z"
            ]
        );
        assert_eq!(
            stamp("2026-11-20T10:00:00.441608052Z".parse().unwrap()),
            "2026-11-20T10:00:00.441608052Z"
        );
    }
}
