//! The rows of mail, page by page: a log may have more of them than one reading holds.

use domain::ids::{PersonaName, RepoName};
use domain::mail::{Counters, Page, ReceivedMessage};
use jiff::Timestamp;

use crate::backend::{Backend, Error};
use crate::keys;
use crate::ports::{PageToken, Record, RecordsError};
use crate::store::{PAGE, decode};

impl Backend {
    /// One event of the log.
    pub(super) async fn mail_line(
        &self,
        repo: &RepoName,
        number: u64,
    ) -> Result<Option<String>, RecordsError> {
        let found = self.store.read(&keys::mail_event(repo, number)).await?;
        Ok(found.map(|found| found.value))
    }

    /// The events of a block with their numbers.
    pub(super) async fn mail_lines_in(
        &self,
        repo: &RepoName,
        block: u64,
    ) -> Result<Vec<(u64, String)>, Error> {
        self.mail_lines(repo, &keys::mail_block(block)).await
    }

    /// All events with their numbers.
    pub(super) async fn all_mail_lines(
        &self,
        repo: &RepoName,
    ) -> Result<Vec<(u64, String)>, Error> {
        self.mail_lines(repo, keys::MAIL_LOG).await
    }

    async fn mail_lines(&self, repo: &RepoName, prefix: &str) -> Result<Vec<(u64, String)>, Error> {
        let mut lines = Vec::new();
        self.each_mail_row(repo, prefix, |record| {
            let number = keys::mail_event_in(&record.key.sk).unwrap_or_default();
            lines.push((number, decode(&record)?.value));
            Ok(true)
        })
        .await?;
        Ok(lines)
    }

    /// The sealed pages in order.
    pub(super) async fn mail_pages(&self, repo: &RepoName) -> Result<Vec<Page>, Error> {
        let mut pages = Vec::new();
        self.each_mail_row(repo, keys::MAIL_PAGE, |record| {
            pages.push(decode(&record)?.value);
            Ok(true)
        })
        .await?;
        Ok(pages)
    }

    /// The first messages of a mailbox that are wanted.
    pub(super) async fn mail_box(
        &self,
        repo: &RepoName,
        persona: &PersonaName,
        wanted: impl Fn(&ReceivedMessage) -> bool,
        limit: usize,
    ) -> Result<Vec<ReceivedMessage>, Error> {
        let mut messages: Vec<ReceivedMessage> = Vec::new();
        self.each_mail_row(repo, &keys::mail_box_of(persona), |record| {
            messages.extend(Some(decode(&record)?.value).filter(&wanted));
            Ok(messages.len() < limit)
        })
        .await?;
        Ok(messages)
    }

    /// The unread messages that were sent behind a time, if one is given, and up to another. Those to people and to Gaffer's own
    /// personas are left out.
    pub(crate) async fn unread_between(
        &self,
        repo: &RepoName,
        after: Option<Timestamp>,
        until: Timestamp,
    ) -> Result<Vec<ReceivedMessage>, Error> {
        let is_between =
            |it: &ReceivedMessage| it.ts <= until && after.is_none_or(|after| it.ts > after);
        let is_wanted =
            |it: &ReceivedMessage| it.read_at.is_none() && !it.trashed && is_between(it);
        let counters = self.store.get_or_initial::<Counters>(repo).await?.value;
        let mut unread = Vec::new();
        for (persona, counts) in &counters.personas {
            if counts.unread > 0 && !persona.is_human() && !persona.is_own() {
                unread.extend(self.mail_box(repo, persona, is_wanted, usize::MAX).await?);
            }
        }
        Ok(unread)
    }

    /// Rows whose sort key begins so, in order, until one is enough.
    pub(super) async fn each_mail_row(
        &self,
        repo: &RepoName,
        prefix: &str,
        mut take: impl FnMut(Record) -> Result<bool, RecordsError>,
    ) -> Result<(), Error> {
        let pk = keys::mail_pk(repo);
        let mut after: Option<PageToken> = None;
        loop {
            let found = self.store.records().query(&pk, prefix, after, PAGE).await?;
            for record in found.records {
                if !take(record)? {
                    return Ok(());
                }
            }
            after = found.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}
