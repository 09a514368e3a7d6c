//! Where the two trees of a repository are read: the branches that its settings name, and their tips.

use std::fs;
use std::path::Path;

use ::scaffold::config::{self, Config, Unusable};
use ::scaffold::layout::{CONTROL, SYSTEM};
use ::scaffold::tree::Tree;
use anyhow::Result;
use domain::ids::{BranchName, CommitSha};
use toml_edit::{Document, Item};

use super::CONFIG;
use crate::error::Error;
use crate::git::{Git, Lag};
use crate::render;

/// The branches of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Branches {
    /// The branch that people work on.
    pub(super) target: BranchName,
    /// The branch that holds `.jules/`.
    pub(super) worker: BranchName,
}

/// The settings that were read from `place`.
pub(super) fn settings(place: &str, text: &str) -> Result<Config> {
    let parsed = config::parse(CONFIG, text).map_err(Unusable::Faulty);
    Ok(parsed.map_err(|error| unusable(place, &error))?)
}

fn unusable(place: &str, error: &Unusable) -> Error {
    match error {
        Unusable::Missing => not_begun(place),
        Unusable::Faulty(_) => {
            let what = format!("{place} cannot be used: {error}");
            Error::unfit("bad_settings", what, "correct it, commit it, and try again")
        }
    }
}

impl Branches {
    /// As settings say that may be missing or broken: whatever of them can be read.
    pub(super) fn guess(text: Option<&str>) -> Self {
        let document = text.and_then(|text| Document::parse(text).ok());
        let run = document.as_ref().and_then(|document| document.get("run"));
        let branch = |key: &str, usual: BranchName| {
            let named = run.and_then(|run| run.get(key)).and_then(Item::as_str);
            named.and_then(|name| name.parse().ok()).unwrap_or(usual)
        };
        Self {
            target: branch("jlo_target_branch", BranchName::main()),
            worker: branch("jules_worker_branch", BranchName::jules()),
        }
    }

    /// The branches that the settings in the working tree name. They are only where reading begins.
    pub(super) fn here(git: &Git) -> Self {
        Self::guess(fs::read_to_string(git.root().join(CONFIG)).ok().as_deref())
    }

    /// The commit where reading begins. A worker branch that is named as the target branch too has other settings, or none: those that
    /// name it are on the branch that is checked out.
    pub(super) fn start(&self, git: &Git) -> Result<CommitSha> {
        match self.target == self.worker {
            true => git.must_commit("HEAD"),
            false => must_tip(git, &self.target),
        }
    }
}

/// The user's files as they are committed, with the branches that they name.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) branches: Branches,
    /// The settings that name them.
    pub(super) settings: Config,
    /// The tip of the target branch.
    pub(super) code: CommitSha,
    /// `.jlo/` at that tip.
    pub(super) control: Tree,
}

impl Place {
    /// Reads the user's files where the target branch has them.
    pub(super) fn read(git: &Git) -> Result<Self> {
        let here = Branches::here(git);
        let code = here.start(git)?;
        let control = git.tree(&code, &[CONTROL])?;
        let place = match here.target == here.worker {
            true => format!("{CONFIG} of HEAD"),
            false => format!("{CONFIG} on the branch {}", here.target),
        };
        let beside = beside(git, &control, &code)?;
        let settings = config::read_with(&control, &beside).map_err(|error| match error {
            Unusable::Missing if git.root().join(CONFIG).is_file() => uncommitted(&place),
            Unusable::Missing | Unusable::Faulty(_) => unusable(&place, &error),
        })?;
        let worker = settings.worker_branch.clone();
        let target = match here.target == here.worker {
            // The working tree alone has the name that is no target.
            true => settings.target_branch.clone(),
            false => here.target,
        };
        Ok(Self {
            branches: Branches { target, worker },
            settings,
            code,
            control,
        })
    }
}

/// The system's files, where there are no settings: the older generation, which they show, does without. A worker branch that is not there
/// yet begins with the code.
fn beside(git: &Git, control: &Tree, code: &CommitSha) -> Result<Tree> {
    if control.has(CONFIG) || git.root().join(CONFIG).is_file() {
        return Ok(Tree::default());
    }
    let tip = git.tip(&Branches::guess(None).worker)?;
    git.tree(tip.as_ref().unwrap_or(code), &[SYSTEM])
}

/// A layout that cannot be worked with.
pub(super) fn bad_layout(error: &dyn std::fmt::Display) -> Error {
    let next = "`gaffer scaffold doctor` lists what is wrong";
    Error::unfit("bad_layout", error.to_string(), next)
}

/// The tip of a branch that has to be there.
pub(super) fn must_tip(git: &Git, branch: &BranchName) -> Result<CommitSha> {
    let missing = || {
        let what = format!("there is no branch `{branch}` with a commit");
        let next = format!("fetch it or make it, or name another one in {CONFIG}");
        anyhow::Error::from(Error::unfit("no_branch", what, next))
    };
    git.tip(branch)?.ok_or_else(missing)
}

/// Says that a worker branch is read as it is here, where `origin` has commits that it lacks.
pub(super) fn note_behind(git: &Git, worker: &BranchName) -> Result<()> {
    if let Some(way) = catching_up(git, worker)? {
        render::note(&format!(
            "note: the branch {worker} of this repository lacks commits of origin/{worker}, which are not read: {way}, and `--ref origin/{worker}` reads the other one where a command takes it"
        ));
    }
    Ok(())
}

/// Refuses to commit to a worker branch that lacks commits of `origin`, which would then take no push of it.
pub(super) fn must_be_up_to_date(git: &Git, worker: &BranchName) -> Result<()> {
    let Some(way) = catching_up(git, worker)? else {
        return Ok(());
    };
    let what = format!("the branch {worker} of this repository lacks commits of origin/{worker}");
    Err(Error::unfit("behind_origin", what, way).into())
}

/// What brings a branch up to date that lacks commits of `origin`.
fn catching_up(git: &Git, worker: &BranchName) -> Result<Option<String>> {
    Ok(match git.lag(worker)? {
        Lag::None => None,
        Lag::Behind => Some(format!(
            "`git fetch origin {worker}:{worker}` brings it up to date"
        )),
        Lag::Diverged => Some(format!(
            "it has others itself, and `git switch {worker}`, `git merge origin/{worker}` and `git switch -` join both"
        )),
    })
}

/// Refuses to write a branch under a working tree that has it checked out: its files would then look changed.
pub(super) fn must_be_free(git: &Git, worker: &BranchName) -> Result<()> {
    let Some(folder) = git.checked_out(worker)? else {
        return Ok(());
    };
    let what = format!("the worker branch `{worker}` is checked out in {folder}");
    let next = "switch to the branch that people work on, and try again";
    Err(Error::unfit("on_worker_branch", what, next).into())
}

/// Refuses where no folder of the user's is there.
pub(super) fn must_be_there(root: &Path) -> Result<()> {
    let folder = root.join(CONTROL);
    if folder.is_dir() {
        return Ok(());
    }
    Err(not_begun(&folder.display().to_string()).into())
}

/// There are no settings.
pub(super) fn not_begun(place: &str) -> Error {
    let next = "make it with `gaffer scaffold init`, and commit it";
    Error::unfit("not_begun", format!("there is no {place}"), next)
}

/// There are settings in the working tree alone.
fn uncommitted(place: &str) -> Error {
    let next = format!("commit `{CONTROL}/` on that branch: this folder has it");
    Error::unfit("not_begun", format!("there is no {place}"), next)
}

/// Refuses a path on the way to which a link lies: it could lead out of the repository.
pub(crate) fn must_be_inside(root: &Path, path: &str) -> Result<()> {
    let mut at = root.to_owned();
    for part in path.split('/') {
        at.push(part);
        if at.is_symlink() {
            let what = format!("{} is a link", at.display());
            let next = "put a regular file or folder in its place";
            return Err(Error::unfit("link", what, next).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_read_from_settings_that_are_broken_elsewhere() {
        let text = "[run]\njlo_target_branch = \"trunk\"\njules_worker_branch = \"a..b\"\n[odd]\n";
        let found = Branches::guess(Some(text));
        assert_eq!(
            (found.target.as_str(), found.worker.as_str()),
            ("trunk", "jules")
        );
        assert_eq!(Branches::guess(Some("[run")), Branches::guess(None));
    }

    #[test]
    fn a_link_on_the_way_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("a/b")).unwrap();
        assert!(must_be_inside(folder.path(), "a/c/d").is_ok());
        let refused = must_be_inside(folder.path(), "a/b/c").unwrap_err();
        assert!(refused.to_string().ends_with("a/b is a link"), "{refused}");
    }
}
