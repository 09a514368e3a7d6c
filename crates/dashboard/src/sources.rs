//! Sources, and how the reading of their issues goes.

use askama::Template;
use domain::delivery::Phase;
use domain::intake::{Intake, LastReading, ReadingResult};
use domain::policy::Source;
use domain::webhook_activity::WebhookHealth;
use jiff::Timestamp;

use crate::Error;
use crate::shell::{Frame, Page, Place, Shell, paged};
use crate::trouble::Trouble;

/// A source, and how its news comes in.
#[derive(Debug, Clone)]
pub struct SourceState {
    /// The source.
    pub source: Source,
    /// How far its issues were read.
    pub intake: Intake,
    /// How its webhooks come.
    pub feed: WebhookHealth,
}

/// The sources.
///
/// # Errors
/// When the template fails.
pub fn sources(frame: &Frame, states: &[SourceState]) -> Result<Page, Error> {
    paged(frame, Place::Sources, |shell| SourcesPage {
        shell,
        troubles: &[],
        rows: states.iter().map(row).collect(),
    })
}

#[derive(Template)]
#[template(path = "sources.html")]
struct SourcesPage<'a> {
    shell: Shell,
    troubles: &'a [Trouble],
    rows: Vec<SourceRow<'a>>,
}

/// One source as the templates show it.
pub(crate) struct SourceRow<'a> {
    pub(crate) id: String,
    pub(crate) source: &'a Source,
    pub(crate) label: Option<String>,
    pub(crate) last: Option<&'a LastReading>,
    pub(crate) failure: Option<&'a str>,
    pub(crate) result: String,
    pub(crate) due: Option<Timestamp>,
    pub(crate) feed: &'static str,
    pub(crate) feed_last: Option<Timestamp>,
    pub(crate) endpoint: &'static str,
    pub(crate) checkpoints: String,
}

pub(crate) fn row(state: &SourceState) -> SourceRow<'_> {
    let SourceState {
        source,
        intake,
        feed,
    } = state;
    let rules = &source.deliveries;
    let (feed, feed_last) = match feed {
        WebhookHealth::Polled => ("read at intervals", None),
        WebhookHealth::Webhooks { last } => ("webhooks, the last", Some(*last)),
        WebhookHealth::Silent { last } => ("read at intervals; the last webhook came", Some(*last)),
    };
    let checkpoints: Vec<&str> = rules
        .checkpoints
        .phases()
        .iter()
        .map(|it| Phase::word(*it))
        .collect();
    SourceRow {
        id: format!("s-{}", source.repo.key().replace('/', "-")),
        label: rules.label.as_ref().map(|label| label.as_str().to_owned()),
        last: intake.last.as_ref(),
        failure: intake.failure().map(|(_, why)| why),
        result: result(intake),
        due: intake.due,
        feed,
        feed_last,
        endpoint: rules.endpoint.phase().word(),
        checkpoints: if checkpoints.is_empty() {
            "none".to_owned()
        } else {
            checkpoints.join(", ")
        },
        source,
    }
}

fn result(intake: &Intake) -> String {
    match intake.last.as_ref().map(|last| &last.result) {
        None => "not read yet".to_owned(),
        Some(ReadingResult::Read { created, closed }) => {
            format!("read: {created} created, {closed} closed")
        }
        Some(ReadingResult::Skipped) => "left out: paused".to_owned(),
        Some(ReadingResult::Failed(_)) => "failed".to_owned(),
    }
}
