//! Who is called when a slot becomes free.

use engine::jobs::JobRef;
use engine::ports::Queue;

use super::*;

/// How often slots are offered once a job is cancelled, with this many jobs waiting.
async fn calls(waiting: usize) -> usize {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let queue = Arc::new(MemoryQueue::new(clock.clone()));
    let backend = backend_over(Arc::new(MemoryRecords::default()), &clock, queue.clone());
    settle_in(&backend, (0, 1)).await;
    for at in 1..=waiting {
        let job = job::create(new_job(&backend, (at, 0)), BEGIN).expect("a job");
        let job = job.aggregate;
        let mut unit = backend.unit();
        let place = IndexEntry {
            list: keys::listed(keys::jobs_of("queued", &job.account), job.id.as_str()),
            ..IndexEntry::default()
        };
        unit.put(keys::job(&job.id), &job, None, place);
        backend.commit(unit).await.expect("a job");
    }
    let first = JobRef {
        job: JobId::from_ulid(ulid::Ulid(0)),
        session: None,
        by: None,
    };
    backend
        .cancel_job(&first, "a person")
        .await
        .expect("it ends");
    let sent = queue.receive(10, SignedDuration::from_secs(30)).await;
    let bodies = sent.expect("messages").into_iter().map(|sent| sent.body);
    bodies.filter(|body| body.contains("slots")).count()
}

#[tokio::test]
async fn a_free_slot_calls_somebody_only_where_somebody_waits() {
    assert_eq!(calls(0).await, 0);
    assert_eq!(calls(2).await, 1);
}
