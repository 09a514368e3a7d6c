//! Wakes that are never sent, and that never say too much about why.

use std::net::TcpListener;

use domain::failure::{CallEffect, Failure, FailureClass};
use engine::ports::AgentsWrite;

use super::*;
use crate::destination::AddressPolicy;
use crate::sender::client;

async fn failed(sender: &Sender, url: &str) -> Failure {
    sender.deliver(&envelope(url)).await.unwrap_err()
}

/// A port that never answers, at which any connection would be noticed.
fn trap() -> TcpListener {
    let listener = TcpListener::bind((LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn was_visited(trap: &TcpListener) -> bool {
    trap.accept().is_ok()
}

#[tokio::test]
async fn no_connection_is_opened_to_a_name_that_leads_inside() {
    let trap = trap();
    let port = trap.local_addr().unwrap().port();
    let names = Names::one("rebind.example", &[LOCALHOST]);
    let strict = client(names, AddressPolicy::Stranger).unwrap();
    assert!(
        strict
            .post(format!("http://rebind.example:{port}/"))
            .send()
            .await
            .is_err()
    );
    assert!(!was_visited(&trap));
}

#[tokio::test]
async fn a_name_that_leads_inside_is_told_as_certainly_not_sent() {
    let names = Names::one("rebind.example", &[LOCALHOST]);
    let failure = failed(
        &sender_with(&[], Some(SECRET), names),
        "https://rebind.example/",
    )
    .await;
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Invalid, CallEffect::No)
    );
    assert!(
        failure.message.contains("127.0.0.1 is a loopback address"),
        "{}",
        failure.message
    );
    assert!(
        failure.message.contains("allow the host"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn an_allowed_name_that_leads_to_metadata_is_refused() {
    let names = Names::one("agent.internal", &["169.254.169.254".parse().unwrap()]);
    let failure = failed(
        &sender_with(&["agent.internal"], Some(SECRET), names),
        "http://agent.internal/",
    )
    .await;
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Invalid, CallEffect::No)
    );
    assert!(failure.message.contains("metadata"), "{}", failure.message);
}

#[tokio::test]
async fn what_the_address_itself_forbids_is_not_even_looked_up() {
    let trap = trap();
    let address = trap.local_addr().unwrap();
    let names = Names::one("hooks.example", &[LOCALHOST]);
    // The rule is for another port: the trap is a stranger's.
    let sender = sender_with(&["127.0.0.1:1"], Some(SECRET), Arc::clone(&names));
    for url in [
        format!("http://{address}/"),
        format!("https://{address}/"),
        format!("http://2130706433:{}/", address.port()),
        format!("https://hooks.example:{}/", address.port()),
        format!("http://hooks.example:{}/", address.port()),
        "https://user:pass@hooks.example/".to_owned(),
        "ftp://hooks.example/".to_owned(),
    ] {
        let failure = failed(&sender, &url).await;
        assert_eq!(
            (failure.class, failure.happened),
            (FailureClass::Invalid, CallEffect::No),
            "{url}"
        );
    }
    assert!(!was_visited(&trap));
    assert_eq!(names.asked.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn nobody_there_is_certainly_not_sent() {
    let trap = trap();
    let closed = trap.local_addr().unwrap();
    drop(trap);
    let failure = failed(&sender(), &format!("http://{closed}/")).await;
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Network, CallEffect::No),
        "{}",
        failure.message
    );
    let failure = failed(&sender(), "https://unknown.example/").await;
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Network, CallEffect::No)
    );
    assert!(
        failure.message.contains("no such name"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn a_connection_cut_before_the_answer_may_have_been_sent() {
    let listener = tokio::net::TcpListener::bind((LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let receiver = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        stream.readable().await.unwrap();
    });
    let failure = failed(&sender(), &format!("http://{address}/")).await;
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Network, CallEffect::Maybe),
        "{}",
        failure.message
    );
    receiver.await.unwrap();
}

#[tokio::test]
async fn a_failure_names_the_host_and_hides_the_path() {
    let trap = trap();
    let closed = trap.local_addr().unwrap();
    drop(trap);
    for url in [
        format!("http://{closed}/T0KEN/x?key=T0KEN"),
        "https://unknown.example/T0KEN?key=T0KEN#T0KEN".to_owned(),
    ] {
        let failure = failed(&sender(), &url).await;
        assert!(!failure.message.contains("T0KEN"), "{}", failure.message);
        assert!(
            failure.message.contains("cannot wake agent claude at "),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn without_a_good_secret_nothing_is_sent_and_nothing_of_it_is_shown() {
    let (address, got) = receiver("").await;
    for secret in [
        None,
        Some("canary"),
        Some("whsec_canary"),
        Some("whsec_canarycanary==,whsec_canary"),
    ] {
        let sender = sender_with(&["127.0.0.1"], secret, Arc::default());
        let failure = failed(&sender, &format!("http://{address}/")).await;
        assert_eq!(
            (failure.class, failure.happened),
            (FailureClass::Unauthorized, CallEffect::No)
        );
        assert!(
            failure.message.contains("`agents/claude`"),
            "{}",
            failure.message
        );
        assert!(!failure.message.contains("canary"), "{}", failure.message);
    }
    assert_eq!(got.lock().unwrap().len(), 0);
}
