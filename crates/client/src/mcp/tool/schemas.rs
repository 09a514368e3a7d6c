//! The schemas of the tools: what each takes, and what it answers.

use rmcp::model::JsonObject;

use super::Tool;
use crate::mcp::schema::schema;
use crate::mcp::{answers, arguments, deliveries, inbox, insight, mail, sprints, transcripts};

impl Tool {
    /// The schema of its arguments.
    pub(super) fn takes(self) -> JsonObject {
        match self {
            Self::CreateJob => schema::<arguments::CreateJobArgs>(),
            Self::RegisterJob => schema::<arguments::RegisterJob>(),
            Self::GetJob => schema::<arguments::GetJob>(),
            Self::GetMessages => schema::<arguments::GetMessages>(),
            Self::ApprovePlan => schema::<arguments::ApprovePlan>(),
            Self::ExtractPr | Self::RequestRetry | Self::CancelJob | Self::ListEvents => {
                schema::<arguments::OneJob>()
            }
            Self::ListJobs => schema::<arguments::ListJobs>(),
            Self::Check => schema::<arguments::Check>(),
            Self::SendMessage => schema::<arguments::SendMessage>(),
            Self::GetArtifacts => schema::<arguments::GetArtifacts>(),
            Self::MergePr => schema::<arguments::MergePr>(),
            Self::WaitEvent => schema::<arguments::WaitEvent>(),
            Self::AckEvent => schema::<arguments::AckEvent>(),
            Self::Status => schema::<insight::NoArguments>(),
            Self::Why => schema::<insight::AskWhy>(),
            Self::TakeWakes => schema::<inbox::Take>(),
            Self::ExtendWake => schema::<inbox::ExtendArgs>(),
            Self::ReturnWake => schema::<inbox::Return>(),
            Self::DeliveryList => schema::<deliveries::ListDeliveries>(),
            Self::DeliveryCreate => schema::<deliveries::Create>(),
            Self::DeliveryPlan => schema::<deliveries::Plan>(),
            Self::DeliverySplit => schema::<deliveries::Split>(),
            Self::DeliveryApprove => schema::<deliveries::Approve>(),
            Self::DeliveryReject => schema::<deliveries::Reject>(),
            Self::DeliveryVerdict => schema::<deliveries::Judge>(),
            Self::DeliveryRetry => schema::<deliveries::Retry>(),
            Self::DeliveryGet | Self::DeliveryStart | Self::DeliveryCancel => {
                schema::<deliveries::OneDelivery>()
            }
            Self::DeliveryTranscript => schema::<transcripts::ReadTranscript>(),
            Self::MailSend => schema::<mail::Send>(),
            Self::MailInbox => schema::<mail::Inbox>(),
            Self::MailRead => schema::<mail::Read>(),
            Self::MailTag => schema::<mail::Tag>(),
            Self::SprintStatus | Self::SprintAbort => schema::<sprints::One>(),
            Self::SprintStart => schema::<sprints::Start>(),
        }
    }

    /// The schema of its answer. An order about a delivery answers with three texts that need none, since every byte of a
    /// schema is shown to models.
    pub(super) fn answers(self) -> Option<JsonObject> {
        Some(match self {
            Self::RegisterJob => schema::<answers::RegisteredAnswer>(),
            Self::GetJob => schema::<answers::JobAnswer>(),
            Self::GetMessages => schema::<answers::MessagesAnswer>(),
            Self::CreateJob | Self::RequestRetry | Self::CancelJob => schema::<answers::JobState>(),
            Self::ListJobs => schema::<answers::JobsAnswer>(),
            Self::Check => schema::<answers::CheckResult>(),
            Self::SendMessage | Self::ApprovePlan => schema::<answers::Delivered>(),
            Self::GetArtifacts => schema::<answers::ArtifactsAnswer>(),
            Self::ExtractPr => schema::<answers::PullRequest>(),
            Self::MergePr => schema::<answers::Merge>(),
            Self::WaitEvent => schema::<answers::WaitResult>(),
            Self::AckEvent => schema::<answers::AcknowledgedAnswer>(),
            Self::Status => schema::<insight::StatusSummary>(),
            Self::Why => schema::<insight::WhyAnswer>(),
            Self::ListEvents => schema::<insight::Journal>(),
            Self::TakeWakes => schema::<inbox::TakenAnswer>(),
            Self::ExtendWake => schema::<inbox::ExtendedLease>(),
            Self::ReturnWake => schema::<inbox::Returned>(),
            Self::DeliveryList => schema::<deliveries::DeliveriesAnswer>(),
            Self::DeliveryGet => schema::<deliveries::DeliveryAnswer>(),
            Self::DeliveryTranscript => schema::<transcripts::TranscriptAnswer>(),
            Self::MailSend => schema::<mail::SentAnswer>(),
            Self::MailInbox => schema::<mail::InboxAnswer>(),
            Self::MailRead => schema::<mail::MailAnswer>(),
            Self::MailTag => schema::<mail::TagsAnswer>(),
            Self::SprintStatus => schema::<sprints::SprintAnswer>(),
            Self::SprintStart => schema::<sprints::StartAnswer>(),
            Self::SprintAbort => schema::<sprints::SprintState>(),
            Self::DeliveryCreate
            | Self::DeliveryStart
            | Self::DeliveryPlan
            | Self::DeliverySplit
            | Self::DeliveryApprove
            | Self::DeliveryReject
            | Self::DeliveryVerdict
            | Self::DeliveryRetry
            | Self::DeliveryCancel => return None,
        })
    }
}
