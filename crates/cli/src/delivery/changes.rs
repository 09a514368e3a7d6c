//! Changes of a delivery beside its way: its words, its runs, and what a failed one came from.

use anyhow::Result;
use client::wire::{AnalysisRequest, EditDelivery};
use client::{Answer as Came, Client};
use domain::ids::SessionId;

use super::{show, shown};
use crate::args::delivery::{AnalysisArgs, DeliveryName, EditDeliveryArgs};
use crate::error::Error;
use crate::render::Answer;

/// The newest run.
const LATEST: &str = "latest";

/// `gaffer delivery edit`.
pub(super) async fn edit(client: &Client, args: EditDeliveryArgs) -> Result<Answer> {
    let edit = EditDelivery {
        summary: args.summary,
        acceptance_criteria: args.criteria,
        priority: args.priority,
        refs: Vec::new(),
    };
    shown(client.edit_delivery(args.id.as_str(), &edit).await)
}

/// `gaffer delivery collect`.
pub(super) async fn collect(
    client: &Client,
    id: &DeliveryName,
    session: SessionId,
) -> Result<Answer> {
    match client.collect(id.as_str(), session).await? {
        Came::Done(delivery) => Ok(show::delivery(&delivery)),
        Came::Later(later) => {
            let next = "run the command again";
            Err(Error::refused("not_read_yet", later.sentence, next).into())
        }
    }
}

/// `gaffer delivery analysis`.
pub(super) async fn analyse(client: &Client, args: AnalysisArgs) -> Result<Answer> {
    let found = AnalysisRequest {
        analysis: args.text,
        suggestion: args.suggestion,
    };
    let run = args.run.as_ref().map_or(LATEST, |run| run.as_str());
    client.analyse_run(args.id.as_str(), run, &found).await?;
    shown(client.delivery(args.id.as_str()).await)
}
