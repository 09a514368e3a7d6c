//! What the client refuses before it calls, and how failed calls read.

use std::sync::Once;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Redirect;
use axum::routing::get;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use url::Url;

use super::{Client, Error};

static PROVIDER: Once = Once::new();

fn client(base: &str, token: &str) -> Result<Client, Error> {
    PROVIDER.call_once(|| {
        rustls::crypto::ring::default_provider()
            .install_default()
            .unwrap();
    });
    Client::new(base.parse::<Url>().unwrap(), token.into())
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/gaffer/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

#[test]
fn googles_keys_are_refused_before_anything_is_sent() {
    for key in ["AIzaSyA0123456789", "AQ.Ab8RN6", " AIzaSyA0123456789\n"] {
        let error = client("http://127.0.0.1:4180", key).unwrap_err();
        assert!(matches!(error, Error::GoogleKey), "{error:?}");
        assert!(!error.to_string().contains(key.trim()), "{error}");
    }
}

#[test]
fn tokens_that_no_header_carries_are_refused() {
    for token in ["", "  ", "a b", "a\nb", "tökén"] {
        let error = client("http://127.0.0.1:4180", token).unwrap_err();
        assert!(matches!(error, Error::Token), "{error:?}");
    }
    assert!(client("http://127.0.0.1:4180", "gaf_token\n").is_ok());
}

#[test]
fn addresses_that_could_leak_are_refused_without_repeating_the_leak() {
    for base in [
        "ftp://host/",
        "http://u:hunter2@host/",
        "http://host/?token=hunter2",
        "http://host/#hunter2",
    ] {
        let error = client(base, "gaf_token").unwrap_err();
        assert!(matches!(error, Error::Base { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}

#[test]
fn a_client_does_not_show_its_token() {
    let client = client("http://127.0.0.1:4180", "gaf_canary").unwrap();
    assert!(!format!("{client:?}").contains("canary"));
}

#[tokio::test]
async fn names_that_could_be_other_paths_are_not_sent() {
    let client = client("http://127.0.0.1:1", "gaf_token").unwrap();
    for id in [
        "",
        ".",
        "..",
        "../status",
        "a/b",
        "a/b#0",
        "../b#7",
        "a?b",
        "a%2fb",
        "a:b",
    ] {
        let error = client.job(id).await.unwrap_err();
        assert!(matches!(error, Error::Id(_)), "{id}: {error:?}");
    }
}

#[tokio::test]
async fn where_nobody_listens_gaffer_up_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = client(&format!("http://{address}"), "gaf_token").unwrap();
    let error = client.status().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("gaffer up"), "{error}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_mistaken_for_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).await.unwrap() > 0);
    });
    let client = client(&base, "gaf_token").unwrap();
    let error = client
        .retry("123", &crate::wire::RetryRequest::default())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NoAnswer { .. }), "{error:?}");
    assert!(error.to_string().contains("may have been taken"), "{error}");
}

#[tokio::test]
async fn what_does_not_speak_as_gaffer_is_told_apart() {
    let router = Router::new()
        .route("/gaffer/jobs/1", get(async || "<html>hello</html>"))
        .route(
            "/gaffer/jobs/2",
            get(async || (StatusCode::NOT_FOUND, "<html>no</html>")),
        )
        .route(
            "/gaffer/jobs/3",
            get(async || Redirect::temporary("/gaffer/healthz")),
        );
    let client = client(&serve(router).await, "gaf_token").unwrap();
    for (id, expected) in [("1", 200), ("2", 404), ("3", 307)] {
        let error = client.job(id).await.unwrap_err();
        assert!(
            matches!(error, Error::Foreign { status, .. } if status == expected),
            "{id}: {error:?}"
        );
    }
}

#[tokio::test]
async fn the_base_may_have_a_path_and_parameters_are_escaped() {
    let echo = async |uri: Uri, headers: HeaderMap| {
        let token = headers["authorization"].to_str().unwrap().to_owned();
        let detail = format!("{uri} {token}");
        let problem = crate::wire::Problem::new(418, "I'm a teapot", "echo", detail);
        let json = serde_json::to_string(&problem).unwrap();
        (StatusCode::IM_A_TEAPOT, json)
    };
    let router = Router::new().fallback(echo);
    let client = client(&serve(router).await, "gaf_token").unwrap();
    let repo = "acme/shop".parse().unwrap();
    let error = client.jobs(Some(&repo), Some(7)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "/gaffer/jobs?repo=acme%2Fshop&limit=7 Bearer gaf_token"
    );
}
