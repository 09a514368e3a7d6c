//! Sources: the repositories that are worked on, with their settings.

use std::marker::PhantomData;

use domain::delivery::{
    Checkpoints, CheckpointsBy, Deploy, Endpoint, IntakeLabel, Observe, PlanBy, ReviewBy, Rules,
};
use domain::ids::{AccountName, AgentName, BranchName, RepoName};
use domain::pipeline::{Exchange, Implement, PipelineRules};
use domain::policy::{Policy, Source, Timing, duration};
use domain::sprint::{Integration, NextSprint, Parallel, SprintRules};
use jiff::SignedDuration;
use reqwest::Method;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{IntakeResult, form};
use crate::client::{Answer, Call, Client};
use crate::error::Error;

/// `GET /api/sources`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sources {
    /// All of them, by name.
    pub sources: Vec<SourceView>,
}

/// A source with its settings. It has no credential: those are the installation's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceView {
    /// The repository.
    pub repo: RepoName,
    /// The Jules account that works on it.
    pub account: AccountName,
    /// The agent that is woken for its jobs; without one a person looks.
    pub agent: Option<AgentName>,
    /// The base branch of jobs that name none.
    pub branch: Option<BranchName>,
    /// Whether nothing is written to Jules or GitHub for it.
    pub paused: bool,
    /// What may be done without asking.
    #[schemars(with = "form::Settings")]
    pub policy: Policy,
    /// How long to wait for what; durations have units.
    #[schemars(with = "form::Settings")]
    pub timing: Timing,
    /// How issues become deliveries, and how those go.
    #[schemars(with = "DeliverySettings")]
    pub deliveries: Rules,
    /// How its pipeline runs; without it the source has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PipelineSettings>")]
    pub pipeline: Option<PipelineRules>,
    /// How its sprints go.
    #[schemars(with = "SprintSettings")]
    pub sprints: SprintRules,
}

impl From<Source> for SourceView {
    fn from(source: Source) -> Self {
        let Source {
            repo,
            account,
            agent,
            paused,
            branch,
            policy,
            timing,
            deliveries,
            pipeline,
            sprints,
        } = source;
        Self {
            repo,
            account,
            agent,
            branch,
            paused,
            policy,
            timing,
            deliveries,
            pipeline,
            sprints,
        }
    }
}

/// `DELETE /api/sources/{owner}/{name}`: it is removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRemoved {
    /// The repository. Its jobs and its deliveries can still be shown.
    pub removed: RepoName,
}

/// `POST /api/sources`. What may be merged or answered without asking is set where the installation is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateSource {
    /// The repository.
    pub repo: RepoName,
    /// The Jules account that works on it.
    pub account: AccountName,
    /// The agent that is woken for its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The base branch of jobs that name none; `main` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchName>,
    /// How issues become deliveries, and how those go.
    #[serde(default, deserialize_with = "by_name")]
    pub deliveries: DeliverySettings,
    /// How its pipeline runs; `null` for none.
    #[serde(
        default,
        deserialize_with = "by_name_or_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub pipeline: Option<Option<PipelineSettings>>,
}

/// `PATCH /api/sources/{owner}/{name}`: what changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditSource {
    /// The Jules account that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountName>,
    /// The agent that is woken for its jobs; `null` for none.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub agent: Option<Option<AgentName>>,
    /// The base branch of jobs that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchName>,
    /// Whether nothing is written to Jules or GitHub for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// How issues become deliveries, and how those go.
    #[serde(default, deserialize_with = "by_name")]
    pub deliveries: DeliverySettings,
    /// How its pipeline runs; `null` switches it off.
    #[serde(
        default,
        deserialize_with = "by_name_or_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub pipeline: Option<Option<PipelineSettings>>,
    /// How its sprints go.
    #[serde(default, deserialize_with = "by_name")]
    pub sprints: SprintSettings,
}

/// Settings of a source for its sprints; what is not given stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SprintSettings {
    /// The sprints whose members work at once: `always`, `only=50,55`, `every=5` or `except=7`. In all others one member
    /// begins when the one before is merged or ended, and each is merged by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
    /// How many members of a parallel sprint work at once; `null` for all.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub at_once: Option<Option<u32>>,
    /// How long a member is waited for from the start of its session, as `30m`; from a minute to a day.
    #[serde(
        default,
        deserialize_with = "given_time",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>")]
    pub member_timeout: Option<SignedDuration>,
    /// Who starts the next sprint: `by-hand`, or `at-once` for Gaffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextSprint>,
    /// How what the members of a parallel sprint make is merged: `consolidated` or `individual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<Integration>,
}

impl SprintSettings {
    /// The settings after these changes.
    pub fn over(self, before: &SprintRules) -> SprintRules {
        SprintRules {
            parallel: self.parallel.unwrap_or_else(|| before.parallel.clone()),
            at_once: self.at_once.unwrap_or(before.at_once),
            member_timeout: self.member_timeout.unwrap_or(before.member_timeout),
            next: self.next.unwrap_or(before.next),
            integration: self.integration.unwrap_or(before.integration),
        }
    }
}

/// Settings of a source for its pipeline; what is not given stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineSettings {
    /// Who decides that a pull request of the exchange is merged: `human` or `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// Who decides that a requirement is implemented: `human` or `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implement: Option<Implement>,
    /// The branch that has the exchange; `jules` at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<BranchName>,
}

impl PipelineSettings {
    /// The settings after these changes; those of a pipeline that was off begin as they are by default.
    pub fn over(self, before: Option<&PipelineRules>) -> PipelineRules {
        let before = before.cloned().unwrap_or_default();
        PipelineRules {
            exchange: self.exchange.unwrap_or(before.exchange),
            implement: self.implement.unwrap_or(before.implement),
            worker: self.worker.unwrap_or(before.worker),
        }
    }
}

/// Settings of a source for its deliveries; what is not given stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliverySettings {
    /// Issues with this label become deliveries; `null` for none.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub label: Option<Option<IntakeLabel>>,
    /// The last phase before a delivery closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// The phases after which a person is awaited: `plan`, `implement`, `review`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// Who may act at checkpoints: `people` or `anyone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints_by: Option<CheckpointsBy>,
    /// Who plans: `jules`, `agent` or `human`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_by: Option<PlanBy>,
    /// Who reviews: `agent`, `human`, `jules` or `nobody`; `null` for the agent where there is one, else a person.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub review_by: Option<Option<ReviewBy>>,
    /// How often a change may be sent back by its review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = domain::delivery::ROUNDS_MAX))]
    pub review_rounds: Option<u32>,
    /// How many sessions may work on one delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = domain::delivery::ROUNDS_MAX))]
    pub attempts: Option<u32>,
    /// `none`, `workflow:FILE@REF` or `deployment:ENVIRONMENT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deploy: Option<Deploy>,
    /// `none` or `soak:DURATION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe: Option<Observe>,
    /// Whether the issue is told how far its delivery is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<bool>,
}

impl DeliverySettings {
    /// The settings after these changes.
    pub fn over(self, before: &Rules) -> Rules {
        let Self {
            label,
            endpoint,
            checkpoints,
            checkpoints_by,
            plan_by,
            review_by,
            review_rounds,
            attempts,
            deploy,
            observe,
            comment,
        } = self;
        Rules {
            label: label.unwrap_or_else(|| before.label.clone()),
            endpoint: endpoint.unwrap_or(before.endpoint),
            checkpoints: checkpoints.unwrap_or_else(|| before.checkpoints.clone()),
            checkpoints_by: checkpoints_by.unwrap_or(before.checkpoints_by),
            plan_by: plan_by.unwrap_or(before.plan_by),
            review_by: review_by.unwrap_or(before.review_by),
            review_rounds: review_rounds.unwrap_or(before.review_rounds),
            attempts: attempts.unwrap_or(before.attempts),
            deploy: deploy.unwrap_or_else(|| before.deploy.clone()),
            observe: observe.unwrap_or(before.observe),
            comment: comment.unwrap_or(before.comment),
        }
    }
}

/// A field that was given, also as `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    given: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(given).map(Some)
}

/// A time with its units that was given.
fn given_time<'de, D: Deserializer<'de>>(given: D) -> Result<Option<SignedDuration>, D::Error> {
    duration::deserialize(given).map(Some)
}

/// Settings by their names. A list would else be read as the fields in their order.
struct ByName<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ByName<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("settings by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Some)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, given: D) -> Result<Self::Value, D::Error> {
        given.deserialize_map(self)
    }
}

fn by_name<'de, D, T>(given: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let found = given.deserialize_map(ByName(PhantomData))?;
    // Only `null` reads as nothing, and a map is asked for.
    Ok(found.unwrap_or_default())
}

fn by_name_or_null<'de, D: Deserializer<'de>>(
    given: D,
) -> Result<Option<Option<PipelineSettings>>, D::Error> {
    given.deserialize_option(ByName(PhantomData)).map(Some)
}

impl Client {
    /// A source with its settings.
    pub async fn source(&self, repo: &RepoName) -> Result<SourceView, Error> {
        let path = ["api", "sources", repo.owner(), repo.name()];
        self.done(Call::new(Method::GET, &path)).await
    }

    /// Has the issues of a source read now. What came of it comes later where the reading is not done.
    pub async fn sync_source(&self, repo: &RepoName) -> Result<Answer<IntakeResult>, Error> {
        let path = ["api", "sources", repo.owner(), repo.name(), "sync"];
        self.answer(Call::new(Method::POST, &path)).await
    }
}
