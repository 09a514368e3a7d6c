//! Doubles of DynamoDB, SQS and SSM that answer at once, so that the measurement covers a function and no emulator: a
//! table with the contents after `deploy`, a queue that accepts everything, one secret.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::serve::{Listener, ListenerExt};
use engine::keys;
use engine::store::BODY_SCHEMA;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The one secret, whatever it is asked for as.
pub(super) const SECRET: &str = "a-secret-with-high-entropy";

/// Which installation the table is of.
const INSTALLATION: &str = "bench";

/// Where a call says which service and which operation it is for.
const TARGET: &str = "x-amz-target";

/// AWS behind one address.
pub(super) struct Doubles {
    pub(super) url: String,
    /// The certificate of its issuer; `None` without TLS.
    pub(super) certificate: Option<PathBuf>,
    server: JoinHandle<()>,
}

impl Doubles {
    /// Over plain HTTP.
    pub(super) async fn plain() -> Result<Self> {
        let (listener, port) = listen().await?;
        Ok(Self {
            url: format!("http://127.0.0.1:{port}"),
            certificate: None,
            server: tokio::spawn(async move {
                let listener = listener.tap_io(at_once);
                drop(axum::serve(listener, router()).await);
            }),
        })
    }

    /// Over TLS, with a certificate made for the purpose and kept in a folder.
    pub(super) async fn secured(folder: &Path) -> Result<Self> {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let made = made.context("making a certificate")?;
        let path = folder.join("certificate.pem");
        std::fs::write(&path, made.cert.pem()).context("keeping a certificate")?;
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der());
        let key = key.map_err(|why| anyhow::anyhow!("reading a key: {why}"))?;
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .context("using a certificate")?;
        let (tcp, port) = listen().await?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = Secured { tcp, acceptor };
        Ok(Self {
            url: format!("https://localhost:{port}"),
            certificate: Some(path),
            server: tokio::spawn(async move { drop(axum::serve(listener, router()).await) }),
        })
    }
}

impl Drop for Doubles {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn listen() -> Result<(TcpListener, u16)> {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.context("opening a port for AWS")?;
    let port = listener.local_addr().context("opening a port")?.port();
    Ok((listener, port))
}

/// Sends what there is without waiting for more, as AWS does.
fn at_once(stream: &mut TcpStream) {
    // A failure here only makes the connection slower.
    drop(stream.set_nodelay(true));
}

/// Connections over TLS.
struct Secured {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let Ok((mut stream, address)) = self.tcp.accept().await else {
                continue;
            };
            at_once(&mut stream);
            // A client that does not trust us leaves; the next one may trust us.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

fn router() -> Router {
    Router::new().fallback(answer)
}

/// The item under a key: the installation, which the first function after a deployment drew, and nothing else.
fn item(asked: &[u8]) -> Value {
    let asked: Value = serde_json::from_slice(asked).unwrap_or_default();
    let key = keys::installation();
    if asked["Key"]["pk"]["S"] != key.pk.as_str() {
        return json!({});
    }
    let installation = json!({ "id": INSTALLATION, "since": "2026-03-01T09:00:00Z" });
    let body = json!({ "schema": BODY_SCHEMA, "it": installation }).to_string();
    json!({ "Item": {
        "pk": { "S": key.pk }, "sk": { "S": key.sk }, "version": { "N": "1" }, "body": { "S": body },
    } })
}

async fn answer(headers: HeaderMap, body: Bytes) -> Response {
    let target = headers.get(TARGET).and_then(|target| target.to_str().ok());
    let answered = match target.unwrap_or_default() {
        "DynamoDB_20120810.GetItem" => item(&body),
        "DynamoDB_20120810.BatchGetItem" => json!({ "Responses": {}, "UnprocessedKeys": {} }),
        "DynamoDB_20120810.UpdateItem" | "DynamoDB_20120810.TransactWriteItems" => json!({}),
        "DynamoDB_20120810.Query" => json!({ "Items": [], "Count": 0, "ScannedCount": 0 }),
        "AmazonSQS.SendMessage" => json!({ "MessageId": "1", "MD5OfMessageBody": "" }),
        "AmazonSSM.GetParameter" => {
            json!({ "Parameter": { "Type": "SecureString", "Value": SECRET } })
        }
        // What remains is the empty batch with which a connection is opened, which SQS refuses as well.
        other => {
            let refused = json!({ "__type": "Refused", "message": other });
            return (StatusCode::BAD_REQUEST, axum::Json(refused)).into_response();
        }
    };
    let kind = [("content-type", "application/x-amz-json-1.0")];
    (kind, answered.to_string()).into_response()
}
