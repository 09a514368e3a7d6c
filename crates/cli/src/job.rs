//! `gaffer job`: pieces of work for Jules, through the door of a running `gaffer up`.

use anyhow::{Context, Result};
use client::Client;
use client::wire::{CancelRequest, CreateJob, MergeRequest};
use domain::ids::CommitSha;
use domain::job::{MESSAGE_BYTES_MAX, PROMPT_BYTES_MAX};
use url::Url;

use crate::args::job::{CreateArgs, JobArgs, JobCommand, JobOrSession};
use crate::error::Error;
use crate::here::Here;
use crate::render::Answer;
use crate::stdin;

mod show;

/// Who gave an order, for the record.
const BY: &str = "a person at the command line";

/// Runs one of the commands.
pub(crate) async fn run(args: JobArgs, here: &Here) -> Result<Answer> {
    let door = Door { url: args.url, here };
    match args.command {
        JobCommand::Create(create) => door.create(create).await.context("creating a job"),
        JobCommand::List { repo, limit } => {
            let jobs = door.client().await?.jobs(repo.as_ref(), Some(limit)).await.context("listing jobs")?;
            Ok(show::jobs(&jobs))
        }
        JobCommand::Show(one) => {
            let job = door.client().await?.job(one.id.as_str()).await.with_context(|| format!("reading job {}", one.id.as_str()))?;
            Ok(show::job(&job))
        }
        JobCommand::Why(one) => {
            let why = door.client().await?.why(one.id.as_str()).await.with_context(|| format!("asking about job {}", one.id.as_str()))?;
            Ok(show::why(&why))
        }
        JobCommand::Say { id, text } => door.say(&id, &text).await.with_context(|| format!("saying something to job {}", id.as_str())),
        JobCommand::Approve(one) => {
            let answer = door.client().await?.approve(one.id.as_str()).await;
            Ok(show::effect(&answer.with_context(|| format!("approving the plan of job {}", one.id.as_str()))?, "The plan is approved."))
        }
        JobCommand::Merge { id, sha } => door.merge(&id, sha).await.with_context(|| format!("merging job {}", id.as_str())),
        JobCommand::Cancel(one) => {
            let cancel = CancelRequest { by: Some(BY.to_owned()) };
            let job = door.client().await?.cancel(one.id.as_str(), &cancel).await;
            Ok(show::job(&job.with_context(|| format!("calling off job {}", one.id.as_str()))?))
        }
        JobCommand::Retry(one) => {
            let job = door.client().await?.retry(one.id.as_str()).await;
            Ok(show::job(&job.with_context(|| format!("trying job {} again", one.id.as_str()))?))
        }
        JobCommand::Artifacts(one) => {
            let artifacts = door.client().await?.artifacts(one.id.as_str()).await;
            Ok(show::artifacts(&artifacts.with_context(|| format!("reading what job {} has produced", one.id.as_str()))?))
        }
    }
}

/// The door of a running `gaffer up`.
struct Door<'a> {
    url: Url,
    here: &'a Here,
}

impl Door<'_> {
    async fn client(&self) -> Result<Client> {
        Ok(Client::new(self.url.clone(), self.here.token().await?)?)
    }

    async fn create(&self, args: CreateArgs) -> Result<Answer> {
        let prompt = prompt(&args)?;
        let order = CreateJob { repo: args.repo, branch: args.branch, prompt, title: args.title, agent: args.agent };
        Ok(show::job(&self.client().await?.create_job(&order, None).await?))
    }

    async fn say(&self, id: &JobOrSession, text: &str) -> Result<Answer> {
        let text = filled(text, ("TEXT", MESSAGE_BYTES_MAX))?;
        let answer = self.client().await?.say(id.as_str(), text, None).await?;
        Ok(show::effect(&answer, "It is said."))
    }

    async fn merge(&self, id: &JobOrSession, sha: Option<CommitSha>) -> Result<Answer> {
        let merge = MergeRequest { sha, by: Some(BY.to_owned()) };
        Ok(show::merged(&self.client().await?.merge(id.as_str(), &merge).await?))
    }
}

/// The task: from the command line, a file or standard input.
fn prompt(args: &CreateArgs) -> Result<String> {
    let most = PROMPT_BYTES_MAX as u64;
    let text = match (&args.prompt, &args.prompt_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) if file.as_os_str() != "-" => {
            stdin::of_file(file, most).with_context(|| format!("reading the prompt from {}", file.display()))?
        }
        (None, Some(_) | None) => stdin::of_stdin(most).context("reading the prompt from standard input")?,
    };
    filled(&text, ("the prompt", PROMPT_BYTES_MAX)).map(str::to_owned)
}

/// A text that says something and is not too long.
fn filled<'a>(text: &'a str, (what, bytes_max): (&str, usize)) -> Result<&'a str> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::usage(format!("{what} is empty"), "say what is to be done").into());
    }
    if text.len() > bytes_max {
        return Err(Error::usage(format!("{what} has {} bytes, at most {bytes_max}", text.len()), "put the rest into the repository").into());
    }
    Ok(text)
}

/// The code of a failed call, and what to do about it.
pub(crate) fn trouble(error: &client::Error) -> (String, Option<&'static str>) {
    match error {
        client::Error::Unreachable { .. } => ("not_running".to_owned(), Some("start it with `gaffer up`, or say where it is with `--url URL`")),
        client::Error::Problem(problem) if problem.status == 401 => {
            (problem.code.clone(), Some("set GAFFER_TOKEN to the token of that `gaffer up`, or name its data folder with `--data DIR`"))
        }
        client::Error::Problem(problem) => (problem.code.clone(), None),
        client::Error::NoAnswer { .. } => ("no_answer".to_owned(), Some("look with `gaffer job list` before you repeat it")),
        client::Error::Foreign { .. } => ("foreign".to_owned(), Some("check `--url`: it names something that is not `gaffer up`")),
        client::Error::GoogleKey | client::Error::Token => ("bad_token".to_owned(), None),
        client::Error::Base { .. } | client::Error::Id(_) => ("usage".to_owned(), None),
        client::Error::NoTlsProvider | client::Error::Http(_) => ("failed".to_owned(), None),
    }
}
