//! What was said and done in a run.

use axum::extract::State;
use axum::response::Response;
use client::wire::{DeliveryRun, TRANSCRIPT_PAGE_MAX};
use dashboard::{Frame, Page, Transcript};
use domain::ids::{DeliveryId, RunId};

use super::answer::Asked;
use super::inside::{Inside, Rooms, no_page};
use super::live::{self, NoPage};
use super::session::Session;
use crate::body::{self, Parts};
use crate::state::SharedState;

/// Which run, and which page of its transcript.
#[derive(Clone)]
struct Wanted {
    delivery: DeliveryId,
    run: RunId,
    page: u32,
}

/// `GET /dashboard/deliveries/{delivery}/runs/{run}`.
pub(crate) async fn run(
    State(api): SharedState,
    rooms: Rooms,
    path: Parts<(String, String)>,
    asked: Asked,
) -> Response {
    let wanted = wanted(path, &asked);
    live::answer(&api, &asked, |session, frame| {
        let (inside, wanted) = (rooms.0.clone(), wanted.clone());
        async move {
            let wanted = wanted.ok_or_else(no_page)?;
            made(&inside, &session, &frame, &wanted).await
        }
    })
    .await
}

/// Nothing else goes on into another path.
fn wanted(path: Parts<(String, String)>, asked: &Asked) -> Option<Wanted> {
    let (delivery, run) = body::parts(path).ok()?;
    let page = match asked.parameter("page") {
        Some(page) => page.parse().ok()?,
        None => 1,
    };
    let is_one = (1..=TRANSCRIPT_PAGE_MAX).contains(&page);
    is_one.then_some(Wanted {
        delivery: delivery.parse().ok()?,
        run: run.parse().ok()?,
        page,
    })
}

async fn made(
    inside: &Inside,
    session: &Session,
    frame: &Frame,
    wanted: &Wanted,
) -> Result<Page, NoPage> {
    let Wanted {
        delivery,
        run,
        page,
    } = wanted;
    let path = format!("/api/deliveries/{delivery}/runs/{run}");
    let shown: DeliveryRun = inside.get(&session.caller, &path).await?;
    let kept = format!("{path}/transcript?page={page}");
    let kept = inside.get_read(&session.caller, &kept).await?;
    let transcript = Transcript {
        delivery,
        run: &shown.run,
        kept: kept.as_ref(),
    };
    Ok(dashboard::transcript(frame, transcript)?)
}
