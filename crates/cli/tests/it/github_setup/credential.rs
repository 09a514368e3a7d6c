//! The credential that is stored while an App is made, and tokens that are replaced: what works stays until something else does.

use engine::settings::{AppSetup, MadeApp};
use sandbox::Scenario;
use sandbox::github::{APP_ID, DEFAULT_TOKEN};
use serde_json::json;

use super::{Setup, address, browser, clicked, get, wait};
use crate::init::serve;
use crate::jobs;
use crate::world::{Fields, World};

const PEM: &str = include_str!("../../../../sandbox/src/github/routes/app.pem");

/// A world with a repository and a token that works.
fn world() -> World {
    let at = serve(Scenario::default());
    let (jules, github) = (
        format!("http://{at}/jules/v1alpha"),
        format!("http://{at}/github"),
    );
    let world = World::new();
    let bases = ["--jules-base", &jules, "--github-base", &github];
    let init = ["init", "--repo", "acme/shop", "--secrets-stdin"];
    let secrets = format!(
        "JULES_API_KEY={}\nGITHUB_TOKEN={DEFAULT_TOKEN}\n",
        sandbox::DEFAULT_KEY
    );
    world.feed(&[&init[..], &bases].concat(), &secrets).ok();
    world
}

fn token(world: &World, token: &str) -> crate::world::Ran {
    world.feed(&["github", "token", "--json"], token)
}

fn is_key(text: &str) -> bool {
    text.starts_with("-----BEGIN")
}

#[test]
fn a_token_that_works_stays_until_the_app_is_installed() {
    let world = world();
    let mut setup = Setup::start(&world, &[]);
    let install = wait(async {
        let back = clicked(&setup.page).await;
        assert_eq!(get(&back).await, 200);
        address(&mut setup.said)
    });
    setup.child.kill().unwrap();
    setup.end();
    let told = world.json(&["github", "setup", "--within", "0s"]);
    told.holds(&json!({ "in_use": false, "not_installed_on": ["acme"] }));
    assert_eq!(world.secret("github").0, DEFAULT_TOKEN);
    let (key, mode) = world.secret(&format!("apps/{APP_ID}"));
    assert!(is_key(&key) && mode == 0o600);
    // The token still reads, and the next run goes on from there.
    let words = world.run(&["github", "setup", "--within", "0s"]);
    assert!(words.stdout.contains("stays in use"), "{words:?}");
    wait(browser().post(&install).send()).unwrap();
    let told = world.json(&["github", "setup", "--within", "0s"]);
    assert_eq!(told["in_use"], true, "{told}");
    assert!(is_key(&world.secret("github").0));
    let beside = world.data().join("secrets/apps").join(APP_ID.to_string());
    assert!(!beside.exists());
}

#[test]
fn a_token_is_replaced_only_by_one_that_reads() {
    let world = world();
    for (bad, exit, code) in [
        ("ghp_wrong", 1, "bad_token"),
        ("AIzahunter2", 2, "usage"),
        ("", 2, "usage"),
    ] {
        let told = token(&world, bad).failure();
        told.is(exit, code);
        assert!(!told.error.contains("hunter2"));
        assert_eq!(world.secret("github").0, DEFAULT_TOKEN);
    }
    let file = world.file("app.pem", PEM);
    let id = APP_ID.to_string();
    let setup = ["github", "setup", "--within", "0s"];
    let take = [&setup[..], &["--app-id", &id, "--key-file", &file]].concat();
    assert_eq!(world.json(&take)["in_use"], true);
    assert!(is_key(&world.secret("github").0));
    // From the App back to a token, and from the token back to the App.
    let told = token(&world, DEFAULT_TOKEN).ok().json();
    assert_eq!(told["reads"], json!(["acme/shop"]));
    assert_eq!(world.secret("github").0, DEFAULT_TOKEN);
    let again = world.json(&setup);
    again.holds(&json!({ "app_id": APP_ID, "in_use": true }));
    assert!(is_key(&world.secret("github").0));
}

/// The stage that a run leaves which dies after GitHub made another App and before that App's key was kept.
fn died_making(world: &World, id: u64) {
    let made = AppSetup::Made(MadeApp {
        id,
        slug: "another".to_owned(),
        page: "https://github.example/apps/another".to_owned(),
    });
    wait(jobs::save(&jobs::backend(world), &(), &made));
}

#[test]
fn the_key_of_an_older_app_is_not_taken_for_a_newer_ones() {
    let world = world();
    let file = world.file("app.pem", PEM);
    let id = APP_ID.to_string();
    let setup = ["github", "setup", "--within", "0s"];
    let take = [&setup[..], &["--app-id", &id, "--key-file", &file]].concat();
    world.json(&take);
    died_making(&world, 7);
    world.refused(&setup).is(1, "key_lost");
}

#[test]
fn a_key_file_that_says_nothing_is_refused() {
    let world = world();
    let file = world.file("app.pem", PEM);
    let alone = world.refused(&["github", "setup", "--key-file", &file]);
    assert_eq!(alone.exit, 2);
    alone.tells("", "--app-id");
    let absent = world.data().join("no.pem").display().to_string();
    let take = ["github", "setup", "--app-id", "7", "--key-file", &absent];
    let absent_told = world.refused(&take);
    assert_eq!(absent_told.exit, 2, "{absent_told:?}");
    assert!(absent_told.error.contains(&absent), "{absent_told:?}");
    assert_eq!(world.secret("github").0, DEFAULT_TOKEN);
}
