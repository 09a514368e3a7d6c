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
    #[error("taking the unwinder's tables out of {}: it is no program for Linux ({why}); build it again", path.display())]
    NoProgram {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Writes the program `from` to `to`, which may be the same, without the tables; returns how many bytes they were.
///
/// # Errors
/// [`Error::File`] and [`Error::NoProgram`]; `to` is as it was then.
pub fn slim(from: &Path, to: &Path) -> Result<usize, Error> {
    let at = |path: &Path| {
        let path = path.to_owned();
        |error| Error::File { path, error }
    };
    let mut program = fs::read(from).map_err(at(from))?;
    let broken = |why: String| Error::NoProgram {
        path: from.to_owned(),
        why,
    };
    let tables = tables(&program).map_err(|error| broken(error.to_string()))?;
    let mut blanked = 0;
    for table in tables {
        let beyond = || broken("a section reaches beyond the end of the file".to_owned());
        let bytes = program.get_mut(table).ok_or_else(beyond)?;
        bytes.fill(0);
        blanked += bytes.len();
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
    let ranges = sections.filter_map(|section| section.file_range());
    // What is too large to be a place in memory is beyond the end of the file as well.
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    Ok(ranges
        .map(|(begin, size)| place(begin)..place(begin.saturating_add(size)))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    /// What a process is ended with that aborts.
    const SIGABRT: i32 = 6;

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
        // In place, and again.
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
    }

    #[test]
    fn a_program_whose_table_is_not_all_there_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("broken");
        let mut program = fs::read(std::env::current_exe().unwrap()).unwrap();
        let number = |at: usize| u64::from_le_bytes(program[at..at + 8].try_into().unwrap());
        // Where the headers of the sections begin, and in each of them its size: ELF-64 Object File Format, tables 1 and 8.
        let headers = usize::try_from(number(0x28)).unwrap();
        let parsed = File::parse(program.as_slice()).unwrap();
        let section = parsed.section_by_name(TABLES[0]).unwrap().index().0;
        let size = headers + section * 64 + 0x20;
        for wrong in [u64::try_from(program.len()).unwrap(), u64::MAX] {
            program[size..size + 8].copy_from_slice(&wrong.to_le_bytes());
            fs::write(&broken, &program).unwrap();
            let refused = slim(&broken, &broken).unwrap_err();
            assert!(refused.to_string().contains("beyond the end"), "{refused}");
            assert_eq!(fs::read(&broken).unwrap(), program);
        }
        fs::write(&broken, &program[..program.len() / 2]).unwrap();
        assert!(matches!(
            slim(&broken, &broken),
            Err(Error::NoProgram { .. })
        ));
    }

    #[test]
    #[should_panic(expected = "it is told")]
    fn whoever_panics_tells_it() {
        panic!("it is told");
    }

    #[test]
    fn a_slim_program_that_panics_tells_it_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (this, slimmed) = (std::env::current_exe().unwrap(), folder.path().join("it"));
        slim(&this, &slimmed).unwrap();
        let ended = Command::new(&slimmed)
            .args(["whoever_panics_tells_it", "--nocapture"])
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains("it is told"), "{said}");
        assert_eq!(ended.status.signal(), Some(SIGABRT), "{said}");
    }
}
