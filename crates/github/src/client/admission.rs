//! Which tokens are accepted: two kinds look fine and then leave a pull request waiting for ever, so they are refused first.
//!
//! A fine-grained token has no permission for check runs; it is accepted for a repository whose check runs it can read
//! all the same, as those of a public one. The token of a workflow run (`GITHUB_TOKEN`) merges without starting any
//! workflow; it begins with `ghs_` and belongs to the user with the id of `github-actions[bot]`.

use std::collections::HashMap;

use domain::facts::ACTIONS_BOT_ID;
use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Client;
use super::address::segment;
use super::broker::BudgetOwner;
use super::credential::Authorization;
use super::refusal::{failure, is_missing_permission, refused};
use super::transport::{Media, Received, Request};

/// Retry interval of a refused token: its permissions may have changed.
pub(crate) const REFUSED_TTL: SignedDuration = SignedDuration::from_mins(5);

/// Cache limit: more tokens and repositories than any installation has.
const VERDICTS_MAX: usize = 1_000;

/// Whose a token is. Classic tokens and those of installations answer it alike.
pub(super) const VIEWER: &str = "query { viewer { databaseId } }";

/// What a token is, by the beginning that GitHub gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A personal access token with permissions of its own.
    FineGrained,
    /// A token of an App's installation, of which the token of a workflow run is one.
    Installation,
    /// A classic token, or one of an unknown kind.
    Other,
}

impl Kind {
    fn from_token(token: &SecretString) -> Self {
        let token = token.expose_secret();
        if token.starts_with("github_pat_") {
            Self::FineGrained
        } else if token.starts_with("ghs_") {
            Self::Installation
        } else {
            Self::Other
        }
    }
}

/// Cached results of probes, by the token's fingerprint and, where it matters, the repository.
pub(crate) type AdmissionCache =
    HashMap<(String, Option<RepoName>), (Result<(), Failure>, Timestamp)>;

impl Client {
    /// Refuses a token that cannot do the work in a repository, and says why. An undecided verdict is not cached.
    pub(super) async fn admit(
        &self,
        repo: &RepoName,
        pass: &Authorization,
        until: Instant,
    ) -> Result<(), Failure> {
        if !matches!(pass.purse, BudgetOwner::Token(_)) {
            // The tokens that we make as the App ourselves need no questions.
            return Ok(());
        }
        let about = match Kind::from_token(&pass.bearer) {
            Kind::Other => return Ok(()),
            Kind::Installation => None,
            Kind::FineGrained => Some(repo.clone()),
        };
        // Held over the probe on purpose: many calls that start together make one.
        let mut verdicts = self.verdicts().lock().await;
        let now = self.clock().now();
        let place = (pass.fingerprint.clone(), about);
        if let Some((verdict, at)) = verdicts.get(&place)
            && (verdict.is_ok() || now.duration_since(*at) < REFUSED_TTL)
        {
            return verdict.clone();
        }
        let verdict = match &place.1 {
            None => self.is_no_workflow_run(pass, until).await,
            Some(repo) => self.reads_check_runs(repo, pass, until).await,
        };
        let certain = match &verdict {
            Ok(certain) => *certain,
            Err(failure) => is_verdict(failure.class),
        };
        let verdict = verdict.map(|_| ());
        if certain {
            if verdicts.len() >= VERDICTS_MAX {
                verdicts.clear();
            }
            verdicts.insert(place, (verdict.clone(), now));
        }
        verdict
    }

    /// Refuses the token of a workflow run. Returns whether that is certain.
    async fn is_no_workflow_run(
        &self,
        pass: &Authorization,
        until: Instant,
    ) -> Result<bool, Failure> {
        let doing = "asking whose token it is";
        let body = json!({ "query": VIEWER });
        let url = self.base().graphql();
        let received = self
            .probe((Method::POST, &url, Some(&body)), pass, until, doing)
            .await?;
        if received.status.as_u16() == 401 {
            // The call that follows is refused alike, and then the secret is read again.
            return Ok(false);
        }
        if !received.status.is_success() {
            return Err(refused(doing, &received));
        }
        let refuse = |why: &str| Err(failure(FailureClass::Unauthorized, why));
        match viewer(&received.body) {
            Some(ACTIONS_BOT_ID) => refuse(
                "the GitHub credential is the token of a workflow run: what it merges starts no workflows, and it ends with its run; store a classic token with the scope `repo`, or use an App",
            ),
            Some(_) => Ok(true),
            None => refuse(
                "the GitHub credential is an installation's token of unknown origin, which ends within the hour; give the App's id and key instead, or a classic token with the scope `repo`",
            ),
        }
    }

    /// Refuses a fine-grained token that cannot read the repository's check runs. Returns whether that is certain.
    async fn reads_check_runs(
        &self,
        repo: &RepoName,
        pass: &Authorization,
        until: Instant,
    ) -> Result<bool, Failure> {
        let doing = "probing the fine-grained token";
        let url = self.base().rest(&format!("/repos/{repo}"));
        let found = self
            .probe((Method::GET, &url, None), pass, until, doing)
            .await?;
        let branch = serde_json::from_slice::<Value>(&found.body).unwrap_or_default();
        let branch = branch.get("default_branch").and_then(Value::as_str);
        let Some(branch) = branch.filter(|_| found.status.is_success()) else {
            // The call that follows reports what is wrong.
            return Ok(false);
        };
        let url = format!("{url}/commits/{}/check-runs?per_page=1", segment(branch));
        let runs = self
            .probe((Method::GET, &url, None), pass, until, doing)
            .await?;
        if runs.status.is_success() {
            return Ok(true);
        }
        let failure = refused(doing, &runs);
        if is_missing_permission(&failure) {
            return Err(self::failure(
                FailureClass::Forbidden,
                &format!(
                    "the fine-grained token cannot read the check runs of {repo}: such tokens have no Checks permission, so nothing would ever be known to be green; store a classic token with the scope `repo`, or use an App"
                ),
            ));
        }
        if failure.class == FailureClass::Throttled {
            return Err(failure);
        }
        // An empty repository, for example, has no commit to ask about.
        Ok(false)
    }

    async fn probe(
        &self,
        (method, url, body): (Method, &str, Option<&Value>),
        pass: &Authorization,
        until: Instant,
        doing: &str,
    ) -> Result<Received, Failure> {
        let request = Request {
            media: Media::Json,
            method,
            url,
            body,
            bearer: Some(&pass.bearer),
            etag: None,
        };
        self.exchange(request, &pass.purse, until, doing).await
    }
}

/// The user id that a token answers with.
fn viewer(body: &[u8]) -> Option<u64> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    answer.pointer("/data/viewer/databaseId")?.as_u64()
}

/// Whether a failure is our own verdict about the token, rather than an error on the way to it.
fn is_verdict(class: FailureClass) -> bool {
    matches!(class, FailureClass::Unauthorized | FailureClass::Forbidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_known_by_their_beginning() {
        let kind = |token: &str| Kind::from_token(&SecretString::from(token));
        assert_eq!(kind("github_pat_11A_x"), Kind::FineGrained);
        assert_eq!(kind("ghs_x"), Kind::Installation);
        for other in ["ghp_x", "gho_x", "0123456789abcdef", "", "xghs_x"] {
            assert_eq!(kind(other), Kind::Other, "{other}");
        }
    }
}
