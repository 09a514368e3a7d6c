//! The answer that a job gives by itself of who it waits for agrees with the full answer.

use super::*;
use crate::ids::AgentName;
use crate::job::{JobWait, WaitParty, WaitsFor, job_wait, waits_for};
use crate::pull::{self, Pull};

/// The whole answer, without and with an agent that can be woken.
fn whole(job: &Job, pull: Option<&Pull>) -> [WaitsFor; 2] {
    let agent: AgentName = "zai".parse().unwrap();
    [None, Some(&agent)].map(|agent| waits_for(job, pull, agent))
}

#[test]
fn a_job_alone_says_the_same_as_far_as_it_goes() {
    let reference: crate::ids::PullRef = "acme/shop#1".parse().unwrap();
    let states = [
        "QUEUED",
        WORKING,
        ASKING,
        "PAUSED",
        "COMPLETED",
        "NO_SUCH_STATE",
    ];
    let mut seen = Vec::new();
    for (has_pull, state) in [false, true]
        .into_iter()
        .flat_map(|has| states.map(|it| (has, it)))
    {
        for seconds in [10, 4_000, 90_000] {
            let mut story = Story::polled(vec![agent("a1", 5)], seconds, state);
            if has_pull && let JobPhase::Watching(watch) = &mut story.job.phase {
                watch.pull = Some(reference.clone());
            }
            let job = &story.job;
            let session = SESSION.parse().ok();
            let tracked = pull::track(reference.clone(), job.id.clone(), session, at(1));
            let pull = has_pull.then_some(&tracked);
            let alone = job_wait(job);
            seen.push(alone);
            let [person, agent] = whole(job, pull);
            match alone {
                JobWait::Is(who) => assert_eq!([person.who, agent.who], [who; 2], "{state}"),
                JobWait::Woken => {
                    assert_eq!(
                        [person.who, agent.who],
                        [WaitParty::Person, WaitParty::Agent],
                        "{state}"
                    );
                }
                JobWait::Pull => {
                    assert_eq!(pull::waits_for(&tracked, false, None), person, "{state}")
                }
                JobWait::Delivery => panic!("{state}: it belongs to no delivery"),
            }
        }
    }
    for alone in [JobWait::Woken, JobWait::Pull, JobWait::Is(WaitParty::Jules)] {
        assert!(seen.contains(&alone), "{alone:?}: {seen:?}");
    }
}

/// The delivery that collected it waits for other things than its pull request does.
#[test]
fn a_job_that_was_collected_is_counted_by_its_own_pull_request() {
    let mut story = Story::new();
    story.pulls = vec!["acme/shop#1".parse().unwrap()];
    for second in [10, 600] {
        story.poll(second, "COMPLETED");
    }
    story.job.delivery = Some("0123456789ab".parse().unwrap());
    assert_eq!(job_wait(&story.job), JobWait::Delivery);
    story.job.collected = true;
    assert_eq!(job_wait(&story.job), JobWait::Pull);
}
