//! The four functions: how each is built, its limits, and its environment.

use std::collections::{BTreeMap, HashMap};

use crate::cloud::Cloud;
use crate::error::Error;
use crate::stacks::Outputs;

/// Visibility timeout of a received message, in seconds: six times the dispatcher's time limit for a batch, as AWS
/// advises.
pub(crate) const VISIBILITY_SECONDS: u32 = 6 * Function::Dispatcher.timeout_seconds();

/// The variable that says whether anything may be written outside.
const OBSERVE_ONLY: &str = "GAFFER_OBSERVE_ONLY";

/// The variable with the hosts that may be woken although they are private.
const ALLOW_HOSTS: &str = "GAFFER_ALLOW_HOSTS";

/// One of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Function {
    /// Handles due rows.
    Poller,
    /// Decides and performs.
    Dispatcher,
    /// Takes what GitHub sends.
    Webhook,
    /// Takes orders.
    Api,
}

impl Function {
    /// All of them. The one that takes orders goes last: nothing asks for what the others do not know yet.
    pub const ALL: [Self; 4] = [Self::Dispatcher, Self::Poller, Self::Webhook, Self::Api];

    /// Its name after the stack's name; its binary has the same.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Poller => "poller",
            Self::Dispatcher => "dispatcher",
            Self::Webhook => "webhook",
            Self::Api => "api",
        }
    }

    /// The package that builds it.
    pub const fn package(self) -> &'static str {
        match self {
            Self::Poller => "poller",
            Self::Dispatcher => "dispatcher",
            Self::Webhook => "webhook",
            Self::Api => "api-function",
        }
    }

    /// How long one call may take, in seconds.
    pub const fn timeout_seconds(self) -> u32 {
        match self {
            // Both stop beginning work well before the end, and then finish what they began.
            Self::Poller | Self::Dispatcher => 60,
            // GitHub waits for ten seconds.
            Self::Webhook => 10,
            // An order waits up to ten seconds for its outcome.
            Self::Api => 20,
        }
    }

    /// Its memory, in megabytes. Processor time comes in proportion, and each of them needs little of both.
    pub const fn memory(self) -> u32 {
        match self {
            // Callers wait for these.
            Self::Webhook | Self::Api | Self::Dispatcher => 256,
            // Called every ten seconds while anything is active, it mostly waits for answers.
            Self::Poller => 128,
        }
    }

    /// Its name in AWS.
    pub fn name(self, cloud: &Cloud) -> String {
        format!("{}-{}", cloud.stack, self.short())
    }

    /// The foundation's output that names its role.
    pub(crate) fn role(self) -> &'static str {
        match self {
            Self::Poller => "PollerRole",
            Self::Dispatcher => "DispatcherRole",
            Self::Webhook => "WebhookRole",
            Self::Api => "ApiRole",
        }
    }

    /// The function's environment. It contains no secret.
    pub(crate) fn environment(
        self,
        cloud: &Cloud,
        outputs: &Outputs,
        told: &FunctionOptions,
    ) -> Result<BTreeMap<&'static str, String>, Error> {
        let mut all = BTreeMap::from([
            ("GAFFER_STACK", cloud.stack.to_string()),
            ("GAFFER_WORK_QUEUE", outputs.get("WorkQueue")?),
            ("GAFFER_WORK_DEAD_QUEUE", outputs.get("WorkDeadQueue")?),
        ]);
        match self {
            Self::Webhook => {}
            Self::Poller | Self::Dispatcher | Self::Api => {
                all.insert("GAFFER_TABLE", outputs.get("Table")?);
                // No function reads it: a refilled table makes a new version, whose instances begin with its present
                // contents.
                all.insert("GAFFER_INSTALLATION", told.installation.clone());
                all.insert(
                    OBSERVE_ONLY,
                    told.observe_only.unwrap_or_default().to_string(),
                );
            }
        }
        match self {
            Self::Poller => {
                all.insert("GAFFER_TICKS_QUEUE", outputs.get("TicksQueue")?);
                all.insert("GAFFER_TICKS_DEAD_QUEUE", outputs.get("TicksDeadQueue")?);
            }
            Self::Dispatcher => {
                let hosts = told.allow_hosts.clone().unwrap_or_default();
                all.insert(ALLOW_HOSTS, hosts.join(","));
            }
            Self::Webhook | Self::Api => {}
        }
        if matches!(self, Self::Poller | Self::Dispatcher) {
            all.extend(told.upstreams.iter().map(|(name, at)| (*name, at.clone())));
        }
        if let Some(endpoint) = &cloud.endpoint {
            all.insert("AWS_ENDPOINT_URL", endpoint.to_string());
        }
        Ok(all)
    }
}

/// What people say about how the functions behave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionOptions {
    /// Write nothing outside; `None` leaves it unchanged.
    pub observe_only: Option<bool>,
    /// Agents' hosts that may be woken although they are private; `None` leaves them unchanged.
    pub allow_hosts: Option<Vec<String>>,
    /// Whose table it is.
    pub(crate) installation: String,
    /// Addresses of Jules and GitHub and the App, by variable: read from the table, so that a new deployment takes up
    /// what changed there.
    pub(crate) upstreams: BTreeMap<&'static str, String>,
}

impl FunctionOptions {
    /// What people say.
    pub fn new(observe_only: Option<bool>, allow_hosts: Option<Vec<String>>) -> Self {
        let named = |hosts: Vec<String>| hosts.into_iter().filter(|it| !it.is_empty()).collect();
        Self {
            observe_only,
            allow_hosts: allow_hosts.map(named),
            ..Self::default()
        }
    }

    /// Fills in what was not given from the previous deployment.
    pub(crate) fn or_as_before(self, environment: &HashMap<String, String>) -> Self {
        let hosts = || {
            let hosts = environment.get(ALLOW_HOSTS)?.split(',');
            Some(
                hosts
                    .filter(|it| !it.is_empty())
                    .map(str::to_owned)
                    .collect(),
            )
        };
        let observes = || environment.get(OBSERVE_ONLY)?.parse().ok();
        Self {
            observe_only: self.observe_only.or_else(observes),
            allow_hosts: self.allow_hosts.or_else(hosts),
            ..self
        }
    }

    /// How the functions behave, for people.
    pub(crate) fn words(&self) -> String {
        let writes = match self.observe_only.unwrap_or_default() {
            true => "they watch only and write nothing outside",
            false => "they act",
        };
        match self.allow_hosts.as_deref().unwrap_or_default() {
            [] => writes.to_owned(),
            hosts => format!("{writes}; they may wake {}", hosts.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(pairs: [(&str, &str); 2]) -> HashMap<String, String> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        pairs.map(owned).into()
    }

    #[test]
    fn what_nobody_says_stays_as_it_was() {
        let watching = before([(OBSERVE_ONLY, "true"), (ALLOW_HOSTS, "10.0.0.1:80,bot")]);
        let same = FunctionOptions::new(None, None).or_as_before(&watching);
        assert_eq!(same.observe_only, Some(true));
        let hosts = ["10.0.0.1:80", "bot"].map(str::to_owned);
        assert_eq!(same.allow_hosts, Some(hosts.into()));
        assert_eq!(
            same.words(),
            "they watch only and write nothing outside; they may wake 10.0.0.1:80, bot"
        );
        let other =
            FunctionOptions::new(Some(false), Some(vec![String::new()])).or_as_before(&watching);
        assert_eq!(other.observe_only, Some(false));
        assert_eq!(other.allow_hosts, Some(Vec::new()));
        let first = FunctionOptions::new(None, None).or_as_before(&HashMap::new());
        assert_eq!(
            (first.words().as_str(), first.observe_only),
            ("they act", None)
        );
    }
}
