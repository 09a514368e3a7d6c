//! One Gaffer in one process: poller, dispatcher and HTTP API over one data folder or over a stack's table and queues.

pub mod data;
mod loops;
mod port;
mod runner;
mod serve;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agents::HostRule;
use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::dispatcher::{Deliveries, Dispatcher, Readers, Writers};
use engine::poller::Poller;
use engine::ports::{Clock, DeadLetters, Queue, SecretName, Secrets};
use engine::ticks::Holder;
use jiff::SignedDuration;
use local::LocalQueue;
use secrecy::SecretString;
use tokio::net::TcpSocket;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use data::Data;
pub use github::BETWEEN_WRITES;
pub use loops::LoopIntervals;
pub use port::{PortError, bind};
pub use runner::Runner;
pub use token::Token;

/// Number of messages handled concurrently: one slow call must not hold up the others.
const WORKERS: usize = 4;

/// How long a stop waits for what is being done.
pub const STOP_WITHIN: Duration = Duration::from_secs(30);

/// How one process is set up.
pub struct Settings {
    /// The socket of the HTTP API; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Whether nothing may be written outside.
    pub observe_only: bool,
    /// Whether GitHub's webhooks are taken.
    pub webhooks: bool,
    /// Where Jules is; Google's own without one.
    pub jules_base: Option<String>,
    /// Where GitHub is; github.com without one.
    pub github_base: Option<String>,
    /// The App's id, when GitHub's secret is an App's key.
    pub github_app_id: Option<u64>,
    /// Agents' hosts that are allowed although they are private.
    pub allow_hosts: Vec<HostRule>,
    /// The bearer token from the environment, if any.
    pub token: Option<SecretString>,
    /// Intervals of the loops.
    pub rhythm: LoopIntervals,
    /// How long a call to Jules or GitHub may take.
    pub call_timeout: SignedDuration,
    /// How far writes to GitHub are apart, and a sixtieth of the window of its points; only a sandbox asks for less than
    /// [`BETWEEN_WRITES`].
    pub between_writes: SignedDuration,
}

/// What one process works on.
pub struct Base {
    /// Store, queue and time.
    pub backend: Backend,
    /// Where webhooks go.
    pub queue: Arc<dyn Queue>,
    /// The queue, where this process is notified of new messages.
    pub bell: Option<Arc<LocalQueue>>,
    /// Secrets by name.
    pub secrets: Arc<dyn Secrets>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where people find the bearer token, as text.
    pub token_place: String,
}

impl From<Data> for Base {
    fn from(data: Data) -> Self {
        let secrets = data.folder.join("secrets");
        let token = secrets.join(SecretName::ApiToken.path());
        Self {
            backend: data.backend,
            queue: data.queue.clone(),
            bell: Some(data.queue),
            secrets: data.secrets,
            clock: data.clock,
            token_place: token.display().to_string(),
        }
    }
}

/// A running process.
pub struct Running {
    /// The address of its HTTP API.
    pub addr: SocketAddr,
    /// The bearer token, and where it was found or put.
    pub token: Token,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

/// Starts everything; answers once the API is reachable.
pub async fn start(base: impl Into<Base>, settings: Settings) -> Result<Running> {
    start_on(bind(settings.listen)?, base, settings).await
}

/// What the webhooks of GitHub come to.
fn webhook_api(base: &Base, counters: Arc<api::WebhookCounters>) -> api::WebhookApi {
    api::WebhookApi {
        queue: base.queue.clone(),
        clock: base.clock.clone(),
        secrets: base.secrets.clone(),
        counters,
    }
}

/// The same on a port that [`bind`] took.
pub async fn start_on(
    socket: TcpSocket,
    base: impl Into<Base>,
    settings: Settings,
) -> Result<Running> {
    let base = base.into();
    let addr = socket
        .local_addr()
        .context("reading the address of the API")?;
    let token = token::find(&base, settings.token.clone()).await?;
    let listener = port::listen(socket, addr)?;
    let (readers, writers) = adapters(&base, &settings)?;
    let backend = base.backend.clone().observe_only(settings.observe_only);
    let (stop, stopped) = watch::channel(false);

    let poller = Poller::new(backend.clone(), readers.sessions.clone());
    let ticker = match base.bell {
        Some(_) => loops::Ticker::Free(poller),
        // Over a table of AWS functions may tick too.
        None => loops::Ticker::Leased(Holder::new(backend.clone(), poller)),
    };
    // Over a table of AWS others may write while this process observes, and receive beside it.
    if let Some(queue) = &base.bell {
        backend.note_observing().await?;
        take_over(queue, &backend).await?;
    }
    let mut dispatcher = Dispatcher::new(backend.clone(), readers, writers);
    if settings.webhooks {
        backend.listen().await?;
    } else {
        dispatcher = dispatcher.without_webhooks();
    }
    let dispatcher = Arc::new(dispatcher);
    let mut tasks = vec![tokio::spawn(loops::keep_ticking(
        ticker,
        backend.clone(),
        settings.rhythm,
        stopped.clone(),
    ))];
    let deliveries = Arc::<Deliveries>::default();
    tasks.push(tokio::spawn(loops::keep_delivering(
        dispatcher.clone(),
        deliveries.clone(),
        stopped.clone(),
    )));
    for _ in 0..WORKERS {
        let working = loops::keep_working(
            dispatcher.clone(),
            deliveries.clone(),
            base.bell.clone(),
            settings.rhythm,
            stopped.clone(),
        );
        tasks.push(tokio::spawn(working));
    }
    let counters = Arc::<api::WebhookCounters>::default();
    let state = api::ApiState::new(backend, vec![token.value.clone()])
        .counting(counters.clone())
        .holding(stopped.clone())
        .showing(dead_letters(&base));
    let mut router = api::router(state);
    if settings.webhooks {
        router = router.merge(api::webhook_router(webhook_api(&base, counters)));
    }
    tasks.push(tokio::spawn(serve::serve(listener, router, stopped)));
    Ok(Running {
        addr,
        token,
        stop,
        tasks,
    })
}

impl Running {
    /// Takes no more work, finishes what is being done, and stops.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let all = async {
            for task in self.tasks {
                let _ = task.await;
            }
        };
        if tokio::time::timeout(STOP_WITHIN, all).await.is_err() {
            tracing::warn!("some work was still going on; it is settled at the next start");
        }
    }
}

/// Takes over what the process before this one left over a data folder: messages that it had taken, and polls that it had begun.
/// The caller holds the folder's lock.
async fn take_over(queue: &LocalQueue, backend: &Backend) -> Result<()> {
    let taken_over = queue.take_over().await;
    taken_over.context("taking over the queue")?;
    Ok(backend.end_claims().await?)
}

/// The dead letters that pages may list: on SQS, a look hides them from others.
fn dead_letters(base: &Base) -> Option<Arc<dyn DeadLetters>> {
    let queue = base.bell.clone()?;
    Some(queue)
}

fn show_on_desktop(title: &str, text: &str) -> Result<(), String> {
    let mut notification = notify_rust::Notification::new();
    notification.appname("Gaffer").summary(title).body(text);
    notification
        .show()
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Makes the adapters. Only this place and the dispatcher function make writing ones.
fn adapters(base: &Base, settings: &Settings) -> Result<(Readers, Writers)> {
    let address = settings.jules_base.as_deref().unwrap_or(jules::BASE);
    let (mut jules_settings, warnings) =
        jules::Settings::at(address).context("reading the address of Jules")?;
    jules_settings.call_timeout = settings.call_timeout;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let jules = jules::Client::new(jules_settings, base.secrets.clone(), base.clock.clone())
        .context("preparing to talk to Jules")?;
    let mut github_settings =
        github::Settings::new(settings.github_base.as_deref(), settings.github_app_id)
            .context("reading the address of GitHub")?;
    github_settings.call_timeout = settings.call_timeout;
    github_settings.between_writes = settings.between_writes;
    let github = github::Client::new(&github_settings, base.secrets.clone(), base.clock.clone())
        .context("preparing to talk to GitHub")?;
    let agent_settings = agents::Settings {
        allow: settings.allow_hosts.clone(),
    };
    let sender = agents::Sender::new(agent_settings, base.secrets.clone())
        .with_desktop(Arc::new(show_on_desktop));
    let readers = Readers {
        sessions: Arc::new(jules::Reader::new(jules.clone())),
        pulls: Arc::new(github::Reader::new(github.clone())),
        issues: Arc::new(github::Reader::new(github.clone())),
        git: Arc::new(github::Reader::new(github.clone())),
        hooks: Arc::new(github::Reader::new(github.clone())),
    };
    let writers = Writers {
        sessions: Arc::new(jules::Writer::new(jules)),
        pulls: Arc::new(github::Writer::new(github.clone())),
        issues: Arc::new(github::Writer::new(github.clone())),
        git: Arc::new(github::Writer::new(github.clone())),
        hooks: Arc::new(github::Writer::new(github)),
        agents: Arc::new(sender),
    };
    Ok((readers, writers))
}
