//! Whatever stands in a file: no panic, the same findings each time, and a bootstrap that changes no file of a session.

use domain::ids::StreamName;
use proptest::prelude::*;

use super::repository::{
    CHANGES, CONFIG, DECIDED, OBSERVER, PENDING, PROPOSALS, REQUIREMENT, Repository,
};
use super::*;
use crate::layout::is_written_by_sessions;
use crate::tree::{Entry, Tree};

/// Lines of an artefact, whole, broken and in any order.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("id: aa11bb"),
        Just("created_at: 2026-02-3é"),
        Just("created_at: \"0000-00-00\""),
        Just("source_events: [aa11bb, [], {}]"),
        Just("evidence: [{ path: a }, b]"),
        Just("requires_deep_analysis: true"),
        Just("title: &a [*a]"),
        Just("summaries: !!binary x"),
        Just("\tlabel: bugs"),
        Just("? : -"),
        Just("persona: \"<your role>\""),
    ];
    let lines = prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"));
    prop_oneof![lines, "\\PC{0,60}"]
}

/// Files of sessions in the exchange and in a stream, and of the system where it may have them.
const PLACES: [&str; 14] = [
    CHANGES,
    PENDING,
    ".jules/exchange/events/pending/decider_prompt.j2",
    DECIDED,
    REQUIREMENT,
    PROPOSALS[0],
    OBSERVER,
    ".jules/workstreams/backend/exchange/events/pending/dd33ee-a-race.yml",
    ".jules/workstreams/backend/exchange/requirements/ee44ff-lock-it.yml",
    ".jules/workstreams/backend/workstations/qa/perspective.yml",
    ".jules/JULES.md",
    ".jules/roles/decider/contracts.yml",
    ".jules/layers/narrator/contracts.yml",
    ".jules/schemas/decider/issue.yml",
];

fn exchange() -> impl Strategy<Value = Tree> {
    let file = (prop::sample::select(PLACES.to_vec()), "\\PC{0,20}");
    let files = prop::collection::vec(file, 0..10);
    files.prop_map(|files| {
        let files = files.into_iter();
        files
            .map(|(path, text)| (path.parse().unwrap(), Entry::text(text)))
            .collect()
    })
}

fn named() -> impl Strategy<Value = Vec<StreamName>> {
    let names = prop::sample::subsequence(vec!["backend", "payments"], 0..=2);
    names.prop_map(|names| names.into_iter().map(|it| it.parse().unwrap()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_a_bootstrap_writes_changes_no_file_of_a_session(before in exchange(), streams in named()) {
        let written = system(&before, &streams).unwrap();
        let mut after = before.clone();
        for file in &written {
            after.put(file.path.clone(), Entry::text(file.text));
        }
        for (path, entry) in before.iter().filter(|(path, _)| is_written_by_sessions(path.as_str())) {
            prop_assert_eq!(after.get(path), Some(entry), "{}", path);
        }
        for file in system(&after, &streams).unwrap() {
            prop_assert_eq!(after.text(file.path.as_str()), Some(file.text), "it is written once");
        }
    }

    #[test]
    fn no_file_makes_the_doctor_panic(text in text(), at in 0_usize..5) {
        let file = [CHANGES, CONFIG, PENDING, REQUIREMENT, ".jules/github-labels.json"][at];
        let repository = Repository::at_work().with(file, &text);
        prop_assert_eq!(repository.examine(), repository.examine());
    }
}
