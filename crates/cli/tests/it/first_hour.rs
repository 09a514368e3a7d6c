//! README.md's way from nothing to a merged pull request, with exactly its commands.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use sandbox::github::DEFAULT_TOKEN;
use sandbox::{DEFAULT_KEY, Scenario};
use serde_json::{Value, json};

use crate::init::serve;
use crate::scaffold::workflows::{relay, relayed};
use crate::world::{Fields, Ran, Told, World, ran};

const README: &str = include_str!("../../../../README.md");

/// The section whose blocks are typed.
const SECTION: &str = "## From nothing to a merged pull request";

/// What the README calls the sandbox's address; the test takes a free port instead.
const SANDBOX: &str = "127.0.0.1:4190";

/// The section about deliveries.
const DELIVERIES: &str = "## From an issue to a closed delivery";

/// The section that sets a repository up.
const SCAFFOLD: &str = "## A pipeline's files in your repository";

/// The section about pipelines.
const PIPELINE: &str = "## From a scaffold to a merged requirement";

/// Longest wait for what a command shows after a while.
const WITHIN: Duration = Duration::from_secs(300);

/// The commands of one of a section's blocks, one each, without their line breaks.
fn commands(block: usize) -> Vec<String> {
    commands_of(SECTION, block)
}

fn commands_of(section: &str, block: usize) -> Vec<String> {
    let section = README.split_once(section).unwrap().1;
    let block = section.split("```console\n").nth(block + 1).unwrap();
    let block = block.split_once("\n```").unwrap().0;
    let joined = block.replace("\\\n", " ");
    joined.lines().map(str::to_owned).collect()
}

/// A command that goes on running, and is ended with the test.
struct Running {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Running {
    /// The next line that it prints with these words in it.
    fn says(&mut self, words: &str) -> String {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            let bytes = self.said.read_line(&mut line).unwrap();
            assert!(bytes > 0, "it ended, and never said `{words}`");
        }
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One typist: a shell that finds the built `gaffer` first.
struct Typist {
    world: World,
    replaced: Vec<(String, String)>,
    environment: Vec<(&'static str, String)>,
    folder: PathBuf,
}

impl Typist {
    /// One with a data folder of its own, and a free port in place of the README's.
    fn new() -> Self {
        let free = (
            format!("--listen {SANDBOX}"),
            "--listen 127.0.0.1:0".to_owned(),
        );
        let world = World::new();
        Self {
            folder: world.data().parent().unwrap().to_owned(),
            world,
            replaced: vec![free],
            environment: Vec::new(),
        }
    }

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
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", path)
            .env("GAFFER_DATA", self.world.data())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        shell
    }

    /// Types a command that ends.
    fn types(&self, line: &str) -> Ran {
        ran(self.shell(line), "")
    }

    /// Starts a command that goes on running, and returns the first address that it prints.
    fn starts(&self, line: &str) -> (Running, String) {
        let mut shell = self.shell(line);
        // Its log is not read, and a full pipe would stop it.
        let mut child = shell.stderr(Stdio::null()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut running = Running { child, said };
        let first = running.says("http://");
        let address = first.split_once("http://").unwrap().1;
        let end = address.find(|c: char| !c.is_ascii_digit() && !".:".contains(c));
        (running, address[..end.unwrap()].to_owned())
    }
}

impl Typist {
    /// Types `gaffer up`, on a free port that every later command knows.
    fn goes_up(&mut self, line: &str) -> (Running, String) {
        let mut replace = |from: &str, to: String| self.replaced.push((from.to_owned(), to));
        replace("gaffer up", "gaffer up --listen 127.0.0.1:0".to_owned());
        let (up, api) = self.starts(line);
        for group in [
            "job",
            "delivery",
            "pipeline",
            "requirement",
            "labels sync",
            "workflow run",
            "run",
        ] {
            let typed = format!("gaffer {group}");
            let told = format!("{typed} --url http://{api}");
            self.replaced.push((typed, told));
        }
        (up, api)
    }

    /// Types the order of a job, whose id every later command knows.
    fn creates(&mut self, line: &str) -> Ran {
        let created = self.types(line);
        // One that waits says at once, beside its answer, which job it is about.
        assert_eq!(created.code, 0, "{created:?}");
        let mut words = created.stdout.split_whitespace();
        let id = words.find(|word| word.len() == 26).unwrap();
        self.replaced.push((" ID".to_owned(), format!(" {id}")));
        created
    }
}

/// The line with `exec` before its program, behind any variables.
fn exec(line: &str) -> String {
    line.replacen("gaffer ", "exec gaffer ", 1)
}

fn get(address: &str, path: &str) -> Value {
    let runtime = crate::world::runtime();
    runtime.block_on(async {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = format!("http://{address}{path}");
        reqwest::get(url).await.unwrap().json().await.unwrap()
    })
}

#[test]
fn the_readme_leads_to_a_merged_pull_request_in_six_commands() {
    let commands = commands(0);
    let [sandbox, init, up, create, wait, show] = &commands[..] else {
        panic!("{} commands: {commands:?}", commands.len())
    };
    let mut typist = Typist::new();
    let (_sandbox, small) = typist.starts(sandbox);
    typist.replaced.push((SANDBOX.to_owned(), small.clone()));
    let init_ran = typist.types(init).ok();
    assert!(init_ran.says("source acme/shop is added"), "{init_ran:?}");
    let (_up, _) = typist.goes_up(up);
    typist.creates(create);
    let waited = typist.types(wait);
    assert_eq!(waited.code, 0, "{waited:?}");
    let shown = typist.types(show).ok();
    shown.tells(&["merged", "acme/shop#1"]);
    // GitHub's own state says so too, and that nothing was done twice.
    let state = get(&small, "/_sandbox/state");
    assert_eq!(state["pulls"][0]["pull"]["state"], "merged", "{state}");
    let counters = get(&small, "/_sandbox/counters");
    counters.holds(&json!({ "creates": 1, "merges": 1, "webhooks_sent": 0 }));
}

#[test]
fn the_readme_leads_from_an_issue_to_a_closed_delivery_in_seven_commands() {
    let commands = commands_of(DELIVERIES, 0);
    let [sandbox, init, source, up, wait, approve, closed] = &commands[..] else {
        panic!("{} commands: {commands:?}", commands.len())
    };
    let mut typist = Typist::new();
    let (_sandbox, small) = typist.starts(sandbox);
    typist.replaced.push((SANDBOX.to_owned(), small.clone()));
    typist.types(init).ok();
    typist.types(source).ok();
    let (_up, _) = typist.goes_up(up);
    let waited = typist.types(wait);
    assert_eq!(waited.code, 0, "{waited:?}");
    assert!(waited.stdout.contains("implement, succeeded"), "{waited:?}");
    typist.types(approve).ok();
    let ended = typist.types(closed);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("close, succeeded"), "{ended:?}");
    let counters = get(&small, "/_sandbox/counters");
    counters.holds(&json!({ "creates": 1, "merges": 1 }));
}

/// A repository of a person's with some code, in which the README's section on its files was typed.
fn scaffolded() -> Typist {
    let mut typist = Typist::new();
    let name = |key: &'static str| (key, "Ann".to_owned());
    typist.environment.extend([
        name("GIT_AUTHOR_NAME"),
        name("GIT_COMMITTER_NAME"),
        ("EMAIL", "ann@example.com".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
    ]);
    let origin = "git remote add origin https://github.com/acme/shop.git";
    let begun = [
        "git init --quiet --initial-branch=main shop",
        "mkdir shop/src",
    ];
    for line in begun {
        typist.types(line).ok();
    }
    typist.folder.push("shop");
    let written = [
        origin,
        "echo 'fn cart() {}' >src/cart.rs",
        "git add src",
        "git commit --quiet -m 'Open the shop'",
    ];
    let typed = written.into_iter().map(str::to_owned);
    for line in typed.chain(commands_of(SCAFFOLD, 0)) {
        let ran = typist.types(&line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
    }
    typist
}

/// Once the repository has the commits of the sandbox's, the prompt of each agent is put together again as its session got it.
fn prompts_are_put_together_again(typist: &Typist, small: &str, git: &str) {
    let fetch = format!("git fetch --quiet {git} main jules");
    typist.types(&fetch).ok();
    let state = get(small, "/_sandbox/state");
    let sessions = state["sessions"].as_array().unwrap();
    let listed = typist.types("gaffer job list --all --json").ok().json();
    let jobs = listed["jobs"].as_array().unwrap();
    let mut layers = BTreeSet::new();
    for job in jobs.iter().filter(|job| job["prompt_source"].is_object()) {
        let source = &job["prompt_source"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (id, layer) = (text(&job["job_id"]), text(&source["layer"]));
        let shown = typist.types(&format!("gaffer run {layer} --prompt-preview --job {id}"));
        assert_eq!(shown.code, 0, "{layer}: {shown:?}");
        let session = sessions.iter().find(|it| it["id"] == job["session_id"]);
        let got = text(&session.unwrap()["prompt"]);
        assert_eq!(shown.stdout, got, "{layer}");
        let told = typist.types(&format!("gaffer job show {id}")).ok();
        for commit in ["target", "worker"] {
            assert!(told.says(&text(&source[commit])), "{told:?}");
        }
        for (what, count) in [("in it", "included"), ("that were not there", "skipped")] {
            assert!(told.says(&format!("{what}: {}", source[count])), "{told:?}");
        }
        layers.insert(layer);
    }
    let all = ["decider", "implementer", "narrator", "observers", "planner"];
    assert!(layers.iter().eq(all), "{layers:?}");
    let agent = jobs.iter().find(|job| job["prompt_source"].is_object());
    let id = agent.unwrap()["job_id"].as_str().unwrap();
    let other = typist.types(&format!(
        "gaffer run innovators --prompt-preview --job {id}"
    ));
    assert_eq!((other.code, other.stdout.as_str()), (2, ""), "{other:?}");
    assert!(other.says("the job is one of the layer"), "{other:?}");
}

/// What the step of the relay begins, this Gaffer runs to its end.
fn the_relay_begins_a_run(typist: &Typist, api: &str) {
    let (token, _mode) = typist.world.secret("token");
    let url = format!("http://{api}");
    let begun = relayed(&relay(), &url, &token, "requirements");
    assert_eq!((begun.code, begun.stderr.as_str()), (0, ""), "{begun:?}");
    let listed = typist.types("gaffer pipeline list acme/shop --limit 1 --json");
    let id = listed.ok().json()["pipelines"][0]["id"].clone();
    let id = id.as_str().unwrap();
    assert!(begun.stdout.contains(id), "{begun:?}");
    let end = Instant::now() + WITHIN;
    loop {
        let shown = typist.types(&format!("gaffer pipeline show {id} --json"));
        let run = shown.ok().json()["pipeline"].clone();
        if run["is_over"] == true {
            assert_eq!(run["state"], "done", "{run}");
            return;
        }
        assert!(Instant::now() < end, "{run}");
    }
}

/// What the README leaves to docs/pipeline.md, on the same repository: its labels, a layer with a report, and one in a trial run.
fn afterwards(typist: &mut Typist) {
    let labels = typist.types("gaffer labels sync --repo acme/shop --wait --within 5m");
    assert_eq!(labels.code, 0, "{labels:?}");
    assert!(labels.stdout.contains("- labels: done"), "{labels:?}");
    let report = |more: &str| -> Value {
        let line = format!("gaffer workflow run {more} --repo acme/shop --within 5m");
        let ran = typist.types(&line).ok();
        serde_json::from_str(&ran.stdout).unwrap()
    };
    // It has something to report. A layer that has nothing waits two minutes for a late pull request before it is over.
    let real = report("observers --role cov");
    real.holds(&json!({
        "number_of_api_requests_succeeded": 1, "layer": "observers", "schema_version": 1,
        "skip_reason": null, "mock_tag": null,
    }));
    let trial = report("observers --role qa --mock mock-1");
    trial.holds(&json!({
        "number_of_api_requests_succeeded": 0,
        "skip_reason": "in the trial run mock-1 no session runs", "mock_tag": "mock-1",
    }));
    assert_eq!(
        trial["mock_pr_numbers"].as_array().unwrap().len(),
        1,
        "{trial}"
    );
    let branch = trial["mock_branches"][0].as_str().unwrap();
    assert!(branch.starts_with("jules-gaffer-"), "{trial}");
}

#[test]
fn the_readme_leads_from_a_scaffold_to_a_merged_requirement_in_seven_commands() {
    let commands = commands_of(PIPELINE, 0);
    let [sandbox, init, source, on, up, start, list] = &commands[..] else {
        panic!("{} commands: {commands:?}", commands.len())
    };
    let mut typist = scaffolded();
    let (mut running, small) = typist.starts(sandbox);
    let git = running.says("The git of ");
    let git = git.split_once(" is ").unwrap().1;
    let git = git.split_once(": clone it").unwrap().0;
    typist.replaced.push((SANDBOX.to_owned(), small.clone()));
    typist.types(init).ok();
    typist.types(source).ok();
    typist.types(on).ok();
    let (_up, api) = typist.goes_up(up);
    let run = typist.types(start);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("- requirements: done"), "{run:?}");
    let end = Instant::now() + WITHIN;
    loop {
        let listed = typist.types(list).ok();
        if listed.stdout.contains("tidied") {
            break;
        }
        assert!(Instant::now() < end, "{listed:?}");
    }
    let counters = get(&small, "/_sandbox/counters");
    // Ten agents, the bootstrap and the removal of files.
    counters.holds(&json!({ "creates": 10, "merges": 12 }));
    prompts_are_put_together_again(&typist, &small, git);
    the_relay_begins_a_run(&typist, &api);
    afterwards(&mut typist);
}

/// With accounts of one's own: a person approves the plan and the merge. The accounts are a sandbox's, and its waits are short.
#[test]
fn the_readme_leads_to_a_merge_that_a_person_approves() {
    let commands = commands(1);
    let [init, up, create, approve, reviewed, merge] = &commands[..] else {
        panic!("{} commands: {commands:?}", commands.len())
    };
    let at = serve(Scenario::default());
    let of = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let mut typist = Typist::new();
    typist.replaced.extend([
        of("OWNER/REPO", "acme/shop"),
        of("gaffer init", "gaffer init --settle 1s --pull-poll 2s"),
    ]);
    typist.environment.extend([
        ("JULES_API_KEY", DEFAULT_KEY.to_owned()),
        ("GITHUB_TOKEN", DEFAULT_TOKEN.to_owned()),
        ("JULES_API_BASE", format!("http://{at}/jules/v1alpha")),
        ("GITHUB_API_BASE", format!("http://{at}/github")),
    ]);
    typist.types(init).ok();
    let (_up, _) = typist.goes_up(up);
    let plan = typist.creates(create);
    assert!(plan.says("plan-waits"), "{plan:?}");
    typist.types(approve).ok();
    let review = typist.types(reviewed);
    assert_eq!(review.code, 0, "{review:?}");
    assert!(review.says("acme/shop#1"), "{review:?}");
    typist.types(merge).ok();
    let end = "gaffer job wait ID --until merged --within 5m";
    let merged = typist.types(end);
    assert_eq!(merged.code, 0, "{merged:?}");
    assert!(merged.says("merged"), "{merged:?}");
}
