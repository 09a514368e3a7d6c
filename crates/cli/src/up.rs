//! `gaffer up`: starts the server over one data folder or over a stack's table and queues, and says where it is.

mod log;
pub(crate) mod service;

use std::collections::BTreeMap;
use std::io::IsTerminal;

use anyhow::{Context, Result};
use domain::effect::CALL_TIMEOUT;
use engine::backend::Backend;
use engine::ports::SecretName;
use engine::settings::Upstreams;
use secrecy::SecretString;
use server::{Base, LoopIntervals, Running, Settings, data};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use log::log_to_stderr;

use crate::args::UpArgs;
use crate::render::{self, Answer};
use crate::upstreams;

/// What a process that only observes says of itself.
const OBSERVES: &str =
    "It only observes: nothing is written to Jules or GitHub until it runs without --observe-only.";

/// Runs until the process is stopped.
pub(crate) async fn run(args: UpArgs) -> Result<()> {
    log_to_stderr(args.loudness.chosen());
    let token = args.overlay.get(&SecretName::ApiToken.path()).cloned();
    let socket;
    let (base, place, _lock, rhythm): (Base, _, _, _) = match args.stack.as_deref() {
        Some(name) => {
            let base = on_aws(name, args.overlay.clone()).await?;
            socket = server::bind(args.listen)?;
            (
                base,
                format!("the stack {name}"),
                None,
                LoopIntervals::on_aws(),
            )
        }
        None => {
            // Held until the process ends: two of these on one folder would both write, and a restore must not happen beneath one.
            let mut lock = local::FolderLock::take(&args.data)?;
            // A folder in which this process cannot work gets no database.
            socket = server::bind(args.listen)?;
            let listens = socket.local_addr();
            let listens = listens.context("reading the address of the API")?;
            lock.note(&upstreams::notes(listens, &args.outside.allow_hosts))
                .context("noting down how this process is set up")?;
            let data = data::open(&args.data, args.overlay.clone()).await?;
            let place = args.data.display().to_string();
            (data.into(), place, Some(lock), LoopIntervals::default())
        }
    };
    let outside = args.outside;
    let typed = Upstreams {
        jules_base: outside.jules_base,
        github_base: outside.github_base,
        github_app_id: outside.github_app_id,
    };
    let overlaid = |name: &SecretName| args.overlay.contains_key(&name.path());
    let upstreams = upstreams::in_force(&base.backend, typed, overlaid).await?;
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
        between_writes: server::BETWEEN_WRITES,
    };
    let nothing_yet = hint(&base.backend).await?;
    let observes = args.observe_only.then(|| OBSERVES.to_owned());
    let running = server::start_on(socket, base, settings).await?;
    let notes: Vec<String> = elsewhere
        .into_iter()
        .chain(observes)
        .chain(nothing_yet)
        .collect();
    let stop = told_to_stop();
    announce(&running, &place, &notes, args.json)?;
    stop.await?;
    running.stop().await;
    Ok(())
}

/// What to do first where nothing is set up, since nothing happens then.
async fn hint(backend: &Backend) -> Result<Option<String>> {
    let sources = backend
        .store
        .sources()
        .await
        .context("reading the sources")?;
    let hint = "Nothing is set up here yet: stop this with Ctrl-C and run `gaffer init --repo OWNER/REPO`.";
    Ok(sources.is_empty().then(|| hint.to_owned()))
}

/// Unusual addresses, so that a sandbox is not taken for the real service.
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

fn announce(running: &Running, place: &str, notes: &[String], as_json: bool) -> Result<()> {
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

/// Resolves on SIGINT or SIGTERM. It listens from the call on, not from the first poll: a process that has announced
/// itself must end in order.
pub(crate) fn told_to_stop() -> impl Future<Output = Result<()>> {
    let terminate = signal(SignalKind::terminate()).context("listening for SIGTERM");
    let interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT");
    async move {
        let (mut terminate, mut interrupt) = (terminate?, interrupt?);
        tokio::select! {
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    }
}

/// Resolves when the process is to stop, or when its terminal is closed: the command must not go on alone.
pub(crate) fn told_to_end() -> impl Future<Output = Result<()>> {
    let told = told_to_stop();
    // `nohup` wants it to go on, and has taken the terminal away.
    let is_attached = std::io::stdin().is_terminal();
    let closed = is_attached.then(|| signal(SignalKind::hangup()).context("listening for SIGHUP"));
    async move {
        let Some(closed) = closed else {
            return told.await;
        };
        let mut closed = closed?;
        tokio::select! {
            told = told => told,
            _ = closed.recv() => Ok(()),
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
