//! Logs of functions: one JSON object a line, with the ids of the current work.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Where people say how much is logged: `debug`, or `info,engine=debug`.
const HOW_MUCH: &str = "RUST_LOG";

/// Logs go to stdout as CloudWatch reads them; `RUST_LOG` changes how much. CloudWatch stamps the lines itself.
#[expect(
    clippy::disallowed_methods,
    reason = "called by a function's main before anything else"
)]
pub fn log_as_json() {
    let wanted = std::env::var(HOW_MUCH).ok();
    let wanted = wanted.and_then(|wanted| wanted.parse::<Targets>().ok());
    // The usual filter brings a whole engine of regular expressions, which is a tenth of a function's package.
    let filter = wanted.unwrap_or_else(usual);
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .without_time()
        .with_ansi(false);
    let logs = tracing_subscriber::registry().with(lines).with(filter);
    let _ = logs.try_init();
}

/// The MCP SDK logs each request three times; one line of our own API says all of it.
fn usual() -> Targets {
    Targets::new()
        .with_default(LevelFilter::INFO)
        .with_target("rmcp", LevelFilter::WARN)
}
