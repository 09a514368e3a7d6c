//! What a call of the store was about, in the words of the report.

use std::collections::BTreeSet;

use engine::keys;
use engine::ports::{Key, Write};

/// What is due, by the index of times.
pub(super) const DUE: &str = "what is due";

/// Of which kind a record is.
pub(super) fn kind_of(key: &Key) -> &'static str {
    of_partition(&key.pk, &key.sk)
}

/// Of which kind the records of a partition are whose sort key begins so.
pub(super) fn of_partition(pk: &str, sk: &str) -> &'static str {
    let begins = |prefixes: &[(&str, &'static str)], text: &str| {
        let found = prefixes.iter().find(|(prefix, _)| text.starts_with(prefix));
        found.map(|(_, kind)| *kind)
    };
    let of_aggregate = [
        (keys::EFFECT, "effects"),
        (keys::OUT, "messages"),
        (keys::EVENT_COUNT, "counts of events"),
        (keys::EVENT, "events"),
        ("LISTED", "the list of jobs"),
    ];
    let of_its_own = [
        ("JOB#", "jobs"),
        ("PR#", "pull requests"),
        ("AGT#", "wakes"),
        ("SESSION#", "whose a session is"),
        ("RATE#slots#", "slots"),
        ("LEASE#tick", "the lease of ticks"),
        (keys::ACCOUNT, "accounts"),
        ("CFG#source#", "sources"),
        ("COUNT#usage#", "what was used"),
        ("CFG#", "settings"),
    ];
    begins(&of_aggregate, sk)
        .or_else(|| begins(&of_its_own, pk))
        .unwrap_or("others")
}

/// Of which kind the records of a list are.
pub(super) fn of_list(name: &str) -> &'static str {
    match name.split(':').next() {
        Some("watched") => "who is watched",
        Some("queued") => "who waits",
        Some(_) | None => "lists",
    }
}

/// All kinds of which a commit has records.
pub(super) fn of_commit(items: &[Write]) -> String {
    let kinds: BTreeSet<&str> = items.iter().map(|item| kind_of(item.key())).collect();
    kinds.into_iter().collect::<Vec<_>>().join(" + ")
}
