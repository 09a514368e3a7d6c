//! Queue messages: they name what to handle, which is read again before anything is decided.

use std::str::FromStr;

use domain::delivery::IssueRef;
use domain::ids::{
    AccountName, AgentName, ArtefactId, CommitSha, DeliveryId, EventId, JobId, PipelineId, PullRef,
    RepoId, RepoName, RunId, SprintNumber,
};
use domain::pull::DeliveryHint;
use domain::redelivery::WebhookLog;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::keys;
use crate::ports::Key;

/// Begins the partition of the intake of a source's issues.
pub(crate) const INTAKE: &str = "INTAKE#";

/// Begins the partition of the schedule of a source's pipeline.
pub(crate) const SCHEDULE: &str = "SCHEDULE#";

/// What to handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "look_at")]
pub enum Work {
    /// A job: its effects and its deadline.
    Job {
        /// Which.
        id: JobId,
    },
    /// A pull request: read it, decide, perform.
    Pull {
        /// Which.
        pull: PullRef,
        /// The job that says it is its own; a hint that is checked.
        job: Option<JobId>,
        /// When the wake-up came in: a pull request read whole well after that need not be read again for it.
        received_at: Option<Timestamp>,
    },
    /// A commit whose checks changed.
    Commit {
        /// Where.
        repo: RepoName,
        /// Which.
        sha: CommitSha,
        /// When the wake-up came in.
        received_at: Timestamp,
    },
    /// What a webhook names: which repository it is, its number says.
    Webhook(WebhookEvent),
    /// A wake that is to be delivered.
    Wake {
        /// The receiver.
        agent: AgentName,
        /// Which event.
        event: EventId,
    },
    /// Read what a job's session has produced, for a waiting caller.
    Artifacts {
        /// The job.
        id: JobId,
    },
    /// Read a page of a job's conversation, for a waiting caller.
    Messages {
        /// The job.
        id: JobId,
        /// The reader's cursor, as [`domain::conversation::ConversationCursor`] writes it.
        after: String,
    },
    /// Read a job's session now: a caller waits for it, or pushed it to us.
    Look {
        /// The job.
        id: JobId,
        /// When it was pushed; `None` when a caller waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pushed_at: Option<Timestamp>,
    },
    /// Adopt a session.
    Adopt {
        /// The id its job will have.
        id: JobId,
    },
    /// Poll a previously idle account at its working pace from now on.
    Watch {
        /// Which account.
        account: AccountName,
    },
    /// A delivery: what it sees of others, what it decides, and what it wants of them.
    Delivery {
        /// Which.
        id: DeliveryId,
    },
    /// A run of a pipeline: the next step, and how its jobs are.
    Pipeline {
        /// Which.
        id: PipelineId,
    },
    /// The schedule of a pipeline: the settings of its repository, and the run whose time has come.
    Schedule {
        /// The repository.
        repo: RepoName,
    },
    /// A requirement of a pipeline: how its delivery is, and the removal of its files.
    Requirement {
        /// The repository.
        repo: RepoName,
        /// Which.
        id: ArtefactId,
    },
    /// A sprint: its members, its weaves, and what has to be sent.
    Sprint {
        /// The repository.
        repo: RepoName,
        /// Which.
        number: SprintNumber,
    },
    /// Read the personas of a repository, and whether the branch of a sprint is free, for a caller who waits.
    Personas {
        /// The repository.
        repo: RepoName,
        /// The sprint that would start.
        number: SprintNumber,
    },
    /// Read what was said and done in a run of a delivery, for a waiting caller.
    Transcript {
        /// The delivery.
        id: DeliveryId,
        /// Which of its runs.
        run: RunId,
    },
    /// The issues of a source that may become deliveries: all that changed, or one.
    Intake {
        /// Which source.
        repo: RepoName,
        /// The issue that a webhook named; without one, all that changed since the last reading.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        /// The webhook that named it, if it said which repository it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        webhook: Option<IssueWebhook>,
    },
    /// Read an issue, for a caller who waits.
    Issue {
        /// Which.
        issue: IssueRef,
    },
    /// The jobs that wait for a slot of an account.
    Slots {
        /// Whose slots.
        account: AccountName,
    },
    /// GitHub's logs of webhook deliveries: which there are, or what one of them says.
    Redelivery {
        /// Which; without one, all are found.
        log: Option<WebhookLog>,
    },
}

/// A webhook about a pull request or a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookEvent {
    /// The repository's name at the time.
    pub repo: RepoName,
    /// The repository's number.
    pub repo_id: RepoId,
    /// The pull request, if it names one.
    pub number: Option<u64>,
    /// The commit, if it names one.
    pub sha: Option<CommitSha>,
    /// When it came in.
    pub received_at: Timestamp,
    /// Its news; a hint when to read.
    pub news: DeliveryHint,
}

/// A webhook about an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueWebhook {
    /// The repository's number, which says more than its name.
    pub repo_id: RepoId,
    /// When it came in.
    pub received_at: Timestamp,
}

impl Work {
    /// That a pull request is read, for no job in particular.
    pub fn of_pull(pull: PullRef) -> Self {
        Self::Pull {
            pull,
            job: None,
            received_at: None,
        }
    }

    /// Its subject. Of messages about the same subject, handled one after the other, the later ones find what the first has read.
    pub fn about(&self) -> String {
        match self {
            Self::Job { id }
            | Self::Artifacts { id }
            | Self::Messages { id, .. }
            | Self::Look { id, .. }
            | Self::Adopt { id } => format!("job {id}"),
            Self::Pull { pull, .. } => format!("repository {}", pull.repo.key()),
            Self::Commit { repo, .. } | Self::Webhook(WebhookEvent { repo, .. }) => {
                format!("repository {}", repo.key())
            }
            Self::Delivery { id } | Self::Transcript { id, .. } => format!("delivery {id}"),
            Self::Pipeline { id } => format!("pipeline {id}"),
            Self::Schedule { repo } => format!("schedule of {}", repo.key()),
            Self::Requirement { repo, id } => format!("requirement {id} of {}", repo.key()),
            Self::Sprint { repo, .. } => format!("sprint of {}", repo.key()),
            Self::Personas { repo, .. } => format!("personas of {}", repo.key()),
            Self::Intake { repo, .. } => format!("issues of {}", repo.key()),
            Self::Issue { issue } => format!("issues of {}", issue.repo.key()),
            Self::Wake { agent, .. } => format!("agent {agent}"),
            Self::Watch { account } | Self::Slots { account } => format!("account {account}"),
            Self::Redelivery { log: None } => "webhooks".to_owned(),
            Self::Redelivery { log: Some(log) } => format!("webhooks of {log}"),
        }
    }

    /// What a due row asks for; `None` for rows that the poller handles itself.
    pub fn of_due(key: &Key) -> Option<Self> {
        if let Some(id) = named(key, "JOB#") {
            let adoption = key.sk == keys::ADOPTION;
            return Some(if adoption {
                Self::Adopt { id }
            } else {
                Self::Job { id }
            });
        }
        if let Some(pull) = named(key, "PR#") {
            return Some(Self::of_pull(pull));
        }
        if let Some(agent) = named(key, "AGT#") {
            let event = key.sk.strip_prefix(keys::WAKE)?.parse().ok()?;
            return Some(Self::Wake { agent, event });
        }
        if let Some(id) = named(key, keys::DELIVERY) {
            return Some(Self::Delivery { id });
        }
        if let Some(id) = named(key, keys::PIPELINE) {
            return Some(Self::Pipeline { id });
        }
        if let Some((repo, id)) = keys::requirement_in(&key.pk) {
            return Some(Self::Requirement { repo, id });
        }
        if let Some((repo, number)) = keys::sprint_in(&key.pk) {
            return Some(Self::Sprint { repo, number });
        }
        if let Some(repo) = named(key, SCHEDULE) {
            return Some(Self::Schedule { repo });
        }
        if let Some(repo) = named(key, INTAKE) {
            return Some(Self::Intake {
                repo,
                number: None,
                webhook: None,
            });
        }
        if key.pk == keys::hook_logs().pk {
            return Some(Self::Redelivery { log: None });
        }
        if let Some(log) = named(key, keys::HOOK_LOG) {
            return Some(Self::Redelivery { log: Some(log) });
        }
        let account = named(key, "RATE#slots#")?;
        Some(Self::Slots { account })
    }

    /// Parses a message; `None` for a foreign one, or one of a later version.
    pub fn from_body(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }

    /// What it asks for, without the case in which a repository is written: messages with the same key ask for the same.
    pub(crate) fn key(&self) -> String {
        self.to_body().to_ascii_lowercase()
    }

    /// The message as sent.
    pub fn to_body(&self) -> String {
        // A derived serializer of plain fields cannot fail; an empty body would be recorded as malformed.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The id in a partition that begins like this.
fn named<T: FromStr>(key: &Key, begin: &str) -> Option<T> {
    key.pk.strip_prefix(begin)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_rows_name_their_aggregate() {
        let job: JobId = "01j00000000000000000000000".parse().unwrap();
        let pull: PullRef = "Acme/Shop#7".parse().unwrap();
        assert_eq!(Work::of_due(&keys::job(&job)), Some(Work::Job { id: job }));
        let read = Work::Pull {
            pull: pull.clone(),
            job: None,
            received_at: None,
        };
        let due = Work::of_due(&keys::pull(&pull)).unwrap();
        assert_eq!(due, read);
        // The key of a row has the name in lower case.
        assert_ne!(due.to_body(), read.to_body());
        assert_eq!(due.key(), read.key());
        let account: AccountName = "default".parse().unwrap();
        assert_eq!(
            Work::of_due(&keys::slots(&account)),
            Some(Work::Slots {
                account: account.clone()
            })
        );
        assert_eq!(Work::of_due(&keys::account(&account)), None);
        assert_eq!(
            Work::of_due(&keys::hook_logs()),
            Some(Work::Redelivery { log: None })
        );
        for log in [
            WebhookLog::App,
            WebhookLog::Repo("acme/shop".parse().unwrap()),
        ] {
            let due = Work::of_due(&keys::hook_log(&log));
            assert_eq!(due, Some(Work::Redelivery { log: Some(log) }));
        }
    }
}
