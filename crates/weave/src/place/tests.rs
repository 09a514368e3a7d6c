//! A case for each rule by which git places a hunk.

use super::*;

/// A hunk of lines as a patch has them; a line without its end is the last of its side.
fn hunk(old_start: usize, new_start: usize, text: &str) -> Hunk {
    let line = |line: &str| {
        let (sign, rest) = line.split_at(1);
        let text = rest.strip_suffix("$\n").unwrap_or(rest).as_bytes().to_vec();
        match sign {
            "-" => Line::Removed(text),
            "+" => Line::Added(text),
            _ => Line::Context(text),
        }
    };
    Hunk {
        old_start,
        new_start,
        lines: text.split_inclusive('\n').map(line).collect(),
    }
}

/// What becomes of a text whose lines are letters.
fn placed(content: &str, hunks: &[Hunk]) -> Result<String, Misplaced> {
    place(content.as_bytes(), hunks).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// One line changes between two others.
const CHANGE: &str = " x\n-o\n+n\n x\n";

#[test]
fn a_hunk_is_looked_for_at_its_new_line_first() {
    let content = "x\no\nx\n1\nx\no\nx\n2\nx\no\nx\n";
    for (new_start, expected) in [
        (2, "x\nn\nx\n1\nx\no\nx\n2\nx\no\nx\n"),
        (5, "x\no\nx\n1\nx\nn\nx\n2\nx\no\nx\n"),
        (9, "x\no\nx\n1\nx\no\nx\n2\nx\nn\nx\n"),
        (900, "x\no\nx\n1\nx\no\nx\n2\nx\nn\nx\n"),
    ] {
        assert_eq!(
            placed(content, &[hunk(7, new_start, CHANGE)]),
            Ok(expected.to_owned()),
            "{new_start}"
        );
    }
}

#[test]
fn of_two_places_as_near_the_one_after_is_taken() {
    let content = "x\no\nx\n1\nx\no\nx\n";
    assert_eq!(
        placed(content, &[hunk(3, 3, CHANGE)]).unwrap(),
        "x\no\nx\n1\nx\nn\nx\n"
    );
    let nearer_before = "x\no\nx\n1\n2\n3\nx\no\nx\n";
    assert_eq!(
        placed(nearer_before, &[hunk(3, 3, CHANGE)]).unwrap(),
        "x\nn\nx\n1\n2\n3\nx\no\nx\n"
    );
}

#[test]
fn with_old_start_of_zero_or_one_it_is_at_the_beginning_only() {
    let moved = "1\nx\no\nx\n";
    for old_start in [0, 1] {
        assert_eq!(
            placed(moved, &[hunk(old_start, 1, CHANGE)]),
            Err(Misplaced::NotFound(old_start))
        );
        assert!(placed("x\no\nx\n1\n", &[hunk(old_start, 3, CHANGE)]).is_ok());
    }
    assert!(placed(moved, &[hunk(2, 1, CHANGE)]).is_ok());
}

#[test]
fn without_trailing_context_it_is_at_the_end_only() {
    let last = " x\n-o\n+n\n";
    assert_eq!(
        placed("1\nx\no\n2\n", &[hunk(2, 2, last)]),
        Err(Misplaced::NotFound(2))
    );
    assert_eq!(
        placed("1\nx\no\nx\no\n", &[hunk(2, 2, last)]).unwrap(),
        "1\nx\no\nx\nn\n"
    );
    assert_eq!(
        placed("x\no\nx\no\n", &[hunk(1, 1, last)]),
        Err(Misplaced::NotFound(1))
    );
}

#[test]
fn there_is_no_fuzz_and_no_rule_for_white_space() {
    for content in [
        "x\no\ny\n",
        "x \no\nx\n",
        " x\no\nx\n",
        "x\r\no\r\nx\r\n",
        "x\no\n",
    ] {
        assert_eq!(
            placed(content, &[hunk(2, 2, CHANGE)]),
            Err(Misplaced::NotFound(2)),
            "{content:?}"
        );
    }
    let crlf = hunk(2, 2, " x\r\n-o\r\n+n\r\n x\r\n");
    assert_eq!(
        placed("x\r\no\r\nx\r\n", &[crlf]).unwrap(),
        "x\r\nn\r\nx\r\n"
    );
}

#[test]
fn what_a_hunk_wrote_matches_no_other() {
    let content = "1\nx\no\nx\n2\n";
    let again = [hunk(2, 2, CHANGE), hunk(2, 2, " x\n-n\n+m\n x\n")];
    assert_eq!(placed(content, &again), Err(Misplaced::NotFound(2)));
    let next_to_it = [hunk(2, 2, CHANGE), hunk(5, 5, "-2\n+two\n")];
    assert_eq!(placed(content, &next_to_it).unwrap(), "1\nx\nn\nx\ntwo\n");
    let on_its_context = [hunk(2, 2, CHANGE), hunk(4, 4, " x\n-2\n+two\n")];
    assert_eq!(
        placed(content, &on_its_context),
        Err(Misplaced::NotFound(4))
    );
}

#[test]
fn a_last_old_line_without_its_end_matches_one_that_has_it() {
    let open = hunk(2, 2, " x\n-o\n+n\n e$\n");
    assert_eq!(
        placed("1\nx\no\ne", std::slice::from_ref(&open)).unwrap(),
        "1\nx\nn\ne"
    );
    assert_eq!(
        placed("1\nx\no\ne\n", std::slice::from_ref(&open)).unwrap(),
        "1\nx\nn\ne"
    );
    assert_eq!(placed("1\nx\no\ne\nf\n", &[open]), Err(Misplaced::Joins));
}

#[test]
fn a_last_line_with_its_end_matches_none_without() {
    assert_eq!(
        placed("1\nx\no\nx", &[hunk(2, 2, CHANGE)]),
        Err(Misplaced::NotFound(2))
    );
    let last = hunk(2, 2, " x\n-o$\n+n\n");
    assert_eq!(
        placed("1\nx\no", std::slice::from_ref(&last)).unwrap(),
        "1\nx\nn\n"
    );
    assert_eq!(placed("1\nx\no\n", &[last]), Err(Misplaced::NotFound(2)));
}

#[test]
fn lines_come_into_an_empty_file_only_if_it_is_empty() {
    let new = hunk(0, 1, "+a\n+b\n");
    assert_eq!(placed("", std::slice::from_ref(&new)).unwrap(), "a\nb\n");
    assert_eq!(placed("c\n", &[new]), Err(Misplaced::NotFound(0)));
}

#[test]
fn a_search_that_repeats_too_much_ends() {
    let content = "a\n".repeat(2_000);
    let hunk = hunk(2, 2, &(" a\n".repeat(500) + "-b\n+c\n a\n"));
    let search = |work_left| {
        let mut image = Image::new(content.as_bytes());
        image.work_left = work_left;
        image.put(&hunk)
    };
    assert_eq!(search(100_000), Err(Misplaced::TooMuchWork));
    assert_eq!(search(WORK_MAX), Err(Misplaced::NotFound(2)));
}
