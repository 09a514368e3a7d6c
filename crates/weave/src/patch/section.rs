//! A patch cut into the diffs of its files, each with where its hunks end and what its header says.

use super::Fault;
use crate::place::lines;
use crate::tree::{BlobId, Mode};

/// The longest line of a header: two quoted paths of the longest kind. Names are cut at each space in turn.
const HEADER_LINE_BYTES_MAX: usize = 40_000;

/// What begins the diff of a file.
const DIFF: &[u8] = b"diff --git ";

/// What begins a hunk.
const HUNK: &[u8] = b"@@ -";

/// What follows a last line that has no end.
const NO_LINE_END: &[u8] = b"\\ No newline at end of file";

/// The line `index OLD..NEW MODE`: blobs by full or shortened ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The blob before.
    pub old: String,
    /// The blob afterwards.
    pub new: String,
    /// The mode, if it stays.
    pub mode: Option<Mode>,
}

impl Index {
    /// Both ids, if they are full.
    pub fn full(&self) -> Option<(BlobId, BlobId)> {
        Some((self.old.parse().ok()?, self.new.parse().ok()?))
    }
}

/// What the lines before the names say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) index: Option<Index>,
    pub(super) creates: bool,
    pub(super) deletes: bool,
    /// It renames or copies.
    pub(super) moves: bool,
}

/// The diff of one file, without what follows its last hunk.
pub(super) struct Section<'a> {
    pub(super) text: &'a [u8],
    pub(super) header: Option<Header>,
    pub(super) header_is_git: bool,
    pub(super) hunks: usize,
}

/// The sections of a patch: one for each of git's headers, or one of all where there is none.
pub(super) fn split(input: &[u8]) -> Result<Vec<Section<'_>>, Fault> {
    let starts = starts(input);
    let Some(first) = starts.first() else {
        return plain(input).map(|section| vec![section]);
    };
    refuse_hunks(input.get(..*first).unwrap_or_default())?;
    let ends = starts.iter().skip(1).copied().chain([input.len()]);
    let texts = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| input.get(*start..end).unwrap_or_default());
    texts.map(of_git).collect()
}

/// Where the lines are that begin a file's diff: no line of a hunk or of a binary begins like that.
fn starts(input: &[u8]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::new();
    for line in lines(input) {
        if line.starts_with(DIFF) {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

fn of_git(text: &[u8]) -> Result<Section<'_>, Fault> {
    let (end, hunks) = extent(text)?;
    let (text, rest) = text.split_at_checked(end).unwrap_or((text, &[]));
    refuse_hunks(rest)?;
    let header = header(text)?;
    check_blocks(text)?;
    Ok(Section {
        text,
        header: Some(header),
        header_is_git: true,
        hunks,
    })
}

/// A text without git's headers.
fn plain(input: &[u8]) -> Result<Section<'_>, Fault> {
    let hunks = lines(input).filter(|line| line.starts_with(HUNK)).count();
    if hunks == 0 {
        return Err(Fault::NoDiff);
    }
    Ok(Section {
        text: input,
        header: None,
        header_is_git: false,
        hunks,
    })
}

/// Each of the two blocks of a binary ends in an empty line.
fn check_blocks(text: &[u8]) -> Result<(), Fault> {
    let mut rest = lines(text).skip_while(|line| !line.starts_with(b"GIT binary patch"));
    let is_binary = rest.next().is_some();
    let ends = rest
        .filter(|line| *line == b"\n" || *line == b"\r\n")
        .count();
    if is_binary && ends < 2 {
        return Err(Fault::Malformed(
            "a block of a binary breaks off".to_owned(),
        ));
    }
    Ok(())
}

fn refuse_hunks(text: &[u8]) -> Result<(), Fault> {
    if lines(text).any(|line| line.starts_with(HUNK)) {
        return Err(Fault::Malformed(
            "a hunk stands where none belongs".to_owned(),
        ));
    }
    Ok(())
}

/// Where the last hunk ends that follows the header without a gap, and how many there are.
fn extent(text: &[u8]) -> Result<(usize, usize), Fault> {
    let mut at = 0;
    let mut hunks = 0;
    let mut rest = lines(text).peekable();
    while let Some(line) = rest.next_if(|line| !line.starts_with(HUNK)) {
        at += line.len();
    }
    while let Some(line) = rest.next_if(|line| line.starts_with(HUNK)) {
        at += line.len();
        hunks += 1;
        let (mut old, mut new) = counts(line).ok_or_else(|| malformed(line))?;
        while old + new > 0 {
            let line = rest.next().ok_or_else(|| malformed(b"it breaks off"))?;
            at += line.len();
            let (less_old, less_new) = sides(line).ok_or_else(|| malformed(line))?;
            old = old.checked_sub(less_old).ok_or_else(|| malformed(line))?;
            new = new.checked_sub(less_new).ok_or_else(|| malformed(line))?;
        }
        while let Some(line) = rest.next_if(|line| line.starts_with(b"\\")) {
            if !line.starts_with(NO_LINE_END) {
                return Err(malformed(line));
            }
            at += line.len();
        }
    }
    Ok((if hunks == 0 { text.len() } else { at }, hunks))
}

/// How many lines of the old and the new file a line of a hunk is.
fn sides(line: &[u8]) -> Option<(usize, usize)> {
    let line = line.strip_suffix(b"\n")?;
    match line.first().unwrap_or(&b'\n') {
        b' ' | b'\n' => Some((1, 1)),
        b'-' => Some((1, 0)),
        b'+' => Some((0, 1)),
        // What else begins so means the same to git, and nothing to `diffy`.
        b'\\' if line.starts_with(NO_LINE_END) => Some((0, 0)),
        _ => None,
    }
}

/// How many old and new lines `@@ -A,B +C,D @@` announces, each under the longest patch's length.
fn counts(line: &[u8]) -> Option<(usize, usize)> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.strip_prefix("@@ -")?.split(' ');
    let old = count(words.next()?)?;
    let new = count(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

fn count(range: &str) -> Option<usize> {
    let count = range
        .split_once(',')
        .map_or(Some(1), |(_, count)| count.parse().ok());
    count.filter(|count| *count <= super::PATCH_BYTES_MAX)
}

fn malformed(line: &[u8]) -> Fault {
    let shown: String = String::from_utf8_lossy(line)
        .trim_end()
        .chars()
        .take(80)
        .collect();
    Fault::Malformed(format!("a hunk is not as long as it says, at: {shown}"))
}

/// The lines of a diff before its names.
pub(super) fn head(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(text).take_while(|line| {
        !line.starts_with(b"--- ") && !line.starts_with(HUNK) && !line.starts_with(b"GIT ")
    })
}

/// What the lines before the names say; `diffy` leaves some of it out.
fn header(text: &[u8]) -> Result<Header, Fault> {
    let mut header = Header::default();
    for line in head(text) {
        if line.len() > HEADER_LINE_BYTES_MAX {
            return Err(Fault::Malformed(
                "a line of its header is too long".to_owned(),
            ));
        }
        header.creates |= line.starts_with(b"new file mode ");
        header.deletes |= line.starts_with(b"deleted file mode ");
        header.moves |= [
            &b"rename from "[..],
            b"rename to ",
            b"copy from ",
            b"copy to ",
        ]
        .iter()
        .any(|it| line.starts_with(it));
        if let Some(rest) = line.strip_prefix(b"index ") {
            header.index = index(rest)?;
        }
    }
    Ok(header)
}

/// The `index` line; one without two ids is none, as for git, but a mode has to be one.
fn index(rest: &[u8]) -> Result<Option<Index>, Fault> {
    let text = String::from_utf8_lossy(rest);
    let text = text.trim_end_matches(['\n', '\r']);
    let (ids, mode) = text
        .split_once(' ')
        .map_or((text, None), |(ids, mode)| (ids, Some(mode)));
    let is_id = |id: &&str| id.len() <= 40;
    let Some((old, new)) = ids
        .split_once("..")
        .filter(|(old, new)| is_id(old) && is_id(new))
    else {
        return Ok(None);
    };
    let mode = mode.map(|mode| Mode::from_octal(mode.trim_end()).ok_or_else(|| bad_mode(mode)));
    let (old, new) = (old.to_ascii_lowercase(), new.to_ascii_lowercase());
    Ok(Some(Index {
        old,
        new,
        mode: mode.transpose()?,
    }))
}

fn bad_mode(mode: &str) -> Fault {
    let shown: String = mode.chars().take(20).collect();
    Fault::Malformed(format!("its header has no such mode: {shown}"))
}
