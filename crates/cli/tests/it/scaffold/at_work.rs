//! Files of a repository whose pipeline is at work.

/// An event that the decider has not seen.
pub(super) const PENDING: &str = ".jules/exchange/events/pending/aa11bb-a-leak.yml";

/// An event that belongs to [`PLANNED`].
pub(super) const DECIDED: &str = ".jules/exchange/events/decided/bb11cc-a-leak.yml";

/// An event that belongs to [`READY`].
pub(super) const SECOND: &str = ".jules/exchange/events/decided/bb22cc-a-race.yml";

/// A requirement that the planner has to think through.
pub(super) const PLANNED: &str = ".jules/exchange/requirements/cc11dd-close-the-file.yml";

/// A requirement that can be implemented.
pub(super) const READY: &str = ".jules/exchange/requirements/cc22dd-lock-the-file.yml";

/// All of them with their texts. Today's date, so that nothing waits for long.
pub(super) fn files(today: &str) -> Vec<(&'static str, String)> {
    vec![
        (PENDING, event("aa11bb", "", today)),
        (DECIDED, event("bb11cc", "cc11dd", today)),
        (SECOND, event("bb22cc", "cc22dd", today)),
        (PLANNED, requirement("cc11dd", "bb11cc", true)),
        (READY, requirement("cc22dd", "bb22cc", false)),
    ]
}

fn event(id: &str, requirement: &str, today: &str) -> String {
    format!(
        "schema_version: 1\nid: {id}\nrequirement_id: \"{requirement}\"\n\
         created_at: \"{today}\"\nauthor_role: qa\nconfidence: high\n\
         title: A file stays open in {id}\nstatement: The file is opened and never closed.\n\
         evidence:\n  - path: src/read.rs\n    loc: [\"12\"]\n    note: There is no close.\n"
    )
}

fn requirement(id: &str, event: &str, analysis: bool) -> String {
    let reason = if analysis {
        "Who owns the file has to be found out."
    } else {
        ""
    };
    format!(
        "schema_version: 2\nid: {id}\nsource_events:\n  - {event}\ntitle: Close the file of {id}\n\
         label: bugs\npriority: high\nsummary: The file is closed after it was read.\n\
         goal: No handle stays open.\nproblem: The file is opened and never closed.\n\
         impact: The process runs out of handles after a day.\n\
         desired_outcome: Each file is closed once it was read.\nconstraints: []\nrisks: []\n\
         affected_areas:\n  - src/read.rs\nacceptance_criteria:\n  - No handle is open after a read.\n\
         verification_commands:\n  - cargo test -p read\nrequires_deep_analysis: {analysis}\n\
         deep_analysis_reason: \"{reason}\"\n"
    )
}
