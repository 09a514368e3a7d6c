//! The OpenAPI document in the hands of schemathesis, against the real binary.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::place;
use crate::processes::Stage;

/// The published document.
const DOCUMENT: &str = include_str!("../../../../../docs/openapi.json");

/// Fixed, so that a failure comes again.
const SEED: &str = "7";

/// Random cases of each route, in addition to those at its schema's limits.
const EXAMPLES: &str = "10";

/// Seconds that an answer may take: the API holds one for ten while it waits for what comes of an order, and machines are slow.
const PATIENCE: &str = "30";

/// Routes that hold an empty answer open for up to 20 seconds.
const WAITING: [&str; 3] = ["take_wakes", "list_events", "delivery_events"];

/// Checks of each answer. Omitted is what a document cannot say: which ids and cursors exist, and that `{job}:say`
/// and `{job}` are one path to the router.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection,missing_required_header,unsupported_method,ignored_auth";

/// Deliveries that are there. Orders about the open ones are taken, and nothing is carried out: their source is paused.
struct DeliveryExamples {
    /// Waits for its start.
    open: String,
    /// Has begun, and is there to be cancelled, which in the end closes it.
    begun: String,
    /// Is closed, and has runs with something to show.
    over: String,
}

impl DeliveryExamples {
    fn on(stage: &Stage, url: &str) -> Self {
        let set = |how: &[&str]| {
            let set = ["source", "set", "acme/shop"];
            stage.world.run(&[&set[..], how].concat()).ok();
        };
        let order = |what: &[&str]| {
            let order = [&["delivery"][..], what, &["--url", url]].concat();
            let answer = stage.world.json(&order);
            answer["delivery"]["id"].as_str().unwrap().to_owned()
        };
        let create = || order(&["create", "Add a search box", "--repo", "acme/shop"]);
        set(&["--no-checkpoints", "--review-by", "nobody"]);
        set(&["--endpoint", "implement"]);
        let over = create();
        order(&["wait", &over, "--until", "closed", "--within", "5m"]);
        set(&["--checkpoint", "plan", "--plan-by", "human"]);
        let (open, begun) = (create(), create());
        order(&["start", &begun]);
        stage.world.run(&["source", "pause", "acme/shop"]).ok();
        Self { open, begun, over }
    }

    /// The one that a path is about. Only a closed one reads no session that it would collect.
    fn of(&self, path: &str) -> &str {
        if path.contains("/runs/") || path.ends_with("/collect") {
            &self.over
        } else if path.ends_with("/cancel") || path.ends_with("/retry") {
            &self.begun
        } else {
            &self.open
        }
    }
}

/// The document with things that are there as its examples, so that not everything is unknown to the API.
fn with_examples(job: &str, event: &Value, deliveries: &DeliveryExamples) -> Value {
    let mut document: Value = serde_json::from_str(DOCUMENT).unwrap();
    for (path, operations) in document["paths"].as_object_mut().unwrap() {
        let examples = [
            ("job", json!(job)),
            ("event", event.clone()),
            ("agent", json!("zai")),
            ("delivery", json!(deliveries.of(path))),
            ("run", json!("latest")),
        ];
        let Some(parts) = operations.get_mut("parameters") else {
            continue;
        };
        for part in parts.as_array_mut().unwrap() {
            let known = examples.iter().find(|(name, _)| part["name"] == *name);
            if let Some((_, example)) = known {
                part["example"] = example.clone();
            }
        }
    }
    document
}

#[test]
fn nothing_that_the_document_leads_to_breaks_the_door() {
    let stage = Stage::new();
    stage.world.run(&["agent", "add", "zai"]).ok();
    let set = ["source", "set", "acme/shop", "--agent", "zai"];
    stage.world.run(&set).ok();
    let up = stage.up_with(&[]);
    let url = up.text("url");
    let job = stage.create(&url);
    // A caller of an open one's merge waits for the outcome, as often as it calls.
    stage.until(&up, &job, &["merged"]);
    let events = stage.world.json(&["job", "events", &job, "--url", &url]);
    let event = &events["events"][0]["event_id"];
    let deliveries = DeliveryExamples::on(&stage, &url);
    let document = with_examples(&job, event, &deliveries);
    let routes = operations(&document);
    let path = stage.world.file("openapi.json", &document.to_string());
    let token = ["token", "create", "fuzz", "--scope", "admin"];
    let token = stage.world.json(&token)["value"]
        .as_str()
        .unwrap()
        .to_owned();

    let run = |chosen: &[&str]| {
        Command::new("python3")
            .env("PYTHONPATH", place("GAFFER_PEER_SCHEMATHESIS"))
            .current_dir(stage.world.data())
            .args(["-m", "schemathesis.cli", "run", &path, "--url", &url])
            .args(["-H", &format!("Authorization: Bearer {token}")])
            .args(["--seed", SEED, "--max-examples", EXAMPLES])
            .args(["--phases", "examples,coverage,fuzzing", "--checks", CHECKS])
            .args(["--generation-database", "none", "--continue-on-failure"])
            .args(["--request-timeout", PATIENCE])
            .args(["--no-color", "--warnings", "off"])
            .args(chosen)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    // Those that hold an answer open wait beside the others: its own threads do not get along with each other.
    let waiting = WAITING.map(|id| ["--include-operation-id", id]).concat();
    let others = WAITING.map(|id| ["--exclude-operation-id", id]).concat();
    let runs = [run(&waiting), run(&others)];
    for (run, tested) in runs
        .into_iter()
        .zip([WAITING.len(), routes - WAITING.len()])
    {
        let output = run.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert!(said.contains(&format!("Tested: {tested}\n")), "{said}");
    }
    assert_ne!(stage.state(&up, &job), "");
    // Orders reached it: it has begun, and nothing but an order begins it.
    let show = ["delivery", "show", &deliveries.open, "--url", &url];
    let shown = stage.world.json(&show);
    assert_ne!(shown["delivery"]["run_status"], "pending", "{shown}");
    assert_eq!(up.stop(), Some(0));
}

/// How many routes a document has, both spellings counted.
fn operations(document: &Value) -> usize {
    let paths = document["paths"].as_object().unwrap().values();
    let methods = paths.flat_map(|it| it.as_object().unwrap().keys());
    methods.filter(|it| *it != "parameters").count()
}
