//! Sources as people see them.

use domain::policy::{MergePolicy, PlanApproval, Policy, Source};

use crate::args::value::short;

/// What a list of sources shows.
pub(super) const HEAD: [&str; 7] = ["source", "account", "agent", "branch", "merge", "plans", "paused"];

/// One source in a list.
pub(super) fn row(source: &Source) -> Vec<String> {
    let agent = source.agent.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let branch = source.branch.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let paused = if source.paused { "yes" } else { "no" };
    let words = [merge(source.policy.merge), plans(source.policy.plan_approval), paused].map(str::to_owned);
    let mut row = vec![source.repo.to_string(), source.account.to_string(), agent, branch];
    row.extend(words);
    row
}

/// Everything that can be set of one source.
pub(super) fn pairs(source: &Source) -> Vec<(&'static str, String)> {
    let Policy { required_checks, protected_paths, blocking_labels, min_checks, merges_per_day, ci_repairs, .. } = &source.policy;
    let timing = &source.timing;
    let agent = source.agent.as_ref().map_or_else(|| "none: a person looks".to_owned(), ToString::to_string);
    vec![
        ("account", source.account.to_string()),
        ("agent", agent),
        ("branch", source.branch.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("merge", format!("{}, by {}", merge(source.policy.merge), source.policy.merge_method.as_str())),
        ("plan approval", plans(source.policy.plan_approval).to_owned()),
        ("checks", format!("at least {min_checks} passed{}", listed(", among them ", required_checks))),
        ("protected paths", listed("", protected_paths)),
        ("blocking labels", listed("", blocking_labels)),
        ("merges", format!("at most {merges_per_day} in 24 hours")),
        ("adopted sessions", if source.policy.adopted_may_merge { "may merge" } else { "never merge" }.to_owned()),
        ("head branch", if source.policy.delete_branch { "deleted after the merge" } else { "kept" }.to_owned()),
        ("repairs", format!("failed checks go back to the session {ci_repairs} times")),
        ("stuck", format!("after {}, while queued {}", short(timing.stuck_after), short(timing.stuck_after_queued))),
        ("settle", format!("{} green before a merge", short(timing.settle))),
        ("paused", if source.paused { "yes" } else { "no" }.to_owned()),
    ]
}

fn listed(before: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{before}{}", names.join(", ")) }
}

fn merge(policy: MergePolicy) -> &'static str {
    match policy {
        MergePolicy::Human => "human",
        MergePolicy::OnGreen => "on-green",
    }
}

fn plans(approval: PlanApproval) -> &'static str {
    match approval {
        PlanApproval::Auto => "auto",
        PlanApproval::Agent => "agent",
        PlanApproval::Human => "human",
    }
}
