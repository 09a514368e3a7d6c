//! Who plans and who reviews, and what they may not send.

use super::*;
use crate::ids::{AgentName, PlanId};
use crate::when::plus;

fn plan(content: &str) -> Act {
    Act::Plan {
        content: content.to_owned(),
        target_files: vec!["src/search.rs".to_owned()],
    }
}

#[test]
fn a_plan_is_sent_by_whom_the_source_names() {
    let with = |plan_by| Rules {
        plan_by,
        ..rules(&[], "verify", ReviewBy::Agent)
    };
    let mut jules = World::new(with(PlanBy::Jules));
    assert_eq!(
        jules.orders(kim(), plan("1. Look")),
        Err("planned_by_jules")
    );
    let mut agent = World::new(with(PlanBy::Agent));
    assert_eq!(place(&agent.delivery), "plan/running");
    assert_eq!(agent.delivery.task.job, None);
    assert_eq!(agent.orders(zai(), plan(" ")), Err("plan_empty"));
    for file in ["", "/etc/passwd", "src/../../secret", "a\nb"] {
        let odd = Act::Plan {
            content: "1. Look".to_owned(),
            target_files: vec![file.to_owned()],
        };
        assert_eq!(agent.orders(zai(), odd), Err("odd_target_files"), "{file}");
    }
    assert_eq!(agent.zai(plan("1. Look")), "implement/running");
    assert!(agent.delivery.task.job.is_some());
    assert_eq!(agent.delivery.plan.as_ref().unwrap().content, "1. Look");
    assert_eq!(agent.delivery.plan.as_ref().unwrap().model, None);
    let mut human = World::new(with(PlanBy::Human));
    assert_eq!(human.orders(zai(), plan("1. Look")), Err("people_only"));
    assert_eq!(
        human.orders(kim(), plan("1. Look")).unwrap(),
        "implement/running"
    );
    // A person performs, and the executor is an agent still.
    let first = &human.delivery.runs[0];
    assert_eq!(
        (first.performer, first.executor()),
        (Performer::Human, Executor::Agent)
    );
}

#[test]
fn a_plan_of_an_agent_that_was_rejected_is_none_any_more() {
    let mut world = World::new(Rules {
        plan_by: PlanBy::Agent,
        ..rules(&[Phase::Plan], "verify", ReviewBy::Agent)
    });
    world.kim(Act::Start);
    world.zai(plan("1. Look"));
    assert!(world.delivery.plan.is_some());
    assert_eq!(world.kim(reject("Too short.")), "plan/running");
    assert_eq!(world.delivery.plan, None);
    // What is said with a retry is for who plans, too.
    assert_eq!(world.kim(Act::Cancel), "plan/failed");
    let reason = Some("With tests, please.".to_owned());
    let retry = Act::Retry {
        reason: reason.clone(),
    };
    assert_eq!(world.kim(retry), "plan/running");
    assert_eq!(world.delivery.feedback, reason);
}

#[test]
fn who_reviews_is_kept_with_a_delivery() {
    let unset = Rules {
        review_by: None,
        ..rules(&[], "verify", ReviewBy::Agent)
    };
    let kept = World::new(unset).delivery.rules;
    assert_eq!(kept.with_agent(true).reviewer(), ReviewBy::Human);
}

#[test]
fn a_person_is_awaited_to_plan_once_the_agent_is_late() {
    let with_agent = Rules {
        plan_by: PlanBy::Agent,
        ..rules(&[], "verify", ReviewBy::Agent)
    };
    let mut world = World::new(with_agent);
    let agent: AgentName = "zai".parse().unwrap();
    let asked = open_events(&world.delivery);
    let until = plus(at(0), AGENT_ACTS_FOR);
    world.second = AGENT_ACTS_FOR.as_secs() - 2;
    world.time_passes();
    assert_eq!(due(&world.delivery, at(world.second)), Some(until));
    assert_eq!(
        reason::waits_for(&world.delivery, Some(&agent)),
        WaitParty::Agent
    );
    let shown = |woken| reasons(&world.delivery, woken).remove(0).sentence;
    let told = shown(Some(&agent));
    assert!(
        told.ends_with(&format!("from {until} on a person.")),
        "{told}"
    );
    // An agent that cannot be woken is awaited nowhere.
    assert_eq!(reason::waits_for(&world.delivery, None), WaitParty::Person);
    assert_eq!(shown(None), "A person is awaited to send a plan.");
    world.time_passes();
    assert_eq!(place(&world.delivery), "plan/running");
    assert_eq!(
        reason::waits_for(&world.delivery, Some(&agent)),
        WaitParty::Person
    );
    assert_eq!(open_events(&world.delivery).len(), 1);
    assert_ne!(open_events(&world.delivery), asked);
    // It is late, and what it sends is a plan still.
    assert_eq!(world.zai(plan("1. Look")), "implement/running");
    assert_eq!(world.delivery.runs[0].performer, Performer::Agent);
}

#[test]
fn a_plan_approved_on_jules_s_page_was_approved_by_a_person() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    world.kim(Act::Start);
    world.sees(planned("p1"), None);
    let mut sight = job_sight(&world.delivery, SessionWork::Working, None);
    sight.glimpse.approved_elsewhere = true;
    assert_eq!(world.shows(sight), "implement/running");
    let history = world.history();
    let last = history.last().unwrap();
    assert_eq!(last, "implement/running by person on Jules's page");
}

#[test]
fn agents_do_not_act_at_checkpoints_unless_the_source_says_so() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    assert_eq!(world.orders(zai(), Act::Start), Err("people_only"));
    assert!(!legal(&world.delivery, &zai(), &world.rules).contains(&CommandKind::Start));
    world.rules.checkpoints_by = CheckpointsBy::Anyone;
    assert_eq!(world.zai(Act::Start), "plan/running");
    world.sees(planned("p1"), None);
    assert_eq!(world.zai(Act::APPROVE), "implement/running");
}

#[test]
fn a_verdict_is_recorded_as_of_the_one_who_sent_it() {
    for (asked, by, recorded) in [
        (ReviewBy::Agent, kim(), Performer::Human),
        (ReviewBy::Agent, zai(), Performer::Agent),
        (ReviewBy::Human, kim(), Performer::Human),
        (ReviewBy::Human, zai(), Performer::Agent),
    ] {
        let mut world = World::in_review(rules(&[], "verify", asked));
        world.rules.checkpoints_by = CheckpointsBy::Anyone;
        world.orders(by, verdict(Verdict::Pass, 'a')).unwrap();
        assert_eq!(world.delivery.runs.last().unwrap().performer, recorded);
    }
}

#[test]
fn after_eight_hours_a_person_reviews_instead_of_the_agent() {
    let mut world = World::in_review(rules(&[Phase::Review], "verify", ReviewBy::Agent));
    assert_eq!(
        world.delivery.review.asked.as_ref().unwrap().by,
        ReviewBy::Agent
    );
    let agent: AgentName = "zai".parse().unwrap();
    let why = |woken| reasons(&world.delivery, woken).remove(0).sentence;
    assert!(why(Some(&agent)).starts_with("The agent is awaited to review it, and from "));
    assert_eq!(why(None), "A person is awaited to review it.");
    world.second += 8 * 3_600;
    world.time_passes();
    assert_eq!(
        world.delivery.review.asked.as_ref().unwrap().by,
        ReviewBy::Human
    );
    let waits = waits(&world.delivery, None, None);
    assert_eq!(waits.sentence(), "a person: its change has to be reviewed");
    assert_eq!(
        world.orders(zai(), verdict(Verdict::Pass, 'a')),
        Err("people_only")
    );
    // A person's `pass` is also the approval at the checkpoint.
    assert_eq!(world.kim(verdict(Verdict::Pass, 'a')), "verify/pending");
    let reviewed = world.delivery.runs.last().unwrap();
    assert_eq!(reviewed.performer, Performer::Human);
    let approved = world.delivery.review.approved.clone().unwrap();
    assert_eq!((approved.head, approved.by), (sha('a'), kim()));
}

#[test]
fn an_approving_review_on_github_is_a_person_s_pass() {
    let mut world = World::in_review(rules(&[Phase::Review], "verify", ReviewBy::Human));
    let approved = PullGlimpse {
        approved_by: Some("eve".to_owned()),
        ..pull('a', Checks::Passed)
    };
    assert_eq!(world.reads(approved), "verify/running");
    let history = world.history();
    assert_eq!(history[history.len() - 2], "verify/pending by person eve");
}

fn reviews(world: &World, state: ReviewState) -> DeliveryInput {
    let job = world.delivery.review.asked.as_ref().unwrap().job.clone();
    DeliveryInput::Review(ReviewSight {
        job: job.unwrap(),
        session: None,
        state,
    })
}

#[test]
fn a_second_session_reviews_and_its_answer_is_read_strictly() {
    let start = || World::in_review(rules(&[], "verify", ReviewBy::Jules));
    let mut world = start();
    assert_eq!(
        world.orders(kim(), verdict(Verdict::Pass, 'a')),
        Err("reviewed_by_jules")
    );
    let working = reviews(&world, ReviewState::Working);
    assert_eq!(world.take(&working).unwrap(), "review/running");
    let good = "```json\n{\"verdict\":\"pass\",\"summary\":\"Good\"}\n```".to_owned();
    let good = reviews(&world, ReviewState::Said(good));
    assert_eq!(world.take(&good).unwrap(), "verify/running");
    let mut odd = start();
    let said = reviews(&odd, ReviewState::Said("Looks good, merge it".to_owned()));
    assert_eq!(odd.take(&said).unwrap(), "review/failed");
    assert_eq!(
        odd.delivery.error.as_ref().unwrap().code,
        Fault::MalformedReview
    );
    assert_eq!(odd.delivery.verdict, None);
    let mut late = start();
    let answer = reviews(&late, ReviewState::Failed("no disk".to_owned()));
    late.reads(pull('b', Checks::Passed));
    assert_eq!(late.take(&answer).unwrap(), "review/running");
}

#[test]
fn a_question_of_the_session_that_reviews_blocks_the_review() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Jules));
    let job = world.delivery.reviewing_job().cloned();
    let asks = reviews(&world, ReviewState::Asking);
    assert_eq!(world.take(&asks).unwrap(), "review/blocked");
    assert_eq!(world.delivery.reviewing_job(), job.as_ref());
    let named = format!("the session that reviews it is open: job {}", job.unwrap());
    world.says(&named);
    // What the session does that works is no answer to it.
    assert_eq!(world.rests(), "review/blocked");
    let pass = "```json\n{\"verdict\":\"pass\",\"summary\":\"Good\"}\n```".to_owned();
    for (state, ends) in [
        (ReviewState::Working, "review/running"),
        (ReviewState::Said(pass), "verify/running"),
        (ReviewState::Failed("no disk".to_owned()), "review/failed"),
    ] {
        let mut world = world.clone();
        let next = reviews(&world, state);
        assert_eq!(world.take(&next).unwrap(), ends);
    }
    // A question about an earlier head holds up nothing.
    let pushed = world.reads(pull('b', Checks::Running));
    assert_eq!(pushed, "review/running");
}

#[test]
fn not_pass_needs_feedback() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    let without = |feedback: Option<&str>| {
        Act::Verdict(ReviewResult {
            verdict: Verdict::NotPass,
            head: sha('a'),
            summary: None,
            feedback: feedback.map(str::to_owned),
        })
    };
    for blank in [None, Some(""), Some(" \n")] {
        assert_eq!(world.orders(zai(), without(blank)), Err("feedback_empty"));
    }
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    assert_eq!(
        world.orders(zai(), without(Some(secret))),
        Err("secret_in_text")
    );
    let before = world.delivery.clone();
    assert_eq!(
        world.orders(zai(), verdict(Verdict::Pass, 'b')),
        Err("head_moved")
    );
    assert_eq!(world.delivery, before);
}

#[test]
fn odd_deliveries_are_not_created() {
    let code = |new: &NewDelivery| create(new, &Rules::default(), at(0)).unwrap_err().code;
    let base = new_delivery();
    let with = |change: fn(&mut NewDelivery)| {
        let mut new = base.clone();
        change(&mut new);
        code(&new)
    };
    assert_eq!(with(|new| new.summary = " ".to_owned()), "summary_empty");
    assert_eq!(
        with(|new| new.summary = "x".repeat(201)),
        "summary_too_long"
    );
    assert_eq!(with(|new| new.kind = DeliveryKind::Member), "kind_not_yet");
    assert_eq!(
        with(|new| new.acceptance_criteria = vec![String::new()]),
        "criterion_empty"
    );
    let label = |new: &mut NewDelivery| {
        new.refs = vec![Ref {
            role: RefRole::Output,
            kind: RefType::Commit,
            label: "a\nb".to_owned(),
            url: None,
        }];
    };
    assert_eq!(with(label), "odd_label");
}

#[test]
fn odd_parts_are_refused() {
    let split = |part| Act::Split {
        children: vec![part],
    };
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    for count in [0, 21] {
        let children = vec![part("Half"); count];
        let refused = world.orders(kim(), Act::Split { children });
        assert_eq!(refused, Err("odd_number_of_children"));
    }
    let refused = world.orders(kim(), split(part(" ")));
    assert_eq!(refused, Err("summary_empty"));
    world.kim(split(part("Half")));
    let again = world.orders(kim(), split(part("Half")));
    assert_eq!(again, Err("split_already"));
    let child = NewDelivery {
        parent: Some(world.delivery.id.clone()),
        ..new_delivery()
    };
    let child = create(&child, &world.rules, at(0)).unwrap().aggregate;
    let split = command("c", kim(), split(part("Half")));
    let refused = apply(&child, &split, at(1), &world.rules).unwrap_err();
    assert_eq!(refused.code, "part_already");
}

#[test]
fn a_failed_run_keeps_what_was_found_out() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let analyse = |run: Option<RunId>| Act::Analyse {
        run,
        text: "The disk was full".to_owned(),
        suggestion: Some("Delete target".to_owned()),
    };
    assert_eq!(world.orders(zai(), analyse(None)), Err("not_failed"));
    world.sees(
        SessionWork::Ended(JobEnd::Failed("no disk".to_owned())),
        None,
    );
    let other = "00000000".parse().unwrap();
    assert_eq!(
        world.orders(zai(), analyse(Some(other))),
        Err("no_such_run")
    );
    world.zai(analyse(None));
    let kept = world.delivery.runs[0].analysis.clone().unwrap();
    assert_eq!(
        (kept.by, kept.suggestion.as_deref()),
        (zai(), Some("Delete target"))
    );
}

#[test]
fn a_collected_session_is_a_run() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let collect = || Act::Collect {
        job: JobId::from_ulid(ulid::Ulid(9)),
        session: None,
        result: RunResult::Success,
    };
    world.kim(collect());
    assert_eq!(world.delivery.runs.last().unwrap().mode, Mode::Execution);
    assert_eq!(world.orders(kim(), collect()), Err("collected_already"));
    world.sees(planned("p1"), None);
    assert_eq!(world.delivery.runs[0].status, RunResult::Success);
}

/// An approval of a plan is that of no other checkpoint, whatever its job's commands are called.
#[test]
fn the_approval_of_a_plan_approves_nothing_else() {
    let own = rules(&[Phase::Plan, Phase::Implement], "verify", ReviewBy::Nobody);
    let mut world = World::new(own.clone());
    let (read, other): (PlanId, PlanId) = ("p1".parse().unwrap(), "p2".parse().unwrap());
    let approval = |world: &World, plan: Option<&PlanId>| {
        let job = world.delivery.task.job.clone();
        let job = job.unwrap_or_else(|| JobId::from_ulid(ulid::Ulid(7)));
        let answer = plan_approval(&world.delivery, &job, plan, &kim(), &own);
        answer.map_err(|refused| refused.code)
    };
    world.kim(Act::Start);
    assert_eq!(approval(&world, None), Err("no_open_plan"));
    world.sees(SessionWork::Planned(read.clone()), None);
    // Whether it is the present plan is asked when the approval is taken.
    for plan in [None, Some(read.clone()), Some(other)] {
        let given = approval(&world, plan.as_ref());
        assert_eq!(given, Ok(Act::Approve { head: None, plan }));
    }
    let earlier = JobId::from_ulid(ulid::Ulid(8));
    let of_earlier = plan_approval(&world.delivery, &earlier, None, &kim(), &own);
    assert_eq!(of_earlier.map_err(|it| it.code), Err("no_open_plan"));
    world.kim(Act::APPROVE);
    world.rests();
    assert_eq!(
        world.reads(pull('a', Checks::Passed)),
        "implement/succeeded"
    );
    assert_eq!(approval(&world, Some(&read)), Err("no_open_plan"));
    assert_eq!(approval(&world, None), Err("no_open_plan"));
}

#[test]
fn an_agent_splits_only_what_it_plans() {
    let part = part("One");
    let split = || Act::Split {
        children: vec![part.clone()],
    };
    let of = |plan_by, checkpoints_by, at: &[Phase]| {
        let rules = Rules {
            plan_by,
            checkpoints_by,
            ..rules(at, "verify", ReviewBy::Agent)
        };
        World::new(rules)
    };
    let plan = [Phase::Plan];
    for (plan_by, checkpoints_by, at, allowed) in [
        (PlanBy::Agent, CheckpointsBy::People, &[][..], true),
        (PlanBy::Agent, CheckpointsBy::People, &plan[..], false),
        (PlanBy::Agent, CheckpointsBy::Anyone, &plan[..], true),
        (PlanBy::Jules, CheckpointsBy::People, &[][..], false),
        (PlanBy::Human, CheckpointsBy::People, &[][..], false),
    ] {
        let answer = of(plan_by, checkpoints_by, at).orders(zai(), split());
        let expected = allowed.then_some(()).ok_or("people_only");
        assert_eq!(
            answer.map(drop),
            expected,
            "{plan_by:?} {checkpoints_by:?} {at:?}"
        );
        assert!(
            of(plan_by, checkpoints_by, at)
                .orders(kim(), split())
                .is_ok()
        );
    }
}
