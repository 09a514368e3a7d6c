//! The schedule of a pipeline in its wire form.

use client::wire::{LeftOutTime, ScheduleErrorView, ScheduleView, ScheduledRun};
use domain::redact::presentable;
use domain::schedule::{BegunRun, LeftOut, Schedule, ScheduleError};

use crate::view::SHORT_CHARS_MAX;

/// The zone of a schedule that names none.
const UTC: &str = "UTC";

/// When the runs of a pipeline begin by themselves.
pub(super) fn view(schedule: &Schedule) -> ScheduleView {
    let settings = schedule.settings.clone().unwrap_or_default();
    let zone = settings.timezone.as_deref().unwrap_or(UTC);
    let clock = match settings.by_actions {
        true => "actions",
        false => "gaffer",
    };
    ScheduleView {
        clock: clock.to_owned(),
        is_read: schedule.settings.is_some(),
        cron: settings.cron.iter().map(|written| short(written)).collect(),
        timezone: short(zone),
        next_at: schedule.next,
        last_run: schedule.begun.as_ref().map(run),
        left_out: schedule.left_out.as_ref().map(left_out),
        last_error: schedule.error.as_ref().map(error),
        next_look: schedule.due,
    }
}

fn run(begun: &BegunRun) -> ScheduledRun {
    ScheduledRun {
        pipeline_id: begun.run.clone(),
        time: begun.time,
        begun_at: begun.at,
    }
}

fn left_out(found: &LeftOut) -> LeftOutTime {
    LeftOutTime {
        time: found.time,
        reason: short(&found.reason),
    }
}

fn error(found: &ScheduleError) -> ScheduleErrorView {
    ScheduleErrorView {
        since: found.since,
        reason: short(&found.reason),
    }
}

fn short(text: &str) -> String {
    presentable(text, SHORT_CHARS_MAX)
}
