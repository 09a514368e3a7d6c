//! `gaffer job` against the real door over the same data folder, with no dispatcher behind it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use api::DoorState;
use engine::desk::Desk;
use engine::machine::{RandomIds, SystemClock};
use local::{Database, LocalQueue};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::world::{KEY, World};

pub(crate) const TOKEN: &str = "gaf_0123456789abcdef0123456789abcdef";

/// Every prompt has its own words, so that it is found again.
const PROMPT: &str = "Add a search box";

/// Serves the door on a free port until the test process ends.
pub(crate) fn serve(world: &World) -> SocketAddr {
    let database = Database::open(&world.data().join("gaffer.db")).unwrap();
    let clock = Arc::new(SystemClock);
    let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
    let installation = "gtest".parse().unwrap();
    let desk = Desk::new(
        Arc::new(local::Store::new(&database)),
        queue,
        clock,
        Arc::new(RandomIds),
        installation,
    );
    let state = DoorState {
        answer_within: Duration::from_millis(100),
        ..DoorState::new(desk, vec![SecretString::from(TOKEN)])
    };
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
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

/// A data folder with a source, and the door to it.
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
    assert_eq!(
        (&job["state"], &job["branch"], &job["title"]),
        (&json!("queued"), &json!("develop"), &json!("Search"))
    );
    let id = job["job_id"].as_str().unwrap();
    assert_eq!(world.json(&["job", "show", id])["job"], job);
    assert_eq!(
        world.json(&["job", "list"]),
        json!({ "jobs": [job], "more": false })
    );
    let all = world.json(&["job", "list", "--all"]);
    assert_eq!(all, json!({ "jobs": [job], "more": false }));
    assert_eq!(
        world.json(&["job", "list", "--repo", "acme/other"])["jobs"],
        json!([])
    );
    let why = world.json(&["job", "why", id]);
    assert_eq!(
        (&why["state"], &why["because"][0]["code"]),
        (&json!("queued"), &json!("queued"))
    );
    for (command, said) in [
        (&["job", "list"][..], "Search"),
        (&["job", "show", id], "acme/shop (develop)"),
        (&["job", "why", id], "has room for it, and it is next"),
        (&["job", "events", id], "Nobody had to know"),
        (
            &["pull", "why", "acme/shop#9"],
            "No job of this installation",
        ),
    ] {
        assert!(world.run(command).ok().says(said), "{command:?}");
    }
    let told = world.refused(&["pull", "why", "acme/shop"]);
    assert_eq!((told.exit, told.code.as_str()), (2, "usage"));
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
                .told()
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
            .told()
            .exit,
        2
    );
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
    for words in [
        "wait for somebody",
        "AUTOMATION_MODE_UNSPECIFIED",
        "called off by a person at the command line",
    ] {
        assert!(shown.says(words), "{words}: {shown:?}");
    }
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
        assert!(
            told.exit == 1 && !told.code.is_empty() && told.code != "failed",
            "{command:?}: {told:?}"
        );
    }
    assert_eq!(
        world.refused(&["job", "merge", &id]).code,
        "no_pull_request"
    );
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
    let adopted = world.json(&[
        "job",
        "adopt",
        "1234567890",
        "--repo",
        "acme/shop",
        "--take-over",
    ]);
    assert_eq!(adopted["outcome"], "later");
    let told = world.refused(&["job", "adopt", "1234567890", "--repo", "acme/other"]);
    assert!(
        told.exit == 1 && told.error.contains("acme/other"),
        "{told:?}"
    );
    assert_eq!(world.refused(&["job", "adopt", "1234567890"]).exit, 2);
}

#[test]
fn what_is_not_there_is_said() {
    let world = world();
    let told = world.refused(&["job", "create", "--repo", "acme/other", "--prompt", PROMPT]);
    assert!(
        told.exit == 1 && told.error.contains("acme/other"),
        "{told:?}"
    );
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
    assert_eq!((none.exit, none.code.as_str()), (1, "no_token"));
    assert!(none.next.contains("gaffer up"), "{none:?}");
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
fn googles_key_is_never_sent_to_the_door() {
    let world = world().set("GAFFER_TOKEN", KEY);
    let told = world.refused(&["job", "list"]);
    assert_eq!((told.exit, told.code.as_str()), (1, "bad_token"));
    assert!(!told.error.contains(KEY), "{told:?}");
}

#[test]
fn a_door_that_is_closed_says_how_to_open_it() {
    // Nobody can listen on port 1 without being asked to.
    let world = World::new()
        .set("GAFFER_TOKEN", TOKEN)
        .set("GAFFER_URL", "http://127.0.0.1:1");
    let told = world.refused(&["job", "list"]);
    assert_eq!((told.exit, told.code.as_str()), (1, "not_running"));
    assert!(told.next.contains("start it with `gaffer up`"), "{told:?}");
    assert!(!world.data().exists(), "asking a door made a data folder");
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
        for part in [
            "1 queued",
            "ACCOUNT",
            "default",
            "Nobody is waited for.",
            "No event yet.",
        ] {
            assert!(shown.says(part), "{part}: {shown:?}");
        }
    }
    let told = world.json(&["top", "--once"]);
    assert_eq!(told["jobs"]["queued"], 1);
    assert_eq!(told["accounts"][0]["slots"]["of"], 3);
    assert_eq!(
        (&told["waiting"], &told["events"]),
        (&json!([]), &json!([]))
    );
    world.run(&["job", "cancel", &id]).ok();
    let closed = World::new()
        .set("GAFFER_TOKEN", TOKEN)
        .set("GAFFER_URL", "http://127.0.0.1:1");
    let told = closed.refused(&["top"]);
    assert_eq!((told.exit, told.code.as_str()), (1, "not_running"));
}
