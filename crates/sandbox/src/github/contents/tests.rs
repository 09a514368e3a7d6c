//! The bare repository by itself.

use jiff::Timestamp;

use super::*;

fn setup() -> RepoSetup {
    RepoSetup::new("acme/shop").with_files([("README.md", "one\n"), ("src/a.rs", "a\n")])
}

fn signature(login: &str, id: u64, at: Timestamp) -> Signature<'_> {
    Signature { login, id, at }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + seconds).unwrap()
}

/// A bare repository and its first commit.
fn first() -> (Contents, String) {
    let (contents, tree) = Contents::from_setup(&setup()).unwrap();
    let commit = contents.commit(&tree, &[], "First", &signature("ann", 7, at(0)));
    let commit = commit.unwrap();
    (contents, commit)
}

fn on(contents: &Contents, parent: &str, changes: &[Change]) -> String {
    let tree = contents.tree_with(parent, changes).unwrap();
    let parents = [parent.to_owned()];
    let by = signature("ann", 7, at(1));
    contents.commit(&tree, &parents, "Next", &by).unwrap()
}

#[test]
fn the_same_story_has_the_same_shas() {
    let (one, other) = (first(), first());
    assert_eq!(one.1, other.1);
    let changes = [Change::put("README.md", "two\n")];
    assert_eq!(
        on(&one.0, &one.1, &changes),
        on(&other.0, &other.1, &changes)
    );
    let read = one.0.commits(&one.1, &[]).unwrap();
    assert_eq!(read[0].message, "First");
    assert_eq!((read[0].author.as_str(), read[0].at), ("ann", at(0)));
}

#[test]
fn changes_are_made_in_their_order() {
    let (contents, commit) = first();
    let moved = Change::Move {
        from: "src/a.rs".to_owned(),
        to: "src/b/c.rs".to_owned(),
    };
    let file_for_folder = Change::put("src", "text");
    let next = on(&contents, &commit, &[moved, Change::put("new", "x")]);
    let paths = |commit: &str| -> Vec<String> {
        let listed = contents.list(commit, true).unwrap().into_iter();
        let files = listed.filter(|entry| entry.kind == "blob");
        files.map(|entry| entry.path).collect()
    };
    assert_eq!(paths(&next), ["README.md", "new", "src/b/c.rs"]);
    let flat = on(
        &contents,
        &next,
        &[file_for_folder, Change::Remove("new".to_owned())],
    );
    assert_eq!(paths(&flat), ["README.md", "src"]);
    let tree = contents.find(&format!("{next}:src")).unwrap().unwrap();
    let place = Change::Place {
        path: "lib".to_owned(),
        mode: "040000".to_owned(),
        oid: tree.oid,
    };
    let placed = on(&contents, &flat, &[place, Change::put("lib/d", "")]);
    assert_eq!(paths(&placed), ["README.md", "lib/b/c.rs", "lib/d", "src"]);
    let missing = contents.tree_with(&placed, &[Change::Remove("gone".to_owned())]);
    assert!(missing.is_err());
    for path in ["../up", ".git/config", "a//b", "/root"] {
        let odd = contents.tree_with(&placed, &[Change::put(path, "x")]);
        assert!(odd.is_err(), "{path}");
    }
}

#[test]
fn a_difference_has_names_counts_and_hunks() {
    let (contents, commit) = first();
    let long: String = (0..20).map(|n| format!("line {n}\n")).collect();
    let base = on(&contents, &commit, &[Change::put("long", &long)]);
    let moved = Change::Move {
        from: "long".to_owned(),
        to: "longer name".to_owned(),
    };
    let append = Change::Append {
        path: "src/a.rs".to_owned(),
        line: "b".to_owned(),
    };
    let remove = Change::Remove("README.md".to_owned());
    let binary = Change::Put {
        path: "z".to_owned(),
        bytes: vec![0, 1, 2],
        is_executable: true,
    };
    let head = on(&contents, &base, &[moved, append, remove, binary]);
    let files = contents.diff(&base, &head).unwrap();
    let shown: Vec<_> = files
        .iter()
        .map(|it| {
            (
                it.filename.as_str(),
                it.status.as_str(),
                it.additions,
                it.deletions,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("README.md", "removed", 0, 1),
            ("longer name", "renamed", 0, 0),
            ("src/a.rs", "modified", 1, 0),
            ("z", "added", 0, 0),
        ]
    );
    assert_eq!(files[1].previous_filename.as_deref(), Some("long"));
    assert_eq!(files[2].patch.as_deref(), Some("@@ -1 +1,2 @@\n a\n+b"));
    assert_eq!(files[3].patch, None);
}

#[test]
fn a_merge_is_clean_or_names_its_conflicts() {
    let (contents, base) = first();
    let ours = on(&contents, &base, &[Change::put("README.md", "ours\n")]);
    let theirs = on(&contents, &base, &[Change::put("README.md", "theirs\n")]);
    let apart = on(&contents, &base, &[Change::put("src/a.rs", "apart\n")]);
    assert!(matches!(contents.merge(&ours, &apart), Ok(Merge::Clean(_))));
    let Ok(Merge::Conflict { paths, .. }) = contents.merge(&ours, &theirs) else {
        panic!("they change the same line");
    };
    assert_eq!(paths, ["README.md"]);
}

#[test]
fn blobs_come_back_whole() {
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let (contents, commit) = first();
    let put = Change::Put {
        path: "big".to_owned(),
        bytes: bytes.clone(),
        is_executable: false,
    };
    let head = on(&contents, &commit, &[put, Change::put("empty", "")]);
    let listed = contents.list(&head, false).unwrap();
    let oid = |path: &str| &listed.iter().find(|it| it.path == path).unwrap().oid;
    let blobs = contents
        .blobs(&[oid("big"), oid("empty"), oid("README.md")])
        .unwrap();
    assert_eq!(blobs[oid("big")], bytes);
    assert_eq!(blobs[oid("empty")], b"");
    assert_eq!(blobs[oid("README.md")], b"one\n");
    assert_eq!(contents.find("HEAD:nothing\nHEAD").unwrap(), None);
}

/// A repository of a person's, in which one file is tracked, one is not, and one is tracked and gone.
fn of_a_person() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in [("a.rs", "a\n"), ("secret", "s\n"), ("gone", "g\n")] {
        fs::write(folder.path().join(path), text).unwrap();
    }
    let git = Program::new(folder.path().to_owned());
    git.run(&["init", "--quiet"]).unwrap();
    git.run(&["add", "a.rs", "gone"]).unwrap();
    fs::remove_file(folder.path().join("gone")).unwrap();
    folder
}

#[test]
fn of_a_folder_with_git_only_tracked_files_are_taken() {
    let folder = of_a_person();
    let setup = RepoSetup {
        folder: Some(folder.path().to_owned()),
        ..RepoSetup::new("acme/shop").with_files([("b.rs", "b\n")])
    };
    let paths = |setup: &RepoSetup| {
        let (contents, tree) = Contents::from_setup(setup).unwrap();
        let listed = contents.list(&tree, true).unwrap();
        listed.into_iter().map(|it| it.path).collect::<Vec<_>>()
    };
    assert_eq!(paths(&setup), ["a.rs", "b.rs"]);
    fs::remove_dir_all(folder.path().join(".git")).unwrap();
    assert_eq!(paths(&setup), ["a.rs", "b.rs", "secret"]);
}

#[test]
fn a_copy_is_left_in_an_empty_folder_only() {
    let (contents, commit) = first();
    contents.point("main", Some(&commit)).unwrap();
    contents.point("jules", Some(&commit)).unwrap();
    let kept = TempDir::new().unwrap();
    contents.keep(kept.path()).unwrap();
    let git = Program::new(kept.path().to_owned());
    git.run(&["fsck", "--strict"]).unwrap();
    let names = git.run(&["branch", "--format=%(refname:short)"]).unwrap();
    assert_eq!(String::from_utf8(names).unwrap(), "jules\nmain\n");
    assert_eq!(git.run(&["remote"]).unwrap(), b"");
    let again = contents.keep(kept.path()).unwrap_err().to_string();
    assert!(again.contains("not an empty directory"), "{again}");
}
