//! How AWS is reached: one HTTP client with ring for everything, and bounds on how long a call may take.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext};
use aws_smithy_runtime_api::client::http::SharedHttpClient;

/// Longest wait for a connection: within a region it takes milliseconds.
pub const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// Longest wait for one answer, the connection included. The slowest call, a transaction of 100 items, takes well under a second.
pub const ATTEMPT_WITHIN: Duration = Duration::from_secs(3);

/// Time limit of one call with all its retries: the shortest-lived function, the webhook, has ten seconds in all, and
/// has to end by itself to save its result.
pub const CALL_WITHIN: Duration = Duration::from_secs(7);

/// How often a call is tried in all; the SDK waits a little longer before each, with jitter.
pub const ATTEMPTS_MAX: u32 = 3;

/// Settings for every client, from the environment and the profile as every AWS tool reads them: `AWS_REGION`,
/// `AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_DYNAMODB` and so on.
///
/// The first handshake of the SDK's usual cryptography costs 50 ms of processor time for entropy from jitter; ring
/// takes the system's and costs a fraction of that.
pub async fn connect() -> SdkConfig {
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(http(TlsContext::default()))
        .timeout_config(timeouts())
        .retry_config(retries())
        .load()
        .await
}

/// One HTTP client that trusts so.
pub(crate) fn http(trust: TlsContext) -> SharedHttpClient {
    let tls = Provider::Rustls(CryptoMode::Ring);
    let client = Builder::new().tls_provider(tls).tls_context(trust);
    client.build_https()
}

/// How long anything may take.
pub(crate) fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(CONNECT_WITHIN)
        .operation_attempt_timeout(ATTEMPT_WITHIN)
        .operation_timeout(CALL_WITHIN)
        .build()
}

/// How often anything is tried.
pub(crate) fn retries() -> RetryConfig {
    RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX)
}
