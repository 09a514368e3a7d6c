//! Waits a little for effects, and shows how far they are.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use client::wire::{EffectView, Pending, Reason};
use domain::effect::{Effect, EffectState};
use domain::ids::{EffectId, JobId};
use domain::redact::presentable;
use engine::jobs::EffectRef;
use engine::keys;

use crate::body::{self, Parts};
use crate::refusal::Refused;
use crate::route::{ApiRow, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::view::SHORT_CHARS_MAX;

/// Effects, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[Row::get(
    "/jobs/{job}/effects/{effect}",
    "show_effect",
    "Shows the state of one of a job's effects",
    || get(effect),
)
.answers(&[(200, ResponseBody::Json("EffectView"))])
.refuses(&[404])];

/// `GET /jobs/{id}/effects/{effect_id}`.
async fn effect(
    State(api): SharedState,
    path: Parts<(String, String)>,
) -> Result<Json<EffectView>, Refused> {
    let (name, effect) = body::parts(path)?;
    let id: EffectId = effect.parse().map_err(|error| {
        let detail = format!("`effect_id`: {error}");
        Refused::new(StatusCode::BAD_REQUEST, "bad_id", &detail).about("effect_id")
    })?;
    let named = api.backend.find(&name).await?;
    let job = api.backend.must_job(&named.job).await?.value;
    let pull = job.pull().map(keys::pull_pk);
    for pk in [Some(keys::job_pk(&job.id)), pull].into_iter().flatten() {
        if let Some(found) = api.backend.store.effect(&pk, &id).await? {
            return Ok(Json(shown(&job.id, &found.value)));
        }
    }
    let detail = format!("job {} has no effect `{id}`", job.id);
    Err(Refused::new(StatusCode::NOT_FOUND, "no_such_effect", &detail).about("effect_id"))
}

/// Waits for an effect: 200 when it is done, 409 when it failed, 202 while it is neither.
pub(crate) async fn wait(
    api: &ApiInner,
    job: &JobId,
    effect_ref: &EffectRef,
) -> Result<Response, Refused> {
    let effect = api.backend.settled(effect_ref, api.answer_within).await?;
    let view = EffectView {
        adds_to: effect_ref.adds_to,
        ..shown(job, &effect)
    };
    let address = format!("/jobs/{job}/effects/{}", effect.id);
    let sentence = match &effect.state {
        EffectState::Done { .. } => return Ok(Json(view).into_response()),
        EffectState::Failed { failure, .. } => {
            let detail = format!("`{}` failed: {failure}", effect.action.word());
            return Err(failed(&detail));
        }
        EffectState::Intent { not_before, .. } if *not_before > api.backend.now() => {
            format!("It failed for now and is tried again at {not_before}.")
        }
        EffectState::Intent { .. } => "It is noted and will be done.".to_owned(),
        EffectState::Started { .. } => "It is being done.".to_owned(),
        EffectState::Unknown { look_at, .. } => {
            format!("It may have been done; the world is read at {look_at}.")
        }
    };
    let reasons = match &effect.state {
        EffectState::Intent { .. } => pauses(api, job).await?,
        EffectState::Started { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. }
        | EffectState::Failed { .. } => Vec::new(),
    };
    Ok(later(Pending {
        ask_again: address,
        sentence,
        reasons,
        effect: Some(view),
    }))
}

/// The pauses that hold up what is to be written for a job.
pub(crate) async fn pauses(api: &ApiInner, job: &JobId) -> Result<Vec<Reason>, Refused> {
    let job = api.backend.must_job(job).await?.value;
    let found = api.backend.pauses(&job.repo).await?;
    let reason = |it: &domain::delivery::DeliveryReason| Reason::new(it.code, &it.sentence);
    Ok(found.iter().map(reason).collect())
}

/// An action outside failed.
pub(crate) fn failed(detail: &str) -> Refused {
    Refused::new(StatusCode::CONFLICT, "effect_failed", detail)
}

/// 202 with the address to ask again.
pub(crate) fn later(later: Pending) -> Response {
    let address = [(LOCATION, later.ask_again.clone())];
    (StatusCode::ACCEPTED, address, Json(later)).into_response()
}

fn shown(job: &JobId, effect: &Effect) -> EffectView {
    let (state, failure) = match &effect.state {
        EffectState::Intent { .. } => ("intent", None),
        EffectState::Started { .. } => ("started", None),
        EffectState::Unknown { .. } => ("unknown", None),
        EffectState::Done { .. } => ("done", None),
        EffectState::Failed { failure, .. } => ("failed", Some(&failure.message)),
    };
    EffectView {
        effect_id: effect.id.clone(),
        job_id: job.clone(),
        action: effect.action.word().to_owned(),
        state: state.to_owned(),
        attempt: effect.attempt(),
        created_at: effect.created_at,
        next_look: effect.due(),
        failure: failure.map(|message| presentable(message, SHORT_CHARS_MAX)),
        adds_to: None,
    }
}
