//! Conflicts go back: by mail from the weaver, and with the same words as a message to the session.

use domain::ids::{MessageId, PersonaName};
use domain::job::{conflict_cause, missing_pull_cause};
use domain::mail::{Outgoing, Recipient};
use domain::outgoing_text::{
    ConflictText, Winner, missing_pull, weave_conflict, weave_conflict_message,
};
use domain::redact::redact;
use domain::sprint::{
    Against, MemberState, Sights, Sprint, SprintInput, SprintMember, WeaveConflict, Woven,
};

use super::named;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::jobs::{IdempotencyKey, JobRef};
use crate::ports::CommitRange;
use crate::store::Versioned;
use crate::weaving::kept_path;

/// How long a mail about a conflict is, in bytes as JSON, with room for the marks of secrets that are taken out.
const BODY_BYTES: usize = 15_000;

impl Dispatcher {
    /// Sends each member that conflicts what it conflicts with. Returns whether the sprint changed.
    pub(super) async fn tell_conflicts(&self, found: &Versioned<Sprint>) -> Result<bool, Error> {
        let sprint = &found.value;
        let conflicted = sprint.members.iter();
        let conflicted = conflicted.filter(|it| it.state == MemberState::Conflicted);
        let mut told = Vec::new();
        for member in conflicted {
            if let (Some(refusal), Some(pull)) = (&member.refusal, member.number()) {
                told.push(self.tell_member(sprint, member, pull, refusal).await?);
            }
        }
        match told.is_empty() {
            true => Ok(false),
            false => self.decide(found, &told).await,
        }
    }

    async fn tell_member(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        pull: u64,
        refusal: &WeaveConflict,
    ) -> Result<SprintInput, Error> {
        let won = self.winner(sprint, refusal).await;
        let text = weave_conflict(sprint, pull, refusal, &won);
        // Its other mail stays unread: the message says nothing of it.
        let mut shown = self.mail_conflict(sprint, member, refusal, &text).await?;
        let said = weave_conflict_message(sprint, &text);
        let cause = conflict_cause(sprint.number, attempt(member, refusal));
        let whose = JobRef {
            job: member.job.clone(),
            session: None,
            by: Some(named(sprint)),
        };
        match self.backend.say(&whose, &said, &cause).await {
            Ok(_) => {}
            Err(error) if error.is_busy() => return Err(error),
            // A session that takes no message is found to be over, or the time for an answer passes: its mail stays unread.
            Err(Error::NotNow(_)) => shown.clear(),
            Err(error) => return Err(error),
        }
        Ok(SprintInput::Told {
            persona: member.persona.clone(),
            shown,
        })
    }

    /// Asks each session that ended without a pull request for one, once. Returns whether the sprint changed.
    pub(super) async fn ask_for_pulls(
        &self,
        found: &Versioned<Sprint>,
        sights: &Sights,
    ) -> Result<bool, Error> {
        let sprint = &found.value;
        let mut asked = Vec::new();
        for member in domain::sprint::without_pull(sprint, sights, self.backend.now()) {
            // That it is asked is saved first: the message is sent once under its cause, however often this is repeated.
            let is_taken = member.asked_at.is_none() || self.takes_question(sprint, member).await?;
            if member.asked_at.is_none() || !is_taken {
                let persona = member.persona.clone();
                asked.push(SprintInput::Asked { persona, is_taken });
            }
        }
        match asked.is_empty() {
            true => Ok(false),
            false => self.decide(found, &asked).await,
        }
    }

    /// Sends the question, if it was not sent. Returns whether the session takes messages.
    async fn takes_question(&self, sprint: &Sprint, member: &SprintMember) -> Result<bool, Error> {
        let whose = JobRef {
            job: member.job.clone(),
            session: None,
            by: Some(named(sprint)),
        };
        let cause = missing_pull_cause(sprint.number);
        match self
            .backend
            .say(&whose, &missing_pull(sprint), &cause)
            .await
        {
            Ok(_) => Ok(true),
            Err(error) if error.is_busy() => Err(error),
            Err(Error::NotNow(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What came in first where a change conflicts: what is woven, or what the target has that the change does not build on.
    pub(super) async fn winner(&self, sprint: &Sprint, refusal: &WeaveConflict) -> Winner {
        match (&refusal.against, &sprint.woven) {
            (Against::Members(_), None) => Winner::default(),
            (Against::Members(_), Some(woven)) => {
                let between = CommitRange {
                    base: &woven.base,
                    head: &woven.commit,
                };
                Winner {
                    commit: Some(woven.commit.clone()),
                    diff: self.diff_of(sprint, refusal, between).await,
                }
            }
            (Against::StaleBase, woven) => {
                let present = woven.as_ref().filter(|it| it.weave >= refusal.weave);
                self.won_by_target(sprint, refusal, present).await
            }
        }
    }

    /// The weave that refused a change may have pushed nothing: then the change is to be joined with the target alone.
    async fn won_by_target(
        &self,
        sprint: &Sprint,
        refusal: &WeaveConflict,
        present: Option<&Woven>,
    ) -> Winner {
        let (git, repo) = (&self.readers.git, &sprint.repo);
        let base = match present {
            Some(woven) => Some(woven.base.clone()),
            None => git.tip(repo, &sprint.target).await.ok().flatten(),
        };
        let Some(base) = base else {
            return Winner::default();
        };
        let between = CommitRange {
            base: &base,
            head: &refusal.head,
        };
        let diff = match git.merge_base(repo, between).await {
            Ok(parted) => {
                let since = CommitRange {
                    base: &parted,
                    head: &base,
                };
                self.diff_of(sprint, refusal, since).await
            }
            Err(_) => String::new(),
        };
        let commit = present.map_or(base, |woven| woven.commit.clone());
        Winner {
            commit: Some(commit),
            diff,
        }
    }

    /// A diff in the files of a conflict; nothing where it cannot be read.
    async fn diff_of(
        &self,
        sprint: &Sprint,
        refusal: &WeaveConflict,
        between: CommitRange<'_>,
    ) -> String {
        let read = self.readers.git.diff(&sprint.repo, between).await;
        let Ok(Some(diff)) = read else {
            return String::new();
        };
        let diff = String::from_utf8_lossy(&diff);
        let files = refusal.clashes.iter().map(|it| it.path.as_str());
        of_files(&diff, &files.collect::<Vec<_>>())
    }

    pub(super) async fn mail_conflict(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        refusal: &WeaveConflict,
        text: &ConflictText,
    ) -> Result<Vec<MessageId>, Error> {
        let purpose = format!("conflict:{}:{}", member.persona, attempt(member, refusal));
        let body = redact(&text.within(BODY_BYTES));
        let attachments = text.attachments.iter().filter_map(|it| it.parse().ok());
        let (Ok(subject), Ok(body)) = (text.subject.parse(), body.parse()) else {
            return Ok(Vec::new());
        };
        let outgoing = Outgoing {
            from: PersonaName::weaver(),
            to: Recipient::Persona(member.persona.clone()),
            subject,
            body,
            attachments: attachments.collect(),
        };
        self.send_once(sprint, &outgoing, &purpose).await
    }

    /// Sends mail of a sprint once, whatever its words are the next time, and answers its numbers; none if it cannot be sent.
    pub(super) async fn send_once(
        &self,
        sprint: &Sprint,
        outgoing: &Outgoing,
        purpose: &str,
    ) -> Result<Vec<MessageId>, Error> {
        let actor = named(sprint);
        let sent = self.sent_or_refused(sprint, outgoing, purpose, &actor);
        let sent = sent.await?;
        // No mailbox is left for one more persona: the message to the session says the same.
        Ok(sent.unwrap_or_default())
    }

    /// Sends mail of a sprint once, as the work of an actor, and answers its numbers, or why it can never be sent.
    pub(super) async fn sent_or_refused(
        &self,
        sprint: &Sprint,
        outgoing: &Outgoing,
        purpose: &str,
        actor: &str,
    ) -> Result<Result<Vec<MessageId>, String>, Error> {
        let name = sprint.number.once(purpose);
        let once = IdempotencyKey {
            order: name.clone(),
            name,
        };
        let sent = self
            .backend
            .send_mail(&sprint.repo, outgoing, actor, Some(&once));
        match sent.await {
            Ok(sent) => Ok(Ok(sent.into_iter().map(|it| it.message).collect())),
            // Others write the same mailboxes now: it is sent when the sprint is read again.
            Err(error) if error.is_busy() => Err(error),
            Err(Error::NotNow(why)) => Ok(Err(why.sentence)),
            Err(error) => Err(error),
        }
    }
}

/// Names one conflict of a member: each weave may refuse it, and it may be sent again without one.
fn attempt(member: &SprintMember, refusal: &WeaveConflict) -> u32 {
    refusal
        .weave
        .saturating_mul(10)
        .saturating_add(member.attempts)
}

/// The parts of a diff that are about these files, at paths as records keep them.
fn of_files(diff: &str, files: &[&str]) -> String {
    let mut kept = String::new();
    let mut is_kept = false;
    for line in diff.split_inclusive('\n') {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let names = names.trim_end();
            let ends = names.match_indices(" b/");
            let mut ends = ends.map(|(at, sign)| kept_path(&names[at + sign.len()..]));
            is_kept = ends.any(|path| files.contains(&path.as_str()));
        }
        if is_kept {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_a_conflict_are_shown() {
        let diff = "diff --git a/src/a.rs b/src/a.rs\n-1\n+2\ndiff --git a/b.rs b/b.rs\n-3\n+4\n";
        let kept = of_files(diff, &["src/a.rs"]);
        assert_eq!(kept, "diff --git a/src/a.rs b/src/a.rs\n-1\n+2\n");
        assert_eq!(of_files(diff, &["a.rs"]), "");
        assert_eq!(of_files(diff, &[]), "");
        let long = "a".repeat(300);
        let diff = format!("diff --git a/{long} b/{long}\n-1\n+2\n");
        assert_eq!(of_files(&diff, &[kept_path(&long).as_str()]), diff);
    }
}
