//! What was said and done in a run, in answers.

use domain::delivery::TRANSCRIPT_PAGES_MAX;
use domain::ids::{DeliveryId, RunId};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RunView, form};

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
