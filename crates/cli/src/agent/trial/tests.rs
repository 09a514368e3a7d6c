//! What the outcome of a test message is called.

use domain::event::{Event, Occurrence};
use domain::ids::EventId;
use jiff::Timestamp;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn outcome_of(state: WakeState) -> Result<Answer, String> {
    told_of(Wake { state, ..wake() })
}

fn told_of(wake: Wake) -> Result<Answer, String> {
    let url: Url = "http://127.0.0.1:9000/wake".parse().unwrap();
    let shown = url.to_string();
    let receiver = Receiver::Address { url, shown };
    outcome(&wake, &receiver, SignedDuration::from_secs(10))
        .map_err(|error| crate::error::describe(&error).code)
}

fn wake() -> Wake {
    let event = Event::new(
        EventId::from_name("x"),
        "test".parse().unwrap(),
        at(0),
        Occurrence::Completed { pulls: Vec::new() },
    );
    Wake::new(event, "bot".parse().unwrap(), None, at(0))
}

#[test]
fn each_outcome_of_a_test_has_its_code() {
    assert!(outcome_of(WakeState::Acknowledged { at: at(1) }).is_ok());
    assert!(
        outcome_of(WakeState::Leased {
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
        assert_eq!(outcome_of(state).unwrap_err(), code);
    }
    let fetched = wake().by(&[Channel::Inbox]);
    assert_eq!(told_of(fetched).unwrap_err(), "not_taken");
}
