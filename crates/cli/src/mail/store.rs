//! The log of mail as a file: read under a lock, appended to under a lock, and mended.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use domain::ids::{MailEventId, MessageId, PersonaName};
use domain::mail::{
    self, FaultKind, Imported, Log, LogFault, Mail, MailAction, MailEvent, Mended, PAGE_EVENTS,
    Seal,
};
use engine::machine::{RandomIds, SystemClock};
use engine::ports::{Clock, Ids};
use jiff::Timestamp;

use super::backups::{self, Sealing};
use super::place::{self, Held, Hold, MailFolder};
use crate::error::Error;
use crate::render;

/// Mail in a folder.
#[derive(Debug)]
pub(super) struct Store {
    place: MailFolder,
}

/// Whether a log is made where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Make {
    /// With the first message.
    IfMissing,
    /// There is nothing to change where there is no mail.
    Never,
}

/// How a log is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mending {
    /// From itself.
    Rebuild,
    /// From its sealed pages and itself.
    Restore,
}

/// Everything that is wrong, and how much there is.
#[derive(Debug)]
pub(super) struct Verified {
    /// What is wrong, each with its line or page.
    pub(super) faults: Vec<String>,
    /// The page among it that cannot be relied on.
    pub(super) broken_page: Option<String>,
    /// Events in the log.
    pub(super) events: usize,
    /// Sealed pages.
    pub(super) pages: usize,
}

/// A log that is whole again, and what its backups still say of it.
#[derive(Debug)]
pub(super) struct Repaired {
    pub(super) mended: Mended,
    /// How many events the backups have which the log lacks, or has otherwise.
    pub(super) in_backups: usize,
    /// The page that cannot be relied on: until it is moved away, other commands are refused.
    pub(super) broken_page: Option<String>,
}

/// A log that was read, with its lock.
#[derive(Debug)]
struct Opened {
    _held: Option<Held>,
    bytes: Vec<u8>,
    /// How far it is sealed, or what is wrong with the last page.
    seal: Result<Seal, String>,
}

impl Opened {
    fn seal(&self) -> Result<&Seal> {
        let seal = self.seal.as_ref();
        Ok(seal.map_err(|broken| super::broken_backups(broken))?)
    }
}

impl Store {
    /// The store that commands run in a folder are about.
    pub(super) fn of(folder: &Path) -> Self {
        let place = MailFolder::find(folder);
        Self { place }
    }

    /// Whose mail it is, for an answer without any.
    pub(super) fn name(&self) -> String {
        let root = self.place.root().display();
        format!("{root} (`--repo OWNER/REPO` asks a running Gaffer)")
    }

    /// Where the log is.
    pub(super) fn path(&self) -> PathBuf {
        self.place.log()
    }

    /// What a rebuild took out.
    pub(super) fn rejected(&self) -> PathBuf {
        self.place.rejected()
    }

    /// The personas whose files lie beside the mail.
    pub(super) fn personas(&self) -> Result<BTreeSet<PersonaName>> {
        self.place.personas()
    }

    /// The mailboxes. A log that is broken has none.
    pub(super) fn mail(&self) -> Result<Mail> {
        let opened = self.open(Hold::Shared)?;
        Ok(self.whole(&opened)?.mail())
    }

    /// The lines as they are, and what is wrong with them.
    pub(super) fn raw(&self) -> Result<(Vec<u8>, Result<()>)> {
        let opened = self.open(Hold::Shared)?;
        let whole = self.whole(&opened).map(|_| ());
        Ok((opened.bytes, whole))
    }

    fn open(&self, how: Hold) -> Result<Opened> {
        Ok(Opened {
            _held: self.place.hold(how)?,
            bytes: place::bytes(&self.place.log())?,
            seal: backups::seal(&self.place)?,
        })
    }

    fn whole<'a>(&self, opened: &'a Opened) -> Result<Log<'a>> {
        let log = Log::read(&opened.bytes, opened.seal()?);
        if log.faults().is_empty() {
            return Ok(log);
        }
        let path = self.path();
        let what = format!(
            "{} is broken: {}",
            path.display(),
            LogFault::summary(log.faults())
        );
        let next = "see all of it with `jules-mail verify`, then mend it with `jules-mail restore` if it has backups, else with `jules-mail rebuild`";
        Err(Error::refused("broken_mail", what, next).into())
    }

    /// Appends what is decided with the log in hand, in one write.
    pub(super) fn append<T>(
        &self,
        make: Make,
        decide: impl FnOnce(&Log<'_>, Timestamp) -> Result<(Vec<Step>, T)>,
    ) -> Result<T> {
        if make == Make::IfMissing {
            self.place.make()?;
        }
        let opened = self.open(Hold::Alone)?;
        let log = self.whole(&opened)?;
        let now = SystemClock.now();
        let (steps, answer) = decide(&log, now)?;
        if !steps.is_empty() {
            let count = log.lines().len() + steps.len();
            let events = steps.into_iter().map(|step| step.event(now)).collect();
            self.add(&opened, log.addition(events).as_bytes(), count)?;
        }
        Ok(answer)
    }

    /// Appends, and seals the pages that are full with so many events.
    fn add(&self, opened: &Opened, addition: &[u8], count: usize) -> Result<()> {
        place::append(&self.place.log(), addition)?;
        let seal = opened.seal()?;
        if (count as u64) < seal.events + PAGE_EVENTS {
            return Ok(());
        }
        let bytes = [&opened.bytes, addition].concat();
        let log = Log::read(&bytes, seal);
        // What was to be done is done, so this is no failure of the command.
        if let Err(error) = backups::seal_more(&self.place, &log, Sealing::Whole) {
            render::note(&format!("the mail was not backed up: {error:#}"));
        }
        Ok(())
    }

    /// Seals everything; returns how many events those were.
    pub(super) fn seal(&self) -> Result<usize> {
        let opened = self.open(Hold::Alone)?;
        backups::seal_more(&self.place, &self.whole(&opened)?, Sealing::All)
    }

    /// Adds the events of an export.
    pub(super) fn import(&self, other: &[u8]) -> Result<Imported> {
        self.place.make()?;
        let opened = self.open(Hold::Alone)?;
        let there = self.whole(&opened)?.lines().len();
        let seal = opened.seal()?;
        let imported = mail::imported(&opened.bytes, other, seal);
        let imported = imported.map_err(|faults| bad_import(&faults))?;
        if imported.added > 0 {
            self.add(&opened, &imported.text, there + imported.added)?;
        }
        Ok(imported)
    }

    /// Everything that is wrong.
    pub(super) fn verify(&self) -> Result<Verified> {
        let _held = self.place.hold(Hold::Shared)?;
        let bytes = place::bytes(&self.place.log())?;
        let backups = backups::read(&self.place)?;
        let log = Log::read(&bytes, &backups.seal);
        let mut faults = log.faults().to_vec();
        // Each event that is missing is told by itself.
        faults.retain(|fault| !matches!(fault.what, FaultKind::Short { .. }));
        faults.extend(mail::compare(&log, &backups.pages));
        faults.sort_by_key(|fault| fault.line);
        let faults = faults.iter().map(ToString::to_string);
        Ok(Verified {
            faults: faults.chain(backups.broken.clone()).collect(),
            broken_page: backups.broken,
            events: log.lines().len(),
            pages: backups.pages.len(),
        })
    }

    /// Makes the log whole. What is taken out is laid aside first, so that nothing is lost in between.
    pub(super) fn mend(&self, how: Mending) -> Result<Repaired> {
        let _held = self.place.hold(Hold::Alone)?;
        let bytes = place::bytes(&self.place.log())?;
        let found = backups::read(&self.place)?;
        let now = SystemClock.now();
        let mended = match how {
            Mending::Rebuild => mail::rebuild(&bytes, &found.seal, now),
            Mending::Restore if found.pages.is_empty() => {
                return Err(super::nothing_sealed(found.broken.as_deref()).into());
            }
            Mending::Restore => mail::restore(&bytes, &found.pages, &found.seal, now),
        };
        if !mended.rejected.is_empty() {
            let mut aside = mended.rejected.join(&b'\n');
            aside.push(b'\n');
            place::append(&self.place.rejected(), &aside)?;
        }
        if mended.text != bytes {
            place::replace(&self.place.log(), &mended.text)?;
        }
        let differs = mail::compare(&Log::read(&mended.text, &found.seal), &found.pages);
        Ok(Repaired {
            in_backups: differs.len(),
            broken_page: found.broken,
            mended,
        })
    }
}

/// Why nothing of an export is added.
pub(super) fn bad_import(faults: &[LogFault]) -> Error {
    let what = format!("these events do not fit: {}", LogFault::summary(faults));
    let next = "import all that `jules-mail export` prints, to where there is no other mail";
    Error::refused("bad_import", what, next)
}

/// An event that is decided on: which message, who does it, what.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) message: MessageId,
    pub(super) actor: String,
    pub(super) what: MailAction,
}

impl Step {
    fn event(self, at: Timestamp) -> MailEvent {
        MailEvent {
            id: MailEventId::of(RandomIds.ulid(at)),
            at,
            message: self.message,
            actor: self.actor,
            what: self.what,
            other: serde_json::Map::new(),
        }
    }
}
