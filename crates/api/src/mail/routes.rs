//! The routes of mail.

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post};
use client::wire::{MAIL_LOG_PAGE_MAX, MAILBOX_LIMIT_MAX};
use domain::mail::MessageOrder;

use super::{import, log, mailbox, mark, rebuild, seal, send, show, stats, tag, verify};
use crate::route::{ApiRow, KEY, Parameter, ParameterType, RequestBody, ResponseBody, Row};
use crate::state::ApiInner;

use ResponseBody::Json;

/// One message. Orders about it with a colon are posted there.
pub(crate) const ONE: &str = "/api/mail/{owner}/{name}/{persona}/{message}";

/// What answers a message as it is then.
const MESSAGE: &[(u16, ResponseBody)] = &[(200, Json("MailMessage"))];

/// What a mailbox takes.
const MAILBOX: [Parameter; 3] = [
    Parameter::query(
        "unread",
        ParameterType::Switch,
        "Only messages that are not read.",
    ),
    Parameter::query(
        "after",
        ParameterType::Cursor,
        "Goes on behind the message of this number.",
    ),
    Parameter::limit(MAILBOX_LIMIT_MAX, MAILBOX_LIMIT_MAX),
];

/// Which page of a log of mail is wanted.
const MAIL_LOG_PAGE: [Parameter; 1] = [Parameter::number(
    "page",
    0,
    MAIL_LOG_PAGE_MAX,
    0,
    "Which page: a further one is named by the `next_page` of the one before.",
)];

/// Mail, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/api/mail/{owner}/{name}",
        "list_mailboxes",
        "Lists the personas that have mail in a repository, with how much",
        || get(stats),
    )
    .answers(&[(200, Json("MailStats"))])
    .refuses(&[404]),
    Row::post(
        "/api/mail/{owner}/{name}",
        "send_mail",
        "Sends a message to a persona, or to each of the team; as whom tells the token",
        || post(send),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("SendMail"))
    .answers(&[(201, Json("MailSent"))])
    .refuses(&[404, 409]),
    Row::get(
        "/api/mail/{owner}/{name}/log",
        "mail_log",
        "Shows a page of the log of mail as it is, for tokens that see every mailbox",
        || get(log),
    )
    .takes(&MAIL_LOG_PAGE)
    .answers(&[(200, Json("MailLog"))])
    .refuses(&[404]),
    Row::get(
        "/api/mail/{owner}/{name}/stats",
        "mail_stats",
        "Counts the events and messages of a repository",
        || get(stats),
    )
    .answers(&[(200, Json("MailStats"))])
    .refuses(&[404]),
    Row::get(
        "/api/mail/{owner}/{name}/verify",
        "verify_mail",
        "Lists everything that is wrong with the mail of a repository",
        || get(verify),
    )
    .answers(&[(200, Json("MailVerified"))])
    .refuses(&[404, 409]),
    Row::post(
        "/api/mail/{owner}/{name}/rebuild",
        "rebuild_mail",
        "Makes mailboxes and counters of the log of mail again",
        || post(rebuild),
    )
    .sends(RequestBody::MaybeJson("MarkMail"))
    .answers(&[(200, Json("MailRebuilt"))])
    .refuses(&[404, 409]),
    Row::post(
        "/api/mail/{owner}/{name}/seal",
        "seal_mail",
        "Puts all events of mail that no sealed page has into one",
        || post(seal),
    )
    .sends(RequestBody::MaybeJson("MarkMail"))
    .answers(&[(200, Json("MailSealed"))])
    .refuses(&[404, 409]),
    Row::post(
        "/api/mail/{owner}/{name}/import",
        "import_mail",
        "Adds the events of an export that are not there yet; needs the scope `admin`",
        || post(import),
    )
    .sends(RequestBody::Json("ImportMail"))
    .answers(&[(200, Json("MailImported"))])
    .refuses(&[404, 409]),
    Row::get(
        "/api/mail/{owner}/{name}/{persona}",
        "show_mailbox",
        "Lists the mail of a persona, the oldest first, and marks nothing read",
        || get(mailbox),
    )
    .takes(&MAILBOX)
    .answers(&[(200, Json("Mailbox"))])
    .refuses(&[404]),
    Row::get(
        "/api/mail/{owner}/{name}/{persona}/{message}",
        "show_mail",
        "Shows a message and leaves it as it is",
        || get(show),
    )
    .answers(MESSAGE)
    .refuses(&[404]),
    Row::post(
        "/api/mail/{owner}/{name}/{persona}/{message}/read",
        "read_mail",
        "Marks a message read, and shows it",
        || marks(MessageOrder::Read),
    )
    .also_at("/api/mail/{owner}/{name}/{persona}/{message}:read")
    .sends(RequestBody::MaybeJson("MarkMail"))
    .answers(MESSAGE)
    .refuses(&[404, 409]),
    Row::post(
        "/api/mail/{owner}/{name}/{persona}/{message}/tag",
        "tag_mail",
        "Puts a tag on a message, or takes one off",
        || post(tag),
    )
    .also_at("/api/mail/{owner}/{name}/{persona}/{message}:tag")
    .sends(RequestBody::Json("TagMail"))
    .answers(MESSAGE)
    .refuses(&[404, 409]),
    Row::post(
        "/api/mail/{owner}/{name}/{persona}/{message}/trash",
        "trash_mail",
        "Throws a message away",
        || marks(MessageOrder::Trash),
    )
    .also_at("/api/mail/{owner}/{name}/{persona}/{message}:trash")
    .sends(RequestBody::MaybeJson("MarkMail"))
    .answers(MESSAGE)
    .refuses(&[404, 409]),
    Row::post(
        "/api/mail/{owner}/{name}/{persona}/{message}/untrash",
        "untrash_mail",
        "Takes a message back out of the trash",
        || marks(MessageOrder::Untrash),
    )
    .also_at("/api/mail/{owner}/{name}/{persona}/{message}:untrash")
    .sends(RequestBody::MaybeJson("MarkMail"))
    .answers(MESSAGE)
    .refuses(&[404, 409]),
];

fn marks(order: MessageOrder) -> MethodRouter<Arc<ApiInner>> {
    post(move |api, path, who, sent| mark(order, api, path, who, sent))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use domain::ids::MAIL_PAGES;

    use super::*;

    #[test]
    fn no_persona_is_called_like_a_page_beside_the_mailboxes() {
        let beside = ROWS
            .iter()
            .filter_map(|row| row.route.path.strip_prefix("/api/mail/{owner}/{name}/"));
        let words: BTreeSet<&str> = beside
            .filter_map(|rest| rest.split('/').next())
            .filter(|word| !word.starts_with('{'))
            .collect();
        assert_eq!(words, BTreeSet::from(MAIL_PAGES));
    }
}
