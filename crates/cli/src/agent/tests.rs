//! What the outcome of a test message is called, and which addresses need a rule.

use domain::event::{Audience, Event, Occurrence};
use jiff::Timestamp;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn told(state: WakeState) -> Result<Answer, String> {
    let event = Event {
        id: EventId::of("x"),
        job: None,
        account: "test".parse().unwrap(),
        attempt: 0,
        observed_at: at(0),
        status: String::new(),
        last_activity: None,
        what: Occurrence::Completed { pulls: Vec::new() },
        audience: Audience::Agent,
    };
    let id = event.id.clone();
    let wake = Wake {
        event,
        agent: "bot".parse().unwrap(),
        repo: None,
        state,
    };
    let url = "http://127.0.0.1:9000/wake".parse().unwrap();
    outcome(&wake, &id, (&url, SignedDuration::from_secs(10)))
        .map_err(|error| crate::error::tell(&error).code)
}

#[test]
fn each_outcome_of_a_test_has_its_code() {
    assert!(told(WakeState::Acknowledged { at: at(1) }).is_ok());
    assert!(
        told(WakeState::Leased {
            attempt: 1,
            until: at(600)
        })
        .is_ok()
    );
    let failed = [
        (
            WakeState::Pending {
                attempt: 1,
                not_before: at(0),
            },
            "not_running",
        ),
        (
            WakeState::Pending {
                attempt: 2,
                not_before: at(5),
            },
            "not_delivered",
        ),
        (
            WakeState::Sending {
                attempt: 1,
                until: at(60),
            },
            "no_answer",
        ),
        (
            WakeState::Dead {
                at: at(1),
                why: "410".to_owned(),
            },
            "not_delivered",
        ),
    ];
    for (state, code) in failed {
        assert_eq!(told(state).unwrap_err(), code);
    }
}

#[test]
fn addresses_that_the_sender_refuses_need_a_rule() {
    for url in [
        "http://bot.example.com/",
        "https://bot.example.com:8443/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://bot/",
    ] {
        assert!(is_unusual(&url.parse().unwrap()), "{url}");
    }
    assert!(!is_unusual(
        &"https://bot.example.com/wake".parse().unwrap()
    ));
    assert_eq!(host(&"http://[::1]:8080/x".parse().unwrap()), "[::1]:8080");
    assert!(
        host(&"http://127.0.0.1:9000/x".parse().unwrap())
            .parse::<agents::HostRule>()
            .is_ok()
    );
}
