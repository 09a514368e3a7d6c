//! The jobs that begin on what is woven: last attempts of members, and the weaver's own; and what the weaver's change holds.

use domain::event::FailedCheck;
use domain::facts::ReadDepth;
use domain::ids::MessageId;
use domain::outgoing_text::{ConflictText, Leftover, anew_conflict, checks_task, resolving_task};
use domain::sprint::{self, Sprint, SprintMember, Woven};
use futures::FutureExt;

use super::weaving::begins_on;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::{CommitRange, Reading, Share};
use crate::weaving::{Weave, Weaver, at_once};

impl Dispatcher {
    /// What a member that begins anew is told of its conflict; none for one that begins.
    pub(super) async fn conflict_anew(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
    ) -> Option<ConflictText> {
        if member.earlier.is_empty() {
            return None;
        }
        let (refusal, pull) = (member.refusal.as_ref()?, member.number()?);
        let won = self.winner(sprint, refusal).await;
        Some(anew_conflict(sprint, pull, refusal, &won))
    }

    /// Sends a member that begins anew the mail about its conflict, once.
    pub(super) async fn mail_anew(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        told: Option<&ConflictText>,
    ) -> Result<Vec<MessageId>, Error> {
        match (told, &member.refusal) {
            (Some(text), Some(refusal)) => self.mail_conflict(sprint, member, refusal, text).await,
            (Some(_) | None, _) => Ok(Vec::new()),
        }
    }

    /// What the weaver is asked for: to resolve conflicts that are left, else to mend checks that fail.
    pub(super) async fn weaver_task(
        &self,
        sprint: &Sprint,
        body: &str,
        room: usize,
    ) -> Result<String, Error> {
        let mut leftovers = Vec::new();
        for member in sprint.delegated() {
            if let (Some(refusal), Some(pull)) = (&member.refusal, member.number()) {
                leftovers.push(Leftover {
                    persona: &member.persona,
                    pull,
                    refusal,
                    won: self.winner(sprint, refusal).await.diff,
                });
            }
        }
        if !leftovers.is_empty() {
            return Ok(resolving_task(sprint, &leftovers, body, room));
        }
        let checks = self.failed_checks_of(sprint).await?;
        let logs = match &sprint.woven {
            Some(woven) => Box::pin(self.logs_of(woven)).await,
            None => Vec::new(),
        };
        Ok(checks_task(sprint, &checks, &logs, body, room))
    }

    /// What failed checks of what is woven said. The weaver can run them too, so it does not wait for what cannot be read now.
    async fn logs_of(&self, woven: &Woven) -> Vec<FailedCheck> {
        let reading = Reading {
            share: Share::Common,
            depth: ReadDepth::Whole,
        };
        let read = self
            .readers
            .pulls
            .facts(&woven.pull, reading, self.backend.now());
        match read.await {
            Ok(facts) if facts.head.sha == woven.commit => self.failed_logs(&facts).await,
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    /// The pull requests of conflicts left to the weaver of which a weave holds all.
    pub(super) async fn held_by(
        &self,
        weaver: &Weaver<'_>,
        sprint: &Sprint,
        weave: &Weave,
    ) -> Result<Vec<u64>, Error> {
        let reads = sprint.delegated().filter_map(|member| {
            let offer = member.offer.as_ref()?;
            let read = async move {
                let begun = begins_on(sprint, member);
                let its_own = CommitRange {
                    base: begun.as_ref().unwrap_or(&weave.base),
                    head: &offer.head,
                };
                let is_held = weaver.holds(&sprint.repo, weave, its_own).await?;
                Ok(is_held.then_some(offer.pull))
            };
            Some(read.boxed())
        });
        let held = at_once(reads.collect()).await?;
        Ok(held.into_iter().flatten().collect())
    }

    /// The checks that fail of what is woven.
    async fn failed_checks_of(&self, sprint: &Sprint) -> Result<Vec<String>, Error> {
        let Some(woven) = &sprint.woven else {
            return Ok(Vec::new());
        };
        let found = self.backend.store.pull(&woven.pull).await?;
        Ok(found.map_or_else(Vec::new, |found| {
            sprint::failed_checks(&found.value.pull).to_vec()
        }))
    }
}
