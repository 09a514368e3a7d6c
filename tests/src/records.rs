//! The kinds of stored records, by their keys, and the type that each is read as.

use std::collections::BTreeMap;

use domain::account::Account;
use domain::delivery::Delivery;
use domain::effect::{Effect, RestoreGap};
use domain::event::Event;
use domain::github_access::{CredentialAccess, RepositoryAccess};
use domain::governor::Slots;
use domain::ids::{DeliveryId, JobId, PipelineId, RepoName, SprintNumber};
use domain::intake::Intake;
use domain::job::Job;
use domain::mail::{Counters, Page, ReceivedMessage};
use domain::notes::Notes;
use domain::pipeline::{Pipeline, Requirement, RequirementState};
use domain::policy::Source;
use domain::pull::Lane;
use domain::redelivery::RedeliveryState;
use domain::schedule::Schedule;
use domain::sprint::{Report, Sprint};
use domain::token::Token;
use domain::wake::Wake;
use domain::webhook_activity::WebhookActivity;
use engine::import::Importing;
use engine::jobs::IdempotentOrder;
use engine::jobs::adoption::Adoption;
use engine::keys;
use engine::mail::IdempotentMail;
use engine::ports::Key;
use engine::readings::{
    ReadCounter, ReadIssue, ReadMessages, ReadPersonas, SessionCheck, TranscriptPage,
};
use engine::settings::{
    Agent, AppSetup, Budgets, Installation, Merges, OutboxRow, PatchPage, ReadArtifacts, Switches,
    TrackedPull, Upstreams,
};
use engine::usage::{Allowance, Consumption};
use engine::webhook_logs::HookLogs;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Makes the enum of kinds, the list of them all, and the name of each golden file and the type that it is read as from one list.
macro_rules! kinds {
    ($($kind:ident $name:literal $type:ty),* $(,)?) => {
        /// A kind of stored records.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $(#[doc = concat!("Golden file `", $name, ".json`.")] $kind,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The name of its golden file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            /// What the present version makes of a stored value, as it would store it.
            ///
            /// # Errors
            /// The present version cannot read it.
            pub fn again(self, it: &Value) -> Result<Value, serde_json::Error> {
                match self { $(Self::$kind => again::<$type>(it)),* }
            }
        }
    };
}

kinds! {
    Access "access" CredentialAccess,
    Account "account" Account,
    Adoption "adoption" Adoption,
    Agent "agent" Agent,
    Allowance "allowance" Allowance,
    AppSetup "app-setup" AppSetup,
    Artifacts "artifacts" ReadArtifacts,
    ArtifactsPage "artifacts-page" PatchPage,
    Budgets "budgets" Budgets,
    Delivery "delivery" Delivery,
    DeliveryCount "delivery-count" u64,
    DeliveryListed "delivery-listed" DeliveryId,
    Effect "effect" Effect,
    Event "event" Event,
    EventCount "event-count" u64,
    Feed "feed" WebhookActivity,
    // Kept for people and exports; nothing reads it back.
    Evidence "evidence" BTreeMap<String, Value>,
    Gap "gap" RestoreGap,
    HookLog "hook-log" RedeliveryState,
    HookLogs "hook-logs" HookLogs,
    Importing "importing" Importing,
    Installation "installation" Installation,
    Intake "intake" Intake,
    IssueRead "issue-read" ReadIssue,
    Job "job" Job,
    JobListed "job-listed" JobId,
    Lane "lane" Lane,
    Looked "looked" SessionCheck,
    Mail "mail" Counters,
    MailBox "mail-box" ReceivedMessage,
    MailLine "mail-line" String,
    MailPage "mail-page" Page,
    MailSent "mail-sent" IdempotentMail,
    Merges "merges" Merges,
    Messages "messages" ReadMessages,
    Notes "notes" Notes,
    Once "once" IdempotentOrder,
    Outbox "outbox" OutboxRow,
    Personas "personas" ReadPersonas,
    Pipeline "pipeline" Pipeline,
    PipelineTurn "pipeline-turn" PipelineId,
    Pull "pull" TrackedPull,
    Reach "reach" RepositoryAccess,
    Readings "readings" ReadCounter,
    Repository "repository" RepoName,
    Requirement "requirement" Requirement,
    Schedule "schedule" Schedule,
    Session "session" JobId,
    Slots "slots" Slots,
    Source "source" Source,
    Sprint "sprint" Sprint,
    SprintTurn "sprint-turn" SprintNumber,
    SprintWeave "sprint-weave" Report,
    Switches "switches" Switches,
    Tick "tick" domain::tick::Lease,
    Token "token" Token,
    Transcript "transcript" TranscriptPage,
    Upstreams "upstreams" Upstreams,
    Usage "usage" Consumption,
    Wake "wake" Wake,
}

impl Kind {
    /// Whether a value of this kind is unfinished, and so needs a due; `None` for a kind that is never due. A kind that is ever due
    /// needs its arm in [`engine::work::Work::of_due`].
    pub fn is_unfinished(self, it: &Value) -> Option<bool> {
        Some(match self {
            // A source whose issues are not read has no intake, and one whose pipeline is off has no schedule.
            Self::Intake | Self::Schedule | Self::HookLog | Self::HookLogs | Self::Outbox => true,
            // They are due while jobs wait for them.
            Self::Slots => false,
            Self::Account => read::<Account>(it).next_poll > Timestamp::MIN,
            Self::Adoption => read::<Adoption>(it).refused.is_none(),
            Self::Delivery => !read::<Delivery>(it).is_terminal(),
            Self::Effect => !read::<Effect>(it).is_settled(),
            Self::Job => !read::<Job>(it).is_ended(),
            Self::Pipeline => {
                let run: Pipeline = read(it);
                !run.is_over() || run.open_members().next().is_some()
            }
            Self::Pull => !read::<TrackedPull>(it).pull.is_settled(),
            Self::Requirement => match read::<Requirement>(it).state {
                RequirementState::Planning { .. }
                | RequirementState::Implementing { .. }
                | RequirementState::Tidying { .. }
                | RequirementState::Removing { .. } => true,
                // A person starts these.
                RequirementState::Unplanned { .. } | RequirementState::Ready => false,
                RequirementState::Merged { .. }
                | RequirementState::Tidied { .. }
                | RequirementState::Failed { .. } => false,
            },
            Self::Sprint => !read::<Sprint>(it).is_over(),
            Self::Wake => !read::<Wake>(it).is_settled(),
            Self::Access
            | Self::Agent
            | Self::Allowance
            | Self::AppSetup
            | Self::Artifacts
            | Self::ArtifactsPage
            | Self::Budgets
            | Self::DeliveryCount
            | Self::DeliveryListed
            | Self::Event
            | Self::EventCount
            | Self::Feed
            | Self::Evidence
            | Self::Gap
            | Self::Importing
            | Self::Installation
            | Self::IssueRead
            | Self::JobListed
            | Self::Lane
            | Self::Looked
            | Self::Mail
            | Self::MailBox
            | Self::MailLine
            | Self::MailPage
            | Self::MailSent
            | Self::Merges
            | Self::Messages
            | Self::Notes
            | Self::Once
            | Self::Personas
            | Self::PipelineTurn
            | Self::Reach
            | Self::Readings
            | Self::Repository
            | Self::Session
            | Self::Source
            | Self::SprintTurn
            | Self::SprintWeave
            | Self::Switches
            | Self::Tick
            | Self::Token
            | Self::Transcript
            | Self::Upstreams
            | Self::Usage => return None,
        })
    }
}

fn read<T: DeserializeOwned>(it: &Value) -> T {
    serde_json::from_value(it.clone()).expect("a known value")
}

fn again<T: DeserializeOwned + Serialize>(it: &Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(serde_json::from_value::<T>(it.clone())?)
}

/// The records of an aggregate, by the prefix of their sort key.
const BELOW: [(&str, Kind); 22] = [
    ("WEAVE#", Kind::SprintWeave),
    (keys::MAIL_BOX, Kind::MailBox),
    (keys::MAIL_LOG, Kind::MailLine),
    (keys::MAIL_PAGE, Kind::MailPage),
    (keys::MAIL_SENT, Kind::MailSent),
    (keys::EFFECT, Kind::Effect),
    (keys::EVENT, Kind::Event),
    (keys::EVENT_COUNT, Kind::EventCount),
    (keys::EVIDENCE, Kind::Evidence),
    (keys::OUT, Kind::Outbox),
    (keys::WAKE, Kind::Wake),
    (keys::RUN, Kind::Transcript),
    (keys::ADOPTION, Kind::Adoption),
    ("LISTED", Kind::JobListed),
    (keys::ARTIFACTS_PAGE, Kind::ArtifactsPage),
    ("ARTIFACTS", Kind::Artifacts),
    (keys::SESSION_CHECK, Kind::Looked),
    (keys::MESSAGES, Kind::Messages),
    (keys::NOTES, Kind::Notes),
    (keys::READINGS, Kind::Readings),
    ("GITHUB", Kind::Reach),
    (keys::WEBHOOK_ACTIVITY, Kind::Feed),
];

/// The aggregates, by how their partition begins.
const AGGREGATES: [(&str, Kind); 37] = [
    (keys::SPRINT, Kind::Sprint),
    ("LEASE#sprint#", Kind::SprintTurn),
    ("PERSONAS#", Kind::Personas),
    (keys::MAIL, Kind::Mail),
    ("JOB#", Kind::Job),
    (keys::DELIVERY, Kind::Delivery),
    ("INTAKE#", Kind::Intake),
    ("COUNT#deliveries", Kind::DeliveryCount),
    ("PR#", Kind::Pull),
    ("CFG#account#", Kind::Account),
    ("CFG#source#", Kind::Source),
    ("CFG#agent#", Kind::Agent),
    ("CFG#token#", Kind::Token),
    ("CFG#installation", Kind::Installation),
    ("CFG#switches", Kind::Switches),
    ("CFG#allowance", Kind::Allowance),
    ("CFG#restore", Kind::Gap),
    ("CFG#import", Kind::Importing),
    ("CFG#github", Kind::Access),
    ("CFG#upstreams", Kind::Upstreams),
    ("CFG#app-setup", Kind::AppSetup),
    (keys::HOOK_LOG, Kind::HookLog),
    ("HOOK#logs", Kind::HookLogs),
    ("SESSION#", Kind::Session),
    ("REPO#", Kind::Repository),
    ("ONCE#", Kind::Once),
    ("ISSUE#", Kind::IssueRead),
    ("RATE#slots#", Kind::Slots),
    ("RATE#github", Kind::Budgets),
    ("COUNT#merges#", Kind::Merges),
    ("COUNT#usage#", Kind::Usage),
    ("LEASE#lane#", Kind::Lane),
    ("LEASE#tick", Kind::Tick),
    ("LEASE#pipeline#", Kind::PipelineTurn),
    (keys::PIPELINE, Kind::Pipeline),
    (keys::REQUIREMENT, Kind::Requirement),
    ("SCHEDULE#", Kind::Schedule),
];

/// The kind of a record; panics at one that is new here.
pub fn kind_of(key: &Key) -> Kind {
    let (all, text) = if key.sk == keys::META {
        (AGGREGATES.as_slice(), &key.pk)
    } else {
        (BELOW.as_slice(), &key.sk)
    };
    let found = all.iter().find(|(begin, _)| text.starts_with(begin));
    let known = found.map(|(_, kind)| {
        let is_of_delivery = key.pk.starts_with(keys::DELIVERY);
        if *kind == Kind::JobListed && is_of_delivery {
            Kind::DeliveryListed
        } else {
            *kind
        }
    });
    assert!(
        known.is_some(),
        "{key:?} is of a new kind: give it its line in tests/src/records.rs and a sample in tests/it/recovery/goldens"
    );
    known.expect("a known kind")
}
