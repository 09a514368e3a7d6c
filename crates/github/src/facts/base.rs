//! What rulesets and classic protection demand of a base branch: merging and the doctor read it here.

use domain::facts::{Demands, RequiredCheck};
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, RepoName};
use domain::policy::MergeMethod;
use serde::de::DeserializeOwned;

use crate::client::{Client, failure, segment};
use crate::wire;

/// 500 rules on one branch.
const RULE_PAGES_MAX: usize = 5;

/// GitHub's 404 for a branch without classic protection.
const NOT_PROTECTED: &str = "Branch not protected";

/// GitHub's 404 for a credential without administration rights: the branch itself exists, since its rules were read.
const NOT_ADMINISTRATED: &str = "GitHub answered 404: Not Found";

/// GitHub's 403 where the plan of a private repository has neither rulesets nor protection, so that nothing is demanded.
const NOT_IN_PLAN: &str = "Upgrade to GitHub";

/// What rulesets demand.
#[derive(Debug, Default)]
pub(crate) struct BranchRules {
    /// Checks, approvals, queue.
    pub(crate) demands: Demands,
    /// The merge methods that every rule allows; none when they do not say.
    pub(crate) methods: Option<Vec<MergeMethod>>,
    /// The ids of the rulesets that apply.
    pub(crate) rulesets: Vec<u64>,
}

/// What classic protection demands.
#[derive(Debug)]
pub(crate) struct BranchProtection {
    /// Checks and approvals.
    pub(crate) demands: Demands,
    /// Whether it holds for administrators too.
    pub(crate) admins_too: bool,
}

/// Reads the rules of rulesets.
pub(crate) async fn rules(
    client: &Client,
    repo: &RepoName,
    base: &BranchName,
) -> Result<BranchRules, Failure> {
    let doing = format!("reading the rules of {repo}'s branch {base}");
    let path = format!("/repos/{repo}/rules/branches/{}", segment(base.as_str()));
    let found = match client
        .list::<Vec<wire::Rule>>(repo, &path, RULE_PAGES_MAX, &doing)
        .await
    {
        Err(failure) if is_not_in_plan(&failure) => Vec::new(),
        read => read?,
    };
    let mut rules = BranchRules::default();
    for rule in found {
        rules.add(rule, &doing)?;
    }
    Ok(rules)
}

impl BranchRules {
    /// GitHub itself enforces rules of other types: it refuses the merge.
    fn add(&mut self, rule: wire::Rule, doing: &str) -> Result<(), Failure> {
        if let Some(id) = rule.ruleset_id.filter(|id| !self.rulesets.contains(id)) {
            self.rulesets.push(id);
        }
        match rule.kind.as_str() {
            "required_status_checks" => {
                let wanted: wire::StatusChecksRule = parameters(rule, doing)?;
                self.demands.up_to_date |= wanted.strict_required_status_checks_policy;
                for check in wanted.required_status_checks {
                    add_check(&mut self.demands, check.context, check.integration_id);
                }
            }
            "pull_request" => {
                let wanted: wire::PullRequestRule = parameters(rule, doing)?;
                let approvals = wanted.required_approving_review_count;
                self.demands.approvals = self.demands.approvals.max(approvals);
                if let Some(names) = wanted.allowed_merge_methods {
                    self.allow(|method| {
                        let named = |name: &String| name.eq_ignore_ascii_case(method.as_str());
                        names.iter().any(named)
                    });
                }
            }
            "merge_queue" => self.demands.merge_queue = true,
            "required_linear_history" => self.allow(|method| method != MergeMethod::Merge),
            _other => {}
        }
        Ok(())
    }

    /// Only methods that every rule allows remain.
    fn allow(&mut self, allowed: impl Fn(MergeMethod) -> bool) {
        let all = || vec![MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase];
        self.methods
            .get_or_insert_with(all)
            .retain(|method| allowed(*method));
    }
}

/// Whether the plan of a private repository has neither rulesets nor protection.
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

/// Where classic protection is read.
pub(super) fn protection_path(repo: &RepoName, base: &BranchName) -> String {
    format!(
        "/repos/{repo}/branches/{}/protection",
        segment(base.as_str())
    )
}

/// Reads classic protection; none when the branch has none, which the client remembers.
pub(crate) async fn protection(
    client: &Client,
    repo: &RepoName,
    base: &BranchName,
) -> Result<Option<BranchProtection>, Failure> {
    let doing = format!("reading the protection of {repo}'s branch {base}");
    let path = protection_path(repo, base);
    let is_absent = |failure: &Failure, said: &str| {
        failure.class == FailureClass::NotFound && failure.message.contains(said)
    };
    match client.get::<wire::Protection>(repo, &path, &doing).await {
        Err(failure) if is_absent(&failure, NOT_PROTECTED) => {
            client.unprotected().note(&path, None);
            Ok(None)
        }
        Err(failure) if is_not_in_plan(&failure) => Ok(None),
        Err(failure) if is_absent(&failure, NOT_ADMINISTRATED) => Err(self::failure(
            FailureClass::Forbidden,
            &format!("{doing}: Must have admin rights to Repository."),
        )),
        read => read.map(|found| Some(found.into())),
    }
}

impl From<wire::Protection> for BranchProtection {
    fn from(found: wire::Protection) -> Self {
        let mut demands = Demands::default();
        if let Some(wanted) = found.required_status_checks {
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
        demands.approvals = found
            .required_pull_request_reviews
            .map_or(0, |reviews| reviews.required_approving_review_count);
        Self {
            demands,
            admins_too: found.enforce_admins.and_then(|it| it.enabled) == Some(true),
        }
    }
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
