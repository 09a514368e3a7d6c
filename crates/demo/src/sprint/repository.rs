//! The repository of the demo of a sprint: some code, six personas of Gaffer's pack, and what their sessions make of it.

use std::collections::BTreeMap;

use domain::policy::{MergeMethod, MergePolicy, PlanApproval, Policy};
use jiff::SignedDuration;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, Outcome, RepoSetup};
use sandbox::story::{Step, Story, Writing};

use crate::stage::{BETWEEN_MANY_WRITES, Play, SHOP};

/// The branch that people work on.
pub(super) const TARGET: &str = "main";

/// The number of the sprint.
pub(super) const NUMBER: &str = "50";

/// The number of the first pull request.
const FIRST_PULL: u64 = 101;

/// Who is in the repository: all but the weaver take part.
const PERSONAS: [&str; 6] = [
    "artisan",
    "curator",
    "refactor",
    "scribe",
    "visionary",
    "weaver",
];

/// The file about which two of them conflict.
const CART: &str = "src/cart.rs";

/// A sprint of five personas.
pub(super) fn play() -> Play {
    Play {
        policy: policy(),
        between_writes: BETWEEN_MANY_WRITES,
        ..Play::new(scenario())
    }
}

/// Only the one pull request is merged, and its weaves stay in the history.
fn policy() -> Policy {
    Policy {
        merge: MergePolicy::Integration,
        merge_method: MergeMethod::Merge,
        plan_approval: PlanApproval::Auto,
        ..Policy::default()
    }
}

/// The curator comes first, so that the refactor conflicts with it, and then mends that.
fn scenario() -> Scenario {
    let checks = ["build", "test"].map(|name| CheckSetup::new(name, Outcome::Success));
    let repo = RepoSetup {
        files: files(),
        first_number: FIRST_PULL,
        ..RepoSetup::new(SHOP)
    };
    let total = "    items.iter().map(|item| item.price + item.tax).sum()";
    let sum = "    sum_of(items.iter().map(|item| item.price))";
    let both = "    sum_of(items.iter().map(|item| item.price + item.tax))";
    let stories = vec![
        member("curator", 1, NewText::at(CART, cart(total)), None),
        member(
            "refactor",
            3,
            NewText::at(CART, cart(sum)),
            Some(NewText::at(CART, cart(both))),
        ),
        member(
            "visionary",
            5,
            NewText::at("docs/vision.md", "A shop that knows its customers.\n"),
            None,
        ),
        member(
            "artisan",
            7,
            NewText::at(
                "src/item.rs",
                "pub struct Item {\n    pub price: u64,\n    pub tax: u64,\n}\n",
            ),
            None,
        ),
        member(
            "scribe",
            9,
            NewText::at("README.md", "A shop with a cart.\n"),
            None,
        ),
    ];
    Scenario {
        repos: vec![repo.with_checks(checks)],
        stories,
        ..Scenario::default()
    }
}

fn cart(total: &str) -> String {
    format!(
        "use crate::item::Item;\n\n/// What everything costs.\npub fn total(items: &[Item]) -> u64 {{\n{total}\n}}\n"
    )
}

fn files() -> BTreeMap<String, String> {
    let pack = scaffold::assets::personas().into_iter();
    let paths = PERSONAS.map(scaffold::persona::path_of);
    let pack = pack
        .map(|file| (file.path.to_string(), file.text.to_owned()))
        .filter(|(path, _)| paths.contains(path));
    let others = [
        (CART, cart("    items.iter().map(|item| item.price).sum()")),
        ("README.md", "A shop.\n".to_owned()),
    ];
    let others = others.map(|(path, text)| (path.to_owned(), text));
    pack.chain(others).collect()
}

/// One file as a session writes it.
struct NewText {
    path: &'static str,
    text: String,
}

impl NewText {
    fn at(path: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { path, text }
    }
}

/// What a session of a persona makes, and what it makes of a message about its conflict.
fn member(persona: &str, seconds: i64, first: NewText, again: Option<NewText>) -> Story {
    let mut steps = vec![write(seconds, first)];
    steps.extend(pushed(true));
    let on_message = again.map(|again| {
        let mut steps = vec![write(1, again)];
        steps.extend(pushed(false));
        steps
    });
    Story {
        on_message: on_message.unwrap_or_default(),
        ..Story::new(&format!("You are the persona `{persona}`"), steps)
    }
}

fn write(seconds: i64, file: NewText) -> Step {
    Step::Write(Writing {
        after: SignedDuration::from_secs(seconds),
        files: [(file.path.to_owned(), file.text)].into(),
        ..Writing::default()
    })
}

/// The end of the work, after a pull request if there is none yet.
fn pushed(is_first: bool) -> Vec<Step> {
    let after = SignedDuration::from_millis(500);
    let open = is_first.then(|| Step::open_pull(after, false));
    open.into_iter().chain([Step::complete(after)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_personas_of_the_story_are_in_the_pack() {
        let files = files();
        for persona in PERSONAS {
            assert!(
                files.contains_key(&scaffold::persona::path_of(persona)),
                "{persona}"
            );
        }
    }
}
