//! Runs the `git` program on one bare repository, with nothing of the settings of the machine or its user.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::Timestamp;

/// Variables that would lead git to another repository or another index.
const LEADING_ELSEWHERE: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_CONFIG_PARAMETERS",
];

/// Why git, or the disk below it, did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(String);

impl Trouble {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// What the disk said; as a function, to be mapped over.
    #[expect(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
    pub(crate) fn disk(error: std::io::Error) -> Self {
        Self(format!("the bare repository cannot be used: {error}"))
    }
}

/// Who makes a commit, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature<'a> {
    pub(crate) login: &'a str,
    pub(crate) id: u64,
    pub(crate) at: Timestamp,
}

/// Git in one folder.
#[derive(Debug)]
pub(super) struct Program {
    folder: PathBuf,
}

impl Program {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it prints, if it succeeds.
    pub(super) fn run(&self, args: &[&str]) -> Result<Vec<u8>, Trouble> {
        self.feed(args, &[])
    }

    /// The same with something to read.
    pub(super) fn feed(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Trouble> {
        succeed(args, self.command(args), input)
    }

    /// The same over an index of its own.
    pub(super) fn with_index(
        &self,
        index: &Path,
        args: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, Trouble> {
        let mut command = self.command(args);
        command.env("GIT_INDEX_FILE", index);
        succeed(args, command, input)
    }

    /// The same in the name of a user.
    pub(super) fn signed(
        &self,
        args: &[&str],
        input: &[u8],
        by: &Signature<'_>,
    ) -> Result<Vec<u8>, Trouble> {
        let email = format!("{}+{}@users.noreply.github.com", by.id, by.login);
        let date = format!("{} +0000", by.at.as_second());
        let mut command = self.command(args);
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), by.login)
                .env(format!("GIT_{role}_EMAIL"), &email)
                .env(format!("GIT_{role}_DATE"), &date);
        }
        succeed(args, command, input)
    }

    /// What it prints, and its exit code.
    pub(super) fn attempt(&self, args: &[&str]) -> Result<(Option<i32>, Vec<u8>), Trouble> {
        let (code, output, _) = perform(args, self.command(args), &[])?;
        Ok((code, output))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        for name in LEADING_ELSEWHERE {
            command.env_remove(name);
        }
        command
            .current_dir(&self.folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("LC_ALL", "C")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

fn succeed(args: &[&str], command: Command, input: &[u8]) -> Result<Vec<u8>, Trouble> {
    let (code, output, said) = perform(args, command, input)?;
    if code == Some(0) {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    Err(Trouble(format!("`git {}`: {said}", args.join(" "))))
}

/// Exit code, output and errors.
type Performed = (Option<i32>, Vec<u8>, Vec<u8>);

fn perform(args: &[&str], mut command: Command, input: &[u8]) -> Result<Performed, Trouble> {
    let trouble = |error: std::io::Error| {
        let name = args.first().copied().unwrap_or_default();
        Trouble(format!(
            "`git {name}` does not run: {error}; install git 2.38 or newer"
        ))
    };
    let mut child = command.spawn().map_err(trouble)?;
    let pipe = child.stdin.take();
    // Written beside the reading: either pipe may be full.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(input)));
        child.wait_with_output()
    });
    let output = output.map_err(trouble)?;
    Ok((output.status.code(), output.stdout, output.stderr))
}

/// The first line of an output.
pub(super) fn line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().next().unwrap_or_default().to_owned()
}

/// The parts of an output that end with a zero byte.
pub(super) fn parts(output: &[u8]) -> Vec<String> {
    let parts = output.split(|byte| *byte == 0);
    let mut parts: Vec<String> = parts
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    if parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    parts
}

#[cfg(unix)]
pub(super) fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(unix)]
pub(super) fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
pub(super) fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    false
}
