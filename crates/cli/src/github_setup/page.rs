//! The one page on this machine: it hands GitHub the App's description, and takes the code that GitHub brings back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, oneshot};
use url::Url;

use super::code::{self, Code};

/// The path that GitHub goes back to.
pub(super) const BACK: &str = "/made";

/// What the page shows and takes.
pub(super) struct Page {
    /// GitHub's address for the form, with the state.
    pub(super) form: Url,
    /// The App's description, JSON.
    pub(super) manifest: String,
    /// What GitHub has to bring back.
    pub(super) state: String,
}

struct Shared {
    page: Page,
    host: String,
    tell: Mutex<Option<oneshot::Sender<Code>>>,
}

/// Serves the page until GitHub brings a code, at most `within`; `None` when it did not come.
pub(super) async fn wait(
    listener: TcpListener,
    page: Page,
    within: Duration,
) -> Result<Option<Code>> {
    let at: SocketAddr = listener
        .local_addr()
        .context("reading the address of the page")?;
    let (tell, told) = oneshot::channel();
    let shared = Arc::new(Shared {
        page,
        host: at.to_string(),
        tell: Mutex::new(Some(tell)),
    });
    let router = Router::new()
        .route("/", get(show))
        .route(BACK, get(take))
        .with_state(shared);
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(
        axum::serve(listener, router)
            .with_graceful_shutdown(async move {
                let _ = stopped.await;
            })
            .into_future(),
    );
    let code = tokio::time::timeout(within, told).await;
    // The browser still gets its last answer.
    let _ = stop.send(());
    let _ = tokio::time::timeout(Duration::from_secs(2), served).await;
    Ok(code.ok().and_then(Result::ok))
}

/// Refuses a foreign name that points to this machine: a page under it must not read the state.
fn is_ours(headers: &HeaderMap, shared: &Shared) -> bool {
    headers.get(HOST).and_then(|it| it.to_str().ok()) == Some(shared.host.as_str())
}

async fn show(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if !is_ours(&headers, &shared) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let form = escaped(shared.page.form.as_str());
    let manifest = escaped(&shared.page.manifest);
    html(format!(
        "<!doctype html><title>Gaffer</title><h1>A GitHub App for Gaffer</h1>\
         <p>GitHub shows what the App may do and asks you to confirm it.</p>\
         <form action=\"{form}\" method=\"post\"><input type=\"hidden\" name=\"manifest\" value=\"{manifest}\">\
         <button>Go to GitHub</button></form>"
    ))
}

#[derive(Deserialize)]
struct Back {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
}

async fn take(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Query(back): Query<Back>,
) -> Response {
    let wrong = || {
        let words = "This does not belong to the setup that is running. Go back to the terminal and begin there.";
        (
            StatusCode::BAD_REQUEST,
            html(format!("<!doctype html><p>{words}</p>")),
        )
            .into_response()
    };
    if !is_ours(&headers, &shared) || back.state != shared.page.state {
        return wrong();
    }
    let Ok(code) = code::plain(&back.code) else {
        return wrong();
    };
    if let Some(tell) = shared.tell.lock().await.take() {
        let _ = tell.send(code);
    }
    html("<!doctype html><p>Gaffer has the code. Go back to the terminal.</p>".to_owned())
}

/// The address holds a code, which must not travel on.
fn html(text: String) -> Response {
    let headers = [
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; form-action *"),
    ];
    (headers, Html(text)).into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
