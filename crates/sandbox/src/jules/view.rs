//! The wire shape of sessions and sources.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::json::{omit_zeros, stamp};
use super::patch;
use super::session::{OwnPull, Session, SourceContext};
use super::settings::Settings;
use super::switches::{SessionUrl, WorkingBranch};

impl Session {
    /// The session as a read at `now` shows it.
    pub(crate) fn to_json(&self, now: Timestamp, settings: &Settings) -> Value {
        let (state, since) = self.shown_state(now);
        let mut shown = json!({
            "name": format!("sessions/{}", self.id),
            "id": self.id,
            "prompt": self.ask.prompt,
            "title": self.ask.title,
            "state": state,
            "url": self.url(settings),
            "createTime": stamp(self.created_at),
            "updateTime": stamp(since),
            "archived": self.archived,
            "sourceContext": self.ask.source.as_ref().map(|it| it.to_json(settings)),
            "outputs": self.outputs(settings),
        });
        if let Some(members) = shown.as_object_mut() {
            self.add_optional(members, settings);
        }
        omit_zeros(shown)
    }

    fn add_optional(&self, members: &mut Map<String, Value>, settings: &Settings) {
        if settings.switches.echo_inputs {
            let mode = if self.ask.auto_create_pr {
                "AUTO_CREATE_PR"
            } else {
                "AUTOMATION_MODE_UNSPECIFIED"
            };
            members.insert(
                "requirePlanApproval".into(),
                self.ask.require_plan_approval.into(),
            );
            members.insert("automationMode".into(), mode.into());
        }
        if settings.switches.generated_files && self.work.shown {
            let files: Vec<Value> = self
                .work
                .files
                .iter()
                .map(|file| {
                    json!({
                        "path": file.filename,
                        "changeType": file.status,
                        "content": file.patch,
                        "additions": file.additions,
                        "deletions": file.deletions,
                    })
                })
                .collect();
            members.insert("generatedFiles".into(), files.into());
        }
    }

    fn url(&self, settings: &Settings) -> String {
        let kind = match settings.switches.session_url {
            SessionUrl::Session => "session",
            SessionUrl::Task => "task",
        };
        format!("https://jules.google.com/{kind}/{}", self.id)
    }

    fn outputs(&self, settings: &Settings) -> Vec<Value> {
        if !self.work.shown {
            return Vec::new();
        }
        let mut outputs = Vec::new();
        if let Some(pull) = &self.work.pull {
            outputs.push(json!({ "pullRequest": pull.to_json(settings) }));
        }
        if !self.work.files.is_empty() || settings.patch_bytes > 0 {
            let message = &self.ask.title;
            let set =
                patch::change_set(self.repo(), &self.work.files, settings.patch_bytes, message);
            outputs.push(json!({ "changeSet": set }));
        }
        outputs
    }
}

impl OwnPull {
    fn to_json(&self, settings: &Settings) -> Value {
        let mut shown =
            json!({ "url": self.url, "title": self.title, "description": self.description });
        if let (true, Some(members)) = (settings.switches.pull_refs, shown.as_object_mut()) {
            members.insert("baseRef".into(), self.base.clone().into());
            members.insert("headRef".into(), self.head.clone().into());
        }
        shown
    }
}

impl SourceContext {
    fn to_json(&self, settings: &Settings) -> Value {
        let mut inner = json!({ "startingBranch": self.branch });
        let mut outer = json!({
            "source": format!("sources/github/{}", self.repo),
            "environmentVariablesEnabled": self.env_variables,
        });
        let place = match settings.switches.working_branch {
            WorkingBranch::Refused => None,
            WorkingBranch::InSourceContext => outer.as_object_mut(),
            WorkingBranch::InGithubRepoContext => inner.as_object_mut(),
        };
        if let Some(members) = place {
            members.insert("workingBranch".into(), self.working_branch.clone().into());
        }
        if let Some(members) = outer.as_object_mut() {
            members.insert("githubRepoContext".into(), inner);
        }
        outer
    }
}

/// A repository that Jules may work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// `owner/name`.
    pub(crate) repo: String,
    pub(crate) private: bool,
    pub(crate) default_branch: String,
}

impl Source {
    /// Its resource name.
    pub(crate) fn name(&self) -> String {
        format!("sources/github/{}", self.repo)
    }

    /// The wire shape with these active branches.
    pub(crate) fn to_json(&self, branches: &[String]) -> Value {
        let (owner, repo) = self.repo.split_once('/').unwrap_or_default();
        let branches: Vec<Value> = branches
            .iter()
            .map(|it| json!({ "displayName": it }))
            .collect();
        omit_zeros(json!({
            "name": self.name(),
            "id": format!("github/{}", self.repo),
            "githubRepo": {
                "owner": owner,
                "repo": repo,
                "isPrivate": self.private,
                "defaultBranch": { "displayName": self.default_branch },
                "branches": branches,
            },
        }))
    }
}
