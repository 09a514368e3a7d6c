//! The client, with a method for each route about jobs, events and wakes. Those of other subjects stand beside their types in `wire`.

mod artifacts;
mod transport;

#[cfg(test)]
mod tests;

use domain::ids::{AgentName, EffectId, EventId, JobName, PullRef, RepoName};
use domain::status::Status;
use reqwest::Method;

use crate::error::Error;
use crate::wire::{
    Acknowledge, Acknowledged, AdoptRequest, ApproveRequest, CancelRequest, CreateJob,
    DashboardLink, EffectView, EventPage, Events, Extend, Extended, GiveBack, GivenBack, Health,
    JobView, Jobs, MergeRequest, Merged, Message, Messages, Pending, Pulls, RegisterRequest,
    Registered, RetryRequest, TakeRequest, Taken, Why,
};

pub(crate) use transport::Call;
pub use transport::{CALL_TIMEOUT, Client, Request, Transport, TransportResponse};

use transport::job_path;

/// The outcome of a call that may take longer than the API waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// 200: it is done.
    Done(T),
    /// 202: it is noted and will be done.
    Later(Box<Pending>),
}

/// Which events are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventQuery {
    /// The caller's cursor; without it the newest are returned.
    pub after: Option<String>,
    /// Only events of this job.
    pub job: Option<String>,
    /// Only events that still wait for an answer.
    pub open: bool,
    /// How many at most.
    pub limit: u32,
    /// How long an empty answer may be held open, in seconds.
    pub wait_seconds: u32,
}

/// Which jobs are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobQuery {
    /// Only those of this repository.
    pub repo: Option<RepoName>,
    /// Only those in one of these states; in any when empty.
    pub states: Vec<String>,
    /// How many at most; [`JOBS_LIMIT`](crate::wire::JOBS_LIMIT) without it.
    pub limit: Option<u32>,
    /// Where an earlier list ended.
    pub cursor: Option<String>,
}

/// A job is called by what [`JobName`] says: its id or the beginning of it, a session of it, its pull request, or `latest`.
impl Client {
    /// Creates a job. Repeated requests with the same `key` and the same job are carried out once.
    pub async fn create_job(&self, job: &CreateJob, key: Option<&str>) -> Result<JobView, Error> {
        let call = Call::new(Method::POST, &["jobs"]).body(job).key(key);
        self.done(call).await
    }

    /// Adopts a session that was started elsewhere as a job. A session that is already ours returns its job.
    pub async fn adopt(&self, adopt: &AdoptRequest) -> Result<Answer<JobView>, Error> {
        self.answer(Call::new(Method::POST, &["jobs", "adopt"]).body(adopt))
            .await
    }

    /// Lists jobs, the newest first, of one repository or of all; at most `limit`, by default
    /// [`JOBS_LIMIT`](crate::wire::JOBS_LIMIT).
    pub async fn jobs(&self, repo: Option<&RepoName>, limit: Option<u32>) -> Result<Jobs, Error> {
        let repo = repo.cloned();
        let asked = JobQuery {
            repo,
            limit,
            ..JobQuery::default()
        };
        self.jobs_of(&asked).await
    }

    /// The newest jobs first that are asked for.
    pub async fn jobs_of(&self, asked: &JobQuery) -> Result<Jobs, Error> {
        let mut call = Call::new(Method::GET, &["jobs"]);
        if let Some(cursor) = &asked.cursor {
            call = call.with("cursor", cursor.clone());
        }
        if let Some(repo) = &asked.repo {
            call = call.with("repo", repo.to_string());
        }
        if !asked.states.is_empty() {
            call = call.with("state", asked.states.join(","));
        }
        if let Some(limit) = asked.limit {
            call = call.with("limit", limit.to_string());
        }
        self.done(call).await
    }

    /// Open pull requests of jobs, of one repository or of all; one that was closed stays for ten minutes.
    pub async fn pulls(&self, repo: Option<&RepoName>) -> Result<Pulls, Error> {
        let mut call = Call::new(Method::GET, &["pulls"]);
        if let Some(repo) = repo {
            call = call.with("repo", repo.to_string());
        }
        self.done(call).await
    }

    /// One job.
    pub async fn job(&self, id: &str) -> Result<JobView, Error> {
        self.done(Call::new(Method::GET, &job_path(id, &[])?)).await
    }

    /// One job as Jules shows it now.
    pub async fn fresh_job(&self, id: &str) -> Result<Answer<JobView>, Error> {
        let call = Call::new(Method::GET, &job_path(id, &[])?);
        self.answer(call.with("fresh", "1".to_owned())).await
    }

    /// Lists the messages between a job's session and its people after a cursor.
    pub async fn messages(
        &self,
        id: &str,
        cursor: Option<&str>,
    ) -> Result<Answer<Messages>, Error> {
        let mut call = Call::new(Method::GET, &job_path(id, &["messages"])?);
        if let Some(cursor) = cursor {
            call = call.with("cursor", cursor.to_owned());
        }
        self.answer(call).await
    }

    /// Watches a job or a session, and stores notes about it.
    pub async fn register(
        &self,
        id: &str,
        wanted: &RegisterRequest,
    ) -> Result<Answer<Registered>, Error> {
        let path = job_path(id, &["register"])?;
        self.answer(Call::new(Method::POST, &path).body(wanted))
            .await
    }

    /// Why a job does not move.
    pub async fn why(&self, id: &str) -> Result<Why, Error> {
        self.done(Call::new(Method::GET, &job_path(id, &["why"])?))
            .await
    }

    /// Explains why a pull request is not merged, or not even read.
    pub async fn pull_why(&self, pull: &PullRef) -> Result<Why, Error> {
        let number = pull.number.to_string();
        let path = ["pulls", pull.repo.owner(), pull.repo.name(), &number, "why"];
        self.done(Call::new(Method::GET, &path)).await
    }

    /// Lists a job's events.
    pub async fn events(&self, id: &str) -> Result<Events, Error> {
        self.done(Call::new(Method::GET, &job_path(id, &["events"])?))
            .await
    }

    /// Lists events of any kind after a cursor.
    pub async fn events_after(&self, asked: &EventQuery) -> Result<EventPage, Error> {
        let mut call = Call::new(Method::GET, &["events"])
            .with("limit", asked.limit.to_string())
            .with("wait_seconds", asked.wait_seconds.to_string());
        if asked.open {
            call = call.with("open", "1".to_owned());
        }
        if let Some(cursor) = &asked.after {
            call = call.with("after", cursor.clone());
        }
        if let Some(job) = &asked.job {
            call = call.with("job", job.parse::<JobName>()?.to_string());
        }
        self.done(call).await
    }

    /// How far an effect of a job is.
    pub async fn effect(&self, id: &str, effect: &EffectId) -> Result<EffectView, Error> {
        let path = job_path(id, &["effects", effect.as_str()])?;
        self.done(Call::new(Method::GET, &path)).await
    }

    /// Sends a message to a job's session. Repeated requests with the same `key` send it once.
    pub async fn say(
        &self,
        id: &str,
        words: &str,
        key: Option<&str>,
    ) -> Result<Answer<EffectView>, Error> {
        let message = Message {
            message: words.to_owned(),
        };
        let path = job_path(id, &["messages"])?;
        self.answer(Call::new(Method::POST, &path).body(&message).key(key))
            .await
    }

    /// Approves the plan of a job.
    pub async fn approve(
        &self,
        id: &str,
        approve: &ApproveRequest,
    ) -> Result<Answer<EffectView>, Error> {
        let path = job_path(id, &["approve"])?;
        self.answer(Call::new(Method::POST, &path).body(approve))
            .await
    }

    /// Allows the merge of a job's pull request, and waits a little for it.
    pub async fn merge(&self, id: &str, merge: &MergeRequest) -> Result<Answer<Merged>, Error> {
        let path = job_path(id, &["merge"])?;
        self.answer(Call::new(Method::POST, &path).body(merge))
            .await
    }

    /// Cancels a job.
    pub async fn cancel(&self, id: &str, cancel: &CancelRequest) -> Result<JobView, Error> {
        let path = job_path(id, &["cancel"])?;
        self.done(Call::new(Method::POST, &path).body(cancel)).await
    }

    /// Retries a job that ended, in another session.
    pub async fn retry(&self, id: &str, retry: &RetryRequest) -> Result<JobView, Error> {
        let path = job_path(id, &["retry"])?;
        self.done(Call::new(Method::POST, &path).body(retry)).await
    }

    /// An agent says that it is done with an event.
    pub async fn acknowledge(
        &self,
        agent: &AgentName,
        event: &EventId,
    ) -> Result<Acknowledged, Error> {
        let body = Acknowledge {
            agent: agent.clone(),
        };
        let path = ["events", event.as_str(), "ack"];
        self.done(Call::new(Method::POST, &path).body(&body)).await
    }

    /// Takes wakes out of an agent's inbox, and waits for the first as long as is asked for.
    pub async fn take(&self, agent: &AgentName, take: &TakeRequest) -> Result<Taken, Error> {
        let path = ["agents", agent.as_str(), "take"];
        self.done(Call::new(Method::POST, &path).body(take)).await
    }

    /// Extends the lease of a wake that was taken.
    pub async fn extend(&self, event: &EventId, extend: &Extend) -> Result<Extended, Error> {
        let path = ["events", event.as_str(), "extend"];
        self.done(Call::new(Method::POST, &path).body(extend)).await
    }

    /// Returns a wake that was taken and not handled.
    pub async fn give_back(&self, event: &EventId, back: &GiveBack) -> Result<GivenBack, Error> {
        let path = ["events", event.as_str(), "return"];
        self.done(Call::new(Method::POST, &path).body(back)).await
    }

    /// What is going on.
    pub async fn status(&self) -> Result<Status, Error> {
        self.done(Call::new(Method::GET, &["status"])).await
    }

    /// The path of a link that signs in to the dashboard as the caller, for a minute.
    pub async fn dashboard_link(&self) -> Result<DashboardLink, Error> {
        self.done(Call::new(Method::GET, &["api", "dashboard", "link"]))
            .await
    }

    /// Whether the API answers; needs no valid token.
    pub async fn health(&self) -> Result<Health, Error> {
        self.done(Call::new(Method::GET, &["healthz"])).await
    }
}
