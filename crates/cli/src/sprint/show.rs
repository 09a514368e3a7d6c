//! Sprints as people and programs see them.

use client::wire::{
    PlaceView, Reason, SprintMemberView, SprintMemberWhy, SprintPlanView, SprintView, SprintWhy,
    Sprints, VerdictView, WeaveView,
};
use domain::ids::RepoName;
use domain::policy::Source;
use domain::sprint::{Figures, MemberState, QUEUED_TIMEOUT};
use serde_json::json;

use crate::args::value::short;
use crate::render::{Answer, moment, next, or_dash, or_empty, value};
use crate::why::{reasons, under};

/// How many places of a conflict are shown; `--json` has all.
const PLACES_MAX: usize = 3;

/// The reasons of a sprint that are pauses.
const PAUSES: [&str; 3] = ["paused", "observe_only", "source_paused"];

/// How the sprints of a source go.
pub(super) fn settings(source: &Source) -> Answer {
    let rules = &source.sprints;
    Answer::new(json!({ "source": { "repo": source.repo, "sprints": rules } })).pairs(vec![
        ("parallel", rules.parallel.to_string()),
        ("at once", at_once(rules.at_once)),
        ("member timeout", short(rules.member_timeout)),
        ("next sprint", rules.next.word().to_owned()),
        ("integration", rules.integration.word().to_owned()),
    ])
}

/// What a sprint would be.
pub(super) fn plan(plan: &SprintPlanView) -> Answer {
    let members: Vec<&str> = plan.members.iter().map(|it| it.as_str()).collect();
    let answer = Answer::new(json!({ "plan": value(plan) }))
        .line(format!(
            "Sprint {} of {} would start; nothing was created.",
            plan.number, plan.repo
        ))
        .pairs(vec![
            ("members", members.join(", ")),
            ("sessions needed", plan.sessions.to_string()),
            ("begin now", plan.begin_now.to_string()),
            ("begin later", plan.begin_later.to_string()),
            ("wait for slots", plan.wait_for_slots.to_string()),
            ("wait for tomorrow's quota", plan.wait_for_quota.to_string()),
            ("target branch", plan.target.to_string()),
            ("integration branch", plan.branch.to_string()),
            ("merged", plan.merges.clone()),
            ("at once", at_once(plan.at_once)),
            ("personas at", plan.personas_at.to_string()),
        ]);
    let answer = match plan.wait_for_slots.max(plan.wait_for_quota) {
        0 => answer,
        _ => answer.line(given_up(&plan.repo)),
    };
    with_faults(answer, &plan.faults)
}

/// What becomes of members that wait for long.
fn given_up(repo: &RepoName) -> String {
    let minutes = QUEUED_TIMEOUT.as_mins();
    format!(
        "A member that waits for {minutes} minutes is given up, unless its session begins before: `--persona` starts fewer, and `gaffer sprint set {repo} --at-once N` lets members begin one after the other."
    )
}

/// Files of personas that cannot be used, if there are any.
fn with_faults(answer: Answer, faults: &[String]) -> Answer {
    let faults = faults.iter().map(|fault| format!("- {fault}"));
    under(answer, "Personas that cannot be used:", faults.collect())
}

/// How many members work at once.
fn at_once(count: Option<u32>) -> String {
    count.map_or_else(|| "all".to_owned(), |count| count.to_string())
}

/// A sprint that was just started. In a pause no job of it is made.
pub(super) fn launched(begun: &SprintView, why: &SprintWhy) -> Answer {
    let told = Answer::new(json!({ "sprint": value(begun) }))
        .line(format!("Sprint {} of {}", begun.number, begun.repo));
    let is_pause = |it: &&Reason| PAUSES.contains(&it.code.as_str());
    let pauses: Vec<&Reason> = why.because.iter().filter(is_pause).collect();
    let is_later = |member: &SprintMemberView| {
        !pauses.is_empty() || member.state == MemberState::Pending.word()
    };
    let line = |member: &SprintMemberView| match is_later(member) {
        true => format!("{} begins later", member.persona),
        false => format!("🚀 Launched {}: {}", member.persona, member.job_id),
    };
    let told = begun.members.iter().map(line).fold(told, Answer::line);
    let sentences = pauses.iter().map(|it| it.sentence.clone());
    with_faults(sentences.fold(told, Answer::line), &begun.faults)
}

/// The sprints of a source.
pub(super) fn list(repo: &RepoName, listed: &Sprints) -> Answer {
    let row = |sprint: &SprintView| {
        let figures = &sprint.figures;
        vec![
            sprint.number.to_string(),
            sprint.state.clone(),
            format!("{} of {}", figures.integrated, figures.members),
            figures.merged.to_string(),
            sprint.ticks.to_string(),
            format!("{} %", figures.conflict_rate),
            moment(sprint.created_at),
        ]
    };
    let head = [
        "sprint",
        "state",
        "in",
        "merged",
        "ticks",
        "conflicts",
        "started",
    ];
    let rows = listed.sprints.iter().map(row).collect();
    let none = format!("No sprint yet: `gaffer sprint start {repo}`.");
    Answer::new(value(listed)).table(&head, rows, &none)
}

pub(super) fn sprint(sprint: &SprintView) -> Answer {
    let woven = sprint.woven.as_ref();
    let pairs = vec![
        ("sprint", sprint.number.to_string()),
        ("state", sprint.state.clone()),
        ("reason", or_empty(sprint.reason.clone())),
        ("repository", sprint.repo.to_string()),
        ("target branch", sprint.target.to_string()),
        ("integration branch", sprint.branch.to_string()),
        ("pull request", or_empty(woven.map(|it| &it.pull))),
        ("woven", or_empty(woven.map(|it| &it.commit))),
        ("merged", sprint.merges.clone()),
        ("at once", at_once(sprint.at_once)),
        ("ticks", sprint.ticks.to_string()),
        ("weaves", sprint.weaves.to_string()),
        ("members", of_figures(&sprint.figures)),
        ("conflicts", of_conflicts(&sprint.figures)),
        ("tasks", sprint.figures.tasks.to_string()),
        ("started by", sprint.by.clone()),
        ("started", moment(sprint.created_at)),
        ("ended", or_empty(sprint.ended_at.map(moment))),
    ];
    let head = ["persona", "state", "pull request", "way", "attempts", "job"];
    let rows = sprint.members.iter().map(member).collect();
    let missing = sprint.members.iter().filter_map(missing).collect();
    let answer = Answer::new(json!({ "sprint": value(sprint) })).pairs(pairs);
    let answer = answer.table(&head, rows, "It has no members.");
    let answer = under(answer, "What is missing:", missing);
    let verdicts = sprint.reports.iter().flat_map(report).collect();
    under(answer, "What came of its weaves:", verdicts)
}

fn of_figures(figures: &Figures) -> String {
    format!(
        "{}: {} in, {} merged, {} with nothing, {} left out",
        figures.members, figures.integrated, figures.merged, figures.nothing, figures.skipped
    )
}

fn of_conflicts(figures: &Figures) -> String {
    let counted = format!(
        "{} ({} % of the members), {} resolved",
        figures.conflicts, figures.conflict_rate, figures.resolved
    );
    match figures.resolved {
        0 => counted,
        _ => format!(
            "{counted} within {} ticks at most",
            figures.ticks_to_resolution
        ),
    }
}

fn member(member: &SprintMemberView) -> Vec<String> {
    vec![
        member.persona.to_string(),
        member.state.clone(),
        or_dash(member.pull.as_ref().map(|pull| format!("#{}", pull.number))),
        or_dash(member.way.clone()),
        member.attempts.to_string(),
        member.job_id.to_string(),
    ]
}

fn missing(member: &SprintMemberView) -> Option<String> {
    let reason = member.reason.as_ref()?;
    Some(format!("- {}: {reason}", member.persona))
}

fn report(weave: &WeaveView) -> Vec<String> {
    let line = |it: &VerdictView| format!("- weave {}: {}", weave.weave, verdict(it));
    weave.verdicts.iter().map(line).collect()
}

/// What became of a pull request, as `gaffer weave` says it.
fn verdict(verdict: &VerdictView) -> String {
    let number = verdict.pull.number;
    match verdict.verdict.as_str() {
        "in" => {
            let way = verdict.way.as_deref().unwrap_or("in");
            let files = verdict.files.unwrap_or_default();
            let files = match files {
                1 => "1 file".to_owned(),
                files => format!("{files} files"),
            };
            format!("✅ #{number} is in ({way}, {files})")
        }
        "out" => format!(
            "❌ #{number} has conflicts with {}: {}",
            winners(verdict),
            places(verdict)
        ),
        "skipped" => {
            let reason = verdict.reason.as_deref().unwrap_or("it takes no part");
            format!("#{number} takes no part: {reason}")
        }
        "moved" => format!("#{number} moved meanwhile, and takes part in the next weave"),
        "nothing" => format!("#{number} changes nothing"),
        other => format!("#{number}: {other}"),
    }
}

fn winners(verdict: &VerdictView) -> String {
    let with: Vec<String> = verdict
        .conflicts_with
        .iter()
        .map(|number| format!("#{number}"))
        .collect();
    match with.is_empty() {
        true => "the target".to_owned(),
        false => with.join(", "),
    }
}

fn places(verdict: &VerdictView) -> String {
    let shown = verdict.places.iter().take(PLACES_MAX);
    let mut shown: Vec<String> = shown
        .map(|PlaceView { path, words }| format!("{path} {words}"))
        .collect();
    let listed = u32::try_from(verdict.places.len()).unwrap_or(u32::MAX);
    let told = u32::try_from(shown.len()).unwrap_or(u32::MAX);
    let others = verdict.other_places.saturating_add(listed - told);
    if others > 0 {
        shown.push(format!("{others} more"));
    }
    shown.join("; ")
}

/// What a sprint waits for.
pub(super) fn why(repo: &RepoName, why: &SprintWhy) -> Answer {
    let next: Vec<_> = why.next.iter().map(next::as_typed).collect();
    let told = SprintWhy {
        next: next.clone(),
        ..why.clone()
    };
    let name = format!("Sprint {} of {repo}: {}.", why.number, why.state);
    let answer = reasons(Answer::new(value(&told)).line(name), &why.because);
    let members = why.members.iter().map(waiting).collect();
    let answer = under(answer, "Its members:", members);
    let next = next.iter().map(|next| format!("- {}.", next.sentence));
    let answer = under(answer, "What you can do:", next.collect());
    match why.next_look {
        Some(at) => answer.line(format!("It is looked at again by {}.", moment(at))),
        None => answer,
    }
}

fn waiting(member: &SprintMemberWhy) -> String {
    let until = member
        .until
        .map(|at| format!(" It is waited for until about {}.", moment(at)));
    format!(
        "- {} ({}): {}{}",
        member.persona,
        member.state,
        member.sentence,
        until.unwrap_or_default()
    )
}
