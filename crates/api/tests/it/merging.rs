//! Approving a merge, and what the API waits for afterwards.

use std::time::Duration;

use domain::effect::{Action, Effect, EffectState, PullAction};
use domain::facts::{Base, Check, CheckOutcome, PullState};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, JobId};
use domain::merge::{Judgement, Reason};
use domain::policy::MergeMethod;
use domain::pull::{self, MergeStyle, PullPhase, PullVerdict, SeenHead};
use engine::backend::IndexEntry;
use engine::keys;
use engine::ports::Clock;
use engine::settings::TrackedPull;
use engine::work::Work;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::mcp::call_of;
use crate::world::{Answer, SESSION, SHA, World, shop_pull};

fn sha() -> CommitSha {
    SHA.parse().unwrap()
}

/// A job in review whose pull request was read and refused for want of an approval a minute ago.
pub(crate) async fn in_review(world: &World) -> JobId {
    let id = world.watched(|watch| watch.pull = Some(shop_pull())).await;
    let now = world.clock.now();
    let mut pull = pull::track(shop_pull(), id.clone(), Some(SESSION.parse().unwrap()), now);
    pull.head = Some(SeenHead {
        sha: sha(),
        since: now,
    });
    pull.verdict = Some(PullVerdict {
        at: now,
        sha: sha(),
        judgement: Judgement::Refuse {
            reasons: vec![Reason::NeedsApproval],
        },
        checks: Vec::new(),
    });
    let tracked = TrackedPull {
        pull,
        read_at: Some(now),
        unread: None,
    };
    let place = IndexEntry {
        list: keys::listed(keys::OPEN_PULLS, keys::pull_pk(&shop_pull())),
        ..IndexEntry::default()
    };
    let key = keys::pull(&shop_pull());
    world.put_at(key, &tracked, place).await;
    world.messages().await;
    world.clock.advance(SignedDuration::from_mins(1));
    id
}

/// Plays the dispatcher: waits for the approval, reads the pull request, and judges.
async fn judge(world: &World, edit: impl FnOnce(&mut pull::Pull)) {
    let mut again = tokio::time::interval(Duration::from_millis(10));
    loop {
        again.tick().await;
        let mut tracked = world.pull().await;
        if tracked.pull.approval.is_none() {
            continue;
        }
        tracked.read_at = Some(world.clock.now());
        edit(&mut tracked.pull);
        return world.put(keys::pull(&shop_pull()), &tracked).await;
    }
}

fn verdict(judgement: Judgement) -> impl FnOnce(&mut pull::Pull) {
    move |pull| {
        if let Some(verdict) = &mut pull.verdict {
            verdict.judgement = judgement;
        }
    }
}

async fn merge_while(world: &World, path: &str, edit: impl FnOnce(&mut pull::Pull)) -> Answer {
    let body = json!({"by": "dora"});
    tokio::join!(world.post(path, &body), judge(world, edit)).0
}

#[tokio::test]
async fn what_is_told_of_a_pull_request_says_how_old_it_is() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let read = world.clock.now() - SignedDuration::from_mins(1);
    let aged = json!({"at": read, "sentence": "As read on GitHub 60 seconds ago."});
    let pulls = world.get("/pulls").await.ok(200);
    assert_eq!(pulls["pulls"][0]["as_read"], aged);
    for path in [
        format!("/jobs/{id}/why"),
        "/pulls/acme/shop/7/why".to_owned(),
        format!("/jobs/{id}"),
    ] {
        let told = world.get(&path).await.ok(200);
        assert_eq!(told["as_read"], aged, "{path}");
    }
    let told = call_of(&world, "jules_why", json!({ "job_id": id })).await;
    let as_read = &told["result"]["structuredContent"]["as_read"];
    assert_eq!(*as_read, aged["sentence"]);
}

#[tokio::test]
async fn the_checks_of_the_judged_head_are_told_with_their_pages() {
    let world = World::new().await;
    in_review(&world).await;
    let mut tracked = world.pull().await;
    let check = |name: &str, outcome, id| Check {
        name: name.to_owned(),
        app: None,
        outcome,
        id,
    };
    if let Some(verdict) = &mut tracked.pull.verdict {
        verdict.checks = vec![
            check("lint", CheckOutcome::Failed, Some(7)),
            check("ci/old", CheckOutcome::Pending, None),
        ];
    }
    world.put(keys::pull(&shop_pull()), &tracked).await;
    let why = world.get("/pulls/acme/shop/7/why").await.ok(200);
    let page = "https://github.com/acme/shop/runs/7";
    assert_eq!(
        why["checks"],
        json!([
            { "name": "lint", "state": "failed", "url": page },
            { "name": "ci/old", "state": "pending" },
        ])
    );
}

#[tokio::test]
async fn what_ends_a_pause_is_advised_once_and_is_what_is_paused() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let mut tracked = world.pull().await;
    let reasons = vec![Reason::Paused];
    verdict(Judgement::Wait {
        reasons,
        until: None,
    })(&mut tracked.pull);
    world.put(keys::pull(&shop_pull()), &tracked).await;
    let advised = async || {
        let told = world.get(&format!("/jobs/{id}/why")).await.ok(200);
        let next = told["next"].as_array().unwrap().clone();
        let words = next
            .iter()
            .map(|it| it["advice"].as_str().unwrap().to_owned());
        let resumes = words.filter(|word| word.starts_with("resume"));
        resumes.collect::<Vec<_>>()
    };
    world.change_source(|source| source.paused = true).await;
    assert_eq!(advised().await, ["resume_source"]);
    let switches = engine::settings::Switches {
        paused_since: Some(world.clock.now()),
        ..engine::settings::Switches::default()
    };
    world.put(keys::switches(), &switches).await;
    assert_eq!(advised().await, ["resume", "resume_source"]);
}

#[tokio::test(start_paused = true)]
async fn it_is_merged_in_both_spellings_and_asking_again_says_so_again() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let merged = merge_while(&world, &format!("/jobs/{id}:merge"), |pull| {
        pull.phase = PullPhase::Settled {
            state: PullState::Merged {
                commit: Some(sha()),
            },
            sha: sha(),
            at: pull.since,
            by: None,
        };
    })
    .await
    .ok(200);
    assert_eq!(
        merged,
        json!({"job_id": id.to_string(), "pull_request": "acme/shop#7", "sha": SHA, "commit": SHA})
    );
    let again = world.post(&format!("/jobs/{id}/merge"), &json!({"sha": SHA}));
    assert_eq!(again.await.ok(200), merged);
    let other = world.post(
        &format!("/jobs/{id}/merge"),
        &json!({"sha": "2".repeat(40)}),
    );
    assert_eq!(other.await.code(409), "settled");
    let found = world.pull().await;
    assert_eq!(found.pull.approval.unwrap().by, "dora over HTTP");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_names_all_its_reasons() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let judgement = Judgement::Refuse {
        reasons: vec![
            Reason::ChecksFailed {
                names: vec!["build".to_owned()],
                others_pending: false,
            },
            Reason::ChecksPending {
                names: vec!["lint".to_owned()],
            },
        ],
    };
    let answer = merge_while(&world, &format!("/jobs/{id}/merge"), verdict(judgement)).await;
    assert_eq!(answer.code(409), "merge_refused");
    let reasons = &answer.json()["reasons"];
    assert_eq!(reasons[0]["code"], "checks_failed");
    assert_eq!(reasons[1]["code"], "checks_pending");
    assert!(reasons[0]["sentence"].as_str().unwrap().contains("build"));
    let pull = world.pull().await.pull;
    assert_eq!(pull.approval, None, "nothing is merged by it later");
    let job = world.backend.must_job(&id).await.unwrap().value;
    assert!(job.last_order(domain::job::Order::Merge).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_judgement_that_comes_out_the_same_is_still_an_answer() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let answer = merge_while(&world, &format!("/jobs/{id}/merge"), |_| {}).await;
    assert_eq!(answer.code(409), "merge_refused");
    assert_eq!(answer.json()["reasons"][0]["code"], "needs_approval");
}

#[tokio::test(start_paused = true)]
async fn an_order_that_only_a_pause_holds_up_is_taken_and_says_so() {
    let pending = Reason::ChecksPending {
        names: vec!["build".to_owned()],
    };
    let failed = Reason::ChecksFailed {
        names: vec!["build".to_owned()],
        others_pending: false,
    };
    for (besides, status, codes) in [
        (None, 202, vec!["source_paused"]),
        (Some(pending), 202, vec!["source_paused", "checks_pending"]),
        (Some(failed), 409, vec!["paused", "checks_failed"]),
    ] {
        let world = World::new().await;
        let id = in_review(&world).await;
        world.change_source(|source| source.paused = true).await;
        let reasons = [Some(Reason::Paused), besides].into_iter().flatten();
        let judgement = Judgement::Refuse {
            reasons: reasons.collect(),
        };
        let began = tokio::time::Instant::now();
        let answer = merge_while(&world, &format!("/jobs/{id}/merge"), verdict(judgement)).await;
        assert_eq!(answer.status, status, "{answer:?}");
        let told = answer.json()["reasons"].as_array().unwrap().clone();
        let told: Vec<_> = told.iter().map(|it| it["code"].as_str().unwrap()).collect();
        assert_eq!(told, codes);
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "nothing else can be awaited"
        );
        let pull = world.pull().await.pull;
        assert_eq!(pull.approval.is_some(), status == 202, "{codes:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_order_that_is_not_read_yet_names_the_pause_too() {
    let world = World::new().await;
    let id = in_review(&world).await;
    world.change_source(|source| source.paused = true).await;
    let later = world.post(&format!("/jobs/{id}/merge"), &json!({})).await;
    let reasons = &later.ok(202)["reasons"];
    assert_eq!(reasons[0]["code"], "source_paused");
    assert_eq!(reasons[1]["code"], "not_judged_yet");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_refused() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let conflict = verdict(Judgement::Conflict { sha: sha() });
    let answer = merge_while(&world, &format!("/jobs/{id}/merge"), conflict).await;
    assert_eq!(answer.code(409), "merge_refused");
    assert_eq!(answer.json()["reasons"][0]["code"], "conflict");
}

#[tokio::test(start_paused = true)]
async fn a_pull_request_that_is_closed_meanwhile_is_refused() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let answer = merge_while(&world, &format!("/jobs/{id}/merge"), |pull| {
        pull.phase = PullPhase::Settled {
            state: PullState::Closed,
            sha: sha(),
            at: pull.since,
            by: None,
        };
    })
    .await;
    assert_eq!(answer.code(409), "merge_refused");
    assert_eq!(answer.json()["reasons"][0]["code"], "closed");
}

#[tokio::test(start_paused = true)]
async fn a_merge_that_failed_tells_why() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let base = Base {
        branch: "main".parse().unwrap(),
        sha: "3".repeat(40).parse().unwrap(),
    };
    let action = Action::Pull(PullAction::Merge {
        pull: shop_pull(),
        sha: sha(),
        base,
        method: MergeMethod::Squash,
        title: None,
    });
    let failure = Failure::new(FailureClass::Forbidden, "GitHub says 403");
    let mut effect = Effect::new(action, world.clock.now());
    effect.state = EffectState::Failed {
        at: world.clock.now(),
        attempt: 1,
        failure,
    };
    let key = keys::effect(&keys::pull_pk(&shop_pull()), &effect.id);
    world.put(key, &effect).await;
    let answer = world.post(&format!("/jobs/{id}/merge"), &json!({})).await;
    assert_eq!(answer.code(409), "effect_failed");
    assert!(answer.text.contains("GitHub says 403"), "{answer:?}");
    // A failure from before the approval is no answer to it.
    world.clock.advance(SignedDuration::from_mins(1));
    let answer = world.post(&format!("/jobs/{id}/merge"), &json!({})).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let shown = world
        .get(&format!("/jobs/{id}/effects/{}", effect.id))
        .await;
    assert_eq!(shown.ok(200)["action"], "merge");
}

#[tokio::test(start_paused = true)]
async fn what_can_pass_by_itself_is_for_later_with_its_reasons() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let judgement = Judgement::Wait {
        until: None,
        reasons: vec![Reason::ChecksPending {
            names: vec!["build".to_owned()],
        }],
    };
    let answer = merge_while(&world, &format!("/jobs/{id}:merge"), verdict(judgement)).await;
    let later = answer.ok(202);
    assert_eq!(later["reasons"][0]["code"], "checks_pending");
    assert_eq!(answer.header("location"), format!("/jobs/{id}/why"));
}

#[tokio::test(start_paused = true)]
async fn without_a_dispatcher_the_approval_is_noted() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let post = axum::http::Method::POST;
    let answer = world
        .call(post, &format!("/jobs/{id}:merge"), (&[], ""))
        .await;
    assert_eq!(answer.ok(202)["reasons"][0]["code"], "not_judged_yet");
    let found = world.pull().await;
    let approval = found.pull.approval.unwrap();
    let by = "a caller over HTTP";
    assert_eq!((approval.sha, approval.by.as_str()), (sha(), by));
    let job = world.get(&format!("/jobs/{id}")).await.ok(200);
    let order = &job["orders"][0];
    assert_eq!(
        (order["order"].as_str(), order["by"].as_str()),
        (Some("merge"), Some(by))
    );
    let messages = world.messages().await;
    assert!(matches!(&messages[..], [Work::Pull { .. }]), "{messages:?}");
}

#[tokio::test]
async fn another_head_than_the_one_looked_at_is_not_approved() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let path = format!("/jobs/{id}:merge");
    let answer = world.post(&path, &json!({"sha": "2".repeat(40)})).await;
    assert_eq!(answer.code(409), "head_moved");
    let found = world.pull().await;
    assert_eq!(found.pull.approval, None);
    assert_eq!(answer.json()["reasons"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn how_it_is_to_be_merged_is_kept_with_the_approval() {
    let world = World::new().await;
    let id = in_review(&world).await;
    let style = json!({"merge_method": "squash", "commit_title": " Tidy the shop ", "delete_branch": false});
    let path = format!("/jobs/{id}/merge");
    assert_eq!(world.post(&path, &style).await.status, 202);
    let found = world.pull().await;
    let kept = found.pull.approval.unwrap().style;
    let expected = MergeStyle {
        method: Some(MergeMethod::Squash),
        title: Some("Tidy the shop".to_owned()),
        delete_branch: Some(false),
    };
    assert_eq!(kept, expected);
}

#[tokio::test]
async fn what_a_merge_may_not_be_like_is_refused_by_name() {
    let world = World::new().await;
    let id = in_review(&world).await;
    for (body, code, field) in [
        (json!({"force": true}), "never_forced", "force"),
        (
            json!({"merge_method": "rebase"}),
            "merge_method_not_allowed",
            "merge_method",
        ),
        (
            json!({"merge_method": "octopus"}),
            "bad_field",
            "merge_method",
        ),
        (
            json!({"commit_title": "two\nlines"}),
            "commit_title_odd",
            "commit_title",
        ),
        (
            json!({"commit_title": "x".repeat(201)}),
            "commit_title_odd",
            "commit_title",
        ),
    ] {
        let answer = world.post(&format!("/jobs/{id}/merge"), &body).await;
        assert_eq!(answer.code(422), code, "{body}");
        assert_eq!(answer.json()["field"], field);
    }
    let found = world.pull().await;
    assert_eq!(found.pull.approval, None);
}
