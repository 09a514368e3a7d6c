//! Tables and queues of a test's own, on the services that `AWS_ENDPOINT_URL` names.

mod delays;

use std::sync::Arc;
use std::time::Duration;

use aws::{SqsQueue, Table};
use aws_config::SdkConfig;
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, Projection,
};
use aws_sdk_sqs::types::QueueAttributeName;
use engine::ports::{Clock, Queue, Records};
use serde_norway::Value;
use ulid::Ulid;

use crate::infra;
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

/// An empty table, made as `infra/foundation.yaml` says.
pub async fn new_table() -> Table {
    table_named(name("table")).await
}

/// The table and the queues of a stack, called as the foundation calls them; answers its name.
pub async fn new_stack() -> String {
    let name = name("stack");
    table_named(name.clone()).await;
    let client = aws_sdk_sqs::Client::new(&config().await);
    for end in ["work", "work-dead", "ticks", "ticks-dead"] {
        made(&client, &format!("{name}-{end}"), None).await;
    }
    name
}

/// An empty table and an empty queue whose calls are counted.
pub async fn metered(counters: aws::Counters) -> (Table, SqsQueue) {
    let (config, name) = (config().await, name("table"));
    table_named(name.clone()).await;
    let client = aws_sdk_sqs::Client::new(&config);
    let (dead, url) = (format!("{name}-dead"), format!("{name}-queue"));
    let dead = made(&client, &dead, None).await;
    let url = made(&client, &url, None).await;
    let queue = SqsQueue::metered(&config, (url, dead), counters.clone());
    (Table::metered(&config, name, counters), queue)
}

async fn table_named(name: String) -> Table {
    let config = config().await;
    let client = aws_sdk_dynamodb::Client::new(&config);
    let template = infra::properties(&infra::template("foundation.yaml"), "Table");
    let indexes = infra::items(&template, "GlobalSecondaryIndexes");
    let request = client
        .create_table()
        .table_name(&name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_attribute_definitions(Some(attributes(&template)))
        .set_key_schema(Some(key(&template)))
        .set_global_secondary_indexes(Some(indexes.iter().map(index).collect()));
    request.send().await.expect("a new table");
    let there = client.wait_until_table_exists().table_name(&name);
    there.wait(TABLE_WITHIN).await.expect("the new table");
    Table::new(&config, name)
}

fn attributes(table: &Value) -> Vec<AttributeDefinition> {
    let attribute = |of: &Value| {
        AttributeDefinition::builder()
            .attribute_name(infra::text(of, "AttributeName"))
            .attribute_type(infra::text(of, "AttributeType").into())
            .build()
            .expect("an attribute")
    };
    let all = infra::items(table, "AttributeDefinitions").iter();
    all.map(attribute).collect()
}

fn key(of: &Value) -> Vec<KeySchemaElement> {
    let part = |of: &Value| {
        KeySchemaElement::builder()
            .attribute_name(infra::text(of, "AttributeName"))
            .key_type(infra::text(of, "KeyType").into())
            .build()
            .expect("a part of a key")
    };
    infra::items(of, "KeySchema").iter().map(part).collect()
}

fn index(of: &Value) -> GlobalSecondaryIndex {
    let projection = &of["Projection"];
    let mut shown =
        Projection::builder().projection_type(infra::text(projection, "ProjectionType").into());
    if projection["NonKeyAttributes"].is_sequence() {
        for name in infra::items(projection, "NonKeyAttributes") {
            shown = shown.non_key_attributes(name.as_str().expect("a name"));
        }
    }
    GlobalSecondaryIndex::builder()
        .index_name(infra::text(of, "IndexName"))
        .set_key_schema(Some(key(of)))
        .projection(shown.build())
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

/// An empty queue with dead letters after five receives, as the engine sees it.
pub async fn queue() -> Arc<dyn Queue> {
    Arc::new(new_queue().await)
}

/// An empty queue with dead letters after five receives.
pub async fn new_queue() -> SqsQueue {
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
    SqsQueue::new(&config, url, dead)
}

async fn made(client: &aws_sdk_sqs::Client, name: &str, redrive: Option<String>) -> String {
    let mut request = client.create_queue().queue_name(name);
    if let Some(redrive) = redrive {
        request = request.attributes(QueueAttributeName::RedrivePolicy, redrive);
    }
    let made = request.send().await.expect("a new queue");
    made.queue_url.expect("its address")
}
