//! Calls about mail: one method for each route.

use domain::ids::{MessageId, PersonaName, RepoName};
use reqwest::Method;

use super::transport::{Call, Client};
use crate::error::Error;
use crate::wire::{
    ImportMail, MailImported, MailLog, MailMessage, MailRebuilt, MailSealed, MailSent, MailStats,
    MailVerified, Mailbox, MarkMail, SendMail, TagMail,
};

/// What is done to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailOrder {
    /// It is marked read.
    Read,
    /// It is thrown away.
    Trash,
    /// It is taken back.
    Untrash,
    /// It gets a tag, or loses one.
    Tag(TagMail),
}

/// The path of a repository's mail.
fn of_mail(repo: &RepoName, rest: &[&str]) -> Vec<String> {
    let path = ["api", "mail", repo.owner(), repo.name()];
    path.iter().chain(rest).map(ToString::to_string).collect()
}

/// The path of a message.
fn of_message(repo: &RepoName, persona: &PersonaName, id: MessageId) -> Vec<String> {
    of_mail(repo, &[persona.as_str(), &id.number().to_string()])
}

impl Client {
    /// Sends a message, to one persona or to each of the team; under a name once.
    pub async fn send_mail(
        &self,
        repo: &RepoName,
        mail: &SendMail,
        key: Option<&str>,
    ) -> Result<MailSent, Error> {
        let call = Call::new(Method::POST, &of_mail(repo, &[])).body(mail);
        self.done(call.key(key)).await
    }

    /// A part of a mailbox, the oldest first, behind a message.
    pub async fn mailbox(
        &self,
        repo: &RepoName,
        persona: &PersonaName,
        unread: bool,
        after: Option<MessageId>,
    ) -> Result<Mailbox, Error> {
        let mut call = Call::new(Method::GET, &of_mail(repo, &[persona.as_str()]));
        if unread {
            call = call.with("unread", "1".to_owned());
        }
        if let Some(after) = after {
            call = call.with("after", after.number().to_string());
        }
        self.done(call).await
    }

    /// One message, which stays as it is.
    pub async fn mail(
        &self,
        repo: &RepoName,
        persona: &PersonaName,
        id: MessageId,
    ) -> Result<MailMessage, Error> {
        self.done(Call::new(Method::GET, &of_message(repo, persona, id)))
            .await
    }

    /// Does something to a message, and answers it as it is then.
    pub async fn order_mail(
        &self,
        repo: &RepoName,
        persona: &PersonaName,
        id: MessageId,
        order: &MailOrder,
    ) -> Result<MailMessage, Error> {
        let mut path = of_message(repo, persona, id);
        let word = match order {
            MailOrder::Read => "read",
            MailOrder::Trash => "trash",
            MailOrder::Untrash => "untrash",
            MailOrder::Tag(_) => "tag",
        };
        path.push(word.to_owned());
        let call = Call::new(Method::POST, &path);
        self.done(match order {
            MailOrder::Tag(tag) => call.body(tag),
            MailOrder::Read | MailOrder::Trash | MailOrder::Untrash => call.body(&MarkMail {}),
        })
        .await
    }

    /// A page of the log, from 0.
    pub async fn mail_log(&self, repo: &RepoName, page: u32) -> Result<MailLog, Error> {
        let call = Call::new(Method::GET, &of_mail(repo, &["log"]));
        self.done(call.with("page", page.to_string())).await
    }

    /// Looks the whole mail over.
    pub async fn verify_mail(&self, repo: &RepoName) -> Result<MailVerified, Error> {
        self.done(Call::new(Method::GET, &of_mail(repo, &["verify"])))
            .await
    }

    /// Makes mailboxes and counters of the log again.
    pub async fn rebuild_mail(&self, repo: &RepoName) -> Result<MailRebuilt, Error> {
        let call = Call::new(Method::POST, &of_mail(repo, &["rebuild"]));
        self.done(call.body(&MarkMail {})).await
    }

    /// Seals what no page has yet.
    pub async fn seal_mail(&self, repo: &RepoName) -> Result<MailSealed, Error> {
        let call = Call::new(Method::POST, &of_mail(repo, &["seal"]));
        self.done(call.body(&MarkMail {})).await
    }

    /// Adds lines of an export that are not there yet.
    pub async fn import_mail(
        &self,
        repo: &RepoName,
        lines: Vec<String>,
    ) -> Result<MailImported, Error> {
        let call = Call::new(Method::POST, &of_mail(repo, &["import"]));
        self.done(call.body(&ImportMail { lines })).await
    }

    /// How much mail there is.
    pub async fn mail_stats(&self, repo: &RepoName) -> Result<MailStats, Error> {
        self.done(Call::new(Method::GET, &of_mail(repo, &["stats"])))
            .await
    }
}
