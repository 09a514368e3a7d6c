//! The building blocks of stories: sources, steps, checks.

use domain::policy::{MergePolicy, PlanApproval, Source};
use jiff::SignedDuration;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, CiSetup, Outcome, RepoSetup};
use sandbox::story::{Step, Story};

use super::{AGENT, REPO};

/// A minute of virtual time.
pub const MINUTE: SignedDuration = SignedDuration::from_mins(1);
/// A second of virtual time.
pub const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// So many hours of virtual time.
pub const fn hour(count: i64) -> SignedDuration {
    SignedDuration::from_hours(count)
}

/// [`REPO`] with safe defaults, waking [`AGENT`].
pub fn source() -> Source {
    source_of(REPO, "default")
}

/// A source with safe defaults that wakes [`AGENT`].
pub fn source_of(repo: &str, account: &str) -> Source {
    Source {
        agent: Some(AGENT.parse().expect("a name")),
        branch: Some("main".parse().expect("a branch")),
        ..Source::new(
            repo.parse().expect("a repository"),
            account.parse().expect("a name"),
        )
    }
}

/// The safe defaults, but green is merged and plans are approved by themselves.
pub fn on_green() -> Source {
    let mut source = source();
    source.policy.merge = MergePolicy::OnGreen;
    source.policy.plan_approval = PlanApproval::Auto;
    source
}

/// A story for sessions whose prompt contains a text.
pub fn story(matches: &str, steps: Vec<Step>) -> Story {
    Story::new(matches, steps)
}

/// The default scenario with other stories.
pub fn scenario(stories: Vec<Story>) -> Scenario {
    Scenario {
        stories,
        ..Scenario::default()
    }
}

/// The default scenario with other checks and rules.
pub fn with_ci(ci: CiSetup) -> Scenario {
    Scenario {
        repos: vec![RepoSetup::new(REPO).with_ci(ci)],
        ..Scenario::default()
    }
}

/// Checks and nothing demanded.
pub fn ci(checks: Vec<CheckSetup>) -> CiSetup {
    CiSetup {
        checks,
        ..CiSetup::default()
    }
}

/// The two green checks of the default scenario.
pub fn green_checks() -> Vec<CheckSetup> {
    ["build", "test"]
        .map(|name| CheckSetup::new(name, Outcome::Success))
        .to_vec()
}

/// A step that works.
pub fn progress(after: SignedDuration, title: &str) -> Step {
    Step::progress(after, title)
}

/// A step that opens the pull request.
pub fn open_pull() -> Step {
    Step::open_pull(SECOND * 2, false)
}

/// A step that opens the pull request as a draft.
pub fn open_draft() -> Step {
    Step::open_pull(SECOND, true)
}

/// A step that ends the session.
pub fn complete(after: SignedDuration) -> Step {
    Step::complete(after)
}

/// A step that ends the session, which changed nothing.
pub fn without_change(after: SignedDuration) -> Step {
    Step::Complete {
        after,
        no_change: true,
    }
}

/// A step that asks.
pub fn asks(after: SignedDuration, question: &str) -> Step {
    Step::ask(after, question)
}

/// Work, a pull request, done: a story without a plan.
pub fn work() -> Vec<Step> {
    vec![
        progress(SECOND * 2, "Working"),
        open_pull(),
        complete(SECOND * 2),
    ]
}

/// The same after other steps.
pub fn from_work(first: Vec<Step>) -> Vec<Step> {
    first.into_iter().chain(work()).collect()
}

/// A story that asks and then works.
pub fn asking(matches: &str, question: &str) -> Story {
    story(matches, from_work(vec![asks(SECOND * 3, question)]))
}

/// A story that asks so many questions, works between them, and then works.
pub fn asking_often(matches: &str, questions: u32) -> Story {
    let ask = |n: u32| asks(SECOND * 3, &format!("Question {n}"));
    let mut steps = vec![ask(1)];
    for n in 2..=questions {
        steps.extend([progress(SECOND * 3, "Working"), ask(n)]);
    }
    story(matches, from_work(steps))
}

/// A story that falls silent for ever.
pub fn silent(matches: &str) -> Story {
    let steps = vec![progress(SECOND, "Working"), Step::Stall { after: SECOND }];
    story(matches, steps)
}

/// A story that falls silent until a message comes, and then works.
pub fn stalling(matches: &str) -> Story {
    story(
        matches,
        from_work(vec![
            progress(SECOND, "Working"),
            Step::Stall { after: SECOND },
        ]),
    )
}
