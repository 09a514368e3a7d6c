//! Repositories that were renamed or transferred: who may be led on, where to, and how far.

use domain::failure::{CallEffect, Failure, FailureClass};
use domain::ids::{CommitSha, RepoId, RepositoryIdentity};
use domain::policy::MergeMethod;
use engine::ports::{PullsRead, PullsWrite};
use github::{Reader, Writer};
use serde_json::json;

use crate::server::{Asked, Backend, Reply, Server, TOKEN, common, failed, now, pull};
use crate::world::*;

const NEW: &str = "/repositories/5";

fn moved(status: u16, to: &str) -> Reply {
    Reply::refusal(status, "Moved Permanently").with("location", to)
}

/// A GitHub on which `acme/shop` is now called `acme/store`: the old name leads on to the number.
fn renamed(asked: &Asked) -> Reply {
    let query = if asked.query.is_empty() {
        String::new()
    } else {
        format!("?{}", asked.query)
    };
    if let Some(rest) = asked.path.strip_prefix("/repos/acme/shop") {
        let status = if asked.method == "GET" { 301 } else { 307 };
        return moved(status, &format!("{}{NEW}{rest}{query}", asked.base));
    }
    let Some(rest) = asked.path.strip_prefix(NEW) else {
        return Reply::refusal(404, "Not Found");
    };
    if asked.method != "GET" {
        return Reply::ok(&json!({ "sha": OTHER, "merged": true }));
    }
    if rest.is_empty() {
        return Reply::ok(&json!({ "id": 5, "full_name": "acme/store", "default_branch": "main" }));
    }
    if rest == "/pulls/7" {
        let mut body = pull_json();
        for end in ["/head/repo/full_name", "/base/repo/full_name"] {
            *body.pointer_mut(end).unwrap() = json!("acme/store");
        }
        return Reply::ok(&body);
    }
    let as_before = Asked {
        path: format!("/repos/acme/shop{rest}"),
        ..asked.clone()
    };
    green(&as_before)
}

async fn merge(writer: &Writer) -> Result<CommitSha, Failure> {
    let head = HEAD.parse().unwrap();
    writer
        .merge(&pull(), &head, MergeMethod::Squash, None)
        .await
}

#[tokio::test]
async fn reads_are_led_on_within_the_api() {
    let server = Server::start(renamed).await;
    let reader = server.reader();
    let facts = reader.facts(&pull(), common(), now()).await.unwrap();
    let store = RepositoryIdentity {
        id: RepoId(5),
        name: "acme/store".parse().unwrap(),
    };
    assert_eq!(facts.repo, store);
    assert_eq!(facts.pull, pull(), "it keeps the name it is known by");
    assert!(facts.is_from_base_repository());
    assert_eq!(facts.checks.known().unwrap().len(), 1);
    assert!(facts.demands.known().is_some() && facts.files.known().is_some());
    assert_eq!(reader.identify(&pull().repo).await.unwrap(), store);
}

#[tokio::test]
async fn a_redirect_out_of_the_api_is_never_followed() {
    let elsewhere = Server::start(renamed).await;
    let base = elsewhere.base.clone();
    let targets = [
        format!("{base}{NEW}"),
        "https://evil.example/github/repositories/5".to_owned(),
        "//evil.example/repositories/5".to_owned(),
        "/repositories/5".to_owned(),
    ];
    for target in targets {
        for status in [301, 302, 307, 308] {
            let to = target.clone();
            let server = Server::start(move |_: &Asked| moved(status, &to)).await;
            let failure = server.reader().identify(&pull().repo).await.unwrap_err();
            assert_eq!(failure.class, FailureClass::NotFound);
            assert!(failure.message.contains("register it"), "{failure}");
            assert_eq!(server.asked().len(), 1);
        }
    }
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn nobody_is_led_on_for_ever() {
    let server =
        Server::start(|asked: &Asked| moved(301, &format!("{}/repos/a/b", asked.base))).await;
    let failure = server.reader().identify(&pull().repo).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Garbled);
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_write_follows_the_repository_that_was_read() {
    let server = Server::start(renamed).await;
    let client = Backend::new(TOKEN).client(&server, None);
    let (reader, writer) = (Reader::new(client.clone()), Writer::new(client));
    reader.identify(&pull().repo).await.unwrap();
    merge(&writer).await.unwrap();
    let lines = server.lines();
    assert_eq!(
        &lines[lines.len() - 2..],
        [
            "PUT /repos/acme/shop/pulls/7/merge",
            "PUT /repositories/5/pulls/7/merge"
        ]
    );
}

#[tokio::test]
async fn a_write_goes_nowhere_else() {
    let elsewhere = Server::start(renamed).await;
    let abroad = elsewhere.base.clone();
    let targets = [
        (307, "BASE/repositories/6/pulls/7/merge".to_owned()),
        (307, "BASE/repositories/5/pulls/8/merge".to_owned()),
        (307, format!("{abroad}/repositories/5/pulls/7/merge")),
        (307, "BASE/repos/acme/store/pulls/7/merge".to_owned()),
        // A redirect that turns the write into a read.
        (301, "BASE/repositories/5/pulls/7/merge".to_owned()),
    ];
    for (status, to) in targets {
        let server = Server::start(move |asked: &Asked| match asked.method.as_str() {
            "GET" => Reply::ok(&json!({ "id": 5, "full_name": "acme/shop" })),
            _ => moved(status, &to.replace("BASE", &asked.base)),
        })
        .await;
        let client = Backend::new(TOKEN).client(&server, None);
        let (reader, writer) = (Reader::new(client.clone()), Writer::new(client));
        reader.identify(&pull().repo).await.unwrap();
        let failure = merge(&writer).await.unwrap_err();
        failed(&failure, FailureClass::NotFound, CallEffect::No);
        assert_eq!(server.asked().len(), 2, "{:?}", server.lines());
    }
    assert!(elsewhere.asked().is_empty());

    // Nothing was read before, so which repository it should be is unknown.
    let server = Server::start(renamed).await;
    server.writer().label(&pull(), "x").await.unwrap_err();
    assert_eq!(server.asked().len(), 1);
}
