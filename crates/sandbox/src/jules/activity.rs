//! Activities of a session and their wire shape.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::json::{omit_zeros, stamp};
use super::patch;
use super::settings::Settings;
use super::switches::{OriginatorCase, PatchScope};
use crate::github::ChangedFile;

/// One activity; never changed once written.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    /// 32 hex digits.
    pub(crate) id: String,
    /// When it was written.
    pub(crate) at: Timestamp,
    pub(crate) originator: Originator,
    pub(crate) kind: Kind,
    /// What hangs on it.
    pub(crate) artifacts: Vec<Artifact>,
}

/// Who wrote an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Originator {
    User,
    Agent,
    System,
}

/// What an activity says.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    AgentMessaged(String),
    UserMessaged(String),
    PlanGenerated {
        id: String,
        steps: Vec<String>,
    },
    PlanApproved(String),
    ProgressUpdated {
        title: String,
        description: String,
    },
    SessionCompleted,
    SessionFailed(String),
    /// Only a description, none of the seven kinds.
    Described(String),
    /// Members as a story wrote them.
    Raw(Map<String, Value>),
}

/// What hangs on an activity.
#[derive(Clone, Debug)]
pub(crate) enum Artifact {
    /// All changes so far, of which the last `fresh` are this activity's own.
    ChangeSet {
        files: Vec<ChangedFile>,
        fresh: usize,
    },
    Media {
        bytes: usize,
    },
    Bash {
        command: String,
    },
}

impl Activity {
    /// The wire shape below the session `session_id` of `repo`.
    pub(crate) fn to_json(
        &self,
        session_id: &str,
        repo: Option<&str>,
        settings: &Settings,
    ) -> Value {
        let mut members = Map::new();
        members.insert(
            "originator".into(),
            self.originator.written(settings).into(),
        );
        let artifacts: Vec<Value> = self
            .artifacts
            .iter()
            .filter_map(|it| it.to_json(repo, settings))
            .collect();
        members.insert("artifacts".into(), artifacts.into());
        self.kind.write(&mut members, self.at);
        let mut members = match omit_zeros(Value::Object(members)) {
            Value::Object(members) => members,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        if let Kind::Raw(raw) = &self.kind {
            // A story's own members go out exactly as written, zero values and all.
            members.extend(raw.clone());
        }
        let name = format!("sessions/{session_id}/activities/{}", self.id);
        members.insert("name".into(), name.into());
        members.insert("id".into(), self.id.clone().into());
        members.insert("createTime".into(), stamp(self.at).into());
        Value::Object(members)
    }
}

impl Originator {
    fn written(self, settings: &Settings) -> String {
        let word = match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::System => "system",
        };
        match settings.switches.originator {
            OriginatorCase::Lower => word.to_owned(),
            OriginatorCase::Upper => word.to_uppercase(),
            OriginatorCase::Absent => String::new(),
        }
    }
}

impl Kind {
    fn write(&self, members: &mut Map<String, Value>, at: Timestamp) {
        let (name, payload) = match self {
            Self::AgentMessaged(text) => ("agentMessaged", json!({ "agentMessage": text })),
            Self::UserMessaged(text) => ("userMessaged", json!({ "userMessage": text })),
            Self::PlanGenerated { id, steps } => ("planGenerated", plan_json(id, steps, at)),
            Self::PlanApproved(plan) => ("planApproved", json!({ "planId": plan })),
            Self::ProgressUpdated { title, description } => (
                "progressUpdated",
                json!({ "title": title, "description": description }),
            ),
            Self::SessionCompleted => ("sessionCompleted", json!({})),
            Self::SessionFailed(reason) => ("sessionFailed", json!({ "reason": reason })),
            Self::Described(text) => ("description", json!(text)),
            Self::Raw(_) => return,
        };
        members.insert(name.to_owned(), payload);
    }
}

fn plan_json(id: &str, steps: &[String], at: Timestamp) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(index, title)| {
            json!({ "id": patch::hex_id(&[id, &index.to_string()], 32), "index": index, "title": title })
        })
        .collect();
    json!({ "plan": { "id": id, "steps": steps, "createTime": stamp(at) } })
}

impl Artifact {
    fn to_json(&self, repo: Option<&str>, settings: &Settings) -> Option<Value> {
        match self {
            Self::ChangeSet { files, fresh } => {
                let skip = match settings.switches.activity_patches {
                    PatchScope::Full => 0,
                    PatchScope::Delta => files.len().saturating_sub(*fresh),
                };
                let shown = files.get(skip..).unwrap_or_default();
                Some(json!({ "changeSet": patch::change_set(repo, shown, 0, "Work so far") }))
            }
            Self::Media { bytes } => Some(json!({ "media": {
                "mimeType": "image/png",
                "data": patch::base64_filler(*bytes),
            } })),
            Self::Bash { command } => settings.switches.bash_output.then(
                || json!({ "bashOutput": { "command": command, "output": "ok", "exitCode": 0 } }),
            ),
        }
    }
}
