//! The descriptions of the tools, and what is refused before the API is called.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use expect_test::expect;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream};

use super::*;
use crate::client::{Request, Transport, TransportResponse};
use crate::error::Error;

/// How much room the usual list and each further set may take, in bytes of JSON.
const LIST_BYTES_MAX: usize = 12 * 1024;
const SET_BYTES_MAX: usize = 4 * 1024;
const DELIVERIES_BYTES_MAX: usize = 6 * 1024;

/// Far less than an event is waited for, and far more than a pipe takes.
const SOON: Duration = Duration::from_secs(10);

/// No API anywhere.
struct Nowhere;

#[async_trait]
impl ClientSource for Nowhere {
    async fn open(&self) -> Result<Client, String> {
        Err("there is no token; set GAFFER_TOKEN".to_owned())
    }
}

fn server() -> Server {
    Server::new(Arc::new(Nowhere))
}

/// An API that never answers, and whether a caller still waits there.
#[derive(Default)]
struct Mute {
    waiting: AtomicUsize,
    changed: tokio::sync::Notify,
}

/// A waiting caller.
struct Waiter<'a>(&'a Mute);

impl<'a> Waiter<'a> {
    fn at(client: &'a Mute) -> Self {
        client.waiting.fetch_add(1, Ordering::SeqCst);
        client.changed.notify_one();
        Self(client)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_one();
    }
}

#[async_trait]
impl Transport for Mute {
    async fn carry(&self, _: Request) -> Result<TransportResponse, Error> {
        let _waiter = Waiter::at(self);
        std::future::pending().await
    }
}

/// The transport to it.
struct To(Arc<Mute>);

#[async_trait]
impl ClientSource for To {
    async fn open(&self) -> Result<Client, String> {
        let opened = Client::within(self.0.clone(), &SecretString::from("gaf_token"));
        opened.map_err(|error| error.to_string())
    }
}

impl Mute {
    /// Resolves when so many wait.
    async fn until(&self, waiting: usize) {
        while self.waiting.load(Ordering::SeqCst) != waiting {
            self.changed.notified().await;
        }
    }
}

/// A server that calls this API, and the client's end of its pipes after the first words.
async fn piped(client: &Arc<Mute>) -> DuplexStream {
    let (mut ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let server = Server::new(Arc::new(To(client.clone())));
    tokio::spawn(server.over(reader, writer));
    let hello = json!({
        "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    });
    let wait = json!({ "name": "jules_wait_event", "arguments": {} });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": wait }),
    ] {
        say(&mut ours, &message).await;
    }
    let waits = tokio::time::timeout(SOON, client.until(1)).await;
    waits.expect("nobody waits at the API");
    ours
}

async fn say(pipe: &mut DuplexStream, message: &Value) {
    let line = format!("{message}\n");
    pipe.write_all(line.as_bytes()).await.expect("a server");
}

#[tokio::test]
async fn nobody_waits_for_a_caller_who_has_had_enough() {
    let client = Arc::new(Mute::default());
    let mut pipe = piped(&client).await;
    let enough = json!({ "requestId": 2, "reason": "enough" });
    let enough = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": enough });
    say(&mut pipe, &enough).await;
    let gone = tokio::time::timeout(SOON, client.until(0)).await;
    gone.expect("the API is still waited at");

    let pipe = piped(&client).await;
    drop(pipe);
    let gone = tokio::time::timeout(SOON, client.until(0)).await;
    gone.expect("the API is still waited at");
}

/// A server whose API is at an address where nothing listens.
struct Deserted;

#[async_trait]
impl ClientSource for Deserted {
    async fn open(&self) -> Result<Client, String> {
        // Only fails when one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base = "http://127.0.0.1:1".parse().expect("an address");
        let opened = Client::new(base, secrecy::SecretString::from("gaf_token"));
        opened.map_err(|error| error.to_string())
    }
}

fn text(result: &CallToolResult) -> &str {
    let texts = result.content.iter().filter_map(|it| it.as_text());
    let [text] = &texts.collect::<Vec<_>>()[..] else {
        panic!("one text");
    };
    &text.text
}

async fn refused(name: &str, arguments: Value) -> String {
    let server = Server::new(Arc::new(Deserted)).with(&Toolset::ALL);
    let result = server.call(name, arguments).await.expect("a tool");
    assert_eq!(result.is_error, Some(true), "{result:?}");
    text(&result).to_owned()
}

#[tokio::test]
async fn without_a_token_every_tool_says_so() {
    for name in Server::every_tool() {
        let server = server().with(&Toolset::ALL);
        let result = server.call(name, json!({})).await.expect("a tool");
        assert_eq!(result.is_error, Some(true));
        let told = format!("{name}: there is no token; set GAFFER_TOKEN");
        assert_eq!(text(&result), told);
    }
    assert!(
        server()
            .call("jules_force_merge", json!({}))
            .await
            .is_none()
    );
}

#[tokio::test]
async fn what_is_wrong_is_named_before_anything_is_sent() {
    let told = [
        refused("jules_create_job", json!({ "repo": "acme/shop" })).await,
        refused("jules_create_job", json!({ "repo": "shop", "prompt": "x" })).await,
        refused("jules_create_job", json!({ "repo": "acme/shop", "prompt": "x", "priority": 12 })).await,
        refused("jules_create_job", json!({ "repo": "acme/shop", "prompt": "x", "promt": "y" })).await,
        refused("jules_create_job", json!({ "repo": "acme/shop", "prompt": "x", "constraints": { "style": [1] } })).await,
        refused("jules_create_job", json!({ "repo": "acme/shop", "prompt": "x", "constraints": { "automation_mode": "NONE" } })).await,
        refused("jules_get_job", json!({ "job_id": "../secrets" })).await,
        refused("jules_get_job", json!({ "job_id": 7 })).await,
        refused("jules_list_jobs", json!({})).await,
        refused("jules_check", json!({})).await,
        refused("jules_send_message", json!({ "job_id": "1", "message": 7 })).await,
        refused("jules_get_artifacts", json!({ "job_id": "1", "show": "everything" })).await,
        refused("jules_get_artifacts", json!({ "job_id": "1", "show": "file" })).await,
        refused("jules_get_artifacts", json!({ "job_id": "1", "max_bytes": 0 })).await,
        refused("jules_merge_pr", json!({ "job_id": "1", "payload": { "force": true } })).await,
        refused("jules_merge_pr", json!({ "job_id": "1", "payload": { "sha": "main" } })).await,
        refused("jules_ack_event", json!({ "event_id": "x y", "agent": "zai" })).await,
        refused("jules_get_job", json!([])).await,
        refused("jules_status", json!({ "repo": "acme/shop" })).await,
        refused("jules_why", json!({})).await,
        refused("jules_why", json!({ "job_id": "1", "pull_request": "acme/shop#7" })).await,
        refused("jules_why", json!({ "pull_request": "acme/shop" })).await,
        refused("jules_take_wakes", json!({ "agent": "zai", "seconds": 21 })).await,
        refused("jules_send_message", json!({ "job_id": "1", "message": "x", "idempotency_key": "a\r\nb" })).await,
    ];
    expect![[r#"
        jules_create_job: `arguments`: `prompt` is missing
        jules_create_job: `repo`: `shop` is not a valid repository: `owner/name`
        jules_create_job: `priority`: a priority is a number from 0 to 9, and 9 goes first
        jules_create_job: `promt`: `promt` is no field; there are `repo`, `branch`, `prompt`, `constraints`, `title`, `agent`, `priority`, `idempotency_key`
        jules_create_job: `constraints.style`: it has to be a text, a number or true or false
        jules_create_job: `constraints.automation_mode`: is `"NONE"`, but has to be `AUTO_CREATE_PR`, or `AUTOMATION_MODE_UNSPECIFIED` for a job without a pull request
        jules_get_job: `job_id`: `../secrets` is not a valid job or session id: the id of a job or a session, the first 4 or more characters of a job's id, `latest`, or `owner/name#number`
        jules_get_job: `job_id`: is the number `7`, but has to be a text
        jules_list_jobs: nobody answers at http://127.0.0.1:1/; the operator of Gaffer has to start it, or to correct GAFFER_URL
        jules_check: `job_id`: give it, or `repo`
        jules_send_message: `message`: it has to be a text, or an object with the text in `content`
        jules_get_artifacts: `show`: is `everything`, but has to be one of `summary`, `tree`, `file`
        jules_get_artifacts: `path`: `show` is `file`, so say which; `tree` lists them
        jules_get_artifacts: `max_bytes`: is 0, but has to be from 1 to 65536
        jules_merge_pr: `payload.force`: nothing can be forced: it is merged once its checks have passed
        jules_merge_pr: `payload.sha`: `main` is not a valid commit SHA: 40 or 64 hex digits in lower case
        jules_ack_event: `event_id`: `x y` is not a valid event id: `evt_` and 32 hex digits
        jules_get_job: `arguments`: they have to be an object
        jules_status: `repo`: `repo` is no field; there are none
        jules_why: `job_id`: give it, or `pull_request`, and not both
        jules_why: `job_id`: give it, or `pull_request`, and not both
        jules_why: `pull_request`: `acme/shop` is not a valid pull request: `owner/name#number`
        jules_take_wakes: `seconds`: is 21, but has to be from 0 to 20
        jules_send_message: `idempotency_key`: an idempotency key is a text of at most 255 visible ASCII characters
    "#]]
    .assert_eq(&format!("{}\n", told.join("\n")));
}

#[tokio::test]
async fn an_api_that_does_not_answer_is_named_with_what_to_do() {
    let told = refused("jules_get_job", json!({ "job_id": "1" })).await;
    assert!(
        told.starts_with("jules_get_job: nobody answers at http://127.0.0.1:1"),
        "{told}"
    );
    assert!(
        told.contains("has to start it") && !told.contains("gaf_token"),
        "{told}"
    );
}

fn one_a_line(tools: &[rmcp::model::Tool]) -> String {
    let tools = tools
        .iter()
        .map(|tool| serde_json::to_string(tool).expect("JSON"));
    format!("[\n{}\n]\n", tools.collect::<Vec<_>>().join(",\n"))
}

/// Every client shows all of this to its model in every session: it has to stay small.
#[test]
fn the_list_of_tools_is_as_it_was_and_small() {
    let (usual, further) = tools::described().split_at(Server::usual_tools().len());
    let listed = server();
    assert!(listed.listed().eq(usual));
    expect_test::expect_file!["tests/tools.json"].assert_eq(&one_a_line(usual));
    expect_test::expect_file!["tests/further.json"].assert_eq(&one_a_line(further));
    let bytes = |tools: &[&rmcp::model::Tool]| serde_json::to_string(tools).expect("JSON").len();
    let whole = bytes(&usual.iter().collect::<Vec<_>>());
    assert!(whole <= LIST_BYTES_MAX, "{whole} bytes");
    for set in Toolset::ALL {
        let more = server().with(&[set]);
        let more: Vec<_> = more.listed().skip(usual.len()).collect();
        let most = match set {
            Toolset::Insight | Toolset::Inbox | Toolset::Mail | Toolset::Sprint => SET_BYTES_MAX,
            Toolset::Deliveries => DELIVERIES_BYTES_MAX,
        };
        assert!(bytes(&more) <= most, "{set}: {} bytes", bytes(&more));
    }
}

#[test]
fn the_page_names_every_tool_with_its_toolset_in_the_order_of_the_list() {
    let page = include_str!("../../../../docs/mcp.md");
    let (_, tables) = page.split_once("\n## Tools\n").expect("the tables");
    let rows = tables.lines().filter(|line| line.starts_with("| `"));
    let told: Vec<String> = rows
        .map(|row| {
            let (names, _description) = row.rsplit_once(" | ").expect("a row");
            names.replace(['|', '`'], "").trim().to_owned()
        })
        .collect();
    let known = tools::all().map(|tool| match tool.toolset {
        Some(set) => format!("{set}  {}", tool.name),
        None => tool.name.to_owned(),
    });
    assert_eq!(told, known.collect::<Vec<_>>());
}

#[test]
fn a_toolset_is_named_or_the_names_are_told() {
    for set in Toolset::ALL {
        assert_eq!(set.name().parse(), Ok(set));
    }
    for (name, meant) in [("merge!", ""), ("insigt", " (did you mean `insight`?)")] {
        let unknown = name.parse::<Toolset>().unwrap_err();
        let told = format!(
            "there is no toolset `{name}`{meant}; there are `insight`, `inbox`, `deliveries`, `mail`, `sprint`"
        );
        assert_eq!(unknown.to_string(), told);
    }
}

/// An API where nothing comes, which holds its answers open or not.
struct Quiet {
    holds: bool,
}

#[async_trait]
impl Transport for Quiet {
    async fn carry(&self, request: Request) -> Result<TransportResponse, Error> {
        let asked = request.url.query_pairs().into_owned();
        let asked: std::collections::BTreeMap<String, String> = asked.collect();
        assert_eq!(asked["open"], "1");
        let seconds: u64 = asked["wait_seconds"].parse().unwrap();
        if self.holds {
            let held = Duration::from_secs(seconds);
            let _ = tokio::time::timeout(held, std::future::pending::<()>()).await;
        }
        let page = json!({ "events": [], "cursor": "e1.0.", "more": false });
        let body = page.to_string().into_bytes();
        Ok(TransportResponse {
            status: ::http::StatusCode::OK,
            body,
        })
    }
}

struct Quietly(Arc<Quiet>);

#[async_trait]
impl ClientSource for Quietly {
    async fn open(&self) -> Result<Client, String> {
        let opened = Client::within(self.0.clone(), &SecretString::from("gaf_token"));
        opened.map_err(|error| error.to_string())
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_lasts_as_long_as_it_was_asked_to() {
    for holds in [true, false] {
        let server = Server::new(Arc::new(Quietly(Arc::new(Quiet { holds }))));
        for asked in (1..=45).map(Some).chain([None]) {
            let mut arguments = json!({});
            if let Some(seconds) = asked {
                arguments["seconds"] = seconds.into();
            }
            let began = tokio::time::Instant::now();
            let waited = server.call("jules_wait_event", arguments).await.unwrap();
            assert_eq!(waited.is_error, Some(false), "{waited:?}");
            let off = began.elapsed().as_secs_f64() - f64::from(asked.unwrap_or(45));
            assert!(off.abs() <= 0.5, "{asked:?} {holds}: {off}");
        }
        for wrong in [json!({ "seconds": 0 }), json!({ "seconds": 46 })] {
            let refused = server.call("jules_wait_event", wrong).await.unwrap();
            assert_eq!(refused.is_error, Some(true), "{refused:?}");
        }
    }
}
