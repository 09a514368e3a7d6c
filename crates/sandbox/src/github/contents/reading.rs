//! What is read of the bare repository: commits, trees and blobs.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::program::parts;
use super::{Contents, Trouble};

/// A commit as git knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadCommit {
    pub(crate) sha: String,
    pub(crate) tree: String,
    pub(crate) parents: Vec<String>,
    pub(crate) author: String,
    pub(crate) at: Timestamp,
    pub(crate) message: String,
}

/// An object that an expression names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// `commit`, `tree`, `blob` or `tag`.
    pub(crate) kind: String,
    pub(crate) oid: String,
}

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Octal digits.
    pub(crate) mode: String,
    /// `blob`, `tree` or `commit`.
    pub(crate) kind: String,
    pub(crate) oid: String,
    /// Of blobs only.
    pub(crate) size: Option<u64>,
    pub(crate) path: String,
}

impl Contents {
    /// A commit and those that it builds on, without those that others build on; parents come first.
    pub(crate) fn commits(
        &self,
        sha: &str,
        without: &[String],
    ) -> Result<Vec<ReadCommit>, Trouble> {
        let format = "--format=tformat:%H%n%T%n%P%n%an%n%ct%n%B";
        let mut args = vec!["log", "-z", "--topo-order", "--reverse", format, sha];
        if !without.is_empty() {
            args.push("--not");
            args.extend(without.iter().map(String::as_str));
        }
        args.push("--");
        let found = self.program.run(&args)?;
        Ok(parts(&found).iter().filter_map(|it| commit(it)).collect())
    }

    /// The commits that lead to one, drawn as a graph.
    pub(crate) fn log(&self, tip: &str) -> Result<Vec<String>, Trouble> {
        let drawn = self
            .program
            .run(&["log", "--graph", "--format=%h %s", tip, "--"])?;
        let drawn = String::from_utf8_lossy(&drawn).into_owned();
        Ok(drawn
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect())
    }

    /// What an expression such as `SHA:path` names; none if it names nothing.
    pub(crate) fn find(&self, expression: &str) -> Result<Option<Found>, Trouble> {
        if expression.contains(['\n', '\0']) {
            return Ok(None);
        }
        let args = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
        let said = self
            .program
            .feed(&args, format!("{expression}\n").as_bytes())?;
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        let found = said
            .split_once(' ')
            .filter(|(kind, _)| matches!(*kind, "commit" | "tree" | "blob" | "tag"));
        Ok(found.map(|(kind, oid)| Found {
            kind: kind.to_owned(),
            oid: oid.to_owned(),
        }))
    }

    /// The entries of a tree; with those of all folders in it, the folders included.
    pub(crate) fn list(&self, tree: &str, all: bool) -> Result<Vec<Listed>, Trouble> {
        let mut args = vec!["ls-tree", "-l", "-z"];
        if all {
            args.extend(["-r", "-t"]);
        }
        args.push(tree);
        let found = self.program.run(&args)?;
        Ok(parts(&found).iter().filter_map(|it| listed(it)).collect())
    }

    /// The bytes of blobs, in their order.
    pub(crate) fn blobs(&self, oids: &[&str]) -> Result<BTreeMap<String, Vec<u8>>, Trouble> {
        let asked: String = oids.iter().map(|oid| format!("{oid}\n")).collect();
        let output = self
            .program
            .feed(&["cat-file", "--batch"], asked.as_bytes())?;
        let mut blobs = BTreeMap::new();
        let mut rest = output.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let mut words = head.split(' ');
            let (oid, size) = (words.next(), words.nth(1));
            let (Some(oid), Some(size)) = (oid, size.and_then(|it| it.parse::<usize>().ok()))
            else {
                return Err(Trouble::new(format!("git does not show a blob: {head}")));
            };
            let body = rest.get(end + 1..end + 1 + size).unwrap_or_default();
            blobs.insert(oid.to_owned(), body.to_vec());
            rest = rest.get(end + size + 2..).unwrap_or_default();
        }
        Ok(blobs)
    }
}

fn commit(text: &str) -> Option<ReadCommit> {
    let mut lines = text.splitn(6, '\n');
    let mut next = || lines.next();
    let (sha, tree, parents) = (next()?, next()?, next()?);
    let (author, at, message) = (next()?, next()?, next().unwrap_or_default());
    Some(ReadCommit {
        sha: sha.trim().to_owned(),
        tree: tree.to_owned(),
        parents: parents.split_whitespace().map(str::to_owned).collect(),
        author: author.to_owned(),
        at: Timestamp::from_second(at.parse().ok()?).ok()?,
        message: message.trim_end_matches('\n').to_owned(),
    })
}

fn listed(text: &str) -> Option<Listed> {
    let (object, path) = text.split_once('\t')?;
    let mut words = object.split_whitespace().map(str::to_owned);
    Some(Listed {
        mode: words.next()?,
        kind: words.next()?,
        oid: words.next()?,
        size: words.next()?.parse().ok(),
        path: path.to_owned(),
    })
}
