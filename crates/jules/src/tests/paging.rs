//! Lists: to the last page, never in a circle, in pages that fit, with and without optional parameters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::CONTENT_ENCODING;
use axum::response::IntoResponse;
use domain::failure::{CallEffect, FailureClass};
use domain::marker::Marker;
use engine::ports::SessionsRead;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::service::{Asked, ID, World, account, check, ids, marker, ok, refusal};
use crate::{ACTIVITY_PAGES_MAX, LIST_PAGES_MAX};

/// `{"sessions":[{"name":"sessions/14550388554331055113","title":"aaa…"}]}` with 5,000 times `a`, 5,066 bytes, compressed.
const ZIPPED: [u8; 98] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xed, 0xca, 0xb1, 0x0a, 0x80, 0x20,
    0x14, 0x40, 0xd1, 0x7f, 0x79, 0x73, 0x90, 0x62, 0x0f, 0xc4, 0x5f, 0x89, 0x06, 0x07, 0x07, 0xa1,
    0x6c, 0x78, 0x6e, 0xe2, 0xbf, 0x47, 0x4b, 0x7f, 0xd0, 0x76, 0xcf, 0x78, 0xb9, 0x43, 0xac, 0x98,
    0xd5, 0xbb, 0x99, 0xa4, 0x7d, 0x48, 0xcb, 0x57, 0x91, 0xf4, 0xb5, 0xd5, 0x6f, 0xaa, 0x2e, 0xc4,
    0xa8, 0xba, 0x85, 0xe0, 0x9d, 0xaa, 0xf7, 0x41, 0x16, 0xe9, 0xb5, 0x9f, 0xef, 0x97, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0xfc, 0x4e, 0xe6, 0x31, 0x1f, 0x44, 0x4c, 0x41, 0x81, 0xca, 0x13,
    0x00, 0x00,
];

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn page_number(asked: &Asked) -> usize {
    asked
        .query("pageToken")
        .map_or(0, |token| token.parse().unwrap())
}

#[tokio::test]
async fn a_page_tells_its_weight_and_where_to_go_on() {
    let body = format!(
        r#"{{"sessions":[{{"id":"{ID}"}},{{"title":"no id"}},7,{{"id":"a/../b"}}],"nextPageToken":"a b&c=d"}}"#
    );
    let bytes = body.len();
    let world = World::start(move |_| ok(body.clone())).await;
    let page = world.list(500, None).await.unwrap();
    assert_eq!(page.bytes, bytes as u64);
    assert_eq!(page.next.as_deref(), Some("a b&c=d"));
    assert_eq!(page.sessions.len(), 1);
    world.list(0, Some("x y&z=1")).await.unwrap();
    let asked = world.asked();
    assert_eq!(asked[0].query("pageSize"), Some("100"));
    assert_eq!(asked[1].query("pageSize"), Some("1"));
    assert_eq!(asked[1].query("pageToken"), Some("x y&z=1"));
    assert_eq!(asked[1].query("fields"), None);
}

#[tokio::test]
async fn an_empty_page_is_the_last() {
    for body in [
        "{}",
        " {} ",
        r#"{"sessions":null,"nextPageToken":""}"#,
        r#"{"sessions":[]}"#,
    ] {
        let world = World::start(move |_| ok(body)).await;
        let page = world.list(5, None).await.unwrap();
        assert_eq!((page.sessions.len(), page.next), (0, None));
    }
}

#[tokio::test]
async fn compressed_pages_are_weighed_unpacked() {
    let world = World::start(|asked| {
        assert!(asked.header("accept-encoding").contains("gzip"));
        ([(CONTENT_ENCODING, "gzip")], ZIPPED.to_vec()).into_response()
    })
    .await;
    let page = world.list(5, None).await.unwrap();
    assert_eq!(page.bytes, 5_066);
    assert_eq!(page.sessions[0].title.len(), 5_000);
}

#[tokio::test]
async fn a_compressed_page_is_limited_by_what_it_unpacks_to() {
    let small = |settings: &mut crate::Settings| settings.body_bytes_max = 5_065;
    let world = World::with(small, |_| {
        ([(CONTENT_ENCODING, "gzip")], ZIPPED.to_vec()).into_response()
    })
    .await;
    let failure = world.list(5, None).await.unwrap_err();
    check(&failure, FailureClass::Garbled, CallEffect::Maybe);
}

#[tokio::test]
async fn a_page_that_points_to_itself_is_garbled() {
    let world = World::start(|_| ok(r#"{"nextPageToken":"x"}"#)).await;
    assert_eq!(
        world.list(5, None).await.unwrap().next.as_deref(),
        Some("x")
    );
    let failure = world.list(5, Some("x")).await.unwrap_err();
    check(&failure, FailureClass::Garbled, CallEffect::Maybe);
}

#[tokio::test]
async fn circles_and_endless_lists_end() {
    let circle = World::start(|asked| {
        let next = (page_number(asked) + 1) % 3;
        ok(json!({ "nextPageToken": next.to_string() }).to_string())
    })
    .await;
    for failure in [
        circle.activities(None).await.unwrap_err(),
        circle.find(Timestamp::UNIX_EPOCH).await.unwrap_err(),
        circle.reader().sources(&account()).await.unwrap_err(),
    ] {
        check(&failure, FailureClass::Garbled, CallEffect::Maybe);
        assert!(failure.message.contains("came twice"), "{failure}");
    }
    let endless = World::start(|asked| {
        ok(json!({ "nextPageToken": (page_number(asked) + 1).to_string() }).to_string())
    })
    .await;
    let failure = endless.activities(None).await.unwrap_err();
    assert!(failure.message.contains("does not end"), "{failure}");
    assert_eq!(endless.asked().len(), ACTIVITY_PAGES_MAX);
    let failure = endless.find(Timestamp::UNIX_EPOCH).await.unwrap_err();
    check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    assert_eq!(endless.asked().len(), ACTIVITY_PAGES_MAX + LIST_PAGES_MAX);
}

#[tokio::test]
async fn find_reads_to_the_last_page_and_takes_only_the_exact_marker() {
    let world = World::start(|asked| {
        let title = |marker: String| format!("{marker} Add tests");
        let other = Marker { attempt: 2, ..marker() };
        let foreign = Marker { installation: "other".parse().unwrap(), ..marker() };
        let sessions = match page_number(asked) {
            0 => json!([
                { "id": "1", "title": "Add tests", "createTime": "2026-11-20T10:00:09Z" },
                { "id": "2", "title": title(other.to_string()), "createTime": "2026-11-20T10:00:09Z" },
                { "id": "3", "title": title(foreign.to_string()), "createTime": "2026-11-20T10:00:09Z" },
                { "id": "4", "title": title(marker().to_string()), "createTime": "2026-11-20T09:59:59.999Z" },
            ]),
            1 => json!([]),
            2 => json!([
                { "id": "5", "title": title(marker().to_string()), "createTime": "2026-11-20T10:00:00Z" },
                { "id": "6", "title": title(marker().to_string()) },
            ]),
            _ => json!([{ "id": "5", "title": title(marker().to_string()), "createTime": "2026-11-20T10:00:00Z" }]),
        };
        let next = page_number(asked) + 1;
        let mut page = json!({ "sessions": sessions });
        if next < 4 {
            page["nextPageToken"] = json!(next.to_string());
        }
        ok(page.to_string())
    })
    .await;
    let found = world.find(time("2026-11-20T10:00:00Z")).await.unwrap();
    let ids: Vec<&str> = found.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["5", "6"]);
    assert_eq!(world.asked().len(), 4);
}

#[tokio::test]
async fn find_never_says_none_while_something_is_unreadable() {
    let title = marker().to_string();
    let hidden = json!({ "sessions": [{ "title": title }] }).to_string();
    let world = World::start(move |_| ok(hidden.clone())).await;
    let failure = world.find(Timestamp::UNIX_EPOCH).await.unwrap_err();
    check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    let lost = World::start(|asked| match page_number(asked) {
        0 => ok(r#"{"nextPageToken":"1"}"#),
        _ => ok(""),
    })
    .await;
    lost.find(Timestamp::UNIX_EPOCH).await.unwrap_err();
}

#[tokio::test]
async fn pages_that_do_not_fit_are_halved() {
    let small = |settings: &mut crate::Settings| settings.body_bytes_max = 10_000;
    let world = World::with(small, |asked| {
        let size: usize = asked.query("pageSize").unwrap().parse().unwrap();
        let first = page_number(asked);
        let items = (first..first + size).take_while(|n| *n < 40);
        let item = |n: usize| {
            json!({ "id": format!("a{n:02}"), "createTime": format!("2026-11-20T10:00:{n:02}Z"), "agentMessaged": { "agentMessage": "hi" },
                "artifacts": [{ "media": { "mimeType": "image/png", "data": "A".repeat(1000) } }] })
        };
        let mut page = json!({ "activities": items.map(item).collect::<Vec<_>>() });
        if first + size < 40 {
            page["nextPageToken"] = json!((first + size).to_string());
        }
        ok(page.to_string())
    })
    .await;
    let activities = world.activities(None).await.unwrap();
    assert_eq!(activities.len(), 40);
    let sizes: Vec<String> = world
        .asked()
        .iter()
        .map(|asked| asked.query("pageSize").unwrap().to_owned())
        .collect();
    assert_eq!(sizes[..4], ["30", "15", "7", "7"]);
    assert_eq!(sizes.len(), 8);
}

#[tokio::test]
async fn one_item_that_never_fits_is_a_failure() {
    let small = |settings: &mut crate::Settings| settings.body_bytes_max = 100;
    let world = World::with(small, |_| ok(format!("{{\"x\":\"{}\"}}", "y".repeat(1000)))).await;
    let failure = world.find(Timestamp::UNIX_EPOCH).await.unwrap_err();
    check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    let sizes: Vec<String> = world
        .asked()
        .iter()
        .map(|asked| asked.query("pageSize").unwrap().to_owned())
        .collect();
    assert_eq!(sizes, ["10", "5", "2", "1"]);
}

/// A service with three activities that refuses filters while `refuses` is set.
async fn filtering(refuses: Arc<AtomicBool>) -> World {
    World::start(move |asked| {
        if asked.query("filter").is_some() && refuses.load(Ordering::Relaxed) {
            return refusal(400, "INVALID_ARGUMENT", "Unknown name \"filter\"");
        }
        let activity = |id: &str, at: &str| json!({ "id": id, "createTime": at });
        let mut all = vec![
            activity("c", "2026-11-20T10:00:05Z"),
            activity("b", "2026-11-20T10:00:04.000000001Z"),
        ];
        if asked.query("filter").is_none() {
            all.push(activity("a", "2026-11-20T10:00:04Z"));
        }
        ok(json!({ "activities": all }).to_string())
    })
    .await
}

#[tokio::test]
async fn the_filter_is_sent_a_second_early() {
    let world = filtering(Arc::default()).await;
    let activities = world
        .activities(Some(time("2026-11-20T10:00:05Z")))
        .await
        .unwrap();
    assert_eq!(ids(&activities), ["b", "c"]);
    let asked = world.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].path,
        format!("/jules/v1alpha/sessions/{ID}/activities")
    );
    assert_eq!(
        asked[0].query("filter"),
        Some("create_time>\"2026-11-20T10:00:04Z\"")
    );
    assert_eq!(asked[0].query("createTime"), None);
    assert_eq!(asked[0].query("pageSize"), Some("30"));
    world.activities(None).await.unwrap();
    assert_eq!(world.asked()[1].query("filter"), None);
}

#[tokio::test]
async fn a_refused_filter_is_dropped_and_not_sent_for_an_hour() {
    let refuses = Arc::new(AtomicBool::new(true));
    let world = filtering(refuses.clone()).await;
    for (minutes, calls) in [(0, 2), (30, 3), (29, 4), (1, 6)] {
        world.clock.advance(SignedDuration::from_mins(minutes));
        let activities = world
            .activities(Some(time("2026-11-20T10:00:05Z")))
            .await
            .unwrap();
        // The window is the same as with the filter.
        assert_eq!(ids(&activities), ["b", "c"]);
        assert_eq!(world.asked().len(), calls, "after {minutes} min");
    }
    refuses.store(false, Ordering::Relaxed);
    world.clock.advance(SignedDuration::from_hours(1));
    world
        .activities(Some(time("2026-11-20T10:00:05Z")))
        .await
        .unwrap();
    assert!(world.asked().last().unwrap().query("filter").is_some());
}

#[tokio::test]
async fn a_refusal_that_is_not_about_the_filter_is_not_blamed_on_it() {
    let world = World::start(|_| refusal(400, "INVALID_ARGUMENT", "bad session")).await;
    for calls in [2, 4] {
        let failure = world
            .activities(Some(Timestamp::UNIX_EPOCH))
            .await
            .unwrap_err();
        check(&failure, FailureClass::Invalid, CallEffect::No);
        assert_eq!(world.asked().len(), calls);
    }
    for (code, status) in [
        (400, "FAILED_PRECONDITION"),
        (404, "NOT_FOUND"),
        (401, "UNAUTHENTICATED"),
    ] {
        let world = World::start(move |_| refusal(code, status, "no")).await;
        world
            .activities(Some(Timestamp::UNIX_EPOCH))
            .await
            .unwrap_err();
        assert_eq!(world.asked().len(), 1);
    }
}

#[tokio::test]
async fn the_field_mask_is_tried_if_wanted_and_dropped_if_refused() {
    let wanting = |settings: &mut crate::Settings| settings.field_mask = true;
    let refusing = |asked: &Asked| match asked.query("fields") {
        Some(_) => refusal(400, "INVALID_ARGUMENT", "Unknown field mask"),
        None => ok(format!(r#"{{"sessions":[{{"id":"{ID}"}}]}}"#)),
    };
    let world = World::with(wanting, refusing).await;
    for (minutes, calls) in [(0, 2), (0, 3), (60, 5)] {
        world.clock.advance(SignedDuration::from_mins(minutes));
        assert_eq!(world.list(5, Some("t")).await.unwrap().sessions.len(), 1);
        assert_eq!(world.asked().len(), calls);
    }
    let fields = world.asked()[0].query("fields").unwrap().to_owned();
    assert!(
        fields.starts_with("sessions(name,id,state,title,") && fields.ends_with("),nextPageToken"),
        "{fields}"
    );
    assert!(
        fields.contains(",outputs(pullRequest(url)),") && !fields.contains(' '),
        "{fields}"
    );
}

#[tokio::test]
async fn sources_of_all_pages_are_read() {
    let world = World::start(|asked| match asked.query("pageToken") {
        None => ok(r#"{"sources":[
            {"name":"sources/github/acme/shop","id":"github/acme/shop","githubRepo":{"owner":"acme","repo":"shop","isPrivate":true,
             "defaultBranch":{"displayName":"main"},"branches":[{"displayName":"main"},{"displayName":"develop"}]}},
            {"name":"sources/github/acme/bare"}, {"id":"github/acme/id.only","githubRepo":7},
            {"name":"sources/github-myorg-myrepo"}, {"name":"sources/gitlab/a/b"}, null],
            "nextPageToken":"github/acme/shop-web"}"#),
        Some("github/acme/shop-web") => ok(r#"{"sources":[{"githubRepo":{"owner":"ACME","repo":"Shop"}},{"githubRepo":{"owner":"a","repo":"b"}}]}"#),
        Some(_) => refusal(400, "INVALID_ARGUMENT", "bad token"),
    })
    .await;
    let sources = world.reader().sources(&account()).await.unwrap();
    let shown: Vec<String> = sources
        .iter()
        .map(|source| {
            format!(
                "{} {:?}",
                source.repo,
                source.default_branch.as_ref().map(ToString::to_string)
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "acme/shop Some(\"main\")",
            "acme/bare None",
            "acme/id.only None",
            "a/b None"
        ]
    );
}
