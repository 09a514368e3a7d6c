//! What stories order and ask: jobs, events, wakes, and what the sandbox saw.

use domain::event::Event;
use domain::ids::{AgentName, CommitSha, EventId, JobId};
use domain::policy::Terms;
use domain::pull::{MergeApproval, MergeStyle};
use domain::wake::Wake;
use engine::jobs::{JobRef, Order};
use engine::ports::Key;
use engine::{backend, keys};
use sandbox::github::PullView;
use sandbox::jules::SessionView;
use sandbox::{Logged, Service};

use super::mail::{must_succeed, plain_client};
use super::{AGENT, REPO, World};

impl World {
    /// Hands over a piece of work in [`REPO`].
    pub async fn submit(&self, prompt: &str) -> JobId {
        self.submit_to(REPO, prompt).await
    }

    /// Hands over a piece of work.
    pub async fn submit_to(&self, repo: &str, prompt: &str) -> JobId {
        let order = order(repo, prompt, Terms::default());
        self.backend.create_job(order).await.expect("a job").id
    }

    /// Hands over so many pieces of work in [`REPO`].
    pub async fn submit_many(&self, count: usize) -> Vec<JobId> {
        let mut jobs = Vec::new();
        for n in 0..count {
            jobs.push(self.submit(&format!("Job {n}")).await);
        }
        jobs
    }

    /// Hands over a piece of work in [`REPO`] under terms.
    pub async fn submit_under(&self, prompt: &str, terms: Terms) -> JobId {
        self.try_submit(prompt, terms).await.expect("a job")
    }

    /// Tries to create a job in [`REPO`] under terms.
    pub async fn try_submit(&self, prompt: &str, terms: Terms) -> Result<JobId, backend::Error> {
        let job = self.backend.create_job(order(REPO, prompt, terms)).await?;
        Ok(job.id)
    }

    /// A job as an order names it.
    pub fn named(&self, job: &JobId) -> JobRef {
        JobRef {
            job: job.clone(),
            session: None,
            by: None,
        }
    }

    /// Sends a message to a job's session.
    pub async fn say(&self, job: &JobId, text: &str, cause: &str) -> Result<(), backend::Error> {
        self.backend
            .say(&self.named(job), text, cause)
            .await
            .map(drop)
    }

    /// Sends a message that is taken.
    pub async fn answer(&self, job: &JobId, text: &str, cause: &str) {
        self.say(job, text, cause).await.expect("an answer");
    }

    /// A person calls a job off.
    pub async fn cancel(&self, job: &JobId) {
        let cancelled = self.backend.cancel_job(&self.named(job), "ann").await;
        cancelled.expect("a job that is called off");
    }

    /// A person has a job tried again.
    pub async fn retry(&self, job: &JobId) {
        let retried = self.backend.retry_job(&self.named(job), None).await;
        retried.expect("another attempt");
    }

    /// Approves the plan that waits.
    pub async fn approve_plan(&self, job: &JobId) {
        let approved = self.backend.approve_plan(&self.named(job), None).await;
        approved.expect("an approval");
    }

    /// Says that a job's pull request may be merged at its present head.
    pub async fn approve_merge(&self, job: &JobId) {
        self.backend
            .approve_merge(&self.named(job), None, &usual())
            .await
            .expect("an approval");
    }

    /// Approves it, with a merge style.
    pub async fn approve_merge_as(
        &self,
        job: &JobId,
        style: &MergeStyle,
    ) -> Result<(), backend::Error> {
        let word = MergeApproval { style, ..usual() };
        let approved = self
            .backend
            .approve_merge(&self.named(job), None, &word)
            .await;
        approved.map(drop)
    }

    /// A job's state in one word.
    pub async fn state(&self, job: &JobId) -> &'static str {
        engine::job_state::state_of(&self.backend.must_job(job).await.expect("a job").value)
    }

    /// Whether all of these jobs are merged.
    pub async fn all_merged(&self, jobs: &[JobId]) -> bool {
        for job in jobs {
            if self.state(job).await != "merged" {
                return false;
            }
        }
        true
    }

    /// The version of a job's record: it grows with every write.
    pub async fn version(&self, job: &JobId) -> u64 {
        self.backend.must_job(job).await.expect("a job").version
    }

    /// A job's events as `name/kind`, in order.
    pub async fn events(&self, job: &JobId) -> Vec<String> {
        names(&self.backend.store.events(job).await.expect("events"))
    }

    /// All events, of jobs and accounts, as `name/kind`, oldest first.
    pub async fn all_events(&self) -> Vec<String> {
        let events = self.backend.store.recent_events(1_000).await;
        let mut names = names(&events.expect("events"));
        names.reverse();
        names
    }

    /// Codes of the reasons why a job does not move.
    pub async fn why(&self, job: &JobId) -> Vec<String> {
        let why = self.backend.why(job).await.expect("a why");
        why.because.into_iter().map(|reason| reason.code).collect()
    }

    /// Whether a job gives this reason.
    pub async fn gives(&self, job: &JobId, code: &str) -> bool {
        self.why(job).await.iter().any(|given| given == code)
    }

    /// Panics with the story unless a job gives this reason.
    pub async fn must_give(&self, job: &JobId, code: &str) {
        let gives = self.gives(job, code).await;
        assert!(gives, "no {code}: {}", self.story().await);
    }

    /// Bodies of the wakes that the agent's receiver got, in order.
    pub fn wakes(&self) -> Vec<serde_json::Value> {
        let received = self.sandbox.agents().received(AGENT);
        received
            .iter()
            .map(|wake| serde_json::from_str(&wake.body).expect("a JSON body"))
            .collect()
    }

    /// Under which id each of them came.
    pub fn wake_ids(&self) -> Vec<String> {
        let received = self.sandbox.agents().received(AGENT);
        let ids = received.into_iter().map(|wake| wake.webhook_id);
        ids.map(Option::unwrap_or_default).collect()
    }

    /// How far the wakes of a job's events are, in order, also of those that no receiver got.
    pub async fn stored_wakes(&self, job: &JobId) -> Vec<Wake> {
        let store = &self.backend.store;
        let mut wakes = Vec::new();
        for event in store.events(job).await.expect("events") {
            let found = store.wake(&self.agent(), &event.id).await.expect("a store");
            wakes.push(found.expect("a wake").value);
        }
        wakes
    }

    /// The bodies of received wakes as `event/kind`.
    pub fn wake_names(&self) -> Vec<String> {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        self.wakes()
            .iter()
            .map(|wake| format!("{}/{}", text(&wake["event"]), text(&wake["kind"])))
            .collect()
    }

    /// The current session of a job, as it really is.
    pub async fn session(&self, job: &JobId) -> SessionView {
        let job = self.backend.must_job(job).await.expect("a job").value;
        let id = job.session().expect("a session");
        self.sandbox
            .jules()
            .session(id.as_str())
            .expect("a session")
    }

    /// How many activities the current session of a job has; none before there is a session.
    pub async fn session_activities(&self, job: &JobId) -> usize {
        let job = self.backend.must_job(job).await.expect("a job").value;
        let session = job
            .session()
            .and_then(|id| self.sandbox.jules().session(id.as_str()));
        session.map_or(0, |session| session.activities.len())
    }

    /// A pull request of [`REPO`], as it really is.
    pub fn pull(&self, number: u64) -> PullView {
        self.sandbox
            .github()
            .pull(REPO, number)
            .expect("a pull request")
    }

    /// Requests that reached a service with this method and this in their path.
    pub fn requests(&self, service: Service, method: &str, path: &str) -> Vec<Logged> {
        let all = self.sandbox.requests().into_iter();
        all.filter(|it| it.service == service && it.method == method && it.path.contains(path))
            .collect()
    }

    /// Sends a message on Jules's page, like a person who answers there.
    pub async fn say_upstream(&self, job: &JobId, text: &str) {
        let message = serde_json::json!({ "prompt": text });
        self.order_upstream(job, "sendMessage", &message).await;
    }

    /// Approves the plan that waits on Jules's page, like a person who reads it there.
    pub async fn approve_upstream(&self, job: &JobId) {
        let nothing = serde_json::json!({});
        self.order_upstream(job, "approvePlan", &nothing).await;
    }

    /// Calls a method of a job's session, as Jules's page does.
    async fn order_upstream(&self, job: &JobId, method: &str, body: &serde_json::Value) {
        let session = self.session(job).await.id;
        let url = format!("{}/sessions/{session}:{method}", self.sandbox.jules_base());
        let key = self.secrets.get("jules/default").expect("a key");
        let request = plain_client().post(url).header("x-goog-api-key", key);
        let request = request.header("content-type", "application/json");
        must_succeed(request.body(body.to_string())).await;
    }

    /// Deletes a session upstream, like a person in the web product.
    pub async fn delete_upstream(&self, session: &str) {
        let url = format!("{}/sessions/{session}", self.sandbox.jules_base());
        let key = self.secrets.get("jules/default").expect("a key");
        must_succeed(plain_client().delete(url).header("x-goog-api-key", key)).await;
    }

    /// Distinct keys written since the book had this many entries.
    pub fn written_since(&self, entries: usize) -> Vec<Key> {
        let mut keys = self.ledger.written().split_off(entries);
        keys.sort();
        keys.dedup();
        keys
    }

    /// Whether what a merge was judged by is kept, for the head that was merged.
    pub async fn evidence(&self, number: u64, sha: &str) -> Option<serde_json::Value> {
        let pull = format!("{REPO}#{number}").parse().expect("a pull request");
        let sha: CommitSha = sha.parse().expect("a SHA");
        let record = self
            .backend
            .store
            .records()
            .get(&keys::evidence(&pull, &sha))
            .await
            .expect("a store")?;
        Some(serde_json::from_str(&record.body).expect("JSON"))
    }

    /// What is going on, for the message of a failed assertion.
    pub async fn story(&self) -> String {
        use std::fmt::Write as _;
        let mut story = format!("at {}\n", self.clock.now());
        for found in self.backend.store.jobs(20).await.expect("jobs") {
            let id = found.value.id.clone();
            let why = self.backend.why(&id).await.expect("a why");
            let _ = writeln!(
                story,
                "{id} {} {:?} next look {:?}",
                why.state,
                self.events(&id).await,
                why.next_look
            );
            for reason in why.because {
                let _ = writeln!(story, "  {}: {}", reason.code, reason.sentence);
            }
        }
        let _ = writeln!(story, "{:#?}", self.sandbox.counters());
        story
    }

    /// The agent by name.
    pub fn agent(&self) -> AgentName {
        AGENT.parse().expect("a name")
    }

    /// The agent says that it is done with the event of a wake.
    pub async fn acknowledge(&self, wake: &serde_json::Value) {
        let event: EventId = wake["event_id"]
            .as_str()
            .and_then(|id| id.parse().ok())
            .expect("an event id");
        self.backend
            .acknowledge(&self.agent(), &event)
            .await
            .expect("an acknowledgement");
    }
}

fn names(events: &[Event]) -> Vec<String> {
    let name = |event: &Event| format!("{}/{}", event.what.name(), event.what.kind());
    events.iter().map(name).collect()
}

fn order(repo: &str, prompt: &str, terms: Terms) -> Order {
    Order {
        repo: repo.parse().expect("a repository"),
        branch: None,
        prompt: prompt.to_owned(),
        title: None,
        agent: None,
        resume: None,
        priority: None,
        terms,
    }
}

/// A person's word that a pull request may be merged as its source merges.
pub fn usual() -> MergeApproval<'static> {
    const USUAL: &MergeStyle = &MergeStyle {
        method: None,
        title: None,
        delete_branch: None,
    };
    MergeApproval {
        by: "a person",
        style: USUAL,
    }
}
