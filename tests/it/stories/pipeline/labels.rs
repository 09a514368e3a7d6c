//! Labels of requirements: made with their colours, once, whatever dies.

use domain::pipeline::{EntryPoint, Exchange, Implement};
use sandbox::{Fault, FaultKind, Service};
use tests::world::{Moment, REPO, World};

use super::{begin, piped, push, rules, steps, until_over, world_of};

/// A world whose worker branch is there.
async fn world() -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_of(source, Vec::new()).await;
    let bootstrap = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &bootstrap).await;
    world
}

async fn synced(world: &World) -> Vec<String> {
    let begun = begin(world, EntryPoint::Labels).await;
    steps(&until_over(world, &begun).await)
}

/// Each label with its colour.
fn labels(world: &World) -> Vec<(String, String)> {
    let found = world.sandbox.github().labels(REPO).into_iter();
    found.map(|(name, (colour, _))| (name, colour)).collect()
}

fn ours() -> Vec<(String, String)> {
    let five = [
        ("bugs", "d73a4a"),
        ("docs", "0075ca"),
        ("feats", "ff6600"),
        ("refacts", "0e8a16"),
        ("tests", "5319e7"),
    ];
    let owned = |(name, colour): (&str, &str)| (name.to_owned(), colour.to_owned());
    five.map(owned).to_vec()
}

#[tokio::test]
async fn labels_are_made_and_those_that_are_there_get_their_colours() {
    let world = world().await;
    assert_eq!(labels(&world), []);
    assert_eq!(synced(&world).await, ["labels done"]);
    assert_eq!(labels(&world), ours());
    let file = ".jules/github-labels.json";
    let other = r#"{ "schema_version": 1, "issue_labels": { "bugs": { "color": "000000" } } }"#;
    push(&world, "jules", (file, other));
    assert_eq!(synced(&world).await, ["labels done"]);
    let found = labels(&world);
    assert_eq!(found[0], ("bugs".to_owned(), "000000".to_owned()));
    assert_eq!(found[1..], ours()[1..], "others stay");
    let pulls = world.sandbox.github().pulls(REPO);
    assert_eq!(pulls, [1], "the bootstrap's, and no other");
    assert_eq!(world.sandbox.counters().creates, 0);
    world.finish().await;
}

#[tokio::test]
async fn a_process_that_dies_after_any_act_makes_all_labels() {
    let alive = world().await;
    let began = alive.fate.count();
    synced(&alive).await;
    let acts = alive.fate.acts();
    // Those that came less than a second after another one are acts, too.
    let puts = acts.iter().enumerate().skip(began);
    let puts: Vec<_> = puts.filter(|(_, act)| *act == "put_label").collect();
    assert!(puts.len() >= 5, "{acts:?}");
    for (at, act) in puts {
        let world = world().await;
        world.fate.kill_at(at, Moment::After);
        let told = synced(&world).await;
        let when = format!("dying after act {at}, `{act}`");
        assert_eq!(told, ["labels done"], "{when}");
        assert_eq!(labels(&world), ours(), "{when}");
    }
}

#[tokio::test]
async fn a_label_that_may_not_be_made_fails_the_run_with_its_name() {
    let world = world().await;
    let refused = FaultKind::status(403);
    let fault = Fault::new(Service::GitHub, "/labels", refused);
    world.sandbox.faults().add(fault.on("POST"));
    let told = synced(&world).await;
    assert!(
        told[0].starts_with("labels failed") && told[0].contains("the label `bugs` could not"),
        "{told:?}"
    );
}
