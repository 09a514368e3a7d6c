//! Connection settings inside Lambda, where the environment has all that elsewhere comes from profiles and other
//! services.

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::SharedCredentialsProvider;
use aws_smithy_http_client::tls::{TlsContext, TrustStore};
use aws_smithy_runtime_api::client::connector_metadata::ConnectorMetadata;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;

use crate::connect;

/// The five roots that sign the services of AWS: reading the hundred and more of the system takes five times as long
/// as all the rest of a function's start.
///
/// Source: Amazon Trust Services, "Certificate Authorities"; AWS advises to trust all five.
const AMAZON: &[u8] = include_bytes!("inside/amazon.pem");

/// How the regions begin whose services others may sign.
const APART: [&str; 2] = ["cn-", "us-iso"];

/// What Lambda and the deployment say about AWS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LambdaEnvironment {
    /// The region.
    pub region: String,
    /// Where AWS is, when it is an emulator.
    pub endpoint: Option<String>,
    /// Certificates in PEM to trust in place of Amazon's own.
    pub trusted: Option<Vec<u8>>,
}

/// Settings for every client of a function.
///
/// Credentials are those of the function's role, which Lambda puts into the environment and which outlive every instance.
pub fn connect_inside(place: LambdaEnvironment) -> SdkConfig {
    let credentials = EnvironmentVariableCredentialsProvider::new();
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(SharedHttpClient::new(LazyHttpClient(connect::http(trust(
            &place,
        )))))
        .timeout_config(connect::timeouts())
        .retry_config(connect::retries());
    config.set_endpoint_url(place.endpoint);
    config.region(Region::new(place.region)).build()
}

/// A client that makes its connector at the first call: otherwise every client of a service would make one and throw
/// it away to check that it can, certificates included.
#[derive(Debug)]
struct LazyHttpClient(SharedHttpClient);

impl HttpClient for LazyHttpClient {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        self.0.http_connector(settings, components)
    }

    fn connector_metadata(&self) -> Option<ConnectorMetadata> {
        self.0.connector_metadata()
    }
}

fn trust(place: &LambdaEnvironment) -> TlsContext {
    let store = match &place.trusted {
        Some(trusted) => TrustStore::empty().with_pem_certificate(trusted.clone()),
        None if is_apart(&place.region) => TrustStore::default(),
        None => TrustStore::empty().with_pem_certificate(AMAZON),
    };
    let made = TlsContext::builder().with_trust_store(store).build();
    // What cannot be used is refused later, with every call; the system's own roots serve as well.
    made.unwrap_or_default()
}

fn is_apart(region: &str) -> bool {
    APART.iter().any(|beginning| region.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_are_five() {
        let text = std::str::from_utf8(AMAZON).unwrap();
        assert_eq!(text.matches("BEGIN CERTIFICATE").count(), 5);
    }

    #[test]
    fn regions_that_others_sign_for_trust_the_system() {
        assert!(is_apart("cn-north-1") && is_apart("us-iso-east-1"));
        assert!(!is_apart("us-east-1") && !is_apart("us-gov-west-1"));
        // A client of a service reads the roots of its HTTP client when it is built, and panics at what is none.
        for region in ["eu-west-1", "cn-north-1"] {
            let place = LambdaEnvironment {
                region: region.to_owned(),
                ..LambdaEnvironment::default()
            };
            let config = connect_inside(place.clone()).into_builder();
            let config = config.http_client(connect::http(trust(&place))).build();
            drop(aws_sdk_sqs::Client::new(&config));
        }
    }
}
