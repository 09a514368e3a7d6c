//! What a call asks IAM for: who, which action, on what.

use axum::http::HeaderMap;
use serde_json::Value;

use super::gate::target;

/// One permission that was needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// The access key with which the call was signed; the tests give each function one of its own.
    pub who: String,
    /// As IAM names it, such as `dynamodb:GetItem`.
    pub action: String,
    /// The last part of the resource's name: a table, `TABLE/index/NAME`, a queue, or a parameter.
    pub on: String,
}

/// Permissions of a call. A transaction needs those of its items.
///
/// Source: Service Authorization Reference, "Actions, resources, and condition keys" for Amazon DynamoDB, Amazon SQS
/// and AWS Systems Manager.
pub(super) fn asked(headers: &HeaderMap, body: &[u8]) -> Vec<Asked> {
    let who = signer(headers);
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let (service, operation) = target(headers).split_once('.').unwrap_or_default();
    let pairs = match service {
        "DynamoDB_20120810" => of_records(operation, &body),
        // The right to send one includes the right to send several.
        "AmazonSQS" => {
            let operation = operation.trim_end_matches("Batch");
            vec![(format!("sqs:{operation}"), last(&body["QueueUrl"]))]
        }
        "AmazonSSM" => vec![(format!("ssm:{operation}"), text(&body["Name"]))],
        _ => Vec::new(),
    };
    let asked = |(action, on)| Asked {
        who: who.clone(),
        action,
        on,
    };
    pairs.into_iter().map(asked).collect()
}

fn of_records(operation: &str, body: &Value) -> Vec<(String, String)> {
    if operation == "TransactWriteItems" {
        let items = body["TransactItems"].as_array().into_iter().flatten();
        return items.filter_map(of_item).collect();
    }
    if operation == "BatchGetItem" {
        let tables = body["RequestItems"].as_object().into_iter().flatten();
        let asked = |(table, _): (&String, _)| (format!("dynamodb:{operation}"), table.clone());
        return tables.map(asked).collect();
    }
    let table = text(&body["TableName"]);
    let on = match body["IndexName"].as_str() {
        Some(index) => format!("{table}/index/{index}"),
        None => table,
    };
    vec![(format!("dynamodb:{operation}"), on)]
}

fn of_item(item: &Value) -> Option<(String, String)> {
    let (kind, of) = item.as_object()?.iter().next()?;
    let operation = match kind.as_str() {
        "ConditionCheck" => "ConditionCheckItem",
        "Delete" => "DeleteItem",
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        _ => return None,
    };
    Some((format!("dynamodb:{operation}"), text(&of["TableName"])))
}

/// Whose key signed it: `Credential=KEY/DATE/REGION/SERVICE/aws4_request`.
pub(super) fn signer(headers: &HeaderMap) -> String {
    let signed = headers.get("authorization");
    let signed = signed.and_then(|value| value.to_str().ok()).unwrap_or("");
    let (_, credential) = signed.split_once("Credential=").unwrap_or_default();
    let (key, _) = credential.split_once('/').unwrap_or_default();
    key.to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn last(url: &Value) -> String {
    let url = url.as_str().unwrap_or_default();
    url.rsplit('/').next().unwrap_or_default().to_owned()
}
