//! The target of a deployment: the clients of one account and region, and the output for progress.

use std::time::Duration;

use aws::Parameters;
use aws_config::{Region, SdkConfig};
use url::Url;

use crate::error::Error;
use crate::name::StackName;

/// Poll interval while waiting. Most waits take half a minute.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Which stack is meant, and where it is.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its name.
    pub stack: StackName,
    /// Where AWS is, when it is not AWS's own: an emulator.
    pub endpoint: Option<Url>,
    /// The region; out of the environment or the profile without one.
    pub region: Option<String>,
}

/// One stack's place, reached.
pub struct Cloud {
    pub(crate) stack: StackName,
    pub(crate) endpoint: Option<Url>,
    pub(crate) region: String,
    pub(crate) config: SdkConfig,
    pub(crate) stacks: aws_sdk_cloudformation::Client,
    pub(crate) functions: aws_sdk_lambda::Client,
    pub(crate) parameters: aws_sdk_ssm::Client,
    pub(crate) secrets: Parameters,
    pub(crate) tell: fn(&str),
}

impl Cloud {
    /// Clients for a place. `tell` receives one line for each step.
    pub async fn open(place: Place, tell: fn(&str)) -> Result<Self, Error> {
        let mut config = aws::connect().await.into_builder();
        if let Some(region) = place.region {
            config.set_region(Some(Region::new(region)));
        }
        if let Some(endpoint) = &place.endpoint {
            config.set_endpoint_url(Some(endpoint.to_string()));
        }
        let config = config.build();
        let region = config.region().map(ToString::to_string);
        let region = region.ok_or_else(|| {
            Error::stopped(
                "finding the place of the stack",
                "no region is named",
                "give one with `--region`, in AWS_REGION or in the profile",
            )
        })?;
        Ok(Self {
            stacks: aws_sdk_cloudformation::Client::new(&config),
            functions: aws_sdk_lambda::Client::new(&config),
            parameters: aws_sdk_ssm::Client::new(&config),
            secrets: Parameters::new(&config, place.stack.as_str()),
            stack: place.stack,
            endpoint: place.endpoint,
            region,
            config,
            tell,
        })
    }

    /// Reports a step.
    pub(crate) fn say(&self, line: impl AsRef<str>) {
        (self.tell)(line.as_ref());
    }

    /// Whether this machine is the place: an emulator on it runs what this machine can run.
    pub fn is_here(&self) -> bool {
        self.endpoint.as_ref().is_some_and(is_here)
    }
}

/// Whether an address leads back to this machine.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_here() {
        for (text, here) in [
            ("http://127.0.0.1:4577", true),
            ("http://[::1]:4577", true),
            ("http://localhost:4577", true),
            ("http://10.0.0.1:4577", false),
            ("https://localhost.example.com", false),
        ] {
            assert_eq!(is_here(&text.parse().unwrap()), here, "{text}");
        }
    }
}
