//! The history of a delivery: its spans, with who did what was done in them.

use client::wire::{DeliveryView, PhaseRunView, RunView};

/// A span, with who brought the delivery there and who was at work in it.
pub(crate) struct Span<'a> {
    pub(crate) view: &'a PhaseRunView,
    pub(crate) by: &'a str,
    pub(crate) done_by: Option<&'a str>,
}

/// The spans of a delivery, the newest first.
pub(crate) fn spans(view: &DeliveryView) -> Vec<Span<'_>> {
    let mut next = None;
    let newest_first = view.phase_runs.iter().rev();
    let spans = newest_first.map(|span| Span {
        view: span,
        by: named(&span.actor),
        done_by: done_by(span, next.replace(span), &view.runs),
    });
    spans.collect()
}

/// An actor of the API as people name it.
fn named(actor: &str) -> &str {
    match actor {
        "system" => "Gaffer",
        other => other,
    }
}

/// Who was at work in a span; none while nothing is done.
fn done_by<'a>(
    span: &PhaseRunView,
    next: Option<&'a PhaseRunView>,
    runs: &'a [RunView],
) -> Option<&'a str> {
    if !matches!(span.run_status.as_str(), "running" | "blocked") {
        return None;
    }
    let begun = |run: &&RunView| span.ended_at.is_none_or(|end| run.created_at <= end);
    let mut of_phase = runs.iter().filter(|run| run.mode == span.phase);
    let run = of_phase.rfind(begun);
    Some(match run.map(|run| run.performer.as_str()) {
        Some("jules") => "Jules",
        // What they send ends the span, and names them.
        Some("agent") => sent_by(next, "agent ").unwrap_or("the agent"),
        Some("human") => sent_by(next, "person ").unwrap_or("a person"),
        Some(_) | None => "Gaffer",
    })
}

fn sent_by<'a>(next: Option<&'a PhaseRunView>, kind: &str) -> Option<&'a str> {
    let actor = next.map(|next| next.actor.as_str());
    actor.filter(|actor| actor.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(performer: &str, ended_by: &str) -> Vec<String> {
        let span = |phase: &str, status: &str, actor: &str| {
            json!({"phase": phase, "run_status": status, "executor": "agent", "actor": actor,
                "started_at": "2026-03-01T10:00:00Z", "ended_at": "2026-03-01T10:10:00Z"})
        };
        let phase_runs: Vec<PhaseRunView> = serde_json::from_value(json!([
            span("review", "pending", "system"),
            span("review", "running", "system"),
            span("review", "succeeded", ended_by),
        ]))
        .unwrap();
        let run: Value = json!({"id": "0123abcd", "mode": "review", "executor": "agent", "performer": performer,
            "status": "success", "attempt": 1, "created_at": "2026-03-01T10:00:00Z", "transcript": "none"});
        let runs = vec![serde_json::from_value(run).unwrap()];
        let view = DeliveryView {
            phase_runs,
            runs,
            ..crate::tests::view(json!({}))
        };
        let spans = spans(&view).into_iter().rev();
        let line = |it: Span<'_>| match it.done_by {
            Some(done_by) => format!("by {}, done by {done_by}", it.by),
            None => format!("by {}", it.by),
        };
        spans.map(line).collect()
    }

    #[test]
    fn each_span_names_who_was_at_work_in_it() {
        for (performer, ended_by, done_by) in [
            ("jules", "system", "Jules"),
            ("human", "person ada", "person ada"),
            ("human", "system", "a person"),
            ("agent", "agent zai", "agent zai"),
            ("agent", "person ada", "the agent"),
            ("nobody", "system", "Gaffer"),
        ] {
            let ended = ended_by.replace("system", "Gaffer");
            let running = format!("by Gaffer, done by {done_by}");
            let wanted = ["by Gaffer".to_owned(), running, format!("by {ended}")];
            assert_eq!(said(performer, ended_by), wanted);
        }
    }
}
