//! The demo of a sprint: five personas work at once, two of them on the same lines, and what they made is woven into one pull
//! request. Who conflicts is told by mail and in the session, mends it, and comes in with the next weave.

mod report;
mod repository;
mod telling;

use std::time::Duration;

use anyhow::{Context, Result};
use client::wire::{SprintView, StartSprint};
use domain::ids::RepoName;
use sandbox::github::PullState;

pub use report::SprintReport;

use crate::stage::{Address, SHOP, Stage};
use repository::NUMBER;
use telling::Teller;

/// The whole story takes less than a minute; a machine that needs more than this has stopped.
const STORY_WITHIN: Duration = Duration::from_secs(180);

/// Refresh interval of the display.
const LOOK_EVERY: Duration = Duration::from_millis(150);

/// Plays the story. `show` gets a line for each thing to show on the way; `stay` is awaited before all of it is thrown away,
/// with the address and the token of the API.
pub async fn play_sprint<S>(
    webhooks: bool,
    mut show: impl FnMut(&str) -> Result<()>,
    stay: impl FnOnce(Address) -> S,
) -> Result<SprintReport>
where
    S: Future<Output = Result<()>>,
{
    let began = tokio::time::Instant::now();
    let stage = Stage::set(webhooks, &repository::play()).await?;
    let repo: RepoName = SHOP.parse().context("reading the demo's repository")?;
    show(
        "A repository with five personas: each works in a session of its own, and all of them at once.",
    )?;
    let wanted = StartSprint {
        number: Some(NUMBER.parse().context("numbering the sprint")?),
        ..StartSprint::default()
    };
    let begun = stage.client.start_sprint(&repo, wanted).await;
    for member in &begun.context("starting the sprint")?.members {
        show(&format!(
            "🚀 Launched {}: {}",
            member.persona, member.job_id
        ))?;
    }
    let watched = tokio::time::timeout(STORY_WITHIN, watch(&stage, &repo, show)).await;
    let has_ended = watched.is_ok();
    watched.unwrap_or(Ok(()))?;
    let report = report::collect(&stage, &repo, began.elapsed(), has_ended).await?;
    stay(stage.address()).await?;
    stage.clear().await;
    Ok(report)
}

/// Shows every change until the sprint is over and its pull requests are closed.
async fn watch(
    stage: &Stage,
    repo: &RepoName,
    mut show: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut teller = Teller::default();
    let mut interval = tokio::time::interval(LOOK_EVERY);
    loop {
        interval.tick().await;
        let sprint = stage.client.sprint(repo, None).await;
        let sprint = sprint.context("looking at the sprint")?;
        let mail = mail(stage, repo).await?;
        for line in teller.tell(&sprint, &mail) {
            show(&line)?;
        }
        if is_over(stage, &sprint) {
            return Ok(());
        }
    }
}

/// The log of the mail.
async fn mail(stage: &Stage, repo: &RepoName) -> Result<Vec<String>> {
    let log = stage.client.mail_log(repo, 0).await;
    Ok(log.context("reading the mail")?.lines)
}

/// Whether nothing more happens: the pull requests of members are closed after everything else.
fn is_over(stage: &Stage, sprint: &SprintView) -> bool {
    let github = stage.sandbox.github();
    let mut pulls = github.pulls(SHOP).into_iter();
    sprint.is_over
        && pulls.all(|number| {
            let pull = github.pull(SHOP, number);
            pull.is_none_or(|pull| pull.state != PullState::Open)
        })
}
