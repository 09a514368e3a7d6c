//! Runs and requirements as people and programs see them.

use client::wire::{
    MemberView, PipelineView, PipelineWhy, Pipelines, RequirementView, Requirements, StepView,
    StepWhy, WaitsFor,
};
use domain::ids::RepoName;
use domain::pipeline::RequirementAsk;
use domain::policy::Source;
use serde_json::json;

use super::schedule;
use crate::render::{Answer, moment, next, or_dash, or_empty, value};
use crate::why::{reasons, under};

/// The pipeline of a source after a change.
pub(super) fn settings(source: &Source) -> Answer {
    let told = json!({ "source": { "repo": source.repo, "pipeline": source.pipeline } });
    let Some(rules) = &source.pipeline else {
        return Answer::new(told).line(format!(
            "The pipeline of {0} is off, and its settings are forgotten: `gaffer pipeline on {0}` takes new ones.",
            source.repo
        ));
    };
    let target = source.branch.as_ref().map(ToString::to_string);
    Answer::new(told)
        .line(format!("The pipeline of {} is on.", source.repo))
        .pairs(vec![
            ("exchange", rules.exchange.word().to_owned()),
            ("implement", rules.implement.word().to_owned()),
            ("target branch", target.unwrap_or_default()),
            ("worker branch", rules.worker.to_string()),
        ])
}

/// The runs of a source, and when the next ones begin by themselves.
pub(super) fn list(repo: &RepoName, listed: &Pipelines) -> Answer {
    let row = |run: &PipelineView| {
        vec![
            run.id.to_string(),
            run.state.clone(),
            present(run),
            or_dash(run.mock.as_ref()),
            run.by.clone(),
            moment(run.created_at),
        ]
    };
    let head = ["pipeline", "state", "step", "trial", "by", "created"];
    let rows = listed.pipelines.iter().map(row).collect();
    let answer = Answer::new(value(listed));
    match &listed.schedule {
        Some(known) => {
            let none = format!("No run yet: `gaffer pipeline start {repo}`.");
            let answer = answer.pairs(schedule::pairs(known));
            answer.table(&head, rows, &none)
        }
        // Only a pipeline that is on has one.
        None => answer
            .line(format!(
                "The pipeline of {repo} is off, and no run begins: switch it on with `gaffer pipeline on {repo}`."
            ))
            .table(&head, rows, "No run yet."),
    }
}

/// The step that a run is at.
fn present(run: &PipelineView) -> String {
    let present = run.steps.iter().find(|step| !is_over(step));
    or_dash(present.map(|step| &step.step))
}

/// Whether a step is over.
pub(super) fn is_over(step: &StepView) -> bool {
    ["done", "skipped", "failed"].contains(&step.state.as_str())
}

pub(super) fn run(run: &PipelineView) -> Answer {
    let pairs = vec![
        ("pipeline", run.id.to_string()),
        ("state", run.state.clone()),
        ("repository", run.repo.to_string()),
        ("layer", or_empty(run.layer.clone())),
        ("role", or_empty(run.role.as_ref())),
        ("stream", or_empty(run.stream.as_ref())),
        ("requirement", or_empty(run.requirement.clone())),
        ("task", or_empty(run.task.clone())),
        ("trial", or_empty(run.mock.as_ref())),
        ("target branch", run.target.to_string()),
        ("worker branch", run.worker.to_string()),
        ("exchange", run.exchange.clone()),
        ("implement", run.implement.clone()),
        ("begun by", run.by.clone()),
        ("created", moment(run.created_at)),
        ("changed", moment(run.updated_at)),
    ];
    let answer = Answer::new(json!({ "pipeline": value(run) })).pairs(pairs);
    under(
        answer,
        "Its steps:",
        run.steps.iter().flat_map(step).collect(),
    )
}

/// A step, and its agents below it.
pub(super) fn step(step: &StepView) -> Vec<String> {
    let line = format!("- {}: {}{}", step.step, step.state, because(&step.reason));
    let members = step.members.iter().map(member);
    std::iter::once(line).chain(members).collect()
}

fn member(member: &MemberView) -> String {
    let stream = member.stream.as_ref().map(ToString::to_string);
    let role = member.role.as_ref().map(ToString::to_string);
    let name: Vec<_> = match &member.requirement {
        Some(requirement) => vec![requirement.clone()],
        None => stream.into_iter().chain(role).collect(),
    };
    let name = Some(name.join("/")).filter(|name| !name.is_empty());
    let job = member.job_id.as_ref().map(|job| format!("job {job}"));
    let session = member.session_id.as_ref();
    let session = session.map(|session| format!("session {session}"));
    let who: Vec<_> = name.into_iter().chain(job).chain(session).collect();
    let who = match who.is_empty() {
        true => String::new(),
        false => format!("{}: ", who.join(", ")),
    };
    let (reason, note) = (because(&member.reason), because(&member.note));
    format!("  - {who}{}{reason}{note}", member.state)
}

fn because(reason: &Option<String>) -> String {
    reason
        .as_ref()
        .map_or_else(String::new, |it| format!(" ({it})"))
}

/// What a run waits for.
pub(super) fn why(why: &PipelineWhy) -> Answer {
    let why = &PipelineWhy {
        next: why.next.iter().map(next::as_typed).collect(),
        ..why.clone()
    };
    let name = format!("Pipeline {}: {}.", why.pipeline_id, why.state);
    let answer = reasons(Answer::new(value(why)).line(name), &why.because);
    let step = |step: &StepWhy| format!("- {} [{}]: {}", step.step, step.state, step.sentence);
    let answer = under(answer, "Its steps:", why.steps.iter().map(step).collect());
    let next = why.next.iter();
    let next = next.map(|next| format!("- {}.", next.sentence));
    under(answer, "What you can do:", next.collect())
}

/// The requirements of a source.
pub(super) fn requirements(listed: &Requirements) -> Answer {
    let row = |it: &RequirementView| {
        vec![
            it.id.to_string(),
            it.state.clone(),
            it.label.clone(),
            it.title.clone(),
            place(it),
        ]
    };
    let head = ["requirement", "state", "label", "title", "delivery"];
    let rows = listed.requirements.iter().map(row).collect();
    let none = "Gaffer follows no requirement of it yet.";
    let answer = Answer::new(value(listed)).table(&head, rows, none);
    let mut listed = listed.requirements.iter();
    match listed.find(|it| is_stopped(it) || is_left(it)) {
        Some(RequirementView { repo, .. }) => answer.line(format!(
            "Some do not go on: `gaffer requirement show {repo} REQUIREMENT` says why, and what you can do.",
        )),
        None => answer,
    }
}

/// Whether its delivery failed: only then it has a delivery and a reason without a job.
fn is_stopped(it: &RequirementView) -> bool {
    it.delivery.is_some() && it.reason.is_some() && it.job_id.is_none()
}

/// Whether a person or an agent has to decide before its job goes on.
fn is_left(it: &RequirementView) -> bool {
    it.waits_for.as_ref().is_some_and(WaitsFor::is_decision)
}

/// The command about the job that waits for a decision.
fn decision(it: &RequirementView) -> Vec<String> {
    let is_merge = |waits: &WaitsFor| waits.is_decision() && waits.what == "approval";
    let Some(job) = it.job_id.as_ref().filter(|_| is_left(it)) else {
        return Vec::new();
    };
    vec![match it.waits_for.as_ref().is_some_and(is_merge) {
        true => format!("- `gaffer job merge {job}` merges its pull request."),
        false => format!("- `gaffer job why {job}` says what it waits for."),
    }]
}

/// What can be asked of a requirement, as commands.
fn asked_of(it: &RequirementView) -> Vec<String> {
    let (repo, id, path) = (&it.repo, &it.id, &it.path);
    if it.state == "failed" && it.takes.is_empty() {
        return vec![format!(
            "- Put its file back; `gaffer pipeline start {repo} --from requirements` finds it."
        )];
    }
    let line = |ask| match ask {
        RequirementAsk::Start if it.attempt > 0 => {
            format!("- `gaffer requirement start {repo} {id}` is a new attempt.")
        }
        RequirementAsk::Start => {
            format!("- `gaffer requirement start {repo} {id}` has it implemented as it is.")
        }
        RequirementAsk::Plan => {
            format!("- `gaffer run planner {path} --repo {repo}` gives it another planner.")
        }
        RequirementAsk::Remove => {
            format!("- `gaffer exchange clean requirement {path} --repo {repo}` removes its files.")
        }
    };
    let asks = RequirementAsk::ALL.into_iter();
    let taken = asks.filter(|ask| it.takes.iter().any(|word| word == ask.word()));
    taken.map(line).collect()
}

/// The commands about a requirement: those that take it on where its delivery failed or its job waits for a decision, and what it takes.
fn ways_on(it: &RequirementView) -> Vec<String> {
    let Some(delivery) = it.delivery.as_ref().filter(|_| is_stopped(it)) else {
        return decision(it).into_iter().chain(asked_of(it)).collect();
    };
    let (repo, id, delivery) = (&it.repo, &it.id, &delivery.id);
    vec![
        format!("- `gaffer delivery retry {delivery}` tries it again."),
        format!(
            "- `gaffer delivery cancel {delivery}` gives it up; then `gaffer requirement start {repo} {id}` is a new attempt."
        ),
    ]
}

fn place(it: &RequirementView) -> String {
    let Some(delivery) = &it.delivery else {
        return "-".to_owned();
    };
    match (&delivery.phase, &delivery.run_status) {
        (Some(phase), Some(status)) => format!("{} {phase}, {status}", delivery.id),
        (Some(_) | None, _) => delivery.id.to_string(),
    }
}

pub(super) fn requirement(it: &RequirementView) -> Answer {
    // People may have had them removed later.
    let stay = it.keep_files && !["tidying", "tidied"].contains(&it.state.as_str());
    let files = if stay { "they stay" } else { "" };
    let answer = Answer::new(json!({ "requirement": value(it) }));
    let answer = answer.pairs(vec![
        ("requirement", it.id.to_string()),
        ("title", it.title.clone()),
        ("state", it.state.clone()),
        ("why", or_empty(it.reason.clone())),
        ("label", it.label.clone()),
        ("repository", it.repo.to_string()),
        ("file", it.path.clone()),
        ("events", it.events.join(", ")),
        ("job", or_empty(it.job_id.as_ref())),
        ("delivery", place(it)),
        ("attempt", it.attempt.to_string()),
        ("files after the merge", files.to_owned()),
        ("created", moment(it.created_at)),
        ("changed", moment(it.updated_at)),
    ]);
    under(answer, "What you can do:", ways_on(it))
}

#[cfg(test)]
mod tests {
    use client::wire::{DeliveryGlimpse, ScheduleView};
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn an_agent_names_its_job_and_its_session_if_it_has_them() {
        let failed = MemberView {
            role: Some("qa".parse().unwrap()),
            stream: None,
            requirement: None,
            job_id: None,
            session_id: None,
            state: "failed".to_owned(),
            reason: Some("no prompt".to_owned()),
            note: None,
        };
        assert_eq!(member(&failed), "  - qa: failed (no prompt)");
        let merged = MemberView {
            role: None,
            job_id: Some("01k0000000000000000000000a".parse().unwrap()),
            session_id: Some("154".parse().unwrap()),
            state: "merged".to_owned(),
            reason: None,
            note: Some("1 pending event is left for the next decider".to_owned()),
            ..failed
        };
        assert_eq!(
            member(&merged),
            "  - job 01k0000000000000000000000a, session 154: merged (1 pending event is left for the next decider)"
        );
    }

    fn implementing() -> RequirementView {
        RequirementView {
            id: "ab12cd".parse().unwrap(),
            repo: "acme/shop".parse().unwrap(),
            title: "Add a search box".to_owned(),
            label: "feats".to_owned(),
            path: ".jules/exchange/requirements/search.yml".to_owned(),
            events: Vec::new(),
            state: "implementing".to_owned(),
            reason: Some("its delivery failed".to_owned()),
            job_id: None,
            waits_for: None,
            delivery: Some(DeliveryGlimpse {
                id: "0123456789ab".parse().unwrap(),
                phase: Some("implement".to_owned()),
                run_status: Some("failed".to_owned()),
            }),
            attempt: 1,
            keep_files: false,
            takes: Vec::new(),
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_requirement_that_waits_for_a_person_names_the_ways_on() {
        let mut it = implementing();
        let list = |it: &RequirementView| {
            let only = vec![it.clone()];
            requirements(&Requirements { requirements: only }).text()
        };
        let (shown, listed) = (requirement(&it).text(), list(&it));
        for command in [
            "`gaffer delivery retry 0123456789ab`",
            "`gaffer delivery cancel 0123456789ab`",
            "`gaffer requirement start acme/shop ab12cd`",
        ] {
            assert!(shown.contains(command), "{shown}");
        }
        assert!(listed.contains("Some do not go on"), "{listed}");
        it.reason = None;
        let (shown, listed) = (requirement(&it).text(), list(&it));
        assert!(!shown.contains("What you can do"), "{shown}");
        assert!(!listed.contains("Some do not go on"), "{listed}");
        it.job_id = Some("01k0000000000000000000000a".parse().unwrap());
        it.waits_for = Some(WaitsFor {
            who: "person".to_owned(),
            what: "approval".to_owned(),
            ..WaitsFor::default()
        });
        let (shown, listed) = (requirement(&it).text(), list(&it));
        let merge = "`gaffer job merge 01k0000000000000000000000a`";
        assert!(shown.contains(merge), "{shown}");
        assert!(!shown.contains("gaffer delivery"), "{shown}");
        assert!(listed.contains("Some do not go on"), "{listed}");
    }

    #[test]
    fn a_requirement_that_failed_names_what_it_takes() {
        let mut it = RequirementView {
            state: "failed".to_owned(),
            delivery: None,
            ..implementing()
        };
        let path = it.path.clone();
        it.takes = ["start", "plan", "remove"].map(str::to_owned).into();
        let again = requirement(&it).text();
        for command in [
            "`gaffer requirement start acme/shop ab12cd` is a new attempt".to_owned(),
            format!("`gaffer run planner {path} --repo acme/shop`"),
            format!("`gaffer exchange clean requirement {path} --repo acme/shop`"),
        ] {
            assert!(again.contains(&command), "{again}");
        }
        it.keep_files = true;
        assert!(requirement(&it).text().contains("they stay"));
        it.state = "tidied".to_owned();
        let tidied = requirement(&it).text();
        assert!(!tidied.contains("they stay"), "{tidied}");
        it.state = "failed".to_owned();
        it.takes = Vec::new();
        let gone = requirement(&it).text();
        let found = "`gaffer pipeline start acme/shop --from requirements`";
        assert!(gone.contains(found), "{gone}");
    }

    #[test]
    fn a_list_says_that_the_pipeline_is_off_and_what_switches_it_on() {
        let repo: RepoName = "acme/shop".parse().unwrap();
        let off = list(&repo, &Pipelines::default()).text();
        assert!(off.contains("is off"), "{off}");
        assert!(off.contains("`gaffer pipeline on acme/shop`"), "{off}");
        assert!(!off.contains("pipeline start"), "{off}");
        let schedule = ScheduleView {
            clock: "gaffer".to_owned(),
            is_read: true,
            cron: Vec::new(),
            timezone: "UTC".to_owned(),
            next_at: None,
            last_run: None,
            left_out: None,
            last_error: None,
            next_look: None,
        };
        let listed = Pipelines {
            schedule: Some(schedule),
            ..Pipelines::default()
        };
        let on = list(&repo, &listed).text();
        assert!(on.contains("`gaffer pipeline start acme/shop`"), "{on}");
        assert!(!on.contains("is off"), "{on}");
    }
}
