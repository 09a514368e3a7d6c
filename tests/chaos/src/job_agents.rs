//! The agents of the jobs: each wake is answered until Gaffer takes the answer, however often Gaffer dies meanwhile.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use client::Client;
use client::wire::{ApproveRequest, RetryRequest};
use domain::ids::{AgentName, EventId};
use engine::ports::Clock;
use jiff::Timestamp;
use sandbox::agent::Received;
use serde::Deserialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::time::SharedTime;

/// How often an answer is tried.
const MAX_ATTEMPTS: usize = 400;

/// How long to wait between two attempts, in real time.
const AGAIN_AFTER: Duration = Duration::from_millis(15);

/// The agent that answers 204, which is an acknowledgement.
pub(crate) const PROMPT: &str = "prompt";

/// The agent that answers 202 and acknowledges once it is done.
pub(crate) const SLOW: &str = "slow";

/// What a wake says that its agent needs.
#[derive(Deserialize)]
pub(crate) struct Wake {
    event: String,
    pub(crate) kind: String,
    pub(crate) event_id: String,
    pub(crate) job_id: Option<String>,
}

/// Both agents.
pub(crate) struct JobAgents {
    pub(crate) client_slot: watch::Receiver<Option<Client>>,
    pub(crate) time: Arc<SharedTime>,
    /// When Gaffer took the acknowledgement of which event.
    pub(crate) acknowledged: Mutex<BTreeMap<String, Timestamp>>,
}

/// What came of one try.
enum Try {
    Taken,
    Refused,
    Again,
}

/// Answers wakes until the sandbox is gone.
pub(crate) async fn answer(agents: Arc<JobAgents>, mut wakes: broadcast::Receiver<Received>) {
    loop {
        match wakes.recv().await {
            Ok(received) => drop(tokio::spawn(agents.clone().decide(received))),
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

impl JobAgents {
    pub(crate) fn acknowledged(&self) -> MutexGuard<'_, BTreeMap<String, Timestamp>> {
        self.acknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn decide(self: Arc<Self>, received: Received) {
        let Ok(wake) = serde_json::from_str::<Wake>(&received.body) else {
            return;
        };
        self.until_taken(|client| order(client, &wake)).await;
        if received.agent == SLOW {
            self.until_taken(|client| acknowledge(client, &wake)).await;
            let now = self.time.now();
            self.acknowledged().entry(wake.event_id).or_insert(now);
        }
    }

    async fn until_taken<F: Future<Output = Try>>(&self, order: impl Fn(Client) -> F) {
        let mut client_slot = self.client_slot.clone();
        let mut again = tokio::time::interval(AGAIN_AFTER);
        for _ in 0..MAX_ATTEMPTS {
            again.tick().await;
            let Ok(client) = client_slot
                .wait_for(Option::is_some)
                .await
                .map(|it| it.clone())
            else {
                return;
            };
            match order_of(client, &order).await {
                Try::Taken | Try::Refused => return,
                Try::Again => {}
            }
        }
        tracing::warn!("an agent gave up");
    }
}

async fn order_of<F: Future<Output = Try>>(
    client: Option<Client>,
    order: &impl Fn(Client) -> F,
) -> Try {
    match client {
        Some(client) => order(client).await,
        None => Try::Again,
    }
}

/// One decision. The words name the event, so that words said twice are seen; its id makes it safe to order twice.
async fn order(client: Client, wake: &Wake) -> Try {
    let Some(job) = &wake.job_id else {
        return Try::Taken;
    };
    let id = &wake.event_id;
    let say = async |words: &str| {
        let words = format!("{words} ({id})");
        client.say(job, &words, Some(id)).await.map(drop)
    };
    taken(match (wake.event.as_str(), wake.kind.as_str()) {
        ("question", "plan_approval" | "unreviewed_plan") => client
            .approve(job, &ApproveRequest::default())
            .await
            .map(drop),
        ("question", _) => say("Use the one we have already.").await,
        ("stuck", _) => say("Are you still there? Please go on.").await,
        ("error", "create_refused") => client.retry(job, &RetryRequest::default()).await.map(drop),
        _ => Ok(()),
    })
}

async fn acknowledge(client: Client, wake: &Wake) -> Try {
    let (Ok(agent), Ok(event)) = (SLOW.parse::<AgentName>(), wake.event_id.parse::<EventId>())
    else {
        return Try::Refused;
    };
    taken(client.acknowledge(&agent, &event).await.map(drop))
}

/// What cannot be done now will not be done by saying it again; everything else is tried again.
fn taken(outcome: Result<(), client::Error>) -> Try {
    match outcome {
        Ok(()) => Try::Taken,
        Err(client::Error::Problem(problem)) if problem.status == 409 && problem.code != "busy" => {
            Try::Refused
        }
        Err(_) => Try::Again,
    }
}
