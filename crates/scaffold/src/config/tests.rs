//! What settings are read, and what is said of those that are not.

use super::{Clock, parse};

const WHOLE: &str = r#"
[run]
jlo_target_branch = "main"
jules_worker_branch = "jules"

[workflow]
runner_mode = "remote"
cron = ["0 20 * * *", "0 8 * * 1"]
timezone = "Europe/Berlin"
wait_minutes_default = 45

[observers]
roles = [
  { name = "taxonomy", enabled = true },
  { name = "qa", enabled = false },
]

[[innovators.roles]]
name = "recruiter"

[workstreams.backend]
observers = [{ name = "taxonomy" }]
deciders = [{ name = "triage" }]

[jules_api]
api_url = "https://elsewhere.example/v1"
timeout_secs = 30
max_retries = 3
retry_delay_ms = 1000
"#;

/// Everything that is said of a file, a line each.
fn said(text: &str) -> Vec<String> {
    match parse("c", text) {
        Ok(config) => panic!("it is read: {config:?}"),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_whole_file_is_read() {
    let config = parse("c", WHOLE).unwrap();
    assert_eq!(config.workflow.wait_minutes, 45);
    assert_eq!(config.workflow.cron[1].expression, "0 8 * * 1");
    assert_eq!(config.workflow.timezone.as_deref(), Some("Europe/Berlin"));
    let observers: Vec<_> = config
        .observers
        .iter()
        .map(|r| (r.name.as_str(), r.enabled, r.line))
        .collect();
    assert_eq!(observers, [("taxonomy", true, 14), ("qa", false, 15)]);
    assert!(config.innovators[0].enabled);
    assert_eq!(
        config.workstreams[&"backend".parse().unwrap()].deciders[0]
            .name
            .as_str(),
        "triage"
    );
}

#[test]
fn an_empty_file_has_the_defaults_and_no_address() {
    let config = parse("c", "").unwrap();
    assert_eq!(config.target_branch.as_str(), "main");
    assert_eq!(config.worker_branch.as_str(), "jules");
    assert_eq!(config.workflow.clock, Clock::Gaffer);
    assert_eq!(config.workflow.wait_minutes, 30);
    let with_api = parse("c", "[jules_api]\napi_url = \"https://evil.example\"\n").unwrap();
    assert_eq!(with_api, config);
}

#[test]
fn unknown_keys_name_the_nearest() {
    assert_eq!(
        said("[workflw]\n"),
        ["c:1: `workflw` is no key of the file; did you mean `workflow`?"]
    );
    assert_eq!(
        said("[workflow]\ntimezon = \"UTC\"\n"),
        ["c:2: `timezon` is no key of `[workflow]`; did you mean `timezone`?"]
    );
    assert_eq!(
        said("[observers]\nroles = [{ name = \"qa\", enable = true }]\n"),
        ["c:2: `enable` is no key of a role; did you mean `enabled`?"]
    );
    assert_eq!(
        said("[workstreams.backend]\nobserver = []\n"),
        ["c:2: `observer` is no key of `[workstreams.backend]`; did you mean `observers`?"]
    );
}

#[test]
fn removed_keys_and_zeros_are_refused() {
    let what = "is not set here: Gaffer's slots say how many run at once";
    assert_eq!(
        said("[run]\nparallel = true\n"),
        [format!("c:2: `parallel` {what}")]
    );
    assert_eq!(
        said("[jules_api]\ntimeout_secs = 0\n\nmax_retries = -1\n"),
        [
            "c:2: `timeout_secs` is a whole number from 1 to 4294967295",
            "c:4: `max_retries` is a whole number from 1 to 4294967295",
        ]
    );
    assert_eq!(
        said("[workflow]\nwait_minutes_default = 0\n"),
        ["c:2: `wait_minutes_default` is a whole number from 1 to 1440"]
    );
}

#[test]
fn equal_and_bad_branches_are_refused() {
    let same = "is the same branch as the other one; the worker branch is one of its own";
    assert_eq!(
        said("[run]\njlo_target_branch = \"jules\"\n"),
        [format!("c:2: `jlo_target_branch` {same}")]
    );
    for bad in [
        "-x",
        "a b",
        "a..b",
        "/a",
        "a.lock",
        "@",
        "a\\u0007",
        "a\\u202eb",
    ] {
        let text = format!("[run]\njules_worker_branch = \"{bad}\"\n");
        assert_eq!(
            said(&text),
            ["c:2: `jules_worker_branch` is no name of a branch"]
        );
    }
}

#[test]
fn doubled_and_bad_ids_are_refused() {
    assert_eq!(
        said(
            "[observers]\nroles = [\n  { name = \"qa\" },\n  { name = \"qa\" },\n  { name = \"../x\" },\n  {},\n]\n"
        ),
        [
            "c:2: a role here has no `name`",
            "c:4: `qa` is scheduled twice",
            "c:5: `../x` is not a valid role: 1 to 40 of a-z, 0-9, `_`, `-`, a letter first",
        ]
    );
    assert_eq!(said("[workstreams.generic]\n").len(), 1);
    assert_eq!(said("[workstreams.\"../x\"]\n").len(), 1);
}

#[test]
fn doubled_schedules_and_addresses_in_the_clear_are_refused() {
    assert_eq!(
        said("[workflow]\ncron = [\n  \"0 8 * * *\",\n  \"0 8 * * *\",\n  7,\n]\n"),
        [
            "c:4: `0 8 * * *` stands in the list twice",
            "c:5: `cron` is a list of texts",
        ]
    );
    assert_eq!(
        said("[jules_api]\napi_url = \"http://jules.googleapis.com\"\n"),
        ["c:2: `api_url` starts with `https://`"]
    );
}

#[test]
fn what_is_no_time_and_no_zone_is_refused_in_its_line() {
    let text = "[workflow]\ntimezone = \"Europe/Berlon\"\ncron = [\n  \"0 20 * * *\",\n  \"0 0 30 2 *\",\n  \"20\",\n]\n";
    let found = said(text);
    assert_eq!(
        found[..2],
        [
            "c:2: `timezone` names no time zone; did you mean `Europe/Berlin`?",
            "c:5: `0 0 30 2 *` names a time that never comes",
        ]
    );
    assert!(found[2].starts_with("c:6: `20` is no cron expression of five fields"));
    assert_eq!(found.len(), 3);
    let many: Vec<String> = (0..21)
        .map(|minute| format!("\"{minute} * * * *\""))
        .collect();
    let many = format!("[workflow]\ncron = [{}]\n", many.join(", "));
    assert_eq!(said(&many), ["c:2: `cron` has more than 20 expressions"]);
}

#[test]
fn a_byte_order_mark_crlf_and_tabs_change_nothing() {
    let windows = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n")).replace("  {", "\t{");
    assert_eq!(parse("c", &windows), parse("c", WHOLE));
    assert_eq!(said("\u{feff}[run]\r\n\tx = 1\r\n").len(), 1);
    assert!(said("[run]\r\n\tx = 1\r\n")[0].starts_with("c:2: "));
}

#[test]
fn what_is_no_toml_names_its_line() {
    assert!(said("[run]\na = 1\na = 2\n")[0].starts_with("c:3: "));
    assert!(said("[run]\nx = \n")[0].starts_with("c:2: "));
}

#[test]
fn more_roles_than_a_step_has_are_refused() {
    let roles = |from: usize, count: usize, enabled: bool| {
        let rows = from..from + count;
        let rows = rows.map(|n| format!("{{ name = \"r{n}\", enabled = {enabled} }}"));
        rows.collect::<Vec<_>>().join(", ")
    };
    for layer in ["observers", "innovators"] {
        let text = |count| format!("[{layer}]\nroles = [{}]\n", roles(0, count, true));
        assert!(parse("c", &text(20)).is_ok());
        let [found] = &said(&text(21))[..] else {
            panic!("{layer}")
        };
        assert!(
            found.starts_with(&format!("c:1: `{layer}` has 21 enabled roles")),
            "{found}"
        );
    }
    let off = format!(
        "[observers]\nroles = [{}, {}]\n",
        roles(0, 20, true),
        roles(20, 9, false)
    );
    assert!(parse("c", &off).is_ok());
    let streams = |on: bool| {
        format!(
            "[observers]\nroles = [{}]\n[workstreams.backend]\nenabled = {on}\nobservers = [{}]\n",
            roles(0, 15, true),
            roles(0, 6, true)
        )
    };
    assert_eq!(said(&streams(true)).len(), 1);
    assert!(parse("c", &streams(false)).is_ok());
}

#[test]
fn a_stream_has_a_decider_unless_each_is_switched_off() {
    let decides = |deciders: &str| {
        let text = format!("[workstreams.backend]\ndeciders = [{deciders}]\n");
        let config = parse("c", &text).unwrap();
        let (_, stream) = config.streams().next().unwrap();
        stream.decides()
    };
    assert!(decides(""));
    assert!(decides(
        "{ name = \"a\", enabled = false }, { name = \"b\" }"
    ));
    assert!(!decides("{ name = \"a\", enabled = false }"));
}
