//! A whole log of mail: looked over, taken in from elsewhere, and made mailboxes of again.

use std::collections::{BTreeMap, BTreeSet};

use domain::fence::encoded_len;
use domain::ids::RepoName;
use domain::mail::{
    self, Counters, FaultKind, LINE_BYTES_MAX, Log, LogFault, MailImported, MailVerified,
    PERSONAS_MAX, Page, ReceivedMessage,
};
use domain::policy::Source;
use domain::refusal::NotNow;

use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error, IndexEntry, UnitOfWork, decide_again};
use crate::keys;
use crate::ports::{Key, RecordsError};
use crate::store::{Versioned, decode};

/// Most rows of one commit: each has up to 64 KB.
const ROWS_AT_ONCE: usize = 40;

/// All of the mail of a repository.
struct Whole {
    counted: Versioned<Counters>,
    lines: Vec<(u64, String)>,
    pages: Vec<Page>,
}

impl Whole {
    fn text(&self) -> String {
        self.lines
            .iter()
            .map(|(_, line)| format!("{line}\n"))
            .collect()
    }

    /// The first event whose row is gone, if one is.
    fn missing(&self) -> Option<u64> {
        let there: BTreeSet<u64> = self.lines.iter().map(|(number, _)| *number).collect();
        (1..=self.counted.value.events).find(|number| !there.contains(number))
    }

    fn refuse_missing(&self) -> Result<(), Error> {
        match self.missing() {
            Some(number) => Err(broken(&format!("event {number} is missing"))),
            None => Ok(()),
        }
    }
}

type Boxes = BTreeMap<Key, ReceivedMessage>;

impl Backend {
    async fn whole_mail(&self, repo: &RepoName) -> Result<Whole, Error> {
        let counted = self.store.get_or_initial::<Counters>(repo).await?;
        let (mut lines, mut pages) = (
            self.all_mail_lines(repo).await?,
            self.mail_pages(repo).await?,
        );
        // What came meanwhile is not counted yet.
        lines.retain(|(number, _)| *number <= counted.value.events);
        pages.retain(|page| page.number() <= counted.value.pages);
        Ok(Whole {
            counted,
            lines,
            pages,
        })
    }

    /// Looks the whole mail over: the log, its sealed pages, and that mailboxes and counters are what the log comes to.
    pub async fn verify_mail(&self, repo: &RepoName) -> Result<MailVerified, Error> {
        self.must::<Source>(repo).await?;
        decide_again(format!("the mail of {repo}"), || async {
            let whole = self.whole_mail(repo).await?;
            let stored = self.mail_boxes(repo).await?;
            // Rows of different moments would differ.
            let again = self.store.get_or_initial::<Counters>(repo).await?;
            let is_same = again.version == whole.counted.version;
            Ok(is_same.then(|| verified(repo, &whole, &stored)))
        })
        .await
    }

    /// Makes mailboxes and counters of the log again; returns how many of them were otherwise.
    pub async fn rebuild_mail(&self, repo: &RepoName) -> Result<usize, Error> {
        self.rebuild(repo, |_| true).await
    }

    /// The same, where only some faults of the log stand against it.
    async fn rebuild(
        &self,
        repo: &RepoName,
        is_bad: fn(&LogFault) -> bool,
    ) -> Result<usize, Error> {
        let mut count = 0;
        for _ in 0..DECIDE_AGAIN_MAX {
            match self.rebuild_once(repo, is_bad).await? {
                (changed, true) => return Ok(count + changed),
                (changed, false) => count += changed,
            }
        }
        Err(busy(repo))
    }

    /// What was changed, and whether that is all.
    async fn rebuild_once(
        &self,
        repo: &RepoName,
        is_bad: fn(&LogFault) -> bool,
    ) -> Result<(usize, bool), Error> {
        let whole = self.whole_mail(repo).await?;
        let version = whole.counted.version;
        if version == 0 {
            return Ok((0, true));
        }
        let text = whole.text();
        let log = Log::read(text.as_bytes(), &whole.counted.value.seal());
        whole.refuse_missing()?;
        let faults: Vec<LogFault> = log
            .faults()
            .iter()
            .filter(|it| is_bad(it))
            .cloned()
            .collect();
        if !faults.is_empty() {
            return Err(broken(&LogFault::summary(&faults)));
        }
        let (wanted, stored) = (boxes_of(repo, &log), self.mail_boxes(repo).await?);
        let puts = wanted
            .iter()
            .filter(|(key, message)| stored.get(*key).map(|found| &found.value) != Some(*message));
        let puts: Vec<_> = puts.map(|(key, message)| (key, Some(message))).collect();
        let surplus = stored.keys().filter(|key| !wanted.contains_key(*key));
        let changes: Vec<_> = puts
            .into_iter()
            .chain(surplus.map(|key| (key, None)))
            .collect();
        for some in changes.chunks(ROWS_AT_ONCE) {
            let mut unit = self.unit();
            unit.check(keys::mail(repo), version);
            for (key, message) in some {
                change(&mut unit, key, *message, stored.get(*key));
            }
            if !self.try_commit(unit).await? {
                return Ok((0, false));
            }
        }
        let counters = &whole.counted.value;
        let next = Counters::of(&log, counters.sealed, counters.pages);
        let odd = usize::from(next != *counters);
        if odd == 1 {
            let mut unit = self.unit();
            unit.save(repo, &next, Some(version));
            if !self.try_commit(unit).await? {
                return Ok((changes.len(), false));
            }
        }
        Ok((changes.len() + odd, true))
    }

    /// Adds the events of an export that are not there yet. All are looked at before one is added; should it end half
    /// way, the same import goes on with the rest.
    pub async fn import_mail(&self, repo: &RepoName, other: &[u8]) -> Result<MailImported, Error> {
        self.must::<Source>(repo).await?;
        let mut done = MailImported {
            added: 0,
            already_there: 0,
        };
        let outcome = self.import_all(repo, other, &mut done).await;
        if outcome.is_err() && done.added > 0 {
            // What was added belongs into mailboxes; numbers that are left out come with the rest of the import.
            let is_bad = |fault: &LogFault| !matches!(fault.what, FaultKind::Gap { .. });
            if let Err(error) = self.rebuild(repo, is_bad).await {
                tracing::warn!(%repo, %error, "imported mail is not in its mailboxes yet");
            }
        }
        outcome?;
        self.rebuild_mail(repo).await?;
        let counters = self.mail_counters(repo).await?;
        self.seal_when_full(repo, &counters).await;
        Ok(done)
    }

    async fn import_all(
        &self,
        repo: &RepoName,
        other: &[u8],
        done: &mut MailImported,
    ) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            if self.import_once(repo, other, done).await? {
                return Ok(());
            }
        }
        Err(busy(repo))
    }

    /// Whether those are all now.
    async fn import_once(
        &self,
        repo: &RepoName,
        other: &[u8],
        done: &mut MailImported,
    ) -> Result<bool, Error> {
        let whole = self.whole_mail(repo).await?;
        let text = whole.text();
        let Versioned { value, version, .. } = whole.counted.clone();
        whole.refuse_missing()?;
        let imported = mail::imported(text.as_bytes(), other, &value.seal());
        let imported = imported.map_err(|faults| odd_import(&LogFault::summary(&faults)))?;
        let all = [text.as_bytes(), &imported.text].concat();
        let log = Log::read(&all, &value.seal());
        fits(&log)?;
        done.already_there = (imported.there as u64).saturating_sub(done.added);
        let new = String::from_utf8_lossy(&imported.text);
        let lines: Vec<&str> = new.lines().collect();
        let mut counters = value;
        // From the first commit on: what is sent before the last one must not take a number of the import.
        counters.message = log.next().before();
        for (commits, some) in (0..).zip(lines.chunks(ROWS_AT_ONCE)) {
            let mut unit = self.unit();
            for line in some {
                counters.events += 1;
                let key = keys::mail_event(repo, counters.events);
                unit.put(key, line, None, IndexEntry::default());
            }
            // Each commit of ours makes one more version.
            unit.save(repo, &counters, Some(version + commits));
            if !self.try_commit(unit).await? {
                return Ok(false);
            }
            done.added += some.len() as u64;
        }
        Ok(true)
    }

    async fn mail_boxes(
        &self,
        repo: &RepoName,
    ) -> Result<BTreeMap<Key, Versioned<ReceivedMessage>>, Error> {
        let mut boxes = BTreeMap::new();
        self.each_mail_row(repo, keys::MAIL_BOX, |record| {
            let message = decode(&record)?;
            boxes.insert(record.key, message);
            Ok::<_, RecordsError>(true)
        })
        .await?;
        Ok(boxes)
    }
}

fn verified(
    repo: &RepoName,
    whole: &Whole,
    stored: &BTreeMap<Key, Versioned<ReceivedMessage>>,
) -> MailVerified {
    let text = whole.text();
    let counters = &whole.counted.value;
    let log = Log::read(text.as_bytes(), &counters.seal());
    let gone = whole
        .missing()
        .map(|number| format!("event {number} is missing"));
    let mut faults: Vec<String> = gone.into_iter().collect();
    faults.extend(log.faults().iter().map(ToString::to_string));
    if let Err((number, why)) = mail::chain(&whole.pages) {
        faults.push(format!("page {number}: {why}"));
    }
    let differs = mail::compare(&log, &whole.pages);
    faults.extend(differs.iter().map(ToString::to_string));
    let last = whole.pages.last();
    let (sealed, pages) = last.map_or((0, 0), |last| (last.seals().events, last.number()));
    if *counters != Counters::of(&log, sealed, pages) {
        faults.push("the counters are not what the log comes to".to_owned());
    }
    faults.extend(odd_boxes(&boxes_of(repo, &log), stored));
    MailVerified {
        faults,
        events: whole.lines.len() as u64,
        pages: whole.pages.len() as u64,
    }
}

/// Has a row be what it has to be; none where it has to go.
fn change(
    unit: &mut UnitOfWork,
    key: &Key,
    message: Option<&ReceivedMessage>,
    found: Option<&Versioned<ReceivedMessage>>,
) {
    match (message, found) {
        (Some(message), found) => {
            let version = found.map(|found| found.version);
            unit.put(key.clone(), message, version, IndexEntry::default());
        }
        (None, Some(found)) => unit.delete(key.clone(), found),
        (None, None) => {}
    }
}

fn boxes_of(repo: &RepoName, log: &Log<'_>) -> Boxes {
    let mail = log.mail();
    let boxed = mail.messages().map(|message| {
        let key = keys::mail_box(repo, &message.to_persona, message.message_id);
        (key, message.clone())
    });
    boxed.collect()
}

/// Where mailboxes are not what the log comes to.
fn odd_boxes(wanted: &Boxes, stored: &BTreeMap<Key, Versioned<ReceivedMessage>>) -> Vec<String> {
    let all: BTreeSet<&Key> = wanted.keys().chain(stored.keys()).collect();
    let odd = all
        .into_iter()
        .filter(|key| wanted.get(*key) != stored.get(*key).map(|found| &found.value));
    odd.map(|key| format!("the row {} is not what the log comes to", key.sk))
        .collect()
}

/// Refuses what a record does not hold.
fn fits(log: &Log<'_>) -> Result<(), Error> {
    let lines = log.lines().iter();
    let long =
        lines.filter(|line| encoded_len(&String::from_utf8_lossy(line.bytes)) > LINE_BYTES_MAX);
    if let Some(line) = long.map(|line| line.number).next() {
        return Err(odd_import(&format!("line {line} is too long for a record")));
    }
    let mail = log.mail();
    if mail.counts().len() > PERSONAS_MAX {
        return Err(odd_import(&format!("more than {PERSONAS_MAX} personas")));
    }
    let large = mail.messages().find(|message| {
        serde_json::to_string(message).map_or(true, |text| text.len() > LINE_BYTES_MAX)
    });
    match large {
        Some(message) => {
            let what = format!(
                "message {} with its tags is too long for a record",
                message.message_id
            );
            Err(odd_import(&what))
        }
        None => Ok(()),
    }
}

pub(super) fn busy(repo: &RepoName) -> Error {
    let sentence = format!("the mail of {repo} is being changed by others just now: try again");
    NotNow::new("busy", sentence).into()
}

fn broken(what: &str) -> Error {
    let sentence = format!("the log of mail is broken: {what}; restore the store from a backup");
    NotNow::new("broken_mail", sentence).into()
}

fn odd_import(what: &str) -> Error {
    let sentence = format!("these events do not fit: {what}");
    NotNow::new("bad_import", sentence).into()
}
