//! What a job does for a pipeline. Everything that decides about its pull request comes from here, nothing from the pull request.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{MockTag, RequirementRef, TreeShas};
use crate::ids::{
    ArtefactId, CommitSha, PersonaName, PipelineId, RoleName, SprintNumber, StreamName,
};
use crate::layer::Layer;

/// What a job does for a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelinePart {
    /// The run that asked for it; none for what a requirement asks for later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineId>,
    /// What it does.
    pub work: PartWork,
}

/// What a job does for a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "work")]
pub enum PartWork {
    /// It is an agent of a layer.
    Agent(Agent),
    /// It is a pull request of Gaffer's own.
    Proposal {
        /// The requirement whose files it removes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requirement: Option<ArtefactId>,
    },
    /// It takes part in a sprint.
    Sprint(SprintPart),
}

/// What a job does for a sprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SprintPart {
    /// The sprint, of the repository of the job.
    pub sprint: SprintNumber,
    /// The persona that it works as; none for the job of the one pull request that the others are woven into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<PersonaName>,
}

/// An agent of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The layer.
    pub layer: Layer,
    /// Its role, in a layer of roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The stream that it works in.
    #[serde(default, skip_serializing_if = "StreamName::is_generic")]
    pub stream: StreamName,
    /// The file of its requirement, for a planner or an implementer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// The commits whose files its prompt was made of.
    pub trees: TreeShas,
    /// The files in its prompt, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub included: Vec<String>,
    /// Optional files that were not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The trial run that it is of: Gaffer makes up what it would have written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mock: Option<MockTag>,
}

/// What a pull request of Gaffer's own changes. The files are computed anew from these commits whenever it is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "recipe")]
pub enum Recipe {
    /// The worker branch gets the target's files and the system's own.
    Bootstrap(TreeShas),
    /// The files of a requirement that is implemented are removed, with the events that led to it.
    Tidy {
        /// The commit of the worker branch.
        worker: CommitSha,
        /// The requirement, with the events that it had when it was begun: one that was added since is pending again.
        requirement: RequirementRef,
    },
    /// The proposals that wait are removed, once each is an issue.
    Publish {
        /// The commit of the worker branch that has them.
        worker: CommitSha,
    },
    /// What an agent would have written is made up.
    Mock {
        /// The commit that it is based on.
        base: CommitSha,
        /// What the narrator would have summed up.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        range: String,
        /// The date in its files.
        today: Date,
    },
    /// The files of a trial run are removed.
    Clean {
        /// The commit of the worker branch that has them.
        worker: CommitSha,
        /// The trial run.
        tag: MockTag,
    },
    /// Nothing is changed: the labels of requirements are made in the repository.
    Labels {
        /// The commit of the worker branch that names them.
        worker: CommitSha,
    },
}

impl Recipe {
    /// The commit that a worker branch which is not there begins with.
    pub fn start(&self) -> &CommitSha {
        match self {
            Self::Bootstrap(shas) => &shas.target,
            Self::Tidy { worker, .. }
            | Self::Publish { worker }
            | Self::Clean { worker, .. }
            | Self::Labels { worker } => worker,
            Self::Mock { base, .. } => base,
        }
    }

    /// Its name, which is part of the name of the branch.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bootstrap(_) => "bootstrap",
            Self::Tidy { .. } => "tidy",
            Self::Publish { .. } => "publish",
            Self::Mock { .. } => "mock",
            Self::Clean { .. } => "clean",
            Self::Labels { .. } => "labels",
        }
    }
}

impl PipelinePart {
    /// The layer of an agent; none for a pull request of Gaffer's own.
    pub fn layer(&self) -> Option<Layer> {
        match &self.work {
            PartWork::Agent(agent) => Some(agent.layer),
            PartWork::Proposal { .. } | PartWork::Sprint(_) => None,
        }
    }

    /// Whether it is the one pull request that a sprint weaves.
    pub fn is_of_weave(&self) -> bool {
        self.sprint().is_some_and(|part| part.persona.is_none())
    }

    /// What it does for a sprint.
    pub fn sprint(&self) -> Option<&SprintPart> {
        match &self.work {
            PartWork::Sprint(part) => Some(part),
            PartWork::Agent(_) | PartWork::Proposal { .. } => None,
        }
    }

    /// Whether it is code that a trial run made up: it is never merged.
    pub fn is_mock_code(&self) -> bool {
        match &self.work {
            PartWork::Agent(agent) => agent.mock.is_some() && !agent.layer.is_on_worker_branch(),
            PartWork::Proposal { .. } | PartWork::Sprint(_) => false,
        }
    }

    /// Whether it changes the exchange only, and not the code.
    pub fn is_of_exchange(&self) -> bool {
        match &self.work {
            PartWork::Agent(agent) => agent.layer.is_on_worker_branch(),
            PartWork::Proposal { .. } => true,
            PartWork::Sprint(_) => false,
        }
    }
}
