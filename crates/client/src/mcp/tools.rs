//! The tools in the order of the list.

use std::sync::LazyLock;

use super::schema::schema;
use super::tool::{Does, Handler, Tool};
use super::toolset::Toolset;
use super::{
    answers, arguments, deliveries, inbox, insight, jobs, mail, sprints, talk, transcripts, waiting,
};

/// Tools by their toolset, each with its name, what it does, the call, its arguments, its answer if that has a schema, and its
/// description. `Waits` marks a call that takes as long as its caller likes.
macro_rules! tools {
    (@call Waits $call:path) => {
        Handler::Waits(|client, given, waits| Box::pin($call(client, given, waits)))
    };
    (@call $call:path) => {
        Handler::AtOnce(|client, given| Box::pin($call(client, given)))
    };
    (@answers) => {
        None
    };
    (@answers $answers:ty) => {
        Some(schema::<$answers>)
    };
    ($($toolset:expr => { $(
        $name:literal: $does:ident $($waits:ident)?, $call:path, $takes:ty $(=> $answers:ty)?, $description:literal;
    )+ })+) => {
        &[$($(Tool {
            name: $name,
            description: $description,
            toolset: $toolset,
            does: Does::$does,
            takes: schema::<$takes>,
            answers: tools!(@answers $($answers)?),
            call: tools!(@call $($waits)? $call),
        },)+)+]
    };
}

/// All of them: first those that are always listed.
static TOOLS: &[Tool] = tools! {
    None => {
        "jules_create_job": Writes, jobs::create, arguments::CreateJobArgs => answers::JobState,
            "Hand a piece of work to Jules. It is watched from then on; you need not poll.";
        "jules_register_job": WritesOnce, talk::register, arguments::RegisterJob => answers::RegisteredAnswer,
            "Watch a job, or a session begun elsewhere, and record notes about it.";
        "jules_get_job": Reads, talk::job, arguments::GetJob => answers::JobAnswer,
            "Show a job: where it stands, and what waits for an answer.";
        "jules_list_jobs": Reads, jobs::list, arguments::ListJobs => answers::JobsAnswer,
            "List jobs, the newest first.";
        "jules_check": Reads, jobs::check, arguments::Check => answers::CheckResult,
            "Tell in one letter how a job, or the newest of a repository, stands: Q needs input, C completed, F failed, N nothing to do.";
        "jules_get_messages": Reads, talk::messages, arguments::GetMessages => answers::MessagesAnswer,
            "Read what was said between Jules and its people.";
        "jules_send_message": Writes, jobs::send, arguments::SendMessage => answers::Delivered,
            "Answer a question of Jules, or tell it something else.";
        "jules_approve_plan": WritesOnce, jobs::approve, arguments::ApprovePlan => answers::Delivered,
            "Approve the plan that a job waits with.";
        "jules_get_artifacts": Reads, jobs::artifacts, arguments::GetArtifacts => answers::ArtifactsAnswer,
            "Show what a job has produced.";
        "jules_extract_pr": Reads, jobs::pull_request, arguments::OneJob => answers::PullRequest,
            "Show a job's pull request.";
        "jules_merge_pr": Ends, jobs::merge, arguments::MergePr => answers::Merge,
            "Let a job's pull request be merged. It is merged once its checks have passed, by itself; nothing can be forced.";
        "jules_request_retry": WritesOnce, jobs::retry, arguments::OneJob => answers::JobState,
            "Retry a job that ended, in another session under the same id.";
        "jules_cancel_job": Ends, jobs::cancel, arguments::OneJob => answers::JobState,
            "Cancel a job and archive its session.";
        "jules_wait_event": Reads Waits, waiting::wait, arguments::WaitEvent => answers::WaitResult,
            "Wait for what needs you. Call it again with its cursor to go on.";
        "jules_ack_event": WritesOnce, inbox::acknowledge, arguments::AckEvent => answers::AcknowledgedAnswer,
            "Acknowledge an event, so that it is not delivered again.";
    }
    Some(Toolset::Insight) => {
        "jules_status": Reads, insight::status, insight::NoArguments => insight::StatusSummary,
            "Tell what is going on: jobs, accounts, and what stands in the way.";
        "jules_why": Reads, insight::why, insight::AskWhy => insight::WhyAnswer,
            "Tell why a job or a pull request does not move, and what will be done when.";
        "jules_list_events": Reads, insight::events, arguments::OneJob => insight::Journal,
            "List a job's events.";
    }
    Some(Toolset::Inbox) => {
        "jules_take_wakes": Writes Waits, inbox::take, inbox::Take => inbox::TakenAnswer,
            "Take wakes out of an inbox, each on a lease: acknowledge, extend or return them.";
        "jules_extend_wake": Writes, inbox::extend, inbox::ExtendArgs => inbox::ExtendedLease,
            "Extend the lease of a wake that was taken.";
        "jules_return_wake": WritesOnce, inbox::give_back, inbox::Return => inbox::Returned,
            "Return a wake that was taken and could not be handled.";
    }
    Some(Toolset::Deliveries) => {
        "delivery_list": Reads, deliveries::list, deliveries::ListDeliveries => deliveries::DeliveriesAnswer,
            "List deliveries, issues on their way to a merge, the newest first.";
        "delivery_get": Reads, deliveries::get, deliveries::OneDelivery => deliveries::DeliveryAnswer,
            "Show a delivery: its plan, its head, and what you may do now.";
        "delivery_create": Writes, deliveries::create, deliveries::Create,
            "Create a delivery from an issue or your own words.";
        "delivery_start": WritesOnce, deliveries::start, deliveries::OneDelivery,
            "Begin a delivery that waits at its plan.";
        "delivery_plan": WritesOnce, deliveries::plan, deliveries::Plan,
            "Send the plan of a delivery, where you plan.";
        "delivery_split": WritesOnce, deliveries::split, deliveries::Split,
            "Split a delivery being planned into 1 to 20 smaller ones.";
        "delivery_approve": WritesOnce, deliveries::approve, deliveries::Approve,
            "Let a delivery go on from a checkpoint. Most sources keep this for people.";
        "delivery_reject": WritesOnce, deliveries::reject, deliveries::Reject,
            "Send a delivery back from a checkpoint.";
        "delivery_verdict": WritesOnce, deliveries::judge, deliveries::Judge,
            "Say what your review of a head came to.";
        "delivery_retry": WritesOnce, deliveries::retry, deliveries::Retry,
            "Try the failed phase of a delivery again.";
        "delivery_cancel": Ends, deliveries::cancel, deliveries::OneDelivery,
            "Cancel what a delivery is doing.";
        "delivery_transcript": Reads, transcripts::read_page, transcripts::ReadTranscript => transcripts::TranscriptAnswer,
            "Show what was said and done in a run.";
    }
    Some(Toolset::Mail) => {
        "mail_send": Writes, mail::send, mail::Send => mail::SentAnswer,
            "Send mail to another persona of a repository.";
        "mail_inbox": Reads, mail::inbox, mail::Inbox => mail::InboxAnswer,
            "List the mail of a persona, the oldest first.";
        "mail_read": WritesOnce, mail::read_mail, mail::Read => mail::MailAnswer,
            "Show a message and mark it read.";
        "mail_tag": WritesOnce, mail::tag, mail::Tag => mail::TagsAnswer,
            "Put a tag on a message, or take it off.";
    }
    Some(Toolset::Sprint) => {
        "sprint_status": Reads, sprints::status, sprints::One => sprints::SprintAnswer,
            "Show a sprint, and what it and its members wait for.";
        "sprint_start": Writes, sprints::start, sprints::Start => sprints::StartAnswer,
            "Start a sprint of a repository: its personas work at once.";
        "sprint_abort": Ends, sprints::abort, sprints::One => sprints::SprintState,
            "Abort a sprint with its jobs.";
    }
};

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter()
}

/// The tool of a name.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

/// The descriptions of all tools, in the order of [`all`], made once.
pub(super) fn described() -> &'static [rmcp::model::Tool] {
    static ALL: LazyLock<Vec<rmcp::model::Tool>> =
        LazyLock::new(|| all().map(Tool::described).collect());
    &ALL
}
