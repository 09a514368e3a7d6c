//! Counts what reached GitHub: what was counted against the budget by kind and answer, and what was free.

use std::collections::{BTreeMap, BTreeSet};

use sandbox::Logged;

use crate::figure::Figure;

const SECTION: &str = "requests";

/// What the secondary limit charges for a write; a read is one point.
const WRITE_POINTS: u32 = 5;

/// What a request was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Pull,
    Runs,
    Statuses,
    Reviews,
    Files,
    Demands,
    Branch,
    Logs,
    Write,
    Other,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Pull,
        Self::Runs,
        Self::Statuses,
        Self::Reviews,
        Self::Files,
        Self::Demands,
        Self::Branch,
        Self::Logs,
        Self::Write,
        Self::Other,
    ];

    fn from_request(request: &Logged) -> Self {
        let path = request.path.split('?').next().unwrap_or_default();
        if path == "/graphql" {
            return Self::Branch;
        }
        if request.method != "GET" {
            return Self::Write;
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').skip(3).collect();
        match parts.as_slice() {
            ["pulls", _] => Self::Pull,
            ["commits", _, "check-runs"] => Self::Runs,
            ["commits", _, "status"] => Self::Statuses,
            ["pulls", _, "reviews"] => Self::Reviews,
            ["pulls", _, "files"] => Self::Files,
            ["rules", ..] | ["branches", ..] | ["compare", ..] => Self::Demands,
            ["pulls"] | ["git", ..] => Self::Branch,
            ["actions", ..] | ["check-runs", ..] => Self::Logs,
            _ => Self::Other,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Pull => "the pull request itself",
            Self::Runs => "check runs",
            Self::Statuses => "commit statuses",
            Self::Reviews => "reviews",
            Self::Files => "changed files",
            Self::Demands => "what the base demands",
            Self::Branch => "the branch before it is deleted, by GraphQL",
            Self::Logs => "logs of failed checks and clues to missing ones",
            Self::Write => "writes",
            Self::Other => "others",
        }
    }
}

/// What a log comes to.
pub(super) struct Count {
    merges: u32,
    all: u32,
    free: u32,
    writes: u32,
    repeats: u32,
    /// By kind and by the status answered.
    by: BTreeMap<(Kind, u16), u32>,
}

impl Count {
    pub(super) fn from_log(log: &[Logged]) -> Self {
        let count = |holds: &dyn Fn(&Logged) -> bool| {
            u32::try_from(log.iter().filter(|it| holds(it)).count()).unwrap_or(u32::MAX)
        };
        let merged = |it: &Logged| it.path.ends_with("/merge") && it.status == 200;
        let mut by = BTreeMap::new();
        for request in log {
            *by.entry((Kind::from_request(request), request.status))
                .or_default() += 1;
        }
        Self {
            merges: count(&merged),
            all: count(&|_| true),
            free: count(&|it| it.status == 304),
            writes: count(&|it| Kind::from_request(it) == Kind::Write),
            repeats: repeats(log),
            by,
        }
    }

    /// How many pull requests were merged.
    pub(super) fn merged(&self) -> u32 {
        self.merges
    }

    fn counted(&self) -> u32 {
        self.all - self.free
    }

    /// Per cent of the reads of an address that had been read before.
    fn share(&self) -> f64 {
        f64::from(self.free) * 100.0 / f64::from(self.repeats.max(1))
    }

    fn points(&self) -> u32 {
        self.all - self.writes + self.writes * WRITE_POINTS
    }

    /// Every request of one pull request, by kind and answer.
    pub(super) fn listed(&self, name: &str) -> Vec<Figure> {
        let one = |what: &str, requests: u32| {
            let name = format!("{name}: {what}");
            Figure::new(SECTION, name, f64::from(requests), "requests")
        };
        let mut figures = vec![
            one("counted requests (a 304 is free)", self.counted()),
            one("reads answered 304", self.free),
        ];
        for ((kind, status), requests) in &self.by {
            figures.push(one(&format!("{}, {status}", kind.words()), *requests));
        }
        figures
    }

    /// The same for each merged pull request of many.
    pub(super) fn averaged(&self, name: &str) -> Vec<Figure> {
        let each = |what: &str, requests: u32| {
            let value = f64::from(requests) / f64::from(self.merges.max(1));
            Figure::new(SECTION, format!("{name}: {what}"), value, "/merged PR")
        };
        let plain = |what: &str, value: f64, unit| {
            Figure::new(SECTION, format!("{name}: {what}"), value, unit)
        };
        let mut figures = vec![
            each("counted requests (a 304 is free)", self.counted()),
            each("points (a read 1, also a 304; a write 5)", self.points()),
            plain("repeats answered 304", self.share(), "%"),
        ];
        for kind in Kind::ALL {
            let of_kind = self
                .by
                .iter()
                .filter(|((of, status), _)| *of == kind && *status != 304);
            let counted = of_kind.map(|(_, requests)| requests).sum();
            figures.push(each(&format!("of these {}", kind.words()), counted));
        }
        figures.extend([
            each("reads answered 304", self.free),
            plain("merged pull requests", f64::from(self.merges), "PRs"),
        ]);
        figures
    }
}

/// Reads of an address that was read before.
fn repeats(log: &[Logged]) -> u32 {
    let mut known = BTreeSet::new();
    let reads = log.iter().filter(|it| it.method == "GET");
    let again = reads.filter(|it| !known.insert(it.path.as_str())).count();
    u32::try_from(again).unwrap_or(u32::MAX)
}
