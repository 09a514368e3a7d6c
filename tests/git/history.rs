//! The history of this repository: each commit as a patch, applied to its parent, to itself and to older commits.

use std::collections::BTreeSet;
use std::path::Path;

use weave::patch::parse;
use weave::tree::{Contents, Tree};

use crate::applies::{Tally, compare};
use crate::cases;
use crate::git::{Git, Pair};

/// How many commits there are, the newest, of some and of all cases.
const COMMITS: (usize, usize) = (30, 200);

/// How much older the other trees are that a commit is applied to, in commits.
const OLDER: [usize; 2] = [12, 120];

/// The tree of nothing, which git knows without having it: the parent of a first commit.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A patch, and a tree that it is applied to.
struct Case<'c> {
    patch: &'c [u8],
    target: Tree,
}

/// A repository beside this one, and the trees of its commits after those of their parents, the newest first.
///
/// A shallow clone has fewer of them, down to one whose patch makes every file.
fn history() -> (Git, Vec<Pair>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.to_string_lossy();
    let here = Git::new();
    // The folder may have any owner: nothing of it is run.
    let asked = |command: &[&str]| {
        let of_root = ["-c", "safe.directory=*", "-C", &root];
        let said = here.succeed(&[&of_root, command].concat(), b"");
        String::from_utf8(said).unwrap()
    };
    let form = "--path-format=absolute";
    let objects = asked(&["rev-parse", form, "--git-path", "objects"]);
    let count = format!("-{}", COMMITS.1 + OLDER[1]);
    let log = asked(&["log", &count, "--format=%H %P"]);
    let git = Git::beside(Path::new(objects.trim_end()));
    let id = |line: &'_ str, at: usize| {
        let id = line.split(' ').nth(at).filter(|id| !id.is_empty());
        id.unwrap_or(EMPTY_TREE).to_owned()
    };
    let trees = |at: usize| {
        let ids: Vec<String> = log.lines().map(|line| id(line, at)).collect();
        git.trees_of(ids.iter().map(String::as_str))
    };
    let pairs = trees(1).into_iter().zip(trees(0)).collect();
    (git, pairs)
}

#[test]
fn the_commits_of_this_repository_apply_as_git_applies_them() {
    let (git, commits) = history();
    let newest = &commits[..commits.len().min(cases(COMMITS.0, COMMITS.1))];
    let patches = git.diffs(newest, &["-M"]);
    let told = patches.iter().filter(|patch| !patch.is_empty()).count();
    let cases = cases_of(&git, &commits, &patches);
    let contents = needed(&git, &cases);
    let mut tally = Tally::new();
    for case in &cases {
        let said = git.apply(&case.target, case.patch);
        compare(&mut tally, &case.target, case.patch, &contents, said);
    }
    println!("{tally:#?}");
    assert!(told > 0 && tally["applied"] >= told, "{tally:#?}");
}

fn cases_of<'c>(git: &Git, commits: &[Pair], patches: &'c [Vec<u8>]) -> Vec<Case<'c>> {
    let mut cases = Vec::new();
    for (at, patch) in patches.iter().enumerate() {
        if patch.is_empty() {
            continue;
        }
        let (parent, tree) = &commits[at];
        let older = OLDER.iter().filter_map(|older| commits.get(at + older));
        let older = older.map(|(_, tree)| tree);
        let near = near(patch);
        for id in [parent, tree].into_iter().chain(older) {
            let target = git.entries(id, near.iter().map(String::as_str));
            cases.push(Case { patch, target });
        }
    }
    cases
}

/// The paths that a patch reads and writes, and the folders that they lie in: no other one matters to it.
fn near(patch: &[u8]) -> BTreeSet<String> {
    let patch = parse(patch).unwrap();
    let actions = patch.files.iter().map(|file| &file.action);
    let paths = actions.flat_map(|action| action.source().into_iter().chain(action.target()));
    let mut near = BTreeSet::new();
    for path in paths {
        let folders = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        near.extend(folders);
        near.insert(path.to_owned());
    }
    near
}

/// The contents of all cases.
fn needed(git: &Git, cases: &[Case<'_>]) -> Contents {
    let entries = cases.iter().flat_map(|case| case.target.iter());
    let ids: BTreeSet<String> = entries.map(|(_, entry)| entry.id.to_string()).collect();
    git.contents(ids.iter().map(String::as_str))
}
