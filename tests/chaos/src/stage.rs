//! The stage of a chaos: six jobs that between them need every kind of effect, with the waits of a real installation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use domain::account::Account;
use domain::governor::Limits;
use domain::policy::{MergePolicy, PlanApproval, Policy, Source, Timing};
use engine::backend::Backend;
use engine::ports::{Clock, SecretName};
use engine::settings::Agent;
use jiff::SignedDuration;
use sandbox::agent::AgentSetup;
use sandbox::github::{
    ChangedFile, CheckSetup, CiSetup, DEFAULT_TOKEN, Outcome, RepoSetup, RequiredCheck,
};
use sandbox::story::{Step, Story};
use sandbox::{DEFAULT_KEY, Lags, Sandbox, Scenario, WebhookFaults};
use secrecy::{ExposeSecret, SecretString};
use server::data::{self, Data};

use crate::job_agents::{PROMPT, SLOW};

/// A question, and a draft that has to be marked ready; a plan that has to be approved.
const SHOP: &str = "acme/shop";
/// Checks that fail first, and one silence.
const SITE: &str = "acme/site";
/// A base that moves on, which every head has to contain.
pub(crate) const DOCS: &str = "acme/docs";

/// Changes of protected paths, which only a person lets through.
pub(crate) const HANDBOOK: &str = "acme/handbook";

/// What the job that needs a person is asked to do. Where a create is done twice, it is the create of this one.
pub(crate) const BLOCKED: &str = "Name the owners";

/// A source whose pull requests only a person merges: one job of it is cancelled, and its pull request closed.
pub(crate) const ATTIC: &str = "acme/attic";

/// What the job that is cancelled is asked to do.
const CANCELLED: &str = "Tidy the attic";

/// Signs the sandbox's webhooks.
pub(crate) const WEBHOOK_SECRET: &str = "a secret between the sandbox and the child";

/// The label of a pull request that needs a person.
pub(crate) const BLOCKED_LABEL: &str = "needs-a-person";

/// Where each job works and what it is asked to do; the last but one needs a person, and the last one is cancelled by one.
pub(crate) const JOBS: [(&str, &str); 6] = [
    (SHOP, "Add a search box"),
    (SHOP, "Rewrite the cart"),
    (SITE, "Fix the footer"),
    (DOCS, "Describe the shop"),
    (HANDBOOK, BLOCKED),
    (ATTIC, CANCELLED),
];

/// Drafts among them.
pub(crate) const DRAFTS: u64 = 1;

const fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// What the sandbox plays.
pub(crate) fn scenario(lags: Lags, webhook_faults: WebhookFaults) -> Scenario {
    let green = |name: &str, takes| CheckSetup {
        takes: seconds(takes),
        ..CheckSetup::new(name, Outcome::Success)
    };
    let fails_first = CheckSetup::new("test", Outcome::FailsFirst(1));
    let repo = |name: &str, second: CheckSetup, strict| {
        RepoSetup::new(name).with_ci(CiSetup {
            checks: vec![green("build", 20), second],
            required: vec![RequiredCheck::any("build")],
            strict,
            on_base: false,
            again_on_ready: false,
        })
    };
    Scenario {
        repos: vec![
            repo(SHOP, green("test", 30), false),
            repo(SITE, fails_first, false),
            repo(DOCS, green("test", 10), true),
            repo(HANDBOOK, green("test", 10), false),
            repo(ATTIC, green("test", 10), false),
        ],
        stories: stories(),
        lags,
        webhook_faults,
        agents: vec![AgentSetup {
            name: SLOW.to_owned(),
            statuses: vec![202],
            ..AgentSetup::default()
        }],
        ..Scenario::default()
    }
}

fn stories() -> Vec<Story> {
    let after = seconds(12);
    let work = |title: &str| Step::progress(after, title);
    let open = |draft| Step::open_pull(after, draft);
    let done = || Step::complete(after);
    let story = Story::new;
    let asked = "There are two search libraries in the tree. Which one shall I use?";
    let ask = Step::ask(after, asked);
    let plan = Step::plan(after, &["Move the cart's state", "Run the tests"]);
    let stall = Step::Stall { after };
    let owners = Step::OpenPull {
        after,
        files: vec![ChangedFile::modified(".github/CODEOWNERS")],
        draft: false,
    };
    vec![
        story("search box", vec![work("Looking"), ask, open(true), done()]),
        story("cart", vec![plan, work("Moving"), open(false), done()]),
        story("footer", vec![work("Looking"), stall, open(false), done()]),
        story("Describe", vec![work("Writing"), open(false), done()]),
        story("owners", vec![work("Asking around"), owners, done()]),
        story("attic", vec![work("Tidying"), open(false), done()]),
    ]
}

/// What a person would type: an account, two agents, four sources that merge on green, and one that a person merges; and the keys
/// and tokens of all.
pub(crate) async fn furnish(
    folder: &Path,
    sandbox: &Sandbox,
    clock: Arc<dyn Clock>,
    token: &SecretString,
) -> Result<()> {
    let data = data::open_by(folder, BTreeMap::new(), clock).await?;
    let backend = &data.backend;
    let mut unit = backend.unit();
    let account = account(backend)?;
    store_keys(&data, &account, token).await?;
    unit.save(&account.name, &account, None);
    for name in [PROMPT, SLOW] {
        let agent = Agent {
            url: Some(sandbox.agent_url(name).parse()?),
            ..Agent::new(name.parse().context("naming an agent")?)
        };
        let secret = SecretName::Agent(agent.name.clone());
        let key: [u8; 32] = rand::random();
        data.secrets
            .write(&secret, &agents::new_secret(key))
            .await?;
        unit.save(&agent.name, &agent, None);
    }
    let agents = [
        (SHOP, PROMPT),
        (SITE, SLOW),
        (DOCS, SLOW),
        (HANDBOOK, SLOW),
        (ATTIC, SLOW),
    ];
    for (repo, agent) in agents {
        let source = source(repo, agent, &account)?;
        unit.save(&source.repo, &source, None);
    }
    backend.commit(unit).await.context("furnishing the stage")
}

/// Stores what the child signs with, checks and shows to the sandbox.
async fn store_keys(data: &Data, account: &Account, token: &SecretString) -> Result<()> {
    let keys = [
        (SecretName::Jules(account.name.clone()), DEFAULT_KEY),
        (SecretName::GitHub, DEFAULT_TOKEN),
        (SecretName::Webhook, WEBHOOK_SECRET),
        (SecretName::ApiToken, token.expose_secret()),
    ];
    for (name, key) in keys {
        data.secrets.write(&name, &SecretString::from(key)).await?;
    }
    Ok(())
}

fn account(backend: &Backend) -> Result<Account> {
    Ok(Account {
        limits: Limits {
            concurrent: 15,
            per_day: 100,
        },
        ..Account::new(
            "default".parse().context("naming the account")?,
            backend.now(),
        )
    })
}

fn source(repo: &str, agent: &str, account: &Account) -> Result<Source> {
    let says_so = repo == HANDBOOK;
    Ok(Source {
        agent: Some(agent.parse().context("naming an agent")?),
        branch: Some("main".parse().context("naming a branch")?),
        policy: Policy {
            merge: if repo == ATTIC {
                MergePolicy::Human
            } else {
                MergePolicy::OnGreen
            },
            plan_approval: PlanApproval::Agent,
            comment_when_blocked: says_so,
            blocked_label: says_so.then(|| BLOCKED_LABEL.to_owned()),
            ..Policy::default()
        },
        timing: Timing {
            stuck_after: seconds(240),
            settle: seconds(20),
            ci_repair_after: seconds(20),
            quiet: seconds(60),
            pull_poll: seconds(30),
            ..Timing::default()
        },
        ..Source::new(
            repo.parse().context("naming a repository")?,
            account.name.clone(),
        )
    })
}
