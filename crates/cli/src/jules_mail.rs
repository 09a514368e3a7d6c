//! The command line of `jules-mail`: the commands of `gaffer mail`, under the name that prompts have for them.

use clap::Parser;

use crate::args::mail::MailCommand;
use crate::args::stack::StackArgs;
use crate::args::{Command, CommandLine};

/// Mail between personas, in `.jules/mail/events.jsonl` of this repository. `gaffer mail` has the same commands.
#[derive(Debug, Parser)]
#[command(name = "jules-mail", version, after_help = EXAMPLES)]
pub(crate) struct MailLine {
    /// Answer in JSON: results on stdout, errors on stderr.
    #[arg(long, global = true)]
    json: bool,

    /// What to do.
    #[command(subcommand)]
    command: MailCommand,
}

const EXAMPLES: &str = "\
Examples:
  jules-mail send --to curator --subject 'Question' --body 'Can you review X?'
  jules-mail inbox --persona curator --unread
  jules-mail read 42 --persona curator
  jules-mail tag add 42 needs-action --persona curator

JULES_PERSONA says who it is where neither --from nor --persona does.
Exit codes: 0 done, 1 failed, 2 bad usage.";

impl From<MailLine> for CommandLine {
    fn from(line: MailLine) -> Self {
        Self {
            data: None,
            json: line.json,
            stack: StackArgs::default(),
            command: Command::Mail(Box::new(line.command)),
        }
    }
}
