//! Jobs without a session: from the commit to the pull request that is theirs alone.

use super::*;
use crate::effect::{PullAction, RepoAction};
use crate::facts::fixture::sha;
use crate::failure::{Failure, FailureClass};
use crate::ids::{PullRef, SprintNumber};
use crate::pipeline::{PartWork, PipelinePart, Recipe, SprintPart, TreeShas};
use crate::policy::Source;

fn pull() -> PullRef {
    "acme/shop#7".parse().unwrap()
}

fn proposal() -> Step<Job> {
    let new = NewProposal {
        job: new_job(),
        recipe: Recipe::Bootstrap(TreeShas {
            target: sha('a'),
            worker: sha('b'),
        }),
        before: Vec::new(),
    };
    propose(new, at(0)).unwrap()
}

#[test]
fn it_is_looked_at_again_until_it_is_over() {
    let step = proposal();
    assert!(matches!(
        step.effects[..],
        [Action::Repo(RepoAction::Propose { .. })]
    ));
    let due = Some(at(0) + PROPOSED_LOOK);
    assert_eq!(step.due, due);
    let made = committed(&step.aggregate, &sha('c')).unwrap();
    assert_eq!(made.due, due);
    let twice = committed(&made.aggregate, &sha('d')).unwrap();
    assert_eq!(twice.aggregate.committed(), Some(&sha('c')));
    let open = proposed(&made.aggregate, Some((&pull(), &sha('c'))), at(1));
    assert_eq!(open.due, due);
    assert_eq!(open.follow_ups, [FollowUp::Pull(pull())]);
    let refused = committed(&open.aggregate, &sha('d'));
    assert_eq!(refused.unwrap_err().code, "not_proposed");
    let nothing = proposed(&made.aggregate, None, at(1));
    assert!(nothing.aggregate.is_ended());
    assert_eq!(nothing.due, None);
    let failure = Failure::new(FailureClass::Conflict, "no");
    let failed = proposal_failed(&made.aggregate, &failure, at(1));
    assert!(failed.aggregate.is_ended());
    assert_eq!(failed.due, None);
    let kept = proposal_failed(&open.aggregate, &failure, at(1));
    assert_eq!(kept.aggregate, open.aggregate);
}

#[test]
fn a_pull_request_of_one_that_is_called_off_is_closed_once() {
    let waiting = proposal().aggregate;
    let close = [
        Action::Pull(PullAction::ClosePull { pull: pull() }),
        Action::Pull(PullAction::DeleteBranch {
            repo: pull().repo,
            branch: waiting.proposal_branch().unwrap(),
            sha: sha('c'),
        }),
    ];
    let off = cancel(&waiting, "ann", at(1)).unwrap();
    assert_eq!(off.effects, []);
    let late = proposed(&off.aggregate, Some((&pull(), &sha('c'))), at(2));
    assert_eq!(late.effects, close);
    let open = proposed(&waiting, Some((&pull(), &sha('c'))), at(1)).aggregate;
    let off = cancel(&open, "ann", at(2)).unwrap();
    assert_eq!(off.effects, close);
    let again = proposed(&off.aggregate, Some((&pull(), &sha('c'))), at(3));
    assert_eq!(again.effects, []);
}

#[test]
fn a_branch_that_nothing_was_opened_from_goes() {
    let made = committed(&proposal().aggregate, &sha('c')).unwrap();
    let made = made.aggregate;
    let unbranch = [Action::Pull(PullAction::DeleteBranch {
        repo: made.repo.clone(),
        branch: made.proposal_branch().unwrap(),
        sha: sha('c'),
    })];
    let off = cancel(&made, "ann", at(1)).unwrap();
    assert_eq!(off.effects, unbranch);
    let failure = Failure::new(FailureClass::Forbidden, "no");
    let failed = proposal_failed(&made, &failure, at(1));
    assert_eq!(failed.effects, unbranch);
}

fn part(work: PartWork) -> Option<Box<PipelinePart>> {
    let pipeline = None;
    Some(Box::new(PipelinePart { pipeline, work }))
}

#[test]
fn a_source_that_keeps_branches_by_now_keeps_none_that_came_to_nothing() {
    let source = |delete_branch| Source {
        repo: "acme/shop".parse().unwrap(),
        account: "default".parse().unwrap(),
        agent: None,
        paused: false,
        branch: None,
        policy: Policy {
            delete_branch,
            ..Policy::default()
        },
        timing: Timing::default(),
        pipeline: None,
        deliveries: crate::delivery::Rules::default(),
        sprints: crate::sprint::SprintRules::default(),
    };
    let weave = SprintPart {
        sprint: SprintNumber::FIRST,
        persona: None,
    };
    let woven = Job {
        part: part(PartWork::Sprint(weave)),
        ..proposal().aggregate
    };
    let exchange = Job {
        part: part(PartWork::Proposal { requirement: None }),
        ..proposal().aggregate
    };
    let theirs = "jules-123".parse().unwrap();
    for (job, is_own, is_merged, goes) in [
        (&watched_job(), false, true, false),
        (&watched_job(), false, false, false),
        (&woven, true, true, false),
        (&woven, true, false, true),
        (&exchange, true, true, true),
        (&exchange, true, false, true),
    ] {
        let own = job.proposal_branch().filter(|_| is_own);
        let branch = own.as_ref().unwrap_or(&theirs);
        let still_goes = |delete| source(delete).still_deletes(job, branch, is_merged);
        assert_eq!(still_goes(false), goes, "{branch}, merged: {is_merged}");
        assert!(still_goes(true));
    }
}
