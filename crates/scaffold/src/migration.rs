//! The way from the older layout to the newer one: where each file of the worker branch goes.
//!
//! Nothing is lost: what the newer layout has no place for is kept below one folder, and what is not known stays where it is.

mod fate;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use domain::ids::RoleName;
use domain::layer::{Cast, Layer};

use crate::assets::{self, Asset};
use crate::doctor;
use crate::layout::{Layout, LayoutError, SYSTEM, own_role};
use crate::tree::{Content, Entry, Tree, TreePath};
use crate::yaml;
use fate::{Fate, LAYERS, fate};

/// What the folder is called that keeps files without a place in the newer layout. No program reads them.
const KEPT: &str = ".jules/older";

/// Where every file goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Migration {
    /// Files that change their place and nothing else.
    pub moved: Vec<Move>,
    /// Requirements whose label was the name of their folder only, and stands in the file now.
    pub labelled: Vec<Labelled>,
    /// Empty files that did nothing but keep a folder.
    pub dropped: Vec<TreePath>,
    /// The system's files of this version.
    pub written: Vec<Asset>,
    /// Roles that are not built in, as the user's folder gets them.
    pub roles: Vec<(TreePath, String)>,
    /// The older schedules, where they are kept.
    pub schedules: Vec<TreePath>,
    /// What is not known, and stays.
    pub left: Vec<TreePath>,
}

/// A file with another place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// Where it was.
    pub from: TreePath,
    /// Where it is.
    pub to: TreePath,
}

/// A file with another place and one more line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// Where it was.
    pub from: TreePath,
    /// Where it is.
    pub to: TreePath,
    /// All of it.
    pub text: String,
}

impl Migration {
    /// Whether the tree is in the newer layout already.
    pub fn is_empty(&self) -> bool {
        self.moved.is_empty() && self.labelled.is_empty() && self.dropped.is_empty()
    }

    /// The worker branch's files after it.
    pub fn applied(&self, worker: &Tree) -> Tree {
        let mut tree = worker.clone();
        for path in &self.dropped {
            tree.remove(path);
        }
        // All are taken out before any is put in: a new place may be another one's old place.
        let taken: Vec<_> = self.moved.iter().map(|it| tree.remove(&it.from)).collect();
        for it in &self.labelled {
            tree.remove(&it.from);
        }
        let moved = self.moved.iter().zip(taken);
        tree.extend(moved.filter_map(|(it, entry)| Some((it.to.clone(), entry?))));
        let labelled = self.labelled.iter();
        tree.extend(labelled.map(|it| (it.to.clone(), Entry::text(it.text.clone()))));
        let written = self.written.iter();
        tree.extend(written.map(|it| (it.path.clone(), Entry::text(it.text))));
        tree
    }
}

/// Where the files of the worker branch go. In the newer layout none goes anywhere.
pub fn migrate(worker: &Tree) -> Result<Migration, LayoutError> {
    match Layout::find(worker)? {
        Layout::Exchange => Ok(Migration::default()),
        Layout::Workstreams => planned(worker),
    }
}

fn planned(worker: &Tree) -> Result<Migration, LayoutError> {
    let mut plan = Plan::new(worker);
    for (path, entry) in worker.below(SYSTEM) {
        plan.file(path, entry);
    }
    let mut migration = plan.migration;
    migration.roles = roles(worker);
    let after = migration.applied(worker);
    let mut system = doctor::system(&after, &[])?;
    system.retain(|asset| after.text(asset.path.as_str()) != Some(asset.text));
    migration.written = system;
    Ok(migration)
}

/// A migration as it comes about.
struct Plan {
    /// The folder for what the newer layout has no place for.
    kept: String,
    /// The paths that are taken, in lower case, since some disks know no other.
    taken: BTreeSet<String>,
    migration: Migration,
}

impl Plan {
    fn new(worker: &Tree) -> Self {
        let stays = |(path, entry): &(&TreePath, &Entry)| {
            matches!(fate(path, entry), Fate::Stays | Fate::Left)
        };
        let stay = worker.below(SYSTEM).filter(stays);
        let taken = stay.map(|(path, _)| path.as_str().to_lowercase()).collect();
        Self {
            kept: unused(worker),
            taken,
            migration: Migration::default(),
        }
    }

    fn file(&mut self, path: &TreePath, entry: &Entry) {
        let from = path.clone();
        match fate(path, entry) {
            Fate::Stays => {}
            Fate::Left => self.migration.left.push(from),
            Fate::Dropped => self.migration.dropped.push(from),
            Fate::Kept => {
                let rest = path.below(SYSTEM).unwrap_or_default();
                let to = self.free(&format!("{}/{rest}", self.kept), "older");
                if rest.ends_with("/scheduled.toml") {
                    self.migration.schedules.extend(to.clone());
                }
                self.moves(from, to);
            }
            Fate::Goes(to) => {
                let to = self.free(&to, "older");
                self.moves(from, to);
            }
            Fate::Requirement { label, to } => {
                let to = self.free(&to, &label);
                let is_regular = entry.mode.is_regular();
                let text = is_regular.then(|| labelled(path, &entry.content, &label));
                match (to, text.flatten()) {
                    (Some(to), Some(text)) => {
                        self.migration.labelled.push(Labelled { from, to, text });
                    }
                    (to, _) => self.moves(from, to),
                }
            }
        }
    }

    /// Moves a file, or leaves it where its new path would be none.
    fn moves(&mut self, from: TreePath, to: Option<TreePath>) {
        match to {
            Some(to) => self.migration.moved.push(Move { from, to }),
            None => self.migration.left.push(from),
        }
    }

    /// A path that no other file has: this one, else with a word before its name, else with a number too.
    fn free(&mut self, wanted: &str, word: &str) -> Option<TreePath> {
        let (folder, name) = wanted.rsplit_once('/')?;
        let numbered = (2..).map(|number| format!("{folder}/{word}-{number}-{name}"));
        let named = [wanted.to_owned(), format!("{folder}/{word}-{name}")];
        let mut paths = named.into_iter().chain(numbered);
        let path = paths.find(|path| self.taken.insert(path.to_lowercase()))?;
        path.parse().ok()
    }
}

/// A name for the folder of what is kept that nothing in the tree has.
fn unused(worker: &Tree) -> String {
    let numbered = (2..).map(|number| format!("{KEPT}-{number}"));
    let mut names = std::iter::once(KEPT.to_owned()).chain(numbered);
    let is_unused = |name: &String| {
        let files = worker
            .below(SYSTEM)
            .map(|(path, _)| path.as_str().to_lowercase());
        let mut files = files.filter_map(|path| Some(path.strip_prefix(name)?.to_owned()));
        !files.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    names.find(is_unused).unwrap_or_else(|| KEPT.to_owned())
}

/// The text of a requirement with the label that its folder had, if the file itself has none.
fn labelled(path: &TreePath, content: &Content, label: &str) -> Option<String> {
    let Content::Text(text) = content else {
        return None;
    };
    let read = |text: &str| yaml::parse(path.as_str(), text.as_bytes()).ok();
    let node = read(text)?;
    node.map().filter(|_| node.get("label").is_none())?;
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let text = format!("{text}{end}label: {label}\n");
    // In a file of another style the line would be no key of its own.
    let node = read(&text)?;
    (node.get("label")?.text() == Some(label)).then_some(text)
}

/// The roles of the user's own, each with its place in the user's folder.
fn roles(worker: &Tree) -> Vec<(TreePath, String)> {
    let mut roles = BTreeMap::new();
    for (path, _) in LAYERS.iter().flat_map(|folder| worker.below(folder)) {
        let place = role_of(path).and_then(|(layer, role)| {
            let is_own = assets::role(layer, &role).is_none();
            let place = is_own.then(|| own_role(layer, Some(&role)))?;
            place.parse::<TreePath>().ok()
        });
        if let (Some(place), Some(text)) = (place, worker.text(path.as_str())) {
            roles.entry(place).or_insert_with(|| text.to_owned());
        }
    }
    roles.into_iter().collect()
}

/// The role that a file describes, in a layer that has roles. They lie in their layer's folder or one below it.
fn role_of(path: &TreePath) -> Option<(Layer, RoleName)> {
    let rest = LAYERS.iter().find_map(|folder| path.below(folder))?;
    let parts: Vec<&str> = rest.split('/').collect();
    let (layer, role) = match parts.as_slice() {
        [layer, role, "role.yml"] | [layer, "roles", role, "role.yml"] => (layer, role),
        _ => return None,
    };
    let layer: Layer = layer.parse().ok()?;
    (layer.cast() == Cast::Multi).then_some((layer, role.parse().ok()?))
}
