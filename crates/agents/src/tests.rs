//! Wakes sent to small receivers on this machine.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::HeaderMap;
use domain::ids::EventId;
use engine::ports::{Envelope, SecretName, Secrets, SecretsError};
use jiff::Timestamp;
use secrecy::SecretString;

use crate::destination::Lookup;
use crate::{HostRule, Sender, Settings};

mod delivery;
mod failing;
mod limits;
mod spellings;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const BODY: &str = r#"{"type":"question","text":"naïve 🦀"}"#;

/// The secret of every agent, or none.
struct OneSecret(Option<&'static str>);

#[async_trait]
impl Secrets for OneSecret {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        assert_eq!(name.path(), "agents/claude");
        self.0
            .map(SecretString::from)
            .ok_or_else(|| SecretsError::Missing(name.path()))
    }

    async fn write(&self, _: &SecretName, _: &SecretString) -> Result<(), SecretsError> {
        panic!("a sender writes no secrets")
    }

    async fn remove(&self, _: &SecretName) -> Result<(), SecretsError> {
        panic!("a sender removes no secrets")
    }
}

/// Names of these tests, and how often each was looked up.
#[derive(Default)]
struct Names {
    addresses: BTreeMap<&'static str, Vec<IpAddr>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    fn one(name: &'static str, addresses: &[IpAddr]) -> Arc<Self> {
        Arc::new(Self {
            addresses: BTreeMap::from([(name, addresses.to_vec())]),
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl Lookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(host.to_owned());
        self.addresses
            .get(host)
            .cloned()
            .ok_or_else(|| io::Error::other("no such name"))
    }
}

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn sender_with(allow: &[&str], secret: Option<&'static str>, names: Arc<Names>) -> Sender {
    let allow = allow
        .iter()
        .map(|rule| rule.parse::<HostRule>().unwrap())
        .collect();
    Sender::with_lookup(Settings { allow }, Arc::new(OneSecret(secret)), names)
}

/// A sender that may wake this machine and knows no names.
fn sender() -> Sender {
    sender_with(&["127.0.0.1"], Some(SECRET), Arc::default())
}

fn envelope(url: &str) -> Envelope {
    Envelope {
        agent: "claude".parse().unwrap(),
        url: url.parse().unwrap(),
        id: EventId::from_name("question 1"),
        body: BODY.to_owned(),
        at: Timestamp::new(1_772_366_400, 999_999_999).unwrap(),
    }
}

/// What a receiver got.
#[derive(Debug, Clone)]
struct Got {
    method: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

/// Serves a handler on a port of this machine until the test ends.
async fn serve<T: 'static>(handler: impl Handler<T, ()>) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind((LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(handler);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// A receiver that keeps what it gets and always answers alike.
async fn receiver(
    answer: impl axum::response::IntoResponse + Clone + Send + Sync + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<Got>>>) {
    let got = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&got);
    let handler = async move |request: Request| {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        kept.lock().unwrap().push(Got {
            method: parts.method.to_string(),
            headers: parts.headers,
            body,
        });
        answer
    };
    (serve(handler).await, got)
}
