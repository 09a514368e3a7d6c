//! What keeps the installation from knowing or doing something: shown on every board, since a board that was not read
//! must not look idle.

use domain::account::Health;
use domain::ids::RepoName;
use domain::status::{AccountView, DeliveryLogView, SprintGlimpse, Status, WebhookFeedView};
use domain::webhook_activity::WebhookHealth;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What it is about: an account, a source, GitHub.
    pub about: String,
    /// What is the case.
    pub sentence: String,
    /// Whether something could not be read; else it is only to be known.
    pub is_failure: bool,
}

impl Trouble {
    /// Something that could not be read or done.
    pub fn failure(about: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            sentence: sentence.into(),
            is_failure: true,
        }
    }

    /// Something to be known.
    pub fn notice(about: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self {
            is_failure: false,
            ..Self::failure(about, sentence)
        }
    }
}

/// What the status of an installation tells of troubles.
pub fn troubles(status: &Status) -> Vec<Trouble> {
    let mut found = Vec::new();
    if status.paused_since.is_some() {
        found.push(Trouble::notice(
            "Everything",
            "is paused until `gaffer resume`",
        ));
    }
    if status.observe_only {
        found.push(Trouble::notice(
            "Gaffer",
            "only observes: nothing is written until it is started without --observe-only",
        ));
    }
    let github = status.github.trouble.iter();
    found.extend(github.map(|reason| Trouble::failure("GitHub", &reason.sentence)));
    let unread = status.unread_issues.iter();
    found.extend(unread.map(|it| Trouble::failure("GitHub", &it.sentence)));
    found.extend(status.accounts.iter().filter_map(of_account));
    found.extend(status.hooks.iter().filter_map(of_log));
    found.extend(status.feeds.iter().filter_map(of_feed));
    found.extend(status.paused_sources.iter().map(of_pause));
    found.extend(status.held_sprints().map(of_sprint));
    found
}

fn of_pause(repo: &RepoName) -> Trouble {
    let sentence = format!("is paused until `gaffer source resume {repo}`");
    Trouble::notice(repo.to_string(), sentence)
}

fn of_sprint(sprint: &SprintGlimpse) -> Trouble {
    let about = format!("Sprint {} of {}", sprint.number, sprint.repo);
    Trouble::notice(about, "waits for a person who ends its pause")
}

fn of_account(account: &AccountView) -> Option<Trouble> {
    let about = format!("Account {}", account.name);
    Some(match account.health {
        Health::Working => return None,
        Health::Throttled { .. } => Trouble::notice(about, health(&account.health)),
        Health::Unreachable { .. } | Health::Unauthorized { .. } => {
            Trouble::failure(about, health(&account.health))
        }
    })
}

/// How the polls of an account go, in a few words.
pub(crate) fn health(health: &Health) -> &'static str {
    match health {
        Health::Working => "works",
        Health::Throttled { .. } => "Jules throttles it",
        Health::Unreachable { .. } => "Jules cannot be reached",
        Health::Unauthorized { .. } => "its key does not work",
    }
}

fn of_log(log: &DeliveryLogView) -> Option<Trouble> {
    let sentence = log.trouble.as_deref()?;
    let about = format!("Webhook deliveries of {}", log.log);
    Some(Trouble::failure(about, sentence))
}

fn of_feed(feed: &WebhookFeedView) -> Option<Trouble> {
    match feed.health {
        WebhookHealth::Polled | WebhookHealth::Webhooks { .. } => None,
        WebhookHealth::Silent { .. } => {
            let sentence = "its webhooks have stopped, so it is read at intervals";
            Some(Trouble::notice(feed.repo.to_string(), sentence))
        }
    }
}
