//! The words of the variants of stored enums: a closed match over each, so that a new variant needs a golden.

mod deliveries;

use std::collections::BTreeSet;

use domain::account::{Account, Health};
use domain::conversation::Role;
use domain::delivery::{
    Actor, CheckpointsBy, Checks, ChildState, Closed, DeliveryKind, Deploy, EntryKind, Fault,
    IssueTrouble, JobEnd, Mode, Observe, Performer, Phase, PlanBy, PullEnd, RefRole, RefType,
    ReviewBy, RunResult, RunStatus, SessionWork, TranscriptState, Verdict,
};
use domain::effect::{
    Action, Effect, EffectState, JulesAction, PullAction, RepoAction, TrackerAction,
};
use domain::event::{Audience, DeliveryAsk, ErrorCause, Event, News, Occurrence};
use domain::facts::{Check, CheckOutcome, Pass, PullState};
use domain::failure::{CallEffect, FailureClass};
use domain::github_access::{AccessProblemKind, RepositoryAccess};
use domain::intake::{Intake, ReadingResult};
use domain::job::{Attention, EndReason, Job, JobPhase, Origin};
use domain::merge::{Judgement, LastingReason, MergeInput, MissingChecksCause, Reason};
use domain::pipeline::{
    AgentState, Exchange, Implement, PartWork, Pipeline, PipelineStep, Recipe, Requirement,
    RequirementState, StepKind, StepState,
};
use domain::policy::{Answerer, MergeMethod, MergePolicy, PlanApproval, Source};
use domain::pull::{DeliveryHint, OwnOutcome, PullPhase};
use domain::redelivery::{LogStatus, RedeliveryState, WebhookLog};
use domain::session::SessionState;
use domain::sprint::{
    Against, MemberState, Outbox, Report, Sprint, SprintState, Way, WeaveVerdict,
};
use domain::token::{Scope, Token};
use domain::wake::{Channel, Wake, WakeState};
use engine::readings::{ReadMessages, TranscriptPage};
use engine::settings::{AppSetup, TrackedPull};
use engine::work::Work;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tests::records::Kind;

/// An enum whose variants are stored.
trait Words {
    /// Every variant as `Enum::Variant`.
    const ALL: &'static [&'static str];
    /// Which one this is.
    fn word(&self) -> &'static str;
}

/// Makes the list and the closed match from one list of variants. Those after a `;` are never stored.
macro_rules! words {
    ($($enum:ident { $($variant:ident),* $(,)? $(; $($never:ident),+)? })*) => {
        $(impl Words for $enum {
            const ALL: &'static [&'static str] =
                &[$(concat!(stringify!($enum), "::", stringify!($variant))),*];
            fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => concat!(stringify!($enum), "::", stringify!($variant)),)*
                    $($(Self::$never { .. } => unreachable!("{self:?} is stored by nobody"),)+)?
                }
            }
        })*

        /// Every variant of every stored enum.
        pub(super) fn all() -> BTreeSet<&'static str> {
            [$(<$enum as Words>::ALL),*].concat().into_iter().collect()
        }
    };
}

words! {
    EffectState { Intent, Started, Unknown, Done, Failed }
    Action { Jules, Pull, Repo, Tracker }
    JulesAction { CreateSession, Say, ApprovePlan, Archive }
    PullAction { Merge, MarkReady, UpdateBranch, Comment, Label, ClosePull, DeleteBranch }
    FailureClass {
        Unauthorized, Forbidden, NotFound, Precondition, Conflict, Invalid, Throttled, Unavailable,
        Network, Garbled,
    }
    CallEffect { No, Maybe }
    Origin { Created, Adopted, Proposed }
    JobPhase { Queued, Creating, Watching, Proposed, Ended }
    Attention { None, Expecting, Question, Plan, Answered }
    EndReason { Merged, Woven, PullClosed, Completed, Failed, Lost, Refused, Left, Cancelled }
    SessionState {
        Unspecified, Queued, Planning, AwaitingPlanApproval, AwaitingUserFeedback, InProgress,
        Paused, Failed, Completed, Other,
    }
    PullPhase { Open, Merging, Closed, Settled }
    PullState { Open, Closed, Merged }
    CheckOutcome { Pending, Passed, Failed, ActionRequired }
    Pass { Success, Neutral, Skipped }
    Judgement { Merge, Wait, Refuse, Conflict }
    Reason {
        NotOurs, AdoptedMayNotMerge, Fork, Closed, AlreadyMerged, NeedsApproval, DeliveryNotInVerify, VerdictOfAnotherHead, Collected, Woven, MailUncollected,
        MailUnreadable, TakenBack, SprintOver, Paused, ObserveOnly, DailyCap, SessionWorking, SessionFailed, JobCancelled, Draft, WrongBase, Stacked,
        BlockingLabel, ProtectedPath, PlanUnreviewed, UnexpectedPush, MergeableUnknown, Conflict, ChangesRequested,
        ApprovalsMissing, NoChecksYet, CiNeverStarted, ChecksPending, ChecksFailed, ActionRequired,
        TooFewChecks, RequiredMissing, Behind, MergeQueue, Forbidden, Unknown, FactsStale,
        MergeRefused, MergeThrottled, Settling,
    }
    LastingReason {
        AdoptedMayNotMerge, Fork, NeedsApproval, DailyCap, SessionFailed, JobCancelled, Draft, WrongBase, Stacked, BlockingLabel, ProtectedPath, PlanUnreviewed,
        UnexpectedPush, Conflict, ChangesRequested, ApprovalsMissing, CiNeverStarted, ChecksFailed, ActionRequired, TooFewChecks, RequiredMissing, MergeQueue, Forbidden, MergeRefused,
    }
    MissingChecksCause { Conflict, ActionsToken, ApprovalPending, NoWorkflow, Unknown }
    MergeInput { ChangedFiles, Mergeability, Reviews, Checks, BranchRules, Distance }
    Occurrence { Question, PlanApproval, UnreviewedPlan, UnexpectedPush, Completed, Error, Stuck, Delivery, News }
    News { Mail, Sprint, Test }
    ErrorCause {
        SessionFailed, SessionPaused, UnknownState, InvalidJob, CreateRefused, Auth, Network, Budget, CiFailed, CiNeverStarted,
        Conflict, PullClosed, WrongBase, MergeRefused, MergeBlocked, MessageFailed, ApprovalFailed,
        TooOften, GitHub, PhaseFailed, Schedule, Pipeline, Other,
    }
    Audience { Agent, Human, Nobody }
    Channel { Http, Inbox }
    Role { User, Assistant }
    Scope { Read, Write, Admin }
    WakeState { Pending, Sending, Leased, Acknowledged, Dead }
    Work {
        Job, Pull, Commit, Webhook, Wake, Artifacts, Messages, Look, Adopt, Watch, Slots, Delivery, Pipeline, Requirement, Schedule, Sprint, Personas, Transcript, Intake, Issue, Redelivery,
    }
    WebhookLog { App, Repo }
    LogStatus { Read, NoHook, Forbidden, Unread }
    DeliveryHint { Changed, CheckBegan, CheckEnded, UnderWay, Pushed, SuiteEnded }
    AppSetup { Asked, Made, Stored }
    Health { Working, Throttled, Unreachable, Unauthorized }
    AccessProblemKind { SignIn, Blocked, Missing, Replaced, Moved }
    MergePolicy { Human, OnGreen, Integration }
    MergeMethod { Merge, Squash, Rebase }
    PlanApproval { Auto, Agent, Human; Delivery }
    Answerer { Agent, Nudge, Human }
    DeliveryAsk { Start, Plan, Checkpoint, Review, Merge }
    TrackerAction { Tell, CloseIssue, DispatchWorkflow }
    DeliveryKind { Issue, Requirement, Member, Integration, Adhoc }
    Phase { Intake, Plan, Implement, Review, Verify, Deploy, Observe, Close }
    RunStatus { Pending, Running, Succeeded, Failed, Blocked }
    Verdict { Pass, NotPass }
    RefRole { Trigger, Output, Parent }
    RefType { Jira, Verbal, Pr, Commit, Repo, GithubIssue }
    Fault {
        Canceled, JobCanceled, SessionFailed, SessionLost, SessionRefused, MessageRefused, ApprovalRefused, NoPullRequest, NoNewCommit,
        PullClosed, ChecksFailed, RoundsUsedUp, ReviewFailed, MalformedReview, DeployFailed, ObserveFailed, NotBegun, PartsAbandoned,
        HistoryFull,
    }
    Mode { Plan, Implement, Review, Verify, Deploy, Observe, Execution }
    Performer { Jules, Agent, Human, Nobody, System }
    RunResult { Running, Success, Failed }
    Actor { System, Agent, Person }
    TranscriptState { None, Pending, Kept }
    EntryKind { Text, Thinking, ToolUse, ToolResult }
    CheckpointsBy { People, Anyone }
    PlanBy { Jules, Agent, Human }
    ReviewBy { Agent, Human, Jules, Nobody }
    Deploy { None, Workflow, Deployment }
    Observe { None, Soak }
    SessionWork { Waiting, Working, Asking, Planned, Resting, Ended }
    JobEnd { Merged, PullClosed, Completed, Failed, Lost, Refused, Canceled }
    Checks { Unknown, Awaited, Missing, Running, Passed, Failed, GivenUp }
    PullEnd { Merged, Closed }
    IssueTrouble { Closed, Unreadable, LeftOpen }
    Closed { Finished, PartsClosed, IssueClosed, Cancelled, Abandoned, MergedOnly }
    ChildState { Open, Failed, Closed, Cancelled, Abandoned }
    ReadingResult { Read, Failed, Skipped }
    StepKind { Bootstrap, Layer, Requirements, Proposals, Clean, Labels }
    StepState { Pending, Running, WaitingMerge, Done, Skipped, Failed }
    AgentState { Working, Merging, Merged, Nothing, Open, Failed, Refused }
    RequirementState { Planning, Unplanned, Ready, Implementing, Merged, Tidying, Tidied, Removing, Failed }
    PartWork { Agent, Proposal, Sprint }
    SprintState { Working, Integrating, Fixing, Verifying, Done, PartiallyDone, Aborted }
    MemberState {
        Pending, Waiting, Working, PullOpen, Applied, Conflicted, Rerunning, Unresolved, Delegated, TimedOut, NoChange, Skipped, Withdrawn, Failed,
    }
    Outbox { Head, Patch }
    Way { Taken, Applied, ThreeWay, Answered, Merged }
    WeaveVerdict { In, Out, Moved, Nothing, Skipped }
    Against { Members, StaleBase }
    RepoAction { Propose, Status, OpenIssue, PutLabel, Weave, Unlabel }
    Recipe { Bootstrap, Tidy, Publish, Mock, Clean, Labels }
    OwnOutcome { Passed, Neutral, Failed }
    Exchange { Human, Auto }
    Implement { Human, Auto }
}

/// The variants in a stored value.
pub(super) fn words_of(kind: Kind, it: &Value) -> Vec<&'static str> {
    match kind {
        Kind::Account => vec![read::<Account>(it).health.word()],
        Kind::AppSetup => vec![read::<AppSetup>(it).word()],
        Kind::Delivery => deliveries::words_of(&read(it)),
        Kind::Intake => {
            let last = read::<Intake>(it).last;
            last.iter().map(|it| Words::word(&it.result)).collect()
        }
        Kind::Effect => of_effect(&read(it)),
        Kind::Event => of_event(&read(it)),
        Kind::HookLog => of_hook_log(&read(it)),
        Kind::Job => of_job(&read(it)),
        Kind::Outbox => of_work(&read(it)),
        Kind::Pipeline => of_pipeline(&read(it)),
        Kind::Requirement => vec![Words::word(&read::<Requirement>(it).state)],
        Kind::Sprint => of_sprint(&read(it)),
        Kind::SprintWeave => of_weave(&read(it)),
        Kind::Pull => of_pull(&read(it)),
        Kind::Reach => of_reach(&read(it)),
        Kind::Source => of_source(&read(it)),
        Kind::Wake => {
            let wake: Wake = read(it);
            let words = vec![wake.state.word(), Words::word(&wake.channel)];
            [words, of_event(&wake.event)].concat()
        }
        Kind::Messages => of_messages(&read(it)),
        Kind::Transcript => of_transcript(&read(it)),
        Kind::Token => vec![Words::word(&read::<Token>(it).scope)],
        Kind::Access
        | Kind::Adoption
        | Kind::Agent
        | Kind::Allowance
        | Kind::Artifacts
        | Kind::ArtifactsPage
        | Kind::Budgets
        | Kind::DeliveryCount
        | Kind::DeliveryListed
        | Kind::EventCount
        | Kind::Evidence
        | Kind::Feed
        | Kind::Gap
        | Kind::HookLogs
        | Kind::Importing
        | Kind::Installation
        | Kind::IssueRead
        | Kind::JobListed
        | Kind::Lane
        | Kind::Looked
        | Kind::Mail
        | Kind::MailBox
        | Kind::MailLine
        | Kind::MailPage
        | Kind::MailSent
        | Kind::Tick
        | Kind::Merges
        | Kind::Notes
        | Kind::Once
        | Kind::Personas
        | Kind::PipelineTurn
        | Kind::SprintTurn
        | Kind::Readings
        | Kind::Repository
        | Kind::Schedule
        | Kind::Session
        | Kind::Slots
        | Kind::Switches
        | Kind::Upstreams
        | Kind::Usage => Vec::new(),
    }
}

fn of_reach(access: &RepositoryAccess) -> Vec<&'static str> {
    let trouble = access.trouble.iter();
    trouble.map(|it| it.obstacle.word()).collect()
}

fn of_hook_log(repair: &RedeliveryState) -> Vec<&'static str> {
    vec![repair.log.word(), repair.status.word()]
}

fn of_messages(page: &ReadMessages) -> Vec<&'static str> {
    page.messages.iter().map(|it| it.role.word()).collect()
}

fn of_transcript(page: &TranscriptPage) -> Vec<&'static str> {
    let entries = page.entries.iter();
    entries
        .flat_map(|it| [it.role.word(), Words::word(&it.kind)])
        .collect()
}

fn read<T: DeserializeOwned>(it: &Value) -> T {
    serde_json::from_value(it.clone()).expect("a readable value")
}

fn of_source(source: &Source) -> Vec<&'static str> {
    let policy = &source.policy;
    let words = vec![
        Words::word(&policy.merge),
        policy.merge_method.word(),
        policy.plan_approval.word(),
    ];
    let rules = source.pipeline.iter();
    let own = rules.flat_map(|rules| [Words::word(&rules.exchange), Words::word(&rules.implement)]);
    let own: Vec<_> = own.collect();
    [words, own, deliveries::of_rules(&source.deliveries)].concat()
}

fn of_effect(effect: &Effect) -> Vec<&'static str> {
    let mut words = vec![effect.state.word(), Words::word(&effect.action)];
    if let EffectState::Failed { failure, .. } = &effect.state {
        words.extend([failure.class.word(), failure.happened.word()]);
    }
    words.push(match &effect.action {
        Action::Jules(action) => Words::word(action),
        Action::Pull(action) => Words::word(action),
        Action::Repo(action) => Words::word(action),
        Action::Tracker(action) => Words::word(action),
    });
    if let Action::Pull(PullAction::Merge { method, .. }) = &effect.action {
        words.push(method.word());
    }
    if let Action::Repo(action) = &effect.action {
        match action {
            RepoAction::Propose { recipe, .. } => words.push(recipe.word()),
            RepoAction::Status { outcome, .. } => words.push(outcome.word()),
            RepoAction::OpenIssue { .. }
            | RepoAction::PutLabel { .. }
            | RepoAction::Weave { .. }
            | RepoAction::Unlabel { .. } => {}
        }
    }
    words
}

fn of_pipeline(pipeline: &Pipeline) -> Vec<&'static str> {
    let step = |step: &PipelineStep| {
        let mut words = vec![Words::word(&step.kind), Words::word(&step.state)];
        words.extend(step.members.iter().map(|it| Words::word(&it.state)));
        words
    };
    pipeline.steps.iter().flat_map(step).collect()
}

fn of_sprint(sprint: &Sprint) -> Vec<&'static str> {
    let mut words = vec![Words::word(&sprint.state)];
    for member in &sprint.members {
        words.push(Words::word(&member.state));
        words.extend(member.collected.iter().map(Words::word));
        if let MemberState::Applied { way } = &member.state {
            words.push(Words::word(way));
        }
    }
    words
}

fn of_weave(report: &Report) -> Vec<&'static str> {
    let verdicts = report.verdicts.iter().flat_map(|(_, verdict)| {
        let mut words = vec![Words::word(verdict)];
        if let WeaveVerdict::Out { against, .. } = verdict {
            words.push(against.word());
        }
        words
    });
    verdicts.collect()
}

fn of_event(event: &Event) -> Vec<&'static str> {
    let mut words = vec![event.what.word(), event.audience.word()];
    if let Occurrence::Error { cause, .. } = &event.what {
        words.push(cause.word());
    }
    if let Occurrence::Delivery { ask, .. } = &event.what {
        words.push(Words::word(ask));
    }
    if let Occurrence::News(news) = &event.what {
        words.push(Words::word(news));
    }
    words
}

fn of_work(work: &Work) -> Vec<&'static str> {
    let mut words = vec![work.word()];
    if let Work::Webhook(event) = work {
        words.push(event.news.word());
    }
    words
}

fn of_job(job: &Job) -> Vec<&'static str> {
    let mut words = vec![job.origin.word(), job.phase.word()];
    words.extend(job.part.as_ref().map(|part| part.work.word()));
    match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Proposed { .. } => {}
        JobPhase::Watching(watch) => {
            words.extend([watch.state.word(), watch.attention.word()]);
            let told = watch.announced.question.as_ref();
            let turn = told.and_then(|told| told.turn.as_ref());
            words.extend(turn.map(|turn| Words::word(&turn.who)));
        }
        JobPhase::Ended(ending) => words.push(ending.how.word()),
    }
    words
}

fn of_pull(tracked: &TrackedPull) -> Vec<&'static str> {
    let pull = &tracked.pull;
    let mut words = vec![pull.phase.word()];
    if let PullPhase::Settled { state, .. } = &pull.phase {
        words.push(state.word());
    }
    words.extend(pull.alarms.iter().map(|alarm| alarm.cause.word()));
    let own = pull.own_checks.iter().flat_map(|own| &own.results);
    words.extend(own.map(|check| Words::word(&check.outcome)));
    if let Some(verdict) = &pull.verdict {
        words.push(verdict.judgement.word());
        words.extend(of_reasons(&verdict.judgement));
        words.extend(of_checks(&verdict.checks));
    }
    words
}

fn of_checks(checks: &[Check]) -> Vec<&'static str> {
    let mut words: Vec<&'static str> = checks.iter().map(|it| Words::word(&it.outcome)).collect();
    for check in checks {
        if let CheckOutcome::Passed(pass) = &check.outcome {
            words.push(pass.word());
        }
    }
    words
}

fn of_reasons(judgement: &Judgement) -> Vec<&'static str> {
    let (Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons }) = judgement else {
        return Vec::new();
    };
    let mut words: Vec<&'static str> = reasons.iter().map(Words::word).collect();
    for reason in reasons {
        if let Reason::CiNeverStarted { cause } = reason {
            words.push(cause.word());
        }
        if let Reason::Forbidden { what, .. } | Reason::Unknown { what, .. } = reason {
            words.push(what.word());
        }
    }
    words
}
