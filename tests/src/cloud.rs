//! Tables and queues of a test's own, on the services that `AWS_ENDPOINT_URL` names.

mod asked;
mod delays;
mod gate;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aws::{ATTEMPTS_MAX, Parameters, SqsQueue, Table};
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, Projection,
};
use aws_sdk_sqs::types::QueueAttributeName;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use engine::ports::{Clock, Queue, Records, SecretName, Secrets, SecretsError};
use lambda::{FunctionEnvironment, Settings};
use secrecy::SecretString;
use serde_norway::Value;
use ulid::Ulid;

use crate::infra;
use crate::world::Ground;
use delays::Delays;
use gate::PATIENCE;

pub use asked::Asked;
pub use gate::{Gate, LAMBDA, Trouble};

/// Longest wait for a new table: real ones take ten seconds.
const TABLE_WITHIN: Duration = Duration::from_secs(60);

/// Longest wait of the tests' own clients for one answer: an emulator beside other tests may be slow once.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Maximum attempts to change a parameter: clients of the parameter store keep a short time limit of their own.
const CHANGE_TRIES_MAX: u32 = 5;

/// What every client of the tests is made of.
pub async fn config() -> SdkConfig {
    assert!(
        std::env::var_os("AWS_ENDPOINT_URL").is_some(),
        "AWS_ENDPOINT_URL is not set: run `cargo xtask test --only aws`, or `cargo xtask localstack` and what it says"
    );
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(ANSWER_WITHIN);
    let config = aws::connect().await.into_builder();
    config.timeout_config(timeouts.build()).build()
}

/// A unique name.
pub fn name(what: &str) -> String {
    format!("{what}-{}", Ulid::generate().to_string().to_lowercase())
}

/// An empty table, as the engine sees it.
pub async fn table() -> Arc<dyn Records> {
    Arc::new(new_table().await)
}

/// An empty table, made as `infra/foundation.yaml` says.
pub async fn new_table() -> Table {
    table_of(&config().await, &name("table")).await
}

/// The same table as another process calls it.
pub async fn again(table: &Table) -> Table {
    Table::new(&config().await, table.name())
}

/// The table and the queues of a stack, called as the foundation calls them; answers its name.
pub async fn new_stack() -> String {
    let (config, name) = (config().await, name("stack"));
    table_of(&config, &name).await;
    let client = aws_sdk_sqs::Client::new(&config);
    for end in ["work", "work-dead", "ticks", "ticks-dead"] {
        made(&client, &format!("{name}-{end}"), None).await;
    }
    name
}

/// An empty table and an empty queue whose calls are counted.
pub async fn metered(counters: aws::Counters) -> (Table, SqsQueue) {
    /// Observes nothing.
    #[derive(Debug)]
    struct Nobody;
    impl Intercept for Nobody {
        fn name(&self) -> &'static str {
            "Nobody"
        }
    }
    watched(counters, Nobody).await
}

/// The same, with an observer of the table's calls.
pub async fn watched(
    counters: aws::Counters,
    watcher: impl Intercept + 'static,
) -> (Table, SqsQueue) {
    let (config, name) = (config().await, name("table"));
    table_of(&config, &name).await;
    let client = aws_sdk_sqs::Client::new(&config);
    let (dead, url) = (format!("{name}-dead"), format!("{name}-queue"));
    let dead = made(&client, &dead, None).await;
    let url = made(&client, &url, None).await;
    let queue = SqsQueue::metered(&config, url, dead, counters.clone());
    let settings = aws_sdk_dynamodb::config::Builder::from(&config)
        .interceptor(watcher)
        .interceptor(aws::OfTable(counters));
    (Table::with_config(settings, name), queue)
}

/// Changes a parameter; doing it twice is doing it once.
async fn change(
    parameters: &Parameters,
    name: &SecretName,
    value: Option<&SecretString>,
) -> Result<(), SecretsError> {
    match value {
        Some(value) => parameters.write(name, value).await,
        None => parameters.remove(name).await,
    }
}

async fn table_of(config: &SdkConfig, name: &str) -> Table {
    let client = aws_sdk_dynamodb::Client::new(config);
    let template = infra::properties(&infra::template("foundation.yaml"), "Table");
    let indexes = infra::items(&template, "GlobalSecondaryIndexes");
    let request = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_attribute_definitions(Some(attributes(&template)))
        .set_key_schema(Some(key(&template)))
        .set_global_secondary_indexes(Some(indexes.iter().map(index).collect()));
    if let Err(error) = request.send().await {
        // An emulator that was slow once was asked twice: nothing else uses such a name.
        let error = error.into_service_error();
        assert!(error.is_resource_in_use_exception(), "{error:?}");
    }
    let there = client.wait_until_table_exists().table_name(name);
    there.wait(TABLE_WITHIN).await.expect("the new table");
    Table::new(config, name)
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

/// How everything goes wrong at once in a world over AWS.
#[derive(Clone)]
pub struct Storm {
    /// The gate between the functions and AWS.
    pub gate: Arc<Gate>,
    /// How many pollers and dispatchers work at the same time.
    pub crews: usize,
    /// What chooses who dies when, and which ticks are lost or late; `None` for a world in which nothing dies or is lost.
    pub seed: Option<u64>,
}

/// A table, a queue and parameters that one world has for itself.
pub struct Cloud {
    config: SdkConfig,
    table: Table,
    /// The name of the table, which is that of the stack too.
    name: String,
    queue: (String, String),
    delays: Delays,
    storm: Option<Storm>,
}

impl Cloud {
    /// Empty ones, for a world of this clock; behind a gate, if there is one.
    pub(crate) async fn new(clock: Arc<dyn Clock>, storm: Option<&Storm>) -> Self {
        let config = config().await;
        let name = name("table");
        let table = table_of(&config, &name).await;
        let queue = queue_of(&config).await;
        let real = SqsQueue::new(&config, &queue.0, &queue.1);
        Self {
            delays: Delays::new(Arc::new(real), clock)
                .doubling(storm.is_some_and(|storm| storm.seed.is_some())),
            storm: storm.cloned(),
            config,
            table,
            name,
            queue,
        }
    }

    /// Without a gate, as the checks at the end of a story see it.
    pub(crate) fn seen_by_tests(&self) -> Ground {
        Ground {
            records: Arc::new(self.table.clone()),
            queue: Arc::new(self.delays.clone()),
        }
    }

    /// As a function sees it, whose calls are signed with a key of its own.
    pub(crate) fn seen_by(&self, who: &str) -> Ground {
        let config = self.config(who);
        let queue = SqsQueue::new(&config, &self.queue.0, &self.queue.1);
        Ground {
            records: Arc::new(Table::new(&config, &self.name)),
            queue: Arc::new(self.delays.through(Arc::new(queue))),
        }
    }

    /// The parameters, as a function sees them.
    pub(crate) fn secrets(&self, who: &str) -> Arc<dyn Secrets> {
        Arc::new(Parameters::new(&self.config(who), &self.name))
    }

    /// Brings the parameters up to date.
    pub(crate) async fn keep(&self, changes: Vec<(SecretName, Option<SecretString>)>) {
        let parameters = Parameters::new(&self.config, &self.name);
        for (name, value) in changes {
            let mut tries = 0;
            loop {
                tries += 1;
                match change(&parameters, &name, value.as_ref()).await {
                    Err(SecretsError::Unreachable { .. }) if tries < CHANGE_TRIES_MAX => {}
                    kept => break kept.expect("a parameter store"),
                }
            }
        }
    }

    /// A function's settings as in a deployment, with a queue of ticks of its own.
    pub(crate) async fn place(&self, who: &str, jules: &str, github: &str) -> FunctionEnvironment {
        let ticks = queue_of(&self.config).await;
        let told = BTreeMap::from([
            ("GAFFER_STACK", self.name.as_str()),
            ("GAFFER_TABLE", &self.name),
            ("GAFFER_WORK_QUEUE", &self.queue.0),
            ("GAFFER_WORK_DEAD_QUEUE", &self.queue.1),
            ("GAFFER_TICKS_QUEUE", &ticks.0),
            ("GAFFER_TICKS_DEAD_QUEUE", &ticks.1),
            ("JULES_API_BASE", jules),
            ("GITHUB_API_BASE", github),
        ]);
        let settings = Settings::from_vars(|name| told.get(name).map(|value| (*value).to_owned()));
        FunctionEnvironment::new(self.config(who), settings.expect("settings"))
    }

    /// The name of a resource in every deployment, whatever its name is in this world; a parameter by its place below the stack's.
    pub(crate) fn resource(&self, name: &str) -> String {
        let own = [
            (self.queue.0.as_str(), "work"),
            (&self.queue.1, "work-dead"),
        ];
        let ended = own
            .iter()
            .find(|(url, _)| url.rsplit('/').next() == Some(name));
        if let Some((_, known)) = ended {
            return (*known).to_owned();
        }
        if name.starts_with("queue-") {
            return "ticks".to_owned();
        }
        let below = format!("/gaffer/{}/", self.name);
        match name.strip_prefix(&below) {
            Some(parameter) => format!("parameter/{parameter}"),
            None => name.replacen(&self.name, "table", 1),
        }
    }

    fn config(&self, who: &str) -> SdkConfig {
        match &self.storm {
            Some(storm) => through(storm, &self.config, who),
            None => self.config.clone(),
        }
    }
}

/// Settings for clients that go through a gate. They retry as often as ours always do, but wait less between attempts.
fn through(storm: &Storm, config: &SdkConfig, who: &str) -> SdkConfig {
    let credentials = Credentials::new(who, "test", None, None, "tests");
    let retries = RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX);
    // Only a storm stalls calls.
    let patience = storm.seed.map_or(ANSWER_WITHIN, |_| PATIENCE);
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(patience);
    let mut settings = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(config.region().cloned())
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .retry_config(retries.with_initial_backoff(Duration::from_millis(1)))
        .timeout_config(timeouts.build())
        .endpoint_url(storm.gate.url());
    settings
        .set_http_client(config.http_client())
        .set_sleep_impl(config.sleep_impl())
        .set_time_source(config.time_source());
    settings.build()
}

/// An empty queue with dead letters after five receives, as the engine sees it.
pub async fn queue() -> Arc<dyn Queue> {
    Arc::new(new_queue().await)
}

/// An empty queue with dead letters after five receives.
pub async fn new_queue() -> SqsQueue {
    let config = config().await;
    let (url, dead) = queue_of(&config).await;
    SqsQueue::new(&config, url, dead)
}

/// Where a new queue and its dead letters are.
pub async fn queue_of(config: &SdkConfig) -> (String, String) {
    let client = aws_sdk_sqs::Client::new(config);
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
    (made(&client, &name, Some(redrive)).await, dead)
}

async fn made(client: &aws_sdk_sqs::Client, name: &str, redrive: Option<String>) -> String {
    let mut request = client.create_queue().queue_name(name);
    if let Some(redrive) = redrive {
        request = request.attributes(QueueAttributeName::RedrivePolicy, redrive);
    }
    let made = request.send().await.expect("a new queue");
    made.queue_url.expect("its address")
}
