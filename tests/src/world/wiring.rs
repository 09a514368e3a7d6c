//! Wires the real adapters and the webhook endpoint to the sandbox.

use std::sync::Arc;

use agents::{HostRule, Sender, Settings as AgentSettings};
use engine::dispatcher::{Readers, Writers};
use engine::ports::{Clock, Queue, Secrets};
use sandbox::Sandbox;

use super::WEBHOOK_SECRET;
use super::address::function_url;

pub(super) fn adapters(
    sandbox: &Sandbox,
    github_app: Option<u64>,
    secrets: Arc<dyn Secrets>,
    clock: &Arc<dyn Clock>,
) -> (Readers, Writers) {
    let (settings, _) = jules::Settings::at(&sandbox.jules_base()).expect("an address");
    let jules = jules::Client::new(settings, secrets.clone(), clock.clone()).expect("a client");
    let github_base = sandbox.github_base();
    let settings = github::Settings::new(Some(&github_base), github_app).expect("an address");
    let github = github::Client::new(&settings, secrets.clone(), clock.clone()).expect("a client");
    let allow: HostRule = sandbox.addr().to_string().parse().expect("a host rule");
    let sender = Sender::new(AgentSettings { allow: vec![allow] }, secrets);
    let readers = Readers {
        sessions: Arc::new(jules::Reader::new(jules.clone())),
        pulls: Arc::new(github::Reader::new(github.clone())),
        issues: Arc::new(github::Reader::new(github.clone())),
        git: Arc::new(github::Reader::new(github.clone())),
        hooks: Arc::new(github::Reader::new(github.clone())),
    };
    let writers = Writers {
        sessions: Arc::new(jules::Writer::new(jules)),
        pulls: Arc::new(github::Writer::new(github.clone())),
        issues: Arc::new(github::Writer::new(github.clone())),
        git: Arc::new(github::Writer::new(github.clone())),
        hooks: Arc::new(github::Writer::new(github)),
        agents: Arc::new(sender),
    };
    (readers, writers)
}

/// The webhook endpoint on a socket of its own, a process apart, with GitHub's hook pointing at it. A function's is behind a function
/// URL.
pub(super) async fn open_door(
    sandbox: &Sandbox,
    is_function: bool,
    queue: Arc<dyn Queue>,
    secrets: Arc<dyn Secrets>,
    clock: &Arc<dyn Clock>,
) -> (String, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a socket");
    let url = format!(
        "http://{}/github/webhook",
        listener.local_addr().expect("an address")
    );
    let api = api::WebhookApi {
        queue,
        clock: clock.clone(),
        secrets,
        counters: Arc::default(),
    };
    sandbox.set_webhook(sandbox::WebhookTarget {
        url: url.clone(),
        secret: WEBHOOK_SECRET.to_owned(),
    });
    let mut router = api::webhook_router(api);
    if is_function {
        router = function_url(router);
    }
    let server = tokio::spawn(async move {
        // The server ends with its world.
        drop(axum::serve(listener, router).await);
    });
    (url, server)
}
