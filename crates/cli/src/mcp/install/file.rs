//! A file of another program: read whole, and written whole or not at all.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::error::Error;

/// Who may read a new file: settings of a person are theirs alone, a project's are for all who work on it, as far as the umask allows.
const OWN: u32 = 0o600;
const SHARED: u32 = 0o666;

/// What a file holds; `None` when it is not there.
pub(super) fn read(file: &Path) -> Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", file.display())),
    }
}

/// Replaces the found file with a text. A link stays a link, and the mode of the file stays.
pub(super) fn write(file: &Path, found: Option<&str>, text: &str, is_shared: bool) -> Result<()> {
    let target = target(file)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let writing = || format!("writing {}", target.display());
    let mode = match fs::metadata(&target) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => Permissions::from_mode(if is_shared { SHARED } else { OWN }),
    };
    let mut new = tempfile::Builder::new()
        .prefix(".gaffer-")
        .permissions(mode.clone())
        .tempfile_in(folder)
        .with_context(writing)?;
    new.write_all(text.as_bytes()).with_context(writing)?;
    if found.is_some() {
        // The umask has reduced the mode of the new file.
        new.as_file().set_permissions(mode).with_context(writing)?;
    }
    new.as_file().sync_all().with_context(writing)?;
    // The client may have written it since.
    if read(file)?.as_deref() != found {
        let what = format!("{} was changed by another program just now", file.display());
        return Err(Error::refused("busy", what, "run the command again").into());
    }
    new.persist(&target).with_context(writing)?;
    Ok(())
}

/// A dangling link is kept: whether its file is to be there is unknown.
fn dangling(file: &Path, behind: &Path) -> Error {
    let (file, behind) = (file.display(), behind.display());
    let what = format!("{file} is a link to {behind}, which is not there; it was left as it is");
    let next = "make that file, an empty one will do, or take the link away";
    Error::refused("dangling_link", what, next)
}

/// The file behind links, so that they stay.
fn target(file: &Path) -> Result<PathBuf> {
    match fs::canonicalize(file) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(file) {
            Ok(behind) => Err(dangling(file, &behind).into()),
            Err(_) => Ok(file.to_owned()),
        },
        Err(error) => Err(error).with_context(|| format!("finding {}", file.display())),
    }
}
