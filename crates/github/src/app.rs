//! Making a GitHub App for the person who asked for it, and seeing where it is installed.

use domain::effect::CALL_TIMEOUT;
use domain::failure::Failure;
use http::Method;
use jiff::Timestamp;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::{
    Base, Connection, Error, Media, Request, Settings, answered, deadline, exchange, proof, segment,
};

/// An App that GitHub has just made. GitHub shows its secrets only this once.
#[derive(Debug)]
pub struct NewApp {
    /// Its id.
    pub id: u64,
    /// Its name in addresses.
    pub slug: String,
    /// Its page.
    pub html_url: String,
    /// Its private key, PEM.
    pub pem: SecretString,
    /// What its webhooks are signed with, if it has any.
    pub webhook_secret: Option<SecretString>,
}

/// [`NewApp`] as it travels.
#[derive(Deserialize)]
struct NewAppWire {
    id: u64,
    slug: String,
    html_url: String,
    pem: String,
    webhook_secret: Option<String>,
}

/// An account that has installed the App.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Installed {
    /// The installation's id.
    pub id: u64,
    /// Whose it is.
    pub account: Account,
    /// Since when it is suspended, if it is.
    #[serde(default)]
    pub suspended_at: Option<Timestamp>,
}

/// A person or an organisation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Account {
    /// Its login.
    pub login: String,
}

/// Exchanges codes for Apps, which makes them; only `gaffer github setup` holds one.
#[derive(Debug, Clone)]
pub struct AppMaker {
    connection: Connection,
    base: Base,
}

impl AppMaker {
    /// One for a GitHub.
    ///
    /// # Errors
    /// [`Error::Address`].
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let base = Base::new(&settings.base)?;
        let connection = Connection::to(&base);
        Ok(Self { connection, base })
    }

    /// Exchanges the code that GitHub's page gave. A code works once and for an hour; `NotFound` when it does not.
    ///
    /// # Errors
    /// Those of any call.
    pub async fn convert(&self, code: &str) -> Result<NewApp, Failure> {
        let path = format!("/app-manifests/{}/conversions", segment(code));
        let doing = "exchanging the code for the App";
        let made: NewAppWire = self.call(Method::POST, &path, None, doing).await?;
        Ok(NewApp {
            id: made.id,
            slug: made.slug,
            html_url: made.html_url,
            pem: SecretString::from(made.pem),
            webhook_secret: made.webhook_secret.map(SecretString::from),
        })
    }

    /// Where an App is installed: its first hundred installations, which show whether there is any.
    ///
    /// # Errors
    /// `Unauthorized` when the key does not fit the id.
    pub async fn installations(
        &self,
        app_id: u64,
        private_key: &SecretString,
        now: Timestamp,
    ) -> Result<Vec<Installed>, Failure> {
        let bearer = proof(app_id, private_key, now)?;
        let doing = "looking for the App's installations";
        let path = "/app/installations?per_page=100";
        self.call(Method::GET, path, Some(&bearer), doing).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        bearer: Option<&SecretString>,
        doing: &str,
    ) -> Result<T, Failure> {
        let url = self.base.rest(path);
        let request = Request {
            media: Media::Json,
            method,
            url: &url,
            body: None,
            bearer,
            etag: None,
        };
        let received = exchange(&self.connection, request, deadline(CALL_TIMEOUT))
            .await
            .map_err(|lost| lost.failure(doing))?;
        answered(&received, doing)
    }
}
