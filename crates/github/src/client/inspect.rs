//! Looking at the credential itself: answers come back whole, refusals too, and nothing is kept.

use domain::failure::Failure;
use domain::ids::RepoName;
use http::Method;
use http::header::LOCATION;
use jiff::SignedDuration;

use super::Client;
use super::call::{Call, Purpose, without};
use super::transport::{Media, Received, Request};

impl Client {
    /// How far GitHub's clock was ahead of ours at its last answer.
    pub(crate) fn ahead(&self) -> Option<SignedDuration> {
        self.0.dates.ahead()
    }

    /// Reads a path with the identity of the secret: the token itself, or the App with its signature. The answer may be a refusal.
    pub(crate) async fn inspect(&self, path: &str, doing: &str) -> Result<Received, Failure> {
        let url = self.base().rest(path);
        self.call_own(Method::GET, &url, doing).await
    }

    /// Calls an address of the API with the identity of the secret, within its budget. The answer may be a refusal.
    pub(crate) async fn call_own(
        &self,
        method: Method,
        url: &str,
        doing: &str,
    ) -> Result<Received, Failure> {
        let pass = self.own_pass().await?;
        let purpose = if method == Method::GET {
            Purpose::Read
        } else {
            Purpose::Write
        };
        self.pay(url, doing, purpose, &pass)?;
        let request = Request {
            media: Media::Json,
            method,
            url,
            body: None,
            bearer: Some(&pass.bearer),
            etag: None,
        };
        let mut received = self
            .exchange(request, &pass.purse, self.deadline(), doing)
            .await?;
        received.body = without(&received, &pass.bearer);
        Ok(received)
    }

    /// Reads a repository as every call about it does. It follows a rename once, on the same API only.
    pub(crate) async fn look_at(
        &self,
        repo: &RepoName,
        path: &str,
        doing: &str,
    ) -> Result<(Received, Option<Received>), Failure> {
        let found = self.ask(repo, self.base().rest(path), doing).await?;
        let location = found.headers.get(LOCATION).and_then(|at| at.to_str().ok());
        let moved = found.status.is_redirection();
        let there = match location.filter(|at| moved && self.base().contains(at)) {
            Some(at) => self.ask(repo, at.to_owned(), doing).await.ok(),
            None => None,
        };
        Ok((found, there))
    }

    async fn ask(&self, repo: &RepoName, url: String, doing: &str) -> Result<Received, Failure> {
        let call = Call {
            method: Method::GET,
            url,
            repo,
            body: None,
            doing,
        };
        let until = self.deadline();
        // This call tests whether the credential is accepted, so it is not refused beforehand.
        let pass = self.sign_in(&call, until).await?;
        let exchanged = Box::pin(self.attempt(&call, pass, false, until)).await?;
        Ok(exchanged.received)
    }
}
