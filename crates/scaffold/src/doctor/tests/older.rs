//! A repository of the older generation: its files are checked where they are, and nothing new is written beside them.

use super::repository::{CONFIG, OLDER_CHANGES, PIN};
use super::*;
use crate::tree::Tree;

const EVENT: &str = ".jules/workstreams/generic/events/decided/a-leak.yml";
const ISSUE: &str = ".jules/workstreams/generic/issues/bugs/close-the-file.yml";
const LIST: &str = ".jules/roles/narrator/prompt.yml";
const OBSERVER: &str = ".jules/roles/observers/qa/prompt.yml";

fn repository() -> Repository {
    let whole = Repository::at_work();
    let text = |path: &str| whole.tree.text(path).unwrap().to_owned();
    let list = "contracts:\n  - .jules/JULES.md\n";
    let older = |text: String| text.replace("requirement_id", "issue_id");
    Repository {
        tree: Tree::default(),
    }
    .with(CONFIG, "")
    .with(PIN, "1.2.3\n")
    .with(".jules/JULES.md", "The rules.\n")
    .with(LIST, list)
    .with(OBSERVER, list)
    .with(".jules/roles/narrator/schemas/change.yml", "form: change\n")
    .with(
        ".jules/roles/observers/schemas/event.yml",
        &text(".jules/roles/observers/schemas/event.yml"),
    )
    .with(".jules/changes/latest.yml", OLDER_CHANGES)
    .with(EVENT, &older(text(super::repository::DECIDED)))
    .with(ISSUE, &text(super::repository::REQUIREMENT))
}

#[test]
fn only_its_missing_lists_are_told_of_a_whole_one() {
    // The requirement is ready, and there is no list for an implementer.
    let findings = repository().examine();
    assert_eq!(places(&findings), [(Rule::Prompt, ISSUE, 1)]);
    assert_eq!(places(&whole().examine()), []);
}

#[test]
fn its_files_are_held_to_the_same_rules() {
    let planted = |repository: Repository, rule, file, line| {
        let findings = repository.examine();
        let found = places(&findings);
        assert!(found.contains(&(rule, file, line)), "{found:?}");
    };
    planted(
        repository().without(".jules/JULES.md"),
        Rule::MissingSystem,
        ".jules/JULES.md",
        1,
    );
    planted(
        repository().replaced(EVENT, "cc22dd", "zz99zz"),
        Rule::Link,
        EVENT,
        3,
    );
    planted(
        repository().replaced(ISSUE, "label: bugs", "label: bug"),
        Rule::Label,
        ISSUE,
        6,
    );
    planted(
        repository().with(OBSERVER, "contracts: []\n"),
        Rule::Prompt,
        OBSERVER,
        1,
    );
    planted(
        repository().with(LIST, "contracts:\n  - .jules/JULES.md\n  - .jules/x\n"),
        Rule::Prompt,
        LIST,
        3,
    );
    let deep = ".jules/workstreams/generic/issues/bugs/a/b.yml";
    planted(repository().with(deep, ""), Rule::FileName, deep, 1);
    let changes = ".jules/changes/latest.yml";
    planted(
        repository().replaced(changes, "ch0001", "ch1"),
        Rule::Id,
        changes,
        1,
    );
}

#[test]
fn what_its_prompts_lack_is_told_with_a_line_and_a_remedy_that_there_are() {
    let list = "contracts:\n  - .jules/JULES.md\n";
    let broken = repository()
        .without(".jules/roles/narrator/schemas/change.yml")
        .with(OBSERVER, &format!("workstream: shipping\n{list}"));
    let findings = broken.examine();
    assert_eq!(
        places(&findings),
        [
            (Rule::Prompt, LIST, 1),
            (Rule::Prompt, OBSERVER, 1),
            (Rule::Prompt, ISSUE, 1),
        ]
    );
    for finding in &findings {
        assert!(
            finding.what.ends_with("migrate the repository"),
            "{finding}"
        );
    }
}

#[test]
fn nothing_is_written_beside_it() {
    let broken = repository().without(".jules/JULES.md");
    assert_eq!(fixes(&broken.tree, &[]), []);
    let findings = broken.examine();
    let missing = findings.iter().find(|it| it.rule == Rule::MissingSystem);
    let remedy = missing.unwrap().remedy;
    assert!(remedy.contains("`gaffer scaffold migrate`"), "{remedy}");
    assert_eq!(system(&repository().tree, &[]), Ok(Vec::new()));
}

/// With a list for each layer that has something to do.
fn whole() -> Repository {
    let list = "contracts: [.jules/JULES.md]\n";
    repository().with(".jules/roles/implementers/one/prompt.yml", list)
}

#[test]
fn it_does_without_the_users_folder_and_its_values_are_no_matter_of_git() {
    let bare = whole().without(CONFIG).without(PIN);
    assert_eq!(places(&bare.examine()), []);
    let env = ".jules/setup/env.toml";
    assert_eq!(
        places(&whole().with(env, "a = 1\n").examine()),
        [(Rule::TrackedSecrets, env, 1)]
    );
}

#[test]
fn what_its_schedules_name_has_a_list_in_that_stream() {
    let file = ".jules/workstreams/generic/scheduled.toml";
    let both =
        "version = 1\n[observers]\nroles = [\n  { name = \"qa\" },\n  { name = \"gone\" },\n]\n";
    let one = both.replace("  { name = \"gone\" },\n", "");
    assert_eq!(places(&whole().with(file, &one).examine()), []);
    assert_eq!(
        places(&whole().with(file, both).examine()),
        [(Rule::ScheduledRole, file, 5)]
    );
    let elsewhere = whole()
        .with(file, &one)
        .with(
            OBSERVER,
            "workstream: billing\ncontracts: [.jules/JULES.md]\n",
        )
        .with(".jules/workstreams/billing/events/pending/.gitkeep", "");
    assert_eq!(
        places(&elsewhere.examine()),
        [(Rule::ScheduledRole, file, 4)]
    );
    assert_eq!(
        places(&whole().with(file, "version = 2\n").examine()),
        [(Rule::Config, file, 1)]
    );
}
