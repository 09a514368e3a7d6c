//! The verdicts of a weave as a sprint keeps them, and back.

use domain::ids::CommitSha;
use domain::sprint::{self, Way, WeaveVerdict};
use weave::tree::BlobId;
use weave::verdict::{self, Clash, ClashKind};

use crate::weaving::{Skip, Skipped, Weave, kept_path};

/// How many runs of lines of a place are named.
const LINES_MAX: usize = 5;

/// What became of each pull request, in the order in which they were tried.
pub(super) fn reported(weave: &Weave) -> Vec<(u64, WeaveVerdict)> {
    let tried = weave.woven.outcomes.iter().filter_map(|outcome| {
        let mut taken = weave.taken.iter();
        let taken = taken.find(|it| it.number == outcome.number)?;
        let verdict = judged(&taken.head, &outcome.verdict);
        Some((outcome.number, verdict))
    });
    let skipped = weave.skipped.iter().map(|it| (it.number, left_out(it)));
    tried.chain(skipped).collect()
}

fn judged(head: &CommitSha, verdict: &verdict::Verdict) -> WeaveVerdict {
    let head = head.clone();
    match verdict {
        verdict::Verdict::In { way, files } => WeaveVerdict::In {
            head,
            way: way_of(*way),
            files: u32::try_from(*files).unwrap_or(u32::MAX),
        },
        verdict::Verdict::Out(conflict) => WeaveVerdict::Out {
            head,
            against: match &conflict.against {
                verdict::Against::Members(numbers) => sprint::Against::Members(numbers.clone()),
                verdict::Against::StaleBase => sprint::Against::StaleBase,
            },
            clashes: conflict.clashes.iter().map(kept).collect(),
            others: 0,
        },
        verdict::Verdict::Unreadable(fault) => WeaveVerdict::Skipped {
            reason: format!("its patch cannot be read: {fault}"),
        },
    }
}

fn left_out(skipped: &Skipped) -> WeaveVerdict {
    match &skipped.skip {
        Skip::HeadMoved => WeaveVerdict::Moved,
        Skip::NoChange => WeaveVerdict::Nothing,
        skip @ (Skip::Closed
        | Skip::Merged
        | Skip::Draft
        | Skip::Fork
        | Skip::NotFound
        | Skip::Unrelated
        | Skip::TooLarge(_)
        | Skip::Protected(_)) => WeaveVerdict::Skipped {
            reason: format!("{skip}: {}", skip.next()),
        },
    }
}

fn way_of(way: verdict::Way) -> Way {
    match way {
        verdict::Way::Taken => Way::Taken,
        verdict::Way::Applied => Way::Applied,
        verdict::Way::ThreeWay => Way::ThreeWay,
        verdict::Way::Answered => Way::Answered,
    }
}

fn kept(clash: &Clash) -> sprint::Clash {
    let lines = clash.lines.iter().take(LINES_MAX).map(ToString::to_string);
    let lines: Vec<String> = lines.collect();
    let words = match lines.is_empty() {
        true => clash.kind.to_string(),
        false => format!("{}: {}", clash.kind, lines.join(", ")),
    };
    let blob = |id: &Option<BlobId>| id.and_then(|id| id.to_string().parse().ok());
    sprint::Clash {
        path: kept_path(&clash.path),
        words,
        is_lines: clash.kind == ClashKind::Lines,
        base: blob(&clash.base),
        ours: blob(&clash.ours),
        theirs: blob(&clash.theirs),
    }
}

/// A place that a session was shown; none if it cannot be answered.
pub(super) fn clash_of(kept: &sprint::Clash) -> Option<Clash> {
    let blob = |id: &Option<CommitSha>| id.as_ref().and_then(|id| id.as_str().parse().ok());
    kept.is_lines.then(|| Clash {
        path: kept.path.clone(),
        kind: ClashKind::Lines,
        base: blob(&kept.base),
        ours: blob(&kept.ours),
        theirs: blob(&kept.theirs),
        lines: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use weave::member::Change;

    use super::*;
    use crate::weaving::shown_at;

    #[test]
    fn a_place_that_was_shown_is_found_at_a_path_that_the_record_changes() {
        let long = format!("src/{}/cart.rs", "a".repeat(250));
        for path in [
            "src/cart.rs",
            long.as_str(),
            "src/ghp_0123456789abcdefghijABCDEFGHIJ012345.rs",
            "src/ca\u{200b}rt.rs",
        ] {
            let clash = Clash {
                path: path.to_owned(),
                kind: ClashKind::Lines,
                base: None,
                ours: Some(BlobId::EMPTY),
                theirs: None,
                lines: Vec::new(),
            };
            let shown: Vec<Clash> = clash_of(&kept(&clash)).into_iter().collect();
            let nothing = Change {
                before: None,
                after: None,
            };
            let changed = [path, "README.md"].map(|path| (path.to_owned(), nothing));
            let changed = BTreeMap::from(changed);
            assert_eq!(shown_at(&changed, &shown), [clash], "{path}");
            let others = BTreeMap::from([("README.md".to_owned(), nothing)]);
            assert_eq!(shown_at(&others, &shown), []);
        }
    }
}
