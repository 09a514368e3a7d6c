//! `gaffer run --wait`, `gaffer pipeline start --wait` and `gaffer workflow run`: polls a run until it is over, and tells each step as it
//! ends.

use anyhow::{Context, Result};
use client::Client;
use client::wire::PipelineView;
use domain::ids::PipelineId;
use jiff::SignedDuration;
use tokio::time::Instant;

use super::show;
use crate::args::value::short;
use crate::error::Error;
use crate::job::progress::Progress;
use crate::job::wait::{AWAY, LOOK_EVERY, is_away};
use crate::render;

/// Waits, telling people each step, and programs the run as it is once it ended well.
pub(super) async fn until_over(
    client: &Client,
    id: &PipelineId,
    within: SignedDuration,
    as_json: bool,
) -> Result<()> {
    let run = last_look(client, id, within, as_json).await?;
    must_be_well(&run, within)?;
    match as_json {
        true => render::answer(&show::run(&run), true).context("writing the answer"),
        false => Ok(()),
    }
}

/// Looks at a run until it is over or the time is, telling people each step.
pub(super) async fn last_look(
    client: &Client,
    id: &PipelineId,
    within: SignedDuration,
    as_json: bool,
) -> Result<PipelineView> {
    let mut progress = Progress::new(as_json);
    let end = Instant::now() + within.unsigned_abs();
    let mut beat = tokio::time::interval(LOOK_EVERY);
    let mut told = 0;
    loop {
        beat.tick().await;
        let run = match client.pipeline(id).await {
            Err(error) if Instant::now() < end && is_away(&error) => {
                progress.away(AWAY);
                continue;
            }
            looked => looked?,
        };
        if !as_json {
            told = tell(&run, told)?;
        }
        if run.is_over || Instant::now() >= end {
            return Ok(run);
        }
        if let Some(step) = run.steps.get(told) {
            progress.waiting(&step.step, &format!("its end, {}", step.state));
        }
    }
}

/// Prints the steps that ended since the last look, and returns how many have.
fn tell(run: &PipelineView, told: usize) -> Result<usize> {
    let over = run.steps.iter().take_while(|step| show::is_over(step));
    let over = over.count();
    for step in run.steps.iter().take(over).skip(told) {
        for line in show::step(step) {
            render::line(&line).context("writing a step")?;
        }
    }
    Ok(over)
}

/// Refuses a run that is not over, or of which a step failed.
pub(super) fn must_be_well(run: &PipelineView, within: SignedDuration) -> Result<()> {
    if !run.is_over {
        let what = format!("after {} it is still {}", short(within), run.state);
        let next = format!(
            "ask what it waits for with `gaffer pipeline why {}`",
            run.id
        );
        return Err(Error::refused("still_waiting", what, next).into());
    }
    let failed = run.steps.iter().find(|step| step.state == "failed");
    match failed {
        None => Ok(()),
        Some(step) => {
            let reason = step.reason.clone().unwrap_or_default();
            let what = format!("the step {} failed: {reason}", step.step);
            let has_jobs = step.members.iter().any(|it| it.job_id.is_some());
            let next = match has_jobs {
                true => format!("see its jobs with `gaffer pipeline show {}`", run.id),
                false => "mend that, and begin another run: no job was made for it".to_owned(),
            };
            Err(Error::refused("failed", what, next).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::wire::{MemberView, StepView};
    use jiff::Timestamp;

    fn run(states: &[&str]) -> PipelineView {
        let step = |state: &&str| StepView {
            step: "narrator".to_owned(),
            state: (*state).to_owned(),
            reason: None,
            since: None,
            members: Vec::new(),
        };
        PipelineView {
            id: "01k0000000000000000000000a".parse().unwrap(),
            repo: "acme/shop".parse().unwrap(),
            state: "running".to_owned(),
            is_over: !states.contains(&"running"),
            target: "main".parse().unwrap(),
            worker: "jules".parse().unwrap(),
            layer: None,
            role: None,
            stream: None,
            requirement: None,
            task: None,
            mock: None,
            exchange: "human".to_owned(),
            implement: "human".to_owned(),
            by: "a person".to_owned(),
            wait_minutes: 30,
            summed_up: None,
            steps: states.iter().map(step).collect(),
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_run_ends_well_unless_a_step_failed_or_it_goes_on() {
        let within = SignedDuration::from_mins(5);
        let code = |states: &[&str]| match must_be_well(&run(states), within) {
            Ok(()) => "done".to_owned(),
            Err(error) => crate::error::describe(&error).code,
        };
        assert_eq!(code(&["done", "skipped"]), "done");
        assert_eq!(code(&["done", "failed", "done"]), "failed");
        assert_eq!(code(&["failed", "running"]), "still_waiting");
        let next = |run: &PipelineView| {
            let refused = must_be_well(run, within).unwrap_err();
            crate::error::describe(&refused).next.unwrap()
        };
        let mut failed = run(&["failed"]);
        assert!(next(&failed).contains("no job was made"));
        failed.steps[0].members.push(MemberView {
            role: None,
            stream: None,
            requirement: None,
            job_id: "01k0000000000000000000000b".parse().ok(),
            session_id: None,
            state: "failed".to_owned(),
            reason: None,
            note: None,
        });
        assert!(next(&failed).contains("gaffer pipeline show 01k"));
    }
}
