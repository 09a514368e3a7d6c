//! `gaffer probe` against sandboxes whose switches stand one way and the other, and against recordings of them.

use std::io::{BufRead, BufReader};

use jiff::SignedDuration;
use sandbox::github::ChangedFile;
use sandbox::jules::{
    AccountSetup, ActivityFilter, BadKey, Delete, EmptyBody, FieldMask, MessageEffect,
    OriginatorCase, PatchScope, QuotaRefusal, SessionFilter, Switches, WorkingBranch,
};
use sandbox::replay::REPLAY_KEY;
use sandbox::story::{Step, Story};
use sandbox::{DEFAULT_KEY, Foreign, ForeignSession, Scenario};
use serde_json::Value;

use crate::init::serve;
use crate::world::World;

mod lost;

const BRIEF: SignedDuration = SignedDuration::from_millis(40);

fn progress(file: &str) -> Step {
    Step::Progress {
        after: BRIEF,
        title: "Working".to_owned(),
        description: String::new(),
        files: vec![ChangedFile::modified(file)],
        command: Some("ls".to_owned()),
        media_bytes: 0,
    }
}

fn plan() -> Step {
    Step::Plan {
        after: BRIEF,
        steps: vec!["One".to_owned(), "Two".to_owned()],
    }
}

fn done() -> Step {
    Step::Complete {
        after: BRIEF,
        no_change: false,
    }
}

fn story(steps: Vec<Step>) -> Story {
    Story {
        queued_for: BRIEF,
        approved_after: BRIEF,
        steps,
        ..Story::default()
    }
}

/// Two tasks that change two files each, beside somebody's finished session.
fn scenario(switches: Switches) -> Scenario {
    let foreign = ForeignSession {
        title: "hunter2 for boss@corp.example".to_owned(),
        prompt: "hunter2".to_owned(),
        state: "COMPLETED".to_owned(),
        age: SignedDuration::from_hours(100),
        pull_url: Some("https://github.com/hunter2/x/pull/1".to_owned()),
        ..ForeignSession::default()
    };
    Scenario {
        switches,
        default_story: story(vec![plan(), progress("a.txt"), progress("b.txt"), done()]),
        foreign: vec![Foreign::Session(foreign)],
        ..Scenario::default()
    }
}

/// The same beside a session that has opened a pull request.
fn with_pull(mut scenario: Scenario) -> Scenario {
    let after = SignedDuration::ZERO;
    let open = Step::OpenPull {
        after,
        files: Vec::new(),
        draft: false,
    };
    let complete = Step::Complete {
        after,
        no_change: false,
    };
    scenario.foreign.push(Foreign::Session(ForeignSession {
        steps: vec![open, complete],
        ..ForeignSession::default()
    }));
    scenario
}

/// One probe's answers.
struct Probed {
    world: World,
    json: Value,
    transcript: String,
}

impl Probed {
    /// The answer to a question by its number, or why it is open.
    fn answer(&self, number: usize) -> &str {
        self.json["findings"][number - 1]["answer"]
            .as_str()
            .unwrap()
    }

    fn is_settled(&self, number: usize) -> bool {
        self.json["findings"][number - 1]["settled"] == true
    }
}

/// Probes a Jules with a key and the account's limits.
fn probed(base: String, key: &str, (concurrent, per_day): (&str, &str), more: &[&str]) -> Probed {
    let world = World::new().set("JULES_API_BASE", base);
    let limits = ["--concurrent", concurrent, "--per-day", per_day];
    world
        .feed(&[&["account", "add", "default"][..], &limits].concat(), key)
        .ok();
    let file = world.file("probe.jsonl", "");
    let arguments = [
        "probe",
        "--repo",
        "acme/shop",
        "--yes",
        "--json",
        "--patience",
        "1s",
        "--every",
        "20ms",
        "--transcript",
        &file,
    ];
    let mut arguments = arguments.to_vec();
    if !more.contains(&"--burst") {
        arguments.extend(["--burst", "0"]);
    }
    arguments.extend(more);
    let ran = world.run(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    let transcript = std::fs::read_to_string(&file).unwrap();
    assert!(!ran.says(key) && !transcript.contains(key));
    Probed {
        json: ran.json(),
        world,
        transcript,
    }
}

fn of(scenario: Scenario, limits: (&str, &str), more: &[&str]) -> Probed {
    let base = format!("http://{}/jules/v1alpha", serve(scenario));
    probed(base, DEFAULT_KEY, limits, more)
}

const ROOM: (&str, &str) = ("15", "100");

#[test]
fn the_answers_follow_the_usual_switches() {
    let probed = of(with_pull(scenario(Switches::default())), ROOM, &[]);
    let wanted = [
        (2, "taken, also with `>=`"),
        (3, "`archived`: taken; `state`: refused; `source`: refused"),
        (4, "honoured"),
        (
            5,
            "`environmentVariablesEnabled`: taken; `workingBranch`: refused",
        ),
        (
            6,
            "archive answers no body; unarchive answers no body; delete answers no body, and the session is then gone",
        ),
        (
            11,
            "`originator`: `agent`, `system`, `user`; `bashOutput`: not seen; `baseRef` and `headRef`: sent; `generatedFiles`: not seen",
        ),
        (13, "yes"),
        (15, "everything so far"),
        (16, "401 UNAUTHENTICATED"),
    ];
    for (number, answer) in wanted {
        assert_eq!(probed.answer(number), answer, "{number}");
        assert!(probed.is_settled(number), "{number}");
    }
    assert!(
        probed.answer(14).starts_with("prompt: at least 100"),
        "{}",
        probed.answer(14)
    );
    for open in [1, 7, 8, 9, 10, 12, 17, 18] {
        assert!(!probed.is_settled(open), "{open}: {}", probed.answer(open));
        assert!(!probed.answer(open).is_empty(), "{open}");
    }
    assert_eq!(probed.json["tasks_spent"], 2);
    // Nobody's texts, names or addresses are in what may be shared.
    for private in ["hunter2", "boss@corp.example", "sandbox-key"] {
        assert!(!probed.transcript.contains(private), "{private}");
    }
    assert!(!probed.world.stored(DEFAULT_KEY));
}

#[test]
fn the_answers_follow_the_switches_when_they_are_turned() {
    let switches = Switches {
        activity_filter: ActivityFilter::GreaterOnly,
        session_filter: SessionFilter::StateAndSource,
        field_mask: FieldMask::Ignored,
        env_variables_on_create: false,
        working_branch: WorkingBranch::InGithubRepoContext,
        empty_body: EmptyBody::EmptyObject,
        archive_answers_session: true,
        delete: Delete::Archives,
        bad_key: BadKey::Invalid,
        auto_approve_after: Some(SignedDuration::from_millis(500)),
        unspecified_mode_needs_approval: true,
        prompt_limit: Some(40_000),
        message_limit: Some(1_000),
        originator: OriginatorCase::Upper,
        pull_refs: false,
        bash_output: true,
        generated_files: true,
        activity_patches: PatchScope::Delta,
        ..Switches::default()
    };
    let probed = of(with_pull(scenario(switches)), ROOM, &[]);
    let wanted = [
        (2, "taken with `>` only"),
        (3, "`archived`: taken; `state`: taken; `source`: taken"),
        (4, "ignored"),
        (
            5,
            "`environmentVariablesEnabled`: refused; `workingBranch`: taken in `githubRepoContext`",
        ),
        (
            6,
            "archive answers the session; unarchive answers the session; delete answers {}, and the session is then only archived",
        ),
        (
            11,
            "`originator`: `AGENT`, `SYSTEM`, `USER`; `bashOutput`: sent; `baseRef` and `headRef`: not sent; `generatedFiles`: sent",
        ),
        (12, "yes: approved by itself after 0 s"),
        (13, "no: 400 INVALID_ARGUMENT"),
        (15, "only its own part"),
        (16, "400 INVALID_ARGUMENT API_KEY_INVALID"),
    ];
    for (number, answer) in wanted {
        assert_eq!(probed.answer(number), answer, "{number}");
    }
    let lengths = probed.answer(14);
    assert!(
        lengths.contains("prompt: at least 32")
            && lengths.contains("message: at least 23 and fewer"),
        "{lengths}"
    );
}

#[test]
fn filters_masks_and_members_can_all_be_refused() {
    let switches = Switches {
        activity_filter: ActivityFilter::Refused,
        session_filter: SessionFilter::Refused,
        field_mask: FieldMask::Refused,
        working_branch: WorkingBranch::InSourceContext,
        originator: OriginatorCase::Absent,
        ..Switches::default()
    };
    let probed = of(scenario(switches), ROOM, &[]);
    assert_eq!(probed.answer(2), "refused");
    assert_eq!(
        probed.answer(3),
        "`archived`: refused; `state`: refused; `source`: refused"
    );
    assert_eq!(probed.answer(4), "refused");
    assert!(
        probed
            .answer(5)
            .ends_with("`workingBranch`: taken in `sourceContext`"),
        "{}",
        probed.answer(5)
    );
    assert!(
        probed.answer(11).starts_with("`originator`: missing;"),
        "{}",
        probed.answer(11)
    );
}

/// An account with room for this much.
fn narrow(switches: Switches, concurrent: u32, per_24h: u32) -> Scenario {
    Scenario {
        accounts: vec![AccountSetup {
            concurrent,
            per_24h,
            ..AccountSetup::default()
        }],
        ..scenario(switches)
    }
}

#[test]
fn an_account_at_its_slots_tells_what_holds_and_gives_back_one() {
    for (holds, frees) in [(true, true), (true, false), (false, true)] {
        let switches = Switches {
            awaiting_holds_slot: holds,
            delete_frees_slot: frees,
            quota_refusal: QuotaRefusal::Exhausted {
                retry_after_secs: Some(7),
                retry_info_secs: Some(9),
            },
            ..Switches::default()
        };
        let probed = of(narrow(switches, 1, 100), ("1", "100"), &[]);
        let says = if holds {
            "holds a slot"
        } else {
            "holds no slot"
        };
        assert!(
            probed
                .answer(10)
                .starts_with(&format!("a session whose plan waits {says};")),
            "{}",
            probed.answer(10)
        );
        if !holds {
            assert!(!probed.is_settled(8), "{}", probed.answer(8));
            continue;
        }
        assert_eq!(
            probed.answer(8),
            "429 RESOURCE_EXHAUSTED, with Retry-After 7 and RetryInfo 9s"
        );
        let gave = if frees {
            "it gave its slot back"
        } else {
            "it did not give its slot back"
        };
        assert!(probed.answer(6).ends_with(gave), "{}", probed.answer(6));
    }
}

#[test]
fn an_account_at_its_tasks_tells_whether_messages_count() {
    for counts in [true, false] {
        let switches = Switches {
            messages_count_as_tasks: counts,
            ..Switches::default()
        };
        let probed = of(narrow(switches, 15, 2), ("15", "2"), &[]);
        let says = if counts {
            "a message counts as a task"
        } else {
            "a message does not count as a task"
        };
        assert!(probed.answer(10).ends_with(says), "{}", probed.answer(10));
        if counts {
            assert_eq!(
                probed.answer(8),
                "400 FAILED_PRECONDITION, with neither Retry-After nor RetryInfo"
            );
        }
    }
}

#[test]
fn a_message_to_a_session_at_rest_does_what_the_switch_says() {
    let pause = || Step::Pause { after: BRIEF };
    let fail = || Step::Fail {
        after: BRIEF,
        reason: "no machine".to_owned(),
    };
    let cases = [
        (pause(), MessageEffect::Resumes, "PAUSED: it goes on ("),
        (
            pause(),
            MessageEffect::Refused,
            "PAUSED: refused with 400 FAILED_PRECONDITION",
        ),
        (
            fail(),
            MessageEffect::Ignored,
            "FAILED: taken, and nothing followed within 1 s",
        ),
    ];
    for (step, effect, says) in cases {
        let switches = Switches {
            message_to_paused: effect,
            message_to_failed: effect,
            ..Switches::default()
        };
        let scenario = Scenario {
            default_story: story(vec![plan(), step, progress("a.txt"), done()]),
            ..scenario(switches)
        };
        let probed = of(scenario, ROOM, &[]);
        assert!(probed.answer(7).starts_with(says), "{}", probed.answer(7));
    }
}

#[test]
fn a_limit_on_requests_is_met_by_a_burst() {
    let switches = Switches {
        requests_per_minute: Some(500),
        ..Switches::default()
    };
    let probed = of(scenario(switches), ROOM, &["--burst", "600"]);
    let answer = probed.answer(9);
    assert!(
        answer.starts_with("refused at request 50") && answer.contains("429 RESOURCE_EXHAUSTED"),
        "{answer}"
    );
}

#[test]
fn a_recording_gives_the_same_answers() {
    let switches = Switches {
        field_mask: FieldMask::Ignored,
        activity_filter: ActivityFilter::GreaterOnly,
        bad_key: BadKey::Invalid,
        prompt_limit: Some(40_000),
        quota_refusal: QuotaRefusal::Exhausted {
            retry_after_secs: Some(7),
            retry_info_secs: None,
        },
        ..Switches::default()
    };
    for (concurrent, limits) in [(15, ROOM), (1, ("1", "100"))] {
        let first = of(
            narrow(switches.clone(), concurrent, 100),
            limits,
            &["--burst", "3"],
        );
        let file = first.world.file("recorded.jsonl", &first.transcript);
        let mut replay = first
            .world
            .command(&[
                "sandbox",
                "--json",
                "--listen",
                "127.0.0.1:0",
                "--replay",
                &file,
            ])
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(replay.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let base = told["jules_base"].as_str().unwrap().to_owned();
        let again = probed(base, REPLAY_KEY, limits, &["--burst", "3"]);
        replay.kill().unwrap();
        replay.wait().unwrap();
        assert_eq!(again.json["findings"], first.json["findings"]);
        assert!(
            again.json["findings"]
                .as_array()
                .is_some_and(|all| all.len() == 18)
        );
    }
}

#[test]
fn nothing_is_spent_before_somebody_agreed() {
    let at = serve(scenario(Switches::default()));
    let world = World::new().set("JULES_API_BASE", format!("http://{at}/jules/v1alpha"));
    world.feed(&["account", "add", "default"], DEFAULT_KEY).ok();
    let told = world.refused(&["probe", "--repo", "acme/shop"]);
    assert_eq!((told.exit, told.code.as_str()), (2, "usage"), "{told:?}");
    assert!(told.next.contains("--yes"), "{told:?}");
    let file = world.file("probe.jsonl", "");
    let other = [
        "probe",
        "--repo",
        "acme/other",
        "--yes",
        "--transcript",
        &file,
    ];
    let unknown = world.refused(&other);
    assert!(
        unknown.exit == 1 && unknown.error.contains("does not see acme/other"),
        "{unknown:?}"
    );
}
