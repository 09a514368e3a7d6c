//! Which rows stand for messages, and which stay where they stand.

use super::*;
use domain::ids::JobId;

fn write(key: Key, due: Option<i64>) -> Write {
    let record = Record {
        key,
        version: 0,
        body: String::new(),
        due: due.map(|at| Timestamp::from_second(at).unwrap()),
        list: None,
        forget: None,
    };
    let expect = Expect::Any;
    Write::Put { record, expect }
}

#[test]
fn a_row_that_is_looked_at_early_stays_where_it_stands() {
    let key = keys::job(&JobId::from_ulid(Ulid(7)));
    let at = |second| Timestamp::from_second(second).unwrap();
    let cases = [
        // The stored time is earlier than the wanted one, and not in the past.
        (Some(20), Some(30), Some(20)),
        (Some(20), Some(20), Some(20)),
        // It is wanted sooner, or not at all, or is due already, or was in no index.
        (Some(20), Some(15), Some(15)),
        (Some(20), None, None),
        (Some(10), Some(30), Some(30)),
        (None, Some(30), Some(30)),
    ];
    for (stands, wanted, left) in cases {
        let standing = stands.map(|stands| (key.clone(), at(stands)));
        let mut write = write(key.clone(), wanted);
        keep_due_rows(&mut write, &standing.into_iter().collect(), at(10));
        let Write::Put { record, .. } = write else {
            panic!()
        };
        assert_eq!(record.due, left.map(at), "{stands:?} {wanted:?}");
    }
}

#[test]
fn only_a_row_that_is_due_in_time_and_says_the_same_spares_an_outbox_row() {
    let job = |n| JobId::from_ulid(Ulid(n));
    let (id, soon) = (job(7), Timestamp::from_second(5).unwrap());
    let work = Work::Job { id: id.clone() };
    assert!(asks_for(&write(keys::job(&id), Some(5)), &work, soon));
    let key = keys::job(&id);
    for other in [
        write(key.clone(), Some(6)),
        write(key.clone(), None),
        write(keys::job(&job(8)), Some(5)),
        write(keys::out(&key.pk, &Ulid(1)), Some(5)),
        Write::Delete {
            key,
            expect: Expect::Any,
        },
    ] {
        assert!(!asks_for(&other, &work, soon), "{other:?}");
    }
    let slots = Work::Slots {
        account: "default".parse().unwrap(),
    };
    assert!(!asks_for(&write(keys::job(&id), Some(5)), &slots, soon));
}
