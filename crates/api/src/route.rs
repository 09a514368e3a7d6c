//! What a route is, and what serves it. The rows of each subject stand beside its handlers.

mod parameter;

use std::sync::Arc;

use axum::Router;
use axum::routing::MethodRouter;
use domain::token::Scope;

use crate::state::ApiInner;
use crate::verb::Verb;

pub(crate) use parameter::KEY;
pub use parameter::{Parameter, ParameterType};

/// With which method a route is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Writes.
    Post,
    /// Changes what is there.
    Patch,
    /// Removes what is there.
    Delete,
}

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// Anyone.
    Anybody,
    /// A caller whose token has this scope or a larger one.
    Token(Scope),
    /// GitHub, by its signature.
    GitHub,
    /// A person who is signed in to the dashboard, if the token has this scope or a larger one.
    Viewer(Scope),
}

/// What is sent with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestBody {
    /// Nothing.
    Nothing,
    /// An object of this wire type.
    Json(&'static str),
    /// The same, but an empty body means an empty object.
    MaybeJson(&'static str),
    /// A webhook delivery of GitHub's.
    Delivery,
    /// A message of MCP.
    Message,
    /// A form of a page.
    Form,
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseBody {
    /// An object of this wire type.
    Json(&'static str),
    /// The OpenAPI document.
    OpenApi,
    /// A JSON Schema.
    Schema,
    /// Figures in Prometheus's text format.
    Figures,
    /// A plain text for people.
    Text,
    /// An answer of MCP.
    Message,
    /// A page for people, or a file of pages.
    Page,
    /// Nothing.
    Nothing,
}

/// One route as those see it who call it.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// With which method.
    pub method: Method,
    /// Where, with the parts that vary in braces.
    pub path: &'static str,
    /// The same in the spelling with a colon, if it is an order.
    pub colon: Option<&'static str>,
    /// Its name for programs.
    pub id: &'static str,
    /// Its summary, a sentence without its full stop.
    pub summary: &'static str,
    /// Who may call it.
    pub caller: Caller,
    /// Parameters apart from those of the path.
    pub parameters: &'static [Parameter],
    /// What is sent with it.
    pub sends: RequestBody,
    /// What is answered, by status.
    pub answers: &'static [(u16, ResponseBody)],
    /// Refusal statuses apart from those of its parameters, its body and its caller.
    pub refuses: &'static [u16],
}

/// One route, and what serves it.
pub(crate) struct Row<S> {
    pub(crate) route: Route,
    serve: fn() -> MethodRouter<S>,
}

/// A route of the API, with what serves it.
pub(crate) type ApiRow = Row<Arc<ApiInner>>;

impl Route {
    /// A route that takes nothing and answers nothing yet.
    pub(crate) const fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            colon: None,
            id,
            summary,
            caller: Caller::Token(needed(method)),
            parameters: &[],
            sends: RequestBody::Nothing,
            answers: &[],
            refuses: &[],
        }
    }
}

impl<S> Row<S> {
    const fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        let route = Route::new(method, path, id, summary);
        Self { route, serve }
    }

    /// A reading route.
    pub(crate) const fn get(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        Self::new(Method::Get, path, id, summary, serve)
    }

    /// A writing route.
    pub(crate) const fn post(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        Self::new(Method::Post, path, id, summary, serve)
    }

    /// A route that changes what is there.
    pub(crate) const fn patch(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        Self::new(Method::Patch, path, id, summary, serve)
    }

    /// A route that removes what is there.
    pub(crate) const fn delete(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        Self::new(Method::Delete, path, id, summary, serve)
    }

    /// An order about one job, in both spellings.
    pub(crate) const fn order(
        verb: Verb,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        let (path, colon) = verb.paths();
        Self::post(path, id, summary, serve).also_at(colon)
    }

    /// A page.
    pub(crate) const fn page(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        let row = Self::get(path, id, summary, serve).called_by(Caller::Viewer(Scope::Read));
        row.answers(&[(200, ResponseBody::Page), (304, ResponseBody::Nothing)])
    }

    /// A form of a page, which leads to another page.
    pub(crate) const fn form(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        serve: fn() -> MethodRouter<S>,
    ) -> Self {
        let row = Self::post(path, id, summary, serve).called_by(Caller::Viewer(Scope::Write));
        let row = row.sends(RequestBody::Form);
        row.answers(&[(303, ResponseBody::Nothing)])
    }

    /// The same row with its second spelling.
    pub(crate) const fn also_at(mut self, colon: &'static str) -> Self {
        self.route.colon = Some(colon);
        self
    }

    pub(crate) const fn called_by(mut self, caller: Caller) -> Self {
        self.route.caller = caller;
        self
    }

    pub(crate) const fn takes(mut self, parameters: &'static [Parameter]) -> Self {
        self.route.parameters = parameters;
        self
    }

    pub(crate) const fn sends(mut self, sends: RequestBody) -> Self {
        self.route.sends = sends;
        self
    }

    pub(crate) const fn answers(mut self, answers: &'static [(u16, ResponseBody)]) -> Self {
        self.route.answers = answers;
        self
    }

    pub(crate) const fn refuses(mut self, refuses: &'static [u16]) -> Self {
        self.route.refuses = refuses;
        self
    }
}

/// The scope that a method needs: reading changes nothing.
pub(crate) const fn needed(method: Method) -> Scope {
    match method {
        Method::Get => Scope::Read,
        Method::Post | Method::Patch | Method::Delete => Scope::Write,
    }
}

/// The routes of these rows, each served.
pub(crate) fn served<S: Clone + Send + Sync + 'static>(
    rows: impl IntoIterator<Item = &'static Row<S>>,
) -> Router<S> {
    let served = Router::new();
    rows.into_iter().fold(served, |router, row| {
        router.route(row.route.path, (row.serve)())
    })
}
