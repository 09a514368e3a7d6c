//! One member tried on what is woven so far: in one of four ways, whole or not at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::answered;
use crate::apply::{Refusal, apply, apply_files, misfit};
use crate::member::{Change, Prepared};
use crate::patch::FileDiff;
use crate::three_way::{Merged, Place, Unmergeable, merge};
use crate::tree::{BlobId, Changes, Contents, Entry, Mode, Tree};
use crate::verdict::{Clash, ClashKind, Lines, Way};

/// What is woven so far.
pub(crate) struct Stage<'s> {
    pub(crate) tree: &'s Tree,
    /// Contents that the caller loaded.
    pub(crate) loaded: &'s Contents,
    /// Contents that the weave made.
    pub(crate) made: &'s Contents,
    /// Paths that members who are in renamed.
    pub(crate) renamed: &'s BTreeSet<String>,
}

/// How a member comes in, and what that changes.
pub(crate) struct Fit {
    pub(crate) way: Way,
    pub(crate) changes: Changes,
    pub(crate) made: Contents,
}

/// What becomes of one path in a three-way merge.
struct Resolved {
    entry: Option<Entry>,
    made: Option<Vec<u8>>,
    answered: bool,
}

/// What a path conflicts in.
struct Misfit {
    kind: ClashKind,
    lines: Vec<Lines>,
}

impl Misfit {
    fn plain(kind: ClashKind) -> Self {
        Self {
            kind,
            lines: Vec::new(),
        }
    }
}

impl Resolved {
    fn plain(entry: Option<Entry>) -> Self {
        Self {
            entry,
            made: None,
            answered: false,
        }
    }
}

impl Stage<'_> {
    /// Tries each way in turn.
    pub(crate) fn fit(&self, member: &Prepared<'_>) -> Result<Fit, Vec<Clash>> {
        let Some(changed) = &member.changed else {
            return self.patch_alone(member);
        };
        if let Some(fit) = self.taken(member, changed) {
            return Ok(fit);
        }
        match self.applied(member, changed) {
            Some(fit) => Ok(fit),
            None => self.three_way(member, changed),
        }
    }

    pub(crate) fn find<'f>(&'f self, member: &'f Prepared<'_>, id: BlobId) -> Option<&'f [u8]> {
        let empty = (id == BlobId::EMPTY).then_some(&[][..]);
        let found = self
            .made
            .get(&id)
            .or_else(|| self.loaded.get(&id))
            .or_else(|| member.own.get(&id));
        found.map(Vec::as_slice).or(empty)
    }

    /// All its paths are as they were at its merge base: its blobs are used as they are.
    fn taken(&self, member: &Prepared<'_>, changed: &BTreeMap<String, Change>) -> Option<Fit> {
        let same = changed
            .iter()
            .all(|(path, change)| self.tree.get(path) == change.before);
        let changes: Changes = changed
            .iter()
            .map(|(path, change)| (path.clone(), change.after))
            .collect();
        let fits = same && misfit(self.tree, &changes).is_none();
        fits.then(|| Fit {
            way: Way::Taken,
            changes,
            made: member.own.clone(),
        })
    }

    /// Its patch applies; where its paths are as they were, that gives its own blobs.
    fn applied(&self, member: &Prepared<'_>, changed: &BTreeMap<String, Change>) -> Option<Fit> {
        member.patch.as_ref()?;
        let contested: BTreeSet<&str> = self.contested(changed);
        let is_contested =
            |file: &FileDiff| file.action.changed().any(|path| contested.contains(path));
        let read = |id: BlobId| self.find(member, id);
        let mut applied = apply_files(member.files(), &is_contested, self.tree, &read).ok()?;
        for (path, change) in changed {
            applied.changes.entry(path.clone()).or_insert(change.after);
        }
        let fits = misfit(self.tree, &applied.changes).is_none();
        applied.made.extend(member.own.clone());
        fits.then_some(Fit {
            way: Way::Applied,
            changes: applied.changes,
            made: applied.made,
        })
    }

    fn contested<'c>(&self, changed: &'c BTreeMap<String, Change>) -> BTreeSet<&'c str> {
        let contested = changed
            .iter()
            .filter(|(path, change)| self.tree.get(path) != change.before);
        contested.map(|(path, _)| path.as_str()).collect()
    }

    /// All that is known is a patch: it applies or it does not.
    fn patch_alone(&self, member: &Prepared<'_>) -> Result<Fit, Vec<Clash>> {
        let read = |id: BlobId| self.find(member, id);
        let applied = member
            .patch
            .as_ref()
            .map(|patch| apply(patch, self.tree, &read));
        match applied {
            Some(Ok(applied)) => Ok(Fit {
                way: Way::Applied,
                changes: applied.changes,
                made: applied.made,
            }),
            Some(Err(refused)) => {
                let ours = self.tree.get(&refused.path).map(|entry| entry.id);
                let kind = match refused.refusal {
                    Refusal::InTheWay => ClashKind::InTheWay,
                    Refusal::NotLoaded => ClashKind::NotLoaded,
                    other @ (Refusal::Missing
                    | Refusal::Gone
                    | Refusal::ChangedBefore
                    | Refusal::Exists
                    | Refusal::OtherType
                    | Refusal::Left
                    | Refusal::Hunk(_)
                    | Refusal::NoBinary
                    | Refusal::OtherBinary
                    | Refusal::BrokenBinary
                    | Refusal::TooLarge) => ClashKind::Patch(other),
                };
                Err(vec![Clash {
                    path: refused.path,
                    kind,
                    base: None,
                    ours,
                    theirs: None,
                    lines: Vec::new(),
                }])
            }
            None => Err(Vec::new()),
        }
    }

    /// Each path merged against the merge base.
    fn three_way(
        &self,
        member: &Prepared<'_>,
        changed: &BTreeMap<String, Change>,
    ) -> Result<Fit, Vec<Clash>> {
        let mut fit = Fit {
            way: Way::ThreeWay,
            changes: Changes::new(),
            made: member.own.clone(),
        };
        let mut clashes = Vec::new();
        let renamed = member.renamed();
        let apart = member.moved_apart(self.tree, self.renamed);
        for (path, change) in changed {
            let resolved = if apart.contains(path.as_str()) {
                Err(Misfit::plain(ClashKind::MovedApart))
            } else {
                self.resolve(member, path, *change, &renamed)
            };
            match resolved {
                Ok(resolved) => fit.add(path, resolved),
                Err(misfit) => {
                    let clash = self.clash(path, Some(*change), misfit.kind);
                    clashes.push(Clash {
                        lines: misfit.lines,
                        ..clash
                    });
                }
            }
        }
        if let Some(path) = misfit(self.tree, &fit.changes).filter(|_| clashes.is_empty()) {
            let change = changed.get(path).copied();
            clashes.push(self.clash(path, change, ClashKind::InTheWay));
        }
        if clashes.is_empty() {
            Ok(fit)
        } else {
            Err(clashes)
        }
    }

    fn resolve(
        &self,
        member: &Prepared<'_>,
        path: &str,
        change: Change,
        renamed: &BTreeSet<String>,
    ) -> Result<Resolved, Misfit> {
        let ours = self.tree.get(path);
        if ours == change.before || ours == change.after {
            return Ok(Resolved::plain(change.after));
        }
        let (Some(ours), Some(theirs)) = (ours, change.after) else {
            let renames = renamed.contains(path) || self.renamed.contains(path);
            return Err(Misfit::plain(if renames {
                ClashKind::RenameChanged
            } else {
                ClashKind::EditDeleted
            }));
        };
        let mode =
            merged_mode(change.before, ours, theirs).ok_or(Misfit::plain(ClashKind::Kind))?;
        let before = change.before.map(|entry| entry.id);
        if ours.id == theirs.id || before == Some(theirs.id) {
            return Ok(Resolved::plain(Some(Entry { mode, id: ours.id })));
        }
        if before == Some(ours.id) {
            return Ok(Resolved::plain(Some(Entry {
                mode,
                id: theirs.id,
            })));
        }
        if !mode.is_file() || change.before.is_some_and(|entry| !entry.mode.is_file()) {
            return Err(Misfit::plain(ClashKind::Kind));
        }
        let (content, answered) = self.merge_texts(member, path, change, ours)?;
        let id = BlobId::from_content(&content).ok_or(Misfit::plain(ClashKind::Unmergeable))?;
        Ok(Resolved {
            entry: Some(Entry { mode, id }),
            made: Some(content),
            answered,
        })
    }

    /// The text of a path that both sides changed, and whether the member answered for it.
    fn merge_texts(
        &self,
        member: &Prepared<'_>,
        path: &str,
        change: Change,
        ours: Entry,
    ) -> Result<(Vec<u8>, bool), Misfit> {
        let theirs = change.after.map(|entry| entry.id);
        let merged = self.merge_ids(member, change.before.map(|entry| entry.id), ours.id, theirs);
        match merged.map_err(Misfit::plain)? {
            Merged::Clean(content) => Ok((content, false)),
            Merged::Clashing { places, theirs, .. }
                if self.is_answered(member, path, &places, ours) =>
            {
                Ok((theirs, true))
            }
            Merged::Clashing { places, .. } => {
                let lines = places.iter().map(|it| Lines {
                    first: it.line,
                    count: it.ours.len(),
                });
                Err(Misfit {
                    kind: ClashKind::Lines,
                    lines: lines.collect(),
                })
            }
        }
    }

    /// Merges contents by their ids; no base is an empty one.
    fn merge_ids(
        &self,
        member: &Prepared<'_>,
        base: Option<BlobId>,
        ours: BlobId,
        theirs: Option<BlobId>,
    ) -> Result<Merged, ClashKind> {
        let find = |id: Option<BlobId>| {
            self.find(member, id.unwrap_or(BlobId::EMPTY))
                .ok_or(ClashKind::NotLoaded)
        };
        let (base, ours, theirs) = (find(base)?, find(Some(ours))?, find(theirs)?);
        merge(base, ours, theirs).map_err(|fault| match fault {
            Unmergeable::Binary => ClashKind::Binary,
            Unmergeable::TooLarge | Unmergeable::Marked => ClashKind::Unmergeable,
        })
    }

    /// Whether the member was shown these places and answered them.
    fn is_answered(&self, member: &Prepared<'_>, path: &str, now: &[Place], ours: Entry) -> bool {
        let is_shown = |clash: &&Clash| clash.path == path && clash.kind == ClashKind::Lines;
        let mut shown = member.member.refused.iter().filter(is_shown);
        shown.any(|clash| {
            let refused = clash
                .ours
                .map(|shown| self.merge_ids(member, clash.base, shown, clash.theirs));
            match refused {
                Some(Ok(Merged::Clashing { places, .. })) => {
                    answered(now, &places, clash.ours == Some(ours.id))
                }
                Some(Ok(Merged::Clean(_)) | Err(_)) | None => false,
            }
        })
    }

    fn clash(&self, path: &str, change: Option<Change>, kind: ClashKind) -> Clash {
        Clash {
            path: path.to_owned(),
            kind,
            base: change.and_then(|it| it.before).map(|entry| entry.id),
            ours: self.tree.get(path).map(|entry| entry.id),
            theirs: change.and_then(|it| it.after).map(|entry| entry.id),
            lines: Vec::new(),
        }
    }

    /// Whether two members changed the same lines of a path; unknown counts as yes.
    pub(crate) fn overlaps(&self, member: &Prepared<'_>, other: &Prepared<'_>, path: &str) -> bool {
        let change = |it: &Prepared<'_>| {
            it.changed
                .as_ref()
                .and_then(|changed| changed.get(path).copied())
        };
        let (Some(mine), Some(others)) = (change(member), change(other)) else {
            return true;
        };
        let (Some(theirs), Some(ours)) = (mine.after, others.after) else {
            return true;
        };
        let Some(base) = mine.before.filter(|_| mine.before == others.before) else {
            return true;
        };
        let contents = (
            self.find(member, base.id),
            self.find(other, ours.id),
            self.find(member, theirs.id),
        );
        let (Some(base), Some(ours), Some(theirs)) = contents else {
            return true;
        };
        !matches!(merge(base, ours, theirs), Ok(Merged::Clean(_)))
    }
}

impl Fit {
    fn add(&mut self, path: &str, resolved: Resolved) {
        if let (Some(entry), Some(content)) = (resolved.entry, resolved.made) {
            self.made.insert(entry.id, content);
        }
        if resolved.answered {
            self.way = Way::Answered;
        }
        self.changes.insert(path.to_owned(), resolved.entry);
    }
}

/// The mode that one side set and the other kept.
fn merged_mode(before: Option<Entry>, ours: Entry, theirs: Entry) -> Option<Mode> {
    let before = before.map(|entry| entry.mode);
    if ours.mode == theirs.mode || before == Some(theirs.mode) {
        Some(ours.mode)
    } else if before == Some(ours.mode) {
        Some(theirs.mode)
    } else {
        None
    }
}
