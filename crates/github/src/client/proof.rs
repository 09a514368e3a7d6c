//! The proof that we are the App: a JSON Web Token, signed with the App's private key.
//!
//! Sources: RFC 7519; RS256 in RFC 7518, section 3.3; GitHub, "Generating a JSON Web Token (JWT) for a GitHub App".

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::failure::{Failure, FailureClass};
use jiff::{SignedDuration, Timestamp};
use ring::rand::SystemRandom;
use ring::rsa::KeyPair;
use ring::signature::RSA_PKCS1_SHA256;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::refusal::failure;

/// The token counts from this long ago: GitHub's clock may be behind ours.
const SLACK: SignedDuration = SignedDuration::from_secs(60);

/// Lifetime of the token; GitHub accepts ten minutes at most.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(9);

/// A token that proves for nine minutes that we are the App.
pub(crate) fn proof(
    app_id: u64,
    private_key: &SecretString,
    now: Timestamp,
) -> Result<SecretString, Failure> {
    let bad = |what: &str| {
        failure(
            FailureClass::Unauthorized,
            &format!("signing in as the GitHub App {app_id}: {what}"),
        )
        .never_sent()
    };
    let key = key(private_key).ok_or_else(|| {
        bad("the private key is no RSA key in PEM; store the file that GitHub gave you")
    })?;
    let claims = json!({
        "iat": (now - SLACK).as_second(),
        "exp": (now + GOOD_FOR).as_second(),
        "iss": app_id,
    });
    let said = format!(
        "{}.{}",
        part(&json!({ "alg": "RS256", "typ": "JWT" })),
        part(&claims)
    );
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        said.as_bytes(),
        &mut signature,
    )
    .map_err(|_| bad("the private key cannot sign"))?;
    let signature = URL_SAFE_NO_PAD.encode(signature);
    Ok(SecretString::from(format!("{said}.{signature}")))
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn key(private_key: &SecretString) -> Option<KeyPair> {
    // An environment variable often holds the key in one line, with `\n` written out.
    let pem = private_key.expose_secret().replace("\\n", "\n");
    match PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()? {
        PrivateKeyDer::Pkcs1(key) => KeyPair::from_der(key.secret_pkcs1_der()).ok(),
        PrivateKeyDer::Pkcs8(key) => KeyPair::from_pkcs8(key.secret_pkcs8_der()).ok(),
        // Of another kind, or of an unknown one.
        PrivateKeyDer::Sec1(_) | _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    const PEM: &str = include_str!("../../tests/it/keys/app.pem");

    fn signed(key: &str) -> Result<SecretString, Failure> {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        proof(7, &SecretString::from(key), now)
    }

    fn read(part: &str) -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    }

    #[test]
    fn it_says_who_and_for_how_long_and_is_signed() {
        let token = signed(PEM).unwrap();
        let (said, signature) = token.expose_secret().rsplit_once('.').unwrap();
        let (head, claims) = said.split_once('.').unwrap();
        assert_eq!(read(head), json!({ "alg": "RS256", "typ": "JWT" }));
        let wanted = json!({ "iat": 1_799_999_940, "exp": 1_800_000_540, "iss": 7 });
        assert_eq!(read(claims), wanted);
        let public = key(&SecretString::from(PEM)).unwrap();
        let public = UnparsedPublicKey::new(
            &RSA_PKCS1_2048_8192_SHA256,
            public.public().as_ref().to_vec(),
        );
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert!(public.verify(said.as_bytes(), &signature).is_ok());
        assert!(public.verify(head.as_bytes(), &signature).is_err());
    }

    #[test]
    fn a_key_in_one_line_is_taken_and_what_is_no_key_is_told_and_not_shown() {
        let line = PEM.trim().replace('\n', "\\n");
        let key_text =
            |signed: Result<SecretString, Failure>| signed.unwrap().expose_secret().to_owned();
        assert_eq!(key_text(signed(&line)), key_text(signed(PEM)));
        for key in [
            "",
            "ghp_0123456789",
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
        ] {
            let failure = signed(key).unwrap_err();
            assert!(failure.message.contains("no RSA key in PEM"), "{failure}");
            assert!(!failure.message.contains("AAAA"), "{failure}");
        }
    }
}
