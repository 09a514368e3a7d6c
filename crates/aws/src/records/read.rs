//! Reading: one record, a partition, the indexes, everything.

use aws_sdk_dynamodb::operation::query::QueryOutput;
use engine::ports::{DueRow, Key, Page, PageToken, Record, RecordsError};
use jiff::Timestamp;

use super::item::{self, Item, text};
use super::token::{self, ListPlace};
use super::{Table, batch, failure};
use crate::setup::{ALL, DUE_AT, DUE_IN, DUE_INDEX, LIST, LIST_INDEX, PK, PLACE, SK};

/// Most records that one request asks for: what a count of the port can be in DynamoDB's own type.
const LIMIT_MAX: usize = 1_000;

/// What is asked of the table or of an index.
pub(super) struct Question {
    doing: &'static str,
    index: Option<&'static str>,
    newest: bool,
    condition: &'static str,
    names: Vec<(&'static str, &'static str)>,
    values: Vec<(&'static str, aws_sdk_dynamodb::types::AttributeValue)>,
    after: Option<Item>,
}

impl Question {
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

    async fn ask(
        &self,
        table: &Table,
        after: Option<Item>,
        limit: usize,
    ) -> Result<QueryOutput, RecordsError> {
        let mut query = table
            .client
            .query()
            .table_name(&table.name)
            .set_index_name(self.index.map(str::to_owned))
            // Indexes know only what they have heard of.
            .consistent_read(self.index.is_none())
            .scan_index_forward(!self.newest)
            .key_condition_expression(self.condition)
            .set_exclusive_start_key(after)
            .limit(count(limit));
        for (name, attribute) in &self.names {
            query = query.expression_attribute_names(*name, *attribute);
        }
        for (name, value) in &self.values {
            query = query.expression_attribute_values(*name, value.clone());
        }
        let answer = query.send().await;
        answer.map_err(|error| failure::of_read(self.doing, &error))
    }

    /// Items up to a limit, however many requests that takes: an answer ends at one megabyte.
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

pub(super) async fn get(table: &Table, key: &Key) -> Result<Option<Record>, RecordsError> {
    let answer = table
        .client
        .get_item()
        .table_name(&table.name)
        .set_key(Some(item::key(key)))
        .consistent_read(true)
        .send()
        .await;
    let answer = answer.map_err(|error| failure::of_read("getting a record", &error))?;
    answer.item.as_ref().map(item::record).transpose()
}

/// One record more than the page holds tells whether there is another page.
pub(super) async fn partition(
    table: &Table,
    question: &Question,
    limit: usize,
) -> Result<Page, RecordsError> {
    let (items, more) = first(question, table, limit).await?;
    let records: Vec<Record> = items.iter().map(item::record).collect::<Result<_, _>>()?;
    let next = records.last().filter(|_| more).map(token::of_query);
    Ok(Page { records, next })
}

/// The index knows who stands in the list, and the table what they are: whoever has left the list since is left out.
pub(super) async fn list(
    table: &Table,
    (name, question): (&str, &Question),
    limit: usize,
) -> Result<Page, RecordsError> {
    let (items, more) = first(question, table, limit).await?;
    let places: Vec<ListPlace> = items.iter().map(item::place).collect();
    let keys: Vec<&Key> = places.iter().map(|(_, key)| key).collect();
    let mut found = batch::get(table, &keys).await?;
    let stands = |record: &Record| record.list.as_ref().is_some_and(|list| list.name == name);
    let there = keys.iter().filter_map(|key| found.remove(*key));
    let records = there.filter(stands).collect();
    let next = places.last().filter(|_| more).map(token::of_list);
    Ok(Page { records, next })
}

/// Who stands in a list, by the index alone.
pub(super) async fn members(
    table: &Table,
    name: &str,
    limit: usize,
) -> Result<Vec<Key>, RecordsError> {
    let items = Question::list(name, false, None)
        .items(table, limit)
        .await?;
    let places = items.iter().take(limit).map(item::place);
    Ok(places.map(|(_, key)| key).collect())
}

/// What a page holds at most, and whether there is more.
async fn first(
    question: &Question,
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
    let items = Question::due(until).items(table, limit).await?;
    items.iter().take(limit).map(item::due_row).collect()
}

pub(super) async fn scan(
    table: &Table,
    after: Option<PageToken>,
    limit: usize,
) -> Result<Page, RecordsError> {
    let after = after.as_ref().map(token::open_scan).transpose()?;
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
    let records: Vec<Record> = items.iter().map(item::record).collect::<Result<_, _>>()?;
    let more = answer.last_evaluated_key.is_some();
    let next = records.last().filter(|_| more).map(token::of_scan);
    Ok(Page { records, next })
}
