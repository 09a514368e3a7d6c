//! What stops a pull request of a pipeline, and what stops a run.

use domain::ids::JobId;
use domain::layer::Layer;
use domain::pipeline::{AgentState, EntryPoint, Exchange, Implement, OWN_CHECKS};
use domain::pull::OwnOutcome;
use sandbox::github::{CheckSetup, Outcome};
use sandbox::story::{Step, Story, Writing};
use scaffold::roles;
use scaffold::tree::Tree;
use tests::world::{
    MINUTE, REPO, SECOND, World, complete, green_checks, hour, open_pull, story, without_change,
};

use super::trials::REAL;
use super::{
    CONFIG, begin, begin_and_end, files, files_with, findings, members, piped, rules, run, steps,
    tree, until_over, world_checked, world_of, world_with,
};

/// A session whose prompt holds a text writes files of its own choosing.
pub(super) fn writing(matches: &str, files: &[(&str, &str)]) -> Story {
    let files = files.iter().copied();
    let writing = Writing {
        after: SECOND,
        branch: None,
        files: files
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect(),
        moves: Vec::new(),
        removals: Vec::new(),
    };
    let steps = vec![Step::Write(writing), open_pull(), complete(SECOND)];
    story(matches, steps)
}

#[tokio::test]
async fn an_observer_that_edits_code_is_stopped_and_stops_no_other() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let bad = writing("role: qa", &[("src/lib.rs", "broken")]);
    let world = world_of(source, vec![bad, Story::layer()]).await;
    let begun = begin(&world, EntryPoint::Observers).await;
    let is_merged = async |world: &World| {
        let now = run(world, &begun).await;
        members(&now, "observers")
            .iter()
            .any(|(_, state)| *state == AgentState::Merged)
    };
    Box::pin(world.until(hour(1), "the other one is merged", is_merged)).await;
    let over = until_over(&world, &begun).await;
    let took = over.updated_at.duration_since(over.created_at);
    assert!(
        took < MINUTE * 45,
        "its repairs are used up before: {took:#}"
    );
    let told = members(&over, "observers");
    let why = "its checks failed and were not repaired: jules/scope";
    let found = format!("{why}: ");
    let stopped = |state: &AgentState| state.reason().is_some_and(|it| it.starts_with(&found));
    assert_eq!(
        told.iter().filter(|(_, state)| stopped(state)).count(),
        1,
        "{told:?}"
    );
    assert_eq!(steps(&over)[1], "observers done");
    let because = world.backend.pipeline_why(&over.id).await.expect("a why");
    let sentence = &because.steps[1].sentence;
    assert!(
        sentence.contains(&format!("observers qa: {found}")),
        "{sentence}"
    );
    let (job, _) = told
        .iter()
        .find(|(_, state)| stopped(state))
        .expect("a job");
    assert!(world.gives(job, "checks_failed").await);
    let texts = world.sandbox.github().texts(REPO, "jules");
    assert_ne!(texts.expect("a branch")["src/lib.rs"], "broken");
    let told = world.sandbox.counters().messages;
    assert!(told > 0, "its session was told what is wrong");
    let found = world.backend.store.job(job).await.expect("a store");
    let found = found.expect("a job").value;
    let pull = found.pull().expect("a pull request");
    let comments = world.pull(pull.number).comments;
    assert_eq!(comments.len(), 1, "{comments:?}");
    let comment = format!("{:?}", comments[0]);
    assert!(comment.contains("(jules/scope: "), "{comment}");
    assert!(comment.contains("src/lib.rs"), "{comment}");
    assert!(world.gives(job, "own_check_failed").await);
    assert_eq!(findings(&world), [""; 0]);
}

#[tokio::test]
async fn what_a_person_repairs_after_its_step_went_on_is_merged_all_the_same() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let (path, text) = REAL[0];
    let odd = format!("{text}unknown: true\n");
    let repairs_nothing = Story {
        on_message: vec![complete(SECOND)],
        ..writing("role: qa", &[(path, odd.as_str())])
    };
    let world = world_of(source, vec![repairs_nothing, Story::layer()]).await;
    let begun = begin(&world, EntryPoint::Observers).await;
    let over = until_over(&world, &begun).await;
    assert_eq!(steps(&over)[1], "observers done");
    let told = members(&over, "observers").into_iter();
    let mut stopped = told.filter(|(_, state)| state.reason().is_some());
    let (job, state) = stopped.next().expect("the one that is stopped");
    let why = state.reason().expect("a reason");
    assert!(why.contains("not repaired: jules/doctor: "), "{why}");
    let found = world.backend.must_job(&job).await.expect("a job").value;
    let number = found.pull().expect("a pull request").number;
    let head = world.pull(number).head_ref;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    let mended = [(path, text)];
    let pushed = github.push_files(now, (REPO, head.as_str()), ("ann", "Mend it"), &mended);
    pushed.expect("a push");
    Box::pin(world.until_is(hour(1), &job, "merged")).await;
    Box::pin(world.pass(MINUTE)).await;
    let texts = github.texts(REPO, "jules").expect("a branch");
    assert_eq!(texts[path], text);
    assert_eq!(run(&world, &begun).await, over, "the run does not go back");
    world.finish().await;
}

#[tokio::test]
async fn a_role_that_is_not_filled_in_begins_no_session_and_stops_no_other() {
    let half = "half".parse().expect("a role");
    let (path, text) = roles::create(&Tree::default(), Layer::Observers, &half).expect("a file");
    let first = "  { name = \"taxonomy\", enabled = true },\n";
    let row = first.replace("taxonomy", "half");
    let mut files = files_with(&CONFIG.replace(first, &format!("{first}{row}")));
    files.insert(path.to_string(), text);
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_with(source, vec![Story::layer()], files).await;
    let over = begin_and_end(&world, EntryPoint::Observers).await;
    assert_eq!(steps(&over)[1], "observers done");
    let told = members(&over, "observers").into_iter();
    let refused: Vec<_> = told
        .filter_map(|(_, state)| state.reason().map(str::to_owned))
        .collect();
    let why = format!("{path}:3: `description` still holds");
    assert!(
        refused.len() == 1 && refused[0].starts_with(&why),
        "{refused:?}"
    );
    let creates = world.sandbox.counters().creates;
    assert_eq!(creates, 4, "two observers, decider, planner");
}

#[tokio::test]
async fn what_breaks_the_files_of_the_pipeline_is_not_merged() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let path = ".jules/exchange/events/pending/abc123-odd.yml";
    let bad = writing("role: qa", &[(path, "id: abc123\nunknown: true\n")]);
    let world = world_of(source, vec![bad, Story::layer()]).await;
    let over = begin_and_end(&world, EntryPoint::Observers).await;
    assert_eq!(steps(&over)[1], "observers done");
    let texts = world.sandbox.github().texts(REPO, "jules");
    assert!(!texts.expect("a branch").contains_key(path));
    assert_eq!(findings(&world), [""; 0]);
}

#[tokio::test]
async fn a_run_that_is_called_off_takes_its_jobs_with_it() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let slow = story("role: qa", vec![Step::Hang { after: SECOND }]);
    let world = world_of(source, vec![slow, Story::layer()]).await;
    let begun = begin(&world, EntryPoint::Observers).await;
    let is_begun = async |world: &World| {
        let now = run(world, &begun).await;
        members(&now, "observers").len() == 2
    };
    Box::pin(world.until(hour(1), "the observers work", is_begun)).await;
    let off = world.backend.cancel_pipeline(&begun.id, "ann").await;
    assert!(off.expect("a run").is_over());
    world.step().await;
    let over = run(&world, &begun).await;
    for (job, _) in members(&over, "observers") {
        assert_eq!(world.state(&job).await, "cancelled");
    }
    assert_eq!(over.open_members().count(), 0, "nothing is left to cancel");
    begin_and_end(&world, EntryPoint::Decider).await;
}

#[tokio::test]
async fn an_agent_that_is_late_is_called_off() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let works_on = without_change(hour(2));
    let slow = story("role: qa", vec![works_on]);
    let world = world_of(source, vec![slow, Story::layer()]).await;
    let over = begin_and_end(&world, EntryPoint::Observers).await;
    let told = members(&over, "observers");
    let late = |state: &AgentState| matches!(state, AgentState::Failed { reason } if reason.contains("45 min"));
    let (job, _) = told
        .iter()
        .find(|(_, state)| late(state))
        .unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!(world.state(job).await, "cancelled");
}

#[tokio::test]
async fn a_narrator_that_fails_stops_nobody() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let fails = Step::Fail {
        after: SECOND,
        reason: "out of memory".to_owned(),
    };
    let bad = story("layer: narrator", vec![fails]);
    let world = world_of(source, vec![bad, Story::layer()]).await;
    let over = begin_and_end(&world, EntryPoint::Narrator).await;
    let told = steps(&over);
    assert_eq!(told[1], "narrator failed (it failed: out of memory)");
    let rest = [
        "observers done",
        "decider done",
        "planner done",
        "requirements done",
    ];
    assert_eq!(told[2..], rest);
    assert_eq!(findings(&world), [""; 0]);
}

/// Those of our own checks that failed for the pull request of a job, with what they found.
async fn failed_checks(world: &World, job: &JobId) -> Vec<(String, String)> {
    let job = world.backend.must_job(job).await.expect("a job").value;
    let pull = job.pull().expect("a pull request");
    let found = world.backend.store.pull(pull).await.expect("a store");
    let checks = found.expect("a pull request").value.pull.own_checks;
    let results = checks.expect("checks").results.into_iter();
    let failed = results.filter(|it| it.outcome == OwnOutcome::Failed);
    failed.map(|it| (it.name, it.output)).collect()
}

#[tokio::test]
async fn a_link_that_only_one_side_has_is_not_merged() {
    let source = piped(rules(Exchange::Auto, Implement::Auto));
    // Whole, so that nothing but the link is wrong with it.
    let (path, text) = REAL[2];
    let text = text.replace("rea002", "gone00");
    let bad = writing("layer: decider", &[(path, text.as_str())]);
    let world = world_of(source, vec![bad, Story::layer()]).await;
    let over = begin_and_end(&world, EntryPoint::Observers).await;
    let told = steps(&over);
    assert!(told[2].starts_with("decider failed"), "{told:?}");
    let [(job, _)] = &members(&over, "decider")[..] else {
        panic!("{told:?}");
    };
    assert!(world.gives(job, "checks_failed").await);
    assert_eq!(
        failed_checks(&world, job).await,
        [(
            "jules/doctor".to_owned(),
            format!(
                "[ERROR] {path}:4: there is no decided event `gone00` (link): make both ends name each other"
            )
        )]
    );
    let texts = world.sandbox.github().texts(REPO, "jules");
    assert!(!texts.expect("a branch").contains_key(path));
    assert_eq!(super::requirements(&world).await, []);
    // Both events are left, which are alike.
    let found = findings(&world);
    assert!(
        found.iter().all(|it| it.contains("similar-events")),
        "{found:?}"
    );
}

/// The job of the open pull request that would change the code, if there is one.
async fn job_of_code(world: &World) -> Option<JobId> {
    let open = world.backend.store.open_pulls().await.expect("a store");
    let mut open = open.into_iter().map(|found| found.value.pull);
    let found = open.find(|it| world.pull(it.pull.number).base_ref == "main");
    found.map(|pull| pull.job)
}

/// Code is merged on green in this source, and the check of its scope is red.
#[tokio::test]
async fn an_implementer_that_edits_files_of_the_pipeline_is_not_merged() {
    let source = piped(rules(Exchange::Auto, Implement::Auto));
    let (settings, summary) = (".jlo/config.toml", ".jules/exchange/changes.yml");
    let files = [(settings, "[run]\n"), (summary, "summary: none\n")];
    let bad = writing("layer: implementer", &files);
    let world = world_of(source, vec![bad, Story::layer()]).await;
    begin_and_end(&world, EntryPoint::Observers).await;
    let is_named = async |world: &World| {
        let Some(job) = job_of_code(world).await else {
            return false;
        };
        let why = world.backend.why(&job).await.expect("a why");
        let mut because = why.because.iter();
        because.any(|it| it.code == "checks_failed" && it.sentence.contains("jules/scope"))
    };
    Box::pin(world.until(hour(1), "what keeps it from its merge", is_named)).await;
    let job = job_of_code(&world).await.expect("its job");
    let why = "an implementer changes neither `.jules/` nor `.jlo/`";
    let found = format!("`{settings}`: {why}\n`{summary}`: {why}");
    assert_eq!(
        failed_checks(&world, &job).await,
        [("jules/scope".to_owned(), found)]
    );
    Box::pin(world.pass(hour(2))).await;
    let code = tree(&world, "main");
    assert_eq!(code.text(settings), Some(CONFIG));
    assert!(!code.has(summary));
}

/// The checks of a CI that reports these results under our own names.
fn forged(outcome: Outcome) -> Vec<CheckSetup> {
    let own = OWN_CHECKS.map(|name| CheckSetup::new(name, outcome));
    [green_checks(), own.to_vec()].concat()
}

#[tokio::test]
async fn a_forged_pass_merges_nothing_and_a_forged_failure_stops_nothing() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let path = ".jules/exchange/events/pending/abc123-odd.yml";
    let bad = writing("role: qa", &[(path, "id: abc123\nunknown: true\n")]);
    for outcome in [Outcome::Success, Outcome::Failure] {
        let place = (files(), forged(outcome));
        let stories = vec![bad.clone(), Story::layer()];
        let world = world_checked(source.clone(), stories, place).await;
        let over = begin_and_end(&world, EntryPoint::Observers).await;
        assert_eq!(
            steps(&over)[..3],
            ["bootstrap done", "observers done", "decider done"]
        );
        let merged = members(&over, "observers").into_iter();
        let merged = merged.filter(|(_, state)| *state == AgentState::Merged);
        assert_eq!(merged.count(), 1);
        let texts = world.sandbox.github().texts(REPO, "jules");
        assert!(!texts.expect("a branch").contains_key(path));
    }
}
