//! Secrets in SSM: encrypted parameters below one path, each read only by the functions that need it.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_ssm::Client;
use aws_sdk_ssm::error::{DisplayErrorContext, SdkError};
use aws_sdk_ssm::operation::delete_parameter::DeleteParameterError;
use aws_sdk_ssm::operation::get_parameter::GetParameterError;
use aws_sdk_ssm::types::ParameterType;
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};

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

fn unusable<E, R>(name: String, error: &SdkError<E, R>) -> SecretsError
where
    E: std::error::Error + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static,
{
    SecretsError::Unusable {
        name,
        message: DisplayErrorContext(error).to_string(),
    }
}
