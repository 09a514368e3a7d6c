//! Calls about the runs of a delivery. A run is named by its id, or by `latest`.

use domain::ids::SessionId;
use reqwest::Method;

use super::deliveries::path;
use super::transport::{Call, Client};
use crate::wire::{AnalysisRequest, CollectRequest, DeliveryRun, DeliveryView, Transcript};
use crate::{Answer, Error};

impl Client {
    /// One run of a delivery.
    pub async fn delivery_run(&self, id: &str, run: &str) -> Result<DeliveryRun, Error> {
        self.done(Call::new(Method::GET, &path(id, &["runs", run])?))
            .await
    }

    /// Says what a failed run came from.
    pub async fn analyse_run(
        &self,
        id: &str,
        run: &str,
        found: &AnalysisRequest,
    ) -> Result<DeliveryRun, Error> {
        let call = Call::new(Method::POST, &path(id, &["runs", run, "analysis"])?);
        self.done(call.body(found)).await
    }

    /// Adds a session that was begun elsewhere as a run. It comes later where the session has to be read first: then
    /// the request has to be repeated.
    pub async fn collect(
        &self,
        id: &str,
        session_id: SessionId,
    ) -> Result<Answer<DeliveryView>, Error> {
        let call = Call::new(Method::POST, &path(id, &["collect"])?);
        self.answer(call.body(&CollectRequest { session_id })).await
    }

    /// A page of what was said and done in a run, from 1. It comes later where it has to be read first.
    pub async fn transcript(
        &self,
        id: &str,
        run: &str,
        page: u32,
    ) -> Result<Answer<Transcript>, Error> {
        let call = Call::new(Method::GET, &path(id, &["runs", run, "transcript"])?);
        self.answer(call.with("page", page.to_string())).await
    }

    /// All that is kept of what was said and done in a run.
    pub async fn whole_transcript(&self, id: &str, run: &str) -> Result<Answer<Transcript>, Error> {
        let mut whole = match self.transcript(id, run, 1).await? {
            Answer::Done(first) => first,
            later @ Answer::Later(_) => return Ok(later),
        };
        // The newest run may be another one by now.
        let run = whole.run_id.to_string();
        while let Some(page) = whole.next_page.take() {
            match self.transcript(id, &run, page).await? {
                Answer::Done(next) => {
                    whole.next_page = next.next_page.filter(|next| *next > page);
                    whole.leader.extend(next.leader);
                }
                later @ Answer::Later(_) => return Ok(later),
            }
        }
        Ok(Answer::Done(whole))
    }
}
