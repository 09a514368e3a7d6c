//! A scenario: accounts, repositories, stories, and initial objects.

mod named;
mod playable;

use std::path::Path;

use jiff::SignedDuration;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::agent::AgentSetup;
use crate::faults::{Fault, Lags};
use crate::github::{ChangedFile, CheckSetup, NewPull, Outcome, RepoSetup, TokenSetup};
use crate::jules::Switches;
use crate::story::{Step, Story};
use crate::webhook::WebhookFaults;

pub use named::{NAMED, Named};

/// The key of the default scenario's account.
pub const DEFAULT_KEY: &str = "sandbox-key";

/// The repository of the default scenario.
pub const DEFAULT_REPO: &str = "acme/shop";

/// Everything the sandbox is set up with; each part left out of a file has the default scenario's value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Jules accounts.
    pub accounts: Vec<AccountSetup>,
    /// GitHub tokens; none leaves the one that every sandbox accepts.
    pub tokens: Vec<TokenSetup>,
    /// Repositories on GitHub, each of them a source of Jules.
    pub repos: Vec<RepoSetup>,
    /// Stories; a new session plays the first whose `match` is in its title or prompt.
    pub stories: Vec<Story>,
    /// What all other sessions play.
    pub default_story: Story,
    /// Multiplies all delays of stories and checks.
    pub pace: f64,
    /// Answers to the open questions about Jules.
    pub switches: Switches,
    /// Read-after-write lags.
    pub lags: Lags,
    /// Faults that are on from the start.
    pub faults: Vec<Fault>,
    /// The faults of GitHub's webhooks.
    pub webhook_faults: WebhookFaults,
    /// Initial sessions and pull requests that were not created through the API.
    pub foreign: Vec<Foreign>,
    /// Who opens and pushes Jules's pull requests.
    pub author: Author,
    /// Bytes of patch that every finished session carries in each read, beside its real changes.
    pub patch_bytes: usize,
    /// Agents whose receiver answers otherwise than 204.
    pub agents: Vec<AgentSetup>,
}

/// A Jules account as a scenario declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccountSetup {
    /// Name, used only in scenarios and control.
    pub name: String,
    /// Its API key.
    pub key: String,
    /// Sessions it may run at a time.
    pub concurrent: u32,
    /// Sessions it may create in any 24 hours.
    pub per_24h: u32,
    /// GitHub login of the person, who "started" its pull requests.
    pub login: String,
}

impl Default for AccountSetup {
    /// The limits of the middle plan.
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            key: DEFAULT_KEY.to_owned(),
            concurrent: 15,
            per_24h: 100,
            login: "octo-owner".to_owned(),
        }
    }
}

/// Who opens Jules's pull requests; the account's setting on the live service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Author {
    /// `google-labs-jules[bot]`.
    #[default]
    Bot,
    /// The person whose account it is.
    User {
        /// Login.
        login: String,
        /// Numeric id.
        id: u64,
    },
}

impl Author {
    /// Login of Jules's own GitHub App.
    pub const BOT_LOGIN: &'static str = "google-labs-jules[bot]";

    /// Numeric user id of that bot.
    pub const BOT_ID: u64 = 161_369_871;

    pub(crate) fn login(&self) -> &str {
        match self {
            Self::Bot => Self::BOT_LOGIN,
            Self::User { login, .. } => login,
        }
    }

    pub(crate) fn id(&self) -> u64 {
        match self {
            Self::Bot => Self::BOT_ID,
            Self::User { id, .. } => *id,
        }
    }
}

/// An object that was not created through the API.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Foreign {
    /// Sessions started in the web product, by a schedule or by another installation.
    Session(ForeignSession),
    /// Pull requests of other people, of forks, or that look like Jules's.
    Pull(ForeignPull),
}

/// Sessions that were there before. `{n}` in a text becomes 1, 2, 3 …
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForeignSession {
    /// How many of them.
    pub count: u32,
    /// Whose they are; empty means the first account's.
    pub account: String,
    /// Session id; none makes one up.
    pub id: Option<String>,
    /// Title.
    pub title: String,
    /// Prompt.
    pub prompt: String,
    /// `owner/name`; none makes a session without a repository.
    pub repo: Option<String>,
    /// Starting branch.
    pub branch: String,
    /// The state it is in, by its raw name.
    pub state: String,
    /// How long ago it was created.
    pub age: SignedDuration,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether its plan waits for a person's approval.
    pub require_plan_approval: bool,
    /// Whether it opens pull requests.
    pub auto_create_pr: bool,
    /// Its further steps.
    pub steps: Vec<Step>,
    /// Address of a pull request among its outputs.
    pub pull_url: Option<String>,
}

impl Default for ForeignSession {
    fn default() -> Self {
        Self {
            count: 1,
            account: String::new(),
            id: None,
            title: "Foreign session {n}".to_owned(),
            prompt: "Do something else".to_owned(),
            repo: Some(DEFAULT_REPO.to_owned()),
            branch: "main".to_owned(),
            state: "IN_PROGRESS".to_owned(),
            age: SignedDuration::ZERO,
            archived: false,
            require_plan_approval: false,
            auto_create_pr: true,
            steps: Vec::new(),
            pull_url: None,
        }
    }
}

/// Pull requests that were there before. `{n}` in a text becomes 1, 2, 3 …
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForeignPull {
    /// How many of them.
    pub count: u32,
    /// `owner/name` of the repository they are opened in.
    pub repo: String,
    /// The pull request; its head branch, title and body may carry `{n}`.
    pub pull: NewPull,
}

impl Default for ForeignPull {
    fn default() -> Self {
        let pull = NewPull {
            title: "Foreign change {n}".to_owned(),
            head_branch: "foreign-{n}".to_owned(),
            author_login: "somebody".to_owned(),
            files: vec![ChangedFile::modified("foreign.txt")],
            ..NewPull::default()
        };
        Self {
            count: 1,
            repo: DEFAULT_REPO.to_owned(),
            pull,
        }
    }
}

impl Default for Scenario {
    /// One account `default` with [`DEFAULT_KEY`], one repository with two green checks, the default story.
    fn default() -> Self {
        let checks = [("build", 2), ("test", 3)].map(|(name, seconds)| CheckSetup {
            takes: SignedDuration::from_secs(seconds),
            ..CheckSetup::new(name, Outcome::Success)
        });
        Self {
            accounts: vec![AccountSetup::default()],
            tokens: Vec::new(),
            repos: vec![RepoSetup::new(DEFAULT_REPO).with_checks(checks)],
            stories: Vec::new(),
            default_story: Story::default(),
            pace: 1.0,
            switches: Switches::default(),
            lags: Lags::default(),
            faults: Vec::new(),
            webhook_faults: WebhookFaults::default(),
            foreign: Vec::new(),
            author: Author::default(),
            patch_bytes: 0,
            agents: Vec::new(),
        }
    }
}

impl Scenario {
    /// Reads a scenario from a JSON file.
    ///
    /// # Errors
    /// [`Error::ScenarioFile`] when the file cannot be read, [`Error::Scenario`] naming the field that is wrong.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::ScenarioFile {
            path: path.to_owned(),
            source,
        })?;
        Self::from_json(&text)
    }

    /// Reads a scenario from JSON text.
    ///
    /// # Errors
    /// [`Error::Scenario`] naming the field that is wrong.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let scenario: Self = read_json(text.as_bytes())
            .map_err(|(field, problem)| Error::Scenario { field, problem })?;
        scenario.check()?;
        Ok(scenario)
    }
}

/// Reads JSON and says at which field it is wrong: (field, problem).
pub(crate) fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, (String, String)> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| (error.path().to_string(), error.inner().to_string()))?;
    reader
        .end()
        .map_err(|error| (".".to_owned(), error.to_string()))?;
    Ok(value)
}

/// `delay` multiplied by `pace`, which `Scenario::check` keeps small.
pub(crate) fn paced(delay: SignedDuration, pace: f64) -> SignedDuration {
    SignedDuration::try_from_secs_f64(delay.as_secs_f64() * pace).unwrap_or(delay)
}

/// `text` with `{n}` replaced by a number.
pub(crate) fn numbered(text: &str, n: u32) -> String {
    text.replace("{n}", &n.to_string())
}
