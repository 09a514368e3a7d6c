//! Lists: paging, filters, masks, orders.

use serde_json::{Value, json};

use crate::ForeignSession;
use crate::jules::{ActivityFilter, FieldMask, Order, SessionFilter};
use crate::tests::stand::{Stand, steps, string};

/// A stand with sessions created one second apart, answered in the order of their creation.
async fn with_sessions(count: usize) -> (Stand, Vec<String>) {
    let stand = Stand::playing(steps(json!([]))).await;
    let mut ids = Vec::new();
    for _ in 0..count {
        let foreign = ForeignSession {
            state: "COMPLETED".to_owned(),
            ..ForeignSession::default()
        };
        ids.extend(stand.sandbox.jules().add_foreign(&foreign).unwrap());
        stand.pass(1_000);
    }
    (stand, ids)
}

fn ids_of(page: &Value) -> Vec<String> {
    let items = page["sessions"].as_array().cloned().unwrap_or_default();
    items.iter().map(|it| string(&it["id"])).collect()
}

#[tokio::test]
async fn sessions_come_in_pages_newest_first() {
    let (stand, mut ids) = with_sessions(5).await;
    ids.reverse();
    let first = stand.get("/sessions?pageSize=2").await.json();
    assert_eq!(ids_of(&first), ids[..2]);
    let token = string(&first["nextPageToken"]);
    let second = stand
        .get(&format!("/sessions?pageSize=2&pageToken={token}"))
        .await
        .json();
    assert_eq!(ids_of(&second), ids[2..4]);
    let token = string(&second["nextPageToken"]);
    let last = stand
        .get(&format!("/sessions?pageSize=2&pageToken={token}"))
        .await
        .json();
    assert_eq!(ids_of(&last), ids[4..]);
    assert_eq!(last.get("nextPageToken"), None);

    stand.switch(|it| it.session_order = Order::OldestFirst);
    ids.reverse();
    assert_eq!(ids_of(&stand.get("/sessions").await.json()), ids);
}

#[tokio::test]
async fn page_sizes_have_defaults_and_are_coerced() {
    let (stand, ids) = with_sessions(105).await;
    for (asked, got) in [
        ("", 30),
        ("pageSize=0", 30),
        ("pageSize=100", 100),
        ("pageSize=1000", 100),
    ] {
        let page = stand.get(&format!("/sessions?{asked}")).await.json();
        assert_eq!(ids_of(&page).len(), got, "{asked}");
    }
    for wrong in ["pageSize=-1", "pageSize=ten"] {
        assert_eq!(
            stand.get(&format!("/sessions?{wrong}")).await.refusal().1,
            "INVALID_ARGUMENT"
        );
    }
    let say: Vec<Value> = (0..60).map(|_| json!({ "say": { "text": "x" } })).collect();
    stand
        .sandbox
        .jules()
        .append_steps(&ids[0], steps(json!(say)));
    stand.pass(0);
    let page = stand
        .get(&format!("/sessions/{}/activities", ids[0]))
        .await
        .json();
    assert_eq!(page["activities"].as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn only_lists_take_pages_and_filters() {
    let (stand, ids) = with_sessions(1).await;
    for name in ["pageSize", "pageToken", "filter", "orderBy"] {
        let path = format!("/sessions/{}?{name}=1", ids[0]);
        assert_eq!(
            stand.get(&path).await.refusal().1,
            "INVALID_ARGUMENT",
            "{name}"
        );
    }
    assert_eq!(stand.get("/sessions?orderBy=x").await.status, 400);
    assert_eq!(
        stand
            .get("/sessions?alt=json&prettyPrint=false")
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn a_token_is_good_only_for_its_own_list() {
    let (stand, ids) = with_sessions(3).await;
    let token = string(&stand.get("/sessions?pageSize=1").await.json()["nextPageToken"]);
    for path in [
        "/sessions?pageToken=nonsense".to_owned(),
        format!("/sources?pageToken={token}"),
        format!("/sessions/{}/activities?pageToken={token}", ids[0]),
        format!("/sessions?filter=archived%20%3D%20true&pageToken={token}"),
    ] {
        assert_eq!(
            stand.get(&path).await.refusal().1,
            "INVALID_ARGUMENT",
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_page_survives_what_is_created_meanwhile() {
    let (stand, ids) = with_sessions(3).await;
    let token = string(&stand.get("/sessions?pageSize=1").await.json()["nextPageToken"]);
    stand.create().await;
    let rest = stand
        .get(&format!("/sessions?pageToken={token}"))
        .await
        .json();
    assert_eq!(ids_of(&rest), [ids[1].clone(), ids[0].clone()]);
}

#[tokio::test]
async fn archived_sessions_are_hidden_unless_asked_for() {
    let (stand, ids) = with_sessions(2).await;
    stand
        .post(&format!("/sessions/{}:archive", ids[0]), &json!({}))
        .await;
    assert_eq!(
        ids_of(&stand.get("/sessions").await.json()),
        [ids[1].clone()]
    );
    let archived = "/sessions?filter=archived%20%3D%20true";
    assert_eq!(ids_of(&stand.get(archived).await.json()), [ids[0].clone()]);
    assert_eq!(stand.session(&ids[0]).await["archived"], true);
    assert_eq!(stand.sandbox.counters().archives, 1);
    stand
        .post(&format!("/sessions/{}:unarchive", ids[0]), &json!({}))
        .await;
    assert_eq!(ids_of(&stand.get("/sessions").await.json()).len(), 2);
    assert_eq!(stand.get(archived).await.text, "{}");
}

#[tokio::test]
async fn filters_on_sessions_are_taken_as_switched() {
    let (stand, ids) = with_sessions(1).await;
    let new = stand.create().await;
    for (switch, wanted) in [
        (SessionFilter::Refused, [400, 400, 400]),
        (SessionFilter::ArchivedOnly, [200, 400, 400]),
        (SessionFilter::StateAndSource, [200, 200, 200]),
    ] {
        stand.switch(|it| it.session_filter = switch);
        let mut got = Vec::new();
        for filter in [
            "archived=false",
            "state=COMPLETED",
            "source=%22sources/github/acme/shop%22",
        ] {
            got.push(
                stand
                    .get(&format!("/sessions?filter={filter}"))
                    .await
                    .status,
            );
        }
        assert_eq!(got, wanted, "{switch:?}");
    }
    let by_state = |state: &str| format!("/sessions?filter=state%3D{state}");
    assert_eq!(ids_of(&stand.get(&by_state("QUEUED")).await.json()), [new]);
    assert_eq!(ids_of(&stand.get(&by_state("COMPLETED")).await.json()), ids);
    assert_eq!(
        stand
            .get("/sessions?filter=source%3D%22sources/github/a/b%22")
            .await
            .text,
        "{}"
    );
}

#[tokio::test]
async fn the_filter_on_activities_is_strictly_greater() {
    let say = json!({ "say": { "after": "1s", "text": "x" } });
    let stand = Stand::playing(steps(json!([say, say, say]))).await;
    let id = stand.create().await;
    stand.pass(10_000);
    let since = async |operator: &str| {
        let filter = format!("create_time{operator}\"2026-11-20T10:00:03Z\"");
        let path = format!("/sessions/{id}/activities");
        let reply = stand.get_filtered(&path, &filter).await;
        (
            reply.status,
            reply.json()["activities"].as_array().map_or(0, Vec::len),
        )
    };
    for (switch, greater, or_equal) in [
        (ActivityFilter::Accepted, (200, 1), (200, 2)),
        (ActivityFilter::GreaterOnly, (200, 1), (400, 0)),
        (ActivityFilter::Refused, (400, 0), (400, 0)),
    ] {
        stand.switch(|it| it.activity_filter = switch);
        assert_eq!(since(">").await, greater, "{switch:?}");
        assert_eq!(since(">=").await, or_equal, "{switch:?}");
    }
    stand.switch(|it| it.activity_filter = ActivityFilter::Accepted);
    assert_eq!(since("<").await.0, 400);
}

#[tokio::test]
async fn activities_come_oldest_or_newest_first_in_pages() {
    let say = |text: &str| json!({ "say": { "after": "1s", "text": text } });
    let stand = Stand::playing(steps(json!([say("a"), say("b"), say("c")]))).await;
    let id = stand.create().await;
    stand.pass(10_000);
    for (order, wanted) in [(Order::OldestFirst, "-abc"), (Order::NewestFirst, "cba-")] {
        stand.switch(|it| it.activity_order = order);
        let (mut got, mut token) = (String::new(), String::new());
        loop {
            let path = format!("/sessions/{id}/activities?pageSize=1&pageToken={token}");
            let page = stand.get(&path).await.json();
            let text = page["activities"][0]["agentMessaged"]["agentMessage"].as_str();
            got.push_str(text.unwrap_or("-"));
            match page.get("nextPageToken") {
                Some(next) => token = string(next),
                None => break,
            }
        }
        assert_eq!(got, wanted);
    }
}

#[tokio::test]
async fn a_field_mask_is_honoured_ignored_or_refused() {
    let (stand, ids) = with_sessions(1).await;
    let path = "/sessions?fields=sessions(id,state),nextPageToken";
    let masked = json!({ "sessions": [{ "id": ids[0], "state": "COMPLETED" }] });
    assert_eq!(stand.get(path).await.json(), masked);
    let by_header = stand
        .request("GET", "/sessions")
        .header("X-Goog-FieldMask", "sessions.id,sessions.state");
    assert_eq!(crate::tests::stand::read(by_header).await.json(), masked);

    stand.switch(|it| it.field_mask = FieldMask::Ignored);
    assert!(
        stand.get(path).await.json()["sessions"][0]
            .get("prompt")
            .is_some()
    );
    stand.switch(|it| it.field_mask = FieldMask::Refused);
    assert_eq!(stand.get(path).await.refusal().1, "INVALID_ARGUMENT");
    assert_eq!(stand.get("/sessions").await.status, 200);
}

#[tokio::test]
async fn sources_are_filtered_by_name() {
    let stand = Stand::playing(steps(json!([]))).await;
    let count = async |filter: &str| {
        let reply = stand.get_filtered("/sources", filter).await;
        (
            reply.status,
            reply.json()["sources"].as_array().map_or(0, Vec::len),
        )
    };
    assert_eq!(
        count("name=sources/github/acme/shop OR name=\"sources/github/a/b\"").await,
        (200, 1)
    );
    assert_eq!(count("name=sources/github/a/b").await, (200, 0));
    assert_eq!(count("githubRepo.isPrivate = true").await.0, 400);
}
