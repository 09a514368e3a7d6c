//! Why a client cannot be built; failures of calls are `domain::failure::Failure`.

/// Why the settings or the process do not allow a client.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The base is not an address that calls can be made to.
    #[error("`{base}` cannot be the base of the Jules API: {why}")]
    Base {
        /// The given address, without any user name or password.
        base: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No crypto provider is installed, without which the HTTP client cannot be built.
    #[error(
        "no TLS provider is installed; install rustls's ring provider at the start of the process"
    )]
    NoTlsProvider,
    /// The HTTP client could not be built, for example because the machine has no root certificates.
    #[error("building the HTTP client for Jules; see whether the machine has root certificates")]
    Http(#[source] reqwest::Error),
}
