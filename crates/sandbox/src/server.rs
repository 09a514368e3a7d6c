//! Starting and stopping: one socket with Jules, GitHub, the agents' receivers and control behind it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Error;
use crate::agent::{self, Agents};
use crate::control;
use crate::counters::{Counters, Logged};
use crate::faults::{Faults, Service};
use crate::gate::{Gate, pass};
use crate::github::{self, GitHub};
use crate::jules::{self, Jules};
use crate::options::{Drive, Options};
use crate::parts::Parts;
use crate::scenario::ForeignPull;
use crate::webhook::WebhookTarget;
use crate::wire::{CuttableListener, Cutter};

/// How often the background moves things forward in real time: well below what a person notices.
const BEAT: Duration = Duration::from_millis(20);

/// How long stopping waits for requests that are being answered.
const STOP_LIMIT: Duration = Duration::from_millis(500);

/// A running sandbox; it stops when it is dropped.
pub struct Sandbox {
    parts: Parts,
    addr: SocketAddr,
    /// Cuts the connections that do not end by themselves.
    cut_all: Arc<AtomicBool>,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    background: Vec<JoinHandle<()>>,
}

impl Sandbox {
    /// Sets up the scenario, binds the socket and serves.
    ///
    /// # Errors
    /// [`Error::Scenario`] naming the field that cannot be played, [`Error::Bind`] when the socket is not free.
    pub async fn start(options: Options) -> Result<Self, Error> {
        options.scenario.check()?;
        let listen = options.listen;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|source| Error::Bind { listen, source })?;
        let addr = listener
            .local_addr()
            .map_err(|source| Error::Bind { listen, source })?;
        let parts = Parts::new(&options)?;
        parts.github.set_base(&format!("http://{addr}/github"));

        let cut_all = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = watch::channel(false);
        let listener = CuttableListener::new(listener, Arc::clone(&cut_all));
        let server = tokio::spawn(serve(listener, parts.router(), stopped.clone()));
        let background = match options.drive {
            Drive::Manual => Vec::new(),
            Drive::RealTime => vec![
                tokio::spawn(keep_moving(parts.clone(), stopped.clone())),
                tokio::spawn(keep_posting(parts.clone(), stopped)),
            ],
        };
        Ok(Self {
            parts,
            addr,
            cut_all,
            stop,
            server,
            background,
        })
    }

    /// The address it listens on.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Base of the Jules API, `http://…/jules/v1alpha`.
    #[must_use]
    pub fn jules_base(&self) -> String {
        format!("http://{}/jules/v1alpha", self.addr)
    }

    /// Base of the GitHub API, `http://…/github`.
    #[must_use]
    pub fn github_base(&self) -> String {
        format!("http://{}/github", self.addr)
    }

    /// Address of an agent's receiver.
    #[must_use]
    pub fn agent_url(&self, name: &str) -> String {
        format!("http://{}/agent/{name}", self.addr)
    }

    /// Base of the control addresses, `http://…/_sandbox`.
    #[must_use]
    pub fn control_base(&self) -> String {
        format!("http://{}/_sandbox", self.addr)
    }

    /// The small Jules.
    #[must_use]
    pub fn jules(&self) -> &Jules {
        &self.parts.jules
    }

    /// The small GitHub.
    #[must_use]
    pub fn github(&self) -> &GitHub {
        &self.parts.github
    }

    /// The agents' receivers.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.parts.agents
    }

    /// The faults and lags.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.parts.faults
    }

    /// What really happened, counted.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.parts.counters.counters()
    }

    /// How many requests are being answered just now.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.parts.counters.in_flight()
    }

    /// Every request that came, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Logged> {
        self.parts.counters.requests()
    }

    /// Sets where GitHub's webhooks go from now on; earlier events are not sent.
    pub fn set_webhook(&self, target: WebhookTarget) {
        self.parts.github.set_webhook(Some(target));
    }

    /// Makes pull requests that Jules did not open; answers their numbers.
    ///
    /// # Errors
    /// [`Error::Scenario`] when the repository is unknown.
    pub fn add_foreign_pulls(&self, foreign: &ForeignPull) -> Result<Vec<u64>, Error> {
        self.parts.add_foreign_pulls(foreign)
    }

    /// Performs everything that is due.
    pub fn advance(&self) {
        self.parts.advance();
    }

    /// Posts the webhooks that are due, one after another, and returns how many were posted.
    pub async fn deliver_webhooks(&self) -> usize {
        self.parts.deliver_webhooks().await
    }

    /// Stops: no new connections, a moment for what is being answered, then the rest is cut.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        if tokio::time::timeout(STOP_LIMIT, &mut self.server)
            .await
            .is_err()
        {
            self.server.abort();
        }
        for task in std::mem::take(&mut self.background) {
            task.abort();
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.cut_all.store(true, Ordering::Release);
        self.stop.send_replace(true);
    }
}

impl Parts {
    fn router(&self) -> Router {
        let gate = |service| from_fn_with_state(self.gate(service), pass);
        let jules = jules::router(self.jules.clone()).layer(gate(Service::Jules));
        let github = github::router(self.github.clone(), Arc::clone(&self.clock))
            .layer(gate(Service::GitHub));
        let agents = agent::router(self.agents.clone()).layer(gate(Service::Agent));
        Router::new()
            .nest("/jules/v1alpha", jules)
            .nest("/github", github)
            .nest("/agent", agents)
            .nest("/_sandbox", control::router(self.clone()))
    }

    fn gate(&self, service: Service) -> Gate {
        let parts = self.clone();
        Gate {
            service,
            clock: Arc::clone(&self.clock),
            faults: self.faults.clone(),
            counters: self.counters.clone(),
            advance: Arc::new(move || parts.advance()),
        }
    }
}

async fn serve(listener: CuttableListener, app: Router, mut stopped: watch::Receiver<bool>) {
    let service = app.into_make_service_with_connect_info::<Cutter>();
    let served = axum::serve(listener, service).with_graceful_shutdown(async move {
        // An error means that the sandbox was dropped, which stops it as well.
        drop(stopped.changed().await);
    });
    if let Err(error) = served.await {
        tracing::error!(%error, "sandbox: the server ended");
    }
}

/// Moves things forward on every beat until the sandbox stops.
async fn keep_moving(parts: Parts, stopped: watch::Receiver<bool>) {
    let mut beat = tokio::time::interval(BEAT);
    while !*stopped.borrow() {
        beat.tick().await;
        parts.advance();
    }
}

/// Posts webhooks on every beat; apart, since a slow target must not hold up everything else.
async fn keep_posting(parts: Parts, stopped: watch::Receiver<bool>) {
    let mut beat = tokio::time::interval(BEAT);
    while !*stopped.borrow() {
        beat.tick().await;
        parts.deliver_webhooks().await;
    }
}
