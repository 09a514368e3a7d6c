//! AWS's own runtime client for Node.js, beside which our functions are measured: npm fetches it, and its native part is compiled here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{fetch_with, node_advice, npm_install, speaks};
use crate::output;

/// The last version that takes Node.js 20.
const AWS_LAMBDA_RIC: (&str, &str) = ("aws-lambda-ric", "3.3.0");

/// The scripts of the package that compile its native part: npm no longer runs what a package brings unless it is told to.
const SCRIPTS: [&str; 2] = ["preinstall.sh", "postinstall.sh"];

/// What these need.
const COMPILERS: [&str; 4] = ["cmake", "autoconf", "automake", "libtoolize"];

const ADVICE: &str = "the native part of npm's aws-lambda-ric is compiled with cmake, autoconf, automake, libtool and a C++ compiler (on Debian: apt-get install cmake autoconf automake libtool g++). Install them and run this again";

/// The folder in whose `node_modules` the client is, which is fetched and compiled if it is not there yet.
pub(crate) fn aws_lambda_ric(root: &Path) -> Result<PathBuf> {
    let (package, version) = AWS_LAMBDA_RIC;
    let folder = root.join(format!("target/tools/{package}-{version}"));
    if !folder.is_dir() {
        speaks("node").with_context(|| node_advice(package))?;
        for compiler in COMPILERS {
            speaks(compiler).context(ADVICE)?;
        }
        let wanted = format!("{package}@{version}");
        output::aside(&format!("fetching and compiling {wanted} (once)"));
        fetch_with(&folder, &|partial| {
            npm_install(&wanted, partial).with_context(|| node_advice(package))?;
            compile(&partial.join("node_modules").join(package)).context(ADVICE)
        })?;
    }
    Ok(folder)
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
