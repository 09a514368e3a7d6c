//! Upgrades with jobs in flight: a store that an older version left goes on with the present one, over a world that is as it was.

mod story;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use domain::effect::Action;
use domain::job::Job;
use engine::jobs::adoption::Adoption;
use engine::keys;
use engine::ports::{Expect, Key, ListKey, Record, Write};
use engine::store::{BODY_SCHEMA, leave_out_nothings};
use jiff::Timestamp;
use local::Database;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::records::{Kind, kind_of};
use tests::world::{MINUTE, World, hour};

use super::goldens::Kept;
use story::{Jobs, NAME, ORDER};

/// The placeholder in goldens for the sandbox's address, which differs in every run.
const ADDRESS: &str = "127.0.0.1:4190";

/// A store at one moment, and what had been done outside until then.
#[derive(Serialize, Deserialize)]
pub(super) struct InFlight {
    at: Timestamp,
    done: Vec<(Timestamp, Action)>,
    records: Vec<Value>,
}

fn file(kept: &Kept) -> PathBuf {
    kept.folder.join("in-flight.json")
}

/// The records that were in flight when a version kept them.
pub(super) fn records_of(kept: &Kept) -> Vec<(Kind, Value)> {
    let records = InFlight::read(kept).records.into_iter();
    records
        .map(|record| (kind_of(&key_of(&record)), record))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn key_of(record: &Value) -> Key {
    Key {
        pk: text(&record["pk"]),
        sk: text(&record["sk"]),
    }
}

impl InFlight {
    fn read(kept: &Kept) -> Self {
        let text = fs::read_to_string(file(kept)).expect("a store in flight");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The present store of a world, and what was done there; the outcome of `unheard` was never recorded.
    async fn of(world: &World, unheard: (Timestamp, Action)) -> Self {
        let address = world.sandbox.addr().to_string();
        let mut kept = Self {
            at: world.clock.now(),
            done: vec![unheard],
            records: Vec::new(),
        };
        for record in world.ledger.everything().await {
            let body: Value =
                serde_json::from_str(&record.body.replace(&address, ADDRESS)).expect("JSON");
            if kind_of(&record.key) == Kind::Effect {
                kept.done.extend(done(&body["it"]));
            }
            let list = record
                .list
                .map(|list| json!([list.name, list.sort, list.word]));
            kept.records.push(json!({
                "pk": record.key.pk, "sk": record.key.sk, "due": record.due, "list": list, "body": body,
            }));
        }
        // What was done in one second keeps the order of its records, sessions before all else.
        kept.done.sort_by_key(|(at, _)| *at);
        kept
    }

    fn jobs(&self) -> Vec<Job> {
        let jobs = self
            .records
            .iter()
            .filter(|it| kind_of(&key_of(it)) == Kind::Job);
        jobs.map(|it| serde_json::from_value(it["body"]["it"].clone()).expect("a job"))
            .collect()
    }

    /// A world whose outside is as it was, over this store.
    async fn world(&self) -> World {
        let mut world = World::with(story::setup()).await;
        let jobs = self.jobs();
        for (at, action) in &self.done {
            world.redo(*at, action, &jobs).await;
        }
        world.advance_to(self.at);
        for job in &jobs {
            if let Some(id) = job.session() {
                let there = world.sandbox.jules().session(id.as_str());
                assert!(
                    there.is_some(),
                    "the sandbox no longer makes the session {id}"
                );
            }
        }
        world.work_over(&Database::in_memory().expect("a database"));
        let address = world.sandbox.addr().to_string();
        let records = self.records.iter().map(|it| record(it, &address));
        let puts = records.map(|record| Write::Put {
            record,
            expect: Expect::Absent,
        });
        for put in puts {
            let commit = world.desk.store.records().commit(vec![put]);
            commit.await.expect("a golden that is stored");
        }
        world
    }
}

/// When an effect was done, if it was.
fn done(effect: &Value) -> Option<(Timestamp, Action)> {
    let state = &effect["state"];
    if state["state"] != "done" {
        return None;
    }
    let at = text(&state["at"]).parse().expect("a time");
    let action = serde_json::from_value(effect["action"].clone());
    Some((at, action.expect("an action")))
}

fn record(golden: &Value, address: &str) -> Record {
    let list = golden["list"].as_array().map(|list| ListKey {
        name: text(&list[0]),
        sort: text(&list[1]),
        word: list[2].as_str().map(str::to_owned),
    });
    let due = golden["due"].as_str();
    Record {
        key: key_of(golden),
        version: 0,
        body: golden["body"].to_string().replace(ADDRESS, address),
        due: due.map(|due| due.parse().expect("a time")),
        list,
        forget: None,
    }
}

#[tokio::test]
async fn jobs_in_flight_go_on_over_an_upgrade() {
    for kept in Kept::all() {
        let in_flight = InFlight::read(&kept);
        let jobs = Jobs::among(&in_flight.jobs());
        let world = in_flight.world().await;
        let again = story::order(&world, NAME, ORDER).await;
        assert_eq!(again, jobs.merged, "an order that was carried out is known");
        world.pause(false).await;
        world
            .until(hour(3), "everything is merged", async |world| {
                if world.state(&jobs.planned).await == "plan-waits" {
                    drop(
                        world
                            .desk
                            .approve_plan(&world.named(&jobs.planned), None)
                            .await,
                    );
                }
                world.all_merged(&jobs.all()).await
            })
            .await;
        world.pass(MINUTE * 30).await;
        let it = world.sandbox.counters();
        assert_eq!(
            (it.creates, it.messages, it.approvals, it.merges),
            (7, 2, 1, 7),
            "{}",
            kept.folder.display()
        );
        assert!(
            world
                .ledger
                .everything()
                .await
                .iter()
                .filter(|record| kind_of(&record.key) == Kind::Adoption)
                .all(decided),
            "a wish to adopt is decided"
        );
        world.finish().await;
    }
}

fn decided(record: &Record) -> bool {
    let body: Value = serde_json::from_str(&record.body).expect("JSON");
    let adoption: Adoption = serde_json::from_value(body["it"].clone()).expect("an adoption");
    adoption.refused.is_some()
}

#[tokio::test]
async fn a_record_of_a_newer_version_is_refused_and_not_written() {
    let kept = Kept::all().pop().expect("a folder of goldens");
    let in_flight = InFlight::read(&kept);
    let jobs = Jobs::among(&in_flight.jobs());
    let world = in_flight.world().await;
    world.pause(false).await;
    let key = keys::job(&jobs.asking);
    let records = world.desk.store.records();
    let mut newer = records.get(&key).await.expect("a store").expect("a job");
    // The rest of it means something else, or nothing that is known here.
    let mut body: Value = serde_json::from_str(&newer.body).expect("JSON");
    body["schema"] = json!(BODY_SCHEMA + 1);
    newer.body = body.to_string();
    newer.due = Some(world.desk.now());
    let put = Write::Put {
        expect: Expect::Version(newer.version),
        record: newer,
    };
    records.commit(vec![put]).await.expect("a newer record");
    let before = records.get(&key).await.expect("a store");
    let refused = world.desk.must_job(&jobs.asking).await;
    let told = refused.expect_err("a refusal").to_string();
    assert!(
        told.contains("a newer gaffer wrote it") && told.contains("upgrade gaffer"),
        "{told}"
    );
    world.pass(MINUTE * 5).await;
    assert_eq!(records.get(&key).await.expect("a store"), before);
    // No other job is held up by it.
    world
        .until(hour(1), "the others go on", async |world| {
            world.all_merged(std::slice::from_ref(&jobs.merging)).await
        })
        .await;
    assert_eq!(records.get(&key).await.expect("a store"), before);
}

/// Keeps what was in flight for a version that has not done so yet, and compares the shape of what only the engine makes.
#[tokio::test]
async fn a_story_leaves_what_was_kept() {
    let (world, unheard) = Box::pin(story::everything()).await;
    let fresh = InFlight::of(&world, unheard).await;
    let kept = Kept::all().pop().expect("a folder of goldens");
    if !file(&kept).exists() {
        let mut text = serde_json::to_string_pretty(&fresh).expect("JSON");
        text.push('\n');
        fs::write(file(&kept), text).expect("a file");
        panic!("{} is new: look at it and keep it", file(&kept).display());
    }
    let known = InFlight::read(&kept);
    assert_eq!(
        evidence(&fresh),
        evidence(&known),
        "what merges are judged by has other fields"
    );
    let kinds = |it: &InFlight| -> BTreeSet<Kind> {
        it.records.iter().map(|it| kind_of(&key_of(it))).collect()
    };
    assert_eq!(kinds(&fresh), kinds(&known));
}

/// The fields of evidence, wherever they are.
fn evidence(in_flight: &InFlight) -> BTreeSet<String> {
    let mut records = in_flight.records.clone();
    // What was not there was stored as null before.
    records.iter_mut().for_each(leave_out_nothings);
    let mut fields = BTreeSet::new();
    let mine = |it: &&Value| kind_of(&key_of(it)) == Kind::Evidence;
    let mut open: Vec<(String, &Value)> = records
        .iter()
        .filter(mine)
        .map(|it| (String::new(), &it["body"]["it"]))
        .collect();
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Object(all) => {
                open.extend(all.iter().map(|(name, it)| (format!("{place}/{name}"), it)));
            }
            Value::Array(all) => open.extend(all.iter().map(|it| (format!("{place}/*"), it))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        fields.insert(place);
    }
    fields
}
