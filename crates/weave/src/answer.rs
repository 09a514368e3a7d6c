//! Whether a member answered a conflict: an answer is content, not ancestry, since sessions push flattened commits.

use crate::three_way::Place;

/// Whether every place that conflicts now is one that the member was shown and has answered.
///
/// `same_ours` says that our file is exactly the one that was shown, so that lines may be compared by their numbers.
pub(crate) fn answered(now: &[Place], shown: &[Place], same_ours: bool) -> bool {
    !now.is_empty()
        && now
            .iter()
            .all(|place| shown.iter().any(|shown| answers(place, shown, same_ours)))
}

/// Our lines are those that were shown, and theirs are neither the base's nor those that were refused.
fn answers(now: &Place, shown: &Place, same_ours: bool) -> bool {
    let seen = now.ours == shown.ours || (same_ours && lies_in(now, shown));
    seen && now.theirs != now.base && !holds(&shown.theirs, &now.theirs)
}

/// Whether our lines of a place are among those of another place of the same file.
fn lies_in(now: &Place, shown: &Place) -> bool {
    let end = |place: &Place| place.line + place.ours.len();
    !now.ours.is_empty()
        && shown.line <= now.line
        && end(now) <= end(shown)
        && holds(&shown.ours, &now.ours)
}

/// Whether lines are a part of others, in one piece. No lines are a part of no lines only.
fn holds(all: &[Vec<u8>], part: &[Vec<u8>]) -> bool {
    match part.len() {
        0 => all.is_empty(),
        length => all.windows(length).any(|window| window == part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: usize, ours: &[&str], base: &[&str], theirs: &[&str]) -> Place {
        let lines = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        Place {
            line,
            ours: lines(ours),
            base: lines(base),
            theirs: lines(theirs),
        }
    }

    #[test]
    fn each_condition_counts() {
        let shown = [place(3, &["won"], &["base"], &["refused"])];
        for (now, expected) in [
            (place(3, &["won"], &["base"], &["won and mine"]), true),
            (place(9, &["won"], &["base"], &["won and mine"]), true),
            (
                place(3, &["won later"], &["base"], &["won and mine"]),
                false,
            ),
            (place(3, &["won"], &["base"], &["base"]), false),
            (place(3, &["won"], &["base"], &["refused"]), false),
            (place(3, &["won"], &["base"], &[]), true),
        ] {
            assert_eq!(
                answered(std::slice::from_ref(&now), &shown, false),
                expected,
                "{now:?}"
            );
        }
        assert!(!answered(&[], &shown, false));
    }

    #[test]
    fn one_place_that_falls_short_is_enough() {
        let shown = [
            place(1, &["a"], &["b"], &["c"]),
            place(9, &["x"], &["y"], &["z"]),
        ];
        let good = place(1, &["a"], &["b"], &["new"]);
        let bad = place(9, &["x"], &["y"], &["z"]);
        assert!(answered(std::slice::from_ref(&good), &shown, false));
        assert!(!answered(&[good, bad], &shown, false));
    }

    #[test]
    fn a_smaller_place_counts_in_the_very_file_that_was_shown() {
        let shown = [place(3, &["one", "two"], &["base"], &["refused", "again"])];
        let now = place(4, &["two"], &["base"], &["two and mine"]);
        assert!(answered(std::slice::from_ref(&now), &shown, true));
        assert!(!answered(&[now], &shown, false));
        assert!(!answered(
            &[place(4, &["two"], &["base"], &["again"])],
            &shown,
            true
        ));
        assert!(!answered(
            &[place(5, &["two"], &["base"], &["mine"])],
            &shown,
            true
        ));
    }
}
