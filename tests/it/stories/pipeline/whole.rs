//! From a time of the schedule to code that a person merges: who works when, and what each step waits for.

use std::path::Path;

use domain::delivery::{Act, Checkpoints, Delivery, Phase, ReviewBy, RunStatus};
use domain::event::{ErrorCause, Event, Occurrence};
use domain::ids::{ArtefactId, JobId, RepoName};
use domain::pipeline::{
    AgentState, EntryPoint, Exchange, Implement, Pipeline, Requirement, RequirementState,
};
use domain::policy::{MergePolicy, Source, Timing};
use jiff::Timestamp;
use sandbox::Service;
use sandbox::github::PullState;
use sandbox::story::Story;
use scaffold::doctor;
use scaffold::tree::{Entry, Tree};
use tests::world::{REPO, SECOND, World, complete, hour};

use super::super::issues::order_to;
use super::cleaning::has_files;
use super::gates::writing;
use super::trials::REAL;
use super::{
    CONFIG, begin_and_end, examined, files, files_with, findings, git, layered, members, piped,
    requirements, rules, steps, tree, until_over, world_of, world_with,
};

/// Six observers, and a time that comes soon.
fn config() -> String {
    let cov = "  { name = \"cov\", enabled = false },\n";
    let more = ["cov", "consistency", "data_arch", "librarian"];
    let more = more.map(|name| format!("  {{ name = \"{name}\", enabled = true }},\n"));
    let config = CONFIG.replace(cov, &more.concat());
    config.replace("[workflow]\n", "[workflow]\ncron = [\"5 9 * * *\"]\n")
}

/// A source whose code people review and merge.
fn by_people(implement: Implement) -> Source {
    let mut source = piped(rules(Exchange::Auto, implement));
    source.policy.merge = MergePolicy::Human;
    source.deliveries.checkpoints = Checkpoints::at(&[Phase::Review]).expect("checkpoints");
    source.deliveries.review_by = Some(ReviewBy::Human);
    source
}

/// One observer edits code and does not repair it, one is sure of what it found, and all others do what they are asked.
fn stories() -> Vec<Story> {
    let (path, text) = REAL[0];
    let sure = text.replace("confidence: low", "confidence: high");
    let sure = sure.replace("\"qa\"", "\"cov\"");
    let edits = Story {
        on_message: vec![complete(SECOND)],
        ..writing("role: qa", &[("src/lib.rs", "broken")])
    };
    let is_sure = writing("role: cov", &[(path, sure.as_str())]);
    vec![edits, is_sure, Story::layer()]
}

/// When each step of a run began, as it was saved.
fn beginnings(world: &World, run: &Pipeline) -> Vec<Timestamp> {
    let key = engine::keys::pipeline(&run.id);
    let mut begun = vec![None; run.steps.len()];
    for (_, body) in world.ledger.bodies().iter().filter(|(at, _)| *at == key) {
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        let saved: Pipeline = serde_json::from_value(body["it"].clone()).expect("a run");
        for (known, step) in begun.iter_mut().zip(&saved.steps) {
            *known = known.or(step.state.since());
        }
    }
    let begun = begun.into_iter();
    begun.map(|at| at.expect("a step that began")).collect()
}

/// When calls of a method to paths that end so were carried out.
fn times(world: &World, service: Service, (method, end): (&str, &str)) -> Vec<Timestamp> {
    let calls = world.requests(service, method, end).into_iter();
    let done = calls.filter(|it| (200..300).contains(&it.status) && it.path.ends_with(end));
    done.map(|it| it.at).collect()
}

/// When it was told of pull requests that their checks are not repaired: Gaffer has nothing left to try then.
async fn given_up(world: &World) -> Vec<Timestamp> {
    let causes = [ErrorCause::CiFailed, ErrorCause::MergeBlocked];
    let is_it = |event: &Event| matches!(&event.what, Occurrence::Error { cause, .. } if causes.contains(cause));
    let events = world.backend.store.recent_events(1_000).await;
    let events = events.expect("events").into_iter();
    events
        .filter(is_it)
        .map(|event| event.observed_at)
        .collect()
}

/// Every step begins within one poll of the end of the last agent of the step before it, and the first of its sessions within one of that.
async fn waits_for_no_time(world: &World, run: &Pipeline) {
    let poll = Timing::default().pull_poll;
    let mut ends = times(world, Service::GitHub, ("PUT", "/merge"));
    ends.extend(given_up(world).await);
    let created = times(world, Service::Jules, ("POST", "/sessions"));
    let begun = beginnings(world, run);
    for (step, begun) in run.steps.iter().skip(1).zip(begun.windows(2)) {
        let (before, at) = (begun[0], begun[1]);
        let name = step.kind.name();
        let earlier = ends.iter().filter(|end| **end <= at);
        let last = *earlier.max().expect("an end");
        assert!(last >= before, "{name}: nothing of the step before");
        let waited = at.duration_since(last);
        assert!(waited <= poll, "{name}: {waited:#}");
        if !step.members.is_empty() {
            let mut sessions = created.iter().filter(|created| **created >= at);
            let first = sessions.next().expect("a session");
            let waited = first.duration_since(at);
            assert!(waited <= poll, "the first session of {name}: {waited:#}");
        }
    }
}

async fn known(world: &World, id: &ArtefactId) -> Requirement {
    let repo = REPO.parse().expect("a repository");
    let found = world.backend.must::<Requirement>(&(repo, id.clone())).await;
    found.expect("a requirement").value
}

async fn delivery(world: &World, id: &ArtefactId) -> Option<Delivery> {
    let known = known(world, id).await;
    let id = known.state.delivery()?;
    let found = world.backend.store.get::<Delivery>(id).await;
    found.expect("a store").map(|found| found.value)
}

/// The number of the pull request of a requirement, once a person is awaited to review it.
async fn in_review(world: &World, id: &ArtefactId) -> u64 {
    let is_awaited = async |world: &World| {
        let found = delivery(world, id).await;
        found.is_some_and(|it| (it.phase, it.run_status) == (Phase::Review, RunStatus::Running))
    };
    Box::pin(world.until(hour(1), "a review", is_awaited)).await;
    let found = delivery(world, id).await.expect("a delivery");
    found.task.pull.expect("a pull request").number
}

/// A person merges the pull request of a requirement, and its files go.
async fn merge(world: &World, requirement: &Requirement, number: u64) {
    let (github, now) = (world.sandbox.github(), world.clock.now());
    assert!(github.merge_by_hand(now, REPO, number, "ann"));
    until_state(world, &requirement.reference.id, "tidied").await;
    assert!(!has_files(world, requirement));
}

async fn until_state(world: &World, id: &ArtefactId, word: &str) {
    let is_so = async |world: &World| known(world, id).await.state.word() == word;
    Box::pin(world.until(hour(2), word, is_so)).await;
}

/// The run that began by itself, once it is over.
async fn scheduled(world: &World) -> Pipeline {
    let repo: RepoName = REPO.parse().expect("a repository");
    let runs = async |world: &World| world.backend.pipelines(&repo, 2).await.expect("a list");
    let is_begun = async |world: &World| !runs(world).await.is_empty();
    Box::pin(world.until(hour(1), "its time", is_begun)).await;
    let begun = runs(world).await.remove(0);
    assert_eq!(begun.by, "schedule");
    until_over(world, &begun).await
}

#[tokio::test]
async fn no_step_of_a_run_waits_a_fixed_time() {
    let world = layered(Exchange::Auto, Implement::Human).await;
    let over = begin_and_end(&world, EntryPoint::Narrator).await;
    assert_eq!(over.word(), "done", "{:?}", steps(&over));
    waits_for_no_time(&world, &over).await;
}

/// Story (c): narrator, six observers of which one is stopped, a decider with two requirements, a planner for one of them, and two
/// implementers, of which a person merges one.
#[tokio::test]
async fn a_scheduled_run_leads_to_two_requirements_of_which_a_person_merges_one() {
    let source = by_people(Implement::Auto);
    let world = world_with(source, stories(), files_with(&config())).await;
    let over = scheduled(&world).await;
    assert_eq!(over.word(), "done", "{:?}", steps(&over));
    assert_eq!(over.steps.len(), 6);
    one_observer_was_stopped(&world, &over).await;
    waits_for_no_time(&world, &over).await;
    assert_eq!(findings(&world), [""; 0]);

    let found = requirements(&world).await;
    assert_eq!(found.len(), 2, "{found:?}");
    let of = |planners: u32| found.iter().find(|it| it.planners == planners);
    let (planned, straight) = (of(1).expect("one"), of(0).expect("another"));
    let events = |of: &Requirement| of.reference.events.len();
    assert_eq!((events(planned), events(straight)), (4, 1));
    let mut numbers = Vec::new();
    for requirement in [planned, straight] {
        let number = in_review(&world, &requirement.reference.id).await;
        let is_labelled = async |world: &World| !world.pull(number).labels.is_empty();
        Box::pin(world.until(hour(1), "its label", is_labelled)).await;
        let pull = world.pull(number);
        let named = "jules-implementer-bugs-";
        assert!(pull.head_ref.starts_with(named), "{}", pull.head_ref);
        assert_eq!((pull.base_ref.as_str(), pull.labels.len()), ("main", 1));
        assert_eq!(pull.labels[0], "bugs");
        numbers.push(number);
    }
    let creates = "narrator, six observers, decider, planner, two implementers";
    assert_eq!(world.sandbox.counters().creates, 11, "{creates}");
    Box::pin(world.pass(hour(1))).await;
    let (code, before) = (tree(&world, "main"), files());
    let code = code.text("src/lib.rs").map(str::to_owned);
    assert_eq!(code.as_ref(), before.get("src/lib.rs"), "nobody merges it");

    merge(&world, straight, numbers[1]).await;
    assert!(has_files(&world, planned));
    let other = known(&world, &planned.reference.id).await.state;
    let is_under_way = matches!(other, RequirementState::Implementing { .. });
    assert!(is_under_way, "{other:?}");
    assert_eq!(world.pull(numbers[0]).state, PullState::Open);
    assert_eq!(findings(&world), [""; 0]);
    assert_eq!(world.sandbox.counters().creates, 11, "{creates}");
    let pulls = world.sandbox.github().pulls(REPO);
    assert_eq!(
        pulls.len(),
        13,
        "one of each session, bootstrap and tidying"
    );
    world.finish().await;
    a_clone_is_in_order(&world, numbers[1]);
}

/// Who clones the repository afterwards finds one commit for each merge on both branches, and files that the strict doctor passes.
fn a_clone_is_in_order(world: &World, number: u64) {
    let origin = world.sandbox.github().folder(REPO).expect("real git");
    let clone = tempfile::tempdir().expect("a folder");
    let folder = clone.path();
    git(
        folder,
        &["clone", "--quiet", &origin.to_string_lossy(), "."],
    );
    git(folder, &["fsck", "--strict"]);
    let subjects = |branch: &str| -> Vec<String> {
        let log = git(folder, &["log", "--format=%s", branch]);
        log.lines().map(str::to_owned).collect()
    };
    let code = subjects("origin/main");
    let [merged, first] = &code[..] else {
        panic!("{code:?}");
    };
    assert!(merged.ends_with(&format!("(#{number})")), "{merged}");
    assert_eq!(first, "Initial commit");
    let mut handed_on = subjects("origin/jules");
    for subject in &mut handed_on {
        // Behind it is the number of its pull request.
        let title = subject.split(" (#").next().unwrap_or_default();
        *subject = title.to_owned();
    }
    // Observers end in any order.
    handed_on[3..8].sort();
    let wanted = [
        "Remove the files of an implemented requirement",
        "planner",
        "decider",
        "observer consistency",
        "observer cov",
        "observer data_arch",
        "observer librarian",
        "observer taxonomy",
        "narrator",
        "Bring the worker branch of the pipeline up to date",
        "Initial commit",
    ];
    assert_eq!(handed_on, wanted);
    let found = examined(checked_out(folder, "main"), checked_out(folder, "jules"));
    assert_eq!(doctor::exit_code(&found, true), 0, "{found:?}");
}

/// The files of a branch, as git puts them into the folder.
fn checked_out(folder: &Path, branch: &str) -> Tree {
    git(folder, &["checkout", "--quiet", branch]);
    let listed = git(folder, &["ls-files"]);
    let file = |path: &str| {
        let text = std::fs::read_to_string(folder.join(path)).expect("a text");
        (path.parse().expect("a path"), Entry::text(text))
    };
    listed.lines().map(file).collect()
}

/// The one that edits code is not merged, its pull request says so once, and the step goes on without it.
async fn one_observer_was_stopped(world: &World, over: &Pipeline) {
    let observers = members(over, "observers");
    let is_merged = |(_, state): &&(JobId, AgentState)| *state == AgentState::Merged;
    let merged = observers.iter().filter(is_merged).count();
    assert_eq!((observers.len(), merged), (6, 5), "{observers:?}");
    let stopped = observers.iter().find(|it| !is_merged(it));
    let (job, state) = stopped.expect("the one that is stopped");
    let reason = state.reason().expect("a reason");
    let found = "not repaired: jules/scope: `src/lib.rs`: ";
    assert!(reason.contains(found), "{reason}");
    let found = world.backend.store.job(job).await.expect("a store");
    let found = found.expect("a job").value;
    let pull = world.pull(found.pull().expect("a pull request").number);
    assert_eq!((pull.state, pull.comments.len()), (PullState::Open, 1));
    let worker = tree(world, "jules");
    assert_ne!(worker.text("src/lib.rs"), Some("broken"));
}

#[tokio::test]
async fn an_implementer_that_is_closed_leaves_the_files_and_another_attempt_is_a_new_one() {
    let world = world_of(by_people(Implement::Human), vec![Story::layer()]).await;
    begin_and_end(&world, EntryPoint::Observers).await;
    let ready = requirements(&world).await.remove(0);
    let id = &ready.reference.id;
    let first = started(&world, id).await;
    let closed = delivery(&world, id).await.expect("a delivery").id;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.close_as(now, REPO, first, "ann");
    let has_failed = async |world: &World| {
        let found = delivery(world, id).await;
        found.is_some_and(|it| it.run_status == RunStatus::Failed)
    };
    Box::pin(world.until(hour(1), "its delivery fails", has_failed)).await;
    assert!(has_files(&world, &ready));
    let failed = delivery(&world, id).await.expect("a delivery");
    let why = known(&world, id).await.state.stopped_by(&failed);
    assert!(why.is_some_and(|why| why.ends_with("was closed without a merge")));
    // It may be retried with its delivery; a person gives that up instead.
    order_to(&world, &closed, Act::Cancel).await;
    until_state(&world, id, "failed").await;
    Box::pin(world.pass(hour(1))).await;
    assert!(has_files(&world, &ready));

    let second = started(&world, id).await;
    let again = delivery(&world, id).await.expect("a delivery").id;
    assert_ne!(first, second);
    assert_ne!(closed, again);
    assert_eq!(known(&world, id).await.attempt, 2);
    merge(&world, &ready, second).await;
    assert_eq!(world.pull(first).state, PullState::Closed);
    let sessions = "two observers, decider, planner, two implementers";
    assert_eq!(world.sandbox.counters().creates, 6, "{sessions}");
    world.finish().await;
}

/// A person has a requirement implemented. Returns the number of its pull request, once that is to be reviewed.
async fn started(world: &World, id: &ArtefactId) -> u64 {
    let repo = REPO.parse().expect("a repository");
    let started = world.backend.start_requirement(&repo, id, false).await;
    assert_eq!(started.expect("a start").state.word(), "implementing");
    in_review(world, id).await
}
