//! Whatever stands in a file: no panic, and the same findings each time.

use proptest::prelude::*;

use super::repository::{CHANGES, CONFIG, PENDING, REQUIREMENT};
use super::*;

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_file_makes_the_doctor_panic(text in text(), at in 0_usize..5) {
        let file = [CHANGES, CONFIG, PENDING, REQUIREMENT, ".jules/github-labels.json"][at];
        let repository = Repository::at_work().with(file, &text);
        prop_assert_eq!(repository.examine(), repository.examine());
    }
}
