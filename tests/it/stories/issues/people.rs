//! Whom a delivery waits for, what it asks them, and how they end it.

use domain::delivery::{Edit, PlanBy, Ref, RefRole, RefType};
use domain::job::{Job, WaitParty, WaitReason};
use domain::wake::WakeState;
use domain::web_page::WebPage;
use engine::events::EventQuery;
use engine::work::Work;
use jiff::SignedDuration;
use sandbox::agent::AgentSetup;
use sandbox::story::Story;
use tests::world::{AGENT, asks, from_work, progress};

use super::*;

/// The job of the delivery of an issue.
async fn job_of(world: &World, number: u64) -> Job {
    let found = delivery(world, number).await.expect("a delivery");
    let job = found.task.job.expect("a job");
    world.backend.must_job(&job).await.expect("a job").value
}

/// The kinds of the events that are open for the delivery of an issue.
pub(super) async fn open_events(world: &World, number: u64) -> Vec<String> {
    let asked = EventQuery {
        after: None,
        job: None,
        delivery: Some(id_of(number)),
        persona: None,
        open: true,
        limit: 10,
    };
    let told = world.backend.events_after(&asked).await.expect("events");
    let kinds = told.events.iter();
    assert!(kinds.clone().all(|(_, repo)| repo.as_deref() == Some(REPO)));
    kinds
        .map(|(event, _)| event.what.kind().to_owned())
        .collect()
}

/// Whom the status counts as waited for.
async fn counted(world: &World) -> Vec<(String, u64)> {
    let status = world.backend.status().await.expect("a status");
    status.waits_for.into_iter().collect()
}

#[tokio::test]
async fn a_person_whom_a_delivery_waits_for_is_counted_and_shown_with_its_job() {
    let source = stopping_at(&[Phase::Plan, Phase::Implement]);
    let (world, number) = taken_to(source, "plan/pending").await;
    let person = vec![("person".to_owned(), 1)];
    assert_eq!(counted(&world).await, person);
    assert_eq!(open_events(&world, number).await, ["start"]);
    order(&world, number, Act::Start).await;
    for checkpoint in ["plan/succeeded", "implement/succeeded"] {
        until(&world, number, checkpoint).await;
        world.pass(MINUTE * 5).await;
        assert_eq!(counted(&world).await, person, "{checkpoint}");
        let job = job_of(&world, number).await;
        let told = world.backend.waits_for(&job).await.expect("an answer");
        let wanted = (WaitParty::Person, WaitReason::Checkpoint);
        assert_eq!((told.who, told.what), wanted, "{checkpoint}");
        let why = world.backend.why(&job.id).await.expect("an answer");
        assert_eq!(
            why.waits_for.map(|it| it.what),
            Some(WaitReason::Checkpoint)
        );
        assert_eq!(open_events(&world, number).await, ["checkpoint"]);
        order(&world, number, Act::APPROVE).await;
        assert_eq!(open_events(&world, number).await, [""; 0], "{checkpoint}");
    }
    until(&world, number, "close/succeeded").await;
    world.pass(MINUTE * 5).await;
    assert_eq!(counted(&world).await, []);
    world.finish().await;
}

/// An issue whose session failed.
async fn failed(source: Source) -> (World, u64) {
    let reason = "no disk".to_owned();
    let after = SECOND * 2;
    let fails = story("Add a test", vec![Step::Fail { after, reason }]);
    let world = World::of(scenario(vec![fails]), source).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/failed").await;
    world.pass(MINUTE * 5).await;
    (world, number)
}

/// Without an agent, a failure is a person's until they try again.
#[tokio::test]
async fn the_failure_of_a_session_is_open_without_an_agent() {
    let mut source = taking(|rules| rules.checkpoints = Checkpoints::none());
    source.agent = None;
    let (world, number) = failed(source).await;
    assert_eq!(open_events(&world, number).await, ["session_failed"]);
    assert_eq!(counted(&world).await, [("person".to_owned(), 1)]);
    order(&world, number, Act::Retry { reason: None }).await;
    assert_eq!(open_events(&world, number).await, [""; 0]);
    until(&world, number, "plan/failed").await;
    world.pass(MINUTE * 5).await;
    assert_eq!(open_events(&world, number).await, ["session_failed"]);
    world.finish().await;
}

/// The agent is told by the event of its job, and a person is awaited.
#[tokio::test]
async fn the_failure_of_the_last_attempt_is_open_for_a_person() {
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        rules.attempts = 1;
    });
    let (world, number) = failed(source).await;
    let mut open = open_events(&world, number).await;
    open.retain(|kind| kind == "phase_failed");
    assert_eq!(open, ["phase_failed"]);
    assert_eq!(world.wake_names(), ["error/session_failed"]);
    assert_eq!(counted(&world).await, [("person".to_owned(), 1)]);
    order(&world, number, Act::Retry { reason: None }).await;
    assert_eq!(open_events(&world, number).await, [""; 0]);
}

#[tokio::test]
async fn a_review_whose_rounds_are_used_up_is_open_for_a_person() {
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        rules.review_by = Some(ReviewBy::Agent);
        rules.review_rounds = 0;
    });
    let world = world_with(source, false).await;
    let number = open_issue(&world, "Add a test", "");
    let asked = async |world: &World| !reviews(world).is_empty();
    Box::pin(world.until(hour(1), "a review", asked)).await;
    let head = reviews(&world).remove(0);
    judge(&world, number, (Verdict::NotPass, &head)).await;
    until(&world, number, "review/failed").await;
    world.pass(MINUTE).await;
    assert_eq!(open_events(&world, number).await, ["phase_failed"]);
    assert_eq!(world.wake_names(), ["question/review"]);
}

/// The agent may have no right to go on from what it cancelled; a person who cancels knows of it.
#[tokio::test]
async fn a_phase_that_an_agent_cancelled_is_open_for_a_person() {
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let (world, number) = taken_to(source, "implement/running").await;
    let command = Command {
        id: "test:cancel".to_owned(),
        by: Actor::agent(AGENT),
        act: Act::Cancel,
    };
    let (backend, id) = (&world.backend, id_of(number));
    let taken = backend.command_delivery(&id, &command).await;
    taken.expect("a command that is taken");
    world.pass(MINUTE).await;
    assert_eq!(open_events(&world, number).await, ["phase_failed"]);
    assert_eq!(world.wake_names(), [""; 0]);
    order(&world, number, Act::Retry { reason: None }).await;
    assert_eq!(open_events(&world, number).await, [""; 0]);
    order(&world, number, Act::Cancel).await;
    world.pass(MINUTE).await;
    assert_eq!(open_events(&world, number).await, [""; 0]);
}

/// A source whose agent reviews, and is called.
async fn world_with_reviewer(stories: Vec<Story>) -> World {
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::at(&[Phase::Review]).expect("checkpoints");
        rules.review_by = Some(ReviewBy::Agent);
    });
    let mut played = scenario(stories);
    played.agents = vec![AgentSetup {
        name: AGENT.to_owned(),
        statuses: vec![202],
        ..AgentSetup::default()
    }];
    World::of(played, source).await
}

/// Whether its first wake is over.
async fn first_wake_is_over(world: &World) -> bool {
    let event = world.wake_ids().remove(0).parse().expect("an event");
    let wake = world.backend.store.wake(&world.agent(), &event).await;
    let wake = wake.expect("a store").expect("a wake").value;
    matches!(wake.state, WakeState::Acknowledged { .. })
}

/// The agent is not called again about a failure after which a person has tried again.
#[tokio::test]
async fn a_retry_is_the_end_of_the_wake_about_the_failure() {
    let reason = "no disk".to_owned();
    let after = SECOND * 2;
    let fails = story("Add a test", vec![Step::Fail { after, reason }]);
    let world = world_with_reviewer(vec![fails]).await;
    let number = open_issue(&world, "Add a test", "");
    let called = async |world: &World| !world.wake_ids().is_empty();
    Box::pin(world.until(hour(1), "a wake", called)).await;
    assert!(!first_wake_is_over(&world).await);
    world.pass(SECOND).await;
    order(&world, number, Act::Retry { reason: None }).await;
    assert!(first_wake_is_over(&world).await);
    world.finish().await;
}

/// A pull request tells of its failed checks once: that they fail again after a retry is told by the delivery.
#[tokio::test]
async fn a_retry_of_a_red_head_that_fails_again_is_told_once() {
    let mut source = taking(|rules| rules.checkpoints = Checkpoints::none());
    source.policy.ci_repairs = 0;
    let red = CheckSetup::new("build", Outcome::Failure);
    let world = World::of(with_ci(ci(vec![red])), source).await;
    let told = |world: &World| {
        let mut names = world.wake_names();
        names.retain(|name| name.ends_with("_failed"));
        names
    };
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "verify/failed").await;
    world.pass(MINUTE).await;
    assert_eq!(told(&world), ["error/ci_failed"]);
    order(&world, number, Act::Retry { reason: None }).await;
    assert_eq!(place(&world, number).await, "verify/pending");
    // The reading that is asked for shows the same, and no other one is due for a minute.
    world.pass(SECOND * 5).await;
    assert_eq!(place(&world, number).await, "verify/failed");
    world.pass(hour(2)).await;
    assert_eq!(told(&world), ["error/ci_failed", "error/phase_failed"]);
    world.finish().await;
}

/// What its agent was asked is over with its answer: it neither comes again nor holds up others.
#[tokio::test]
async fn a_verdict_is_the_end_of_the_wake_that_asked_for_it() {
    let world = world_with_reviewer(Vec::new()).await;
    let number = open_issue(&world, "Add a test", "");
    let asked = async |world: &World| !reviews(world).is_empty();
    Box::pin(world.until(hour(1), "a review", asked)).await;
    assert_eq!(open_events(&world, number).await, ["review"]);
    let head = reviews(&world).remove(0);
    judge(&world, number, (Verdict::Pass, &head)).await;
    assert!(first_wake_is_over(&world).await);
    world.pass(hour(1)).await;
    assert_eq!(reviews(&world).len(), 1, "it does not come again");
    assert_eq!(open_events(&world, number).await, ["checkpoint"]);
    // A person may send back what the agent let pass.
    let reason = "Name it otherwise.".to_owned();
    order(&world, number, Act::Reject { reason }).await;
    let again = async |world: &World| reviews(world).len() == 2;
    Box::pin(world.until(hour(1), "another review", again)).await;
    assert_eq!(world.sandbox.counters().messages, 1);
    assert_eq!(world.sandbox.counters().creates, 1);
    world.finish().await;
}

/// A question holds up its delivery and nothing else, and the answer lets it go on.
#[tokio::test]
async fn a_question_blocks_a_delivery_until_it_is_answered() {
    let plan = Step::Plan {
        after: SECOND,
        steps: vec!["Add a test".to_owned()],
    };
    let ask = asks(SECOND * 3, "Which database?");
    let asking = story("You plan and implement", from_work(vec![plan, ask]));
    let world = World::of(
        scenario(vec![asking]),
        taking(|rules| rules.checkpoints = Checkpoints::none()),
    )
    .await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "implement/blocked").await;
    world.pass(MINUTE * 10).await;
    assert_eq!(place(&world, number).await, "implement/blocked");
    assert_eq!(world.wake_names()[0], "question/question");
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    let shown = shown.expect("a delivery");
    assert_eq!(shown.because[0].code, "blocked");
    assert_eq!(shown.waits_for.what, WaitReason::Question);

    let job = job_of(&world, number).await.id;
    world.answer(&job, "PostgreSQL", "answer").await;
    until(&world, number, "close/succeeded").await;
    let ended = delivery(&world, number).await.expect("a delivery");
    let spans = ended.phase_runs.iter();
    let implemented: Vec<String> = spans
        .filter(|span| span.phase == Phase::Implement)
        .map(|span| span.run_status.to_string())
        .collect();
    assert_eq!(implemented, ["running", "blocked", "running", "succeeded"]);
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.messages), (1, 1));
    world.finish().await;
}

/// So does one of the session that reviews, which is told not to ask either.
#[tokio::test]
async fn a_question_of_the_session_that_reviews_blocks_its_delivery_until_it_is_answered() {
    let after = SECOND;
    let ask = Step::Ask {
        after,
        text: "Which tests?".to_owned(),
    };
    let says = Step::Say {
        after,
        text: "```json\n{\"verdict\": \"pass\", \"summary\": \"good\"}\n```".to_owned(),
    };
    let no_change = true;
    let ends = Step::Complete { after, no_change };
    let asking = vec![ask, progress(after, "Running the tests"), says, ends];
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        rules.review_by = Some(ReviewBy::Jules);
    });
    let world = World::of(scenario(vec![story("You review a change", asking)]), source).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "review/blocked").await;
    world.pass(MINUTE * 10).await;
    assert_eq!(place(&world, number).await, "review/blocked");
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    let shown = shown.expect("a delivery");
    assert_eq!(shown.because[0].code, "blocked");
    assert_eq!(shown.waits_for.what, WaitReason::Question);
    let asking = shown.asking().expect("a job").id.clone();
    assert_ne!(asking, job_of(&world, number).await.id);
    let prompt = world.backend.must_job(&asking).await.expect("a job");
    assert!(prompt.value.prompt.contains("Do not ask questions"));

    world.answer(&asking, "All of them", "answer").await;
    until(&world, number, "close/succeeded").await;
    let ended = delivery(&world, number).await.expect("a delivery");
    let spans = ended.phase_runs.iter();
    let reviewed: Vec<String> = spans
        .filter(|span| span.phase == Phase::Review)
        .map(|span| span.run_status.to_string())
        .collect();
    assert_eq!(reviewed, ["running", "blocked", "running", "succeeded"]);
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.messages), (2, 1));
    world.finish().await;
}

/// A pause holds up nothing of a review that has begun, so the job waits for the same as before, like its delivery.
#[tokio::test]
async fn a_job_whose_change_jules_reviews_waits_for_that_in_a_pause_too() {
    let reads = vec![progress(hour(2), "Reading the change")];
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        rules.review_by = Some(ReviewBy::Jules);
    });
    let world = World::of(scenario(vec![story("You review a change", reads)]), source).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "review/running").await;
    world.pass(MINUTE * 5).await;
    let waits = async || {
        let job = job_of(&world, number).await;
        let shown = world.backend.delivery_shown(&id_of(number)).await;
        let waits = world.backend.waits_for(&job).await.expect("an answer");
        (waits, shown.expect("a delivery").waits_for.who)
    };
    let (before, of_delivery) = waits().await;
    assert_eq!([before.who, of_delivery], [WaitParty::Jules; 2]);
    world.pause(true).await;
    world.pass(MINUTE * 10).await;
    assert_eq!(waits().await, (before, of_delivery));
}

/// A merge closes the issue, too, and may be seen before the session has shown its pull request.
#[tokio::test]
async fn a_merge_that_closes_the_issue_early_calls_nothing_off() {
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let world = world_with(source, false).await;
    let number = open_issue(&world, "Add a test", "");
    let github = world.sandbox.github();
    let opened = async |_: &World| !github.pulls(REPO).is_empty();
    Box::pin(world.until(hour(1), "a pull request", opened)).await;
    let unlinked = delivery(&world, number).await.expect("a delivery");
    assert_eq!(unlinked.task.pull, None, "it is not known yet");
    let (pull, now) = (github.pulls(REPO)[0], world.clock.now());
    assert!(github.merge_by_hand(now, REPO, pull, "ann"));
    github.close_as(now, REPO, number, "ann");
    let closed = Work::Intake {
        repo: REPO.parse().expect("a repository"),
        number: Some(number),
        webhook: None,
    };
    let (queue, body) = (&world.backend.queue, closed.to_body());
    queue
        .send(&body, SignedDuration::ZERO)
        .await
        .expect("a queue");
    until(&world, number, "close/succeeded").await;
    let ended = delivery(&world, number).await.expect("a delivery");
    assert_eq!(ended.closed, Some(Closed::Finished), "{ended:?}");
    assert_eq!(world.sandbox.counters().creates, 1);
    world.finish().await;
}

/// A person who merges by hand answers for the reviewer.
#[tokio::test]
async fn a_merge_by_hand_is_the_end_of_the_wake_that_asked_for_a_review() {
    let world = world_with_reviewer(Vec::new()).await;
    let number = open_issue(&world, "Add a test", "");
    let asked = async |world: &World| !reviews(world).is_empty();
    Box::pin(world.until(hour(1), "a review", asked)).await;
    assert!(!first_wake_is_over(&world).await);
    merge_now(&world, number).await;
    until(&world, number, "close/succeeded").await;
    assert!(first_wake_is_over(&world).await);
    world.finish().await;
}

#[tokio::test]
async fn a_merged_delivery_that_cannot_be_deployed_is_ended_by_a_person() {
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        rules.endpoint = domain::delivery::Endpoint::default();
        rules.deploy = "workflow:none.yml@main".parse().expect("a workflow");
    });
    let (world, number) = taken_to(source, "deploy/failed").await;
    world.pass(hour(1)).await;
    assert_eq!(
        open_events(&world, number).await,
        [""; 0],
        "its agent took it"
    );
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    let because = &shown.expect("a delivery").because[0];
    assert!(
        because.sentence.contains("cancel the delivery"),
        "{because:?}"
    );
    // The agent that took it may try again.
    assert_eq!(counted(&world).await, [("agent".to_owned(), 1)]);
    order(&world, number, Act::Cancel).await;
    assert_eq!(place(&world, number).await, "close/succeeded");
    world.pass(MINUTE * 15).await;
    let ended = delivery(&world, number).await.expect("a delivery");
    assert_eq!(ended.closed, Some(Closed::MergedOnly));
    assert_eq!(world.sandbox.github().is_closed(REPO, number), Some(true));
    assert_eq!(world.sandbox.counters().creates, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_repository_without_ci_merges_where_no_check_is_asked_for() {
    let mut source = stopping_at(&[Phase::Review]);
    source.policy.merge = MergePolicy::Human;
    source.policy.min_checks = 0;
    let world = World::of(with_ci(ci(Vec::new())), source).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "review/succeeded").await;
    order(&world, number, Act::APPROVE).await;
    until(&world, number, "close/succeeded").await;
    assert_eq!(world.sandbox.counters().merges, 1);
    world.finish().await;
}

/// Without a review checkpoint no person has said yet that it may be merged: the agent is woken, as for a plain job.
#[tokio::test]
async fn a_merge_that_waits_for_approval_is_announced_once_until_it_is_ordered() {
    for has_agent in [false, true] {
        let mut source = taking(|rules| rules.checkpoints = Checkpoints::none());
        source.agent = source.agent.filter(|_| has_agent);
        source.policy.merge = MergePolicy::Human;
        let (world, number) = taken_to(source, "verify/running").await;
        world.pass(hour(1)).await;
        let (woken, open): (&[&str], &[&str]) = match has_agent {
            true => (&["question/merge"], &[]),
            false => (&[], &["merge"]),
        };
        assert_eq!(world.wake_names(), woken);
        assert_eq!(open_events(&world, number).await, open);
        let shown = world.backend.delivery_shown(&id_of(number)).await;
        let awaited = match has_agent {
            true => WaitParty::Agent,
            false => WaitParty::Person,
        };
        assert_eq!(shown.expect("a delivery").waits_for.who, awaited);
        let merge = Act::Merge {
            head: None,
            style: domain::pull::MergeStyle::default(),
        };
        order(&world, number, merge).await;
        assert_eq!(open_events(&world, number).await, [""; 0]);
        until(&world, number, "close/succeeded").await;
        assert_eq!(world.wake_names(), woken);
        world.finish().await;
    }
}

/// The settings of a source are those of its new deliveries; a part is none.
#[tokio::test]
async fn a_part_goes_by_the_rules_of_the_whole_and_refers_to_its_pages() {
    let (world, number) = taken_to(taking(|_| {}), "plan/pending").await;
    let page = WebPage::try_from("https://jira.example.com/SHOP-7".to_owned());
    let paged = Ref {
        role: RefRole::Trigger,
        kind: RefType::Jira,
        label: "SHOP-7".to_owned(),
        url: Some(page.expect("an address")),
    };
    let named = Ref {
        label: "SHOP-8".to_owned(),
        url: None,
        ..paged.clone()
    };
    let referring = Edit {
        refs: vec![paged.clone(), named],
        ..Edit::default()
    };
    order(&world, number, Act::Edit(referring)).await;
    let part = Part {
        summary: "The first thing".to_owned(),
        acceptance_criteria: Vec::new(),
    };
    let children = vec![part];
    order(&world, number, Act::Split { children }).await;
    let repo = REPO.parse().expect("a repository");
    let found = world.backend.store.source(&repo).await.expect("a store");
    let found = found.expect("a source");
    let mut changed = found.value.clone();
    changed.deliveries.checkpoints = Checkpoints::none();
    changed.deliveries.endpoint = domain::delivery::Endpoint::default();
    let saved = world.backend.save_source(Some(&found), &changed).await;
    saved.expect("a saved source");
    world.pass(MINUTE * 5).await;
    let whole = delivery(&world, number).await.expect("a delivery");
    let part = world.backend.must::<Delivery>(&whole.children[0].id).await;
    let part = part.expect("a part").value;
    assert_eq!(part.rules, whole.rules);
    assert!(part.awaits_start(), "its plan is a checkpoint");
    let pages: Vec<&Ref> = part.refs.iter().filter(|it| it.url.is_some()).collect();
    assert_eq!(pages, [&whole.refs[0], &paged], "its issue, and the rest");
    world.finish().await;
}

/// Another attempt works along the plan and the criteria of now, not of when its job was created.
#[tokio::test]
async fn another_session_is_given_the_new_plan() {
    let source = taking(|rules| {
        rules.plan_by = PlanBy::Human;
        rules.checkpoints = Checkpoints::at(&[Phase::Implement]).expect("checkpoints");
    });
    let world = world_with(source, false).await;
    let number = open_issue(&world, "Add a test", "");
    let plan = |content: &str| Act::Plan {
        content: content.to_owned(),
        target_files: Vec::new(),
    };
    until(&world, number, "plan/running").await;
    order(&world, number, plan("Take the first way.")).await;
    until(&world, number, "implement/succeeded").await;
    let reason = "Otherwise, please.".to_owned();
    order(&world, number, Act::Reject { reason }).await;
    until(&world, number, "plan/running").await;
    order(&world, number, plan("Take the second way.")).await;
    until(&world, number, "implement/succeeded").await;
    let sessions = world.sandbox.jules().sessions();
    let prompt = &sessions.last().expect("a session").prompt;
    assert_eq!(sessions.len(), 2);
    for (text, is_in) in [
        ("Take the first way.", false),
        ("Take the second way.", true),
        ("Otherwise, please.", true),
    ] {
        assert_eq!(prompt.contains(text), is_in, "{text}: {prompt}");
    }
    world.finish().await;
}

/// More than one list reads of what is over.
const OVER: usize = 2_001;

/// What is asked for by who is awaited is found among what is open, whatever was done since.
#[tokio::test]
async fn what_is_open_is_found_behind_everything_that_is_over() {
    let (world, number) = taken_to(taking(|_| {}), "plan/pending").await;
    let own = world.submit("Begun by hand").await;
    for _ in 0..OVER {
        let job = world.submit("Never mind").await;
        world.cancel(&job).await;
    }
    let listed = async |needs: Option<WaitParty>| {
        let asked = DeliveryQuery {
            needs,
            open: needs.is_none(),
            ..DeliveryQuery::default()
        };
        let listed = world.backend.list_deliveries(&asked, None, 50).await;
        let listed = listed.expect("a list");
        assert_eq!(listed.next, None);
        let all = listed.deliveries.into_iter();
        let ids: Vec<String> = all.map(|it| it.delivery.id.to_string()).collect();
        ids
    };
    let (issue, own) = (id_of(number).to_string(), own.to_string());
    assert_eq!(listed(Some(WaitParty::Person)).await, [issue.as_str()]);
    // A job without a delivery is found as well.
    assert_eq!(listed(Some(WaitParty::Gaffer)).await, [own.as_str()]);
    let (mut open, mut both) = (listed(None).await, [own, issue]);
    open.sort();
    both.sort();
    assert_eq!(open, both);
}

/// Each look at a row that is due writes it twice: once to claim it, once for the next time.
#[tokio::test]
async fn a_delivery_that_waits_for_a_person_is_looked_at_once_an_hour() {
    let (world, number) = taken_to(taking(|_| {}), "plan/pending").await;
    world.pass(MINUTE * 10).await;
    let before = world.ledger.written().len();
    world.pass(hour(6)).await;
    let own = engine::keys::delivery(&id_of(number));
    let written = world.ledger.written().into_iter().skip(before);
    let writes = written.filter(|key| *key == own).count();
    assert!((10..=14).contains(&writes), "{writes} writes in six hours");
}

#[tokio::test]
async fn a_job_that_waits_for_its_session_follows_the_priority_of_its_delivery() {
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let world = world_with(source, false).await;
    world.pause(true).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/running").await;
    world.pass(MINUTE).await;
    let priority = 9.try_into().expect("a priority");
    assert_ne!(job_of(&world, number).await.priority, priority);
    let first = domain::delivery::Edit {
        priority: Some(priority),
        ..domain::delivery::Edit::default()
    };
    order(&world, number, Act::Edit(first)).await;
    world.pass(MINUTE).await;
    assert_eq!(job_of(&world, number).await.priority, priority);
}
