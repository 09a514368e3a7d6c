//! Up to which commit the code is summed up after a run.

use super::*;
use crate::facts::fixture::sha;

/// A run after others that summed the code up to `b`, whose narrator looked at `c`.
fn narrated(mock: Option<&str>, state: AgentState) -> Pipeline {
    let mut begun = pipeline(Exchange::Auto, &[NARRATOR, OBSERVERS]);
    begun.summed_up = Some(sha('b'));
    begun.ask.mock = mock.map(|tag| tag.parse().unwrap());
    let plan = PipelineInput::Planned(StepPlan::Run {
        members: vec![member(1)],
        trees: Some(TreeShas {
            target: sha('c'),
            worker: sha('d'),
        }),
        range: String::new(),
        wait_minutes: None,
    });
    play(begun, &[plan, seen(&[(1, state)])])
}

#[test]
fn the_code_is_summed_up_to_where_the_last_narrator_looked() {
    for (mock, state, up_to) in [
        (None, AgentState::Merged, 'c'),
        (None, AgentState::Merging, 'b'),
        (None, AgentState::Nothing, 'c'),
        (None, failed(), 'b'),
        (Some("mock-1"), AgentState::Merged, 'b'),
    ] {
        let run = narrated(mock, state.clone());
        assert_eq!(run.summed_up_to(), Some(&sha(up_to)), "{mock:?} {state:?}");
    }
    // A summary that no run made covers no commit that is known.
    assert_eq!(pipeline(Exchange::Auto, &[NARRATOR]).summed_up_to(), None);
    // A run without a narrator, or whose narrator had nothing to do, knows what the run before it knew.
    let mut skipped = pipeline(Exchange::Auto, &[NARRATOR]);
    skipped.summed_up = Some(sha('b'));
    let plan = PipelineInput::Planned(StepPlan::Skip("Nothing changed".to_owned()));
    let skipped = play(skipped, &[plan]);
    assert_eq!(skipped.summed_up_to(), Some(&sha('b')));
}
