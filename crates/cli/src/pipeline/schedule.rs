//! The schedule of a pipeline as people see it.

use client::wire::ScheduleView;

use crate::render::moment;

/// What a person wants to know of a schedule.
pub(super) fn pairs(schedule: &ScheduleView) -> Vec<(&'static str, String)> {
    let next = schedule.next_at.map(moment).unwrap_or_default();
    let run = schedule.last_run.as_ref().map(|run| {
        let made_up = match run.begun_at > run.time {
            true => format!(", begun {}", moment(run.begun_at)),
            false => String::new(),
        };
        format!("{} for {}{made_up}", run.pipeline_id, moment(run.time))
    });
    let left_out = schedule.left_out.as_ref();
    let left_out = left_out.map(|it| format!("{}: {}", moment(it.time), it.reason));
    let error = schedule.last_error.as_ref();
    let error = error.map(|it| format!("since {}: {}", moment(it.since), it.reason));
    vec![
        ("schedule", times(schedule)),
        ("next run", next),
        ("last scheduled run", run.unwrap_or_default()),
        ("left out", left_out.unwrap_or_default()),
        ("schedule error", error.unwrap_or_default()),
    ]
}

fn times(schedule: &ScheduleView) -> String {
    let ScheduleView {
        clock,
        is_read,
        cron,
        timezone,
        next_look,
        ..
    } = schedule;
    if clock == "actions" {
        return "a workflow of the repository has the clock".to_owned();
    }
    match (*is_read, &schedule.last_error) {
        (false, Some(_)) => match next_look {
            Some(at) => format!("it cannot be read, and is read again at {}", moment(*at)),
            None => "it cannot be read".to_owned(),
        },
        (false, None) => "not read yet".to_owned(),
        (true, _) if cron.is_empty() => "none: no run begins by itself".to_owned(),
        (true, _) => format!("{} ({timezone})", cron.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use client::wire::{LeftOutTime, ScheduleErrorView, ScheduleView, ScheduledRun};
    use jiff::Timestamp;

    use super::pairs;
    use crate::render::Answer;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn bare() -> ScheduleView {
        ScheduleView {
            clock: "gaffer".to_owned(),
            is_read: true,
            cron: Vec::new(),
            timezone: "UTC".to_owned(),
            next_at: None,
            last_run: None,
            left_out: None,
            last_error: None,
            next_look: None,
        }
    }

    fn text(schedule: &ScheduleView) -> String {
        Answer::new(serde_json::Value::Null)
            .pairs(pairs(schedule))
            .text()
    }

    #[test]
    fn a_schedule_says_when_and_what_stood_in_the_way() {
        let whole = ScheduleView {
            cron: vec!["0 20 * * *".to_owned(), "0 8 * * 1".to_owned()],
            timezone: "Europe/Berlin".to_owned(),
            next_at: Some(at("2026-03-02T19:00:00Z")),
            last_run: Some(ScheduledRun {
                pipeline_id: "01k0000000000000000000000a".parse().unwrap(),
                time: at("2026-02-28T19:00:00Z"),
                begun_at: at("2026-03-01T07:00:00Z"),
            }),
            left_out: Some(LeftOutTime {
                time: at("2026-03-01T19:00:00Z"),
                reason: "another run goes on".to_owned(),
            }),
            last_error: Some(ScheduleErrorView {
                since: at("2026-03-01T20:00:00Z"),
                reason: "GitHub answers 502".to_owned(),
            }),
            ..bare()
        };
        let text = text(&whole);
        for said in [
            "0 20 * * *; 0 8 * * 1 (Europe/Berlin)",
            "2026-03-02 19:00:00Z",
            "01k0000000000000000000000a for 2026-02-28 19:00:00Z, begun 2026-03-01 07:00:00Z",
            "2026-03-01 19:00:00Z: another run goes on",
            "since 2026-03-01 20:00:00Z: GitHub answers 502",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }

    #[test]
    fn a_schedule_without_times_says_why() {
        assert!(text(&bare()).contains("none: no run begins by itself"));
        let unread = ScheduleView {
            is_read: false,
            ..bare()
        };
        assert!(text(&unread).contains("not read yet"));
        let unreadable = ScheduleView {
            last_error: Some(ScheduleErrorView {
                since: at("2026-03-01T20:00:00Z"),
                reason: "no branch".to_owned(),
            }),
            next_look: Some(at("2026-03-01T20:15:00Z")),
            ..unread
        };
        let words = "it cannot be read, and is read again at 2026-03-01 20:15:00Z";
        assert!(text(&unreadable).contains(words));
        let theirs = ScheduleView {
            clock: "actions".to_owned(),
            cron: vec!["0 20 * * *".to_owned()],
            ..bare()
        };
        assert!(text(&theirs).contains("a workflow of the repository"));
    }
}
