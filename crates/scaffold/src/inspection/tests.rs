//! Exchanges of both generations, with files that cannot be read among them.

use super::*;
use crate::config::parse;
use crate::tree::Entry;

fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(path, text): &(&str, &str)| (path.parse().unwrap(), Entry::text(*text));
    files.iter().map(file).collect()
}

fn settings() -> Config {
    let text = "[observers]\nroles = [{ name = \"qa\" }, { name = \"cov\", enabled = false }]\n";
    parse("c", text).unwrap()
}

fn looked_into(files: &[(&str, &str)]) -> Inspection {
    inspect(&tree(files), &settings(), &StreamName::default()).unwrap()
}

#[test]
fn every_file_is_listed_with_what_it_says_in_short() {
    let found = looked_into(&[
        (
            ".jules/exchange/changes.yml",
            "created_at: \"2026-02-17\"\n",
        ),
        (
            ".jules/exchange/events/pending/bb22cc-b.yml",
            "id: bb22cc\ntitle: B\nauthor_role: qa\ncreated_at: \"2026-02-17\"\nrequirement_id: \"\"\n",
        ),
        (
            ".jules/exchange/events/pending/cc33dd-a.yml",
            "id: cc33dd\ntitle: A\nauthor_role: cov\ncreated_at: \"2026-02-16\"\n",
        ),
        (
            ".jules/exchange/events/decided/aa11bb-a.yml",
            "id: aa11bb\ntitle: Old\nrequirement_id: dd44ee\n",
        ),
        (
            ".jules/exchange/requirements/dd44ee-x.yml",
            "id: dd44ee\ntitle: Do it\nlabel: bugs\nsource_events: [aa11bb]\nrequires_deep_analysis: true\n",
        ),
        (
            ".jules/exchange/requirements/README.md",
            "Not one of them.\n",
        ),
        (
            ".jules/exchange/proposals/recruiter-x.yml",
            "id: ee55ff\ntitle: Try\npersona: recruiter\n",
        ),
    ]);
    let roles = found.schedule.observers.iter();
    let roles: Vec<_> = roles.map(|it| (it.name.as_str(), it.enabled)).collect();
    assert_eq!(roles, [("qa", true), ("cov", false)]);
    let changes = found.changes.unwrap().created_at.unwrap().to_string();
    assert_eq!(changes, "2026-02-17T00:00:00Z");
    let pending: Vec<_> = found
        .events
        .pending
        .iter()
        .map(|it| it.id.as_str())
        .collect();
    assert_eq!(pending, ["cc33dd", "bb22cc"], "the oldest first");
    assert_eq!(found.events.decided[0].requirement, "dd44ee");
    let [requirement] = &found.requirements[..] else {
        panic!("{:?}", found.requirements);
    };
    assert_eq!(
        (
            requirement.label.as_str(),
            requirement.requires_deep_analysis
        ),
        ("bugs", Some(true))
    );
    assert_eq!(requirement.source_events, ["aa11bb"]);
    assert_eq!(found.proposals[0].role, "recruiter");
    assert_eq!(found.unreadable, [""; 0]);
}

#[test]
fn what_cannot_be_read_is_named_and_what_is_missing_is_empty() {
    let long = "x".repeat(1_000);
    let found = looked_into(&[
        (".jules/exchange/requirements/a.yml", "id: [\n"),
        (".jules/exchange/requirements/b.yml", "id: bb22cc\n"),
        (
            ".jules/exchange/events/pending/c.yml",
            &format!("id: cc33dd\ntitle: \"{long}\\e[2J\"\n"),
        ),
    ]);
    assert_eq!(found.unreadable, [".jules/exchange/requirements/a.yml"]);
    let [requirement] = &found.requirements[..] else {
        panic!("{:?}", found.requirements);
    };
    assert_eq!(
        (
            requirement.title.as_str(),
            requirement.requires_deep_analysis
        ),
        ("", None)
    );
    let title = &found.events.pending[0].title;
    assert!(
        title.chars().count() <= TEXT_CHARS_MAX + 1 && !title.contains('\u{1b}'),
        "{title}"
    );
    assert_eq!(
        inspect(&Tree::default(), &settings(), &StreamName::default()),
        Err(LayoutError::Missing)
    );
}

#[test]
fn the_older_generation_is_looked_into_where_its_files_are() {
    let found = looked_into(&[
        (
            ".jules/workstreams/generic/events/decided/aa11bb.yml",
            "id: aa11bb\nissue_id: dd44ee\n",
        ),
        (
            ".jules/workstreams/generic/issues/bugs/dd44ee.yml",
            "id: dd44ee\nlabel: bugs\nimplementation_ready: true\n",
        ),
        (
            ".jules/workstreams/generic/scheduled.toml",
            "[observers]\nroles = [{ name = \"billing\" }]\n",
        ),
    ]);
    let roles: Vec<_> = found.schedule.observers.iter().collect();
    assert_eq!(roles.len(), 1, "those of its own schedule");
    assert_eq!(roles[0].name.as_str(), "billing");
    assert_eq!(found.events.decided[0].requirement, "dd44ee");
    assert_eq!(found.requirements[0].requires_deep_analysis, Some(false));
}

#[test]
fn a_stream_is_looked_into_by_itself() {
    let event = ".jules/workstreams/backend/exchange/events/pending/aa11bb-a-leak.yml";
    let files = [
        (
            ".jules/exchange/changes.yml",
            "created_at: \"2026-02-16\"\n",
        ),
        (event, "id: aa11bb\ntitle: A leak\n"),
    ];
    let backend: StreamName = "backend".parse().unwrap();
    let settings = parse(
        "c",
        "[workstreams.backend]\nobservers = [{ name = \"cov\" }]\n",
    )
    .unwrap();
    let found = inspect(&tree(&files), &settings, &backend).unwrap();
    assert_eq!(found.streams, [StreamName::default(), backend]);
    assert_eq!(found.events.pending[0].path, event);
    assert_eq!(found.schedule.observers[0].name.as_str(), "cov");
    assert_eq!(looked_into(&files).events.pending, []);
    let gone = inspect(&tree(&files), &settings, &"bakend".parse().unwrap());
    assert!(
        gone.unwrap_err()
            .to_string()
            .contains("did you mean `backend`?")
    );
}
