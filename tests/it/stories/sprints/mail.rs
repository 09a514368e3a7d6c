//! Mail of members: what they are shown, and what they write themselves.

use domain::ids::PersonaName;
use domain::mail::{Outgoing, Recipient};
use engine::mail::InboxQuery;

use super::*;

fn outbox(name: &str, text: &str) -> (&'static str, String) {
    let path = format!(".jules/mail/outbox/{name}.json");
    (path.leak(), text.to_owned())
}

async fn inbox(world: &World, persona: &str) -> Vec<String> {
    let repo = REPO.parse().expect("a repository");
    let persona: PersonaName = persona.parse().expect("a persona");
    let query = InboxQuery {
        unread: false,
        after: None,
        limit: 100,
    };
    let page = world.backend.inbox_of(&repo, &persona, &query).await;
    let messages = page.expect("a mailbox").messages.into_iter();
    let told = messages.map(|it| {
        let is_read = if it.read_at.is_some() { "read" } else { "new" };
        format!("{} from {}: {}", is_read, it.from_persona, it.subject)
    });
    told.collect()
}

async fn send(world: &World, to: &str, subject: &str) {
    let outgoing = Outgoing {
        from: "human".parse().expect("a persona"),
        to: Recipient::Persona(to.parse().expect("a persona")),
        subject: subject.parse().expect("a subject"),
        body: "Please look at the cart first.".parse().expect("a body"),
        attachments: Vec::new(),
    };
    let repo = REPO.parse().expect("a repository");
    let sent = world.backend.send_mail(&repo, &outgoing, ("ann", None));
    sent.await.expect("a message");
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
            "new from weaver: A file of your outbox was not sent"
        ]
    );
    assert_eq!(inbox(&world, "refactor").await, ["new from curator: Hello"]);
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    assert!(texts.keys().all(|path| !path.starts_with(".jules/mail")));
    assert_eq!(texts["README.md"], "A better shop.\n");
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
    // What is unread when a session starts is part of its prompt.
    let is_at_work = async |world: &World| {
        let sprint = sprint(world).await;
        let refactor = sprint
            .members
            .iter()
            .find(|it| it.persona.as_str() == "refactor");
        refactor.expect("a member").state.word() == "working"
    };
    Box::pin(world.until(hour(1), "refactor is at work", is_at_work)).await;
    send(&world, "refactor", "Later").await;
    let over = until_over(&world).await;
    assert_eq!(
        inbox(&world, "refactor").await,
        [
            "new from human: Later",
            "read from weaver: Conflict in PR #102"
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
