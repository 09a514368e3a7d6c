//! Smoke tests of a deployment: each endpoint as it must answer a stranger, and the poller when it is called.

use std::time::Duration;

use aws_sdk_lambda::config::Builder;
use aws_sdk_lambda::config::timeout::TimeoutConfig;
use reqwest::header::HOST;
use reqwest::{Client, Method, StatusCode};
use url::Url;

use crate::alias::LIVE;
use crate::cloud::{Cloud, LOOK_EVERY};
use crate::error::Error;
use crate::function::Function;
use crate::put::Endpoints;

/// Maximum attempts at an endpoint: a new function URL is not known everywhere for some seconds.
const ATTEMPTS: usize = 30;

/// Longest wait for one answer: longer than any function may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(70);

/// A request of a stranger to an endpoint, and the status with which it must be answered.
struct SmokeTest<'a> {
    name: &'a str,
    endpoint: &'a str,
    method: Method,
    path: &'a str,
    wanted: StatusCode,
}

impl Cloud {
    /// Tests both endpoints and the poller.
    pub(crate) async fn try_out(&self, endpoints: &Endpoints) -> Result<(), Error> {
        self.test_endpoint(&SmokeTest {
            name: "webhook",
            endpoint: &endpoints.webhook,
            method: Method::POST,
            path: "github/webhook",
            wanted: StatusCode::UNAUTHORIZED,
        })
        .await?;
        self.test_endpoint(&SmokeTest {
            name: "api",
            endpoint: &endpoints.api,
            method: Method::GET,
            path: "healthz",
            wanted: StatusCode::OK,
        })
        .await?;
        self.call_poller().await
    }

    async fn test_endpoint(&self, test: &SmokeTest<'_>) -> Result<(), Error> {
        let SmokeTest {
            name,
            endpoint,
            method,
            path,
            wanted,
        } = test;
        let doing = format!("trying the API {name}");
        let failed =
            |why: String| Error::stopped(&doing, why, "look into its log, and deploy again");
        let client = Client::builder().timeout(ANSWER_WITHIN).build();
        let client = client.map_err(|error| failed(error.to_string()))?;
        let (address, host) = self
            .address(endpoint, path)
            .map_err(|error| failed(error.to_string()))?;
        let mut said = String::new();
        let mut beat = tokio::time::interval(LOOK_EVERY);
        for _ in 0..ATTEMPTS {
            beat.tick().await;
            let mut ask = client.request(method.clone(), address.clone()).body("{}");
            if let Some(host) = &host {
                ask = ask.header(HOST, host);
            }
            match ask.send().await {
                Ok(answer) if answer.status() == *wanted => {
                    self.say(format!("{name}: answers {wanted} at {endpoint}{path}"));
                    return Ok(());
                }
                Ok(answer) => said = format!("it answers {}, not {wanted}", answer.status()),
                Err(error) => said = error.to_string(),
            }
        }
        Err(failed(said))
    }

    /// The address and host name of an endpoint: an emulator serves those of all functions at its own address.
    fn address(
        &self,
        endpoint: &str,
        path: &str,
    ) -> Result<(Url, Option<String>), url::ParseError> {
        let url = Url::parse(endpoint)?.join(path)?;
        let Some(endpoint) = &self.endpoint else {
            return Ok((url, None));
        };
        let host = url.host_str().map(str::to_owned);
        Ok((endpoint.join(url.path())?, host))
    }

    async fn call_poller(&self) -> Result<(), Error> {
        let name = Function::Poller.name(self);
        let doing = format!("calling the function {name}");
        let patience = TimeoutConfig::builder().operation_attempt_timeout(ANSWER_WITHIN);
        let answer = self
            .functions
            .invoke()
            .function_name(&name)
            .qualifier(LIVE)
            .customize()
            .config_override(Builder::new().timeout_config(patience.build()))
            .send()
            .await;
        let answer = answer.map_err(|error| Error::aws(&doing, &error.into_service_error()))?;
        let Some(wrong) = answer.function_error else {
            self.say("poller: answers a call");
            return Ok(());
        };
        let told = answer
            .payload
            .map(|it| String::from_utf8_lossy(it.as_ref()).into_owned());
        let why = format!("{wrong}: {}", told.unwrap_or_default());
        Err(Error::stopped(
            doing,
            why,
            "look into its log, and deploy again",
        ))
    }
}
