//! Writes of a commit: one update for one item, a transaction for several.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use engine::ports::{COMMIT_ITEMS_MAX, CommitError, Expect, Key, Write};
use ulid::Ulid;

use super::ambiguity::AmbiguousOutcome;
use super::expression::{Expression, explained};
use super::item;
use super::shared_item::{self, SharedItem};
use super::{Table, failure};

/// The write of one item of the table.
pub(super) enum Part<'a> {
    /// A record that is an item of its own.
    Record {
        write: &'a Write,
        expect: Expect,
        /// The version from which a new item continues.
        base: u64,
    },
    /// The new item of an aggregate.
    Home(SharedItem),
    /// The item of an aggregate that must not have changed.
    Unchanged(SharedItem),
}

impl Part<'_> {
    pub(super) fn key(&self) -> &Key {
        match self {
            Self::Record { write, .. } => write.key(),
            Self::Home(home) | Self::Unchanged(home) => &home.key,
        }
    }

    /// Whether it rests on how an item was read.
    pub(super) fn rests_on(&self, key: &Key) -> bool {
        match self {
            // The absence was read, not required by the caller.
            Self::Record { write, expect, .. } => *expect != write.expect() && write.key() == key,
            Self::Home(home) | Self::Unchanged(home) => home.key == *key,
        }
    }
}

/// Does all of it or nothing.
pub(super) async fn send(
    table: &Table,
    parts: &[Part<'_>],
    writer: Ulid,
) -> Result<(), CommitError> {
    match parts {
        [] => Ok(()),
        [
            Part::Record {
                write: Write::Put { record, .. },
                expect,
                base,
            },
        ] => {
            let mut expression = Expression::of_record(record, *base, writer);
            let condition = expression.expecting(*expect);
            update(table, &record.key, expression, condition, writer).await
        }
        [
            Part::Record {
                write: Write::Delete { key, .. },
                expect,
                ..
            },
        ] => {
            let mut expression = Expression::default();
            let condition = expression.expecting(*expect);
            delete(table, key, expression, condition).await
        }
        [Part::Home(home)] if home.is_empty() => {
            let mut expression = Expression::default();
            let condition = Some(expression.unchanged(home.writer.as_deref()));
            delete(table, &home.key, expression, condition).await
        }
        [Part::Home(home)] => {
            let mut expression = Expression::of_home(home, writer);
            let condition = Some(expression.unchanged(home.writer.as_deref()));
            update(table, &home.key, expression, condition, writer).await
        }
        [
            Part::Record {
                write: Write::Check { .. },
                ..
            }
            | Part::Unchanged(_),
        ]
        | [_, _, ..] => transact(table, parts, writer).await,
    }
}

/// One item needs no transaction, which would cost twice. What a retry finds may be what an earlier attempt wrote:
/// its writer shows that.
async fn update(
    table: &Table,
    key: &Key,
    expression: Expression,
    condition: Option<&'static str>,
    writer: Ulid,
) -> Result<(), CommitError> {
    let doubt = AmbiguousOutcome::default();
    let request = table
        .client
        .update_item()
        .table_name(&table.name)
        .set_key(Some(item::key(key)))
        .update_expression(expression.update())
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
    if found.is_some_and(|found| shared_item::is_by(found, writer)) {
        return Ok(());
    }
    Err(failure::of_write(key, &error, &doubt))
}

async fn delete(
    table: &Table,
    key: &Key,
    expression: Expression,
    condition: Option<&'static str>,
) -> Result<(), CommitError> {
    let doubt = AmbiguousOutcome::default();
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

/// The SDK sends the same token with every attempt, and DynamoDB answers a transaction that it has done already as done, for
/// ten minutes.
async fn transact(table: &Table, parts: &[Part<'_>], writer: Ulid) -> Result<(), CommitError> {
    if parts.len() > COMMIT_ITEMS_MAX {
        let what = format!(
            "{} items of the table, at most {COMMIT_ITEMS_MAX}",
            parts.len()
        );
        return Err(CommitError::TooLarge { what });
    }
    let keys: Vec<&Key> = parts.iter().map(Part::key).collect();
    let asked: Result<Vec<_>, _> = parts
        .iter()
        .map(|part| transact_item(table, part, writer))
        .collect();
    let asked = asked.map_err(|error| CommitError::Unavailable(error.to_string()))?;
    let doubt = AmbiguousOutcome::default();
    let answer = table
        .client
        .transact_write_items()
        .set_transact_items(Some(asked))
        .customize()
        .interceptor(doubt.clone())
        .send()
        .await;
    answer
        .map(drop)
        .map_err(|error| failure::of_transaction(&keys, &error, &doubt))
}

fn transact_item(
    table: &Table,
    part: &Part<'_>,
    writer: Ulid,
) -> Result<TransactWriteItem, BuildError> {
    let mut nothing = Expression::default();
    match part {
        Part::Record {
            write: Write::Put { record, .. },
            expect,
            base,
        } => {
            let mut expression = Expression::of_record(record, *base, writer);
            let condition = expression.expecting(*expect);
            put_part(table, &record.key, expression, condition)
        }
        Part::Record {
            write: Write::Delete { key, .. },
            expect,
            ..
        } => {
            let condition = nothing.expecting(*expect);
            delete_part(table, key, nothing, condition)
        }
        Part::Record {
            write: Write::Check { key, .. },
            expect,
            ..
        } => {
            let condition = nothing.expecting(*expect);
            check_part(table, key, nothing, condition)
        }
        Part::Home(home) if home.is_empty() => {
            let condition = nothing.unchanged(home.writer.as_deref());
            delete_part(table, &home.key, nothing, Some(condition))
        }
        Part::Home(home) => {
            let mut expression = Expression::of_home(home, writer);
            let condition = expression.unchanged(home.writer.as_deref());
            put_part(table, &home.key, expression, Some(condition))
        }
        Part::Unchanged(home) => {
            let condition = nothing.unchanged(home.writer.as_deref());
            check_part(table, &home.key, nothing, Some(condition))
        }
    }
}

fn put_part(
    table: &Table,
    key: &Key,
    expression: Expression,
    condition: Option<&'static str>,
) -> Result<TransactWriteItem, BuildError> {
    let part = Update::builder()
        .table_name(&table.name)
        .set_key(Some(item::key(key)))
        .update_expression(expression.update())
        .set_condition_expression(condition.map(str::to_owned));
    let part = explained!(part, expression).build()?;
    Ok(TransactWriteItem::builder().update(part).build())
}

fn delete_part(
    table: &Table,
    key: &Key,
    expression: Expression,
    condition: Option<&'static str>,
) -> Result<TransactWriteItem, BuildError> {
    let part = Delete::builder()
        .table_name(&table.name)
        .set_key(Some(item::key(key)))
        .set_condition_expression(condition.map(str::to_owned));
    let part = explained!(part, expression).build()?;
    Ok(TransactWriteItem::builder().delete(part).build())
}

fn check_part(
    table: &Table,
    key: &Key,
    expression: Expression,
    condition: Option<&'static str>,
) -> Result<TransactWriteItem, BuildError> {
    let part = ConditionCheck::builder()
        .table_name(&table.name)
        .set_key(Some(item::key(key)))
        .set_condition_expression(condition.map(str::to_owned));
    let part = explained!(part, expression).build()?;
    Ok(TransactWriteItem::builder().condition_check(part).build())
}
