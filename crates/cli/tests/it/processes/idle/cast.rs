//! Who plays in the story of an idle agent: the sandbox, `gaffer up`, a watcher, and the agent over its pipes.

use jiff::Timestamp;

use super::super::watching::Watcher;
use super::*;
use crate::mcp::Speaker;

/// What sessions do; the ones that are shipped go on for a while before anything else.
const SCENARIO: &str = include_str!("../idle.json");

/// How long that is: so many steps, with so many milliseconds between them.
pub(super) const STEPS: usize = 120;
const STEP_MILLIS: usize = 100;

/// The repositories: one for most of the work, one where silence is short, and one of another account.
pub(super) const SHOP: &str = "acme/shop";
pub(super) const QUIET: &str = "acme/quiet";
pub(super) const SITE: &str = "acme/site";

/// What the path of each poll begins with, be it of a list or of one session.
pub(super) const POLLED: &str = "/sessions";

/// How often the account is polled: quick enough for a hundred polls in a test.
pub(super) const TICK: SignedDuration = SignedDuration::from_millis(50);

pub(super) struct Cast {
    pub(super) stage: Stage,
    /// How many events were received and checked.
    pub(super) heard: usize,
    /// Which ones were handled and not checked yet.
    done: Vec<Value>,
    /// None while the agent is away.
    watcher: Option<Watcher>,
    up: Process,
    folder: String,
}

impl Cast {
    pub(super) fn new() -> Self {
        let place = World::new();
        let stage = Stage::playing(&["--scenario", &place.file("scenario.json", &scenario())]);
        hurry_to(&stage.world, TICK);
        let receiver = stage.sandbox.text("agent").replace("NAME", "far");
        let host = receiver.trim_start_matches("http://");
        let host = host.split_once('/').unwrap().0.to_owned();
        stage.world.run(&["agent", "add", "me"]).ok();
        let far = ["agent", "add", "far", "--url", &receiver];
        assert_eq!(stage.world.run(&far).code, 0);
        let set = ["source", "set", SHOP, "--agent", "me", "--merge", "human"];
        let poll = ["--settle", "0s", "--pull-poll", "1s"];
        stage.world.run(&[&set[..], &poll].concat()).ok();
        let up = stage.up_with(&["--no-webhooks", "--allow-host", &host]);
        let Stage { world, sandbox } = stage;
        let world = world.set("GAFFER_URL", up.text("url"));
        let stage = Stage { world, sandbox };
        let folder = stage.world.file("given", "").replace("given", "");
        Self {
            watcher: Some(watch(&stage, (&up.text("url"), &folder))),
            stage,
            heard: 0,
            done: Vec::new(),
            up,
            folder,
        }
    }

    /// The agent, awake for a moment: its first words are said.
    pub(super) fn agent(&self) -> Speaker {
        let mut agent = Speaker::started(self.stage.world.command(&["mcp"]));
        agent.greet("2024-11-05");
        agent
    }

    pub(super) fn create(&self, repo: &str, prompt: &str) -> String {
        let order = ["job", "create", "--repo", repo, "--prompt", prompt];
        let created = self.stage.world.json(&order);
        created["job"]["job_id"].as_str().unwrap().to_owned()
    }

    /// Looks until it is so. Asking how things are starts a process each time, which keeps the pace.
    pub(super) fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + WITHIN;
        while !is_so(self) {
            let status = || self.stage.world.json(&["job", "list"]);
            assert!(Instant::now() < end, "{what}: {}", status());
            self.stage.world.run(&["account", "list"]).ok();
        }
    }

    /// The requests that reached Jules with this in their path and got this status.
    fn requests(&self, path: &str, status: u16) -> Vec<Value> {
        let log = self.stage.control("GET", "/log", &Value::Null);
        let requests = log["requests"].as_array().unwrap().iter();
        let meant = |it: &&Value| {
            it["service"] == "jules"
                && it["status"] == status
                && it["path"].as_str().unwrap().contains(path)
        };
        requests.filter(meant).cloned().collect()
    }

    pub(super) fn answered(&self, path: &str, status: u16) -> usize {
        self.requests(path, status).len()
    }

    /// How long it was between the requests that got this status.
    pub(super) fn gaps(&self, status: u16) -> Vec<SignedDuration> {
        let at = |it: &Value| -> Timestamp { it["at"].as_str().unwrap().parse().unwrap() };
        let requests = self.requests("", status);
        let pairs = requests.windows(2);
        let gap = |pair: &[Value]| at(&pair[1]).duration_since(at(&pair[0]));
        pairs.map(gap).collect()
    }

    /// A job's session as Jules has it; `null` before there is one.
    pub(super) fn session(&self, job: &str) -> Value {
        let shown = self.stage.world.json(&["job", "show", job]);
        let id = shown["job"]["session_id"].clone();
        let state = self.stage.control("GET", "/state", &Value::Null);
        let mut sessions = state["sessions"].as_array().unwrap().iter();
        let found = sessions.rfind(|session| session["id"] == id);
        found.cloned().unwrap_or_default()
    }

    pub(super) fn activities(&self, job: &str) -> usize {
        let session = self.session(job);
        session["activities"].as_array().map_or(0, Vec::len)
    }

    /// Whether its session's log has these words.
    pub(super) fn shows(&self, job: &str, words: &str) -> bool {
        let words = Value::from(words).to_string();
        self.session(job)["activities"].to_string().contains(&words)
    }

    /// When its session said this.
    pub(super) fn at(&self, job: &str, words: &str) -> Timestamp {
        let session = self.session(job);
        let mut all = session["activities"].as_array().unwrap().iter();
        let said = all.find(|it| it.to_string().contains(words)).unwrap();
        said["createTime"].as_str().unwrap().parse().unwrap()
    }

    /// Says something on Jules's page.
    pub(super) fn says_upstream(&self, job: &str, words: &str) {
        let id = self.session(job)["id"].as_str().unwrap().to_owned();
        self.stage.says_upstream(&id, words);
    }

    /// The ids of a job's events, the oldest first.
    pub(super) fn events(&self, job: &str) -> Vec<Value> {
        // The cursor is on stderr.
        let printed = self.stage.world.run(&["events", "export"]);
        assert_eq!(printed.code, 0, "{printed:?}");
        let all = printed
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let of_job = all.filter(|event| event["job_id"] == *job);
        of_job.map(|event| event["event_id"].clone()).collect()
    }

    /// How many bytes the agents were given: by the watcher, and at the address.
    pub(super) fn given_bytes(&self) -> u64 {
        let given = std::fs::metadata(format!("{}given", self.folder)).unwrap();
        given.len() + self.sent_bytes()
    }

    fn sent_bytes(&self) -> u64 {
        let counters = self.stage.control("GET", "/counters", &Value::Null);
        counters["wake_bytes"].as_u64().unwrap()
    }

    /// What the watcher's command was given, one after the other.
    fn given(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(format!("{}given", self.folder)).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    /// The same of one job.
    pub(super) fn given_of(&self, job: &str) -> Vec<Value> {
        let given = self.given().into_iter();
        given.filter(|event| event["job_id"] == *job).collect()
    }

    /// Waits for the next event of a job, or of an account without one; others are checked later.
    pub(super) fn hears(&mut self, job: &str, kind: &str) -> Value {
        loop {
            let is_meant = |event: &&Value| {
                let of_job = event["job_id"].as_str().unwrap_or_default() == job;
                of_job && self.done.contains(&event["event_id"])
            };
            let given = self.given();
            if let Some(event) = given.iter().find(is_meant) {
                assert_eq!(event["kind"], kind, "{event}");
                self.done.retain(|done| *done != event["event_id"]);
                self.heard += 1;
                return event.clone();
            }
            let told = self.watcher().next();
            assert_eq!(told["outcome"], "done", "{told}");
            self.done.push(told["event_id"].clone());
        }
    }

    /// The watcher's next event of a job; others in between are checked later.
    pub(super) fn next_of(&mut self, job: &str) -> Value {
        loop {
            let told = self.watcher().next();
            if told["job_id"] == *job {
                return told;
            }
            assert_eq!(told["outcome"], "done", "{told}");
            self.done.push(told["event_id"].clone());
        }
    }

    pub(super) fn watcher(&mut self) -> &mut Watcher {
        self.watcher.as_mut().unwrap()
    }

    /// The watcher ends.
    pub(super) fn goes_away(&mut self) {
        let gone = self.watcher.take().unwrap();
        assert_eq!(gone.process.stop(), Some(0));
    }

    pub(super) fn comes_back(&mut self) {
        let watcher = watch(&self.stage, (&self.up.text("url"), &self.folder));
        self.watcher = Some(watcher);
    }

    /// Apart from checked ones, only so many events were given, and so many were answered before; each is over, and the other
    /// agent received nothing.
    pub(super) fn everything_was_heard_and_acknowledged_once(
        mut self,
        (besides, answered): (usize, usize),
    ) {
        let list = ["wake", "list", "--agent", "me"];
        let wakes = self.stage.world.json(&list)["wakes"].clone();
        let wakes = wakes.as_array().unwrap();
        let given = self.heard + besides;
        assert_eq!(wakes.len(), given + answered, "{wakes:?}");
        let over = wakes.iter().all(|wake| wake["state"] == "acknowledged");
        assert!(over, "{wakes:?}");
        // The question whose handler crashed was given twice, and nothing else was.
        assert_eq!(self.given().len(), given + 1);
        let once = ["watch", "--agent", "me", "--once"];
        let nothing = self.stage.world.run(&once);
        assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
        assert_eq!(self.sent_bytes(), 0);
        self.goes_away();
        assert_eq!(self.up.stop(), Some(0));
    }
}

/// A watcher whose command keeps what it is given, and answers the question about the colour at the second attempt.
fn watch(stage: &Stage, (url, folder): (&str, &str)) -> Watcher {
    let gaffer = env!("CARGO_BIN_EXE_gaffer");
    let script = format!(
        r#"cd {folder} && cat > now && {{ cat now; echo; }} >> given
case "$JULES_EVENT" in *'Which colour?'*)
  test -e tried || {{ touch tried; exit 1; }}
  job=$(sed 's/.*"job_id":"\([^"]*\)".*/\1/' now)
  {gaffer} mcp call jules_send_message "{{\"job_id\":\"$job\",\"message\":\"Green.\"}}" ;;
esac"#
    );
    Watcher::start(stage, url, &["sh", "-c", &script])
}

fn scenario() -> String {
    let mut scenario: Value = serde_json::from_str(SCENARIO).unwrap();
    let after = format!("{STEP_MILLIS}ms");
    let step = |n| json!({ "progress": { "after": after, "title": format!("Step {n}") } });
    let mut steps: Vec<Value> = (0..STEPS).map(step).collect();
    let ship = &mut scenario["stories"][0]["steps"];
    steps.extend(ship.as_array().unwrap().iter().cloned());
    *ship = Value::Array(steps);
    scenario.to_string()
}
