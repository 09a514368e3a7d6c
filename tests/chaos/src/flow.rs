//! What goes on by itself: time, webhooks, and a base branch that moves.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use engine::ports::Clock;
use jiff::SignedDuration;
use sandbox::Sandbox;

use crate::keeper::ClientSlot;
use crate::stage;
use crate::time::{LOOK_EVERY, SharedTime};

/// How often time moves, in real time.
const BEAT: Duration = Duration::from_millis(1);

/// How far it moves while anything is being done.
const CRAWL: SignedDuration = SignedDuration::from_millis(10);

/// How far it moves while nothing is being done.
const STRIDE: SignedDuration = SignedDuration::from_millis(500);

/// Lets time pass: in small steps while work is in progress or no process runs, in large ones otherwise.
pub(crate) async fn flow(
    time: Arc<SharedTime>,
    sandbox: Arc<Sandbox>,
    client_slot: Arc<ClientSlot>,
) -> Result<()> {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        let busy = sandbox.in_flight() > 0 || time.is_busy() || client_slot.borrow().is_none();
        time.pass(if busy { CRAWL } else { STRIDE })?;
        sandbox.advance();
    }
}

/// Posts webhooks; apart, since a dead child must not hold up the time.
pub(crate) async fn post(sandbox: Arc<Sandbox>) -> Result<()> {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        sandbox.deliver_webhooks().await;
    }
}

/// Once the strict repository has a pull request, its base moves on.
pub(crate) async fn move_base(sandbox: Arc<Sandbox>, time: Arc<SharedTime>) -> Result<()> {
    let mut beat = tokio::time::interval(LOOK_EVERY);
    loop {
        beat.tick().await;
        if !sandbox.github().pulls(stage::DOCS).is_empty() {
            let github = sandbox.github();
            github.push(
                time.now(),
                stage::DOCS,
                "main",
                "Something else",
                "somebody",
            );
            return Ok(());
        }
    }
}
