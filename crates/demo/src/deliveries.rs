//! The demo of deliveries: three labelled issues on their way to closed deliveries. One goes straight through, one is
//! sent back once by its reviewer, and the checks of one fail first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use client::wire::{ApproveDelivery, DeliveryCard, VerdictRequest};
use client::{Client, DeliveryQuery};
use domain::delivery::{Checkpoints, Phase, ReviewBy, Rules, Verdict};
use engine::machine::SystemClock;
use engine::ports::Clock;
use sandbox::agent::Received;
use sandbox::github::NewIssue;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::jobs::{self, SITE};
use crate::stage::{AGENT, Address, Play, SHOP, Stage};

/// The label of issues that become deliveries.
const LABEL: &str = "gaffer";

/// The whole story takes less than a minute; a machine that needs more than this has stopped.
const STORY_WITHIN: Duration = Duration::from_secs(120);

/// Refresh interval of the display.
const LOOK_EVERY: Duration = Duration::from_millis(200);

const ISSUES: [(&str, &str, &str); 3] = [
    (
        SHOP,
        "Add a search box",
        "- [ ] it finds a product by its name\n",
    ),
    (SHOP, "Rewrite the cart", "- [ ] the totals are right\n"),
    (SITE, "Fix the footer", "- [ ] it is not too low\n"),
];

/// The issue that its reviewer sends back once.
const SENT_BACK: &str = "cart";

/// What the demo of deliveries came to, counted from the sandbox's own logs.
#[derive(Debug, Serialize)]
pub struct DeliveriesReport {
    /// Issues that were opened.
    deliveries: usize,
    /// Issues that are closed.
    closed: usize,
    /// Sessions that Jules was asked for.
    tasks: u64,
    /// The median of them for one delivery.
    tasks_per_delivery: usize,
    /// Pull requests that were merged.
    merged: u64,
    /// Most comments on one issue.
    comments_max: usize,
    /// Messages that sent a change back.
    rounds: usize,
    /// Wakes that the agent got.
    wakes: usize,
    /// Seconds of the whole story.
    seconds: f64,
}

/// Plays the story. `show` gets a line for each thing to show on the way; `stay` is awaited before all of it is
/// thrown away, with the address and the token of the API.
pub async fn play_deliveries<S>(
    webhooks: bool,
    mut show: impl FnMut(&str) -> Result<()>,
    stay: impl FnOnce(Address) -> S,
) -> Result<DeliveriesReport>
where
    S: Future<Output = Result<()>>,
{
    let began = tokio::time::Instant::now();
    let stage = Stage::set(webhooks, &play()?).await?;
    let received = stage.sandbox.agents().subscribe();
    let reviewing = tokio::spawn(review(received, stage.client.clone()));
    show(
        "Three labelled issues, a person who starts them and approves their plans, and an agent that reviews.",
    )?;
    let issues = open(&stage);
    let watched = tokio::time::timeout(STORY_WITHIN, watch(&stage, &issues, show)).await;
    watched.context("the story did not end in time")??;
    let report = collect(&stage, &issues, began.elapsed());
    reviewing.abort();
    stay(stage.address()).await?;
    stage.clear().await;
    Ok(report)
}

/// Three issues that become deliveries. Each session plans, works, opens a pull request and is done.
fn play() -> Result<Play> {
    Ok(Play {
        deliveries: Rules {
            label: Some(LABEL.parse().context("naming the label")?),
            checkpoints: Checkpoints::at(&[Phase::Plan]).context("naming the checkpoints")?,
            review_by: Some(ReviewBy::Agent),
            ..Rules::default()
        },
        ..Play::new(jobs::scenario(Vec::new()))
    })
}

fn open(stage: &Stage) -> Vec<(&'static str, u64)> {
    let github = stage.sandbox.github();
    let open = |(repo, title, body): (&'static str, &str, &str)| {
        let issue = NewIssue {
            title: title.to_owned(),
            body: body.to_owned(),
            author_login: "ann".to_owned(),
            labels: vec![LABEL.to_owned()],
        };
        (repo, github.open_issue(SystemClock.now(), repo, issue))
    };
    ISSUES.into_iter().map(open).collect()
}

/// Shows every change until all are closed, and does what is asked of a person.
async fn watch(
    stage: &Stage,
    issues: &[(&'static str, u64)],
    mut show: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    let mut interval = tokio::time::interval(LOOK_EVERY);
    loop {
        interval.tick().await;
        let all = stage.client.deliveries(&DeliveryQuery::default()).await;
        let all = all.context("listing the deliveries")?.deliveries;
        for card in &all {
            let place = format!("{} {}", card.phase, card.run_status);
            let id = card.id.to_string();
            if shown.get(&id) != Some(&place) {
                show(&format!("  {} {place:<22} {}", card.seq, named(card)))?;
                shown.insert(id, place);
            }
            act(&stage.client, card).await?;
        }
        let github = stage.sandbox.github();
        let is_over = |(repo, n): &(&str, u64)| github.is_closed(repo, *n) == Some(true);
        let is_closed = |card: &DeliveryCard| card.phase == "close";
        if all.iter().all(is_closed) && issues.iter().all(is_over) {
            return Ok(());
        }
    }
}

/// A card with its repository, since the issues of each are numbered from 1.
fn named(card: &DeliveryCard) -> String {
    let Some(issue) = &card.issue else {
        return format!("{} {}", card.repo, card.summary);
    };
    let titled = format!("GitHub Issue #{}: ", issue.number);
    let summary = card.summary.strip_prefix(&titled).unwrap_or(&card.summary);
    format!("{}#{} {summary}", card.repo, issue.number)
}

/// What a person does who sees the board. A card may have moved on since it was read.
async fn act(client: &Client, card: &DeliveryCard) -> Result<()> {
    let id = card.id.to_string();
    let taken = match card.why.code.as_str() {
        "awaits_start" => client.start_delivery(&id).await.map(drop),
        "awaits_approval" => {
            let approve = ApproveDelivery::default();
            client.approve_delivery(&id, &approve).await.map(drop)
        }
        _ => Ok(()),
    };
    match taken {
        Err(client::Error::Problem(_)) => Ok(()),
        taken => taken.context("acting at a checkpoint"),
    }
}

/// The parts of a wake that the reviewer needs.
#[derive(serde::Deserialize)]
struct Asked {
    kind: String,
    delivery_id: Option<String>,
    payload: Option<Value>,
}

/// The agent that reviews: it sends one change back, once, and lets the others pass.
async fn review(mut wakes: Receiver<Received>, client: Client) {
    let mut sent_back = BTreeSet::new();
    loop {
        let received = match wakes.recv().await {
            Ok(received) => received,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let Ok(asked) = serde_json::from_str::<Asked>(&received.body) else {
            continue;
        };
        if let Err(error) = judge(&client, &asked, &mut sent_back).await {
            tracing::warn!(%error, "the demo's reviewer could not say its verdict");
        }
    }
}

async fn judge(client: &Client, asked: &Asked, sent_back: &mut BTreeSet<String>) -> Result<()> {
    let (Some(id), "review") = (&asked.delivery_id, asked.kind.as_str()) else {
        return Ok(());
    };
    let payload = asked.payload.as_ref().context("a review without a head")?;
    let sha = payload["sha"].as_str().context("a review without a head")?;
    let delivery = client.delivery(id).await.context("reading a delivery")?;
    let is_bad = delivery.card.summary.contains(SENT_BACK) && sent_back.insert(id.clone());
    let verdict = VerdictRequest {
        verdict: if is_bad {
            Verdict::NotPass
        } else {
            Verdict::Pass
        },
        sha: sha.parse().context("reading the head")?,
        summary: None,
        feedback: is_bad.then(|| "The totals are rounded wrongly.".to_owned()),
    };
    let judged = client.judge_delivery(id, &verdict).await;
    judged.map(drop).context("sending the verdict")
}

/// Counts, from the sandbox's own logs.
fn collect(stage: &Stage, issues: &[(&'static str, u64)], took: Duration) -> DeliveriesReport {
    let counters = stage.sandbox.counters();
    let github = stage.sandbox.github();
    let views = issues.iter();
    let views: Vec<_> = views
        .filter_map(|(repo, n)| github.issue(repo, *n))
        .collect();
    let comments = views.iter().map(|view| view.comments.len());
    let sessions = stage.sandbox.jules().sessions().into_iter();
    let titles: Vec<String> = sessions.map(|session| session.title).collect();
    let tasks = ISSUES.iter().map(|(_, title, _)| tasks_of(title, &titles));
    DeliveriesReport {
        deliveries: issues.len(),
        closed: views.iter().filter(|view| !view.is_open).count(),
        tasks: counters.creates,
        tasks_per_delivery: median(tasks.collect()),
        merged: counters.merges,
        comments_max: comments.max().unwrap_or_default(),
        rounds: usize::try_from(counters.messages).unwrap_or(usize::MAX),
        wakes: stage.sandbox.agents().received(AGENT).len(),
        seconds: (took.as_secs_f64() * 100.0).round() / 100.0,
    }
}

/// Sessions whose title names an issue: no other issue of the demo has its title.
fn tasks_of(issue: &str, sessions: &[String]) -> usize {
    let of_it = sessions.iter().filter(|title| title.contains(issue));
    of_it.count()
}

/// The middle one; of two in the middle the larger one.
fn median(mut counts: Vec<usize>) -> usize {
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or_default()
}

impl DeliveriesReport {
    /// The report as text lines.
    pub fn lines(&self) -> Vec<String> {
        vec![
            format!(
                "{} of {} issues are closed, {} pull requests merged, with {} Jules tasks: a median of {} for each delivery.",
                self.closed, self.deliveries, self.merged, self.tasks, self.tasks_per_delivery
            ),
            format!(
                "At most {} comment on an issue, {} messages to sessions, {} wakes, {} seconds.",
                self.comments_max, self.rounds, self.wakes, self.seconds
            ),
        ]
    }

    /// The demo is a promise: one task for each delivery, all closed, at most one comment on an issue.
    pub fn verdict(&self) -> Result<()> {
        ensure!(
            self.closed == self.deliveries,
            "only {} of {} issues are closed",
            self.closed,
            self.deliveries
        );
        ensure!(
            self.tasks == self.deliveries as u64,
            "{} deliveries took {} Jules tasks",
            self.deliveries,
            self.tasks
        );
        ensure!(
            self.comments_max <= 1,
            "an issue has {} comments",
            self.comments_max
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_of_a_delivery_are_the_sessions_that_name_its_issue() {
        let titles = [
            "GitHub Issue #1: Add a search box",
            "GitHub Issue #2: Rewrite the cart",
            "Review of #3 at aaaaaaa: GitHub Issue #2: Rewrite the cart",
        ]
        .map(str::to_owned);
        let tasks = ISSUES.map(|(_, title, _)| tasks_of(title, &titles));
        assert_eq!(tasks, [1, 2, 0]);
        assert_eq!(median(tasks.to_vec()), 1);
        assert_eq!(median(vec![1, 3, 2, 4]), 3);
    }
}
