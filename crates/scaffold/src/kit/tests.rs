//! Workflows of different settings, read back as YAML.

use super::*;
use crate::config::parse;
use crate::yaml::{self, Node};

fn settings(workflow: &str) -> Config {
    parse(CONFIG, &format!("[workflow]\n{workflow}")).unwrap()
}

fn texts(config: &Config, asked: Option<Runner>) -> [Option<String>; 2] {
    workflows(config, asked).unwrap().map(|it| it.text)
}

fn at<'n>(node: &'n Node, keys: &[&str]) -> &'n Node {
    keys.iter().fold(node, |node, key| node.get(key).unwrap())
}

fn words(node: &Node) -> Vec<&str> {
    node.list().unwrap().iter().filter_map(Node::text).collect()
}

#[test]
fn without_a_clock_of_its_own_a_repository_gets_the_doctor_alone() {
    let [doctor, relay] = texts(&settings("cron = [\"0 20 * * *\"]\n"), None);
    let doctor = doctor.unwrap();
    assert!(is_generated(&doctor) && doctor.ends_with("doctor --ref HEAD\n"));
    assert_eq!(relay, None);
    let node = yaml::parse(DOCTOR, doctor.as_bytes()).unwrap();
    for event in ["push", "pull_request"] {
        let branches = at(&node, &["on", event, "branches"]);
        assert_eq!(words(branches), ["main", "jules"]);
    }
    let runner = at(&node, &["jobs", "doctor", "runs-on"]);
    assert_eq!(runner.text(), Some("ubuntu-latest"));
}

#[test]
fn with_the_clock_of_actions_it_gets_the_times_too() {
    let workflow =
        "clock = \"actions\"\ntimezone = \"UTC\"\ncron = [\"0 20 * * *\", \"30 6 * * MON-FRI\"]\n";
    let [_, relay] = texts(&settings(workflow), Some(Runner::SelfHosted));
    let relay = relay.unwrap();
    assert!(is_generated(&relay));
    let node = yaml::parse(RELAY, relay.as_bytes()).unwrap();
    let times = at(&node, &["on", "schedule"]).list().unwrap().iter();
    let times: Vec<_> = times.filter_map(|it| it.get("cron")?.text()).collect();
    assert_eq!(times, ["0 20 * * *", "30 6 * * MON-FRI"]);
    let runner = at(&node, &["jobs", "begin", "runs-on"]);
    assert_eq!(runner.text(), Some("self-hosted"));
    let by_hand = texts(&settings("clock = \"actions\"\n"), None);
    let node = yaml::parse(RELAY, by_hand[1].as_deref().unwrap().as_bytes()).unwrap();
    assert!(at(&node, &["on"]).get("schedule").is_none());
}

/// A new step to begin with has to stand in the list as well.
#[test]
fn by_hand_a_run_begins_with_each_step_that_runs_begin_with() {
    let [_, relay] = texts(&settings("clock = \"actions\"\n"), None);
    let node = yaml::parse(RELAY, relay.unwrap().as_bytes()).unwrap();
    let options = at(
        &node,
        &["on", "workflow_dispatch", "inputs", "from", "options"],
    );
    let read = |name: &&str| name.parse::<domain::pipeline::EntryPoint>().unwrap().name();
    let steps: Vec<_> = words(options).iter().map(read).collect();
    assert_eq!(steps, words(options));
    assert_eq!(steps.len(), 5);
}

#[test]
fn a_machine_is_named_on_the_line_or_in_the_settings() {
    let runner = |config: &Config, asked| {
        let [doctor, _] = texts(config, asked);
        let node = yaml::parse(DOCTOR, doctor.unwrap().as_bytes()).unwrap();
        let runner = at(&node, &["jobs", "doctor", "runs-on"]).text();
        runner.map(str::to_owned).unwrap()
    };
    let named = settings("runner_mode = \"true\"\n");
    assert_eq!(runner(&named, None), "true");
    assert_eq!(runner(&named, Some(Runner::Remote)), "ubuntu-latest");
    let label: Runner = "gpu_2.big".parse().unwrap();
    assert_eq!(runner(&settings(""), Some(label)), "gpu_2.big");
    let odd = "[workflow]\nrunner_mode = \"a\\nb: c\"\n";
    assert_eq!(parse(CONFIG, odd).unwrap_err()[0].line, 2);
    for text in ["", "-x", "a b", "a:b", "\u{e4}", &"a".repeat(300)] {
        assert!(text.parse::<Runner>().is_err(), "{text}");
    }
}

#[test]
fn what_actions_cannot_keep_is_refused_with_its_place() {
    let said = |workflow: &str| match parse(
        CONFIG,
        &format!("[workflow]\nclock = \"actions\"\n{workflow}"),
    ) {
        Ok(config) => workflows(&config, None).unwrap_err().to_string(),
        Err(faults) => faults[0].to_string(),
    };
    let zone = said("timezone = \"Europe/Berlin\"\n");
    assert!(zone.contains("`Europe/Berlin`") && zone.contains("UTC"));
    for time in ["0 20 * *", "0 20 * * * *", "@daily", "0 20 * * *\\n- x"] {
        let said = said(&format!("cron = [\"{time}\"]\n"));
        assert!(said.starts_with(".jlo/config.toml:3: `"), "{said}");
    }
    // Gaffer's own clock reads other zones.
    let ours = settings("timezone = \"Europe/Berlin\"\ncron = [\"0 20 * * *\"]\n");
    assert!(workflows(&ours, None).is_ok());
}

#[test]
fn a_branch_is_matched_by_its_name_and_nothing_else() {
    let named = "[run]\njlo_target_branch = \"c++\"\njules_worker_branch = \"bots/#1\"\n";
    let [doctor, _] = texts(&parse(CONFIG, named).unwrap(), None);
    let node = yaml::parse(DOCTOR, doctor.unwrap().as_bytes()).unwrap();
    let branches = at(&node, &["on", "push", "branches"]);
    assert_eq!(words(branches), [r"c\+\+", "bots/#1"]);
}

#[test]
fn no_secret_stands_in_a_workflow_and_no_text_of_others_in_a_script() {
    let [doctor, relay] = texts(&settings("clock = \"actions\"\n"), None);
    let (doctor, relay) = (doctor.unwrap(), relay.unwrap());
    assert!(relay.contains("GAFFER_TOKEN: ${{ secrets.GAFFER_TOKEN }}"));
    for (name, text) in [(DOCTOR, doctor), (RELAY, relay)] {
        let node = yaml::parse(name, text.as_bytes()).unwrap();
        let jobs = at(&node, &["jobs"]).map().unwrap();
        for job in jobs {
            let steps = at(&job.node, &["steps"]).list().unwrap();
            let scripts = steps.iter().filter_map(|it| it.get("run")?.text());
            for script in scripts {
                assert!(!script.contains("${{"), "{script}");
            }
        }
    }
}
