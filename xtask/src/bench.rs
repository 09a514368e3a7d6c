//! `cargo xtask bench`: builds the package `bench` in an optimised profile, fetches what it is compared with, and runs it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::cargo::forget_outer_package;
use crate::localstack::Services;
use crate::tools::programs::{self, CURL, GIT, NODE, NPM, PIP, Program, VALGRIND};
use crate::tools::python;
use crate::{output, tools};

/// Optimised like a release, but without the optimisation at link time that takes minutes.
const PROFILE: &str = "measure";

/// Where the last report is kept.
const KEPT: &str = "docs/bench.md";

/// The section that needs the functions.
const FUNCTIONS: &str = "functions";

/// The section that plays on LocalStack.
const COST: &str = "cost";

/// The sections whose repositories have files, which the sandbox keeps in git.
const FILES: &str = "files";
const WEAVE: &str = "weave";

/// The functions, and the smallest one there can be.
const BUILT: [&str; 5] = [
    "poller",
    "dispatcher",
    "webhook",
    "api-function",
    "hello-function",
];

/// What stands above a kept report.
const HEADING: &str = "# Figures\n\nThe last report of `cargo xtask bench --keep`, as CONTRIBUTING.md explains it.\nFigures are printed, never asserted.\n\n";

/// What a person may choose.
#[derive(clap::Args)]
pub(crate) struct BenchOptions {
    /// Print one JSON object instead of a table.
    #[arg(long, conflicts_with = "keep")]
    json: bool,
    /// Keep the report as docs/bench.md too.
    #[arg(long, conflicts_with_all = ["only", "jobs"])]
    keep: bool,
    /// Measure this section only; may be given more than once: webhook, polls, detection, requests, functions, cost, files, mail, weave.
    #[arg(long, value_name = "SECTION")]
    only: Vec<String>,
    /// Jobs of each simulation.
    #[arg(long, value_name = "N")]
    jobs: Option<u32>,
}

/// Builds and measures.
pub(crate) fn run(options: &BenchOptions) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("finding the workspace above xtask")?;
    programs::must_be_there(&options.programs(root))?;
    let octokit = tools::octokit_webhooks(root)?;
    let functions = if options.wants(FUNCTIONS) {
        functions(root)?
    } else {
        Vec::new()
    };
    let mut services = Services::default();
    let places = if options.wants(COST) {
        services.each_by_its_own_door(root)?
    } else {
        Vec::new()
    };
    let mut command = Command::new("cargo");
    forget_outer_package(&mut command);
    command
        .envs(places)
        .args(["run", "--profile", PROFILE, "--package", "bench", "--"])
        .args(["--profile", PROFILE, "--octokit"])
        .arg(octokit)
        .args(functions)
        .args(options.passed_on())
        .current_dir(root);
    if !options.keep {
        let status = command.status().context("starting `cargo`")?;
        ensure!(status.success(), "measuring ended with {status}");
        return Ok(());
    }
    let found = command
        .stderr(Stdio::inherit())
        .output()
        .context("starting `cargo`")?;
    if !found.status.success() {
        bail!("measuring ended with {}", found.status);
    }
    let report = String::from_utf8(found.stdout).context("reading the report")?;
    output::line(report.trim_end());
    let kept = root.join(KEPT);
    fs::write(&kept, format!("{HEADING}{report}"))
        .with_context(|| format!("writing {}", kept.display()))
}

/// Fetches the other runtime clients, and builds the functions as cargo-lambda does, which adds one setting to the profile; returns where
/// everything is.
fn functions(root: &Path) -> Result<Vec<OsString>> {
    let (of_python, of_node) = (python::awslambdaric(root)?, tools::aws_lambda_ric(root)?);
    let mut command = Command::new("cargo");
    forget_outer_package(&mut command);
    command
        .args(["build", "--release", "--config"])
        .arg("profile.release.panic='abort'")
        .args(BUILT.iter().flat_map(|package| ["--package", package]))
        .current_dir(root);
    let status = command.status().context("starting `cargo`")?;
    ensure!(
        status.success(),
        "building the functions ended with {status}"
    );
    let this = env::current_exe().context("finding where cargo builds")?;
    let target = this
        .ancestors()
        .nth(2)
        .context("finding where cargo builds")?;
    let places = [
        ("--functions", target.join("release")),
        ("--awslambdaric", of_python),
        ("--aws-lambda-ric", of_node),
    ];
    let named = |(name, place): (&str, PathBuf)| [name.into(), place.into_os_string()];
    Ok(places.into_iter().flat_map(named).collect())
}

impl BenchOptions {
    /// The programs of this machine that the wanted sections need: what is missing is named before anything is built.
    fn programs(&self, root: &Path) -> Vec<Program> {
        let mut needed = vec![NODE, NPM];
        if self.wants(FUNCTIONS) {
            needed.extend([PIP, VALGRIND]);
            needed.extend(tools::compilers(root));
        }
        if self.wants(COST) {
            needed.extend(Services::programs());
        }
        if self.wants(FILES) || self.wants(WEAVE) {
            needed.push(GIT);
        }
        if self.wants(WEAVE) {
            needed.push(CURL);
        }
        needed
    }

    fn wants(&self, section: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == section)
    }

    fn passed_on(&self) -> Vec<String> {
        let json = self.json.then(|| "--json".to_owned());
        let only = self.only.iter().map(|section| format!("--only={section}"));
        let jobs = self.jobs.map(|jobs| format!("--jobs={jobs}"));
        json.into_iter().chain(only).chain(jobs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(section: &str) -> BenchOptions {
        BenchOptions {
            json: false,
            keep: false,
            only: vec![section.to_owned()],
            jobs: None,
        }
    }

    #[test]
    fn a_section_needs_its_own_programs_only() {
        let root = tempfile::tempdir().unwrap();
        let needs = |section: &str| only(section).programs(root.path());
        assert_eq!(needs("polls"), [NODE, NPM]);
        assert_eq!(needs("weave"), [NODE, NPM, GIT, CURL]);
        let compilers = tools::compilers(root.path());
        assert!(!compilers.is_empty());
        assert_eq!(
            needs("functions"),
            [vec![NODE, NPM, PIP, VALGRIND], compilers].concat()
        );
    }

    #[test]
    fn what_a_person_chose_is_passed_on() {
        let options = BenchOptions {
            json: true,
            keep: false,
            only: vec!["polls".to_owned(), "webhook".to_owned()],
            jobs: Some(100),
        };
        assert_eq!(
            options.passed_on(),
            ["--json", "--only=polls", "--only=webhook", "--jobs=100"]
        );
    }
}
