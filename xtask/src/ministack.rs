//! The services of AWS on this machine, functions included: MiniStack, which runs them as processes.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::localstack::{environment_at, free_port};
use crate::tools::python;
use crate::{ending, output, tools};

/// Longest wait until it answers. It is ready in about three seconds.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// How often is tried whether it answers.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The port where a person looks for it.
const USUAL_PORT: u16 = 4577;

/// A MiniStack that runs until this is dropped.
pub(crate) struct MiniStack {
    child: Child,
    port: u16,
}

impl MiniStack {
    /// Starts one on a free port, fetching it once, and returns when it is ready.
    pub(crate) fn start(root: &Path) -> Result<Self> {
        Self::start_at(root, free_port()?)
    }

    fn start_at(root: &Path, port: u16) -> Result<Self> {
        let packages = python::ministack(root)?;
        let place = root.join("target/ministack").join(port.to_string());
        fs::create_dir_all(&place).with_context(|| format!("making {}", place.display()))?;
        let log_path = place.join("ministack.log");
        let log = fs::File::create(&log_path)
            .with_context(|| format!("making {}", log_path.display()))?;
        let child = Command::new("python3")
            .args(["-m", "ministack"])
            .current_dir(&place)
            .env("PYTHONPATH", &packages)
            .env("GATEWAY_PORT", port.to_string())
            .env("BIND_HOST", Ipv4Addr::LOCALHOST.to_string())
            // It unpacks functions there.
            .env("TMPDIR", &place)
            .env_remove("AWS_ENDPOINT_URL")
            .stdin(Stdio::null())
            .stdout(log.try_clone().context("sharing its log")?)
            .stderr(log)
            .spawn()
            .context("starting MiniStack with `python3`")?;
        let mut started = Self { child, port };
        started.wait(&log_path)?;
        Ok(started)
    }

    fn wait(&mut self, log: &Path) -> Result<()> {
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            let ended = self.child.try_wait().context("waiting for MiniStack")?;
            if ended.is_some() || began.elapsed() > READY_WITHIN {
                let told = fs::read_to_string(log).unwrap_or_default();
                bail!("MiniStack does not answer; it said:\n{}", told.trim());
            }
            pause();
        }
        Ok(())
    }

    /// What its clients need in their environment.
    pub(crate) fn environment(&self) -> [(&'static str, String); 4] {
        environment_at(self.port)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a process that starts sends no event that could be awaited"
)]
fn pause() {
    std::thread::sleep(LOOK_EVERY);
}

impl Drop for MiniStack {
    fn drop(&mut self) {
        ending::end(&mut self.child);
    }
}

/// `cargo xtask ministack`: runs it until the person ends it.
pub(crate) fn run() -> Result<()> {
    let root = tools::workspace()?;
    let mut started = MiniStack::start_at(&root, USUAL_PORT)?;
    output::line("MiniStack answers. In another terminal:");
    for (name, value) in started.environment() {
        output::line(&format!("export {name}={value}"));
    }
    output::line("End it with Ctrl-C.");
    let status = started.child.wait().context("waiting for MiniStack")?;
    bail!("MiniStack ended with {status}")
}
