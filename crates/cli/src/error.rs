//! Errors of the command line, and how any failure is reported: in one or two lines, with a code for programs, and never with a secret.

use clap::error::{ContextKind, ContextValue};
use domain::advice::Advice;
use domain::redact::{MASK, presentable, redact};
use engine::backend;
use engine::ports::SecretsError;

use crate::args::groups;
use crate::render::{ErrorText, next};

mod call;
mod doing;

pub(crate) use doing::Doing;

/// Exit code of a command that failed.
pub(crate) const FAILED: u8 = 1;

/// Exit code of a command that was not understood; clap uses it too.
pub(crate) const USAGE: u8 = 2;

/// Longest word that was typed and is repeated, in characters.
const TYPED_CHARS_MAX: usize = 80;

/// Errors of the command line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is invalid.
    #[error("{what}")]
    Usage {
        /// What is wrong, with the argument and its value.
        what: String,
        /// What to do.
        next: String,
    },
    /// It cannot be done as things are.
    #[error("{what}")]
    Refused {
        /// For programs.
        code: &'static str,
        /// What is the case.
        what: String,
        /// What to do.
        next: String,
    },
    /// It does not fit the place it was run in; trying again is useless.
    #[error("{what}")]
    Unfit {
        /// For programs.
        code: &'static str,
        /// What is the case.
        what: String,
        /// What to do.
        next: String,
    },
}

impl Error {
    /// The command line is invalid.
    pub(crate) fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            next: next.into(),
        }
    }

    /// It cannot be done as things are.
    pub(crate) fn refused(
        code: &'static str,
        what: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self::Refused {
            code,
            what: what.into(),
            next: next.into(),
        }
    }

    /// It does not fit the place it was run in; trying again is useless.
    pub(crate) fn unfit(
        code: &'static str,
        what: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self::Unfit {
            code,
            what: what.into(),
            next: next.into(),
        }
    }

    /// The API refuses the same by this code, which decides here too how the process ends.
    pub(crate) fn as_by_api(
        code: &'static str,
        what: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        match call::is_about_words(code) {
            true => Self::unfit(code, what, next),
            false => Self::refused(code, what, next),
        }
    }

    /// What was asked for comes a little later.
    pub(crate) fn not_read_yet(sentence: String) -> Self {
        Self::refused("not_read_yet", sentence, "run the command again")
    }

    /// There is no such thing, and this command adds it.
    pub(crate) fn no_such(what: &str, name: &dyn std::fmt::Display, add: &str) -> Self {
        Self::refused(
            "no_such",
            format!("there is no {what} `{name}`"),
            format!("add it with `gaffer {what} add {name}{add}`"),
        )
    }
}

/// Reports a failure with its causes.
pub(crate) fn describe(error: &anyhow::Error) -> ErrorText {
    let (code, next, exit) = sort(error);
    let (reasons, existing) = match error.downcast_ref::<client::Error>() {
        Some(client::Error::Problem(problem)) => {
            (problem.reasons.clone(), problem.existing.clone())
        }
        Some(_) | None => (Vec::new(), None),
    };
    let mut what = causes(error);
    for reason in &reasons {
        if !what.contains(&reason.sentence) {
            what = format!("{what}; {}", reason.sentence);
        }
    }
    ErrorText {
        code,
        what: line(&what),
        next: next.or_else(|| advised(error)).map(|next| line(&next)),
        reasons,
        existing,
        exit,
    }
}

/// What a refusal advises.
fn advised(error: &anyhow::Error) -> Option<String> {
    let advised: Vec<String> = match error.downcast_ref::<client::Error>() {
        Some(client::Error::Problem(problem)) => {
            let advised = problem.next.iter().map(next::sentence);
            advised.chain(next::of_delivery(problem)).collect()
        }
        Some(_) | None => match error.downcast_ref::<backend::Error>() {
            Some(backend::Error::NotNow(refused)) => {
                refused.next.iter().map(next::of_ours).collect()
            }
            Some(backend::Error::NoSuch { what, name }) => Advice::for_missing(what, name)
                .map(|advice| next::of_ours(&advice))
                .or_else(|| next::list_of(what).map(str::to_owned))
                .into_iter()
                .collect(),
            Some(_) | None => Vec::new(),
        },
    };
    let advised = (!advised.is_empty()).then(|| advised.join("; "))?;
    Some(match error.downcast_ref::<Doing>() {
        Some(doing) => doing.named(&advised),
        None => advised,
    })
}

/// Reports what clap could not parse of a program: its first paragraph holds the argument and the value.
pub(crate) fn describe_usage(error: &clap::Error, program: fn() -> clap::Command) -> ErrorText {
    let text = shortened(error);
    let first = text.split("\n\n").next().unwrap_or_default();
    let what = line(first.strip_prefix("error: ").unwrap_or(first));
    let (what, next) = match groups::lacking(error, program) {
        Some((_, names)) => (
            "a subcommand is missing".to_owned(),
            format!("give one of: {}", names.join(", ")),
        ),
        None => (what, suggestion(error)),
    };
    ErrorText {
        code: "usage".to_owned(),
        what,
        next: Some(next),
        reasons: Vec::new(),
        existing: None,
        exit: USAGE,
    }
}

/// What was probably meant, by clap's guess, and where to read more.
fn suggestion(error: &clap::Error) -> String {
    let guesses = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let meant = guesses
        .into_iter()
        .filter_map(|kind| error.get(kind))
        .flat_map(|guess| {
            if let ContextValue::Strings(several) = guess {
                several.clone()
            } else {
                vec![guess.to_string()]
            }
        });
    let meant: Vec<_> = meant.map(|guess| format!("`{guess}`")).collect();
    if meant.is_empty() {
        return "`--help` tells what is understood".to_owned();
    }
    let meant = meant.join(" or ");
    format!("did you mean {meant}? `--help` tells what is understood")
}

/// Clap's message, with the typed text on one line and cut: the text after a value names its argument.
fn shortened(error: &clap::Error) -> String {
    let typed = [
        ContextKind::InvalidValue,
        ContextKind::InvalidArg,
        ContextKind::InvalidSubcommand,
    ];
    let typed = typed.into_iter().filter_map(|kind| match error.get(kind) {
        // Spaces alone occur everywhere in clap's text.
        Some(ContextValue::String(typed)) if !typed.trim().is_empty() => Some(typed.as_str()),
        // Other kinds of values are clap's own text.
        Some(_) | None => None,
    });
    typed.fold(error.render().to_string(), |text, typed| {
        text.replace(typed, &line(&presentable(typed, TYPED_CHARS_MAX)))
    })
}

fn sort(error: &anyhow::Error) -> (String, Option<String>, u8) {
    if let Some(ours) = error.downcast_ref::<Error>() {
        return match ours {
            Error::Usage { next, .. } => ("usage".to_owned(), Some(next.clone()), USAGE),
            Error::Refused { code, next, .. } => ((*code).to_owned(), Some(next.clone()), FAILED),
            Error::Unfit { code, next, .. } => ((*code).to_owned(), Some(next.clone()), USAGE),
        };
    }
    if let Some(error) = error.downcast_ref::<client::Error>() {
        let (code, next) = call::code_and_next(error);
        return (code, next.map(str::to_owned), call::exit_code(error));
    }
    if let Some(error) = error.downcast_ref::<backend::Error>() {
        let (code, next) = of_backend(error);
        return (code.to_owned(), next.map(str::to_owned), FAILED);
    }
    if let Some(error) = error.downcast_ref::<local::Error>() {
        return (of_local(error).to_owned(), None, exit_of_local(error));
    }
    if let Some(server::PortError::InUse(_)) = error.downcast_ref::<server::PortError>() {
        let next = "stop it, or give this one another address with `--listen ADDR:PORT`";
        return ("address_in_use".to_owned(), Some(next.to_owned()), FAILED);
    }
    if let Some(sandbox::Error::Git { .. }) = error.downcast_ref::<sandbox::Error>() {
        let next = "put git 2.38 or newer on the PATH; of a folder that was named, see whether `git status` works in it";
        return ("no_files".to_owned(), Some(next.to_owned()), FAILED);
    }
    if let Some(error) = error.downcast_ref::<SecretsError>() {
        let next = of_secret(error).map(str::to_owned);
        return ("secret".to_owned(), next, FAILED);
    }
    ("failed".to_owned(), None, FAILED)
}

fn of_backend(error: &backend::Error) -> (&'static str, Option<&'static str>) {
    match error {
        backend::Error::NotNow(not_now) => (not_now.code, None),
        backend::Error::Transition(refused) => (refused.code, None),
        backend::Error::NoSuch { .. } => ("no_such", None),
        backend::Error::Outside(_) => ("outside", None),
        backend::Error::Commit(_) if error.is_conflict() => (
            "busy",
            Some("another caller was quicker: run the command again"),
        ),
        backend::Error::Records(_) | backend::Error::Commit(_) | backend::Error::Queue(_) => (
            "store",
            Some(
                "check that `--data` names the right folder, that it is yours and that the disk has room",
            ),
        ),
    }
}

fn of_secret(error: &SecretsError) -> Option<&'static str> {
    match error {
        SecretsError::Missing(_) => Some(
            "store it with `gaffer secret set NAME`; `gaffer secret list` shows which are missing",
        ),
        // It contains its advice.
        SecretsError::Unusable { .. } => None,
        SecretsError::Unreachable { .. } => {
            Some("run the command again once the place of the secrets answers")
        }
    }
}

/// These errors contain their advice.
fn of_local(error: &local::Error) -> &'static str {
    match error {
        local::Error::InUse { .. } => "in_use",
        local::Error::Newer { .. } => "newer",
        local::Error::Older { .. } => "older",
        local::Error::Exists { .. } => "exists",
        local::Error::NoBackup { .. } => "no_backup",
        local::Error::IsBackup { .. } => "is_backup",
        local::Error::Damaged { .. } => "damaged",
        local::Error::NotOurs { .. } => "not_ours",
        local::Error::FolderMissing { .. }
        | local::Error::Folder { .. }
        | local::Error::File { .. }
        | local::Error::Prepare { .. }
        | local::Error::Step { .. } => "data",
    }
}

/// A folder of a newer gaffer, or with a backup in place of its database, cannot be used here: that is a wrong
/// argument, and retrying is useless.
fn exit_of_local(error: &local::Error) -> u8 {
    match error {
        local::Error::Newer { .. } | local::Error::IsBackup { .. } => USAGE,
        local::Error::InUse { .. }
        | local::Error::Older { .. }
        | local::Error::Exists { .. }
        | local::Error::NoBackup { .. }
        | local::Error::Damaged { .. }
        | local::Error::NotOurs { .. }
        | local::Error::FolderMissing { .. }
        | local::Error::Folder { .. }
        | local::Error::File { .. }
        | local::Error::Prepare { .. }
        | local::Error::Step { .. } => FAILED,
    }
}

/// The chain of causes in one line. A cause that the text before it already contains is omitted.
fn causes(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// One line without anything that looks like a secret and without control characters, which could change what a terminal shows.
fn line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    redact(
        &spaced
            .split_whitespace()
            .map(without_user)
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// An address without its user name and password.
fn without_user(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.to_owned();
    };
    let authority = rest
        .find(['/', '?', '#'])
        .map_or(rest, |end| rest.get(..end).unwrap_or(rest));
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://{MASK}{}", rest.get(at..).unwrap_or_default()),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests;
