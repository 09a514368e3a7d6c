//! The repository itself and who may write to it.

use serde_json::json;

use super::ask::Ask;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::pen::put;
use crate::github::records::User;
use crate::github::world::{GitHubRefusal, GitHubWorld};

pub(super) fn show(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    if !ask.is("GET") {
        return Err(GitHubRefusal::not_found());
    }
    ask.reads(Resource::Metadata)?;
    let found = world.repo(repo)?;
    let mut answer = ask.pen(world).repo(found);
    let permission = world.permission_of(repo, ask.caller.login())?;
    // A token acts for its maker; the sandbox's own token belongs to a user with every right.
    let writes =
        permission != "read" && permission != "none" || ask.writes(Resource::Contents).is_ok();
    put(
        &mut answer,
        "permissions",
        json!({
            "admin": ask.writes(Resource::Administration).is_ok(),
            "maintain": writes,
            "push": writes,
            "triage": writes,
            "pull": true,
        }),
    );
    Ok(Reply::json(answer))
}

/// `GET /collaborators/{login}/permission`.
pub(super) fn permission(world: &GitHubWorld, ask: &Ask, repo: &str, login: &str) -> Outcome {
    if !ask.is("GET") {
        return Err(GitHubRefusal::not_found());
    }
    ask.reads(Resource::Metadata)?;
    let permission = world.permission_of(repo, login)?;
    Ok(Reply::json(json!({
        "permission": permission,
        "role_name": permission,
        "user": ask.pen(world).user(&User::named(login)),
    })))
}
