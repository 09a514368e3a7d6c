//! Answers that are pages, refusals among them.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, REFERER, SET_COOKIE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use dashboard::{Asset, Frame, Live, Page, SignIn};

use super::session::{self, Session, way_on};
use crate::refusal::Refused;
use crate::state::ApiInner;

/// Pages tell what is the case now: neither the browser nor anything between keeps them.
const NOT_KEPT: (axum::http::HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// A file whose name changes with its content is kept for a year, the longest time that is usual.
const KEPT: &str = "public, max-age=31536000, immutable";

/// What a page is asked with.
pub(crate) struct Asked {
    method: Method,
    uri: Uri,
    pub(crate) headers: HeaderMap,
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
        })
    }
}

impl Asked {
    /// The path with its query, without what only the script asks for.
    pub(crate) fn path(&self) -> String {
        let path = self.uri.path();
        let query = self.uri.query().unwrap_or_default().split('&');
        let kept: Vec<&str> = query
            .filter(|it| !it.is_empty() && !it.starts_with("wait="))
            .collect();
        if kept.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{}", kept.join("&"))
        }
    }

    /// A parameter of the query that needs no decoding.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.uri.query()?.split('&');
        let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
    }

    /// Whether the asker has the page of this ETag.
    pub(crate) fn has(&self, etag: &str) -> bool {
        let sent = self.headers.get(IF_NONE_MATCH);
        let sent = sent.and_then(|sent| sent.to_str().ok()).unwrap_or_default();
        let known = |it: &str| it.trim().trim_start_matches("W/").trim_matches('"') == etag;
        sent.split(',').any(known)
    }
}

/// What surrounds a page.
pub(crate) fn frame(api: &ApiInner, session: Option<&Session>, live: Live) -> Frame {
    Frame {
        now: api.backend.now(),
        viewer: session.map(Session::viewer),
        live,
    }
}

/// A page under its ETag.
pub(crate) fn page(status: StatusCode, page: Page) -> Response {
    let etag = format!("\"{}\"", page.etag);
    let headers = [(ETAG, etag), (NOT_KEPT.0, NOT_KEPT.1.to_owned())];
    (status, headers, Html(page.html)).into_response()
}

/// The asker has this page already.
pub(crate) fn unchanged(etag: &str) -> Response {
    let headers = [
        (ETAG, format!("\"{etag}\"")),
        (NOT_KEPT.0, NOT_KEPT.1.to_owned()),
    ];
    (StatusCode::NOT_MODIFIED, headers).into_response()
}

/// A static file.
pub(crate) fn asset(asset: &'static Asset) -> Response {
    let headers = [(CONTENT_TYPE, asset.media_type), (CACHE_CONTROL, KEPT)];
    (headers, asset.content).into_response()
}

/// The page to go on with after a form.
pub(crate) fn see_other(path: &str) -> Response {
    let headers = [
        (LOCATION, path.to_owned()),
        (NOT_KEPT.0, NOT_KEPT.1.to_owned()),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// The same with a cookie.
pub(crate) fn see_other_with(path: &str, cookie: String) -> Response {
    let mut response = see_other(path);
    if let Ok(cookie) = cookie.parse() {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// A page that could not be rendered. The cause is for the log alone.
pub(crate) fn unrendered(error: &dashboard::Error) -> Response {
    tracing::error!(%error, "a page could not be rendered");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

/// A refusal as a page: without a session it is the sign-in.
pub(crate) fn refused(
    api: &ApiInner,
    asked: &Asked,
    session: Option<&Session>,
    refused: &Refused,
) -> Response {
    let form = RefusedForm {
        page: &back(asked),
        typed: &[],
    };
    refused_form(api, asked, session, refused, form)
}

/// A form that is refused: the path of the page that it is on, and what a person typed into it.
#[derive(Clone, Copy)]
pub(crate) struct RefusedForm<'a> {
    pub(crate) page: &'a str,
    pub(crate) typed: &'a [(&'a str, &'a str)],
}

/// The same for a form.
pub(crate) fn refused_form(
    api: &ApiInner,
    asked: &Asked,
    session: Option<&Session>,
    refused: &Refused,
    form: RefusedForm<'_>,
) -> Response {
    let status = refused.status();
    if status == StatusCode::UNAUTHORIZED {
        let is_first = refused.problem().code == "no_session";
        let said = (!is_first).then_some(refused.problem().detail.as_str());
        // A form is not sent again after the sign-in: the person sees its page, as it is then.
        let next = if asked.method == Method::GET {
            asked.path()
        } else {
            form.page.to_owned()
        };
        return sign_in(api, asked, &next, said);
    }
    let frame = frame(api, session, Live::No);
    match dashboard::refusal(&frame, refused.problem(), form.page, form.typed) {
        Ok(rendered) => page(status, rendered),
        Err(error) => unrendered(&error),
    }
}

/// The sign-in, in place of what was asked for.
pub(crate) fn sign_in(
    api: &ApiInner,
    asked: &Asked,
    next: &str,
    refusal: Option<&str>,
) -> Response {
    let site = asked.headers.get("sec-fetch-site");
    let next = way_on(Some(next));
    let shown = SignIn {
        next,
        refusal,
        is_from_elsewhere: site.is_some_and(|site| site == "cross-site"),
    };
    match dashboard::sign_in(&frame(api, None, Live::No), shown) {
        Ok(rendered) => page(StatusCode::UNAUTHORIZED, rendered),
        Err(error) => unrendered(&error),
    }
}

/// The page from which a person came, if it is one of ours.
fn back(asked: &Asked) -> String {
    let referer = asked.headers.get(REFERER);
    let from: Option<Uri> = referer.and_then(|it| it.to_str().ok()?.parse().ok());
    let path = from.as_ref().and_then(Uri::path_and_query);
    let path = path.map(|path| path.as_str());
    let is_other = |path: &&str| *path != asked.path();
    way_on(path.filter(is_other)).to_owned()
}

/// A path of the dashboard where nothing is.
pub(crate) async fn nowhere(api: &ApiInner, asked: &Asked) -> Response {
    match session::current(api, &asked.headers).await {
        Ok(session) => refused(api, asked, Some(&session), &super::inside::no_page()),
        Err(closed) => refused(api, asked, None, &closed),
    }
}
