//! `cargo xtask test`: runs the stages in order, stops at the first failure, says what took how long.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::localstack::Services;
use crate::output;
use crate::stages::Stage;
use crate::tools;

/// What a person may choose.
#[derive(clap::Args)]
pub(crate) struct TestOptions {
    /// Run this stage only; may be given more than once. The order stays the usual one.
    #[arg(long, value_name = "STAGE")]
    only: Vec<Stage>,
    /// Print the stages and their commands, and run nothing.
    #[arg(long)]
    list: bool,
}

/// What became of one stage.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

/// Lists or runs the chosen stages; the error names the stage that failed.
pub(crate) fn run(options: &TestOptions) -> Result<()> {
    let stages = chosen(&options.only);
    if options.list {
        output::line(&listing(&stages));
        return Ok(());
    }
    let root = tools::workspace()?;
    let began = Instant::now();
    let mut services = Services::default();
    let (endings, outcome) = run_each(&stages, |stage| stage.run(&root, &mut services));
    drop(services);
    output::line(&table(&endings, began.elapsed()));
    outcome
}

/// The stages in their own order; all of them when none is asked for.
fn chosen(only: &[Stage]) -> Vec<Stage> {
    let wanted = |stage: &Stage| only.is_empty() || only.contains(stage);
    let all = Stage::value_variants().iter().copied();
    all.filter(wanted).collect()
}

fn listing(stages: &[Stage]) -> String {
    let rows = stages
        .iter()
        .map(|stage| format!("{:<8} {}", stage.name(), stage.typed()));
    rows.collect::<Vec<_>>().join("\n")
}

/// Runs until one fails; the stages after it are told apart as not run.
fn run_each(
    stages: &[Stage],
    mut perform: impl FnMut(Stage) -> Result<()>,
) -> (Vec<(Stage, Ending)>, Result<()>) {
    let mut endings = Vec::new();
    let mut outcome = Ok(());
    for &stage in stages {
        let ending = if outcome.is_ok() {
            let (ending, result) = run_one(stage, &mut perform);
            outcome = result;
            ending
        } else {
            Ending::NotRun
        };
        endings.push((stage, ending));
    }
    (endings, outcome)
}

fn run_one(stage: Stage, perform: impl FnOnce(Stage) -> Result<()>) -> (Ending, Result<()>) {
    let name = stage.name();
    output::line(&format!("\n=== {name}: {}", stage.typed()));
    let began = Instant::now();
    let result = perform(stage).with_context(|| format!("stage `{name}` failed"));
    let took = began.elapsed();
    let (ending, word) = match &result {
        Ok(()) => (Ending::Passed(took), "passed"),
        Err(_) => (Ending::Failed(took), "FAILED"),
    };
    output::line(&format!(
        "=== {name}: {word} in {:.1} s",
        took.as_secs_f64()
    ));
    (ending, result)
}

fn table(endings: &[(Stage, Ending)], total: Duration) -> String {
    let mut table = String::from("\nstage     seconds");
    for (stage, ending) in endings {
        let row = match ending {
            Ending::Passed(took) => format!("{:>7.1}  passed", took.as_secs_f64()),
            Ending::Failed(took) => format!("{:>7.1}  FAILED", took.as_secs_f64()),
            Ending::NotRun => format!("{:>7}  not run", "-"),
        };
        append(&mut table, &stage.name(), &row);
    }
    append(
        &mut table,
        "total",
        &format!("{:>7.1}", total.as_secs_f64()),
    );
    table
}

fn append(table: &mut String, name: &str, row: &str) {
    // Writing into a String cannot fail.
    let _ = write!(table, "\n{name:<8}  {row}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn all_stages_run_unless_some_are_named_and_keep_their_order() {
        assert_eq!(chosen(&[]), Stage::value_variants());
        assert_eq!(
            chosen(&[Stage::Deny, Stage::Fmt, Stage::Deny]),
            [Stage::Fmt, Stage::Deny]
        );
    }

    #[test]
    fn the_first_failure_stops_the_run_and_is_named() {
        let mut ran = Vec::new();
        let (endings, outcome) = run_each(Stage::value_variants(), |stage| {
            ran.push(stage);
            if stage == Stage::Clippy {
                bail!("a lint")
            } else {
                Ok(())
            }
        });
        assert_eq!(ran, [Stage::Fmt, Stage::Infra, Stage::Clippy]);
        assert_eq!(
            format!("{:#}", outcome.unwrap_err()),
            "stage `clippy` failed: a lint"
        );
        let words: Vec<_> = endings.iter().map(|(_, ending)| word(ending)).collect();
        assert_eq!(words[..3], ["passed", "passed", "failed"]);
        assert!(words[3..].iter().all(|word| *word == "not run"));
    }

    fn word(ending: &Ending) -> &'static str {
        match ending {
            Ending::Passed(_) => "passed",
            Ending::Failed(_) => "failed",
            Ending::NotRun => "not run",
        }
    }

    #[test]
    fn the_table_lines_up() {
        let seconds = Duration::from_secs;
        let endings = [
            (Stage::Fmt, Ending::Passed(seconds(1))),
            (Stage::Clippy, Ending::Failed(seconds(61))),
            (Stage::Test, Ending::NotRun),
        ];
        let expected = "
stage     seconds
fmt           1.0  passed
clippy       61.0  FAILED
test            -  not run
total        62.0";
        assert_eq!(table(&endings, seconds(62)), expected);
    }

    #[test]
    fn the_list_names_every_command() {
        let listing = listing(&[Stage::Fmt, Stage::Deny]);
        assert_eq!(
            listing,
            "fmt      cargo fmt --all --check\n\
             deny     cargo-deny check bans licenses sources"
        );
    }
}
