//! Texts merged by `git merge-file` and by us.

use weave::three_way::{Merged, merge};

use crate::cases;
use crate::dice::Dice;
use crate::git::Git;

/// How many texts are merged, of some and of all cases.
const CASES: (usize, usize) = (300, 2_000);

/// What `git merge-file` writes, and how many conflicts it counts.
fn by_git(git: &Git, texts: [&[u8]; 3], options: &[&str]) -> (Vec<u8>, i32) {
    for (name, text) in ["base", "ours", "theirs"].into_iter().zip(texts) {
        std::fs::write(git.folder().join(name), text).unwrap();
    }
    let mut arguments = vec!["merge-file", "-p"];
    arguments.extend(options);
    arguments.extend(["ours", "base", "theirs"]);
    let output = git.run(&arguments, b"");
    (output.stdout, output.status.code().unwrap())
}

#[test]
fn texts_merge_as_git_merges_them() {
    let git = Git::new();
    let mut dice = Dice::new(2_800);
    let cases = cases(CASES.0, CASES.1);
    let (mut clean, mut clashing) = (0, 0);
    for _ in 0..cases {
        let base = dice.text();
        let (ours, theirs) = (dice.edited(&base), dice.edited(&base));
        let texts = [&base[..], &ours, &theirs];
        let (bytes, conflicts) = by_git(&git, texts, &["--diff3"]);
        match merge(&base, &ours, &theirs).unwrap() {
            Merged::Clean(merged) => {
                assert_eq!(
                    (String::from_utf8(merged), conflicts),
                    (String::from_utf8(bytes), 0)
                );
                clean += 1;
            }
            Merged::Clashing {
                places,
                theirs: merged,
                ..
            } => {
                assert_eq!(i32::try_from(places.len()), Ok(conflicts));
                let (bytes, _) = by_git(&git, texts, &["--theirs"]);
                assert_eq!(String::from_utf8(merged), String::from_utf8(bytes));
                clashing += 1;
            }
        }
    }
    println!("{clean} clean, {clashing} with conflicts");
    assert!(
        clean > cases / 5 && clashing > cases / 5,
        "{clean} clean, {clashing} with conflicts"
    );
}
