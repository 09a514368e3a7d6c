//! A monitor's cache of its list from earlier rounds, so that a refused entry is neither requested nor reported again
//! and again.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::entries::{self, Entry, Name, Wrong};
use super::taken::Taken;

/// A refused entry is tried again after this: the cause may be gone.
const AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(30);

/// The cache of a list.
#[derive(Debug, Default)]
pub(super) struct Known {
    refused: BTreeMap<Name, Timestamp>,
    told: BTreeSet<(usize, String)>,
    /// Taken entries with their notes: the stored notes may have changed since.
    done: BTreeSet<(Name, String)>,
}

/// An entry's name and its notes.
fn place(entry: &Entry) -> (Name, String) {
    let metadata = Value::Object(entry.metadata.clone());
    (entry.names.clone(), metadata.to_string())
}

impl Known {
    /// The entries of a list that need work.
    pub(super) fn news(&self, bytes: &[u8], now: Timestamp) -> Vec<Result<Entry, Wrong>> {
        let mut entries = entries::read(bytes);
        entries.retain(|entry| match entry {
            Ok(entry) => {
                let refused = self.refused.get(&entry.names);
                let again = refused.is_none_or(|at| now.duration_since(*at) >= AGAIN_AFTER);
                again && !self.done.contains(&place(entry))
            }
            Err(wrong) => !self.told.contains(&(wrong.at, wrong.what.clone())),
        });
        entries
    }

    /// Records which of these entries were taken, and which could not be.
    pub(super) fn settle(
        &mut self,
        entries: &[Result<Entry, Wrong>],
        taken: &Taken,
        now: Timestamp,
    ) {
        let is_open = |names: &Name| {
            let later = taken
                .later
                .iter()
                .any(|it| *names == Name::Session(it.clone()));
            later
                || taken
                    .wrong
                    .iter()
                    .any(|it| it.names.as_ref() == Some(names))
        };
        let done = entries.iter().flatten().filter(|it| !is_open(&it.names));
        self.done.extend(done.map(place));
        for failed in &taken.wrong {
            match &failed.names {
                Some(names) => drop(self.refused.insert(names.clone(), now)),
                None => drop(self.told.insert((failed.at, failed.what.clone()))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::taken::Failed;
    use super::*;

    #[test]
    fn what_cannot_be_taken_is_left_alone_for_a_while() {
        let at = |minute: i64| Timestamp::from_second(minute * 60).unwrap();
        let list = b"31\nnonsense\n32";
        let mut known = Known::default();
        let news = known.news(list, at(0));
        assert_eq!(news.len(), 3);
        let mut taken = Taken::default();
        let wrong = news.iter().cloned().filter_map(Result::err);
        taken.wrong.extend(wrong.map(Failed::from));
        taken.later.push("32".parse().unwrap());
        taken.wrong.push(Failed {
            at: 1,
            names: Some(Name::Session("31".parse().unwrap())),
            what: "refused".to_owned(),
        });
        known.settle(&news, &taken, at(0));
        assert_eq!(known.news(list, at(29)).len(), 1);
        assert_eq!(known.news(list, at(30)).len(), 2);
        // A changed line is reported again.
        assert_eq!(known.news(b"31\nelse\n32", at(1)).len(), 2);
        known.settle(&news, &Taken::default(), at(30));
        assert_eq!(known.news(list, at(60)).len(), 0);
        let noted = b"{\"job_id\": 32, \"metadata\": {\"task\": \"x\"}}";
        assert_eq!(known.news(noted, at(60)).len(), 1);
    }
}
