//! Bad values at every argument of every command: refused by name, before anything is done.

use super::*;

/// What an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A name, a number, a duration, an address or one of some words.
    Strict,
    /// The same, or nothing.
    Perhaps,
    /// Words that can be seen, on one line and not many.
    Words,
    /// Words of any kind, but some. What is too long is refused where they are read.
    Text,
    /// A file or a folder, also above the present one.
    Place,
    /// Free text for another reader.
    Theirs,
}

use Kind::{Perhaps, Place, Strict, Text, Theirs, Words};

/// Arguments that several commands have.
const GROUPS: [(&str, &str); 5] = [
    // Where the world outside is.
    (
        "OUTSIDE",
        "jules_base github_base github_app_id allow_hosts",
    ),
    // What may be done in a source, and when.
    (
        "POLICY",
        "merge plan_approval answers merge_method other_merge_methods min_checks \
         required_checks=words protected_paths blocking_labels=words merges_per_day \
         adopted_may_merge keep_branch ci_repairs comment_when_blocked blocked_label=words \
         stuck_after stuck_after_queued text_wait not_found_grace quiet watch_completed settle \
         ci_start ci_repair_after pull_poll",
    ),
    // How issues become deliveries, and how those go.
    (
        "RULES",
        "label=words endpoint checkpoints checkpoints_by plan_by review_by review_rounds attempts \
         deploy observe issue_comment",
    ),
    // A run of one layer.
    (
        "OF_LAYER",
        "layer requirement requirement_file within role stream task=words github_repository mock",
    ),
    ("PLAN", "plan concurrent per_day agent"),
];

/// Every command with its arguments, those of all commands first. What is not named is strict.
const ROWS: &str = "\
: data=place stack
init: repo account key_file=place github_token_file=place agent agent_url branch jules_base github_base POLICY
up: listen service OUTSIDE
demo: keep=place
sandbox: listen scenario=place folder=place issue=words
account:
account add: name key_file=place PLAN
account set: name PLAN requests_a_day
account list:
account remove: name
source:
source add: repo account branch agent POLICY RULES
source set: repo account branch agent repository_id POLICY RULES
source list:
source show: repo
source remove: repo
source sync: repo url
source pause: repo
source resume: repo
agent:
agent add: name notify url channel
agent set: name url channel resume=words
agent test: name within
agent list:
agent show: name
agent rotate: name
agent remove: name
github:
github setup: org name=words webhook_url listen app_id key_file=place within github_base
github token: github_base
secret:
secret set: name
secret list:
token:
token create: name scope expires agent persona
token list:
token revoke: name
job: url
job create: repo branch title=words agent priority resume=words prompt=text prompt_file=place task=text until within
job list: repo limit states
job show: id
job messages: id cursor
job register: id metadata repo agent
job why: id
job events: id
job wait: ids until within
job open: id
job say: id text=text
job approve: id plan
job merge: id sha method title=words
job cancel: id
job retry: id reason=text
job adopt: session repo agent
job artifacts: id
delivery: url
delivery list: repo phase needs limit
delivery show: id
delivery create: repo summary=text issue description=text criteria=text refs priority
delivery start: id
delivery approve: id sha plan
delivery reject: id reason=text
delivery verdict: id verdict sha summary=text feedback=text
delivery plan: id file=place target_files=words
delivery edit: id summary=text criteria=text refs priority
delivery collect: id session
delivery analysis: id text=text suggestion=text run
delivery split: id file=place parts=text
delivery retry: id reason=text
delivery cancel: id
delivery why: id
delivery transcript: id run
delivery wait: id until within
delivery board: repo
pipeline: url
pipeline on: repo exchange implement worker
pipeline off: repo
pipeline start: repo from within
pipeline list: repo limit
pipeline show: id
pipeline why: id
pipeline cancel: id
requirement: url
requirement list: repo
requirement show: repo id
requirement start: repo id
sprint: url
sprint set: repo parallel at_once member_timeout next integration
sprint start: repo number personas
sprint status: repo number
sprint list: repo limit
sprint why: repo number
sprint tick: repo number
sprint integrate: repo number
sprint abort: repo number
sprint state: repo number
scaffold:
scaffold init:
scaffold bootstrap:
scaffold upgrade:
scaffold migrate:
scaffold deinit:
scaffold doctor: revision=words
role:
role add: layer role
role create: layer role
role delete: layer role
role list: layer
role show: layer role
role validate: layer role
persona:
persona init: dir=place
persona list: dir=place
persona show: id dir=place
persona validate: dir=place
setup:
setup gen:
setup list: detail=words
exchange:
exchange inspect: revision=words stream
exchange publish-proposals: repo url within github_repository
exchange clean:
exchange clean requirement: repo url within github_repository path
exchange clean mock: repo url within github_repository tag
labels:
labels sync: repo url within github_repository
workflow:
workflow generate: runner
workflow run: repo url OF_LAYER
run: repo url OF_LAYER branch job
mail: repo url
mail send: to subject=words body=theirs attach from
mail inbox: persona
mail sent: persona
mail read: id persona
mail tag:
mail tag add: id tag persona
mail tag rm: id tag persona
mail tag ls: id persona
mail trash: id persona
mail untrash: id persona
mail log:
mail stats:
mail verify:
mail rebuild:
mail restore:
mail seal:
mail export:
mail import: file=place
weave: what=place local=place rev=words order base patch=place push github_base github_app_id
jobs:
jobs import: file=place repo agent
jobs export:
events:
events export: after config=place
monitor: config=place repo agent OUTSIDE
dashboard: url
pull: url
pull list: repo
pull why: pull
mcp: url toolsets=perhaps
mcp install: client
mcp skill:
mcp call: tool=words arguments=theirs
wake:
wake list: agent job state since limit
wake show: event
wake replay: event since agent
watch: agent events=place at_once timeout config=place url command=theirs
handle-event: event=theirs url
pause: source
resume: source
status:
top: url
logs: id pipeline delivery
cost: a_day
dlq: queue
dlq list:
dlq show: id=words
dlq redrive: id=words
dlq drop: id=words
doctor: source webhook_url OUTSIDE
backup: file=place
restore: file=place
export: format
import: file=place
completions: shell";

/// What has to stand before the second argument of a command.
const BEFORE: [(&str, &str); 22] = [
    ("persona show", "curator"),
    ("job say", "01j00000000000000000000000"),
    ("delivery verdict", "0123456789ab"),
    ("delivery collect", "0123456789ab"),
    ("mcp call", "jules_get_job"),
    ("mail tag add", "42"),
    ("mail tag rm", "42"),
    ("run", "planner"),
    ("workflow run", "planner"),
    ("requirement show", "acme/shop"),
    ("requirement start", "acme/shop"),
    ("sprint status", "acme/shop"),
    ("sprint why", "acme/shop"),
    ("sprint tick", "acme/shop"),
    ("sprint integrate", "acme/shop"),
    ("sprint abort", "acme/shop"),
    ("sprint state", "acme/shop"),
    ("role add", "observers"),
    ("role create", "observers"),
    ("role delete", "observers"),
    ("role show", "observers"),
    ("role validate", "observers"),
];

/// The values that an argument has to refuse.
fn wrong_for(kind: Kind) -> Vec<String> {
    let long = "x".repeat(100_000);
    let own = |wrong: &[&str]| wrong.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    match kind {
        Strict => [
            own(&["", " ", "a\u{7}b", "\u{1b}[2J", "a\r\nb", "a\n\nb", "../x"]),
            vec![long],
        ]
        .concat(),
        Perhaps => [
            own(&["a\u{7}b", "\u{1b}[2J", "a\r\nb", "a\n\nb", "../x"]),
            vec![long],
        ]
        .concat(),
        Words => [
            own(&["", " ", "a\u{7}b", "\u{1b}[2J", "a\r\nb"]),
            vec![long],
        ]
        .concat(),
        Place => own(&["", "a\u{7}b", "\u{1b}[2J", "a\r\nb"]),
        Text => own(&["", "  "]),
        Theirs => Vec::new(),
    }
}

/// Every command that people type, with its own arguments that take a value.
fn commands() -> Vec<(String, Vec<clap::Arg>)> {
    fn walk(
        command: &clap::Command,
        (name, above): (&str, &[String]),
        found: &mut Vec<(String, Vec<clap::Arg>)>,
    ) {
        let own = command.get_arguments().filter(|arg| {
            arg.get_action().takes_values() && !above.contains(&arg.get_id().to_string())
        });
        found.push((name.to_owned(), own.cloned().collect()));
        let global = command.get_arguments().filter(|arg| arg.is_global_set());
        let above: Vec<String> = global.map(|arg| arg.get_id().to_string()).collect();
        for sub in command
            .get_subcommands()
            .filter(|sub| sub.get_name() != groups::HELP)
        {
            let name = format!("{name} {}", sub.get_name());
            walk(sub, (name.trim(), &above), found);
        }
    }
    let mut command = CommandLine::command();
    command.build();
    let mut found = Vec::new();
    walk(&command, ("", &[]), &mut found);
    found
}

/// An argument of a row, and what it takes.
fn taken(word: &'static str) -> (&'static str, Kind) {
    let (id, kind) = word.split_once('=').unwrap_or((word, "strict"));
    let kind = match kind {
        "strict" => Strict,
        "perhaps" => Perhaps,
        "words" => Words,
        "text" => Text,
        "place" => Place,
        "theirs" => Theirs,
        other => panic!("`{other}` is no kind"),
    };
    (id, kind)
}

fn row(name: &str) -> Option<Vec<(&'static str, Kind)>> {
    let mut rows = ROWS.lines().filter_map(|row| row.split_once(':'));
    let (_, arguments) = rows.find(|(row, _)| *row == name)?;
    let words = arguments.split_whitespace().flat_map(|word| {
        let group = GROUPS.iter().find(|(group, _)| *group == word);
        group.map_or(word, |(_, words)| *words).split_whitespace()
    });
    Some(words.map(taken).collect())
}

#[test]
fn every_command_and_every_argument_has_a_row() {
    let commands = commands();
    let mut faults = Vec::new();
    for (name, arguments) in &commands {
        let mut wanted: Vec<_> = arguments.iter().map(|arg| arg.get_id().as_str()).collect();
        let row = row(name).unwrap_or_default();
        let mut had: Vec<_> = row.iter().map(|(id, _)| *id).collect();
        wanted.sort_unstable();
        had.sort_unstable();
        if had != wanted {
            faults.push(format!(
                "`gaffer {name}` takes {wanted:?}, and its row has {had:?}"
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(
        ROWS.lines().count(),
        commands.len(),
        "a row names no command"
    );
}

/// A command line with one bad value. Missing arguments are reported only when all values are good.
fn typed(name: &str, arg: &clap::Arg, value: &str) -> Vec<String> {
    let mut line = vec!["gaffer".to_owned()];
    line.extend(name.split_whitespace().map(str::to_owned));
    match arg.get_long() {
        Some(long) => line.push(format!("--{long}={value}")),
        None => {
            if arg.get_index() == Some(2) {
                let before = BEFORE.iter().find(|(command, _)| *command == name);
                line.push(before.unwrap().1.to_owned());
            }
            // So that it is no option.
            line.extend(["--".to_owned(), value.to_owned()]);
        }
    }
    line
}

/// What is wrong with how a bad value is refused.
fn fault(
    command: &mut clap::Command,
    (name, arg): (&str, &clap::Arg),
    value: &str,
) -> Option<String> {
    let line = typed(name, arg, value);
    let shown: String = value.chars().take(20).collect();
    let fault = |what: &str| {
        Some(format!(
            "gaffer {name}: {} = {shown:?}: {what}",
            arg.get_id()
        ))
    };
    let Err(error) = command.try_get_matches_from_mut(&line) else {
        return fault("it is taken");
    };
    let told = crate::error::describe_usage(&error, groups::command);
    let called = match (arg.get_long(), arg.get_value_names()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some([called, ..])) => called.to_string(),
        (None, Some([]) | None) => arg.get_id().to_string().to_uppercase(),
    };
    let named = told.what.contains(&called);
    let repeated = value.chars().any(|c| c.is_control()) || told.what.contains(value.trim());
    let clipped = value.len() > 1_000 && told.what.contains(&value[..60]);
    if error.exit_code() != 2 {
        fault("it ends with another exit code")
    } else if !named {
        fault(&format!("the argument is not named: {}", told.what))
    } else if !(repeated || clipped) {
        fault(&format!("the value is not told: {}", told.what))
    } else if told.what.len() > 1_500 || told.what.chars().any(char::is_control) {
        fault("it is told at length, or with control characters")
    } else {
        None
    }
}

#[test]
fn bad_values_are_refused_with_their_argument() {
    let mut faults = Vec::new();
    let mut command = CommandLine::command();
    command.build();
    for (name, arguments) in commands() {
        let row = row(&name).unwrap_or_default();
        for arg in &arguments {
            let Some((_, kind)) = row.iter().find(|(id, _)| id == arg.get_id()) else {
                // Another test covers it.
                continue;
            };
            let kind = *kind;
            let wrong = wrong_for(kind);
            faults.extend(
                wrong
                    .iter()
                    .filter_map(|value| fault(&mut command, (&name, arg), value)),
            );
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
