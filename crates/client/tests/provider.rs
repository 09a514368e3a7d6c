//! Without a TLS provider a client is an error and no panic; a process of its own, since a provider is for the whole process.

use client::{Client, Error};

#[test]
fn a_missing_provider_is_an_error() {
    let client = || Client::new("http://127.0.0.1:4180".parse().unwrap(), "gaf_token".into());
    assert!(matches!(client(), Err(Error::NoTlsProvider)));
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    assert!(client().is_ok());
}
