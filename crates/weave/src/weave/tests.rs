//! Members woven: each way in, each kind of conflict, and what holds for any members.

mod answers;
mod kinds;
mod properties;
mod world;

use std::collections::BTreeSet;

use world::{Shop, numbered, out, verdict};

use super::*;
use crate::apply::Refusal;
use crate::patch::Fault;
use crate::place::Misplaced;
use crate::verdict::Way;

/// Twenty lines, one of which is changed.
fn fifteen() -> String {
    numbered(20).replace("\n15\n", "\nfifteen\n")
}

/// A way in with a count of files.
fn inside(way: Way, files: usize) -> Verdict {
    Verdict::In { way, files }
}

#[test]
fn taken_is_exact_and_needs_no_content() {
    let mut shop = Shop::new(&[
        ("a", "a\n"),
        ("b", "b\n"),
        ("bin", "\0old"),
        ("tool", "t\n"),
    ]);
    let link = shop.entry(Mode::Symlink, "a");
    let tool = shop.entry(Mode::Executable, "t\n");
    let submodule = Entry {
        mode: Mode::Submodule,
        id: BlobId::from_content(b"a commit").unwrap(),
    };
    let mut one = shop.trees(1, &[("a", Some("new a\n")), ("bin", Some("\0new"))]);
    world::set(&mut one, "tool", shop.base.get("tool"), Some(tool));
    world::set(&mut one, "link", None, Some(link));
    world::set(&mut one, "sub", None, Some(submodule));
    let two = shop.trees(2, &[("b", None), ("moved", Some("b\n"))]);
    let members = [one, two];
    assert_eq!(needs(Start::at(&shop.base), &members), BTreeSet::new());
    let woven = shop.weave(&members);
    assert_eq!(verdict(&woven, 1), &inside(Way::Taken, 5));
    assert_eq!(verdict(&woven, 2), &inside(Way::Taken, 2));
    assert_eq!(woven.made, Contents::new());
    assert_eq!(
        shop.shown(&woven),
        "a=new a bin=\0new link=a moved=b sub=? tool=t "
    );
    assert_eq!(woven.tree.get("tool"), Some(tool));
    assert_eq!(woven.tree.get("sub"), Some(submodule));
}

#[test]
fn only_those_who_share_a_path_with_others_or_the_target_need_their_patches() {
    let mut shop = Shop::new(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n"), ("d", "d\n")]);
    let members = [
        shop.trees(1, &[("a", Some("1\n"))]),
        shop.trees(2, &[("a", Some("2\n")), ("d", Some("2\n"))]),
        shop.trees(3, &[("b", Some("3\n"))]),
        shop.trees(4, &[("c", Some("4\n"))]),
    ];
    shop.target("c", Some("moved\n"));
    let needing = needs_patches(Start::at(&shop.base), &members);
    assert_eq!(needing, BTreeSet::from([1, 2, 4]));
}

#[test]
fn the_first_of_those_who_share_is_taken_and_the_next_applied() {
    let mut shop = Shop::new(&[("a", &numbered(20))]);
    let one = shop.trees(
        1,
        &[("a", Some(&numbered(20).replace("\n3\n", "\nthree\nIII\n")))],
    );
    let two = shop.patched(2, &[("a", Some(&fifteen())), ("own", Some("o\n"))]);
    let woven = shop.weave(&[one, two]);
    assert_eq!(verdict(&woven, 1), &inside(Way::Taken, 1));
    assert_eq!(verdict(&woven, 2), &inside(Way::Applied, 2));
    let expected = numbered(20)
        .replace("\n3\n", "\nthree\nIII\n")
        .replace("\n15\n", "\nfifteen\n");
    assert_eq!(shop.text(&woven, "a"), expected);
    assert_eq!(woven.made.len(), 1);
}

#[test]
fn a_patch_applies_where_the_target_moved() {
    let mut shop = Shop::new(&[("a", &numbered(20))]);
    let member = shop.patched(1, &[("a", Some(&fifteen()))]);
    shop.target("a", Some(&("new\n".to_owned() + &numbered(20))));
    let woven = shop.weave(&[member]);
    assert_eq!(verdict(&woven, 1), &inside(Way::Applied, 1));
    assert_eq!(shop.text(&woven, "a"), "new\n".to_owned() + &fifteen());
}

#[test]
fn a_text_is_merged_where_the_target_moved() {
    let mut shop = Shop::new(&[("a", &numbered(20))]);
    let member = shop.trees(1, &[("a", Some(&fifteen()))]);
    shop.target("a", Some(&("new\n".to_owned() + &numbered(20))));
    let woven = shop.weave(&[member]);
    assert_eq!(verdict(&woven, 1), &inside(Way::ThreeWay, 1));
}

#[test]
fn a_short_id_names_the_blob_of_the_base_from_seven_digits_on() {
    for (digits, way) in [(7, Way::Taken), (6, Way::Applied)] {
        let mut shop = Shop::new(&[("a", "a\n")]);
        let member = shop.patched(1, &[("a", Some("b\n"))]);
        let Work::Trees {
            patch: Some(patch), ..
        } = &member.work
        else {
            panic!("no patch")
        };
        let id = shop.base.get("a").unwrap().id.to_string();
        let patch = String::from_utf8(patch.clone())
            .unwrap()
            .replace(&id, &id[..digits]);
        let member = Member {
            work: Work::Patch(patch.into_bytes()),
            ..member
        };
        assert_eq!(verdict(&shop.weave(&[member]), 1), &inside(way, 1));
    }
}

#[test]
fn texts_are_merged_where_the_patch_does_not_apply_or_is_not_there() {
    for with_patch in [true, false] {
        let mut shop = Shop::new(&[("a", &numbered(5))]);
        let edits = [("a", Some("0\n1\n2\nthree\n4\n"))];
        let one = shop.trees(1, &[("a", Some("0\none\n2\n3\n4\n"))]);
        let two = if with_patch {
            shop.patched(2, &edits)
        } else {
            shop.trees(2, &edits)
        };
        let woven = shop.weave(&[one, two]);
        assert_eq!(
            verdict(&woven, 2),
            &inside(Way::ThreeWay, 1),
            "{with_patch}"
        );
        assert_eq!(shop.text(&woven, "a"), "0\none\n2\nthree\n4\n");
    }
}

#[test]
fn the_same_change_twice_and_a_mode_beside_a_text_are_merged() {
    let mut shop = Shop::new(&[("a", "a\n"), ("b", "b\n")]);
    let one = shop.trees(
        1,
        &[("a", Some("same\n")), ("b", Some("new\n")), ("gone", None)],
    );
    let mut two = shop.trees(2, &[("a", Some("same\n"))]);
    let executable = shop.entry(Mode::Executable, "b\n");
    world::set(&mut two, "b", shop.base.get("b"), Some(executable));
    let woven = shop.weave(&[one, two]);
    assert_eq!(verdict(&woven, 2), &inside(Way::ThreeWay, 2));
    assert_eq!(shop.shown(&woven), "a=same b=new ");
    assert_eq!(
        woven.tree.get("b").map(|entry| entry.mode),
        Some(Mode::Executable)
    );
}

#[test]
fn a_conflict_names_lines_and_only_those_who_changed_them() {
    let text = numbered(30);
    let mut shop = Shop::new(&[("a", &text)]);
    let one = shop.patched(1, &[("a", Some(&text.replace("\n5\n", "\nfive\n")))]);
    let two = shop.patched(2, &[("a", Some(&text.replace("\n15\n", "\nfifteen\n")))]);
    let three = shop.patched(
        3,
        &[
            ("a", Some(&text.replace("\n15\n16\n", "\nXV\n"))),
            ("c", Some("whole or not\n")),
        ],
    );
    let woven = shop.weave(&[one, two, three]);
    let conflict = out(&woven, 3);
    assert_eq!(conflict.against, Against::Members(vec![2]));
    let [clash] = &conflict.clashes[..] else {
        panic!("{conflict:?}")
    };
    assert_eq!((clash.path.as_str(), clash.kind), ("a", ClashKind::Lines));
    assert_eq!(
        clash
            .lines
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["lines 16–17"]
    );
    assert_eq!(clash.ours, woven.tree.get("a").map(|entry| entry.id));
    assert_eq!(woven.tree.get("c"), None);
}

#[test]
fn what_fails_alone_too_stands_on_a_stale_base() {
    let mut shop = Shop::new(&[("a", "1\n2\n3\n")]);
    let member = shop.patched(1, &[("a", Some("1\nmine\n3\n"))]);
    let other = shop.patched(2, &[("a", Some("1\n2\n3\nmore\n"))]);
    shop.target("a", Some("1\ntheirs\n3\n"));
    let woven = shop.weave(&[member, other]);
    assert_eq!(out(&woven, 1).against, Against::StaleBase);
}

#[test]
fn what_began_on_what_was_woven_conflicts_with_the_target_only_if_that_moved() {
    let text = numbered(20);
    let edited = |line: &str| text.replace("\n3\n", &format!("\n{line}\n"));
    let mut shop = Shop::new(&[("a", &text)]);
    let mut early = shop.patched(1, &[("a", Some(&edited("pushed later")))]);
    early.was_in = Some(0);
    let mut anew = shop.trees(2, &[]);
    let (before, after) = (edited("woven first"), edited("both"));
    let before = shop.entry(Mode::File, &before);
    let after = shop.entry(Mode::File, &after);
    world::set(&mut anew, "a", Some(before), Some(after));
    anew.begins_on_woven = true;
    let members = [early, anew];
    let woven = shop.weave(&members);
    assert_eq!(out(&woven, 2).against, Against::Members(vec![1]));
    shop.target("a", Some(&text.replace("\n15\n", "\nfifteen\n")));
    let woven = shop.weave(&members);
    assert_eq!(out(&woven, 2).against, Against::StaleBase);
}

#[test]
fn what_is_in_stays_in() {
    let mut shop = Shop::new(&[("a", "1\n")]);
    let mut late = shop.trees(1, &[("a", Some("one\n"))]);
    let mut early = shop.trees(9, &[("a", Some("nine\n"))]);
    let woven = shop.weave(&[late.clone(), early.clone()]);
    assert_eq!(verdict(&woven, 1), &inside(Way::Taken, 1));
    early.was_in = Some(0);
    let woven = shop.weave(&[late.clone(), early.clone()]);
    assert_eq!(verdict(&woven, 9), &inside(Way::Taken, 1));
    assert_eq!(out(&woven, 1).against, Against::Members(vec![9]));
    late.was_in = Some(0);
    early.was_in = Some(1);
    let woven = shop.weave(&[early, late]);
    assert_eq!(woven.outcomes[0].number, 1);
}

#[test]
fn an_order_that_is_given_is_kept() {
    let mut shop = Shop::new(&[("a", "1\n")]);
    let members = [
        shop.trees(2, &[("a", Some("two\n"))]),
        shop.trees(1, &[("a", Some("one\n"))]),
    ];
    let woven = shop.in_order(&members);
    assert_eq!(
        woven
            .outcomes
            .iter()
            .map(|it| it.number)
            .collect::<Vec<_>>(),
        [2, 1]
    );
    assert_eq!(shop.text(&woven, "a"), "two\n");
    assert_eq!(
        woven.groups,
        [Group {
            members: vec![2, 1],
            shared: BTreeSet::from(["a".to_owned()])
        }]
    );
}

#[test]
fn a_patch_alone_comes_in_too() {
    let text = numbered(20);
    let mut shop = Shop::new(&[("a", &text), ("b", "b\n")]);
    let alone = |member: Member| match member.work {
        Work::Trees {
            patch: Some(patch), ..
        } => Member {
            work: Work::Patch(patch),
            ..member
        },
        Work::Trees { patch: None, .. } | Work::Patch(_) => panic!("no patch"),
    };
    let one = alone(shop.patched(1, &[("a", Some(&text.replace("\n3\n", "\nthree\n")))]));
    let two = alone(shop.patched(2, &[("a", Some(&text.replace("\n5\n", "\nfive\n")))]));
    let three = alone(shop.patched(3, &[("a", Some(&text.replace("\n5\n", "\nV\n")))]));
    let woven = shop.weave(&[one, two, three.clone()]);
    assert_eq!(verdict(&woven, 1), &inside(Way::Taken, 1));
    assert_eq!(verdict(&woven, 2), &inside(Way::ThreeWay, 1));
    assert_eq!(out(&woven, 3).against, Against::Members(vec![2]));
    assert_eq!(
        shop.text(&woven, "a"),
        text.replace("\n3\n", "\nthree\n")
            .replace("\n5\n", "\nfive\n")
    );
    assert!(woven.made.contains_key(&woven.tree.get("a").unwrap().id));
    // Without the blob that its index line names, it applies or it does not.
    shop.base = Shop::new(&[("a", &text.replace("\n6\n", "\nsix\n"))]).base;
    shop.contents
        .remove(&BlobId::from_content(text.as_bytes()).unwrap());
    shop.contents
        .extend(Shop::new(&[("a", &text.replace("\n6\n", "\nsix\n"))]).contents);
    let woven = shop.weave(&[three]);
    let clash = &out(&woven, 3).clashes[0];
    assert_eq!(
        clash.kind,
        ClashKind::Patch(Refusal::Hunk(Misplaced::NotFound(3)))
    );
}

#[test]
fn what_is_no_patch_is_told() {
    let shop = Shop::new(&[]);
    let member = Member {
        number: 1,
        was_in: None,
        work: Work::Patch(b"Not Found".to_vec()),
        refused: vec![],
        target_renamed: BTreeSet::new(),
        begins_on_woven: false,
    };
    assert_eq!(
        verdict(&shop.weave(&[member]), 1),
        &Verdict::Unreadable(Fault::NoDiff)
    );
}

#[test]
fn a_path_that_git_refuses_is_told() {
    let mut shop = Shop::new(&[]);
    let member = shop.trees(1, &[("a/.git/hooks/x", Some("x\n"))]);
    let woven = shop.weave(&[member]);
    assert!(matches!(
        verdict(&woven, 1),
        Verdict::Unreadable(Fault::Path(..))
    ));
    assert!(woven.tree.is_empty());
}

#[test]
fn limits_are_told() {
    let mut shop = Shop::new(&[]);
    let member = shop.trees(1, &[("a", Some("1\n"))]);
    let twice = [member.clone(), member.clone()];
    assert_eq!(
        weave(
            Start::at(&shop.base),
            &twice,
            Order::Planned,
            &shop.contents
        ),
        Err(Excess::Twice(1))
    );
    let many: Vec<_> = (0..=MEMBERS_MAX as u64)
        .map(|number| Member {
            number,
            ..member.clone()
        })
        .collect();
    assert_eq!(
        weave(Start::at(&shop.base), &many, Order::Planned, &shop.contents),
        Err(Excess::Members)
    );
    let entry = Entry {
        mode: Mode::File,
        id: BlobId::EMPTY,
    };
    let large: Tree = (0..=PATHS_MAX).map(|at| (at.to_string(), entry)).collect();
    assert_eq!(
        weave(Start::at(&large), &[member], Order::Planned, &shop.contents),
        Err(Excess::Paths)
    );
}

#[test]
fn a_weave_in_parts_is_the_weave_of_all() {
    let text = numbered(30);
    let edited =
        |line: &str, new: &str| text.replace(&format!("\n{line}\n"), &format!("\n{new}\n"));
    let mut shop = Shop::new(&[("a", &text)]);
    let members: Vec<Member> = [
        (1, "3", "one"),
        (2, "13", "two"),
        (3, "13", "three"),
        (4, "23", "four"),
    ]
    .into_iter()
    .map(|(number, line, new)| shop.patched(number, &[("a", Some(&edited(line, new)))]))
    .collect();
    let whole = shop.weave(&members);
    let (first, rest) = members.split_at(2);
    let before = shop.weave(first);
    shop.contents.extend(before.made.clone());
    let start = Start {
        target: &shop.base,
        woven: &before.tree,
        inside: first,
    };
    let needed = needs(start, rest);
    let loaded = shop.contents.iter().filter(|(id, _)| needed.contains(id));
    let loaded = loaded.map(|(id, content)| (*id, content.clone())).collect();
    let after = weave(start, rest, Order::Planned, &loaded).unwrap();
    assert_eq!(after.tree, whole.tree);
    assert_eq!(after.outcomes, whole.outcomes[2..]);
    assert_eq!(out(&after, 3).against, Against::Members(vec![2]));
}
