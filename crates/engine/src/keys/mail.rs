//! Where the mail of a repository is stored.

use domain::ids::{MessageId, PersonaName, RepoName};

use super::{META, key};
use crate::ports::Key;

/// Begins the partition of a repository's mail.
pub const MAIL: &str = "MAIL#";

/// Begins the sort key of an event of mail.
pub const MAIL_LOG: &str = "LOG#";

/// Begins the sort key of a message in its recipient's box.
pub const MAIL_BOX: &str = "BOX#";

/// Begins the sort key of a sealed page.
pub const MAIL_PAGE: &str = "PAGE#";

/// Begins the sort key of what was sent under its caller's name.
pub const MAIL_SENT: &str = "SENT#";

/// So many events have numbers that begin alike: all digits but the last two.
pub const MAIL_BLOCK: u64 = 100;

/// Partition of a repository's mail.
pub fn mail_pk(repo: &RepoName) -> String {
    format!("{MAIL}{}", repo.key())
}

/// What is counted of a repository's mail.
pub fn mail(repo: &RepoName) -> Key {
    key(mail_pk(repo), META)
}

/// An event of the log, from 1.
pub fn mail_event(repo: &RepoName, number: u64) -> Key {
    let (block, rest) = (number / MAIL_BLOCK, number % MAIL_BLOCK);
    key(mail_pk(repo), format!("{}{rest:02}", mail_block(block)))
}

/// What the sort keys of a block of events begin with; the first block, 0, has event 0 in it, which there is not.
pub fn mail_block(block: u64) -> String {
    format!("{MAIL_LOG}{block:012}")
}

/// The number of an event, by its sort key.
pub(crate) fn mail_event_in(sk: &str) -> Option<u64> {
    sk.strip_prefix(MAIL_LOG)?.parse().ok()
}

/// What the sort keys of a persona's messages begin with. No name holds the sign at its end.
pub fn mail_box_of(persona: &PersonaName) -> String {
    format!("{MAIL_BOX}{persona}#")
}

/// A message as its recipient sees it.
pub fn mail_box(repo: &RepoName, persona: &PersonaName, message: MessageId) -> Key {
    let number = message.number();
    key(
        mail_pk(repo),
        format!("{}{number:020}", mail_box_of(persona)),
    )
}

/// A sealed page, from 1.
pub fn mail_page(repo: &RepoName, page: u64) -> Key {
    key(mail_pk(repo), format!("{MAIL_PAGE}{page:012}"))
}

/// What was sent under a name; `name` is a digest.
pub fn mail_sent(repo: &RepoName, name: &str) -> Key {
    key(mail_pk(repo), format!("{MAIL_SENT}{name}"))
}
