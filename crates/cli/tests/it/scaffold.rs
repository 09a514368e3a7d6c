//! `gaffer scaffold` and `gaffer run` on real repositories.

mod at_work;
mod bad_input;
mod examined;
mod exchange;
mod later;
mod older;
mod personas;
mod previews;
pub(crate) mod repository;
mod roles;
mod tools;
pub(crate) mod workflows;

use repository::Repository;

/// The commands of the README's section, one a line.
fn readme() -> impl Iterator<Item = &'static str> {
    let readme = include_str!("../../../../README.md");
    let section = "## A pipeline's files in your repository";
    let section = readme.split_once(section).unwrap().1;
    let block = section.split_once("```console\n").unwrap().1;
    block.split_once("\n```").unwrap().0.lines()
}

#[test]
fn a_repository_is_set_up_as_the_readme_says() {
    let repository = Repository::new();
    let said: Vec<String> = readme()
        .map(|line| {
            let ran = repository.types(line);
            assert_eq!(ran.code, 0, "{line}: {ran:?}");
            ran.stdout
        })
        .collect();
    let [init, _, bootstrap, doctor, prompt] = &said[..] else {
        panic!("{said:?}");
    };
    assert!(init.contains(".jlo/config.toml is written."), "{init}");
    let tip = repository.git(&["rev-parse", "jules"]);
    assert!(bootstrap.contains(&tip), "{bootstrap}");
    assert_eq!(doctor, "0 errors, 0 warnings.\n");
    assert!(prompt.contains("\n# Output\n"), "{prompt}");
    repository.git(&["fsck", "--strict"]);
    // The worker branch is the code with the system's files in it.
    let parent = repository.git(&["rev-parse", "jules^"]);
    assert_eq!(parent, repository.git(&["rev-parse", "main"]));
    let changed = repository.git(&["diff", "--name-only", "main", "jules", "--", ":!.jules"]);
    assert_eq!(changed, "");
}

#[test]
fn a_second_bootstrap_makes_no_commit_and_the_working_tree_is_not_touched() {
    let repository = Repository::set_up();
    repository.write("staged.txt", "staged\n");
    repository.git(&["add", "staged.txt"]);
    repository.write("README.md", "changed\n");
    repository.write("new.txt", "new\n");
    let state = || {
        let status = repository.git(&["status", "--porcelain"]);
        (status, repository.git(&["ls-files", "--stage"]))
    };
    let (before, tip) = (state(), repository.git(&["rev-parse", "jules"]));
    let again = repository.json(&["scaffold", "bootstrap"]);
    assert_eq!(again["moved"], false);
    assert_eq!(repository.git(&["rev-parse", "jules"]), tip);
    // What a session wrote stays, and what the system owns is put back.
    repository.commit_to_worker(&[
        (".jules/exchange/notes.txt", Some("mine\n")),
        (".jules/JULES.md", Some("do as you like\n")),
    ]);
    let mended = repository.json(&["scaffold", "bootstrap"]);
    assert_eq!(mended["moved"], true);
    let changed = repository.git(&["diff", "--name-only", &tip, "jules"]);
    assert_eq!(changed, ".jules/exchange/notes.txt");
    assert_eq!(state(), before);
    assert_eq!(repository.read("README.md"), "changed\n");
    repository.git(&["fsck", "--strict"]);
}

#[test]
fn it_works_from_any_folder_and_on_a_clone() {
    let repository = Repository::new();
    repository.write("src/deep/lib.rs", "");
    let inside = repository.root().join("src/deep");
    repository.run_in(&inside, &["scaffold", "init"]).ok();
    assert!(repository.root().join(".jlo/config.toml").is_file());
    repository.commit("Set Gaffer up");
    repository.run_in(&inside, &["scaffold", "bootstrap"]).ok();
    let clone = repository.root().with_file_name("clone");
    repository.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    let examined = repository.run_in(&clone, &["scaffold", "doctor", "--strict"]);
    assert_eq!(examined.ok().stdout, "0 errors, 0 warnings.\n");
    // The branch that was fetched is gone on with, not begun anew.
    repository.run_in(&clone, &["scaffold", "bootstrap"]).ok();
    let tip = |folder: &std::path::Path| repository.git_in(folder, &["rev-parse", "jules"]);
    assert_eq!(tip(&clone), tip(&repository.root()));
}

#[test]
fn what_a_person_wrote_is_never_overwritten() {
    let repository = Repository::new();
    repository.write(".jlo/roles/observers/own/role.yml", "mine\n");
    let refused = repository.refused(&["scaffold", "init"]);
    refused.is(2, "begun_already");
    assert_eq!(repository.git(&["status", "--porcelain"]), "?? .jlo/");
    assert!(!repository.root().join(".jlo/config.toml").exists());
}
