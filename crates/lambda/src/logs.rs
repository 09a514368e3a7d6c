//! Logs of functions: one JSON object a line, with the ids of what is being done.

use tracing_subscriber::EnvFilter;

/// Logs go to stdout as CloudWatch reads them; `RUST_LOG` changes how much. CloudWatch stamps the lines itself.
pub fn log_as_json() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .without_time()
        .with_env_filter(filter)
        .with_ansi(false);
    let _ = logs.try_init();
}
