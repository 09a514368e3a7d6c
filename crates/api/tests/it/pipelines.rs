//! Pipelines and requirements over HTTP: switched on, begun, shown, explained, called off and refused.

use axum::http::Method;
use domain::delivery::{self, Failed, Fault, RunStatus};
use domain::ids::{DeliveryId, JobId, PipelineId, RepoName, StreamName};
use domain::job::JobPhase;
use domain::pipeline::{
    AgentState, FoundRequirement, Member, Pipeline, PipelineInput, Requirement, RequirementRef,
    RequirementState, StepPlan, apply,
};
use domain::schedule::{BegunRun, LeftOut, Schedule, ScheduleError, ScheduleSettings};
use domain::token::Scope;
use engine::deliveries::DeliveryOrder;
use engine::ports::Clock;
use engine::work::Work;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::metrics::add_account;
use crate::world::{Answer, World};

const RUNS: &str = "/api/pipelines";

const SOURCE: &str = "/api/sources/acme/shop";

const REQUIREMENT: &str = "/api/requirements/acme/shop/ab12cd";

fn repo() -> RepoName {
    "acme/shop".parse().unwrap()
}

/// A world in which the pipeline of `acme/shop` is on.
async fn world() -> World {
    let world = World::new().await;
    let on = json!({ "pipeline": {} });
    patch(&world, SOURCE, &on).await.ok(200);
    world.messages().await;
    world
}

async fn patch(world: &World, path: &str, changes: &Value) -> Answer {
    let body = changes.to_string();
    world.call(Method::PATCH, path, (&[], &body)).await
}

async fn as_caller(
    world: &World,
    (method, path): (Method, &str),
    (token, body): (&str, &Value),
) -> Answer {
    let body = body.to_string();
    world.call_as(token, (method, path), (&[], &body)).await
}

async fn start(world: &World) -> String {
    let begun = world.post(RUNS, &json!({ "repo": "acme/shop" })).await;
    let id = begun.ok(202)["id"].as_str().unwrap().to_owned();
    assert_eq!(begun.header("location"), format!("{RUNS}/{id}"));
    id
}

/// Plays the dispatcher: saves the run after an input.
async fn play(world: &World, id: &str, input: PipelineInput) -> Pipeline {
    let id: PipelineId = id.parse().unwrap();
    let found = world.backend.must::<Pipeline>(&id).await.unwrap();
    let next = apply(&found.value, &input, world.clock.now());
    world.save(&id, &next).await;
    next
}

fn working(jobs: &[(&str, &JobId)]) -> PipelineInput {
    let member = |(role, job): &(&str, &JobId)| Member {
        role: Some(role.parse().unwrap()),
        stream: StreamName::default(),
        requirement: None,
        job: (*job).clone(),
        state: AgentState::Working,
        note: String::new(),
    };
    PipelineInput::Planned(StepPlan::Run {
        members: jobs.iter().map(member).collect(),
        trees: None,
        range: String::new(),
        wait_minutes: None,
    })
}

/// A requirement that is in this state.
async fn requirement(world: &World, state: RequirementState) {
    let found = FoundRequirement {
        reference: RequirementRef {
            id: "ab12cd".parse().unwrap(),
            path: ".jules/exchange/requirements/search.yml".to_owned(),
            events: vec![".jules/exchange/events/decided/slow.yml".to_owned()],
        },
        title: "Add a search box".to_owned(),
        label: "feats".to_owned(),
        needs_planning: false,
    };
    let new = Requirement::found(&repo(), found, state, world.clock.now());
    let key = (repo(), new.reference.id.clone());
    world.save(&key, &new).await;
}

#[tokio::test]
async fn runs_and_requirements_are_counted() {
    let world = world().await;
    start(&world).await;
    requirement(&world, RequirementState::Ready).await;
    let status = world.get("/status").await.ok(200);
    assert_eq!(status["pipelines"], json!({ "bootstrap/pending": 1 }));
    assert_eq!(status["requirements"], json!({ "ready": 1 }));
    let figures = world.get("/metrics").await.text;
    for told in [
        "gaffer_pipelines{step=\"bootstrap\",state=\"pending\"} 1",
        "gaffer_requirements{state=\"ready\"} 1",
    ] {
        assert!(figures.contains(told), "{figures}");
    }
    // In whatever state, it is counted and listed once; those that are over stand in lists of their own.
    let delivery: DeliveryId = "0123456789ab".parse().unwrap();
    let job = JobId::from_ulid(ulid::Ulid(9));
    let reason = "no disk".to_owned();
    for state in [
        RequirementState::Implementing {
            delivery: delivery.clone(),
        },
        RequirementState::Failed { reason },
        RequirementState::Tidying {
            delivery: delivery.clone(),
            job,
        },
        RequirementState::Merged {
            delivery: delivery.clone(),
        },
        RequirementState::Tidied { delivery },
    ] {
        let word = state.word();
        requirement(&world, state).await;
        world.clock.advance(SignedDuration::from_secs(2));
        let status = world.get("/status").await.ok(200);
        assert_eq!(status["requirements"], json!({ word: 1 }));
        let listed = world.get("/api/requirements?repo=acme/shop").await.ok(200);
        let listed = listed["requirements"].as_array().unwrap().clone();
        let states: Vec<_> = listed.iter().map(|it| it["state"].as_str()).collect();
        assert_eq!(states, [Some(word)]);
        let exported = world.backend.store.requirements_of(&repo()).await.unwrap();
        assert_eq!(exported.len(), 1, "{word}");
    }
}

#[tokio::test]
async fn a_labels_run_has_one_step() {
    let world = world().await;
    let wanted = json!({ "repo": "acme/shop", "from": "labels" });
    let begun = world.post(RUNS, &wanted).await.ok(202);
    assert_eq!(begun["steps"].as_array().unwrap().len(), 1);
    assert_eq!(begun["steps"][0]["step"], "labels");
}

#[tokio::test]
async fn a_pipeline_is_switched_on_changed_and_off_and_only_by_people() {
    let world = World::new().await;
    let shown = async || world.get(SOURCE).await.ok(200)["pipeline"].clone();
    assert_eq!(shown().await, Value::Null);
    let on = patch(
        &world,
        SOURCE,
        &json!({ "pipeline": { "exchange": "auto" } }),
    )
    .await;
    let rules = json!({ "exchange": "auto", "implement": "human", "worker": "jules" });
    assert_eq!(on.ok(200)["pipeline"], rules);
    patch(&world, SOURCE, &json!({ "paused": false }))
        .await
        .ok(200);
    assert_eq!(shown().await, rules, "what is not given stays");
    let worker = json!({ "pipeline": { "worker": "agents" } });
    let changed = patch(&world, SOURCE, &worker).await.ok(200);
    assert_eq!(changed["pipeline"]["worker"], "agents");
    assert_eq!(changed["pipeline"]["exchange"], "auto");
    let off = json!({ "pipeline": null });
    let token = world.agent_token(Scope::Write).await;
    let refused = as_caller(&world, (Method::PATCH, SOURCE), (&token, &off)).await;
    assert_eq!(refused.code(403), "people_only");
    patch(&world, SOURCE, &off).await.ok(200);
    assert_eq!(shown().await, Value::Null);
}

#[tokio::test]
async fn odd_settings_of_a_pipeline_are_refused_by_their_field() {
    let world = World::new().await;
    let same = json!({ "pipeline": { "worker": "main" } });
    let refused = patch(&world, SOURCE, &same).await;
    assert_eq!(refused.code(400), "odd_settings");
    assert_eq!(refused.json()["field"], "pipeline");
    // This source names no branch.
    let other = "/api/sources/acme/other";
    let refused = patch(&world, other, &json!({ "pipeline": {} })).await;
    assert_eq!(refused.code(400), "odd_settings");
    assert_eq!(refused.json()["field"], "pipeline");
    for (wrong, field) in [
        (json!(["auto"]), "pipeline"),
        (json!({ "exchange": "everybody" }), "pipeline.exchange"),
        (json!({ "colour": "red" }), "colour"),
    ] {
        let refused = patch(&world, SOURCE, &json!({ "pipeline": wrong })).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert_eq!(refused.json()["field"], field);
    }
    assert!(world.get(SOURCE).await.ok(200).get("pipeline").is_none());
}

#[tokio::test]
async fn a_run_is_begun_once_listed_shown_and_called_off() {
    let world = world().await;
    let id = start(&world).await;
    let asked = id.parse::<PipelineId>().unwrap();
    assert_eq!(world.messages().await, [Work::Pipeline { id: asked }]);
    let again = world.post(RUNS, &json!({ "repo": "acme/shop" })).await;
    assert_eq!(again.code(409), "already_running");
    assert_eq!(again.json()["existing"], id.as_str());
    let shown = world.get(&format!("{RUNS}/{id}")).await.ok(200);
    assert_eq!(shown["state"], "pending");
    let steps = shown["steps"].as_array().unwrap().iter();
    let names: Vec<&Value> = steps.map(|step| &step["step"]).collect();
    let all = [
        "bootstrap",
        "narrator",
        "observers",
        "decider",
        "planner",
        "requirements",
    ];
    assert_eq!(names, all);
    // The agent of the source may call it off, and begin another one.
    let token = world.agent_token(Scope::Write).await;
    world.has_agent().await;
    let at = format!("{RUNS}/{id}/cancel");
    let off = as_caller(&world, (Method::POST, &at), (&token, &json!({}))).await;
    let off = off.ok(200);
    assert_eq!(off["state"], "failed");
    assert_eq!(off["steps"][0]["reason"], "agent zai cancelled the run");
    let twice = world.post(&at, &json!({})).await;
    assert_eq!(twice.code(409), "ended");
    let body = json!({ "repo": "acme/shop", "layer": "o", "role": "qa" });
    let only = as_caller(&world, (Method::POST, RUNS), (&token, &body)).await;
    let only = only.ok(202);
    assert_eq!(only["layer"], "observers");
    assert_eq!(only["role"], "qa");
    assert_eq!(only["steps"].as_array().unwrap().len(), 1);
    let listed = world.get(&format!("{RUNS}?repo=acme/shop")).await.ok(200);
    let ids: Vec<&Value> = listed["pipelines"].as_array().unwrap().iter().collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0]["id"], only["id"], "the newest first");
    assert_eq!(ids[1]["id"], id.as_str());
    let one = world.get(&format!("{RUNS}?repo=acme/shop&limit=1")).await;
    assert_eq!(one.ok(200)["pipelines"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_run_is_refused_and_names_what_was_meant() {
    let world = world().await;
    let refused = async |body: Value| world.post(RUNS, &body).await;
    let off = refused(json!({ "repo": "acme/other" })).await;
    assert_eq!(off.code(409), "pipeline_off");
    let missing = refused(json!({ "repo": "acme/none" })).await;
    assert_eq!(missing.code(404), "no_such_source");
    let of_shop = |field: &str, value: &str| json!({ "repo": "acme/shop", field: value });
    let unknown = refused(of_shop("layer", "observatory")).await;
    assert_eq!(unknown.code(400), "unknown_layer");
    assert_eq!(unknown.json()["field"], "layer");
    assert!(unknown.text.contains("`observers`?"), "{unknown:?}");
    let step = refused(of_shop("from", "planner")).await;
    assert_eq!(step.code(400), "unknown_step");
    assert_eq!(step.json()["field"], "from");
    assert!(step.text.contains("no run begins with `planner`"));
    let step = refused(of_shop("from", "narator")).await;
    assert!(step.text.contains("(did you mean `narrator`?)"), "{step:?}");
    let weaver = refused(of_shop("layer", "integrator")).await;
    assert_eq!(weaver.code(400), "unknown_layer");
    let both = json!({ "repo": "acme/shop", "from": "decider", "layer": "decider" });
    assert_eq!(refused(both).await.code(422), "from_and_layer");
    let alone = refused(of_shop("role", "qa")).await;
    assert_eq!(alone.code(422), "missing_field");
    for field in ["clean", "clean_requirement"] {
        let both = json!({ "repo": "acme/shop", field: "mock-1", "layer": "decider" });
        assert_eq!(refused(both).await.code(422), "clean_alone", "{field}");
    }
    let twice = json!({ "repo": "acme/shop", "clean": "mock-1", "clean_requirement": "a.yml" });
    assert_eq!(refused(twice).await.code(422), "clean_alone");
    let blank = refused(of_shop("clean_requirement", " ")).await;
    assert_eq!(blank.json()["field"], "clean_requirement");
    let kept = json!({ "repo": "acme/shop", "layer": "planner", "keep_files": true });
    assert_eq!(refused(kept).await.json()["field"], "keep_files");
    let single = json!({ "repo": "acme/shop", "layer": "narrator", "role": "qa" });
    assert_eq!(refused(single).await.json()["field"], "role");
    let nothing = refused(of_shop("layer", "implementer")).await;
    assert_eq!(nothing.json()["field"], "requirement");
    let blank = json!({ "repo": "acme/shop", "layer": "planner", "requirement": "  " });
    assert_eq!(refused(blank).await.json()["field"], "requirement");
    assert_eq!(world.get(RUNS).await.code(400), "bad_parameter");
    assert_eq!(
        world.get(&format!("{RUNS}/none")).await.code(404),
        "no_such_pipeline"
    );
    assert_eq!(world.messages().await, []);
}

#[tokio::test]
async fn why_joins_the_step_with_the_reasons_of_its_jobs() {
    let world = world().await;
    let id = start(&world).await;
    let at = format!("{RUNS}/{id}/why");
    let why = world.get(&at).await.ok(200);
    assert_eq!(why["because"][0]["code"], "pending");
    let second = &why["steps"][1]["sentence"];
    assert_eq!(second, "It waits for the step bootstrap.");
    play(
        &world,
        &id,
        PipelineInput::Planned(StepPlan::Skip("Nothing to do".to_owned())),
    )
    .await;
    play(
        &world,
        &id,
        PipelineInput::Planned(StepPlan::Fail("No files".to_owned())),
    )
    .await;
    let queued = world.job("acme/shop").await;
    let unborn: JobId = "01k0000000000000000000000z".parse().unwrap();
    play(
        &world,
        &id,
        working(&[("qa", &queued), ("taxonomy", &unborn)]),
    )
    .await;
    let why = world.get(&at).await.ok(200);
    assert_eq!(why["state"], "running");
    assert_eq!(
        why["steps"][0]["sentence"],
        "It was skipped: Nothing to do."
    );
    assert_eq!(why["steps"][1]["sentence"], "It failed: No files.");
    assert_eq!(why["because"][0]["code"], "running");
    let own = world.get(&format!("/jobs/{queued}/why")).await.ok(200);
    assert_eq!(why["because"][1]["code"], own["because"][0]["code"]);
    let told = why["because"][1]["sentence"].as_str().unwrap();
    let reason = own["because"][0]["sentence"].as_str().unwrap();
    let next = "2026-03-01T12:00:05Z: Gaffer reads it again.";
    assert_eq!(told, format!("observers qa, job {queued}: {reason} {next}"));
    let none = &why["because"][2]["sentence"];
    assert_eq!(none, "observers taxonomy has no job yet.");
    // A pause comes first, and once.
    patch(&world, SOURCE, &json!({ "paused": true }))
        .await
        .ok(200);
    let why = world.get(&at).await.ok(200);
    let because = why["because"].as_array().unwrap();
    assert_eq!(because[0]["code"], "source_paused");
    assert_eq!(because[0]["sentence"], "Source acme/shop is paused.");
    let paused = because.iter().filter(|it| it["code"] == "source_paused");
    assert_eq!(paused.count(), 1);
}

#[tokio::test]
async fn one_run_names_the_sessions_of_its_agents() {
    let world = world().await;
    let id = start(&world).await;
    let watched = world.watched(|_| {}).await;
    play(&world, &id, working(&[("qa", &watched)])).await;
    let shown = world.get(&format!("{RUNS}/{id}")).await.ok(200);
    let session = &shown["steps"][0]["members"][0]["session_id"];
    let job = world.get(&format!("/jobs/{watched}")).await.ok(200);
    assert!(session.is_string(), "{shown}");
    assert_eq!(*session, job["session_id"]);
}

#[tokio::test]
async fn an_agent_without_a_job_names_none_and_events_without_room_are_told() {
    let world = world().await;
    let id = start(&world).await;
    let queued = world.job("acme/shop").await;
    let unborn: JobId = "01k0000000000000000000000z".parse().unwrap();
    let mut input = working(&[("qa", &unborn), ("taxonomy", &queued)]);
    let note = "2 pending events are left for the next decider";
    if let PipelineInput::Planned(StepPlan::Run { members, .. }) = &mut input {
        let reason = "no prompt".to_owned();
        members[0].state = AgentState::Refused { reason };
        members[1].note = note.to_owned();
    }
    world.clock.advance(SignedDuration::from_millis(250));
    play(&world, &id, input).await;
    let at = format!("{RUNS}/{id}");
    let shown = world.get(&at).await.ok(200)["steps"][0]["members"].clone();
    let refused = json!({ "role": "qa", "state": "failed", "reason": "no prompt" });
    assert_eq!(shown[0], refused);
    assert_eq!(shown[1]["job_id"], queued.as_str());
    assert_eq!(shown[1]["note"], note);
    let why = world.get(&format!("{at}/why")).await.ok(200);
    let told = why["steps"][0]["sentence"].as_str().unwrap();
    assert!(
        told.ends_with(&format!(" bootstrap taxonomy: {note}.")),
        "{told}"
    );
    // Both are times to the second: `2026-03-01T12:00:00Z`.
    for sentence in [told, why["because"][0]["sentence"].as_str().unwrap()] {
        let (_, until) = sentence.split_once("until about ").unwrap();
        assert_eq!(until.find('Z'), Some(19), "{sentence}");
    }
}

#[tokio::test]
async fn a_requirement_is_started_once_and_shows_its_delivery() {
    let world = world().await;
    requirement(&world, RequirementState::Ready).await;
    let listed = world.get("/api/requirements?repo=acme/shop").await.ok(200);
    assert_eq!(listed["requirements"][0]["state"], "ready");
    let takes = json!(["start", "remove"]);
    assert_eq!(listed["requirements"][0]["takes"], takes);
    assert_eq!(
        listed["requirements"][0],
        world.get(REQUIREMENT).await.ok(200)
    );
    let begin = format!("{REQUIREMENT}/start");
    let begun = world
        .post(&begin, &json!({ "keep_files": true }))
        .await
        .ok(200);
    assert_eq!(begun["state"], "implementing");
    assert_eq!(begun["keep_files"], true);
    assert_eq!(begun["delivery"]["phase"], Value::Null);
    let again = world.post(&begin, &json!({})).await;
    assert_eq!(again.code(409), "taken");
    // Its delivery begins, and comes to its review.
    let id = begun["delivery"]["id"].as_str().unwrap();
    let order = DeliveryOrder {
        repo: repo(),
        issue: None,
        requirement: None,
        again: false,
        text: domain::delivery::IssueText {
            summary: "Add a search box".to_owned(),
            description: None,
            acceptance_criteria: Vec::new(),
        },
        refs: Vec::new(),
        priority: None,
        parent: None,
        id: Some(id.parse().unwrap()),
        by: domain::delivery::Actor::System,
    };
    let made = world.backend.create_delivery(&order).await.unwrap();
    let mut delivery = made.unwrap();
    let shown = world.get(REQUIREMENT).await.ok(200);
    assert_eq!(shown["state"], "implementing");
    assert_eq!(shown["delivery"]["phase"], delivery.phase.word());
    assert_eq!(shown["reason"], Value::Null);
    delivery.phase = delivery::Phase::Review;
    world.save(&delivery.id, &delivery).await;
    assert_eq!(world.get(REQUIREMENT).await.ok(200)["state"], "in_review");
    // It fails: the requirement waits with it, and takes no start.
    (delivery.phase, delivery.run_status) = (delivery::Phase::Implement, RunStatus::Failed);
    delivery.error = Some(Failed {
        code: Fault::PullClosed,
        text: "it was closed".to_owned(),
    });
    world.save(&delivery.id, &delivery).await;
    let stopped = world.get(REQUIREMENT).await.ok(200);
    assert_eq!(stopped["state"], "implementing");
    let why = format!(
        "delivery {id} failed at implement, and waits to be tried again or given up: it was closed"
    );
    assert_eq!(stopped["reason"], why);
    assert_eq!(world.post(&begin, &json!({})).await.code(409), "taken");
}

#[tokio::test]
async fn a_requirement_that_cannot_be_started_is_refused_with_a_code() {
    let world = world().await;
    let begin = format!("{REQUIREMENT}/start");
    let refused = async || world.post(&begin, &json!({})).await;
    let missing = refused().await;
    assert_eq!(missing.code(404), "no_such_requirement");
    let told = "there is no requirement `ab12cd` of `acme/shop`";
    assert_eq!(missing.json()["detail"], told);
    let job: JobId = "01k0000000000000000000000z".parse().unwrap();
    requirement(&world, RequirementState::Planning { job }).await;
    assert_eq!(refused().await.code(409), "not_ready");
    let delivery = "0123456789ab".parse().unwrap();
    requirement(&world, RequirementState::Merged { delivery }).await;
    assert_eq!(refused().await.code(409), "merged");
    let mut tried = 0;
    requirement(&world, RequirementState::Ready).await;
    let code = loop {
        let answer = refused().await;
        if answer.status != 200 {
            break answer.code(409);
        }
        tried += 1;
        fail(&world).await;
    };
    assert_eq!((tried, code.as_str()), (3, "attempts_used_up"));
    let shown = world.get(REQUIREMENT).await.ok(200);
    assert_eq!(shown["takes"], json!(["remove"]));
    patch(&world, SOURCE, &json!({ "pipeline": null }))
        .await
        .ok(200);
    assert_eq!(refused().await.code(409), "pipeline_off");
    let elsewhere = world.get("/api/requirements/acme/none/ab12cd").await;
    assert_eq!(elsewhere.code(404), "no_such_requirement");
}

/// The delivery of the requirement ends without a merge.
async fn fail(world: &World) {
    let key = (repo(), "ab12cd".parse().unwrap());
    let found = world.backend.must::<Requirement>(&key).await.unwrap();
    let outcome = domain::pipeline::RequirementOutcome::NotMerged {
        reason: "it was closed".to_owned(),
    };
    let next = found.value.delivered(&outcome, world.clock.now());
    assert_eq!(next.state.word(), "failed");
    world.save(&key, &next).await;
}

#[tokio::test]
async fn where_people_decide_an_agent_has_no_requirement_implemented_or_removed() {
    let world = world().await;
    requirement(&world, RequirementState::Ready).await;
    let token = world.agent_token(Scope::Write).await;
    world.has_agent().await;
    let path = ".jules/exchange/requirements/search.yml";
    let layer = json!({ "repo": "acme/shop", "layer": "implementer", "requirement": path });
    let begin = format!("{REQUIREMENT}/start");
    let remove = json!({ "repo": "acme/shop", "clean_requirement": path });
    let orders = [
        (begin.as_str(), json!({})),
        (RUNS, layer.clone()),
        (RUNS, remove),
    ];
    for (at, body) in &orders {
        let refused = as_caller(&world, (Method::POST, at), (&token, body)).await;
        assert_eq!(refused.code(403), "people_only", "{at}");
        assert!(refused.text.contains("implement = human"), "{refused:?}");
    }
    assert_eq!(world.get(REQUIREMENT).await.ok(200)["state"], "ready");
    let mut trial = layer;
    trial["mock"] = "mock-1".into();
    let tried = as_caller(&world, (Method::POST, RUNS), (&token, &trial)).await;
    let id = tried.ok(202)["id"].as_str().unwrap().to_owned();
    let cancel = format!("{RUNS}/{id}/cancel");
    world.post(&cancel, &json!({})).await.ok(200);
    let auto = json!({ "pipeline": { "implement": "auto" } });
    patch(&world, SOURCE, &auto).await.ok(200);
    let (at, body) = &orders[0];
    let begun = as_caller(&world, (Method::POST, at), (&token, body)).await;
    assert_eq!(begun.ok(200)["state"], "implementing");
}

#[tokio::test]
async fn a_source_whose_pipeline_is_under_way_is_not_removed() {
    let world = world().await;
    let remove = async || world.call(Method::DELETE, SOURCE, (&[], "")).await;
    let id = start(&world).await;
    let refused = remove().await;
    assert_eq!(refused.code(409), "in_use");
    assert_eq!(refused.json()["existing"], id.as_str());
    let cancel = format!("{RUNS}/{id}/cancel");
    world.post(&cancel, &json!({})).await.ok(200);
    // Neither the delivery nor the job of it has begun yet.
    let delivery: DeliveryId = "0123456789ab".parse().unwrap();
    let job: JobId = "01k0000000000000000000000z".parse().unwrap();
    for state in [
        RequirementState::Implementing {
            delivery: delivery.clone(),
        },
        RequirementState::Tidying { delivery, job },
    ] {
        requirement(&world, state).await;
        let refused = remove().await;
        assert_eq!(refused.code(409), "in_use");
        assert_eq!(refused.json()["existing"], "ab12cd");
    }
    requirement(&world, RequirementState::Ready).await;
    remove().await.ok(200);
}

#[tokio::test]
async fn a_source_with_a_pull_request_of_our_own_is_not_removed() {
    let world = world().await;
    add_account(&world).await;
    let job = world.job("acme/shop").await;
    world
        .change(&job, |job| {
            job.phase = JobPhase::Proposed {
                since: job.created_at,
                pull: None,
                head: None,
            };
        })
        .await;
    let refused = world.call(Method::DELETE, SOURCE, (&[], "")).await;
    assert_eq!(refused.code(409), "in_use");
    assert_eq!(refused.json()["existing"], job.to_string());
}

#[tokio::test]
async fn the_list_of_runs_says_when_the_next_one_begins_by_itself() {
    let list = "/api/pipelines?repo=acme/shop";
    let off = World::new().await;
    assert_eq!(off.get(list).await.ok(200).get("schedule"), None);
    for none in ["pipelines", "requirements"] {
        let missing = off.get(&format!("/api/{none}?repo=acme/none")).await;
        assert_eq!(missing.code(404), "no_such_source");
    }
    let world = world().await;
    let now = world.clock.now();
    let unread = world.get(list).await.ok(200)["schedule"].clone();
    let bare = json!({
        "clock": "gaffer", "is_read": false, "cron": [], "timezone": "UTC", "next_look": now,
    });
    assert_eq!(unread, bare);
    let settings = ScheduleSettings {
        cron: vec!["0 20 * * *".to_owned()],
        timezone: Some("Europe/Berlin".to_owned()),
        by_actions: true,
    };
    let run: PipelineId = "01j00000000000000000000042".parse().unwrap();
    let (secret, reason) = ("ghp_".to_owned() + &"a".repeat(36), "paused".to_owned());
    let known = Schedule {
        tip: None,
        settings: Some(settings),
        dealt_to: Some(now),
        next: Some(now),
        begun: Some(BegunRun {
            time: now,
            at: now,
            run,
        }),
        left_out: Some(LeftOut { time: now, reason }),
        error: Some(ScheduleError {
            since: now,
            reason: format!("no {secret}"),
            told: None,
        }),
        due: None,
    };
    world.save(&repo(), &known).await;
    let shown = world.get(list).await;
    let shown = &shown.ok(200)["schedule"];
    assert!(!shown.to_string().contains(&secret), "{shown}");
    assert!(
        shown["last_error"]["reason"]
            .as_str()
            .unwrap()
            .starts_with("no ")
    );
    assert_eq!(shown["last_error"]["since"], json!(now));
    for (field, value) in [
        ("clock", json!("actions")),
        ("is_read", json!(true)),
        ("cron", json!(["0 20 * * *"])),
        ("timezone", json!("Europe/Berlin")),
        ("next_at", json!(now)),
        (
            "last_run",
            json!({ "pipeline_id": "01j00000000000000000000042", "time": now, "begun_at": now }),
        ),
        ("left_out", json!({ "time": now, "reason": "paused" })),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
}
