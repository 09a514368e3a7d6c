//! Members woven into one tree, in their order: a verdict for each, and what the caller has to load and to send.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::attempt::{Fit, Stage};
use crate::group::{Group, Shares, groups, plan};
use crate::member::{Change, Member, Prepared, Work};
use crate::patch::FileDiff;
use crate::tree::{BlobId, Contents, Entry, Mode, Tree};
use crate::verdict::{Against, Clash, ClashKind, Conflict, Verdict};

/// As many members as a sprint may have.
pub const MEMBERS_MAX: usize = 60;

/// As many paths as a tree may have.
pub const PATHS_MAX: usize = 100_000;

/// In which order members are woven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By their files, as [`plan`] says.
    Planned,
    /// As they are given.
    Given,
}

/// Where a weave begins.
#[derive(Debug, Clone, Copy)]
pub struct Start<'s> {
    /// The newest tree of the target: a member that fails on it alone stands on a stale base.
    pub target: &'s Tree,
    /// What is woven so far: the target, or what an earlier part of the same weave made of it.
    pub woven: &'s Tree,
    /// The members that are in it.
    pub inside: &'s [Member],
}

impl<'s> Start<'s> {
    /// A weave that begins at the target.
    pub fn at(target: &'s Tree) -> Self {
        Self {
            target,
            woven: target,
            inside: &[],
        }
    }
}

/// Why a weave is not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// There are too many members.
    #[error("a weave has at most {MEMBERS_MAX} members: weave some of them first")]
    Members,
    /// The tree or a change has too many paths.
    #[error("a tree has at most {PATHS_MAX} paths: weave this repository with git")]
    Paths,
    /// A number is given twice.
    #[error("number {0} is given twice: give each once")]
    Twice(u64),
}

/// What became of one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its number.
    pub number: u64,
    /// What became of it.
    pub verdict: Verdict,
}

/// What came of a weave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woven {
    /// What was woven before, with all that is in now.
    pub tree: Tree,
    /// Contents that the tree or a conflict names and that the weave made: the caller sends them.
    pub made: Contents,
    /// A verdict for each member, in the order in which they were tried.
    pub outcomes: Vec<Outcome>,
    /// Which members share files.
    pub groups: Vec<Group>,
}

/// The members whose patches a weave may need: they change what another one changes too, or what the target changed.
pub fn needs_patches(start: Start<'_>, members: &[Member]) -> BTreeSet<u64> {
    let none = Contents::new();
    let prepare = |member| Prepared::new(member, start.target, &none);
    let inside: Vec<_> = start.inside.iter().map(prepare).collect();
    let prepared: Vec<_> = members.iter().map(prepare).collect();
    let contested = contested(start, &prepared, &inside);
    let is_contested = |member: &&Prepared<'_>| {
        let mut paths = member.paths().into_iter();
        paths.any(|path| contested.contains(path))
    };
    let needing = prepared.iter().filter(is_contested);
    needing.map(|member| member.member.number).collect()
}

/// The blobs whose contents a weave may need; what is not loaded becomes a conflict where it is needed.
pub fn needs(start: Start<'_>, members: &[Member]) -> BTreeSet<BlobId> {
    let none = Contents::new();
    let prepare = |member| Prepared::new(member, start.target, &none);
    let inside: Vec<_> = start.inside.iter().map(prepare).collect();
    let prepared: Vec<_> = members.iter().map(prepare).collect();
    let contested = contested(start, &prepared, &inside);
    let mut ids = BTreeSet::new();
    let mut need = |entry: Option<Entry>| {
        ids.extend(
            entry
                .filter(|it| it.mode != Mode::Submodule)
                .map(|it| it.id),
        );
    };
    let mut need_path = |path: &str| {
        [start.target, start.woven]
            .iter()
            .for_each(|tree| need(tree.get(path)))
    };
    contested.iter().for_each(|path| need_path(path));
    for member in &prepared {
        let is_patch = matches!(member.member.work, Work::Patch(_));
        let is_read = |file: &&FileDiff| {
            is_patch || file.action.changed().any(|path| contested.contains(path))
        };
        for file in member.files().iter().filter(is_read) {
            file.action.source().into_iter().for_each(&mut need_path);
        }
    }
    for member in prepared.iter().chain(&inside) {
        ids.extend(own_blobs(member, &contested));
    }
    ids.extend(
        members
            .iter()
            .flat_map(|member| &member.refused)
            .flat_map(shown),
    );
    ids.remove(&BlobId::ZERO);
    ids
}

/// The blobs of a member that others may have to be merged with, or that its index lines start from.
fn own_blobs<'b>(
    member: &'b Prepared<'_>,
    contested: &'b BTreeSet<&str>,
) -> impl Iterator<Item = BlobId> + 'b {
    let changed = member.changed.iter().flatten();
    let changed = changed.filter(|(path, _)| contested.contains(path.as_str()));
    let entries = changed
        .flat_map(|(_, change)| [change.before, change.after])
        .flatten();
    let blobs = entries
        .filter(|entry| entry.mode != Mode::Submodule)
        .map(|entry| entry.id);
    let is_patch = matches!(member.member.work, Work::Patch(_));
    let files = member
        .files()
        .iter()
        .filter(move |file| is_patch && file.old_mode != Some(Mode::Submodule));
    let starts = files.filter_map(|file| file.index.as_ref()?.full());
    blobs.chain(starts.map(|(old, _)| old))
}

/// The blobs that say what a member was shown.
fn shown(clash: &Clash) -> impl Iterator<Item = BlobId> {
    [clash.base, clash.ours, clash.theirs].into_iter().flatten()
}

/// Paths that several members change, or that are no more as they were at a member's merge base.
fn contested<'p>(
    start: Start<'_>,
    members: &'p [Prepared<'_>],
    inside: &'p [Prepared<'_>],
) -> BTreeSet<&'p str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in inside.iter().flat_map(Prepared::paths) {
        *counts.entry(path).or_default() += 1;
    }
    for member in members {
        for path in member.paths() {
            let known = member
                .changed
                .as_ref()
                .and_then(|changed| changed.get(path));
            let moved = known.is_some_and(|change: &Change| change.before != start.woven.get(path));
            *counts.entry(path).or_default() += if moved { 2 } else { 1 };
        }
    }
    counts
        .into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(path, _)| path)
        .collect()
}

/// Weaves members into a tree.
pub fn weave(
    start: Start<'_>,
    members: &[Member],
    order: Order,
    loaded: &Contents,
) -> Result<Woven, Excess> {
    check(start, members)?;
    let prepare = |member| Prepared::new(member, start.target, loaded);
    let inside: Vec<_> = start.inside.iter().map(prepare).collect();
    let prepared: Vec<_> = members.iter().map(prepare).collect();
    let shares: Vec<_> = prepared.iter().map(shares).collect();
    let (order, groups) = match order {
        Order::Planned => {
            let plan = plan(&shares);
            (plan.order, plan.groups)
        }
        Order::Given => ((0..members.len()).collect(), groups(&shares)),
    };
    let mut loom = Loom::new(start, loaded, &inside);
    let tried = order.into_iter().filter_map(|at| prepared.get(at));
    let outcomes = tried
        .map(|member| Outcome {
            number: member.member.number,
            verdict: loom.add(member),
        })
        .collect();
    Ok(loom.finish(outcomes, groups))
}

fn check(start: Start<'_>, members: &[Member]) -> Result<(), Excess> {
    if members.len() + start.inside.len() > MEMBERS_MAX {
        return Err(Excess::Members);
    }
    let too_many = |member: &Member| match &member.work {
        Work::Trees { changed, .. } => changed.len() > PATHS_MAX,
        Work::Patch(_) => false,
    };
    if start.woven.len().max(start.target.len()) > PATHS_MAX || members.iter().any(too_many) {
        return Err(Excess::Paths);
    }
    let mut numbers = BTreeSet::new();
    let all = start.inside.iter().chain(members);
    let twice = all
        .into_iter()
        .find(|member| !numbers.insert(member.number));
    twice.map_or(Ok(()), |member| Err(Excess::Twice(member.number)))
}

fn shares<'p>(member: &'p Prepared<'_>) -> Shares<'p> {
    Shares {
        number: member.member.number,
        was_in: member.member.was_in,
        paths: member.paths(),
    }
}

/// What is woven so far, and by which members.
struct Loom<'l, 'm> {
    target: &'l Tree,
    loaded: &'l Contents,
    tree: Tree,
    made: Contents,
    renamed: BTreeSet<String>,
    inside: Vec<&'l Prepared<'m>>,
}

impl<'l, 'm> Loom<'l, 'm> {
    fn new(start: Start<'l>, loaded: &'l Contents, inside: &'l [Prepared<'m>]) -> Self {
        Self {
            target: start.target,
            loaded,
            tree: start.woven.clone(),
            made: Contents::new(),
            renamed: inside.iter().flat_map(Prepared::renamed).collect(),
            inside: inside.iter().collect(),
        }
    }

    fn stage<'s>(&'s self, tree: &'s Tree) -> Stage<'s> {
        Stage {
            tree,
            loaded: self.loaded,
            made: &self.made,
            renamed: &self.renamed,
        }
    }

    fn add(&mut self, member: &'l Prepared<'m>) -> Verdict {
        if let Some(fault) = &member.fault {
            return Verdict::Unreadable(fault.clone());
        }
        match self.stage(&self.tree).fit(member) {
            Ok(fit) => self.take(member, fit),
            Err(clashes) => Verdict::Out(self.conflict(member, clashes)),
        }
    }

    fn take(&mut self, member: &'l Prepared<'m>, fit: Fit) -> Verdict {
        self.tree.apply(&fit.changes);
        self.made.extend(fit.made);
        self.renamed.extend(member.renamed());
        self.inside.push(member);
        Verdict::In {
            way: fit.way,
            files: fit.changes.len(),
        }
    }

    /// Tries a member alone on the base, to say against what it conflicts.
    fn conflict(&self, member: &Prepared<'_>, clashes: Vec<Clash>) -> Conflict {
        let alone = self.stage(self.target).fit(member);
        let is_of_members = member.member.begins_on_woven && self.come_from_members(&clashes);
        let against = match alone.is_ok() || is_of_members {
            true => Against::Members(self.rivals(member, &clashes)),
            false => Against::StaleBase,
        };
        Conflict { clashes, against }
    }

    /// Whether members who are in changed each of these places, and the target has not since they began.
    fn come_from_members(&self, clashes: &[Clash]) -> bool {
        let is_unmoved = |clash: &Clash, other: &Prepared<'_>| {
            let known = other.changed.as_ref();
            let change = known.and_then(|changed| changed.get(&clash.path));
            change.is_some_and(|it| it.before == self.target.get(&clash.path))
        };
        clashes
            .iter()
            .all(|clash| self.inside.iter().any(|other| is_unmoved(clash, other)))
    }

    /// Those who are in and changed the same lines; where that cannot be told, the same files.
    fn rivals(&self, member: &Prepared<'_>, clashes: &[Clash]) -> Vec<u64> {
        let near = |other: &&&Prepared<'_>| clashes.iter().any(|clash| touches(other, &clash.path));
        let near: Vec<_> = self.inside.iter().filter(near).collect();
        let stage = self.stage(&self.tree);
        let same = |clash: &Clash, other: &Prepared<'_>| {
            let lines = clash.kind == ClashKind::Lines;
            touches(other, &clash.path) && (!lines || stage.overlaps(member, other, &clash.path))
        };
        let exact = near
            .iter()
            .filter(|other| clashes.iter().any(|clash| same(clash, other)));
        let mut numbers: Vec<u64> = exact.map(|other| other.member.number).collect();
        if numbers.is_empty() {
            numbers = near.iter().map(|other| other.member.number).collect();
        }
        numbers.sort_unstable();
        numbers
    }

    fn finish(self, outcomes: Vec<Outcome>, groups: Vec<Group>) -> Woven {
        let out = outcomes
            .iter()
            .filter_map(|outcome| match &outcome.verdict {
                Verdict::Out(conflict) => Some(conflict),
                Verdict::In { .. } | Verdict::Unreadable(_) => None,
            });
        let mut named: BTreeSet<BlobId> = self.tree.iter().map(|(_, entry)| entry.id).collect();
        named.extend(out.flat_map(|conflict| &conflict.clashes).flat_map(shown));
        let made = self
            .made
            .into_iter()
            .filter(|(id, _)| named.contains(id))
            .collect();
        Woven {
            tree: self.tree,
            made,
            outcomes,
            groups,
        }
    }
}

/// Whether a member changes a path, or one that lies above or below it.
fn touches(member: &Prepared<'_>, path: &str) -> bool {
    let is_below = |path: &str, folder: &str| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    member
        .paths()
        .into_iter()
        .any(|own| own == path || is_below(own, path) || is_below(path, own))
}
