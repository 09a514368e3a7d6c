//! Sealed pages of mail: each packs events and is hashed over the page before.

use domain::ids::RepoName;
use domain::mail::{Counters, PAGE_EVENTS, Page, paged};
use domain::refusal::NotNow;

use crate::backend::{Backend, Error, IndexEntry, decide_again};
use crate::keys;

/// Most pages of one commit: each has up to 64 KB.
const PAGES_AT_ONCE: usize = 40;

impl Backend {
    /// Seals once a page is full. What was to be done is done, so a failure is logged only; the next event seals.
    pub(super) async fn seal_when_full(&self, repo: &RepoName, counters: &Counters) {
        if counters.events < counters.sealed + PAGE_EVENTS {
            return;
        }
        if let Err(error) = self.seal_mail(repo).await {
            tracing::warn!(%repo, %error, "mail was not sealed");
        }
    }

    /// Seals all events that no page has yet; returns how many those were.
    pub async fn seal_mail(&self, repo: &RepoName) -> Result<u64, Error> {
        let mut count = 0;
        loop {
            let sealed = decide_again(format!("the mail of {repo}"), || self.seal_more(repo));
            match sealed.await? {
                0 => return Ok(count),
                more => count += more,
            }
        }
    }

    /// Seals the next events; none after a conflict.
    async fn seal_more(&self, repo: &RepoName) -> Result<Option<u64>, Error> {
        let found = self.store.get_or_initial::<Counters>(repo).await?;
        let mut counters = found.value;
        let last = match counters.pages {
            0 => None,
            number => Some(self.must_page(repo, number).await?),
        };
        let lines = self.unsealed_lines(repo, &counters).await?;
        let mut pages = paged(last, lines);
        pages.truncate(PAGES_AT_ONCE);
        if pages.is_empty() {
            return Ok(Some(0));
        }
        let before = counters.sealed;
        counters.sealed_with(&pages);
        let mut unit = self.unit();
        for page in &pages {
            let key = keys::mail_page(repo, page.number());
            unit.put(key, page, None, IndexEntry::default());
        }
        unit.save(repo, &counters, Some(found.version));
        let is_saved = self.try_commit(unit).await?;
        Ok(is_saved.then_some(counters.sealed.saturating_sub(before)))
    }

    /// A sealed page. What is sealed next is hashed over it, so nothing is sealed without it.
    async fn must_page(&self, repo: &RepoName, number: u64) -> Result<Page, Error> {
        let found = self
            .store
            .read::<Page>(&keys::mail_page(repo, number))
            .await?;
        found.map(|found| found.value).ok_or_else(|| {
            let sentence = format!(
                "the mail of {repo} cannot be sealed: page {number} is missing; restore the store from a backup"
            );
            NotNow::new("broken_mail", sentence).into()
        })
    }

    /// The next events that no page has: at most as many as a page takes.
    async fn unsealed_lines(
        &self,
        repo: &RepoName,
        counters: &Counters,
    ) -> Result<Vec<String>, Error> {
        let first = counters.sealed + 1;
        let end = counters.events.min(counters.sealed + PAGE_EVENTS);
        let mut lines = Vec::new();
        for block in first / keys::MAIL_BLOCK..=end / keys::MAIL_BLOCK {
            let found = self.mail_lines_in(repo, block).await?;
            lines.extend(found.into_iter().filter(|(n, _)| (first..=end).contains(n)));
        }
        let wanted = (end + 1).saturating_sub(first);
        if lines.len() as u64 != wanted {
            let sentence = format!(
                "the mail of {repo} cannot be sealed: events {first} to {end} are not all there"
            );
            return Err(NotNow::new("broken_mail", sentence).into());
        }
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }
}
