//! What `infra/foundation.yaml` lets each function do.

use std::collections::BTreeSet;

use serde_norway::Value;

use crate::cloud::Asked;
use crate::infra::{items, properties, text};

/// The functions, and their roles.
pub const ROLES: [(&str, &str); 4] = [
    ("poller", "PollerRole"),
    ("dispatcher", "DispatcherRole"),
    ("webhook", "WebhookRole"),
    ("api", "ApiRole"),
];

/// Every action on every resource that the template's roles allow.
pub fn granted(template: &Value) -> BTreeSet<Asked> {
    let mut all = BTreeSet::new();
    for (who, role) in ROLES {
        for policy in items(&properties(template, role), "Policies") {
            for statement in items(&policy["PolicyDocument"], "Statement") {
                all.extend(of_statement(who, statement));
            }
        }
    }
    all
}

fn of_statement(who: &str, statement: &Value) -> Vec<Asked> {
    assert_eq!(text(statement, "Effect"), "Allow");
    let resource = &statement["Resource"];
    let resources = resource
        .as_sequence()
        .map_or(std::slice::from_ref(resource), Vec::as_slice);
    let actions = items(statement, "Action").iter();
    let each = actions.flat_map(|action| {
        let action = action.as_str().expect("an action");
        resources.iter().map(|on| Asked {
            who: who.to_owned(),
            action: action.to_owned(),
            on: called(on),
        })
    });
    each.collect()
}

/// What a resource is called in every deployment: `table`, `table/index/due`, `work`, `parameter/github`, `logs`.
fn called(resource: &Value) -> String {
    let named = match resource {
        Value::Tagged(tagged) => tagged.value.as_str(),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => None,
    };
    let named = named.expect("a resource of this template");
    if let Some((_, parameter)) = named.split_once(":parameter/gaffer/${AWS::StackName}/") {
        return format!("parameter/{parameter}");
    }
    if let Some((_, part)) = named.split_once(":table/${AWS::StackName}") {
        return format!("table{part}");
    }
    let plain = named.replace("${", "").replace('}', "");
    let (resource, rest) = plain.split_once(".Arn").unwrap_or((&plain, ""));
    let known = match resource {
        "WorkQueue" => "work",
        "WorkDeadQueue" => "work-dead",
        "TicksQueue" => "ticks",
        "TicksDeadQueue" => "ticks-dead",
        logs if logs.ends_with("Logs") => "logs",
        unknown => unknown,
    };
    format!("{known}{rest}")
}
