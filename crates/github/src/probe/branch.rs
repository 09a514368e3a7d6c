//! What the base branch demands, by rulesets and by classic protection, and whether that holds for us.

use std::collections::BTreeSet;

use domain::doctor::{Protection, Rules};
use domain::facts::{Demands, Fact, RequiredCheck};
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, RepoName};
use domain::policy::MergeMethod;
use serde::de::DeserializeOwned;

use super::{Probe, fact, wire};
use crate::client::{Listing, failure, segment};
use crate::facts::is_not_in_plan;

/// 500 rules on one branch.
const RULE_PAGES_MAX: usize = 5;

/// GitHub's 404 for a branch without classic protection; any other 404 means that we may not know.
const NOT_PROTECTED: &str = "Branch not protected";

/// What rulesets demand.
pub(super) async fn rules(probe: &Probe, repo: &RepoName, base: &BranchName) -> Fact<Rules> {
    fact(read_rules(probe, repo, base).await, "Metadata: read", false)
}

async fn read_rules(probe: &Probe, repo: &RepoName, base: &BranchName) -> Result<Rules, Failure> {
    let doing = format!("reading the rules of {repo}'s branch {base}");
    let listing = Listing {
        repo,
        path: &format!("/repos/{repo}/rules/branches/{}", segment(base.as_str())),
        pages_max: RULE_PAGES_MAX,
        doing: &doing,
    };
    let mut rules = Rules::default();
    let mut rulesets = BTreeSet::new();
    let all = match probe.client.list::<Vec<wire::Rule>>(&listing).await {
        Err(failure) if is_not_in_plan(&failure) => Vec::new(),
        read => read?,
    };
    for rule in all {
        rulesets.extend(rule.ruleset_id);
        add(&mut rules, &rule, &doing)?;
    }
    for id in rulesets {
        let path = format!("/repos/{repo}/rulesets/{id}");
        // Rulesets of an organization may be unreadable here; then nothing is reported.
        let Ok(ruleset) = probe.client.get::<wire::Ruleset>(repo, &path, &doing).await else {
            continue;
        };
        if matches!(
            ruleset.current_user_can_bypass.as_deref(),
            Some("always" | "pull_requests_only" | "exempt")
        ) {
            rules.bypassed.push(ruleset.name);
        }
    }
    Ok(rules)
}

fn add(rules: &mut Rules, rule: &wire::Rule, doing: &str) -> Result<(), Failure> {
    match rule.kind.as_str() {
        "required_status_checks" => {
            let wanted: wire::ChecksRule = parameters(rule, doing)?;
            for check in wanted.required_status_checks {
                push(&mut rules.demands, check.context, check.integration_id);
            }
        }
        "pull_request" => {
            let wanted: wire::PullRule = parameters(rule, doing)?;
            let approvals = wanted.required_approving_review_count;
            rules.demands.approvals = rules.demands.approvals.max(approvals);
            allow(rules, wanted.allowed_merge_methods);
        }
        "merge_queue" => rules.demands.merge_queue = true,
        "required_linear_history" => {
            let straight = [MergeMethod::Squash, MergeMethod::Rebase];
            let names = straight.iter().map(|method| method.as_str().to_owned());
            allow(rules, Some(names.collect()));
        }
        _other => {}
    }
    Ok(())
}

/// Only methods that every rule allows remain.
fn allow(rules: &mut Rules, allowed: Option<Vec<String>>) {
    let Some(allowed) = allowed else { return };
    let before = rules
        .methods
        .take()
        .unwrap_or_else(|| vec![MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase]);
    let still = |method: &MergeMethod| {
        allowed
            .iter()
            .any(|name| name.eq_ignore_ascii_case(method.as_str()))
    };
    rules.methods = Some(before.into_iter().filter(still).collect());
}

/// Nothing is merged by a rule that cannot be read, so nothing good is said of it.
fn parameters<T: DeserializeOwned>(rule: &wire::Rule, doing: &str) -> Result<T, Failure> {
    T::deserialize(&rule.parameters).map_err(|_| {
        let message = format!("{doing}: the rule `{}` could not be read", rule.kind);
        failure(FailureClass::Garbled, &message)
    })
}

/// What classic protection demands.
pub(super) async fn protection(
    probe: &Probe,
    repo: &RepoName,
    base: &BranchName,
) -> Fact<Option<Protection>> {
    let doing = format!("reading the protection of {repo}'s branch {base}");
    let path = format!(
        "/repos/{repo}/branches/{}/protection",
        segment(base.as_str())
    );
    let read: Result<wire::Protection, Failure> = probe.client.get(repo, &path, &doing).await;
    match read {
        Err(failure)
            if failure.class == FailureClass::NotFound
                && failure.message.contains(NOT_PROTECTED) =>
        {
            Fact::Known(None)
        }
        Err(failure) if is_not_in_plan(&failure) => Fact::Known(None),
        read => fact(
            read.map(|found| Some(of(found))),
            "Administration: read",
            true,
        ),
    }
}

fn of(found: wire::Protection) -> Protection {
    let mut demands = Demands::default();
    let checks = found.required_status_checks.unwrap_or_default();
    for check in checks.checks {
        push(&mut demands, check.context, check.app_id);
    }
    // The older list names the same checks without their App.
    for context in checks.contexts {
        if !demands.checks.iter().any(|check| check.name == context) {
            push(&mut demands, context, None);
        }
    }
    let reviews = found.required_pull_request_reviews.unwrap_or_default();
    demands.approvals = reviews.required_approving_review_count;
    Protection {
        demands,
        admins_too: found.enforce_admins.is_some_and(|it| it.enabled),
    }
}

/// GitHub writes "any App" as null or as -1.
fn push(demands: &mut Demands, name: String, app: Option<i64>) {
    demands.checks.push(RequiredCheck {
        name,
        app: app.and_then(|id| u64::try_from(id).ok()),
    });
}
