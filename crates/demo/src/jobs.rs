//! The jobs of the demo: what is asked for in two repositories, and what the sessions do.

use jiff::SignedDuration;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, Outcome, RepoSetup};
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
    let shop = RepoSetup::new(SHOP).with_checks([green("build", 2), green("test", 3)]);
    let site = RepoSetup::new(SITE).with_checks([green("build", 1), fails_first]);
    Scenario {
        repos: vec![shop, site],
        stories,
        ..Scenario::default()
    }
}

fn stories() -> Vec<Story> {
    let second = SignedDuration::from_secs(1);
    let work = |title: &str| Step::progress(second, title);
    let open = || Step::open_pull(second, false);
    let done = || Step::complete(second);
    let asked = "There are two search libraries in the tree. Which one shall I use?";
    let ask = Step::ask(second, asked);
    let steps = ["Move the cart's state", "Rewrite the view", "Run the tests"];
    let plan = Step::plan(second, &steps);
    vec![
        Story::new(
            "search box",
            vec![
                work("Looking around"),
                ask,
                work("Building the box"),
                open(),
                done(),
            ],
        ),
        Story::new(
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
        Story::new(
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
