//! The binaries of the functions: built for AWS by cargo-lambda, or by cargo itself for an emulator on this machine.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::error::Error;
use crate::function::Function;

/// The tools and the folder that a deployment works with.
#[derive(Debug, Clone)]
pub struct Workshop {
    /// The workspace.
    pub root: PathBuf,
    /// A folder of Python packages with cargo-lambda in it; the one of the person without it.
    pub cargo_lambda: Option<PathBuf>,
}

/// Which binaries are put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binaries {
    /// Built for Lambda's ARM processors, as small as they get.
    Arm64,
    /// Built for Lambda's x86 processors, as small as they get.
    X86,
    /// Built for this machine as quickly as can be, for an emulator that runs here.
    Here,
    /// Built already: one folder with a binary for each function.
    Ready(PathBuf),
}

impl Workshop {
    /// Builds the functions unless their binaries were given, and returns the path of each.
    pub(crate) async fn build(
        &self,
        binaries: &Binaries,
    ) -> Result<Vec<(Function, PathBuf)>, Error> {
        match binaries {
            Binaries::Ready(folder) => places(folder, |it| it.short().into()),
            Binaries::Here => {
                let mut cargo = Command::new("cargo");
                cargo.arg("build").args(packages());
                self.run(cargo, "building the functions for this machine")
                    .await?;
                let folder = self.target().await?.join("debug");
                places(&folder, |it| it.short().into())
            }
            Binaries::Arm64 => {
                self.build_for_lambda("--arm64", &self.target().await?)
                    .await
            }
            Binaries::X86 => {
                self.build_for_lambda("--x86-64", &self.target().await?)
                    .await
            }
        }
    }

    /// The command `cargo lambda`.
    pub(crate) fn lambda(&self, command: &str) -> Command {
        let Some(packages) = &self.cargo_lambda else {
            let mut cargo = Command::new("cargo");
            cargo.args(["lambda", command]);
            return cargo;
        };
        let mut cargo = Command::new(packages.join("bin/cargo-lambda"));
        // It finds the linker for other processors among these.
        cargo.env("PYTHONPATH", packages).args(["lambda", command]);
        cargo
    }

    /// What cargo-lambda builds below `target`.
    async fn build_for_lambda(
        &self,
        processor: &str,
        target: &Path,
    ) -> Result<Vec<(Function, PathBuf)>, Error> {
        let mut cargo = self.lambda("build");
        cargo.args(["--release", processor]).args(packages());
        self.run(cargo, "building the functions with cargo-lambda")
            .await?;
        built(&target.join("lambda"))
    }

    /// Cargo's target folder, wherever it is configured.
    async fn target(&self) -> Result<PathBuf, Error> {
        let doing = "asking cargo where it builds";
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--format-version", "1", "--no-deps"]);
        let said = cargo.current_dir(&self.root).output().await;
        let said = said.map_err(|error| no_start(doing, &error))?;
        let told: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap_or_default();
        let folder = told.get("target_directory").and_then(|it| it.as_str());
        folder.map(PathBuf::from).ok_or_else(|| {
            let why = String::from_utf8_lossy(&said.stderr).into_owned();
            Error::stopped(doing, why, "mend it and deploy again")
        })
    }

    async fn run(&self, mut command: Command, doing: &str) -> Result<(), Error> {
        // What `cargo run` said about this package would have build scripts run again, and all that depends on them be compiled again.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                command.env_remove(name.as_ref());
            }
        }
        let status = command
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .status()
            .await
            .map_err(|error| no_start(doing, &error))?;
        if status.success() {
            return Ok(());
        }
        let why = format!("it ended with {status}");
        Err(Error::stopped(
            doing,
            why,
            "mend what it says and deploy again",
        ))
    }
}

/// The binary of each function in a folder.
fn places(
    folder: &Path,
    of: impl Fn(Function) -> PathBuf,
) -> Result<Vec<(Function, PathBuf)>, Error> {
    let place = |function: Function| (function, folder.join(of(function)));
    let all: Vec<_> = Function::ALL.into_iter().map(place).collect();
    match all.iter().find(|(_, binary)| !binary.is_file()) {
        None => Ok(all),
        Some((_, binary)) => Err(Error::stopped(
            "building the functions",
            format!("there is no {}", binary.display()),
            "see what the build says, and deploy again",
        )),
    }
}

/// The binaries that cargo-lambda has built.
fn built(folder: &Path) -> Result<Vec<(Function, PathBuf)>, Error> {
    places(folder, |it| Path::new(it.short()).join("bootstrap"))
}

fn packages() -> impl Iterator<Item = &'static str> {
    Function::ALL
        .into_iter()
        .flat_map(|it| ["-p", it.package()])
}

/// A tool that does not start.
pub(crate) fn no_start(doing: &str, error: &std::io::Error) -> Error {
    let next = "install it (`cargo xtask deploy` fetches cargo-lambda by itself) and deploy again";
    Error::stopped(doing, error.to_string(), next)
}

/// The workspace that this was built in.
pub fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package).to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_function_that_was_not_built_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for function in Function::ALL {
            let missing = built(folder.path()).unwrap_err();
            assert!(missing.to_string().contains(function.short()), "{missing}");
            let place = folder.path().join(function.short());
            fs::create_dir(&place).unwrap();
            fs::write(place.join("bootstrap"), "a program").unwrap();
        }
        assert_eq!(built(folder.path()).unwrap().len(), Function::ALL.len());
    }

    /// In the place of cargo-lambda, what builds each function as this very program.
    fn workshop(folder: &Path) -> Workshop {
        let bin = folder.join("bin");
        fs::create_dir(&bin).unwrap();
        let this = std::env::current_exe().unwrap();
        let mut script = "#!/bin/sh\nset -e\necho \"$@\" > asked\n".to_owned();
        for function in Function::ALL {
            let (name, this) = (function.short(), this.display());
            script += &format!("mkdir -p lambda/{name}\ncp '{this}' lambda/{name}/bootstrap\n");
        }
        let program = bin.join("cargo-lambda");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Workshop {
            root: folder.to_owned(),
            cargo_lambda: Some(folder.to_owned()),
        }
    }

    #[tokio::test]
    async fn what_cargo_lambda_built_is_what_is_uploaded() {
        let folder = tempfile::tempdir().unwrap();
        let this = fs::read(std::env::current_exe().unwrap()).unwrap();
        let workshop = workshop(folder.path());
        let built = workshop.build_for_lambda("--arm64", folder.path()).await;
        let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
        let wanted = "lambda build --release --arm64 -p ";
        assert!(asked.starts_with(wanted), "{asked}");
        let built = built.unwrap();
        assert_eq!(built.len(), Function::ALL.len());
        for (_, binary) in built {
            assert!(fs::read(binary).unwrap() == this);
        }
    }
}
