//! `GET /metrics`: figures in Prometheus's text format 0.0.4.
//!
//! Source: Prometheus, "Exposition formats", text-based format. All figures come from the store, so every process
//! returns the same ones, except those that say "of this process".

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use client::wire::WebhookCounts;
use domain::account::PollCounters;
use domain::ids::AccountName;
use domain::status::{AccountView, DeliveryLogView, SprintGlimpse, Status, Used};
use engine::metrics::Metrics;
use jiff::{SignedDuration, Timestamp};

use crate::refusal::Refused;
use crate::route::{ApiRow, ResponseBody, Row};
use crate::state::SharedState;

/// The content type of the answer.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[Row::get(
    "/metrics",
    "metrics",
    "Returns metrics for Prometheus",
    || get(metrics),
)
.answers(&[(200, ResponseBody::Figures)])];

/// How a figure behaves.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Quantiles, with a sum and a count.
    Summary,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Summary => "summary",
        }
    }
}

/// `GET /metrics`.
async fn metrics(State(api): SharedState) -> Result<Response, Refused> {
    let figures = api.backend.shared_figures().await?;
    let text = page(&figures, api.webhooks.counts());
    Ok(([(CONTENT_TYPE, FORMAT)], text).into_response())
}

/// A page of figures being written.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Begins a figure. `help` is one line without backslashes.
    fn figure(&mut self, name: &'static str, kind: Kind, help: &'static str) -> Samples<'_> {
        let kind = kind.name();
        // Writing into a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Samples { page: self, name }
    }
}

/// The samples of one figure.
struct Samples<'a> {
    page: &'a mut Page,
    name: &'static str,
}

impl Samples<'_> {
    fn add(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.named("", labels, value);
    }

    fn named(&mut self, end: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let labels = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", labels.join(","))
        };
        let _ = writeln!(self.page.0, "{}{end}{labels} {value}", self.name);
    }
}

/// Escapes a label's value: three characters need it.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

fn page(figures: &Metrics, webhooks: WebhookCounts) -> String {
    let mut page = Page::default();
    let status = &figures.status;
    page.figure("gaffer_info", Kind::Gauge, "The version that answers.")
        .add(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    work(&mut page, status);
    polls(&mut page, &figures.polls);
    allowances(&mut page, &status.accounts);
    wakes(&mut page, figures);
    github(&mut page, status);
    let mut samples = page.figure(
        "gaffer_webhooks_total",
        Kind::Counter,
        "Webhook deliveries of this process.",
    );
    samples.add(&[("result", "accepted")], webhooks.accepted);
    samples.add(&[("result", "ignored")], webhooks.ignored);
    samples.add(&[("result", "refused")], webhooks.refused);
    repairs(&mut page, &status.hooks);
    page.0
}

fn work(page: &mut Page, status: &Status) {
    let help = "Jobs by state.";
    let mut samples = page.figure("gaffer_jobs", Kind::Gauge, help);
    for (state, count) in &status.jobs {
        samples.add(&[("state", state)], *count);
    }
    let help = "Open deliveries by phase and how that goes.";
    let mut samples = page.figure("gaffer_deliveries", Kind::Gauge, help);
    for (place, count) in &status.deliveries {
        if let Some((phase, run)) = place.split_once('/') {
            samples.add(&[("phase", phase), ("run_status", run)], *count);
        }
    }
    let help = "Runs of pipelines by their step and how that goes.";
    let mut samples = page.figure("gaffer_pipelines", Kind::Gauge, help);
    for (place, count) in &status.pipelines {
        if let Some((step, state)) = place.split_once('/') {
            samples.add(&[("step", step), ("state", state)], *count);
        }
    }
    let help = "Requirements by state.";
    let mut samples = page.figure("gaffer_requirements", Kind::Gauge, help);
    for (state, count) in &status.requirements {
        samples.add(&[("state", state)], *count);
    }
    sprints(page, &status.sprints);
    switches(page, status);
}

/// The newest sprint of each source.
fn sprints(page: &mut Page, newest: &[SprintGlimpse]) {
    let help = "Ticks of the newest sprint of a source.";
    let mut samples = page.figure("gaffer_sprint_ticks", Kind::Gauge, help);
    for sprint in newest {
        let repo = sprint.repo.to_string();
        let labels = [("repo", repo.as_str()), ("state", &sprint.state)];
        samples.add(&labels, sprint.ticks);
    }
    let repos = || newest.iter().map(|it| (it.repo.to_string(), &it.figures));
    let help = "The most ticks that a resolved conflict of the newest sprint of a source took.";
    let name = "gaffer_sprint_ticks_to_resolution";
    let mut samples = page.figure(name, Kind::Gauge, help);
    for (repo, figures) in repos() {
        samples.add(&[("repo", &repo)], figures.ticks_to_resolution);
    }
    let help = "Sessions that were created for members of the newest sprint of a source.";
    let mut samples = page.figure("gaffer_sprint_tasks", Kind::Gauge, help);
    for (repo, figures) in repos() {
        samples.add(&[("repo", &repo)], figures.tasks);
    }
    let help = "How many of a hundred members of the newest sprint of a source conflicted.";
    let mut samples = page.figure("gaffer_sprint_conflict_rate", Kind::Gauge, help);
    for (repo, figures) in repos() {
        samples.add(&[("repo", &repo)], figures.conflict_rate);
    }
    let help = "Members of the newest sprint of a source: all, and by what became of them.";
    let mut samples = page.figure("gaffer_sprint_members", Kind::Gauge, help);
    for (repo, figures) in repos() {
        for (what, count) in [
            ("all", figures.members),
            ("integrated", figures.integrated),
            ("merged", figures.merged),
            ("nothing", figures.nothing),
            ("skipped", figures.skipped),
            ("conflicted", figures.conflicts),
            ("resolved", figures.resolved),
        ] {
            samples.add(&[("repo", &repo), ("what", what)], count);
        }
    }
}

/// What is switched off, and what waits.
fn switches(page: &mut Page, status: &Status) {
    let paused = u8::from(status.paused_since.is_some());
    page.figure(
        "gaffer_paused",
        Kind::Gauge,
        "Whether everything is paused.",
    )
    .add(&[], paused);
    let queue = status.queue;
    page.figure("gaffer_queue_messages", Kind::Gauge, "Wake-ups that wait.")
        .add(&[("queue", "work")], queue.waiting);
    page.figure(
        "gaffer_dead_letters",
        Kind::Gauge,
        "Wake-ups that were given up.",
    )
    .add(&[("queue", "work")], queue.dead);
    if let Some(oldest) = queue.oldest {
        let help = "How long the oldest wake-up waits.";
        page.figure("gaffer_queue_oldest_seconds", Kind::Gauge, help)
            .add(
                &[("queue", "work")],
                seconds(status.now.duration_since(oldest)),
            );
    }
    let late = status
        .overdue_since
        .map(|since| status.now.duration_since(since));
    let help = "How long the row is due that waits longest for being claimed.";
    page.figure("gaffer_overdue_seconds", Kind::Gauge, help)
        .add(&[], late.map_or(0.0, seconds));
    if let Some(last) = status.last_tick {
        let help = "When an account was last polled.";
        page.figure("gaffer_last_poll_timestamp_seconds", Kind::Gauge, help)
            .add(&[], unix(last));
    }
}

fn polls(page: &mut Page, polls: &BTreeMap<AccountName, PollCounters>) {
    let mut samples = page.figure("gaffer_polls_total", Kind::Counter, "Polls of Jules.");
    for (account, counters) in polls {
        samples.add(&[("account", account.as_str())], counters.polls);
    }
    let help = "Polls of Jules that failed, by what was wrong.";
    let mut samples = page.figure("gaffer_poll_errors_total", Kind::Counter, help);
    for (account, counters) in polls {
        for (class, count) in &counters.failed {
            let labels = [("account", account.as_str()), ("code", class.as_str())];
            samples.add(&labels, *count);
        }
    }
    let help = "Seconds that polls waited because of failures, besides the tick.";
    let mut samples = page.figure("gaffer_backoff_seconds_total", Kind::Counter, help);
    for (account, counters) in polls {
        samples.add(&[("account", account.as_str())], counters.backoff_secs);
    }
}

fn allowances(page: &mut Page, accounts: &[AccountView]) {
    let windows = |account: &AccountView| [("concurrent", account.slots), ("day", account.today)];
    let mut samples = page.figure(
        "gaffer_tasks",
        Kind::Gauge,
        "Tasks that count against the plan.",
    );
    for account in accounts {
        for (window, Used { used, .. }) in windows(account) {
            let labels = [("account", account.name.as_str()), ("window", window)];
            samples.add(&labels, used);
        }
    }
    let help = "Tasks that the plan allows.";
    let mut samples = page.figure("gaffer_tasks_allowed", Kind::Gauge, help);
    for account in accounts {
        for (window, Used { of, .. }) in windows(account) {
            let labels = [("account", account.name.as_str()), ("window", window)];
            samples.add(&labels, u64::from(of));
        }
    }
}

fn wakes(page: &mut Page, figures: &Metrics) {
    let help = "Events by kind.";
    let mut samples = page.figure("gaffer_events_total", Kind::Counter, help);
    for (name, count) in &figures.events {
        let (event, kind) = name.split_once(' ').unwrap_or((name, ""));
        samples.add(&[("event", event), ("kind", kind)], *count);
    }
    let help = "From seeing an event to its acknowledgement, of the newest events.";
    let mut samples = page.figure("gaffer_wake_latency_seconds", Kind::Summary, help);
    for (label, percent) in [("0.5", 50), ("0.9", 90), ("1", 100)] {
        if let Some(wait) = quantile(&figures.wakes, percent) {
            samples.add(&[("quantile", label)], seconds(wait));
        }
    }
    // The sum of nothing is a negative zero.
    let sum = figures
        .wakes
        .iter()
        .fold(0.0, |sum, wait| sum + seconds(*wait));
    samples.named("_sum", &[], sum);
    samples.named("_count", &[], figures.wakes.len());
}

/// The smallest that so many percent of them do not exceed.
fn quantile(ascending: &[SignedDuration], percent: usize) -> Option<SignedDuration> {
    let place = (ascending.len() * percent).div_ceil(100);
    ascending.get(place.saturating_sub(1)).copied()
}

fn github(page: &mut Page, status: &Status) {
    let budgets = &status.github.budgets;
    let help = "Requests that GitHub still grants until the reset.";
    let mut samples = page.figure("gaffer_github_budget_remaining", Kind::Gauge, help);
    for budget in budgets {
        let labels = [("owner", &*budget.owner), ("resource", &*budget.resource)];
        samples.add(&labels, budget.remaining);
    }
    let help = "Requests that GitHub grants in each window.";
    let mut samples = page.figure("gaffer_github_budget_limit", Kind::Gauge, help);
    for budget in budgets {
        let labels = [("owner", &*budget.owner), ("resource", &*budget.resource)];
        samples.add(&labels, budget.limit);
    }
    let usage = &status.github.usage;
    let help = "Requests to GitHub of the process that told its budgets last.";
    page.figure("gaffer_github_requests_total", Kind::Counter, help)
        .add(&[], usage.requests);
    let help = "Sources whose issues could not be read at the last reading.";
    let mut samples = page.figure("gaffer_issues_unread", Kind::Gauge, help);
    for unread in &status.unread_issues {
        samples.add(&[("repo", &unread.repo.to_string())], 1);
    }
}

fn repairs(page: &mut Page, hooks: &[DeliveryLogView]) {
    let help = "Webhook deliveries that failed and have not arrived since.";
    let mut samples = page.figure("gaffer_webhooks_failed", Kind::Gauge, help);
    for hook in hooks {
        samples.add(&[("log", &hook.log.to_string())], hook.failed);
    }
    let help = "How often GitHub was asked for a webhook delivery again.";
    let mut samples = page.figure("gaffer_webhooks_asked_again_total", Kind::Counter, help);
    for hook in hooks {
        samples.add(&[("log", &hook.log.to_string())], hook.asked);
    }
    let help = "Webhook deliveries that failed and never arrived.";
    let mut samples = page.figure("gaffer_webhooks_given_up_total", Kind::Counter, help);
    for hook in hooks {
        samples.add(&[("log", &hook.log.to_string())], hook.given_up);
    }
}

fn seconds(wait: SignedDuration) -> f64 {
    wait.as_secs_f64()
}

/// Seconds since 1970, to the second: a float could not hold more for sure.
fn unix(at: Timestamp) -> i64 {
    at.as_second()
}
