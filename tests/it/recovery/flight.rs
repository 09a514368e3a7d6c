//! An upgrade with jobs in flight: another version stored fields that this one does not know.
//! This version continues over them.

mod story;

use std::collections::BTreeSet;

use domain::job::Job;
use engine::jobs::adoption::Adoption;
use engine::keys;
use engine::ports::{Expect, Record, Records, Write};
use engine::store::BODY_SCHEMA;
use expect_test::expect;
use local::{Database, Store};
use serde_json::{Value, json};
use tests::records::{Kind, kind_of};
use tests::world::{MINUTE, World, hour};

use super::goldens::{UNKNOWN, places_of_fields};
use story::{Jobs, NAME, ORDER};

/// Most jobs of the story.
const JOBS_MAX: usize = 10;

async fn jobs_of(world: &World) -> Jobs {
    let found = world.backend.store.jobs(JOBS_MAX).await.expect("a store");
    let jobs: Vec<Job> = found.into_iter().map(|found| found.value).collect();
    Jobs::among(&jobs)
}

fn body_of(record: &Record) -> Value {
    serde_json::from_str(&record.body).expect("JSON")
}

/// The body of a record with one more field in each of its objects.
fn with_more(record: &Record) -> String {
    let mut body = body_of(record);
    for place in places_of_fields(&body) {
        let object = body.pointer_mut(&place).expect("an object");
        object[UNKNOWN] = json!({ "deep": [1] });
    }
    body.to_string()
}

/// The store of a world as another version would have left it.
async fn left_by_another_version(world: &World) -> Database {
    let database = Database::in_memory().expect("a database");
    let store = Store::new(&database);
    for record in world.ledger.everything().await {
        let record = Record {
            body: with_more(&record),
            ..record
        };
        let expect = Expect::Absent;
        let put = vec![Write::Put { record, expect }];
        store.commit(put).await.expect("a record");
    }
    database
}

#[tokio::test]
async fn jobs_in_flight_go_on_over_an_upgrade() {
    let mut world = Box::pin(story::everything()).await;
    let database = left_by_another_version(&world).await;
    let kinds: BTreeSet<&str> = {
        let all = world.ledger.everything().await.into_iter();
        all.map(|record| kind_of(&record.key).name()).collect()
    };
    expect!["account adoption agent artifacts budgets effect event event-count evidence gap installation job job-listed lane merges once outbox pull reach readings repository session slots source switches upstreams wake"].assert_eq(&kinds.into_iter().collect::<Vec<_>>().join(" "));
    world.work_over(&database);
    let jobs = jobs_of(&world).await;
    let again = story::order(&world, NAME, ORDER).await;
    assert_eq!(again, jobs.merged, "an order that was carried out is known");
    world.pause(false).await;
    world
        .until(hour(3), "everything is merged", async |world| {
            if world.state(&jobs.planned).await == "plan-waits" {
                let planned = world.named(&jobs.planned);
                drop(world.backend.approve_plan(&planned, None).await);
            }
            world.all_merged(&jobs.all()).await
        })
        .await;
    world.pass(MINUTE * 30).await;
    let it = world.sandbox.counters();
    assert_eq!(
        (it.creates, it.messages, it.approvals, it.merges),
        (7, 2, 1, 7)
    );
    let left = world.ledger.everything().await;
    let mut adoptions = left
        .iter()
        .filter(|record| kind_of(&record.key) == Kind::Adoption);
    assert!(adoptions.all(decided), "an adoption is decided");
    world.finish().await;
}

fn decided(record: &Record) -> bool {
    let adoption: Adoption =
        serde_json::from_value(body_of(record)["it"].take()).expect("an adoption");
    adoption.refused.is_some()
}

#[tokio::test]
async fn a_record_of_a_newer_version_is_refused_and_not_written() {
    let world = Box::pin(story::everything()).await;
    let jobs = jobs_of(&world).await;
    world.pause(false).await;
    let key = keys::job(&jobs.asking);
    let records = world.backend.store.records();
    let mut newer = records.get(&key).await.expect("a store").expect("a job");
    // The rest of it has another meaning, or none that is known here.
    let mut body = body_of(&newer);
    body["schema"] = json!(BODY_SCHEMA + 1);
    newer.body = body.to_string();
    newer.due = Some(world.backend.now());
    let put = Write::Put {
        expect: Expect::Version(newer.version),
        record: newer,
    };
    records.commit(vec![put]).await.expect("a newer record");
    let before = records.get(&key).await.expect("a store");
    let refused = world.backend.must_job(&jobs.asking).await;
    let told = refused.expect_err("a refusal").to_string();
    assert!(told.contains("a newer gaffer wrote it"), "{told}");
    assert!(told.contains("upgrade gaffer"), "{told}");
    world.pass(MINUTE * 5).await;
    assert_eq!(records.get(&key).await.expect("a store"), before);
    // No other job is held up by it.
    world.until_is(hour(1), &jobs.merging, "merged").await;
    assert_eq!(records.get(&key).await.expect("a store"), before);
}

/// Evidence is kept for people and exports. Only the engine makes it, so no sample shows its form.
#[tokio::test]
async fn what_a_merge_was_judged_by_has_these_fields() {
    let world = story::one_merged().await;
    let mut fields = BTreeSet::new();
    for record in world.ledger.everything().await {
        if kind_of(&record.key) == Kind::Evidence {
            put_fields("", &body_of(&record)["it"], &mut fields);
        }
    }
    let fields: Vec<String> = fields.into_iter().collect();
    expect![[r#"
        /checks
        /facts/author/id
        /facts/author/login
        /facts/base/branch
        /facts/base/sha
        /facts/body
        /facts/checks/known/*/app
        /facts/checks/known/*/id
        /facts/checks/known/*/name
        /facts/checks/known/*/outcome/passed
        /facts/demands/known/approvals
        /facts/demands/known/merge_queue
        /facts/demands/known/up_to_date
        /facts/draft
        /facts/files/known/*
        /facts/head/branch
        /facts/head/repo
        /facts/head/repo_id
        /facts/head/sha
        /facts/mergeable/known
        /facts/node_id
        /facts/pull
        /facts/read_at
        /facts/repo/id
        /facts/repo/name
        /facts/state
        /facts/title
        /files
        /green_since
        /judged_at
        /policy/adopted_may_merge
        /policy/answers/*
        /policy/blocking_labels/*
        /policy/ci_repairs
        /policy/comment_when_blocked
        /policy/delete_branch
        /policy/merge
        /policy/merge_method
        /policy/merges_per_day
        /policy/min_checks
        /policy/plan_approval
        /policy/protected_paths/*"#]]
    .assert_eq(&fields.join("\n"));
}

/// The places of all plain values; `*` is any element of a list.
fn put_fields(place: &str, value: &Value, to: &mut BTreeSet<String>) {
    match value {
        Value::Object(all) => {
            for (name, value) in all {
                put_fields(&format!("{place}/{name}"), value, to);
            }
        }
        Value::Array(all) => all
            .iter()
            .for_each(|value| put_fields(&format!("{place}/*"), value, to)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            to.insert(place.to_owned());
        }
    }
}
