//! Runs one command: parses, prepares the process, dispatches, and turns the result into an exit code.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

pub(crate) mod cost;
pub(crate) mod dashboard;
pub(crate) mod dlq;
mod top;

use crate::args::demo::{DemoArgs, SandboxArgs};
use crate::args::files::MonitorArgs;
use crate::args::scaffold::WorkflowCommand;
use crate::args::watch::WatchArgs;
use crate::args::{Command, CommandLine, groups};
use crate::context::CommandContext;
use crate::error::{self, Error, FAILED, USAGE};
use crate::recovery::{backup, export, import};
use crate::render::{self, Answer, ErrorText};
use crate::settings::Environment;
use crate::{
    account, agent, delivery, demo, doctor, files, github_setup, init, job, logs, mail, mcp,
    pipeline, sandbox_command, scaffold, secret, source, sprint, switch, up, watch, weave, why,
};

/// The name of the program that has all commands.
const PROGRAM: &str = "gaffer";

/// The whole program.
pub(crate) fn main(environment: Result<Environment, Error>) -> ExitCode {
    let command_line = match groups::parse(std::env::args_os()) {
        Ok(command_line) => command_line,
        Err(error) => return not_run(&error),
    };
    ran(command_line, environment, PROGRAM)
}

/// Runs a command that was understood, of the program of this name.
pub(crate) fn ran(
    command_line: CommandLine,
    environment: Result<Environment, Error>,
    program: &str,
) -> ExitCode {
    let as_json = command_line.json;
    match start(command_line, environment) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if render::is_unread(&error) => ExitCode::SUCCESS,
        Err(error) => ended(&error::describe(&error), as_json, program),
    }
}

/// Help and the version are answers; everything else was not understood.
fn not_run(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return if render::help(error).is_ok() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(FAILED)
        };
    }
    let as_json = std::env::args_os().any(|argument| argument == "--json");
    if let Some((help, _)) = groups::lacking(error, groups::command)
        && !as_json
    {
        render::usage(&help);
        return ExitCode::from(USAGE);
    }
    let told = error::describe_usage(error, groups::command);
    ended(&told, as_json, PROGRAM)
}

/// Reports a failure of the program of this name.
pub(crate) fn ended(told: &ErrorText, as_json: bool, program: &str) -> ExitCode {
    render::failure(told, as_json, program);
    ExitCode::from(told.exit)
}

fn start(command_line: CommandLine, environment: Result<Environment, Error>) -> Result<()> {
    // Only fails when one is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    // A read of stdin cannot be cancelled, so the process does not wait for it once the tools are not served any
    // more.
    let reads_on = matches!(command_line.command, Command::Mcp(_));
    let done = runtime.block_on(dispatch(command_line, environment?));
    if reads_on {
        runtime.shutdown_background();
    }
    done
}

async fn dispatch(command_line: CommandLine, environment: Environment) -> Result<()> {
    let CommandLine {
        data,
        json,
        stack,
        command,
    } = command_line;
    let stack = stack.name().map(str::to_owned);
    if stack.is_some() && !command.works_on_stacks() {
        return Err(of_this_machine().into());
    }
    let persona = environment.persona.clone();
    let here = || Ok::<_, Error>(CommandContext::new(data, environment)?.of_stack(stack));
    Box::pin(carry_out(command, persona, here, json)).await
}

/// Carries out a command: those that return print or serve by themselves, and the answer of all others is printed.
async fn carry_out(
    command: Command,
    persona: Option<String>,
    here: impl FnOnce() -> Result<CommandContext, Error>,
    json: bool,
) -> Result<()> {
    let answer = match command {
        Command::Up(args) => return serve(*args, here()?, json).await,
        Command::Demo(args) => return demo::run(DemoArgs { json, ..args }).await,
        Command::Sandbox(args) => return sandbox_command::run(SandboxArgs { json, ..args }).await,
        Command::Init(args) => return Box::pin(init::run(*args, &here()?, json)).await,
        Command::Doctor(args) => return Box::pin(doctor::run(*args, &here()?, json)).await,
        Command::Mcp(args) => return mcp::run(args, here()?, json).await,
        Command::Wake(command) => agent::wakes::run(command, &here()?).await?,
        Command::Watch(args) => {
            return Box::pin(watch::run(WatchArgs { json, ..args }, &here()?)).await;
        }
        Command::HandleEvent(args) => watch::handle::run(args, here()?).await?,
        Command::Jobs(command) => return files::jobs::run(command, &here()?, json).await,
        Command::Events(command) => return files::events::run(command, &here()?, json).await,
        Command::Monitor(args) => return monitor(*args, &here()?, json).await,
        Command::Export(args) => return export::run(args, &here()?).await,
        Command::Import(args) => import::run(args, &here()?).await?,
        Command::Backup(args) => backup::backup(args, &here()?)?,
        Command::Restore(args) => backup::restore(args, &here()?).await?,
        Command::Completions { shell } => return completions(shell, json),
        Command::Account(command) => account::run(command, &here()?).await?,
        Command::Source(command) => source::run(*command, &here()?).await?,
        Command::Agent(command) => agent::run(command, &here()?).await?,
        Command::Github(command) => Box::pin(github_setup::run(command, &here()?)).await?,
        Command::Secret(command) => secret::run(command, &here()?).await?,
        Command::Token(command) => secret::tokens::run(command, &here()?).await?,
        Command::Job(args) => job::run(args, &here()?, json).await?,
        Command::Dashboard(args) => dashboard::run(args, &here()?).await?,
        Command::Delivery(args) => Box::pin(delivery::run(*args, &here()?, json)).await?,
        Command::Scaffold(command) => return scaffold::run(&command, json),
        Command::Role(command) => return scaffold::role(&command, json),
        Command::Persona(command) => return scaffold::persona(&command, json),
        Command::Setup(command) => scaffold::setup(&command)?,
        Command::Exchange(args) => return Box::pin(pipeline::exchange(args, here, json)).await,
        Command::Labels(args) => return Box::pin(pipeline::labels(args, &here()?, json)).await,
        Command::Workflow(command) => return workflow(command, here, json).await,
        Command::Mail(args) => return Box::pin(mail::run(*args, persona, here, json)).await,
        Command::Weave(args) => return Box::pin(weave::run(&args, here, json)).await,
        Command::Pipeline(args) => return Box::pin(pipeline::run(*args, &here()?, json)).await,
        Command::Requirement(args) => Box::pin(pipeline::requirement(args, &here()?)).await?,
        Command::Sprint(args) => Box::pin(sprint::run(args, &here()?)).await?,
        Command::Run(args) if args.prompt_preview => {
            return Box::pin(scaffold::preview(*args, here, json)).await;
        }
        Command::Run(args) => return Box::pin(pipeline::one_layer(*args, &here()?, json)).await,
        Command::Pull(args) => why::pull(args, &here()?).await?,
        Command::Pause(args) => switch::pause(args, &here()?).await?,
        Command::Resume(args) => switch::resume(args, &here()?).await?,
        Command::Status => return switch::status(&here()?, json).await,
        Command::Top(args) => return Box::pin(top::run(args, &here()?, json)).await,
        Command::Logs(args) => Box::pin(logs::run(args, &here()?)).await?,
        Command::Cost(args) => cost::run(args, &here()?).await?,
        Command::Dlq(args) => dlq::run(args, &here()?).await?,
    };
    print(&answer, json)
}

async fn monitor(args: MonitorArgs, here: &CommandContext, json: bool) -> Result<()> {
    let args = MonitorArgs { json, ..args };
    Box::pin(files::monitor::run(args, here)).await
}

/// Files of workflows, and the runs that workflows begin.
async fn workflow(
    command: WorkflowCommand,
    here: impl FnOnce() -> Result<CommandContext, Error>,
    json: bool,
) -> Result<()> {
    match command {
        WorkflowCommand::Run(args) => Box::pin(pipeline::reported(*args, &here()?)).await,
        WorkflowCommand::Generate { runner } => print(&scaffold::workflow(runner.as_ref())?, json),
    }
}

/// Runs everything here, or prints what keeps it running.
async fn serve(args: crate::args::UpArgs, here: CommandContext, json: bool) -> Result<()> {
    if let Some(kind) = args.service {
        return print(&up::service::print(kind, &here)?, json);
    }
    up::run(crate::args::UpArgs {
        data: here.folder,
        stack: here.stack,
        overlay: here.environment.overlay,
        json,
        ..args
    })
    .await
}

fn of_this_machine() -> Error {
    Error::usage(
        "this command is about this machine, and not about a stack",
        "leave `--stack` and `--aws` out",
    )
}

fn print(answer: &Answer, as_json: bool) -> Result<()> {
    render::answer(answer, as_json).context("writing the answer")
}

fn completions(shell: Shell, as_json: bool) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "gaffer", &mut script);
    if as_json {
        let script = String::from_utf8_lossy(&script);
        let told = serde_json::json!({ "shell": shell.to_string(), "script": script });
        return render::json_line(&told).context("writing the completions");
    }
    render::raw(&script).context("writing the completions")
}
