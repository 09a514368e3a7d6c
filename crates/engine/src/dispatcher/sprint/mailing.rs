//! Mail that comes for members whose changes are ready: it is read before a weave, and goes to their sessions as a message.

use domain::ids::{MessageId, PersonaName};
use domain::job::mail_cause;
use domain::outgoing_text::{MESSAGE_ROOM, mail_message, shown_whole};
use domain::sprint::{self, Sprint, SprintInput, SprintMember};

use super::named;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::jobs::JobRef;
use crate::store::Versioned;

impl Dispatcher {
    /// The unread mail of the members that are sent it before a weave.
    pub(super) async fn mail_before_weave(
        &self,
        sprint: &Sprint,
    ) -> Result<Vec<(PersonaName, Vec<MessageId>)>, Error> {
        let mut mail = Vec::new();
        for member in sprint::takers_of_mail(sprint) {
            let unread = self.unread_of(sprint, &member.persona).await?;
            let shown = shown_whole(&unread, MESSAGE_ROOM);
            if !shown.is_empty() {
                mail.push((member.persona.clone(), shown));
            }
        }
        Ok(mail)
    }

    /// Sends the mail that members are to read to their sessions. Returns whether the sprint changed.
    pub(super) async fn tell_mail(&self, found: &Versioned<Sprint>) -> Result<bool, Error> {
        let sprint = &found.value;
        let mut refused = Vec::new();
        let reads = |it: &&SprintMember| it.reading.is_some() && !it.shown.is_empty();
        for member in sprint.members.iter().filter(reads) {
            // The decision is saved, and the message is sent once under its cause, however often this is repeated.
            if !self.takes_mail(sprint, member).await? {
                let persona = member.persona.clone();
                refused.push(SprintInput::MailNotTaken { persona });
            }
        }
        match refused.is_empty() {
            true => Ok(false),
            false => self.decide(found, &refused).await,
        }
    }

    async fn takes_mail(&self, sprint: &Sprint, member: &SprintMember) -> Result<bool, Error> {
        let messages = self.messages_shown(sprint, member).await?;
        if messages.is_empty() {
            return Ok(false);
        }
        let whose = JobRef {
            job: member.job.clone(),
            session: None,
            by: Some(named(sprint)),
        };
        let said = mail_message(sprint.number, &messages);
        let cause = mail_cause(sprint.number, member.mails);
        match self.backend.say(&whose, &said, &cause).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_busy() => Err(error),
            Err(Error::NotNow(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
