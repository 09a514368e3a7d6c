//! A function's settings in its environment.

use url::Url;

/// The stack's name: secrets are below `/gaffer/STACK/`.
const STACK: &str = "GAFFER_STACK";
/// The table's name.
const TABLE: &str = "GAFFER_TABLE";
/// Address of the queue of wake-ups, and of its dead letters.
const WORK: [&str; 2] = ["GAFFER_WORK_QUEUE", "GAFFER_WORK_DEAD_QUEUE"];
/// Address of the queue of ticks, and of its dead letters.
const TICKS: [&str; 2] = ["GAFFER_TICKS_QUEUE", "GAFFER_TICKS_DEAD_QUEUE"];
/// Where Jules is, when it is not Google's own.
const JULES_BASE: &str = "JULES_API_BASE";
/// Where GitHub is, when it is not github.com.
const GITHUB_BASE: &str = "GITHUB_API_BASE";
/// The App's id, when the secret `github` is an App's key.
const GITHUB_APP_ID: &str = "GITHUB_APP_ID";
/// Agents' hosts that are allowed although they are private, separated by commas.
const ALLOW_HOSTS: &str = "GAFFER_ALLOW_HOSTS";
/// `true`: nothing is written outside.
const OBSERVE_ONLY: &str = "GAFFER_OBSERVE_ONLY";

/// Where a queue and its dead letters are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueAddress {
    /// The queue.
    pub url: String,
    /// Its dead letters.
    pub dead_url: String,
}

/// A function's settings. Deployments write them; people do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The stack.
    pub stack: String,
    /// The table; `None` where a function has no business with it.
    pub table: Option<String>,
    /// Wake-ups.
    pub work: QueueAddress,
    /// Ticks; `None` where a function has no business with them.
    pub ticks: Option<QueueAddress>,
    /// Where Jules is.
    pub jules_base: Option<String>,
    /// Where GitHub is.
    pub github_base: Option<String>,
    /// The GitHub App.
    pub github_app_id: Option<u64>,
    /// Agents' hosts that are allowed although they are private.
    pub allow_hosts: Vec<String>,
    /// Whether nothing may be written outside.
    pub observe_only: bool,
}

/// Why the environment could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A variable is missing.
    #[error(
        "reading the function's environment: {0} is not set; deploy the function with its stack, which sets it"
    )]
    Missing(&'static str),
    /// A variable makes no sense.
    #[error("reading the function's environment: {name} is `{value}`, which is not {wanted}")]
    Odd {
        /// Which.
        name: &'static str,
        /// The given value.
        value: String,
        /// The valid form.
        wanted: &'static str,
    },
}

impl Settings {
    /// Out of the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where a function's environment is read, called by its main"
    )]
    pub fn from_env() -> Result<Self, SettingsError> {
        Self::from_vars(|name| std::env::var(name).ok())
    }

    /// Out of any environment. An empty variable is one that is not set, since CloudFormation cannot leave one out.
    pub fn from_vars(read: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let read = |name| read(name).filter(|value| !value.is_empty());
        let needed = |name| read(name).ok_or(SettingsError::Missing(name));
        let [url, dead_url] = WORK;
        Ok(Self {
            stack: needed(STACK)?,
            table: read(TABLE),
            work: QueueAddress {
                url: address(url, needed(url)?)?,
                dead_url: address(dead_url, needed(dead_url)?)?,
            },
            ticks: ticks(read)?,
            jules_base: read(JULES_BASE),
            github_base: read(GITHUB_BASE),
            github_app_id: read(GITHUB_APP_ID).map(app_id).transpose()?,
            allow_hosts: read(ALLOW_HOSTS).map(listed).unwrap_or_default(),
            observe_only: read(OBSERVE_ONLY).map(switch).transpose()?.unwrap_or(false),
        })
    }
}

fn ticks(
    read: impl Fn(&'static str) -> Option<String>,
) -> Result<Option<QueueAddress>, SettingsError> {
    let [url, dead_url] = TICKS;
    match (read(url), read(dead_url)) {
        (None, None) => Ok(None),
        (Some(found), Some(dead)) => Ok(Some(QueueAddress {
            url: address(url, found)?,
            dead_url: address(dead_url, dead)?,
        })),
        (None, Some(_)) => Err(SettingsError::Missing(url)),
        (Some(_), None) => Err(SettingsError::Missing(dead_url)),
    }
}

fn address(name: &'static str, value: String) -> Result<String, SettingsError> {
    let web = |url: &Url| matches!(url.scheme(), "http" | "https");
    if Url::parse(&value).is_ok_and(|url| web(&url)) {
        return Ok(value);
    }
    let wanted = "the address of a queue";
    Err(SettingsError::Odd {
        name,
        value,
        wanted,
    })
}

fn app_id(value: String) -> Result<u64, SettingsError> {
    let odd = || SettingsError::Odd {
        name: GITHUB_APP_ID,
        value: value.clone(),
        wanted: "the number of a GitHub App",
    };
    value.parse().map_err(|_| odd())
}

fn switch(value: String) -> Result<bool, SettingsError> {
    match value.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(SettingsError::Odd {
            name: OBSERVE_ONLY,
            value,
            wanted: "`true` or `false`",
        }),
    }
}

fn listed(value: String) -> Vec<String> {
    let hosts = value.split(',').map(|host| host.trim().to_owned());
    hosts.filter(|host| !host.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: &str = "https://sqs.eu-west-1.amazonaws.com/1/gaffer-work";

    fn settings_from(pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let base = [
            (STACK, "gaffer"),
            (WORK[0], QUEUE),
            (WORK[1], "http://localhost:4566/1/dead"),
        ];
        let found = |name: &str| {
            let all = pairs.iter().chain(&base);
            let mut of_name = all.filter(|(key, _)| *key == name);
            of_name.next().map(|(_, value)| (*value).to_owned())
        };
        Settings::from_vars(found)
    }

    #[test]
    fn what_may_be_left_out_may_be_empty_too() {
        let settings =
            settings_from(&[(TABLE, ""), (JULES_BASE, ""), (GITHUB_APP_ID, "")]).unwrap();
        assert_eq!(settings.stack, "gaffer");
        assert_eq!(settings.work.url, QUEUE);
        assert_eq!((settings.table, settings.ticks), (None, None));
        assert_eq!((settings.jules_base, settings.github_app_id), (None, None));
        assert!(!settings.observe_only && settings.allow_hosts.is_empty());
        let settings = settings_from(&[
            (TABLE, "gaffer"),
            (TICKS[0], "http://localhost/t"),
            (TICKS[1], "http://localhost/d"),
            (GITHUB_APP_ID, "12"),
            (ALLOW_HOSTS, "agent.local, 10.0.0.0/8,"),
            (OBSERVE_ONLY, "true"),
        ])
        .unwrap();
        assert_eq!(settings.table.as_deref(), Some("gaffer"));
        assert_eq!(settings.ticks.unwrap().dead_url, "http://localhost/d");
        assert_eq!(settings.github_app_id, Some(12));
        assert_eq!(settings.allow_hosts, ["agent.local", "10.0.0.0/8"]);
        assert!(settings.observe_only);
    }

    #[test]
    fn what_is_missing_or_odd_is_named() {
        for (name, value, said) in [
            (STACK, "", "GAFFER_STACK is not set"),
            (WORK[0], "", "GAFFER_WORK_QUEUE is not set"),
            (WORK[1], "queue", "GAFFER_WORK_DEAD_QUEUE is `queue`"),
            (
                TICKS[0],
                "http://localhost/t",
                "GAFFER_TICKS_DEAD_QUEUE is not set",
            ),
            (
                TICKS[1],
                "http://localhost/t",
                "GAFFER_TICKS_QUEUE is not set",
            ),
            (GITHUB_APP_ID, "Iv1", "GITHUB_APP_ID is `Iv1`"),
            (OBSERVE_ONLY, "yes", "GAFFER_OBSERVE_ONLY is `yes`"),
        ] {
            let error = settings_from(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
