//! Bad input to every tool: each time a sentence names the tool and what is wrong, and nothing is stored.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Speaker;
use crate::jobs;
use crate::world::{Told, World};

/// Each tool with arguments that would do, and what those are: a kind that `wrong` knows with its limit, or a name that is its kind.
const ROWS: &str = r#"jules_create_job {"repo":"acme/shop","prompt":"x"} repo branch prompt=words:32000 title agent priority=number:9 idempotency_key=key constraints=object
jules_register_job {"job_id":"JOB"} job_id=job jobs_path=unused metadata=object repo
jules_get_job {"job_id":"JOB"} job_id=job fresh=flag
jules_list_jobs {"repo":"acme/shop"} repo limit=number:200
jules_check {"job_id":"JOB"} job_id=job repo branch
jules_get_messages {"job_id":"JOB"} job_id=job cursor
jules_send_message {"job_id":"JOB","message":"x"} job_id=job message=words:20000 idempotency_key=key
jules_approve_plan {"job_id":"JOB"} job_id=job plan_id=key
jules_get_artifacts {"job_id":"JOB"} job_id=job show=choice path max_bytes=number:65536 offset=number:4294967295
jules_extract_pr {"job_id":"JOB"} job_id=job
jules_merge_pr {"job_id":"JOB"} job_id=job payload=object
jules_request_retry {"job_id":"JOB"} job_id=job
jules_cancel_job {"job_id":"JOB"} job_id=job
jules_wait_event {"seconds":1} cursor job_id=job seconds=number:45
jules_ack_event {"event_id":"EVENT","agent":"me"} event_id=event agent
jules_status {}
jules_why {"job_id":"JOB"} job_id=job pull_request=pull
jules_list_events {"job_id":"JOB"} job_id=job
jules_take_wakes {"agent":"me"} agent limit=number:10 seconds=number:20
jules_extend_wake {"event_id":"EVENT","agent":"me","attempt":1} event_id=event agent attempt=number:4294967295
jules_return_wake {"event_id":"EVENT","agent":"me","attempt":1} event_id=event agent attempt=number:4294967295 why=reason:4096 retry_after_seconds=number:86400
delivery_list {} needs=choice phase=choice repo limit=number:200 after=cursor
delivery_get {"id":"JOB"} id=job
delivery_create {"repo":"acme/shop","summary":"x"} repo summary=words:200 issue=number:4294967295 again=flag description=words:8000 acceptance_criteria=list refs=list
delivery_start {"id":"JOB"} id=job
delivery_plan {"id":"JOB","content":"x"} id=job content=words:16000 target_files=list
delivery_split {"id":"JOB","children":[{"summary":"x","acceptance_criteria":[]}]} id=job children=list
delivery_transcript {"id":"JOB"} id=job run=cursor page=number:8
delivery_approve {"id":"JOB"} id=job sha=pull plan_id=key
delivery_reject {"id":"JOB","reason":"x"} id=job reason=words:1000
delivery_verdict {"id":"JOB","verdict":"pass","sha":"1111111111111111111111111111111111111111"} id=job verdict=choice sha=pull summary=words:200 feedback=words:1000
delivery_retry {"id":"JOB"} id=job reason=words:1000
delivery_cancel {"id":"JOB"} id=job
mail_send {"repo":"acme/shop","from":"refactor","to":"curator","subject":"x","body":"x"} repo from=choice to=choice subject=reason:200 body=words:16000 attachments=list idempotency_key=key
mail_inbox {"repo":"acme/shop","persona":"curator"} repo persona=choice unread=flag after=number:9223372036854775807
mail_read {"repo":"acme/shop","persona":"curator","message_id":1} repo persona=choice message_id=number:9223372036854775807 keep_unread=flag
mail_tag {"repo":"acme/shop","persona":"curator","message_id":1,"tag":"x"} repo persona=choice message_id=number:9223372036854775807 tag=choice remove=flag
sprint_status {"repo":"acme/shop"} repo number=number:4294967295
sprint_start {"repo":"acme/shop"} repo number=number:4294967295 personas=list dry_run=flag
sprint_abort {"repo":"acme/shop"} repo number=number:4294967295"#;

/// A tool, arguments that would do, and the name, the kind and the limit of each.
type Row = (&'static str, Value, Vec<(&'static str, &'static str, u64)>);

const EVENT: &str = "evt_00000000000000000000000000000000";

/// The rows, about a job; what belongs to no delivery is one, too.
fn table(job: &str) -> Vec<Row> {
    let field = |word: &'static str| {
        let (name, kind) = word.split_once('=').unwrap_or((word, word));
        let (kind, most) = kind.split_once(':').unwrap_or((kind, "0"));
        (name, kind, most.parse::<u64>().unwrap())
    };
    let row = |line: &'static str| -> Row {
        let mut words = line.split(' ');
        let tool = words.next().unwrap();
        let good = words.next().unwrap().replace("JOB", job);
        let good = serde_json::from_str(&good.replace("EVENT", EVENT)).unwrap();
        (tool, good, words.map(field).collect())
    };
    ROWS.lines().map(row).collect()
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!(text)).collect()
}

/// What is wrong for a kind, beside another type.
fn wrong(kind: &str, most: u64) -> Vec<Value> {
    let long = "x".repeat(600_000);
    let more = || "x".repeat(usize::try_from(most).unwrap() + 1);
    match kind {
        "job" | "repo" | "agent" | "event" | "pull" | "choice" => texts(&[
            "../secrets",
            "/etc/passwd",
            "a\r\nset-cookie: b",
            "a\u{7}b",
            "a\u{1b}[2Jb",
            "",
            &long,
        ]),
        "branch" => texts(&["a..b", "a\r\nb", "a\u{7}b", "", "-x"]),
        "key" => texts(&["a\r\nb", "a\u{7}b", "ключ", &long]),
        "cursor" => texts(&["x", "../x", "a\r\nb", "a\u{7}b", &long]),
        "words" => texts(&[&more(), &more()[1..].replace('x', "\u{7}")]),
        "reason" => texts(&[&more()]),
        "unused" => texts(&["a\u{7}b", "a\r\nb"]),
        "number" => vec![json!(-1), json!(most + 1), json!(1.5), json!(1e99)],
        "title" | "path" | "flag" | "object" | "list" => Vec::new(),
        other => panic!("`{other}` is no kind"),
    }
}

/// Values of another type.
fn mistyped(kind: &str) -> Vec<Value> {
    match kind {
        "number" | "flag" => vec![json!("seven"), json!([]), json!({})],
        "object" => vec![json!(7), json!(true)],
        "list" => vec![json!(7), json!("x"), json!({ "x": 1 }), json!([7])],
        _ => vec![json!(7), json!([]), json!({ "x": 1 })],
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
    let job = jobs::create(&world);
    let before = stored(&world);
    let mut speaker = Speaker::greeted(&world);
    let listed = speaker.ask("tools/list", json!({}))["result"]["tools"].clone();
    let rows = table(&job);
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
            fields.iter().map(|(name, ..)| *name).collect(),
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
        for (name, kind, most) in fields {
            let values = wrong(kind, most).into_iter().chain(mistyped(kind));
            tried.extend(values.map(|value| (name.to_owned(), with(&good, name, &value))));
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
