//! Several seeds, some at the same time, each in a process of its own; and the table of where they killed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::command_line::SeedsArgs;
use crate::moment::{KillPlace, Kind, Moment};
use crate::plan::SEEDS;
use crate::report::{Report, command};
use crate::{outage, output};

/// What the columns of the table of kills are called.
const HEAD: [&str; 4] = ["KILLED", "BEFORE", "AFTER", "SETTLING"];

/// What a run of seeds came to.
#[derive(Serialize)]
struct Summary {
    seeds: usize,
    merged: u64,
    deaths: usize,
    faults: usize,
    /// How often which fault struck.
    struck: BTreeMap<String, usize>,
    slowest_seconds: f64,
    /// How often the process was killed at each moment.
    moments: BTreeMap<String, usize>,
    /// Moments at which it was never killed, and lasting faults that never struck.
    missed: Vec<String>,
    /// By seed, what was done twice, lost or done wrong.
    violations: BTreeMap<u64, Vec<String>>,
    /// By seed, why it says nothing: its process came to no end, or the stage did not bring about what it should.
    unplayed: BTreeMap<u64, String>,
}

/// What one seed's process came to.
type Played = (u64, Result<Report>);

/// Plays the seeds.
pub(crate) async fn run(args: &SeedsArgs) -> Result<()> {
    let turns = Arc::new(Semaphore::new(args.at_once.into()));
    let mut playing = JoinSet::new();
    for seed in (0..args.count).map(|n| args.from.wrapping_add(n)) {
        let turns = turns.clone();
        playing.spawn(async move {
            // The semaphore is never closed.
            let _turn = turns.acquire().await;
            (seed, play(seed).await)
        });
    }
    let mut played = Vec::new();
    while let Some(one) = playing.join_next().await {
        let one = one.context("playing a seed")?;
        if !args.json {
            tell(&one)?;
        }
        let broken = one.1.as_ref().is_ok_and(|it| !it.violations.is_empty());
        played.push(one);
        if broken && args.until_failure {
            break;
        }
    }
    playing.shutdown().await;
    let summary = Summary::of(&played);
    if args.json {
        output::json_line(&summary)?;
    } else {
        output::line(&summary.lines().join("\n"))?;
    }
    summary.verdict()
}

/// Plays one seed in a process of its own.
async fn play(seed: u64) -> Result<Report> {
    let output = Command::new(std::env::current_exe().context("finding chaos")?)
        .args(["seed", "--json", &seed.to_string()])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .context("playing a seed")?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().last().map(serde_json::from_str::<Report>) {
        Some(Ok(report)) => Ok(report),
        Some(Err(_)) | None => bail!("{}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}

fn tell((seed, outcome): &Played) -> Result<()> {
    let text = match outcome {
        Ok(Report {
            violations,
            unstaged: Some(unstaged),
            ..
        }) if violations.is_empty() => format!("seed {seed}: SAYS NOTHING: {unstaged}"),
        Ok(it) if it.violations.is_empty() => format!(
            "seed {seed}: merged {} of {}, killed {} times ({}), {} faults, {} s",
            it.merged,
            it.jobs,
            it.deaths,
            it.moments.join(", "),
            it.faults.values().sum::<usize>(),
            it.seconds
        ),
        Ok(it) => format!("seed {seed}: FAILED: {}", it.violations.join("; ")),
        Err(error) => format!("seed {seed}: SAYS NOTHING: {error:#}"),
    };
    Ok(output::line(&text)?)
}

/// Each fault with its number, as one sentence.
fn told(struck: &BTreeMap<String, usize>) -> String {
    let each: Vec<_> = struck
        .iter()
        .map(|(fault, times)| format!("{fault} {times}"))
        .collect();
    each.join(", ")
}

impl Summary {
    fn of(played: &[Played]) -> Self {
        let reports = || played.iter().filter_map(|(_, it)| it.as_ref().ok());
        let mut moments: BTreeMap<String, usize> = BTreeMap::new();
        for moment in reports().flat_map(|it| &it.moments) {
            *moments.entry(moment.clone()).or_default() += 1;
        }
        let mut struck: BTreeMap<String, usize> = BTreeMap::new();
        for (fault, times) in reports().flat_map(|it| &it.faults) {
            *struck.entry(fault.clone()).or_default() += times;
        }
        let missed = Moment::all()
            .map(|moment| moment.to_string())
            .filter(|moment| !moments.contains_key(moment));
        let calm = outage::KINDS
            .map(str::to_owned)
            .into_iter()
            .filter(|fault| !struck.contains_key(fault));
        let missed = missed.chain(calm).collect();
        let wrong = |(seed, outcome): &Played| {
            let report = outcome.as_ref().ok()?;
            let wrong = !report.violations.is_empty();
            wrong.then(|| (*seed, report.violations.clone()))
        };
        let unplayed = |(seed, outcome): &Played| match outcome {
            Ok(it) => Some((*seed, it.unstaged.clone()?)),
            Err(error) => Some((*seed, format!("{error:#}"))),
        };
        Self {
            seeds: played.len(),
            merged: reports().map(|it| it.merged).sum(),
            deaths: reports().map(|it| it.deaths).sum(),
            faults: struck.values().sum(),
            struck,
            slowest_seconds: reports().map(|it| it.seconds).fold(0.0, f64::max),
            moments,
            missed,
            violations: played.iter().filter_map(wrong).collect(),
            unplayed: played.iter().filter_map(unplayed).collect(),
        }
    }

    /// What people read: the table of kills, and the figures.
    fn lines(&self) -> Vec<String> {
        let mut lines = self.table();
        lines.extend([
            format!("Faults that struck: {}.", told(&self.struck)),
            format!(
                "{} pull requests merged, {} kills, {} faults, the slowest seed {} s.",
                self.merged, self.deaths, self.faults, self.slowest_seconds
            ),
            format!("{} of {} seeds held", self.held(), self.seeds),
        ]);
        lines
    }

    /// How often the process was killed at each moment, in columns.
    fn table(&self) -> Vec<String> {
        let cell = |kind, place| {
            let moment = Moment { kind, place }.to_string();
            self.moments
                .get(&moment)
                .map_or_else(String::new, usize::to_string)
        };
        let row = |kind: &Kind| {
            let [before, after, settling] = KillPlace::ALL.map(|place| cell(*kind, place));
            [kind.to_string(), before, after, settling]
        };
        let mut rows = vec![HEAD.map(str::to_owned)];
        rows.extend(Kind::all().iter().map(row));
        let widest = |column: usize| rows.iter().map(|row| row[column].len()).max();
        let widths = [0, 1, 2, 3].map(|column| widest(column).unwrap_or_default());
        let line = |row: &[String; 4]| {
            let cells = row.iter().zip(widths);
            let cells: Vec<_> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            cells.join("  ").trim_end().to_owned()
        };
        rows.iter().map(line).collect()
    }

    /// How many seeds showed what they should and nothing else.
    fn held(&self) -> usize {
        // A seed may both break something and leave its stage unfinished.
        let failed: BTreeSet<_> = self.violations.keys().chain(self.unplayed.keys()).collect();
        self.seeds - failed.len()
    }

    fn verdict(&self) -> Result<()> {
        if let Some((seed, wrong)) = self.violations.iter().next() {
            bail!(
                "{} seeds failed; the first is {seed}: {}; play it again with `{}`",
                self.violations.len(),
                wrong.join("; "),
                command(*seed)
            );
        }
        if let Some((seed, why)) = self.unplayed.iter().next() {
            bail!(
                "{} seeds say nothing; the first is {seed}: {why}; play it again with `{}`",
                self.unplayed.len(),
                command(*seed)
            );
        }
        // Fewer seeds cannot fill the table.
        if self.seeds as u64 >= SEEDS && !self.missed.is_empty() {
            bail!("no seed had {}", self.missed.join(", "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(seed: u64, violations: &[&str], unstaged: Option<&str>) -> Played {
        let report = Report {
            seed,
            jobs: 6,
            merged: 5,
            deaths: 0,
            moments: Vec::new(),
            faults: BTreeMap::new(),
            sessions: 6,
            messages: 0,
            wakes: 0,
            virtual_seconds: 60,
            seconds: 1.5,
            violations: violations.iter().map(|it| (*it).to_owned()).collect(),
            unstaged: unstaged.map(str::to_owned),
        };
        (seed, Ok(report))
    }

    #[test]
    fn the_table_ends_with_how_many_seeds_held() {
        let held = [played(1, &[], None), played(2, &[], None)];
        let lines = Summary::of(&held).lines();
        assert_eq!(lines.last().unwrap(), "2 of 2 seeds held");
        assert_eq!(lines[0], "KILLED             BEFORE  AFTER  SETTLING");

        let some = [
            played(1, &[], None),
            played(2, &["a wake was lost"], Some("no duplicate")),
            (3, Err(anyhow::anyhow!("it did not end"))),
        ];
        let lines = Summary::of(&some).lines();
        assert_eq!(lines.last().unwrap(), "1 of 3 seeds held");
    }
}
