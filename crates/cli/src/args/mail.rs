//! Options of `gaffer mail`, which is `jules-mail` too.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::ids::{Attachment, MailTag, MessageId, PersonaName, RepoName, Subject};
use domain::mail::Recipient;
use url::Url;

use super::value;

/// Whose mail, and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer mail inbox --persona curator\n  gaffer mail inbox --persona curator --repo acme/shop"
)]
pub(crate) struct MailArgs {
    /// The mail of this source in a running `gaffer up`, in place of the file of this repository. The token is
    /// GAFFER_TOKEN, else that of the data folder.
    #[arg(long, global = true, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// With `--repo`: where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: MailCommand,
}

/// `gaffer mail`.
#[derive(Debug, Subcommand)]
pub(crate) enum MailCommand {
    /// Send a message.
    Send(SendArgs),
    /// List the messages of a persona, the oldest first: `*` marks those that are not read. Listing marks nothing.
    #[command(
        after_help = "Examples:\n  gaffer mail inbox --persona curator\n  gaffer mail inbox --persona curator --unread --json"
    )]
    Inbox {
        /// Whose.
        #[command(flatten)]
        whose: PersonaArgs,
        /// Only what is not read.
        #[arg(long)]
        unread: bool,
    },
    /// List the messages that a persona wrote, the oldest first.
    #[command(after_help = "Example:\n  gaffer mail sent --persona weaver")]
    Sent(PersonaArgs),
    /// Show a message, and mark it read.
    #[command(
        after_help = "Examples:\n  gaffer mail read 42 --persona curator\n  gaffer mail read 42 --persona curator --no-mark-read"
    )]
    Read {
        /// Which.
        #[command(flatten)]
        which: MessageArgs,
        /// Leave it unread.
        #[arg(long)]
        no_mark_read: bool,
    },
    /// The tags of a message.
    #[command(
        subcommand,
        after_help = "Example:\n  gaffer mail tag add 42 needs-action --persona curator"
    )]
    Tag(TagCommand),
    /// Put a message into the trash, which takes it out of the inbox.
    #[command(after_help = "Example:\n  gaffer mail trash 42 --persona curator")]
    Trash(MessageArgs),
    /// Take a message out of the trash.
    #[command(after_help = "Example:\n  gaffer mail untrash 42 --persona curator")]
    Untrash(MessageArgs),
    /// Print the lines of the log as they are, in order.
    #[command(after_help = "Example:\n  gaffer mail log")]
    Log,
    /// Count the messages of each persona, and those that are not read.
    #[command(after_help = "Example:\n  gaffer mail stats")]
    Stats,
    /// List everything that is wrong with the log and its backups: exit code 1 if anything is.
    #[command(after_help = "Example:\n  gaffer mail verify")]
    Verify,
    /// Make a broken log whole: keep every valid event, lay the rest beside it, and note which messages are lost.
    #[command(after_help = "Example:\n  gaffer mail rebuild")]
    Rebuild,
    /// Put back what the backups have, and then what is valid in the log.
    #[command(after_help = "Example:\n  gaffer mail restore")]
    Restore,
    /// Put what no backup has yet into one. Each hundred events are backed up without it.
    #[command(after_help = "Example:\n  gaffer mail seal")]
    Seal,
    /// Print every event as a JSON line, if nothing is wrong with the log.
    #[command(after_help = "Example:\n  gaffer mail export > mail.jsonl")]
    Export,
    /// Add the events of an export that are not there yet: all of them, or none if they do not fit.
    #[command(
        after_help = "Examples:\n  gaffer mail import mail.jsonl\n  gaffer mail import - < mail.jsonl"
    )]
    Import {
        /// What `gaffer mail export` printed; `-` is standard input.
        #[arg(value_parser = value::file)]
        file: PathBuf,
    },
}

/// A message.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer mail send --to curator --subject 'Conflict in PR #123' --body 'See the patch'\n  gaffer mail send --to art --subject Fix --body - --attach https://example.org/1.patch"
)]
pub(crate) struct SendArgs {
    /// Whom to; `all@team` is every persona that has mail, or a file beside it, or is in the newest sprint.
    #[arg(long, value_name = "PERSONA")]
    pub(crate) to: Recipient,

    /// What it is about: at most 200 characters on one line.
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) subject: Subject,

    /// What it says, at most 16,000 bytes; `-` reads standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) body: String,

    /// What it points to, at most ten times.
    #[arg(long, value_name = "URL")]
    pub(crate) attach: Vec<Attachment>,

    /// Who sends it [default: JULES_PERSONA].
    #[arg(long, value_name = "PERSONA")]
    pub(crate) from: Option<PersonaName>,
}

/// Whose mailbox.
#[derive(Debug, Args)]
pub(crate) struct PersonaArgs {
    /// Whose mailbox [default: JULES_PERSONA].
    #[arg(long)]
    pub(crate) persona: Option<PersonaName>,
}

/// A message of a mailbox.
#[derive(Debug, Args)]
pub(crate) struct MessageArgs {
    /// The number of the message.
    pub(crate) id: MessageId,

    /// Whose mailbox.
    #[command(flatten)]
    pub(crate) whose: PersonaArgs,
}

/// A message of a mailbox, and a tag.
#[derive(Debug, Args)]
pub(crate) struct TaggedArgs {
    /// The number of the message.
    pub(crate) id: MessageId,

    /// The tag: letters, digits, `-` or `_`.
    pub(crate) tag: MailTag,

    /// Whose mailbox.
    #[command(flatten)]
    pub(crate) whose: PersonaArgs,
}

/// `gaffer mail tag`.
#[derive(Debug, Subcommand)]
pub(crate) enum TagCommand {
    /// Put a tag on a message.
    #[command(after_help = "Example:\n  gaffer mail tag add 42 needs-action --persona curator")]
    Add(TaggedArgs),
    /// Take a tag off a message.
    #[command(after_help = "Example:\n  gaffer mail tag rm 42 needs-action --persona curator")]
    Rm(TaggedArgs),
    /// List the tags of a message.
    #[command(
        alias = "list",
        after_help = "Example:\n  gaffer mail tag ls 42 --persona curator"
    )]
    Ls(MessageArgs),
}
