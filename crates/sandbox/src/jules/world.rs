//! Everything Jules knows: its sessions and sources, and the quota each account has used.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use super::draft;
use super::patch::hex_id;
use super::play::PlayedStep;
use super::refusal::JulesRefusal;
use super::session::{Beat, OpenAsk, Posture, Session, Work};
use super::settings::Settings;
use super::switches::{BadKey, Delete, QuotaRefusal};
use super::view::Source;
use crate::clock::plus;
use crate::faults::Lags;
use crate::github::GitHub;
use crate::scenario::{AccountSetup, paced};
use crate::story::Story;

/// The window of the task quota.
const TASK_WINDOW: SignedDuration = SignedDuration::from_hours(24);

/// Everything Jules knows.
#[derive(Debug)]
pub(crate) struct JulesWorld {
    pub(crate) settings: Settings,
    pub(crate) sources: Vec<Source>,
    /// In the order of their making.
    pub(crate) sessions: Vec<Session>,
    /// By account name.
    used: BTreeMap<String, Used>,
}

/// What an account has used of its limits.
#[derive(Debug, Default)]
struct Used {
    /// When tasks were created, oldest first.
    tasks: VecDeque<Timestamp>,
    /// When requests came, oldest first.
    requests: VecDeque<Timestamp>,
    /// When creates came, oldest first.
    creates: VecDeque<Timestamp>,
}

impl JulesWorld {
    pub(crate) fn new(settings: Settings, sources: Vec<Source>) -> Self {
        Self {
            settings,
            sources,
            sessions: Vec::new(),
            used: BTreeMap::new(),
        }
    }

    /// The account of a key, once its rate allows one more request.
    pub(crate) fn admit(
        &mut self,
        key: &str,
        now: Timestamp,
    ) -> Result<AccountSetup, JulesRefusal> {
        let switches = &self.settings.switches;
        let refused = match switches.bad_key {
            BadKey::Unauthenticated => JulesRefusal::unauthenticated(),
            BadKey::Invalid => JulesRefusal::key_invalid(),
        };
        let account = self
            .settings
            .account_of_key(key)
            .cloned()
            .ok_or_else(|| refused.clone())?;
        if switches.disabled_accounts.contains(&account.name) {
            return Err(refused);
        }
        let limit = switches.requests_per_minute;
        let used = self.used.entry(account.name.clone()).or_default();
        if over(&mut used.requests, now, SignedDuration::from_mins(1), limit) {
            return Err(JulesRefusal::exhausted(None));
        }
        Ok(account)
    }

    /// Creates a session from the body of a request; answers its id.
    pub(crate) fn create(
        &mut self,
        account: &AccountSetup,
        body: &[u8],
        now: Timestamp,
    ) -> Result<String, JulesRefusal> {
        let limit = self.settings.switches.creates_per_second;
        let used = self.used.entry(account.name.clone()).or_default();
        if over(&mut used.creates, now, SignedDuration::from_secs(1), limit) {
            // Bursts of creates were answered as if the source did not exist.
            return Err(JulesRefusal::not_found());
        }
        let ask = draft::read(body, &self.settings.switches)?;
        if let Some(source) = &ask.source
            && !self.sources.iter().any(|it| it.repo == source.repo)
        {
            return Err(JulesRefusal::not_found());
        }
        self.check_quota(account, now)?;
        let story = self.settings.story(&ask.title, &ask.prompt).clone();
        let queued_for = paced(story.queued_for, self.settings.pace);
        let mut session = self.blank(&account.name, ask, now, &story);
        session.put(plus(now, queued_for), Beat::EnterPlanning);
        self.count_task(&account.name, now);
        let id = session.id.clone();
        self.sessions.push(session);
        Ok(id)
    }

    fn check_quota(&mut self, account: &AccountSetup, now: Timestamp) -> Result<(), JulesRefusal> {
        let switches = &self.settings.switches;
        let running = self
            .sessions
            .iter()
            .filter(|it| it.account == account.name && it.holds_slot(switches))
            .count();
        let tasks = self.used.entry(account.name.clone()).or_default();
        let recent = tasks
            .tasks
            .iter()
            .filter(|at| plus(**at, TASK_WINDOW) > now)
            .count();
        if !reached(running, account.concurrent) && !reached(recent, account.per_24h) {
            return Ok(());
        }
        Err(match switches.quota_refusal {
            QuotaRefusal::Precondition => JulesRefusal::precondition(),
            QuotaRefusal::Exhausted {
                retry_after_secs,
                retry_info_secs,
            } => {
                let refusal = JulesRefusal::exhausted(retry_after_secs);
                match retry_info_secs {
                    Some(secs) => refusal.with_retry_info(secs),
                    None => refusal,
                }
            }
        })
    }

    /// Counts a task against an account's rolling window.
    pub(crate) fn count_task(&mut self, account: &str, at: Timestamp) {
        self.used
            .entry(account.to_owned())
            .or_default()
            .tasks
            .push_back(at);
    }

    /// A new session in the queue, with an empty agenda.
    pub(crate) fn blank(
        &self,
        account: &str,
        ask: OpenAsk,
        created_at: Timestamp,
        story: &Story,
    ) -> Session {
        Session {
            id: made_up_id(self.sessions.len()),
            account: account.to_owned(),
            ask,
            created_at,
            state: "QUEUED".to_owned(),
            state_since: created_at,
            shadow: None,
            archived: false,
            deleted: false,
            activities: Vec::new(),
            work: Work::default(),
            posture: Posture::Playing,
            script: story.steps.clone().into(),
            on_message: story.on_message.clone(),
            approved_after: paced(story.approved_after, self.settings.pace),
            agenda: Vec::new(),
        }
    }

    /// The account's session of this id as reads see it: not deleted, and no longer invisible.
    pub(crate) fn seen(
        &self,
        account: &AccountSetup,
        id: &str,
        now: Timestamp,
        lags: Lags,
    ) -> Result<usize, JulesRefusal> {
        self.sessions
            .iter()
            .position(|it| {
                it.id == id && it.account == account.name && !it.deleted && !it.is_unborn(now, lags)
            })
            .ok_or_else(JulesRefusal::not_found)
    }

    /// The session at `index` with its inputs for playing.
    pub(crate) fn on_stage<'a>(
        &'a mut self,
        index: usize,
        at: Timestamp,
        github: &'a GitHub,
    ) -> Option<(&'a mut Session, PlayedStep<'a>)> {
        let session = self.sessions.get_mut(index)?;
        Some((
            session,
            PlayedStep {
                at,
                settings: &self.settings,
                github,
            },
        ))
    }

    /// Deletes a session, or archives it where delete only does that.
    pub(crate) fn delete(&mut self, index: usize) {
        let switches = &self.settings.switches;
        let Some(session) = self.sessions.get_mut(index) else {
            return;
        };
        match switches.delete {
            Delete::Archives => session.archived = true,
            Delete::Removes => {
                session.deleted = true;
                if switches.delete_frees_slot {
                    session.agenda.clear();
                }
            }
        }
    }

    /// The earliest time of the next event.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.sessions.iter().filter_map(Session::next_due).min()
    }

    /// Performs every beat due at `now`, in time order.
    pub(crate) fn advance(&mut self, now: Timestamp, github: &GitHub) {
        while let Some(due) = self.next_due().filter(|at| *at <= now) {
            for index in 0..self.sessions.len() {
                let Some((session, mut stage)) = self.on_stage(index, due, github) else {
                    break;
                };
                while let Some((at, beat)) = session.take_due(due) {
                    stage.at = at;
                    session.perform_beat(beat, &stage);
                }
            }
        }
    }
}

/// Whether one more within the window is over the limit; a request within it is counted.
fn over(
    seen: &mut VecDeque<Timestamp>,
    now: Timestamp,
    window: SignedDuration,
    limit: Option<u32>,
) -> bool {
    while seen.front().is_some_and(|at| plus(*at, window) <= now) {
        seen.pop_front();
    }
    let over = limit.is_some_and(|limit| reached(seen.len(), limit));
    if !over {
        seen.push_back(now);
    }
    over
}

fn reached(count: usize, limit: u32) -> bool {
    u32::try_from(count).is_ok_and(|count| count >= limit)
}

/// The id of the so-manieth session: twenty digits, above 2^63, the same in every run.
pub(crate) fn made_up_id(serial: usize) -> String {
    /// The smallest number of twenty digits; it is above 2^63.
    const FLOOR: u64 = 10_000_000_000_000_000_000;
    let digits = hex_id(&["session", &serial.to_string()], 16);
    let hash = u64::from_str_radix(&digits, 16).unwrap_or_default();
    (FLOOR + hash % (u64::MAX - FLOOR)).to_string()
}
