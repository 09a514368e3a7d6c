//! What only deliveries go by: reviews of people on GitHub, and whether a head only merged the base in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Pull, PullContext};
use crate::facts::{PullFacts, Review, ReviewVerdict};
use crate::ids::CommitSha;

/// An approving review of a head on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitHubApproval {
    /// The head.
    pub sha: CommitSha,
    /// Login of the reviewer.
    pub by: String,
}

/// A head that came after Gaffer had the base merged into the branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatedHead {
    /// The head.
    pub sha: CommitSha,
    /// The head that was updated.
    pub before: CommitSha,
    /// Whether GitHub's own merge of the base is all that is new.
    pub is_base_merge: bool,
}

impl Pull {
    /// The updated head with which its present one was not compared yet.
    fn unchecked_update(&self, head: &CommitSha) -> Option<&CommitSha> {
        self.delivery.as_ref()?;
        let before = self.repairs.updated.last().filter(|it| *it != head)?;
        // One update makes one head: what is pushed later is other work.
        let checked = self.updated_head.as_ref();
        checked
            .is_none_or(|it| it.before != *before)
            .then_some(before)
    }

    /// The head that a delivery goes by. One that may only merge the base in is not shown before that is known.
    pub(crate) fn head_for_delivery(&self) -> Option<&CommitSha> {
        let head = &self.head.as_ref()?.sha;
        Some(self.unchecked_update(head).unwrap_or(head))
    }

    /// The earlier head whose work this head is.
    pub(crate) fn same_work_as(&self, head: &CommitSha) -> Option<&CommitSha> {
        let updated = self.updated_head.as_ref()?;
        let is_same = updated.is_base_merge && updated.sha == *head;
        is_same.then_some(&updated.before)
    }

    /// Keeps what a reading shows of it.
    pub(super) fn see_for_delivery(&mut self, facts: &PullFacts, outside: &PullContext) {
        if self.delivery.is_none() {
            return;
        }
        let head = &facts.head.sha;
        if let (Some(before), Some(is_base_merge)) =
            (self.unchecked_update(head), outside.is_base_merge)
        {
            self.updated_head = Some(UpdatedHead {
                sha: head.clone(),
                before: before.clone(),
                is_base_merge,
            });
        }
        self.reviewed = match facts.reviews.known() {
            Some(reviews) => approving(reviews, head),
            None => self.reviewed.take().filter(|it| it.sha == *head),
        };
    }
}

/// The updated head with which the present one has to be compared.
pub fn update_to_check<'a>(pull: &'a Pull, facts: &PullFacts) -> Option<&'a CommitSha> {
    pull.unchecked_update(&facts.head.sha)
}

/// The newest approval of a head by a person, while no reviewer requests changes. Of each reviewer the last verdict counts.
fn approving(reviews: &[Review], head: &CommitSha) -> Option<GitHubApproval> {
    let mut last = BTreeMap::new();
    for (place, review) in reviews.iter().enumerate() {
        if review.verdict != ReviewVerdict::Comment {
            last.insert(review.reviewer, (place, review));
        }
    }
    let objects =
        |(_, review): &(usize, &Review)| review.verdict == ReviewVerdict::ChangesRequested;
    if last.values().any(objects) {
        return None;
    }
    let approves = |(_, review): &&(usize, &Review)| {
        review.verdict == ReviewVerdict::Approved && review.commit.as_ref() == Some(head)
    };
    let by_people = last.values().filter(approves);
    let by_people = by_people.filter_map(|(place, review)| Some((place, review.person.clone()?)));
    let (_, by) = by_people.max()?;
    Some(GitHubApproval {
        sha: head.clone(),
        by,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::sha;

    fn review(reviewer: u64, person: Option<&str>, (at, verdict): (char, ReviewVerdict)) -> Review {
        Review {
            reviewer,
            person: person.map(str::to_owned),
            commit: Some(sha(at)),
            verdict,
        }
    }

    #[test]
    fn a_person_who_approves_the_head_is_named_and_nobody_else() {
        use ReviewVerdict::{Approved, ChangesRequested, Comment, Dismissed};
        let ann = |what| review(1, Some("ann"), what);
        let ben = |what| review(2, Some("ben"), what);
        let bot = |what| review(3, None, what);
        let (head, older) = ('a', 'b');
        for (reviews, by) in [
            (vec![ann((head, Approved))], Some("ann")),
            (
                vec![ben((head, Approved)), ann((head, Approved))],
                Some("ann"),
            ),
            (
                vec![ann((head, Approved)), ann((head, Comment))],
                Some("ann"),
            ),
            (vec![ann((older, Approved))], None),
            (vec![bot((head, Approved))], None),
            (vec![ann((head, Comment))], None),
            (vec![ann((head, Approved)), ann((head, Dismissed))], None),
            (
                vec![ann((head, Approved)), ben((older, ChangesRequested))],
                None,
            ),
            (
                vec![ann((head, ChangesRequested)), ann((head, Approved))],
                Some("ann"),
            ),
            (vec![], None),
        ] {
            let found = approving(&reviews, &sha(head)).map(|it| it.by);
            assert_eq!(found.as_deref(), by, "{reviews:?}");
        }
    }
}
