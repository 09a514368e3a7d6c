//! A tool: what models are told about it, what it does, and the call.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::Value;

use super::tool_error::ToolError;
use super::toolset::Toolset;
use crate::Client;

/// One tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// For models.
    pub(super) description: &'static str,
    /// Its set; `None` for those that are always listed.
    pub(super) toolset: Option<Toolset>,
    pub(super) does: Does,
    /// The schema of its arguments.
    pub(super) takes: fn() -> JsonObject,
    /// The schema of its answer. An order about a delivery answers with three texts that need none, since every byte of a
    /// schema is shown to models.
    pub(super) answers: Option<fn() -> JsonObject>,
    pub(super) call: Handler,
}

/// What calling a tool does to the world.
pub(super) enum Does {
    /// Nothing.
    Reads,
    /// It writes, each time.
    Writes,
    /// It writes, but a repeated call does so once.
    WritesOnce,
    /// It cannot be undone; a repeated call does it once.
    Ends,
}

/// The answer of a tool, once the API has answered.
type Called<'a> = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send + 'a>>;

/// Reads the arguments of a tool, calls the API, and answers as little as a model needs.
pub(super) enum Handler {
    /// It ends when the API has answered.
    AtOnce(for<'a> fn(&'a Client, Value) -> Called<'a>),
    /// It may take as long as its caller likes. Only a caller that waits, which is the last argument, gets long polling.
    Waits(for<'a> fn(&'a Client, Value, bool) -> Called<'a>),
}

impl Tool {
    /// Whether calling it may take as long as its caller likes.
    pub(super) fn waits(&self) -> bool {
        matches!(self.call, Handler::Waits(_))
    }

    /// Calls it. Only a caller that `waits` gets long polling.
    pub(super) async fn carry_out(
        &self,
        client: &Client,
        given: Value,
        waits: bool,
    ) -> Result<Value, ToolError> {
        match self.call {
            Handler::AtOnce(call) => call(client, given).await,
            Handler::Waits(call) => call(client, given, waits).await,
        }
    }

    /// Its description for clients.
    pub(super) fn described(&self) -> rmcp::model::Tool {
        let tool = rmcp::model::Tool::new(self.name, self.description, (self.takes)())
            .with_annotations(self.does.hints());
        match self.answers {
            Some(schema) => tool.with_raw_output_schema(Arc::new(schema())),
            None => tool,
        }
    }
}

impl Does {
    /// What is not said means that a tool may write: MCP's specification (`ToolAnnotations`).
    fn hints(&self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Reads => hints.read_only(true),
            Self::Writes => hints.destructive(false),
            Self::WritesOnce => hints.destructive(false).idempotent(true),
            Self::Ends => hints.destructive(true).idempotent(true),
        }
    }
}
