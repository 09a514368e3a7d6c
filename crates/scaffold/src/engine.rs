//! The engine that fills templates in: strict, and with nothing escaped.

use minijinja::syntax::SyntaxConfigBuilder;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};

/// The engine of a syntax, in which a line with a block alone leaves nothing.
pub(crate) fn strict(syntax: &mut SyntaxConfigBuilder) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    Ok(environment)
}
