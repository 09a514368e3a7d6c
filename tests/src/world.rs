//! A whole Gaffer on a hand-moved clock around the sandbox: the engine, adapters and SQLite in one process, or the functions over AWS.

mod address;
mod birth;
mod decisions;
mod demo;
mod drift;
mod fate;
mod finish;
mod functions;
mod ground;
mod http_api;
mod ledger;
mod look;
mod mail;
mod mortal;
mod moving;
mod places;
mod reaper;
mod restore;
mod scenes;
mod time;
mod vault;
mod wiring;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::account::Account;
use domain::governor::Limits;
use domain::ids::AccountName;
use domain::policy::Source;
use engine::backend::Backend;
use engine::dispatcher::{Dispatcher, Readers, Writers};
use engine::poller::Poller;
use engine::ports::{AgentsWrite, Clock, Ids};
use engine::settings::Agent;
use jiff::Timestamp;
use local::{Database, LocalQueue};
use sandbox::{ManualClock, Options, Sandbox, Scenario};
use ulid::Ulid;

use crate::cloud::{Cloud, Storm};
use birth::Birth;
pub use decisions::{differences, without_texts};
pub use demo::{Demo, RED};
pub use drift::Drift;
use drift::SharedClock;
pub use fate::{Fate, Moment, dies_after_each_act};
use functions::Functions;
pub use functions::batch_event;
pub use ground::{Ground, Ripening, Whole};
pub use ledger::Ledger;
pub use look::usual;
pub use mail::{Postman, plain_client};
use reaper::Reaper;
pub use scenes::{
    MINUTE, SECOND, asking, asking_often, asks, ci, complete, from_work, green_checks, hour,
    on_green, open_draft, open_pull, progress, scenario, silent, source, source_of, stalling,
    story, with_ci, without_change, work,
};
pub use vault::Vault;
use wiring::adapters;

/// The repository that stories play in.
pub const REPO: &str = "acme/shop";
/// The agent that stories wake.
pub const AGENT: &str = "helper";
/// The secret GitHub signs with.
pub const WEBHOOK_SECRET: &str = "hook-secret-of-the-tests";
/// When every story begins.
pub const BEGIN: Timestamp = Timestamp::constant(1_772_355_600, 0);

/// Ids that count, so that a story is the same every time.
#[derive(Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn ulid(&self, now: Timestamp) -> Ulid {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        Ulid::from_parts(
            u64::try_from(now.as_millisecond()).unwrap_or(0),
            u128::from(count),
        )
    }
}

/// How a world is set up.
pub struct Setup {
    /// What the sandbox plays.
    pub scenario: Scenario,
    /// The settings of [`REPO`].
    pub source: Source,
    /// Whether GitHub's webhooks arrive.
    pub webhooks: bool,
    /// Whether Gaffer only observes.
    pub observe_only: bool,
    /// The number of the App as which Gaffer signs in at GitHub, when its secret is that App's key.
    pub github_app: Option<u64>,
    /// The folder of the database, for stories about its file; without one it is in memory.
    pub folder: Option<PathBuf>,
    /// Faults between functions and AWS. With one, the world is over AWS wherever others are.
    pub storm: Option<Storm>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            scenario: Scenario::default(),
            source: source(),
            webhooks: false,
            observe_only: false,
            github_app: None,
            folder: None,
            storm: None,
        }
    }
}

/// Whether worlds keep their records in DynamoDB and their messages in SQS, and functions do the work. The same stories run either way.
fn is_cloud() -> bool {
    std::env::var_os("GAFFER_TESTS_ON").is_some_and(|ground| ground == "aws")
}

/// What a world has of AWS, if it works there.
async fn cloud_of(setup: &Setup, clock: &Arc<dyn Clock>) -> Option<Box<Cloud>> {
    if !is_cloud() && setup.storm.is_none() {
        return None;
    }
    let cloud = Cloud::new(clock.clone(), setup.storm.as_ref()).await;
    Some(Box::new(cloud))
}

/// The database of a world, with its queue.
fn local_ground(setup: &Setup, clock: &Arc<dyn Clock>) -> Ground {
    let database = match &setup.folder {
        Some(folder) => Database::open(&folder.join(local::DATABASE_FILE)),
        None => Database::in_memory(),
    }
    .expect("a database");
    Ground {
        records: Arc::new(local::Store::new(&database)),
        queue: Arc::new(LocalQueue::new(&database, "work", clock.clone())),
    }
}

/// What handles all there is.
enum Work {
    /// Loops in one process.
    Loops,
    /// Functions.
    Functions(Box<Functions>),
}

/// A whole Gaffer and the world around it.
pub struct World {
    /// The clock of everything.
    pub clock: ManualClock,
    /// By how much Gaffer's own is ahead of it.
    pub drift: Drift,
    /// Jules, GitHub and the agent's receiver.
    pub sandbox: Sandbox,
    /// Orders and reads.
    pub backend: Backend,
    /// Reads Jules.
    pub poller: Poller,
    /// The one hand.
    pub dispatcher: Dispatcher,
    /// Secrets by name.
    pub secrets: Arc<Vault>,
    /// Everything that was ever written.
    pub ledger: Arc<Ledger>,
    /// When the process dies.
    pub fate: Fate,
    /// The webhook's function; it never dies.
    pub postbox: Fate,
    work: Work,
    messages: Arc<dyn Ripening>,
    readers: Readers,
    writers: Writers,
    ids: Arc<CountingIds>,
    folder: Option<PathBuf>,
    webhooks: bool,
    api: Option<(String, tokio::task::JoinHandle<()>)>,
    cloud: Option<Box<Cloud>>,
    reaper: Option<Box<Reaper>>,
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some((_, server)) = &self.api {
            server.abort();
        }
    }
}

impl World {
    /// A world with the default scenario and safe defaults.
    pub async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    /// A world that plays this with these settings of [`REPO`].
    pub async fn of(scenario: Scenario, source: Source) -> Self {
        Box::pin(Self::hearing(scenario, source, false)).await
    }

    /// A world that plays this, where Gaffer merges what is green.
    pub async fn on_green(scenario: Scenario) -> Self {
        Box::pin(Self::of(scenario, on_green())).await
    }

    /// A world that plays this with these settings of [`REPO`]; GitHub's webhooks arrive, or they do not.
    pub async fn hearing(scenario: Scenario, source: Source, webhooks: bool) -> Self {
        let setup = Setup {
            scenario,
            source,
            webhooks,
            ..Setup::default()
        };
        Box::pin(Self::begun(setup)).await
    }

    /// A world as set up.
    pub async fn with(setup: Setup) -> Self {
        // Boxed, so that a story does not carry the large future of its setup.
        Box::pin(Self::begun(setup)).await
    }

    async fn begun(setup: Setup) -> Self {
        // Another world may have installed it first, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
        let (clock, drift) = (ManualClock::new(BEGIN), Drift::default());
        let sandbox = Sandbox::start(Options::manual(&clock, setup.scenario.clone()))
            .await
            .expect("the sandbox starts");
        let port: Arc<dyn Clock> = Arc::new(SharedClock(clock.clone(), drift.clone()));
        let cloud = cloud_of(&setup, &port).await;
        let ground = match &cloud {
            Some(cloud) => cloud.seen_by_tests(),
            None => local_ground(&setup, &port),
        };
        let secrets = Arc::new(Vault::from_scenario(&setup.scenario));
        let (readers, writers) = adapters(&sandbox, setup.github_app, secrets.clone(), &port);
        let fate = Fate::default();
        let writers = mortal::mortal(writers, &fate);
        let birth = Birth {
            setup: &setup,
            sandbox: &sandbox,
            clock: port.clone(),
            ids: Arc::new(CountingIds::default()),
            ledger: Arc::new(Ledger::new(ground.records.clone(), fate.clone())),
        };
        let backend = birth.backend(ground.clone(), &fate, birth.ledger.clone());
        let work = match &cloud {
            Some(cloud) => Work::Functions(Box::new(birth.functions(cloud, &fate))),
            None => Work::Loops,
        };
        let (ids, ledger) = (birth.ids.clone(), birth.ledger.clone());
        let postbox = Fate::default();
        let api = birth
            .api(cloud.as_deref(), ground.clone(), postbox.clone(), &secrets)
            .await;
        let seed = setup.storm.as_ref().and_then(|storm| storm.seed);
        let world = Self {
            poller: Poller::new(backend.clone(), readers.sessions.clone()),
            dispatcher: Dispatcher::new(backend.clone(), readers.clone(), writers.clone()),
            clock,
            drift,
            sandbox,
            backend,
            secrets,
            ledger,
            fate,
            postbox,
            work,
            messages: ground.queue,
            readers,
            writers,
            ids,
            folder: setup.folder.clone(),
            webhooks: setup.webhooks,
            api,
            cloud,
            reaper: seed.map(Reaper::new).map(Box::new),
        };
        world.settle_in(&setup).await;
        world
    }

    async fn settle_in(&self, setup: &Setup) {
        for account in &setup.scenario.accounts {
            self.add_account(account.name.parse().expect("an account name"))
                .await;
        }
        let agent = Agent {
            url: self.sandbox.agent_url(AGENT).parse().ok(),
            ..Agent::new(AGENT.parse().expect("a name"))
        };
        let mut unit = self.backend.unit();
        unit.save(&agent.name, &agent, None);
        self.backend.commit(unit).await.expect("an agent");
        self.put_source(&setup.source).await;
    }

    /// Adds an account on the largest plan.
    pub async fn add_account(&self, name: AccountName) {
        let now = self.backend.now();
        let account = Account {
            limits: Limits {
                concurrent: 60,
                per_day: 300,
            },
            agent: Some(AGENT.parse().expect("a name")),
            ..Account::new(name.clone(), now)
        };
        let mut unit = self.backend.unit();
        unit.save(&name, &account, None);
        self.backend.commit(unit).await.expect("an account");
    }

    /// Changes an account's plan.
    pub async fn limit(&self, name: &str, concurrent: u32, per_day: u32) {
        let name: AccountName = name.parse().expect("a name");
        let found = self
            .backend
            .store
            .account(&name)
            .await
            .expect("a store")
            .expect("an account");
        let account = Account {
            limits: Limits {
                concurrent,
                per_day,
            },
            ..found.value
        };
        let mut unit = self.backend.unit();
        unit.save(&name, &account, Some(found.version));
        self.backend.commit(unit).await.expect("a plan");
    }

    /// Adds or replaces a source.
    pub async fn put_source(&self, source: &Source) {
        let found = self
            .backend
            .store
            .source(&source.repo)
            .await
            .expect("a store");
        let saved = self.backend.save_source(found.as_ref(), source).await;
        saved.expect("a source");
    }

    /// Pauses everything, or lets it go on.
    pub async fn pause(&self, paused: bool) {
        let found = self.backend.store.switches().await.expect("a store");
        let switches = engine::settings::Switches {
            paused_since: paused.then(|| self.backend.now()),
            ..engine::settings::Switches::default()
        };
        let mut unit = self.backend.unit();
        unit.save(&(), &switches, Some(found.version));
        self.backend.commit(unit).await.expect("a switch");
    }

    /// Lets everything go on, as the order to resume does.
    pub async fn resume(&self) {
        self.pause(false).await;
        self.backend.go_on(None).await.expect("a queue");
    }

    /// One more dispatcher on the same store and queue.
    pub fn another_dispatcher(&self) -> Dispatcher {
        Dispatcher::new(
            self.backend.clone(),
            self.readers.clone(),
            self.writers.clone(),
        )
    }

    /// One more dispatcher, which wakes agents in another way.
    pub fn dispatcher_waking(&self, agents: Arc<dyn AgentsWrite>) -> Dispatcher {
        let writers = Writers {
            agents,
            ..self.writers.clone()
        };
        Dispatcher::new(self.backend.clone(), self.readers.clone(), writers)
    }

    /// One more poller on the same store and queue.
    pub fn another_poller(&self) -> Poller {
        Poller::new(self.backend.clone(), self.readers.sessions.clone())
    }

    /// Where webhooks go.
    pub fn webhook_url(&self) -> &str {
        &self.api.as_ref().expect("a world with webhooks").0
    }
}
