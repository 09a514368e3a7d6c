//! `gaffer up`: poller, dispatcher and doors in one process, over one data folder or over a stack's table and queues.

mod hand;
mod log;
mod loops;
mod port;
mod serve;
pub(crate) mod service;
mod token;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agents::HostRule;
use anyhow::{Context, Result};
use domain::effect::CALL_TIMEOUT;
use engine::desk::Desk;
use engine::dispatcher::{Deliveries, Dispatcher, Eyes, Hands};
use engine::poller::Poller;
use engine::ports::{Clock, Queue, SecretName, Secrets};
use engine::settings::Upstreams;
use engine::ticks::Holder;
use jiff::SignedDuration;
use local::LocalQueue;
use secrecy::SecretString;
use tokio::net::TcpSocket;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) use hand::Hand;
pub(crate) use log::{Loudness, log_to_stderr};
pub(crate) use loops::Rhythm;

use crate::args::UpArgs;
use crate::data::{self, Data};
use crate::render::{self, Answer};
use crate::upstreams;

/// How many messages are handled at the same time: one slow call must not hold up the others.
const WORKERS: usize = 4;

/// How long a stop waits for what is being done.
pub(crate) const STOP_WITHIN: Duration = Duration::from_secs(30);

/// Runs until the process is told to stop.
pub(crate) async fn run(args: UpArgs) -> Result<()> {
    log_to_stderr(args.loudness.chosen());
    let token = args.overlay.get(&SecretName::ApiToken.path()).cloned();
    let socket;
    let (base, place, _lock, rhythm): (Base, _, _, _) = match args.stack.as_deref() {
        Some(name) => {
            let base = on_aws(name, args.overlay.clone()).await?;
            socket = port::bind(args.listen)?;
            (base, format!("the stack {name}"), None, aws_rhythm())
        }
        None => {
            // Held until the process ends: two of these on one folder would be two hands, and a restore must not happen beneath one.
            let mut lock = local::FolderLock::take(&args.data)?;
            let allowed = args.outside.allow_hosts.iter().map(ToString::to_string);
            let allowed: Vec<String> = allowed.collect();
            lock.note(&allowed)
                .context("noting down how this process is set up")?;
            // A folder in which this process cannot work gets no database.
            socket = port::bind(args.listen)?;
            let data = data::open(&args.data, args.overlay.clone()).await?;
            let place = args.data.display().to_string();
            (data.into(), place, Some(lock), Rhythm::default())
        }
    };
    let outside = args.outside;
    let typed = Upstreams {
        jules_base: outside.jules_base,
        github_base: outside.github_base,
        github_app_id: outside.github_app_id,
    };
    let overlaid = |name: &SecretName| args.overlay.contains_key(&name.path());
    let upstreams = upstreams::in_force(&base.desk, typed, overlaid).await?;
    let elsewhere = elsewhere(&upstreams);
    let settings = Settings {
        listen: args.listen,
        observe_only: args.observe_only,
        webhooks: !args.no_webhooks,
        jules_base: upstreams.jules_base,
        github_base: upstreams.github_base,
        github_app_id: upstreams.github_app_id,
        allow_hosts: outside.allow_hosts,
        token,
        rhythm,
        call_timeout: CALL_TIMEOUT,
    };
    let nothing_yet = hint(&base.desk).await?;
    let running = start_on(socket, base, settings).await?;
    let notes: Vec<String> = elsewhere.into_iter().chain(nothing_yet).collect();
    announce(&running, (&place, &notes), args.json)?;
    told_to_stop().await?;
    running.stop().await;
    Ok(())
}

/// What to do first where nothing is set up, since nothing happens then.
async fn hint(desk: &Desk) -> Result<Option<String>> {
    let sources = desk.store.sources().await.context("reading the sources")?;
    let hint = "Nothing is set up here yet: stop this with Ctrl-C and run `gaffer init --repo OWNER/REPO`.";
    Ok(sources.is_empty().then(|| hint.to_owned()))
}

/// The places that are not the usual ones, so that nobody takes a sandbox for the real thing.
pub(crate) fn elsewhere(upstreams: &Upstreams) -> Vec<String> {
    let places = [
        ("Jules", &upstreams.jules_base),
        ("GitHub", &upstreams.github_base),
    ];
    let told = places
        .into_iter()
        .filter_map(|(what, base)| Some(format!("{what} is at {}.", base.as_ref()?)));
    told.collect()
}

fn announce(running: &Running, (place, notes): (&str, &[String]), as_json: bool) -> Result<()> {
    let made = if running.token.new {
        ", made just now"
    } else {
        ""
    };
    let answer = Answer::new(serde_json::json!({
        "url": format!("http://{}", running.addr),
        "data": place,
        "token": running.token.place,
        "token_is_new": running.token.new,
    }))
    .line(format!(
        "Gaffer is up at http://{} over {}.",
        running.addr, place
    ))
    .line(format!(
        "Its bearer token is in {}{made}.",
        running.token.place
    ));
    let answer = notes.iter().fold(answer, Answer::line);
    render::announcement(&answer, as_json).context("writing the answer")
}

/// Resolves on SIGINT or SIGTERM.
pub(crate) async fn told_to_stop() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    tokio::select! {
        outcome = tokio::signal::ctrl_c() => outcome.context("listening for SIGINT"),
        _ = terminate.recv() => Ok(()),
    }
}

/// How one process is set up.
pub(crate) struct Settings {
    /// The socket of the doors; port 0 takes a free one.
    pub(crate) listen: SocketAddr,
    /// Whether nothing may be written outside.
    pub(crate) observe_only: bool,
    /// Whether GitHub's webhooks are taken.
    pub(crate) webhooks: bool,
    /// Where Jules is; Google's own without one.
    pub(crate) jules_base: Option<String>,
    /// Where GitHub is; github.com without one.
    pub(crate) github_base: Option<String>,
    /// The App's id, when GitHub's secret is an App's key.
    pub(crate) github_app_id: Option<u64>,
    /// Agents' hosts that are allowed although they are private.
    pub(crate) allow_hosts: Vec<HostRule>,
    /// The bearer token from the environment, if any.
    pub(crate) token: Option<SecretString>,
    /// How often the loops look whether there is anything to do.
    pub(crate) rhythm: Rhythm,
    /// How long a call to Jules or GitHub may take.
    pub(crate) call_timeout: SignedDuration,
}

/// What one process works on.
pub(crate) struct Base {
    /// Store, queue and time.
    pub(crate) desk: Desk,
    /// Where webhooks go.
    pub(crate) queue: Arc<dyn Queue>,
    /// The queue again, where this process is told of new messages.
    pub(crate) bell: Option<Arc<LocalQueue>>,
    /// Secrets by name.
    pub(crate) secrets: Arc<dyn Secrets>,
    /// The time.
    pub(crate) clock: Arc<dyn Clock>,
    /// Where people find the bearer token, in words.
    pub(crate) token_place: String,
}

impl From<Data> for Base {
    fn from(data: Data) -> Self {
        let secrets = data.folder.join("secrets");
        let token = secrets.join(SecretName::ApiToken.path());
        Self {
            desk: data.desk,
            queue: data.queue.clone(),
            bell: Some(data.queue),
            secrets: data.secrets,
            clock: data.clock,
            token_place: token.display().to_string(),
        }
    }
}

#[cfg(feature = "aws")]
async fn on_aws(name: &str, overlay: BTreeMap<String, SecretString>) -> Result<Base> {
    crate::cloud::Cloud::find(name).await?.base(overlay).await
}

#[cfg(not(feature = "aws"))]
async fn on_aws(name: &str, _: BTreeMap<String, SecretString>) -> Result<Base> {
    Err(crate::site::without_aws(name).into())
}

#[cfg(feature = "aws")]
fn aws_rhythm() -> Rhythm {
    Rhythm::on_aws()
}

#[cfg(not(feature = "aws"))]
fn aws_rhythm() -> Rhythm {
    Rhythm::default()
}

/// A running process.
pub(crate) struct Running {
    /// Where its doors are.
    pub(crate) addr: SocketAddr,
    /// The bearer token, and where it was found or put.
    pub(crate) token: token::Token,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

/// Starts everything; answers once the doors are open.
pub(crate) async fn start(base: impl Into<Base>, settings: Settings) -> Result<Running> {
    start_on(port::bind(settings.listen)?, base.into(), settings).await
}

/// The same on a port that was taken.
async fn start_on(socket: TcpSocket, base: Base, settings: Settings) -> Result<Running> {
    let addr = socket
        .local_addr()
        .context("reading the address of the door")?;
    let token = token::find(&base, settings.token.clone()).await?;
    let listener = port::listen(socket, addr)?;
    let (eyes, hands) = adapters(&base, &settings)?;
    let desk = base.desk.clone().observing(settings.observe_only);
    let (stop, stopped) = watch::channel(false);

    let poller = Poller::new(desk.clone(), eyes.sessions.clone());
    let ticker = match base.bell {
        Some(_) => loops::Ticker::Free(poller),
        // Over a table of AWS functions may tick too.
        None => loops::Ticker::Leased(Holder::new(desk.clone(), poller)),
    };
    let mut dispatcher = Dispatcher::new(desk.clone(), eyes, hands);
    if settings.webhooks {
        desk.listen().await?;
    } else {
        dispatcher = dispatcher.deaf();
    }
    let dispatcher = Arc::new(dispatcher);
    let mut tasks = vec![tokio::spawn(loops::keep_ticking(
        ticker,
        desk.clone(),
        (settings.rhythm, stopped.clone()),
    ))];
    let deliveries = Arc::<Deliveries>::default();
    tasks.push(tokio::spawn(loops::keep_delivering(
        dispatcher.clone(),
        deliveries.clone(),
        stopped.clone(),
    )));
    for _ in 0..WORKERS {
        let working = loops::keep_working(
            (dispatcher.clone(), deliveries.clone()),
            base.bell.clone(),
            (settings.rhythm, stopped.clone()),
        );
        tasks.push(tokio::spawn(working));
    }
    let counters = Arc::<api::WebhookCounters>::default();
    let state = api::DoorState::new(desk, vec![token.value.clone()])
        .counting(counters.clone())
        .holding(stopped.clone());
    let mut router = api::router(state);
    if settings.webhooks {
        let door = api::WebhookDoor {
            queue: base.queue.clone(),
            clock: base.clock.clone(),
            secrets: base.secrets.clone(),
            counters,
        };
        router = router.merge(api::webhook_router(door));
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
    pub(crate) async fn stop(self) {
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

fn show_on_desktop(title: &str, text: &str) -> Result<(), String> {
    let mut notification = notify_rust::Notification::new();
    notification.appname("Gaffer").summary(title).body(text);
    notification
        .show()
        .map(drop)
        .map_err(|error| error.to_string())
}

/// The adapters. This is the one place besides the dispatcher function that makes writing ones.
fn adapters(base: &Base, settings: &Settings) -> Result<(Eyes, Hands)> {
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
    let github = github::Client::new(&github_settings, base.secrets.clone(), base.clock.clone())
        .context("preparing to talk to GitHub")?;
    let agent_settings = agents::Settings {
        allow: settings.allow_hosts.clone(),
    };
    let sender = agents::Sender::new(agent_settings, base.secrets.clone())
        .with_desktop(Arc::new(show_on_desktop));
    let eyes = Eyes {
        sessions: Arc::new(jules::Reader::new(jules.clone())),
        pulls: Arc::new(github::Reader::new(github.clone())),
        hooks: Arc::new(github::Reader::new(github.clone())),
    };
    let hands = Hands {
        sessions: Arc::new(jules::Writer::new(jules)),
        pulls: Arc::new(github::Writer::new(github.clone())),
        hooks: Arc::new(github::Writer::new(github)),
        agents: Arc::new(sender),
    };
    Ok((eyes, hands))
}
