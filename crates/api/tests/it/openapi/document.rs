//! Derives the OpenAPI document from the table of routes and the wire types.
//!
//! Source: OpenAPI Specification 3.1.1. Roles of a bearer token stand in the security requirement, as section 4.8.30 allows.

use std::collections::BTreeSet;

use api::{Caller, Method, Parameter, ParameterType, RequestBody, ResponseBody, Route, routes};
use client::mcp::Toolset;
use client::wire::PROBLEM_JSON;
use engine::job_state::STATES;
use serde_json::{Map, Value, json};

use super::schemas::{Schemas, named};
use super::spellings;

/// The document's introduction.
const ABOUT: &str = "The API of a running Gaffer: hand work to Jules, look at it, answer it, and be woken.\n\nA job is named by its id or the first 4 or more characters of that, by the id of a session of its, by its pull request as `owner/name#number` (in a path as `owner%2Fname%23number`), or by `latest`. Orders about a job have two spellings, `/jobs/{job}:say` and `/jobs/{job}/messages`, which are the same. Requests refuse fields that they do not know, except in what others make up; answers may gain fields at any time. A delivery is named by its id, by its issue or its pull request as `owner/name#number`, by its job, or by `latest`; a job that belongs to none is shown as one under the job's id. Every answer carries `x-request-id`.";

/// The whole document.
pub(super) fn derived() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in routes() {
        for path in spellings(route) {
            let operations = paths.entry(path).or_insert_with(|| json!({}));
            let schemas = named_parts(path);
            if !schemas.is_empty() {
                operations["parameters"] = json!(schemas);
            }
            operations[method(route)] = operation(route, path);
        }
    }
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Gaffer",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": Schemas::all().by_name(),
            "responses": refusals(),
            "securitySchemes": {
                "token": {
                    "type": "http", "scheme": "bearer",
                    "description": "A token of `gaffer token create NAME --scope SCOPE`, or the installation's own. `write` includes `read`, and `admin` both.",
                },
                "signature": {
                    "type": "apiKey", "in": "header", "name": "x-hub-signature-256",
                    "description": "GitHub's: HMAC-SHA256 over the raw body with the webhook's secret.",
                },
            },
        },
    })
}

fn method(route: &Route) -> &'static str {
    match route.method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Patch => "patch",
        Method::Delete => "delete",
    }
}

fn operation(route: &Route, path: &str) -> Value {
    let is_other = route.colon.is_some_and(|colon| colon != path);
    let mut operation = json!({
        "operationId": if is_other { format!("{}_by_path", route.id) } else { route.id.to_owned() },
        "summary": format!("{}.", route.summary),
        "security": security(route.caller),
        "responses": responses(route, path),
    });
    if !route.parameters.is_empty() {
        operation["parameters"] = route.parameters.iter().map(parameter).collect();
    }
    if let Some(body) = body(route.sends) {
        operation["requestBody"] = body;
    }
    operation
}

fn security(caller: Caller) -> Value {
    match caller {
        Caller::Anybody | Caller::Viewer(_) => json!([]),
        Caller::Token(scope) => json!([{ "token": [scope.word()] }]),
        Caller::GitHub => json!([{ "signature": [] }]),
    }
}

/// What varies in a path.
fn named_parts(path: &str) -> Vec<Value> {
    let parts = path.split('/').filter_map(|part| part.strip_prefix('{'));
    parts
        .map(|part| named_part(part.split_once('}').unwrap().0))
        .collect()
}

fn named_part(name: &str) -> Value {
    let word = "^[A-Za-z0-9_.-]{1,100}$";
    let (schema, means) = match name {
        "job" => (
            job_name(),
            "A job by its id or the beginning of it, a session of its, its pull request, or `latest`.",
        ),
        "delivery" => (
            job_name(),
            "A delivery by its id, its issue or its pull request, or by what its job is called by.",
        ),
        "run" => (
            json!({ "type": "string", "pattern": "^([0-9a-f]{8}|latest)$" }),
            "The run by its id, or the newest that has a transcript.",
        ),
        "effect" => (named("EffectId"), "The effect."),
        "event" => (
            json!({ "type": "string", "pattern": "^(evt_)?[0-9A-Fa-f]{4,32}$" }),
            "The event, by its id or the beginning of it.",
        ),
        "agent" => (named("AgentName"), "The agent."),
        "owner" => (
            json!({ "type": "string", "pattern": word }),
            "The user or organisation.",
        ),
        "name" => (
            json!({ "type": "string", "pattern": word }),
            "The repository without its owner.",
        ),
        "persona" => (named("PersonaName"), "The persona."),
        "message" => (
            json!({ "type": "integer", "minimum": 1 }),
            "The number of the message.",
        ),
        "pipeline" => (named("Ulid"), "The run of a pipeline."),
        "requirement" => (named("ArtefactId"), "The requirement."),
        "sprint" => (
            json!({ "type": "string", "pattern": "^([1-9][0-9]{0,9}|latest)$" }),
            "The number of the sprint, or `latest`.",
        ),
        "number" => (
            json!({ "type": "integer", "minimum": 1 }),
            "The pull request's number.",
        ),
        _ => panic!("`{name}` in a path has no schema: add it here"),
    };
    json!({ "name": name, "in": "path", "required": true, "description": means, "schema": schema })
}

/// What a job is called by.
fn job_name() -> Value {
    let word = "[A-Za-z0-9_.-]{1,100}";
    let pattern = format!("^([A-Za-z0-9_-]{{1,64}}|{word}/{word}#[1-9][0-9]*)$");
    json!({ "type": "string", "pattern": pattern })
}

fn parameter(parameter: &Parameter) -> Value {
    let schema = match parameter.takes {
        ParameterType::Number { min, max, default } => {
            json!({ "type": "integer", "minimum": min, "maximum": max, "default": default })
        }
        ParameterType::Form(name) => named(name),
        ParameterType::Job => job_name(),
        ParameterType::States => {
            let states = STATES.join("|");
            json!({ "type": "string", "pattern": format!("^({states})(,({states}))*$") })
        }
        ParameterType::Word(words) => json!({ "type": "string", "enum": words }),
        ParameterType::Switch => {
            json!({ "type": "string", "enum": ["1", "0", "true", "false", ""] })
        }
        ParameterType::Cursor => json!({ "type": "string" }),
        ParameterType::Toolsets => {
            let names = Toolset::ALL.map(Toolset::name).join("|");
            json!({ "type": "string", "pattern": format!("^(({names})(,({names}))*)?$") })
        }
        ParameterType::Name { longest } => {
            json!({ "type": "string", "maxLength": longest, "pattern": "^[!-~]([\\t -~]*[!-~])?$" })
        }
    };
    let place = if parameter.in_header {
        "header"
    } else {
        "query"
    };
    json!({ "name": parameter.name, "in": place, "description": parameter.means, "schema": schema })
}

fn body(sends: RequestBody) -> Option<Value> {
    let json = |name: &str, required: bool| json!({ "required": required, "content": { "application/json": { "schema": named(name) } } });
    match sends {
        RequestBody::Nothing | RequestBody::Form => None,
        RequestBody::Json(name) => Some(json(name, true)),
        RequestBody::MaybeJson(name) => Some(json(name, false)),
        RequestBody::Delivery => Some(json!({
            "required": true,
            "description": "An event, as GitHub describes it in \"Webhook events and payloads\".",
            "content": { "application/json": { "schema": { "type": "object" } } },
        })),
        RequestBody::Message => Some(json!({
            "required": true,
            "description": "One message of JSON-RPC 2.0, as the Model Context Protocol has it.",
            "content": { "application/json": { "schema": {
                "type": "object",
                "required": ["jsonrpc", "method"],
                "properties": { "jsonrpc": { "const": "2.0" }, "method": { "type": "string" } },
            } } },
        })),
    }
}

fn responses(route: &Route, path: &str) -> Value {
    let mut responses = Map::new();
    for (status, body) in route.answers {
        responses.insert(status.to_string(), answer(*status, *body));
    }
    for status in refused(route, path) {
        let response = match route.caller {
            // A token opens nothing there, so the refusals of the others do not fit.
            Caller::GitHub => json!({
                "description": status_text(status),
                "content": { PROBLEM_JSON: { "schema": named("Problem") } },
            }),
            Caller::Anybody | Caller::Token(_) | Caller::Viewer(_) => {
                json!({ "$ref": format!("#/components/responses/{}", title(status)) })
            }
        };
        responses.insert(status.to_string(), response);
    }
    if route.sends == RequestBody::Message {
        responses.insert("400".to_owned(), unreadable_message());
    }
    Value::Object(responses)
}

/// An invalid message is refused in the words of its protocol, and a bad parameter as everywhere.
fn unreadable_message() -> Value {
    json!({
        "description": status_text(400),
        "content": {
            PROBLEM_JSON: { "schema": named("Problem") },
            "application/json": { "schema": answered_message("error") },
        },
    })
}

/// A message of JSON-RPC that answers another.
fn answered_message(what: &str) -> Value {
    json!({
        "type": "object",
        "required": ["jsonrpc", what],
        "properties": { "jsonrpc": { "const": "2.0" } },
    })
}

/// With what a route may refuse: what its row says, and what its caller, its parameters and its body bring about.
fn refused(route: &Route, path: &str) -> BTreeSet<u16> {
    let mut statuses: BTreeSet<u16> = route.refuses.iter().copied().collect();
    let reads_body = !matches!(route.sends, RequestBody::Nothing);
    if path.contains('{') || !route.parameters.is_empty() || reads_body {
        statuses.insert(400);
    }
    match route.sends {
        RequestBody::Nothing | RequestBody::Form => {}
        RequestBody::Json(_) | RequestBody::MaybeJson(_) => statuses.extend([408, 413, 415, 422]),
        RequestBody::Delivery => statuses.extend([408, 413, 422]),
        RequestBody::Message => statuses.extend([408, 413, 415]),
    }
    match route.caller {
        Caller::Anybody | Caller::Viewer(_) => {}
        Caller::Token(_) => statuses.extend([401, 403, 500, 503]),
        Caller::GitHub => statuses.extend([401, 503]),
    }
    statuses
}

fn answer(status: u16, body: ResponseBody) -> Value {
    let json = |schema: Value| json!({ "application/json": { "schema": schema } });
    let mut answer = match (status, body) {
        (202, ResponseBody::Nothing) => {
            json!({ "description": "It was taken, or is about nothing that is followed." })
        }
        (202, ResponseBody::Json(_)) => json!({ "description": "It is noted and will be done." }),
        (201, _) => json!({ "description": "It is made." }),
        _ => json!({ "description": "It is done, or shown." }),
    };
    let content = match body {
        ResponseBody::Json(name) => json(named(name)),
        ResponseBody::OpenApi => json(json!({ "type": "object", "required": ["openapi"] })),
        ResponseBody::Figures | ResponseBody::Text => {
            json!({ "text/plain": { "schema": { "type": "string" } } })
        }
        ResponseBody::Schema => {
            json!({ "application/schema+json": { "schema": { "type": "object", "required": ["$schema"] } } })
        }
        ResponseBody::Message => {
            let message = json!({ "type": "object", "required": ["jsonrpc"] });
            json!({
                "application/json": { "schema": message },
                "text/event-stream": { "schema": { "type": "string" } },
            })
        }
        ResponseBody::Nothing | ResponseBody::Page => return answer,
    };
    answer["content"] = content;
    if matches!(status, 201 | 202) {
        let means = if status == 201 {
            "What was made."
        } else {
            "Where to ask again."
        };
        answer["headers"] = json!({ "location": { "description": means, "required": true, "schema": { "type": "string" } } });
    }
    answer
}

/// All refusals of the API, by their titles.
fn refusals() -> Value {
    let all = [
        400, 401, 403, 404, 406, 408, 409, 410, 413, 415, 422, 500, 502, 503,
    ];
    let one = |status: u16| {
        let mut response = json!({
            "description": status_text(status),
            "content": { PROBLEM_JSON: { "schema": named("Problem") } },
        });
        let header = match status {
            401 => Some("www-authenticate"),
            503 => Some("retry-after"),
            _ => None,
        };
        if let Some(header) = header {
            response["headers"] =
                json!({ header: { "required": true, "schema": { "type": "string" } } });
        }
        (title(status).to_owned(), response)
    };
    Value::Object(all.into_iter().map(one).collect())
}

fn title(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        406 => "NotAcceptable",
        408 => "TooSlow",
        409 => "Conflict",
        410 => "Gone",
        413 => "TooLarge",
        415 => "NotJson",
        422 => "Unprocessable",
        500 => "Internal",
        502 => "BadGateway",
        503 => "Unavailable",
        _ => panic!("{status} has no title: add it here"),
    }
}

fn status_text(status: u16) -> &'static str {
    match status {
        400 => "The path, a parameter, a header or the JSON cannot be read; `field` names which.",
        401 => "There is no token, or it opens nothing.",
        403 => "The token's scope is too small.",
        404 => "There is no such thing.",
        406 => "The caller reads neither JSON nor events.",
        408 => "The body did not come in time.",
        409 => "It cannot be done as things stand; `code` and `reasons` say why.",
        410 => "The cursor is too old: begin anew without it.",
        413 => "The body is too large.",
        415 => "The body is said to be something else than JSON.",
        422 => "A field holds something that cannot be used; `field` names it.",
        500 => "Something stored cannot be used.",
        502 => "Jules or GitHub could not be read.",
        503 => "The store or the queue cannot be used just now: try again.",
        _ => panic!("{status} has no description: add it here"),
    }
}
