//! `gaffer mcp`: the tools for coding agents, served on stdin and stdout or called one at a time, and how they are found.

use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use client::Client;
use client::mcp::{ClientSource, Server};
use client::wire::Through;
use domain::nearest::meant;
use serde_json::{Value, json};
use tokio::io::BufReader;
use url::Url;

use crate::args::mcp::{McpArgs, McpCommand};
use crate::context::CommandContext;
use crate::error::{self, Error};
use crate::{render, site, stdin};

mod install;
mod stdio;

/// Instructions for an agent, short enough for its context.
const SKILL: &str = include_str!("../../../docs/skill.md");

/// Longest arguments of one call, in bytes: the longest prompt fits with any escaping.
const ARGUMENTS_BYTES_MAX: u64 = 1024 * 1024;

/// Serves the tools, calls one, or explains them to an agent.
pub(crate) async fn run(args: McpArgs, here: CommandContext, as_json: bool) -> Result<()> {
    let toolsets = args.toolsets();
    match args.command {
        None => {
            let server = tools(args.url, here).with(&toolsets);
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            Box::pin(stdio::serve(server, BufReader::new(input), output)).await
        }
        Some(McpCommand::Call { tool, arguments }) => {
            call(&tools(args.url, here), &tool, arguments).await
        }
        Some(McpCommand::Install(install)) => {
            let answer = install::run(&install, args.url.as_ref(), &toolsets, &here)?;
            render::answer(&answer, as_json).context("writing the answer")
        }
        Some(McpCommand::Skill) if as_json => {
            render::json_line(&json!({ "skill": SKILL })).context("writing the text for agents")
        }
        Some(McpCommand::Skill) => {
            render::raw(SKILL.as_bytes()).context("writing the text for agents")
        }
    }
}

/// The tools of the Gaffer that is meant.
pub(crate) fn tools(url: Option<Url>, here: CommandContext) -> Server {
    Server::new(Arc::new(TargetApi { url, here }))
}

/// The Gaffer that is meant. It need not be there before a tool is called.
struct TargetApi {
    url: Option<Url>,
    here: CommandContext,
}

#[async_trait]
impl ClientSource for TargetApi {
    async fn open(&self) -> Result<Client, String> {
        let opened = site::api_client(self.url.clone(), &self.here).await;
        let opened = opened.map(|client| client.through(Through::Mcp));
        opened.map_err(|error| {
            let told = error::describe(&error);
            match told.next {
                Some(next) => format!("{}; {next}", told.what),
                None => told.what,
            }
        })
    }
}

async fn call(server: &Server, tool: &str, arguments: String) -> Result<()> {
    let text = if arguments == "-" {
        stdin::of_stdin(ARGUMENTS_BYTES_MAX).context("reading the arguments")?
    } else {
        arguments
    };
    let arguments: Value = serde_json::from_str(&text).map_err(|error| {
        let what = format!("the arguments of `{tool}` are no JSON: {error}");
        Error::usage(
            what,
            "give an object, for example '{\"repo\": \"acme/shop\"}'",
        )
    })?;
    let Some(result) = server.carry_out(tool, arguments).await else {
        let known = Server::every_tool();
        let near = meant(tool, known.iter().copied());
        let what = format!("there is no tool `{tool}`{near}");
        let next = format!("there are {}", known.join(", "));
        return Err(Error::usage(what, next).into());
    };
    match result {
        Ok(answer) => render::json_line(&answer).context("writing the answer"),
        Err(refusal) => {
            let next = match refusal.is_about_arguments {
                true => "`gaffer mcp call --help` shows examples",
                false => "put right what it names, then call it again",
            };
            Err(Error::refused("tool_failed", refusal.words, next).into())
        }
    }
}
