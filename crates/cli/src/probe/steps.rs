//! The probe's way: what is read, what the two tasks are asked, and how it all is put away again.

use std::time::Duration;

use anyhow::Result;
use domain::governor::Limits;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::finding::{Findings, Question};
use super::look::{self, Load};
use super::talk::{Talk, Verdict, pause};

mod begin;
mod reads;
mod second;
mod whole;

/// Begins the titles of the probe's sessions.
pub(super) const TITLE: &str = "[gaffer probe]";

/// The first task: a plan that waits, then two files one after the other.
const FIRST: &str = "This is a probe of the Jules API by the owner of this repository. \
    Make a plan of two short steps: create the file gaffer-probe-1.txt with one line and run `ls`, then create the file gaffer-probe-2.txt with one line. \
    Change nothing else and open no pull request.";

/// Lengths in bytes that a prompt and a message are tried with, the longest first.
const LENGTHS: [usize; 3] = [100_000, 32_000, 0];

/// Largest pages that are asked for: sessions can carry whole patches.
const PAGE: &str = "20";

/// Pages of sessions that are read to know the account's load.
const PAGES_MAX: usize = 5;

/// Pages of one session's activities.
const ACTIVITY_PAGES_MAX: usize = 20;

/// States in which nothing happens by itself.
const AT_REST: [&str; 4] = ["COMPLETED", "FAILED", "PAUSED", "AWAITING_USER_FEEDBACK"];

/// How the probe is made.
pub(super) struct Plan {
    pub(super) repo: String,
    pub(super) branch: String,
    pub(super) limits: Limits,
    pub(super) patience: Duration,
    pub(super) every: Duration,
    pub(super) burst: u32,
    pub(super) keep: bool,
}

/// Whether something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    No,
    Yes,
    /// It was not answered so that it could be told.
    Perhaps,
}

/// One probe under way.
pub(super) struct Probe {
    pub(super) plan: Plan,
    pub(super) talk: Talk,
    pub(super) findings: Findings,
    /// The account's load before the probe; none when it is not wholly known.
    load: Option<Load>,
    /// Sessions that were listed before the probe.
    seen_before: Vec<Value>,
    /// Whether a message was said to the first session.
    said: Said,
    /// Whether a session was ever asked for.
    asked: bool,
    /// Sessions that were deleted already.
    gone: Vec<String>,
    /// Tasks that may have been spent, and nobody knows.
    pub(super) perhaps: usize,
    /// Why it could not finish.
    pub(super) trouble: Option<String>,
}

impl Probe {
    pub(super) fn new(plan: Plan, talk: Talk) -> Self {
        Self {
            plan,
            talk,
            findings: Findings::default(),
            load: None,
            seen_before: Vec::new(),
            said: Said::No,
            asked: false,
            gone: Vec::new(),
            perhaps: 0,
            trouble: None,
        }
    }

    /// Whether a session was ever asked for.
    pub(super) fn has_asked(&self) -> bool {
        self.asked
    }

    /// Everything, in the order that spends the least.
    pub(super) async fn run(&mut self) -> Result<()> {
        self.never();
        self.read_all().await?;
        if let Some(first) = self.first().await? {
            self.plan_waits(&first).await?;
            self.ask_lists(&first).await?;
            self.wait_for_timer(&first).await?;
            self.say_long(&first).await;
            self.plan_waits(&first).await?;
            self.second(&first).await?;
            self.let_work(&first).await?;
            self.whole().await?;
            self.put_away(&first).await?;
        }
        self.clean_up().await;
        self.burst().await;
        Ok(())
    }

    /// What no probe of this kind can settle.
    fn never(&mut self) {
        let why = "it needs a pull request with failing checks and comments on it, and the probe opens none";
        self.findings
            .open(Question::PullRequests, ("nothing", ""), why);
    }

    /// Waits until the first session's plan waits, or it is clear that it will not.
    async fn plan_waits(&mut self, id: &str) -> Result<bool> {
        let until = Instant::now() + self.plan.patience;
        loop {
            let session = self.talk.get(&format!("sessions/{id}"), &[]).await?;
            let state = session.text("/state").to_owned();
            if state == "AWAITING_PLAN_APPROVAL" {
                return Ok(true);
            }
            // The state of a waiting plan is not to be relied on, and at rest nothing more comes.
            if AT_REST.contains(&state.as_str()) || Instant::now() >= until {
                return Ok(false);
            }
            pause(self.plan.every).await;
        }
    }

    /// Leaves the waiting plan alone and looks whether a timer approves it.
    async fn wait_for_timer(&mut self, id: &str) -> Result<()> {
        let until = Instant::now() + self.plan.patience;
        let (question, done) = (Question::AutoApproval, "left a plan waiting");
        loop {
            let activities = self.activities(id).await?;
            let of = |kind| activities.as_deref().and_then(|it| look::first(it, kind));
            let is_over = Instant::now() >= until;
            match (of("planGenerated"), of("planApproved")) {
                (Some(made), Some(approved)) => {
                    let after = approved.duration_since(made).as_secs();
                    let answer = format!("yes: approved by itself after {after} s");
                    self.findings
                        .settled(question, (done, "planApproved"), answer);
                    return Ok(());
                }
                (None, _) if activities.is_some() || is_over => {
                    let why = "no plan was seen in time";
                    self.findings
                        .open(question, (done, "no planGenerated"), why);
                    return Ok(());
                }
                (Some(_), None) if is_over => {
                    let why = format!(
                        "the plan still waited after {} s; a longer `--patience` tells more",
                        self.plan.patience.as_secs()
                    );
                    self.findings
                        .open(question, (done, "planGenerated only"), why);
                    return Ok(());
                }
                (Some(_) | None, _) => pause(self.plan.every).await,
            }
        }
    }

    /// Says something of each length, the longest first, until one is taken.
    async fn say_long(&mut self, id: &str) {
        let mut refused = None;
        let done = "sent messages of 100,000 bytes and fewer";
        for length in LENGTHS {
            let words = long("Keep the plan as it is.", length);
            let path = format!("sessions/{id}:sendMessage");
            let seen = self.talk.post(&path, json!({ "prompt": words })).await;
            match seen.verdict() {
                Verdict::Taken => {
                    self.said = Said::Yes;
                    let answer = format!("message: {}", bounds(words.len(), refused));
                    let done = (done, seen.line());
                    self.findings.settled(Question::Lengths, done, answer);
                    return;
                }
                Verdict::Refused => refused = Some(words.len()),
                Verdict::Untold => {
                    self.said = Said::Perhaps;
                    let why = format!("message: could not be told: {}", seen.line());
                    let done = (done, seen.line());
                    self.findings.open(Question::Lengths, done, why);
                    return;
                }
            }
        }
        let done = (done, "all were refused");
        self.findings
            .open(Question::Lengths, done, "no message was taken at all");
    }

    /// All activities of a session; none when they could not be read to the last page.
    async fn activities(&mut self, id: &str) -> Result<Option<Vec<Value>>> {
        let path = format!("sessions/{id}/activities");
        let mut all = Vec::new();
        let mut token = String::new();
        for _ in 0..ACTIVITY_PAGES_MAX {
            let mut query = vec![("pageSize", "100")];
            if !token.is_empty() {
                query.push(("pageToken", &token));
            }
            let page = self.talk.get(&path, &query).await?;
            if !page.is_ok() {
                return Ok(None);
            }
            all.extend(look::list(&page.body, "activities").iter().cloned());
            let next = page.text("/nextPageToken").to_owned();
            if next.is_empty() || next == token {
                return Ok(Some(all));
            }
            token = next;
        }
        Ok(None)
    }
}

/// A text of at least `length` bytes that asks for nothing more.
fn long(words: &str, length: usize) -> String {
    if words.len() >= length {
        return words.to_owned();
    }
    format!(
        "{words} Pass over what follows: {}",
        "x ".repeat(length / 2)
    )
}

/// What two tries tell of a limit.
fn bounds(taken: usize, refused: Option<usize>) -> String {
    match refused {
        None => format!("at least {taken} bytes"),
        Some(refused) => format!("at least {taken} and fewer than {refused} bytes"),
    }
}
