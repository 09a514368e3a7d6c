//! `/mcp`: the tools for coding agents over HTTP, one message a request and no state between them.
//!
//! A tool calls the routes of this very API with its caller's token, so that no rule is written twice.
//! The router that it calls is made at the first message: a function starts without it.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use axum::Router;
use axum::body::{self, Body, Bytes};
use axum::extract::{Query, Request};
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use client::mcp::http::{BODY_BYTES_MAX, PostOutcome, posted};
use client::mcp::{ClientSource, Server, Toolset};
use client::wire::Through;
use client::{Client, Transport, TransportResponse};
use domain::token::Scope;
use secrecy::SecretString;
use tokio::sync::watch;
use tokio::time::timeout;
use tower::ServiceExt;

use crate::auth;
use crate::body::{BODY_WITHIN, too_slow};
use crate::query;
use crate::refusal::Refused;
use crate::route::{self, Caller, Parameter, ParameterType, RequestBody, ResponseBody, Route};
use crate::state::ApiInner;

/// The only method that is served.
const ONLY: HeaderValue = HeaderValue::from_static("POST");

/// Longest answer of our own routes that a tool reads, in bytes: as long as a client elsewhere reads.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Additional tools to list.
const TOOLSETS: Parameter = Parameter::query(
    "toolsets",
    ParameterType::Toolsets,
    "Which tools are shown besides those that always are.",
);

/// The tools for agents. They are served by themselves, since they call the other routes; what a call needs is decided there.
pub(crate) static TOOLS: Route = Route {
    caller: Caller::Token(Scope::Read),
    parameters: &[TOOLSETS],
    sends: RequestBody::Message,
    answers: &[(200, ResponseBody::Message), (202, ResponseBody::Nothing)],
    refuses: &[406],
    ..Route::new(
        route::Method::Post,
        "/mcp",
        "mcp",
        "Takes a message of the Model Context Protocol, whose `tools/list` tells which tools there are",
    )
};

/// The API as its own tools call it.
struct InProcessClients {
    api: Arc<ApiInner>,
    routes: fn(Arc<ApiInner>) -> Router,
    made: OnceLock<Arc<InProcessTransport>>,
}

/// The routes, called without a network.
struct InProcessTransport {
    routes: Router,
    stopping: Option<watch::Receiver<bool>>,
}

/// The API for one caller.
struct CallerClients {
    routes: Arc<InProcessTransport>,
    token: SecretString,
}

/// The route, with the other routes made at first use.
pub(crate) fn route(
    api: &Arc<ApiInner>,
    routes: fn(Arc<ApiInner>) -> Router,
) -> MethodRouter<Arc<ApiInner>> {
    let tools = Arc::new(InProcessClients {
        api: api.clone(),
        routes,
        made: OnceLock::new(),
    });
    any(move |request: Request| async move {
        match answer(&tools, request).await {
            Ok(response) => response,
            Err(refused) => refused,
        }
    })
}

async fn answer(tools: &InProcessClients, request: Request) -> Result<Response, Response> {
    let refuse = IntoResponse::into_response;
    from_here(request.headers()).map_err(refuse)?;
    // What a call needs is decided where it arrives; the least of it is needed to come in.
    let token = auth::shown(request.headers()).map_err(refuse)?.to_owned();
    let admitted = auth::admit(&tools.api, &token).await.map_err(refuse)?;
    admitted.must(Scope::Read).map_err(refuse)?;
    if request.method() != Method::POST {
        return Err(not_post(request.method(), request.uri()));
    }
    let toolsets = toolsets(request.uri()).map_err(refuse)?;
    let (parts, sent) = request.into_parts();
    let message = whole(sent).await.map_err(refuse)?;
    let server = tools.server(token, &toolsets);
    match posted(server, &parts.headers, message).await {
        PostOutcome::Answer(response) => Ok(response.map(Body::new)),
        PostOutcome::Refused { status, why } => Err(unlooked_at(status, &why).into_response()),
    }
}

impl InProcessClients {
    /// The server for one caller.
    fn server(&self, token: String, toolsets: &[Toolset]) -> Server {
        let make = || {
            Arc::new(InProcessTransport {
                routes: (self.routes)(self.api.clone()),
                stopping: self.api.holding.clone(),
            })
        };
        let caller = CallerClients {
            routes: self.made.get_or_init(make).clone(),
            token: token.into(),
        };
        let server = Server::new(Arc::new(caller)).with(toolsets);
        if self.api.holding.is_some() {
            server
        } else {
            server.at_once()
        }
    }
}

#[async_trait]
impl ClientSource for CallerClients {
    async fn open(&self) -> Result<Client, String> {
        let client = Client::within(self.routes.clone(), &self.token);
        let client = client.map(|client| client.through(Through::Mcp));
        client.map_err(|error| error.to_string())
    }
}

#[async_trait]
impl Transport for InProcessTransport {
    async fn carry(&self, request: client::Request) -> Result<TransportResponse, client::Error> {
        let mut asked = Request::new(Body::from(request.body));
        *asked.method_mut() = request.method;
        *asked.headers_mut() = request.headers;
        // What the client makes of our paths is always one.
        *asked.uri_mut() = request.url.as_str().parse().unwrap_or_default();
        let response = if self.stopping.as_ref().is_some_and(|stop| *stop.borrow()) {
            // A waiting client would otherwise ask again and again, and keep the process alive.
            stopping().into_response()
        } else {
            let Ok(response) = self.routes.clone().oneshot(asked).await;
            response
        };
        let status = response.status();
        let read = body::to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
        let body = read.map(Vec::from).unwrap_or_default();
        Ok(TransportResponse { status, body })
    }
}

/// Refuses calls from web pages, whatever name leads here: MCP's specification requires that (Streamable HTTP,
/// Security Warning).
/// Pages of this machine and our own are allowed. A name that others point here has no certificate, so ours is
/// recognised by its name over TLS alone.
fn from_here(headers: &HeaderMap) -> Result<(), Refused> {
    let Some(origin) = headers.get(ORIGIN) else {
        return Ok(());
    };
    let text = origin.to_str().unwrap_or_default();
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_ours = text
        .strip_prefix("https://")
        .is_some_and(|own| Some(own) == host);
    if is_ours || is_loopback(text) {
        return Ok(());
    }
    let detail = format!("pages of `{text}` may not call the tools: they are for programs");
    let refused = Refused::new(StatusCode::FORBIDDEN, "foreign_origin", &detail);
    Err(refused.about("origin"))
}

/// Whether an origin is a page of this machine.
fn is_loopback(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_address = |it: std::net::IpAddr| it.is_loopback();
    uri.scheme().is_some() && (host == "localhost" || host.parse().is_ok_and(is_address))
}

fn not_post(method: &Method, uri: &Uri) -> Response {
    let detail = format!(
        "`{method}` is not served at `{}`: each message is a POST, and no session is kept",
        uri.path()
    );
    let refused = Refused::new(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", &detail);
    let mut response = refused.into_response();
    response.headers_mut().insert(ALLOW, ONLY);
    response
}

/// `?toolsets=a,b`: additional tools to list.
fn toolsets(uri: &Uri) -> Result<Vec<Toolset>, Refused> {
    let mut named = Vec::new();
    for (name, value) in query::pairs(Query::try_from_uri(uri))? {
        if name != "toolsets" {
            return Err(query::unknown(&name, "there is only `toolsets`"));
        }
        for set in value.split(',').filter(|set| !set.trim().is_empty()) {
            named.push(set.parse().map_err(|wrong| query::bad(&name, &wrong))?);
        }
    }
    Ok(named)
}

/// The message, read whole.
async fn whole(sent: Body) -> Result<Bytes, Refused> {
    let read = timeout(BODY_WITHIN, body::to_bytes(sent, BODY_BYTES_MAX)).await;
    let read = read.map_err(|_| too_slow())?;
    read.map_err(|_| {
        let detail =
            format!("the body did not come whole, or is longer than {BODY_BYTES_MAX} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &detail)
    })
}

fn stopping() -> Refused {
    let detail = "this Gaffer is being stopped: nothing was done, try again once it is back";
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", detail)
}

/// A refusal by the tools' server before it read the message, with the header at fault.
fn unlooked_at(status: StatusCode, why: &str) -> Refused {
    let refused = Refused::new(status, code(status), why);
    match status {
        StatusCode::NOT_ACCEPTABLE => refused.about(ACCEPT.as_str()),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => refused.about(CONTENT_TYPE.as_str()),
        _ => refused,
    }
}

/// The code of a refusal by the tools' server.
fn code(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_ACCEPTABLE => "not_acceptable",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "bad_content_type",
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        _ => "bad_message",
    }
}
