//! The files below some folders at a commit, each folder in one query.

use domain::failure::Failure;
use domain::ids::{CommitSha, RepoName};
use scaffold::tree::{Content, Entry, Mode, TEXT_BYTES_MAX, Tree};
use serde_json::json;

use super::{at_path, garbled};
use crate::client::Client;
use crate::wire::git as wire;

/// Folders within folders that the query asks for. The deepest path of a pipeline has five.
const DEPTH: usize = 7;

/// More files than the pipeline of any repository has: an exchange holds some dozens.
const FILES_MAX: usize = 2_000;

/// Half of what one answer may weigh: JSON doubles what consists of line ends and quotes only.
const TEXT_TOTAL_MAX: usize = 8 * 1_024 * 1_024;

/// Seven levels of entries. GraphQL has no recursion, so each is spelt out.
const ASK: &str = "query($owner:String!,$name:String!,$commit:String!,$path:String!)\
{repository(owner:$owner,name:$name){databaseId commit:object(expression:$commit){__typename oid} root:object(expression:$path)\
{... on Tree{entries{...E object{...F \
... on Tree{entries{...E object{...F \
... on Tree{entries{...E object{...F \
... on Tree{entries{...E object{...F \
... on Tree{entries{...E object{...F \
... on Tree{entries{...E object{...F \
... on Tree{entries{...E object{...F}}}}}}}}}}}}}}}}}}}}}}}} \
fragment E on TreeEntry{name mode type} fragment F on Blob{oid byteSize isBinary isTruncated text}";

/// The modes of git as numbers.
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_644;
/// Git wrote this one before 2005 and reads it as a file still.
const FILE_OF_GROUP: u32 = 0o100_664;
const EXECUTABLE: u32 = 0o100_755;
const LINK: u32 = 0o120_000;
const SUBMODULE: u32 = 0o160_000;

pub(super) async fn read(
    client: &Client,
    repo: &RepoName,
    commit: &CommitSha,
    roots: &[&str],
) -> Result<Tree, Failure> {
    let mut gathered = Gathered::default();
    for root in roots {
        let doing = format!("reading the files below {root} at {commit} in {repo}");
        let variables = json!({
            "owner": repo.owner(), "name": repo.name(),
            "commit": commit.as_str(), "path": format!("{commit}:{root}"),
        });
        let found: wire::Folder<wire::GraphTree> =
            client.query(repo, ASK, variables, &doing).await?;
        let found = at_path(client, repo, found, &doing)?;
        if let Some(entries) = found.and_then(|root| root.entries) {
            let taken = gathered.take(root, entries, 1);
            taken.map_err(|what| garbled(&doing, &what))?;
        }
    }
    Ok(gathered.tree)
}

/// The files so far.
#[derive(Default)]
struct Gathered {
    tree: Tree,
    text_bytes: usize,
}

impl Gathered {
    /// Takes the files of a folder and of the folders in it.
    fn take(
        &mut self,
        folder: &str,
        entries: Vec<wire::GraphEntry>,
        depth: usize,
    ) -> Result<(), String> {
        for entry in entries {
            // A name with a slash would be another path than the one that git knows.
            if entry.name.contains('/') {
                return Err(format!("a name in {folder} holds a slash"));
            }
            let path = format!("{folder}/{}", entry.name);
            if entry.mode != FOLDER {
                self.put(&path, entry)?;
                continue;
            }
            if depth == DEPTH {
                return Err(format!("{path} is nested deeper than {DEPTH} folders"));
            }
            let below = entry.object.and_then(|object| object.entries);
            let below = below.ok_or_else(|| format!("GitHub does not list {path}"))?;
            self.take(&path, below, depth + 1)?;
        }
        Ok(())
    }

    fn put(&mut self, path: &str, entry: wire::GraphEntry) -> Result<(), String> {
        let parsed = path.parse();
        let parsed =
            parsed.map_err(|error| format!("the path {path:?} cannot be used: {error}"))?;
        let mode = mode(entry.mode)
            .ok_or_else(|| format!("{path} is of a kind that is not known: {:o}", entry.mode))?;
        let object = entry.object;
        let blob = object.as_ref().and_then(|object| object.oid.clone());
        let content = match object {
            Some(object) => content(object),
            None if mode == Mode::Submodule => Content::NotText,
            None => return Err(format!("GitHub does not show {path}")),
        };
        if let Content::Text(text) = &content {
            self.text_bytes += text.len();
        }
        self.tree.put(
            parsed,
            Entry {
                mode,
                blob,
                content,
            },
        );
        if self.tree.len() > FILES_MAX {
            return Err(format!("there are more than {FILES_MAX} files"));
        }
        if self.text_bytes > TEXT_TOTAL_MAX {
            return Err(format!("the files have more than {TEXT_TOTAL_MAX} bytes"));
        }
        Ok(())
    }
}

fn mode(number: u32) -> Option<Mode> {
    match number {
        FILE | FILE_OF_GROUP => Some(Mode::File),
        EXECUTABLE => Some(Mode::Executable),
        LINK => Some(Mode::Link),
        SUBMODULE => Some(Mode::Submodule),
        _other => None,
    }
}

/// A text that is not all there, or that GitHub made from other bytes, is none.
fn content(object: wire::GraphContent) -> Content {
    if object.byte_size > TEXT_BYTES_MAX || object.is_truncated {
        return Content::TooLarge;
    }
    match object.text {
        Some(text) if object.is_binary != Some(true) && text.len() == object.byte_size => {
            Content::Text(text)
        }
        Some(_) | None => Content::NotText,
    }
}
