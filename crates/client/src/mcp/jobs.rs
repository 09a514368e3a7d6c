//! Tools for jobs: they are created, listed, answered and ended, and what they made is shown.

use domain::fence::clip;
use domain::redact::presentable;
use serde_json::Value;

use super::answers::{
    ArtifactsAnswer, CheckResult, Code, Delivered, JobState, JobsAnswer, Merge, PullRequest, Row,
    to_value, waits_for,
};
use super::arguments::{
    ApprovePlan, Check, CreateJobArgs, GetArtifacts, ListJobs, MergePr, OneJob, SendMessage, Show,
    read,
};
use super::patch::{self, Change};
use super::tool_error::{SHOWN_MAX, ToolError};
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

/// `jules_create_job`.
pub(super) async fn create(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: CreateJobArgs = read(given)?;
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
    to_value(JobState::from(&client.create_job(&order, key).await?))
}

/// `jules_list_jobs`.
pub(super) async fn list(client: &Client, given: Value) -> Result<Value, ToolError> {
    let ListJobs { repo, limit } = read(given)?;
    let found = client.jobs(repo.as_ref(), limit).await?;
    to_value(JobsAnswer {
        jobs: found.jobs.iter().map(Row::from).collect(),
        more: found.more,
    })
}

/// `jules_check`.
pub(super) async fn check(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: Check = read(given)?;
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
    to_value(CheckResult {
        code: found.as_ref().map_or(Code::N, Code::from_job),
        job_id: found.as_ref().map(|job| job.job_id.to_string()),
        waits_for: found.as_ref().map(|job| job.waits_for.sentence.clone()),
        state: found.map(|job| job.state),
    })
}

/// `jules_send_message`.
pub(super) async fn send(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: SendMessage = read(given)?;
    let key = wanted.idempotency_key.as_deref();
    let words = wanted.message.into_text();
    let said = client.say(&wanted.job_id, &words, key).await?;
    to_value(Delivered::from(said))
}

/// `jules_approve_plan`.
pub(super) async fn approve(client: &Client, given: Value) -> Result<Value, ToolError> {
    let ApprovePlan { job_id, plan_id } = read(given)?;
    let approve = ApproveRequest { plan_id };
    to_value(Delivered::from(client.approve(&job_id, &approve).await?))
}

/// `jules_request_retry`.
pub(super) async fn retry(client: &Client, given: Value) -> Result<Value, ToolError> {
    let OneJob { job_id } = read(given)?;
    let retry = RetryRequest::default();
    to_value(JobState::from(&client.retry(&job_id, &retry).await?))
}

/// `jules_cancel_job`.
pub(super) async fn cancel(client: &Client, given: Value) -> Result<Value, ToolError> {
    let OneJob { job_id } = read(given)?;
    let cancel = CancelRequest::default();
    to_value(JobState::from(&client.cancel(&job_id, &cancel).await?))
}

/// `jules_extract_pr`.
pub(super) async fn pull_request(client: &Client, given: Value) -> Result<Value, ToolError> {
    let OneJob { job_id } = read(given)?;
    let job = client.job(&job_id).await?;
    to_value(PullRequest {
        job_id: job.job_id.to_string(),
        pull_request: job.pull_request.map(|pull| pull.to_string()),
        url: job.pull_request_url,
    })
}

/// `jules_merge_pr`.
pub(super) async fn merge(client: &Client, given: Value) -> Result<Value, ToolError> {
    let MergePr { job_id, payload } = read(given)?;
    let payload = payload.unwrap_or_default();
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
    to_value(match client.merge(&job_id, &order).await? {
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

/// `jules_get_artifacts`.
pub(super) async fn artifacts(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: GetArtifacts = read(given)?;
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
            return to_value(ArtifactsAnswer {
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
            let path = path.unwrap_or_default();
            add_file(&mut answer, &changes, &path, offset, budget)?;
        }
    }
    to_value(answer)
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

/// Adds at most `budget` bytes of the change of one file, from `offset` on.
fn add_file(
    answer: &mut ArtifactsAnswer,
    changes: &[Change<'_>],
    path: &str,
    offset: usize,
    budget: usize,
) -> Result<(), ToolError> {
    let Some(change) = changes.iter().find(|it| it.file.path == path) else {
        let shown = presentable(path, SHOWN_MAX);
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
