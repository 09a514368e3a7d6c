//! The process that is killed: an ordinary `gaffer up` by a shared time, over a bad queue, with records that know when to die.

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::ports::{Clock, Ids, SecretName};
use jiff::Timestamp;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use ulid::Ulid;

use super::kill_points::KillPoints;
use super::outage;
use super::queue::BadQueue;
use super::time::SharedTime;
use crate::args::Loudness;
use crate::args::chaos::ChildArgs;
use crate::context::CommandContext;
use crate::render;
use crate::up;

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

/// Runs until it is killed.
pub(crate) async fn run(args: ChildArgs, here: CommandContext) -> Result<()> {
    end_with_parent();
    up::log_to_stderr(Loudness::Usual);
    let time = SharedTime::follow(&args.clock)?;
    let clock: Arc<dyn Clock> = time.clone();
    let overlay = here.environment.overlay;
    let token = overlay.get(&SecretName::ApiToken.path()).cloned();
    let mut data = server::data::open_by(&here.folder, overlay, clock.clone()).await?;
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
        token,
        rhythm: RHYTHM,
        call_timeout: outage::PATIENCE,
        between_writes: server::BETWEEN_WRITES,
    };
    let running = server::start(data, settings).await?;
    render::json_line(&json!({ "url": format!("http://{}", running.addr) }))
        .context("telling where the endpoints are")?;
    up::told_to_stop().await?;
    running.stop().await;
    Ok(())
}
