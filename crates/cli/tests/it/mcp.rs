//! `gaffer mcp` as a client starts it: the built binary, lines of JSON on its pipes, and the real API behind it.

mod bad_input;
mod install;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command};

use serde_json::{Value, json};

use crate::jobs;
use crate::world::{Fields, Told, World};

/// A client of the server, with its first words said.
pub(crate) struct Speaker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Speaker {
    fn new(world: &World) -> Self {
        Self::started(world.command(&["mcp"]))
    }

    pub(crate) fn started(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            asked: 0,
        }
    }

    /// The same, after the handshake.
    fn greeted(world: &World) -> Self {
        Self::greeted_with(world, &[])
    }

    /// The same with more arguments.
    pub(crate) fn greeted_with(world: &World, arguments: &[&str]) -> Self {
        let mut speaker = Self::started(world.command(&[&["mcp"], arguments].concat()));
        speaker.greet("2024-11-05");
        speaker
    }

    pub(crate) fn greet(&mut self, version: &str) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", hello);
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer["result"].clone()
    }

    fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Asks, and answers what came of it.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let asked =
            json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.say(&asked.to_string());
        let answer = self.hear();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer
    }

    /// Calls a tool that has to work.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let told: Value = serde_json::from_str(text).unwrap();
        assert_eq!(told, result["structuredContent"], "{answer}");
        told
    }

    /// Calls a tool that has to fail, and answers what its model reads.
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str();
        text.unwrap().to_owned()
    }

    /// Hangs up, and returns what was said on stderr.
    pub(crate) fn ended(mut self) -> String {
        drop(self.stdin.take());
        drop(self.stdout);
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn versions_are_agreed_on() {
    let world = World::new();
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("latest", "2025-11-25"),
    ] {
        let mut speaker = Speaker::new(&world);
        let told = speaker.greet(asked);
        assert_eq!(told["protocolVersion"], answered, "{told}");
        let server = json!({ "name": "zai-jules-mcp", "version": env!("CARGO_PKG_VERSION") });
        assert_eq!(told["serverInfo"], server);
        assert!(told["capabilities"]["tools"].is_object(), "{told}");
        assert_eq!(speaker.ended(), "");
    }
}

#[test]
fn it_starts_without_a_token_and_says_so_at_the_first_call() {
    let world = World::new();
    let mut speaker = Speaker::greeted(&world);
    let tools = speaker.ask("tools/list", json!({}))["result"]["tools"].clone();
    let told = tools.as_array().unwrap();
    assert_eq!(told.len(), client::mcp::Server::usual_tools().len());
    let told = speaker.refused("jules_get_job", json!({ "job_id": "1" }));
    told.tells(&["there is no token", "GAFFER_TOKEN"]);
    speaker.ended();
}

#[test]
fn what_is_no_request_of_a_tool_is_answered_as_the_protocol_says() {
    let world = World::new();
    let mut speaker = Speaker::greeted(&world);
    // A notification gets no answer.
    speaker
        .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#);
    assert_eq!(speaker.ask("ping", json!({}))["result"], json!({}));
    let unknown = speaker.ask("jules/force", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let unknown = speaker.ask("tools/call", json!({ "name": "jules_get_jobs" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let told = unknown["error"]["message"].as_str().unwrap();
    told.tells(&["did you mean `jules_get_job`?", "jules_merge_pr"]);
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#,
        "x".repeat(10 << 20)
    );
    for (line, code) in [
        ("{ this is no JSON", -32700),
        ("\u{0}", -32700),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\ud83d"}}"#,
            -32700,
        ),
        ("[]", -32600),
        ("7", -32600),
        (long.as_str(), -32600),
    ] {
        speaker.say(line);
        let refused = speaker.hear();
        assert_eq!(refused["error"]["code"], code, "{refused}");
        assert_eq!(speaker.ask("ping", json!({}))["result"], json!({}));
    }
    speaker.ended();
}

#[test]
fn whoever_does_not_greet_is_left_although_the_line_is_open() {
    let world = World::new();
    let mut speaker = Speaker::new(&world);
    // Before the greeting a ping is answered, and any other request is refused under its id.
    assert_eq!(speaker.ask("ping", json!({}))["result"], json!({}));
    let early = speaker.ask("tools/list", json!({}));
    assert_eq!(early["error"]["code"], -32602, "{early}");
    speaker.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    // Its stdin is open still.
    assert_eq!(speaker.child.wait().unwrap().code(), Some(1));
    let mut told = String::new();
    let mut stderr = speaker.child.stderr.take().unwrap();
    stderr.read_to_string(&mut told).unwrap();
    assert!(told.contains("speaks first"), "{told}");
}

#[test]
fn what_was_asked_before_the_client_hung_up_is_answered() {
    let world = jobs::world();
    let client = json!({ "name": "test", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let call = json!({ "name": "jules_list_jobs", "arguments": { "repo": "acme/shop" } });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ];
    let said = lines.map(|line| line.to_string() + "\n").concat();
    let heard = world.feed(&["mcp"], &said).ok().stdout;
    let answers: Vec<Value> = heard
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2, "{heard}");
    let listed = &answers[1]["result"]["structuredContent"];
    assert_eq!(*listed, json!({ "jobs": [], "more": false }));
    // An empty input gets an empty output.
    assert_eq!(world.feed(&["mcp"], "").ok().stdout, "");
}

#[test]
fn whoever_waits_for_events_goes_on_where_they_were() {
    let world = jobs::world();
    let mut speaker = Speaker::greeted(&world);
    let begun = speaker.call("jules_wait_event", json!({ "seconds": 1 }));
    assert_eq!(begun["events"], json!([]));
    let cursor = begun["cursor"].as_str().unwrap();
    let on = json!({ "seconds": 1, "cursor": cursor });
    assert_eq!(speaker.call("jules_wait_event", on), begun);
    for (wrong, named) in [
        (json!({ "seconds": 0 }), "`seconds`"),
        (json!({ "seconds": 46 }), "`seconds`"),
        (json!({ "seconds": -1 }), "`seconds`"),
        (json!({ "cursor": "x" }), "`after`"),
        (json!({ "job_id": "../x" }), "`job_id`"),
        (json!({ "timeout": 1 }), "`timeout`"),
    ] {
        let told = speaker.refused("jules_wait_event", wrong);
        assert!(told.contains(named), "{told}");
    }
    speaker.ended();
}

#[test]
fn a_job_is_handed_over_looked_at_and_called_off() {
    let world = jobs::world();
    let mut speaker = Speaker::greeted(&world);
    let wanted = json!({
        "repo": "acme/shop",
        "prompt": "Add a search box",
        "constraints": ["no new crates", "keep the API"],
        "priority": 7,
        "idempotency_key": "once",
    });
    let job = speaker.call("jules_create_job", wanted.clone());
    let id = job["job_id"].as_str().unwrap().to_owned();
    let begun = json!({ "job_id": id, "state": "queued", "attempt": 1 });
    assert_eq!(job, begun);
    // The same order under the same name is one job.
    let told = speaker.call("jules_create_job", wanted);
    assert_eq!(told["job_id"], id.as_str());
    assert!(world.stored("Constraints:\\n- no new crates\\n- keep the API"));
    let one = json!({ "job_id": id });
    let shown = speaker.call("jules_get_job", one.clone());
    shown.holds(&json!({ "code": "N", "branch": "main", "title": "Add a search box" }));
    let waits_for = "Gaffer: queued until a slot is free";
    let row = json!({ "job_id": id, "code": "N", "state": "queued", "waits_for": waits_for, "title": "Add a search box" });
    let listed = speaker.call("jules_list_jobs", json!({ "repo": "acme/shop" }));
    assert_eq!(listed, json!({ "jobs": [row], "more": false }));
    let checked = json!({ "code": "N", "job_id": id, "state": "queued", "waits_for": waits_for });
    assert_eq!(speaker.call("jules_check", one.clone()), checked);
    let told = speaker.call("jules_check", json!({ "repo": "acme/shop" }));
    assert_eq!(told, checked);
    let none = speaker.call(
        "jules_check",
        json!({ "repo": "acme/shop", "branch": "other" }),
    );
    assert_eq!(none, json!({ "code": "N" }));
    let pull = speaker.call("jules_extract_pr", one.clone());
    assert_eq!(pull, json!({ "job_id": id }));
    // A refusal comes with its status and its reason.
    for (tool, code) in [
        ("jules_approve_plan", "409"),
        ("jules_request_retry", "409"),
        ("jules_merge_pr", "409"),
    ] {
        let told = speaker.refused(tool, one.clone());
        assert!(told.starts_with(tool) && told.contains(code), "{told}");
    }
    let told = speaker.refused("jules_get_job", json!({ "job_id": "nobody" }));
    assert!(told.contains("404"), "{told}");
    let ended = speaker.call("jules_cancel_job", one);
    assert_eq!(ended["state"], "cancelled");
    let ended = speaker.call("jules_get_job", json!({ "job_id": id }));
    assert_eq!(ended["code"], "F");
    assert_eq!(speaker.ended(), "");
}

#[test]
fn a_new_token_is_learned_at_the_next_call() {
    let world = World::with_account();
    world.run(&["source", "add", "acme/shop"]).ok();
    let url = format!("http://{}", jobs::serve(&world));
    let world = world.set("GAFFER_URL", url);
    world
        .feed(&["secret", "set", "token"], "gaf_of_yesterday")
        .ok();
    let mut speaker = Speaker::greeted(&world);
    let shop = json!({ "repo": "acme/shop" });
    let told = speaker.refused("jules_list_jobs", shop.clone());
    told.tells(&["401"]);
    told.lacks(&["yesterday"]);
    world.feed(&["secret", "set", "token"], jobs::TOKEN).ok();
    assert_eq!(speaker.call("jules_list_jobs", shop)["jobs"], json!([]));
    speaker.ended();
}

#[test]
fn one_tool_is_called_from_a_shell() {
    let world = jobs::world();
    let created = world.run(&[
        "mcp",
        "call",
        "jules_create_job",
        r#"{"repo":"acme/shop","prompt":"Add a search box"}"#,
    ]);
    let id = created.ok().json()["job_id"].as_str().unwrap().to_owned();
    let listed = world.feed(
        &["mcp", "call", "jules_list_jobs", "-"],
        r#"{"repo":"acme/shop"}"#,
    );
    assert_eq!(listed.ok().json()["jobs"][0]["job_id"], id.as_str());
    for (tool, arguments, exit, said) in [
        ("jules_get_job", r#"{"job_id":"nobody"}"#, 1, "404"),
        ("jules_get_job", "{}", 1, "job_id"),
        ("jules_get_job", "{", 2, "JSON"),
        ("jules_eat", "{}", 2, "jules_eat"),
    ] {
        let told = world.refused(&["mcp", "call", tool, arguments]);
        assert_eq!(told.exit, exit, "{told:?}");
        assert!(told.error.contains(said), "{told:?}");
        // Other arguments help only where these are wrong.
        let shows_examples = told.next.contains("shows examples");
        assert_eq!(shows_examples, said == "job_id", "{told:?}");
    }
}

#[test]
fn further_tools_are_shown_to_whoever_asks() {
    let world = World::new();
    let names = |arguments: &[&str], set: Option<&str>| {
        let mut command = world.command(arguments);
        command.envs(set.map(|names| ("GAFFER_TOOLSETS", names)));
        let mut speaker = Speaker::started(command);
        speaker.greet("2025-06-18");
        let tools = speaker.ask("tools/list", json!({}))["result"]["tools"].clone();
        speaker.ended();
        let tools = tools.as_array().unwrap().iter();
        let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned());
        names
            .skip(client::mcp::Server::usual_tools().len())
            .collect::<Vec<_>>()
    };
    let insight = ["jules_status", "jules_why", "jules_list_events"];
    let inbox = ["jules_take_wakes", "jules_extend_wake", "jules_return_wake"];
    assert_eq!(names(&["mcp"], None), Vec::<String>::new());
    assert_eq!(names(&["mcp"], Some("")), Vec::<String>::new());
    assert_eq!(names(&["mcp", "--toolset", "insight"], None), insight);
    assert_eq!(names(&["mcp"], Some("inbox")), inbox);
    let both = ["mcp", "--toolset", "inbox", "--toolset", "insight"];
    assert_eq!(names(&both, None), [insight, inbox].concat());
    let told = world.refused(&["mcp", "--toolset", "merging"]);
    assert_eq!(told.exit, 2);
    for word in ["--toolset", "`merging`", "`insight`", "`inbox`"] {
        assert!(told.error.contains(word), "{told:?}");
    }
    let mut speaker = Speaker::greeted(&world);
    let call = json!({ "name": "jules_status", "arguments": {} });
    let refused = speaker.ask("tools/call", call);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let said = refused["error"]["message"].as_str().unwrap();
    said.tells(&["--toolset insight"]);
    said.lacks(&["gaffer "]);
    speaker.ended();
}

#[test]
fn the_text_for_agents_is_short_and_names_tools_that_there_are() {
    let told = World::new().run(&["mcp", "skill"]).ok().stdout;
    assert!(told.len() <= 2048, "{} bytes", told.len());
    let tools = client::mcp::Server::usual_tools();
    let words = told.split(|it: char| !(it.is_ascii_lowercase() || it == '_'));
    let (of_jobs, of_deliveries): (Vec<_>, Vec<_>) = words
        .filter(|word| word.contains('_') && *word != "delivery_id")
        .partition(|word| word.starts_with("jules_"));
    assert!(of_jobs.len() >= 10, "{of_jobs:?}");
    for name in of_jobs {
        assert!(tools.contains(&name), "{name}");
    }
    let every = client::mcp::Server::every_tool();
    for name in ["delivery_get", "delivery_plan", "delivery_verdict"] {
        assert!(of_deliveries.contains(&name), "{name}");
    }
    let of_deliveries = of_deliveries
        .into_iter()
        .filter(|it| it.starts_with("delivery_"));
    for name in of_deliveries {
        assert!(every.contains(&name), "{name}");
    }
    // One sentence a line.
    let text = told.lines().skip_while(|line| !line.starts_with('#'));
    for line in text.filter(|line| !line.starts_with('#')) {
        let within = line.trim_start_matches(|it: char| it.is_ascii_digit() || "-. ".contains(it));
        assert!(
            !within.trim_end_matches(['.', ',']).contains(". "),
            "{line}"
        );
    }
}
