//! The repository of the demo of a pipeline: some code, set up as `gaffer scaffold init` does, and how it is worked on.

use std::collections::BTreeMap;

use domain::delivery::{Checkpoints, Endpoint, ReviewBy, Rules};
use domain::pipeline::{Exchange, Implement, PipelineRules};
use engine::machine::SystemClock;
use engine::ports::Clock;
use jiff::tz::TimeZone;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, Outcome, RepoSetup};
use scaffold::doctor::{self, Circumstances, Finding};
use scaffold::prompt::Trees;
use scaffold::tree::{Entry, Tree};

use crate::stage::{BETWEEN_MANY_WRITES, Play, SHOP, Stage};

/// The branch that people work on.
pub(super) const TARGET: &str = "main";

/// The branch that has the exchange.
pub(super) const WORKER: &str = "jules";

/// Five sessions come one after the other, so each takes a quarter of what the sandbox's usual ones do.
const PACE: f64 = 0.25;

/// The version that stands in the repository.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A repository whose pipeline runs by itself. Twelve pull requests take some sixty writes and a thousand points.
pub(super) fn play() -> Play {
    Play {
        pipeline: Some(rules()),
        deliveries: deliveries(),
        between_writes: BETWEEN_MANY_WRITES,
        ..Play::new(scenario())
    }
}

/// No person decides anything.
fn rules() -> PipelineRules {
    PipelineRules {
        exchange: Exchange::Auto,
        implement: Implement::Auto,
        ..PipelineRules::default()
    }
}

/// Requirements become merged changes by their checks alone.
fn deliveries() -> Rules {
    Rules {
        endpoint: Endpoint::VERIFY,
        checkpoints: Checkpoints::none(),
        review_by: Some(ReviewBy::Nobody),
        ..Rules::default()
    }
}

/// Every session does what its prompt says, which is the sandbox's usual story.
fn scenario() -> Scenario {
    let checks = ["build", "test"].map(|name| CheckSetup::new(name, Outcome::Success));
    let repo = RepoSetup {
        files: files(),
        ..RepoSetup::new(SHOP)
    };
    Scenario {
        repos: vec![repo.with_checks(checks)],
        pace: PACE,
        ..Scenario::default()
    }
}

fn files() -> BTreeMap<String, String> {
    let control = scaffold::assets::control().into_iter();
    let control = control.map(|file| (file.path.to_string(), file.text.to_owned()));
    let pin = (scaffold::pin::PIN, format!("{VERSION}\n"));
    let code = "pub fn sum(p: u32, q: u32) -> u32 {\n    p + q\n}\n".to_owned();
    let others = [
        pin,
        ("src/cart.rs", code),
        ("README.md", "A shop.\n".to_owned()),
    ];
    let others = others.map(|(path, text)| (path.to_owned(), text));
    control.chain(others).collect()
}

/// Whether no branch is left but the two that stay.
pub(super) fn is_clear(stage: &Stage) -> bool {
    let branches = stage.sandbox.github().branches(SHOP).unwrap_or_default();
    let stays = |name: &String| [TARGET, WORKER].contains(&name.as_str());
    branches.iter().all(stays)
}

/// A branch as it is in git.
pub(super) fn tree(stage: &Stage, branch: &str) -> Tree {
    let texts = stage.sandbox.github().texts(SHOP, branch);
    let texts = texts.unwrap_or_default().into_iter();
    let entry = |(path, text): (String, String)| Some((path.parse().ok()?, Entry::text(text)));
    texts.filter_map(entry).collect()
}

/// What the doctor finds in both branches.
pub(super) fn findings(stage: &Stage) -> Vec<Finding> {
    let trees = Trees {
        target: tree(stage, TARGET).into(),
        worker: tree(stage, WORKER).into(),
    };
    let circumstances = Circumstances {
        today: SystemClock.now().to_zoned(TimeZone::UTC).date(),
        version: VERSION.to_owned(),
    };
    doctor::examine(&trees, &circumstances)
}
