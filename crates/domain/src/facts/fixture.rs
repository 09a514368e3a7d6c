//! For tests: a pull request with nothing against a merge, read at second 0.

use jiff::Timestamp;

use super::{
    Author, Base, Check, CheckOutcome, Demands, Fact, Head, Pass, PullFacts, PullState, ReadDepth,
};
use crate::ids::{CommitSha, RepoId, RepositoryIdentity};

/// GitHub's id of its own Actions App.
pub(crate) const ACTIONS_APP: u64 = 15_368;

/// So many seconds after the story began.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// A commit whose id repeats one digit.
pub(crate) fn sha(digit: char) -> CommitSha {
    digit.to_string().repeat(40).parse().unwrap()
}

/// A check run of the Actions App.
pub(crate) fn check(name: &str, outcome: CheckOutcome) -> Check {
    Check {
        name: name.to_owned(),
        app: Some(ACTIONS_APP),
        outcome,
        id: Some(1),
    }
}

pub(crate) fn passed(name: &str) -> Check {
    check(name, CheckOutcome::Passed(Pass::Success))
}

/// All that GitHub shows of it.
pub(crate) fn green_facts() -> PullFacts {
    PullFacts {
        pull: "acme/shop#7".parse().unwrap(),
        repo: RepositoryIdentity {
            id: RepoId(5),
            name: "acme/shop".parse().unwrap(),
        },
        read_at: at(0),
        state: PullState::Open,
        head: Head {
            sha: sha('a'),
            branch: "fix-14550388554331055113".parse().unwrap(),
            repo: Some("acme/shop".parse().unwrap()),
            repo_id: Some(RepoId(5)),
        },
        base: Base {
            branch: "main".parse().unwrap(),
            sha: sha('b'),
        },
        draft: false,
        stack: None,
        merged_by: None,
        mergeable: Fact::Known(true),
        node_id: "PR_1".to_owned(),
        author: Author {
            login: "jules".to_owned(),
            id: 1,
        },
        title: String::new(),
        body: String::new(),
        labels: vec!["enhancement".to_owned()],
        checks: Fact::Known(vec![passed("build")]),
        reviews: Fact::Known(vec![]),
        files: Fact::Known(vec!["src/cart.rs".to_owned()]),
        demands: Fact::Known(Demands::default()),
        ci: None,
        depth: ReadDepth::Whole,
    }
}
