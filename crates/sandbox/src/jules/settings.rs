//! What all sessions share: accounts, switches, pace, stories, the pull requests' author.

use super::switches::Switches;
use crate::scenario::{AccountSetup, Author, Scenario};
use crate::story::{Story, asks_for_verdict};

/// What all sessions share.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) switches: Switches,
    pub(crate) pace: f64,
    pub(crate) author: Author,
    pub(crate) patch_bytes: usize,
    /// Sessions whose prompt contains this are in no list.
    pub(crate) unlisted: Option<String>,
    accounts: Vec<AccountSetup>,
    /// Those of the scenario, and after them the one of a pipeline's layers beside the usual default story.
    stories: Vec<Story>,
    default_story: Story,
    /// Played in place of the usual default story where a prompt asks for the verdict of a review.
    review: Option<Story>,
}

impl Settings {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let is_usual = scenario.default_story == Story::default();
        let usual = is_usual.then(Story::layer).into_iter();
        Self {
            switches: scenario.switches.clone(),
            pace: scenario.pace,
            author: scenario.author.clone(),
            patch_bytes: scenario.patch_bytes,
            unlisted: None,
            accounts: scenario.accounts.clone(),
            stories: scenario.stories.iter().cloned().chain(usual).collect(),
            default_story: scenario.default_story.clone(),
            review: is_usual.then(Story::review),
        }
    }

    /// The account a key belongs to.
    pub(crate) fn account_of_key(&self, key: &str) -> Option<&AccountSetup> {
        self.accounts.iter().find(|it| it.key == key)
    }

    /// The account of this name; the first one for an empty name.
    pub(crate) fn account(&self, name: &str) -> Option<&AccountSetup> {
        self.accounts
            .iter()
            .find(|it| name.is_empty() || it.name == name)
    }

    /// Whether a session with this prompt is in lists.
    pub(crate) fn lists(&self, prompt: &str) -> bool {
        let hidden = |text: &String| prompt.contains(text.as_str());
        !self.unlisted.as_ref().is_some_and(hidden)
    }

    /// GitHub login of an account's person.
    pub(crate) fn login_of(&self, account: &str) -> &str {
        self.account(account)
            .map_or("somebody", |it| it.login.as_str())
    }

    /// The first story whose `match` is in the title or the prompt, else the default one. The usual default one
    /// answers a prompt that asks for a verdict with one.
    pub(crate) fn story(&self, title: &str, prompt: &str) -> &Story {
        let fits = |story: &&Story| {
            !story.matches.is_empty()
                && (title.contains(&story.matches) || prompt.contains(&story.matches))
        };
        self.stories
            .iter()
            .find(fits)
            .or(self.review.as_ref().filter(|_| asks_for_verdict(prompt)))
            .unwrap_or(&self.default_story)
    }
}
