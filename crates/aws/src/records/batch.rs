//! Reading many records by their keys.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::KeysAndAttributes;
use engine::ports::{Key, Record, RecordsError};

use super::item::{self, Item};
use super::{Table, failure};

/// Most keys in one request: DynamoDB's limit.
const KEYS_MAX: usize = 100;

/// The records at these keys, as the table has them or had them a moment ago.
pub(super) async fn get(
    table: &Table,
    keys: &[&Key],
) -> Result<BTreeMap<Key, Record>, RecordsError> {
    let found = items(table, keys).await?;
    let there = found.into_iter().filter(|(_, item)| item::is_record(item));
    there
        .map(|(key, item)| Ok((key, item::record(&item)?)))
        .collect()
}

/// The items at these keys, likewise.
pub(super) async fn items(
    table: &Table,
    keys: &[&Key],
) -> Result<BTreeMap<Key, Item>, RecordsError> {
    let mut found = BTreeMap::new();
    // A row that moves while its list is read appears twice, and DynamoDB refuses duplicate keys.
    let keys: Vec<&Key> = keys
        .iter()
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    for some in keys.chunks(KEYS_MAX) {
        let mut left: Vec<Item> = some.iter().map(|key| item::key(key)).collect();
        while !left.is_empty() {
            let before = left.len();
            let (items, unread) = ask(table, left).await?;
            found.extend(items.into_iter().map(|item| (item::key_of(&item), item)));
            // An answer may be partial, but then it contains at least one item.
            if unread.len() >= before {
                return Err(RecordsError::Unavailable {
                    doing: DOING.to_owned(),
                    message: format!("the table answered for none of {before}; try again"),
                });
            }
            left = unread;
        }
    }
    Ok(found)
}

const DOING: &str = "getting several records";

async fn ask(table: &Table, keys: Vec<Item>) -> Result<(Vec<Item>, Vec<Item>), RecordsError> {
    let asked = KeysAndAttributes::builder().set_keys(Some(keys)).build();
    let asked = asked.map_err(|error| RecordsError::Unavailable {
        doing: DOING.to_owned(),
        message: error.to_string(),
    })?;
    let request = table.client.batch_get_item();
    let answer = request.request_items(&table.name, asked).send().await;
    let answer = answer.map_err(|error| failure::of_read(DOING, &error))?;
    let mut responses = answer.responses.unwrap_or_default();
    let items = responses.remove(&table.name).unwrap_or_default();
    let mut unread = answer.unprocessed_keys.unwrap_or_default();
    let unread = unread.remove(&table.name).map(|left| left.keys);
    Ok((items, unread.unwrap_or_default()))
}
