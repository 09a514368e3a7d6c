//! Signatures of Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`, one for every live secret.
//!
//! Facts: the specification at standardwebhooks.com, sections "Signature scheme" and "Verifying webhook authenticity".

use std::fmt::Write;

use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sha2::Sha256;

/// How a secret begins.
const PREFIX: &str = "whsec_";

/// Bytes of a secret, after the specification.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Live secrets at a time: the current one, and the previous one while receivers change over.
const SECRETS_MAX: usize = 2;

/// Secrets come from other tools too, with and without the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Encodes a new signing secret from 32 random bytes, as stored and handed to the receiver.
pub fn new_secret(random: [u8; 32]) -> SecretString {
    SecretString::from(format!("{PREFIX}{}", STANDARD.encode(random)))
}

/// Why a stored secret cannot sign. Never shows any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidSecret {
    /// Another kind of secret, or none.
    #[error("each secret begins with `whsec_`, and a comma stands only between two")]
    Prefix,
    /// The part after the prefix.
    #[error("what follows `whsec_` is not Base64")]
    NotBase64,
    /// Too short to be safe, or longer than receivers take.
    #[error("a secret has {min} to {max} bytes, this one has {0}", min = SECRET_BYTES.start(), max = SECRET_BYTES.end())]
    Length(usize),
    /// Every secret costs every receiver a comparison.
    #[error(
        "there are {0}, at most {SECRETS_MAX} can be live: the current one and, after a comma, the previous one"
    )]
    TooMany(usize),
}

/// The live secrets of one agent, the current one first.
pub(crate) struct SigningSecrets(Vec<SecretSlice<u8>>);

impl SigningSecrets {
    /// Reads the stored form: `whsec_…`, or two of them with a comma between.
    pub(crate) fn parse(stored: &SecretString) -> Result<Self, InvalidSecret> {
        let parts: Vec<&str> = stored.expose_secret().split(',').map(str::trim).collect();
        if parts.len() > SECRETS_MAX {
            return Err(InvalidSecret::TooMany(parts.len()));
        }
        parts
            .into_iter()
            .map(key)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The value of `webhook-signature`: `v1,BASE64` for each secret, with spaces between.
    pub(crate) fn sign(&self, id: &str, unix_seconds: i64, body: &str) -> String {
        let mut header = String::new();
        for key in &self.0 {
            let separator = if header.is_empty() { "" } else { " " };
            let signature =
                STANDARD.encode(hmac(key, &[id, &unix_seconds.to_string(), body].join(".")));
            // Writing to a string does not fail.
            let _ = write!(header, "{separator}v1,{signature}");
        }
        header
    }
}

fn key(secret: &str) -> Result<SecretSlice<u8>, InvalidSecret> {
    let encoded = secret.strip_prefix(PREFIX).ok_or(InvalidSecret::Prefix)?;
    let key = BASE64
        .decode(encoded)
        .map_err(|_| InvalidSecret::NotBase64)?;
    if SECRET_BYTES.contains(&key.len()) {
        Ok(SecretSlice::from(key))
    } else {
        Err(InvalidSecret::Length(key.len()))
    }
}

#[expect(
    clippy::expect_used,
    reason = "HMAC takes keys of every length, so making one cannot fail"
)]
fn hmac(key: &SecretSlice<u8>, content: &str) -> impl AsRef<[u8]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.expose_secret()).expect("a key of any length");
    mac.update(content.as_bytes());
    mac.finalize().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn parse(stored: &str) -> Result<SigningSecrets, InvalidSecret> {
        SigningSecrets::parse(&SecretString::from(stored))
    }

    fn sign(stored: &str) -> String {
        let secrets = parse(stored).unwrap_or_else(|error| panic!("{error}"));
        secrets.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        )
    }

    /// From the tests of the Standard Webhooks project's own libraries: secret, id, seconds, body, signature.
    const PUBLISHED: [(&str, &str, i64, &str, &str); 2] = [
        (
            SECRET,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        (
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            1_649_367_553,
            r#"{"email":"test@example.com","username":"test_user"}"#,
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=",
        ),
    ];

    #[test]
    fn the_published_vectors_hold() {
        for (secret, id, at, body, signature) in PUBLISHED {
            let secrets = parse(secret).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(secrets.sign(id, at, body), signature);
        }
    }

    #[test]
    fn two_live_secrets_sign_both_and_the_current_one_first() {
        let other = new_secret([7; 32]);
        let other = other.expose_secret();
        let (first, second) = (sign(SECRET), sign(other));
        assert_ne!(first, second);
        assert_eq!(
            sign(&format!("{SECRET},{other}")),
            format!("{first} {second}")
        );
        assert_eq!(
            sign(&format!("{other} , {SECRET}")),
            format!("{second} {first}")
        );
    }

    #[test]
    fn every_part_is_signed() {
        let secrets = parse(SECRET).unwrap_or_else(|error| panic!("{error}"));
        let signature = secrets.sign("evt_1", 100, "body");
        for other in [
            secrets.sign("evt_2", 100, "body"),
            secrets.sign("evt_1", 101, "body"),
            secrets.sign("evt_1", 100, "bodY"),
        ] {
            assert_ne!(signature, other);
        }
    }

    #[test]
    fn a_new_secret_is_one_and_differs_with_its_randomness() {
        let secret = new_secret([0xff; 32]);
        assert_eq!(
            secret.expose_secret(),
            &format!("whsec_{}8=", "/".repeat(42))
        );
        assert!(parse(secret.expose_secret()).is_ok());
        assert_ne!(secret.expose_secret(), new_secret([0; 32]).expose_secret());
    }

    #[test]
    fn padding_may_be_left_out() {
        assert_eq!(
            sign(&format!("whsec_{}8", "/".repeat(42))),
            sign(&format!("whsec_{}8=", "/".repeat(42)))
        );
    }

    #[test]
    fn bad_secrets_are_refused_by_their_fault() {
        let of_bytes = |count: usize| format!("whsec_{}", STANDARD.encode(vec![1; count]));
        let refused = |stored: &str| parse(stored).err();
        for stored in [
            "",
            ",",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsk_abc",
            &format!("{SECRET},"),
            &format!(",{SECRET}"),
        ] {
            assert_eq!(refused(stored), Some(InvalidSecret::Prefix), "{stored}");
        }
        for stored in [
            "whsec_???",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-",
            "whsec_a b",
        ] {
            assert_eq!(refused(stored), Some(InvalidSecret::NotBase64), "{stored}");
        }
        for count in [0, 23, 65] {
            assert_eq!(
                refused(&of_bytes(count)),
                Some(InvalidSecret::Length(count))
            );
        }
        for count in [24, 64] {
            assert_eq!(refused(&of_bytes(count)), None);
        }
        assert_eq!(
            refused(&[SECRET; 3].join(",")),
            Some(InvalidSecret::TooMany(3))
        );
    }
}
