//! `gaffer init` from the command line: what it stores, keeps, prints and refuses.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use sandbox::github::{DEFAULT_TOKEN, RepoSetup};
use sandbox::{DEFAULT_KEY, Options, Sandbox, Scenario};
use serde_json::json;

use crate::world::{Fields, KEY, Told, World};

/// A sandbox until the test process ends.
pub(crate) fn serve(scenario: Scenario) -> SocketAddr {
    serve_prepared(scenario, |_| ()).0
}

/// The same, prepared before the first request.
pub(crate) fn serve_prepared<T: Send + 'static>(
    scenario: Scenario,
    prepare: impl FnOnce(&Sandbox) -> T + Send + 'static,
) -> (SocketAddr, T) {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let runtime = crate::world::runtime();
        runtime.block_on(async {
            let sandbox = Sandbox::start(Options::real_time(scenario)).await.unwrap();
            let taken = prepare(&sandbox);
            tell.send((sandbox.addr(), taken)).unwrap();
            std::future::pending::<()>().await;
        });
    });
    told.recv().unwrap()
}

fn world(scenario: Scenario) -> World {
    let at = serve(scenario);
    World::new()
        .set("JULES_API_BASE", format!("http://{at}/jules/v1alpha"))
        .set("GITHUB_API_BASE", format!("http://{at}/github"))
}

fn env_file(key: &str, token: &str) -> String {
    format!("OTHER=1\nJULES_API_KEY={key}\nGITHUB_TOKEN={token}\n")
}

const INIT: [&str; 5] = ["init", "--repo", "acme/shop", "--secrets-stdin", "--json"];

#[test]
fn secrets_from_standard_input_are_stored_for_their_owner_alone_and_told_nowhere() {
    let world = world(Scenario::default());
    let ran = world
        .feed(&INIT, &env_file(DEFAULT_KEY, DEFAULT_TOKEN))
        .ok();
    ran.lacks(&[DEFAULT_KEY, DEFAULT_TOKEN]);
    let told = world.secret("jules/default");
    assert_eq!(told, (DEFAULT_KEY.to_owned(), 0o600));
    assert_eq!(world.secret("github"), (DEFAULT_TOKEN.to_owned(), 0o600));
    assert!(!world.stored(DEFAULT_KEY) && !world.stored(DEFAULT_TOKEN));
    let source = &ran.json()["source"];
    assert_eq!(source["branch"], "main");
    source["policy"].holds(&json!({ "merge": "human", "plan_approval": "human" }));
    // The doctor runs last, and it read the addresses that were just stored.
    let doctor = &ran.json()["doctor"];
    assert_eq!(doctor["errors"], 0, "{doctor}");
}

#[test]
fn a_second_run_keeps_what_is_there_and_tells_what_differs() {
    let world = world(Scenario::default());
    world
        .feed(&INIT, &env_file(DEFAULT_KEY, DEFAULT_TOKEN))
        .ok();
    let before = world.json(&["source", "list"]);
    let same = world.feed(&INIT, "").ok().json();
    assert_eq!(same["notes"]["differs"], json!([]), "{same}");
    let agent = [
        "--merge",
        "on-green",
        "--agent-url",
        "http://127.0.0.1:9/wake",
    ];
    let other = world.feed(
        &[&INIT[..], &agent].concat(),
        &env_file("other-key", DEFAULT_TOKEN),
    );
    assert!(other.code == 1 && !other.says("other-key"), "{other:?}");
    let differs = other.json()["notes"]["differs"].to_string();
    differs.tells(&[
        "the Jules key",
        "gaffer account add default --replace-key",
        "merge is \\\"human\\\", not \\\"on-green\\\"",
        "agent is null, not \\\"helper\\\"",
        "gaffer source set acme/shop --merge on-green",
        "gaffer source set acme/shop --agent helper",
    ]);
    assert_eq!(world.json(&["source", "list"]), before);
    assert_eq!(world.secret("jules/default").0, DEFAULT_KEY);
}

#[test]
fn what_is_missing_or_wrong_is_told_with_the_way_out() {
    let world = world(Scenario {
        repos: vec![RepoSetup::new("acme/shop"), RepoSetup::new("acme/site")],
        ..Scenario::default()
    });
    let told = world.refused(&["init", "--repo", "acme/shop"]);
    told.is(2, "usage");
    told.tells("", "JULES_API_KEY");
    let bad = world.feed(&INIT, &env_file(KEY, DEFAULT_TOKEN)).failure();
    bad.is(1, "bad_key");
    let kind = world
        .feed(&INIT, &env_file("ghp_01234567890123456789", ""))
        .failure();
    assert_eq!(kind.exit, 2);
    kind.tells("is a GitHub token", "");
    let absent = ["init", "--repo", "acme/shpo", "--secrets-stdin", "--json"];
    let absent = world
        .feed(&absent, &env_file(DEFAULT_KEY, DEFAULT_TOKEN))
        .failure();
    // What was stored before the failure is reported, since it stays.
    absent.tells("account `default` is added", "");
    assert!(!bad.error.contains("stored"), "{bad:?}");
    absent.is(1, "not_connected");
    absent.tells("the nearest are acme/shop", "jules.google.com");
    // People get rows, as when all goes well, and a short line of what failed.
    let rows = world.feed(
        &["init", "--repo", "acme/shpo", "--secrets-stdin"],
        &env_file(DEFAULT_KEY, DEFAULT_TOKEN),
    );
    assert_eq!(rows.code, 1);
    rows.begins("done     Jules takes the key\n");
    assert!(
        rows.stderr
            .starts_with("gaffer: Jules does not see acme/shpo"),
        "{rows:?}"
    );
    assert!(rows.stderr.lines().all(|line| line.len() < 300), "{rows:?}");
    let token = world
        .feed(&INIT, &env_file(DEFAULT_KEY, "ghp_wrong"))
        .failure();
    token.is(1, "bad_token");
    assert!(!world.data().join("secrets/github").exists());
}

#[test]
fn where_jules_and_github_are_is_remembered() {
    let at = serve(Scenario::default());
    let world = World::new();
    let (jules, github) = (
        format!("http://{at}/jules/v1alpha"),
        format!("http://{at}/github"),
    );
    let bases = ["--jules-base", &jules, "--github-base", &github];
    world
        .feed(
            &[&INIT[..], &bases].concat(),
            &env_file(DEFAULT_KEY, DEFAULT_TOKEN),
        )
        .ok();
    // Neither is said again, and neither Google nor GitHub is asked.
    world.feed(&INIT, "").ok();
}

/// It ends as the doctor does: the exit code alone shows that something is wrong.
#[test]
fn errors_of_the_doctor_end_it_with_1_and_what_is_done_stays() {
    let unreachable = ["--agent-url", "http://127.0.0.1:9/wake"];
    let no_branch = ["--branch", "nope"];
    for (more, token, code) in [
        (&[][..], "", "github_missing"),
        (&unreachable, DEFAULT_TOKEN, "agent_address"),
        (&no_branch, DEFAULT_TOKEN, "base_missing"),
    ] {
        let world = world(Scenario::default());
        let secrets = env_file(DEFAULT_KEY, token);
        let ran = world.feed(&[&INIT[..], more].concat(), &secrets);
        assert_eq!(ran.code, 1, "{ran:?}");
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let findings = answer["doctor"]["findings"].to_string();
        assert!(findings.contains(code), "{code}: {findings}");
        assert_eq!(answer["source"]["repo"], "acme/shop");
        let told: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(told["code"], "unhealthy", "{told}");
        assert!(
            told["next"].as_str().unwrap().contains("gaffer doctor"),
            "{told}"
        );
        let told = world.json(&["source", "list"]);
        assert_eq!(told["sources"][0]["repo"], "acme/shop");
        // The output must not suggest starting what does not work.
        let words: Vec<&str> = INIT.into_iter().filter(|word| *word != "--json").collect();
        let again = world.feed(&words, "");
        assert_eq!(again.code, 1, "{again:?}");
        again.tells(&["then `gaffer doctor`"]);
        again.lacks(&["Start it with"]);
    }
}
