//! Whose approving review counts: that of a person who may write.

use std::collections::BTreeMap;

use domain::facts::{Fact, PullFacts, ReviewVerdict};
use domain::failure::{Failure, FailureClass};
use engine::ports::PullsRead;
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server, common, now, pull};
use crate::world::*;

/// Where GitHub tells what `ann` may do.
const ANN: &str = "GET /repos/acme/shop/collaborators/ann/permission";

fn review(login: &str, id: u64, (association, state): (&str, &str)) -> Value {
    json!({ "user": { "login": login, "id": id, "type": "User" }, "state": state, "author_association": association })
}

fn permission(word: &str) -> Reply {
    Reply::ok(&json!({ "permission": word, "role_name": word }))
}

/// The facts where these are the reviews, and this is what `ann` may do.
async fn facts_with(reviews: Value, ann: Reply) -> Result<PullFacts, Failure> {
    let script = move |asked: &Asked| match asked.line().as_str() {
        REVIEWS => Reply::ok(&reviews),
        ANN => ann.clone(),
        _ => green(asked),
    };
    let reader = Server::start(script).await.reader();
    reader.facts(&pull(), common(), now()).await
}

fn verdicts(facts: &PullFacts) -> Vec<ReviewVerdict> {
    let reviews = facts.reviews.known().unwrap();
    reviews.iter().map(|review| review.verdict).collect()
}

#[tokio::test]
async fn only_those_who_may_write_approve() {
    let (counts, is_none) = (ReviewVerdict::Approved, ReviewVerdict::Dismissed);
    let rows = [
        (permission("admin"), counts),
        (permission("write"), counts),
        (permission("read"), is_none),
        (permission("none"), is_none),
        (permission("new"), is_none),
        (Reply::refusal(404, "Not Found"), is_none),
        (Reply::refusal(403, "Must have push access"), is_none),
    ];
    for (answer, expected) in rows {
        for association in ["MEMBER", "COLLABORATOR"] {
            // What they object to counts until they approve, which ends it all the same.
            let list = json!([
                review("ann", 1, (association, "CHANGES_REQUESTED")),
                review("ann", 1, (association, "APPROVED")),
                review("ann", 1, (association, "COMMENTED")),
            ]);
            let facts = facts_with(list, answer.clone()).await.unwrap();
            let objects = ReviewVerdict::ChangesRequested;
            let said = [objects, expected, ReviewVerdict::Comment];
            assert_eq!(verdicts(&facts), said, "{association}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_permission_that_cannot_be_read_makes_the_reviews_unknown() {
    let list = || json!([review("ann", 1, ("MEMBER", "APPROVED"))]);
    for answer in [Reply::refusal(500, "boom"), Reply::ok(&json!({}))] {
        let facts = facts_with(list(), answer).await.unwrap();
        let Fact::Unknown { why } = &facts.reviews else {
            panic!("{:?} is not unknown", facts.reviews);
        };
        assert!(why.contains("whether ann may write"), "{why}");
    }
    let limited = facts_with(list(), Reply::refusal(429, "slow down")).await;
    assert_eq!(limited.unwrap_err().class, FailureClass::Throttled);
}

#[tokio::test]
async fn each_whose_last_verdict_is_an_approval_is_asked_about_once() {
    let mut bot = review("app[bot]", 2, ("NONE", "APPROVED"));
    bot["user"]["type"] = json!("Bot");
    let list = json!([
        review("ann", 1, ("COLLABORATOR", "APPROVED")),
        review("ann", 1, ("COLLABORATOR", "APPROVED")),
        bot,
        review("owner", 3, ("OWNER", "APPROVED")),
        review("ben", 4, ("MEMBER", "APPROVED")),
        review("ben", 4, ("MEMBER", "CHANGES_REQUESTED")),
        review("stranger", 5, ("CONTRIBUTOR", "APPROVED")),
        review("untold", 6, ("", "APPROVED")),
    ]);
    let script = move |asked: &Asked| match asked.line().as_str() {
        REVIEWS => Reply::ok(&list),
        ANN if asked.header("if-none-match") == Some("\"v1\"") => Reply::text(304, ""),
        ANN => permission("write").with("etag", "\"v1\""),
        _ => green(asked),
    };
    let server = Server::start(script).await;
    let reader = server.reader();
    for _ in 0..2 {
        let facts = reader.facts(&pull(), common(), now()).await.unwrap();
        let approvals = facts.reviews.known().unwrap().iter();
        let approvals = approvals.filter(|it| it.verdict == ReviewVerdict::Approved);
        let mut last = BTreeMap::new();
        last.extend(approvals.map(|it| (it.reviewer, it.person.as_deref())));
        let people = [
            (1, Some("ann")),
            (2, None),
            (3, Some("owner")),
            (4, Some("ben")),
        ];
        assert_eq!(last, BTreeMap::from(people));
    }
    let asked = server.asked().into_iter();
    let asked = asked.filter(|asked| asked.path.contains("/collaborators/"));
    let asked: Vec<_> = asked
        .map(|it| (it.line(), it.header("if-none-match").is_some()))
        .collect();
    assert_eq!(asked, [(ANN.to_owned(), false), (ANN.to_owned(), true)]);
}
