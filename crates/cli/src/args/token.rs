//! `gaffer token`.

use clap::Subcommand;
use domain::ids::{AgentName, PersonaName, TokenName};
use domain::token::Scope;
use jiff::SignedDuration;

use super::value::{self, Word};

/// What to do with tokens of the HTTP API.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token, which is shown once and kept nowhere.
    #[command(
        after_help = "Examples:\n  gaffer token create dashboard --scope read\n  gaffer token create bot --expires 90d\n  gaffer token create ci --stack gaffer\n  gaffer token create reviewer --agent bot\n  gaffer token create mail-curator --persona curator"
    )]
    Create {
        /// Its name: a-z, 0-9 and `-`, a letter first.
        name: TokenName,
        /// Its scope.
        #[arg(long, value_name = "SCOPE", default_value = "write", value_parser = value::one_of(&SCOPES))]
        scope: Scope,
        /// How long it lasts; for ever without it.
        #[arg(long, value_name = "DURATION", value_parser = value::duration)]
        expires: Option<SignedDuration>,
        /// The agent that has it: what it orders is recorded as that agent's, and checkpoints that are for people are
        /// closed to it.
        #[arg(long, value_name = "NAME")]
        agent: Option<AgentName>,
        /// The only persona as which it sends and reads mail; without one it speaks for any, but Gaffer's own only with
        /// the scope `admin`.
        #[arg(long, value_name = "NAME")]
        persona: Option<PersonaName>,
    },
    /// List tokens, never with their secrets.
    #[command(after_help = "Example:\n  gaffer token list")]
    List,
    /// Have a token open nothing any more, at once.
    #[command(after_help = "Example:\n  gaffer token revoke bot")]
    Revoke {
        /// Its name.
        name: TokenName,
    },
}

/// What a token can allow.
const SCOPES: [Word<Scope>; 3] = [
    ("read", Scope::Read, "Looking at everything"),
    (
        "write",
        Scope::Write,
        "Also giving orders, and taking wakes",
    ),
    (
        "admin",
        Scope::Admin,
        "Also taking over sessions of another Gaffer",
    ),
];
