//! What is measured: our functions, and the smallest function of three runtime clients.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use axum::body::Bytes;
use sandbox::webhook::sign;
use serde_json::{Value, json};
use tokio::process::Command;

use super::doubles::{Doubles, SECRET};
use crate::webhook;

/// A function to be measured.
pub(super) struct Subject {
    /// What the report calls it.
    pub(super) name: String,
    /// What is started, with which arguments and in which environment.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(String, String)>,
    /// What it is invoked with.
    pub(super) event: Bytes,
    /// What its answer says when it did what it should.
    pub(super) answers: &'static str,
}

/// One of our functions: its binary, its memory in megabytes, the event, and what its answer contains.
type Ours = (&'static str, u32, fn() -> Result<Value>, &'static str);

const OURS: [Ours; 4] = [
    ("poller", 128, schedule, "null"),
    ("dispatcher", 256, wake_up, r#""batchItemFailures":[]"#),
    ("webhook", 256, delivery, r#""statusCode":202"#),
    ("api", 256, order, r#""statusCode":200"#),
];

/// Our functions out of a folder of binaries, on these doubles of AWS.
pub(super) fn ours(folder: &Path, aws: &Doubles) -> Result<Vec<Subject>> {
    let made = OURS.iter().map(|(name, memory, event, answers)| {
        let program = folder.join(name);
        ensure!(program.is_file(), "there is no {}", program.display());
        let mut environment = surroundings(*memory);
        environment.extend(deployment(aws));
        Ok(Subject {
            name: (*name).to_owned(),
            program,
            arguments: Vec::new(),
            environment,
            event: Bytes::from(event()?.to_string()),
            answers,
        })
    });
    made.collect()
}

/// The bare client that ours are built on.
pub(super) fn hello(folder: &Path) -> Subject {
    saying_hello("lambda_runtime, bare", folder.join("hello"), Vec::new())
}

/// AWS's own client for Python, out of the folder of its packages.
pub(super) async fn python(packages: &Path) -> Result<Subject> {
    let handler = "def handler(event, context):\n    return {\"hello\": \"world\"}\n";
    write(packages, "hello_function.py", handler)?;
    let tell = "import platform, sys, importlib.metadata as m; print(sys.executable, platform.python_version(), m.version('awslambdaric'))";
    let told = command_output(
        Command::new("python3")
            .env("PYTHONPATH", packages)
            .args(["-c", tell]),
    )
    .await?;
    let (program, versions) = told.split_once(' ').context("asking Python where it is")?;
    let (python, client) = versions.split_once(' ').context("asking for versions")?;
    let arguments = ["-m", "awslambdaric", "hello_function.handler"];
    let name = format!("awslambdaric {client} on Python {python}");
    let mut subject = saying_hello(
        &name,
        program.into(),
        arguments.map(OsString::from).to_vec(),
    );
    let packages = packages.display().to_string();
    subject
        .environment
        .push(("PYTHONPATH".to_owned(), packages));
    Ok(subject)
}

/// AWS's own client for Node.js, out of the folder that npm has filled.
pub(super) async fn node(folder: &Path) -> Result<Subject> {
    let handler = "exports.handler = async () => ({ hello: \"world\" });\n";
    write(folder, "hello-function.cjs", handler)?;
    let tell = "console.log(process.execPath, process.version.slice(1), require('./node_modules/aws-lambda-ric/package.json').version)";
    let told = command_output(Command::new("node").current_dir(folder).args(["-e", tell])).await?;
    let (program, versions) = told.split_once(' ').context("asking Node.js where it is")?;
    let (node, client) = versions.split_once(' ').context("asking for versions")?;
    let script = folder.join("node_modules/aws-lambda-ric/bin/index.mjs");
    ensure!(script.is_file(), "there is no {}", script.display());
    let handler = folder.join("hello-function.handler");
    let arguments = vec![script.into_os_string(), handler.into_os_string()];
    let name = format!("aws-lambda-ric {client} on Node.js {node}");
    Ok(saying_hello(&name, program.into(), arguments))
}

fn saying_hello(name: &str, program: PathBuf, arguments: Vec<OsString>) -> Subject {
    Subject {
        name: name.to_owned(),
        program,
        arguments,
        environment: surroundings(128),
        event: Bytes::from_static(b"{}"),
        answers: "world",
    }
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}

async fn command_output(command: &mut Command) -> Result<String> {
    let output = command.output().await.context("asking for a version")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "asking for a version failed: {said}"
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The environment that Lambda gives every function.
fn surroundings(memory_mb: u32) -> Vec<(String, String)> {
    let pairs = [
        ("AWS_LAMBDA_FUNCTION_NAME", "bench"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
        ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/bench"),
        ("AWS_LAMBDA_LOG_STREAM_NAME", "bench"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ];
    let named = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let memory = (
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE".to_owned(),
        memory_mb.to_string(),
    );
    pairs.map(named).into_iter().chain([memory]).collect()
}

/// The environment that a deployment gives ours, where AWS is a double.
fn deployment(aws: &Doubles) -> Vec<(String, String)> {
    let queue = |end: &str| format!("{}/123456789012/gaffer-{end}", aws.url);
    let mut pairs = vec![
        ("AWS_ENDPOINT_URL", aws.url.clone()),
        ("GAFFER_STACK", "gaffer".to_owned()),
        ("GAFFER_TABLE", "gaffer".to_owned()),
        ("GAFFER_WORK_QUEUE", queue("work")),
        ("GAFFER_WORK_DEAD_QUEUE", queue("work-dead")),
        ("GAFFER_TICKS_QUEUE", queue("ticks")),
        ("GAFFER_TICKS_DEAD_QUEUE", queue("ticks-dead")),
    ];
    if let Some(certificate) = &aws.certificate {
        pairs.push(("AWS_CA_BUNDLE", certificate.display().to_string()));
    }
    let named = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    named.collect()
}

fn schedule() -> Result<Value> {
    Ok(json!({ "source": "aws.scheduler", "detail-type": "Scheduled Event" }))
}

/// A message for a missing job: it is searched, and nothing is done.
fn wake_up() -> Result<Value> {
    let body = json!({ "look_at": "job", "id": "01jbench0000000000000000ab" });
    Ok(json!({ "Records": [{
        "messageId": "1",
        "receiptHandle": "1",
        "body": body.to_string(),
        "attributes": { "SentTimestamp": "1772355600000", "ApproximateReceiveCount": "1" },
        "eventSource": "aws:sqs",
    }] }))
}

/// A signed `pull_request` of 24 KB.
fn delivery() -> Result<Value> {
    let raw = webhook::payload()?;
    let headers = json!({
        "content-type": "application/json",
        "x-github-event": "pull_request",
        "x-hub-signature-256": sign(SECRET, &raw),
    });
    let body = String::from_utf8(raw).context("writing the payload")?;
    Ok(request("POST", "/github/webhook", &headers, Some(&body)))
}

/// A list of the jobs, of which there are none.
fn order() -> Result<Value> {
    let headers = json!({ "authorization": format!("Bearer {SECRET}") });
    Ok(request("GET", "/jobs", &headers, None))
}

/// A request as a function's address hands it over.
fn request(method: &str, path: &str, headers: &Value, body: Option<&str>) -> Value {
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "bench",
            "domainName": "bench.lambda-url.us-east-1.on.aws",
            "domainPrefix": "bench",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "GitHub-Hookshot/bench",
            },
            "requestId": "1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "01/Mar/2026:09:00:00 +0000",
            "timeEpoch": 1_772_355_600_000_i64,
        },
        "body": body,
        "isBase64Encoded": false,
    })
}
