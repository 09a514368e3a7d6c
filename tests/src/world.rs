//! A whole Gaffer in one process on a hand-moved clock: the real engine, adapters and SQLite, around the sandbox's real sockets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agents::{HostRule, Sender, Settings as AgentSettings};
use domain::account::{Account, Health, ListWeight, Pace};
use domain::governor::Limits;
use domain::ids::{AccountName, AgentName, InstallationId, JobId};
use domain::policy::Source;
use engine::desk::{Desk, Place};
use engine::dispatcher::{Dispatcher, Eyes, Hands};
use engine::jobs::Order;
use engine::keys;
use engine::poller::Poller;
use engine::ports::{Clock, Ids, Secrets};
use engine::settings::Agent;
use jiff::{SignedDuration, Timestamp};
use local::{Database, LocalQueue, SecretFiles};
use sandbox::{ManualClock, Options, Sandbox, Scenario};
use secrecy::SecretString;
use ulid::Ulid;

/// The repository that stories play in.
pub const REPO: &str = "acme/shop";
/// The agent that stories wake.
pub const AGENT: &str = "helper";
/// The secret GitHub signs with.
pub const WEBHOOK_SECRET: &str = "hook-secret-of-the-tests";
/// Steps of virtual time: fine enough for every story, coarse enough to be quick.
const STEP: SignedDuration = SignedDuration::from_secs(1);

/// The sandbox's clock as the engine's port.
struct SharedClock(ManualClock);

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

/// Ids that count, so that a story is the same every time.
#[derive(Default)]
struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn ulid(&self, now: Timestamp) -> Ulid {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        Ulid::from_parts(u64::try_from(now.as_millisecond()).unwrap_or(0), u128::from(count))
    }
}

/// How a world is set up.
pub struct Setup {
    /// What the sandbox plays.
    pub scenario: Scenario,
    /// The source's settings; `None` keeps the safe defaults.
    pub source: Source,
    /// Whether GitHub's webhooks arrive.
    pub webhooks: bool,
    /// Whether Gaffer only observes.
    pub observe_only: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self { scenario: Scenario::default(), source: source(), webhooks: false, observe_only: false }
    }
}

/// A source with safe defaults that wakes [`AGENT`].
pub fn source() -> Source {
    Source {
        repo: REPO.parse().expect("a repository"),
        account: "default".parse().expect("a name"),
        agent: Some(AGENT.parse().expect("a name")),
        paused: false,
        branch: Some("main".parse().expect("a branch")),
        policy: domain::policy::Policy::default(),
        timing: domain::policy::Timing::default(),
    }
}

/// A whole Gaffer and the world around it.
pub struct World {
    /// The clock of everything.
    pub clock: ManualClock,
    /// Jules, GitHub and the agent's receiver.
    pub sandbox: Sandbox,
    /// Orders and reads.
    pub desk: Desk,
    /// Reads Jules.
    pub poller: Poller,
    /// The one hand.
    pub dispatcher: Dispatcher,
    /// Secrets by name.
    pub secrets: Arc<dyn Secrets>,
    webhooks: bool,
    _door: Option<tokio::task::JoinHandle<()>>,
}

impl World {
    /// A world with the default scenario and safe defaults.
    pub async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    /// A world as set up.
    pub async fn with(setup: Setup) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clock = ManualClock::new(Timestamp::constant(1_772_355_600, 0));
        let sandbox = Sandbox::start(Options::manual(&clock, setup.scenario.clone())).await.expect("the sandbox starts");
        let port: Arc<dyn Clock> = Arc::new(SharedClock(clock.clone()));
        let database = Database::in_memory().expect("a database");
        let queue = Arc::new(LocalQueue::new(&database, "work", port.clone()));
        let installation: InstallationId = "tests".parse().expect("an id");
        let desk = Desk::new(Arc::new(local::Store::new(&database)), queue.clone(), port.clone(), Arc::new(CountingIds::default()), installation)
            .observing(setup.observe_only);
        let secrets = secrets(&setup.scenario);
        let (eyes, hands) = adapters(&sandbox, &secrets, &port);
        let door = if setup.webhooks { Some(open_door(&sandbox, &desk, &secrets, &port).await) } else { None };
        let world = Self {
            poller: Poller::new(desk.clone(), eyes.sessions.clone()),
            dispatcher: Dispatcher::new(desk.clone(), eyes, hands),
            clock,
            sandbox,
            desk,
            secrets,
            webhooks: setup.webhooks,
            _door: door,
        };
        world.settle_in(&setup).await;
        world
    }

    async fn settle_in(&self, setup: &Setup) {
        for account in &setup.scenario.accounts {
            self.add_account(account.name.parse().expect("an account name")).await;
        }
        let agent = Agent { name: AGENT.parse().expect("a name"), url: self.sandbox.agent_url(AGENT).parse().ok(), disabled: None };
        self.add_agent(agent).await;
        self.put_source(&setup.source).await;
    }

    /// Adds an account on the largest plan.
    pub async fn add_account(&self, name: AccountName) {
        let now = self.desk.now();
        let account = Account {
            name: name.clone(),
            limits: Limits { concurrent: 60, per_day: 300 },
            agent: Some(AGENT.parse().expect("a name")),
            pace: Pace::default(),
            health: Health::Working,
            next_poll: now,
            list: ListWeight::default(),
            activity_reads: BTreeMap::new(),
        };
        let mut unit = self.desk.unit();
        unit.put(keys::account(&name), &account, None, Place { due: Some(now), list: keys::listed(keys::ACCOUNTS, name.as_str()) });
        self.desk.commit(unit).await.expect("an account");
    }

    /// Changes an account's plan.
    pub async fn limit(&self, name: &str, limits: Limits) {
        let name: AccountName = name.parse().expect("a name");
        let found = self.desk.store.account(&name).await.expect("a store").expect("an account");
        let account = Account { limits, ..found.value };
        let mut unit = self.desk.unit();
        let place = Place { due: Some(account.next_poll), list: keys::listed(keys::ACCOUNTS, name.as_str()) };
        unit.put(keys::account(&name), &account, Some(found.version), place);
        self.desk.commit(unit).await.expect("a plan");
    }

    async fn add_agent(&self, agent: Agent) {
        let mut unit = self.desk.unit();
        let place = Place { due: None, list: keys::listed(keys::AGENTS, agent.name.as_str()) };
        unit.put(keys::agent(&agent.name), &agent, None, place);
        self.desk.commit(unit).await.expect("an agent");
    }

    /// Adds or replaces a source.
    pub async fn put_source(&self, source: &Source) {
        let found = self.desk.store.source(&source.repo).await.expect("a store");
        let mut unit = self.desk.unit();
        let place = Place { due: None, list: keys::listed(keys::SOURCES, source.repo.key()) };
        unit.put(keys::source(&source.repo), source, found.map(|found| found.version), place);
        self.desk.commit(unit).await.expect("a source");
    }

    /// Hands over a piece of work.
    pub async fn submit(&self, prompt: &str) -> JobId {
        let order = Order { repo: REPO.parse().expect("a repository"), branch: None, prompt: prompt.to_owned(), title: None, agent: None };
        self.desk.create_job(order).await.expect("a job").id
    }

    /// Lets virtual time pass; whatever becomes due happens at its second.
    pub async fn pass(&self, time: SignedDuration) {
        let until = self.clock.now() + time;
        while self.clock.now() < until {
            self.clock.advance(STEP.min(until.duration_since(self.clock.now())));
            self.step().await;
        }
    }

    /// Lets time pass until something holds; panics after `within`.
    pub async fn until(&self, within: SignedDuration, what: &str, mut holds: impl AsyncFnMut(&Self) -> bool) {
        let end = self.clock.now() + within;
        while !holds(self).await {
            assert!(self.clock.now() < end, "{what}: not within {within:#}\n{}", self.story().await);
            self.clock.advance(STEP);
            self.step().await;
        }
    }

    /// One step at the present time: the world moves, then Gaffer handles all there is.
    pub async fn step(&self) {
        self.sandbox.advance();
        if self.webhooks {
            self.sandbox.deliver_webhooks().await;
        }
        self.poller.tick().await.expect("a tick");
        while self.dispatcher.drain().await.expect("a batch") > 0 {
            self.sandbox.advance();
        }
    }

    /// A job's state in one word.
    pub async fn state(&self, job: &JobId) -> &'static str {
        engine::status::state_of(&self.desk.must_job(job).await.expect("a job").value)
    }

    /// A job's events as `name/kind`, in order.
    pub async fn events(&self, job: &JobId) -> Vec<String> {
        let events = self.desk.store.events(job).await.expect("events");
        events.iter().map(|event| format!("{}/{}", event.what.name(), event.what.kind())).collect()
    }

    /// Bodies of the wakes that the agent's receiver got, in order.
    pub fn wakes(&self) -> Vec<serde_json::Value> {
        let received = self.sandbox.agents().received(AGENT);
        received.iter().map(|wake| serde_json::from_str(&wake.body).expect("a JSON body")).collect()
    }

    /// What is going on, for the message of a failed assertion.
    pub async fn story(&self) -> String {
        use std::fmt::Write as _;
        let mut story = format!("at {}\n", self.clock.now());
        for found in self.desk.store.jobs(20).await.expect("jobs") {
            let id = found.value.id.clone();
            let why = self.desk.why(&id).await.expect("a why");
            let _ = writeln!(story, "{id} {} {:?}", why.state, self.events(&id).await);
            for reason in why.because {
                let _ = writeln!(story, "  {}: {}", reason.code, reason.sentence);
            }
        }
        let _ = writeln!(story, "{:#?}", self.sandbox.counters());
        story
    }

    /// The agent by name.
    pub fn agent(&self) -> AgentName {
        AGENT.parse().expect("a name")
    }
}

/// Secrets that the sandbox accepts.
fn secrets(scenario: &Scenario) -> Arc<dyn Secrets> {
    let agent_secret = agents::new_secret([7; 32]);
    let mut overlay: BTreeMap<String, SecretString> = BTreeMap::new();
    for account in &scenario.accounts {
        overlay.insert(format!("jules/{}", account.name), SecretString::from(account.key.clone()));
    }
    overlay.insert("github".to_owned(), SecretString::from(sandbox::github::DEFAULT_TOKEN));
    overlay.insert("webhook".to_owned(), SecretString::from(WEBHOOK_SECRET));
    overlay.insert(format!("agents/{AGENT}"), agent_secret);
    let nowhere = std::env::temp_dir().join("gaffer-tests-have-no-secret-files");
    Arc::new(SecretFiles::new(&nowhere, overlay))
}

fn adapters(sandbox: &Sandbox, secrets: &Arc<dyn Secrets>, clock: &Arc<dyn Clock>) -> (Eyes, Hands) {
    let (settings, _) = jules::Settings::at(&sandbox.jules_base()).expect("an address");
    let jules = jules::Client::new(settings, secrets.clone(), clock.clone()).expect("a client");
    let settings = github::Settings::new(Some(&sandbox.github_base()), None).expect("an address");
    let github = github::Client::new(&settings, secrets.clone(), clock.clone()).expect("a client");
    let allow: HostRule = sandbox.addr().to_string().parse().expect("a host rule");
    let sender = Sender::new(AgentSettings { allow: vec![allow] }, secrets.clone()).expect("a sender");
    let eyes = Eyes { sessions: Arc::new(jules::Reader::new(jules.clone())), pulls: Arc::new(github::Reader::new(github.clone())) };
    let hands = Hands { sessions: Arc::new(jules::Writer::new(jules)), pulls: Arc::new(github::Writer::new(github)), agents: Arc::new(sender) };
    (eyes, hands)
}

/// The webhook door on a socket of its own, and GitHub told about it.
async fn open_door(sandbox: &Sandbox, desk: &Desk, secrets: &Arc<dyn Secrets>, clock: &Arc<dyn Clock>) -> tokio::task::JoinHandle<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}/github/webhook", listener.local_addr().expect("an address"));
    let door = api::WebhookDoor { queue: desk.queue.clone(), clock: clock.clone(), secrets: secrets.clone(), counters: Arc::default() };
    sandbox.set_webhook(sandbox::WebhookTarget { url, secret: WEBHOOK_SECRET.to_owned() });
    tokio::spawn(async move {
        let _ = axum::serve(listener, api::webhook_router(door)).await;
    })
}
