//! A story that stops in the middle of everything: jobs and effects in every state, the process killed twice, everything paused.

use std::time::Duration;

use domain::effect::RestoreGap;
use domain::ids::JobId;
use domain::job::Job;
use domain::policy::PlanApproval;
use engine::backend::{IndexEntry, OUTBOX_GRACE};
use engine::jobs::adoption::Adoption;
use engine::jobs::{IdempotencyKey, Order};
use engine::keys;
use engine::settings::{Installation, Upstreams};
use engine::work::Work;
use sandbox::story::Step;
use sandbox::{Fault, FaultKind, Service};
use serde_json::json;
use tests::world::{
    BEGIN, MINUTE, Moment, REPO, SECOND, Setup, World, asking, from_work, hour, on_green, scenario,
    stalling, story, work,
};

/// Under which name the first job was ordered.
pub(super) const NAME: &str = "0123456789abcdef";
/// A digest of that order.
pub(super) const ORDER: &str = "fedcba9876543210";

/// Which job does what.
pub(super) struct Jobs {
    pub(super) merged: JobId,
    pub(super) asking: JobId,
    pub(super) planned: JobId,
    pub(super) stalled: JobId,
    pub(super) creating: JobId,
    pub(super) merging: JobId,
    pub(super) queued: JobId,
}

impl Jobs {
    /// Finds them by their prompts.
    pub(super) fn among(jobs: &[Job]) -> Self {
        let of = |prompt: &str| {
            let job = jobs.iter().find(|job| job.prompt == prompt);
            job.expect("a job of the story").id.clone()
        };
        Self {
            merged: of("merge this"),
            asking: of("ask me"),
            planned: of("plan it"),
            stalled: of("stall"),
            creating: of("merge nothing"),
            merging: of("merge that"),
            queued: of("merge later"),
        }
    }

    pub(super) fn all(&self) -> [JobId; 7] {
        [
            &self.merged,
            &self.asking,
            &self.planned,
            &self.stalled,
            &self.creating,
            &self.merging,
            &self.queued,
        ]
        .map(Clone::clone)
    }
}

/// Where the story plays.
pub(super) fn setup() -> Setup {
    let plan = Step::Plan {
        after: SECOND,
        steps: vec!["Do it".to_owned()],
    };
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Human;
    source.timing.stuck_after = hour(9);
    Setup {
        scenario: scenario(vec![
            asking("ask me", "Which database?"),
            story("plan it", from_work(vec![plan])),
            stalling("stall"),
            story("merge", work()),
        ]),
        source,
        ..Setup::default()
    }
}

/// Merges one job and does nothing else.
pub(super) async fn one_merged() -> World {
    let world = World::with(setup()).await;
    let job = world.submit("merge this").await;
    until(&world, &job, "merged").await;
    world
}

/// Plays it.
pub(super) async fn everything() -> World {
    let world = World::with(setup()).await;
    put_settings(&world).await;
    let merged = order(&world, NAME, ORDER).await;
    until(&world, &merged, "merged").await;
    world.pass(MINUTE).await;
    let asking = world.submit("ask me").await;
    until(&world, &asking, "asking").await;
    let planned = world.submit("plan it").await;
    until(&world, &planned, "plan-waits").await;
    let stalled = world.submit("stall").await;
    until(&world, &stalled, "working").await;
    let creating = world.submit("merge nothing").await;
    cut(&world, (Service::Jules, "POST", "/sessions"), Some(1));
    until(&world, &creating, "starting").await;
    world.pass(SECOND * 5).await;
    world.submit("merge that").await;
    cut(&world, (Service::GitHub, "PUT", "/merge"), None);
    await_request(&world, (Service::GitHub, "PUT", "/merge"), 2).await;
    world.submit("merge later").await;
    refuse_next_create(&world);
    world
        .until(MINUTE, "refused", async |world| {
            world.sandbox.faults().list().len() == 1
        })
        .await;
    die_saying(&world, &stalled).await;
    leave_unsent(&world, &stalled).await;
    hold(&world, &asking, &merged).await;
    world.sandbox.faults().clear();
    world
}

/// A message was saved when the process died, and not sent.
async fn leave_unsent(world: &World, job: &JobId) {
    let mut unit = world.backend.unit();
    let account = "default".parse().expect("a name");
    let key = keys::out(&keys::job_pk(job), &world.backend.ulid());
    let due = Some(unit.now() + OUTBOX_GRACE);
    let place = IndexEntry {
        due,
        ..IndexEntry::default()
    };
    unit.put(key, &Work::Slots { account }, None, place);
    world.backend.commit(unit).await.expect("a commit");
}

/// A message has been sent when the process dies.
async fn die_saying(world: &World, job: &JobId) {
    let fate = world.fate.clone();
    world.fate.before_next("say", async move {
        fate.kill_at(fate.acts().len() - 1, Moment::After);
    });
    world.answer(job, "Go on", "go-on").await;
    world.step().await;
    assert_eq!(world.fate.deaths(), 1);
}

/// Everything is paused while orders come.
async fn hold(world: &World, asking: &JobId, merged: &JobId) {
    world.pause(true).await;
    world.answer(asking, "PostgreSQL", "answer").await;
    world
        .backend
        .fresh_artifacts(merged, Duration::ZERO)
        .await
        .expect("a question");
    world.step().await;
    adopt_and_die(world).await;
}

/// Records that a story does not write by itself.
async fn put_settings(world: &World) {
    let since = BEGIN - hour(3);
    let installation = Installation {
        id: world.backend.installation.clone(),
        since,
    };
    let gap = RestoreGap {
        from: since,
        until: BEGIN - hour(2),
    };
    let mut unit = world.backend.unit();
    unit.put(
        keys::installation(),
        &installation,
        None,
        IndexEntry::default(),
    );
    unit.put(keys::restore_gap(), &gap, None, IndexEntry::default());
    let upstreams = Upstreams::default();
    unit.put(keys::upstreams(), &upstreams, None, IndexEntry::default());
    world.backend.commit(unit).await.expect("settings");
}

/// Orders the first job under a name.
pub(super) async fn order(world: &World, name: &str, order: &str) -> JobId {
    let once = IdempotencyKey {
        name: name.to_owned(),
        order: order.to_owned(),
    };
    let order = Order {
        repo: REPO.parse().expect("a repository"),
        branch: None,
        prompt: "merge this".to_owned(),
        title: None,
        agent: None,
        resume: None,
        priority: None,
        terms: domain::policy::Terms::default(),
    };
    let job = world.backend.create_job_once(order, &once, None).await;
    job.expect("a job").id
}

/// An adoption is requested, and the process dies before it sends the message: the request and its message stay.
async fn adopt_and_die(world: &World) {
    let adoption = Adoption {
        session: "99".parse().expect("a session"),
        repo: REPO.parse().expect("a repository"),
        agent: None,
        take_over: false,
        delivery: None,
        by: None,
        asked_at: world.backend.now(),
        refused: None,
    };
    world.fate.kill_at(world.fate.acts().len(), Moment::After);
    let died = world.backend.adopt(adoption, Duration::ZERO).await;
    assert!(died.is_err() && world.fate.is_dead());
    world.fate.revive();
}

fn cut(world: &World, (service, method, path): (Service, &str, &str), times: Option<u32>) {
    let fault = Fault::new(service, path, FaultKind::CutBefore).on(method);
    let fault = match times {
        Some(times) => fault.next(times),
        None => fault,
    };
    world.sandbox.faults().add(fault);
}

/// Jules says that the account has no room, which is certain: nothing was created.
fn refuse_next_create(world: &World) {
    let body = json!({ "error": {
        "code": 400, "status": "FAILED_PRECONDITION", "message": "Precondition check failed.",
    } });
    let kind = FaultKind::Status {
        code: 400,
        retry_after_secs: None,
        body: Some(body),
    };
    let fault = Fault::new(Service::Jules, "/sessions", kind);
    world.sandbox.faults().add(fault.on("POST").next(1));
}

async fn until(world: &World, job: &JobId, state: &str) {
    world
        .until(hour(1), state, async |world| {
            world.state(job).await == state
        })
        .await;
}

async fn await_request(
    world: &World,
    (service, method, path): (Service, &str, &str),
    count: usize,
) {
    world
        .until(hour(1), path, async |world| {
            world.requests(service, method, path).len() >= count
        })
        .await;
}
