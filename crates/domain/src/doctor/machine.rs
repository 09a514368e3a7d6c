//! The data folder, its disk, the clock, and work that waits.

use jiff::SignedDuration;

use super::code::Code;
use super::facts::{DataFacts, InstallationFacts, MachineFacts, SecretStatus};
use super::finding::{Area, Finding, outside};
use crate::clock_rollback::ahead_by;

/// Less room than this is none, in bytes: one commit of records and SQLite's log need a few megabytes.
pub const DISK_FULL_BYTES: u64 = 16 * 1024 * 1024;

/// Free space below this many bytes is a finding.
pub const DISK_LOW_BYTES: u64 = 256 * 1024 * 1024;

/// A clock that is off by more than this is a finding: GitHub refuses an App's token that was made a minute in the
/// future.
pub const SKEW_MAX: SignedDuration = SignedDuration::from_secs(60);

/// A pause that is longer than this may have been forgotten.
pub const PAUSED_LONG: SignedDuration = SignedDuration::from_hours(24);

/// The mode bits of group and others.
const OTHERS: u32 = 0o077;

/// Reports that no process works over the data folder, if there is work in it.
pub(super) fn not_running(machine: &MachineFacts) -> Option<Finding> {
    if machine.is_worked_over || machine.data != DataFacts::Readable {
        return None;
    }
    let what = "`gaffer up` is not running on this data folder";
    let folder = &machine.folder;
    let finding = Finding::new(Code::NotRunning, format!("data folder {folder}"), what);
    Some(finding.with("FOLDER", folder))
}

/// The data folder, its disk, and the token of our own HTTP API.
pub(super) fn data(machine: &MachineFacts) -> Vec<Finding> {
    let folder = &machine.folder;
    let mut findings = Vec::new();
    let problem = match &machine.data {
        DataFacts::Missing => Some((Code::DataMissing, "it holds no database".to_owned())),
        DataFacts::FolderUnreadable { why } => Some((Code::DataUnreadable, outside(why))),
        DataFacts::StoreUnreadable { why } => Some((Code::StoreUnreadable, outside(why))),
        DataFacts::StoreNewer { why } => Some((Code::StoreNewer, outside(why))),
        DataFacts::StoreOlder { why } => Some((Code::StoreOlder, outside(why))),
        DataFacts::StoreIsBackup { .. } => {
            let what = "its database is a backup that was copied there by hand".to_owned();
            Some((Code::StoreIsBackup, what))
        }
        DataFacts::Readable => None,
    };
    let about = format!("data folder {folder}");
    findings.extend(
        problem.map(|(code, what)| Finding::new(code, &about, what).with("FOLDER", folder)),
    );
    findings.extend(open_folder(machine, &about));
    findings.extend(disk(machine, &about));
    findings.extend(unusable("token", &machine.api_token, folder));
    if let Some(shape) = machine.api_token.kind().filter(|it| !it.may_be_api_token()) {
        let what = format!("it is {}", shape.words());
        findings.push(Finding::new(Code::GafferTokenKind, "GAFFER_TOKEN", what));
    }
    if findings.is_empty() {
        let what = match machine.disk_free {
            Some(_) => "it can be read, and its disk has room",
            None => "it can be read",
        };
        findings.push(Finding::ok(Area::Data, about, what));
    }
    findings
}

fn open_folder(machine: &MachineFacts, about: &str) -> Option<Finding> {
    let mode = machine.mode.filter(|mode| mode & OTHERS != 0)?;
    let what = format!("its mode is {mode:03o}");
    Some(Finding::new(Code::DataOpen, about, what).with("FOLDER", &machine.folder))
}

fn disk(machine: &MachineFacts, about: &str) -> Option<Finding> {
    let free = machine.disk_free?;
    let code = match free {
        0..DISK_FULL_BYTES => Code::DiskFull,
        DISK_FULL_BYTES..DISK_LOW_BYTES => Code::DiskLow,
        DISK_LOW_BYTES.. => return None,
    };
    let what = format!("{} MiB are free on its disk", free / (1024 * 1024));
    Some(Finding::new(code, about, what).with("FOLDER", &machine.folder))
}

/// Reports a secret that exists but cannot be used.
pub(super) fn unusable(path: &str, kept: &SecretStatus, folder: &str) -> Option<Finding> {
    let SecretStatus::Unusable { why } = kept else {
        return None;
    };
    let file = format!("{folder}/secrets/{path}");
    let about = format!("secret `{path}`");
    Some(Finding::new(Code::SecretUnusable, about, outside(why)).with("FILE", file))
}

/// Compares the clock with those of services and with stored times.
pub(super) fn clock(installation: &InstallationFacts) -> Vec<Finding> {
    let mut findings = beside_services(installation);
    findings.extend(beside_store(installation));
    findings
}

/// Nothing is done in the future.
fn beside_store(installation: &InstallationFacts) -> Option<Finding> {
    let ahead = ahead_by(installation.newest?, installation.now)?;
    let by = SignedDuration::from_secs(ahead.as_secs());
    let what = format!("the newest time in the store is {by:#} ahead of it");
    Some(Finding::new(
        Code::ClockWasAhead,
        "this machine's clock",
        what,
    ))
}

fn beside_services(installation: &InstallationFacts) -> Vec<Finding> {
    let wrong = |ahead: SignedDuration| ahead.abs() > SKEW_MAX;
    let worst = installation
        .clocks
        .iter()
        .max_by_key(|skew| skew.ahead.abs());
    let Some(worst) = worst else {
        return Vec::new();
    };
    let about = "this machine's clock";
    if !wrong(worst.ahead) {
        let services: Vec<&str> = installation.clocks.iter().map(|it| it.service).collect();
        let what = format!("it agrees with the clocks of {}", services.join(" and "));
        return vec![Finding::ok(Area::Clock, about, what)];
    }
    let behind = if worst.ahead.is_negative() {
        "ahead of"
    } else {
        "behind"
    };
    let by = SignedDuration::from_secs(worst.ahead.abs().as_secs());
    let what = format!("it is {by:#} {behind} {}'s", worst.service);
    vec![Finding::new(Code::ClockSkew, about, what)]
}

/// Reports pauses and dead letters.
pub(super) fn work(installation: &InstallationFacts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(since) = installation.paused_since {
        let paused = installation.now.duration_since(since);
        let long = if paused > PAUSED_LONG {
            ", which is long"
        } else {
            ""
        };
        let what = format!("paused since {since}{long}");
        findings.push(Finding::new(Code::Paused, "everything", what));
    }
    if installation.observe_only {
        let what = "the process over this data folder was started with --observe-only";
        findings.push(Finding::new(Code::ObserveOnly, "everything", what));
    }
    if installation.dead_letters > 0 {
        let what = format!("set aside: {}", installation.dead_letters);
        findings.push(Finding::new(Code::DeadLetters, "messages", what));
    }
    if findings.is_empty() {
        let what = "nothing is paused and nothing was set aside";
        findings.push(Finding::ok(Area::Work, "work", what));
    }
    findings
}
