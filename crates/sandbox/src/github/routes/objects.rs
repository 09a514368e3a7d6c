//! Objects of git that a GraphQL query names by expressions: a commit, and a folder of it with its files, seven deep.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ask::Ask;
use super::reply::{Outcome, Reply, queried};
use crate::github::access::Resource;
use crate::github::contents::{Contents, Found, Listed};
use crate::github::real::refused;
use crate::github::world::{GitHubRefusal, GitHubWorld};

/// Folders within folders that the query asks for.
const DEPTH: usize = 7;

/// GitHub cuts longer texts off.
const TEXT_BYTES_MAX: usize = 512_000;

pub(super) fn answer(world: &GitHubWorld, ask: &Ask, query: &str) -> Outcome {
    let repo = match queried(world, ask, &[Resource::Contents]) {
        Ok(repo) => repo,
        Err(refusal) => return Ok(refusal),
    };
    let found = world.repo(&repo)?;
    let (commit, root) = match &found.contents {
        Some(contents) => {
            let find = |name: &str| contents.find(ask.variable(name)).map_err(refused);
            let root = find("path")?;
            let root = match root {
                Some(root) if query.contains("isTruncated") => whole(contents, &root)?,
                root => root.as_ref().map_or(Value::Null, named),
            };
            (find("commit")?.as_ref().map(named), root)
        }
        // A commit that is made up has no files.
        None => {
            let commit = world.commits.get(ask.variable("commit"));
            let commit = commit.map(|it| json!({ "__typename": "Commit", "oid": it.sha }));
            (commit, Value::Null)
        }
    };
    let shown = json!({ "databaseId": found.id, "commit": commit, "root": root });
    Ok(Reply::json(json!({ "data": { "repository": shown } })))
}

fn named(found: &Found) -> Value {
    let kind = match found.kind.as_str() {
        "commit" => "Commit",
        "tree" => "Tree",
        "blob" => "Blob",
        _ => "Tag",
    };
    json!({ "__typename": kind, "oid": found.oid })
}

/// A folder with its files; an object that is none has no entries.
fn whole(contents: &Contents, root: &Found) -> Result<Value, GitHubRefusal> {
    if root.kind != "tree" {
        return Ok(json!({}));
    }
    let listed = contents.list(&root.oid, true).map_err(refused)?;
    let blobs = listed.iter().filter(|entry| entry.kind == "blob");
    let mut oids: Vec<&str> = blobs.map(|entry| entry.oid.as_str()).collect();
    oids.sort_unstable();
    oids.dedup();
    let blobs = contents.blobs(&oids).map_err(refused)?;
    let folder = Folder {
        listed: &listed,
        blobs: &blobs,
    };
    Ok(folder.entries("", 1))
}

struct Folder<'a> {
    listed: &'a [Listed],
    blobs: &'a BTreeMap<String, Vec<u8>>,
}

impl Folder<'_> {
    fn entries(&self, folder: &str, depth: usize) -> Value {
        let entries = self.listed.iter().filter_map(|entry| {
            let name = entry.path.strip_prefix(folder)?;
            if name.is_empty() || name.contains('/') {
                return None;
            }
            let object = match entry.kind.as_str() {
                "blob" => self.blob(&entry.oid),
                // The query goes no deeper.
                "tree" if depth == DEPTH => json!({}),
                "tree" => self.entries(&format!("{}/", entry.path), depth + 1),
                _ => Value::Null,
            };
            let mode = u32::from_str_radix(&entry.mode, 8).unwrap_or_default();
            Some(json!({ "name": name, "mode": mode, "type": entry.kind, "object": object }))
        });
        json!({ "entries": entries.collect::<Vec<_>>() })
    }

    fn blob(&self, oid: &str) -> Value {
        let bytes = self.blobs.get(oid).map_or(&[][..], Vec::as_slice);
        let is_binary = bytes.contains(&0);
        let shown = bytes.get(..TEXT_BYTES_MAX).unwrap_or(bytes);
        let text = (!is_binary).then(|| String::from_utf8_lossy(shown));
        json!({
            "oid": oid,
            "byteSize": bytes.len(),
            "isBinary": is_binary,
            "isTruncated": bytes.len() > TEXT_BYTES_MAX,
            "text": text,
        })
    }
}
