//! Stories in which every credential is used and every service repeats it: in refusals, in headers, in addresses, in
//! questions and in logs.

use std::panic::AssertUnwindSafe;

use engine::ports::{Key, Record, Write};
use jiff::SignedDuration;
use sandbox::github::{CheckSetup, Outcome, TokenSetup};
use sandbox::jules::AccountSetup;
use sandbox::story::Step;
use sandbox::{Fault, FaultKind, Scenario, Service, WebhookTarget};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tests::world::{
    AGENT, MINUTE, SECOND, Setup, World, asking, ci, from_work, green_checks, hour, on_green,
    scenario, story, with_ci,
};

use super::sinks::{Heard, Sink, all, answer, leaks, listen};

/// The secrets of one story. No two stories share any, since they share a log.
pub(super) struct Canaries {
    jules: String,
    pub(super) github: String,
    webhook: String,
    agent: String,
    api: String,
}

/// Digits and letters that are nowhere else, the same for a story every time.
fn unlikely(tag: u8) -> String {
    let seed = SecretString::from(format!("canary of story {tag}"));
    let signed = sandbox::webhook::sign(seed.expose_secret(), &[tag]);
    signed
        .trim_start_matches("sha256=")
        .chars()
        .take(36)
        .collect()
}

impl Canaries {
    pub(super) fn new(tag: u8, shaped: bool) -> Self {
        let tags: Vec<String> = (0..4).map(|it| unlikely(tag * 4 + it)).collect();
        let shape = |prefix: &str| if shaped { prefix } else { "" }.to_owned();
        let agent = agents::new_secret([tag.wrapping_add(100); 32]);
        Self {
            jules: shape("AQ.") + &tags[0],
            github: shape("ghp_") + &tags[1],
            webhook: tags[2].clone(),
            agent: agent.expose_secret().to_owned(),
            api: shape("gaf_") + &tags[3],
        }
    }

    pub(super) fn all(&self) -> Vec<String> {
        let all = [
            &self.jules,
            &self.github,
            &self.webhook,
            &self.agent,
            &self.api,
        ];
        all.map(Clone::clone).into()
    }

    pub(super) async fn world(&self, scenario: Scenario) -> World {
        self.world_as(scenario, None).await
    }

    /// The same signed in at GitHub as an App, whose key is the canary.
    pub(super) async fn world_as(&self, scenario: Scenario, github_app: Option<u64>) -> World {
        let account = AccountSetup {
            key: self.jules.clone(),
            ..AccountSetup::default()
        };
        let token = TokenSetup {
            token: self.github.clone(),
            ..TokenSetup::default()
        };
        let world = World::with(Setup {
            scenario: Scenario {
                accounts: vec![account],
                tokens: vec![token],
                ..scenario
            },
            source: on_green(),
            webhooks: true,
            github_app,
            ..Setup::default()
        })
        .await;
        world.secrets.put("webhook", &self.webhook);
        world.secrets.put(&format!("agents/{AGENT}"), &self.agent);
        world.sandbox.set_webhook(WebhookTarget {
            url: world.webhook_url().to_owned(),
            secret: self.webhook.clone(),
        });
        world
    }
}

/// A secret in the ways in which services repeat what they were sent.
pub(super) fn repeated(secret: &str) -> String {
    let json = json!({ "headers": { "authorization": format!("Bearer {secret}") }, "text": format!("a\n{secret}\tb") });
    format!(
        "invalid credential {secret}; Authorization: Bearer {secret}; x-goog-api-key: {secret}\n\
         GET https://api.example/v1alpha/sessions?key={secret}&alt=json {json} {} %20{secret} ({secret})",
        json!(json.to_string())
    )
}

pub(super) fn refusal(service: Service, code: u16, secret: &str) -> FaultKind {
    let text = repeated(secret);
    let body = match service {
        Service::Jules => {
            json!({ "error": { "code": code, "message": text, "status": "SOMETHING" } })
        }
        Service::GitHub | Service::Agent => {
            json!({ "message": text, "errors": [{ "message": text }] })
        }
    };
    FaultKind::Status {
        code,
        retry_after_secs: None,
        body: Some(body),
    }
}

/// Every refusal of both services for a while, each repeating the credential it refuses.
async fn refused_by_everybody(world: &World, canaries: &Canaries) {
    for code in [400, 401, 403, 404, 409, 422, 429, 500, 503] {
        for (service, secret) in [
            (Service::Jules, &canaries.jules),
            (Service::GitHub, &canaries.github),
        ] {
            let fault = Fault::new(service, "", refusal(service, code, secret));
            world.sandbox.faults().add(fault.next(3));
        }
        world.pass(MINUTE * 2).await;
        world.sandbox.faults().clear();
    }
}

/// Fails the scan, unless it finds exactly this.
async fn finds(world: &World, heard: &Heard, canaries: &Canaries, wanted: &[Sink]) {
    let found = leaks(&all(world, heard).await, &canaries.all());
    let mut sinks: Vec<Sink> = found.iter().map(|(sink, _)| *sink).collect();
    sinks.dedup();
    assert_eq!(sinks, wanted, "{found:#?}");
}

/// Checks that fail once, with a log that shows what the job saw.
fn loose_tongued(canaries: &Canaries) -> Scenario {
    let mut checks = green_checks();
    checks.push(CheckSetup {
        log: repeated(&canaries.github),
        ..CheckSetup::new("lint", Outcome::FailsFirst(1))
    });
    let after = SECOND * 3;
    let text = repeated(&canaries.jules);
    let said = Step::Say {
        after,
        text: text.clone(),
    };
    let failing = story(
        "failing",
        vec![
            said.clone(),
            Step::Fail {
                after,
                reason: text.clone(),
            },
        ],
    );
    let stuck = story("stalling", vec![said, Step::Stall { after }]);
    let stories = vec![
        asking("asking", &text),
        failing,
        stuck,
        story("working", from_work(vec![])),
    ];
    Scenario {
        repos: with_ci(ci(checks)).repos,
        ..scenario(stories)
    }
}

#[tokio::test]
async fn no_secret_comes_out_of_stories_in_which_everybody_repeats_it() {
    listen();
    let canaries = Canaries::new(1, true);
    let world = canaries.world(loose_tongued(&canaries)).await;
    for prompt in ["asking", "failing", "stalling", "working"] {
        world.submit(prompt).await;
    }
    world.pass(MINUTE * 2).await;
    refused_by_everybody(&world, &canaries).await;
    world.pass(hour(1)).await;
    let it = world.sandbox.counters();
    assert!(
        it.wakes_received >= 3 && it.merges >= 1,
        "{}",
        world.story().await
    );
    finds(&world, &Heard::default(), &canaries, &[]).await;
}

#[tokio::test]
async fn no_secret_of_any_shape_comes_out_of_refusals() {
    listen();
    // Nothing in these tells that they are secrets but that they are ours.
    let canaries = Canaries::new(2, false);
    let world = canaries
        .world(scenario(vec![story("working", from_work(vec![]))]))
        .await;
    world.submit("working").await;
    world.pass(SECOND * 4).await;
    refused_by_everybody(&world, &canaries).await;
    for code in [400, 401, 403, 500] {
        let fault = Fault::new(
            Service::Jules,
            "/sessions",
            refusal(Service::Jules, code, &canaries.jules),
        );
        world.sandbox.faults().add(fault.on("POST").next(1));
        world.submit("working").await;
        world.pass(MINUTE * 5).await;
    }
    assert!(
        world.all_events().await.len() >= 2,
        "{}",
        world.story().await
    );
    finds(&world, &Heard::default(), &canaries, &[]).await;
}

#[tokio::test]
async fn no_secret_that_cannot_be_used_is_shown_for_it() {
    listen();
    let canaries = Canaries::new(3, true);
    let world = canaries
        .world(scenario(vec![asking("asking", "Which one?")]))
        .await;
    let broken = |secret: &str| format!("{secret}\u{7}\n{secret}");
    world.submit("asking").await;
    world.pass(SECOND * 10).await;
    world
        .secrets
        .put(&format!("agents/{AGENT}"), &broken(&canaries.agent));
    world.secrets.put("jules/default", &broken(&canaries.jules));
    world.secrets.put("github", &broken(&canaries.github));
    world
        .secrets
        .put("webhook", &format!("{0},{0},{0}", canaries.webhook));
    world.pass(MINUTE * 20).await;
    let statuses = deliveries(&world, &canaries).await;
    assert!(statuses.iter().all(|status| *status == 401), "{statuses:?}");
    finds(&world, &Heard::default(), &canaries, &[]).await;
}

/// Deliveries that are signed wrongly, with the secret itself in their bodies and headers.
async fn deliveries(world: &World, canaries: &Canaries) -> Vec<u16> {
    let client = client();
    let mut statuses = Vec::new();
    for signature in [
        canaries.webhook.clone(),
        format!("sha256={}", canaries.webhook),
        String::new(),
    ] {
        let request = client
            .post(world.webhook_url())
            .body(repeated(&canaries.webhook));
        let request = request.header("x-hub-signature-256", signature);
        let request = request.header("x-github-event", &canaries.webhook);
        statuses.push(request.send().await.expect("an answer").status().as_u16());
    }
    statuses
}

fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client")
}

/// Our own API on a socket, opened by the story's token.
async fn open(world: &World, canaries: &Canaries) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let mut state = api::ApiState::new(world.backend.clone(), vec![canaries.api.clone().into()]);
    state.answer_within = std::time::Duration::ZERO;
    tokio::spawn(async move { axum::serve(listener, api::router(state)).await });
    url
}

/// What people put into the wrong places: a secret for a name, an id, a number, a field.
async fn misuse(url: &str, secret: &str, token: &str) -> Vec<String> {
    let client = client();
    let order = |body: Value| client.post(format!("{url}/jobs")).json(&body);
    let prompt = "Add a search box";
    let requests = vec![
        client.get(format!("{url}/jobs/{secret}")),
        client.get(format!("{url}/jobs/{secret}/why")),
        client.get(format!("{url}/jobs/{secret}/effects/{secret}")),
        client.get(format!("{url}/jobs?limit={secret}")),
        client.get(format!("{url}/jobs?{secret}=1")),
        client.get(format!("{url}/{secret}")),
        client.post(format!("{url}/jobs/{secret}:approve")),
        client
            .post(format!("{url}/events/{secret}/ack"))
            .json(&json!({ "agent": secret })),
        client
            .get(format!("{url}/status"))
            .header("authorization", format!("Bearer {secret}x")),
        client.get(format!("{url}/status?token={secret}")),
        client
            .post(format!("{url}/jobs/adopt"))
            .json(&json!({ "session": secret })),
        order(json!({ "repo": "acme/shop", "prompt": format!("use {secret} to sign in") })),
        order(json!({ "repo": "acme/shop", "prompt": prompt, "title": secret })),
        order(json!({ "repo": secret, "prompt": prompt })),
        order(json!({ "repo": format!("acme/{secret}"), "prompt": prompt })),
        order(json!({ "repo": "acme/shop", "prompt": prompt, "agent": secret })),
        order(json!({ "repo": "acme/shop", "prompt": prompt, "branch": secret })),
        order(json!({ "repo": "acme/shop", "prompt": prompt, secret: 1 })),
        client
            .post(format!("{url}/jobs"))
            .body(format!("{{\"repo\": {secret}")),
    ];
    let (mut answers, mut refused) = (Vec::new(), 0);
    for request in requests {
        let request = request.bearer_auth(token);
        let (status, text) = answer(request.send().await.expect("an answer")).await;
        refused += usize::from(status >= 400);
        answers.push(text);
    }
    // An unused parameter, and a header that the right one follows, do not matter.
    assert!(refused + 2 >= answers.len(), "{answers:#?}");
    answers
}

#[tokio::test]
async fn no_secret_that_is_put_into_the_wrong_place_comes_out_of_our_door() {
    listen();
    let canaries = Canaries::new(4, true);
    let world = canaries
        .world(scenario(vec![story("working", from_work(vec![]))]))
        .await;
    let job = world.submit("working").await;
    let url = open(&world, &canaries).await;
    let mut heard = Heard::default();
    for secret in [
        &canaries.jules,
        &canaries.github,
        &canaries.agent,
        &canaries.api,
    ] {
        heard
            .answers
            .extend(misuse(&url, secret, &canaries.api).await);
        let said = world
            .say(&job, &format!("the key is {secret}"), "a cause")
            .await;
        let error = said.expect_err("a secret is not said");
        heard.errors.push(format!("{error} {error:?}"));
        let found = world.backend.find(secret).await.expect_err("no such job");
        heard.errors.push(format!("{found} {found:?}"));
    }
    for path in [
        "healthz",
        "status",
        "jobs",
        &format!("jobs/{job}"),
        &format!("jobs/{job}/why"),
    ] {
        let request = client()
            .get(format!("{url}/{path}"))
            .bearer_auth(&canaries.api);
        let (status, text) = answer(request.send().await.expect("an answer")).await;
        assert_eq!(status, 200, "{path}: {text}");
        heard.answers.push(text);
    }
    world.pass(MINUTE).await;
    finds(&world, &heard, &canaries, &[]).await;
}

async fn plant_row(world: &World, secret: &str) {
    let key = Key {
        pk: "CFG#leak".to_owned(),
        sk: "META".to_owned(),
    };
    let record = Record {
        key,
        version: 0,
        due: None,
        list: None,
        body: json!({ "key": secret }).to_string(),
        forget: None,
    };
    let put = Write::Put {
        record,
        expect: engine::ports::Expect::Any,
    };
    let committed = world.backend.store.records().commit(vec![put]).await;
    committed.expect("a row");
}

/// Lets a secret out of one place, as a fault of ours would.
async fn plant(world: &World, heard: &mut Heard, sink: Sink, secret: &str) {
    let now = world.clock.now();
    match sink {
        Sink::Row => plant_row(world, secret).await,
        Sink::Message => world
            .backend
            .queue
            .send(secret, SignedDuration::from_hours(999))
            .await
            .expect("a message"),
        Sink::Log => tracing::trace!(secret, "a fault of ours at {now}"),
        Sink::Panic => {
            let panicked =
                std::panic::catch_unwind(AssertUnwindSafe(|| panic!("bad key {secret}")));
            assert!(panicked.is_err());
        }
        Sink::Error => heard.errors.push(format!(
            "{:?}",
            engine::ports::SecretsError::Missing(secret.to_owned())
        )),
        Sink::Answer => heard.answers.push(format!("{{}} {secret}")),
        Sink::Wake => {
            let url = world.sandbox.agent_url(AGENT);
            let request = client()
                .post(url)
                .header("authorization", secret.to_owned());
            request.send().await.expect("an answer");
        }
        Sink::Said => {
            let url = format!("{}/sessions", world.sandbox.jules_base());
            let key = world.secrets.get("jules/default").expect("a key");
            let body = json!({ "prompt": format!("use {secret}"), "sourceContext": { "source": "sources/github/acme/shop", "githubRepoContext": { "startingBranch": "main" } } });
            let request = client().post(url).header("x-goog-api-key", key).json(&body);
            assert!(
                request
                    .send()
                    .await
                    .expect("an answer")
                    .status()
                    .is_success()
            );
        }
        Sink::Argument => {
            // It waits for a line that never comes, and ends with its standard input.
            let child = std::process::Command::new("sh")
                .args(["-c", "read line", "gaffer", "--key", secret])
                .stdin(std::process::Stdio::piped())
                .spawn();
            heard.children.push(child.expect("a process"));
        }
        // The product writes these itself, from what others say: see the story about a word.
        Sink::Event | Sink::Snapshot => {}
    }
}

/// Where a leak can be planted without changing the product.
const PLANTED: [Sink; 9] = [
    Sink::Row,
    Sink::Message,
    Sink::Log,
    Sink::Panic,
    Sink::Error,
    Sink::Answer,
    Sink::Wake,
    Sink::Said,
    Sink::Argument,
];

#[tokio::test]
async fn a_secret_that_is_let_out_anywhere_is_found_there() {
    listen();
    for (at, sink) in (10..).zip(PLANTED) {
        let canaries = Canaries::new(at, true);
        let world = canaries.world(Scenario::default()).await;
        let mut heard = Heard::default();
        finds(&world, &heard, &canaries, &[]).await;
        plant(&world, &mut heard, sink, &canaries.jules).await;
        finds(&world, &heard, &canaries, &[sink]).await;
    }
}

/// A word that is no credential comes out wherever the product writes what others say, and the search finds it in each of these places.
#[tokio::test]
async fn a_word_that_the_product_itself_writes_is_found_where_it_stands() {
    listen();
    let canaries = Canaries::new(50, true);
    let word = unlikely(250);
    let text = format!("the word is {word}");
    let failing = story(
        "failing",
        vec![Step::Fail {
            after: SECOND * 3,
            reason: text.clone(),
        }],
    );
    let world = canaries
        .world(scenario(vec![asking("asking", &text), failing]))
        .await;
    for prompt in ["asking", "failing"] {
        world.submit(prompt).await;
    }
    world.pass(MINUTE * 2).await;
    let found = leaks(&all(&world, &Heard::default()).await, &[word]);
    for sink in [Sink::Row, Sink::Event, Sink::Wake, Sink::Snapshot] {
        let is_found = found.iter().any(|(at, _)| *at == sink);
        assert!(is_found, "{sink:?}: {found:#?}");
    }
    finds(&world, &Heard::default(), &canaries, &[]).await;
}

#[tokio::test]
async fn a_secret_in_any_sink_is_found_in_every_disguise() {
    let canaries = Canaries::new(30, true);
    let secret = &canaries.github;
    let sinks = PLANTED.into_iter().chain([Sink::Event, Sink::Snapshot]);
    for sink in sinks {
        let spaced: String = secret.chars().flat_map(|c| [c, '\n']).collect();
        let hex: String = secret.bytes().map(|b| format!("{b:02x}")).collect();
        let percent: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
        for text in [secret.clone(), spaced, hex, percent, repeated(secret)] {
            let found = vec![(sink, format!("before {text} after"))];
            assert_eq!(leaks(&found, &canaries.all()).len(), 1, "{sink:?} {text}");
        }
    }
}
