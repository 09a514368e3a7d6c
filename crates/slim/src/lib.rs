//! Takes out of a function's binary what nobody reads on Lambda: the tables of an unwinder.
//!
//! A function ends where it panics, as cargo-lambda builds it, so nothing is ever unwound.
//! The compiler writes the tables all the same, because the standard library is compiled with them, and they are a tenth of a package.
//! They are filled with zeros where they stand, which deflate to nothing: nothing moves, so nothing has to be linked again, for whatever processor the binary is.
//! An unwinder that looks for them, as for a backtrace that `RUST_BACKTRACE` asks for, finds an index of a version that it does not know, and stops at once.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::read::{File, Object, ObjectSection};

/// The tables, and the index of them by which an unwinder finds them.
///
/// Source: Linux Standard Base, "Exception Frames".
const TABLES: [&str; 2] = [".eh_frame", ".eh_frame_hdr"];

/// Why a binary was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read or written.
    #[error("taking the unwinder's tables out of {}: {error}; see that it was built and that its folder may be written", path.display())]
    File {
        /// Which binary.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// It is no program, or a broken one.
    #[error("taking the unwinder's tables out of {}: it is no program for Linux ({error}); build it again", path.display())]
    NoProgram {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        error: object::Error,
    },
}

/// Writes the program `from` to `to`, which may be the same, without the tables; answers how many bytes they were.
///
/// # Errors
/// [`Error::File`] and [`Error::NoProgram`]; `to` is as it was then.
pub fn slim(from: &Path, to: &Path) -> Result<usize, Error> {
    let at = |path: &Path| {
        let path = path.to_owned();
        |error| Error::File { path, error }
    };
    let mut program = fs::read(from).map_err(at(from))?;
    let tables = tables(&program).map_err(|error| Error::NoProgram {
        path: from.to_owned(),
        error,
    })?;
    let mut blanked = 0;
    for table in tables {
        // A section that is said to reach beyond the file's end was refused when it was read.
        if let Some(bytes) = program.get_mut(table) {
            bytes.fill(0);
            blanked += bytes.len();
        }
    }
    // Whoever is stopped here leaves no half of a program.
    let part = to.with_extension("part");
    let allowed = fs::metadata(from).map_err(at(from))?.permissions();
    fs::write(&part, program).map_err(at(&part))?;
    fs::set_permissions(&part, allowed).map_err(at(&part))?;
    fs::rename(&part, to).map_err(at(to))?;
    Ok(blanked)
}

/// Where in the file the tables are.
fn tables(program: &[u8]) -> Result<Vec<Range<usize>>, object::Error> {
    let parsed = File::parse(program)?;
    let sections = TABLES
        .iter()
        .filter_map(|name| parsed.section_by_name(name));
    let mut found = Vec::new();
    for section in sections {
        // Reading it checks that all of it is in the file.
        section.data()?;
        let Some((begin, size)) = section.file_range() else {
            continue;
        };
        let ends = begin
            .checked_add(size)
            .and_then(|end| usize::try_from(end).ok());
        let begins = usize::try_from(begin).ok();
        found.extend(begins.zip(ends).map(|(begin, end)| begin..end));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_without_its_tables_still_runs() {
        let folder = tempfile::tempdir().unwrap();
        let (this, slimmed) = (std::env::current_exe().unwrap(), folder.path().join("it"));
        let blanked = slim(&this, &slimmed).unwrap();
        let (before, program) = (fs::read(&this).unwrap(), fs::read(&slimmed).unwrap());
        let tables = tables(&before).unwrap();
        assert_eq!(tables.len(), TABLES.len());
        let is_table = |at: &usize| tables.iter().any(|table| table.contains(at));
        let (blank, rest): (Vec<_>, Vec<_>) = (0..before.len()).partition(is_table);
        assert!(blanked > 1_000 && blank.len() == blanked, "{blanked}");
        assert!(blank.iter().all(|at| program[*at] == 0));
        assert!(rest.iter().all(|at| program[*at] == before[*at]));
        assert_eq!(program.len(), before.len());
        let said = Command::new(&slimmed).arg("--list").output().unwrap();
        assert!(said.status.success(), "{said:?}");
        assert!(String::from_utf8_lossy(&said.stdout).contains("still_runs: test"));
        // In place, and once more.
        assert_eq!(slim(&slimmed, &slimmed).unwrap(), blanked);
        assert_eq!(fs::read(&slimmed).unwrap(), program);
    }

    #[test]
    fn what_is_no_program_is_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (text, none) = (folder.path().join("text"), folder.path().join("none"));
        fs::write(&text, "no program").unwrap();
        let refused = slim(&text, &text).unwrap_err();
        assert!(matches!(refused, Error::NoProgram { .. }), "{refused}");
        assert!(refused.to_string().contains(&text.display().to_string()));
        assert_eq!(fs::read_to_string(&text).unwrap(), "no program");
        let missing = slim(&none, &text).unwrap_err();
        assert!(missing.to_string().contains("none"), "{missing}");
        // One whose end is missing.
        let this = fs::read(std::env::current_exe().unwrap()).unwrap();
        fs::write(&text, &this[..this.len() / 2]).unwrap();
        assert!(matches!(slim(&text, &text), Err(Error::NoProgram { .. })));
    }
}
