//! What really happened, told by the sandbox and the receivers alone: whether all is done, and whether anything was done wrong.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use domain::marker::Marker;
use jiff::{SignedDuration, Timestamp};
use sandbox::Sandbox;
use sandbox::agent::Received;
use sandbox::github::{PullState, PullView};
use sandbox::jules::SessionView;
use serde_json::Value;

use crate::job_agents::{PROMPT, SLOW, Wake};
use crate::stage::{BLOCKED, DOCS, DRAFTS, HANDBOOK};
use crate::{duplicate, person};

/// A create may be repeated when the first session was hidden from the last look before it; looking and creating take less than this.
const LOOK_TAKES: SignedDuration = SignedDuration::from_secs(30);

/// An answer given so shortly before a death was not recorded.
const UNHEARD: SignedDuration = SignedDuration::from_secs(5);

/// Who was there.
pub(crate) struct Verdict<'a> {
    pub(crate) sandbox: &'a Sandbox,
    /// The ids of the jobs that are to be merged.
    pub(crate) jobs: &'a [String],
    /// The id of the job that is cancelled, with its pull request closed.
    pub(crate) cancelled: &'a str,
    /// When Gaffer took the explicit acknowledgement of which event.
    pub(crate) acknowledged: &'a BTreeMap<String, Timestamp>,
    /// When the process died.
    pub(crate) deaths: &'a [Timestamp],
    /// Faults that struck a receiver.
    pub(crate) agent_faults: usize,
    /// How long a new session is missing in lists.
    pub(crate) list_lag: SignedDuration,
    /// When the lists began to show the two sessions of one create, if there are to be two.
    pub(crate) duplicates: Option<Option<&'a Timestamp>>,
}

/// A session of a job, and its pull request.
struct Kept {
    session: SessionView,
    pull: PullView,
    repo: String,
}

impl Verdict<'_> {
    /// Whether all jobs are merged, everything is put away and every wake was delivered.
    pub(crate) fn is_over(&self) -> bool {
        self.is_cancelled()
            && self.jobs.iter().all(|job| {
                let kept = self.merged(job);
                let away = self.sessions(job).iter().all(|session| session.archived);
                let clean = |kept: &Kept| {
                    let branch = self
                        .sandbox
                        .github()
                        .branch_exists(&kept.repo, &kept.pull.head_ref);
                    branch == Some(false) && self.wakes_of(job, kept).is_empty()
                };
                kept.len() == 1 && away && kept.iter().all(clean)
            })
    }

    /// Whether the cancelled job has left nothing open: its sessions are put away and their pull requests closed.
    fn is_cancelled(&self) -> bool {
        let sessions = self.sessions(self.cancelled);
        let state = |session: &SessionView| {
            let (repo, number) = session.pull.clone()?;
            Some(self.sandbox.github().pull(&repo, number)?.state)
        };
        let is_closed = |session| state(session).is_none_or(|state| state == PullState::Closed);
        let closed = sessions.iter().filter_map(state).count() > 0;
        closed && sessions.iter().all(|it| it.archived && is_closed(it))
    }

    /// Everything that was done twice, lost or done wrong.
    pub(crate) async fn violations(&self) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        for job in self.jobs {
            let kept = self.merged(job);
            if kept.len() != 1 {
                wrong.push(format!(
                    "job {job}: {} pull requests are merged, not one",
                    kept.len()
                ));
            }
            for kept in &kept {
                wrong.extend(self.wakes_of(job, kept));
                if !self.passed(kept).await? {
                    wrong.push(format!(
                        "job {job}: {}#{} was merged at a head that had not passed",
                        kept.repo, kept.pull.number
                    ));
                }
            }
            self.sessions_of(job, &kept, &mut wrong);
        }
        if !self.is_cancelled() {
            let job = self.cancelled;
            wrong.push(format!("job {job}: cancelled, and not closed and put away"));
        }
        self.sessions_of(self.cancelled, &[], &mut wrong);
        self.said_so(&mut wrong);
        self.totals(&mut wrong);
        self.acknowledgements(&mut wrong);
        let mut seen = BTreeSet::new();
        wrong.retain(|it| seen.insert(it.clone()));
        Ok(wrong)
    }

    fn sessions(&self, job: &str) -> Vec<SessionView> {
        let mut all = self.sandbox.jules().sessions();
        all.retain(|it| {
            Marker::find(&it.title).is_some_and(|marker| marker.job.to_string() == job)
        });
        all
    }

    /// The sessions of a job whose pull request is merged.
    fn merged(&self, job: &str) -> Vec<Kept> {
        let kept = |session: SessionView| {
            let (repo, number) = session.pull.clone()?;
            let pull = self.sandbox.github().pull(&repo, number)?;
            (pull.state == PullState::Merged).then_some(Kept {
                session,
                pull,
                repo,
            })
        };
        self.sessions(job).into_iter().filter_map(kept).collect()
    }

    /// Messages, approvals and creates that came twice, and writes to a session that no job keeps.
    fn sessions_of(&self, job: &str, kept: &[Kept], wrong: &mut Vec<String>) {
        let mut first: BTreeMap<u32, Timestamp> = BTreeMap::new();
        for session in self.sessions(job) {
            let id = &session.id;
            let mut said = BTreeSet::new();
            for text in &session.messages {
                if !said.insert(text) {
                    wrong.push(format!("job {job}: session {id} was told twice: {text}"));
                }
            }
            let plans = times(&session, "planGenerated").len();
            if session.approvals > plans {
                wrong.push(format!(
                    "job {job}: session {id} got {} approvals of {plans} plans",
                    session.approvals
                ));
            }
            let is_kept = kept.iter().any(|kept| kept.session.id == *id);
            if !is_kept && !session.archived {
                wrong.push(format!("job {job}: session {id} is kept besides its own"));
            }
            let Some(marker) = Marker::find(&session.title) else {
                continue;
            };
            let seen_from = *first
                .entry(marker.attempt)
                .or_insert_with(|| self.seen_from(&session));
            if session.created_at.duration_since(seen_from) > LOOK_TAKES {
                wrong.push(format!(
                    "job {job}: session {id} was created although the list showed another one of attempt {}",
                    marker.attempt
                ));
            }
        }
    }

    /// From when the lists show a session.
    fn seen_from(&self, session: &SessionView) -> Timestamp {
        let lagged = session.created_at.saturating_add(self.list_lag);
        let lagged = lagged.unwrap_or_default();
        match self.duplicates.filter(|_| session.prompt.contains(BLOCKED)) {
            Some(Some(shown)) => lagged.max(*shown),
            Some(None) => Timestamp::MAX,
            None => lagged,
        }
    }

    /// The pull request that needs a person is commented on and labelled once, and no other of its repository.
    fn said_so(&self, wrong: &mut Vec<String>) {
        for pull in person::pulls(self.sandbox) {
            let times = usize::from(pull.state == PullState::Merged);
            let (said, labels) = (pull.comments.len(), pull.labels.len());
            if (said, labels) != (times, times) {
                wrong.push(format!(
                    "{HANDBOOK}#{}: {said} comments and {labels} labels, not {times} each",
                    pull.number
                ));
            }
        }
    }

    /// What was to happen in this seed, whatever Gaffer does, and did not.
    pub(crate) fn unstaged(&self) -> Option<String> {
        let missing = self.duplicates.is_some() && duplicate::count(self.sandbox) < 2;
        missing.then(|| "no create was done twice, though its answer was lost".to_owned())
    }

    /// Counters that can only be too high if something was done twice.
    fn totals(&self, wrong: &mut Vec<String>) {
        let it = self.sandbox.counters();
        let sessions = self.jobs.iter().map(|job| self.sessions(job).len());
        let sessions: u64 = sessions.map(|count| count as u64).sum();
        let cancelled = self.sessions(self.cancelled).len() as u64;
        let jobs = self.jobs.len() as u64;
        let docs = self.sandbox.github().pulls(DOCS).len() as u64;
        for (what, times, at_most) in [
            ("merges", it.merges, jobs),
            ("deleted branches", it.branch_deletes, jobs),
            ("archives", it.archives, sessions + cancelled),
            ("closed pull requests", it.closes, cancelled),
            (
                "drafts marked ready",
                it.ready_for_review,
                DRAFTS.max(sessions - jobs + DRAFTS),
            ),
            ("branches brought up to date", it.branch_updates, docs),
            ("comments", it.comments, 1),
            ("labels", it.labels, 1),
        ] {
            if times > at_most {
                wrong.push(format!("{times} {what}, where {at_most} were needed"));
            }
        }
    }

    /// Occurrences of a kept session that were not announced, or under more than one id.
    ///
    /// A session that finishes, gets a message and finishes again between two reads has finished once; its last completion must be
    /// announced in any case.
    fn wakes_of(&self, job: &str, kept: &Kept) -> Vec<String> {
        let announced = self.announced(job);
        let told = |kind: &str| announced.get(kind).map_or(0, BTreeMap::len);
        let mut wrong = Vec::new();
        for (kind, activity) in [
            ("question", "agentMessaged"),
            ("plan_approval", "planGenerated"),
        ] {
            let happened = times(&kept.session, activity).len();
            if told(kind) != happened {
                wrong.push(format!(
                    "job {job}: {happened} times {kind}, announced under {} ids",
                    told(kind)
                ));
            }
        }
        if kept.repo == HANDBOOK && told("merge_blocked") != 1 {
            wrong.push(format!(
                "job {job}: blocked once, announced under {} ids",
                told("merge_blocked")
            ));
        }
        let finished = times(&kept.session, "sessionCompleted");
        let seen = announced
            .get("completed")
            .and_then(|ids| ids.values().max().copied());
        if told("completed") > finished.len() || seen < finished.last().copied() {
            wrong.push(format!(
                "job {job}: finished at {finished:?}, announced under {} ids, at last {seen:?}",
                told("completed")
            ));
        }
        wrong
    }

    fn received(&self) -> Vec<Received> {
        let agents = self.sandbox.agents();
        let mut all = agents.received(PROMPT);
        all.extend(agents.received(SLOW));
        all
    }

    /// Distinct ids under which the receivers were told of each kind of event of a job, and when it was seen.
    fn announced(&self, job: &str) -> BTreeMap<String, BTreeMap<String, Timestamp>> {
        let mut announced: BTreeMap<String, BTreeMap<String, Timestamp>> = BTreeMap::new();
        for received in self.received() {
            let Ok(wake) = serde_json::from_str::<Wake>(&received.body) else {
                continue;
            };
            let body: Value = serde_json::from_str(&received.body).unwrap_or_default();
            let seen = time(&body["observed_at"]).unwrap_or(received.at);
            if wake.job_id.as_deref() == Some(job) {
                let ids = announced.entry(wake.kind).or_default();
                ids.insert(wake.event_id, seen);
            }
        }
        announced
    }

    /// A wake that was acknowledged is not sent again, unless the acknowledgement was lost with the process or on its way.
    fn acknowledgements(&self, wrong: &mut Vec<String>) {
        let mut answered: BTreeMap<String, Timestamp> = BTreeMap::new();
        let mut faults = self.agent_faults;
        for received in self.received() {
            let id = received.webhook_id.clone().unwrap_or_default();
            let taken = self.acknowledged.get(&id).copied();
            if taken.is_some_and(|taken| received.at > taken) {
                wrong.push(format!("wake {id} came again after it was acknowledged"));
            }
            let before = answered.insert(id.clone(), received.at);
            let Some(before) = before.filter(|_| received.agent == PROMPT) else {
                continue;
            };
            let died = self
                .deaths
                .iter()
                .any(|death| *death >= before && death.duration_since(before) <= UNHEARD);
            if !died && faults == 0 {
                wrong.push(format!("wake {id} came again after it was answered 204"));
            }
            faults = faults.saturating_sub(usize::from(!died));
        }
    }

    /// Whether the merged head is the one whose checks passed.
    async fn passed(&self, kept: &Kept) -> Result<bool> {
        let Some(sha) = kept.pull.merged_sha.as_deref() else {
            return Ok(false);
        };
        let url = format!(
            "{}/repos/{}/commits/{sha}/check-runs?per_page=100",
            self.sandbox.github_base(),
            kept.repo
        );
        let answer = reqwest::Client::new()
            .get(url)
            .bearer_auth(sandbox::github::DEFAULT_TOKEN)
            .header("user-agent", "gaffer-demo")
            .send()
            .await
            .context("asking the sandbox for checks")?;
        let checks: Value = answer
            .json()
            .await
            .context("reading the sandbox's checks")?;
        let runs = checks["check_runs"].as_array().cloned().unwrap_or_default();
        let green = |run: &Value| run["conclusion"] == "success";
        Ok(kept.pull.head_sha == sha && !runs.is_empty() && runs.iter().all(green))
    }
}

/// When a session did something of a kind, oldest first.
fn times(session: &SessionView, activity: &str) -> Vec<Timestamp> {
    let of_kind = |it: &&Value| it.get(activity).is_some();
    let all = session.activities.iter().filter(of_kind);
    all.filter_map(|it| time(&it["createTime"])).collect()
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}
