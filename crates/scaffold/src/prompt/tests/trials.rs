//! Files that a trial run made up, which are nothing to agents that are real.

use super::*;

const CHANGES: &str = ".jules/exchange/changes.yml";

fn made_up(text: &str) -> String {
    format!("# Gaffer made this file up for the trial run mock-1.\n{text}")
}

/// A repository after a trial of each layer.
fn tried(layer: Layer) -> Repository {
    let summary = made_up("schema_version: 1\ncreated_at: \"2026-02-16\"\nsummaries: []\n");
    let requirement = made_up(&requirement_text("bugs", false));
    ready_for(layer)
        .with(CHANGES, &summary)
        .with(
            ".jules/exchange/requirements/tt11tt-mock-1.yml",
            &requirement,
        )
        .with(
            &event_path("tt22tt"),
            &made_up(&event("tt22tt", "2026-02-17")),
        )
}

#[test]
fn what_a_trial_run_made_up_is_in_no_prompt() {
    for layer in [
        Layer::Narrator,
        Layer::Observers,
        Layer::Decider,
        Layer::Innovators,
    ] {
        let prompt = tried(layer).assemble(&ask(layer)).unwrap();
        for word in ["mock-1", "tt11tt", "tt22tt"] {
            assert!(!prompt.text.contains(word), "{layer}: {}", prompt.text);
        }
    }
}

#[test]
fn a_narrator_does_not_go_on_from_the_summary_of_a_trial_run() {
    let prompt = tried(Layer::Narrator)
        .assemble(&ask(Layer::Narrator))
        .unwrap();
    assert!(prompt.text.contains("task: bootstrap_summary\n"));
    assert!(prompt.skipped.iter().any(|path| path == CHANGES));
}
