//! One answer and its dressing: headers, entity tags, rate limits.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, DATE, ETAG, IF_NONE_MATCH, LINK, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::ask::Ask;
use crate::github::access::Resource;
use crate::github::pen::put;
use crate::github::world::{GitHubRefusal, GitHubWorld};

/// What a route answers.
pub(super) type Outcome = Result<Reply, GitHubRefusal>;

/// One answer before it is dressed.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    status: u16,
    content: Content,
    headers: Vec<(HeaderName, String)>,
}

#[derive(Clone, Debug)]
enum Content {
    Empty,
    Json(Value),
    Text(String),
    /// Bytes of this type.
    Raw(Vec<u8>, &'static str),
}

impl Reply {
    /// 200 with JSON.
    pub(super) fn json(value: Value) -> Self {
        Self::status(200, value)
    }

    pub(super) fn status(status: u16, value: Value) -> Self {
        Self {
            status,
            content: Content::Json(value),
            headers: Vec::new(),
        }
    }

    /// GraphQL fails with status 200 and a list of errors.
    pub(super) fn failed(kind: &str, message: &str) -> Self {
        Self::json(json!({ "data": null, "errors": [{ "type": kind, "message": message }] }))
    }

    pub(super) fn text(text: String) -> Self {
        Self {
            status: 200,
            content: Content::Text(text),
            headers: Vec::new(),
        }
    }

    /// Bytes in a form that was asked for.
    pub(super) fn raw(bytes: Vec<u8>, kind: &'static str) -> Self {
        Self {
            status: 200,
            content: Content::Raw(bytes, kind),
            headers: Vec::new(),
        }
    }

    /// The same request at the number of a repository: one that was renamed leads on to it.
    pub(super) fn moved(ask: &Ask, id: u64, rest: &str) -> Self {
        let (status, words) = if ask.is("GET") {
            (301, "Moved Permanently")
        } else {
            (307, "Temporary Redirect")
        };
        let url = format!("{}/repositories/{id}{rest}", ask.api);
        let mut reply = Self::status(status, json!({ "message": words, "url": url }));
        reply.headers.push((LOCATION, url));
        reply
    }

    /// 204.
    pub(super) fn nothing() -> Self {
        Self {
            status: 204,
            content: Content::Empty,
            headers: Vec::new(),
        }
    }

    /// The same answer with the addresses of its neighbouring pages.
    pub(super) fn linked(mut self, link: Option<String>) -> Self {
        self.headers.extend(link.map(|link| (LINK, link)));
        self
    }

    pub(super) fn refused(refusal: &GitHubRefusal) -> Self {
        let mut body = json!({
            "message": refusal.message,
            "documentation_url": "https://docs.github.com/rest",
            "status": refusal.status.to_string(),
        });
        if !refusal.errors.is_empty() {
            put(&mut body, "errors", json!(refusal.errors));
        }
        let mut reply = Self::status(refusal.status, body);
        let name = HeaderName::from_static("x-accepted-github-permissions");
        reply
            .headers
            .extend(refusal.needs.clone().map(|needs| (name, needs)));
        reply
    }

    /// The answer with no headers but its own.
    pub(super) fn plain(self) -> Response {
        let (kind, body) = match self.content {
            Content::Empty => (None, Vec::new()),
            Content::Json(value) => {
                let text = value.to_string();
                (Some("application/json; charset=utf-8"), text.into_bytes())
            }
            Content::Text(text) => (Some("text/plain; charset=utf-8"), text.into_bytes()),
            Content::Raw(bytes, kind) => (Some(kind), bytes),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if let Some(kind) = kind {
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        for (name, value) in self.headers {
            insert(response.headers_mut(), name, &value);
        }
        response
    }

    /// The answer with the time of the sandbox's clock.
    pub(super) fn dated(self, now: Timestamp) -> Response {
        let mut response = self.plain();
        let date = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        insert(response.headers_mut(), DATE, &date);
        response
    }

    /// The answer with everything GitHub says around it; 304 when the caller knows it already.
    pub(super) fn dress(
        mut self,
        world: &mut GitHubWorld,
        ask: &Ask,
        headers: &HeaderMap,
    ) -> Response {
        let tag = self.tag().filter(|_| ask.is("GET"));
        if let Some(tag) = &tag {
            self.headers.push((ETAG, tag.clone()));
        }
        if tag.is_some_and(|tag| knows(headers, &tag)) {
            self.status = 304;
            self.content = Content::Empty;
            world.counters.count(|it| it.github_not_modified += 1);
        } else if !ask.is_free() {
            // An authorised 304 is free of charge.
            ask.caller.count(world);
        }
        let mut response = self.dated(ask.now);
        mark(response.headers_mut(), world, ask);
        response
    }

    /// The entity tag of a successful answer.
    fn tag(&self) -> Option<String> {
        let digest = match &self.content {
            Content::Json(value) if self.status == 200 => Sha256::digest(value.to_string()),
            Content::Text(text) if self.status == 200 => Sha256::digest(text),
            Content::Raw(bytes, _) if self.status == 200 => Sha256::digest(bytes),
            Content::Json(_) | Content::Text(_) | Content::Raw(..) | Content::Empty => return None,
        };
        Some(format!("W/\"{}\"", hex::encode(digest)))
    }
}

fn knows(headers: &HeaderMap, tag: &str) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let given = headers
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    given.is_some_and(|given| given.split(',').any(|one| strong(one) == strong(tag)))
}

/// Adds the headers of every answer to a known caller.
fn mark(headers: &mut HeaderMap, world: &mut GitHubWorld, ask: &Ask) {
    let mut put = |name: &'static str, value: &str| {
        insert(headers, HeaderName::from_static(name), value);
    };
    put("x-github-media-type", "github.v3; format=json");
    put(
        "x-github-request-id",
        &format!("5A11:{:X}", world.next_request()),
    );
    if let Some(scopes) = ask.caller.scopes() {
        put("x-oauth-scopes", scopes);
    }
    if let Some((limit, window)) = ask.caller.window(world, ask.now) {
        let resource = if ask.path == "/graphql" {
            "graphql"
        } else {
            "core"
        };
        put("x-ratelimit-limit", &limit.to_string());
        put(
            "x-ratelimit-remaining",
            &limit.saturating_sub(window.used).to_string(),
        );
        put("x-ratelimit-used", &window.used.to_string());
        put("x-ratelimit-reset", &window.resets_at.to_string());
        put("x-ratelimit-resource", resource);
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// The repository that a GraphQL query names, if the caller may read these kinds of its resources; otherwise the refusal.
pub(super) fn queried(
    world: &GitHubWorld,
    ask: &Ask,
    resources: &[Resource],
) -> Result<String, Reply> {
    let (owner, name) = (ask.variable("owner"), ask.variable("name"));
    let repo = format!("{owner}/{name}").to_lowercase();
    if ask.caller.sees(world, &repo).is_err() {
        let message = format!("Could not resolve to a Repository with the name '{repo}'.");
        return Err(Reply::failed("NOT_FOUND", &message));
    }
    if resources.iter().any(|it| ask.reads(*it).is_err()) {
        let message = "Resource not accessible by integration";
        return Err(Reply::failed("FORBIDDEN", message));
    }
    Ok(repo)
}
