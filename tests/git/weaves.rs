//! Two members woven, and the same two patches applied by git one after the other.

use std::collections::BTreeMap;

use weave::member::{Change, Member, Work};
use weave::tree::Tree;
use weave::verdict::{Verdict, Way};
use weave::weave::{Order, Start, needs, weave};

use crate::applies::diff;
use crate::dice::Dice;
use crate::git::Git;

/// How many cases there are: some seconds of git.
const CASES: usize = 200;

/// What came of the second member, and how often.
type Tally = BTreeMap<String, usize>;

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
    }
}

/// What `git apply` takes is in, with the same tree; what it refuses comes in by a merge, or not at all.
fn compare(verdict: &Verdict, woven: &Tree, git: Result<Tree, String>) -> String {
    match (verdict, git) {
        (
            Verdict::In {
                way: way @ (Way::Taken | Way::Applied),
                ..
            },
            Ok(tree),
        ) => {
            assert_eq!(woven, &tree);
            way.to_string()
        }
        (
            Verdict::In {
                way: way @ Way::ThreeWay,
                ..
            },
            Err(_),
        ) => way.to_string(),
        (Verdict::Out(_), Err(_)) => "out".to_owned(),
        (verdict, git) => panic!("{verdict:#?}\n{git:#?}"),
    }
}

#[test]
fn two_members_are_woven_as_git_applies_them() {
    let git = Git::new();
    let mut dice = Dice::new(282_828);
    let mut trees = Vec::new();
    for _ in 0..CASES {
        let base = dice.tree();
        trees.extend([dice.changed(&base), dice.changed(&base)]);
        trees.push(base);
    }
    let names = git.store(&trees, &dice.contents);
    let mut tally = Tally::new();
    for (trees, names) in trees.chunks(3).zip(names.chunks(3)) {
        let [one, two, base] = trees else { continue };
        let patch = diff(&git, &names[2], &names[1], &["-M"]);
        if one == base || two == base {
            continue;
        }
        let members = [
            member(1, base, one, diff(&git, &names[2], &names[0], &["-M"])),
            member(2, base, two, patch.clone()),
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
        let said = git.apply(&names[0], &patch);
        *tally
            .entry(compare(&woven.outcomes[1].verdict, &woven.tree, said))
            .or_default() += 1;
    }
    println!("{tally:?}");
    assert!(
        tally.len() == 4 && tally.values().all(|count| *count > CASES / 40),
        "{tally:?}"
    );
}
