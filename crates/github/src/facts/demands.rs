//! What the base branch demands: its rulesets, which anybody may read, and classic protection, which few may.

use domain::facts::{Demands, Fact, RequiredCheck, Unread};
use domain::failure::{Failure, FailureClass};
use domain::ids::PullRef;
use serde::de::DeserializeOwned;

use super::pull::Seen;
use super::settle;
use crate::client::{Client, Listing, failure, segment};
use crate::wire;

/// 500 rules on one branch.
const RULE_PAGES_MAX: usize = 5;

/// 1,000 protected branches; whether ours is among more than that is asked of the branch itself.
const PROTECTED_PAGES_MAX: usize = 10;

const RULES_READ: &str = "Metadata: read";
const PROTECTION_READ: &str = "Administration: read";
const CONTENTS_READ: &str = "Contents: read";

/// GitHub's 404 for a branch without classic protection.
const NOT_PROTECTED: &str = "Branch not protected";

/// GitHub's 404 for whoever may not administrate the repository: the branch itself is there, since its rules were asked for alike.
const NOT_ADMINISTRATED: &str = "GitHub answered 404: Not Found";

/// GitHub's 403 where the plan of a private repository has neither rulesets nor protection, so that nothing is demanded.
const NOT_IN_PLAN: &str = "Upgrade to GitHub";

/// Reads all demands, and how far the head is behind if that matters.
pub(super) async fn read(
    client: &Client,
    pull: &PullRef,
    seen: &Seen,
) -> Result<Fact<Demands>, Failure> {
    let (rules, classic) = tokio::join!(rules(client, pull, seen), classic(client, pull, seen));
    let mut demands = match settle(rules, RULES_READ)? {
        Fact::Known(rules) => rules,
        other @ (Fact::Forbidden { .. } | Fact::Unknown { .. }) => return Ok(other),
    };
    match settle(classic, PROTECTION_READ)? {
        Fact::Known(classic) => demands = join(demands, classic),
        Fact::Forbidden { permission } => demands.unread = Some(Unread::Forbidden { permission }),
        Fact::Unknown { why } => demands.unread = Some(Unread::Unknown { why }),
    }
    if demands.up_to_date {
        match settle(behind_by(client, pull, seen).await, CONTENTS_READ)? {
            Fact::Known(behind) => demands.behind_by = Some(behind),
            Fact::Forbidden { permission } => return Ok(Fact::Forbidden { permission }),
            Fact::Unknown { why } => return Ok(Fact::Unknown { why }),
        }
    }
    Ok(Fact::Known(demands))
}

async fn rules(client: &Client, pull: &PullRef, seen: &Seen) -> Result<Demands, Failure> {
    let doing = format!(
        "reading the rules of {}'s branch {}",
        pull.repo, seen.base.branch
    );
    let path = format!(
        "/repos/{}/rules/branches/{}",
        pull.repo,
        segment(seen.base.branch.as_str())
    );
    let listing = Listing {
        repo: &pull.repo,
        path: &path,
        pages_max: RULE_PAGES_MAX,
        doing: &doing,
    };
    let mut demands = Demands::default();
    let rules = match client.list::<Vec<wire::Rule>>(&listing).await {
        Err(failure) if is_not_in_plan(&failure) => Vec::new(),
        read => read?,
    };
    for rule in rules {
        add_rule(&mut demands, rule, &doing)?;
    }
    Ok(demands)
}

/// Rules of other types are GitHub's own to enforce: it refuses the merge.
fn add_rule(demands: &mut Demands, rule: wire::Rule, doing: &str) -> Result<(), Failure> {
    match rule.kind.as_str() {
        "required_status_checks" => {
            let wanted: wire::StatusChecksRule = parameters(rule, doing)?;
            demands.up_to_date |= wanted.strict_required_status_checks_policy;
            for check in wanted.required_status_checks {
                add_check(demands, check.context, check.integration_id);
            }
        }
        "pull_request" => {
            let wanted: wire::PullRequestRule = parameters(rule, doing)?;
            demands.approvals = demands
                .approvals
                .max(wanted.required_approving_review_count);
        }
        "merge_queue" => demands.merge_queue = true,
        _other => {}
    }
    Ok(())
}

fn is_not_in_plan(failure: &Failure) -> bool {
    failure.class == FailureClass::Forbidden && failure.message.contains(NOT_IN_PLAN)
}

fn parameters<T: DeserializeOwned>(rule: wire::Rule, doing: &str) -> Result<T, Failure> {
    let garbled = |error| {
        failure(
            FailureClass::Garbled,
            &format!(
                "{doing}: the rule `{}` could not be read: {error}",
                rule.kind
            ),
        )
    };
    serde_json::from_value(rule.parameters).map_err(garbled)
}

async fn classic(client: &Client, pull: &PullRef, seen: &Seen) -> Result<Demands, Failure> {
    let doing = format!(
        "reading the protection of {}'s branch {}",
        pull.repo, seen.base.branch
    );
    let path = format!(
        "/repos/{}/branches/{}/protection",
        pull.repo,
        segment(seen.base.branch.as_str())
    );
    if client.said_unprotected(&path) && !may_be_protected(client, pull, seen).await? {
        return Ok(Demands::default());
    }
    let protection: wire::Protection = match client.get(&pull.repo, &path, &doing).await {
        Err(failure)
            if failure.class == FailureClass::NotFound
                && failure.message.contains(NOT_PROTECTED) =>
        {
            client.note_unprotected(&path);
            return Ok(Demands::default());
        }
        Err(failure) if is_not_in_plan(&failure) => return Ok(Demands::default()),
        Err(failure)
            if failure.class == FailureClass::NotFound
                && failure.message.contains(NOT_ADMINISTRATED) =>
        {
            return Err(self::failure(
                FailureClass::Forbidden,
                &format!("{doing}: Must have admin rights to Repository."),
            ));
        }
        read => read?,
    };
    let mut demands = Demands::default();
    if let Some(wanted) = protection.required_status_checks {
        demands.up_to_date = wanted.strict;
        for check in wanted.checks {
            add_check(&mut demands, check.context, check.app_id);
        }
        // The older list names the same checks without their App.
        for context in wanted.contexts {
            if !demands.checks.iter().any(|check| check.name == context) {
                add_check(&mut demands, context, None);
            }
        }
    }
    demands.approvals = protection
        .required_pull_request_reviews
        .map_or(0, |reviews| reviews.required_approving_review_count);
    Ok(demands)
}

/// Whether a branch that once had no classic protection may have some by now: one that is not in the list of protected
/// branches has none.
///
/// "Not protected" of the branch itself is a 404, which costs a request each time; an unchanged list costs none. The list
/// holds what classic protection or a ruleset protects, and says of each whether the former is on. What cannot be listed may
/// be protected.
async fn may_be_protected(client: &Client, pull: &PullRef, seen: &Seen) -> Result<bool, Failure> {
    let path = format!("/repos/{}/branches?protected=true", pull.repo);
    let listing = Listing {
        repo: &pull.repo,
        path: &path,
        pages_max: PROTECTED_PAGES_MAX,
        doing: &format!("reading the protected branches of {}", pull.repo),
    };
    let listed = client.list::<Vec<wire::NamedBranch>>(&listing).await;
    let is_on = |branch: &wire::NamedBranch| {
        let said = branch.protection.as_ref().and_then(|it| it.enabled);
        branch.name == seen.base.branch.as_str() && said != Some(false)
    };
    Ok(match settle(listed, CONTENTS_READ)? {
        Fact::Known(branches) => branches.iter().any(is_on),
        Fact::Forbidden { .. } | Fact::Unknown { .. } => true,
    })
}

/// Adds a check once. GitHub writes "any App" as null or as -1.
fn add_check(demands: &mut Demands, name: String, app: Option<i64>) {
    let check = RequiredCheck {
        name,
        app: app.and_then(|id| u64::try_from(id).ok()),
    };
    if !demands.checks.contains(&check) {
        demands.checks.push(check);
    }
}

fn join(mut rules: Demands, classic: Demands) -> Demands {
    for check in classic.checks {
        if !rules.checks.contains(&check) {
            rules.checks.push(check);
        }
    }
    rules.approvals = rules.approvals.max(classic.approvals);
    rules.up_to_date |= classic.up_to_date;
    rules.merge_queue |= classic.merge_queue;
    rules
}

async fn behind_by(client: &Client, pull: &PullRef, seen: &Seen) -> Result<u64, Failure> {
    let doing = format!("comparing {pull} with its base");
    let base = segment(seen.base.branch.as_str());
    // One commit of the page is enough: the counts are of the whole.
    let path = format!(
        "/repos/{}/compare/{base}...{}?per_page=1",
        pull.repo, seen.head.sha
    );
    Ok(client
        .get::<wire::Comparison>(&pull.repo, &path, &doing)
        .await?
        .behind_by)
}
