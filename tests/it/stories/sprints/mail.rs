//! Mail of members: what they are shown, and what they write themselves.

use domain::ids::PersonaName;
use domain::mail::{Outgoing, Recipient};
use domain::sprint::Integration;
use engine::mail::InboxQuery;
use sandbox::github::Outcome;
use tests::world::MINUTE;

use super::*;

pub(super) fn outbox(name: &str, text: &str) -> (&'static str, String) {
    let path = format!(".jules/mail/outbox/{name}.json");
    (path.leak(), text.to_owned())
}

pub(super) async fn inbox(world: &World, persona: &str) -> Vec<String> {
    let repo = REPO.parse().expect("a repository");
    let persona: PersonaName = persona.parse().expect("a persona");
    let query = InboxQuery {
        limit: 100,
        ..InboxQuery::default()
    };
    let page = world.backend.inbox_of(&repo, &persona, &query).await;
    let messages = page.expect("a mailbox").messages.into_iter();
    let told = messages.map(|it| {
        let is_read = if it.read_at.is_some() { "read" } else { "new" };
        format!("{} from {}: {}", is_read, it.from_persona, it.subject)
    });
    told.collect()
}

pub(super) async fn send(world: &World, to: &str, subject: &str) {
    send_from(world, "human", to, subject).await;
}

pub(super) async fn send_from(world: &World, from: &str, to: &str, subject: &str) {
    let outgoing = Outgoing {
        from: from.parse().expect("a persona"),
        to: Recipient::Persona(to.parse().expect("a persona")),
        subject: subject.parse().expect("a subject"),
        body: "Please look at the cart first.".parse().expect("a body"),
        attachments: Vec::new(),
    };
    let repo = REPO.parse().expect("a repository");
    let sent = world.backend.send_mail(&repo, &outgoing, "ann", None);
    sent.await.expect("a message");
}

/// Who is named in the log as the sender of the message whose subject begins so.
async fn actor_of(world: &World, subject: &str) -> String {
    let repo = REPO.parse().expect("a repository");
    let lines = world.backend.mail_block(&repo, 0).await.expect("a log");
    let found = lines.iter().find_map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let is_it = event["subject"].as_str()?.starts_with(subject);
        is_it.then(|| event["actor"].as_str().unwrap_or_default().to_owned())
    });
    found.expect("a message")
}

#[tokio::test]
async fn a_prompt_shows_the_mail_and_an_outbox_speaks_for_its_member_only() {
    let forged = r#"{"from": "weaver", "to": "refactor", "subject": "Hello", "body": "there"}"#;
    let stories = vec![
        member(
            "curator",
            1,
            &[
                ("README.md", "A better shop.\n".to_owned()),
                outbox("one", forged),
                outbox("two", "{"),
            ],
            &[],
        ),
        member("refactor", 1, &[("src/cart.rs", cart(&[(1, "x")]))], &[]),
        member("visionary", 1, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ];
    let world = world_of(true, stories).await;
    send(&world, "curator", "The cart").await;
    begin(&world).await;
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{:?}", members(&over));
    let job = world.backend.must_job(&over.members[0].job).await;
    let prompt = job.expect("a job").value.prompt;
    assert!(
        prompt.contains("Please look at the cart first."),
        "{prompt}"
    );
    assert_eq!(
        inbox(&world, "curator").await,
        [
            "read from human: The cart",
            "read from weaver: A file of your outbox was not sent"
        ]
    );
    assert_eq!(
        inbox(&world, "refactor").await,
        ["read from curator: Hello"]
    );
    let job = over.members[0].job.to_string();
    assert_eq!(actor_of(&world, "Hello").await, job, "it is its own word");
    assert_eq!(actor_of(&world, "A file of").await, "sprint 50");
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    assert!(texts.keys().all(|path| !path.starts_with(".jules/mail")));
    assert_eq!(texts["README.md"], "A better shop.\n");
    world.finish().await;
}

/// What one member asks of another is made before the weave, in the same session. What that one wrote itself stands in both of its
/// heads, and is sent once.
#[tokio::test]
async fn mail_goes_to_a_session_before_the_weave() {
    let ask = r#"{"to": "refactor", "subject": "Rename it", "body": "Call line 3 total."}"#;
    let hello = r#"{"to": "weaver", "subject": "Hello", "body": "there"}"#;
    let lines = ("src/cart.rs", cart(&[(1, "x")]));
    let first = [lines, outbox("one", hello)];
    let again = [("src/cart.rs", cart(&[(1, "x"), (3, "total")]))];
    let stories = vec![
        member(
            "curator",
            4,
            &[
                ("README.md", "A better shop.\n".to_owned()),
                outbox("one", ask),
            ],
            &[],
        ),
        member("refactor", 1, &first, &again),
        member("visionary", 1, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ];
    let world = world_of(true, stories).await;
    begin(&world).await;
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{:?}", members(&over));
    assert_eq!((over.weaves, over.members[1].mails), (1, 1));
    assert_eq!(
        inbox(&world, "refactor").await,
        ["read from curator: Rename it"]
    );
    let hello = ["new from refactor: Hello"];
    assert_eq!(inbox(&world, "weaver").await, hello, "once");
    assert!(over.members[1].earlier.is_empty(), "the same session");
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    assert_eq!(texts["src/cart.rs"], cart(&[(1, "x"), (3, "total")]));
    world.finish().await;
}

/// A member whose session opens no pull request.
pub(super) fn silent(id: &str, files: &[(&str, String)]) -> Story {
    let mut story = member(id, 1, files, &[]);
    story
        .steps
        .retain(|step| !matches!(step, Step::OpenPull { .. }));
    story
}

/// A session whose change became no pull request has written its mail all the same.
#[tokio::test]
async fn the_mail_of_a_session_without_a_pull_request_is_in_its_patch() {
    let hello = r#"{"to": "refactor", "subject": "Hello", "body": "there"}"#;
    let mail = [outbox("one", hello), outbox("two", "{")];
    // The last member that is waited for is no other than the first.
    for others in [true, false] {
        let mut stories = vec![silent("curator", &mail)];
        let cart = [("src/cart.rs", cart(&[(1, "x")]))];
        let vision = [("VISION.md", "Far.\n".to_owned())];
        match others {
            true => stories.extend([
                member("refactor", 1, &cart, &[]),
                member("visionary", 4, &vision, &[]),
            ]),
            false => stories.extend([silent("refactor", &cart), silent("visionary", &vision)]),
        }
        let world = world_of(true, stories).await;
        begin(&world).await;
        let over = until_over(&world).await;
        world.pass(SECOND * 300).await;
        assert_eq!(members(&over)[0], "curator no_change");
        // What the others changed is in no pull request.
        let (state, left) = match others {
            true => ("done", Vec::new()),
            false => (
                "partially_done",
                vec!["new from weaver: Sprint 50: 2 left out"],
            ),
        };
        assert_eq!(over.state.word(), state);
        assert_eq!(inbox(&world, "human").await, left);
        let unopened = "refactor: its session changed files and opened no pull request";
        let reason = over.state.reason();
        assert_eq!(reason.as_deref(), (!others).then_some(unopened));
        // Where a weave follows, mail goes to sessions before it.
        let sent = match others {
            true => [
                "read from curator: Hello",
                "read from weaver: A file of your outbox was not sent",
            ],
            false => [
                "new from curator: Hello",
                "new from weaver: A file of your outbox was not sent",
            ],
        };
        for (persona, sent) in ["refactor", "curator"].into_iter().zip(sent) {
            assert_eq!(inbox(&world, persona).await, [sent], "{others}");
        }
        world.finish().await;
    }
}

/// Checks that never end keep every pull request from being ready.
#[tokio::test]
async fn mail_of_a_pull_request_that_is_never_ready_is_collected_as_well() {
    let hello = r#"{"to": "visionary", "subject": "Hello", "body": "there"}"#;
    let withdraw =
        r#"{"to": "weaver", "subject": "Withdraw", "body": "Not needed", "withdraw": true}"#;
    let readme = ("README.md", "A better shop.\n".to_owned());
    let first = ("src/cart.rs", cart(&[(1, "x")]));
    let stories = vec![
        member("curator", 1, &[readme, outbox("back", withdraw)], &[]),
        member("refactor", 1, &[first, outbox("one", hello)], &[]),
        member("visionary", 1, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ];
    let checks = vec![CheckSetup::new("build", Outcome::Hangs)];
    let world = world_checked(true, stories, (source(), checks)).await;
    begin(&world).await;
    let is_collected = async |world: &World| {
        let is_sent = inbox(world, "visionary").await == ["new from refactor: Hello"];
        let members = sprint(world).await.members;
        is_sent && members[0].state.word() == "withdrawn"
    };
    Box::pin(world.until(MINUTE * 20, "all mail is collected", is_collected)).await;
    let now = sprint(&world).await;
    assert_eq!((now.state.word(), now.weaves), ("working", 0));
    world.finish().await;
}

#[tokio::test]
async fn who_takes_the_change_back_is_left_out() {
    let curator = [("src/cart.rs", cart(&[(10, "price")]))];
    let withdraw =
        r#"{"to": "weaver", "subject": "Withdraw", "body": "Not needed", "withdraw": true}"#;
    let stories = vec![
        member("curator", 1, &curator, &[]),
        member(
            "refactor",
            2,
            &[("src/cart.rs", cart(&[(10, "sum")]))],
            &[outbox("back", withdraw)],
        ),
        member("visionary", 3, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ];
    let world = world_of(true, stories).await;
    begin(&world).await;
    // What comes before a change is ready goes to its session.
    let is_mending = async |world: &World| {
        let sprint = sprint(world).await;
        let refactor = sprint
            .members
            .iter()
            .find(|it| it.persona.as_str() == "refactor");
        refactor.expect("a member").state.word() == "rerunning"
    };
    Box::pin(world.until(hour(1), "refactor mends its conflict", is_mending)).await;
    send(&world, "refactor", "Later").await;
    let over = until_over(&world).await;
    assert_eq!(
        inbox(&world, "refactor").await,
        [
            "read from weaver: Conflict in PR #102",
            "new from human: Later"
        ],
        "only what its session was sent is read"
    );
    assert_eq!(
        members(&over),
        [
            "curator #101 applied",
            "refactor #102 withdrawn",
            "visionary #103 applied"
        ]
    );
    assert_eq!(over.state.word(), "done");
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    assert_eq!(texts["src/cart.rs"], cart(&[(10, "price")]));
    world.finish().await;
}

/// Where nothing is woven, a merge waits for the mail of its head, and what is taken back is not merged.
#[tokio::test]
async fn what_is_merged_by_itself_waits_until_its_mail_is_collected() {
    let hello = r#"{"to": "refactor", "subject": "Hello", "body": "there"}"#;
    let withdraw =
        r#"{"to": "weaver", "subject": "Withdraw", "body": "Not needed", "withdraw": true}"#;
    let readme = ("README.md", "A better shop.\n".to_owned());
    let lines = ("src/cart.rs", cart(&[(1, "x")]));
    let stories = vec![
        member("curator", 1, &[readme, outbox("curator", hello)], &[]),
        member("refactor", 4, &[lines, outbox("refactor", withdraw)], &[]),
    ];
    let mut source = on_green();
    source.sprints.integration = Integration::Individual;
    // The first reading that finds a pull request green may merge it.
    source.timing.settle = SignedDuration::ZERO;
    let world = world_with(true, stories, source).await;
    begin_with(&world, "50", &["curator", "refactor"]).await;
    let over = ended_with(&world, &["curator #101 applied", "refactor withdrawn"]).await;
    assert_eq!(over.state.word(), "done");
    assert_eq!(inbox(&world, "refactor").await, ["new from curator: Hello"]);
    assert_eq!(
        inbox(&world, "weaver").await,
        ["new from refactor: Withdraw"]
    );
    Box::pin(world.pass(hour(1))).await;
    assert_eq!(world.sandbox.counters().merges, 1);
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    assert_eq!(texts["README.md"], "A better shop.\n");
    assert_eq!(texts["src/cart.rs"], cart(&[]));
    let mail = ".jules/mail/outbox/curator.json";
    assert!(texts.contains_key(mail), "its prompt says so");
    world.finish().await;
}

#[tokio::test]
async fn who_asks_to_go_first_pushes_nobody_out() {
    let first = r#"{"re": 1, "order": "first"}"#;
    let stories = vec![
        member(
            "curator",
            1,
            &[("src/cart.rs", cart(&[(10, "price")]))],
            &[],
        ),
        member(
            "refactor",
            2,
            &[("src/cart.rs", cart(&[(10, "sum")]))],
            &[outbox("first", first)],
        ),
        member("visionary", 3, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ];
    let world = world_of(true, stories).await;
    begin(&world).await;
    let is_refused_again = async |world: &World| {
        sprint(world).await.weaves == 2 && sprint(world).await.state.word() == "fixing"
    };
    Box::pin(world.until(hour(1), "the second weave", is_refused_again)).await;
    let now = sprint(&world).await;
    let refactor = now.members[1].refusal.as_ref().expect("a conflict");
    assert_eq!(refactor.weave, 2, "it took part");
    assert_eq!(now.members[0].state.word(), "applied");
    assert_eq!(now.members[0].conflicts, 0);
    assert!(!now.members[1].first, "it is tried once");
    let weaver: Vec<String> = inbox(&world, "weaver").await;
    assert_eq!(weaver, ["new from refactor: First"]);
    world.finish().await;
}

#[tokio::test]
async fn mail_that_was_not_read_for_two_sprints_is_told_to_people() {
    let change = |sprint: i64| {
        let matches = format!("You are the persona `curator` in sprint {sprint}");
        let file = format!("docs/{sprint}.md");
        Story {
            matches,
            ..member("", 1, &[(file.leak(), "One more.\n".to_owned())], &[])
        }
    };
    let stories = vec![change(50), change(51), change(52)];
    let world = world_of(true, stories).await;
    let long = "x".repeat(8_000);
    let repo = REPO.parse().expect("a repository");
    // One that takes part, one that does not, a name that is no persona, and one of Gaffer's own.
    for to in ["curator", "visionary", "ghost", "weaver"] {
        let outgoing = Outgoing {
            from: "human".parse().expect("a persona"),
            to: Recipient::Persona(to.parse().expect("a persona")),
            subject: "A long one".parse().expect("a subject"),
            body: long.parse().expect("a body"),
            attachments: Vec::new(),
        };
        let sent = world.backend.send_mail(&repo, &outgoing, "ann", None);
        sent.await.expect("a message");
    }
    for number in ["50", "51"] {
        assert_eq!(inbox(&world, "human").await, [""; 0], "before {number}");
        begin_with(&world, number, &["curator"]).await;
        let over = until_over(&world).await;
        assert_eq!(over.state.word(), "done", "{}", world.story().await);
    }
    let is_told = async |world: &World| !inbox(world, "human").await.is_empty();
    Box::pin(world.until(hour(1), "a person is told", is_told)).await;
    let told = ["new from weaver: 3 messages unread for two sprints"];
    assert_eq!(inbox(&world, "human").await, told);
    begin_with(&world, "52", &["curator"]).await;
    until_over(&world).await;
    world.pass(hour(1)).await;
    assert_eq!(inbox(&world, "human").await, told, "once");
    world.finish().await;
}
