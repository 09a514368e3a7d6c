//! The sealed pages of a log on the disk, one file each.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use domain::mail::{self, BadPage, Log, PAGE_EVENTS, Page, Seal};

use super::place::{MailFolder, bytes, replace};

/// The pages that can be relied on: all up to the first that cannot.
#[derive(Debug, Default)]
pub(super) struct Backups {
    /// Each as it was sealed.
    pub(super) pages: Vec<Page>,
    /// How far they seal the log.
    pub(super) seal: Seal,
    /// The first that cannot be relied on, and why.
    pub(super) broken: Option<String>,
}

/// Reads every page.
pub(super) fn read(place: &MailFolder) -> Result<Backups> {
    let mut found = Backups::default();
    let files = files(&place.backups())?;
    for (number, path) in &files {
        match page(path)? {
            Ok(page) => found.pages.push(page),
            Err(why) => {
                found.broken = Some(bad_page_message(*number, path, &why));
                break;
            }
        }
    }
    match mail::chain(&found.pages) {
        Ok(seal) => found.seal = seal,
        Err((number, why)) => {
            let good = usize::try_from(number).unwrap_or(1) - 1;
            // The number is that of its place: the file at it may have another.
            let apart = files.get(good);
            found.broken = apart.map(|(number, path)| bad_page_message(*number, path, &why));
            found.pages.truncate(good);
            found.seal = found.pages.last().map(Page::seals).unwrap_or_default();
        }
    }
    Ok(found)
}

/// How far the last page seals the log, without a look at the others; or why that page cannot be relied on.
pub(super) fn seal(place: &MailFolder) -> Result<Result<Seal, String>> {
    let Some((number, last)) = files(&place.backups())?.pop() else {
        return Ok(Ok(Seal::default()));
    };
    let page = page(&last)?;
    Ok(page
        .map(|page| page.seals())
        .map_err(|why| bad_page_message(number, &last, &why)))
}

fn bad_page_message(number: u64, path: &Path, why: &BadPage) -> String {
    format!("page {number} of the backups, {}: {why}", path.display())
}

fn page(path: &Path) -> Result<Result<Page, BadPage>> {
    let text = String::from_utf8(bytes(path)?);
    Ok(text.map_or(Err(BadPage::Changed), |text| Page::parse(&text)))
}

/// The files of pages by their numbers. Whatever else lies there is none of ours.
fn files(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let doing = || format!("reading {}", folder.display());
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(doing)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(doing)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("page-")?.strip_suffix(".jsonl"));
        let number = number.and_then(|number| number.parse().ok());
        files.extend(number.map(|number| (number, path)));
    }
    files.sort();
    Ok(files)
}

/// How much is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sealing {
    /// Whole pages only.
    Whole,
    /// Everything there is.
    All,
}

/// Seals what no page has yet; returns how many events those were.
pub(super) fn seal_more(place: &MailFolder, log: &Log<'_>, how: Sealing) -> Result<usize> {
    let Backups {
        mut pages, broken, ..
    } = read(place)?;
    if let Some(broken) = broken {
        return Err(super::broken_backups(&broken).into());
    }
    let open = mail::unsealed(log, &pages);
    let each = usize::try_from(PAGE_EVENTS).unwrap_or(usize::MAX);
    let mut count = 0;
    for lines in open.chunks(each) {
        if lines.len() < each && how == Sealing::Whole {
            break;
        }
        count += lines.len();
        let page = Page::seal(pages.last(), lines.to_vec());
        let folder = place.backups();
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let name = format!("page-{:06}.jsonl", page.number());
        replace(&folder.join(name), page.text().as_bytes())?;
        pages.push(page);
    }
    Ok(count)
}
