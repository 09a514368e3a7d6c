//! The HTTP face: one handler that reads the request, knows the caller, finds the answer in the state and
//! dresses it in GitHub's headers. Faults strike before it, in the sandbox's gate.

mod account;
mod actions;
mod app;
mod ask;
mod caller;
mod checks;
mod deployments;
mod git;
mod graphql;
mod hooks;
mod issues;
mod labels;
mod manifest;
mod objects;
mod paging;
mod pulls;
mod refs;
mod reply;
mod repos;
mod settings;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;

use super::GitHub;
use super::world::{GitHubRefusal, GitHubWorld};
use crate::clock::Clock;
use ask::{Ask, number};
use caller::Caller;
use reply::{Outcome, Reply};

/// The path below which the sandbox mounts this router, which addresses in answers carry.
pub const PREFIX: &str = "/github";

/// The largest request body read; GitHub's own limits for what is written here are smaller.
const BODY_LIMIT: usize = 1024 * 1024;

#[derive(Clone)]
struct GitHubServer {
    github: GitHub,
    clock: Clock,
}

/// The REST and GraphQL API, to be nested at [`PREFIX`].
pub fn router(github: GitHub, clock: Clock) -> axum::Router {
    axum::Router::new()
        .fallback(enter)
        .with_state(GitHubServer { github, clock })
}

async fn enter(State(server): State<GitHubServer>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY_LIMIT).await else {
        return Reply::refused(&GitHubRefusal::new(413, "Payload too large")).plain();
    };
    let now = (server.clock)();
    let mut world = server.github.world();
    world.advance(now);
    if let Some(response) = manifest::answer(&mut world, &parts, &bytes, now) {
        return response;
    }
    let read = Ask::read(&parts, &bytes, now);
    answer(&mut world, read, &parts.headers)
}

/// Everything between the request and the response, under the lock of the state.
fn answer(
    world: &mut GitHubWorld,
    read: Result<Ask, GitHubRefusal>,
    headers: &HeaderMap,
) -> Response {
    let mut ask = match read {
        Ok(ask) => ask,
        Err(refusal) => return Reply::refused(&refusal).plain(),
    };
    if ask.is_mutation() {
        world.counters.count(|it| it.github_writes += 1);
    }
    ask.caller = match Caller::identify(world, headers, ask.now) {
        Ok(caller) => caller,
        Err(refusal) => return Reply::refused(&refusal).dated(ask.now),
    };
    let spent = if ask.is_free() {
        Ok(())
    } else {
        ask.caller.spend(world, ask.now)
    };
    let reply = match spent {
        Ok(()) => dispatch(world, &ask).unwrap_or_else(|refusal| Reply::refused(&refusal)),
        Err(refusal) => Reply::refused(&refusal),
    };
    reply.dress(world, &ask, headers)
}

fn dispatch(world: &mut GitHubWorld, ask: &Ask) -> Outcome {
    match (ask.method.as_str(), ask.parts().as_slice()) {
        ("POST", ["graphql"]) => graphql::answer(world, ask),
        ("GET", ["user"]) => account::user(world, ask),
        ("GET", ["rate_limit"]) => account::rate_limit(world, ask),
        (_, ["app", rest @ ..]) => app::answer(world, ask, rest),
        ("GET", ["installation", "repositories"]) => app::repositories(world, ask),
        ("GET", ["repos", owner, name, "installation"]) => {
            app::installation_of(world, ask, &format!("{owner}/{name}"))
        }
        ("GET", ["repositories", id, "installation"]) => app::installation_of_id(world, ask, id),
        (_, ["repos", owner, name, rest @ ..]) => {
            let repo = format!("{owner}/{name}");
            if let Some(found) = world.moved_to(&repo) {
                ask.caller.sees(world, found.full_name())?;
                return Ok(Reply::moved(ask, found.id, ask.below_repo()));
            }
            ask.caller.sees(world, &repo)?;
            in_repo(world, ask, &repo, rest)
        }
        (_, ["repositories", id, rest @ ..]) => {
            let repo = world.repo_by_id(number(id)?)?.full_name().to_owned();
            ask.caller.sees(world, &repo)?;
            in_repo(world, ask, &repo, rest)
        }
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// Requests below one repository that the caller can see, by the first part of the remaining path.
fn in_repo(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    if ask.is_write() && world.repo(repo)?.setup.admin.archived {
        return Err(GitHubRefusal::new(
            403,
            "Repository was archived so is read-only.",
        ));
    }
    match rest {
        [] => repos::show(world, ask, repo),
        ["pulls", rest @ ..] => pulls::answer(world, ask, repo, rest),
        ["issues", rest @ ..] => issues::answer(world, ask, repo, rest),
        ["commits"] | ["git", "trees" | "commits" | "blobs", ..] | ["git", "refs"] => {
            git::answer(world, ask, repo, rest)
        }
        ["commits" | "statuses" | "check-runs" | "check-suites", ..] => {
            checks::answer(world, ask, repo, rest)
        }
        ["deployments", rest @ ..] => deployments::answer(world, ask, repo, rest),
        ["actions", rest @ ..] => actions::answer(world, ask, repo, rest),
        ["branches" | "rules" | "git" | "compare", ..] => refs::answer(world, ask, repo, rest),
        ["hooks", rest @ ..] => hooks::answer(world, ask, repo, rest),
        ["collaborators", login, "permission"] => repos::permission(world, ask, repo, login),
        ["labels", rest @ ..] => labels::answer(world, ask, repo, rest),
        ["collaborators" | "rulesets" | "contents", ..] => settings::answer(world, ask, repo, rest),
        _ => Err(GitHubRefusal::not_found()),
    }
}
