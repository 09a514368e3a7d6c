//! Links a pull request to its session, from evidence that anyone may have forged.

use serde::{Deserialize, Serialize};

use crate::facts::PullFacts;
use crate::ids::{BranchName, PullRef, SessionId};
use crate::session::SessionView;

/// Prefixes of a session's address in the body of its pull request, before its id.
const TASK_ADDRESSES: [&str; 3] = [
    "jules.google.com/task/",
    "jules.google.com/session/",
    "jules.google.com/sessions/",
];

/// Session ids seen so far have 16 to 20 digits; fewer than ten could be an issue number.
const DIGITS: std::ops::RangeInclusive<usize> = 10..=20;

/// What a pull request itself claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The session named by a link in the body.
    pub body: Option<SessionId>,
    /// The session named by the end of the head branch.
    pub branch: Option<SessionId>,
}

/// Which session a pull request belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// Enough independent evidence names this session. It must still be one of ours.
    Agreed(SessionId),
    /// Nothing names a session.
    None,
    /// Evidence names a session, but not enough to act on.
    Doubtful {
        /// For programs.
        code: &'static str,
        /// For people.
        sentence: String,
    },
}

/// Reads what a pull request claims.
pub fn claim(body: &str, branch: &BranchName) -> Claim {
    Claim {
        body: in_body(body),
        branch: in_branch(branch.as_str()),
    }
}

/// The session that a body links to; two different ones are none.
fn in_body(body: &str) -> Option<SessionId> {
    let mut found: Option<SessionId> = None;
    for address in TASK_ADDRESSES {
        for (at, _) in body.match_indices(address) {
            let id = leading_id(&body[at + address.len()..])?;
            if found.as_ref().is_some_and(|other| *other != id) {
                return None;
            }
            found = Some(id);
        }
    }
    found
}

fn leading_id(text: &str) -> Option<SessionId> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    session_id(&text[..digits])
}

fn session_id(digits: &str) -> Option<SessionId> {
    let fits = DIGITS.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if fits { digits.parse().ok() } else { None }
}

/// `jules-<id>-<8 hex>`, or `<slug>-<id>` with an optional `-v2`.
fn in_branch(branch: &str) -> Option<SessionId> {
    let is_hex8 = |tail: &str| tail.len() == 8 && tail.bytes().all(|b| b.is_ascii_hexdigit());
    let is_version = |tail: &str| {
        tail.strip_prefix('v')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if let Some((id, tail)) = branch
        .strip_prefix("jules-")
        .and_then(|rest| rest.split_once('-'))
        && is_hex8(tail)
    {
        return session_id(id);
    }
    let (slug, tail) = branch.rsplit_once('-')?;
    if is_version(tail) {
        return session_id(slug.rsplit_once('-')?.1);
    }
    session_id(tail)
}

/// Weighs a pull request's claims against the session as Jules shows it.
///
/// Anyone who may open a pull request can write its body and its branch, so they count only where they agree with
/// each other or with Jules's own data.
/// Forks are never trusted, and the session has to work on the repository of the pull request.
pub fn weigh(facts: &PullFacts, session: &SessionView) -> Link {
    let doubtful = |code, sentence: String| Link::Doubtful { code, sentence };
    let claim = claim(&facts.body, &facts.head.branch);
    let id = &session.id;
    if !facts.is_from_base_repository() {
        return doubtful(
            "fork",
            format!("{} comes from a fork; forks are never trusted", facts.pull),
        );
    }
    if session.repo.as_ref() != Some(&facts.pull.repo) {
        return doubtful(
            "other_repository",
            format!("session {id} does not work on {}", facts.pull.repo),
        );
    }
    let outputs = session.pulls.contains(&facts.pull);
    let named: Vec<&SessionId> = claim.body.iter().chain(claim.branch.iter()).collect();
    if named.iter().any(|named| *named != id) {
        return doubtful(
            "link_conflict",
            format!(
                "the body and the branch of {} do not both name session {id}",
                facts.pull
            ),
        );
    }
    // Jules's own outputs are enough; else body and branch must agree, and the session have no other pull request.
    if outputs || named.len() == 2 && only_pull(session, &facts.pull) {
        return Link::Agreed(id.clone());
    }
    match named.len() {
        0 => Link::None,
        _ => doubtful(
            "link_unconfirmed",
            format!(
                "Jules does not list {} among the outputs of session {id} yet",
                facts.pull
            ),
        ),
    }
}

/// Whether a session lists other pull requests of this repository and not this one, or works elsewhere: then earlier
/// links count no more.
///
/// Outputs have been seen to vanish, so a session that lists none takes nothing back.
pub fn is_disowned(facts: &PullFacts, session: &SessionView) -> bool {
    let elsewhere = session.repo.as_ref() != Some(&facts.pull.repo);
    let listed = session.pulls.contains(&facts.pull);
    elsewhere || !listed && !only_pull(session, &facts.pull)
}

/// Whether the session names no other pull request of this repository.
fn only_pull(session: &SessionView, pull: &PullRef) -> bool {
    session
        .pulls
        .iter()
        .all(|output| output == pull || output.repo != pull.repo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::green_facts;
    use crate::job::tests::{SESSION as ID, view};

    fn branch(text: &str) -> Option<String> {
        claim("", &text.parse().unwrap())
            .branch
            .map(|id| id.to_string())
    }

    fn body(text: &str) -> Option<String> {
        claim(text, &"x".parse().unwrap())
            .body
            .map(|id| id.to_string())
    }

    #[test]
    fn branches_of_every_measured_shape() {
        let id = "14550388554331055113";
        for text in [
            "add-tests-14550388554331055113",
            "feat/x-14550388554331055113",
            "fix/191-webhook-14550388554331055113",
            "jules-14550388554331055113-0a1b2c3d",
            "add-tests-14550388554331055113-v2",
        ] {
            assert_eq!(branch(text).as_deref(), Some(id), "{text}");
        }
        for text in [
            "main",
            "fix-123",
            "jules-123-0a1b2c3d",
            "x-145503885543310551130",
            "x-1455038855433105511a",
            "release-v2",
            "jules-14550388554331055113-0a1b2c3",
            "jules-14550388554331055113-wxyzwxyz",
            "add-tests-14550388554331055113-v",
            "add-tests-14550388554331055113-v2a",
        ] {
            assert_eq!(branch(text), None, "{text}");
        }
    }

    #[test]
    fn bodies() {
        let end = "*PR created automatically by Jules for task [14550388554331055113](https://jules.google.com/task/14550388554331055113) started by @me*";
        assert_eq!(body(end).as_deref(), Some("14550388554331055113"));
        assert_eq!(
            body("https://jules.google.com/session/786752040379806077").as_deref(),
            Some("786752040379806077")
        );
        assert_eq!(
            body("jules.google.com/task/1111111111111111 jules.google.com/task/2222222222222222"),
            None
        );
        assert_eq!(body("jules.google.com/task/12"), None);
        assert_eq!(body("nothing"), None);
    }

    fn session() -> SessionView {
        view(ID, "COMPLETED")
    }

    /// Weighs a pull request with a body and a branch, against a session with outputs; answers the session or the code.
    fn weighed(body: &str, branch: &str, outputs: &[&str]) -> String {
        let mut facts = green_facts();
        facts.body = body.replace("ID", ID);
        facts.head.branch = branch.replace("ID", ID).parse().unwrap();
        let mut session = session();
        session.pulls = outputs.iter().map(|pull| pull.parse().unwrap()).collect();
        code(&weigh(&facts, &session))
    }

    fn code(link: &Link) -> String {
        match link {
            Link::Agreed(session) => session.to_string().replace(ID, "agreed"),
            Link::None => "none".to_owned(),
            Link::Doubtful { code, sentence } => {
                assert!(!sentence.is_empty());
                (*code).to_owned()
            }
        }
    }

    #[test]
    fn two_witnesses_agree_and_one_is_not_enough() {
        let body = "made by jules.google.com/task/ID";
        let other = "jules.google.com/task/99999999999999999999";
        assert_eq!(weighed("", "fix", &["acme/shop#7"]), "agreed");
        assert_eq!(weighed(body, "fix-ID", &[]), "agreed");
        assert_eq!(
            weighed(body, "fix-ID", &["acme/shop#7", "acme/shop#8"]),
            "agreed"
        );
        assert_eq!(weighed(body, "fix-ID", &["acme/other#8"]), "agreed");
        assert_eq!(weighed("", "fix", &[]), "none");
        assert_eq!(weighed(body, "fix", &[]), "link_unconfirmed");
        assert_eq!(weighed("", "fix-ID", &[]), "link_unconfirmed");
        // Jules itself names another pull request.
        assert_eq!(
            weighed(body, "fix-ID", &["acme/shop#8"]),
            "link_unconfirmed"
        );
        assert_eq!(weighed(other, "fix-ID", &["acme/shop#7"]), "link_conflict");
        assert_eq!(
            weighed(body, "fix-99999999999999999999", &["acme/shop#7"]),
            "link_conflict"
        );
    }

    #[test]
    fn forks_and_other_repositories_are_never_linked() {
        let mut facts = green_facts();
        let mut session = session();
        session.pulls = vec![facts.pull.clone()];
        assert_eq!(code(&weigh(&facts, &session)), "agreed");
        for repo in [None, Some("evil/shop".parse().unwrap())] {
            facts.head.repo = repo;
            assert_eq!(code(&weigh(&facts, &session)), "fork");
        }
        let facts = green_facts();
        for repo in [None, Some("acme/other".parse().unwrap())] {
            session.repo = repo;
            assert_eq!(code(&weigh(&facts, &session)), "other_repository");
        }
    }

    #[test]
    fn a_session_that_lists_others_disowns_what_it_does_not_list() {
        let facts = green_facts();
        let disowned = |outputs: &[&str], repo: &str| {
            let mut session = session();
            session.pulls = outputs.iter().map(|pull| pull.parse().unwrap()).collect();
            session.repo = Some(repo.parse().unwrap());
            is_disowned(&facts, &session)
        };
        let this = facts.pull.to_string();
        assert!(!disowned(&[], "acme/shop"));
        assert!(!disowned(&[&this], "acme/shop"));
        assert!(!disowned(&["acme/shop#999", &this], "acme/shop"));
        assert!(!disowned(&["acme/other#1"], "acme/shop"));
        assert!(disowned(&["acme/shop#999"], "acme/shop"));
        assert!(disowned(&[&this], "acme/other"));
    }
}
