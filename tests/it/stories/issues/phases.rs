//! What people decide at checkpoints, and the phases after the merge.

use domain::delivery::{self as deliveries, DeliveryReason, Deploy, Endpoint, PullEnd, RunStatus};
use domain::job::{WaitParty, WaitReason};
use engine::backend::Error;
use jiff::SignedDuration;
use sandbox::github::{Conclusion, DeploymentState, RepoSetup};
use serde_json::json;

use super::*;

/// Without a person, as far as its settings change nothing.
pub(super) async fn alone(change: impl FnOnce(&mut Rules)) -> (World, u64) {
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        change(rules);
    });
    let world = world_with(source, false).await;
    let number = open_issue(&world, "Add a test", "");
    (world, number)
}

pub(super) async fn merge_commit(world: &World, number: u64) -> String {
    let found = delivery(world, number).await.expect("a delivery");
    match found.pull_seen().and_then(|pull| pull.end.clone()) {
        Some(PullEnd::Merged {
            commit: Some(commit),
            ..
        }) => commit.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Merged, and the deployment of others is awaited.
async fn awaiting_deployment() -> (World, u64) {
    let (world, number) = alone(|rules| {
        rules.endpoint = Endpoint::default();
        rules.deploy = "deployment:production".parse().expect("a deployment");
    })
    .await;
    until(&world, number, "deploy/pending").await;
    (world, number)
}

#[tokio::test]
async fn a_deployment_of_the_merge_commit_is_awaited() {
    let (world, number) = awaiting_deployment().await;
    world.pass(MINUTE * 10).await;
    assert_eq!(place(&world, number).await, "deploy/pending");
    let sha = merge_commit(&world, number).await;
    let github = world.sandbox.github();
    let now = world.clock.now();
    let made = github.deploy(now, REPO, &sha, "production");
    let made = made.expect("a deployment");
    github.set_deployment(now, REPO, made, DeploymentState::InProgress);
    until(&world, number, "deploy/running").await;
    github.set_deployment(world.clock.now(), REPO, made, DeploymentState::Success);
    until(&world, number, "close/succeeded").await;
    world.finish().await;
}

#[tokio::test]
async fn a_retry_does_not_take_the_deployment_again_that_failed() {
    let (world, number) = awaiting_deployment().await;
    let sha = merge_commit(&world, number).await;
    let github = world.sandbox.github();
    let set = |made, state| github.set_deployment(world.clock.now(), REPO, made, state);
    let made = github.deploy(world.clock.now(), REPO, &sha, "production");
    let made = made.expect("a deployment");
    set(made, DeploymentState::Failure);
    until(&world, number, "deploy/failed").await;
    world.pass(MINUTE).await;
    order(&world, number, Act::Retry { reason: None }).await;
    world.pass(MINUTE * 10).await;
    assert_eq!(place(&world, number).await, "deploy/pending");
    // The same one may fail once more, and another one may succeed.
    set(made, DeploymentState::Error);
    until(&world, number, "deploy/failed").await;
    world.pass(MINUTE).await;
    order(&world, number, Act::Retry { reason: None }).await;
    let again = github.deploy(world.clock.now(), REPO, &sha, "production");
    set(again.expect("a deployment"), DeploymentState::Success);
    until(&world, number, "close/succeeded").await;
    world.finish().await;
}

/// Green checks, and a workflow that takes five hours once it is dispatched.
fn with_deploy() -> Vec<CheckSetup> {
    let deploy = CheckSetup {
        workflow: "Deploy".to_owned(),
        on_dispatch: true,
        takes: SignedDuration::from_hours(5),
        ..CheckSetup::new("deploy", Outcome::Success)
    };
    let mut checks = tests::world::green_checks();
    checks.push(deploy);
    checks
}

/// A world whose deliveries end with a workflow, which takes five hours.
async fn deploying(checkpoints: Checkpoints) -> World {
    World::with(to_deploy(checkpoints)).await
}

/// Everything is paused, and its dispatch is held.
async fn held_deployment() -> (World, u64) {
    let world = deploying(Checkpoints::at(&[Phase::Implement]).expect("checkpoints")).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "implement/succeeded").await;
    world.pause(true).await;
    merge_now(&world, number).await;
    until(&world, number, "deploy/pending").await;
    (world, number)
}

/// The run succeeds, and there was no other one.
async fn deployed_once(world: &World, number: u64) {
    end_runs(world, Conclusion::Success);
    until(world, number, "close/succeeded").await;
    assert_eq!(world.sandbox.counters().dispatches, 1);
}

pub(super) fn to_deploy(checkpoints: Checkpoints) -> Setup {
    let source = taking(|rules| {
        rules.checkpoints = checkpoints;
        rules.endpoint = Endpoint::default();
        rules.deploy = "workflow:deploy.yml@main"
            .parse::<Deploy>()
            .expect("a workflow");
    });
    Setup {
        source,
        scenario: with_ci(ci(with_deploy())),
        ..Setup::default()
    }
}

#[tokio::test]
async fn a_workflow_that_fails_is_told_once_and_dispatched_again_by_a_retry() {
    let world = deploying(Checkpoints::none()).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "deploy/running").await;
    end_runs(&world, Conclusion::Failure);
    until(&world, number, "deploy/failed").await;
    world.pass(hour(2)).await;
    assert_eq!(world.sandbox.counters().dispatches, 1);
    assert_eq!(world.wake_names(), ["error/phase_failed"]);

    order(&world, number, Act::Retry { reason: None }).await;
    until(&world, number, "deploy/running").await;
    assert_eq!(world.sandbox.counters().dispatches, 2);
    end_runs(&world, Conclusion::Success);
    until(&world, number, "close/succeeded").await;
    assert_eq!(world.sandbox.counters().creates, 1);
    world.finish().await;
}

/// A dispatch that a pause holds is decided about when it begins: a cancelled one is not made, and a retry makes its own.
#[tokio::test]
async fn a_deployment_that_was_cancelled_during_a_pause_is_not_dispatched() {
    for is_retried_before in [false, true] {
        let (world, number) = held_deployment().await;
        // The dispatch is saved by now, and held.
        world.pass(MINUTE * 2).await;
        order(&world, number, Act::Cancel).await;
        if is_retried_before {
            order(&world, number, Act::Retry { reason: None }).await;
            world.pass(MINUTE * 2).await;
        }
        world.resume().await;
        world.pass(MINUTE * 5).await;
        let dispatched = u64::from(is_retried_before);
        assert_eq!(world.sandbox.counters().dispatches, dispatched);
        if !is_retried_before {
            order(&world, number, Act::Retry { reason: None }).await;
        }
        until(&world, number, "deploy/running").await;
        world.pass(MINUTE * 5).await;
        assert_eq!(world.sandbox.counters().dispatches, 1);
    }
}

/// What a pause held is dispatched after it, however long it was.
#[tokio::test]
async fn a_pause_takes_none_of_the_time_of_a_deployment() {
    let (world, number) = held_deployment().await;
    world.pass(deliveries::DEPLOYED_WITHIN + hour(1)).await;
    assert_eq!(place(&world, number).await, "deploy/pending");
    assert_eq!(world.sandbox.counters().dispatches, 0);
    world.resume().await;
    until(&world, number, "deploy/running").await;
    deployed_once(&world, number).await;
}

/// What names an issue or a workflow by its number or its file would be done in the other repository, too. That it has no such workflow
/// says nothing about the deployment.
#[tokio::test]
async fn nothing_is_written_to_another_repository_that_took_the_name() {
    let (world, number) = held_deployment().await;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.rename_repo(REPO, "acme/old");
    let other = RepoSetup::new(REPO);
    github.add_repo(now, other).expect("a repository");
    let before = world.sandbox.counters().github_writes;
    world.resume().await;
    world.pass(hour(1)).await;
    assert_eq!(world.sandbox.counters().github_writes, before);
    assert_eq!(place(&world, number).await, "deploy/pending");

    // The name leads to the right one again: nothing was lost.
    github.remove_repo(REPO);
    github.rename_repo("acme/old", REPO);
    until(&world, number, "deploy/running").await;
    deployed_once(&world, number).await;
}

/// The other repository shows no run of the workflow that was started in the right one, and would have it started again.
#[tokio::test]
async fn a_dispatch_that_went_unheard_is_not_looked_for_in_another_repository() {
    let world = deploying(Checkpoints::at(&[Phase::Implement]).expect("checkpoints")).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "implement/succeeded").await;
    let faults = world.sandbox.faults();
    let unheard = Fault::new(Service::GitHub, "/dispatches", FaultKind::CutAfterEffect);
    faults.add(unheard.next(1));
    let (clock, fate) = (world.clock.clone(), world.fate.clone());
    let github = world.sandbox.github().clone();
    let taken = async move {
        github.rename_repo(REPO, "acme/old");
        let other = RepoSetup::new(REPO).with_ci(ci(with_deploy()));
        github.add_repo(clock.now(), other).expect("a repository");
    };
    // Before its delivery sees the run.
    let after = async move { fate.before_next("commit DLV#", taken) };
    world.fate.before_next("dispatch", after);
    merge_now(&world, number).await;
    world.until_count(hour(1), |it| it.dispatches == 1).await;
    world.pass(hour(1)).await;
    assert_eq!(place(&world, number).await, "deploy/pending");

    // Its runs cannot be read at first, so nothing but the first dispatch itself keeps it from another one.
    let kind = FaultKind::status(502);
    faults.add(Fault::new(Service::GitHub, "/actions/", kind).on("GET"));
    let github = world.sandbox.github();
    github.remove_repo(REPO);
    github.rename_repo("acme/old", REPO);
    world.pass(MINUTE * 5).await;
    faults.clear();
    until(&world, number, "deploy/running").await;
    world.pass(MINUTE * 5).await;
    deployed_once(&world, number).await;
    world.finish().await;
}

/// A repository that is gone for good shows no end of a deployment: the wait for that ends as without an answer.
#[tokio::test]
async fn a_deployment_in_a_repository_that_is_gone_fails_in_time() {
    let (world, number) = awaiting_deployment().await;
    world.sandbox.github().remove_repo(REPO);
    world.pass(hour(1)).await;
    assert_eq!(place(&world, number).await, "deploy/pending");
    world.pass(deliveries::DEPLOYED_WITHIN).await;
    assert_eq!(place(&world, number).await, "deploy/failed");
    let told = world.all_events().await;
    assert!(told.iter().any(|it| it == "error/phase_failed"), "{told:?}");
}

/// The repository that took the name may keep it for ever; a pause takes none of the time.
#[tokio::test]
async fn a_workflow_that_another_repository_holds_back_fails_in_time() {
    let (world, number) = held_deployment().await;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.rename_repo(REPO, "acme/old");
    let other = RepoSetup::new(REPO).with_ci(ci(with_deploy()));
    github.add_repo(now, other).expect("a repository");
    world.pass(deliveries::DEPLOYED_WITHIN + hour(1)).await;
    world.resume().await;
    world.pass(hour(1)).await;
    assert_eq!(place(&world, number).await, "deploy/pending");
    world.pass(deliveries::DEPLOYED_WITHIN).await;
    assert_eq!(place(&world, number).await, "deploy/failed");
    assert_eq!(world.sandbox.counters().dispatches, 0);
    let told = world.all_events().await;
    assert!(told.iter().any(|it| it == "error/phase_failed"), "{told:?}");
}

/// The look that finds GitHub closed is over; it is no message that fails until it is given up.
#[tokio::test]
async fn a_wait_that_github_asks_for_puts_off_how_a_deployment_goes() {
    let world = deploying(Checkpoints::none()).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "deploy/running").await;
    let kind = FaultKind::Status {
        code: 403,
        retry_after_secs: Some(600),
        body: Some(json!({ "message": "You have exceeded a secondary rate limit." })),
    };
    world
        .sandbox
        .faults()
        .add(Fault::new(Service::GitHub, "/actions/", kind));
    world.pass(hour(1)).await;
    let status = world.backend.status().await.expect("a status");
    assert_eq!(status.queue.dead, 0);
    world.sandbox.faults().clear();
    end_runs(&world, Conclusion::Success);
    until(&world, number, "close/succeeded").await;
}

#[tokio::test]
async fn a_workflow_that_cannot_be_dispatched_fails_its_phase() {
    let world = deploying(Checkpoints::none()).await;
    let kind = FaultKind::status(422);
    let refused = Fault::new(Service::GitHub, "/dispatches", kind);
    world.sandbox.faults().add(refused);
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "deploy/failed").await;
    world.pass(hour(2)).await;
    assert_eq!(world.wake_names(), ["error/phase_failed"]);
    assert_eq!(world.sandbox.counters().dispatches, 0);
}

#[tokio::test]
async fn a_closed_issue_ends_its_delivery_also_in_a_source_without_a_label() {
    let source = taking(|rules| {
        rules.label = None;
        rules.checkpoints = Checkpoints::none();
    });
    let world = world_with(source, true).await;
    let number = open_issue(&world, "Add a test", "");
    let other = open_issue(&world, "Another one", "");
    let issue = IssueRef {
        repo: REPO.parse().expect("a repository"),
        number,
    };
    let created = world.backend.create_delivery(&of_issue(&issue)).await;
    created.expect("an answer").expect("a delivery");
    until(&world, number, "implement/running").await;
    let github = world.sandbox.github();
    github.close_as(world.clock.now(), REPO, number, "ann");
    until(&world, number, "close/succeeded").await;
    let ended = delivery(&world, number).await.expect("a delivery");
    assert_eq!(ended.closed, Some(domain::delivery::Closed::IssueClosed));
    assert!(delivery(&world, other).await.is_none());
    world.finish().await;
}

#[tokio::test]
async fn an_issue_means_its_newest_delivery() {
    let (world, number) = taken_to(taking(|_| {}), "plan/pending").await;
    let issue = IssueRef {
        repo: REPO.parse().expect("a repository"),
        number,
    };
    let again = DeliveryOrder {
        again: true,
        ..of_issue(&issue)
    };
    let create = async || {
        let created = world.backend.create_delivery(&again).await;
        created.expect("an answer").map(|delivery| delivery.id)
    };
    assert!(create().await.is_err(), "the first one is open");
    world
        .sandbox
        .github()
        .close_as(world.clock.now(), REPO, number, "ann");
    until(&world, number, "close/succeeded").await;
    world
        .sandbox
        .github()
        .reopen(world.clock.now(), REPO, number);
    // Only an order takes it once more.
    world.pass(MINUTE * 5).await;
    let any = DeliveryQuery::default();
    let all = world.backend.list_deliveries(&any, None, 10).await;
    assert_eq!(all.expect("a list").deliveries.len(), 1);
    let second = create().await.expect("another one");
    assert!(create().await.is_err(), "the second one is open");
    let named = world.backend.find_delivery(&issue.to_string()).await;
    assert_eq!(named.expect("a delivery"), second);
    // The closed issue ends the one that is open.
    world.pass(MINUTE * 5).await;
    world
        .sandbox
        .github()
        .close_as(world.clock.now(), REPO, number, "ann");
    world.pass(MINUTE * 5).await;
    let ended = world
        .backend
        .must::<Delivery>(&second)
        .await
        .expect("a delivery");
    assert_eq!(ended.value.closed, Some(Closed::IssueClosed));
    world.finish().await;
}

#[tokio::test]
async fn a_delivery_that_was_split_closes_after_its_parts() {
    let (world, number) = planned().await;
    split(&world, number).await;
    let parts = delivery(&world, number).await.expect("a delivery").children;
    for part in &parts {
        let is_there = async |world: &World| {
            let found = world.backend.store.get::<Delivery>(&part.id).await;
            found.expect("a store").is_some()
        };
        Box::pin(world.until(hour(1), "a part", is_there)).await;
        let shown = world.backend.delivery_shown(&id_of(number)).await;
        let shown = shown.expect("a parent");
        let told = (shown.waits_for.who, shown.waits_for.what);
        assert_eq!(told, (WaitParty::Person, WaitReason::Parts));
        let names_it = |reason: &DeliveryReason| {
            reason.code == "part_waits" && reason.sentence.contains(part.id.as_str())
        };
        assert!(shown.because.iter().any(names_it), "{:?}", shown.because);
        for act in [Act::Start, Act::APPROVE] {
            let may = async |world: &World| {
                let shown = world.backend.delivery_shown(&part.id).await;
                let it = shown.expect("a part").delivery;
                it.awaits_start() || it.awaits_approval()
            };
            Box::pin(world.until(hour(1), "a person is awaited", may)).await;
            order_to(&world, &part.id, act).await;
        }
    }
    until(&world, number, "close/succeeded").await;
    world.pass(MINUTE * 5).await;
    let github = world.sandbox.github();
    assert_eq!(github.is_closed(REPO, number), Some(true));
    assert_eq!(world.sandbox.counters().merges, 2);
    world.finish().await;
}

#[tokio::test]
async fn a_rejected_plan_is_made_again_by_the_same_session() {
    let (world, number) = planned().await;
    for reason in ["Use the library that we have.", "In fewer steps."] {
        let rejected_at = world.backend.now();
        let reason = reason.to_owned();
        order(&world, number, Act::Reject { reason }).await;
        until(&world, number, "plan/succeeded").await;
        let took = world.backend.now().duration_since(rejected_at);
        assert!(took <= MINUTE, "{took}");
    }
    let counters = world.sandbox.counters();
    assert_eq!(
        (counters.creates, counters.messages, counters.approvals),
        (1, 2, 0)
    );
    order(&world, number, Act::APPROVE).await;
    until(&world, number, "close/succeeded").await;
    assert_eq!(world.sandbox.counters().creates, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_rejected_change_is_a_new_attempt_and_the_older_pull_request_is_closed() {
    let (world, number) = alone(|rules| {
        rules.checkpoints = Checkpoints::at(&[Phase::Implement]).expect("checkpoints");
    })
    .await;
    until(&world, number, "implement/succeeded").await;
    let first = delivery(&world, number).await.and_then(|it| it.task.pull);
    let first = first.expect("a pull request");
    let reason = "Begin anew.".to_owned();
    order(&world, number, Act::Reject { reason }).await;
    until(&world, number, "implement/succeeded").await;
    let second = delivery(&world, number).await.expect("a delivery");
    assert_eq!(second.attempt, 2);
    let newer = second.task.pull.expect("a pull request");
    assert_ne!(newer, first);
    order(&world, number, Act::APPROVE).await;
    until(&world, number, "close/succeeded").await;
    world.pass(MINUTE * 10).await;
    let github = world.sandbox.github();
    assert_eq!(github.is_closed(REPO, first.number), Some(true));
    let comments = world.pull(first.number).comments;
    let [pointer] = &comments[..] else {
        panic!("{comments:?}");
    };
    assert!(pointer.body.contains(&newer.url()), "{pointer:?}");
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (2, 1));
    world.finish().await;
}

#[tokio::test]
async fn a_cancelled_delivery_calls_its_job_off_and_is_tried_again() {
    let (world, number) = alone(|_| {}).await;
    until(&world, number, "implement/running").await;
    order(&world, number, Act::Cancel).await;
    let failed = delivery(&world, number).await.expect("a delivery");
    assert_eq!(failed.run_status, RunStatus::Failed);
    assert_eq!(failed.error.expect("an error").text, "Canceled by user");
    let job = failed.task.job.expect("a job");
    Box::pin(world.until_is(MINUTE * 5, &job, "cancelled")).await;
    world.pass(hour(3)).await;
    assert_eq!(place(&world, number).await, "implement/failed");
    assert_eq!(world.wake_names(), [""; 0], "a person knows what they did");

    order(&world, number, Act::Retry { reason: None }).await;
    until(&world, number, "close/succeeded").await;
    assert_eq!(world.sandbox.counters().creates, 2);
    world.finish().await;
}

#[tokio::test]
async fn an_endpoint_before_the_merge_touches_neither_pull_request_nor_session() {
    let (world, number) = alone(|rules| {
        rules.endpoint = "review".parse().expect("an endpoint");
    })
    .await;
    until(&world, number, "close/succeeded").await;
    world.pass(hour(3)).await;
    let ended = delivery(&world, number).await.expect("a delivery");
    let pull = ended.task.pull.expect("a pull request");
    let github = world.sandbox.github();
    assert_eq!(github.is_closed(REPO, pull.number), Some(false));
    assert_eq!(world.state(&ended.task.job.expect("a job")).await, "left");
    let counters = world.sandbox.counters();
    assert_eq!(
        (counters.merges, counters.archives, counters.branch_deletes),
        (0, 0, 0)
    );
    world.finish().await;
}

#[tokio::test]
async fn a_session_that_changes_nothing_fails_its_phase() {
    let ends = without_change(SECOND);
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        rules.review_by = Some(ReviewBy::Nobody);
    });
    let world = World::of(
        scenario(vec![story("You plan and implement", vec![ends])]),
        source,
    )
    .await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "implement/failed").await;
    let found = delivery(&world, number).await.expect("a delivery");
    let code = found.error.expect("a failure").code;
    assert_eq!(code, domain::delivery::Fault::NoPullRequest);
    world.finish().await;
}

/// An order by the name of what is wanted never meets another phase than it was meant for.
#[tokio::test]
async fn an_execution_is_decided_by_where_its_delivery_is_when_it_is_saved() {
    let (world, number) = planned().await;
    let (backend, id) = (world.backend.clone(), id_of(number));
    let approved = async move {
        let command = Command {
            id: "other".to_owned(),
            by: Actor::person("bob"),
            act: Act::APPROVE,
        };
        let taken = backend.command_delivery(&id, &command).await;
        taken.expect("an approval");
    };
    world.fate.before_next("commit DLV#", approved);
    let ann = Actor::person("ann");
    let implement = |it: &Delivery, rules: &Rules| {
        let wanted = deliveries::Execution::Implement;
        deliveries::execution(it, wanted, None, &ann, rules)
    };
    let id = id_of(number);
    let ordered = world.backend.command_by_place(&id, "own", &ann, implement);
    let refused = ordered.await.expect_err("it is implemented already");
    // The word for an execution, not the one for an approval.
    assert!(
        matches!(&refused, Error::Transition(why) if why.code == "under_way"),
        "{refused:?}"
    );
    assert_eq!(place(&world, number).await, "implement/running");
}

/// A dispatch that never arrived is made again, although another delivery has just started the same workflow.
#[tokio::test]
async fn a_dispatch_that_was_lost_is_not_taken_for_that_of_another_delivery() {
    let world = deploying(Checkpoints::at(&[Phase::Implement]).expect("checkpoints")).await;
    let titles = ["The first thing", "The second thing"];
    let [first, second] = titles.map(|title| open_issue(&world, title, ""));
    for number in [first, second] {
        until(&world, number, "implement/succeeded").await;
    }
    order(&world, first, Act::APPROVE).await;
    world.until_count(hour(1), |it| it.dispatches == 1).await;
    world.pass(SECOND * 5).await;
    let lost = Fault::new(Service::GitHub, "/dispatches", FaultKind::CutBefore);
    world.sandbox.faults().add(lost.next(1));
    let began = world.clock.now();
    order(&world, second, Act::APPROVE).await;
    until(&world, second, "deploy/pending").await;
    let took = world.clock.now().duration_since(began);
    assert!(took < SECOND * 100, "{took}: too late to be mixed up");
    until(&world, second, "deploy/running").await;
    assert_eq!(world.sandbox.counters().dispatches, 2);
}

/// Two deliveries whose merges are known at once: the workflow of the first has been dispatched, and nothing of the second
/// is merged yet.
async fn first_dispatched() -> (World, [u64; 2]) {
    let checkpoints = Checkpoints::at(&[Phase::Implement]).expect("checkpoints");
    let world = World::with(Setup {
        webhooks: true,
        ..to_deploy(checkpoints)
    })
    .await;
    let titles = ["The first thing", "The second thing"];
    let numbers = titles.map(|title| open_issue(&world, title, ""));
    for number in numbers {
        until(&world, number, "implement/succeeded").await;
    }
    merge_now(&world, numbers[0]).await;
    world.until_count(hour(1), |it| it.dispatches == 1).await;
    (world, numbers)
}

pub(super) fn end_runs(world: &World, conclusion: Conclusion) {
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.finish_dispatched(now, REPO, "deploy.yml", conclusion);
}

/// Merges the second one a moment after the run of the first began, and lets it come to a run of its own.
async fn second_has_its_own_run(world: &World, second: u64) {
    let began = world.clock.now();
    merge_now(world, second).await;
    until(world, second, "deploy/running").await;
    let found = delivery(world, second).await.expect("a delivery");
    let since = deliveries::deploying_since(&found);
    assert!(since <= began + SECOND * 2, "too late to be mixed up");
    assert_eq!(world.sandbox.counters().dispatches, 2);
}

/// The run that another delivery dispatched a moment before the merge does not hold the change, whatever became of it.
#[tokio::test]
async fn the_run_of_a_delivery_that_merged_a_moment_before_is_not_taken() {
    for ends in [None, Some(Conclusion::Success), Some(Conclusion::Failure)] {
        let (world, [first, second]) = first_dispatched().await;
        if let Some(conclusion) = ends {
            end_runs(&world, conclusion);
        }
        second_has_its_own_run(&world, second).await;
        world.pass(MINUTE * 5).await;
        assert_eq!(place(&world, second).await, "deploy/running");
        end_runs(&world, Conclusion::Success);
        until(&world, second, "close/succeeded").await;
        // The run of the second one holds the change of the first one, too.
        if ends != Some(Conclusion::Failure) {
            until(&world, first, "close/succeeded").await;
            world.pass(MINUTE * 5).await;
            world.finish().await;
        }
    }
}

/// A process that died while it dispatched a workflow finds the run of another delivery, which proves nothing.
#[tokio::test]
async fn a_dispatch_that_died_is_made_again_although_another_delivery_has_a_run() {
    let (world, [_, second]) = first_dispatched().await;
    let fate = world.fate.clone();
    let dies = async move { fate.kill_at(fate.count() - 1, Moment::Before) };
    world.fate.before_next("dispatch", dies);
    second_has_its_own_run(&world, second).await;
    assert_eq!(world.fate.deaths(), 1);
}

/// A run on a release branch begins before the branch has the change, and may move it there.
#[tokio::test]
async fn a_run_that_moves_its_branch_to_the_merge_counts() {
    let mut setup = to_deploy(Checkpoints::none());
    let release = "workflow:deploy.yml@release".parse();
    setup.source.deliveries.deploy = release.expect("a workflow");
    let world = World::with(setup).await;
    let github = world.sandbox.github();
    let older = github.branch(REPO, "main").expect("a branch");
    assert!(github.point_branch(world.clock.now(), REPO, "release", &older));
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "deploy/running").await;
    let merge = merge_commit(&world, number).await;
    assert!(github.point_branch(world.clock.now(), REPO, "release", &merge));
    deployed_once(&world, number).await;
    world.finish().await;
}

/// The prompts of all parts name the issue, so GitHub closes it with the first merge.
#[tokio::test]
async fn the_merge_of_one_part_that_closes_the_issue_leaves_the_others_alone() {
    let source = stopping_at(&[Phase::Plan, Phase::Implement]);
    let (world, number) = taken_to(source, "plan/pending").await;
    split(&world, number).await;
    let parts = delivery(&world, number).await.expect("a delivery").children;
    let [first, second] = [&parts[0].id, &parts[1].id];
    let is_at = async |world: &World, id: &DeliveryId| {
        let found = world.backend.store.get::<Delivery>(id).await;
        let found = found.expect("a store").map(|found| found.value);
        found.map(|it| format!("{}/{}", it.phase, it.run_status))
    };
    for (wanted, act) in [
        ("plan/pending", Some(Act::Start)),
        ("plan/succeeded", Some(Act::APPROVE)),
        ("implement/succeeded", None),
    ] {
        let may = async |world: &World| is_at(world, first).await.is_some_and(|it| it == wanted);
        Box::pin(world.until(hour(1), wanted, may)).await;
        let Some(act) = act else { continue };
        order_to(&world, first, act).await;
    }
    let made = world.backend.must::<Delivery>(first).await.expect("a part");
    let pull = made.value.task.pull.expect("a pull request").number;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    assert!(github.merge_by_hand(now, REPO, pull, "ann"));
    github.close_as(now, REPO, number, "ann");
    world.pass(MINUTE * 30).await;
    assert_eq!(
        is_at(&world, first).await.as_deref(),
        Some("close/succeeded")
    );
    assert_eq!(is_at(&world, second).await.as_deref(), Some("plan/pending"));
    let whole = delivery(&world, number).await.expect("a delivery");
    assert_eq!((whole.closed, whole.trouble), (None, None));
}

#[tokio::test]
async fn a_closed_issue_calls_the_parts_of_its_delivery_off() {
    let (world, number) = taken_to(taking(|_| {}), "plan/pending").await;
    let part = Part {
        summary: "Half of it".to_owned(),
        acceptance_criteria: Vec::new(),
    };
    let children = vec![part.clone(), part];
    order(&world, number, Act::Split { children }).await;
    world.pass(MINUTE).await;
    let github = world.sandbox.github();
    github.close_as(world.clock.now(), REPO, number, "ann");
    until(&world, number, "close/succeeded").await;
    world.pass(MINUTE * 5).await;
    let whole = delivery(&world, number).await.expect("a delivery");
    assert_eq!(whole.closed, Some(Closed::IssueClosed));
    for part in &whole.children {
        let part = world
            .backend
            .must::<Delivery>(&part.id)
            .await
            .expect("a part");
        assert_eq!(part.value.closed, Some(Closed::Cancelled));
    }
}
