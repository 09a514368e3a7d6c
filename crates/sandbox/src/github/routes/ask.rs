//! One request, read and taken apart.

use std::collections::BTreeMap;

use axum::http::header::{ACCEPT, HOST};
use axum::http::request::Parts;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::PREFIX;
use super::caller::Caller;
use crate::github::access::{Access, Resource};
use crate::github::pen::Pen;
use crate::github::world::{GitHubRefusal, GitHubWorld};

/// A request whose path, query and body have been read.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) now: Timestamp,
    pub(super) method: String,
    /// The raw path, below the prefix.
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    /// The body; null when there is none.
    pub(super) body: Value,
    pub(super) caller: Caller,
    /// Base of API addresses, under the host the caller used.
    pub(super) api: String,
    /// Path and query as they came.
    target: String,
    /// The forms in which an answer is wanted.
    accept: String,
    parts: Vec<String>,
}

impl Ask {
    pub(super) fn read(parts: &Parts, bytes: &[u8], now: Timestamp) -> Result<Self, GitHubRefusal> {
        let body = match bytes {
            [] => Value::Null,
            bytes => serde_json::from_slice(bytes)
                .map_err(|_| GitHubRefusal::new(400, "Problems parsing JSON"))?,
        };
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let accept = parts.headers.get(ACCEPT).and_then(|it| it.to_str().ok());
        let path = parts.uri.path();
        let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            now,
            method: parts.method.to_string(),
            path: path.to_owned(),
            query: query.into_owned().collect(),
            body,
            caller: Caller::Nobody,
            api: format!("http://{}{PREFIX}", host.unwrap_or("localhost")),
            target: parts.uri.to_string(),
            accept: accept.unwrap_or_default().to_owned(),
            parts: path.trim_matches('/').split('/').map(decode).collect(),
        })
    }

    /// The part of the path after the repository, with its slash, and the query.
    pub(super) fn below_repo(&self) -> &str {
        let mut slashes = self.target.match_indices('/').skip(3);
        slashes.next().map_or("", |(at, _)| &self.target[at..])
    }

    /// The decoded parts of the path, to be matched.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }

    pub(super) fn is_write(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD")
    }

    /// Which access it takes.
    pub(super) fn access(&self) -> Access {
        match self.is_write() {
            true => Access::Write,
            false => Access::Read,
        }
    }

    /// Whether this would change what people see: minting a token and a GraphQL query change nothing.
    pub(super) fn is_mutation(&self) -> bool {
        match self.path.as_str() {
            "/graphql" => self
                .text("query")
                .is_some_and(|query| query.contains("mutation")),
            path => self.is_write() && !path.ends_with("/access_tokens"),
        }
    }

    /// Whether it costs no request of the hour.
    pub(super) fn is_free(&self) -> bool {
        self.path == "/rate_limit"
    }

    pub(super) fn is(&self, method: &str) -> bool {
        self.method == method
    }

    /// Whether the answer is wanted in one of GitHub's other forms, such as `diff` or `raw`.
    pub(super) fn wants(&self, form: &str) -> bool {
        self.accept
            .contains(&format!("application/vnd.github.{form}"))
    }

    /// A text of the body.
    pub(super) fn text(&self, field: &str) -> Option<&str> {
        self.body.get(field).and_then(Value::as_str)
    }

    /// A text among the variables of a GraphQL query; empty where it is none.
    pub(super) fn variable(&self, name: &str) -> &str {
        let value = self.body.pointer(&format!("/variables/{name}"));
        value.and_then(Value::as_str).unwrap_or_default()
    }

    /// A text that GitHub demands.
    pub(super) fn demand(&self, field: &str) -> Result<&str, GitHubRefusal> {
        let missing = || {
            GitHubRefusal::new(
                422,
                format!("Invalid request.\n\n\"{field}\" wasn't supplied."),
            )
        };
        self.text(field).ok_or_else(missing)
    }

    /// A parameter of the query.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Refuses when the caller lacks a permission.
    pub(super) fn need(&self, resource: Resource, access: Access) -> Result<(), GitHubRefusal> {
        self.caller.need(resource, access)
    }

    /// Reading one kind of resource.
    pub(super) fn reads(&self, resource: Resource) -> Result<(), GitHubRefusal> {
        self.need(resource, Access::Read)
    }

    /// Writing one kind of resource.
    pub(super) fn writes(&self, resource: Resource) -> Result<(), GitHubRefusal> {
        self.need(resource, Access::Write)
    }

    /// A pen that writes addresses under the caller's host.
    pub(super) fn pen<'a>(&'a self, world: &'a GitHubWorld) -> Pen<'a> {
        Pen {
            world,
            now: self.now,
            api: &self.api,
        }
    }
}

fn decode(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

/// A number in a path; GitHub answers 404 to what is none.
pub(super) fn number(text: &str) -> Result<u64, GitHubRefusal> {
    text.parse().map_err(|_| GitHubRefusal::not_found())
}
