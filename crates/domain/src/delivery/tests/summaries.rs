//! What runs say of what they came to.

use super::*;
use crate::job::AgentMessage;
use crate::session::{self, PlanStep};

fn summary(world: &World, run: usize) -> Option<&str> {
    world.delivery.runs[run].summary.as_deref()
}

/// The session waits with a plan of these steps.
fn waits_with(world: &World, id: &str, titles: &[&str]) -> DeliveryInput {
    let step = |title: &&str| PlanStep {
        title: (*title).to_owned(),
        description: "1. not a step\n2. nor this".to_owned(),
    };
    let plan = session::Plan {
        id: id.parse().unwrap(),
        steps: titles.iter().map(step).collect(),
    };
    let work = SessionWork::Planned(plan.id.clone());
    let sight = JobSight {
        plan: Some(DeliveryPlan::of_steps(&plan, at(1))),
        plan_summary: run::summary_of_steps(&plan),
        ..job_sight(&world.delivery, work, None)
    };
    DeliveryInput::Job(Box::new(sight), None)
}

/// The session rests, and said this last.
fn rests_having_said(world: &World, second: i64, text: &str) -> DeliveryInput {
    let said = AgentMessage {
        id: "a1".parse().unwrap(),
        at: at(second),
        text: text.to_owned(),
    };
    let sight = JobSight {
        said: Some(said),
        ..job_sight(&world.delivery, world.resting(), Some(pull_ref()))
    };
    DeliveryInput::Job(Box::new(sight), None)
}

#[test]
fn a_plan_is_summed_up_by_its_steps_and_one_that_was_sent_by_its_first_line() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Nobody));
    world.kim(Act::Start);
    let input = waits_with(&world, "p1", &["Read the\nparser", "Test it"]);
    assert_eq!(world.take(&input).unwrap(), "plan/succeeded");
    assert_eq!(summary(&world, 0), Some("2 steps: Read the parser"));
    // The plan that replaces it is the one that is approved.
    let input = waits_with(&world, "p2", &["Test it"]);
    assert_eq!(world.take(&input).unwrap(), "plan/succeeded");
    assert_eq!(summary(&world, 0), Some("1 step: Test it"));
    let input = waits_with(&world, "p3", &["x".repeat(500).as_str()]);
    world.take(&input).unwrap();
    let long = summary(&world, 0).unwrap();
    assert_eq!(long.chars().count(), SUMMARY_CHARS_MAX);

    let mut world = World::new(Rules {
        plan_by: PlanBy::Human,
        ..rules(&[], "verify", ReviewBy::Nobody)
    });
    let sent = world.kim(Act::Plan {
        content: "\nAdd the box.\n\n1. Look".to_owned(),
        target_files: Vec::new(),
    });
    assert_eq!(sent, "implement/running");
    assert_eq!(summary(&world, 0), Some("Add the box."));
}

#[test]
fn a_change_is_summed_up_by_what_its_session_said_last_in_this_round() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    world.sees(planned("p1"), None);
    let said = "I added\nthe box.";
    let input = rests_having_said(&world, world.second, said);
    assert_eq!(world.take(&input).unwrap(), "implement/running");
    world.reads(pull('a', Checks::Passed));
    assert_eq!(place(&world.delivery), "review/running");
    assert_eq!(summary(&world, 1), Some("I added the box."));
    let earlier = world.second;
    world.zai(verdict(Verdict::NotPass, 'a'));
    assert_eq!(place(&world.delivery), "implement/running");
    for (second, said) in [(earlier, said), (world.second + 1, " \u{200b}\n")] {
        let input = rests_having_said(&world, second, said);
        world.take(&input).unwrap();
    }
    world.reads(pull('b', Checks::Passed));
    assert_eq!(place(&world.delivery), "review/running");
    assert_eq!(summary(&world, 3), Some("pull request #31"));
}
