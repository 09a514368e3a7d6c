//! The jobs of the demo: what is asked for in two repositories, and what the sessions do.

use jiff::SignedDuration;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, CiSetup, Outcome, RepoSetup};
use sandbox::story::{Step, Story};

use crate::stage::{Play, SHOP};

/// Where the third job works: its checks fail on the first head of every branch.
pub(super) const SITE: &str = "acme/site";

/// The three jobs.
pub(super) const PROMPTS: [(&str, &str); 3] = [
    (SHOP, "Add a search box (it will ask which library to use)"),
    (
        SHOP,
        "Rewrite the cart (its plan needs approval, and it gets stuck once)",
    ),
    (SITE, "Fix the footer (its checks fail first)"),
];

/// The three jobs, each in a session with a story of its own.
pub(super) fn play() -> Play {
    Play::new(scenario(stories()))
}

/// Both repositories, with what their sessions do.
pub(super) fn scenario(stories: Vec<Story>) -> Scenario {
    let green = |name: &str, seconds| CheckSetup {
        takes: SignedDuration::from_secs(seconds),
        ..CheckSetup::new(name, Outcome::Success)
    };
    let fails_first = CheckSetup {
        log: "error: the footer is 3 pixels too low".to_owned(),
        ..CheckSetup::new("test", Outcome::FailsFirst(1))
    };
    let shop = RepoSetup::new(SHOP).with_ci(CiSetup {
        checks: vec![green("build", 2), green("test", 3)],
        ..CiSetup::default()
    });
    let site = RepoSetup::new(SITE).with_ci(CiSetup {
        checks: vec![green("build", 1), fails_first],
        ..CiSetup::default()
    });
    Scenario {
        repos: vec![shop, site],
        stories,
        ..Scenario::default()
    }
}

fn stories() -> Vec<Story> {
    let second = SignedDuration::from_secs(1);
    let work = |title: &str| Step::Progress {
        after: second,
        title: title.to_owned(),
        description: String::new(),
        files: Vec::new(),
        command: None,
        media_bytes: 0,
    };
    let open = || Step::OpenPull {
        after: second,
        files: Vec::new(),
        draft: false,
    };
    let done = || Step::Complete {
        after: second,
        no_change: false,
    };
    let story = |matches: &str, steps| Story {
        matches: matches.to_owned(),
        steps,
        ..Story::default()
    };
    let ask = Step::Ask {
        after: second,
        text: "There are two search libraries in the tree. Which one shall I use?".to_owned(),
    };
    let plan = Step::Plan {
        after: second,
        steps: vec![
            "Move the cart's state".to_owned(),
            "Rewrite the view".to_owned(),
            "Run the tests".to_owned(),
        ],
    };
    vec![
        story(
            "search box",
            vec![
                work("Looking around"),
                ask,
                work("Building the box"),
                open(),
                done(),
            ],
        ),
        story(
            "cart",
            vec![
                plan,
                work("Moving the state"),
                Step::Stall { after: second },
                work("Rewriting the view"),
                open(),
                done(),
            ],
        ),
        story(
            "footer",
            vec![
                work("Looking around"),
                work("Moving the footer"),
                open(),
                done(),
            ],
        ),
    ]
}
