//! `gaffer backup` and `gaffer restore`.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use engine::machine::SystemClock;
use engine::ports::Clock;
use jiff::Timestamp;
use local::{BackupInfo, FolderLock, SecretFiles, Staged};
use serde_json::json;
use server::data;

use crate::args::recovery::{BackupArgs, RestoreArgs};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{Answer, moment};

/// Writes everything stored into one file.
pub(crate) fn backup(args: BackupArgs, here: &CommandContext) -> Result<Answer> {
    let database = here.database()?;
    let secrets = if args.with_secrets {
        SecretFiles::new(&here.folder.join("secrets"), BTreeMap::new())
            .stored()
            .context("reading the secrets")?
    } else {
        Vec::new()
    };
    // The time before the copying begins: what happens meanwhile counts as later.
    let now = SystemClock.now();
    let about = local::back_up(&database, &args.file, &secrets, now)
        .with_context(|| format!("backing up {}", here.folder.display()))?;
    let file = args.file.display();
    let of_secrets = match (args.with_secrets, about.secrets) {
        (true, count) => format!(
            "It holds {count} secrets: only you can read it (mode 0600), so keep it as you keep keys. Secrets of the environment are not in it."
        ),
        (false, _) => "It holds no secrets; `--with-secrets` writes them too.".to_owned(),
    };
    Ok(Answer::new(json!({
        "file": args.file, "made_at": about.made_at, "schema": about.schema, "secrets": about.secrets,
    }))
    .line(format!("Backed up {} into {file}.", here.folder.display()))
    .line(of_secrets))
}

/// Puts a backup into the data folder.
pub(crate) async fn restore(args: RestoreArgs, here: &CommandContext) -> Result<Answer> {
    let folder = &here.folder;
    refuse_unreadable(&args.file)?;
    let _lock = FolderLock::take(folder)?;
    if !args.replace {
        refuse_occupied(folder)?;
    }
    let staged = Staged::new(&args.file, folder)
        .with_context(|| format!("restoring {}", args.file.display()))?;
    let about = staged.about().clone();
    let doubted = mark(&staged, about.made_at).await?;
    let aside = aside(folder, SystemClock.now());
    let kept = staged
        .put_in_place(&aside)
        .with_context(|| format!("restoring {}", args.file.display()))?;
    Ok(answer(
        &args.file,
        folder,
        &about,
        doubted,
        kept.then_some(aside),
    ))
}

/// Where what is replaced goes: a name that is free, also when another restore took place within the same second.
fn aside(folder: &Path, now: Timestamp) -> PathBuf {
    let first = now.strftime("before-restore-%Y%m%dT%H%M%SZ").to_string();
    let more = (2_u32..).map(|count| format!("{first}-{count}"));
    let mut names = std::iter::once(first.clone()).chain(more);
    // The lock on the folder is held, so a name that is free stays so.
    let free = names.find(|name| folder.join(name).symlink_metadata().is_err());
    folder.join(free.unwrap_or(first))
}

/// Marks the copy before a process works with it: its unfinished effects may have been done since.
async fn mark(staged: &Staged, made_at: Timestamp) -> Result<u64> {
    let backend = data::of_copy(&staged.database()).await?;
    backend
        .mark_restored(made_at)
        .await
        .context("marking what may have been done since the backup")
}

/// Refuses a missing or unreadable file as a usage error, whatever the state of the data folder.
fn refuse_unreadable(file: &Path) -> Result<(), Error> {
    let opened = File::open(file).and_then(|file| file.metadata());
    let why = match opened {
        Ok(about) if about.is_file() => return Ok(()),
        Ok(_) => "it is no file".to_owned(),
        Err(why) => why.to_string(),
    };
    Err(Error::usage(
        format!("restoring {}: {why}", file.display()),
        "name a file that `gaffer backup` wrote",
    ))
}

fn refuse_occupied(folder: &Path) -> Result<()> {
    let occupied = local::occupied(folder)
        .with_context(|| format!("looking into the data folder {}", folder.display()))?;
    let Some(name) = occupied else { return Ok(()) };
    Err(Error::refused(
        "occupied",
        format!("{} is not empty: it holds `{name}`", folder.display()),
        "name an empty folder with `--data DIR`, or replace what is there with `--replace`, which keeps it beside",
    )
    .into())
}

fn answer(
    file: &Path,
    folder: &Path,
    about: &BackupInfo,
    doubted: u64,
    aside: Option<PathBuf>,
) -> Answer {
    let json = json!({
        "file": file, "data": folder, "made_at": about.made_at, "secrets": about.secrets,
        "in_doubt": doubted, "kept": aside,
    });
    let mut answer = Answer::new(json).line(format!(
        "Restored {} into {}, as it was at {}.",
        file.display(),
        folder.display(),
        moment(about.made_at)
    ));
    if let Some(aside) = &aside {
        answer = answer.line(format!("What was there before is in {}.", aside.display()));
    }
    if about.secrets == 0 {
        answer = answer.line(
            "No secrets were in it: those in the folder and in the environment are used, and `gaffer account add NAME --replace-key` stores a key anew.",
        );
    }
    answer
        .line(format!(
            "{doubted} things that were not over then are looked for before they are done. Jobs handed over later are not in it: `gaffer job adopt` takes their sessions on."
        ))
        .line("Make sure that the gaffer it was made of runs no more, then start `gaffer up`.")
}
