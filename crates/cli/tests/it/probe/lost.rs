//! `gaffer probe` while answers are lost, garbled or wrong: it spends two tasks at most, knows what it spent, and leaves nothing running.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;

use sandbox::jules::{Jules, Switches, WorkingBranch};
use sandbox::{DEFAULT_KEY, Fault, FaultKind, Lags, Sandbox, Service};
use serde_json::Value;

use super::{BRIEF, scenario};
use crate::init::serve_prepared;
use crate::world::{Ran, World};

const ARGUMENTS: [&str; 12] = [
    "probe",
    "--repo",
    "acme/shop",
    "--yes",
    "--json",
    "--patience",
    "1s",
    "--every",
    "20ms",
    "--burst",
    "0",
    "--transcript",
];

/// What a probe came to, and what Jules has seen of it.
struct Probed {
    ran: Ran,
    json: Value,
    jules: Jules,
}

impl Probed {
    fn finding(&self, number: usize) -> (bool, &str) {
        let finding = &self.json["findings"][number - 1];
        (
            finding["settled"] == true,
            finding["answer"].as_str().unwrap(),
        )
    }

    fn tasks(&self) -> (u64, u64) {
        let of = |name: &str| self.json[name].as_u64().unwrap();
        (of("tasks_spent"), of("tasks_perhaps_spent"))
    }

    /// Sessions that were made for the probe, and those of them that are still there.
    fn made(&self) -> (usize, Vec<String>) {
        let all = self.jules.sessions().into_iter();
        let ours: Vec<_> = all.filter(|it| it.title.starts_with("[gaffer")).collect();
        let left = ours.iter().filter(|it| !it.deleted);
        (ours.len(), left.map(|it| it.id.clone()).collect())
    }
}

fn world(prepare: impl FnOnce(&Sandbox) + Send + 'static) -> (World, Jules) {
    // So that the first body that is tried makes a session.
    let switches = Switches {
        working_branch: WorkingBranch::InSourceContext,
        ..Switches::default()
    };
    let (at, jules) = serve_prepared(scenario(switches), |sandbox| {
        prepare(sandbox);
        sandbox.jules().clone()
    });
    let world = World::new().set("JULES_API_BASE", format!("http://{at}/jules/v1alpha"));
    world.feed(&["account", "add", "default"], DEFAULT_KEY).ok();
    (world, jules)
}

fn probed(prepare: impl FnOnce(&Sandbox) + Send + 'static) -> Probed {
    let (world, jules) = world(prepare);
    let file = world.data().join("probe.jsonl").display().to_string();
    let ran = world.run(&[&ARGUMENTS[..], &[&file]].concat());
    let json = ran.json();
    Probed { ran, json, jules }
}

/// Strikes so many creates; messages and approvals are left alone.
fn on_create(kind: FaultKind, times: u32) -> impl FnOnce(&Sandbox) + Send + 'static {
    move |sandbox| {
        let fault = Fault::new(Service::Jules, "/sessions", kind).saying("\"title\"");
        sandbox.faults().add(fault.on("POST").next(times));
    }
}

#[test]
fn a_create_that_happened_and_was_not_told_is_found_counted_and_put_away() {
    let kinds = [
        FaultKind::StatusAfterEffect { code: 503 },
        FaultKind::StatusAfterEffect { code: 429 },
        FaultKind::StatusAfterEffect { code: 400 },
        FaultKind::CutAfterEffect,
        FaultKind::TruncatedPage,
        FaultKind::HtmlInstead,
    ];
    let often = kinds.into_iter().map(|kind| (kind, 9));
    let thrice = [(FaultKind::StatusAfterEffect { code: 503 }, 3)];
    for (kind, times) in often.chain(thrice) {
        let word = format!("{kind:?}, {times} times");
        let probed = probed(on_create(kind, times));
        assert_eq!(probed.ran.code, 0, "{word}: {:?}", probed.ran);
        assert_eq!(probed.tasks(), (2, 0), "{word}");
        assert_eq!(probed.made(), (2, Vec::new()), "{word}");
        let fields =
            "`environmentVariablesEnabled`: taken; `workingBranch`: taken in `sourceContext`";
        assert_eq!(probed.finding(5), (true, fields), "{word}");
        assert_eq!(probed.finding(13), (true, "yes"), "{word}");
    }
}

#[test]
fn a_create_that_never_happened_is_perhaps_spent_and_is_not_asked_for_again() {
    let status = |code| FaultKind::Status {
        code,
        retry_after_secs: None,
        body: None,
    };
    for kind in [status(503), status(429), status(401), FaultKind::CutBefore] {
        let word = format!("{kind:?}");
        let probed = probed(on_create(kind, 9));
        assert_eq!(probed.ran.code, 1, "{word}: {:?}", probed.ran);
        assert!(probed.ran.stderr.contains("\"unfinished\""), "{word}");
        assert_eq!(probed.tasks(), (0, 1), "{word}");
        assert_eq!(probed.made(), (0, Vec::new()), "{word}");
        let (settled, answer) = probed.finding(5);
        assert!(!settled && answer.contains("could not be told"), "{answer}");
        assert!(!probed.finding(8).0, "{word}: {}", probed.finding(8).1);
    }
}

#[test]
fn a_session_that_lists_late_is_still_found_before_the_end() {
    let probed = probed(|sandbox| {
        sandbox.faults().set_lags(Lags {
            list: BRIEF * 5,
            ..Lags::default()
        });
        on_create(FaultKind::CutAfterEffect, 9)(sandbox);
    });
    assert_eq!(probed.tasks(), (2, 0), "{:?}", probed.ran);
    assert_eq!(probed.made(), (2, Vec::new()));
}

#[test]
fn a_session_that_cannot_be_deleted_is_named() {
    let probed = probed(|sandbox| {
        let refuse = FaultKind::Status {
            code: 403,
            retry_after_secs: None,
            body: None,
        };
        let fault = Fault::new(Service::Jules, "/sessions", refuse);
        sandbox.faults().add(fault.on("DELETE"));
    });
    let (made, left) = probed.made();
    assert_eq!((made, left.len()), (2, 2));
    assert_eq!(probed.ran.code, 1);
    assert_eq!(probed.json["sessions_left"].as_array().unwrap().len(), 2);
    for id in left {
        assert!(probed.ran.stderr.contains(&id), "{:?}", probed.ran);
        assert!(probed.json["sessions_left"].to_string().contains(&id));
    }
}

#[test]
fn a_delete_that_stumbles_is_asked_again() {
    let probed = probed(|sandbox| {
        let fault = Fault::new(Service::Jules, "/sessions", FaultKind::CutBefore);
        sandbox.faults().add(fault.on("DELETE").next(2));
    });
    assert_eq!(probed.made(), (2, Vec::new()), "{:?}", probed.ran);
    assert!(!probed.finding(6).0, "{}", probed.finding(6).1);
}

#[test]
fn trouble_with_readings_and_messages_answers_nothing() {
    let trouble = || FaultKind::Status {
        code: 503,
        retry_after_secs: None,
        body: None,
    };
    let cases = [
        ("GET", "filter=archived", 3),
        ("GET", "filter=create_time", 2),
        ("GET", "fields=", 4),
        ("POST", ":archive", 6),
        ("POST", ":sendMessage", 14),
    ];
    for (method, path, number) in cases {
        let probed = probed(move |sandbox| {
            let fault = Fault::new(Service::Jules, path, trouble()).on(method);
            sandbox.faults().add(fault);
        });
        let (settled, answer) = probed.finding(number);
        let tells = answer.contains("could not be told") || answer.contains("not settled");
        // The length of a prompt is known although that of a message is not.
        assert!(tells && (!settled || number == 14), "{path}: {answer}");
        assert_eq!(probed.made(), (2, Vec::new()), "{path}");
    }
}

#[test]
fn a_silence_in_the_middle_loses_no_answer() {
    let probed = probed(|sandbox| {
        let fault = Fault::new(Service::Jules, "/activities", FaultKind::CutBefore);
        sandbox.faults().add(fault.on("GET"));
    });
    assert_eq!(probed.ran.code, 1, "{:?}", probed.ran);
    assert!(probed.ran.stderr.contains("does not answer"));
    assert!(probed.finding(3).0 && probed.finding(16).0);
    assert_eq!(probed.made(), (1, Vec::new()));
}

#[test]
fn a_transcript_that_has_no_place_is_refused_before_anything_is_spent() {
    let (world, jules) = world(|_| {});
    let nowhere = world.data().join("no/such.jsonl").display().to_string();
    let folder = world.data().display().to_string();
    for place in [nowhere, folder] {
        let told = world.run(&[&ARGUMENTS[..], &[&place]].concat()).told();
        assert_eq!((told.exit, told.code.as_str()), (2, "usage"), "{told:?}");
        assert!(told.error.contains(&place), "{told:?}");
    }
    let ours = jules.sessions();
    assert!(!ours.iter().any(|it| it.title.starts_with("[gaffer")));
}

#[test]
fn a_transcript_is_its_owners_only_also_when_it_replaces_a_file() {
    let (world, _) = world(|_| {});
    let file = world.file("probe.jsonl", "before");
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&file, open).unwrap();
    let ran = world.run(&[&ARGUMENTS[..], &[&file]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_was_found_is_told_although_the_transcript_cannot_be_put_in_its_place() {
    let (world, _) = world(|_| {});
    let file = world.data().join("probe.jsonl");
    let arguments = [&ARGUMENTS[..], &[file.to_str().unwrap()]].concat();
    let mut child = world.command(&arguments).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    said.read_line(&mut first).unwrap();
    assert!(first.contains("Began session"), "{first}");
    // The tasks are spent, and now somebody takes the place.
    std::fs::create_dir_all(file.join("taken")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (
            &json["tasks_spent"],
            json["findings"].as_array().map(Vec::len)
        ),
        (&2.into(), Some(18))
    );
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("not_kept"), "{rest}");
}
