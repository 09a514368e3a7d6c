//! The demo's stage: a sandbox with a story, and a Gaffer in a folder of its own that is thrown away afterwards.

use std::collections::BTreeMap;

use agents::HostRule;
use anyhow::{Context, Result};
use client::Client;
use domain::account::{Account, Pace};
use domain::delivery::Rules;
use domain::effect::CALL_TIMEOUT;
use domain::governor::Limits;
use domain::pipeline::PipelineRules;
use domain::policy::{MergePolicy, PlanApproval, Policy, Source, Timing};
use engine::backend::Backend;
use engine::settings::Agent;
use jiff::SignedDuration;
use sandbox::github::DEFAULT_TOKEN;
use sandbox::{DEFAULT_KEY, Options, Sandbox, Scenario, WebhookTarget};
use secrecy::{ExposeSecret, SecretString};
use server::{LoopIntervals, Running, Settings};
use tempfile::TempDir;

/// The agent's name.
pub(super) const AGENT: &str = "demo";

/// The repository of every story.
pub(super) const SHOP: &str = "acme/shop";

/// Signs the demo's webhooks; both ends are in this process.
const WEBHOOK_SECRET: &str = "a secret between two sockets of one process";

/// Shortest time between two writes of a story with many: only GitHub itself wants them spread over minutes.
pub(super) const BETWEEN_MANY_WRITES: SignedDuration = SignedDuration::from_millis(100);

/// What is played: the world of the sandbox, and how Gaffer works on each of its repositories.
pub(super) struct Play {
    pub(super) scenario: Scenario,
    pub(super) policy: Policy,
    pub(super) deliveries: Rules,
    pub(super) pipeline: Option<PipelineRules>,
    pub(super) between_writes: SignedDuration,
}

impl Play {
    /// A story whose changes are merged on green, and whose plans the agent approves.
    pub(super) fn new(scenario: Scenario) -> Self {
        Self {
            scenario,
            policy: Policy {
                merge: MergePolicy::OnGreen,
                plan_approval: PlanApproval::Agent,
                ..Policy::default()
            },
            deliveries: Rules::default(),
            pipeline: None,
            between_writes: server::BETWEEN_WRITES,
        }
    }
}

/// Where the demo's Gaffer is, while it is kept.
#[derive(Clone)]
pub struct Address {
    /// Its address.
    pub url: String,
    /// The token of its API: a new one for each demo.
    pub token: String,
}

/// Everything the demo plays on.
pub(super) struct Stage {
    pub(super) sandbox: Sandbox,
    pub(super) client: Client,
    gaffer: Running,
    _folder: TempDir,
}

impl Stage {
    /// Starts the sandbox and Gaffer on free ports.
    pub(super) async fn set(webhooks: bool, play: &Play) -> Result<Self> {
        let sandbox = Sandbox::start(Options::real_time(play.scenario.clone()))
            .await
            .context("starting the sandbox")?;
        let folder = tempfile::Builder::new()
            .prefix("gaffer-demo-")
            .tempdir()
            .context("making a folder for the demo")?;
        let data = server::data::open(folder.path(), secrets()).await?;
        furnish(&data.backend, &sandbox, play).await?;
        let allowed: HostRule = sandbox
            .addr()
            .to_string()
            .parse()
            .context("allowing the sandbox's own address")?;
        let settings = Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            observe_only: false,
            webhooks,
            jules_base: Some(sandbox.jules_base()),
            github_base: Some(sandbox.github_base()),
            github_app_id: None,
            allow_hosts: vec![allowed],
            token: None,
            rhythm: LoopIntervals::default(),
            call_timeout: CALL_TIMEOUT,
            between_writes: play.between_writes,
        };
        let gaffer = server::start(data, settings).await?;
        let url = format!("http://{}", gaffer.addr);
        if webhooks {
            sandbox.set_webhook(WebhookTarget {
                url: format!("{url}/github/webhook"),
                secret: WEBHOOK_SECRET.to_owned(),
            });
        }
        let token = SecretString::from(gaffer.token.value.expose_secret().to_owned());
        let client = Client::new(url.parse().context("reading Gaffer's own address")?, token)?;
        Ok(Self {
            sandbox,
            client,
            gaffer,
            _folder: folder,
        })
    }

    /// Where Gaffer is, and what opens it.
    pub(super) fn address(&self) -> Address {
        Address {
            url: format!("http://{}", self.gaffer.addr),
            token: self.gaffer.token.value.expose_secret().to_owned(),
        }
    }

    /// Stops everything; the folder goes with it.
    pub(super) async fn clear(self) {
        self.gaffer.stop().await;
        self.sandbox.stop().await;
    }
}

fn secrets() -> BTreeMap<String, SecretString> {
    let agent_key: [u8; 32] = rand::random();
    BTreeMap::from([
        ("jules/default".to_owned(), SecretString::from(DEFAULT_KEY)),
        ("github".to_owned(), SecretString::from(DEFAULT_TOKEN)),
        ("webhook".to_owned(), SecretString::from(WEBHOOK_SECRET)),
        (format!("agents/{AGENT}"), agents::new_secret(agent_key)),
    ])
}

/// What a person would type: an account, an agent and two sources that merge on green, all with short waits.
async fn furnish(backend: &Backend, sandbox: &Sandbox, play: &Play) -> Result<()> {
    let now = backend.now();
    let name = "default".parse().context("naming the account")?;
    let pace = Pace {
        tick: SignedDuration::from_millis(250),
        idle: SignedDuration::from_secs(1),
    };
    let account = Account {
        limits: Limits {
            concurrent: 15,
            per_day: 100,
        },
        pace,
        ..Account::new(name, now)
    };
    let agent = Agent {
        url: Some(sandbox.agent_url(AGENT).parse()?),
        ..Agent::new(AGENT.parse().context("naming the agent")?)
    };
    let mut unit = backend.unit();
    unit.save(&account.name, &account, None);
    unit.save(&agent.name, &agent, None);
    backend.commit(unit).await.context("furnishing the demo")?;
    for repo in &play.scenario.repos {
        backend
            .save_source(None, &source(&repo.full_name, &account, &agent, play)?)
            .await
            .context("adding a source to the demo")?;
    }
    Ok(())
}

fn source(repo: &str, account: &Account, agent: &Agent, play: &Play) -> Result<Source> {
    let seconds = SignedDuration::from_secs;
    Ok(Source {
        agent: Some(agent.name.clone()),
        branch: Some("main".parse().context("naming the branch")?),
        policy: play.policy.clone(),
        timing: Timing {
            stuck_after: seconds(4),
            stuck_after_queued: seconds(10),
            text_wait: seconds(2),
            quiet: seconds(1),
            settle: SignedDuration::from_millis(500),
            ci_start: seconds(5),
            ci_repair_after: SignedDuration::from_millis(500),
            pull_poll: seconds(1),
            ..Timing::default()
        },
        pipeline: play.pipeline.clone(),
        deliveries: play.deliveries.clone(),
        ..Source::new(
            repo.parse().context("naming the repository")?,
            account.name.clone(),
        )
    })
}
