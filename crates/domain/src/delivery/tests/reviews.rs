//! Reviews that failed, and what people can do about them.

use super::*;

fn zai() -> Actor {
    Actor::agent("zai")
}

fn retry(reason: Option<&str>) -> Act {
    Act::Retry {
        reason: reason.map(str::to_owned),
    }
}

/// A delivery whose review may send nothing back, and did not pass head `a`.
fn used_up() -> World {
    let mut world = World::in_review(Rules {
        review_rounds: 0,
        ..rules(&[Phase::Review], "verify", ReviewBy::Agent)
    });
    let answer = world.orders(zai(), verdict(Verdict::NotPass, 'a'));
    assert_eq!(answer, Ok("review/failed".to_owned()));
    world
}

/// The session makes another head, which is reviewed next.
fn makes(world: &mut World, head: char) {
    world.sees(Work::Working, Some(pull_ref()));
    let resting = world.resting();
    world.sees(resting, Some(pull_ref()));
    assert_eq!(world.reads(pull(head, Checks::Passed)), "review/running");
}

#[test]
fn a_person_sends_a_change_back_although_its_rounds_are_used_up() {
    let mut world = used_up();
    let session = world.delivery.task.job.clone();
    let before = world.delivery.clone();
    // Rounds are bounded for whoever is no person.
    let refused = world.orders(zai(), retry(Some("Once more")));
    assert_eq!(refused, Err("rounds_used_up"));
    assert_eq!(world.delivery, before);
    for (round, head) in [(1, 'b'), (2, 'c')] {
        let answer = world.kim(retry(Some("Test the empty cart, too.")));
        assert_eq!(answer, "implement/running");
        let delivery = &world.delivery;
        let message = delivery.task.message.as_ref().unwrap();
        let feedback = Some("Test the empty cart, too.");
        assert_eq!(delivery.feedback.as_deref(), feedback);
        assert_eq!(Some(message.text.as_str()), feedback);
        assert_eq!((delivery.review_round, delivery.task.round), (round, round));
        let sent_back = delivery.phase_runs.iter().rev().nth(1).unwrap();
        assert_eq!(sent_back.actor, kim());
        makes(&mut world, head);
        // The order was for one round: the next one needs another order.
        let answer = world.orders(zai(), verdict(Verdict::NotPass, head));
        assert_eq!(answer, Ok("review/failed".to_owned()));
        assert!(world.delivery.has_used_rounds());
    }
    let delivery = &world.delivery;
    assert_eq!((delivery.attempt, &delivery.task.job), (1, &session));
    let why = reasons(delivery).remove(0);
    assert_eq!(why.code, "rounds_used_up");
    let way_on = "A retry with a reason sends it back to implement;";
    assert!(why.sentence.contains(way_on), "{}", why.sentence);
    // Without a reason the same head is reviewed again.
    assert_eq!(world.kim(retry(None)), "review/running");
    assert_eq!(world.delivery.review_round, 2);
    let pass = world.orders(zai(), verdict(Verdict::Pass, 'c'));
    assert_eq!(pass, Ok("review/succeeded pass".to_owned()));
}
