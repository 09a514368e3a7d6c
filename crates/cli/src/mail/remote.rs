//! The mail of a repository in a running Gaffer or a stack, through its API.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use client::wire::{SendMail, TagMail};
use client::{Client, MailOrder};
use domain::ids::{MessageId, PersonaName, RepoName};
use domain::mail::{Counts, Log, Mail, ReceivedMessage, Seal, in_order, wrong_in_export};

use super::store::bad_import;
use super::{body_of, show, speaker};
use crate::args::mail::{MailCommand, MessageArgs, SendArgs, TagCommand, TaggedArgs};
use crate::error::Error;
use crate::render::{self, Answer};

/// Most lines and bytes of one request of an import: the API takes a megabyte, and JSON may double a line.
const LINES_AT_ONCE: usize = 1_000;
const BYTES_AT_ONCE: usize = 400_000;

/// Mail behind an API.
pub(super) struct Remote {
    pub(super) client: Client,
    /// Whose mail.
    pub(super) repo: RepoName,
    /// Whose mailbox it is, as the environment says.
    pub(super) persona: Option<String>,
}

impl Remote {
    pub(super) async fn run(&self, command: MailCommand, as_json: bool) -> Result<()> {
        let doing = format!("asking for the mail of {}", self.repo);
        let answer = match command {
            MailCommand::Log => return self.log().await.context(doing),
            MailCommand::Export => return self.export().await.context(doing),
            MailCommand::Verify => return self.verify(as_json).await.context(doing),
            command @ (MailCommand::Send(_)
            | MailCommand::Inbox { .. }
            | MailCommand::Sent(_)
            | MailCommand::Read { .. }
            | MailCommand::Tag(_)
            | MailCommand::Trash(_)
            | MailCommand::Untrash(_)
            | MailCommand::Stats
            | MailCommand::Rebuild
            | MailCommand::Restore
            | MailCommand::Seal
            | MailCommand::Import { .. }) => self.answer(command).await.context(doing)?,
        };
        render::answer(&answer, as_json).context("writing the answer")
    }

    async fn answer(&self, command: MailCommand) -> Result<Answer> {
        Ok(match command {
            MailCommand::Send(args) => self.send(args).await?,
            MailCommand::Inbox { whose, unread } => {
                let persona = self.mailbox(whose.persona)?;
                let found = self.inbox(&persona, unread).await?;
                let found: Vec<_> = found.iter().collect();
                show::inbox(&persona, &found, self.repo.as_str())
            }
            MailCommand::Sent(whose) => {
                let persona = self.mailbox(whose.persona)?;
                let mail = self.whole().await?;
                show::sent(&persona, &mail.sent(&persona), self.repo.as_str())
            }
            MailCommand::Read {
                which,
                no_mark_read: true,
            } => show::message(&self.message(which).await?),
            MailCommand::Read { which, .. } => {
                show::message(&self.order(which, MailOrder::Read).await?)
            }
            MailCommand::Tag(command) => self.tag(command).await?,
            MailCommand::Trash(which) => show::moved(&self.order(which, MailOrder::Trash).await?),
            MailCommand::Untrash(which) => {
                show::moved(&self.order(which, MailOrder::Untrash).await?)
            }
            MailCommand::Stats => show::stats(&self.counts().await?),
            MailCommand::Rebuild => {
                show::rebuilt(self.client.rebuild_mail(&self.repo).await?.changed)
            }
            MailCommand::Seal => show::sealed(self.client.seal_mail(&self.repo).await?.sealed),
            MailCommand::Import { file } => {
                let events = super::import_of(&file)?;
                self.import(&events).await?
            }
            MailCommand::Restore | MailCommand::Log | MailCommand::Export | MailCommand::Verify => {
                let what = "a store has no mail to restore from beside itself";
                let next = "restore the store with `gaffer restore`, or its mail with `gaffer mail import`";
                return Err(Error::usage(what, next).into());
            }
        })
    }

    async fn send(&self, args: SendArgs) -> Result<Answer> {
        // A token may tell who speaks, so that this is the API's to refuse.
        let from = match (&args.from, &self.persona) {
            (None, None) => None,
            (from, _) => Some(speaker(from.clone(), self.persona.as_ref(), "--from")?),
        };
        let mail = SendMail {
            from,
            to: args.to,
            subject: args.subject,
            body: body_of(args.body)?,
            attachments: args.attach,
        };
        let sent = self.client.send_mail(&self.repo, &mail, None).await?.sent;
        let sent = sent.into_iter().map(|it| (it.message_id, it.to_persona));
        Ok(show::was_sent(&sent.collect::<Vec<_>>()))
    }

    async fn inbox(&self, persona: &PersonaName, unread: bool) -> Result<Vec<ReceivedMessage>> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let part = self.client.mailbox(&self.repo, persona, unread, after);
            let part = part.await?;
            after = part.messages.last().map(|last| last.message_id);
            found.extend(part.messages);
            if !part.more {
                return Ok(found);
            }
        }
    }

    async fn message(&self, MessageArgs { id, whose }: MessageArgs) -> Result<ReceivedMessage> {
        let persona = self.mailbox(whose.persona)?;
        let found = self.client.mail(&self.repo, &persona, id).await;
        self.found_or_refused(found, id, persona)
    }

    async fn order(
        &self,
        MessageArgs { id, whose }: MessageArgs,
        order: MailOrder,
    ) -> Result<ReceivedMessage> {
        let persona = self.mailbox(whose.persona)?;
        let done = self
            .client
            .order_mail(&self.repo, &persona, id, &order)
            .await;
        self.found_or_refused(done, id, persona)
    }

    async fn tag(&self, command: TagCommand) -> Result<Answer> {
        let (TaggedArgs { id, tag, whose }, remove) = match command {
            TagCommand::Ls(which) => return Ok(show::tags(&self.message(which).await?)),
            TagCommand::Add(args) => (args, false),
            TagCommand::Rm(args) => (args, true),
        };
        let order = MailOrder::Tag(TagMail { tag, remove });
        let tagged = self.order(MessageArgs { id, whose }, order).await?;
        Ok(show::tags(&tagged))
    }

    async fn counts(&self) -> Result<BTreeMap<PersonaName, Counts>> {
        Ok(self.client.mail_stats(&self.repo).await?.personas)
    }

    /// All lines of the log, each with its line break.
    async fn lines(&self) -> Result<String> {
        let (mut text, mut page) = (String::new(), Some(0));
        while let Some(number) = page {
            let found = self.client.mail_log(&self.repo, number).await?;
            for line in &found.lines {
                text.push_str(line);
                text.push('\n');
            }
            page = found.next_page;
        }
        Ok(text)
    }

    /// The mailboxes that the log comes to.
    async fn whole(&self) -> Result<Mail> {
        let text = self.lines().await?;
        whole(&text, &self.repo).map(|log| log.mail())
    }

    async fn log(&self) -> Result<()> {
        let text = self.lines().await?;
        render::raw(text.as_bytes()).context("writing the log")?;
        whole(&text, &self.repo).map(drop)
    }

    async fn export(&self) -> Result<()> {
        let text = self.lines().await?;
        whole(&text, &self.repo)?;
        render::raw(text.as_bytes()).context("writing the events")
    }

    async fn verify(&self, as_json: bool) -> Result<()> {
        let verified = self.client.verify_mail(&self.repo).await?;
        let (events, pages) = (verified.events, verified.pages);
        let answer = show::verified(&verified.faults, events, pages);
        render::answer(&answer, as_json).context("writing the answer")?;
        if verified.faults.is_empty() {
            return Ok(());
        }
        let what = format!("the mail is broken; faults: {}", verified.faults.len());
        let next = format!(
            "make mailboxes and counters of the log again with `jules-mail rebuild --repo {}`",
            self.repo
        );
        Err(Error::refused("broken_mail", what, next).into())
    }

    /// Adds an export request by request; what was added before one is refused stays, and is found there the next time.
    async fn import(&self, events: &[u8]) -> Result<Answer> {
        // In the requests its lines have other numbers.
        let wrong = wrong_in_export(events);
        if !wrong.is_empty() {
            return Err(bad_import(&wrong).into());
        }
        let text = String::from_utf8_lossy(events);
        let (mut added, mut there) = (0, 0);
        for lines in parts(in_order(&text)) {
            let part = self.client.import_mail(&self.repo, lines).await?;
            added += part.added;
            there += part.already_there;
        }
        Ok(show::imported(added, there))
    }

    /// A message that is not in this mailbox is refused in the words that the file has for it.
    fn found_or_refused(
        &self,
        found: Result<ReceivedMessage, client::Error>,
        message: MessageId,
        persona: PersonaName,
    ) -> Result<ReceivedMessage> {
        match found {
            Err(client::Error::Problem(problem)) if problem.code == "no_such_message" => {
                let missing = domain::mail::NoSuchMessage { message, persona };
                let of = format!(" --repo {}", self.repo);
                Err(super::no_such_of(&missing, &of).into())
            }
            found => Ok(found?),
        }
    }

    fn mailbox(&self, named: Option<PersonaName>) -> Result<PersonaName> {
        speaker(named, self.persona.as_ref(), "--persona")
    }
}

/// Lines in requests that are not too large.
fn parts(lines: Vec<String>) -> Vec<Vec<String>> {
    let mut parts: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for line in lines {
        bytes += line.len();
        let fits = |part: &&mut Vec<String>| part.len() < LINES_AT_ONCE && bytes <= BYTES_AT_ONCE;
        if let Some(part) = parts.last_mut().filter(fits) {
            part.push(line);
        } else {
            bytes = line.len();
            parts.push(vec![line]);
        }
    }
    parts
}

/// A log that is broken has no mailboxes.
fn whole<'text>(text: &'text str, repo: &RepoName) -> Result<Log<'text>> {
    let log = Log::read(text.as_bytes(), &Seal::default());
    let Some(first) = log.faults().first() else {
        return Ok(log);
    };
    let what = format!("the log of mail is broken: {first}");
    let next = format!(
        "see all of it with `jules-mail verify --repo {repo}`, and restore the store from a backup"
    );
    Err(Error::refused("broken_mail", what, next).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_an_import_are_not_too_large() {
        let sizes =
            |lines: Vec<String>| -> Vec<usize> { parts(lines).iter().map(Vec::len).collect() };
        assert_eq!(
            sizes(vec!["x".to_owned(); LINES_AT_ONCE + 1]),
            [LINES_AT_ONCE, 1]
        );
        let half = "x".repeat(BYTES_AT_ONCE / 2);
        assert_eq!(sizes(vec![half; 5]), [2, 2, 1]);
        assert_eq!(sizes(Vec::new()), [0; 0]);
    }
}
