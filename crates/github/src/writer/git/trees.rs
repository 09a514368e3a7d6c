//! The tree of a commit: that of another one, with edits.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::failure::Failure;
use domain::ids::{CommitSha, RepoName};
use engine::ports::{Edit, NewCommit};
use scaffold::tree::TreePath;
use serde_json::{Value, json};
use weave::tree::Mode;

use super::Endpoint;
use crate::client::Answer;
use crate::reader::git::at_path;
use crate::wire::git as wire;
use crate::writer::Writer;

/// What lies at a path of a commit, or of a tree that no commit has yet.
const ASK: &str = "query($owner:String!,$name:String!,$commit:String!,$path:String!)\
{repository(owner:$owner,name:$name){databaseId commit:object(expression:$commit){__typename oid} root:object(expression:$path){__typename oid}}}";

/// Makes the tree, and answers its id and whether anything had to be written for it.
pub(super) async fn make(
    writer: &Writer,
    repo: &RepoName,
    commit: &NewCommit,
    doing: &str,
) -> Result<(String, bool), Failure> {
    let path = format!("/repos/{repo}/git/commits/{}", commit.files_of);
    let base: wire::GitCommit = writer.client().get(repo, &path, doing).await?;
    let mut tree = base.tree.sha;
    let mut begun = false;
    for bytes in &commit.kept {
        blob(writer, repo, bytes, &mut begun, doing).await?;
    }
    for batch in batches(&commit.edits) {
        let mut entries = Vec::new();
        for edit in batch {
            let place = Place {
                writer,
                repo,
                commit,
                tree: &tree,
            };
            entries.extend(place.entry(edit, &mut begun, doing).await?);
        }
        if entries.is_empty() {
            continue;
        }
        let body = json!({ "base_tree": tree, "tree": entries });
        let answer = send(
            writer,
            Endpoint::post(repo, "git/trees"),
            body,
            &mut begun,
            doing,
        )
        .await?;
        let made: wire::RestTree = answer.json(doing)?;
        tree = made.sha;
    }
    Ok((tree, begun))
}

/// Sends one of the writes of a commit: the first waits for its turn.
async fn send(
    writer: &Writer,
    to: Endpoint<'_>,
    body: Value,
    begun: &mut bool,
    doing: &str,
) -> Result<Answer, Failure> {
    if std::mem::replace(begun, true) {
        writer.follow_up(to, body, doing).await
    } else {
        writer.send_below(to, body, doing).await
    }
}

/// Stores bytes, whatever they are, and answers the id of their blob.
async fn blob(
    writer: &Writer,
    repo: &RepoName,
    bytes: &[u8],
    begun: &mut bool,
    doing: &str,
) -> Result<String, Failure> {
    let body = json!({ "content": STANDARD.encode(bytes), "encoding": "base64" });
    let answer = send(
        writer,
        Endpoint::post(repo, "git/blobs"),
        body,
        begun,
        doing,
    )
    .await?;
    let made: wire::Blob = answer.json(doing)?;
    Ok(made.sha)
}

/// The entry of something that the repository has.
fn named(path: &TreePath, mode: Mode, id: &str) -> Value {
    let kind = match mode {
        Mode::File | Mode::Executable | Mode::Symlink => "blob",
        Mode::Submodule => "commit",
    };
    json!({ "path": path.as_str(), "mode": mode.octal(), "type": kind, "sha": id })
}

/// Edits in their order, in as few trees as possible.
///
/// GitHub does not say what it makes of two entries of which one lies inside the other, so the later one gets a tree of its own.
fn batches(edits: &[Edit]) -> Vec<Vec<&Edit>> {
    let mut batches: Vec<Vec<&Edit>> = Vec::new();
    for edit in edits {
        match batches.last_mut() {
            Some(batch) if !batch.iter().any(|other| overlap(path(other), path(edit))) => {
                batch.push(edit);
            }
            Some(_) | None => batches.push(vec![edit]),
        }
    }
    batches
}

fn path(edit: &Edit) -> &TreePath {
    match edit {
        Edit::Write(path, _)
        | Edit::Put(path, _, _)
        | Edit::Place(path, _)
        | Edit::Remove(path)
        | Edit::TakeFolder(path, _) => path,
    }
}

/// Whether two paths are the same, or one lies inside the other.
fn overlap(one: &TreePath, other: &TreePath) -> bool {
    one == other || one.below(other.as_str()).is_some() || other.below(one.as_str()).is_some()
}

/// Where an edit is made: in a tree that began as that of the commit's `files_of`.
struct Place<'a> {
    writer: &'a Writer,
    repo: &'a RepoName,
    commit: &'a NewCommit,
    tree: &'a str,
}

impl Place<'_> {
    /// The entry of an edit; none if it changes nothing.
    async fn entry(
        &self,
        edit: &Edit,
        begun: &mut bool,
        doing: &str,
    ) -> Result<Option<Value>, Failure> {
        Ok(match edit {
            Edit::Write(path, text) => Some(json!({
                "path": path.as_str(), "mode": "100644", "type": "blob", "content": text,
            })),
            Edit::Put(path, mode, bytes) => {
                let id = blob(self.writer, self.repo, bytes, begun, doing).await?;
                Some(named(path, *mode, &id))
            }
            Edit::Place(path, entry) => Some(named(path, entry.mode, &entry.id.to_string())),
            Edit::Remove(path) => Some(json!({
                "path": path.as_str(), "mode": "100644", "type": "blob", "sha": null,
            })),
            Edit::TakeFolder(path, from) => self.folder(path, from, doing).await?,
        })
    }

    /// A folder as another commit has it. One that is on neither side needs no entry: GitHub refuses to remove what is not there.
    async fn folder(
        &self,
        path: &TreePath,
        from: &CommitSha,
        doing: &str,
    ) -> Result<Option<Value>, Failure> {
        let taken = self.find(from, from.as_str(), path, doing).await?;
        let taken = taken.filter(wire::GraphObject::is_tree);
        if taken.is_none() {
            let base = &self.commit.files_of;
            let here = self.find(base, self.tree, path, doing).await?;
            if here.is_none_or(|here| !here.is_tree()) {
                return Ok(None);
            }
        }
        Ok(Some(json!({
            "path": path.as_str(), "mode": "040000", "type": "tree",
            "sha": taken.map(|folder| folder.oid),
        })))
    }

    async fn find(
        &self,
        commit: &CommitSha,
        tree: &str,
        path: &TreePath,
        doing: &str,
    ) -> Result<Option<wire::GraphObject>, Failure> {
        let (client, repo) = (self.writer.client(), self.repo);
        let variables = json!({
            "owner": repo.owner(), "name": repo.name(),
            "commit": commit.as_str(), "path": format!("{tree}:{path}"),
        });
        let found = client.query(repo, ASK, variables, doing).await?;
        at_path(client, repo, found, doing)
    }
}
