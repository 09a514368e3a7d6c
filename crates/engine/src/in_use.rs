//! Why a source is not removed: what is open in it, and what a person does about that.

use domain::advice::{Advice, Next};
use domain::ids::RepoName;

use crate::open_work::OpenWork;

/// Maximum number of others that are named beside the first that keeps a source.
const OTHERS_MAX: usize = 5;

/// Why a source is not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceInUse {
    /// What is to end first.
    pub first: OpenWork,
    /// What else is open in it.
    pub others: Vec<OpenWork>,
    /// What ends the pauses of it, while which hardly anything ends.
    pub pauses: Vec<Next>,
    /// Whether Gaffer only observes: a pause that no order ends.
    pub observes: bool,
}

impl SourceInUse {
    /// In a sentence, with what else is open.
    pub fn sentence(&self) -> String {
        let named: Vec<String> = self.others.iter().map(OpenWork::name).collect();
        let more = match named.len().checked_sub(OTHERS_MAX) {
            Some(more @ 1..) => format!(" and {more} more"),
            Some(0) | None => String::new(),
        };
        match named.get(..OTHERS_MAX).unwrap_or(&named) {
            [] => self.first.to_string(),
            shown => format!("{} (also open: {}{more})", self.first, shown.join(", ")),
        }
    }

    /// What a person waits for or does.
    pub fn ending(&self) -> String {
        let ending = self.first.ending();
        match (self.is_held(), self.observes) {
            (true, true) => format!(
                "{ending}; it may not end by itself while Gaffer only observes: start `gaffer up` again without --observe-only"
            ),
            (true, false) => format!("{ending}; it may not end by itself while there is a pause"),
            (false, _) => ending,
        }
    }

    /// The orders that end what is open or hold it.
    pub fn advice(&self, repo: &RepoName) -> Vec<Next> {
        let mut advice = self.first.advice(repo);
        if self.is_held() {
            advice.retain(|next| next.advice != Advice::PauseSource);
            advice.extend(self.pauses.iter().cloned());
        }
        advice
    }

    /// Whether a pause holds what is to end first: pull requests are closed by people.
    fn is_held(&self) -> bool {
        let is_pull = matches!(self.first, OpenWork::Pull(_) | OpenWork::ClosedPull { .. });
        !is_pull && (self.observes || !self.pauses.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use domain::delivery::Phase;

    use super::*;

    /// The sentence about something open, with all that is said of how it ends.
    fn said(used: &SourceInUse) -> String {
        let repo = "acme/shop".parse().unwrap();
        let advice = used.advice(&repo).into_iter();
        let advice = advice.map(|next| format!(" [{} {}]", next.advice.word(), next.about));
        let advice: String = advice.collect();
        format!("{}; {}{advice}", used.sentence(), used.ending())
    }

    fn alone(first: OpenWork) -> SourceInUse {
        SourceInUse {
            first,
            others: Vec::new(),
            pauses: Vec::new(),
            observes: false,
        }
    }

    fn pull(number: u64) -> OpenWork {
        OpenWork::Pull(format!("acme/shop#{number}").parse().unwrap())
    }

    #[test]
    fn each_kind_says_what_is_open_and_how_it_ends() {
        let delivery = |phase, issue: Option<&str>| OpenWork::Delivery {
            id: "0123456789ab".parse().unwrap(),
            phase,
            issue: issue.map(|issue| issue.parse().unwrap()),
        };
        for (what, expected) in [
            (
                OpenWork::Job("01k5nx0000000000000000000a".parse().unwrap()),
                "job 01k5nx0000000000000000000a still works in it; wait for its end \
                 [cancel 01k5nx0000000000000000000a] [pause_source acme/shop]",
            ),
            (
                OpenWork::Pipeline("01k5nx0000000000000000000b".parse().unwrap()),
                "pipeline 01k5nx0000000000000000000b of it still runs; wait for its end \
                 [cancel_pipeline 01k5nx0000000000000000000b]",
            ),
            // An order about its job, which is over, would be refused.
            (
                pull(7),
                "pull request acme/shop#7 of a job is still open; merge or close it on GitHub",
            ),
            (
                OpenWork::ClosedPull {
                    pull: "acme/shop#7".parse().unwrap(),
                    until: "2026-11-30T16:58:25.5Z".parse().unwrap(),
                },
                "pull request acme/shop#7 of a job is closed, and may be reopened until 2026-11-30T16:58:25Z; wait until then",
            ),
            (
                delivery(Phase::Review, None),
                "delivery 0123456789ab is not closed: it is at review; wait for its end [cancel_delivery 0123456789ab]",
            ),
            (
                delivery(Phase::Review, Some("acme/shop#4")),
                "delivery 0123456789ab is not closed: it is at review; \
                 wait until it is closed, or close acme/shop#4 on GitHub, which calls it off",
            ),
            (
                delivery(Phase::Deploy, Some("acme/shop#4")),
                "delivery 0123456789ab is not closed: it is at deploy; wait for its end [cancel_delivery 0123456789ab]",
            ),
            (
                OpenWork::Requirement("ab12cd".parse().unwrap()),
                "requirement ab12cd of it is not through; wait until its delivery and its last pull request are through",
            ),
        ] {
            assert_eq!(said(&alone(what)), expected);
        }
    }

    #[test]
    fn what_else_is_open_is_named_up_to_a_few() {
        for (count, expected) in [
            (1, "acme/shop#1 of a job is still open"),
            (
                2,
                "acme/shop#1 of a job is still open (also open: pull request acme/shop#2)",
            ),
            (
                8,
                "acme/shop#1 of a job is still open (also open: pull request acme/shop#2, pull request acme/shop#3, \
                 pull request acme/shop#4, pull request acme/shop#5, pull request acme/shop#6 and 2 more)",
            ),
        ] {
            let used = SourceInUse {
                others: (2..=count).map(pull).collect(),
                ..alone(pull(1))
            };
            assert_eq!(used.sentence(), format!("pull request {expected}"));
        }
    }

    #[test]
    fn what_a_pause_holds_is_not_waited_for_without_its_end() {
        let repo: RepoName = "acme/shop".parse().unwrap();
        let paused = |first| SourceInUse {
            pauses: vec![Advice::ResumeSource.about(&repo)],
            ..alone(first)
        };
        for (what, expected) in [
            (
                OpenWork::Job("01k5nx0000000000000000000a".parse().unwrap()),
                "job 01k5nx0000000000000000000a still works in it; wait for its end; it may not end by itself while there is a pause \
                 [cancel 01k5nx0000000000000000000a] [resume_source acme/shop]",
            ),
            (
                pull(7),
                "pull request acme/shop#7 of a job is still open; merge or close it on GitHub",
            ),
        ] {
            assert_eq!(said(&paused(what)), expected);
        }
        let job = "01k5nx0000000000000000000a".parse().unwrap();
        let observed = SourceInUse {
            observes: true,
            ..alone(OpenWork::Job(job))
        };
        assert_eq!(
            said(&observed),
            "job 01k5nx0000000000000000000a still works in it; wait for its end; it may not end by itself while Gaffer only observes: \
             start `gaffer up` again without --observe-only [cancel 01k5nx0000000000000000000a]"
        );
    }
}
