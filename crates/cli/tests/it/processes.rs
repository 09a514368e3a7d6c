//! Real processes: `gaffer up` killed and restarted in the middle of a job, two of them on one folder, stopped, and
//! restored from an old backup.

mod hostile;
mod idle;
mod monitor;
mod starting;
mod watching;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::account::{Account, Pace};
use engine::keys;
use engine::ports::{Expect, Records, Write as Put};
use jiff::SignedDuration;
use local::{DATABASE_FILE, Database};
use serde_json::{Value, json};

use crate::world::{HeldPort, Ran, Told, World, ended, words};

/// Longest wait for anything: a job takes a few seconds, and of what a killed process had claimed some is taken up after two minutes.
const WITHIN: Duration = Duration::from_secs(300);

/// How long a stop may take: `gaffer up` gives up waiting for its work after 30 seconds.
const STOPS_WITHIN: Duration = Duration::from_secs(35);

/// A process that has said where it is.
pub(crate) struct Process {
    child: Child,
    told: Value,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stderr(Stdio::null());
        Self::start_as_is(command)
    }

    /// The same with its stderr where the command says.
    pub(crate) fn start_as_is(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let told = serde_json::from_str(&line).unwrap_or(Value::Null);
        Self { child, told }
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.told[name].as_str().unwrap_or_default().to_owned()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM and answers the exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let number = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &number]).status();
        assert!(sent.unwrap().success());
        ended(&mut self.child, STOPS_WITHIN).code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A sandbox, and a data folder that is set up for it.
pub(crate) struct Stage {
    pub(crate) world: World,
    sandbox: Process,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::playing(&[])
    }

    /// The same with more to say about the sandbox.
    fn playing(how: &[&str]) -> Self {
        let sandbox = ["sandbox", "--listen", "127.0.0.1:0", "--json"];
        let sandbox = [&sandbox[..], how].concat();
        let sandbox = Process::start(World::new().command(&sandbox));
        let world = World::new()
            .set("GITHUB_TOKEN", sandbox.text("github_token"))
            .set("JULES_API_BASE", sandbox.text("jules_base"))
            .set("GITHUB_API_BASE", sandbox.text("github_base"));
        world
            .feed(
                &["account", "add", "default"],
                &sandbox.text("jules_api_key"),
            )
            .ok();
        world.done(&words(
            "source add acme/shop --merge on-green --plan-approval auto --settle 1s",
        ));
        hurry(&world);
        Self { world, sandbox }
    }

    pub(crate) fn up(&self) -> Process {
        self.up_with(&["--no-webhooks"])
    }

    pub(crate) fn up_with(&self, arguments: &[&str]) -> Process {
        let up = ["up", "--listen", "127.0.0.1:0", "--json"];
        let up = Process::start(self.world.command(&[&up[..], arguments].concat()));
        assert!(up.told["url"].is_string(), "{:?}", up.told);
        up
    }

    /// The same at a port that it can have again after its end.
    fn up_at(&self, port: &HeldPort) -> Process {
        let address = port.address();
        let up = ["up", "--listen", &address, "--no-webhooks", "--json"];
        let up = Process::start(self.world.command(&up));
        assert_eq!(up.text("url"), format!("http://{address}"));
        up
    }

    pub(crate) fn state(&self, up: &Process, job: &str) -> String {
        let shown = self
            .world
            .json(&["job", "show", job, "--url", &up.text("url")]);
        shown["job"]["state"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Asks until the job is in one of these states. Asking starts a process each time, which keeps the pace.
    pub(crate) fn until(&self, up: &Process, job: &str, states: &[&str]) {
        let end = Instant::now() + WITHIN;
        loop {
            let state = self.state(up, job);
            if states.contains(&state.as_str()) {
                return;
            }
            let why = || {
                self.world
                    .json(&["job", "why", job, "--url", &up.text("url")])
            };
            assert!(
                Instant::now() < end,
                "it is {state}, not {states:?}: {}",
                why()
            );
        }
    }

    /// What was done to the sandbox's Jules and GitHub.
    fn done(&self) -> Value {
        let all = self.control("GET", "/counters", &Value::Null);
        json!([
            all["creates"],
            all["messages"],
            all["merges"],
            all["merge_calls"]
        ])
    }

    /// A request to Jules, as its web page makes it.
    fn to_jules(&self, method: &str, path: &str, body: &Value) -> Value {
        let address = format!("{}{path}", self.sandbox.text("jules_base"));
        let key = self.sandbox.text("jules_api_key");
        spoken(method, (&address, &key), body)
    }

    /// Says something to a session on Jules's page.
    fn says_upstream(&self, session: &str, words: &str) {
        let path = format!("/sessions/{session}:sendMessage");
        self.to_jules("POST", &path, &json!({ "prompt": words }));
    }

    /// Asks the sandbox's control.
    fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        let address = format!("{}{path}", self.sandbox.text("control"));
        spoken(method, (&address, ""), body)
    }
}

/// One request with this key of Jules over a socket of its own, and the JSON that came back.
fn spoken(method: &str, (address, key): (&str, &str), body: &Value) -> Value {
    let address = address.trim_start_matches("http://");
    let (host, path) = address.split_once('/').unwrap();
    // Nothing that the other side could leave unread, and all of it at once: what comes after an answer is answered by a reset.
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    // The older version: the answer ends with the connection.
    let request = format!(
        "{method} /{path} HTTP/1.0\r\nhost: {host}\r\nx-goog-api-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{method} {address}: {answer}");
    serde_json::from_str(body).unwrap_or(Value::Null)
}

/// A person's account is polled every ten seconds; these stories cannot wait for that.
pub(crate) fn hurry(world: &World) {
    hurry_to(world, SignedDuration::from_millis(250));
}

/// The same at this tick.
fn hurry_to(world: &World, tick: SignedDuration) {
    let database = Database::open(&world.data().join(DATABASE_FILE)).unwrap();
    let records = local::Store::new(&database);
    let runtime = crate::world::runtime();
    runtime.block_on(async {
        let key = keys::account(&"default".parse().unwrap());
        let store = engine::store::Store::new(Arc::new(records.clone()));
        let account = store.account(&"default".parse().unwrap()).await.unwrap();
        let quick = Account {
            pace: Pace {
                tick,
                idle: tick.saturating_mul(2),
            },
            ..account.unwrap().value
        };
        let mut record = records.get(&key).await.unwrap().unwrap();
        let mut body: Value = serde_json::from_str(&record.body).unwrap();
        body["it"] = serde_json::to_value(quick).unwrap();
        record.body = body.to_string();
        let expect = Expect::Version(record.version);
        records
            .commit(vec![Put::Put { record, expect }])
            .await
            .unwrap();
    });
}

/// One session, no message, one merge.
fn one_job() -> Value {
    json!([1, 0, 1, 1])
}

#[test]
fn killed_and_started_again_it_goes_on_and_an_old_backup_does_nothing_once_more() {
    let stage = Stage::new();
    let up = stage.up();
    let created = stage.world.json(&[
        "job",
        "create",
        "--repo",
        "acme/shop",
        "--prompt",
        "Add a search box",
        "--url",
        &up.text("url"),
    ]);
    let job = created["job"]["job_id"].as_str().unwrap().to_owned();
    stage.until(&up, &job, &["working", "in-review", "merged"]);
    let backup = stage.world.file("unused", "");
    let backup = backup.replace("unused", "backup.db");
    stage.world.run(&["backup", &backup]).ok();
    up.kill();

    let up = stage.up();
    stage.until(&up, &job, &["working", "in-review", "merged"]);
    up.kill();

    let up = stage.up();
    stage.until(&up, &job, &["merged"]);
    assert_eq!(stage.done(), one_job());
    assert_eq!(up.stop(), Some(0));

    let restored = stage.world.json(&["restore", &backup, "--replace"]);
    assert!(restored["kept"].is_string(), "{restored}");
    let up = stage.up();
    stage.until(&up, &job, &["merged"]);
    assert_eq!(up.stop(), Some(0));
    assert_eq!(stage.done(), one_job());
}

#[test]
fn one_gaffer_at_a_time_works_over_a_folder_and_backups_are_made_beneath_it() {
    let stage = Stage::new();
    let up = stage.up();
    let folder = stage.world.data().display().to_string();
    let second = stage
        .world
        .run(&["up", "--listen", "127.0.0.1:0", "--json"]);
    let told: Value = second.stderr.lines().last().map_or(Value::Null, |line| {
        serde_json::from_str(line).unwrap_or(Value::Null)
    });
    assert_eq!(
        (second.code, &told["code"]),
        (1, &json!("in_use")),
        "{second:?}"
    );
    let error = told["error"].as_str().unwrap();
    assert!(error.contains(&folder), "{error}");
    error.tells(&["stop it first", &format!("process {}", up.child.id())]);

    let backup = stage.world.file("x", "").replace("/x", "/backup.db");
    stage.world.run(&["backup", &backup]).ok();
    let refused = stage.world.refused(&["restore", &backup, "--replace"]);
    refused.is(1, "in_use");
    let exported: Ran = stage.world.run(&["export", "--all"]).ok();
    exported.prints(&["CFG#source#acme/shop"]);
    assert_eq!(up.stop(), Some(0));
    stage.world.run(&["restore", &backup, "--replace"]).ok();
}
