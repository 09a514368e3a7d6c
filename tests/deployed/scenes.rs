//! The first act: one job, from an order at the API to a merge that a webhook brought about.

use jiff::SignedDuration;
use sandbox::github::{CheckSetup, CiSetup, Outcome, RepoSetup};
use sandbox::story::{Step, Story};
use sandbox::{Scenario, WebhookTarget};

use crate::furniture::AGENT;
use crate::stage::{REPO, Stage};

/// What every session asks.
const QUESTION: &str = "There are two libraries in the tree. Which one shall I use?";

/// Every session asks, waits for an answer, opens a pull request and is done; its checks take two seconds.
pub(crate) fn scenario() -> Scenario {
    let second = SignedDuration::from_secs(1);
    let steps = vec![
        Step::Ask {
            after: second,
            text: QUESTION.to_owned(),
        },
        Step::OpenPull {
            after: second,
            files: Vec::new(),
            draft: false,
        },
        Step::Complete {
            after: second,
            no_change: false,
        },
    ];
    let check = CheckSetup {
        takes: second * 2,
        ..CheckSetup::new("build", Outcome::Success)
    };
    Scenario {
        repos: vec![RepoSetup::new(REPO).with_ci(CiSetup {
            checks: vec![check],
            ..CiSetup::default()
        })],
        default_story: Story {
            steps,
            ..Story::default()
        },
        ..Scenario::default()
    }
}

/// Schedule → poller → queue → dispatcher → agent; answer; pull request → webhook → queue → merge.
pub(crate) async fn a_job_is_asked_about_and_merged_once(stage: &Stage) {
    let job = stage.job("Add a search box").await;
    stage.until(&job, "asking").await;
    stage
        .wait("the agent was woken", || async {
            (wakes_about(stage, &job.job_id.to_string()) > 0).then_some(())
        })
        .await;
    stage.say(&job, "Take the first").await;
    let merged = stage.until(&job, "merged").await;
    let pull = merged.pull_request.expect("a pull request");
    assert_eq!(stage.merges().len(), 1, "{:?}", stage.merges());
    let seen = stage.sandbox.github().pull(REPO, pull.number);
    assert!(seen.is_some_and(|it| it.merged_sha.is_some()));
    let delivered = stage.sandbox.github().deliveries();
    assert!(
        delivered.iter().any(|it| it.status_code == Some(202)),
        "{delivered:?}"
    );
    every_wake_came_once(stage);
    a_forged_webhook_is_refused(stage).await;
}

/// How many requests about a job the agent got.
pub(crate) fn wakes_about(stage: &Stage, job: &str) -> usize {
    let all = stage.sandbox.agents().received(AGENT);
    all.iter().filter(|it| it.body.contains(job)).count()
}

/// No wake was received twice, and each was taken.
pub(crate) fn every_wake_came_once(stage: &Stage) {
    let all = stage.sandbox.agents().received(AGENT);
    let mut ids: Vec<_> = all.iter().filter_map(|it| it.webhook_id.clone()).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), all.len()), (count, count));
}

/// Signed with another secret it is answered with 401, and nothing happens.
async fn a_forged_webhook_is_refused(stage: &Stage) {
    let github = stage.sandbox.github();
    let right = github.webhook().expect("a target");
    stage.sandbox.set_webhook(WebhookTarget {
        secret: "another".to_owned(),
        ..right.clone()
    });
    let before = github.deliveries().len();
    let now = jiff::Timestamp::UNIX_EPOCH;
    github.comment(now, REPO, 1, ("mallory", "hello"));
    stage
        .wait("the forged webhook is refused", || async {
            let all = github.deliveries();
            let new = all.iter().skip(before);
            new.into_iter()
                .any(|it| it.status_code == Some(401))
                .then_some(())
        })
        .await;
    stage.sandbox.set_webhook(right);
}
