//! What the agent of a layer may change: paths, and kinds of change. Everything else in its pull request stops it.
//!
//! No layer may change the system's files, so no session rewrites a prompt, a schema or a rule.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use domain::ids::RoleName;
use domain::layer::Layer;
use domain::merge::covers;
use domain::redact::presentable;

use crate::layout::{CONTROL, Paths, SYSTEM};
use crate::prompt::FINDINGS_MAX;
use crate::tree::{Mode, TreePath};

/// What a path shows of itself, in characters.
const PATH_CHARS_MAX: usize = 200;

/// Whose pull request it is. Everything here comes from records, nothing from the pull request.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The layer.
    pub layer: Layer,
    /// The role, in a layer of roles.
    pub role: Option<&'a RoleName>,
    /// The requirement, for a planner.
    pub requirement: Option<&'a TreePath>,
    /// What needs a person in this repository: a folder ends in `/`, anything else is one file.
    pub protected: &'a [String],
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It has other contents, or another mode.
    Changed,
    /// It is gone.
    Removed,
}

/// One file of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path.
    pub path: String,
    /// The path that it had, if it was renamed: nothing is there any more.
    pub old_path: Option<String>,
    /// What became of the file at its path. One that was renamed or copied is new there.
    pub kind: ChangeKind,
    /// What it is now; none if it is gone or not known.
    pub mode: Option<Mode>,
}

/// One thing that an agent may not do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, without secrets and hidden characters.
    pub path: String,
    /// Why it stops the pull request.
    pub why: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.why)
    }
}

/// Everything in a pull request that its layer may not do, in order of path; none if all of it is within its scope.
pub fn violations(paths: &Paths, scope: &Scope<'_>, changes: &[FileChange]) -> Vec<Violation> {
    let mut found = BTreeSet::new();
    let mut stop = |path: &str, why| {
        let path = presentable(path, PATH_CHARS_MAX);
        found.insert(Violation { path, why });
    };
    let mut acts = Vec::new();
    for change in changes {
        if let Some(why) = irregular(change) {
            stop(&change.path, why);
        }
        let now = (&change.path, change.kind);
        let before = change.old_path.iter().map(|old| (old, ChangeKind::Removed));
        for (text, kind) in before.chain([now]) {
            match text.parse::<TreePath>() {
                Ok(path) => acts.push((path, kind)),
                Err(_) => stop(text, "it is no path inside a repository"),
            }
        }
    }
    let place = Place {
        paths,
        scope,
        acts: &acts,
    };
    for (path, kind) in &acts {
        if let Some(why) = place.refusal(path, *kind) {
            stop(path.as_str(), why);
        }
    }
    found.into_iter().collect()
}

fn irregular(change: &FileChange) -> Option<&'static str> {
    match (change.kind, change.mode) {
        (ChangeKind::Removed, _) => None,
        (ChangeKind::Added | ChangeKind::Changed, Some(mode)) if mode.is_regular() => None,
        (ChangeKind::Added | ChangeKind::Changed, Some(_)) => {
            Some("it is a link or another repository")
        }
        (ChangeKind::Added | ChangeKind::Changed, None) => {
            Some("it is not known what kind of file it is")
        }
    }
}

/// One pull request beside what its layer may do.
struct Place<'a> {
    paths: &'a Paths,
    scope: &'a Scope<'a>,
    acts: &'a [(TreePath, ChangeKind)],
}

impl Place<'_> {
    /// Why a layer may not do this, if it may not.
    fn refusal(&self, path: &TreePath, kind: ChangeKind) -> Option<&'static str> {
        let allowed = match self.scope.layer {
            Layer::Narrator => kind != ChangeKind::Removed && path.as_str() == self.paths.changes,
            Layer::Observers if self.observes(path, kind) => {
                return self.too_many(
                    Self::observes,
                    "a run of an observer adds three events and no more",
                );
            }
            Layer::Observers => self.is_own(path, kind),
            Layer::Decider => self.decides(path, kind),
            Layer::Planner => kind == ChangeKind::Changed && Some(path) == self.scope.requirement,
            Layer::Implementer => return self.of_code(path),
            Layer::Innovators if self.proposes(path, kind) => {
                return self.too_many(Self::proposes, "a run makes three proposals and no more");
            }
            Layer::Innovators => self.is_own(path, kind),
        };
        (!allowed).then_some(match self.scope.layer {
            Layer::Narrator => "a narrator writes the summary of changes only",
            Layer::Observers => "an observer adds pending events and keeps its own perspective only",
            Layer::Decider => {
                "a decider deletes pending events or moves them to the decided ones, and adds or changes requirements only"
            }
            Layer::Planner => "a planner changes its own requirement only",
            Layer::Implementer | Layer::Innovators => {
                "an innovator adds three proposals and keeps its own perspective only"
            }
        })
    }

    /// A YAML file that lies in a folder itself, and was not there before.
    fn is_new_file_of(&self, folder: &str, path: &TreePath, kind: ChangeKind) -> bool {
        kind == ChangeKind::Added && is_artefact_of(folder, path)
    }

    /// What the role remembers, which no other role may touch.
    fn is_own(&self, path: &TreePath, kind: ChangeKind) -> bool {
        let own = self.scope.role.map(|role| self.paths.perspective(role));
        kind != ChangeKind::Removed && own.as_deref() == Some(path.as_str())
    }

    fn decides(&self, path: &TreePath, kind: ChangeKind) -> bool {
        let was_pending = |acted: &(TreePath, ChangeKind)| {
            acted.1 == ChangeKind::Removed
                && is_artefact_of(&self.paths.pending, &acted.0)
                && acted.0.file_name() == path.file_name()
        };
        match kind {
            ChangeKind::Removed => is_artefact_of(&self.paths.pending, path),
            ChangeKind::Changed => self.is_requirement(path),
            // An event that was never pending was never observed.
            ChangeKind::Added if is_artefact_of(&self.paths.decided, path) => {
                self.acts.iter().any(was_pending)
            }
            ChangeKind::Added => self.is_requirement(path),
        }
    }

    fn is_requirement(&self, path: &TreePath) -> bool {
        self.paths.holds_requirement(path) && path.as_str().ends_with(".yml")
    }

    fn observes(&self, path: &TreePath, kind: ChangeKind) -> bool {
        self.is_new_file_of(&self.paths.pending, path, kind)
    }

    fn proposes(&self, path: &TreePath, kind: ChangeKind) -> bool {
        let prefix = self
            .scope
            .role
            .map(|role| format!("{}-", role.as_str().replace('_', "-")));
        self.is_new_file_of(self.paths.proposals, path, kind)
            && prefix.is_some_and(|prefix| path.file_name().starts_with(&prefix))
    }

    /// Why files of a kind stop a pull request that adds more of them than an agent may write.
    fn too_many(
        &self,
        is_one: impl Fn(&Self, &TreePath, ChangeKind) -> bool,
        why: &'static str,
    ) -> Option<&'static str> {
        let files = self.acts.iter();
        let files = files.filter(|(path, kind)| is_one(self, path, *kind));
        (files.count() > FINDINGS_MAX).then_some(why)
    }

    fn of_code(&self, path: &TreePath) -> Option<&'static str> {
        // Some disks do not tell the cases of letters apart, so `.JULES/` is the same folder there.
        let folded = path.as_str().to_lowercase();
        let top = folded.split('/').next().unwrap_or_default();
        if [SYSTEM, CONTROL].contains(&top) {
            return Some("an implementer changes neither `.jules/` nor `.jlo/`");
        }
        let mut protected = self.scope.protected.iter();
        let is_protected = protected.any(|guard| covers(guard, path.as_str()));
        is_protected.then_some("the path is protected in this repository")
    }
}

/// Whether a path is that of a YAML file in a folder itself.
fn is_artefact_of(folder: &str, path: &TreePath) -> bool {
    path.folder() == folder && path.as_str().ends_with(".yml")
}
