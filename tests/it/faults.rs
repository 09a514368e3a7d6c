//! Answers that never come: an action that was cut off before or after its effect happens once.

use domain::effect::{Action, Effect, PullAction};
use domain::ids::JobId;
use domain::policy::{MergePolicy, PlanApproval, Source};
use engine::backend::IndexEntry;
use engine::keys;
use sandbox::github::{CheckSetup, CiSetup, Outcome, RequiredCheck};
use sandbox::story::Story;
use sandbox::{Fault, FaultKind, Lags, Scenario, Service};
use tests::world::{
    MINUTE, Moment, REPO, SECOND, World, asking, ci, complete, green_checks, hour, on_green,
    open_draft, progress, scenario, story, with_ci, without_change,
};

const CUTS: [FaultKind; 2] = [FaultKind::CutAfterEffect, FaultKind::CutBefore];

fn cut(world: &World, kind: &FaultKind, (service, method, path): (Service, &str, &str)) {
    world
        .sandbox
        .faults()
        .add(Fault::new(service, path, kind.clone()).on(method).next(1));
}

/// The next create makes its session, and its answer is lost.
fn create_goes_unheard(world: &World) {
    let create = (Service::Jules, "POST", "/sessions");
    cut(world, &FaultKind::CutAfterEffect, create);
}

async fn merged(world: &World, job: &JobId) {
    world.until_is(MINUTE * 40, job, "merged").await;
    world.pass(MINUTE * 10).await;
    world.finish().await;
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_makes_one_session() {
    let lost = [
        FaultKind::CutAfterEffect,
        FaultKind::CutBefore,
        FaultKind::StatusAfterEffect { code: 500 },
        FaultKind::StatusAfterEffect { code: 503 },
        FaultKind::status(500),
        FaultKind::Status {
            code: 429,
            retry_after_secs: Some(20),
            body: None,
        },
        FaultKind::HtmlInstead,
        FaultKind::TruncatedPage,
    ];
    for kind in lost {
        let world = World::on_green(Scenario::default()).await;
        cut(&world, &kind, (Service::Jules, "POST", "/sessions"));
        let job = world.submit("Add a test").await;
        merged(&world, &job).await;
        assert_eq!(world.sandbox.counters().creates, 1, "{kind:?}");
        assert_eq!(world.sandbox.jules().sessions().len(), 1, "{kind:?}");
        assert_eq!(
            world.events(&job).await,
            ["completed/completed"],
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn one_reading_that_lags_is_no_proof_that_nothing_happened() {
    let lags = Lags {
        list: MINUTE * 5,
        activities: SECOND * 90,
        ..Lags::default()
    };
    let played = Scenario {
        lags,
        ..scenario(vec![asking("ask me", "Which database?")])
    };
    let world = World::on_green(played).await;
    create_goes_unheard(&world);
    let lost = &FaultKind::CutAfterEffect;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 20, &job, "asking").await;
    cut(&world, lost, (Service::Jules, "POST", ":sendMessage"));
    world.answer(&job, "PostgreSQL", "answer").await;
    merged(&world, &job).await;
    let it = world.sandbox.counters();
    assert_eq!((it.creates, it.messages), (1, 1));
}

/// A session that works for an hour and a half and changes nothing.
fn slow() -> Story {
    let works = [SECOND, MINUTE * 90].map(|after| progress(after, "Working"));
    story("slow", [&works[..], &[without_change(SECOND)]].concat())
}

/// A world whose list shows sessions only after twenty minutes.
async fn hiding(stories: Vec<Story>) -> World {
    let mut played = scenario(stories);
    played.lags.list = MINUTE * 20;
    World::on_green(played).await
}

#[tokio::test]
async fn a_twin_that_a_lagging_list_allowed_is_put_away() {
    for others in [0, 2] {
        let world = hiding(vec![slow()]).await;
        for _ in 0..others {
            world.submit("slow").await;
        }
        world.until_count(MINUTE, |it| it.creates == others).await;
        create_goes_unheard(&world);
        let job = world.submit("slow").await;
        world.pass(MINUTE * 80).await;
        assert_eq!(
            world.sandbox.counters().creates,
            others + 2,
            "the list hid the first one"
        );
        let own = world.session(&job).await.id;
        let marker = format!("{job}#1");
        let sessions = world.sandbox.jules().sessions();
        let duplicates: Vec<_> = sessions
            .iter()
            .filter(|it| it.title.contains(&marker))
            .collect();
        assert_eq!(duplicates.len(), 2);
        for duplicate in duplicates {
            assert_eq!(duplicate.archived, duplicate.id != own, "{duplicate:?}");
        }
        assert_eq!(world.sandbox.counters().archives, 1);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_twin_that_turns_up_when_its_job_has_ended_is_put_away() {
    let world = hiding(Vec::new()).await;
    create_goes_unheard(&world);
    let job = world.submit("whatever").await;
    world.until_is(MINUTE * 19, &job, "merged").await;
    world.pass(MINUTE * 30).await;
    assert_eq!(world.sandbox.counters().creates, 2);
    let left: Vec<_> = world.sandbox.jules().sessions();
    assert!(left.iter().all(|it| it.archived), "{left:?}");
    world.finish().await;
}

#[tokio::test]
async fn an_archive_of_a_twin_whose_answer_is_lost_is_settled() {
    let world = hiding(vec![slow()]).await;
    create_goes_unheard(&world);
    cut(
        &world,
        &FaultKind::CutAfterEffect,
        (Service::Jules, "POST", ":archive"),
    );
    world.submit("slow").await;
    world.pass(MINUTE * 80).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.archives), (2, 1));
    world.finish().await;
}

#[tokio::test]
async fn a_message_whose_answer_is_lost_is_said_once() {
    let others = [
        FaultKind::StatusAfterEffect { code: 500 },
        FaultKind::status(503),
    ];
    for kind in CUTS.into_iter().chain(others) {
        let world = World::on_green(scenario(vec![asking("ask me", "Which database?")])).await;
        let job = world.submit("ask me").await;
        world.until_is(MINUTE * 3, &job, "asking").await;
        cut(&world, &kind, (Service::Jules, "POST", ":sendMessage"));
        world.answer(&job, "PostgreSQL", "answer").await;
        merged(&world, &job).await;
        assert_eq!(world.sandbox.counters().messages, 1, "{kind:?}");
        assert_eq!(
            world.session(&job).await.messages,
            ["PostgreSQL"],
            "{kind:?}"
        );
        assert_eq!(
            world.events(&job).await,
            ["question/question", "completed/completed"],
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn a_message_whose_answer_is_lost_holds_a_merge_up_until_it_is_found_and_no_longer() {
    let world = World::on_green(scenario(vec![asking("ask me", "Which database?")])).await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 3, &job, "asking").await;
    let lost = (Service::Jules, "POST", ":sendMessage");
    cut(&world, &FaultKind::CutAfterEffect, lost);
    world.answer(&job, "PostgreSQL", "answer").await;
    world.until_is(MINUTE * 5, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn what_a_session_does_after_words_whose_answer_was_lost_is_heard() {
    let world = quickly_repaired().await;
    let lost = (Service::Jules, "POST", ":sendMessage");
    cut(&world, &FaultKind::CutAfterEffect, lost);
    finishes_twice(&world).await;
}

#[tokio::test]
async fn what_a_session_does_after_words_whose_sender_died_is_heard() {
    let world = quickly_repaired().await;
    let fate = world.fate.clone();
    world.fate.before_next("say", async move {
        fate.kill_at(fate.acts().len() - 1, Moment::After);
    });
    finishes_twice(&world).await;
    assert_eq!(world.fate.deaths(), 1);
}

#[tokio::test]
async fn nothing_is_merged_while_words_may_have_woken_its_session() {
    let world = quickly_repaired().await;
    let job = world.submit("whatever").await;
    world.until_gives(MINUTE * 10, &job, "settling").await;
    let pull = "acme/shop#1".parse().expect("a reference");
    let found = world.backend.store.pull(&pull).await.expect("a store");
    let ready = found.and_then(|found| found.value.pull.ready);
    let ready = ready.expect("it is ready");
    let left = ready.from.duration_since(world.clock.now());
    world.pass(left - SECOND * 2).await;
    let fate = world.fate.clone();
    world.fate.before_next("say", async move {
        fate.kill_at(fate.acts().len() - 1, Moment::After);
    });
    world.answer(&job, "Add a test", "more").await;
    for _ in 0..8 {
        world.pass(SECOND).await;
        assert_eq!(
            world.sandbox.counters().merges,
            0,
            "{}",
            world.story().await
        );
    }
    assert_eq!(world.fate.deaths(), 1);
    merged(&world, &job).await;
}

/// A world in which a failed check is repaired and merged within seconds.
async fn quickly_repaired() -> World {
    let check = CheckSetup::new("test", Outcome::FailsFirst(1));
    let mut source = on_green();
    let quick = SECOND * 5;
    source.timing.settle = SECOND * 30;
    source.timing.pull_poll = quick;
    source.timing.ci_repair_after = quick;
    World::of(with_ci(ci(vec![check])), source).await
}

/// The session finishes, is asked to fix a check, and finishes again: both are announced before its job is over.
async fn finishes_twice(world: &World) {
    let job = world.submit("whatever").await;
    merged(world, &job).await;
    let session = world.session(&job).await;
    assert_eq!(session.messages.len(), 1, "{session:?}");
    let told = world.wake_names();
    let finished = told.iter().filter(|name| name.starts_with("completed"));
    assert_eq!(finished.count(), 2, "{told:?}");
}

#[tokio::test]
async fn the_same_words_said_twice_on_purpose_are_said_twice_whatever_is_lost() {
    let world = World::of(Scenario::default(), people()).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.answer(&job, "Go on", "first").await;
    world.pass(SECOND * 20).await;
    cut(
        &world,
        &FaultKind::CutBefore,
        (Service::Jules, "POST", ":sendMessage"),
    );
    world.answer(&job, "Go on", "second").await;
    world.pass(MINUTE * 20).await;
    assert_eq!(
        world.sandbox.counters().messages,
        2,
        "the first one is no proof of the second"
    );
    world.finish().await;
}

fn people() -> Source {
    let mut source = on_green();
    source.policy.merge = MergePolicy::Human;
    source
}

#[tokio::test]
async fn an_approval_whose_answer_is_lost_is_given_once() {
    for kind in CUTS {
        let mut source = on_green();
        source.policy.plan_approval = PlanApproval::Agent;
        let world = World::of(Scenario::default(), source).await;
        let job = world.submit("Add a test").await;
        world.until_is(MINUTE * 3, &job, "plan-waits").await;
        cut(&world, &kind, (Service::Jules, "POST", ":approvePlan"));
        world.approve_plan(&job).await;
        merged(&world, &job).await;
        assert_eq!(world.sandbox.counters().approvals, 1, "{kind:?}");
        assert_eq!(world.session(&job).await.approvals, 1, "{kind:?}");
    }
}

#[tokio::test]
async fn a_merge_whose_answer_is_lost_is_settled_by_reading() {
    let others = [
        FaultKind::StatusAfterEffect { code: 502 },
        FaultKind::HtmlInstead,
        FaultKind::status(502),
    ];
    for kind in CUTS.into_iter().chain(others) {
        let world = World::on_green(Scenario::default()).await;
        cut(&world, &kind, (Service::GitHub, "PUT", "/merge"));
        let job = world.submit("Add a test").await;
        merged(&world, &job).await;
        assert_eq!(world.sandbox.counters().merges, 1, "{kind:?}");
        // Asked twice only where the first call certainly never reached GitHub's state.
        assert_eq!(world.sandbox.counters().merge_calls, 1, "{kind:?}");
        assert_eq!(
            world.events(&job).await,
            ["completed/completed"],
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn a_deleted_branch_and_an_archived_session_survive_lost_answers() {
    for kind in CUTS {
        let world = World::on_green(Scenario::default()).await;
        cut(&world, &kind, (Service::GitHub, "DELETE", "/git/refs"));
        cut(&world, &kind, (Service::Jules, "POST", ":archive"));
        let job = world.submit("Add a test").await;
        merged(&world, &job).await;
        assert_eq!(
            (
                world.sandbox.counters().branch_deletes,
                world.sandbox.counters().archives
            ),
            (1, 1),
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn a_draft_marked_ready_and_a_branch_brought_up_to_date_survive_lost_answers() {
    for kind in CUTS {
        let steps = vec![progress(SECOND, "Working"), open_draft(), complete(SECOND)];
        let strict = CiSetup {
            checks: green_checks(),
            required: vec![RequiredCheck::any("build")],
            strict: true,
            on_base: false,
            again_on_ready: false,
        };
        let world = World::on_green(Scenario {
            stories: vec![story("Add", steps)],
            ..with_ci(strict)
        })
        .await;
        cut(&world, &kind, (Service::GitHub, "POST", "/graphql"));
        cut(&world, &kind, (Service::GitHub, "PUT", "/update-branch"));
        let job = world.submit("Add a test").await;
        world.until_pull(MINUTE * 5).await;
        world.sandbox.github().push(
            world.clock.now(),
            REPO,
            "main",
            "Something else",
            "somebody",
        );
        merged(&world, &job).await;
        let it = world.sandbox.counters();
        assert_eq!(
            (it.ready_for_review, it.branch_updates, it.merges),
            (1, 1, 1),
            "{kind:?}"
        );
    }
}

/// Saves an effect on the first pull request, like a decision.
async fn intend(world: &World, action: Action) {
    let pk = keys::pull_pk(&format!("{REPO}#1").parse().expect("a pull request"));
    let effect = Effect::new(action, world.backend.now());
    let mut unit = world.backend.unit();
    unit.put(
        keys::effect(&pk, &effect.id),
        &effect,
        None,
        IndexEntry::due(effect.due()),
    );
    world.backend.commit(unit).await.expect("an order");
}

#[tokio::test]
async fn comments_and_labels_survive_lost_answers() {
    for kind in CUTS {
        let world = World::of(Scenario::default(), people()).await;
        let job = world.submit("Add a test").await;
        world.until_is(MINUTE * 5, &job, "in-review").await;
        world.pass(MINUTE).await;
        let pull: domain::ids::PullRef = format!("{REPO}#1").parse().expect("a pull request");
        cut(&world, &kind, (Service::GitHub, "POST", "/comments"));
        cut(&world, &kind, (Service::GitHub, "POST", "/labels"));
        intend(
            &world,
            Action::Pull(PullAction::Comment {
                pull: pull.clone(),
                text: "Hello".to_owned(),
                cause: "greeting".to_owned(),
            }),
        )
        .await;
        intend(
            &world,
            Action::Pull(PullAction::Label {
                pull,
                label: "gaffer".to_owned(),
                weave: None,
            }),
        )
        .await;
        world.pass(MINUTE * 10).await;
        let it = world.pull(1);
        assert_eq!(
            (it.comments.len(), it.labels),
            (1, vec!["gaffer".to_owned()]),
            "{kind:?}"
        );
        assert_eq!(
            (
                world.sandbox.counters().comments,
                world.sandbox.counters().labels
            ),
            (1, 1),
            "{kind:?}"
        );
        world.finish().await;
    }
}

#[tokio::test]
async fn a_wake_whose_answer_is_lost_comes_again_under_its_id() {
    for kind in CUTS {
        let world = World::on_green(Scenario::default()).await;
        cut(&world, &kind, (Service::Agent, "POST", ""));
        let job = world.submit("Add a test").await;
        merged(&world, &job).await;
        let ids = world.wake_ids();
        assert!(
            !ids.is_empty() && ids.iter().all(|id| *id == ids[0]),
            "{kind:?}: {ids:?}"
        );
    }
}

#[tokio::test]
async fn github_down_for_an_hour_costs_an_hour_and_nothing_else() {
    for code in [500, 503, 429] {
        let world = World::on_green(Scenario::default()).await;
        let job = world.submit("Add a test").await;
        world.until_count(MINUTE, |it| it.creates == 1).await;
        world
            .sandbox
            .faults()
            .add(Fault::new(Service::GitHub, "", FaultKind::status(code)));
        world.pass(hour(1)).await;
        assert_eq!(world.state(&job).await, "in-review");
        let calls = world.requests(Service::GitHub, "GET", "").len();
        assert!(calls < 150, "{calls} calls to a GitHub that is down");
        world.sandbox.faults().clear();
        world.until_is(MINUTE * 20, &job, "merged").await;
        assert_eq!(world.events(&job).await, ["completed/completed"]);
        world.finish().await;
    }
}

#[tokio::test]
async fn github_down_while_a_merge_is_due_costs_no_merge() {
    let world = World::on_green(Scenario::default()).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world
        .sandbox
        .faults()
        .add(Fault::new(Service::GitHub, "", FaultKind::CutBefore));
    world.pass(hour(1)).await;
    world.sandbox.faults().clear();
    world.until_is(MINUTE * 20, &job, "merged").await;
    assert_eq!(world.sandbox.counters().merges, 1);
    world.finish().await;
}
