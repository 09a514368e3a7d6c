//! Stores that an import accepts, and records that it must not overwrite.

use engine::import::{self, ImportError, Importing};
use engine::keys;
use engine::ports::{Key, Record};
use tests::world::World;

fn holding(key: Key) -> Record {
    Record {
        key,
        version: 1,
        body: "{}".to_owned(),
        due: None,
        list: None,
        forget: None,
    }
}

fn of_nothing(world: &World) -> Importing {
    Importing {
        from: world.backend.now(),
        records: 0,
    }
}

#[tokio::test]
async fn what_a_gaffer_writes_over_an_empty_store_by_itself_is_no_use_of_it() {
    let world = World::new().await;
    let records = world.backend.store.records();
    let by_itself = [
        keys::installation(),
        keys::tick(),
        keys::usage("poller"),
        keys::usage("dispatcher"),
    ];
    let some: Vec<Record> = by_itself.into_iter().map(holding).collect();
    let begun = import::begin(records, &some, of_nothing(&world)).await;
    assert!(begun.is_ok(), "{begun:?}");
}

#[tokio::test]
async fn a_store_with_settings_is_in_use() {
    let world = World::new().await;
    let records = world.backend.store.records();
    let some = [holding(keys::switches())];
    let begun = import::begin(records, &some, of_nothing(&world)).await;
    assert!(
        matches!(&begun, Err(ImportError::Occupied { key }) if *key == keys::switches()),
        "{begun:?}"
    );
}

#[tokio::test]
async fn what_was_ended_by_somebody_else_is_not_filled_once_more() {
    let world = World::new().await;
    let records = world.backend.store.records();
    let now = world.backend.now();
    let begun = import::begin(records, &[], of_nothing(&world)).await;
    begun.expect("a beginning");
    import::fill(records, &[], now)
        .await
        .expect("a filled store");
    world.backend.end_import(&[], now).await.expect("an end");
    let paused = world.backend.store.switches().await.expect("switches");
    assert_eq!(paused.value.paused_since, None);
    for again in [
        import::fill(records, &[], now).await,
        world.backend.end_import(&[], now).await.map(drop),
    ] {
        assert!(matches!(again, Err(ImportError::Ended)), "{again:?}");
    }
    let still = world.backend.store.switches().await.expect("switches");
    assert_eq!(still.version, paused.version, "nothing was written");
}

#[tokio::test]
async fn what_is_ended_while_it_is_filled_is_filled_no_further() {
    let world = World::new().await;
    let records = world.backend.store.records();
    let now = world.backend.now();
    let begun = import::begin(records, &[], of_nothing(&world)).await;
    begun.expect("a beginning");
    let key = Key {
        pk: "P".to_owned(),
        sk: "S".to_owned(),
    };
    let record = Record {
        body: r#"{"schema":1,"it":1}"#.to_owned(),
        ..holding(key.clone())
    };
    let backend = world.backend.clone();
    // Another process, which has filled it too, ends it between two commits of this one.
    world
        .fate
        .before_next("commit P S, CFG#import META", async move {
            backend.end_import(&[], now).await.expect("an end");
        });
    let filled = import::fill(records, &[record], now).await;
    let refused = matches!(&filled, Err(ImportError::Store(error)) if error.is_conflict());
    assert!(refused, "{filled:?}");
    assert_eq!(records.get(&key).await.expect("a store"), None);
}
