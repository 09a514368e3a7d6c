//! The record of a sprint stays small, whatever its members, its weaves and others make.

use super::happenings::{all_ready, begun, pull_of, report};
use super::*;
use crate::failure::Hindrance;
use crate::sprint::{Against, Clash, MEMBERS_MAX, Outbox, Sights, WeaveVerdict, Work};

/// How large the record may be as JSON, in bytes: a store takes 64 KB with what it adds.
const BYTES_MAX: usize = 64_400;

/// After how many inputs the record is measured: each changes one member only, and measuring takes longer than all of them.
const MEASURED_EVERY: usize = 30;

/// Text that is long in JSON, of any length.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = vec!["\"", "\\", "\u{1}", "\u{1F980}", "src/", "é"];
    (proptest::sample::select(pieces), 0usize..400).prop_map(|(piece, times)| piece.repeat(times))
}

fn clashes() -> impl Strategy<Value = Vec<Clash>> {
    let clash = (hostile(), hostile()).prop_map(|(path, words)| Clash {
        path,
        words,
        is_lines: true,
        base: Some(sha('a')),
        ours: Some(sha('b')),
        theirs: Some(sha('c')),
    });
    proptest::collection::vec(clash, 0..8)
}

/// What one round makes of some of sixty members: places of conflicts, a reason to fail, and messages.
#[derive(Debug, Clone)]
struct Round {
    /// Every so many members conflict.
    every: usize,
    clashes: Vec<Clash>,
    reason: String,
    messages: u8,
    head: char,
}

fn round() -> impl Strategy<Value = Round> {
    let head = proptest::sample::select(vec!['d', 'e', 'f']);
    (1usize..5, clashes(), hostile(), 0u8..60, head).prop_map(
        |(every, clashes, reason, messages, head)| Round {
            every,
            clashes,
            reason,
            messages,
            head,
        },
    )
}

/// A report as the weaver makes it: fitted.
fn fitted(sprint: &Sprint, round: &Round) -> SprintInput {
    let offered = sprint.offered();
    let all: Vec<u64> = (0..MEMBERS_MAX).map(pull_of).collect();
    let verdict = |(at, it): (usize, &&SprintMember)| {
        let verdict = match at % round.every {
            0 => WeaveVerdict::Out {
                head: sha('a'),
                against: Against::Members(all.clone()),
                clashes: round.clashes.clone(),
                others: 0,
            },
            1 => WeaveVerdict::Skipped {
                reason: round.reason.clone(),
            },
            _ => WeaveVerdict::In {
                head: sha('a'),
                way: crate::sprint::Way::Answered,
                files: 1,
            },
        };
        (it.number().unwrap(), verdict)
    };
    let verdicts = offered.iter().enumerate().map(verdict).collect();
    let mut report = report(sprint.weaves, verdicts);
    report.fit();
    let bytes = serde_json::to_string(&report).unwrap().len();
    assert!(bytes < BYTES_MAX, "a report has {bytes} bytes");
    SprintInput::Woven(Box::new(report))
}

/// One round: the weave, what it says to each, and what they make of it.
fn inputs(sprint: &Sprint, round: &Round) -> Vec<SprintInput> {
    let messages = (0..i64::from(round.messages)).map(|it| (9_000_000 + it).try_into().unwrap());
    let shown: Vec<_> = messages.collect();
    let asked = sprint.members.iter().map(|it| SprintInput::Asked {
        persona: it.persona.clone(),
        is_taken: true,
    });
    let mut inputs: Vec<_> = asked.collect();
    inputs.push(fitted(sprint, round));
    inputs.extend(sprint.members.iter().map(|it| SprintInput::Told {
        persona: it.persona.clone(),
        shown: shown.clone(),
    }));
    inputs.extend(sprint.members.iter().map(|it| SprintInput::Collected {
        persona: it.persona.clone(),
        outbox: Outbox::Head { head: sha('a') },
        is_read: round.every > 1,
        is_unopened: false,
    }));
    let fails = sprint.members.iter().step_by(7).map(|it| {
        let reason = round.reason.clone();
        let sight = crate::sprint::tests::made(Work::Failed { reason }, None);
        (it.job.clone(), sight)
    });
    let odd = Failure::new(FailureClass::Garbled, round.reason.as_str());
    inputs.push(SprintInput::Seen(Sights {
        members: fails.collect(),
        hindrance: Hindrance::of(&odd, None, at(0)),
        ..Sights::default()
    }));
    let personas = || sprint.members.iter().map(|it| it.persona.clone());
    inputs.push(SprintInput::Seen(Sights {
        mail: personas().map(|it| (it, shown.clone())).collect(),
        doubts: sprint
            .members
            .iter()
            .map(|it| (it.job.clone(), at(7)))
            .collect(),
        ..all_ready(sprint, round.head)
    }));
    inputs.extend(personas().map(|persona| SprintInput::MailNotTaken { persona }));
    inputs
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_record_of_sixty_members_stays_small(
        rounds in proptest::collection::vec(round(), 1..4),
    ) {
        let now = at(1_234_567);
        let mut sprint = begun(MEMBERS_MAX, now);
        sprint = apply(&sprint, &SprintInput::Seen(all_ready(&sprint, 'a')), now);
        for round in &rounds {
            let inputs = inputs(&sprint, round);
            for some in inputs.chunks(MEASURED_EVERY) {
                for input in some {
                    sprint = apply(&sprint, input, now);
                }
                let bytes = serde_json::to_string(&sprint).unwrap().len();
                prop_assert!(bytes < BYTES_MAX, "{} bytes", bytes);
            }
        }
    }
}
