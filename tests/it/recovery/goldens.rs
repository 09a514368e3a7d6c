//! Stored records as files, one record a line: what is stored now, and what it means to readers.

mod samples;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::ports::Key;
use engine::store::{BODY_SCHEMA, leave_out_nothings};
use engine::work::Work;
use expect_test::expect_file;
use serde_json::{Value, json};
use tests::records::Kind;

use samples::Samples;

/// What a version adds that this one does not know.
pub(super) const UNKNOWN: &str = "unheard_of";

fn file(kind: Kind) -> PathBuf {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/records");
    records.join(format!("{}.json", kind.name()))
}

/// The samples of a kind as a list, one a line.
fn shown(samples: &Samples, kind: Kind) -> String {
    let golden = |sample: &Value| {
        let body = json!({ "schema": BODY_SCHEMA, "it": sample["it"] });
        json!({ "pk": sample["pk"], "sk": sample["sk"], "body": body }).to_string()
    };
    let records: Vec<String> = samples.of_kind(kind).into_iter().map(golden).collect();
    format!("[\n{}\n]\n", records.join(",\n"))
}

/// The kinds that have samples. What a merge was judged by only the engine makes: a story does.
fn kinds() -> impl Iterator<Item = Kind> {
    let all = Kind::ALL.iter().copied();
    all.filter(|kind| *kind != Kind::Evidence)
}

/// The values of all samples.
fn values() -> Vec<(Kind, Value)> {
    let samples = Samples::all();
    let of = |kind| samples.of_kind(kind).into_iter();
    kinds()
        .flat_map(|kind| of(kind).map(move |sample| (kind, sample["it"].clone())))
        .collect()
}

/// What the present version makes of a value.
fn again(kind: Kind, it: &Value) -> Value {
    let again = kind.again(it);
    again.unwrap_or_else(|error| panic!("{}: {error}: {it}", kind.name()))
}

#[test]
fn there_is_a_sample_of_every_kind_and_every_variant() {
    let samples = Samples::all();
    assert!(samples.of_kind(Kind::Evidence).is_empty());
    let mut seen = BTreeSet::new();
    for kind in kinds() {
        let mine = samples.of_kind(kind);
        assert!(!mine.is_empty(), "{kind:?}");
        seen.extend(
            mine.iter()
                .flat_map(|sample| words::words_of(kind, &sample["it"])),
        );
    }
    let missing: Vec<_> = words::all().difference(&seen).copied().collect();
    assert_eq!(missing, [""; 0], "variants without a sample");
}

/// An effect and an outbox row are due in the partition of their aggregate, and the poller polls accounts itself.
#[test]
fn the_poller_passes_on_every_kind_that_is_ever_due() {
    let samples = Samples::all();
    for kind in kinds() {
        let is_of_other = matches!(kind, Kind::Account | Kind::Effect | Kind::Outbox);
        for sample in samples.of_kind(kind) {
            let text = |field: &str| sample[field].as_str().expect("a text").to_owned();
            let (pk, sk) = (text("pk"), text("sk"));
            let is_passed_on = is_of_other || Work::of_due(&Key { pk, sk }).is_some();
            let is_ever_due = kind.is_unfinished(&sample["it"]).is_some();
            assert!(
                is_passed_on || !is_ever_due,
                "`Work::of_due` does not know {kind:?}: it would be claimed again and again, and only logged"
            );
        }
    }
}

/// When this fails a stored form has changed: CONTRIBUTING.md says what to do.
#[test]
fn what_is_stored_now_is_what_was_kept() {
    let samples = Samples::all();
    for kind in kinds() {
        expect_file![file(kind)].assert_eq(&shown(&samples, kind));
    }
}

#[test]
fn whatever_is_stored_means_the_same_when_it_is_read() {
    for (kind, it) in values() {
        assert_eq!(again(kind, &it), it, "{}", kind.name());
    }
}

/// Records are stored without absent values.
#[test]
fn what_is_not_there_may_be_left_out() {
    for (kind, it) in values() {
        let mut bare = it.clone();
        leave_out_nothings(&mut bare);
        assert_eq!(again(kind, &bare), it, "{}: {bare}", kind.name());
    }
}

#[test]
fn what_another_version_adds_is_left_out() {
    // Notes hold what their writer likes.
    for (kind, it) in values().iter().filter(|(kind, _)| *kind != Kind::Notes) {
        for place in places_of_fields(it) {
            let mut more = it.clone();
            let object = more.pointer_mut(&place).expect("an object");
            object[UNKNOWN] = json!({ "deep": [1] });
            assert_eq!(again(*kind, &more), *it, "{}: {more}", kind.name());
        }
    }
}

/// Variants that hold one plain value: an object with such a key is one, and has no fields.
const NEWTYPES: [&str; 11] = [
    "agent",
    "canceled",
    "ended",
    "failed",
    "left_open",
    "members",
    "passed",
    "person",
    "planned",
    "refused",
    "unreadable",
];

/// Where objects with fields are, as JSON pointers: not where ids are the keys, nor where the one key names a variant.
pub(super) fn places_of_fields(it: &Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut open = vec![(String::new(), it)];
    while let Some((place, value)) = open.pop() {
        if let Value::Object(fields) = value {
            let is_map = fields.is_empty()
                || fields
                    .keys()
                    .any(|key| key.contains(|c: char| c.is_ascii_digit()));
            let is_variant = fields.len() == 1
                && fields
                    .iter()
                    .all(|(key, it)| it.is_object() || NEWTYPES.contains(&key.as_str()));
            if !is_map && !is_variant {
                places.push(place.clone());
            }
        }
        let inner: BTreeMap<String, &Value> = match value {
            Value::Object(fields) => fields.iter().map(|(k, v)| (k.clone(), v)).collect(),
            Value::Array(all) => (0..).map(|n: usize| n.to_string()).zip(all).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeMap::new(),
        };
        let inner = inner.into_iter();
        open.extend(inner.map(|(key, value)| (format!("{place}/{}", escaped(&key)), value)));
    }
    places
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
