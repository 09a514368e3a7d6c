//! Prepares TLS as the functions do (`settings`), and says its first hello too (`hello`): the difference is what a hello costs.

use std::io::{Error, Result};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

fn main() -> Result<()> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let settings = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::other)?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let server = ServerName::try_from("localhost").map_err(Error::other)?;
    if std::env::args().any(|argument| argument == "hello") {
        let connection = ClientConnection::new(Arc::new(settings), server);
        let mut connection = connection.map_err(Error::other)?;
        connection.write_tls(&mut std::io::sink())?;
    }
    Ok(())
}
