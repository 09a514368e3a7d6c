//! One refresh of the whole screen.

use std::collections::BTreeMap;

use client::wire::{DeliveryCard, JobView, Jobs, WaitsFor};
use domain::fence::clip;
use domain::status::{AccountView, Status, Used};
use domain::wake::ActionableEvent;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::render::{Answer, moment, or_dash, value};
use crate::switch::{health, paused_words, poll, sprints_words, waits_words};

/// Longest text in a cell, in characters.
const CELL_CHARS_MAX: usize = 60;

/// The data of a frame.
pub(super) struct TopView {
    pub(super) status: Status,
    pub(super) jobs: Jobs,
    /// Those that wait for a person or an agent, jobs that belong to none among them.
    pub(super) deliveries: Vec<DeliveryCard>,
    pub(super) events: Vec<ActionableEvent>,
}

impl TopView {
    /// The frame as text and as JSON.
    pub(super) fn answer(&self) -> Answer {
        let waiting: Vec<&JobView> = self.waiting();
        let json = json!({
            "now": self.status.now, "paused_since": self.status.paused_since,
            "paused_sources": self.status.paused_sources, "sprints": self.status.sprints,
            "waits_for": self.status.waits_for,
            "jobs": self.status.jobs, "waiting": waiting.iter().map(|job| job_json(job)).collect::<Vec<_>>(),
            "deliveries": self.status.deliveries, "pipelines": self.status.pipelines,
            "requirements": self.status.requirements,
            "deliveries_waiting": self.deliveries_waiting().into_iter().map(value).collect::<Vec<_>>(),
            "accounts": self.status.accounts, "queue": self.status.queue, "events": self.events,
            "unread_issues": self.status.unread_issues,
        });
        let now = self.status.now;
        let waits = self.rows(&waiting, now);
        let accounts = self.status.accounts.iter().map(account).collect();
        let events = self.events.iter().rev().map(event).collect();
        Answer::new(json)
            .pairs(self.head())
            .line("")
            .table(
                &[
                    "waits for",
                    "since",
                    "what",
                    "job or delivery",
                    "repository",
                    "title",
                ],
                waits,
                &none_words(&self.status),
            )
            .line("")
            .table(
                &["account", "health", "slots", "last 24 h", "next poll"],
                accounts,
                "No account yet: `gaffer account add default`.",
            )
            .line("")
            .table(
                &["seen", "event", "kind", "job", "message"],
                events,
                "No event yet.",
            )
    }

    fn head(&self) -> Vec<(&'static str, String)> {
        let Status {
            now, jobs, queue, ..
        } = &self.status;
        let paused = self.status.paused_since.map(moment);
        let unread = self.status.unread_issues.iter();
        let unread: Vec<&str> = unread.map(|it| it.sentence.as_str()).collect();
        vec![
            ("now", moment(*now)),
            ("paused since", paused.unwrap_or_default()),
            ("paused sources", paused_words(&self.status)),
            (
                "jobs",
                Some(counted(jobs))
                    .filter(|told| !told.is_empty())
                    .unwrap_or_else(|| "none".to_owned()),
            ),
            ("deliveries", counted(&self.status.deliveries)),
            ("issues", unread.join("; ")),
            ("pipelines", counted(&self.status.pipelines)),
            ("requirements", counted(&self.status.requirements)),
            ("sprints", sprints_words(&self.status)),
            ("waits for", waits_words(&self.status)),
            (
                "queue",
                format!("{} waiting, {} given up", queue.waiting, queue.dead),
            ),
        ]
    }

    /// Jobs that are not over: those that wait for an answer first, then those in review.
    pub(super) fn open(&self) -> Vec<&JobView> {
        let open = self.jobs.jobs.iter().filter(|job| job.ended.is_none());
        let mut open: Vec<_> = open.collect();
        let is_in_review = |job: &JobView| job.state == "in-review";
        open.sort_by_key(|job| {
            (
                !job.waits_for.is_decision(),
                !is_in_review(job),
                job.waits_for.since,
            )
        });
        open
    }

    /// Jobs that wait for a person or an agent, the longest first.
    fn waiting(&self) -> Vec<&JobView> {
        let jobs = self.jobs.jobs.iter();
        let mut waiting: Vec<_> = jobs.filter(|job| job.waits_for.is_decision()).collect();
        waiting.sort_by_key(|job| job.waits_for.since);
        waiting
    }

    /// Stored deliveries that wait for a person or an agent.
    fn deliveries_waiting(&self) -> Vec<&DeliveryCard> {
        let stored = self.deliveries.iter().filter(|card| card.seq > 0);
        stored.collect()
    }

    /// All that wait, the longest first. A delivery stands for its job.
    fn rows(&self, jobs: &[&JobView], now: Timestamp) -> Vec<Vec<String>> {
        let deliveries = self.deliveries_waiting();
        let stands_for = |job: &JobView| {
            let own = job.delivery_id.as_ref();
            own.is_some_and(|own| deliveries.iter().any(|card| card.id == *own))
        };
        let jobs = jobs.iter().filter(|job| !stands_for(job));
        let jobs = jobs.map(|job| {
            let id = job.job_id.to_string();
            let about = [id, job.repo.to_string(), job.title.clone()];
            (job.waits_for.since, waits(&job.waits_for, about, now))
        });
        let cards = deliveries.iter().map(|card| {
            let id = card.id.to_string();
            let about = [id, card.repo.to_string(), card.summary.clone()];
            (card.waits_for.since, waits(&card.waits_for, about, now))
        });
        let mut rows: Vec<_> = jobs.chain(cards).collect();
        rows.sort_by_key(|(since, _)| *since);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// What is said where no job and no delivery waits for a person or an agent.
fn none_words(status: &Status) -> String {
    let held = status.held_sprints();
    let held: Vec<String> = held
        .map(|it| format!("{} {}", it.repo, it.number))
        .collect();
    if held.is_empty() {
        return "Nobody is waited for.".to_owned();
    }
    format!(
        "No job and no delivery waits for a person or an agent, but sprints wait for a person who ends their pause: {}.",
        held.join(", ")
    )
}

/// How many there are of each; empty without any.
fn counted(counts: &BTreeMap<String, u64>) -> String {
    let words = counts.iter().map(|(word, count)| format!("{count} {word}"));
    words.collect::<Vec<_>>().join(", ")
}

fn job_json(job: &JobView) -> Value {
    json!({
        "job_id": job.job_id, "repo": job.repo, "agent": job.waits_for.agent, "since": job.waits_for.since,
        "for": job.waits_for.what, "waits_for": value(&job.waits_for), "waiting": value(&job.waiting),
    })
}

fn waits(waits_for: &WaitsFor, about: [String; 3], now: Timestamp) -> Vec<String> {
    let agent = waits_for.agent.as_ref().map(ToString::to_string);
    let who = match waits_for.who.as_str() {
        "agent" => agent.unwrap_or_else(|| "an agent".to_owned()),
        _ => "a person".to_owned(),
    };
    let age = waits_for.since.map(|since| now.duration_since(since));
    let [id, repo, title] = about;
    vec![
        who,
        age.map(age_words).unwrap_or_default(),
        waits_for.what.replace('_', " "),
        id,
        repo,
        clip(&title, CELL_CHARS_MAX),
    ]
}

/// An age, as exactly as a reader needs it.
fn age_words(age: SignedDuration) -> String {
    let seconds = age.as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

fn account(account: &AccountView) -> Vec<String> {
    let used = |Used { used, of }: Used| format!("{used} of {of}");
    vec![
        account.name.to_string(),
        health(&account.health),
        used(account.slots),
        used(account.today),
        poll(account.next_poll, account.held_until),
    ]
}

fn event(event: &ActionableEvent) -> Vec<String> {
    vec![
        moment(event.observed_at),
        event.event.clone(),
        event.kind.clone(),
        or_dash(event.job_id.as_ref()),
        clip(event.message.as_deref().unwrap_or_default(), CELL_CHARS_MAX),
    ]
}

#[cfg(test)]
mod tests {
    use domain::sprint::Figures;

    use super::*;

    #[test]
    fn ages_are_told_in_two_units_at_most() {
        let told = |seconds| age_words(SignedDuration::from_secs(seconds));
        for (seconds, words) in [
            (-5, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3_700, "1 h 1 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(told(seconds), words);
        }
    }

    #[test]
    fn a_paused_sprint_is_told_where_no_job_waits() {
        let status = |repo: &str| {
            let figures = Figures::default();
            let status = json!({
                "now": "2026-03-01T11:00:00Z", "paused_since": null, "observe_only": false, "jobs": {}, "accounts": [],
                "queue": { "waiting": 0, "dead": 0 }, "paused_sources": ["acme/shop"],
                "sprints": [{ "repo": repo, "number": 7, "state": "working", "is_over": false, "ticks": 0, "weaves": 0,
                    "figures": figures }],
            });
            serde_json::from_value(status).unwrap()
        };
        assert_eq!(none_words(&status("acme/docs")), "Nobody is waited for.");
        let told = none_words(&status("acme/shop"));
        assert!(
            told.ends_with("a person who ends their pause: acme/shop 7."),
            "{told}"
        );
    }

    #[test]
    fn who_is_waited_for_the_longest_stands_first() {
        let job = |id: &str, since: &str| {
            json!({
                "job_id": id, "state": "asking", "session_id": null, "session_state": null,
                "repo": "acme/shop", "branch": "main", "title": format!("Title of {since}"), "attempt": 1,
                "created_at": since, "pull_request": null, "agent": "me", "account": "default",
                "last_activity": null, "ended": null,
                "waiting": { "for": "question", "since": since, "text": "Which?" },
                "waits_for": { "who": "agent", "agent": "me", "for": "question", "since": since, "sentence": "" },
            })
        };
        let mut own = job("01j00000000000000000000003", "2026-03-01T09:20:00Z");
        own["delivery_id"] = json!("0123456789ab");
        let jobs = [
            job("01j00000000000000000000001", "2026-03-01T10:00:00Z"),
            job("01j00000000000000000000002", "2026-03-01T09:00:00Z"),
            own,
        ];
        let delivery = json!({
            "id": "0123456789ab", "seq": 1, "kind": "issue", "repo": "acme/shop", "summary": "Round prices",
            "phase": "review", "run_status": "succeeded", "priority": 5,
            "waits_for": { "who": "person", "for": "checkpoint", "since": "2026-03-01T09:30:00Z", "sentence": "" },
            "why": { "code": "checkpoint", "sentence": "" },
            "created_at": "2026-03-01T09:00:00Z", "updated_at": "2026-03-01T09:30:00Z",
        });
        let figures = Figures {
            members: 5,
            integrated: 2,
            ..Figures::default()
        };
        let status = json!({
            "now": "2026-03-01T11:00:00Z", "paused_since": null, "observe_only": false,
            "jobs": { "asking": 3 }, "deliveries": { "review/succeeded": 1 }, "queue": { "waiting": 0, "dead": 0 },
            "paused_sources": ["acme/docs"], "waits_for": { "agent": 3, "person": 1 },
            "sprints": [{ "repo": "acme/shop", "number": 7, "state": "working", "is_over": false, "ticks": 0, "weaves": 0,
                "figures": figures }],
            "unread_issues": [{ "repo": "acme/shop", "at": "2026-03-01T10:59:00Z", "sentence": "the issues of acme/shop could not be read: 502" }],
            "accounts": [{ "name": "default", "health": "working", "next_poll": "2026-03-01T11:00:10Z",
                "slots": { "used": 2, "of": 3 }, "today": { "used": 2, "of": 15 } }],
        });
        let seen = TopView {
            status: serde_json::from_value(status).unwrap(),
            jobs: serde_json::from_value(json!({ "jobs": jobs, "more": false })).unwrap(),
            deliveries: serde_json::from_value(json!([delivery])).unwrap(),
            events: Vec::new(),
        };
        let text = seen.answer().text();
        for part in [
            "3 asking",
            "acme/docs",
            "acme/shop 7: working, 2 of 5 in",
            "3 for agent, 1 for person",
            "1 review/succeeded",
            "the issues of acme/shop could not be read: 502",
            "2 h 0 min",
            "2 of 15",
            "No event yet.",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        let place = |title: &str| text.find(title).unwrap();
        let order = [
            "Title of 2026-03-01T09:00",
            "Round prices",
            "Title of 2026-03-01T10",
        ];
        assert!(order.map(place).is_sorted(), "{text}");
        // Its delivery stands for it.
        assert!(!text.contains("Title of 2026-03-01T09:20"), "{text}");
    }
}
