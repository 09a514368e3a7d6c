//! JSON schemas of ids, words, times and other single values, for the documents that `client` makes of its types (feature `schema`).
//!
//! A definition has the words that the documents show, which tell what a caller may write and not how it is checked.
//! That of an id stands beside the id (`text_id!`, `ulid_id!`).

mod defined;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::account::Health;
use crate::delivery::{
    Checkpoints, CheckpointsBy, Deploy, Endpoint, IntakeLabel, Observe, Phase, PlanBy, RefRole,
    RefType, ReviewBy, Verdict,
};
use crate::ids::{DeliveryId, MessageId, PullRef, RepoName, RunId, SprintNumber};
use crate::mail::Recipient;
use crate::pipeline::{Exchange, Implement};
use crate::policy::MergeMethod;
use crate::priority::{PRIORITY_MAX, Priority};
use crate::redelivery::WebhookLog;
use crate::sprint::{Integration, NextSprint, Parallel};
use crate::wake::Resume;
use crate::web_page::WebPage;
use crate::webhook_activity::WebhookHealth;

pub(crate) use defined::{defined, definition};

/// Shows types as the plain ones that they are written as.
macro_rules! plain {
    ($($named:ident: $plain:ty;)*) => {$(
        impl JsonSchema for $named {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                <$plain>::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$plain>::json_schema(generator)
            }
        }
    )*};
}

defined! {
    /// `owner/name` on GitHub.
    RepoName: string { "pattern": "^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$", "examples": ["acme/shop"] };
    /// One pull request, `owner/name#number`.
    PullRef: string { "pattern": "^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}#[1-9][0-9]*$", "examples": ["acme/shop#7"] };
    /// A persona, also as `curator@team`, or `all@team` for every persona that has mail or is in the newest sprint.
    Recipient: string { "pattern": "^[a-z][a-z0-9_-]{0,31}(@team)?$", "examples": ["curator", "all@team"] };
    /// The number of a sprint of a repository.
    SprintNumber: integer { "minimum": 1, "maximum": u32::MAX, "examples": [50] };
    /// How much a job matters; 9 goes first.
    Priority: integer { "minimum": 0, "maximum": PRIORITY_MAX };
    /// A log of webhook deliveries: `app`, or a repository.
    WebhookLog as Log: string { "pattern": "^(app|[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})$" };
    /// What an agent wants to find in its wakes: at most 200 characters that can be seen, on one line.
    Resume: string { "minLength": 1, "maxLength": 200, "pattern": "\\S" };
    /// The address of a page: https, plain characters, at most 200 of them.
    WebPage as PageAddress: string { "pattern": "^https?://[^\\s\"'`<>\\\\^{|}]+$", "maxLength": 200, "examples": ["https://example.com/issues/7"] };
}

defined! {
    /// The last phase of a delivery before it closes.
    Endpoint as EndpointWord: string { "enum": [Phase::Plan, Phase::Implement, Phase::Review, Phase::Verify, Phase::Deploy, Phase::Observe] };
    /// A phase after which a person is awaited.
    CheckpointWord: string { "enum": [Phase::Plan, Phase::Implement, Phase::Review] };
    /// Who may act at checkpoints.
    CheckpointsBy as CheckpointsByWord: string { "enum": [CheckpointsBy::People, CheckpointsBy::Anyone] };
    /// Who plans.
    PlanBy as PlanByWord: string { "enum": [PlanBy::Jules, PlanBy::Agent, PlanBy::Human] };
    /// Who reviews.
    ReviewBy as ReviewByWord: string { "enum": [ReviewBy::Agent, ReviewBy::Human, ReviewBy::Jules, ReviewBy::Nobody] };
    /// What a review came to.
    Verdict: string { "enum": [Verdict::Pass, Verdict::NotPass] };
    /// What something is to a delivery; `request` is read as `trigger`, and `work` as `output`.
    RefRole: string { "enum": [RefRole::Trigger, RefRole::Output, RefRole::Parent] };
    /// What kind of thing a delivery refers to; `pull_request` is read as `pr`, and `issue` as `github_issue`.
    RefType: string { "enum": [RefType::Jira, RefType::Verbal, RefType::Pr, RefType::Commit, RefType::Repo, RefType::GithubIssue] };
    /// How a pull request is merged, in GitHub's words.
    MergeMethod: string { "enum": [MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase] };
    /// Who decides that a pull request of the exchange is merged.
    Exchange as ExchangeWord: string { "enum": [Exchange::Human, Exchange::Auto] };
    /// Who decides that a requirement is implemented.
    Implement as ImplementWord: string { "enum": [Implement::Human, Implement::Auto] };
    /// The sprints whose members work at once.
    Parallel as ParallelWord: string { "pattern": "^(always|every=[1-9][0-9]{0,8}|(only|except)=[1-9][0-9]{0,8}(,[1-9][0-9]{0,8})*)$", "maxLength": 1000, "examples": ["every=5"] };
    /// Who starts the next sprint.
    NextSprint as NextSprintWord: string { "enum": [NextSprint::ByHand, NextSprint::AtOnce] };
    /// How what the members of a sprint make is merged.
    Integration as IntegrationWord: string { "enum": [Integration::Consolidated, Integration::Individual] };
}

/// One of the checkpoints.
struct CheckpointWord;

plain! {
    Checkpoints: Vec<CheckpointWord>;
    DeliveryId: String;
    Deploy: String;
    IntakeLabel: String;
    MessageId: i64;
    Observe: String;
    Phase: String;
    RunId: String;
}

/// A moment, in UTC: named by `#[schemars(with = "..")]`, since the type of times has no schema.
pub struct Moment;

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A moment, in UTC.",
            "type": "string", "format": "date-time", "examples": ["2026-03-01T12:00:00Z"],
        })
    }
}

impl JsonSchema for Health {
    fn schema_name() -> Cow<'static, str> {
        "AccountHealth".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let since = generator.subschema_for::<Moment>();
        let streak =
            json_schema!({ "type": "integer", "minimum": 0, "description": "How many in a row." });
        json_schema!({
            "type": "object",
            "properties": {
                "health": { "type": "string", "enum": ["working", "throttled", "unreachable", "unauthorized"] },
                "streak": streak,
                "since": since,
            },
            "required": ["health"],
        })
    }
}

impl JsonSchema for WebhookHealth {
    fn schema_name() -> Cow<'static, str> {
        "FeedHealth".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let last = generator.subschema_for::<Moment>();
        json_schema!({
            "type": "object",
            "properties": {
                "feed": { "type": "string", "enum": ["polled", "webhooks", "silent"] },
                "last": last,
            },
            "required": ["feed"],
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::ids::{
        AccountName, AgentName, ArtefactId, Attachment, BranchName, CommitSha, JobId, MailTag,
        PersonaName, PipelineId, RoleName, SessionId, StreamName, Subject,
    };
    use crate::pipeline::MockTag;

    /// What a definition shows as valid is read.
    fn reads_its_examples<T: JsonSchema + DeserializeOwned>() {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>();
        let shown = ["examples", "enum"].into_iter();
        let shown: Vec<&Value> = shown
            .filter_map(|word| schema.get(word)?.as_array())
            .flatten()
            .collect();
        assert!(!shown.is_empty(), "{schema:?}");
        for value in shown {
            let read = serde_json::from_value::<T>(value.clone());
            assert!(read.is_ok(), "{value}");
        }
    }

    #[test]
    fn values_are_read_as_their_definitions_show_them() {
        reads_its_examples::<JobId>();
        reads_its_examples::<SessionId>();
        reads_its_examples::<AccountName>();
        reads_its_examples::<AgentName>();
        reads_its_examples::<CommitSha>();
        reads_its_examples::<BranchName>();
        reads_its_examples::<RepoName>();
        reads_its_examples::<PullRef>();
        reads_its_examples::<PipelineId>();
        reads_its_examples::<RoleName>();
        reads_its_examples::<StreamName>();
        reads_its_examples::<ArtefactId>();
        reads_its_examples::<MockTag>();
        reads_its_examples::<PersonaName>();
        reads_its_examples::<Recipient>();
        reads_its_examples::<Subject>();
        reads_its_examples::<Attachment>();
        reads_its_examples::<MailTag>();
        reads_its_examples::<SprintNumber>();
        reads_its_examples::<WebPage>();
    }

    #[test]
    fn words_are_read_as_their_definitions_show_them() {
        reads_its_examples::<Endpoint>();
        reads_its_examples::<CheckpointsBy>();
        reads_its_examples::<PlanBy>();
        reads_its_examples::<ReviewBy>();
        reads_its_examples::<Verdict>();
        reads_its_examples::<RefRole>();
        reads_its_examples::<RefType>();
        reads_its_examples::<MergeMethod>();
        reads_its_examples::<Exchange>();
        reads_its_examples::<Implement>();
        reads_its_examples::<Parallel>();
        reads_its_examples::<NextSprint>();
        reads_its_examples::<Integration>();
    }

    /// All words of a tag occur, and no field that the schema does not show.
    fn is_written_within<T: JsonSchema + Serialize>(tag: &str, all: &[T]) {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>();
        let schema = schema.to_value();
        let shown = &schema["properties"];
        let written = all.iter().map(|it| serde_json::to_value(it).unwrap());
        let written: Vec<Value> = written.collect();
        let words: Vec<&Value> = written.iter().map(|it| &it[tag]).collect();
        assert_eq!(json!(words), shown[tag]["enum"]);
        for it in &written {
            let mut keys = it.as_object().unwrap().keys();
            assert!(keys.all(|key| shown.get(key).is_some()), "{it}");
        }
    }

    #[test]
    fn health_is_written_in_the_words_of_its_schema() {
        let at: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let accounts = [
            Health::Working,
            Health::Throttled { streak: 1 },
            Health::Unreachable {
                streak: 1,
                since: at,
            },
            Health::Unauthorized { since: at },
        ];
        is_written_within("health", &accounts);
        let feeds = [
            WebhookHealth::Polled,
            WebhookHealth::Webhooks { last: at },
            WebhookHealth::Silent { last: at },
        ];
        is_written_within("feed", &feeds);
    }
}
