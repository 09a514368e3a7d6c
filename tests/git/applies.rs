//! Patches of git's own, applied to trees that went another way.

use weave::apply::{Refusal, Refused, apply};
use weave::patch::parse;
use weave::place::Misplaced;
use weave::tree::{BlobId, Contents, Tree};

use crate::dice::Dice;
use crate::git::Git;

/// How many cases there are: some seconds of git.
const CASES: usize = 300;

/// How git writes the diffs: as GitHub does, and in ways that people do.
const STYLES: [&[&str]; 7] = [
    &["-U0"],
    &["-M", "-U2"],
    &["-M"],
    &["-M", "-U1"],
    &["--no-renames"],
    &["-C", "--find-copies-harder"],
    &["-M", "-U5", "--patience"],
];

/// What one of the two says of a case.
type Said = Result<Tree, String>;

/// How often both said the same, and what.
#[derive(Debug, Default)]
struct Tally {
    applied: usize,
    refused: usize,
    /// Inputs with several diffs of one path, perhaps.
    series: usize,
    /// Git joined two lines, and we refused.
    joins: usize,
}

fn ours(target: &Tree, patch: &[u8], contents: &Contents) -> Result<Tree, Option<Refused>> {
    let patch = parse(patch).map_err(|_| None)?;
    let read = |id: BlobId| contents.get(&id).map(Vec::as_slice);
    let applied = apply(&patch, target, &read).map_err(Some)?;
    for (id, content) in &applied.made {
        assert_eq!(BlobId::of(content), Some(*id));
    }
    let mut tree = target.clone();
    tree.apply(&applied.changes);
    Ok(tree)
}

impl Tally {
    fn count(&mut self, target: &Tree, patch: &[u8], contents: &Contents, git: Said) {
        let joins = Some(Refusal::Hunk(Misplaced::Joins));
        match (ours(target, patch, contents), git) {
            (Ok(ours), Ok(git)) if ours == git => self.applied += 1,
            (Err(_), Err(_)) => self.refused += 1,
            (Err(refused), Ok(_)) if refused.as_ref().map(|it| it.refusal) == joins => {
                self.joins += 1
            }
            (ours, git) => {
                let text = String::from_utf8_lossy(patch);
                panic!("ours {ours:#?}\ngit {git:#?}\nto {target:#?}\n{text}");
            }
        }
    }
}

#[test]
fn patches_apply_as_git_applies_them() {
    let git = Git::new();
    let mut dice = Dice::new(28);
    let mut trees = Vec::new();
    for _ in 0..CASES {
        let base = dice.tree();
        let member = dice.changed(&base);
        let later = dice.changed(&member);
        let moved = dice.changed(&base);
        let target = if dice.chance(10) { base.clone() } else { moved };
        trees.extend([base, member, later, target]);
    }
    let names = git.store(&trees, &dice.contents);
    let mut tally = Tally::default();
    for (trees, names) in trees.chunks(4).zip(names.chunks(4)) {
        let style = *dice.pick(&STYLES);
        let mut patch = diff(&git, &names[0], &names[1], style);
        let series = diff(&git, &names[1], &names[2], &["--no-renames"]);
        if dice.chance(25) && is_plain(&patch) && is_plain(&series) {
            patch.extend(series);
            tally.series += 1;
        }
        if !patch.is_empty() {
            let said = git.apply(&names[3], &patch);
            tally.count(&trees[3], &patch, &dice.contents, said);
        }
    }
    println!("{tally:?}");
    assert!(
        tally.applied > CASES / 4 && tally.refused > CASES / 10,
        "{tally:?}"
    );
    assert!(tally.series > CASES / 20, "{tally:?}");
}

pub(crate) fn diff(git: &Git, from: &str, to: &str, style: &[&str]) -> Vec<u8> {
    let arguments = ["diff-tree", "-p", "--binary", "--full-index", from, to];
    git.succeed(&[&arguments, style].concat(), b"")
}

/// Whether a patch only makes and changes files: of what it moves or deletes, a series leaves git with something else
/// than its parts say.
fn is_plain(patch: &[u8]) -> bool {
    let text = String::from_utf8_lossy(patch);
    !["\ndeleted file", "\nrename from", "\ncopy from"]
        .iter()
        .any(|line| text.contains(line))
}

/// A patch that was edited badly: lines lost, twice, in another order, or with another byte.
fn spoilt(dice: &mut Dice, patch: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = patch
        .split_inclusive(|it| *it == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let at = dice.below(lines.len());
    let other = dice.below(lines.len());
    match dice.below(6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[other].clone()),
        2 => lines.swap(at, other),
        3 => lines[at].insert(0, *dice.pick(b" +-\\\n@")),
        4 => drop(lines.drain(at.min(other)..at.max(other))),
        _ => {
            let column = dice.below(lines[at].len());
            lines[at][column] = *dice.pick(b"0123456789 +-/ab,@");
        }
    }
    lines.concat()
}

#[test]
fn spoilt_patches_are_never_taken_where_git_refuses() {
    let git = Git::new();
    let mut dice = Dice::new(2_828);
    let mut trees = Vec::new();
    for _ in 0..CASES {
        let base = dice.tree();
        let member = dice.changed(&base);
        trees.extend([base, member]);
    }
    let names = git.store(&trees, &dice.contents);
    let (mut same, mut stricter) = (0, 0);
    for (trees, names) in trees.chunks(2).zip(names.chunks(2)) {
        let patch = diff(&git, &names[0], &names[1], &["-M"]);
        if patch.is_empty() {
            continue;
        }
        let patch = spoilt(&mut dice, &patch);
        let said = git.apply(&names[0], &patch);
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
        same > CASES / 2 && stricter < CASES / 10,
        "{same} the same, {stricter} refused by us only"
    );
}
