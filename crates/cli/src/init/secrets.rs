//! The two secrets of the first hour: their sources, and their checks.

use anyhow::{Context, Result};
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};

use super::notes::InitNotes;
use super::person::{self, Person};
use crate::args::init::InitArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::stdin::{self, KeyFrom};

/// Longest standard input with secrets, in bytes: an `.env` file is much smaller.
const STDIN_BYTES_MAX: u64 = 64 * 1024;

/// One of the two secrets, as text.
pub(crate) struct RequiredSecret {
    /// Its name in the environment and on standard input.
    pub(super) variable: &'static str,
    pub(crate) what: &'static str,
    /// The option that names a file with it.
    option: &'static str,
    pub(super) made_at: &'static str,
    /// Beginnings that belong to other secrets, and what those are.
    foreign: &'static [(&'static str, &'static str)],
}

/// The Jules key.
pub(super) const KEY: RequiredSecret = RequiredSecret {
    variable: "JULES_API_KEY",
    what: "the Jules key",
    option: "--key-file",
    made_at: "https://jules.google.com/settings",
    foreign: &[
        ("ghp_", "a GitHub token"),
        ("gho_", "a GitHub token"),
        ("ghs_", "a GitHub token"),
        ("github_pat_", "a GitHub token"),
        ("gaf_", "the token of Gaffer's own API"),
        ("whsec_", "a signing secret"),
        ("-----BEGIN", "a private key"),
    ],
};

/// The GitHub token.
pub(crate) const TOKEN: RequiredSecret = RequiredSecret {
    variable: "GITHUB_TOKEN",
    what: "the GitHub token",
    option: "--github-token-file",
    made_at: "https://github.com/settings/tokens with the scope `repo`",
    foreign: &[
        ("AIza", "a Google key"),
        ("AQ.", "a Google key"),
        ("gaf_", "the token of Gaffer's own API"),
        ("whsec_", "a signing secret"),
        (
            "-----BEGIN",
            "a private key, which `gaffer github setup` takes",
        ),
    ],
};

/// The secrets given with the command.
#[derive(Default)]
pub(super) struct GivenSecrets {
    pub(super) key: Option<SecretString>,
    pub(super) token: Option<SecretString>,
}

impl GivenSecrets {
    /// From standard input, a file or the environment, in this order.
    pub(super) fn read(args: &InitArgs, here: &CommandContext) -> Result<Self> {
        let lines = if args.secrets_stdin {
            stdin::of_stdin(STDIN_BYTES_MAX).context("reading secrets from standard input")?
        } else {
            String::new()
        };
        let overlay = &here.environment.overlay;
        let laid = |name: SecretName| overlay.get(&name.path()).cloned();
        let of = |kind: &RequiredSecret,
                  file: &Option<std::path::PathBuf>,
                  laid: Option<SecretString>| {
            let from_file = file
                .as_ref()
                .map(|file| stdin::key(KeyFrom::File(file), kind.what))
                .transpose()?;
            let given = line_of(&lines, kind.variable).or(from_file).or(laid);
            let given = given.map(|given| checked(given, kind)).transpose()?;
            anyhow::Ok(given)
        };
        Ok(Self {
            key: of(
                &KEY,
                &args.key_file,
                laid(SecretName::Jules(args.account.clone())),
            )?,
            token: of(&TOKEN, &args.github_token_file, laid(SecretName::GitHub))?,
        })
    }
}

/// `NAME=value`, as in an `.env` file; quotes around the value are not part of it.
fn line_of(lines: &str, name: &str) -> Option<SecretString> {
    let mut values = lines.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        line.strip_prefix(name)?.trim_start().strip_prefix('=')
    });
    let value = values.next_back()?.trim().trim_matches(['"', '\'']);
    Some(value)
        .filter(|it| !it.is_empty())
        .map(SecretString::from)
}

/// Refuses the wrong kind of secret before it is sent anywhere; never prints the secret itself.
pub(crate) fn checked(secret: SecretString, kind: &RequiredSecret) -> Result<SecretString, Error> {
    let text = secret.expose_secret();
    let next = format!("make one at {}", kind.made_at);
    if let Some((_, other)) = kind
        .foreign
        .iter()
        .find(|(prefix, _)| text.starts_with(prefix))
    {
        let what = format!("what was given as {} is {other}", kind.what);
        return Err(Error::usage(what, next));
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        let what = format!(
            "{} is empty or holds spaces, line breaks or characters outside ASCII",
            kind.what
        );
        return Err(Error::usage(what, next));
    }
    Ok(secret)
}

/// A secret to use, and whether it is not stored yet.
pub(super) struct ChosenSecret {
    pub(super) secret: SecretString,
    pub(super) is_new: bool,
}

/// A secret that is looked for, and what was given for it.
pub(super) struct WantedSecret<'a> {
    pub(super) name: &'a SecretName,
    pub(super) kind: &'a RequiredSecret,
    pub(super) given: Option<&'a SecretString>,
}

/// Prefers the stored secret, then the given one, then the person's answer. `None` when there is none.
pub(super) async fn choose(
    secrets: &dyn Secrets,
    wanted: &WantedSecret<'_>,
    person: &mut Option<Box<dyn Person>>,
    notes: &mut InitNotes,
) -> Result<Option<ChosenSecret>> {
    let WantedSecret { name, kind, given } = *wanted;
    match secrets.read(name).await {
        Ok(secret) => {
            if given.is_some_and(|given| given.expose_secret() != secret.expose_secret()) {
                notes.differs(
                    kind.what,
                    "another one is stored",
                    &format!("replace it with {}", replacement(name)),
                );
            } else {
                notes.kept(format!("{} is stored already", kind.what));
            }
            Ok(Some(ChosenSecret {
                secret,
                is_new: false,
            }))
        }
        Err(SecretsError::Missing(_)) => {
            let secret = match (given, person) {
                (Some(given), _) => Some(given.clone()),
                (None, Some(person)) => asked(person.as_mut(), kind)?,
                (None, None) => None,
            };
            Ok(secret.map(|secret| ChosenSecret {
                secret,
                is_new: true,
            }))
        }
        Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
            Err(error.into())
        }
    }
}

/// What a person types; `None` where they type nothing.
fn asked(person: &mut dyn Person, kind: &RequiredSecret) -> Result<Option<SecretString>> {
    let question = format!("{}, which is made at {}", kind.what, kind.made_at);
    person::ask_hidden(person, &question, |typed| {
        let is_empty = typed.expose_secret().is_empty();
        if is_empty {
            Ok(None)
        } else {
            checked(typed, kind).map(Some)
        }
    })
}

/// Asks for another secret after a refused one; an empty answer gives up.
pub(super) fn asked_again(
    person: &mut Option<Box<dyn Person>>,
    kind: &RequiredSecret,
) -> Result<ChosenSecret, anyhow::Error> {
    let typed = match person {
        Some(person) => asked(person.as_mut(), kind)?,
        None => None,
    };
    let secret = typed.ok_or_else(|| missing(kind))?;
    let is_new = true;
    Ok(ChosenSecret { secret, is_new })
}

fn replacement(name: &SecretName) -> String {
    match name {
        SecretName::Jules(account) => format!("`gaffer account add {account} --replace-key`"),
        SecretName::GitHub => "`gaffer github token`".to_owned(),
        SecretName::App(_) | SecretName::Webhook | SecretName::Agent(_) | SecretName::ApiToken => {
            format!("the new one in DATA/secrets/{}", name.path())
        }
    }
}

/// It was not given, and there is no person to ask.
pub(super) fn missing(kind: &RequiredSecret) -> Error {
    let next = format!(
        "make one at {} and give it with `{} FILE`, in {} or at a terminal",
        kind.made_at, kind.option, kind.variable
    );
    Error::usage(format!("{} is not given", kind.what), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_in_an_env_file() {
        let lines = "# mine\nexport JULES_API_KEY=\"AIzaX\"\nGITHUB_TOKEN = ghp_1\nJULES_API_KEY_2=no\nEMPTY=\n";
        let read = |name| line_of(lines, name).map(|it| it.expose_secret().to_owned());
        assert_eq!(read("JULES_API_KEY").as_deref(), Some("AIzaX"));
        assert_eq!(read("GITHUB_TOKEN").as_deref(), Some("ghp_1"));
        assert_eq!((read("EMPTY"), read("OTHER")), (None, None));
    }

    #[test]
    fn the_wrong_kind_of_secret_is_named_and_not_told() {
        for (kind, bad) in [
            (&KEY, "ghp_hunter2"),
            (&KEY, "github_pat_hunter2"),
            (&KEY, "gaf_hunter2"),
            (&TOKEN, "AIzahunter2"),
            (&TOKEN, "-----BEGIN hunter2"),
            (&TOKEN, "hunter2 hunter2"),
            (&KEY, ""),
        ] {
            let error = checked(SecretString::from(bad), kind)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(kind.what) && !error.contains("hunter2"),
                "{error}"
            );
        }
        assert!(checked(SecretString::from("sandbox-key"), &KEY).is_ok());
        assert!(checked(SecretString::from("ghp_sandbox"), &TOKEN).is_ok());
    }
}
