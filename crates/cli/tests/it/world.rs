//! A data folder and the command run on it, with an environment that holds nothing of the tester's.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpSocket;

/// A key shaped like Google's.
pub(crate) const KEY: &str = "AIzaSyTEST0123456789012345678901234567890";

/// One test at a time holds it.
static ALONE: Mutex<()> = Mutex::new(());

/// Held by tests that play a whole story in real time: two of them at once would make each other late.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A port that stays bound until this is dropped, so that the system gives it to no other test as a free one.
/// Connections are refused there, except while a process that was given the address listens on it.
pub(crate) struct HeldPort(TcpSocket);

impl HeldPort {
    /// Takes a free one. `gaffer` can bind beside this socket: both reuse addresses, and this one never listens.
    pub(crate) fn take() -> Self {
        Self(server::bind("127.0.0.1:0".parse().unwrap()).unwrap())
    }

    /// Its address, `IP:PORT`.
    pub(crate) fn address(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }
}

/// A data folder.
pub(crate) struct World {
    folder: TempDir,
    environment: Vec<(&'static str, String)>,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// A new, empty folder.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
    }

    /// A folder with the account `default`.
    pub(crate) fn with_account() -> Self {
        let world = Self::new();
        world.feed(&["account", "add", "default"], KEY).ok();
        world
    }

    /// The same with a variable set.
    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What `gaffer up` holds while it runs on the data folder.
    pub(crate) fn worked_over(&self) -> local::FolderLock {
        local::FolderLock::take(&self.data()).unwrap()
    }

    /// A file of the tester's.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The command, to be run by the test.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gaffer"));
        command
            .env_clear()
            .env("GAFFER_DATA", self.data())
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command with nothing on standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.feed(arguments, "")
    }

    /// Runs a command with a text on standard input.
    pub(crate) fn feed(&self, arguments: &[&str], stdin: &str) -> Ran {
        ran(self.command(arguments), stdin)
    }

    /// Runs a command that has to work.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> Ran {
        self.run(arguments).ok()
    }

    /// Runs a command that has to work and answers its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).ok().json()
    }

    /// Runs a command that has to fail and returns its error for programs.
    pub(crate) fn refused(&self, arguments: &[&str]) -> FailureText {
        self.run(&[arguments, &["--json"]].concat()).failure()
    }

    /// A stored secret and the mode of its file.
    pub(crate) fn secret(&self, path: &str) -> (String, u32) {
        let file = self.data().join("secrets").join(path);
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        (
            fs::read_to_string(file).unwrap().trim_end().to_owned(),
            mode,
        )
    }

    /// Whether any file but a secret's holds a text.
    pub(crate) fn stored(&self, text: &str) -> bool {
        holds(&self.data(), text)
    }
}

/// The words of a command line without quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A runtime for what a test does by itself.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Runs a command to its end.
pub(crate) fn ran(mut command: Command, stdin: &str) -> Ran {
    let mut child = command.spawn().unwrap();
    // It may have ended without reading.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Waits for a command that has to end by itself; one that goes on for longer than this is killed.
pub(crate) fn ended(child: &mut Child, within: Duration) -> ExitStatus {
    let number = child.id().to_string();
    let (says, said) = channel();
    let ended = thread::scope(|scope| {
        scope.spawn(move || says.send(child.wait()));
        let ended = said.recv_timeout(within);
        if ended.is_err() {
            // The thread ends with the command.
            let _ = Command::new("kill").args(["-KILL", &number]).status();
        }
        ended
    });
    let status = ended.unwrap_or_else(|_| panic!("it goes on after {within:?}"));
    status.unwrap()
}

fn holds(folder: &Path, text: &str) -> bool {
    let needle = text.as_bytes();
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .any(|path| {
            if path.is_dir() {
                return path.file_name().unwrap() != "secrets" && holds(&path, text);
            }
            fs::read(&path)
                .unwrap()
                .windows(needle.len())
                .any(|window| window == needle)
        })
}

/// An error for programs.
#[derive(Debug)]
pub(crate) struct FailureText {
    pub(crate) exit: i32,
    pub(crate) code: String,
    pub(crate) error: String,
    pub(crate) next: String,
    pub(crate) existing: String,
}

/// What is printed, and has to have these parts, or none of them, or this beginning.
pub(crate) trait Told {
    fn begins(&self, start: &str);
    fn tells(&self, parts: &[&str]);
    fn lacks(&self, parts: &[&str]);
}

impl Told for str {
    #[track_caller]
    fn begins(&self, start: &str) {
        assert!(self.starts_with(start), "{start}: {self}");
    }

    #[track_caller]
    fn tells(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.contains(part), "{part}: {self}");
        }
    }

    #[track_caller]
    fn lacks(&self, parts: &[&str]) {
        for part in parts {
            assert!(!self.contains(part), "{part}: {self}");
        }
    }
}

impl Told for Ran {
    #[track_caller]
    fn begins(&self, start: &str) {
        self.stdout.begins(start);
    }

    #[track_caller]
    fn tells(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.says(part), "{part}: {self:?}");
        }
    }

    #[track_caller]
    fn lacks(&self, parts: &[&str]) {
        for part in parts {
            assert!(!self.says(part), "{part}: {self:?}");
        }
    }
}

/// JSON that has to have these fields with these values.
pub(crate) trait Fields {
    fn holds(&self, fields: &Value);
}

impl Fields for Value {
    #[track_caller]
    fn holds(&self, fields: &Value) {
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(&self[name], value, "{name}: {self}");
        }
    }
}

impl FailureText {
    /// It ends with this exit code and has this code.
    #[track_caller]
    pub(crate) fn is(&self, exit: i32, code: &str) {
        assert_eq!((self.exit, self.code.as_str()), (exit, code), "{self:?}");
    }

    /// It says this of what is wrong, and that of what to do.
    #[track_caller]
    pub(crate) fn tells(&self, error: &str, next: &str) {
        assert!(self.error.contains(error), "{error}: {self:?}");
        assert!(self.next.contains(next), "{next}: {self:?}");
    }
}

impl Ran {
    /// It has these parts on standard output.
    #[track_caller]
    pub(crate) fn prints(&self, parts: &[&str]) {
        self.stdout.tells(parts);
    }

    /// It has to have worked, without a word on stderr.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{self:?}");
        self
    }

    /// Its answer, one JSON value on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// How it failed.
    #[track_caller]
    pub(crate) fn failure(&self) -> FailureText {
        assert_eq!(
            (self.stdout.as_str(), self.stderr.lines().count()),
            ("", 1),
            "{self:?}"
        );
        let told: Value = serde_json::from_str(&self.stderr).unwrap();
        let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
        FailureText {
            exit: self.code,
            code: text("code"),
            error: text("error"),
            next: text("next"),
            existing: text("existing"),
        }
    }

    /// Whether a text is anywhere in what it printed.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.stdout.contains(text) || self.stderr.contains(text)
    }
}
