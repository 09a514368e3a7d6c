//! Patches of this machine, woven into a commit of a repository of this machine.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use domain::ids::CommitSha;
use weave::member::{Member, Work};
use weave::patch::{self, PATCH_BYTES_MAX};
use weave::tree::{BlobId, Changes, Mode, Tree};
use weave::weave::{Start, Woven, needs};

use super::show::{Named, WeaveReport};
use super::{index_lines, too_much};
use crate::args::weave::WeaveArgs;
use crate::error::Error;
use crate::git::Git;
use crate::stdin;

const CHECKED_OUT: &str = "HEAD";

/// As many paths as a refusal lists.
const SHOWN_PATHS_MAX: usize = 5;

/// Weaves the patches, and changes the working tree if that is wanted.
pub(super) fn weave(folder: &Path, args: &WeaveArgs) -> Result<WeaveReport> {
    let git = Git::at(folder)?;
    let base = git.must_commit(args.rev.as_deref().unwrap_or(CHECKED_OUT))?;
    let target = git.entries(&base)?;
    let (mut named, mut members, mut starts) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (number, file) in (1..).zip(&args.what) {
        let (patch, old) = index_lines::in_full(&git, read(file)?)?;
        starts.extend(old);
        named.push(Named {
            number,
            name: file.display().to_string(),
        });
        members.push(Member {
            number,
            was_in: None,
            work: Work::Patch(patch),
            refused: Vec::new(),
            target_renamed: BTreeSet::new(),
            begins_on_woven: false,
        });
    }
    let start = Start::at(&target);
    let mut ids = needs(start, &members);
    ids.extend(starts);
    ids.extend(touched(&target, &members));
    let loaded = git.contents(&ids)?;
    let woven = weave::weave::weave(start, &members, args.order, &loaded);
    let woven = woven.map_err(too_much)?;
    let changes = woven.tree.changes_since(&target);
    let written = if args.write {
        write(&git, &base, &changes, &woven)?;
        Some(changes.len())
    } else {
        None
    };
    Ok(WeaveReport {
        base: base.to_string(),
        named,
        files: changes.len(),
        woven,
        written,
        remote: None,
    })
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let limit = PATCH_BYTES_MAX as u64;
    if file.as_os_str() == "-" {
        return stdin::bytes_of_stdin(limit).context("reading a patch from standard input");
    }
    stdin::bytes_of_file(file, limit)
}

/// The blobs at all paths that patches name: what another one made there may have to be merged with.
fn touched(target: &Tree, members: &[Member]) -> BTreeSet<BlobId> {
    let texts = members.iter().filter_map(|member| match &member.work {
        Work::Patch(text) => Some(text),
        Work::Trees { .. } => None,
    });
    let patches: Vec<_> = texts.filter_map(|text| patch::parse(text).ok()).collect();
    let paths = patches.iter().flat_map(|patch| patch.changed());
    let entries = paths.filter_map(|path| target.get(path));
    entries
        .filter(|entry| entry.mode != Mode::Submodule)
        .map(|entry| entry.id)
        .collect()
}

/// Changes files of the working tree that are as the commit has them.
fn write(git: &Git, base: &CommitSha, changes: &Changes, woven: &Woven) -> Result<()> {
    let own = git.changed_since(base)?;
    let dirty: Vec<_> = changes.keys().filter(|path| own.contains(*path)).collect();
    if !dirty.is_empty() {
        let shown: Vec<_> = dirty
            .iter()
            .take(SHOWN_PATHS_MAX)
            .map(|it| it.as_str())
            .collect();
        let more = if dirty.len() > shown.len() {
            " and more"
        } else {
            ""
        };
        let shown = shown.join(", ");
        let what = format!("the working tree has other files than {base}: {shown}{more}");
        let next = "commit or stash your own changes, or weave without `--write`";
        return Err(Error::refused("dirty", what, next).into());
    }
    if changes.is_empty() {
        return Ok(());
    }
    let written = git.change_files(base, changes, &woven.made);
    let place = git.root().display();
    written.with_context(|| format!("changing files in {place}, of which none was changed"))
}
