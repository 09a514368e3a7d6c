//! Deliveries as people and programs see them.

use client::wire::{
    ChildView, Deliveries, DeliveryCard, DeliveryView, DeliveryWhy, PhaseRunView, PlanView,
    RunView, WaitsFor,
};
use domain::advice::Advice;
use domain::delivery::Phase;
use domain::ids::{CommitSha, DeliveryId, JobId, PullRef, RepoName};
use domain::job::WaitReason;
use domain::status::UnreadIssuesView;
use serde_json::{Value, json};

use crate::render::{Answer, moment, next, or_dash, or_empty, value};
use crate::why::{coming, reasons, under};

/// The performer of a review that a source leaves out.
const NO_PERFORMER: &str = "nobody";

/// What a board says while nothing is written, also where no delivery waits for the end of that.
const OBSERVES: &str =
    "Gaffer only observes: nothing is written until it is started without --observe-only.";

pub(super) fn delivery(delivery: &DeliveryView) -> Answer {
    let card = &delivery.card;
    let issue = card.issue.as_ref();
    let job = delivery.job_id.as_ref();
    let pairs = vec![
        ("delivery", card.id.to_string()),
        ("summary", card.summary.clone()),
        ("phase", place(card)),
        ("waits for", next::waits(&card.waits_for, &card.repo)),
        ("why", card.why.sentence.clone()),
        ("question", or_empty(delivery.question.clone())),
        ("repository", card.repo.to_string()),
        ("issue", or_empty(issue.map(|issue| issue.url.clone()))),
        ("job", or_empty(job)),
        ("pull request", or_empty(card.pull_request.as_ref())),
        ("earlier pull request", or_empty(earlier_pull(delivery))),
        ("head", or_empty(delivery.head.as_ref())),
        ("ends with", delivery.endpoint.clone()),
        ("checkpoints", delivery.checkpoints.join(", ")),
        ("attempt", delivery.attempt.to_string()),
        ("sent back", times(delivery.review_round)),
        ("feedback", or_empty(delivery.feedback.clone())),
        ("priority", card.priority.to_string()),
        ("part of", or_empty(delivery.parent.as_ref())),
        ("created", moment(card.created_at)),
        ("changed", moment(card.updated_at)),
    ];
    let answer = Answer::new(json!({ "delivery": value(delivery) })).pairs(pairs);
    let answer = under(
        answer,
        "It is done when:",
        items(&delivery.acceptance_criteria),
    );
    let refs = delivery.refs.iter().map(|it| format!("- {it}")).collect();
    let answer = under(answer, "It refers to:", refs);
    let answer = delivery.plan.iter().fold(answer, planned);
    let children = delivery.children.iter().map(child).collect();
    let answer = under(answer, "Its parts:", children);
    let spans = delivery.phase_runs.iter().map(span).collect();
    let answer = under(answer, "Its phases:", spans);
    let answer = under(
        answer,
        "Its runs:",
        delivery.runs.iter().flat_map(run).collect(),
    );
    can(answer, delivery)
}

/// The page of the pull request of the attempt before, until the present attempt has come to one.
fn earlier_pull(delivery: &DeliveryView) -> Option<String> {
    let mut made = delivery.refs.iter();
    let made = made.find(|it| it.role == "output" && it.kind == "pr")?;
    let page = made.url.clone()?;
    let present = delivery.card.pull_request.as_ref().map(PullRef::url);
    (present.as_ref() != Some(&page)).then_some(page)
}

fn place(card: &DeliveryCard) -> String {
    let verdict = card.verdict.as_ref();
    let verdict = verdict.map_or_else(String::new, |verdict| format!(" ({verdict})"));
    format!("{}, {}{verdict}", card.phase, card.run_status)
}

fn times(round: u32) -> String {
    match round {
        0 => String::new(),
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

fn items(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| format!("- {text}")).collect()
}

fn planned(answer: Answer, plan: &PlanView) -> Answer {
    let answer = answer
        .line(format!(
            "Its plan {} of {}:",
            plan.id,
            moment(plan.generated_at)
        ))
        .line(plan.content.clone());
    under(answer, "Files:", items(&plan.target_files))
}

fn child(child: &ChildView) -> String {
    format!("- {} {}: {}", child.id, child.state, child.summary)
}

fn span(span: &PhaseRunView) -> String {
    let by = match span.actor.as_str() {
        "system" => "Gaffer",
        other => other,
    };
    let verdict = span.verdict.as_ref();
    let verdict = verdict.map_or_else(String::new, |verdict| format!(" ({verdict})"));
    let (phase, status) = (&span.phase, &span.run_status);
    format!(
        "- {} {phase}, {status}{verdict}, by {by}",
        moment(span.started_at)
    )
}

fn run(run: &RunView) -> Vec<String> {
    let took = run.duration_seconds;
    let took = took.map_or_else(String::new, |seconds| format!(" in {seconds} s"));
    let verdict = run.verdict.as_ref();
    let verdict = verdict.map_or_else(String::new, |verdict| format!(", {verdict}"));
    let said = run.error.as_ref().or(run.summary.as_ref());
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    let by = match run.performer.as_str() {
        NO_PERFORMER => String::new(),
        performer => format!(" by {performer}"),
    };
    let line = format!(
        "- {} {}{by}, {}{verdict}{took}{said}",
        run.id, run.mode, run.status
    );
    let found = run.analysis.as_ref();
    let found = found.map(|found| format!("  {} found out: {}", found.by, found.text));
    let advised = run
        .analysis
        .as_ref()
        .and_then(|found| found.suggestion.as_ref());
    let advised = advised.map(|advice| format!("  Suggested: {advice}"));
    std::iter::once(line).chain(found).chain(advised).collect()
}

/// The commands that a delivery takes now, as they are typed. What takes it no further, such as an edit, is left out.
fn can(answer: Answer, view: &DeliveryView) -> Answer {
    let known = CommandTargets {
        id: &view.card.id,
        job: view.job_id.as_ref(),
        asking: view.asking_job_id.as_ref(),
        head: view.head.as_ref(),
        takes_reason: view.retry_takes_reason,
    };
    under(answer, "What you can do:", known.commands(&view.legal))
}

/// What the commands about a delivery name.
struct CommandTargets<'a> {
    id: &'a DeliveryId,
    job: Option<&'a JobId>,
    asking: Option<&'a JobId>,
    head: Option<&'a CommitSha>,
    takes_reason: bool,
}

impl CommandTargets<'_> {
    fn commands(&self, legal: &[String]) -> Vec<String> {
        let say = self
            .asking
            .map(|job| format!("- `gaffer job say {job} TEXT`"));
        let orders = legal.iter().flat_map(|verb| self.typed(verb));
        say.into_iter().chain(orders).collect()
    }

    fn typed(&self, verb: &str) -> Vec<String> {
        let id = self.id;
        let head = self
            .head
            .map_or_else(|| "SHA".to_owned(), ToString::to_string);
        let arguments = match verb {
            "start" | "approve" | "cancel" => vec![String::new()],
            "retry" if self.takes_reason => vec![" --reason TEXT".to_owned(), String::new()],
            "retry" => vec![String::new()],
            "reject" => vec![" --reason TEXT".to_owned()],
            "verdict" => vec![
                format!(" pass --sha {head}"),
                format!(" not-pass --sha {head} --feedback TEXT"),
            ],
            "plan" => vec![" --file FILE".to_owned()],
            "split" => vec![" --part SUMMARY".to_owned()],
            "analyse" => return vec![format!("- `gaffer delivery analysis {id} --text TEXT`")],
            "merge" => {
                let job = self.job.map(|job| format!("- `gaffer job merge {job}`"));
                return job.into_iter().collect();
            }
            _ => return Vec::new(),
        };
        let line = |arguments: String| format!("- `gaffer delivery {verb} {id}{arguments}`");
        arguments.into_iter().map(line).collect()
    }
}

const HEAD: [&str; 7] = [
    "delivery",
    "phase",
    "waits for",
    "repository",
    "issue",
    "created",
    "summary",
];

fn row(card: &DeliveryCard) -> Vec<String> {
    let issue = card.issue.as_ref();
    vec![
        card.id.to_string(),
        place(card),
        waits(card),
        card.repo.to_string(),
        or_dash(issue.map(|issue| format!("#{}", issue.number))),
        moment(card.created_at),
        untitled(card).to_owned(),
    ]
}

/// What a list says of a pause.
fn paused(card: &DeliveryCard) -> (&WaitsFor, &RepoName) {
    (&card.waits_for, &card.repo)
}

/// The summary without the number of the issue, which has a column.
fn untitled(card: &DeliveryCard) -> &str {
    let issue = card.issue.as_ref();
    let titled = issue.map(|issue| format!("GitHub Issue #{}: ", issue.number));
    let rest = titled.and_then(|title| card.summary.strip_prefix(&title));
    rest.unwrap_or(&card.summary)
}

/// Who is waited for, in one word.
fn waits(card: &DeliveryCard) -> String {
    if card.waits_for.what == WaitReason::ObserveOnly.word() {
        return format!("{}, only observes", card.waits_for.who);
    }
    if Advice::for_pause(&card.waits_for.what).is_some() {
        return format!("{}, paused", card.waits_for.who);
    }
    let agent = card.waits_for.agent.as_ref();
    agent.map_or_else(
        || card.waits_for.who.clone(),
        |agent| format!("agent {agent}"),
    )
}

/// Many deliveries, the newest first. `is_filtered` when only some were asked for.
pub(super) fn list(
    deliveries: &Deliveries,
    unread: &[UnreadIssuesView],
    is_filtered: bool,
) -> Answer {
    let rows = deliveries.deliveries.iter().map(row).collect();
    let none = if is_filtered {
        "No delivery is like that: `gaffer delivery list` shows all."
    } else {
        "No delivery yet: label an issue, or `gaffer delivery create SUMMARY --repo OWNER/REPO`."
    };
    let mut json = value(deliveries);
    json["unread_issues"] = value(&unread);
    let answer = failures(Answer::new(json), unread).table(&HEAD, rows, none);
    let answer =
        next::of_pauses(deliveries.deliveries.iter().map(paused)).fold(answer, Answer::line);
    match &deliveries.next {
        Some(_) => answer.line("There may be older ones: `--limit N` shows more, and `--all` all."),
        None => answer,
    }
}

/// Says first which issues could not be read, so that nothing looks idle for that.
fn failures(answer: Answer, unread: &[UnreadIssuesView]) -> Answer {
    let lines = unread.iter().map(|it| format!("error: {}", it.sentence));
    lines.fold(answer, Answer::line)
}

/// Open deliveries by their phase, integration and delivery apart, behind what keeps all of them from going on.
pub(super) fn board(
    deliveries: &Deliveries,
    unread: &[UnreadIssuesView],
    observes: bool,
) -> Answer {
    let open = deliveries.deliveries.iter().filter(|card| !card.is_over());
    let open: Vec<&DeliveryCard> = open.collect();
    let of = |phase: Phase| {
        let cards = open.iter().filter(move |card| card.phase == phase.word());
        cards.copied().collect::<Vec<&DeliveryCard>>()
    };
    let parts = [
        ("ci", "Integration (CI):", Phase::CI),
        ("cd", "Delivery (CD):", Phase::CD),
    ];
    let phases = parts.iter().flat_map(|(part, _, phases)| {
        let json =
            |phase: Phase| json!({ "part": part, "phase": phase.word(), "deliveries": of(phase) });
        phases.map(json)
    });
    let phases: Vec<Value> = phases.collect();
    let answer =
        Answer::new(json!({ "phases": phases, "observe_only": observes, "unread_issues": unread }));
    let notice = observes.then(|| OBSERVES.to_owned());
    let answer = failures(notice.into_iter().fold(answer, Answer::line), unread);
    if open.is_empty() {
        return answer.line("No delivery is open.");
    }
    let answer = parts.into_iter().fold(answer, |answer, (_, name, phases)| {
        let rows = phases.into_iter().flat_map(of).map(row).collect();
        answer.line(name).table(&HEAD, rows, "None.")
    });
    next::of_pauses(open.into_iter().map(paused)).fold(answer, Answer::line)
}

pub(super) fn why(why: &DeliveryWhy) -> Answer {
    let why = &DeliveryWhy {
        next: why.next.iter().map(next::as_typed).collect(),
        ..why.clone()
    };
    let answer = Answer::new(value(why))
        .line(format!(
            "Delivery {}: {}, {}.",
            why.delivery_id, why.phase, why.run_status
        ))
        .line(format!("Waits for {}.", why.waits_for.sentence));
    let read = why.as_read.iter().map(|read| read.sentence.clone());
    let answer = reasons(read.fold(answer, Answer::line), &why.because);
    let answer = under(answer, "What comes next:", coming(&why.then));
    let next = why.next.iter().map(|next| format!("- {}.", next.sentence));
    // Its advice says already how a question is answered.
    let known = CommandTargets {
        id: &why.delivery_id,
        job: why.job_id.as_ref(),
        asking: None,
        head: why.head.as_ref(),
        takes_reason: why.retry_takes_reason,
    };
    let orders = known.commands(&why.legal);
    under(answer, "What you can do:", next.chain(orders).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_what_they_are_about_and_only_those_that_there_are() {
        let (id, job) = (
            "f11647a73aa0".parse().unwrap(),
            "01k5nx0000000000000000000a".parse().unwrap(),
        );
        let head = "a".repeat(40).parse().unwrap();
        let known = |is_blocked| CommandTargets {
            id: &id,
            job: Some(&job),
            asking: Some(&job).filter(|_| is_blocked),
            head: Some(&head),
            takes_reason: !is_blocked,
        };
        let legal = |verbs: &[&str]| -> Vec<String> {
            let verbs = verbs.iter().map(|verb| (*verb).to_owned());
            verbs.collect()
        };
        let sha = "a".repeat(40);
        assert_eq!(
            known(false).commands(&legal(&["verdict", "merge", "edit", "collect", "analyse"])),
            [
                format!("- `gaffer delivery verdict f11647a73aa0 pass --sha {sha}`"),
                format!(
                    "- `gaffer delivery verdict f11647a73aa0 not-pass --sha {sha} --feedback TEXT`"
                ),
                "- `gaffer job merge 01k5nx0000000000000000000a`".to_owned(),
                "- `gaffer delivery analysis f11647a73aa0 --text TEXT`".to_owned(),
            ]
        );
        assert_eq!(
            known(true).commands(&legal(&["cancel", "retry"])),
            [
                "- `gaffer job say 01k5nx0000000000000000000a TEXT`",
                "- `gaffer delivery cancel f11647a73aa0`",
                "- `gaffer delivery retry f11647a73aa0`",
            ]
        );
        assert_eq!(
            known(false).commands(&legal(&["retry"])),
            [
                "- `gaffer delivery retry f11647a73aa0 --reason TEXT`",
                "- `gaffer delivery retry f11647a73aa0`",
            ]
        );
    }
}
