//! The four functions: how each is built, what it may take, and what the deployment tells it.

use std::collections::BTreeMap;

use crate::cloud::Cloud;
use crate::error::Error;
use crate::stacks::Outputs;

/// For how long a message that was received stays hidden, in seconds: six times as long as the dispatcher may work on a batch, as AWS advises.
pub(crate) const VISIBILITY_SECONDS: u32 = 6 * Function::Dispatcher.timeout_seconds();

/// One of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Function {
    /// Looks at what is due.
    Poller,
    /// Decides and performs.
    Dispatcher,
    /// Takes what GitHub sends.
    Webhook,
    /// Takes orders.
    Api,
}

impl Function {
    /// All of them. Who takes orders goes last: nothing asks for what the others do not know yet.
    pub const ALL: [Self; 4] = [Self::Dispatcher, Self::Poller, Self::Webhook, Self::Api];

    /// What it is called after the stack's name; its binary is called so too.
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
            // An order waits up to ten seconds for what comes of it.
            Self::Api => 20,
        }
    }

    /// Its memory, in megabytes. Processor time comes in proportion, and each of them needs little of both.
    pub const fn memory(self) -> u32 {
        match self {
            // Somebody waits for these.
            Self::Webhook | Self::Api | Self::Dispatcher => 256,
            // Called every ten seconds while anything is active, it mostly waits for answers.
            Self::Poller => 128,
        }
    }

    /// What it is called in AWS.
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

    /// What the deployment tells it. No secret is among it.
    pub(crate) fn environment(
        self,
        cloud: &Cloud,
        (outputs, told): (&Outputs, &Told),
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
                all.insert("GAFFER_OBSERVE_ONLY", told.observe_only.to_string());
            }
        }
        match self {
            Self::Poller => {
                all.insert("GAFFER_TICKS_QUEUE", outputs.get("TicksQueue")?);
                all.insert("GAFFER_TICKS_DEAD_QUEUE", outputs.get("TicksDeadQueue")?);
            }
            Self::Dispatcher => {
                all.insert("GAFFER_ALLOW_HOSTS", told.allow_hosts.join(","));
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
pub struct Told {
    /// Write nothing outside.
    pub observe_only: bool,
    /// Agents' hosts that may be woken although they are private.
    pub allow_hosts: Vec<String>,
    /// Where Jules and GitHub are and which App signs in, by variable: read out of the table, so that a new deployment takes up what changed there.
    pub(crate) upstreams: BTreeMap<&'static str, String>,
}

impl Told {
    /// What people say.
    pub fn new(observe_only: bool, allow_hosts: Vec<String>) -> Self {
        Self {
            observe_only,
            allow_hosts,
            upstreams: BTreeMap::new(),
        }
    }
}
