//! A sprint whose process dies once, at each kind of act of its own: it ends as one whose process lives on.

use sandbox::github::PullState;
use tests::world::{MINUTE, Moment, dies_after_each_act};

use super::deaths::{dies_after_next, done};
use super::resolving::{nothing, session};
use super::*;

/// The calls that a sprint makes, by its jobs and its pull requests.
const CALLS: [&str; 14] = [
    "create",
    "say",
    "label",
    "unlabel",
    "commit",
    "create_branch",
    "move_branch",
    "open_pull",
    "edit_pull",
    "merge",
    "comment",
    "close",
    "archive",
    "unbranch",
];

/// Mail in an outbox, a conflict that an answer leaves as it is, a last attempt that makes nothing, and the weaver's job, which
/// joins both. It is the same in whichever order the two that conflict come.
fn stories() -> Vec<Story> {
    let line = |text: &str| [("src/cart.rs", cart(&[(10, text)]))];
    let answer = [("README.md", "A shop with sums.\n".to_owned())];
    let hello = r#"{"to": "weaver", "subject": "Hello", "body": "there"}"#;
    let far = [
        ("VISION.md", "Far.\n".to_owned()),
        (".jules/mail/outbox/one.json", hello.to_owned()),
    ];
    let both = [line("price\nsum"), answer.clone()].concat();
    vec![
        session("You are the persona `weaver`", &both),
        nothing("Make the change of #"),
        member("curator", 1, &line("price"), &answer),
        member("refactor", 4, &line("sum"), &answer),
        member("visionary", 8, &far, &[]),
    ]
}

/// A sprint that begins with the next step: it was started in a pause, which is over.
async fn about_to_begin() -> World {
    let world = world_of(false, stories()).await;
    world.pause(true).await;
    begin(&world).await;
    world.resume().await;
    world
}

/// A sprint whose start was not answered: the process died as it was saved.
async fn begun_unheard() -> World {
    let world = world_of(false, stories()).await;
    dies_after_next(&world, "commit SPRINT#");
    let heard = Box::pin(ordered(&world, "50", &[])).await;
    assert!(heard.is_err(), "{heard:?}");
    // Its process comes back.
    Box::pin(world.step()).await;
    world
}

/// Lets time pass until the sprint is over and no pull request is open, and until every message has come back that a death has
/// hidden.
async fn play(world: &World) {
    until_through(world).await;
    world.pass(MINUTE * 25).await;
}

async fn until_through(world: &World) {
    let is_through = async |world: &World| {
        let is_over = sprint(world).await.is_over();
        let mut pulls = world.sandbox.github().pulls(REPO).into_iter();
        is_over && pulls.all(|number| world.pull(number).state != PullState::Open)
    };
    Box::pin(world.until(hour(6), "the sprint is over", is_through)).await;
}

/// What came of a sprint, whichever of the two that conflict came first.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    state: (&'static str, u32),
    members: Vec<&'static str>,
    /// Sessions, messages to them, and merges.
    counted: (u64, u64, u64),
    /// How often the branch of the sprint was made and moved: one commit for each weave.
    moves: (usize, usize),
    pulls: Vec<u64>,
    /// How many comments the pull request of each member has.
    comments: Vec<usize>,
    /// Branches of members that are still there, and sessions that are archived.
    left: (usize, usize),
    /// The events of mail, by their kind.
    mail: BTreeMap<String, usize>,
    /// The events that tell of the end.
    ends: usize,
    texts: BTreeMap<String, String>,
}

async fn outcome(world: &World) -> Outcome {
    let over = sprint(world).await;
    let mut members: Vec<_> = over.members.iter().map(|it| it.state.word()).collect();
    members.sort_unstable();
    let counters = world.sandbox.counters();
    let branch = "/git/refs/heads/jules-sprint-50-integration";
    let mut events: BTreeMap<String, usize> = BTreeMap::new();
    for line in mail(world).await {
        let kind = line.split(' ').next().unwrap_or_default();
        *events.entry(kind.to_owned()).or_default() += 1;
    }
    let told = world.all_events().await;
    let github = world.sandbox.github();
    let numbers = over.members.iter().filter_map(SprintMember::number);
    let theirs: Vec<_> = numbers.map(|number| world.pull(number)).collect();
    let is_there = |branch: &str| github.branch_exists(REPO, branch) == Some(true);
    let branches = theirs.iter().filter(|pull| is_there(&pull.head_ref));
    let sessions = world.sandbox.jules().sessions();
    let archived = sessions.iter().filter(|it| it.archived);
    Outcome {
        state: (over.state.word(), over.ticks),
        members,
        counted: (counters.creates, counters.messages, counters.merges),
        moves: (
            done(world, "POST", "/git/refs"),
            done(world, "PATCH", branch),
        ),
        pulls: github.pulls(REPO),
        comments: theirs.iter().map(|pull| pull.comments.len()).collect(),
        left: (branches.count(), archived.count()),
        mail: events,
        ends: told.iter().filter(|it| it.ends_with("/sprint")).count(),
        texts: github.texts(REPO, "main").expect("main"),
    }
}

/// What kind of act of the sprint it is: a call, or a commit of records of the sprint or of mail, by the kinds of its keys.
fn kind(act: &str) -> Option<String> {
    if CALLS.contains(&act) {
        return Some(act.to_owned());
    }
    let first = |key: &str| key.split('#').next().unwrap_or_default().to_owned();
    let keys = act.strip_prefix("commit ")?.split(", ");
    let keys = keys.filter_map(|key| key.split_once(' '));
    let mut keys: Vec<_> = keys.map(|(pk, sk)| (first(pk), first(sk))).collect();
    keys.sort();
    keys.dedup();
    // A row that only calls the sprint belongs to what its job or its pull request did.
    let is_own = |(pk, sk): &(String, String)| (pk == "SPRINT" || pk == "MAIL") && sk != "OUT";
    let is_own = keys.iter().any(is_own);
    let names: Vec<String> = keys.iter().map(|(pk, sk)| format!("{pk} {sk}")).collect();
    is_own.then(|| names.join(", "))
}

/// The kinds of acts of the sprint, each with the places of its first and of its last one.
fn kinds(acts: &[String]) -> BTreeMap<String, (usize, usize)> {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (at, act) in acts.iter().enumerate() {
        if let Some(kind) = kind(act) {
            kinds.entry(kind).or_insert((at, at)).1 = at;
        }
    }
    kinds
}

/// The sprint of a process that does not die, and what it does.
struct Alive {
    outcome: Outcome,
    kinds: BTreeMap<String, (usize, usize)>,
    /// Its acts until the sprint was over.
    acts: Vec<String>,
}

impl Alive {
    /// The acts to die at: at one of each kind before the first such call, or after the last such act; or after each.
    fn deaths(&self, moment: Moment) -> Vec<(usize, &str)> {
        if moment == Moment::After && dies_after_each_act() {
            let acts = self.acts.iter().map(String::as_str);
            return acts.enumerate().collect();
        }
        let kinds = self.kinds.iter();
        let places = kinds.filter_map(|(kind, (first, last))| match moment {
            // Before a commit is after what came before it.
            Moment::Before => CALLS.contains(&kind.as_str()).then_some((*first, &**kind)),
            Moment::After => Some((*last, &**kind)),
        });
        places.collect()
    }

    /// A sprint whose process dies once comes to the same.
    async fn is_same(&self, world: &World, when: &str) {
        play(world).await;
        assert_eq!(world.deaths(), 1, "{when}");
        assert_eq!(outcome(world).await, self.outcome, "{when}");
        world.finish().await;
    }
}

async fn alive() -> Alive {
    let world = about_to_begin().await;
    let before = world.fate.count();
    until_through(&world).await;
    let acts = world.fate.acts()[before..].to_vec();
    play(&world).await;
    let kinds = kinds(&world.fate.acts()[before..]);
    for part in [
        "create",
        "say",
        "create_branch",
        "move_branch",
        "open_pull",
        "merge",
        "comment",
        "close",
        "archive",
        "unbranch",
        "JOB META",
        "MAIL SENT",
        "SPRINT WEAVE",
    ] {
        let is_there = kinds.keys().any(|kind| kind.contains(part));
        assert!(is_there, "no act of {part}: {kinds:#?}");
    }
    let outcome = outcome(&world).await;
    assert_eq!(outcome.state.0, "done", "{outcome:#?}");
    assert_eq!(
        outcome.members,
        ["applied", "applied", "applied", "delegated"]
    );
    assert_eq!(outcome.counted, (5, 1, 1), "a session anew and the weaver");
    assert_eq!(outcome.comments, [1; 4], "what each is part of");
    assert_eq!(
        outcome.left,
        (0, 5),
        "no branch, and every session archived"
    );
    assert_eq!((outcome.mail["send"], outcome.ends), (3, 1));
    world.finish().await;
    Alive {
        outcome,
        kinds,
        acts,
    }
}

/// Dies at some acts, each time in a world of its own.
async fn die(moment: Moment) {
    let alive = Box::pin(alive()).await;
    for (at, act) in alive.deaths(moment) {
        let world = about_to_begin().await;
        world.fate.kill_at(world.fate.count() + at, moment);
        let when = format!("dying {moment:?} act {at}, `{act}`");
        Box::pin(alive.is_same(&world, &when)).await;
    }
    if moment == Moment::After {
        let world = Box::pin(begun_unheard()).await;
        let when = "dying after its start is saved";
        Box::pin(alive.is_same(&world, when)).await;
    }
}

#[tokio::test]
async fn a_process_that_dies_before_a_call_of_a_sprint_ends_it_the_same() {
    Box::pin(die(Moment::Before)).await;
}

#[tokio::test]
async fn a_process_that_dies_after_an_act_of_a_sprint_ends_it_the_same() {
    Box::pin(die(Moment::After)).await;
}
