//! What is read of a persona's file, what is filled in, and what is refused.

use std::collections::BTreeSet;

use super::*;
use crate::assets;
use crate::tree::Mode;

const CURATOR: &str = "\
---
id: curator
emoji: 🎭
description: Looks after what users see first.
scheduled: true
---

You are {persona_id} in sprint {sprint} of {repo}.

---

`{\"to\": \"{persona_id}\"}` {other} {{repo}} {
";

fn parsed(id: &str, text: &str) -> PersonaFile {
    PersonaFile::parse(id, text).unwrap()
}

/// A file with these lines between the rulers.
fn with(head: &str) -> String {
    format!("---\n{head}\n---\nWork.\n")
}

fn tree(files: &[(&str, Entry)]) -> Tree {
    let files = files.iter();
    files
        .map(|(path, entry)| (path.parse().unwrap(), entry.clone()))
        .collect()
}

#[test]
fn a_file_says_who_the_persona_is_and_what_it_does() {
    for text in [CURATOR.to_owned(), CURATOR.replace('\n', "\r\n")] {
        let persona = parsed("curator", &text);
        assert_eq!(persona.id.as_str(), "curator");
        assert_eq!(persona.emoji, "🎭");
        assert_eq!(persona.description, "Looks after what users see first.");
        assert!(persona.scheduled);
        assert!(persona.body.starts_with("You are {persona_id}"));
        assert!(persona.body.contains("\n---"), "{}", persona.body);
    }
}

#[test]
fn all_but_the_id_may_be_left_out() {
    for (head, emoji, description, scheduled) in [
        ("id: a", "", "", true),
        ("id: a\nemoji:\ndescription:\nscheduled:", "", "", true),
        ("id: a\nscheduled: false\nhired_by: b", "", "", false),
        ("emoji: '⚡️'\nid: \"a\"", "⚡", "", true),
        ("id: a\ndescription: |\n  one\n  two", "", "one two", true),
    ] {
        let persona = parsed("a", &with(head));
        let found = (
            persona.emoji.as_str(),
            persona.description.as_str(),
            persona.scheduled,
        );
        assert_eq!(found, (emoji, description, scheduled), "{head}");
    }
    let long = parsed(
        "a",
        &with(&format!("id: a\ndescription: {}", "x".repeat(300))),
    );
    assert_eq!(long.description.chars().count(), DESCRIPTION_CHARS_MAX + 1);
}

#[test]
fn three_places_are_filled_in_once_and_every_other_brace_stays() {
    let persona = parsed("curator", CURATOR);
    assert_eq!(
        persona.fill("7", "acme/{sprint}"),
        "You are curator in sprint 7 of acme/{sprint}.\n\n---\n\n\
         `{\"to\": \"curator\"}` {other} {acme/{sprint}} {"
    );
}

/// Texts of the curator's file, with the line and a part of what is said of each.
fn refused(rows: &[(&str, usize, &str)]) {
    for (text, line, what) in rows {
        let fault = PersonaFile::parse("curator", text).expect_err(text);
        let path = ".jules/personas/curator/prompt.md";
        assert_eq!((fault.file.as_str(), fault.line), (path, *line), "{fault}");
        assert!(fault.what.contains(what), "{fault}");
    }
}

#[test]
fn what_a_file_says_of_its_persona_is_refused_with_its_line_and_what_to_do() {
    let none = "the file does not begin with lines between `---` and `---`";
    let other = "`id` is `art` in the folder `curator`: give both the same name";
    refused(&[
        ("", 1, none),
        ("Work.\n", 1, none),
        ("\n---\nid: curator\n---\nWork.\n", 1, none),
        ("---\nid: curator\nWork.\n", 1, none),
        (&with(""), 1, "there is no `id`: add `id: curator`"),
        (&with("- curator"), 1, "there is no `id`"),
        (&with("emoji: x\nid:"), 3, "there is no `id`"),
        (&with("id: [curator]"), 2, "there is no `id`"),
        (&with("emoji: x\nid: art"), 3, other),
        (&with("id: Curator"), 2, "`Curator` is not a valid persona"),
        (
            &with("id: 1a"),
            2,
            "`1a` is not a valid persona: 1 to 32 of",
        ),
        (&with("id: curator\nid: art"), 3, "`id` stands here twice"),
        (&with("id: {"), 2, ""),
        (&with("id: curator\nemoji: [x]"), 3, "`emoji` is a list"),
        (
            &with("id: curator\ndescription:\n  a: b"),
            4,
            "`description` is a list or a map",
        ),
        (
            &with("id: curator\nscheduled: maybe"),
            3,
            "`scheduled` is `maybe`: write `true` or `false`",
        ),
    ]);
    let folder = PersonaFile::parse("The Curator", &with("id: The Curator"));
    let what = folder.unwrap_err().what;
    assert!(what.contains("`The Curator` is not a valid"), "{what}");
}

#[test]
fn a_prompt_that_no_job_would_take_is_refused() {
    let head = "---\nid: curator\n---\n";
    let long = format!("{head}{}", "x".repeat(PERSONA_BYTES_MAX + 1));
    let escaped = format!("{head}x{}", "\"".repeat(PERSONA_BYTES_MAX / 2));
    let secret = format!("{head}ghp_{}", "a1B2c3".repeat(6));
    let too_long = "the prompt has 30001 bytes as JSON, at most 30000";
    refused(&[
        (&format!("{head} \n\n"), 4, "there is no prompt below"),
        (&long, 4, too_long),
        (&escaped, 4, too_long),
        (&secret, 4, "what looks like a secret"),
    ]);
}

#[test]
fn a_prompt_as_long_as_a_job_takes_is_read() {
    let body = "x".repeat(PERSONA_BYTES_MAX);
    let persona = parsed("a", &format!("---\nid: a\n---\n\n{body}\n"));
    assert_eq!(persona.body, body);
}

#[test]
fn those_that_integrate_answer_or_review_start_in_no_batch() {
    for (id, starts) in [
        ("curator", true),
        ("art", true),
        ("weavers", true),
        ("docs_reviewer", true),
        ("weaver", false),
        ("oracle", false),
        ("reviewer", false),
        ("human", false),
        ("scheduler", false),
        ("decider", false),
        ("facilitator", false),
    ] {
        let persona = parsed(id, &with(&format!("id: {id}")));
        assert_eq!(persona.is_in_batch(), starts, "{id}");
        let off = parsed(id, &with(&format!("id: {id}\nscheduled: false")));
        assert!(!off.is_in_batch(), "{id}");
    }
}

#[test]
fn a_tree_has_its_personas_in_order_and_every_fault_beside_them() {
    let persona = |id: &str| Entry::text(with(&format!("id: {id}")));
    let entry = |mode, content| Entry {
        mode,
        blob: None,
        content,
    };
    let tree = tree(&[
        (".jules/personas/art/prompt.md", persona("art")),
        (".jules/personas/art-2/prompt.md", persona("art-2")),
        (".jules/personas/art/prompt.md.j2", Entry::text("")),
        (".jules/personas/art/journals/prompt.md", Entry::text("")),
        (".jules/personas/art/notes/a.md", Entry::text("")),
        (".jules/personas/prompt.md", Entry::text("")),
        (".jules/personas/weaver/prompt.md", persona("weaver")),
        (".jules/personas-old/b/prompt.md", persona("b")),
        (
            ".jules/personas/bytes/prompt.md",
            entry(Mode::File, Content::NotText),
        ),
        (
            ".jules/personas/large/prompt.md",
            entry(Mode::File, Content::TooLarge),
        ),
        (
            ".jules/personas/link/prompt.md",
            entry(Mode::Link, Content::Text("../art/prompt.md".into())),
        ),
        (".jules/personas/other/prompt.md", persona("art")),
        (".jules/personas/tmpl/prompt.md.j2", Entry::text("")),
    ]);
    let personas = read(&tree);
    let ids = |files: Vec<&PersonaFile>| -> Vec<String> {
        files.iter().map(|it| it.id.to_string()).collect()
    };
    assert_eq!(
        ids(personas.files.iter().collect()),
        ["art", "art-2", "weaver"]
    );
    assert_eq!(ids(personas.batch().collect()), ["art", "art-2"]);
    assert_eq!(
        personas.get(&"art-2".parse().unwrap()),
        Some(&personas.files[1])
    );
    assert_eq!(personas.get(&"b".parse().unwrap()), None);
    let faults: Vec<_> = personas.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            ".jules/personas/bytes/prompt.md:1: the file is not UTF-8: save it as UTF-8",
            ".jules/personas/large/prompt.md:1: the file is too large: shorten it",
            ".jules/personas/link/prompt.md:1: a link or another repository lies here: put a regular file in its place",
            ".jules/personas/other/prompt.md:2: `id` is `art` in the folder `other`: give both the same name",
            ".jules/personas/tmpl/prompt.md.j2:1: templates of personas are not read: write `prompt.md` beside it",
        ]
    );
}

#[test]
fn a_path_names_its_persona() {
    for (path, id) in [
        (".jules/personas/art/prompt.md", Some("art")),
        (".jules/personas/art/prompt.md.j2", None),
        (".jules/personas/art/notes/prompt.md", None),
        (".jules/personas/prompt.md", None),
        (".jules/personas//prompt.md", None),
        (".jules/personas-old/art/prompt.md", None),
        ("art/prompt.md", None),
    ] {
        assert_eq!(id_of_path(path), id, "{path}");
    }
    assert_eq!(id_of_path(&path_of("art")), Some("art"));
}

/// The names of the plan's cycle, in order.
const PACK: [&str; 23] = [
    "artisan",
    "bolt",
    "builder",
    "curator",
    "docs_curator",
    "essentialist",
    "forge",
    "janitor",
    "maintainer",
    "organizer",
    "palette",
    "refactor",
    "sapper",
    "scribe",
    "sentinel",
    "shepherd",
    "sheriff",
    "simplifier",
    "steward",
    "streamliner",
    "taskmaster",
    "visionary",
    "weaver",
];

#[test]
fn the_pack_has_twenty_three_personas_of_which_all_but_the_weaver_start() {
    let pack = assets::personas().into_iter();
    let tree: Tree = pack
        .map(|file| (file.path, Entry::text(file.text)))
        .collect();
    let personas = read(&tree);
    assert_eq!(personas.faults, []);
    let ids: Vec<_> = personas.files.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, PACK);
    let batch: Vec<_> = personas.batch().map(|it| it.id.as_str()).collect();
    assert_eq!((batch.len(), batch.contains(&"weaver")), (22, false));
    let emojis: BTreeSet<_> = personas.files.iter().map(|it| &it.emoji).collect();
    assert_eq!(emojis.len(), PACK.len(), "two look alike in a list");
}

#[test]
fn each_persona_of_the_pack_says_who_it_is_what_to_leave_alone_and_how_to_write() {
    for file in assets::personas() {
        let id = id_of_path(file.path.as_str()).unwrap();
        let persona = parsed(id, file.text);
        assert!(
            !persona.description.is_empty() && !persona.emoji.is_empty(),
            "{id}"
        );
        let lines = file.text.lines().count();
        assert!((15..=36).contains(&lines), "{id} has {lines} lines");
        let filled = persona.fill("7", "acme/shop");
        for part in [
            &format!("You are `{id}` in sprint 7 of acme/shop."),
            "## What you leave alone",
            ".jules/mail/outbox/NAME.json",
        ] {
            assert!(filled.contains(part), "{id}: {part}");
        }
        let example = filled.lines().last().unwrap().trim_matches('`');
        let mail: serde_json::Value = serde_json::from_str(example).unwrap();
        let to = mail["to"].as_str().unwrap();
        assert!(to == "human" || PACK.contains(&to), "{id} writes to {to}");
        assert!(
            mail["subject"].is_string() && mail["body"].is_string(),
            "{id}"
        );
    }
}
