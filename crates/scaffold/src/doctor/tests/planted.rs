//! One planted fault for each rule, found with file and line and with nothing else.

use std::collections::BTreeSet;

use super::repository::{
    CHANGES, CONFIG, DECIDED, INNOVATOR, OBSERVER, OLDER_CHANGES, PENDING, PIN, PROPOSALS,
    REQUIREMENT,
};
use super::*;
use crate::tree::{Content, Entry, Mode};

use Rule::{
    Config, Contracts, Date, Entries, Id, Label, MissingKey, Placeholder, Prompt, ReadOrder,
    Reason, ScheduledRole, ShortText, State, UnknownKey, Unreadable, Vague, Value, Waiting,
};

const CONTRACTS: &str = ".jules/roles/planner/contracts.yml";
const TASK: &str = ".jules/roles/decider/tasks/triage.yml";
const TEMPLATE: &str = ".jules/roles/decider/decider_prompt.j2";
const PLANNER: &str = ".jules/roles/planner/planner_prompt.j2";
const SCHEMA: &str = ".jules/roles/observers/schemas/event.yml";
const LABELS: &str = ".jules/github-labels.json";
const ROLE: &str = ".jlo/roles/observers/billing/role.yml";
const ROLE_TEXT: &str =
    "role: billing\nlayer: observers\ndescription: Counts.\nprofile: { focus: Money. }\n";

/// A rule, the line, a text that is right, and the one in its place that is not.
type Edit = (Rule, usize, &'static str, &'static str);

/// What is edited in the files of a repository at work.
const EDITS: &[(&str, &[Edit])] = &[
    (
        PENDING,
        &[
            (Value, 10, "path: src/read.rs", "path: ../../etc/passwd"),
            (Value, 10, "path: src/read.rs", "path: /etc/passwd"),
            (Unreadable, 5, "author_role: qa", "id: twice"),
            (UnknownKey, 7, "title:", "titel: x\ntitle:"),
            (
                UnknownKey,
                4,
                "created_at:",
                "issue_id: cc22dd\ncreated_at:",
            ),
            (MissingKey, 1, "author_role: qa\n", ""),
            (
                Placeholder,
                5,
                "author_role: qa",
                "author_role: \"<your role>\"",
            ),
            (
                Placeholder,
                6,
                "confidence: high",
                "confidence: low|medium|high",
            ),
            (Value, 6, "confidence: high", "confidence: certain"),
            (Value, 1, "schema_version: 1", "schema_version: 9"),
            (Value, 5, "author_role: qa", "author_role: \"\""),
            (Value, 5, "author_role: qa", "author_role: [qa]"),
            (Date, 4, "2026-02-17", "2026-02-30"),
            (Id, 2, "id: aa11bb", "id: aa11"),
            (Entries, 10, "loc: [\"12\"]", "loc: []"),
            (State, 3, "requirement_id: \"\"", "requirement_id: cc22dd"),
            (Waiting, 4, "2026-02-17", "2026-02-10"),
            (
                ShortText,
                8,
                "The file is opened and never closed.",
                "It leaks.",
            ),
        ],
    ),
    (
        CONFIG,
        &[
            (
                Config,
                2,
                "[run]\n",
                "[workflow]\nrunner_mode = \"a b\"\n[run]\n",
            ),
            (Config, 2, "[run]\n", "[run]\nparallel = true\n"),
            (ScheduledRole, 7, "taxonomy", "taxonmy"),
        ],
    ),
    (
        CONTRACTS,
        &[
            (Unreadable, 2, "layer: planner", "layer: [planner"),
            (Contracts, 1, "layer: planner", "layer: decider"),
            (Contracts, 2, "jules-planner-", "plans-"),
            (Contracts, 3, "purpose:", "purpose: \"\"\nnote:"),
            (Contracts, 1, "constraints:", "rules:"),
        ],
    ),
    (SCHEMA, &[(Unreadable, 10, "evidence:", "evidence: [")]),
    (LABELS, &[(Unreadable, 5, "\"bugs\": {", "\"bugs\": ")]),
    (
        REQUIREMENT,
        &[
            (
                Value,
                15,
                "affected_areas:\n  - src/read.rs",
                "affected_areas: [[src]]",
            ),
            (Id, 4, "- bb11cc", "- bb11"),
            (Label, 6, "label: bugs", "label: bug"),
            (Reason, 21, "analysis: false", "analysis: true"),
            (ShortText, 18, "No handle is open after a read.", "Done."),
            (Vague, 20, "cargo test -p read", "TODO, a test"),
            (Vague, 20, "cargo test -p read", "cargo test -p <crate>"),
        ],
    ),
    (OBSERVER, &[(Date, 3, "2026-02-17", "yesterday")]),
    (
        DECIDED,
        &[
            (
                State,
                3,
                "requirement_id: \"cc22dd\"",
                "requirement_id: \"\"",
            ),
            (Id, 3, "requirement_id: \"cc22dd\"", "requirement_id: cc22"),
        ],
    ),
    (
        TASK,
        &[
            (
                ReadOrder,
                4,
                "steps:\n",
                "steps:\n  - Read all event files in the folder.\n",
            ),
            (
                ReadOrder,
                4,
                "steps:\n",
                "steps:\n  - See `.jules/JULES.md`.\n",
            ),
        ],
    ),
    (
        TEMPLATE,
        &[
            (Prompt, 9, "# Pending", "# {{ rolle }} Pending"),
            (Prompt, 1, "paths.rules", "'src/lib.rs'"),
            (Prompt, 1, "# Output", "# Outcome"),
        ],
    ),
    (
        PLANNER,
        &[(Prompt, 2, "{{ section", "{{ rolle }}{{ section")],
    ),
];

type Planted = (Rule, Repository, &'static str, usize);

fn entry(mode: Mode, content: Content) -> Entry {
    Entry {
        mode,
        blob: None,
        content,
    }
}

fn at_work() -> Repository {
    Repository::at_work()
}

fn replaced(path: &str, old: &str, new: &str) -> Repository {
    at_work().replaced(path, old, new)
}

fn edits() -> Vec<Planted> {
    let of_file = |&(file, edits): &(&'static str, &'static [Edit])| {
        edits
            .iter()
            .map(move |&(rule, line, old, new)| (rule, replaced(file, old, new), file, line))
    };
    EDITS.iter().flat_map(of_file).collect()
}

fn structure() -> Vec<Planted> {
    let older = ".jules/workstreams/generic/events/pending/a.yml";
    vec![
        (Rule::Layout, at_work().with(older, ""), ".jules", 1),
        (
            Rule::MissingSystem,
            at_work().without(".jules/README.md"),
            ".jules/README.md",
            1,
        ),
        (
            Rule::MissingSystem,
            at_work().without(CONTRACTS),
            CONTRACTS,
            1,
        ),
        (Rule::MissingControl, at_work().without(CONFIG), CONFIG, 1),
        (Rule::MissingControl, at_work().without(PIN), PIN, 1),
        (Rule::Version, at_work().with(PIN, "1.3.0\n"), PIN, 1),
        (Rule::Version, at_work().with(PIN, "latest\n"), PIN, 1),
        (
            Rule::Path,
            at_work().with_unusable(".jules/a\\b"),
            ".jules/a\\b",
            1,
        ),
    ]
}

fn contents() -> Vec<Planted> {
    let secret = format!("key: ghp_{}\n", "A1b2".repeat(9));
    let link = entry(Mode::Link, Content::Text("elsewhere".into()));
    let bytes = entry(Mode::File, Content::NotText);
    let large = entry(Mode::File, Content::TooLarge);
    vec![
        (
            Rule::Irregular,
            at_work().with_entry(".jules/x", link),
            ".jules/x",
            1,
        ),
        (
            Rule::NotText,
            at_work().with_entry(".jules/x", bytes),
            ".jules/x",
            1,
        ),
        (
            Rule::NotText,
            at_work().with_entry(".jules/x", large),
            ".jules/x",
            1,
        ),
        (
            Rule::CaseTwins,
            at_work().with(".jules/readme.md", ""),
            ".jules/readme.md",
            1,
        ),
        (
            Rule::TrackedSecrets,
            at_work().with(".jlo/setup/secrets.toml", ""),
            ".jlo/setup/secrets.toml",
            1,
        ),
        (
            Rule::TrackedSecrets,
            at_work().with(".jlo/setup/env.toml", ""),
            ".jlo/setup/env.toml",
            1,
        ),
        (
            Rule::Secret,
            at_work().with(".jules/notes.txt", &format!("\n{secret}")),
            ".jules/notes.txt",
            2,
        ),
    ]
}

fn counts() -> Vec<Planted> {
    let six = "  - { title: Six, scope: reading, impact: Faster. }\n";
    let four = "  - { title: Five, scope: reading, impact: Faster. }\n";
    let more = |n: usize, item: &str| format!("goals:\n{}", item.repeat(n));
    let log = "  - { at: 2026-02-17, summary: Looked. }\n".repeat(5);
    let recent = format!("[{}]", ["x"; 16].join(", "));
    vec![
        (
            Rule::Entries,
            replaced(CHANGES, six.replace("Six", "Five").as_str(), ""),
            CHANGES,
            4,
        ),
        (
            Rule::Entries,
            replaced(CHANGES, four, &format!("{four}{six}")),
            CHANGES,
            4,
        ),
        (
            Rule::Entries,
            replaced(OBSERVER, "goals:\n", &more(3, "  - Look.\n")),
            OBSERVER,
            5,
        ),
        (
            Rule::Entries,
            replaced(OBSERVER, "log:\n", &format!("log:\n{log}")),
            OBSERVER,
            9,
        ),
        (
            Rule::Entries,
            replaced(INNOVATOR, "[One, Two, Three]", &recent),
            INNOVATOR,
            16,
        ),
    ]
}

/// Lists that have to have an entry, each without one.
fn empty_lists() -> Vec<Planted> {
    let evidence =
        "evidence:\n  - path: src/read.rs\n    loc: [\"12\"]\n    note: There is no close.";
    let empty = |repository: Repository, (file, list, line): (&'static str, &str, usize)| {
        let (key, _) = list.split_once(':').unwrap();
        let without = repository.replaced(file, list, &format!("{key}: []"));
        (Rule::Entries, without, file, line)
    };
    let commits = "commits:\n  - { sha: 5d6e7f8, subject: Read it again }";
    let older = at_work().with(CHANGES, OLDER_CHANGES);
    let older = empty(older, (CHANGES, commits, 8));
    let lists = [
        (PENDING, evidence, 9),
        (DECIDED, evidence, 9),
        (OBSERVER, "goals:\n  - Find two words for one thing.", 4),
        (REQUIREMENT, "source_events:\n  - bb11cc", 3),
        (REQUIREMENT, "affected_areas:\n  - src/read.rs", 15),
        (
            REQUIREMENT,
            "acceptance_criteria:\n  - No handle is open after a read.",
            17,
        ),
        (
            REQUIREMENT,
            "verification_commands:\n  - cargo test -p read",
            19,
        ),
        (PROPOSALS[0], "impact_surface: [src/read.rs]", 9),
        (PROPOSALS[0], "consistency_risks: [Two ways to read.]", 11),
        (
            PROPOSALS[0],
            "verification_signals: [No handle is open at the end.]",
            12,
        ),
    ];
    let others = lists.into_iter().map(|list| empty(at_work(), list));
    others.chain([older]).collect()
}

fn states() -> Vec<Planted> {
    vec![(
        Rule::ProposalCount,
        at_work().without(PROPOSALS[2]),
        PROPOSALS[1],
        4,
    )]
}

fn names() -> Vec<Planted> {
    let pending = ".jules/exchange/events/pending";
    let other = ".jules/exchange/proposals/recruiter-two.yml";
    let text = at_work().tree.text(PROPOSALS[2]).unwrap().to_owned();
    let renamed = at_work().without(PROPOSALS[2]).with(other, &text);
    let wrong = |name: &str| at_work().with(&format!("{pending}/{name}"), "");
    let misplaced = ".jlo/roles/decider/one/role.yml";
    vec![
        (
            Rule::FileName,
            wrong("a.yaml"),
            ".jules/exchange/events/pending/a.yaml",
            1,
        ),
        (
            Rule::FileName,
            wrong("notes.md"),
            ".jules/exchange/events/pending/notes.md",
            1,
        ),
        (Rule::FileName, renamed, other, 1),
        (
            Rule::Role,
            at_work().with(ROLE, &ROLE_TEXT.replace("role: b", "role: c")),
            ROLE,
            1,
        ),
        (
            Rule::Role,
            at_work().with(ROLE, &ROLE_TEXT.replace("observers", "innovators")),
            ROLE,
            2,
        ),
        (
            Rule::MissingKey,
            at_work().with(ROLE, "role: billing\nlayer: observers\n"),
            ROLE,
            1,
        ),
        (
            Rule::Placeholder,
            at_work().with(ROLE, &ROLE_TEXT.replace("Counts.", "<what it does>")),
            ROLE,
            3,
        ),
        (
            Rule::Role,
            at_work().with(misplaced, ROLE_TEXT),
            misplaced,
            1,
        ),
    ]
}

fn relations() -> Vec<Planted> {
    let twin = ".jules/exchange/events/pending/ab-other.yml";
    let event = |id: &str, title: &str| {
        let text = at_work().tree.text(PENDING).unwrap().to_owned();
        let text = text.replace("id: aa11bb", &format!("id: {id}"));
        at_work().with(twin, &text.replace("A file stays open in aa11bb", title))
    };
    let second = ".jules/exchange/requirements/dd33ee-again.yml";
    let text = at_work().tree.text(REQUIREMENT).unwrap().to_owned();
    let shared = text.replace("cc22dd", "dd33ee");
    let gone = replaced(
        REQUIREMENT,
        "source_events:\n  - bb11cc",
        "source_events:\n  - bb11cc\n  - zz99zz",
    );
    let one_sided = at_work().without(REQUIREMENT);
    vec![
        (Rule::TwinId, event("aa11bb", "Another thing"), twin, 2),
        (Rule::Link, gone, REQUIREMENT, 5),
        (Rule::Link, one_sided, DECIDED, 3),
        (
            Rule::SharedEvent,
            at_work().with(second, &shared),
            second,
            4,
        ),
        (
            Rule::SimilarEvents,
            event("aa22bb", "a file stays open IN aa11bb"),
            twin,
            7,
        ),
    ]
}

fn prompts() -> Vec<Planted> {
    let block = "This paragraph stands in the template once and once more, word for word, \
        although a reader of the prompt needs it only once to know what it says.";
    let twice = format!("{block}\n\n{block}\n\n---\n# Pending events\n");
    let again = "{{ include_required(paths.labels) }}\n---\n# Pending events\n";
    vec![
        (
            Rule::DoubledBlock,
            replaced(TEMPLATE, "---\n# Pending events\n", &twice),
            TEMPLATE,
            1,
        ),
        (
            Rule::DoubledBlock,
            replaced(TEMPLATE, "---\n# Pending events\n", again),
            TEMPLATE,
            1,
        ),
    ]
}

fn all() -> Vec<Planted> {
    [
        edits(),
        structure(),
        contents(),
        counts(),
        empty_lists(),
        states(),
        names(),
        relations(),
        prompts(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn each_planted_fault_is_found_with_file_and_line() {
    let mut wrong = Vec::new();
    for (rule, repository, file, line) in all() {
        let findings = repository.examine();
        let found = places(&findings);
        // A warning breaks nothing else; an error may well do.
        let alone = found.len() == 1 || rule.level() == Level::Error;
        if !found.contains(&(rule, file, line)) || !alone {
            let found: Vec<_> = findings.iter().map(ToString::to_string).collect();
            wrong.push(format!("{rule:?} {file}:{line}\n  {}", found.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "not found:\n{}", wrong.join("\n"));
}

#[test]
fn a_file_of_the_user_that_cannot_be_read_is_not_missing() {
    for (content, mode, rule) in [
        (Content::NotText, Mode::File, Rule::NotText),
        (Content::TooLarge, Mode::File, Rule::NotText),
        (Content::Text("x".into()), Mode::Link, Rule::Irregular),
    ] {
        for file in [CONFIG, PIN] {
            let odd = entry(mode, content.clone());
            let findings = at_work().with_entry(file, odd).examine();
            let found = places(&findings);
            assert!(found.contains(&(rule, file, 1)), "{found:?}");
            let is_missing = |it: &&(Rule, &str, usize)| it.0 == Rule::MissingControl;
            assert_eq!(found.iter().find(is_missing), None, "{found:?}");
        }
    }
}

#[test]
fn each_rule_has_a_planted_fault() {
    let mut planted: BTreeSet<_> = all().into_iter().map(|(rule, ..)| rule).collect();
    // It takes two trees, and has a test of its own.
    planted.insert(Rule::StraySystem);
    let without: Vec<_> = Rule::ALL
        .iter()
        .filter(|rule| !planted.contains(rule))
        .collect();
    assert_eq!(without, [&Rule::Layout; 0]);
}

#[test]
fn every_rule_has_a_name_of_its_own_and_a_remedy() {
    let names: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(Rule::ALL.iter().all(|rule| rule.remedy().len() > 8));
}

#[test]
fn a_file_of_the_system_on_the_target_branch_is_found() {
    let found = |strays: &[&str]| -> Vec<String> {
        let mut trees = at_work().trees();
        let target = at_work().with(".jules/personas/art/prompt.md", "Draw.\n");
        let target = strays.iter().fold(target, |it, path| it.with(path, ""));
        let mut target = target.tree;
        for path in crate::layout::of_system(&trees.worker) {
            if !strays.contains(&path.as_str()) {
                let _gone = target.remove(path);
            }
        }
        trees.target = target.into();
        let found = examine(&trees, &circumstances()).into_iter();
        found.map(|it| it.to_string()).collect()
    };
    assert_eq!(found(&[]), [""; 0]);
    let remedy = Rule::StraySystem.remedy();
    let one = format!(
        "[ERROR] {CHANGES}:1: the file of the system is on the target branch (stray-system-file): {remedy}"
    );
    assert_eq!(found(&[CHANGES]), [one]);
    let two = found(&[CHANGES, PENDING]);
    assert!(
        two[0].contains("the file and 1 more of the system"),
        "{two:?}"
    );
}

#[test]
fn an_empty_list_of_labels_is_found_in_its_file_and_named_as_empty() {
    for empty in ["[]", "{}", "{ \"issue_labels\": {} }"] {
        let findings = at_work().with(LABELS, empty).examine();
        let found = places(&findings);
        assert!(found.contains(&(Rule::Entries, LABELS, 1)), "{found:?}");
        let label = findings.iter().find(|it| it.rule == Rule::Label).unwrap();
        assert_eq!(
            label.what,
            "there is no label `bugs`, since the repository has none"
        );
    }
}

#[test]
fn a_link_has_two_ends() {
    let other = at_work().replaced(REQUIREMENT, "- bb11cc", "- zz99zz");
    let findings = other.examine();
    let found: Vec<_> = places(&findings);
    assert_eq!(
        found,
        [(Rule::Link, DECIDED, 3), (Rule::Link, REQUIREMENT, 4)]
    );
    let decided = at_work().replaced(DECIDED, "cc22dd", "dd33ee");
    let findings = decided.examine();
    assert_eq!(
        places(&findings),
        [(Rule::Link, DECIDED, 3), (Rule::Link, REQUIREMENT, 4)]
    );
}

#[test]
fn a_built_in_role_needs_no_file() {
    let scheduled = replaced(CONFIG, "name = \"taxonomy\"", "name = \"qa\"");
    assert_eq!(scheduled.examine(), []);
    let own = replaced(CONFIG, "name = \"taxonomy\"", "name = \"billing\"");
    assert_eq!(own.with(ROLE, ROLE_TEXT).examine(), []);
}
