//! Reviews, with the verdicts of reviewers with a say; anyone may review a public pull request.

use domain::facts::{Review, ReviewVerdict};
use domain::failure::{Failure, FailureClass};
use domain::ids::PullRef;

use super::pull::PERSON;
use crate::client::{Client, Listing, failure};
use crate::wire;

/// 1,000 reviews.
const PAGES_MAX: usize = 10;

/// GitHub's associations of a repository's own people. A contributor has only had a change merged before.
const INSIDERS: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

/// Reads all reviews, oldest first.
pub(super) async fn read(client: &Client, pull: &PullRef) -> Result<Vec<Review>, Failure> {
    let doing = format!("reading the reviews of {pull}");
    let path = format!("/repos/{}/pulls/{}/reviews", pull.repo, pull.number);
    let listing = Listing {
        repo: &pull.repo,
        path: &path,
        pages_max: PAGES_MAX,
        doing: &doing,
    };
    let reviews = client.list::<Vec<wire::Review>>(&listing).await?;
    reviews
        .iter()
        .filter_map(|review| read_one(review, &doing).transpose())
        .collect()
}

/// One review; `None` for an outsider's whose account is gone.
fn read_one(review: &wire::Review, doing: &str) -> Result<Option<Review>, Failure> {
    let voice = ReviewerVote::from_review(review);
    match (&review.user, voice) {
        (Some(user), voice) => Ok(Some(Review {
            reviewer: user.id,
            person: voice.person(user),
            commit: review.commit_id.as_deref().and_then(|sha| sha.parse().ok()),
            verdict: voice.weigh(verdict(&review.state)),
        })),
        (None, ReviewerVote::Outside) => Ok(None),
        (None, ReviewerVote::Inside | ReviewerVote::Untold) => Err(failure(
            FailureClass::Garbled,
            &format!("{doing}: one has no author, whose account may be deleted; dismiss it"),
        )),
    }
}

/// Whether a reviewer has a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReviewerVote {
    /// A member of the repository, or an App that was installed on it.
    Inside,
    /// Anyone.
    Outside,
    /// GitHub does not say.
    Untold,
}

impl ReviewerVote {
    fn from_review(review: &wire::Review) -> Self {
        let association = review.author_association.as_str();
        let bot = review.user.as_ref().is_some_and(|user| user.kind == "Bot");
        if bot || INSIDERS.contains(&association) {
            Self::Inside
        } else if association.is_empty() {
            Self::Untold
        } else {
            Self::Outside
        }
    }

    /// The login of a person of the repository.
    fn person(self, user: &wire::User) -> Option<String> {
        (self == Self::Inside && user.kind == PERSON).then(|| user.login.clone())
    }

    /// What a verdict counts for. In doubt it can hold a merge up and cannot let one through.
    fn weigh(self, verdict: ReviewVerdict) -> ReviewVerdict {
        match (self, verdict) {
            (Self::Outside, _) | (Self::Untold, ReviewVerdict::Approved) => ReviewVerdict::Comment,
            (Self::Inside | Self::Untold, verdict) => verdict,
        }
    }
}

fn verdict(state: &str) -> ReviewVerdict {
    match state {
        "APPROVED" => ReviewVerdict::Approved,
        "CHANGES_REQUESTED" => ReviewVerdict::ChangesRequested,
        "DISMISSED" => ReviewVerdict::Dismissed,
        _other => ReviewVerdict::Comment,
    }
}
