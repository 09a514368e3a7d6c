//! `jules-mail` on a file: what a shell types, what it prints, and what is in the log then.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{FailureText, Ran, Told, ran};

mod mended;
mod remote;
mod typed;
mod wrong;

/// Where the shell and the tools of the lines are.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A folder in which mail is sent.
struct Office(TempDir);

impl Office {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn log(&self) -> PathBuf {
        self.file(".jules/mail/events.jsonl")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.log()).unwrap()
    }

    /// A shell that finds the built programs first and has nothing of the tester's.
    fn shell(&self, line: &str) -> Command {
        let built = Path::new(env!("CARGO_BIN_EXE_jules-mail"));
        let built = built.parent().unwrap().display();
        let mut command = Command::new("/bin/bash");
        command
            .env_clear()
            .env("PATH", format!("{built}:{PATH}"))
            .args(["-c", line])
            .current_dir(self.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn types(&self, line: &str) -> Ran {
        ran(self.shell(line), "")
    }

    /// What a line prints that has to work.
    #[track_caller]
    fn prints(&self, line: &str) -> String {
        self.types(line).ok().stdout
    }

    #[track_caller]
    fn json(&self, line: &str) -> Value {
        self.types(&format!("{line} --json")).ok().json()
    }

    /// How a line fails, for programs.
    #[track_caller]
    fn refused(&self, line: &str) -> FailureText {
        self.types(&format!("{line} --json")).failure()
    }

    /// Messages from the weaver, numbered on.
    fn sent(&self, to: &[&str]) {
        for name in to {
            let line = format!("jules-mail send --from weaver --to {name} --subject Hi --body x");
            self.prints(&line);
        }
    }
}

#[test]
fn mail_is_found_upward_and_made_with_the_first_message() {
    let office = Office::new();
    fs::create_dir_all(office.file("shop/.git")).unwrap();
    fs::create_dir_all(office.file("shop/src/deep")).unwrap();
    let none = |folder: &str| {
        let place = office.file(folder);
        let place = place.canonicalize().unwrap();
        format!(
            "No messages for art in the mail of {} (`--repo OWNER/REPO` asks a running Gaffer).\n",
            place.display()
        )
    };
    let told = office.prints("cd shop/src; jules-mail inbox --persona art");
    assert_eq!(told, none("shop"));
    assert!(
        !office.file("shop/.jules").exists(),
        "reading makes nothing"
    );
    let send = "jules-mail send --from weaver --to art --subject Hi --body x";
    office.prints(&format!("cd shop/src; {send}"));
    assert!(office.file("shop/.jules/mail/events.jsonl").is_file());
    let inbox = "jules-mail inbox --persona art";
    let told = office.prints(&format!("cd shop/src/deep; {inbox}"));
    assert_eq!(told, "* #1 | weaver | Hi\n");
    // What lies above a repository is not its mail.
    office.sent(&["art"]);
    fs::create_dir_all(office.file("other/.git")).unwrap();
    fs::create_dir_all(office.file("plain")).unwrap();
    assert_eq!(office.prints(&format!("cd other; {inbox}")), none("other"));
    let found = office.prints(&format!("cd plain; {inbox}"));
    assert_eq!(found, "* #1 | weaver | Hi\n");
}

#[test]
fn a_link_on_the_way_is_not_followed() {
    let office = Office::new();
    fs::create_dir_all(office.file("elsewhere")).unwrap();
    fs::create_dir_all(office.file("shop/.jules/mail")).unwrap();
    symlink(
        "../../../elsewhere/log",
        office.file("shop/.jules/mail/events.jsonl"),
    )
    .unwrap();
    fs::create_dir_all(office.file("other/.jules")).unwrap();
    symlink("../../elsewhere", office.file("other/.jules/mail")).unwrap();
    fs::create_dir_all(office.file("third")).unwrap();
    symlink("../elsewhere", office.file("third/.jules")).unwrap();
    for folder in ["shop", "other", "third"] {
        for command in [
            "send --from weaver --to art --subject Hi --body x",
            "inbox --persona art",
            "import /dev/null",
        ] {
            let refused = office.refused(&format!("cd {folder}; jules-mail {command}"));
            refused.is(2, "link");
        }
    }
    assert_eq!(fs::read_dir(office.file("elsewhere")).unwrap().count(), 0);
}

#[test]
fn messages_that_are_sent_at_once_are_all_there_with_numbers_of_their_own() {
    let office = Office::new();
    let line = |name: &str| {
        let send = format!("jules-mail send --from {name} --to art --subject Hi --body x");
        format!("for i in 1 2 3 4 5 6 7 8; do {send} || exit 1; done")
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    let started = names.map(|name| office.shell(&line(name)).spawn().unwrap());
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let inbox = office.json("jules-mail inbox --persona art");
    let messages = inbox["messages"].as_array().unwrap();
    let numbers = messages.iter().map(|it| it["message_id"].as_i64().unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), (1..=48).collect::<Vec<_>>());
    office.prints("jules-mail verify");
}

#[test]
fn a_message_that_cannot_be_written_whole_leaves_no_half_of_it() {
    let office = Office::new();
    office.sent(&["art", "art"]);
    let before = office.text();
    assert!(before.len() < 1024, "{}", before.len());
    // A file of this shell has one block of 1,024 bytes at most, and the program goes on when it is full.
    let send = "jules-mail send --from weaver --to art --subject Full --body \"$(seq 400)\"";
    let failed = office.types(&format!("trap '' XFSZ; ulimit -f 1; {send}"));
    assert_eq!((failed.code, failed.stdout.as_str()), (1, ""), "{failed:?}");
    assert!(failed.stderr.contains("appending to"), "{failed:?}");
    assert_eq!(office.text(), before);
    office.sent(&["art"]);
    office.prints("jules-mail verify");
}

#[test]
fn gaffer_mail_is_the_same() {
    let office = Office::new();
    office.prints("gaffer mail send --from weaver --to art --subject Hi --body x");
    let told = office.prints("gaffer mail inbox --persona art");
    assert_eq!(told, office.prints("jules-mail inbox --persona art"));
    let help = office.prints("jules-mail --help");
    help.tells(&[
        "send",
        "inbox",
        "tag",
        "restore",
        "Examples:",
        "JULES_PERSONA",
    ]);
    let refused = office.refused("gaffer mail stats --stack gaffer");
    assert_eq!(refused.exit, 2);
}
