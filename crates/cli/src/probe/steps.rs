//! The probe's way: what is read, what the two tasks are asked, and how it all is put away again.

use std::time::Duration;

use anyhow::Result;
use domain::governor::Limits;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::finding::{Findings, Question};
use super::look::{self, Load};
use super::talk::{Seen, Talk, pause};
use crate::render;

mod reads;
mod second;
mod whole;

/// Begins the titles of the probe's sessions.
const TITLE: &str = "[gaffer probe]";

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
    said: bool,
    /// Sessions that were deleted already.
    gone: Vec<String>,
}

impl Probe {
    pub(super) fn new(plan: Plan, talk: Talk) -> Self {
        Self {
            plan,
            talk,
            findings: Findings::default(),
            load: None,
            seen_before: Vec::new(),
            said: false,
            gone: Vec::new(),
        }
    }

    /// Everything, in the order that spends the least.
    pub(super) async fn run(&mut self) -> Result<()> {
        self.never();
        self.read_all().await?;
        if let Some(first) = self.first().await? {
            self.plan_waits(&first).await?;
            self.ask_lists(&first).await?;
            self.wait_for_timer(&first).await?;
            self.say_long(&first).await?;
            self.plan_waits(&first).await?;
            self.second(&first).await?;
            self.let_work(&first).await?;
            self.whole().await?;
            self.put_away(&first).await?;
        }
        self.clean_up().await?;
        self.burst().await
    }

    /// What no probe of this kind can settle.
    fn never(&mut self) {
        let why = "it needs a pull request with failing checks and comments on it, and the probe opens none";
        self.findings
            .open(Question::PullRequests, ("nothing", ""), why);
    }

    /// Begins the first task with as many of the doubtful members as are taken. What is refused spends nothing.
    async fn first(&mut self) -> Result<Option<String>> {
        // Each is tried from the fullest to the plainest, so that the first that is taken tells of all.
        let tries = [
            (true, Some("sourceContext")),
            (true, Some("githubRepoContext")),
            (true, None),
            (false, Some("sourceContext")),
            (false, Some("githubRepoContext")),
            (false, None),
        ];
        let mut refused = String::new();
        for (variables, place) in tries {
            let body = self.body(("first", FIRST), true, (variables, place));
            let seen = self.talk.post("sessions", body).await?;
            if seen.is_ok() {
                self.took(variables, place, &refused);
                return Ok(Some(self.begun(&seen)));
            }
            refused = seen.line();
            if seen.is_limit() {
                let answer = format!("{}, with {}", seen.line(), seen.when());
                let done = ("created a session", refused.clone());
                self.findings.settled(Question::QuotaRefusal, done, answer);
                return Ok(None);
            }
        }
        let why = format!("not even a plain session could be created: {refused}");
        self.findings
            .open(Question::CreateFields, ("created sessions", refused), why);
        Ok(None)
    }

    fn took(&mut self, variables: bool, place: Option<&str>, refused: &str) {
        let variables = if variables { "taken" } else { "refused" };
        let place = place.map_or("refused".to_owned(), |place| format!("taken in `{place}`"));
        let answer =
            format!("`environmentVariablesEnabled`: {variables}; `workingBranch`: {place}");
        let done = "created a session with both members, then with fewer until it was taken";
        let seen = format!("last refusal: {refused}");
        self.findings
            .settled(Question::CreateFields, (done, seen), answer);
    }

    /// Tells of a session at once, should the probe be interrupted.
    fn begun(&self, seen: &Seen) -> String {
        let id = seen.text("/id").to_owned();
        render::note(&format!("Began session {id} ({TITLE})."));
        id
    }

    fn body(
        &self,
        (name, prompt): (&str, &str),
        approval: bool,
        (variables, place): (bool, Option<&str>),
    ) -> Value {
        let mut context = json!({
            "source": format!("sources/github/{}", self.plan.repo),
            "githubRepoContext": { "startingBranch": self.plan.branch },
        });
        if variables {
            put(
                &mut context,
                "",
                "environmentVariablesEnabled",
                json!(false),
            );
        }
        match place {
            Some("githubRepoContext") => {
                put(
                    &mut context,
                    "/githubRepoContext",
                    "workingBranch",
                    json!("gaffer-probe"),
                );
            }
            Some(_) => put(&mut context, "", "workingBranch", json!("gaffer-probe")),
            None => {}
        }
        json!({
            "prompt": prompt, "title": format!("{TITLE} {name}"), "sourceContext": context,
            "requirePlanApproval": approval,
        })
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
        let done = "left a plan waiting";
        loop {
            let activities = self.activities(id).await?;
            let (made, approved) = (
                look::first(&activities, "planGenerated"),
                look::first(&activities, "planApproved"),
            );
            match (made, approved) {
                (Some(made), Some(approved)) => {
                    let after = approved.duration_since(made).as_secs();
                    let answer = format!("yes: approved by itself after {after} s");
                    self.findings
                        .settled(Question::AutoApproval, (done, "planApproved"), answer);
                    return Ok(());
                }
                (None, _) => {
                    let why = "no plan was made in time";
                    self.findings
                        .open(Question::AutoApproval, (done, "no planGenerated"), why);
                    return Ok(());
                }
                (Some(_), None) if Instant::now() >= until => {
                    let why = format!(
                        "the plan still waited after {} s; a longer `--patience` tells more",
                        self.plan.patience.as_secs()
                    );
                    self.findings
                        .open(Question::AutoApproval, (done, "planGenerated only"), why);
                    return Ok(());
                }
                (Some(_), None) => pause(self.plan.every).await,
            }
        }
    }

    /// Says something of each length, the longest first, until one is taken.
    async fn say_long(&mut self, id: &str) -> Result<()> {
        let mut refused = None;
        for length in LENGTHS {
            let words = long("Keep the plan as it is.", length);
            let path = format!("sessions/{id}:sendMessage");
            let seen = self.talk.post(&path, json!({ "prompt": words })).await?;
            if seen.is_ok() {
                self.said = true;
                let answer = bounds(words.len(), refused);
                let done = ("sent messages of 100,000 bytes and fewer", seen.line());
                self.findings
                    .settled(Question::Lengths, done, format!("message: {answer}"));
                return Ok(());
            }
            refused = Some(words.len());
        }
        let done = (
            "sent messages of 100,000 bytes and fewer",
            "all were refused",
        );
        self.findings
            .open(Question::Lengths, done, "no message was taken at all");
        Ok(())
    }

    /// All activities of a session.
    async fn activities(&mut self, id: &str) -> Result<Vec<Value>> {
        let path = format!("sessions/{id}/activities");
        let mut all = Vec::new();
        let mut token = String::new();
        for _ in 0..ACTIVITY_PAGES_MAX {
            let mut query = vec![("pageSize", "100")];
            if !token.is_empty() {
                query.push(("pageToken", &token));
            }
            let page = self.talk.get(&path, &query).await?;
            all.extend(look::list(&page.body, "activities").iter().cloned());
            let next = page.text("/nextPageToken").to_owned();
            if next.is_empty() || next == token {
                break;
            }
            token = next;
        }
        Ok(all)
    }
}

fn put(value: &mut Value, pointer: &str, name: &str, member: Value) {
    if let Some(members) = value.pointer_mut(pointer).and_then(Value::as_object_mut) {
        members.insert(name.to_owned(), member);
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
