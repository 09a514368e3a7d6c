//! `gaffer doctor`: checks everything that this installation needs, and says what is wrong, why, and how to fix it.
//!
//! It only reads, here and outside, and works whether or not `gaffer up` is running.

use std::sync::Arc;

use agents::HostRule;
use anyhow::{Context, Result};
use domain::doctor::{Code, DataFacts, Facts, Finding, MachineFacts, Severity};
use engine::backend;
use engine::doctor::{Doctor, Question, kept};
use engine::machine::SystemClock;
use engine::ports::{Clock, RecordsError, SecretName, Secrets};
use engine::settings::Upstreams;
use engine::store::Store;
use local::{Database, LocalQueue, SecretFiles};
use serde_json::{Value, json};
use server::data::WORK_QUEUE;

use crate::args::doctor::DoctorArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{self, Answer, value};
use crate::source;
use crate::upstreams;

/// Runs the command: the report goes to stdout, and errors in it end the process with 1.
pub(crate) async fn run(args: DoctorArgs, here: &CommandContext, as_json: bool) -> Result<()> {
    let report = examine(&args, here).await.context("looking around")?;
    render::answer(&report.answer(), as_json).context("writing the report")?;
    match report.count(Severity::Error) {
        0 => Ok(()),
        errors => {
            let what = format!("the doctor found {}", render::counted(errors, "error"));
            let next = "mend them from the top, and run `gaffer doctor` again";
            Err(Error::refused("unhealthy", what, next).into())
        }
    }
}

/// What the doctor found.
#[derive(Debug)]
pub(crate) struct DoctorReport {
    /// In the order in which it is fixed best.
    pub(crate) findings: Vec<Finding>,
}

impl DoctorReport {
    /// The same for a setup that is to be started afterwards.
    pub(crate) fn before_start(mut self) -> Self {
        let not_running = Code::NotRunning.row().code;
        self.findings.retain(|finding| finding.code != not_running);
        self
    }

    /// How many findings are as bad as that.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        let as_bad = |finding: &&Finding| finding.severity == severity;
        self.findings.iter().filter(as_bad).count()
    }

    /// The report for people and for programs.
    pub(crate) fn answer(&self) -> Answer {
        self.append_report(Answer::new(self.json()))
    }

    /// The report for programs.
    pub(crate) fn json(&self) -> Value {
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        json!({
            "findings": value(&self.findings),
            "errors": errors,
            "warnings": warnings,
        })
    }

    /// Adds the report for people to an answer.
    pub(crate) fn append_report(&self, answer: Answer) -> Answer {
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        let answer = self.findings.iter().fold(answer, |answer, finding| {
            answer.finding(finding.severity.as_str(), lines(finding))
        });
        answer.findings(errors, warnings)
    }
}

/// One finding: what is the case with its code, why it matters, and what fixes it.
fn lines(finding: &Finding) -> Vec<String> {
    let what = format!("{}  {}: {}", finding.code, finding.about, finding.what);
    let cause = finding.cause.map(|cause| format!("cause: {cause}"));
    let mend = finding.mend.as_ref().map(|mend| format!("mend: {mend}"));
    [Some(what), cause, mend].into_iter().flatten().collect()
}

/// Collects all facts and findings.
pub(crate) async fn examine(args: &DoctorArgs, here: &CommandContext) -> Result<DoctorReport> {
    let folder = here.folder.clone();
    let looked = tokio::task::spawn_blocking(move || local::inspect(&folder)).await;
    let (mut machine, database) = looked.context("looking at the data folder")?;
    let secrets: Arc<dyn Secrets> = Arc::new(SecretFiles::new(
        &here.folder.join("secrets"),
        here.environment.overlay.clone(),
    ));
    if database.is_some() {
        machine.api_token = kept(secrets.as_ref(), &SecretName::ApiToken).await;
    }
    let facts = match database {
        None => nothing_stored(machine),
        Some(database) => {
            let overlaid = here.is_overlaid(&SecretName::GitHub);
            // The permissions of the running process count, and those of this command line too.
            let mut args = args.clone();
            let allowed = upstreams::allowed_hosts(&here.folder);
            args.outside.allow_hosts.extend(allowed.unwrap_or_default());
            of_installation(&args, overlaid, machine, &database, secrets).await?
        }
    };
    Ok(DoctorReport {
        findings: domain::doctor::examine(&facts),
    })
}

fn nothing_stored(machine: MachineFacts) -> Facts {
    Facts {
        machine,
        installation: None,
    }
}

async fn of_installation(
    args: &DoctorArgs,
    github_overlaid: bool,
    machine: MachineFacts,
    database: &Database,
    secrets: Arc<dyn Secrets>,
) -> Result<Facts> {
    let store = Store::new(Arc::new(local::Store::new(database)));
    let remembered = match store.upstreams().await {
        Ok(remembered) => remembered.value,
        Err(error) => return Ok(not_readable(machine, &error)),
    };
    let typed = Upstreams {
        jules_base: args.outside.jules_base.clone(),
        github_base: args.outside.github_base.clone(),
        github_app_id: args.outside.github_app_id,
    };
    let upstreams = upstreams::joined(remembered, typed, github_overlaid);
    let question = Question {
        source: args.source.clone(),
        app_id: upstreams.github_app_id,
        webhook_url: args.webhook_url.as_ref().map(ToString::to_string),
    };
    let allow_hosts = args.outside.allow_hosts.clone();
    let doctor = doctor(allow_hosts, &upstreams, store, database, secrets)?;
    if let Some(repo) = &args.source
        && matches!(doctor.store.source(repo).await, Ok(None))
    {
        return Err(source::unknown(&doctor.store, repo.as_str()).await);
    }
    match doctor.examine(machine.clone(), &question).await {
        Ok(facts) => Ok(facts),
        Err(backend::Error::Records(error)) => Ok(not_readable(machine, &error)),
        Err(error) => Err(error.into()),
    }
}

/// A database that was opened and whose records cannot be read.
fn not_readable(machine: MachineFacts, error: &RecordsError) -> Facts {
    let why = error.to_string();
    let data = match error {
        RecordsError::Unavailable { .. } => DataFacts::StoreUnreadable { why },
        RecordsError::Unreadable { .. } => DataFacts::StoreNewer { why },
    };
    nothing_stored(MachineFacts { data, ..machine })
}

fn doctor(
    allow_hosts: Vec<HostRule>,
    upstreams: &Upstreams,
    store: Store,
    database: &Database,
    secrets: Arc<dyn Secrets>,
) -> Result<Doctor> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let base = upstreams.jules_base.as_deref().unwrap_or(jules::BASE);
    // `gaffer up`, which uses the address, prints its warnings.
    let (settings, _) = jules::Settings::at(base).context("reading the address of Jules")?;
    let jules = jules::Client::new(settings, secrets.clone(), clock.clone())
        .context("preparing to talk to Jules")?;
    let settings = github::Settings::new(upstreams.github_base.as_deref(), upstreams.github_app_id)
        .context("reading the address of GitHub")?;
    let github = github::Client::new(&settings, secrets.clone(), clock.clone())
        .context("preparing to talk to GitHub")?;
    Ok(Doctor {
        store,
        queue: Arc::new(LocalQueue::new(database, WORK_QUEUE, clock.clone())),
        secrets,
        clock,
        sessions: Arc::new(jules::Reader::new(jules.clone())),
        jules: Arc::new(jules::Probe::new(jules)),
        github: Arc::new(github::Probe::new(github)),
        agents: Arc::new(agents::Probe::new(allow_hosts)),
    })
}
