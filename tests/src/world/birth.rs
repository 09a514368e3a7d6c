//! Creation of a world's processes: a backend for each, and adapters with the secrets that it may read.

use std::sync::{Arc, Mutex};

use domain::ids::InstallationId;
use engine::backend::Backend;
use engine::ports::{Clock, Queue, Secrets};
use local::{Database, LocalQueue};
use rand::SeedableRng;
use rand::rngs::StdRng;
use sandbox::Sandbox;
use tokio::task::JoinHandle;

use super::fate::Fate;
use super::functions::{Crew, Functions};
use super::ledger::{Ledger, MortalQueue};
use super::reaper::Careless;
use super::vault::Vault;
use super::wiring::{adapters, open_door};
use super::{CountingIds, Ground, Setup, mortal};
use crate::cloud::{Cloud, LAMBDA};

/// What all processes of a world share.
pub(super) struct Birth<'a> {
    pub(super) setup: &'a Setup,
    pub(super) sandbox: &'a Sandbox,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<CountingIds>,
    pub(super) ledger: Arc<Ledger>,
}

impl Birth<'_> {
    /// The backend of a process over its store.
    pub(super) fn backend(&self, ground: Ground, fate: &Fate, ledger: Arc<Ledger>) -> Backend {
        let queue = MortalQueue {
            queue: ground.queue,
            fate: fate.clone(),
        };
        let installation: InstallationId = "tests".parse().expect("an id");
        let (clock, ids) = (self.clock.clone(), self.ids.clone());
        Backend::new(ledger, Arc::new(queue), clock, ids, installation)
            .observe_only(self.setup.observe_only)
    }

    /// The functions over AWS; the first crew has the world's own fate.
    pub(super) fn functions(&self, cloud: &Cloud, fate: &Fate) -> Functions {
        let storm = self.setup.storm.as_ref();
        let database = Database::in_memory().expect("a database");
        let ticks = LocalQueue::new(&database, "ticks", self.clock.clone());
        let sent: Arc<dyn Queue> = match storm.and_then(|storm| storm.seed) {
            Some(seed) => Arc::new(Careless {
                queue: ticks.clone(),
                dice: Mutex::new(StdRng::seed_from_u64(seed)),
            }),
            None => Arc::new(ticks.clone()),
        };
        let first = std::iter::once(fate.clone());
        let fates = first.chain(std::iter::repeat_with(Fate::default));
        let crews = fates.take(storm.map_or(1, |storm| storm.crews));
        let crews = crews.map(|fate| self.crew(cloud, sent.clone(), fate));
        Functions::new(crews.collect(), ticks, storm.is_some())
    }

    /// The webhook endpoint, and its server; `None` in a world without webhooks.
    pub(super) async fn api(
        &self,
        cloud: Option<&Cloud>,
        ground: Ground,
        fate: Fate,
        vault: &Arc<Vault>,
    ) -> Option<(String, JoinHandle<()>)> {
        if !self.setup.webhooks {
            return None;
        }
        let queue: Arc<dyn Queue> = match cloud {
            Some(cloud) => cloud.seen_by("webhook").queue,
            None => ground.queue,
        };
        let secrets: Arc<dyn Secrets> = match cloud {
            Some(cloud) => cloud.secrets("webhook"),
            None => vault.clone(),
        };
        let mailbox = Arc::new(MortalQueue { queue, fate });
        let (sandbox, is_function) = (self.sandbox, cloud.is_some());
        Some(open_door(sandbox, is_function, mailbox, secrets, &self.clock).await)
    }

    fn crew(&self, cloud: &Cloud, ticks: Arc<dyn Queue>, fate: Fate) -> Crew {
        let backend = |who: &str| {
            let ground = cloud.seen_by(who);
            let ledger = self.ledger.shared(ground.records.clone(), fate.clone());
            self.backend(ground, &fate, Arc::new(ledger))
        };
        let adapters = |who: &str| {
            adapters(
                self.sandbox,
                self.setup.github_app,
                cloud.secrets(who),
                &self.clock,
            )
        };
        let (readers, _) = adapters("poller");
        let poller = poller::Function::new(backend("poller"), readers.sessions, ticks);
        let (readers, writers) = adapters("dispatcher");
        let writers = mortal::mortal(writers, &fate);
        let dispatcher = dispatcher::Function::new(backend("dispatcher"), readers, writers);
        let queue = cloud.seen_by(LAMBDA).queue;
        Crew {
            poller,
            dispatcher,
            queue,
            fate,
        }
    }
}
