//! Signs one wake and sends it, once.

use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass};
use domain::fence::clip;
use domain::ids::{AgentName, EventId};
use domain::redact::redact;
use domain::wake::{Notice, Notify};
use engine::ports::{AgentsWrite, Delivered, Envelope, SecretName, Secrets};
use jiff::Timestamp;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder};
use secrecy::ExposeSecret;
use url::Url;

use crate::answer;
use crate::destination::{
    self, AddressPolicy, CheckedResolver, HostRule, Lookup, Refusal, SystemLookup,
};
use crate::signature::SigningSecrets;

/// Time for one attempt, from the lookup of the name to the end of the answer: Standard Webhooks advises 15 to 30 s.
pub const TRY_TIMEOUT: Duration = Duration::from_secs(20);

/// Time for the lookup and the handshakes: what fails within it certainly was not sent.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A body stays below this many bytes, as Standard Webhooks advises.
pub const BODY_BYTES_LIMIT: usize = 20_000;

/// Most characters of a failure's message, as the domain has it.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// Who sends, as receivers see it in their logs.
const USER_AGENT: &str = concat!("gaffer/", env!("CARGO_PKG_VERSION"));

/// What the configuration says about sending.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Hosts that may be woken although they are private, speak plain HTTP or listen on another port.
    pub allow: Vec<HostRule>,
}

/// Shows a title and a text on a desktop, or says why not.
pub type Desktop = Arc<dyn Fn(&str, &str) -> Result<(), String> + Send + Sync>;

/// Wakes agents over HTTP.
pub struct Sender {
    rules: Vec<HostRule>,
    secrets: Arc<dyn Secrets>,
    lookup: Arc<dyn Lookup>,
    desktop: Option<Desktop>,
    /// Made at the first wake: reading the machine's root certificates takes longer than a function may take to begin.
    to_strangers: OnceLock<Client>,
    to_allowed: OnceLock<Client>,
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl Sender {
    /// A sender that resolves names as the system does.
    pub fn new(settings: Settings, secrets: Arc<dyn Secrets>) -> Self {
        Self::with_lookup(settings, secrets, Arc::new(SystemLookup))
    }

    /// A sender with another resolver, for tests; every address is still checked.
    pub(crate) fn with_lookup(
        settings: Settings,
        secrets: Arc<dyn Secrets>,
        lookup: Arc<dyn Lookup>,
    ) -> Self {
        Self {
            rules: settings.allow,
            secrets,
            lookup,
            desktop: None,
            to_strangers: OnceLock::new(),
            to_allowed: OnceLock::new(),
        }
    }

    /// The same for a process on a person's machine, with a desktop to show notices on.
    pub fn with_desktop(self, desktop: Desktop) -> Self {
        Self {
            desktop: Some(desktop),
            ..self
        }
    }

    /// The client that is as strict as a destination demands; none can be made on a machine without root certificates.
    fn client(&self, trust: AddressPolicy) -> Result<&Client, reqwest::Error> {
        let place = match trust {
            AddressPolicy::Stranger => &self.to_strangers,
            AddressPolicy::Allowed => &self.to_allowed,
        };
        if let Some(client) = place.get() {
            return Ok(client);
        }
        let made = client(Arc::clone(&self.lookup), trust)?;
        Ok(place.get_or_init(|| made))
    }

    async fn signing_secrets(&self, agent: &AgentName) -> Result<SigningSecrets, Failure> {
        let unusable = |class, why: &dyn fmt::Display| {
            let message = format!(
                "cannot sign a wake of agent {agent}: {why}; set the secret `agents/{agent}` anew, here and at the receiver"
            );
            Failure::new(class, message).never_sent()
        };
        let stored = self
            .secrets
            .read(&SecretName::Agent(agent.clone()))
            .await
            .map_err(|error| unusable(error.class(), &error))?;
        SigningSecrets::parse(&stored).map_err(|error| unusable(FailureClass::Unauthorized, &error))
    }

    /// The attempt, ready to go, through the client that is as strict as its destination demands.
    fn request(
        &self,
        envelope: &Envelope,
        secrets: &SigningSecrets,
    ) -> Result<RequestBuilder, Failure> {
        let trust = destination::check(&envelope.url, &self.rules)
            .map_err(|refusal| refused(envelope, &refusal))?;
        let client = self
            .client(trust)
            .map_err(|error| failure(envelope, &error))?;
        let (id, unix_seconds) = (envelope.id.as_str(), envelope.at.as_second());
        Ok(client
            .post(envelope.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", unix_seconds.to_string())
            .header(
                "webhook-signature",
                secrets.sign(id, unix_seconds, &envelope.body),
            )
            .body(envelope.body.clone()))
    }
}

#[async_trait]
impl AgentsWrite for Sender {
    async fn deliver(&self, envelope: &Envelope) -> Result<Delivered, Failure> {
        check_body(envelope)?;
        let secrets = self.signing_secrets(&envelope.agent).await?;
        match self.request(envelope, &secrets)?.send().await {
            Ok(response) => Ok(answer::read(response, envelope.at).await),
            Err(error) => Err(failure(envelope, &error)),
        }
    }

    async fn notify(
        &self,
        name: &AgentName,
        notify: Notify,
        notice: &Notice,
        at: Timestamp,
    ) -> Result<Delivered, Failure> {
        if notify == Notify::Desktop {
            return self.show(name, notice.clone()).await;
        }
        let (content_type, body) = notify.body(notice);
        let envelope = Envelope {
            agent: name.clone(),
            url: self.address(name).await?,
            id: EventId::from_name(&body),
            body,
            at,
        };
        let trust = destination::check(&envelope.url, &self.rules)
            .map_err(|refusal| refused(&envelope, &refusal))?;
        let client = self
            .client(trust)
            .map_err(|error| failure(&envelope, &error))?;
        let request = client
            .post(envelope.url.clone())
            .header(CONTENT_TYPE, content_type)
            .body(envelope.body.clone());
        match request.send().await {
            Ok(response) => Ok(answer::read(response, at).await),
            Err(error) => Err(failure(&envelope, &error)),
        }
    }
}

impl Sender {
    /// The address that a person's notices go to.
    async fn address(&self, name: &AgentName) -> Result<Url, Failure> {
        let unusable = |class, why: &dyn fmt::Display| {
            let message = format!(
                "cannot notify {name}: {why}; remove it with `gaffer agent remove {name}` and add it again"
            );
            Failure::new(class, message).never_sent()
        };
        let stored = self
            .secrets
            .read(&SecretName::Agent(name.clone()))
            .await
            .map_err(|error| unusable(error.class(), &error))?;
        stored
            .expose_secret()
            .trim()
            .parse()
            .map_err(|_| unusable(FailureClass::Invalid, &"its secret is no address"))
    }

    async fn show(&self, name: &AgentName, notice: Notice) -> Result<Delivered, Failure> {
        let failed = |why: &str| {
            let message = format!("cannot notify {name} on the desktop: {why}");
            Failure::new(FailureClass::Invalid, message).never_sent()
        };
        let Some(desktop) = self.desktop.clone() else {
            return Err(failed("only `gaffer up` on that machine can"));
        };
        let shown = tokio::task::spawn_blocking(move || desktop(&notice.title, &notice.text));
        match shown.await {
            Ok(Ok(())) => Ok(Delivered::Acknowledged),
            Ok(Err(why)) => Err(failed(&clip(&redact(&why), MESSAGE_CHARS_MAX))),
            Err(_) => Err(failed("showing it was interrupted")),
        }
    }
}

/// A client that connects to its URL and nowhere else: no redirects, no proxy of the environment, no retry, no
/// connection kept.
///
/// A connection is not kept so that the name is resolved and checked at every attempt, and no wake is lost in one
/// that died meanwhile.
pub(crate) fn client(
    lookup: Arc<dyn Lookup>,
    trust: AddressPolicy,
) -> Result<Client, reqwest::Error> {
    // The HTTP client takes the process's provider and panics without one. The first caller sets it; all of ours set
    // the same.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .user_agent(USER_AGENT)
        .dns_resolver(Arc::new(CheckedResolver { lookup, trust }))
        .redirect(Policy::none())
        .no_proxy()
        .no_gzip()
        .http1_only()
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TRY_TIMEOUT)
        .build()
}

fn check_body(envelope: &Envelope) -> Result<(), Failure> {
    let bytes = envelope.body.len();
    if bytes < BODY_BYTES_LIMIT {
        return Ok(());
    }
    let message = format!(
        "a wake of agent {} has {bytes} bytes, it must stay below {BODY_BYTES_LIMIT}",
        envelope.agent
    );
    Err(Failure::new(FailureClass::Invalid, message).never_sent())
}

fn refused(envelope: &Envelope, refusal: &Refusal) -> Failure {
    let message = doing(envelope, &refusal.to_string());
    Failure::new(FailureClass::Invalid, message).never_sent()
}

fn failure(envelope: &Envelope, error: &reqwest::Error) -> Failure {
    if let Some(refusal) = causes(error).find_map(|cause| cause.downcast_ref::<Refusal>()) {
        return refused(envelope, refusal);
    }
    // The first cause says in its message where it went, path and all; that may hold a token. The causes below do not.
    let mut causes: Vec<String> = causes(error).skip(1).map(ToString::to_string).collect();
    // Some causes repeat the one below them.
    causes.dedup_by(|below, above| above.ends_with(below.as_str()));
    let late = if error.is_timeout() {
        "no answer in time"
    } else {
        "no answer"
    };
    let failure = Failure::new(
        FailureClass::Network,
        doing(envelope, &format!("{late}: {}", causes.join(": "))),
    );
    if error.is_connect() || error.is_builder() {
        failure.never_sent()
    } else {
        failure
    }
}

fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&cause| cause.source())
}

/// What we were doing, by the host alone: the path of such an address is often a secret itself.
fn doing(envelope: &Envelope, why: &str) -> String {
    let host = envelope.url.host_str().unwrap_or("no host");
    clip(
        &redact(&format!(
            "cannot wake agent {} at {host}: {why}",
            envelope.agent
        )),
        MESSAGE_CHARS_MAX,
    )
}
