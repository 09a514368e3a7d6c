//! Approvals: whether any person can give them.

use super::code::Code;
use super::finding::{Finding, names};
use super::merging::demands;
use super::repository::Repository;
use crate::policy::{MergePolicy, Source};

pub(super) fn examine(source: &Source, repository: &Repository) -> Option<Finding> {
    let need = demands(repository).approvals;
    if need == 0 {
        return None;
    }
    let about = &source.repo;
    let wanted = format!("approvals demanded: {need}");
    if let Some(reviewers) = repository.reviewers.known() {
        let enough = |count: usize| u32::try_from(count).is_ok_and(|count| count >= need);
        if !enough(reviewers.len()) {
            let what = format!("{wanted}; people with write access: {}", reviewers.len());
            return Some(Finding::new(Code::NobodyApproves, about, what));
        }
        let authors = &repository.authors;
        let others = reviewers
            .iter()
            .filter(|reviewer| {
                !authors
                    .iter()
                    .any(|author| author.eq_ignore_ascii_case(reviewer))
            })
            .count();
        if !enough(others) {
            let what = format!(
                "{wanted}; Jules's pull requests there were opened by {}",
                names(authors)
            );
            return Some(Finding::new(Code::AuthorApproves, about, what));
        }
    }
    match source.policy.merge {
        MergePolicy::OnGreen | MergePolicy::Integration => Some(Finding::new(
            Code::ApprovalsNeeded,
            about,
            format!("it merges on green; {wanted}"),
        )),
        MergePolicy::Human => None,
    }
}
