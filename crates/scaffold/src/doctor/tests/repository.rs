//! A repository with one of each artefact, all of them as they should be.

use std::sync::Arc;

use jiff::civil::{Date, date};

use crate::assets;
use crate::prompt::Trees;
use crate::tree::{Entry, Tree, TreePath};

pub(super) const TODAY: Date = date(2026, 2, 18);

pub(super) const CONFIG: &str = ".jlo/config.toml";
pub(super) const PIN: &str = ".jlo/.jlo-version";
pub(super) const CHANGES: &str = ".jules/exchange/changes.yml";
pub(super) const PENDING: &str = ".jules/exchange/events/pending/aa11bb-a-leak.yml";
pub(super) const DECIDED: &str = ".jules/exchange/events/decided/bb11cc-a-leak.yml";
pub(super) const REQUIREMENT: &str = ".jules/exchange/requirements/cc22dd-close-the-file.yml";
pub(super) const OBSERVER: &str = ".jules/workstations/taxonomy/perspective.yml";
pub(super) const INNOVATOR: &str = ".jules/workstations/leverage_architect/perspective.yml";
pub(super) const PROPOSALS: [&str; 3] = [
    ".jules/exchange/proposals/leverage-architect-one.yml",
    ".jules/exchange/proposals/leverage-architect-three.yml",
    ".jules/exchange/proposals/leverage-architect-two.yml",
];

const SETTINGS: &str = "\
[run]
jlo_target_branch = \"main\"
jules_worker_branch = \"jules\"

[observers]
roles = [
  { name = \"taxonomy\", enabled = true },
]

[innovators]
roles = [
  { name = \"leverage_architect\", enabled = true },
]
";

const SUMMARY: &str = "\
schema_version: 1
created_at: \"2026-02-16\"
summaries:
  - { title: One, scope: reading, impact: Faster. }
  - { title: Two, scope: reading, impact: Faster. }
  - { title: Three, scope: reading, impact: Faster. }
  - { title: Four, scope: reading, impact: Faster. }
  - { title: Five, scope: reading, impact: Faster. }
";

pub(super) const OLDER_CHANGES: &str = "\
id: ch0001
created_at: 2026-02-16 08:00:00
range:
  from_commit: 1a2b3c4
  to_commit: 5d6e7f8
  selection_mode: incremental
stats: { commits_total: 2, commits_included: 2, files_changed: 3, insertions: 10, deletions: 4 }
commits:
  - { sha: 5d6e7f8, subject: Read it again }
summary: { overview: Reading is faster., notable_changes: [Reading] }
";

const REQUIREMENT_TEXT: &str = "\
schema_version: 2
id: cc22dd
source_events:
  - bb11cc
title: Close the file
label: bugs
priority: high
summary: The file is closed after it was read.
goal: No handle stays open.
problem: The file is opened and never closed.
impact: The process runs out of handles after a day.
desired_outcome: Each file is closed once it was read.
constraints: []
risks: []
affected_areas:
  - src/read.rs
acceptance_criteria:
  - No handle is open after a read.
verification_commands:
  - cargo test -p read
requires_deep_analysis: false
deep_analysis_reason: \"\"
";

const OBSERVER_TEXT: &str = "\
schema_version: 2
observer: taxonomy
updated_at: \"2026-02-17\"
goals:
  - Find two words for one thing.
rules: []
ignore: []
log:
  - at: \"2026-02-17\"
    summary: The words of reading are clear.
";

const INNOVATOR_TEXT: &str = "\
persona: leverage_architect
focus: What every change has to pass.
repository_observations:
  codebase_state: [Small and tested.]
  startup_and_runtime_contracts: [It starts without a network.]
  decision_quality_gaps: [Nobody measures reading.]
  leverage_candidates: [The reader.]
thinking_notes:
  hypotheses: [A faster reader makes the rest simpler.]
  tradeoff_assessment: [Speed against clarity.]
  rejected_paths: [A cache.]
feedback_assimilation:
  observer_inputs:
    - { from: qa, signal: A file stays open., impact_on_direction: Own the handle. }
  next_focus: The writer.
recent_proposals: [One, Two, Three]
";

fn event(id: &str, requirement: &str) -> String {
    format!(
        "schema_version: 1\nid: {id}\nrequirement_id: \"{requirement}\"\n\
         created_at: \"2026-02-17\"\nauthor_role: qa\nconfidence: high\n\
         title: A file stays open in {id}\nstatement: The file is opened and never closed.\n\
         evidence:\n  - path: src/read.rs\n    loc: [\"12\"]\n    note: There is no close.\n"
    )
}

fn proposal(id: &str) -> String {
    format!(
        "schema_version: 1\nid: {id}\npersona: leverage_architect\ncreated_at: \"2026-02-17\"\n\
         title: Own the handle\nproblem: Handles have no owner.\nintroduction: A type owns each.\n\
         importance: It ends a kind of bug.\nimpact_surface: [src/read.rs]\n\
         implementation_cost: A day.\nconsistency_risks: [Two ways to read.]\n\
         verification_signals: [No handle is open at the end.]\n"
    )
}

pub(super) struct Repository {
    pub(super) tree: Tree,
}

impl Repository {
    /// As init and bootstrap leave it.
    pub(super) fn new() -> Self {
        let files = assets::system().into_iter().chain(assets::control());
        let files = files.map(|file| (file.path, Entry::text(file.text)));
        let repository = Self {
            tree: files.collect(),
        };
        repository.with(CONFIG, SETTINGS).with(PIN, "1.2.3\n")
    }

    /// With one of each artefact.
    pub(super) fn at_work() -> Self {
        let mut repository = Self::new()
            .with(CHANGES, SUMMARY)
            .with(PENDING, &event("aa11bb", ""))
            .with(DECIDED, &event("bb11cc", "cc22dd"))
            .with(REQUIREMENT, REQUIREMENT_TEXT)
            .with(OBSERVER, OBSERVER_TEXT)
            .with(INNOVATOR, INNOVATOR_TEXT);
        for (file, id) in PROPOSALS.iter().zip(["pr0001", "pr0002", "pr0003"]) {
            repository = repository.with(file, &proposal(id));
        }
        repository
    }

    pub(super) fn with(mut self, path: &str, text: &str) -> Self {
        self.tree.put(path.parse().unwrap(), Entry::text(text));
        self
    }

    pub(super) fn with_entry(mut self, path: &str, entry: Entry) -> Self {
        self.tree.put(path.parse().unwrap(), entry);
        self
    }

    pub(super) fn with_unusable(mut self, path: &str) -> Self {
        let why = path.parse::<TreePath>().unwrap_err();
        self.tree.put_unusable(path.to_owned(), why);
        self
    }

    #[track_caller]
    pub(super) fn without(mut self, path: &str) -> Self {
        assert!(self.tree.remove(&path.parse().unwrap()).is_some(), "{path}");
        self
    }

    /// With one text of a file in place of another.
    #[track_caller]
    pub(super) fn replaced(self, path: &str, old: &str, new: &str) -> Self {
        let text = self.tree.text(path).unwrap();
        assert!(text.contains(old), "{path} has no `{old}`");
        let text = text.replacen(old, new, 1);
        self.with(path, &text)
    }

    pub(super) fn trees(&self) -> Trees {
        let tree = Arc::new(self.tree.clone());
        Trees {
            target: Arc::clone(&tree),
            worker: tree,
        }
    }
}
