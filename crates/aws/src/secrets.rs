//! Secrets in SSM: encrypted parameters below one path, each read only by the functions that need it.

use std::ops::Range;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_ssm::Client;
use aws_sdk_ssm::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_ssm::operation::delete_parameter::DeleteParameterError;
use aws_sdk_ssm::operation::get_parameter::GetParameterError;
use aws_sdk_ssm::types::ParameterType;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};

/// The statuses with which the store says that it will not, rather than that it cannot now.
const REFUSALS: Range<u16> = 400..500;

/// A refusal of these codes is none for good. SSM answers 40 calls a second.
const THROTTLED: [&str; 2] = ["ThrottlingException", "TooManyUpdates"];

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
            client: Client::new(config),
            root: format!("/gaffer/{stack}"),
        }
    }

    /// The parameter's whole name.
    pub fn path(&self, name: &SecretName) -> String {
        format!("{}/{}", self.root, name.path())
    }
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
        .raw_response()
        .is_some_and(|answer| REFUSALS.contains(&answer.status().as_u16()));
    let throttled = error
        .as_service_error()
        .and_then(ProvideErrorMetadata::code)
        .is_some_and(|code| THROTTLED.contains(&code));
    if refused && !throttled {
        SecretsError::Unusable { name, message }
    } else {
        SecretsError::Unreachable { name, message }
    }
}
