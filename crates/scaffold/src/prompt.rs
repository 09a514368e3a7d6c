//! Puts a prompt together from the two trees and from what was asked. The same trees and the same request give the same bytes.

mod error;
mod inclusion;
mod material;
pub(crate) mod older;
mod request;
mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::fence::{encoded_len, fence};
use domain::ids::{ArtefactId, BranchName, RepoName, RoleName, StreamName};
use domain::job::PROMPT_BYTES_MAX;
use domain::layer::Layer;
use domain::redact::redact;
use minijinja::Value;

use crate::assets;
use crate::exchange;
use crate::layout::{OWN_ROLES, Paths, own_role};
use crate::tree::{TEXT_BYTES_MAX, Tree, TreePath};
use inclusion::Shelf;
use material::AskedRequirement;
use template::Asked;

pub use error::PromptError;
pub(crate) use request::{checked, paths_of};

pub use inclusion::{IncludeError, Included, Origin, Trees};
pub use older::stream_of_role;

/// How many events one decider gets at most, so that no id is missing if each becomes a requirement.
const EVENTS_MAX: usize = 24;

/// How many files an observer or an innovator may write, as its contracts say.
pub(crate) const FINDINGS_MAX: usize = 3;

/// Bytes of English text in one token, as models count them. Good for an estimate only.
const BYTES_PER_TOKEN: usize = 4;

/// What is asked of an agent.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The layer.
    pub layer: Layer,
    /// The role, in a layer of roles.
    pub role: Option<RoleName>,
    /// The stream, for observers and deciders; none where the files say it.
    pub stream: Option<StreamName>,
    /// The task, if it is not the usual one. Only innovators have a choice.
    pub task: Option<String>,
    /// The file of the requirement, for a planner or an implementer.
    pub requirement: Option<TreePath>,
    /// The repository.
    pub repository: RepoName,
    /// The branch whose code is looked at and changed.
    pub target_branch: BranchName,
    /// The branch that has the exchange.
    pub worker_branch: BranchName,
    /// What a narrator sums up: subjects of commits with their SHAs.
    pub range_description: String,
    /// Fresh ids, as many as [`ids_wanted`] says: the first for the branch, the others for files.
    pub ids: Vec<ArtefactId>,
    /// What the caller knows besides the files.
    pub records: Records,
}

/// What Gaffer's records say and no file does. Nothing of it is known in a checked-out folder.
#[derive(Debug, Clone, Default)]
pub struct Records {
    /// The files of requirements that are being implemented or were: no decider adds an event to them.
    pub taken: Vec<TreePath>,
    /// The plan along which a requirement is implemented, fenced; empty where its session plans.
    pub plan: String,
    /// Whether a requirement is implemented as it is, although it asks to be planned: a person has it done so.
    pub as_it_is: bool,
}

/// How many fresh ids a prompt of a layer hands out.
pub fn ids_wanted(layer: Layer) -> usize {
    match layer {
        Layer::Narrator | Layer::Planner | Layer::Implementer => 1,
        Layer::Observers | Layer::Innovators => 1 + FINDINGS_MAX,
        Layer::Decider => 1 + EVENTS_MAX,
    }
}

/// A prompt and what went into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// All of it.
    pub text: String,
    /// The files in it, in their order.
    pub included: Vec<Included>,
    /// Optional files that are not there, in the order of the template.
    pub skipped: Vec<String>,
    /// Pending events that had no room, the oldest first: they are for the next decider.
    pub left: Vec<TreePath>,
    /// Pending events that no prompt has room for, the oldest first: they are passed over.
    pub oversized: Vec<TreePath>,
    /// Its length in bytes as JSON, which is limited.
    pub bytes: usize,
}

impl Prompt {
    /// What there is to say about events that are not in it; empty if there are none.
    pub fn note(&self) -> String {
        let left = match self.left.len() {
            0 => None,
            1 => Some("1 pending event is left for the next decider".to_owned()),
            count => Some(format!(
                "{count} pending events are left for the next decider"
            )),
        };
        let oversized = self.oversized.iter();
        let oversized =
            oversized.map(|path| format!("no prompt has room for `{path}`: shorten it"));
        left.into_iter()
            .chain(oversized)
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// About how many tokens it takes.
    pub fn tokens(&self) -> usize {
        self.text.len().div_ceil(BYTES_PER_TOKEN)
    }
}

/// Puts the prompt together.
pub fn assemble(trees: &Trees, ask: &Ask) -> Result<Prompt, PromptError> {
    let paths = &*paths_of(trees, ask)?;
    let frame = Frame::new(trees, ask, paths)?;
    let events = match ask.layer {
        Layer::Decider => exchange::pending(&trees.worker, paths),
        Layer::Narrator
        | Layer::Observers
        | Layer::Planner
        | Layer::Implementer
        | Layer::Innovators => Vec::new(),
    };
    frame.with_most_events(&events)
}

/// A prompt but for the events in it.
struct Frame<'a> {
    file: String,
    source: &'a str,
    shelf: Arc<Shelf>,
    variables: Vec<(&'static str, Value)>,
}

impl<'a> Frame<'a> {
    fn new(trees: &'a Trees, ask: &Ask, paths: &Paths) -> Result<Self, PromptError> {
        let worker = &trees.worker;
        let requirement = checked(trees, ask, paths)?;
        let task = task(worker, paths, ask, requirement.as_ref())?;
        let shelf = Shelf {
            trees: trees.clone(),
            schemas: paths.schemas(worker, ask.layer),
            is_older: paths.is_older(),
        };
        let mut variables = variables(worker, paths, ask, task, requirement.as_ref());
        let (file, source) = if paths.is_older() {
            let list = older::List::read(worker, paths, ask.layer, ask.role.as_ref())?;
            list.refuse_missing(&shelf)?;
            let contracts: Value = list.contracts.into_iter().map(|(path, _)| path).collect();
            variables.push(("contracts", contracts));
            (list.file, assets::older_template())
        } else {
            let file = paths.template(worker, ask.layer);
            let source = worker.text(&file);
            (file, source)
        };
        let source = source.ok_or_else(|| PromptError::NoTemplate(file.clone()))?;
        if !ends_in_output(source) {
            return Err(PromptError::NoOutput(file));
        }
        Ok(Self {
            file,
            source,
            shelf: Arc::new(shelf),
            variables,
        })
    }

    /// The prompt with as many whole events as fit, the oldest first. One that fits into no prompt keeps none behind it waiting.
    fn with_most_events(&self, events: &[TreePath]) -> Result<Prompt, PromptError> {
        let most = events.len().min(EVENTS_MAX);
        let all = self.render(&events[..most])?;
        if all.bytes <= PROMPT_BYTES_MAX {
            let left = events[most..].to_vec();
            return Ok(Prompt { left, ..all });
        }
        let (fitting, oversized) = self.each_alone(events)?;
        // The most that fit lie between `fits` and `too_many`.
        let (mut fits, mut too_many) = (0, fitting.len() + 1);
        let mut best = None;
        while too_many - fits > 1 {
            let count = fits.midpoint(too_many);
            let prompt = self.render(&fitting[..count])?;
            if prompt.bytes <= PROMPT_BYTES_MAX {
                (fits, best) = (count, Some(prompt));
            } else {
                too_many = count;
            }
        }
        let Some(prompt) = best else {
            return Err(PromptError::too_long(&self.render(&events[..most.min(1)])?));
        };
        let is_left = |event: &&TreePath| !fitting[..fits].contains(event);
        let left = events.iter().filter(is_left);
        let left = left.filter(|event| !oversized.contains(event));
        Ok(Prompt {
            left: left.cloned().collect(),
            oversized,
            ..prompt
        })
    }

    /// The oldest events that fit into a prompt each by itself, as many as one decider gets, and those before them that do not.
    fn each_alone(
        &self,
        events: &[TreePath],
    ) -> Result<(Vec<TreePath>, Vec<TreePath>), PromptError> {
        let (mut fitting, mut oversized) = (Vec::new(), Vec::new());
        for event in events {
            if fitting.len() == EVENTS_MAX {
                break;
            }
            let alone = self.render(std::slice::from_ref(event))?;
            match alone.bytes <= PROMPT_BYTES_MAX {
                true => fitting.push(event.clone()),
                false => oversized.push(event.clone()),
            }
        }
        Ok((fitting, oversized))
    }

    fn render(&self, events: &[TreePath]) -> Result<Prompt, PromptError> {
        let events: Value = events.iter().map(TreePath::as_str).collect();
        let variables = self.variables.iter().cloned().chain([("events", events)]);
        let variables = Value::from_pairs(variables);
        let (text, asked) = template::render(&self.file, self.source, variables, &self.shelf)?;
        let Asked { included, skipped } = asked;
        // Names of files could look like secrets too, and no job is made of a prompt that holds one.
        let text = redact(text.trim());
        Ok(Prompt {
            bytes: encoded_len(&text),
            text,
            included,
            skipped,
            left: Vec::new(),
            oversized: Vec::new(),
        })
    }
}

/// The roles of a layer: those that come with Gaffer, and the user's own.
pub fn roles(target: &Tree, layer: Layer) -> Vec<RoleName> {
    let folder = format!("{OWN_ROLES}/{layer}");
    let own = target.below(&folder).filter_map(|(path, _)| {
        let role = path.below(&folder)?.strip_suffix("/role.yml")?;
        role.parse().ok()
    });
    let built_in = assets::roles(layer);
    let roles: BTreeSet<RoleName> = own.chain(built_in).collect();
    roles.into_iter().collect()
}

/// The task of the layer, which only innovators are asked for by name.
fn task(
    tree: &Tree,
    paths: &Paths,
    ask: &Ask,
    requirement: Option<&AskedRequirement>,
) -> Result<String, PromptError> {
    let usual = match ask.layer {
        Layer::Narrator if exchange::has_summary(tree, paths) => "overwrite_summary",
        Layer::Narrator => "bootstrap_summary",
        Layer::Observers => "observe",
        Layer::Decider => "triage",
        Layer::Planner => "expand_requirement",
        Layer::Implementer => requirement.map_or("", |it| &it.label),
        Layer::Innovators => "create_three_proposals",
    };
    let Some(asked) = &ask.task else {
        return Ok(usual.to_owned());
    };
    if ask.layer != Layer::Innovators {
        return Err(PromptError::TaskUnwanted(ask.layer));
    }
    let folder = format!("{}/tasks", paths.layer(tree, ask.layer));
    let files = tree.below(&folder).map(|(path, _)| path);
    let tasks: Vec<_> = files
        .filter(|path| path.as_str().ends_with(".yml"))
        .map(|path| path.stem().to_owned())
        .collect();
    if tasks.contains(asked) {
        return Ok(asked.clone());
    }
    Err(PromptError::unknown_task(asked, tasks))
}

/// Whether the last section of a template is Output. Only its own text counts, never what it includes.
fn ends_in_output(source: &str) -> bool {
    let Some((_, after)) = source.rsplit_once("\n---\n# Output\n") else {
        return false;
    };
    !after.contains("section(") && !after.contains("\n---\n")
}

/// What a template may name, apart from the events.
fn variables(
    tree: &Tree,
    paths: &Paths,
    ask: &Ask,
    task: String,
    requirement: Option<&AskedRequirement>,
) -> Vec<(&'static str, Value)> {
    let commits = match ask.range_description.trim() {
        "" => String::new(),
        commits => fence("commits", commits, TEXT_BYTES_MAX),
    };
    let ids: Value = ask.ids.iter().map(ArtefactId::as_str).collect();
    let mut variables = vec![
        ("layer", ask.layer.name().into()),
        ("task", task.into()),
        ("stream", paths.stream().to_string().into()),
        ("repository", ask.repository.to_string().into()),
        ("target_branch", ask.target_branch.as_str().into()),
        ("worker_branch", ask.worker_branch.as_str().into()),
        ("range_description", commits.into()),
        ("ids", ids),
        ("paths", places(tree, paths, ask)),
    ];
    // Who works on one file is not told of the others.
    let lists: &[(&str, &str)] = match ask.layer {
        Layer::Narrator | Layer::Planner | Layer::Implementer => &[],
        Layer::Observers | Layer::Decider | Layer::Innovators => &[
            ("open_requirements", &paths.requirements),
            ("pending_titles", &paths.pending),
        ],
    };
    // What is added to one that is taken would not be implemented.
    let taken: &[TreePath] = match ask.layer {
        Layer::Decider => &ask.records.taken,
        Layer::Narrator
        | Layer::Observers
        | Layer::Planner
        | Layer::Implementer
        | Layer::Innovators => &[],
    };
    let titles = |folder: &str| material::titles(tree, folder, taken).into();
    variables.extend(lists.iter().map(|&(name, folder)| (name, titles(folder))));
    let role = ask.role.as_ref();
    variables.extend(role.map(|role| ("role", role.as_str().into())));
    variables.extend(requirement.map(|it| ("requirement", it.value())));
    variables.push(("plan", ask.records.plan.as_str().into()));
    variables
}

impl AskedRequirement {
    fn value(&self) -> Value {
        Value::from_pairs([
            ("path", self.path.as_str()),
            ("id", self.id.as_str()),
            ("label", &self.label),
            ("slug", &self.slug),
        ])
    }
}

/// Where the files of this repository lie.
fn places(tree: &Tree, paths: &Paths, ask: &Ask) -> Value {
    let layer = paths.layer(tree, ask.layer);
    let mut places = vec![
        ("rules", paths.rules.to_owned()),
        ("labels", paths.labels.to_owned()),
        ("contracts", paths.contracts(tree, ask.layer)),
        ("tasks", format!("{layer}/tasks")),
        ("schemas", paths.schemas(tree, ask.layer)),
        ("layer", layer),
        ("role", own_role(ask.layer, ask.role.as_ref())),
        ("changes", paths.changes.to_owned()),
        ("pending", paths.pending.to_string()),
        ("decided", paths.decided.to_string()),
        ("requirements", paths.requirements.to_string()),
        ("proposals", paths.proposals.to_owned()),
    ];
    let perspective = ask.role.as_ref().map(|role| paths.perspective(role));
    places.extend(perspective.map(|path| ("perspective", path)));
    Value::from_pairs(places)
}
