//! Orders about the job of a delivery: each is that order about the delivery, and is answered as for other jobs.

use std::time::Duration;

use domain::delivery::{
    Checks, Delivery, DeliveryPlan, JobGlimpse, Phase, PullGlimpse, RunStatus, SessionWork,
};
use domain::ids::{DeliveryId, JobId, PlanId};
use domain::merge::{Judgement, MissingChecksCause, Reason};
use domain::pull::Approval;
use domain::session::SessionState;
use engine::keys;
use engine::ports::Clock;
use engine::work::Work;
use jiff::SignedDuration;
use serde_json::json;

use crate::merging::in_review;
use crate::world::{SHA, World, shop_pull};

/// A delivery at a place, for which a job in review works.
async fn delivery_with_job(world: &World, at: (Phase, RunStatus)) -> (DeliveryId, JobId) {
    let job = in_review(world).await;
    let order = json!({ "repo": "acme/shop", "summary": "Tidy" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id: DeliveryId = made["id"].as_str().unwrap().parse().unwrap();
    world
        .change(&job, |job| job.delivery = Some(id.clone()))
        .await;
    let head = SHA.parse().ok();
    change(world, &id, |delivery| {
        (delivery.phase, delivery.run_status) = at;
        delivery.task.job = Some(job.clone());
        delivery.task.attempt = 1;
        delivery.task.pull = Some(shop_pull());
        delivery.review.head.clone_from(&head);
        delivery.seen.pull = Some(PullGlimpse {
            pull: shop_pull(),
            head,
            same_work_as: None,
            checks: Checks::Missing,
            lacks_approval: false,
            held_by: Vec::new(),
            approved_by: None,
            closed_at: None,
            end: None,
        });
    })
    .await;
    (id, job)
}

async fn change(world: &World, id: &DeliveryId, edit: impl FnOnce(&mut Delivery)) {
    let mut next = world.backend.must::<Delivery>(id).await.unwrap().value;
    edit(&mut next);
    world.put(keys::delivery(id), &next).await;
}

async fn place(world: &World, id: &DeliveryId) -> (Phase, RunStatus) {
    let found = world.backend.must::<Delivery>(id).await.unwrap().value;
    (found.phase, found.run_status)
}

/// Puts a delivery at the checkpoint of its plan.
async fn show_plan(world: &World, (id, job): (&DeliveryId, &JobId), plan: &str) {
    let plan: PlanId = plan.parse().unwrap();
    change(world, id, |delivery| {
        (delivery.phase, delivery.run_status) = (Phase::Plan, RunStatus::Succeeded);
        delivery.task.pull = None;
        delivery.plan = Some(DeliveryPlan {
            id: plan.clone(),
            content: "1. Tidy".to_owned(),
            generated_at: delivery.created_at,
            model: None,
            cwd: None,
            target_files: Vec::new(),
        });
        delivery.seen.job = Some(JobGlimpse {
            job: job.clone(),
            branch: "main".parse().unwrap(),
            attempt: 1,
            work: SessionWork::Planned(plan),
            pull: None,
            message_sent: None,
            message_refused: None,
            approval_refused: None,
            approved_elsewhere: false,
        });
    })
    .await;
}

/// Plays the dispatcher: passes the delivery's word on to the pull request, and judges that anew.
async fn judge(world: &World, id: &DeliveryId, reasons: Vec<Reason>) {
    let mut again = tokio::time::interval(Duration::from_millis(10));
    loop {
        again.tick().await;
        let delivery = world.backend.must::<Delivery>(id).await.unwrap().value;
        let Some(approved) = delivery.review.approved else {
            continue;
        };
        let mut tracked = world.pull().await;
        tracked.read_at = Some(world.clock.now());
        tracked.pull.approval = Some(Approval {
            sha: approved.head,
            by: approved.by.to_string(),
            at: world.clock.now(),
            style: Default::default(),
        });
        tracked.pull.verdict.as_mut().unwrap().judgement = Judgement::Refuse { reasons };
        return world.put(keys::pull(&shop_pull()), &tracked).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_merge_that_cannot_be_is_refused_with_the_reason_of_the_pull_request() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Verify, RunStatus::Pending)).await;
    let missing = vec![Reason::CiNeverStarted {
        cause: MissingChecksCause::NoWorkflow,
    }];
    let (path, body) = (format!("/jobs/{job}/merge"), json!({}));
    let answer = tokio::join!(world.post(&path, &body), judge(&world, &id, missing)).0;
    assert_eq!(answer.code(409), "merge_refused");
    assert_eq!(answer.json()["reasons"][0]["code"], "ci_never_started");
    // A second order about the same head is answered by what is read after it, and has it read.
    world.clock.advance(SignedDuration::from_mins(1));
    world.messages().await;
    let again = world.post(&path, &body).await;
    assert_eq!(again.ok(202)["reasons"][0]["code"], "not_judged_yet");
    let is_read = |work: &Work| matches!(work, Work::Pull { pull, .. } if *pull == shop_pull());
    assert!(world.messages().await.iter().any(is_read));
    // While nothing has come of it, it is for later.
    change(&world, &id, |delivery| delivery.review.approved = None).await;
    let mut tracked = world.pull().await;
    tracked.pull.approval = None;
    world.put(keys::pull(&shop_pull()), &tracked).await;
    let later = world.post(&format!("/jobs/{job}/merge"), &body).await;
    assert_eq!(later.ok(202)["reasons"][0]["code"], "not_judged_yet");
}

#[tokio::test(start_paused = true)]
async fn the_approval_of_a_plan_passes_no_other_checkpoint() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Implement, RunStatus::Succeeded)).await;
    for body in [json!({}), json!({ "plan_id": "p1" })] {
        let answer = world.post(&format!("/jobs/{job}/approve"), &body).await;
        assert_eq!(answer.code(409), "no_open_plan", "{body}");
    }
    let place = async || place(&world, &id).await;
    assert_eq!(place().await, (Phase::Implement, RunStatus::Succeeded));
    show_plan(&world, (&id, &job), "p1").await;
    let moved = json!({ "plan_id": "p2" });
    let answer = world.post(&format!("/jobs/{job}/approve"), &moved).await;
    assert_eq!(answer.code(409), "plan_moved");
    let path = format!("/api/deliveries/{id}/approve");
    let answer = world.post(&path, &moved).await;
    assert_eq!(answer.code(409), "plan_moved");
    let read = json!({ "plan_id": "p1" });
    let answer = world.post(&format!("/jobs/{job}/approve"), &read).await;
    answer.ok(202);
    assert_eq!(place().await, (Phase::Implement, RunStatus::Running));
}

/// Its delivery works with another job.
#[tokio::test(start_paused = true)]
async fn an_order_about_what_was_collected_concerns_that_job_alone() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Verify, RunStatus::Pending)).await;
    let other: JobId = "01k0000000000000000000000z".parse().unwrap();
    change(&world, &id, |delivery| {
        delivery.task.job = Some(other.clone());
    })
    .await;
    world.change(&job, |job| job.collected = true).await;
    for (verb, at) in [
        ("merge", (Phase::Verify, RunStatus::Pending)),
        ("retry", (Phase::Review, RunStatus::Failed)),
    ] {
        let to = |delivery: &mut Delivery| (delivery.phase, delivery.run_status) = at;
        change(&world, &id, to).await;
        let refused = world.post(&format!("/jobs/{job}/{verb}"), &json!({})).await;
        assert_eq!(refused.code(409), "other_job", "{verb}");
        let detail = refused.json()["detail"].to_string();
        assert!(detail.contains(&other.to_string()), "{detail}");
        assert_eq!(place(&world, &id).await, at, "{verb}");
    }
    let delivery = world.backend.must::<Delivery>(&id).await.unwrap().value;
    assert_eq!(delivery.review.approved, None);
    let running = (Phase::Implement, RunStatus::Running);
    let to = |delivery: &mut Delivery| (delivery.phase, delivery.run_status) = running;
    change(&world, &id, to).await;
    let cancel = json!({ "close_pull": true });
    let cancelled = world.post(&format!("/jobs/{job}/cancel"), &cancel).await;
    assert_eq!(cancelled.ok(200)["state"], "cancelled");
    assert_eq!(place(&world, &id).await, running);
    assert!(world.pull().await.pull.closing.is_some());
}

/// The codes of why a job waits, and which orders are advised.
async fn reasons_and_advice(world: &World, job: &JobId) -> (Vec<String>, Vec<String>) {
    let why = world.get(&format!("/jobs/{job}/why")).await.ok(200);
    let words = |of: &str, word: &str| {
        let listed = why[of].as_array().unwrap().iter();
        let words = listed.map(|it| it[word].as_str().unwrap().to_owned());
        words.collect::<Vec<String>>()
    };
    (words("because", "code"), words("next", "advice"))
}

#[tokio::test(start_paused = true)]
async fn what_was_collected_is_a_persons_and_no_order_about_it_is_advised() {
    let world = World::new().await;
    let job = in_review(&world).await;
    world
        .change(&job, |job| {
            if let domain::job::JobPhase::Watching(watch) = &mut job.phase {
                watch.state = SessionState::Completed;
            }
        })
        .await;
    let is_advised = |advised: &[String]| advised.iter().any(|it| it == "merge");
    assert!(is_advised(&reasons_and_advice(&world, &job).await.1));
    let order = json!({ "repo": "acme/shop", "summary": "Tidy" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id: DeliveryId = made["id"].as_str().unwrap().parse().unwrap();
    let watched = world.backend.must_job(&job).await.unwrap().value;
    let wanted = json!({ "session_id": watched.session().unwrap() });
    let path = format!("/api/deliveries/{id}/collect");
    world.messages().await;
    world.post(&path, &wanted).await.ok(200);
    // Its last judgement is of before.
    let is_read = |work: &Work| matches!(work, Work::Pull { pull, .. } if *pull == shop_pull());
    assert!(world.messages().await.iter().any(is_read));
    for place in [
        (Phase::Plan, RunStatus::Running),
        (Phase::Verify, RunStatus::Pending),
        (Phase::Verify, RunStatus::Failed),
        (Phase::Close, RunStatus::Succeeded),
    ] {
        let to = |delivery: &mut Delivery| (delivery.phase, delivery.run_status) = place;
        change(&world, &id, to).await;
        let (because, advised) = reasons_and_advice(&world, &job).await;
        assert!(because.contains(&"collected".to_owned()), "{because:?}");
        let stale = ["needs_approval", "delivery_not_in_verify"];
        assert!(
            !because.iter().any(|it| stale.contains(&&**it)),
            "{because:?}"
        );
        for order in ["merge", "retry", "cancel"] {
            assert!(
                !advised.contains(&order.to_owned()),
                "{place:?}: {advised:?}"
            );
        }
        let merge = world.post(&format!("/jobs/{job}/merge"), &json!({})).await;
        assert_eq!(merge.code(409), "other_job");
    }
}

/// The judgement is of the time before, and says that nothing but an approval is missing.
#[tokio::test(start_paused = true)]
async fn a_merge_is_advised_only_while_its_delivery_takes_the_order() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Verify, RunStatus::Pending)).await;
    let merge = format!("/jobs/{job}/merge");
    for (place, is_taken) in [
        ((Phase::Verify, RunStatus::Failed), false),
        ((Phase::Review, RunStatus::Running), false),
        ((Phase::Verify, RunStatus::Running), true),
    ] {
        let to = |delivery: &mut Delivery| (delivery.phase, delivery.run_status) = place;
        change(&world, &id, to).await;
        let (because, advised) = reasons_and_advice(&world, &job).await;
        let is_advised = advised.contains(&"merge".to_owned());
        assert_eq!(is_advised, is_taken, "{place:?}: {advised:?}");
        let is_told = because.contains(&"needs_approval".to_owned());
        assert_eq!(is_told, is_taken, "{place:?}: {because:?}");
        let pull = world.get("/pulls/acme/shop/7/why").await.ok(200);
        let next = pull["next"].as_array().unwrap();
        let is_advised = next.iter().any(|it| it["advice"] == "merge");
        assert_eq!(is_advised, is_taken, "{place:?}: {pull}");
        if !is_taken {
            let refused = world.post(&merge, &json!({})).await;
            assert_eq!(refused.code(409), "not_in_verify");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn how_it_is_to_be_merged_and_whether_it_is_closed_is_kept() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Verify, RunStatus::Pending)).await;
    let titled = json!({ "commit_title": "Tidy the shop" });
    let merge = world.post(&format!("/jobs/{job}/merge"), &titled).await;
    merge.ok(202);
    let delivery = world.backend.must::<Delivery>(&id).await.unwrap().value;
    let style = delivery.review.approved.unwrap().style;
    assert_eq!(style.title.as_deref(), Some("Tidy the shop"));
    let cancel = json!({ "close_pull": true });
    let cancelled = world.post(&format!("/jobs/{job}/cancel"), &cancel).await;
    cancelled.ok(200);
    assert!(world.pull().await.pull.closing.is_some());
}

/// What the answer to a cancellation advises is taken, although the delivery is over by then.
#[tokio::test(start_paused = true)]
async fn the_pull_request_of_what_was_cancelled_can_be_closed_afterwards() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Implement, RunStatus::Succeeded)).await;
    let path = format!("/jobs/{job}/cancel");
    let closing = async || world.pull().await.pull.closing.is_some();
    world.post(&path, &json!({})).await.ok(200);
    let closed = world.backend.must::<Delivery>(&id).await.unwrap().value;
    assert!(closed.is_terminal() && !closing().await);
    assert_eq!(world.post(&path, &json!({})).await.code(409), "closed");
    let answer = world.post(&path, &json!({ "close_pull": true })).await;
    answer.ok(200);
    assert!(closing().await);
}

/// The name stands for the order on the delivery's own route, too.
#[tokio::test(start_paused = true)]
async fn a_cancellation_and_a_retry_under_a_name_are_carried_out_once() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Implement, RunStatus::Running)).await;
    let failed = (Phase::Implement, RunStatus::Failed);
    let ways = |verb: &str| {
        [
            format!("/jobs/{job}/{verb}"),
            format!("/jobs/{job}:{verb}"),
            format!("/api/deliveries/{id}/{verb}"),
        ]
    };
    for path in ways("cancel") {
        world.post_named(&path, &json!({}), "one").await.ok(200);
        assert_eq!(place(&world, &id).await, failed, "{path}");
    }
    let error = world.backend.must::<Delivery>(&id).await.unwrap();
    let error = error.value.error;
    let [retry, again, own] = ways("retry");
    let reason = json!({ "reason": "Smaller" });
    world.post_named(&retry, &reason, "one").await.ok(200);
    assert_ne!(place(&world, &id).await, failed);
    change(&world, &id, |delivery| {
        delivery.run_status = RunStatus::Failed;
        delivery.error = error;
    })
    .await;
    for path in [&retry, &again, &own] {
        world.post_named(path, &reason, "one").await.ok(200);
        assert_eq!(place(&world, &id).await, failed, "{path}");
    }
    // Another name, or other words under the same name, are another order.
    world.post_named(&retry, &json!({}), "one").await.ok(200);
    assert_ne!(place(&world, &id).await, failed);
}

#[tokio::test(start_paused = true)]
async fn an_approval_under_a_name_is_carried_out_once() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Plan, RunStatus::Succeeded)).await;
    show_plan(&world, (&id, &job), "p1").await;
    let path = format!("/jobs/{job}/approve");
    let read = json!({ "plan_id": "p1" });
    for _ in 0..2 {
        let taken = world.post_named(&path, &read, "one").await.ok(202);
        assert_eq!(taken["ask_again"], format!("/api/deliveries/{id}"));
        let running = (Phase::Implement, RunStatus::Running);
        assert_eq!(place(&world, &id).await, running);
    }
    let own = format!("/api/deliveries/{id}/approve");
    world.post_named(&own, &read, "one").await.ok(200);
    let other = world.post_named(&path, &read, "two").await;
    assert_eq!(other.code(409), "no_open_plan");
}

#[tokio::test(start_paused = true)]
async fn an_order_to_merge_under_a_name_is_answered_as_before() {
    let world = World::new().await;
    let (id, job) = delivery_with_job(&world, (Phase::Verify, RunStatus::Pending)).await;
    let missing = vec![Reason::CiNeverStarted {
        cause: MissingChecksCause::NoWorkflow,
    }];
    let path = format!("/jobs/{job}/merge");
    let order = || world.post_named(&path, &json!({}), "one");
    let first = tokio::join!(order(), judge(&world, &id, missing)).0;
    assert_eq!(first.code(409), "merge_refused");
    world.clock.advance(SignedDuration::from_mins(1));
    world.messages().await;
    assert_eq!(order().await.code(409), "merge_refused");
    assert_eq!(world.messages().await, [], "nothing is read for it again");
}
