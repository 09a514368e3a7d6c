//! `gaffer pause`, `gaffer resume` and `gaffer status`.

use anyhow::{Context, Result};
use domain::account::Health;
use domain::status::{
    AccountView, GitHubView, QueueView, SpendingView, Status, Used, WebhookFeedView,
};
use domain::webhook_activity::WebhookHealth;
use engine::backend::Backend;
use engine::settings::Switches;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::args::operations::SwitchArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{self, Answer, moment, value};
use crate::site::{NOT_RUNNING, Site};
use crate::source;
use crate::source::pause::{PAUSED, STILL_HELD};

/// Stops writing to Jules and GitHub.
pub(crate) async fn pause(args: SwitchArgs, here: &CommandContext) -> Result<Answer> {
    let backend = Site::load(here).await?.backend;
    if let Some(repo) = &args.source {
        return source::pause::set(&backend, repo, true).await;
    }
    let now = backend.now();
    let since = set(&backend, |switches| {
        Some(switches.paused_since.unwrap_or(now))
    })
    .await
    .context("pausing everything")?;
    backend.hold_sprints(None).await.context(PAUSED)?;
    let text = "Everything is paused: nothing is written to Jules or GitHub until `gaffer resume`.";
    Ok(Answer::new(json!({ "paused": true, "paused_since": since })).line(text))
}

pub(crate) async fn resume(args: SwitchArgs, here: &CommandContext) -> Result<Answer> {
    let backend = Site::load(here).await?.backend;
    if let Some(repo) = &args.source {
        return source::pause::set(&backend, repo, false).await;
    }
    set(&backend, |_| None)
        .await
        .context("resuming everything")?;
    backend.go_on(None).await.context(STILL_HELD)?;
    let text = "Everything goes on. Sources that were paused by themselves stay so.";
    Ok(Answer::new(json!({ "paused": false, "paused_since": null })).line(text))
}

async fn set(
    backend: &Backend,
    decide: impl Fn(&Switches) -> Option<Timestamp>,
) -> Result<Option<Timestamp>> {
    let set = backend.update_or_initial(&(), |switches| {
        let paused_since = decide(switches);
        let next = Switches {
            paused_since,
            ..switches.clone()
        };
        Ok::<_, engine::backend::Error>((next, paused_since))
    });
    Ok(set.await?)
}

/// Prints the present state. Where nothing works over the data folder, that is an error.
pub(crate) async fn status(here: &CommandContext, as_json: bool) -> Result<()> {
    let site = Site::load(here).await?;
    let status = site.backend.status().await;
    let status = status.context("reading what is going on")?;
    let ticks = match &site.ticks {
        Some(ticks) => Some(ticks.depth().await.context("counting ticks")?),
        None => None,
    };
    let runs = match here.stack {
        Some(_) => status.is_ticking(),
        None => local::is_worked_over(&here.folder),
    };
    // For a stack the age of its last tick is printed.
    let is_fine = runs || here.stack.is_some();
    let begin = Answer::new(json(&status, ticks, runs));
    let begin = match is_fine {
        true => begin,
        false => begin.line(format!("error: {NOT_RUNNING}")),
    };
    let answer = shown(begin, &status, &site.place, ticks);
    render::answer(&answer, as_json).context("writing the answer")?;
    if is_fine {
        return Ok(());
    }
    let next = format!("start `gaffer up --data {}`", here.folder.display());
    Err(Error::refused("not_running", NOT_RUNNING, next).into())
}

/// Obstacles on GitHub, and what is left of its budgets.
fn github_words(github: &GitHubView) -> String {
    let trouble = github.trouble.iter().map(|it| it.sentence.clone());
    let budgets = github.budgets.iter().map(|it| {
        let away = it
            .stay_away
            .filter(|until| Some(*until) > github.budgets_at);
        let away = away.map_or(String::new(), |until| {
            format!(", stays away until {}", moment(until))
        });
        format!(
            "{} of {} {} requests left for {} until {}{away}",
            it.remaining,
            it.limit,
            it.resource,
            it.owner,
            moment(it.reset)
        )
    });
    let usage = (github.usage.requests > 0).then(|| {
        format!(
            "{} requests since the start, of which {} were answered \"not modified\"",
            github.usage.requests, github.usage.not_modified
        )
    });
    let all: Vec<String> = trouble.chain(budgets).chain(usage).collect();
    if all.is_empty() {
        "nothing known yet".to_owned()
    } else {
        all.join("; ")
    }
}

/// Columns of the accounts.
const ACCOUNT_HEAD: [&str; 6] = [
    "account",
    "health",
    "next poll",
    "slots",
    "last 24 h",
    "requests today",
];

fn shown(begin: Answer, status: &Status, place: &str, ticks: Option<(u64, u64)>) -> Answer {
    let counted = |counts: &std::collections::BTreeMap<String, u64>| {
        let words = counts.iter().map(|(word, count)| format!("{count} {word}"));
        let words: Vec<String> = words.collect();
        if words.is_empty() {
            "none".to_owned()
        } else {
            words.join(", ")
        }
    };
    let pairs = vec![
        ("data", place.to_owned()),
        ("mode", mode_words(status)),
        (
            "paused",
            status
                .paused_since
                .map_or("no".to_owned(), |since| format!("since {}", moment(since))),
        ),
        ("paused sources", paused_words(status)),
        ("issues", source::unread(&status.unread_issues)),
        ("jobs", counted(&status.jobs)),
        ("deliveries", counted(&status.deliveries)),
        ("pipelines", counted(&status.pipelines)),
        ("requirements", counted(&status.requirements)),
        ("sprints", sprints_words(status)),
        ("waits for", waits_words(status)),
        ("queue", queue_words(status)),
        ("ticks", ticks_words(ticks)),
        ("overdue", overdue_words(status)),
        ("last poll", tick_words(status)),
        ("GitHub", github_words(&status.github)),
        ("spent today", spending_words(&status.spending)),
    ];
    let rows = status.accounts.iter().map(account_row).collect();
    let none = "No account yet: `gaffer account add default`.";
    let answer = begin.pairs(pairs).line("");
    let answer = answer.table(&ACCOUNT_HEAD, rows, none);
    if status.feeds.is_empty() {
        return answer;
    }
    let feeds = status.feeds.iter().map(feed_row).collect();
    let answer = answer.line("").table(&["source", "news"], feeds, "");
    hook_lines(status).into_iter().fold(answer, Answer::line)
}

/// The sources that are paused by themselves.
pub(crate) fn paused_words(status: &Status) -> String {
    let names = status.paused_sources.iter().map(ToString::to_string);
    names.collect::<Vec<_>>().join(", ")
}

/// The sprints that are under way.
pub(crate) fn sprints_words(status: &Status) -> String {
    let open = status.sprints.iter().filter(|sprint| !sprint.is_over);
    let words = open.map(|sprint| {
        let figures = &sprint.figures;
        let (repo, number, state) = (&sprint.repo, sprint.number, &sprint.state);
        let (integrated, members) = (figures.integrated, figures.members);
        format!("{repo} {number}: {state}, {integrated} of {members} in")
    });
    words.collect::<Vec<_>>().join("; ")
}

/// What is going on, for programs: as the HTTP API answers it, with what only this machine or the stack knows.
fn json(status: &Status, ticks: Option<(u64, u64)>, runs: bool) -> Value {
    let mut json = value(status);
    json["running"] = json!(runs);
    json["ticks"] = json!(ticks.map(|(waiting, dead)| json!({ "waiting": waiting, "dead": dead })));
    json
}

/// Problems with webhooks, and the redeliveries.
fn hook_lines(status: &Status) -> Vec<String> {
    let told = status.hooks.iter().filter_map(|hook| {
        let counts = (hook.failed, hook.asked, hook.given_up);
        if hook.trouble.is_none() && counts == (0, 0, 0) {
            return None;
        }
        let counts = format!(
            "webhook deliveries of {}: {} wait to be sent again, {} asked for again so far, {} never arrived",
            hook.log, hook.failed, hook.asked, hook.given_up
        );
        Some(match &hook.trouble {
            Some(trouble) => format!("{counts}; {trouble}"),
            None => counts,
        })
    });
    told.collect()
}

fn mode_words(status: &Status) -> String {
    let words = match status.observe_only {
        true => "observes only: nothing is written until `gaffer up` runs without --observe-only",
        false => "works",
    };
    words.to_owned()
}

/// Who the watched jobs and the deliveries wait for.
pub(crate) fn waits_words(status: &Status) -> String {
    let counts = status.waits_for.iter();
    let words = counts.map(|(who, count)| format!("{count} for {}", who.replace('_', " ")));
    words.collect::<Vec<_>>().join(", ")
}

fn queue_words(status: &Status) -> String {
    let QueueView {
        waiting,
        dead,
        oldest,
    } = status.queue;
    let since = oldest.map(|oldest| {
        let age = status.now.duration_since(oldest).as_secs().max(0);
        format!(", the oldest for {age} s")
    });
    let look = if dead > 0 { " (`gaffer dlq list`)" } else { "" };
    format!(
        "{waiting} waiting{}, {dead} given up{look}",
        since.unwrap_or_default()
    )
}

/// The last tick, and how long ago that is.
fn tick_words(status: &Status) -> String {
    let Some(last) = status.last_tick else {
        return "never".to_owned();
    };
    let age = status.now.duration_since(last).as_secs().max(0);
    format!("{}, {age} s ago", moment(last))
}

/// Where ticks are messages.
fn ticks_words(ticks: Option<(u64, u64)>) -> String {
    let words = ticks.map(|(waiting, dead)| format!("{waiting} waiting, {dead} given up"));
    words.unwrap_or_default()
}

fn overdue_words(status: &Status) -> String {
    let Some(since) = status.overdue_since else {
        return "nothing".to_owned();
    };
    let age = status.now.duration_since(since).as_secs().max(0);
    format!("something for {age} s: the process that ticks is late, or does not run")
}

/// What running on AWS costs; empty where nothing of it is counted and nothing was said.
fn spending_words(spending: &SpendingView) -> String {
    let today = spending.dollars_today;
    match spending.dollars_a_day {
        Some(allowed) => format!("{today:.6} of {allowed} dollars"),
        None if today > 0.0 => format!("{today:.6} dollars"),
        None => String::new(),
    }
}

fn feed_row(feed: &WebhookFeedView) -> Vec<String> {
    let words = match feed.health {
        WebhookHealth::Polled => "no webhook so far: read at intervals".to_owned(),
        WebhookHealth::Webhooks { last } => {
            format!("webhooks arrive, the last about {}", moment(last))
        }
        WebhookHealth::Silent { last } => format!(
            "no webhook since about {}: read at intervals; `gaffer doctor` looks why",
            moment(last)
        ),
    };
    vec![feed.repo.to_string(), words]
}

fn account_row(account: &AccountView) -> Vec<String> {
    let used = |Used { used, of }: Used| format!("{used} of {of}");
    vec![
        account.name.to_string(),
        health(&account.health),
        poll(account.next_poll, account.held_until),
        used(account.slots),
        used(account.today),
        account
            .requests
            .map_or_else(|| "not counted".to_owned(), used),
    ]
}

/// When an account is polled, for people.
pub(crate) fn poll(next: Timestamp, held_until: Option<Timestamp>) -> String {
    match held_until {
        Some(until) => format!("under way, held until {}", moment(until)),
        None => moment(next),
    }
}

/// How an account fares, for people.
pub(crate) fn health(health: &Health) -> String {
    match health {
        Health::Working => "working".to_owned(),
        Health::Throttled { streak } => format!("throttled ({streak} in a row)"),
        Health::Unreachable { streak, since } => {
            format!("unreachable since {} ({streak} in a row)", moment(*since))
        }
        Health::Unauthorized { since } => format!("key refused since {}", moment(*since)),
    }
}
