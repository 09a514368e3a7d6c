//! Places of conflicts, and what is not merged.

use proptest::prelude::*;

use super::*;

fn clash(base: &str, ours: &str, theirs: &str) -> (Vec<Place>, String) {
    match merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).unwrap() {
        Merged::Clashing { places, theirs, .. } => (places, String::from_utf8(theirs).unwrap()),
        Merged::Clean(content) => panic!("{}", String::from_utf8_lossy(&content)),
    }
}

#[test]
fn changes_of_other_lines_are_merged() {
    let merged = merge(b"1\n2\n3\n4\n", b"one\n2\n3\n4\n", b"1\n2\n3\nfour\n");
    assert_eq!(merged, Ok(Merged::Clean(b"one\n2\n3\nfour\n".to_vec())));
    assert_eq!(
        merge(b"1\n", b"x\n", b"x\n"),
        Ok(Merged::Clean(b"x\n".to_vec()))
    );
}

#[test]
fn a_place_has_the_lines_of_all_three_and_its_line_in_ours() {
    // Theirs puts two lines in before, so the place is further down in the result than in ours.
    let base = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let ours = base.replace("7\n", "seven\nVII\n");
    let theirs = base
        .replace("0\n", "0\nnew\nnew\n")
        .replace("7\n", "sieben\n");
    let (places, merged) = clash(base, &ours, &theirs);
    let [place] = &places[..] else {
        panic!("{places:?}")
    };
    assert_eq!(place.line, 8);
    assert_eq!(place.ours, [b"seven\n".to_vec(), b"VII\n".to_vec()]);
    assert_eq!(place.base, [b"7\n".to_vec()]);
    assert_eq!(place.theirs, [b"sieben\n".to_vec()]);
    assert_eq!(merged, theirs);
}

#[test]
fn our_lines_in_all_places_leave_what_theirs_brings_elsewhere() {
    let base = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let ours = base.replace("7\n", "seven\n");
    let theirs = base.replace("0\n", "null\n").replace("7\n", "sieben\n");
    let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
    let Ok(Merged::Clashing { ours: merged, .. }) = merged else {
        panic!("{merged:?}")
    };
    let expected = ours.replace("0\n", "null\n");
    assert_eq!(String::from_utf8(merged).unwrap(), expected);
}

#[test]
fn every_place_is_told() {
    let base: String = (0..30).map(|line| format!("{line}\n")).collect();
    let edited = |word: &str| {
        base.replace("\n5\n", &format!("\n{word}\n"))
            .replace("\n25\n", &format!("\n{word}\n"))
    };
    let (places, merged) = clash(&base, &edited("ours"), &edited("theirs"));
    assert_eq!(
        places.iter().map(|place| place.line).collect::<Vec<_>>(),
        [6, 26]
    );
    assert_eq!(merged, edited("theirs"));
}

#[test]
fn an_end_of_the_last_line_that_one_side_lacks_is_a_conflict() {
    let (places, merged) = clash("", "c\n", "c");
    assert_eq!((places.len(), places[0].line), (1, 1));
    assert_eq!(merged, "c");
}

#[test]
fn what_is_no_text_is_not_merged() {
    assert_eq!(merge(b"a\0", b"a", b"a"), Err(Unmergeable::Binary));
    for large in [vec![b'a'; TEXT_BYTES_MAX + 1], vec![b'\n'; LINES_MAX + 1]] {
        assert_eq!(merge(b"a", &large, b"b"), Err(Unmergeable::TooLarge));
    }
    for marker in ["<", "|", "=", ">"] {
        let line = format!("a\n{}\n", marker.repeat(300));
        assert_eq!(merge(b"a", b"b", line.as_bytes()), Err(Unmergeable::Marked));
        let usual = format!("a\n{} x\n", marker.repeat(7));
        assert!(merge(b"a\n", b"a\n", usual.as_bytes()).is_ok());
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec("[abc]{0,1}(\r?\n|)", 0..12)
        .prop_map(|lines| lines.concat().into_bytes())
}

proptest! {
    #[test]
    fn a_side_that_changed_nothing_gives_the_other(base in text(), other in text()) {
        prop_assert_eq!(merge(&base, &base, &other), Ok(Merged::Clean(other.clone())));
        prop_assert_eq!(merge(&base, &other, &base), Ok(Merged::Clean(other)));
    }

    #[test]
    fn every_conflict_has_a_place_where_sides_differ(base in text(), ours in text(), theirs in text()) {
        if let Ok(Merged::Clashing { places, .. }) = merge(&base, &ours, &theirs) {
            prop_assert!(!places.is_empty());
            // A marker ends a last line, so sides that differ in that end alone look alike.
            let ends_differ = ours.ends_with(b"\n") != theirs.ends_with(b"\n");
            for place in places {
                prop_assert!(place.ours != place.theirs || ends_differ);
                prop_assert!(place.line >= 1 && place.line <= lines(&ours).count() + 1);
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(texts in proptest::array::uniform3(proptest::collection::vec(any::<u8>(), 0..60))) {
        let _ = merge(&texts[0], &texts[1], &texts[2]);
    }
}
