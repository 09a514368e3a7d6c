//! The table of routes, the router and the OpenAPI document tell the same.

mod document;
mod schemas;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use api::{Caller, Route, routes};
use axum::http;
use domain::delivery::{ChildState, DeliveryKind};
use expect_test::expect_file;
use serde_json::Value;

use crate::matrix::method;
use crate::world::{Answer, World};

/// A path with something in place of what varies.
fn filled(path: &str) -> String {
    let parts = path.split('/').map(|part| match part.split_once('}') {
        Some((_, rest)) => format!("x{rest}"),
        None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Both spellings of a route.
fn spellings(route: &Route) -> impl Iterator<Item = &'static str> {
    [Some(route.path), route.colon].into_iter().flatten()
}

/// The routes that `gaffer up` serves apart from the webhook's.
fn served_routes() -> impl Iterator<Item = &'static Route> {
    routes().filter(|route| route.caller != Caller::GitHub)
}

/// Whether nothing is served there.
fn is_unserved(answer: &Answer) -> bool {
    let codes = ["no_such_route", "no_such_method", "no_such_verb"];
    let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    codes.iter().any(|code| body["code"] == *code)
}

#[test]
fn the_document_is_what_the_table_and_the_wire_types_say() {
    let text = serde_json::to_string_pretty(&document::derived()).unwrap();
    expect_file!["../../../../docs/openapi.json"].assert_eq(&format!("{text}\n"));
}

#[tokio::test]
async fn the_schema_of_a_delivery_is_what_its_wire_type_says() {
    let text = serde_json::to_string_pretty(&schemas::delivery()).unwrap();
    expect_file!["../../../../docs/delivery.schema.json"].assert_eq(&format!("{text}\n"));
    let world = World::new().await;
    let answer = world.get("/api/deliveries/schema").await;
    assert_eq!(answer.header("content-type"), "application/schema+json");
    assert_eq!(answer.ok(200), schemas::delivery());
}

/// Those of the kinds `member` and `integration` are refused, so none is sent.
#[test]
fn the_schema_of_a_delivery_names_every_kind_and_every_state_of_a_part() {
    let schema = schemas::delivery();
    let names = |place: &str, word: Value| {
        let told = schema.pointer(place).and_then(Value::as_str).unwrap();
        let word = word.as_str().unwrap();
        assert!(told.contains(&format!("`{word}`")), "{word}: {told}");
    };
    for kind in [
        DeliveryKind::Issue,
        DeliveryKind::Requirement,
        DeliveryKind::Adhoc,
    ] {
        let word = serde_json::to_value(kind).unwrap();
        names("/properties/kind/description", word);
    }
    for state in [
        ChildState::Open,
        ChildState::Failed,
        ChildState::Closed,
        ChildState::Cancelled,
        ChildState::Abandoned,
    ] {
        let word = serde_json::to_value(state).unwrap();
        names("/$defs/ChildView/properties/state/description", word);
    }
}

#[tokio::test]
async fn the_document_is_told_to_whoever_has_a_token() {
    let world = World::new().await;
    let answer = world.get("/openapi.json").await;
    assert_eq!(answer.header("content-type"), "application/json");
    let kept = fs::read_to_string("../../docs/openapi.json").unwrap();
    assert_eq!(
        answer.ok(200),
        serde_json::from_str::<Value>(&kept).unwrap()
    );
}

#[tokio::test]
async fn everything_in_the_table_is_served_and_nothing_else() {
    let world = World::new().await;
    for path in served_routes().flat_map(spellings).map(filled) {
        // A part that is spelt out wins over one that varies.
        let spelt = |it: &str| it.split('/').filter(|part| !part.contains('{')).count();
        let covering = served_routes().flat_map(spellings);
        let most = covering.filter(|it| covers(it, &path)).map(spelt).max();
        for asked in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let is_in_table = served_routes().any(|route| {
                let is_meant = |it: &str| covers(it, &path) && Some(spelt(it)) == most;
                method(route) == asked && spellings(route).any(is_meant)
            });
            let asked: http::Method = asked.parse().unwrap();
            let answer = world.call(asked.clone(), &path, (&[], "{}")).await;
            assert_ne!(
                is_unserved(&answer),
                is_in_table,
                "{asked} {path}: {answer:?}"
            );
        }
    }
    let nowhere = world.get("/no/such/route").await;
    assert!(is_unserved(&nowhere), "{nowhere:?}");
}

/// Whether a path pattern covers this path too.
fn covers(varying: &str, path: &str) -> bool {
    let (varying, path) = (varying.split('/'), path.split('/'));
    let is_same = |(varying, part): (&str, &str)| match varying.split_once('}') {
        Some((_, "")) => true,
        Some((_, word)) => part.ends_with(word),
        None => varying == part,
    };
    varying.clone().count() == path.clone().count() && varying.zip(path).all(is_same)
}

#[test]
fn only_the_table_makes_routes() {
    let mut made = Vec::new();
    rust_files(Path::new("src"), &mut |path, text| {
        let lines = text.lines().filter(|line| line.contains(".route("));
        made.extend(lines.map(|line| format!("{path}: {}", line.trim())));
    });
    made.sort();
    assert_eq!(
        made,
        [
            r#"src/http_api.rs: .route("/jobs/{job}", post(orders::by_colon))"#,
            "src/http_api.rs: .route(mail::ONE, post(mail::by_colon))",
            "src/http_api.rs: .route(mcp::TOOLS.path, tools)",
            "src/http_api.rs: .route(sprints::ONE, post(sprints::by_colon))",
            "src/route.rs: router.route(row.route.path, (row.serve)())",
        ]
    );
}

fn rust_files(folder: &Path, each: &mut impl FnMut(&str, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, each);
        } else if path.extension().is_some_and(|it| it == "rs") {
            each(
                &path.display().to_string(),
                &fs::read_to_string(&path).unwrap(),
            );
        }
    }
}

#[test]
fn every_route_has_a_name_of_its_own_and_says_what_it_answers() {
    let names: Vec<&str> = routes().map(|route| route.id).collect();
    let once: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), once.len(), "{names:?}");
    for route in routes() {
        assert!(!route.answers.is_empty(), "{}", route.id);
        assert!(!route.summary.ends_with('.'), "{}", route.id);
    }
}
