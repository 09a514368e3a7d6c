//! Real repositories in temporary folders.

use scaffold::tree::TEXT_BYTES_MAX;

use super::*;

/// A repository with one commit on `main`.
fn repository() -> (tempfile::TempDir, Git, CommitSha) {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        ["init", "--quiet", "--initial-branch=main"].as_slice(),
        &["config", "user.name", "Ann"],
        &["config", "user.email", "ann@example.com"],
        &["commit", "--quiet", "--allow-empty", "-m", "Begin"],
    ] {
        let mut git = Command::new("git");
        let git = git.arg("-C").arg(folder.path()).args(arguments);
        assert!(git.status().unwrap().success());
    }
    let git = Git::at(folder.path()).unwrap();
    let start = git.commit("HEAD").unwrap().unwrap();
    (folder, git, start)
}

fn file(path: &str, text: &str) -> Written {
    Written {
        path: path.parse().unwrap(),
        text: text.to_owned(),
    }
}

#[test]
fn what_is_put_on_a_branch_is_read_from_it_and_the_working_tree_stays() {
    let (folder, git, start) = repository();
    let branch: BranchName = "jules".parse().unwrap();
    let files = [
        file(".jules/JULES.md", "Read this.\n"),
        file(".jules/a/b.yml", "id: x\n"),
    ];
    let made = git.put(&branch, &start, &files, "Begin").unwrap();
    assert!(made.moved);
    assert_eq!(git.tip(&branch).unwrap(), Some(made.tip.clone()));
    let tree = git.tree(&made.tip, &[".jules", ".jlo"]).unwrap();
    assert_eq!(tree.text(".jules/a/b.yml"), Some("id: x\n"));
    assert_eq!(tree.len(), 2);
    let there = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(there, 1, "only `.git`");
    // Twice is no second commit, and a change leaves the rest alone.
    let again = git.put(&branch, &start, &files, "Again").unwrap();
    assert_eq!((again.moved, &again.tip), (false, &made.tip));
    let change = [file(".jules/JULES.md", "Read that.\n")];
    let second = git.put(&branch, &start, &change, "Change").unwrap();
    let tree = git.tree(&second.tip, &[".jules"]).unwrap();
    assert_eq!(tree.text(".jules/JULES.md"), Some("Read that.\n"));
    assert_eq!(tree.text(".jules/a/b.yml"), Some("id: x\n"));
}

#[test]
fn a_branch_that_lacks_nothing_begins_without_a_commit() {
    let (_folder, git, start) = repository();
    let files = [file("a", "x")];
    let first = git.put(&"one".parse().unwrap(), &start, &files, "Begin");
    let first = first.unwrap().tip;
    let second = git.put(&"two".parse().unwrap(), &first, &files, "Begin");
    assert_eq!(
        second.unwrap(),
        Put {
            tip: first,
            moved: true
        }
    );
}

#[test]
fn a_branch_that_was_made_meanwhile_is_not_moved() {
    let (_folder, git, start) = repository();
    let branch: BranchName = "jules".parse().unwrap();
    let files = [file("a", "x")];
    let made = git.put(&branch, &start, &files, "Begin").unwrap().tip;
    let late = git.move_branch(&branch, None, &start, "Late");
    let late = late.unwrap_err();
    assert!(late.to_string().contains("the branch jules"), "{late}");
    assert!(late.downcast_ref::<Error>().is_some(), "{late:?}");
    assert_eq!(git.tip(&branch).unwrap(), Some(made));
}

#[test]
fn large_files_are_listed_and_not_read() {
    let (_folder, git, start) = repository();
    let large = "x".repeat(TEXT_BYTES_MAX + 1);
    let files = [file("large.txt", &large), file("empty.txt", "")];
    let made = git.put(&"jules".parse().unwrap(), &start, &files, "Begin");
    let tree = git.tree(&made.unwrap().tip, &[]).unwrap();
    let large = tree.get(&"large.txt".parse().unwrap()).unwrap();
    assert_eq!(large.content, Content::TooLarge);
    assert_eq!(tree.text("empty.txt"), Some(""));
    assert_eq!(git.commit("refs/heads/none").unwrap(), None);
    assert_eq!(git.commit("--all").unwrap(), None);
}

#[test]
fn a_folder_outside_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Git::at(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("no repository"), "{refused}");
}

#[test]
fn commits_are_listed_with_their_first_line_and_what_they_changed() {
    let (_folder, git, start) = repository();
    let branch: BranchName = "jules".parse().unwrap();
    let files = [file(".jules/a.yml", "id: x\n"), file("src/a b.rs", "x")];
    let made = git.put(&branch, &start, &files, "Add them\n\nAs they are.");
    let tip = made.unwrap().tip;
    let log = git.log(&tip, 5).unwrap();
    let shown: Vec<_> = log
        .iter()
        .map(|it| (&it.sha, it.subject.as_str()))
        .collect();
    assert_eq!(shown, [(&tip, "Add them"), (&start, "Begin")]);
    assert!(log[0].at >= log[1].at);
    assert_eq!(git.log(&tip, 1).unwrap(), log[..1]);
    let changed = git.changed(&start, &tip).unwrap();
    assert_eq!(changed, [".jules/a.yml", "src/a b.rs"]);
}
