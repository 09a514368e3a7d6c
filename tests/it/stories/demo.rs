//! The demo's jobs on the fake clock, played by an agent that does what its wakes ask for.

use domain::ids::JobId;
use domain::policy::PlanApproval;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, Outcome, RepoSetup};
use sandbox::story::Step;
use tests::world::{
    MINUTE, SECOND, Setup, World, asking, ci, from_work, green_checks, on_green, open_pull,
    progress, stalling, story,
};

/// A repository whose checks fail on the first head of every branch.
const RED: &str = "acme/site";

/// Does what the wakes ask for, once each: answers, approves, cheers on.
async fn attend(world: &World, seen: &mut usize) {
    for wake in world.wakes().into_iter().skip(*seen) {
        *seen += 1;
        let Some(job) = wake["job_id"].as_str() else {
            continue;
        };
        let job: JobId = job.parse().expect("a job id");
        match wake["kind"].as_str() {
            Some("question") => world
                .say(&job, "PostgreSQL", "answer")
                .await
                .expect("an answer"),
            Some("stuck") => world
                .say(&job, "Please go on", "cheer")
                .await
                .expect("a word"),
            Some("plan_approval") => drop(
                world
                    .desk
                    .approve_plan(&world.named(&job))
                    .await
                    .expect("an approval"),
            ),
            _ => {}
        }
    }
}

fn stage() -> Scenario {
    let plan = Step::Plan {
        after: SECOND,
        steps: vec!["Look around".to_owned()],
    };
    let planned = story(
        "plan it",
        vec![
            plan,
            progress(SECOND, "Working"),
            open_pull(),
            Step::Complete {
                after: SECOND,
                no_change: false,
            },
        ],
    );
    let red = vec![
        CheckSetup::new("build", Outcome::FailsFirst(1)),
        CheckSetup::new("lint", Outcome::Success),
    ];
    Scenario {
        stories: vec![
            asking("ask me", "Which database?"),
            stalling("stall"),
            planned,
            story("red", from_work(Vec::new())),
        ],
        repos: vec![
            RepoSetup::new(tests::world::REPO).with_ci(ci(green_checks())),
            RepoSetup::new(RED).with_ci(ci(red)),
        ],
        ..Scenario::default()
    }
}

/// What must be the same with and without webhooks.
#[derive(Debug, PartialEq)]
struct End {
    events: Vec<Vec<String>>,
    wakes: Vec<String>,
    merges: u64,
    merge_calls: u64,
    creates: u64,
    messages: u64,
    approvals: u64,
    archives: u64,
    branch_deletes: u64,
}

async fn play(webhooks: bool) -> End {
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Agent;
    let world = World::with(Setup {
        scenario: stage(),
        source: source.clone(),
        webhooks,
        ..Setup::default()
    })
    .await;
    source.repo = RED.parse().expect("a repository");
    world.put_source(&source).await;
    let jobs = [
        world.submit("ask me").await,
        world.submit("stall").await,
        world.submit("plan it").await,
        world.submit_to(RED, "red").await,
    ];
    let mut seen = 0;
    world
        .until(MINUTE * 60, "all merged", async |world| {
            attend(world, &mut seen).await;
            world.all_merged(&jobs).await
        })
        .await;
    world.pass(MINUTE * 2).await;
    every_merge_was_judged(&world).await;
    world.finish().await;

    let mut events = Vec::new();
    for job in &jobs {
        events.push(world.events(job).await);
    }
    let mut wakes = world.wake_names();
    wakes.sort();
    let it = world.sandbox.counters();
    End {
        events,
        wakes,
        merges: it.merges,
        merge_calls: it.merge_calls,
        creates: it.creates,
        messages: it.messages,
        approvals: it.approvals,
        archives: it.archives,
        branch_deletes: it.branch_deletes,
    }
}

/// The head that was merged is the last one, and what it was judged by is kept.
async fn every_merge_was_judged(world: &World) {
    for number in world.sandbox.github().pulls(tests::world::REPO) {
        let pull = world.pull(number);
        assert_eq!(pull.merged_sha.as_ref(), Some(&pull.head_sha), "{pull:?}");
        assert!(world.evidence(number, &pull.head_sha).await.is_some());
    }
    let red = world.sandbox.github().pull(RED, 1).expect("the red one");
    assert_eq!(red.merged_sha.as_ref(), Some(&red.head_sha), "{red:?}");
}

#[tokio::test]
async fn four_jobs_at_once_end_merged_with_and_without_webhooks() {
    let with = play(true).await;
    assert_eq!(with.events[0], ["question/question", "completed/completed"]);
    assert_eq!(with.events[1], ["stuck/stuck", "completed/completed"]);
    assert_eq!(
        with.events[2],
        ["question/plan_approval", "completed/completed"]
    );
    assert_eq!(
        with.events[3],
        ["completed/completed", "completed/completed"]
    );
    assert_eq!(
        (with.creates, with.merges, with.merge_calls, with.approvals),
        (4, 4, 4, 1)
    );
    // An answer, a word to the silent one, and the failed checks back to their own session.
    assert_eq!(with.messages, 3);
    assert_eq!((with.archives, with.branch_deletes), (4, 4));
    assert_eq!(with.wakes.len(), 8);
    assert_eq!(with, play(false).await);
}
