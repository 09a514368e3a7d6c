//! `gaffer github setup` against the sandbox's GitHub: a browser's clicks, codes that are pasted, used or foreign,
//! and runs that were interrupted.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use sandbox::github::{APP_ID, DEFAULT_TOKEN};
use sandbox::{DEFAULT_KEY, Scenario};
use serde_json::{Value, json};

use crate::init::serve;
use crate::world::{Fields, HeldPort, Ran, World};

mod credential;

/// A browser without cookies.
fn browser() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    crate::world::runtime().block_on(work)
}

/// A `gaffer github setup` whose page is open.
struct Setup {
    child: Child,
    page: String,
    said: BufReader<std::process::ChildStderr>,
}

impl Setup {
    fn start(world: &World, more: &[&str]) -> Self {
        let arguments = [&["github", "setup", "--json"], more].concat();
        let mut child = world
            .command(&arguments)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let page = address(&mut said);
        Self { child, page, said }
    }

    /// Lets it end.
    fn end(self) -> Ran {
        let output = self.child.wait_with_output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::new(),
        }
    }
}

/// The first address of the next line.
fn address(said: &mut BufReader<std::process::ChildStderr>) -> String {
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let (_, rest) = line
        .split_once("http://")
        .unwrap_or_else(|| panic!("{line}"));
    format!("http://{}", rest.split_whitespace().next().unwrap())
}

/// What a form on the page sends, and where.
async fn form(page: &str) -> (String, String) {
    let html = browser()
        .get(page)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let between = |from: &str, to: &str| {
        let rest = html.split_once(from).unwrap().1;
        rest.split_once(to)
            .unwrap()
            .0
            .replace("&quot;", "\"")
            .replace("&amp;", "&")
    };
    (between("action=\"", "\""), between("value=\"", "\""))
}

/// Clicks through the page; answers the address that GitHub goes back to.
async fn clicked(page: &str) -> String {
    let (action, manifest) = form(page).await;
    let body: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("manifest", &manifest)
        .finish();
    let kind = "application/x-www-form-urlencoded";
    let answer = browser()
        .post(action)
        .header("content-type", kind)
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 302);
    answer.headers()["location"].to_str().unwrap().to_owned()
}

async fn get(url: &str) -> u16 {
    browser().get(url).send().await.unwrap().status().as_u16()
}

fn world() -> (World, String) {
    let at = serve(Scenario::default());
    let base = format!("http://{at}/github");
    let world = World::new().set("GITHUB_API_BASE", base.clone());
    (world, base)
}

fn stored_app(world: &World) -> Value {
    world.json(&["github", "setup", "--within", "0s"])
}

#[test]
fn an_app_is_made_kept_and_installed_with_a_few_clicks() {
    let (world, base) = world();
    let hook = "https://gaffer.example.com/github/webhook";
    let mut setup = Setup::start(&world, &["--webhook-url", hook]);
    wait(async {
        let back = clicked(&setup.page).await;
        assert_eq!(get(&back).await, 200);
        let install = address(&mut setup.said);
        assert_eq!(
            install,
            format!("{base}/apps/gaffer-sandbox/installations/new")
        );
        browser().post(&install).send().await.unwrap();
    });
    let ran = setup.end().ok();
    assert_eq!(ran.json()["installed_on"], json!(["acme"]), "{ran:?}");
    let (key, mode) = world.secret("github");
    assert!(key.starts_with("-----BEGIN RSA PRIVATE KEY-----") && mode == 0o600);
    assert_eq!(world.secret("webhook").0, "sandbox-app-webhook");
    assert!(!ran.says("PRIVATE KEY") && !ran.says("sandbox-app-webhook"));
    assert!(!world.stored("PRIVATE KEY") && !world.stored("sandbox-app-webhook"));
    // It is found again, and nothing is made anew.
    assert_eq!(stored_app(&world)["app_id"], APP_ID);
}

#[test]
fn a_code_can_be_pasted_and_works_once() {
    let (world, _) = world();
    let mut setup = Setup::start(&world, &[]);
    let back = wait(clicked(&setup.page));
    setup.child.kill().unwrap();
    setup.end();
    // The run was interrupted; GitHub's address is still good.
    let pasted = |more: &[&str], text: &str| {
        let setup = ["github", "setup", "--code-stdin", "--json"];
        world.feed(&[&setup[..], more].concat(), text)
    };
    let made = pasted(&["--within", "0s"], &back).ok().json();
    made.holds(&json!({ "app_id": APP_ID, "installed_on": [] }));
    assert!(!world.data().join("secrets/webhook").exists());
    let code = back
        .split_once("code=")
        .unwrap()
        .1
        .split('&')
        .next()
        .unwrap();
    let told = pasted(&[], code).failure();
    told.is(1, "code_used");
    assert!(!told.error.contains(code), "{told:?}");
    let foreign = back.replace("state=", "state=f");
    pasted(&[], &foreign).failure().is(1, "wrong_state");
    let odd = pasted(&[], "a b").failure();
    assert_eq!(odd.exit, 2, "{odd:?}");
    // All users of the machine can read arguments.
    let argument = world.refused(&["github", "setup", "--code", code]);
    assert_eq!(argument.exit, 2, "{argument:?}");
}

#[test]
fn an_interrupted_run_goes_on_with_the_same_page() {
    let (world, _) = world();
    let port = HeldPort::take();
    let first = Setup::start(&world, &["--listen", &port.address()]);
    let (page, back) = (first.page.clone(), wait(clicked(&first.page)));
    let mut first = first;
    first.child.kill().unwrap();
    first.end();
    let mut second = Setup::start(&world, &[]);
    assert_eq!(second.page, page);
    wait(async {
        assert_eq!(get(&back).await, 200);
        let install = address(&mut second.said);
        browser().post(&install).send().await.unwrap();
    });
    let ran = second.end();
    assert_eq!(ran.json()["app_id"], APP_ID, "{ran:?}");
}

#[test]
fn the_page_answers_nobody_elses_name_state_or_code() {
    let (world, _) = world();
    let mut setup = Setup::start(&world, &[]);
    let page = setup.page.trim_end_matches('/').to_owned();
    wait(async {
        let told = get(&format!("{page}/made?code=abc&state=guessed")).await;
        assert_eq!(told, 400);
        let rebound = browser()
            .get(&page)
            .header("host", "evil.example")
            .send()
            .await;
        assert_eq!(rebound.unwrap().status(), 404);
    });
    // It still waits for its own code.
    assert!(setup.child.try_wait().unwrap().is_none());
    setup.child.kill().unwrap();
    assert_eq!(setup.end().stdout, "");
    let ran = world.run(&["github", "setup", "--within", "0s", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.says("no_code"), "{ran:?}");
    assert!(!world.data().join("secrets/github").exists());
    let open = world.refused(&["github", "setup", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.exit, 2, "{open:?}");
}

#[test]
fn an_app_made_by_hand_is_taken_with_its_key() {
    let (world, _) = world();
    let key = include_str!("../../../sandbox/src/github/routes/app.pem");
    let file = world.file("app.pem", key);
    let of = |id: &str| {
        [
            "github",
            "setup",
            "--within",
            "0s",
            "--app-id",
            id,
            "--key-file",
        ]
        .map(str::to_owned)
    };
    let run = |id: &str, file: &str| {
        let mut arguments = of(id).to_vec();
        arguments.push(file.to_owned());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        world.run(&[&arguments[..], &["--json"]].concat())
    };
    run("7", &file).failure().is(1, "key_refused");
    assert!(!world.data().join("secrets/github").exists());
    let taken = run(&APP_ID.to_string(), &file).ok().json();
    taken.holds(&json!({ "installed_on": ["acme"] }));
    assert!(world.secret("github").0.starts_with("-----BEGIN"));
}

/// A run that stopped after GitHub had made the App and before its key was kept.
#[test]
fn a_lost_key_is_told_with_the_way_out() {
    let (world, _) = world();
    let mut setup = Setup::start(&world, &[]);
    let back = wait(clicked(&setup.page));
    setup.child.kill().unwrap();
    setup.end();
    // The folder of secrets cannot be written: the exchange works, the keeping does not.
    let secrets = world.file("data/secrets", "");
    let code = [
        "github",
        "setup",
        "--within",
        "0s",
        "--code-stdin",
        "--json",
    ];
    let failed = world.feed(&code, &back).failure();
    assert_eq!(failed.exit, 1, "{failed:?}");
    std::fs::remove_file(secrets).unwrap();
    let told = world.refused(&["github", "setup", "--within", "0s"]);
    told.is(1, "key_lost");
    told.tells("", "--key-file");
    let file = world.file(
        "app.pem",
        include_str!("../../../sandbox/src/github/routes/app.pem"),
    );
    world.json(&["github", "setup", "--within", "0s", "--key-file", &file]);
}

/// The permissions that the App asks for are enough to merge, and `gaffer up` uses it without an option.
#[test]
fn an_app_with_the_least_permissions_merges() {
    let at = serve(Scenario::default());
    let (jules, github) = (
        format!("http://{at}/jules/v1alpha"),
        format!("http://{at}/github"),
    );
    let world = World::new();
    let init = [
        "init",
        "--repo",
        "acme/shop",
        "--secrets-stdin",
        "--merge",
        "on-green",
        "--plan-approval",
        "auto",
        "--settle",
        "1s",
        "--pull-poll",
        "2s",
        "--jules-base",
        &jules,
        "--github-base",
        &github,
    ];
    let secrets = format!("JULES_API_KEY={DEFAULT_KEY}\nGITHUB_TOKEN={DEFAULT_TOKEN}\n");
    world.feed(&init, &secrets).ok();
    let mut setup = Setup::start(&world, &[]);
    wait(async {
        let back = clicked(&setup.page).await;
        assert_eq!(get(&back).await, 200);
        let install = address(&mut setup.said);
        browser().post(&install).send().await.unwrap();
    });
    setup.end().ok();
    let mut up = world
        .command(&["up", "--listen", "127.0.0.1:0", "--no-webhooks", "--json"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut out = BufReader::new(up.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    let told: Value = serde_json::from_str(&first).unwrap();
    let url = told["url"].as_str().unwrap();
    let job =
        |arguments: &[&str]| world.run(&[&["job", "--url", url, "--json"], arguments].concat());
    let created = job(&[
        "create",
        "--repo",
        "acme/shop",
        "--prompt",
        "Add a search box",
    ])
    .ok()
    .json();
    let id = created["job"]["job_id"].as_str().unwrap();
    let merged = job(&["wait", id, "--until", "merged", "--within", "5m"]);
    let why = job(&["why", id]);
    up.kill().unwrap();
    up.wait().unwrap();
    assert_eq!(merged.code, 0, "{merged:?} {why:?}");
}
