//! `cargo xtask chaos`: builds the program `chaos` and has it play seeds, whole or with one guard taken out.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::guards::Guard;
use crate::output;

/// What a person may choose.
#[derive(clap::Args)]
pub(crate) struct ChaosOptions {
    /// How many seeds are played; without a guard, how many at most until one fails.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    from: u64,
    /// How many seeds are played at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    at_once: u16,
    /// Take a guard out, and succeed once a seed fails without it.
    #[arg(long, value_name = "GUARD")]
    without: Option<Without>,
}

/// Which guards are taken out, each by itself.
#[derive(Clone, Debug)]
enum Without {
    All,
    One(Guard),
}

impl std::str::FromStr for Without {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        Guard::from_str(&text.replace('_', "-"), true)
            .map(Self::One)
            .map_err(|_| {
                let words: Vec<_> = Guard::value_variants()
                    .iter()
                    .map(|guard| guard.word())
                    .collect();
                format!("there are {} and all", words.join(", "))
            })
    }
}

/// Plays the seeds.
pub(crate) fn run(options: &ChaosOptions) -> Result<()> {
    // The workspace is the parent of this package, whatever folder the person stands in.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("finding the workspace above xtask")?;
    match options.without {
        None => whole(options, root),
        Some(Without::One(guard)) => without(options, root, &[guard]),
        Some(Without::All) => without(options, root, Guard::value_variants()),
    }
}

fn whole(options: &ChaosOptions, root: &Path) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "chaos"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .status()
        .context("starting cargo")?;
    ensure!(status.success(), "chaos does not build");
    let program = root.join("target").join("debug").join("chaos");
    let status = command(options, &program).status();
    let status = status.context("starting chaos")?;
    ensure!(status.success(), "a seed failed");
    Ok(())
}

fn without(options: &ChaosOptions, root: &Path, guards: &[Guard]) -> Result<()> {
    let mut useless = Vec::new();
    for guard in guards {
        let word = guard.word();
        output::line(&format!("\n=== without {word}"));
        let program = guard.build(root)?;
        let summary = judged(options, &program)?;
        let verdict = summary.verdict();
        output::line(&format!("=== without {word}: {verdict}"));
        if summary.violations.is_empty() {
            useless.push(word);
        }
    }
    if !useless.is_empty() {
        bail!(
            "no seed of {} failed without {}",
            options.seeds,
            useless.join(", ")
        );
    }
    Ok(())
}

/// What of a run's summary tells whether a guard is needed.
#[derive(serde::Deserialize)]
struct Summary {
    seeds: u64,
    /// By seed, what was done twice, lost or done wrong. Nothing else shows that a guard is needed.
    violations: BTreeMap<u64, Vec<String>>,
    /// By seed, why it says nothing.
    unplayed: BTreeMap<u64, String>,
}

impl Summary {
    fn verdict(&self) -> String {
        if let Some((seed, wrong)) = self.violations.iter().next() {
            let first = wrong.first().map_or("", String::as_str);
            return format!("seed {seed} failed, so it is needed: {first}");
        }
        match self.unplayed.iter().next() {
            Some((seed, why)) => {
                format!("nothing was done twice or lost, but seed {seed} says nothing: {why}")
            }
            None => format!("{0} of {0} seeds held", self.seeds),
        }
    }
}

/// Plays until a seed fails.
fn judged(options: &ChaosOptions, program: &Path) -> Result<Summary> {
    let mut command = command(options, program);
    let output = command.args(["--json", "--until-failure"]).output();
    let output = output.context("starting chaos")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let summary = said.lines().last().unwrap_or_default();
    let complaint = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(summary)
        .with_context(|| format!("reading what the seeds came to; chaos said: {complaint}"))
}

/// The seeds of the options, played by this build of `chaos`.
fn command(options: &ChaosOptions, program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["seeds", "--from", &options.from.to_string()])
        .args(["--count", &options.seeds.to_string()])
        .args(["--at-once", &options.at_once.to_string()]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(json: &str) -> Summary {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn only_what_was_done_twice_or_lost_shows_that_a_guard_is_needed() {
        let needed = summary(
            r#"{"seeds":2,"merged":9,"violations":{"7":["9 merges, where 5 were needed"]},"unplayed":{"8":"late"}}"#,
        );
        assert_eq!(
            needed.verdict(),
            "seed 7 failed, so it is needed: 9 merges, where 5 were needed"
        );
        let late = summary(r#"{"seeds":2,"violations":{},"unplayed":{"8":"it did not end"}}"#);
        assert!(late.verdict().contains("seed 8 says nothing"));
        let held = summary(r#"{"seeds":2,"violations":{},"unplayed":{}}"#);
        assert_eq!(held.verdict(), "2 of 2 seeds held");
    }
}
