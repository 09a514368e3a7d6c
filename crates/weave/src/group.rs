//! In which order members are woven, and which of them share files.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::folders;

/// What the order depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares<'a> {
    /// The member's number.
    pub number: u64,
    /// Its place in the weave before, if it was in.
    pub was_in: Option<usize>,
    /// The paths that it changes.
    pub paths: BTreeSet<&'a str>,
}

/// Members that share files, directly or through others; one alone shares none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Their numbers, in the order of the weave.
    pub members: Vec<u64>,
    /// The paths that at least two of them change.
    pub shared: BTreeSet<String>,
}

/// The order of a weave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The members as positions in what was given, the first to be woven first.
    pub order: Vec<usize>,
    /// The groups in the order of their first members.
    pub groups: Vec<Group>,
}

/// Plans a weave: what was in before in its old order, then those alone, then groups with the least overlap first.
pub fn plan(members: &[Shares<'_>]) -> Plan {
    let overlaps = Overlaps::new(members);
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_cached_key(|at| overlaps.rank(members, *at));
    let groups = overlaps.groups(members, &order);
    Plan { order, groups }
}

/// The groups, for an order that is given.
pub fn groups(members: &[Shares<'_>]) -> Vec<Group> {
    let order: Vec<usize> = (0..members.len()).collect();
    Overlaps::new(members).groups(members, &order)
}

/// Which members share paths.
struct Overlaps<'a> {
    /// The first member of each member's group.
    roots: Vec<usize>,
    /// The shared paths of each member.
    shared: Vec<BTreeSet<&'a str>>,
    /// The shared paths of each group and its lowest number, by its first member.
    groups: BTreeMap<usize, (BTreeSet<&'a str>, u64)>,
}

impl<'a> Overlaps<'a> {
    fn new(members: &[Shares<'a>]) -> Self {
        let mut by_path: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (at, member) in members.iter().enumerate() {
            for path in &member.paths {
                by_path.entry(path).or_default().insert(at);
            }
        }
        let mut overlaps = Self {
            roots: (0..members.len()).collect(),
            shared: vec![BTreeSet::new(); members.len()],
            groups: BTreeMap::new(),
        };
        for (path, own) in &by_path {
            overlaps.share(path, own);
            // A file and a folder of one name are in each other's way.
            for above in folders(path).filter_map(|folder| by_path.get(folder)) {
                overlaps.share(path, &own.union(above).copied().collect());
            }
        }
        overlaps.sum_up(members);
        overlaps
    }

    fn sum_up(&mut self, members: &[Shares<'a>]) {
        for (at, member) in members.iter().enumerate() {
            let root = self.root(at);
            let own = self.shared.get(at).into_iter().flatten().copied();
            let none = || (BTreeSet::new(), member.number);
            let (shared, lowest) = self.groups.entry(root).or_insert_with(none);
            shared.extend(own);
            *lowest = member.number.min(*lowest);
        }
    }

    fn share(&mut self, path: &'a str, members: &BTreeSet<usize>) {
        let Some(first) = members.first().filter(|_| members.len() > 1) else {
            return;
        };
        for member in members {
            self.join(*first, *member);
            if let Some(shared) = self.shared.get_mut(*member) {
                shared.insert(path);
            }
        }
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if let Some(root) = self.roots.get_mut(one.max(other)) {
            *root = one.min(other);
        }
    }

    /// A member that is first points at itself, every other at an earlier one.
    fn root(&self, mut at: usize) -> usize {
        while let Some(next) = self.roots.get(at).filter(|next| **next < at) {
            at = *next;
        }
        at
    }

    fn rank(&self, members: &[Shares<'a>], at: usize) -> Rank {
        let Some(member) = members.get(at) else {
            return Rank::default();
        };
        let own = self.shared.get(at).map_or(0, BTreeSet::len);
        match member.was_in {
            Some(place) => (0, place, 0, 0, member.number),
            None if own == 0 => (1, member.paths.len(), 0, 0, member.number),
            None => {
                let group = self.groups.get(&self.root(at));
                let (overlap, lowest) =
                    group.map_or((0, 0), |(shared, lowest)| (shared.len(), *lowest));
                (2, overlap, lowest, own, member.number)
            }
        }
    }

    fn groups(&self, members: &[Shares<'a>], order: &[usize]) -> Vec<Group> {
        let mut groups: Vec<(usize, Group)> = Vec::new();
        for at in order {
            let root = self.root(*at);
            let Some(number) = members.get(*at).map(|member| member.number) else {
                continue;
            };
            match groups.iter_mut().find(|(other, _)| *other == root) {
                Some((_, group)) => group.members.push(number),
                None => {
                    let shared = self.groups.get(&root).into_iter();
                    let shared = shared.flat_map(|(shared, _)| shared);
                    let shared = shared.map(|path| (*path).to_owned()).collect();
                    groups.push((
                        root,
                        Group {
                            members: vec![number],
                            shared,
                        },
                    ));
                }
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

/// Class, overlap of the group or files, the group's lowest number, own overlap, number.
type Rank = (u8, usize, u64, usize, u64);
