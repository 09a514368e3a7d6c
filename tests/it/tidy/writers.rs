//! One hand: only the dispatcher, in the cloud or in `gaffer up`, holds what acts outside, and what a person typed
//! holds its own (invariant 7).

use super::Finding;
use super::code::{code, enclosed, line_at, lines_with, places};
use super::shape::is_rust;
use super::tree::File;

/// An adapter's type that can act outside.
struct Hand {
    /// The crate that defines it.
    owner: &'static str,
    /// Its name there.
    name: &'static str,
    /// The places that may hold it, besides the crate that defines it.
    places: &'static [&'static str],
}

/// The implementations of the engine's writing ports: sessions, pulls, agents; and what acts for a person at once.
const HANDS: [Hand; 4] = [
    Hand {
        owner: "jules",
        name: "Writer",
        places: &DISPATCHERS,
    },
    Hand {
        owner: "github",
        name: "Writer",
        places: &[
            DISPATCHERS[0],
            DISPATCHERS[1],
            DISPATCHERS[2],
            "crates/cli/src/weave/",
        ],
    },
    Hand {
        owner: "agents",
        name: "Sender",
        places: &DISPATCHERS,
    },
    Hand {
        owner: "github",
        name: "AppMaker",
        places: &[
            "crates/cli/src/github_setup.rs",
            "crates/cli/src/github_setup/",
            "tests/",
        ],
    },
];

/// The places that perform effects.
const DISPATCHERS: [&str; 3] = ["crates/server/", "functions/dispatcher/", "tests/"];

/// A writing type is named nowhere but in the dispatcher: who cannot name it cannot build it,
/// whatever its constructor is called and however it is imported.
pub(super) fn confined(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let code = code(text);
    let strangers = HANDS
        .iter()
        .filter(|hand| code.contains(hand.owner) && !hand.may_be_in(path));
    strangers.flat_map(|hand| hand.grips(path, &code)).collect()
}

/// Each writing type is defined where the rule above expects it; otherwise that rule guards nothing.
pub(super) fn watched(files: &[File]) -> Vec<Finding> {
    let lost = HANDS.iter().filter(|hand| {
        let definition = format!("pub struct {}", hand.name);
        let mut homes = files
            .iter()
            .filter(|file| file.path.starts_with(&hand.home()));
        !homes.any(|file| !lines_with(&code(&file.text), &definition).is_empty())
    });
    lost.map(|hand| {
        let advice = format!(
            "`{}::{}` is not here: write it, or name the type that acts in HANDS (tests/it/tidy)",
            hand.owner, hand.name
        );
        Finding::new(&format!("{}src/lib.rs", hand.home()), 1, advice)
    })
    .collect()
}

impl Hand {
    fn home(&self) -> String {
        format!("crates/{}/", self.owner)
    }

    fn may_be_in(&self, path: &str) -> bool {
        path.starts_with(&self.home()) || self.places.iter().any(|place| path.starts_with(place))
    }

    /// The lines that name this hand: in one path, inside a group of imports, or by importing
    /// its crate whole, which would let it be named unseen.
    fn grips(&self, path: &str, code: &str) -> Vec<Finding> {
        let owner = self.owner;
        let paths = [
            format!("{owner}::{}", self.name),
            format!("{owner}::*"),
            format!("use {owner} as"),
        ];
        let spelt_out = paths.iter().flat_map(|path| lines_with(code, path));
        let open = format!("{owner}::{{");
        let holds = |at: &usize| {
            let body = code.get(at + open.len()..).unwrap_or_default();
            places(enclosed(body, '{', '}'), self.name).next().is_some()
        };
        let grouped: Vec<_> = places(code, &open).filter(holds).collect();
        let lines = spelt_out
            .into_iter()
            .chain(grouped.into_iter().map(|at| line_at(code, at)));
        let advice = format!(
            "`{}::{}` acts outside, so only {} holds it: enqueue an effect instead",
            self.owner,
            self.name,
            self.places.first().unwrap_or(&"nobody")
        );
        lines
            .map(|line| Finding::new(path, line, advice.as_str()))
            .collect()
    }
}

#[test]
fn a_hand_outside_the_dispatcher_is_found() {
    for text in [
        "let w = jules::Writer::new(key);",
        "let w = ::github::Writer::from_env();",
        "use agents::Sender;\nfn f() { Sender::new() }",
        "use jules::{Reader, Writer as W};",
        "use github::{\n    read::{Page, Reader},\n    Writer,\n};",
    ] {
        for path in [
            "crates/api/src/a.rs",
            "functions/webhook/src/main.rs",
            "crates/cli/src/a.rs",
        ] {
            assert_eq!(confined(path, text).len(), 1, "{path}: {text}");
        }
    }
    // A crate with two writers is found twice when it is imported whole.
    for text in ["use github::*;", "use github as upstream;"] {
        assert_eq!(confined("crates/api/src/a.rs", text).len(), 2, "{text}");
    }
}

#[test]
fn one_adapter_may_not_hold_the_hand_of_another() {
    let text = "let w = jules::Writer::new(key);";
    assert_eq!(confined("crates/github/src/a.rs", text).len(), 1);
    assert_eq!(confined("crates/jules/src/a.rs", text), []);
}

#[test]
fn the_dispatcher_and_the_tests_hold_hands() {
    let text = "jules::Writer::new(); github::Writer::new(); agents::Sender::new();";
    for path in [
        "crates/server/src/lib.rs",
        "functions/dispatcher/src/main.rs",
        "tests/it/stories.rs",
    ] {
        assert_eq!(confined(path, text), [], "{path}");
    }
    assert_eq!(confined("crates/cli/src/up.rs", text).len(), 3);
}

#[test]
fn what_acts_for_a_person_is_held_where_that_person_typed() {
    let maker = "github::AppMaker::new()";
    for (path, found) in [
        ("crates/cli/src/github_setup.rs", 0),
        ("crates/cli/src/github_setup/page.rs", 0),
        ("crates/cli/src/doctor.rs", 1),
        ("crates/server/src/lib.rs", 1),
    ] {
        assert_eq!(confined(path, maker).len(), found, "{path}");
    }
}

#[test]
fn other_writers_are_no_hands() {
    let text = "// jules::Writer\nuse std::io::BufWriter;\nuse jules::{Reader};\nwatch::Sender::new(1);\n\
        jules::WriterError; let s = \"github::Writer::new(\";";
    assert_eq!(confined("crates/api/src/a.rs", text), []);
}

#[test]
fn a_hand_that_moved_away_is_found() {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let mut files = vec![
        file("crates/jules/src/write.rs", "pub struct Writer { .. }"),
        file("crates/github/src/lib.rs", "pub struct Writer<C>(C);"),
        file("crates/github/src/app.rs", "pub struct AppMaker;"),
        file("crates/agents/src/lib.rs", "pub struct Sender;"),
    ];
    assert_eq!(watched(&files), []);
    files.pop();
    assert_eq!(watched(&files).len(), 1);
}
