//! Requirements of the base branch: its rulesets, which anyone may read, and classic protection, which few may.

use domain::facts::{Demands, Fact, RequiredCheck, Unread};
use domain::failure::{Failure, FailureClass};
use domain::ids::PullRef;
use jiff::SignedDuration;
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

/// Cache lifetime of "only rulesets protect this branch", for a pull request that GitHub itself calls clean: as long
/// as an installation token lives.
/// Without a limit a mistake of GitHub's would never be found. With a much shorter one, a series of merges, each of
/// which changes the list of branches, would read it anew each time.
const RULED_LASTS: SignedDuration = SignedDuration::from_hours(1);

/// GitHub's 404 for a branch without classic protection.
const NOT_PROTECTED: &str = "Branch not protected";

/// GitHub's 404 for a credential without administration rights: the branch itself exists, since its rules were read.
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

/// Whether the plan of a private repository has neither rulesets nor protection.
pub(crate) fn is_not_in_plan(failure: &Failure) -> bool {
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
    if is_unprotected(client, (pull, seen), &path).await? {
        return Ok(Demands::default());
    }
    let protection: wire::Protection = match client.get(&pull.repo, &path, &doing).await {
        Err(failure)
            if failure.class == FailureClass::NotFound
                && failure.message.contains(NOT_PROTECTED) =>
        {
            client.unprotected().note(&path, None);
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

/// Whether a branch that had no classic protection still has none.
///
/// "Not protected" for the branch itself is a 404, which costs a request each time; the list of protected branches
/// costs none while it stays the same.
/// A branch that rulesets protect is in that list with its tip, so each merge changes it.
/// For such a branch GitHub's own state of this pull request, read together with it, is enough for a while: with new
/// classic protection and an unmet requirement the pull request would not be clean.
async fn is_unprotected(
    client: &Client,
    (pull, seen): (&PullRef, &Seen),
    path: &str,
) -> Result<bool, Failure> {
    let Some(ruled_at) = client.unprotected().find(path) else {
        return Ok(false);
    };
    let now = client.clock().now();
    let lately = |at| now.duration_since(at).abs() < RULED_LASTS;
    if seen.is_clean && ruled_at.is_some_and(lately) {
        return Ok(true);
    }
    let listed = listed(client, pull, seen).await?;
    match listed {
        Listed::Absent => client.unprotected().note(path, None),
        Listed::ByRulesets => client.unprotected().note(path, Some(now)),
        Listed::Perhaps => client.unprotected().forget(path),
    }
    Ok(listed != Listed::Perhaps)
}

/// What the list of protected branches says of a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// Nothing protects it.
    Absent,
    /// Rulesets do, and classic protection is off.
    ByRulesets,
    /// Classic protection may be on; so it may be where nothing could be listed.
    Perhaps,
}

async fn listed(client: &Client, pull: &PullRef, seen: &Seen) -> Result<Listed, Failure> {
    let path = format!("/repos/{}/branches?protected=true", pull.repo);
    let listing = Listing {
        repo: &pull.repo,
        path: &path,
        pages_max: PROTECTED_PAGES_MAX,
        doing: &format!("reading the protected branches of {}", pull.repo),
    };
    let read = client.list::<Vec<wire::NamedBranch>>(&listing).await;
    let branches = match settle(read, CONTENTS_READ)? {
        Fact::Known(branches) => branches,
        Fact::Forbidden { .. } | Fact::Unknown { .. } => return Ok(Listed::Perhaps),
    };
    let ours = |branch: &&wire::NamedBranch| branch.name == seen.base.branch.as_str();
    Ok(match branches.iter().find(ours) {
        None => Listed::Absent,
        Some(branch) => match branch.protection.as_ref().and_then(|it| it.enabled) {
            Some(false) => Listed::ByRulesets,
            Some(true) | None => Listed::Perhaps,
        },
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
