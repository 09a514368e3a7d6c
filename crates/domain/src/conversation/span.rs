//! The part of a cursor that covers a crowd: too many messages of one moment to list each by name.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

use super::{InvalidConversationCursor, SEEN_IDS_MAX};
use crate::ids::ActivityId;

/// A message's place in the order of pages.
pub(super) type MessagePosition = (Timestamp, ActivityId);

/// The reader has everything from a moment to a message.
/// A message that appears late within the span is skipped; that needs more than [`SEEN_IDS_MAX`] messages in one second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    from: Timestamp,
    to: MessagePosition,
}

impl Span {
    /// Whether the span covers the message.
    pub(super) fn holds(&self, at: Timestamp, id: &ActivityId) -> bool {
        at >= self.from && (at, id) <= (self.to.0, &self.to.1)
    }
}

/// Reduces delivered messages to what the cursor keeps: the last ones by name, and a span for the rest if there are
/// many.
/// No span covers a message that is visible and was not delivered.
pub(super) fn compact(
    mut told: Vec<MessagePosition>,
    untold: &[MessagePosition],
) -> (Option<Span>, Vec<ActivityId>) {
    told.sort();
    told.dedup();
    let Some((from, _)) = told.first().cloned() else {
        return (None, Vec::new());
    };
    let next = untold.iter().filter(|place| place.0 >= from).min();
    let before = |place: &&MessagePosition| next.is_none_or(|next| *place < next);
    let sure = told.iter().take_while(before).count();
    let many = told.len().saturating_sub(SEEN_IDS_MAX).min(sure);
    let span = many.checked_sub(1).and_then(|last| told.get(last)).cloned();
    let rest = told.split_off(many).into_iter().map(|(_, id)| id);
    (
        span.map(|to| Span { from, to }),
        rest.take(SEEN_IDS_MAX).collect(),
    )
}

/// How a span begins in the text of a cursor; no id does.
pub(super) const SPAN: char = '~';

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, id) = &self.to;
        let (from, at) = (self.from.as_nanosecond(), at.as_nanosecond());
        write!(f, "{SPAN}{from}{SPAN}{at}{SPAN}{id}")
    }
}

impl FromStr for Span {
    type Err = InvalidConversationCursor;

    fn from_str(text: &str) -> Result<Self, InvalidConversationCursor> {
        let moment = |part: Option<&str>| {
            let nanoseconds: i128 = part
                .and_then(|part| part.parse().ok())
                .ok_or(InvalidConversationCursor)?;
            Timestamp::from_nanosecond(nanoseconds).map_err(|_| InvalidConversationCursor)
        };
        let mut parts = text
            .strip_prefix(SPAN)
            .ok_or(InvalidConversationCursor)?
            .splitn(3, SPAN);
        let (from, at) = (moment(parts.next())?, moment(parts.next())?);
        let id = parts.next().and_then(|id| id.parse().ok());
        let to = (at, id.ok_or(InvalidConversationCursor)?);
        Ok(Self { from, to })
    }
}
