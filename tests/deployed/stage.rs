//! The stage: a sandbox on this machine, and a stack deployed around it.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use client::Client;
use client::wire::{CreateJob, JobView};
use deploy::{
    Binaries, Cloud, DeployRequest, Endpoints, FunctionOptions, Place, Workshop, workspace,
};
use engine::backend::Backend;
use engine::machine::{RandomIds, SystemClock};
use engine::ports::{Clock, SecretName, Secrets};
use engine::store::Store;
use sandbox::{Options, Sandbox, WebhookTarget};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;
use url::Url;

use crate::furniture;
use crate::logs;

/// The stack.
pub(crate) const STACK: &str = "gaffer-tested";

/// The repository.
pub(crate) const REPO: &str = "acme/shop";

/// Longest wait for anything: the schedule calls once a minute, and a tick comes every ten seconds. Machines are busy.
const WITHIN: Duration = Duration::from_secs(240);

/// How often is looked: each look calls a function.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Everything that a story runs on.
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    pub(crate) cloud: Cloud,
    pub(crate) backend: Backend,
    pub(crate) client: Client,
    pub(crate) config: aws_config::SdkConfig,
    /// The URL of the API's function, which browsers see.
    pub(crate) public: Url,
    /// The same function for a client that cannot set the host name.
    pub(crate) api: Url,
    pub(crate) token: SecretString,
    endpoint: Url,
}

/// A folder that the environment names.
pub(crate) fn folder(name: &str) -> PathBuf {
    PathBuf::from(said(name))
}

fn said(name: &str) -> String {
    let value = std::env::var_os(name).and_then(|value| value.into_string().ok());
    value.unwrap_or_else(|| {
        panic!("{name} is not set: run `cargo xtask test --only deployed`, which sets it")
    })
}

impl Stage {
    /// Deploys onto nothing, says who Jules, GitHub and the agent are, and deploys again, which takes that up.
    pub(crate) async fn set(binaries: Binaries) -> Self {
        // Only fails when one is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let endpoint: Url = said("AWS_ENDPOINT_URL").parse().expect("an address");
        let scenario = crate::scenes::scenario();
        let sandbox = Sandbox::start(Options::real_time(scenario)).await;
        let sandbox = sandbox.expect("a sandbox");
        let place = Place {
            stack: STACK.parse().expect("a name"),
            endpoint: Some(endpoint.clone()),
            region: None,
        };
        let cloud = Cloud::open(place, deploy::command::print_line).await;
        let cloud = cloud.expect("the services");
        // As a person fills a stack: nothing calls the functions before there is work for them.
        let hosts = vec![sandbox.addr().to_string()];
        let first = DeployRequest {
            told: FunctionOptions::new(Some(false), Some(hosts)),
            without_triggers: true,
            ..request(binaries.clone())
        };
        assert_eq!(put(&cloud, first).await, None);
        let config = aws::connect().await;
        let table = aws::Table::new(&config, STACK);
        let backend = backend(&config, &table).await;
        let secrets = aws::Parameters::new(&config, STACK);
        furniture::put(&backend, &secrets, &sandbox).await;
        // Which private host may be woken was said once, and holds from then on.
        let endpoints = put(&cloud, request(binaries)).await;
        let endpoints = endpoints.expect("something that calls the functions");
        // Until now nothing was ever due, so no chain of ticks lives: only the schedule can begin one.
        furniture::open_account(&backend).await;
        let token = secrets.read(&SecretName::ApiToken).await.expect("a token");
        let hook = secrets.read(&SecretName::Webhook).await.expect("a secret");
        sandbox.set_webhook(WebhookTarget {
            url: here(&endpoint, &endpoints.webhook)
                .join("github/webhook")
                .expect("an address")
                .into(),
            secret: hook.expose_secret().to_owned(),
        });
        let api = here(&endpoint, &endpoints.api);
        let client = Client::new(api.clone(), token.clone()).expect("a client");
        Self {
            sandbox,
            cloud,
            backend,
            client,
            config,
            public: endpoints.api.parse().expect("an address"),
            api,
            token,
            endpoint,
        }
    }

    /// Deploys other binaries.
    pub(crate) async fn put(&self, binaries: Binaries) {
        put(&self.cloud, request(binaries)).await;
    }

    /// A new job.
    pub(crate) async fn job(&self, prompt: &str) -> JobView {
        let wanted = CreateJob {
            repo: REPO.parse().expect("a repository"),
            branch: None,
            prompt: prompt.to_owned(),
            title: None,
            agent: None,
            resume: None,
            priority: None,
            constraints: None,
        };
        self.client.create_job(&wanted, None).await.expect("a job")
    }

    /// Says something in a job; the dispatcher does it.
    pub(crate) async fn say(&self, job: &JobView, words: &str) {
        let id = job.job_id.to_string();
        let said = self.client.say(&id, words, None).await;
        said.expect("an answer");
    }

    /// Waits until a job is in a state.
    pub(crate) async fn until(&self, job: &JobView, state: &str) -> JobView {
        let id = job.job_id.to_string();
        self.wait(&format!("job {id} is {state}"), || async {
            let found = self.client.job(&id).await.expect("the job");
            (found.state == state).then_some(found)
        })
        .await
    }

    /// Polls until something is there; on a timeout it prints the logs of all functions.
    pub(crate) async fn wait<T, F: Future<Output = Option<T>>>(
        &self,
        what: &str,
        look: impl Fn() -> F,
    ) -> T {
        let until = Instant::now() + WITHIN;
        let mut beat = tokio::time::interval(LOOK_EVERY);
        loop {
            beat.tick().await;
            if let Some(found) = look().await {
                return found;
            }
            if Instant::now() > until {
                let told = logs::all(&self.endpoint).await;
                panic!("after {WITHIN:?} it is not so that {what}; the functions said:\n{told}");
            }
        }
    }

    /// How often each pull request was merged, as GitHub counts.
    pub(crate) fn merges(&self) -> Vec<String> {
        let merged = |it: &sandbox::Logged| {
            it.method == "PUT" && it.path.ends_with("/merge") && it.status == 200
        };
        let all = self.sandbox.requests().into_iter();
        all.filter(merged).map(|it| it.path).collect()
    }
}

fn request(binaries: Binaries) -> DeployRequest {
    DeployRequest {
        binaries,
        told: FunctionOptions::default(),
        alarm_topic: None,
        log_days: None,
        without_triggers: false,
    }
}

async fn put(cloud: &Cloud, request: DeployRequest) -> Option<Endpoints> {
    let workshop = Workshop {
        root: workspace(),
        cargo_lambda: Some(folder("GAFFER_CARGO_LAMBDA")),
    };
    let deployed = cloud.deploy(&workshop, request).await;
    deployed.unwrap_or_else(|error| panic!("{error}"))
}

/// The table and the queue as the functions see them.
async fn backend(config: &aws_config::SdkConfig, table: &aws::Table) -> Backend {
    let client = aws_sdk_sqs::Client::new(config);
    let url = async |name: String| {
        let found = client.get_queue_url().queue_name(name).send().await;
        found.expect("a queue").queue_url.expect("its address")
    };
    let work = url(format!("{STACK}-work")).await;
    let dead = url(format!("{STACK}-work-dead")).await;
    let records = Arc::new(table.clone());
    let store = Store::new(records.clone());
    let known = engine::installation::load_or_create(&store, &RandomIds, SystemClock.now()).await;
    let installation = known.expect("an installation");
    let queue = Arc::new(aws::SqsQueue::new(config, &work, &dead));
    let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
    Backend::new(records, queue, clock, ids, installation)
}

/// A function's address for a client that cannot set the host name: the emulator takes the first label of it in the
/// path too.
fn here(endpoint: &Url, api: &str) -> Url {
    let api: Url = api.parse().expect("an address");
    let host = api.host_str().expect("a host");
    let label = host.split('.').next().expect("a label");
    let path = format!("_aws/lambda-url/{label}/");
    endpoint.join(&path).expect("an address")
}
