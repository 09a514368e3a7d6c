//! What a session's machine gets installed: `tools.yml` and the components' files become one script.

#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use domain::nearest::meant;
use include_dir::Dir;
use serde::Deserialize;
use toml_edit::{Document, Item, TableLike};

use crate::assets;
use crate::config::is_id;
use crate::fault::{Fault, line_at, shown};
use crate::yaml;

pub use values::Given;

/// The tools that the user wants.
pub const TOOLS: &str = ".jlo/setup/tools.yml";

/// The values that are no secrets.
pub const VARS: &str = ".jlo/setup/vars.toml";

/// The values that only the user may read, and that git ignores.
pub const SECRETS: &str = ".jlo/setup/secrets.toml";

/// All values, in the older generation of this folder. It is read while none of the two is there, and never written.
pub const ENV: &str = ".jlo/setup/env.toml";

/// The tools that the user wants, where the older generation has them. They count while the newer file selects none.
pub const OLDER_TOOLS: &str = ".jules/setup/tools.yml";

/// All values, where the older generation has them.
pub const OLDER_ENV: &str = ".jules/setup/env.toml";

/// What installs the tools.
pub const INSTALL: &str = ".jlo/setup/install.sh";

/// What keeps the secrets out of git.
pub const IGNORED: &str = ".jlo/setup/.gitignore";

/// One thing that can be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its name, which is its folder's.
    pub name: String,
    /// What it is, in a few words.
    pub summary: String,
    /// The components that come before it.
    pub dependencies: Vec<String>,
    /// The variables that its script reads.
    pub vars: Vec<Variable>,
    /// Those of them that are secret.
    pub secrets: Vec<Variable>,
    /// Its part of the script.
    pub script: String,
}

/// A variable of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the environment.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its value where the user gives none.
    pub default: Option<String>,
}

/// Why no script can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// Nothing is selected.
    #[error("no tools are selected; list some in tools.yml, such as: {0}")]
    Nothing(String),
    /// There is no such component.
    #[error("there is no tool `{name}`{hint}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name, as the middle of the sentence.
        hint: String,
        /// All there are.
        known: String,
    },
    /// Components wait for each other.
    #[error("these tools wait for each other: {0}")]
    Cycle(String),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] Fault),
}

/// A file as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Where it lies, from the root of the repository.
    pub path: &'static str,
    /// Who may read, write and run it, as Unix says it.
    pub mode: u32,
    /// All of it.
    pub text: String,
}

/// All components, by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue(BTreeMap<String, Component>);

impl Catalogue {
    /// The components that this program brings along.
    pub fn embedded() -> Result<Self, Fault> {
        let folders = assets::components().into_iter().flat_map(Dir::dirs);
        let components = folders.map(|folder| {
            let name = folder.path().file_name().and_then(|name| name.to_str());
            let text = |file: &str| {
                let file = folder.get_file(folder.path().join(file));
                file.and_then(|file| file.contents_utf8())
                    .unwrap_or_default()
            };
            component(
                name.unwrap_or_default(),
                text("meta.toml"),
                text("install.sh"),
            )
        });
        Ok(Self::from_components(
            components.collect::<Result<Vec<_>, _>>()?,
        ))
    }

    /// A catalogue of these components.
    pub fn from_components(components: impl IntoIterator<Item = Component>) -> Self {
        Self(
            components
                .into_iter()
                .map(|c| (c.name.clone(), c))
                .collect(),
        )
    }

    /// All components in order of name.
    pub fn all(&self) -> impl Iterator<Item = &Component> {
        self.0.values()
    }

    /// A component by its name.
    pub fn get(&self, name: &str) -> Result<&Component, SetupError> {
        self.0.get(name).ok_or_else(|| SetupError::Unknown {
            name: shown(name),
            hint: meant(name, self.0.keys().map(String::as_str)),
            known: self.names(),
        })
    }

    fn names(&self) -> String {
        self.0
            .keys()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// What was selected and what that needs: dependencies first, and ties by name.
    pub fn order(&self, selected: &[String]) -> Result<Vec<&Component>, SetupError> {
        if selected.is_empty() {
            return Err(SetupError::Nothing(self.names()));
        }
        let mut waiting = self.needed(selected)?;
        let mut ordered = Vec::new();
        let mut done = BTreeSet::new();
        while !waiting.is_empty() {
            let ready = waiting.values().find(|component| {
                let mut needs = component.dependencies.iter();
                needs.all(|name| done.contains(name.as_str()))
            });
            let Some(&next) = ready else {
                return Err(SetupError::Cycle(cycle(&waiting)));
            };
            waiting.remove(next.name.as_str());
            done.insert(next.name.as_str());
            ordered.push(next);
        }
        Ok(ordered)
    }

    fn needed(&self, selected: &[String]) -> Result<BTreeMap<&str, &Component>, SetupError> {
        let mut needed = BTreeMap::new();
        let mut open: Vec<&str> = selected.iter().map(String::as_str).collect();
        while let Some(name) = open.pop() {
            let component = self.get(name)?;
            if needed.insert(component.name.as_str(), component).is_none() {
                open.extend(component.dependencies.iter().map(String::as_str));
            }
        }
        Ok(needed)
    }
}

/// One ring among components of which each waits for another one.
fn cycle(waiting: &BTreeMap<&str, &Component>) -> String {
    let mut path: Vec<&str> = Vec::new();
    let mut at = waiting.keys().next().copied();
    while let Some(name) = at {
        if let Some(start) = path.iter().position(|known| *known == name) {
            let ring = path.iter().skip(start).copied().chain([name]);
            return ring.collect::<Vec<_>>().join(" -> ");
        }
        path.push(name);
        let mut needs = waiting.get(name).into_iter().flat_map(|c| &c.dependencies);
        at = needs.find_map(|need| waiting.get_key_value(need.as_str()).map(|(name, _)| *name));
    }
    path.join(" -> ")
}

/// Everything that is generated, from the bytes of `tools.yml` and the files of values that are there.
pub fn plan(
    catalogue: &Catalogue,
    tools: &[u8],
    given: &Given<'_>,
) -> Result<Vec<Planned>, SetupError> {
    let ordered = catalogue.order(&selected(TOOLS, tools)?)?;
    let (vars, secrets) = values::merge(&ordered, given)?;
    let file = |path, mode, text| Planned { path, mode, text };
    Ok(vec![
        // First of all: no moment leaves the secrets to git.
        file(IGNORED, 0o644, ignored(given.ignored.unwrap_or_default())),
        file(SECRETS, 0o600, secrets),
        file(VARS, 0o644, vars),
        file(INSTALL, 0o755, install_script(&ordered)),
    ])
}

/// The user's list of ignored files, with the secrets on it.
fn ignored(text: &str) -> String {
    let name = SECRETS.rsplit('/').next().unwrap_or_default();
    // The last line that speaks of a file counts, and `!` takes it off the list.
    let mut lines = text.lines().rev();
    let last = lines.find(|line| line.trim_start_matches(['!', '/']).trim_end() == name);
    if last.is_some_and(|line| !line.starts_with('!')) {
        return text.to_owned();
    }
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{text}{end}{name}\n")
}

/// The script that installs these, in this order.
pub fn install_script(ordered: &[&Component]) -> String {
    let mut script = assets::setup_header().unwrap_or_default().to_owned();
    for component in ordered {
        let part = component.script.trim();
        script.push_str(&format!("\n# {}\n{part}\n", component.name));
    }
    script
}

/// The tools that a `tools.yml` selects.
pub fn selected(file: &str, bytes: &[u8]) -> Result<Vec<String>, Fault> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Tools {
        #[serde(default)]
        tools: Option<Vec<String>>,
    }
    let tools: Option<Tools> = yaml::read(file, bytes)?;
    Ok(tools.and_then(|tools| tools.tools).unwrap_or_default())
}

/// A component of its two files.
pub fn component(name: &str, meta: &str, script: &str) -> Result<Component, Fault> {
    let file = format!("{name}/meta.toml");
    let document = Document::parse(meta).map_err(|error| {
        let line = line_at(meta, error.span().map_or(0, |span| span.start));
        Fault::new(
            &file,
            line,
            error.message().lines().next().unwrap_or_default(),
        )
    })?;
    if !is_id(name) {
        return Err(Fault::new(
            &file,
            1,
            "the folder's name is no id: letters, digits, `-` and `_`",
        ));
    }
    let text = |key: &str| document.get(key).and_then(Item::as_str);
    let dependencies = document.get("dependencies").and_then(Item::as_array);
    let dependencies = dependencies.into_iter().flatten();
    Ok(Component {
        name: name.to_owned(),
        summary: text("summary").unwrap_or_default().to_owned(),
        dependencies: dependencies
            .filter_map(|v| v.as_str().map(str::to_owned))
            .collect(),
        vars: variables(document.get("vars")),
        secrets: variables(document.get("secrets")),
        script: script.to_owned(),
    })
}

fn variables(item: Option<&Item>) -> Vec<Variable> {
    let table = item.and_then(Item::as_table_like);
    let rows = table.into_iter().flat_map(TableLike::iter);
    rows.map(|(name, item)| {
        let text = |key: &str| item.get(key).and_then(Item::as_str).map(str::to_owned);
        Variable {
            name: name.to_owned(),
            description: text("description").unwrap_or_default(),
            default: text("default"),
        }
    })
    .collect()
}
