//! `gaffer job`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use domain::conversation::ConversationCursor;
use domain::ids::{AgentName, BranchName, CommitSha, JobName, PlanId, RepoName, SessionId};
use domain::policy::MergeMethod;
use domain::priority::Priority;
use domain::wake::Resume;
use engine::job_state::STATES;
use jiff::SignedDuration;
use url::Url;

use super::source::METHODS;
use super::value;

/// Where the running `gaffer up` is, and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  gaffer job list\n\nThe token is GAFFER_TOKEN (or JULES_API_TOKEN) in the environment, else the one that `gaffer up` made in the data folder."
)]
pub(crate) struct JobArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: JobCommand,
}

/// What to do with jobs. A job is named by its id or four or more characters of its beginning, by a session of it, by
/// its pull request as OWNER/REPO#N, or by `latest`.
#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// Give Jules a piece of work.
    Create(CreateArgs),
    /// List jobs, repository by repository, the newest first.
    List(ListJobsArgs),
    /// Show a job.
    #[command(
        after_help = "Examples:\n  gaffer job show 01j00000000000000000000000\n  gaffer job show 01j00000000000000000000000 --fresh"
    )]
    Show {
        /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
        id: JobOrSession,
        /// Ask Jules now, and show the answer.
        #[arg(long)]
        fresh: bool,
    },
    /// Open a job's pull request in the browser, or the page of its session while it has none.
    #[command(
        after_help = "Examples:\n  gaffer job open latest\n  gaffer job open 01j00000000000000000000000 --json"
    )]
    Open(OneJob),
    /// Show the messages between a job's session and its people, the oldest first.
    #[command(
        after_help = "Examples:\n  gaffer job messages 01j00000000000000000000000\n  gaffer job messages 01j00000000000000000000000 --cursor m1.123.1771000000000000000.a1"
    )]
    Messages {
        /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
        id: JobOrSession,
        /// Go on from here; it is printed with each page.
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<ConversationCursor>,
    },
    /// Store notes about a job; a session that no job watches yet is watched from then on.
    Register(RegisterArgs),
    /// Explain why a job does not move, and what happens next.
    #[command(after_help = "Example:\n  gaffer job why 01j00000000000000000000000")]
    Why(OneJob),
    /// List a job's events: questions, completions, errors and silences.
    #[command(after_help = "Example:\n  gaffer job events 01j00000000000000000000000")]
    Events(OneJob),
    /// Wait until a job has come so far.
    Wait(WaitArgs),
    /// Send a message to a job's session: the answer to its question, or another text.
    #[command(
        after_help = "Example:\n  gaffer job say 01j00000000000000000000000 'Yes, keep the old route'"
    )]
    Say {
        /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
        id: JobOrSession,
        /// What to say.
        #[arg(value_parser = super::value::text)]
        text: String,
    },
    /// Approve a job's plan.
    #[command(after_help = "Example:\n  gaffer job approve 01j00000000000000000000000")]
    Approve {
        /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
        id: JobOrSession,
        /// The id of the plan that you read; another one is not approved in its place.
        #[arg(long, value_name = "PLAN_ID")]
        plan: Option<PlanId>,
    },
    /// Let a job's pull request be merged at its present head, once everything else allows it.
    Merge(MergeArgs),
    /// Cancel a job.
    ///
    /// Its session is archived. Its pull request stays open unless `--close-pull` closes it.
    #[command(
        after_help = "Examples:\n  gaffer job cancel 01j00000000000000000000000\n  gaffer job cancel 01j00000000000000000000000 --close-pull"
    )]
    Cancel {
        /// Which job.
        id: JobOrSession,
        /// Close its pull request without merging it, also when the job was cancelled before.
        #[arg(long)]
        close_pull: bool,
    },
    /// Give a job that ended another session.
    ///
    /// The new session's prompt says how the previous one ended, and what it had changed.
    #[command(
        after_help = "Examples:\n  gaffer job retry 01j00000000000000000000000\n  gaffer job retry 01j00000000000000000000000 --reason 'keep the old API'"
    )]
    Retry {
        /// Which job.
        id: JobOrSession,
        /// A message for the new session.
        #[arg(long, value_name = "TEXT", value_parser = super::value::text)]
        reason: Option<String>,
    },
    /// Watch a session that was started elsewhere as a job. Its pull requests are merged only if the source says so.
    #[command(
        after_help = "Examples:\n  gaffer job adopt 1234567890 --repo acme/shop\n  gaffer job adopt 1234567890 --repo acme/shop --agent bot --take-over"
    )]
    Adopt(AdoptArgs),
    /// Show what a job has produced: its pull requests and its patch.
    #[command(after_help = "Example:\n  gaffer job artifacts 01j00000000000000000000000 --json")]
    Artifacts(OneJob),
}

/// Which jobs.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer job list\n  gaffer job list --repo acme/shop --limit 10\n  gaffer job list --state asking --state plan-waits\n  gaffer job list --all --json"
)]
pub(crate) struct ListJobsArgs {
    /// Only this repository's.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// Only jobs in this state; given several times, in any of them.
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',', value_parser = STATES)]
    pub(crate) states: Vec<String>,

    /// At most so many, 1 to 200.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,

    /// All of them, however many there are.
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
}

/// Which job.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneJob {
    /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
    pub(crate) id: JobOrSession,
}

/// What to merge, and how.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer job merge 01j00000000000000000000000\n  gaffer job merge 01j00000000000000000000000 --sha 0123456789abcdef0123456789abcdef01234567\n  gaffer job merge 01j00000000000000000000000 --method squash --title 'Add a search box' --keep-branch"
)]
pub(crate) struct MergeArgs {
    /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
    pub(crate) id: JobOrSession,

    /// Only if this is the head.
    #[arg(long, value_name = "SHA")]
    pub(crate) sha: Option<CommitSha>,

    /// How, if the source allows it.
    #[arg(long, value_name = "HOW", value_parser = value::one_of(&METHODS))]
    pub(crate) method: Option<MergeMethod>,

    /// The first line of the commit; GitHub's own without one.
    #[arg(long, value_name = "TEXT", value_parser = value::words)]
    pub(crate) title: Option<String>,

    /// Leave the head branch where it is.
    #[arg(long)]
    pub(crate) keep_branch: bool,
}

/// How far a job has to come.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer job wait 01j00000000000000000000000\n  gaffer job wait 01j00000000000000000000000 --until merged --within 1h\n  gaffer job wait 01j00000000000000000000000 acme/shop#7"
)]
pub(crate) struct WaitArgs {
    /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`; given several, all of them.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<JobOrSession>,

    /// What to wait for.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "ended")]
    pub(crate) until: Until,

    /// How long to wait at most.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = value::duration)]
    pub(crate) within: SignedDuration,
}

/// How far a job can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// Its pull request is merged; any other end is a failure.
    Merged,
    /// It ended, in any way.
    Ended,
    /// It needs an answer, or it ended.
    Waiting,
    /// Its session is done and its pull request was read, so that `gaffer job merge` is possible, or it is merged;
    /// any other end is a failure.
    InReview,
}

/// A job to be watched, and notes.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer job register 01j00000000000000000000000 --metadata '{\"task\": \"login\"}'\n  gaffer job register 1234567890 --repo acme/shop"
)]
pub(crate) struct RegisterArgs {
    /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
    pub(crate) id: JobOrSession,

    /// Notes as a JSON object, over the present ones; `null` removes a note.
    #[arg(long, value_name = "JSON", default_value = "{}", hide_default_value = true, value_parser = value::object)]
    pub(crate) metadata: value::Notes,

    /// The repository of a session that no job watches yet; it has to be a source.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// Who is woken for such a session; the source's agent without one.
    #[arg(long, value_name = "NAME", requires = "repo")]
    pub(crate) agent: Option<AgentName>,
}

/// A session that was started elsewhere.
#[derive(Debug, Clone, Args)]
pub(crate) struct AdoptArgs {
    /// The session's id, as in the address of its page.
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionId,

    /// The repository it works on, which has to be a source.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// Who is woken; the source's agent without one.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,

    /// Take it from another Gaffer, which must not act on it any more.
    #[arg(long)]
    pub(crate) take_over: bool,
}

/// A new job.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer job create 'Add a search box'\n  gaffer job create --repo acme/shop --prompt 'Add a search box'\n  gaffer job create --repo acme/shop --branch develop --title Search --prompt-file task.md\n  gaffer job create --repo acme/shop --prompt 'Mend the login' --priority 9\n  gaffer job create --repo acme/shop --prompt 'Add a search box' --until waiting\n  gaffer job create --repo acme/shop --prompt 'Rework the cart' --require-plan-approval\n  gaffer job create --repo acme/shop --prompt 'Try another parser' --no-pull-request\n  cat task.md | gaffer job create --repo acme/shop"
)]
pub(crate) struct CreateArgs {
    /// The repository, which has to be a source [default: the one that the git remote `origin` of the current folder
    /// names, else the only source].
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// The base branch; the source's without one.
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<BranchName>,

    /// A short name; the first line of the prompt without one.
    #[arg(long, value_name = "TEXT", value_parser = value::words)]
    pub(crate) title: Option<String>,

    /// Who is woken; the source's agent without one.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,

    /// The agent's resume value for wakes of this job, in place of its usual one.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<Resume>,

    /// How much it matters among the jobs of its account, from 0 to 9; 9 goes first [default: 5].
    #[arg(long, value_name = "0-9")]
    pub(crate) priority: Option<Priority>,

    /// Its plans wait for its agent or a person, also where its source approves them automatically.
    #[arg(long)]
    pub(crate) require_plan_approval: bool,

    /// Jules opens no pull request: the patch is among what the job has produced.
    #[arg(long)]
    pub(crate) no_pull_request: bool,

    /// The task.
    #[arg(long, value_name = "TEXT", value_parser = super::value::text, conflicts_with_all = ["prompt_file", "task"])]
    pub(crate) prompt: Option<String>,

    /// A file with the task; `-` is standard input.
    #[arg(long, value_name = "FILE", value_parser = value::file, conflicts_with = "task")]
    pub(crate) prompt_file: Option<PathBuf>,

    /// The task; `-` is standard input, which is also read when the task is given nowhere.
    #[arg(value_name = "PROMPT", value_parser = super::value::text)]
    pub(crate) task: Option<String>,

    /// Wait until it has come so far, as `gaffer job wait` does.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) until: Option<Until>,

    /// How long to wait at most.
    #[arg(long, value_name = "DURATION", default_value = "1h", requires = "until", value_parser = value::duration)]
    pub(crate) within: SignedDuration,
}

/// The name of a job. The API resolves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JobOrSession(String);

impl JobOrSession {
    /// The name as typed.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for JobOrSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for JobOrSession {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.parse::<JobName>();
        let name = name.map_err(|wrong| {
            format!("it has to be {}: `gaffer job list` shows them", wrong.rule)
        })?;
        Ok(Self(name.to_string()))
    }
}
