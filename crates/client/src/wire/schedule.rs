//! When the runs of a pipeline begin by themselves.

use domain::ids::PipelineId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;

/// When the runs of a pipeline begin by themselves, as the settings of its repository say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleView {
    /// Whose clock begins them: `gaffer`, or `actions`, a workflow of the repository.
    pub clock: String,
    /// Whether the settings are known: until they have been read, or while they cannot be, `cron` is empty.
    pub is_read: bool,
    /// The cron expressions as written; without any, no run begins by itself.
    pub cron: Vec<String>,
    /// Their time zone.
    pub timezone: String,
    /// When the next run begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub next_at: Option<Timestamp>,
    /// The last run that began by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<ScheduledRun>,
    /// The last time at which none began, and none has made up for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutTime>,
    /// Why the settings could not be read at the last look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<ScheduleErrorView>,
    /// When the settings and the times are looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub next_look: Option<Timestamp>,
}

/// A run that began by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRun {
    /// Which.
    pub pipeline_id: PipelineId,
    /// The time that it is for.
    #[schemars(with = "form::Moment")]
    pub time: Timestamp,
    /// When it began: later, if it was made up.
    #[schemars(with = "form::Moment")]
    pub begun_at: Timestamp,
}

/// A time at which no run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutTime {
    /// Which time.
    #[schemars(with = "form::Moment")]
    pub time: Timestamp,
    /// Why.
    pub reason: String,
}

/// Why the settings of a schedule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleErrorView {
    /// Since when.
    #[schemars(with = "form::Moment")]
    pub since: Timestamp,
    /// Why.
    pub reason: String,
}
