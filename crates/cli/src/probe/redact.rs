//! What of a recording may be shown to others: everything of the probe's own sessions but secrets and addresses, and of everything else only its shape.

use domain::redact::redact;
use serde_json::{Map, Value};

/// Members of other people's things that say nothing private.
const OPEN: [&str; 22] = [
    "@type",
    "activities",
    "archived",
    "automationMode",
    "changeType",
    "code",
    "createTime",
    "details",
    "error",
    "id",
    "kind",
    "name",
    "nextPageToken",
    "originator",
    "outputs",
    "reason",
    "requirePlanApproval",
    "revision",
    "sessions",
    "state",
    "status",
    "updateTime",
];

/// Longest text kept whole, in characters: what the probe sends to find limits is noise.
const KEPT_CHARS_MAX: usize = 4_000;

/// Whose a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The probe made it.
    Ours,
    /// Anybody's.
    Theirs,
}

/// A body as it may be shown. `ours` are the ids of the probe's own sessions, `repo` its repository.
pub(super) fn shown(value: &Value, whose: Whose, (ours, repo): (&[String], &str)) -> Value {
    let context = Context { ours, repo };
    context.value(value, "", whose)
}

struct Context<'a> {
    ours: &'a [String],
    repo: &'a str,
}

impl Context<'_> {
    fn value(&self, value: &Value, member: &str, whose: Whose) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, member, whose)),
            Value::Array(all) => all.iter().map(|it| self.value(it, member, whose)).collect(),
            Value::Object(members) => Value::Object(self.members(members, whose)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn members(&self, members: &Map<String, Value>, whose: Whose) -> Map<String, Value> {
        let whose = if self.is_ours(members) {
            Whose::Ours
        } else {
            whose
        };
        // Google's own words about a request are nobody's secret.
        let refusal = members.contains_key("code") && members.contains_key("status");
        let one = |(name, value): (&String, &Value)| {
            let whose = if refusal { Whose::Ours } else { whose };
            (name.clone(), self.value(value, name, whose))
        };
        members.iter().map(one).collect()
    }

    fn is_ours(&self, members: &Map<String, Value>) -> bool {
        let text = |name: &str| {
            members
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (id, name) = (text("id"), text("name"));
        let ours = self.ours.iter().any(|own| own == id);
        ours || (!name.is_empty()
            && name.eq_ignore_ascii_case(&format!("sources/github/{}", self.repo)))
    }

    fn text(&self, text: &str, member: &str, whose: Whose) -> String {
        let is_open = OPEN.contains(&member) && !text.starts_with("sources/");
        if whose == Whose::Ours || is_open {
            return clean(text);
        }
        masked(text)
    }
}

/// A text without secrets and mail addresses; a very long one is masked.
pub(super) fn clean(text: &str) -> String {
    if text.chars().count() > KEPT_CHARS_MAX {
        return masked(text);
    }
    let words = text.split_inclusive(char::is_whitespace).map(|word| {
        let address = word
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
        if address { "[address] " } else { word }
    });
    redact(&words.collect::<String>())
}

fn masked(text: &str) -> String {
    format!("[{} characters]", text.chars().count())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_other_peoples_things_only_the_shape_is_left() {
        let body = json!({ "sessions": [
            { "id": "1", "name": "sessions/1", "title": "hunter2", "prompt": "hunter2", "state": "COMPLETED",
              "sourceContext": { "source": "sources/github/hunter2/x" },
              "outputs": [ { "pullRequest": { "url": "https://github.com/hunter2/x/pull/1", "headRef": "hunter2" } } ] },
            { "id": "2", "name": "sessions/2", "title": "[gaffer probe] first", "prompt": "mail a@b.example now" },
        ], "nextPageToken": "t" });
        let shown = shown(&body, Whose::Theirs, (&["2".to_owned()], "acme/shop"));
        let text = shown.to_string();
        assert!(
            !text.contains("hunter2") && !text.contains("a@b.example"),
            "{text}"
        );
        assert_eq!(shown["sessions"][0]["state"], "COMPLETED");
        assert_eq!(shown["sessions"][0]["title"], "[7 characters]");
        assert_eq!(shown["sessions"][1]["title"], "[gaffer probe] first");
        assert_eq!(shown["nextPageToken"], "t");
    }

    #[test]
    fn secrets_go_from_our_own_things_too() {
        let body = json!({ "id": "2", "prompt": "AIzaSyA0123456789012345678901234567890123" });
        let shown = shown(&body, Whose::Theirs, (&["2".to_owned()], "acme/shop"));
        assert!(!shown.to_string().contains("AIzaSy"), "{shown}");
        let long = json!({ "id": "2", "prompt": "x".repeat(5_000) });
        let shown = super::shown(&long, Whose::Ours, (&[], ""));
        assert_eq!(shown["prompt"], "[5000 characters]");
    }

    #[test]
    fn other_repositories_are_not_named() {
        let body = json!({ "sources": [
            { "name": "sources/github/acme/hunter2", "id": "github/acme/hunter2", "githubRepo": { "owner": "acme", "repo": "hunter2" } },
            { "name": "sources/github/acme/shop", "id": "github/acme/shop" },
        ] });
        let shown = shown(&body, Whose::Theirs, (&[], "acme/shop")).to_string();
        assert!(shown.contains("acme/shop"), "{shown}");
        assert!(!shown.contains("sources/github/acme/hunter2"), "{shown}");
    }
}
