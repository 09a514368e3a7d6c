//! What people said of a pull request: who wants changes, and whether enough approve it.

use super::{MergeInput, Reason, unreadable};
use crate::facts::{PullFacts, Review, ReviewVerdict};

/// What reviewers said, beside what the branch rules demand.
pub(super) fn said(reasons: &mut Vec<Reason>, facts: &PullFacts) {
    let Some(reviews) = facts.reviews.known() else {
        return reasons.extend(unreadable(MergeInput::Reviews, &facts.reviews));
    };
    if standing_verdicts(reviews).any(|verdict| verdict == ReviewVerdict::ChangesRequested) {
        reasons.push(Reason::ChangesRequested);
    }
    let approves = |verdict: &ReviewVerdict| *verdict == ReviewVerdict::Approved;
    let have = standing_verdicts(reviews).filter(approves).count() as u64;
    let need = facts.demands.known().map_or(0, |demands| demands.approvals);
    if have < u64::from(need) {
        reasons.push(Reason::ApprovalsMissing { have, need });
    }
}

/// Each reviewer's last word; comments do not take a verdict back.
fn standing_verdicts(reviews: &[Review]) -> impl Iterator<Item = ReviewVerdict> {
    let mut last: Vec<(u64, ReviewVerdict)> = Vec::new();
    for review in reviews
        .iter()
        .filter(|review| review.verdict != ReviewVerdict::Comment)
    {
        last.retain(|(reviewer, _)| *reviewer != review.reviewer);
        last.push((review.reviewer, review.verdict));
    }
    last.into_iter().map(|(_, verdict)| verdict)
}
