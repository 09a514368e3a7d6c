//! The deployed story: the real binaries of the functions on the services that `AWS_ENDPOINT_URL` names, around the
//! sandbox. The code of `cargo xtask deploy` deploys, upgrades, rolls back and destroys it.
#![expect(
    clippy::expect_used,
    reason = "a stage that cannot be set or read is a failed test"
)]

mod board;
mod furniture;
mod logs;
mod scenes;
mod stage;
mod upgrade;

use deploy::Binaries;
use stage::{Stage, folder};

/// One stack for all acts: what is deployed is what the next act begins with.
#[tokio::test]
async fn from_nothing_to_merged_to_the_next_version_and_back_to_nothing() {
    let built = folder("GAFFER_FUNCTIONS");
    let next = tempfile::tempdir().expect("a folder");
    upgrade::lengthened(&built, next.path());
    let stage = Stage::set(Binaries::Ready(built)).await;
    board::is_behind_the_url_of_the_api(&stage).await;
    scenes::a_job_is_asked_about_and_merged_once(&stage).await;
    let next = Binaries::Ready(next.path().to_owned());
    upgrade::ten_jobs_outlive_the_next_version(&stage, next).await;
    upgrade::taken_down_it_leaves_what_was_to_be_kept(&stage).await;
}
