//! Prompts: what is in them, what is refused, and each of them whole.

mod any;
mod bounds;
mod older;
mod requests;
mod streams;
mod trials;
mod whole;

use super::*;
use crate::tree::Entry;

/// A repository after bootstrap, with one of each artefact.
pub(super) struct Repository {
    pub(super) tree: Tree,
}

impl Repository {
    /// As bootstrap leaves it.
    pub(super) fn new() -> Self {
        let files = assets::system().into_iter().chain(assets::control());
        let files = files.map(|file| (file.path, Entry::text(file.text)));
        Self {
            tree: files.collect(),
        }
    }

    /// The same with a file.
    pub(super) fn with(mut self, path: &str, text: &str) -> Self {
        self.tree.put(path.parse().unwrap(), Entry::text(text));
        self
    }

    /// The same with an event, a requirement, changes and a perspective.
    pub(super) fn at_work(self) -> Self {
        self.with(
            ".jules/exchange/changes.yml",
            "schema_version: 1\ncreated_at: \"2026-02-16\"\nsummaries: []\n",
        )
        .with(&event_path("aa11bb"), &event("aa11bb", "2026-02-17"))
        .with(REQUIREMENT, &requirement_text("bugs", false))
        .with(
            ".jules/workstations/taxonomy/perspective.yml",
            "schema_version: 2\nobserver: taxonomy\ngoals: [Find two words for one thing.]\n",
        )
    }

    pub(super) fn trees(&self) -> Trees {
        let tree = Arc::new(self.tree.clone());
        Trees {
            target: Arc::clone(&tree),
            worker: tree,
        }
    }

    pub(super) fn assemble(&self, ask: &Ask) -> Result<Prompt, PromptError> {
        assemble(&self.trees(), ask)
    }

    /// What is said when the prompt cannot be put together.
    #[track_caller]
    pub(super) fn refuses(&self, ask: &Ask) -> String {
        self.assemble(ask).unwrap_err().to_string()
    }

    /// The same with another template for the planner.
    pub(super) fn with_template(self, template: &str) -> Self {
        let path = ".jules/roles/narrator/narrator_prompt.j2";
        self.with(path, &format!("{template}\n---\n# Output\nNothing.\n"))
    }
}

pub(super) const REQUIREMENT: &str = ".jules/exchange/requirements/cc22dd-close-the-file.yml";

pub(super) fn event_path(id: &str) -> String {
    format!(".jules/exchange/events/pending/{id}-a-leak.yml")
}

pub(super) fn event(id: &str, created: &str) -> String {
    format!(
        "schema_version: 1\nid: {id}\nrequirement_id: \"\"\ncreated_at: \"{created}\"\n\
         author_role: qa\nconfidence: high\ntitle: A file stays open\n\
         statement: The file is opened and never closed.\n\
         evidence:\n  - path: src/read.rs\n    loc: [\"12\"]\n    note: There is no close.\n"
    )
}

pub(super) fn requirement_text(label: &str, analysis: bool) -> String {
    format!(
        "schema_version: 2\nid: cc22dd\nsource_events: [bb11cc]\ntitle: Close the file\n\
         label: {label}\npriority: high\nrequires_deep_analysis: {analysis}\n"
    )
}

/// What is asked of a layer, with everything it needs.
pub(super) fn ask(layer: Layer) -> Ask {
    let role = match layer {
        Layer::Observers => Some("taxonomy"),
        Layer::Innovators => Some("leverage_architect"),
        Layer::Narrator | Layer::Decider | Layer::Planner | Layer::Implementer => None,
    };
    let requirement = match layer {
        Layer::Planner | Layer::Implementer => Some(REQUIREMENT.parse().unwrap()),
        Layer::Narrator | Layer::Observers | Layer::Decider | Layer::Innovators => None,
    };
    let ids = (0..ids_wanted(layer)).map(|n| format!("id{n:04}").parse().unwrap());
    Ask {
        layer,
        role: role.map(|role| role.parse().unwrap()),
        stream: None,
        task: None,
        requirement,
        repository: "acme/shop".parse().unwrap(),
        target_branch: BranchName::main(),
        worker_branch: "jules".parse().unwrap(),
        range_description: "1a2b3c4 Close the file\n5d6e7f8 Read it again".to_owned(),
        ids: ids.collect(),
        records: Records::default(),
    }
}

/// The pieces of a repository in which this layer may work.
pub(super) fn ready_for(layer: Layer) -> Repository {
    let repository = Repository::new().at_work();
    match layer {
        Layer::Planner => repository.with(REQUIREMENT, &requirement_text("bugs", true)),
        Layer::Narrator
        | Layer::Observers
        | Layer::Decider
        | Layer::Implementer
        | Layer::Innovators => repository,
    }
}
