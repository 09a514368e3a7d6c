//! What a story came to, without its times: two stories that should be decided alike are compared by it.

use engine::keys;
use sandbox::Service;
use serde_json::{Map, Value, json};

use super::World;

/// Fields about how often and when something was read, and not about decisions.
const LOOKS: [&str; 6] = [
    "read_at",
    "list",
    "activity_reads",
    "passed_over",
    "counters",
    "next_poll",
];

impl World {
    /// All decisions and actions: writing calls, stored records, agents' wakes, and messages to sessions.
    pub async fn decisions(&self) -> Value {
        let here = self.sandbox.addr().to_string();
        let records: Map<String, Value> = self
            .ledger
            .everything()
            .await
            .into_iter()
            // GitHub's budgets depend on the number of requests.
            .filter(|record| record.key != keys::budgets())
            // The times of webhooks are no decisions.
            .filter(|record| record.key.sk != keys::WEBHOOK_ACTIVITY)
            .map(|record| {
                // Every world has another port.
                let body = record.body.replace(&here, "the sandbox");
                let body: Value = serde_json::from_str(&body).expect("JSON");
                let key = format!("{} {}", record.key.pk, record.key.sk);
                (key, json!({ "due": record.due.is_some(), "body": body }))
            })
            .collect();
        let mut decisions = json!({
            "calls": self.calls(),
            "records": records,
            "wakes": self.wakes(),
            "sessions": self.sessions(),
        });
        without_looks(&mut decisions);
        decisions
    }

    /// Calls that wrote outside, in order. Calls to several sessions one after the other are made side by side: among these,
    /// only the order of each session is a decision.
    fn calls(&self) -> Vec<String> {
        let writing = |it: &&sandbox::Logged| it.method != "GET" && it.service != Service::Agent;
        let all = self.sandbox.requests();
        let mut calls: Vec<_> = all.iter().filter(writing).collect();
        let is_of_session = |it: &&sandbox::Logged| session_of(&it.path).is_some();
        for side_by_side in calls.chunk_by_mut(|a, b| is_of_session(a) && is_of_session(b)) {
            side_by_side.sort_by_key(|it| session_of(&it.path));
        }
        calls
            .iter()
            .map(|it| format!("{} {} {}", it.method, it.path, it.status))
            .collect()
    }

    fn sessions(&self) -> Vec<Value> {
        let all = self.sandbox.jules().sessions().into_iter();
        all.map(|it| {
            json!({
                "id": it.id,
                "state": it.state,
                "archived": it.archived,
                "messages": it.messages,
                "approvals": it.approvals,
            })
        })
        .collect()
    }
}

/// The session that a path names.
fn session_of(path: &str) -> Option<&str> {
    let below = path.split_once("/sessions/")?.1;
    below.split([':', '/']).next()
}

/// Times and readings differ between stories with the same decisions.
fn without_looks(value: &mut Value) {
    match value {
        Value::String(text) if text.parse::<jiff::Timestamp>().is_ok() => {
            "a time".clone_into(text);
        }
        Value::Object(fields) => {
            for name in LOOKS {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_looks);
        }
        Value::Array(items) => {
            items.iter_mut().for_each(without_looks);
            // Checks are stored by their names, which are texts of others.
            if items.iter().all(|item| item.get("outcome").is_some()) {
                items.sort_by_key(|item| item["id"].to_string());
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where two stories were decided differently, as `path: one | other`.
pub fn differences(one: &Value, other: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", one, other, &mut found);
    found
}

fn compare(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let none = Value::Null;
                let (one, other) = (a.get(name).unwrap_or(&none), b.get(name).unwrap_or(&none));
                compare(&format!("{path}/{name}"), one, other, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (one, other)) in a.iter().zip(b).enumerate() {
                compare(&format!("{path}/{at}"), one, other, found);
            }
        }
        (_, _) if one == other => {}
        (_, _) => found.push(format!("{path}: {one} | {other}")),
    }
}

/// Removes the swapped texts from both stories: those with `mark` in the plain one. The rest has to be the same.
pub fn without_texts(plain: &mut Value, other: &mut Value, mark: &str) {
    const TEXT: &str = "a text";
    match (plain, other) {
        (Value::String(text), Value::String(swapped)) if text.contains(mark) => {
            TEXT.clone_into(text);
            TEXT.clone_into(swapped);
        }
        (Value::Array(a), Value::Array(b)) if a.len() != b.len() && all_texts(a, mark) => {
            // A list of texts is cut by their lengths and sorted by their letters.
            *a = vec![json!(TEXT)];
            *b = vec![json!(TEXT); usize::from(!b.is_empty())];
        }
        (Value::Array(a), Value::Array(b)) => a
            .iter_mut()
            .zip(b)
            .for_each(|(a, b)| without_texts(a, b, mark)),
        (Value::Object(a), Value::Object(b)) => {
            // Only cut texts have an address of the full text, which depends on their lengths.
            for told in ["whole", "payload_ref"] {
                a.remove(told);
                b.remove(told);
            }
            // A digest of paths is another one for other paths.
            if let (Some(a), Some(b)) = (a.get_mut("accepted"), b.get_mut("accepted")) {
                (a["paths"], b["paths"]) = (json!(TEXT), json!(TEXT));
            }
            for (name, a) in a {
                if let Some(b) = b.get_mut(name) {
                    without_texts(a, b, mark);
                }
            }
        }
        (_, _) => {}
    }
}

fn all_texts(items: &[Value], mark: &str) -> bool {
    !items.is_empty() && items.iter().all(|item| item.to_string().contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_texts_do_not_count_and_everything_else_does() {
        let story = |at: &str, text: &str, sha: &str| json!({ "at": at, "read_at": at, "names": [text], "why": text, "sha": sha });
        let mut one = story("2026-01-01T00:00:00Z", "plain words", "a");
        let mut other = story("2026-02-02T00:00:00Z", "evil", "a");
        without_looks(&mut one);
        without_looks(&mut other);
        assert_eq!(differences(&one, &other).len(), 2);
        without_texts(&mut one, &mut other, "plain");
        assert_eq!(differences(&one, &other), Vec::<String>::new());
        let mut third = story("2026-02-02T00:00:00Z", "evil", "b");
        without_looks(&mut third);
        let mut plain = story("2026-01-01T00:00:00Z", "plain words", "a");
        without_looks(&mut plain);
        without_texts(&mut plain, &mut third, "plain");
        assert_eq!(differences(&plain, &third), [r#"/sha: "a" | "b""#]);
    }

    #[test]
    fn what_is_there_in_one_story_only_is_a_difference() {
        let (one, other) = (json!({ "a": [1, 2] }), json!({ "a": [1], "b": 1 }));
        assert_eq!(differences(&one, &other).len(), 2);
    }
}
