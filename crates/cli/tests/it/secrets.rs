//! A secret of its own in every credential of the real processes: none in an argument, an answer, a line of the log or a file but its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::world::{Ran, World, ran, words};

/// What no other test and no program uses.
const JULES: &str = "AQ.Canary0jules1Zk93mQx7Lt2vB8sHc4Yd";
const GITHUB: &str = "ghp_Canary0github1Zk93mQx7Lt2vB8sHc4Yd";
const WEBHOOK: &str = "canary0webhook1Zk93mQx7Lt2vB8sHc4Yd";
const API: &str = "gaf_Canary0api1Zk93mQx7Lt2vB8sHc4Yd";
const ALL: [&str; 4] = [JULES, GITHUB, WEBHOOK, API];

/// A process that goes on, and is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder whose environment holds every credential, and logs everything.
fn world() -> World {
    World::new()
        .set("RUST_LOG", "trace")
        .set("JULES_API_KEY", JULES)
        .set("GITHUB_TOKEN", GITHUB)
        .set("GAFFER_WEBHOOK_SECRET", WEBHOOK)
        .set("GAFFER_TOKEN", API)
}

/// Starts a command that goes on with its log in a file; answers its first line.
fn start(world: &World, arguments: &[&str], log: &str) -> (Running, String) {
    let log = fs::File::create(world.file(log, "")).unwrap();
    let mut child = world.command(arguments).stderr(log).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    (Running(child), first)
}

/// The address in a line.
fn address(line: &str) -> String {
    let rest = line.split_once("http://").unwrap().1;
    let end = rest.find(|c: char| !c.is_ascii_digit() && !".:".contains(c));
    rest[..end.unwrap()].to_owned()
}

/// The arguments of a running process, where the system shows them to all users.
fn arguments_of(running: &Running) -> String {
    let shown = std::process::Command::new("ps")
        .args(["-o", "args=", "-p", &running.0.id().to_string()])
        .stdout(Stdio::piped())
        .output();
    shown.map_or_else(
        |_| String::new(),
        |it| String::from_utf8_lossy(&it.stdout).into_owned(),
    )
}

fn clean(what: &str, text: &str) {
    for secret in ALL {
        assert!(!text.contains(secret), "{secret} in {what}: {text}");
    }
}

/// The real processes: a sandbox that takes just these credentials, and Gaffer before it.
struct House {
    world: World,
    _sandbox: Running,
    up: Running,
    url: String,
    first: String,
}

impl House {
    fn open() -> Self {
        let world = world();
        let scenario = format!(
            r#"{{"accounts":[{{"name":"default","key":"{JULES}"}}],"tokens":[{{"token":"{GITHUB}"}}]}}"#
        );
        let scenario = world.file("scenario.json", &scenario);
        let serve = format!("sandbox --listen 127.0.0.1:0 --scenario {scenario}");
        let (sandbox, told) = start(&world, &words(&serve), "sandbox.log");
        let at = address(&told);
        let line = format!(
            "init --repo acme/shop --merge on-green --plan-approval auto --settle 1s --pull-poll 2s --jules-base http://{at}/jules/v1alpha --github-base http://{at}/github"
        );
        shows_nothing(&world.run(&words(&line)));
        let (up, first) = start(&world, &words("up --listen 127.0.0.1:0"), "up.log");
        let url = format!("http://{}", address(&first));
        Self {
            world,
            _sandbox: sandbox,
            up,
            url,
            first,
        }
    }

    fn job(&self, arguments: &[&str]) -> Ran {
        let url = ["job", "--url", &self.url];
        self.world.run(&[&url, arguments].concat())
    }

    fn create(&self, prompt: &str) -> Ran {
        self.job(&["create", "--repo", "acme/shop", "--prompt", prompt])
    }
}

/// The command worked, and what it printed holds no secret.
fn shows_nothing(ran: &Ran) {
    assert_eq!(ran.code, 0, "{ran:?}");
    clean("what was printed", &format!("{ran:?}"));
}

#[test]
fn a_whole_story_of_the_real_processes_shows_no_secret() {
    let house = House::open();
    let created = house.create("Add a search box");
    shows_nothing(&created);
    let id = words(&created.stdout)
        .into_iter()
        .find(|word| word.len() == 26)
        .unwrap();
    for line in [
        format!("wait {id} --until merged"),
        format!("show {id}"),
        format!("why {id}"),
        format!("events {id}"),
        "list".to_owned(),
    ] {
        shows_nothing(&house.job(&words(&line)));
    }
    shows_nothing(&house.world.run(&["status", "--json"]));
    // What is put into the wrong place is refused, and not repeated.
    for secret in [JULES, GITHUB, API] {
        for refused in [
            house.job(&["show", secret]),
            house.create(&format!("sign in with {secret}")),
        ] {
            assert_ne!(refused.code, 0, "{refused:?}");
            clean("a refusal", &format!("{refused:?}"));
        }
    }
    clean("the first line", &house.first);
    clean("the arguments", &arguments_of(&house.up));
    let log = house.world.data().parent().unwrap().join("up.log");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains(": created"), "{log}");
    clean("the log", &log);
    for secret in ALL {
        assert!(!house.world.stored(secret), "{secret} is stored");
    }
    // The search through the files finds what is there.
    assert!(house.world.stored("Add a search box"));
}

/// The commands that read or copy everything, and those that take a credential.
#[test]
fn what_looks_at_and_copies_everything_shows_no_secret() {
    let house = House::open();
    shows_nothing(&house.create("Add a search box"));
    let file = |name: &str| house.world.file(name, "");
    let (plain, whole) = (file("plain.db"), file("whole.db"));
    for backup in [&plain, &whole] {
        fs::remove_file(backup).unwrap();
    }
    for line in ["doctor", "doctor --json"] {
        let told = house.world.run(&words(line));
        assert!(told.says("acme/shop"), "{told:?}");
        clean("the doctor", &format!("{told:?}"));
    }
    let exports = ["export --all", "export"].map(|line| house.world.run(&words(line)));
    assert!(exports[0].says("Add a search box"));
    exports.iter().for_each(shows_nothing);
    shows_nothing(&house.world.run(&["backup", &plain]));
    let copied = fs::read(&plain).unwrap();
    clean("a backup", &String::from_utf8_lossy(&copied));
    shows_nothing(&house.world.run(&["backup", &whole, "--with-secrets"]));
    // The search through a backup finds what is there: secrets that were asked for.
    let copied = fs::read(&whole).unwrap();
    assert!(String::from_utf8_lossy(&copied).contains(JULES));
    let replace = ["account", "add", "default", "--replace-key"];
    // The environment's key goes before a stored one, so it is refused.
    let refused = house.world.feed(&replace, JULES);
    clean("a refusal", &format!("{refused:?}"));
    shows_nothing(&house.world.feed(&["github", "token"], GITHUB));
    for secret in [JULES, GITHUB, API] {
        for misused in [
            ["init", "--yes", "--repo", secret],
            ["backup", "--data", secret, "x.db"],
            ["github", "setup", "--code", secret],
        ] {
            let refused = house.world.run(&misused);
            assert_ne!(refused.code, 0, "{refused:?}");
            clean("a refusal", &format!("{refused:?}"));
        }
    }
    for secret in ALL {
        assert!(!house.world.stored(secret), "{secret} is stored");
    }
}

#[test]
fn help_and_completions_show_nothing_of_the_environment() {
    let world = world();
    for arguments in [
        &["--help"][..],
        &["up", "--help"],
        &["job", "--help"],
        &["account", "add", "--help"],
        &["completions", "bash"],
    ] {
        let shown = ran(world.command(arguments), "");
        assert_eq!(shown.code, 0, "{shown:?}");
        clean("the help", &format!("{shown:?}"));
    }
}
