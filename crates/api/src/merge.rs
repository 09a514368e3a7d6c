//! Approves a pull request for merging, and waits a little for the outcome.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use client::wire::{MergeRequest, Merged, Pending, Reason};
use domain::effect::{Action, EffectState, PullAction};
use domain::facts::PullState;
use domain::ids::{CommitSha, JobId};
use domain::merge::Judgement;
use domain::pipeline::PipelinePart;
use domain::pull::{Approval, MergeApproval, MergeStyle, Pull, PullPhase};
use engine::keys;
use engine::settings::TrackedPull;
use engine::wait::WaitState;
use jiff::Timestamp;

use crate::auth::AuthenticatedCaller;
use crate::deliveries::{NamedCaller, merge_instead};
use crate::refusal::Refused;
use crate::state::ApiInner;
use crate::{outcome, view};

/// State of a pull request after its approval.
enum MergeStatus {
    /// It is merged.
    Merged(Merged),
    /// A person or an agent has to act first.
    Refused(Vec<Reason>),
    /// It continues by itself.
    Waiting(Vec<Reason>),
    /// It continues once a pause ends: what the judgement says besides that.
    Held(Vec<Reason>),
}

/// `POST /jobs/{id}:merge`. A repeated request after the merge gets the same answer as the first.
pub(crate) async fn merge(
    api: &ApiInner,
    name: &str,
    who: &AuthenticatedCaller,
    wanted: MergeRequest,
    key: Option<&str>,
) -> Result<Response, Refused> {
    if wanted.force {
        let detail = "`force`: nothing can be forced: it is merged once its checks have passed";
        return Err(Refused::field("force", "never_forced", detail));
    }
    let by = who.who(wanted.by.as_deref());
    let named = api.backend.find(name).await?.by(by.clone());
    api.backend.refuse_superseded(&named).await?;
    let style = MergeStyle {
        method: wanted.merge_method,
        title: wanted.commit_title.clone(),
        delete_branch: wanted.delete_branch,
    };
    let style = &api.backend.merge_style(&named.job, &style).await?;
    let found = api.backend.pull_of(&named.job).await?.value.pull;
    if let Some(merged) = merged(&found, wanted.sha.as_ref()) {
        return Ok(Json(merged).into_response());
    }
    let caller = NamedCaller { who, key };
    if let Some(ordered_at) = merge_instead(api, &named.job, &wanted, style, caller).await? {
        // Its delivery gives the word; what stands against the merge is answered all the same.
        return answered(api, &named.job, None, ordered_at).await;
    }
    let word = MergeApproval { by: &by, style };
    let pull = api
        .backend
        .approve_merge(&named, wanted.sha.as_ref(), &word)
        .await?;
    let Some(approval) = pull.approval else {
        return Ok(later(&named.job, Vec::new()));
    };
    tracing::info!(job.id = %named.job, pr = %pull.pull, pr.sha = %approval.sha, "a merge was approved");
    answered(api, &named.job, Some(&approval), approval.at).await
}

/// What came of an order within the API's time limit. Without an approval its delivery has yet to give it; what was read
/// or failed before the order is no answer to it. A refused order leaves no approval of its own.
async fn answered(
    api: &ApiInner,
    job: &JobId,
    approval: Option<&Approval>,
    ordered_at: Timestamp,
) -> Result<Response, Refused> {
    match settled(api, job, approval, ordered_at).await? {
        MergeStatus::Merged(merged) => Ok(Json(merged).into_response()),
        MergeStatus::Refused(reasons) => {
            if let Some(approval) = approval
                && !api.backend.take_approval_back(job, approval).await?
            {
                return Ok(later(job, Vec::new()));
            }
            let next = api.backend.why(job).await?.next;
            Err(refused(reasons).advising(&next))
        }
        MergeStatus::Waiting(mut reasons) | MergeStatus::Held(mut reasons) => {
            let pull = api.backend.pull_of(job).await?.value.pull;
            let given = approval.or_else(|| head_approval(&pull));
            let failed = match given {
                Some(approval) => failure(api, job, approval, ordered_at).await?,
                None => None,
            };
            if let Some(failure) = failed {
                return Err(outcome::failed(&failure));
            }
            reasons.splice(0..0, outcome::pauses(api, job).await?);
            Ok(later(job, reasons))
        }
    }
}

fn merged(pull: &Pull, wanted: Option<&CommitSha>) -> Option<Merged> {
    let PullPhase::Settled { state, sha, .. } = &pull.phase else {
        return None;
    };
    match state {
        PullState::Merged { commit } if wanted.is_none_or(|wanted| wanted == sha) => Some(Merged {
            job_id: pull.job.clone(),
            pull_request: pull.pull.clone(),
            sha: sha.clone(),
            commit: commit.clone(),
        }),
        PullState::Merged { .. } | PullState::Open | PullState::Closed => None,
    }
}

/// Waits until the pull request is merged or refused, at most for the API's time limit.
async fn settled(
    api: &ApiInner,
    job: &JobId,
    approval: Option<&Approval>,
    ordered_at: Timestamp,
) -> Result<MergeStatus, Refused> {
    let found = api.backend.store.job(job).await?;
    let part = found.and_then(|found| found.value.part);
    let part = part.as_deref();
    let look = || async {
        let found = api.backend.pull_of(job).await?.value;
        let given = approval.or_else(|| head_approval(&found.pull));
        let approved_at = given.map(|given| given.at.max(ordered_at));
        let standing = standing(&found, part, approved_at);
        let waits = matches!(standing, MergeStatus::Waiting(_));
        Ok(WaitState::if_enough(standing, !waits))
    };
    api.backend.look_within(api.answer_within, look).await
}

/// The approval of the present head.
fn head_approval(pull: &Pull) -> Option<&Approval> {
    let head = pull.head.as_ref().map(|head| &head.sha);
    let given = pull.approval.as_ref();
    given.filter(|given| head == Some(&given.sha))
}

/// The answer as of now, for the pull request of a job that does this for a pipeline.
fn standing(
    tracked: &TrackedPull,
    part: Option<&PipelinePart>,
    approved_at: Option<Timestamp>,
) -> MergeStatus {
    let pull = &tracked.pull;
    if let Some(merged) = merged(pull, None) {
        return MergeStatus::Merged(merged);
    }
    if pull.is_settled() {
        let closed = Reason::new("closed", "It was closed without a merge.");
        return MergeStatus::Refused(vec![closed]);
    }
    // A judgement made before the approval could not know of it; one that came out the same keeps its old time.
    let read = tracked.read_at.zip(approved_at);
    let read_since = read.is_some_and(|(read, approved)| read >= approved);
    let Some(verdict) = pull.verdict.as_ref().filter(|_| read_since) else {
        let unread = Reason::new("not_judged_yet", "It is being read and judged.");
        return MergeStatus::Waiting(vec![unread]);
    };
    let reasons = view::reasons(&verdict.judgement, part);
    match &verdict.judgement {
        Judgement::Merge { .. } | Judgement::Wait { .. } => MergeStatus::Waiting(reasons),
        // Which pause it is, is told by the pauses of this moment.
        Judgement::Refuse { reasons } if verdict.judgement.is_held() => {
            let others = reasons.iter().filter(|reason| !reason.is_pause());
            MergeStatus::Held(others.map(|it| view::merge_reason(it, part)).collect())
        }
        Judgement::Refuse { .. } | Judgement::Conflict { .. } => MergeStatus::Refused(reasons),
    }
}

/// Why a merge that was begun since the approval failed, if one did.
async fn failure(
    api: &ApiInner,
    job: &JobId,
    approval: &Approval,
    ordered_at: Timestamp,
) -> Result<Option<String>, Refused> {
    let pull = api.backend.pull_of(job).await?.value.pull.pull;
    let effects = api.backend.store.effects(&keys::pull_pk(&pull)).await?;
    let failed = |effect: &domain::effect::Effect| match (&effect.action, &effect.state) {
        (Action::Pull(PullAction::Merge { sha, .. }), EffectState::Failed { at, failure, .. })
            if *sha == approval.sha && *at >= approval.at.max(ordered_at) =>
        {
            Some(format!("merging {pull} failed: {failure}"))
        }
        _ => None,
    };
    Ok(effects.iter().find_map(|found| failed(&found.value)))
}

fn refused(reasons: Vec<Reason>) -> Refused {
    let sentences: Vec<_> = reasons.iter().map(|it| it.sentence.as_str()).collect();
    Refused::new(StatusCode::CONFLICT, "merge_refused", &sentences.join(" ")).because(reasons)
}

fn later(job: &JobId, reasons: Vec<Reason>) -> Response {
    outcome::later(Pending {
        ask_again: format!("/jobs/{job}/why"),
        sentence: "It is approved, and merged as soon as nothing stands against it.".to_owned(),
        reasons,
        effect: None,
    })
}
