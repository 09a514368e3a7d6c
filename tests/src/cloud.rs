//! Tables and queues of a test's own, on the services that `AWS_ENDPOINT_URL` names.

mod delays;

use std::sync::Arc;
use std::time::Duration;

use aws::{DUE_INDEX, LIST_INDEX, SqsQueue, Table};
use aws_config::SdkConfig;
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType,
};
use aws_sdk_sqs::types::QueueAttributeName;
use engine::ports::{Clock, Queue, Records};
use ulid::Ulid;

use crate::world::Ground;
use delays::Delays;

/// Longest wait for a new table: real ones take ten seconds.
const TABLE_WITHIN: Duration = Duration::from_secs(60);

/// What every client of the tests is made of.
pub async fn config() -> SdkConfig {
    assert!(
        std::env::var_os("AWS_ENDPOINT_URL").is_some(),
        "AWS_ENDPOINT_URL is not set: run `cargo xtask test --only aws`, or `cargo xtask localstack` and what it says"
    );
    aws::connect().await
}

/// A name that nobody else has.
pub fn name(what: &str) -> String {
    format!("{what}-{}", Ulid::generate().to_string().to_lowercase())
}

/// An empty table, as the engine sees it.
pub async fn table() -> Arc<dyn Records> {
    Arc::new(new_table().await)
}

/// An empty table.
pub async fn new_table() -> Table {
    let config = config().await;
    let client = aws_sdk_dynamodb::Client::new(&config);
    let name = name("table");
    let text = ScalarAttributeType::S;
    let request = client
        .create_table()
        .table_name(&name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute("pk", text.clone()))
        .attribute_definitions(attribute("sk", text.clone()))
        .attribute_definitions(attribute("due_in", text.clone()))
        .attribute_definitions(attribute("due_at", ScalarAttributeType::N))
        .attribute_definitions(attribute("list", text.clone()))
        .attribute_definitions(attribute("place", text))
        .key_schema(part("pk", KeyType::Hash))
        .key_schema(part("sk", KeyType::Range))
        .global_secondary_indexes(index(DUE_INDEX, ("due_in", "due_at")))
        .global_secondary_indexes(index(LIST_INDEX, ("list", "place")));
    request.send().await.expect("a new table");
    let there = client.wait_until_table_exists().table_name(&name);
    there.wait(TABLE_WITHIN).await.expect("the new table");
    Table::new(&config, name)
}

fn attribute(name: &str, of: ScalarAttributeType) -> AttributeDefinition {
    let attribute = AttributeDefinition::builder().attribute_name(name);
    attribute.attribute_type(of).build().expect("an attribute")
}

fn part(name: &str, of: KeyType) -> KeySchemaElement {
    let part = KeySchemaElement::builder().attribute_name(name);
    part.key_type(of).build().expect("a part of a key")
}

fn index(name: &str, (hash, range): (&str, &str)) -> GlobalSecondaryIndex {
    let all = Projection::builder().projection_type(ProjectionType::All);
    GlobalSecondaryIndex::builder()
        .index_name(name)
        .key_schema(part(hash, KeyType::Hash))
        .key_schema(part(range, KeyType::Range))
        .projection(all.build())
        .build()
        .expect("an index")
}

/// An empty table and an empty queue for a world of this clock.
pub async fn ground(clock: Arc<dyn Clock>) -> Ground {
    Ground {
        records: Arc::new(new_table().await),
        queue: Arc::new(Delays::new(queue().await, clock)),
    }
}

/// An empty queue with dead letters after five receives.
pub async fn queue() -> Arc<dyn Queue> {
    let config = config().await;
    let client = aws_sdk_sqs::Client::new(&config);
    let name = name("queue");
    let dead = made(&client, &format!("{name}-dead"), None).await;
    let attributes = client
        .get_queue_attributes()
        .queue_url(&dead)
        .attribute_names(QueueAttributeName::QueueArn);
    let attributes = attributes.send().await.expect("its attributes").attributes;
    let arn = attributes
        .and_then(|all| all.get(&QueueAttributeName::QueueArn).cloned())
        .expect("its name");
    let redrive = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"5"}}"#);
    let url = made(&client, &name, Some(redrive)).await;
    Arc::new(SqsQueue::new(&config, url, dead))
}

async fn made(client: &aws_sdk_sqs::Client, name: &str, redrive: Option<String>) -> String {
    let mut request = client.create_queue().queue_name(name);
    if let Some(redrive) = redrive {
        request = request.attributes(QueueAttributeName::RedrivePolicy, redrive);
    }
    let made = request.send().await.expect("a new queue");
    made.queue_url.expect("its address")
}
