//! A conflict of each kind.

use super::world::{Shop, numbered, out, set, verdict, with_patch};
use super::*;

/// The path and kind of the one conflict of member 2.
fn clash(woven: &Woven) -> (&str, ClashKind) {
    let conflict = out(woven, 2);
    assert_eq!(conflict.against, Against::Members(vec![1]));
    let [clash] = &conflict.clashes[..] else {
        panic!("{conflict:?}")
    };
    (&clash.path, clash.kind)
}

#[test]
fn lines_binaries_edits_and_deletions() {
    let marked = format!("{}\n", "<".repeat(300));
    for (one, two, expected) in [
        (Some("one\n"), Some("two\n"), ClashKind::Lines),
        (Some("one\n"), Some("\0two\n"), ClashKind::Binary),
        (Some("\0one\n"), Some("two\n"), ClashKind::Binary),
        (None, Some("two\n"), ClashKind::EditDeleted),
        (Some("one\n"), None, ClashKind::EditDeleted),
        (Some("one\n"), Some(&marked[..]), ClashKind::Unmergeable),
    ] {
        let mut shop = Shop::new(&[("a", "base\n")]);
        let members = [
            shop.patched(1, &[("a", one)]),
            shop.patched(2, &[("a", two)]),
        ];
        assert_eq!(
            clash(&shop.weave(&members)),
            ("a", expected),
            "{one:?} {two:?}"
        );
    }
}

#[test]
fn two_new_files_of_one_name() {
    let mut shop = Shop::new(&[]);
    let members = [
        shop.patched(1, &[("a", Some("one\n"))]),
        shop.patched(2, &[("a", Some("two\n"))]),
    ];
    assert_eq!(clash(&shop.weave(&members)), ("a", ClashKind::Lines));
}

#[test]
fn a_rename_against_a_change() {
    let rename = [("a", None), ("b", Some("base\n"))];
    let change = [("a", Some("base\nmore\n"))];
    for (one, two) in [(&rename[..], &change[..]), (&change[..], &rename[..])] {
        let mut shop = Shop::new(&[("a", "base\n")]);
        let members = [shop.trees(1, one), shop.trees(2, two)];
        let woven = weave(
            Start::at(&shop.base),
            &members,
            Order::Given,
            &shop.contents,
        )
        .unwrap();
        assert_eq!(clash(&woven), ("a", ClashKind::RenameChanged));
    }
}

#[test]
fn a_rename_whose_patch_applies_is_in() {
    let text = numbered(20);
    let mut shop = Shop::new(&[("a", &text)]);
    let change = shop.trees(1, &[("a", Some(&text.replace("\n3\n", "\nthree\n")))]);
    let rename = shop.trees(2, &[("a", None), ("b", Some(&text))]);
    let rename = with_patch(
        rename,
        "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
    );
    let woven = shop.weave(&[change, rename]);
    assert_eq!(verdict(&woven, 2), &inside(Way::Applied, 2));
    assert_eq!(shop.text(&woven, "b"), text.replace("\n3\n", "\nthree\n"));
    assert_eq!(woven.tree.get("a"), None);
}

#[test]
fn a_chain_of_renames_applies_where_only_its_first_file_changed() {
    let text = numbered(20);
    let mut shop = Shop::new(&[("a", &text), ("b", "b\n")]);
    let change = shop.trees(1, &[("a", Some(&text.replace("\n3\n", "\nthree\n")))]);
    let chain = shop.trees(2, &[("a", None), ("b", Some(&text)), ("c", Some("b\n"))]);
    let rename =
        |from, to| format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    let chain = with_patch(chain, &(rename("a", "b") + &rename("b", "c")));
    let woven = shop.weave(&[change, chain]);
    assert_eq!(verdict(&woven, 2), &inside(Way::Applied, 3));
    assert_eq!(shop.text(&woven, "b"), text.replace("\n3\n", "\nthree\n"));
    assert_eq!(shop.text(&woven, "c"), "b\n");
    assert_eq!(woven.tree.get("a"), None);
}

#[test]
fn a_patch_about_other_paths_is_not_used() {
    let text = numbered(20);
    let mut shop = Shop::new(&[("a", &text)]);
    let one = shop.trees(1, &[("a", Some(&text.replace("\n3\n", "\nthree\n")))]);
    let two = shop.patched(
        2,
        &[
            ("a", Some(&text.replace("\n15\n", "\nXV\n"))),
            ("x", Some("x\n")),
        ],
    );
    let Work::Trees {
        patch: Some(cut), ..
    } = &two.work
    else {
        panic!("no patch")
    };
    let cut = String::from_utf8(cut.clone()).unwrap();
    let cut = cut.split("diff --git a/x").next().unwrap().to_owned();
    let woven = shop.weave(&[one, with_patch(two, &cut)]);
    assert_eq!(verdict(&woven, 2), &inside(Way::ThreeWay, 2));
    assert_eq!(shop.text(&woven, "x"), "x\n");
}

#[test]
fn modes_links_and_submodules() {
    let submodule = |text: &[u8]| Entry {
        mode: Mode::Submodule,
        id: BlobId::of(text).unwrap(),
    };
    let mut shop = Shop::new(&[("a", "base\n")]);
    let links = [
        shop.entry(Mode::Symlink, "x"),
        shop.entry(Mode::Symlink, "y"),
    ];
    let text = shop.entry(Mode::File, "text\n");
    for (one, two) in [
        (links[0], links[1]),
        (links[0], text),
        (text, links[0]),
        (submodule(b"1"), submodule(b"2")),
        (submodule(b"1"), text),
    ] {
        let mut members = [shop.trees(1, &[]), shop.trees(2, &[])];
        set(&mut members[0], "a", shop.base.get("a"), Some(one));
        set(&mut members[1], "a", shop.base.get("a"), Some(two));
        assert_eq!(
            clash(&shop.weave(&members)),
            ("a", ClashKind::Kind),
            "{one:?} {two:?}"
        );
    }
}

#[test]
fn a_file_where_the_other_needs_a_folder() {
    for (one, two) in [("x", "x/y"), ("x/y", "x")] {
        let mut shop = Shop::new(&[]);
        let members = [
            shop.patched(1, &[(one, Some("1\n"))]),
            shop.patched(2, &[(two, Some("2\n"))]),
        ];
        let woven = weave(
            Start::at(&shop.base),
            &members,
            Order::Given,
            &shop.contents,
        )
        .unwrap();
        assert_eq!(clash(&woven), (two, ClashKind::InTheWay));
        assert_eq!(woven.groups.len(), 1);
    }
}

#[test]
fn a_content_that_is_not_loaded() {
    let mut shop = Shop::new(&[("a", "base\n")]);
    let members = [
        shop.trees(1, &[("a", Some("one\n"))]),
        shop.trees(2, &[("a", Some("two\n"))]),
    ];
    shop.contents.clear();
    let woven = shop.weave(&members);
    assert_eq!(out(&woven, 2).clashes[0].kind, ClashKind::NotLoaded);
}
