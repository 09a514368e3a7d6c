//! Sources as people see them.

use domain::policy::{PlanApproval, Policy, Source};
use domain::sprint::SprintRules;
use domain::status::UnreadIssuesView;

use super::deliveries;
use crate::args::value::short;
use crate::render::{or_dash, or_empty};

/// What a list of sources shows.
pub(super) const HEAD: [&str; 8] = [
    "source", "account", "agent", "branch", "merge", "plans", "label", "paused",
];

/// One source in a list.
pub(super) fn row(source: &Source) -> Vec<String> {
    let paused = if source.paused { "yes" } else { "no" };
    vec![
        source.repo.to_string(),
        source.account.to_string(),
        or_dash(source.agent.as_ref()),
        or_dash(source.branch.as_ref()),
        source.policy.merge.word().to_owned(),
        plans(source.policy.plan_approval).to_owned(),
        or_dash(source.deliveries.label.as_ref().map(|it| it.as_str())),
        paused.to_owned(),
    ]
}

/// Which issues could not be read, and why; empty where all were.
pub(crate) fn unread(issues: &[UnreadIssuesView]) -> String {
    let told: Vec<&str> = issues.iter().map(|it| it.sentence.as_str()).collect();
    told.join("; ")
}

/// What matters of one source.
pub(super) fn pairs(source: &Source) -> Vec<(&'static str, String)> {
    let or_none = |it: Option<String>| it.unwrap_or_else(|| "none: a person looks".to_owned());
    let mut pairs = vec![
        ("account", source.account.to_string()),
        (
            "agent",
            or_none(source.agent.as_ref().map(ToString::to_string)),
        ),
        ("branch", or_empty(source.branch.as_ref())),
    ];
    let pipeline = source.pipeline.as_ref().map(|rules| {
        let (exchange, implement) = (rules.exchange.word(), rules.implement.word());
        format!(
            "on `{}`, exchange {exchange}, implement {implement}",
            rules.worker
        )
    });
    pairs.push(("pipeline", pipeline.unwrap_or_default()));
    pairs.extend(policy_pairs(&source.policy));
    let (stuck, queued) = (
        short(source.timing.stuck_after),
        short(source.timing.stuck_after_queued),
    );
    pairs.push(("stuck", format!("after {stuck}, while queued {queued}")));
    pairs.push((
        "settle",
        format!("{} green before a merge", short(source.timing.settle)),
    ));
    let has_agent = source.agent.is_some();
    pairs.extend(deliveries::pairs(&source.deliveries, has_agent));
    pairs.push(("sprints", sprints(&source.sprints)));
    pairs.push((
        "paused",
        if source.paused { "yes" } else { "no" }.to_owned(),
    ));
    pairs
}

/// How its sprints go.
fn sprints(rules: &SprintRules) -> String {
    let at_once = rules.at_once;
    let at_once = at_once.map_or_else(|| "all".to_owned(), |count| count.to_string());
    let timeout = short(rules.member_timeout);
    format!(
        "parallel {}, {at_once} at once, members waited for {timeout}, next {}, {}",
        rules.parallel,
        rules.next.word(),
        rules.integration.word()
    )
}

fn policy_pairs(policy: &Policy) -> Vec<(&'static str, String)> {
    let among = listed(", among them ", &policy.required_checks);
    let adopted = if policy.adopted_may_merge {
        "may merge"
    } else {
        "never merge"
    };
    let head = if policy.delete_branch {
        "deleted after the merge"
    } else {
        "kept"
    };
    vec![
        (
            "merge",
            format!(
                "{}, by {}",
                policy.merge.word(),
                policy.allowed_methods().join(", or if asked for by ")
            ),
        ),
        ("plan approval", plans(policy.plan_approval).to_owned()),
        ("answers", policy.answers.to_string()),
        (
            "checks",
            format!("at least {} passed{among}", policy.min_checks),
        ),
        ("protected paths", listed("", &policy.protected_paths)),
        ("blocking labels", listed("", &policy.blocking_labels)),
        (
            "merges",
            format!("at most {} in 24 hours", policy.merges_per_day),
        ),
        ("adopted sessions", adopted.to_owned()),
        ("head branch", head.to_owned()),
        (
            "repairs",
            format!(
                "failed checks go back to the session {}",
                often(policy.ci_repairs)
            ),
        ),
        ("when blocked", when_blocked(policy)),
    ]
}

fn often(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

fn when_blocked(policy: &Policy) -> String {
    let comment = policy.comment_when_blocked.then(|| "a comment".to_owned());
    let label = policy.blocked_label.as_ref();
    let label = label.map(|label| format!("the label {label}"));
    let told: Vec<String> = comment.into_iter().chain(label).collect();
    if told.is_empty() {
        "nothing is put on the pull request".to_owned()
    } else {
        format!("{} on the pull request", told.join(" and "))
    }
}

fn listed(before: &str, names: &[String]) -> String {
    if names.is_empty() {
        String::new()
    } else {
        format!("{before}{}", names.join(", "))
    }
}

fn plans(approval: PlanApproval) -> &'static str {
    match approval {
        PlanApproval::Auto => "auto",
        PlanApproval::Agent => "agent",
        PlanApproval::Human => "human",
        // A delivery's job alone has it: no source can be set to it.
        PlanApproval::Delivery => "delivery",
    }
}
