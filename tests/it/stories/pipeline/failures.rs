//! What goes wrong with a run or a requirement, who is told of it, and what goes on all the same.

use domain::advice::Advice;
use domain::delivery::{Act, Delivery};
use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, Pipeline, PipelineAsk, PipelineRules};
use domain::priority::Priority;
use engine::pipelines::PipelineOrder;
use sandbox::story::Story;
use sandbox::{Fault, FaultKind, Service};
use serde_json::json;
use tests::world::{MINUTE, Moment, REPO, World, hour};

use super::super::issues::order_to;
use super::gates::writing;
use super::trials::REAL;
use super::{
    begin, begin_and_end, layered, members, piped, push, push_all, requirements, rules, steps,
    until_over, world_of,
};

fn only(layer: Layer, requirement: Option<&str>) -> PipelineOrder {
    PipelineOrder::Only(PipelineAsk {
        layer: Some(layer),
        requirement: requirement.map(str::to_owned),
        ..PipelineAsk::default()
    })
}

async fn ordered(world: &World, order: &PipelineOrder) -> Vec<String> {
    let repo = REPO.parse().expect("a repository");
    let begun = world.backend.start_pipeline(&repo, order, "ann").await;
    steps(&until_over(world, &begun.expect("a run")).await)
}

async fn bootstrapped(rules: PipelineRules) -> World {
    let world = world_of(piped(rules), vec![Story::layer()]).await;
    begin_and_end(&world, EntryPoint::Requirements).await;
    world
}

#[tokio::test]
async fn what_is_in_the_way_of_each_run_is_told_once() {
    let world = layered(Exchange::Auto, Implement::Human).await;
    for _ in 0..2 {
        let told = ordered(&world, &only(Layer::Planner, None)).await;
        assert!(
            told[0].contains("failed (acme/shop has no branch `jules`"),
            "{told:?}"
        );
        world.step().await;
        assert_eq!(world.wake_names(), ["error/pipeline"]);
    }
    begin_and_end(&world, EntryPoint::Requirements).await;
    super::remove(&world, "jules");
    ordered(&world, &only(Layer::Planner, None)).await;
    world.step().await;
    assert_eq!(
        world.wake_names(),
        ["error/pipeline"; 2],
        "it was through in between"
    );
}

#[tokio::test]
async fn a_pull_request_that_is_not_repaired_holds_no_run_that_people_merge() {
    let source = piped(rules(Exchange::Human, Implement::Human));
    let bad = writing("role: qa", &[("src/lib.rs", "broken")]);
    let world = world_of(source, vec![bad, Story::layer()]).await;
    let begun = begin(&world, EntryPoint::Requirements).await;
    world.pass(hour(1)).await;
    let now = super::run(&world, &begun).await;
    world.approve_merge(&members(&now, "bootstrap")[0].0).await;
    until_over(&world, &begun).await;
    let order = PipelineOrder::Only(PipelineAsk {
        layer: Some(Layer::Observers),
        role: "qa".parse().ok(),
        ..PipelineAsk::default()
    });
    let told = ordered(&world, &order).await;
    let why = "its checks failed and were not repaired: jules/scope";
    let found = format!("observers failed ({why}: ");
    assert!(told.len() == 1 && told[0].starts_with(&found), "{told:?}");
}

#[tokio::test]
async fn a_commit_that_github_does_not_show_yet_and_a_cut_answer_fail_no_step() {
    for kind in [FaultKind::status(404), FaultKind::HtmlInstead] {
        let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
        let unread = Fault::new(Service::GitHub, "/git/trees", kind);
        world.sandbox.faults().add(unread.on("GET").next(1));
        let over = begin_and_end(&world, EntryPoint::Decider).await;
        let told = steps(&over);
        assert_eq!(
            told[0],
            "bootstrap skipped (the worker branch is up to date)"
        );
        world.finish().await;
    }
}

/// The process dies between the plan of a step and its jobs, and has to read the files again.
#[tokio::test]
async fn files_that_are_not_read_at_once_fail_no_agent() {
    for kind in [FaultKind::status(404), FaultKind::HtmlInstead] {
        let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
        push_all(&world, "jules", &REAL[1..]);
        let (fate, faults) = (world.fate.clone(), world.sandbox.faults().clone());
        let files = Fault::new(Service::GitHub, "/graphql", kind).saying("on TreeEntry");
        world.fate.before_next("commit REQ#", async move {
            fate.kill_at(fate.count() - 1, Moment::After);
            faults.add(files.next(2));
        });
        let order = only(Layer::Planner, None);
        let repo = REPO.parse().expect("a repository");
        let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
        let begun = begun.expect("a run");
        let waits = async |world: &World| {
            let now = super::run(world, &begun).await;
            now.steps[0].hindrance.is_some()
        };
        Box::pin(world.until(hour(1), "it waits", waits)).await;
        assert_eq!(world.deaths(), 1);
        let told = because(&world, &begun).await;
        let no_job = told.iter().find(|it| it.contains("has no job yet"));
        let no_job = no_job.unwrap_or_else(|| panic!("{told:?}"));
        assert!(no_job.contains("reading the files below"), "{no_job}");
        let over = until_over(&world, &begun).await;
        assert_eq!(steps(&over), ["planner done"]);
        assert_eq!(over.steps[0].hindrance, None);
        assert_eq!(world.sandbox.counters().creates, 1);
    }
}

/// The requirement of the trial, ready and under another id.
fn ready(id: &str) -> (String, String) {
    let (path, text) = REAL[2];
    let text = text.replace(
        "requires_deep_analysis: true",
        "requires_deep_analysis: false",
    );
    let text = text.replace("source_events:\n  - \"rea002\"", "source_events: []");
    (path.replace("rea003", id), text.replace("rea003", id))
}

#[tokio::test]
async fn a_requirement_with_a_long_text_is_implemented() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    let (path, text) = ready("rea004");
    let long = format!("Readers are misled by it, {}", "again and ".repeat(1_000));
    let text = text.replace("Readers of the code are misled by it.", &long);
    push(&world, "jules", (&path, &text));
    let told = ordered(&world, &only(Layer::Implementer, Some(&path))).await;
    assert_eq!(told, ["requirements done"]);
    world.until_count(hour(1), |it| it.creates == 1).await;
    assert_eq!(requirements(&world).await[0].state.word(), "implementing");
    world.pass(hour(1) / 60).await;
    let again = ordered(&world, &only(Layer::Implementer, Some(&path))).await;
    let why = "requirement rea004 is being implemented already";
    assert_eq!(again, [format!("requirements failed ({why})")]);
    let all = ordered(&world, &PipelineOrder::From(EntryPoint::Requirements)).await;
    let skipped = "requirements skipped (No requirement is ready)";
    assert_eq!(all.last().map(String::as_str), Some(skipped));
}

#[tokio::test]
async fn a_delivery_that_ends_before_the_merge_leaves_its_requirement_under_way() {
    let mut source = piped(rules(Exchange::Auto, Implement::Auto));
    source.deliveries.endpoint = "review".parse().expect("a phase");
    let world = world_of(source, vec![Story::layer()]).await;
    begin_and_end(&world, EntryPoint::Observers).await;
    let delivery = async |world: &World| -> Option<Delivery> {
        let found = requirements(world).await;
        let id = found[0].state.delivery()?.clone();
        let found = world.backend.store.get::<Delivery>(&id).await;
        Some(found.expect("a store")?.value)
    };
    let is_closed = async |world: &World| delivery(world).await.is_some_and(|it| it.is_terminal());
    Box::pin(world.until(hour(3), "it is closed", is_closed)).await;
    world.pass(hour(2)).await;
    assert_eq!(requirements(&world).await[0].state.word(), "implementing");
    let pull = delivery(&world).await.and_then(|it| it.task.pull);
    let number = pull.expect("a pull request").number;
    let now = world.clock.now();
    assert!(
        world
            .sandbox
            .github()
            .merge_by_hand(now, REPO, number, "ann")
    );
    let is_tidied = async |world: &World| requirements(world).await[0].state.word() == "tidied";
    Box::pin(world.until(hour(5), "tidied", is_tidied)).await;
}

#[tokio::test]
async fn a_run_begins_twenty_deliveries_and_those_of_people_go_first() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Auto)).await;
    let files: Vec<_> = (0..22).map(|n| ready(&format!("rea1{n:02}"))).collect();
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    push_all(&world, "jules", &files);
    let begun = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &begun).await;
    let found = requirements(&world).await;
    let count = |word: &str| found.iter().filter(|it| it.state.word() == word).count();
    assert_eq!(
        (count("implementing"), count("ready")),
        (20, 2),
        "{found:?}"
    );
    let begun = found.iter().find_map(|it| it.state.delivery());
    let id = begun.expect("a delivery").clone();
    let is_there = async |world: &World| {
        let found = world
            .backend
            .store
            .get::<Delivery>(&id)
            .await
            .expect("a store");
        found.is_some_and(|found| found.value.priority == Priority::BACKGROUND)
    };
    Box::pin(world.until(hour(1), "its delivery", is_there)).await;
}

#[tokio::test]
async fn a_requirement_that_gives_no_prompt_fails_before_it_costs_a_task() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    let (path, text) = ready("rea004");
    let odd = text.replace("label: docs", "label: nolabel");
    push(&world, "jules", (&path, &odd));
    let told = ordered(&world, &only(Layer::Implementer, Some(&path))).await;
    assert_eq!(told, ["requirements done"]);
    let known = requirements(&world).await.remove(0);
    let id = known.state.delivery().expect("a delivery");
    let delivery = async |world: &World| {
        let found = world.backend.store.get::<Delivery>(id).await;
        found.expect("a store").map(|found| found.value)
    };
    let has_failed =
        async |world: &World| delivery(world).await.is_some_and(|it| it.error.is_some());
    Box::pin(world.until(hour(2), "it failed", has_failed)).await;
    let error = delivery(&world).await.and_then(|it| it.error);
    let text = error.expect("an error").text;
    assert!(text.contains("has the label `nolabel`"), "{text}");
    assert_eq!(world.sandbox.counters().creates, 0);
}

/// A branch that may not be written, and a permission that is missing: another attempt would be refused like the first.
#[tokio::test]
async fn a_write_that_is_refused_is_told_once_and_ends_the_run_with_its_reason() {
    for code in [403, 422] {
        let world = layered(Exchange::Auto, Implement::Human).await;
        let refused = Fault::new(Service::GitHub, "/git/refs", FaultKind::status(code));
        world.sandbox.faults().add(refused.on("POST"));
        for run in 1..=2 {
            let begun = begin(&world, EntryPoint::Decider).await;
            assert_eq!(until_over(&world, &begun).await.word(), "failed");
            world.step().await;
            let asked = world.requests(Service::GitHub, "POST", "/git/refs");
            assert_eq!(asked.len(), run, "one attempt in each run");
            assert_eq!(world.wake_names(), ["error/pipeline"], "{code}");
            let why = world.backend.pipeline_why(&begun.id).await;
            let why = why.expect("an answer");
            let told: Vec<_> = why.because.iter().map(|it| it.sentence.as_str()).collect();
            let [failed, over] = told[..] else {
                panic!("{told:?}");
            };
            assert!(failed.starts_with("bootstrap: It failed: "), "{failed}");
            assert!(failed.contains(&code.to_string()), "{failed}");
            assert_eq!(over, "It is over: only another run tries that again.");
            let again = format!("pipeline start {REPO} --from decider");
            assert_eq!(why.next, [Advice::StartPipeline.about(&again)]);
        }
        world.sandbox.faults().clear();
        let begun = begin(&world, EntryPoint::Decider).await;
        let over = until_over(&world, &begun).await;
        assert_eq!(steps(&over)[0], "bootstrap done");
        assert_eq!(because(&world, &begun).await, ["It is over."]);
        world.finish().await;
    }
}

/// Files that are too large are read no better by another look, so its delivery says why it gets no session.
#[tokio::test]
async fn files_that_cannot_be_read_are_told_by_a_delivery_and_fail_it() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    let (path, text) = ready("rea004");
    push(&world, "jules", (&path, &text));
    let faults = world.sandbox.faults().clone();
    let files = Fault::new(Service::GitHub, "/graphql", FaultKind::HtmlInstead);
    let files = files.saying("on TreeEntry");
    // It is made of the file, and its session of all of them.
    world.fate.before_next("commit DLV#", async move {
        faults.add(files);
    });
    let told = ordered(&world, &only(Layer::Implementer, Some(&path))).await;
    assert_eq!(told, ["requirements done"]);
    let known = requirements(&world).await.remove(0);
    let id = known.state.delivery().expect("a delivery");
    let delivery = async |world: &World| {
        let found = world.backend.store.get::<Delivery>(id).await;
        found.expect("a store").map(|found| found.value)
    };
    let why = "reading the files below";
    let says = async |world: &World| {
        let refused = delivery(world).await.and_then(|it| it.refused);
        refused.is_some_and(|it| it.why.contains(why))
    };
    Box::pin(world.until(hour(1), "it says why", says)).await;
    let has_failed = async |world: &World| {
        let error = delivery(world).await.and_then(|it| it.error);
        error.is_some_and(|it| it.text.contains(why))
    };
    Box::pin(world.until(hour(2), "it failed", has_failed)).await;
    world.sandbox.faults().clear();
    order_to(&world, id, Act::Retry { reason: None }).await;
    world.until_count(hour(1), |it| it.creates == 1).await;
    world.finish().await;
}

/// What a run waits for, in sentences.
async fn because(world: &World, begun: &Pipeline) -> Vec<String> {
    let why = world.backend.pipeline_why(&begun.id).await;
    let because = why.expect("an answer").because.into_iter();
    because.map(|it| it.sentence).collect()
}

#[tokio::test]
async fn a_step_says_why_its_files_are_not_read() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    let down = Fault::new(Service::GitHub, "/git/trees", FaultKind::status(503));
    world.sandbox.faults().add(down.on("GET"));
    let begun = begin(&world, EntryPoint::Decider).await;
    world.pass(hour(1) / 4).await;
    let waits = super::run(&world, &begun).await;
    assert_eq!(steps(&waits)[0], "bootstrap pending");
    let said = waits.steps[0].reason().expect("a reason");
    assert!(said.contains("503"), "{said}");
    let told = because(&world, &begun).await;
    let next = "bootstrap: It is next, and its files are read again soon: ";
    let said_once = said.trim_end_matches('.');
    assert_eq!(told, [format!("{next}{said_once}.")]);
    world.sandbox.faults().clear();
    let over = until_over(&world, &begun).await;
    assert_eq!(over.steps[0].reason(), over.steps[0].state.reason());
    assert_eq!(over.steps[0].hindrance, None);
    world.finish().await;
}

/// GitHub refuses to list trees with these words.
fn refusal(words: &str) -> Fault {
    let kind = FaultKind::Status {
        code: 403,
        retry_after_secs: None,
        body: Some(json!({ "message": words })),
    };
    Fault::new(Service::GitHub, "/git/trees", kind).on("GET")
}

#[tokio::test]
async fn files_that_may_not_be_read_fail_a_run_after_a_while_and_are_told_once() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    let refused = refusal("Resource not accessible by integration");
    world.sandbox.faults().add(refused);
    for is_first in [true, false] {
        let begun = begin(&world, EntryPoint::Decider).await;
        world.pass(MINUTE * 9).await;
        let waits = super::run(&world, &begun).await;
        assert_eq!(steps(&waits)[0], "bootstrap pending");
        let told = because(&world, &begun).await;
        assert!(told[0].contains("Resource not accessible"), "{told:?}");
        assert_eq!(world.wake_names().is_empty(), is_first);
        let over = until_over(&world, &begun).await;
        let lasted = over.updated_at.duration_since(over.created_at);
        assert!(lasted < MINUTE * 13, "{lasted:#}");
        let told = steps(&over);
        let what_to_do = "by integration; give the token or the App this permission)";
        assert!(
            told[0].starts_with("bootstrap failed (") && told[0].ends_with(what_to_do),
            "{told:?}"
        );
        assert_eq!(told[1], "decider skipped (the bootstrap failed)");
        world.step().await;
        assert_eq!(world.wake_names(), ["error/pipeline"]);
    }
    world.sandbox.faults().clear();
    let begun = begin(&world, EntryPoint::Decider).await;
    let over = until_over(&world, &begun).await;
    assert_eq!(over.word(), "done");
    world.finish().await;
}

#[tokio::test]
async fn a_limit_that_is_answered_with_403_fails_no_run_however_long_it_lasts() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    let limited = refusal("You have exceeded a secondary rate limit.");
    world.sandbox.faults().add(limited);
    let begun = begin(&world, EntryPoint::Decider).await;
    world.pass(hour(1)).await;
    let waits = super::run(&world, &begun).await;
    assert_eq!(steps(&waits)[0], "bootstrap pending");
    world.sandbox.faults().clear();
    let over = until_over(&world, &begun).await;
    assert_eq!(over.word(), "done");
    assert_eq!(world.wake_names(), [""; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_pause_is_the_reason_of_a_job_without_a_session() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    world.limit("default", 0, 300).await;
    let begun = begin(&world, EntryPoint::Narrator).await;
    let is_queued = async |world: &World| {
        let told = because(world, &begun).await.pop();
        told.is_some_and(|told| told.starts_with("narrator, job "))
    };
    let within = hour(1);
    Box::pin(world.until(within, "the narrator has a job", is_queued)).await;
    let last = async || because(&world, &begun).await.pop().expect("a reason");
    let before = last().await;
    assert!(!before.contains("paused"), "{before}");
    world.pause(true).await;
    let told = because(&world, &begun).await;
    assert_eq!(told[0], "Everything is paused.");
    let is_of_job = |it: &String| it.starts_with("narrator, job ");
    assert!(!told.iter().any(is_of_job), "{told:?}");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_as_a_requirement_is_named_by_the_step() {
    let world = bootstrapped(rules(Exchange::Auto, Implement::Human)).await;
    let broken = ".jules/exchange/requirements/odd001-broken.yml";
    push(&world, "jules", (broken, "id: [\n"));
    let from = PipelineOrder::From(EntryPoint::Requirements);
    let told = ordered(&world, &from).await;
    let last = told.last().expect("a step");
    assert!(last.starts_with("requirements skipped"), "{told:?}");
    assert!(last.contains(broken), "{told:?}");
    let (path, text) = ready("rea004");
    push(&world, "jules", (&path, &text));
    let repo = REPO.parse().expect("a repository");
    let begun = world.backend.start_pipeline(&repo, &from, "ann").await;
    let over = until_over(&world, &begun.expect("a run")).await;
    let last = over.steps.last().expect("a step");
    assert_eq!(last.state.word(), "done", "{over:?}");
    let note = last.reason().expect("a note");
    assert!(note.contains(broken), "{note}");
}
