//! Reading YAML that sessions and people wrote, within limits, with the line of everything.
//!
//! A doubled key, an alias that grows, or a merge key is refused: two readers must never see two different files.
//! Scalars keep the text that stands in the file, so the id `123e45` stays an id although YAML calls it a number.

mod node;

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Options};

use crate::fault::{Fault, line_at, shown};

pub use node::{MapEntry, Node, Plain, Value};

/// The largest YAML file that is parsed, in bytes: eight times what a prompt may include.
pub const YAML_BYTES_MAX: usize = 512 * 1_024;

/// How deep a file may be nested; the schemas nest four deep.
const DEPTH_MAX: usize = 24;

/// The most scalars, lists and maps of a file: a full file of short lines has fewer.
const NODES_MAX: usize = 50_000;

/// The most aliases of a file; no schema has any.
const ALIASES_MAX: usize = 50;

/// The most events that all aliases of a file may stand for together.
const REPLAYED_EVENTS_MAX: usize = 5_000;

/// Reads a file into a type of ours.
pub fn read<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, Fault> {
    let text = text(file, bytes)?;
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| fault(file, text, &error))
}

/// Reads a file as it stands: every key and value with its line.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Node, Fault> {
    let text = text(file, bytes)?;
    serde_saphyr::from_str_with_options::<node::Raw>(text, options())
        .map(|raw| raw.resolve(text))
        .map_err(|error| fault(file, text, &error))
}

/// The bytes as text, if there are not too many.
fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Fault> {
    if bytes.len() > YAML_BYTES_MAX {
        let what = format!(
            "the file has {} bytes, and at most {YAML_BYTES_MAX} are read; shorten or split it",
            bytes.len()
        );
        return Err(Fault::new(file, 1, what));
    }
    str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Fault::new(file, line, "the file is not UTF-8; save it as UTF-8")
    })
}

fn options() -> Options {
    let mut options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            max_nodes: NODES_MAX,
            max_aliases: ALIASES_MAX,
            max_recorded_anchor_events: REPLAYED_EVENTS_MAX,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        with_snippet: false,
    };
    options.alias_limits.max_total_replayed_events = REPLAYED_EVENTS_MAX;
    options
}

/// The parser's error as one line about one line.
fn fault(file: &str, text: &str, error: &Error) -> Fault {
    let place = error.location();
    let line = place.map_or_else(
        || line_at(text, text.len()),
        |place| usize::try_from(place.line()).unwrap_or(1),
    );
    Fault::new(file, line, sentence(error.without_snippet()))
}

/// What is said of a file beyond a limit.
const TOO_MUCH: &str = "the file is nested too deeply, has too many values, or grows by its aliases; write it out flat";

/// What is wrong, without names of the parser's settings where it would tell them.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's errors, not ours"
)]
fn sentence(error: &Error) -> String {
    match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("the key `{}` stands here twice; keep one", shown(key))
        }
        Error::DuplicateMappingKey { key: None, .. } => {
            "a key stands here twice; keep one".to_owned()
        }
        Error::MergeKeyNotAllowed { .. } => {
            "merge keys (`<<`) are not read; write the keys out".to_owned()
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => TOO_MUCH.to_owned(),
        Error::MultipleDocuments { .. } => {
            "the file has a second document after `---`; keep one".to_owned()
        }
        other => {
            let said = other.to_string();
            // A limit that is reached while an alias is read arrives as a text.
            if said.starts_with("budget breached") {
                return TOO_MUCH.to_owned();
            }
            let what = said.split(" at line ").next().unwrap_or_default();
            shown(what.lines().next().unwrap_or_default())
        }
    }
}
