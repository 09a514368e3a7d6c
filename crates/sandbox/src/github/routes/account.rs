//! What a caller reads about itself: its user, and its limits.

use serde_json::json;

use super::ask::Ask;
use super::caller::{Caller, bad_credentials};
use super::reply::{Outcome, Reply};
use crate::github::access::TokenKind;
use crate::github::world::{GitHubRefusal, GitHubWorld};

/// `GET /user`, which tokens of apps cannot read.
pub(super) fn user(world: &GitHubWorld, ask: &Ask) -> Outcome {
    let Caller::Token(token) = &ask.caller else {
        return Err(bad_credentials());
    };
    match token.kind {
        TokenKind::Classic | TokenKind::FineGrained => {
            Ok(Reply::json(ask.pen(world).user(&ask.caller.actor())))
        }
        TokenKind::Installation | TokenKind::Actions => Err(GitHubRefusal::new(
            403,
            "Resource not accessible by integration",
        )),
    }
}

/// `GET /rate_limit`, which costs nothing.
pub(super) fn rate_limit(world: &mut GitHubWorld, ask: &Ask) -> Outcome {
    let Some((limit, window)) = ask.caller.window(world, ask.now) else {
        return Err(bad_credentials());
    };
    let of = |limit: u64, used: u64| {
        json!({
            "limit": limit,
            "used": used,
            "remaining": limit.saturating_sub(used),
            "reset": window.resets_at,
        })
    };
    let core = of(limit, window.used);
    let resources = json!({ "core": core, "search": of(30, 0), "graphql": of(5_000, 0) });
    Ok(Reply::json(json!({ "resources": resources, "rate": core })))
}
