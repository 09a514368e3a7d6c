//! `gaffer weave` on real repositories, beside what `git apply` makes of the same patches.

mod pulls;
mod pushed;
mod wrong;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::scaffold::repository::{Repository, ran_in};
use crate::world::{Fields, Ran};

/// A repository with a file of thirty lines, and patches beside it.
struct Bench(Repository);

impl Bench {
    fn new() -> Self {
        let bench = Self(Repository::new());
        bench.0.write("src/cart.rs", &cart(&[]));
        bench.0.write("src/other.rs", "one\ntwo\n");
        bench.0.commit("Add a cart");
        bench
    }

    /// The folder that holds the repository and the patches.
    fn folder(&self) -> PathBuf {
        self.0.root().parent().unwrap().to_owned()
    }

    /// Writes what a change comes to into a patch, and takes the change back.
    fn patch(&self, name: &str, change: impl FnOnce(&Repository), options: &[&str]) {
        change(&self.0);
        self.0.git(&["add", "--all"]);
        let output = format!("--output={}", self.folder().join(name).display());
        self.0
            .git(&[&["diff", "--cached", &output], options].concat());
        self.0.git(&["reset", "--hard", "--quiet"]);
    }

    fn weave(&self, arguments: &[&str]) -> Ran {
        let arguments = [&["weave", "--local", "shop"], arguments].concat();
        self.0.run_in(&self.folder(), &arguments)
    }

    /// The tree that git makes of some patches, in a working tree of its own; none if it refuses one.
    fn judged(&self, patches: &[&str], options: &[&str]) -> Option<String> {
        let place = self.folder().join("judge");
        let shown = place.to_str().unwrap();
        self.0
            .git(&["worktree", "add", "--quiet", "--detach", shown]);
        let taken = patches.iter().all(|patch| {
            let mut git = Command::new("git");
            self.0.prepare(&mut git, &place);
            let patch = format!("../{patch}");
            let arguments = [&["apply", "--index"], options, &[patch.as_str()]].concat();
            ran_in(git, &arguments).code == 0
        });
        let tree = taken.then(|| self.0.git_in(&place, &["write-tree"]));
        self.0.git(&["worktree", "remove", "--force", shown]);
        tree
    }

    /// The tree of what is in the working tree now.
    fn tree(&self) -> String {
        self.0.git(&["add", "--all"]);
        let tree = self.0.git(&["write-tree"]);
        self.0.git(&["reset", "--hard", "--quiet"]);
        tree
    }
}

/// Thirty lines, some of them other ones.
fn cart(other: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let other = other.iter().find(|(at, _)| *at == number);
        other.map_or(format!("line {number}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=30).map(line).collect()
}

/// Three patches: two change the same lines of a file, and one another file.
fn three() -> Bench {
    let bench = Bench::new();
    let first = |it: &Repository| {
        let five = [10, 11, 12, 13, 14].map(|at| (at, "first"));
        it.write("src/cart.rs", &cart(&five));
        it.write("src/new.rs", "new\n");
    };
    bench.patch("first.patch", first, &[]);
    let second = |it: &Repository| it.write("src/cart.rs", &cart(&[(12, "second")]));
    bench.patch("second.patch", second, &[]);
    let third = |it: &Repository| it.write("README.md", "A better shop.\n");
    bench.patch("third.diff", third, &[]);
    bench
}

const THREE: [&str; 3] = ["first.patch", "second.patch", "third.diff"];

#[test]
fn patches_are_woven_as_far_as_git_applies_them_one_after_the_other() {
    let bench = three();
    let before = bench.0.state();
    let ran = bench.weave(&THREE);
    assert_eq!(
        ran.stdout,
        "✅ #3 third.diff applies cleanly (taken, 1 file)\n\
         ✅ #1 first.patch applies cleanly (taken, 2 files)\n\
         ❌ #2 second.patch has conflicts with #1: src/cart.rs lines 10–14\n\
         Order: #3, #1, #2.\n\
         #1, #2 share src/cart.rs.\n\
         2 of 3 are in, and change 3 files.\n"
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("1 of 3 are not in"), "{ran:?}");
    assert_eq!(bench.0.state(), before, "a dry run changes nothing");
    let told = bench.judged(&["third.diff", "first.patch", "second.patch"], &[]);
    assert_eq!(told, None);
    let judged = bench.judged(&["third.diff", "first.patch"], &[]);
    assert_eq!(bench.weave(&[&THREE[..], &["--write"]].concat()).code, 1);
    assert_eq!(Some(bench.tree()), judged);
}

#[test]
fn a_program_reads_the_same_and_the_order_can_be_given() {
    let bench = three();
    let ran = bench.weave(&[&["--order", "given", "--json"], &THREE[..]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let told = ran.json();
    assert_eq!(told["order"], json!([1, 2, 3]));
    assert_eq!(told["base"], bench.0.git(&["rev-parse", "HEAD"]));
    let second = &told["members"][1];
    second.holds(&json!({ "name": "second.patch", "verdict": "conflict", "conflicts_with": [1] }));
    let clash = &second["clashes"][0];
    clash.holds(&json!({
        "path": "src/cart.rs", "kind": "lines", "lines": [{ "first": 10, "count": 5 }],
    }));
    assert_eq!((&told["in"], &told["files"]), (&2.into(), &3.into()));
    let one = bench
        .weave(&["second.patch", "third.diff", "--json"])
        .ok()
        .json();
    one.holds(&json!({ "in": 2, "written": null }));
}

#[test]
fn what_git_refuses_by_its_context_is_merged_as_its_three_way_does() {
    let bench = Bench::new();
    let change = |it: &Repository| it.write("src/cart.rs", &cart(&[(20, "theirs")]));
    bench.patch("old.patch", change, &[]);
    let other = |it: &Repository| it.write("src/cart.rs", &cart(&[(18, "theirs")]));
    bench.patch("stale.patch", other, &[]);
    bench.0.write("src/cart.rs", &cart(&[(18, "ours")]));
    bench.0.commit("Go on");
    assert_eq!(bench.judged(&["old.patch"], &[]), None);
    let judged = bench.judged(&["old.patch"], &["--3way"]);
    let ran = bench.weave(&["old.patch", "--write"]).ok();
    ran.prints(&["(three_way, 1 file)", "1 file written."]);
    assert!(judged.is_some());
    assert_eq!(Some(bench.tree()), judged);
    let ran = bench.weave(&["stale.patch"]);
    let told = "❌ #1 stale.patch does not apply to the base alone either: src/cart.rs line 18\n";
    assert!(ran.stdout.starts_with(told), "{ran:?}");
    // Where it was made, it fits.
    let earlier = bench.weave(&["stale.patch", "--rev", "HEAD~1"]).ok();
    assert!(earlier.stdout.contains("(taken, 1 file)"), "{earlier:?}");
}

#[test]
fn names_modes_links_and_bytes_are_written_as_git_writes_them() {
    let bench = Bench::new();
    let root = bench.0.root();
    fs::write(root.join("logo.png"), [0_u8, 1, 2, 255]).unwrap();
    bench.0.write("run.sh", "true\n");
    bench.0.commit("Add a logo");
    let change = |it: &Repository| {
        it.git(&["mv", "src/cart.rs", "src/basket cart.rs"]);
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(root.join("logo.png"), [0_u8, 9, 9, 255]).unwrap();
        symlink("README.md", root.join("ABOUT")).unwrap();
        fs::remove_file(root.join("src/other.rs")).unwrap();
        it.write("windows.txt", "a\r\nb\r\n  \r\nc");
    };
    bench.patch("all.patch", change, &["--binary", "-M"]);
    let judged = bench.judged(&["all.patch"], &[]);
    assert!(judged.is_some());
    // Settings that would change what is written.
    bench.0.git(&["config", "apply.whitespace", "fix"]);
    bench.0.git(&["config", "diff.noprefix", "true"]);
    bench.weave(&["all.patch", "--write"]).ok();
    assert_eq!(Some(bench.tree()), judged);
}

#[test]
fn a_mailbox_of_several_patches_is_one_member() {
    let bench = Bench::new();
    let start = bench.0.git(&["rev-parse", "HEAD"]);
    for (text, subject) in [("one", "Begin"), ("two", "Go on")] {
        bench
            .0
            .write("src/cart.rs", &cart(&[(5, text), (25, text)]));
        bench.0.write("series.txt", text);
        bench.0.commit(subject);
    }
    let judged = bench.0.git(&["rev-parse", "HEAD^{tree}"]);
    let output = bench.folder().join("series.mbox");
    let range = format!("{start}..HEAD");
    let mailed = bench.0.types(&format!(
        "git format-patch --stdout {range} > {}",
        output.display()
    ));
    assert_eq!(mailed.code, 0, "{mailed:?}");
    bench.0.git(&["reset", "--hard", "--quiet", &start]);
    let ran = bench.weave(&["series.mbox", "--write"]).ok();
    ran.prints(&["✅ #1 series.mbox applies cleanly (applied, 2 files)"]);
    assert_eq!(bench.tree(), judged);
}

#[test]
fn a_patch_comes_from_a_pipe_too() {
    let bench = three();
    let gaffer = env!("CARGO_BIN_EXE_gaffer");
    let ran = bench
        .0
        .types(&format!("{gaffer} weave --local . - < ../first.patch"));
    let told = "✅ #1 - applies cleanly (taken, 2 files)\n";
    assert!(ran.ok().stdout.starts_with(told));
}
