//! What Lambda says about AWS, in the environment.

use aws::LambdaEnvironment;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::settings::SettingsError;

/// The region, as Lambda and every tool of AWS call it.
const REGION: &str = "AWS_REGION";

/// Where AWS is, when it is an emulator.
const ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// A file of certificates to be trusted in place of Amazon's, as other tools of AWS take it.
const TRUSTED: &str = "AWS_CA_BUNDLE";

/// Out of any environment. An empty variable is one that is not set.
pub(crate) fn aws_environment(
    read: impl Fn(&str) -> Option<String>,
) -> Result<LambdaEnvironment, SettingsError> {
    let read = |name| read(name).filter(|value| !value.is_empty());
    Ok(LambdaEnvironment {
        region: read(REGION).ok_or(SettingsError::Missing(REGION))?,
        endpoint: read(ENDPOINT),
        trusted: read(TRUSTED).map(certificates).transpose()?,
    })
}

fn certificates(path: String) -> Result<Vec<u8>, SettingsError> {
    let read = std::fs::read(&path).unwrap_or_default();
    if are_certificates(&read) {
        return Ok(read);
    }
    Err(SettingsError::Odd {
        name: TRUSTED,
        value: path,
        wanted: "a file of certificates in PEM",
    })
}

fn are_certificates(pem: &[u8]) -> bool {
    let mut roots = RootCertStore::empty();
    let all = CertificateDer::pem_slice_iter(pem)
        .all(|read| read.is_ok_and(|certificate| roots.add(certificate).is_ok()));
    all && !roots.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> Result<LambdaEnvironment, SettingsError> {
        let pairs = [(REGION, "eu-west-1"), (name, value)];
        let last = |asked: &str| pairs.iter().rev().find(|(name, _)| *name == asked);
        aws_environment(|asked| last(asked).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn an_emulator_and_other_certificates_are_taken() {
        let environment = with(ENDPOINT, "http://127.0.0.1:4577").unwrap();
        assert_eq!(environment.region, "eu-west-1");
        assert_eq!(
            environment.endpoint.as_deref(),
            Some("http://127.0.0.1:4577")
        );
        assert_eq!(with(ENDPOINT, "").unwrap().endpoint, None);
        let roots = concat!(env!("CARGO_MANIFEST_DIR"), "/../aws/src/inside/amazon.pem");
        assert!(with(TRUSTED, roots).unwrap().trusted.is_some());
    }

    #[test]
    fn what_is_missing_or_no_certificate_is_named() {
        for (name, value, said) in [
            (REGION, "", "AWS_REGION is not set"),
            (TRUSTED, "/no/such/file", "AWS_CA_BUNDLE is `/no/such/file`"),
            (
                TRUSTED,
                concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
                "AWS_CA_BUNDLE is",
            ),
        ] {
            let error = with(name, value).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
