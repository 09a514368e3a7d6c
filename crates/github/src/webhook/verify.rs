//! The signature of a webhook delivery: HMAC-SHA256 over the raw bytes, compared in constant time, failing closed.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

/// The header that carries the signature; the older `X-Hub-Signature` (SHA-1) is never read.
pub const SIGNATURE_HEADER: &str = "x-hub-signature-256";

/// Two secrets are live while one replaces the other: GitHub keeps one for each hook, so the receiver must hold both.
const SECRETS_MAX: usize = 2;

const PREFIX: &str = "sha256=";
const DIGEST_BYTES: usize = 32;

/// Why a delivery is refused. None of these reveals anything about the secret, the signature or the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// We hold no secret, an empty one, or more than may be live.
    #[error(
        "no usable webhook secret is set; set GAFFER_WEBHOOK_SECRET, or put it into the file `secrets/webhook` of the data folder"
    )]
    NoSecret,
    /// The request carries no signature header.
    #[error("the request is not signed; set a secret on the webhook in GitHub")]
    Unsigned,
    /// The header is not `sha256=` and 64 hex digits in lower case.
    #[error("the signature header is malformed")]
    Malformed,
    /// The signature belongs to another body or another secret.
    #[error(
        "the signature does not match; check that GitHub and gaffer hold the same webhook secret"
    )]
    Mismatch,
}

/// Checks the signature header against every live secret. The bytes must be exactly the received body.
pub fn verify(secrets: &[SecretString], header: Option<&str>, raw: &[u8]) -> Result<(), Rejected> {
    let unusable = secrets
        .iter()
        .any(|secret| secret.expose_secret().is_empty());
    if secrets.is_empty() || secrets.len() > SECRETS_MAX || unusable {
        return Err(Rejected::NoSecret);
    }
    let given = parse(header.ok_or(Rejected::Unsigned)?).ok_or(Rejected::Malformed)?;
    let mut matches = Choice::from(0);
    for secret in secrets {
        let expected = sign(secret, raw).ok_or(Rejected::NoSecret)?;
        // No early return: the duration must not reveal which secret matched.
        matches |= expected.ct_eq(&given);
    }
    if bool::from(matches) {
        Ok(())
    } else {
        Err(Rejected::Mismatch)
    }
}

/// Whether a header has the form of a signature: otherwise the body need not be read.
pub fn is_signature(header: &str) -> bool {
    parse(header).is_some()
}

/// Splits a stored secret into the live ones: the current one, then the previous one after a comma.
pub fn live_secrets(stored: &SecretString) -> Vec<SecretString> {
    let parts = stored.expose_secret().split(',').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(SecretString::from)
        .collect()
}

fn parse(header: &str) -> Option<[u8; DIGEST_BYTES]> {
    let digits = header.strip_prefix(PREFIX)?;
    // GitHub writes small letters; one body has one signature.
    if digits.contains(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let mut digest = [0; DIGEST_BYTES];
    hex::decode_to_slice(digits, &mut digest).ok()?;
    Some(digest)
}

fn sign(secret: &SecretString, raw: &[u8]) -> Option<[u8; DIGEST_BYTES]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).ok()?;
    mac.update(raw);
    Some(mac.finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"action":"opened"}"#;

    fn secrets(texts: &[&str]) -> Vec<SecretString> {
        texts.iter().map(|text| SecretString::from(*text)).collect()
    }

    fn signature(secret: &str, raw: &[u8]) -> String {
        format!("sha256={}", hex::encode(sign(&secret.into(), raw).unwrap()))
    }

    fn check(live: &[&str], header: &str, raw: &[u8]) -> Result<(), Rejected> {
        verify(&secrets(live), Some(header), raw)
    }

    #[test]
    fn the_published_example_of_github_verifies() {
        // From GitHub's page on validating deliveries: the secret, the body and the signature to expect.
        let header = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(
            check(&["It's a Secret to Everybody"], header, b"Hello, World!"),
            Ok(())
        );
        assert_eq!(
            check(&["It's a Secret to Everybody"], header, b"Hello, World?"),
            Err(Rejected::Mismatch)
        );
    }

    #[test]
    fn the_right_secret_verifies_and_another_does_not() {
        let header = signature("right", BODY);
        assert_eq!(check(&["right"], &header, BODY), Ok(()));
        assert_eq!(check(&["wrong"], &header, BODY), Err(Rejected::Mismatch));
    }

    #[test]
    fn headers_of_any_other_form_are_malformed() {
        let good = signature("s", BODY);
        let digits = &good["sha256=".len()..];
        let sha1 = "sha1=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12";
        let odd = [
            String::new(),
            "sha256=".to_owned(),
            digits.to_owned(),
            sha1.to_owned(),
            good[..good.len() - 1].to_owned(),
            good[..good.len() - 2].to_owned(),
            format!("{good}{digits}"),
            format!("{good},{good}"),
            format!("{good}00"),
            format!(" {good}"),
            format!("{good} "),
            format!("{good}\n"),
            format!("SHA256={digits}"),
            format!("sha256={}", digits.to_uppercase()),
            format!("sha256={}", "g".repeat(64)),
            format!("sha256={}", "é".repeat(32)),
        ];
        for header in odd {
            assert_eq!(
                check(&["s"], &header, BODY),
                Err(Rejected::Malformed),
                "{header:?}"
            );
        }
    }

    #[test]
    fn without_a_usable_secret_or_header_everything_is_refused() {
        let header = signature("s", BODY);
        let empty = signature("", BODY);
        assert_eq!(check(&[], &header, BODY), Err(Rejected::NoSecret));
        assert_eq!(check(&[""], &empty, BODY), Err(Rejected::NoSecret));
        assert_eq!(check(&["s", ""], &header, BODY), Err(Rejected::NoSecret));
        assert_eq!(
            check(&["s", "t", "u"], &header, BODY),
            Err(Rejected::NoSecret)
        );
        assert_eq!(
            verify(&secrets(&["s"]), None, BODY),
            Err(Rejected::Unsigned)
        );
    }

    #[test]
    fn while_a_secret_is_replaced_both_verify_and_afterwards_only_the_new_one() {
        let (old, new) = (signature("old", BODY), signature("new", BODY));
        for header in [&old, &new] {
            assert_eq!(check(&["new", "old"], header, BODY), Ok(()));
        }
        assert_eq!(check(&["old"], &new, BODY), Err(Rejected::Mismatch));
        assert_eq!(check(&["new"], &old, BODY), Err(Rejected::Mismatch));
        assert_eq!(check(&["new"], &new, BODY), Ok(()));
    }

    #[test]
    fn only_the_exact_bytes_verify() {
        let header = signature("s", BODY);
        let base64 = b"eyJhY3Rpb24iOiJvcGVuZWQifQ==".to_vec();
        let with_bom = [b"\xef\xbb\xbf", BODY].concat();
        let with_newline = [BODY, b"\n"].concat();
        let spaced = br#"{"action": "opened"}"#.to_vec();
        for other in [
            base64,
            with_bom,
            with_newline,
            spaced,
            Vec::new(),
            BODY[..BODY.len() - 1].to_vec(),
        ] {
            assert_eq!(check(&["s"], &header, &other), Err(Rejected::Mismatch));
        }
    }

    #[test]
    fn a_stored_secret_holds_the_current_one_and_the_previous_one() {
        let split = |stored: &str| -> Vec<String> {
            live_secrets(&stored.into())
                .iter()
                .map(|s| s.expose_secret().to_owned())
                .collect()
        };
        assert_eq!(split("new,old"), ["new", "old"]);
        assert_eq!(split("only"), ["only"]);
        assert_eq!(split(" new , "), ["new"]);
        assert!(split(",").is_empty());
    }

    #[test]
    fn a_refusal_never_repeats_what_was_signed() {
        let header = signature("canary-secret", BODY);
        let refusal = check(&["other-canary"], &header, b"canary-body").unwrap_err();
        assert!(!format!("{refusal} {refusal:?}").contains("canary"));
    }
}
