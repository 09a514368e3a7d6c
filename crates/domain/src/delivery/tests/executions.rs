//! Executions that are asked for by their name.

use super::*;

/// What an execution is now, or why it is refused.
fn asked(world: &World, wanted: Execution) -> String {
    let found = execution(&world.delivery, wanted, None, &kim(), &world.rules);
    match found {
        Ok(act) => act.kind().to_string(),
        Err(refused) => refused.code.to_owned(),
    }
}

fn all(world: &World) -> [String; 4] {
    [
        Execution::Plan,
        Execution::Implement,
        Execution::Review,
        Execution::Fix,
    ]
    .map(|wanted| asked(world, wanted))
}

/// Does what an execution is, after which something runs.
fn begin(world: &mut World, wanted: Execution) -> String {
    let found = execution(&world.delivery, wanted, None, &kim(), &world.rules);
    world.orders(kim(), found.unwrap()).unwrap()
}

#[test]
fn each_is_the_usual_command_by_where_the_delivery_is_and_runs_at_once() {
    let phases = [Phase::Plan, Phase::Implement, Phase::Review];
    let mut world = World::new(rules(&phases, "verify", ReviewBy::Agent));
    assert_eq!(all(&world), ["start", "not_here", "not_here", "not_here"]);
    assert_eq!(begin(&mut world, Execution::Plan), "plan/running");
    assert_eq!(all(&world), ["under_way"; 4]);
    world.kim(Act::Cancel);
    assert_eq!(all(&world), ["retry", "not_here", "not_here", "not_here"]);
    assert_eq!(begin(&mut world, Execution::Plan), "plan/running");
    world.sees(planned("p1"), None);
    assert_eq!(all(&world), ["not_here", "approve", "not_here", "not_here"]);
    assert_eq!(begin(&mut world, Execution::Implement), "implement/running");
    world.rests();
    world.reads(pull('a', Checks::Passed));
    assert_eq!(all(&world), ["not_here", "not_here", "approve", "not_here"]);
    assert_eq!(begin(&mut world, Execution::Review), "review/running");
    world.orders(kim(), verdict(Verdict::NotPass, 'a')).unwrap();
    assert_eq!(
        place(&world.delivery),
        "implement/running",
        "it went back by itself"
    );
    assert_eq!(all(&world), ["under_way"; 4]);
}

#[test]
fn a_fix_says_what_the_review_said_unless_something_else_is_said() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    // What a review that waits for a person leaves behind.
    world.delivery.run_status = RunStatus::Succeeded;
    world.delivery.verdict = Some(Verdict::NotPass);
    world.delivery.feedback = Some("Test the cart.".to_owned());
    let fix = |reason: Option<&str>| {
        let reason = reason.map(str::to_owned);
        let (delivery, rules) = (&world.delivery, &world.rules);
        execution(delivery, Execution::Fix, reason, &kim(), rules).unwrap()
    };
    assert_eq!(fix(None), reject("Test the cart."));
    assert_eq!(fix(Some("Keep the route.")), reject("Keep the route."));
    assert_eq!(begin(&mut world, Execution::Fix), "implement/running");
}

#[test]
fn a_closed_delivery_executes_nothing() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    world.reads(merged(None));
    assert_eq!(all(&world), ["not_here"; 4]);
    let id = "c1";
    assert!(!was_taken(&world.delivery, id));
}
