//! A small world: a store, a queue, a clock that is set, one source, one agent, one account, and the API to it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use api::{ApiState, WebhookCounters};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use domain::effect::{Effect, EffectState};
use domain::failure::Failure;
use domain::ids::{JobId, PullRef, RepoName, SessionId};
use domain::job::{self, Job, JobPhase, Watch};
use domain::policy::{Source, Timing};
use domain::session::{SessionState, SessionView};
use domain::token::{Rights, Scope};
use engine::backend::{Backend, IndexEntry};
use engine::jobs::{Order, job_list};
use engine::keys;
use engine::ports::{Clock, Expect, Ids, Key, Queue, Records};
use engine::settings::{Agent, TrackedPull};
use engine::store::Aggregate;
use engine::work::Work;
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use local::{Database, LocalQueue, Store};
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Value, json};
use tower::ServiceExt;
use ulid::Ulid;

pub(crate) const TOKEN: &str = "gaf_0123456789abcdefghijklmnop";
pub(crate) const SESSION: &str = "15400000000000000001";
pub(crate) const SHA: &str = "1111111111111111111111111111111111111111";

/// A clock that moves only when it is set.
pub(crate) struct SetClock(Mutex<Timestamp>);

impl SetClock {
    pub(crate) fn at(text: &str) -> Arc<Self> {
        Arc::new(Self(Mutex::new(text.parse().unwrap())))
    }

    pub(crate) fn advance(&self, by: SignedDuration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

#[derive(Default)]
struct Counted(AtomicU64);

impl Ids for Counted {
    fn ulid(&self, now: Timestamp) -> Ulid {
        let millis = u64::try_from(now.as_millisecond()).unwrap();
        Ulid::from_parts(millis, u128::from(self.0.fetch_add(1, Ordering::Relaxed)))
    }
}

/// One answer of the API.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .unwrap_or_else(|| panic!("no {name}: {self:?}"))
            .to_str()
            .unwrap()
    }

    /// The body of an answer with this status.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self.json()
    }

    /// The code of a problem with this status.
    #[track_caller]
    pub(crate) fn code(&self, status: u16) -> String {
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{self:?}"
        );
        let problem = self.ok(status);
        assert_eq!(problem["status"], json!(status));
        assert_eq!(problem["type"], json!("about:blank"));
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        problem["code"].as_str().unwrap().to_owned()
    }
}

pub(crate) async fn send(router: &Router, request: Request<Body>) -> Answer {
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer {
        status: parts.status,
        headers: parts.headers,
        text: String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

pub(crate) struct World {
    pub(crate) clock: Arc<SetClock>,
    pub(crate) backend: Backend,
    pub(crate) queue: Arc<LocalQueue>,
    pub(crate) router: Router,
}

impl World {
    pub(crate) async fn new() -> Self {
        let database = Database::in_memory().unwrap();
        let clock = SetClock::at("2026-03-01T12:00:00Z");
        let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
        let records = Arc::new(Store::new(&database));
        Self::over(records, queue.clone(), (clock, queue)).await
    }

    /// A world whose store or queue is another than the local one.
    pub(crate) async fn over(
        records: Arc<dyn Records>,
        behind: Arc<dyn Queue>,
        (clock, queue): (Arc<SetClock>, Arc<LocalQueue>),
    ) -> Self {
        let backend = Backend::new(
            records,
            behind,
            clock.clone(),
            Arc::<Counted>::default(),
            "gtest".parse().unwrap(),
        );
        let tokens = vec![SecretString::from(TOKEN), SecretString::from("gaf_second")];
        let counters = Arc::<WebhookCounters>::default();
        let router = api::router(ApiState::new(backend.clone(), tokens).counting(counters));
        let world = Self {
            clock,
            backend,
            queue,
            router,
        };
        world.settings().await;
        world
    }

    async fn settings(&self) {
        for repo in ["acme/shop", "acme/other"] {
            let repo: RepoName = repo.parse().unwrap();
            let source = Source {
                branch: (repo.name() == "shop").then(|| "main".parse().unwrap()),
                ..Source::new(repo.clone(), "default".parse().unwrap())
            };
            self.save(&repo, &source).await;
        }
        let agent = Agent::new("zai".parse().unwrap());
        self.save(&agent.name, &agent).await;
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, (&[], "")).await
    }

    /// A POST of a body, sent when it is awaited.
    pub(crate) fn post<'a>(
        &'a self,
        path: &str,
        body: &Value,
    ) -> impl Future<Output = Answer> + use<'a> {
        let (path, body) = (path.to_owned(), body.to_string());
        async move { self.call(Method::POST, &path, (&[], &body)).await }
    }

    /// The same under a name.
    pub(crate) fn post_named<'a>(
        &'a self,
        path: &str,
        body: &Value,
        key: &'a str,
    ) -> impl Future<Output = Answer> + use<'a> {
        let (path, body) = (path.to_owned(), body.to_string());
        async move {
            let headers = [("Idempotency-Key", key)];
            self.call(Method::POST, &path, (&headers, &body)).await
        }
    }

    /// A call with the token and these additional headers.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        (headers, body): (&[(&str, &str)], &str),
    ) -> Answer {
        self.call_as(TOKEN, (method, path), (headers, body)).await
    }

    /// The same with another token.
    pub(crate) async fn call_as(
        &self,
        token: &str,
        (method, path): (Method, &str),
        (headers, body): (&[(&str, &str)], &str),
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {token}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        send(&self.router, request).await
    }

    /// The text of a new token.
    pub(crate) async fn token(&self, name: &str, rights: Rights) -> String {
        let name = name.parse().unwrap();
        let made = self.backend.create_token(&name, rights, None, [7; 32]);
        made.await.unwrap().1
    }

    /// The same of the agent `zai`.
    pub(crate) async fn agent_token(&self, scope: Scope) -> String {
        let zai = "zai".parse().unwrap();
        self.token("ci", Rights::new(scope, Some(&zai))).await
    }

    /// Changes the source `acme/shop`.
    pub(crate) async fn change_source(&self, edit: impl FnOnce(&mut Source)) {
        let repo = "acme/shop".parse().unwrap();
        let found = self.backend.store.source(&repo).await.unwrap().unwrap();
        let mut source = found.value.clone();
        edit(&mut source);
        let saved = self.backend.save_source(Some(&found), &source).await;
        saved.unwrap();
    }

    /// Makes `zai` the agent of `acme/shop`.
    pub(crate) async fn has_agent(&self) {
        let zai = "zai".parse().unwrap();
        self.change_source(|source| source.agent = Some(zai)).await;
    }

    /// A new job, as the engine makes it.
    pub(crate) async fn job(&self, repo: &str) -> JobId {
        let order = Order {
            repo: repo.parse().unwrap(),
            branch: Some("main".parse().unwrap()),
            prompt: "Tidy the shop.".to_owned(),
            title: None,
            agent: None,
            resume: None,
            priority: None,
            terms: domain::policy::Terms::default(),
        };
        self.backend.create_job(order).await.unwrap().id
    }

    /// A job whose session is watched, after `edit`.
    pub(crate) async fn watched(&self, edit: impl FnOnce(&mut Watch)) -> JobId {
        let id = self.job("acme/shop").await;
        let session: SessionId = SESSION.parse().unwrap();
        let now = self.clock.now();
        let view = SessionView {
            id: session.clone(),
            title: "Tidy".to_owned(),
            state: SessionState::InProgress,
            url: Some("https://jules.google.com/session/1".to_owned()),
            created_at: Some(now),
            updated_at: None,
            repo: None,
            branch: None,
            pulls: Vec::new(),
            archived: false,
        };
        self.change(&id, |job| {
            let started = job::start(job, now).unwrap().aggregate;
            *job = job::created(&started, &view, now, &Timing::default()).aggregate;
            if let JobPhase::Watching(watch) = &mut job.phase {
                edit(watch);
            }
        })
        .await;
        self.put(keys::session(&session), &id).await;
        id
    }

    /// Changes a job behind the API's back.
    pub(crate) async fn change(&self, id: &JobId, edit: impl FnOnce(&mut Job)) {
        let mut job = self.backend.store.job(id).await.unwrap().unwrap().value;
        edit(&mut job);
        let place = IndexEntry {
            list: job_list(&job),
            ..IndexEntry::default()
        };
        self.put_at(keys::job(id), &job, place).await;
    }

    /// Puts a record behind the API's back, in place of the one that there is.
    pub(crate) async fn put(&self, key: Key, value: &impl Serialize) {
        self.put_at(key, value, IndexEntry::default()).await;
    }

    /// The same with its place in a list.
    pub(crate) async fn put_at(&self, key: Key, value: &impl Serialize, place: IndexEntry) {
        let mut unit = self.backend.unit();
        unit.put_if(key, value, Expect::Any, place);
        self.backend.commit(unit).await.unwrap();
    }

    /// The same with an aggregate, at its own place.
    pub(crate) async fn save<T: Aggregate>(&self, id: &T::Id, value: &T) {
        let place = value.index_entry();
        self.put_at(T::key(id), value, place).await;
    }

    /// The pull request that is stored.
    pub(crate) async fn pull(&self) -> TrackedPull {
        let found = self.backend.store.pull(&shop_pull()).await;
        found.unwrap().unwrap().value
    }

    /// Plays the dispatcher for one effect of a job: waits for it, then settles it.
    pub(crate) async fn perform(&self, id: &JobId, failure: Option<&Failure>) -> Effect {
        let pk = keys::job_pk(id);
        let mut again = tokio::time::interval(std::time::Duration::from_millis(10));
        loop {
            again.tick().await;
            let effects = self.backend.store.effects(&pk).await.unwrap();
            let Some(found) = effects.into_iter().find(|found| !found.value.is_settled()) else {
                continue;
            };
            let now = self.clock.now();
            let state = match failure {
                None => EffectState::Done { at: now },
                Some(failure) => EffectState::Failed {
                    at: now,
                    attempt: 1,
                    failure: failure.clone(),
                },
            };
            let effect = Effect {
                state,
                ..found.value
            };
            self.put(keys::effect(&pk, &effect.id), &effect).await;
            return effect;
        }
    }

    /// Takes everything out of the queue.
    pub(crate) async fn messages(&self) -> Vec<Work> {
        let hidden = SignedDuration::from_hours(1);
        let mut messages = Vec::new();
        for delivery in self.queue.receive(100, hidden).await.unwrap() {
            messages.push(serde_json::from_str(&delivery.body).unwrap());
            self.queue.acknowledge(&delivery.receipt).await.unwrap();
        }
        messages
    }
}

pub(crate) fn shop_pull() -> PullRef {
    "acme/shop#7".parse().unwrap()
}
