//! The functions' logs, for the reader of a failed test.

use deploy::Function;
use serde_json::{Value, json};
use url::Url;

use crate::stage::STACK;

/// How many lines of each function are printed: the last ones.
const LINES: usize = 60;

/// The last lines of every function's log.
pub(crate) async fn all(endpoint: &Url) -> String {
    let mut told = String::new();
    for function in Function::ALL {
        let name = format!("/aws/lambda/{STACK}-{}", function.short());
        let lines = lines(endpoint, &name).await;
        let from = lines.len().saturating_sub(LINES);
        let last = lines.get(from..).unwrap_or_default();
        told = format!("{told}\n== {name}\n{}", last.join("\n"));
    }
    told
}

/// Asked without a signature, which no emulator wants: a client for this one question would take longer to build than to fail.
async fn lines(endpoint: &Url, group: &str) -> Vec<String> {
    let ask = reqwest::Client::new()
        .post(endpoint.clone())
        .header("x-amz-target", "Logs_20140328.FilterLogEvents")
        .header("content-type", "application/x-amz-json-1.1")
        .body(json!({ "logGroupName": group }).to_string());
    let text = match ask.send().await {
        Ok(answer) => answer.text().await.unwrap_or_default(),
        Err(error) => return vec![error.to_string()],
    };
    let told: Value = serde_json::from_str(&text).unwrap_or_default();
    let events = told["events"].as_array().cloned().unwrap_or_default();
    let message = |event: &Value| event["message"].as_str().map(|it| it.trim_end().to_owned());
    events.iter().filter_map(message).collect()
}
