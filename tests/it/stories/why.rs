//! For anything: why nothing happens now, and what will be done when.

use std::fmt::Write as _;

use domain::ids::JobId;
use engine::why::Why;
use expect_test::{Expect, expect};
use jiff::SignedDuration;
use sandbox::Scenario;
use sandbox::agent::AgentSetup;
use tests::world::{
    AGENT, BEGIN, MINUTE, REPO, SECOND, Setup, World, asking, hour, on_green, scenario, source,
    stalling,
};

/// An explanation as text; times count from the beginning of the story.
fn sentences(why: &Why) -> String {
    let since = |at: jiff::Timestamp| {
        let seconds = at.duration_since(BEGIN).as_secs();
        format!("{:#}", SignedDuration::from_secs(seconds))
    };
    let mut text = format!("{}\n", why.state);
    if let Some(read) = &why.as_read {
        let _ = writeln!(text, "~ {}", read.sentence);
    }
    for reason in &why.because {
        let _ = writeln!(text, "- {}: {}", reason.code, reason.sentence);
    }
    for planned in &why.then {
        let at = planned.at.map_or_else(|| "some time".to_owned(), since);
        let _ = writeln!(text, "> {at}: {}", planned.sentence);
    }
    for next in &why.next {
        let line = format!("! {} {}", next.advice.word(), next.about);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    blanked(&text)
}

/// The text without ids and instants, which differ with every change of a story.
fn blanked(text: &str) -> String {
    let blank = |word: &str| {
        let bare = word.trim_end_matches(['.', ',', ':', ';', ')', '`']);
        let instant = bare.parse::<jiff::Timestamp>().is_ok();
        let hash = bare.len() >= 16 && bare.bytes().all(|b| b.is_ascii_alphanumeric());
        let tail = &word[bare.len()..];
        if instant || (hash && bare.bytes().any(|b| b.is_ascii_digit())) {
            format!("…{tail}")
        } else {
            word.to_owned()
        }
    };
    let lines = text.lines().map(|line| {
        let words: Vec<String> = line.split(' ').map(blank).collect();
        words.join(" ") + "\n"
    });
    lines.collect()
}

async fn job_says(world: &World, job: &JobId, expected: Expect) {
    expected.assert_eq(&sentences(&world.backend.why(job).await.expect("a why")));
}

async fn pull_says(world: &World, pull: &str, expected: Expect) {
    let pull = pull.parse().expect("a pull request");
    expected.assert_eq(&sentences(
        &world.backend.pull_why(&pull).await.expect("a why"),
    ));
}

async fn started(setup: Setup, prompt: &str, time: SignedDuration) -> (World, JobId) {
    let world = World::with(setup).await;
    let job = world.submit(prompt).await;
    world.pass(time).await;
    (world, job)
}

#[tokio::test]
async fn a_job_that_waits_for_a_slot() {
    let world = World::of(scenario(vec![stalling("stall")]), tests::world::source()).await;
    world.limit("default", 1, 2).await;
    world.submit("stall").await;
    world.pass(SECOND * 30).await;
    let second = world.submit("stall too").await;
    let third = world.submit("stall as well").await;
    world.pass(SECOND * 5).await;
    job_says(
        &world,
        &second,
        expect![[r#"
            queued
            - slots_taken: The one slot of account `default` is taken.
            > 2m 31s: Gaffer reads it again.
            > some time: It is tried when one of the account's sessions ends.
        "#]],
    )
    .await;
    job_says(
        &world,
        &third,
        expect![[r#"
            queued
            - queued: 1 other job of account `default` came before it.
            - slots_taken: The one slot of account `default` is taken.
            > 2m 31s: Gaffer reads it again.
            > some time: It is tried when one of the account's sessions ends.
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_job_that_waits_for_the_tasks_of_another_day_does_not_wait_for_a_slot() {
    let world = World::of(scenario(vec![stalling("stall")]), tests::world::source()).await;
    world.limit("default", 3, 1).await;
    world.submit("stall").await;
    world.pass(SECOND * 30).await;
    let second = world.submit("stall too").await;
    let job = world.backend.must_job(&second).await.expect("a job").value;
    let told = world.backend.waits_for(&job).await.expect("an answer");
    assert_eq!((told.who.word(), told.what.word()), ("gaffer", "quota"));
    world.finish().await;
}

#[tokio::test]
async fn a_job_that_is_held_and_one_that_may_go() {
    let world = World::with(Setup::default()).await;
    world.pause(true).await;
    let job = world.submit("Add a test").await;
    world.pass(SECOND * 5).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            queued
            - paused: Everything is paused.
            ! resume
        "#]],
    )
    .await;
    world.pause(false).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            queued
            - queued: Account `default` has room for it, and it is next: it is about to be started.
            > 2m 1s: Gaffer reads it again.
        "#]],
    )
    .await;
    world.backend.go_on(None).await.expect("a queue");
    world.pass(SECOND * 2).await;
    assert_eq!(world.sandbox.counters().creates, 1);
    world.pause(true).await;
    world.answer(&job, "Go on", "words").await;
    world.pass(SECOND * 2).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            working
            - paused: Everything is paused.
            - working: Jules says QUEUED; it last did something at ….
            - effect_waits: To do from … on: send the session a message (attempt 1).
            > 16s: Jules is asked how its sessions are.
            > 1h 6s: If nothing has moved by then, `stuck` is told.
            > some time: Once it may go on: send the session a message.
            ! resume
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_job_whose_key_is_refused() {
    let world = World::with(Setup::default()).await;
    world.secrets.put("jules/default", "a-key-of-nobody");
    let job = world.submit("Add a test").await;
    world.pass(SECOND * 5).await;
    job_says(&world, &job, expect![[r#"
        queued
        - unauthorized: Jules refuses the key of account `default` since ….
        - refused_for_now: Its session could not be created, once so far.
        - effect_failed: It failed: create a session: creating the session `[gaffer tests/01kjma0fm00000000000000000#1] Add a test`: Jules answered 401 UNAUTHENTICATED; store a valid key for this account: Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.
        > 41s: It is tried again.
        ! replace_key default
    "#]]).await;
}

#[tokio::test]
async fn a_session_that_works_asks_and_rests() {
    let setup = || Setup {
        scenario: scenario(vec![stalling("stall"), asking("ask", "Which colour?")]),
        source: on_green(),
        ..Setup::default()
    };
    let (world, job) = started(setup(), "stall", MINUTE).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            working
            - working: Jules says IN_PROGRESS; it last did something at ….
            > 1m: Jules is asked how its sessions are.
            > 15m 11s: If nothing has moved by then, `stuck` is told.
        "#]],
    )
    .await;
    let (world, job) = started(setup(), "ask", MINUTE).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            asking
            - question_open: Jules asks since …: Which colour?
            - agents_turn: It is its agent's turn, until ….
            > 1m: Jules is asked how its sessions are.
            > 8h 11s: If nobody has answered by then, the next one has the turn.
            ! say …
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_plan_that_nobody_has_approved() {
    let (world, job) = started(Setup::default(), "Add a test", MINUTE * 2).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            plan-waits
            - plan_open: A plan waits for approval since ….
            - persons_turn: It is a person's turn.
            > 2m: Jules is asked how its sessions are.
            ! approve …
            ! say …
        "#]],
    )
    .await;
    world.pause(true).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            plan-waits
            - paused: Everything is paused.
            - plan_open: A plan waits for approval since ….
            - persons_turn: It is a person's turn.
            > 2m: Jules is asked how its sessions are.
            ! resume
            ! approve …
            ! say …
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_agent_that_does_not_answer() {
    let deaf = AgentSetup {
        name: AGENT.to_owned(),
        statuses: vec![503],
        ..AgentSetup::default()
    };
    let setup = Setup {
        scenario: Scenario {
            agents: vec![deaf],
            ..scenario(vec![asking("ask", "Which colour?")])
        },
        ..Setup::default()
    };
    let (world, job) = started(setup, "ask", SECOND * 30).await;
    job_says(
        &world,
        &job,
        expect![[r#"
            asking
            - question_open: Jules asks since …: Which colour?
            - agents_turn: It is its agent's turn, until ….
            - wake_waits: Agent `helper` has not received the event `question` of … yet.
            > 30s: Jules is asked how its sessions are.
            > 5m 32s: Agent `helper` is sent the event `question` of … (try 3).
            > 8h 11s: If nobody has answered by then, the next one has the turn.
            ! say …
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_pull_request_on_its_way() {
    let mut policy = source();
    policy.policy.plan_approval = domain::policy::PlanApproval::Auto;
    let setup = Setup {
        source: policy,
        ..Setup::default()
    };
    let (world, job) = started(setup, "Add a test", MINUTE * 5).await;
    job_says(&world, &job, expect![[r#"
        in-review
        ~ As read on GitHub 4 minutes ago.
        - resting: Jules says COMPLETED; it last did something at ….
        - needs_approval: People decide here what is merged: this head has to be approved, unless the source says `merge = on-green`.
        > 5m: Jules is asked how its sessions are.
        > 5m 11s: Pull request acme/shop#1 is read and judged again.
        > 168h 11s: Gaffer reads it again; its pull request decides before.
        ! merge …
    "#]]).await;
    let pull = format!("{REPO}#1");
    pull_says(&world, &pull, expect![[r#"
        blocked
        ~ As read on GitHub 4 minutes ago.
        - needs_approval: People decide here what is merged: this head has to be approved, unless the source says `merge = on-green`.
        > 5m 11s: Pull request acme/shop#1 is read and judged again.
        ! merge …
    "#]]).await;
    world.sandbox.github().close(world.clock.now(), REPO, 1);
    world.pass(MINUTE * 2).await;
    pull_says(
        &world,
        &pull,
        expect![[r#"
            closed
            ~ As read on GitHub 109 seconds ago.
            - closed: Its pull request is closed; reopen it if it should be merged.
            > 15m 11s: If it has not been reopened by then, its job ends.
        "#]],
    )
    .await;
    world.pass(hour(1)).await;
    pull_says(
        &world,
        &pull,
        expect![[r#"
        closed
        - settled: Pull request acme/shop#1 is closed.
    "#]],
    )
    .await;
    job_says(
        &world,
        &job,
        expect![[r#"
            closed
            - ended: It ended at …: its pull request was closed without a merge.
            - settled: Pull request acme/shop#1 is closed.
            ! retry …
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_pull_request_of_somebody_else() {
    let world = World::new().await;
    pull_says(&world, "acme/shop#99", expect![[r#"
        not-ours
        - not_ours: No job of this installation is known to have made acme/shop#99, so nothing is written to it; Gaffer links a pull request only if its session lists it, or if its text and its branch both name the session.
        ! adopt acme/shop
    "#]]).await;
    pull_says(&world, "other/repo#1", expect![[r#"
        not-ours
        - no_source: other/repo is no source.
        - not_ours: No job of this installation is known to have made other/repo#1, so nothing is written to it; Gaffer links a pull request only if its session lists it, or if its text and its branch both name the session.
        ! add_source other/repo
        ! adopt other/repo
    "#]]).await;
}
