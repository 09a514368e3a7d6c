//! Issues and our comment on them: scripted answers first, then the sandbox's GitHub.

use domain::delivery::IssueRef;
use domain::failure::{CallEffect, FailureClass};
use domain::ids::RepoName;
use engine::ports::{IssueComment, IssueFacts, IssuesRead, IssuesWrite};
use github::{Reader, Writer};
use jiff::{SignedDuration, Timestamp};
use sandbox::Scenario;
use sandbox::github::{
    APP_ID, DEFAULT_TOKEN, NewIssue, NewPull, Permissions, RepoSetup, Resource, TokenSetup,
};
use serde_json::{Value, json};

use crate::server::{Asked, Backend, Reply, Server, TOKEN, failed};
use crate::stage::SandboxStage;

/// The account of the token.
const OWN: u64 = 41;

fn repo() -> RepoName {
    "acme/shop".parse().unwrap()
}

fn issue() -> IssueRef {
    "acme/shop#7".parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn issue_json(number: u64) -> Value {
    json!({
        "number": number, "title": "Broken", "body": "It is.", "state": "open", "locked": false,
        "user": { "login": "ada", "id": 1 }, "labels": [{ "id": 1, "name": "gaffer", "color": "ededed" }],
        "closed_by": null, "closed_at": null, "updated_at": "2026-11-21T11:00:00Z",
    })
}

fn with(mut issue: Value, field: &str, value: Value) -> Value {
    issue[field] = value;
    issue
}

async fn one(body: Value) -> Result<IssueFacts, domain::failure::Failure> {
    let server = Server::start(move |_: &Asked| Reply::ok(&body)).await;
    server.reader().issue(&issue()).await
}

#[tokio::test]
async fn an_issue_is_read_as_it_is() {
    let facts = one(issue_json(7)).await.unwrap();
    let expected = IssueFacts {
        number: 7,
        title: "Broken".to_owned(),
        body: Some("It is.".to_owned()),
        labels: vec!["gaffer".to_owned()],
        is_open: true,
        closed_by: None,
        is_pull: false,
        updated_at: at("2026-11-21T11:00:00Z"),
    };
    assert_eq!(facts, expected);
    let mut closed = with(issue_json(7), "state", json!("closed"));
    closed["closed_by"] = json!({ "login": "eve", "id": 2 });
    closed["body"] = Value::Null;
    closed["labels"] = json!(["bug", { "name": null }, { "name": "wontfix" }]);
    closed["pull_request"] = json!({ "url": "https://api.github.com/repos/acme/shop/pulls/7" });
    let expected = IssueFacts {
        body: None,
        labels: vec!["bug".to_owned(), "wontfix".to_owned()],
        is_open: false,
        closed_by: Some("eve".to_owned()),
        is_pull: true,
        ..expected
    };
    assert_eq!(one(closed).await.unwrap(), expected);
}

#[tokio::test]
async fn what_is_odd_is_garbled_and_a_state_that_nobody_knows_closes_nothing() {
    let draft = with(issue_json(7), "state", json!("sleeping"));
    assert!(one(draft).await.unwrap().is_open);
    let without = |field: &str| {
        let mut body = issue_json(7);
        body.as_object_mut().unwrap().remove(field);
        body
    };
    for odd in [
        issue_json(8),
        json!([]),
        json!({ "message": "Not Found" }),
        without("state"),
        without("labels"),
        without("updated_at"),
        with(issue_json(7), "updated_at", json!("yesterday")),
        with(issue_json(7), "title", json!(7)),
    ] {
        let failure = one(odd.clone()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Garbled, "{odd}");
    }
}

#[tokio::test]
async fn text_from_outside_is_cut_and_a_failure_shows_no_secret() {
    let mut long = issue_json(7);
    long["title"] = json!("\u{e9}".repeat(1_000));
    long["body"] = json!("x".repeat(100_000));
    long["labels"] = (0..300)
        .map(|n| json!({ "name": format!("{n}{}", "y".repeat(500)) }))
        .collect();
    let facts = one(long).await.unwrap();
    assert_eq!(facts.title.chars().count(), 256);
    assert_eq!(facts.body.unwrap().len(), 65_536);
    assert_eq!(facts.labels.len(), 100);
    assert!(facts.labels.iter().all(|label| label.len() == 100));

    let told = format!("no {TOKEN} ghp_{} \u{1b}[31m", "a1".repeat(18));
    let server = Server::start(move |_: &Asked| Reply::refusal(404, &told)).await;
    let failure = server.reader().issue(&issue()).await.unwrap_err();
    let message = failure.message;
    assert!(
        !message.contains(TOKEN) && !message.contains("a1a1a1"),
        "{message}"
    );
    assert!(!message.contains('\u{1b}'), "{message}");
}

#[tokio::test]
async fn an_issue_that_is_gone_is_not_found() {
    for (status, message) in [
        (404, "Not Found"),
        (410, "This issue was deleted"),
        (301, "Moved Permanently"),
    ] {
        let server = Server::start(move |_: &Asked| Reply::refusal(status, message)).await;
        let failure = server.reader().issue(&issue()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound, "{status}");
        let failure = server.writer().close_issue(&issue()).await.unwrap_err();
        let told = (failure.class, failure.happened);
        assert_eq!(told, (FailureClass::NotFound, CallEffect::No), "{status}");
    }
}

/// A GitHub on which `acme/shop` is called `acme/store` and has the number 5, and where issue 7 leads on to `issue_at`.
fn moving(issue_at: &'static str) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked: &Asked| {
        let on = |to: &str| {
            Reply::refusal(if asked.method == "GET" { 301 } else { 307 }, "Moved")
                .with("location", format!("{}{to}", asked.base))
        };
        match asked.path.as_str() {
            "/repos/acme/shop" => on("/repositories/5"),
            "/repositories/5" => Reply::ok(&json!({ "id": 5, "full_name": "acme/store" })),
            "/repos/acme/shop/issues/7" => on(issue_at),
            _ => Reply::ok(&issue_json(7)),
        }
    }
}

#[tokio::test]
async fn a_renamed_repository_is_followed_and_a_transferred_issue_is_not() {
    let server = Server::start(moving("/repositories/5/issues/7")).await;
    let (reader, writer) = {
        let client = server.client();
        (Reader::new(client.clone()), Writer::new(client))
    };
    assert_eq!(reader.issue(&issue()).await.unwrap().number, 7);
    writer.close_issue(&issue()).await.unwrap();
    let again = server.lines().len();
    reader.issue(&issue()).await.unwrap();
    assert_eq!(
        server.lines().len(),
        again + 2,
        "which repository it is is known by now"
    );

    for elsewhere in [
        "/repositories/6/issues/7",
        "/repositories/5/issues/8",
        "/repositories/5/issues/7/comments",
    ] {
        let server = Server::start(moving(elsewhere)).await;
        let client = server.client();
        let reader = Reader::new(client.clone());
        let failure = reader.issue(&issue()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound, "{elsewhere}");
        let failure = Writer::new(client).close_issue(&issue()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound, "{elsewhere}");
        let line = |method: &str| format!("{method} {elsewhere}");
        assert!(!server.lines().contains(&line("GET")));
        assert!(!server.lines().contains(&line("PATCH")));
    }
}

/// Pages of issues whose numbers are given, in GitHub's order.
fn pages(pages: Vec<Vec<u64>>) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked: &Asked| {
        let page = asked
            .query
            .split('&')
            .find_map(|it| it.strip_prefix("page="));
        let at: usize = page.map_or(1, |page| page.parse().unwrap());
        let body: Value = pages[at - 1].iter().map(|n| issue_json(*n)).collect();
        let reply = Reply::ok(&body);
        if at < pages.len() {
            let next = format!(
                "<{}{}?page={}>; rel=\"next\"",
                asked.base,
                asked.path,
                at + 1
            );
            return reply.with("link", next);
        }
        reply
    }
}

fn numbers(issues: &[IssueFacts]) -> Vec<u64> {
    issues.iter().map(|issue| issue.number).collect()
}

#[tokio::test]
async fn changed_issues_are_read_to_the_last_page_and_each_once() {
    // While the first page was read, issue 4 moved to the front and pushed issue 3 on to the next page.
    let server = Server::start(pages(vec![vec![5, 3], vec![3, 2], vec![1]])).await;
    let since = at("2026-11-21T10:00:00.9Z");
    let read = server.reader().issues_since(&repo(), since).await.unwrap();
    assert_eq!(numbers(&read), [1, 2, 3, 5], "the longest unchanged first");
    assert_eq!(
        server.lines()[0],
        "GET /repos/acme/shop/issues?state=all&sort=updated&direction=desc&since=2026-11-21T10:00:00Z"
    );
    let server = Server::start(pages(vec![vec![2], vec![1]])).await;
    let read = server
        .reader()
        .issues_labelled(&repo(), "my label&x=1")
        .await;
    assert_eq!(numbers(&read.unwrap()), [1, 2]);
    assert_eq!(
        server.lines()[0],
        "GET /repos/acme/shop/issues?state=open&sort=updated&direction=desc&labels=my+label%26x%3D1"
    );
}

#[tokio::test]
async fn a_list_that_is_cut_short_is_no_list() {
    let broken: [fn(&Asked) -> Reply; 4] = [
        |_| Reply::refusal(502, "Server Error"),
        |_| Reply::text(200, "[{\"number\":"),
        |_| Reply::ok(&json!({ "message": "?" })),
        |asked| {
            let next = format!("<{}{}?page=3>; rel=\"next\"", asked.base, asked.path);
            Reply::ok(&json!([issue_json(1)])).with("link", next.replace("127.0.0.1", "localhost"))
        },
    ];
    for second in broken {
        let server = Server::start(move |asked: &Asked| {
            if asked.query.contains("page=2") {
                return second(asked);
            }
            let next = format!("<{}{}?page=2>; rel=\"next\"", asked.base, asked.path);
            Reply::ok(&json!([issue_json(2)])).with("link", next)
        })
        .await;
        let (reader, since) = (server.reader(), at("2026-11-21T10:00:00Z"));
        reader.issues_since(&repo(), since).await.unwrap_err();
        reader.issues_labelled(&repo(), "x").await.unwrap_err();
        reader.marked_comment(&issue(), "m").await.unwrap_err();
    }
    let endless = Server::start(|asked: &Asked| {
        let next = format!(
            "<{}{}?page={}>; rel=\"next\"",
            asked.base, asked.path, asked.before
        );
        Reply::ok(&json!([issue_json(2)])).with("link", next)
    })
    .await;
    let since = at("2026-11-21T10:00:00Z");
    let failure = endless.reader().issues_since(&repo(), since).await;
    assert_eq!(failure.unwrap_err().class, FailureClass::Garbled);
    assert!(endless.lines().len() < 50);
}

fn comment(id: u64, author: Option<u64>, body: &str) -> Value {
    let user = author.map(|id| json!({ "login": "x", "id": id }));
    json!({ "id": id, "user": user, "body": body })
}

fn talk(comments: Vec<Value>) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked: &Asked| match asked.path.as_str() {
        "/graphql" => Reply::ok(&json!({ "data": { "viewer": { "databaseId": OWN } } })),
        _ => Reply::ok(&Value::Array(comments.clone())),
    }
}

#[tokio::test]
async fn only_our_own_comment_is_taken_for_it() {
    let end = "<!-- gaffer:how-far -->";
    let quoted = format!("> hello {end}\n\nThanks!");
    let comments = vec![
        comment(1, Some(OWN), "no marker"),
        comment(2, Some(66), &format!("I am Gaffer.\n\n{end}")),
        comment(3, None, &format!("A ghost.\n\n{end}")),
        comment(4, Some(OWN), &quoted),
        comment(6, Some(OWN), &format!("The second.\n\n{end}\n")),
        comment(5, Some(OWN), &format!("The first.\n\n{end}\r\n")),
    ];
    let server = Server::start(talk(comments)).await;
    let reader = server.reader();
    for _ in 0..2 {
        let found = reader.marked_comment(&issue(), "how-far").await.unwrap();
        let first = IssueComment {
            id: 5,
            body: format!("The first.\n\n{end}\r\n"),
        };
        assert_eq!(found, Some(first));
    }
    let asked = |line: &str| server.lines().iter().filter(|it| *it == line).count();
    assert_eq!(
        asked("POST /graphql"),
        1,
        "whose the credential is is asked once"
    );

    let server = Server::start(talk(vec![comment(2, Some(66), end)])).await;
    let found = server.reader().marked_comment(&issue(), "how-far").await;
    assert_eq!(found.unwrap(), None);
    let server = Server::start(talk(vec![comment(1, Some(OWN), "hello")])).await;
    let found = server.reader().marked_comment(&issue(), "how-far").await;
    assert_eq!(found.unwrap(), None);
    assert_eq!(
        server.lines().len(),
        1,
        "without a marker nobody is asked who we are"
    );
}

#[tokio::test]
async fn writes_say_exactly_what_they_do() {
    let server = Server::start(|_: &Asked| Reply::ok(&json!({}))).await;
    let backend = Backend::new(TOKEN);
    let writer = Writer::new(backend.client(&server, None));
    // Writes are a second apart.
    let pass = || backend.pass(SignedDuration::from_secs(2));
    writer.comment(&issue(), "Hello.", "m1").await.unwrap();
    pass();
    let (text, marker) = ("Hello again.", "m1");
    let edited = writer.edit_comment(&repo(), 12, text, marker).await;
    edited.unwrap();
    pass();
    writer.close_issue(&issue()).await.unwrap();
    pass();
    let sent: Vec<_> = server
        .asked()
        .iter()
        .map(|it| (it.line(), it.body.clone()))
        .collect();
    let expected = [
        (
            "POST /repos/acme/shop/issues/7/comments",
            json!({ "body": "Hello.\n\n<!-- gaffer:m1 -->" }),
        ),
        (
            "PATCH /repos/acme/shop/issues/comments/12",
            json!({ "body": "Hello again.\n\n<!-- gaffer:m1 -->" }),
        ),
        (
            "PATCH /repos/acme/shop/issues/7",
            json!({ "state": "closed", "state_reason": "completed" }),
        ),
    ];
    assert_eq!(sent, expected.map(|(line, body)| (line.to_owned(), body)));

    for marker in ["", "a--b", "a>b", "a\nb"] {
        let refused = writer.comment(&issue(), "x", marker).await.unwrap_err();
        let edited = writer.edit_comment(&repo(), 1, "x", marker).await;
        for failure in [refused, edited.unwrap_err()] {
            failed(&failure, FailureClass::Invalid, CallEffect::No);
        }
    }
    let long = "\u{e9}".repeat(70_000);
    writer.comment(&issue(), &long, "m1").await.unwrap();
    let sent = server.asked().pop().unwrap().body["body"].clone();
    let sent = sent.as_str().unwrap();
    assert_eq!(sent.chars().count(), 65_536);
    assert!(sent.ends_with("<!-- gaffer:m1 -->"));
    assert_eq!(server.asked().len(), 4);
}

async fn stage() -> SandboxStage {
    SandboxStage::new(Scenario {
        repos: vec![RepoSetup::new("acme/shop"), RepoSetup::new("acme/store")],
        ..Scenario::default()
    })
    .await
}

fn open(stage: &SandboxStage, labels: &[&str]) -> IssueRef {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    let new = NewIssue {
        title: "Broken".to_owned(),
        body: "It is.".to_owned(),
        author_login: "ada".to_owned(),
        labels,
    };
    let now = stage.clock.now();
    let number = stage.sandbox.github().open_issue(now, "acme/shop", new);
    IssueRef {
        repo: repo(),
        number,
    }
}

#[tokio::test]
async fn the_sandbox_lists_what_changed_in_all_its_pages() {
    let stage = stage().await;
    let begin = stage.clock.now();
    for n in 0..250 {
        open(&stage, if n % 2 == 0 { &["Gaffer"] } else { &[] });
        stage.pass(1);
    }
    let pull = NewPull {
        title: "A pull request".to_owned(),
        head_branch: "a".to_owned(),
        author_login: "ada".to_owned(),
        ..NewPull::default()
    };
    let github = stage.sandbox.github();
    github.open_pull(stage.clock.now(), "acme/shop", pull);
    let client = stage.client(DEFAULT_TOKEN, None);
    let reader = Reader::new(client.clone());
    let all = reader.issues_since(&repo(), begin).await.unwrap();
    assert_eq!(numbers(&all), (1..=251).collect::<Vec<_>>());
    assert!(all.last().unwrap().is_pull && !all[0].is_pull);
    let labelled = reader.issues_labelled(&repo(), "gaffer").await.unwrap();
    assert_eq!(labelled.len(), 125);
    assert!(labelled.iter().all(|issue| issue.labels == ["Gaffer"]));

    // What was read last is read again, for nothing, until something changes.
    let newest = all.last().unwrap().updated_at;
    let again = reader.issues_since(&repo(), newest).await.unwrap();
    assert_eq!(numbers(&again), [251]);
    reader.issues_since(&repo(), newest).await.unwrap();
    assert_eq!(client.usage().not_modified, 1);
    stage.pass(60);
    github.close_as(stage.clock.now(), "acme/shop", 9, "eve");
    let changed = reader.issues_since(&repo(), newest).await.unwrap();
    assert_eq!(numbers(&changed), [251, 9]);
    assert_eq!(changed[1].closed_by.as_deref(), Some("eve"));
}

#[tokio::test]
async fn an_issue_is_commented_on_once_edited_and_closed() {
    for (secret, app_id) in [
        (DEFAULT_TOKEN, None),
        (include_str!("keys/app.pem"), Some(APP_ID)),
    ] {
        let stage = stage().await;
        let issue = open(&stage, &["gaffer"]);
        let github = stage.sandbox.github();
        let now = || stage.clock.now();
        let forged = "I am Gaffer.\n\n<!-- gaffer:how-far -->";
        github.comment(now(), "acme/shop", issue.number, ("mallory", forged));
        let (reader, writer) = stage.adapters(secret, app_id);
        let marked = async || reader.marked_comment(&issue, "how-far").await.unwrap();
        assert_eq!(marked().await, None);
        stage.pass(2);
        writer
            .comment(&issue, "It begins.", "how-far")
            .await
            .unwrap();
        let ours = marked().await.unwrap();
        assert!(ours.body.starts_with("It begins."), "{ours:?}");
        stage.pass(2);
        let (text, marker) = ("It ended.", "how-far");
        let edited = writer.edit_comment(&repo(), ours.id, text, marker).await;
        edited.unwrap();
        let edited = marked().await.unwrap();
        assert!(edited.id == ours.id && edited.body.starts_with("It ended."));
        stage.pass(2);
        writer.close_issue(&issue).await.unwrap();
        stage.pass(2);
        writer.close_issue(&issue).await.unwrap();
        assert!(!reader.issue(&issue).await.unwrap().is_open);
        let seen = github.issue("acme/shop", issue.number).unwrap();
        assert_eq!(seen.state_reason.as_deref(), Some("completed"));
        let counters = stage.sandbox.counters();
        let counted = (counters.comments, counters.comment_edits, counters.closes);
        assert_eq!(counted, (1, 1, 1));
        github.delete_comment(now(), "acme/shop", ours.id);
        assert_eq!(marked().await, None);
        stage.pass(2);
        let gone = writer.edit_comment(&repo(), ours.id, text, marker).await;
        assert_eq!(gone.unwrap_err().class, FailureClass::NotFound);
    }
}

#[tokio::test]
async fn what_the_sandbox_deleted_or_moved_is_not_found() {
    let stage = stage().await;
    let (reader, writer) = stage.adapters(DEFAULT_TOKEN, None);
    let (deleted, moved) = (open(&stage, &[]), open(&stage, &[]));
    let github = stage.sandbox.github();
    github.delete_issue(stage.clock.now(), "acme/shop", deleted.number);
    let now = stage.clock.now();
    let there = github.transfer_issue(now, "acme/shop", moved.number, "acme/store");
    for gone in [&deleted, &moved] {
        let failure = reader.issue(gone).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound, "{gone}");
        stage.pass(2);
        let failure = writer.close_issue(gone).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound, "{gone}");
        stage.pass(2);
        let failure = writer.comment(gone, "Hello.", "m").await.unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound, "{gone}");
        stage.pass(2);
    }
    let untouched = github.issue("acme/store", there.unwrap()).unwrap();
    assert!(untouched.is_open && untouched.comments.is_empty());

    // A renamed repository is another matter.
    let kept = open(&stage, &[]);
    github.rename_repo("acme/shop", "acme/outlet");
    assert!(reader.issue(&kept).await.unwrap().is_open);
    writer.close_issue(&kept).await.unwrap();
    assert_eq!(github.is_closed("acme/outlet", kept.number), Some(true));
}

#[tokio::test]
async fn an_app_that_may_not_write_issues_is_told_so() {
    let stage = stage().await;
    let issue = open(&stage, &[]);
    let read_only = Permissions::all().with(Resource::Issues, sandbox::github::Access::Read);
    stage.sandbox.github().add_token(TokenSetup {
        token: "narrow".to_owned(),
        permissions: read_only,
        ..TokenSetup::default()
    });
    let writer = Writer::new(stage.client("narrow", None));
    let failure = writer.comment(&issue, "Hello.", "m").await.unwrap_err();
    failed(&failure, FailureClass::Forbidden, CallEffect::No);
}
