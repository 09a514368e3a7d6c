//! The user's files in the working tree: read, and replaced whole.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use super::place::must_be_inside;

/// The text of a file, if there is one.
pub(super) fn read(root: &Path, path: &str) -> Result<Option<String>> {
    must_be_inside(root, path)?;
    match fs::read_to_string(root.join(path)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {path}")),
    }
}

/// Puts a text in place of a file, so that readers see the one or the other. Returns whether anything differed.
pub(super) fn replace(root: &Path, path: &str, text: &str, mode: u32) -> Result<bool> {
    if read(root, path)?.as_deref() == Some(text) && has_mode(root, path, mode)? {
        return Ok(false);
    }
    let doing = || format!("writing {path}");
    let target = root.join(path);
    let folder = target.parent().with_context(doing)?;
    fs::create_dir_all(folder).with_context(doing)?;
    // A new temporary file is for its owner alone, so that no moment shows a secret.
    let mut file = NamedTempFile::new_in(folder).with_context(doing)?;
    file.write_all(text.as_bytes()).with_context(doing)?;
    let permissions = Permissions::from_mode(mode);
    file.as_file()
        .set_permissions(permissions)
        .with_context(doing)?;
    file.persist(&target).with_context(doing)?;
    Ok(true)
}

fn has_mode(root: &Path, path: &str, mode: u32) -> Result<bool> {
    let found = fs::symlink_metadata(root.join(path));
    let found = found.with_context(|| format!("reading {path}"))?;
    Ok(found.permissions().mode() & 0o777 == mode)
}
