//! The process that is killed: an ordinary `gaffer up` by a shared time, over a bad queue, with records that know when to die.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::ports::{Clock, Ids};
use jiff::Timestamp;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use ulid::Ulid;

use crate::command_line::ChildArgs;
use crate::kill_points::KillPoints;
use crate::queue::BadQueue;
use crate::time::SharedTime;
use crate::{outage, output};

/// Virtual time jumps ahead, so the loops look this often.
const RHYTHM: server::LoopIntervals = server::LoopIntervals {
    breath: Duration::from_millis(2),
    at_least_every: Duration::from_millis(20),
};

/// Ids that follow from the seed.
struct SeededIds(Mutex<StdRng>);

impl Ids for SeededIds {
    fn ulid(&self, now: Timestamp) -> Ulid {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        let mut dice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ulid::from_parts(millis, dice.random())
    }
}

/// How it ends when its parent is gone.
const ORPHANED: i32 = 1;

/// Ends the process with its parent: a killed parent cannot end it, and virtual time never stops.
fn end_with_parent() {
    std::thread::spawn(|| {
        // Nothing is ever sent, so this returns when the parent's end is closed.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(ORPHANED);
    });
}

/// Logs to stderr, so that stdout stays for the parent. `RUST_LOG` says how much; without it, what happens to jobs is logged.
fn log_to_stderr() {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}

/// Runs until it is killed.
pub(crate) async fn run(args: ChildArgs) -> Result<()> {
    end_with_parent();
    log_to_stderr();
    let time = SharedTime::follow(&args.clock)?;
    let clock: Arc<dyn Clock> = time.clone();
    let mut data = server::data::open_by(&args.data, BTreeMap::new(), clock.clone()).await?;
    let records = KillPoints::new(
        data.records.clone(),
        clock.clone(),
        args.die_at.into_iter().collect(),
    );
    let queue = BadQueue::new(data.queue.clone(), time, args.seed);
    data.backend = Backend::new(
        Arc::new(records),
        Arc::new(queue),
        clock,
        Arc::new(SeededIds(Mutex::new(StdRng::seed_from_u64(args.seed)))),
        data.backend.installation.clone(),
    );
    let settings = server::Settings {
        listen: ([127, 0, 0, 1], 0).into(),
        observe_only: false,
        webhooks: true,
        jules_base: Some(args.jules_base),
        github_base: Some(args.github_base),
        github_app_id: None,
        allow_hosts: args.allow_hosts,
        token: None,
        rhythm: RHYTHM,
        call_timeout: outage::PATIENCE,
        between_writes: server::BETWEEN_WRITES,
    };
    let running = server::start(data, settings).await?;
    output::json_line(&json!({ "url": format!("http://{}", running.addr) }))
        .context("telling where the endpoints are")?;
    std::future::pending().await
}
