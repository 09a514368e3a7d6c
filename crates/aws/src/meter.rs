//! Counts what calls to DynamoDB and SQS are charged for: the capacity that DynamoDB says it took, and requests to SQS.
//!
//! Source: AWS, "Amazon DynamoDB Developer Guide", `ReturnConsumedCapacity`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_sdk_dynamodb::operation::batch_get_item::{BatchGetItemInput, BatchGetItemOutput};
use aws_sdk_dynamodb::operation::delete_item::{DeleteItemInput, DeleteItemOutput};
use aws_sdk_dynamodb::operation::get_item::{GetItemInput, GetItemOutput};
use aws_sdk_dynamodb::operation::query::{QueryInput, QueryOutput};
use aws_sdk_dynamodb::operation::scan::{ScanInput, ScanOutput};
use aws_sdk_dynamodb::operation::transact_write_items::{
    TransactWriteItemsInput, TransactWriteItemsOutput,
};
use aws_sdk_dynamodb::operation::update_item::{UpdateItemInput, UpdateItemOutput};
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    AfterDeserializationInterceptorContextRef, BeforeSerializationInterceptorContextMut, Input,
    Output,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use engine::usage::{Meter, Used};

/// Capacity comes in half units at the least.
const HALVES: f64 = 2.0;

/// Counters of one process. Clones count into the same ones.
#[derive(Debug, Clone, Default)]
pub struct Counters(Arc<Counted>);

impl Counters {
    /// Counters without transactions, for a store that is known to report them wrong.
    pub fn without_transactions() -> Self {
        Self(Arc::new(Counted {
            skips_transactions: true,
            ..Counted::default()
        }))
    }
}

#[derive(Debug, Default)]
struct Counted {
    skips_transactions: bool,
    read_halves: AtomicU64,
    write_halves: AtomicU64,
    queue_requests: AtomicU64,
}

impl Meter for Counters {
    fn take(&self) -> Used {
        let taken = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        Used {
            read_halves: taken(&self.0.read_halves),
            write_halves: taken(&self.0.write_halves),
            queue_requests: taken(&self.0.queue_requests),
            ..Used::default()
        }
    }
}

/// Asks DynamoDB what each call took, and counts it.
#[derive(Debug, Clone)]
pub struct OfTable(pub Counters);

/// Counts requests to SQS, those that are tried again included.
#[derive(Debug, Clone)]
pub(crate) struct OfQueue(pub(crate) Counters);

impl Intercept for OfTable {
    fn name(&self) -> &'static str {
        "OfTable"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        ask(context.input_mut());
        Ok(())
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Ok(output) = context.output_or_error() {
            let is_transaction = output.downcast_ref::<TransactWriteItemsOutput>().is_some();
            if is_transaction && self.0.0.skips_transactions {
                return Ok(());
            }
            let (reads, writes) = taken(output);
            self.0.0.read_halves.fetch_add(reads, Ordering::Relaxed);
            self.0.0.write_halves.fetch_add(writes, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Intercept for OfQueue {
    fn name(&self) -> &'static str {
        "OfQueue"
    }

    fn read_after_deserialization(
        &self,
        _: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.0.queue_requests.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Has an answer say what the call took.
fn ask(input: &mut Input) {
    let total = Some(ReturnConsumedCapacity::Total);
    if let Some(get) = input.downcast_mut::<GetItemInput>() {
        get.return_consumed_capacity = total;
    } else if let Some(batch) = input.downcast_mut::<BatchGetItemInput>() {
        batch.return_consumed_capacity = total;
    } else if let Some(query) = input.downcast_mut::<QueryInput>() {
        query.return_consumed_capacity = total;
    } else if let Some(scan) = input.downcast_mut::<ScanInput>() {
        scan.return_consumed_capacity = total;
    } else if let Some(update) = input.downcast_mut::<UpdateItemInput>() {
        update.return_consumed_capacity = total;
    } else if let Some(delete) = input.downcast_mut::<DeleteItemInput>() {
        delete.return_consumed_capacity = total;
    } else if let Some(transact) = input.downcast_mut::<TransactWriteItemsInput>() {
        transact.return_consumed_capacity = total;
    }
}

/// What a call took, in halves of read and of write units.
fn taken(output: &Output) -> (u64, u64) {
    let read = |capacity: Option<&ConsumedCapacity>| (halves(capacity), 0);
    let written = |capacity: Option<&ConsumedCapacity>| (0, halves(capacity));
    if let Some(get) = output.downcast_ref::<GetItemOutput>() {
        read(get.consumed_capacity())
    } else if let Some(batch) = output.downcast_ref::<BatchGetItemOutput>() {
        (each(batch.consumed_capacity()), 0)
    } else if let Some(query) = output.downcast_ref::<QueryOutput>() {
        read(query.consumed_capacity())
    } else if let Some(scan) = output.downcast_ref::<ScanOutput>() {
        read(scan.consumed_capacity())
    } else if let Some(update) = output.downcast_ref::<UpdateItemOutput>() {
        written(update.consumed_capacity())
    } else if let Some(delete) = output.downcast_ref::<DeleteItemOutput>() {
        written(delete.consumed_capacity())
    } else if let Some(transact) = output.downcast_ref::<TransactWriteItemsOutput>() {
        (0, each(transact.consumed_capacity()))
    } else {
        (0, 0)
    }
}

fn each(all: &[ConsumedCapacity]) -> u64 {
    all.iter().map(|capacity| halves(Some(capacity))).sum()
}

fn halves(capacity: Option<&ConsumedCapacity>) -> u64 {
    let units = capacity.and_then(ConsumedCapacity::capacity_units);
    // A call takes at most some thousands of units; what is no number counts as nothing.
    units.map_or(0, |units| (units.max(0.0) * HALVES).round() as u64)
}
