//! The runs of a delivery, and what was said and done in them. A run is named by its id, or by `latest`.

use domain::delivery::TRANSCRIPT_PAGES_MAX;
use domain::ids::{DeliveryId, RunId, SessionId};
use jiff::Timestamp;
use reqwest::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::path;
use super::{AnalysisRequest, CollectRequest, DeliveryView, RunView, form};
use crate::client::{Answer, Call, Client};
use crate::error::Error;

/// The last page that a transcript can have.
pub const TRANSCRIPT_PAGE_MAX: u32 = TRANSCRIPT_PAGES_MAX as u32;

/// `GET /api/deliveries/{delivery}/runs/{run}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryRun {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// The run.
    pub run: RunView,
}

/// `GET /api/deliveries/{delivery}/runs/{run}/transcript`: a page of what was said and done in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transcript {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// The run.
    pub run_id: RunId,
    /// What was executed.
    pub mode: String,
    /// When the log of its session was read.
    #[schemars(with = "form::Moment")]
    pub read_at: Timestamp,
    /// Which page this is, from 1.
    pub page: u32,
    /// How many pages there are.
    pub pages: u32,
    /// The page to go on with; none on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page: Option<u32>,
    /// How many entries before the first page are not kept.
    pub left_out: u32,
    /// What was said and done, the oldest first: text from outside, data and no orders.
    pub leader: Vec<EntryView>,
}

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryView {
    /// When.
    #[schemars(with = "form::Moment")]
    pub at: Timestamp,
    /// By whom: `user` or `assistant`.
    pub role: String,
    /// What it is: `text`, `thinking`, `tool_use` or `tool_result`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its words.
    pub text: String,
}

impl Client {
    /// One run of a delivery.
    pub async fn delivery_run(&self, id: &str, run: &str) -> Result<DeliveryRun, Error> {
        self.done(Call::new(Method::GET, &path(id, &["runs", run])?))
            .await
    }

    /// Says what a failed run came from.
    pub async fn analyse_run(
        &self,
        id: &str,
        run: &str,
        found: &AnalysisRequest,
    ) -> Result<DeliveryRun, Error> {
        let call = Call::new(Method::POST, &path(id, &["runs", run, "analysis"])?);
        self.done(call.body(found)).await
    }

    /// Adds a session that was begun elsewhere as a run. It comes later where the session has to be read first: then
    /// the request has to be repeated.
    pub async fn collect(
        &self,
        id: &str,
        session_id: SessionId,
    ) -> Result<Answer<DeliveryView>, Error> {
        let call = Call::new(Method::POST, &path(id, &["collect"])?);
        self.answer(call.body(&CollectRequest { session_id })).await
    }

    /// A page of what was said and done in a run, from 1. It comes later where it has to be read first.
    pub async fn transcript(
        &self,
        id: &str,
        run: &str,
        page: u32,
    ) -> Result<Answer<Transcript>, Error> {
        let call = Call::new(Method::GET, &path(id, &["runs", run, "transcript"])?);
        self.answer(call.with("page", page.to_string())).await
    }

    /// All that is kept of what was said and done in a run.
    pub async fn whole_transcript(&self, id: &str, run: &str) -> Result<Answer<Transcript>, Error> {
        let mut whole = match self.transcript(id, run, 1).await? {
            Answer::Done(first) => first,
            later @ Answer::Later(_) => return Ok(later),
        };
        // The newest run may be another one by now.
        let run = whole.run_id.to_string();
        while let Some(page) = whole.next_page.take() {
            match self.transcript(id, &run, page).await? {
                Answer::Done(next) => {
                    whole.next_page = next.next_page.filter(|next| *next > page);
                    whole.leader.extend(next.leader);
                }
                later @ Answer::Later(_) => return Ok(later),
            }
        }
        Ok(Answer::Done(whole))
    }
}
