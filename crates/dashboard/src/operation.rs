//! How the installation itself does: accounts with their budgets, workers, wakes.

use askama::Template;
use domain::account::Health;
use domain::status::{AccountView, Status};
use domain::wake::{Wake, WakeState};
use jiff::Timestamp;

use crate::Error;
use crate::shell::{Frame, Page, Place, Shell, paged};
use crate::sources::{SourceRow, SourceState, row};
use crate::trouble::{Trouble, health, troubles};

/// Accounts and budgets.
///
/// # Errors
/// When the template fails.
pub fn accounts(frame: &Frame, status: &Status) -> Result<Page, Error> {
    paged(frame, Place::Accounts, |shell| AccountsPage {
        shell,
        status,
        rows: status.accounts.iter().map(account).collect(),
    })
}

#[derive(Template)]
#[template(path = "accounts.html")]
struct AccountsPage<'a> {
    shell: Shell,
    status: &'a Status,
    rows: Vec<AccountRow<'a>>,
}

struct AccountRow<'a> {
    account: &'a AccountView,
    health: &'static str,
    since: Option<Timestamp>,
    is_failed: bool,
}

fn account(account: &AccountView) -> AccountRow<'_> {
    let since = match account.health {
        Health::Working | Health::Throttled { .. } => None,
        Health::Unreachable { since, .. } | Health::Unauthorized { since } => Some(since),
    };
    AccountRow {
        account,
        health: health(&account.health),
        since,
        is_failed: since.is_some(),
    }
}

/// Workers with their last results or errors.
///
/// # Errors
/// When the template fails.
pub fn workers(frame: &Frame, status: &Status, sources: &[SourceState]) -> Result<Page, Error> {
    let troubles = troubles(status);
    paged(frame, Place::Workers, |shell| WorkersPage {
        shell,
        status,
        troubles: &troubles,
        rows: sources.iter().map(row).collect(),
    })
}

#[derive(Template)]
#[template(path = "workers.html")]
struct WorkersPage<'a> {
    shell: Shell,
    status: &'a Status,
    troubles: &'a [Trouble],
    rows: Vec<SourceRow<'a>>,
}

/// Wakes, and dead letters.
#[derive(Debug, Clone, Copy)]
pub struct Wakes<'a> {
    /// The wakes, the newest first.
    pub wakes: &'a [Wake],
    /// Whether there are older ones.
    pub is_cut: bool,
    /// How many dead letters there are.
    pub dead: u64,
    /// The newest of them, where they can be listed.
    pub letters: &'a [DeadLetter],
}

/// A message that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Names it.
    pub id: String,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// When it was given up, if that is known.
    pub died_at: Option<Timestamp>,
    /// Whether it is no message of this version.
    pub is_malformed: bool,
    /// The beginning of its body, without secrets.
    pub body: String,
}

/// Wakes on their way to agents.
///
/// # Errors
/// When the template fails.
pub fn wakes(frame: &Frame, told: Wakes<'_>) -> Result<Page, Error> {
    paged(frame, Place::Wakes, |shell| WakesPage {
        shell,
        rows: told.wakes.iter().map(wake).collect(),
        is_cut: told.is_cut,
        dead: told.dead,
        letters: told.letters,
    })
}

#[derive(Template)]
#[template(path = "wakes.html")]
struct WakesPage<'a> {
    shell: Shell,
    rows: Vec<WakeRow<'a>>,
    is_cut: bool,
    dead: u64,
    letters: &'a [DeadLetter],
}

struct WakeRow<'a> {
    wake: &'a Wake,
    /// The delivery, or the job of none, that it is about.
    about: Option<String>,
    state: &'static str,
    class: Option<&'static str>,
    why: Option<&'a str>,
}

fn wake(wake: &Wake) -> WakeRow<'_> {
    let (state, class, why) = match &wake.state {
        WakeState::Pending { .. } => ("● waiting", Some("wait"), None),
        WakeState::Sending { .. } => ("sending", None, None),
        WakeState::Leased { .. } => ("taken", None, None),
        WakeState::Acknowledged { .. } => ("✓ acknowledged", Some("good"), None),
        WakeState::Dead { why, .. } => ("✕ given up", Some("bad"), Some(why.as_str())),
    };
    let event = &wake.event;
    let delivery = event.aid.delivery.as_ref().map(ToString::to_string);
    let job = || event.job.as_ref().map(ToString::to_string);
    WakeRow {
        wake,
        about: delivery.or_else(job),
        state,
        class,
        why,
    }
}
