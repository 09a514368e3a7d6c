//! What a template may include, and how it stands in the prompt.
//!
//! An included file is data: it is never rendered, and what sessions or people wrote is fenced. Nothing in it looks like a secret.

use std::str::FromStr;
use std::sync::Arc;

use domain::fence::{encoded_len, fence};
use domain::ids::RoleName;
use domain::layer::Layer;
use domain::redact::presentable;

use crate::assets;
use crate::exchange;
use crate::layout::{OLDER_SETUP, OWN_ROLES, SETUP, SYSTEM, is_written_by_sessions};
use crate::tree::{Content, InvalidPath, TEXT_BYTES_MAX, Tree, TreePath};

/// The two trees that a prompt is made from, which are one and the same in a checked-out folder.
#[derive(Debug, Clone)]
pub struct Trees {
    /// The target branch, where the user's files are read.
    pub target: Arc<Tree>,
    /// The worker branch, where the system's files are read.
    pub worker: Arc<Tree>,
}

/// Where an included text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The user's files on the target branch.
    Target,
    /// The system's files on the worker branch.
    Worker,
    /// A role that comes with Gaffer.
    BuiltIn,
    /// The schema of a file that is not there yet.
    Schema(TreePath),
}

/// One text of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Included {
    /// The file that was asked for.
    pub path: TreePath,
    /// Where its text comes from.
    pub origin: Origin,
    /// What it takes of the prompt, in bytes as JSON.
    pub bytes: usize,
}

/// Why a file cannot be included.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IncludeError {
    /// It is no path of a repository.
    #[error("`{path}` cannot be included: {why}")]
    Path {
        /// What was asked for, cut and without hidden characters.
        path: String,
        /// The rule that it breaks.
        why: InvalidPath,
    },
    /// It lies where prompts read nothing.
    #[error(
        "`{0}` cannot be included: prompts read files below `{SYSTEM}/` and `{OWN_ROLES}/` only"
    )]
    Outside(TreePath),
    /// It is part of the setup, which has secrets.
    #[error("`{0}` is never included: `{SETUP}/` and `{OLDER_SETUP}/` may hold secrets")]
    Setup(TreePath),
    /// It is not there.
    #[error("`{0}` is required and not there: bootstrap puts back the system's files")]
    Missing(TreePath),
    /// It is not there in the older layout, into which bootstrap writes nothing.
    #[error("`{0}` is required and not there: put it back, or migrate the repository")]
    MissingOlder(TreePath),
    /// It is a link or another repository.
    #[error("`{0}` cannot be included: it is no regular file")]
    Irregular(TreePath),
    /// It is not UTF-8.
    #[error("`{0}` cannot be included: it is not UTF-8")]
    NotText(TreePath),
    /// It is too large.
    #[error("`{0}` cannot be included: it has more than {TEXT_BYTES_MAX} bytes")]
    Large(TreePath),
}

/// What a text that is no path shows of itself.
const WRONG_PATH_CHARS_MAX: usize = 80;

/// A text as it stands in the prompt, and where it comes from.
pub(super) struct Text {
    pub(super) included: Included,
    pub(super) shown: String,
}

/// Finds what templates ask for.
#[derive(Debug, Clone)]
pub(super) struct Shelf {
    pub(super) trees: Trees,
    /// The folder of the layer's schemas.
    pub(super) schemas: String,
    /// Whether the files are those of the older layout.
    pub(super) is_older: bool,
}

impl Shelf {
    /// A file that has to be there; one that is not may come from the schema of that name.
    pub(super) fn required(&self, path: &str) -> Result<Text, IncludeError> {
        let path = allowed(path)?;
        if let Some(text) = self.find(&path)? {
            return Ok(text);
        }
        let schema = format!("{}/{}", self.schemas, path.file_name());
        let seed = self.trees.worker.text(&schema).zip(schema.parse().ok());
        match seed {
            Some((text, schema)) => Ok(shown(path, Origin::Schema(schema), text)),
            None if self.is_older => Err(IncludeError::MissingOlder(path)),
            None => Err(IncludeError::Missing(path)),
        }
    }

    /// A file that may be missing. What a trial run made up is, to agents that are real.
    pub(super) fn optional(&self, path: &str) -> Result<Option<Text>, IncludeError> {
        let path = allowed(path)?;
        match exchange::is_real(&self.trees.worker, &path) {
            true => self.find(&path),
            false => Ok(None),
        }
    }

    fn find(&self, path: &TreePath) -> Result<Option<Text>, IncludeError> {
        let (tree, origin) = match path.below(SYSTEM) {
            Some(_) => (&self.trees.worker, Origin::Worker),
            None => (&self.trees.target, Origin::Target),
        };
        let Some(entry) = tree.get(path) else {
            return Ok(built_in(path));
        };
        if !entry.mode.is_regular() {
            return Err(IncludeError::Irregular(path.clone()));
        }
        match &entry.content {
            Content::Text(text) => Ok(Some(shown(path.clone(), origin, text))),
            Content::NotText => Err(IncludeError::NotText(path.clone())),
            Content::TooLarge => Err(IncludeError::Large(path.clone())),
        }
    }
}

/// A path below the folders that prompts read.
fn allowed(path: &str) -> Result<TreePath, IncludeError> {
    let wrong = |why| IncludeError::Path {
        path: presentable(path, WRONG_PATH_CHARS_MAX),
        why,
    };
    let path = TreePath::from_str(path).map_err(wrong)?;
    if [SETUP, OLDER_SETUP]
        .iter()
        .any(|folder| path.below(folder).is_some())
    {
        return Err(IncludeError::Setup(path));
    }
    if path.below(SYSTEM).is_none() && path.below(OWN_ROLES).is_none() {
        return Err(IncludeError::Outside(path));
    }
    Ok(path)
}

/// The built-in role whose own file is not there.
fn built_in(path: &TreePath) -> Option<Text> {
    let rest = path.below(OWN_ROLES)?;
    let mut parts = rest.strip_suffix("/role.yml")?.split('/');
    let layer = Layer::ALL
        .into_iter()
        .find(|layer| Some(layer.name()) == parts.clone().next())?;
    let role: RoleName = parts.nth(1)?.parse().ok()?;
    if parts.next().is_some() {
        return None;
    }
    let text = assets::role(layer, &role)?;
    Some(shown(path.clone(), Origin::BuiltIn, text))
}

/// Whether a text stands in a fence: it is no word of Gaffer's own, so it neither adds a section to the prompt nor hides one.
fn is_fenced(path: &TreePath, origin: &Origin) -> bool {
    match origin {
        // The user's own roles are the only files of the target branch that are included.
        Origin::Target => true,
        Origin::Worker => is_written_by_sessions(path.as_str()),
        Origin::BuiltIn | Origin::Schema(_) => false,
    }
}

/// A text as it stands in a prompt.
fn shown(path: TreePath, origin: Origin, text: &str) -> Text {
    let clean = presentable(text, TEXT_BYTES_MAX);
    let shown = if is_fenced(&path, &origin) {
        fence(path.as_str(), &clean, TEXT_BYTES_MAX)
    } else {
        clean.trim_end().to_owned()
    };
    let bytes = encoded_len(&shown);
    Text {
        included: Included {
            path,
            origin,
            bytes,
        },
        shown,
    }
}
