//! `cargo xtask chaos`: builds `gaffer` and plays seeds of its chaos, whole or with one guard taken out.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::guards::Guard;
use crate::output;

/// What a person may choose.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many seeds are played; without a guard, how many at most until one fails.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
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
                let words: Vec<_> = Guard::ALL.iter().map(|guard| guard.word()).collect();
                format!("there are {} and all", words.join(", "))
            })
    }
}

/// Plays the seeds.
pub(crate) fn run(options: &Options) -> Result<()> {
    // The workspace is the parent of this package, whatever folder the person stands in.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("finding the workspace above xtask")?;
    match options.without {
        None => whole(options, root),
        Some(Without::One(guard)) => without(options, root, &[guard]),
        Some(Without::All) => without(options, root, &Guard::ALL),
    }
}

fn whole(options: &Options, root: &Path) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "cli"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .status()
        .context("starting cargo")?;
    ensure!(status.success(), "gaffer does not build");
    let gaffer = root.join("target").join("debug").join("gaffer");
    ensure!(play(options, &gaffer, false)?, "a seed failed");
    Ok(())
}

fn without(options: &Options, root: &Path, guards: &[Guard]) -> Result<()> {
    let mut useless = Vec::new();
    for guard in guards {
        let word = guard.word();
        output::line(&format!("\n=== without {word}"));
        let gaffer = guard.build(root)?;
        if play(options, &gaffer, true)? {
            output::line(&format!("=== without {word}: no seed failed"));
            useless.push(word);
        } else {
            output::line(&format!(
                "=== without {word}: a seed failed, so it is needed"
            ));
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

/// Whether all seeds held.
fn play(options: &Options, gaffer: &PathBuf, until_failure: bool) -> Result<bool> {
    let mut command = Command::new(gaffer);
    command
        .args(["demo", "--chaos", &options.from.to_string()])
        .args(["--seeds", &options.seeds.max(2).to_string()])
        .args(["--at-once", &options.at_once.to_string()]);
    if until_failure {
        command.arg("--until-failure");
    }
    Ok(command.status().context("starting gaffer")?.success())
}
