//! A name for each request, and one line in the log when it is answered. Bodies, queries and tokens stay out of it.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;
use tracing::Instrument;

use crate::state::ApiInner;

/// Carries the name of a request, on the way in if the caller has one, and on the way out.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest name of a caller that is taken over, in bytes.
const REQUEST_ID_BYTES_MAX: usize = 64;

/// Names the request, and logs how it was answered.
pub(crate) async fn request(
    State(api): State<Arc<ApiInner>>,
    request: Request,
    next: Next,
) -> Response {
    let id =
        request_id(&request).unwrap_or_else(|| api.backend.ulid().to_string().to_ascii_lowercase());
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("(none)", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let span = tracing::info_span!(
        "request", request.id = id, http.method = %method, http.route = route,
        token = tracing::field::Empty
    );
    answer(request, next, id).instrument(span).await
}

async fn answer(request: Request, next: Next, id: String) -> Response {
    let began = Instant::now();
    let mut response = next.run(request).await;
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = response.status().as_u16();
    tracing::debug!(
        http.status = status,
        http.duration_ms = duration_ms,
        "answered"
    );
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// The caller's own name for the request, if it is a plain word: it goes into the log.
fn request_id(request: &Request) -> Option<String> {
    let id = request.headers().get(&REQUEST_ID)?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let fits = !id.is_empty() && id.len() <= REQUEST_ID_BYTES_MAX && id.bytes().all(plain);
    fits.then(|| id.to_owned())
}
