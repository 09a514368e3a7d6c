//! The whole table: every phase, status and input, kept as one text, and compared with what is promised of it.

use expect_test::expect_file;

use super::*;
use crate::pull::MergeStyle;

/// Every cell; a review that succeeded is two of them.
fn cells() -> Vec<(Phase, RunStatus, Option<Verdict>)> {
    let mut cells = Vec::new();
    for phase in Phase::ALL {
        for status in RunStatus::ALL {
            if (phase, status) == (Phase::Review, RunStatus::Succeeded) {
                cells.push((phase, status, Some(Verdict::Pass)));
                cells.push((phase, status, Some(Verdict::NotPass)));
            } else {
                cells.push((phase, status, None));
            }
        }
    }
    cells
}

/// A delivery in a cell: with a job that rests, and a pull request whose head `a` was read and reviewed.
pub(super) fn in_cell((phase, status, verdict): (Phase, RunStatus, Option<Verdict>)) -> Delivery {
    let mut world = World::in_review(Rules {
        deploy: "workflow:deploy.yml@main".parse().unwrap(),
        observe: "soak:30m".parse().unwrap(),
        ..rules(Checkpoints::default().phases(), "observe", ReviewBy::Agent)
    });
    let delivery = &mut world.delivery;
    (delivery.phase, delivery.run_status, delivery.verdict) = (phase, status, verdict);
    delivery.started = (phase, status) != (Phase::Plan, RunStatus::Pending);
    delivery.review.head = Some(sha('a'));
    for run in &mut delivery.runs {
        run.status = RunResult::Failed;
        run.ended_at = Some(run.created_at);
    }
    if status.is_under_way() {
        let last = delivery.runs.last_mut().unwrap();
        last.status = RunResult::Running;
        last.ended_at = None;
    }
    if status == RunStatus::Blocked {
        delivery.seen.job.as_mut().unwrap().work = SessionWork::Asking;
    } else if phase == Phase::Plan || phase == Phase::Implement {
        delivery.seen.job.as_mut().unwrap().work = SessionWork::Working;
    }
    if status == RunStatus::Failed {
        delivery.error = Some(Failed {
            code: Fault::ReviewFailed,
            text: "it failed".to_owned(),
        });
    }
    let open = delivery.phase_runs.last_mut().unwrap();
    (open.phase, open.run_status, open.verdict) = (phase, status, verdict);
    world.delivery
}

fn commands() -> Vec<(&'static str, Act)> {
    vec![
        ("start", Act::Start),
        ("approve", Act::APPROVE),
        ("reject", reject("Smaller, please")),
        ("retry", RETRY),
        ("cancel", Act::Cancel),
        ("verdict pass", verdict(Verdict::Pass, 'a')),
        ("verdict not_pass", verdict(Verdict::NotPass, 'a')),
        (
            "plan",
            Act::Plan {
                content: "1. Look".to_owned(),
                target_files: Vec::new(),
            },
        ),
        (
            "split",
            Act::Split {
                children: vec![part("Half of it")],
            },
        ),
        (
            "merge",
            Act::Merge {
                head: None,
                style: MergeStyle::default(),
            },
        ),
        ("edit", Act::Edit(Edit::default())),
        (
            "collect",
            Act::Collect {
                job: JobId::from_ulid(ulid::Ulid(9)),
                session: None,
                result: RunResult::Success,
            },
        ),
        (
            "analyse",
            Act::Analyse {
                run: None,
                text: "No disk".to_owned(),
                suggestion: None,
            },
        ),
    ]
}

/// What may come in, each time one after the other.
type Rows = Vec<(&'static str, Vec<DeliveryInput>)>;

/// Everything that can come in, with the delivery to which it does: in the cell, and with more behind it where an input is about that.
fn rows(delivery: &Delivery) -> Vec<(Delivery, Rows)> {
    let commands = commands().into_iter();
    let mut single: Vec<(&'static str, DeliveryInput)> = commands
        .map(|(name, act)| (name, command("x", kim(), act)))
        .collect();
    single.extend(job_sights(delivery));
    single.extend(pull_sights());
    single.extend(other_sights(delivery.phase));
    let single = single.into_iter().map(|(name, input)| (name, vec![input]));
    let reviewed = asked_of_jules(delivery.clone());
    let split = split_in_two(delivery.clone());
    let whole = without_pull(delivery.clone());
    vec![
        (delivery.clone(), single.chain(closing_rows()).collect()),
        (reviewed, review_rows()),
        (split, part_rows(delivery)),
        (refused_often(delivery.clone()), refusal_rows()),
        (whole, session_rows(delivery)),
    ]
}

/// The job that reviews.
fn reviewer() -> JobId {
    JobId::from_ulid(ulid::Ulid(7))
}

/// The same delivery, where a session of Jules was asked to review its head; where a review is blocked, it is that session that
/// asks.
fn asked_of_jules(mut delivery: Delivery) -> Delivery {
    delivery.rules.review_by = Some(ReviewBy::Jules);
    let is_asking = (delivery.phase, delivery.run_status) == (Phase::Review, RunStatus::Blocked);
    let asked = delivery.review.asked.as_mut().unwrap();
    asked.by = ReviewBy::Jules;
    asked.job = Some(reviewer());
    asked.has_question = is_asking;
    if is_asking {
        delivery.seen.job.as_mut().unwrap().work = SessionWork::Resting(None);
    }
    delivery
}

/// The same delivery, where it can have been split: at its plan, until its parts are over.
fn split_in_two(mut delivery: Delivery) -> Delivery {
    let is_open = matches!(delivery.run_status, RunStatus::Running | RunStatus::Failed);
    if delivery.phase == Phase::Plan && is_open {
        let child = |place| Child {
            id: DeliveryId::of_child(&new_delivery().id, place),
            summary: "Half of it".to_owned(),
            acceptance_criteria: Vec::new(),
            state: ChildState::Open,
        };
        delivery.children = vec![child(0), child(1)];
    }
    delivery
}

/// The same delivery, where what it needs was refused almost as often as it may be.
fn refused_often(mut delivery: Delivery) -> Delivery {
    delivery.refused = Some(Refusal {
        why: "busy".to_owned(),
        times: REFUSALS_MAX - 1,
        at: at(5_000),
    });
    delivery
}

/// The same delivery, whose session has made no pull request that is known.
fn without_pull(mut delivery: Delivery) -> Delivery {
    delivery.task.pull = None;
    delivery.seen.pull = None;
    delivery
}

/// What can be seen of its job.
fn job_sights(delivery: &Delivery) -> Vec<(&'static str, DeliveryInput)> {
    let seen = |work, pull: Option<PullRef>| job(delivery, work, pull);
    let ends = SessionWork::Ended;
    vec![
        ("job: working", seen(SessionWork::Working, Some(pull_ref()))),
        ("job: asks", seen(SessionWork::Asking, Some(pull_ref()))),
        ("job: has a plan", seen(planned("p9"), None)),
        (
            "job: rests",
            seen(SessionWork::Resting(Some(at(4_000))), Some(pull_ref())),
        ),
        (
            "job: failed",
            seen(ends(JobEnd::Failed("no disk".to_owned())), None),
        ),
        ("job: is gone", seen(ends(JobEnd::Lost), None)),
        (
            "job: refused",
            seen(ends(JobEnd::Refused("no quota".to_owned())), None),
        ),
        (
            "job: cancelled",
            seen(ends(JobEnd::Canceled("eve".to_owned())), None),
        ),
        ("job: merged", seen(ends(JobEnd::Merged), Some(pull_ref()))),
        (
            "job: pull request closed",
            seen(ends(JobEnd::PullClosed), Some(pull_ref())),
        ),
        (
            "job: completed",
            seen(ends(JobEnd::Completed), Some(pull_ref())),
        ),
        ("job: approved on Jules's page", {
            let mut sight = job_sight(delivery, SessionWork::Working, None);
            sight.glimpse.approved_elsewhere = true;
            DeliveryInput::Job(Box::new(sight), None)
        }),
        ("job: of an earlier attempt failed", {
            let mut earlier = delivery.clone();
            earlier.task.attempt = 0;
            job(&earlier, ends(JobEnd::Lost), None)
        }),
    ]
}

/// What can be read of its pull request.
fn pull_sights() -> Vec<(&'static str, DeliveryInput)> {
    let read = |glimpse: PullGlimpse| DeliveryInput::Pull(Box::new(glimpse), at(5_000));
    let closed = PullGlimpse {
        end: Some(PullEnd::Closed {
            by: Some("eve".to_owned()),
        }),
        ..pull('a', Checks::Passed)
    };
    let same = PullGlimpse {
        same_work_as: Some(sha('a')),
        ..pull('b', Checks::Passed)
    };
    vec![
        ("pull: no checks", read(pull('a', Checks::Awaited))),
        ("pull: checks run", read(pull('a', Checks::Running))),
        ("pull: checks passed", read(pull('a', Checks::Passed))),
        ("pull: checks failed", read(pull('a', Checks::Failed))),
        (
            "pull: checks failed for good",
            read(pull('a', Checks::GivenUp)),
        ),
        ("pull: another head", read(pull('b', Checks::Passed))),
        ("pull: a merge of the base", read(same)),
        ("pull: merged", read(merged(Some("eve")))),
        ("pull: closed", read(closed)),
    ]
}

/// What its issue, a provider and the clock say.
fn other_sights(phase: Phase) -> Vec<(&'static str, DeliveryInput)> {
    let issue = |state| issue_read(5_000, state);
    vec![
        ("issue: open", issue(IssueState::Open)),
        ("issue: closed", closed()),
        (
            "issue: unreadable",
            issue(IssueState::Unreadable("404".to_owned())),
        ),
        (
            "provider: running",
            DeliveryInput::Provider(phase, ProviderReport::Running),
        ),
        (
            "provider: good",
            DeliveryInput::Provider(phase, ProviderReport::Good),
        ),
        (
            "provider: bad",
            DeliveryInput::Provider(phase, ProviderReport::Bad("no".to_owned())),
        ),
        ("parent cancelled", DeliveryInput::Cancelled(kim())),
        ("time passes", DeliveryInput::Deadline),
        (
            "asked for: refused",
            DeliveryInput::AskedFor(Some("busy".to_owned())),
        ),
    ]
}

/// Its issue was read at second 5,000, and is closed.
fn closed() -> DeliveryInput {
    issue_read(5_000, IssueState::Closed(Some("eve".to_owned())))
}

/// What its pull request shows after its issue was closed, which a merge does, too.
fn closing_rows() -> Rows {
    let then = |glimpse, second| vec![closed(), DeliveryInput::Pull(Box::new(glimpse), at(second))];
    let open = || pull('a', Checks::Passed);
    vec![
        ("issue: closed, pull read before", then(open(), 4_000)),
        ("issue: closed, pull read since", then(open(), 5_500)),
        (
            "issue: closed, pull merged",
            then(merged(Some("eve")), 4_000),
        ),
    ]
}

/// What its session shows after its issue was closed.
fn session_rows(delivery: &Delivery) -> Rows {
    let work = delivery.job_seen().unwrap().work.clone();
    let then = |second| {
        let seen = Box::new(job_sight(delivery, work.clone(), None));
        vec![closed(), DeliveryInput::Job(seen, Some(at(second)))]
    };
    vec![
        ("issue: closed, session read before", then(4_000)),
        ("issue: closed, session read since", then(5_500)),
    ]
}

/// What the session that reviews shows.
fn review_rows() -> Rows {
    let seen = |job, state| {
        let session = None;
        DeliveryInput::Review(ReviewSight {
            job,
            session,
            state,
        })
    };
    let said = |json: &str| ReviewState::Said(format!("```json\n{json}\n```"));
    let pass = || said(r#"{"verdict":"pass","summary":"Good"}"#);
    let not_pass =
        said(r#"{"verdict":"not_pass","summary":"Not tested","feedback":"Test the cart."}"#);
    let odd = ReviewState::Said("Merge it.".to_owned());
    let failed = ReviewState::Failed("no disk".to_owned());
    let pushed = DeliveryInput::Pull(Box::new(pull('b', Checks::Passed)), at(5_000));
    let other = JobId::from_ulid(ulid::Ulid(8));
    vec![
        (
            "review: works",
            vec![seen(reviewer(), ReviewState::Working)],
        ),
        ("review: asks", vec![seen(reviewer(), ReviewState::Asking)]),
        ("review: pass", vec![seen(reviewer(), pass())]),
        ("review: not_pass", vec![seen(reviewer(), not_pass)]),
        ("review: malformed", vec![seen(reviewer(), odd)]),
        ("review: failed", vec![seen(reviewer(), failed)]),
        ("review: of another job", vec![seen(other, pass())]),
        (
            "review: of an earlier head",
            vec![pushed, seen(reviewer(), pass())],
        ),
    ]
}

/// What is seen of the deliveries into which it was split.
fn part_rows(delivery: &Delivery) -> Rows {
    let part =
        |place, state| DeliveryInput::Child(DeliveryId::of_child(&delivery.id, place), state);
    let all = |state| vec![part(0, state), part(1, state)];
    let then = |is_any_merged, second| {
        let read_at = Some(at(second));
        let parts = PartsSight {
            is_any_merged,
            read_at,
        };
        vec![closed(), DeliveryInput::Parts(parts)]
    };
    vec![
        ("part: failed", vec![part(0, ChildState::Failed)]),
        ("part: cancelled", vec![part(0, ChildState::Cancelled)]),
        ("part: closed", vec![part(0, ChildState::Closed)]),
        ("part: given up", vec![part(0, ChildState::Abandoned)]),
        (
            "part: of another delivery",
            vec![part(2, ChildState::Closed)],
        ),
        ("parts: closed", all(ChildState::Closed)),
        ("parts: given up", all(ChildState::Abandoned)),
        ("issue: closed, parts read before", then(false, 4_000)),
        ("issue: closed, no part merged", then(false, 5_500)),
        ("issue: closed, a part merged", then(true, 5_500)),
    ]
}

/// What comes of asking for what it needs, which was refused before.
fn refusal_rows() -> Rows {
    let asked = |why: Option<&str>| DeliveryInput::AskedFor(why.map(str::to_owned));
    vec![
        ("asked for: granted", vec![asked(None)]),
        ("asked for: refused too often", vec![asked(Some("busy"))]),
    ]
}

/// What inputs lead to: the new spans, and what is said of the session.
fn outcome(delivery: &Delivery, inputs: &[DeliveryInput]) -> String {
    let own = delivery.rules.clone();
    let mut after = delivery.clone();
    for input in inputs {
        match apply(&after, input, at(6_000), &own) {
            Ok(step) => after = step.aggregate,
            Err(refused) => return format!("refused: {}", refused.code),
        }
    }
    let spans = after.phase_runs.iter().skip(delivery.phase_runs.len());
    let span = |span: &PhaseRun| {
        let verdict = span
            .verdict
            .map_or(String::new(), |it| format!(" {}", it.word()));
        format!(
            "{}/{}{verdict} ({})",
            span.phase, span.run_status, span.actor
        )
    };
    let mut said: Vec<String> = spans.map(span).collect();
    if let Some(error) = after
        .error
        .as_ref()
        .filter(|_| after.error != delivery.error)
    {
        said.push(format!("error {}", error.code.word()));
    }
    if after.task.round > delivery.task.round {
        said.push("a message".to_owned());
    }
    if after.attempt > delivery.attempt {
        said.push("another session".to_owned());
    }
    if said.is_empty() && after != *delivery {
        said.push("noted".to_owned());
    }
    if said.is_empty() {
        said.push("-".to_owned());
    }
    said.join(", ")
}

#[test]
fn the_whole_table_is_kept() {
    let mut table = String::new();
    for cell in cells() {
        let delivery = in_cell(cell);
        table.push_str(&format!("\n{}\n", place(&delivery)));
        for (from, rows) in rows(&delivery) {
            for (name, inputs) in rows {
                let line = format!("  {name:<35}{}\n", outcome(&from, &inputs));
                table.push_str(&line);
            }
        }
    }
    expect_file!["table.txt"].assert_eq(table.trim_start());
}

/// What is promised of people's commands, cell by cell, where anything is.
fn promised(
    (phase, status, verdict): (Phase, RunStatus, Option<Verdict>),
    kind: CommandKind,
) -> Option<&'static str> {
    use RunStatus::{Blocked, Failed, Pending, Running, Succeeded};
    let not_passed = verdict == Some(Verdict::NotPass);
    match (kind, phase, status) {
        (CommandKind::Start, Phase::Plan, Pending) => Some("plan/running"),
        (CommandKind::Approve, Phase::Plan, Succeeded) => Some("implement/running"),
        (CommandKind::Approve, Phase::Implement, Succeeded) => Some("review/running"),
        (CommandKind::Approve, Phase::Review, Succeeded) if !not_passed => Some("verify/pending"),
        (CommandKind::Reject, Phase::Plan | Phase::Implement, Succeeded) => Some("plan/pending"),
        (CommandKind::Reject, Phase::Review, Succeeded) => Some("implement/pending"),
        (CommandKind::Retry, phase, Failed) => Some(match phase {
            Phase::Intake => "intake/pending",
            Phase::Plan => "plan/pending",
            Phase::Implement => "implement/pending",
            Phase::Review => "review/pending",
            Phase::Verify => "verify/pending",
            Phase::Deploy => "deploy/pending",
            Phase::Observe => "observe/pending",
            Phase::Close => "close/pending",
        }),
        // Its change is merged: what was to follow is given up.
        (CommandKind::Cancel, Phase::Deploy | Phase::Observe, Succeeded | Failed) => {
            Some("close/succeeded")
        }
        // A pending phase of the system waits for others, a pending one of an agent for a start.
        (CommandKind::Cancel, Phase::Plan | Phase::Implement | Phase::Review, Pending) => None,
        (CommandKind::Cancel, phase, Pending | Running | Blocked) => Some(match phase {
            Phase::Intake => "intake/failed",
            Phase::Plan => "plan/failed",
            Phase::Implement => "implement/failed",
            Phase::Review => "review/failed",
            Phase::Verify => "verify/failed",
            Phase::Deploy => "deploy/failed",
            Phase::Observe => "observe/failed",
            Phase::Close => "close/failed",
        }),
        _ => None,
    }
}

#[test]
fn people_may_do_what_is_promised_and_nothing_else() {
    let of_people = [
        CommandKind::Start,
        CommandKind::Approve,
        CommandKind::Reject,
        CommandKind::Retry,
        CommandKind::Cancel,
    ];
    for cell in cells() {
        let delivery = in_cell(cell);
        let own = delivery.rules.clone();
        for (name, act) in commands() {
            let kind = act.kind();
            if !of_people.contains(&kind) {
                continue;
            }
            let before = delivery.phase_runs.len();
            let result = apply(&delivery, &command("x", kim(), act), at(6_000), &own);
            let first = result.ok().map(|step| {
                let span = &step.aggregate.phase_runs[before];
                assert_eq!(span.actor, kim());
                format!("{}/{}", span.phase, span.run_status)
            });
            let place = place(&delivery);
            assert_eq!(first.as_deref(), promised(cell, kind), "{name} at {place}");
        }
    }
}

#[test]
fn what_is_listed_as_legal_is_what_is_accepted() {
    for cell in cells() {
        let delivery = in_cell(cell);
        let own = delivery.rules.clone();
        for by in [kim(), zai(), Actor::System] {
            let listed = legal(&delivery, &by, &own);
            let reason = Some("Smaller, please".to_owned());
            let retry = command("x", by.clone(), Act::Retry { reason });
            assert_eq!(
                apply(&delivery, &retry, at(6_000), &own).is_ok(),
                retry_takes_reason(&delivery, &by, &own),
                "retry with a reason by {by} at {}",
                place(&delivery)
            );
            for (name, act) in commands() {
                let kind = act.kind();
                let result = apply(&delivery, &command("x", by.clone(), act), at(6_000), &own);
                let is_listed = listed.contains(&kind);
                assert_eq!(
                    result.is_ok(),
                    is_listed,
                    "{name} by {by} at {}",
                    place(&delivery)
                );
                if let Err(refused) = result {
                    assert_eq!(refused.legal, listed);
                    assert!(!refused.sentence.is_empty());
                }
            }
        }
    }
}
