//! What the receiver gets, and what its answer means.

use axum::http::{HeaderName, StatusCode};
use engine::ports::{AgentsWrite, Delivered};
use jiff::SignedDuration;

use super::*;

#[tokio::test]
async fn a_wake_arrives_signed_and_unchanged() {
    let (address, got) = receiver(StatusCode::NO_CONTENT).await;
    let delivered = sender()
        .deliver(&envelope(&format!("http://{address}/wake?x=1")))
        .await;
    assert_eq!(delivered, Ok(Delivered::Acknowledged));
    let got = got.lock().unwrap().clone();
    assert_eq!(got.len(), 1);
    assert_eq!(
        (got[0].method.as_str(), &got[0].body[..]),
        ("POST", BODY.as_bytes())
    );
    assert_eq!(got[0].header("content-type"), "application/json");
    assert_eq!(
        got[0].header("webhook-id"),
        EventId::from_name("question 1").as_str()
    );
    assert_eq!(got[0].header("webhook-timestamp"), "1772366400");
    // Computed once with Python's hmac module from the same secret, id, timestamp and body.
    assert_eq!(
        got[0].header("webhook-signature"),
        "v1,dH002dWKhNErnr9higwVERJNRV+ZziedmalKfUqeA6Y="
    );
    assert!(got[0].header("user-agent").starts_with("gaffer/"));
}

#[tokio::test]
async fn while_secrets_change_over_both_sign() {
    let (address, got) = receiver(StatusCode::OK).await;
    let url = format!("http://{address}/");
    let both = concat!(
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ",",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    );
    for secret in [SECRET, OTHER_SECRET, both] {
        let sender = sender_with(&["127.0.0.1"], Some(secret), Arc::default());
        assert_eq!(
            sender.deliver(&envelope(&url)).await,
            Ok(Delivered::Acknowledged)
        );
    }
    let got = got.lock().unwrap();
    let signatures: Vec<&str> = got
        .iter()
        .map(|got| got.header("webhook-signature"))
        .collect();
    assert_ne!(signatures[0], signatures[1]);
    assert_eq!(
        signatures[2],
        format!("{} {}", signatures[1], signatures[0])
    );
}

#[tokio::test]
async fn the_same_wake_tried_later_keeps_its_id_and_signs_its_time() {
    let (address, got) = receiver(StatusCode::OK).await;
    let mut envelope = envelope(&format!("http://{address}/"));
    let sender = sender();
    sender.deliver(&envelope).await.unwrap();
    envelope.at += SignedDuration::from_mins(5);
    sender.deliver(&envelope).await.unwrap();
    let got = got.lock().unwrap();
    assert_eq!(got[0].header("webhook-id"), got[1].header("webhook-id"));
    assert_eq!(got[1].header("webhook-timestamp"), "1772366700");
    assert_ne!(
        got[0].header("webhook-signature"),
        got[1].header("webhook-signature")
    );
}

#[tokio::test]
async fn the_status_alone_decides() {
    let refused = |status| Delivered::Refused {
        status,
        answer: "said so".to_owned(),
        retry_after: None,
    };
    let statuses = [
        (200, Delivered::Acknowledged),
        (201, Delivered::Acknowledged),
        (202, Delivered::Accepted),
        (204, Delivered::Acknowledged),
        (400, refused(400)),
        (401, refused(401)),
        (404, refused(404)),
        (408, refused(408)),
        (410, Delivered::Gone),
        (429, refused(429)),
        (500, refused(500)),
        (503, refused(503)),
    ];
    for (status, expected) in statuses {
        let (address, got) = receiver((StatusCode::from_u16(status).unwrap(), "said so")).await;
        let delivered = sender()
            .deliver(&envelope(&format!("http://{address}/")))
            .await;
        assert_eq!(delivered, Ok(expected), "{status}");
        assert_eq!(got.lock().unwrap().len(), 1, "{status} is tried once");
    }
}

#[tokio::test]
async fn a_wish_to_wait_is_passed_on() {
    let wish = [(HeaderName::from_static("retry-after"), "120")];
    let (address, _got) = receiver((StatusCode::TOO_MANY_REQUESTS, wish, "slow down")).await;
    let delivered = sender()
        .deliver(&envelope(&format!("http://{address}/")))
        .await;
    let retry_after = Some(SignedDuration::from_secs(120));
    assert_eq!(
        delivered,
        Ok(Delivered::Refused {
            status: 429,
            answer: "slow down".to_owned(),
            retry_after
        })
    );
}

#[tokio::test]
async fn a_redirect_is_refused_and_never_followed() {
    for status in [301, 302, 303, 307, 308] {
        let (inside, got_inside) = receiver(StatusCode::OK).await;
        let location = [(
            HeaderName::from_static("location"),
            format!("http://{inside}/"),
        )];
        let (address, _got) = receiver((StatusCode::from_u16(status).unwrap(), location)).await;
        let delivered = sender()
            .deliver(&envelope(&format!("http://{address}/")))
            .await;
        let answer = String::new();
        assert_eq!(
            delivered,
            Ok(Delivered::Refused {
                status,
                answer,
                retry_after: None
            })
        );
        assert_eq!(got_inside.lock().unwrap().len(), 0, "{status}");
    }
}

#[tokio::test]
async fn an_allowed_name_is_looked_up_once_and_reached() {
    let (address, got) = receiver(StatusCode::ACCEPTED).await;
    let names = Names::one("agent.internal", &[LOCALHOST]);
    let rule = format!("agent.internal:{}", address.port());
    let sender = sender_with(&[&rule], Some(SECRET), Arc::clone(&names));
    let url = format!("http://agent.internal:{}/", address.port());
    assert_eq!(
        sender.deliver(&envelope(&url)).await,
        Ok(Delivered::Accepted)
    );
    assert_eq!(
        got.lock().unwrap()[0].header("host"),
        format!("agent.internal:{}", address.port())
    );
    assert_eq!(*names.asked.lock().unwrap(), ["agent.internal"]);
    // Nothing is cached: the next attempt resolves again.
    sender.deliver(&envelope(&url)).await.unwrap();
    assert_eq!(names.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn the_system_resolves_names_by_default() {
    let (address, _got) = receiver(StatusCode::OK).await;
    let settings = Settings {
        allow: vec!["localhost".parse().unwrap()],
    };
    let sender = Sender::new(settings, Arc::new(OneSecret(Some(SECRET))));
    let delivered = sender
        .deliver(&envelope(&format!("http://localhost:{}/", address.port())))
        .await;
    assert_eq!(delivered, Ok(Delivered::Acknowledged));
}

/// Runs the first test of this file in a process whose environment names a proxy that does not answer.
#[test]
fn a_proxy_of_the_environment_is_not_used() {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args([
        "--exact",
        "tests::delivery::a_wake_arrives_signed_and_unchanged",
    ]);
    for variable in [
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
        "HTTPS_PROXY",
        "https_proxy",
    ] {
        child.env(variable, "http://127.0.0.1:1");
    }
    let output = child
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}
