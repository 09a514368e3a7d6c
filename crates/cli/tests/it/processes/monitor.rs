//! `gaffer monitor` over real sockets: what its file of events holds, whenever it is killed.

use std::fs;

use super::*;

/// Sessions that somebody else began: one that asks each second, and one that only works.
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
        assert_eq!(
            (&event["event"], &event["repo"]),
            (&json!("question"), &json!("acme/shop"))
        );
        assert_eq!(event["status"], "AWAITING_USER_FEEDBACK");
        assert!(
            event["job_id"].is_string() && event["observed_at"].is_string(),
            "{event}"
        );
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
