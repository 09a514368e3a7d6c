//! Changes of a delivery beside its way: its words, its runs, and what a failed one came from.

use anyhow::Result;
use client::Client;
use client::wire::{AnalysisRequest, EditDelivery};
use domain::ids::SessionId;

use super::{once_read, show, shown};
use crate::args::delivery::{AnalysisArgs, DeliveryName, EditDeliveryArgs};
use crate::render::Answer;

/// The newest run that failed, where it is analysed.
const LATEST: &str = "latest";

/// `gaffer delivery edit`.
pub(super) async fn edit(client: &Client, args: EditDeliveryArgs) -> Result<Answer> {
    let edit = EditDelivery {
        summary: args.summary,
        acceptance_criteria: args.criteria,
        priority: args.priority,
        refs: args.refs,
    };
    shown(client.edit_delivery(args.id.as_str(), &edit).await)
}

/// `gaffer delivery collect`.
pub(super) async fn collect(
    client: &Client,
    id: &DeliveryName,
    session: SessionId,
) -> Result<Answer> {
    let collected = once_read(|| client.collect(id.as_str(), session.clone())).await?;
    Ok(show::delivery(&collected))
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
