//! On what the figures were taken: the kind of machine, never its name.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

/// The machine and the versions.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    /// Cores that this process may use.
    pub(crate) cores: usize,
    /// The processor as it calls itself.
    pub(crate) cpu: String,
    /// Operating system and architecture.
    pub(crate) system: String,
    /// The compiler.
    pub(crate) rustc: String,
    /// The profile that was built.
    pub(crate) profile: String,
    /// The version of Gaffer.
    pub(crate) gaffer: &'static str,
}

impl Machine {
    /// Looks at this machine. What cannot be told is `unknown`.
    pub(crate) fn look(profile: &str) -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            cpu: cpu(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            rustc: said("rustc", "--version"),
            profile: profile.to_owned(),
            gaffer: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The one thread that everything of a section runs on.
pub(crate) fn one_thread() -> Result<Runtime> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.context("starting a runtime")
}

/// What a program answers to one argument, in one line.
pub(crate) fn said(program: &str, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(unknown)
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or_else(unknown, |(_, name)| name.trim().to_owned())
}

fn unknown() -> String {
    "unknown".to_owned()
}
