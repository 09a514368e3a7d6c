//! The tools' actions: each reads its arguments, calls the API, and answers as little as a model needs.

use domain::fence::clip;
use domain::redact::presentable;
use serde_json::Value;

use super::answers::{
    ArtifactsAnswer, CheckResult, Code, Delivered, JobState, JobsAnswer, Merge, PullRequest, Row,
    to_value, waits_for,
};
use super::arguments::{self, ApprovePlan, OneJob, Show, read};
use super::patch::{self, Change};
use super::tool::Tool;
use super::tool_error::{SHOWN_MAX, ToolError};
use super::{deliveries, inbox, insight, mail, sprints, talk, transcripts, waiting};
use crate::wire::{
    self, ApproveRequest, CancelRequest, InvalidConstraint, JOBS_LIMIT, JobView, MergeRequest,
    RetryRequest,
};
use crate::{Answer, Client};

/// Most files in a summary.
const SUMMARY_FILES_MAX: usize = 20;

/// Most files in a list of all.
const TREE_FILES_MAX: usize = 500;

/// How much of a file's change is returned, in bytes: by default, and at most.
const FILE_BYTES: u32 = 8 * 1024;
const FILE_BYTES_MAX: u32 = 64 * 1024;

/// Calls a tool. Only a caller that `waits` gets long polling.
pub(super) async fn call(
    tool: Tool,
    given: Value,
    (client, waits): (&Client, bool),
) -> Result<Value, ToolError> {
    match tool {
        Tool::CreateJob => to_value(create(client, read(given)?).await?),
        Tool::RegisterJob => to_value(talk::register(client, read(given)?).await?),
        Tool::GetJob => to_value(talk::job(client, read(given)?).await?),
        Tool::GetMessages => to_value(talk::messages(client, read(given)?).await?),
        Tool::ListJobs => to_value(list(client, read(given)?).await?),
        Tool::Check => to_value(check(client, read(given)?).await?),
        Tool::SendMessage => to_value(send(client, read(given)?).await?),
        Tool::ApprovePlan => {
            let ApprovePlan { job_id, plan_id } = read(given)?;
            let approve = ApproveRequest { plan_id };
            to_value(Delivered::from(client.approve(&job_id, &approve).await?))
        }
        Tool::GetArtifacts => to_value(artifacts(client, read(given)?).await?),
        Tool::ExtractPr => to_value(extract(&one(client, &read::<OneJob>(given)?).await?)),
        Tool::MergePr => to_value(merge(client, read(given)?).await?),
        Tool::RequestRetry => {
            let OneJob { job_id } = read(given)?;
            to_value(JobState::from(
                &client.retry(&job_id, &RetryRequest::default()).await?,
            ))
        }
        Tool::CancelJob => {
            let OneJob { job_id } = read(given)?;
            let cancel = CancelRequest::default();
            to_value(JobState::from(&client.cancel(&job_id, &cancel).await?))
        }
        Tool::WaitEvent => to_value(waiting::wait(client, read(given)?, waits).await?),
        Tool::AckEvent => inbox::acknowledge(client, given).await,
        Tool::Status => insight::status(client, given).await,
        Tool::Why => insight::why(client, given).await,
        Tool::ListEvents => insight::events(client, given).await,
        Tool::TakeWakes => inbox::take(client, given, waits).await,
        Tool::ExtendWake => inbox::extend(client, given).await,
        Tool::ReturnWake => inbox::give_back(client, given).await,
        Tool::DeliveryList => deliveries::list(client, given).await,
        Tool::DeliveryGet => deliveries::get(client, given).await,
        Tool::DeliveryCreate => deliveries::create(client, given).await,
        Tool::DeliveryStart => deliveries::start(client, given).await,
        Tool::DeliveryPlan => deliveries::plan(client, given).await,
        Tool::DeliverySplit => deliveries::split(client, given).await,
        Tool::DeliveryApprove => deliveries::approve(client, given).await,
        Tool::DeliveryReject => deliveries::reject(client, given).await,
        Tool::DeliveryVerdict => deliveries::judge(client, given).await,
        Tool::DeliveryRetry => deliveries::retry(client, given).await,
        Tool::DeliveryCancel => deliveries::cancel(client, given).await,
        Tool::DeliveryTranscript => transcripts::read_page(client, given).await,
        Tool::MailSend => mail::send(client, given).await,
        Tool::MailInbox => mail::inbox(client, given).await,
        Tool::MailRead => mail::read_mail(client, given).await,
        Tool::MailTag => mail::tag(client, given).await,
        Tool::SprintStatus => sprints::status(client, given).await,
        Tool::SprintStart => sprints::start(client, given).await,
        Tool::SprintAbort => sprints::abort(client, given).await,
    }
}

async fn one(client: &Client, OneJob { job_id }: &OneJob) -> Result<JobView, ToolError> {
    Ok(client.job(job_id).await?)
}

async fn create(client: &Client, wanted: arguments::CreateJobArgs) -> Result<JobState, ToolError> {
    if let Some(constraints) = &wanted.constraints {
        let odd = |odd: InvalidConstraint| ToolError::argument(&odd.field, odd.wrong);
        constraints.understood().map_err(odd)?;
    }
    let order = wire::CreateJob {
        repo: wanted.repo,
        branch: wanted.branch,
        prompt: wanted.prompt,
        title: wanted.title,
        agent: wanted.agent,
        resume: None,
        priority: wanted.priority,
        constraints: wanted.constraints,
    };
    let key = wanted.idempotency_key.as_deref();
    Ok(JobState::from(&client.create_job(&order, key).await?))
}

async fn list(client: &Client, wanted: arguments::ListJobs) -> Result<JobsAnswer, ToolError> {
    let found = client.jobs(wanted.repo.as_ref(), wanted.limit).await?;
    Ok(JobsAnswer {
        jobs: found.jobs.iter().map(Row::from).collect(),
        more: found.more,
    })
}

async fn check(client: &Client, wanted: arguments::Check) -> Result<CheckResult, ToolError> {
    let found = match (wanted.job_id, wanted.repo) {
        (Some(job_id), _) => Some(client.job(&job_id).await?),
        (None, Some(repo)) => {
            let newest = client.jobs(Some(&repo), Some(JOBS_LIMIT)).await?.jobs;
            let branch = wanted.branch;
            let is_meant = |job: &JobView| branch.as_ref().is_none_or(|it| *it == job.branch);
            newest.into_iter().find(is_meant)
        }
        (None, None) => {
            return Err(ToolError::argument("job_id", "give it, or `repo`"));
        }
    };
    Ok(CheckResult {
        code: found.as_ref().map_or(Code::N, Code::from_job),
        job_id: found.as_ref().map(|job| job.job_id.to_string()),
        waits_for: found.as_ref().map(|job| job.waits_for.sentence.clone()),
        state: found.map(|job| job.state),
    })
}

async fn send(client: &Client, wanted: arguments::SendMessage) -> Result<Delivered, ToolError> {
    let key = wanted.idempotency_key.as_deref();
    let words = wanted.message.into_text();
    Ok(Delivered::from(
        client.say(&wanted.job_id, &words, key).await?,
    ))
}

fn extract(job: &JobView) -> PullRequest {
    let pull = job.pull_request.as_ref();
    PullRequest {
        job_id: job.job_id.to_string(),
        pull_request: pull.map(ToString::to_string),
        url: job.pull_request_url.clone(),
    }
}

async fn merge(client: &Client, wanted: arguments::MergePr) -> Result<Merge, ToolError> {
    let payload = wanted.payload.unwrap_or_default();
    if payload.force {
        let wrong = "nothing can be forced: it is merged once its checks have passed";
        return Err(ToolError::argument("payload.force", wrong));
    }
    let order = MergeRequest {
        sha: payload.sha,
        merge_method: payload.merge_method,
        commit_title: payload.commit_title,
        delete_branch: payload.delete_branch,
        force: false,
        by: None,
    };
    Ok(match client.merge(&wanted.job_id, &order).await? {
        Answer::Done(merged) => Merge {
            merged: true,
            pull_request: Some(merged.pull_request.to_string()),
            sha: Some(merged.sha.to_string()),
            waits_for: Vec::new(),
        },
        Answer::Later(later) => Merge {
            merged: false,
            pull_request: None,
            sha: None,
            waits_for: waits_for(*later),
        },
    })
}

async fn artifacts(
    client: &Client,
    wanted: arguments::GetArtifacts,
) -> Result<ArtifactsAnswer, ToolError> {
    let budget = budget(wanted.max_bytes)?;
    let path = match (wanted.show, wanted.path) {
        (Show::File, None) => {
            let wrong = "`show` is `file`, so say which; `tree` lists them";
            return Err(ToolError::argument("path", wrong));
        }
        (_, path) => path,
    };
    let found = match client.whole_artifacts(&wanted.job_id).await? {
        Answer::Done(found) => found,
        Answer::Later(_) => {
            return Ok(ArtifactsAnswer {
                job_id: wanted.job_id,
                ..ArtifactsAnswer::default()
            });
        }
    };
    let patch = found.patch.as_deref().unwrap_or_default();
    let changes = patch::changes(patch);
    let mut answer = ArtifactsAnswer {
        job_id: found.job_id.to_string(),
        read: true,
        pull_urls: found.pull_urls,
        suggested_message: found.suggested_message,
        base_commit: found.base_commit,
        files_changed: changes.len(),
        patch_bytes: patch.len(),
        patch_cut: found.patch_cut,
        ..ArtifactsAnswer::default()
    };
    match wanted.show {
        Show::Summary => answer.files = largest(&changes),
        Show::Tree => {
            let files = changes.iter().take(TREE_FILES_MAX);
            answer.files = files.map(|change| change.file.clone()).collect();
        }
        Show::File => {
            // More than there can be says the same as the most there can be.
            let offset = usize::try_from(wanted.offset.unwrap_or(0)).unwrap_or(usize::MAX);
            let piece = (offset, budget);
            of_file(&mut answer, &changes, (path.as_deref(), piece))?;
        }
    }
    Ok(answer)
}

fn budget(wanted: Option<u32>) -> Result<usize, ToolError> {
    let bytes = wanted.unwrap_or(FILE_BYTES);
    if !(1..=FILE_BYTES_MAX).contains(&bytes) {
        let wrong = format!("is {bytes}, but has to be from 1 to {FILE_BYTES_MAX}");
        return Err(ToolError::argument("max_bytes", wrong));
    }
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// The files with the most changed lines, the largest first.
fn largest(changes: &[Change<'_>]) -> Vec<super::answers::File> {
    let mut files: Vec<_> = changes.iter().map(|change| change.file.clone()).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.added.saturating_add(file.removed)));
    files.truncate(SUMMARY_FILES_MAX);
    files
}

fn of_file(
    answer: &mut ArtifactsAnswer,
    changes: &[Change<'_>],
    (path, (offset, budget)): (Option<&str>, (usize, usize)),
) -> Result<(), ToolError> {
    let wanted = path.unwrap_or_default();
    let Some(change) = changes.iter().find(|it| it.file.path == wanted) else {
        let shown = presentable(wanted, SHOWN_MAX);
        let wrong = if answer.patch_cut {
            format!(
                "`{shown}` is not in the first {} bytes of the patch, which is all that is kept; the pull request shows the rest",
                answer.patch_bytes
            )
        } else {
            format!("`{shown}` did not change; `show: tree` lists what did")
        };
        return Err(ToolError::argument("path", wrong));
    };
    let bytes = change.text.len();
    if offset > 0 && offset >= bytes {
        let wrong = format!("is {offset}, but the change of that file has {bytes} bytes");
        return Err(ToolError::argument("offset", wrong));
    }
    let start = change.text.floor_char_boundary(offset);
    let end = match change
        .text
        .floor_char_boundary(start.saturating_add(budget))
    {
        // A budget below one character still gets on.
        end if end <= start => change.text.ceil_char_boundary(start.saturating_add(1)),
        end => end,
    };
    let text = change.text.get(start..end).unwrap_or_default();
    answer.files = vec![change.file.clone()];
    answer.cut = Some(end < bytes);
    answer.next_offset = (end < bytes).then_some(end);
    answer.patch = Some(clip(text, usize::MAX));
    Ok(())
}
