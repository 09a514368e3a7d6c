//! The sentence that belongs to each reason: what is the case, and what to do.

use super::MAX_ATTEMPTS;
use super::reason::{MergeInput, MissingChecksCause, Reason};
use crate::advice::Advice;
use crate::delivery::Phase;
use crate::pipeline::{OWN_CHECKS, PipelinePart};

/// The verdict of a delivery's review is about another head.
const OTHER_HEAD: &str =
    "The verdict of its review is about another head; this one is reviewed first.";

/// People merge.
const NEEDS_APPROVAL: &str = "People decide here what is merged: this head has to be approved, unless the source says `merge = on-green`.";

/// A policy of its own has the one pull request of a sprint merged.
const WEAVE_NEEDS_APPROVAL: &str = "People decide here what is merged: this head has to be approved, unless the source says `merge = integration` or `merge = on-green`.";

/// What a pipeline's agents write for each other has a policy of its own.
const EXCHANGE_NEEDS_APPROVAL: &str = "People decide here what is merged into the exchange: this head has to be approved, unless the pipeline of its source says `exchange = auto`.";

/// No setting has a trial's code merged.
const MOCK_CODE_NEEDS_APPROVAL: &str = "A trial run made this code up, and only people merge it: this head has to be approved, or closed.";

/// Why a delivery at this phase lets nothing be merged. One at verify has failed there.
fn not_at_verify(phase: Phase) -> String {
    if phase == Phase::Verify {
        return "Verifying it failed in its delivery, and has to be tried again.".to_owned();
    }
    format!("Its delivery is at {phase}, not at verify.")
}

/// No session works on what a sprint pushes.
const WEAVES: &str =
    "Its head is not the newest weave of its sprint, or another weave may be pushed.";

/// What to do about a required check that no one reports; checks of our own are always there.
fn if_never_started(names: &[String]) -> &'static str {
    match names.iter().all(|name| OWN_CHECKS.contains(&name.as_str())) {
        true => "",
        false => {
            " If one never starts, see that a workflow reports it on pull requests, or change the rules that name it."
        }
    }
}

impl Reason {
    /// The order that helps, where Gaffer has one.
    pub fn advice(&self) -> Option<Advice> {
        match self {
            Self::NeedsApproval
            | Self::ProtectedPath { .. }
            | Self::UnexpectedPush { .. }
            | Self::MergeRefused { until: None, .. } => Some(Advice::Merge),
            Self::PlanUnreviewed => Some(Advice::Approve),
            Self::SessionFailed => Some(Advice::Retry),
            Self::Forbidden {
                what: MergeInput::BranchRules,
                ..
            } => Some(Advice::RequireCheck),
            Self::NotOurs
            | Self::AdoptedMayNotMerge
            | Self::Fork
            | Self::Closed
            | Self::AlreadyMerged
            // What ends a pause is advised by whatever is paused: everything, or the source.
            | Self::Paused
            | Self::ObserveOnly
            | Self::DailyCap { .. }
            | Self::SessionWorking
            | Self::JobCancelled
            | Self::Draft
            | Self::WrongBase { .. }
            | Self::Stacked { .. }
            | Self::BlockingLabel { .. }
            | Self::MergeableUnknown
            | Self::Conflict
            | Self::ChangesRequested
            | Self::ApprovalsMissing { .. }
            | Self::NoChecksYet { .. }
            | Self::CiNeverStarted { .. }
            | Self::ChecksPending { .. }
            | Self::ChecksFailed { .. }
            | Self::ActionRequired { .. }
            | Self::TooFewChecks { .. }
            | Self::RequiredMissing { .. }
            | Self::Behind { .. }
            | Self::MergeQueue
            | Self::Forbidden { .. }
            | Self::Unknown { .. }
            | Self::FactsStale
            | Self::MergeRefused { .. }
            | Self::MergeThrottled { .. }
            | Self::DeliveryNotInVerify { .. }
            | Self::VerdictOfAnotherHead
            | Self::Collected { .. }
            | Self::Woven { .. }
            | Self::MailUncollected
            | Self::MailUnreadable
            | Self::TakenBack
            | Self::SprintOver
            | Self::Settling { .. } => None,
        }
    }

    /// The same of a job that does this for a pipeline, where other settings decide than those of the source (`Source::for_job`).
    pub fn sentence_for(&self, part: Option<&PipelinePart>) -> String {
        if *self == Self::NeedsApproval && part.is_some_and(PipelinePart::is_mock_code) {
            return MOCK_CODE_NEEDS_APPROVAL.to_owned();
        }
        if *self == Self::NeedsApproval && part.is_some_and(PipelinePart::is_of_weave) {
            return WEAVE_NEEDS_APPROVAL.to_owned();
        }
        if *self == Self::SessionWorking && part.is_some_and(PipelinePart::is_of_weave) {
            return WEAVES.to_owned();
        }
        if !part.is_some_and(PipelinePart::is_of_exchange) {
            return self.sentence();
        }
        if let Self::DailyCap {
            cap,
            until: Some(until),
        } = self
        {
            return format!(
                "{cap} pull requests of the exchange were merged here in 24 hours, which is its cap; the next may be at {until}."
            );
        }
        match *self == Self::NeedsApproval {
            true => EXCHANGE_NEEDS_APPROVAL.to_owned(),
            false => self.sentence(),
        }
    }

    /// For people: what is the case, and what to do.
    pub fn sentence(&self) -> String {
        let list = |names: &[String]| names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        match self {
            Self::NotOurs => "No job of this installation made this pull request, so Gaffer does not touch it.".to_owned(),
            Self::AdoptedMayNotMerge => "Its session was adopted; set `adopted_may_merge` on the source to let Gaffer merge it.".to_owned(),
            Self::Fork => "It comes from a fork; Gaffer never writes to those.".to_owned(),
            Self::Closed => "Its pull request is closed; reopen it if it should be merged.".to_owned(),
            Self::AlreadyMerged => "It is merged already.".to_owned(),
            Self::NeedsApproval => NEEDS_APPROVAL.to_owned(),
            Self::DeliveryNotInVerify { phase } => not_at_verify(*phase),
            Self::VerdictOfAnotherHead => OTHER_HEAD.to_owned(),
            Self::Collected { delivery } => format!("Delivery {delivery} collected its session, and Gaffer does not merge it: a person merges or closes it on GitHub."),
            Self::Woven { sprint } => format!("Sprint {sprint} weaves it into one pull request with others, and that one is merged."),
            Self::MailUncollected => "Its sprint collects the mail of this head first.".to_owned(),
            Self::MailUnreadable => "The mail that its session wrote into this head cannot be read, and may take the change back; merge it on GitHub yourself, or close it.".to_owned(),
            Self::TakenBack => "Its session took the change back; close it, or merge it on GitHub yourself.".to_owned(),
            Self::SprintOver => "Its sprint is over and leaves it to people; merge it on GitHub yourself, or close it.".to_owned(),
            Self::Paused => "Writing is paused.".to_owned(),
            Self::ObserveOnly => "This process runs with --observe-only and writes nothing.".to_owned(),
            Self::DailyCap { cap, until: Some(until) } => {
                format!("{cap} pull requests were merged here in 24 hours, the source's `merges_per_day`; the next may be at {until}, or raise it.")
            }
            Self::DailyCap { cap, until: None } => no_more_a_day(*cap),
            Self::SessionWorking => "Its session is still at work and may push again.".to_owned(),
            Self::SessionFailed => "Its session failed; look at the change, then give the job another session or merge it yourself.".to_owned(),
            Self::JobCancelled => "Its job is not followed any more; merge or close it yourself.".to_owned(),
            Self::Draft => "It is a draft; Gaffer marks it ready once its session has finished.".to_owned(),
            Self::WrongBase { is, wanted } => format!("It goes to `{is}`, but its job asked for `{wanted}`; change its base."),
            Self::Stacked { position } => {
                format!("It is number {position} of a stack of pull requests, and merging it would merge those below it; merge them first, or take it out of the stack on GitHub.")
            }
            Self::BlockingLabel { label } => format!("It carries the label `{label}`; take that off."),
            Self::ProtectedPath { path } => format!("It changes `{path}`, which only a person may merge: a person has to approve this head."),
            Self::PlanUnreviewed => "Its session worked on a plan that neither a person nor an agent approved: approve it after the fact, or merge it on GitHub yourself.".to_owned(),
            Self::UnexpectedPush { paths } if paths.is_empty() => {
                "Its head was pushed when Gaffer expected no push, and changes more than can be compared: look at it, then approve this head.".to_owned()
            }
            Self::UnexpectedPush { paths } => {
                format!("Its head was pushed when Gaffer expected no push, and changes or takes back {}: look at it, then approve this head.", list(paths))
            }
            Self::MergeableUnknown => "GitHub has not worked out yet whether it conflicts.".to_owned(),
            Self::Conflict => "It conflicts with its base; its session is told, or resolve it yourself.".to_owned(),
            Self::ChangesRequested => "A reviewer wants changes; Gaffer waits for their next review.".to_owned(),
            Self::ApprovalsMissing { have, need } => format!("It has {have} of the {need} approvals that the branch rules demand; a person who may write has to approve it on GitHub."),
            Self::NoChecksYet { until } => format!("No check has appeared on this head yet; until {until} that is usual; Gaffer waits."),
            Self::CiNeverStarted { cause } => format!("No check has appeared on this head: {}", cause.sentence()),
            Self::ChecksPending { names } => format!("Checks are running: {}.", list(names)),
            Self::ChecksFailed { names, .. } => format!("Checks failed: {}.", list(names)),
            Self::ActionRequired { names } => format!("Workflow runs wait for approval on GitHub: {}.", list(names)),
            Self::TooFewChecks { have, need } => {
                format!("{have} checks succeeded, but the source demands {need}; skipped and neutral ones do not count.")
            }
            Self::RequiredMissing { names } => format!("Required checks have not passed: {}.{}", list(names), if_never_started(names)),
            Self::Behind { by } => format!("It lacks {by} commits of its base; Gaffer updates its branch."),
            Self::MergeQueue => "The base merges through GitHub's merge queue, which this version does not use yet; add it there.".to_owned(),
            Self::Forbidden { what: MergeInput::BranchRules, permission } => {
                format!("The GitHub credential may not read all branch rules. Use one that may (an App with the permission `{permission}`, or a token whose owner has the role Admin), or name each check that must pass as a `required_check` of the source. Until then nothing is merged.")
            }
            Self::Forbidden { what, permission } => {
                format!("The GitHub credential may not read the {}: grant `{permission}`. Until then nothing is merged.", what.words())
            }
            Self::Unknown { what, why } => format!("The {} could not be read whole ({why}); Gaffer tries again.", what.words()),
            Self::FactsStale => "What was read is too old to act on; it is read again.".to_owned(),
            Self::MergeRefused { why, until: Some(until) } => format!("GitHub refused to merge it ({why}); Gaffer tries again at {until}."),
            Self::MergeRefused { why, until: None } => {
                format!("GitHub refused to merge it {MAX_ATTEMPTS} times ({why}); mend that, then approve this head again.")
            }
            Self::MergeThrottled { why, until } => format!("It is ready, but {why}; Gaffer merges it from {until} on."),
            Self::Settling { until } => format!("Everything is green; Gaffer waits until {until} in case another check starts on this new head."),
        }
    }
}

fn no_more_a_day(cap: u32) -> String {
    format!("The source's `merges_per_day` is {cap}; raise it to let Gaffer merge.")
}

impl MissingChecksCause {
    /// For people: what is the case, and what to do.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Conflict => {
                "it conflicts with its base, and GitHub starts no workflow then; resolve the conflict."
            }
            Self::ActionsToken => {
                "it was opened with the Actions token, whose pull requests start no workflows; close and reopen it as a user, or give Jules another identity."
            }
            Self::ApprovalPending => {
                "a workflow run waits for approval; approve it on the pull request's page."
            }
            Self::NoWorkflow => {
                "the repository has no workflow; add one, or set `min_checks` of the source to 0 if you want none."
            }
            Self::Unknown => {
                "nothing that GitHub shows explains it; look at the Actions tab, and check that a workflow runs on `pull_request`."
            }
        }
    }
}
