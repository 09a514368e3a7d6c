//! What a person would type after the first deployment: an account, an agent, a source that merges on green, and their secrets.

use aws::Parameters;
use domain::account::{Account, Pace};
use domain::governor::Limits;
use domain::policy::{MergePolicy, PlanApproval, Policy, Source, Timing};
use engine::backend::{Backend, IndexEntry};
use engine::keys;
use engine::ports::{SecretName, Secrets};
use engine::settings::{Agent, Upstreams};
use jiff::{SignedDuration, Timestamp};
use sandbox::github::DEFAULT_TOKEN;
use sandbox::{DEFAULT_KEY, Sandbox};
use secrecy::SecretString;

use crate::stage::REPO;

/// The agent.
pub(crate) const AGENT: &str = "helper";

/// So rarely are pull requests read that only a webhook can be why one is merged in time.
const SELDOM: SignedDuration = SignedDuration::from_mins(30);

/// The account, which is polled from now on.
pub(crate) async fn open_account(backend: &Backend) {
    let account = account(backend.now());
    let name = account.name.as_str();
    let place = listed(Some(account.next_poll), keys::ACCOUNTS, name);
    let mut unit = backend.unit();
    unit.put(keys::account(&account.name), &account, None, place);
    backend.commit(unit).await.expect("an account");
}

/// Everything but the account.
pub(crate) async fn put(backend: &Backend, secrets: &Parameters, sandbox: &Sandbox) {
    let (account, agent) = (account(backend.now()), agent(sandbox));
    let upstreams = Upstreams {
        jules_base: Some(sandbox.jules_base()),
        github_base: Some(sandbox.github_base()),
        github_app_id: None,
    };
    for (name, value) in [
        (
            SecretName::Jules(account.name.clone()),
            SecretString::from(DEFAULT_KEY),
        ),
        (SecretName::GitHub, SecretString::from(DEFAULT_TOKEN)),
        (
            SecretName::Agent(agent.name.clone()),
            agents::new_secret([7; 32]),
        ),
    ] {
        secrets.write(&name, &value).await.expect("a parameter");
    }
    let source = source(&account, &agent);
    let found = backend.store.upstreams().await.expect("a table");
    let mut unit = backend.unit();
    unit.put(
        keys::upstreams(),
        &upstreams,
        Some(found.version),
        IndexEntry::default(),
    );
    unit.put(
        keys::agent(&agent.name),
        &agent,
        None,
        listed(None, keys::AGENTS, AGENT),
    );
    unit.put(
        keys::source(&source.repo),
        &source,
        None,
        listed(None, keys::SOURCES, &source.repo.key()),
    );
    backend.commit(unit).await.expect("a furnished table");
}

fn listed(due: Option<Timestamp>, list: &'static str, name: &str) -> IndexEntry {
    IndexEntry {
        due,
        list: keys::listed(list, name),
        forget: None,
    }
}

fn account(now: Timestamp) -> Account {
    Account {
        limits: Limits {
            concurrent: 15,
            per_day: 100,
        },
        // As often as ticks come.
        pace: Pace {
            tick: SignedDuration::from_secs(1),
            idle: SignedDuration::from_secs(1),
        },
        ..Account::new("default".parse().expect("a name"), now)
    }
}

fn agent(sandbox: &Sandbox) -> Agent {
    Agent {
        url: sandbox.agent_url(AGENT).parse().ok(),
        ..Agent::new(AGENT.parse().expect("a name"))
    }
}

fn source(account: &Account, agent: &Agent) -> Source {
    Source {
        agent: Some(agent.name.clone()),
        branch: Some("main".parse().expect("a branch")),
        policy: Policy {
            merge: MergePolicy::OnGreen,
            plan_approval: PlanApproval::Auto,
            ..Policy::default()
        },
        timing: Timing {
            settle: SignedDuration::from_secs(1),
            pull_poll: SELDOM,
            ..Timing::default()
        },
        ..Source::new(REPO.parse().expect("a repository"), account.name.clone())
    }
}
