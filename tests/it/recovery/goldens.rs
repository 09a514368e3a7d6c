//! Stored records as each version of Gaffer wrote them, kept as files and read by the present one.
//!
//! `tests/fixtures/records/v1` is what schema 1 of bodies began with; `v1.1` what it became when fields were added, and so on.

mod samples;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use engine::store::{BODY_SCHEMA, leave_out_nothings};
use expect_test::expect_file;
use serde_json::{Value, json};
use tests::records::Kind;

use super::flight;
use samples::Samples;

/// What one version kept: its folder, and the schema of its bodies.
pub(super) struct Kept {
    pub(super) folder: PathBuf,
    schema: u32,
    edition: u32,
}

impl Kept {
    /// Everything that was ever kept, the oldest first.
    pub(super) fn all() -> Vec<Self> {
        let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/records");
        let read = fs::read_dir(records).expect("the folders of goldens");
        let mut all: Vec<Self> = read
            .map(|entry| Self::of(entry.expect("a folder").path()))
            .collect();
        all.sort_by_key(|kept| (kept.schema, kept.edition));
        all
    }

    fn of(folder: PathBuf) -> Self {
        let name = folder.file_name().expect("a name").to_string_lossy();
        let version = name.strip_prefix('v').expect("a folder named v1 or v1.1");
        let (schema, edition) = version.split_once('.').unwrap_or((version, "0"));
        let number = |text: &str| text.parse().expect("a number");
        let (schema, edition) = (number(schema), number(edition));
        Self {
            folder,
            schema,
            edition,
        }
    }

    fn file(&self, kind: Kind) -> PathBuf {
        self.folder.join(format!("{}.json", kind.name()))
    }

    /// The values of a kind that it kept.
    fn values(&self, kind: Kind) -> Vec<Value> {
        let Ok(text) = fs::read_to_string(self.file(kind)) else {
            return Vec::new();
        };
        let all: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        all.into_iter().map(|record| self.it(record)).collect()
    }

    fn it(&self, mut record: Value) -> Value {
        let body = &mut record["body"];
        assert_eq!(body["schema"], self.schema, "{}", self.folder.display());
        body["it"].take()
    }

    /// Everything that it kept, with what was in flight.
    fn everything(&self) -> Vec<(Kind, Value)> {
        let samples = Kind::ALL.iter().flat_map(|kind| {
            let values = self.values(*kind).into_iter();
            values.map(|value| (*kind, value))
        });
        let in_flight = flight::records_of(self).into_iter();
        let in_flight = in_flight.map(|(kind, record)| (kind, self.it(record)));
        samples.chain(in_flight).collect()
    }
}

fn shown(samples: &Samples, kind: Kind) -> String {
    let golden = |sample: &Value| {
        let body = json!({ "schema": BODY_SCHEMA, "it": sample["it"] });
        json!({ "pk": sample["pk"], "sk": sample["sk"], "body": body })
    };
    let records: Vec<Value> = samples.of(kind).into_iter().map(golden).collect();
    let mut text = serde_json::to_string_pretty(&records).expect("JSON");
    text.push('\n');
    text
}

#[test]
fn there_is_a_sample_of_every_kind_and_every_variant() {
    let samples = Samples::all();
    let mut seen = BTreeSet::new();
    for kind in Kind::ALL {
        let mine = samples.of(*kind);
        // What a merge was judged by only the engine makes: it is kept with what was in flight.
        assert_eq!(mine.is_empty(), *kind == Kind::Evidence, "{kind:?}");
        seen.extend(
            mine.iter()
                .flat_map(|sample| words::of(*kind, &sample["it"])),
        );
    }
    let missing: Vec<_> = words::all().difference(&seen).copied().collect();
    assert_eq!(missing, [""; 0], "variants without a sample");
}

/// When this fails a stored shape has changed: CONTRIBUTING.md says what to do, and it is not to rewrite what was released.
#[test]
fn what_is_stored_now_is_what_was_kept_last() {
    let samples = Samples::all();
    let last = Kept::all().pop().expect("a folder of goldens");
    assert_eq!(
        last.schema, BODY_SCHEMA,
        "make the folder v{BODY_SCHEMA} and run this with UPDATE_EXPECT=1"
    );
    for kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Evidence) {
        expect_file![last.file(*kind)].assert_eq(&shown(&samples, *kind));
    }
}

#[test]
fn whatever_a_version_stored_means_the_same_to_the_present_one() {
    for kept in Kept::all() {
        let everything = kept.everything();
        assert!(everything.len() > 100, "{}", kept.folder.display());
        for (kind, it) in everything {
            let again = kind.again(&it);
            let again = again.unwrap_or_else(|error| panic!("{}: {error}: {it}", kind.name()));
            assert!(keeps(&it, &again), "{}: {it}\nbecame {again}", kind.name());
        }
    }
}

/// Records are stored without what is not there.
#[test]
fn what_is_not_there_may_be_left_out() {
    let last = Kept::all().pop().expect("a folder of goldens");
    for (kind, it) in last.everything() {
        let mut bare = it.clone();
        leave_out_nothings(&mut bare);
        let again = kind.again(&bare);
        let again = again.unwrap_or_else(|error| panic!("{}: {error}: {bare}", kind.name()));
        // Nothing reads evidence back. What was in flight is kept without what is not there.
        let same = kind.again(&it).is_ok_and(|it| it == again) || kind == Kind::Evidence;
        assert!(same, "{}: {bare}\nbecame {again}", kind.name());
    }
}

/// Whether everything in the one stands in the other too; what a newer version adds may be there besides.
fn keeps(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => old
            .iter()
            .all(|(name, value)| new.get(name).is_some_and(|new| keeps(value, new))),
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| keeps(old, new))
        }
        (old, new) => old == new,
    }
}

#[test]
fn what_a_later_version_adds_is_left_out() {
    let last = Kept::all().pop().expect("a folder of goldens");
    for (kind, it) in last.everything() {
        for place in places_of_fields(&it) {
            let mut later = it.clone();
            let object = later.pointer_mut(&place).expect("an object");
            object["unheard_of"] = json!({ "deep": [1] });
            let again = kind.again(&later);
            let again = again.unwrap_or_else(|error| panic!("{}: {error}: {later}", kind.name()));
            // Nothing reads evidence back, so nothing of it is left out; and notes hold what their writer likes.
            let whole = kind == Kind::Evidence || kind == Kind::Notes;
            let same = kind.again(&it).is_ok_and(|it| it == again) || whole;
            assert!(same, "{}: {later}\nbecame {again}", kind.name());
        }
    }
}

/// Where objects with fields are, as JSON pointers: not where ids are the keys, nor where the one key names a variant.
fn places_of_fields(it: &Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut open = vec![(String::new(), it)];
    while let Some((place, value)) = open.pop() {
        if let Value::Object(fields) = value {
            let is_map = fields.is_empty()
                || fields
                    .keys()
                    .any(|key| key.contains(|c: char| c.is_ascii_digit()));
            let is_variant = fields.len() == 1 && fields.values().all(Value::is_object);
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
