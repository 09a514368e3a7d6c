//! `gaffer doctor`: gathers what the rules of [`domain::doctor`] judge. It reads, and changes nothing anywhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::doctor::{
    AccountFacts, AgentFacts, CredentialFacts, CredentialIdentity, CredentialKind, Facts,
    InstallationFacts, MachineFacts, SecretStatus, Skew, SourceFacts,
};
use domain::facts::Fact;
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, AgentName, BranchName, InstallationId, RepoName};
use domain::marker::Marker;
use domain::policy::Source;
use domain::schedule::Schedule;
use domain::wake::Notify;
use secrecy::ExposeSecret;
use url::Url;

use crate::backend::Error;
use crate::ports::{
    AgentsProbe, Clock, GithubProbe, JulesProbe, Queue, SecretName, Secrets, SecretsError,
    SessionsRead,
};
use crate::store::Store;

/// Pages of sessions to search for the markers of other installations: an active one is among the newest.
const SESSION_PAGES: usize = 3;

/// Sessions a page is asked for: pages can carry whole patches, seen to weigh 0.8 MB each.
const SESSION_PAGE_SIZE: u32 = 10;

/// The doctor's readers.
pub struct Doctor {
    /// What is stored.
    pub store: Store,
    /// The queue.
    pub queue: Arc<dyn Queue>,
    /// Secrets by name; only their shape is kept.
    pub secrets: Arc<dyn Secrets>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Jules, through the usual reads.
    pub sessions: Arc<dyn SessionsRead>,
    /// Jules, beyond that.
    pub jules: Arc<dyn JulesProbe>,
    /// GitHub.
    pub github: Arc<dyn GithubProbe>,
    /// Agents.
    pub agents: Arc<dyn AgentsProbe>,
}

/// What a person wants to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// Only this source and what it needs.
    pub source: Option<RepoName>,
    /// The App's id, when GitHub's secret is an App's key.
    pub app_id: Option<u64>,
    /// Where webhooks should go.
    pub webhook_url: Option<String>,
}

impl Doctor {
    /// Collects all facts.
    pub async fn examine(
        &self,
        machine: MachineFacts,
        question: &Question,
    ) -> Result<Facts, Error> {
        Ok(Facts {
            machine,
            installation: Some(self.installation(question).await?),
        })
    }

    async fn installation(&self, question: &Question) -> Result<InstallationFacts, Error> {
        let now = self.clock.now();
        let sources = self.wanted(question).await?;
        let accounts = self.accounts(&sources, question).await?;
        let github = self.credential(question).await;
        let mut facts = Vec::new();
        for source in sources {
            facts.push(self.source(source, &accounts, &github).await?);
        }
        let agents = self.agents(&facts, question).await?;
        let switches = self.store.switches().await?.value;
        Ok(InstallationFacts {
            now,
            clocks: self.clocks(),
            newest: self.store.newest().await?,
            paused_since: switches.paused_since,
            observe_only: switches.observe_only,
            dead_letters: self.queue.depth().await?.1,
            webhook_secret: self.kept(&SecretName::Webhook).await,
            webhook_url: question.webhook_url.clone(),
            github,
            accounts,
            agents,
            sources: facts,
        })
    }

    async fn wanted(&self, question: &Question) -> Result<Vec<Source>, Error> {
        let all = self.store.sources().await?;
        let wanted = all.into_iter().map(|found| found.value).filter(|source| {
            question
                .source
                .as_ref()
                .is_none_or(|only| *only == source.repo)
        });
        Ok(wanted.collect())
    }

    /// The accounts, only those of the wanted sources if some are.
    async fn accounts(
        &self,
        sources: &[Source],
        question: &Question,
    ) -> Result<Vec<AccountFacts>, Error> {
        let ours = self.store.installation().await?.map(|found| found.id);
        let mut facts = Vec::new();
        for found in self.store.accounts().await? {
            let account = found.value;
            let used = || sources.iter().any(|source| source.account == account.name);
            if question.source.is_some() && !used() {
                continue;
            }
            let slots = self.store.slots(&account.name).await?.value;
            let now = self.clock.now();
            let key = self.kept(&SecretName::Jules(account.name.clone())).await;
            let may_ask = key.kind().is_some_and(CredentialKind::may_be_jules);
            let connected = if may_ask {
                let listed = self.sessions.sources(&account.name).await;
                Some(listed.map(|sources| sources.into_iter().map(|source| source.repo).collect()))
            } else {
                None
            };
            let others = match &connected {
                Some(Ok(_)) => known(self.others(&account.name, ours.as_ref()).await),
                Some(Err(_)) | None => Fact::Known(Vec::new()),
            };
            facts.push(AccountFacts {
                limits: account.limits,
                learned: slots
                    .learned
                    .filter(|learned| learned.until > now)
                    .map(|learned| learned.concurrent),
                name: account.name,
                key,
                connected,
                others,
            });
        }
        Ok(facts)
    }

    /// Other installations whose marker is in the titles of the newest sessions.
    async fn others(
        &self,
        account: &AccountName,
        ours: Option<&InstallationId>,
    ) -> Result<Vec<(InstallationId, u64)>, Failure> {
        let mut counts: BTreeMap<String, (InstallationId, u64)> = BTreeMap::new();
        let mut token: Option<String> = None;
        for _ in 0..SESSION_PAGES {
            let listed = self
                .sessions
                .list(account, SESSION_PAGE_SIZE, token.as_deref());
            let page = listed.await?;
            let markers = page
                .sessions
                .iter()
                .filter_map(|session| Marker::find(&session.title));
            for marker in markers.filter(|marker| Some(&marker.installation) != ours) {
                let name = marker.installation.to_string();
                let entry = counts.entry(name).or_insert((marker.installation, 0));
                entry.1 += 1;
            }
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        let mut counts: Vec<(InstallationId, u64)> = counts.into_values().collect();
        counts.sort_by_key(|(_, sessions)| std::cmp::Reverse(*sessions));
        Ok(counts)
    }

    async fn credential(&self, question: &Question) -> CredentialFacts {
        let kept = self.kept(&SecretName::GitHub).await;
        let app_id = question.app_id;
        let may_ask = kept.kind().is_some_and(|shape| {
            shape.may_be_github(app_id.is_some()) && shape != CredentialKind::GithubInstallation
        });
        let (identity, hook) = if may_ask {
            (
                Some(self.github.identity().await),
                self.github.app_hook().await,
            )
        } else {
            (None, Fact::Known(None))
        };
        CredentialFacts {
            kept,
            app_id,
            identity,
            hook,
        }
    }

    async fn source(
        &self,
        source: Source,
        accounts: &[AccountFacts],
        github: &CredentialFacts,
    ) -> Result<SourceFacts, Error> {
        let account = accounts
            .iter()
            .find(|account| account.name == source.account);
        let connected = account
            .and_then(|account| account.connected.as_ref()?.as_ref().ok())
            .is_some_and(|repos| repos.contains(&source.repo));
        let jules_branches = if connected {
            known(self.branches(&source).await)
        } else {
            Fact::Known(None)
        };
        let repository = match &source.branch {
            Some(base) if accepted(github) => {
                Some(self.github.repository(&source.repo, base).await)
            }
            Some(_) | None => None,
        };
        let agent_known = match &source.agent {
            Some(agent) => self.store.agent(agent).await?.is_some(),
            None => true,
        };
        let number = self.store.reach(&source.repo).await?.value.id;
        let intake = self.store.intake(&source).await?;
        let schedule = match &source.pipeline {
            Some(_) => self.store.get::<Schedule>(&source.repo).await?,
            None => None,
        };
        let schedule = schedule.as_ref().map(|found| &found.value);
        let schedule_unread = schedule.and_then(Schedule::unreadable);
        Ok(SourceFacts {
            number,
            account_known: account.is_some(),
            agent_known,
            jules_branches,
            repository,
            unread: intake.failure().map(|(_, why)| why.to_owned()),
            schedule_unread: schedule_unread.map(|error| error.reason.clone()),
            source,
        })
    }

    /// The branches that Jules sees; `None` where it shows the repository in its list alone.
    async fn branches(&self, source: &Source) -> Result<Option<Vec<BranchName>>, Failure> {
        let told = self.jules.branches(&source.account, &source.repo).await;
        match told {
            Err(failure) if failure.class == FailureClass::NotFound => Ok(None),
            told => told,
        }
    }

    /// The agents, only those of the wanted sources if some are.
    async fn agents(
        &self,
        sources: &[SourceFacts],
        question: &Question,
    ) -> Result<Vec<AgentFacts>, Error> {
        let mut facts = Vec::new();
        for found in self.store.agents().await? {
            let agent = found.value;
            let used = || {
                sources
                    .iter()
                    .any(|facts| facts.source.agent.as_ref() == Some(&agent.name))
            };
            if question.source.is_some() && !used() {
                continue;
            }
            let wakes = self.store.wakes(&agent.name).await?;
            let dead = wakes.iter().filter(|wake| wake.value.is_lost()).count();
            let url = match agent.notify {
                Some(notify) => self.notice_address(&agent.name, notify).await,
                None => agent.url,
            };
            let reach = match &url {
                Some(url) if agent.disabled.is_none() => Some(self.agents.reach(url).await),
                Some(_) | None => None,
            };
            facts.push(AgentFacts {
                secret: self.kept(&SecretName::Agent(agent.name.clone())).await,
                name: agent.name,
                host: url.as_ref().map(host),
                notify: agent.notify,
                disabled: agent
                    .disabled
                    .map(|disabled| format!("{} (since {})", disabled.why, disabled.at)),
                reach,
                dead_wakes: u64::try_from(dead).unwrap_or(u64::MAX),
            });
        }
        Ok(facts)
    }

    /// Where a person's notices go, unless that is a desktop. The address is a secret: only its host goes further.
    async fn notice_address(&self, name: &AgentName, notify: Notify) -> Option<Url> {
        if notify == Notify::Desktop {
            return None;
        }
        let kept = self.secrets.read(&SecretName::Agent(name.clone())).await;
        kept.ok()?.expose_secret().parse().ok()
    }

    async fn kept(&self, name: &SecretName) -> SecretStatus {
        kept(self.secrets.as_ref(), name).await
    }

    fn clocks(&self) -> Vec<Skew> {
        let known = [
            ("Jules", self.jules.ahead()),
            ("GitHub", self.github.ahead()),
        ];
        known
            .into_iter()
            .filter_map(|(service, ahead)| {
                Some(Skew {
                    service,
                    ahead: ahead?,
                })
            })
            .collect()
    }
}

fn known<T>(read: Result<T, Failure>) -> Fact<T> {
    match read {
        Ok(value) => Fact::Known(value),
        Err(failure) => Fact::Unknown {
            why: failure.message,
        },
    }
}

/// Whether a secret is kept, and of which shape it is. The secret itself goes no further.
pub async fn kept(secrets: &dyn Secrets, name: &SecretName) -> SecretStatus {
    match secrets.read(name).await {
        Ok(secret) => SecretStatus::Here(CredentialKind::detect(secret.expose_secret())),
        Err(SecretsError::Missing(_)) => SecretStatus::Missing,
        Err(SecretsError::Unusable { message, .. } | SecretsError::Unreachable { message, .. }) => {
            SecretStatus::Unusable { why: message }
        }
    }
}

/// Whether GitHub accepts the credential: otherwise every repository would report the same.
fn accepted(github: &CredentialFacts) -> bool {
    match &github.identity {
        Some(CredentialIdentity::Person { .. } | CredentialIdentity::App { .. }) => true,
        Some(
            CredentialIdentity::Installation
            | CredentialIdentity::Refused { .. }
            | CredentialIdentity::Unreachable { .. }
            | CredentialIdentity::Trouble { .. },
        )
        | None => false,
    }
}

/// Host and port: the path of such an address is often a secret itself.
fn host(url: &url::Url) -> String {
    let host = url.host_str().unwrap_or("no host");
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
