//! The names that the code and `infra/foundation.yaml` must agree on.

/// The sparse index of due rows.
pub(crate) const DUE_INDEX: &str = "due";

/// The sparse index of list members.
pub(crate) const LIST_INDEX: &str = "list";

/// Partition key of the table, text.
pub(crate) const PK: &str = "pk";
/// Sort key of the table, text.
pub(crate) const SK: &str = "sk";
/// The JSON body: text, or deflated.
pub(crate) const BODY: &str = "body";
/// How often the record was put, a number.
pub(crate) const VERSION: &str = "version";
/// Which write put it last, text: what an answer that was lost is recognised by.
pub(crate) const WRITER: &str = "writer";
/// The ends of the writes before that one, text, newest first: an answer may be lost while others go on.
pub(crate) const BEFORE: &str = "before";
/// After when the table may forget the item: seconds since 1970, a number.
pub(crate) const FORGET_AT: &str = "forget_at";
/// Partition key of the due index, the same text in every row that is due.
pub(crate) const DUE_IN: &str = "due_in";
/// Sort key of the due index: nanoseconds since 1970, a number.
pub(crate) const DUE_AT: &str = "due_at";
/// Partition key of the list index, text.
pub(crate) const LIST: &str = "list";
/// Sort key of the list index, text.
pub(crate) const PLACE: &str = "place";
/// What a row is counted as in its list, text; in no index, since an index would be written with each change of it.
pub(crate) const WORD: &str = "word";

/// The small records that share the item, by sort key: JSON as text, or deflated. Only items that may be shared have it.
pub(crate) const SMALL: &str = "small";
/// When the record itself is due, where the item is shared: the index has it when the first of all is.
pub(crate) const OWN_AT: &str = "own_at";
/// Whether some records that would share the item are items of their own.
pub(crate) const APART: &str = "apart";

/// The partition of every row in the due index: one partition takes a thousand writes a second, and there are few
/// accounts and deadlines.
pub(crate) const ALL: &str = "all";
