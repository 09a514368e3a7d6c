//! The stages of `cargo xtask test`: which there are, in which order, and what each one runs.
//!
//! No stage touches `RUSTFLAGS`: a change of it would compile every dependency again.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::browser;
use crate::cargo::{WHOLE, forget_outer_package};
use crate::deployed;
use crate::localstack::Services;
use crate::peers;
use crate::tools::{self, python};

/// The stories that also run on DynamoDB and SQS, one a line: one for each kind of record and message, since the contract suite
/// proves the adapters. `GAFFER_TESTS_ON=aws` with any other name runs others there.
const TOLD_ON_AWS: &str = include_str!("../../tests/aws/stories.txt");

/// How many tests run at once, on two cores: many of them wait for processes, whose time is real.
const AT_ONCE: &str = "3";

/// With which cases properties are tested: the same in each run, so that a failure belongs to the change that was made.
/// `cargo test` alone draws others each time.
const SEED: &str = "26";

/// One stage, named on the command line by its lower-case name; quick ones that fail often come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// Formatting.
    Fmt,
    /// The templates of the deployment.
    Infra,
    /// Lints, with warnings as errors.
    Clippy,
    /// Every test. There are no doc tests, and asking each crate for some takes a minute.
    Test,
    /// The dashboard in a browser.
    Browser,
    /// Stories told through the functions, on DynamoDB and SQS.
    Aws,
    /// The functions themselves, deployed.
    Deployed,
    /// The documentation of all items, with warnings as errors.
    Doc,
    /// Licences, banned crates and sources of the dependencies.
    Deny,
}

impl Stage {
    /// The name that is printed and that `--only` takes.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The command line, program first.
    pub(crate) fn command_line(self) -> &'static [&'static str] {
        match self {
            Stage::Fmt => &["cargo", "fmt", "--all", "--check"],
            Stage::Clippy => &[
                "cargo",
                "clippy",
                "--workspace",
                "--all-targets",
                // Other stages leave it out, as a first build does.
                "--features",
                "cli/aws",
                "--",
                "-D",
                "warnings",
            ],
            Stage::Infra => &["cfn-lint", "infra/foundation.yaml", "infra/triggers.yaml"],
            // `deployed` has a stage and services of its own.
            Stage::Test => &[
                "cargo",
                "test",
                "--workspace",
                "--exclude",
                "deployed",
                // Without the binaries that say `test = false`, which have no tests.
                "--tests",
                "--no-fail-fast",
            ],
            // The workspace is named in all three, so that none compiles again what another has compiled with other features.
            Stage::Deployed => &["cargo", "test", "--workspace", "--test", "deployed"],
            Stage::Aws => &[
                "cargo",
                "test",
                "--workspace",
                "--exclude",
                "deployed",
                "--test",
                "it",
                "--",
                "--exact",
            ],
            Stage::Browser => &["node", "tests/browser/main.mjs"],
            Stage::Doc => &[
                "cargo",
                "doc",
                "--workspace",
                "--no-deps",
                "--document-private-items",
            ],
            Stage::Deny => &["cargo-deny", "check", "bans", "licenses", "sources"],
        }
    }

    /// What the stage adds to the environment.
    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Stage::Doc => &[("RUSTDOCFLAGS", "-D warnings")],
            Stage::Test => &[("RUST_TEST_THREADS", AT_ONCE), ("PROPTEST_RNG_SEED", SEED)],
            Stage::Aws => &[("GAFFER_TESTS_ON", "aws")],
            Stage::Fmt
            | Stage::Infra
            | Stage::Clippy
            | Stage::Browser
            | Stage::Deployed
            | Stage::Deny => &[],
        }
    }

    /// What else it names, too much to be printed.
    fn names(self) -> impl Iterator<Item = &'static str> {
        let names = match self {
            Stage::Aws => TOLD_ON_AWS,
            Stage::Fmt
            | Stage::Infra
            | Stage::Clippy
            | Stage::Test
            | Stage::Browser
            | Stage::Deployed
            | Stage::Doc
            | Stage::Deny => "",
        };
        names.lines()
    }

    /// What a person would type to run the stage alone.
    pub(crate) fn typed(self) -> String {
        let environment = self
            .environment()
            .iter()
            .map(|(name, value)| format!("{name}={value:?} "));
        environment.collect::<String>() + &self.command_line().join(" ")
    }

    /// Where the services are that the tests ask for. They run until the last stage is over.
    fn places(self, services: &mut Services, root: &Path) -> Result<Vec<(&'static str, String)>> {
        match self {
            Stage::Test => {
                let mut places = services.behind_one_door(root)?;
                places.extend(peers::places(root)?);
                Ok(places)
            }
            Stage::Browser => browser::places(root),
            Stage::Aws => services.each_by_its_own_door(root),
            Stage::Fmt
            | Stage::Infra
            | Stage::Clippy
            | Stage::Deployed
            | Stage::Doc
            | Stage::Deny => Ok(Vec::new()),
        }
    }

    /// Runs the stage in `root`; its output goes straight through.
    pub(crate) fn run(self, root: &Path, services: &mut Services) -> Result<()> {
        let [program, arguments @ ..] = self.command_line() else {
            bail!("the stage has no command");
        };
        let mut command = match self {
            Stage::Deny => Command::new(tools::cargo_deny(root)?),
            Stage::Infra => python::program(&python::cfn_lint(root)?, program),
            Stage::Fmt
            | Stage::Clippy
            | Stage::Test
            | Stage::Browser
            | Stage::Aws
            | Stage::Deployed
            | Stage::Doc => Command::new(program),
        };
        forget_outer_package(&mut command);
        command.envs(self.places(services, root)?);
        let set = (self == Stage::Deployed).then(|| deployed::set(root));
        // What it runs on ends with the stage.
        let set = set.transpose()?;
        if let Some(set) = &set {
            command.envs(set.environment());
        }
        command
            .args(arguments)
            .args(self.names())
            .envs(self.environment().iter().copied())
            .env(WHOLE.0, WHOLE.1)
            .current_dir(root);
        let status = command
            .status()
            .with_context(|| format!("starting `{program}`"))?;
        if !status.success() {
            bail!("`{}` ended with {status}", self.typed());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_reads_as_a_person_would_type_it() {
        assert_eq!(
            Stage::Doc.typed(),
            "RUSTDOCFLAGS=\"-D warnings\" \
             cargo doc --workspace --no-deps --document-private-items"
        );
        assert_eq!(Stage::Fmt.typed(), "cargo fmt --all --check");
    }

    #[test]
    fn no_stage_changes_rustflags() {
        for stage in Stage::value_variants() {
            let names = stage.environment().iter().map(|(name, _)| *name);
            assert_eq!(names.filter(|name| name.contains("RUSTFLAGS")).count(), 0);
        }
    }
}
