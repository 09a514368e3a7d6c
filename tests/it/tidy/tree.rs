//! The text files of the working tree, without what git ignores.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

/// A file that is valid UTF-8.
pub(super) struct File {
    /// From the root of the workspace, with forward slashes.
    pub(super) path: String,
    /// All of it.
    pub(super) text: String,
}

/// The folder that holds the workspace's `Cargo.toml`.
pub(super) fn root() -> io::Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
}

/// The files of this workspace, read once for all rules.
pub(super) static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let found = root().and_then(|root| files(&root));
    found.expect("every rule reads the whole tree")
});

/// Every text file below `root`, in order of path; what is not UTF-8 is not text.
fn files(root: &Path) -> io::Result<Vec<File>> {
    let gitignore = fs::read_to_string(root.join(".gitignore"))?;
    let mut found = Vec::new();
    collect(root, "", &gitignore, &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn collect(root: &Path, folder: &str, gitignore: &str, found: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        let kind = entry.file_type()?;
        if is_ignored(&path, gitignore) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &path, gitignore, found)?;
        } else if kind.is_file() {
            found.extend(read(root, path)?);
        }
    }
    Ok(())
}

/// `None` for a file that is not text, or that went away since the folder was listed.
fn read(root: &Path, path: String) -> io::Result<Option<File>> {
    match fs::read(root.join(&path)) {
        Ok(bytes) => Ok(String::from_utf8(bytes)
            .ok()
            .map(|text| File { path, text })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether git would leave `path` out.
///
/// Knows `/rooted/path`, `name` and a closing slash. A pattern with a wildcard is not applied, so
/// that a rule of git's we do not know makes us read more, never less.
fn is_ignored(path: &str, gitignore: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut patterns = gitignore
        .lines()
        .map(|line| line.trim().trim_end_matches('/'));
    let by_git = patterns.any(|pattern| match pattern.strip_prefix('/') {
        Some(rooted) => rooted == path,
        None => pattern == name,
    });
    by_git || path == ".git" || path == "target"
}

#[test]
fn what_git_ignores_is_left_out() {
    let gitignore = "# built\n/target\n/.gaffer/\nnode_modules/\n*.log\n";
    for path in [
        ".git",
        "target",
        ".gaffer",
        "node_modules",
        "a/b/node_modules",
    ] {
        assert!(is_ignored(path, gitignore), "{path}");
    }
    for path in [
        "crates",
        "crates/target",
        "docs/.gaffer",
        ".gitignore",
        "a.log",
    ] {
        assert!(!is_ignored(path, gitignore), "{path}");
    }
}

#[test]
fn text_is_read_at_any_depth_and_bytes_are_not_text() -> io::Result<()> {
    let root = tempfile::tempdir()?;
    fs::create_dir_all(root.path().join("a/b"))?;
    fs::create_dir(root.path().join("out"))?;
    fs::write(root.path().join(".gitignore"), "/out\n")?;
    fs::write(root.path().join("a/b/deep.rs"), "//! Deep.\n")?;
    fs::write(root.path().join("a/image.png"), [0x89, 0xff])?;
    fs::write(root.path().join("out/built.rs"), "built")?;
    let found = files(root.path())?;
    let paths: Vec<_> = found.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".gitignore", "a/b/deep.rs"]);
    Ok(())
}
