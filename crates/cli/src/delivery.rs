//! `gaffer delivery`: from an issue to a merged change and a closed issue, through the API of a running `gaffer up`.

use std::path::Path;

use anyhow::{Context, Result};
use client::wire::{
    ApproveDelivery, CreateDelivery, DELIVERIES_LIMIT_MAX, Deliveries, DeliveryView, PlanRequest,
    RejectDelivery, RetryDelivery, SplitRequest, VerdictRequest,
};
use client::{Answer as Came, Client, DeliveryQuery};
use domain::delivery::PLAN_BYTES_MAX;
use domain::ids::RepoName;
use domain::status::{Status, UnreadIssuesView};

use crate::args::delivery::{
    CreateDeliveryArgs, DeliveryArgs, DeliveryCommand, ListDeliveriesArgs, OneDelivery, PlanArgs,
    SplitArgs, VerdictArgs, WaitDeliveryArgs,
};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::Answer;
use crate::{site, stdin};

mod changes;
mod show;
mod transcript;
mod untaken;
mod wait;

/// How often a request is sent that waits for a reading.
const READ_REQUESTS_MAX: u32 = 5;

/// Longest list of parts, in bytes: the API keeps less of it.
const PARTS_BYTES_MAX: u64 = 64 * 1024;

pub(crate) async fn run(
    args: DeliveryArgs,
    here: &CommandContext,
    as_json: bool,
) -> Result<Answer> {
    let client = site::api_client(args.url, here).await?;
    let doing = doing(&args.command);
    let client = &client;
    let answer = match args.command {
        DeliveryCommand::List(args) => list(client, args).await,
        DeliveryCommand::Board { repo } => board(client, repo).await,
        DeliveryCommand::Create(args) => create(client, args).await,
        DeliveryCommand::Show(OneDelivery { id }) => shown(client.delivery(id.as_str()).await),
        DeliveryCommand::Start(OneDelivery { id }) => {
            shown(client.start_delivery(id.as_str()).await)
        }
        DeliveryCommand::Approve { id, sha, plan } => {
            let approve = ApproveDelivery { sha, plan_id: plan };
            shown(client.approve_delivery(id.as_str(), &approve).await)
        }
        DeliveryCommand::Reject { id, reason } => {
            let reject = RejectDelivery { reason };
            shown(client.reject_delivery(id.as_str(), &reject).await)
        }
        DeliveryCommand::Retry { id, reason } => {
            let retry = RetryDelivery { reason };
            shown(client.retry_delivery(id.as_str(), &retry).await)
        }
        DeliveryCommand::Cancel(OneDelivery { id }) => {
            shown(client.cancel_delivery(id.as_str()).await)
        }
        DeliveryCommand::Verdict(args) => verdict(client, args).await,
        DeliveryCommand::Plan(args) => plan(client, args).await,
        DeliveryCommand::Edit(args) => changes::edit(client, args).await,
        DeliveryCommand::Collect { id, session } => changes::collect(client, &id, session).await,
        DeliveryCommand::Analysis(args) => changes::analyse(client, args).await,
        DeliveryCommand::Split(args) => split(client, args).await,
        DeliveryCommand::Why(OneDelivery { id }) => {
            let why = client.delivery_why(id.as_str()).await;
            why.map(|why| show::why(&why)).map_err(Into::into)
        }
        DeliveryCommand::Transcript { id, run } => {
            transcript::read(client, &id, run.as_ref()).await
        }
        DeliveryCommand::Wait(args) => waited(client, args, as_json).await,
    };
    answer.context(doing)
}

/// What a command does, for what went wrong with it.
fn doing(command: &DeliveryCommand) -> String {
    match command {
        DeliveryCommand::List(_) => "listing deliveries".to_owned(),
        DeliveryCommand::Board { .. } => "reading the board".to_owned(),
        DeliveryCommand::Create(_) => "creating a delivery".to_owned(),
        DeliveryCommand::Show(OneDelivery { id }) => format!("reading delivery {id}"),
        DeliveryCommand::Start(OneDelivery { id }) => format!("starting delivery {id}"),
        DeliveryCommand::Approve { id, .. } => format!("approving delivery {id}"),
        DeliveryCommand::Reject { id, .. } => format!("rejecting delivery {id}"),
        DeliveryCommand::Retry { id, .. } => format!("trying delivery {id} again"),
        DeliveryCommand::Cancel(OneDelivery { id }) => format!("calling off delivery {id}"),
        DeliveryCommand::Verdict(args) => format!("judging delivery {}", args.id),
        DeliveryCommand::Plan(args) => format!("planning delivery {}", args.id),
        DeliveryCommand::Edit(args) => format!("changing delivery {}", args.id),
        DeliveryCommand::Collect { id, session } => {
            format!("adding session {session} to delivery {id}")
        }
        DeliveryCommand::Analysis(args) => format!("analysing a run of delivery {}", args.id),
        DeliveryCommand::Split(args) => format!("splitting delivery {}", args.id),
        DeliveryCommand::Why(OneDelivery { id }) => format!("asking about delivery {id}"),
        DeliveryCommand::Transcript { id, .. } => {
            format!("reading the transcript of delivery {id}")
        }
        DeliveryCommand::Wait(args) => format!("waiting for delivery {}", args.id),
    }
}

fn shown(answer: Result<DeliveryView, client::Error>) -> Result<Answer> {
    Ok(show::delivery(&answer?))
}

/// One page, or page by page to the end.
async fn list(client: &Client, args: ListDeliveriesArgs) -> Result<Answer> {
    let is_filtered = args.phase.is_some() || args.repo.is_some() || args.needs.is_some();
    let unread = unread(client.status().await?, args.repo.as_ref());
    let asked = DeliveryQuery {
        phase: args.phase.map(|phase| phase.word().to_owned()),
        repo: args.repo,
        needs: args.needs.map(|who| who.word().to_owned()),
        open: false,
        limit: Some(if args.all {
            DELIVERIES_LIMIT_MAX
        } else {
            args.limit
        }),
        after: None,
    };
    let listed = match args.all {
        true => whole(client, asked).await?,
        false => client.deliveries(&asked).await?,
    };
    Ok(show::list(&listed, &unread, is_filtered))
}

async fn board(client: &Client, repo: Option<RepoName>) -> Result<Answer> {
    let status = client.status().await?;
    let observes = status.observe_only;
    let unread = unread(status, repo.as_ref());
    let asked = DeliveryQuery {
        repo,
        open: true,
        limit: Some(DELIVERIES_LIMIT_MAX),
        ..DeliveryQuery::default()
    };
    Ok(show::board(&whole(client, asked).await?, &unread, observes))
}

/// Which issues could not be read of the sources that are asked about: deliveries may be missing there.
fn unread(status: Status, only: Option<&RepoName>) -> Vec<UnreadIssuesView> {
    let mut unread = status.unread_issues;
    unread.retain(|it| only.is_none_or(|only| *only == it.repo));
    unread
}

/// All pages in one.
async fn whole(client: &Client, mut asked: DeliveryQuery) -> Result<Deliveries, client::Error> {
    let mut listed = client.deliveries(&asked).await?;
    while listed.next.is_some() {
        asked.after = listed.next.take();
        let page = client.deliveries(&asked).await?;
        listed.deliveries.extend(page.deliveries);
        listed.next = page.next;
    }
    Ok(listed)
}

/// Sends a request again while what it is about has yet to be read: each time, Gaffer waits a few seconds for the
/// reading, and nothing is done until then.
async fn once_read<T, F>(send: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<Came<T>, client::Error>>,
{
    let mut sent = 1;
    loop {
        match send().await? {
            Came::Done(done) => return Ok(done),
            Came::Later(_) if sent < READ_REQUESTS_MAX => sent += 1,
            Came::Later(later) => return Err(Error::not_read_yet(later.sentence).into()),
        }
    }
}

async fn create(client: &Client, args: CreateDeliveryArgs) -> Result<Answer> {
    if args.summary.is_none() && args.issue.is_none() {
        let next = "give it as `gaffer delivery create 'SUMMARY' --repo OWNER/REPO`";
        return Err(Error::usage("nothing says what is wanted", next).into());
    }
    let wanted = CreateDelivery {
        repo: args.repo,
        issue: args.issue,
        again: args.again,
        summary: args.summary,
        description: args.description,
        acceptance_criteria: args.criteria,
        refs: args.refs,
        priority: args.priority,
    };
    let created = once_read(|| client.create_delivery(&wanted, None)).await?;
    Ok(show::delivery(&created).piped(created.card.id.to_string()))
}

async fn verdict(client: &Client, args: VerdictArgs) -> Result<Answer> {
    let verdict = VerdictRequest {
        verdict: args.verdict,
        sha: args.sha,
        summary: args.summary,
        feedback: args.feedback,
    };
    shown(client.judge_delivery(args.id.as_str(), &verdict).await)
}

async fn plan(client: &Client, args: PlanArgs) -> Result<Answer> {
    let content = text_of(&args.file, "the plan", PLAN_BYTES_MAX as u64)?;
    if content.trim().is_empty() {
        let next = "say in it what is to be done";
        return Err(Error::usage("the plan is empty", next).into());
    }
    let plan = PlanRequest {
        content,
        target_files: args.target_files,
    };
    shown(client.plan_delivery(args.id.as_str(), &plan).await)
}

async fn split(client: &Client, args: SplitArgs) -> Result<Answer> {
    let children = match &args.file {
        None => args.parts,
        Some(file) => {
            let text = text_of(file, "the parts", PARTS_BYTES_MAX)?;
            let odd = |wrong: serde_json::Error| {
                let next = "write them as [{\"summary\": TEXT, \"acceptance_criteria\": [TEXT]}]";
                Error::usage(format!("`--file`: {wrong}"), next)
            };
            serde_json::from_str(&text).map_err(odd)?
        }
    };
    let split = SplitRequest { children };
    shown(client.split_delivery(args.id.as_str(), &split).await)
}

async fn waited(client: &Client, args: WaitDeliveryArgs, as_json: bool) -> Result<Answer> {
    let delivery = wait::until(client, args.id.as_str(), args.until, args.within, as_json).await?;
    Ok(show::delivery(&delivery))
}

/// The text of a file, or of standard input.
fn text_of(file: &Path, what: &str, bytes_max: u64) -> Result<String> {
    if file.as_os_str() == "-" {
        let read = stdin::of_stdin(bytes_max);
        return read.with_context(|| format!("reading {what} from standard input"));
    }
    let read = stdin::of_file(file, bytes_max);
    read.with_context(|| format!("reading {what} from {}", file.display()))
}
