//! `gaffer watch` over real sockets: a command for each wake, again when it fails, and on through a restart of `gaffer up`.

use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::*;
use crate::world::{Fields, Told};

impl Stage {
    /// A stage whose agent has an inbox.
    fn with_inbox() -> Self {
        let stage = Self::new();
        stage.world.run(&["agent", "add", "me"]).ok();
        let set = ["source", "set", "acme/shop", "--agent", "me"];
        stage.world.run(&set).ok();
        stage
    }

    /// A job for the sandbox, by its id.
    pub(crate) fn create(&self, url: &str) -> String {
        let order = ["job", "create", "--repo", "acme/shop", "--prompt"];
        let order = [&order[..], &["Add a search box", "--url", url]].concat();
        let created = self.world.json(&order);
        created["job"]["job_id"].as_str().unwrap().to_owned()
    }
}

/// A watcher, and what it says.
pub(super) struct Watcher {
    pub(super) process: Process,
    /// A line each, as a thread reads them.
    said: Receiver<String>,
}

impl Watcher {
    pub(super) fn start(stage: &Stage, url: &str, command: &[&str]) -> Self {
        let watch = ["watch", "--agent", "me", "--json", "--url", url, "--"];
        let watch = [&watch[..], command].concat();
        let mut command = stage.world.command(&watch);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (says, said) = channel();
        thread::spawn(move || {
            while let Some(Ok(line)) = lines.next() {
                if says.send(line).is_err() {
                    return;
                }
            }
        });
        let told = Value::Null;
        Self {
            process: Process { child, told },
            said,
        }
    }

    pub(super) fn next(&mut self) -> Value {
        let line = self.said.recv_timeout(WITHIN).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

#[test]
fn a_command_is_run_for_each_wake_and_again_until_it_succeeds() {
    let stage = Stage::with_inbox();
    let port = HeldPort::take();
    let up = stage.up_at(&port);
    let url = up.text("url");
    assert_eq!(up.stop(), Some(0));
    let folder = stage.world.file("given", "").replace("given", "");
    // It fails the first time, and keeps what it was given.
    let script = format!(
        r#"cd {folder} && cat > stdin && printf '%s' "$JULES_EVENT" > env && printf '%s' "$GAFFER_URL" > url && test -e again || {{ touch again; exit 3; }}"#
    );
    let mut watcher = Watcher::start(&stage, &url, &["sh", "-c", &script]);
    // The watcher was there first, and goes on when the API answers.
    let up = stage.up_at(&port);
    let job = stage.create(&url);
    let first = watcher.next();
    first.holds(&json!({ "outcome": "given back: exit code 3", "kind": "completed" }));
    assert_eq!(first["job_id"], *job);
    assert_eq!(first["attempt"], 1);
    up.kill();
    let up = stage.up_at(&port);
    let second = watcher.next();
    second.holds(&json!({ "outcome": "done", "attempt": 2 }));
    assert_eq!(second["event_id"], first["event_id"]);
    let read = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    assert_eq!(read("stdin"), read("env"));
    assert!(read("url").starts_with(&url));
    let event: Value = serde_json::from_str(&read("env")).unwrap();
    assert_eq!(event["event"], "completed");
    assert_eq!(event["event_id"], first["event_id"]);
    assert_eq!(event["job_id"], *job);
    assert_eq!(event["repo"], "acme/shop");
    assert_eq!(watcher.process.stop(), Some(0));
    // What was acknowledged is over.
    let once = ["watch", "--agent", "me", "--once", "--url", &url];
    let nothing = stage.world.run(&once).ok();
    assert!(!nothing.says("completed"), "{nothing:?}");
    assert_eq!(up.stop(), Some(0));
}

#[test]
fn what_fails_is_given_back_and_the_default_handler_tells_what_to_do() {
    let stage = Stage::with_inbox();
    let up = stage.up();
    let url = up.text("url");
    let job = stage.create(&url);
    let watch = ["watch", "--agent", "me", "--once", "--url", &url];
    // It takes too long, with all that it started.
    let slow = [
        &watch[..],
        &["--timeout", "1s", "--", "tail", "-f", "/dev/null"],
    ]
    .concat();
    let end = Instant::now() + WITHIN;
    let slow = loop {
        let ended = stage.world.run(&slow);
        if ended.code != 0 {
            break ended;
        }
        assert!(Instant::now() < end, "{ended:?}");
    };
    slow.tells(&["it took longer than 1s", "1 events could not be handled"]);
    // Nothing is there before its next attempt; then the program itself handles it.
    let end = Instant::now() + WITHIN;
    let told = loop {
        let told = stage.world.run(&watch);
        assert_eq!(told.code, 0, "{told:?}");
        if told.says("Jules is done with") {
            break told;
        }
        assert!(Instant::now() < end, "{told:?}");
    };
    for said in [
        job.as_str(),
        "jules_get_artifacts",
        "gaffer job artifacts",
        "(try 2): done",
    ] {
        assert!(told.says(said), "{said}: {told:?}");
    }
    assert_eq!(up.stop(), Some(0));
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let stage = Stage::with_inbox();
    let up = stage.up();
    let url = up.text("url");
    let nobody = ["watch", "--agent", "nobody", "--url", &url];
    let nobody = stage.world.refused(&nobody);
    assert_eq!(nobody.code, "no_such_agent");
    let missing = ["watch", "--agent", "me", "--url", &url, "--once"];
    stage.create(&url);
    let nothing = [&missing[..], &["--", "/no/such/program"]].concat();
    // Whatever is in the inbox is not lost by it.
    stage.world.run(&nothing);
    assert_eq!(up.stop(), Some(0));
    let closed = stage.world.refused(&missing);
    assert_eq!(closed.code, "not_running");
    let event = stage.world.refused(&["handle-event", "--event", "{}"]);
    assert_eq!(event.exit, 2);
    assert!(event.error.contains("missing field `event`"), "{event:?}");
}
