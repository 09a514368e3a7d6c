//! The user's files in the working tree: read as a tree, and replaced whole.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ::scaffold::tree::{Content, Entry, Mode, TEXT_BYTES_MAX, Tree};
use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use super::place::must_be_inside;

/// The files somewhere below a folder, with links as links.
pub(super) fn tree(root: &Path, folder: &str) -> Result<Tree> {
    must_be_inside(root, folder)?;
    let mut tree = Tree::default();
    collect(root, folder, &mut tree)?;
    Ok(tree)
}

fn collect(root: &Path, folder: &str, tree: &mut Tree) -> Result<()> {
    let doing = || format!("reading {folder}");
    let entries = match fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(doing),
    };
    for entry in entries {
        let entry = entry.with_context(doing)?;
        let name = entry.file_name();
        let name = name.to_str().with_context(doing)?;
        let path = format!("{folder}/{name}");
        let kind = entry.file_type().with_context(doing)?;
        if kind.is_dir() {
            collect(root, &path, tree)?;
            continue;
        }
        let parsed = path.parse();
        let parsed = parsed.with_context(|| format!("the path `{path}` cannot be worked with"))?;
        tree.put(parsed, file(&root.join(&path), kind.is_file())?);
    }
    Ok(())
}

/// A file as it is on the disk. What is no file of its own is never followed.
fn file(path: &Path, is_file: bool) -> Result<Entry> {
    let doing = || format!("reading {}", path.display());
    let bytes = fs::symlink_metadata(path).with_context(doing)?.len();
    let is_large = usize::try_from(bytes).is_ok_and(|bytes| bytes > TEXT_BYTES_MAX);
    let content = if !is_file || is_large {
        Content::TooLarge
    } else {
        Content::from_bytes(&fs::read(path).with_context(doing)?)
    };
    Ok(Entry {
        mode: if is_file { Mode::File } else { Mode::Link },
        blob: None,
        content,
    })
}

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
