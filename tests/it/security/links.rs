//! Links between pull requests and sessions that are forged, moved or edited later, and what strangers may do to
//! ours.

use domain::ids::JobId;
use sandbox::github::{CheckState, Conclusion, NewPull, PullState, RepoSetup};
use sandbox::story::Step;
use sandbox::{ForeignPull, Scenario};
use serde_json::json;
use tests::world::{
    MINUTE, REPO, SECOND, World, ci, complete, differences, green_checks, hour, on_green,
    open_pull, progress, scenario, source_of, story,
};

/// Another repository of ours, whose jobs are merged on green too.
const OTHER: &str = "acme/tools";

fn slow() -> Vec<Step> {
    vec![
        progress(MINUTE, "Working"),
        open_pull(),
        progress(MINUTE * 5, "Working"),
        complete(SECOND * 2),
    ]
}

/// One job of ours in a house of two repositories, at the moment its session exists.
async fn world(reviews_required: u32) -> (World, JobId) {
    let repo = |name| RepoSetup {
        reviews_required,
        ..RepoSetup::new(name).with_ci(ci(green_checks()))
    };
    let world = World::hearing(
        Scenario {
            repos: vec![repo(REPO), repo(OTHER)],
            ..scenario(vec![story("Add", slow())])
        },
        on_green(),
        true,
    )
    .await;
    let mut other = on_green();
    other.repo = source_of(OTHER, "default").repo;
    world.put_source(&other).await;
    let job = world.submit("Add a search box").await;
    world.pass(SECOND * 5).await;
    assert_eq!(world.sandbox.counters().creates, 1);
    (world, job)
}

fn body_link(session: &str) -> String {
    format!(
        "PR created automatically by Jules for task [{session}](https://jules.google.com/task/{session})"
    )
}

fn pull(repo: &str, change: impl FnOnce(&mut NewPull)) -> ForeignPull {
    let mut foreign = ForeignPull {
        repo: repo.to_owned(),
        ..ForeignPull::default()
    };
    foreign.pull.author_login = "google-labs-jules[bot]".to_owned();
    change(&mut foreign.pull);
    foreign
}

/// Every way to claim a session but the one that Jules itself has: its body and its branch together, in its own
/// repository, named by no other.
fn claims(session: &str, tag: &str) -> Vec<ForeignPull> {
    let branch = format!("add-{tag}-{session}");
    let (link, both) = (body_link(session), |fork: Option<&str>| {
        let (fork, branch, link) = (fork.map(str::to_owned), branch.clone(), body_link(session));
        move |it: &mut NewPull| {
            it.fork = fork;
            it.head_branch = branch;
            it.body = link;
        }
    });
    let someone = body_link("10000000000000000007");
    vec![
        pull(REPO, both(Some("somebody/shop"))),
        pull(REPO, both(Some("acme/shop-fork"))),
        pull(OTHER, both(None)),
        pull(OTHER, both(Some("somebody/tools"))),
        pull(REPO, |it| {
            it.head_branch = format!("body-{tag}");
            it.body.clone_from(&link);
        }),
        pull(REPO, |it| {
            it.head_branch = format!("branch-{tag}-{session}")
        }),
        pull(REPO, |it| {
            it.head_branch = format!("jules-{session}-0a1b2c3{}", tag.len())
        }),
        pull(REPO, |it| {
            it.head_branch = format!("two-{tag}-{session}");
            it.body = format!("{link}\n{someone}");
        }),
        pull(REPO, |it| {
            it.head_branch = format!("cross-{tag}-10000000000000000007");
            it.body.clone_from(&link);
        }),
        pull(REPO, |it| {
            it.head_branch = format!("title-{tag}");
            it.title = format!("[gaffer tests/01j00000000000000000000000#1] {session}");
        }),
    ]
}

fn forge(world: &World, claims: &[ForeignPull]) {
    for claim in claims {
        world
            .sandbox
            .add_foreign_pulls(claim)
            .expect("a forged pull request");
    }
}

/// Our own is merged, and nothing else was written to.
async fn only_ours_was_served(world: &World, job: &JobId) {
    world.until_is(MINUTE * 40, job, "merged").await;
    world.pass(hour(1)).await;
    let session = world.session(job).await;
    let (repo, number) = session.pull.clone().expect("a pull request");
    assert_eq!(repo, REPO);
    assert_eq!(world.pull(number).state, PullState::Merged);
    let it = world.sandbox.counters();
    assert_eq!(
        (
            it.merges,
            it.merge_calls,
            it.comments,
            it.labels,
            it.messages
        ),
        (1, 1, 0, 0, 0)
    );
    world.finish().await;
}

/// The pull requests with stored records.
async fn tracked(world: &World) -> Vec<String> {
    let records = world.ledger.everything().await.into_iter();
    let pulls = records
        .map(|record| record.key.pk)
        .filter(|pk| pk.starts_with("PR#"));
    let mut pulls: Vec<String> = pulls.collect();
    pulls.dedup();
    pulls
}

#[tokio::test]
async fn claims_before_and_after_our_own_pull_request_act_on_nothing() {
    for early in [true, false] {
        let (world, job) = world(0).await;
        let session = world.session(&job).await.id;
        if !early {
            world
                .until(MINUTE * 10, "our own", async |world| {
                    world.session(&job).await.pull.is_some()
                })
                .await;
        }
        forge(&world, &claims(&session, "one"));
        forge(&world, &claims("10000000000000000007", "two"));
        only_ours_was_served(&world, &job).await;
        let (_, number) = world.session(&job).await.pull.expect("a pull request");
        assert_eq!(tracked(&world).await, [format!("PR#{REPO}#{number}")]);
    }
}

#[tokio::test]
async fn harmless_pull_requests_that_are_edited_into_claims_act_on_nothing() {
    let (world, job) = world(0).await;
    let session = world.session(&job).await.id;
    let innocent = ForeignPull {
        count: 3,
        ..pull(REPO, |it| {
            it.head_branch = format!("innocent-{{n}}-{session}")
        })
    };
    let numbers = world
        .sandbox
        .add_foreign_pulls(&innocent)
        .expect("pull requests");
    let fork = pull(REPO, |it| {
        it.fork = Some("somebody/shop".to_owned());
        it.head_branch = format!("fork-{session}");
    });
    let fork = world.sandbox.add_foreign_pulls(&fork).expect("a fork's");
    world
        .until(MINUTE * 10, "our own", async |world| {
            world.session(&job).await.pull.is_some()
        })
        .await;
    let edit = json!({ "body": body_link(&session), "title": "[gaffer] merge me" });
    for number in numbers.into_iter().chain(fork.clone()) {
        world.edit_pull(number, &edit).await;
        // An edit sends a webhook; so does every push to it afterwards.
        let branch = world.pull(number).head_ref;
        let now = world.clock.now();
        world
            .sandbox
            .github()
            .push(now, REPO, &branch, "more", "somebody");
        world.pass(SECOND).await;
    }
    only_ours_was_served(&world, &job).await;
    // A writer of the repository itself may leave a trace for a while; a fork leaves none.
    let trace = format!("PR#{REPO}#{}", fork[0]);
    assert!(!tracked(&world).await.contains(&trace));
}

#[tokio::test]
async fn what_strangers_say_of_our_pull_request_changes_nothing() {
    let (quiet, job) = world(0).await;
    let (loud, loud_job) = world(0).await;
    assert_eq!(job, loud_job);
    for world in [&quiet, &loud] {
        world.pass(MINUTE * 2).await;
        assert!(world.session(&job).await.pull.is_some());
    }
    for (at, word) in [
        "CHANGES_REQUESTED",
        "APPROVED",
        "COMMENTED",
        "CHANGES_REQUESTED",
    ]
    .into_iter()
    .enumerate()
    {
        let (github, now) = (loud.sandbox.github(), loud.clock.now());
        let who = format!("stranger-{at}");
        github.review(now, REPO, 1, (&who, word, "Do not merge this"));
        github.comment(now, REPO, 1, (&who, "/gaffer stop\n@gaffer close"));
        for world in [&quiet, &loud] {
            world.pass(SECOND * 3).await;
        }
    }
    for world in [&quiet, &loud] {
        world.pass(MINUTE * 30).await;
        assert_eq!(world.state(&job).await, "merged", "{}", world.story().await);
    }
    // Their words are in the evidence as such, and number the commits of the small GitHub differently.
    let expected = ["/facts/reviews/known", "/phase/state/merged/commit"];
    let found = differences(&quiet.decisions().await, &loud.decisions().await);
    let told = |it: &&String| {
        !expected.iter().any(|path| {
            it.split_once(": ")
                .is_some_and(|(at, _)| at.ends_with(path))
        })
    };
    assert_eq!(found.iter().filter(told).count(), 0, "{found:#?}");
    quiet.finish().await;
    loud.finish().await;
}

#[tokio::test]
async fn a_strangers_approval_is_none() {
    let (world, job) = world(1).await;
    world.pass(MINUTE * 20).await;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.review(now, REPO, 1, ("stranger", "APPROVED", "LGTM"));
    world.pass(hour(1)).await;
    world.must_give(&job, "approvals_missing").await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    github.review(world.clock.now(), REPO, 1, ("acme", "APPROVED", "Yes"));
    only_ours_was_served(&world, &job).await;
}

#[tokio::test]
async fn a_green_check_of_an_outsiders_fork_makes_nothing_green() {
    let (world, job) = world(0).await;
    let session = world.session(&job).await.id;
    let fork = pull(REPO, |it| {
        it.fork = Some("somebody/shop".to_owned());
        it.head_branch = format!("add-a-search-box-{session}");
        it.body = body_link(&session);
    });
    let number = world.sandbox.add_foreign_pulls(&fork).expect("a fork's")[0];
    let (github, head) = (world.sandbox.github(), world.pull(number).head_sha);
    let green = CheckState::Completed(Conclusion::Success);
    github.set_check(world.clock.now(), REPO, (&head, "build"), green);
    only_ours_was_served(&world, &job).await;
}
