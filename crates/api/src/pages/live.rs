//! Pages that follow what happens: an ETag, and an answer that is held open until something changed.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use dashboard::{Frame, Live, Page};
use tokio::time::{Instant, sleep_until};

use super::answer::{self, Asked};
use super::session::{self, Session};
use crate::refusal::Refused;
use crate::state::ApiInner;

/// Longest time that an answer is held open: shorter than what stands between us and a browser allows.
const HELD_MAX: Duration = Duration::from_secs(20);

/// How soon a held page is made again though nothing was saved in this process: another one may have saved something.
const MADE_AGAIN: Duration = Duration::from_secs(2);

/// The least time between two makings of a held page: a busy process saves many times a second.
const MADE_GAP: Duration = Duration::from_millis(300);

/// Why there is no page.
pub(crate) enum NoPage {
    /// What it is made of was refused.
    Refused(Refused),
    /// It could not be rendered.
    Unrendered(dashboard::Error),
}

impl From<Refused> for NoPage {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<dashboard::Error> for NoPage {
    fn from(error: dashboard::Error) -> Self {
        Self::Unrendered(error)
    }
}

/// Answers with a page, or with 304 where the asker has it. `make` makes it for a person who is signed in.
pub(crate) async fn answer<F>(
    api: &ApiInner,
    asked: &Asked,
    make: impl Fn(Session, Frame) -> F,
) -> Response
where
    F: Future<Output = Result<Page, NoPage>>,
{
    let until = Instant::now() + held(api, asked);
    loop {
        // The bell is listened to before the page is made, so that nothing is missed in between.
        let mut saved = std::pin::pin!(api.backend.saved());
        let is_rung = poll_fn(|cx| Poll::Ready(saved.as_mut().poll(cx).is_ready())).await;
        let session = match session::current(api, &asked.headers).await {
            Ok(session) => session,
            Err(closed) => return answer::refused(api, asked, None, &closed),
        };
        let frame = answer::frame(api, Some(&session), kind(api));
        let page = match make(session.clone(), frame).await {
            Ok(page) => page,
            Err(NoPage::Refused(refused)) => {
                return answer::refused(api, asked, Some(&session), &refused);
            }
            Err(NoPage::Unrendered(error)) => return answer::unrendered(&error),
        };
        if !asked.has(&page.etag) {
            return answer::page(StatusCode::OK, page);
        }
        let now = Instant::now();
        if now >= until || is_stopping(api) {
            return answer::unchanged(&page.etag);
        }
        let again = until.min(now + MADE_AGAIN);
        if !is_rung {
            tokio::select! {
                () = saved => {}
                () = sleep_until(again) => {}
                () = stopped(api) => {}
            }
        }
        sleep_until(until.min(now + MADE_GAP)).await;
    }
}

/// How long the answer may be held open.
fn held(api: &ApiInner, asked: &Asked) -> Duration {
    let wait = asked.parameter("wait").and_then(|wait| wait.parse().ok());
    match (&api.holding, wait) {
        (Some(_), Some(seconds)) => Duration::from_secs(seconds).min(HELD_MAX),
        (Some(_) | None, _) => Duration::ZERO,
    }
}

/// How pages of this process follow what happens.
fn kind(api: &ApiInner) -> Live {
    if api.holding.is_some() {
        Live::Hold
    } else {
        Live::Poll
    }
}

fn is_stopping(api: &ApiInner) -> bool {
    api.holding
        .as_ref()
        .is_some_and(|stopped| *stopped.borrow())
}

async fn stopped(api: &ApiInner) {
    match api.holding.clone() {
        // An error says that nothing will stop the process any more but its end.
        Some(mut stopped) => drop(stopped.wait_for(|stop| *stop).await),
        None => std::future::pending().await,
    }
}
