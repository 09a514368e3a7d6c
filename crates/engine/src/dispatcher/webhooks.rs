//! Handles a webhook: the repository's number identifies it before anything is read.

use domain::ids::{PullRef, RepoId, RepoName};

use super::Dispatcher;
use super::pulls::PullWakeup;
use crate::backend::Error;
use crate::work::{IssueWebhook, WebhookEvent};

impl Dispatcher {
    /// Handles the subject of a webhook, in every source that means this very repository.
    pub(super) async fn handle_webhook(&self, hooked: &WebhookEvent) -> Result<(), Error> {
        let names = self.sources_of(&hooked.repo, hooked.repo_id).await?;
        if names.is_empty() {
            tracing::debug!(repo = %hooked.repo, id = %hooked.repo_id, "a webhook is about no repository of ours");
        }
        for repo in names {
            self.note_webhook(&repo, hooked.received_at).await?;
            match (hooked.number, hooked.sha.as_ref()) {
                (Some(number), _) => {
                    let pull = PullRef { repo, number };
                    let wakeup = PullWakeup {
                        pull: &pull,
                        hint: None,
                        received_at: Some(hooked.received_at),
                        news: hooked.news,
                        sha: hooked.sha.as_ref(),
                    };
                    self.pull(&wakeup).await?;
                }
                (None, Some(sha)) => {
                    self.commit_moved(&repo, sha, hooked.received_at, hooked.news)
                        .await?;
                }
                (None, None) => {}
            }
        }
        Ok(())
    }

    /// Reads an issue that a webhook names, in every source that means this very repository.
    pub(super) async fn handle_issue_webhook(
        &self,
        named: &RepoName,
        number: Option<u64>,
        webhook: IssueWebhook,
    ) -> Result<(), Error> {
        for repo in self.sources_of(named, webhook.repo_id).await? {
            self.note_webhook(&repo, webhook.received_at).await?;
            self.intake(&repo, number).await?;
        }
        Ok(())
    }

    /// The source of this name, unless it means a repository of another number, and the one that knows this number under an older name.
    async fn sources_of(&self, named: &RepoName, id: RepoId) -> Result<Vec<RepoName>, Error> {
        let store = &self.backend.store;
        let mut names = Vec::new();
        if store.source(named).await?.is_some() {
            let meant = store.reach(named).await?.value.id;
            if meant.is_none_or(|meant| meant == id) {
                names.push(named.clone());
            }
        }
        if let Some(older) = store.repo_of(id).await?
            && !names.contains(&older)
            && store.reach(&older).await?.value.is(id)
        {
            names.push(older);
        }
        Ok(names)
    }
}
