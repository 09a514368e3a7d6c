//! Conflicts that a message does not resolve, and checks that fail of what is woven.

use domain::advice::Advice;
use sandbox::github::Outcome;
use sandbox::{Fault, FaultKind};
use tests::world::{MINUTE, without_change};

use super::mail::{inbox, outbox, send, send_from, silent};
use super::*;

/// A session that makes a change and opens a pull request, for prompts with a text.
pub(super) fn session(matches: &str, files: &[(&str, String)]) -> Story {
    Story {
        matches: matches.to_owned(),
        ..member("", 1, files, &[])
    }
}

/// A session that ends without a change.
pub(super) fn nothing(matches: &str) -> Story {
    let end = || without_change(SECOND);
    Story {
        matches: matches.to_owned(),
        steps: vec![end()],
        on_message: vec![end()],
        ..Story::default()
    }
}

/// Two members that change the same line; the second one's answer leaves that as it is.
fn stubborn(mut first: Vec<Story>) -> Vec<Story> {
    first.extend([
        member(
            "curator",
            1,
            &[("src/cart.rs", cart(&[(10, "price")]))],
            &[],
        ),
        member(
            "refactor",
            4,
            &[("src/cart.rs", cart(&[(10, "sum")]))],
            &[("README.md", "A shop with sums.\n".to_owned())],
        ),
        member("visionary", 8, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ]);
    first
}

/// What begins the prompt of the new session of `refactor`.
const ANEW: &str = "Make the change of #102 again";

/// Whether a pull request carries the label of a conflict.
fn has_label(world: &World, number: u64) -> bool {
    let is_there = world.sandbox.github().pulls(REPO).contains(&number);
    is_there && world.pull(number).labels.contains(&"conflict".to_owned())
}

async fn texts(world: &World) -> BTreeMap<String, String> {
    world.sandbox.github().texts(REPO, "main").expect("main")
}

#[tokio::test]
async fn a_last_attempt_begins_on_what_is_woven_and_replaces_the_pull_request() {
    let anew = session(ANEW, &[("src/cart.rs", cart(&[(10, "price and sum")]))]);
    let mut stories = stubborn(vec![anew]);
    // With what won as a whole, its task would be no prompt of a job.
    let price = "价".repeat(7_000);
    let long = [("src/cart.rs", cart(&[(10, &price)]))];
    stories[1] = member("curator", 1, &long, &[]);
    let personas = ["curator", "refactor", "visionary", "weaver"];
    let mut setup = setup(true, (&personas, stories), green_checks());
    let file = persona("refactor");
    let text = file.1 + &"Improve one more thing.\n".repeat(800);
    setup.scenario.repos[0].files.insert(file.0, text);
    let world = World::with(setup).await;
    begin(&world).await;
    let over = ended_with(
        &world,
        &[
            "curator #101 applied",
            "refactor #105 applied",
            "visionary #103 applied",
        ],
    )
    .await;
    assert_eq!((over.state.word(), over.ticks), ("done", 6));
    assert_eq!(
        texts(&world).await["src/cart.rs"],
        cart(&[(10, "price and sum")])
    );
    let new = world.pull(105);
    assert_eq!(new.base_ref, "jules-sprint-50-integration");
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (4, 1));
    let figures = Figures::of_sprint(&over);
    assert_eq!((figures.ticks_to_resolution, figures.tasks), (4, 4));
    assert_eq!(
        mail(&world).await,
        [
            "send 1 weaver refactor Conflict in PR #102",
            "read 1",
            "send 2 weaver refactor Conflict in PR #102",
            "read 2",
        ]
    );
    let is_closed = async |world: &World| {
        let open = sandbox::github::PullState::Open;
        world.pull(102).state != open && world.pull(105).state != open
    };
    Box::pin(world.until(hour(1), "both are closed", is_closed)).await;
    assert!(!has_label(&world, 102), "its conflict is resolved");
    world.finish().await;
}

/// GitHub takes no label until the conflict is resolved.
#[tokio::test]
async fn the_label_of_a_conflict_that_comes_late_is_not_put_on() {
    let world = world_of(true, appendix_a()).await;
    let kind = FaultKind::status(502);
    let fault = Fault::new(Service::GitHub, "/issues/102/labels", kind);
    let faults = world.sandbox.faults();
    faults.add(fault.on("POST").saying("conflict"));
    begin(&world).await;
    let is_in = async |world: &World| {
        let now = sprint(world).await;
        now.weaves == 2 && now.members[1].state.word() == "applied"
    };
    Box::pin(world.until(hour(1), "its conflict is resolved", is_in)).await;
    faults.clear();
    until_over(&world).await;
    Box::pin(world.pass(hour(1))).await;
    assert!(!has_label(&world, 102));
    world.finish().await;
}

#[tokio::test]
async fn an_abort_takes_the_label_of_a_conflict_off() {
    let world = world_of(true, stubborn(Vec::new())).await;
    begin(&world).await;
    let is_on = async |world: &World| has_label(world, 102);
    Box::pin(world.until(hour(1), "it conflicts", is_on)).await;
    let repo = REPO.parse().expect("a repository");
    let aborted = world.backend.abort_sprint(&repo, None, "ann").await;
    aborted.expect("an abort");
    let is_off = async |world: &World| !has_label(world, 102);
    Box::pin(world.until(hour(1), "the label is off", is_off)).await;
    assert_eq!(world.pull(102).state, sandbox::github::PullState::Open);
    world.finish().await;
}

#[tokio::test]
async fn a_member_whose_session_is_gone_mends_its_conflict_in_a_new_one() {
    let line = |text| [("src/cart.rs", cart(&[(10, text)]))];
    let stories = vec![
        session(ANEW, &line("price and sum")),
        member("curator", 1, &line("price"), &[]),
        member("refactor", 4, &line("sum"), &[]),
        member("visionary", 8, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ];
    let world = world_of(true, stories).await;
    begin(&world).await;
    let is_told = async |world: &World| {
        let is_mending = sprint(world).await.members[1].state.word() == "rerunning";
        is_mending && world.sandbox.counters().messages == 1
    };
    Box::pin(world.until(hour(1), "refactor is told", is_told)).await;
    let first = sprint(&world).await.members[1].job.clone();
    let gone = world.session(&first).await.id;
    world.delete_upstream(&gone).await;
    // Nothing but the loss of its session comes before its time is over.
    let begins_anew = async |world: &World| sprint(world).await.members[1].job != first;
    Box::pin(world.until(MINUTE * 20, "it begins anew", begins_anew)).await;
    assert_eq!(world.state(&first).await, "lost");
    let over = ended_with(
        &world,
        &[
            "curator #101 applied",
            "refactor #105 applied",
            "visionary #103 applied",
        ],
    )
    .await;
    assert_eq!((over.state.word(), over.ticks), ("done", 4));
    assert_eq!(world.sandbox.counters().creates, 4);
    let woven = texts(&world).await;
    assert_eq!(woven["src/cart.rs"], cart(&[(10, "price and sum")]));
    world.finish().await;
}

/// All change the same line, so each answer meets the one that came in before it: one comes in with each weave, and the weaver
/// makes this of the rest.
async fn storm(ids: &[&str], lines: &str) -> (World, Sprint) {
    let line = |text: &str| [("src/cart.rs", cart(&[(10, text)]))];
    let mut stories = vec![session("You are the persona `weaver`", &line(lines))];
    // A new session knows its persona, and makes its first change on what is woven by then.
    let places = ids.iter().copied().zip((1..).step_by(4));
    stories.extend(places.map(|(id, place)| {
        let answer = format!("{id} again");
        member(id, place, &line(id), &line(answer.as_str()))
    }));
    let mut personas = ids.to_vec();
    personas.push("weaver");
    let world = world_of_personas(true, &personas, stories).await;
    begin(&world).await;
    let over = until_over(&world).await;
    (world, over)
}

#[tokio::test]
async fn of_a_storm_of_conflicts_one_comes_in_with_each_weave_and_the_weaver_has_the_rest() {
    let ids = ["ann", "ben", "cleo", "dan", "eve", "finn"];
    let all = ids.join("\n");
    let (world, over) = Box::pin(storm(&ids, &all)).await;
    let mut states: Vec<_> = over.members.iter().map(|it| it.state.word()).collect();
    states.sort_unstable();
    let mut expected = vec!["applied"; 4];
    expected.extend(["delegated"; 3]);
    assert_eq!(states, expected, "{}", world.story().await);
    assert_eq!((over.state.word(), over.ticks), ("done", 8));
    let figures = Figures::of_sprint(&over);
    assert_eq!((figures.conflicts, figures.resolved), (5, 5));
    let counters = world.sandbox.counters();
    let once = (counters.creates, counters.messages, counters.merges);
    assert_eq!(once, (11, 5, 1), "six, four anew, and the weaver");
    assert_eq!(
        texts(&world).await["src/cart.rs"],
        cart(&[(10, all.as_str())])
    );
    let woven = world.pull(over.woven.as_ref().expect("a weave").pull.number);
    let joined = woven.body.matches("(joined by the weaver)").count();
    assert_eq!(joined, 3, "{}", woven.body);
    world.finish().await;
}

/// Its own change is merged, and nothing of what it leaves out is closed or deleted.
#[tokio::test]
async fn what_the_weaver_leaves_out_stays_open_and_is_told_to_people() {
    let ids = ["ann", "ben", "cleo", "dan", "eve"];
    let (world, over) = Box::pin(storm(&ids, "cleo\ndan")).await;
    let states = over.members.iter().map(|it| it.state.word());
    let states: Vec<_> = states.collect();
    let expected = [
        "applied",
        "applied",
        "applied",
        "delegated",
        "skipped",
        "applied",
    ];
    assert_eq!(states, expected, "{}", world.story().await);
    assert_eq!(over.state.word(), "partially_done");
    let reason = over.state.reason().expect("a reason");
    let expected = "eve: the weaver's change does not hold all lines of it";
    assert_eq!(reason, expected);
    let told = ["new from weaver: Sprint 50: 1 left out"];
    let is_told = async |world: &World| inbox(world, "human").await == told;
    Box::pin(world.until(hour(1), "people are told", is_told)).await;
    Box::pin(world.pass(hour(1))).await;
    let github = world.sandbox.github();
    for member in &over.members {
        let number = member.number().expect("a pull request");
        let pull = world.pull(number);
        let is_left = member.state.word() == "skipped";
        let is_open = pull.state == sandbox::github::PullState::Open;
        let branch = github.branch_exists(REPO, &pull.head_ref);
        let stays = (is_open, branch);
        assert_eq!(stays, (is_left, Some(is_left)), "{}", member.persona);
    }
    // The pull request of its first attempts stays as well.
    assert_eq!(world.pull(105).state, sandbox::github::PullState::Open);
    assert_eq!(world.sandbox.counters().merges, 1);
    world.finish().await;
}

#[tokio::test]
async fn the_weaver_gets_what_is_left() {
    let weaver = session(
        "You are the persona `weaver`",
        &[
            ("src/cart.rs", cart(&[(10, "price\nsum")])),
            ("README.md", "A shop with sums.\n".to_owned()),
        ],
    );
    let letter = r#"{"to": "human", "subject": "Not joined", "body": "I cannot join both."}"#;
    let anew = Story {
        matches: ANEW.to_owned(),
        ..silent("", &[outbox("one", letter)])
    };
    let world = world_of(true, stubborn(vec![anew, weaver])).await;
    send_from(&world, "curator", "weaver", "A wish in an earlier sprint").await;
    send(&world, "weaver", "Before it began").await;
    Box::pin(world.pass(SECOND)).await;
    begin(&world).await;
    send(&world, "weaver", "The cart").await;
    let over = until_over(&world).await;
    assert_eq!(
        inbox(&world, "human").await,
        ["new from refactor: Not joined"],
        "its mail is in its patch"
    );
    assert_eq!(
        members(&over),
        [
            "curator #101 applied",
            "refactor #102 delegated",
            "visionary #103 applied",
            "weaver #105 applied"
        ],
        "{}",
        world.story().await
    );
    assert_eq!(over.state.word(), "done");
    assert_eq!(
        texts(&world).await["src/cart.rs"],
        cart(&[(10, "price\nsum")])
    );
    let job = over.weaver().expect("the weaver").job.clone();
    let job = world.backend.must_job(&job).await.expect("a job").value;
    let parts = [
        "You are the persona `weaver` in sprint 50",
        "Before it began",
        "Please look at the cart first.",
        "pull/102.patch",
        "src/cart.rs",
        "+price",
        "You are weaver in",
    ];
    let places = parts.map(|part| job.prompt.find(part));
    assert!(places[0] == Some(0), "{}", job.prompt);
    assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
    assert!(!job.prompt.contains("A wish"), "{}", job.prompt);
    assert_eq!(
        inbox(&world, "weaver").await,
        [
            "new from curator: A wish in an earlier sprint",
            "read from human: Before it began",
            "read from human: The cart"
        ]
    );
    world.finish().await;
}

/// A check that only the branch of the sprint has.
fn together(outcome: Outcome) -> Vec<CheckSetup> {
    let mut checks = green_checks();
    let mut together = CheckSetup::new("together", outcome);
    together.log = "error: the glue is missing\n".to_owned();
    together.on_branch = "jules-sprint-50-integration".to_owned();
    checks.push(together);
    checks
}

#[tokio::test]
async fn the_weaver_mends_what_fails_together() {
    let mut stories = appendix_a();
    stories.push(session(
        "You are the persona `weaver`",
        &[("src/glue.rs", "glue\n".to_owned())],
    ));
    let checks = together(Outcome::FailsFirst(2));
    let world = world_checked(true, stories, (source(), checks)).await;
    begin(&world).await;
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{}", world.story().await);
    let weaver = over.weaver().expect("the weaver");
    assert_eq!(weaver.state.word(), "applied");
    let job = world.backend.must_job(&weaver.job).await.expect("a job");
    for part in [
        "Your mailbox is empty.",
        "- `together`",
        "error: the glue is missing",
    ] {
        let prompt = &job.value.prompt;
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert_eq!(texts(&world).await["src/glue.rs"], "glue\n");
    world.finish().await;
}

#[tokio::test]
async fn what_the_weaver_cannot_mend_waits_for_a_person() {
    let mut stories = appendix_a();
    stories.push(nothing("You are the persona `weaver`"));
    let checks = together(Outcome::Failure);
    let world = world_checked(true, stories, (source(), checks)).await;
    begin(&world).await;
    let is_left = async |world: &World| {
        let sprint = sprint(world).await;
        let weaver = sprint.weaver().map(|it| it.state.word());
        sprint.state.word() == "verifying" && weaver == Some("no_change")
    };
    Box::pin(world.until(hour(6), "it is left to a person", is_left)).await;
    let integration = sprint(&world).await.integration;
    let is_told = async |world: &World| {
        let told = world.events(&integration).await;
        told.iter().any(|it| it == "error/ci_failed")
    };
    Box::pin(world.until(hour(1), "its agent is told", is_told)).await;
    let repo = REPO.parse().expect("a repository");
    let why = world
        .backend
        .sprint_why(&repo, None)
        .await
        .expect("a reason");
    let because: Vec<&str> = why.because.iter().map(|it| it.sentence.as_str()).collect();
    assert!(
        because.iter().any(|it| it.contains("together")),
        "{because:?}"
    );
    let mut advised = why.next.iter();
    assert!(
        advised.any(|it| it.advice == Advice::AbortSprint),
        "{:?}",
        why.next
    );
    world.finish().await;
}

#[tokio::test]
async fn an_answer_counts_although_the_file_that_it_met_is_no_file_any_more() {
    let line = |number, text| [("src/cart.rs", cart(&[(number, text)]))];
    let stories = vec![
        member("artist", 1, &line(10, "price"), &[]),
        member("curator", 3, &line(15, "tax"), &[]),
        member("refactor", 6, &line(10, "sum"), &line(10, "price and sum")),
        member("visionary", 9, &line(1, "title"), &[]),
    ];
    let personas = ["artist", "curator", "refactor", "visionary"];
    let world = world_of_personas(false, &personas, stories).await;
    begin(&world).await;
    let over = ended_with(
        &world,
        &[
            "artist #101 applied",
            "curator #102 applied",
            "refactor #103 applied",
            "visionary #104 applied",
        ],
    )
    .await;
    assert_eq!((over.state.word(), over.ticks), ("done", 4));
    let all = [(1, "title"), (10, "price and sum"), (15, "tax")];
    assert_eq!(texts(&world).await["src/cart.rs"], cart(&all));
    world.finish().await;
}

#[tokio::test]
async fn an_answer_counts_at_a_path_that_the_record_shortens() {
    let path = format!("docs/{}/{}.md", "a".repeat(120), "b".repeat(120));
    let note = |text: &str| [(path.as_str(), format!("{text}\n"))];
    let stories = vec![
        member("curator", 1, &note("price"), &[]),
        member("refactor", 4, &note("sum"), &note("price and sum")),
    ];
    let world = world_of_personas(false, &["curator", "refactor"], stories).await;
    begin(&world).await;
    let over = ended_with(&world, &["curator #101 applied", "refactor #102 applied"]).await;
    assert_eq!((over.state.word(), over.ticks), ("done", 4));
    assert_eq!(texts(&world).await[&path], "price and sum\n");
    world.finish().await;
}
