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

type Row = (&'static str, &'static [&'static [(&'static str, Kind)]]);

/// Where the world outside is.
const OUTSIDE: &[(&str, Kind)] = &[
    ("jules_base", Strict),
    ("github_base", Strict),
    ("github_app_id", Strict),
    ("allow_hosts", Strict),
];

/// What may be done in a source, and when.
const POLICY: &[(&str, Kind)] = &[
    ("merge", Strict),
    ("plan_approval", Strict),
    ("answers", Strict),
    ("merge_method", Strict),
    ("other_merge_methods", Strict),
    ("min_checks", Strict),
    ("required_checks", Words),
    ("protected_paths", Strict),
    ("blocking_labels", Words),
    ("merges_per_day", Strict),
    ("adopted_may_merge", Strict),
    ("keep_branch", Strict),
    ("ci_repairs", Strict),
    ("comment_when_blocked", Strict),
    ("blocked_label", Words),
    ("stuck_after", Strict),
    ("stuck_after_queued", Strict),
    ("text_wait", Strict),
    ("not_found_grace", Strict),
    ("quiet", Strict),
    ("watch_completed", Strict),
    ("settle", Strict),
    ("ci_start", Strict),
    ("ci_repair_after", Strict),
    ("pull_poll", Strict),
];

/// How issues become deliveries, and how those go.
const RULES: &[(&str, Kind)] = &[
    ("label", Words),
    ("endpoint", Strict),
    ("checkpoints", Strict),
    ("checkpoints_by", Strict),
    ("plan_by", Strict),
    ("review_by", Strict),
    ("review_rounds", Strict),
    ("attempts", Strict),
    ("deploy", Strict),
    ("observe", Strict),
    ("issue_comment", Strict),
];

/// A run that changes the exchange.
const EXCHANGE_RUN: &[(&str, Kind)] = &[("within", Strict), ("github_repository", Strict)];

/// A run of one layer.
const OF_LAYER: &[(&str, Kind)] = &[
    ("layer", Strict),
    ("requirement", Strict),
    ("requirement_file", Strict),
    ("within", Strict),
    ("role", Strict),
    ("stream", Strict),
    ("task", Words),
    ("github_repository", Strict),
    ("mock", Strict),
];

const PLAN: &[(&str, Kind)] = &[
    ("plan", Strict),
    ("concurrent", Strict),
    ("per_day", Strict),
    ("agent", Strict),
];

const ID: &[(&str, Kind)] = &[("id", Strict)];
const LETTER: &[(&str, Kind)] = &[("id", Words)];
const NAME: &[(&str, Kind)] = &[("name", Strict)];
const REPO: &[(&str, Kind)] = &[("repo", Strict)];
const NUMBER: &[(&str, Kind)] = &[("number", Strict)];
const URL: &[(&str, Kind)] = &[("url", Strict)];
const NOTIFY: &[(&str, Kind)] = &[("notify", Strict)];
const FILE: &[(&str, Kind)] = &[("file", Place)];
const DIR: &[(&str, Kind)] = &[("dir", Place)];
const CONFIG: &[(&str, Kind)] = &[("config", Place)];
const ROLE: &[(&str, Kind)] = &[("layer", Strict), ("role", Strict)];
const PERSONA: &[(&str, Kind)] = &[("persona", Strict)];
const OF_A_REPO: &[(&str, Kind)] = &[("repo", Strict), ("agent", Strict)];

/// Every command with its arguments, those of all commands first.
const ROWS: &[Row] = &[
    ("", &[&[("data", Place), ("stack", Strict)]]),
    (
        "init",
        &[
            REPO,
            &[
                ("account", Strict),
                ("key_file", Place),
                ("github_token_file", Place),
                ("agent", Strict),
                ("agent_url", Strict),
                ("branch", Strict),
                ("jules_base", Strict),
                ("github_base", Strict),
            ],
            POLICY,
        ],
    ),
    ("up", &[&[("listen", Strict), ("service", Strict)], OUTSIDE]),
    ("demo", &[&[("keep", Place)]]),
    (
        "sandbox",
        &[&[
            ("listen", Strict),
            ("scenario", Place),
            ("folder", Place),
            ("issue", Words),
        ]],
    ),
    ("account", &[]),
    ("account add", &[NAME, &[("key_file", Place)], PLAN]),
    ("account set", &[NAME, PLAN, &[("requests_a_day", Strict)]]),
    ("account list", &[]),
    ("account remove", &[NAME]),
    ("source", &[]),
    (
        "source add",
        &[
            REPO,
            &[("account", Strict), ("branch", Strict), ("agent", Strict)],
            POLICY,
            RULES,
        ],
    ),
    (
        "source set",
        &[
            REPO,
            &[
                ("account", Strict),
                ("branch", Strict),
                ("agent", Strict),
                ("repository_id", Strict),
            ],
            POLICY,
            RULES,
        ],
    ),
    ("source list", &[]),
    ("source show", &[REPO]),
    ("source remove", &[REPO]),
    ("source sync", &[REPO, URL]),
    ("source pause", &[REPO]),
    ("source resume", &[REPO]),
    ("agent", &[]),
    ("agent add", &[NAME, NOTIFY, URL, &[("channel", Strict)]]),
    (
        "agent set",
        &[NAME, URL, &[("channel", Strict), ("resume", Words)]],
    ),
    ("agent test", &[NAME, &[("within", Strict)]]),
    ("agent list", &[]),
    ("agent show", &[NAME]),
    ("agent rotate", &[NAME]),
    ("agent remove", &[NAME]),
    ("github", &[]),
    (
        "github setup",
        &[&[
            ("org", Strict),
            ("name", Words),
            ("webhook_url", Strict),
            ("listen", Strict),
            ("app_id", Strict),
            ("key_file", Place),
            ("within", Strict),
            ("github_base", Strict),
        ]],
    ),
    ("github token", &[&[("github_base", Strict)]]),
    ("secret", &[]),
    ("secret set", &[NAME]),
    ("secret list", &[]),
    ("token", &[]),
    (
        "token create",
        &[
            NAME,
            &[("scope", Strict), ("expires", Strict), ("agent", Strict)],
            PERSONA,
        ],
    ),
    ("token list", &[]),
    ("token revoke", &[NAME]),
    ("job", &[URL]),
    (
        "job create",
        &[
            REPO,
            &[
                ("branch", Strict),
                ("title", Words),
                ("agent", Strict),
                ("priority", Strict),
                ("resume", Words),
                ("prompt", Text),
                ("prompt_file", Place),
                ("task", Text),
                ("until", Strict),
                ("within", Strict),
            ],
        ],
    ),
    (
        "job list",
        &[REPO, &[("limit", Strict), ("states", Strict)]],
    ),
    ("job show", &[ID]),
    ("job messages", &[ID, &[("cursor", Strict)]]),
    ("job register", &[ID, &[("metadata", Strict)], OF_A_REPO]),
    ("job why", &[ID]),
    ("job events", &[ID]),
    (
        "job wait",
        &[&[("ids", Strict), ("until", Strict), ("within", Strict)]],
    ),
    ("job open", &[ID]),
    ("job say", &[ID, &[("text", Text)]]),
    ("job approve", &[ID, &[("plan", Strict)]]),
    (
        "job merge",
        &[ID, &[("sha", Strict), ("method", Strict), ("title", Words)]],
    ),
    ("job cancel", &[ID]),
    ("job retry", &[ID, &[("reason", Text)]]),
    ("job adopt", &[&[("session", Strict)], OF_A_REPO]),
    ("job artifacts", &[ID]),
    ("delivery", &[URL]),
    (
        "delivery list",
        &[
            REPO,
            &[("phase", Strict), ("needs", Strict), ("limit", Strict)],
        ],
    ),
    ("delivery show", &[ID]),
    (
        "delivery create",
        &[
            REPO,
            &[
                ("summary", Text),
                ("issue", Strict),
                ("description", Text),
                ("criteria", Text),
                ("refs", Strict),
                ("priority", Strict),
            ],
        ],
    ),
    ("delivery start", &[ID]),
    (
        "delivery approve",
        &[ID, &[("sha", Strict), ("plan", Strict)]],
    ),
    ("delivery reject", &[ID, &[("reason", Text)]]),
    (
        "delivery verdict",
        &[
            ID,
            &[
                ("verdict", Strict),
                ("sha", Strict),
                ("summary", Text),
                ("feedback", Text),
            ],
        ],
    ),
    ("delivery plan", &[ID, FILE, &[("target_files", Words)]]),
    (
        "delivery edit",
        &[
            ID,
            &[
                ("summary", Text),
                ("criteria", Text),
                ("refs", Strict),
                ("priority", Strict),
            ],
        ],
    ),
    ("delivery collect", &[ID, &[("session", Strict)]]),
    (
        "delivery analysis",
        &[ID, &[("text", Text), ("suggestion", Text), ("run", Strict)]],
    ),
    ("delivery split", &[ID, FILE, &[("parts", Text)]]),
    ("delivery retry", &[ID, &[("reason", Text)]]),
    ("delivery cancel", &[ID]),
    ("delivery why", &[ID]),
    ("delivery transcript", &[ID, &[("run", Strict)]]),
    (
        "delivery wait",
        &[ID, &[("until", Strict), ("within", Strict)]],
    ),
    ("delivery board", &[REPO]),
    ("pipeline", &[URL]),
    (
        "pipeline on",
        &[
            REPO,
            &[
                ("exchange", Strict),
                ("implement", Strict),
                ("worker", Strict),
            ],
        ],
    ),
    ("pipeline off", &[REPO]),
    (
        "pipeline start",
        &[REPO, &[("from", Strict), ("within", Strict)]],
    ),
    ("pipeline list", &[REPO, &[("limit", Strict)]]),
    ("pipeline show", &[ID]),
    ("pipeline why", &[ID]),
    ("pipeline cancel", &[ID]),
    ("requirement", &[URL]),
    ("requirement list", &[REPO]),
    ("requirement show", &[REPO, ID]),
    ("requirement start", &[REPO, ID]),
    ("sprint", &[URL]),
    (
        "sprint set",
        &[
            REPO,
            &[
                ("parallel", Strict),
                ("at_once", Strict),
                ("member_timeout", Strict),
                ("next", Strict),
                ("integration", Strict),
            ],
        ],
    ),
    (
        "sprint start",
        &[REPO, &[("number", Strict), ("personas", Strict)]],
    ),
    ("sprint status", &[REPO, NUMBER]),
    ("sprint list", &[REPO, &[("limit", Strict)]]),
    ("sprint why", &[REPO, NUMBER]),
    ("sprint tick", &[REPO, NUMBER]),
    ("sprint integrate", &[REPO, NUMBER]),
    ("sprint abort", &[REPO, NUMBER]),
    ("sprint state", &[REPO, NUMBER]),
    ("scaffold", &[]),
    ("scaffold init", &[]),
    ("scaffold bootstrap", &[]),
    ("scaffold upgrade", &[]),
    ("scaffold migrate", &[]),
    ("scaffold deinit", &[]),
    ("scaffold doctor", &[&[("revision", Words)]]),
    ("role", &[]),
    ("role add", &[ROLE]),
    ("role create", &[ROLE]),
    ("role delete", &[ROLE]),
    ("role list", &[&[("layer", Strict)]]),
    ("role show", &[ROLE]),
    ("role validate", &[ROLE]),
    ("persona", &[]),
    ("persona init", &[DIR]),
    ("persona list", &[DIR]),
    ("persona show", &[ID, DIR]),
    ("persona validate", &[DIR]),
    ("setup", &[]),
    ("setup gen", &[]),
    ("setup list", &[&[("detail", Words)]]),
    ("exchange", &[]),
    (
        "exchange inspect",
        &[&[("revision", Words), ("stream", Strict)]],
    ),
    ("exchange publish-proposals", &[REPO, URL, EXCHANGE_RUN]),
    ("exchange clean", &[]),
    (
        "exchange clean requirement",
        &[REPO, URL, EXCHANGE_RUN, &[("path", Strict)]],
    ),
    (
        "exchange clean mock",
        &[REPO, URL, EXCHANGE_RUN, &[("tag", Strict)]],
    ),
    ("labels", &[]),
    ("labels sync", &[REPO, URL, EXCHANGE_RUN]),
    ("workflow", &[]),
    ("workflow generate", &[&[("runner", Strict)]]),
    ("workflow run", &[REPO, URL, OF_LAYER]),
    (
        "run",
        &[REPO, URL, OF_LAYER, &[("branch", Strict), ("job", Strict)]],
    ),
    ("mail", &[REPO, URL]),
    (
        "mail send",
        &[&[
            ("to", Strict),
            ("subject", Words),
            ("body", Theirs),
            ("attach", Strict),
            ("from", Strict),
        ]],
    ),
    ("mail inbox", &[PERSONA]),
    ("mail sent", &[PERSONA]),
    ("mail read", &[ID, PERSONA]),
    ("mail tag", &[]),
    ("mail tag add", &[ID, &[("tag", Strict)], PERSONA]),
    ("mail tag rm", &[ID, &[("tag", Strict)], PERSONA]),
    ("mail tag ls", &[ID, PERSONA]),
    ("mail trash", &[ID, PERSONA]),
    ("mail untrash", &[ID, PERSONA]),
    ("mail log", &[]),
    ("mail stats", &[]),
    ("mail verify", &[]),
    ("mail rebuild", &[]),
    ("mail restore", &[]),
    ("mail seal", &[]),
    ("mail export", &[]),
    ("mail import", &[FILE]),
    (
        "weave",
        &[&[
            ("what", Place),
            ("local", Place),
            ("rev", Words),
            ("order", Strict),
            ("base", Strict),
            ("patch", Place),
            ("push", Strict),
            ("github_base", Strict),
            ("github_app_id", Strict),
        ]],
    ),
    ("jobs", &[]),
    ("jobs import", &[FILE, OF_A_REPO]),
    ("jobs export", &[]),
    ("events", &[]),
    ("events export", &[&[("after", Strict)], CONFIG]),
    ("monitor", &[CONFIG, OF_A_REPO, OUTSIDE]),
    ("dashboard", &[URL]),
    ("pull", &[URL]),
    ("pull list", &[REPO]),
    ("pull why", &[&[("pull", Strict)]]),
    ("mcp", &[URL, &[("toolsets", Perhaps)]]),
    ("mcp install", &[&[("client", Strict)]]),
    ("mcp skill", &[]),
    ("mcp call", &[&[("tool", Words), ("arguments", Theirs)]]),
    ("wake", &[]),
    (
        "wake list",
        &[&[
            ("agent", Strict),
            ("job", Strict),
            ("state", Strict),
            ("since", Strict),
            ("limit", Strict),
        ]],
    ),
    ("wake show", &[&[("event", Strict)]]),
    (
        "wake replay",
        &[&[("event", Strict), ("since", Strict), ("agent", Strict)]],
    ),
    (
        "watch",
        &[
            &[
                ("agent", Strict),
                ("events", Place),
                ("at_once", Strict),
                ("timeout", Strict),
            ],
            CONFIG,
            URL,
            &[("command", Theirs)],
        ],
    ),
    ("handle-event", &[&[("event", Theirs)], URL]),
    ("pause", &[&[("source", Strict)]]),
    ("resume", &[&[("source", Strict)]]),
    ("status", &[]),
    ("top", &[URL]),
    ("logs", &[ID, &[("pipeline", Strict), ("delivery", Strict)]]),
    ("cost", &[&[("a_day", Strict)]]),
    ("dlq", &[&[("queue", Strict)]]),
    ("dlq list", &[]),
    ("dlq show", &[LETTER]),
    ("dlq redrive", &[LETTER]),
    ("dlq drop", &[LETTER]),
    (
        "doctor",
        &[&[("source", Strict), ("webhook_url", Strict)], OUTSIDE],
    ),
    ("backup", &[FILE]),
    ("restore", &[FILE]),
    ("export", &[&[("format", Strict)]]),
    ("import", &[FILE]),
    ("completions", &[&[("shell", Strict)]]),
];

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

fn row(name: &str) -> Option<Vec<(&'static str, Kind)>> {
    let (_, parts) = ROWS.iter().find(|(row, _)| *row == name)?;
    Some(parts.concat())
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
    assert_eq!(ROWS.len(), commands.len(), "a row names no command");
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
