//! `gaffer monitor` over real sockets: what its file of events holds, whenever it is killed.

use std::fs;

use super::*;
use crate::world::Fields;

/// Sessions that were started elsewhere: one that asks each second, and one that only works.
fn scenario() -> String {
    let asks = (1..=4).map(|n| {
        json!({ "session": {
            "id": format!("{n}00000"), "title": format!("Asks {n}"),
            "steps": [{ "ask": { "after": format!("{n}s"), "text": format!("Which route, {n}?") } }],
        }})
    });
    let steps: Vec<Value> = (0..60)
        .map(|n| json!({ "progress": { "after": "1s", "title": format!("Step {n}") } }))
        .collect();
    let works = json!({ "session": { "id": "900000", "title": "Works", "steps": steps } });
    let foreign: Vec<Value> = asks.chain([works]).collect();
    json!({ "foreign": foreign }).to_string()
}

/// A stage with those sessions, and the files of the monitor.
struct Files {
    stage: Stage,
    config: String,
}

impl Files {
    fn new() -> Self {
        let place = World::new();
        let scenario = place.file("scenario.json", &scenario());
        let stage = Stage::playing(&["--scenario", &scenario]);
        let path = |name: &str| stage.world.file(name, "");
        let config = json!({
            "jobs_path": path("jobs.jsonl"), "events_path": path("events.jsonl"),
            "monitor_state_path": path("monitor.json"), "watcher_state_path": path("watcher.json"),
            "monitor_poll_seconds": 1, "watcher_poll_seconds": 0.1,
        });
        let config = stage.world.file("config.json", &config.to_string());
        Self { stage, config }
    }

    fn list(&self, list: &str) {
        self.stage.world.file("jobs.jsonl", list);
    }

    fn monitor(&self, how: &str) -> Command {
        let monitor = ["monitor", how, "--config", &self.config, "--json"];
        self.stage.world.command(&monitor)
    }

    /// The events of the file; half a line fails.
    fn events(&self) -> Vec<Value> {
        let path = self.config.replace("config.json", "events.jsonl");
        let text = fs::read_to_string(path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Looks until there are so many. Reading the list starts a process each time, which keeps the pace.
    fn until(&self, count: usize) {
        let end = Instant::now() + WITHIN;
        while self.events().len() < count {
            assert!(Instant::now() < end, "{:?}", self.events());
            self.stage.world.run(&["jobs", "export"]).ok();
        }
    }
}

#[test]
fn each_question_is_appended_once_however_often_the_monitor_is_killed() {
    let files = Files::new();
    let list = "{\"job_id\": \"100000\", \"metadata\": {\"task\": \"x\"}}\nnonsense\n\"200000\"\n300000\n900000\n";
    files.list(list);
    let first = Process::start(files.monitor("--loop"));
    assert_eq!(first.told["beside"], Value::Null);
    files.until(1);
    first.kill();
    files.list(&format!("{list}400000\n"));
    let second = Process::start(files.monitor("--loop"));
    files.until(2);
    second.kill();
    let third = Process::start(files.monitor("--loop"));
    files.until(4);
    assert_eq!(third.stop(), Some(0));

    let events = files.events();
    let mut words: Vec<_> = events
        .iter()
        .map(|event| event["message"].as_str().unwrap())
        .collect();
    words.sort_unstable();
    assert_eq!(words, [1, 2, 3, 4].map(|n| format!("Which route, {n}?")));
    for event in &events {
        event.holds(&json!({
            "event": "question", "repo": "acme/shop", "status": "AWAITING_USER_FEEDBACK",
        }));
        assert!(event["job_id"].is_string(), "{event}");
        assert!(event["observed_at"].is_string(), "{event}");
    }
    let printed = files.stage.world.run(&["events", "export"]).stdout;
    let printed: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(printed.len(), events.len());
    assert!(printed.iter().all(|event| events.contains(event)));

    let once = crate::world::ran(files.monitor("--once"), "");
    assert_eq!(once.code, 0, "{once:?}");
    let told = once.json();
    assert_eq!(
        (&told["appended"], &told["jobs"]["known"]),
        (&json!(0), &json!(5))
    );
    assert_eq!(told["jobs"]["wrong"][0]["entry"], 2);
    assert_eq!(files.events().len(), 4);
}

/// What a process writes to stderr, in a file that can be read meanwhile.
struct Logged(std::path::PathBuf);

impl Logged {
    fn of(files: &Files, command: &mut Command) -> Self {
        let path = std::path::PathBuf::from(files.stage.world.file("stderr", ""));
        command.stderr(fs::File::create(&path).unwrap());
        Self(path)
    }

    fn count(&self, words: &str) -> usize {
        fs::read_to_string(&self.0).unwrap().matches(words).count()
    }

    /// Waits until the output contains the words.
    fn until(&self, files: &Files, words: &str) {
        let end = Instant::now() + WITHIN;
        while self.count(words) == 0 {
            let told = fs::read_to_string(&self.0).unwrap();
            assert!(Instant::now() < end, "{told}");
            files.stage.world.run(&["jobs", "export"]);
        }
    }
}

#[test]
fn it_works_itself_once_nobody_else_does_and_over_the_database_that_is_there() {
    let files = Files::new();
    let up = files.stage.up();
    let backup = files.config.replace("config.json", "backup.db");
    files.stage.world.run(&["backup", &backup]).ok();
    files.list("100000\n");
    let mut command = files.monitor("--loop");
    let log = Logged::of(&files, &mut command);
    let monitor = Process::start_as_is(command);
    assert!(monitor.text("beside").starts_with("process "));
    files.until(1);
    assert_eq!(up.stop(), Some(0));
    log.until(&files, "from now on this one watches Jules");
    files.list("100000\n200000\n");
    files.until(2);
    let second = files
        .stage
        .world
        .refused(&["restore", &backup, "--replace"]);
    assert_eq!(second.code, "in_use", "{second:?}");
    assert_eq!(monitor.stop(), Some(0));
}

#[test]
fn a_database_that_was_put_back_beneath_it_is_noticed() {
    let files = Files::new();
    let backup = files.config.replace("config.json", "backup.db");
    files.stage.world.run(&["backup", &backup]).ok();
    let held = local::FolderLock::take(&files.stage.world.data()).unwrap();
    let mut command = files.monitor("--loop");
    let log = Logged::of(&files, &mut command);
    let monitor = Process::start_as_is(command);
    assert!(monitor.text("beside").starts_with("process "));
    // As a restore does it: what was there is kept, and the other one takes its name.
    let staged = local::Staged::new(backup.as_ref(), &files.stage.world.data()).unwrap();
    staged
        .put_in_place(&files.stage.world.data().join("before"))
        .unwrap();
    log.until(&files, "another database took the place");
    files.list("100000\n");
    drop(held);
    // Taken from the list, watched and announced: all of it in the database at that path.
    files.until(1);
    let jobs = files.stage.world.run(&["jobs", "export"]).ok().stdout;
    assert_eq!(jobs.lines().count(), 1, "{jobs}");
    assert_eq!(monitor.stop(), Some(0));
}

#[test]
fn a_list_that_cannot_be_read_holds_nothing_else_up_and_is_told_once() {
    let files = Files::new();
    let list = files.config.replace("config.json", "jobs.jsonl");
    files.list("100000\n200000\n");
    let mut command = files.monitor("--loop");
    let log = Logged::of(&files, &mut command);
    let monitor = Process::start_as_is(command);
    files.until(1);
    fs::remove_file(&list).unwrap();
    fs::create_dir(&list).unwrap();
    log.until(&files, "the list was not taken");
    files.until(2);
    // Rounds go on, each with the same trouble.
    let events = files.config.replace("config.json", "events.jsonl");
    fs::remove_file(&events).unwrap();
    let end = Instant::now() + WITHIN;
    while fs::metadata(&events).is_err() {
        assert!(Instant::now() < end);
        files.stage.world.run(&["jobs", "export"]).ok();
    }
    files.until(2);
    assert_eq!(log.count("the list was not taken"), 1);
    assert_eq!(monitor.stop(), Some(0));
    let once = crate::world::ran(files.monitor("--once"), "");
    assert!(once.code != 0 && once.says("jobs.jsonl"), "{once:?}");
    assert_eq!(once.json()["appended"], 0);
}

#[test]
fn what_a_list_says_twice_about_a_session_is_joined_by_name() {
    let files = Files::new();
    let entry = |metadata: Value| json!({ "job_id": "100000", "metadata": metadata }).to_string();
    let first = entry(json!({ "task": "x", "for": "me" }));
    let second = entry(json!({ "task": "y", "ticket": 7 }));
    files.list(&format!("{first}\n{second}\n100000\n"));
    let once = crate::world::ran(files.monitor("--once"), "");
    assert_eq!(once.code, 0, "{once:?}");
    let taken = &once.json()["jobs"];
    assert_eq!(taken["adopted"].as_array().unwrap().len(), 1, "{taken}");
    assert_eq!(taken["known"], 2, "{taken}");
    let jobs = files.stage.world.run(&["jobs", "export"]).ok().stdout;
    let job: Value = serde_json::from_str(&jobs).unwrap();
    let joined = json!({ "task": "y", "for": "me", "ticket": 7 });
    assert_eq!(job["metadata"], joined, "{job}");
}

#[test]
fn beside_a_running_gaffer_it_only_keeps_the_files() {
    let files = Files::new();
    let up = files.stage.up();
    files.list("100000\n");
    let monitor = Process::start(files.monitor("--loop"));
    assert!(
        monitor.text("beside").starts_with("process "),
        "{}",
        monitor.told
    );
    files.until(1);
    assert_eq!(files.events()[0]["message"], "Which route, 1?");
    let append = ["events", "export", "--append", "--config", &files.config];
    assert_eq!(files.stage.world.refused(&append).code, "in_use");
    assert_eq!(monitor.stop(), Some(0));
    assert_eq!(files.stage.world.json(&append)["appended"], 0);
    assert_eq!(up.stop(), Some(0));
}
