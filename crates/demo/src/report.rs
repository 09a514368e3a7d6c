//! What the demo came to, counted from the sandbox's and the receiver's own logs and never from Gaffer's.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use sandbox::agent::Received;
use serde::Serialize;
use serde_json::Value;

use crate::STORY_WITHIN;
use crate::agent::Wake;
use crate::stage::{AGENT, Stage};

/// What the demo came to.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Jobs handed over.
    jobs: usize,
    /// Pull requests that the sandbox's GitHub merged.
    merged: u64,
    /// Whether each was merged at the head that its checks had passed on.
    merged_at_green_head: bool,
    /// Distinct wakes by event.
    events: BTreeMap<String, usize>,
    /// Distinct wakes that the receiver got.
    wakes: usize,
    /// Occurrences of the sandbox that were announced under more than one id.
    wakes_doubled: usize,
    /// Wakes that the receiver got more than once under one id.
    wakes_redelivered: usize,
    /// Occurrences of the sandbox that were never announced.
    wakes_lost: usize,
    /// Bytes of wakes that no occurrence of the sandbox explains.
    agent_bytes_while_progressing: usize,
    /// Bytes of all wakes.
    agent_bytes: usize,
    /// Requests to the sandbox's Jules.
    jules_calls: u64,
    /// Requests to the sandbox's GitHub.
    github_calls: u64,
    /// Those answered "not modified".
    github_not_modified: u64,
    /// Seconds from the last check's end to the merge, for each pull request.
    green_to_merged_seconds: Vec<f64>,
    /// Seconds of the whole story.
    seconds: f64,
    /// Whether it ended within its time.
    #[serde(skip)]
    has_ended: bool,
}

pub(super) async fn collect(
    stage: &Stage,
    jobs: &[String],
    took: Duration,
    has_ended: bool,
) -> Result<Report> {
    // The counters come first: what follows asks the sandbox too.
    let counters = stage.sandbox.counters();
    let received = stage.sandbox.agents().received(AGENT);
    let mut happened: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut merges = Vec::new();
    let mut at_green_head = true;
    for id in jobs {
        let job = stage
            .client
            .job(id)
            .await
            .context("reading a job for the report")?;
        if let Some(session) = &job.session_id {
            for kind in occurrences(stage, session.as_str()).await? {
                *happened.entry((id.clone(), kind)).or_default() += 1;
            }
        }
        if let Some(pull) = &job.pull_request {
            let (seconds, green) = green_to_merged(stage, pull.repo.as_str(), pull.number).await?;
            merges.push(seconds);
            at_green_head &= green;
        }
    }
    let announced = announced(&received);
    let doubled = announced
        .iter()
        .map(|(what, ids)| {
            ids.len()
                .saturating_sub(happened.get(what).copied().unwrap_or(0))
        })
        .sum();
    let lost = happened
        .iter()
        .map(|(what, times)| times.saturating_sub(announced.get(what).map_or(0, BTreeSet::len)))
        .sum();
    let distinct: BTreeSet<&str> = received
        .iter()
        .filter_map(|wake| wake.webhook_id.as_deref())
        .collect();
    let mut events: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, kind), ids) in &announced {
        *events.entry(event_of(kind).to_owned()).or_default() += ids.len();
    }
    Ok(Report {
        jobs: jobs.len(),
        merged: counters.merges,
        merged_at_green_head: at_green_head,
        events,
        wakes: distinct.len(),
        wakes_doubled: doubled,
        wakes_redelivered: received.len() - distinct.len(),
        wakes_lost: lost,
        agent_bytes_while_progressing: unexplained(&received, &happened),
        agent_bytes: received.iter().map(|wake| wake.size).sum(),
        jules_calls: counters.jules_calls,
        github_calls: counters.github_calls,
        github_not_modified: counters.github_not_modified,
        green_to_merged_seconds: merges,
        seconds: round(took.as_secs_f64()),
        has_ended,
    })
}

/// A kind of occurrence back to the event it is announced as.
fn event_of(kind: &str) -> &str {
    match kind {
        "plan_approval" | "unreviewed_plan" | "unexpected_push" => "question",
        "completed" | "stuck" | "question" => kind,
        _ => "error",
    }
}

/// Distinct ids under which the receiver got each (job, kind).
fn announced(received: &[Received]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut announced: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for wake in received
        .iter()
        .filter_map(|wake| serde_json::from_str::<Wake>(&wake.body).ok())
    {
        let job = wake.job_id.unwrap_or_default();
        announced
            .entry((job, wake.kind))
            .or_default()
            .insert(wake.event_id);
    }
    announced
}

/// Bytes about a job and kind for which the sandbox has no occurrence.
fn unexplained(received: &[Received], happened: &BTreeMap<(String, String), usize>) -> usize {
    let explained = |wake: &&Received| {
        let parsed = serde_json::from_str::<Wake>(&wake.body);
        parsed.is_ok_and(|parsed| {
            happened.contains_key(&(parsed.job_id.unwrap_or_default(), parsed.kind))
        })
    };
    received
        .iter()
        .filter(|wake| !explained(wake))
        .map(|wake| wake.size)
        .sum()
}

/// What the sandbox's own log of a session says that an agent had to know.
async fn occurrences(stage: &Stage, session: &str) -> Result<Vec<String>> {
    let url = format!(
        "{}/sessions/{session}/activities?pageSize=100",
        stage.sandbox.jules_base()
    );
    let page: Value = read(
        reqwest::Client::new()
            .get(url)
            .header("x-goog-api-key", sandbox::DEFAULT_KEY),
    )
    .await?;
    let activities = page["activities"].as_array().cloned().unwrap_or_default();
    let mut kinds = Vec::new();
    for (at, activity) in activities.iter().enumerate() {
        let told = &activities[at + 1..];
        if activity.get("agentMessaged").is_some() {
            kinds.push("question".to_owned());
        }
        if activity.get("planGenerated").is_some() {
            kinds.push("plan_approval".to_owned());
        }
        if activity.get("sessionCompleted").is_some() {
            kinds.push("completed".to_owned());
        }
        // Silence that only a message ended: the story's one stall.
        let spoken_to = told
            .first()
            .is_some_and(|next| next.get("userMessaged").is_some());
        if activity.get("progressUpdated").is_some() && spoken_to {
            kinds.push("stuck".to_owned());
        }
    }
    Ok(kinds)
}

/// Seconds from the end of the last check to the merge, and whether the merged head is the one that passed.
async fn green_to_merged(stage: &Stage, repo: &str, number: u64) -> Result<(f64, bool)> {
    let ask = |path: String| {
        let url = format!("{}/repos/{repo}/{path}", stage.sandbox.github_base());
        reqwest::Client::new()
            .get(url)
            .bearer_auth(sandbox::github::DEFAULT_TOKEN)
            .header("user-agent", "gaffer-demo")
    };
    let pull: Value = read(ask(format!("pulls/{number}"))).await?;
    let head = pull["head"]["sha"].as_str().unwrap_or_default().to_owned();
    let checks: Value = read(ask(format!("commits/{head}/check-runs"))).await?;
    let runs = checks["check_runs"].as_array().cloned().unwrap_or_default();
    let time = |value: &Value| {
        value
            .as_str()
            .and_then(|text| text.parse::<Timestamp>().ok())
    };
    let green = !runs.is_empty() && runs.iter().all(|run| run["conclusion"] == "success");
    let last = runs
        .iter()
        .filter_map(|run| time(&run["completed_at"]))
        .max();
    let merged = time(&pull["merged_at"]);
    let seconds = merged.zip(last).map_or(0.0, |(merged, last)| {
        merged.duration_since(last).as_secs_f64()
    });
    let merged_head = stage
        .sandbox
        .github()
        .pull(repo, number)
        .and_then(|view| view.merged_sha);
    Ok((
        round(seconds),
        green && merged_head.as_deref() == Some(head.as_str()),
    ))
}

async fn read(request: reqwest::RequestBuilder) -> Result<Value> {
    let answer = request
        .send()
        .await
        .context("asking the sandbox")?
        .error_for_status()
        .context("asking the sandbox")?;
    answer.json().await.context("reading the sandbox's answer")
}

fn round(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

impl Report {
    /// The report as text lines.
    pub fn lines(&self, without_webhooks: bool) -> Vec<String> {
        let events: Vec<String> = self
            .events
            .iter()
            .map(|(event, times)| format!("{times} {event}"))
            .collect();
        let mut lines = vec![
            format!(
                "{} of {} merged, each at the head its checks had passed on.",
                self.merged, self.jobs
            ),
            format!(
                "The agent was woken {} times ({}) with {} bytes in all, and got {} bytes while Jules only worked.",
                self.wakes,
                events.join(", "),
                self.agent_bytes,
                self.agent_bytes_while_progressing
            ),
            format!(
                "Lost wakes: {}. Doubled: {}. Sent again: {}.",
                self.wakes_lost, self.wakes_doubled, self.wakes_redelivered
            ),
            format!(
                "{} requests to Jules, {} to GitHub ({} of them \"not modified\"), {} seconds.",
                self.jules_calls, self.github_calls, self.github_not_modified, self.seconds
            ),
        ];
        if without_webhooks {
            let seconds = self.green_to_merged_seconds.iter();
            let times: Vec<String> = seconds.map(|seconds| format!("{seconds} s")).collect();
            lines.push(format!(
                "Without webhooks, from green to merged: {}.",
                times.join(", ")
            ));
        }
        lines
    }

    /// The demo is a promise: it fails when anything was lost, doubled or merged unseen.
    pub fn verdict(&self) -> Result<()> {
        ensure!(
            self.has_ended,
            "the story did not end within {} s",
            STORY_WITHIN.as_secs()
        );
        ensure!(
            self.merged == self.jobs as u64,
            "only {} of {} jobs were merged",
            self.merged,
            self.jobs
        );
        ensure!(
            self.merged_at_green_head,
            "a pull request was merged at a head that had not passed"
        );
        ensure!(
            self.wakes_lost == 0 && self.wakes_doubled == 0,
            "{} wakes were lost, {} doubled",
            self.wakes_lost,
            self.wakes_doubled
        );
        ensure!(
            self.agent_bytes_while_progressing == 0,
            "{} bytes reached the agent while Jules only worked",
            self.agent_bytes_while_progressing
        );
        Ok(())
    }
}
