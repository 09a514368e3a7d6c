//! Names and texts of the mail between personas: each says by its type that it was checked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{InvalidId, is_role, is_word, text_id};
use crate::address::is_link;
use crate::fence::{clip, encoded_len, is_invisible};
use crate::redact::holds_secret;

/// Longest subject, in characters.
const SUBJECT_CHARS_MAX: usize = 200;

/// Longest body, in bytes as JSON: what a record holds, with room for everything around it.
pub const BODY_BYTES_MAX: usize = 16_000;

/// Longest address of an attachment, in bytes: a comparison of two commits has some 200.
const ATTACHMENT_BYTES_MAX: usize = 1_000;

/// Whether a text holds a secret, also one that hidden characters split.
fn gives_away(text: &str) -> bool {
    holds_secret(text) || holds_secret(&clip(text, usize::MAX))
}

fn is_subject(text: &str) -> bool {
    let hidden = |c: char| is_invisible(c) || c == '\n' || c == '\t';
    let chars = text.chars().count();
    !text.trim().is_empty()
        && chars <= SUBJECT_CHARS_MAX
        && !text.contains(hidden)
        && !gives_away(text)
}

fn is_body(text: &str) -> bool {
    encoded_len(text) <= BODY_BYTES_MAX && !gives_away(text)
}

fn is_attachment(text: &str) -> bool {
    text.len() <= ATTACHMENT_BYTES_MAX && is_link(text)
}

/// What stands in place of a persona in paths of the HTTP API, and so is the name of none.
pub const PAGES: [&str; 6] = ["log", "stats", "verify", "rebuild", "seal", "import"];

text_id!(
    /// Who a session of a sprint works as, and whose mailbox it reads. Names are compared whole.
    PersonaName, "persona", "1 to 32 of a-z, 0-9, `_`, `-`, a letter first, and not `log`, `stats`, `verify`, `rebuild`, `seal` or `import`, which are pages beside the mailboxes", |v| is_role(v, 32) && !PAGES.contains(&v);
    /// Who mail is from or to.
    { "pattern": "^[a-z][a-z0-9_-]{0,31}$", "examples": ["curator"] }
);
impl PersonaName {
    /// The persona that tells of conflicts, and whose job resolves what is left of them.
    pub fn weaver() -> Self {
        Self("weaver".to_owned())
    }

    /// Whether it is the weaver, which is in no batch.
    pub fn is_weaver(&self) -> bool {
        *self == Self::weaver()
    }
}

text_id!(
    /// One line of the log of mail: a ULID in lower case where we write it.
    MailEventId, "event id of mail", "1 to 64 letters, digits, `-` or `_`", |v| is_word(v, 64)
);
text_id!(
    /// A word that a persona puts on a message.
    MailTag, "tag", "1 to 40 letters, digits, `-` or `_`", |v| is_word(v, 40);
    /// A word on a message.
    { "pattern": "^[A-Za-z0-9_-]{1,40}$", "examples": ["needs-action"] }
);
text_id!(
    /// What a message is about.
    Subject, "subject", "1 to 200 visible characters on one line, and nothing that looks like a secret", is_subject;
    /// What a message is about: one line of visible characters, without what looks like a secret.
    { "minLength": 1, "maxLength": 200, "pattern": "\\S", "examples": ["Conflict in PR #102"] }
);
text_id!(
    /// What a message says.
    MailBody, "body", "at most 16,000 bytes as JSON, and nothing that looks like a secret: link what is longer with an attachment", is_body;
    /// What a message says: at most 16,000 bytes as JSON, without what looks like a secret.
    { "maxLength": 16000 }
);
text_id!(
    /// What a message points to: a patch, a log.
    Attachment, "attachment", "an address as in `https://github.com/acme/shop/pull/7.patch`, with no user and no secret in it", is_attachment;
    /// An address with https, without a user.
    { "pattern": "^https://[^\\s]+$", "maxLength": 1000, "examples": ["https://github.com/acme/shop/pull/7.patch"] }
);

impl MailEventId {
    /// A new id.
    pub fn of(ulid: ulid::Ulid) -> Self {
        Self(ulid.to_string().to_ascii_lowercase())
    }

    /// The id of the note that a message is lost: noting it twice is the same event.
    pub(crate) fn of_lost(message: MessageId) -> Self {
        Self(format!("lost-{}", message.number()))
    }
}

/// The number of a message, counted from 1 in each source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct MessageId(i64);

impl MessageId {
    /// The number of the first message.
    pub const FIRST: Self = Self(1);

    /// The number.
    pub fn number(self) -> i64 {
        self.0
    }

    /// The number before this one, if it is not the first.
    pub fn before(self) -> Option<Self> {
        Self::try_from(self.0 - 1).ok()
    }

    /// The number after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl TryFrom<i64> for MessageId {
    type Error = InvalidId;

    fn try_from(number: i64) -> Result<Self, InvalidId> {
        if number >= 1 {
            return Ok(Self(number));
        }
        Err(invalid_message(&number.to_string()))
    }
}

impl From<MessageId> for i64 {
    fn from(id: MessageId) -> i64 {
        id.0
    }
}

impl FromStr for MessageId {
    type Err = InvalidId;

    /// Takes the number as it is printed, with or without its `#`.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| plain);
        let id = number.and_then(|number: i64| Self::try_from(number).ok());
        id.ok_or_else(|| invalid_message(text))
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl InvalidId {
    /// A message has more attachments than it may have.
    pub(crate) fn too_many_attachments(count: usize) -> Self {
        let rule = "at most 10: put further addresses into the body";
        Self::new("number of attachments", &count.to_string(), rule)
    }
}

fn invalid_message(value: &str) -> InvalidId {
    InvalidId::new("message id", value, "a number from 1, as in `42`")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    #[track_caller]
    fn refused<T: FromStr<Err = InvalidId> + fmt::Debug>(text: &str) -> String {
        let told = text.parse::<T>().unwrap_err().to_string();
        let shown: String = told.chars().filter(|c| !is_invisible(*c)).collect();
        assert!(!shown.contains(SECRET) && told.len() < 400, "{told}");
        told
    }

    #[test]
    fn a_persona_has_the_letters_of_its_rule() {
        for good in ["a", "art", "docs_curator", "a-1", &"x".repeat(32)] {
            assert!(good.parse::<PersonaName>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "A",
            "1a",
            "_a",
            "a b",
            "a@team",
            "ä",
            "a/b",
            "a\n",
            &"x".repeat(33),
        ] {
            assert!(refused::<PersonaName>(bad).contains("is not a valid persona"));
        }
    }

    #[test]
    fn a_page_beside_the_mailboxes_is_no_persona() {
        for page in PAGES {
            let told = refused::<PersonaName>(page);
            assert!(told.contains("which are pages beside the mailboxes"));
            let rule = told.split_once("a letter first").map(|(_, rule)| rule);
            assert!(
                rule.is_some_and(|rule| rule.contains(&format!("`{page}`"))),
                "{told}"
            );
            assert!(format!("{page}s-2").parse::<PersonaName>().is_ok());
        }
    }

    #[test]
    fn a_subject_is_one_line_of_at_most_200_characters() {
        assert!("ä".repeat(200).parse::<Subject>().is_ok());
        let hidden = SECRET.replacen("789", "78\u{200b}9", 1);
        for bad in [
            "",
            "  ",
            "a\nb",
            "a\u{202e}b",
            &"ä".repeat(201),
            SECRET,
            &hidden,
        ] {
            assert!(refused::<Subject>(bad).contains("is not a valid subject: 1 to 200"));
        }
    }

    #[test]
    fn a_body_is_measured_as_json() {
        for good in ["", "a\nb", &"x".repeat(16_000), &"\n".repeat(8_000)] {
            assert!(good.parse::<MailBody>().is_ok());
        }
        let split = SECRET.replacen("789", "78\u{200b}9", 1);
        for bad in [&"x".repeat(16_001), &"\n".repeat(8_001), SECRET, &split] {
            assert!(refused::<MailBody>(bad).contains("is not a valid body: at most 16,000"));
        }
    }

    #[test]
    fn an_attachment_is_an_address_with_https() {
        let patch = "https://github.com/owner/repo/pull/123.patch";
        assert_eq!(patch.parse::<Attachment>().unwrap().as_str(), patch);
        for bad in [
            "",
            "pull/123.patch",
            "http://github.com/a.patch",
            "file:///etc/passwd",
            "https://user:word@github.com/a.patch",
            "https://github.com/a b",
            "https://github",
            &format!("https://github.com/{SECRET}"),
            &format!("https://github.com/{}", "x".repeat(1_000)),
        ] {
            assert!(refused::<Attachment>(bad).contains("is not a valid attachment"));
        }
    }

    #[test]
    fn a_message_is_named_by_its_number_with_or_without_the_sign() {
        assert_eq!("42".parse::<MessageId>(), "#42".parse());
        assert_eq!("42".parse::<MessageId>().unwrap().to_string(), "#42");
        for bad in [
            "",
            "#",
            "0",
            "-1",
            "+1",
            "1.5",
            "##1",
            "9223372036854775808",
        ] {
            assert!(refused::<MessageId>(bad).contains("is not a valid message id"));
        }
    }
}
