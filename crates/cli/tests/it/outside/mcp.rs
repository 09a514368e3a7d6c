//! The tools through other people's clients of MCP: the official one for Python, and the official inspector's command line.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::{place, printed, python};
use crate::processes::{Process, hurry};
use crate::world::World;

/// What a session does here: plan, ask and open a pull request, or fail, and at the second attempt nothing until it is cancelled.
const SCENARIO: &str = include_str!("mcp.json");

/// Calls every tool.
const SCRIPT: &str = include_str!("mcp.py");

/// `gaffer up` over a sandbox, as a client of the tools finds it.
struct Stage {
    world: World,
    up: Process,
    /// It ends with the stage.
    _sandbox: Process,
}

impl Stage {
    fn new() -> Self {
        let world = World::new();
        let scenario = world.file("scenario.json", SCENARIO);
        let serve = ["sandbox", "--listen", "127.0.0.1:0", "--json"];
        let serve = [&serve[..], &["--scenario", &scenario]].concat();
        let sandbox = Process::start(world.command(&serve));
        let world = world
            .set("GITHUB_TOKEN", sandbox.text("github_token"))
            .set("JULES_API_BASE", sandbox.text("jules_base"))
            .set("GITHUB_API_BASE", sandbox.text("github_base"));
        let key = sandbox.text("jules_api_key");
        world.feed(&["account", "add", "default"], &key).ok();
        world.run(&["agent", "add", "me"]).ok();
        let source = ["source", "add", "acme/shop", "--agent", "me"];
        let policy = ["--plan-approval", "agent", "--settle", "1s"];
        world.run(&[&source[..], &policy].concat()).ok();
        hurry(&world);
        let up = ["up", "--listen", "127.0.0.1:0", "--no-webhooks", "--json"];
        let up = Process::start(world.command(&up));
        let world = world.set("GAFFER_URL", up.text("url"));
        Self {
            world,
            up,
            _sandbox: sandbox,
        }
    }

    fn token(&self) -> String {
        self.world.secret("token").0
    }

    /// A program that finds Gaffer in its environment, as a person's shell would have it.
    fn on(&self, mut program: Command) -> Command {
        program
            .env("GAFFER_DATA", self.world.data())
            .env("GAFFER_URL", self.up.text("url"))
            .stdin(Stdio::null());
        program
    }
}

/// The whole story through the client for Python: what it was shown, and what it called.
fn run_mode(over: &str, mode: &str) {
    let stage = Stage::new();
    let mut client = stage.on(python("GAFFER_PEER_MCP", SCRIPT));
    client.args([
        env!("CARGO_BIN_EXE_gaffer"),
        &stage.up.text("url"),
        &stage.token(),
        over,
        mode,
    ]);
    let told: Value = serde_json::from_str(&printed(client, "")).unwrap();
    let names = |list: &str| {
        let names = told[list].as_array().unwrap().iter();
        let mut names: Vec<_> = names.map(|it| it.as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let mut usual = client::mcp::Server::usual_tools();
    usual.sort_unstable();
    assert_eq!(names("listed"), usual);
    assert_eq!(names("called"), usual);
}

#[test]
fn the_client_for_python_calls_every_tool_over_its_pipes() {
    run_mode("stdio", "auto");
}

#[test]
fn the_client_for_python_calls_every_tool_over_http() {
    run_mode("http", "auto");
}

#[test]
fn the_client_for_python_calls_every_tool_over_http_as_it_did_before_2026() {
    run_mode("http", "legacy");
}

/// What the inspector prints about one method.
fn inspected(stage: &Stage, server: &[&str], method: &[&str]) -> Value {
    // It looks for its own version beside the folder that it runs in.
    let folder = place("GAFFER_PEER_INSPECTOR");
    let folder = folder.join("node_modules/@modelcontextprotocol/inspector-cli/build");
    let mut node = stage.on(Command::new("node"));
    node.current_dir(folder).args(["cli.js", "--cli"]);
    node.args(server).args(method);
    serde_json::from_str(&printed(node, "")).unwrap()
}

#[test]
fn the_inspector_lists_and_calls_tools_over_both() {
    let stage = Stage::new();
    let url = format!("{}/mcp", stage.up.text("url"));
    let header = format!("Authorization: Bearer {}", stage.token());
    let pipes = [env!("CARGO_BIN_EXE_gaffer"), "mcp"];
    let http = [&*url, "--transport", "http", "--header", &header];
    std::thread::scope(|scope| {
        for server in [&pipes[..], &http] {
            let stage = &stage;
            scope.spawn(move || {
                let listed = inspected(stage, server, &["--method", "tools/list"]);
                let tools = listed["tools"].as_array().unwrap().iter();
                let names: Vec<_> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
                assert_eq!(names, client::mcp::Server::usual_tools());
                let call = ["--method", "tools/call", "--tool-name"];
                let list = ["jules_list_jobs", "--tool-arg", "repo=acme/shop"];
                let answer = inspected(stage, server, &[&call[..], &list].concat());
                let none = serde_json::json!({ "jobs": [], "more": false });
                assert_eq!(answer["structuredContent"], none, "{answer}");
                let get = ["jules_get_job", "--tool-arg", "job_id=nobody"];
                let answer = inspected(stage, server, &[&call[..], &get].concat());
                assert_eq!(answer["isError"], true, "{answer}");
            });
        }
    });
}
