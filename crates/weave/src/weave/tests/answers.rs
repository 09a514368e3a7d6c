//! Conflicts that come back mended: what counts as an answer, and what falls short of it.

use super::world::{Shop, numbered, out, verdict};
use super::*;

const BASE: &str = "head\n1\n2\n3\ntail\n";
const WON: &str = "head\n1\nwon\n3\ntail\n";
const LOST: &str = "head\n1\nlost\n3\ntail\n";

/// Weaves a winner and member 2, which was refused with `LOST` and now has another head.
fn again(shop: &mut Shop, won: &str, head: &str) -> Woven {
    let winner = shop.trees(1, &[("a", Some(WON))]);
    let refused = shop.trees(2, &[("a", Some(LOST))]);
    let first = shop.weave(&[winner, refused]);
    let mut winner = shop.trees(1, &[("a", Some(won))]);
    winner.was_in = Some(0);
    let mut member = shop.patched(2, &[("a", Some(head))]);
    member.refused = out(&first, 2).clashes.clone();
    shop.weave(&[winner, member])
}

#[test]
fn an_answer_replaces_the_lines_that_were_shown() {
    let answer = "head\n1\nwon and lost\n3\ntail\n";
    let mut shop = Shop::new(&[("a", BASE)]);
    let woven = again(&mut shop, WON, answer);
    assert_eq!(verdict(&woven, 2), &inside(Way::Answered, 1));
    assert_eq!(shop.text(&woven, "a"), answer);
}

#[test]
fn an_answer_keeps_what_others_changed_elsewhere() {
    let mut shop = Shop::new(&[("a", BASE)]);
    let woven = again(
        &mut shop,
        &WON.replace("head", "HEAD"),
        "head\n1\nboth\n3\ntail\n",
    );
    assert_eq!(verdict(&woven, 2), &inside(Way::Answered, 1));
    assert_eq!(shop.text(&woven, "a"), "HEAD\n1\nboth\n3\ntail\n");
}

#[test]
fn whatever_falls_short_stays_a_conflict() {
    for (won, head, why) in [
        (WON, LOST, "the head that was refused"),
        (
            WON,
            "head\n1\nlost\n3\ntail\nmore\n",
            "the refused lines, and more elsewhere",
        ),
        (
            "head\n1\nwon later\n3\ntail\n",
            "head\n1\nboth\n3\ntail\n",
            "lines that were not shown",
        ),
    ] {
        let mut shop = Shop::new(&[("a", BASE)]);
        let woven = again(&mut shop, won, head);
        assert_eq!(out(&woven, 2).clashes[0].kind, ClashKind::Lines, "{why}");
    }
}

#[test]
fn every_place_has_to_be_answered() {
    let text = numbered(40);
    let edited = |first: &str, second: &str| text.replace("\n5\n", first).replace("\n25\n", second);
    let mut shop = Shop::new(&[("a", &text)]);
    let winner = shop.trees(1, &[("a", Some(&edited("\nwon\n", "\nwon\n")))]);
    let refused = shop.trees(2, &[("a", Some(&edited("\nlost\n", "\nlost\n")))]);
    let first = shop.weave(&[winner.clone(), refused]);
    for (head, is_in) in [
        (edited("\nboth\n", "\nboth\n"), true),
        (edited("\nboth\n", "\nlost\n"), false),
    ] {
        let mut member = shop.trees(2, &[("a", Some(&head))]);
        member.refused = out(&first, 2).clashes.clone();
        let woven = shop.weave(&[
            Member {
                was_in: Some(0),
                ..winner.clone()
            },
            member,
        ]);
        assert_eq!(
            matches!(
                verdict(&woven, 2),
                Verdict::In {
                    way: Way::Answered,
                    ..
                }
            ),
            is_in
        );
    }
}

#[test]
fn without_a_mail_there_is_no_answer() {
    let mut shop = Shop::new(&[("a", BASE)]);
    let winner = shop.trees(1, &[("a", Some(WON))]);
    let member = shop.trees(2, &[("a", Some("head\n1\nboth\n3\ntail\n"))]);
    assert_eq!(
        out(&shop.weave(&[winner, member]), 2).against,
        Against::Members(vec![1])
    );
}

#[test]
fn what_was_shown_is_needed_again() {
    let mut shop = Shop::new(&[("a", BASE), ("b", "b\n")]);
    let winner = shop.trees(1, &[("a", Some(WON))]);
    let refused = shop.trees(2, &[("a", Some(LOST))]);
    let clashes = out(&shop.weave(&[winner, refused]), 2).clashes.clone();
    let mut member = shop.trees(2, &[("b", Some("new\n"))]);
    member.refused = clashes;
    let needed = needs(Start::at(&shop.base), &[member]);
    let ids = [BASE, WON, LOST].map(|text| BlobId::from_content(text.as_bytes()).unwrap());
    assert_eq!(needed, BTreeSet::from(ids));
}

#[test]
fn what_a_conflict_names_is_sent_although_the_tree_moved_on() {
    let text = numbered(30);
    let edited =
        |line: &str, new: &str| text.replace(&format!("\n{line}\n"), &format!("\n{new}\n"));
    let mut shop = Shop::new(&[("a", &text)]);
    let one = shop.trees(1, &[("a", Some(&edited("3", "one")))]);
    let two = shop.trees(2, &[("a", Some(&edited("13", "two")))]);
    let three = shop.trees(3, &[("a", Some(&edited("13", "three")))]);
    let four = shop.trees(4, &[("a", Some(&edited("23", "four")))]);
    let woven = shop.in_order(&[one, two, three, four]);
    let shown = out(&woven, 3).clashes[0].ours.unwrap();
    assert_ne!(Some(shown), woven.tree.get("a").map(|entry| entry.id));
    assert!(woven.made.contains_key(&shown));
    assert_eq!(woven.made.len(), 2);
}
