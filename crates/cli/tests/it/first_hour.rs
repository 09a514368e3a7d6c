//! README.md's way from nothing to a merged pull request, typed as it stands there.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::world::{Ran, World, ran};

const README: &str = include_str!("../../../../README.md");

/// The section whose first block is typed.
const SECTION: &str = "## From nothing to a merged pull request";

/// What the README calls the sandbox's address; the test takes a free port instead.
const SANDBOX: &str = "127.0.0.1:4190";

/// The commands of a section's first block, one each, without their line breaks.
fn commands() -> Vec<String> {
    let section = README.split_once(SECTION).unwrap().1;
    let block = section.split_once("```console\n").unwrap().1;
    let block = block.split_once("\n```").unwrap().0;
    let joined = block.replace("\\\n", " ");
    joined.lines().map(str::to_owned).collect()
}

/// A command that goes on running, and is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One typist: a shell that finds the built `gaffer` first.
struct Typist {
    world: World,
    replaced: Vec<(String, String)>,
}

impl Typist {
    fn shell(&self, line: &str) -> Command {
        let line = self
            .replaced
            .iter()
            .fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
        let built = std::path::Path::new(env!("CARGO_BIN_EXE_gaffer"));
        let path = format!("{}:/usr/bin:/bin", built.parent().unwrap().display());
        let mut shell = Command::new("/bin/sh");
        // The last command of a line takes the shell's place, so that ending it ends the command.
        shell
            .args(["-c", &format!("set -e\n{}", exec(&line))])
            .env_clear()
            .env("PATH", path)
            .env("GAFFER_DATA", self.world.data())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        shell
    }

    /// Types a command that ends.
    fn types(&self, line: &str) -> Ran {
        ran(self.shell(line), "")
    }

    /// Types a command that goes on running, and answers the first address it tells.
    fn starts(&self, line: &str) -> (Running, String) {
        let mut shell = self.shell(line);
        // Its log is not looked at, and a full pipe would stop it.
        let mut child = shell.stderr(Stdio::null()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let running = Running(child);
        let address = first.split_once("http://").unwrap().1;
        let end = address.find(|c: char| !c.is_ascii_digit() && !".:".contains(c));
        (running, address[..end.unwrap()].to_owned())
    }
}

/// The line with `exec` before its program, behind any variables.
fn exec(line: &str) -> String {
    line.replacen("gaffer ", "exec gaffer ", 1)
}

fn get(address: &str, path: &str) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = format!("http://{address}{path}");
        reqwest::get(url).await.unwrap().json().await.unwrap()
    })
}

#[test]
fn the_readme_leads_to_a_merged_pull_request_in_six_commands() {
    let commands = commands();
    let [sandbox, init, up, create, wait, show] = &commands[..] else {
        panic!("{} commands: {commands:?}", commands.len())
    };
    let mut typist = Typist {
        world: World::new(),
        replaced: vec![(
            format!("--listen {SANDBOX}"),
            "--listen 127.0.0.1:0".to_owned(),
        )],
    };
    let (_sandbox, small) = typist.starts(sandbox);
    typist.replaced.push((SANDBOX.to_owned(), small.clone()));
    let init_ran = typist.types(init).ok();
    assert!(init_ran.says("source acme/shop is added"), "{init_ran:?}");
    typist.replaced.push((
        "gaffer up".to_owned(),
        "gaffer up --listen 127.0.0.1:0".to_owned(),
    ));
    let (_up, door) = typist.starts(up);
    let job = format!("gaffer job --url http://{door}");
    typist.replaced.push(("gaffer job".to_owned(), job));
    let created = typist.types(create).ok();
    let id = created
        .stdout
        .split_whitespace()
        .find(|word| word.len() == 26)
        .unwrap();
    typist.replaced.push((" ID".to_owned(), format!(" {id}")));
    typist.types(wait).ok();
    let shown = typist.types(show).ok();
    assert!(
        shown.says("merged") && shown.says("acme/shop#1"),
        "{shown:?}"
    );
    // GitHub's own state says so too, and that nothing was done twice.
    let state = get(&small, "/_sandbox/state");
    assert_eq!(state["pulls"][0]["pull"]["state"], "merged", "{state}");
    let counters = get(&small, "/_sandbox/counters");
    assert_eq!(
        (
            &counters["creates"],
            &counters["merges"],
            &counters["webhooks_sent"]
        ),
        (&1.into(), &1.into(), &0.into()),
        "{counters}"
    );
}
