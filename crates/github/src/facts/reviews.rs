//! Reviews, with the verdicts of reviewers with a say; anyone may review a public pull request.

use std::collections::{BTreeMap, BTreeSet};

use domain::facts::{Review, ReviewVerdict};
use domain::failure::{Failure, FailureClass};
use domain::ids::{PullRef, RepoName};

use super::pull::PERSON;
use crate::client::{Client, failure, segment};
use crate::wire;

/// 1,000 reviews.
const PAGES_MAX: usize = 10;

/// GitHub's association of the account that owns a repository.
const OWNER: &str = "OWNER";

/// GitHub's associations of a repository's other people, who may be allowed to read only. A contributor has only had a
/// change merged before.
const INSIDERS: [&str; 2] = ["MEMBER", "COLLABORATOR"];

/// GitHub's permissions of those who may write. It says `write` of the role `maintain`, too.
const WRITERS: [&str; 2] = ["admin", "write"];

/// Reads all reviews, oldest first.
pub(super) async fn read(client: &Client, pull: &PullRef) -> Result<Vec<Review>, Failure> {
    let doing = format!("reading the reviews of {pull}");
    let path = format!("/repos/{}/pulls/{}/reviews", pull.repo, pull.number);
    let reviews = client
        .list::<Vec<wire::Review>>(&pull.repo, &path, PAGES_MAX, &doing)
        .await?;
    let mut readers = BTreeSet::new();
    for user in approvers(&reviews) {
        if !may_write(client, &pull.repo, user).await? {
            readers.insert(user.id);
        }
    }
    reviews
        .iter()
        .filter_map(|review| read_one(review, &readers, &doing).transpose())
        .collect()
}

/// The people whose last verdict is an approval that counts only if they may write.
fn approvers(reviews: &[wire::Review]) -> Vec<&wire::User> {
    let mut last = BTreeMap::new();
    for review in reviews {
        let vote = ReviewerVote::from_review(review);
        let verdict = vote.weigh(verdict(&review.state));
        let user = review.user.as_ref();
        if let Some(user) = user.filter(|_| verdict != ReviewVerdict::Comment) {
            last.insert(user.id, (user, vote, verdict));
        }
    }
    let asked = (ReviewerVote::Inside, ReviewVerdict::Approved);
    let last = last.into_values();
    last.filter(|(_, vote, verdict)| (*vote, *verdict) == asked)
        .map(|(user, ..)| user)
        .collect()
}

/// Whether a person may write. They may not where GitHub does not know them or does not tell us.
async fn may_write(client: &Client, repo: &RepoName, user: &wire::User) -> Result<bool, Failure> {
    let login = &user.login;
    let doing = format!("reading whether {login} may write to {repo}");
    let path = format!("/repos/{repo}/collaborators/{}/permission", segment(login));
    let is_unknown = |failure: &Failure| {
        matches!(
            failure.class,
            FailureClass::NotFound | FailureClass::Forbidden
        )
    };
    match client.get::<wire::Collaborator>(repo, &path, &doing).await {
        Err(failure) if is_unknown(&failure) => Ok(false),
        read => read.map(|found| WRITERS.contains(&found.permission.as_str())),
    }
}

/// One review; `None` for an outsider's whose account is gone. An approval by one who may only read ends what they objected to.
fn read_one(
    review: &wire::Review,
    readers: &BTreeSet<u64>,
    doing: &str,
) -> Result<Option<Review>, Failure> {
    let voice = ReviewerVote::from_review(review);
    let said = voice.weigh(verdict(&review.state));
    match (&review.user, voice) {
        (Some(user), voice) => Ok(Some(Review {
            reviewer: user.id,
            person: voice.person(user),
            commit: review.commit_id.as_deref().and_then(|sha| sha.parse().ok()),
            verdict: if said == ReviewVerdict::Approved && readers.contains(&user.id) {
                ReviewVerdict::Dismissed
            } else {
                said
            },
        })),
        (None, ReviewerVote::Outside) => Ok(None),
        (None, ReviewerVote::Writer | ReviewerVote::Inside | ReviewerVote::Untold) => Err(failure(
            FailureClass::Garbled,
            &format!("{doing}: one has no author, whose account may be deleted; dismiss it"),
        )),
    }
}

/// Whether a reviewer has a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReviewerVote {
    /// The owner of the repository, or an App that was installed on it.
    Writer,
    /// A member or a collaborator, whose approval counts if they may write.
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
        if bot || association == OWNER {
            Self::Writer
        } else if INSIDERS.contains(&association) {
            Self::Inside
        } else if association.is_empty() {
            Self::Untold
        } else {
            Self::Outside
        }
    }

    /// The login of a person of the repository.
    fn person(self, user: &wire::User) -> Option<String> {
        let is_inside = matches!(self, Self::Writer | Self::Inside);
        (is_inside && user.kind == PERSON).then(|| user.login.clone())
    }

    /// What a verdict counts for. In doubt it can hold a merge up and cannot let one through.
    fn weigh(self, verdict: ReviewVerdict) -> ReviewVerdict {
        match (self, verdict) {
            (Self::Outside, _) | (Self::Untold, ReviewVerdict::Approved) => ReviewVerdict::Comment,
            (Self::Writer | Self::Inside | Self::Untold, verdict) => verdict,
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
