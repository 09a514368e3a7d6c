//! DynamoDB's charges for transactions, by its published rule: DynamoDB Local 1.25 reports other figures, often twice
//! as much.
//!
//! Each item takes two units for each begun kilobyte of what it was or becomes, whichever is larger (AWS, "Amazon
//! DynamoDB Developer Guide", "DynamoDB read and write operations").
//! An index of keys takes one unit where a row comes or goes, and two where one moves; that this is not doubled in a
//! transaction was seen on DynamoDB by the authors of dynoxide, in its pull request 188.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeSerializationInterceptorContextRef, FinalizerInterceptorContextRef, Input,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};

/// Bytes that one unit writes.
const UNIT: usize = 1_024;

/// Units of a transaction for each of them.
const TRANSACTED: u64 = 2;

/// Halves of a unit, which is what is counted.
const HALVES: u64 = 2;

/// Values of an update that are no attributes: conditions, and what a version is counted with.
const NO_ATTRIBUTES: [&str; 3] = [":one", ":seen", ":found"];

/// Attributes by name, of a key or of an update.
type Values = HashMap<String, AttributeValue>;

/// Watches what is written to a table. Clones count together.
#[derive(Debug, Clone, Default)]
pub(super) struct Charges(Arc<Mutex<Known>>);

/// Size and place of every item, and the charges so far.
#[derive(Debug, Default)]
struct Known {
    items: HashMap<String, Stands>,
    halves: u64,
}

/// An item's size, and its places in the indexes.
#[derive(Debug, Clone, Default, PartialEq)]
struct Stands {
    bytes: usize,
    due: Option<AttributeValue>,
    place: Option<(AttributeValue, AttributeValue)>,
}

impl Charges {
    /// What was charged since the last time, in halves of a unit.
    pub(super) fn take(&self) -> u64 {
        std::mem::take(&mut self.known().halves)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a request asks for: it is known before it is sent, and counts once it is answered.
#[derive(Debug, Clone)]
struct Asked {
    changes: Vec<Change>,
    is_transaction: bool,
}

/// What becomes of one item.
#[derive(Debug, Clone)]
enum Change {
    Put(String, Stands),
    Delete(String),
    Check(String),
}

impl Storable for Asked {
    type Storer = StoreReplace<Self>;
}

impl Intercept for Charges {
    fn name(&self) -> &'static str {
        "Charges"
    }

    fn read_before_serialization(
        &self,
        context: &BeforeSerializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(asked) = Asked::from_input(context.input()) {
            config.interceptor_state().store_put(asked);
        }
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let went_well = matches!(context.output_or_error(), Some(Ok(_)));
        if let Some(asked) = config.load::<Asked>().filter(|_| went_well) {
            self.known().note(asked);
        }
        Ok(())
    }
}

impl Asked {
    fn from_input(input: &Input) -> Option<Self> {
        let one = |change| Self {
            changes: vec![change],
            is_transaction: false,
        };
        if let Some(update) = input.downcast_ref::<UpdateItemInput>() {
            let (key, values) = (update.key(), update.expression_attribute_values());
            Some(one(Change::Put(
                name(key),
                Stands::from_values(key, values),
            )))
        } else if let Some(delete) = input.downcast_ref::<DeleteItemInput>() {
            Some(one(Change::Delete(name(delete.key()))))
        } else {
            let all = input.downcast_ref::<TransactWriteItemsInput>()?;
            Some(Self {
                changes: all
                    .transact_items()
                    .iter()
                    .filter_map(Change::from_part)
                    .collect(),
                is_transaction: true,
            })
        }
    }
}

impl Change {
    fn from_part(part: &TransactWriteItem) -> Option<Self> {
        if let Some(update) = part.update() {
            let (key, values) = (Some(update.key()), update.expression_attribute_values());
            Some(Self::Put(name(key), Stands::from_values(key, values)))
        } else if let Some(delete) = part.delete() {
            Some(Self::Delete(name(Some(delete.key()))))
        } else {
            let check = part.condition_check()?;
            Some(Self::Check(name(Some(check.key()))))
        }
    }
}

impl Known {
    /// A single item is no transaction, and its figure is right.
    fn note(&mut self, asked: &Asked) {
        let units: u64 = asked.changes.iter().map(|it| self.change(it)).sum();
        if asked.is_transaction {
            self.halves += units * HALVES;
        }
    }

    /// The units of one change in a transaction.
    fn change(&mut self, change: &Change) -> u64 {
        let before = match change {
            Change::Put(name, after) => self.items.insert(name.clone(), after.clone()),
            Change::Delete(name) => self.items.remove(name),
            Change::Check(name) => self.items.get(name).cloned(),
        };
        let before = before.unwrap_or_default();
        match change {
            Change::Put(_, after) => charged(&before, after),
            Change::Delete(_) => charged(&before, &Stands::default()),
            Change::Check(_) => charged(&before, &before),
        }
    }
}

impl Stands {
    fn from_values(key: Option<&Values>, values: Option<&Values>) -> Self {
        let value = |name: &str| values?.get(name).cloned();
        let set = values.into_iter().flatten();
        let set = set.filter(|(name, _)| !NO_ATTRIBUTES.contains(&name.as_str()));
        // A placeholder is as long as its name, and a colon.
        let attributes = set.map(|(name, value)| name.len() - 1 + size(value));
        let keys = key.into_iter().flatten();
        let keys = keys.map(|(name, value)| name.len() + size(value));
        Self {
            bytes: attributes.chain(keys).sum(),
            due: value(":due_at"),
            place: value(":list").zip(value(":place")),
        }
    }
}

fn name(key: Option<&Values>) -> String {
    let part = |name: &str| Some(key?.get(name)?.as_s().ok()?.as_str());
    let of = |name| part(name).unwrap_or_default();
    format!("{} {}", of("pk"), of("sk"))
}

/// Source: the same guide, "DynamoDB item sizes and formats".
fn size(value: &AttributeValue) -> usize {
    if let Ok(text) = value.as_s() {
        text.len()
    } else if let Ok(bytes) = value.as_b() {
        bytes.as_ref().len()
    } else if let Ok(number) = value.as_n() {
        number.len().div_ceil(2) + 1
    } else {
        1
    }
}

fn charged(before: &Stands, after: &Stands) -> u64 {
    let bytes = before.bytes.max(after.bytes);
    let units = u64::try_from(bytes.div_ceil(UNIT).max(1)).unwrap_or(u64::MAX);
    units * TRANSACTED + index(&before.due, &after.due) + index(&before.place, &after.place)
}

fn index<T: PartialEq>(before: &Option<T>, after: &Option<T>) -> u64 {
    match (before, after) {
        (None, None) => 0,
        (Some(before), Some(after)) if before == after => 0,
        (Some(_), Some(_)) => 2,
        (Some(_), None) | (None, Some(_)) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_dynamodb::types::Update;

    fn put(sk: &str, bytes: usize, due: Option<i64>) -> TransactWriteItem {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let mut update = Update::builder()
            .table_name("table")
            .update_expression("")
            .key("pk", text("A"))
            .key("sk", text(sk))
            .expression_attribute_values(":body", text(&"x".repeat(bytes)));
        if let Some(due) = due {
            update =
                update.expression_attribute_values(":due_at", AttributeValue::N(due.to_string()));
        }
        TransactWriteItem::builder()
            .update(update.build().unwrap())
            .build()
    }

    #[test]
    fn a_transaction_is_charged_by_what_its_items_were_and_become() {
        let mut known = Known::default();
        let mut charged = |part| known.change(&Change::from_part(&part).unwrap());
        // Two units for each kilobyte, and one for the row that comes.
        assert_eq!(charged(put("1", 1_900, Some(1))), 4 + 1);
        // The old kilobytes count, and the row that goes.
        assert_eq!(charged(put("1", 10, None)), 4 + 1);
        assert_eq!(charged(put("1", 10, Some(1))), 2 + 1);
        // One moves, and one stays.
        assert_eq!(charged(put("1", 10, Some(2))), 2 + 2);
        assert_eq!(charged(put("1", 20, Some(2))), 2);
    }
}
