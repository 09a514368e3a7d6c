//! The order of a weave and its groups.

use super::*;

/// Members with their paths; a number with a place was in before.
fn planned(members: &[(u64, Option<usize>, &'static str)]) -> (Vec<u64>, Vec<Group>) {
    let shares: Vec<_> = members
        .iter()
        .map(|(number, was_in, paths)| Shares {
            number: *number,
            was_in: *was_in,
            paths: paths.split(' ').filter(|path| !path.is_empty()).collect(),
        })
        .collect();
    let plan = plan(&shares);
    (
        plan.order.iter().map(|at| members[*at].0).collect(),
        plan.groups,
    )
}

fn order(members: &[(u64, Option<usize>, &'static str)]) -> Vec<u64> {
    planned(members).0
}

#[test]
fn who_shares_no_file_goes_by_files_then_number() {
    assert_eq!(
        order(&[(3, None, "a"), (1, None, "b c"), (2, None, "d")]),
        [2, 3, 1]
    );
}

#[test]
fn groups_follow_with_the_least_overlap_first() {
    let members = [
        (1, None, "a b"),
        (2, None, "a b"),
        (3, None, "x"),
        (4, None, "x y"),
        (5, None, "z z1 z2 z3"),
    ];
    assert_eq!(order(&members), [5, 3, 4, 1, 2]);
}

#[test]
fn within_a_group_the_least_overlap_goes_first() {
    assert_eq!(
        order(&[(1, None, "a b"), (2, None, "b"), (3, None, "a")]),
        [2, 3, 1]
    );
    assert_eq!(order(&[(2, None, "a"), (1, None, "a")]), [1, 2]);
}

#[test]
fn groups_of_equal_overlap_are_not_mixed() {
    assert_eq!(
        order(&[
            (1, None, "a"),
            (2, None, "b"),
            (3, None, "a"),
            (4, None, "b")
        ]),
        [1, 3, 2, 4]
    );
}

#[test]
fn what_was_in_goes_first_in_its_old_order() {
    let members = [
        (1, None, "a"),
        (2, Some(1), "a"),
        (3, Some(0), "b"),
        (4, None, "c"),
    ];
    assert_eq!(order(&members), [3, 2, 4, 1]);
}

#[test]
fn groups_join_through_others_and_through_folders() {
    let (_, groups) = planned(&[
        (1, None, "a"),
        (2, None, "a b"),
        (3, None, "b"),
        (4, None, "d/x"),
        (5, None, "d"),
    ]);
    let members: Vec<_> = groups.iter().map(|group| group.members.clone()).collect();
    assert_eq!(members, [vec![4, 5], vec![1, 3, 2]]);
    let shared: Vec<_> = groups
        .iter()
        .map(|group| group.shared.iter().map(String::as_str).collect())
        .collect::<Vec<Vec<_>>>();
    assert_eq!(shared, [vec!["d/x"], vec!["a", "b"]]);
}

#[test]
fn one_alone_is_a_group_and_none_is_no_group() {
    let (order, groups) = planned(&[(7, None, "")]);
    assert_eq!((order, groups.len()), (vec![7], 1));
    assert_eq!(planned(&[]).1, []);
}
