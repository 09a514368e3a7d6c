//! Logs, for which GitHub redirects to another host.

use bytes::Bytes;
use domain::failure::Failure;
use domain::ids::RepoName;
use http::Method;

use super::Client;
use super::call::{Call, Purpose, moved_to, success};
use super::transport::{self, Media, Request};

impl Client {
    /// Reads a log. GitHub redirects to another host for it, which is asked once, without any credential.
    pub(crate) async fn log(
        &self,
        repo: &RepoName,
        path: &str,
        doing: &str,
    ) -> Result<Option<Bytes>, Failure> {
        let mut call = Call {
            method: Method::GET,
            url: self.base().rest(path),
            repo,
            body: None,
            doing,
        };
        let exchanged = Box::pin(self.perform(&call, Purpose::Read, false)).await?;
        let mut received = exchanged.received;
        let renamed = received.status.as_u16() != 302;
        let to = moved_to(&received).filter(|to| renamed && self.base().contains(to));
        if let Some(address) = to {
            call.url = address.to_owned();
            let exchanged = Box::pin(self.perform(&call, Purpose::Read, false)).await?;
            received = exchanged.received;
        }
        if !received.status.is_redirection() {
            return success(&call, received, None).map(|answer| Some(answer.body));
        }
        match moved_to(&received) {
            Some(address) if self.base().may_fetch(address) => Ok(self.fetch(address).await),
            Some(_) | None => Ok(None),
        }
    }

    /// Fetches an address without any credential; `None` when it is refused, answered in error or too large.
    async fn fetch(&self, url: &str) -> Option<Bytes> {
        let request = Request {
            media: Media::Json,
            method: Method::GET,
            url,
            body: None,
            bearer: None,
            etag: None,
        };
        let received = transport::exchange(self.connection(), request, self.deadline())
            .await
            .ok()?;
        (received.status.is_success() && !received.cut).then_some(received.body)
    }
}
