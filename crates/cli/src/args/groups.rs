//! The commands in groups, since a list of thirty is unreadable; and the command line that is parsed with them.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use super::{CommandLine, GROUPS};

/// What clap adds to every command that has others below it.
pub(crate) const HELP: &str = "help";

/// The group of every command that no other group names.
const WORK: &str = "Work";

/// The command line with its groups.
pub(crate) fn command() -> clap::Command {
    let command = CommandLine::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        listing(&command)
    );
    without_help_instead(command).help_template(template)
}

/// Makes a command without its subcommand an error like others, at any level and whatever the environment sets: see
/// [`lacking`].
fn without_help_instead(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(without_help_instead);
    let lacks = command.has_subcommands();
    if lacks {
        command.arg_required_else_help(false)
    } else {
        command
    }
}

/// Parses a command line.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<CommandLine, clap::Error> {
    let mut command = command();
    let arguments = without_help_of_help(&command, arguments.into_iter().collect());
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    CommandLine::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// `job help --help` as `job help`: clap takes the option for the name of a command.
fn without_help_of_help(command: &clap::Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let [_, names @ .., help, option] = arguments.as_slice() else {
        return arguments;
    };
    let asks = help == HELP && (option == "--help" || option == "-h");
    // Elsewhere `help` is a value.
    let mut names = names.iter();
    let group = names.try_fold(command, |above, name| above.find_subcommand(name));
    if asks && group.is_some_and(clap::Command::has_subcommands) {
        arguments.pop();
    }
    arguments
}

/// The help of a command of a program that lacks its subcommand, and its subcommands; `None` for any other error.
pub(crate) fn lacking(
    error: &clap::Error,
    program: fn() -> clap::Command,
) -> Option<(clap::builder::StyledStr, Vec<String>)> {
    if error.kind() != ErrorKind::MissingSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let mut all = program();
    all.build();
    let mut found = &mut all;
    for name in name.split(' ').skip(1) {
        found = found.find_subcommand_mut(name)?;
    }
    let shown = found.get_subcommands().filter(|it| it.get_name() != HELP);
    let names = shown.map(|it| it.get_name().to_owned()).collect();
    Some((found.render_help(), names))
}

/// Every group with its commands.
fn groups(command: &clap::Command) -> Vec<(&str, Vec<&str>)> {
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    let is_other = |name: &&str| GROUPS.iter().all(|(_, names)| !names.contains(name));
    let work = shown.map(clap::Command::get_name).filter(is_other);
    let work = (WORK, work.collect());
    let others = GROUPS.map(|(group, names)| (group, names.to_vec()));
    [work].into_iter().chain(others).collect()
}

fn listing(command: &clap::Command) -> String {
    let groups = groups(command);
    let names = groups.iter().flat_map(|(_, names)| names);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (group, names) in &groups {
        text.push_str(&format!("{group}:\n"));
        for name in names {
            let found = command.find_subcommand(name);
            let about = found.and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {name:width$}  {about}\n"));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let command = CommandLine::command();
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        let mut wanted: Vec<_> = shown.map(clap::Command::get_name).collect();
        let groups = groups(&command);
        let mut grouped: Vec<_> = groups.into_iter().flat_map(|(_, names)| names).collect();
        wanted.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, wanted);
    }

    #[test]
    fn the_help_shows_groups_options_and_examples() {
        for help in [command().render_help(), command().render_long_help()] {
            let help = help.to_string();
            for part in [
                "Usage: gaffer",
                "\nWork:\n  job           Jobs: pieces of work",
                "\nSetup:\n",
                "--json",
                "--data <DIR>",
                "--version",
                "\nExamples:\n",
                "Exit codes:",
            ] {
                assert!(help.contains(part), "{part}:\n{help}");
            }
        }
    }
}
