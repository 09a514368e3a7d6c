//! What an API behind a function URL does with each request apart from answering it.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use lambda_http::RequestExt;

/// The same API; its messages carry the trace of their request.
pub fn traced(router: Router) -> Router {
    router.layer(from_fn(within_trace))
}

async fn within_trace(request: Request, next: Next) -> Response {
    let context = request.lambda_context_ref();
    let trace = context.and_then(|context| context.xray_trace_id.clone());
    aws::within(trace, next.run(request)).await
}
