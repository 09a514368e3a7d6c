//! A whole installation beside a sandbox, to be made ill in one way at a time.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::future::Future;
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;

use domain::policy::Source;
use engine::backend::Backend;
use engine::keys;
use engine::machine::{RandomIds, SystemClock};
use engine::ports::Clock;
use jiff::{SignedDuration, Timestamp};
use local::{Database, LocalQueue, SecretFiles};
use sandbox::github::{GitHub, RepoSetup};
use sandbox::{Drive, Options, Sandbox, Scenario};
use secrecy::SecretString;

use crate::jobs::save;
use crate::world::{Ran, World, ran};

/// The repository of every installation.
pub(super) const REPO: &str = "acme/shop";

/// The App's private key, as GitHub hands it out.
pub(super) const APP_KEY: &str = include_str!("../../../../github/tests/it/keys/app.pem");

/// Puts a data folder on a new disk, and runs a command beside it.
const ON_A_DISK: &str = r#"
    data=$1; shift
    cp -a "$data" "$data.copy" &&
    mount -t tmpfs -o "size=$0,mode=700" none "$data" &&
    cp -a "$data.copy/." "$data" &&
    exec "$@"
"#;

/// An installation and the sandbox that it works with.
pub(super) struct Clinic {
    pub(super) world: World,
    pub(super) sandbox: Arc<Sandbox>,
    runtime: tokio::runtime::Runtime,
}

/// Starts a sandbox on a thread of its own, where it serves until the test process ends.
fn serve(options: Options) -> Arc<Sandbox> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let runtime = crate::world::runtime();
        runtime.block_on(async {
            drop(rustls::crypto::ring::default_provider().install_default());
            let sandbox = Arc::new(Sandbox::start(options).await.unwrap());
            tell.send(sandbox.clone()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    told.recv().unwrap()
}

impl Clinic {
    /// Everything as it should be: account, agent, source, a token with every right.
    pub(super) fn new() -> Self {
        Self::with_scenario(Scenario::default())
    }

    /// The same in another scenario.
    pub(super) fn with_scenario(scenario: Scenario) -> Self {
        Self::ahead(scenario, SignedDuration::ZERO)
    }

    /// The same with GitHub's clock ahead of ours.
    pub(super) fn ahead(scenario: Scenario, ahead: SignedDuration) -> Self {
        let clinic = Self::empty(scenario, ahead);
        clinic.ok(&["account", "add", "default", "--plan", "pro"]);
        let url = clinic.sandbox.agent_url("helper");
        clinic.ok(&["agent", "add", "helper", "--url", &url]);
        clinic.ok(&["source", "add", REPO, "--agent", "helper"]);
        clinic
    }

    /// A sandbox, and a folder in which nothing was done.
    pub(super) fn empty(scenario: Scenario, ahead: SignedDuration) -> Self {
        let clock = Arc::new(move || SystemClock.now() + ahead);
        let sandbox = serve(Options {
            drive: Drive::Manual,
            clock,
            ..Options::real_time(scenario)
        });
        let host = sandbox.addr().to_string();
        let world = World::new()
            .set("JULES_API_BASE", sandbox.jules_base())
            .set("GITHUB_API_BASE", sandbox.github_base())
            .set("GAFFER_ALLOW_HOSTS", host)
            .set("JULES_API_KEY", sandbox::DEFAULT_KEY)
            .set("GITHUB_TOKEN", sandbox::github::DEFAULT_TOKEN);
        Self {
            world,
            sandbox,
            runtime: crate::world::runtime(),
        }
    }

    /// A variable with another value.
    pub(super) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.world = self.world.set(name, value);
        self
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        self.world.run(arguments)
    }

    #[track_caller]
    pub(super) fn ok(&self, arguments: &[&str]) -> Ran {
        self.run(arguments).ok()
    }

    pub(super) fn github(&self) -> &GitHub {
        self.sandbox.github()
    }

    /// Changes the repository on GitHub.
    pub(super) fn repo(&self, change: impl FnOnce(&mut RepoSetup)) {
        self.github().change_repo(REPO, change);
    }

    pub(super) fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// Everything that the doctor says while `gaffer up` runs, without what differs from run to run, and its exit code.
    pub(super) fn report(&self, more: &[&str]) -> (String, i32) {
        let is_set_up = self.world.data().is_dir();
        let _up = is_set_up.then(|| self.world.worked_over());
        self.read(self.run(&[&["doctor"], more].concat()))
    }

    fn read(&self, ran: Ran) -> (String, i32) {
        let folder = self.world.data().display().to_string();
        let text = ran
            .stdout
            .replace(&self.sandbox.addr().to_string(), "SANDBOX")
            .replace(&folder, "DATA");
        (text, ran.code)
    }

    /// The lines of what is wrong. The exit code has to fit them, and a line of an error or a warning has to have a remedy.
    #[track_caller]
    pub(super) fn ills(&self, more: &[&str]) -> String {
        Self::ills_of(self.report(more))
    }

    /// The same with the data folder on a disk of this size. The kernel lets a process have disks that no other one sees.
    #[track_caller]
    pub(super) fn ills_on_a_disk_of(&self, size: &str) -> String {
        let mut command = Command::new("unshare");
        let doctor = self.world.command(&["doctor"]);
        let told =
            |(name, value): (&OsStr, Option<&OsStr>)| Some((name.to_owned(), value?.to_owned()));
        command
            .args(["--map-root-user", "--mount", "sh", "-c", ON_A_DISK, size])
            .arg(self.world.data())
            .arg(doctor.get_program())
            .args(doctor.get_args())
            .envs(doctor.get_envs().filter_map(told))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ran = ran(command, "");
        assert!(!ran.stdout.is_empty(), "{ran:?}");
        Self::ills_of(self.read(ran))
    }

    #[track_caller]
    fn ills_of((told, code): (String, i32)) -> String {
        // One line for each finding reads better in the tests.
        let told = told.replace("\n         ", " | ");
        let ill = |line: &&str| line.starts_with("error") || line.starts_with("warning");
        let lines: Vec<&str> = told.lines().filter(ill).collect();
        assert!(
            lines.iter().all(|line| line.contains(" | mend: ")),
            "{told}"
        );
        let fine = told.lines().filter(|line| line.starts_with("ok"));
        for fine in fine {
            let against = lines.iter().find(|ill| contradict(fine, ill));
            assert_eq!(against, None, "{fine}: {told}");
        }
        let has_error = lines.iter().any(|line| line.starts_with("error"));
        assert_eq!(code, i32::from(has_error), "{told}");
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Runs something on a runtime of the test's.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(super) fn database(&self) -> Database {
        Database::open(&self.world.data().join("gaffer.db")).unwrap()
    }

    /// Works on the store as `gaffer up` would.
    pub(super) fn with_backend<T>(&self, work: impl AsyncFnOnce(&Backend) -> T) -> T {
        let database = self.database();
        let clock = Arc::new(SystemClock);
        let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
        let records = Arc::new(local::Store::new(&database));
        let installation = "gclinic".parse().unwrap();
        let backend = Backend::new(records, queue, clock, Arc::new(RandomIds), installation);
        self.wait(work(&backend))
    }

    /// Changes the source as no command would.
    pub(super) fn change_source(&self, change: impl FnOnce(&mut Source)) {
        self.with_backend(async |backend| {
            let repo = REPO.parse().unwrap();
            let found = backend.store.source(&repo).await.unwrap();
            let mut source = found.unwrap().value;
            change(&mut source);
            save(backend, &repo, &source).await;
        });
    }

    /// How many records of each list there are, with the sum of their versions.
    pub(super) fn records(&self) -> BTreeMap<&'static str, (usize, u64)> {
        self.with_backend(async |backend| {
            let mut all = BTreeMap::new();
            for list in [keys::ACCOUNTS, keys::AGENTS, keys::SOURCES, keys::JOBS] {
                let page = backend
                    .store
                    .records()
                    .list(list, false, None, 100)
                    .await
                    .unwrap();
                let versions = page.records.iter().map(|record| record.version).sum();
                all.insert(list, (page.records.len(), versions));
            }
            all
        })
    }

    /// Serves a endpoint for webhooks that knows this secret, and points the hook at it with GitHub's own.
    pub(super) fn api(&self, knows: &str, signs: &str) -> String {
        let secrets = BTreeMap::from([("webhook".to_owned(), SecretString::from(knows))]);
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let runtime = crate::world::runtime();
            runtime.block_on(async {
                let clock = Arc::new(SystemClock);
                let database = Database::in_memory().unwrap();
                let api = api::WebhookApi {
                    queue: Arc::new(LocalQueue::new(&database, "work", clock.clone())),
                    clock,
                    secrets: Arc::new(SecretFiles::new(std::path::Path::new("none"), secrets)),
                    counters: Arc::default(),
                };
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                axum::serve(listener, api::webhook_router(api))
                    .await
                    .unwrap();
            });
        });
        let url = format!("http://{}/github/webhook", told.recv().unwrap());
        self.hook(&url, signs);
        url
    }

    /// Points the hook somewhere.
    pub(super) fn hook(&self, url: &str, secret: &str) {
        self.sandbox.set_webhook(sandbox::WebhookTarget {
            url: url.to_owned(),
            secret: secret.to_owned(),
        });
    }

    /// Opens an issue and has GitHub tell of it; returns how many deliveries were made.
    pub(super) fn deliver(&self) -> usize {
        let pull = sandbox::github::NewPull {
            title: "Change".to_owned(),
            head_branch: "change".to_owned(),
            author_login: "somebody".to_owned(),
            ..sandbox::github::NewPull::default()
        };
        self.github().open_pull(self.now(), REPO, pull);
        self.wait(self.sandbox.deliver_webhooks())
    }
}

/// A line's code and what it is about.
fn parts(line: &str) -> (&str, &str) {
    let (_, line) = line.split_once("  ").unwrap();
    let (code, rest) = line.trim_start().split_once("  ").unwrap();
    (code, rest.split_once(": ").unwrap().0)
}

/// Whether a line says to be fine what cannot be if the other line is true.
fn contradict(fine: &str, ill: &str) -> bool {
    let ((area, fine_about), (code, ill_about)) = (parts(fine), parts(ill));
    let of_credential = ill_about == "GitHub credential" || ill_about == "secret `github`";
    match area {
        "source" => {
            let of_account = ill_about == "account `default`" && code.starts_with("jules_");
            ill_about == fine_about
                || of_account
                || of_credential && (code != "github_scope" || fine.contains("can be met"))
        }
        "webhook" => {
            let of_webhooks =
                code.starts_with("webhook_") || code == "repo_unseen" || code == "repo_absent";
            of_webhooks && ill_about == fine_about || of_credential && code != "github_scope"
        }
        _other => ill_about == fine_about,
    }
}
