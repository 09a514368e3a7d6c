//! GitHub's own example payloads, aimed at our repository and at one of its pull requests.

use serde_json::{Map, Value, json};
use tests::world::REPO;

const EXAMPLES: &str = include_str!("../../fixtures/github-webhooks.json");
const SYNCHRONIZE: &str = include_str!("../../fixtures/pull_request.synchronize.json");

/// The repository of the examples.
const THEIRS: &str = "Codertocat/Hello-World";

/// A fork of ours.
pub(super) const FORK: &str = "somebody/shop";

/// Every `author_association` that GitHub documents.
pub(super) const ASSOCIATIONS: [&str; 8] = [
    "COLLABORATOR",
    "CONTRIBUTOR",
    "FIRST_TIMER",
    "FIRST_TIME_CONTRIBUTOR",
    "MANNEQUIN",
    "MEMBER",
    "NONE",
    "OWNER",
];

/// All 62 examples and a push to a pull request, each with the name of its event.
pub(super) fn all() -> Vec<(String, Value)> {
    let examples: Vec<Value> = serde_json::from_str(EXAMPLES).expect("the fixture is JSON");
    let named = |it: Value| {
        let name = it["event"].as_str().expect("a name").to_owned();
        (name, it["payload"].clone())
    };
    let push: Value = serde_json::from_str(SYNCHRONIZE).expect("the fixture is JSON");
    let mut all: Vec<_> = examples.into_iter().map(named).collect();
    all.push(("pull_request".to_owned(), push));
    all
}

/// The names of all events in the examples, each once.
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> = all().into_iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    names
}

/// What a payload is aimed at.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The number of our repository, which is what a delivery is believed by.
    pub(super) repo: u64,
    pub(super) number: u64,
    pub(super) head: String,
    /// The repository that the head is said to be in.
    pub(super) head_repo: &'static str,
}

/// The payload for another pull request.
pub(super) fn aimed(payload: &Value, target: &Target) -> Value {
    let mut payload = payload.clone();
    turn(&mut payload, target);
    each_object("", &mut payload, &mut |name, fields| {
        let numbered = matches!(name, "pull_request" | "issue" | "pull_requests");
        if numbered && fields.contains_key("number") {
            fields.insert("number".to_owned(), json!(target.number));
        }
        if name == "repository" {
            fields.insert("id".to_owned(), json!(target.repo));
        }
        if name == "head" && fields.contains_key("repo") {
            let repo =
                json!({ "id": 2, "full_name": target.head_repo, "fork": target.head_repo == FORK });
            fields.insert("repo".to_owned(), repo);
        }
    });
    payload
}

/// The payload as sent by a user with this relation to the repository, through this App.
pub(super) fn voiced(payload: &mut Value, association: &str, app: Option<u64>) {
    let shown = app.map_or(
        Value::Null,
        |id| json!({ "id": id, "slug": format!("app-{id}") }),
    );
    each_object("", payload, &mut |name, fields| {
        let spoken = matches!(name, "pull_request" | "issue" | "comment" | "review");
        if spoken || fields.contains_key("author_association") {
            fields.insert("author_association".to_owned(), json!(association));
        }
        if matches!(name, "check_run" | "check_suite") {
            fields.insert("app".to_owned(), shown.clone());
        }
        if matches!(name, "issue" | "comment") {
            fields.insert("performed_via_github_app".to_owned(), shown.clone());
        }
        if name.is_empty() {
            fields.insert("installation".to_owned(), shown.clone());
            fields.insert("sender".to_owned(), sender(app));
        }
    });
}

fn sender(app: Option<u64>) -> Value {
    let jules = app == Some(JULES_APP);
    let login = if jules {
        "google-labs-jules[bot]"
    } else {
        "somebody"
    };
    json!({ "login": login, "id": 4_711, "type": "User" })
}

/// An App that is said to be Jules's. No payload is believed about it, so any number serves.
pub(super) const JULES_APP: u64 = 842_251;

/// Replaces names and commits of the example with ours everywhere.
fn turn(value: &mut Value, target: &Target) {
    let is_commit = |text: &str| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
    match value {
        Value::String(text) if is_commit(text) && !text.starts_with("0000000") => {
            text.clone_from(&target.head);
        }
        Value::String(text) => *text = text.replace(THEIRS, REPO),
        Value::Array(items) => items.iter_mut().for_each(|it| turn(it, target)),
        Value::Object(fields) => fields.values_mut().for_each(|it| turn(it, target)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Visits every object with the name of its field; those of a list have the list's.
fn each_object(
    name: &str,
    value: &mut Value,
    visit: &mut impl FnMut(&str, &mut Map<String, Value>),
) {
    match value {
        Value::Object(fields) => {
            visit(name, fields);
            for (name, value) in fields.iter_mut() {
                each_object(name, value, visit);
            }
        }
        Value::Array(items) => {
            for item in items {
                each_object(name, item, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
