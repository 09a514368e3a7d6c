//! Repositories that change their name or their owner or go away, and the App's installations.

use jiff::Timestamp;

use super::GitHub;
use super::admin::InstallationSetup;
use super::world::{GitHubRefusal, GitHubWorld, Repo};

impl GitHub {
    /// Renames or transfers a repository to `owner/name`: everything in it goes along, and the old name redirects to
    /// it until another repository takes that name. An unknown repository changes nothing.
    pub fn rename_repo(&self, old: &str, new: &str) {
        self.world().rename_repo(old, new);
    }

    /// Deletes a repository, as its owner would; nothing leads on to it.
    pub fn remove_repo(&self, name: &str) {
        let mut world = self.world();
        let key = name.to_ascii_lowercase();
        world.repos.remove(&key);
        world.moved.remove(&key);
    }

    /// The number of a repository; `None` when there is no such repository.
    #[must_use]
    pub fn repo_id(&self, name: &str) -> Option<u64> {
        self.world().repo(name).ok().map(|repo| repo.id)
    }

    /// Says where the App is installed, instead of everywhere.
    pub fn set_installations(&self, installations: Vec<InstallationSetup>) {
        self.world().installations = installations;
    }

    /// The tokens issued for the App's installations so far, of which some may have expired.
    #[must_use]
    pub fn minted_tokens(&self) -> Vec<String> {
        let world = self.world();
        let minted = world.tokens.values().filter(|it| it.expires_at.is_some());
        minted.map(|it| it.setup.token.clone()).collect()
    }

    /// Lets a token make so many more requests in the hour that is running; an unknown token changes nothing.
    pub fn leave_requests(&self, now: Timestamp, token: &str, left: u64) {
        if let Some(token) = self.world().tokens.get_mut(token) {
            token.window.roll(now);
            token.window.used = token.setup.rate_limit.saturating_sub(left);
        }
    }
}

impl GitHubWorld {
    fn rename_repo(&mut self, old: &str, new: &str) {
        let Some(mut repo) = self.repos.remove(&old.to_ascii_lowercase()) else {
            return;
        };
        let from = repo.key();
        new.clone_into(&mut repo.setup.full_name);
        let to = repo.key();
        let all = self.repos.values_mut().chain(std::iter::once(&mut repo));
        for pull in all.flat_map(|repo| repo.pulls.values_mut()) {
            if pull.head_repo == from {
                pull.head_repo.clone_from(&to);
            }
        }
        self.moved.remove(&to);
        self.moved.insert(from, repo.id);
        self.repos.insert(to, repo);
    }

    /// The repository with a number.
    pub(crate) fn repo_by_id(&self, id: u64) -> Result<&Repo, GitHubRefusal> {
        let mut all = self.repos.values();
        all.find(|repo| repo.id == id)
            .ok_or_else(GitHubRefusal::not_found)
    }

    /// Where an old name leads on to, unless another repository bears it now.
    pub(crate) fn moved_to(&self, name: &str) -> Option<&Repo> {
        let key = name.to_ascii_lowercase();
        if self.repos.contains_key(&key) {
            return None;
        }
        self.repo_by_id(*self.moved.get(&key)?).ok()
    }

    /// The installation that holds the repositories of an account: its own one before one for all.
    pub(crate) fn installation_of(&self, owner: &str) -> Result<&InstallationSetup, GitHubRefusal> {
        let own = self.installations.iter().filter(|it| it.holds(owner));
        own.max_by_key(|it| it.owner.is_some())
            .ok_or_else(GitHubRefusal::not_found)
    }

    /// An installation by its number.
    pub(crate) fn installation(&self, id: u64) -> Result<&InstallationSetup, GitHubRefusal> {
        let mut all = self.installations.iter();
        all.find(|it| it.id == id)
            .ok_or_else(GitHubRefusal::not_found)
    }
}
