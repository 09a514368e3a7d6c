//! Who works in each stream: as the settings say, and in the older generation as its own schedules and lists of files do.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use domain::ids::{RoleName, StreamName};
use domain::layer::Layer;
use domain::pipeline::MEMBERS_MAX;
use toml_edit::TableLike;

use super::reader::Reader;
use super::{Config, Scheduled, Unusable, document};
use crate::fault::Fault;
use crate::layout::{Layout, Paths, schedule_file, streams};
use crate::prompt::older;
use crate::tree::Tree;

/// The newest form of a `scheduled.toml`, which is the only one.
const VERSION_MAX: u32 = 1;

/// What is wrong with a `scheduled.toml` that is there and cannot be read.
const NO_TEXT: &str = "it is no text file: save it as UTF-8 with at most 64 KB";

/// The agents of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamAgents {
    /// The stream.
    pub stream: StreamName,
    /// Whether it runs.
    pub runs: bool,
    /// Its observers.
    pub observers: Vec<Scheduled>,
    /// Its decider.
    pub decider: DecidedBy,
}

/// Who decides about the events of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidedBy {
    /// The layer, which is one agent.
    Layer,
    /// One of its roles, which only the older generation has.
    Role(RoleName),
    /// Its decider is switched off.
    Off,
}

/// The agents of every stream, those of `generic` first. In the older generation no settings name them.
///
/// # Errors
/// When a schedule of the older generation cannot be used.
pub fn agents(config: &Config, worker: &Tree) -> Result<Vec<StreamAgents>, Unusable> {
    match Layout::paths(worker) {
        Ok(paths) if paths.is_older() => of_older(worker, paths).map_err(Unusable::Faulty),
        Ok(_) | Err(_) => Ok(of_settings(config)),
    }
}

/// The role that decides in a stream of the older generation, as a run takes it; none where the layer itself does, or nothing.
pub fn role_that_decides(worker: &Tree, stream: &StreamName) -> Option<RoleName> {
    let paths = Layout::paths(worker).ok();
    let paths = paths.filter(|paths| paths.is_older())?;
    // A schedule that cannot be used stops the run, and says so there.
    let agents = of_older(worker, paths).ok()?;
    let own = agents.into_iter().find(|it| it.stream == *stream)?;
    match own.decider {
        DecidedBy::Role(role) => Some(role),
        DecidedBy::Layer | DecidedBy::Off => None,
    }
}

fn of_settings(config: &Config) -> Vec<StreamAgents> {
    let generic = StreamAgents {
        stream: StreamName::default(),
        runs: true,
        observers: config.observers.clone(),
        decider: DecidedBy::Layer,
    };
    let named = config.workstreams.iter().map(|(stream, it)| StreamAgents {
        stream: stream.clone(),
        runs: it.enabled,
        observers: it.observers.clone(),
        decider: match it.decides() {
            true => DecidedBy::Layer,
            false => DecidedBy::Off,
        },
    });
    std::iter::once(generic).chain(named).collect()
}

/// The agents of a tree of the older generation: those that the `scheduled.toml` of a stream enables, or where it says nothing of a layer,
/// those whose lists name the stream.
pub(crate) fn of_older(worker: &Tree, paths: &Paths) -> Result<Vec<StreamAgents>, Vec<Fault>> {
    let observers = older::listed(worker, paths, Layer::Observers);
    let deciders = older::listed(worker, paths, Layer::Decider);
    let mut all = streams(worker);
    // One that a list names and that is not there fails once its agent is to work in it.
    let named = observers.iter().chain(&deciders);
    all.extend(named.filter_map(|(_, stream)| stream.clone()));
    let mut seen = BTreeSet::new();
    all.retain(|stream| seen.insert(stream.clone()));
    let (mut agents, mut faults) = (Vec::new(), Vec::new());
    for stream in all {
        match StreamSchedule::read(worker, &stream) {
            Ok(said) => agents.push(said.agents(stream, &observers, &deciders)),
            Err(more) => faults.extend(more),
        }
    }
    let running = agents.iter().filter(|it| it.runs);
    let running = running.flat_map(|it| &it.observers);
    let count = running.filter(|role| role.enabled).count();
    if count > MEMBERS_MAX {
        let what =
            format!("has {count} enabled roles in all streams: a step has at most {MEMBERS_MAX}");
        let folder = paths.layer(worker, Layer::Observers);
        faults.push(Fault::new(&folder, 1, what));
    }
    match faults.is_empty() {
        true => Ok(agents),
        false => Err(faults),
    }
}

/// The roles of a layer that have a list of files, each with the stream that its list names.
type Listed = [(RoleName, Option<StreamName>)];

/// What a `scheduled.toml` says; nothing of a layer that it leaves out.
struct StreamSchedule {
    enabled: bool,
    observers: Option<Vec<Scheduled>>,
    deciders: Option<Vec<Scheduled>>,
}

impl StreamSchedule {
    fn read(worker: &Tree, stream: &StreamName) -> Result<Self, Vec<Fault>> {
        let file = schedule_file(stream);
        let text = match worker.text(&file) {
            Some(text) => text,
            // It may switch agents off.
            None if worker.has(&file) => return Err(vec![Fault::new(&file, 1, NO_TEXT)]),
            None => "",
        };
        let document = document(&file, text)?;
        let root = document.as_table();
        let mut reader = Reader::new(&file, text);
        let keys = ["version", "enabled", "observers", "deciders"];
        reader.known("the file", root, &keys);
        let _checked = reader.positive(root, "version", VERSION_MAX);
        let said = Self {
            enabled: reader.boolean(root, "enabled").unwrap_or(true),
            observers: roles(&mut reader, root, "observers"),
            deciders: roles(&mut reader, root, "deciders"),
        };
        match reader.faults() {
            faults if faults.is_empty() => Ok(said),
            faults => Err(faults),
        }
    }

    fn agents(self, stream: StreamName, observers: &Listed, deciders: &Listed) -> StreamAgents {
        let listed = |listed: &Listed| -> Vec<Scheduled> {
            let own = listed.iter().filter(|(_, of)| match of {
                Some(of) => *of == stream,
                None => stream.is_generic(),
            });
            let own = own.map(|(role, _)| Scheduled {
                name: role.clone(),
                enabled: true,
                line: 1,
            });
            own.collect()
        };
        let observers = self.observers.unwrap_or_else(|| listed(observers));
        let decider = match self.deciders {
            // All events of a stream are for one decider: the first.
            Some(named) => match named.into_iter().find(|it| it.enabled) {
                Some(first) => DecidedBy::Role(first.name),
                None => DecidedBy::Off,
            },
            None => match listed(deciders).into_iter().next() {
                Some(first) => DecidedBy::Role(first.name),
                None => DecidedBy::Layer,
            },
        };
        StreamAgents {
            runs: self.enabled,
            observers,
            decider,
            stream,
        }
    }
}

fn roles(reader: &mut Reader<'_>, root: &dyn TableLike, layer: &str) -> Option<Vec<Scheduled>> {
    let section = reader.section(root, layer, &["roles"])?;
    Some(reader.roles(section, "roles"))
}
