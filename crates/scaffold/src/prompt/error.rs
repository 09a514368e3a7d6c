//! Why a prompt cannot be put together.

use domain::ids::RoleName;
use domain::job::PROMPT_BYTES_MAX;
use domain::layer::Layer;
use domain::nearest::nearest;
use domain::redact::presentable;

use super::Prompt;
use super::inclusion::IncludeError;
use crate::fault::Fault;
use crate::layout::LayoutError;
use crate::tree::TreePath;

/// How many of its parts a prompt that is too long names.
const LARGEST_PARTS: usize = 5;

/// What is shown of a name that is not known, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Why a prompt cannot be put together, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// The tree has no layout that can be worked with.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layer of roles was asked without one.
    #[error("the layer {layer} has roles, so name one of them: {}", list(roles))]
    RoleWanted {
        /// The layer.
        layer: Layer,
        /// Its roles.
        roles: Vec<RoleName>,
    },
    /// A layer without roles was asked with one.
    #[error("the layer {0} is one agent and has no roles: leave the role out")]
    RoleUnwanted(Layer),
    /// There is no such role.
    #[error("the layer {layer} has no role `{role}`: {}", offered(role.as_str(), roles))]
    UnknownRole {
        /// The layer.
        layer: Layer,
        /// What was asked for.
        role: RoleName,
        /// Its roles.
        roles: Vec<RoleName>,
    },
    /// Only innovators have a choice of tasks.
    #[error("the layer {0} has its task from what it works on: leave the task out")]
    TaskUnwanted(Layer),
    /// There is no such task.
    #[error("there is no task `{task}`: {offer}")]
    UnknownTask {
        /// What was asked for.
        task: String,
        /// The nearest one, or all.
        offer: String,
    },
    /// A planner or an implementer was asked without a requirement.
    #[error("the {0} works on one requirement: name its file")]
    RequirementWanted(Layer),
    /// Another layer was asked with one.
    #[error("the layer {0} does not work on a requirement: leave it out")]
    RequirementUnwanted(Layer),
    /// The requirement's file does not lie where requirements do.
    #[error("`{path}` is no requirement: they are `.yml` files below `{folder}/`")]
    RequirementOutside {
        /// What was asked for.
        path: TreePath,
        /// Where requirements lie.
        folder: String,
    },
    /// The requirement's file is not there.
    #[error(
        "`{path}` is not there as a text{}: it may have been implemented, or never merged",
        meant(nearest.as_ref())
    )]
    RequirementMissing {
        /// What was asked for.
        path: TreePath,
        /// The requirement whose name is most like it.
        nearest: Option<TreePath>,
    },
    /// The requirement cannot be read.
    #[error("the requirement cannot be read: {0}")]
    Requirement(Fault),
    /// The requirement has no id that is one.
    #[error("`{0}` has no `id` of six characters: correct it in the file")]
    RequirementId(TreePath),
    /// The requirement does not say whether it has to be planned.
    #[error("`{0}` does not say in `requires_deep_analysis` whether it has to be planned first")]
    NoMark(TreePath),
    /// The requirement has to be planned before it is implemented.
    #[error("`{0}` asks for deep analysis: let the planner expand it first")]
    NotReady(TreePath),
    /// The requirement needs no planner.
    #[error("`{0}` asks for no deep analysis: it can be implemented as it is")]
    Ready(TreePath),
    /// The requirement's label is none of the repository's.
    #[error("`{path}` has the label `{label}`: {}", offered_text(label, labels))]
    UnknownLabel {
        /// The requirement.
        path: TreePath,
        /// Its label.
        label: String,
        /// Those there are.
        labels: Vec<String>,
    },
    /// The caller gave too few ids, or one of them twice.
    #[error("the prompt hands out {wanted} different ids, and {given} were given")]
    Ids {
        /// How many it hands out.
        wanted: usize,
        /// How many different ones there are.
        given: usize,
    },
    /// The template is not there.
    #[error("`{0}` is not there: bootstrap puts back the system's files")]
    NoTemplate(String),
    /// The older layout has no list of files for the layer.
    #[error(
        "`{0}` is not there, and lists the files of a prompt: write it, or migrate the repository"
    )]
    NoList(String),
    /// The template does not say at its end what may be written.
    #[error("`{0}` does not end with the section Output: bootstrap puts back the system's files")]
    NoOutput(String),
    /// The list of an older prompt cannot be read.
    #[error(transparent)]
    List(Fault),
    /// The template cannot be rendered.
    #[error("{file}:{line}: {what}")]
    Template {
        /// The template.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// The template includes what it cannot.
    #[error("{file}:{line}: {why}")]
    Include {
        /// The template.
        file: String,
        /// The line, from 1.
        line: usize,
        /// Why it cannot.
        why: IncludeError,
    },
    /// The prompt is too long.
    #[error(
        "the prompt has {bytes} bytes as JSON, at most {PROMPT_BYTES_MAX}: shorten {}",
        parts(largest)
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// Its largest files with their bytes, the largest first.
        largest: Vec<(TreePath, usize)>,
    },
}

impl PromptError {
    pub(super) fn unknown_task(task: &str, tasks: Vec<String>) -> Self {
        Self::UnknownTask {
            task: presentable(task, NAME_CHARS_MAX),
            offer: offered_text(task, &tasks),
        }
    }

    pub(super) fn too_long(prompt: &Prompt) -> Self {
        let parts = prompt.included.iter();
        let mut largest: Vec<_> = parts.map(|it| (it.path.clone(), it.bytes)).collect();
        largest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        largest.truncate(LARGEST_PARTS);
        Self::TooLong {
            bytes: prompt.bytes,
            largest,
        }
    }
}

fn list(roles: &[RoleName]) -> String {
    let names: Vec<_> = roles.iter().map(RoleName::as_str).collect();
    names.join(", ")
}

fn offered(role: &str, roles: &[RoleName]) -> String {
    let names: Vec<_> = roles.iter().map(RoleName::as_str).collect();
    offer(role, &names)
}

fn offered_text(word: &str, known: &[String]) -> String {
    let names: Vec<_> = known.iter().map(String::as_str).collect();
    offer(word, &names)
}

/// The known word that is nearest, else all there are.
fn offer(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}

fn meant(nearest: Option<&TreePath>) -> String {
    let meant = nearest.map(|path| format!(" (did you mean `{path}`?)"));
    meant.unwrap_or_default()
}

fn parts(largest: &[(TreePath, usize)]) -> String {
    let parts: Vec<_> = largest
        .iter()
        .map(|(path, bytes)| format!("`{path}` ({bytes})"))
        .collect();
    parts.join(", ")
}
