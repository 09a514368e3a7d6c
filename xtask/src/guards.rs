//! The guards of an effect's life, each of which can be compiled out to show that it is needed.
//!
//! Cargo calls a link to this very program in place of rustc for our own crates, so that the others are built once for all guards.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

/// Begins the name of the link that compiles without a guard.
const LINK: &str = "rustc-without-";

/// One guard of section 4 of the architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Guard {
    /// The start of an effect is saved under a version check before its call is made.
    ConditionalStarted,
    /// What was started and never recorded is unknown, and only reading the world settles it.
    UnknownSettling,
    /// No state is saved without a version check.
    VersionCheck,
    /// An effect's id is a hash of what it is for.
    StableIds,
    /// A create whose answer was lost is looked for by its marker.
    MarkerSearch,
}

impl Guard {
    /// The word in the code: `cfg!(without_guard = "…")`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ConditionalStarted => "conditional_started",
            Self::UnknownSettling => "unknown_settling",
            Self::VersionCheck => "version_check",
            Self::StableIds => "stable_ids",
            Self::MarkerSearch => "marker_search",
        }
    }

    /// Builds `chaos` without this guard and returns where it is.
    pub(crate) fn build(self, root: &Path) -> Result<PathBuf> {
        let folder = root.join("target").join("guards");
        std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let link = folder.join(format!("{LINK}{}", self.word()));
        let own = std::env::current_exe().context("finding xtask")?;
        std::fs::copy(own, &link).with_context(|| format!("making {}", link.display()))?;
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "chaos"])
            .current_dir(root)
            .env("CARGO_TARGET_DIR", &folder)
            .env("RUSTC_WORKSPACE_WRAPPER", &link)
            .status()
            .context("starting cargo")?;
        ensure!(
            status.success(),
            "chaos without {} does not build",
            self.word()
        );
        Ok(folder.join("debug").join("chaos"))
    }
}

/// When cargo calls this program as a compiler: calls the real one, with the guard switched off.
pub(crate) fn compile_without() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let name = PathBuf::from(arguments.next()?);
    let guard = name.file_name()?.to_str()?.strip_prefix(LINK)?.to_owned();
    let status = Command::new(arguments.next()?)
        .args(arguments)
        .arg("--cfg")
        .arg(format!("without_guard=\"{guard}\""))
        .status();
    let code = status.ok().and_then(|status| status.code()).unwrap_or(1);
    Some(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_manifest() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        for guard in Guard::value_variants() {
            assert!(
                manifest.contains(&format!("\"{}\"", guard.word())),
                "{guard:?}"
            );
        }
    }

    #[test]
    fn under_its_own_name_it_is_no_compiler() {
        assert!(compile_without().is_none());
    }
}
