//! `cargo xtask mutants`: changes one thing at a time in what decides and what guards, and sees whether a test notices.

mod report;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::output;
use crate::tools;
use report::Report;

/// Where the tool keeps what it found, below the workspace.
const FOLDER: &str = "target/mutants";

/// Shortest time a test run gets before a mutant counts as endless, in seconds: this machine may be busy.
const LEAST_SECONDS: &str = "120";

/// Property tests take most of the time: a little optimisation costs a second of each build and saves twenty of each run.
const PROFILE: [(&str, &str); 2] = [
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_DEV_DEBUG", "0"),
];

/// One package, the files of it that are mutated, and the targets of Cargo that have its tests.
struct Part {
    package: &'static str,
    targets: &'static str,
    files: &'static [&'static str],
}

/// Code that decides a merge, a repair or a wake, and that guards those against strangers.
const PARTS: [Part; 3] = [
    Part {
        package: "domain",
        targets: "--lib",
        files: &[
            "crates/domain/src/job.rs",
            "crates/domain/src/job/**",
            "crates/domain/src/pull.rs",
            "crates/domain/src/pull/**",
            "crates/domain/src/merge.rs",
            "crates/domain/src/merge/**",
            "crates/domain/src/link.rs",
        ],
    },
    Part {
        package: "github",
        targets: "--tests",
        files: &["crates/github/src/webhook/**"],
    },
    Part {
        package: "agents",
        targets: "--lib",
        files: &[
            "crates/agents/src/destination.rs",
            "crates/agents/src/destination/**",
        ],
    },
];

/// What a person may choose.
#[derive(clap::Args)]
pub(crate) struct MutantsOptions {
    /// Only this package: domain, github or agents. May be given more than once.
    #[arg(long, value_name = "PACKAGE", value_parser = PARTS.map(|part| part.package))]
    only: Vec<String>,
    /// Leave out mutants that an earlier run has seen caught.
    #[arg(long)]
    iterate: bool,
    /// Keep the figures in docs/mutants.md.
    #[arg(long, conflicts_with = "only")]
    keep: bool,
}

/// Runs the chosen parts; the error counts the mutants that no test noticed.
pub(crate) fn run(options: &MutantsOptions) -> Result<()> {
    let root = tools::workspace()?;
    let program = tools::cargo_mutants(&root)?;
    let path = root.join(report::PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let wanted = |part: &&Part| {
        options.only.is_empty() || options.only.iter().any(|only| only == part.package)
    };
    let mut reports = Vec::new();
    for part in PARTS.iter().filter(wanted) {
        output::line(&format!("\n=== mutants of {}", part.package));
        let folder = root.join(FOLDER).join(part.package);
        mutate(&root, &program, part, &folder, options.iterate)?;
        let present = present(&root, &program, part)?;
        let listed = report::listed(&page);
        reports.push(Report::read(part.package, &folder, &listed, &present)?);
    }
    output::line(&format!("\n{}", report::table(&reports)));
    let alive: Vec<&String> = reports.iter().flat_map(|report| &report.alive).collect();
    for name in &alive {
        output::line(&format!("alive: {name}"));
    }
    if options.keep {
        fs::write(&path, report::with_figures(&page, &reports))
            .with_context(|| format!("writing {}", path.display()))?;
    }
    ensure!(
        alive.is_empty(),
        "{} mutants live: write a test that notices each, or list it in {} with the reason why nothing can",
        alive.len(),
        report::PAGE
    );
    Ok(())
}

/// The tool, told which files of which package are meant.
fn mutants_of(program: &Path, part: &Part) -> Command {
    let mut command = Command::new(program);
    command.args(["mutants", "--package", part.package]);
    for file in part.files {
        command.args(["--file", file]);
    }
    command
}

/// The mutants that there are now, with their places: what an earlier run has seen may be gone or elsewhere.
fn present(root: &Path, program: &Path, part: &Part) -> Result<Vec<String>> {
    let mut command = mutants_of(program, part);
    let output = command.arg("--list").current_dir(root).output();
    let output = output.context("starting cargo-mutants")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "listing the mutants of {}: {complaint}",
        part.package
    );
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.lines().map(str::to_owned).collect())
}

/// Exit codes of the tool: 0 all caught, 2 some missed, 3 some timed out; others mean that it could not run.
fn mutate(root: &Path, program: &Path, part: &Part, folder: &Path, iterate: bool) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let mut command = mutants_of(program, part);
    command.args(["--test-package", part.package]);
    command.args(["--no-shuffle", "--minimum-test-timeout", LEAST_SECONDS]);
    if iterate {
        command.arg("--iterate");
    }
    let status = command
        .arg("--output")
        .arg(folder)
        // No example in the docs stands for a test, and `--tests` builds the library twice.
        .arg(format!("--cargo-arg={}", part.targets))
        .envs(PROFILE)
        .current_dir(root)
        .status()
        .context("starting cargo-mutants")?;
    match status.code() {
        Some(0 | 2 | 3) => Ok(()),
        Some(_) | None => bail!("cargo-mutants ended with {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutated_file_is_there() {
        let root = tools::workspace().unwrap();
        for file in PARTS.iter().flat_map(|part| part.files) {
            let path = root.join(file.trim_end_matches("/**"));
            assert!(path.exists(), "{file}");
        }
    }
}
