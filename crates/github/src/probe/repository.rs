//! One repository: whether it exists, the credential's permissions in it, and its settings.

use domain::doctor::{Permissions, Protection, Repository, RepositoryFacts, RulesetDemands};
use domain::facts::Fact;
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, RepoId, RepoName};
use domain::policy::MergeMethod;

use super::{ci, fact, webhooks, wire};
use crate::client::{Client, answered, branch_path};
use crate::facts::base as demanded;
use crate::wire::User;

/// A thousand people with write access.
const PEOPLE_PAGES_MAX: usize = 10;

pub(super) async fn read(
    client: &Client,
    repo: &RepoName,
    base: &BranchName,
    missing: Vec<String>,
) -> RepositoryFacts {
    let found = match itself(client, repo).await {
        Ok(Found::Here(found)) => found,
        Ok(Found::Elsewhere(there)) => {
            let (to, id) = there.map_or((None, None), |it| (Some(it.full_name), it.id));
            let id = id.map(RepoId);
            return RepositoryFacts::Renamed { to, id };
        }
        Ok(Found::Nowhere) => return RepositoryFacts::Absent,
        Err(failure) => {
            let why = failure.message;
            return if failure.class == FailureClass::Forbidden {
                RepositoryFacts::Forbidden { why }
            } else {
                RepositoryFacts::Trouble { why }
            };
        }
    };
    let recent = ci::recent(client, repo).await;
    let (rules, protection, head) = tokio::join!(
        rules(client, repo, base),
        demanded::protection(client, repo, base),
        head(client, repo, base),
    );
    let queued = rules.known().is_some_and(|rules| rules.demands.merge_queue);
    let commit = head.known().and_then(Option::as_ref);
    let (checks, workflows, reviewers, jules_label, hooks) = tokio::join!(
        ci::checks(client, repo, commit, &recent),
        ci::workflows(client, repo, queued),
        reviewers(client, repo),
        label(client, repo),
        webhooks::of_repository(client, repo),
    );
    RepositoryFacts::Found(Box::new(Repository {
        id: found.id.map(RepoId),
        archived: found.archived || found.disabled,
        may: found.permissions.as_ref().map(|may| Permissions {
            admin: may.admin,
            push: may.push || may.maintain || may.admin,
        }),
        missing,
        methods: methods(&found),
        base: is_there(head),
        checks,
        pulls: pulls(&recent),
        workflows,
        rules,
        protection: fact(protection.map(shown), "Administration: read", true),
        reviewers,
        authors: ci::authors(&recent),
        jules_label,
        hooks,
    }))
}

enum Found {
    Here(wire::ProbedRepository),
    Elsewhere(Option<wire::ProbedRepository>),
    Nowhere,
}

async fn itself(client: &Client, repo: &RepoName) -> Result<Found, Failure> {
    let doing = format!("looking at {repo}");
    let path = format!("/repos/{repo}");
    let (found, there) = match client.look_at(repo, &path, &doing).await {
        Ok(found) => found,
        Err(failure) if failure.class == FailureClass::NotFound => return Ok(Found::Nowhere),
        Err(failure) => return Err(failure),
    };
    if found.status.is_redirection() {
        let there = there.and_then(|there| answered::<wire::ProbedRepository>(&there, &doing).ok());
        return Ok(Found::Elsewhere(
            there.filter(|there| !there.full_name.is_empty()),
        ));
    }
    if matches!(found.status.as_u16(), 404 | 410) {
        return Ok(Found::Nowhere);
    }
    let found: wire::ProbedRepository = answered(&found, &doing)?;
    // Names are compared as GitHub does; another name means that the old one is only led on.
    if !found.full_name.is_empty() && !found.full_name.eq_ignore_ascii_case(&repo.to_string()) {
        return Ok(Found::Elsewhere(Some(found)));
    }
    Ok(Found::Here(found))
}

/// The allowed methods; GitHub returns them to credentials that may write.
fn methods(found: &wire::ProbedRepository) -> Option<Vec<MergeMethod>> {
    let all = [
        (MergeMethod::Merge, found.allow_merge_commit?),
        (MergeMethod::Squash, found.allow_squash_merge?),
        (MergeMethod::Rebase, found.allow_rebase_merge?),
    ];
    let allowed = all.into_iter().filter(|(_, allowed)| *allowed);
    Some(allowed.map(|(method, _)| method).collect())
}

/// What rulesets demand, and which of them the credential may bypass.
async fn rules(client: &Client, repo: &RepoName, base: &BranchName) -> Fact<RulesetDemands> {
    let found = match demanded::rules(client, repo, base).await {
        Ok(found) => found,
        Err(failure) => return fact(Err(failure), "Metadata: read", false),
    };
    let doing = format!("reading the rules of {repo}'s branch {base}");
    let mut bypassed = Vec::new();
    for id in found.rulesets {
        let path = format!("/repos/{repo}/rulesets/{id}");
        // Rulesets of an organization may be unreadable here; then nothing is reported.
        let read = client.get::<wire::Ruleset>(repo, &path, &doing).await;
        bypassed.extend(read.ok().filter(wire::Ruleset::may_be_bypassed));
    }
    Fact::Known(RulesetDemands {
        demands: found.demands,
        methods: found.methods,
        bypassed: bypassed.into_iter().map(|it| it.name).collect(),
    })
}

fn shown(found: Option<demanded::BranchProtection>) -> Option<Protection> {
    found.map(|found| Protection {
        demands: found.demands,
        admins_too: found.admins_too,
    })
}

/// The newest commit of the base; none when there is no such branch.
async fn head(client: &Client, repo: &RepoName, base: &BranchName) -> Fact<Option<CommitSha>> {
    let doing = format!("looking for {repo}'s branch {base}");
    let path = format!("/repos/{repo}/branches/{}", branch_path(base.as_str()));
    match client.get::<wire::Branch>(repo, &path, &doing).await {
        Err(failure) if failure.class == FailureClass::NotFound => Fact::Known(None),
        read => fact(
            read.map(|found| Some(found.commit.sha)),
            "Contents: read",
            false,
        ),
    }
}

fn is_there(head: Fact<Option<CommitSha>>) -> Fact<bool> {
    match head {
        Fact::Known(head) => Fact::Known(head.is_some()),
        Fact::Forbidden { permission } => Fact::Forbidden { permission },
        Fact::Unknown { why } => Fact::Unknown { why },
    }
}

fn pulls(recent: &Result<Vec<wire::ProbedPull>, Failure>) -> Fact<()> {
    let read = recent.as_ref().map(|_| ()).map_err(Clone::clone);
    fact(read, "Pull requests: read", true)
}

/// People with write access; bots cannot be asked for a review.
async fn reviewers(client: &Client, repo: &RepoName) -> Fact<Vec<String>> {
    let doing = format!("listing who may write to {repo}");
    let path = format!("/repos/{repo}/collaborators?permission=push");
    let read = client
        .list::<Vec<User>>(repo, &path, PEOPLE_PAGES_MAX, &doing)
        .await;
    let people = read.map(|people| {
        let people = people.into_iter().filter(|person| person.kind != "Bot");
        people.map(|person| person.login).collect()
    });
    fact(people, "Metadata: read", true)
}

async fn label(client: &Client, repo: &RepoName) -> Fact<bool> {
    let doing = format!("looking for the label `jules` in {repo}");
    let path = format!("/repos/{repo}/labels/jules");
    match client.get::<serde_json::Value>(repo, &path, &doing).await {
        Err(failure) if failure.class == FailureClass::NotFound => Fact::Known(false),
        read => fact(read.map(|_| true), "Issues: read", false),
    }
}
