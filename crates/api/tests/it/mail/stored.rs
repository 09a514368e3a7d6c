//! What the store holds of mail: sealed pages, mailboxes that can be made again, and what comes from elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::mail::{MailImported, Outgoing, Recipient};
use engine::jobs::IdempotencyKey;
use engine::keys;
use engine::ports::{
    CommitError, DueRow, Expect, Key, Page, PageToken, Record, Records, RecordsError, Write,
};
use jiff::Timestamp;
use local::{Database, LocalQueue, Store};

use super::*;
use crate::world::SetClock;

/// A store that can lose its answer to a commit, or refuse one.
struct Forgetful {
    store: Store,
    loses: AtomicBool,
    /// Which commit from now on is refused: the next is 1, and 0 is none.
    refuses: AtomicUsize,
}

#[async_trait]
impl Records for Forgetful {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        self.store.get(key).await
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.store.query(pk, prefix, after, limit).await
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.store.list(name, newest, after, limit).await
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        self.store.due(at, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.store.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        let left = self.refuses.load(Ordering::SeqCst);
        self.refuses.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 1 {
            return Err(CommitError::Unavailable("out of order".to_owned()));
        }
        self.store.commit(items).await?;
        match self.loses.swap(false, Ordering::SeqCst) {
            true => Err(CommitError::Unknown("the line broke".to_owned())),
            false => Ok(()),
        }
    }
}

/// A world over such a store.
async fn forgetful() -> (World, Arc<Forgetful>) {
    let database = Database::in_memory().unwrap();
    let clock = SetClock::at("2026-03-01T12:00:00Z");
    let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
    let records = Arc::new(Forgetful {
        store: Store::new(&database),
        loses: AtomicBool::new(false),
        refuses: AtomicUsize::new(0),
    });
    let world = World::over(records.clone(), queue.clone(), (clock, queue)).await;
    (world, records)
}

#[tokio::test]
async fn a_message_is_sent_once_though_the_answer_to_its_commit_is_lost() {
    let (world, records) = forgetful().await;
    send_to(&world, "art").await;
    records.loses.store(true, Ordering::SeqCst);
    assert_eq!(send_to(&world, "art").await, 2);
    records.loses.store(true, Ordering::SeqCst);
    world
        .post(&format!("{MAIL}/art/1/read"), &json!({}))
        .await
        .ok(200);
    assert_eq!(inbox(&world, "art").await, [1, 2]);
    assert_eq!(lines(&world).await.len(), 3);
    is_whole(&world).await;
}

/// A large team takes more than one commit.
#[tokio::test]
async fn a_message_to_a_team_that_broke_off_goes_on_with_those_that_are_left() {
    let (world, records) = forgetful().await;
    for number in 1..=45 {
        send_to(&world, &format!("p{number:02}")).await;
    }
    let repo = shop();
    let outgoing = Outgoing {
        from: "curator".parse().unwrap(),
        to: Recipient::Team,
        subject: "Hi".parse().unwrap(),
        body: "x".parse().unwrap(),
        attachments: Vec::new(),
    };
    let once = IdempotencyKey {
        name: "k1".to_owned(),
        order: "o1".to_owned(),
    };
    let send = || {
        world
            .backend
            .send_mail(&repo, &outgoing, "ann", Some(&once))
    };
    records.refuses.store(2, Ordering::SeqCst);
    send().await.unwrap_err();
    assert_eq!(lines(&world).await.len(), 85);
    // Who gets mail in between is not one of those that it goes to.
    send_to(&world, "late").await;
    let sent = send().await.unwrap();
    let to: Vec<String> = sent.iter().map(|it| it.to.to_string()).collect();
    let all: Vec<String> = (1..=45).map(|number| format!("p{number:02}")).collect();
    assert_eq!(to, all);
    assert_eq!(send().await.unwrap(), sent, "it is sent once");
    assert_eq!(lines(&world).await.len(), 91);
    is_whole(&world).await;
}

#[tokio::test]
async fn messages_sent_at_once_have_numbers_of_their_own() {
    let world = World::new().await;
    let sends = (0..6).map(|_| send_to(&world, "art"));
    let mut numbers = futures::future::join_all(sends).await;
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    is_whole(&world).await;
}

#[tokio::test]
async fn each_hundred_events_are_sealed_and_the_log_is_read_page_by_page() {
    let world = World::new().await;
    for _ in 0..99 {
        send_to(&world, "art").await;
    }
    let stats = async || world.get(&format!("{MAIL}/stats")).await.ok(200);
    assert_eq!(stats().await["pages"], 0);
    send_to(&world, "bolt").await;
    let counted = stats().await;
    assert_eq!(
        (&counted["sealed"], &counted["pages"]),
        (&100.into(), &1.into())
    );
    send_to(&world, "bolt").await;
    assert_eq!(world.backend.seal_mail(&shop()).await.unwrap(), 1);
    assert_eq!(world.backend.seal_mail(&shop()).await.unwrap(), 0);
    assert_eq!(stats().await["pages"], 2);
    let first = world.get(&format!("{MAIL}/log")).await.ok(200);
    assert_eq!(first["lines"].as_array().unwrap().len(), 99);
    assert_eq!(first["next_page"], 1);
    assert_eq!(lines(&world).await.len(), 101);
    let inbox = world.get(&format!("{MAIL}/art")).await.ok(200);
    assert_eq!(
        (inbox["messages"].as_array().unwrap().len(), &inbox["more"]),
        (99, &false.into())
    );
    is_whole(&world).await;
}

/// The record at a key.
async fn stored(world: &World, key: &Key) -> Record {
    let records = world.backend.store.records();
    records.get(key).await.unwrap().unwrap()
}

/// Changes a record behind the engine's back.
async fn spoil(world: &World, key: &Key, edit: impl Fn(&str) -> String) {
    let record = stored(world, key).await;
    let body = edit(&record.body);
    assert_ne!(body, record.body);
    let write = Write::Put {
        record: Record { body, ..record },
        expect: Expect::Any,
    };
    world
        .backend
        .store
        .records()
        .commit(vec![write])
        .await
        .unwrap();
}

#[tokio::test]
async fn mailboxes_and_counters_can_be_made_of_the_log_again() {
    let world = World::new().await;
    for to in ["art", "bolt", "art"] {
        send_to(&world, to).await;
    }
    world
        .post(&format!("{MAIL}/art/1/read"), &json!({}))
        .await
        .ok(200);
    let before = world.get(&format!("{MAIL}/art")).await.ok(200);
    let art = "art".parse().unwrap();
    let first = keys::mail_box(&shop(), &art, 1.try_into().unwrap());
    let third = keys::mail_box(&shop(), &art, 3.try_into().unwrap());
    spoil(&world, &first, |body| body.replace("\"Hi\"", "\"Ho\"")).await;
    let counters = keys::mail(&shop());
    spoil(&world, &counters, |body| {
        body.replace("\"sent\":3", "\"sent\":4")
    })
    .await;
    let gone = Write::Delete {
        key: third,
        expect: Expect::Any,
    };
    world
        .backend
        .store
        .records()
        .commit(vec![gone])
        .await
        .unwrap();
    let faults = world.backend.verify_mail(&shop()).await.unwrap().faults;
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert_eq!(world.backend.rebuild_mail(&shop()).await.unwrap(), 3);
    assert_eq!(world.backend.rebuild_mail(&shop()).await.unwrap(), 0);
    assert_eq!(world.get(&format!("{MAIL}/art")).await.ok(200), before);
    is_whole(&world).await;
}

#[tokio::test]
async fn a_change_of_the_log_shows_by_its_pages() {
    let world = World::new().await;
    for to in ["art", "bolt"] {
        send_to(&world, to).await;
    }
    world.backend.seal_mail(&shop()).await.unwrap();
    let second = keys::mail_event(&shop(), 2);
    spoil(&world, &second, |body| body.replace("bolt", "volt")).await;
    let faults = world.backend.verify_mail(&shop()).await.unwrap().faults;
    assert!(faults.iter().any(|it| it.contains("page 1")), "{faults:?}");
    let page = keys::mail_page(&shop(), 1);
    spoil(&world, &page, |body| body.replace("bolt", "volt")).await;
    let faults = world.backend.verify_mail(&shop()).await.unwrap().faults;
    assert!(faults[0].contains("page 1"), "{faults:?}");
    let gone = Write::Delete {
        key: second,
        expect: Expect::Any,
    };
    world
        .backend
        .store
        .records()
        .commit(vec![gone])
        .await
        .unwrap();
    let faults = world.backend.verify_mail(&shop()).await.unwrap().faults;
    assert_eq!(faults[0], "event 2 is missing");
    world.backend.rebuild_mail(&shop()).await.unwrap_err();
}

#[tokio::test]
async fn what_was_exported_is_imported_whole_and_once() {
    let world = World::new().await;
    for _ in 0..50 {
        send_to(&world, "art").await;
    }
    world
        .post(&format!("{MAIL}/art/1/read"), &json!({}))
        .await
        .ok(200);
    let export = lines(&world).await.join("\n") + "\n";
    let other: RepoName = "acme/other".parse().unwrap();
    let import = async |text: &str| world.backend.import_mail(&other, text.as_bytes()).await;
    let all = MailImported {
        added: 51,
        already_there: 0,
    };
    assert_eq!(import(&export).await.unwrap(), all);
    let none = MailImported {
        added: 0,
        already_there: 51,
    };
    assert_eq!(import(&export).await.unwrap(), none);
    let verified = world.backend.verify_mail(&other).await.unwrap();
    assert_eq!((verified.faults, verified.events), (Vec::new(), 51));
    let inbox = |repo: &str| format!("/api/mail/acme/{repo}/art");
    assert_eq!(
        world.get(&inbox("other")).await.ok(200),
        world.get(&inbox("shop")).await.ok(200)
    );
    send_to(&world, "bolt").await;
    let more = lines(&world).await.join("\n") + "\n";
    let one = MailImported {
        added: 1,
        already_there: 51,
    };
    assert_eq!(import(&more).await.unwrap(), one);
    for wrong in ["x\n".to_owned(), more.replace("01", "02")] {
        import(&wrong).await.unwrap_err();
    }
    let verified = world.backend.verify_mail(&other).await.unwrap();
    assert_eq!((verified.faults, verified.events), (Vec::new(), 52));
}

#[tokio::test]
async fn what_is_sent_within_an_import_gets_a_number_above_it() {
    let (world, records) = forgetful().await;
    for _ in 0..50 {
        send_to(&world, "art").await;
    }
    let export = lines(&world).await.join("\n") + "\n";
    let other: RepoName = "acme/other".parse().unwrap();
    let import = || world.backend.import_mail(&other, export.as_bytes());
    let count = async || {
        let found = world.get("/api/mail/acme/other/art").await.ok(200);
        found["messages"].as_array().unwrap().len()
    };
    records.refuses.store(2, Ordering::SeqCst);
    import().await.unwrap_err();
    assert_eq!(count().await, 40, "what was added is in its mailbox");
    let sent = world
        .post("/api/mail/acme/other", &letter("curator", "art"))
        .await
        .ok(201);
    assert_eq!(sent["sent"][0]["message_id"], 51);
    let rest = MailImported {
        added: 10,
        already_there: 40,
    };
    assert_eq!(import().await.unwrap(), rest);
    assert_eq!(count().await, 51);
    let verified = world.backend.verify_mail(&other).await.unwrap();
    assert_eq!((verified.faults, verified.events), (Vec::new(), 51));
}

#[tokio::test]
async fn nothing_is_sealed_without_the_page_before() {
    let world = World::new().await;
    send_to(&world, "art").await;
    assert_eq!(world.backend.seal_mail(&shop()).await.unwrap(), 1);
    let gone = Write::Delete {
        key: keys::mail_page(&shop(), 1),
        expect: Expect::Any,
    };
    let records = world.backend.store.records();
    records.commit(vec![gone]).await.unwrap();
    send_to(&world, "art").await;
    let refused = world.post(&format!("{MAIL}/seal"), &json!({})).await;
    assert_eq!(refused.code(409), "broken_mail");
    let counters = world.backend.mail_counters(&shop()).await.unwrap();
    assert_eq!((counters.sealed, counters.pages), (1, 1));
}
