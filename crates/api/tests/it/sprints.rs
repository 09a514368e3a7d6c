//! Sprints over HTTP: planned, started, shown, explained, ordered and refused.

use axum::http::Method;
use domain::governor::Slots;
use domain::ids::{PersonaName, RepoName, SprintNumber};
use domain::job::{self, Job};
use domain::sprint::{
    Against, Clash, Landing, Offer, Report, Sights, Sprint, SprintInput, SprintSight, Way,
    WeaveVerdict, Work, Woven, apply,
};
use domain::token::Scope;
use engine::keys;
use engine::ports::Clock;
use engine::readings::ReadPersonas;
use engine::work::Work as Message;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::metrics::add_account;
use crate::world::{Answer, SHA, World};

const SPRINTS: &str = "/api/sprints/acme/shop";

/// What is wrong with the file of one more persona.
const FAULT: &str = ".jules/personas/odd/prompt.md:1: there is no `id`: add `id: odd`";

fn repo() -> RepoName {
    "acme/shop".parse().unwrap()
}

fn names(names: &[&str]) -> Vec<PersonaName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// A world whose personas the dispatcher has read at this moment.
async fn world() -> World {
    let world = World::new().await;
    add_account(&world).await;
    read(&world, &["art", "curator", "refactor"], None).await;
    world
}

/// Plays the dispatcher: what the branch of the repository has.
async fn read(world: &World, batch: &[&str], failure: Option<&str>) {
    read_of(world, (batch, None), failure).await;
}

/// The same where a commit of another hand is on the branch of a sprint.
async fn read_of(
    world: &World,
    (batch, taken): (&[&str], Option<SprintNumber>),
    failure: Option<&str>,
) {
    let read = ReadPersonas {
        read_at: world.clock.now(),
        commit: Some(SHA.parse().unwrap()),
        batch: names(batch),
        others: names(&["weaver"]),
        faults: vec![FAULT.to_owned()],
        taken,
        failure: failure.map(str::to_owned),
    };
    world.put(keys::personas_read(&repo()), &read).await;
}

/// Plays the dispatcher: saves the sprint after an input, with the report if it is one.
async fn play(world: &World, input: SprintInput) -> Sprint {
    let found = world.backend.must_sprint(&repo(), None).await.unwrap();
    let next = apply(&found.value, &input, world.clock.now());
    if let SprintInput::Woven(report) = &input {
        let key = keys::sprint_weave(&next.repo, next.number, report.weave);
        world.put(key, report.as_ref()).await;
    }
    let id = (next.repo.clone(), next.number);
    world.save(&id, &next).await;
    next
}

async fn ready(world: &World, sights: &[(&str, u64)]) -> SprintInput {
    let sprint = world
        .backend
        .must_sprint(&repo(), None)
        .await
        .unwrap()
        .value;
    let members = sights.iter().map(|(persona, pull)| {
        let work = Work::Ready(Offer {
            pull: *pull,
            head: SHA.parse().unwrap(),
        });
        let sight = SprintSight {
            work,
            rested_at: None,
            is_red: false,
            outbox: None,
        };
        let member = sprint.member(&persona.parse().unwrap()).unwrap();
        (member.job.clone(), sight)
    });
    SprintInput::Seen(Sights {
        members: members.collect(),
        landing: None,
        ..Sights::default()
    })
}

/// The first weave: 101 is in, 102 conflicts with it.
fn woven() -> SprintInput {
    let clash = Clash {
        path: "src/cart.rs".to_owned(),
        words: "lines 10–14".to_owned(),
        is_lines: true,
        base: None,
        ours: None,
        theirs: None,
    };
    let is_in = WeaveVerdict::In {
        head: SHA.parse().unwrap(),
        way: Way::Taken,
        files: 3,
    };
    let is_out = WeaveVerdict::Out {
        head: SHA.parse().unwrap(),
        against: Against::Members(vec![101]),
        clashes: vec![clash],
        others: 1,
    };
    SprintInput::Woven(Box::new(Report {
        held: Vec::new(),
        weave: 1,
        woven: Some(Woven {
            weave: 1,
            base: SHA.parse().unwrap(),
            commit: SHA.parse().unwrap(),
            pull: "acme/shop#107".parse().unwrap(),
        }),
        verdicts: vec![(101, is_in), (102, is_out)],
    }))
}

async fn start(world: &World, personas: &[&str]) -> Value {
    let wanted = json!({ "number": 50, "personas": personas });
    let begun = world.post(SPRINTS, &wanted).await;
    assert_eq!(begun.header("location"), format!("{SPRINTS}/50"));
    begun.ok(202)
}

#[tokio::test]
async fn a_dry_run_tells_the_plan_and_creates_nothing() {
    let world = world().await;
    let plan = world.post(SPRINTS, &json!({ "dry_run": true })).await;
    let plan = plan.ok(200);
    assert_eq!(plan["number"], 1);
    assert_eq!(plan["members"], json!(["art", "curator", "refactor"]));
    assert_eq!(plan["branch"], "jules-sprint-1-integration");
    assert_eq!(plan["faults"].as_array().unwrap().len(), 1);
    let told = ["sessions", "begin_now", "wait_for_slots", "wait_for_quota"];
    let told = told.map(|field| plan[field].as_u64().unwrap());
    assert_eq!(told[0], 3);
    assert_eq!(told[1] + told[2] + told[3], 3, "{plan}");
    let listed = world.get(SPRINTS).await.ok(200);
    assert_eq!(listed, json!({ "sprints": [] }));
    let asked = world.messages().await;
    let number = SprintNumber::FIRST;
    let repo = repo();
    assert_eq!(asked, [Message::Personas { repo, number }]);
}

#[tokio::test]
async fn a_plan_counts_no_slot_of_a_job_that_is_over() {
    let world = world().await;
    let now = world.clock.now();
    let over = world.watched(|_| {}).await;
    let leave = |job: &mut Job| *job = job::leave(job, now).aggregate;
    world.change(&over, leave).await;
    let at_work = world.job("acme/shop").await;
    let begin = |job: &mut Job| *job = job::start(job, now).unwrap().aggregate;
    world.change(&at_work, begin).await;
    let mut slots = Slots::free("default".parse().unwrap());
    slots.taken = [over, at_work].map(|id| (id, now)).into();
    world.put(keys::slots(&slots.account), &slots).await;
    let plan = world.post(SPRINTS, &json!({ "dry_run": true })).await;
    let plan = plan.ok(200);
    let told = (&plan["begin_now"], &plan["wait_for_slots"]);
    assert_eq!(told, (&json!(2), &json!(1)), "{plan}");
}

#[tokio::test]
async fn a_plan_names_and_counts_the_members_as_the_start_does() {
    let world = world().await;
    let twice = json!(["refactor", "curator", "refactor"]);
    let plan = async |number: u32| {
        let wanted = json!({ "dry_run": true, "number": number, "personas": twice });
        world.post(SPRINTS, &wanted).await.ok(200)
    };
    world
        .change_source(|source| {
            source.sprints.parallel = "every=2".parse().unwrap();
        })
        .await;
    for (number, later) in [(1, 1), (2, 0)] {
        let plan = plan(number).await;
        assert_eq!(plan["members"], json!(["curator", "refactor"]));
        assert_eq!(
            (&plan["sessions"], &plan["begin_later"]),
            (&json!(2), &json!(later))
        );
        let told = ["begin_now", "wait_for_slots", "wait_for_quota"];
        let told = told.map(|field| plan[field].as_u64().unwrap());
        assert_eq!(told.iter().sum::<u64>(), 2 - later, "{plan}");
    }
    let begun = world.post(SPRINTS, &json!({ "number": 1, "personas": twice }));
    let begun = begun.await.ok(202);
    assert_eq!(begun["members"][1]["state"], "pending");
}

#[tokio::test]
async fn a_sprint_is_started_once_listed_shown_and_aborted() {
    let world = world().await;
    let begun = start(&world, &["refactor", "curator"]).await;
    assert_eq!(begun["state"], "working");
    assert_eq!(begun["ticks"], 1);
    let members = begun["members"].as_array().unwrap().iter();
    let members: Vec<&Value> = members.map(|it| &it["persona"]).collect();
    assert_eq!(members, ["curator", "refactor"]);
    let number: SprintNumber = "50".parse().unwrap();
    let sent = world.messages().await;
    assert!(
        sent.contains(&Message::Sprint {
            repo: repo(),
            number
        }),
        "{sent:?}"
    );
    let again = world.post(SPRINTS, &json!({})).await;
    assert_eq!(again.code(409), "already_running");
    assert_eq!(again.json()["existing"], "50");
    let advised = |told: &Answer| {
        let problem = told.json();
        let next = problem["next"].as_array().unwrap().iter();
        let next = next.map(|it| format!("{} {}", it["advice"], it["about"]));
        next.collect::<Vec<_>>().join(", ").replace('"', "")
    };
    let instead = "why_sprint acme/shop, abort_sprint acme/shop";
    assert_eq!(advised(&again), instead);
    let dry = world.post(SPRINTS, &json!({ "dry_run": true })).await;
    assert_eq!(dry.code(409), "already_running");
    for named in ["50", "latest"] {
        let shown = world.get(&format!("{SPRINTS}/{named}")).await.ok(200);
        assert_eq!(shown["number"], 50);
    }
    let off = world.post(&format!("{SPRINTS}/50:abort"), &json!({})).await;
    let off = off.ok(200);
    assert_eq!(off["state"], "aborted");
    assert_eq!(off["is_over"], true);
    let member = &off["members"][0];
    assert_eq!(
        (&member["state"], &off["figures"]["skipped"]),
        (&json!("left_out"), &json!(2))
    );
    assert_eq!(member["reason"], "it was not through");
    let why = world.get(&format!("{SPRINTS}/50/why")).await.ok(200);
    assert_eq!(why["members"][0]["state"], "left_out");
    let twice = world
        .post(&format!("{SPRINTS}/latest/abort"), &json!({}))
        .await;
    assert_eq!(twice.code(409), "ended");
    let tick = world.post(&format!("{SPRINTS}/50:tick"), &json!({})).await;
    assert_eq!(tick.code(409), "ended");
    let next = world.post(SPRINTS, &json!({})).await.ok(202);
    assert_eq!(next["number"], 51, "the one after the last");
    let listed = world.get(SPRINTS).await.ok(200);
    let listed = listed["sprints"].as_array().unwrap().iter();
    let listed: Vec<&Value> = listed.map(|it| &it["number"]).collect();
    assert_eq!(listed, [51, 50], "the newest first");
    let one = world.get(&format!("{SPRINTS}?limit=1")).await.ok(200);
    assert_eq!(one["sprints"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn mail_to_the_team_reaches_the_members_of_a_first_sprint() {
    let world = world().await;
    let letter = json!({ "from": "curator", "to": "all@team", "subject": "Hi", "body": "x" });
    let mail = "/api/mail/acme/shop";
    let alone = world.post(mail, &letter).await;
    assert_eq!(alone.code(422), "no_team");
    assert_eq!(alone.json()["field"], "to");
    start(&world, &["art", "curator", "refactor"]).await;
    let sent = world.post(mail, &letter).await.ok(201);
    let sent = sent["sent"].as_array().unwrap().iter();
    let to: Vec<_> = sent.map(|it| it["to_persona"].as_str().unwrap()).collect();
    assert_eq!(to, ["art", "refactor"]);
    let off = world.post(&format!("{SPRINTS}/50:abort"), &json!({})).await;
    off.ok(200);
    let after = world.post(mail, &letter).await.ok(201);
    assert_eq!(after["sent"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_start_under_a_name_is_carried_out_once_also_when_its_sprint_is_over() {
    let world = world().await;
    let wanted = json!({ "personas": ["curator"] });
    let begun = world.post_named(SPRINTS, &wanted, "k1").await.ok(202);
    assert_eq!(begun["number"], 1);
    let again = world.post_named(SPRINTS, &wanted, "k1").await.ok(202);
    assert_eq!(again["number"], 1);
    let off = world.post(&format!("{SPRINTS}/1:abort"), &json!({})).await;
    off.ok(200);
    let over = world.post_named(SPRINTS, &wanted, "k1").await.ok(202);
    assert_eq!(
        (&over["number"], &over["state"]),
        (&json!(1), &json!("aborted"))
    );
    let other = world.post_named(SPRINTS, &json!({}), "k1").await;
    assert_eq!(other.code(422), "idempotency_key_reused");
    assert_eq!(other.json()["field"], "idempotency-key");
    let next = world.post_named(SPRINTS, &wanted, "k2").await.ok(202);
    assert_eq!(next["number"], 2);
}

#[tokio::test]
async fn a_start_names_the_files_of_personas_that_it_leaves_out() {
    let world = world().await;
    let wanted = json!({ "personas": ["curator"] });
    for told in ["at first", "when it is asked again"] {
        let begun = world.post_named(SPRINTS, &wanted, "k1").await.ok(202);
        assert_eq!(begun["faults"], json!([FAULT]), "{told}");
    }
    let shown = world.get(&format!("{SPRINTS}/latest")).await.ok(200);
    assert_eq!(shown["faults"], Value::Null);
    let off = world.post(&format!("{SPRINTS}/1:abort"), &json!({})).await;
    off.ok(200);
    let named = world.post(SPRINTS, &json!({ "personas": ["odd"] })).await;
    assert_eq!(named.code(422), "faulty_persona");
    assert_eq!(named.json()["field"], "personas");
    assert!(named.text.contains(FAULT), "{named:?}");
    read(&world, &[], None).await;
    let none = world.post(SPRINTS, &json!({})).await;
    assert_eq!(none.code(409), "no_personas");
    assert!(none.text.contains(FAULT), "{none:?}");
}

#[tokio::test]
async fn what_came_of_a_weave_is_shown_and_explained() {
    let world = world().await;
    start(&world, &["curator", "refactor"]).await;
    let why = world.get(&format!("{SPRINTS}/latest/why")).await.ok(200);
    assert_eq!(why["because"][0]["code"], "working");
    assert!(why["members"][0]["until"].is_string(), "{why}");
    play(
        &world,
        ready(&world, &[("curator", 101), ("refactor", 102)]).await,
    )
    .await;
    play(&world, woven()).await;
    let shown = world.get(&format!("{SPRINTS}/50")).await.ok(200);
    assert_eq!(shown["state"], "fixing");
    assert_eq!(shown["members"][0]["way"], "taken");
    assert_eq!(shown["members"][1]["pull"], "acme/shop#102");
    let figures = json!({
        "members": 2, "integrated": 1, "merged": 0, "nothing": 0, "skipped": 0, "conflicts": 1, "resolved": 0,
        "conflict_rate": 50, "ticks_to_resolution": 0, "tasks": 0,
    });
    assert_eq!(shown["figures"], figures);
    assert_eq!(shown["woven"]["pull"], "acme/shop#107");
    let out = &shown["reports"][0]["verdicts"][1];
    assert_eq!(out["verdict"], "out");
    assert_eq!(out["conflicts_with"], json!([101]));
    assert_eq!(out["places"][0]["path"], "src/cart.rs");
    assert_eq!(out["other_places"], 1);
    let why = world.get(&format!("{SPRINTS}/50/why")).await.ok(200);
    let sentence = why["members"][1]["sentence"].as_str().unwrap();
    assert_eq!(sentence, "It conflicts with #101 in src/cart.rs.");
    let merged = Sights {
        landing: Some(Landing::Merged),
        ..Sights::default()
    };
    play(&world, SprintInput::Seen(merged)).await;
    let figures = world.get("/metrics").await.text;
    for line in [
        "gaffer_sprint_conflict_rate{repo=\"acme/shop\"} 50",
        "gaffer_sprint_members{repo=\"acme/shop\",what=\"merged\"} 1",
        "gaffer_sprint_members{repo=\"acme/shop\",what=\"conflicted\"} 1",
        "gaffer_sprint_members{repo=\"acme/shop\",what=\"skipped\"} 1",
    ] {
        assert!(figures.contains(line), "{figures}");
    }
    let shown = world.get(&format!("{SPRINTS}/50")).await.ok(200);
    assert_eq!(shown["figures"]["merged"], 1);
}

#[tokio::test]
async fn a_sprint_is_integrated_when_nobody_works_or_when_nobody_is_to_be_waited_for() {
    let world = world().await;
    start(&world, &["curator", "refactor"]).await;
    play(&world, ready(&world, &[("curator", 101)]).await).await;
    let integrate = format!("{SPRINTS}/50/integrate");
    let waits = world.post(&integrate, &json!({})).await;
    assert_eq!(waits.code(409), "members_awaited");
    assert!(waits.text.contains("refactor"), "{waits:?}");
    let next = &waits.json()["next"][0];
    let advised = (&next["advice"], &next["about"]);
    assert_eq!(advised, (&json!("integrate_sprint"), &json!("acme/shop")));
    world.messages().await;
    let ticked = world.post(&format!("{SPRINTS}/50:tick"), &json!({})).await;
    assert_eq!(ticked.ok(200)["state"], "working");
    assert_eq!(world.messages().await.len(), 1);
    let now = json!({ "now": true });
    let woven = world.post(&format!("{SPRINTS}/50:integrate"), &now).await;
    let woven = woven.ok(200);
    assert_eq!(woven["state"], "integrating");
    assert_eq!(woven["members"][1]["state"], "timed_out");
    assert_eq!(
        woven["members"][1]["reason"],
        "it was not waited for any longer"
    );
    let unknown = world.post(&format!("{SPRINTS}/50:weave"), &json!({})).await;
    assert_eq!(unknown.code(404), "no_such_verb");
}

#[tokio::test]
async fn nothing_is_integrated_in_a_pause_so_that_what_was_finished_in_it_is_not_left_out() {
    let world = world().await;
    start(&world, &["curator", "refactor"]).await;
    play(&world, ready(&world, &[("curator", 101)]).await).await;
    world.change_source(|source| source.paused = true).await;
    world.messages().await;
    let integrate = format!("{SPRINTS}/50/integrate");
    for body in [json!({}), json!({ "now": true })] {
        let refused = world.post(&integrate, &body).await;
        assert_eq!(refused.code(409), "source_paused");
        let told = "Source acme/shop is paused.";
        assert!(refused.text.contains(told), "{refused:?}");
        assert_eq!(refused.json()["next"][0]["advice"], "resume_source");
    }
    let tick = world.post(&format!("{SPRINTS}/50:tick"), &json!({})).await;
    assert_eq!(tick.code(409), "source_paused");
    assert_eq!(world.messages().await, []);
    let shown = world.get(&format!("{SPRINTS}/50")).await.ok(200);
    assert_eq!(shown["members"][1]["state"], "waiting");
    world.change_source(|source| source.paused = false).await;
    let now = world.post(&integrate, &json!({ "now": true })).await;
    assert_eq!(now.ok(200)["state"], "integrating");
}

#[tokio::test]
async fn a_sprint_that_weaves_nothing_is_told_so_in_a_pause_too() {
    let world = world().await;
    world
        .change_source(|source| {
            source.sprints.parallel = "except=50".parse().unwrap();
        })
        .await;
    start(&world, &["curator", "refactor"]).await;
    world.change_source(|source| source.paused = true).await;
    for body in [json!({}), json!({ "now": true })] {
        let refused = world.post(&format!("{SPRINTS}/50/integrate"), &body).await;
        assert_eq!(refused.code(409), "individual");
        assert!(refused.text.contains("weaves nothing"), "{refused:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_and_names_what_was_meant() {
    let world = world().await;
    let refused = async |body: Value| world.post(SPRINTS, &body).await;
    let unknown = refused(json!({ "personas": ["nobody"] })).await;
    assert_eq!(unknown.code(422), "no_persona");
    assert_eq!(unknown.json()["field"], "personas");
    assert!(unknown.text.contains("curator"), "{unknown:?}");
    let never = refused(json!({ "personas": ["weaver"] })).await;
    assert_eq!(never.code(422), "not_in_batch");
    assert_eq!(never.json()["field"], "personas");
    for (number, code) in [
        (json!(0), "bad_field"),
        (json!("x"), "bad_field"),
        (json!(1_001), "far_number"),
    ] {
        let odd = refused(json!({ "number": number })).await;
        assert_eq!(odd.code(422), code);
        assert_eq!(odd.json()["field"], "number");
    }
    let missing = world.post("/api/sprints/acme/none", &json!({})).await;
    assert_eq!(missing.code(404), "no_such_source");
    let listed = world.get("/api/sprints/acme/none").await;
    assert_eq!(listed.code(404), "no_such_source");
    let unnamed = world.post("/api/sprints/acme/other", &json!({})).await;
    assert_eq!(unnamed.code(422), "branch_missing");
    assert_eq!(unnamed.json()["field"], "branch");
    read(&world, &[], None).await;
    assert_eq!(refused(json!({})).await.code(409), "no_personas");
    read(&world, &["art"], Some("GitHub answered 502")).await;
    let unread = refused(json!({})).await;
    assert_eq!(unread.code(409), "personas_unread");
    read(&world, &["art"], None).await;
    start(&world, &["art"]).await;
    world
        .post(&format!("{SPRINTS}/50:abort"), &json!({}))
        .await
        .ok(200);
    let past = refused(json!({ "number": 50 })).await;
    assert_eq!(past.code(422), "past_number");
    assert_eq!(past.json()["field"], "number");
    for (at, told) in [
        ("49", "there is no sprint `49` of `acme/other`"),
        ("latest/why", "acme/other has no sprint yet"),
    ] {
        let path = format!("/api/sprints/acme/other/{at}");
        let missing = world.get(&path).await;
        assert_eq!(missing.code(404), "no_such_sprint");
        assert_eq!(missing.json()["detail"], told);
        let problem = missing.json();
        let next = &problem["next"][0];
        let is_told = (&next["advice"], &next["about"]);
        match at {
            "latest/why" => assert_eq!(is_told, (&json!("start_sprint"), &json!("acme/other"))),
            _ => assert_eq!(is_told, (&Value::Null, &Value::Null), "{missing:?}"),
        }
    }
    for at in ["latest", "latest/why"] {
        let missing = world.get(&format!("/api/sprints/acme/none/{at}")).await;
        assert_eq!(missing.code(404), "no_such_source");
        assert_eq!(missing.json()["next"][0]["advice"], "add_source");
    }
}

#[tokio::test]
async fn a_sprint_that_weaves_does_not_start_on_a_branch_that_is_taken() {
    let world = world().await;
    read_of(&world, (&["art"], "50".parse().ok()), None).await;
    for body in [
        json!({ "number": 50 }),
        json!({ "number": 50, "dry_run": true }),
    ] {
        let taken = world.post(SPRINTS, &body).await;
        assert_eq!(taken.code(409), "branch_taken");
        let told = "git push origin --delete jules-sprint-50-integration";
        assert!(taken.text.contains(told), "{taken:?}");
    }
    world
        .change_source(|source| {
            source.sprints.parallel = "except=50".parse().unwrap();
        })
        .await;
    let dry = json!({ "number": 50, "dry_run": true });
    let alone = world.post(SPRINTS, &dry).await;
    assert_eq!(alone.ok(200)["merges"], "individual");
}

#[tokio::test]
async fn the_newest_sprint_of_a_source_is_counted() {
    let world = world().await;
    let none = world.get("/status").await.ok(200);
    assert_eq!(none["sprints"], json!([]));
    start(&world, &["curator", "refactor"]).await;
    world.clock.advance(SignedDuration::from_secs(2));
    let status = world.get("/status").await.ok(200);
    let told = &status["sprints"][0];
    assert_eq!(
        (&told["repo"], &told["number"]),
        (&json!("acme/shop"), &json!(50))
    );
    assert_eq!(told["state"], "working");
    assert_eq!(told["figures"]["members"], 2);
    let figures = world.get("/metrics").await.text;
    for line in [
        "gaffer_sprint_ticks{repo=\"acme/shop\",state=\"working\"} 1",
        "gaffer_sprint_ticks_to_resolution{repo=\"acme/shop\"} 0",
        "gaffer_sprint_tasks{repo=\"acme/shop\"} 0",
        "gaffer_sprint_members{repo=\"acme/shop\",what=\"all\"} 2",
        "gaffer_sprint_members{repo=\"acme/shop\",what=\"integrated\"} 0",
    ] {
        assert!(figures.contains(line), "{figures}");
    }
}

#[tokio::test]
async fn an_agent_orders_only_in_its_own_sources() {
    let world = world().await;
    let token = world.agent_token(Scope::Write).await;
    let start = async || {
        world
            .call_as(&token, (Method::POST, SPRINTS), (&[], "{}"))
            .await
    };
    let foreign = start().await;
    assert_eq!(foreign.status, 403, "{foreign:?}");
    world.has_agent().await;
    let begun = start().await.ok(202);
    assert_eq!(begun["by"], "agent zai");
}

#[tokio::test]
async fn agents_plan_start_watch_and_abort_a_sprint() {
    let world = world().await;
    let call = async |name: &str, more: Value| {
        let mut arguments = json!({ "repo": "acme/shop" });
        let more = more.as_object().unwrap().clone();
        arguments.as_object_mut().unwrap().extend(more);
        let told = crate::mcp::call_of(&world, name, arguments).await;
        told["result"]["structuredContent"].clone()
    };
    let plan = call("sprint_start", json!({ "dry_run": true })).await;
    assert_eq!(plan["started"], false);
    assert_eq!(plan["members"], json!(["art", "curator", "refactor"]));
    let only = json!({ "personas": ["curator", "refactor"], "number": 50 });
    let begun = call("sprint_start", only).await;
    let faults = format!("```text from files of acme/shop\n{FAULT}\n```");
    assert_eq!(plan["faults"], faults);
    let members = ["curator", "refactor"];
    let told = json!({ "number": 50, "started": true, "members": members, "faults": faults });
    assert_eq!(begun, told);
    play(
        &world,
        ready(&world, &[("curator", 101), ("refactor", 102)]).await,
    )
    .await;
    play(&world, woven()).await;
    let status = call("sprint_status", json!({})).await;
    assert_eq!(status["state"], "fixing");
    assert_eq!(status["pull_request"], "acme/shop#107");
    assert_eq!(status["members"][1]["pull_request"], "acme/shop#102");
    let words = status["words"].as_str().unwrap();
    assert!(
        words.starts_with("```text from sprint 50 of acme/shop\n"),
        "{words}"
    );
    assert!(
        words.contains("refactor: It conflicts with #101 in src/cart.rs."),
        "{words}"
    );
    let off = call("sprint_abort", json!({ "number": 50 })).await;
    assert_eq!(off, json!({ "number": 50, "state": "aborted" }));
}

#[tokio::test]
async fn a_look_at_a_sprint_has_its_pull_request_read() {
    let world = world().await;
    start(&world, &["curator", "refactor"]).await;
    let both = ready(&world, &[("curator", 101), ("refactor", 102)]).await;
    play(&world, both).await;
    play(&world, woven()).await;
    world.messages().await;
    world
        .post(&format!("{SPRINTS}/50:tick"), &json!({}))
        .await
        .ok(200);
    let reading = Message::Pull {
        pull: "acme/shop#107".parse().unwrap(),
        job: None,
        received_at: None,
    };
    let messages = world.messages().await;
    assert!(messages.contains(&reading), "{messages:?}");
}
