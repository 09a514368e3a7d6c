//! Activities as they travel. Media and command outputs are not among the fields, so they are never built in memory.

use std::collections::BTreeMap;

use domain::ids::{ActivityId, PlanId};
use domain::session::{Activity, ActivityKind, Originator, Plan, PlanStep};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::id_of;
use super::loose::{Loose, Many, Text};

/// The fields of an activity that are not its kind.
const COMMON_FIELDS: [&str; 6] = [
    "name",
    "id",
    "originator",
    "description",
    "createTime",
    "artifacts",
];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ActivityWire {
    name: Loose<Text>,
    id: Loose<Text>,
    originator: Loose<Text>,
    description: Loose<Text>,
    create_time: Loose<Timestamp>,
    agent_messaged: Loose<AgentMessaged>,
    user_messaged: Loose<UserMessaged>,
    plan_generated: Loose<PlanGenerated>,
    plan_approved: Loose<PlanApproved>,
    progress_updated: Loose<ProgressUpdated>,
    session_completed: Loose<IgnoredAny>,
    session_failed: Loose<SessionFailed>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AgentMessaged {
    agent_message: Loose<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UserMessaged {
    user_message: Loose<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanGenerated {
    plan: Loose<PlanWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanWire {
    id: Loose<Text>,
    steps: Many<StepWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StepWire {
    index: Loose<i64>,
    title: Loose<Text>,
    description: Loose<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PlanApproved {
    plan_id: Loose<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProgressUpdated {
    title: Loose<Text>,
    description: Loose<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionFailed {
    reason: Loose<Text>,
}

/// Reads one activity; `None` if it has no id.
/// One without a readable time gets `fallback`, which should be the time of its neighbour.
pub(crate) fn activity(raw: &str, fallback: Timestamp) -> Option<Activity> {
    let wire: ActivityWire = serde_json::from_str(raw).ok()?;
    let id: ActivityId = id_of(wire.id.some(), wire.name.some())?;
    let originator = originator(wire.originator.some());
    let at = wire.create_time.0.unwrap_or(fallback);
    let kind = kind(wire, &id, raw);
    Some(Activity {
        id,
        at,
        originator,
        kind,
    })
}

fn originator(written: Option<&str>) -> Originator {
    match written.map(str::to_ascii_lowercase).as_deref() {
        Some("user") => Originator::User,
        Some("agent") => Originator::Agent,
        Some(_) | None => Originator::System,
    }
}

fn kind(wire: ActivityWire, id: &ActivityId, raw: &str) -> ActivityKind {
    if let Some(said) = wire.agent_messaged.0 {
        let text = said.agent_message.or_empty();
        ActivityKind::AgentMessaged { text }
    } else if let Some(said) = wire.user_messaged.0 {
        let text = said.user_message.or_empty();
        ActivityKind::UserMessaged { text }
    } else if let Some(made) = wire.plan_generated.0 {
        plan(made.plan.0.unwrap_or_default(), id)
    } else if let Some(approved) = wire.plan_approved.0 {
        let plan = approved.plan_id.some().and_then(|plan| plan.parse().ok());
        ActivityKind::PlanApproved { plan }
    } else if let Some(progress) = wire.progress_updated.0 {
        ActivityKind::Progressed {
            title: progress.title.or_empty(),
            description: progress.description.or_empty(),
        }
    } else if wire.session_completed.0.is_some() {
        ActivityKind::Completed
    } else if let Some(failed) = wire.session_failed.0 {
        let reason = failed.reason.or_empty();
        ActivityKind::Failed { reason }
    } else {
        let label = unknown_field(raw).unwrap_or_else(|| wire.description.or_empty());
        ActivityKind::Other { label }
    }
}

fn plan(wire: PlanWire, activity: &ActivityId) -> ActivityKind {
    let mut steps = wire.steps.0;
    // Zero is left out on the wire, so the first step has no index.
    steps.sort_by_key(|step| step.index.0.unwrap_or(0));
    let steps = steps.into_iter().map(|step| PlanStep {
        title: step.title.or_empty(),
        description: step.description.or_empty(),
    });
    let steps = steps.collect();
    let given: Option<PlanId> = wire.id.some().and_then(|id| id.parse().ok());
    // Every activity id is a valid plan id, so the last alternative is never taken.
    match given.or_else(|| activity.as_str().parse().ok()) {
        Some(id) => ActivityKind::PlanGenerated(Plan { id, steps }),
        None => ActivityKind::Other {
            label: "planGenerated".to_owned(),
        },
    }
}

/// The name of the first field that is not common to all activities.
fn unknown_field(raw: &str) -> Option<String> {
    let fields: BTreeMap<String, IgnoredAny> = serde_json::from_str(raw).ok()?;
    fields
        .into_keys()
        .find(|name| !COMMON_FIELDS.contains(&name.as_str()))
}

/// A patch and what it applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangeSet {
    /// The whole unified diff, never empty.
    pub(crate) patch: String,
    /// The commit it applies to.
    pub(crate) base_commit: Option<String>,
    /// The message Jules suggests.
    pub(crate) suggested_message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ChangeSetWire {
    git_patch: Loose<GitPatch>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GitPatch {
    unidiff_patch: Loose<Text>,
    base_commit_id: Loose<Text>,
    suggested_commit_message: Loose<Text>,
}

impl ChangeSetWire {
    /// The change set, if it holds a patch.
    pub(super) fn read(self) -> Option<ChangeSet> {
        let git = self.git_patch.0?;
        let patch = git.unidiff_patch.or_empty();
        (!patch.is_empty()).then(|| ChangeSet {
            patch,
            base_commit: git.base_commit_id.some().map(str::to_owned),
            suggested_message: git.suggested_commit_message.some().map(str::to_owned),
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PatchedActivity {
    name: Loose<Text>,
    id: Loose<Text>,
    create_time: Loose<Timestamp>,
    artifacts: Many<Artifact>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Artifact {
    change_set: Loose<ChangeSetWire>,
}

/// The last change set with a patch among an activity's artifacts, and its place among all activities.
pub(crate) fn change_set(raw: &str) -> Option<((Timestamp, String), ChangeSet)> {
    let wire: PatchedActivity = serde_json::from_str(raw).ok()?;
    let sets = wire
        .artifacts
        .0
        .into_iter()
        .filter_map(|artifact| artifact.change_set.0);
    let newest = sets.filter_map(ChangeSetWire::read).next_back()?;
    let id: Option<ActivityId> = id_of(wire.id.some(), wire.name.some());
    let order = (
        wire.create_time.0.unwrap_or(Timestamp::UNIX_EPOCH),
        id.map(String::from).unwrap_or_default(),
    );
    Some((order, newest))
}
