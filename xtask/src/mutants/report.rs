//! The result of a run, beside the mutants that are known to be equivalent.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The page with the equivalent mutants and the last whole run.
pub(super) const PAGE: &str = "docs/mutants.md";

/// Where the figures of the last whole run begin; they go to the end of the page.
const LAST_RUN: &str = "## The last whole run\n";

/// What became of the mutants of one package. Mutants are named without their line, which moves.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) package: String,
    pub(super) caught: usize,
    /// With these the tests do not end, which is noticed anyway.
    pub(super) endless: usize,
    /// These are no programs.
    pub(super) unviable: usize,
    pub(super) equivalent: Vec<String>,
    pub(super) alive: Vec<String>,
}

impl Report {
    /// Reads what the tool left in a folder: `listed` are known to change nothing, `present` are all that there are now, with their places.
    pub(super) fn read(
        package: &str,
        folder: &Path,
        listed: &[String],
        present: &[String],
    ) -> Result<Self> {
        let present: BTreeSet<&str> = present.iter().map(String::as_str).collect();
        let lines = |name: &str| -> Result<Vec<String>> {
            let path = folder.join("mutants.out").join(name);
            let text =
                fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let there = text.lines().filter(|name| present.contains(name));
            // A run that went on from others names some of them twice.
            let once: BTreeSet<&str> = there.collect();
            Ok(once.into_iter().map(unplaced).collect())
        };
        // Only a run that goes on from an earlier one has this file; what does not build stands in it too.
        let earlier = lines("previously_caught.txt").unwrap_or_default();
        let (equivalent, alive) = told_apart(lines("missed.txt")?, listed);
        Ok(Self {
            package: package.to_owned(),
            caught: lines("caught.txt")?.len() + earlier.len(),
            endless: lines("timeout.txt")?.len(),
            unviable: lines("unviable.txt")?.len(),
            equivalent,
            alive,
        })
    }

    fn mutants(&self) -> usize {
        let lived = self.equivalent.len() + self.alive.len();
        self.caught + self.endless + self.unviable + lived
    }

    /// One row of the table.
    fn row(&self) -> String {
        format!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            self.package,
            self.mutants(),
            self.caught,
            self.endless,
            self.unviable,
            self.equivalent.len(),
            self.alive.len(),
        )
    }
}

pub(super) fn table(reports: &[Report]) -> String {
    let mut table = "| package | mutants | caught | endless | not programs | equivalent | alive |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n".to_owned();
    for report in reports {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{}", report.row());
    }
    table
}

/// The mutants that the page lists as equivalent, each as often as it stands there.
pub(super) fn listed(page: &str) -> Vec<String> {
    let names = page.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("- `")?.split_once('`')?;
        Some(name.to_owned())
    });
    names.collect()
}

/// The page with other figures.
pub(super) fn with_figures(page: &str, reports: &[Report]) -> String {
    let above = page.split(LAST_RUN).next().unwrap_or_default();
    format!("{above}{LAST_RUN}\n{}", table(reports))
}

/// Those that are listed as equivalent, and those that live.
fn told_apart(missed: Vec<String>, listed: &[String]) -> (Vec<String>, Vec<String>) {
    let mut left = listed.to_vec();
    missed.into_iter().partition(|name| {
        let at = left.iter().position(|listed| listed == name);
        at.map(|at| left.swap_remove(at)).is_some()
    })
}

/// A mutant's name without its line and column: `FILE:LINE:COLUMN: WHAT` becomes `FILE: WHAT`.
fn unplaced(name: &str) -> String {
    let split = || {
        let (place, what) = name.split_once(": ")?;
        let (place, _column) = place.rsplit_once(':')?;
        let (file, _line) = place.rsplit_once(':')?;
        Some(format!("{file}: {what}"))
    };
    split().unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Mutants\n\n- `a.rs: replace < with <= in f`: both say the same.\n\n## The last whole run\n\nold\n";

    fn found(folder: &Path, missed: &str) {
        let out = folder.join("mutants.out");
        fs::create_dir_all(&out).unwrap();
        for (name, text) in [
            ("caught.txt", "a.rs:1:2: x\nb.rs:1:2: y\n"),
            ("missed.txt", missed),
            ("timeout.txt", ""),
            ("unviable.txt", "a.rs:9:9: z\n"),
        ] {
            fs::write(out.join(name), text).unwrap();
        }
    }

    #[test]
    fn what_lives_is_told_from_what_changes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let same = "replace < with <= in f";
        let missed = format!("a.rs:7:1: {same}\na.rs:8:1: {same}\nc.rs:3:4: q\n");
        found(home.path(), &missed);
        let earlier = "a.rs:5:5: seen\na.rs:4:4: moved away\n";
        fs::write(
            home.path().join("mutants.out/previously_caught.txt"),
            earlier,
        )
        .unwrap();
        let mut present: Vec<String> = missed.lines().map(str::to_owned).collect();
        for name in [
            "a.rs:1:2: x",
            "b.rs:1:2: y",
            "a.rs:9:9: z",
            "a.rs:5:5: seen",
        ] {
            present.push(name.to_owned());
        }
        let listed = listed(PAGE);
        let report = Report::read("domain", home.path(), &listed, &present).unwrap();
        assert_eq!(report.equivalent, ["a.rs: replace < with <= in f"]);
        assert_eq!(report.alive, ["a.rs: replace < with <= in f", "c.rs: q"]);
        assert_eq!(report.row(), "| domain | 7 | 3 | 0 | 1 | 1 | 2 |");
        fs::remove_file(home.path().join("mutants.out/missed.txt")).unwrap();
        assert!(Report::read("domain", home.path(), &listed, &present).is_err());
    }

    #[test]
    fn figures_are_replaced_and_the_list_stays() {
        let page = with_figures(PAGE, &[Report::default()]);
        assert_eq!(listed(&page), listed(PAGE));
        assert!(
            page.contains("| alive |") && !page.contains("old"),
            "{page}"
        );
        assert_eq!(with_figures(&page, &[Report::default()]), page);
    }
}
