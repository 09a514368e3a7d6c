//! The files that come with Gaffer: what a repository gets, and the roles that need no file of its own.
//!
//! They are compiled in from `assets`, and no other module holds such a text.

use domain::ids::RoleName;
use domain::layer::Layer;
use include_dir::{Dir, File, include_dir};

use crate::persona;
use crate::tree::TreePath;

static ASSETS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/assets");

/// A file as it is put into a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Where it is put.
    pub path: TreePath,
    /// All of it.
    pub text: &'static str,
}

/// The system's files with the folders of the exchange, in order of path: what bootstrap writes below `.jules/`.
pub fn system() -> Vec<Asset> {
    placed("jules")
}

/// One of the system's files.
pub fn system_file(path: &str) -> Option<&'static str> {
    ASSETS.get_file(path.strip_prefix('.')?)?.contents_utf8()
}

/// The template of the older generation, whose own prompts are lists of files.
pub fn older_template() -> Option<&'static str> {
    ASSETS.get_file("older/prompt.j2")?.contents_utf8()
}

/// The first files of the user's folder, in order of path: what a repository begins with below `.jlo/`.
pub fn control() -> Vec<Asset> {
    placed("jlo")
}

/// The personas that come with Gaffer, in order of path: what a repository begins with below `.jules/personas/`.
pub fn personas() -> Vec<Asset> {
    let folders = ASSETS.get_dir("personas").into_iter().flat_map(Dir::dirs);
    let placed = folders.filter_map(|folder| {
        let id = folder.path().file_name()?.to_str()?;
        let path = persona::path_of(id).parse().ok()?;
        let file = folder.get_file(folder.path().join("prompt.md"))?;
        let text = file.contents_utf8()?;
        Some(Asset { path, text })
    });
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by(|a, b| a.path.cmp(&b.path));
    placed
}

/// The files of one folder of assets, below the hidden folder of that name.
fn placed(folder: &str) -> Vec<Asset> {
    let mut files = Vec::new();
    if let Some(dir) = ASSETS.get_dir(folder) {
        collect(dir, &mut files);
    }
    let placed = files.into_iter().filter_map(|file| {
        let path = format!(".{}", file.path().to_str()?);
        Some(Asset {
            path: path.parse().ok()?,
            text: file.contents_utf8()?,
        })
    });
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by(|a, b| a.path.cmp(&b.path));
    placed
}

fn collect(dir: &'static Dir<'static>, files: &mut Vec<&'static File<'static>>) {
    files.extend(dir.files());
    for inner in dir.dirs() {
        collect(inner, files);
    }
}

/// The focus of a built-in role, as its `role.yml` says it.
pub fn role(layer: Layer, role: &RoleName) -> Option<&'static str> {
    ASSETS
        .get_file(format!("roles/{layer}/{role}/role.yml"))?
        .contents_utf8()
}

/// The form of a role's file: `<role>` and `<layer>` are put in, the other places are for its author.
pub fn role_form() -> &'static str {
    let form = ASSETS.get_file("roles/form.yml");
    form.and_then(|file| file.contents_utf8())
        .unwrap_or_default()
}

/// The built-in roles of a layer, in order of name.
pub fn roles(layer: Layer) -> Vec<RoleName> {
    let name = |folder: &Dir<'_>| folder.path().file_name()?.to_str()?.parse().ok();
    let folder = ASSETS.get_dir(format!("roles/{layer}"));
    let folders = folder.into_iter().flat_map(Dir::dirs);
    let mut roles: Vec<_> = folders.filter_map(name).collect();
    roles.sort();
    roles
}

/// The form that the older generation has for what changed lately.
pub fn older_changes() -> Option<&'static str> {
    ASSETS.get_file("older/change.yml")?.contents_utf8()
}

/// The folder of each component that a session's machine can have.
pub(crate) fn components() -> Option<&'static Dir<'static>> {
    ASSETS.get_dir("setup/components")
}

/// How the script that installs them begins.
pub(crate) fn setup_header() -> Option<&'static str> {
    ASSETS.get_file("setup/header.sh")?.contents_utf8()
}

/// A workflow for GitHub Actions, with places to fill in.
pub(crate) fn workflow(name: &str) -> Option<&'static str> {
    ASSETS.get_file(format!("kit/{name}"))?.contents_utf8()
}

/// A file that is made up for trial runs, with places to fill in.
pub fn mock(name: &str) -> Option<&'static str> {
    ASSETS.get_file(format!("mock/{name}"))?.contents_utf8()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{EXCHANGE, Layout};
    use crate::tree::{Entry, Tree};

    fn tree() -> Tree {
        let files = system().into_iter();
        files
            .map(|file| (file.path, Entry::text(file.text)))
            .collect()
    }

    #[test]
    fn every_file_of_the_folder_is_text_with_a_place() {
        let count = |folder: &str| {
            let mut files = Vec::new();
            collect(ASSETS.get_dir(folder).unwrap(), &mut files);
            files.len()
        };
        assert_eq!(system().len(), count("jules"));
        assert_eq!(control().len(), count("jlo"));
        assert!(
            system()
                .iter()
                .all(|it| it.path.as_str().starts_with(".jules/"))
        );
        assert!(
            control()
                .iter()
                .all(|it| it.path.as_str().starts_with(".jlo/"))
        );
    }

    #[test]
    fn what_a_repository_gets_is_in_the_newer_layout() {
        let tree = tree();
        assert_eq!(Layout::find(&tree), Ok(Layout::Exchange));
        for layer in Layer::ALL {
            for file in [
                EXCHANGE.template(&tree, layer),
                EXCHANGE.contracts(&tree, layer),
            ] {
                assert!(tree.has(&file), "{file}");
            }
            let tasks = format!("{}/tasks", EXCHANGE.layer(&tree, layer));
            assert!(tree.has_folder(&tasks), "{tasks}");
        }
        for file in [EXCHANGE.rules, EXCHANGE.guide, EXCHANGE.labels] {
            assert!(tree.has(file), "{file}");
        }
        for folder in [
            &*EXCHANGE.pending,
            &*EXCHANGE.decided,
            &*EXCHANGE.requirements,
            EXCHANGE.proposals,
            &*EXCHANGE.workstations,
        ] {
            assert!(tree.has_folder(folder), "{folder}");
        }
    }

    #[test]
    fn only_layers_of_roles_have_built_in_ones() {
        let names = |layer| {
            let roles = roles(layer).into_iter();
            roles.map(String::from).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            names(Layer::Observers),
            "cli_sentinel codifier consistency cov data_arch devops gopher librarian localization \
             observability prompt_optimizer pythonista qa rustacean structural_arch swifter tactician \
             taxonomy typescripter ui_designer"
        );
        assert_eq!(
            names(Layer::Innovators),
            "cli_seeder leverage_architect recruiter"
        );
        assert_eq!(names(Layer::Planner), "");
        for layer in [Layer::Observers, Layer::Innovators] {
            for name in roles(layer) {
                let text = role(layer, &name).unwrap();
                assert!(text.starts_with(&format!("role: {name}\nlayer: {layer}\n")));
            }
        }
        assert_eq!(role(Layer::Observers, &"newcomer".parse().unwrap()), None);
    }

    #[test]
    fn the_five_labels_have_their_colours() {
        let labels = tree().text(EXCHANGE.labels).unwrap().to_owned();
        let labels: serde_json::Value = serde_json::from_str(&labels).unwrap();
        let colour = |label: &str| labels["issue_labels"][label]["color"].as_str();
        let colours = ["bugs", "feats", "refacts", "tests", "docs"].map(colour);
        let expected = ["d73a4a", "ff6600", "0e8a16", "5319e7", "0075ca"].map(Some);
        assert_eq!(colours, expected);
        assert_eq!(labels["schema_version"], 1);
    }
}
