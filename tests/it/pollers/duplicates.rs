//! Listed sessions beside the watched ones: which are archived, and which no longer cause a read of their job.

use domain::effect::{ATTEMPTS_MAX, Action, Effect, EffectState, JulesAction};
use domain::failure::{Failure, FailureClass};
use domain::job::{EndReason, Ending, JobPhase};
use domain::session::{SessionState, SessionView};

use super::rows::Rows;
use super::*;

/// The job whose sessions are listed.
const OF: usize = 7;

/// A poller that ticks alone and lists sessions: six that are watched, and these of another job, by their attempts.
struct Listed {
    clock: Arc<FakeClock>,
    rows: Arc<Rows>,
    backend: Backend,
    reader: Arc<Reader>,
    poller: Poller,
}

impl Listed {
    async fn with(job: &Job, besides: &[(usize, u32)]) -> Self {
        let clock = Arc::new(FakeClock::at(BEGIN));
        let rows = Arc::new(Rows::default());
        let backend = watching_in(rows.clone(), &clock, (0, 6)).await;
        let account = "default".parse().expect("a name");
        let found = backend.store.account(&account).await.expect("a store");
        let mut found = found.expect("an account");
        found.value.list = ListWeight::default();
        let mut unit = backend.unit();
        unit.put(
            keys::account(&account),
            &found.value,
            Some(found.version),
            IndexEntry::due(Some(BEGIN)),
        );
        unit.put(keys::job(&job.id), job, None, IndexEntry::default());
        backend.commit(unit).await.expect("what is there");
        let watched = (0..6).map(|at| working(&session(at)));
        let besides = besides.iter().map(|(at, attempt)| SessionView {
            title: Job {
                attempt: *attempt,
                ..job.clone()
            }
            .marker()
            .to_string(),
            state: SessionState::Completed,
            ..working(&session(*at))
        });
        let reader = Arc::new(Reader::listing(watched.chain(besides).collect()));
        let poller = Poller::new(backend.clone(), reader.clone());
        Self {
            clock,
            rows,
            backend,
            reader,
            poller,
        }
    }

    /// Polls, and returns how often the job was read individually.
    async fn tick(&self) -> usize {
        let tick = self
            .poller
            .tick_until(Timestamp::MAX, OtherPollers::Excluded)
            .await;
        assert_eq!(tick.expect("a tick").polled, 1);
        assert_eq!(self.reader.take_lists().len(), 1);
        self.clock.advance(SignedDuration::from_secs(10));
        self.rows
            .take_gets(&keys::job(&JobId::from_ulid(ulid::Ulid(OF as u128))))
    }

    /// Whether a session is to be archived.
    async fn puts_away(&self, at: usize) -> bool {
        let wished = Action::Jules(JulesAction::Archive {
            session: session(at),
        });
        let pk = keys::job_pk(&JobId::from_ulid(ulid::Ulid(OF as u128)));
        let found = self
            .backend
            .store
            .effect(&pk, &Backend::effect_id(&wished))
            .await;
        found.expect("a store").is_some()
    }
}

/// A job of this phase.
async fn job(phase: JobPhase) -> Job {
    let backend = watching(&Arc::new(FakeClock::at(BEGIN)), (0, 0)).await;
    let new = new_job(&backend, (OF, 0));
    let adopted = job::adopt(new, &working(&session(OF)), BEGIN);
    Job {
        phase,
        ..adopted.expect("a job").aggregate
    }
}

/// The end of a job that had this session.
fn ended(session: SessionId) -> JobPhase {
    JobPhase::Ended(Ending {
        at: BEGIN,
        session: Some(session),
        pull: None,
        how: EndReason::Completed,
        plan_unreviewed: false,
    })
}

#[tokio::test]
async fn a_session_that_ended_and_stays_listed_does_not_have_its_job_read_with_every_poll() {
    let failed = Job {
        attempt: 2,
        earlier: vec![session(8)],
        ..job(ended(session(OF))).await
    };
    for own in [(OF, 2), (8, 1)] {
        let listed = Listed::with(&failed, &[own]).await;
        let mut read = Vec::new();
        for wait in [0, 0, 30 * 60, 0] {
            read.push(listed.tick().await);
            listed.clock.advance(SignedDuration::from_secs(wait));
        }
        // It is not believed for ever.
        assert_eq!(read, [1, 0, 0, 1], "{own:?}");
        assert!(!listed.puts_away(own.0).await);
    }
}

#[tokio::test]
async fn a_session_that_its_job_never_had_is_put_away_whichever_attempt_made_it() {
    let failed = Job {
        attempt: 2,
        ..job(ended(session(OF))).await
    };
    let listed = Listed::with(&failed, &[(8, 1), (9, 2), (10, 3)]).await;
    listed.tick().await;
    assert!(listed.puts_away(8).await);
    assert!(listed.puts_away(9).await);
    assert!(!listed.puts_away(10).await, "the job has not come to it");
}

#[tokio::test]
async fn a_session_that_may_be_the_one_is_put_away_as_soon_as_it_is_known_not_to_be() {
    let creating = JobPhase::Creating {
        since: BEGIN,
        refusals: 0,
    };
    let listed = Listed::with(&job(creating).await, &[(8, 1)]).await;
    listed.tick().await;
    assert!(!listed.puts_away(8).await);
    let has_another = job(ended(session(OF))).await;
    let found = listed.backend.store.job(&has_another.id).await;
    let version = found.expect("a store").map(|found| found.version);
    let mut unit = listed.backend.unit();
    unit.put(
        keys::job(&has_another.id),
        &has_another,
        version,
        IndexEntry::default(),
    );
    listed.backend.commit(unit).await.expect("it ends");
    listed.tick().await;
    assert!(listed.puts_away(8).await);
}

#[tokio::test]
async fn a_session_that_somebody_had_adopted_is_left_to_them() {
    let listed = Listed::with(&job(ended(session(OF))).await, &[(8, 1)]).await;
    let mut unit = listed.backend.unit();
    let somebody = JobId::from_ulid(ulid::Ulid(99));
    unit.put(
        keys::session(&session(8)),
        &somebody,
        None,
        IndexEntry::default(),
    );
    listed.backend.commit(unit).await.expect("a pointer");
    listed.tick().await;
    assert!(!listed.puts_away(8).await);
}

#[tokio::test]
async fn a_session_that_cannot_be_put_away_is_no_reason_to_write_with_every_poll() {
    let failed = job(ended(session(OF))).await;
    let listed = Listed::with(&failed, &[(8, 1)]).await;
    listed.tick().await;
    let effect = Backend::effect_id(&Action::Jules(JulesAction::Archive {
        session: session(8),
    }));
    let pk = keys::job_pk(&failed.id);
    let found = listed.backend.store.effect(&pk, &effect).await;
    let found = found.expect("a store").expect("an effect");
    let given_up = Effect {
        state: EffectState::Failed {
            at: BEGIN,
            attempt: ATTEMPTS_MAX,
            failure: Failure::new(FailureClass::NotFound, "gone"),
        },
        ..found.value
    };
    let mut unit = listed.backend.unit();
    let version = Some(found.version);
    unit.put(
        keys::effect(&pk, &effect),
        &given_up,
        version,
        IndexEntry::default(),
    );
    listed.backend.commit(unit).await.expect("it is given up");
    let row = async || {
        let found = listed.backend.store.job(&failed.id).await;
        found.expect("a store").expect("a job").version
    };
    let before = row().await;
    listed.tick().await;
    assert_eq!(row().await, before);
}
