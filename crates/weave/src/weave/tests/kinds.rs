//! A conflict of each kind.

use super::world::{Shop, numbered, out, set, verdict, with_patch};
use super::*;
use crate::member::moved;

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
        let woven = shop.in_order(&members);
        assert_eq!(clash(&woven), ("a", ClashKind::RenameChanged));
    }
}

/// A rename with an edit, whose diff says that it is one.
fn renamed_and_edited(shop: &mut Shop, number: u64, to: &str) -> Member {
    let edited = numbered(20).replace("\n3\n", "\nthree\n");
    let member = shop.trees(number, &[("a", None), (to, Some(&edited))]);
    let hunk = "@@ -1,7 +1,7 @@\n 0\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n";
    let names = format!("rename from a\nrename to {to}\n--- a/a\n+++ b/{to}\n");
    with_patch(member, &format!("diff --git a/a b/{to}\n{names}{hunk}"))
}

#[test]
fn a_rename_against_another_rename_or_a_deletion() {
    let text = numbered(20);
    let gone = [("a", None)];
    let to_b = [("a", None), ("b", Some(text.as_str()))];
    let to_c = [("a", None), ("c", Some(text.as_str()))];
    for (one, two) in [
        (&to_b[..], &to_c[..]),
        (&to_b[..], &gone[..]),
        (&gone[..], &to_b[..]),
    ] {
        let mut shop = Shop::new(&[("a", &text)]);
        let members = [shop.trees(1, one), shop.trees(2, two)];
        let woven = shop.weave(&members);
        assert_eq!(clash(&woven), ("a", ClashKind::MovedApart), "{one:?}");
    }
    for other in [&to_b[..], &gone[..]] {
        for edited in [1, 2] {
            let mut shop = Shop::new(&[("a", &text)]);
            let members = [
                renamed_and_edited(&mut shop, edited, "c"),
                shop.trees(3 - edited, other),
            ];
            let woven = shop.weave(&members);
            assert_eq!(clash(&woven), ("a", ClashKind::MovedApart), "{other:?}");
        }
    }
}

#[test]
fn the_same_rename_or_deletion_twice_is_in() {
    let text = numbered(20);
    let gone = [("a", None)];
    let to_b = [("a", None), ("b", Some(text.as_str()))];
    for edits in [&to_b[..], &gone[..]] {
        let mut shop = Shop::new(&[("a", &text)]);
        let members = [shop.trees(1, edits), shop.trees(2, edits)];
        let woven = shop.weave(&members);
        let both = inside(Way::ThreeWay, edits.len());
        assert_eq!(verdict(&woven, 2), &both, "{edits:?}");
    }
    let mut shop = Shop::new(&[("a", &text)]);
    let members = [1, 2].map(|number| renamed_and_edited(&mut shop, number, "b"));
    let woven = shop.weave(&members);
    assert_eq!(verdict(&woven, 2), &inside(Way::ThreeWay, 2));
    // No file without content is taken for another one that has none either.
    let mut shop = Shop::new(&[("a", "")]);
    let members = [
        shop.trees(1, &[("a", None), ("b", Some(""))]),
        shop.trees(2, &[("a", None), ("c", Some(""))]),
    ];
    let woven = shop.weave(&members);
    assert_eq!(verdict(&woven, 2), &inside(Way::ThreeWay, 2));
}

#[test]
fn a_rename_against_one_of_the_target_or_its_deletion() {
    let text = numbered(20);
    let gone = [("a", None)];
    let to_b = [("a", None), ("b", Some(text.as_str()))];
    let to_c = [("a", None), ("c", Some(text.as_str()))];
    for (is_renamed, edits, is_out) in [
        (true, &to_c[..], true),
        (true, &gone[..], true),
        (true, &to_b[..], false),
        (false, &to_c[..], true),
        (false, &gone[..], false),
    ] {
        let mut shop = Shop::new(&[("a", &text)]);
        let mut member = shop.trees(1, edits);
        shop.target("a", None);
        if is_renamed {
            shop.target("b", Some(&text));
            member.target_renamed.insert("a".to_owned());
        }
        let woven = shop.weave(&[member]);
        let told = (is_renamed, edits);
        if is_out {
            let conflict = out(&woven, 1);
            assert_eq!(conflict.clashes[0].kind, ClashKind::MovedApart, "{told:?}");
            assert_eq!(conflict.against, Against::StaleBase, "{told:?}");
        } else {
            let both = inside(Way::ThreeWay, edits.len());
            assert_eq!(verdict(&woven, 1), &both, "{told:?}");
        }
    }
}

#[test]
fn what_moves_as_it_is_is_known_by_its_blob() {
    let mut shop = Shop::new(&[("a", "1\n"), ("b", "2\n"), ("c", "3\n")]);
    let edits = [
        ("a", None),
        ("b", None),
        ("d", Some("1\n")),
        ("e", Some("3\n")),
    ];
    let member = shop.trees(1, &edits);
    let Work::Trees { changed, .. } = &member.work else {
        panic!("a patch")
    };
    assert_eq!(moved(changed), BTreeSet::from(["a".to_owned()]));
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
        id: BlobId::from_content(text).unwrap(),
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
        let woven = shop.in_order(&members);
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
