//! Deliveries twice, with plain texts and with an attacker's in title, body, plan, verdict and feedback: every decision
//! is the same, and what is passed on stands in fences.

use domain::delivery::{
    Act, Actor, Checkpoints, Command, DeliveryKind, DeliveryPlan, IssueRef, NewDelivery, Phase,
    PlanBy, ReviewBy, ReviewResult, Rules, Verdict, create, of_issue,
};
use domain::outgoing_text::{delivery_task, requested_change, review_task};
use domain::priority::Priority;
use jiff::Timestamp;
use sandbox::story::{Step, Story};
use serde_json::{Value, json};
use tests::world::{
    MINUTE, REPO, SECOND, World, differences, hour, open_pull, scenario, story, without_change,
    without_texts,
};

use super::corpus::{PLAIN, Pen, hostile};
use super::injection::{passed_on_safely, unknown_activity, working};
use crate::stories::issues::{delivery, id_of, open_issue, order, place, reviews, taking, until};

/// How often each delivery is played with the corpus; each time every place gets another text.
const ROUNDS: usize = 4;

/// Entries between two rounds: no divisor of their number, so that a place sees new ones.
const STRIDE: usize = 17;

/// A text that is sent with an order: these are refused where they are blank or long.
fn written(pen: &Pen, chars_max: usize) -> String {
    let text: String = pen.text().chars().take(chars_max).collect();
    format!("Mend this: {text}")
}

/// The session that plans and implements.
fn worker(pen: &Pen) -> Story {
    let after = SECOND * 2;
    let ends = || Step::Complete {
        after,
        no_change: false,
    };
    let says = Step::Say {
        after,
        text: pen.text(),
    };
    let plans = Step::Plan {
        after,
        steps: (0..3).map(|_| pen.text()).collect(),
    };
    let pushes = Step::Push {
        after,
        message: pen.text(),
        files: Vec::new(),
        reverts: Vec::new(),
    };
    let steps = vec![
        plans,
        working(pen),
        says,
        unknown_activity(pen),
        open_pull(),
        ends(),
    ];
    Story {
        on_message: vec![working(pen), pushes, ends()],
        ..story("You plan and implement", steps)
    }
}

/// The session that reviews and finds something.
fn reviewer(pen: &Pen) -> Story {
    let answer = json!({
        "verdict": "not_pass", "summary": written(pen, 100), "feedback": written(pen, 400),
    });
    let says = Step::Say {
        after: SECOND,
        text: format!("```json\n{answer}\n```"),
    };
    let ends = without_change(SECOND);
    story("You review a change", vec![says, ends])
}

/// A labelled issue, and what strangers do to it afterwards.
async fn opened(world: &World, pen: &Pen, waits_at: &str) -> u64 {
    let body = format!("{}\n- [ ] it holds: {}\n", pen.text(), pen.text());
    let number = open_issue(world, &pen.text(), &body);
    until(world, number, waits_at).await;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.comment(now, REPO, number, ("stranger", &pen.text()));
    github.edit_issue(now, REPO, number, (&pen.text(), &pen.text()));
    world.pass(MINUTE * 2).await;
    number
}

async fn as_agent(world: &World, number: u64, (id, act): (&str, Act)) {
    let command = Command {
        id: id.to_owned(),
        by: Actor::agent("helper"),
        act,
    };
    let taken = world
        .backend
        .command_delivery(&id_of(number), &command)
        .await;
    taken.expect("a command that is taken");
}

/// Jules plans, a person approves that, and an agent sends the change back once.
async fn reviewed_by_agent(pen: &Pen) -> World {
    let mut source = taking(|rules| rules.review_by = Some(ReviewBy::Agent));
    // Jules names a branch after the title of its session, so that this effect has another id.
    source.policy.delete_branch = false;
    let world = World::of(scenario(vec![worker(pen)]), source).await;
    let number = opened(&world, pen, "plan/pending").await;
    order(&world, number, Act::Start).await;
    until(&world, number, "plan/succeeded").await;
    order(&world, number, Act::APPROVE).await;
    for (round, verdict) in [(1, Verdict::NotPass), (2, Verdict::Pass)] {
        let asked = async |world: &World| reviews(world).len() == round;
        Box::pin(world.until(hour(1), "a review", asked)).await;
        let review = ReviewResult {
            verdict,
            head: reviews(&world)[round - 1].parse().expect("a head"),
            summary: Some(written(pen, 100)),
            feedback: (verdict == Verdict::NotPass).then(|| written(pen, 900)),
        };
        let id = format!("verdict {round}");
        as_agent(&world, number, (&id, Act::Verdict(review))).await;
    }
    until(&world, number, "close/succeeded").await;
    world.pass(hour(1)).await;
    let it = world.sandbox.counters();
    assert_eq!((it.creates, it.messages, it.merges), (1, 1, 1));
    world
}

/// An agent sends the plan, and sessions of Jules find something until no round is left.
async fn reviewed_by_jules(pen: &Pen) -> World {
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::none();
        rules.plan_by = PlanBy::Agent;
        rules.review_by = Some(ReviewBy::Jules);
        rules.review_rounds = 1;
    });
    let world = World::of(scenario(vec![worker(pen), reviewer(pen)]), source).await;
    let number = opened(&world, pen, "plan/running").await;
    let plan = Act::Plan {
        content: written(pen, 2_000),
        target_files: vec!["src/lib.rs".to_owned()],
    };
    as_agent(&world, number, ("plan", plan)).await;
    until(&world, number, "review/failed").await;
    world.pass(hour(1)).await;
    assert_eq!(place(&world, number).await, "review/failed");
    let ended = delivery(&world, number).await.expect("a delivery");
    let code = ended.error.expect("a failure").code;
    assert_eq!(code, domain::delivery::Fault::RoundsUsedUp);
    let it = world.sandbox.counters();
    assert_eq!((it.creates, it.messages, it.merges), (3, 1, 0));
    world
}

/// Everything that was decided. Longer texts fill more pages of transcripts.
async fn decided(world: &World) -> Value {
    let mut decisions = world.decisions().await;
    if let Some(records) = decisions["records"].as_object_mut() {
        records.retain(|key, _| !key.contains(" RUN#"));
    }
    without(&mut decisions, "transcript");
    decisions
}

fn without(value: &mut Value, name: &str) {
    match value {
        Value::Object(fields) => {
            fields.remove(name);
            fields.values_mut().for_each(|it| without(it, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| without(it, name)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What an issue puts into a line: one line of its own text after words of ours.
const FILLED: [&str; 3] = ["Task: ", "It was made for this task: ", "- it holds:"];

/// The lines outside of fences, without what the issue put into them.
fn frame(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let opens = line.split_once("text ").map(|(ticks, _)| ticks);
        let opens = opens.filter(|it| it.len() > 2 && it.chars().all(|c| c == '`'));
        match fence {
            Some(ticks) if line == ticks => fence = None,
            Some(_) => {}
            None if opens.is_some() => fence = opens,
            None => {
                let filled = FILLED.iter().find(|words| line.starts_with(**words));
                lines.push(filled.copied().unwrap_or(line).to_owned());
            }
        }
    }
    assert_eq!(fence, None, "a fence without an end: {text}");
    lines
}

/// What sessions and the issue were told, without what stands in fences.
fn frames(world: &World) -> Vec<Vec<String>> {
    let mut told = Vec::new();
    for session in world.sandbox.jules().sessions() {
        assert_eq!(session.title.lines().count(), 1, "{}", session.title);
        told.push(session.prompt);
        told.extend(session.messages);
    }
    let github = world.sandbox.github();
    for number in github.issues(REPO) {
        let comments = github.issue(REPO, number).expect("an issue").comments;
        let ours = comments.into_iter().filter(|it| it.author != "stranger");
        told.extend(ours.map(|comment| comment.body));
    }
    for text in &told {
        assert!(text.len() < 40_000, "{} bytes", text.len());
        assert_eq!(domain::fence::clip(text, usize::MAX), *text);
    }
    told.iter().map(|text| frame(text)).collect()
}

/// Plays a delivery with plain texts and with those of the corpus, and compares what came of it.
async fn compared(play: impl AsyncFn(&Pen) -> World) {
    let plain_world = play(&Pen::plain()).await;
    let plain = decided(&plain_world).await;
    assert!(plain.to_string().contains(PLAIN));
    let told = frames(&plain_world);
    let outside = told.concat().join("\n");
    assert!(!outside.contains(PLAIN), "{outside}");
    let one_by_one = (0..ROUNDS).map(|round| Pen::hostile(round * STRIDE));
    let pens = [Pen::everything()].into_iter().chain(one_by_one);
    for (round, pen) in pens.enumerate() {
        let world = play(&pen).await;
        let (mut wanted, mut swapped) = (plain.clone(), decided(&world).await);
        without_texts(&mut wanted, &mut swapped, PLAIN);
        let found = differences(&wanted, &swapped);
        assert_eq!(found, Vec::<String>::new(), "round {round}");
        assert_eq!(frames(&world), told, "round {round}");
        passed_on_safely(&world);
        world.finish().await;
    }
    plain_world.finish().await;
}

#[tokio::test]
async fn no_text_of_an_issue_a_plan_or_a_verdict_changes_a_decision() {
    Box::pin(compared(reviewed_by_agent)).await;
}

#[tokio::test]
async fn no_text_of_a_sent_plan_or_of_a_reviewing_session_changes_a_decision() {
    Box::pin(compared(reviewed_by_jules)).await;
}

/// The frames of what sessions are told where every place has the same text.
fn told_of(text: &str) -> Vec<Vec<String>> {
    let issue: IssueRef = "acme/shop#12".parse().expect("an issue");
    let body = format!("{text}\n- [ ] it holds: {text}");
    let read = of_issue(issue.number, text, Some(&body));
    let new = NewDelivery {
        id: id_of(issue.number),
        seq: 1,
        kind: DeliveryKind::Issue,
        repo: issue.repo.clone(),
        issue: Some(issue),
        requirement: None,
        summary: read.summary,
        description: read.description,
        acceptance_criteria: read.acceptance_criteria,
        refs: Vec::new(),
        priority: Priority::default(),
        parent: None,
        by: Actor::System,
    };
    let rules = Rules {
        plan_by: PlanBy::Agent,
        ..Rules::default()
    };
    let created = create(&new, &rules, Timestamp::UNIX_EPOCH);
    let mut delivery = created.expect("a delivery").aggregate;
    delivery.plan = Some(DeliveryPlan {
        id: "p1".parse().expect("a plan"),
        content: text.to_owned(),
        generated_at: Timestamp::UNIX_EPOCH,
        model: None,
        cwd: None,
        target_files: Vec::new(),
    });
    let pull = "acme/shop#31".parse().expect("a pull request");
    let head = "a".repeat(40).parse().expect("a head");
    [
        delivery_task(&delivery),
        review_task(&delivery, &pull, &head),
        requested_change(Phase::Plan, false, Some(text)),
        requested_change(Phase::Implement, true, Some(text)),
    ]
    .iter()
    .map(|text| frame(text))
    .collect()
}

#[test]
fn every_text_of_the_corpus_stays_in_its_fence_or_line() {
    let plain = told_of(PLAIN);
    assert!(plain.iter().all(|frame| !frame.is_empty()));
    for text in hostile() {
        assert_eq!(told_of(&text), plain, "{text}");
    }
}

#[test]
fn a_text_outside_of_its_fence_is_seen() {
    let fenced = |text: &str| {
        format!(
            "Task: x\n{}\nGo on.",
            domain::fence::fence("issue", text, 99)
        )
    };
    assert_eq!(frame(&fenced("one\n```\ntwo")), ["Task: ", "Go on."]);
    let unfenced = "Task: x\n```text issue\none\n```\ntwo\n```text y\n```\nGo on.";
    assert_eq!(frame(unfenced), ["Task: ", "two", "Go on."]);
}
