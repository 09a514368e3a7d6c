//! What a job has produced, and the further pieces of its patch.

use reqwest::Method;

use super::Client;
use super::transport::{Call, job_path};
use crate::wire::Artifacts;
use crate::{Answer, Error};

impl Client {
    /// What a job's session has produced, read afresh, with the first piece of its patch.
    pub async fn artifacts(&self, id: &str) -> Result<Answer<Artifacts>, Error> {
        self.answer(Call::new(Method::GET, &job_path(id, &["artifacts"])?))
            .await
    }

    /// A further piece of the patch, of the reading before: its `next_page`.
    pub async fn artifacts_page(&self, id: &str, page: u32) -> Result<Artifacts, Error> {
        let call = Call::new(Method::GET, &job_path(id, &["artifacts"])?);
        self.done(call.with("page", page.to_string())).await
    }

    /// What a job's session has produced, read afresh, with all that is kept of its patch.
    ///
    /// If another caller refreshes it meanwhile, the pieces no longer fit together: the result then ends with the
    /// last one that did, and says that it is cut.
    pub async fn whole_artifacts(&self, id: &str) -> Result<Answer<Artifacts>, Error> {
        let mut whole = match self.artifacts(id).await? {
            Answer::Done(first) => first,
            later @ Answer::Later(_) => return Ok(later),
        };
        while let Some(page) = whole.next_page.take() {
            let piece = match self.artifacts_page(id, page).await {
                Ok(piece) if piece.read_at == whole.read_at => piece,
                Ok(_) | Err(Error::Problem(_)) => return Ok(Answer::Done(whole)),
                Err(error) => return Err(error),
            };
            let text = piece.patch.unwrap_or_default();
            whole.patch.get_or_insert_default().push_str(&text);
            whole.next_page = piece.next_page.filter(|next| *next > page);
        }
        whole.patch_cut = whole.truncated;
        Ok(Answer::Done(whole))
    }
}
