//! Requirements of the base branch: its rulesets, which anyone may read, and classic protection, which few may.

use domain::facts::{Demands, Fact, UnreadReason};
use domain::failure::Failure;
use domain::ids::PullRef;
use jiff::SignedDuration;

use super::pull::PullAnswer;
use super::{base, settle};
use crate::client::{Client, segment};
use crate::wire;

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

/// Reads all demands, and how far the head is behind if that matters.
pub(super) async fn read(
    client: &Client,
    pull: &PullRef,
    seen: &PullAnswer,
) -> Result<Fact<Demands>, Failure> {
    let (rules, classic) = tokio::join!(
        base::rules(client, &pull.repo, &seen.base.branch),
        classic(client, pull, seen)
    );
    let rules = rules.map(|rules| rules.demands);
    let mut demands = match settle(rules, RULES_READ)? {
        Fact::Known(demands) => demands,
        other @ (Fact::Forbidden { .. } | Fact::Unknown { .. }) => return Ok(other),
    };
    match settle(classic, PROTECTION_READ)? {
        Fact::Known(classic) => demands = join(demands, classic),
        Fact::Forbidden { permission } => {
            demands.unread = Some(UnreadReason::Forbidden { permission })
        }
        Fact::Unknown { why } => demands.unread = Some(UnreadReason::Unknown { why }),
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

async fn classic(client: &Client, pull: &PullRef, seen: &PullAnswer) -> Result<Demands, Failure> {
    let path = base::protection_path(&pull.repo, &seen.base.branch);
    if is_unprotected(client, pull, seen, &path).await? {
        return Ok(Demands::default());
    }
    let found = base::protection(client, &pull.repo, &seen.base.branch).await?;
    Ok(found.map_or_else(Demands::default, |found| found.demands))
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
    pull: &PullRef,
    seen: &PullAnswer,
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

async fn listed(client: &Client, pull: &PullRef, seen: &PullAnswer) -> Result<Listed, Failure> {
    let path = format!("/repos/{}/branches?protected=true", pull.repo);
    let doing = format!("reading the protected branches of {}", pull.repo);
    let read = client
        .list::<Vec<wire::NamedBranch>>(&pull.repo, &path, PROTECTED_PAGES_MAX, &doing)
        .await;
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

async fn behind_by(client: &Client, pull: &PullRef, seen: &PullAnswer) -> Result<u64, Failure> {
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
