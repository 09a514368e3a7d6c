//! A function URL: requests become events of Lambda, and its answers responses, as AWS does it.
//!
//! Source: AWS Lambda, "Invoking Lambda function URLs", payload format 2.0.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Context, LambdaEvent, Service};
use serde_json::{Map, Value, json};

/// Serves a router as its function would, behind a URL.
pub(super) fn function_url(router: Router) -> Router {
    Router::new().fallback(move |request: Request| {
        let router = router.clone();
        async move { invoke(router, request).await }
    })
}

async fn invoke(router: Router, request: Request) -> Response {
    let event: LambdaRequest =
        serde_json::from_value(event_of(request).await).expect("an event of a function URL");
    let event = LambdaEvent::new(event, Context::default());
    // The adapter itself may not wait on another thread.
    let answering = Adapter::from(router).call(event);
    let answer = answering.await.expect("a router never fails");
    let answer = serde_json::to_value(answer).expect("an answer");
    response_of(&answer).into_response()
}

async fn event_of(request: Request) -> Value {
    let (method, uri) = (request.method().to_string(), request.uri().clone());
    let mut headers = Map::new();
    for (name, value) in request.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        headers
            .entry(name.as_str())
            .and_modify(|known| *known = format!("{},{value}", known.as_str().unwrap_or("")).into())
            .or_insert(value.into());
    }
    let body = Bytes::from_request(request, &()).await.expect("a body");
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": uri.path(),
        "rawQueryString": uri.query().unwrap_or(""),
        "headers": headers,
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "url",
            "domainName": "url.lambda-url.local",
            "domainPrefix": "url",
            "http": {
                "method": method,
                "path": uri.path(),
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "test",
            },
            "requestId": "request",
            "routeKey": "$default",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1_767_225_600_000_i64,
        },
        "body": STANDARD.encode(&body),
        "isBase64Encoded": true,
    })
}

fn response_of(answer: &Value) -> Response {
    let status = answer["statusCode"]
        .as_u64()
        .and_then(|status| u16::try_from(status).ok());
    let text = answer["body"].as_str().unwrap_or("");
    let body = if answer["isBase64Encoded"] == true {
        STANDARD.decode(text).expect("a body in base64")
    } else {
        text.as_bytes().to_vec()
    };
    let mut response = Response::builder().status(status.expect("a status"));
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        response = response.header(name, value.as_str().unwrap_or(""));
    }
    response.body(Body::from(body)).expect("a response")
}
