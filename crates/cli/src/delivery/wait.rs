//! `gaffer delivery wait`: polls a delivery until it has come far enough.

use anyhow::Result;
use client::Client;
use client::wire::DeliveryView;
use jiff::SignedDuration;
use tokio::time::Instant;

use crate::args::delivery::DeliveryUntil;
use crate::args::value::short;
use crate::error::Error;
use crate::job::progress::Progress;
use crate::job::wait::{AWAY, LOOK_EVERY, is_away};

use super::untaken::{UntakenIssue, is_missing};

/// Waits, and returns the delivery afterwards.
pub(super) async fn until(
    client: &Client,
    id: &str,
    until: DeliveryUntil,
    within: SignedDuration,
    as_json: bool,
) -> Result<DeliveryView> {
    let mut progress = Progress::new(as_json);
    let end = Instant::now() + within.unsigned_abs();
    let mut name = id.to_owned();
    let mut beat = tokio::time::interval(LOOK_EVERY);
    let mut untaken = UntakenIssue::named(id);
    let mut has_answered = false;
    loop {
        beat.tick().await;
        let delivery = match client.delivery(&name).await {
            // It comes back: an API that was never there is reported at once.
            Err(error) if has_answered && Instant::now() < end && is_away(&error) => {
                progress.away(AWAY);
                continue;
            }
            Err(error) if is_missing(&error) => {
                has_answered = true;
                let Some(issue) = &mut untaken else {
                    return Err(error.into());
                };
                if Instant::now() >= end {
                    return Err(issue.not_in_time(client).await.into());
                }
                issue.must_be_able_to_come(client).await?;
                progress.waiting("no delivery yet", &issue.waits_for());
                continue;
            }
            looked => looked?,
        };
        (has_answered, untaken) = (true, None);
        // What a name such as `latest` means must not change while one waits.
        name = delivery.card.id.to_string();
        let failed = delivery.card.run_status == "failed";
        match until {
            DeliveryUntil::Closed if failed => return Err(failure(&delivery).into()),
            DeliveryUntil::Needed | DeliveryUntil::Closed if delivery.card.is_over() => {
                return Ok(delivery);
            }
            DeliveryUntil::Needed if delivery.card.waits_for.is_decision() => return Ok(delivery),
            DeliveryUntil::Needed | DeliveryUntil::Closed if Instant::now() >= end => {
                return Err(too_long(&delivery, within).into());
            }
            DeliveryUntil::Needed | DeliveryUntil::Closed => {
                let card = &delivery.card;
                let place = format!("{}, {}", card.phase, card.run_status);
                progress.waiting(&place, &card.waits_for.sentence);
            }
        }
    }
}

fn failure(delivery: &DeliveryView) -> Error {
    let card = &delivery.card;
    let reason = match delivery.retry_takes_reason {
        true => " --reason TEXT",
        false => "",
    };
    let next = format!(
        "see why with `gaffer delivery why {}`, and try it again with `gaffer delivery retry {}{reason}`",
        card.id, card.id
    );
    Error::refused("failed", card.why.sentence.clone(), next)
}

fn too_long(delivery: &DeliveryView, within: SignedDuration) -> Error {
    let card = &delivery.card;
    let what = format!(
        "after {} it is still at {}, {}, and waits for {}",
        short(within),
        card.phase,
        card.run_status,
        card.waits_for.sentence
    );
    let next = format!(
        "ask what it waits for with `gaffer delivery why {}`",
        card.id
    );
    Error::refused("still_waiting", what, next)
}
