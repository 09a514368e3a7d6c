//! Writing: one item as an update, several as a transaction, each under its condition.

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use engine::ports::{CommitError, Expect, Key, Record, Write};
use ulid::Ulid;

use super::doubt::Doubt;
use super::item::{self, Item, number, text};
use super::{Table, failure};
use crate::setup::{ALL, BODY, DUE_AT, DUE_IN, FORGET_AT, LIST, PK, PLACE, VERSION, WRITER};

/// An expression with what its names and values stand for.
#[derive(Default)]
struct Expression {
    names: Vec<(&'static str, &'static str)>,
    values: Vec<(&'static str, aws_sdk_dynamodb::types::AttributeValue)>,
}

impl Expression {
    /// The condition under which an item is written; none when it may be whatever it is.
    fn condition(&mut self, expect: Expect) -> Option<&'static str> {
        match expect {
            Expect::Absent => {
                self.names.push(("#pk", PK));
                Some("attribute_not_exists(#pk)")
            }
            Expect::Version(version) => {
                self.names.push(("#found", VERSION));
                self.values.push((":found", number(version)));
                Some("#found = :found")
            }
            Expect::Any => None,
        }
    }

    /// Sets what the record has and takes away what it has not; the version counts up from whatever it was.
    fn update(&mut self, record: &Record, writer: Ulid) -> String {
        self.names = vec![
            ("#body", BODY),
            ("#version", VERSION),
            ("#writer", WRITER),
            ("#due_in", DUE_IN),
            ("#due_at", DUE_AT),
            ("#list", LIST),
            ("#place", PLACE),
            ("#forget_at", FORGET_AT),
        ];
        self.values = vec![
            (":body", text(&record.body)),
            (":writer", text(writer.to_string())),
            (":none", number(0)),
            (":one", number(1)),
        ];
        let mut set =
            "SET #body = :body, #writer = :writer, #version = if_not_exists(#version, :none) + :one"
                .to_owned();
        let mut remove = Vec::new();
        match record.due {
            Some(due) => {
                set.push_str(", #due_in = :due_in, #due_at = :due_at");
                self.values.push((":due_in", text(ALL)));
                self.values.push((":due_at", item::time(due)));
            }
            None => remove.push("#due_in, #due_at"),
        }
        match &record.list {
            Some(list) => {
                set.push_str(", #list = :list, #place = :place");
                self.values.push((":list", text(&list.name)));
                self.values.push((":place", text(&list.sort)));
            }
            None => remove.push("#list, #place"),
        }
        match record.forget {
            Some(at) => {
                set.push_str(", #forget_at = :forget_at");
                self.values.push((":forget_at", number(at.as_second())));
            }
            None => remove.push("#forget_at"),
        }
        if remove.is_empty() {
            return set;
        }
        format!("{set} REMOVE {}", remove.join(", "))
    }
}

/// Names and values of an expression, put into a request of any kind.
macro_rules! explained {
    ($builder:expr, $expression:expr) => {{
        let mut builder = $builder;
        for (name, attribute) in $expression.names {
            builder = builder.expression_attribute_names(name, attribute);
        }
        for (name, value) in $expression.values {
            builder = builder.expression_attribute_values(name, value);
        }
        builder
    }};
}

/// Writes all items or none.
pub(super) async fn commit(table: &Table, items: &[Write]) -> Result<(), CommitError> {
    // What would be checked for nothing needs no asking.
    let items: Vec<&Write> = items.iter().filter(|item| !is_idle(item)).collect();
    match items.as_slice() {
        [] => Ok(()),
        [Write::Put { record, expect }] => put(table, record, *expect).await,
        [Write::Delete { key, expect }] => delete(table, key, *expect).await,
        [Write::Check { .. }] | [_, _, ..] => transact(table, &items).await,
    }
}

fn is_idle(item: &Write) -> bool {
    matches!(
        item,
        Write::Check {
            expect: Expect::Any,
            ..
        }
    )
}

/// One record needs no transaction, which would cost twice. What another try finds there may be what an earlier one wrote: its writer tells.
async fn put(table: &Table, record: &Record, expect: Expect) -> Result<(), CommitError> {
    let writer = Ulid::generate();
    let mut expression = Expression::default();
    let update = expression.update(record, writer);
    let condition = expression.condition(expect);
    let doubt = Doubt::default();
    let request = table
        .client
        .update_item()
        .table_name(&table.name)
        .set_key(Some(item::key(&record.key)))
        .update_expression(update)
        .set_condition_expression(condition.map(str::to_owned))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let answer = explained!(request, expression)
        .customize()
        .interceptor(doubt.clone())
        .send()
        .await;
    let Err(error) = answer else {
        return Ok(());
    };
    let found = match error.as_service_error() {
        Some(UpdateItemError::ConditionalCheckFailedException(refused)) => refused.item(),
        Some(_) | None => None,
    };
    if found.is_some_and(|found| is_by(found, writer)) {
        return Ok(());
    }
    Err(failure::of_write(&record.key, &error, &doubt))
}

fn is_by(found: &Item, writer: Ulid) -> bool {
    item::string(found, WRITER).is_some_and(|found| found == writer.to_string())
}

async fn delete(table: &Table, key: &Key, expect: Expect) -> Result<(), CommitError> {
    let mut expression = Expression::default();
    let condition = expression.condition(expect);
    let doubt = Doubt::default();
    let request = table
        .client
        .delete_item()
        .table_name(&table.name)
        .set_key(Some(item::key(key)))
        .set_condition_expression(condition.map(str::to_owned));
    let answer = explained!(request, expression)
        .customize()
        .interceptor(doubt.clone())
        .send()
        .await;
    answer
        .map(drop)
        .map_err(|error| failure::of_write(key, &error, &doubt))
}

/// The SDK sends the same token with every try, and DynamoDB answers a transaction that it has done already as done, for ten minutes.
async fn transact(table: &Table, items: &[&Write]) -> Result<(), CommitError> {
    let writer = Ulid::generate();
    let parts: Result<Vec<_>, _> = items.iter().map(|item| part(table, item, writer)).collect();
    let parts = parts.map_err(|error| CommitError::Unavailable(error.to_string()))?;
    let doubt = Doubt::default();
    let answer = table
        .client
        .transact_write_items()
        .set_transact_items(Some(parts))
        .customize()
        .interceptor(doubt.clone())
        .send()
        .await;
    answer
        .map(drop)
        .map_err(|error| failure::of_transaction(items, &error, &doubt))
}

fn part(
    table: &Table,
    item: &Write,
    writer: Ulid,
) -> Result<TransactWriteItem, aws_sdk_dynamodb::error::BuildError> {
    let whole = TransactWriteItem::builder();
    let mut expression = Expression::default();
    let whole = match item {
        Write::Put { record, expect } => {
            let update = expression.update(record, writer);
            let condition = expression.condition(*expect);
            let part = Update::builder()
                .table_name(&table.name)
                .set_key(Some(item::key(&record.key)))
                .update_expression(update)
                .set_condition_expression(condition.map(str::to_owned));
            whole.update(explained!(part, expression).build()?)
        }
        Write::Delete { key, expect } => {
            let condition = expression.condition(*expect);
            let part = Delete::builder()
                .table_name(&table.name)
                .set_key(Some(item::key(key)))
                .set_condition_expression(condition.map(str::to_owned));
            whole.delete(explained!(part, expression).build()?)
        }
        Write::Check { key, expect } => {
            let condition = expression.condition(*expect);
            let part = ConditionCheck::builder()
                .table_name(&table.name)
                .set_key(Some(item::key(key)))
                .set_condition_expression(condition.map(str::to_owned));
            whole.condition_check(explained!(part, expression).build()?)
        }
    };
    Ok(whole.build())
}
