//! How `gaffer up` starts and what it prints: an empty folder, a port that is taken, what happens to jobs, and who
//! waits through a restart.

use super::*;

/// What sessions do that work until a message comes. Each takes one from its beginning on.
const WAITS_FOR_WORDS: &str = r#"{
  "default_story": {
    "queued_for": "0s",
    "steps": [{ "stall": {} }, { "open_pull": { "after": "500ms" } }, { "complete": { "after": "500ms" } }]
  }
}"#;

/// A stage whose pull requests are read often, since no webhook announces their checks.
fn quick() -> Stage {
    quick_playing(&[])
}

/// The same with more to say about the sandbox.
fn quick_playing(how: &[&str]) -> Stage {
    let stage = Stage::playing(how);
    let set = ["source", "set", "acme/shop", "--pull-poll", "5s"];
    stage.world.run(&set).ok();
    stage
}

#[test]
fn an_empty_folder_is_said_to_be_one() {
    let world = World::new();
    let mut up = world.command(&["up", "--listen", "127.0.0.1:0"]);
    let mut up = up.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines();
    let hint = lines.nth(2).unwrap().unwrap();
    assert!(hint.contains("gaffer init"), "{hint}");
    up.kill().unwrap();
    up.wait().unwrap();
}

#[test]
fn a_taken_port_names_the_option_and_leaves_no_database() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let world = World::new();
    let told = world.refused(&["up", "--listen", &address]);
    told.is(1, "address_in_use");
    told.tells("", "--listen");
    assert!(!world.data().join("gaffer.db").exists());
}

#[test]
fn who_waits_for_a_job_waits_through_a_restart_and_is_told_of_its_states() {
    let place = World::new();
    let stage = quick_playing(&["--scenario", &place.file("scenario.json", WAITS_FOR_WORDS)]);
    let port = HeldPort::take();
    let up = stage.up_at(&port);
    let url = up.text("url");
    let job = stage.create(&url);
    let wait = ["job", "wait", &job, "--until", "merged", "--url", &url];
    let mut waiting = stage.world.command(&wait).spawn().unwrap();
    let mut told = BufReader::new(waiting.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    // A session that exists is not created again.
    assert!(told.any(|line| line.starts_with("working")));
    up.kill();
    assert!(told.any(|line| line.contains("does not answer")));
    let up = stage.up_at(&port);
    assert!(told.any(|line| line.starts_with("working")));
    let shown = stage.world.json(&["job", "show", &job, "--url", &url]);
    stage.says_upstream(shown["job"]["session_id"].as_str().unwrap(), "Go on.");
    let states: Vec<String> = told.collect();
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{states:?}");
    assert_eq!(up.stop(), Some(0));
}

#[test]
fn who_waits_for_an_issue_waits_through_a_restart_until_it_is_read_and_not_taken() {
    let stage = quick();
    let set = ["source", "set", "acme/shop", "--label", "gaffer"];
    stage.world.run(&set).ok();
    stage.world.run(&["source", "pause", "acme/shop"]).ok();
    let port = HeldPort::take();
    let up = stage.up_at(&port);
    let url = up.text("url");
    let wait = ["delivery", "wait", "acme/shop#99", "--url", &url];
    let wait = [&wait[..], &["--within", "4m"]].concat();
    let mut waiting = stage.world.command(&wait).spawn().unwrap();
    let mut told = BufReader::new(waiting.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let paused = |line: String| line.contains("gaffer source resume acme/shop");
    assert!(told.any(paused));
    up.kill();
    assert!(told.any(|line| line.contains("does not answer")));
    let up = stage.up_at(&port);
    assert!(told.any(|line| line.starts_with("no delivery yet")));
    stage.world.run(&["source", "resume", "acme/shop"]).ok();
    let rest: Vec<String> = told.collect();
    let said = rest
        .iter()
        .any(|line| line.contains("is open with the label `gaffer`"));
    assert!(said, "{rest:?}");
    assert_eq!(waiting.wait().unwrap().code(), Some(1), "{rest:?}");
    assert_eq!(up.stop(), Some(0));
}

#[test]
fn what_only_observes_says_so_and_what_it_held_goes_on_at_once() {
    let stage = quick();
    let up = ["up", "--listen", "127.0.0.1:0", "--no-webhooks", "--json"];
    let observing = [&up[..], &["--observe-only"]].concat();
    let process = Process::start(stage.world.command(&observing));
    let url = process.text("url");
    let job = stage.create(&url);
    let status = stage.world.json(&["status"]);
    assert_eq!(status["observe_only"], true, "{status}");
    let said = stage.world.run(&["status"]).ok().stdout;
    assert!(said.contains("observes only"), "{said}");
    let shown = stage.world.json(&["job", "show", &job, "--url", &url]);
    assert_eq!(shown["job"]["waits_for"]["for"], "observe_only", "{shown}");
    // Without an address the one that it noted down in its folder is asked.
    let found = stage.world.json(&["job", "show", &job]);
    assert_eq!(found["job"]["job_id"], shown["job"]["job_id"]);
    let doctor = stage.world.run(&["doctor"]);
    assert!(doctor.stdout.contains("observe_only"), "{doctor:?}");
    let used = stage.world.refused(&["source", "remove", "acme/shop"]);
    assert!(used.next.contains("only observes"), "{used:?}");
    assert_eq!(process.stop(), Some(0));

    let began = Instant::now();
    let process = Process::start(stage.world.command(&up));
    let url = process.text("url");
    let wait = ["job", "wait", &job, "--until", "merged", "--url", &url];
    assert_eq!(stage.world.run(&wait).code, 0);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(stage.world.json(&["status"])["observe_only"], false);
    assert_eq!(process.stop(), Some(0));
}

#[test]
fn the_log_tells_what_happens_to_jobs_and_no_requests() {
    let stage = quick();
    let log = stage.world.file("log", "");
    let log_of = || std::fs::read_to_string(&log).unwrap();
    let up = ["up", "--listen", "127.0.0.1:0", "--no-webhooks", "--json"];
    let mut command = stage.world.command(&up);
    command.stderr(std::fs::File::create(&log).unwrap());
    let up = Process::start_as_is(command);
    let url = up.text("url");
    let job = stage.create(&url);
    let wait = ["job", "wait", &job, "--until", "merged", "--url", &url];
    assert_eq!(stage.world.run(&wait).code, 0);
    assert_eq!(up.stop(), Some(0));
    let log = log_of();
    for what in [
        "created",
        "session ",
        "completed, for its ",
        "pull request ",
        "merged at ",
    ] {
        let lines = log
            .lines()
            .filter(|line| line.contains(what) && line.contains(&job));
        assert_eq!(lines.count(), 1, "{what}: {log}");
    }
    assert!(!log.contains("http.status"), "{log}");
}

#[test]
fn a_sandbox_names_all_its_repositories_with_their_git() {
    let world = World::new();
    let repo = |name: &str| json!({ "full_name": name, "files": { "README.md": name } });
    let scenario = json!({ "repos": [repo("acme/shop"), repo("acme/docs")] });
    let scenario = world.file("scenario.json", &scenario.to_string());
    let sandbox = ["sandbox", "--listen", "127.0.0.1:0", "--json"];
    let sandbox = [&sandbox[..], &["--scenario", &scenario]].concat();
    let sandbox = Process::start(world.command(&sandbox));
    let repositories = &sandbox.told["repositories"];
    for (place, name) in ["acme/shop", "acme/docs"].into_iter().enumerate() {
        assert_eq!(repositories[place]["repository"], name);
        assert!(repositories[place]["git"].is_string(), "{repositories}");
    }
    assert_ne!(repositories[0]["git"], repositories[1]["git"]);
}
