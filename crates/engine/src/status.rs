//! What is going on, and for anything that does not move: why, and what will be done when.

use domain::account::Health;
use domain::effect::{Effect, EffectState};
use domain::ids::{AccountName, JobId, RepoName};
use domain::job::{Attention, How, Job, Phase};
use domain::merge::Judgement;
use domain::session::SessionState;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::desk::{Desk, Error};
use crate::keys;
use crate::settings::TrackedPull;

/// What is going on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The time of the answer.
    pub now: Timestamp,
    /// Since when everything is paused.
    pub paused_since: Option<Timestamp>,
    /// Whether this process only observes.
    pub observe_only: bool,
    /// Jobs by state.
    pub jobs: std::collections::BTreeMap<String, u64>,
    /// Accounts.
    pub accounts: Vec<AccountStatus>,
    /// Sources that are paused.
    pub paused_sources: Vec<RepoName>,
    /// Messages that wait, and dead letters.
    pub queue: (u64, u64),
}

/// One account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountStatus {
    /// Its name.
    pub name: AccountName,
    /// How its polls go.
    pub health: Health,
    /// When it is polled next.
    pub next_poll: Timestamp,
    /// Slots taken and allowed.
    pub slots: (u64, u32),
    /// Tasks of the last 24 hours and allowed.
    pub today: (u64, u32),
}

/// Why a job does not move, and what happens next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// The job.
    pub job: JobId,
    /// In one word.
    pub state: String,
    /// What is the case and what happens next, in sentences.
    pub because: Vec<Reasoned>,
    /// When it is looked at again at the latest.
    pub next_look: Option<Timestamp>,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoned {
    /// For programs.
    pub code: String,
    /// For people.
    pub sentence: String,
}

fn reasoned(code: &str, sentence: impl Into<String>) -> Reasoned {
    Reasoned {
        code: code.to_owned(),
        sentence: sentence.into(),
    }
}

/// A job's state in one word, for people and for lists.
pub fn state_of(job: &Job) -> &'static str {
    match &job.phase {
        Phase::Queued { .. } => "queued",
        Phase::Creating { .. } => "starting",
        Phase::Ended(ending) => match ending.how {
            How::Merged { .. } => "merged",
            How::PullClosed => "closed",
            How::Completed => "completed",
            How::Failed { .. } => "failed",
            How::Lost => "lost",
            How::Refused { .. } => "refused",
            How::Cancelled { .. } => "cancelled",
        },
        Phase::Watching(watch) => match (&watch.attention, &watch.state) {
            (Attention::Question { .. }, _) => "asking",
            (Attention::Plan { .. }, _) => "plan-waits",
            (_, SessionState::Completed) if watch.pull.is_some() => "in-review",
            (_, SessionState::Completed) => "completed",
            (Attention::None | Attention::Expecting { .. } | Attention::Answered { .. }, _) => {
                "working"
            }
        },
    }
}

impl Desk {
    /// What is going on.
    pub async fn status(&self) -> Result<Status, Error> {
        let mut jobs = std::collections::BTreeMap::new();
        for job in self.store.jobs(1_000).await? {
            *jobs.entry(state_of(&job.value).to_owned()).or_insert(0) += 1;
        }
        let mut accounts = Vec::new();
        for found in self.store.accounts().await? {
            let account = found.value;
            let slots = self.store.slots(&account.name).await?.value;
            accounts.push(AccountStatus {
                slots: (slots.taken.len() as u64, account.limits.concurrent),
                today: (slots.created.len() as u64, account.limits.per_day),
                name: account.name,
                health: account.health,
                next_poll: account.next_poll,
            });
        }
        let sources = self.store.sources().await?;
        Ok(Status {
            now: self.now(),
            paused_since: self.store.switches().await?.value.paused_since,
            observe_only: self.observe_only,
            jobs,
            accounts,
            paused_sources: sources
                .into_iter()
                .filter(|source| source.value.paused)
                .map(|source| source.value.repo)
                .collect(),
            queue: self.queue.depth().await?,
        })
    }

    /// Why a job does not move.
    pub async fn why(&self, id: &JobId) -> Result<Why, Error> {
        let job = self.must_job(id).await?.value;
        let mut because = self.why_phase(&job).await?;
        let mut next_look = self.due_of(&keys::job(id)).await?;
        for effect in self.store.effects(&keys::job_pk(id)).await? {
            because.extend(why_effect(&effect.value));
        }
        if let Some(reference) = job.pull()
            && let Some(tracked) = self.store.pull(reference).await?
        {
            because.extend(why_pull(&tracked.value));
            let pull_due = self.due_of(&keys::pull(reference)).await?;
            next_look = [next_look, pull_due].into_iter().flatten().min();
            for effect in self.store.effects(&keys::pull_pk(reference)).await? {
                because.extend(why_effect(&effect.value));
            }
        }
        Ok(Why {
            job: id.clone(),
            state: state_of(&job).to_owned(),
            because,
            next_look,
        })
    }

    async fn due_of(&self, key: &crate::ports::Key) -> Result<Option<Timestamp>, Error> {
        Ok(self
            .store
            .records()
            .get(key)
            .await?
            .and_then(|record| record.due))
    }

    async fn why_phase(&self, job: &Job) -> Result<Vec<Reasoned>, Error> {
        let mut because = Vec::new();
        if self.store.switches().await?.value.paused_since.is_some() {
            because.push(reasoned(
                "paused",
                "Everything is paused: `gaffer resume` lets it go on.",
            ));
        }
        match self.store.source(&job.repo).await? {
            Some(source) if source.value.paused => {
                because.push(reasoned(
                    "source_paused",
                    format!(
                        "Source {} is paused: `gaffer source resume {}`.",
                        job.repo, job.repo
                    ),
                ));
            }
            Some(_) => {}
            None => because.push(reasoned(
                "no_source",
                format!(
                    "{} is no source: `gaffer source add {}`.",
                    job.repo, job.repo
                ),
            )),
        }
        if let Some(account) = self.store.account(&job.account).await? {
            because.extend(why_account(&account.value));
        }
        because.push(match &job.phase {
            Phase::Queued { not_before, refusals: 0, .. } => {
                reasoned("queued", format!("It waits for a slot of account `{}`; it is tried from {not_before} on.", job.account))
            }
            Phase::Queued { not_before, refusals, .. } => reasoned(
                "refused_for_now",
                format!("Jules has said \"later\" {refusals} times, usually because of its quota; it is tried again at {not_before}."),
            ),
            Phase::Creating { since, .. } => reasoned("starting", format!("Its session is being created since {since}.")),
            Phase::Ended(ending) => reasoned("ended", format!("It ended at {}: {}.", ending.at, how_words(&ending.how))),
            Phase::Watching(watch) => why_watch(watch),
        });
        Ok(because)
    }
}

fn how_words(how: &How) -> String {
    match how {
        How::Merged { sha } => format!("its pull request was merged at {sha}"),
        How::PullClosed => "its pull request was closed without a merge".to_owned(),
        How::Completed => "its session finished without a pull request".to_owned(),
        How::Failed { reason } => format!("its session failed ({reason})"),
        How::Lost => "Jules does not know its session any more".to_owned(),
        How::Refused { reason } => format!("Jules would not create its session ({reason})"),
        How::Cancelled { by } => format!("it was cancelled by {by}"),
    }
}

fn why_account(account: &domain::account::Account) -> Option<Reasoned> {
    let next = account.next_poll;
    match &account.health {
        Health::Working => None,
        Health::Throttled { streak } => Some(reasoned(
            "throttled",
            format!("Jules has refused or failed {streak} polls in a row; the next is at {next}."),
        )),
        Health::Unreachable { streak, .. } => Some(reasoned(
            "unreachable",
            format!("Jules has not answered {streak} polls in a row; the next is at {next}."),
        )),
        Health::Unauthorized { since } => Some(reasoned(
            "unauthorized",
            format!(
                "Jules refuses the key of account `{}` since {since}: `gaffer account add {} --replace-key`.",
                account.name, account.name
            ),
        )),
    }
}

fn why_watch(watch: &domain::job::Watch) -> Reasoned {
    let state = watch.state.as_str();
    match &watch.attention {
        Attention::Question { since, text, .. } => {
            let words = text.as_deref().unwrap_or("(no text came)");
            reasoned(
                "question_open",
                format!("Jules asks since {since}: {words}"),
            )
        }
        Attention::Plan { since, .. } => reasoned(
            "plan_open",
            format!("A plan waits for approval since {since}: `gaffer job approve ID`."),
        ),
        Attention::Expecting { since } => reasoned(
            "words_expected",
            format!("{state} since {since}; the words that belong to it are awaited."),
        ),
        Attention::Answered { since } => reasoned(
            "answered",
            format!("It was answered at {since}; Jules has not gone on yet."),
        ),
        Attention::None => reasoned(
            "working",
            format!(
                "Jules says {state}; it last did something at {}.",
                watch.progress_at
            ),
        ),
    }
}

fn why_pull(tracked: &TrackedPull) -> Vec<Reasoned> {
    let Some(verdict) = &tracked.pull.verdict else {
        return vec![reasoned(
            "pull_unread",
            format!(
                "Pull request {} has not been judged yet.",
                tracked.pull.pull
            ),
        )];
    };
    let head = &verdict.sha;
    match &verdict.judgement {
        Judgement::Merge { .. } => vec![reasoned(
            "merge",
            format!("{head} is green and is being merged."),
        )],
        Judgement::Conflict { .. } => vec![reasoned(
            "conflict",
            format!("{head} conflicts with its base."),
        )],
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => reasons
            .iter()
            .map(|reason| reasoned(reason.code(), reason.sentence()))
            .collect(),
    }
}

fn why_effect(effect: &Effect) -> Option<Reasoned> {
    let name = &effect.action;
    match &effect.state {
        EffectState::Done { .. } => None,
        EffectState::Intent {
            not_before,
            attempt,
        } => Some(reasoned(
            "effect_waits",
            format!("`{name}` is to be done from {not_before} on (attempt {attempt})."),
        )),
        EffectState::Started { until, .. } => Some(reasoned(
            "effect_started",
            format!(
                "`{name}` is being done; its outcome is unknown if nothing is recorded by {until}."
            ),
        )),
        EffectState::Unknown { look_at, .. } => Some(reasoned(
            "effect_unknown",
            format!("`{name}` may have happened; the world is read at {look_at}."),
        )),
        EffectState::Failed { failure, .. } => Some(reasoned(
            "effect_failed",
            format!("`{name}` failed: {failure}"),
        )),
    }
}
