//! Pauses, and what was set aside.

use domain::event::{ErrorCause, Event, Occurrence};
use domain::ids::EventId;
use domain::wake::{Wake, WakeState};
use engine::keys;
use expect_test::expect;
use jiff::{SignedDuration, Timestamp};

use super::clinic::Clinic;
use crate::jobs::{put, save};

const LONG_AGO: Timestamp = Timestamp::constant(1_790_000_000, 0);

#[test]
fn everything_is_paused() {
    let clinic = Clinic::new();
    clinic.with_backend(async |backend| {
        let switches = engine::settings::Switches {
            paused_since: Some(LONG_AGO),
            ..engine::settings::Switches::default()
        };
        save(backend, &(), &switches).await;
    });
    expect![[r#"
        warning  paused  everything: paused since 2026-09-21T14:13:20Z, which is long | cause: a person paused everything: nothing is written to Jules or GitHub | mend: run `gaffer resume`
    "#]].assert_eq(&clinic.ills(&[]));
    clinic.ok(&["resume"]);
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn nothing_is_written() {
    let clinic = Clinic::new();
    clinic.with_backend(async |backend| {
        let switches = engine::settings::Switches {
            observe_only: true,
            ..engine::settings::Switches::default()
        };
        save(backend, &(), &switches).await;
    });
    let told = clinic.ills(&[]);
    assert!(told.contains("  observe_only  everything: "), "{told}");
}

#[test]
fn wakes_were_given_up() {
    let clinic = Clinic::new();
    clinic.with_backend(async |backend| {
        let event = Event::new(
            EventId::from_name("clinic"),
            "default".parse().unwrap(),
            LONG_AGO,
            Occurrence::Error {
                cause: ErrorCause::Network,
                reason: "Jules has not answered".to_owned(),
            },
        );
        let agent = "helper".parse().unwrap();
        let key = keys::wake(&agent, &event.id);
        let mut wake = Wake::new(event, agent, None, LONG_AGO);
        wake.state = WakeState::Dead {
            at: LONG_AGO,
            why: "10 attempts without an acknowledgement".to_owned(),
        };
        put(backend, key, &wake).await;
    });
    expect![[r#"
        warning  dead_wakes  agent `helper`: wakes given up: 1 | cause: wakes were given up after all their attempts, so an agent missed something | mend: mend the agent's receiver, and send it once more with `gaffer wake replay --since 7d`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn messages_were_set_aside() {
    let clinic = Clinic::new();
    clinic.with_backend(async |backend| {
        backend
            .queue
            .send("not work", SignedDuration::ZERO)
            .await
            .unwrap();
        // After so many receives a message goes to the dead letters.
        for _ in 0..=local::RECEIVES_MAX {
            let got = backend
                .queue
                .receive(1, SignedDuration::from_secs(60))
                .await
                .unwrap();
            for delivery in got {
                let again = backend
                    .queue
                    .release(&delivery.receipt, SignedDuration::ZERO);
                again.await.unwrap();
            }
        }
        assert_eq!(backend.queue.depth().await.unwrap().1, 1);
    });
    expect![[r#"
        warning  dead_letters  messages: set aside: 1 | cause: messages were set aside because they could not be handled; what they named is looked at again by its own due time | mend: look at the log of `gaffer up` for the reason
    "#]].assert_eq(&clinic.ills(&[]));
}
