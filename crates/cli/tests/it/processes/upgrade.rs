//! The stored records of an older version, as `tests/fixtures/records` keeps them, beneath the built program.

use std::fs;
use std::path::Path;

use domain::ids::RepoName;
use engine::machine::SystemClock;
use engine::ports::{Clock, Key, ListKey, Record};
use jiff::{SignedDuration, Timestamp};
use sandbox::github::{NewPull, RepoSetup};
use sandbox::story::Step;
use sandbox::{Author, Foreign, ForeignPull, ForeignSession, Scenario};

use super::{DATABASE_FILE, Database, Expect, Process, Put, Records, Stage, Value, World, json};

/// A store that was left with jobs in flight, as if that had been a moment ago.
struct Left {
    records: Vec<Value>,
}

impl Left {
    fn by_the_first_version() -> Self {
        let file = "../../tests/fixtures/records/v1/in-flight.json";
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let mut kept: Value = serde_json::from_str(&text).unwrap();
        let at: Timestamp = kept["at"].as_str().unwrap().parse().unwrap();
        // Minutes ago, so that delayed checks run at once.
        let later = SystemClock.now().duration_since(at) - SignedDuration::from_secs(200);
        let mut records = kept["records"].take();
        move_on(&mut records, later);
        let records = records.as_array().unwrap().clone();
        Self {
            records: records.into_iter().map(hurried).collect(),
        }
    }

    fn of(&self, pk: &str) -> impl Iterator<Item = &Value> {
        let mine =
            move |it: &&Value| it["sk"] == "META" && it["pk"].as_str().unwrap().starts_with(pk);
        self.records.iter().filter(mine).map(|it| &it["body"]["it"])
    }

    /// The job of a prompt.
    fn job(&self, prompt: &str) -> &Value {
        self.of("JOB#").find(|it| it["prompt"] == prompt).unwrap()
    }

    fn id(&self, prompt: &str) -> String {
        text(&self.job(prompt)["id"])
    }

    /// The session of a job as Jules has it, and what it does from now on.
    fn session(&self, prompt: &str, steps: Vec<Step>) -> ForeignSession {
        let job = self.job(prompt);
        let watch = &job["phase"];
        let title = format!("[gaffer tests/{}#1] {prompt}", text(&job["id"]));
        let pull = watch["pull"]
            .as_str()
            .map(|pull| pull.split_once('#').unwrap());
        ForeignSession {
            id: Some(text(&watch["session"])),
            title,
            prompt: prompt.to_owned(),
            state: text(&watch["state"]),
            age: SignedDuration::from_mins(6),
            steps,
            pull_url: pull.map(|(repo, number)| format!("https://github.com/{repo}/pull/{number}")),
            ..ForeignSession::default()
        }
    }

    /// The session of the job that was over: the sandbox counts its sessions to name the next one.
    fn finished(&self) -> ForeignSession {
        ForeignSession {
            id: Some(text(&self.job("merge this")["phase"]["session"])),
            state: "COMPLETED".to_owned(),
            archived: true,
            ..ForeignSession::default()
        }
    }

    /// Jules and GitHub as the store last saw them, more or less.
    fn outside(&self) -> Scenario {
        let mut scenario = Scenario::default();
        let repo = self.of("REPO#").next().unwrap();
        let name: RepoName = text(repo).parse().unwrap();
        let number = self
            .records
            .iter()
            .find_map(|it| it["pk"].as_str()?.strip_prefix("REPO#"));
        scenario.repos = vec![RepoSetup {
            id: number.unwrap().parse().unwrap(),
            ..scenario.repos.remove(0)
        }];
        let ours = self.session("merge that", Vec::new());
        let branch = format!("merge-that-{}", ours.id.as_deref().unwrap());
        let body = format!(
            "PR created automatically by Jules for task [{0}](https://jules.google.com/task/{0}) started by @somebody",
            ours.id.as_deref().unwrap()
        );
        let merged = ForeignPull::default();
        let open = ForeignPull {
            repo: name.to_string(),
            pull: NewPull {
                title: "merge that".to_owned(),
                head_branch: branch,
                body,
                author_login: Author::BOT_LOGIN.to_owned(),
                author_id: Author::BOT_ID,
                ..ForeignPull::default().pull
            },
            ..ForeignPull::default()
        };
        scenario.foreign = vec![
            Foreign::Pull(merged),
            Foreign::Pull(open),
            Foreign::Session(ours),
        ];
        let waits = || {
            vec![Step::Stall {
                after: SignedDuration::ZERO,
            }]
        };
        let sessions = [
            self.session("ask me", [waits(), work()].concat()),
            self.session("plan it", work()),
            self.session("stall", [waits(), work()].concat()),
        ];
        scenario.foreign.extend(sessions.map(Foreign::Session));
        scenario.foreign.push(Foreign::Session(self.finished()));
        scenario
    }

    /// Writes the store into a data folder, as the older version left it.
    fn put_into(&self, data: &Path) {
        local::prepare_folder(data).unwrap();
        let database = Database::open(&data.join(DATABASE_FILE)).unwrap();
        let records = local::Store::new(&database);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for golden in &self.records {
            let list = golden["list"].as_array().map(|list| ListKey {
                name: text(&list[0]),
                sort: text(&list[1]),
                word: list[2].as_str().map(str::to_owned),
            });
            let record = Record {
                key: Key {
                    pk: text(&golden["pk"]),
                    sk: text(&golden["sk"]),
                },
                version: 0,
                body: golden["body"].to_string(),
                due: golden["due"].as_str().map(|due| due.parse().unwrap()),
                list,
                forget: None,
            };
            let expect = Expect::Absent;
            let put = Put::Put { record, expect };
            runtime.block_on(records.commit(vec![put])).unwrap();
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Moves every time in a value on.
fn move_on(value: &mut Value, by: SignedDuration) {
    match value {
        Value::String(text) => {
            if let Ok(at) = text.parse::<Timestamp>() {
                *text = (at + by).to_string();
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| move_on(it, by)),
        Value::Object(all) => all.values_mut().for_each(|it| move_on(it, by)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A person's waits are minutes; this story cannot wait for those.
fn hurried(mut record: Value) -> Value {
    let pk = text(&record["pk"]);
    let it = &mut record["body"]["it"];
    if pk.starts_with("CFG#account#") && it["pace"].is_object() {
        it["pace"] = json!({ "tick": "250ms", "idle": "500ms" });
    }
    if pk.starts_with("CFG#source#") && it["timing"].is_object() {
        it["timing"]["settle"] = json!("1s");
        it["timing"]["pull_poll"] = json!("2s");
    }
    if pk.starts_with("PR#") && it["pull"].is_object() {
        // The head that the sandbox makes is another one, and none was seen before it.
        it["pull"]["accepted"] = Value::Null;
    }
    if pk.starts_with("RATE#slots#") {
        // What a refusal has taught is forgotten after an hour.
        it["learned"] = Value::Null;
    }
    record
}

/// What a session does once it goes on.
fn work() -> Vec<Step> {
    let after = SignedDuration::from_millis(200);
    vec![
        Step::OpenPull {
            after,
            files: Vec::new(),
            draft: false,
        },
        Step::Complete {
            after,
            no_change: false,
        },
    ]
}

fn stage(left: &Left) -> Stage {
    let scenario = serde_json::to_string(&left.outside()).unwrap();
    let world = World::new();
    let file = world.file("scenario.json", &scenario);
    let arguments = [
        "sandbox",
        "--listen",
        "127.0.0.1:0",
        "--scenario",
        &file,
        "--json",
    ];
    let sandbox = Process::start(world.command(&arguments));
    let world = world
        .set("JULES_API_KEY", sandbox.text("jules_api_key"))
        .set("GITHUB_TOKEN", sandbox.text("github_token"))
        .set("JULES_API_BASE", sandbox.text("jules_base"))
        .set("GITHUB_API_BASE", sandbox.text("github_base"));
    left.put_into(&world.data());
    Stage { world, sandbox }
}

#[test]
fn it_goes_on_over_the_folder_of_an_older_version() {
    let left = Left::by_the_first_version();
    let stage = stage(&left);
    let up = stage.up();
    assert_eq!(stage.state(&up, &left.id("merge this")), "merged");
    stage.world.run(&["resume"]).ok();
    stage.until(&up, &left.id("plan it"), &["plan-waits"]);
    let planned = left.id("plan it");
    stage
        .world
        .json(&["job", "approve", &planned, "--url", &up.text("url")]);
    // A half-finished create or message is first searched for minutes; the others need not wait for that.
    for prompt in ["ask me", "plan it", "merge that"] {
        stage.until(&up, &left.id(prompt), &["merged"]);
    }
    let later = left.id("merge later");
    stage.until(&up, &later, &["plan-waits"]);
    stage
        .world
        .json(&["job", "approve", &later, "--url", &up.text("url")]);
    stage.until(&up, &later, &["merged"]);
    assert_eq!(up.stop(), Some(0));
}
