//! The board.

use axum::extract::State;
use axum::response::Response;
use client::wire::{DELIVERIES_LIMIT_MAX, Deliveries, DeliveryCard};
use dashboard::{Board, Frame, Page};
use domain::status::Status;

use super::answer::Asked;
use super::inside::{Inside, Rooms};
use super::live::{self, NoPage};
use super::session::Session;
use crate::state::SharedState;

/// How many deliveries a board asks for: each is read with its job and its pull request.
const CARDS: u32 = 100;

/// How many deliveries that are over are shown beside the others.
const OVER: usize = 20;

/// How many open deliveries are looked for behind the newest ones.
const OPEN: u32 = DELIVERIES_LIMIT_MAX;

/// `GET /dashboard`.
pub(crate) async fn board(State(api): SharedState, rooms: Rooms, asked: Asked) -> Response {
    let cursor = asked.parameter("after").unwrap_or_default();
    live::answer(&api, &asked, |session, frame| {
        let inside = rooms.0.clone();
        async move { made(&inside, &session, &frame, cursor).await }
    })
    .await
}

async fn made(
    inside: &Inside,
    session: &Session,
    frame: &Frame,
    cursor: &str,
) -> Result<Page, NoPage> {
    let status: Status = inside.get(&session.caller, "/status").await?;
    let path = match cursor {
        "" => format!("/api/deliveries?limit={CARDS}"),
        cursor => format!("/api/deliveries?limit={CARDS}&after={cursor}"),
    };
    let listed: Deliveries = inside.get(&session.caller, &path).await?;
    let mut cards = listed.deliveries;
    if listed.next.is_some() && cursor.is_empty() {
        let path = format!("/api/deliveries?open=true&limit={OPEN}");
        let open: Deliveries = inside.get(&session.caller, &path).await?;
        let is_new = |card: &DeliveryCard| cards.iter().all(|known| known.id != card.id);
        let older: Vec<DeliveryCard> = open.deliveries.into_iter().filter(is_new).collect();
        cards.extend(older);
    }
    let mut over = 0;
    cards.retain(|card| {
        over += usize::from(card.is_over());
        !card.is_over() || over <= OVER
    });
    let older = listed.next.map(|next| format!("/dashboard?after={next}"));
    let troubles = dashboard::troubles(&status);
    let board = Board {
        cards: &cards,
        troubles: &troubles,
        is_held: status.held_sprints().next().is_some(),
        older: older.as_deref(),
    };
    Ok(dashboard::board(frame, board)?)
}
