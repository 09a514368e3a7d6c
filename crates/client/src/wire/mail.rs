//! Mail between the personas of a repository.

use domain::ids::{Attachment, MailBody, MailTag, MessageId, PersonaName, RepoName, Subject};
use domain::mail::Recipient;
use reqwest::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::{Call, Client};
use crate::error::Error;

/// What is told of mail, under its names in the documents.
pub use domain::mail::{
    Counts as MailCounts, MailImported, MailStats, MailVerified, ReceivedMessage as MailMessage,
};

/// How many messages a part of a mailbox has when nothing else is asked for, and at most.
pub const MAILBOX_LIMIT_MAX: u32 = 100;

/// The last page that a log of mail can have.
pub const MAIL_LOG_PAGE_MAX: u32 = 1_000_000;

/// `POST /api/mail/{owner}/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMail {
    /// Who writes it; the persona of the token, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PersonaName>,
    /// To whom: a persona, or `all@team` for every persona that has mail or is in the newest sprint.
    pub to: Recipient,
    /// What it is about: one line.
    pub subject: Subject,
    /// What it says: at most 16,000 bytes as JSON.
    pub body: MailBody,
    /// Addresses with https, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

/// A message was sent: to each of the team one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailSent {
    /// The messages, in order of their numbers.
    pub sent: Vec<SentMessage>,
}

/// One message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentMessage {
    /// Its number.
    pub message_id: MessageId,
    /// Whose mailbox it is in.
    pub to_persona: PersonaName,
}

/// `GET /api/mail/{owner}/{name}/{persona}`: the oldest first, without what is in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mailbox {
    /// Whose it is.
    pub persona: PersonaName,
    /// The messages.
    pub messages: Vec<MailMessage>,
    /// Whether there are more behind them.
    pub more: bool,
}

/// `POST …/read`, `…/trash` and `…/untrash`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkMail {}

/// `POST …/tag`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagMail {
    /// The tag.
    pub tag: MailTag,
    /// Whether it is taken off.
    #[serde(default)]
    pub remove: bool,
}

/// `GET …/log`: a page of the log of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailLog {
    /// The lines as they are, in order.
    pub lines: Vec<String>,
    /// The page behind it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page: Option<u32>,
}

/// `POST …/rebuild`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailRebuilt {
    /// How many rows were not what the log comes to, and are now.
    pub changed: u64,
}

/// `POST …/seal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailSealed {
    /// How many events were put into pages.
    pub sealed: u64,
}

/// `POST …/import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportMail {
    /// Lines of an export, in order.
    pub lines: Vec<String>,
}

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
