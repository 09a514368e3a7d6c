//! Page tokens: the place of the last record of a page. Those of lists are the same in every store; those of
//! partitions are JSON in URL-safe Base64.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::ports::{ListKey, PageToken, Record, RecordsError};

/// A place in a list: sort text, partition, place in the partition.
pub(super) type ListPlace = (String, String, String);

pub(super) fn of_query(last: &Record) -> PageToken {
    seal(&serde_json::json!([last.key.sk]))
}

pub(super) fn of_list(last: &Record) -> PageToken {
    let sort = match &last.list {
        Some(ListKey { sort, .. }) => sort.as_str(),
        None => "",
    };
    PageToken::after(sort, &last.key)
}

pub(super) fn open_query(token: &PageToken) -> Result<String, RecordsError> {
    let [sk] = open(token)?;
    Ok(sk)
}

pub(super) fn open_list(token: &PageToken) -> Result<ListPlace, RecordsError> {
    let (sort, key) = token.place()?;
    Ok((sort, key.pk, key.sk))
}

fn seal(place: &serde_json::Value) -> PageToken {
    PageToken(URL_SAFE_NO_PAD.encode(place.to_string()))
}

/// Tokens come back from outside, so one that is not ours is refused and never guessed at.
fn open<const PARTS: usize>(token: &PageToken) -> Result<[String; PARTS], RecordsError> {
    parts(token)
        .and_then(|parts| parts.try_into().ok())
        .ok_or_else(|| RecordsError::Unavailable {
            doing: "turning to the next page".to_owned(),
            message: "the page token is not from this listing; start again without one".to_owned(),
        })
}

fn parts(token: &PageToken) -> Option<Vec<String>> {
    let json = URL_SAFE_NO_PAD.decode(&token.0).ok()?;
    serde_json::from_slice(&json).ok()
}
