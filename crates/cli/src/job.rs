//! `gaffer job`: pieces of work for Jules, through the API of a running `gaffer up`.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use anyhow::{Context, Result};
use client::wire::{
    AdoptRequest, ApproveRequest, CancelRequest, Constraints, CreateJob, JOBS_LIMIT_MAX,
    MergeRequest, RegisterRequest, RetryRequest,
};
use client::{Client, JobQuery};
use domain::conversation::ConversationCursor;
use domain::ids::PlanId;
use domain::job::{MESSAGE_BYTES_MAX, PROMPT_BYTES_MAX};
use domain::policy::Automation;
use domain::web_page::WebPage;
use serde_json::json;
use url::Url;

use crate::args::job::{
    AdoptArgs, CreateArgs, JobArgs, JobCommand, JobOrSession, ListJobsArgs, MergeArgs, OneJob,
    RegisterArgs, WaitArgs,
};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::Answer;
use crate::site;
use crate::stdin;

pub(crate) mod browser;
pub(crate) mod progress;
mod repository;
mod show;
pub(crate) mod wait;

pub(crate) use show::pending_words;

pub(crate) async fn run(args: JobArgs, here: &CommandContext, as_json: bool) -> Result<Answer> {
    let api = RunningApi {
        url: args.url,
        here,
        as_json,
    };
    let (doing, answer) = match args.command {
        JobCommand::Create(create) => ("creating a job".to_owned(), api.create(create).await),
        JobCommand::List(args) => ("listing jobs".to_owned(), api.list(args).await),
        JobCommand::Open(OneJob { id }) => (format!("opening job {id}"), api.open(&id).await),
        JobCommand::Show { id, fresh } => (format!("reading job {id}"), api.show(&id, fresh).await),
        JobCommand::Messages { id, cursor } => (
            format!("reading what was said in job {id}"),
            api.messages(&id, cursor).await,
        ),
        JobCommand::Register(args) => {
            (format!("registering {}", args.id), api.register(args).await)
        }
        JobCommand::Why(OneJob { id }) => (format!("asking about job {id}"), api.why(&id).await),
        JobCommand::Events(OneJob { id }) => (
            format!("reading the events of job {id}"),
            api.events(&id).await,
        ),
        JobCommand::Wait(args) => return api.wait(args).await,
        JobCommand::Say { id, text } => (
            format!("saying something to job {id}"),
            api.say(&id, &text).await,
        ),
        JobCommand::Approve { id, plan } => (
            format!("approving the plan of job {id}"),
            api.approve(&id, plan).await,
        ),
        JobCommand::Merge(args) => (format!("merging job {}", args.id), api.merge(args).await),
        JobCommand::Cancel { id, close_pull } => (
            format!("calling off job {id}"),
            api.cancel(&id, close_pull).await,
        ),
        JobCommand::Retry { id, reason } => (
            format!("trying job {id} again"),
            api.retry(&id, reason).await,
        ),
        JobCommand::Adopt(args) => (
            format!("adopting session {}", args.session),
            api.adopt(args).await,
        ),
        JobCommand::Artifacts(OneJob { id }) => (
            format!("reading what job {id} has produced"),
            api.artifacts(&id).await,
        ),
    };
    answer.context(doing)
}

/// The API of a running `gaffer up`.
struct RunningApi<'a> {
    url: Option<Url>,
    here: &'a CommandContext,
    /// Whether only JSON is printed.
    as_json: bool,
}

impl RunningApi<'_> {
    async fn client(&self) -> Result<Client> {
        site::api_client(self.url.clone(), self.here).await
    }

    async fn create(&self, args: CreateArgs) -> Result<Answer> {
        let client = self.client().await?;
        let repo = match &args.repo {
            Some(repo) => repo.clone(),
            None => repository::usual(&client).await?,
        };
        let order = CreateJob {
            prompt: prompt(&args)?,
            constraints: constraints(&args),
            repo,
            branch: args.branch,
            title: args.title,
            agent: args.agent,
            resume: args.resume,
            priority: args.priority,
        };
        let created = match client.create_job(&order, None).await {
            Ok(created) => created,
            Err(error) => {
                return Err(site::with_nearest_source(&client, &order.repo, error)
                    .await
                    .into());
            }
        };
        let Some(until) = args.until else {
            return Ok(show::job(&created).piped(created.job_id.to_string()));
        };
        // A person who ends the wait still needs the id.
        crate::render::note(&format!("Job {} is created.", created.job_id));
        let id = created.job_id.to_string();
        wait::run(&client, &id, until, args.within, self.as_json).await
    }

    /// One page, or page by page to the end.
    async fn list(&self, args: ListJobsArgs) -> Result<Answer> {
        let mut asked = JobQuery {
            repo: args.repo,
            states: args.states,
            limit: Some(if args.all { JOBS_LIMIT_MAX } else { args.limit }),
            cursor: None,
        };
        let client = self.client().await?;
        let mut listed = client.jobs_of(&asked).await?;
        while args.all && listed.next_cursor.is_some() {
            asked.cursor = listed.next_cursor.take();
            let page = client.jobs_of(&asked).await?;
            listed.jobs.extend(page.jobs);
            listed.next_cursor = page.next_cursor;
        }
        listed.more = listed.next_cursor.is_some();
        Ok(show::jobs(&listed, &asked.states))
    }

    async fn wait(&self, args: WaitArgs) -> Result<Answer> {
        let names: Vec<_> = args.ids.iter().map(JobOrSession::as_str).collect();
        let client = self.client().await?;
        let waited = wait::all(&client, &names, args.until, args.within, self.as_json).await;
        waited.with_context(|| format!("waiting for job {}", names.join(", ")))
    }

    async fn open(&self, id: &JobOrSession) -> Result<Answer> {
        let job = self.client().await?.job(id.as_str()).await?;
        let address = job.pull_request_url.or(job.session_url);
        let Some(page) = address.as_deref().and_then(WebPage::from_service) else {
            let what = format!("job {} has no page yet: it is {}", job.job_id, job.state);
            let next = "its session has one as soon as Jules has begun it";
            return Err(Error::refused("no_page", what, next).into());
        };
        let opened = browser::open(&page);
        let answer = Answer::new(json!({ "job_id": job.job_id, "url": page, "opened": opened }));
        Ok(answer.line(page.as_str()))
    }

    async fn show(&self, id: &JobOrSession, fresh: bool) -> Result<Answer> {
        let client = self.client().await?;
        if fresh {
            return Ok(show::read(&client.fresh_job(id.as_str()).await?));
        }
        Ok(show::job(&client.job(id.as_str()).await?))
    }

    async fn messages(
        &self,
        id: &JobOrSession,
        cursor: Option<ConversationCursor>,
    ) -> Result<Answer> {
        let client = self.client().await?;
        let cursor = cursor.map(|cursor| cursor.to_string());
        let page = client.messages(id.as_str(), cursor.as_deref()).await?;
        Ok(show::messages(&page))
    }

    async fn register(&self, args: RegisterArgs) -> Result<Answer> {
        let wanted = RegisterRequest {
            metadata: args.metadata,
            repo: args.repo,
            agent: args.agent,
        };
        let client = self.client().await?;
        Ok(show::registered(
            &client.register(args.id.as_str(), &wanted).await?,
        ))
    }

    async fn why(&self, id: &JobOrSession) -> Result<Answer> {
        Ok(crate::why::answer(
            &self.client().await?.why(id.as_str()).await?,
        ))
    }

    async fn events(&self, id: &JobOrSession) -> Result<Answer> {
        Ok(show::events(
            &self.client().await?.events(id.as_str()).await?,
        ))
    }

    async fn approve(&self, id: &JobOrSession, plan_id: Option<PlanId>) -> Result<Answer> {
        let approve = ApproveRequest { plan_id };
        let answer = self.client().await?.approve(id.as_str(), &approve).await?;
        Ok(show::effect(&answer, "The plan is approved."))
    }

    async fn cancel(&self, id: &JobOrSession, close_pull: bool) -> Result<Answer> {
        let cancel = CancelRequest {
            by: None,
            close_pull,
        };
        let job = self.client().await?.cancel(id.as_str(), &cancel).await?;
        let answer = show::job(&job);
        Ok(match &job.pull_request {
            None => answer,
            Some(pull) if close_pull => answer.line(format!("Pull request {pull} is being closed.")),
            Some(pull) => answer.line(format!(
                "Pull request {pull} stays open: merge or close it yourself, or close it with `gaffer job cancel {} --close-pull`.",
                job.job_id
            )),
        })
    }

    async fn retry(&self, id: &JobOrSession, reason: Option<String>) -> Result<Answer> {
        let retry = RetryRequest { reason };
        let client = self.client().await?;
        Ok(show::job(&client.retry(id.as_str(), &retry).await?))
    }

    async fn adopt(&self, args: AdoptArgs) -> Result<Answer> {
        let AdoptArgs {
            session,
            repo,
            agent,
            take_over,
        } = args;
        let adopt = AdoptRequest {
            session_id: session,
            repo,
            agent,
            take_over,
        };
        Ok(show::read(&self.client().await?.adopt(&adopt).await?))
    }

    async fn artifacts(&self, id: &JobOrSession) -> Result<Answer> {
        Ok(show::artifacts(
            &self.client().await?.whole_artifacts(id.as_str()).await?,
        ))
    }

    async fn say(&self, id: &JobOrSession, text: &str) -> Result<Answer> {
        let text = filled(text, "TEXT", MESSAGE_BYTES_MAX)?;
        let answer = self.client().await?.say(id.as_str(), text, None).await?;
        Ok(show::effect(&answer, "It is said."))
    }

    async fn merge(&self, args: MergeArgs) -> Result<Answer> {
        let merge = MergeRequest {
            sha: args.sha,
            merge_method: args.method,
            commit_title: args.title,
            delete_branch: args.keep_branch.then_some(false),
            force: false,
            by: None,
        };
        let client = self.client().await?;
        let merged = client.merge(args.id.as_str(), &merge).await?;
        Ok(show::merged(&merged))
    }
}

/// The terms apart from the task, if there are any.
fn constraints(args: &CreateArgs) -> Option<Constraints> {
    let mut named = BTreeMap::new();
    if args.require_plan_approval {
        named.insert("require_plan_approval".to_owned(), true.into());
    }
    if args.no_pull_request {
        let none = Automation::AutomationModeUnspecified.as_str();
        named.insert("automation_mode".to_owned(), none.into());
    }
    (!named.is_empty()).then_some(Constraints::Named(named))
}

/// The task: from the command line, a file or standard input.
fn prompt(args: &CreateArgs) -> Result<String> {
    let most = PROMPT_BYTES_MAX as u64;
    let given = args.prompt.as_ref().or(args.task.as_ref());
    let text = match (given.filter(|text| *text != "-"), &args.prompt_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) if file.as_os_str() != "-" => stdin::of_file(file, most)
            .with_context(|| format!("reading the prompt from {}", file.display()))?,
        (None, None) if args.task.is_none() && std::io::stdin().is_terminal() => {
            let next = "give it as `gaffer job create 'TEXT'`, with `--prompt-file FILE`, or on standard input";
            return Err(Error::usage("nothing says what is to be done", next).into());
        }
        (None, Some(_) | None) => {
            stdin::of_stdin(most).context("reading the prompt from standard input")?
        }
    };
    filled(&text, "the prompt", PROMPT_BYTES_MAX).map(str::to_owned)
}

/// Checks that a text is neither empty nor too long.
fn filled<'a>(text: &'a str, what: &str, bytes_max: usize) -> Result<&'a str> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::usage(format!("{what} is empty"), "say what is to be done").into());
    }
    if text.len() > bytes_max {
        return Err(Error::usage(
            format!("{what} has {} bytes, at most {bytes_max}", text.len()),
            "put the rest into the repository",
        )
        .into());
    }
    Ok(text)
}
