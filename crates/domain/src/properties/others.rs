//! Effects, accounts, slots and texts at the edges.

use std::collections::BTreeMap;

use super::*;
use crate::account::{Account, AccountActivity, Health, ListWeight, Pace, Poll, polled};
use crate::effect::{Action, Effect, EffectFinding, EffectState, JulesAction};
use crate::fence::{clip_encoded, encoded_len, fence};
use crate::governor::{Admission, LearnedLimit, Limits, Slots, admit};
use crate::ids::JobId;
use crate::redact::{holds_secret, presentable, redact, storable};

#[derive(Debug, Clone)]
enum EffectHappening {
    Start,
    Expire,
    Done,
    Failed(Failure),
    Settled(EffectFinding),
    WishedAgain,
}

fn happening() -> impl Strategy<Value = EffectHappening> {
    let findings = vec![
        EffectFinding::Happened,
        EffectFinding::NoTrace,
        EffectFinding::CannotTell,
    ];
    prop_oneof![
        6 => Just(EffectHappening::Start),
        2 => Just(EffectHappening::Expire),
        1 => Just(EffectHappening::Done),
        4 => failure().prop_map(EffectHappening::Failed),
        4 => proptest::sample::select(findings).prop_map(EffectHappening::Settled),
        1 => Just(EffectHappening::WishedAgain),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let session = "14550388554331055113";
    let say = Action::Jules(JulesAction::Say {
        session: session.parse().unwrap(),
        text: "hi".to_owned(),
        cause: "c".to_owned(),
    });
    let create = Action::Jules(JulesAction::CreateSession {
        job: JobId::from_ulid(ulid::Ulid(7)),
        attempt: 1,
    });
    let archive = Action::Jules(JulesAction::Archive {
        session: session.parse().unwrap(),
    });
    proptest::sample::select(vec![say, create, archive])
}

fn account(tick: SignedDuration, health: Health) -> Account {
    Account {
        pace: Pace { tick, idle: tick },
        health,
        ..Account::new("default".parse().unwrap(), at(0))
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn effects_in_every_world(action in action(), story in proptest::collection::vec((happening(), time()), 1..20)) {
        let mut effect = Effect::new(action, at(0));
        for (happening, now) in story {
            let next = match &happening {
                EffectHappening::Start => effect.start(now).unwrap_or_else(|_| effect.clone()),
                EffectHappening::Expire => effect.expire(now),
                EffectHappening::Done => effect.done(now),
                EffectHappening::Failed(failure) => effect.failed(failure, now),
                EffectHappening::Settled(finding) => effect.settled(*finding, now),
                EffectHappening::WishedAgain => effect.requested_again(now),
            };
            prop_assert_eq!((&next.id, &next.action), (&effect.id, &effect.action));
            prop_assert_eq!(next.due().is_none(), next.is_settled());
            let was_unknown = matches!(effect.state, EffectState::Unknown { .. } | EffectState::Started { .. });
            if let (EffectState::Done { .. }, _) = (&effect.state, was_unknown) {
                prop_assert_eq!(&next, &effect);
            }
            if was_unknown && matches!(happening, EffectHappening::Start | EffectHappening::Expire | EffectHappening::WishedAgain) {
                let began_anew = matches!(next.state, EffectState::Intent { .. });
                prop_assert!(!began_anew);
            }
            effect = next;
        }
    }

    #[test]
    fn accounts_are_always_polled_again(
        tick in wait(),
        polls in proptest::collection::vec((failure(), any::<bool>(), time()), 1..20),
    ) {
        let mut account = account(tick, Health::Working);
        for (failure, answered, now) in polls {
            let poll = if answered {
                Poll::Answered { list: ListWeight::default(), reads: BTreeMap::new(), activity: AccountActivity::Active }
            } else {
                Poll::Failed(failure)
            };
            let step = polled(&account, &poll, now);
            prop_assert_eq!(step.due, Some(step.aggregate.next_poll));
            prop_assert!(step.aggregate.next_poll >= now);
            prop_assert!(step.events.len() <= 1);
            account = step.aggregate;
        }
        for health in [Health::Throttled { streak: u32::MAX }, Health::Unreachable { streak: u32::MAX, since: at(0) }] {
            let sick = Account { health, ..account.clone() };
            polled(&sick, &Poll::Failed(Failure::new(FailureClass::Network, "x")), Timestamp::MAX);
        }
    }

    #[test]
    fn slots_keep_their_limits(
        story in proptest::collection::vec((0u128..6, 0u8..4, time()), 1..40),
        concurrent in 0u32..4,
        per_day in 0u32..6,
        learned in proptest::option::of((0u32..3, time())),
    ) {
        let limits = Limits { concurrent, per_day };
        let mut slots = Slots::free("default".parse().unwrap());
        slots.learned = learned.map(|(concurrent, until)| LearnedLimit { concurrent, until });
        for (n, step, now) in story {
            let job = JobId::from_ulid(ulid::Ulid(n));
            slots = match step {
                0 => match admit(&slots, &job, limits, now) {
                    Admission::Granted(granted) => {
                        prop_assert!(granted.taken.len() <= limits.concurrent as usize);
                        granted
                    }
                    Admission::Later { .. } => slots,
                },
                1 => slots.created(&job, now),
                2 => slots.release(&job),
                _ => slots.refused(&job, now),
            };
        }
    }

    #[test]
    fn texts_are_bounded_fenced_and_without_secrets(text in any::<String>(), max in 0usize..200) {
        prop_assert!(presentable(&text, max).chars().count() <= max + 1);
        prop_assert!(encoded_len(&storable(&text, max)) <= max.max(3));
        prop_assert!(encoded_len(&clip_encoded(&text, max)) <= max.max(3));
        prop_assert_eq!(redact(&redact(&text)), redact(&text));
        let noisy = format!("{text}ghp_0123456789abcdefghijABCDEFGHIJ012345");
        let spaced = format!("{text} ghp_0123456789abcdefghijABCDEFGHIJ012345");
        let hidden = redact(&spaced).contains("ghp_0123456789abcdefghij");
        prop_assert!(!hidden);
        prop_assert!(!holds_secret(&redact(&noisy)));
        let fenced = fence("origin", &text, max);
        let ticks = fenced.chars().take_while(|c| *c == '`').count();
        let inside = &fenced[ticks..fenced.len() - ticks];
        let broken = inside.contains(&"`".repeat(ticks));
        prop_assert!(!broken);
    }
}
