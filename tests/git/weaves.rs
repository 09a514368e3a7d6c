//! Two members woven, and the same two patches applied by git one after the other.

use std::collections::{BTreeMap, BTreeSet};

use weave::member::{Change, Member, Work};
use weave::tree::{Mode, Tree};
use weave::verdict::{ClashKind, Conflict, Verdict, Way};
use weave::weave::{Order, Start, needs, weave};

use crate::applies::joins;
use crate::cases;
use crate::dice::Dice;
use crate::git::{Git, Pair, Said};

/// How many pairs of members there are, of some and of all cases.
const CASES: (usize, usize) = (300, 2_000);

fn member(number: u64, base: &Tree, head: &Tree, patch: Vec<u8>) -> Member {
    let changes = head.changes_since(base).into_iter();
    let changed = changes.map(|(path, after)| {
        let before = base.get(&path);
        (path, Change { before, after })
    });
    let work = Work::Trees {
        changed: changed.collect(),
        patch: Some(patch),
    };
    Member {
        number,
        was_in: None,
        work,
        refused: Vec::new(),
        target_renamed: BTreeSet::new(),
        begins_on_woven: false,
    }
}

/// We find a conflict where git finds none: seldom, and on the safe side.
const STRICTER: &str = "out, where git finds no conflict";

/// What came of a case, and how often.
type Tally = BTreeMap<String, usize>;

/// What git makes of the second patch on the tree of the first member.
struct Judge {
    applied: Said,
    merged: Said,
    /// Whether both members changed a path to the same.
    both: bool,
    joins: bool,
}

impl Judge {
    /// What `git apply` takes is in, with the same tree. What it refuses comes in as `--3way` does it, or not at all.
    fn compare(self, verdict: &Verdict, woven: &Tree) -> String {
        match (verdict, self.applied, self.merged) {
            (Verdict::In { way, .. }, Ok(tree), _) if is_plain(*way) => {
                assert_eq!(woven, &tree);
                way.to_string()
            }
            (Verdict::In { way, .. }, Err(_), Ok(tree)) if !is_plain(*way) => {
                assert_eq!(woven, &tree);
                way.to_string()
            }
            // Git's apply joins two lines, which we never do.
            (Verdict::In { way, .. }, Ok(_), Ok(tree)) if !is_plain(*way) && self.joins => {
                assert_eq!(woven, &tree);
                format!("{way}, where git joins two lines")
            }
            (Verdict::Out(_), Ok(_), Err(_)) if self.joins => {
                "out, where git joins two lines".to_owned()
            }
            // Git has nothing left to do where both deleted a file or moved a submodule, and refuses.
            (Verdict::In { way, .. }, Err(_), Err(_)) if !is_plain(*way) && self.both => {
                format!("{way}, where both did the same")
            }
            (Verdict::Out(_), Err(_), Err(_)) => "out".to_owned(),
            // Git carries a change to where its file was moved.
            (Verdict::Out(conflict), Err(_), Ok(_)) if moves(conflict) => {
                "out, where git follows a rename".to_owned()
            }
            (Verdict::Out(_), Err(_), Ok(_)) => STRICTER.to_owned(),
            (verdict, applied, merged) => panic!("{verdict:#?}\n{applied:#?}\n{merged:#?}"),
        }
    }
}

fn is_plain(way: Way) -> bool {
    match way {
        Way::Taken | Way::Applied => true,
        Way::ThreeWay | Way::Answered => false,
    }
}

fn both_changed(base: &Tree, one: &Tree, two: &Tree) -> bool {
    let changes = two.changes_since(base);
    let mut alike = changes.iter();
    alike.any(|(path, entry)| one.get(path) == *entry)
}

fn moves(conflict: &Conflict) -> bool {
    let mut kinds = conflict.clashes.iter().map(|clash| clash.kind);
    kinds.any(|kind| matches!(kind, ClashKind::RenameChanged | ClashKind::MovedApart))
}

#[test]
fn two_members_are_woven_as_git_applies_and_merges_them() {
    let git = Git::new();
    let mut dice = Dice::new(282_828);
    let cases = cases(CASES.0, CASES.1);
    let mut trees = Vec::new();
    for _ in 0..cases {
        let base = dice.tree();
        trees.extend([dice.changed(&base), dice.changed(&base)]);
        trees.push(base);
    }
    let names = git.store(&trees, &dice.contents);
    let pairs = |to: usize| -> Vec<Pair> {
        let cases = names.chunks(3);
        cases.map(|it| (it[2].clone(), it[to].clone())).collect()
    };
    let firsts = git.diffs(&pairs(0), &["-M"]);
    let seconds = git.diffs(&pairs(1), &["-M"]);
    let mut tally = Tally::new();
    for ((trees, first), second) in trees.chunks(3).zip(firsts).zip(seconds) {
        let [one, two, base] = trees else { continue };
        if one == base || two == base {
            continue;
        }
        let members = [
            member(1, base, one, first),
            member(2, base, two, second.clone()),
        ];
        let start = Start::at(base);
        let needed = needs(start, &members);
        let loaded = dice.contents.iter().filter(|(id, _)| needed.contains(id));
        let loaded = loaded.map(|(id, content)| (*id, content.clone())).collect();
        let woven = weave(start, &members, Order::Given, &loaded).unwrap();
        assert_eq!(
            woven.outcomes[0].verdict,
            Verdict::In {
                way: Way::Taken,
                files: one.changes_since(base).len()
            }
        );
        let judge = Judge {
            applied: git.apply(one, &second),
            merged: git.merge(one, &second),
            both: both_changed(base, one, two),
            joins: joins(one, &second, &dice.contents),
        };
        let told = judge.compare(&woven.outcomes[1].verdict, &woven.tree);
        *tally.entry(told).or_default() += 1;
    }
    println!("{tally:#?}");
    let ways = ["taken", "applied", "three_way", "out"];
    let count = |way: &str| tally.get(way).copied().unwrap_or_default();
    assert!(ways.iter().all(|way| count(way) > cases / 60), "{tally:#?}");
    assert!(count(STRICTER) <= cases / 100, "{tally:#?}");
}

/// A tree with a file that stays, and with copies of another one: as it was, or with one line more.
fn copies(dice: &mut Dice, files: &[(&str, bool)]) -> Tree {
    let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
    let mut file = |content: String| dice.keep(Mode::File, content.into_bytes());
    let mut tree = Tree::default();
    tree.set("stays", Some(file("stays\n".to_owned())));
    for (path, is_edited) in files {
        let more = if *is_edited { "one more\n" } else { "" };
        tree.set(path, Some(file(format!("{text}{more}"))));
    }
    tree
}

/// Whether git merges two trees that began as the first one.
fn merges(git: &Git, trees: &[String]) -> bool {
    let commit = |tree: &str, parents: &[&str]| {
        let who = [
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b",
            "commit-tree",
            tree,
            "-m",
            "x",
        ];
        let id = git.succeed(&[&who, parents].concat(), b"");
        String::from_utf8(id).unwrap().trim_end().to_owned()
    };
    let base = commit(&trees[0], &[]);
    let [one, two] = [1, 2].map(|at| commit(&trees[at], &["-p", &base]));
    let output = git.run(&["merge-tree", "--write-tree", &one, &two], b"");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    output.status.success()
}

#[test]
fn renames_and_deletions_of_one_file_conflict_where_they_do_in_a_merge_of_git() {
    let all: [&[(&str, bool)]; 5] = [
        &[],
        &[("b", false)],
        &[("c", false)],
        &[("c", true)],
        &[("d", true)],
    ];
    let mut dice = Dice::new(1);
    for one in all {
        for two in all {
            let git = Git::new();
            let files: [&[(&str, bool)]; 3] = [&[("a", false)], one, two];
            let trees = files.map(|files| copies(&mut dice, files));
            let names = git.store(&trees, &dice.contents);
            let pairs = [1, 2].map(|at| (names[0].clone(), names[at].clone()));
            let diffs = git.diffs(&pairs, &["-M"]);
            let [base, first, second] = &trees;
            let members = [
                member(1, base, first, diffs[0].clone()),
                member(2, base, second, diffs[1].clone()),
            ];
            let start = Start::at(base);
            let woven = weave(start, &members, Order::Given, &dice.contents).unwrap();
            let mut verdicts = woven.outcomes.iter().map(|outcome| &outcome.verdict);
            let is_in = verdicts.all(|verdict| matches!(verdict, Verdict::In { .. }));
            // Of a file that both gave the same new name, git merges the texts by the old one.
            let merged = merges(&git, &names);
            let is_one_name = one.first().map(|it| it.0) == two.first().map(|it| it.0);
            assert!(
                is_in == merged || (merged && is_one_name),
                "{one:?} {two:?}"
            );
        }
    }
}
