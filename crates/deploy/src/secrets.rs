//! Secrets that a deployment generates when they are missing. CloudFormation cannot make encrypted parameters.

use std::io::IsTerminal;

use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};

use crate::cloud::Cloud;
use crate::error::Error;

impl Cloud {
    /// Makes the first API token and the webhook secret if there are none. The token is printed once, at a terminal;
    /// it can be read in its store.
    pub(crate) async fn first_secrets(&self) -> Result<(), Error> {
        let place = |name| self.secrets.path(name);
        let token = SecretString::from(format!("gaf_{}", random()));
        if self.make(&SecretName::ApiToken, &token).await? {
            let at = place(&SecretName::ApiToken);
            self.say(match std::io::stdout().is_terminal() {
                true => format!(
                    "API token, told this once and kept in {at}: {}",
                    token.expose_secret()
                ),
                // What is no terminal may be a log that others read.
                false => format!("API token: made, in {at}"),
            });
        } else {
            self.say(format!("API token: in {}", place(&SecretName::ApiToken)));
        }
        let secret = SecretString::from(random());
        let made = self.make(&SecretName::Webhook, &secret).await?;
        let word = if made { "made, " } else { "" };
        self.say(format!(
            "webhook secret: {word}in {}",
            place(&SecretName::Webhook)
        ));
        Ok(())
    }

    async fn make(&self, name: &SecretName, value: &SecretString) -> Result<bool, Error> {
        match self.secrets.read(name).await {
            Ok(_) => Ok(false),
            Err(SecretsError::Missing(_)) => {
                let written = self.secrets.write(name, value).await;
                written.map(|()| true).map_err(|error| failed(&error))
            }
            Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
                Err(failed(&error))
            }
        }
    }
}

fn failed(error: &SecretsError) -> Error {
    let next = "see that you may read and write the parameters of the stack, and deploy again";
    Error::stopped("making the first secrets", error.to_string(), next)
}

/// 256 random bits.
fn random() -> String {
    format!(
        "{:032x}{:032x}",
        rand::random::<u128>(),
        rand::random::<u128>()
    )
}
