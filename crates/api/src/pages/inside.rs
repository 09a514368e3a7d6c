//! The routes of this API as its pages call them: in this process, for a person who is signed in.

use std::sync::{Arc, OnceLock};

use axum::body::{self, Body};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, Request, StatusCode, request};
use axum::{Extension, Router};
use client::wire::{IDEMPOTENCY_KEY, Problem};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower::ServiceExt;

use crate::auth::{AuthenticatedCaller, needed};
use crate::refusal::Refused;
use crate::state::ApiInner;

/// Longest answer that a page is made of, in bytes: as long as a client elsewhere reads.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The routes for callers with a token, made at the first page: a function starts without them.
pub(crate) struct Inside {
    api: Arc<ApiInner>,
    rows: fn() -> Router<Arc<ApiInner>>,
    routes: OnceLock<Router>,
}

/// The routes that pages are made of.
pub(crate) type Rooms = Extension<Arc<Inside>>;

impl Inside {
    pub(crate) fn new(api: Arc<ApiInner>, rows: fn() -> Router<Arc<ApiInner>>) -> Self {
        Self {
            api,
            rows,
            routes: OnceLock::new(),
        }
    }

    /// What a route answers.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        caller: &AuthenticatedCaller,
        path: &str,
    ) -> Result<T, Refused> {
        let request = Request::builder().method(Method::GET).uri(path);
        let (_, bytes) = self.call(caller, request.body(Body::empty())).await?;
        serde_json::from_slice(&bytes).map_err(|_| unreadable())
    }

    /// What a route answers; none where it has to be read first.
    pub(crate) async fn get_read<T: DeserializeOwned>(
        &self,
        caller: &AuthenticatedCaller,
        path: &str,
    ) -> Result<Option<T>, Refused> {
        let request = Request::builder().method(Method::GET).uri(path);
        let answer = self.call(caller, request.body(Body::empty())).await?;
        match answer {
            (StatusCode::ACCEPTED, _) => Ok(None),
            (_, bytes) => serde_json::from_slice(&bytes).map_err(|_| unreadable()),
        }
    }

    /// Gives an order. The same key twice is one order.
    pub(crate) async fn post(
        &self,
        caller: &AuthenticatedCaller,
        path: &str,
        key: &str,
        order: &impl Serialize,
    ) -> Result<(), Refused> {
        let request = Request::builder().method(Method::POST).uri(path);
        self.send(caller, request.header(IDEMPOTENCY_KEY, key), order)
            .await
    }

    /// Changes what is there. The same key twice is one order.
    pub(crate) async fn patch(
        &self,
        caller: &AuthenticatedCaller,
        path: &str,
        key: &str,
        changes: &impl Serialize,
    ) -> Result<(), Refused> {
        let request = Request::builder().method(Method::PATCH).uri(path);
        self.send(caller, request.header(IDEMPOTENCY_KEY, key), changes)
            .await
    }

    async fn send(
        &self,
        caller: &AuthenticatedCaller,
        request: request::Builder,
        order: &impl Serialize,
    ) -> Result<(), Refused> {
        let order = serde_json::to_vec(order).map_err(|_| unreadable())?;
        let request = request.header(CONTENT_TYPE, "application/json");
        self.call(caller, request.body(Body::from(order))).await?;
        Ok(())
    }

    async fn call(
        &self,
        caller: &AuthenticatedCaller,
        request: Result<Request<Body>, axum::http::Error>,
    ) -> Result<(StatusCode, body::Bytes), Refused> {
        let mut request = request.map_err(|_| no_page())?;
        caller.must(needed(request.method()))?;
        request.extensions_mut().insert(caller.clone());
        let routes = self.routes.get_or_init(|| {
            let routes = (self.rows)().fallback(|| async { no_page() });
            routes.with_state(self.api.clone())
        });
        let Ok(response) = routes.clone().oneshot(request).await;
        let (parts, body) = response.into_parts();
        let read = body::to_bytes(body, ANSWER_BYTES_MAX).await;
        let bytes = read.map_err(|_| unreadable())?;
        if parts.status.is_success() {
            return Ok((parts.status, bytes));
        }
        let problem = serde_json::from_slice::<Problem>(&bytes);
        Err(problem.map_or_else(|_| unreadable(), Refused::answered))
    }
}

fn unreadable() -> Refused {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Refused::new(
        status,
        "unreadable",
        "something stored cannot be shown; the log tells what",
    )
}

pub(crate) fn no_page() -> Refused {
    Refused::new(
        StatusCode::NOT_FOUND,
        "no_such_page",
        "there is no such page",
    )
}
