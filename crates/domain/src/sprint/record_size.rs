//! Keeps the record of a sprint small.

use super::member::SprintMember;
use super::report::fit;

/// How large the record of a sprint becomes, in bytes: a store takes 64 KB with what it adds.
const SPRINT_BYTES_MAX: usize = 63_400;

/// What a sprint takes without its members, in bytes.
const SPRINT_BYTES: usize = 1_850;

/// What a member takes at most without the places of its conflict, in bytes.
const MEMBER_BYTES_MAX: usize = 1_000;

/// Members keep conflicts of different weaves, of which the newest count most.
pub(super) fn fit_refusals(members: &mut [SprintMember]) {
    let others = SPRINT_BYTES + members.len() * MEMBER_BYTES_MAX;
    let mut left = SPRINT_BYTES_MAX.saturating_sub(others);
    let mut refusals: Vec<_> = members
        .iter_mut()
        .filter_map(|it| it.refusal.as_mut())
        .collect();
    refusals.sort_by_key(|it| std::cmp::Reverse(it.weave));
    for refusal in refusals {
        refusal.against.fit();
        fit(&mut refusal.clashes, &mut refusal.others, &mut left);
    }
}
