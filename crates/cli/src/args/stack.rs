//! Which Gaffer is meant: the one of the data folder, or one on AWS.

use clap::Args;

/// The stack that is meant when none is named.
const USUAL: &str = "gaffer";

/// Longest name of a stack: that of a role, which begins with it, has at most 64 characters.
const NAME_CHARS_MAX: usize = 38;

/// Which Gaffer is meant.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StackArgs {
    /// Use the Gaffer of this stack on AWS, not the one of the data folder. Region, endpoint and credentials are
    /// those of every AWS tool.
    #[arg(long, global = true, env = "GAFFER_STACK", value_name = "NAME", value_parser = name, help_heading = "Everywhere")]
    stack: Option<String>,

    /// The same for the stack `gaffer`.
    #[arg(long, global = true, help_heading = "Everywhere")]
    aws: bool,
}

impl StackArgs {
    /// The stack's name; `None` when the data folder is meant.
    pub(crate) fn name(&self) -> Option<&str> {
        self.stack.as_deref().or(self.aws.then_some(USUAL))
    }
}

/// A name as CloudFormation takes it: a letter, then letters, digits and hyphens.
fn name(text: &str) -> Result<String, String> {
    let letters = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let begins = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    if begins && letters(text) && text.len() <= NAME_CHARS_MAX {
        return Ok(text.to_owned());
    }
    Err(format!(
        "a stack's name is a letter and then letters, digits and hyphens, at most {NAME_CHARS_MAX} in all"
    ))
}
