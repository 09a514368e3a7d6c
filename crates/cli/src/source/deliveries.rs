//! The settings of a source for its deliveries: set, and as people see them.

use domain::delivery::{Checkpoints, CheckpointsBy, OddPhase, PlanBy, ReviewBy, Rules};

use crate::args::source::DeliveryRuleArgs;
use crate::error::Error;

/// Rules with the given changes. A delivery keeps the rules under which it was created.
pub(super) fn rules(before: &Rules, args: &DeliveryRuleArgs) -> Result<Rules, Error> {
    let odd = |odd: OddPhase| Error::usage(format!("`--checkpoint`: {odd}"), "name one of these");
    Ok(Rules {
        label: match &args.label {
            Some(label) => Some(label.clone()),
            None if args.no_label => None,
            None => before.label.clone(),
        },
        endpoint: args.endpoint.unwrap_or(before.endpoint),
        checkpoints: match &args.checkpoints {
            Some(phases) => Checkpoints::at(phases).map_err(odd)?,
            None if args.no_checkpoints => Checkpoints::none(),
            None => before.checkpoints.clone(),
        },
        checkpoints_by: args.checkpoints_by.unwrap_or(before.checkpoints_by),
        plan_by: args.plan_by.unwrap_or(before.plan_by),
        review_by: args.review_by.or(before.review_by),
        review_rounds: args.review_rounds.unwrap_or(before.review_rounds),
        attempts: args.attempts.unwrap_or(before.attempts),
        deploy: args.deploy.clone().unwrap_or_else(|| before.deploy.clone()),
        observe: args.observe.unwrap_or(before.observe),
        comment: args.issue_comment.unwrap_or(before.comment),
    })
}

/// What matters of the rules of a source that has an agent, or has none.
pub(super) fn pairs(rules: &Rules, has_agent: bool) -> Vec<(&'static str, String)> {
    let intake = match &rules.label {
        Some(label) => format!(
            "open issues with the label {} become deliveries",
            label.as_str()
        ),
        None => "no issue becomes a delivery by itself".to_owned(),
    };
    let effective = rules.with_agent(has_agent);
    let reviewed = match effective.reviewer() {
        ReviewBy::Agent => "by the agent",
        ReviewBy::Human => "by a person",
        ReviewBy::Jules => "by a second session of Jules",
        ReviewBy::Nobody => "not reviewed",
    };
    let planned = match rules.plan_by {
        PlanBy::Jules => "by Jules",
        PlanBy::Agent => "by the agent",
        PlanBy::Human => "by a person",
    };
    let comment = if rules.comment {
        "one comment says how far it is"
    } else {
        "not told"
    };
    vec![
        ("intake", intake),
        ("deliveries", format!("end with {}", rules.endpoint.phase())),
        ("checkpoints", checkpoints(rules)),
        ("planned", planned.to_owned()),
        (
            "reviewed",
            sent_back(effective.reviewer(), reviewed, rules.review_rounds),
        ),
        (
            "attempts",
            match rules.attempts {
                1 => "one session for each delivery".to_owned(),
                more => format!("{more} sessions for each delivery"),
            },
        ),
        ("deploy", rules.deploy.to_string()),
        ("observe", rules.observe.to_string()),
        ("issue", comment.to_owned()),
    ]
}

/// Who reviews, and how often a change is sent back: what is not reviewed is never.
fn sent_back(reviewer: ReviewBy, reviewed: &str, rounds: u32) -> String {
    match (reviewer, rounds) {
        (ReviewBy::Nobody, _) => reviewed.to_owned(),
        (_, 0) => format!("{reviewed}, never sent back"),
        (_, 1) => format!("{reviewed}, sent back once at most"),
        (_, more) => format!("{reviewed}, sent back {more} times at most"),
    }
}

fn checkpoints(rules: &Rules) -> String {
    let phases = rules.checkpoints.phases().iter();
    let phases: Vec<&str> = phases.map(|phase| phase.word()).collect();
    if phases.is_empty() {
        return "none".to_owned();
    }
    let who = match rules.checkpoints_by {
        CheckpointsBy::People => "for people only",
        CheckpointsBy::Anyone => "for people and agents",
    };
    format!("{}, {who}", phases.join(", "))
}

#[cfg(test)]
mod tests {
    use domain::delivery::Phase;

    use super::*;

    #[test]
    fn what_is_not_given_stays() {
        let before = Rules {
            label: Some("gaffer".parse().unwrap()),
            review_by: Some(ReviewBy::Human),
            attempts: 2,
            ..Rules::default()
        };
        let same = rules(&before, &DeliveryRuleArgs::default());
        assert_eq!(same.unwrap(), before);
        let args = DeliveryRuleArgs {
            no_label: true,
            checkpoints: Some(vec![Phase::Review, Phase::Plan, Phase::Review]),
            ..DeliveryRuleArgs::default()
        };
        let wanted = Rules {
            label: None,
            checkpoints: Checkpoints::at(&[Phase::Plan, Phase::Review]).unwrap(),
            ..before
        };
        assert_eq!(rules(&wanted, &args).unwrap(), wanted);
    }

    #[test]
    fn a_person_reviews_where_there_is_no_agent() {
        let shown = |rules: &Rules, has_agent| {
            let pairs = pairs(rules, has_agent);
            let found = pairs.into_iter().find(|(name, _)| *name == "reviewed");
            found.unwrap().1
        };
        let usual = Rules::default();
        assert_eq!(
            shown(&usual, true),
            "by the agent, sent back 3 times at most"
        );
        assert_eq!(
            shown(&usual, false),
            "by a person, sent back 3 times at most"
        );
        let rules = |review_by, review_rounds| Rules {
            review_by,
            review_rounds,
            ..Rules::default()
        };
        let once = rules(Some(ReviewBy::Human), 1);
        assert_eq!(shown(&once, true), "by a person, sent back once at most");
        let unreviewed = rules(Some(ReviewBy::Nobody), 3);
        assert_eq!(shown(&unreviewed, true), "not reviewed");
    }
}
