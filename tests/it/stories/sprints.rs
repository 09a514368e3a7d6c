//! Sprints on real git: members that know nothing but their prompt and what they are sent, up to one merged pull request.

mod acts;
mod broken;
mod deaths;
mod first;
mod mail;
mod odd;
mod one_by_one;
mod red;
mod resolving;
mod target;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use domain::policy::{MergePolicy, Source};
use domain::sprint::{Figures, Sprint, SprintMember, Woven};
use engine::backend::Error;
use engine::sprints::{SprintOrder, StartedSprint};
use expect_test::expect;
use jiff::SignedDuration;
use sandbox::github::{CheckSetup, RepoSetup};
use sandbox::story::{Step, Story, Writing};
use sandbox::{Scenario, Service};
use tests::world::{REPO, Setup, World, ci, complete, green_checks, hour, on_green};

use super::pipeline::git;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// How long a start waits for the personas: it is answered by the dispatcher beside it.
const WITHIN: Duration = Duration::from_secs(60);

/// A file of twenty lines, of which some are other ones.
fn cart(others: &[(usize, &str)]) -> String {
    let line = |number: usize| match others.iter().find(|(at, _)| *at == number) {
        Some((_, text)) => format!("{text}\n"),
        None => format!("line {number}\n"),
    };
    (1..=20).map(line).collect()
}

fn persona(id: &str) -> (String, String) {
    let text = format!(
        "---\nid: {id}\nemoji: \"🔧\"\ndescription: Looks after {id}\n---\nYou are {{persona_id}} in {{repo}}.\nImprove one thing.\n"
    );
    (format!(".jules/personas/{id}/prompt.md"), text)
}

fn files(personas: &[&str]) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = personas.iter().map(|id| persona(id)).collect();
    files.insert("src/cart.rs".to_owned(), cart(&[]));
    files.insert("README.md".to_owned(), "A shop.\n".to_owned());
    files
}

fn write(after: i64, files: &[(&str, String)]) -> Step {
    let files = files.iter();
    Step::Write(Writing {
        after: SECOND * i32::try_from(after).expect("a few seconds"),
        files: files
            .map(|(path, text)| ((*path).to_owned(), text.clone()))
            .collect(),
        ..Writing::default()
    })
}

/// What a persona makes, and what it makes of a message about a conflict.
fn member(id: &str, place: i64, first: &[(&str, String)], again: &[(&str, String)]) -> Story {
    let open = Step::OpenPull {
        after: SECOND,
        files: Vec::new(),
        draft: false,
    };
    Story {
        matches: format!("You are the persona `{id}`"),
        steps: vec![write(5 * place, first), open, complete(SECOND)],
        on_message: match again.is_empty() {
            true => Vec::new(),
            false => vec![write(5, again), complete(SECOND)],
        },
        ..Story::default()
    }
}

fn appendix_a() -> Vec<Story> {
    let curator = [(10, "price"), (11, "tax"), (12, "total")];
    let refactor = [(12, "sum of all")];
    let both = [(10, "price"), (11, "tax"), (12, "total: the sum of all")];
    vec![
        member("curator", 1, &[("src/cart.rs", cart(&curator))], &[]),
        member(
            "refactor",
            4,
            &[("src/cart.rs", cart(&refactor))],
            &[("src/cart.rs", cart(&both))],
        ),
        member(
            "visionary",
            // Long after the others, wherever messages are slow: pull requests are numbered as they are opened.
            24,
            &[("README.md", "A shop with a vision.\n".to_owned())],
            &[],
        ),
    ]
}

fn source() -> Source {
    let mut source = on_green();
    source.policy.merge = MergePolicy::Integration;
    source
}

async fn world_of(webhooks: bool, stories: Vec<Story>) -> World {
    world_with(webhooks, stories, source()).await
}

async fn world_with(webhooks: bool, stories: Vec<Story>, source: Source) -> World {
    world_checked(webhooks, stories, (source, green_checks())).await
}

async fn world_checked(
    webhooks: bool,
    stories: Vec<Story>,
    (source, checks): (Source, Vec<CheckSetup>),
) -> World {
    let personas = ["curator", "refactor", "visionary", "weaver"];
    let setup = Setup {
        source,
        ..setup(webhooks, (&personas, stories), checks)
    };
    World::with(setup).await
}

/// A world with other personas.
async fn world_of_personas(webhooks: bool, personas: &[&str], stories: Vec<Story>) -> World {
    World::with(setup(webhooks, (personas, stories), green_checks())).await
}

fn setup(
    webhooks: bool,
    (personas, stories): (&[&str], Vec<Story>),
    checks: Vec<CheckSetup>,
) -> Setup {
    let mut repo = RepoSetup::new(REPO).with_ci(ci(checks));
    repo.files = files(personas);
    repo.first_number = 101;
    Setup {
        scenario: Scenario {
            repos: vec![repo],
            stories,
            ..Scenario::default()
        },
        source: source(),
        webhooks,
        ..Setup::default()
    }
}

/// Starts a sprint while the dispatcher works beside it.
async fn begin(world: &World) -> Sprint {
    begin_with(world, "50", &[]).await
}

async fn begin_with(world: &World, number: &str, personas: &[&str]) -> Sprint {
    Box::pin(begun(world, number, personas)).await
}

async fn begun(world: &World, number: &str, personas: &[&str]) -> Sprint {
    let started = Box::pin(ordered(world, number, personas)).await;
    started.expect("a sprint").sprint
}

/// What who starts a sprint hears, whose process may die meanwhile.
async fn ordered(world: &World, number: &str, personas: &[&str]) -> Result<StartedSprint, Error> {
    let personas = personas.iter().map(|it| it.parse().expect("a persona"));
    let order = SprintOrder {
        repo: REPO.parse().expect("a repository"),
        number: Some(number.parse().expect("a number")),
        personas: personas.collect(),
    };
    let is_there = Cell::new(false);
    let started = async {
        let started = world.backend.start_sprint(&order, WITHIN, "ann").await;
        is_there.set(true);
        started
    };
    let work = async {
        let handle = async || match world.dispatcher.drain().await {
            Ok(handled) => handled,
            Err(_) if world.fate.is_dead() => 0,
            Err(error) => panic!("{error}"),
        };
        while handle().await > 0 || !is_there.get() {
            tokio::task::yield_now().await;
        }
    };
    let (started, ()) = tokio::join!(started, work);
    started
}

async fn sprint(world: &World) -> Sprint {
    let repo = REPO.parse().expect("a repository");
    let found = world.backend.must_sprint(&repo, None).await;
    found.expect("a sprint").value
}

async fn until_over(world: &World) -> Sprint {
    let is_over = async |world: &World| sprint(world).await.is_over();
    Box::pin(world.until(hour(6), "the sprint is over", is_over)).await;
    sprint(world).await
}

/// The same, where the members ended like this.
async fn ended_with(world: &World, wanted: &[&str]) -> Sprint {
    let over = until_over(world).await;
    assert_eq!(members(&over), wanted, "{}", world.story().await);
    over
}

/// The members with how each ended.
fn members(sprint: &Sprint) -> Vec<String> {
    let told = sprint.members.iter().map(|it| {
        let number = it.number().map(|number| format!(" #{number}"));
        format!(
            "{}{} {}",
            it.persona,
            number.unwrap_or_default(),
            it.state.word()
        )
    });
    told.collect()
}

/// The mail, as its log has it: who wrote to whom, about what, and what became of it.
async fn mail(world: &World) -> Vec<String> {
    let repo = REPO.parse().expect("a repository");
    let lines = world.backend.mail_block(&repo, 0).await.expect("a log");
    let shown = lines.iter().map(|line| {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {} {} {} {}",
            text("event_type"),
            value["message_id"],
            text("from_persona"),
            text("to_persona"),
            text("subject")
        )
    });
    shown.map(|line| line.trim().to_owned()).collect()
}

/// Where the sprint was at each of its ticks, as it was saved.
fn ticks(world: &World) -> String {
    let repo = REPO.parse().expect("a repository");
    let key = engine::keys::sprint(&repo, "50".parse().expect("a number"));
    let (mut told, mut last) = (String::new(), None);
    for (_, body) in world.ledger.bodies().iter().filter(|(at, _)| *at == key) {
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        let saved: Sprint = serde_json::from_value(body["it"].clone()).expect("a sprint");
        let now = (saved.ticks, saved.state.word());
        if last != Some(now) {
            let members = members(&saved).join(", ");
            told.push_str(&format!("Tick {}, {}: {members}\n", now.0, now.1));
            last = Some(now);
        }
    }
    told
}

/// Appendix A of the plan: two of three come in, the third is told and comes in as well.
async fn appendix(webhooks: bool) {
    let world = world_of(webhooks, appendix_a()).await;
    let main = world.sandbox.github().branch(REPO, "main").expect("main");
    let started = begin(&world).await;
    assert_eq!(started.members.len(), 3, "the weaver starts with no sprint");
    let over = ended_with(
        &world,
        &[
            "curator #101 applied",
            "refactor #102 applied",
            "visionary #103 applied",
        ],
    )
    .await;
    assert_eq!((over.state.word(), over.ticks), ("done", 4));
    expect![[r#"
        Tick 1, working: curator waiting, refactor waiting, visionary waiting
        Tick 2, integrating: curator #101 pr_open, refactor #102 pr_open, visionary #103 pr_open
        Tick 3, fixing: curator #101 applied, refactor #102 conflicted, visionary #103 applied
        Tick 4, integrating: curator #101 applied, refactor #102 pr_open, visionary #103 applied
        Tick 4, verifying: curator #101 applied, refactor #102 applied, visionary #103 applied
        Tick 4, done: curator #101 applied, refactor #102 applied, visionary #103 applied
    "#]]
    .assert_eq(&ticks(&world));
    expect![[r#"
        [
            "send 1 weaver refactor Conflict in PR #102",
            "read 1",
        ]
    "#]]
    .assert_debug_eq(&mail(&world).await);
    let weaves = pushed(&world, &over).await;
    is_told(&world, &weaves[0]).await;
    is_proposed(&world, &weaves, &main);
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    let both = [(10, "price"), (11, "tax"), (12, "total: the sum of all")];
    assert_eq!(texts["src/cart.rs"], cart(&both));
    assert_eq!(texts["README.md"], "A shop with a vision.\n");
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (3, 1), "one task each");
    let figures = Figures::of_sprint(&over);
    assert_eq!((figures.conflicts, figures.resolved), (1, 1));
    assert_eq!((figures.ticks_to_resolution, figures.tasks), (2, 3));
    assert_eq!((figures.integrated, figures.merged), (3, 3));
    is_tidy(&world, &over).await;
    let labels = world.pull(102).labels;
    assert_eq!(
        labels,
        ["jules-sprint-50"],
        "the label of the conflict goes"
    );
    let label = "/issues/102/labels/conflict";
    assert_eq!(world.requests(Service::GitHub, "DELETE", label).len(), 1);
    let branch = world.pull(102).head_ref;
    let is_gone =
        async |world: &World| world.sandbox.github().branch_exists(REPO, &branch) == Some(false);
    Box::pin(world.until(hour(1), "its branch is deleted", is_gone)).await;
    world.finish().await;
    let wakes = world.wake_names();
    assert_eq!(wakes, ["completed/sprint"], "no member's completion");
}

/// What its weaves pushed, in order.
async fn pushed(world: &World, over: &Sprint) -> Vec<Woven> {
    let reports = world.backend.sprint_weaves(over).await;
    let reports = reports.expect("reports").into_iter();
    reports.filter_map(|report| report.woven).collect()
}

/// The mail says who won, where, and how to join both.
async fn is_told(world: &World, woven: &Woven) {
    let told = target::conflict_of(world, "refactor").await;
    let sync = format!("...{}.patch", woven.commit);
    for part in [
        "Your changes conflict with curator's PR #101",
        "src/cart.rs",
        "https://github.com/acme/shop/pull/102.patch",
        sync.as_str(),
        "+price\n+tax\n+total\n",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// The one pull request, and its newest commit.
fn is_proposed(world: &World, weaves: &[Woven], main: &str) {
    let pull = world.pull(104);
    assert_eq!(pull.title, "Sprint 50: Integrated Changes");
    expect![[r#"
        What the personas of this sprint made, woven into one change:

        - #103 by visionary (taken, 1 file)
        - #101 by curator (taken, 1 file)
        - #102 by refactor (answered, 1 file)

        3 members, 4 ticks, 2 weaves.

        <!-- sprint: acme/shop#50 -->
    "#]]
    .assert_eq(&pull.body);
    let [first, newest] = weaves else {
        panic!("{weaves:?}");
    };
    assert_eq!(pull.head_sha, newest.commit.to_string());
    let names = [
        (first.commit.to_string(), "the-first-weave"),
        (main.to_owned(), "main"),
        (world.pull(101).head_sha, "head-of-101"),
        (world.pull(102).head_sha, "head-of-102"),
        (world.pull(103).head_sha, "head-of-103"),
    ];
    expect![[r#"
        parents the-first-weave main
        tree its-tree
        chore: integrate sprint 50 personas

        Woven-Pull: acme/shop#103 head-of-103 taken
        Woven-Pull: acme/shop#101 head-of-101 taken
        Woven-Pull: acme/shop#102 head-of-102 answered
        Gaffer-Weave: its-weave
        Gaffer-Tree: its-tree
    "#]]
    .assert_eq(&commit(world, &pull.head_sha, &names));
}

/// A commit as git shows it, with names in place of ids.
fn commit(world: &World, id: &str, names: &[(String, &str)]) -> String {
    let folder = world.sandbox.github().folder(REPO).expect("real git");
    let format = "--format=parents %P%ntree %T%n%B";
    let shown = git(&folder, &["log", "-1", format, id]);
    let mut lines = shown.lines();
    let tree = lines.find_map(|line| line.strip_prefix("tree "));
    let tree = (tree.expect("a tree").to_owned(), "its-tree");
    let known = names.iter().chain([&tree]);
    let named = |shown: String, (id, name): &(String, &str)| shown.replace(id, name);
    let named = known.fold(shown.trim_end().to_owned(), named);
    let lines = named
        .lines()
        .map(|line| match line.starts_with("Gaffer-Weave: ") {
            true => "Gaffer-Weave: its-weave\n".to_owned(),
            false => format!("{line}\n"),
        });
    lines.collect()
}

/// Members that are in end with the sprint, and their pull requests are closed with a link to the one that was merged.
async fn is_tidy(world: &World, over: &Sprint) {
    let merged = over.woven.as_ref().expect("a weave").pull.number;
    let link = format!("This change was merged as part of #{merged}.");
    for member in &over.members {
        Box::pin(world.until_is(hour(1), &member.job, "woven")).await;
        let number = member.number().expect("a pull request");
        let is_through = async |world: &World| {
            let pull = world.pull(number);
            pull.state != sandbox::github::PullState::Open && !pull.comments.is_empty()
        };
        Box::pin(world.until(hour(1), "it is closed with a link", is_through)).await;
        let comments = world.pull(number).comments;
        let [comment] = &comments[..] else {
            panic!("{comments:?}");
        };
        assert!(comment.body.contains(&link), "{comment:?}");
    }
}

#[tokio::test]
async fn a_conflict_is_sent_back_and_all_come_in_by_one_pull_request() {
    appendix(true).await;
}

#[tokio::test]
async fn the_same_without_webhooks() {
    appendix(false).await;
}
