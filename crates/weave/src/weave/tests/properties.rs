//! What holds for any members: no line is lost, order does not matter without overlap, and nothing panics.

use proptest::prelude::*;

use super::world::{Shop, numbered, verdict, with_patch};
use super::*;
use crate::three_way::{Merged, merge};

/// A member's edits: which file, after which line, and how many lines go there.
type Edits = Vec<(usize, usize, usize)>;

const LINES: usize = 12;

/// A text with new lines of a member's own, and some lines gone.
fn edited(own: &str, file: usize, edits: &Edits) -> Option<String> {
    let mut lines: Vec<String> = numbered(LINES)
        .lines()
        .map(|line| format!("{line}\n"))
        .collect();
    let mut changed = false;
    for (at, (_, line, gone)) in edits.iter().enumerate().filter(|(_, edit)| edit.0 == file) {
        let start = (*line).min(lines.len());
        let end = (start + gone).min(lines.len());
        lines.splice(start..end, [format!("new {own} {at}\n")]);
        changed = true;
    }
    changed.then(|| lines.concat())
}

/// A member with lines of its own in these places.
fn member(shop: &mut Shop, number: u64, (own, edits): (&str, &Edits)) -> Member {
    let texts: Vec<(String, Option<String>)> = (0..3)
        .map(|file| (file.to_string(), edited(own, file, edits)))
        .collect();
    let edits: Vec<(&str, Option<&str>)> = texts
        .iter()
        .filter(|(_, text)| text.is_some())
        .map(|(path, text)| (path.as_str(), text.as_deref()))
        .collect();
    if number.is_multiple_of(2) {
        shop.patched(number, &edits)
    } else {
        shop.trees(number, &edits)
    }
}

fn members(shop: &mut Shop, all: &[Edits]) -> Vec<Member> {
    let all = (1..).zip(all);
    all.map(|(number, edits)| member(shop, number, (&number.to_string(), edits)))
        .collect()
}

/// The second weave of members: who conflicts comes back with other lines in the same places.
fn second(shop: &mut Shop, all: &[Edits]) -> (Vec<Member>, Woven) {
    let members = members(shop, all);
    let first = shop.weave(&members);
    shop.contents.extend(first.made.clone());
    let back = members.into_iter().zip(all);
    let back: Vec<Member> = back.map(|it| again(shop, &first, it)).collect();
    let woven = shop.weave(&back);
    (back, woven)
}

fn again(shop: &mut Shop, first: &Woven, (before, edits): (Member, &Edits)) -> Member {
    let number = before.number;
    match verdict(first, number) {
        Verdict::In { .. } => Member {
            was_in: first.outcomes.iter().position(|it| it.number == number),
            ..before
        },
        Verdict::Out(conflict) => Member {
            refused: conflict.clashes.clone(),
            ..member(shop, number, (&format!("{number} again"), edits))
        },
        Verdict::Unreadable(_) => before,
    }
}

/// How a member came in, if it did.
fn way(woven: &Woven, number: u64) -> Option<Way> {
    match verdict(woven, number) {
        Verdict::In { way, .. } => Some(*way),
        Verdict::Out(_) | Verdict::Unreadable(_) => None,
    }
}

/// The lines of its own that a member adds, with their files.
fn added(shop: &Shop, member: &Member) -> Vec<(String, String)> {
    let Work::Trees { changed, .. } = &member.work else {
        return Vec::new();
    };
    let mut added = Vec::new();
    for (path, change) in changed {
        let content = shop.contents[&change.after.unwrap().id].clone();
        let text = String::from_utf8(content).unwrap();
        let own = text.lines().filter(|line| line.starts_with("new"));
        added.extend(own.map(|line| (path.clone(), line.to_owned())));
    }
    added
}

/// The lines of others that a member was shown in the places of its conflicts.
fn shown(shop: &Shop, member: &Member) -> Vec<String> {
    let content = |id: Option<BlobId>| shop.contents[&id.unwrap()].as_slice();
    let mut shown = Vec::new();
    for clash in &member.refused {
        let merged = merge(
            content(clash.base),
            content(clash.ours),
            content(clash.theirs),
        );
        if let Ok(Merged::Clashing { places, .. }) = merged {
            let lines = places.into_iter().flat_map(|place| place.ours);
            shown.extend(lines.map(|line| String::from_utf8(line).unwrap().trim_end().to_owned()));
        }
    }
    shown
}

fn shop() -> Shop {
    let text = numbered(LINES);
    Shop::new(&[("0", &text), ("1", &text), ("2", &text)])
}

fn edits() -> impl Strategy<Value = Edits> {
    proptest::collection::vec((0..3_usize, 0..LINES, 0..3_usize), 1..4)
}

proptest! {
    #[test]
    fn no_line_of_a_member_who_is_in_is_lost(all in proptest::collection::vec(edits(), 1..6)) {
        let mut shop = shop();
        let members = members(&mut shop, &all);
        let woven = shop.weave(&members);
        prop_assert_eq!(woven.outcomes.len(), members.len());
        for member in &members {
            let is_in = matches!(verdict(&woven, member.number), Verdict::In { .. });
            for (path, line) in added(&shop, member) {
                let is_there = shop.text(&woven, &path).lines().any(|it| it == line);
                prop_assert_eq!(is_there, is_in, "{} of {}", line, member.number);
            }
        }
    }

    #[test]
    fn of_those_who_are_in_only_lines_are_lost_that_who_answers_was_shown(
        all in proptest::collection::vec(edits(), 2..6)
    ) {
        let mut shop = shop();
        let (members, woven) = second(&mut shop, &all);
        let answers = members.iter().filter(|it| way(&woven, it.number) == Some(Way::Answered));
        let shown: Vec<String> = answers.flat_map(|it| shown(&shop, it)).collect();
        for member in &members {
            let is_in = way(&woven, member.number).is_some();
            for (path, line) in added(&shop, member) {
                let is_there = shop.text(&woven, &path).lines().any(|it| it == line);
                let is_replaced = !is_there && shown.contains(&line);
                prop_assert!(is_there == is_in || is_replaced, "{} of {}", line, member.number);
            }
        }
    }

    #[test]
    fn the_same_members_weave_the_same_tree(all in proptest::collection::vec(edits(), 1..6)) {
        let mut shop = shop();
        let mut members = members(&mut shop, &all);
        let woven = shop.weave(&members);
        members.reverse();
        prop_assert_eq!(shop.weave(&members), woven);
    }

    #[test]
    fn members_that_share_nothing_commute(
        lines in proptest::array::uniform3((0..LINES, 0..3_usize)),
        first in 0..3_usize,
    ) {
        let mut shop = shop();
        let all: Vec<Edits> =
            lines.iter().enumerate().map(|(file, (line, gone))| vec![(file, *line, *gone)]).collect();
        let mut members = members(&mut shop, &all);
        let straight = weave(Start::at(&shop.base), &members, Order::Given, &shop.contents).unwrap();
        members.rotate_left(first);
        let turned = weave(Start::at(&shop.base), &members, Order::Given, &shop.contents).unwrap();
        prop_assert_eq!(straight.tree, turned.tree);
    }

    #[test]
    fn what_is_needed_is_enough(all in proptest::collection::vec(edits(), 1..6)) {
        let mut shop = shop();
        let members = members(&mut shop, &all);
        let with_all = weave(Start::at(&shop.base), &members, Order::Planned, &shop.contents).unwrap();
        prop_assert_eq!(shop.weave(&members), with_all);
    }

    #[test]
    fn every_content_has_its_id_and_every_id_its_content(all in proptest::collection::vec(edits(), 1..6)) {
        let mut shop = shop();
        let members = members(&mut shop, &all);
        let woven = shop.weave(&members);
        for (id, content) in &woven.made {
            prop_assert_eq!(BlobId::from_content(content), Some(*id));
        }
        for (_, entry) in woven.tree.iter() {
            prop_assert!(woven.made.contains_key(&entry.id) || shop.contents.contains_key(&entry.id));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        all in proptest::collection::vec(edits(), 1..4),
        spoilt in proptest::collection::vec((0..4_000_usize, any::<u8>()), 1..20),
        texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..4),
    ) {
        let mut shop = shop();
        let mut members = members(&mut shop, &all);
        for member in &mut members {
            let Work::Trees { patch: Some(patch), .. } = &mut member.work else { continue };
            for (at, byte) in &spoilt {
                if let Some(place) = patch.get_mut(*at) { *place = *byte }
            }
            if spoilt.len() % 2 == 0 { member.work = Work::Patch(patch.clone()) }
        }
        for (content, new) in shop.contents.values_mut().zip(texts) { *content = new }
        for order in [Order::Planned, Order::Given] {
            let _ = weave(Start::at(&shop.base), &members, order, &shop.contents);
        }
    }
}

#[test]
fn who_comes_back_with_other_lines_answers() {
    let mut shop = shop();
    let (_, woven) = second(&mut shop, &[vec![(0, 1, 1)], vec![(0, 1, 1)]]);
    assert_eq!(verdict(&woven, 2), &inside(Way::Answered, 1));
}

#[test]
fn a_spoilt_patch_still_merges_by_its_trees() {
    let mut shop = shop();
    let all = [vec![(0, 1, 1)], vec![(0, 9, 1)]];
    let mut members = members(&mut shop, &all);
    members[1] = with_patch(members[1].clone(), "spoilt");
    assert_eq!(verdict(&shop.weave(&members), 2), &inside(Way::ThreeWay, 1));
}
