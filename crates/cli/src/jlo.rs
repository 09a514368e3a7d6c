//! The command line of `jlo`: the commands about a repository, under the names that its origin has for them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::args::scaffold::{
    ExchangeCommand, LabelsCommand, RoleCommand, RunArgs, ScaffoldCommand, SetupCommand,
    WorkflowCommand,
};
use crate::args::stack::StackArgs;
use crate::args::value;
use crate::args::{Command, CommandLine};
use crate::error::{self, Error};
use crate::render::{self, ErrorText};
use crate::run;
use crate::settings::Environment;

/// The files of a repository that agents of a pipeline work by. `gaffer` has the same commands, and all others.
#[derive(Debug, Parser)]
#[command(name = "jlo", version, after_help = EXAMPLES)]
pub(crate) struct JloLine {
    /// Answer in JSON: results on stdout, errors on stderr.
    #[arg(long, global = true)]
    json: bool,

    /// The data folder of `gaffer up`, whose token is used [default: `gaffer` in the platform's folder for data].
    #[arg(long, global = true, env = "GAFFER_DATA", value_name = "DIR", value_parser = value::folder)]
    data: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    command: JloCommand,
}

const EXAMPLES: &str = "\
Examples:
  jlo init
  jlo doctor --strict
  jlo run observers --role qa --prompt-preview
  jlo run observers --role qa --wait

Exit codes: 0 done, 1 failed, 2 bad usage.";

/// What to do.
#[derive(Debug, Subcommand)]
enum JloCommand {
    /// `gaffer scaffold`.
    #[command(flatten)]
    Scaffold(ScaffoldCommand),
    /// Roles: who looks at this repository in a layer of several, and when.
    #[command(subcommand)]
    Role(RoleCommand),
    /// Setup: what a session's machine gets installed.
    #[command(subcommand, alias = "s")]
    Setup(SetupCommand),
    /// Exchange: what the agents of this repository's pipeline wrote for each other.
    #[command(subcommand)]
    Exchange(ExchangeCommand),
    /// Labels: those of the requirements of this repository's pipeline.
    #[command(subcommand)]
    Labels(LabelsCommand),
    /// Workflows: what GitHub Actions does for this repository's pipeline.
    #[command(subcommand, alias = "w")]
    Workflow(WorkflowCommand),
    /// Run a layer of this repository's pipeline, or show the prompt that it gets.
    #[command(alias = "r")]
    Run(Box<RunArgs>),
}

impl From<JloLine> for CommandLine {
    fn from(line: JloLine) -> Self {
        let command = match line.command {
            JloCommand::Scaffold(command) => Command::Scaffold(command),
            JloCommand::Role(command) => Command::Role(command),
            JloCommand::Setup(command) => Command::Setup(command),
            JloCommand::Exchange(command) => Command::Exchange(command),
            JloCommand::Labels(command) => Command::Labels(command),
            JloCommand::Workflow(command) => Command::Workflow(command),
            JloCommand::Run(args) => Command::Run(args),
        };
        Self {
            data: line.data,
            json: line.json,
            stack: StackArgs::default(),
            command,
        }
    }
}

/// The whole of a program whose commands are some of `gaffer`'s.
pub(crate) fn main<Line: Parser + Into<CommandLine>>(
    environment: Result<Environment, Error>,
) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match Line::try_parse_from(&arguments) {
        Ok(line) => run::ran(line.into(), environment, Line::command().get_name()),
        Err(error) => not_run(&error, &arguments, Line::command),
    }
}

/// Help is an answer, also where a command is missing; everything else was not understood.
fn not_run(
    error: &clap::Error,
    arguments: &[OsString],
    program: fn() -> clap::Command,
) -> ExitCode {
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let missing = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if error.use_stderr() && (as_json || !missing) {
        return run::ended(
            &describe_usage(error, program),
            as_json,
            program().get_name(),
        );
    }
    match (render::help(error), u8::try_from(error.exit_code())) {
        (Ok(()), Ok(code)) => ExitCode::from(code),
        (Err(_), _) | (_, Err(_)) => ExitCode::from(error::FAILED),
    }
}

/// What was not understood. A command that only `gaffer` has is named there.
fn describe_usage(error: &clap::Error, program: fn() -> clap::Command) -> ErrorText {
    let described = error::describe_usage(error, program);
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(typed))
            if CommandLine::command().find_subcommand(typed).is_some() =>
        {
            ErrorText {
                next: Some(format!(
                    "this is a command of `gaffer`: type `gaffer {typed}`"
                )),
                ..described
            }
        }
        Some(_) | None => described,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jules_mail::MailLine;

    #[test]
    fn a_command_that_only_gaffer_has_is_named_there() {
        let next = |typed: &str| {
            let error = JloLine::try_parse_from(["jlo", typed]).unwrap_err();
            describe_usage(&error, JloLine::command)
                .next
                .unwrap_or_default()
        };
        assert!(next("pipeline").contains("`gaffer pipeline`"));
        assert!(next("inti").contains("did you mean"));
    }

    #[test]
    fn a_program_without_its_command_names_its_own_ones() {
        let error = MailLine::try_parse_from(["jules-mail", "--data", "d"]).unwrap_err();
        let described = describe_usage(&error, MailLine::command);
        assert_eq!(described.what, "a subcommand is missing");
        let next = described.next.unwrap_or_default();
        assert!(
            next.contains("inbox") && !next.contains("sandbox"),
            "{next}"
        );
    }

    #[test]
    fn every_command_of_a_repository_is_there_under_its_short_name() {
        JloLine::command().debug_assert();
        for line in [
            "jlo init",
            "jlo i",
            "jlo bootstrap",
            "jlo upgrade",
            "jlo u",
            "jlo deinit",
            "jlo migrate --dry-run",
            "jlo doctor --strict --json",
            "jlo role add observers qa",
            "jlo setup gen",
            "jlo s ls --detail gh",
            "jlo workflow generate remote",
            "jlo w g",
            "jlo w r o --role qa --mock mock-1 --within 30m",
            "jlo exchange inspect --json",
            "jlo exchange clean requirement .jules/exchange/requirements/a.yml --wait",
            "jlo r i .jules/exchange/requirements/a.yml --no-cleanup",
            "jlo labels sync --repo acme/shop --wait",
            "jlo run narrator --prompt-preview",
            "jlo r o --role qa --prompt-preview",
            "jlo run narrator",
            "jlo r o --role qa --repo acme/shop --wait --within 30m --json",
        ] {
            let parsed = JloLine::try_parse_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
        let parsed = JloLine::try_parse_from(["jlo", "doctor", "--json"]);
        let line = CommandLine::from(parsed.unwrap());
        assert!(line.json && matches!(line.command, Command::Scaffold(_)));
    }
}
