//! Streams beside the one of every repository: no link leads from one into another.

use super::repository::{CONFIG, DECIDED, PENDING, REQUIREMENT};
use super::*;

const SETTINGS: &str = "[workstreams.backend]\nobservers = [{ name = \"qa\" }]\n";

/// The path of an artefact of the flat exchange as a stream has it.
fn moved(path: &str) -> String {
    path.replace(".jules/exchange", ".jules/workstreams/backend/exchange")
}

/// A repository at work whose settings name a stream, with its folders.
fn with_stream() -> Repository {
    let streams = ["backend".parse().unwrap()];
    let repository = Repository::at_work().with(CONFIG, SETTINGS);
    let missing = fixes(&repository.tree, &streams);
    missing.into_iter().fold(repository, |repository, file| {
        repository.with(file.path.as_str(), file.text)
    })
}

#[test]
fn nothing_is_wrong_with_a_stream_at_work() {
    let repository = with_stream();
    let texts = [PENDING, DECIDED, REQUIREMENT].map(|path| {
        let text = repository.tree.text(path).unwrap().to_owned();
        let ids = [
            ("aa11bb", "aa11b2"),
            ("bb11cc", "bb11c2"),
            ("cc22dd", "cc22d2"),
        ];
        let text = ids
            .iter()
            .fold(text, |text, (old, new)| text.replace(old, new));
        (moved(path), text)
    });
    let repository = texts.iter().fold(repository, |repository, (path, text)| {
        repository.with(path, text)
    });
    assert_eq!(places(&repository.examine()), []);
}

#[test]
fn a_stream_of_the_settings_has_folders_which_the_doctor_puts_back() {
    let without = Repository::at_work().with(CONFIG, SETTINGS);
    let found = without.examine();
    let folders: Vec<_> = found.iter().map(|it| (it.rule, it.file.as_str())).collect();
    let folder = |name: &str| format!(".jules/workstreams/backend/exchange/{name}");
    let wanted = ["events/decided", "events/pending", "requirements"].map(folder);
    let wanted: Vec<_> = wanted
        .iter()
        .map(|it| (Rule::MissingSystem, it.as_str()))
        .collect();
    assert_eq!(folders, wanted);
    assert_eq!(with_stream().examine(), []);
    let off = SETTINGS.replace("observers", "enabled = false\nobservers");
    assert_eq!(Repository::at_work().with(CONFIG, &off).examine(), []);
}

#[test]
fn a_link_into_another_stream_is_none() {
    let repository = with_stream();
    let decided = repository.tree.text(DECIDED).unwrap().to_owned();
    let elsewhere = repository.without(DECIDED).with(&moved(DECIDED), &decided);
    let found = elsewhere.examine();
    let rules: Vec<_> = found.iter().map(|it| (it.rule, it.file.clone())).collect();
    assert_eq!(
        rules,
        [
            (Rule::Link, REQUIREMENT.to_owned()),
            (Rule::Link, moved(DECIDED)),
        ]
    );
}

#[test]
fn an_id_is_one_artefacts_in_all_streams() {
    let repository = with_stream();
    let pending = repository.tree.text(PENDING).unwrap().to_owned();
    let twice = repository.with(&moved(PENDING), &pending);
    let found = twice.examine();
    assert!(found.iter().any(|it| it.rule == Rule::TwinId), "{found:?}");
}

#[test]
fn a_role_of_a_stream_has_to_be_there() {
    for (role, offer) in [("nobody", ""), ("taxonmy", " (did you mean `taxonomy`?)")] {
        let settings = SETTINGS.replace("qa", role);
        let found = with_stream().with(CONFIG, &settings).examine();
        let [found] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(found.rule, Rule::ScheduledRole);
        let what = format!("the layer observers has no role `{role}`{offer}");
        assert_eq!(found.what, what);
    }
}

#[test]
fn an_event_that_the_decider_of_its_stream_has_no_room_for_is_found() {
    let event = with_stream().tree.text(PENDING).unwrap().to_owned();
    let (small, large) = (moved(PENDING), moved(PENDING).replace("aa11bb", "aa11b2"));
    let long = event.replace("aa11bb", "aa11b2") + "# " + &"word ".repeat(6_000) + "\n";
    let found = |repository: &Repository| -> Vec<String> {
        let found = repository.examine().into_iter();
        let found = found.filter(|it| it.rule == Rule::Prompt);
        found.map(|it| it.file).collect()
    };
    let alone = with_stream().with(&large, &long);
    assert_eq!(found(&alone), [".jules/roles/decider/decider_prompt.j2"]);
    let beside = alone.with(&small, &event.replace("aa11bb", "aa11b3"));
    assert_eq!(found(&beside), [large]);
    let off = format!("{SETTINGS}deciders = [{{ name = \"triage\", enabled = false }}]\n");
    assert_eq!(found(&beside.with(CONFIG, &off)), [""; 0]);
}
