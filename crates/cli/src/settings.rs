//! Settings from the environment: secrets, and where this platform keeps data.

use std::collections::BTreeMap;
use std::env::VarError;
use std::path::PathBuf;

use domain::ids::AccountName;
use engine::ports::SecretName;
use secrecy::SecretString;

use crate::error::Error;

/// The account whose key the environment may hold.
pub(crate) const DEFAULT_ACCOUNT: &str = "default";

/// What the environment says.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    /// Secrets it sets, by their path. They go before stored ones.
    pub(crate) overlay: BTreeMap<String, SecretString>,
    /// The default data folder; `None` when the environment names none.
    pub(crate) home: Option<PathBuf>,
    /// Whose mailbox commands are about that name none.
    pub(crate) persona: Option<String>,
    /// Where this person's other programs keep their settings.
    pub(crate) person: ClientHomes,
}

/// Places of settings on this machine, from the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientHomes {
    /// The home folder.
    pub(crate) home: Option<PathBuf>,
    /// XDG_CONFIG_HOME.
    pub(crate) config: Option<PathBuf>,
    /// CLAUDE_CONFIG_DIR.
    pub(crate) claude: Option<PathBuf>,
    /// CODEX_HOME.
    pub(crate) codex: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment. Called once, from `main`; an empty variable counts as not set.
    pub(crate) fn from_env() -> Result<Self, Error> {
        Self::read(&|name| {
            #[expect(
                clippy::disallowed_methods,
                reason = "this is the one place that reads the environment"
            )]
            match std::env::var(name) {
                Ok(value) => Ok(Some(value)),
                Err(VarError::NotPresent) => Ok(None),
                Err(VarError::NotUnicode(_)) => Err(Error::usage(
                    format!("the environment variable {name} is not UTF-8"),
                    "set it anew, or unset it",
                )),
            }
        })
    }

    fn read(variable: &dyn Fn(&str) -> Result<Option<String>, Error>) -> Result<Self, Error> {
        let get = |name: &str| {
            Ok::<_, Error>(
                variable(name)?
                    .map(|value| value.trim().to_owned())
                    .filter(|value| !value.is_empty()),
            )
        };
        let mut overlay = BTreeMap::new();
        let mut lay = |name: SecretName, value: Option<String>| {
            overlay.extend(value.map(|value| (name.path(), SecretString::from(value))));
        };
        lay(SecretName::Jules(default_account()), get("JULES_API_KEY")?);
        // An App signs with its private key; the token of a person is then not meant.
        let signs_as_app = get("GITHUB_APP_ID")?.is_some();
        lay(
            SecretName::GitHub,
            get(if signs_as_app {
                "GITHUB_APP_KEY"
            } else {
                "GITHUB_TOKEN"
            })?,
        );
        lay(SecretName::Webhook, get("GAFFER_WEBHOOK_SECRET")?);
        let token = get("GAFFER_TOKEN")?;
        lay(
            SecretName::ApiToken,
            if token.is_some() {
                token
            } else {
                get("JULES_API_TOKEN")?
            },
        );
        Ok(Self {
            overlay,
            home: data_home(get("XDG_DATA_HOME")?, get("HOME")?),
            persona: get("JULES_PERSONA")?,
            person: ClientHomes {
                home: get("HOME")?.and_then(absolute),
                config: get("XDG_CONFIG_HOME")?.and_then(absolute),
                claude: get("CLAUDE_CONFIG_DIR")?.and_then(absolute),
                codex: get("CODEX_HOME")?.and_then(absolute),
            },
        })
    }
}

/// The account that is meant when none is named.
#[expect(
    clippy::expect_used,
    reason = "the constant is a valid name, as a test shows"
)]
pub(crate) fn default_account() -> AccountName {
    DEFAULT_ACCOUNT.parse().expect("a valid name")
}

/// A relative folder is ignored, since it would differ by the folder of each command.
fn absolute(text: String) -> Option<PathBuf> {
    Some(PathBuf::from(text)).filter(|path| path.is_absolute())
}

/// The platform's folder for data: a relative one is ignored, as the XDG Base Directory Specification asks.
fn data_home(xdg: Option<String>, home: Option<String>) -> Option<PathBuf> {
    let below_home = if cfg!(target_os = "macos") {
        "Library/Application Support"
    } else {
        ".local/share"
    };
    let base = xdg
        .and_then(absolute)
        .or_else(|| home.and_then(absolute).map(|home| home.join(below_home)));
    base.map(|base| base.join("gaffer"))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Environment {
        let find = |name: &str| {
            Ok(variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned()))
        };
        Environment::read(&find).unwrap()
    }

    fn overlay(variables: &[(&str, &str)]) -> Vec<(String, String)> {
        read(variables)
            .overlay
            .into_iter()
            .map(|(path, value)| (path, value.expose_secret().to_owned()))
            .collect()
    }

    #[test]
    fn secrets_are_laid_over_the_stored_ones_by_their_path() {
        let all = overlay(&[
            ("JULES_API_KEY", "key\n"),
            ("GITHUB_TOKEN", "gh"),
            ("GAFFER_WEBHOOK_SECRET", "a,b"),
            ("GAFFER_TOKEN", "t"),
        ]);
        let paths = [
            ("github", "gh"),
            ("jules/default", "key"),
            ("token", "t"),
            ("webhook", "a,b"),
        ];
        assert_eq!(
            all,
            paths.map(|(path, value)| (path.to_owned(), value.to_owned()))
        );
        assert_eq!(overlay(&[("JULES_API_KEY", " ")]), []);
    }

    #[test]
    fn the_seeds_name_of_the_token_is_an_alias() {
        assert_eq!(
            overlay(&[("JULES_API_TOKEN", "old")]),
            [("token".to_owned(), "old".to_owned())]
        );
        assert_eq!(
            overlay(&[("JULES_API_TOKEN", "old"), ("GAFFER_TOKEN", "new")]),
            [("token".to_owned(), "new".to_owned())]
        );
    }

    #[test]
    fn an_app_signs_with_its_key_and_not_with_a_persons_token() {
        let all = overlay(&[
            ("GITHUB_APP_ID", "7"),
            ("GITHUB_APP_KEY", "pem"),
            ("GITHUB_TOKEN", "gh"),
        ]);
        assert_eq!(all, [("github".to_owned(), "pem".to_owned())]);
        assert_eq!(
            overlay(&[("GITHUB_APP_ID", "7"), ("GITHUB_TOKEN", "gh")]),
            []
        );
    }

    #[test]
    fn data_lives_in_the_platforms_folder() {
        assert_eq!(
            read(&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")]).home,
            Some(PathBuf::from("/x/gaffer"))
        );
        let home = read(&[("XDG_DATA_HOME", "relative"), ("HOME", "/h")])
            .home
            .unwrap();
        assert!(home.starts_with("/h") && home.ends_with("gaffer"));
        assert_eq!(read(&[]).home, None);
    }
}
