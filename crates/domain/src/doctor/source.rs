//! Findings about a source: its references, Jules's view of it, and GitHub's view of its repository.

use super::code::Code;
use super::credential_kind::CredentialKind;
use super::facts::{AccountFacts, InstallationFacts, SourceFacts};
use super::finding::{Area, Finding, names, outside};
use super::repository::{Repository, RepositoryFacts};
use super::unknown::forbidden;
use super::{credential, merging, people, unknown, webhooks};
use crate::facts::Fact;
use crate::ids::{BranchName, RepoId, RepoName};
use crate::merge::source_checks_suffice;
use crate::policy::Source;

pub(super) fn examine(installation: &InstallationFacts, folder: &str) -> Vec<Finding> {
    if installation.sources.is_empty() {
        let what = "there is none";
        return vec![Finding::new(Code::NoSource, "sources", what)];
    }
    installation
        .sources
        .iter()
        .flat_map(|facts| examine_source(facts, installation, folder))
        .collect()
}

/// Reports what is fine only where everything was read and nothing is wrong.
fn examine_source(
    facts: &SourceFacts,
    installation: &InstallationFacts,
    folder: &str,
) -> Vec<Finding> {
    let source = &facts.source;
    let mut findings = settings(facts);
    findings.extend(in_jules(facts, installation));
    findings.extend(merging::policy(source));
    findings.extend(unknown::examine(facts, installation));
    match &facts.repository {
        Some(RepositoryFacts::Found(repository)) => {
            let kind = installation.github.kept.kind();
            if let (Some(was), Some(by)) = (facts.number, repository.id)
                && was != by
            {
                findings.push(replaced(source, was, by));
            }
            findings.extend(in_github(source, repository, kind));
            findings.extend(webhooks::examine(source, repository, installation, folder));
        }
        Some(other) => {
            let kind = installation.github.kept.kind();
            findings.extend(no_repository(source, facts.number, other, kind));
        }
        None => {}
    }
    findings.extend(facts.unread.as_deref().map(|why| {
        let what = format!("its issues could not be read: {}", outside(why));
        Finding::new(Code::IssuesUnread, &source.repo, what)
    }));
    findings.extend(facts.schedule_unread.as_deref().map(|why| {
        let what = format!(
            "the schedule of its pipeline cannot be read: {}",
            outside(why)
        );
        Finding::new(Code::ScheduleUnread, &source.repo, what)
    }));
    if !findings.iter().any(|finding| finding.cause.is_some()) {
        let what = fine(facts, installation, folder);
        findings.insert(0, Finding::ok(Area::Source, &source.repo, what));
    }
    let branch = source.branch.as_ref().map_or("main", BranchName::as_str);
    findings
        .into_iter()
        .map(|finding| finding.with("REPO", &source.repo).with("BRANCH", branch))
        .collect()
}

/// The text about a source without problems.
fn fine(facts: &SourceFacts, installation: &InstallationFacts, folder: &str) -> &'static str {
    if !credential::is_fine(installation, folder) {
        return "Jules and GitHub show it";
    }
    let stood_in = match &facts.repository {
        Some(RepositoryFacts::Found(repository)) => {
            forbidden(&repository.protection).is_some() || forbidden(&repository.rules).is_some()
        }
        Some(_) | None => false,
    };
    if stood_in {
        "Jules and GitHub show it, and the checks that it lists stand in for the branch's rules, which may not be read"
    } else {
        "Jules and GitHub show it, and what is demanded of a merge can be met"
    }
}

fn settings(facts: &SourceFacts) -> Vec<Finding> {
    let source = &facts.source;
    let about = &source.repo;
    let mut findings = Vec::new();
    if !facts.account_known {
        let what = format!("it names the account `{}`", source.account);
        let finding = Finding::new(Code::AccountUnknown, about, what);
        findings.push(finding.with("ACCOUNT", &source.account));
    }
    if let Some(agent) = source.agent.as_ref().filter(|_| !facts.agent_known) {
        let what = format!("it names the agent `{agent}`");
        findings.push(Finding::new(Code::AgentUnknown, about, what).with("AGENT", agent));
    }
    if source.paused {
        findings.push(Finding::new(Code::SourcePaused, about, "it is paused"));
    }
    if source.branch.is_none() {
        findings.push(Finding::new(Code::NoBranch, about, "it names none"));
    }
    findings
}

fn in_jules(facts: &SourceFacts, installation: &InstallationFacts) -> Option<Finding> {
    let source = &facts.source;
    let of_account = |account: &&AccountFacts| account.name == source.account;
    let account = installation.accounts.iter().find(of_account)?;
    let connected = account.connected.as_ref()?.as_ref().ok()?;
    if !connected.contains(&source.repo) {
        let what = format!(
            "Jules shows the account `{}` {}",
            account.name,
            others(connected)
        );
        return Some(Finding::new(Code::NotConnected, &source.repo, what));
    }
    let branch = source.branch.as_ref()?;
    let branches = facts.jules_branches.known()?.as_ref()?;
    if branches.is_empty() || branches.contains(branch) {
        return None;
    }
    let shown: Vec<&str> = branches.iter().map(BranchName::as_str).collect();
    let what = format!("its base is `{branch}`, and Jules sees {}", names(&shown));
    Some(Finding::new(Code::BranchNotInJules, &source.repo, what))
}

fn others(connected: &[RepoName]) -> String {
    let shown: Vec<String> = connected.iter().map(ToString::to_string).collect();
    if shown.is_empty() {
        "no repository at all".to_owned()
    } else {
        format!("other repositories: {}", names(&shown))
    }
}

/// Reports a renamed repository: it keeps its registered name here; another one of that name is never touched.
fn renamed(
    source: &Source,
    to: Option<&str>,
    id: Option<RepoId>,
    number: Option<RepoId>,
) -> Finding {
    // Only a name that is one goes into a command.
    let to = to.and_then(|to| to.parse::<RepoName>().ok());
    let (what, name) = match to {
        Some(to) => (format!("its name is `{to}` now"), to.to_string()),
        None => ("it has another name now".to_owned(), "OWNER/NEW".to_owned()),
    };
    let code = match (number, id) {
        (None, _) => Code::RepoMoved,
        (Some(number), Some(id)) if number != id => {
            return replaced(source, number, id);
        }
        (Some(_), _) => Code::RepoRenamed,
    };
    Finding::new(code, &source.repo, what).with("NEWNAME", name)
}

fn replaced(source: &Source, was: RepoId, by: RepoId) -> Finding {
    let what = format!("its number is {by}, and {was} was registered");
    Finding::new(Code::RepoReplaced, &source.repo, what).with("NUMBER", by)
}

fn no_repository(
    source: &Source,
    number: Option<RepoId>,
    facts: &RepositoryFacts,
    kind: Option<CredentialKind>,
) -> Option<Finding> {
    let about = &source.repo;
    Some(match facts {
        RepositoryFacts::Found(_) => return None,
        RepositoryFacts::Renamed { to, id } => renamed(source, to.as_deref(), *id, number),
        RepositoryFacts::Absent => Finding::new(Code::RepoAbsent, about, "GitHub answers 404"),
        RepositoryFacts::AppNotInstalled => Finding::new(
            Code::AppNotInstalled,
            about,
            "GitHub shows no installation there",
        ),
        RepositoryFacts::AppSuspended => Finding::new(
            Code::AppSuspended,
            about,
            "the installation there is suspended",
        ),
        // Those tokens have no permission for check runs, and are refused for that alone.
        RepositoryFacts::Forbidden { why } if kind == Some(CredentialKind::GithubFineGrained) => {
            Finding::new(Code::ChecksForbidden, about, outside(why))
        }
        RepositoryFacts::Forbidden { why } => {
            Finding::new(Code::ReadForbidden, about, outside(why))
        }
        RepositoryFacts::Trouble { why } => Finding::new(Code::RepoUnseen, about, outside(why)),
    })
}

fn in_github(
    source: &Source,
    repository: &Repository,
    kind: Option<CredentialKind>,
) -> Vec<Finding> {
    let about = &source.repo;
    if let (Some(CredentialKind::GithubFineGrained), Fact::Forbidden { permission }) =
        (kind, &repository.checks)
    {
        // Such a token is refused for this alone, so nothing else was asked with it.
        let what = format!("`{}` is missing", outside(permission));
        return vec![Finding::new(Code::ChecksForbidden, about, what)];
    }
    let mut findings = rights(source, repository);
    if repository.archived {
        let what = "it is archived or disabled";
        findings.push(Finding::new(Code::RepoArchived, about, what));
    }
    if repository.base == Fact::Known(false) {
        findings.push(Finding::new(
            Code::BaseMissing,
            about,
            "GitHub has no such branch",
        ));
        return findings;
    }
    findings.extend(merging::examine(source, repository));
    findings.extend(people::examine(source, repository));
    if repository.jules_label == Fact::Known(true) {
        let what = "it has a label `jules`";
        findings.push(Finding::new(Code::JulesLabel, about, what));
    }
    findings
}

/// What the credential may not do there.
fn rights(source: &Source, repository: &Repository) -> Vec<Finding> {
    let about = &source.repo;
    let mut findings = Vec::new();
    let lacking = repository.lacks(source);
    if !lacking.is_empty() {
        let what = format!("it lacks {}", names(&lacking));
        findings.push(Finding::new(Code::AppPermission, about, what));
        // Facts that are unreadable for that reason need no line of their own.
        return findings;
    }
    if repository.may.is_some_and(|may| !may.push) {
        let what = "GitHub says that the credential may read and not push";
        findings.push(Finding::new(Code::CannotWrite, about, what));
    }
    if let Fact::Forbidden { permission } = &repository.checks {
        let what = format!("`{}` is missing", outside(permission));
        findings.push(Finding::new(Code::ChecksForbidden, about, what));
    }
    let rules = forbidden(&repository.rules).filter(|_| !source_checks_suffice(&source.policy));
    let reads = [
        forbidden(&repository.base),
        forbidden(&repository.pulls),
        rules,
    ];
    for permission in reads.into_iter().flatten() {
        let what = format!("`{}` is missing", outside(permission));
        findings.push(Finding::new(Code::ReadForbidden, about, what));
    }
    findings
}
