//! What deliveries want of others.

use super::*;
use crate::event::DeliveryAsk;
use crate::ids::AgentName;
use crate::job::tests::watched_job;
use crate::job::{self, Job};
use crate::merge::LastingReason;
use crate::pull::{Approval, MergeStyle};
use crate::session::{Plan, PlanStep};

/// What is wanted, in a few words.
fn label(want: &Want) -> String {
    match want {
        Want::CreateJob { purpose, .. } => match purpose {
            Purpose::Work => "create job".to_owned(),
            Purpose::Review { .. } => "create job that reviews".to_owned(),
        },
        Want::RetryJob {
            attempt,
            start_over,
            ..
        } => {
            let how = if *start_over { "start over" } else { "retry" };
            format!("{how}: attempt {attempt}")
        }
        Want::ApprovePlan { plan, by, .. } => format!("approve {plan} by {by}"),
        Want::Say { text, cause, .. } => {
            let round = cause.rsplit(':').next().unwrap_or_default();
            format!("say {round}: {}", text.as_deref().unwrap_or("go on"))
        }
        Want::CancelJob { by, .. } => format!("cancel job by {by}"),
        Want::PrioritiseJob { priority, .. } => format!("wait by {priority}"),
        Want::LeaveJob { .. } => "leave job".to_owned(),
        Want::ApprovePull { by, .. } => format!("approve pull by {by}"),
        Want::Ask { ask, audience, .. } => {
            let whom = match audience {
                Audience::Human => "a person",
                Audience::Agent => "the agent",
                Audience::Nobody => "nobody",
            };
            match ask {
                DeliveryAsk::Review { .. } => format!("ask {whom}"),
                DeliveryAsk::Merge { .. } => format!("ask {whom} to merge"),
                DeliveryAsk::Start | DeliveryAsk::Plan | DeliveryAsk::Checkpoint { .. } => {
                    format!("ask {whom}: {}", ask.sentence())
                }
            }
        }
        Want::Tell { issue, .. } => format!("tell {issue}"),
        Want::ReadSession { .. } => "read session".to_owned(),
        Want::ReadPull { .. } => "read pull".to_owned(),
        Want::ClosePull { pull, newer } => format!("close {pull} for {newer}"),
        Want::CreateChild { child } => format!("create part {}", child.summary),
        Want::ReadPart { .. } => "read part".to_owned(),
        Want::CancelChild { by, .. } => format!("call off part by {by}"),
        Want::DispatchWorkflow { file, branch, .. } => format!("dispatch {file} on {branch}"),
        Want::AskProvider { phase } => format!("ask about {phase}"),
        Want::TellFailed { phase, .. } => format!("tell that {phase} failed"),
        Want::CloseIssue { issue } => format!("close {issue}"),
    }
}

/// What is wanted while the job is as it was last seen.
fn wanted(world: &World) -> Vec<String> {
    wanted_at(&world.delivery, &seen(world))
}

fn wanted_at(delivery: &Delivery, sight: &Sight) -> Vec<String> {
    let all = wants(delivery, sight);
    all.iter()
        .filter(|want| !is_told(want))
        .map(label)
        .collect()
}

/// Whether it only asks for a decision other than a review, or tells the issue how far it is.
fn is_told(want: &Want) -> bool {
    let is_review = |ask: &DeliveryAsk| matches!(ask, DeliveryAsk::Review { .. });
    let is_asked = matches!(want, Want::Ask { ask, .. } if !is_review(ask));
    is_asked || matches!(want, Want::Tell { .. })
}

#[test]
fn where_it_waits_it_asks_once_and_its_issue_is_told_of_each_change() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Nobody));
    let told = |world: &World| {
        let all = wants(&world.delivery, &seen(world));
        let told = all.into_iter().filter(is_told);
        told.map(|want| label(&want)).collect::<Vec<_>>()
    };
    let start = "ask a person: A delivery waits to be started.";
    assert_eq!(told(&world), [start, "tell acme/shop#12"]);
    let cause = |world: &World| {
        let mut all = wants(&world.delivery, &seen(world)).into_iter();
        let told = all.find(|want| matches!(want, Want::Tell { .. }))?;
        let Want::Tell { cause, .. } = told else {
            return None;
        };
        Some(cause)
    };
    let first = cause(&world);
    let now = world.delivery.updated_at;
    let start_told = Told::next(None, first.as_ref().unwrap(), now);
    world.delivery.told = Some(start_told.clone());
    assert_eq!(told(&world), [start]);
    world.orders(kim(), Act::Start).unwrap();
    assert_ne!(cause(&world), first);
    assert_eq!(told(&world), ["tell acme/shop#12"]);
    // What was told before is told anew after something else.
    let other = Told::next(Some(&start_told), "another", now);
    let again = Told::next(Some(&other), &start_told.cause, now);
    assert_eq!(again.cause, start_told.cause);
    assert_ne!(again.id(), start_told.id());
}

/// The codes by which the issue is told, and whether that is something new.
fn told_anew(world: &mut World) -> (Vec<&'static str>, bool) {
    let reasons = public_reasons(&world.delivery);
    let codes = reasons.iter().map(|reason| reason.code).collect();
    let Some(Want::Tell { cause, .. }) = asks::tell(&world.delivery) else {
        return (codes, false);
    };
    let before = world.delivery.told.as_ref();
    world.delivery.told = Some(Told::next(before, &cause, at(world.second)));
    (codes, true)
}

#[test]
fn an_issue_is_told_what_holds_the_merge_up_and_anew_only_if_that_changes() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    world.zai(verdict(Verdict::Pass, 'a'));
    assert_eq!(world.reads(pull('a', Checks::Passed)), "verify/running");
    let approval = LastingReason::NeedsApproval;
    let failed = LastingReason::ChecksFailed;
    for (held_by, closed_at, codes, is_new) in [
        (vec![], None, vec!["verifying"], true),
        (
            vec![approval],
            None,
            vec!["needs_approval", "verifying"],
            true,
        ),
        (
            vec![approval],
            None,
            vec!["needs_approval", "verifying"],
            false,
        ),
        (
            vec![approval, failed],
            None,
            vec!["needs_approval", "checks_failed", "verifying"],
            true,
        ),
        (
            vec![LastingReason::Conflict],
            None,
            vec!["conflict", "verifying"],
            true,
        ),
        // Nothing but reopening it helps then.
        (
            vec![approval],
            Some(at(1)),
            vec!["pull_request_closed", "verifying"],
            true,
        ),
        (vec![], None, vec!["verifying"], true),
    ] {
        world.reads(PullGlimpse {
            held_by,
            closed_at,
            ..pull('a', Checks::Passed)
        });
        assert_eq!(told_anew(&mut world), (codes.clone(), is_new));
        // How often its phase was begun is no code.
        let last = world.delivery.phase_runs.last().unwrap().clone();
        world.delivery.phase_runs.push(last);
        assert_eq!(told_anew(&mut world), (codes, false));
        world.delivery.phase_runs.pop();
    }
}

#[test]
fn an_issue_is_told_anew_which_part_failed() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    let children = vec![part("Half of it"); 2];
    world.kim(Act::Split { children });
    let ids = world.parts();
    for (first, second, is_new) in [
        (ChildState::Failed, ChildState::Open, true),
        (ChildState::Failed, ChildState::Open, false),
        (ChildState::Open, ChildState::Failed, true),
    ] {
        for (id, state) in ids.iter().zip([first, second]) {
            world.child(id, state);
        }
        let codes = vec!["parts_open", "part_failed"];
        assert_eq!(told_anew(&mut world), (codes, is_new));
    }
}

/// The question of a delivery that waits for its plan to be approved.
fn plan_question(delivery: &Delivery) -> DeliveryAsk {
    let asks = wants(delivery, &Sight::default()).into_iter();
    let mut asks = asks.filter_map(|want| {
        if let Want::Ask { ask, .. } = want {
            Some(ask)
        } else {
            None
        }
    });
    asks.next().unwrap()
}

/// The steps that it shows: titles and descriptions.
fn steps_of(ask: &DeliveryAsk) -> Vec<(&str, &str)> {
    let DeliveryAsk::Checkpoint {
        phase: Phase::Plan,
        plan: Some(plan),
    } = ask
    else {
        panic!("{ask:?}");
    };
    assert_eq!(plan.id.as_str(), "p1");
    let steps = plan.steps.iter();
    let steps = steps.map(|step| (step.title.as_str(), step.description.as_str()));
    steps.collect()
}

/// A delivery at the checkpoint of its plan.
fn at_plan(plan: DeliveryPlan) -> Delivery {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Nobody));
    world.kim(Act::Start);
    world.delivery.run_status = RunStatus::Succeeded;
    world.delivery.plan = Some(plan);
    world.delivery
}

/// A plan of Jules with a number of steps.
fn of_jules(steps: usize) -> Plan {
    let step = |number: usize| PlanStep {
        title: format!("Step {number}"),
        description: ["Look.\nThen do it.", ""][number % 2].to_owned(),
    };
    Plan {
        id: "p1".parse().unwrap(),
        steps: (0..steps).map(step).collect(),
    }
}

/// Like that of a job which belongs to no delivery.
#[test]
fn the_question_at_the_checkpoint_of_a_plan_shows_its_steps() {
    let jules = of_jules(12);
    let delivery = at_plan(DeliveryPlan::of_steps(&jules, at(1)));
    let ask = plan_question(&delivery);
    let expected = jules.steps.iter();
    let expected = expected.map(|step| (step.title.as_str(), step.description.as_str()));
    assert_eq!(steps_of(&ask), expected.collect::<Vec<_>>());
    assert_eq!(whole_plan_url(&delivery, &ask, None), None);
    let sent = |content: &str| {
        let plan = DeliveryPlan::of_steps(&jules, at(1));
        let content = content.to_owned();
        at_plan(DeliveryPlan { content, ..plan })
    };
    for (content, steps) in [
        ("Tidy the shop.", &[("Tidy the shop.", "")][..]),
        (
            "# Plan\nBoth at once:\n1. Add a box\nwith care\n\n- and tests\n2. Link it\n",
            &[
                ("# Plan", ""),
                ("Both at once:", ""),
                ("Add a box", "with care\n- and tests"),
                ("Link it", ""),
            ],
        ),
        ("2. Not the first", &[("2. Not the first", "")]),
    ] {
        let delivery = sent(content);
        let ask = plan_question(&delivery);
        assert_eq!(steps_of(&ask), steps, "{content}");
        assert_eq!(whole_plan_url(&delivery, &ask, None), None, "{content}");
    }
    let mut implemented = sent("Tidy the shop.");
    implemented.phase = Phase::Implement;
    implemented.checkpoints = Checkpoints::at(&[Phase::Implement]).unwrap();
    let ask = plan_question(&implemented);
    assert!(
        matches!(ask, DeliveryAsk::Checkpoint { plan: None, .. }),
        "{ask:?}"
    );
}

/// A job whose session waits with a plan.
fn waiting_with(plan: &Plan, cut: bool) -> Job {
    let mut job = watched_job();
    if let job::JobPhase::Watching(watch) = &mut job.phase {
        watch.log.plan = Some(job::PendingPlan {
            at: at(5),
            plan: plan.clone(),
            cut,
            worked_on: false,
        });
    }
    job
}

#[test]
fn a_plan_that_its_question_cuts_is_read_whole_where_it_says() {
    let (short, long, other) = (of_jules(1), of_jules(200), watched_job());
    let own = |delivery: &Delivery| Some(format!("/api/deliveries/{}", delivery.id));
    for (plan, cut) in [(&long, false), (&short, true)] {
        let delivery = at_plan(DeliveryPlan::of_steps(plan, at(1)));
        let ask = plan_question(&delivery);
        let job = waiting_with(plan, cut);
        let said = whole_plan_url(&delivery, &ask, Some(&job)).unwrap();
        let messages = format!("/jobs/{}/messages?cursor=", job.id);
        assert!(said.starts_with(&messages), "{said}");
        // Another planner sent it, or the session is gone.
        let sent = own(&delivery).filter(|_| !cut);
        for job in [None, Some(&other)] {
            assert_eq!(whole_plan_url(&delivery, &ask, job), sent);
        }
    }
    // A long line is cut, too.
    let plan = DeliveryPlan {
        content: "x".repeat(1_000),
        ..DeliveryPlan::of_steps(&short, at(1))
    };
    let delivery = at_plan(plan);
    let ask = plan_question(&delivery);
    assert!(steps_of(&ask)[0].0.ends_with('…'));
    assert_eq!(whole_plan_url(&delivery, &ask, None), own(&delivery));
    assert_eq!(whole_plan_url(&delivery, &DeliveryAsk::Plan, None), None);
}

#[test]
fn a_merge_that_lacks_nothing_but_an_approval_is_asked_for_until_it_is_ordered() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    world.zai(verdict(Verdict::Pass, 'a'));
    let asks = |world: &World| {
        let all = wants(&world.delivery, &seen(world));
        let asks = all.iter().filter(|want| matches!(want, Want::Ask { .. }));
        asks.map(label).collect::<Vec<_>>()
    };
    assert_eq!(world.reads(pull('a', Checks::Passed)), "verify/running");
    assert_eq!(asks(&world), none(), "it may be merged without one");
    let green = PullGlimpse {
        lacks_approval: true,
        ..pull('a', Checks::Passed)
    };
    world.reads(green.clone());
    assert_eq!(asks(&world), ["ask the agent to merge"]);
    let of_job = WaitsFor::new(WaitParty::Person, WaitReason::Approval, at(0));
    let agent: AgentName = "zai".parse().unwrap();
    let who = |woken| waits(&world.delivery, Some(of_job.clone()), woken).who;
    let asked_of = (who(Some(&agent)), who(None));
    assert_eq!(asked_of, (WaitParty::Agent, WaitParty::Person));
    let asked = open_events(&world.delivery);
    assert_eq!(asked.len(), 1);
    // A reading that fails ends nothing: it would not be asked a second time.
    world.reads(pull('a', Checks::Unknown));
    assert_eq!(
        (asks(&world), open_events(&world.delivery)),
        (none(), asked)
    );
    world.reads(green);
    let merge = Act::Merge {
        head: None,
        style: MergeStyle::default(),
    };
    world.zai(merge);
    assert_eq!(asks(&world), none());
    assert_eq!(open_events(&world.delivery), []);
}

fn seen(world: &World) -> Sight {
    Sight {
        job: world.delivery.seen.job.clone(),
        issue_open: true,
        ..Sight::default()
    }
}

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn an_ordinary_delivery_wants_one_thing_after_the_other() {
    let mut world = World::new(rules(
        &[Phase::Plan, Phase::Review],
        "verify",
        ReviewBy::Agent,
    ));
    assert_eq!(wanted(&world), none());
    world.kim(Act::Start);
    assert_eq!(wanted(&world), ["create job"]);
    world.sees(SessionWork::Waiting, None);
    assert_eq!(wanted(&world), none());
    world.sees(planned("p1"), None);
    assert_eq!(wanted(&world), none());
    world.kim(Act::APPROVE);
    assert_eq!(wanted(&world), ["approve p1 by person kim"]);
    world.rests();
    world.reads(pull('a', Checks::Passed));
    assert_eq!(wanted(&world), ["ask the agent"]);
    world.zai(verdict(Verdict::Pass, 'a'));
    assert_eq!(wanted(&world), none());
    world.kim(Act::APPROVE);
    assert_eq!(wanted(&world), ["approve pull by person kim"]);
    let mut approved = seen(&world);
    approved.approved = Some(Approval {
        sha: sha('a'),
        by: "kim".to_owned(),
        at: at(world.second),
        style: MergeStyle::default(),
    });
    assert_eq!(wanted_at(&world.delivery, &approved), none());
    // Who orders the merge once more gives a refused head its attempts back.
    let given = approved.approved.as_mut().unwrap();
    given.at = at(0);
    assert_eq!(
        wanted_at(&world.delivery, &approved),
        ["approve pull by person kim"]
    );
    world.reads(merged(None));
    assert_eq!(wanted(&world), ["close acme/shop#12"]);
    let closed = Sight {
        issue_open: false,
        ..seen(&world)
    };
    assert_eq!(wanted_at(&world.delivery, &closed), none());
}

#[test]
fn feedback_is_said_once_to_the_same_session() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    world.zai(verdict(Verdict::NotPass, 'a'));
    assert_eq!(wanted(&world), ["say 1: Test the cart."]);
    let cause = format!("delivery:{}:1", world.delivery.id);
    assert_eq!(unsent_cause(&world.delivery), Some(cause));
    let mut told = seen(&world);
    // An earlier message that arrived late is not this one.
    for (round, wanted) in [(0, vec!["say 1: Test the cart.".to_owned()]), (1, none())] {
        told.job.as_mut().unwrap().message_sent = Some(round);
        assert_eq!(wanted_at(&world.delivery, &told), wanted, "{round}");
    }
    world.rests();
    assert_eq!(unsent_cause(&world.delivery), None);
}

#[test]
fn another_attempt_is_wanted_until_it_is_there() {
    let mut world = World::in_review(rules(&[Phase::Implement], "verify", ReviewBy::Agent));
    world.delivery.phase = Phase::Implement;
    world.delivery.run_status = RunStatus::Succeeded;
    world.kim(reject("Another way"));
    assert_eq!(wanted(&world), ["start over: attempt 2"]);
    let mut over = seen(&world);
    over.job.as_mut().unwrap().work = SessionWork::Ended(JobEnd::Completed);
    assert_eq!(wanted_at(&world.delivery, &over), ["retry: attempt 2"]);
    let newer: PullRef = "acme/shop#32".parse().unwrap();
    world.sees(SessionWork::Working, Some(newer));
    let mut older = seen(&world);
    older.earlier_pull_open = true;
    assert_eq!(
        wanted_at(&world.delivery, &older),
        ["close acme/shop#31 for acme/shop#32"]
    );
}

#[test]
fn what_is_called_off_calls_its_job_off() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    world.sees(SessionWork::Working, None);
    world.kim(Act::Cancel);
    assert_eq!(wanted(&world), ["cancel job by person kim"]);
    let mut over = seen(&world);
    over.job.as_mut().unwrap().work = SessionWork::Ended(JobEnd::Canceled("kim".to_owned()));
    assert_eq!(wanted_at(&world.delivery, &over), none());
    let mut closed = World::new(rules(&[], "verify", ReviewBy::Agent));
    closed.sees(SessionWork::Working, None);
    let state = IssueState::Closed(Some("eve".to_owned()));
    closed.take(&issue_read(9, state)).unwrap();
    assert_eq!(wanted(&closed), ["read session"]);
    closed.reads_session(9);
    assert_eq!(wanted(&closed), ["cancel job by person eve"]);
}

#[test]
fn an_endpoint_before_the_merge_leaves_everything_as_it_is() {
    let mut world = World::in_review(rules(&[], "review", ReviewBy::Agent));
    world.zai(verdict(Verdict::Pass, 'a'));
    assert_eq!(place(&world.delivery), "close/succeeded");
    assert_eq!(wanted(&world), ["leave job", "close acme/shop#12"]);
}

#[test]
fn parts_are_created_and_called_off() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    world.sees(SessionWork::Working, None);
    world.kim(Act::Split {
        children: vec![part("one"), part("two")],
    });
    assert_eq!(
        wanted(&world),
        ["cancel job by system", "create part one", "create part two"]
    );
    let ids = world.parts();
    let mut sight = Sight {
        children_open: vec![ids[0].clone()],
        ..seen(&world)
    };
    assert_eq!(
        wanted_at(&world.delivery, &sight),
        ["cancel job by system", "create part two"]
    );
    world.kim(Act::Cancel);
    sight.job = None;
    assert_eq!(
        wanted_at(&world.delivery, &sight),
        ["call off part by person kim"]
    );
}

#[test]
fn failures_and_closed_issues_are_looked_into() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Jules));
    assert_eq!(wanted(&world), ["create job that reviews"]);
    let exists = Sight {
        review_job: true,
        ..seen(&world)
    };
    assert_eq!(wanted_at(&world.delivery, &exists), none());
    let mut canceled = World::in_review(rules(&[], "verify", ReviewBy::Jules));
    canceled.kim(Act::Cancel);
    let open = Sight {
        review_job: true,
        leftovers_open: canceled.delivery.leftovers.clone(),
        ..seen(&canceled)
    };
    assert_eq!(
        wanted_at(&canceled.delivery, &open),
        ["cancel job by person kim"],
        "only the job that reviews"
    );
    // Given up for good, its work is cancelled, too.
    canceled.delivery.issue = None;
    canceled.kim(Act::Cancel);
    assert_eq!(
        wanted_at(&canceled.delivery, &open),
        ["cancel job by person kim", "cancel job by person kim"]
    );
    world
        .take(&issue_read(900, IssueState::Closed(None)))
        .unwrap();
    assert_eq!(wanted(&world), ["create job that reviews", "read pull"]);
    world.reads(pull('a', Checks::GivenUp));
    assert_eq!(wanted(&world), ["read pull", "tell that review failed"]);
    let deploys = World::deploying("workflow:deploy.yml@main");
    assert_eq!(
        wanted(&deploys),
        ["dispatch deploy.yml on main", "ask about deploy"]
    );
}

#[test]
fn what_an_agent_cancels_is_told_to_a_person_and_what_a_person_cancels_to_no_one() {
    for (by, told) in [(kim(), None), (zai(), Some(Audience::Human))] {
        let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
        assert_eq!(world.orders(by, Act::Cancel).unwrap(), "review/failed");
        let failed = audiences(&world.delivery, &seen(&world));
        assert_eq!(failed, Vec::from_iter(told));
        assert_eq!(
            open_events(&world.delivery).len(),
            usize::from(told.is_some())
        );
    }
}

#[test]
fn it_looks_again_sooner_while_something_runs_and_no_more_once_it_is_over() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    let wait = |world: &World| {
        let now = at(world.second);
        due(&world.delivery, now).map(|due| due.duration_since(now).as_mins())
    };
    assert_eq!(wait(&world), Some(60));
    world.kim(Act::Start);
    assert_eq!(wait(&world), Some(10));
    world.kim(Act::Cancel);
    assert_eq!(wait(&world), Some(60));
    world
        .take(&issue_read(9, IssueState::Closed(None)))
        .unwrap();
    assert_eq!(wait(&world), Some(10));
    world.second += 3_600;
    assert_eq!(wait(&world), None);
}
