//! A named stream beside the one of every repository: agents of its own, and files that never mix.

use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, PipelineAsk};
use engine::pipelines::PipelineOrder;
use engine::work::Work;
use sandbox::story::Story;
use tests::world::{REPO, World, hour};

use super::trials::REAL;
use super::{
    CONFIG, begin, begin_and_end, files_with, findings, layered, members, piped, push_all,
    requirements, rules, run, steps, tree, until_over, world_with,
};

const STREAM: &str = ".jules/workstreams/backend/exchange";

fn config() -> String {
    format!(
        "{CONFIG}\n[workstreams.backend]\nobservers = [{{ name = \"qa\" }}]\n\n[workstreams.off]\nenabled = false\nobservers = [{{ name = \"qa\" }}]\n"
    )
}

#[tokio::test]
async fn each_stream_has_its_own_events_and_requirements() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_with(source, vec![Story::layer()], files_with(&config())).await;
    let over = begin_and_end(&world, EntryPoint::Observers).await;
    assert_eq!(
        steps(&over),
        [
            "bootstrap done",
            "observers done",
            "decider done",
            "planner done",
            "requirements done",
        ],
        "{}",
        world.story().await
    );
    assert_eq!(
        members(&over, "observers").len(),
        3,
        "two, and one of the stream"
    );
    assert_eq!(members(&over, "decider").len(), 2, "one for each stream");
    assert_eq!(findings(&world), [""; 0]);
    let found = requirements(&world).await;
    let of_stream: Vec<_> = found
        .iter()
        .filter(|it| it.reference.path.starts_with(STREAM))
        .collect();
    let [of_stream] = of_stream[..] else {
        panic!("{found:?}");
    };
    assert_eq!(found.len(), 2);
    assert!(!of_stream.reference.events.is_empty());
    for it in &found {
        let is_of_stream = it.reference.path.starts_with(STREAM);
        for event in &it.reference.events {
            assert_eq!(event.starts_with(STREAM), is_of_stream, "{event}");
        }
    }
    let id = &of_stream.reference.id;
    let repo = REPO.parse().expect("a repository");
    let started = world.backend.start_requirement(&repo, id, false).await;
    assert_eq!(started.expect("a start").state.word(), "implementing");
    let is_tidied = async |world: &World| {
        let found = requirements(world).await;
        found.iter().any(|it| it.state.word() == "tidied")
    };
    Box::pin(world.until(hour(3), "tidied", is_tidied)).await;
    let worker = tree(&world, "jules");
    assert!(!worker.has(&of_stream.reference.path));
    assert!(worker.has_folder(&format!("{STREAM}/requirements")));
    assert!(!worker.has_folder(".jules/workstreams/off"));
    assert_eq!(findings(&world), [""; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_stream_that_is_not_there_costs_no_session() {
    let world = layered(Exchange::Auto, Implement::Human).await;
    let bootstrap = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &bootstrap).await;
    let asked = [
        (Layer::Observers, Some("qa")),
        (Layer::Observers, None),
        (Layer::Decider, None),
    ];
    for (layer, role) in asked {
        let ask = PipelineAsk {
            layer: Some(layer),
            role: role.map(|role| role.parse().expect("a role")),
            stream: Some("backend".parse().expect("a stream")),
            ..PipelineAsk::default()
        };
        let repo = REPO.parse().expect("a repository");
        let order = PipelineOrder::Only(ask);
        let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
        let over = until_over(&world, &begun.expect("a run")).await;
        let told = steps(&over);
        let why = "failed (the stream `backend` has no folder `.jules/workstreams/backend/`";
        assert!(told[0].contains(why), "{told:?}");
    }
    assert_eq!(world.sandbox.counters().creates, 0);
    world.finish().await;
}

#[tokio::test]
async fn which_requirements_are_taken_is_read_once_for_the_deciders_of_all_streams() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_with(source, vec![Story::layer()], files_with(&config())).await;
    let bootstrap = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &bootstrap).await;
    let (path, text) = REAL[0];
    let path = path.replace(".jules/exchange", STREAM);
    let (path, text) = (
        path.replace("rea001", "rea009"),
        text.replace("rea001", "rea009"),
    );
    push_all(&world, "jules", &REAL);
    push_all(&world, "jules", &[(path.as_str(), text.as_str())]);
    let order = PipelineOrder::Only(PipelineAsk {
        layer: Some(Layer::Decider),
        ..PipelineAsk::default()
    });
    let repo = REPO.parse().expect("a repository");
    let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
    let begun = begun.expect("a run");
    let before = world.ledger.read().len();
    let work = Work::Pipeline {
        id: begun.id.clone(),
    };
    let handled = Box::pin(world.dispatcher.handle(&work)).await;
    handled.expect("handled");
    let deciders = members(&run(&world, &begun).await, "decider");
    assert_eq!(deciders.len(), 2, "{deciders:?}");
    for (job, _) in deciders {
        world.backend.must_job(&job).await.expect("a job");
    }
    let read = world.ledger.read().into_iter().skip(before);
    let requirements = read.filter(|key| key.pk.starts_with("REQ#"));
    assert_eq!(requirements.count(), 1);
}
