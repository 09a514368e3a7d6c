//! The transcript's file: made before anything is spent, read by its owner only, and put in its place when it is whole.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use crate::error::Error;

/// Where the transcript will be. Until it is written, what stands there stays.
pub(super) struct Kept {
    place: PathBuf,
    /// Beside the place, with the mode 0600, whatever the mode of a file that is replaced.
    file: NamedTempFile,
}

impl Kept {
    /// Makes sure that there can be a file in this place.
    pub(super) fn prepare(place: &Path) -> Result<Self> {
        let next = "give another file with `--transcript FILE`";
        let refuse = |why: &str| {
            let what = format!(
                "the transcript cannot be written to {}: {why}",
                place.display()
            );
            Error::usage(what, next)
        };
        let there = std::fs::symlink_metadata(place);
        if there.is_ok_and(|it| !it.is_file()) {
            return Err(refuse("it is no plain file").into());
        }
        let folder = place.parent().filter(|it| !it.as_os_str().is_empty());
        let file = tempfile::Builder::new()
            .prefix(".gaffer-probe-")
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|error| refuse(&error.to_string()))?;
        Ok(Self {
            place: place.to_owned(),
            file,
        })
    }

    /// Writes it whole. One that cannot be put in its place stays beside it, and is named.
    pub(super) fn write(mut self, lines: &str) -> Result<()> {
        let place = self.place.display().to_string();
        self.file
            .write_all(lines.as_bytes())
            .and_then(|()| self.file.as_file().sync_all())
            .with_context(|| format!("writing the transcript {place}"))?;
        self.file.persist(&self.place).map(drop).map_err(|stuck| {
            let error = stuck.error.to_string();
            let kept = stuck.file.keep().map(|(_, path)| path);
            let kept = kept.map_or_else(
                |_| "it is lost".to_owned(),
                |path| format!("it is {} instead", path.display()),
            );
            let what = format!("the transcript could not be put to {place}: {error}; {kept}");
            Error::refused("not_kept", what, "take it from there").into()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_its_owners_only_whatever_stood_there() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("probe.jsonl");
        std::fs::write(&place, "before").unwrap();
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o644)).unwrap();
        let kept = Kept::prepare(&place).unwrap();
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "before");
        kept.write("after").unwrap();
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "after");
        let mode = std::fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_its_place_is_refused_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).unwrap();
        for place in [folder.path(), &folder.path().join("no/x"), &link] {
            assert!(Kept::prepare(place).is_err(), "{}", place.display());
        }
    }

    #[test]
    fn one_that_cannot_be_put_in_its_place_is_kept_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("probe.jsonl");
        let kept = Kept::prepare(&place).unwrap();
        std::fs::create_dir_all(place.join("full")).unwrap();
        let told = kept.write("words").unwrap_err().to_string();
        let beside = std::fs::read_dir(folder.path()).unwrap();
        let beside = beside.map(|it| it.unwrap().path()).find(|it| it.is_file());
        let beside = beside.unwrap();
        assert!(told.contains(&beside.display().to_string()), "{told}");
        assert_eq!(std::fs::read_to_string(beside).unwrap(), "words");
    }
}
