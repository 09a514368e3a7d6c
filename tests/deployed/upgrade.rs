//! The other acts: an upgrade to another version and back, with ten jobs in flight; and the removal.
//! The tests `recovery` read what another version stores.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use aws_sdk_lambda::Client as Lambda;
use client::wire::JobView;
use deploy::{Binaries, Function, LIVE};
use futures::future::join_all;

use crate::scenes::{every_wake_came_once, wakes_about};
use crate::stage::{STACK, Stage};

/// How many jobs are in flight.
const JOBS: usize = 10;

/// Writes the functions as another version: a program runs the same with something behind its end.
pub(crate) fn lengthened(built: &Path, to: &Path) {
    for function in Function::ALL {
        let (from, to) = (built.join(function.short()), to.join(function.short()));
        fs::copy(from, &to).expect("a copy");
        let mut program = OpenOptions::new().append(true).open(to).expect("a program");
        program.write_all(b"next").expect("a longer program");
    }
}

/// Jobs begun by one version are answered under it, while the next is deployed, under a mixture of both, under the
/// next, and after the rollback; all are merged, each once.
pub(crate) async fn ten_jobs_outlive_the_next_version(stage: &Stage, next: Binaries) {
    let before = stage.merges().len();
    let prompts: Vec<String> = (0..JOBS)
        .map(|number| format!("Mend part {number}"))
        .collect();
    let jobs = join_all(prompts.iter().map(|prompt| stage.job(prompt))).await;
    for job in &jobs {
        stage.until(job, "asking").await;
    }
    answer(stage, &jobs[..2]).await;
    let these = all_live(stage).await;
    let ((), ()) = tokio::join!(stage.put(next), answer(stage, &jobs[2..4]));
    let nexts = all_live(stage).await;
    for function in Function::ALL {
        assert_ne!(these[&function], nexts[&function], "{function:?}");
    }
    merged(stage, &jobs[..4]).await;

    // Both versions at the same time: poller and API of this one, dispatcher and webhook of the next.
    let mixed = [Function::Poller, Function::Api];
    for function in mixed {
        point(stage, function, &these[&function]).await;
    }
    answer(stage, &jobs[4..6]).await;
    merged(stage, &jobs[4..6]).await;
    for function in mixed {
        point(stage, function, &nexts[&function]).await;
    }
    answer(stage, &jobs[6..8]).await;
    stage.cloud.roll_back().await.expect("a way back");
    assert_eq!(all_live(stage).await, these);
    answer(stage, &jobs[8..]).await;
    merged(stage, &jobs).await;
    let again = stage.cloud.roll_back().await;
    let again = again.expect_err("nothing further back").to_string();
    assert!(again.contains("it went back already"), "{again}");
    for job in &jobs {
        assert!(wakes_about(stage, &job.job_id.to_string()) > 0, "{job:?}");
    }
    assert_eq!(stage.merges().len(), before + JOBS, "{:?}", stage.merges());
    every_wake_came_once(stage);
}

/// With `--keep-data` the table and the secrets stay, and without it nothing does.
pub(crate) async fn taken_down_it_leaves_what_was_to_be_kept(stage: &Stage) {
    let left = stage.cloud.destroy(true).await.expect("an end");
    let left: Vec<_> = left.into_iter().map(|it| it.0).collect();
    let mut kept = vec![format!("table {STACK}")];
    for secret in [
        "agents/helper",
        "github",
        "jules/default",
        "token",
        "webhook",
    ] {
        kept.push(format!("parameter /gaffer/{STACK}/{secret}"));
    }
    let mut sorted = left.clone();
    sorted.sort();
    kept.sort();
    assert_eq!(sorted, kept);
    let jobs = stage
        .backend
        .store
        .jobs(100)
        .await
        .expect("a readable table");
    assert_eq!(
        jobs.len(),
        JOBS + 1,
        "the jobs are in the table that was kept"
    );
    let left = stage.cloud.destroy(false).await.expect("an end");
    assert_eq!(left, []);
}

async fn answer(stage: &Stage, jobs: &[JobView]) {
    join_all(jobs.iter().map(|job| stage.say(job, "Take the second"))).await;
}

async fn merged(stage: &Stage, jobs: &[JobView]) {
    for job in jobs {
        stage.until(job, "merged").await;
    }
}

/// The version of each function that is live.
async fn all_live(stage: &Stage) -> BTreeMap<Function, String> {
    let client = Lambda::new(&stage.config);
    let mut all = BTreeMap::new();
    for function in Function::ALL {
        let ask = client
            .get_alias()
            .function_name(function.name(&stage.cloud));
        let alias = ask.name(LIVE).send().await.expect("an alias");
        all.insert(function, alias.function_version.expect("a version"));
    }
    all
}

/// What `cargo xtask deploy` does to all functions, done to one.
async fn point(stage: &Stage, function: Function, version: &str) {
    let client = Lambda::new(&stage.config);
    let name = function.name(&stage.cloud);
    let alias = client.get_alias().function_name(&name).name(LIVE);
    let alias = alias.send().await.expect("an alias");
    let moved = client.update_alias().function_name(&name).name(LIVE);
    let moved = moved.function_version(version);
    let moved = moved.set_description(alias.description).send().await;
    moved.expect("a moved alias");
}
