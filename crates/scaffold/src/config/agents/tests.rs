//! Who works in which stream, in both generations.

use super::*;
use crate::config::parse;
use crate::tree::{Content, Entry, Mode};

const LIST: &str = "contracts: [.jules/JULES.md]\n";
const SCHEDULE: &str = ".jules/workstreams/generic/scheduled.toml";

fn found(files: &[(&str, &str)]) -> Result<Vec<StreamAgents>, Unusable> {
    let config = parse("c", "[observers]\nroles = [{ name = \"taxonomy\" }]\n").unwrap();
    let file = |(path, text): &(&str, &str)| (path.parse().unwrap(), Entry::text(*text));
    let tree: Tree = files.iter().map(file).collect();
    agents(&config, &tree)
}

/// The streams with their observers that are enabled, and with who decides.
fn stream_summaries(files: &[(&str, &str)]) -> Vec<String> {
    let line = |it: &StreamAgents| {
        let enabled = it.observers.iter().filter(|role| role.enabled);
        let observers: Vec<_> = enabled.map(|role| role.name.as_str()).collect();
        let decider = match &it.decider {
            DecidedBy::Layer => "the layer",
            DecidedBy::Role(role) => role.as_str(),
            DecidedBy::Off => "off",
        };
        let runs = if it.runs { "runs" } else { "rests" };
        format!("{} {runs}: {}; {decider}", it.stream, observers.join(" "))
    };
    found(files).unwrap().iter().map(line).collect()
}

#[test]
fn in_the_newer_generation_the_settings_say_it() {
    let newer = stream_summaries(&[(".jules/exchange/changes.yml", "")]);
    assert_eq!(newer, ["generic runs: taxonomy; the layer"]);
}

#[test]
fn in_the_older_one_each_list_works_in_the_stream_that_it_names() {
    let billing = format!("workstream: billing\n{LIST}");
    let gone = format!("workstream: gone\n{LIST}");
    let agents = stream_summaries(&[
        (".jules/roles/observers/qa/prompt.yml", LIST),
        (".jules/roles/observers/roles/qa/prompt.yml", LIST),
        (".jules/roles/observers/roles/zeta/prompt.yml", &billing),
        (".jules/roles/observers/roles/zz/prompt.yml", &gone),
        (".jules/roles/deciders/triage/prompt.yml", LIST),
        (".jules/workstreams/billing/events/pending/.gitkeep", ""),
    ]);
    assert_eq!(
        agents,
        [
            "generic runs: qa; triage",
            "billing runs: zeta; the layer",
            "gone runs: zz; the layer",
        ]
    );
}

#[test]
fn a_schedule_goes_before_the_lists_for_what_it_says() {
    let billing = format!("workstream: billing\n{LIST}");
    let schedule = "version = 1\nenabled = true\n[observers]\nroles = [{ name = \"qa\" }, { name = \"cov\", enabled = false }]\n[deciders]\nroles = [{ name = \"one\", enabled = false }, { name = \"two\" }, { name = \"three\" }]\n";
    let agents = stream_summaries(&[
        (".jules/roles/observers/other/prompt.yml", LIST),
        (".jules/roles/observers/zeta/prompt.yml", &billing),
        (SCHEDULE, schedule),
        (
            ".jules/workstreams/billing/scheduled.toml",
            "enabled = false\n",
        ),
        (
            ".jules/workstreams/late/scheduled.toml",
            "[deciders]\nroles = []\n",
        ),
    ]);
    assert_eq!(
        agents,
        [
            "generic runs: qa; two",
            "billing rests: zeta; the layer",
            "late runs: ; off",
        ]
    );
}

#[test]
fn of_two_deciders_of_a_stream_the_first_is_the_role_that_decides() {
    let web = format!("workstream: web\n{LIST}");
    let files = [
        (".jules/roles/deciders/one/prompt.yml", web.as_str()),
        (".jules/roles/deciders/two/prompt.yml", web.as_str()),
        (".jules/workstreams/web/events/pending/.gitkeep", ""),
    ];
    let tree = |files: &[(&str, &str)]| -> Tree {
        let files = files.iter();
        let files = files.map(|(path, text)| (path.parse().unwrap(), Entry::text(*text)));
        files.collect()
    };
    let role = |files: &[(&str, &str)], stream: &str| {
        let role = role_that_decides(&tree(files), &stream.parse().unwrap());
        role.map(|role| role.to_string())
    };
    assert_eq!(role(&files, "web").as_deref(), Some("one"));
    assert_eq!(role(&files, "generic"), None);
    let newer = [(".jules/exchange/changes.yml", "")];
    assert_eq!(role(&newer, "generic"), None);
}

#[test]
fn a_schedule_that_cannot_be_used_names_file_and_line() {
    let said = |text: &str| found(&[(SCHEDULE, text)]).unwrap_err().to_string();
    let misspelt = said("\nversoin = 1\n");
    assert!(
        misspelt.starts_with(&format!("{SCHEDULE}:2: ")),
        "{misspelt}"
    );
    assert!(misspelt.contains("did you mean `version`?"), "{misspelt}");
    for text in [
        "version = 2\n",
        "[observers",
        "enabled = 1\n",
        "observers = 1\n",
    ] {
        let said = said(text);
        assert!(said.starts_with(&format!("{SCHEDULE}:1: ")), "{said}");
    }
}

#[test]
fn a_schedule_that_is_no_text_is_a_fault_and_not_one_that_is_not_there() {
    let told = |entry: Entry| {
        let list = ".jules/roles/observers/qa/prompt.yml";
        let files = [(list, Entry::text(LIST)), (SCHEDULE, entry)];
        let files = files.map(|(path, entry)| (path.parse().unwrap(), entry));
        let tree: Tree = files.into_iter().collect();
        agents(&parse("c", "").unwrap(), &tree)
    };
    let link = Content::Text("enabled = false\n".to_owned());
    for (mode, content) in [
        (Mode::File, Content::NotText),
        (Mode::File, Content::TooLarge),
        (Mode::Link, link),
    ] {
        let entry = Entry {
            mode,
            blob: None,
            content,
        };
        let said = told(entry.clone()).unwrap_err().to_string();
        let expected = format!("{SCHEDULE}:1: it is no text file");
        assert!(said.starts_with(&expected), "{entry:?}: {said}");
    }
    assert!(told(Entry::text("enabled = false\n")).is_ok());
}

#[test]
fn more_roles_than_a_step_has_are_refused() {
    let roles = 0..=MEMBERS_MAX;
    let paths: Vec<_> = roles
        .map(|number| format!(".jules/roles/observers/r{number}/prompt.yml"))
        .collect();
    let files: Vec<_> = paths.iter().map(|path| (path.as_str(), LIST)).collect();
    let said = found(&files).unwrap_err().to_string();
    let start = ".jules/roles/observers:1: has 21 enabled roles";
    assert!(said.starts_with(start), "{said}");
}
