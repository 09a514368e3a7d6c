//! What does not fit is named, and nothing is changed.

use std::fs;

use super::{Bench, THREE, cart, three};
use crate::scaffold::repository::ran_in;

#[test]
fn own_changes_are_never_overwritten() {
    let bench = three();
    bench.0.write("src/cart.rs", "mine\n");
    let before = bench.0.state();
    let ran = bench.weave(&["first.patch", "third.diff", "--write", "--json"]);
    let refused = ran.failure();
    refused.is(1, "dirty");
    refused.tells("src/cart.rs", "");
    assert_eq!(bench.0.state(), before);
    assert_eq!(bench.0.read("src/cart.rs"), "mine\n");
    // What lies elsewhere is not in the way, staged or not.
    bench.0.git(&["add", "--all"]);
    bench.weave(&["third.diff", "--write"]).ok();
    assert_eq!(bench.0.read("src/cart.rs"), "mine\n");
    assert_eq!(bench.0.read("README.md"), "A better shop.\n");
    let told = bench.0.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(told, "src/cart.rs");
}

#[test]
fn a_file_that_git_does_not_know_is_in_the_way_and_all_stays() {
    let bench = three();
    bench.0.write("src/new.rs", "mine\n");
    let ran = bench.weave(&["first.patch", "third.diff", "--write"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("src/new.rs"), "{ran:?}");
    assert_eq!(bench.0.read("src/new.rs"), "mine\n");
    assert_eq!(bench.0.read("src/cart.rs"), cart(&[]));
    assert_eq!(bench.0.read("README.md"), "A shop.\n");
}

#[test]
fn a_patch_that_is_none_is_told_and_the_others_are_woven() {
    let bench = three();
    let file = |name: &str, text: &str| fs::write(bench.folder().join(name), text).unwrap();
    file("prose.patch", "Please make it better.\n");
    file(
        "escape.patch",
        "--- a/../../x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n",
    );
    let ran = bench.weave(&["prose.patch", "third.diff", "escape.patch", "--write"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.prints(&[
        "❌ #1 prose.patch is no patch that can be woven: there is no diff in it",
        "❌ #3 escape.patch is no patch that can be woven",
        "never goes up",
        "1 of 3 are in, and change 1 file.",
    ]);
    assert_eq!(bench.0.read("README.md"), "A better shop.\n");
}

#[test]
fn what_is_named_wrongly_ends_with_two() {
    let bench = three();
    for (arguments, named) in [
        (&["none.patch"][..], "none.patch cannot be read"),
        (&["shop"], "shop cannot be read"),
        (&[], "WHAT"),
        (&["third.diff", "--rev", "none"], "no commit `none`"),
        (&["third.diff", "--rev=--all"], "no commit `--all`"),
        (&["third.diff", "--order", "any"], "--order"),
        (&["third.diff", "--pull"], "--pull"),
    ] {
        let ran = bench.weave(arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {ran:?}"
        );
        assert!(ran.stderr.contains(named), "{arguments:?}: {ran:?}");
    }
    let many: Vec<&str> = std::iter::repeat_n("third.diff", 61).collect();
    let ran = bench.weave(&many);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("at most 60 members"), "{ran:?}");
    let elsewhere = tempfile::tempdir().unwrap();
    let place = elsewhere.path().to_str().unwrap();
    let ran = bench
        .0
        .run_in(&bench.folder(), &["weave", "--local", place, "third.diff"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("no repository"), "{ran:?}");
}

#[test]
fn the_environment_of_a_hook_leads_nowhere_else() {
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        let bench = three();
        let mut gaffer = bench.0.gaffer(&bench.folder());
        gaffer.env(name, bench.folder().join("elsewhere"));
        let arguments = ["weave", "--local", "shop", "third.diff", "--write"];
        ran_in(gaffer, &arguments).ok();
        assert_eq!(bench.0.read("README.md"), "A better shop.\n", "{name}");
    }
}

#[test]
fn without_git_it_says_so() {
    let bench = Bench::new();
    let mut gaffer = bench.0.gaffer(&bench.folder());
    gaffer.env("PATH", "/nowhere");
    let ran = ran_in(
        gaffer,
        &[&["weave", "--local", "shop"], &THREE[..]].concat(),
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("install git 2.38"), "{ran:?}");
}
