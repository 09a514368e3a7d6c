//! One repository: whether it exists, the credential's permissions in it, and its settings.

use domain::doctor::{May, Repository, RepositoryFacts};
use domain::facts::Fact;
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, RepoId, RepoName};
use domain::policy::MergeMethod;

use super::{Probe, branch, ci, fact, hooks, wire};
use crate::client::{Listing, branch_path};

/// A thousand people with write access.
const PEOPLE_PAGES_MAX: usize = 10;

/// Reads everything.
pub(super) async fn read(
    probe: &Probe,
    repo: &RepoName,
    base: &BranchName,
    missing: Vec<String>,
) -> RepositoryFacts {
    let found = match itself(probe, repo).await {
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
    let recent = ci::recent(probe, repo).await;
    let (rules, protection) = tokio::join!(
        branch::rules(probe, repo, base),
        branch::protection(probe, repo, base)
    );
    let queued = rules.known().is_some_and(|rules| rules.demands.merge_queue);
    let (checks, workflows, reviewers, jules_label, hooks) = tokio::join!(
        ci::checks(probe, repo, base, &recent),
        ci::workflows(probe, repo, queued),
        reviewers(probe, repo),
        label(probe, repo),
        hooks::of_repository(probe, repo),
    );
    RepositoryFacts::Found(Box::new(Repository {
        id: found.id.map(RepoId),
        archived: found.archived || found.disabled,
        may: found.permissions.as_ref().map(|may| May {
            admin: may.admin,
            push: may.push || may.maintain || may.admin,
        }),
        missing,
        methods: methods(&found),
        base: there(probe, repo, base).await,
        checks,
        pulls: pulls(&recent),
        workflows,
        rules,
        protection,
        reviewers,
        authors: ci::authors(&recent),
        jules_label,
        hooks,
    }))
}

enum Found {
    Here(wire::Repository),
    Elsewhere(Option<wire::Repository>),
    Nowhere,
}

async fn itself(probe: &Probe, repo: &RepoName) -> Result<Found, Failure> {
    let doing = format!("looking at {repo}");
    let path = format!("/repos/{repo}");
    let (found, there) = match probe.client.look_at(repo, &path, &doing).await {
        Ok(found) => found,
        Err(failure) if failure.class == FailureClass::NotFound => return Ok(Found::Nowhere),
        Err(failure) => return Err(failure),
    };
    if found.status.is_redirection() {
        let there = there.and_then(|there| probe.read::<wire::Repository>(&there, &doing).ok());
        return Ok(Found::Elsewhere(
            there.filter(|there| !there.full_name.is_empty()),
        ));
    }
    if matches!(found.status.as_u16(), 404 | 410) {
        return Ok(Found::Nowhere);
    }
    let found: wire::Repository = probe.read(&found, &doing)?;
    // Names are compared as GitHub does; another name means that the old one is only led on.
    if !found.full_name.is_empty() && !found.full_name.eq_ignore_ascii_case(&repo.to_string()) {
        return Ok(Found::Elsewhere(Some(found)));
    }
    Ok(Found::Here(found))
}

/// The allowed methods; GitHub returns them to credentials that may write.
fn methods(found: &wire::Repository) -> Option<Vec<MergeMethod>> {
    let all = [
        (MergeMethod::Merge, found.allow_merge_commit?),
        (MergeMethod::Squash, found.allow_squash_merge?),
        (MergeMethod::Rebase, found.allow_rebase_merge?),
    ];
    let allowed = all.into_iter().filter(|(_, allowed)| *allowed);
    Some(allowed.map(|(method, _)| method).collect())
}

async fn there(probe: &Probe, repo: &RepoName, base: &BranchName) -> Fact<bool> {
    let doing = format!("looking for {repo}'s branch {base}");
    let path = format!("/repos/{repo}/branches/{}", branch_path(base.as_str()));
    match probe
        .client
        .get::<serde_json::Value>(repo, &path, &doing)
        .await
    {
        Err(failure) if failure.class == FailureClass::NotFound => Fact::Known(false),
        read => fact(read.map(|_| true), "Contents: read", false),
    }
}

fn pulls(recent: &Result<Vec<wire::Pull>, Failure>) -> Fact<()> {
    let read = recent.as_ref().map(|_| ()).map_err(Clone::clone);
    fact(read, "Pull requests: read", true)
}

/// People with write access; bots cannot be asked for a review.
async fn reviewers(probe: &Probe, repo: &RepoName) -> Fact<Vec<String>> {
    let doing = format!("listing who may write to {repo}");
    let listing = Listing {
        repo,
        path: &format!("/repos/{repo}/collaborators?permission=push"),
        pages_max: PEOPLE_PAGES_MAX,
        doing: &doing,
    };
    let read = probe.client.list::<Vec<wire::User>>(&listing).await;
    let people = read.map(|people| {
        let people = people.into_iter().filter(|person| person.kind != "Bot");
        people.map(|person| person.login).collect()
    });
    fact(people, "Metadata: read", true)
}

async fn label(probe: &Probe, repo: &RepoName) -> Fact<bool> {
    let doing = format!("looking for the label `jules` in {repo}");
    let path = format!("/repos/{repo}/labels/jules");
    match probe
        .client
        .get::<serde_json::Value>(repo, &path, &doing)
        .await
    {
        Err(failure) if failure.class == FailureClass::NotFound => Fact::Known(false),
        read => fact(read.map(|_| true), "Issues: read", false),
    }
}
