//! `gaffer sandbox`: serves a small Jules and a small GitHub to try things on.

use anyhow::{Context, Result};
use sandbox::replay::{REPLAY_KEY, Replay, Transcript};
use sandbox::{Options, Sandbox, Scenario};

use crate::args::SandboxArgs;
use crate::render::{self, Answer};

/// Serves the sandbox until it is stopped.
pub(crate) async fn run(args: SandboxArgs) -> Result<()> {
    if let Some(file) = &args.replay {
        return replay(file, &args).await;
    }
    let scenario = match &args.scenario {
        Some(path) => Scenario::load(path).context("reading the scenario")?,
        None => Scenario::default(),
    };
    let key = scenario
        .accounts
        .first()
        .map(|account| account.key.clone())
        .unwrap_or_default();
    let repo = scenario
        .repos
        .first()
        .map(|repo| repo.full_name.clone())
        .unwrap_or_default();
    let options = Options {
        listen: args.listen,
        ..Options::real_time(scenario)
    };
    let sandbox = Sandbox::start(options)
        .await
        .context("starting the sandbox")?;
    let answer = Answer::new(serde_json::json!({
        "jules_base": sandbox.jules_base(),
        "github_base": sandbox.github_base(),
        "agent": sandbox.agent_url("NAME"),
        "control": sandbox.control_base(),
        "jules_api_key": key,
        "github_token": sandbox::github::DEFAULT_TOKEN,
        "repository": repo,
    }))
    .line(format!(
        "A small Jules is at {} (key {key}).",
        sandbox.jules_base()
    ))
    .line(format!(
        "A small GitHub is at {} (token {}, repository {repo}).",
        sandbox.github_base(),
        sandbox::github::DEFAULT_TOKEN
    ))
    .line(format!(
        "Agents can be woken at {}; control is at {}.",
        sandbox.agent_url("NAME"),
        sandbox.control_base()
    ));
    render::announcement(&answer, args.json).context("writing the answer")?;
    crate::up::told_to_stop().await?;
    sandbox.stop().await;
    Ok(())
}

/// Serves a recorded Jules until it is stopped.
async fn replay(file: &std::path::Path, args: &SandboxArgs) -> Result<()> {
    let transcript = Transcript::load(file).context("reading the transcript")?;
    let replay = Replay::start(args.listen, transcript)
        .await
        .context("starting the recorded Jules")?;
    let base = replay.jules_base();
    let json = serde_json::json!({ "jules_base": base, "jules_api_key": REPLAY_KEY });
    let answer =
        Answer::new(json).line(format!("A recorded Jules is at {base} (key {REPLAY_KEY})."));
    render::announcement(&answer, args.json).context("writing the answer")?;
    crate::up::told_to_stop().await
}
