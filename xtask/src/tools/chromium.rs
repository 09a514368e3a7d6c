//! Debian's Chromium without a window, with the libraries and the font that a bare machine lacks: fetched by apt-get from the sources
//! that this machine is set up with, and unpacked instead of installed, so that no one has to be root.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::fetch_with;
use crate::output;

/// The browser, and one font: without any, every text would be invisible. Debian keeps only the newest version of the browser,
/// so none can be asked for.
const WANTED: [&str; 2] = ["chromium-headless-shell", "fonts-dejavu-core"];

/// The browser in the folder.
const PROGRAM: &str = "usr/lib/chromium/chromium-headless-shell";

/// Packages that are left out, by the start of their names: the C library has to be the one of the machine's own loader, and the
/// drivers of graphics cards are large and not used.
const LEFT_OUT: [&str; 3] = ["libc6_", "libllvm", "libgl1-mesa-dri_"];

/// The font whose letters are of one width; its family is not found by its kind.
const MONOSPACE: &str =
    "<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>";

/// Where packages keep what is loaded at the start of a program.
const LIBRARIES: [&str; 2] = ["usr/lib", "lib"];

const ADVICE: &str = "Debian's chromium-headless-shell could not be fetched. The stage needs a Debian with apt-get and dpkg-deb whose \
    sources have that package. See that `apt-get update` works and that `apt-cache policy chromium-headless-shell` names a candidate, \
    and run this again";

/// A browser that is ready to be started.
pub(crate) struct Chromium {
    folder: PathBuf,
}

/// The browser, which is fetched if it is not there yet.
pub(crate) fn chromium(root: &Path) -> Result<Chromium> {
    let folder = root.join("target/tools/chromium-headless-shell");
    if !folder.join(PROGRAM).is_file() {
        output::line("fetching Debian's chromium-headless-shell (once)");
        fetch_with(&folder, &unpacked).context(ADVICE)?;
    }
    ensure!(
        folder.join(PROGRAM).is_file(),
        "the package holds no {PROGRAM}. {ADVICE}"
    );
    let chromium = Chromium { folder };
    chromium.keep_fonts()?;
    Ok(chromium)
}

impl Chromium {
    /// What the script that drives it reads.
    pub(crate) fn environment(&self) -> Result<Vec<(&'static str, String)>> {
        let libraries = self.libraries()?;
        let libraries = env::join_paths(libraries).context("naming the browser's libraries")?;
        let text = |path: &Path| path.display().to_string();
        Ok(vec![
            ("GAFFER_CHROMIUM", text(&self.folder.join(PROGRAM))),
            ("GAFFER_CHROMIUM_LIBRARIES", text(Path::new(&libraries))),
            ("GAFFER_CHROMIUM_FONTS", text(&self.fonts())),
        ])
    }

    fn fonts(&self) -> PathBuf {
        self.folder.join("fonts.conf")
    }

    /// Makes it know this font and no other, so that pages look alike on every machine.
    fn keep_fonts(&self) -> Result<()> {
        let place = |name: &str| self.folder.join(name).display().to_string();
        let text = format!(
            "<?xml version=\"1.0\"?>\n<fontconfig>\n  <dir>{}</dir>\n  <cachedir>{}</cachedir>\n  {MONOSPACE}\n</fontconfig>\n",
            place("usr/share/fonts"),
            place("font-cache")
        );
        let path = self.fonts();
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// The folders with shared libraries: those of the packages are named after the processor, and some have one inside.
    fn libraries(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for place in LIBRARIES {
            let own = folders(&self.folder.join(place))?;
            let named = own
                .into_iter()
                .filter(|path| path.to_string_lossy().ends_with("-linux-gnu"));
            for folder in named {
                let inside = folders(&folder)?;
                found.push(folder);
                found.extend(
                    inside
                        .into_iter()
                        .filter(|path| path.ends_with("pulseaudio")),
                );
            }
        }
        Ok(found)
    }
}

fn folders(place: &Path) -> Result<Vec<PathBuf>> {
    if !place.is_dir() {
        return Ok(Vec::new());
    }
    let reading = || format!("reading {}", place.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(place).with_context(reading)? {
        let path = entry.with_context(reading)?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Fetches the packages with all that they depend on, as though nothing were installed, and unpacks them into `folder`.
fn unpacked(folder: &Path) -> Result<()> {
    let apt = folder.join("apt");
    for place in ["lists/partial", "cache/archives/partial"] {
        let place = apt.join(place);
        fs::create_dir_all(&place).with_context(|| format!("making {}", place.display()))?;
    }
    fs::write(apt.join("status"), "").context("making an empty list of installed packages")?;
    apt_get(&apt, &["update"])?;
    apt_get(
        &apt,
        &[&["install", "--download-only"], &WANTED[..]].concat(),
    )?;
    let archives = apt.join("cache/archives");
    for entry in fs::read_dir(&archives).context("reading what was fetched")? {
        let path = entry.context("reading what was fetched")?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_left_out = LEFT_OUT.iter().any(|start| name.starts_with(start));
        if name.ends_with(".deb") && !is_left_out {
            run(Command::new("dpkg-deb")
                .arg("--extract")
                .arg(&path)
                .arg(folder))?;
        }
    }
    fs::remove_dir_all(&apt).with_context(|| format!("removing {}", apt.display()))
}

/// apt-get with the machine's sources, and with lists, locks and archives of its own.
fn apt_get(apt: &Path, arguments: &[&str]) -> Result<()> {
    let apt = fs::canonicalize(apt).context("finding the folder for apt-get")?;
    let ours = |name: &str, place: &str| format!("{name}={}", apt.join(place).display());
    let options = [
        ours("Dir::State", ""),
        ours("Dir::State::lists", "lists"),
        ours("Dir::State::status", "status"),
        ours("Dir::Cache", "cache"),
        "Debug::NoLocking=true".to_owned(),
        "APT::Sandbox::User=".to_owned(),
        "APT::Install-Recommends=false".to_owned(),
        "Acquire::Retries=3".to_owned(),
    ];
    let mut command = Command::new("apt-get");
    command.args(["--quiet=2", "--yes"]);
    for option in options {
        command.arg("--option").arg(option);
    }
    run(command.args(arguments))
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("starting `{program}`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`{program}` ended with {}: {}",
        output.status,
        said.trim()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_in_the_folders_of_the_processor() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_owned();
        for place in [
            "usr/lib/chromium",
            "usr/lib/x86_64-linux-gnu/pulseaudio",
            "usr/lib/x86_64-linux-gnu/nss",
            "lib/x86_64-linux-gnu",
        ] {
            fs::create_dir_all(folder.join(place)).unwrap();
        }
        let chromium = Chromium {
            folder: folder.clone(),
        };
        let found = chromium.libraries().unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(&folder).unwrap().to_string_lossy())
            .collect();
        assert_eq!(
            names,
            [
                "usr/lib/x86_64-linux-gnu",
                "usr/lib/x86_64-linux-gnu/pulseaudio",
                "lib/x86_64-linux-gnu"
            ]
        );
    }

    #[test]
    fn a_program_that_fails_is_an_error_with_its_words() {
        let error = run(Command::new("sh").args(["-c", "echo no such package >&2; exit 100"]));
        let text = format!("{:#}", error.unwrap_err());
        assert!(text.contains("no such package"), "{text}");
        assert!(text.contains("100"), "{text}");
    }
}
