//! A duplicate: one create done twice, because its answer was lost and no list showed what it had made until it was done again.

use std::sync::{Arc, OnceLock};

use anyhow::Result;
use engine::ports::Clock;
use jiff::Timestamp;
use rand::RngExt;
use rand::rngs::StdRng;
use sandbox::{Fault, FaultKind, Sandbox, Service};

use crate::stage::BLOCKED;
use crate::time::{LOOK_EVERY, SharedTime};

/// When the lists began to show both; nothing as long as they hide them.
pub(crate) type Shown = Arc<OnceLock<Timestamp>>;

/// Loses the answer of the job's first create, and of the second one too if the dice say so: then only the search for its marker finds
/// either.
pub(crate) fn arrange(sandbox: &Sandbox, dice: &mut StdRng) {
    let lost = dice.random_range(1..=2);
    let fault = Fault::new(Service::Jules, "/sessions", FaultKind::CutAfterEffect);
    sandbox
        .faults()
        .add(fault.on("POST").saying(BLOCKED).next(lost));
    sandbox.jules().unlist(Some(BLOCKED));
}

/// Lets the lists show both once there are two.
pub(crate) async fn show(sandbox: Arc<Sandbox>, time: Arc<SharedTime>, shown: Shown) -> Result<()> {
    let mut look = tokio::time::interval(LOOK_EVERY);
    while count(&sandbox) < 2 {
        look.tick().await;
    }
    sandbox.jules().unlist(None);
    // It is set only here.
    let _ = shown.set(time.now());
    Ok(())
}

/// How many sessions came from the create.
pub(crate) fn count(sandbox: &Sandbox) -> usize {
    let sessions = sandbox.jules().sessions();
    let of_it = sessions.iter().filter(|it| it.prompt.contains(BLOCKED));
    of_it.count()
}
