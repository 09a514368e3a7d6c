//! Bad input to every tool: each time a sentence names the tool and what is wrong, and nothing is stored.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Speaker;
use crate::jobs;
use crate::world::{Told, World};

/// What an argument is, and so what is wrong for it.
#[derive(Clone, Copy)]
enum Kind {
    /// A job or a session of one.
    Job,
    /// `owner/name`.
    Repo,
    /// A branch.
    Branch,
    /// Words for Jules or a person, of at most this many bytes.
    Words(usize),
    /// A reason for people, of at most this many bytes, which is cleaned where it is shown.
    Reason(usize),
    /// A short name that is cut where it is too long.
    Title,
    /// An idempotency key, or the id of a plan.
    Key,
    /// An agent.
    Agent,
    /// An event.
    Event,
    /// A reader's cursor.
    Cursor,
    /// A pull request.
    Pull,
    /// One of a few words.
    Choice,
    /// A path to find among the changed ones.
    Path,
    /// A path that is not used.
    Unused,
    /// A number up to this.
    Number(u64),
    /// True or false.
    Flag,
    /// An object.
    Object,
    /// A list of texts or objects.
    List,
}

/// A tool with arguments that would do, and what these are.
type Row = (&'static str, Value, &'static [(&'static str, Kind)]);

const EVENT: &str = "evt_00000000000000000000000000000000";

fn table(job: &str) -> Vec<Row> {
    [
        talk(job),
        outcome(job),
        further(job),
        deliveries(job),
        decisions(job),
        mail(),
        sprints(),
    ]
    .concat()
}

/// Handing work over and talking about it.
fn talk(job: &str) -> Vec<Row> {
    use Kind::*;
    let one = json!({ "job_id": job });
    vec![
        (
            "jules_create_job",
            json!({ "repo": "acme/shop", "prompt": "x" }),
            &[
                ("repo", Repo),
                ("branch", Branch),
                ("prompt", Words(32_000)),
                ("title", Title),
                ("agent", Agent),
                ("priority", Number(9)),
                ("idempotency_key", Key),
                ("constraints", Object),
            ],
        ),
        (
            "jules_register_job",
            one.clone(),
            &[
                ("job_id", Job),
                ("jobs_path", Unused),
                ("metadata", Object),
                ("repo", Repo),
            ],
        ),
        (
            "jules_get_job",
            one.clone(),
            &[("job_id", Job), ("fresh", Flag)],
        ),
        (
            "jules_list_jobs",
            json!({ "repo": "acme/shop" }),
            &[("repo", Repo), ("limit", Number(200))],
        ),
        (
            "jules_check",
            one.clone(),
            &[("job_id", Job), ("repo", Repo), ("branch", Branch)],
        ),
        (
            "jules_get_messages",
            one.clone(),
            &[("job_id", Job), ("cursor", Cursor)],
        ),
        (
            "jules_send_message",
            json!({ "job_id": job, "message": "x" }),
            &[
                ("job_id", Job),
                ("message", Words(20_000)),
                ("idempotency_key", Key),
            ],
        ),
    ]
}

/// What comes of it.
fn outcome(job: &str) -> Vec<Row> {
    use Kind::*;
    let one = json!({ "job_id": job });
    vec![
        (
            "jules_approve_plan",
            one.clone(),
            &[("job_id", Job), ("plan_id", Key)],
        ),
        (
            "jules_get_artifacts",
            one.clone(),
            &[
                ("job_id", Job),
                ("show", Choice),
                ("path", Path),
                ("max_bytes", Number(65_536)),
                ("offset", Number(u32::MAX as u64)),
            ],
        ),
        ("jules_extract_pr", one.clone(), &[("job_id", Job)]),
        (
            "jules_merge_pr",
            one.clone(),
            &[("job_id", Job), ("payload", Object)],
        ),
        ("jules_request_retry", one.clone(), &[("job_id", Job)]),
        ("jules_cancel_job", one.clone(), &[("job_id", Job)]),
        (
            "jules_wait_event",
            json!({ "seconds": 1 }),
            &[("cursor", Cursor), ("job_id", Job), ("seconds", Number(45))],
        ),
        (
            "jules_ack_event",
            json!({ "event_id": EVENT, "agent": "me" }),
            &[("event_id", Event), ("agent", Agent)],
        ),
    ]
}

/// Tools of the toolsets.
fn further(job: &str) -> Vec<Row> {
    use Kind::*;
    let one = json!({ "job_id": job });
    let wake = json!({ "event_id": EVENT, "agent": "me", "attempt": 1 });
    let wakes: &[(&str, Kind)] = &[
        ("event_id", Event),
        ("agent", Agent),
        ("attempt", Number(u32::MAX as u64)),
    ];
    vec![
        ("jules_status", json!({}), &[]),
        (
            "jules_why",
            one.clone(),
            &[("job_id", Job), ("pull_request", Pull)],
        ),
        ("jules_list_events", one, &[("job_id", Job)]),
        (
            "jules_take_wakes",
            json!({ "agent": "me" }),
            &[
                ("agent", Agent),
                ("limit", Number(10)),
                ("seconds", Number(20)),
            ],
        ),
        ("jules_extend_wake", wake.clone(), wakes),
        (
            "jules_return_wake",
            wake,
            &[
                ("event_id", Event),
                ("agent", Agent),
                ("attempt", Number(u32::MAX as u64)),
                ("why", Reason(4_096)),
                ("retry_after_seconds", Number(86_400)),
            ],
        ),
    ]
}

/// Tools of deliveries; a job that belongs to none is one, too.
fn deliveries(job: &str) -> Vec<Row> {
    use Kind::*;
    let one = json!({ "id": job });
    vec![
        (
            "delivery_list",
            json!({}),
            &[
                ("needs", Choice),
                ("phase", Choice),
                ("repo", Repo),
                ("limit", Number(200)),
                ("after", Cursor),
            ],
        ),
        ("delivery_get", one.clone(), &[("id", Job)]),
        (
            "delivery_create",
            json!({ "repo": "acme/shop", "summary": "x" }),
            &[
                ("repo", Repo),
                ("summary", Words(200)),
                ("issue", Number(u32::MAX as u64)),
                ("again", Flag),
                ("description", Words(8_000)),
                ("acceptance_criteria", List),
                ("refs", List),
            ],
        ),
        ("delivery_start", one.clone(), &[("id", Job)]),
        (
            "delivery_plan",
            json!({ "id": job, "content": "x" }),
            &[
                ("id", Job),
                ("content", Words(16_000)),
                ("target_files", List),
            ],
        ),
        (
            "delivery_split",
            json!({ "id": job, "children": [{ "summary": "x", "acceptance_criteria": [] }] }),
            &[("id", Job), ("children", List)],
        ),
        (
            "delivery_transcript",
            one,
            &[("id", Job), ("run", Cursor), ("page", Number(8))],
        ),
    ]
}

/// Tools that decide about a delivery.
fn decisions(job: &str) -> Vec<Row> {
    use Kind::*;
    let one = json!({ "id": job });
    let sha = "1111111111111111111111111111111111111111";
    vec![
        (
            "delivery_approve",
            one.clone(),
            &[("id", Job), ("sha", Pull), ("plan_id", Key)],
        ),
        (
            "delivery_reject",
            json!({ "id": job, "reason": "x" }),
            &[("id", Job), ("reason", Words(1_000))],
        ),
        (
            "delivery_verdict",
            json!({ "id": job, "verdict": "pass", "sha": sha }),
            &[
                ("id", Job),
                ("verdict", Choice),
                ("sha", Pull),
                ("summary", Words(200)),
                ("feedback", Words(1_000)),
            ],
        ),
        (
            "delivery_retry",
            one.clone(),
            &[("id", Job), ("reason", Words(1_000))],
        ),
        ("delivery_cancel", one, &[("id", Job)]),
    ]
}

/// Tools of mail: no message is there.
fn mail() -> Vec<Row> {
    use Kind::*;
    let one = json!({ "repo": "acme/shop", "persona": "curator", "message_id": 1 });
    vec![
        (
            "mail_send",
            json!({ "repo": "acme/shop", "from": "refactor", "to": "curator", "subject": "x", "body": "x" }),
            &[
                ("repo", Repo),
                ("from", Choice),
                ("to", Choice),
                ("subject", Reason(200)),
                ("body", Words(16_000)),
                ("attachments", List),
                ("idempotency_key", Key),
            ],
        ),
        (
            "mail_inbox",
            json!({ "repo": "acme/shop", "persona": "curator" }),
            &[
                ("repo", Repo),
                ("persona", Choice),
                ("unread", Flag),
                ("after", Number(i64::MAX as u64)),
            ],
        ),
        (
            "mail_read",
            one.clone(),
            &[
                ("repo", Repo),
                ("persona", Choice),
                ("message_id", Number(i64::MAX as u64)),
                ("keep_unread", Flag),
            ],
        ),
        (
            "mail_tag",
            with(&one, "tag", &json!("x")),
            &[
                ("repo", Repo),
                ("persona", Choice),
                ("message_id", Number(i64::MAX as u64)),
                ("tag", Choice),
                ("remove", Flag),
            ],
        ),
    ]
}

/// Tools of sprints: there is none.
fn sprints() -> Vec<Row> {
    use Kind::*;
    let one = json!({ "repo": "acme/shop" });
    vec![
        (
            "sprint_status",
            one.clone(),
            &[("repo", Repo), ("number", Number(u32::MAX as u64))],
        ),
        (
            "sprint_start",
            one.clone(),
            &[
                ("repo", Repo),
                ("number", Number(u32::MAX as u64)),
                ("personas", List),
                ("dry_run", Flag),
            ],
        ),
        (
            "sprint_abort",
            one,
            &[("repo", Repo), ("number", Number(u32::MAX as u64))],
        ),
    ]
}

/// What is wrong for a kind, beside another type.
fn wrong(kind: Kind) -> Vec<Value> {
    let long = json!("x".repeat(600_000));
    let shaped = || {
        let shapes = [
            "../secrets",
            "/etc/passwd",
            "a\r\nset-cookie: b",
            "a\u{7}b",
            "a\u{1b}[2Jb",
            "",
        ];
        shapes
            .map(Value::from)
            .into_iter()
            .chain([json!("x".repeat(600_000))])
    };
    match kind {
        Kind::Job | Kind::Repo | Kind::Agent | Kind::Event | Kind::Pull | Kind::Choice => {
            shaped().collect()
        }
        Kind::Branch => ["a..b", "a\r\nb", "a\u{7}b", "", "-x"]
            .map(Value::from)
            .into(),
        Kind::Key => ["a\r\nb", "a\u{7}b", "ключ"]
            .map(Value::from)
            .into_iter()
            .chain([long])
            .collect(),
        Kind::Cursor => ["x", "../x", "a\r\nb", "a\u{7}b"]
            .map(Value::from)
            .into_iter()
            .chain([long])
            .collect(),
        Kind::Words(most) => vec![json!("x".repeat(most + 1)), json!("\u{7}".repeat(most))],
        Kind::Reason(most) => vec![json!("x".repeat(most + 1))],
        Kind::Unused => vec![json!("a\u{7}b"), json!("a\r\nb")],
        Kind::Number(most) => vec![json!(-1), json!(most + 1), json!(1.5), json!(1e99)],
        Kind::Title | Kind::Path | Kind::Flag | Kind::Object | Kind::List => Vec::new(),
    }
}

/// Values of another type.
fn mistyped(kind: Kind) -> Vec<Value> {
    match kind {
        Kind::Number(_) | Kind::Flag => vec![json!("seven"), json!([]), json!({})],
        Kind::Object => vec![json!(7), json!(true)],
        Kind::List => vec![json!(7), json!("x"), json!({ "x": 1 }), json!([7])],
        Kind::Words(_)
        | Kind::Reason(_)
        | Kind::Job
        | Kind::Repo
        | Kind::Branch
        | Kind::Title
        | Kind::Key
        | Kind::Agent
        | Kind::Event
        | Kind::Cursor
        | Kind::Pull
        | Kind::Choice
        | Kind::Path
        | Kind::Unused => {
            vec![json!(7), json!([]), json!({ "x": 1 })]
        }
    }
}

/// Everything stored; the first line says when it was asked for.
fn stored(world: &World) -> String {
    let exported = world.run(&["export", "--all"]).ok().stdout;
    exported.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn bad_input_at_every_tool_is_named_and_nothing_is_stored() {
    let world = jobs::world().set("GAFFER_TOOLSETS", "insight,inbox,deliveries,mail,sprint");
    world.run(&["agent", "add", "me"]).ok();
    let order = [
        "job",
        "create",
        "--repo",
        "acme/shop",
        "--prompt",
        "Add a search box",
    ];
    let job = world.json(&order)["job"]["job_id"].clone();
    let before = stored(&world);
    let mut speaker = Speaker::greeted(&world);
    let listed = speaker.ask("tools/list", json!({}))["result"]["tools"].clone();
    let rows = table(job.as_str().unwrap());
    let told: BTreeSet<_> = rows.iter().map(|(tool, _, _)| *tool).collect();
    let every: BTreeSet<_> = client::mcp::Server::every_tool().into_iter().collect();
    assert_eq!(told, every, "every tool has its row");
    let mut slips = Vec::new();
    for (tool, good, fields) in rows {
        let shown = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["name"] == tool)
            .unwrap();
        let named: BTreeSet<_> = shown["inputSchema"]["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(
            named,
            fields.iter().map(|(name, _)| *name).collect(),
            "{tool}"
        );
        let mut tried = vec![("force_it".to_owned(), with(&good, "force_it", &json!(true)))];
        for required in shown["inputSchema"]["required"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let name = required.as_str().unwrap();
            let mut less = good.clone();
            less.as_object_mut().unwrap().remove(name);
            tried.push((name.to_owned(), less));
        }
        for (name, kind) in fields {
            let values = wrong(*kind).into_iter().chain(mistyped(*kind));
            tried.extend(values.map(|value| ((*name).to_owned(), with(&good, name, &value))));
        }
        for (field, arguments) in tried {
            slips.extend(slip(&mut speaker, tool, (&field, arguments)));
        }
        let answer = speaker.ask("tools/call", json!({ "name": tool, "arguments": [] }));
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
    assert!(slips.is_empty(), "{}", slips.join("\n"));
    assert_eq!(stored(&world), before);
    assert_eq!(speaker.ended(), "");
}

fn with(good: &Value, name: &str, value: &Value) -> Value {
    let mut changed = good.clone();
    changed[name] = value.clone();
    changed
}

/// What is wrong with how a tool refuses, if anything is.
fn slip(speaker: &mut Speaker, tool: &str, (field, arguments): (&str, Value)) -> Option<String> {
    let asked = arguments[field]
        .to_string()
        .chars()
        .take(60)
        .collect::<String>();
    let answer = speaker.ask(
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    );
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let plain = !text.chars().any(|it| it.is_control() && it != '\n');
    let short = text.len() < 2_000;
    let is_told =
        result["isError"] == true && text.starts_with(&format!("{tool}: ")) && text.contains(field);
    (!is_told || !plain || !short).then(|| {
        let answer: String = answer.to_string().chars().take(300).collect();
        format!("{tool} {field}={asked}: {answer}")
    })
}

#[test]
fn names_that_nothing_has_are_told_and_nothing_is_stored() {
    let world = jobs::world().set("GAFFER_TOOLSETS", "insight,inbox,deliveries");
    world.run(&["agent", "add", "me"]).ok();
    let before = stored(&world);
    let mut speaker = Speaker::greeted(&world);
    // The second is another account's session, as Jules names them.
    for job in ["nobody", "15400000000000000777"] {
        for tool in [
            "jules_get_job",
            "jules_check",
            "jules_get_messages",
            "jules_approve_plan",
            "jules_get_artifacts",
            "jules_extract_pr",
            "jules_merge_pr",
            "jules_request_retry",
            "jules_cancel_job",
            "jules_why",
            "jules_list_events",
        ] {
            let told = speaker.refused(tool, json!({ "job_id": job }));
            assert!(told.starts_with(tool), "{told}");
            told.tells(&[job, "404"]);
        }
        let told = speaker.refused(
            "jules_send_message",
            json!({ "job_id": job, "message": "x" }),
        );
        assert!(told.contains("404"), "{told}");
    }
    for (tool, arguments, named) in [
        (
            "jules_create_job",
            json!({ "repo": "acme/none", "prompt": "x" }),
            "`repo`",
        ),
        (
            "jules_create_job",
            json!({ "repo": "acme/shop", "prompt": "x", "agent": "nobody" }),
            "agent",
        ),
        (
            "jules_ack_event",
            json!({ "event_id": EVENT, "agent": "me" }),
            EVENT,
        ),
        (
            "jules_extend_wake",
            json!({ "event_id": EVENT, "agent": "me", "attempt": 1 }),
            EVENT,
        ),
        (
            "jules_return_wake",
            json!({ "event_id": EVENT, "agent": "me", "attempt": 1 }),
            EVENT,
        ),
        ("jules_take_wakes", json!({ "agent": "nobody" }), "nobody"),
    ] {
        let told = speaker.refused(tool, arguments);
        assert!(told.starts_with(tool) && told.contains(named), "{told}");
    }
    // A message of 10 MB is not even read.
    let long = json!({ "job_id": "1", "message": "x".repeat(10 << 20) });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "jules_send_message", "arguments": long } });
    speaker.say(&call.to_string());
    assert_eq!(speaker.hear()["error"]["code"], -32600);
    assert_eq!(stored(&world), before);
    speaker.ended();
}
