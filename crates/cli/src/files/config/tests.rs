//! Every key, right and wrong.

use serde_json::json;

use super::*;

/// The example of the document that the keys come from.
const SEED: &str = r#"{
  "jobs_path": "zai-jules-manager/zai_jobs.jsonl",
  "events_path": "zai-jules-manager/zai_events.jsonl",
  "monitor_state_path": "zai-jules-manager/.zai_monitor_state.json",
  "watcher_state_path": "zai-jules-manager/.zai_watcher_state.json",
  "monitor_poll_seconds": 45,
  "watcher_poll_seconds": 1,
  "stuck_minutes": 20,
  "api_base": "https://jules.googleapis.com/v1",
  "mcp_command": ["python", "zai-jules-manager/mcp-server/jules_mcp_server.py"],
  "zai_command": ["zai", "handle-event"]
}"#;

const PAGE: &str = include_str!("../../../../../docs/files.md");

fn usual() -> Config {
    Config::usual(Path::new("data"))
}

fn read(text: &str) -> Result<(Config, Vec<String>), String> {
    Config::read(text, usual())
}

#[test]
fn the_seeds_own_file_is_understood_whole() {
    let (config, warnings) = read(SEED).unwrap();
    let folder = Path::new("zai-jules-manager");
    let wanted = Config {
        jobs_path: folder.join("zai_jobs.jsonl"),
        events_path: folder.join("zai_events.jsonl"),
        monitor_state_path: folder.join(".zai_monitor_state.json"),
        watcher_state_path: folder.join(".zai_watcher_state.json"),
        monitor_poll: MONITOR_POLL,
        watcher_poll: WATCHER_POLL,
        stuck_after: Some(SignedDuration::from_mins(20)),
        api_base: Some("https://jules.googleapis.com/v1".to_owned()),
        zai_command: vec!["zai".into(), "handle-event".into()],
    };
    assert_eq!(config, wanted);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("`mcp_command` is not used"));
}

#[test]
fn without_a_file_the_defaults_hold() {
    let nowhere = Path::new("no/such/folder");
    let (config, warnings) = Config::find(None, nowhere).unwrap();
    assert_eq!((config, warnings), (Config::usual(nowhere), Vec::new()));
    let (config, warnings) = Config::find(Some(&nowhere.join("x.json")), nowhere).unwrap();
    assert_eq!(config, Config::usual(nowhere));
    assert!(warnings[0].contains("x.json"), "{warnings:?}");
    assert_eq!(read("{}").unwrap(), (usual(), Vec::new()));
}

#[test]
fn an_unknown_key_is_told_with_the_nearest() {
    for (strange, nearest) in [
        ("jobs_pth", "jobs_path"),
        ("poll_seconds_monitor", "monitor_poll_seconds"),
        ("stuck_minute", "stuck_minutes"),
        ("apibase", "api_base"),
    ] {
        let (config, warnings) = read(&json!({ strange: 1 }).to_string()).unwrap();
        assert_eq!(config, usual());
        let told = &warnings[0];
        assert!(told.contains(strange), "{told}");
        assert!(nearest != "monitor_poll_seconds" || told.contains("_seconds"));
        assert!(
            nearest == "monitor_poll_seconds" || told.contains(nearest),
            "{told}"
        );
    }
}

#[test]
fn what_is_wrong_is_told_with_its_key_and_value() {
    let long = "x".repeat(10_000);
    for (key, value) in [
        ("jobs_path", json!(7)),
        ("jobs_path", json!("")),
        ("events_path", json!("a\u{1b}b")),
        ("events_path", json!("a\r\nb")),
        ("monitor_state_path", json!(["x"])),
        ("watcher_state_path", json!(null)),
        ("monitor_poll_seconds", json!(-5)),
        ("monitor_poll_seconds", json!(0)),
        ("monitor_poll_seconds", json!("45")),
        ("monitor_poll_seconds", json!(1e12)),
        ("watcher_poll_seconds", json!(true)),
        ("stuck_minutes", json!(-1)),
        ("stuck_minutes", json!(99_999_999)),
        ("api_base", json!("jules")),
        ("api_base", json!(long)),
        ("mcp_command", json!([])),
        ("mcp_command", json!([1])),
        ("zai_command", json!("")),
        ("zai_command", json!({})),
        ("zai_command", json!([""])),
    ] {
        let told = read(&json!({ key: value }).to_string()).unwrap_err();
        assert!(told.contains(&format!("`{key}` is ")), "{told}");
        assert!(told.len() < 400, "{} bytes for {key}", told.len());
    }
    for text in ["", "[]", "7", "{\"jobs_path\": }", "{"] {
        assert!(read(text).unwrap_err().contains("no JSON object"), "{text}");
    }
}

#[test]
fn paths_may_climb_and_a_command_may_be_one_line() {
    let text = r#"{"jobs_path": "../jobs.jsonl", "zai_command": "zai handle-event"}"#;
    let (config, _) = read(text).unwrap();
    assert_eq!(config.jobs_path, Path::new("../jobs.jsonl"));
    assert_eq!(config.zai_command, ["sh", "-c", "zai handle-event"]);
}

#[test]
fn the_page_names_every_key() {
    for key in KEYS {
        assert!(PAGE.contains(&format!("| `{key}` |")), "{key}");
        let known = read(&json!({ key: {} }).to_string());
        assert!(known.is_err(), "{key} is not read");
    }
}
