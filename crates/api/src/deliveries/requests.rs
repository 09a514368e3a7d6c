//! Orders about deliveries, from their wire form. A text that is too long is refused whatever the delivery's state;
//! the rest of a text's rules are the domain's.

use client::wire::{
    ApproveDelivery, EditDelivery, PartRequest, PlanRequest, RefRequest, RejectDelivery,
    RetryDelivery, SplitRequest, VerdictRequest,
};
use domain::delivery::{
    self, Act, CRITERIA_MAX, CRITERION_CHARS_MAX, Edit, FEEDBACK_CHARS_MAX, PLAN_BYTES_MAX, Part,
    Ref, ReviewResult, SUMMARY_CHARS_MAX, TITLE_CHARS_MAX, Verdict,
};
use domain::redact::presentable;

use crate::refusal::Refused;

/// Refuses a text that is blank or too long.
pub(super) fn fits(field: &str, text: &str, chars_max: usize) -> Result<(), Refused> {
    // The codes are the domain's.
    let what = match field {
        "content" => "plan",
        "acceptance_criteria" => "criterion",
        other => other,
    };
    if presentable(text.trim(), usize::MAX).trim().is_empty() {
        let detail = format!("`{field}` is empty");
        return Err(Refused::field(field, &format!("{what}_empty"), &detail));
    }
    let long = text.trim().chars().count();
    if long > chars_max {
        let detail = format!("`{field}` has {long} characters, at most {chars_max}");
        return Err(Refused::field(field, &format!("{what}_too_long"), &detail));
    }
    Ok(())
}

fn may_fit(field: &str, text: Option<&str>, chars_max: usize) -> Result<(), Refused> {
    text.map_or(Ok(()), |text| fits(field, text, chars_max))
}

/// Refuses criteria that are too many, or one that is blank or too long.
pub(super) fn criteria(lines: &[String]) -> Result<(), Refused> {
    let field = "acceptance_criteria";
    if lines.len() > CRITERIA_MAX {
        let detail = format!(
            "`{field}`: there are {}, at most {CRITERIA_MAX}",
            lines.len()
        );
        return Err(Refused::field(field, "too_many_criteria", &detail));
    }
    lines
        .iter()
        .try_for_each(|line| fits(field, line, CRITERION_CHARS_MAX))
}

pub(super) fn approve(sent: ApproveDelivery) -> Act {
    Act::Approve {
        head: sent.sha,
        plan: sent.plan_id,
    }
}

pub(super) fn reject(sent: RejectDelivery) -> Result<Act, Refused> {
    let reason = sent.reason;
    fits("reason", &reason, FEEDBACK_CHARS_MAX)?;
    Ok(Act::Reject { reason })
}

pub(super) fn retry(sent: RetryDelivery) -> Result<Act, Refused> {
    let reason = sent.reason;
    may_fit("reason", reason.as_deref(), FEEDBACK_CHARS_MAX)?;
    Ok(Act::Retry { reason })
}

pub(super) fn verdict(sent: VerdictRequest) -> Result<Act, Refused> {
    may_fit("summary", sent.summary.as_deref(), SUMMARY_CHARS_MAX)?;
    may_fit("feedback", sent.feedback.as_deref(), FEEDBACK_CHARS_MAX)?;
    if sent.verdict == Verdict::NotPass && sent.feedback.is_none() {
        let detail = "`feedback` has to say what must change";
        return Err(Refused::field("feedback", "feedback_empty", detail));
    }
    Ok(Act::Verdict(ReviewResult {
        verdict: sent.verdict,
        head: sent.sha,
        summary: sent.summary,
        feedback: sent.feedback,
    }))
}

pub(super) fn plan(sent: PlanRequest) -> Result<Act, Refused> {
    let PlanRequest {
        content,
        target_files,
    } = sent;
    fits("content", &content, PLAN_BYTES_MAX)?;
    Ok(Act::Plan {
        content,
        target_files,
    })
}

pub(super) fn split(sent: SplitRequest) -> Result<Act, Refused> {
    // Each surface has a name of its own for them, which the sentence leaves out.
    delivery::check_number_of_children(sent.children.len())
        .map_err(|(code, sentence)| Refused::field("children", code, &sentence))?;
    let part = |part: PartRequest| {
        let of_children = |refused: Refused| refused.about("children");
        fits("summary", &part.summary, TITLE_CHARS_MAX).map_err(of_children)?;
        let acceptance_criteria = part.acceptance_criteria.unwrap_or_default();
        criteria(&acceptance_criteria).map_err(of_children)?;
        Ok(Part {
            summary: part.summary,
            acceptance_criteria,
        })
    };
    let children: Result<Vec<Part>, Refused> = sent.children.into_iter().map(part).collect();
    Ok(Act::Split {
        children: children?,
    })
}

pub(super) fn edit(sent: EditDelivery) -> Result<Act, Refused> {
    may_fit("summary", sent.summary.as_deref(), TITLE_CHARS_MAX)?;
    sent.acceptance_criteria
        .as_deref()
        .map_or(Ok(()), criteria)?;
    Ok(Act::Edit(Edit {
        summary: sent.summary,
        acceptance_criteria: sent.acceptance_criteria,
        priority: sent.priority,
        refs: references(sent.refs),
    }))
}

/// References, whose rules are the domain's.
pub(super) fn references(sent: Vec<RefRequest>) -> Vec<Ref> {
    let reference = |sent: RefRequest| Ref {
        role: sent.role,
        kind: sent.kind,
        label: sent.label,
        url: sent.url,
    };
    sent.into_iter().map(reference).collect()
}
