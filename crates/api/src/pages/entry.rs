//! The way in and out: tokens, links and sessions.

use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::Json;
use axum::extract::rejection::FormRejection;
use axum::extract::{Extension, Form, FromRequest, Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use client::wire::DashboardLink;
use dashboard::Live;
use tokio::time::timeout;

use super::answer::{self, Asked};
use super::seal::{Purpose, digest};
use super::session;
use crate::auth::{self, AuthenticatedCaller};
use crate::body::{BODY_WITHIN, too_slow};
use crate::refusal::Refused;
use crate::state::SharedState;

/// The fields of a form.
pub(crate) type Fields = BTreeMap<String, String>;

/// A form as it came, or why it cannot be read.
pub(crate) struct SentForm(Result<Fields, Refused>);

impl<S: Send + Sync> FromRequest<S> for SentForm {
    type Rejection = Infallible;

    async fn from_request(request: Request, state: &S) -> Result<Self, Infallible> {
        let read = timeout(BODY_WITHIN, Form::<Fields>::from_request(request, state)).await;
        let unread = |rejection: FormRejection| {
            let detail = "the form could not be read: go back, and send it again";
            Refused::new(rejection.status(), "bad_form", detail)
        };
        Ok(Self(match read {
            Ok(form) => form.map(|form| form.0).map_err(unread),
            Err(_) => Err(too_slow()),
        }))
    }
}

/// The fields of a form that was sent by a page of ours.
pub(crate) fn fields(asked: &Asked, sent: SentForm) -> Result<Fields, Refused> {
    session::must_be_ours(&asked.headers)?;
    sent.0
}

/// `GET /dashboard/sign-in`.
pub(crate) async fn sign_in_page(State(api): SharedState, asked: Asked) -> Response {
    answer::sign_in(&api, &asked, "/dashboard", None)
}

/// `POST /dashboard/sign-in`.
pub(crate) async fn sign_in(State(api): SharedState, asked: Asked, sent: SentForm) -> Response {
    let fields = match fields(&asked, sent) {
        Ok(fields) => fields,
        Err(refused) => return answer::refused(&api, &asked, None, &refused),
    };
    let token = fields.get("token").map_or("", |token| token.trim());
    let next = session::way_on(fields.get("next").map(String::as_str));
    let admitted = match auth::admit(&api, token).await {
        Ok(caller) => session::sealed(&api, &caller, &digest(token), Purpose::Session).await,
        Err(refused) => Err(refused),
    };
    match admitted {
        Ok(sealed) => answer::see_other_with(next, session::begin(&sealed, &asked.headers)),
        Err(refused) if refused.status() == StatusCode::UNAUTHORIZED => {
            answer::sign_in(&api, &asked, next, Some(&refused.problem().detail))
        }
        Err(refused) => answer::refused(&api, &asked, None, &refused),
    }
}

/// `POST /dashboard/sign-out`.
pub(crate) async fn sign_out(State(api): SharedState, asked: Asked, sent: SentForm) -> Response {
    let session = match session::current(&api, &asked.headers).await {
        Ok(session) => session,
        Err(closed) => return answer::refused(&api, &asked, None, &closed),
    };
    let own = fields(&asked, sent)
        .and_then(|fields| session.must_own(fields.get("form").map_or("", String::as_str)));
    match own {
        Ok(()) => answer::see_other_with("/dashboard/sign-in", session::end(&asked.headers)),
        Err(refused) => answer::refused(&api, &asked, Some(&session), &refused),
    }
}

/// `GET /dashboard/enter`: a link that signs in.
pub(crate) async fn enter(State(api): SharedState, asked: Asked) -> Response {
    let link = asked.parameter("link").and_then(|link| link.parse().ok());
    let sealed = match &link {
        Some(link) => session::resealed(&api, link).await,
        None => Err(session::over()),
    };
    let rendered = dashboard::entered(&answer::frame(&api, None, Live::No));
    match (sealed, rendered) {
        (Ok(sealed), Ok(rendered)) => {
            let mut response = answer::page(StatusCode::OK, rendered);
            if let Ok(cookie) = session::begin(&sealed, &asked.headers).parse() {
                response.headers_mut().insert(SET_COOKIE, cookie);
            }
            response
        }
        (Err(refused), _) => {
            let said = Some(refused.problem().detail.as_str());
            answer::sign_in(&api, &asked, "/dashboard", said)
        }
        (Ok(_), Err(error)) => answer::unrendered(&error),
    }
}

/// `GET /api/dashboard/link`: a link for the shown token.
pub(crate) async fn link(
    State(api): SharedState,
    Extension(caller): Extension<AuthenticatedCaller>,
    headers: HeaderMap,
) -> Result<Json<DashboardLink>, Refused> {
    let digest = digest(auth::shown(&headers)?);
    let sealed = session::sealed(&api, &caller, &digest, Purpose::Link).await?;
    Ok(Json(DashboardLink {
        path: format!("/dashboard/enter?link={sealed}"),
        until: sealed.ends(),
    }))
}
