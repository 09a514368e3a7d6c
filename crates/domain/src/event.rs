//! The only things that may wake an agent.

mod audience;
mod cause;
mod cursor;
mod news;

pub use audience::Audience;
pub use cause::ErrorCause;
pub use cursor::{EventCursor, InvalidEventCursor, OVERLAP};
pub use news::News;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::delivery::Phase;
use crate::ids::{AccountName, CommitSha, DeliveryId, EventId, JobId, PullRef};
use crate::session::Plan;
use crate::web_page::WebPage;

/// One occurrence that an agent or a person must know about. Its id identifies the occurrence, so repeated sightings
/// record it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The occurrence.
    pub id: EventId,
    /// Its job; `None` when a whole account is affected.
    pub job: Option<JobId>,
    /// The account.
    pub account: AccountName,
    /// Which of the job's sessions, from 1; 0 when a whole account is affected.
    pub attempt: u32,
    /// Position among its job's events, from 1, in the order of recording; `None` for an account's events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When we saw it.
    pub observed_at: Timestamp,
    /// The session's state in Jules's spelling at that moment; empty without a session.
    pub status: String,
    /// When the session last did anything.
    pub last_activity: Option<Timestamp>,
    /// The occurrence.
    pub what: Occurrence,
    /// Who has to know.
    pub audience: Audience,
    /// Context that helps the receiver to act.
    #[serde(default, skip_serializing_if = "EventContext::is_nothing")]
    pub aid: EventContext,
}

/// Context that helps the receiver of an event to act. All of it is untrusted data from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventContext {
    /// The session's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<WebPage>,
    /// The pull request it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullRef>,
    /// The check that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<FailedCheck>,
    /// Address of its full text at the HTTP API, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// The delivery of its job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryId>,
}

impl Event {
    /// An occurrence that affects a whole account, and that an agent must know about.
    pub fn new(id: EventId, account: AccountName, now: Timestamp, what: Occurrence) -> Self {
        Self {
            id,
            job: None,
            account,
            attempt: 0,
            seq: None,
            observed_at: now,
            status: String::new(),
            last_activity: None,
            what,
            audience: Audience::Agent,
            aid: EventContext::default(),
        }
    }

    /// Whether a completion tells that a pull request waits for approval: its session, if it has one, did not report it now.
    pub(crate) fn asks_approval(&self) -> bool {
        matches!(self.what, Occurrence::Completed { .. }) && self.status.is_empty()
    }
}

impl EventContext {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    /// Its name, untrusted.
    pub name: String,
    /// The end of its log or output, untrusted.
    pub output: String,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<WebPage>,
}

/// The occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occurrence {
    /// Jules asked a question.
    Question {
        /// Its text; `None` when it did not come in time.
        text: Option<String>,
    },
    /// A plan waits for approval.
    PlanApproval {
        /// The plan; `None` when it did not come in time.
        plan: Option<Plan>,
    },
    /// The session works, or worked, on a plan without an approval.
    UnreviewedPlan {
        /// The plan.
        plan: Plan,
    },
    /// A head of its pull request contains unexpected changes.
    UnexpectedPush {
        /// The head.
        sha: CommitSha,
        /// Changed paths, at most 20.
        paths: Vec<String>,
    },
    /// The session finished.
    Completed {
        /// Pull requests it made.
        pulls: Vec<PullRef>,
    },
    /// An error.
    Error {
        /// What, for programs.
        cause: ErrorCause,
        /// Why, for people.
        reason: String,
    },
    /// No status change and no new activity for a whole window.
    Stuck {
        /// The last thing the session said or did.
        last_words: Option<String>,
    },
    /// A delivery waits for a decision.
    Delivery {
        /// What is asked for.
        ask: DeliveryAsk,
        /// What the delivery is about, untrusted.
        summary: String,
    },
    /// About no job and no delivery; stored as its own kind.
    #[serde(untagged)]
    News(News),
}

/// What a delivery asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryAsk {
    /// To be started.
    Start,
    /// A plan.
    Plan,
    /// An approval of its phase, or what is wrong with it.
    Checkpoint {
        /// The phase.
        phase: Phase,
        /// The plan, if that is the phase: as much as an event has room for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Plan>,
    },
    /// A verdict about a head.
    Review {
        /// The pull request.
        pull: PullRef,
        /// The head.
        head: CommitSha,
    },
    /// An approval of the merge of a head, which lacks nothing else.
    Merge {
        /// The pull request.
        pull: PullRef,
        /// The head.
        head: CommitSha,
    },
}

impl DeliveryAsk {
    /// The kind of the event, for programs.
    fn kind(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Plan => "plan",
            Self::Checkpoint { .. } => "checkpoint",
            Self::Review { .. } => "review",
            Self::Merge { .. } => "merge",
        }
    }

    /// For people.
    pub fn sentence(&self) -> String {
        match self {
            Self::Start => "A delivery waits to be started.".to_owned(),
            Self::Plan => "A delivery waits for its plan.".to_owned(),
            Self::Checkpoint { phase, .. } => {
                format!("A delivery waits at a checkpoint: its phase {phase} is done.")
            }
            Self::Review { pull, head } => {
                format!("Head {head} of {pull} waits for a review.")
            }
            Self::Merge { pull, head } => {
                format!("Head {head} of {pull} is green, and its merge waits for approval.")
            }
        }
    }
}

impl Occurrence {
    /// The seed's event name: `question`, `completed`, `error` or `stuck`; `test` for what is none.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Question { .. }
            | Self::PlanApproval { .. }
            | Self::UnreviewedPlan { .. }
            | Self::UnexpectedPush { .. }
            | Self::Delivery { .. } => "question",
            Self::Completed { .. } => "completed",
            Self::Error { .. } => "error",
            Self::Stuck { .. } => "stuck",
            Self::News(news) => news.names().0,
        }
    }

    /// The kind of the event, for programs.
    pub fn kind(&self) -> &str {
        match self {
            Self::Question { .. } => "question",
            Self::PlanApproval { .. } => "plan_approval",
            Self::UnreviewedPlan { .. } => "unreviewed_plan",
            Self::UnexpectedPush { .. } => "unexpected_push",
            Self::Completed { .. } => "completed",
            Self::Error { cause, .. } => cause.as_str(),
            Self::Stuck { .. } => "stuck",
            Self::Delivery { ask, .. } => ask.kind(),
            Self::News(news) => news.names().1,
        }
    }

    /// The words that it stores, untrusted; `None` where its kind says it all, and where none came in time.
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Question { text } => text.as_deref(),
            Self::Error { reason, .. } => Some(reason),
            Self::Stuck { last_words } => last_words.as_deref(),
            Self::Delivery { summary, .. } => Some(summary),
            Self::News(news) => news.words(),
            Self::PlanApproval { .. }
            | Self::UnreviewedPlan { .. }
            | Self::UnexpectedPush { .. }
            | Self::Completed { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/agents.md");

    #[test]
    fn news_is_stored_like_any_other_kind() {
        let sprint = r#"{"sprint":{"repo":"acme/shop","sprint":7,"words":"x"}}"#;
        for (text, kind) in [(r#""test""#, "test"), (sprint, "sprint")] {
            let what: Occurrence = serde_json::from_str(text).unwrap();
            assert_eq!(what.kind(), kind);
            assert_eq!(serde_json::to_string(&what).unwrap(), text);
        }
        let later = r#"{"stuck":{"last_words":null,"of_a_newer_version":1}}"#;
        let what: Occurrence = serde_json::from_str(later).unwrap();
        assert_eq!(what, Occurrence::Stuck { last_words: None });
        assert!(serde_json::from_str::<Occurrence>(r#"{"no_such_yet":{}}"#).is_err());
    }

    #[test]
    fn the_page_for_agents_names_every_kind() {
        let known = ErrorCause::KNOWN;
        let kinds = known.iter().map(|cause| cause.as_str());
        let others = [
            "question",
            "plan_approval",
            "unreviewed_plan",
            "unexpected_push",
            "completed",
            "stuck",
            "start",
            "plan",
            "checkpoint",
            "review",
            "merge",
        ];
        for kind in kinds.chain(others).chain(news::KINDS) {
            assert!(PAGE.contains(&format!("`{kind}`")), "{kind}");
        }
    }
}
