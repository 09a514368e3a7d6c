//! What deliveries refuse, as problem documents.

use axum::http::StatusCode;
use domain::delivery::{CommandKind, Delivery, TransitionError};

use crate::refusal::Refused;

impl From<TransitionError> for Refused {
    fn from(error: TransitionError) -> Self {
        let TransitionError {
            code,
            sentence,
            legal,
        } = error;
        match field_of(code, &sentence) {
            Some(field) => Self::field(field, code, &sentence),
            None => {
                let legal = legal.into_iter().map(CommandKind::word);
                let legal: Vec<String> = legal.map(str::to_owned).collect();
                let refused = Self::new(StatusCode::CONFLICT, code, &sentence).with_legal(legal);
                match code {
                    "head_moved" => refused.about("sha"),
                    "plan_moved" => refused.about("plan_id"),
                    _ => refused,
                }
            }
        }
    }
}

/// The field that cannot be used, where a refusal is about what was sent and not about the state of the delivery.
fn field_of<'a>(code: &str, sentence: &'a str) -> Option<&'a str> {
    let field = match code {
        "summary_empty" | "summary_too_long" => "summary",
        "description_empty" | "description_too_long" => "description",
        "criterion_empty" | "criterion_too_long" | "too_many_criteria" | "criteria_too_long" => {
            "acceptance_criteria"
        }
        "feedback_empty" | "feedback_too_long" => "feedback",
        "reason_empty" | "reason_too_long" => "reason",
        "plan_empty" | "plan_too_long" => "content",
        "analysis_empty" | "analysis_too_long" => "analysis",
        "odd_target_files" => "target_files",
        "odd_number_of_children" | "children_too_long" => "children",
        "too_many_refs" | "odd_label" => "refs",
        // Any text may hold one: its sentence begins with the field.
        "secret_in_text" => return sentence.split('`').nth(1),
        _ => return None,
    };
    Some(field)
}

/// The issue has a delivery.
pub(super) fn exists(found: &Delivery) -> Refused {
    let (id, phase, status) = (&found.id, found.phase, found.run_status);
    let refused = |detail: &str| {
        Refused::new(StatusCode::CONFLICT, "exists", detail).with_existing(id.as_str())
    };
    if found.is_terminal() {
        let detail = format!("its delivery {id} is closed: another one has to be asked for");
        return refused(&detail).about("again");
    }
    refused(&format!(
        "there is a delivery of it already: {id}, at {phase}, {status}"
    ))
}
