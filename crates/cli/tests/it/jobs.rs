//! `gaffer job` against the real API over the same data folder, with no dispatcher behind it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use api::ApiState;
use engine::backend::{Backend, IndexEntry};
use engine::machine::{RandomIds, SystemClock};
use engine::ports::{Expect, Key};
use engine::store::Aggregate;
use local::{Database, LocalQueue};
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Value, json};

use crate::world::{Fields, KEY, Told, World, words};

pub(crate) const TOKEN: &str = "gaf_0123456789abcdef0123456789abcdef";

/// Every prompt has its own words, so that it is found again.
const PROMPT: &str = "Add a search box";

/// What the API of a data folder works on.
pub(crate) fn backend(world: &World) -> Backend {
    let database = Database::open(&world.data().join("gaffer.db")).unwrap();
    let clock = Arc::new(SystemClock);
    let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
    let installation = "gtest".parse().unwrap();
    Backend::new(
        Arc::new(local::Store::new(&database)),
        queue,
        clock,
        Arc::new(RandomIds),
        installation,
    )
}

/// Puts a record as the dispatcher leaves it.
pub(crate) async fn put(backend: &Backend, key: Key, value: &impl Serialize) {
    let mut unit = backend.unit();
    unit.put_if(key, value, Expect::Any, IndexEntry::default());
    backend.commit(unit).await.unwrap();
}

/// The same with an aggregate, at its own place.
pub(crate) async fn save<T: Aggregate>(backend: &Backend, id: &T::Id, value: &T) {
    let mut unit = backend.unit();
    unit.put_if(T::key(id), value, Expect::Any, value.index_entry());
    backend.commit(unit).await.unwrap();
}

/// Serves the API on a free port until the test process ends.
pub(crate) fn serve(world: &World) -> SocketAddr {
    let backend = backend(world);
    let state = ApiState {
        answer_within: Duration::from_millis(100),
        ..ApiState::new(backend, vec![SecretString::from(TOKEN)])
    };
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let runtime = crate::world::runtime();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
                .await
                .unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, api::router(state)).await.unwrap();
        });
    });
    told.recv().unwrap()
}

/// A data folder with a source, and the API to it.
pub(crate) fn world() -> World {
    let world = World::with_account();
    world.run(&["source", "add", "acme/shop"]).ok();
    let url = format!("http://{}", serve(&world));
    world.set("GAFFER_URL", url).set("GAFFER_TOKEN", TOKEN)
}

pub(crate) fn create(world: &World) -> String {
    let job = world.json(&["job", "create", "--repo", "acme/shop", "--prompt", PROMPT]);
    job["job"]["job_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_job_is_created_listed_shown_and_explained() {
    let world = world();
    let job = world.json(&[
        "job",
        "create",
        "--repo",
        "acme/shop",
        "--branch",
        "develop",
        "--title",
        "Search",
        "--prompt",
        PROMPT,
    ])["job"]
        .clone();
    job.holds(&json!({ "state": "queued", "branch": "develop", "title": "Search" }));
    let id = job["job_id"].as_str().unwrap();
    assert_eq!(world.json(&["job", "show", id])["job"], job);
    let told = world.json(&["job", "list"]);
    assert_eq!(told, json!({ "jobs": [job], "more": false }));
    let all = world.json(&["job", "list", "--all"]);
    assert_eq!(all, json!({ "jobs": [job], "more": false }));
    for listed in [&["job", "list"][..], &["delivery", "list"]] {
        let told = world.refused(&[listed, &["--repo", "acme/other"]].concat());
        let what = "there is no source `acme/other`";
        told.tells(what, "gaffer source add acme/other");
    }
    for order in [
        &["job", "create", "--prompt", "x", "--repo", "acme/shpo"][..],
        &["pipeline", "start", "acme/shpo"],
    ] {
        let told = world.refused(order);
        let near = "`acme/shpo` (did you mean `acme/shop`?)";
        assert!(told.error.contains(near), "{told:?}");
    }
    let why = world.json(&["job", "why", id]);
    assert_eq!(
        (&why["state"], &why["because"][0]["code"]),
        (&json!("queued"), &json!("queued"))
    );
    for (command, said) in [
        (&["job", "list"][..], "Search"),
        (&["job", "show", id], "acme/shop (develop)"),
        (&["job", "why", id], "has room for it, and it is next"),
        (&["job", "events", id], "It has no events so far"),
        (
            &["pull", "why", "acme/shop#9"],
            "No job of this installation",
        ),
    ] {
        assert!(world.run(command).ok().says(said), "{command:?}");
    }
    world.refused(&["pull", "why", "acme/shop"]).is(2, "usage");
}

#[test]
fn a_prompt_comes_from_a_file_or_standard_input() {
    let world = world();
    let file = world.file("task.md", "Mend the cart\n\nIt loses items.\n");
    let title = |job: &Value| job["job"]["title"].as_str().unwrap().to_owned();
    assert_eq!(
        title(&world.json(&[
            "job",
            "create",
            "--repo",
            "acme/shop",
            "--prompt-file",
            &file
        ])),
        "Mend the cart"
    );
    for dash in [&["-"][..], &["--prompt-file", "-"]] {
        let ran = world
            .feed(
                &[&["--json", "job", "create", "--repo", "acme/shop"], dash].concat(),
                "Mend the till\n",
            )
            .ok();
        assert_eq!(title(&ran.json()), "Mend the till");
    }
    for empty in ["", " \n"] {
        assert_eq!(
            world
                .feed(
                    &["--json", "job", "create", "--repo", "acme/shop", "-"],
                    empty
                )
                .failure()
                .exit,
            2
        );
    }
    let long = "x".repeat(domain::job::PROMPT_BYTES_MAX + 1);
    assert_eq!(
        world
            .feed(
                &["--json", "job", "create", "--repo", "acme/shop", "-"],
                &long
            )
            .failure()
            .exit,
        2
    );
}

#[test]
fn a_job_needs_no_more_than_its_task() {
    let world = world();
    let only = world.json(&["job", "create", PROMPT])["job"].clone();
    only.holds(&json!({ "repo": "acme/shop", "title": PROMPT }));
    let piped = world.feed(&["job", "create"], "Mend the till\n").ok();
    let id = piped.stdout.trim_end();
    assert_eq!(id.len(), 26, "{piped:?}");
    let told = world.json(&["job", "show", id]);
    assert_eq!(told["job"]["title"], "Mend the till");
    let shown = world.run(&["job", "show", "latest"]).ok();
    assert!(shown.says(id) && shown.says("Mend the till"), "{shown:?}");
    world.refused(&["job", "create"]).is(2, "usage");

    // The sources that a server names may be a second old.
    let world = self::world();
    world.run(&["source", "add", "acme/other"]).ok();
    let unclear = world.refused(&["job", "create", PROMPT]);
    unclear.tells("", "acme/other, acme/shop");
    let clone = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        let ran = git.args(arguments).current_dir(clone.path()).output();
        assert!(ran.unwrap().status.success());
    };
    git(&["init", "--quiet"]);
    git(&["remote", "add", "origin", "git@github.com:acme/other.git"]);
    let mut there = world.command(&["job", "create", PROMPT, "--json"]);
    there.current_dir(clone.path());
    let created = crate::world::ran(there, "").ok().json();
    assert_eq!(created["job"]["repo"], "acme/other");
}

#[test]
fn a_job_is_opened_in_the_browser_where_there_is_one() {
    let world = world();
    let id = create(&world);
    world.refused(&["job", "open", &id]).is(1, "no_page");
}

#[test]
fn several_jobs_are_waited_for_and_lists_are_filtered() {
    let world = world();
    let (one, two) = (create(&world), create(&world));
    let queued = world.json(&["job", "list", "--state", "queued,working"]);
    assert_eq!(queued["jobs"].as_array().unwrap().len(), 2);
    world.run(&["job", "cancel", &one]).ok();
    let late = world.refused(&["job", "wait", &one, &two, "--within", "1s"]);
    assert_eq!(late.code, "still_waiting");
    assert!(late.next.contains(&two), "{late:?}");
    world.run(&["job", "cancel", &two]).ok();
    let both = world.json(&["job", "wait", &one, &two]);
    assert_eq!(both["jobs"].as_array().unwrap().len(), 2);
    let queued = world.json(&["job", "list", "--state", "queued"]);
    assert_eq!(queued["jobs"], json!([]));
    let told = world.done(&["job", "list", "--state", "queued,working"]);
    assert!(told.says("No job is queued or working."), "{told:?}");
    let cancelled = world.json(&["job", "list", "--state", "cancelled", "--all"]);
    assert_eq!(cancelled["jobs"].as_array().unwrap().len(), 2);
    let told = world.refused(&["job", "list", "--state", "cancelt"]);
    assert_eq!(told.exit, 2);
    told.tells("", "cancelled");
    let told = world.run(&["pull", "list"]).ok();
    told.tells(&["No pull request is open."]);
    assert_eq!(world.json(&["pull", "list"]), json!({ "pulls": [] }));
}

#[test]
fn what_is_added_is_shown_and_removed_once_nothing_uses_it() {
    let world = world();
    world.run(&["agent", "add", "me"]).ok();
    world.done(&["source", "set", "acme/shop", "--agent", "me"]);
    let source = world.json(&["source", "show", "acme/shop"])["source"].clone();
    source.holds(&json!({ "agent": "me", "account": "default" }));
    let agent = world.json(&["agent", "show", "me"])["agent"].clone();
    agent.holds(&json!({ "sources": ["acme/shop"], "ways": ["inbox"] }));
    let secrets = world.json(&["secret", "list"])["secrets"].clone();
    let key = secrets.as_array().unwrap().iter();
    let key: Vec<_> = key.filter(|it| it["secret"] == "jules/default").collect();
    assert_eq!(key[0]["state"], "stored");
    assert!(!world.run(&["secret", "list"]).ok().says(KEY));

    let id = create(&world);
    for (arguments, used) in [
        (&["source", "remove", "acme/shop"], id.as_str()),
        (&["account", "remove", "default"], "acme/shop"),
    ] {
        let told = world.refused(arguments);
        assert_eq!(told.code, "in_use");
        told.tells(used, "");
    }
    world.run(&["job", "cancel", &id]).ok();
    world.run(&["source", "remove", "acme/shop"]).ok();
    world.run(&["account", "remove", "default"]).ok();
    assert_eq!(world.json(&["source", "list"])["sources"], json!([]));
    assert_eq!(world.json(&["account", "list"])["accounts"], json!([]));
    assert!(!world.data().join("secrets/jules/default").exists());
    for gone in [
        &["source", "show", "acme/shop"],
        &["source", "remove", "acme/shop"],
        &["account", "remove", "default"],
        &["agent", "show", "nobody"],
    ] {
        assert_eq!(world.refused(gone).code, "no_such", "{gone:?}");
    }
    let told = world.json(&["job", "show", &id]);
    assert_eq!(told["job"]["state"], "cancelled");
}

#[test]
fn a_job_can_be_stricter_than_its_source_and_open_no_pull_request() {
    let world = world();
    let order = ["job", "create", "--repo", "acme/shop", "--prompt", PROMPT];
    let strict = ["--require-plan-approval", "--no-pull-request"];
    let job = world.json(&[&order[..], &strict].concat())["job"].clone();
    assert_eq!(job["require_plan_approval"], true);
    assert_eq!(job["automation_mode"], "AUTOMATION_MODE_UNSPECIFIED");
    let id = job["job_id"].as_str().unwrap();
    world.json(&["job", "cancel", id]);
    let shown = world.run(&["job", "show", id]).ok();
    shown.tells(&[
        "wait for somebody",
        "AUTOMATION_MODE_UNSPECIFIED",
        "cancelled by a person at the command line",
    ]);
}

#[test]
fn orders_reach_the_job_and_refusals_keep_their_code() {
    let world = world();
    let id = create(&world);
    for command in [
        &["job", "say", &id, "go on"][..],
        &["job", "approve", &id],
        &["job", "merge", &id],
        &["job", "retry", &id],
    ] {
        let told = world.refused(command);
        assert_eq!(told.exit, 1);
        assert!(!told.code.is_empty(), "{command:?}: {told:?}");
        assert!(told.code != "failed", "{command:?}: {told:?}");
    }
    let told = world.refused(&["job", "merge", &id]);
    assert_eq!(told.code, "no_pull_request");
    assert_eq!(world.json(&["job", "artifacts", &id])["outcome"], "later");
    let cancelled = world.json(&["job", "cancel", &id]);
    assert_eq!(
        (&cancelled["job"]["state"], &cancelled["job"]["ended"]["by"]),
        (&json!("cancelled"), &json!("a person at the command line"))
    );
    assert_eq!(world.refused(&["job", "cancel", &id]).exit, 1);
    assert_eq!(world.json(&["job", "retry", &id])["job"]["state"], "queued");
}

#[test]
fn a_session_is_adopted_once_somebody_has_looked_at_it() {
    let world = world();
    let adopted = world.json(&words("job adopt 1234567890 --repo acme/shop --take-over"));
    assert_eq!(adopted["outcome"], "later");
    let told = world.refused(&["job", "adopt", "1234567890", "--repo", "acme/other"]);
    assert_eq!(told.exit, 1);
    told.tells("acme/other", "");
    assert_eq!(world.refused(&["job", "adopt", "1234567890"]).exit, 2);
}

#[test]
fn what_is_not_there_is_said() {
    let world = world();
    let told = world.refused(&["job", "create", "--repo", "acme/other", "--prompt", PROMPT]);
    assert_eq!(told.exit, 1);
    told.tells("acme/other", "");
    for id in ["01j00000000000000000000000", "123456789"] {
        let told = world.refused(&["job", "show", id]);
        assert!(told.exit == 1 && told.error.contains(id), "{told:?}");
    }
}

#[test]
fn the_token_comes_from_the_environment_or_the_data_folder() {
    let account = World::with_account();
    let url = format!("http://{}", serve(&account));
    let world = account.set("GAFFER_URL", url);
    let none = world.refused(&["job", "list"]);
    none.is(1, "no_token");
    none.tells("", "gaffer up");
    let file = world.file("data/secrets/token", TOKEN);
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
    std::fs::set_permissions(file, mode).unwrap();
    world.run(&["job", "list"]).ok();
    let world = world.set("JULES_API_TOKEN", "wrong");
    let wrong = world.refused(&["job", "list"]);
    assert_eq!(wrong.exit, 1);
    assert!(wrong.next.contains("GAFFER_TOKEN"), "{wrong:?}");
    world.set("GAFFER_TOKEN", TOKEN).run(&["job", "list"]).ok();
}

#[test]
fn the_token_of_a_folder_without_a_process_is_sent_nowhere() {
    let world = World::with_account();
    let file = world.file("data/secrets/token", TOKEN);
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
    std::fs::set_permissions(file, mode).unwrap();
    for command in [&["job", "list"][..], &["dashboard"], &["top"]] {
        let told = world.refused(command);
        told.is(1, "not_running");
        told.tells("not running on this data folder", "");
        for part in ["gaffer up", "--url URL"] {
            assert!(told.next.contains(part), "{told:?}");
        }
    }
}

#[test]
fn googles_key_is_never_sent_to_the_door() {
    let world = world().set("GAFFER_TOKEN", KEY);
    let told = world.refused(&["job", "list"]);
    told.is(1, "bad_token");
    assert!(!told.error.contains(KEY), "{told:?}");
}

#[test]
fn a_door_that_is_closed_says_how_to_open_it() {
    // No process listens on port 1 by accident.
    let world = World::new()
        .set("GAFFER_TOKEN", TOKEN)
        .set("GAFFER_URL", "http://127.0.0.1:1");
    let told = world.refused(&["job", "list"]);
    told.is(1, "not_running");
    told.tells("", "start it with `gaffer up`");
    assert!(!world.data().exists(), "asking an API made a data folder");
}

#[test]
fn the_list_goes_by_repository_and_programs_get_it_on_each_row() {
    let world = world();
    world.run(&["source", "add", "acme/alpha"]).ok();
    create(&world);
    let order = ["job", "create", "--repo", "acme/alpha", "--prompt", PROMPT];
    world.run(&order).ok();
    create(&world);
    let list = world.run(&["job", "list"]).ok().stdout;
    let repos: Vec<_> = list
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(repos, ["acme/alpha", "acme/shop", "acme/shop"], "{list}");
    let rows = world.json(&["job", "list"]);
    let repos = rows["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["repo"].clone());
    assert_eq!(
        repos.collect::<Vec<_>>(),
        ["acme/shop", "acme/alpha", "acme/shop"]
    );
}

#[test]
fn top_is_shown_once_where_no_terminal_reads_it() {
    let world = world();
    let id = create(&world);
    for once in [&["top"][..], &["top", "--once"]] {
        let shown = world.run(once).ok();
        shown.tells(&[
            "1 queued",
            "ACCOUNT",
            "default",
            "Nobody is waited for.",
            "No event yet.",
        ]);
    }
    let told = world.json(&["top", "--once"]);
    assert_eq!(told["jobs"]["queued"], 1);
    assert_eq!(told["accounts"][0]["slots"]["of"], 3);
    told.holds(&json!({ "waiting": [], "events": [] }));
    world.run(&["job", "cancel", &id]).ok();
    let closed = World::new()
        .set("GAFFER_TOKEN", TOKEN)
        .set("GAFFER_URL", "http://127.0.0.1:1");
    closed.refused(&["top"]).is(1, "not_running");
}

#[test]
fn a_watch_that_could_never_do_anything_is_refused_at_once() {
    let world = world();
    let url = ["agent", "add", "bot", "--url", "https://bot.example.com/x"];
    world.run(&url).ok();
    let told = world.refused(&["watch", "--agent", "bot"]);
    told.is(1, "no_inbox");
    told.tells("", "--channel inbox");
    world.run(&["agent", "add", "me"]).ok();
    world.run(&["watch", "--agent", "me", "--once"]).ok();
    for command in ["/nonexistent", "no-such-command"] {
        let watch = ["--json", "watch", "--agent", "me", "--once", "--", command];
        let told = world.run(&watch).failure();
        assert!(told.exit == 2 && told.error.contains(command), "{told:?}");
    }
}
