//! One HTTP exchange over octocrab: headers and a bounded body come back, or the reason why nothing did.

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::BodyExt;
use jiff::SignedDuration;
use octocrab::Octocrab;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::connection::Connection;

/// The form in which an answer is wanted; the version of the API is set by octocrab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Media {
    /// JSON, which nearly everything is.
    Json,
    /// The diff of what is otherwise described.
    Diff,
    /// The bytes of what is otherwise described.
    Raw,
}

impl Media {
    fn accept(self) -> &'static str {
        match self {
            Self::Json => "application/vnd.github+json",
            Self::Diff => "application/vnd.github.diff",
            Self::Raw => "application/vnd.github.raw+json",
        }
    }
}

/// No answer of GitHub's is larger: a hundred check runs with full summaries weigh up to 13 MB.
pub(crate) const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One request, complete except for its credential.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) media: Media,
    pub(crate) method: Method,
    pub(crate) url: &'a str,
    pub(crate) body: Option<&'a Value>,
    pub(crate) bearer: Option<&'a SecretString>,
    pub(crate) etag: Option<&'a HeaderValue>,
}

#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the body went on after `BODY_BYTES_MAX`.
    pub(crate) cut: bool,
    /// How long to stay away, when the answer is a limit.
    pub(crate) stay_away: Option<SignedDuration>,
}

/// Why nothing came back.
#[derive(Debug)]
pub(crate) enum Lost {
    /// No connection came about, so nothing was sent.
    NeverSent(String),
    /// The connection broke, or no answer came in time.
    Broken(String),
}

/// The deadline of a call that starts now with this time limit.
pub(crate) fn deadline(within: SignedDuration) -> Instant {
    Instant::now() + within.unsigned_abs()
}

/// Sends a request and reads its answer.
pub(crate) async fn exchange(
    connection: &Connection,
    request: Request<'_>,
    until: Instant,
) -> Result<Received, Lost> {
    let octocrab = connection.open().map_err(Lost::NeverSent)?;
    let request = build(octocrab, request)?;
    let within = until.saturating_duration_since(Instant::now());
    match timeout_at(until, send(octocrab, request)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Lost::Broken(format!("no answer within {within:.0?}"))),
    }
}

type Prepared = http::Request<octocrab::OctoBody>;

fn build(octocrab: &Octocrab, request: Request<'_>) -> Result<Prepared, Lost> {
    let mut builder = http::Request::builder()
        .method(request.method)
        .uri(request.url)
        .header(ACCEPT, request.media.accept());
    if let Some(bearer) = request.bearer {
        builder = builder.header(AUTHORIZATION, bearer_header(bearer)?);
    }
    if let Some(etag) = request.etag {
        builder = builder.header(IF_NONE_MATCH, etag);
    }
    octocrab
        .build_request(builder, request.body)
        .map_err(|error| Lost::NeverSent(root(&error)))
}

fn bearer_header(bearer: &SecretString) -> Result<HeaderValue, Lost> {
    let unusable = |_| {
        Lost::NeverSent("the GitHub credential holds characters that no header may hold".to_owned())
    };
    let mut value =
        HeaderValue::from_str(&format!("Bearer {}", bearer.expose_secret())).map_err(unusable)?;
    value.set_sensitive(true);
    Ok(value)
}

async fn send(octocrab: &Octocrab, request: Prepared) -> Result<Received, Lost> {
    let response = octocrab
        .execute(request)
        .await
        .map_err(|error| lost(&error))?;
    let (parts, mut rest) = response.into_parts();
    let mut body = BytesMut::new();
    let mut cut = false;
    while let Some(frame) = rest.frame().await {
        let frame = frame
            .map_err(|error| Lost::Broken(format!("the answer broke off: {}", root(&error))))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if body.len() + data.len() > BODY_BYTES_MAX {
            cut = true;
            break;
        }
        body.extend_from_slice(&data);
    }
    Ok(Received {
        status: parts.status,
        headers: parts.headers,
        body: body.freeze(),
        cut,
        stay_away: None,
    })
}

/// Determines whether a connection came about. The error of the HTTP client below octocrab says so only in its text.
fn lost(error: &octocrab::Error) -> Lost {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.to_string().contains("client error (Connect)") {
            return Lost::NeverSent(root(error));
        }
        cause = error.source();
    }
    Lost::Broken(root(error))
}

/// The text of the innermost cause.
fn root(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::client::{Base, GITHUB};

    fn get(url: &str) -> Request<'_> {
        Request {
            media: Media::Json,
            method: Method::GET,
            url,
            body: None,
            bearer: None,
            etag: None,
        }
    }

    async fn lose(url: &str, within: Duration) -> Lost {
        let base = Base::new(&GITHUB.parse().unwrap()).unwrap();
        exchange(&Connection::to(&base), get(url), Instant::now() + within)
            .await
            .unwrap_err()
    }

    #[tokio::test]
    async fn a_refused_connection_sent_nothing() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        let lost = lose(&url, Duration::from_secs(10)).await;
        assert!(
            matches!(&lost, Lost::NeverSent(why) if why.contains("refused")),
            "{lost:?}"
        );
    }

    #[tokio::test]
    async fn a_silent_server_is_given_up_and_may_have_done_it() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let lost = lose(&url, Duration::from_millis(50)).await;
        assert!(
            matches!(&lost, Lost::Broken(why) if why.contains("no answer within")),
            "{lost:?}"
        );
    }

    #[tokio::test]
    async fn a_connection_that_is_closed_without_an_answer_may_have_done_it() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (lost, accepted) = tokio::join!(lose(&url, Duration::from_secs(10)), async {
            let (socket, _) = listener.accept().await.unwrap();
            socket.readable().await.unwrap();
        });
        let () = accepted;
        assert!(matches!(&lost, Lost::Broken(_)), "{lost:?}");
    }
}
