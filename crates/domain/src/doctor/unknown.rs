//! Facts that could not be read: the doctor calls nothing fine that it has not read.

use super::code::Code;
use super::facts::{AccountFacts, InstallationFacts, SourceFacts};
use super::finding::{Finding, outside};
use super::merging::demands;
use super::repository::{Repository, RepositoryFacts};
use crate::facts::Fact;
use crate::policy::Source;

/// A finding about an unread fact; `None` if it was read.
pub(super) fn unknown_fact<T>(about: impl ToString, what: &str, fact: &Fact<T>) -> Option<Finding> {
    let why = match fact {
        Fact::Known(_) => return None,
        Fact::Forbidden { permission } => format!("`{}` is missing", outside(permission)),
        Fact::Unknown { why } => outside(why),
    };
    let what = format!("{what} could not be seen: {why}");
    Some(Finding::new(Code::NotLookedAt, about, what))
}

/// The permission for want of which a fact could not be read.
pub(super) fn forbidden<T>(fact: &Fact<T>) -> Option<&str> {
    match fact {
        Fact::Forbidden { permission } => Some(permission),
        Fact::Known(_) | Fact::Unknown { .. } => None,
    }
}

/// Everything of a source that could not be read and that no other finding covers.
pub(super) fn examine(facts: &SourceFacts, installation: &InstallationFacts) -> Vec<Finding> {
    let source = &facts.source;
    let mut findings: Vec<Finding> = in_jules(facts, installation).into_iter().collect();
    match &facts.repository {
        Some(RepositoryFacts::Found(repository)) => findings.extend(in_github(source, repository)),
        // Another finding says why the list is empty.
        Some(_) => {}
        None => findings.push(not_asked(source)),
    }
    findings
}

fn in_jules(facts: &SourceFacts, installation: &InstallationFacts) -> Option<Finding> {
    let source = &facts.source;
    let of_account = |account: &&AccountFacts| account.name == source.account;
    // Another finding reports the missing account.
    let account = installation.accounts.iter().find(of_account)?;
    let what = "its connection to Jules";
    let unknown = |why: &str| Fact::<()>::Unknown {
        why: why.to_owned(),
    };
    match &account.connected {
        Some(Ok(_)) => unknown_fact(
            &source.repo,
            "which branches Jules sees",
            &facts.jules_branches,
        ),
        Some(Err(failure)) => unknown_fact(&source.repo, what, &unknown(&failure.message)),
        None => {
            let why = format!("Jules was not asked for account `{}`", account.name);
            unknown_fact(&source.repo, what, &unknown(&why))
        }
    }
}

/// GitHub is asked about a branch, with a credential that it takes.
fn not_asked(source: &Source) -> Finding {
    if source.branch.is_none() {
        let why = "the source names no branch to ask for".to_owned();
        let what = "its repository and its rules could not be seen: ";
        return Finding::new(Code::NotLookedAt, &source.repo, format!("{what}{why}"));
    }
    let what = "GitHub was not asked about it; what stands in the way is told of the credential";
    Finding::new(Code::RepoUnseen, &source.repo, what)
}

fn in_github(source: &Source, repository: &Repository) -> Vec<Finding> {
    if repository.base == Fact::Known(false) {
        // A missing branch has no facts.
        return Vec::new();
    }
    let about = &source.repo;
    let mut findings: Vec<Finding> = [
        unknown(about, "whether its base branch is there", &repository.base),
        unknown(about, "its pull requests", &repository.pulls),
        unknown(about, "what reports checks", &repository.checks),
        unknown(about, "what rulesets demand", &repository.rules),
        unknown(
            about,
            "what classic protection demands",
            &repository.protection,
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    // What an App may not read for want of permissions, or such a token of anything, needs no line of its own.
    let told = !repository.lacks(source).is_empty() || forbidden(&repository.checks).is_some();
    findings.extend(unless(told, about, "its workflows", &repository.workflows));
    findings.extend(unless(
        told,
        about,
        "whether it has a label `jules`",
        &repository.jules_label,
    ));
    if demands(repository).approvals > 0 {
        findings.extend(unless(
            told,
            about,
            "who may approve",
            &repository.reviewers,
        ));
    }
    findings
}

/// A fact that could not be read for another reason than a missing permission, which other findings report.
fn unknown<T>(about: impl ToString, what: &str, fact: &Fact<T>) -> Option<Finding> {
    match fact {
        Fact::Known(_) | Fact::Forbidden { .. } => None,
        Fact::Unknown { .. } => unknown_fact(about, what, fact),
    }
}

/// Reports missing permissions too, unless another finding covers them.
fn unless<T>(told: bool, about: impl ToString, what: &str, fact: &Fact<T>) -> Option<Finding> {
    if told {
        unknown(about, what, fact)
    } else {
        unknown_fact(about, what, fact)
    }
}
