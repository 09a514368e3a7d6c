//! One secret in one file: read only if it is private to its owner, written whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::ports::SecretsError;
use secrecy::SecretString;

use crate::database::private_folder;

/// Longest secret, in bytes: a private key of 8,192 bits has about 6,400 in PEM.
const SECRET_BYTES_MAX: u64 = 16 * 1024;

/// The mode bits of group and others.
const OTHERS: u32 = 0o077;

/// Mode of a file that only its owner reads and writes.
const SECRET_MODE: u32 = 0o600;

pub(super) fn read(file: &Path, name: &str) -> Result<SecretString, SecretsError> {
    let opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(SecretsError::Missing(name.to_owned()));
        }
        Err(error) => {
            return Err(unusable(
                name,
                format!(
                    "it cannot be opened: {error}; check who owns {}",
                    quoted(file)
                ),
            ));
        }
    };
    refuse_readable_by_others(&opened, file, name)?;
    let text =
        text(opened).map_err(|error| unusable(name, format!("it cannot be read: {error}")))?;
    if text.is_empty() {
        return Err(unusable(
            name,
            format!("{} is empty; write the secret again", quoted(file)),
        ));
    }
    Ok(SecretString::from(text))
}

/// Writes beside the file and renames, so that a reader or a crash never meets half a secret.
pub(super) fn write(file: &Path, name: &str, value: &str) -> Result<(), SecretsError> {
    let value = without_newline(value);
    if value.is_empty() || value.len() as u64 > SECRET_BYTES_MAX {
        return Err(unusable(
            name,
            format!(
                "a secret has 1 to {SECRET_BYTES_MAX} bytes, this one has {}",
                value.len()
            ),
        ));
    }
    let beside = beside(file);
    let outcome = replace(file, &beside, value);
    if outcome.is_err() {
        // Best effort: the first failure is the one that matters.
        let _ = std::fs::remove_file(&beside);
    }
    outcome.map_err(|error| {
        unusable(
            name,
            format!(
                "it cannot be written: {error}; check who owns {}",
                quoted(file)
            ),
        )
    })
}

pub(super) fn remove(file: &Path, name: &str) -> Result<(), SecretsError> {
    match std::fs::remove_file(file) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unusable(
            name,
            format!(
                "it cannot be removed: {error}; check who owns {}",
                quoted(file)
            ),
        )),
    }
}

/// Whether a path below the root can be a secret's: one or two names of letters, digits and `-`.
pub(crate) fn is_path(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_name = |part: &&str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    parts.len() <= 2 && parts.iter().all(is_name)
}

/// The paths of all secrets below a root, in order; what a crash left half written is none.
pub(super) fn paths(root: &Path) -> Result<Vec<String>, SecretsError> {
    let mut found = Vec::new();
    for (name, below) in entries(root)? {
        if !below.is_dir() {
            found.push(name);
            continue;
        }
        for (inner, _) in entries(&below)? {
            found.push(format!("{name}/{inner}"));
        }
    }
    found.retain(|path| is_path(path));
    found.sort();
    Ok(found)
}

/// What a folder holds; nothing if there is none.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, SecretsError> {
    let unreadable = |error: io::Error| {
        let name = folder.display().to_string();
        unusable(&name, format!("the folder cannot be read: {error}"))
    };
    let listed = match std::fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        found.push((name, entry.path()));
    }
    Ok(found)
}

/// Checks the opened file, not its name, so that it cannot be exchanged in between.
fn refuse_readable_by_others(opened: &File, file: &Path, name: &str) -> Result<(), SecretsError> {
    let metadata = opened
        .metadata()
        .map_err(|error| unusable(name, format!("its mode cannot be read: {error}")))?;
    if !metadata.is_file() {
        return Err(unusable(name, format!("{} is not a file", quoted(file))));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        let message = format!(
            "its mode is {mode:03o}, so others can read it; run `chmod 600 {}`",
            quoted(file)
        );
        return Err(unusable(name, message));
    }
    Ok(())
}

fn text(opened: File) -> io::Result<String> {
    let mut text = String::new();
    opened
        .take(SECRET_BYTES_MAX + 2)
        .read_to_string(&mut text)?;
    let value = without_newline(&text);
    if value.len() as u64 > SECRET_BYTES_MAX {
        return Err(io::Error::other(format!(
            "it is longer than {SECRET_BYTES_MAX} bytes"
        )));
    }
    Ok(value.to_owned())
}

fn without_newline(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// A name in the same folder that no other writer uses, and that no secret has: those contain no dot.
fn beside(file: &Path) -> PathBuf {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let turn = WRITES.fetch_add(1, Ordering::Relaxed);
    file.with_extension(format!("{}-{turn}.new", std::process::id()))
}

fn replace(file: &Path, beside: &Path, value: &str) -> io::Result<()> {
    let folder = file
        .parent()
        .ok_or_else(|| io::Error::other("it has no folder"))?;
    private_folder(folder)?;
    // Left by a crash of an earlier process with the same number.
    if let Err(error) = std::fs::remove_file(beside)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(SECRET_MODE)
        .open(beside)?;
    written.write_all(value.as_bytes())?;
    written.write_all(b"\n")?;
    written.sync_all()?;
    std::fs::rename(beside, file)?;
    // The new name itself reaches the disk with its folder.
    File::open(folder)?.sync_all()
}

/// The path as a shell takes it.
pub(crate) fn quoted(file: &Path) -> String {
    let path = file.display().to_string();
    if path
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "/._-+@".contains(c))
    {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

fn unusable(name: &str, message: String) -> SecretsError {
    SecretsError::Unusable {
        name: name.to_owned(),
        message,
    }
}
