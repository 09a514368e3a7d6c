//! The App's private key and the tokens that are made with it, repeated by every service that gets them.

use sandbox::github::{APP_ID, AppSetup};
use sandbox::{Fault, Service};
use tests::world::{MINUTE, SECOND, World, from_work, hour, scenario, story};

use super::sinks::{Heard, all, leaks, listen};
use super::stories::{Canaries, refusal};

const KEY: &str = include_str!("../../crates/github/tests/it/keys/app.pem");

/// The key without the lines around it, which are no secret.
fn letters() -> String {
    KEY.lines().filter(|line| !line.starts_with('-')).collect()
}

/// Whatever is asked of GitHub at some address is refused for a while, with a text that repeats a secret.
async fn refused(world: &World, path: &str, secret: &str) {
    for code in [401, 403, 404, 422, 500] {
        let fault = Fault::new(
            Service::GitHub,
            path,
            refusal(Service::GitHub, code, secret),
        );
        world.sandbox.faults().add(fault.next(4));
        world.pass(MINUTE * 2).await;
        world.sandbox.faults().clear();
    }
}

async fn suspended(world: &World, suspended: bool) {
    world.sandbox.github().set_app(AppSetup {
        suspended,
        ..AppSetup::default()
    });
    world.pass(hour(1)).await;
}

#[tokio::test]
async fn neither_the_key_of_an_app_nor_its_tokens_come_out() {
    listen();
    let mut canaries = Canaries::new(40, true);
    KEY.clone_into(&mut canaries.github);
    let scenario = scenario(vec![story("working", from_work(vec![]))]);
    let world = canaries.world_as(scenario, Some(APP_ID)).await;
    world.secrets.put("github", KEY);
    world.submit("working").await;
    world.pass(SECOND * 8).await;
    let minted = world.sandbox.github().minted_tokens();
    assert!(!minted.is_empty(), "{}", world.story().await);
    refused(&world, "", &minted[0]).await;
    refused(&world, "/access_tokens", KEY).await;
    suspended(&world, true).await;
    world.secrets.put("github", &format!("{KEY}\u{7}{KEY}"));
    world.pass(MINUTE * 20).await;
    world.secrets.put("github", KEY);
    suspended(&world, false).await;
    assert_eq!(
        world.sandbox.counters().merges,
        1,
        "{}",
        world.story().await
    );

    let minted = world.sandbox.github().minted_tokens();
    assert!(minted.len() > 1, "{minted:?}");
    let secrets = [canaries.all(), minted, vec![letters()]].concat();
    let found = leaks(&all(&world, &Heard::default()).await, &secrets);
    assert!(found.is_empty(), "{found:#?}");
    // And it would have been found.
    let planted = vec![(
        super::sinks::Sink::Row,
        format!("a {} b", &letters()[200..240]),
    )];
    assert_eq!(leaks(&planted, &secrets).len(), 1);
    world.finish().await;
}
