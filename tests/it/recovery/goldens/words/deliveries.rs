//! The words of the variants in a stored delivery.

use domain::delivery::{Delivery, JobGlimpse, PhaseRun, Rules, Run, SessionWork};

use super::Words;

/// The variants in a delivery.
pub(super) fn words_of(delivery: &Delivery) -> Vec<&'static str> {
    let mut words = vec![
        Words::word(&delivery.kind),
        Words::word(&delivery.phase),
        Words::word(&delivery.run_status),
    ];
    words.extend(delivery.verdict.iter().map(Words::word));
    for reference in &delivery.refs {
        words.extend([Words::word(&reference.role), Words::word(&reference.kind)]);
    }
    words.extend(delivery.error.iter().map(|error| Words::word(&error.code)));
    words.extend(
        delivery
            .children
            .iter()
            .map(|child| Words::word(&child.state)),
    );
    words.extend(delivery.runs.iter().flat_map(of_run));
    words.extend(delivery.phase_runs.iter().flat_map(of_span));
    words.extend(of_rules(&delivery.rules));
    let (asked, approved) = (&delivery.review.asked, &delivery.review.approved);
    words.extend(asked.iter().map(|asked| Words::word(&asked.by)));
    words.extend(approved.iter().map(|approved| Words::word(&approved.by)));
    words.extend(delivery.seen.job.iter().flat_map(of_job));
    if let Some(pull) = &delivery.seen.pull {
        words.push(Words::word(&pull.checks));
        words.extend(pull.end.iter().map(Words::word));
        words.extend(pull.held_by.iter().map(Words::word));
    }
    words.extend(delivery.trouble.iter().map(Words::word));
    words.extend(delivery.closed.iter().map(Words::word));
    words
}

/// The variants in settings.
pub(super) fn of_rules(rules: &Rules) -> Vec<&'static str> {
    let mut words = vec![
        Words::word(&rules.checkpoints_by),
        Words::word(&rules.plan_by),
        Words::word(&rules.deploy),
        Words::word(&rules.observe),
    ];
    words.extend(rules.review_by.iter().map(Words::word));
    words
}

fn of_run(run: &Run) -> Vec<&'static str> {
    let by = run
        .analysis
        .iter()
        .map(|analysis| Words::word(&analysis.by));
    let own = [
        Words::word(&run.mode),
        Words::word(&run.performer),
        Words::word(&run.status),
        Words::word(&run.transcript),
    ];
    own.into_iter().chain(by).collect()
}

fn of_span(span: &PhaseRun) -> Vec<&'static str> {
    let mut words = vec![
        Words::word(&span.phase),
        Words::word(&span.run_status),
        Words::word(&span.actor),
    ];
    words.extend(span.verdict.iter().map(Words::word));
    words
}

fn of_job(job: &JobGlimpse) -> Vec<&'static str> {
    let mut words = vec![Words::word(&job.work)];
    if let SessionWork::Ended(end) = &job.work {
        words.push(Words::word(end));
    }
    words
}
