//! `gaffer top` at a terminal of its own.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::jobs::{create, world};

/// What ends each frame.
const END: &str = "`q` ends this.";

/// A person at a terminal.
struct Person {
    terminal: File,
    seen: String,
}

impl Person {
    /// Starts a command at a terminal and sits down at it.
    fn at(mut command: Command) -> (Self, std::process::Child) {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let size = Winsize {
            ws_row: 50,
            ws_col: 200,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&ours, size).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = File::options()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NOCTTY.bits().cast_signed())
            .open(OsStr::from_bytes(name.as_bytes()))
            .unwrap();
        command
            .env("TERM", "xterm")
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs)
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let person = Self {
            terminal: ours.into(),
            seen: String::new(),
        };
        (person, child)
    }

    /// Looks on until a frame shows this, and returns how many came before it.
    fn sees(&mut self, part: &str) -> usize {
        let mut bytes = [0; 4_096];
        loop {
            let frames: Vec<&str> = self.seen.split(END).collect();
            // The last one is not whole yet.
            let whole = &frames[..frames.len() - 1];
            if let Some(at) = whole.iter().position(|frame| frame.contains(part)) {
                return at;
            }
            let read = self.terminal.read(&mut bytes).unwrap();
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }
}

#[test]
fn frames_follow_one_another_until_somebody_types_q() {
    let world = world();
    let (mut person, mut child) = Person::at(world.command(&["top"]));
    assert_eq!(person.sees("none"), 0);
    create(&world);
    assert!(person.sees("1 queued") > 0);
    person.terminal.write_all(b"q").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_job_is_chosen_and_called_off_after_a_yes() {
    let world = world();
    let (second, first) = (create(&world), create(&world));
    let (mut person, mut child) = Person::at(world.command(&["top"]));
    // Of two that wait alike, the one that waits longer comes first.
    person.sees(&format!("> {second}"));
    person.terminal.write_all(b"\x1b[B").unwrap();
    person.sees(&format!("> {first}"));
    person.terminal.write_all(b"c").unwrap();
    person.sees(&format!("Cancel {first}?"));
    person.terminal.write_all(b"n").unwrap();
    person.sees("Nothing was done.");
    person.terminal.write_all(b"cy").unwrap();
    person.sees(&format!("Job {first} is cancelled."));
    let state = |id: &str| world.json(&["job", "show", id])["job"]["state"].clone();
    assert_eq!(
        (state(&first), state(&second)),
        ("cancelled".into(), "queued".into())
    );
    person.terminal.write_all(b"q").unwrap();
    assert!(child.wait().unwrap().success());
}
