//! What a layer would have written, made up for a trial run: everything around it is real, and no session runs.
//!
//! The first line of each file names its run, by which all of them are found and removed again. Nothing that is real is changed.

#[cfg(test)]
mod tests;

use domain::ids::{ArtefactId, RoleName};
use domain::layer::Layer;
use domain::pipeline::MockTag;
use jiff::civil::Date;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, Value};

use crate::assets;
use crate::engine::strict;
use crate::exchange::{self, marked, replaced, trial_of, with_requirement};
use crate::layout::{Layout, LayoutError, Paths};
use crate::prompt::{Ask, PromptError, Trees, checked, paths_of};
use crate::tree::{Change, Tree, TreePath};
use crate::yaml;

/// The numbers of an innovator's proposals, as their files are called.
const NUMBERS: [&str; 3] = ["one", "two", "three"];

/// Why nothing can be made up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MockError {
    /// The same request would have no prompt either.
    #[error(transparent)]
    Request(#[from] PromptError),
    /// The tree has no layout that can be worked with.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A file has no line that could be changed as the layer would change it.
    #[error(
        "`{path}` has no line `{key}`, so it cannot be changed for a trial run: correct the file first"
    )]
    NoLine {
        /// The file.
        path: TreePath,
        /// The key of the line.
        key: &'static str,
    },
    /// A trial run would change a file that is real.
    #[error(
        "`{0}` is no file of this trial run, which changes nothing that is real: name one that it made"
    )]
    Real(TreePath),
    /// An asset cannot be filled in.
    #[error("the made-up file `{0}` cannot be filled in: this is a defect, please report it")]
    Asset(&'static str),
}

/// What the layer would have changed. Empty where it would have nothing to do.
pub fn changes(
    trees: &Trees,
    ask: &Ask,
    tag: &MockTag,
    today: Date,
) -> Result<Vec<Change>, MockError> {
    let tree = &trees.worker;
    Layout::newer(tree)?;
    let paths = &*paths_of(trees, ask)?;
    checked(trees, ask, paths)?;
    let trial = Trial {
        ask,
        tag,
        today,
        paths,
    };
    match ask.layer {
        Layer::Narrator => trial.summary(tree),
        Layer::Observers => trial.event(),
        Layer::Decider => trial.requirement(tree),
        Layer::Planner => trial.plan(tree),
        Layer::Implementer => trial.implementation(),
        Layer::Innovators => trial.proposals(),
    }
}

/// The files of a trial run: what is removed after it.
pub fn traces(tree: &Tree, tag: &MockTag) -> Vec<TreePath> {
    let Ok(paths) = Layout::newer(tree) else {
        return Vec::new();
    };
    let streams = paths.of_streams(tree);
    let folders = streams.iter().flat_map(Paths::folders);
    let changes = paths.changes.parse().ok();
    let files = folders
        .chain([paths.proposals])
        .flat_map(|folder| tree.below(folder))
        .map(|(path, _)| path.clone())
        .chain(changes);
    files.filter(|path| is_of(tree, path, tag)).collect()
}

/// The requirements of a trial run that ask for deep analysis.
pub fn unplanned(tree: &Tree, paths: &Paths, tag: &MockTag) -> Vec<TreePath> {
    let of_stream = |paths: Paths| {
        let files = tree.below(&paths.requirements).map(|(path, _)| path);
        let wanted = files.filter(|path| {
            let found = exchange::requirement(tree, &paths, path);
            found.is_some_and(|found| found.needs_planning) && is_of(tree, path, tag)
        });
        wanted.cloned().collect::<Vec<_>>()
    };
    let streams = paths.of_streams(tree).into_iter();
    streams.flat_map(of_stream).collect()
}

/// The events of a trial run that wait for its decider.
pub fn pending(tree: &Tree, paths: &Paths, tag: &MockTag) -> Vec<TreePath> {
    let events = exchange::pending_with_trials(tree, paths).into_iter();
    events.filter(|path| is_of(tree, path, tag)).collect()
}

fn is_of(tree: &Tree, path: &TreePath, tag: &MockTag) -> bool {
    trial_of(tree, path).as_ref() == Some(tag)
}

/// One request of a trial run.
struct Trial<'a> {
    ask: &'a Ask,
    tag: &'a MockTag,
    today: Date,
    paths: &'a Paths,
}

impl Trial<'_> {
    /// A real summary stays: the next narrator goes on from it.
    fn summary(&self, tree: &Tree) -> Result<Vec<Change>, MockError> {
        if exchange::has_summary(tree, self.paths) {
            return Ok(Vec::new());
        }
        let text = self.marked("changes.yml", [])?;
        Ok(vec![self.write(self.paths.changes, text)?])
    }

    fn event(&self) -> Result<Vec<Change>, MockError> {
        let path = self.file(&self.paths.pending, self.id(1)?);
        let text = self.marked("event.yml", [])?;
        Ok(vec![self.write(&path, text)?])
    }

    /// Takes the pending events of this trial run into one requirement.
    fn requirement(&self, tree: &Tree) -> Result<Vec<Change>, MockError> {
        let id = self.id(1)?;
        let events = pending(tree, self.paths, self.tag);
        let mut sources = Vec::new();
        let mut changes = Vec::new();
        for path in events {
            let text = tree.text(path.as_str()).unwrap_or_default();
            let node = yaml::parse(path.as_str(), text.as_bytes()).ok();
            let event = node.as_ref().and_then(|node| node.get("id")?.text());
            let event = event.and_then(|id| id.parse::<ArtefactId>().ok());
            let (Some(event), Some(text)) = (event, with_requirement(text, id.as_str())) else {
                let key = "requirement_id";
                return Err(MockError::NoLine { path, key });
            };
            sources.push(event.to_string());
            let place = format!("{}/{}", &self.paths.decided, path.file_name());
            changes.push(self.write(&place, text)?);
            changes.push(Change::Remove(path));
        }
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        let events: Value = sources.into_iter().collect();
        let text = self.marked("requirement.yml", [("events", events)])?;
        let path = self.file(&self.paths.requirements, id);
        changes.push(self.write(&path, text)?);
        Ok(changes)
    }

    /// Marks the requirement as ready, in its own words.
    fn plan(&self, tree: &Tree) -> Result<Vec<Change>, MockError> {
        let Some(path) = self.ask.requirement.clone() else {
            return Err(PromptError::RequirementWanted(self.ask.layer).into());
        };
        if !is_of(tree, &path, self.tag) {
            return Err(MockError::Real(path));
        }
        let text = tree.text(path.as_str()).unwrap_or_default();
        let ready = replaced(text, "requires_deep_analysis", "false")
            .or_else(|| replaced(text, "implementation_ready", "true"));
        match ready {
            Some(text) => Ok(vec![Change::Write(path, text)]),
            None => {
                let key = "requires_deep_analysis";
                Err(MockError::NoLine { path, key })
            }
        }
    }

    fn implementation(&self) -> Result<Vec<Change>, MockError> {
        let requirement = self.ask.requirement.as_ref();
        let name = requirement.map_or("", |path| path.stem());
        let text = self.filled("implementation.md", [("requirement", name.into())])?;
        Ok(vec![self.write(&format!("mock/{}.md", self.tag), text)?])
    }

    fn proposals(&self) -> Result<Vec<Change>, MockError> {
        let role = self.ask.role.as_ref().map_or("", RoleName::as_str);
        let mut changes = Vec::new();
        for (at, number) in NUMBERS.into_iter().enumerate() {
            let id = self.id(at + 1)?.as_str();
            let more = [("id", id.into()), ("number", number.into())];
            let text = self.marked("proposal.yml", more)?;
            let role = role.replace('_', "-");
            let path = format!("{}/{role}-{}-{number}.yml", self.paths.proposals, self.tag);
            changes.push(self.write(&path, text)?);
        }
        Ok(changes)
    }

    fn id(&self, at: usize) -> Result<&ArtefactId, MockError> {
        let ids = &self.ask.ids;
        let missing = || PromptError::Ids {
            wanted: at + 1,
            given: ids.len(),
        };
        Ok(ids.get(at).ok_or_else(missing)?)
    }

    fn file(&self, folder: &str, id: &ArtefactId) -> String {
        format!("{folder}/{id}-{}.yml", self.tag)
    }

    fn write(&self, path: &str, text: String) -> Result<Change, MockError> {
        let path = path.parse();
        path.map(|path| Change::Write(path, text))
            .map_err(|_| MockError::Asset("path"))
    }

    /// The same below the line by which it is found again.
    fn marked<const N: usize>(
        &self,
        name: &'static str,
        more: [(&'static str, Value); N],
    ) -> Result<String, MockError> {
        let text = self.filled(name, more)?;
        Ok(marked(&text, self.tag))
    }

    /// An asset with the values of this run in it.
    fn filled<const N: usize>(
        &self,
        name: &'static str,
        more: [(&'static str, Value); N],
    ) -> Result<String, MockError> {
        let source = assets::mock(name).ok_or(MockError::Asset(name))?;
        let ids: Value = self.ask.ids.iter().map(ArtefactId::as_str).collect();
        let role = self.ask.role.as_ref().map_or("", RoleName::as_str);
        let values = [
            ("tag", self.tag.to_string().into()),
            ("today", self.today.to_string().into()),
            ("role", role.into()),
            ("ids", ids),
        ];
        let values = Value::from_pairs(values.into_iter().chain(more));
        let text = fill(name, source, values).map_err(|_| MockError::Asset(name))?;
        Ok(text + "\n")
    }
}

fn fill(name: &str, source: &str, values: Value) -> Result<String, Error> {
    let environment = strict(&mut SyntaxConfig::builder())?;
    let template = environment.template_from_named_str(name, source)?;
    template.render(values)
}
