//! One seed: its stage is set, its jobs are handed over, and what came of them is judged.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use client::Client;
use client::wire::CreateJob;
use engine::ports::Clock;
use jiff::{SignedDuration, Timestamp};
use rand::SeedableRng;
use rand::rngs::StdRng;
use sandbox::{Drive, Options, Sandbox, Service};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::command_line::SeedArgs;
use crate::faults::FaultInjector;
use crate::flow::{flow, move_base, post};
use crate::job_agents::JobAgents;
use crate::keeper::{ClientSlot, Death, Keeper};
use crate::report::{Report, command};
use crate::time::{LOOK_EVERY, SharedTime};
use crate::verdict::Verdict;
use crate::{duplicate, faults, job_agents, output, person, plan, report, stage};

/// When every chaos begins.
const BEGIN: Timestamp = Timestamp::constant(1_772_355_600, 0);

/// A story that is not over by then, in virtual time, is stuck: the longest wait is half an hour.
const STORY_WITHIN: SignedDuration = SignedDuration::from_hours(6);

/// The same in real time, on a machine that is busy with other things.
const REAL_WITHIN: Duration = Duration::from_secs(180);

/// After the end, time passes for everything that a death has hidden: a message in work comes again after nine minutes.
const AFTERWARDS: SignedDuration = SignedDuration::from_secs(600);

/// How long to wait before a job is handed over once more, in real time.
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// Where files are kept in memory. What a killed process wrote outlives it there as on a disk, and no commit waits for one.
const MEMORY: &str = "/dev/shm";

pub(crate) async fn run(args: &SeedArgs) -> Result<()> {
    let report = play(args.seed, args.keep).await?;
    if args.json {
        output::json_line(&report)?;
    } else {
        report.tell()?;
    }
    report.verdict()
}

/// Everything that one seed plays on.
struct Play {
    sandbox: Arc<Sandbox>,
    time: Arc<SharedTime>,
    client_slot: Arc<ClientSlot>,
    agents: Arc<JobAgents>,
    deaths: Arc<Mutex<Vec<Death>>>,
    /// The child's bearer token.
    token: SecretString,
    /// When the lists showed the duplicates; none if there are to be none.
    duplicates: Option<duplicate::Shown>,
    tasks: JoinSet<Result<()>>,
    folder: TempDir,
}

async fn play(seed: u64, keep: bool) -> Result<Report> {
    let began = tokio::time::Instant::now();
    let mut play = Play::begin(seed, keep).await?;
    let story = async {
        let jobs = play.hand_over().await?;
        play.call_person(&jobs);
        while !play.is_over(&jobs) && play.passed() < STORY_WITHIN {
            play.wait().await?;
        }
        let ended = play.passed();
        while play.passed() < ended + AFTERWARDS {
            play.wait().await?;
        }
        Ok::<_, anyhow::Error>((jobs, ended))
    };
    let played = tokio::time::timeout(REAL_WITHIN, story).await;
    if keep {
        play.keep()?;
    }
    let Ok(story) = played else {
        bail!(
            "seed {seed} did not end within {} s; play it again with `{}`",
            REAL_WITHIN.as_secs(),
            command(seed)
        );
    };
    let (jobs, ended) = story?;
    play.report(seed, &jobs, ended, began.elapsed()).await
}

/// A folder in memory if the machine has such a place, unless it is to be kept.
fn folder(keep: bool) -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("gaffer-chaos-");
    if keep {
        return builder.tempdir();
    }
    builder.tempdir_in(MEMORY).or_else(|_| builder.tempdir())
}

impl Play {
    async fn begin(seed: u64, keep: bool) -> Result<Self> {
        let mut dice = StdRng::seed_from_u64(seed);
        let folder = folder(keep).context("making a folder for the child")?;
        let time = SharedTime::begin(&folder.path().join("clock"), BEGIN)?;
        let (lags, webhooks) = faults::lags_and_webhooks(&mut dice);
        let clock = time.clone();
        let options = Options {
            clock: Arc::new(move || clock.now()),
            drive: Drive::Manual,
            ..Options::real_time(stage::scenario(lags, webhooks))
        };
        let sandbox = Arc::new(
            Sandbox::start(options)
                .await
                .context("starting the sandbox")?,
        );
        let token = SecretString::from(format!("gaf_{:032x}", rand::random::<u128>()));
        stage::furnish(folder.path(), &sandbox, time.clone(), &token).await?;
        let client_slot = Arc::new(watch::channel(None).0);
        let agents = Arc::new(JobAgents {
            client_slot: client_slot.subscribe(),
            time: time.clone(),
            acknowledged: Mutex::default(),
        });
        let mut play = Self {
            sandbox,
            time,
            client_slot,
            agents,
            deaths: Arc::default(),
            token,
            duplicates: None,
            tasks: JoinSet::new(),
            folder,
        };
        play.spawn(seed, dice);
        Ok(play)
    }

    fn spawn(&mut self, seed: u64, mut dice: StdRng) {
        let plan = plan::of(seed, &mut dice, BEGIN);
        if plan.duplicate {
            duplicate::arrange(&self.sandbox, &mut dice);
            let shown = duplicate::Shown::default();
            self.duplicates = Some(shown.clone());
            let (sandbox, time) = (self.sandbox.clone(), self.time.clone());
            self.tasks.spawn(duplicate::show(sandbox, time, shown));
        }
        let keeper = Keeper {
            folder: PathBuf::from(self.folder.path()),
            sandbox: self.sandbox.clone(),
            time: self.time.clone(),
            client_slot: self.client_slot.clone(),
            deaths: self.deaths.clone(),
            token: self.token.clone(),
            seed,
            moments: plan.moments,
            times: plan.times,
        };
        let injector = FaultInjector {
            dice,
            sandbox: self.sandbox.clone(),
            time: self.time.clone(),
        };
        let (agents, wakes) = (self.agents.clone(), self.sandbox.agents().subscribe());
        self.tasks.spawn(keeper.keep());
        self.tasks.spawn(async {
            injector.inject().await;
            Ok(())
        });
        self.tasks.spawn(async {
            job_agents::answer(agents, wakes).await;
            Ok(())
        });
        let (time, sandbox, client_slot) = (
            self.time.clone(),
            self.sandbox.clone(),
            self.client_slot.clone(),
        );
        self.tasks.spawn(flow(time, sandbox, client_slot));
        self.tasks.spawn(post(self.sandbox.clone()));
        self.tasks
            .spawn(move_base(self.sandbox.clone(), self.time.clone()));
    }

    /// The last two jobs need a person.
    fn call_person(&mut self, jobs: &[String]) {
        if let [.., blocked, cancelled] = jobs {
            let sandbox = self.sandbox.clone();
            let (blocked, cancelled) = (blocked.clone(), cancelled.clone());
            self.tasks.spawn(person::unblock(
                sandbox,
                self.client_slot.subscribe(),
                blocked,
            ));
            self.tasks
                .spawn(person::cancel(self.client_slot.subscribe(), cancelled));
        }
    }

    /// Hands the jobs over, each under a name so that it is one job however often it is sent.
    async fn hand_over(&self) -> Result<Vec<String>> {
        let mut jobs = Vec::new();
        for (number, (repo, prompt)) in stage::JOBS.into_iter().enumerate() {
            let order = CreateJob {
                repo: repo.parse().context("reading the stage's repository")?,
                branch: None,
                prompt: prompt.to_owned(),
                title: None,
                agent: None,
                resume: None,
                priority: None,
                constraints: None,
            };
            jobs.push(self.hand(&order, &format!("job-{number}")).await?);
        }
        Ok(jobs)
    }

    async fn hand(&self, order: &CreateJob, key: &str) -> Result<String> {
        let mut client_slot = self.client_slot.subscribe();
        let mut again = tokio::time::interval(AGAIN_AFTER);
        loop {
            again.tick().await;
            let client: Option<Client> = client_slot.wait_for(Option::is_some).await?.clone();
            let Some(client) = client else { continue };
            match client.create_job(order, Some(key)).await {
                Ok(job) => return Ok(job.job_id.to_string()),
                Err(client::Error::Problem(problem)) => bail!("handing over a job: {problem}"),
                Err(_) => {}
            }
        }
    }

    /// Waits a little; fails when anything that has to go on has ended.
    async fn wait(&mut self) -> Result<()> {
        let pause = tokio::time::timeout(LOOK_EVERY, self.tasks.join_next()).await;
        match pause {
            // Faults end by themselves.
            Ok(Some(Ok(Ok(())))) | Err(_) => Ok(()),
            Ok(Some(Ok(Err(error)))) => Err(error.context("keeping the chaos going")),
            Ok(Some(Err(error))) => Err(error).context("keeping the chaos going"),
            Ok(None) => bail!("nothing goes on any more"),
        }
    }

    fn passed(&self) -> SignedDuration {
        self.time.now().duration_since(BEGIN)
    }

    fn deaths(&self) -> Vec<Death> {
        let deaths = self.deaths.lock().unwrap_or_else(PoisonError::into_inner);
        deaths.clone()
    }

    fn is_over(&self, jobs: &[String]) -> bool {
        self.verdict(jobs, &BTreeMap::new(), &[]).is_over()
    }

    fn verdict<'a>(
        &'a self,
        jobs: &'a [String],
        acknowledged: &'a BTreeMap<String, Timestamp>,
        deaths: &'a [Timestamp],
    ) -> Verdict<'a> {
        let faults = self.sandbox.faults();
        let (cancelled, jobs) = match jobs.split_last() {
            Some((cancelled, jobs)) => (cancelled.as_str(), jobs),
            None => ("", jobs),
        };
        Verdict {
            sandbox: &self.sandbox,
            jobs,
            cancelled,
            acknowledged,
            deaths,
            agent_faults: faults::AGENT_FAULTS
                - faults
                    .list()
                    .iter()
                    .filter(|fault| fault.service == Service::Agent)
                    .count(),
            list_lag: faults.lags().list,
            duplicates: self.duplicates.as_deref().map(OnceLock::get),
        }
    }

    /// Keeps the child's folder, with what the sandbox saw beside its own log.
    fn keep(&mut self) -> Result<()> {
        self.folder.disable_cleanup(true);
        let folder = self.folder.path();
        let saw = serde_json::json!({
            "requests": self.sandbox.requests(),
            "sessions": self.sandbox.jules().sessions(),
            "deaths": self.deaths().iter().map(|it| format!("{} {:?}", it.at, it.moment)).collect::<Vec<_>>(),
        });
        std::fs::write(folder.join("sandbox.json"), saw.to_string())
            .context("keeping what the sandbox saw")?;
        output::note(&format!("kept in {}", folder.display()));
        Ok(())
    }

    async fn report(
        mut self,
        seed: u64,
        jobs: &[String],
        story: SignedDuration,
        took: Duration,
    ) -> Result<Report> {
        self.tasks.shutdown().await;
        let acknowledged = self.agents.acknowledged().clone();
        let deaths = self.deaths();
        let times: Vec<Timestamp> = deaths.iter().map(|death| death.at).collect();
        let it = self.sandbox.counters();
        let verdict = self.verdict(jobs, &acknowledged, &times);
        self.sandbox.faults().clear();
        Ok(Report {
            seed,
            // One of them is cancelled.
            jobs: jobs.len().saturating_sub(1),
            merged: it.merges,
            deaths: deaths.len(),
            moments: deaths
                .iter()
                .filter_map(|death| death.moment.map(|moment| moment.to_string()))
                .collect(),
            faults: report::struck(&self.sandbox.requests()),
            sessions: it.creates,
            messages: it.messages,
            wakes: it.wakes_received,
            virtual_seconds: story.as_secs(),
            seconds: (took.as_secs_f64() * 100.0).round() / 100.0,
            violations: verdict.violations().await?,
            unstaged: verdict.unstaged(),
        })
    }
}
