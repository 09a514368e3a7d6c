//! Items as versions before 25 November 2026 kept them: every record by itself.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use engine::ports::{Key, Record, Records};

use super::config;

/// Most records of one aggregate in a test.
const RECORDS_MAX: usize = 100;

/// Lets the records of a partition, and some more, be items of their own.
pub async fn as_before(table: &aws::Table, pk: &str, more: Vec<Record>) {
    let page = table.query(pk, "", None, RECORDS_MAX).await;
    let page = page.expect("a page");
    assert!(page.next.is_none(), "{pk} has more than {RECORDS_MAX}");
    let client = Client::new(&config().await);
    for record in page.records.into_iter().chain(more) {
        let put = client.put_item().table_name(table.name());
        let put = put.set_item(Some(item(record)));
        put.send().await.expect("an item");
    }
}

fn item(record: Record) -> HashMap<String, AttributeValue> {
    let text = AttributeValue::S;
    let number = |number: String| AttributeValue::N(number);
    let Key { pk, sk } = record.key;
    let mut item = vec![
        ("pk", text(pk)),
        ("sk", text(sk)),
        ("body", text(record.body)),
        ("version", number(record.version.to_string())),
        ("writer", text("a version before".to_owned())),
    ];
    if let Some(due) = record.due {
        item.push(("due_in", text("all".to_owned())));
        item.push(("due_at", number(due.as_nanosecond().to_string())));
    }
    if let Some(list) = record.list {
        item.push(("list", text(list.name)));
        item.push(("place", text(list.sort)));
    }
    if let Some(at) = record.forget {
        item.push(("forget_at", number(at.as_second().to_string())));
    }
    let named = item
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    named.collect()
}
