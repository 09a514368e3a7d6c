//! `gaffer secret`.

use clap::{Args, Subcommand};
use engine::ports::SecretName;

/// What to do with a secret.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Store or replace a secret: it comes from standard input or is asked for, and is never shown.
    Set(SetSecretArgs),
    /// List the secrets that this Gaffer uses, and whether they exist; never their values.
    #[command(after_help = "Example:\n  gaffer secret list")]
    List,
}

/// Which secret, and where.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer secret set jules/default\n  gaffer secret set github --stack gaffer < app.pem"
)]
pub(crate) struct SetSecretArgs {
    /// `github`, `webhook`, `token`, `jules/ACCOUNT` or `agents/AGENT`.
    #[arg(value_name = "NAME", value_parser = name)]
    pub(crate) name: SecretName,
}

/// A secret's name is its path: below `DATA/secrets/` here, below `/gaffer/STACK/` on AWS.
fn name(text: &str) -> Result<SecretName, String> {
    let odd = |why: &dyn std::fmt::Display| format!("`{text}` names no secret: {why}");
    match text.split_once('/') {
        Some(("jules", account)) => account
            .parse()
            .map(SecretName::Jules)
            .map_err(|it| odd(&it)),
        Some(("agents", agent)) => agent.parse().map(SecretName::Agent).map_err(|it| odd(&it)),
        Some(_) | None => match text {
            "github" => Ok(SecretName::GitHub),
            "webhook" => Ok(SecretName::Webhook),
            "token" => Ok(SecretName::ApiToken),
            _ => Err(odd(
                &"it is one of `github`, `webhook`, `token`, `jules/ACCOUNT`, `agents/AGENT`",
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_by_its_path() {
        for path in [
            "github",
            "webhook",
            "token",
            "jules/default",
            "agents/helper",
        ] {
            assert_eq!(name(path).unwrap().path(), path);
        }
        for odd in [
            "",
            "hub",
            "apps/7",
            "jules/",
            "jules/../github",
            "agents/a b",
            "/github",
        ] {
            let error = name(odd).unwrap_err();
            assert!(
                error.starts_with(&format!("`{odd}` names no secret")),
                "{error}"
            );
        }
    }
}
