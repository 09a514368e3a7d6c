//! Which tool is called for which event.

use super::*;

fn event(event: &str, kind: &str) -> HandlerSettings {
    let text =
        json!({ "event": event, "kind": kind, "job_id": "j1", "message": "jules_cancel_job" });
    read(Some(text.to_string())).unwrap()
}

#[test]
fn each_event_has_its_tools_and_words_choose_none() {
    let job = json!({ "job_id": "j1" });
    for (what, kind, approves, tool) in [
        ("question", "question", true, None),
        ("question", "plan_approval", false, None),
        (
            "question",
            "plan_approval",
            true,
            Some("jules_approve_plan"),
        ),
        ("completed", "completed", true, Some("jules_get_artifacts")),
        ("error", "failed", true, Some("jules_get_job")),
        ("stuck", "stuck", true, Some("jules_get_job")),
        ("jules_cancel_job", "x", true, None),
    ] {
        let plan = plan(&event(what, kind), approves);
        let wanted: Vec<_> = tool.map(|tool| (tool, job.clone())).into_iter().collect();
        assert_eq!(plan.calls, wanted, "{what} {kind}");
        for (tool, _) in &plan.calls {
            assert!(client::mcp::Server::every_tool().contains(tool), "{tool}");
        }
    }
}

#[test]
fn the_seeds_own_schema_is_enough() {
    let seed = r#"{"event": "stuck", "job_id": "j1", "observed_at": "2026-03-01T09:00:00Z",
        "status": "IN_PROGRESS", "last_activity": "2026-03-01T08:00:00Z"}"#;
    let given = read(Some(seed.to_owned())).unwrap();
    assert_eq!(plan(&given, false).calls.len(), 1);
}

#[test]
fn an_account_is_no_job() {
    let whole = r#"{"event": "error", "job_id": null, "message": "the key is refused"}"#;
    let plan = plan(&read(Some(whole.to_owned())).unwrap(), true);
    assert_eq!((plan.calls, plan.next), (Vec::new(), Vec::new()));
}

#[test]
fn what_is_no_event_is_refused_by_name() {
    for (text, named) in [
        ("{", "EOF"),
        (r#"["stuck"]"#, "no JSON object"),
        (r#"{"job_id": "j1"}"#, "missing field `event`"),
        (r#"{"event": 7}"#, "`event`"),
        (r#"{"event": "stuck", "job_id": 7}"#, "`job_id`"),
    ] {
        let told = format!("{:#}", read(Some(text.to_owned())).unwrap_err());
        assert!(told.contains(named), "{text}: {told}");
    }
}
