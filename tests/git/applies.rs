//! Patches of git's own, applied to trees that went another way.

use std::collections::BTreeMap;

use weave::apply::{Refusal, Refused, apply};
use weave::patch::parse;
use weave::place::Misplaced;
use weave::tree::{BlobId, Contents, Tree};

use crate::cases;
use crate::dice::Dice;
use crate::git::{Git, Pair, Said};

/// How many patches that git wrote are applied elsewhere, of some and of all cases.
const APPLIED: (usize, usize) = (600, 5_000);

/// How many patches are spoilt before.
const SPOILT: (usize, usize) = (300, 2_000);

/// How git writes the diffs: as GitHub does, and in ways that people do.
const STYLES: [&[&str]; 7] = [
    &["-U0"],
    &["-M", "-U2"],
    &["-C", "-U3", "--find-copies-harder"],
    &["-M", "-U1"],
    &["--no-renames", "-U3"],
    &["-C", "--find-copies-harder"],
    &["-M", "-U5", "--patience"],
];

/// What happened in the cases, and how often; not all of it in each run of other cases.
pub(crate) type Tally = BTreeMap<&'static str, usize>;

/// What a patch may hold: every kind has to be among the patches that git applies.
const KINDS: [(&str, &str); 11] = [
    ("a file is made", "\nnew file mode 100"),
    ("a file is deleted", "\ndeleted file mode"),
    ("a file is renamed", "\nrename from"),
    ("a file is copied", "\ncopy from"),
    ("a mode changes", "\nnew mode"),
    ("a binary changes", "\nGIT binary patch"),
    ("a name is quoted", "diff --git \"a/"),
    ("a line ends with a carriage return", "\r\n"),
    ("the last line has no end", "\n\\ No newline"),
    ("a link changes", " 120000"),
    ("a submodule changes", " 160000"),
];

fn ours(target: &Tree, patch: &[u8], contents: &Contents) -> Result<Tree, Option<Refused>> {
    let patch = parse(patch).map_err(|_| None)?;
    let read = |id: BlobId| contents.get(&id).map(Vec::as_slice);
    let applied = apply(&patch, target, &read).map_err(Some)?;
    for (id, content) in &applied.made {
        assert_eq!(BlobId::from_content(content), Some(*id));
    }
    let mut tree = target.clone();
    tree.apply(&applied.changes);
    Ok(tree)
}

fn is_join(refused: Option<&Refused>) -> bool {
    refused.is_some_and(|it| it.refusal == Refusal::Hunk(Misplaced::Joins))
}

/// Whether git would join two lines, where a last line without its end is the last no more.
pub(crate) fn joins(target: &Tree, patch: &[u8], contents: &Contents) -> bool {
    matches!(ours(target, patch, contents), Err(refused) if is_join(refused.as_ref()))
}

/// Compares what we make of a patch with what git makes of it.
pub(crate) fn compare(
    tally: &mut Tally,
    target: &Tree,
    patch: &[u8],
    contents: &Contents,
    git: Said,
) {
    let said = match (ours(target, patch, contents), git) {
        (Ok(ours), Ok(git)) if ours == git => {
            let text = String::from_utf8_lossy(patch);
            let kinds = KINDS.iter().filter(|(_, sign)| text.contains(sign));
            kinds.for_each(|(kind, _)| *tally.entry(kind).or_default() += 1);
            "applied"
        }
        (Err(_), Err(_)) => "refused",
        (Err(refused), Ok(_)) if is_join(refused.as_ref()) => {
            "git joined two lines, and we refused"
        }
        (ours, git) => {
            let text = String::from_utf8_lossy(patch);
            panic!("ours {ours:#?}\ngit {git:#?}\nto {target:#?}\n{text}");
        }
    };
    *tally.entry(said).or_default() += 1;
}

#[test]
fn patches_apply_as_git_applies_them() {
    let git = Git::new();
    let mut dice = Dice::new(28);
    let cases = cases(APPLIED.0, APPLIED.1);
    let mut trees = Vec::new();
    for _ in 0..cases {
        let base = dice.tree();
        let member = dice.changed(&base);
        let later = dice.changed(&member);
        let moved = dice.changed(&base);
        let target = if dice.chance(10) { base.clone() } else { moved };
        trees.extend([base, member, later, target]);
    }
    let names = git.store(&trees, &dice.contents);
    let pairs = |from: usize| -> Vec<Pair> {
        let cases = names.chunks(4);
        cases
            .map(|it| (it[from].clone(), it[from + 1].clone()))
            .collect()
    };
    let patches = in_styles(&git, &pairs(0));
    let series = git.diffs(&pairs(1), &["--no-renames"]);
    let mut tally = Tally::new();
    for ((trees, mut patch), next) in trees.chunks(4).zip(patches).zip(series) {
        if dice.chance(25) && is_plain(&patch) && is_plain(&next) {
            patch.extend(next);
            *tally
                .entry("several diffs, perhaps of one path")
                .or_default() += 1;
        }
        if !patch.is_empty() {
            let said = git.apply(&trees[3], &patch);
            compare(&mut tally, &trees[3], &patch, &dice.contents, said);
        }
    }
    println!("{tally:#?}");
    let count = |what| tally.get(what).copied().unwrap_or_default();
    assert!(count("applied") > cases / 4 && count("refused") > cases / 10);
    assert!(count("several diffs, perhaps of one path") > cases / 20);
    assert!(KINDS.iter().all(|(kind, _)| count(kind) > cases / 300));
}

/// The diffs of some pairs, in each style in turn.
fn in_styles(git: &Git, pairs: &[Pair]) -> Vec<Vec<u8>> {
    let mut diffs = vec![Vec::new(); pairs.len()];
    for (at, style) in STYLES.iter().enumerate() {
        let of_style = || (at..pairs.len()).step_by(STYLES.len());
        let asked: Vec<Pair> = of_style().map(|at| pairs[at].clone()).collect();
        for (at, diff) in of_style().zip(git.diffs(&asked, style)) {
            diffs[at] = diff;
        }
    }
    diffs
}

/// Whether a patch only makes and changes files: of what it moves or deletes, a series leaves git with something else
/// than its parts say.
fn is_plain(patch: &[u8]) -> bool {
    let text = String::from_utf8_lossy(patch);
    !["\ndeleted file", "\nrename from", "\ncopy from"]
        .iter()
        .any(|line| text.contains(line))
}

/// Paths that are in no tree: git refuses them, and so do we.
const PATHS: [&str; 5] = [
    "../a.txt",
    "dir/../../z",
    ".git/config",
    "dir/.GIT/x",
    "./z",
];

/// A patch that was edited badly: lines lost, twice, in another order, or with another byte, another path or no hunks.
fn spoilt(dice: &mut Dice, patch: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = patch
        .split_inclusive(|it| *it == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let at = dice.below(lines.len());
    let other = dice.below(lines.len());
    match dice.below(8) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[other].clone()),
        2 => lines.swap(at, other),
        3 => lines[at].insert(0, *dice.pick(b" +-\\\n@")),
        4 => drop(lines.drain(at.min(other)..at.max(other))),
        5 => return renamed(dice, patch),
        6 => return without_hunks(&lines),
        _ => {
            let column = dice.below(lines[at].len());
            lines[at][column] = *dice.pick(b"0123456789 +-/ab,@");
        }
    }
    lines.concat()
}

/// A patch of headers alone, which deletes files and leaves all that is in them.
fn without_hunks(lines: &[Vec<u8>]) -> Vec<u8> {
    let mut is_body = false;
    let mut kept = Vec::new();
    for line in lines {
        is_body = !line.starts_with(b"diff --git ") && (is_body || line.starts_with(b"--- "));
        if !is_body {
            kept.extend(line);
        }
    }
    kept
}

/// A patch about a path that is in no tree, in the place of one of the usual ones.
fn renamed(dice: &mut Dice, patch: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(patch);
    let path = *dice.pick(&PATHS);
    let names = [
        "a.txt",
        "dir/b.txt",
        "z",
        "dir/deep/e",
        "dir",
        "-n",
        "a.txt/x",
    ];
    let text = names.iter().fold(text.into_owned(), |text, name| {
        let ends = ["\n", " "].iter();
        ends.fold(text, |text, end| {
            let text = text.replace(&format!("a/{name}{end}"), &format!("a/{path}{end}"));
            text.replace(&format!("b/{name}{end}"), &format!("b/{path}{end}"))
        })
    });
    text.into_bytes()
}

#[test]
fn spoilt_patches_are_never_taken_where_git_refuses() {
    let git = Git::new();
    let mut dice = Dice::new(2_828);
    let cases = cases(SPOILT.0, SPOILT.1);
    let mut trees = Vec::new();
    for _ in 0..cases {
        let base = dice.tree();
        let member = dice.changed(&base);
        trees.extend([base, member]);
    }
    let names = git.store(&trees, &dice.contents);
    let pairs = names.chunks(2).map(|it| (it[0].clone(), it[1].clone()));
    let patches = git.diffs(&pairs.collect::<Vec<Pair>>(), &["-M"]);
    let (mut same, mut stricter) = (0, 0);
    for (trees, patch) in trees.chunks(2).zip(patches) {
        if patch.is_empty() {
            continue;
        }
        let patch = spoilt(&mut dice, &patch);
        let said = git.apply(&trees[0], &patch);
        match (ours(&trees[0], &patch, &dice.contents), said) {
            (Ok(ours), Ok(git)) if ours == git => same += 1,
            (Err(_), Err(_)) => same += 1,
            (Err(_), Ok(_)) => stricter += 1,
            (ours, git) => panic!(
                "ours {ours:#?}\ngit {git:#?}\n{}",
                String::from_utf8_lossy(&patch)
            ),
        }
    }
    println!("{same} the same, {stricter} refused by us only");
    assert!(
        same > cases / 2 && stricter < cases / 10,
        "{same} the same, {stricter} refused by us only"
    );
}
