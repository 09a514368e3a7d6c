//! Sprints that do not go as planned: too few slots or tasks, nothing to change, members that are late, other people's commits.

use domain::policy::MergePolicy;
use domain::pull::MergeStyle;
use domain::sprint::{FOREIGN_COMMIT, SprintState};
use engine::work::Work;
use sandbox::{Fault, FaultKind};
use tests::world::{MINUTE, asks};

use super::super::pipeline::push;
use super::deaths::done;
use super::resolving::nothing;
use super::*;

/// People merge, so the one pull request stays open.
fn by_people() -> Source {
    let mut source = source();
    source.policy.merge = MergePolicy::Human;
    source
}

/// A member that works for so many minutes.
fn slow(id: &str, minutes: i64, first: &[(&str, String)]) -> Story {
    member(id, 12 * minutes, first, &[])
}

fn readme(text: &str) -> Vec<(&'static str, String)> {
    vec![("README.md", text.to_owned())]
}

fn first_line(text: &str) -> Vec<(&'static str, String)> {
    vec![("src/cart.rs", cart(&[(1, text)]))]
}

/// A person pushes a commit that says it is a weave, and has the files that it names.
pub(super) fn push_weave(world: &World, (start, branch): (&str, &str)) {
    let folder = world.sandbox.github().folder(REPO).expect("real git");
    let run = |args: &[&str]| git(&folder, args).trim().to_owned();
    let tree = run(&["rev-parse", &format!("{start}^{{tree}}")]);
    let subject = "Weave 1 pull request into main";
    let message = format!("{subject}\n\nGaffer-Weave: {tree}\nGaffer-Tree: {tree}");
    let made = run(&[
        "-c",
        "user.name=ann",
        "-c",
        "user.email=ann@example.org",
        "commit-tree",
        &tree,
        "-p",
        start,
        "-m",
        &message,
    ]);
    let place = format!("{made}:refs/heads/{branch}");
    run(&["push", "--quiet", ".", &place]);
    world.sandbox.advance();
}

async fn until_state(world: &World, word: &str) -> Sprint {
    let is_so = async |world: &World| sprint(world).await.state.word() == word;
    Box::pin(world.until(hour(3), word, is_so)).await;
    sprint(world).await
}

#[tokio::test]
async fn members_wait_for_slots_and_who_has_nothing_to_change_is_missed_by_nobody() {
    let nothing = nothing("You are the persona `visionary`");
    let stories = vec![
        member("curator", 1, &first_line("first"), &[]),
        member("refactor", 1, &readme("A better shop.\n"), &[]),
        nothing,
    ];
    let world = world_of(true, stories).await;
    world.limit("default", 1, 15).await;
    begin(&world).await;
    let over = until_over(&world).await;
    assert_eq!((over.state.word(), over.ticks), ("done", 2));
    assert_eq!(
        over.members
            .iter()
            .map(|it| it.state.word())
            .collect::<Vec<_>>(),
        ["applied", "applied", "no_change"]
    );
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.messages), (3, 1), "asked once");
    world.finish().await;
}

/// Jules takes its prompt for invalid, which no other try would change.
#[tokio::test]
async fn a_member_whose_session_is_refused_stops_no_other() {
    let stories = vec![
        member("curator", 1, &first_line("first"), &[]),
        member("visionary", 4, &readme("A vision.\n"), &[]),
    ];
    let world = world_of(true, stories).await;
    let refused = Fault::new(Service::Jules, "/sessions", FaultKind::status(400)).on("POST");
    let refused = refused.saying("You are the persona `refactor`");
    world.sandbox.faults().add(refused);
    begin(&world).await;
    let over = ended_with(
        &world,
        &[
            "curator #101 applied",
            "refactor failed",
            "visionary #102 applied",
        ],
    )
    .await;
    assert_eq!((over.state.word(), over.ticks), ("partially_done", 2));
    let reason = over.state.reason().expect("a reason");
    let why = "refactor: Jules refused it: ";
    assert!(reason.starts_with(why), "{reason}");
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (2, 1));
    world.finish().await;
}

/// Gaffer marks it ready once, and a person makes it a draft again.
#[tokio::test]
async fn a_draft_is_woven_as_it_is() {
    let mut drafts = member("curator", 1, &first_line("first"), &[]);
    for step in &mut drafts.steps {
        if let Step::OpenPull { draft, .. } = step {
            *draft = true;
        }
    }
    let stories = vec![drafts, slow("refactor", 10, &readme("A better shop.\n"))];
    let world = world_of(true, stories).await;
    begin_with(&world, "50", &["curator", "refactor"]).await;
    let github = world.sandbox.github();
    for is_draft in [true, false] {
        let is_so = async |_: &World| {
            let pull = github.pull(REPO, 101);
            pull.is_some_and(|pull| pull.draft == is_draft)
        };
        Box::pin(world.until(MINUTE * 5, "a draft, then none", is_so)).await;
    }
    github.set_draft(REPO, 101, true);
    ended_with(&world, &["curator #101 applied", "refactor #102 applied"]).await;
    assert!(world.pull(101).draft);
    world.finish().await;
}

/// The free plan has three slots and fifteen tasks a day: the members that wait for tomorrow are waited for an hour, and the
/// others are woven.
#[tokio::test]
async fn of_22_members_three_work_at_once_and_those_beyond_the_quota_are_not_waited_for() {
    let ids: Vec<String> = (1..=22).map(|it| format!("persona-{it:02}")).collect();
    let stories = ids.iter().map(|id| {
        let path = format!("docs/{id}.md");
        member(id, 1, &[(path.as_str(), "One more.\n".to_owned())], &[])
    });
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let world = world_of_personas(true, &ids, stories.collect()).await;
    world.limit("default", 3, 15).await;
    let begun = begin(&world).await;
    assert_eq!(begun.members.len(), 22);
    let mut most = 0;
    let is_over = async |world: &World| {
        let sessions = world.sandbox.jules().sessions();
        let at_work = sessions.iter().filter(|it| it.state != "COMPLETED");
        most = most.max(at_work.count());
        sprint(world).await.is_over()
    };
    Box::pin(world.until(hour(6), "the sprint is over", is_over)).await;
    let over = sprint(&world).await;
    assert_eq!(most, 3);
    let count = |word: &str| {
        let states = over.members.iter().map(|it| it.state.word());
        states.filter(|it| *it == word).count()
    };
    assert_eq!((count("applied"), count("timed_out")), (15, 7));
    assert_eq!((over.state.word(), over.ticks), ("partially_done", 2));
    let commits = done(&world, "POST", "/git/commits");
    assert_eq!((over.weaves, commits), (1, 1), "one effect weaves all");
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    let made = texts.keys().filter(|path| path.starts_with("docs/"));
    assert_eq!(made.count(), 15);
    for member in &over.members {
        let ended = match member.state.word() {
            "applied" => "woven",
            _ => "cancelled",
        };
        Box::pin(world.until_is(hour(1), &member.job, ended)).await;
    }
    let counters = world.sandbox.counters();
    let tried = (counters.creates, counters.create_calls);
    assert_eq!(tried, (15, 15), "nothing is refused");
    world.finish().await;
}

/// A session that works or asks at the end of its sprint would keep its slot, and no later sprint could begin.
#[tokio::test]
async fn at_the_end_a_session_that_works_or_asks_is_put_away_and_one_that_is_done_is_not() {
    let mut curious = member("visionary", 1, &[], &[]);
    curious.steps = vec![asks(SECOND, "How far?")];
    let stories = vec![
        member("curator", 1, &first_line("first"), &[]),
        slow("refactor", 400, &readme("A better shop.\n")),
        curious,
    ];
    let world = world_of(true, stories).await;
    begin(&world).await;
    let over = ended_with(
        &world,
        &[
            "curator #101 applied",
            "refactor timed_out",
            "visionary timed_out",
        ],
    )
    .await;
    for (member, ended) in over.members.iter().zip(["woven", "cancelled", "cancelled"]) {
        Box::pin(world.until_is(hour(1), &member.job, ended)).await;
    }
    let all_archived = async |world: &World| {
        let sessions = world.sandbox.jules().sessions();
        sessions.iter().all(|it| it.archived)
    };
    Box::pin(world.until(hour(1), "the slots are free", all_archived)).await;
    assert_eq!(world.sandbox.counters().creates, 3);
    world.finish().await;
}

#[tokio::test]
async fn a_late_pull_request_joins_and_somebody_elses_commit_stops_all() {
    let stories = vec![
        member("curator", 1, &first_line("first"), &[]),
        slow("refactor", 40, &readme("A better shop.\n")),
        slow("visionary", 80, &[("docs/vision.md", "Far.\n".to_owned())]),
    ];
    let world = world_with(true, stories, by_people()).await;
    begin(&world).await;
    let first = until_state(&world, "verifying").await;
    assert_eq!(
        members(&first),
        [
            "curator #101 applied",
            "refactor timed_out",
            "visionary timed_out"
        ]
    );
    let is_in = async |world: &World| {
        let now = sprint(world).await;
        now.weaves == 2 && now.state == SprintState::Verifying
    };
    Box::pin(world.until(hour(2), "the late one is in", is_in)).await;
    let second = sprint(&world).await;
    assert_eq!(members(&second)[1], "refactor #103 applied");
    push(
        &world,
        "jules-sprint-50-integration",
        ("NOTES.md", "mine\n"),
    );
    let over = until_over(&world).await;
    let reason = over.state.reason().expect("a reason");
    assert_eq!(reason, FOREIGN_COMMIT);
    let texts = world
        .sandbox
        .github()
        .texts(REPO, "jules-sprint-50-integration");
    assert_eq!(
        texts.expect("the branch")["NOTES.md"],
        "mine\n",
        "it is not lost"
    );
    assert_eq!(world.pull(102).state, sandbox::github::PullState::Open);
    assert_eq!(world.sandbox.counters().merges, 0);
    world.pass(MINUTE * 30).await;
    world.finish().await;
}

/// Nothing that members mend can be woven any more, so they are not waited for.
#[tokio::test]
async fn somebody_elses_commit_stops_all_while_a_member_mends() {
    let stories = vec![
        member("curator", 1, &first_line("first"), &[]),
        member("refactor", 2, &first_line("other"), &[]),
    ];
    let world = world_with(true, stories, by_people()).await;
    begin_with(&world, "50", &["curator", "refactor"]).await;
    let fixing = until_state(&world, "fixing").await;
    push(
        &world,
        "jules-sprint-50-integration",
        ("NOTES.md", "mine\n"),
    );
    let over = until_over(&world).await;
    let reason = over.state.reason().expect("a reason");
    assert_eq!(reason, FOREIGN_COMMIT);
    assert_eq!((over.ticks, over.weaves), (fixing.ticks, fixing.weaves));
    world.pass(MINUTE * 40).await;
    assert_eq!(world.sandbox.counters().creates, 2, "no new session");
    assert_eq!(world.sandbox.counters().merges, 0);
    let pull = over.woven.expect("a weave").pull;
    let why = world.backend.pull_why(&pull).await.expect("an answer");
    assert_eq!(why.state, "blocked");
    assert_eq!(why.because[0].code, "sprint_over", "{why:?}");
    let is_at_work = |it: &domain::reasoned::Reasoned| it.code == "session_working";
    assert!(!why.because.iter().any(is_at_work), "{why:?}");
    let style = MergeStyle::default();
    let approved = world.approve_merge_as(&over.integration, &style);
    let refused = approved.await.expect_err("its sprint is over");
    assert!(matches!(refused, Error::NotNow(_)), "{refused}");
    world.finish().await;
}

#[tokio::test]
async fn an_abort_calls_the_jobs_off_and_leaves_branches_and_pull_requests() {
    let stories = vec![
        member("curator", 1, &first_line("first"), &[]),
        member("refactor", 1, &readme("A better shop.\n"), &[]),
        slow("visionary", 80, &readme("A vision.\n")),
    ];
    let world = world_with(true, stories, by_people()).await;
    begin(&world).await;
    let both = async |world: &World| {
        let now = sprint(world).await;
        now.members.iter().filter(|it| it.is_offered()).count() == 2
    };
    Box::pin(world.until(hour(1), "two are ready", both)).await;
    let labelled = || {
        world
            .pull(101)
            .labels
            .contains(&"jules-sprint-50".to_owned())
    };
    assert!(labelled());
    let repo = REPO.parse().expect("a repository");
    let aborted = world.backend.abort_sprint(&repo, None, "ann").await;
    let aborted = aborted.expect("an abort");
    // Two workers carry its end out at once.
    let work = Work::Sprint {
        repo: aborted.repo.clone(),
        number: aborted.number,
    };
    let (other, same) = (world.another_dispatcher(), work.clone());
    let (event, before) = ("commit CFG#account#default EV#", world.fate.count());
    world.fate.before_next(event, async move {
        Box::pin(other.handle(&same)).await.expect("handled");
    });
    let handled = Box::pin(world.dispatcher.handle(&work)).await;
    handled.expect("handled too");
    let acts = world.fate.acts();
    let told = acts[before..].iter().filter(|act| act.starts_with(event));
    assert_eq!(told.count(), 2, "both tell it: {acts:?}");
    for member in &aborted.members {
        Box::pin(world.until_is(hour(1), &member.job, "cancelled")).await;
    }
    let is_off = async |_: &World| !labelled();
    Box::pin(world.until(hour(1), "the label is off", is_off)).await;
    assert_eq!(world.pull(101).state, sandbox::github::PullState::Open);
    assert_eq!(world.sandbox.counters().merges, 0);
    world.finish().await;
}

/// All is carried out of the abort before its weave opens the one pull request, and a person merges that.
#[tokio::test]
async fn what_is_being_woven_as_its_sprint_is_aborted_counts_once_a_person_merges_it() {
    let world = world_with(true, appendix_a(), by_people()).await;
    begin_with(&world, "50", &["curator"]).await;
    let (backend, other) = (world.backend.clone(), world.another_dispatcher());
    world.fate.before_next("open_pull", async move {
        let repo = REPO.parse().expect("a repository");
        let aborted = backend.abort_sprint(&repo, None, "ann").await;
        let number = aborted.expect("an abort").number;
        let work = Work::Sprint { repo, number };
        Box::pin(other.handle(&work)).await.expect("handled");
    });
    until_over(&world).await;
    Box::pin(world.pass(MINUTE * 30)).await;
    let over = sprint(&world).await;
    assert_eq!(Figures::of_sprint(&over).merged, 0);
    let pull = over.woven.expect("a weave").pull.number;
    let (now, github) = (world.clock.now(), world.sandbox.github());
    assert!(github.merge_by_hand(now, REPO, pull, "ann"));
    Box::pin(world.pass(hour(1))).await;
    let over = sprint(&world).await;
    let story = world.story().await;
    assert_eq!(over.state.word(), "aborted");
    assert_eq!(members(&over), ["curator #101 applied"], "{story}");
    assert_eq!(Figures::of_sprint(&over).merged, 1, "{story}");
    assert_eq!(world.state(&over.integration).await, "merged", "{story}");
    world.finish().await;
}

/// Nothing else of the merge would hold it: it is green, and the source merges pull requests of sprints by itself.
#[tokio::test]
async fn a_commit_of_another_hand_on_the_branch_is_not_merged() {
    let branch = "jules-sprint-50-integration";
    let notes = |world: &World| push(world, branch, ("NOTES.md", "mine\n"));
    let weave = |world: &World| push_weave(world, (branch, branch));
    let theirs: [&dyn Fn(&World); 2] = [&notes, &weave];
    for push_theirs in theirs {
        let stories = vec![
            member("curator", 1, &first_line("first"), &[]),
            member("refactor", 1, &readme("A better shop.\n"), &[]),
            member("visionary", 1, &[("VISION.md", "Far.\n".to_owned())], &[]),
        ];
        let world = world_of(true, stories).await;
        begin(&world).await;
        until_state(&world, "verifying").await;
        push_theirs(&world);
        let over = until_over(&world).await;
        assert_eq!(over.state.word(), "partially_done");
        world.pass(MINUTE * 30).await;
        assert_eq!(world.sandbox.counters().merges, 0);
        world.finish().await;
    }
}

/// It would end at its first weave, after all its sessions.
#[tokio::test]
async fn no_sprint_starts_on_a_branch_of_another_hand_or_weaves_onto_one() {
    let stories = vec![member("curator", 1, &first_line("first"), &[])];
    let world = world_of(true, stories).await;
    push_weave(&world, ("main", "jules-sprint-50-integration"));
    let refused = Box::pin(ordered(&world, "50", &[])).await;
    let refused = refused.expect_err("the branch is taken");
    let is_told = matches!(&refused, Error::NotNow(why) if why.code == "branch_taken");
    assert!(is_told, "{refused}");
    begin_with(&world, "51", &["curator"]).await;
    // This one comes after the look at the start.
    push_weave(&world, ("main", "jules-sprint-51-integration"));
    let over = until_over(&world).await;
    let reason = over.state.reason().expect("a reason");
    assert!(reason.contains(FOREIGN_COMMIT), "{reason}");
    assert_eq!(over.weaves, 1);
    world.pass(MINUTE * 30).await;
    assert_eq!(world.sandbox.counters().merges, 0);
    world.finish().await;
}

#[tokio::test]
async fn a_pull_request_of_a_sprint_that_is_closed_by_hand_waits_for_a_person() {
    let stories = vec![member("curator", 1, &readme("A better shop.\n"), &[])];
    let world = world_with(true, stories, by_people()).await;
    begin(&world).await;
    let verifying = until_state(&world, "verifying").await;
    let pull = verifying.woven.expect("what is woven").pull;
    let github = world.sandbox.github();
    github.close(world.clock.now(), REPO, pull.number);
    let repo = REPO.parse().expect("a repository");
    let is_told = async |world: &World| {
        let why = world.backend.sprint_why(&repo, None).await;
        let because = why.expect("a reason").because;
        because.iter().any(|it| {
            it.code == "reopening"
                && it.sentence.contains("a person")
                && it.sentence.contains("until about")
        })
    };
    Box::pin(world.until(hour(1), "a person is named", is_told)).await;
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "partially_done");
    world.finish().await;
}

#[tokio::test]
async fn a_sprint_that_was_started_in_a_pause_begins_as_soon_as_that_ends() {
    let mut paused = source();
    paused.paused = true;
    let world = world_with(true, appendix_a(), paused).await;
    world.pause(true).await;
    begin(&world).await;
    let repo = REPO.parse().expect("a repository");
    let creates = |world: &World| world.sandbox.counters().create_calls;
    for of in [None, Some(&repo)] {
        world.pass(MINUTE).await;
        assert_eq!(creates(&world), 0);
        match of {
            None => world.pause(false).await,
            Some(_) => world.put_source(&source()).await,
        }
        world.backend.go_on(of).await.expect("a queue");
    }
    let all_begin = async |world: &World| creates(world) == 3;
    // Its own due is a quarter of an hour away.
    Box::pin(world.until(MINUTE * 3, "its sessions", all_begin)).await;
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{}", world.story().await);
    world.finish().await;
}
