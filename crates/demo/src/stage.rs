//! The demo's stage: a sandbox with its stories, and a Gaffer in a folder of its own that is thrown away afterwards.

use std::collections::BTreeMap;

use agents::HostRule;
use anyhow::{Context, Result};
use client::Client;
use domain::account::{Account, Health, ListWeight, Pace};
use domain::delivery::{Checkpoints, Phase, ReviewBy, Rules};
use domain::effect::CALL_TIMEOUT;
use domain::governor::Limits;
use domain::policy::{MergePolicy, PlanApproval, Policy, Source, Timing};
use engine::backend::{Backend, IndexEntry};
use engine::keys;
use engine::settings::Agent;
use jiff::SignedDuration;
use sandbox::github::{CheckSetup, CiSetup, DEFAULT_TOKEN, Outcome, RepoSetup};
use sandbox::story::{Step, Story};
use sandbox::{DEFAULT_KEY, Options, Sandbox, Scenario, WebhookTarget};
use secrecy::{ExposeSecret, SecretString};
use server::{LoopIntervals, Running, Settings};
use tempfile::TempDir;

use crate::deliveries::LABEL;
use crate::pipeline::repository as pipeline;
use crate::sprint::repository as sprint;

/// The agent's name.
pub(super) const AGENT: &str = "demo";

/// Where the first two jobs work.
pub(super) const SHOP: &str = "acme/shop";
/// Where the third works: its checks fail on the first head of every branch.
pub(super) const SITE: &str = "acme/site";

/// The three jobs.
pub(super) const PROMPTS: [(&str, &str); 3] = [
    (SHOP, "Add a search box (it will ask which library to use)"),
    (
        SHOP,
        "Rewrite the cart (its plan needs approval, and it gets stuck once)",
    ),
    (SITE, "Fix the footer (its checks fail first)"),
];

/// Signs the demo's webhooks; both ends are in this process.
const WEBHOOK_SECRET: &str = "a secret between two sockets of one process";

/// What is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Play {
    /// Three jobs.
    Jobs,
    /// Three issues that become deliveries.
    Deliveries,
    /// A repository whose pipeline runs by itself.
    Pipeline,
    /// A sprint of five personas.
    Sprint,
}

impl Play {
    /// The repositories that it is about.
    fn repos(self) -> &'static [&'static str] {
        match self {
            Self::Jobs | Self::Deliveries => &[SHOP, SITE],
            Self::Pipeline | Self::Sprint => &[SHOP],
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
    pub(super) async fn set(webhooks: bool, play: Play) -> Result<Self> {
        let sandbox = Sandbox::start(Options::real_time(scenario(play)))
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
            between_writes: match play {
                Play::Jobs | Play::Deliveries => server::BETWEEN_WRITES,
                Play::Pipeline | Play::Sprint => pipeline::BETWEEN_WRITES,
            },
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
async fn furnish(backend: &Backend, sandbox: &Sandbox, play: Play) -> Result<()> {
    let now = backend.now();
    let name = "default".parse().context("naming the account")?;
    let pace = Pace {
        tick: SignedDuration::from_millis(250),
        idle: SignedDuration::from_secs(1),
    };
    let account = Account {
        name,
        limits: Limits {
            concurrent: 15,
            per_day: 100,
        },
        agent: None,
        pace,
        health: Health::Working,
        next_poll: now,
        list: ListWeight::default(),
        activity_reads: BTreeMap::new(),
        passed_over: BTreeMap::new(),
        counters: domain::account::PollCounters::default(),
        budget: domain::account::Budget::default(),
    };
    let agent = Agent {
        name: AGENT.parse().context("naming the agent")?,
        url: Some(sandbox.agent_url(AGENT).parse()?),
        channels: Vec::new(),
        disabled: None,
        resume: None,
        notify: None,
    };
    let mut unit = backend.unit();
    unit.put(
        keys::account(&account.name),
        &account,
        None,
        IndexEntry {
            due: Some(now),
            list: keys::listed(keys::ACCOUNTS, account.name.as_str()),
            forget: None,
        },
    );
    unit.put(
        keys::agent(&agent.name),
        &agent,
        None,
        IndexEntry {
            due: None,
            list: keys::listed(keys::AGENTS, agent.name.as_str()),
            forget: None,
        },
    );
    backend.commit(unit).await.context("furnishing the demo")?;
    for &repo in play.repos() {
        backend
            .save_source(None, &source(repo, (&account, &agent), play)?)
            .await
            .context("adding a source to the demo")?;
    }
    Ok(())
}

fn source(repo: &str, (account, agent): (&Account, &Agent), play: Play) -> Result<Source> {
    let seconds = SignedDuration::from_secs;
    Ok(Source {
        repo: repo.parse().context("naming the repository")?,
        sprints: domain::sprint::SprintRules::default(),
        account: account.name.clone(),
        agent: Some(agent.name.clone()),
        paused: false,
        branch: Some("main".parse().context("naming the branch")?),
        policy: match play {
            Play::Sprint => sprint::policy(),
            Play::Jobs | Play::Deliveries | Play::Pipeline => Policy {
                merge: MergePolicy::OnGreen,
                plan_approval: PlanApproval::Agent,
                ..Policy::default()
            },
        },
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
        pipeline: (play == Play::Pipeline).then(pipeline::rules),
        deliveries: match play {
            Play::Jobs | Play::Sprint => Rules::default(),
            Play::Pipeline => pipeline::deliveries(),
            Play::Deliveries => Rules {
                label: Some(LABEL.parse().context("naming the label")?),
                checkpoints: Checkpoints::at(&[Phase::Plan]).context("naming the checkpoints")?,
                review_by: Some(ReviewBy::Agent),
                ..Rules::default()
            },
        },
    })
}

fn scenario(play: Play) -> Scenario {
    let stories = match play {
        Play::Pipeline => return pipeline::scenario(),
        Play::Sprint => return sprint::scenario(),
        Play::Jobs => stories(),
        // Each session plans, works, opens a pull request and is done.
        Play::Deliveries => Vec::new(),
    };
    let green = |name: &str, seconds| CheckSetup {
        takes: SignedDuration::from_secs(seconds),
        ..CheckSetup::new(name, Outcome::Success)
    };
    let fails_first = CheckSetup {
        log: "error: the footer is 3 pixels too low".to_owned(),
        ..CheckSetup::new("test", Outcome::FailsFirst(1))
    };
    let shop = RepoSetup::new(SHOP).with_ci(CiSetup {
        checks: vec![green("build", 2), green("test", 3)],
        ..CiSetup::default()
    });
    let site = RepoSetup::new(SITE).with_ci(CiSetup {
        checks: vec![green("build", 1), fails_first],
        ..CiSetup::default()
    });
    Scenario {
        repos: vec![shop, site],
        stories,
        ..Scenario::default()
    }
}

fn stories() -> Vec<Story> {
    let second = SignedDuration::from_secs(1);
    let work = |title: &str| Step::Progress {
        after: second,
        title: title.to_owned(),
        description: String::new(),
        files: Vec::new(),
        command: None,
        media_bytes: 0,
    };
    let open = || Step::OpenPull {
        after: second,
        files: Vec::new(),
        draft: false,
    };
    let done = || Step::Complete {
        after: second,
        no_change: false,
    };
    let story = |matches: &str, steps| Story {
        matches: matches.to_owned(),
        steps,
        ..Story::default()
    };
    let ask = Step::Ask {
        after: second,
        text: "There are two search libraries in the tree. Which one shall I use?".to_owned(),
    };
    let plan = Step::Plan {
        after: second,
        steps: vec![
            "Move the cart's state".to_owned(),
            "Rewrite the view".to_owned(),
            "Run the tests".to_owned(),
        ],
    };
    vec![
        story(
            "search box",
            vec![
                work("Looking around"),
                ask,
                work("Building the box"),
                open(),
                done(),
            ],
        ),
        story(
            "cart",
            vec![
                plan,
                work("Moving the state"),
                Step::Stall { after: second },
                work("Rewriting the view"),
                open(),
                done(),
            ],
        ),
        story(
            "footer",
            vec![
                work("Looking around"),
                work("Moving the footer"),
                open(),
                done(),
            ],
        ),
    ]
}
