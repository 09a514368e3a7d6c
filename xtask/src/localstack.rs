//! The services of AWS on this machine: LocalStack, over the DynamoDB that AWS itself ships for tests.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::tools::programs::{self, JAVA, NPM, PIP, Program};
use crate::{ending, output, tools};

/// Starts LocalStack without a download of its own.
const LAUNCHER: &str = include_str!("localstack/launch.py");

/// What LocalStack prints when it answers.
const READY: &str = "Ready.";

/// A client's identity where none is checked.
const ANYBODY: &str = "test";

/// The services that the tests use, started in advance.
const USED: &str = "dynamodb,sqs,ssm,s3";

/// A LocalStack that runs until this is dropped.
pub(crate) struct LocalStack {
    child: Child,
    port: u16,
    /// The API of its DynamoDB itself.
    dynamodb_port: u16,
}

/// The services that the tests need, started at first use; none if `AWS_ENDPOINT_URL` names others.
#[derive(Default)]
pub(crate) struct Services {
    localstack: Option<LocalStack>,
}

impl Services {
    /// The programs of this machine that they need; none if others are named.
    pub(crate) fn programs() -> Vec<Program> {
        match are_elsewhere() {
            true => Vec::new(),
            false => vec![PIP, NPM, JAVA],
        }
    }

    /// What clients of LocalStack need in their environment.
    pub(crate) fn behind_one_door(&mut self, root: &Path) -> Result<Vec<(&'static str, String)>> {
        let Some(started) = self.started(root)? else {
            return Ok(Vec::new());
        };
        Ok(started.environment().to_vec())
    }

    /// The same, but LocalStack's DynamoDB is asked itself, which answers in a fifth of the time.
    pub(crate) fn each_by_its_own_door(
        &mut self,
        root: &Path,
    ) -> Result<Vec<(&'static str, String)>> {
        let mut places = self.behind_one_door(root)?;
        if let Some(started) = &self.localstack {
            let url = format!("http://127.0.0.1:{}", started.dynamodb_port);
            places.push(("AWS_ENDPOINT_URL_DYNAMODB", url));
        }
        Ok(places)
    }

    fn started(&mut self, root: &Path) -> Result<Option<&LocalStack>> {
        if self.localstack.is_none() && !are_elsewhere() {
            self.localstack = Some(LocalStack::start(root)?);
        }
        Ok(self.localstack.as_ref())
    }
}

impl LocalStack {
    /// Starts it, fetching what it needs once, and returns when it is ready.
    pub(crate) fn start(root: &Path) -> Result<Self> {
        let packages = tools::localstack(root)?;
        let dynamodb = tools::dynamodb_local(root)?;
        programs::must_be_there(&[JAVA]).context("starting DynamoDB Local")?;
        let launcher = packages.join("launch.py");
        fs::write(&launcher, LAUNCHER)
            .with_context(|| format!("writing {}", launcher.display()))?;
        let log_path = packages.join("localstack.log");
        let log = fs::File::create(&log_path)
            .with_context(|| format!("making {}", log_path.display()))?;
        let (port, dynamodb_port) = free_ports()?;
        let mut child = Command::new("python3")
            .arg(&launcher)
            .arg(&dynamodb)
            .current_dir(&packages)
            .env("PYTHONPATH", &packages)
            .env("GATEWAY_LISTEN", format!("127.0.0.1:{port}"))
            .env("GATEWAY_SERVER", "hypercorn")
            .env("DISABLE_EVENTS", "1")
            .env("SKIP_SSL_CERT_DOWNLOAD", "1")
            .env("DYNAMODB_IN_MEMORY", "1")
            .env("DYNAMODB_LOCAL_PORT", dynamodb_port.to_string())
            .env("SERVICES", USED)
            .env("EAGER_SERVICE_LOADING", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("starting LocalStack with `python3`")?;
        let said = child.stdout.take().context("listening to LocalStack")?;
        let started = Self {
            child,
            port,
            dynamodb_port,
        };
        started.wait(BufReader::new(said), &log_path)?;
        Ok(started)
    }

    /// Reads what it prints until it is ready, and lets the rest go.
    fn wait(&self, said: impl BufRead + Send + 'static, log: &Path) -> Result<()> {
        let mut lines = said.lines();
        for line in lines.by_ref() {
            if line.context("listening to LocalStack")?.trim() == READY {
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(());
            }
        }
        let told = fs::read_to_string(log).unwrap_or_default();
        bail!(
            "LocalStack ended before it was ready; it said:\n{}",
            told.trim()
        )
    }

    /// What its clients need in their environment.
    pub(crate) fn environment(&self) -> [(&'static str, String); 4] {
        environment_at(self.port)
    }
}

impl Drop for LocalStack {
    fn drop(&mut self) {
        ending::end(&mut self.child);
    }
}

/// What clients of services at this port need in their environment.
pub(crate) fn environment_at(port: u16) -> [(&'static str, String); 4] {
    [
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", ANYBODY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", ANYBODY.to_owned()),
    ]
}

/// `cargo xtask localstack`: runs it until the person ends it.
pub(crate) fn run() -> Result<()> {
    let root = tools::workspace()?;
    let mut started = LocalStack::start(&root)?;
    output::line("LocalStack answers. In another terminal:");
    for (name, value) in started.environment() {
        output::line(&format!("export {name}={value}"));
    }
    output::line("End it with Ctrl-C.");
    let status = started.child.wait().context("waiting for LocalStack")?;
    bail!("LocalStack ended with {status}")
}

pub(crate) fn free_port() -> Result<u16> {
    Ok(free_ports()?.0)
}

/// Two that are free, and not the same.
fn free_ports() -> Result<(u16, u16)> {
    let bind = || TcpListener::bind("127.0.0.1:0").context("looking for a free port");
    let (one, other) = (bind()?, bind()?);
    Ok((one.local_addr()?.port(), other.local_addr()?.port()))
}

/// Whether the services are named that the tests use.
fn are_elsewhere() -> bool {
    env::var_os("AWS_ENDPOINT_URL").is_some()
}
