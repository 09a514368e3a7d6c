//! Who looks at a page: the cookie, the form's token and the origin of a request.

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use dashboard::Viewer;
use domain::ids::TokenName;
use domain::token::Scope;
use subtle::ConstantTimeEq;

use super::seal::{Purpose, SESSION_FOR, SealKey, Sealed};
use crate::auth::AuthenticatedCaller;
use crate::refusal::Refused;
use crate::state::ApiInner;

/// The cookie where the connection is encrypted: the browser then takes it from this host only.
const COOKIE_NAME: &str = "__Host-gaffer";

/// The cookie on this machine, where nothing is encrypted.
const LOCAL_COOKIE_NAME: &str = "gaffer";

/// The name of the installation's own token on a page.
const OWN_TOKEN: &str = "the installation's token";

/// A signed-in person.
#[derive(Clone)]
pub(crate) struct Session {
    /// With the scope that the token has now.
    pub(crate) caller: AuthenticatedCaller,
    name: Option<TokenName>,
    form_token: String,
}

impl Session {
    /// How pages know the person.
    pub(crate) fn viewer(&self) -> Viewer {
        let name = self.name.as_ref();
        Viewer {
            name: name.map_or_else(|| OWN_TOKEN.to_owned(), |name| format!("token {name}")),
            may_act: self.caller.must(Scope::Write).is_ok(),
            form_token: self.form_token.clone(),
        }
    }

    /// Refuses a form that no page of this session holds.
    pub(crate) fn must_own(&self, form_token: &str) -> Result<(), Refused> {
        let (ours, given) = (self.form_token.as_bytes(), form_token.as_bytes());
        if bool::from(ours.ct_eq(given)) {
            return Ok(());
        }
        let detail =
            "the form is not one of this session: go back, load the page again, and send it again";
        Err(Refused::new(StatusCode::FORBIDDEN, "wrong_form", detail))
    }
}

/// The session of a request.
pub(crate) async fn current(api: &ApiInner, headers: &HeaderMap) -> Result<Session, Refused> {
    let Some(cookie) = cookie(headers) else {
        let detail = "sign in with a token of the HTTP API";
        return Err(closed("no_session", detail));
    };
    open(api, &cookie, Purpose::Session).await
}

/// The session for which a seal stands: its token is looked up, and has to be the one that was sealed.
pub(crate) async fn open(
    api: &ApiInner,
    sealed: &Sealed,
    purpose: Purpose,
) -> Result<Session, Refused> {
    let over = || closed("session_over", "the session is over: sign in again");
    let now = api.backend.now();
    if sealed.until <= now.as_second() {
        return Err(over());
    }
    let Some(name) = &sealed.name else {
        let made = api
            .tokens
            .sealed_by(|key| key.made(sealed, purpose, &key.digest()));
        let key = made.await.ok_or_else(over)?;
        return Ok(Session {
            caller: AuthenticatedCaller::installation().at_the_dashboard(),
            name: None,
            form_token: key.form_token(sealed),
        });
    };
    let found = api.backend.store.token(name).await?.ok_or_else(over)?.value;
    let mut digest = [0; 32];
    hex::decode_to_slice(&found.digest, &mut digest).map_err(|_| over())?;
    let made = api
        .tokens
        .sealed_by(|key| key.made(sealed, purpose, &digest));
    let key = made.await.ok_or_else(over)?;
    Ok(Session {
        caller: AuthenticatedCaller::from_token(found, now)?.at_the_dashboard(),
        name: Some(name.clone()),
        form_token: key.form_token(sealed),
    })
}

/// Seals a token that was just shown, and is one of ours.
pub(crate) async fn sealed(
    api: &ApiInner,
    caller: &AuthenticatedCaller,
    digest: &[u8; 32],
    purpose: Purpose,
) -> Result<Sealed, Refused> {
    let now = api.backend.now();
    // The installation's own token is sealed by itself, so that it ends its sessions with it.
    let is_meant = |key: &SealKey| caller.token_name().is_some() || key.digest() == *digest;
    let key = api.tokens.sealed_by(is_meant).await.ok_or_else(|| {
        let detail = "no token of the installation is there to seal a session with";
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, "no_seal", detail)
    })?;
    Ok(key.seal(purpose, caller.token_name(), digest, now))
}

/// Seals a session for the token of another seal.
pub(crate) async fn resealed(api: &ApiInner, link: &Sealed) -> Result<Sealed, Refused> {
    let now = api.backend.now();
    if link.until <= now.as_second() {
        return Err(over());
    }
    let digest = match &link.name {
        None => None,
        Some(name) => {
            let found = api.backend.store.token(name).await?.ok_or_else(over)?.value;
            let mut digest = [0; 32];
            hex::decode_to_slice(&found.digest, &mut digest).map_err(|_| over())?;
            Some(digest)
        }
    };
    let digest_of = |key: &SealKey| digest.unwrap_or_else(|| key.digest());
    let made = |key: &SealKey| key.made(link, Purpose::Link, &digest_of(key));
    let key = api.tokens.sealed_by(made).await.ok_or_else(over)?;
    Ok(key.seal(Purpose::Session, link.name.as_ref(), &digest_of(&key), now))
}

/// A link that does not sign in.
pub(crate) fn over() -> Refused {
    let detail = "the link is over, or not one of ours: `gaffer dashboard` prints another one";
    closed("link_over", detail)
}

fn closed(code: &str, detail: &str) -> Refused {
    Refused::new(StatusCode::UNAUTHORIZED, code, detail)
}

/// The value of `Set-Cookie` that begins a session.
pub(crate) fn begin(session: &Sealed, headers: &HeaderMap) -> String {
    set(&session.to_string(), SESSION_FOR.as_secs(), headers)
}

/// The value of `Set-Cookie` that ends a session.
pub(crate) fn end(headers: &HeaderMap) -> String {
    set("", 0, headers)
}

fn set(value: &str, seconds: i64, headers: &HeaderMap) -> String {
    let (name, secure) = if is_local(headers) {
        (LOCAL_COOKIE_NAME, "")
    } else {
        (COOKIE_NAME, "; Secure")
    };
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

fn cookie(headers: &HeaderMap) -> Option<Sealed> {
    let name = if is_local(headers) {
        LOCAL_COOKIE_NAME
    } else {
        COOKIE_NAME
    };
    let sent = headers.get_all(COOKIE).iter();
    let sent = sent.filter_map(|cookies| cookies.to_str().ok());
    let pairs = sent.flat_map(|cookies| cookies.split(';'));
    let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(found, _)| *found == name)?;
    value.parse().ok()
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether the browser is on this machine.
fn is_local(headers: &HeaderMap) -> bool {
    let host = header(headers, HOST).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

/// Refuses what another site's page sent, and what does not say where it is from.
pub(crate) fn must_be_ours(headers: &HeaderMap) -> Result<(), Refused> {
    let origin = header(headers, ORIGIN).and_then(|origin| origin.split_once("://"));
    let host = header(headers, HOST);
    let is_web = |scheme: &str| ["http", "https"].contains(&scheme);
    if origin.is_some_and(|(scheme, from)| is_web(scheme) && Some(from) == host) {
        return Ok(());
    }
    let detail = "the form was not sent by a page of this Gaffer";
    Err(Refused::new(
        StatusCode::FORBIDDEN,
        "foreign_origin",
        detail,
    ))
}

/// Where to go on after a sign-in: a page of ours, else the board.
pub(crate) fn way_on(next: Option<&str>) -> &str {
    let is_ours = |next: &&str| {
        let is_there = next
            .strip_prefix("/dashboard")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with('?'));
        is_there
            && next
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    next.filter(is_ours).unwrap_or("/dashboard")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        headers
    }

    #[test]
    fn a_cookie_is_secure_but_on_this_machine() {
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "localhost:1",
            "[::1]:80",
            "[::1]",
        ] {
            let cookie = end(&at(host));
            assert!(
                cookie.starts_with("gaffer=") && !cookie.contains("Secure"),
                "{host}"
            );
        }
        for host in [
            "x.lambda-url.eu-west-1.on.aws",
            "localhost.evil.example",
            "10.0.0.1:80",
            "",
        ] {
            let cookie = end(&at(host));
            assert!(
                cookie.starts_with("__Host-gaffer=") && cookie.ends_with("; Secure"),
                "{host}"
            );
        }
        assert!(end(&at("x")).contains("HttpOnly; SameSite=Strict"));
    }

    #[test]
    fn only_our_own_pages_send_forms() {
        for (origin, is_ours) in [
            (Some("http://gaffer.example:8080"), true),
            (Some("https://gaffer.example:8080"), true),
            (Some("https://gaffer.example"), false),
            (Some("https://evil.example"), false),
            (Some("null"), false),
            (Some("ftp://gaffer.example:8080"), false),
            (None, false),
        ] {
            let mut headers = at("gaffer.example:8080");
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(must_be_ours(&headers).is_ok(), is_ours, "{origin:?}");
        }
    }

    #[test]
    fn the_way_on_stays_here() {
        for next in [
            "/dashboard",
            "/dashboard/sources",
            "/dashboard?needs=person",
        ] {
            assert_eq!(way_on(Some(next)), next);
        }
        for odd in [
            "//evil.example",
            "https://evil.example/dashboard",
            "/dashboardx",
            "/dashboard/\\x",
            "/dashboard/a\r\nb",
            "/jobs",
            "",
        ] {
            assert_eq!(way_on(Some(odd)), "/dashboard", "{odd}");
        }
        assert_eq!(way_on(None), "/dashboard");
    }
}
