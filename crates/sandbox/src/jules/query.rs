//! Query parameters, paging and filters, with the refusals of Google's fronts.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

use super::refusal::JulesRefusal;
use super::switches::{ActivityFilter, Order, SessionFilter};

/// Page size of sources and sessions when none is asked for.
pub(crate) const DEFAULT_PAGE: usize = 30;

/// Page size of activities when none is asked for.
pub(crate) const DEFAULT_ACTIVITY_PAGE: usize = 50;

/// Larger page sizes are coerced to this.
pub(crate) const MAX_PAGE: usize = 100;

/// The parameters of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) page_size: Option<usize>,
    pub(crate) page_token: String,
    pub(crate) filter: String,
    /// The mask of `fields=`.
    pub(crate) fields: String,
    /// The key of `?key=`.
    pub(crate) key: String,
}

impl Query {
    /// Reads the parameters of a method: those in `known` and the ones of all methods.
    pub(crate) fn read(text: &str, known: &[&str]) -> Result<Self, JulesRefusal> {
        let mut query = Self::default();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            match name.as_ref() {
                "key" => query.key = value.into_owned(),
                "fields" | "$fields" => query.fields = value.into_owned(),
                "alt" | "$alt" | "prettyPrint" | "$prettyPrint" | "quotaUser" | "$.xgafv"
                | "callback" => {}
                unknown if !known.contains(&unknown) => {
                    return Err(JulesRefusal::unknown_parameter(unknown));
                }
                "pageSize" => query.page_size = Some(page_size(&value)?),
                "pageToken" => query.page_token = value.into_owned(),
                "filter" => query.filter = value.into_owned(),
                unknown => return Err(JulesRefusal::unknown_parameter(unknown)),
            }
        }
        Ok(query)
    }
}

fn page_size(value: &str) -> Result<usize, JulesRefusal> {
    let field = "page_size";
    let wrong = || {
        JulesRefusal::invalid_field(
            field,
            &format!("Invalid value at '{field}' (TYPE_INT32), \"{value}\""),
        )
    };
    let size: i32 = value.parse().map_err(|_| wrong())?;
    usize::try_from(size).map_err(|_| wrong())
}

/// The place of a thing in a list: nanoseconds, then a name for duplicates.
pub(crate) type Place = (i128, String);

/// Cuts one page out of `items`, which are in `order` of their places.
/// `scope` is the list's name and filter: a token is valid only for its own.
pub(crate) fn page<T>(
    items: Vec<(Place, T)>,
    order: Order,
    size: usize,
    token: &str,
    scope: &str,
) -> Result<(Vec<T>, String), JulesRefusal> {
    let start = if token.is_empty() {
        None
    } else {
        Some(read_token(token, scope)?)
    };
    let beyond = |place: &Place| match (&start, order) {
        (None, _) => true,
        (Some(start), Order::OldestFirst) => place > start,
        (Some(start), Order::NewestFirst) => place < start,
    };
    let mut rest = items
        .into_iter()
        .filter(|(place, _)| beyond(place))
        .peekable();
    let mut last = None;
    let mut page = Vec::new();
    for (place, item) in rest.by_ref().take(size) {
        last = Some(place);
        page.push(item);
    }
    let next = match (last, rest.peek()) {
        (Some(place), Some(_)) => write_token(&place, scope),
        (None, _) | (_, None) => String::new(),
    };
    Ok((page, next))
}

/// The page size for a requested one.
pub(crate) fn coerced(asked: Option<usize>, default: usize) -> usize {
    match asked {
        None | Some(0) => default,
        Some(size) => size.min(MAX_PAGE),
    }
}

fn write_token((nanos, name): &Place, scope: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{nanos}\n{name}\n{scope}"))
}

fn read_token(token: &str, scope: &str) -> Result<Place, JulesRefusal> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        let mut parts = text.splitn(3, '\n');
        let nanos = parts.next()?.parse().ok()?;
        let name = parts.next()?.to_owned();
        (parts.next()? == scope).then_some((nanos, name))
    };
    read().ok_or_else(|| JulesRefusal::invalid("Invalid page token."))
}

/// `create_time>"…"`: the instant and whether it is included.
pub(crate) fn activity_filter(
    filter: &str,
    support: ActivityFilter,
) -> Result<Option<(Timestamp, bool)>, JulesRefusal> {
    if filter.trim().is_empty() {
        return Ok(None);
    }
    let refused = || JulesRefusal::invalid_field("filter", "Invalid filter.");
    let rest = filter
        .trim()
        .strip_prefix("create_time")
        .ok_or_else(refused)?
        .trim_start();
    let (included, rest) = match rest.strip_prefix(">=") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix('>').ok_or_else(refused)?),
    };
    let refuse = match support {
        ActivityFilter::Accepted => false,
        ActivityFilter::GreaterOnly => included,
        ActivityFilter::Refused => true,
    };
    let instant = unquoted(rest).parse().map_err(|_| refused())?;
    if refuse {
        Err(refused())
    } else {
        Ok(Some((instant, included)))
    }
}

/// What a filter on sessions asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionChoice {
    /// No filter: everything that is not archived.
    Live,
    Archived(bool),
    State(String),
    Source(String),
}

/// `archived = true`, `state = X`, `source = "…"`.
pub(crate) fn session_filter(
    filter: &str,
    support: SessionFilter,
) -> Result<SessionChoice, JulesRefusal> {
    if filter.trim().is_empty() {
        return Ok(SessionChoice::Live);
    }
    let refused = || JulesRefusal::invalid_field("filter", "Invalid filter.");
    let (name, value) = filter.split_once('=').ok_or_else(refused)?;
    let value = unquoted(value);
    match (name.trim(), value, support) {
        (_, _, SessionFilter::Refused) => Err(refused()),
        ("archived", "true", _) => Ok(SessionChoice::Archived(true)),
        ("archived", "false", _) => Ok(SessionChoice::Archived(false)),
        ("state", state, SessionFilter::StateAndSource) => {
            Ok(SessionChoice::State(state.to_owned()))
        }
        ("source", source, SessionFilter::StateAndSource) => {
            Ok(SessionChoice::Source(source.to_owned()))
        }
        (_, _, SessionFilter::ArchivedOnly | SessionFilter::StateAndSource) => Err(refused()),
    }
}

/// `name=sources/github/o/r1 OR name="sources/github/o/r2"`: the names; `None` without a filter.
pub(crate) fn source_filter(filter: &str) -> Result<Option<Vec<String>>, JulesRefusal> {
    if filter.trim().is_empty() {
        return Ok(None);
    }
    let names: Option<Vec<String>> = filter
        .split(" OR ")
        .map(|term| {
            let (name, value) = term.split_once('=')?;
            (name.trim() == "name").then(|| unquoted(value).to_owned())
        })
        .collect();
    names
        .map(Some)
        .ok_or_else(|| JulesRefusal::invalid_field("filter", "Invalid filter."))
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    value
        .strip_prefix('"')
        .and_then(|it| it.strip_suffix('"'))
        .unwrap_or(value)
}
