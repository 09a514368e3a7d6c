//! Secrets in SSM: encrypted parameters below one path, each read only by the functions that need it.

use std::time::Duration;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_ssm::Client;
use aws_sdk_ssm::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_ssm::operation::delete_parameter::DeleteParameterError;
use aws_sdk_ssm::operation::get_parameter::GetParameterError;
use aws_sdk_ssm::types::ParameterType;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};

/// Time limit of one answer: the caller mostly has a cached secret, or a person waiting.
const ATTEMPT_WITHIN: Duration = Duration::from_millis(1_500);

/// Longest wait for a secret with all attempts.
const READ_WITHIN: Duration = Duration::from_secs(3);

/// Codes with which the store refuses, as opposed to being unavailable. A wrong clock or expired credentials say
/// nothing about the secret.
const REFUSALS: [&str; 2] = ["AccessDeniedException", "InvalidKeyId"];

/// The secrets of one stack.
#[derive(Debug, Clone)]
pub struct Parameters {
    client: Client,
    root: String,
}

impl Parameters {
    /// The secrets below `/gaffer/STACK/`.
    pub fn new(config: &SdkConfig, stack: &str) -> Self {
        Self {
            client: Client::from_conf(patient(config)),
            root: format!("/gaffer/{stack}"),
        }
    }

    /// The parameter's whole name.
    pub fn path(&self, name: &SecretName) -> String {
        format!("{}/{}", self.root, name.path())
    }
}

/// The usual settings with shorter waits.
fn patient(config: &SdkConfig) -> aws_sdk_ssm::Config {
    let usual = config.timeout_config();
    let at_most = |usual: Option<Duration>, most: Duration| usual.map_or(most, |it| it.min(most));
    let (attempt, whole) = usual.map_or((None, None), |it| {
        (it.operation_attempt_timeout(), it.operation_timeout())
    });
    let timeouts = usual
        .map_or_else(TimeoutConfig::builder, TimeoutConfig::to_builder)
        .operation_attempt_timeout(at_most(attempt, ATTEMPT_WITHIN))
        .operation_timeout(at_most(whole, READ_WITHIN));
    aws_sdk_ssm::config::Builder::from(config)
        .timeout_config(timeouts.build())
        .build()
}

#[async_trait]
impl Secrets for Parameters {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        let path = self.path(name);
        let answer = self
            .client
            .get_parameter()
            .name(&path)
            .with_decryption(true)
            .send()
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) if is_unknown(&error) => return Err(SecretsError::Missing(path)),
            Err(error) => return Err(unusable(path, &error)),
        };
        let value = answer.parameter.and_then(|parameter| parameter.value);
        let value = value.ok_or_else(|| SecretsError::Unusable {
            name: path,
            message: "the parameter store answered without a value".to_owned(),
        })?;
        Ok(SecretString::from(value.trim_end_matches(['\r', '\n'])))
    }

    async fn write(&self, name: &SecretName, value: &SecretString) -> Result<(), SecretsError> {
        let path = self.path(name);
        let answer = self
            .client
            .put_parameter()
            .name(&path)
            .value(value.expose_secret())
            .r#type(ParameterType::SecureString)
            .overwrite(true)
            .send()
            .await;
        answer.map(drop).map_err(|error| unusable(path, &error))
    }

    async fn remove(&self, name: &SecretName) -> Result<(), SecretsError> {
        let path = self.path(name);
        let answer = self.client.delete_parameter().name(&path).send().await;
        match answer {
            Ok(_) => Ok(()),
            Err(error) if was_unknown(&error) => Ok(()),
            Err(error) => Err(unusable(path, &error)),
        }
    }
}

fn is_unknown<R>(error: &SdkError<GetParameterError, R>) -> bool {
    error
        .as_service_error()
        .is_some_and(GetParameterError::is_parameter_not_found)
}

fn was_unknown<R>(error: &SdkError<DeleteParameterError, R>) -> bool {
    error
        .as_service_error()
        .is_some_and(DeleteParameterError::is_parameter_not_found)
}

fn unusable<E>(name: String, error: &SdkError<E, HttpResponse>) -> SecretsError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let message = DisplayErrorContext(error).to_string();
    let refused = error
        .as_service_error()
        .and_then(ProvideErrorMetadata::code)
        .is_some_and(|code| REFUSALS.contains(&code));
    if refused {
        SecretsError::Unusable { name, message }
    } else {
        SecretsError::Unreachable { name, message }
    }
}
