//! Requirements that a person does not want any more, files that stay after the merge, and events that are added meanwhile.

use domain::delivery::Checkpoints;
use domain::layer::Layer;
use domain::pipeline::{
    EntryPoint, Exchange, Implement, Pipeline, PipelineAsk, Requirement, RequirementRef,
};
use domain::policy::Source;
use engine::pipelines::PipelineOrder;
use sandbox::story::Story;
use tests::world::{REPO, World, hour};

use super::trials::REAL;
use super::{
    begin_and_end, findings, members, piped, push, push_all, requirements, rules, steps, tree,
    until_over, world_of,
};

/// A world with a requirement that is ready.
async fn ready() -> (World, Requirement) {
    ready_in(piped(rules(Exchange::Auto, Implement::Human))).await
}

async fn ready_in(source: Source) -> (World, Requirement) {
    let world = world_of(source, vec![Story::layer()]).await;
    begin_and_end(&world, EntryPoint::Observers).await;
    let mut found = requirements(&world).await;
    let ready = found.pop().expect("a requirement");
    assert_eq!(ready.state.word(), "ready");
    (world, ready)
}

async fn ordered(world: &World, order: &PipelineOrder) -> Pipeline {
    let repo = REPO.parse().expect("a repository");
    let begun = world.backend.start_pipeline(&repo, order, "ann").await;
    until_over(world, &begun.expect("a run")).await
}

async fn removed(world: &World, path: &str) -> Vec<String> {
    steps(&ordered(world, &PipelineOrder::Remove(path.to_owned())).await)
}

/// Whether the file of a requirement and those of its events are there: all of them, or none.
pub(super) fn has_files(world: &World, requirement: &Requirement) -> bool {
    let worker = tree(world, "jules");
    let reference = &requirement.reference;
    assert!(!reference.events.is_empty());
    let is_there = worker.has(&reference.path);
    for event in &reference.events {
        assert_eq!(worker.has(event), is_there, "{event}");
    }
    is_there
}

#[tokio::test]
async fn a_person_has_a_requirement_removed_with_its_events() {
    let (world, ready) = ready().await;
    let path = &ready.reference.path;
    assert_eq!(removed(&world, path).await, ["clean done"]);
    assert!(!has_files(&world, &ready));
    assert_eq!(findings(&world), [""; 0]);
    let is_gone = async |world: &World| requirements(world).await[0].state.word() == "failed";
    Box::pin(world.until(hour(1), "gone", is_gone)).await;
    let known = requirements(&world).await.remove(0);
    assert_eq!(known.state.reason(), Some("ann had its files removed"));
    let (backend, id) = (&world.backend, &known.reference.id);
    let started = backend.start_requirement(&known.repo, id, false).await;
    assert!(started.is_err_and(|error| error.to_string().contains("has no file any more")));
    let again = removed(&world, path).await;
    let gone = format!(
        "clean failed (Nothing is removed, since `{path}` is not there: `gaffer exchange inspect` lists the requirements)"
    );
    assert_eq!(again, [gone]);
    for outside in [".jlo/config.toml", "src/lib.rs", ".jules/JULES.md"] {
        let told = removed(&world, outside).await;
        assert!(told[0].contains("is no requirement"), "{told:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_requirement_whose_removal_is_called_off_is_ready_again() {
    let (world, ready) = ready().await;
    let order = PipelineOrder::Remove(ready.reference.path.clone());
    let begun = world
        .backend
        .start_pipeline(&ready.repo, &order, "agent bot");
    let begun = begun.await.expect("a run");
    let is_removing = async |world: &World| requirements(world).await[0].state.word() == "removing";
    Box::pin(world.until(hour(1), "removing", is_removing)).await;
    let (backend, id) = (&world.backend, &ready.reference.id);
    let started = backend.start_requirement(&ready.repo, id, false).await;
    assert!(started.is_err_and(|error| error.to_string().contains("as agent bot asked")));
    let off = world.backend.cancel_pipeline(&begun.id, "ann").await;
    off.expect("a run that is called off");
    let is_ready = async |world: &World| requirements(world).await[0].state.word() == "ready";
    Box::pin(world.until(hour(2), "ready", is_ready)).await;
    assert!(has_files(&world, &ready));
    world.finish().await;
}

/// What breaks the files of the pipeline is not merged, also if Gaffer wrote it: an event would name a requirement that is gone.
#[tokio::test]
async fn a_removal_that_breaks_other_files_is_not_merged() {
    let (world, ready) = ready().await;
    let id = ready.reference.id.to_string();
    let (path, text) = REAL[1];
    let text = text.replace("rea002", "rea009").replace("rea003", &id);
    push(&world, "jules", (&path.replace("rea002", "rea009"), &text));
    let told = removed(&world, &ready.reference.path).await;
    assert!(told[0].starts_with("clean failed"), "{told:?}");
    assert!(has_files(&world, &ready));
    let github = world.sandbox.github();
    let last = github
        .pulls(REPO)
        .into_iter()
        .max()
        .expect("a pull request");
    let mut shown = github.statuses(REPO, &world.pull(last).head_sha);
    shown.sort();
    assert_eq!(shown, ["jules/doctor failure", "jules/scope success"]);
    world.finish().await;
}

#[tokio::test]
async fn files_stay_where_that_is_asked_for_until_a_person_has_them_removed() {
    let (world, ready) = ready().await;
    let path = &ready.reference.path;
    let ask = PipelineAsk {
        layer: Some(Layer::Implementer),
        requirement: Some(path.clone()),
        keep_files: true,
        ..PipelineAsk::default()
    };
    let over = ordered(&world, &PipelineOrder::Only(ask)).await;
    assert_eq!(steps(&over), ["requirements done"]);
    let early = removed(&world, path).await;
    assert!(early[0].contains("is being implemented"), "{early:?}");
    let is_merged = async |world: &World| requirements(world).await[0].state.word() == "merged";
    Box::pin(world.until(hour(3), "merged", is_merged)).await;
    assert!(has_files(&world, &ready));
    assert_eq!(removed(&world, path).await, ["clean done"]);
    assert!(!has_files(&world, &ready));
    let is_tidied = async |world: &World| requirements(world).await[0].state.word() == "tidied";
    Box::pin(world.until(hour(1), "tidied", is_tidied)).await;
    assert_eq!(findings(&world), [""; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_is_no_requirement_is_neither_planned_nor_implemented() {
    let (world, ready) = ready().await;
    let creates = world.sandbox.counters().creates;
    for layer in [Layer::Planner, Layer::Implementer] {
        for (path, why) in [
            ("src/lib.rs", "is no requirement"),
            (
                ".jules/exchange/requirements/../../JULES.md",
                "is no requirement",
            ),
            (".jules/exchange/requirements/gone00-it.yml", "is not there"),
        ] {
            let ask = PipelineAsk {
                layer: Some(layer),
                requirement: Some(path.to_owned()),
                ..PipelineAsk::default()
            };
            let over = ordered(&world, &PipelineOrder::Only(ask)).await;
            let told = steps(&over);
            assert!(
                told[0].contains("failed") && told[0].contains(why),
                "{told:?}"
            );
        }
    }
    assert_eq!(world.sandbox.counters().creates, creates);
    assert_eq!(requirements(&world).await, [ready]);
    world.finish().await;
}

#[tokio::test]
async fn an_event_that_is_added_to_a_requirement_under_way_is_pending_again() {
    let (world, ready) = ready().await;
    let RequirementRef { id, path, .. } = &ready.reference;
    let started = world.backend.start_requirement(&ready.repo, id, false);
    started.await.expect("a start");
    let (event, text) = REAL[1];
    let event = event.replace("rea002", "rea009");
    let text = text
        .replace("rea002", "rea009")
        .replace("rea003", id.as_str());
    let before = tree(&world, "jules");
    let before = before.text(path).expect("a requirement");
    let more = "source_events:\n  - \"rea009\"\n";
    let more = before.replacen("source_events:\n", more, 1);
    assert_ne!(more, before);
    push_all(&world, "jules", &[(path, &more), (&event, &text)]);
    let is_tidied = async |world: &World| requirements(world).await[0].state.word() == "tidied";
    Box::pin(world.until(hour(3), "tidied", is_tidied)).await;
    assert!(!has_files(&world, &ready));
    let after = tree(&world, "jules");
    let pending = event.replace("/decided/", "/pending/");
    let pending = after.text(&pending).expect("a pending event");
    assert!(pending.contains("\nrequirement_id: \"\"\n"), "{pending}");
    assert!(!after.has(&event));
    assert_eq!(findings(&world), [""; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_decider_is_not_shown_a_requirement_that_is_being_implemented() {
    let mut source = piped(rules(Exchange::Auto, Implement::Human));
    // Its delivery waits for a person before its session.
    source.deliveries.checkpoints = Checkpoints::default();
    let (world, ready) = ready_in(source).await;
    let RequirementRef { id, path, .. } = &ready.reference;
    let started = world.backend.start_requirement(&ready.repo, id, false);
    started.await.expect("a start");
    push(&world, "jules", REAL[0]);
    let over = begin_and_end(&world, EntryPoint::Decider).await;
    let [(job, _)] = &members(&over, "decider")[..] else {
        panic!("{:?}", steps(&over));
    };
    let job = world.backend.store.job(job).await.expect("a store");
    let prompt = job.expect("a job").value.prompt;
    assert!(prompt.contains(REAL[0].0), "{prompt}");
    assert!(!prompt.contains(path), "{prompt}");
    let known = requirements(&world).await.into_iter();
    let mut known = known.filter(|it| it.reference.id == *id);
    assert_eq!(known.next().expect("it").state.word(), "implementing");
}
