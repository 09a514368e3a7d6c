//! The commands `gaffer`, `jlo` and `jules-mail`: read the command line and the environment, run one command and end with its exit code.

use std::process::ExitCode;

mod account;
mod agent;
mod args;
#[cfg(feature = "aws")]
mod cloud;
mod context;
mod delivery;
mod demo;
mod doctor;
mod error;
mod files;
mod git;
mod github_setup;
mod init;
mod jlo;
mod job;
mod jules_mail;
mod logs;
mod mail;
mod mcp;
mod pipeline;
mod recovery;
mod render;
mod run;
mod sandbox_command;
mod scaffold;
mod secret;
mod settings;
mod site;
mod source;
mod sprint;
mod stdin;
mod switch;
mod up;
mod upstreams;
mod watch;
mod weave;
mod why;

/// The whole program `gaffer`.
pub fn gaffer() -> ExitCode {
    run::main(settings::Environment::from_env())
}

/// The whole program `jlo`: what `gaffer` does in a repository, under the names of its origin.
pub fn jlo() -> ExitCode {
    jlo::main::<jlo::JloLine>(settings::Environment::from_env())
}

/// The whole program `jules-mail`: `gaffer mail`, under the name that the prompts of personas have for it.
pub fn jules_mail() -> ExitCode {
    jlo::main::<jules_mail::MailLine>(settings::Environment::from_env())
}
