//! Reading: one record, a partition, the indexes, everything.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::Select;
use engine::keys;
use engine::ports::{DueRow, Key, Member, Page, PageToken, Record, RecordsError};
use jiff::Timestamp;

use super::item::{self, Item, ListPlace, text};
use super::shared_item::SharedItem;
use super::{Table, batch, failure};
use crate::setup::{ALL, DUE_AT, DUE_IN, DUE_INDEX, LIST, LIST_INDEX, PK, PLACE, SK};

/// Most records that one request asks for: what a count of the port can be in DynamoDB's own type.
const LIMIT_MAX: usize = 1_000;

/// What is asked of the table or of an index.
pub(super) struct ReadRequest {
    doing: &'static str,
    index: Option<&'static str>,
    newest: bool,
    condition: &'static str,
    names: Vec<(&'static str, &'static str)>,
    values: Vec<(&'static str, aws_sdk_dynamodb::types::AttributeValue)>,
    after: Option<Item>,
}

impl ReadRequest {
    /// The records of a partition, as of the last commit.
    pub(super) fn partition(pk: &str, prefix: &str, after: Option<String>) -> Self {
        let after = after.map(|sk| {
            item::key(&Key {
                pk: pk.to_owned(),
                sk,
            })
        });
        let mut question = Self {
            doing: "querying a partition",
            index: None,
            newest: false,
            condition: "#pk = :pk",
            names: vec![("#pk", PK)],
            values: vec![(":pk", text(pk))],
            after,
        };
        // An empty prefix is every prefix, and no value of a key may be empty.
        if !prefix.is_empty() {
            question.condition = "#pk = :pk AND begins_with(#sk, :prefix)";
            question.names.push(("#sk", SK));
            question.values.push((":prefix", text(prefix)));
        }
        question
    }

    /// The records of a list, as the index has them.
    pub(super) fn list(name: &str, newest: bool, after: Option<ListPlace>) -> Self {
        let after = after.map(|(sort, key)| {
            let mut place = item::key(&key);
            place.insert(LIST.to_owned(), text(name));
            place.insert(PLACE.to_owned(), text(sort));
            place
        });
        Self {
            doing: "listing records",
            index: Some(LIST_INDEX),
            newest,
            condition: "#list = :list",
            names: vec![("#list", LIST)],
            values: vec![(":list", text(name))],
            after,
        }
    }

    fn due(until: Option<Timestamp>) -> Self {
        let mut question = Self {
            doing: "reading what is due",
            index: Some(DUE_INDEX),
            newest: false,
            condition: "#in = :all",
            names: vec![("#in", DUE_IN)],
            values: vec![(":all", text(ALL))],
            after: None,
        };
        if let Some(until) = until {
            question.condition = "#in = :all AND #at <= :until";
            question.names.push(("#at", DUE_AT));
            question.values.push((":until", item::time(until)));
        }
        question
    }

    fn query(&self, table: &Table, after: Option<Item>) -> QueryFluentBuilder {
        let mut query = table
            .client
            .query()
            .table_name(&table.name)
            .set_index_name(self.index.map(str::to_owned))
            // Indexes allow no consistent reads.
            .consistent_read(self.index.is_none())
            .scan_index_forward(!self.newest)
            .key_condition_expression(self.condition)
            .set_exclusive_start_key(after);
        for (name, attribute) in &self.names {
            query = query.expression_attribute_names(*name, *attribute);
        }
        for (name, value) in &self.values {
            query = query.expression_attribute_values(*name, value.clone());
        }
        query
    }

    async fn ask(
        &self,
        table: &Table,
        after: Option<Item>,
        limit: usize,
    ) -> Result<QueryOutput, RecordsError> {
        let query = self.query(table, after).limit(count(limit));
        let answer = query.send().await;
        answer.map_err(|error| failure::of_read(self.doing, &error))
    }

    /// Items up to a limit, over as many requests as needed: an answer ends at one megabyte.
    async fn items(&self, table: &Table, limit: usize) -> Result<Vec<Item>, RecordsError> {
        let mut items = Vec::new();
        let mut after = self.after.clone();
        loop {
            let answer = self.ask(table, after, limit - items.len()).await?;
            items.extend(answer.items.unwrap_or_default());
            after = answer.last_evaluated_key;
            if after.is_none() || items.len() >= limit {
                return Ok(items);
            }
        }
    }
}

fn count(limit: usize) -> i32 {
    i32::try_from(limit.clamp(1, LIMIT_MAX)).unwrap_or(i32::MAX)
}

/// Reads a record; a small one comes from its aggregate's item.
pub(super) async fn get(table: &Table, key: &Key) -> Result<Option<Record>, RecordsError> {
    if let Some(home) = home_of(key) {
        let found = home_at(table, &home).await?;
        let here = found.as_ref().and_then(|home| home.record(key));
        let may_be_apart = home != *key && found.is_some_and(|home| home.is_apart);
        if here.is_some() || !may_be_apart {
            return Ok(here);
        }
    }
    let item = item(table, key).await?;
    item.as_ref().map(item::record).transpose()
}

/// The item that a record may be in, or is.
pub(super) fn home_of(key: &Key) -> Option<Key> {
    match keys::is_home(key) {
        true => Some(key.clone()),
        false => keys::home(key),
    }
}

/// The item at a key, as of its last commit.
pub(super) async fn item(table: &Table, key: &Key) -> Result<Option<Item>, RecordsError> {
    let answer = table
        .client
        .get_item()
        .table_name(&table.name)
        .set_key(Some(item::key(key)))
        .consistent_read(true)
        .send()
        .await;
    let answer = answer.map_err(|error| failure::of_read("getting a record", &error))?;
    Ok(answer.item)
}

/// The item of an aggregate as of its last commit; `None` where there is none.
async fn home_at(table: &Table, key: &Key) -> Result<Option<SharedItem>, RecordsError> {
    let item = item(table, key).await?;
    let home = item.as_ref().map(SharedItem::from_item).transpose()?;
    if let Some(home) = &home {
        table.homes.keep(home.clone());
    }
    Ok(home)
}

/// The records of a partition, those that share an item among them.
pub(super) async fn partition(
    table: &Table,
    pk: &str,
    prefix: &str,
    after: Option<String>,
    limit: usize,
) -> Result<Page, RecordsError> {
    let limit = limit.max(1);
    let home = match shares(pk, prefix) {
        Shares::Nothing => None,
        Shares::Some | Shares::All => home_at(table, &home_key(pk)).await?,
    };
    let mut found = BTreeMap::new();
    let all_here = home.as_ref().is_none_or(|home| !home.is_apart);
    if !(all_here && shares(pk, prefix) == Shares::All) {
        let question = ReadRequest::partition(pk, prefix, after.clone());
        // One more than the page holds shows whether there is another page; an item may contribute only small records.
        let items = question.items(table, limit.saturating_add(2)).await?;
        for item in items.iter().filter(|item| item::is_record(item)) {
            let record = item::record(item)?;
            found.insert(record.key.sk.clone(), record);
        }
    }
    let small = home.iter().flat_map(|home| home.small(prefix));
    let ahead = small.filter(|record| after.as_ref().is_none_or(|after| record.key.sk > *after));
    found.extend(ahead.map(|record| (record.key.sk.clone(), record)));
    let more = found.len() > limit;
    let records: Vec<Record> = found.into_values().take(limit).collect();
    let next = records
        .last()
        .filter(|_| more)
        .map(|last| PageToken::of_parts([last.key.sk.as_str()]));
    Ok(Page { records, next })
}

/// How many of the records that a question is about may share an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shares {
    Nothing,
    Some,
    All,
}

fn shares(pk: &str, prefix: &str) -> Shares {
    let (home, key) = (home_key(pk), |sk: &str| Key {
        pk: pk.to_owned(),
        sk: sk.to_owned(),
    });
    if !keys::is_home(&home) {
        Shares::Nothing
    } else if keys::home(&key(prefix)).is_some() {
        Shares::All
    } else if keys::SMALL.iter().any(|small| small.starts_with(prefix)) {
        Shares::Some
    } else {
        Shares::Nothing
    }
}

fn home_key(pk: &str) -> Key {
    Key {
        pk: pk.to_owned(),
        sk: keys::META.to_owned(),
    }
}

/// The index has the members of the list, and the table their contents: members that have left since are omitted.
pub(super) async fn list(
    table: &Table,
    name: &str,
    question: &ReadRequest,
    limit: usize,
) -> Result<Page, RecordsError> {
    let (items, more) = first(question, table, limit).await?;
    let places: Vec<ListPlace> = items.iter().map(item::place).collect();
    let keys: Vec<&Key> = places.iter().map(|(_, key)| key).collect();
    let mut found = batch::get(table, &keys).await?;
    let stands = |record: &Record| record.list.as_ref().is_some_and(|list| list.name == name);
    let there = keys.iter().filter_map(|key| found.remove(*key));
    let records = there.filter(stands).collect();
    let last = places.last().filter(|_| more);
    let next = last.map(|(sort, key)| PageToken::after(sort, key));
    Ok(Page { records, next })
}

/// Members of a list, from the index alone.
pub(super) async fn members(
    table: &Table,
    name: &str,
    limit: usize,
) -> Result<Vec<Member>, RecordsError> {
    let items = ReadRequest::list(name, false, None)
        .items(table, limit)
        .await?;
    let places = items.iter().take(limit).map(item::place);
    Ok(places.map(|(sort, key)| Member { key, sort }).collect())
}

/// How many records are in a list, by the index alone: a request counts a megabyte of it, some thousands of rows.
pub(super) async fn count_of(table: &Table, name: &str) -> Result<u64, RecordsError> {
    let question = ReadRequest::list(name, false, None);
    let (mut counted, mut after) = (0, None);
    loop {
        let query = question.query(table, after).select(Select::Count);
        let answer = query.send().await;
        let answer = answer.map_err(|error| failure::of_read("counting a list", &error))?;
        counted += u64::from(answer.count.unsigned_abs());
        after = answer.last_evaluated_key;
        if after.is_none() {
            return Ok(counted);
        }
    }
}

/// What a page holds at most, and whether there is more.
async fn first(
    question: &ReadRequest,
    table: &Table,
    limit: usize,
) -> Result<(Vec<Item>, bool), RecordsError> {
    let limit = limit.max(1);
    let mut items = question.items(table, limit.saturating_add(1)).await?;
    let more = items.len() > limit;
    items.truncate(limit);
    Ok((items, more))
}

pub(super) async fn due(
    table: &Table,
    until: Option<Timestamp>,
    limit: usize,
) -> Result<Vec<DueRow>, RecordsError> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let items = ReadRequest::due(until).items(table, limit).await?;
    let rows: Vec<DueRow> = items
        .iter()
        .take(limit)
        .map(item::due_row)
        .collect::<Result<_, _>>()?;
    let Some(until) = until else {
        return Ok(rows);
    };
    // Of an aggregate the index knows when the first of its records is due, and not which one it is.
    let homes: Vec<&Key> = rows.iter().map(|row| &row.key).collect();
    let homes: Vec<&Key> = homes.into_iter().filter(|key| keys::is_home(key)).collect();
    let mut found = batch::items(table, &homes).await?;
    let mut due = Vec::with_capacity(rows.len());
    for row in rows {
        let item = found.remove(&row.key);
        due.extend(of_row(item.as_ref(), row, until));
    }
    due.sort_by_key(|row| row.due);
    due.truncate(limit);
    Ok(due)
}

/// Due rows behind one row of the index: each due record of the aggregate.
///
/// The row counts as it is where its item is no aggregate, is missing, unreadable or older than the index: its
/// handler reads it again anyway.
fn of_row(item: Option<&Item>, row: DueRow, until: Timestamp) -> Vec<DueRow> {
    let Some(Ok(home)) = item.map(SharedItem::from_item) else {
        return vec![row];
    };
    let all = home.records().into_iter();
    let due = all.filter_map(|record| Some((record.due?, record.key)));
    let due: Vec<DueRow> = due
        .filter(|(due, _)| *due <= until)
        .map(|(due, key)| DueRow { key, due })
        .collect();
    if due.is_empty() { vec![row] } else { due }
}

pub(super) async fn scan(
    table: &Table,
    after: Option<PageToken>,
    limit: usize,
) -> Result<Page, RecordsError> {
    let after = after.map(|token| token.parts()).transpose()?;
    let after = after.map(|[pk, sk]| Key { pk, sk });
    let answer = table
        .client
        .scan()
        .table_name(&table.name)
        .consistent_read(true)
        .set_exclusive_start_key(after.as_ref().map(item::key))
        .limit(count(limit))
        .send()
        .await;
    let answer = answer.map_err(|error| failure::of_read("reading all records", &error))?;
    let items = answer.items.unwrap_or_default();
    let mut records = Vec::with_capacity(items.len());
    for item in &items {
        if keys::is_home(&item::key_of(item)) {
            records.extend(SharedItem::from_item(item)?.records());
        } else {
            records.push(item::record(item)?);
        }
    }
    let last = items.last().map(item::key_of);
    let next = answer.last_evaluated_key.and(last);
    Ok(Page {
        records,
        next: next.map(|last| PageToken::of_parts([last.pk.as_str(), last.sk.as_str()])),
    })
}
