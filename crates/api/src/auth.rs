//! Authentication: a caller needs one of our tokens.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use client::wire::{THROUGH, Through};
use domain::advice::Advice;
use domain::delivery::Actor;
use domain::ids::{AgentName, PersonaName, TokenName};
use domain::redact::presentable;
use domain::token::{self, Scope, Token, TokenRejection};
use jiff::Timestamp;
use subtle::ConstantTimeEq;

use crate::refusal::Refused;
use crate::route;
use crate::state::ApiInner;

/// Longest name of who is said to give an order, in characters.
const BY_CHARS_MAX: usize = 80;

/// What the installation's own tokens are called in the log of mail.
const INSTALLATION: &str = "installation";

/// An authenticated caller, and its scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuthenticatedCaller {
    scope: Scope,
    name: Option<TokenName>,
    /// The agent that has the token; a person has it without one.
    agent: Option<AgentName>,
    /// The only persona as which it speaks; any without one.
    persona: Option<PersonaName>,
    through: Through,
}

impl AuthenticatedCaller {
    /// The caller with one of the installation's own tokens, which have every scope.
    pub(crate) fn installation() -> Self {
        Self {
            scope: Scope::Admin,
            name: None,
            agent: None,
            persona: None,
            through: Through::default(),
        }
    }

    /// The caller with a named token, which has its own scope.
    pub(crate) fn from_token(token: Token, now: Timestamp) -> Result<Self, Refused> {
        let scope = token.scope_at(now).map_err(|closed| match closed {
            TokenRejection::Revoked => refuse("token_revoked", "the bearer token was revoked"),
            TokenRejection::Expired => {
                refuse("token_expired", "the time of the bearer token is over")
            }
        })?;
        Ok(Self {
            scope,
            name: Some(token.name),
            agent: token.agent,
            persona: token.persona,
            through: Through::default(),
        })
    }

    /// The same caller, on a page.
    pub(crate) fn at_the_dashboard(self) -> Self {
        Self {
            through: Through::Dashboard,
            ..self
        }
    }

    /// The name of the token; none for the installation's own.
    pub(crate) fn token_name(&self) -> Option<&TokenName> {
        self.name.as_ref()
    }

    /// The caller for the record of every order: the name of the token, and the name that the request claims.
    pub(crate) fn who(&self, said: Option<&str>) -> String {
        let said = said.map(|said| presentable(said.trim(), BY_CHARS_MAX));
        let said = said.filter(|said| !said.is_empty());
        let (usual, through) = match self.through {
            Through::CommandLine => ("a person", "at the command line"),
            Through::Mcp => ("an agent", "over MCP"),
            Through::Dashboard => ("a person", "on the dashboard"),
            Through::Http => ("a caller", "over HTTP"),
        };
        let who = match (said, &self.name) {
            (Some(said), Some(token)) => format!("{said} (token {token})"),
            (Some(said), None) => said,
            (None, Some(token)) => format!("token {token}"),
            (None, None) => usual.to_owned(),
        };
        format!("{who} {through}")
    }

    /// The caller as a delivery records it: a token that is marked as an agent's is that agent, any other a person.
    pub(crate) fn actor(&self) -> Actor {
        let unnamed = match self.through {
            Through::CommandLine => "at the command line",
            Through::Mcp => "over MCP",
            Through::Dashboard => "on the dashboard",
            Through::Http => "over HTTP",
        };
        match (&self.agent, &self.name) {
            (Some(agent), _) => Actor::agent(agent.as_str()),
            (None, Some(token)) => Actor::person(token.as_str()),
            (None, None) => Actor::person(unnamed),
        }
    }

    /// The agent whose token it is; none for a person.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        self.agent.as_ref()
    }

    /// The only persona as which the caller speaks; none where it may be any.
    pub(crate) fn persona(&self) -> Option<&PersonaName> {
        self.persona.as_ref()
    }

    /// Refuses an agent: it works in sources, and people say which those are and what may be done there.
    pub(crate) fn must_be_person(&self) -> Result<(), Refused> {
        match self.agent.is_some() {
            true => Err(self.people_only("change sources")),
            false => Ok(()),
        }
    }

    /// The refusal of what only people do.
    pub(crate) fn people_only(&self, what: &str) -> Refused {
        let whose = match &self.agent {
            Some(agent) => format!("the bearer token is that of agent {agent}, and "),
            None => String::new(),
        };
        let detail = format!("{whose}only people {what}");
        Refused::new(StatusCode::FORBIDDEN, "people_only", &detail)
    }

    /// Who acts, in the log of mail.
    pub(crate) fn mail_actor(&self) -> String {
        let name = self.name.as_ref();
        name.map_or_else(|| INSTALLATION.to_owned(), ToString::to_string)
    }

    /// The persona as which the caller speaks: that of its token, else the one that it names.
    pub(crate) fn speaker(&self, named: Option<&PersonaName>) -> Result<PersonaName, Refused> {
        if let Some(named) = named {
            self.must_have_mailbox(named)?;
        }
        let Some(speaker) = named.or(self.persona.as_ref()) else {
            let detail = "`from` is missing: the bearer token is bound to no persona, so say as which one it speaks";
            return Err(Refused::field("from", "missing_field", detail));
        };
        if speaker.is_own() && self.scope < Scope::Admin {
            let detail = format!(
                "`{speaker}` is one of Gaffer's own personas, and only the scope `admin` speaks as it"
            );
            let refused = Refused::new(StatusCode::FORBIDDEN, "own_persona", &detail);
            return Err(refused.about("from"));
        }
        Ok(speaker.clone())
    }

    /// Refuses a token that is bound to a persona what is another persona's.
    pub(crate) fn must_have_mailbox(&self, persona: &PersonaName) -> Result<(), Refused> {
        match &self.persona {
            Some(own) if own != persona => {
                let detail = format!(
                    "the bearer token is that of persona {own}, and this is about persona {persona}"
                );
                let status = StatusCode::FORBIDDEN;
                Err(Refused::new(status, "not_its_persona", &detail).about("persona"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses a token that is bound to a persona what holds the mail of all.
    pub(crate) fn must_have_every_mailbox(&self) -> Result<(), Refused> {
        let Some(own) = &self.persona else {
            return Ok(());
        };
        let detail = format!(
            "the bearer token is that of persona {own}, and the log, which also tells what each persona sent, holds the mail of all: ask for its mailbox, or use a token without a persona"
        );
        let status = StatusCode::FORBIDDEN;
        Err(Refused::new(status, "not_its_persona", &detail))
    }

    /// Refuses an agent what is another agent's.
    pub(crate) fn must_be(&self, agent: &AgentName) -> Result<(), Refused> {
        match &self.agent {
            Some(own) if own != agent => {
                let detail = format!(
                    "the bearer token is that of agent {own}, and these are the wakes of agent {agent}"
                );
                Err(Refused::new(
                    StatusCode::FORBIDDEN,
                    "not_its_wakes",
                    &detail,
                ))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses what the shown token does not allow.
    pub(crate) fn must(&self, needed: Scope) -> Result<(), Refused> {
        if self.scope >= needed {
            return Ok(());
        }
        let (has, needed) = (self.scope.word(), needed.word());
        let detail = format!("the bearer token has the scope `{has}` and this needs `{needed}`");
        let refused = Refused::new(StatusCode::FORBIDDEN, "scope_too_small", &detail);
        Err(refused.advising(&[Advice::CreateToken.about(&needed)]))
    }
}

/// The sender of an order, and the request's headers.
pub(crate) type OrderCaller = (Extension<AuthenticatedCaller>, HeaderMap);

/// Lets a request pass only with a token that allows it, before reading anything else of it.
pub(crate) async fn require_token(
    State(api): State<Arc<ApiInner>>,
    mut request: Request,
    next: Next,
) -> Response {
    let admitted = match shown(request.headers()) {
        Ok(token) => admit(&api, token).await,
        Err(refused) => Err(refused),
    };
    let needed = needed(request.method());
    match admitted.and_then(|admitted| admitted.must(needed).map(|()| admitted)) {
        Ok(admitted) => {
            let through = through(request.headers());
            let admitted = AuthenticatedCaller {
                through,
                ..admitted
            };
            request.extensions_mut().insert(admitted);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

/// Through what a request says that it was made.
fn through(headers: &HeaderMap) -> Through {
    let said = headers.get(THROUGH).and_then(|said| said.to_str().ok());
    let known = Through::ALL.into_iter().find(|it| Some(it.word()) == said);
    known.unwrap_or_default()
}

/// The scope that a method needs, also where nothing is served: a method that is not known to be safe counts as an
/// order.
pub(crate) fn needed(method: &Method) -> Scope {
    let kind = if method.is_safe() {
        route::Method::Get
    } else {
        route::Method::Post
    };
    route::needed(kind)
}

/// A named token has its own scope, the installation's token every scope.
pub(crate) async fn admit(api: &ApiInner, shown: &str) -> Result<AuthenticatedCaller, Refused> {
    if let Some(token) = named(api, shown).await? {
        tracing::Span::current().record("token", token.name.as_str());
        return AuthenticatedCaller::from_token(token, api.backend.now());
    }
    if api.tokens.open_for(shown).await {
        return Ok(AuthenticatedCaller::installation());
    }
    let detail = "the bearer token is not one of Gaffer's";
    Err(refuse("wrong_token", detail))
}

/// The token that was made with this text, if there is one.
async fn named(api: &ApiInner, shown: &str) -> Result<Option<Token>, Refused> {
    let Some(name) = token::name_in(shown) else {
        return Ok(None);
    };
    let found = api.backend.store.token(&name).await?.map(|it| it.value);
    let shown = token::digest(shown);
    let is_same = |it: &Token| bool::from(it.digest.as_bytes().ct_eq(shown.as_bytes()));
    Ok(found.filter(is_same))
}

/// The token that a request shows.
pub(crate) fn shown(headers: &HeaderMap) -> Result<&str, Refused> {
    bearer(headers).ok_or_else(|| {
        refuse(
            "no_token",
            "send `Authorization: Bearer` and Gaffer's token, which its operator has",
        )
    })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let header = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

fn refuse(code: &str, detail: &str) -> Refused {
    Refused::new(StatusCode::UNAUTHORIZED, code, detail)
}
