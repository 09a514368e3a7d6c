//! The command line, and how a run ends. It is the one place of this package that prints.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this module is the mouth of a command line tool"
)]

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use url::Url;

use crate::build::{Binaries, Workshop, workspace};
use crate::cloud::{Cloud, Place};
use crate::error::Error;
use crate::function::FunctionOptions;
use crate::name::StackName;
use crate::put::DeployRequest;

/// Exit code of a usage error; clap uses it too.
const USAGE: u8 = 2;

/// Puts Gaffer into AWS: table and queues, four functions, and what calls them. It may be repeated.
///
/// Credentials come from the environment or the profile, as for every AWS tool.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo xtask deploy",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cargo xtask deploy --stack gaffer --plan\n  cargo xtask deploy --stack gaffer\n  cargo xtask deploy status --stack gaffer\n  cargo xtask deploy rollback --stack gaffer\n  cargo xtask deploy destroy --stack gaffer --keep-data"
)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    put: PutArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Point the alias `live` of each function back at the version before the last deployment.
    Rollback(PlaceArgs),
    /// Print what exists.
    Status(PlaceArgs),
    /// Take everything down, and print what is left.
    Destroy(DestroyArgs),
}

#[derive(Debug, Args)]
struct PlaceArgs {
    /// The stack's name: everything is called after it.
    // Checked when the place is opened: a flag that is demanded here would be demanded before a subcommand too.
    #[arg(long, value_name = "NAME")]
    stack: Option<StackName>,

    /// Where AWS is, when it is not AWS's own: an emulator.
    #[arg(long, env = "AWS_ENDPOINT_URL", value_name = "URL")]
    endpoint_url: Option<Url>,

    /// The region [default: that of the environment or the profile].
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
}

#[derive(Debug, Args)]
struct DestroyArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Keep the table and the secrets: the next deployment of the stack goes on with them.
    #[arg(long)]
    keep_data: bool,
}

#[derive(Debug, Args)]
struct PutArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Say what would change, and change nothing.
    #[arg(long)]
    plan: bool,

    /// Build for x86 instead of ARM. An emulator on this machine gets what this machine runs.
    #[arg(long)]
    x86_64: bool,

    /// A folder with the four binaries, built already.
    #[arg(long, value_name = "DIR", conflicts_with = "x86_64")]
    binaries: Option<PathBuf>,

    /// Watch only: write nothing to Jules, GitHub or agents. It stays so until `--observe-only=false` [default:
    /// unchanged].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    observe_only: Option<bool>,

    /// An agent's host that may be woken although it is private, speaks plain HTTP or listens on another port than
    /// 443. Can be given several times; `--allow-host=` takes back all [default: unchanged].
    #[arg(long = "allow-host", value_name = "HOST[:PORT]", value_delimiter = ',')]
    allow_hosts: Option<Vec<String>>,

    /// An SNS topic that receives alarms; `--alarm-topic=` for none [default: unchanged].
    #[arg(long, value_name = "ARN")]
    alarm_topic: Option<String>,

    /// For how many days logs are kept [default: unchanged, at first 30].
    #[arg(long, value_name = "DAYS", value_parser = ["7", "14", "30", "60", "90", "180", "365"])]
    log_days: Option<String>,

    /// Take away what calls the functions: nothing runs, so that the table can be filled by `gaffer import` or left
    /// for another place. The next deployment without this option brings it back.
    #[arg(long)]
    without_triggers: bool,

    /// A folder of Python packages with cargo-lambda in it.
    #[arg(long, env = "GAFFER_CARGO_LAMBDA", value_name = "DIR", hide = true)]
    cargo_lambda: Option<PathBuf>,
}

/// The whole program.
pub fn main() -> ExitCode {
    // Only fails when one is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let command_line = CommandLine::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run(command_line)),
        Err(error) => Err(Error::stopped("starting", error.to_string(), "try again")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            match error {
                Error::Odd { .. } => ExitCode::from(USAGE),
                Error::Aws { .. } | Error::Stopped { .. } => ExitCode::FAILURE,
            }
        }
    }
}

/// Prints a step.
pub fn print_line(line: &str) {
    println!("{line}");
}

async fn run(command_line: CommandLine) -> Result<(), Error> {
    match command_line.command {
        Some(Command::Rollback(place)) => open(place).await?.roll_back().await,
        Some(Command::Status(place)) => open(place).await?.status().await,
        Some(Command::Destroy(args)) => {
            let cloud = open(args.place).await?;
            if !args.keep_data {
                agreed(&cloud)?;
            }
            cloud.destroy(args.keep_data).await.map(drop)
        }
        None => put(command_line.put).await,
    }
}

async fn open(args: PlaceArgs) -> Result<Cloud, Error> {
    let nameless = || Error::Odd {
        field: "--stack",
        value: String::new(),
        wanted: "given: a name after which everything is called",
    };
    let place = Place {
        stack: args.stack.ok_or_else(nameless)?,
        endpoint: args.endpoint_url,
        region: args.region,
    };
    Cloud::open(place, print_line).await
}

/// Asks for confirmation at a terminal before data is deleted; in a script the command itself is the confirmation.
fn agreed(cloud: &Cloud) -> Result<(), Error> {
    if !std::io::stdin().is_terminal() {
        return Ok(());
    }
    print_line(&format!(
        "This deletes the table and the secrets of {0} for good. Type {0} to go on:",
        cloud.stack
    ));
    let mut said = String::new();
    let read = std::io::stdin().read_line(&mut said);
    if read.is_ok() && said.trim() == cloud.stack.as_str() {
        return Ok(());
    }
    Err(Error::stopped(
        format!("taking down the stack {}", cloud.stack),
        "the end of its data was not agreed to",
        "keep it with `--keep-data`, or type the stack's name",
    ))
}

async fn put(args: PutArgs) -> Result<(), Error> {
    let cloud = open(args.place).await?;
    let binaries = match args.binaries {
        Some(folder) => Binaries::Ready(folder),
        None if cloud.is_here() => Binaries::Here,
        None if args.x86_64 => Binaries::X86,
        None => Binaries::Arm64,
    };
    let workshop = Workshop {
        root: workspace(),
        cargo_lambda: args.cargo_lambda,
    };
    let request = DeployRequest {
        binaries,
        told: FunctionOptions::new(args.observe_only, args.allow_hosts),
        alarm_topic: args.alarm_topic,
        log_days: args.log_days,
        without_triggers: args.without_triggers,
    };
    if args.plan {
        return cloud.plan(&workshop, request).await;
    }
    let Some(endpoints) = cloud.deploy(&workshop, request).await? else {
        print_line(
            "Nothing calls the functions yet: deploy once more without `--without-triggers`.",
        );
        return Ok(());
    };
    print_line(&format!(
        "GitHub's webhooks go to {}github/webhook",
        endpoints.webhook
    ));
    print_line(&format!("GAFFER_URL={}", endpoints.api));
    Ok(())
}
