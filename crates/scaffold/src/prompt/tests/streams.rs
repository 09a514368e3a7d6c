//! Prompts in a named stream: it has events, requirements and perspectives of its own, and no agent sees those of another one.

use domain::ids::StreamName;

use super::*;

const STREAM: &str = ".jules/workstreams/backend";

fn repository() -> Repository {
    let pending = format!("{STREAM}/exchange/events/pending/dd44ee-a-query.yml");
    let requirement = requirement_text("bugs", true).replace("cc22dd", "ff66aa");
    let requirement = requirement.replace("Close the file", "Ask once");
    Repository::new()
        .at_work()
        .with(&pending, &event("dd44ee", "2026-02-17"))
        .with(&requirement_path(), &requirement)
        .with(
            &format!("{STREAM}/workstations/taxonomy/perspective.yml"),
            "schema_version: 2\nobserver: taxonomy\ngoals: [One word for a query.]\n",
        )
}

fn requirement_path() -> String {
    format!("{STREAM}/exchange/requirements/ff66aa-ask-once.yml")
}

fn in_stream(layer: Layer, stream: &str) -> Ask {
    Ask {
        stream: Some(stream.parse().unwrap()),
        ..ask(layer)
    }
}

fn text(ask: &Ask) -> String {
    repository().assemble(ask).unwrap().text
}

#[test]
fn a_decider_sees_exactly_one_stream() {
    let generic = text(&ask(Layer::Decider));
    assert_eq!(generic, text(&in_stream(Layer::Decider, "generic")));
    let named = text(&in_stream(Layer::Decider, "backend"));
    for (prompt, own, other) in [(&generic, "aa11bb", "dd44ee"), (&named, "dd44ee", "aa11bb")] {
        assert!(prompt.contains(own) && !prompt.contains(other), "{prompt}");
    }
    assert!(named.contains(".jules/workstreams/backend/exchange/requirements/<id>"));
    assert!(!named.contains(".jules/exchange/requirements"));
    assert!(named.contains("Ask once") && !named.contains("Close the file"));
}

#[test]
fn an_observer_writes_into_its_stream_and_remembers_there() {
    let named = text(&in_stream(Layer::Observers, "backend"));
    assert!(named.contains("One word for a query."));
    assert!(named.contains(".jules/workstreams/backend/exchange/events/pending/<id>"));
    assert!(named.contains(".jules/workstreams/backend/workstations/taxonomy/perspective.yml"));
    assert!(!named.contains(".jules/exchange/events"), "{named}");
}

#[test]
fn planner_and_implementer_take_the_stream_from_the_path() {
    let asked = |layer| Ask {
        requirement: requirement_path().parse().ok(),
        ..ask(layer)
    };
    assert!(text(&asked(Layer::Planner)).contains("Ask once"));
    let ready = repository().with(
        &requirement_path(),
        &requirement_text("bugs", false).replace("cc22dd", "ff66aa"),
    );
    let prompt = ready.assemble(&asked(Layer::Implementer)).unwrap();
    assert!(prompt.text.contains("ff66aa"));
}

#[test]
fn a_stream_that_is_not_there_fails_at_once() {
    for layer in [Layer::Observers, Layer::Decider] {
        let said = repository().refuses(&in_stream(layer, "frontend"));
        assert!(said.contains(".jules/workstreams/frontend/"), "{said}");
    }
    let gone = Ask {
        requirement: ".jules/workstreams/frontend/exchange/requirements/ff66aa.yml"
            .parse()
            .ok(),
        ..ask(Layer::Planner)
    };
    let said = repository().refuses(&gone);
    assert!(
        said.contains("the stream `frontend` has no folder"),
        "{said}"
    );
}

/// A template names the stream it is rendered for.
#[test]
fn a_template_is_told_its_stream() {
    let path = ".jules/roles/decider/decider_prompt.j2";
    let template = "In {{ stream }}.\n---\n# Output\nNothing.\n";
    let told = |name: &str| {
        let repository = repository().with(path, template);
        let prompt = repository.assemble(&in_stream(Layer::Decider, name));
        prompt.unwrap().text
    };
    for name in [StreamName::GENERIC, "backend"] {
        assert!(told(name).starts_with(&format!("In {name}.")), "{name}");
    }
}
