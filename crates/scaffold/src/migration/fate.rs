//! What becomes of one file of the older layout, by its path.

use domain::ids::StreamName;

use crate::assets;
use crate::layout::{EXCHANGE, SYSTEM, WORKSTREAMS};
use crate::tree::{Content, Entry, TreePath};

/// The folders with the files of layers, which are the system's: the newer layout has its own.
pub(super) const LAYERS: [&str; 2] = [".jules/roles", ".jules/layers"];

/// A folder of schemas apart from their layers.
const SCHEMAS: &str = ".jules/schemas";

/// The folders of streams.
const STREAMS: &str = ".jules/workstreams";

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes there, if no other file is there.
    Goes(String),
    /// It is a requirement and goes there.
    Requirement {
        /// The label of its folder.
        label: String,
        /// Its place.
        to: String,
    },
    /// It is kept apart, since the newer layout has no place for it.
    Kept,
    /// It is empty and kept a folder that goes.
    Dropped,
    /// It is in its place.
    Stays,
    /// It is not known.
    Left,
}

pub(super) fn fate(path: &TreePath, entry: &Entry) -> Fate {
    let fate = whole(path, entry);
    let goes = !matches!(fate, Fate::Stays | Fate::Left);
    let is_empty = matches!(&entry.content, Content::Text(text) if text.is_empty());
    if goes && is_empty && path.file_name() == ".gitkeep" {
        return Fate::Dropped;
    }
    fate
}

fn whole(path: &TreePath, entry: &Entry) -> Fate {
    if let Some(rest) = path.below(STREAMS) {
        return in_stream(rest);
    }
    if let Some(ours) = assets::system_file(path.as_str()) {
        return of_system(ours, entry);
    }
    if path.as_str() == WORKSTREAMS.changes {
        return Fate::Goes(EXCHANGE.changes.to_owned());
    }
    let is_below = |folder: &str| path.below(folder).is_some();
    if LAYERS
        .into_iter()
        .chain([SCHEMAS, ".jules/changes"])
        .any(is_below)
    {
        Fate::Kept
    } else if is_below(&EXCHANGE.workstations) || !is_below(SYSTEM) {
        Fate::Stays
    } else {
        Fate::Left
    }
}

/// A file that both layouts have in one place stays only if it says the same.
fn of_system(ours: &str, entry: &Entry) -> Fate {
    let is_same = matches!(&entry.content, Content::Text(text) if text == ours);
    if is_same && entry.mode.is_regular() {
        Fate::Stays
    } else {
        Fate::Kept
    }
}

/// A file of a stream: `generic` becomes the flat exchange, and the others get one of their own.
fn in_stream(rest: &str) -> Fate {
    let Some((stream, rest)) = rest.split_once('/') else {
        return Fate::Left;
    };
    let is_generic = stream == StreamName::GENERIC;
    let base = if is_generic {
        ".jules/exchange".to_owned()
    } else {
        format!("{STREAMS}/{stream}/exchange")
    };
    let inner = rest.strip_prefix("exchange/");
    let parts: Vec<&str> = inner.unwrap_or(rest).split('/').collect();
    let is_artefact = |file: &str| file.ends_with(".yml");
    match (parts.as_slice(), inner) {
        (["scheduled.toml"], None) => Fate::Kept,
        (["events", ..] | ["proposals", ..], Some(_)) if !is_generic => Fate::Stays,
        (["events", state @ ("pending" | "decided"), file], _) if is_artefact(file) => {
            Fate::Goes(format!("{base}/events/{state}/{file}"))
        }
        (["issues", label, file], _) if is_artefact(file) => Fate::Requirement {
            label: (*label).to_owned(),
            to: format!("{base}/requirements/{file}"),
        },
        (["proposals", file], _) if is_artefact(file) => {
            Fate::Goes(format!("{base}/proposals/{file}"))
        }
        (["events" | "issues" | "proposals", ..], _) => Fate::Kept,
        (["requirements", ..], Some(_)) if !is_generic => Fate::Stays,
        (_, _) => Fate::Left,
    }
}
