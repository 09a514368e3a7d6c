//! Where files lie: one table of paths for each generation of layouts, and which generation a tree is.

mod stream;

use std::borrow::Cow;

use domain::ids::{RoleName, StreamName};
use domain::layer::{Cast, Layer};

use crate::tree::{Tree, TreePath};

pub use stream::{schedule_file, stream_of, streams};

/// The system's folder, on the worker branch.
pub const SYSTEM: &str = ".jules";

/// The folders of the personas of sprints, on the target branch.
pub const PERSONAS: &str = ".jules/personas";

/// The mail between personas, on the target branch.
pub const MAIL: &str = ".jules/mail";

/// The user's folder, on the target branch.
pub const CONTROL: &str = ".jlo";

/// The user's settings.
pub const CONFIG: &str = ".jlo/config.toml";

/// Where roles of the user's own lie.
pub const OWN_ROLES: &str = ".jlo/roles";

/// Where the user's tools and secrets are named, which no prompt ever holds.
pub const SETUP: &str = ".jlo/setup";

/// The same in the older generation.
pub const OLDER_SETUP: &str = ".jules/setup";

/// A generation of layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One flat exchange: what is written new.
    Exchange,
    /// Workstreams with issues by label, and prompts that list files to read: the older one.
    Workstreams,
}

/// Why a tree has no layout that can be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// The system's files are not there.
    #[error(
        "there is no exchange below `.jules/`: bootstrap the repository first, with `gaffer scaffold bootstrap`"
    )]
    Missing,
    /// Files of both generations are there, and none of them says which counts.
    #[error("`{exchange}` and `{workstreams}` are of two generations of layouts: keep one of them")]
    Both {
        /// A file of the newer one.
        exchange: TreePath,
        /// A file of the older one.
        workstreams: TreePath,
    },
    /// The older generation is there, and what is asked for is of the newer one alone.
    #[error(
        "`{0}` is of the older layout with workstreams, which does not have this: migrate the repository first"
    )]
    Workstreams(TreePath),
    /// A stream is named that is not there.
    #[error("the stream `{stream}` has no folder `{folder}/`: {offer}")]
    NoStream {
        /// The stream.
        stream: StreamName,
        /// Where it would be.
        folder: String,
        /// The nearest one, or what makes it.
        offer: String,
    },
}

impl Layout {
    /// The layout of a tree.
    pub fn find(tree: &Tree) -> Result<Self, LayoutError> {
        let files = || tree.below(SYSTEM).map(|(path, _)| path);
        let exchange = files().find(|path| is_of_exchange(path));
        let workstreams = files().find(|path| is_of_workstreams(path));
        match (exchange, workstreams) {
            (Some(_), None) => Ok(Self::Exchange),
            (None, Some(_)) => Ok(Self::Workstreams),
            (None, None) => Err(LayoutError::Missing),
            (Some(exchange), Some(workstreams)) => Err(LayoutError::Both {
                exchange: exchange.clone(),
                workstreams: workstreams.clone(),
            }),
        }
    }

    /// Whether a tree is of the older generation.
    pub fn is_older(tree: &Tree) -> bool {
        Self::find(tree) == Ok(Self::Workstreams)
    }

    /// The paths of the layout that a tree has.
    pub fn paths(tree: &Tree) -> Result<&'static Paths, LayoutError> {
        match Self::find(tree)? {
            Self::Exchange => Ok(&EXCHANGE),
            Self::Workstreams if tree.has_folder(".jules/workstreams/generic/exchange") => {
                Ok(&WORKSTREAMS_WITH_EXCHANGE)
            }
            Self::Workstreams => Ok(&WORKSTREAMS),
        }
    }

    /// The same for what only the newer generation has: trial runs, innovators, and the system's files of this version.
    pub fn newer(tree: &Tree) -> Result<&'static Paths, LayoutError> {
        match Self::find(tree)? {
            Self::Exchange => Ok(&EXCHANGE),
            Self::Workstreams => {
                let mut files = tree.below(SYSTEM).map(|(path, _)| path);
                let file = files.find(|path| is_of_workstreams(path));
                Err(file.map_or(LayoutError::Missing, |path| {
                    LayoutError::Workstreams(path.clone())
                }))
            }
        }
    }
}

/// The files of the system in a tree, which only the worker branch has: personas and mail lie on the target branch.
pub fn of_system(tree: &Tree) -> impl Iterator<Item = &TreePath> {
    let paths = tree.below(SYSTEM).map(|(path, _)| path);
    paths.filter(|path| {
        let of_people = [PERSONAS, MAIL];
        !of_people.iter().any(|folder| path.below(folder).is_some())
    })
}

/// Whether only the newer layout has such a file.
fn is_of_exchange(path: &TreePath) -> bool {
    let is_template = is_of_layer(path) && path.file_name().ends_with("_prompt.j2");
    path.below(".jules/exchange").is_some() || is_template
}

/// Whether people or Gaffer wrote it for a layer: no file that a session may add says which generation counts.
fn is_of_layer(path: &TreePath) -> bool {
    let mut roots = EXCHANGE.layers.iter();
    roots.any(|root| path.below(root).is_some())
}

/// Whether only the older layout has such a file. A named stream of the newer one has an exchange of its own.
fn is_of_workstreams(path: &TreePath) -> bool {
    let in_stream = |rest: &str| {
        let mut parts = rest.split('/').skip(1).take(2);
        match (parts.next(), parts.next()) {
            (Some("exchange"), Some(kind)) => kind == "issues",
            (Some(kind), Some(_)) => matches!(kind, "events" | "issues"),
            (Some(kind), None) => kind == "scheduled.toml",
            (None, _) => false,
        }
    };
    (is_of_layer(path) && path.file_name() == "prompt.yml")
        || path.below(".jules/changes").is_some()
        || path.below(".jules/workstreams").is_some_and(in_stream)
}

/// Where the system's files and those of the exchange lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The named stream whose events and requirements these are; none for that of every repository.
    named: Option<StreamName>,
    /// The rules for every layer.
    pub rules: &'static str,
    /// The guide for people.
    pub guide: &'static str,
    /// The labels of requirements.
    pub labels: &'static str,
    /// The folders that may hold those of layers; the first that does counts.
    layers: &'static [&'static str],
    /// Where the folder of a layer is made.
    new_layers: &'static str,
    /// A folder of schemas apart from their layers, which is read as well.
    schemas: &'static str,
    /// What the narrator wrote.
    pub changes: &'static str,
    /// Events that the decider has not seen.
    pub pending: Cow<'static, str>,
    /// Events that belong to a requirement.
    pub decided: Cow<'static, str>,
    /// The requirements.
    pub requirements: Cow<'static, str>,
    /// Proposals that are not published.
    pub proposals: &'static str,
    /// The folders of roles, with what each of them knows.
    pub workstations: Cow<'static, str>,
}
/// The layout of one flat exchange.
pub static EXCHANGE: Paths = table(
    ".jules/exchange/changes.yml",
    [
        ".jules/exchange/events/pending",
        ".jules/exchange/events/decided",
        ".jules/exchange/requirements",
        ".jules/exchange/proposals",
    ],
);

/// The older layout, with its one stream that every repository has.
pub static WORKSTREAMS: Paths = table(
    OLDER_CHANGES,
    [
        ".jules/workstreams/generic/events/pending",
        ".jules/workstreams/generic/events/decided",
        ".jules/workstreams/generic/issues",
        ".jules/workstreams/generic/proposals",
    ],
);

/// The same as its last versions had it, with a folder between.
pub static WORKSTREAMS_WITH_EXCHANGE: Paths = table(
    OLDER_CHANGES,
    [
        ".jules/workstreams/generic/exchange/events/pending",
        ".jules/workstreams/generic/exchange/events/decided",
        ".jules/workstreams/generic/exchange/issues",
        ".jules/workstreams/generic/proposals",
    ],
);

/// What the narrator wrote in the older layout.
const OLDER_CHANGES: &str = ".jules/changes/latest.yml";

const fn table(
    changes: &'static str,
    [pending, decided, requirements, proposals]: [&'static str; 4],
) -> Paths {
    Paths {
        named: None,
        rules: ".jules/JULES.md",
        guide: ".jules/README.md",
        labels: ".jules/github-labels.json",
        layers: &[".jules/layers", ".jules/roles"],
        new_layers: ".jules/roles",
        schemas: ".jules/schemas",
        changes,
        pending: Cow::Borrowed(pending),
        decided: Cow::Borrowed(decided),
        requirements: Cow::Borrowed(requirements),
        proposals,
        workstations: Cow::Borrowed(".jules/workstations"),
    }
}

impl Paths {
    /// Whether they are of the older generation, whose prompts are lists of files.
    pub fn is_older(&self) -> bool {
        self.changes == OLDER_CHANGES
    }

    /// Whether a file lies where requirements do: in their folder, or in the older generation in one of a label.
    pub fn holds_requirement(&self, path: &TreePath) -> bool {
        path.folder() == self.requirements || self.label_of(path).is_some()
    }

    /// The label that the folder of a requirement stands for, in the older generation.
    pub fn label_of<'p>(&self, path: &'p TreePath) -> Option<&'p str> {
        let rest = path.folder().strip_prefix(&*self.requirements)?;
        let label = rest.strip_prefix('/')?;
        (self.is_older() && !label.contains('/')).then_some(label)
    }

    /// The folder of a layer, or where it would be made.
    pub fn layer(&self, tree: &Tree, layer: Layer) -> String {
        let mut folders = self.layers.iter().flat_map(|root| {
            let names = [layer.name(), layer.plural()];
            names.map(|name| format!("{root}/{name}"))
        });
        let found = folders.find(|folder| tree.has_folder(folder));
        found.unwrap_or_else(|| format!("{}/{}", self.new_layers, layer.name()))
    }

    /// The template of a layer's prompt.
    pub fn template(&self, tree: &Tree, layer: Layer) -> String {
        format!("{}/{}_prompt.j2", self.layer(tree, layer), layer.name())
    }

    /// The contracts of a layer.
    pub fn contracts(&self, tree: &Tree, layer: Layer) -> String {
        format!("{}/contracts.yml", self.layer(tree, layer))
    }

    /// The folder of a layer's schemas, wherever it is.
    pub fn schemas(&self, tree: &Tree, layer: Layer) -> String {
        let own = format!("{}/schemas", self.layer(tree, layer));
        let apart = [layer.name(), layer.plural()].map(|name| format!("{}/{name}", self.schemas));
        let mut folders = std::iter::once(own.clone()).chain(apart);
        folders
            .find(|folder| tree.has_folder(folder))
            .unwrap_or(own)
    }

    /// What a role knows from its earlier sessions.
    pub fn perspective(&self, role: &RoleName) -> String {
        format!("{}/{role}/perspective.yml", self.workstations)
    }
}

/// Whether sessions write what lies there, rather than people or Gaffer.
pub fn is_written_by_sessions(path: &str) -> bool {
    let folders = [
        ".jules/exchange/",
        ".jules/workstations/",
        ".jules/workstreams/",
        ".jules/changes/",
    ];
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Where the user puts the focus of a role, or of a layer that has no roles.
pub fn own_role(layer: Layer, role: Option<&RoleName>) -> String {
    match (layer.cast(), role) {
        (Cast::Multi, Some(role)) => format!("{OWN_ROLES}/{layer}/{role}/role.yml"),
        (Cast::Multi | Cast::Single, _) => format!("{OWN_ROLES}/{layer}/role.yml"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Entry;

    fn tree(files: &[&str]) -> Tree {
        let file = |path: &&str| (path.parse().unwrap(), Entry::text(""));
        files.iter().map(file).collect()
    }

    #[test]
    fn the_newer_generation_is_known_by_its_exchange_or_its_templates() {
        for file in [
            ".jules/exchange/events/pending/.gitkeep",
            ".jules/roles/narrator/narrator_prompt.j2",
        ] {
            assert_eq!(Layout::find(&tree(&[file])), Ok(Layout::Exchange), "{file}");
        }
        let named = ".jules/workstreams/billing/exchange/events/pending/.gitkeep";
        let files = tree(&[".jules/exchange/changes.yml", named]);
        assert_eq!(Layout::paths(&files), Ok(&EXCHANGE));
    }

    #[test]
    fn no_file_of_a_session_makes_it_another_generation() {
        let event = ".jules/exchange/events/pending/prompt.yml";
        assert_eq!(Layout::find(&tree(&[event])), Ok(Layout::Exchange));
        let issue = ".jules/workstreams/generic/issues/bugs/a_prompt.j2";
        assert_eq!(Layout::find(&tree(&[issue])), Ok(Layout::Workstreams));
    }

    #[test]
    fn the_older_generation_has_paths_of_its_own_and_lacks_what_the_newer_one_has() {
        for file in [
            ".jules/workstreams/generic/events/pending/.gitkeep",
            ".jules/workstreams/generic/exchange/issues/bugs/a.yml",
            ".jules/workstreams/generic/scheduled.toml",
            ".jules/changes/latest.yml",
            ".jules/roles/observers/qa/prompt.yml",
        ] {
            assert_eq!(
                Layout::find(&tree(&[file])),
                Ok(Layout::Workstreams),
                "{file}"
            );
            let paths = Layout::paths(&tree(&[file])).unwrap();
            assert!(paths.is_older());
            assert_eq!(
                paths.requirements.contains("/exchange/"),
                file.contains("/exchange/")
            );
            assert!(Layout::is_older(&tree(&[file])));
            let refused = Layout::newer(&tree(&[file])).unwrap_err().to_string();
            assert!(refused.contains(file), "{refused}");
        }
    }

    #[test]
    fn the_folder_of_an_older_requirement_says_its_label() {
        let label = |paths: &Paths, path: &str| {
            let path: TreePath = path.parse().unwrap();
            paths.label_of(&path).map(str::to_owned)
        };
        let bugs = Some("bugs".to_owned());
        let issue = ".jules/workstreams/generic/issues/bugs/a.yml";
        assert_eq!(label(&WORKSTREAMS, issue), bugs);
        let late = ".jules/workstreams/generic/exchange/issues/bugs/a.yml";
        assert_eq!(label(&WORKSTREAMS_WITH_EXCHANGE, late), bugs);
        for none in [
            ".jules/workstreams/generic/issues/a.yml",
            ".jules/workstreams/generic/issues/bugs/deep/a.yml",
            ".jules/workstreams/generic/issues-old/bugs/a.yml",
        ] {
            assert_eq!(label(&WORKSTREAMS, none), None, "{none}");
        }
        assert_eq!(
            label(&EXCHANGE, ".jules/exchange/requirements/bugs/a.yml"),
            None
        );
    }

    #[test]
    fn two_generations_are_an_error_and_never_a_guess() {
        let files = [".jules/changes/latest.yml", ".jules/exchange/changes.yml"];
        let found = Layout::find(&tree(&files)).unwrap_err().to_string();
        for file in files {
            assert!(found.contains(file), "{found}");
        }
        assert_eq!(
            Layout::find(&tree(&["src/lib.rs"])),
            Err(LayoutError::Missing)
        );
    }

    #[test]
    fn personas_and_mail_make_no_branch_that_of_the_system() {
        let people = [
            ".jules/personas/art/prompt.md",
            ".jules/mail/events.jsonl",
            ".jlo/config.toml",
        ];
        assert_eq!(of_system(&tree(&people)).count(), 0);
        for file in [".jules/JULES.md", ".jules/mailbox", ".jules/personas"] {
            let files = tree(&[people[0], file]);
            let found: Vec<_> = of_system(&files).map(TreePath::as_str).collect();
            assert_eq!(found, [file]);
        }
    }

    #[test]
    fn a_layer_is_read_from_the_first_folder_that_holds_it() {
        let folder = |files: &[&str]| EXCHANGE.layer(&tree(files), Layer::Decider);
        assert_eq!(folder(&[]), ".jules/roles/decider");
        let plural = ".jules/roles/deciders/contracts.yml";
        assert_eq!(folder(&[plural]), ".jules/roles/deciders");
        let both = [plural, ".jules/layers/decider/contracts.yml"];
        assert_eq!(folder(&both), ".jules/layers/decider");
    }

    #[test]
    fn schemas_may_lie_apart_from_their_layer() {
        let folder = |files: &[&str]| EXCHANGE.schemas(&tree(files), Layer::Decider);
        assert_eq!(folder(&[]), ".jules/roles/decider/schemas");
        let apart = ".jules/schemas/deciders/issue.yml";
        assert_eq!(folder(&[apart]), ".jules/schemas/deciders");
        let both = [apart, ".jules/roles/decider/schemas/issue.yml"];
        assert_eq!(folder(&both), ".jules/roles/decider/schemas");
    }

    #[test]
    fn a_role_of_the_users_own_has_a_folder_in_a_layer_of_roles_only() {
        let role = "taxonomy".parse().unwrap();
        let own = |layer| own_role(layer, Some(&role));
        assert_eq!(
            own(Layer::Observers),
            ".jlo/roles/observers/taxonomy/role.yml"
        );
        assert_eq!(own(Layer::Planner), ".jlo/roles/planner/role.yml");
    }
}
