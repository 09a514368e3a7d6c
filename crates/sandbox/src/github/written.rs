//! What an agent does in a repository with files: it reads a branch, commits, and offers its branch.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::GitHub;
use super::contents::Change;
use super::new_pull::NewPull;
use super::real::{TreeDraft, refused};
use super::records::User;
use super::setup::ChangedFile;
use super::world::{GitHubRefusal, GitHubWorld};
use crate::story::Writing;

/// One commit to be made.
pub(crate) struct WriteOrder<'a> {
    pub(crate) repo: &'a str,
    /// The branch on whose tip it is made.
    pub(crate) from: &'a str,
    /// The branch that then points to it.
    pub(crate) branch: &'a str,
    pub(crate) login: &'a str,
    pub(crate) message: &'a str,
    pub(crate) writing: &'a Writing,
}

impl GitHub {
    /// The statuses of a commit in the order in which they were put there, each as its name and its state.
    #[must_use]
    pub fn statuses(&self, repo: &str, sha: &str) -> Vec<String> {
        let world = self.world();
        let Ok(found) = world.repo(repo) else {
            return Vec::new();
        };
        let of_commit = found.statuses.iter().filter(|status| status.sha == sha);
        let shown = of_commit.map(|status| format!("{} {}", status.context, status.state));
        shown.collect()
    }

    /// The texts of all files on a branch; none without such a branch.
    #[must_use]
    pub fn texts(&self, repo: &str, branch: &str) -> Option<BTreeMap<String, String>> {
        let world = self.world();
        let tip = world.repo(repo).ok()?.tip(branch).to_owned();
        let contents = world.contents(repo).ok().filter(|_| !tip.is_empty())?;
        let mut listed = contents.list(&tip, true).ok()?;
        listed.retain(|entry| entry.kind == "blob");
        let oids: Vec<&str> = listed.iter().map(|entry| entry.oid.as_str()).collect();
        let blobs = contents.blobs(&oids).ok()?;
        let text = |oid: &str| String::from_utf8(blobs.get(oid)?.clone()).ok();
        let texts = listed
            .iter()
            .filter_map(|entry| Some((entry.path.clone(), text(&entry.oid)?)));
        Some(texts.collect())
    }

    /// The history of a branch as `git log --graph` draws it; none without such a branch.
    #[must_use]
    pub fn log(&self, repo: &str, branch: &str) -> Option<Vec<String>> {
        let world = self.world();
        let tip = world.repo(repo).ok()?.tip(branch).to_owned();
        let contents = world.contents(repo).ok().filter(|_| !tip.is_empty())?;
        contents.log(&tip).ok()
    }

    /// Makes one commit with these files on the tip of a branch, as a person who pushes it does.
    ///
    /// # Errors
    /// With what git or the branch says against it.
    pub fn push_files(
        &self,
        now: Timestamp,
        (repo, branch): (&str, &str),
        (login, message): (&str, &str),
        files: &[(&str, &str)],
    ) -> Result<(), String> {
        let files = files.iter();
        let writing = Writing {
            after: SignedDuration::ZERO,
            branch: None,
            files: files
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
                .collect(),
            moves: Vec::new(),
            removals: Vec::new(),
        };
        let order = WriteOrder {
            repo,
            from: branch,
            branch,
            login,
            message,
            writing: &writing,
        };
        self.write(now, &order)
    }

    /// The files that a branch changed since it left another one.
    pub(crate) fn changed_files(&self, repo: &str, base: &str, head: &str) -> Vec<ChangedFile> {
        let world = self.world();
        let Ok(found) = world.repo(repo) else {
            return Vec::new();
        };
        world.files_between(found.tip(base), found.tip(head))
    }

    /// Makes one commit on the tip of one branch, to which another branch then points.
    pub(crate) fn write(&self, now: Timestamp, order: &WriteOrder<'_>) -> Result<(), String> {
        let made = self.world().write(now, order);
        made.map_err(|refusal| refusal.message)
    }

    /// Opens a pull request from a branch that is there; none where GitHub refuses it.
    pub(crate) fn offer_pull(&self, now: Timestamp, repo: &str, new: &NewPull) -> Option<u64> {
        self.world().offer_pull(now, repo, new).ok()
    }
}

impl GitHubWorld {
    fn write(&mut self, now: Timestamp, order: &WriteOrder<'_>) -> Result<(), GitHubRefusal> {
        let found = self.repo(order.repo)?;
        let (home, parent) = (found.id, found.tip(order.from).to_owned());
        let contents = self.contents(order.repo)?;
        let tree = contents.tree_with(&parent, &changes(order.writing));
        let draft = TreeDraft {
            tree: &tree.map_err(refused)?,
            parents: &[parent],
            message: order.message,
            author: User::named(order.login),
        };
        let sha = self.commit_tree(now, home, &draft)?;
        self.move_branch(now, order.repo, order.branch, &sha)
    }
}

fn changes(writing: &Writing) -> Vec<Change> {
    let moves = writing.moves.iter().map(|(from, to)| Change::Move {
        from: from.clone(),
        to: to.clone(),
    });
    let removals = writing.removals.iter().cloned().map(Change::Remove);
    let texts = writing.files.iter();
    let texts = texts.map(|(path, text)| Change::put(path, text));
    moves.chain(removals).chain(texts).collect()
}
