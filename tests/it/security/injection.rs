//! The same stories twice, with plain texts and with an attacker's: every decision is the same.

use domain::ids::JobId;
use sandbox::github::{ChangedFile, CheckSetup, NewPull, Outcome};
use sandbox::story::{Step, Story};
use sandbox::{Foreign, ForeignPull, ForeignSession, Scenario};
use serde_json::{Map, Value, json};
use tests::world::{
    MINUTE, REPO, SECOND, World, ci, differences, green_checks, hour, scenario, story, with_ci,
    without_texts,
};

use super::corpus::{PLAIN, Pen};

/// How often the stories run with the corpus; each time every place gets another text.
const ROUNDS: usize = 6;

/// Entries between two rounds: no divisor of their number, so that a place sees new ones.
const STRIDE: usize = 17;

pub(super) fn working(pen: &Pen) -> Step {
    Step::Progress {
        after: SECOND * 2,
        title: pen.text(),
        description: pen.text(),
        files: Vec::new(),
        command: Some(pen.text()),
        media_bytes: 0,
    }
}

pub(super) fn unknown_activity(pen: &Pen) -> Step {
    let mut activity = Map::new();
    activity.insert("description".to_owned(), json!(pen.text()));
    activity.insert("originator".to_owned(), json!(pen.text()));
    activity.insert(
        "somethingNew".to_owned(),
        json!({ "text": pen.text(), "merge": true }),
    );
    Step::Activity {
        after: SECOND,
        activity,
    }
}

/// A plan, work, a question, a pull request, a push, and the steps after a message.
fn talkative(pen: &Pen) -> Story {
    let after = SECOND * 2;
    let told = story(
        "talkative",
        vec![
            Step::Plan {
                after,
                steps: (0..4).map(|_| pen.text()).collect(),
            },
            working(pen),
            Step::Say {
                after,
                text: pen.text(),
            },
            unknown_activity(pen),
            Step::Ask {
                after,
                text: pen.text(),
            },
            Step::OpenPull {
                after,
                files: vec![ChangedFile::modified(&format!("src/{}", pen.text()))],
                draft: false,
            },
            Step::Push {
                after: MINUTE,
                message: pen.text(),
                files: Vec::new(),
                reverts: Vec::new(),
            },
            Step::Complete {
                after,
                no_change: false,
            },
        ],
    );
    Story {
        on_message: vec![
            working(pen),
            Step::Push {
                after,
                message: pen.text(),
                files: Vec::new(),
                reverts: Vec::new(),
            },
            Step::Complete {
                after,
                no_change: false,
            },
        ],
        ..told
    }
}

fn stories(pen: &Pen) -> Vec<Story> {
    let fail = Step::Fail {
        after: SECOND * 4,
        reason: pen.text(),
    };
    vec![
        talkative(pen),
        story("failing", vec![working(pen), fail]),
        story(
            "stalling",
            vec![working(pen), Step::Stall { after: SECOND }],
        ),
    ]
}

/// Initial sessions and pull requests of others.
fn foreign(pen: &Pen) -> Vec<Foreign> {
    let session = |state: &str| {
        Foreign::Session(ForeignSession {
            title: pen.text(),
            prompt: pen.text(),
            state: state.to_owned(),
            steps: vec![Step::Stall { after: SECOND }],
            ..ForeignSession::default()
        })
    };
    let states = [
        "AWAITING_PLAN_APPROVAL",
        "AWAITING_USER_FEEDBACK",
        "COMPLETED",
        "FAILED",
    ];
    states.map(session).into()
}

fn played(pen: &Pen) -> Scenario {
    let lint = CheckSetup {
        log: pen.text(),
        ..CheckSetup::new(&pen.text(), Outcome::FailsFirst(2))
    };
    let status = CheckSetup::status(&pen.text(), Outcome::Success);
    let mut checks = green_checks();
    checks.extend([lint, status]);
    Scenario {
        repos: with_ci(ci(checks)).repos,
        foreign: foreign(pen),
        ..scenario(stories(pen))
    }
}

/// Pull requests of strangers, and their comments on ours.
async fn strangers(world: &World, pen: &Pen) {
    for fork in [None, Some("somebody/shop".to_owned())] {
        let pull = NewPull {
            title: pen.text(),
            body: pen.text(),
            head_branch: pen.branch(),
            labels: vec![pen.text()],
            fork,
            ..ForeignPull::default().pull
        };
        world
            .sandbox
            .github()
            .open_pull(world.clock.now(), REPO, pull);
    }
}

async fn chatter(world: &World, number: u64, pen: &Pen) {
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.comment(now, REPO, number, ("stranger", &pen.text()));
    github.review(now, REPO, number, ("stranger", "COMMENTED", &pen.text()));
    github.review(now, REPO, number, ("acme", "COMMENTED", &pen.text()));
    github.add_label(now, REPO, number, &format!("label {}", pen.text()));
    let edit = json!({ "title": pen.text(), "body": pen.text() });
    world.edit_pull(number, &edit).await;
}

/// Runs the stories with one pen, always in the same virtual time.
async fn injected_world(pen: &Pen) -> (World, Vec<JobId>) {
    let world = World::on_green(played(pen)).await;
    strangers(&world, pen).await;
    let mut jobs = Vec::new();
    for prompt in ["talkative", "failing", "stalling"] {
        jobs.push(world.submit(prompt).await);
    }
    world.pass(MINUTE * 2).await;
    world.answer(&jobs[0], "The blue one", "answer").await;
    world.pass(MINUTE).await;
    let (_, number) = world.session(&jobs[0]).await.pull.expect("a pull request");
    chatter(&world, number, pen).await;
    world.pass(hour(1)).await;
    world.answer(&jobs[2], "Go on", "nudge").await;
    world.pass(hour(2)).await;
    (world, jobs)
}

/// The stories are worth comparing: everything happens in them that text could change.
async fn is_eventful(world: &World, jobs: &[JobId]) {
    let it = world.sandbox.counters();
    assert_eq!((it.merges, it.creates), (1, 3), "{}", world.story().await);
    assert!(it.messages >= 3, "{it:?}");
    let names = world.all_events().await;
    for name in [
        "question/question",
        "error/session_failed",
        "stuck/stuck",
        "completed/completed",
    ] {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
    assert_eq!(world.state(&jobs[0]).await, "merged");
}

#[tokio::test]
async fn no_text_changes_a_decision() {
    let (plain_world, jobs) = injected_world(&Pen::plain()).await;
    is_eventful(&plain_world, &jobs).await;
    let plain = plain_world.decisions().await;
    assert!(plain.to_string().contains(PLAIN));
    let one_by_one = (0..ROUNDS).map(|round| Pen::hostile(round * STRIDE));
    for (round, pen) in [Pen::everything()]
        .into_iter()
        .chain(one_by_one)
        .enumerate()
    {
        let (world, _) = injected_world(&pen).await;
        let mut swapped = world.decisions().await;
        let mut wanted = plain.clone();
        without_texts(&mut wanted, &mut swapped, PLAIN);
        let found = differences(&wanted, &swapped);
        assert_eq!(found, Vec::<String>::new(), "round {round}");
        passed_on_safely(&world);
        world.finish().await;
    }
    plain_world.finish().await;
}

/// Text passed on to sessions and agents contains nothing invisible, and its size is bounded.
pub(super) fn passed_on_safely(world: &World) {
    let sessions = world.sandbox.jules().sessions();
    let told: Vec<String> = sessions.into_iter().flat_map(|it| it.messages).collect();
    let wakes: Vec<String> = world.wakes().iter().map(Value::to_string).collect();
    assert!(!told.is_empty() && !wakes.is_empty());
    for text in told.iter().chain(&wakes) {
        assert!(text.len() < 20_000, "{} bytes", text.len());
        assert_eq!(domain::fence::clip(text, usize::MAX), *text);
    }
}

#[tokio::test]
async fn a_comparison_of_stories_sees_a_decision_that_differs() {
    let (one, _) = injected_world(&Pen::plain()).await;
    let (other, jobs) = injected_world(&Pen::plain()).await;
    other.answer(&jobs[2], "Go on again", "nudge 2").await;
    other.pass(MINUTE).await;
    one.pass(MINUTE).await;
    assert!(!differences(&one.decisions().await, &other.decisions().await).is_empty());
}
