//! What a merge needs: checks that run, a method that is allowed, and rules that hold for us too; and
//! what follows it.

use super::code::Code;
use super::finding::{Finding, names, outside};
use super::repository::{ReportedChecks, Repository};
use crate::delivery::{Deploy, Phase};
use crate::facts::{Demands, Fact, RequiredCheck};
use crate::merge::source_checks_suffice;
use crate::policy::{MergeMethod, MergePolicy, Source};

/// What the source's own settings allow by themselves.
pub(super) fn policy(source: &Source) -> Option<Finding> {
    let policy = &source.policy;
    match policy.merge {
        MergePolicy::OnGreen | MergePolicy::Integration
            if policy.min_checks == 0 && policy.required_checks.is_empty() =>
        {
            let what = "it merges on green with `min_checks` at 0";
            Some(Finding::new(Code::NoMinimum, &source.repo, what))
        }
        MergePolicy::OnGreen | MergePolicy::Integration | MergePolicy::Human => None,
    }
}

pub(super) fn examine(source: &Source, repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(unknown(source, repository));
    findings.extend(bypass(source, repository));
    findings.extend(checks(source, repository));
    findings.extend(queue(source, repository));
    findings.extend(method(source, repository));
    findings.extend(deploy(source, repository));
    findings
}

/// All known requirements of the branch, from rulesets and classic protection.
pub(super) fn demands(repository: &Repository) -> Demands {
    let rules = repository.rules.known().map(|rules| &rules.demands);
    let classic = repository
        .protection
        .known()
        .and_then(|protection| protection.as_ref())
        .map(|protection| &protection.demands);
    let mut all = Demands::default();
    for demands in [rules, classic].into_iter().flatten() {
        for check in &demands.checks {
            if !all.checks.contains(check) {
                all.checks.push(check.clone());
            }
        }
        all.approvals = all.approvals.max(demands.approvals);
        all.up_to_date |= demands.up_to_date;
        all.merge_queue |= demands.merge_queue;
    }
    all
}

/// Classic protection that the credential may not read, with no listed checks in its place.
fn unknown(source: &Source, repository: &Repository) -> Option<Finding> {
    let Fact::Forbidden { permission } = &repository.protection else {
        return None;
    };
    let what = format!("`{}` is missing", outside(permission));
    (!source_checks_suffice(&source.policy))
        .then(|| Finding::new(Code::ProtectionUnknown, &source.repo, what))
}

fn bypass(source: &Source, repository: &Repository) -> Vec<Finding> {
    let about = &source.repo;
    let mut findings = Vec::new();
    let admin = repository.may.is_some_and(|may| may.admin);
    let protection = repository.protection.known().and_then(Option::as_ref);
    if admin && protection.is_some_and(|protection| !protection.admins_too) {
        let what = "the credential's owner is an administrator there";
        findings.push(Finding::new(Code::BypassesProtection, about, what));
    }
    let bypassed = repository.rules.known().map(|rules| &rules.bypassed);
    if let Some(bypassed) = bypassed.filter(|bypassed| !bypassed.is_empty()) {
        let what = format!("it may bypass {}", names(bypassed));
        findings.push(Finding::new(Code::BypassesRuleset, about, what));
    }
    findings
}

fn checks(source: &Source, repository: &Repository) -> Vec<Finding> {
    let about = &source.repo;
    let policy = &source.policy;
    let mut required = demands(repository).checks;
    required.extend(policy.required_checks.iter().map(|name| RequiredCheck {
        name: name.clone(),
        app: None,
    }));
    let mut findings = Vec::new();
    // Without a list of pull requests only the base was read, and many checks never run there.
    let seen = repository
        .checks
        .known()
        .filter(|_| repository.pulls.known().is_some());
    let workflows = repository
        .workflows
        .known()
        .map(|workflows| workflows.files.len());
    let silent = seen.is_some_and(|seen| seen.seen.is_empty());
    if silent && workflows == Some(0) {
        if policy.min_checks > 0 || !required.is_empty() {
            let what = "it has no workflow, and nothing reported a check lately";
            findings.push(Finding::new(Code::NoCi, about, what));
        }
    } else if let Some(seen) = seen.filter(|seen| seen.heads > 0 || !seen.seen.is_empty()) {
        findings.extend(
            required
                .iter()
                .filter_map(|check| never(source, seen, check)),
        );
    }
    let on_its_own = policy.merge.is_by_itself() && policy.min_checks > 0;
    let demands_known =
        repository.rules.known().is_some() && repository.protection.known().is_some();
    if on_its_own && required.is_empty() && demands_known {
        let what =
            "it merges on green, and neither the branch's rules nor its settings name a check";
        findings.push(Finding::new(Code::NothingRequired, about, what));
    }
    findings
}

/// A required check that nothing, or only another App, reported.
fn never(source: &Source, seen: &ReportedChecks, check: &RequiredCheck) -> Option<Finding> {
    let named: Vec<&Option<u64>> = seen
        .seen
        .iter()
        .filter(|(name, _)| *name == check.name)
        .map(|(_, app)| app)
        .collect();
    let name = outside(&check.name);
    let (code, what) = if named.is_empty() {
        let what = format!(
            "`{name}` must pass, and it was reported on none of the {} newest commits that were looked at",
            seen.heads + 1
        );
        (Code::CheckNeverRuns, what)
    } else {
        let wanted = check.app?;
        // A commit status names no App, so nothing can be said against it.
        if named.iter().any(|app| app.is_none_or(|app| app == wanted)) {
            return None;
        }
        let what = format!("`{name}` must come from App {wanted}, and another one reports it");
        (Code::CheckWrongApp, what)
    };
    Some(Finding::new(code, &source.repo, what).with("CHECK", format!("`{name}`")))
}

fn queue(source: &Source, repository: &Repository) -> Vec<Finding> {
    let about = &source.repo;
    if !demands(repository).merge_queue {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if source.policy.merge.is_by_itself() {
        let what = "it merges on green, and the branch merges through a queue";
        findings.push(Finding::new(Code::MergeQueue, about, what));
    }
    let spoken_of = repository
        .workflows
        .known()
        .and_then(|workflows| workflows.merge_group);
    if spoken_of == Some(false) {
        let what = "no file under .github/workflows speaks of `merge_group`";
        findings.push(Finding::new(Code::MergeGroupMissing, about, what));
    }
    findings
}

/// A workflow that deploys and is not there: each delivery would fail after its merge.
fn deploy(source: &Source, repository: &Repository) -> Option<Finding> {
    let Deploy::Workflow { file, .. } = &source.deliveries.deploy else {
        return None;
    };
    let is_reached = source.deliveries.endpoint.phase() >= Phase::Deploy;
    let path = format!(".github/workflows/{file}");
    let known = repository.workflows.known()?;
    if !is_reached || known.files.contains(&path) {
        return None;
    }
    let what = format!("its deliveries are deployed by `{file}`, which is no active workflow");
    let finding = Finding::new(Code::DeployMissing, &source.repo, what);
    Some(finding.with("FILE", file))
}

fn method(source: &Source, repository: &Repository) -> Option<Finding> {
    let wanted = source.policy.merge_method;
    let by_rules = repository
        .rules
        .known()
        .and_then(|rules| rules.methods.as_ref());
    let allowed = |method: &MergeMethod| {
        let in_list =
            |list: Option<&Vec<MergeMethod>>| list.is_none_or(|list| list.contains(method));
        in_list(repository.methods.as_ref()) && in_list(by_rules)
    };
    if allowed(&wanted) {
        return None;
    }
    let other = [MergeMethod::Squash, MergeMethod::Merge, MergeMethod::Rebase]
        .into_iter()
        .find(|method| allowed(method));
    let what = format!(
        "it merges by `{}`, which is not allowed there",
        wanted.as_str()
    );
    let finding = Finding::new(Code::MethodOff, &source.repo, what);
    Some(finding.with("METHOD", other.map_or("HOW", MergeMethod::as_str)))
}
