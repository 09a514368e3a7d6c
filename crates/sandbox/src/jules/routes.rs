//! The HTTP API of the small Jules.

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;

use super::Jules;
use super::call::Call;
use super::mask::Mask;
use super::query::Query;
use super::refusal::JulesRefusal;
use super::serve::{Answer, Visit};
use super::switches::{EmptyBody, FieldMask};

/// The routes below `/v1alpha`.
pub(crate) fn router(jules: Jules) -> Router {
    Router::new()
        .fallback(answer)
        .layer(DefaultBodyLimit::disable())
        .with_state(jules)
}

async fn answer(
    State(jules): State<Jules>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    respond(&jules, &method, &uri, &headers, &body).unwrap_or_else(IntoResponse::into_response)
}

fn respond(
    jules: &Jules,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response, JulesRefusal> {
    let call = Call::read(method, uri.path()).ok_or_else(JulesRefusal::not_found)?;
    jules.count(&call);
    let text = uri.query().unwrap_or_default();
    let (now, lags) = jules.moment();
    let mut world = jules.world();
    let account = world.admit(&key_of(headers, text), now)?;
    let query = Query::read(text, call.parameters())?;
    let mask = mask_of(headers, &query, world.settings.switches.field_mask)?;
    let visit = Visit {
        account,
        query,
        now,
        lags,
    };
    let answer = jules.serve(&mut world, &call, &visit, body)?;
    Ok(match answer {
        Answer::Json(value) => json_response(&mask.apply(value)),
        Answer::Nothing => match world.settings.switches.empty_body {
            EmptyBody::NoBytes => Response::new(Body::empty()),
            EmptyBody::EmptyObject => json_response(&Value::Object(serde_json::Map::new())),
        },
    })
}

/// The API key: header first, else `?key=`. A bearer token never counts as a key.
fn key_of(headers: &HeaderMap, query: &str) -> String {
    if headers.contains_key(AUTHORIZATION) {
        return String::new();
    }
    if let Some(key) = headers
        .get("x-goog-api-key")
        .and_then(|it| it.to_str().ok())
    {
        return key.to_owned();
    }
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs
        .find(|(name, _)| name == "key")
        .map_or_else(String::new, |(_, key)| key.into_owned())
}

fn mask_of(headers: &HeaderMap, query: &Query, switch: FieldMask) -> Result<Mask, JulesRefusal> {
    let header = headers
        .get("x-goog-fieldmask")
        .and_then(|it| it.to_str().ok());
    let text = header.unwrap_or(&query.fields);
    match switch {
        FieldMask::Honoured => Mask::read(text),
        FieldMask::Ignored => Ok(Mask::default()),
        FieldMask::Refused if text.is_empty() => Ok(Mask::default()),
        FieldMask::Refused => Err(JulesRefusal::unknown_parameter("fields")),
    }
}

fn json_response(value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    let kind = HeaderValue::from_static("application/json; charset=UTF-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
