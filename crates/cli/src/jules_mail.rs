//! The command line of `jules-mail`: the commands of `gaffer mail`, under the name that prompts have for them.

use std::path::PathBuf;

use clap::Parser;

use crate::args::mail::MailArgs;
use crate::args::stack::StackArgs;
use crate::args::{Command, CommandLine, value};

/// Mail between personas, in `.jules/mail/events.jsonl` of this repository, or with `--repo` in a running Gaffer.
/// `gaffer mail` has the same commands.
#[derive(Debug, Parser)]
#[command(name = "jules-mail", version, after_help = EXAMPLES)]
pub(crate) struct MailLine {
    /// Answer in JSON: results on stdout, errors on stderr.
    #[arg(long, global = true)]
    json: bool,

    /// With `--repo`: the data folder of `gaffer up`, whose token is used [default: `gaffer` in the platform's folder
    /// for data].
    #[arg(long, global = true, env = "GAFFER_DATA", value_name = "DIR", value_parser = value::folder)]
    data: Option<PathBuf>,

    /// Which Gaffer is meant.
    #[command(flatten)]
    stack: StackArgs,

    /// Whose mail, and what to do.
    #[command(flatten)]
    mail: MailArgs,
}

const EXAMPLES: &str = "\
Examples:
  jules-mail send --to curator --subject 'Question' --body 'Can you review X?'
  jules-mail inbox --persona curator --unread
  jules-mail read 42 --persona curator
  jules-mail tag add 42 needs-action --persona curator
  jules-mail inbox --persona curator --repo acme/shop

JULES_PERSONA says who it is where neither --from nor --persona does.
Exit codes: 0 done, 1 failed, 2 bad usage.";

impl From<MailLine> for CommandLine {
    fn from(line: MailLine) -> Self {
        Self {
            data: line.data,
            json: line.json,
            stack: line.stack,
            command: Command::Mail(Box::new(line.mail)),
        }
    }
}
