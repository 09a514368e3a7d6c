//! AWS's own runtime client for Node.js, beside which our functions are measured: npm fetches it, and its native part is compiled here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::programs::{AUTOCONF, AUTOMAKE, CMAKE, CPP, LIBTOOL, MAKE, Program};
use super::{fetch_with, node_advice, npm_install};
use crate::output;

/// The last version that takes Node.js 20.
const AWS_LAMBDA_RIC: (&str, &str) = ("aws-lambda-ric", "3.3.0");

/// The scripts of the package that compile its native part: npm no longer runs what a package brings unless it is told to.
const SCRIPTS: [&str; 2] = ["preinstall.sh", "postinstall.sh"];

/// What these need.
const COMPILERS: [Program; 6] = [CMAKE, MAKE, AUTOCONF, AUTOMAKE, LIBTOOL, CPP];

/// The programs that compile the client; none if that was done before.
pub(crate) fn compilers(root: &Path) -> Vec<Program> {
    match folder(root).is_dir() {
        true => Vec::new(),
        false => COMPILERS.to_vec(),
    }
}

/// The folder in whose `node_modules` the client is, which is fetched and compiled if it is not there yet.
pub(crate) fn aws_lambda_ric(root: &Path) -> Result<PathBuf> {
    let (package, version) = AWS_LAMBDA_RIC;
    let folder = folder(root);
    if !folder.is_dir() {
        let wanted = format!("{package}@{version}");
        output::aside(&format!("fetching and compiling {wanted} (once)"));
        fetch_with(&folder, &|partial| {
            npm_install(&wanted, partial).with_context(|| node_advice(package))?;
            compile(&partial.join("node_modules").join(package))
                .with_context(|| format!("compiling the native part of npm's {package}"))
        })?;
    }
    Ok(folder)
}

/// Where the client is kept.
fn folder(root: &Path) -> PathBuf {
    let (package, version) = AWS_LAMBDA_RIC;
    root.join(format!("target/tools/{package}-{version}"))
}

fn compile(package: &Path) -> Result<()> {
    for script in SCRIPTS {
        let path = Path::new("scripts").join(script);
        let output = Command::new("sh").arg(&path).current_dir(package).output();
        let output = output.context("starting `sh`")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        ensure!(status.success(), "{script} ended with {status}: {said}");
    }
    Ok(())
}
